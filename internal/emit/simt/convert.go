package simt

import (
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

func emitTrunc(e *emitter, in *ir.Inst) {
	e.result(in, e.Trunc(e.val(in.Args[0]), typ(in.Results[0].Type)))
}

func emitExtend(e *emitter, in *ir.Inst) {
	name := ll.Conv("sext")
	if in.Op == ir.ZExt {
		name = "zext"
	}
	e.result(in, e.Convert(name, e.val(in.Args[0]), typ(in.Results[0].Type)))
}

func emitBitcast(e *emitter, in *ir.Inst) {
	e.result(in, e.Bitcast(e.clean(in.Args[0]), typ(in.Results[0].Type)))
}

func emitIToF(e *emitter, in *ir.Inst) {
	from, to := in.Args[0].Type, in.Results[0].Type
	name := ll.Conv("sitofp")
	if in.Op == ir.UToF {
		name = "uitofp"
	}
	x := e.val(in.Args[0])
	switch {
	case in.Rnd != ir.RN && !(to == ir.F64 && from.Bits() <= 32):
		e.result(in, e.directedIToF(in, name, x, to))
	case to == ir.BF16 || to == ir.F16:
		f := e.OddF32(e.OddFromInt(name, x))
		if to == ir.F16 {
			e.result(in, e.FPTrunc(f, "half"))
		} else {
			e.result(in, e.NarrowBF16(f))
		}
	default:
		e.result(in, e.Convert(name, x, typ(to)))
	}
}

func emitFExt(e *emitter, in *ir.Inst) {
	from, to := in.Args[0].Type, in.Results[0].Type
	x := e.Flushed(in, from, e.val(in.Args[0]))
	switch {
	case from == ir.BF16:
		if x = e.WidenBF16(x); in.FTZ { // bits, which the mode does not reach
			x = e.FlushBits(x, ir.F32)
		}
	case from == ir.F32 && in.FTZ:
		x = e.Canonical(x, from) // f64 keeps the payload
	case from == ir.F32:
		x = e.clean(in.Args[0])
	}
	e.result(in, e.FPExt(x, typ(to)))
}

func emitFTrunc(e *emitter, in *ir.Inst) { e.result(in, e.FTrunc(in, e.val(in.Args[0]))) }

func emitFToI(e *emitter, in *ir.Inst) { e.result(in, e.ToInt(in, e.val(in.Args[0]))) }

// emitPack concatenates parts, the first lowest.
func emitPack(e *emitter, in *ir.Inst) {
	to := in.Results[0].Type
	parts := make([]ll.Val, len(in.Args))
	same := len(parts)&(len(parts)-1) == 0
	for i, v := range in.Args {
		parts[i] = e.Bits(e.clean(v))
		same = same && parts[i].T == parts[0].T
	}
	if same && parts[0].T.Bits() >= 16 {
		e.result(in, e.Bitcast(e.join(parts), typ(to)))
		return
	}
	wide := ll.IntType(to.Bits())
	r := ll.Int(wide, 0)
	at := 0
	for _, p := range parts {
		x := e.ZExt(p, wide)
		if at > 0 {
			x = e.Shl(x, x.Int(int64(at)))
		}
		r = e.Or(r, x)
		at += p.T.Bits()
	}
	e.result(in, e.Bitcast(r, typ(to)))
}

// join pairs equal parts until one is left: targets have registers of pairs.
func (e *emitter) join(parts []ll.Val) ll.Val {
	for len(parts) > 1 {
		var next []ll.Val
		vt := ll.Vec(2, parts[0].T)
		for i := 0; i < len(parts); i += 2 {
			v := e.Insert(ll.Poison(vt), parts[i], 0)
			v = e.Insert(v, parts[i+1], 1)
			next = append(next, e.Bitcast(v, ll.IntType(2*parts[0].T.Bits())))
		}
		parts = next
	}
	return parts[0]
}

func emitUnpack(e *emitter, in *ir.Inst) {
	x := e.Bits(e.clean(in.Args[0]))
	if len(in.Results) == 2 && in.Results[0].Type.Bits() == in.Results[1].Type.Bits() && in.Results[0].Type.Bits() >= 16 {
		half := ll.IntType(x.T.Bits() / 2)
		v := e.Bitcast(x, ll.Vec(2, half))
		for i, r := range in.Results {
			e.set(r, e.Bitcast(e.Extract(v, i), typ(r.Type)))
		}
		return
	}
	at := 0
	for _, r := range in.Results {
		p := x
		if at > 0 {
			p = e.LShr(x, x.Int(int64(at)))
		}
		e.set(r, e.Bitcast(e.Resize(p, r.Type.Bits()), typ(r.Type)))
		at += r.Type.Bits()
	}
}
