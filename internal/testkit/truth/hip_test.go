package truth

import (
	"os"
	"testing"

	"kudzu/internal/backend/hip"
	"kudzu/internal/cache"
	"kudzu/internal/devices"
	"kudzu/internal/testkit/hipdouble"
)

// TestHIP compares code for AMD's GPUs with what NVIDIA's answered: on a GPU, or on what answers for the double (docs/amd.md).
// KUDZU_HIP_CASES=1 asks for it; -lines takes some lines, KUDZU_FULL=1 all instead of one of each form, KUDZU_TRUTH is where the list of
// differences goes.
func TestHIP(t *testing.T) {
	if os.Getenv("KUDZU_HIP_CASES") == "" {
		t.Skip("KUDZU_HIP_CASES is not set")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	cfg := devices.Config{Compiler: []string{self, "compiler"}, Cache: cache.Open(cache.Config{Dir: dir})}
	c := comparison{backend: devices.HIP(cfg), batch: 8, workers: 1, open: isaDir + "rows-open.txt", refuses: true, sample: 1}
	if os.Getenv("KUDZU_FULL") != "" {
		c.sample = 0
	}
	if os.Getenv("KUDZU_DOUBLE_RUNNER") != "" {
		lib := hipdouble.Build(t)
		c.backend = hip.New(hip.Config{Compiler: devices.Client(cfg), Library: lib})
		c.failed = func() { hipdouble.Reset(lib) } // a kernel that the runner could not run ends the double's device
	}
	c.run(t)
}
