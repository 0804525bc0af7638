package spec

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

func (p *parser) structure(kind, rest string) error {
	head, span, x, err := marks(strings.Fields(rest))
	if err != nil || len(head) != 1 {
		return errors.Join(err, fmt.Errorf("%s row %q", kind, rest))
	}
	s := &Struct{Name: head[0], Tag: x["tag"], Union: kind == "union", Span: span}
	if x["align"] != "" {
		if s.Align, err = strconv.Atoi(x["align"]); err != nil {
			return fmt.Errorf("alignment of %s: %w", s.Name, err)
		}
	}
	p.api.Structs = append(p.api.Structs, s)
	p.nest = []*Struct{s}
	return nil
}

// member reads an indented row: an enumerator, a field, or the border of a member group.
func (p *parser) member(row string) error {
	if p.enum != nil {
		return p.enumerator(row)
	}
	if len(p.nest) == 0 {
		return fmt.Errorf("member %q outside an enum or struct", row)
	}
	top := p.nest[len(p.nest)-1]
	if row == "}" {
		if len(p.nest) == 1 {
			return errors.New("} without a member group")
		}
		p.nest = p.nest[:len(p.nest)-1]
		return nil
	}
	if open, ok := strings.CutSuffix(row, " {"); ok {
		kind, name, _ := strings.Cut(open, " ")
		if kind != "struct" && kind != "union" {
			return fmt.Errorf("member group %q", row)
		}
		f := &Field{Name: name, Inner: &Struct{Union: kind == "union"}}
		if n, count, ok := strings.Cut(name, "["); ok {
			c, err := strconv.Atoi(strings.TrimSuffix(count, "]"))
			if err != nil {
				return fmt.Errorf("array length of %s: %w", n, err)
			}
			f.Name, f.Count = n, c
		}
		top.Fields = append(top.Fields, f)
		p.nest = append(p.nest, f.Inner)
		return nil
	}
	name, typ, _ := strings.Cut(row, " ")
	words, _, x, err := marks(strings.Fields(typ)) // a field may be named as a mark is
	if err != nil {
		return fmt.Errorf("field %s: %w", name, err)
	}
	f := &Field{Name: name}
	if f.Type, err = parseType(strings.Join(words, " ")); err != nil {
		return fmt.Errorf("field %s: %w", f.Name, err)
	}
	if x["align"] != "" {
		if f.Align, err = strconv.Atoi(x["align"]); err != nil {
			return fmt.Errorf("alignment of %s: %w", f.Name, err)
		}
	}
	top.Fields = append(top.Fields, f)
	return nil
}

var modes = map[string]Mode{"in": In, "inopt": InOpt, "out": Out, "outopt": OutOpt, "outany": OutAny, "host": Host}

func (p *parser) function(row string) error {
	f := &Func{Group: p.group, Line: p.line}
	name, rest, signed := strings.Cut(row, "(")
	if !signed {
		words, span, x, err := marks(strings.Fields(row))
		if err != nil || len(words) != 2 || words[1] != "opaque" {
			return errors.Join(err, fmt.Errorf("row %q is no declaration", row))
		}
		f.Name, f.Opaque, f.Span, f.For = words[0], true, span, x["for"]
		p.append(f)
		return nil
	}
	f.Name = name
	params, tail, ok := strings.Cut(rest, ")")
	if !ok {
		return fmt.Errorf("function %s: parameter list is not closed", name)
	}
	words, span, x, err := marks(strings.Fields(tail))
	if err != nil {
		return fmt.Errorf("function %s: %w", name, err)
	}
	f.Span, f.Go, f.Ends, f.For = span, x["go"], x["ends"] != "", x["for"]
	f.Narrow, f.Door = x["narrow"] != "", x["door"]
	if method, list, ok := strings.Cut(f.Go, "("); ok {
		list, closed := strings.CutSuffix(list, ")")
		f.Go, f.With = method, strings.Split(list, ",")
		if !closed || method == "" || slices.Contains(f.With, "") {
			return fmt.Errorf("function %s: go=%s", name, x["go"])
		}
	}
	f.Driver, f.NoContext = x["driver"], x["nocontext"] != ""
	if f.NoContext && f.Driver == "" || f.Driver != "" && f.Go != "" {
		return fmt.Errorf("function %s: nocontext is said of a call of the driver, and that has no method beside it", name)
	}
	if f.Result, err = parseType(strings.Join(words, " ")); err != nil {
		return fmt.Errorf("result of %s: %w", name, err)
	}
	for word, dst := range map[string]*Version{"ptsz": &f.PTSZ, "ptds": &f.PTDS} {
		if x[word] != "" {
			if *dst, err = version(x[word]); err != nil {
				return fmt.Errorf("%s of %s: %w", word, name, err)
			}
		}
	}
	if params != "" {
		for _, ps := range strings.Split(params, ", ") {
			q, err := param(ps)
			if err != nil {
				return fmt.Errorf("function %s: %w", name, err)
			}
			f.Params = append(f.Params, q)
		}
	}
	p.append(f)
	if x["dated"] != "" {
		return p.dated(f)
	}
	return nil
}

// append adds a function, and the second name that all functions of its library have.
func (p *parser) append(f *Func) {
	p.api.Funcs = append(p.api.Funcs, f)
	if a := p.api.Answered; a != nil && a.Also != "" {
		g := *f
		g.Name = a.Also + f.Name
		if g.Go == "" && !g.Opaque {
			g.Go = strings.TrimPrefix(f.Name, a.Prefix)
		}
		p.api.Funcs = append(p.api.Funcs, &g)
	}
}

// dated adds the names that the headers of each release lead a function to: __nvJitLinkCreate_12_9.
func (p *parser) dated(f *Func) error {
	if p.api.Answered == nil || len(p.api.Answered.Releases) == 0 {
		return fmt.Errorf("function %s is dated, and the library row names no releases", f.Name)
	}
	for _, last := range p.api.Answered.Releases {
		major := int(last) / 1000
		if !f.In(major) {
			continue
		}
		for minor := range int(last)%1000/10 + 1 {
			g := *f
			g.Name = fmt.Sprintf("__%s_%d_%d", f.Name, major, minor)
			g.Span = Span{Only: major}
			if g.Go == "" {
				g.Go = strings.TrimPrefix(f.Name, p.api.Answered.Prefix)
			}
			p.api.Funcs = append(p.api.Funcs, &g)
		}
	}
	return nil
}

func param(s string) (Param, error) {
	w := strings.SplitN(s, " ", 3)
	if len(w) != 3 {
		return Param{}, fmt.Errorf("parameter %q", s)
	}
	m, ok := modes[w[0]]
	if !ok {
		return Param{}, fmt.Errorf("parameter %q: mode %q", s, w[0])
	}
	t, err := parseType(w[2])
	if err != nil {
		return Param{}, fmt.Errorf("parameter %s: %w", w[1], err)
	}
	if m != In && !t.Ptr {
		return Param{}, fmt.Errorf("parameter %s: only a pointer can be %s", w[1], w[0])
	}
	return Param{m, w[1], t}, nil
}
