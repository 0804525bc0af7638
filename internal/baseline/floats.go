package baseline

import "kudzu/internal/baseline/x86"

// floatOps are arithmetic of f32 and f64. One number is computed as a vector of four or two: what the other lanes hold does
// not matter, exceptions are masked.
var floatOps = map[string][2]x86.Op{
	"fadd": {x86.VADDPS, x86.VADDPD}, "fsub": {x86.VSUBPS, x86.VSUBPD}, "fmul": {x86.VMULPS, x86.VMULPD}, "fdiv": {x86.VDIVPS, x86.VDIVPD},
}

// fmas are the forms of fused multiply-add whose addend is the last operand.
var fmas = [2]x86.Op{x86.VFMADD213PS, x86.VFMADD213PD}

var roots = [2]x86.Op{x86.VSQRTPS, x86.VSQRTPD}

var rounds = [2]x86.Op{x86.VROUNDPS, x86.VROUNDPD}

// double is the column of f64 in such tables.
func double(t typ) int {
	if t.bits == 64 {
		return 1
	}
	return 0
}

func floats(g *gen, in *inst) {
	ops := floatOps[in.op]
	g.lanes(in, func(l x86.Width, t typ, a []x86.RM) x86.Reg {
		r := g.fresh()
		g.V(ops[double(t)], l, r, g.asReg(a[0], l), a[1])
		return r
	})
}

// asReg is an operand in a register.
func (g *gen) asReg(rm x86.RM, l x86.Width) x86.Reg {
	if rm.IsReg {
		return rm.Reg
	}
	r := g.fresh()
	g.V(x86.VMOVDQU, l, r, 0, rm)
	return r
}

// lanes computes floats a register's worth at a time: halves are widened, computed as floats, and rounded.
func (g *gen) lanes(in *inst, f func(l x86.Width, t typ, a []x86.RM) x86.Reg) {
	if in.t.bits == 16 {
		t := in.t
		t.bits = 32
		g.halves(int(in.t.lanes), func(lane, n int, l x86.Width) {
			a := make([]x86.RM, len(in.args))
			for i, o := range in.args {
				a[i] = x86.R(g.widened(o, lane, l))
			}
			g.narrowed(in, lane, n, l, f(l, t, a))
		})
		return
	}
	g.pieces(g.size(in.t), func(off int, l x86.Width, n int) {
		a := make([]x86.RM, len(in.args))
		for i, o := range in.args {
			a[i] = g.rm(o, off, l)
		}
		g.put(in.res, off, l, f(l, in.t, a), n)
	})
}

// halves calls f for so many lanes of halves at a time as floats fill a register: the first, how many, the floats' register.
func (g *gen) halves(lanes int, f func(lane, n int, l x86.Width)) {
	g.pieces(lanes*4, func(off int, l x86.Width, n int) { f(off/4, n/4, l) })
}

// widened is halves as floats in a register.
func (g *gen) widened(o operand, lane int, l x86.Width) x86.Reg {
	x := g.part(o, 2*lane, l, 2)
	r := g.fresh()
	g.V(x86.VCVTPH2PS, l, r, 0, x)
	return r
}

// narrowed writes floats as halves, rounded as the mode says, which is to nearest.
func (g *gen) narrowed(in *inst, lane, n int, l x86.Width, r x86.Reg) {
	const byMode = 4
	m := g.slot(in.res).Plus(int32(2 * lane))
	if l > 0 && n == l.Bytes()/4 {
		h := g.fresh()
		g.VI(x86.VCVTPS2PH, l, r, 0, x86.R(h), byMode)
		g.put(in.res, 2*lane, l-1, h, 2*n)
		return
	}
	g.VI(x86.VCVTPS2PH, l, r, 0, x86.R(r), byMode)
	if n == 1 || n == 2 || n == 4 {
		g.storeLow(m, r, 2*n)
		return
	}
	g.V(x86.VMOVDQUStore, 0, r, 0, x86.M(m))
}

func negate(g *gen, in *inst) {
	g.signs(in, x86.VPXORD, true)
}

// signs applies a mask of the lanes' sign bits, or of all others.
func (g *gen) signs(in *inst, op x86.Op, sign bool) {
	size := in.t.elem()
	data := make([]byte, 64)
	for i := range data {
		last := i%size == size-1
		switch {
		case sign && last:
			data[i] = 0x80
		case !sign && last:
			data[i] = 0x7f
		case !sign:
			data[i] = 0xff
		}
	}
	c := x86.M(x86.Constant(g.place(data)))
	g.pieces(g.size(in.t), func(off int, l x86.Width, n int) {
		x := g.reg(in.args[0], off, l)
		r := g.fresh()
		g.V(op, l, r, x, c)
		g.put(in.res, off, l, r, n)
	})
}
