// Package libdevice is NVIDIA's library of device functions, written anew: the functions of its user's guide, __nv_sin and the
// others, as LLVM IR that is linked to programs. Their bodies are C (c/*.h; fit.py computes the polynomials), which
// scripts/kernels.sh compiles to zlibdevice.ll; table.go says what each takes and how exact it is.
package libdevice

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"

	"kudzu/internal/packed"
)

//go:embed zkernels.lz4
var packedTexts []byte

var texts = packed.New(packedTexts)

// Text is the whole module.
func Text() string { return texts.Text("libdevice") }

// File is where a folder of CUDA's has the library as bitcode.
const File = "nvvm/libdevice/libdevice.10.bc"

// Prefix begins the name of every function.
const Prefix = "__nv_"

// module is the text in parts: reading all of it for each program would take longer than the rest of a small one's link.
type module struct {
	head, tail string
	parts      map[string]string   // definitions and declarations by name
	order      []string            // their names as the text has them
	uses       map[string][]string // names in a part
}

var (
	partName = regexp.MustCompile(`^(?:define|declare)?[^@]*@([\w.]+)`)
	anyName  = regexp.MustCompile(`@[\w.]+`)
)

var parsed = sync.OnceValue(func() *module { return parse(Text()) })

// parse cuts a module as scripts/kernels.sh writes it.
func parse(text string) *module {
	m := &module{parts: map[string]string{}, uses: map[string][]string{}}
	add := func(part string) {
		name := partName.FindStringSubmatch(part)[1]
		m.parts[name] = part
		m.order = append(m.order, name)
	}
	var tail, body strings.Builder
	for line := range strings.Lines(text) {
		switch {
		case body.Len() > 0 || strings.HasPrefix(line, "define "):
			body.WriteString(line)
			if line == "}\n" {
				add(body.String())
				body.Reset()
			}
		case strings.HasPrefix(line, "declare "), strings.HasPrefix(line, "@"):
			add(line)
		case strings.HasPrefix(line, "target "):
			m.head += line
		default:
			tail.WriteString(line)
		}
	}
	m.tail = strings.TrimLeft(tail.String(), "\n")
	for name, part := range m.parts {
		for _, u := range anyName.FindAllString(part, -1) {
			if u = u[1:]; u != name && !slices.Contains(m.uses[name], u) {
				m.uses[name] = append(m.uses[name], u)
			}
		}
	}
	return m
}

// For is a module with these functions and what they need, "" if none of them is of this library.
func For(names []string) string {
	m := parsed()
	wanted := map[string]bool{}
	var need func(name string)
	need = func(name string) {
		if _, ok := m.parts[name]; !ok || wanted[name] {
			return
		}
		wanted[name] = true
		for _, u := range m.uses[name] {
			need(u)
		}
	}
	for _, name := range names {
		if strings.HasPrefix(name, Prefix) {
			need(name)
		}
	}
	if len(wanted) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(m.head)
	for _, name := range m.order {
		if wanted[name] {
			b.WriteString(m.parts[name])
		}
	}
	b.WriteString(m.tail)
	return b.String()
}
