package progen

import "fmt"

// again reads a piece of the thread's own slot twice, with something between that may or may not change it: a store of another width over a
// part of it, an atomic, a fence, or a load with an order, none of which may be looked through where it writes or orders.
func (m *maker) again() *node {
	widths := []struct {
		typ, prefix string
		bytes       int
	}{{"u8", "h", 1}, {"s16", "h", 2}, {"b32", "r", 4}, {"f32", "f", 4}, {"b64", "d", 8}}
	pick := func() (typ, reg string, off int) {
		w := widths[m.IntN(len(widths))]
		return w.typ, m.reg(w.prefix), m.IntN(16/w.bytes) * w.bytes // all in 16 bytes: most overlap
	}
	typ, _, off := pick()
	prefix := map[string]string{"u8": "h", "s16": "h", "b32": "r", "f32": "f", "b64": "d"}[typ]
	a, b := m.IntN(pool(prefix)), 1+m.IntN(pool(prefix)-1)
	first, second := name(prefix, a), name(prefix, (a+b)%pool(prefix))
	base := "slot_"
	out := []string{}
	if m.IntN(2) == 0 { // the same place by another name
		out = append(out, fmt.Sprintf("mad.wide.u32 w4, gid, %d, %d;", outBytes, inBytes), "ld.param.u64 w3, [out];", "add.u64 w4, w3, w4;")
		base = "w4"
	}
	out = append(out, fmt.Sprintf("ld.global.%s %s, [%s+%d];", typ, first, base, off))
	for range 1 + m.IntN(2) {
		t, r, o := pick()
		order := []string{".volatile.global", ".relaxed.gpu.global", ".global", "", ".relaxed.sys.global"}[m.IntN(5)]
		switch m.IntN(7) {
		case 0, 1:
			out = append(out, fmt.Sprintf("st%s.%s [slot_+%d], %s;", order, t, o, r))
		case 2:
			out = append(out, fmt.Sprintf("st.release.%s.global.%s [slot_+%d], %s;", []string{"cta", "gpu", "sys"}[m.IntN(3)], t, o, r))
		case 3:
			out = append(out, fmt.Sprintf("ld%s.%s %s, [slot_+%d];", order, t, r, o))
		case 4:
			out = append(out, fmt.Sprintf("ld.acquire.%s.global.%s %s, [slot_+%d];", []string{"cta", "gpu", "sys"}[m.IntN(3)], t, r, o))
		case 5:
			out = append(out, []string{"fence.acq_rel.gpu;", "fence.sc.cta;", "membar.gl;", "membar.cta;", "fence.sc.sys;"}[m.IntN(5)])
		case 6:
			out = append(out, fmt.Sprintf("@%s atom.global.exch.b32 %s, [slot_+%d], %s;", m.guard(), m.reg("r"), 4*m.IntN(4), m.reg("r")))
		}
	}
	return lines(append(out, fmt.Sprintf("ld.global.%s %s, [%s+%d];", typ, second, base, off))...)
}

// table reads what every block reads, lanes at distances, and works on it; in a loop the place moves on by rounds.
func (m *maker) table(at where) *node {
	order := []string{".nc", "", "", ".volatile"}[m.IntN(4)]
	space := "global" + order
	if order == ".volatile" {
		space = "volatile.global"
	}
	r, s, t := m.reg("r"), m.reg("r"), m.reg("r")
	typ, reg := "u32", r
	distance := []int{4, 8, 12, 20, 64}[m.IntN(5)]
	if m.IntN(3) == 0 {
		typ, reg = "u16", "h1"
	}
	out := []string{"ld.param.u64 w3, [in];", fmt.Sprintf("mad.wide.u32 w3, tid, %d, w3;", distance)}
	if at.loops > 0 { // the innermost counter is at most 7
		out = append(out, fmt.Sprintf("and.b32 w1, %s, 7;", []string{"lc0", "lc0", "uni"}[m.IntN(3)]), "mad.wide.u32 w3, w1, 16, w3;")
	}
	out = append(out, fmt.Sprintf("ld.%s.%s %s, [w3+%d];", space, typ, reg, 4*m.IntN(4)))
	if typ == "u16" {
		out = append(out, fmt.Sprintf("cvt.u32.u16 %s, h1;", r))
	}
	for range 2 + m.IntN(5) {
		out = append(out, []string{
			fmt.Sprintf("and.b32 %s, %s, 252645135;", s, r), fmt.Sprintf("shr.u32 %s, %s, %d;", s, r, m.IntN(17)), fmt.Sprintf("xor.b32 %s, %s, %s;", r, r, s),
			fmt.Sprintf("mul.lo.u32 %s, %s, %s;", r, s, r), fmt.Sprintf("mad.lo.u32 %s, %s, 5, %s;", s, r, s), fmt.Sprintf("add.u32 %s, %s, %d;", r, r, m.IntN(99)),
			fmt.Sprintf("prmt.b32 %s, %s, %s, 0x%04x;", s, r, s, m.IntN(1<<16)),
		}[m.IntN(7)])
	}
	return lines(append(out, fmt.Sprintf("add.u32 %s, %s, %s;", t, r, s))...)
}

// histogram counts bytes in the block's shared memory: who comes first does not matter.
func (m *maker) histogram() *node {
	m.prog.bins = true
	op := []string{"add.u32", "add.u32", "max.u32", "xor.b32", "min.s32"}[m.IntN(5)]
	out := []string{"bar.sync 0;", "and.b32 w1, tid, 31;", "shl.b32 w1, w1, 5;", "mov.u32 w2, bins;", "add.u32 w1, w1, w2;", "mov.u64 w3, 0;",
		"st.shared.v2.u64 [w1], {w3, w3};", "st.shared.v2.u64 [w1+16], {w3, w3};", "bar.sync 0;"}
	for range 1 + m.IntN(3) {
		which := []string{fmt.Sprintf("and.b32 w1, %s, 255;", m.reg("r")), fmt.Sprintf("shr.u32 w1, %s, 24;", m.reg("r")), fmt.Sprintf("and.b32 w1, %s, 63;", m.reg("r")),
			fmt.Sprintf("bfe.u32 w1, %s, 8, 8;", m.reg("r"))}[m.IntN(4)]
		with := "1"
		if m.IntN(3) == 0 {
			with = m.reg("r")
		}
		guard := ""
		if m.IntN(3) == 0 {
			guard = "@" + m.guard() + " "
		}
		out = append(out, which, "shl.b32 w1, w1, 2;", "add.u32 w1, w1, w2;", fmt.Sprintf("%sred.shared.%s [w1], %s;", guard, op, with))
	}
	return lines(append(out, "bar.sync 0;", fmt.Sprintf("and.b32 w1, %s, 255;", m.reg("r")), "mad.lo.u32 w1, w1, 4, w2;", fmt.Sprintf("ld.shared.u32 %s, [w1];", m.reg("r")), "bar.sync 0;")...)
}

// handOver lets half of the warps of a block read in global memory what the others wrote there before a barrier: all wait, but at
// different places.
func (m *maker) handOver() *node {
	n := m.prog.blockThreads()
	src, dst := m.reg("r"), m.reg("r")
	odd := m.IntN(2)
	write := lines(fmt.Sprintf("st.global.b32 [slot_+%d], %s;", 60, src), "bar.sync 0;")
	read := lines("bar.sync 0;", fmt.Sprintf("xor.b32 w1, tid, 32;\n\tmin.u32 w1, w1, %d;", n-1), "sub.u32 w1, w1, tid;", "add.u32 w1, w1, gid;",
		fmt.Sprintf("mad.wide.u32 w4, w1, %d, %d;", outBytes, inBytes+60), "ld.param.u64 w3, [out];", "add.u64 w4, w3, w4;", fmt.Sprintf("ld.global.b32 %s, [w4];", dst))
	half := &node{kind: choice, lines: []string{"shr.u32 w1, tid, 5;", "and.b32 w1, w1, 1;", fmt.Sprintf("setp.eq.u32 sp, w1, %d;", odd)}, pred: "sp", a: []*node{write}, b: []*node{read}}
	return &node{kind: choice, lines: []string{"bar.sync 0;", "setp.lt.u32 sp, uni, 99;"}, pred: "!sp", a: []*node{half, lines("bar.sync 0;")}}
}

// calmly makes a program of few statements, mostly of tables, for several blocks: what blocks share is then worth keeping.
func (m *maker) calmly() {
	m.prog.Block = [3]uint32{uint32(32 * (1 + m.IntN(3))), 1, 1}
	m.prog.Grid = [3]uint32{uint32(2 + m.IntN(7)), uint32(1 + m.IntN(2)), 1}
	m.whole = true
	for m.fuel = 3 + m.IntN(8); m.fuel > 0; {
		m.prog.body = append(m.prog.body, m.list(where{uniform: true}, 4)...)
	}
}

func (m *maker) calmStatement(at where) *node {
	n := m.IntN(100)
	switch {
	case n < 45:
		return m.table(at)
	case n < 60 && at.loops == 0 && at.depth < 3:
		return m.loop(at)
	case n < 75 && at.depth < 3:
		return m.choice(at)
	case n < 80:
		return m.memory(at)
	case n < 83:
		return m.again()
	case n < 87 && at.uniform:
		return m.exchange()
	case n < 91 && at.uniform:
		return m.barrier()
	case n < 95 && at.uniform && m.prog.blockThreads()%64 == 0:
		return m.handOver()
	}
	return m.constant()
}
