package nvvmir

import (
	"strings"
)

// Opaque is a module's text with opaque pointers: NVVM IR of the LLVM 7 dialect names what a pointer points to (float*),
// which LLVM's reader of texts no longer takes. A pointer's type is never shorter than what replaces it, so blanks keep
// every position, but for parameters whose attribute now names the type (byval).
func Opaque(text string) string {
	if !strings.Contains(text, "*") {
		return text
	}
	r := &rewriter{text: text}
	for r.next() {
	}
	var out strings.Builder
	out.Grow(len(text) + 64)
	for i := range r.tokens {
		out.WriteString(r.tokens[i].before)
		out.WriteString(r.tokens[i].text)
	}
	out.WriteString(text[r.at:])
	return out.String()
}

// token is a word, a string or one character of punctuation, with the blanks and comments before it.
type token struct {
	before, text string
	pointee      string // of a pointer's type that was rewritten: what it points to
}

type rewriter struct {
	text   string
	at     int // behind the last token
	tokens []token
}

// next reads a token and, where it ends a pointer's type, rewrites that.
func (r *rewriter) next() bool {
	begin := r.at
	at := r.blanks(begin)
	if at == len(r.text) {
		return false
	}
	end := r.end(at)
	t := token{before: r.text[begin:at], text: r.text[at:end]}
	r.at = end
	switch t.text {
	case "*":
		if r.pointer(t) {
			return true
		}
	case "byval", "sret", "inalloca":
		if end == len(r.text) || r.text[end] != '(' {
			if p := r.parameter(); p != "" {
				t.text += "(" + p + ")"
			}
		}
	}
	r.tokens = append(r.tokens, t)
	return true
}

// blanks is where the first token from at on begins.
func (r *rewriter) blanks(at int) int {
	for at < len(r.text) {
		switch r.text[at] {
		case ' ', '\t', '\n', '\r':
			at++
		case ';':
			n := strings.IndexByte(r.text[at:], '\n')
			if n < 0 {
				return len(r.text)
			}
			at += n
		default:
			return at
		}
	}
	return at
}

// end is where the token at at ends.
func (r *rewriter) end(at int) int {
	first := r.text[at]
	switch {
	case first == '"':
		return r.quoted(at)
	case strings.IndexByte("%@!$#^", first) >= 0 && at+1 < len(r.text) && r.text[at+1] == '"':
		return r.quoted(at + 1)
	case first == 'c' && at+1 < len(r.text) && r.text[at+1] == '"':
		return r.quoted(at + 1)
	}
	end := at + 1
	if inWord(first) || strings.IndexByte("%@!#^", first) >= 0 {
		for end < len(r.text) && inWord(r.text[end]) {
			end++
		}
	}
	return end
}

// quoted is the end of a string: a quotation mark in one is written as two hexadecimal digits.
func (r *rewriter) quoted(at int) int {
	n := strings.IndexByte(r.text[at+1:], '"')
	if n < 0 {
		return len(r.text)
	}
	return at + 1 + n + 1
}

func inWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-$._\\", c) >= 0
}

// pointer replaces the type before a star, and an address space between them, by ptr. It reports whether there is one.
func (r *rewriter) pointer(star token) bool {
	last := len(r.tokens) - 1
	space := ""
	if n := len(r.tokens); n >= 4 && r.tokens[n-1].text == ")" && r.tokens[n-3].text == "(" && r.tokens[n-4].text == "addrspace" {
		space = " addrspace(" + r.tokens[n-2].text + ")"
		last = n - 5
	}
	first := r.typeFrom(last)
	if first < 0 {
		return false
	}
	width := len(star.before) + len(star.text)
	for _, t := range r.tokens[first:] {
		width += len(t.before) + len(t.text)
	}
	before := r.tokens[first].before
	var pointee strings.Builder
	for i, t := range r.tokens[first : last+1] {
		if i > 0 {
			pointee.WriteString(t.before)
		}
		pointee.WriteString(strings.TrimRight(t.text, " "))
	}
	text := "ptr" + space
	if pad := width - len(before) - len(text); pad > 0 {
		text += strings.Repeat(" ", pad)
	}
	r.tokens = append(r.tokens[:first], token{before: before, text: text, pointee: pointee.String()})
	return true
}

// opener is the bracket that a closing one ends.
var opener = map[string]string{")": "(", "]": "[", "}": "{", ">": "<"}

// typeFrom is the token that begins the type whose last token is last, -1 if none does.
func (r *rewriter) typeFrom(last int) int {
	for last >= 0 {
		open, closes := opener[r.tokens[last].text]
		if !closes {
			if t := &r.tokens[last]; inWord(t.text[0]) || t.text[0] == '%' {
				return last
			}
			return -1
		}
		first := r.opening(last, open)
		if open != "(" {
			return first
		}
		last = first - 1 // a function's: what it returns stands before its parameters
	}
	return -1
}

// opening is the token that opens the bracket at last, -1 if none does.
func (r *rewriter) opening(last int, open string) int {
	depth := 0
	for i := last; i >= 0; i-- {
		switch r.tokens[i].text {
		case r.tokens[last].text:
			depth++
		case open:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// parameter is what the pointer before an attribute points to: the one of the same parameter.
func (r *rewriter) parameter() string {
	for i := len(r.tokens) - 1; i >= 0; i-- {
		switch t := &r.tokens[i]; {
		case t.pointee != "":
			return t.pointee
		case t.text == "," || t.text == "(":
			return ""
		}
	}
	return ""
}
