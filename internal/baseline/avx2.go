package baseline

import "kudzu/internal/baseline/x86"

// AVX2 has no mask registers. A mask is the same number of bits in its slot; while it is used it is a vector whose lanes are
// all ones or all zeros.

// lanesOf is a constant vector whose lanes of so many bytes are given.
func (g *gen) lanesOf(size int, f func(i int) uint64) x86.RM {
	data := make([]byte, 64)
	for i := range data {
		data[i] = byte(f(i/size) >> (i % size * 8))
	}
	return x86.M(x86.Constant(g.place(data)))
}

// expand makes lanes of so many bytes of a mask's bits from lane on, as many as a register has; all reports that none is
// missing of those n that count, and nothing is made.
func (g *gen) expand(o operand, lane, n, size int, l x86.Width) (r x86.Reg, all bool) {
	if v, ok := g.constantOf(retyped(o, o.t.asNumber())); ok {
		want := uint64(1)<<n - 1
		if v>>lane&want == want {
			return 0, true
		}
	}
	m := x86.M(g.mem(o).Plus(int32(lane / 8)))
	r = g.fresh()
	bit := g.lanesOf(size, func(i int) uint64 { return 1 << ((lane + i) % 8) })
	switch size {
	case 1: // each byte of the mask to eight lanes
		g.V(x86.VPBROADCASTD, l, r, 0, m)
		g.V(x86.VPSHUFB, l, r, r, g.lanesOf(1, func(i int) uint64 { return uint64(i / 8 % 4) }))
	case 2:
		bit = g.lanesOf(2, func(i int) uint64 { return 1 << (i % 16) })
		g.V(x86.VPBROADCASTW, l, r, 0, m)
	default:
		g.V(x86.VPBROADCASTB, l, r, 0, m)
	}
	g.V(x86.VPANDD, l, r, r, bit)
	g.V(equals[column(uint16(8*size))], l, r, r, bit)
	return r, false
}

var (
	equals  = [4]x86.Op{x86.VPCMPEQB, x86.VPCMPEQW, x86.VPCMPEQD, x86.VPCMPEQQ}
	greater = [4]x86.Op{x86.VPCMPGTB, x86.VPCMPGTW, x86.VPCMPGTD, x86.VPCMPGTQ}
)

// lanesMask is where the bits of a register's lanes go: n lanes from lane on of a mask of so many.
type lanesMask struct {
	v              int32
	lane, n, lanes int
	invert         bool
}

// collect writes bits of a mask: the signs of a register's lanes of so many bytes.
func (g *gen) collect(to lanesMask, size int, l x86.Width, r x86.Reg) {
	switch size {
	case 1:
		g.V(x86.VPMOVMSKB, l, x86.RAX, 0, x86.R(r))
	case 2:
		p := g.fresh()
		g.V(x86.VPACKSSWB, l, p, r, x86.R(r))
		if l > 0 { // the halves were packed each by itself
			g.VI(x86.VPERMQImm, l, p, 0, x86.R(p), 0x08)
		}
		g.V(x86.VPMOVMSKB, 0, x86.RAX, 0, x86.R(p))
	case 4:
		g.V(x86.VMOVMSKPS, l, x86.RAX, 0, x86.R(r))
	case 8:
		g.V(x86.VMOVMSKPD, l, x86.RAX, 0, x86.R(r))
	}
	if to.invert {
		g.Unary(x86.NOT, 4, x86.R(x86.RAX))
	}
	if to.n < l.Bytes()/size || to.invert {
		g.cut(x86.RAX, to.n)
	}
	m := g.slot(to.v).Plus(int32(to.lane / 8))
	whole := container(to.lanes)
	switch {
	case to.n == to.lanes:
		g.Store(whole, m, x86.RAX)
	case to.lane%8 != 0:
		g.ShiftImm(x86.SHL, 4, x86.R(x86.RAX), uint8(to.lane%8))
		g.AluStore(x86.OR, 1, m, x86.RAX)
	default:
		if to.lane == 0 && whole*8 != to.lanes {
			g.StoreImm(whole, m, 0)
		}
		g.Store(container(to.n), m, x86.RAX)
	}
}

// compareLanes compares integers: what there is is equal and greater.
func (g *gen) compareLanes(in *inst) {
	a, b := in.args[0], in.args[1]
	c := column(a.t.bits)
	size, lanes := a.t.elem(), int(a.t.lanes)
	g.pieces(g.size(a.t), func(off int, l x86.Width, n int) {
		x, y := g.reg(a, off, l), g.reg(b, off, l)
		r, invert := g.compared(in.sub, c, l, x, y)
		g.collect(lanesMask{in.res, off / size, n / size, lanes, invert}, size, l, r)
	})
}

// compared is a comparison's lanes; invert: of the opposite.
func (g *gen) compared(cond string, c int, l x86.Width, x, y x86.Reg) (r x86.Reg, invert bool) {
	r = g.fresh()
	if cond[0] == 'u' {
		switch {
		case c == 3: // signed, after both were moved by half of the range
			s := g.fresh()
			half := g.lanesOf(8, func(int) uint64 { return 1 << 63 })
			g.V(x86.VPXORD, l, r, x, half)
			g.V(x86.VPXORD, l, s, y, half)
			x, y = r, s
		case cond == "uge" || cond == "ult":
			g.V(lanewise["umax"][c], l, r, x, x86.R(y))
			g.V(equals[c], l, r, r, x86.R(x))
			return r, cond == "ult"
		default:
			g.V(lanewise["umin"][c], l, r, x, x86.R(y))
			g.V(equals[c], l, r, r, x86.R(x))
			return r, cond == "ugt"
		}
	}
	switch cond[max(len(cond)-2, 0):] {
	case "gt":
		g.V(greater[c], l, r, x, x86.R(y))
	case "le":
		g.V(greater[c], l, r, x, x86.R(y))
		invert = true
	case "lt":
		g.V(greater[c], l, r, y, x86.R(x))
	case "ge":
		g.V(greater[c], l, r, y, x86.R(x))
		invert = true
	case "eq", "ne":
		g.V(equals[c], l, r, x, x86.R(y))
		invert = cond == "ne"
	default:
		fail("icmp %s", cond)
	}
	return r, invert
}

// compareFloats compares lanes of f32 or f64.
func (g *gen) compareFloats(in *inst, op x86.Op, imm int) {
	a, b := in.args[0], in.args[1]
	size, lanes := a.t.elem(), int(a.t.lanes)
	g.pieces(g.size(a.t), func(off int, l x86.Width, n int) {
		x, y := g.reg(a, off, l), g.rm(b, off, l)
		r := g.fresh()
		g.VI(op, l, r, x, y, imm)
		g.collect(lanesMask{in.res, off / size, n / size, lanes, false}, size, l, r)
	})
}

// firstBit writes the first lane of a comparison as a condition.
func (g *gen) firstBit(v int32, r x86.Reg) {
	g.V(x86.VMOVDStore, 0, r, 0, x86.R(x86.RAX))
	g.cut(x86.RAX, 1)
	g.store(v, x86.RAX)
}

// pick is dst = x where the mask's lanes are ones, y elsewhere.
func (g *gen) pick(l x86.Width, dst, y x86.Reg, x x86.RM, mask x86.Reg) {
	g.VI(x86.VPBLENDVB, l, dst, y, x, int(mask)<<4)
}

// blendLanes picks lanes of a where the mask has them, of b elsewhere.
func (g *gen) blendLanes(in *inst, c, a, b operand) {
	size, lanes := in.t.elem(), int(in.t.lanes)
	g.pieces(g.size(in.t), func(off int, l x86.Width, n int) {
		m, all := g.expand(c, off/size, min(l.Bytes()/size, lanes), size, l)
		r := g.fresh()
		if all {
			g.V(x86.VMOVDQU, l, r, 0, g.rm(a, off, l))
		} else {
			y := g.reg(b, off, l)
			g.pick(l, r, y, g.rm(a, off, l), m)
		}
		g.put(in.res, off, l, r, n)
	})
}

// bitsToLanes makes 1 or -1 of a lane's bit.
func (g *gen) bitsToLanes(in *inst) {
	size := in.t.elem()
	one := g.filled(in.t, 1)
	g.pieces(g.size(in.t), func(off int, l x86.Width, n int) {
		r, all := g.expand(in.args[0], off/size, min(l.Bytes()/size, int(in.t.lanes)), size, l)
		if all {
			r = g.fresh()
			g.V(x86.VPCMPEQD, l, r, r, x86.R(r))
		}
		if in.op == "zext" {
			g.V(x86.VPANDD, l, r, r, one)
		}
		g.put(in.res, off, l, r, n)
	})
}

// lanesToBits takes the lowest bit of each lane: it is made the lane's sign.
func (g *gen) lanesToBits(in *inst) {
	a := in.args[0]
	c := column(a.t.bits)
	size, lanes := a.t.elem(), int(a.t.lanes)
	shift := [4]x86.Op{x86.VPSLLW, x86.VPSLLW, x86.VPSLLD, x86.VPSLLQ}[c]
	g.pieces(g.size(a.t), func(off int, l x86.Width, n int) {
		x := g.reg(a, off, l)
		r := g.fresh()
		g.VI(shift, l, r, 0, x86.R(x), 8*size-1)
		g.collect(lanesMask{in.res, off / size, n / size, lanes, false}, size, l, r)
	})
}

// extremeLanes is llvm.minimum and maximum as extreme has it.
func (g *gen) extremeLanes(op, join x86.Op, d int, l x86.Width, x, y x86.Reg) x86.Reg {
	cmp, add := [2]x86.Op{x86.VCMPPS, x86.VCMPPD}[d], floatOps["fadd"][d]
	r, s, m := g.fresh(), g.fresh(), g.fresh()
	g.V(op, l, r, x, x86.R(y))
	g.VI(cmp, l, m, x, x86.R(y), 0) // equal: the same bits, or zeros
	g.V(join, l, s, x, x86.R(y))
	g.pick(l, r, r, x86.R(s), m)
	g.VI(cmp, l, m, x, x86.R(y), 3) // unordered
	g.V(add, l, s, x, x86.R(y))
	g.pick(l, r, r, x86.R(s), m)
	return r
}

// maskedLoadLanes loads lanes of 32 and 64 bits; all at once where none is missing.
func (g *gen) maskedLoadLanes(in *inst, p, mask, other operand) {
	size, lanes := in.t.elem(), int(in.t.lanes)
	m := g.pointerIn(x86.RCX, p)
	op := x86.VMASKMOVD
	if size == 8 {
		op = x86.VMASKMOVQ
	}
	g.pieces(g.size(in.t), func(off int, l x86.Width, n int) {
		at := m.Plus(int32(off))
		k, all := g.expand(mask, off/size, min(l.Bytes()/size, lanes), size, l)
		if all && n < l.Bytes() {
			g.transfer(g.slot(in.res).Plus(int32(off)), at, n)
			return
		}
		r := g.fresh()
		if all {
			g.V(x86.VMOVDQU, l, r, 0, x86.M(at))
		} else {
			g.V(op, l, r, k, x86.M(at))
			if !g.isPoison(other) {
				y := g.reg(other, off, l)
				g.pick(l, r, y, x86.R(r), k)
			}
		}
		g.put(in.res, off, l, r, n)
	})
}

// maskedStoreLanes stores lanes of 32 and 64 bits.
func (g *gen) maskedStoreLanes(v, p, mask operand) {
	size, lanes := v.t.elem(), int(v.t.lanes)
	m := g.pointerIn(x86.RCX, p)
	op := x86.VMASKMOVDStore
	if size == 8 {
		op = x86.VMASKMOVQStore
	}
	g.pieces(g.size(v.t), func(off int, l x86.Width, n int) {
		at := m.Plus(int32(off))
		k, all := g.expand(mask, off/size, min(l.Bytes()/size, lanes), size, l)
		switch {
		case all && n < l.Bytes():
			g.transfer(at, g.mem(v).Plus(int32(off)), n)
		case all:
			g.V(x86.VMOVDQUStore, l, g.reg(v, off, l), 0, x86.M(at))
		default:
			g.V(op, l, g.reg(v, off, l), k, x86.M(at))
		}
	})
}

// gatherLanes loads lanes of 32 and 64 bits from pointers, eight at a time.
func (g *gen) gatherLanes(in *inst, p, mask, other operand) {
	size, lanes := in.t.elem(), int(in.t.lanes)
	l, op := x86.Width(1), x86.VGATHERQQ // of four lanes
	if size == 4 {
		l, op = 0, x86.VGATHERQD
	}
	g.MovImm(x86.RAX, 0)
	var low x86.Reg
	for lane := 0; lane < lanes; lane += 4 {
		at := g.reg(p, lane*8, 1)
		k, all := g.expand(mask, lane, 4, size, l)
		if all {
			k = g.fresh()
			g.V(x86.VPCMPEQD, l, k, k, x86.R(k))
		}
		r := g.fresh()
		if g.isPoison(other) {
			g.V(x86.VPXORD, l, r, r, x86.R(r))
		} else {
			g.V(x86.VMOVDQU, l, r, 0, x86.M(g.mem(other).Plus(int32(lane*size))))
		}
		g.V(op, 1, r, k, x86.M(x86.Mem{Base: x86.RAX, Index: at, Scale: 1, Vector: true}))
		switch {
		case size == 8:
			g.put(in.res, lane*size, 1, r, 32)
		case lane%8 == 0:
			low = r
		default:
			g.VI(x86.VINSERTI128, 1, r, low, x86.R(r), 1)
			g.put(in.res, (lane-4)*size, 1, r, 32)
		}
	}
}

// narrowLanes truncates lanes: each half of a register has its bytes where the result wants them, the other half zeros.
func (g *gen) narrowLanes(in *inst) {
	a := in.args[0]
	from, to := a.t.elem(), in.t.elem()
	part := 16 / from * to // bytes of the result from a half
	index := g.lanesOf(1, func(i int) uint64 {
		at := i % 16
		if i%32 >= 16 {
			at -= part
		}
		if at < 0 || at >= part {
			return 0x80
		}
		return uint64(at/to*from + at%to)
	})
	g.pieces(g.size(a.t), func(off int, l x86.Width, n int) {
		x := g.reg(a, off, l)
		r := g.fresh()
		g.V(x86.VPSHUFB, l, r, x, index)
		if l > 0 {
			high := g.fresh()
			g.VI(x86.VEXTRACTI128, l, r, 0, x86.R(high), 1)
			g.V(x86.VPORD, 0, r, r, x86.R(high))
		}
		g.putNarrow(in, off/from*to, n/from*to, r)
	})
}

// permuteLanes takes lanes of 32 and 64 bits from registers' worths of the operands; false: they are in too many.
func (g *gen) permuteLanes(in *inst, off int, n int, list []int) bool {
	const most = 4
	const l = x86.Width(1)
	type source struct{ arg, piece int }
	per := in.t.elem() / 4 // of 32 bits in a lane
	lanes := int(in.args[0].t.lanes)
	var from []source
	var which, index [8]int
	for i := range 8 {
		which[i] = -1
		if i/per >= len(list) || list[i/per] < 0 {
			continue
		}
		x, s := list[i/per], source{}
		if x >= lanes {
			x, s.arg = x-lanes, 1
		}
		x = x*per + i%per
		s.piece, index[i] = x/8, x%8
		k := 0
		for k < len(from) && from[k] != s {
			k++
		}
		if k == len(from) {
			from = append(from, s)
		}
		which[i] = k
	}
	if len(from) > most {
		return false
	}
	idx := g.fresh()
	g.V(x86.VMOVDQU, l, idx, 0, g.lanesOf(4, func(i int) uint64 { return uint64(index[i%8]) }))
	r := g.fresh()
	for k, s := range from {
		a := g.rm(in.args[s.arg], 32*s.piece, l)
		if k == 0 {
			g.V(x86.VPERMD, l, r, idx, a)
			continue
		}
		t, mine := g.fresh(), 0
		for i, w := range which {
			if w == k {
				mine |= 1 << i
			}
		}
		g.V(x86.VPERMD, l, t, idx, a)
		g.VI(x86.VPBLENDD, l, r, r, x86.R(t), mine)
	}
	g.put(in.res, off, l, r, n)
	return true
}
