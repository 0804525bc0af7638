package baseline

import (
	"strings"

	"kudzu/internal/baseline/x86"
)

// intrinsics are LLVM's by their names without types.
var intrinsics map[string]func(*gen, *inst)

// exactNames are those of x86.
var exactNames map[string]func(*gen, *inst)

func init() {
	intrinsics = map[string]func(*gen, *inst){
		"fma": fma, "fmuladd": fma, "sqrt": unaryFloat(func(g *gen, t typ, l x86.Width, r x86.Reg, x x86.RM) { g.V(roots[double(t)], l, r, 0, x) }),
		"floor": rounded(9), "ceil": rounded(10), "trunc": rounded(11), "roundeven": rounded(8), "rint": rounded(4), "nearbyint": rounded(12),
		"fabs":     func(g *gen, in *inst) { g.signs(in, x86.VPANDD, false) },
		"copysign": copysign, "minimum": extreme, "maximum": extreme,
		"umin": named, "umax": named, "smin": named, "smax": named, "sadd.sat": saturating, "uadd.sat": saturating, "ssub.sat": saturating, "usub.sat": saturating,
		"abs": absolute, "fshl": funnel, "fshr": funnel,
		"cttz": count, "ctlz": count, "ctpop": count, "bitreverse": reverse, "bswap": reverse,
		"masked.load": maskedLoad, "masked.store": maskedStore, "masked.gather": gather, "masked.scatter": scatter,
		"prefetch": prefetch, "x86.sse2.pause": func(g *gen, _ *inst) { g.Pause() },
		"fptosi.sat": saturated, "fptoui.sat": saturated,
		"assume": func(*gen, *inst) {},
	}
	for _, op := range []string{"add", "mul", "and", "or", "xor", "smin", "smax", "umin", "umax"} {
		intrinsics["vector.reduce."+op] = reduce
	}
	exactNames = map[string]func(*gen, *inst){
		"llvm.x86.avx512.mask.gather.dpi.512": gatherX86, "llvm.x86.avx512.mask.gather.dps.512": gatherX86, "llvm.x86.avx512.mask.scatter.dpi.512": scatterX86,
		"llvm.x86.avx512.mask.compress.v16i32": compress, "llvm.x86.avx512.vpermi2var.d.512": permute2, "llvm.x86.avx512.vpdpbusd.512": dot,
		"llvm.x86.avx512.pmaddw.d.512": func(g *gen, in *inst) { g.vectorBinary(in, x86.VPMADDWD) },
		"llvm.x86.avx512.add.ps.512":   roundedTo(x86.VADDPS), "llvm.x86.avx512.add.pd.512": roundedTo(x86.VADDPD),
		"llvm.x86.avx512.sub.ps.512": roundedTo(x86.VSUBPS), "llvm.x86.avx512.sub.pd.512": roundedTo(x86.VSUBPD),
		"llvm.x86.avx512.mul.ps.512": roundedTo(x86.VMULPS), "llvm.x86.avx512.mul.pd.512": roundedTo(x86.VMULPD),
		"llvm.x86.avx512.div.ps.512": roundedTo(x86.VDIVPS), "llvm.x86.avx512.div.pd.512": roundedTo(x86.VDIVPD),
		"llvm.x86.avx512.sqrt.ps.512": roundedTo(x86.VSQRTPS), "llvm.x86.avx512.sqrt.pd.512": roundedTo(x86.VSQRTPD),
		"llvm.x86.avx512.vfmadd.ps.512": roundedTo(x86.VFMADD213PS), "llvm.x86.avx512.vfmadd.pd.512": roundedTo(x86.VFMADD213PD),
		"llvm.x86.avx512.mask.cvtpd2ps.512":  roundedTo(x86.VCVTPD2PS),
		"llvm.x86.avx512.mask.vcvtps2ph.512": toHalf, "llvm.x86.vcvtps2ph.256": toHalf,
		"llvm.x86.avx512.sitofp.round.v16f32.v16i32": roundedTo(x86.VCVTDQ2PS), "llvm.x86.avx512.uitofp.round.v16f32.v16i32": roundedTo(x86.VCVTUDQ2PS),
		"llvm.x86.avx512.sitofp.round.v8f32.v8i64": roundedTo(x86.VCVTQQ2PS), "llvm.x86.avx512.uitofp.round.v8f32.v8i64": roundedTo(x86.VCVTUQQ2PS),
		"llvm.x86.avx512.sitofp.round.v8f64.v8i64": roundedTo(x86.VCVTQQ2PD), "llvm.x86.avx512.uitofp.round.v8f64.v8i64": roundedTo(x86.VCVTUQQ2PD),
	}
}

// fma is a·b + c: the first operand's register becomes the result.
func fma(g *gen, in *inst) {
	if in.t.bits == 16 && in.sub != "llvm.fmuladd" {
		fail("fma of halves")
	}
	g.lanes(in, func(l x86.Width, t typ, a []x86.RM) x86.Reg {
		y := g.asReg(a[1], l)
		r := g.fresh()
		g.V(x86.VMOVDQU, l, r, 0, a[0])
		g.V(fmas[double(t)], l, r, y, a[2])
		return r
	})
}

func unaryFloat(f func(g *gen, t typ, l x86.Width, r x86.Reg, x x86.RM)) func(*gen, *inst) {
	return func(g *gen, in *inst) {
		g.lanes(in, func(l x86.Width, t typ, a []x86.RM) x86.Reg {
			r := g.fresh()
			f(g, t, l, r, a[0])
			return r
		})
	}
}

// rounded rounds to a whole number: how is the instruction's immediate.
func rounded(how int) func(*gen, *inst) {
	return unaryFloat(func(g *gen, t typ, l x86.Width, r x86.Reg, x x86.RM) { g.VI(rounds[double(t)], l, r, 0, x, how) })
}

func copysign(g *gen, in *inst) {
	size := in.t.elem()
	data := make([]byte, 64)
	for i := size - 1; i < 64; i += size {
		data[i] = 0x80
	}
	sign := x86.M(x86.Constant(g.place(data)))
	g.pieces(g.size(in.t), func(off int, l x86.Width, n int) {
		x, s := g.reg(in.args[0], off, l), g.reg(in.args[1], off, l)
		r, m := g.fresh(), g.fresh()
		g.V(x86.VMOVDQU, l, m, 0, sign)
		g.V(x86.VPANDND, l, r, m, x86.R(x))
		g.V(x86.VPANDD, l, m, m, x86.R(s))
		g.V(x86.VPORD, l, r, r, x86.R(m))
		g.put(in.res, off, l, r, n)
	})
}

// extreme is llvm.minimum and maximum: a NaN wins, and −0 is less than +0. Where the instruction says that two numbers are
// equal, zeros are told by their bits: or of signs for the minimum, and for the maximum.
func extreme(g *gen, in *inst) {
	max := stem(in.sub[len("llvm."):]) == "maximum"
	ops, join := [2]x86.Op{x86.VMINPS, x86.VMINPD}, x86.VPORD
	if max {
		ops, join = [2]x86.Op{x86.VMAXPS, x86.VMAXPD}, x86.VPANDD
	}
	g.lanes(in, func(l x86.Width, t typ, a []x86.RM) x86.Reg {
		d := double(t)
		cmp, add := [2]x86.Op{x86.VCMPPS, x86.VCMPPD}[d].Masked(), floatOps["fadd"][d]
		mov := [2]x86.Op{x86.VMOVDQU, x86.VMOVDQU64}[d]
		x, y := g.asReg(a[0], l), g.asReg(a[1], l)
		if !g.target.AVX512 {
			return g.extremeLanes(ops[d], join, d, l, x, y)
		}
		r, s := g.fresh(), g.fresh()
		g.V(ops[d], l, r, x, x86.R(y))
		g.VI(cmp, l, 1, x, x86.R(y), 0) // equal: the same bits, or zeros
		g.V(join, l, s, x, x86.R(y))
		g.VK(mov, l, r, 0, x86.R(s), 1)
		g.VI(cmp, l, 1, x, x86.R(y), 3) // unordered
		g.V(add, l, s, x, x86.R(y))
		g.VK(mov, l, r, 0, x86.R(s), 1)
		return r
	})
}

// reduce combines all lanes, one after the other.
func reduce(g *gen, in *inst) {
	op := strings.TrimPrefix(stem(in.sub[len("llvm."):]), "vector.reduce.")
	v := in.args[0]
	size := v.t.elem()
	if v.t.isMask() || size > 8 {
		fail("%s of %d bits", in.sub, v.t.bits)
	}
	load := g.Load
	if op[0] == 's' {
		load = g.LoadSigned
	}
	load(size, x86.RAX, g.element(v, 0))
	for i := 1; i < int(v.t.lanes); i++ {
		load(size, x86.RCX, g.element(v, i))
		g.registers(op, max(size, 4))
	}
	g.store(in.res, x86.RAX)
}

// saturated writes fptosi.sat and fptoui.sat: NaN is 0, what does not fit is the nearest number that does. The instructions
// give the least number, or the largest without a sign, for all that does not fit.
func saturated(g *gen, in *inst) {
	a := in.args[0]
	signed := stem(in.sub[len("llvm."):]) == "fptosi.sat"
	ops, ok := toIntegers[widths{a.t.bits, in.t.bits}]
	if !ok {
		fail("%s", in.sub)
	}
	if !g.target.AVX512 {
		g.saturatedLanes(in, signed)
		return
	}
	const below, unordered, atLeast = 0x19, 3, 0x0d // conditions: not ≥, unordered, ≥
	cmp := [2]x86.Op{x86.VCMPPS, x86.VCMPPD}[double(a.t)].Masked()
	mov := movers[column(in.t.bits)]
	wide := max(a.t.elem(), in.t.elem())
	zero, limit, largest := g.filled(a.t, 0), g.filled(a.t, floatPower(a.t, int(in.t.bits)-1)), g.filled(in.t, 1<<(in.t.bits-1)-1)
	g.pieces(wide*int(in.t.lanes), func(off int, l x86.Width, n int) {
		lx, lr := l, l // of the float and of the number
		if a.t.elem() < wide {
			lx = max(l, 1) - 1
		} else if in.t.elem() < wide {
			lr = max(l, 1) - 1
		}
		x := g.fresh()
		g.V(x86.VMOVDQU, lx, x, 0, x86.M(g.mem(a).Plus(int32(off/wide*a.t.elem()))))
		r, none := g.fresh(), g.fresh()
		g.V(x86.VPXORD, lr, none, none, x86.R(none))
		if signed {
			g.V(ops[1], l, r, 0, x86.R(x))
			g.VI(cmp, lx, 1, x, limit, atLeast)
			g.VK(mov, lr, r, 0, largest, 1)
			g.VI(cmp, lx, 1, x, x86.R(x), unordered)
		} else {
			g.V(ops[0], l, r, 0, x86.R(x))
			g.VI(cmp, lx, 1, x, zero, below)
		}
		g.VK(mov, lr, r, 0, x86.R(none), 1)
		if in.t.elem() == wide {
			g.put(in.res, off, l, r, n)
		} else {
			g.putNarrow(in, off/2, n/2, r)
		}
	})
}

// floatPower is the bits of a power of two.
func floatPower(t typ, n int) uint64 {
	if t.bits == 64 {
		return uint64(1023+n) << 52
	}
	return uint64(127+n) << 23
}

// filled is a vector of one number as a constant.
func (g *gen) filled(t typ, v uint64) x86.RM {
	data := make([]byte, 64)
	for i := range data {
		data[i] = byte(v >> (i % t.elem() * 8))
	}
	return x86.M(x86.Constant(g.place(data)))
}

// named is an integer operation that has its own name as an intrinsic.
func named(g *gen, in *inst) {
	in.op = stem(in.sub[len("llvm."):])
	t := in.t
	if !t.vector {
		if in.op[0] == 's' {
			g.loadSigned(x86.RAX, in.args[0], t)
			g.loadSigned(x86.RCX, in.args[1], t)
		} else {
			g.load(x86.RAX, in.args[0])
			g.load(x86.RCX, in.args[1])
		}
		g.registers(in.op, 8)
		g.cut(x86.RAX, int(t.bits))
		g.store(in.res, x86.RAX)
		return
	}
	integers(g, in)
}

// saturating is an addition or subtraction that stops at the ends of the range.
func saturating(g *gen, in *inst) {
	op := stem(in.sub[len("llvm."):])
	if c := column(in.t.bits); in.t.vector && c >= 0 && g.usable(lanewise[op][c]) {
		g.vectorBinary(in, lanewise[op][c])
		return
	}
	if in.t.bits != 32 && in.t.bits != 64 {
		fail("%s of %d bits", op, in.t.bits)
	}
	size := in.t.elem()
	for i := range int(in.t.lanes) {
		at := int32(i * size)
		if in.t.vector {
			g.Load(size, x86.RAX, g.mem(in.args[0]).Plus(at))
			g.Load(size, x86.RCX, g.mem(in.args[1]).Plus(at))
		} else {
			g.load(x86.RAX, in.args[0])
			g.load(x86.RCX, in.args[1])
		}
		g.saturate(op, size)
		g.Store(size, g.slot(in.res).Plus(at), x86.RAX)
	}
}

// saturate is rax = rax op rcx, saturated.
func (g *gen) saturate(op string, size int) {
	alu := x86.ADD
	if op[1:4] == "sub" {
		alu = x86.SUB
	}
	if op[0] == 'u' {
		limit := uint64(0)
		if alu == x86.ADD {
			limit = ^limit
		}
		g.MovImm(x86.RDX, limit)
		g.Alu(alu, size, x86.RAX, x86.R(x86.RCX))
		g.Cmov(x86.B, 8, x86.RAX, x86.R(x86.RDX))
		return
	}
	// The largest number, plus one if the first operand is negative: that is the least.
	g.Mov(size, x86.RDX, x86.RAX)
	g.ShiftImm(x86.SHR, size, x86.R(x86.RDX), uint8(size*8-1))
	g.MovImm(x86.R8, 1<<(size*8-1)-1)
	g.Alu(x86.ADD, size, x86.RDX, x86.R(x86.R8))
	g.Alu(alu, size, x86.RAX, x86.R(x86.RCX))
	g.Cmov(x86.O, size, x86.RAX, x86.R(x86.RDX))
}

func absolute(g *gen, in *inst) {
	if in.t.vector {
		c := column(in.t.bits)
		ops := [4]x86.Op{x86.VPABSB, x86.VPABSW, x86.VPABSD, x86.VPABSQ}
		if c == 3 && !g.target.AVX512 {
			g.absoluteLong(in)
			return
		}
		if c < 0 {
			fail("abs of %d bits", in.t.bits)
		}
		g.pieces(g.size(in.t), func(off int, l x86.Width, n int) {
			r := g.fresh()
			g.V(ops[c], l, r, 0, g.rm(in.args[0], off, l))
			g.put(in.res, off, l, r, n)
		})
		return
	}
	g.loadSigned(x86.RAX, in.args[0], in.t)
	g.Mov(8, x86.RCX, x86.RAX)
	g.Unary(x86.NEG, 8, x86.R(x86.RCX))
	g.Cmov(x86.NS, 8, x86.RAX, x86.R(x86.RCX))
	g.cut(x86.RAX, int(in.t.bits))
	g.store(in.res, x86.RAX)
}

// funnel writes fshl and fshr: the operands side by side, shifted, one half of it.
func funnel(g *gen, in *inst) {
	right := stem(in.sub[len("llvm."):]) == "fshr"
	if !in.t.vector {
		g.scalarFunnel(in, right)
		return
	}
	if in.t.bits != 32 && in.t.bits != 64 {
		fail("%s of %d bits", in.sub, in.t.bits)
	}
	d := 0
	if in.t.bits == 64 {
		d = 1
	}
	left, back := [2]x86.Op{x86.VPSLLVD, x86.VPSLLVQ}[d], [2]x86.Op{x86.VPSRLVD, x86.VPSRLVQ}[d]
	sub := [2]x86.Op{x86.VPSUBD, x86.VPSUBQ}[d]
	below, width := g.filled(in.t, uint64(in.t.bits-1)), g.filled(in.t, uint64(in.t.bits))
	g.pieces(g.size(in.t), func(off int, l x86.Width, n int) {
		hi, lo, by := g.reg(in.args[0], off, l), g.reg(in.args[1], off, l), g.reg(in.args[2], off, l)
		k, rest, r := g.fresh(), g.fresh(), g.fresh()
		g.V(x86.VPANDD, l, k, by, below)
		g.V(x86.VMOVDQU, l, rest, 0, width)
		g.V(sub, l, rest, rest, x86.R(k))
		if right { // a shift by the whole width gives 0
			k, rest = rest, k
		}
		g.V(left, l, r, hi, x86.R(k))
		g.V(back, l, rest, lo, x86.R(rest))
		g.V(x86.VPORD, l, r, r, x86.R(rest))
		g.put(in.res, off, l, r, n)
	})
}

func (g *gen) scalarFunnel(in *inst, right bool) {
	size := in.t.elem()
	if int(in.t.bits) != size*8 || size < 4 {
		fail("%s of %d bits", in.sub, in.t.bits)
	}
	g.load(x86.RAX, in.args[0])
	g.load(x86.RDX, in.args[1])
	g.load(x86.RCX, in.args[2])
	if right {
		g.DoubleShiftCL(true, size, x86.RDX, x86.RAX)
		g.store(in.res, x86.RDX)
		return
	}
	g.DoubleShiftCL(false, size, x86.RAX, x86.RDX)
	g.store(in.res, x86.RAX)
}

// count writes cttz, ctlz and ctpop, of vectors lane by lane.
func count(g *gen, in *inst) {
	op := stem(in.sub[len("llvm."):])
	t := in.t
	size := t.elem()
	if size > 8 || t.isMask() {
		fail("%s of %d bits", op, t.bits)
	}
	for i := range int(t.lanes) {
		at := int32(i * size)
		if t.vector {
			g.Load(size, x86.RAX, g.mem(in.args[0]).Plus(at))
		} else {
			g.load(x86.RAX, in.args[0])
		}
		g.bits(op, int(t.bits))
		g.Store(size, g.slot(in.res).Plus(at), x86.RAX)
	}
}

// bits counts in rax, of a number of so many bits.
func (g *gen) bits(op string, bits int) {
	switch op {
	case "ctpop":
		g.Popcnt(8, x86.RAX, x86.R(x86.RAX))
	case "cttz":
		if bits < 64 { // of 0 it is the width
			g.MovImm(x86.RCX, 1<<bits)
			g.Alu(x86.OR, 8, x86.RAX, x86.R(x86.RCX))
		}
		g.Tzcnt(8, x86.RAX, x86.R(x86.RAX))
	case "ctlz":
		g.Lzcnt(8, x86.RAX, x86.R(x86.RAX))
		if bits < 64 {
			g.AluImm(x86.SUB, 4, x86.R(x86.RAX), int32(64-bits))
		}
	}
}

// reverse writes bswap and bitreverse, of vectors lane by lane.
func reverse(g *gen, in *inst) {
	op := stem(in.sub[len("llvm."):])
	t := in.t
	size := t.elem()
	if int(t.bits) != size*8 || size > 8 {
		fail("%s of %d bits", op, t.bits)
	}
	for i := range int(t.lanes) {
		at := int32(i * size)
		if t.vector {
			g.Load(size, x86.RAX, g.mem(in.args[0]).Plus(at))
		} else {
			g.load(x86.RAX, in.args[0])
		}
		g.Bswap(8, x86.RAX)
		if op == "bitreverse" {
			for _, s := range []struct {
				n    uint8
				mask uint64
			}{{4, 0x0f0f0f0f0f0f0f0f}, {2, 0x3333333333333333}, {1, 0x5555555555555555}} {
				g.MovImm(x86.RDX, s.mask)
				g.Mov(8, x86.RCX, x86.RAX)
				g.ShiftImm(x86.SHR, 8, x86.R(x86.RCX), s.n)
				g.Alu(x86.AND, 8, x86.RCX, x86.R(x86.RDX))
				g.Alu(x86.AND, 8, x86.RAX, x86.R(x86.RDX))
				g.ShiftImm(x86.SHL, 8, x86.R(x86.RAX), s.n)
				g.Alu(x86.OR, 8, x86.RAX, x86.R(x86.RCX))
			}
		}
		if size < 8 {
			g.ShiftImm(x86.SHR, 8, x86.R(x86.RAX), uint8(64-8*size))
		}
		g.Store(size, g.slot(in.res).Plus(at), x86.RAX)
	}
}

func prefetch(g *gen, in *inst) {
	g.Prefetch(g.pointerIn(x86.RCX, in.args[0]))
}
