package progen

import "fmt"

// Statements of sorting networks and tables, which compilers write with many small branches between barriers, and blocks whose warps hold
// several rows or lanes without a thread.

// tag makes labels that no other statement has.
func (m *maker) tag() string {
	m.tags++
	return fmt.Sprintf("S%d", m.tags)
}

// network compares and exchanges pairs of elements in the block's shared memory, step after step: a word, a double word and a byte each. What
// decides is a chain of conditions that are looked at one by one; threads whose pair is not all there take no part.
func (m *maker) network() *node {
	m.prog.pairs = true
	threads := m.prog.blockThreads()
	row := threads // pairs stay in a row of so many threads
	if m.IntN(2) == 0 {
		row = int(m.prog.Block[0])
	}
	float := m.IntN(2) == 0
	key := "b32"
	if float {
		key = "f32"
	}
	a, b := m.reg("r"), m.reg("r")
	out := []string{"bar.sync 0;", fmt.Sprintf("div.u32 n0, tid, %d;", row), fmt.Sprintf("rem.u32 n1, tid, %d;", row),
		fmt.Sprintf("mad.lo.u32 n2, tid, 8, pairs;\n\tst.shared.b32 [n2], %s;\n\tst.shared.b32 [n2+4], %s;", a, b),
		fmt.Sprintf("mad.lo.u32 n2, tid, 16, pairs;\n\tst.shared.b64 [n2+%d], %s;\n\tst.shared.b64 [n2+%d], %s;", 8*threads, m.reg("d"), 8*threads+8, m.reg("d")),
		fmt.Sprintf("mad.lo.u32 n2, tid, 2, pairs;\n\tst.shared.u8 [n2+%d], %s;\n\tst.shared.u8 [n2+%d], %s;", 24*threads, m.reg("h"), 24*threads+1, m.reg("h"))}
	for range 1 + m.IntN(4) {
		out = append(out, m.exchangeStep(key, row, threads)...)
	}
	out = append(out, "bar.sync 0;", "mad.lo.u32 n2, tid, 8, pairs;\n\tmad.lo.u32 n3, tid, 16, pairs;\n\tmad.lo.u32 n4, tid, 2, pairs;",
		fmt.Sprintf("ld.shared.b32 %s, [n2];\n\tld.shared.b32 %s, [n2+4];", m.reg("r"), m.reg("r")),
		fmt.Sprintf("ld.shared.b64 %s, [n3+%d];\n\tld.shared.u8 %s, [n4+%d];", m.reg("d"), 8*threads, m.reg("h"), 24*threads+1), "bar.sync 0;")
	return lines(out...)
}

// exchangeStep is one step: elements apart by a power of two.
func (m *maker) exchangeStep(key string, row, threads int) []string {
	s := 1 << m.IntN(5)
	t := m.tag()
	first, second, swap := t+"a", t+"b", t+"c"
	at := []string{"bar.sync 0;", fmt.Sprintf("and.b32 n3, n1, %d;\n\tadd.u32 n2, n1, n1;\n\tsub.u32 n2, n2, n3;", s-1), // the element in the row
		fmt.Sprintf("add.u32 n3, n2, %d;\n\tsetp.ge.u32 q0, n3, %d;\n\t@q0 bra %s;", s, 2*row, t),
		fmt.Sprintf("mad.lo.u32 n2, n0, %d, n2;", 2*row), "mad.lo.u32 n3, n2, 4, pairs;\n\tmad.lo.u32 n4, n2, 8, pairs;\n\tadd.u32 n5, n2, pairs;",
		fmt.Sprintf("ld.shared.b32 n6, [n3];\n\tld.shared.b32 n7, [n3+%d];", 4*s)}
	less := "setp.lt.s32 q1, n6, n7;"
	if key == "f32" { // with the test for NaN that compilers put before
		less = fmt.Sprintf("mov.b32 e0, n6;\n\tmov.b32 e1, n7;\n\tabs.f32 e2, e1;\n\tsetp.le.f32 q1, e2, 0f7F800000;\n\t@q1 bra %sn;\n\tabs.f32 e2, e0;\n\tsetp.le.f32 q1, e2, 0f7F800000;\n\t@q1 bra %s;\n\t%sn:\n\tsetp.lt.f32 q1, e0, e1;", t, first, t)
	}
	// less && flag a, || !flag b, as one number
	flags := 24 * threads
	cond := []string{less, fmt.Sprintf("@!q1 bra %s;\n\t%s:", second, first),
		fmt.Sprintf("ld.shared.u8 m0, [n5+%d];\n\tsetp.ne.u16 q2, m0, 0;\n\tmov.u32 n6, 1;\n\t@q2 bra %s;", flags, swap),
		fmt.Sprintf("%s:\n\tld.shared.u8 m1, [n5+%d];\n\tsetp.eq.u16 q3, m1, 0;\n\tselp.u32 n6, 1, 0, q3;\n\t%s:", second, flags+s, swap),
		fmt.Sprintf("shr.u32 n7, n1, %d;\n\tand.b32 n7, n7, 1;\n\tsetp.ne.u32 q2, n6, n7;\n\t@q2 bra %s;", m.IntN(5), t)}
	words := []string{fmt.Sprintf("ld.shared.b32 n6, [n3];\n\tld.shared.b32 n7, [n3+%d];\n\tst.shared.b32 [n3], n7;\n\tst.shared.b32 [n3+%d], n6;", 4*s, 4*s)}
	wide := []string{fmt.Sprintf("ld.shared.b64 v0, [n4+%d];\n\tld.shared.b64 v1, [n4+%d];\n\tst.shared.b64 [n4+%d], v1;\n\tst.shared.b64 [n4+%d], v0;", 8*threads, 8*threads+8*s, 8*threads, 8*threads+8*s)}
	load := fmt.Sprintf("ld.shared.u8 m0, [n5+%d];\n\tld.shared.u8 m1, [n5+%d];", flags, flags+s)
	store := fmt.Sprintf("st.shared.u8 [n5+%d], m1;\n\tst.shared.u8 [n5+%d], m0;", flags, flags+s)
	orders := [][]string{append(append(append(words, wide...), load), store), append(append(append([]string{load}, words...), wide...), store), append(append(append(words, load), wide...), store)}
	return append(append(append(at, cond...), orders[m.IntN(3)]...), t+":")
}

// strideTable goes through memory by the size of the block: a byte, and what a table of bytes or halves has at that place.
func (m *maker) strideTable() *node {
	t := m.tag()
	n := 1 + m.IntN(5*m.prog.blockThreads())
	limit := fmt.Sprintf("mov.u32 n1, %d;", n)
	if m.IntN(3) == 0 {
		limit = fmt.Sprintf("mad.lo.u32 n1, uni, %d, %d;\n\tmin.u32 n1, n1, %d;", 1+m.IntN(20), m.IntN(9), n)
	}
	order := []string{".nc", "", ".nc"}[m.IntN(3)]
	step := 1 + m.IntN(3)
	r := m.reg("r")
	out := []string{"ld.param.u64 v1, [in];\n\tmov.u32 n0, tid;\n\tmov.u32 n2, 0;", limit}
	bottom := m.IntN(2) == 0 // tested at the end, behind a first test
	test := fmt.Sprintf("setp.ge.u32 q0, n0, n1;\n\t@q0 bra %se;", t)
	out = append(out, test, t+":")
	out = append(out, fmt.Sprintf("mad.wide.u32 v0, n0, %d, v1;\n\tld.global%s.u8 m0, [v0+%d];", step, order, m.IntN(4)))
	switch m.IntN(3) {
	case 0:
		out = append(out, fmt.Sprintf("cvt.u64.u16 v0, m0;\n\tadd.u64 v0, v1, v0;\n\tld.global%s.u8 m1, [v0+%d];", order, m.IntN(256)))
	case 1:
		out = append(out, fmt.Sprintf("mul.wide.u16 n3, m0, 2;\n\tcvt.u64.u32 v0, n3;\n\tadd.u64 v0, v1, v0;\n\tld.global%s.u16 m1, [v0];", order))
	default:
		out = append(out, fmt.Sprintf("cvt.u32.u16 n3, m0;\n\tand.b32 n3, n3, 127;\n\tmad.wide.u32 v0, n3, 2, v1;\n\tld.global%s.s8 m1, [v0+1];", order))
	}
	for range m.IntN(4) {
		out = append(out, []string{"shl.b16 m1, m1, 4;", "xor.b16 m1, m1, m0;", "mul.lo.u16 m1, m1, m0;", "add.u16 m1, m1, 77;", "shr.u16 m1, m1, 3;"}[m.IntN(5)])
	}
	if m.IntN(2) == 0 { // n2 counts the rounds: the thread's own place
		out = append(out, "cvt.u64.u32 v0, n2;\n\tadd.u64 v0, slot_, v0;\n\tst.global.u8 [v0+40], m1;")
	}
	out = append(out, fmt.Sprintf("cvt.u32.u16 n3, m1;\n\tmad.lo.u32 %s, %s, 5, n3;", r, r), "add.u32 n2, n2, 1;", fmt.Sprintf("add.u32 n0, n0, %d;", m.prog.blockThreads()))
	if bottom {
		out = append(out, fmt.Sprintf("setp.lt.u32 q0, n0, n1;\n\t@q0 bra %s;", t))
	} else {
		out = append(out, test, fmt.Sprintf("bra %s;", t))
	}
	return lines(append(out, t+"e:")...)
}
