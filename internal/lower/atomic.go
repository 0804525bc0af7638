package lower

import (
	"kudzu/internal/ir"
	"kudzu/internal/ptx/isa"
)

// atomOps maps the .op words; min and max depend on the type.
var atomOps = map[isa.Mod]ir.AtomOp{
	isa.ModAdd: ir.AtomAdd, isa.ModAnd: ir.AtomAnd, isa.ModOr: ir.AtomOr, isa.ModXor: ir.AtomXor, isa.ModExch: ir.AtomExch,
	isa.ModInc: ir.AtomInc, isa.ModDec: ir.AtomDec,
}

func atomOp(m isa.Mod, t isa.Type) ir.AtomOp {
	pick := func(s, u, f ir.AtomOp) ir.AtomOp {
		switch {
		case irTypes[t].IsFloat():
			return f
		case t.IsSigned():
			return s
		}
		return u
	}
	switch m {
	case isa.ModMin:
		return pick(ir.AtomMinS, ir.AtomMinU, ir.AtomFMin)
	case isa.ModMax:
		return pick(ir.AtomMaxS, ir.AtomMaxU, ir.AtomFMax)
	}
	return atomOps[m]
}

// atomic is the attributes of atom and red: relaxed at gpu scope unless said otherwise.
func (x *inst) atomic() (ir.Attr, ir.Space) {
	sp := x.space(x.spaceWord())
	attr := ir.Attr{Space: sp, Order: ir.Relaxed, Scope: ir.ScopeGPU}
	if o, ok := orders[x.Mod("sem")]; ok {
		attr.Order = o
	}
	if s, ok := memScopes[x.Mod("scope")]; ok {
		attr.Scope = s
	}
	return attr, sp
}

func lowerAtom(x *inst) { x.lowerAtomic(true) }

func lowerRed(x *inst) { x.lowerAtomic(false) }

func (x *inst) lowerAtomic(result bool) {
	t := x.kindOf()
	attr, sp := x.atomic()
	a := x.address(&x.Args[x.index("a")], sp)
	if x.Mod("op") == isa.ModCas {
		w := irTypes[t]
		x.result(x.b.Emit(ir.AtomicCAS, w, attr, a, x.arg("b"), x.arg("c")))
		return
	}
	attr.AtomOp = atomOp(x.Mod("op"), t)
	attr.FTZ = t == isa.F32 && sp == ir.Global && attr.AtomOp == ir.AtomAdd // global memory's unit flushes, shared memory's does not
	vs := x.elems("b", t)
	var old []*ir.Value
	// A vector's elements are atomic one by one, in no order.
	for i, v := range vs {
		at := a
		if i > 0 {
			at = x.op(ir.Add, a, i64(int64(i*t.Bytes())))
		}
		var types []ir.Type
		if result {
			types = []ir.Type{v.Type}
		}
		in := x.b.EmitN(ir.Atomic, types, attr, at, v)
		old = append(old, in.Results...)
	}
	if result {
		x.setElems(0, t, old)
	}
}
