package baseline

import (
	"math/bits"

	"kudzu/internal/baseline/x86"
)

// address writes getelementptr: a pointer and an index of elements.
func address(g *gen, in *inst) {
	p, i := in.args[0], in.args[1]
	size := g.stride(in)
	if in.t.vector {
		g.vectorAddress(in, size)
		return
	}
	if _, ok := g.constantOf(i); !ok && i.t.bits == 64 && !p.isConst() && (size == 1 || size == 2 || size == 4 || size == 8) {
		base, index := g.number(p), g.number(i)
		if d, ok := g.result(in.res, 8); ok {
			g.Lea(d, x86.Indexed(base, index, uint8(size), 0))
			return
		}
	}
	g.load(x86.RAX, p)
	if v, ok := g.constantOf(i); ok {
		n := int64(v) << (64 - i.t.bits) >> (64 - i.t.bits) * int64(size)
		if n == int64(int32(n)) {
			g.AluImm(x86.ADD, 8, x86.R(x86.RAX), int32(n))
		} else {
			g.MovImm(x86.RCX, uint64(n))
			g.Alu(x86.ADD, 8, x86.RAX, x86.R(x86.RCX))
		}
		g.store(in.res, x86.RAX)
		return
	}
	g.loadSigned(x86.RCX, i, i.t)
	g.scale(x86.RCX, size)
	g.Alu(x86.ADD, 8, x86.RAX, x86.R(x86.RCX))
	g.store(in.res, x86.RAX)
}

// scale multiplies by an element's size.
func (g *gen) scale(r x86.Reg, size int) {
	if size&(size-1) == 0 {
		n := uint8(0)
		for 1<<n < size {
			n++
		}
		if n > 0 {
			g.ShiftImm(x86.SHL, 8, x86.R(r), n)
		}
		return
	}
	g.MovImm(x86.RDX, uint64(size))
	g.Imul(8, r, x86.R(x86.RDX))
}

// vectorAddress adds a vector of offsets to one pointer or to a vector of them.
func (g *gen) vectorAddress(in *inst, size int) {
	p, i := in.args[0], in.args[1]
	log := bits.TrailingZeros(uint(size))
	if i.t.bits != 64 || size != 1<<log {
		fail("getelementptr of vectors with elements of %d bytes, indices of %d bits", size, i.t.bits)
	}
	g.pieces(g.size(in.t), func(off int, l x86.Width, n int) {
		var x x86.Reg
		if p.t.vector {
			x = g.reg(p, off, l)
		} else {
			x = g.fresh()
			g.V(x86.VPBROADCASTQ, l, x, 0, x86.M(g.mem(p)))
		}
		r := g.fresh()
		by := g.rm(i, off, l)
		if !i.t.vector {
			g.V(x86.VPBROADCASTQ, l, r, 0, x86.M(g.mem(i)))
			by = x86.R(r)
		}
		if log > 0 {
			g.VI(x86.VPSLLQ, l, r, 0, x86.R(g.asReg(by, l)), log)
			by = x86.R(r)
		}
		g.V(x86.VPADDQ, l, r, x, by)
		g.put(in.res, off, l, r, n)
	})
}

// exactly calls f for parts of memory that together are n bytes, no more: register widths, then smaller ones.
func (g *gen) exactly(n int, f func(off int, l x86.Width, n int)) {
	for off := 0; off < n; {
		left := n - off
		switch {
		case left >= 64 && g.widest() == 2:
			f(off, 2, 64)
			off += 64
		case left >= 32:
			f(off, 1, 32)
			off += 32
		case left >= 16:
			f(off, 0, 16)
			off += 16
		default:
			size := 8
			for size > left {
				size /= 2
			}
			f(off, 0, size)
			off += size
		}
	}
}

// transfer copies exactly n bytes.
func (g *gen) transfer(to, from x86.Mem, n int) {
	g.exactly(n, func(off int, l x86.Width, n int) {
		a, b := to.Plus(int32(off)), from.Plus(int32(off))
		if n < 16 {
			g.Load(n, x86.RAX, b)
			g.Store(n, a, x86.RAX)
			return
		}
		r := g.fresh()
		g.V(x86.VMOVDQU, l, r, 0, x86.M(b))
		g.V(x86.VMOVDQUStore, l, r, 0, x86.M(a))
	})
}

// loads writes load. What fills registers stays in them.
func loads(g *gen, in *inst) {
	m := g.pointerIn(x86.RCX, in.args[0])
	n := g.size(in.t)
	if in.t.kind == aggregate {
		fail("load of an aggregate")
	}
	w := g.widest()
	switch {
	case n == 4 && in.t.kind == float && !in.t.vector:
		r := g.fresh()
		g.V(x86.VMOVD, 0, r, 0, x86.M(m))
		g.put(in.res, 0, 0, r, n)
		return
	case n == 8 && in.t.kind == float && !in.t.vector:
		r := g.fresh()
		g.V(x86.VMOVQ, 0, r, 0, x86.M(m))
		g.put(in.res, 0, 0, r, n)
		return
	case n%w.Bytes() == 0 || n == 16 || n == 32:
		g.pieces(n, func(off int, l x86.Width, n int) {
			r := g.fresh()
			g.V(x86.VMOVDQU, l, r, 0, x86.M(m.Plus(int32(off))))
			g.put(in.res, off, l, r, n)
		})
		return
	case isWord(n):
		g.Load(n, x86.RAX, m)
		g.store(in.res, x86.RAX)
	default:
		g.transfer(g.slot(in.res), m, n)
	}
	if in.t.kind == integer && !in.t.vector && int(in.t.bits) != n*8 && in.t.bits != 1 {
		fail("load of %d bits", in.t.bits)
	}
}

// stores writes store; a sequentially consistent one is an exchange.
func stores(g *gen, in *inst) {
	v, p := in.args[0], in.args[1]
	n := g.size(v.t)
	m := g.pointerIn(x86.RCX, p)
	switch {
	case in.sub == "seq_cst" && n <= 8:
		g.load(x86.RAX, retyped(v, bitsOf(v.t)))
		g.Xchg(n, m, x86.RAX)
	case n == 4 || n == 8:
		if r, ok := g.held(v, 0, 0); ok {
			g.storeLow(m, r, n)
			return
		}
		g.load(x86.RAX, retyped(v, bitsOf(v.t)))
		g.Store(n, m, x86.RAX)
	case isWord(n):
		g.load(x86.RAX, retyped(v, bitsOf(v.t)))
		g.Store(n, m, x86.RAX)
	default:
		g.exactly(n, func(off int, l x86.Width, n int) {
			at := m.Plus(int32(off))
			if n < 16 {
				g.Load(n, x86.RAX, g.mem(v).Plus(int32(off)))
				g.Store(n, at, x86.RAX)
				return
			}
			g.V(x86.VMOVDQUStore, l, g.reg(v, off, l), 0, x86.M(at))
		})
	}
}

func fence(g *gen, in *inst) {
	if in.sub == "seq_cst" {
		g.Mfence()
	}
}

// rmw writes atomicrmw: one instruction where there is one, else a loop that compares and exchanges.
func rmw(g *gen, in *inst) {
	p, v := in.args[0], in.args[1]
	n := g.size(v.t)
	if n > 8 {
		g.wideExchange(in)
		return
	}
	number := retyped(v, bitsOf(v.t))
	m := g.pointerIn(x86.RSI, p)
	switch in.sub {
	case "xchg":
		g.load(x86.RAX, number)
		g.Xchg(n, m, x86.RAX)
		g.store(in.res, x86.RAX)
		return
	case "add", "sub":
		g.load(x86.RAX, number)
		if in.sub == "sub" {
			g.Unary(x86.NEG, 8, x86.R(x86.RAX))
		}
		g.LockXadd(n, m, x86.RAX)
		g.store(in.res, x86.RAX)
		return
	}
	g.forget()
	g.load(x86.RDI, number)
	g.Load(n, x86.RAX, m)
	again := g.NewLabel()
	g.Place(again)
	g.Mov(8, x86.R8, x86.RAX)
	g.combined(in, n)
	g.Mov(8, x86.RDX, x86.RAX)
	g.Mov(8, x86.RAX, x86.R8)
	g.LockCmpxchg(n, m, x86.RDX)
	g.Jcc(x86.NE, again)
	g.store(in.res, x86.RAX)
	g.forget()
}

// combined is rax = what memory becomes of its old value in rax and the operand in rdi. rsi, rdi and r8 stay.
func (g *gen) combined(in *inst, n int) {
	size := max(n, 4)
	switch in.sub {
	case "and", "or", "xor":
		g.Alu(alus[in.sub], size, x86.RAX, x86.R(x86.RDI))
	case "nand":
		g.Alu(x86.AND, size, x86.RAX, x86.R(x86.RDI))
		g.Unary(x86.NOT, size, x86.R(x86.RAX))
	case "max", "min":
		if n < 4 {
			g.SignExtend(n, x86.RAX, x86.R(x86.RAX))
			g.SignExtend(n, x86.RCX, x86.R(x86.RDI))
		} else {
			g.Mov(8, x86.RCX, x86.RDI)
		}
		g.registers("s"+in.sub, size)
	case "umax", "umin":
		g.Mov(8, x86.RCX, x86.RDI)
		g.registers(in.sub, size)
	case "fadd":
		op := map[int]x86.Op{4: x86.VADDSS, 8: x86.VADDSD}[n]
		if !g.usable(op) {
			fail("atomicrmw fadd of %d bytes", n)
		}
		g.V(x86.VMOVQ, 0, 0, 0, x86.R(x86.RAX))
		g.V(x86.VMOVQ, 0, 1, 0, x86.R(x86.RDI))
		g.V(op, 0, 0, 0, x86.R(1))
		g.V(x86.VMOVQStore, 0, 0, 0, x86.R(x86.RAX))
	case "uinc_wrap":
		g.Alu(x86.XOR, 4, x86.RCX, x86.R(x86.RCX))
		g.Alu(x86.CMP, size, x86.RAX, x86.R(x86.RDI))
		g.Lea(x86.RAX, x86.At(x86.RAX, 1))
		g.Cmov(x86.AE, 8, x86.RAX, x86.R(x86.RCX))
	case "udec_wrap":
		g.Mov(8, x86.RCX, x86.RAX)
		g.Lea(x86.RAX, x86.At(x86.RAX, -1))
		g.Alu(x86.CMP, size, x86.RCX, x86.R(x86.RDI))
		g.Cmov(x86.A, 8, x86.RAX, x86.R(x86.RDI))
		g.Test(size, x86.RCX, x86.R(x86.RCX))
		g.Cmov(x86.E, 8, x86.RAX, x86.R(x86.RDI))
	default:
		fail("atomicrmw %s", in.sub)
	}
}

// exchange writes cmpxchg: what memory held, and whether it was what was wanted.
func exchange(g *gen, in *inst) {
	n := g.size(in.args[1].t)
	m := g.pointerIn(x86.RSI, in.args[0])
	r := g.slot(in.res)
	done := r.Plus(int32(g.field(in.t, 1)))
	if n == 16 {
		want, val := g.mem(in.args[1]), g.mem(in.args[2])
		g.Load(8, x86.RAX, want)
		g.Load(8, x86.RDX, want.Plus(8))
		g.Load(8, x86.RBX, val)
		g.Load(8, x86.RCX, val.Plus(8))
		g.LockCmpxchg16(m)
		g.Setcc(x86.E, x86.M(done))
		g.Store(8, r, x86.RAX)
		g.Store(8, r.Plus(8), x86.RDX)
		return
	}
	if n > 8 {
		fail("cmpxchg of %d bytes", n)
	}
	g.load(x86.RAX, retyped(in.args[1], bitsOf(in.args[1].t)))
	g.load(x86.RDX, retyped(in.args[2], bitsOf(in.args[2].t)))
	g.LockCmpxchg(n, m, x86.RDX)
	g.Setcc(x86.E, x86.M(done))
	g.Store(n, r, x86.RAX)
}
