package driver

import (
	"os"
	"slices"
	"testing"

	"kudzu/internal/cache"
	"kudzu/internal/compile/worker"
	"kudzu/internal/devices"
)

// TestMain serves as the compiler process when the cpu backend starts this program again.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "compiler" {
		os.Exit(worker.Main(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// tensorSample is a kernel of each kind.
var tensorSample = []string{"ld2", "ld3", "st2", "im4", "is4", "rdadd", "rdmin", "rpbox0", "rpaddr", "rpelemtype10", "mc2"}

// TestTensorCopiesCompiled is TestTensorCopies with compiled kernels: the cases of some of them, KUDZU_FULL=1 of all.
func TestTensorCopiesCompiled(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	cases := tensorCases(t)
	if os.Getenv("KUDZU_FULL") == "" {
		cases = slices.DeleteFunc(cases, func(x tensorCase) bool { return !slices.Contains(tensorSample, x.kernel) })
	}
	b := devices.CPU(devices.Config{Compiler: []string{self, "compiler"}, Cache: cache.Open(cache.Config{Dir: dir}), Strict: true})
	compareTensorCopies(t, func(t *testing.T) *tensorRig { return newTensorRigOn(t, b) }, cases)
}
