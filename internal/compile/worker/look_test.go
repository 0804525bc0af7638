package worker

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kudzu/internal/compile"
)

// TestLook: a program that finds its headers one by one is told which is missing, in the same words when it was only preprocessed, and
// what that depends on; in the end it is compiled.
func TestLook(t *testing.T) {
	f := frontEnd(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file.h"), []byte("#define IN_A_FILE 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const steps = 4
	p := cudaProgram{source: "#include <file.h>\n#include \"h0.h\"\n__global__ void k(int *p) { *p = value; }\n", headers: map[string]string{}, options: []string{"-I" + dir}}
	for i := range steps {
		if looks := f.lacked(); looks != (i > 0) {
			t.Fatalf("step %d is looked at: %v", i, looks)
		}
		_, err := f.try(t, p)
		var bad *compile.CUDAError
		if !errors.As(err, &bad) {
			t.Fatalf("step %d: %v", i, err)
		}
		parent, line, name := fmt.Sprintf("h%d.h", i-1), 3, fmt.Sprintf("h%d.h", i)
		if i == 0 {
			parent, line = "default_program", 2
		}
		want := fmt.Sprintf("%s(%d): catastrophic error: cannot open source file %q\n", parent, line, name)
		if !strings.HasPrefix(bad.Log, want) || !strings.HasSuffix(bad.Log, "1 catastrophic error detected in the compilation of \"default_program\".\nCompilation terminated.\n") {
			t.Errorf("step %d: %s", i, bad.Log)
		}
		file := slices.IndexFunc(bad.Files, func(f compile.CUDAFile) bool {
			return f.Path == filepath.Join(dir, "file.h") && f.Size > 0 && f.Nanos > 0
		})
		none := slices.Contains(bad.Files, compile.CUDAFile{Path: filepath.Join(dir, name), Size: -1})
		if file < 0 || !none {
			t.Errorf("step %d depends on %+v", i, bad.Files)
		}
		if slices.ContainsFunc(bad.Files, func(f compile.CUDAFile) bool { return strings.Contains(f.Path, scratch) }) {
			t.Errorf("step %d depends on its own folder: %+v", i, bad.Files)
		}
		// A condition that only the macros of the file and of the prelude decide.
		p.headers[name] = fmt.Sprintf("#if IN_A_FILE && __CUDACC_RTC__ && !defined(nobody)\n#define value %d\n#include \"h%d.h\"\n#else\n#include \"other.h\"\n#endif\n", i, i+1)
	}
	p.headers[fmt.Sprintf("h%d.h", steps)] = "#undef value\n#define value 41\n"
	c := f.good(t, p)
	if !strings.Contains(c.Code, "41") || f.lacked() {
		t.Errorf("lacks %v:\n%s", f.lacked(), c.Code)
	}
	if _, err := f.try(t, cudaProgram{source: "}"}); err == nil || f.lacked() {
		t.Errorf("another mistake: %v, %v", err, f.lacked())
	}
}
