package cudacc

import (
	"regexp"
	"strings"

	"kudzu/internal/lazyre"
)

// Annotations are what our headers say of variables and kernels that clang has no attribute for (include/device/kudzu/keywords.h). They are
// in clang's IR and not in its PTX.
type Annotations struct {
	Managed   []string          // variables
	Clusters  map[string]string // kernels, and the shape of their clusters: "4, 1, 1"
	Registers map[string]string // kernels, and how many registers a thread may have
}

// AnnotationWords are the words of a source that make annotations.
var AnnotationWords = []string{"__managed__", "__cluster_dims__", "__maxnreg__"}

var (
	annotationText = lazyre.New(`(?m)^(@[\w.]+) = [^\n]*c"kudzu\.(\w+)\\00"`)
	annotationArgs = lazyre.New(`(?m)^(@\.args[\w.]*) = [^\n]* constant \{[^}]*\} \{([^}]*)\}`)
	annotated      = lazyre.New(`\{ ptr (?:addrspacecast \(ptr addrspace\(\d\) )?@([\w.$]+)(?: to ptr\))?, ptr (@[\w.]+), ptr @[\w.]+, i32 \d+, ptr (@[\w.]+|null)`)
)

// ReadAnnotations finds them in IR.
func ReadAnnotations(ir string) Annotations {
	a := Annotations{Clusters: map[string]string{}, Registers: map[string]string{}}
	words, args := map[string]string{}, map[string]string{}
	for _, m := range annotationText().FindAllStringSubmatch(ir, -1) {
		words[m[1]] = m[2]
	}
	for _, m := range annotationArgs().FindAllStringSubmatch(ir, -1) {
		args[m[1]] = m[2]
	}
	at := strings.Index(ir, "\n@llvm.global.annotations =")
	if at < 0 {
		return a
	}
	line, _, _ := strings.Cut(ir[at+1:], "\n")
	for _, m := range annotated().FindAllStringSubmatch(line, -1) {
		switch words[m[2]] {
		case "managed":
			a.Managed = append(a.Managed, m[1])
		case "cluster_dims":
			a.Clusters[m[1]] = dims(args[m[3]])
		case "maxnreg":
			a.Registers[m[1]], _, _ = strings.Cut(dims(args[m[3]]), ",")
		}
	}
	return a
}

// dims makes " i32 4, i32 1 " the three numbers of a shape.
func dims(args string) string {
	n := []string{"1", "1", "1"}
	for i, w := range strings.SplitN(args, ",", 3) {
		if f := strings.Fields(w); len(f) > 0 {
			n[i] = f[len(f)-1]
		}
	}
	return strings.Join(n, ", ")
}

// Mark writes them into PTX.
func (a Annotations) Mark(ptx string) string {
	for _, name := range a.Managed {
		re := regexp.MustCompile(`(?m)^((?:\.visible |\.extern |\.weak )?\.global )(\.align [^\n]*[ \t]` + regexp.QuoteMeta(name) + `(?:__static__\w+)?(?:\[\d*\])?(?: =|;))`)
		ptx = re.ReplaceAllString(ptx, "$1.attribute(.managed) $2")
	}
	for name, shape := range a.Clusters {
		ptx = direct(ptx, name, ".explicitcluster\n.reqnctapercluster "+shape)
	}
	for name, n := range a.Registers {
		ptx = direct(ptx, name, ".maxnreg "+n)
	}
	return ptx
}

// direct writes directives behind a kernel's parameters.
func direct(ptx, kernel, directives string) string {
	re := regexp.MustCompile(`(?s)(\.entry ` + regexp.QuoteMeta(kernel) + `\([^)]*\))`)
	return re.ReplaceAllString(ptx, "$1\n"+directives)
}
