package warp

import (
	"slices"

	"kudzu/internal/analysis"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// Values of which only the first lanes are asked for (analysis.Asked) are computed for 16 of them, 8 or 4: those of a reduction by shuffles
// downwards, whose result is the first lane's. The other lanes have copies of these.

// lowLanes is a value's first lanes, and the vector of all that was made of them: where the value is another one, as behind a barrier, they
// are not it.
type lowLanes struct{ vec, all ll.Val }

// fewOf is for how many lanes a value is computed.
func (e *emitter) fewOf(v *ir.Value) int {
	n, ok := e.asked[v]
	if !ok || n == 0 || e.w != 32 || e.lanesOf(v) != e.w {
		return e.w
	}
	few := 4
	for few < n {
		few *= 2
	}
	return few
}

// fewLanes emits an operation for the lanes that are asked for. false: for all.
func (e *emitter) fewLanes(in *ir.Inst, op func(n int, a []ll.Val) ll.Val) bool {
	r := in.Results[0]
	n := e.fewOf(r)
	if n >= e.w || !analysis.Lanewise(in) {
		return false
	}
	args := make([]ll.Val, len(in.Args))
	for i, a := range in.Args {
		args[i] = e.lowOf(a, n)
	}
	e.setLow(r, op(n, args), n)
	return true
}

// lowOf is v's first n lanes.
func (e *emitter) lowOf(v *ir.Value, n int) ll.Val {
	if uniform(v) {
		return e.splatN(e.scalar(v), n)
	}
	x := e.vector(v)
	if low, ok := e.lowLanes(v, x, n); ok {
		x = low
	}
	return e.slice(x, 0, n)
}

// lowLanes are those of x, v's vector, if it was made of n or more.
func (e *emitter) lowLanes(v *ir.Value, x ll.Val, n int) (ll.Val, bool) {
	low, ok := e.low[v]
	if !ok || low.all != x {
		return ll.Val{}, false
	}
	have, _ := low.vec.T.Split()
	return low.vec, have >= n
}

func (e *emitter) setLow(r *ir.Value, x ll.Val, n int) {
	all := e.Shuffle(x, x, rangeInts(0, e.w, func(l int) int { return l % n }))
	e.low[r] = lowLanes{x, all}
	e.set(r, all)
}

// shflFew emits a shuffle from lanes that are known for the lanes that are asked for. false: for all.
func (e *emitter) shflFew(in *ir.Inst, from [32]int) bool {
	v, r := in.Args[0], in.Results[0]
	n := e.fewOf(r)
	if n >= e.w || len(in.Results) != 1 || r.Type != ir.F32 && r.Type != ir.I32 || r.Shape.Kind != ir.Varying || r.Shape.Guess || uniform(v) {
		return false
	}
	x, ok := e.lowLanes(v, e.vector(v), slices.Max(from[:n])+1)
	switch {
	case !ok:
		x = e.exchange(in)
	case !e.dirty[r]:
		have, _ := x.T.Split()
		x = e.cleaned(v, x, have)
	}
	e.setLow(r, e.Shuffle(x, x, from[:n]), n)
	return true
}
