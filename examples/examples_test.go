// Package examples tests the example programs: each must agree with what a real GPU computed (want.txt: a checksum of the
// results, recorded on an NVIDIA H200) on every executor.
package examples

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const root = ".."

func kudzu(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(root, "dist/bin/kudzu"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Skip("no dist/bin/kudzu: make dist examples builds it")
	}
	return path
}

func wants(t *testing.T, name string) map[string]string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(name, "want.txt"))
	if err != nil {
		t.Fatal(err)
	}
	w := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		k, v, ok := strings.Cut(line, " ")
		if !ok {
			t.Fatalf("%s/want.txt: %q", name, line)
		}
		w[k] = v
	}
	return w
}

// TestExamples runs the small form on both executors and the full form on the compiler.
func TestExamples(t *testing.T) {
	kz := kudzu(t)
	dirs, err := filepath.Glob("*/kernel.cu")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, d := range dirs {
		name := filepath.Dir(d)
		prog, err := filepath.Abs(filepath.Join(root, ".build/examples", name))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(prog); err != nil {
			t.Skip("examples are not built: make examples")
		}
		want := wants(t, name)
		for _, run := range []struct{ backend, form string }{{"interp", "small"}, {"cpu", "small"}, {"cpu", "full"}} {
			t.Run(name+"/"+run.backend+"/"+run.form, func(t *testing.T) {
				out := runExample(t, kz, prog, run.backend, run.form == "small")
				if !strings.Contains(out, "\nok\n") {
					t.Errorf("the program says:\n%s", out)
				}
				if !strings.Contains(out, "result: "+want[run.form]+"\n") {
					t.Errorf("result differs from the hardware's %s:\n%s", want[run.form], out)
				}
				if strings.Contains(out, "is interpreted") {
					t.Errorf("the compiler gave up:\n%s", out)
				}
			})
		}
	}
}

func runExample(t *testing.T, kz, prog, backend string, small bool) string {
	t.Helper()
	cmd := exec.Command(kz, "run", "--backend", backend, "--", prog, t.TempDir())
	// What is optimised in the background would be written to the test's folder while that is removed.
	cmd.Env = append(os.Environ(), "KUDZU_CACHE_DIR="+cacheDir(t), "KUDZU_TIER=optimised")
	if small {
		cmd.Env = append(cmd.Env, "KUDZU_EXAMPLE_SMALL=1")
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return string(out)
}

func cacheDir(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "cache")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}
