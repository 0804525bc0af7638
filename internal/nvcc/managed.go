package nvcc

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"kudzu/internal/cudacc"
)

// Managed variables. clang has none in CUDA: include/device declares them as variables of the device with an annotation. The device's
// side gets .attribute(.managed); on the host's side every use goes through a pointer that the runtime sets, as nvcc has it.

// mentions reports whether a source or a header of the program's has one of the words; deps is clang's rule for make.
func (b *build) mentions(in input, deps string, words ...string) bool {
	rule, err := os.ReadFile(deps)
	if err != nil {
		rule = []byte(in.path)
	}
	_, names, ok := strings.Cut(strings.ReplaceAll(string(rule), "\\\n", " "), ": ")
	if !ok {
		names = in.path
	}
	for _, name := range strings.Fields(strings.ReplaceAll(names, `\ `, "\x00")) {
		name = strings.ReplaceAll(name, "\x00", " ")
		if strings.HasPrefix(name, b.home+string(filepath.Separator)) {
			continue
		}
		text, err := os.ReadFile(name)
		if err == nil && slices.ContainsFunc(words, func(w string) bool { return bytes.Contains(text, []byte(w)) }) {
			return true
		}
	}
	return false
}

// annotations asks clang's front end for them.
func (b *build) annotations(in input, args []string) (cudacc.Annotations, error) {
	ir := b.between(stem(in.path) + ".device.ll")
	if err := b.front(in, append(args, "-o", ir)...); err != nil {
		return cudacc.Annotations{}, err
	}
	text, err := os.ReadFile(ir)
	return cudacc.ReadAnnotations(string(text)), err
}

// What host code gets beside its own: the pointers are set by the first use, as nvcc's programs do it.
const managedRuntime = `
@kudzu.managed.handle = internal global ptr null, align 8
@kudzu.managed.ready = internal global i8 0, align 1
declare signext i8 @__cudaInitModule(ptr)
define internal void @kudzu.managed.init() nounwind noinline {
  %ready = load i8, ptr @kudzu.managed.ready, align 1
  %is = icmp ne i8 %ready, 0
  br i1 %is, label %done, label %first
first:
  %handle = load ptr, ptr @kudzu.managed.handle, align 8
  %answer = call signext i8 @__cudaInitModule(ptr %handle)
  store i8 %answer, ptr @kudzu.managed.ready, align 1
  br label %done
done:
  ret void
}
`

// managedHost makes uses of managed variables in the host's IR go through their pointers.
func managedHost(ir string) (string, error) {
	names := cudacc.ReadAnnotations(ir).Managed
	if len(names) == 0 {
		return ir, nil
	}
	h := &hostManaged{}
	for _, n := range names {
		h.uses = append(h.uses, regexp.MustCompile(`@`+regexp.QuoteMeta(n)+`([^\w.$]|$)`))
	}
	h.names = names
	for line := range strings.Lines(ir) {
		if err := h.line(line); err != nil {
			return "", err
		}
	}
	out := h.out.String() + managedRuntime
	if !strings.Contains(ir, "@"+registerManaged+"(") { // clang 22 declares it where it knows the word
		out += "declare void @" + registerManaged + "(ptr, ptr, ptr, ptr, i32, i64, i32, i32)\n"
	}
	return out, nil
}

// hostManaged rewrites IR line by line.
type hostManaged struct {
	names    []string
	uses     []*regexp.Regexp
	out      strings.Builder
	entry    int // where the open function's first block begins in out; 0 outside
	register bool
	values   int
}

const (
	registerManaged = "__cudaRegisterManagedVar"
	registerGlobals = "@__cuda_register_globals("
)

func (h *hostManaged) line(line string) error {
	switch {
	case strings.HasPrefix(line, "define "):
		h.out.WriteString(line)
		h.entry, h.register = h.out.Len(), strings.Contains(line, registerGlobals)
		if h.register {
			h.out.WriteString("  store ptr %0, ptr @kudzu.managed.handle, align 8\n")
		}
		return nil
	case strings.HasPrefix(line, "}"):
		h.entry = 0
	case h.entry > 0 && h.out.Len() == h.entry && strings.HasSuffix(strings.TrimSpace(line), ":"):
		h.out.WriteString(line) // the first block's label
		h.entry = h.out.Len()
		return nil
	case strings.HasPrefix(line, "@llvm.global.annotations ="):
		return nil
	}
	if h.entry > 0 && h.register {
		line = h.registration(line)
	} else if h.entry > 0 {
		line = h.instruction(line)
	} else {
		var err error
		if line, err = h.global(line); err != nil {
			return err
		}
	}
	h.out.WriteString(line)
	return nil
}

// registration has the runtime set the pointer.
func (h *hostManaged) registration(line string) string {
	for i, n := range h.names {
		if h.uses[i].MatchString(line) {
			line = strings.Replace(line, "@__cudaRegisterVar(", "@"+registerManaged+"(", 1)
			line = h.uses[i].ReplaceAllString(line, "@"+n+".managed$1")
		}
	}
	return line
}

// global makes a pointer of the variable.
func (h *hostManaged) global(line string) (string, error) {
	for i, n := range h.names {
		if strings.HasPrefix(line, "@"+n+" = ") {
			linkage := ""
			if strings.Contains(line, " internal ") {
				linkage = "internal "
			}
			return fmt.Sprintf("@%s.managed = %sglobal ptr null, align 8\n", n, linkage), nil
		}
		if h.uses[i].MatchString(line) && strings.HasPrefix(line, "@") && !strings.HasPrefix(line, "@llvm.") {
			return "", fatalf("the address of managed variable '%s' is not a constant: it cannot initialize another variable", n)
		}
	}
	return line, nil
}

// constant is an expression in an operand; those with a value of ours become instructions.
var constant = regexp.MustCompile(`(getelementptr(?: inbounds| nuw| nusw)*|ptrtoint|bitcast) \(([^()]*%kudzu\.\d+[^()]*)\)`)

func (h *hostManaged) instruction(line string) string {
	var before strings.Builder
	fresh := func() string {
		h.values++
		return fmt.Sprintf("%%kudzu.%d", h.values)
	}
	for i, n := range h.names {
		if !h.uses[i].MatchString(line) {
			continue
		}
		v := fresh()
		fmt.Fprintf(&before, "  call void @kudzu.managed.init()\n  %s = load ptr, ptr @%s.managed, align 8\n", v, n)
		line = h.uses[i].ReplaceAllString(line, v+"$1")
	}
	if before.Len() == 0 {
		return line
	}
	for {
		m := constant.FindStringSubmatchIndex(line)
		if m == nil {
			break
		}
		v := fresh()
		fmt.Fprintf(&before, "  %s = %s %s\n", v, line[m[2]:m[3]], line[m[4]:m[5]])
		line = line[:m[0]] + v + line[m[1]:]
	}
	if !strings.Contains(line, " = phi ") {
		return before.String() + line
	}
	text := h.out.String() // nothing may stand between phis
	h.out.Reset()
	h.out.WriteString(text[:h.entry] + before.String() + text[h.entry:])
	return line
}
