package ptx

import (
	"fmt"
	"slices"
	"strings"
)

// Part is one module to be linked.
type Part struct {
	Name string // for messages
	Text string
}

// LinkError is why modules do not make one: a name that is defined twice, a function that another module declares otherwise, or
// modules that cannot be together.
type LinkError struct {
	Part, Msg string
	Prototype bool // declared otherwise; Msg says all
}

func (e *LinkError) Error() string {
	if e.Prototype {
		return e.Msg
	}
	return e.Part + ": " + e.Msg
}

// Link makes one module of several. A declaration is resolved by the definition in another module; of weak definitions
// one is kept; names that are a module's own are changed where another module has them too. Line information is dropped.
func Link(parts []Part) (string, error) {
	if len(parts) == 1 {
		return parts[0].Text, nil
	}
	l := &linker{defs: map[string]definition{}, names: map[string]int{}, declared: map[string]bool{}}
	for _, p := range parts {
		x, err := IndexModule(p.Text)
		if err != nil {
			return "", fmt.Errorf("%s: %w", p.Name, err)
		}
		l.mods = append(l.mods, linkModule{Index: x, name: p.Name, rename: map[string]string{}})
		for name := range x.byName {
			l.names[name]++
		}
		if x.AddressSize != l.mods[0].AddressSize {
			return "", &LinkError{Part: p.Name, Msg: fmt.Sprintf("%d-bit addresses, %s has %d", x.AddressSize, parts[0].Name, l.mods[0].AddressSize)}
		}
	}
	for i := range l.mods {
		if err := l.collect(i); err != nil {
			return "", err
		}
	}
	for i := range l.mods {
		if err := l.agree(i); err != nil {
			return "", err
		}
	}
	return l.write(), nil
}

// agree compares what a module declares with what another defines, as the vendor's linker does: the number of parameters and results, and
// of each its size, whether it is an array, and whether it is a float.
func (l *linker) agree(i int) error {
	m := &l.mods[i]
	for _, f := range m.Funcs {
		d, have := l.defs[f.Name]
		if f.Kind == Entry || f.Open >= 0 || !have || d.mod == i {
			continue
		}
		def := &l.mods[d.mod]
		it := &def.items[def.byName[f.Name]]
		if it.fn == nil || it.of != "" || sameShapes(f.Results, it.fn.Results) && sameShapes(f.Params, it.fn.Params) {
			continue
		}
		last := l.mods[max(i, d.mod)].name
		return &LinkError{Part: last, Prototype: true, Msg: fmt.Sprintf("Prototype doesn't match for '%s' in '%s', first defined in '%s'", f.Name, last, def.name)}
	}
	return nil
}

func sameShapes(a, b []*Var) bool {
	return slices.EqualFunc(a, b, func(x, y *Var) bool {
		mixed := x.Type.IsFloat() && y.Type.IsInt() || y.Type.IsFloat() && x.Type.IsInt()
		return x.Size == y.Size && len(x.Dims) == len(y.Dims) && !mixed
	})
}

type linkModule struct {
	*Index
	name   string
	rename map[string]string
}

// definition says which module's definition of a name counts.
type definition struct {
	mod  int
	weak bool
}

type linker struct {
	mods     []linkModule
	names    map[string]int        // in how many modules a name is
	defs     map[string]definition // visible and weak names
	declared map[string]bool       // written already, for what nobody defines
	sb       strings.Builder
}

// bare are the mnemonics that stand alone, which a name could be taken for.
var bare = map[string]bool{"ret": true, "exit": true, "trap": true, "brkpt": true, "bra": true, "call": true, "nop": true}

// collect notes what a module defines.
func (l *linker) collect(i int) error {
	m := &l.mods[i]
	for name, k := range m.byName {
		it := &m.items[k]
		linkage, defined := Internal, true
		switch {
		case it.v != nil:
			linkage, defined = it.v.v.Linkage, it.v.v.Linkage != Extern
		case it.of != "":
			linkage = Visible
			if it.fn != nil {
				linkage = it.fn.Linkage
			}
		default:
			linkage, defined = it.fn.Linkage, it.fn.Open >= 0
			if it.fn.Kind == Entry && linkage == Internal {
				linkage = Visible // programs ask for kernels by name
			}
		}
		switch {
		case !defined:
		case linkage == Internal:
			if l.names[name] > 1 {
				if bare[name] {
					return &LinkError{Part: m.name, Msg: fmt.Sprintf("cannot tell the name '%s' from an instruction", name)}
				}
				m.rename[name] = fmt.Sprintf("%s$L%d", name, i)
			}
		default:
			weak := linkage == Weak || linkage == Common
			old, have := l.defs[name]
			switch {
			case have && !old.weak && !weak:
				return &LinkError{Part: m.name, Msg: fmt.Sprintf("Multiple definition of '%s' in %s, first defined in %s", name, m.name, l.mods[old.mod].name)}
			case !have || old.weak && !weak:
				l.defs[name] = definition{i, weak}
			}
		}
	}
	return nil
}

// mine reports whether a module's item of that name goes into the result.
func (l *linker) mine(i int, name string, defined bool) bool {
	if l.mods[i].rename[name] != "" {
		return true
	}
	d, have := l.defs[name]
	switch {
	case have:
		return d.mod == i && defined
	case defined:
		return true // its own, and nobody else has the name
	case l.declared[name]:
		return false
	}
	l.declared[name] = true // nobody defines it: one declaration
	return true
}

func (l *linker) write() string {
	best := &l.mods[0]
	version := best.Version
	for i := range l.mods {
		m := &l.mods[i]
		if m.Target.SM > best.Target.SM || m.Target.SM == best.Target.SM && m.Target.Suffix > best.Target.Suffix {
			best = m
		}
		version = max(version, m.Version)
	}
	fmt.Fprintf(&l.sb, ".version %d.%d\n.target %s\n.address_size %d\n", version.Major(), version.Minor(), best.Target, best.AddressSize)
	l.prototypes()
	for i := range l.mods {
		m := &l.mods[i]
		for _, v := range m.vars {
			if m.items[m.byName[v.v.Name]].v == v && l.mine(i, v.v.Name, v.v.Linkage != Extern) {
				l.put(i, m.Text[v.start:v.head]+" ")
				l.put(i, strings.TrimRight(m.Text[v.v.Pos:v.end], " \t\r\n")+";\n")
			}
		}
	}
	for _, entries := range []bool{false, true} {
		for i := range l.mods {
			for _, f := range l.mods[i].Funcs {
				if f.Open >= 0 && (f.Kind == Entry) == entries && l.mine(i, f.Name, true) {
					l.put(i, l.mods[i].Text[f.Start:f.End]+"\n")
				}
			}
		}
	}
	for i := range l.mods {
		for _, a := range l.mods[i].aliases {
			if l.mine(i, a.Name, true) {
				l.put(i, ".alias "+a.Name+", "+a.Of+";\n")
			}
		}
	}
	return l.sb.String()
}

// prototypes declares every function first: any module may call those of any other.
func (l *linker) prototypes() {
	for i := range l.mods {
		m := &l.mods[i]
		seen := map[string]bool{}
		for _, f := range m.Funcs {
			it := &m.items[m.byName[f.Name]]
			defined := it.of != "" || it.fn.Open >= 0
			if f.Kind == Entry || seen[f.Name] || !l.mine(i, f.Name, defined) {
				continue
			}
			seen[f.Name] = true
			end := f.End
			if f.Open >= 0 {
				end = f.Open
			}
			l.put(i, strings.TrimRight(strings.TrimRight(m.Text[f.Start:end], " \t\r\n"), ";")+"\n;\n")
		}
	}
}

// put writes a piece of a module with its names changed and its line information left out.
func (l *linker) put(i int, text string) {
	rename := l.mods[i].rename
	from := 0
	word := func(a, b int) {
		if to := rename[text[a:b]]; to != "" && !(b+1 < len(text) && text[b] == '.' && class[text[b+1]]&cStart != 0) {
			l.sb.WriteString(text[from:a])
			l.sb.WriteString(to)
			from = b
		}
	}
	for k := 0; k < len(text); {
		ch := text[k]
		switch {
		case ch == '/':
			j := skipComment(text, k)
			if j < 0 {
				j = len(text)
			}
			k = j
		case ch == '"':
			k = skipString(text, k)
		case ch == '.':
			if strings.HasPrefix(text[k:], ".loc") && k+4 < len(text) && class[text[k+4]]&cSpace != 0 {
				l.sb.WriteString(text[from:k])
				if n := strings.IndexByte(text[k:], '\n'); n >= 0 {
					k += n
				} else {
					k = len(text)
				}
				from = k
				continue
			}
			k = dotEnd(text, k)
		case ch == '%' || class[ch]&cStart != 0:
			j := k + 1
			for j < len(text) && class[text[j]]&cIdent != 0 {
				j++
			}
			word(k, j)
			k = j
		case class[ch]&cDigit != 0:
			k = numberEnd(text, k)
		default:
			k++
		}
	}
	l.sb.WriteString(text[from:])
}

// LimitRegisters gives every kernel that does not say how many registers it may have the limit n: .maxnreg.
func LimitRegisters(text string, n int) (string, error) {
	x, err := IndexModule(text)
	if err != nil {
		return "", err
	}
	var sb strings.Builder
	at := 0
	for _, f := range x.Kernels() {
		if slices.ContainsFunc(f.Perf, func(d Directive) bool { return d.Name == "maxnreg" }) {
			continue
		}
		sb.WriteString(text[at:f.Open])
		fmt.Fprintf(&sb, ".maxnreg %d ", n)
		at = f.Open
	}
	sb.WriteString(text[at:])
	return sb.String(), nil
}
