package warp

import (
	"slices"

	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// Vectors of a lane that are loaded, computed with element by element, and stored: float4 kernels, as PyTorch's are. Lanes lie behind each
// other in memory, and 32 of them are taken apart into four vectors of one element each, and put together again: 24 permutations a
// load or store. Where all elements have the same done to them, with each other's vectors and with numbers that all lanes have, it
// is done to the memory's vectors as they are.

// wideImage is what a load of whole vectors by all lanes read, as it lies in memory.
type wideImage struct {
	in  *ir.Block
	raw []ll.Val
}

// lanewiseOps are done to whole images. What takes long is not: the elements may be wanted elsewhere too, and would be computed twice.
var lanewiseOps = map[ir.Op]bool{ir.FAdd: true, ir.FSub: true, ir.FMul: true, ir.FFma: true, ir.FNeg: true, ir.FAbs: true, ir.FMin: true, ir.FMax: true, ir.FRelu: true,
	ir.Add: true, ir.Sub: true, ir.Mul: true, ir.And: true, ir.Or: true, ir.Xor: true, ir.Not: true, ir.MinS: true, ir.MinU: true, ir.MaxS: true, ir.MaxU: true}

// imageDepth bounds what is looked through from a store.
const imageDepth = 12

// imageStored is what a store of vals by all lanes writes, as it lies in memory; nil: it has to be put together.
func (e *emitter) imageStored(in *ir.Inst, vals []*ir.Value) []ll.Val {
	if e.w != 32 || len(vals) != 2 && len(vals) != 4 || vals[0].Type != ir.F32 && vals[0].Type != ir.I32 {
		return nil
	}
	f := &imager{e: e, in: in.Block, n: len(vals), memo: map[*ir.Value]imaged{}}
	if !f.can(vals, imageDepth) || !f.loads {
		return nil
	}
	out := f.image(vals)
	if slices.ContainsFunc(vals, func(v *ir.Value) bool { return e.dirty[v] }) {
		out = slices.Clone(out)
		for i, x := range out {
			out[i] = e.canonical(x, vals[0].Type, e.w)
		}
	}
	return out
}

type imager struct {
	e     *emitter
	in    *ir.Block
	n     int
	loads bool // something was loaded so
	known []imaged
	memo  map[*ir.Value]imaged
}

type imaged struct {
	vals []*ir.Value
	out  []ll.Val
}

// common is the one number that all elements have, the same in all lanes.
func (f *imager) common(vals []*ir.Value) *ir.Value {
	v := vals[0]
	for _, x := range vals[1:] {
		if x != v && !(x.Const && v.Const && x.Bits == v.Bits && x.Type == v.Type) {
			return nil
		}
	}
	if !uniform(v) {
		return nil
	}
	return v
}

// args are operand i of what makes the elements.
func args(vals []*ir.Value, i int) (list []*ir.Value) {
	for _, v := range vals {
		list = append(list, v.Def.Args[i])
	}
	return list
}

// can reports elements that an image can be made of.
func (f *imager) can(vals []*ir.Value, depth int) bool {
	if f.common(vals) != nil {
		return true
	}
	if slices.ContainsFunc(f.known, func(m imaged) bool { return slices.Equal(m.vals, vals) }) {
		return true
	}
	if !f.may(vals, depth) {
		return false
	}
	f.known = append(f.known, imaged{vals: vals})
	return true
}

func (f *imager) may(vals []*ir.Value, depth int) bool {
	d := vals[0].Def
	if d == nil || depth == 0 || d.Block != f.in {
		return false
	}
	if d.Op == ir.Load {
		w, ok := f.e.wides[d]
		f.loads = f.loads || ok
		return ok && w.in == f.in && slices.Equal(d.Results, vals)
	}
	if !lanewiseOps[d.Op] || len(d.Results) != 1 || d.Rnd != ir.RN || d.XorSign || vals[0].Type != ir.F32 && vals[0].Type != ir.I32 {
		return false
	}
	for _, v := range vals {
		x := v.Def
		if x == nil || x.Op != d.Op || x.Attr != d.Attr || x.Block != f.in || v.Type != vals[0].Type || uniform(v) || v.Shape.Kind != ir.Varying || v.Shape.Guess {
			return false
		}
	}
	for i, a := range d.Args {
		if a.Type != vals[0].Type || !f.can(args(vals, i), depth-1) {
			return false
		}
	}
	return true
}

// image makes it.
func (f *imager) image(vals []*ir.Value) []ll.Val {
	e, d := f.e, vals[0].Def
	if m, ok := f.memo[vals[0]]; ok && slices.Equal(m.vals, vals) {
		return m.out
	}
	if d.Op == ir.Load {
		return e.wides[d].raw
	}
	operands := make([][]ll.Val, len(d.Args))
	for i := range operands {
		if list := args(vals, i); f.common(list) == nil {
			operands[i] = f.image(list)
		}
	}
	out := make([]ll.Val, f.n)
	for k := range out {
		part := *d
		part.Args = slices.Clone(d.Args)
		for i, x := range operands {
			if x != nil {
				part.Args[i] = &ir.Value{Type: d.Args[i].Type, Shape: ir.Shape{Kind: ir.Varying}}
				e.rep(part.Args[i]).vec = x[k]
			}
		}
		r := &ir.Value{Type: vals[0].Type, Shape: ir.Shape{Kind: ir.Varying}, Def: &part}
		part.Results = []*ir.Value{r}
		emitters[d.Op](e, &part)
		out[k] = e.vals[r].vec
	}
	f.memo[vals[0]] = imaged{vals, out}
	return out
}
