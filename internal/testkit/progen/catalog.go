package progen

import (
	"regexp"
	"slices"
	"strings"

	"kudzu/internal/ptx/isa"
	"kudzu/internal/testkit/truth"
)

// entry is an operation on registers: its text with a hole for each register.
type entry struct {
	text  string // "add.s32 r0, r1, r2;"
	holes []hole
}

type hole struct {
	name, prefix string
	dest         bool
}

// Catalog is the operations programs are made of, derived from the instruction table.
type Catalog struct{ entries []entry }

// chapters whose lines are values of registers alone.
var chapters = []string{"integer", "float", "half", "compare", "logic", "move", "convert", "video"}

// NewCatalog takes every spelling of the table that an sm_90 card runs, but for those that begin with a word of without.
func NewCatalog(without []string) *Catalog {
	c := &Catalog{}
	const spellings = 16
	for _, l := range truth.Lines(spellings) {
		if !slices.Contains(chapters, l.Chapter) || slices.ContainsFunc(without, func(p string) bool { return strings.HasPrefix(l.Text, p) }) {
			continue
		}
		if l.Form.Op == isa.Shfl { // lanes must agree on the mask: warp writes these
			continue
		}
		regs, ok := l.Plain()
		if !ok || slices.ContainsFunc(regs, func(r truth.Register) bool { return pool(r.Prefix) == 0 }) {
			continue
		}
		e := entry{text: l.Text}
		for _, r := range regs {
			e.holes = append(e.holes, hole{r.Name, r.Prefix, r.Dest})
		}
		c.entries = append(c.entries, e)
	}
	return c
}

// Len is how many operations there are.
func (c *Catalog) Len() int { return len(c.entries) }

// family is a pool of registers of one type.
type family struct {
	prefix, decl, mem string // mem: the type to load and store it by
	bytes, count      int
}

// families are a program's registers. All begin with a value from memory and all are stored at the end.
var families = []family{
	{"r", ".b32", "b32", 4, 8}, {"d", ".b64", "b64", 8, 5}, {"f", ".f32", "f32", 4, 6}, {"fd", ".f64", "f64", 8, 4},
	{"h", ".b16", "b16", 2, 5}, {"fh", ".f16", "b16", 2, 4}, {"fx", ".f16x2", "b32", 4, 4}, {"p", ".pred", "", 4, 4},
}

func pool(prefix string) int {
	for _, f := range families {
		if f.prefix == prefix {
			return f.count
		}
	}
	return 0
}

var registerName = regexp.MustCompile(`\b(?:r|d|f|fd|h|fh|fx|p)\d+\b`)

// fill puts registers into the holes: destinations differ from each other, sources are any.
func (e *entry) fill(pick func(n int) int) string {
	to := map[string]string{}
	taken := map[string]bool{}
	for _, h := range e.holes {
		n := pick(pool(h.prefix))
		for h.dest && taken[name(h.prefix, n)] {
			n = (n + 1) % pool(h.prefix)
		}
		to[h.name] = name(h.prefix, n)
		taken[to[h.name]] = taken[to[h.name]] || h.dest
	}
	head, args, _ := strings.Cut(e.text, " ")
	return head + " " + registerName.ReplaceAllStringFunc(args, func(s string) string { return to[s] })
}
