package progen

import "fmt"

// vectorFamilies are vector registers: they live from statement to statement like the others, and what is in them comes out through moves.
// No component is written under a guard, which the vendor's assembler gets wrong.
var vectorFamilies = []struct {
	prefix, decl, elem string
	width              int
}{{"x", ".v2 .b32", "b32", 2}, {"y", ".v4 .b32", "b32", 4}, {"z", ".v2 .b16", "b16", 2}, {"u", ".v2 .b64", "b64", 2}}

// vectors is how many of each there are.
const vectors = 2

// vectorRegisters declares them and gives them values.
func (w *printer) vectorRegisters() {
	for i, f := range vectorFamilies {
		w.p(".reg %s %s<%d>;", f.decl, f.prefix, vectors)
		for k := range vectors {
			list := "{"
			for c := range f.width {
				if c > 0 {
					list += ", "
				}
				list += fmt.Sprint(1000*i + 100*k + 7*c)
			}
			w.p("mov.v%d.%s %s, %s};", f.width, f.elem, name(f.prefix, k), list)
		}
	}
}

// vector moves values into, out of and between vector registers, or calculates with components.
func (m *maker) vector(at where) *node {
	v := func(prefix string) string { return name(prefix, m.IntN(vectors)) }
	word := func() string { // 32 bits somewhere
		switch m.IntN(3) {
		case 0:
			return v("x") + []string{".x", ".y", ".r", ".g"}[m.IntN(4)]
		case 1:
			return v("y") + []string{".x", ".y", ".z", ".w"}[m.IntN(4)]
		}
		return m.reg("r")
	}
	switch m.IntN(12) {
	case 0:
		return lines(fmt.Sprintf("mov.b64 %s, %s;", v("x"), m.reg("d")))
	case 1:
		return lines(fmt.Sprintf("mov.b64 %s, %s;", m.reg("d"), v("x")))
	case 2:
		return lines(fmt.Sprintf("mov.b32 %s, %s;", v("z"), m.reg("r")))
	case 3:
		return lines(fmt.Sprintf("mov.b32 %s, %s;", m.reg("r"), v("z")))
	case 4:
		return lines(fmt.Sprintf("mov.v2.b32 %s, {%s, %s};", v("x"), m.reg("r"), m.reg("r")))
	case 5:
		return lines(fmt.Sprintf("mov.v4.b32 %s, %s;", v("y"), v("y")))
	case 6:
		return lines(fmt.Sprintf("mov.b64 %s.%s, {%s, %s};", v("u"), []string{"x", "y"}[m.IntN(2)], word(), word()), fmt.Sprintf("xor.b64 %s, %s.x, %s.y;", m.reg("d"), v("u"), v("u")))
	case 7:
		return lines(fmt.Sprintf("mov.b64 {%s, _}, %s;", word(), m.reg("d")))
	case 8:
		return lines(fmt.Sprintf("add.u16 %s.%s, %s.%s, %s;", v("z"), []string{"x", "y"}[m.IntN(2)], v("z"), []string{"x", "y"}[m.IntN(2)], m.reg("h")))
	case 9:
		if !at.function {
			return lines([]string{fmt.Sprintf("st.global.v4.b32 [slot_+%d], %s;", 16*m.IntN(4), v("y")), fmt.Sprintf("ld.global.v4.b32 %s, [slot_+%d];", v("y"), 16*m.IntN(4)),
				fmt.Sprintf("st.shared.v2.b32 [sh_+%d], %s;", 8*m.IntN(2), v("x")), fmt.Sprintf("ld.shared.v2.b64 %s, [sh_];", v("u"))}[m.IntN(4)])
		}
	}
	op := []string{"add.u32", "xor.b32", "mul.lo.s32", "sub.s32", "max.u32", "and.b32"}[m.IntN(6)]
	return lines(fmt.Sprintf("%s %s, %s, %s;", op, word(), word(), word()))
}

// vectorOrTable is one of the two.
func (m *maker) vectorOrTable(at where) *node {
	if m.IntN(4) == 0 {
		return m.ownTable()
	}
	return m.vector(at)
}

// ownTable reads a variable that the body declares itself: every body has others of the same names.
func (m *maker) ownTable() *node {
	r, space := m.reg("r"), []string{"global", "const"}[m.IntN(2)]
	return lines(fmt.Sprintf("and.b32 w1, %s, 3;\n\tmov.u64 w3, own_%s;\n\tmad.wide.u32 w3, w1, 4, w3;\n\tld.%s.u32 %s, [w3];", m.reg("r"), space, space, r))
}

// ownTables declares the variables of the n-th body.
func (w *printer) ownTables(n int) {
	for i, space := range []string{"global", "const"} {
		w.p(".%s .align 4 .u32 own_%s[4] = {%d, %d, %d, %d};", space, space, 10*n+i, 20*n+77, 30*n+5*i, 1000+n)
	}
}
