package cudacc

import (
	"bytes"
	"path/filepath"
	"slices"
	"strconv"

	"kudzu/internal/lazyre"
)

// What nvcc's front end takes and clang refuses, and what a change of the text can help: the texts are changed in an overlay where
// clang's messages say so, and clang is asked again.

// Refusal is a place where clang refuses something: line and column from 1. A member is a name that its namespace does not have, a guide
// a deduction guide with an execution space, an offset an assertion that may be about the address of a null pointer's member, a host one
// the call of a host function by one that is for both sides; else it is the initialization of a shared variable.
type Refusal struct {
	Line, Column int
	Member       string
	Guide        bool
	Offset       bool
	Host         bool
}

// Refused are refusals by file.
type Refused map[string][]Refusal

var refusal = lazyre.New(`(?m)^(.+?):(\d+):(\d+): error: (?:initialization is not supported for __shared__ variables|no member named '(\w+)' in namespace '.*|in CUDA/HIP, (deduction guides) may only be annotated with .*|static assertion expression is not an (integral) constant expression|reference to __host__ (function) '.*' in __host__ __device__ function)$`)

// ReadRefused finds them in clang's messages.
func ReadRefused(text string) Refused {
	r := Refused{}
	for _, m := range refusal().FindAllStringSubmatch(text, -1) {
		line, _ := strconv.Atoi(m[2]) // digits
		column, _ := strconv.Atoi(m[3])
		if at := (Refusal{line, column, m[4], m[5] != "", m[6] != "", m[7] != ""}); !slices.Contains(r[m[1]], at) {
			r[m[1]] = append(r[m[1]], at)
		}
	}
	return r
}

// Names says whether functions are among them that their namespaces do not have. Should clang still complain when their calls have
// been postponed, what it said before is what the program's author can read.
func (r Refused) Names() bool {
	for _, list := range r {
		for _, at := range list {
			if at.Member != "" {
				return true
			}
		}
	}
	return false
}

// Amend is a text with other words for what clang refused, with the same lines; nil if nothing can be done.
func Amend(text []byte, refused []Refusal) []byte {
	lines := []int{0}
	for i, c := range text {
		if c == '\n' {
			lines = append(lines, i+1)
		}
	}
	var variables, calls []int
	changed, offsets := false, false
	for _, r := range refused {
		if r.Line < 1 || r.Line > len(lines) || lines[r.Line-1]+r.Column-1 >= len(text) {
			continue
		}
		at := lines[r.Line-1] + r.Column - 1
		if r.Offset {
			offsets = true
			continue
		}
		if r.Host {
			calls = append(calls, at)
			continue
		}
		if r.Guide {
			if t := unmarked(text, at); t != nil {
				text, changed = t, true
			}
			continue
		}
		if r.Member == "" {
			variables = append(variables, at)
			continue
		}
		if t := postpone(text, at, r.Member); t != nil {
			text, changed = t, true
		}
	}
	if t := uninitialized(text, variables); t != nil {
		text, changed = t, true
	} else if t := wrapCalls(text, calls); t != nil { // where both are, the offsets have changed: the next time
		text, changed = t, true
	}
	if t := nullMember().ReplaceAll(text, []byte("(__builtin_offsetof($1, $2))")); offsets && !bytes.Equal(t, text) {
		text, changed = t, true
	}
	if !changed {
		return nil
	}
	return text
}

// nullMember is an offset as CCCL spells it for NVRTC, whose front end takes it for a constant.
var nullMember = lazyre.New(`\(&\(\(\((\w+) ?\*\) ?0\)->(\w+)\)\)`)

var qualifiedCall = lazyre.New(`^(\w+)\s*\(`)

// postpone changes the call of a function that its namespace does not have into one of a name that is looked for when the template
// is instantiated: of cub::SyncStream(x) into cub__SyncStream(x). nvcc's front end complains only then. CCCL has such calls in
// templates that only host code uses. It is nil where there is no such call.
func postpone(text []byte, at int, member string) []byte {
	if m := qualifiedCall().FindSubmatch(text[at:]); m == nil || string(m[1]) != member {
		return nil
	}
	begin := at
	for begin > 0 && (text[begin-1] == ':' || text[begin-1] == '_' || isLetter(text[begin-1])) {
		begin--
	}
	if begin == at {
		return nil
	}
	text = slices.Clone(text)
	for i := begin; i < at; i++ {
		if text[i] == ':' {
			text[i] = '_'
		}
	}
	return text
}

// unmarked takes the words away that stand between the template's parameters and the name of a deduction guide, which is at at. nvcc's
// front end lets a guide have any execution space; clang has it that only both may be written, which a program that defines __host__ as
// nothing (jitify) does not write. It is nil where there are none.
func unmarked(text []byte, at int) []byte {
	begin := at
	for begin > 0 && (text[begin-1] == '_' || isLetter(text[begin-1]) || text[begin-1] == ' ' || text[begin-1] == '\t' || text[begin-1] == '\n') {
		begin--
	}
	if begin > 0 && text[begin-1] == '#' { // a directive is a line
		begin += bytes.IndexByte(text[begin:], '\n') + 1
	}
	changed := false
	words := guideMark().ReplaceAllFunc(text[begin:at], func(w []byte) []byte {
		if string(w) == "explicit" {
			return w
		}
		changed = true
		return bytes.Repeat([]byte{' '}, len(w))
	})
	if !changed {
		return nil
	}
	return slices.Concat(text[:begin], words, text[at:])
}

var guideMark = lazyre.New(`\w+`)

// isLetter says whether a character can be in a name, beside the underscore.
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' }

// Reshow changes what clang sees of a program named name, where it has refused something. It reports whether there is anything
// to try again. over is the program's overlay; its source and its headers in memory are files of Place.Work.
func (o *Options) Reshow(p *Place, over *Overlay, name string, refused Refused) (bool, error) {
	changed := false
	for file, at := range refused {
		path := file
		at = slices.DeleteFunc(slices.Clone(at), func(r Refusal) bool { return r.Host }) // NVRTC's programs have no host side
		if file == name {                                                                // its first line is below ours
			path = filepath.Join(p.Work, SourceFile)
			for i := range at {
				at[i].Line++
				if o.DefaultDevice {
					at[i].Line++
				}
			}
		}
		text, err := over.Read(path)
		if err != nil {
			continue
		}
		if text = Amend(text, at); text != nil {
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
