package contract

import (
	"os"
	"os/exec"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/backend/cuda"
	"kudzu/internal/backend/interp"
	"kudzu/internal/cache"
	"kudzu/internal/compile/worker"
	"kudzu/internal/devices"
)

// TestMain serves as the compiler process when a backend starts this program again.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "compiler" {
		os.Exit(worker.Main(os.Args[2:]))
	}
	os.Exit(m.Run())
}

func open(t *testing.T, b backend.Backend) []backend.Device {
	t.Helper()
	devs, err := b.Open()
	if err != nil {
		t.Skipf("%s: %v", b.Name(), err)
	}
	return devs
}

func config(t *testing.T) devices.Config {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return devices.Config{Compiler: []string{self, "compiler"}, Cache: cache.Open(cache.Config{Dir: dir}), Strict: true}
}

func TestInterp(t *testing.T) {
	Run(t, &Subject{Name: "interp", Devices: open(t, interp.New(interp.Config{}))})
}

func TestCPU(t *testing.T) {
	Run(t, &Subject{Name: "cpu", Devices: open(t, devices.CPU(config(t)))})
}

// TestCUDA runs the rows on a real driver, the last in a process of its own: the driver refuses everything after a fault.
func TestCUDA(t *testing.T) {
	devs := open(t, cuda.New())
	last := rows[len(rows)-1].name
	skip := map[string]string{}
	if os.Getenv("KUDZU_CONTRACT_ALONE") == "" {
		skip[last] = "in a process of its own"
		t.Run("alone", func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestCUDA$/^a_fault_is_reported$")
			cmd.Env = append(os.Environ(), "KUDZU_CONTRACT_ALONE=1")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	Run(t, &Subject{Name: "cuda", Devices: devs, Skip: skip})
}
