package baseline

import (
	"kudzu/internal/baseline/x86"
)

type widths struct{ from, to uint16 }

var zeroExtend = map[widths]x86.Op{{8, 16}: x86.VPMOVZXBW, {8, 32}: x86.VPMOVZXBD, {8, 64}: x86.VPMOVZXBQ, {16, 32}: x86.VPMOVZXWD, {16, 64}: x86.VPMOVZXWQ, {32, 64}: x86.VPMOVZXDQ}

var signExtend = map[widths]x86.Op{{8, 16}: x86.VPMOVSXBW, {8, 32}: x86.VPMOVSXBD, {8, 64}: x86.VPMOVSXBQ, {16, 32}: x86.VPMOVSXWD, {16, 64}: x86.VPMOVSXWQ, {32, 64}: x86.VPMOVSXDQ}

var truncateTo = map[widths]x86.Op{{16, 8}: x86.VPMOVWB, {32, 8}: x86.VPMOVDB, {64, 8}: x86.VPMOVQB, {32, 16}: x86.VPMOVDW, {64, 16}: x86.VPMOVQW, {64, 32}: x86.VPMOVQD}

// extend writes zext and sext.
func extend(g *gen, in *inst) {
	a := in.args[0]
	switch {
	case a.t.isMask():
		g.maskToLanes(in)
	case in.t.bits > 64:
		g.wideExtend(in)
	case a.t.vector:
		table := zeroExtend
		if in.op == "sext" {
			table = signExtend
		}
		op, ok := table[widths{a.t.bits, in.t.bits}]
		if !ok {
			fail("%s of %d bits to %d", in.op, a.t.bits, in.t.bits)
		}
		ratio := in.t.elem() / a.t.elem()
		g.pieces(g.size(in.t), func(off int, l x86.Width, n int) {
			x := g.part(a, off/ratio, l, ratio)
			r := g.fresh()
			g.V(op, l, r, 0, x)
			g.put(in.res, off, l, r, n)
		})
	case in.op == "sext":
		g.loadSigned(x86.RAX, a, a.t)
		g.cut(x86.RAX, int(in.t.bits))
		g.store(in.res, x86.RAX)
	default:
		g.load(x86.RAX, a)
		g.store(in.res, x86.RAX)
	}
}

// part is the bytes of an operand from off on that become a register's worth of numbers so many times as wide.
func (g *gen) part(o operand, off int, l x86.Width, ratio int) x86.RM {
	switch {
	case ratio == 1:
		return g.rm(o, off, l)
	case ratio == 2 && l > 0:
		return g.rm(o, off, l-1)
	}
	return x86.M(g.mem(o).Plus(int32(off)))
}

// maskToLanes makes 1 or -1 of a lane's bit.
func (g *gen) maskToLanes(in *inst) {
	c := column(in.t.bits)
	if c < 0 {
		fail("%s of bits to %d bits", in.op, in.t.bits)
	}
	if !g.target.AVX512 {
		g.bitsToLanes(in)
		return
	}
	ops := [4]x86.Op{x86.VPMOVM2B, x86.VPMOVM2W, x86.VPMOVM2D, x86.VPMOVM2Q}
	size := in.t.elem()
	var ones x86.RM
	if in.op == "zext" {
		data := make([]byte, 64)
		for i := range data {
			if i%size == 0 {
				data[i] = 1
			}
		}
		ones = x86.M(x86.Constant(g.place(data)))
	}
	g.pieces(g.size(in.t), func(off int, l x86.Width, n int) {
		r := g.fresh()
		if g.mask(in.args[0], off/size, min(l.Bytes()/size, int(in.t.lanes))) {
			g.VI(x86.VPTERNLOGD, l, r, r, x86.R(r), 0xff)
		} else {
			g.V(ops[c], l, r, 0, x86.R(1))
		}
		if in.op == "zext" {
			g.V(x86.VPANDD, l, r, r, ones)
		}
		g.put(in.res, off, l, r, n)
	})
}

func truncate(g *gen, in *inst) {
	a := in.args[0]
	switch {
	case in.t.isMask():
		g.lanesToMask(in)
	case in.t.vector && a.t.bits > 64:
		g.wideTruncate(in)
	case in.t.vector:
		op, ok := truncateTo[widths{a.t.bits, in.t.bits}]
		if !ok {
			fail("trunc of %d bits to %d", a.t.bits, in.t.bits)
		}
		if !g.target.AVX512 {
			g.narrowLanes(in)
			return
		}
		ratio := a.t.elem() / in.t.elem()
		g.pieces(g.size(a.t), func(off int, l x86.Width, n int) {
			x := g.reg(a, off, l)
			m := g.slot(in.res).Plus(int32(off / ratio))
			if ratio == 2 && l > 0 && n == l.Bytes() {
				r := g.fresh()
				g.V(op, l, x, 0, x86.R(r))
				g.put(in.res, off/2, l-1, r, n/2)
				return
			}
			if left := n / ratio; left == l.Bytes()/ratio && left >= 4 || g.size(in.t) > 8 {
				g.V(op, l, x, 0, x86.M(m))
				return
			}
			r := g.fresh()
			g.V(op, l, x, 0, x86.R(r))
			g.storeLow(m, r, n/ratio)
		})
	default:
		g.load(x86.RAX, retyped(a, lowWord(a.t)))
		g.cut(x86.RAX, int(in.t.bits))
		g.store(in.res, x86.RAX)
	}
}

// lowWord is the part of a number that fits a register.
func lowWord(t typ) typ {
	if t.bits > 64 {
		return word
	}
	return t
}

// lanesToMask takes the lowest bit of each lane.
func (g *gen) lanesToMask(in *inst) {
	a := in.args[0]
	c := column(a.t.bits)
	if c < 0 {
		fail("trunc of %d bits to 1", a.t.bits)
	}
	if !g.target.AVX512 {
		g.lanesToBits(in)
		return
	}
	size := a.t.elem()
	data := make([]byte, 64)
	for i := range data {
		if i%size == 0 {
			data[i] = 1
		}
	}
	ones := x86.M(x86.Constant(g.place(data)))
	ops := [4]x86.Op{x86.VPCMPB, x86.VPCMPW, x86.VPCMPD, x86.VPCMPQ}
	g.pieces(g.size(a.t), func(off int, l x86.Width, n int) {
		x := g.reg(a, off, l)
		r := g.fresh()
		g.V(x86.VPANDD, l, r, x, ones)
		g.VI(ops[c], l, 1, r, ones, 0)
		g.putMask(in.res, off/size, min(l.Bytes()/size, int(a.t.lanes)), int(a.t.lanes))
	})
}

func fpext(g *gen, in *inst) {
	a := in.args[0]
	from, to := a.t.bits, in.t.bits
	g.pieces(g.size(in.t), func(off int, l x86.Width, n int) {
		x := g.part(a, off/in.t.elem()*a.t.elem(), l, in.t.elem()/a.t.elem())
		r := g.fresh()
		switch {
		case from == 16 && to == 32:
			g.V(x86.VCVTPH2PS, l, r, 0, x)
		case from == 32 && to == 64:
			g.V(x86.VCVTPS2PD, l, r, 0, x)
		case from == 16 && to == 64:
			g.V(x86.VCVTPH2PS, max(l, 1)-1, r, 0, x)
			g.V(x86.VCVTPS2PD, l, r, 0, x86.R(r))
		default:
			fail("fpext of %d bits to %d", from, to)
		}
		g.put(in.res, off, l, r, n)
	})
}

func fptrunc(g *gen, in *inst) {
	a := in.args[0]
	switch from, to := a.t.bits, in.t.bits; {
	case from == 64 && to == 32:
		g.pieces(g.size(a.t), func(off int, l x86.Width, n int) {
			r := g.fresh()
			g.V(x86.VCVTPD2PS, l, r, 0, g.rm(a, off, l))
			g.putNarrow(in, off/2, n/2, r)
		})
	case from == 32 && to == 16:
		g.halves(int(in.t.lanes), func(lane, n int, l x86.Width) {
			x := g.reg(a, lane*4, l)
			r := g.fresh()
			g.V(x86.VMOVDQU, l, r, 0, x86.R(x))
			g.narrowed(in, lane, n, l, r)
		})
	default:
		fail("fptrunc of %d bits to %d", from, to)
	}
}

// putNarrow writes n bytes of a register to the result's bytes from off on.
func (g *gen) putNarrow(in *inst, off, n int, r x86.Reg) {
	m := g.slot(in.res).Plus(int32(off))
	switch {
	case n <= 8:
		g.storeLow(m, r, n)
	case n <= 16:
		g.V(x86.VMOVDQUStore, 0, r, 0, x86.M(m))
	default:
		g.V(x86.VMOVDQUStore, 1, r, 0, x86.M(m))
	}
}

// toFloat writes sitofp and uitofp of 32 and 64 bits; narrower numbers are widened first.
func toFloat(g *gen, in *inst) {
	a := in.args[0]
	signed := in.op == "sitofp"
	if a.t.bits < 32 {
		g.smallToFloat(in, signed)
		return
	}
	if in.t.bits == 16 {
		fail("%s to half", in.op)
	}
	if !g.target.AVX512 {
		g.toFloatLanes(in, signed)
		return
	}
	ops := map[widths][2]x86.Op{ // unsigned, signed
		{32, 32}: {x86.VCVTUDQ2PS, x86.VCVTDQ2PS}, {32, 64}: {x86.VCVTUDQ2PD, x86.VCVTDQ2PD},
		{64, 32}: {x86.VCVTUQQ2PS, x86.VCVTQQ2PS}, {64, 64}: {x86.VCVTUQQ2PD, x86.VCVTQQ2PD},
	}[widths{a.t.bits, in.t.bits}]
	op := ops[0]
	if signed {
		op = ops[1]
	}
	g.convert(in, op)
}

// convert writes a conversion between lanes of 32 and 64 bits: the wider of the two decides the register.
func (g *gen) convert(in *inst, op x86.Op) {
	a := in.args[0]
	wide := max(a.t.elem(), in.t.elem())
	g.pieces(wide*int(in.t.lanes), func(off int, l x86.Width, n int) {
		x := g.part(a, off/wide*a.t.elem(), l, wide/a.t.elem())
		r := g.fresh()
		g.V(op, l, r, 0, x)
		if in.t.elem() == wide {
			g.put(in.res, off, l, r, n)
		} else {
			g.putNarrow(in, off/2, n/2, r)
		}
	})
}

// smallToFloat widens numbers of 8 and 16 bits to 32.
func (g *gen) smallToFloat(in *inst, signed bool) {
	a := in.args[0]
	table := zeroExtend
	if signed {
		table = signExtend
	}
	op, ok := table[widths{a.t.bits, 32}]
	if !ok || in.t.bits < 32 {
		fail("%s of %d bits to %d", in.op, a.t.bits, in.t.bits)
	}
	ratio := in.t.elem() / a.t.elem()
	conv := x86.VCVTDQ2PS
	if in.t.bits == 64 {
		conv = x86.VCVTDQ2PD
	}
	g.pieces(g.size(in.t), func(off int, l x86.Width, n int) {
		r := g.fresh()
		words := l
		if in.t.bits == 64 {
			words = max(l, 1) - 1
		}
		g.V(op, words, r, 0, x86.M(g.mem(a).Plus(int32(off/ratio))))
		g.V(conv, l, r, 0, x86.R(r))
		g.put(in.res, off, l, r, n)
	})
}

// toIntegers are conversions of floats to numbers without and with a sign.
var toIntegers = map[widths][2]x86.Op{
	{32, 32}: {x86.VCVTTPS2UDQ, x86.VCVTTPS2DQ}, {64, 32}: {x86.VCVTTPD2UDQ, x86.VCVTTPD2DQ},
	{32, 64}: {x86.VCVTTPS2UQQ, x86.VCVTTPS2QQ}, {64, 64}: {x86.VCVTTPD2UQQ, x86.VCVTTPD2QQ},
}

// toInteger writes fptosi and fptoui; what does not fit is undefined in LLVM.
func toInteger(g *gen, in *inst) {
	a := in.args[0]
	ops, ok := toIntegers[widths{a.t.bits, in.t.bits}]
	if !ok {
		fail("%s of %d bits to %d", in.op, a.t.bits, in.t.bits)
	}
	if !g.target.AVX512 {
		g.toIntegerLanes(in)
		return
	}
	op := ops[0]
	if in.op == "fptosi" {
		op = ops[1]
	}
	g.convert(in, op)
}
