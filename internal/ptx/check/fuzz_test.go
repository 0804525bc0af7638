package check

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kudzu/internal/ptx"
)

// FuzzCheck: any text is accepted or refused with reasons; what is accepted is accepted again when printed, and its kernels
// alone are accepted too.
func FuzzCheck(f *testing.F) {
	for _, pattern := range []string{"../testdata/good/*.ptx", "../testdata/syntax/*.ptx"} {
		files, _ := filepath.Glob(pattern)
		for _, name := range files {
			data, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(data))
		}
	}
	data, err := os.ReadFile(modulesFile)
	if err != nil {
		f.Fatal(err)
	}
	for _, part := range strings.Split("\n"+string(data), "\n=== ")[1:] {
		_, text, _ := strings.Cut(part, "\n")
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := Text(text)
		if err != nil {
			if list, ok := err.(ptx.ErrorList); !ok || len(list) == 0 {
				t.Fatalf("%T", err)
			}
			return
		}
		if _, err := Text(m.String()); err != nil {
			t.Fatalf("printed text is refused: %v\n%s", err, m.String())
		}
		x, err := ptx.IndexModule(text)
		if err != nil {
			t.Fatalf("checks, but does not index: %v", err)
		}
		for _, k := range x.Kernels() {
			if _, err := Kernel(x, k.Name); err != nil {
				t.Fatalf("kernel %s alone is refused: %v", k.Name, err)
			}
		}
	})
}
