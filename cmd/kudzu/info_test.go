package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"kudzu/internal/llvm"
)

// TestInfoTrial: info says whether the suite passes on the machine's libLLVM. A version that nobody tried is the
// machine's own library behind another that gives another number.
func TestInfoTrial(t *testing.T) {
	kudzu, _ := tree(t)
	lib, err := llvm.Open("")
	if err != nil {
		t.Skip(err)
	}
	stdout, _, code := runKudzu(t, kudzu, nil, "info")
	if want := regexp.MustCompile(`compiler   libLLVM ` + lib.Version() + ` \(.*\), tested; code for `); code != 0 || want.MatchString(stdout) != lib.Tested() {
		t.Errorf("%d: %s", code, stdout)
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	real := regexp.MustCompile(`/\S*/libLLVM\S*`).FindString(string(maps))
	cc, err := exec.LookPath("cc")
	if err != nil || real == "" {
		t.Skipf("cc %v, libLLVM at %q", err, real)
	}
	dir := t.TempDir()
	put(t, filepath.Join(dir, "version.c"), "void LLVMGetVersion(unsigned *a, unsigned *b, unsigned *c) { *a = 99, *b = 1, *c = 0; }\n")
	other := filepath.Join(dir, "libLLVM.so.99.1")
	if out, err := exec.Command(cc, "-shared", "-fPIC", "-o", other, filepath.Join(dir, "version.c"), "-Wl,--no-as-needed", real, "-Wl,-rpath,"+filepath.Dir(real)).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	env := []string{"KUDZU_LLVM=" + other}
	if stdout, _, code := runKudzu(t, kudzu, env, "info"); code != 0 || !strings.Contains(stdout, "libLLVM 99.1.0 ("+other+"), NEVER TRIED: this version of Kudzu was tested with libLLVM ") {
		t.Errorf("%d: %s", code, stdout)
	}
	if stdout, _, code := runKudzu(t, kudzu, env, "info", "--json"); code != 0 || !strings.Contains(stdout, `"llvm_tested": false`) {
		t.Errorf("%d: %s", code, stdout)
	}
}
