package simt_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"kudzu/internal/compile/worker"
	"kudzu/internal/emit/simt"
	"kudzu/internal/lower"
	"kudzu/internal/pass"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/check"
)

var update = flag.Bool("update", false, "write the texts that the emitter gives")

// TestGolden writes in.ptx of each file as LLVM text for the targets that its first lines name ("targets: sm_90 gfx1100") and compares
// with the texts beside it. "no matrix units" is Config.NoMatrix. No LLVM is needed.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, file := range files {
		t.Run(strings.TrimPrefix(file, "testdata/"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := texts(t, a)
			if *update {
				a.Files = append(a.Files[:1], got...)
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			compareTexts(t, a.Files[1:], got)
		})
	}
}

// compareTexts names the first line of each text that differs.
func compareTexts(t *testing.T, want, got []txtar.File) {
	if len(want) != len(got) {
		t.Fatalf("%d texts, want %d (-update writes them)", len(got), len(want))
	}
	for i, g := range got {
		w := want[i]
		if w.Name != g.Name {
			t.Errorf("text %s, want %s", g.Name, w.Name)
			continue
		}
		wl, gl := strings.Split(string(w.Data), "\n"), strings.Split(string(g.Data), "\n")
		for j := range max(len(wl), len(gl)) {
			at := func(l []string) string {
				if j < len(l) {
					return l[j]
				}
				return "the end"
			}
			if at(wl) != at(gl) {
				t.Errorf("%s, line %d (-update writes what is):\n got %s\nwant %s", g.Name, j+1, at(gl), at(wl))
				break
			}
		}
	}
}

// texts are what a file's first lines ask for.
func texts(t *testing.T, a *txtar.Archive) (out []txtar.File) {
	t.Helper()
	targets := []string{"sm_90", "gfx1100"}
	noMatrix := false
	for line := range strings.Lines(string(a.Comment)) {
		if s, ok := strings.CutPrefix(line, "targets: "); ok {
			targets = strings.Fields(s)
		}
		noMatrix = noMatrix || strings.TrimSpace(line) == "no matrix units"
	}
	for _, target := range targets {
		kernels := front(t, string(a.Files[0].Data), strings.HasPrefix(target, "sm_"))
		code, err := simt.Emit(kernels, simt.Config{Target: target, NoMatrix: noMatrix})
		text := ""
		if err != nil {
			text = "error: " + err.Error() + "\n"
		} else {
			text = code.LLVM
		}
		out = append(out, txtar.File{Name: target + ".ll", Data: []byte(text)})
	}
	return out
}

// front is the kernels' IR after the passes for one thread a lane.
func front(t *testing.T, text string, nvidia bool) (kernels []simt.Kernel) {
	t.Helper()
	m, err := ptx.ParseModule(text)
	if err == nil {
		err = check.Module(m)
	}
	if err != nil {
		t.Fatal(err)
	}
	opts := lower.Options{GPU: true, NVIDIA: nvidia, Approximate: !nvidia}
	if nvidia {
		opts.Keep = lower.KeepNVPTX
	} else if text, changed := worker.WithRuntime(m); changed {
		if m, err = ptx.ParseModule(text); err != nil {
			t.Fatal(err)
		}
	}
	entries := slices.DeleteFunc(slices.Clone(m.Funcs), func(f *ptx.Func) bool { return f.Kind != ptx.Entry || f.Body == nil })
	for _, f := range entries {
		k, err := lower.Kernel(m, f.Name, opts)
		if err == nil {
			err = pass.Run(k, pass.Config{Threads: true, Lockstep: !nvidia})
		}
		if err != nil {
			t.Fatal(err)
		}
		params := make([]simt.Param, len(f.Params))
		for i, p := range f.Params {
			params[i] = simt.Param{Offset: int(p.Offset), Size: int(p.Size), Align: max(p.Align, 1)}
		}
		kernels = append(kernels, simt.Kernel{IR: k, Params: params})
	}
	return kernels
}
