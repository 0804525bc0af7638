package baseline

import "kudzu/internal/baseline/x86"

// Numbers of 128 bits, one or a vector of them, lane by lane in rdx:rax.

// wideLanes writes an operation of two numbers.
func (g *gen) wideLanes(in *inst) {
	if in.t.bits != 128 {
		fail("%s of %d bits", in.op, in.t.bits)
	}
	for i := range int(in.t.lanes) {
		a, b := g.element(in.args[0], i), g.element(in.args[1], i)
		g.Load(8, x86.RAX, a)
		g.Load(8, x86.RDX, a.Plus(8))
		g.wide(in, b, i)
		r := g.slot(in.res).Plus(int32(16 * i))
		g.Store(8, r, x86.RAX)
		g.Store(8, r.Plus(8), x86.RDX)
	}
}

// wide is rdx:rax = rdx:rax op b; a shift's distance must be a constant.
func (g *gen) wide(in *inst, b x86.Mem, lane int) {
	two := func(lo, hi x86.ALU) {
		g.Alu(lo, 8, x86.RAX, x86.M(b))
		g.Alu(hi, 8, x86.RDX, x86.M(b.Plus(8)))
	}
	switch in.op {
	case "add":
		two(x86.ADD, x86.ADC)
	case "sub":
		two(x86.SUB, x86.SBB)
	case "and":
		two(x86.AND, x86.AND)
	case "or":
		two(x86.OR, x86.OR)
	case "xor":
		two(x86.XOR, x86.XOR)
	case "mul":
		g.Mov(8, x86.R8, x86.RDX)
		g.Imul(8, x86.R8, x86.M(b))
		g.Load(8, x86.RCX, b.Plus(8))
		g.Imul(8, x86.RCX, x86.R(x86.RAX))
		g.Alu(x86.ADD, 8, x86.R8, x86.R(x86.RCX))
		g.Unary(x86.MUL, 8, x86.M(b))
		g.Alu(x86.ADD, 8, x86.RDX, x86.R(x86.R8))
	case "shl", "lshr", "ashr":
		o := in.args[1]
		p := place{base: -1, con: o.con}
		if !o.isConst() {
			p = g.fr.places[o.val]
		}
		if p.base >= 0 {
			fail("%s of 128 bits by a number that is not known", in.op)
		}
		g.wideShift(in.op, g.consts[p.con].data[int(p.off)+16*lane]&127)
	default:
		fail("%s of 128 bits", in.op)
	}
}

// wideShift shifts rdx:rax.
func (g *gen) wideShift(op string, n uint8) {
	lo, hi := x86.RAX, x86.RDX
	s := shifts[op]
	if op == "shl" {
		lo, hi = hi, lo // bits go from rax to rdx
	}
	if n >= 64 {
		g.Mov(8, lo, hi)
		if n > 64 {
			g.ShiftImm(s, 8, x86.R(lo), n-64)
		}
		if op == "ashr" {
			g.ShiftImm(x86.SAR, 8, x86.R(hi), 63)
		} else {
			g.MovImm(hi, 0)
		}
		return
	}
	g.MovImm(x86.RCX, uint64(n))
	g.DoubleShiftCL(op != "shl", 8, lo, hi)
	g.ShiftCL(s, 8, x86.R(hi))
}

// wideExtend widens lanes to 128 bits.
func (g *gen) wideExtend(in *inst) {
	a := in.args[0]
	size := a.t.elem()
	if in.t.bits != 128 || size > 8 || int(a.t.bits) != size*8 {
		fail("%s of %d bits to %d", in.op, a.t.bits, in.t.bits)
	}
	for i := range int(in.t.lanes) {
		if in.op == "sext" {
			g.LoadSigned(size, x86.RAX, g.element(a, i))
			g.Cqo(8)
		} else {
			g.Load(size, x86.RAX, g.element(a, i))
			g.MovImm(x86.RDX, 0)
		}
		r := g.slot(in.res).Plus(int32(16 * i))
		g.Store(8, r, x86.RAX)
		g.Store(8, r.Plus(8), x86.RDX)
	}
}

// wideTruncate takes the low part of lanes of 128 bits.
func (g *gen) wideTruncate(in *inst) {
	size := in.t.elem()
	for i := range int(in.t.lanes) {
		g.Load(size, x86.RAX, g.element(in.args[0], i))
		g.Store(size, g.slot(in.res).Plus(int32(size*i)), x86.RAX)
	}
}

// wideCompare compares for equality.
func (g *gen) wideCompare(in *inst) {
	a, b := in.args[0], in.args[1]
	cond := conds[in.sub]
	if cond != x86.E && cond != x86.NE || a.t.bits != 128 || a.t.lanes > 64 {
		fail("icmp %s of %d bits", in.sub, a.t.bits)
	}
	g.MovImm(x86.RSI, 0)
	for i := range int(a.t.lanes) {
		x, y := g.element(a, i), g.element(b, i)
		g.Load(8, x86.RAX, x)
		g.Load(8, x86.RDX, x.Plus(8))
		g.Alu(x86.XOR, 8, x86.RAX, x86.M(y))
		g.Alu(x86.XOR, 8, x86.RDX, x86.M(y.Plus(8)))
		g.MovImm(x86.RCX, 0)
		g.Alu(x86.OR, 8, x86.RAX, x86.R(x86.RDX))
		g.Setcc(cond, x86.R(x86.RCX))
		if i > 0 {
			g.ShiftImm(x86.SHL, 8, x86.R(x86.RCX), uint8(i))
		}
		g.Alu(x86.OR, 8, x86.RSI, x86.R(x86.RCX))
	}
	g.store(in.res, x86.RSI)
}

// wideBlend picks lanes of 16 bytes.
func (g *gen) wideBlend(in *inst, c, a, b operand) {
	g.eachLane(c, int(in.t.lanes), func(i int) {
		g.transfer(g.slot(in.res).Plus(int32(16*i)), g.element(a, i), 16)
	}, func() { g.moveFrom(g.slot(in.res), b, g.size(in.t)) })
}

// wideExchange exchanges 16 bytes of memory.
func (g *gen) wideExchange(in *inst) {
	if in.sub != "xchg" {
		fail("atomicrmw %s of 16 bytes", in.sub)
	}
	m := g.pointerIn(x86.RSI, in.args[0])
	v := g.mem(in.args[1])
	g.Load(8, x86.RBX, v)
	g.Load(8, x86.RCX, v.Plus(8))
	g.Load(8, x86.RAX, m)
	g.Load(8, x86.RDX, m.Plus(8))
	again := g.NewLabel()
	g.Place(again)
	g.LockCmpxchg16(m)
	g.Jcc(x86.NE, again)
	g.Store(8, g.slot(in.res), x86.RAX)
	g.Store(8, g.slot(in.res).Plus(8), x86.RDX)
}
