package ptx

import (
	"strings"

	"kudzu/internal/ptx/isa"
)

// skipper finds matching braces. It reads no tokens: it jumps from brace to brace with the processor's string search and
// only looks closer at slashes and quotes, which may begin a comment or a string. This is what makes indexing fast. It
// remembers the next slash and quote from one call to the next, so that a text without any is searched once.
type skipper struct {
	text         string
	slash, quote int // the next one at or after the place last asked about; -1: not looked yet
}

func newSkipper(text string) skipper { return skipper{text, -1, -1} }

func (s *skipper) find(c byte, from int) int {
	if n := strings.IndexByte(s.text[from:], c); n >= 0 {
		return from + n
	}
	return len(s.text)
}

// special moves slash and quote to at or after i.
func (s *skipper) special(i int) {
	if s.slash < i {
		s.slash = s.find('/', i)
	}
	if s.quote < i {
		s.quote = s.find('"', i)
	}
}

// braces finds the brace that closes the one at open and returns the place after it, or -1. Calls must go forward.
func (s *skipper) braces(open int) int {
	text := s.text
	depth := 0
	i := open
	for {
		s.special(i)
		stop := min(s.slash, s.quote)
		for i < stop { // in text[i:stop] every brace counts
			n := strings.IndexByte(text[i:stop], '}')
			if n < 0 {
				depth += strings.Count(text[i:stop], "{")
				i = stop
				break
			}
			depth += strings.Count(text[i:i+n], "{") - 1
			i += n + 1
			if depth <= 0 {
				return i
			}
		}
		switch {
		case i >= len(text):
			return -1
		case i == s.slash:
			if i = skipComment(text, i); i < 0 {
				return -1
			}
		default:
			i = skipString(text, i)
		}
	}
}

// skipComment returns the end of the comment at i, i+1 if there is none, or -1 if it does not end.
func skipComment(text string, i int) int {
	if i+1 >= len(text) {
		return i + 1
	}
	switch text[i+1] {
	case '/':
		if n := strings.IndexByte(text[i:], '\n'); n >= 0 {
			return i + n
		}
		return len(text)
	case '*':
		if n := strings.Index(text[i+2:], "*/"); n >= 0 {
			return i + n + 4
		}
		return -1
	}
	return i + 1
}

// skipString returns the end of the string at i; it ends at the line's end at the latest.
func skipString(text string, i int) int {
	for j := i + 1; j < len(text); j++ {
		switch text[j] {
		case '\\':
			j++
		case '"':
			return j + 1
		case '\n':
			return j
		}
	}
	return len(text)
}

// skipBody moves past the body at the current brace and returns its end.
func (p *parser) skipBody() int {
	end, known := p.ends[p.start]
	if !known {
		end = p.skip.braces(p.start)
	}
	if end < 0 {
		p.rep.Report(Pos(len(p.text)), "Parsing error near '': syntax error")
		end = len(p.text)
	}
	p.end = end
	p.next()
	return end
}

// indexBody moves past a body as skipBody does. The variables that it declares in the global and constant space are the module's: if
// there may be some, the body is read.
func (p *parser) indexBody(f *Func) int {
	start, tok, open, skip := p.start, p.tok, p.end, p.skip
	end := p.skipBody()
	if !mayDeclare(p.text[start:end]) && !(f.Kind == Entry && p.m.Version < isa.V(1, 4)) {
		return end
	}
	p.start, p.tok, p.end = start, tok, open
	p.skip = skip // it only goes forward
	x := p.index
	p.index = nil
	had := len(p.m.statics)
	p.body(f)
	p.index = x
	for _, v := range p.m.statics[had:] {
		x.valued = x.valued || v.Init != nil
	}
	f.Body = &Body{}
	return end
}

// mayDeclare reports a body in which a statement may begin with .global or .const. It looks at the beginnings of statements only, which
// is fast, and is right about every body that parses: where it cannot tell it says yes.
func mayDeclare(body string) bool {
	for i := 0; i < len(body); {
		c := body[i]
		if c <= ' ' {
			i++
			continue
		}
		end := ";"
		switch {
		case class[c]&cStart != 0 || c == '@':
			j := i + 1
			for j < len(body) && class[body[j]]&cIdent != 0 {
				j++
			}
			if j < len(body) && body[j] == ':' {
				i = j + 1 // a label
				continue
			}
			i = j
		case c == '.':
			switch body[i:dotEnd(body, i)] {
			case ".reg", ".param", ".local", ".shared", ".pragma", ".branchtargets", ".calltargets", ".callprototype":
			case ".loc", ".file":
				end = "\n"
			default:
				return true
			}
		case c == '{', c == '}', c == ';':
			i++
			continue
		case c == '/':
			if i = skipComment(body, i); i < 0 {
				return true
			}
			continue
		default:
			return true
		}
		n := strings.IndexByte(body[i:], end[0])
		if n < 0 {
			return false
		}
		i += n + 1
	}
	return false
}

// skipInit moves past "= {…}" or "= value" without reading it, and reports whether it did. A list without a size must be
// read to know the size, unless it is one-dimensional: then its commas tell.
func (p *parser) skipInit(v *Var) bool {
	if len(v.Dims) > 0 && v.Dims[0] < 0 {
		return false
	}
	i := p.end
	for i < len(p.text) && class[p.text[i]]&cSpace != 0 {
		i++
	}
	if i >= len(p.text) || p.text[i] != '{' {
		return false
	}
	end := p.skip.braces(i)
	if end < 0 {
		return false
	}
	p.end = end
	p.next()
	return true
}
