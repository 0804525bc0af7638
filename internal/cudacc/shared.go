package cudacc

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"kudzu/internal/lazyre"
)

// Shared variables of types with constructors, such as cuda::barrier. nvcc leaves them as the memory is, without constructor and
// destructor, and warns; clang refuses them. Their declarations are shown to clang as members of a union that has empty ones.

// Refused is where clang refuses the initialization of shared variables: lines and columns from 1, by file.
type Refused map[string][][2]int

var sharedInit = lazyre.New(`(?m)^(.+?):(\d+):(\d+): error: initialization is not supported for __shared__ variables$`)

// ReadRefused finds them in clang's messages.
func ReadRefused(text string) Refused {
	r := Refused{}
	for _, m := range sharedInit().FindAllStringSubmatch(text, -1) {
		line, _ := strconv.Atoi(m[2]) // digits
		column, _ := strconv.Atoi(m[3])
		if at := [2]int{line, column}; !slices.Contains(r[m[1]], at) {
			r[m[1]] = append(r[m[1]], at)
		}
	}
	return r
}

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

// Uninitialized is a text whose refused variables have no constructors, with the same lines; nil if there is none that can be so.
func Uninitialized(text []byte, refused [][2]int) []byte {
	lines := []int{0}
	for i, c := range text {
		if c == '\n' {
			lines = append(lines, i+1)
		}
	}
	var names []int
	for _, at := range refused {
		if at[0] > 0 && at[0] <= len(lines) && lines[at[0]-1]+at[1]-1 < len(text) {
			names = append(names, lines[at[0]-1]+at[1]-1)
		}
	}
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

// Reshow changes what clang sees of a program named name, where it has refused shared variables. It reports whether there is anything
// to try again. over is the program's overlay; its source and its headers in memory are files of Place.Work.
func (o *Options) Reshow(p *Place, over *Overlay, name string, refused Refused) (bool, error) {
	changed := false
	for file, at := range refused {
		path := file
		if file == name { // its first line is below ours
			path = filepath.Join(p.Work, SourceFile)
			at = slices.Clone(at)
			for i := range at {
				at[i][0]++
				if o.DefaultDevice {
					at[i][0]++
				}
			}
		}
		text, err := over.Read(path)
		if err != nil {
			continue
		}
		if text = Uninitialized(text, at); text != nil {
			over.Show(path, text)
			changed = true
		}
	}
	if !changed {
		return false, nil
	}
	var err error
	p.Overlay, err = over.Write()
	return err == nil, err
}

var closeLinkage = lazyre.New(`\bextern(\s*)"C"(__\w)`)

// SpaceLinkage is a text with a space in extern "C"__global__, which is a literal with a suffix to clang; nil if there is nothing to do.
func SpaceLinkage(text []byte) []byte {
	if !bytes.Contains(text, []byte(`"C"__`)) {
		return nil
	}
	return closeLinkage().ReplaceAll(text, []byte(`extern$1"C" $2`))
}
