package analysis

import (
	"slices"

	"kudzu/internal/ir"
)

// Asked says how many of a warp's first lanes anybody asks for of a value: of 32 lanes that a reduction by shuffles downwards adds up, one
// asks for the last sum, two for the one before, and so on. Values that are not there are asked for by all lanes, or by none. Functions
// without shuffles are not looked at.
func Asked(f *ir.Func) map[*ir.Value]int {
	if !slices.ContainsFunc(f.Blocks, func(b *ir.Block) bool {
		return slices.ContainsFunc(b.Insts, func(in *ir.Inst) bool { return in.Op == ir.Shfl })
	}) {
		return nil
	}
	a := &asking{lanes: map[*ir.Value]int{}, changed: true}
	for a.changed {
		a.changed = false
		for i := len(f.Blocks) - 1; i >= 0; i-- {
			insts := f.Blocks[i].Insts
			for j := len(insts) - 1; j >= 0; j-- {
				a.inst(insts[j])
			}
		}
	}
	for v, n := range a.lanes {
		if n >= warpLanes {
			delete(a.lanes, v)
		}
	}
	return a.lanes
}

const warpLanes = 32

type asking struct {
	lanes   map[*ir.Value]int
	changed bool
}

func (a *asking) ask(v *ir.Value, n int) {
	if v != nil && v.Def != nil && a.lanes[v] < n {
		a.lanes[v], a.changed = n, true
	}
}

func (a *asking) inst(in *ir.Inst) {
	each := func(n int) {
		for _, v := range in.Args {
			a.ask(v, n)
		}
	}
	switch {
	case Lanewise(in):
		each(a.lanes[in.Results[0]])
	case in.Op == ir.Shfl && len(in.Results) == 1 && in.Mask == nil:
		from, _, ok := ShuffleFrom(in)
		n := a.lanes[in.Results[0]]
		if !ok {
			if n > 0 {
				each(warpLanes)
			}
			return
		}
		for _, l := range from[:n] {
			a.ask(in.Args[0], l+1)
		}
		for _, v := range in.Args[1:] {
			a.ask(v, warpLanes)
		}
	case in.Op == ir.Store:
		n := lanesOf(in.Mask, 4)
		a.ask(in.Args[0], warpLanes)
		a.ask(in.Mask, warpLanes)
		for _, v := range in.Args[1:] {
			a.ask(v, n)
		}
	default:
		each(warpLanes)
		a.ask(in.Mask, warpLanes)
	}
}

var lanewise = [ir.NumOps]bool{
	ir.FAdd: true, ir.FSub: true, ir.FMul: true, ir.FFma: true, ir.FDiv: true, ir.FMin: true, ir.FMax: true, ir.FNeg: true, ir.FAbs: true, ir.FSqrt: true, ir.FRcp: true,
	ir.FCmp: true, ir.Select: true, ir.Add: true, ir.Sub: true, ir.Mul: true, ir.And: true, ir.Or: true, ir.Xor: true,
	ir.MinS: true, ir.MinU: true, ir.MaxS: true, ir.MaxU: true,
}

// Lanewise reports an operation on numbers of 32 bits, whose results in some lanes need nothing of the others.
func Lanewise(in *ir.Inst) bool {
	if !lanewise[in.Op] || len(in.Results) != 1 || in.Mask != nil || in.Rnd != ir.RN {
		return false
	}
	small := func(t ir.Type) bool { return t == ir.F32 || t == ir.I32 || t == ir.I1 }
	for _, v := range in.Args {
		if !small(v.Type) {
			return false
		}
	}
	s := in.Results[0].Shape
	return small(in.Results[0].Type) && s.Kind == ir.Varying && !s.Guess
}

// lanesOf is one more than the last lane that may be in a mask: of a number that counts lanes, one lane has a value.
func lanesOf(m *ir.Value, depth int) int {
	if m == nil || m.Def == nil || depth == 0 {
		return warpLanes
	}
	d, not := m.Def, false
	if d.Op == ir.Not {
		d, not = d.Args[0].Def, true
	}
	switch {
	case d == nil:
	case d.Op == ir.And && !not:
		return min(lanesOf(d.Args[0], depth-1), lanesOf(d.Args[1], depth-1))
	case d.Op == ir.ICmp && (d.Cmp == ir.EQ && !not || d.Cmp == ir.NE && not):
		x, c := d.Args[0], d.Args[1]
		s := x.Shape
		if c.Const && x.Type == ir.I32 && s.Kind == ir.Affine && s.Stride == 1 && s.Seg == 0 && s.Table == nil && s.Align >= warpLanes && s.Align%warpLanes == 0 {
			return int(c.Bits&(warpLanes-1)) + 1
		}
	}
	return warpLanes
}
