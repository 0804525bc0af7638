package ptx

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// TakenPragma begins the line of a slice that lists the functions whose addresses the whole module takes.
const TakenPragma = "kudzu address taken: "

// Slice cuts out a kernel with everything it reaches: functions it calls or takes the address of, module variables, and what
// their initialisers name. Functions come before their callers; a cycle is broken by declarations.
func (x *Index) Slice(kernel string) (*Slice, error) {
	f := x.Func(kernel)
	if f == nil || f.Open < 0 {
		return nil, errNoKernel(kernel)
	}
	c := &cutter{x: x, state: make(map[string]uint8), proto: map[string]bool{}}
	c.visit(kernel)
	pointers := c.pointers()
	if pointers {
		// A pointer may come from any kernel of the module: all functions whose addresses are taken can be called.
		for _, name := range x.addressTaken() {
			if c.state[name] == 0 {
				c.visit(name)
			}
		}
	}
	var b sliceWriter
	b.x = x
	b.header(c.files)
	if pointers {
		b.text(".pragma \"" + TakenPragma + strings.Join(x.addressTaken(), ",") + "\";\n")
	}
	for _, name := range c.order { // declarations for cycles, and for initialisers that name functions
		if c.proto[name] {
			b.prototype(x.Func(name))
		}
	}
	b.rest(c, nil)
	return &Slice{Text: b.sb.String(), x: x, parts: b.parts}, nil
}

// rest writes what was visited, but for variables that are there already. A table of functions and the functions that name the table
// have no order among each other: variables come first.
func (b *sliceWriter) rest(c *cutter, written []string) {
	x := b.x
	for _, name := range c.order {
		if it := &x.items[x.byName[name]]; it.v != nil && !slices.Contains(written, name) {
			b.variable(it.v)
		}
	}
	for _, name := range c.order {
		it := &x.items[x.byName[name]]
		switch {
		case it.v != nil:
		case it.of != "":
			if it.decl != nil {
				b.piece(it.decl.Start, it.decl.End)
			}
			b.text(".alias " + name + ", " + it.of + ";\n")
		default:
			b.piece(it.fn.Start, it.fn.End)
		}
	}
}

// cutter walks what a kernel reaches, depth first in the order of first mention.
type cutter struct {
	x     *Index
	state map[string]uint8 // 1: being visited, 2: done
	order []string         // callees and variables before those who name them
	proto map[string]bool  // functions that need a declaration first
	files map[int]bool     // of .loc

	// lazy: functions that variables name are not visited, only declared.
	lazy     bool
	declared []string
}

func (c *cutter) visit(name string) {
	// An explicit stack: a chain of a million functions must not exhaust ours.
	type frame struct {
		name string
		refs []string
		next int
	}
	stack := []frame{{name: name, refs: c.refs(name)}}
	c.state[name] = 1
	for len(stack) > 0 {
		f := &stack[len(stack)-1]
		if f.next == len(f.refs) {
			c.state[f.name] = 2
			c.order = append(c.order, f.name)
			stack = stack[:len(stack)-1]
			continue
		}
		r := f.refs[f.next]
		f.next++
		it := &c.x.items[c.x.byName[r]]
		if c.lazy && it.fn != nil && c.x.items[c.x.byName[f.name]].v != nil {
			if !slices.Contains(c.declared, r) {
				c.declared = append(c.declared, r)
			}
			continue
		}
		if it.fn != nil && c.x.items[c.x.byName[f.name]].v != nil {
			c.proto[r] = true
		}
		switch c.state[r] {
		case 0:
			c.state[r] = 1
			stack = append(stack, frame{name: r, refs: c.refs(r)})
		case 1:
			if it.fn != nil {
				c.proto[r] = true
			}
		}
	}
}

// pointers reports a call through a pointer in what was visited: it needs a prototype, or a function's as one.
func (c *cutter) pointers() bool {
	for _, name := range c.order {
		it := &c.x.items[c.x.byName[name]]
		if it.fn != nil && it.fn.Open >= 0 && strings.Contains(c.x.Text[it.fn.Open:it.fn.End], ".callprototype") {
			return true
		}
	}
	return false
}

// addressTaken lists the device functions that initialisers and instructions other than calls name, in the module's order.
func (x *Index) addressTaken() []string {
	x.takenOnce.Do(func() {
		c := &cutter{x: x}
		taken := map[string]bool{}
		for i := range x.items {
			it := &x.items[i]
			switch {
			case it.v != nil:
				for _, r := range c.mentions(x.Text[it.v.v.Pos:it.v.end], "") {
					taken[r] = true
				}
			case it.fn != nil && it.fn.Open >= 0:
				for _, st := range strings.Split(withoutComments(x.Text[it.fn.Open:it.fn.End]), ";") {
					if !isCall(st) {
						for _, r := range c.mentions(st, "") {
							taken[r] = true
						}
					}
				}
			}
		}
		for i := range x.items {
			if fn := x.items[i].fn; fn != nil && fn.Kind == DeviceFunc && fn.Open >= 0 && taken[fn.Name] {
				x.taken = append(x.taken, fn.Name)
			}
		}
	})
	return x.taken
}

func withoutComments(text string) string {
	if !strings.Contains(text, "/") {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		j := i
		for j < len(text) && text[j] != '/' && text[j] != '"' {
			j++
		}
		b.WriteString(text[i:j])
		if j == len(text) {
			break
		}
		next := j + 1
		if text[j] == '"' {
			next = skipString(text, j)
		} else if k := skipComment(text, j); k > j {
			next = k
		}
		b.WriteByte(' ')
		i = max(next, j+1)
	}
	return b.String()
}

// isCall reports a statement that is a call: behind braces, labels and a guard.
func isCall(st string) bool {
	for {
		st = strings.TrimLeft(st, " \t\r\n{}")
		if strings.HasPrefix(st, "@") {
			_, rest, ok := strings.Cut(st, " ")
			if !ok {
				return false
			}
			st = rest
			continue
		}
		if i := strings.IndexByte(st, ':'); i > 0 && !strings.ContainsAny(st[:i], " \t\r\n.,(") {
			st = st[i+1:]
			continue
		}
		return strings.HasPrefix(st, "call") && len(st) > 4 && (st[4] == '.' || class[st[4]]&cSpace != 0)
	}
}

// refs are the module-level names that an item's text mentions, in order, each once.
func (c *cutter) refs(name string) []string {
	it := &c.x.items[c.x.byName[name]]
	switch {
	case it.v != nil:
		return c.mentions(c.x.Text[it.v.v.Pos:it.v.end], name)
	case it.of != "":
		if _, ok := c.x.byName[it.of]; ok {
			return []string{it.of}
		}
		return nil
	case it.fn.Open >= 0:
		return c.mentions(c.x.Text[it.fn.Open:it.fn.End], name)
	}
	return nil
}

// mentions scans text for identifiers that are module-level names. A local of the same name makes the slice larger than it
// must be, never wrong.
func (c *cutter) mentions(text, self string) []string {
	var refs []string
	seen := map[string]bool{}
	for i := 0; i < len(text); {
		ch := text[i]
		switch {
		case ch == '/':
			j := skipComment(text, i)
			if j < 0 {
				return refs
			}
			i = j
		case ch == '"':
			i = skipString(text, i)
		case ch == '%': // a register: never a module-level name unless declared so
			j := i + 1
			for j < len(text) && class[text[j]]&cIdent != 0 {
				j++
			}
			i = c.mention(text, i, j, self, seen, &refs)
		case ch == '.':
			if strings.HasPrefix(text[i:], ".loc") && i+4 < len(text) && class[text[i+4]]&cSpace != 0 {
				c.file(text[i+4:])
			}
			i = dotEnd(text, i)
		case class[ch]&cStart != 0:
			j := i + 1
			for j < len(text) && class[text[j]]&cIdent != 0 {
				j++
			}
			i = c.mention(text, i, j, self, seen, &refs)
		case class[ch]&cDigit != 0:
			i = numberEnd(text, i)
		default:
			i++
		}
	}
	return refs
}

func (c *cutter) mention(text string, i, j int, self string, seen map[string]bool, refs *[]string) int {
	w := text[i:j]
	if k, ok := c.x.byName[w]; ok && !seen[w] {
		seen[w] = true
		if w != self || c.x.items[k].fn != nil && c.x.items[k].fn.Kind == DeviceFunc {
			*refs = append(*refs, w)
		}
	}
	return j
}

func (c *cutter) file(text string) {
	i := 0
	for i < len(text) && class[text[i]]&cSpace != 0 {
		i++
	}
	n := 0
	for ; i < len(text) && isDec(text[i]) && n < 1<<20; i++ {
		n = n*10 + int(text[i]-'0')
	}
	if c.files == nil {
		c.files = map[int]bool{}
	}
	c.files[n] = true
}

// sliceWriter builds the slice's text with its line map.
type sliceWriter struct {
	x     *Index
	sb    strings.Builder
	line  int
	parts []part
}

func (b *sliceWriter) header(files map[int]bool) {
	x := b.x
	b.line = 1
	b.text(fmt.Sprintf(".version %d.%d\n.target %s\n.address_size %d\n", x.Version.Major(), x.Version.Minor(), x.Target, x.AddressSize))
	var used []File
	for _, f := range x.Files {
		if files[f.Index] {
			used = append(used, f)
		}
	}
	sort.Slice(used, func(i, j int) bool { return used[i].Index < used[j].Index })
	for i, f := range used {
		if i == 0 || used[i-1].Index != f.Index {
			b.text(fmt.Sprintf(".file %d \"%s\"\n", f.Index, f.Name))
		}
	}
}

func (b *sliceWriter) text(s string) {
	b.sb.WriteString(s)
	b.line += strings.Count(s, "\n")
}

// piece copies a part of the module's text and notes where it came from.
func (b *sliceWriter) piece(start, end int) {
	b.note(start)
	b.text(b.x.Text[start:end])
	b.text("\n")
}

func (b *sliceWriter) note(start int) {
	b.parts = append(b.parts, part{line: b.line, at: b.sb.Len(), start: start})
}

// variable copies one variable's declaration. One of several in a statement gets the statement's head, then itself.
func (b *sliceWriter) variable(v *indexVar) {
	head := v.start
	b.note(head)
	text := b.x.Text
	headEnd := v.head
	b.text(text[head:headEnd])
	if int(v.v.Pos) != headEnd {
		b.note(int(v.v.Pos))
	}
	b.text(strings.TrimRight(text[v.v.Pos:v.end], " \t\r\n"))
	b.text(";\n")
}

// prototype declares a function or kernel ahead of its definition.
func (b *sliceWriter) prototype(f *IndexFunc) {
	if f.Open < 0 {
		return
	}
	end := f.Open
	if f.Kind == Entry {
		end = f.Head // its directives are the definition's
	}
	b.note(f.Start)
	b.text(strings.TrimRight(b.x.Text[f.Start:end], " \t\r\n"))
	b.text("\n;\n")
}

// String is the target as written: "sm_90a, texmode_independent".
func (t Target) String() string {
	s := fmt.Sprintf("sm_%d%s", t.SM, t.Suffix)
	for _, m := range t.Modes {
		s += ", " + m
	}
	return s
}
