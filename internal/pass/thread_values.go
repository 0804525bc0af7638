package pass

import (
	"kudzu/internal/analysis"
	"kudzu/internal/ir"
)

// threadValues are numbers that depend on nothing but the thread's index in a block of known shape, thread by thread.
type threadValues struct {
	st     *state
	n      int
	memo   map[*ir.Value][]uint64
	stored map[*ir.Inst]*written
}

func newThreadValues(st *state) *threadValues {
	b := st.cfg.Block
	return &threadValues{st: st, n: int(b[0] * b[1] * b[2]), memo: map[*ir.Value][]uint64{}, stored: map[*ir.Inst]*written{}}
}

// of is v for every thread; nil: it depends on something else.
func (t *threadValues) of(v *ir.Value, depth int) []uint64 {
	if r, ok := t.memo[v]; ok {
		return r
	}
	var r []uint64
	if depth < 32 && v.Type.Bits() <= 64 && !v.Type.IsFloat() {
		r = t.compute(v, depth)
	}
	t.memo[v] = r
	return r
}

func (t *threadValues) compute(v *ir.Value, depth int) []uint64 {
	fill := func(f func(i int) uint64) []uint64 {
		r := make([]uint64, t.n)
		for i := range r {
			r[i] = f(i)
		}
		return r
	}
	if v.Const {
		return fill(func(int) uint64 { return v.Bits })
	}
	d := v.Def
	if d == nil || len(d.Results) != 1 {
		return nil
	}
	x, y := int(t.st.cfg.Block[0]), int(t.st.cfg.Block[1])
	switch d.Op {
	case ir.SReg:
		switch d.Sreg {
		case ir.TidX:
			return fill(func(i int) uint64 { return uint64(i % x) })
		case ir.TidY:
			return fill(func(i int) uint64 { return uint64(i / x % y) })
		case ir.TidZ:
			return fill(func(i int) uint64 { return uint64(i / x / y) })
		case ir.LaneID:
			return fill(func(i int) uint64 { return uint64(i % 32) })
		case ir.WarpID:
			return fill(func(i int) uint64 { return uint64(i / 32) })
		}
		return nil
	case ir.EntryMask:
		return fill(func(int) uint64 { return 1 })
	case ir.SharedAddr:
		at, ok := t.shared(d.Sym)
		if !ok {
			return nil
		}
		return fill(func(int) uint64 { return uint64(at + d.Off) })
	case ir.Copy:
		return t.of(d.Args[0], depth+1)
	case ir.Phi:
		return nil
	}
	if d.Op.Row().Effects != 0 || len(d.Args) == 0 {
		return nil
	}
	var args [][]uint64
	for _, a := range d.Args {
		r := t.of(a, depth+1)
		if r == nil {
			return nil
		}
		args = append(args, r)
	}
	if d.Op == ir.Select {
		return fill(func(i int) uint64 { return args[2-args[0][i]&1][i] })
	}
	one := &ir.Inst{Op: d.Op, Attr: d.Attr}
	for _, a := range d.Args {
		one.Args = append(one.Args, &ir.Value{Type: a.Type, Const: true})
	}
	r := make([]uint64, t.n)
	for i := range r {
		for k, a := range one.Args {
			a.Bits = args[k][i]
		}
		got, ok := evaluate(one, v.Type)
		if !ok {
			return nil
		}
		r[i] = got & lowBits(v.Type)
	}
	return r
}

// shared is the offset of a shared variable; "" is the dynamic area behind the static ones.
func (t *threadValues) shared(sym string) (int64, bool) {
	if sym == "" {
		a := max(t.st.m.DynamicAlign, 1)
		return int64((t.st.m.SharedBytes + a - 1) / a * a), true
	}
	for _, s := range t.st.m.Shared {
		if s.Name == sym {
			return int64(s.Offset), true
		}
	}
	return 0, false
}

// mayMeet reports that a warp may load with l where another one stores with s.
func (p *pacer) mayMeet(l, s *ir.Inst) bool {
	if x, y := sharedRoot(l.Args[0], 0), sharedRoot(s.Args[0], 0); x != nil && y != nil && x.Sym != y.Sym {
		return false
	}
	if p.at == nil {
		p.at = newThreadValues(p.st)
	}
	if p.at.n > 0 {
		p.looks += p.at.n / 8
		if meet, known := p.at.meet(l, p.at, s); known {
			return meet
		}
		if meet, known := p.acrossIterations(l, s); known {
			return meet
		}
	}
	// A thread's own address.
	return l.Args[0] != s.Args[0] || p.uniform(l.Args[0])
}

// acrossIterations is the same for accesses in a loop whose addresses change from iteration to iteration, as those of two buffers do that are swapped:
// what holds for the first iterations is taken to hold for all.
func (p *pacer) acrossIterations(l, s *ir.Inst) (meet, known bool) {
	loop := p.li.Innermost(l.Block)
	for loop != nil && !loop.Contains(s.Block) {
		loop = loop.Parent
	}
	if loop == nil || len(loop.Latches) != 1 {
		return false, false
	}
	all := p.iterationsOf(loop)
	later := 0 // the store's iteration is the next one
	if p.loopCarried(l, s, loop.Header) {
		later = 1
	}
	for i := range len(all) - later {
		p.looks += p.at.n / 8
		if meet, known = all[i].meet(l, all[i+later], s); meet || !known {
			return meet, known
		}
	}
	return false, true
}

// iterationsOf is the threads' values in the first iterations of a loop.
func (p *pacer) iterationsOf(loop *ir.Loop) []*threadValues {
	if r, ok := p.iterations[loop]; ok {
		return r
	}
	const first = 5
	var all []*threadValues
	for i := range first {
		t := newThreadValues(p.st)
		for _, phi := range loop.Header.Insts[:numPhis(loop.Header)] {
			start, next := analysis.Carried(loop, phi)
			switch {
			case i == 0 && start != nil:
				t.memo[phi.Results[0]] = p.at.of(start, 0)
			case i > 0 && next != nil:
				t.memo[phi.Results[0]] = all[i-1].of(next, 0)
			default:
				t.memo[phi.Results[0]] = nil
			}
		}
		all = append(all, t)
	}
	if p.iterations == nil {
		p.iterations = map[*ir.Loop][]*threadValues{}
	}
	p.iterations[loop] = all
	return all
}

// uniform reports an address that lanes of a warp have in common.
func (p *pacer) uniform(v *ir.Value) bool {
	p.together(p.f.Blocks[0])
	return v.Const || p.a.fact(v).kind >= ir.WarpUniform
}

// sharedRoot is the variable that an address is in; nil: not known.
func sharedRoot(v *ir.Value, depth int) *ir.Inst {
	d := v.Def
	if d == nil || depth > 8 {
		return nil
	}
	switch d.Op {
	case ir.SharedAddr:
		return d
	case ir.Add:
		if r := sharedRoot(d.Args[0], depth+1); r != nil {
			return r
		}
		return sharedRoot(d.Args[1], depth+1)
	case ir.Copy, ir.ZExt, ir.SExt, ir.Trunc, ir.Sub:
		return sharedRoot(d.Args[0], depth+1)
	}
	return nil
}

// written is which warp stores to each word of shared memory from the first on: its number and one, or several.
type written struct {
	first uint64
	by    []int16
}

const several = -1

// words are the first and last word of an access.
func words(at, size uint64) (first, last uint64) { return at / 4, (at + size - 1) / 4 }

// owners is what a store writes; nil: not known.
func (t *threadValues) owners(s *ir.Inst) *written {
	if r, ok := t.stored[s]; ok {
		return r
	}
	t.stored[s] = nil
	at, size := t.of(s.Args[0], 0), accessBytes(s)
	if at == nil {
		return nil
	}
	lo, hi := ^uint64(0), uint64(0)
	t.active(s, func(i int) {
		first, last := words(at[i], size)
		lo, hi = min(lo, first), max(hi, last)
	})
	const most = 1 << 18
	if lo <= hi && hi-lo > most {
		return nil
	}
	r := &written{first: lo}
	if lo <= hi {
		r.by = make([]int16, hi-lo+1)
	}
	t.active(s, func(i int) {
		first, last := words(at[i], size)
		for k := first; k <= last; k++ {
			switch w := &r.by[k-lo]; *w {
			case 0, int16(i/32) + 1:
				*w = int16(i/32) + 1
			default:
				*w = several
			}
		}
	})
	t.stored[s] = r
	return r
}

// meet reports that a thread loads with l, of these values, a word that another warp stores with s, of those.
func (t *threadValues) meet(l *ir.Inst, those *threadValues, s *ir.Inst) (found, known bool) {
	from, to, size := t.of(l.Args[0], 0), those.owners(s), accessBytes(l)
	if from == nil || to == nil {
		return false, false
	}
	t.active(l, func(i int) {
		first, last := words(from[i], size)
		for k := max(first, to.first); k <= last && k-to.first < uint64(len(to.by)); k++ {
			if w := to.by[k-to.first]; w != 0 && w != int16(i/32)+1 {
				found = true
			}
		}
	})
	return found, true
}

// active calls f for the threads that may do in.
func (t *threadValues) active(in *ir.Inst, f func(i int)) {
	var on []uint64
	if in.Mask != nil {
		on = t.of(in.Mask, 0)
	}
	for i := range t.n {
		if on == nil || on[i]&1 != 0 {
			f(i)
		}
	}
}

// accessBytes is what one thread accesses.
func accessBytes(in *ir.Inst) (n uint64) {
	vals := in.Results
	if in.Op == ir.Store {
		vals = in.Args[1:]
	} else if in.Op != ir.Load {
		vals = in.Args[1:2]
	}
	for _, v := range vals {
		n += uint64(v.Type.Bits()+7) / 8
	}
	return n
}
