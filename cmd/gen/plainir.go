package main

import (
	"fmt"
	"regexp"
	"strings"
)

// libraryHead is what stands before the functions. The triple is the one that LLVM's linker takes for every NVIDIA GPU, and
// there is no layout: the program's counts.
const libraryHead = `target triple = "nvptx64-nvidia-gpulibs"

`

// libraryTail says which version of NVVM IR the module is.
const libraryTail = `
attributes #0 = { nounwind }
attributes #1 = { alwaysinline nounwind }
attributes #2 = { noinline nounwind }
attributes #3 = { nounwind memory(none) }

!nvvmir.version = !{!0}
!0 = !{i32 2, i32 0}
`

// plainRules take out of clang's text what older releases of LLVM do not read and what only holds for one target.
var plainRules = []struct {
	old *regexp.Regexp
	new string
}{
	{regexp.MustCompile(`(?m)^(;|source_filename|target |!).*\n`), ""},
	{regexp.MustCompile(`(?m)[ \t]+;.*$`), ""},
	{regexp.MustCompile(`,? ![a-z.]+ !\d+`), ""},
	{regexp.MustCompile(` (captures\([a-z]*\)|initializes\(\(\d+, \d+\)\)|range\([^)]*\)|noundef|nonnull|writeonly|readonly|dead_on_return|zeroext|signext|dso_local|local_unnamed_addr|unnamed_addr)`), ""},
	{regexp.MustCompile(`\bsamesign `), ""},
	{regexp.MustCompile(`\binbounds nuw\b`), "inbounds"},
	{regexp.MustCompile(`@llvm\.nvvm\.ex2\.approx(\.ftz)?\.f32\b`), "@llvm.nvvm.ex2.approx$1.f"},
	{regexp.MustCompile(`@kudzu_reflect\b`), "@__nvvm_reflect"},
	{regexp.MustCompile(`\n{3,}`), "\n\n"},
}

var (
	attributeGroup = regexp.MustCompile(`(?m)^attributes (#\d+) = \{(.*)\}\n`)
	attributeUse   = regexp.MustCompile(`(?m) (#\d+)( \{)?$`)
)

// plainIR is clang's text of a library, for every release of LLVM and every target. Of attributes only those stay that say
// whether a function is made a part of its caller.
func plainIR(text string) string {
	groups := map[string]string{}
	for _, m := range attributeGroup.FindAllStringSubmatch(text, -1) {
		words := " " + m[2] + " "
		switch {
		case strings.Contains(words, " alwaysinline "):
			groups[m[1]] = " #1"
		case strings.Contains(words, " noinline "):
			groups[m[1]] = " #2"
		default:
			groups[m[1]] = " #0"
		}
	}
	text = attributeGroup.ReplaceAllString(text, "")
	text = attributeUse.ReplaceAllStringFunc(text, func(s string) string {
		m := attributeUse.FindStringSubmatch(s)
		if m[2] == "" {
			return "" // of a call or a declaration
		}
		return groups[m[1]] + m[2]
	})
	for _, r := range plainRules {
		text = r.old.ReplaceAllString(text, r.new)
	}
	text = strings.Replace(text, "declare i32 @__nvvm_reflect(ptr)", "declare i32 @__nvvm_reflect(ptr) #3", 1)
	return fmt.Sprintf("%s%s%s", libraryHead, strings.TrimLeft(text, "\n"), libraryTail)
}
