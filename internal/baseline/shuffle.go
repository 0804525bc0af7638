package baseline

import (
	"encoding/binary"

	"kudzu/internal/baseline/x86"
)

// extract writes extractelement of a lane that is not known, or of a mask's lane.
func extract(g *gen, in *inst) {
	v, i := in.args[0], in.args[1]
	if v.t.isMask() {
		g.load(x86.RAX, retyped(v, v.t.asNumber()))
		if k, ok := g.constantOf(i); ok {
			g.BitTest(8, x86.R(x86.RAX), uint8(k))
		} else {
			g.load(x86.RCX, i)
			g.BitTestReg(8, x86.RAX, x86.RCX)
		}
		g.condition(in.res, x86.B)
		return
	}
	g.load(x86.RCX, i)
	g.cutIndex(v.t)
	n := v.t.elem()
	g.scale(x86.RCX, n)
	g.Lea(x86.RDX, g.mem(v))
	g.transfer(g.slot(in.res), x86.Indexed(x86.RDX, x86.RCX, 1, 0), n)
}

// cutIndex keeps an index in rcx inside a vector: what lies outside is poison in LLVM, here it would be the frame.
func (g *gen) cutIndex(t typ) {
	n := 1
	for n < int(t.lanes) {
		n *= 2
	}
	g.AluImm(x86.AND, 4, x86.R(x86.RCX), int32(n-1))
}

// insert writes insertelement.
func insert(g *gen, in *inst) {
	v, x, i := in.args[0], in.args[1], in.args[2]
	if v.t.isMask() {
		g.insertBit(in)
		return
	}
	n := g.size(in.t)
	if !g.isPoison(v) {
		if n <= 8 {
			g.move(g.slot(in.res), g.mem(v), n)
		} else {
			g.moveFrom(g.slot(in.res), v, n)
		}
	}
	size := v.t.elem()
	at := g.slot(in.res)
	if k, ok := g.constantOf(i); ok {
		at = at.Plus(int32(k) * int32(size))
	} else {
		g.load(x86.RCX, i)
		g.cutIndex(v.t)
		g.scale(x86.RCX, size)
		g.Lea(x86.RDX, at)
		at = x86.Indexed(x86.RDX, x86.RCX, 1, 0)
	}
	if size > 8 {
		g.transfer(at, g.mem(x), size)
		return
	}
	g.load(x86.RAX, retyped(x, bitsOf(x.t)))
	g.Store(size, at, x86.RAX)
}

// isPoison reports a constant that nobody may look at.
func (g *gen) isPoison(o operand) bool { return o.isConst() && g.poison[o.con] }

func (g *gen) insertBit(in *inst) {
	v, x, i := in.args[0], in.args[1], in.args[2]
	k, ok := g.constantOf(i)
	if !ok || v.t.lanes > 64 {
		fail("insertelement into a mask")
	}
	g.load(x86.RAX, retyped(v, v.t.asNumber()))
	g.load(x86.RDX, x)
	g.MovImm(x86.RCX, ^(uint64(1) << k))
	g.Alu(x86.AND, 8, x86.RAX, x86.R(x86.RCX))
	g.ShiftImm(x86.SHL, 8, x86.R(x86.RDX), uint8(k))
	g.Alu(x86.OR, 8, x86.RAX, x86.R(x86.RDX))
	g.store(in.res, x86.RAX)
}

// insertValue copies an aggregate and sets a field.
func insertValue(g *gen, in *inst) {
	v, x := in.args[0], in.args[1]
	fields := g.aggregates[in.t.bits]
	for i, f := range fields {
		off := int32(g.field(in.t, i))
		from := v
		if i == in.list[0] {
			g.moveFrom(g.slot(in.res).Plus(off), x, g.size(f))
			continue
		}
		if g.isPoison(from) {
			continue
		}
		g.move(g.slot(in.res).Plus(off), g.mem(from).Plus(off), g.size(f))
	}
}

// broadcasts copy one element to all lanes.
var broadcasts = [4]x86.Op{x86.VPBROADCASTB, x86.VPBROADCASTW, x86.VPBROADCASTD, x86.VPBROADCASTQ}

// shuffle writes shufflevector.
func shuffle(g *gen, in *inst) {
	if in.t.isMask() {
		g.shuffleMask(in)
		return
	}
	col := column(in.t.bits)
	if lane, ok := splatOf(in.list); ok && lane >= 0 && col >= 0 {
		m := g.lane(in, lane)
		var all x86.Reg
		g.pieces(g.size(in.t), func(off int, l x86.Width, n int) {
			r := g.fresh()
			if off == 0 {
				g.V(broadcasts[col], g.widest(), r, 0, x86.M(m))
				all = r
			} else {
				g.V(x86.VMOVDQU, l, r, 0, x86.R(all))
			}
			g.put(in.res, off, l, r, n)
		})
		return
	}
	g.pieces(g.size(in.t), func(off int, l x86.Width, n int) { g.shufflePiece(in, off, l, n) })
}

// splatOf reports a mask that is one lane everywhere; -1: none at all.
func splatOf(list []int) (lane int, ok bool) {
	lane = -1
	for _, x := range list {
		switch {
		case x < 0:
		case lane < 0:
			lane = x
		case lane != x:
			return 0, false
		}
	}
	return lane, true
}

// lane is the memory of a lane of either operand.
func (g *gen) lane(in *inst, i int) x86.Mem {
	if n := int(in.args[0].t.lanes); i >= n {
		return g.element(in.args[1], i-n)
	}
	return g.element(in.args[0], i)
}

// shufflePiece makes one register's worth of a shuffle: a piece of an operand as it lies in memory, a permutation of one or
// two registers, or lane by lane.
func (g *gen) shufflePiece(in *inst, off int, l x86.Width, n int) {
	size := in.t.elem()
	list := in.list[off/size : (off+n)/size]
	if lane, ok := splatOf(list); ok && lane < 0 {
		return // nobody looks at these lanes
	}
	if o, at, ok := g.run(in, list); ok {
		x := g.rm(o, at, l)
		r := g.fresh()
		g.V(x86.VMOVDQU, l, r, 0, x)
		g.put(in.res, off, l, r, n)
		return
	}
	if (size == 4 || size == 8) && l > 0 {
		if g.target.AVX512 && g.permute(in, off, l, n, list) || !g.target.AVX512 && g.permuteLanes(in, off, n, list) {
			return
		}
	}
	for i, lane := range list {
		if lane < 0 {
			continue
		}
		g.transfer(g.slot(in.res).Plus(int32(off+i*size)), g.lane(in, lane), size)
	}
}

// run reports lanes that are consecutive in one operand, from a byte of it on.
func (g *gen) run(in *inst, list []int) (o operand, at int, ok bool) {
	start, found := 0, false
	for i, x := range list {
		if x < 0 {
			continue
		}
		if !found {
			start, found = x-i, true
		}
		if x-i != start {
			return operand{}, 0, false
		}
	}
	n := int(in.args[0].t.lanes)
	if !found || start < 0 || start < n && start+len(list) > n || start+len(list) > n+int(in.args[1].t.lanes) {
		return operand{}, 0, false
	}
	if start >= n {
		return in.args[1], (start - n) * in.t.elem(), true
	}
	return in.args[0], start * in.t.elem(), true
}

// permute takes lanes from two registers' worth of the operands; false: they are in more.
func (g *gen) permute(in *inst, off int, l x86.Width, n int, list []int) bool {
	size := in.t.elem()
	per := l.Bytes() / size
	lanes := int(in.args[0].t.lanes)
	type source struct{ arg, piece int }
	var from []source
	index := make([]byte, 64)
	for i, x := range list {
		if x < 0 {
			continue
		}
		s := source{0, x / per}
		if x >= lanes {
			s = source{1, (x - lanes) / per}
			x -= lanes
		}
		k := -1
		for j, f := range from {
			if f == s {
				k = j
			}
		}
		if k < 0 {
			k = len(from)
			from = append(from, s)
		}
		if k > 1 {
			return false
		}
		if at := x%per + k*per; size == 4 {
			binary.LittleEndian.PutUint32(index[4*i:], uint32(at))
		} else {
			binary.LittleEndian.PutUint64(index[8*i:], uint64(at))
		}
	}
	idx := g.place(index)
	a := g.reg(in.args[from[0].arg], from[0].piece*l.Bytes(), l)
	if len(from) == 1 {
		op := x86.VPERMD
		if size == 8 {
			op = x86.VPERMQ
		}
		by := g.pooled(idx, l)
		r := g.fresh()
		g.V(op, l, r, by, x86.R(a))
		g.put(in.res, off, l, r, n)
	} else {
		r := g.fresh()
		g.V(x86.VMOVDQU, l, r, 0, x86.M(x86.Constant(idx)))
		b := g.rm(in.args[from[1].arg], from[1].piece*l.Bytes(), l)
		op := x86.VPERMI2D
		if size == 8 {
			op = x86.VPERMI2Q
		}
		g.V(op, l, r, a, b)
		g.put(in.res, off, l, r, n)
	}
	return true
}

// shuffleMask moves bits: a slice by shifting, others one by one.
func (g *gen) shuffleMask(in *inst) {
	a, b := in.args[0], in.args[1]
	n := int(a.t.lanes)
	if in.t.lanes > 64 || a.t.lanes > 64 {
		fail("shufflevector of %d bits", in.t.lanes)
	}
	if lane, ok := splatOf(in.list); ok && lane >= 0 {
		o := a
		if lane >= n {
			o, lane = b, lane-n
		}
		g.load(x86.RAX, retyped(o, o.t.asNumber()))
		g.ShiftImm(x86.SHL, 8, x86.R(x86.RAX), uint8(63-lane))
		g.ShiftImm(x86.SAR, 8, x86.R(x86.RAX), 63)
		g.cut(x86.RAX, int(in.t.lanes))
		g.store(in.res, x86.RAX)
		return
	}
	// Runs of consecutive lanes go together.
	g.load(x86.RSI, retyped(a, a.t.asNumber()))
	g.load(x86.RDI, retyped(b, b.t.asNumber()))
	g.MovImm(x86.RAX, 0)
	for i := 0; i < len(in.list); {
		x := in.list[i]
		if x < 0 {
			i++
			continue
		}
		src, limit := x86.RSI, n
		if x >= n {
			src, x, limit = x86.RDI, x-n, int(b.t.lanes)
		}
		k := 1
		for i+k < len(in.list) && in.list[i+k] == in.list[i]+k && x+k < limit {
			k++
		}
		g.Mov(8, x86.RCX, src)
		g.ShiftImm(x86.SHL, 8, x86.R(x86.RCX), uint8(64-x-k))
		g.ShiftImm(x86.SHR, 8, x86.R(x86.RCX), uint8(64-k))
		if i > 0 {
			g.ShiftImm(x86.SHL, 8, x86.R(x86.RCX), uint8(i))
		}
		g.Alu(x86.OR, 8, x86.RAX, x86.R(x86.RCX))
		i += k
	}
	g.store(in.res, x86.RAX)
}
