package fuse

import (
	_ "embed" // the functions
	"regexp"
	"strings"
	"sync"

	"kudzu/internal/packed"
)

//go:embed zkernels.lz4
var packedTexts []byte

var texts = packed.New(packedTexts)

// definition is a function or variable of c/math.c as PTX.
type definition struct {
	text string
	uses []string // other definitions that its text names
}

// library is what kernels may call, by name.
var library = sync.OnceValue(func() map[string]*definition {
	defined := regexp.MustCompile(`(?m)^(?:\.visible )?\.(?:func +\([^)]*\) |global [^=;]* )([a-z0-9_$]+)`)
	named := regexp.MustCompile(`[a-z][a-z0-9_$]+`)
	text := texts.Text("math")
	all := map[string]*definition{}
	for _, m := range defined.FindAllStringSubmatchIndex(text, -1) {
		name, rest := text[m[2]:m[3]], text[m[0]:]
		end := strings.Index(rest, "\n}\n")
		if semicolon := strings.Index(rest, ";"); semicolon < strings.Index(rest, "{") || strings.HasPrefix(rest, ".global") {
			end = -1
			if !strings.HasPrefix(rest, ".global") {
				continue // a declaration: who is used stands before its users
			}
			rest = rest[:semicolon+1] + "\n"
		}
		if end >= 0 {
			rest = rest[:end+3]
		}
		all[name] = &definition{text: strings.TrimPrefix(rest, ".visible ")}
	}
	for name, d := range all {
		for _, word := range named.FindAllString(d.text, -1) {
			if _, ok := all[word]; ok && word != name {
				d.uses = append(d.uses, word)
			}
		}
	}
	return all
})

// definitions writes functions and what they use, each once, before who uses it.
func definitions(names []string) string {
	var out strings.Builder
	done := map[string]bool{}
	var write func(name string)
	write = func(name string) {
		if done[name] {
			return
		}
		done[name] = true
		d := library()[name]
		for _, u := range d.uses {
			write(u)
		}
		out.WriteString(d.text)
	}
	for _, n := range names {
		write(n)
	}
	return out.String()
}
