package pack

import (
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
	m.module = p.best(w.kernels)
	for name, has := range w.kernels {
		if m.module < 0 {
			m.Refused[name] = "it is not in the pack"
			continue
		}
		s, ok := p.kernel(m.module, Key(name), has)
		switch {
		case !ok:
			m.Refused[name] = "it is not in the pack's module"
		case s.layout != has:
			m.Refused[name] = fmt.Sprintf("its parameters are [%s], in the pack [%s]", has, s.layout)
			m.rename[s.name] = s.name + "$other"
		default:
			m.Found++
			m.rename[s.name] = name
		}
	}
	if m.module >= 0 {
		m.variables(w)
	}
	m.hideOthers(w)
	return m
}

// best is the module with most of the kernels; -1 if none has any.
func (p *Pack) best(kernels map[string]string) int {
	count := map[int]int{}
	for name, has := range kernels {
		seen := map[int]bool{}
		for _, at := range p.byKey[Key(name)] {
			if !seen[at.module] && p.index.modules[at.module].kernels[at.kernel].layout == has {
				seen[at.module] = true
				count[at.module]++
			}
		}
	}
	best := -1
	for _, i := range slices.Sorted(maps.Keys(count)) {
		if best < 0 || count[i] > count[best] {
			best = i
		}
	}
	return best
}

// kernel is the module's kernel of a key, with the layout if there is one that has it.
func (p *Pack) kernel(module int, key, has string) (symbol, bool) {
	var found symbol
	ok := false
	for _, at := range p.byKey[key] {
		if at.module != module {
			continue
		}
		s := p.index.modules[module].kernels[at.kernel]
		if s.layout == has {
			return s, true
		}
		found, ok = s, true
	}
	return found, ok
}

// variables renames those that are the same, so that the program finds its own.
func (m *Match) variables(w wanted) {
	byKey := map[string]symbol{}
	for _, s := range m.Pack.index.modules[m.module].vars {
		byKey[Key(s.name)] = s
	}
	for name, size := range w.vars {
		if s, ok := byKey[Key(name)]; ok && s.layout == size {
			m.rename[s.name] = name
		}
	}
}

// hideOthers takes their names from kernels of the pack that the module has under the same name and that were refused, or does not
// have: what the program asks for by its name is what was compared, or nothing.
func (m *Match) hideOthers(w wanted) {
	if m.module < 0 {
		return
	}
	for _, s := range m.Pack.index.modules[m.module].kernels {
		if _, known := m.rename[s.name]; known {
			continue
		}
		if _, asked := w.kernels[s.name]; asked {
			m.rename[s.name] = s.name + "$other"
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
