package pages

import (
	"fmt"
	"sort"
	"strings"

	"kudzu/internal/ptx/isa"
	"kudzu/internal/testkit/truth"
)

// coveragePage writes docs/zcoverage.md.
func coveragePage(all []chapter) string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	b.WriteString(header("internal/ptx/isa, the executors and testdata"))
	p(`# Which PTX instructions work

Every form of the instruction table, by chapter. Of each form up to %d spellings are tried:

- *parsed*: as this form.
- *checked*: accepted on a target that has it. The rest are combinations that the vendor's assembler refuses too.
- *interpreted* and *compiled* (for CPUs): of those accepted.
- *rows*: results recorded on an sm_90 card, %d for each spelling.
- *agree*: the interpreter and the compiler on them: "all", or how many spellings are not on the list of known
  differences (testdata/isa/rows-open*.txt, with reasons).
- *case*: a file below testdata/cases uses the form.

What is not compiled is interpreted. What is neither fails the launch of that kernel, with instruction and line.
Modules with .address_size 32 are parsed and checked, and refused when they are loaded, in the words of the vendor's
assembler, which accepts none since 12.9 at the latest: "32-Bit compilation is no longer supported".

`, spellings, truth.Lanes)
	summary(p, all)
	for _, c := range all {
		p("\n## %s\n\n| form | since | parsed | checked | interpreted | compiled | rows | agree | case |\n|---|---|---|---|---|---|---|---|---|\n", c.name)
		for _, r := range c.rows {
			p("| `%s` | %s | %s | %d | %s | %s | %s | %s | %s |\n", strings.ReplaceAll(strings.Join(strings.Fields(r.form.Syntax), " "), "|", "\\|"), since(r.form),
				of(r.parsed, r.tried), r.accepted, of(r.interp, r.accepted), of(r.cpu, r.accepted), blank(r.lines*truth.Lanes), r.agree(), inCase(r.cases))
		}
		reasons(p, c)
	}
	return b.String()
}

func summary(p func(string, ...any), all []chapter) {
	p("| chapter | forms | parsed | interpreted | compiled | recorded | rows | listed: interpreter | listed: compiler |\n|---|---|---|---|---|---|---|---|---|\n")
	var sum [8]int
	for _, c := range all {
		var n [8]int
		for _, r := range c.rows {
			add := func(i int, yes bool, k int) {
				if yes {
					n[i] += k
				}
			}
			add(0, true, 1)
			add(1, r.parsed == r.tried && r.tried > 0, 1)
			add(2, r.accepted > 0 && r.interp == r.accepted, 1)
			add(3, r.accepted > 0 && r.cpu == r.accepted, 1)
			add(4, r.lines > 0, 1)
			add(5, true, r.lines*truth.Lanes)
			add(6, true, r.openInterp*truth.Lanes)
			add(7, true, r.openCPU*truth.Lanes)
		}
		line(p, c.name, n)
		for i := range n {
			sum[i] += n[i]
		}
	}
	line(p, "**all**", sum)
}

func line(p func(string, ...any), name string, n [8]int) {
	p("| %s |", name)
	for _, k := range n {
		p(" %d |", k)
	}
	p("\n")
}

// reasons lists why forms of a chapter are not executed, once each, with the number of forms.
func reasons(p func(string, ...any), c chapter) {
	by := map[string]int{}
	for _, r := range c.rows {
		if r.whyInterp != "" {
			by["not interpreted: "+r.whyInterp]++
		}
		if r.whyCPU != "" {
			by["not compiled: "+r.whyCPU]++
		}
	}
	var list []string
	for why := range by {
		list = append(list, why)
	}
	sort.Strings(list)
	if len(list) > 0 {
		p("\n")
	}
	for _, why := range list {
		p("- %s (%d)\n", why, by[why])
	}
}

func of(n, all int) string {
	switch {
	case all == 0:
		return ""
	case n == all:
		return "yes"
	case n == 0:
		return "no"
	}
	return fmt.Sprintf("%d of %d", n, all)
}

// inCase says whether there is a case, not how many: a new one for an old form must not change the page.
func inCase(n int) string {
	if n == 0 {
		return ""
	}
	return "yes"
}

func blank(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

func (r *row) agree() string {
	one := func(open int) string {
		if open == 0 {
			return "all"
		}
		return fmt.Sprintf("%d of %d", r.lines-open, r.lines)
	}
	if r.lines == 0 {
		return ""
	}
	a, b := one(r.openInterp), one(r.openCPU)
	if a == b {
		return a
	}
	return a + ", " + b
}

func since(f *isa.Form) string {
	s := fmt.Sprintf("%d.%d", f.PTX.Major(), f.PTX.Minor())
	switch {
	case f.Arch == "a" || f.Arch == "f":
		s += fmt.Sprintf(" sm_%d%s", f.SM, f.Arch)
	case f.Arch != "":
		s += " sm_" + f.Arch
	case f.SM > 0:
		s += fmt.Sprintf(" sm_%d", f.SM)
	}
	return s
}
