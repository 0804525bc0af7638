package ptx

import "strings"

// token is a lexical class. Single characters are their own class.
type token uint8

const (
	tEOF    token = 0
	tIdent  token = 128 + iota
	tDot          // .word or .word::word
	tNumber       // still to be read by readNumber
	tString       // with its quotes
	tShl
	tShr
	tAndAnd
	tOrOr
	tEq
	tNe
	tLe
	tGe
)

const (
	cSpace = 1 << iota
	cStart // may begin an identifier
	cIdent // may go on in one
	cDigit
	cLead // $ % _: begin an identifier that needs one more character
)

var class = func() (t [256]uint8) {
	for _, c := range " \t\r\n\f\v" {
		t[c] |= cSpace
	}
	for c := 'a'; c <= 'z'; c++ {
		t[c] |= cStart | cIdent
		t[c-32] |= cStart | cIdent
	}
	for c := '0'; c <= '9'; c++ {
		t[c] |= cIdent | cDigit
	}
	t['_'] |= cStart | cIdent | cLead
	t['$'] |= cStart | cIdent | cLead
	t['%'] |= cStart | cLead
	return t
}()

// scanner cuts text into tokens. It holds one token: tok, text[start:end].
type scanner struct {
	text       string
	tok        token
	start, end int
	cut        bool // the text ended inside a comment, which was reported
	bad        func(pos int, format string, args ...any)
}

// next moves to the next token.
func (s *scanner) next() {
	text, i := s.text, s.end
	for i < len(text) {
		c := text[i]
		switch {
		case class[c]&cSpace != 0:
			i++
			continue
		case c == '/' && i+1 < len(text) && (text[i+1] == '/' || text[i+1] == '*'):
			i = s.comment(i)
			continue
		case class[c]&cStart != 0:
			j := i + 1
			for j < len(text) && class[text[j]]&cIdent != 0 {
				j++
			}
			s.start, s.end = i, j
			s.tok = tIdent
			if j == i+1 && c == '%' {
				s.tok = '%'
			}
			return
		case class[c]&cDigit != 0:
			s.start, s.end, s.tok = i, numberEnd(text, i), tNumber
			return
		case c == '.':
			s.start, s.end, s.tok = i, dotEnd(text, i), tDot
			if s.end == i+1 {
				s.tok = '.'
			}
			return
		default:
			s.punct(i)
			return
		}
	}
	s.start, s.end, s.tok = len(text), len(text), tEOF
}

// comment skips the comment at i and returns where it ends.
func (s *scanner) comment(i int) int {
	if s.text[i+1] == '/' {
		if n := strings.IndexByte(s.text[i:], '\n'); n >= 0 {
			return i + n + 1
		}
		return len(s.text)
	}
	if n := strings.Index(s.text[i+2:], "*/"); n >= 0 {
		return i + n + 4
	}
	s.bad(i, "Parsing error near '': unexpected EOF while scanning")
	s.cut = true
	return len(s.text)
}

// dotEnd is the end of the dotted word at i: letters, digits, _ and pairs of colons.
func dotEnd(text string, i int) int {
	i++
	for i < len(text) {
		switch c := text[i]; {
		case class[c]&cIdent != 0:
			i++
		case c == ':' && i+2 < len(text) && text[i+1] == ':' && class[text[i+2]]&cIdent != 0:
			i += 2
		default:
			return i
		}
	}
	return i
}

func (s *scanner) punct(i int) {
	c := s.text[i]
	s.start, s.end, s.tok = i, i+1, token(c)
	var d byte
	if i+1 < len(s.text) {
		d = s.text[i+1]
	}
	two := tEOF
	switch {
	case c == '<' && d == '<':
		two = tShl
	case c == '>' && d == '>':
		two = tShr
	case c == '&' && d == '&':
		two = tAndAnd
	case c == '|' && d == '|':
		two = tOrOr
	case c == '=' && d == '=':
		two = tEq
	case c == '!' && d == '=':
		two = tNe
	case c == '<' && d == '=':
		two = tLe
	case c == '>' && d == '=':
		two = tGe
	case c == '"':
		s.str(i)
		return
	case c >= 0x80 || c < ' ' || c == 0x7f:
		s.bad(i, "Unexpected non-ASCII character encountered")
		s.tok = '?' + 0x20 // DEL: no grammar rule takes it
		for s.end < len(s.text) && s.text[s.end] >= 0x80 {
			s.end++
		}
		return
	}
	if two != tEOF {
		s.tok, s.end = two, i+2
	}
}

func (s *scanner) str(i int) {
	s.tok = tString
	for j := i + 1; j < len(s.text); j++ {
		switch s.text[j] {
		case '\\':
			j++
		case '"':
			s.end = j + 1
			return
		case '\n':
			s.end = j
			s.bad(i, "Parsing error near '\"': unterminated string")
			return
		}
	}
	s.end = len(s.text)
	s.bad(i, "Parsing error near '\"': unterminated string")
}

// numberEnd is the end of the number at i (a digit).
func numberEnd(text string, i int) int {
	j := i + 1
	if text[i] == '0' && j < len(text) {
		switch text[j] | 0x20 {
		case 'x':
			return suffixU(text, run(text, j+1, isHex), true)
		case 'b':
			if k := run(text, j+1, isBin); k > j+1 {
				return suffixU(text, k, true)
			}
		case 'f':
			if k := runN(text, j+1, 8); k == j+9 {
				return k
			}
		case 'd':
			if k := runN(text, j+1, 16); k == j+17 {
				return k
			}
		}
	}
	j = run(text, j, isDec)
	float := false
	if j < len(text) && text[j] == '.' {
		float = true
		j = run(text, j+1, isDec)
	}
	if j < len(text) && text[j]|0x20 == 'e' {
		k := j + 1
		if k < len(text) && (text[k] == '+' || text[k] == '-') {
			k++
		}
		if k < len(text) && isDec(text[k]) {
			return run(text, k, isDec)
		}
	}
	return suffixU(text, j, !float)
}

func suffixU(text string, j int, integer bool) int {
	if integer && j < len(text) && text[j] == 'U' {
		return j + 1
	}
	return j
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f' }
func isDec(c byte) bool { return c >= '0' && c <= '9' }
func isBin(c byte) bool { return c == '0' || c == '1' }

func run(text string, j int, ok func(byte) bool) int {
	for j < len(text) && ok(text[j]) {
		j++
	}
	return j
}

func runN(text string, j, n int) int {
	for k := 0; k < n && j < len(text) && isHex(text[j]); k++ {
		j++
	}
	return j
}

// lit is the text of the current token.
func (s *scanner) lit() string { return s.text[s.start:s.end] }
