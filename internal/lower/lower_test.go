package lower

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kudzu/internal/ir"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
)

var update = flag.Bool("update", false, "write the wanted parts of testdata")

// Every mnemonic is lowered or has a reason why not.
func TestHoles(t *testing.T) {
	for op := isa.NoOp + 1; op < isa.NumOps; op++ {
		switch {
		case table[op].fn == nil && unsupported[op] == "":
			t.Errorf("%v is neither lowered nor in the list of what is not", op)
		case table[op].fn != nil && unsupported[op] != "":
			t.Errorf("%v is lowered and in the list of what is not", op)
		}
	}
}

// parts reads a txtar file: a comment, then "-- name --" lines and their text.
func parts(text string) (comment string, names []string, files map[string]string) {
	files = map[string]string{}
	cur := ""
	for _, line := range strings.SplitAfter(text, "\n") {
		s := strings.TrimSpace(line)
		if strings.HasPrefix(s, "-- ") && strings.HasSuffix(s, " --") {
			cur = strings.TrimSuffix(strings.TrimPrefix(s, "-- "), " --")
			names = append(names, cur)
			continue
		}
		if cur == "" {
			comment += line
		} else {
			files[cur] += line
		}
	}
	return comment, names, files
}

// lowerAll lowers every kernel of a module, verified, in one text.
func lowerAll(t *testing.T, text string) string {
	t.Helper()
	m, err := ptx.ParseModule(text)
	if err != nil {
		t.Fatalf("parse: %v", err)
	}
	var b strings.Builder
	for _, f := range m.Funcs {
		if f.Kind != ptx.Entry || f.Body == nil {
			continue
		}
		out, err := Kernel(m, f.Name, Options{})
		if err != nil {
			b.WriteString("error: " + err.Error() + "\n")
			continue
		}
		s := out.String()
		if err := ir.Verify(out); err != nil {
			t.Errorf("%s: %v\n%s", f.Name, err, s)
		}
		again, err := ir.Read(s)
		if err != nil {
			t.Errorf("%s: own text: %v", f.Name, err)
		} else if again.String() != s {
			t.Errorf("%s: text does not read back", f.Name)
		}
		b.WriteString(s)
	}
	return b.String()
}

// Each file of testdata has PTX and the IR it must become. -update writes the latter, for review.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no testdata", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			comment, _, fs := parts(string(data))
			got := lowerAll(t, fs["in.ptx"])
			if *update {
				text := comment + "-- in.ptx --\n" + fs["in.ptx"] + "-- want.ir --\n" + got
				if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != fs["want.ir"] {
				t.Errorf("got:\n%s", got)
			}
		})
	}
}

// Every behaviour case lowers to IR that verifies. What it computes is the case harness's business.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("../../testdata/cases/*/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases")
	}
	for _, file := range files {
		t.Run(filepath.Base(filepath.Dir(file))+"/"+filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, _, fs := parts(string(data))
			if text := fs["kernel.ptx"]; text != "" {
				if out := lowerAll(t, text); strings.HasPrefix(out, "error: ") {
					t.Log(out)
				}
			}
		})
	}
}
