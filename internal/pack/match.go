package pack

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"kudzu/internal/cubin"
	"kudzu/internal/fatbin"
)

// Match is what a pack has for a module of machine code.
type Match struct {
	Pack    *Pack
	Kernels int               // of the module
	Found   int               // of them in the pack, with the same parameters
	Refused map[string]string // the others, and why

	module int
	rename map[string]string // names of the pack's text
}

// wanted is what a module of machine code has: layouts of its kernels and sizes of its variables, by name.
type wanted struct{ kernels, vars map[string]string }

// want reads the machine code of containers. Architectures have the same kernels; where one has more, or other parameters for
// itself, the newest counts.
func want(cs []*fatbin.Container) wanted {
	w := wanted{map[string]string{}, map[string]string{}}
	var files []*fatbin.Entry
	for _, c := range cs {
		for i := range c.Entries {
			if c.Entries[i].Kind == fatbin.ELF {
				files = append(files, &c.Entries[i])
			}
		}
	}
	slices.SortStableFunc(files, func(a, b *fatbin.Entry) int { return a.SM - b.SM })
	if len(files) == 0 {
		return w
	}
	newest := files[len(files)-1].SM
	for _, e := range files {
		if e.SM != newest { // unpacking all of them takes long
			continue
		}
		if b, err := e.Text(); err == nil {
			w.file(b)
		}
	}
	return w
}

func (w wanted) file(b []byte) {
	f, err := cubin.Decode(b)
	if err != nil {
		return
	}
	for _, k := range f.Kernels {
		w.kernels[k.Name] = layout(k.Params).String()
	}
	for _, v := range f.Vars {
		w.vars[v.Name] = strconv.FormatUint(v.Size, 10)
	}
}

// Match compares the machine code of containers with a pack.
func (p *Pack) Match(cs []*fatbin.Container) *Match { return p.match(want(cs)) }

// MatchFile is Match for one file of machine code.
func (p *Pack) MatchFile(b []byte) *Match {
	w := wanted{map[string]string{}, map[string]string{}}
	w.file(b)
	return p.match(w)
}

func (p *Pack) match(w wanted) *Match {
	m := &Match{Pack: p, Kernels: len(w.kernels), Refused: map[string]string{}, rename: map[string]string{}}
	var equal []int
	if m.module, equal = p.best(w); m.module < 0 {
		for name := range w.kernels {
			m.Refused[name] = "it is not in the pack"
		}
		return m
	}
	has := p.index.modules[m.module]
	asked := byKey(w.kernels)
	for name, layout := range w.kernels {
		s, why := pick(p.inModule(m.module, Key(name)), name, layout, asked[Key(name)])
		if why == "" && s.name != name && internal(Key(name)) {
			why = p.elsewhere(equal, Key(name), layout)
		}
		if why != "" {
			m.Refused[name] = why
			continue
		}
		m.Found++
		m.rename[s.name] = name
	}
	hide(has.kernels, m.rename, func(string) bool { return true })
	m.variables(w)
	return m
}

// byKey are the layouts of names that share a key.
func byKey(names map[string]string) map[string][]string {
	out := map[string][]string{}
	for name, layout := range names {
		out[Key(name)] = append(out[Key(name)], layout)
	}
	return out
}

// pick is the one of symbols with the same key that a name means, or why there is none. The same name is the same symbol. Else
// there has to be one with the layout, and one name that asks for it: two files of one name in different folders have the same keys.
func pick(have []symbol, name, layout string, asked []string) (symbol, string) {
	var fit []symbol
	for _, s := range have {
		if s.name == name {
			if s.layout != layout {
				return symbol{}, other(layout, s.layout)
			}
			return s, ""
		}
		if s.layout == layout {
			fit = append(fit, s)
		}
	}
	same := 0
	for _, l := range asked {
		if l == layout {
			same++
		}
	}
	switch {
	case len(have) == 0:
		return symbol{}, "it is not in the pack's module"
	case len(fit) == 0:
		return symbol{}, other(layout, have[0].layout)
	case len(fit) > 1:
		return symbol{}, "the pack's module has several that differ from it only in hashes"
	case same > 1:
		return symbol{}, "the module has several that differ only in hashes"
	}
	return fit[0], ""
}

func other(asked, has string) string {
	return fmt.Sprintf("its parameters are [%s], in the pack [%s]", asked, has)
}

// internal says that a key is of a name of internal linkage: another file of the same name may have it and mean something else.
// The rest of the names mean one thing in a program.
func internal(key string) bool {
	return strings.Contains(key, "{_GLOBAL__N__") || strings.Contains(key, "{_INTERNAL_")
}

// elsewhere says why a kernel that more than one of equal modules has is refused; empty if only one has it.
func (p *Pack) elsewhere(equal []int, key, layout string) string {
	n := 0
	for _, i := range equal {
		if slices.ContainsFunc(p.inModule(i, key), func(s symbol) bool { return s.layout == layout }) {
			n++
		}
	}
	if n < 2 {
		return ""
	}
	return fmt.Sprintf("%d modules of the pack have it, and nothing tells which is meant", n)
}

// score is how well a module of the pack fits.
type score struct{ kernels, exact, vars, more int }

func (a score) compare(b score) int {
	return cmp.Or(a.kernels-b.kernels, a.exact-b.exact, a.vars-b.vars, b.more-a.more)
}

// best is the module with most of the kernels, then with most of them under the same name, then with most of the variables, then with
// the fewest kernels that were not asked for; -1 if none has any. equal are all that are as good and not the same text.
func (p *Pack) best(w wanted) (best int, equal []int) {
	count := map[int]*score{}
	for name, has := range w.kernels {
		seen := map[int]bool{}
		for _, at := range p.byKey[Key(name)] {
			s := p.index.modules[at.module].kernels[at.kernel]
			if s.layout != has {
				continue
			}
			if count[at.module] == nil {
				count[at.module] = &score{}
			}
			if !seen[at.module] {
				seen[at.module] = true
				count[at.module].kernels++
			}
			if s.name == name {
				count[at.module].exact++
			}
		}
	}
	vars := byKey(w.vars)
	best = -1
	for _, i := range slices.Sorted(maps.Keys(count)) {
		c := count[i]
		for _, v := range p.index.modules[i].vars {
			if slices.Contains(vars[Key(v.name)], v.layout) {
				c.vars++
			}
		}
		c.more = len(p.index.modules[i].kernels) - c.kernels
		switch {
		case best < 0 || c.compare(*count[best]) > 0:
			best, equal = i, []int{i}
		case c.compare(*count[best]) == 0 && !p.sameText(best, i):
			equal = append(equal, i)
		}
	}
	return best, equal
}

// sameText says that two modules are one, which is twice in the pack.
func (p *Pack) sameText(i, j int) bool {
	a, b := p.index.modules[i], p.index.modules[j]
	if a.size != b.size || a.packed != b.packed || !slices.Equal(a.kernels, b.kernels) {
		return false
	}
	x, err := p.text(i)
	if err != nil {
		return false
	}
	y, err := p.text(j)
	return err == nil && x == y
}

// inModule are a module's kernels of a key.
func (p *Pack) inModule(module int, key string) (out []symbol) {
	for _, at := range p.byKey[key] {
		if at.module == module {
			out = append(out, p.index.modules[module].kernels[at.kernel])
		}
	}
	return out
}

// variables renames those that are the same, so that the program finds its own; one that asks for another finds none.
func (m *Match) variables(w wanted) {
	vars := m.Pack.index.modules[m.module].vars
	have, asked := map[string][]symbol{}, byKey(w.vars)
	for _, s := range vars {
		have[Key(s.name)] = append(have[Key(s.name)], s)
	}
	for name, size := range w.vars {
		if s, why := pick(have[Key(name)], name, size, asked[Key(name)]); why == "" {
			m.rename[s.name] = name
		}
	}
	hide(vars, m.rename, func(name string) bool { _, ok := w.vars[name]; return ok })
}

// hide takes the names from symbols that have got none: what the program reaches by a name is what was compared, or nothing. Kernels
// that are only in machine code that was not read were not compared, so all of them go.
func hide(symbols []symbol, rename map[string]string, which func(string) bool) {
	for _, s := range symbols {
		if _, known := rename[s.name]; !known && which(s.name) {
			rename[s.name] = s.name + "$other"
		}
	}
}

// noteStart begins the first line of a text that a pack made.
const noteStart = "// kudzu pack: "

// Text is the pack's text under the names of the module; false if it has nothing for it.
func (m *Match) Text() (string, bool, error) {
	if m.Found == 0 {
		return "", false, nil
	}
	text, err := m.Pack.text(m.module)
	if err != nil {
		return "", false, fmt.Errorf("pack %s: %w", m.Pack.Name, err)
	}
	note := fmt.Sprintf("%s%s\t%d of %d kernels\n", noteStart, m.Pack.Name, m.Found, m.Kernels)
	return note + renamed(text, m.rename), true, nil
}

// Note is what the first line of a text says about the pack that it is from: its name and what it has.
func Note(text string) (name, has string, ok bool) {
	rest, ok := strings.CutPrefix(text, noteStart)
	if !ok {
		return "", "", false
	}
	line, _, _ := strings.Cut(rest, "\n")
	name, has, ok = strings.Cut(line, "\t")
	return name, has, ok
}

// renamed is a text with other names.
func renamed(text string, names map[string]string) string {
	for from, to := range names {
		if from == to {
			delete(names, from)
		}
	}
	if len(names) == 0 {
		return text
	}
	shortest := len(text)
	for from := range names {
		shortest = min(shortest, len(from))
	}
	var out strings.Builder
	out.Grow(len(text) + len(text)/16)
	done := 0
	for i := 0; i < len(text); {
		if !inName(text[i]) {
			i++
			continue
		}
		start := i
		for i < len(text) && inName(text[i]) {
			i++
		}
		if i-start < shortest {
			continue
		}
		if to, ok := names[text[start:i]]; ok {
			out.WriteString(text[done:start])
			out.WriteString(to)
			done = i
		}
	}
	out.WriteString(text[done:])
	return out.String()
}

func inName(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || isDigit(c) || c == '_' || c == '$'
}
