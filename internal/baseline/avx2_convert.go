package baseline

import "kudzu/internal/baseline/x86"

// Conversions that AVX2 has no instruction for: exact sequences on vectors, or lane by lane with the instructions that
// convert one number.

var (
	toLong   = [2]x86.Op{x86.VCVTTSS2SIQ, x86.VCVTTSD2SIQ} // by the float's width
	moveOne  = [2]x86.Op{x86.VMOVSS, x86.VMOVSD}
	subOne   = [2]x86.Op{x86.VSUBSS, x86.VSUBSD}
	maxOne   = [2]x86.Op{x86.VMAXSS, x86.VMAXSD}
	orderOne = [2]x86.Op{x86.VUCOMISS, x86.VUCOMISD}
)

// toFloatLanes writes sitofp and uitofp of 32 and 64 bits.
func (g *gen) toFloatLanes(in *inst, signed bool) {
	from, to := in.args[0].t.bits, in.t.bits
	switch {
	case from == 64 && to == 32:
		g.longToFloat(in, signed)
	case from == 64:
		g.longToDouble(in, signed)
	case signed && to == 32:
		g.convert(in, x86.VCVTDQ2PS)
	case signed:
		g.convert(in, x86.VCVTDQ2PD)
	case to == 32:
		g.wordToFloat(in)
	default:
		g.wordToDouble(in)
	}
}

// wordToFloat converts the halves of numbers without a sign, each exactly, and adds them: rounded once.
func (g *gen) wordToFloat(in *inst) {
	low, mantissa := g.filled(in.t, 0xffff), g.filled(in.t, 0x4b000000)  // 2^23
	high, both := g.filled(in.t, 0x53000000), g.filled(in.t, 0x53000080) // 2^39, 2^39 + 2^23
	g.pieces(g.size(in.t), func(off int, l x86.Width, n int) {
		x := g.reg(in.args[0], off, l)
		r, s := g.fresh(), g.fresh()
		g.V(x86.VPANDD, l, s, x, low)
		g.V(x86.VPORD, l, s, s, mantissa)
		g.VI(x86.VPSRLD, l, r, 0, x86.R(x), 16)
		g.V(x86.VPORD, l, r, r, high)
		g.V(x86.VSUBPS, l, r, r, both)
		g.V(x86.VADDPS, l, r, r, x86.R(s))
		g.put(in.res, off, l, r, n)
	})
}

// wordToDouble puts numbers without a sign into the mantissa of 2^52, which is then taken away.
func (g *gen) wordToDouble(in *inst) {
	power := g.filled(in.t, 0x4330000000000000)
	g.pieces(g.size(in.t), func(off int, l x86.Width, n int) {
		r := g.fresh()
		g.V(x86.VPMOVZXDQ, l, r, 0, x86.M(g.mem(in.args[0]).Plus(int32(off/2))))
		g.V(x86.VPORD, l, r, r, power)
		g.V(x86.VSUBPD, l, r, r, power)
		g.put(in.res, off, l, r, n)
	})
}

// longToDouble converts the halves, each exactly, and adds them: rounded once. Of a number with a sign the high half is
// moved by 2^31 first.
func (g *gen) longToDouble(in *inst, signed bool) {
	low, lowPower := g.filled(in.t, 0xffffffff), g.filled(in.t, 0x4330000000000000)           // 2^52
	highPower, both := g.filled(in.t, 0x4530000000000000), g.filled(in.t, 0x4530000000100000) // 2^84, 2^84 + 2^52
	if signed {
		highPower, both = g.filled(in.t, 0x4530000080000000), g.filled(in.t, 0x4530000080100000) // xor moves; 2^84 + 2^63 + 2^52
	}
	g.pieces(g.size(in.t), func(off int, l x86.Width, n int) {
		x := g.reg(in.args[0], off, l)
		r, s := g.fresh(), g.fresh()
		g.V(x86.VPANDD, l, s, x, low)
		g.V(x86.VPORD, l, s, s, lowPower)
		g.VI(x86.VPSRLQ, l, r, 0, x86.R(x), 32)
		g.V(x86.VPXORD, l, r, r, highPower)
		g.V(x86.VSUBPD, l, r, r, both)
		g.V(x86.VADDPD, l, r, r, x86.R(s))
		g.put(in.res, off, l, r, n)
	})
}

// longToFloat converts one lane after the other. A number of 64 bits without a sign is halved, its last bit kept so that
// rounding sees it, and the float doubled.
func (g *gen) longToFloat(in *inst, signed bool) {
	g.forget()
	const r = x86.Reg(0)
	for i := range int(in.t.lanes) {
		g.Load(8, x86.RAX, g.element(in.args[0], i))
		g.V(x86.VPXORD, 0, r, r, x86.R(r))
		if signed {
			g.V(x86.VCVTSI2SSQ, 0, r, r, x86.R(x86.RAX))
		} else {
			small, done := g.NewLabel(), g.NewLabel()
			g.Test(8, x86.RAX, x86.R(x86.RAX))
			g.Jcc(x86.NS, small)
			g.Mov(8, x86.RCX, x86.RAX)
			g.ShiftImm(x86.SHR, 8, x86.R(x86.RAX), 1)
			g.AluImm(x86.AND, 8, x86.R(x86.RCX), 1)
			g.Alu(x86.OR, 8, x86.RAX, x86.R(x86.RCX))
			g.V(x86.VCVTSI2SSQ, 0, r, r, x86.R(x86.RAX))
			g.V(x86.VADDSS, 0, r, r, x86.R(r))
			g.Jmp(done)
			g.Place(small)
			g.V(x86.VCVTSI2SSQ, 0, r, r, x86.R(x86.RAX))
			g.Place(done)
		}
		g.V(x86.VMOVDStore, 0, r, 0, x86.M(g.slot(in.res).Plus(int32(4*i))))
	}
}

// toIntegerLanes writes fptosi and fptoui.
func (g *gen) toIntegerLanes(in *inst) {
	a := in.args[0]
	switch d := double(a.t); {
	case in.t.bits == 32 && in.op == "fptosi":
		g.convert(in, [2]x86.Op{x86.VCVTTPS2DQ, x86.VCVTTPD2DQ}[d])
	case in.t.bits == 32 || in.op == "fptosi": // of 64 bits, the low ones of which are what is wanted
		g.forget()
		for i := range int(in.t.lanes) {
			g.V(toLong[d], 0, x86.RAX, 0, x86.M(g.element(a, i)))
			g.Store(in.t.elem(), g.slot(in.res).Plus(int32(i*in.t.elem())), x86.RAX)
		}
	default:
		g.saturatedLongs(in, false)
	}
}

// saturatedLanes writes fptosi.sat and fptoui.sat.
func (g *gen) saturatedLanes(in *inst, signed bool) {
	switch a := in.args[0]; {
	case in.t.bits == 64:
		g.saturatedLongs(in, signed)
	case a.t.bits == 64:
		g.saturatedDoubles(in, signed)
	case signed:
		g.saturatedSigned(in)
	default:
		g.saturatedUnsigned(in)
	}
}

// saturatedDoubles keeps doubles inside the range of 32 bits, NaN as 0, before they are converted.
func (g *gen) saturatedDoubles(in *inst, signed bool) {
	a := in.args[0]
	const ordered, towardsZero = 7, 11
	least, largest, shift := g.filled(a.t, 0xc1e0000000000000), g.filled(a.t, 0x41dfffffffc00000), g.filled(a.t, floatPower(a.t, 31))
	if !signed {
		least, largest = g.filled(a.t, 0), g.filled(a.t, 0x41efffffffe00000)
	}
	top := g.filled(in.t, 1<<31)
	g.pieces(g.size(a.t), func(off int, l x86.Width, n int) {
		x := g.reg(a, off, l)
		r := g.fresh()
		g.VI(x86.VCMPPD, l, r, x, x86.R(x), ordered)
		g.V(x86.VPANDD, l, r, r, x86.R(x))
		g.V(x86.VMAXPD, l, r, r, least)
		g.V(x86.VMINPD, l, r, r, largest)
		if !signed { // moved into the range with a sign, and back
			g.VI(x86.VROUNDPD, l, r, 0, x86.R(r), towardsZero)
			g.V(x86.VSUBPD, l, r, r, shift)
		}
		g.V(x86.VCVTTPD2DQ, l, r, 0, x86.R(r))
		if !signed {
			g.V(x86.VPXORD, 0, r, r, top)
		}
		g.putNarrow(in, off/2, n/2, r)
	})
}

// saturatedSigned converts floats: the instruction gives the least number for all that does not fit.
func (g *gen) saturatedSigned(in *inst) {
	a := in.args[0]
	const atLeast, ordered = 0x0d, 7
	limit, largest := g.filled(a.t, floatPower(a.t, 31)), g.filled(in.t, 1<<31-1)
	g.pieces(g.size(a.t), func(off int, l x86.Width, n int) {
		x := g.reg(a, off, l)
		r, m := g.fresh(), g.fresh()
		g.V(x86.VCVTTPS2DQ, l, r, 0, x86.R(x))
		g.VI(x86.VCMPPS, l, m, x, limit, atLeast)
		g.pick(l, r, r, largest, m)
		g.VI(x86.VCMPPS, l, m, x, x86.R(x), ordered)
		g.V(x86.VPANDD, l, r, r, x86.R(m))
		g.put(in.res, off, l, r, n)
	})
}

// saturatedUnsigned converts floats below 2^31 as they are, larger ones less 2^31.
func (g *gen) saturatedUnsigned(in *inst) {
	a := in.args[0]
	const atLeast = 0x0d
	half, whole := g.filled(a.t, floatPower(a.t, 31)), g.filled(a.t, floatPower(a.t, 32))
	zero, top := g.filled(a.t, 0), g.filled(in.t, 1<<31)
	g.pieces(g.size(a.t), func(off int, l x86.Width, n int) {
		x, r, s, m := g.fresh(), g.fresh(), g.fresh(), g.fresh()
		g.V(x86.VMOVDQU, l, x, 0, g.rm(a, off, l))
		g.V(x86.VMAXPS, l, x, x, zero) // 0 of NaN
		g.V(x86.VSUBPS, l, s, x, half)
		g.V(x86.VCVTTPS2DQ, l, s, 0, x86.R(s))
		g.V(x86.VPXORD, l, s, s, top)
		g.V(x86.VCVTTPS2DQ, l, r, 0, x86.R(x))
		g.VI(x86.VCMPPS, l, m, x, half, atLeast)
		g.pick(l, r, r, x86.R(s), m)
		g.VI(x86.VCMPPS, l, m, x, whole, atLeast)
		g.V(x86.VPORD, l, r, r, x86.R(m))
		g.put(in.res, off, l, r, n)
	})
}

// saturatedLongs converts to 64 bits one lane after the other.
func (g *gen) saturatedLongs(in *inst, signed bool) {
	a := in.args[0]
	d := double(a.t)
	g.forget()
	const x, y = x86.Reg(0), x86.Reg(1)
	limit, next := g.filled(a.t, floatPower(a.t, 63)), g.filled(a.t, floatPower(a.t, 64))
	for i := range int(in.t.lanes) {
		g.V(moveOne[d], 0, x, 0, x86.M(g.element(a, i)))
		if signed {
			g.MovImm(x86.RCX, 1<<63-1)
			g.MovImm(x86.RDX, 0)
			g.V(toLong[d], 0, x86.RAX, 0, x86.R(x))
			g.V(orderOne[d], 0, x, 0, limit)
			g.Cmov(x86.AE, 8, x86.RAX, x86.R(x86.RCX))
			g.V(orderOne[d], 0, x, 0, x86.R(x))
			g.Cmov(x86.P, 8, x86.RAX, x86.R(x86.RDX))
		} else {
			g.V(x86.VPXORD, 0, y, y, x86.R(y))
			g.V(maxOne[d], 0, x, x, x86.R(y)) // 0 of NaN
			g.V(subOne[d], 0, y, x, limit)
			g.V(toLong[d], 0, x86.RCX, 0, x86.R(y))
			g.MovImm(x86.RDX, 1<<63)
			g.Alu(x86.XOR, 8, x86.RCX, x86.R(x86.RDX))
			g.MovImm(x86.RDX, 1<<64-1)
			g.V(toLong[d], 0, x86.RAX, 0, x86.R(x))
			g.V(orderOne[d], 0, x, 0, limit)
			g.Cmov(x86.AE, 8, x86.RAX, x86.R(x86.RCX))
			g.V(orderOne[d], 0, x, 0, next)
			g.Cmov(x86.AE, 8, x86.RAX, x86.R(x86.RDX))
		}
		g.Store(8, g.slot(in.res).Plus(int32(8*i)), x86.RAX)
	}
}
