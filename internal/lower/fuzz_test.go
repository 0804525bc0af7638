package lower

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"kudzu/internal/ir"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/check"
)

// FuzzKernel: whatever the checker accepts is lowered to IR that verifies, or refused; nothing panics or hangs.
func FuzzKernel(f *testing.F) {
	for _, pattern := range []string{"testdata/*.txtar", "../../testdata/cases/*/*.txtar"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, name := range files {
			data, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			_, _, fs := parts(string(data))
			f.Add(fs["in.ptx"] + fs["kernel.ptx"])
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<16 {
			return
		}
		m, err := check.Text(text)
		if err != nil {
			return
		}
		for _, fn := range m.Funcs {
			if fn.Kind != ptx.Entry || fn.Body == nil {
				continue
			}
			mod, err := Kernel(m, fn.Name, Options{MaxInsts: 20_000})
			if u := (*Unsupported)(nil); errors.As(err, &u) {
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", fn.Name, err)
			}
			if err := ir.Verify(mod); err != nil {
				t.Fatalf("%s: %v", fn.Name, err)
			}
		}
	})
}
