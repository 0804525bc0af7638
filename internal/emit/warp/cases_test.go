package warp_test

import (
	"errors"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"kudzu/internal/emit/warp"
	"kudzu/internal/ir"
	"kudzu/internal/lower"
	"kudzu/internal/pass"
	"kudzu/internal/ptx"
)

// TestCasesCompile compiles every kernel of the case files for a known and an unknown block, and lists what it cannot do.
// The answers are testkit's to compare.
func TestCasesCompile(t *testing.T) {
	files, err := filepath.Glob("../../../testdata/cases/*/*.txtar")
	more, _ := filepath.Glob("../../lower/testdata/*/*/*.txtar")
	files = append(files, more...)
	if err != nil || len(files) == 0 {
		t.Fatal("no case files")
	}
	missing := map[string]int{}
	total := 0
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range txtar.Parse(b).Files {
			if !strings.HasSuffix(part.Name, ".ptx") {
				continue
			}
			m, err := ptx.ParseModule(string(part.Data))
			if err != nil {
				continue // a case about errors
			}
			for _, fn := range m.Funcs {
				if fn.Kind != ptx.Entry {
					continue
				}
				for _, block := range [][3]uint32{{64, 1, 1}, {}} {
					total++
					if u := tryCompile(t, string(part.Data), fn.Name, block); u != "" {
						missing[u]++
						t.Logf("%s %s: %s", filepath.Base(f), fn.Name, u)
					}
				}
			}
		}
	}
	var list []string
	for w := range missing {
		list = append(list, w)
	}
	sort.Strings(list)
	t.Logf("%d kernels, unsupported: %q", total, list)
}

func tryCompile(t *testing.T, text, name string, block [3]uint32) string {
	m, err := ptx.ParseModule(text)
	if err != nil {
		t.Fatal(err)
	}
	var u *ir.Unsupported
	k, err := lower.Kernel(m, name, lower.Options{})
	if err != nil {
		return "lower: " + err.Error()
	}
	if err := pass.Run(k, pass.Config{Block: block, Verify: true}); errors.As(err, &u) {
		return u.What
	} else if err != nil {
		t.Errorf("%s: %v", name, err)
		return ""
	}
	l := lib(t)
	o := options(l, "")
	code, err := warp.Emit(k, warp.Config{Block: block, CPU: o.CPU, Features: o.Features})
	if errors.As(err, &u) {
		return u.What
	} else if err != nil {
		t.Errorf("%s: %v", name, err)
		return ""
	}
	o.Passes, o.OptLevel = "", 0
	if testing.Short() {
		return ""
	}
	if _, err := l.Optimised(code.LLVM, o); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	return ""
}
