package progen

import "fmt"

// Some programs are threads that each walk a stretch of memory of their own, as long as the data say, and nothing else: the compiler runs
// them one by one, and joins the two loops that a compiler makes of one (pass/reroll.go). Here the two are often not one.

// walking makes such a program. A loop does the n & (u-1) rounds left over, another u rounds at a time; what a twist changes in the second
// makes them two.
func (m *maker) walking() {
	u := []int{2, 4, 8}[m.IntN(3)]
	twist := m.IntN(12) // of these most are none
	out := []string{"ld.global.u32 w1, [in_];", "and.b32 r0, w1, 63;", "ld.global.u32 w1, [in_+8];", fmt.Sprintf("and.b32 w1, w1, %d;", []int{63, 31, 7}[m.IntN(3)]), "add.u32 r1, r0, w1;",
		"ld.global.u32 r5, [in_+16];", "ld.global.f32 f0, [in_+72];", "ld.param.u64 w3, [in];"}
	if m.IntN(4) == 0 { // it may be negative
		out = append(out, "sub.u32 r1, r1, 2;")
	}
	out = append(out, "setp.ge.s32 p0, r0, r1;", "@p0 bra END;", "sub.s32 r2, r1, r0;", fmt.Sprintf("and.b32 r3, r2, %d;", u-1), "setp.eq.s32 p1, r3, 0;", "mov.u32 r4, r0;", "@p1 bra BIG;",
		"cvt.s64.s32 d0, r0;", "shl.b64 d0, d0, 2;", "add.u64 d0, w3, d0;", "ONE:")
	work := m.IntN(5)
	out = append(out, m.round(work, "d0", 0, 1, 3)...)
	out = append(out, "add.s32 r4, r4, 1;", "add.s64 d0, d0, 4;", "add.s32 r3, r3, -1;", "setp.ne.s32 p2, r3, 0;", "@p2 bra ONE;", "BIG:")
	least := u
	if twist == 0 {
		least += u // short stretches lose their second part
	}
	switch m.IntN(3) {
	case 0:
		out = append(out, fmt.Sprintf("setp.lt.u32 p3, r2, %d;", least))
	case 1:
		out = append(out, "add.s32 w1, r2, -1;", fmt.Sprintf("setp.lt.u32 p3, w1, %d;", least-1))
	default:
		out = append(out, "sub.s32 w1, r0, r1;", fmt.Sprintf("setp.gt.u32 p3, w1, %d;", -least))
	}
	ahead := []int{0, 16, 4}[m.IntN(3)]
	out = append(out, "@p3 bra END;", "sub.s32 r6, r1, r4;", "mul.wide.s32 d1, r4, 4;", fmt.Sprintf("add.s64 d1, d1, %d;", ahead), "add.u64 d1, w3, d1;", "MANY:")
	for i := range u {
		off, mul, add := 4*i-ahead, 1, 3
		if i == u-1 {
			switch twist {
			case 1:
				off += 4
			case 2:
				mul = 2
			case 3:
				add = 5
			}
		}
		out = append(out, m.round(work, "d1", off, mul, add)...)
	}
	step := 4 * u
	if twist == 4 {
		step += 4
	}
	out = append(out, fmt.Sprintf("add.s64 d1, d1, %d;", step), fmt.Sprintf("add.s32 r6, r6, %d;", -u), "setp.ne.s32 p2, r6, 0;", "@p2 bra MANY;", "END:")
	m.prog.alone = out
}

// round is one round of either loop: what lies at an address, with what is kept.
func (m *maker) round(work int, at string, off, mul, add int) []string {
	load := fmt.Sprintf("ld.global%s.b32 r7, [%s+%d];", []string{"", ".nc"}[work&1], at, off)
	switch work {
	case 0:
		return []string{load, fmt.Sprintf("mad.lo.s32 r5, r7, %d, r5;", mul), fmt.Sprintf("xor.b32 r5, r5, %d;", add)}
	case 1:
		return []string{load, "mov.b32 f1, r7;", fmt.Sprintf("fma.rn.f32 f0, f1, 0f%08X, f0;", 0x3f000000+mul<<20), fmt.Sprintf("add.s32 r5, r5, %d;", add)}
	case 2: // at a place that is read
		return []string{load, "and.b32 r7, r7, 127;", "mul.wide.u32 d2, r7, 4;", "add.u64 d2, w3, d2;", "ld.global.b32 r7, [d2];", fmt.Sprintf("mad.lo.s32 r5, r5, %d, r7;", add)}
	case 3:
		return []string{load, "mov.b32 f1, r7;", "max.f32 f0, f0, f1;", fmt.Sprintf("mad.lo.s32 r5, r5, %d, %d;", add, mul)}
	}
	return []string{load, fmt.Sprintf("shf.l.wrap.b32 r5, r5, r7, %d;", add), fmt.Sprintf("add.s32 r5, r5, %d;", mul)}
}
