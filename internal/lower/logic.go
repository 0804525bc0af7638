package lower

import (
	"kudzu/internal/ir"
	"kudzu/internal/ptx/isa"
)

func bitwise(op ir.Op) func(*inst) {
	return func(x *inst) { x.result(x.op(op, x.arg("a"), x.arg("b"))) }
}

func lowerNot(x *inst) { x.result(x.not(x.arg("a"))) }

func lowerCnot(x *inst) {
	a := x.arg("a")
	x.result(x.resize(x.icmp(ir.EQ, a, constOf(a.Type, 0)), a.Type.Bits(), false))
}

func lowerLop3(x *inst) {
	lut := uint8(x.Args[x.index("immLut")].Imm)
	d := x.opWith(ir.Lop3, ir.Attr{Lut: lut}, x.arg("a"), x.arg("b"), x.arg("c"))
	var p *ir.Value
	if x.Mod("bool") != 0 {
		op := ir.And
		if x.Mod("bool") == isa.ModOr {
			op = ir.Or
		}
		p = x.op(op, x.icmp(ir.NE, d, i32(0)), x.arg("q"))
	}
	x.result(d)
	if p != nil {
		x.second(0, isa.Pred, func() *ir.Value { return p })
	}
}

func lowerShf(x *inst) {
	op := ir.FshL
	if x.Mod("dir") == isa.ModR {
		op = ir.FshR
	}
	x.result(x.opWith(op, ir.Attr{Wrap: x.Mod("mode") == isa.ModWrap}, x.arg("a"), x.arg("b"), x.arg("c")))
}

func lowerShl(x *inst) { x.result(x.op(ir.Shl, x.arg("a"), x.arg("b"))) }

func lowerShr(x *inst) {
	op := ir.ShrU
	if x.kindOf().IsSigned() {
		op = ir.ShrS
	}
	x.result(x.op(op, x.arg("a"), x.arg("b")))
}

// prmtModes are the selectors that the special modes of prmt stand for, 16 bits for each value of c's low two bits, c = 0
// in the lowest. PTX ISA, "prmt", table of modes.
var prmtModes = map[isa.Mod]uint64{
	isa.ModF4e:  0x6543_5432_4321_3210,
	isa.ModB4e:  0x0123_7012_6701_5670,
	isa.ModRc8:  0x3333_2222_1111_0000,
	isa.ModEcl:  0x3333_3222_3211_3210,
	isa.ModEcr:  0x3210_2210_1110_0000,
	isa.ModRc16: 0x3232_1010_3232_1010,
}

func lowerPrmt(x *inst) {
	sel := x.arg("c")
	if m := x.Mod("mode"); m != 0 {
		sh := x.op(ir.Shl, x.op(ir.And, sel, i32(3)), i32(4))
		t := x.op(ir.ShrU, ir.ConstInt(ir.I64, prmtModes[m]), sh)
		sel = x.op(ir.And, x.resize(t, 32, false), i32(0xffff))
	}
	x.result(x.op(ir.Prmt, x.arg("a"), x.arg("b"), sel))
}
