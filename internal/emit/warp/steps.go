package warp

import (
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// Stores of a lane's four words in steps that only the launch knows: a copy of four elements at a time into a tensor
// with a pitch. Where the step is one element and lanes are neighbours, they are one store of contiguous vectors,
// instead of four scattered ones.

// stepped is four stores to base + 4 × (index + k × step), k from 0 to 3.
type stepped struct {
	parts       []*ir.Inst
	index, step *ir.Value // of the first; of 32 bits
	signed      bool      // how the index is extended
}

const stepParts = 4

// steps finds the stores in steps that list begins with; nil: there are none.
func (e *emitter) steps(list []*ir.Inst, rows map[*ir.Inst]*rowGroup) *stepped {
	first := list[0]
	if e.w != 32 || !mergeable(first) || first.Space != ir.Global || bytesOf(first.Args[1].Type) != 4 || rows[first] != nil {
		return nil
	}
	if _, known := e.pattern(first); known || first.Args[0].Shape.Kind != ir.Varying {
		return nil
	}
	base, index, ext := indexed(first.Args[0])
	if index == nil || !uniform(base) {
		return nil
	}
	s := &stepped{parts: []*ir.Inst{first}, index: index, signed: ext == ir.SExt}
	for _, x := range list[1:min(len(list), maxMerged)] {
		if x.Op != ir.Store {
			if x.Op.IsTerm() || x.Op == ir.Phi || x.Op.Row().Effects != 0 {
				return nil
			}
			continue
		}
		b, i, xt := indexed(x.Args[0])
		if rows[x] != nil || !mergeable(x) || b != base || xt != ext || x.Space != first.Space || x.Mask != first.Mask || x.Args[1].Type != first.Args[1].Type {
			return nil
		}
		if !s.next(index, i) {
			return nil
		}
		index = i
		if s.parts = append(s.parts, x); len(s.parts) == stepParts {
			return s
		}
	}
	return nil
}

// indexed takes an address apart: base + 4 × extended index.
func indexed(v *ir.Value) (base, index *ir.Value, ext ir.Op) {
	sum := v.Def
	if sum == nil || sum.Op != ir.Add {
		return nil, nil, 0
	}
	times := sum.Args[1].Def
	if times == nil || times.Op != ir.Shl || !times.Args[1].Const || times.Args[1].Bits != 2 {
		return nil, nil, 0
	}
	x := times.Args[0].Def
	if x == nil || x.Op != ir.ZExt && x.Op != ir.SExt || x.Args[0].Type != ir.I32 {
		return nil, nil, 0
	}
	return sum.Args[0], x.Args[0], x.Op
}

// next reports that i is the index from plus the step; the first of them says what that is.
func (s *stepped) next(from, i *ir.Value) bool {
	d := i.Def
	if d == nil || d.Op != ir.Add || d.Args[0] != from || d.Args[1].Const || !uniform(d.Args[1]) {
		return false
	}
	if s.step == nil {
		s.step = d.Args[1]
	}
	return s.step == d.Args[1]
}

// storeSteps stores them.
func (e *emitter) storeSteps(s *stepped) {
	var each []*access
	for _, x := range s.parts {
		e.line, e.Line = x.Line, x.Line
		a := e.access(x, x.Args[1:])
		e.aligned(x, a.size, a.mask, a.all)
		e.bounded(x, a.size, a.mask, a.all)
		each = append(each, a)
	}
	in := *s.parts[0]
	in.Args = []*ir.Value{in.Args[0]}
	for _, x := range s.parts {
		in.Args = append(in.Args, x.Args[1])
	}
	a := e.access(&in, in.Args[1:])
	// No index of a lane's four may wrap.
	index, below, last := e.vector(s.index), ll.Pred("ult"), int64(-stepParts)
	if s.signed {
		below, last = "slt", 1<<31-stepParts
	}
	fits := e.ICmp("eq", e.number(e.ICmp(below, index, index.Int(last))), ll.Int("i32", -1))
	one := e.ICmp("eq", e.scalar(s.step), ll.Int("i32", 1))
	e.choose(e.And(e.And(one, fits), e.isWide(a)), "steps", func() []ll.Val { return e.storeVectors(a, e.firstPointer(a), in.Args[1:]) }, func() []ll.Val {
		for i, x := range s.parts {
			e.line, e.Line = x.Line, x.Line
			e.storeAt(each[i], x.Args[1:])
		}
		return nil
	})
}
