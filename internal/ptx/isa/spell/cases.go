package spell

import (
	"strings"

	"kudzu/internal/ptx/isa"
)

// rng is a small deterministic generator: the cases must not change from run to run.
type rng uint64

func (r *rng) next(n int) int {
	*r = *r*6364136223846793005 + 1442695040888963407
	return int(uint64(*r)>>33) % n
}

// choices are the words a slot may hold; 0 where it may be left out.
func choices(s *isa.Slot) []isa.Mod {
	if s.Optional {
		return append([]isa.Mod{0}, s.Words...)
	}
	return s.Words
}

// minimal is the form's shortest spelling.
func minimal(f *isa.Form) []isa.Mod {
	slots := f.Slots()
	mods := make([]isa.Mod, len(slots))
	for i := range slots {
		mods[i] = choices(&slots[i])[0]
	}
	return mods
}

// Pairwise covers every pair of words of two slots, up to limit spellings.
func Pairwise(f *isa.Form, limit int) [][]isa.Mod {
	slots := f.Slots()
	var free []int
	for i := range slots {
		if len(choices(&slots[i])) > 1 {
			free = append(free, i)
		}
	}
	seen := map[string]bool{}
	var all [][]isa.Mod
	add := func(mods []isa.Mod) {
		key := Spelling(f, mods)
		if !seen[key] {
			seen[key] = true
			all = append(all, mods)
		}
	}
	add(minimal(f))
	r := rng(len(f.Syntax))*2654435761 + rng(f.Op)
	for _, i := range free { // every word once, the rest minimal
		for _, w := range choices(&slots[i]) {
			m := minimal(f)
			m[i] = w
			add(m)
		}
	}
	var pairs [][]isa.Mod
	for a, i := range free {
		for _, j := range free[a+1:] {
			for _, wi := range choices(&slots[i]) {
				for _, wj := range choices(&slots[j]) {
					m := minimal(f)
					for _, k := range free {
						c := choices(&slots[k])
						m[k] = c[r.next(len(c))]
					}
					m[i], m[j] = wi, wj
					pairs = append(pairs, m)
				}
			}
		}
	}
	for len(pairs) > 0 && len(all) < limit {
		i := r.next(len(pairs))
		add(pairs[i])
		pairs[i] = pairs[len(pairs)-1]
		pairs = pairs[:len(pairs)-1]
	}
	if len(all) > limit {
		for i := range all { // keep the first, shuffle the rest, cut
			if i > 0 {
				j := 1 + r.next(len(all)-1)
				all[i], all[j] = all[j], all[i]
			}
		}
		all = all[:limit]
	}
	return all
}

// Cases are the lines to judge for a form: spellings, operand shapes, and mutations.
func Cases(f *isa.Form, limit int) []Case {
	seen := map[string]bool{}
	var all []Case
	add := func(line string, mutated bool) {
		if !seen[line] {
			seen[line] = true
			all = append(all, Case{line, f, mutated})
		}
	}
	for i, mods := range Pairwise(f, limit) {
		add(Line(f, mods, i%2 == 1, -1), false)
	}
	base := minimal(f)
	for i := range f.Operands() {
		add(Line(f, base, true, i), false)
	}
	for _, line := range mutations(f, base) {
		add(line, true)
	}
	return all
}

// mutations are spellings and operands next to the legal ones.
func mutations(f *isa.Form, base []isa.Mod) []string {
	var out []string
	slots := f.Slots()
	for i := range slots { // a word left out, a word twice
		if slots[i].Optional {
			continue
		}
		m := append([]isa.Mod{}, base...)
		m[i] = 0
		if n := len(slots); n < 12 {
			out = append(out, strings.Replace(Line(f, base, false, -1), Spelling(f, base), Spelling(f, m), 1))
		}
	}
	line := Line(f, base, false, -1)
	head, args, _ := strings.Cut(strings.TrimSuffix(line, ";"), " ")
	for _, w := range []string{".ftz", ".sat", ".rn", ".v2", ".global", ".f32", ".u16"} {
		out = append(out, head+w+" "+args+";")
	}
	list := splitArgs(args)
	if len(list) > 0 && len(list) <= 6 {
		out = append(out, head+space(list[1:])+";", head+space(append(append([]string{}, list...), "r9"))+";")
	}
	for i := range list { // operands of other types
		if len(list) > 6 || strings.HasPrefix(list[i], "[") {
			continue
		}
		for _, other := range []string{"r7", "d7", "h7", "f7", "fd7", "p7", "3", "2.5", "fx7", "_"} {
			l := append([]string{}, list...)
			l[i] = other
			out = append(out, head+space(l)+";")
		}
	}
	return out
}

// splitArgs cuts at commas outside braces and brackets.
func splitArgs(args string) []string {
	if strings.TrimSpace(args) == "" {
		return nil
	}
	var out []string
	depth, start := 0, 0
	for i := range len(args) {
		switch args[i] {
		case '{', '[', '(':
			depth++
		case '}', ']', ')':
			depth--
		case ',':
			if depth == 0 {
				out = append(out, strings.TrimSpace(args[start:i]))
				start = i + 1
			}
		}
	}
	return append(out, strings.TrimSpace(args[start:]))
}

// Product is every spelling of a form: each slot with each of its words. Most forms with types for both ends have far more
// than the language allows; the parser and the checker decide.
func Product(f *isa.Form) [][]isa.Mod {
	all := [][]isa.Mod{nil}
	slots := f.Slots()
	for i := range slots {
		var next [][]isa.Mod
		for _, m := range all {
			for _, w := range choices(&slots[i]) {
				next = append(next, append(append([]isa.Mod{}, m...), w))
			}
		}
		all = next
	}
	return all
}
