package cudacc

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"kudzu/internal/lazyre"
)

// Shared variables of types with constructors, such as cuda::barrier. nvcc leaves them as the memory is, without constructor and
// destructor, and warns; clang refuses them. Their declarations are shown to clang as members of a union that has empty ones.

// hidden is what declarations are not looked for in: comments, strings, characters, directives.
var hidden = lazyre.New(`(?s)//[^\n]*|/\*.*?\*/|R"\([^"]*?\)"|"(?:\\.|[^"\\\n])*"|\d'\d|'(?:\\.|[^'\\\n])+'|(?m:^[ \t]*#(?:\\\n|[^\n])*)`)

// bare is a text with blanks for what is hidden, every other character where it was. A directive ends what was before it.
func bare(text []byte) []byte {
	return hidden().ReplaceAllFunc(text, func(token []byte) []byte {
		blank := bytes.Map(func(r rune) rune {
			if r == '\n' {
				return r
			}
			return ' '
		}, token)
		blank = append(blank, bytes.Repeat([]byte(" "), len(token)-len(blank))...) // of characters with several bytes
		if bytes.HasPrefix(bytes.TrimLeft(token, " \t"), []byte("#")) {
			blank[len(blank)-1] = ';'
		}
		return blank
	})
}

// declaration is one of shared variables: where it is, what it says of the type, and what it declares.
type declaration struct {
	begin, end  int // end is behind the semicolon
	specs, list string
	names       []string
}

var (
	sharedWord = lazyre.New(`\b(?:__shared__|static)\b`)
	declarator = lazyre.New(`^\s*([A-Za-z_]\w*)\s*(?:\[.*\]\s*)?$`)
)

// declares takes the declaration apart whose first name is at an offset; nil if it is no plain one.
func declares(text, bare []byte, name int) *declaration {
	d := &declaration{begin: name, end: name}
	shared := func() bool { return bytes.Contains(bare[d.begin:name], []byte("__shared__")) }
back:
	for depth := 0; d.begin > 0; d.begin-- {
		switch c := bare[d.begin-1]; {
		case c == ')' || c == ']' || c == '}' && (depth > 0 || !shared()): // braces before the word are a type's
			depth++
		case (c == '(' || c == '[' || c == '{') && depth > 0:
			depth--
		case c == '(' || c == '[':
			return nil
		case (c == ';' || c == '{' || c == '}') && depth == 0:
			break back
		}
	}
	if !shared() {
		return nil
	}
	depth, from := 0, name
	for ; d.end < len(bare); d.end++ {
		c := bare[d.end]
		switch {
		case c == '(' || c == '{' || c == '=' && depth == 0:
			return nil // has a value
		case c == '[':
			depth++
		case c == ']':
			depth--
		}
		if depth != 0 || c != ',' && c != ';' {
			continue
		}
		m := declarator().FindSubmatch(bytes.ReplaceAll(bare[from:d.end], []byte("\n"), []byte(" ")))
		if m == nil {
			return nil
		}
		d.names = append(d.names, string(m[1]))
		if from = d.end + 1; c == ';' {
			break
		}
	}
	if d.end == len(bare) {
		return nil
	}
	d.begin += len(bare[d.begin:]) - len(bytes.TrimLeft(bare[d.begin:], " \t\r\n"))
	d.specs, d.list = sharedWord().ReplaceAllString(string(text[d.begin:name]), ""), string(text[name:d.end])
	d.end++
	return d
}

// write is the declaration of the same names without constructors. A reference that is a constant is no variable to lambdas.
func (d *declaration) write(id int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "__shared__ union __kudzu_raw%d { __device__ __kudzu_raw%[1]d() {} __device__ ~__kudzu_raw%[1]d() {} struct { %s%s; } v; } __kudzu_shared%[1]d;", id, d.specs, d.list)
	for _, n := range d.names {
		fmt.Fprintf(&b, " static constexpr auto &%s = __kudzu_shared%d.v.%[1]s;", n, id)
	}
	return b.String()
}

// uninitialized is a text in which the variables at some offsets have no constructors, with the same lines; nil if there is none that
// can be so.
func uninitialized(text []byte, names []int) []byte {
	slices.Sort(names)
	var out []byte
	b, done := bare(text), 0
	for _, name := range names {
		if name < done {
			continue // of the declaration before
		}
		d := declares(text, b, name)
		if d == nil || d.begin < done {
			continue
		}
		out = append(append(out, text[done:d.begin]...), d.write(d.begin)...)
		done = d.end
	}
	if done == 0 {
		return nil
	}
	return append(out, text[done:]...)
}

var closeLinkage = lazyre.New(`\bextern(\s*)"C"(__\w)`)

// SpaceLinkage is a text with a space in extern "C"__global__, which is a literal with a suffix to clang; nil if there is nothing to do.
func SpaceLinkage(text []byte) []byte {
	if !bytes.Contains(text, []byte(`"C"__`)) {
		return nil
	}
	return closeLinkage().ReplaceAll(text, []byte(`extern$1"C" $2`))
}
