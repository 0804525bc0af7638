package baseline

import "kudzu/internal/baseline/x86"

// conds are the conditions of icmp after a comparison of general registers.
var conds = map[string]x86.Cond{"eq": x86.E, "ne": x86.NE, "slt": x86.L, "sle": x86.LE, "sgt": x86.G, "sge": x86.GE, "ult": x86.B, "ule": x86.BE, "ugt": x86.A, "uge": x86.AE}

// vectorConds are the same as immediates of the comparisons that write masks: unsigned ones are other instructions.
var vectorConds = map[string]int{"eq": 0, "slt": 1, "ult": 1, "sle": 2, "ule": 2, "ne": 4, "sge": 5, "uge": 5, "sgt": 6, "ugt": 6}

// floatConds are fcmp's as immediates. Signalling or not makes no difference: exceptions are masked.
var floatConds = map[string]int{"oeq": 0, "olt": 1, "ole": 2, "uno": 3, "une": 4, "uge": 5, "ugt": 6, "ord": 7, "ueq": 8, "ult": 9, "ule": 10, "one": 12, "oge": 13, "ogt": 14}

func icmp(g *gen, in *inst) {
	t := in.args[0].t
	if t.isMask() {
		g.maskCompare(in, t)
		return
	}
	if t.bits > 64 {
		g.wideCompare(in)
		return
	}
	if !t.vector {
		g.scalarCompare(in, t)
		return
	}
	c := column(t.bits)
	if c < 0 {
		fail("icmp of %d bits", t.bits)
	}
	if !g.target.AVX512 {
		g.compareLanes(in)
		return
	}
	ops := [4]x86.Op{x86.VPCMPB, x86.VPCMPW, x86.VPCMPD, x86.VPCMPQ}
	if in.sub[0] == 'u' {
		ops = [4]x86.Op{x86.VPCMPUB, x86.VPCMPUW, x86.VPCMPUD, x86.VPCMPUQ}
	}
	imm, ok := vectorConds[in.sub]
	if !ok {
		fail("icmp %s", in.sub)
	}
	g.compareTo(in, ops[c], imm)
}

// maskCompare compares bits: equal and not equal are operations of logic.
func (g *gen) maskCompare(in *inst, t typ) {
	n := t.asNumber()
	if n.bits > 64 || in.sub != "eq" && in.sub != "ne" {
		fail("icmp %s of bits", in.sub)
	}
	g.load(x86.RAX, retyped(in.args[0], n))
	g.load(x86.RCX, retyped(in.args[1], n))
	g.Alu(x86.XOR, 8, x86.RAX, x86.R(x86.RCX))
	if in.sub == "eq" {
		g.Unary(x86.NOT, 8, x86.R(x86.RAX))
	}
	g.cut(x86.RAX, int(n.bits))
	g.store(in.res, x86.RAX)
}

func retyped(o operand, t typ) operand {
	o.t = t
	return o
}

// compareTo compares a register's worth at a time, each comparison giving so many bits of the mask.
func (g *gen) compareTo(in *inst, op x86.Op, imm int) {
	a, b := in.args[0], in.args[1]
	lanes := int(a.t.lanes)
	g.pieces(g.size(a.t), func(off int, l x86.Width, n int) {
		x, y := g.reg(a, off, l), g.rm(b, off, l)
		g.VI(op, l, 1, x, y, imm)
		g.putMask(in.res, off/a.t.elem(), min(l.Bytes()/a.t.elem(), lanes-off/a.t.elem()), lanes)
	})
}

// putMask writes lanes of a mask from k1; of one that is all in one piece bits that are no lanes are cleared.
func (g *gen) putMask(v int32, lane, n, lanes int) {
	m := g.slot(v).Plus(int32(lane / 8))
	switch {
	case n%8 != 0 || lane%8 != 0:
		if lanes != n {
			fail("a mask of %d lanes", lanes)
		}
		g.V(x86.KMOVWTo, 0, x86.RAX, 0, x86.R(1))
		g.cut(x86.RAX, lanes)
		g.Store(container(lanes), m, x86.RAX)
	case n == 8:
		g.V(x86.KMOVBStore, 0, 1, 0, x86.M(m))
	case n == 16:
		g.V(x86.KMOVWStore, 0, 1, 0, x86.M(m))
	case n == 32:
		g.V(x86.KMOVDStore, 0, 1, 0, x86.M(m))
	case n == 64:
		g.V(x86.KMOVQStore, 0, 1, 0, x86.M(m))
	default:
		fail("%d lanes of a mask", n)
	}
}

// mask loads lanes of a mask into k1; all reports that none is missing, and nothing is loaded.
func (g *gen) mask(o operand, lane, n int) (all bool) {
	if v, ok := g.constantOf(retyped(o, o.t.asNumber())); ok {
		want := uint64(1)<<n - 1
		if v>>lane&want == want {
			return true
		}
	}
	m := g.mem(o).Plus(int32(lane / 8))
	switch {
	case lane%8 != 0:
		fail("lane %d of a mask", lane)
	case n <= 8:
		g.V(x86.KMOVB, 0, 1, 0, x86.M(m))
	case n <= 16:
		g.V(x86.KMOVW, 0, 1, 0, x86.M(m))
	case n <= 32:
		g.V(x86.KMOVD, 0, 1, 0, x86.M(m))
	default:
		g.V(x86.KMOVQ, 0, 1, 0, x86.M(m))
	}
	return false
}

func (g *gen) scalarCompare(in *inst, t typ) {
	cond, ok := conds[in.sub]
	if !ok {
		fail("icmp %s", in.sub)
	}
	size := container(int(t.bits))
	odd := int(t.bits) != size*8
	if in.sub[0] == 's' && odd {
		g.loadSigned(x86.RAX, in.args[0], t)
		g.loadSigned(x86.RCX, in.args[1], t)
		g.Alu(x86.CMP, 8, x86.RAX, x86.R(x86.RCX))
	} else {
		g.load(x86.RAX, in.args[0])
		v, ok := g.constantOf(in.args[1])
		signed := int64(v) << (64 - 8*size) >> (64 - 8*size)
		switch {
		case ok && signed == int64(int32(signed)):
			g.AluImm(x86.CMP, size, x86.R(x86.RAX), int32(signed))
		case ok:
			g.MovImm(x86.RCX, v)
			g.Alu(x86.CMP, size, x86.RAX, x86.R(x86.RCX))
		default:
			g.Alu(x86.CMP, size, x86.RAX, g.scalar(in.args[1]))
		}
	}
	g.condition(in.res, cond)
	g.flags = flagsOf{in.res, cond, true}
}

func fcmp(g *gen, in *inst) {
	t := in.args[0].t
	imm, ok := floatConds[in.sub]
	if !ok {
		fail("fcmp %s", in.sub)
	}
	op := x86.VCMPPS
	switch t.bits {
	case 64:
		op = x86.VCMPPD
	case 16:
		g.halfCompare(in, imm)
		return
	}
	if t.vector && !g.target.AVX512 {
		g.compareFloats(in, op, imm)
		return
	}
	if t.vector {
		g.compareTo(in, op.Masked(), imm)
		return
	}
	x, y := g.reg(in.args[0], 0, 0), g.rm(in.args[1], 0, 0)
	if !g.target.AVX512 {
		r := g.fresh()
		g.VI(op, 0, r, x, y, imm)
		g.firstBit(in.res, r)
		return
	}
	g.VI(op.Masked(), 0, 1, x, y, imm)
	g.putBit(in.res)
}

// putBit writes the first lane of k1 as a condition.
func (g *gen) putBit(v int32) {
	g.V(x86.KMOVWTo, 0, x86.RAX, 0, x86.R(1))
	g.cut(x86.RAX, 1)
	g.store(v, x86.RAX)
}

// halfCompare compares halves as floats.
func (g *gen) halfCompare(in *inst, imm int) {
	a, b := in.args[0], in.args[1]
	g.halves(int(a.t.lanes), func(lane, n int, l x86.Width) {
		x, y := g.widened(a, lane, l), g.widened(b, lane, l)
		if !g.target.AVX512 {
			g.VI(x86.VCMPPS, l, x, x, x86.R(y), imm)
			if a.t.vector {
				g.collect(lanesMask{in.res, lane, n, int(a.t.lanes), false}, 4, l, x)
			} else {
				g.firstBit(in.res, x)
			}
			return
		}
		g.VI(x86.VCMPPS.Masked(), l, 1, x, x86.R(y), imm)
		if !a.t.vector {
			g.putBit(in.res)
			return
		}
		g.putMask(in.res, lane, n, int(a.t.lanes))
	})
}

// choose writes select.
func choose(g *gen, in *inst) {
	c, a, b := in.args[0], in.args[1], in.args[2]
	n := g.size(in.t)
	switch {
	case c.t.isMask() && in.t.isMask():
		t := in.t.asNumber()
		g.load(x86.RAX, retyped(c, t))
		g.load(x86.RCX, retyped(a, t))
		g.load(x86.RDX, retyped(b, t))
		g.Alu(x86.XOR, 8, x86.RCX, x86.R(x86.RDX))
		g.Alu(x86.AND, 8, x86.RAX, x86.R(x86.RCX))
		g.Alu(x86.XOR, 8, x86.RAX, x86.R(x86.RDX))
		g.store(in.res, x86.RAX)
	case c.t.isMask() && in.t.bits > 64:
		g.wideBlend(in, c, a, b)
	case c.t.isMask():
		g.blend(in, c, a, b)
	case n <= 8:
		g.load(x86.RAX, retyped(b, bitsOf(in.t)))
		g.load(x86.RCX, retyped(a, bitsOf(in.t)))
		g.isTrue(c)
		g.Cmov(x86.NE, 8, x86.RAX, x86.R(x86.RCX))
		g.store(in.res, x86.RAX)
	default:
		g.Lea(x86.RAX, g.mem(b))
		g.Lea(x86.RCX, g.mem(a))
		g.isTrue(c)
		g.Cmov(x86.NE, 8, x86.RAX, x86.R(x86.RCX))
		g.pieces(n, func(off int, l x86.Width, n int) {
			r := g.fresh()
			g.V(x86.VMOVDQU, l, r, 0, x86.M(x86.At(x86.RAX, int32(off))))
			g.put(in.res, off, l, r, n)
		})
	}
}

// bitsOf is the number that a small value's bytes are.
func bitsOf(t typ) typ { return typ{kind: integer, bits: uint16(t.size() * 8), lanes: 1} }

// movers are moves under a mask by the lane's bits.
var movers = [4]x86.Op{x86.VMOVDQU8, x86.VMOVDQU16, x86.VMOVDQU, x86.VMOVDQU64}

// blend picks lanes of a where the mask has them, of b elsewhere.
func (g *gen) blend(in *inst, c, a, b operand) {
	size := in.t.elem()
	col := column(in.t.bits)
	if col < 0 {
		fail("select of %d bits", in.t.bits)
	}
	if !g.target.AVX512 {
		g.blendLanes(in, c, a, b)
		return
	}
	lanes := int(in.t.lanes)
	g.pieces(g.size(in.t), func(off int, l x86.Width, n int) {
		x, y := g.rm(a, off, l), g.rm(b, off, l)
		all := g.mask(c, off/size, min(l.Bytes()/size, lanes))
		r := g.fresh()
		if all {
			g.V(x86.VMOVDQU, l, r, 0, x)
		} else {
			g.V(x86.VMOVDQU, l, r, 0, y)
			g.VK(movers[col], l, r, 0, x, 1)
		}
		g.put(in.res, off, l, r, n)
	})
}
