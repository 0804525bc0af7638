package ptx

import (
	"fmt"
	"sort"
	"sync"

	"kudzu/internal/ptx/isa"
)

// Index is what loading a module needs to know: names, kinds, linkage, layouts and places, without the bodies.
type Index struct {
	Text        string
	Version     isa.Version
	Target      Target
	AddressSize int
	Funcs       []*IndexFunc // in the order of the text, declarations included
	Files       []File

	vars    []*indexVar
	valued  bool // a variable has an initialiser
	aliases []Alias
	m       *Module
	byName  map[string]int // index into items
	items   []item

	linesOnce sync.Once
	lines     []uint32

	varsOnce sync.Once
	varsErr  error
	parsed   []*Var

	takenOnce sync.Once
	taken     []string // functions whose addresses are taken

	sharedOnce sync.Once
	shared     map[string]uint8 // what they reach

	pointersOnce sync.Once
	pointers     bool // it is large and calls through pointers
}

// IndexFunc is a kernel or function of the index. Func has the header; its Body is empty.
type IndexFunc struct {
	*Func
	Start, End int // bytes of the whole item
	Head       int // the end of its name and parameters, before any directives
	Open       int // the body's brace; -1 for a declaration
}

type indexVar struct {
	v           *Var
	start, head int // the declaration up to its first name
	end         int // of this variable, without the , or ; after it
}

// item is a module-level name.
type item struct {
	fn   *IndexFunc // the definition, or the first declaration
	decl *IndexFunc // a declaration, where there is one
	v    *indexVar
	of   string // an alias's aim
}

// IndexModule finds a module's kernels, functions and variables. Faults of headers and declarations are reported; bodies are
// not looked at (see Check).
func IndexModule(text string) (*Index, error) {
	p := newParser(text)
	p.index = &Index{Text: text, byName: map[string]int{}}
	p.module()
	if err := p.rep.Err(); err != nil {
		return nil, err
	}
	x := p.index
	x.Version, x.Target, x.AddressSize, x.Files, x.m = p.m.Version, p.m.Target, p.m.AddressSize, p.m.Files, p.m
	x.aliases = p.m.Aliases
	for _, a := range x.aliases {
		i, ok := x.byName[a.Name]
		if !ok {
			i = x.add(a.Name)
		}
		x.items[i].of = a.Of
	}
	return x, nil
}

func (x *Index) add(name string) int {
	x.items = append(x.items, item{})
	x.byName[name] = len(x.items) - 1
	return len(x.items) - 1
}

func (x *Index) addFunc(f *Func, start, head, open, end int) {
	fn := &IndexFunc{Func: f, Start: start, End: end, Head: head, Open: open}
	f.End = Pos(end)
	x.Funcs = append(x.Funcs, fn)
	i, ok := x.byName[f.Name]
	if !ok {
		i = x.add(f.Name)
	}
	it := &x.items[i]
	if open < 0 {
		it.decl = fn
	}
	if it.fn == nil || open >= 0 {
		it.fn = fn
	}
}

func (x *Index) addVar(v *Var, start, head, end int) {
	iv := &indexVar{v: v, start: start, head: head, end: end}
	x.vars = append(x.vars, iv)
	i, ok := x.byName[v.Name]
	if !ok {
		i = x.add(v.Name)
	}
	if old := x.items[i].v; old == nil || old.v.Linkage == Extern {
		x.items[i].v = iv
	}
}

// lineStarts are the offsets of the module's lines, found when somebody asks for a line: a launch that goes well never does.
func (x *Index) lineStarts() []uint32 {
	x.linesOnce.Do(func() { x.lines = lineStarts(x.Text) })
	return x.lines
}

// Func is the function or kernel called name (its definition, if there is one), or nil.
func (x *Index) Func(name string) *IndexFunc {
	if i, ok := x.byName[name]; ok {
		return x.items[i].fn
	}
	return nil
}

// Kernels are the defined entries, in the order of the text.
func (x *Index) Kernels() []*IndexFunc {
	var ks []*IndexFunc
	for _, f := range x.Funcs {
		if f.Kind == Entry && f.Open >= 0 {
			ks = append(ks, f)
		}
	}
	return ks
}

// Vars are the module's variables with their initialisers laid out, those of functions included, read when first asked for.
func (x *Index) Vars() ([]*Var, error) {
	x.varsOnce.Do(func() {
		if !x.valued {
			x.parsed = append(x.m.Vars[:len(x.m.Vars):len(x.m.Vars)], x.m.statics...)
			return
		}
		// Initialisers name variables and functions: read all declarations again; where bodies end is known.
		p := newParser(x.Text)
		p.ends = make(map[int]int, len(x.Funcs))
		for _, f := range x.Funcs {
			p.ends[f.Open] = f.End
		}
		p.index = &Index{Text: x.Text, byName: map[string]int{}}
		p.inits = true
		p.module()
		if x.varsErr = p.rep.Err(); x.varsErr != nil {
			return
		}
		for _, v := range p.m.Vars {
			if v.Init == nil {
				continue
			}
			for _, r := range v.Init.Relocs {
				if _, ok := p.m.syms[r.Symbol]; !ok {
					p.rep.Report(r.Pos, "Unknown symbol '%s'", r.Symbol)
				}
			}
		}
		x.varsErr = p.rep.Err()
		x.parsed = append(p.m.Vars, p.m.statics...)
	})
	return x.parsed, x.varsErr
}

// Check parses a kernel and what it reaches. Positions in the error are the module's.
func (x *Index) Check(kernel string) (*Module, error) {
	s, err := x.Slice(kernel)
	if err != nil {
		return nil, err
	}
	m, err := ParseModule(s.Text)
	if err != nil {
		return nil, s.Map(err)
	}
	return m, nil
}

// Map turns the positions of errors about the slice's text into the module's.
func (s *Slice) Map(err error) error {
	list, ok := err.(ErrorList)
	if !ok {
		return err
	}
	out := make(ErrorList, len(list))
	for i, e := range list {
		c := *e
		c.Line = s.Line(e.Line)
		c.Pos = s.pos(e.Pos)
		out[i] = &c
	}
	return out
}

// Line is the line of the module that the slice's line n came from.
func (s *Slice) Line(n int) int {
	i := sort.Search(len(s.parts), func(i int) bool { return s.parts[i].line > n }) - 1
	if i < 0 {
		return n
	}
	start, lines := uint32(s.parts[i].start), s.x.lineStarts()
	from := sort.Search(len(lines), func(i int) bool { return lines[i] > start })
	return from + n - s.parts[i].line
}

func (s *Slice) pos(pos Pos) Pos {
	i := sort.Search(len(s.parts), func(i int) bool { return s.parts[i].at > int(pos) }) - 1
	if i < 0 {
		return pos
	}
	return Pos(s.parts[i].start + int(pos) - s.parts[i].at)
}

// Slice is the text of one kernel and everything it reaches, a module of its own. It does not depend on where in the module
// the kernel stood, so that its hash is a cache key.
type Slice struct {
	Text  string
	x     *Index
	parts []part
}

// part is a piece of the slice: from its line and byte (line, at) on it is the module's text from the byte start on.
type part struct {
	line, at, start int
}

// errNoKernel says that a module has no such kernel.
type errNoKernel string

func (e errNoKernel) Error() string { return fmt.Sprintf("no kernel %q in the module", string(e)) }
