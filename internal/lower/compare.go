package lower

import (
	"kudzu/internal/ir"
	"kudzu/internal/ptx/isa"
)

var comparisons = map[isa.Mod]ir.Cmp{
	isa.ModEq: ir.EQ, isa.ModNe: ir.NE, isa.ModLt: ir.LT, isa.ModLe: ir.LE, isa.ModGt: ir.GT, isa.ModGe: ir.GE,
	isa.ModLo: ir.LO, isa.ModLs: ir.LS, isa.ModHi: ir.HI, isa.ModHs: ir.HS,
	isa.ModEqu: ir.EQU, isa.ModNeu: ir.NEU, isa.ModLtu: ir.LTU, isa.ModLeu: ir.LEU, isa.ModGtu: ir.GTU, isa.ModGeu: ir.GEU,
	isa.ModNum: ir.NUM, isa.ModNan: ir.NAN,
}

// unsignedCmp is what .lt and its kin are for unsigned operands.
var unsignedCmp = map[ir.Cmp]ir.Cmp{ir.LT: ir.LO, ir.LE: ir.LS, ir.GT: ir.HI, ir.GE: ir.HS}

// compare compares scalars of PTX type t.
func (x *inst) compare(c ir.Cmp, t isa.Type, a, b *ir.Value) *ir.Value {
	if a.Type.IsFloat() {
		return x.b.Emit(ir.FCmp, ir.I1, ir.Attr{Cmp: c, FTZ: x.Has(isa.ModFtz)}, a, b)
	}
	if u, ok := unsignedCmp[c]; ok && t.Class() != isa.ClassSigned {
		c = u
	}
	return x.icmp(c, a, b)
}

// compares is the comparison of a set or setp: one value, or one for each half of a packed pair.
func (x *inst) compares() []*ir.Value {
	i := x.index("a")
	t := x.opType(i)
	c := comparisons[x.Mod("cmp")]
	a, b := x.arg("a"), x.arg("b")
	var elem ir.Type
	switch a.Type {
	case ir.F16x2:
		elem = ir.F16
	case ir.BF16x2:
		elem = ir.BF16
	default:
		return []*ir.Value{x.compare(c, t, a, b)}
	}
	ua := x.b.EmitN(ir.Unpack, []ir.Type{elem, elem}, ir.Attr{}, a)
	ub := x.b.EmitN(ir.Unpack, []ir.Type{elem, elem}, ir.Attr{}, b)
	return []*ir.Value{x.compare(c, t, ua.Results[0], ub.Results[0]), x.compare(c, t, ua.Results[1], ub.Results[1])}
}

// combine joins a comparison with the predicate operand c by the .bool word, if there is one.
func (x *inst) combine(v *ir.Value) *ir.Value {
	var op ir.Op
	switch x.Mod("bool") {
	case isa.ModAnd:
		op = ir.And
	case isa.ModOr:
		op = ir.Or
	case isa.ModXor:
		op = ir.Xor
	default:
		return v
	}
	return x.op(op, v, x.arg("c"))
}

func lowerSetp(x *inst) {
	cs := x.compares()
	p := x.combine(cs[0])
	if !x.wantsSecond(0) {
		x.result(p)
		return
	}
	// Scalars: q is the comparison's negation, combined. Packed pairs: q is the high half.
	q := cs[len(cs)-1]
	if len(cs) == 1 {
		q = x.not(q)
	}
	q = x.combine(q)
	x.result(p)
	x.second(0, isa.Pred, func() *ir.Value { return q })
}

var ones = map[ir.Type]uint64{
	ir.F32: 0x3f800000, ir.F16: 0x3c00, ir.BF16: 0x3f80, ir.I16: 0xffff, ir.I32: 0xffffffff,
}

// lowerSet gives 1.0 or all ones where the comparison holds.
func lowerSet(x *inst) {
	cs := x.compares()
	t := irTypes[x.opType(0)]
	if len(cs) == 1 {
		x.result(x.sel(x.combine(cs[0]), ir.ConstInt(t, ones[t]), ir.ConstInt(t, 0)))
		return
	}
	elem := map[ir.Type]ir.Type{ir.F16x2: ir.F16, ir.BF16x2: ir.BF16, ir.I32: ir.I16}[t]
	var parts []*ir.Value
	for _, c := range cs {
		parts = append(parts, x.sel(x.combine(c), ir.ConstInt(elem, ones[elem]), ir.ConstInt(elem, 0)))
	}
	x.result(x.b.Emit(ir.Pack, t, ir.Attr{}, parts...))
}

func lowerSelp(x *inst) {
	t := x.opType(0)
	w := x.bare(&x.Args[0], t)
	a, b := x.cast(x.bareValue(&x.Args[1], t), w), x.cast(x.bareValue(&x.Args[2], t), w)
	x.result(x.sel(x.arg("c"), a, b))
}

// lowerSlct takes a where c is not negative; a NaN is.
func lowerSlct(x *inst) {
	c := x.arg("c")
	var p *ir.Value
	if c.Type.IsFloat() {
		p = x.b.Emit(ir.FCmp, ir.I1, ir.Attr{Cmp: ir.GE, FTZ: x.Has(isa.ModFtz)}, c, ir.ConstInt(c.Type, 0))
	} else {
		p = x.icmp(ir.GE, c, constOf(c.Type, 0))
	}
	x.result(x.sel(p, x.arg("a"), x.arg("b")))
}
