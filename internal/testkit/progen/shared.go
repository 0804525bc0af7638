package progen

import "fmt"

// memory touches the thread's own memory: a slot of global memory, local memory, or its piece of shared memory.
func (m *maker) memory(at where) *node {
	space, base, size := "local", "loc_", localBytes
	if !at.function {
		switch m.IntN(3) {
		case 0:
			space, base, size = "global", "slot_", slotBytes
		case 1:
			space, base, size = "shared", "sh_", 16
		}
	}
	width := []int{1, 2, 4, 8, 16}[m.IntN(5)]
	index := fmt.Sprintf("and.b32 w1, %s, %d;", m.reg("r"), (size-1)&^(width-1))
	address := []string{index, "cvt.u64.u32 w4, w1;", fmt.Sprintf("add.u64 w4, %s, w4;", base)}
	at4 := "[w4]"
	if space == "shared" { // 32-bit addresses are enough there
		address, at4 = []string{index, "add.u32 w1, sh_, w1;"}, "[w1]"
	}
	typ, reg := "b32", m.reg("r")
	switch width {
	case 1:
		typ, reg = "u8", m.reg("h")
	case 2:
		typ, reg = "b16", m.reg("h")
	case 4:
		if m.IntN(2) == 0 {
			typ, reg = "f32", m.reg("f")
		}
	case 8:
		if typ, reg = "b64", m.reg("d"); m.IntN(2) == 0 {
			typ, reg = "v2.b32", "{r1, r5}"
		}
	case 16:
		typ, reg = "v4.f32", "{f0, f3, f2, f5}"
	}
	if m.IntN(2) == 0 {
		address = append(address, fmt.Sprintf("st.%s.%s %s, %s;", space, typ, at4, reg))
	} else {
		address = append(address, fmt.Sprintf("ld.%s.%s %s, %s;", space, typ, reg, at4))
	}
	return lines(address...)
}

// atomic changes a cell that all threads share. Every cell has one operation, and what it held before is not looked at, so
// that the order does not matter; on the thread's own slot the old value is used too.
func (m *maker) atomic() *node {
	ops := []string{"add", "min", "max", "and", "or", "xor"}
	i := m.IntN(len(ops))
	typ := "u64"
	if i >= 3 {
		typ = "b64"
	}
	switch m.IntN(5) {
	case 0: // the block's total, in shared memory
		m.prog.totals = true
		return lines(fmt.Sprintf("red.shared.add.u64 [totals], %s;", m.reg("d")))
	case 1: // the thread's own
		if m.IntN(2) == 0 {
			return lines(fmt.Sprintf("atom.global.cas.b32 %s, [slot_+%d], %s, %s;", m.reg("r"), 4*m.IntN(16), m.reg("r"), m.reg("r")))
		}
		return lines(fmt.Sprintf("atom.global.%s.%s %s, [slot_+%d], %s;", ops[i], typ, m.reg("d"), 8*m.IntN(8), m.reg("d")))
	case 2: // anyone's, where depends on data
		return lines(fmt.Sprintf("and.b32 w1, %s, 1;", m.reg("r")), "mad.wide.u32 w4, w1, 48, cells_;", fmt.Sprintf("red.global.%s.%s [w4+%d], %s;", ops[i], typ, 8*i, m.reg("d")))
	}
	t32 := map[bool]string{true: "u32", false: "b32"}[i < 3]
	return lines(fmt.Sprintf("red.global.%s.%s [cells_+%d], %s;", ops[i], t32, 96+4*i, m.reg("r")))
}

// warp is an operation of all lanes of a warp that have a thread.
func (m *maker) warp() *node {
	all := "0xffffffff"
	if !m.whole || m.IntN(4) == 0 {
		all = "wm"
	}
	r, s, p, q := m.reg("r"), m.reg("r"), m.reg("p"), m.guard()
	switch m.IntN(8) {
	case 0, 1, 2:
		if !m.whole { // from a lane that has a thread
			return lines("popc.b32 n1, wm;", fmt.Sprintf("rem.u32 n0, %s, n1;", m.reg("r")), fmt.Sprintf("shfl.sync.idx.b32 %s, %s, n0, 0x1f, wm;", r, s))
		}
		mode := m.IntN(4)
		c := []int{0x0, 0x1f, 0x1f, 0x1f}[mode] | []int{0, 0, 0x1000, 0x1800}[m.IntN(4)]
		d := r
		if m.IntN(2) == 0 {
			d += "|" + p
		}
		b := fmt.Sprint(m.IntN(32))
		if m.IntN(2) == 0 {
			b = m.reg("r")
		}
		return lines(fmt.Sprintf("shfl.sync.%s.b32 %s, %s, %s, %d, %s;", []string{"up", "down", "bfly", "idx"}[mode], d, s, b, c, all))
	case 3:
		return lines(fmt.Sprintf("vote.sync.ballot.b32 %s, %s, %s;", r, q, all))
	case 4:
		return lines(fmt.Sprintf("vote.sync.%s.pred %s, %s, %s;", []string{"all", "any", "uni"}[m.IntN(3)], p, q, all))
	case 5:
		if m.IntN(2) == 0 {
			return lines(fmt.Sprintf("match.any.sync.b32 %s, %s, %s;", r, s, all))
		}
		return lines(fmt.Sprintf("match.all.sync.b64 %s|%s, %s, %s;", r, p, m.reg("d"), all))
	case 6:
		i := m.IntN(6)
		typ := []string{"s32", "u32", "s32", "b32", "b32", "b32"}[i]
		return lines(fmt.Sprintf("redux.sync.%s.%s %s, %s, %s;", []string{"add", "min", "max", "and", "or", "xor"}[i], typ, r, s, all))
	}
	return lines(fmt.Sprintf("bar.warp.sync %s;", all))
}

// exchange passes a value to another thread of the block through shared memory.
func (m *maker) exchange() *node {
	n := m.prog.blockThreads()
	src, dst := m.reg("r"), m.reg("r")
	if m.IntN(2) == 0 {
		src, dst = m.reg("f"), m.reg("f")
	}
	whom := fmt.Sprintf("add.u32 w2, tid, %d;", m.IntN(n))
	if m.IntN(3) == 0 {
		whom = fmt.Sprintf("mov.b32 w2, %s;", m.reg("r"))
	}
	return lines("mad.lo.u32 w1, tid, 4, ex_;", fmt.Sprintf("st.shared.b32 [w1], %s;", src), "bar.sync 0;", whom, fmt.Sprintf("rem.u32 w2, w2, %d;", n),
		"mad.lo.u32 w2, w2, 4, ex_;", fmt.Sprintf("ld.shared.b32 %s, [w2];", dst), "bar.sync 0;")
}

// barrier waits for the block, and may count.
func (m *maker) barrier() *node {
	switch m.IntN(4) {
	case 0:
		return lines(fmt.Sprintf("bar.red.popc.u32 %s, 0, %s;", m.reg("r"), m.guard()))
	case 1:
		return lines(fmt.Sprintf("bar.red.%s.pred %s, 1, %s;", []string{"and", "or"}[m.IntN(2)], m.reg("p"), m.guard()))
	case 2:
		return lines(fmt.Sprintf("barrier.sync %d;", m.IntN(16)))
	}
	return lines("bar.sync 0;")
}

// byWarps synchronises warps at different places: half of them go on and only say that they were there, or each half waits
// at a barrier of its own spelling.
func (m *maker) byWarps() *node {
	n := m.prog.blockThreads()
	src, dst := m.reg("r"), m.reg("r")
	put := []string{"bar.sync 0;", "shl.b32 w1, tid, 2;", "add.u32 w1, ex_, w1;", fmt.Sprintf("st.shared.u32 [w1], %s;", src)}
	if m.IntN(2) == 0 {
		put = []string{"bar.sync 0;"}
	}
	get := []string{"sub.u32 w1, tid, 32;", "shl.b32 w1, w1, 2;", "add.u32 w1, ex_, w1;", fmt.Sprintf("ld.shared.u32 %s, [w1];", dst)}
	if len(put) == 1 {
		get = nil
	}
	id := 1 + m.IntN(15)
	wait, pass := []string{fmt.Sprintf("bar.sync %d, %d;", id, n)}, []string{fmt.Sprintf("bar.arrive %d, %d;", id, n)}
	if m.IntN(2) == 0 {
		wait, pass = []string{"bar.sync 0;"}, []string{"barrier.sync 0;"}
	}
	half := &node{kind: choice, lines: []string{"shr.u32 w1, tid, 5;", "and.b32 w1, w1, 1;", "setp.eq.u32 sp, w1, 0;"}, pred: "sp",
		a: []*node{lines(append(wait, get...)...)}, b: []*node{lines(pass...)}}
	return &node{kind: choice, lines: append(put, "setp.lt.u32 sp, uni, 99;"), pred: "!sp", a: []*node{half, lines("bar.sync 0;")}}
}
