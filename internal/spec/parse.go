package spec

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Parse reads the text of an *.api file. It goes on after an error, so that one run
// shows all of them.
func Parse(name, text string) (*API, error) {
	p := &parser{api: &API{Name: name}}
	for i, line := range strings.Split(text, "\n") {
		p.line = i + 1
		if err := p.row(line); err != nil {
			p.errs = append(p.errs, fmt.Errorf("%s.api:%d: %w", name, p.line, err))
		}
	}
	if len(p.nest) > 1 {
		p.errs = append(p.errs, fmt.Errorf("%s.api: a member group is not closed", name))
	}
	return p.api, errors.Join(p.errs...)
}

type parser struct {
	api   *API
	line  int
	group string
	enum  *Enum
	nest  []*Struct // open structure and member groups, outermost first
	errs  []error
}

func (p *parser) row(line string) error {
	if line == "" || line[0] == '#' {
		return nil
	}
	if line[0] == '\t' {
		return p.member(strings.TrimSpace(line))
	}
	p.enum, p.nest = nil, nil
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "group":
		p.group = rest
		return nil
	case "about":
		p.api.About = rest
		return nil
	case "provider":
		return p.provider(rest)
	case "include":
		return p.include(rest)
	case "library":
		return p.library(rest)
	case "const":
		return p.constant(rest)
	case "macro":
		return p.macro(rest)
	case "rename":
		return p.rename(rest)
	case "enum":
		return p.enumeration(rest)
	case "type", "handle", "callback":
		return p.typedef(word, rest)
	case "struct", "union":
		return p.structure(word, rest)
	}
	return p.function(line)
}

// marks takes the words that end a row (since, until, in, tag, align) off it.
func marks(words []string) (head []string, span Span, extra map[string]string, err error) {
	extra = map[string]string{}
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch w {
		case "since", "until", "in", "tag", "align", "key", "versions", "package", "room", "header", "macro", "prefix", "status", "null", "unsupported", "child", "exit", "ptsz", "ptds", "for", "releases", "also", "parts":
			if i+1 == len(words) {
				return nil, span, nil, fmt.Errorf("%s without a value", w)
			}
			i++
			switch w {
			case "since":
				span.Since, err = version(words[i])
			case "until":
				span.Until, err = version(words[i])
			case "in":
				span.Only, err = strconv.Atoi(words[i])
			default:
				extra[w] = words[i]
			}
			if err != nil {
				return nil, span, nil, err
			}
		default:
			if name, value, ok := strings.Cut(w, "="); ok && (name == "go" || name == "driver" || name == "door") {
				extra[name] = value
			} else if w == "ends" || w == "narrow" || w == "nocontext" || w == "lasterror" || w == "plain" || w == "dated" {
				extra[w] = w
			} else {
				head = append(head, w)
			}
		}
	}
	return head, span, extra, nil
}

func version(s string) (Version, error) {
	major, minor, _ := strings.Cut(s, ".")
	a, err := strconv.Atoi(major)
	if err != nil {
		return 0, fmt.Errorf("version %q", s)
	}
	b := 0
	if minor != "" {
		if b, err = strconv.Atoi(minor); err != nil {
			return 0, fmt.Errorf("version %q", s)
		}
	}
	return Version(a*1000 + b*10), nil
}

func (p *parser) constant(rest string) error {
	left, right, ok := strings.Cut(rest, " = ")
	name, typ, typed := strings.Cut(left, " ")
	if !ok {
		return fmt.Errorf("constant %s without a value", name)
	}
	value, span, _, err := marks(strings.Fields(right))
	if err != nil || len(value) != 1 {
		return errors.Join(err, fmt.Errorf("value of %s", name))
	}
	c := &Const{Name: name, Value: value[0], Span: span}
	if typed {
		if c.Type, err = parseType(typ); err != nil {
			return err
		}
	}
	p.api.Consts = append(p.api.Consts, c)
	return nil
}

// macro takes what the preprocessor is to put for a name; a name with parameters has no space before or between them.
func (p *parser) macro(rest string) error {
	name, text, ok := strings.Cut(rest, " ")
	if text = strings.TrimSpace(text); !ok || text == "" {
		return fmt.Errorf("macro %s without a text", name)
	}
	p.api.Macros = append(p.api.Macros, Macro{Name: name, Text: text})
	return nil
}

func (p *parser) rename(rest string) error {
	head, span, _, err := marks(strings.Fields(rest))
	if err != nil || len(head) != 2 {
		return errors.Join(err, fmt.Errorf("rename row %q", rest))
	}
	p.api.Renames = append(p.api.Renames, Rename{head[0], head[1], span})
	return nil
}

func (p *parser) enumeration(rest string) error {
	head, span, x, err := marks(strings.Fields(rest))
	if err != nil || len(head) != 1 {
		return errors.Join(err, fmt.Errorf("enum row %q", rest))
	}
	p.enum = &Enum{Name: head[0], Tag: x["tag"], For: x["for"], Span: span}
	p.api.Enums = append(p.api.Enums, p.enum)
	return nil
}

func (p *parser) enumerator(row string) error {
	name, right, ok := strings.Cut(row, " = ")
	if !ok {
		return fmt.Errorf("enumerator %q", row)
	}
	v := EnumValue{Name: name}
	if i := strings.IndexByte(right, '"'); i >= 0 {
		quoted, err := strconv.QuotedPrefix(right[i:])
		if err != nil {
			return fmt.Errorf("text of %s: %w", name, err)
		}
		if v.Text, err = strconv.Unquote(quoted); err != nil {
			return fmt.Errorf("text of %s: %w", name, err)
		}
		right = right[:i] + right[i+len(quoted):]
	}
	head, span, x, err := marks(strings.Fields(right))
	if err != nil || len(head) != 1 {
		return errors.Join(err, fmt.Errorf("value of %s", name))
	}
	v.Span, v.For = span, x["for"]
	if v.Value, err = strconv.ParseInt(head[0], 0, 64); err != nil {
		return fmt.Errorf("value of %s: %w", name, err)
	}
	p.enum.Values = append(p.enum.Values, v)
	return nil
}

func (p *parser) typedef(kind, rest string) error {
	t := &Typedef{}
	var args string
	if kind == "callback" {
		t.Kind = Callback
		name, after, ok := strings.Cut(rest, "(")
		a, result, ok2 := strings.Cut(after, ") ")
		if !ok || !ok2 {
			return fmt.Errorf("callback row %q", rest)
		}
		args, rest = a, name+" "+result
	}
	head, span, x, err := marks(strings.Fields(rest))
	if err != nil || len(head) == 0 {
		return errors.Join(err, fmt.Errorf("%s row %q", kind, rest))
	}
	t.Name, t.Tag, t.Span = head[0], x["tag"], span
	if kind == "handle" {
		t.Kind = Handle
		if t.Tag == "" {
			return fmt.Errorf("handle %s without a tag", t.Name)
		}
	} else if t.Type, err = parseType(strings.Join(head[1:], " ")); err != nil {
		return fmt.Errorf("%s %s: %w", kind, t.Name, err)
	}
	if args != "" {
		for _, a := range strings.Split(args, ", ") {
			at, err := parseType(a)
			if err != nil {
				return fmt.Errorf("argument of %s: %w", t.Name, err)
			}
			t.Args = append(t.Args, at)
		}
	}
	p.api.Typedefs = append(p.api.Typedefs, t)
	return nil
}
