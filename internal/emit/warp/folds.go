package warp

import (
	"kudzu/internal/analysis"
	"kudzu/internal/emit/float"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// Folds (analysis/folds.go) are computed for one of the lanes that agree: 16 of the warp's after the first, 8 after the second, and the
// last gives one number. The others get theirs by a shuffle where anybody asks for it.

// folded is a value of the lanes whose numbers have none of these bits, in order.
type folded struct {
	bits int
	vec  ll.Val
	key  ll.Val // of minima and maxima after the first fold: float.Key of vec
	in   *ir.Block
}

// keyed reports a minimum or a maximum of floats that comes after another fold: from there on keys are compared, an instruction a fold
// instead of four to seven.
func (e *emitter) keyed(in *ir.Inst, known int) (m float.MinMax, ok bool) {
	if in.Op != ir.FMin && in.Op != ir.FMax || known == 0 || in.Results[0].Type != ir.F32 || !e.Target.X86 || in.NaN || in.XorSign || in.FTZ {
		return m, false
	}
	m = float.MinMaxOf(in)
	m.Magnitudes = analysis.NoSign(in.Args[0]) && analysis.NoSign(in.Args[1])
	return m, true
}

// fold emits a fold; op is its operation on n lanes. false: in is none.
func (e *emitter) fold(in *ir.Inst, op func(n int, a []ll.Val) ll.Val) bool {
	if e.w != 32 {
		return false
	}
	x, bit, ok := analysis.Fold(in)
	if !ok || uniform(x) || x.Shape.Kind == ir.Affine || x.Shape.Guess || in.Results[0].Shape.Guess {
		return false
	}
	from, has := e.folds[x]
	known := analysis.Folded(x)
	if known&bit != 0 { // folded twice: twice the sum, which the usual way is for
		return false
	}
	lanes := lanesWithout(known)
	if !has || from.in != in.Block || from.bits != known {
		from = folded{bits: known, vec: e.vector(x)}
		if known != 0 {
			from.vec = e.Shuffle(from.vec, from.vec, lanes)
		}
	}
	m, keyed := e.keyed(in, known)
	src := from.vec
	if keyed {
		if from.key.IsZero() {
			from.key = e.Key(m, from.vec)
		}
		src = from.key
	}
	var halves [2][]int
	for i, l := range lanes {
		half := 0
		if l&bit != 0 {
			half = 1
		}
		halves[half] = append(halves[half], i)
	}
	n := len(lanes) / 2
	var a []ll.Val
	for _, arg := range in.Args {
		half := 1
		if arg == x {
			half = 0
		}
		if n == 1 {
			a = append(a, e.Extract(src, halves[half][0]))
		} else {
			a = append(a, e.Shuffle(src, src, halves[half]))
		}
	}
	var y, key ll.Val
	if keyed {
		name := "smin"
		if m.Max {
			name = "smax"
		}
		if n == 1 { // of both lanes, so that it stays in vector registers
			a = []ll.Val{src, e.Shuffle(src, src, []int{1, 0})}
		}
		key = e.Intr(name, a[0], a[1])
		y = e.Unkey(m, key)
		if n == 1 {
			y = e.Extract(y, 0)
		}
	} else {
		y = op(n, a)
	}
	r, bits := in.Results[0], from.bits|bit
	switch {
	case n > 1:
		e.folds[r] = folded{bits, y, key, in.Block}
		place := map[int]int{}
		for i, l := range lanesWithout(bits) {
			place[l] = i
		}
		e.set(r, e.Shuffle(y, y, rangeInts(0, e.w, func(l int) int { return place[l&^bits] })))
	case uniform(r):
		e.set(r, y)
	default:
		e.set(r, e.splat(y))
	}
	return true
}

// lanesWithout are the lanes whose numbers have none of these bits.
func lanesWithout(bits int) (lanes []int) {
	for l := range 32 {
		if l&bits == 0 {
			lanes = append(lanes, l)
		}
	}
	return lanes
}
