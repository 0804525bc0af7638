package llvm

import (
	_ "embed"
	"regexp"
	"sort"
	"strings"
	"sync"
)

//go:embed helpers.ll
var helpersText string

// helper is one function of helpers.ll and what it calls.
type helper struct {
	text string
	uses []string
}

var (
	defineLine = regexp.MustCompile(`(?m)^define [^@\n]*@([\w.]+)\(`)
	symbol     = regexp.MustCompile(`@([\w.]+)`)
)

// helpers is helpers.ll by name. It is our own text: a shape it does not have is a BUG.
var helpers = sync.OnceValue(func() map[string]helper {
	m := map[string]helper{}
	starts := defineLine.FindAllStringSubmatchIndex(helpersText, -1)
	for _, s := range starts {
		name := helpersText[s[2]:s[3]]
		end := strings.Index(helpersText[s[0]:], "\n}\n")
		if end < 0 {
			panic("BUG: helpers.ll: " + name + " has no end")
		}
		text := helpersText[s[0] : s[0]+end+3]
		var uses []string
		for _, u := range symbol.FindAllStringSubmatch(text, -1) {
			if u[1] != name {
				uses = append(uses, u[1])
			}
		}
		m[name] = helper{text: text, uses: uses}
	}
	return m
})

// Helpers gives the text of a module that defines the named functions and what they call in turn, and the names that
// we have no function for. The module is for every target.
func Helpers(names []string) (text string, unknown []string) {
	all := helpers()
	want := map[string]bool{}
	var add func(string)
	add = func(n string) {
		if want[n] || strings.HasPrefix(n, "llvm.") {
			return
		}
		want[n] = true
		for _, u := range all[n].uses {
			add(u)
		}
	}
	for _, n := range names {
		if _, ok := all[n]; !ok {
			unknown = append(unknown, n)
			continue
		}
		add(n)
	}
	var b strings.Builder
	for _, n := range sorted(want) {
		b.WriteString(all[n].text)
		b.WriteByte('\n')
	}
	for _, d := range intrinsics {
		if strings.Contains(b.String(), d.name+"(") {
			b.WriteString(d.declare)
			b.WriteByte('\n')
		}
	}
	return b.String(), unknown
}

// intrinsics are the declarations that helpers.ll needs.
var intrinsics = [...]struct{ name, declare string }{
	{"@llvm.ctlz.i64", "declare i64 @llvm.ctlz.i64(i64, i1)"},
	{"@llvm.ctlz.i128", "declare i128 @llvm.ctlz.i128(i128, i1)"},
	{"@llvm.ctlz.i256", "declare i256 @llvm.ctlz.i256(i256, i1)"},
	{"@llvm.umax.i64", "declare i64 @llvm.umax.i64(i64, i64)"},
	{"@llvm.smax.i64", "declare i64 @llvm.smax.i64(i64, i64)"},
	{"@llvm.smin.i64", "declare i64 @llvm.smin.i64(i64, i64)"},
}

func sorted(set map[string]bool) []string {
	names := make([]string, 0, len(set))
	for n := range set {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}
