package lower

import (
	"kudzu/internal/ir"
	"kudzu/internal/ptx/isa"
)

func lowerVote(x *inst) {
	a, m := x.arg("a"), x.members()
	op, t := ir.Ballot, ir.I32
	switch x.Mod("mode") {
	case isa.ModAll:
		op, t = ir.VoteAll, ir.I1
	case isa.ModAny:
		op, t = ir.VoteAny, ir.I1
	case isa.ModUni:
		op, t = ir.VoteUni, ir.I1
	}
	x.result(x.b.Emit(op, t, ir.Attr{}, a, m))
}

func lowerMatch(x *inst) {
	a, m := x.arg("a"), x.members()
	if x.Mod("mode") == isa.ModAny {
		x.result(x.b.Emit(ir.MatchAny, ir.I32, ir.Attr{}, a, m))
		return
	}
	types := []ir.Type{ir.I32}
	if x.wantsSecond(0) {
		types = append(types, ir.I1)
	}
	in := x.b.EmitN(ir.MatchAll, types, ir.Attr{}, a, m)
	x.result(in.Results[0])
	if len(types) > 1 {
		x.second(0, isa.Pred, func() *ir.Value { return in.Results[1] })
	}
}

func lowerActivemask(x *inst) { x.result(x.b.Emit(ir.ActiveMask, ir.I32, ir.Attr{})) }

func lowerRedux(x *inst) {
	a, m := x.arg("a"), x.members()
	if x.Has(isa.ModAbs) {
		a = x.op(ir.FAbs, a)
	}
	attr := ir.Attr{AtomOp: atomOp(x.Mod("op"), x.kindOf()), NaN: x.Has(isa.ModNaN)}
	x.result(x.opWith(ir.Redux, attr, a, m))
}

func lowerElect(x *inst) {
	in := x.b.EmitN(ir.Elect, []ir.Type{ir.I32, ir.I1}, ir.Attr{}, x.members())
	x.result(in.Results[0])
	x.second(0, isa.Pred, func() *ir.Value { return in.Results[1] })
}
