package baseline

import "kudzu/internal/baseline/x86"

var (
	maskedLoads  = [4]x86.Op{x86.VMOVDQU8, x86.VMOVDQU16, x86.VMOVDQU, x86.VMOVDQU64}
	maskedStores = [4]x86.Op{x86.VMOVDQU8Store, x86.VMOVDQU16Store, x86.VMOVDQUStore, x86.VMOVDQU64Store}
)

// args of the masked intrinsics: pointer, alignment (older LLVM), mask, what the other lanes get.
func maskedArgs(in *inst) (rest []operand) {
	for _, a := range in.args {
		if a.isConst() && a.t == (typ{kind: integer, bits: 32, lanes: 1}) {
			continue // alignment
		}
		rest = append(rest, a)
	}
	return rest
}

func maskedLoad(g *gen, in *inst) {
	a := maskedArgs(in)
	c := column(in.t.bits)
	size, lanes := in.t.elem(), int(in.t.lanes)
	if !g.target.AVX512 && c > 1 {
		g.maskedLoadLanes(in, a[0], a[1], a[2])
		return
	}
	if c < 0 || !g.target.AVX512 {
		g.moveFrom(g.slot(in.res), a[2], g.size(in.t))
		g.lanesOrAll(a[1], lanes, func(i int) {
			g.load(x86.RCX, a[0])
			g.transfer(g.slot(in.res).Plus(int32(i*size)), x86.At(x86.RCX, int32(i*size)), size)
		}, func() { g.transfer(g.slot(in.res), g.pointerIn(x86.RCX, a[0]), g.size(in.t)) })
		return
	}
	m := g.pointerIn(x86.RCX, a[0])
	g.pieces(g.size(in.t), func(off int, l x86.Width, n int) {
		r := g.fresh()
		all := g.mask(a[1], off/size, min(l.Bytes()/size, lanes))
		if all && n == l.Bytes() {
			g.V(x86.VMOVDQU, l, r, 0, x86.M(m.Plus(int32(off))))
			g.put(in.res, off, l, r, n)
			return
		}
		if all {
			fail("masked load of %d bytes", n)
		}
		if !g.isPoison(a[2]) {
			g.V(x86.VMOVDQU, l, r, 0, g.rm(a[2], off, l))
		}
		g.Vector(x86.Vec{Op: maskedLoads[c], L: l, Dst: r, RM: x86.M(m.Plus(int32(off))), Mask: 1, Zero: g.isPoison(a[2]), Imm: -1})
		g.put(in.res, off, l, r, n)
	})
}

func maskedStore(g *gen, in *inst) {
	a := maskedArgs(in)
	v := a[0]
	c := column(v.t.bits)
	size, lanes := v.t.elem(), int(v.t.lanes)
	if !g.target.AVX512 && c > 1 {
		g.maskedStoreLanes(v, a[1], a[2])
		return
	}
	if c < 0 || !g.target.AVX512 {
		g.lanesOrAll(a[2], lanes, func(i int) {
			g.load(x86.RCX, a[1])
			g.transfer(x86.At(x86.RCX, int32(i*size)), g.element(v, i), size)
		}, func() { g.transfer(g.pointerIn(x86.RCX, a[1]), g.mem(v), g.size(v.t)) })
		return
	}
	m := g.pointerIn(x86.RCX, a[1])
	g.pieces(g.size(v.t), func(off int, l x86.Width, n int) {
		x := g.reg(v, off, l)
		if g.mask(a[2], off/size, min(l.Bytes()/size, lanes)) {
			if n != l.Bytes() {
				fail("masked store of %d bytes", n)
			}
			g.V(x86.VMOVDQUStore, l, x, 0, x86.M(m.Plus(int32(off))))
			return
		}
		g.VK(maskedStores[c], l, x, 0, x86.M(m.Plus(int32(off))), 1)
	})
}

// gather loads a lane from each pointer that the mask has.
func gather(g *gen, in *inst) {
	a := maskedArgs(in)
	size, lanes := in.t.elem(), int(in.t.lanes)
	if !g.target.AVX512 && (size == 4 || size == 8) && lanes%8 == 0 {
		g.gatherLanes(in, a[0], a[1], a[2])
		return
	}
	if size != 4 && size != 8 || lanes%8 != 0 {
		g.eachLane(a[1], lanes, func(i int) {
			g.Load(8, x86.RCX, g.element(a[0], i))
			g.transfer(g.slot(in.res).Plus(int32(i*size)), x86.At(x86.RCX, 0), size)
		}, func() { g.moveFrom(g.slot(in.res), a[2], g.size(in.t)) })
		return
	}
	for lane := 0; lane < lanes; lane += 8 {
		p := g.reg(a[0], lane*8, 2)
		l, op := x86.Width(2), x86.VPGATHERQQ
		if size == 4 {
			l, op = 1, x86.VPGATHERQD
		}
		r := g.fresh()
		if g.isPoison(a[2]) {
			g.V(x86.VPXORD, l, r, r, x86.R(r))
		} else {
			g.V(x86.VMOVDQU, l, r, 0, g.rm(a[2], lane*size, l))
		}
		if g.mask(a[1], lane, 8) {
			g.MovImm(x86.RAX, 0xff)
			g.V(x86.KMOVWFrom, 0, 1, 0, x86.R(x86.RAX))
		}
		g.MovImm(x86.RAX, 0)
		g.Vector(x86.Vec{Op: op, L: 2, Dst: r, RM: x86.M(x86.Mem{Base: x86.RAX, Index: p, Scale: 1, Vector: true}), Mask: 1, Imm: -1})
		g.put(in.res, lane*size, l, r, 8*size)
	}
}

// scatter stores a lane to each pointer that the mask has, in their order.
func scatter(g *gen, in *inst) {
	a := maskedArgs(in)
	v := a[0]
	size, lanes := v.t.elem(), int(v.t.lanes)
	if size != 4 && size != 8 || lanes%8 != 0 || !g.target.AVX512 {
		g.eachLane(a[2], lanes, func(i int) {
			g.Load(8, x86.RCX, g.element(a[1], i))
			g.transfer(x86.At(x86.RCX, 0), g.element(v, i), size)
		}, func() {})
		return
	}
	for lane := 0; lane < lanes; lane += 8 {
		p := g.reg(a[1], lane*8, 2)
		l, op := x86.Width(2), x86.VPSCATTERQQ
		if size == 4 {
			l, op = 1, x86.VPSCATTERQD
		}
		r := g.reg(v, lane*size, l)
		if g.mask(a[2], lane, 8) {
			g.MovImm(x86.RAX, 0xff)
			g.V(x86.KMOVWFrom, 0, 1, 0, x86.R(x86.RAX))
		}
		g.MovImm(x86.RAX, 0)
		g.Vector(x86.Vec{Op: op, L: 2, Dst: r, RM: x86.M(x86.Mem{Base: x86.RAX, Index: p, Scale: 1, Vector: true}), Mask: 1, Imm: -1})
	}
}

// eachLane does something for every lane that a mask has, after what is done first.
func (g *gen) eachLane(mask operand, lanes int, do func(i int), first func()) {
	first()
	g.lanesOrAll(mask, lanes, do, func() {
		for i := range lanes {
			do(i)
		}
	})
}

// lanesOrAll does something for every lane that a mask has, or for all at once where none is missing, which is the usual case.
func (g *gen) lanesOrAll(mask operand, lanes int, do func(i int), all func()) {
	g.forget()
	g.nums.off = true
	g.load(x86.RSI, retyped(mask, mask.t.asNumber()))
	some, done := g.NewLabel(), g.NewLabel()
	g.MovImm(x86.RAX, ^uint64(0)>>(64-lanes))
	g.Alu(x86.CMP, 8, x86.RAX, x86.R(x86.RSI))
	g.Jcc(x86.NE, some)
	all()
	g.Jmp(done)
	g.reset()
	g.Place(some)
	for i := range lanes {
		skip := g.NewLabel()
		g.BitTest(8, x86.R(x86.RSI), uint8(i))
		g.Jcc(x86.AE, skip)
		do(i)
		g.Place(skip)
	}
	g.Place(done)
	g.reset()
	g.nums.off = false
}

// gatherX86 loads 16 lanes of 32 bits from a base plus offsets: what lanes get that the mask has not, base, offsets, mask,
// scale.
func gatherX86(g *gen, in *inst) {
	other, base, index, mask := in.args[0], in.args[1], in.args[2], in.args[3]
	scale, ok := g.constantOf(in.args[4])
	if !ok {
		fail("gather of a scale that is not known")
	}
	i := g.reg(index, 0, 2)
	r := g.fresh()
	if g.isPoison(other) {
		g.V(x86.VPXORD, 2, r, r, x86.R(r))
	} else {
		g.V(x86.VMOVDQU, 2, r, 0, g.rm(other, 0, 2))
	}
	if g.mask(mask, 0, 16) {
		g.MovImm(x86.RAX, 0xffff)
		g.V(x86.KMOVWFrom, 0, 1, 0, x86.R(x86.RAX))
	}
	g.load(x86.RCX, base)
	g.Vector(x86.Vec{Op: x86.VPGATHERDD, L: 2, Dst: r, RM: x86.M(x86.Mem{Base: x86.RCX, Index: i, Scale: uint8(scale), Vector: true}), Mask: 1, Imm: -1})
	g.put(in.res, 0, 2, r, 64)
}

// scatterX86 stores to lanes by 32-bit indices.
func scatterX86(g *gen, in *inst) {
	base, mask, index, v := in.args[0], in.args[1], in.args[2], in.args[3]
	scale, ok := g.constantOf(in.args[4])
	if !ok {
		fail("scatter of a scale that is not known")
	}
	i, r := g.reg(index, 0, 2), g.reg(v, 0, 2)
	if g.mask(mask, 0, 16) {
		g.MovImm(x86.RAX, 0xffff)
		g.V(x86.KMOVWFrom, 0, 1, 0, x86.R(x86.RAX))
	}
	g.load(x86.RCX, base)
	g.Vector(x86.Vec{Op: x86.VPSCATTERDD, L: 2, Dst: r, RM: x86.M(x86.Mem{Base: x86.RCX, Index: i, Scale: uint8(scale), Vector: true}), Mask: 1, Imm: -1})
}

// permute2 takes lanes of two vectors by indices.
func permute2(g *gen, in *inst) {
	a, b := g.reg(in.args[0], 0, 2), g.rm(in.args[2], 0, 2)
	r := g.fresh()
	g.V(x86.VMOVDQU, 2, r, 0, g.rm(in.args[1], 0, 2))
	g.V(x86.VPERMI2D, 2, r, a, b)
	g.put(in.res, 0, 2, r, 64)
}

// compress puts the lanes of a mask behind each other, and those of another vector behind them.
func compress(g *gen, in *inst) {
	x := g.reg(in.args[0], 0, 2)
	r := g.fresh()
	g.V(x86.VMOVDQU, 2, r, 0, g.rm(in.args[1], 0, 2))
	if g.mask(in.args[2], 0, 16) {
		g.MovImm(x86.RAX, 0xffff)
		g.V(x86.KMOVWFrom, 0, 1, 0, x86.R(x86.RAX))
	}
	g.VK(x86.VPCOMPRESSD, 2, x, 0, x86.R(r), 1) // the destination stands where others have their source
	g.put(in.res, 0, 2, r, 64)
}

// dot adds products of bytes.
func dot(g *gen, in *inst) {
	u, s := g.reg(in.args[1], 0, 2), g.rm(in.args[2], 0, 2)
	r := g.fresh()
	g.V(x86.VMOVDQU, 2, r, 0, g.rm(in.args[0], 0, 2))
	g.V(x86.VPDPBUSD, 2, r, u, s)
	g.put(in.res, 0, 2, r, 64)
}

// roundedTo is an operation with the rounding in the instruction: the last operand.
func roundedTo(op x86.Op) func(*gen, *inst) {
	return func(g *gen, in *inst) {
		mode, ok := g.constantOf(in.args[len(in.args)-1])
		if !ok {
			fail("a rounding mode that is not known")
		}
		v := x86.Vec{Op: op, L: 2, Round: uint8(mode&3) + 1, Imm: -1}
		args := in.args[:len(in.args)-1]
		regs := make([]x86.Reg, len(args))
		for i, a := range args {
			if g.size(a.t) > 32 {
				regs[i] = g.reg(a, 0, 2)
			} else if i == 0 {
				regs[i] = g.reg(a, 0, 1)
			}
		}
		v.Dst = g.fresh()
		switch {
		case len(args) == 3 && args[2].t == args[0].t: // fused
			g.V(x86.VMOVDQU, 2, v.Dst, 0, x86.R(regs[0]))
			v.Src, v.RM = regs[1], x86.R(regs[2])
		case len(args) == 2:
			v.Src, v.RM = regs[0], x86.R(regs[1])
		default:
			v.RM = x86.R(regs[0])
		}
		g.Vector(v)
		n := g.size(in.t)
		l := x86.Width(2)
		if n <= 32 {
			l = 1
		}
		g.put(in.res, 0, l, v.Dst, n)
	}
}

// toHalf rounds a register of floats to halves as the second operand says.
func toHalf(g *gen, in *inst) {
	mode, ok := g.constantOf(in.args[1])
	if !ok {
		fail("a rounding mode that is not known")
	}
	w := g.widest()
	g.VI(x86.VCVTPS2PH, w, g.reg(in.args[0], 0, w), 0, x86.M(g.slot(in.res)), int(mode))
}
