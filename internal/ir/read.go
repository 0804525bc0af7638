package ir

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
)

// ReadError is a mistake in the text form.
type ReadError struct {
	Line int
	Text string
}

// Error is "line 3: …".
func (e *ReadError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Text) }

// Read reads a module's text form, as Module.String writes it. It does not verify.
func Read(text string) (m *Module, err error) {
	r := &reader{m: &Module{}}
	defer func() {
		if p := recover(); p != nil {
			re, ok := p.(*ReadError)
			if !ok {
				panic(p)
			}
			m, err = nil, re
		}
	}()
	for i, line := range strings.Split(text, "\n") {
		r.line = i + 1
		r.toks, r.at = r.toks[:0], 0
		r.scan(line)
		if len(r.toks) > 0 {
			r.readLine()
			if r.at < len(r.toks) {
				r.fail("%q is too much", r.toks[r.at].text)
			}
		}
	}
	if r.f != nil {
		r.fail("function %s has no closing brace", r.f.Name)
	}
	if !r.seenModule {
		r.fail("no module line")
	}
	return r.m, nil
}

type tokKind uint8

const (
	tokWord tokKind = iota
	tokString
	tokPunct
)

type tok struct {
	kind tokKind
	text string
}

// reader reads one line at a time; fail unwinds to Read with a *ReadError.
type reader struct {
	m          *Module
	f          *Func
	block      *Block
	line       int
	toks       []tok
	at         int
	values     map[string]*Value
	used       map[string]int // values named but not yet defined: the line
	blocks     map[string]*Block
	seenBlocks map[*Block]bool
	seenModule bool
}

func (r *reader) fail(format string, args ...any) {
	panic(&ReadError{r.line, fmt.Sprintf(format, args...)})
}

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' || c == '+' || c == '-'
}

func (r *reader) scan(s string) {
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == ' ' || c == '\t' || c == '\r':
			i++
		case c == ';':
			return
		case c == '"':
			q, err := strconv.QuotedPrefix(s[i:])
			if err != nil {
				r.fail("unclosed string")
			}
			u, err := strconv.Unquote(q)
			if err != nil {
				r.fail("bad string %s", q)
			}
			r.toks = append(r.toks, tok{tokString, u})
			i += len(q)
		case strings.HasPrefix(s[i:], "->"):
			r.toks = append(r.toks, tok{tokPunct, "->"})
			i += 2
		case isWordByte(c):
			j := i
			for j < len(s) && isWordByte(s[j]) && !strings.HasPrefix(s[j:], "->") {
				j++
			}
			r.toks = append(r.toks, tok{tokWord, s[i:j]})
			i = j
		case strings.IndexByte("%:,=()[]{}@", c) >= 0:
			r.toks = append(r.toks, tok{tokPunct, s[i : i+1]})
			i++
		default:
			r.fail("unexpected %q", c)
		}
	}
}

// peek is the text of token at+n, "" past the end; strings never equal punctuation because kind is asked for.
func (r *reader) peek(n int) tok {
	if r.at+n < len(r.toks) {
		return r.toks[r.at+n]
	}
	return tok{tokPunct, ""}
}

func (r *reader) isPunct(n int, s string) bool {
	t := r.peek(n)
	return t.kind == tokPunct && t.text == s
}

func (r *reader) accept(s string) bool {
	if r.isPunct(0, s) {
		r.at++
		return true
	}
	return false
}

func (r *reader) expect(s string) {
	if !r.accept(s) {
		r.fail("expected %q, not %q", s, r.peek(0).text)
	}
}

func (r *reader) word() string {
	t := r.peek(0)
	if t.kind != tokWord {
		r.fail("expected a word, not %q", t.text)
	}
	r.at++
	return t.text
}

func (r *reader) str() string {
	t := r.peek(0)
	if t.kind != tokString {
		r.fail("expected a quoted name, not %q", t.text)
	}
	r.at++
	return t.text
}

func (r *reader) number() int64 {
	w := r.word()
	n, err := strconv.ParseInt(w, 0, 64)
	if err != nil {
		r.fail("bad number %q", w)
	}
	return n
}

// keys reads "name=number" pairs up to the end of the line.
func (r *reader) keys(into map[string]func()) {
	for r.peek(0).kind == tokWord {
		w := r.word()
		set := into[w]
		if set == nil {
			r.fail("unknown word %q", w)
		}
		r.expect("=")
		set()
	}
}

func (r *reader) intKey(p *int) func() { return func() { *p = int(r.number()) } }

func (r *reader) dimKey(p *[3]uint32) func() {
	return func() {
		for i := range p {
			if i > 0 {
				r.expect(",")
			}
			p[i] = uint32(r.number())
		}
	}
}

func (r *reader) readLine() {
	switch t := r.peek(0); {
	case r.f == nil && t.text == "module":
		r.at++
		if r.seenModule {
			r.fail("second module line")
		}
		r.seenModule = true
		r.m.Kernel = r.str()
		r.keys(map[string]func(){"sm": r.intKey(&r.m.SM), "params": r.intKey(&r.m.ParamBytes), "shared": r.intKey(&r.m.SharedBytes),
			"dynalign": r.intKey(&r.m.DynamicAlign), "req": r.dimKey(&r.m.ReqBlock), "max": r.dimKey(&r.m.MaxBlock)})
	case r.f == nil && t.text == "shared":
		r.at++
		v := SharedVar{Name: r.str()}
		r.keys(map[string]func(){"offset": r.intKey(&v.Offset), "size": r.intKey(&v.Size)})
		r.m.Shared = append(r.m.Shared, v)
	case r.f == nil && t.text == "var":
		r.at++
		r.m.Vars = append(r.m.Vars, r.str())
	case r.f == nil && t.text == "func":
		r.at++
		r.readFunc()
	case r.f == nil:
		r.fail("expected module, shared, var or func, not %q", t.text)
	case t.kind == tokPunct && t.text == "}":
		r.at++
		r.endFunc()
	case t.kind == tokWord && t.text == "slot":
		r.at++
		s := Slot{Name: r.str()}
		r.keys(map[string]func(){"offset": r.intKey(&s.Offset), "size": r.intKey(&s.Size), "align": r.intKey(&s.Align)})
		r.f.Slots = append(r.f.Slots, s)
	case t.kind == tokWord && (r.isPunct(1, ":") || r.peek(1).kind == tokString && r.isPunct(2, ":")):
		r.block = r.blockNamed(r.word())
		if r.seenBlocks[r.block] {
			r.fail("second block of this name")
		}
		r.seenBlocks[r.block] = true
		if r.peek(0).kind == tokString {
			r.block.Name = r.str()
		}
		r.expect(":")
		r.block.ID = len(r.f.Blocks)
		r.f.Blocks = append(r.f.Blocks, r.block)
	default:
		if r.block == nil {
			r.fail("instruction before the first block")
		}
		r.block.Append(r.readInst())
	}
}

func (r *reader) readFunc() {
	r.f = &Func{Name: r.str()}
	r.values, r.blocks, r.block = map[string]*Value{}, map[string]*Block{}, nil
	r.used, r.seenBlocks = map[string]int{}, map[*Block]bool{}
	if r.peek(0).text == "kernel" {
		r.at++
		r.f.Kernel = true
	}
	if r.accept("(") {
		r.f.Params = r.defs()
		r.expect(")")
	}
	if r.accept("->") {
		r.f.Results = append(r.f.Results, r.typ())
		for r.accept(",") {
			r.f.Results = append(r.f.Results, r.typ())
		}
	}
	r.keys(map[string]func(){"local": r.intKey(&r.f.LocalBytes)})
	r.expect("{")
}

func (r *reader) endFunc() {
	for name, line := range r.used {
		r.line = line
		r.fail("%%%s is never defined", name)
	}
	for name, b := range r.blocks {
		if !r.seenBlocks[b] {
			r.fail("block %s of %s is never defined", name, r.f.Name)
		}
	}
	r.f.Renumber()
	r.f.Rewire()
	r.m.Funcs = append(r.m.Funcs, r.f)
	r.f = nil
}

func (r *reader) blockNamed(name string) *Block {
	b := r.blocks[name]
	if b == nil {
		if len(name) < 2 || name[0] != 'b' {
			r.fail("%q is no block name", name)
		}
		if _, err := strconv.ParseUint(name[1:], 10, 31); err != nil {
			r.fail("%q is no block name", name)
		}
		b = &Block{Func: r.f}
		r.blocks[name] = b
	}
	return b
}

var typeByName = sync.OnceValue(func() map[string]Type {
	m := map[string]Type{}
	for t := Void; t < NumTypes; t++ {
		m[t.String()] = t
	}
	return m
})

func (r *reader) typ() Type {
	w := r.word()
	t, ok := typeByName()[w]
	if !ok {
		r.fail("unknown type %q", w)
	}
	return t
}

// defs reads "%0:i32, %1:i64".
func (r *reader) defs() []*Value {
	var vs []*Value
	for {
		r.expect("%")
		name := r.word()
		r.expect(":")
		t := r.typ()
		v := r.values[name]
		_, pending := r.used[name]
		switch {
		case v == nil:
			v = r.f.NewValue(t)
			r.values[name] = v
		case !pending:
			r.fail("second definition of %%%s", name)
		default:
			v.Type = t
			delete(r.used, name)
		}
		vs = append(vs, v)
		if !r.accept(",") {
			return vs
		}
	}
}

// arg reads %3 or i32:-1.
func (r *reader) arg() *Value {
	if r.accept("%") {
		name := r.word()
		v := r.values[name]
		if v == nil {
			v = r.f.NewValue(Void)
			r.values[name] = v
			r.used[name] = r.line
		}
		return v
	}
	t := r.typ()
	r.expect(":")
	w := r.word()
	switch {
	case strings.HasPrefix(w, "0x"):
		n, err := strconv.ParseUint(w[2:], 16, 64)
		if err != nil {
			r.fail("bad constant %q", w)
		}
		return ConstInt(t, n)
	case t == F32:
		f, err := strconv.ParseFloat(w, 32)
		if err != nil {
			r.fail("bad constant %q", w)
		}
		return ConstInt(t, uint64(math.Float32bits(float32(f))))
	case t == F64:
		f, err := strconv.ParseFloat(w, 64)
		if err != nil {
			r.fail("bad constant %q", w)
		}
		return ConstInt(t, math.Float64bits(f))
	case t.IsFloat() || t == Void:
		r.fail("constants of %s are written in hexadecimal", t)
	}
	n, err := strconv.ParseInt(w, 10, 64)
	if err != nil {
		r.fail("bad constant %q", w)
	}
	return ConstInt(t, uint64(n))
}
