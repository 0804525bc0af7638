package warp

import (
	"kudzu/internal/emit/float"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// Halves are extended to f32 as they lie in memory or in their words, whole vectors at a time: an instruction does that for sixteen of
// them. To take the words apart first costs two for each half of a word, and what is read is not extended while it is read.

// extendPairs extends both halves of words that are taken apart, if both are wanted as f32 there. What emitFExt is to give for them is
// noted.
func (e *emitter) extendPairs(in *ir.Inst, x ll.Val) {
	if len(in.Results) != 2 || in.Results[0].Type != ir.F16 {
		return
	}
	for _, r := range in.Results {
		if e.lanesOf(r) != e.w || e.w == 1 || !e.extendedIn(r, in.Block) {
			return
		}
	}
	f := e.FPExt(e.Bitcast(x, ll.Vec(2*e.w, "half")), "float")
	for i, r := range in.Results {
		e.extended[e.vector(r)] = e.Shuffle(f, f, rangeInts(0, e.w, func(l int) int { return 2*l + i }))
	}
}

// extendedIn reports a half that a block extends as it is.
func (e *emitter) extendedIn(v *ir.Value, b *ir.Block) bool {
	for _, in := range b.Insts {
		if in.Op == ir.FExt && in.Args[0] == v && !in.FTZ && in.Results[0].Type == ir.F32 {
			return true
		}
	}
	return false
}

// readExtended reads halves from memory as f32, for arithmetic on a machine that has none on halves; nothing for others.
func (e *emitter) readExtended(t ir.Type, p ll.Val) (f ll.Val, ok bool) {
	if el, _ := float.Element(t); el != ir.F16 || e.cpu.fp16 || e.w%16 != 0 {
		return ll.Val{}, false
	}
	const n = 16 // in one load, of which LLVM would take apart a larger one behind it
	var parts []ll.Val
	for at := 0; at < e.w*t.Bits()/16; at += n {
		parts = append(parts, e.FPExt(e.Load(ll.Vec(n, "half"), e.at(p, 2*at), 32), "float"))
	}
	return e.concat(parts), true
}

// arithExtended is a sum or product of halves of which some are extended already.
func (e *emitter) arithExtended(in *ir.Inst, el ir.Type, a []ll.Val, args []ll.Val) (ll.Val, bool) {
	if el != ir.F16 || e.cpu.fp16 || in.Rnd != ir.RN || in.FTZ || len(a) != 2 || in.Op != ir.FAdd && in.Op != ir.FSub && in.Op != ir.FMul {
		return ll.Val{}, false
	}
	some := false
	var f [2]ll.Val
	for i, x := range a {
		w, ok := e.extended[x]
		if !ok {
			w = e.FPExt(args[i], "float")
		}
		some = some || ok
		f[i] = w
	}
	if !some {
		return ll.Val{}, false
	}
	return e.FPTrunc(e.Binary(float.Arith[in.Op], f[0], f[1]), "half"), true
}
