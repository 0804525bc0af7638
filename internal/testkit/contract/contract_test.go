package contract

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/backend/compare"
	"kudzu/internal/backend/dumper"
	"kudzu/internal/backend/hip"
	"kudzu/internal/backend/interp"
	"kudzu/internal/compile/worker"
	"kudzu/internal/config"
	"kudzu/internal/devices"
	"kudzu/internal/dump"
	"kudzu/internal/testkit/compiled"
	"kudzu/internal/testkit/hipdouble"
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
		t.Fatalf("%s: %v", b.Name(), err)
	}
	return devs
}

func TestInterp(t *testing.T) {
	Run(t, &Subject{Name: "interp", Devices: open(t, interp.New(interp.Config{}))})
}

func TestCPU(t *testing.T) {
	Run(t, &Subject{Name: "cpu", Devices: open(t, devices.CPU(compiled.Config(t)))})
}

// TestTiers runs the rows on baseline code while optimised code takes over.
func TestTiers(t *testing.T) {
	t.Setenv(config.Tier, "auto")
	Run(t, &Subject{Name: "both tiers", Devices: open(t, devices.CPU(compiled.Config(t)))})
}

// TestCompared runs the rows on the CPU with each launch compared: what stands in front of a device must not be noticed.
func TestCompared(t *testing.T) {
	lim, err := compare.ParseLimits("launches=1000")
	if err != nil {
		t.Fatal(err)
	}
	Run(t, &Subject{Name: "compare", Devices: open(t, devices.Compare(compare.Config{Device: devices.CPU(compiled.Config(t)), Limits: lim}))})
}

// TestDumped runs the rows on the CPU and on the interpreter with each launch dumped, with all memory that there is.
func TestDumped(t *testing.T) {
	for name, b := range map[string]backend.Backend{"cpu": devices.CPU(compiled.Config(t)), "interp": interp.New(interp.Config{})} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			cfg := dumper.Config{File: filepath.Join(dir, "k.kzd"), Every: true, All: true, Limit: 1 << 30}
			skip := map[string]string{"parameters are copied": "a launch behind one that waits for the test: it would be waited for half a minute, as TestCompared does"}
			Run(t, &Subject{Name: name + " dumped", Devices: open(t, dumper.New(b, cfg)), Skip: skip})
			files, err := filepath.Glob(filepath.Join(dir, "k-*.kzd"))
			if err != nil || len(files) < 5 {
				t.Fatalf("%d dumps, %v", len(files), err)
			}
			for _, f := range files {
				if _, err := dump.Open(f, 1<<30); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestCUDA runs the rows on a real driver, and TestCUDAVia with our own compiler in front of it.
func TestCUDA(t *testing.T)    { onDriver(t, "cuda", false) }
func TestCUDAVia(t *testing.T) { onDriver(t, "cuda via simt", true) }

// onDriver runs the last row in a process of its own: the driver refuses everything after a fault.
func onDriver(t *testing.T, name string, via bool) {
	devs, err := devices.CUDA(compiled.Config(t), via).Open()
	if err != nil {
		t.Skipf("no real driver: %v", err)
	}
	last := rows[len(rows)-1].name
	skip := map[string]string{}
	if os.Getenv("KUDZU_CONTRACT_ALONE") == "" {
		skip[last] = "in a process of its own"
		t.Run("alone", func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^"+strings.Split(t.Name(), "/")[0]+"$/^a_fault_is_reported$")
			cmd.Env = append(os.Environ(), "KUDZU_CONTRACT_ALONE=1")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	Run(t, &Subject{Name: name, Devices: devs, Skip: skip})
}

// TestHIP runs the rows on the double of libamdhip64, as ROCm 6 and as ROCm 5, the latter with a kernel driver that moves no memory.
func TestHIP(t *testing.T) {
	t.Setenv("KUDZU_DOUBLE_DEVICES", "gfx1100,gfx1201,gfx90a")
	for name, flags := range map[string][]string{"rocm 6": nil, "rocm 5": {"-DROCM5"}} {
		t.Run(name, func(t *testing.T) {
			if flags != nil {
				t.Setenv("KUDZU_DOUBLE_MANAGED", "0")
			}
			lib := hipdouble.Build(t, flags...)
			c := hipdouble.NewInterpreted(t, lib)
			b := hip.New(hip.Config{Compiler: c, Library: lib})
			devs, err := b.Open()
			if err != nil || len(devs) != 3 {
				t.Fatalf("%d devices, %v", len(devs), err)
			}
			for i, d := range devs {
				t.Run(d.Info().Name, func(t *testing.T) {
					Run(t, &Subject{Name: "hip", Devices: append(devs[i:len(devs):len(devs)], devs[:i]...)})
				})
			}
			runtime.GC() // fences that nobody gave back
			if built, ran := c.Counts(); built == 0 || ran == 0 {
				t.Errorf("%d code objects, %d launches", built, ran)
			}
			for kind, most := range []int{6 + 9, 3 + 3, 1 << 10, 3} { // what the row that faults leaves on each device, its variables in two places; mailbox and textures; a stream of our own
				if n := c.Live(kind); n > most {
					t.Errorf("%d things of kind %d are left", n, kind)
				}
			}
		})
	}
}

// TestRealHIP runs the rows on an AMD GPU where there is one.
func TestRealHIP(t *testing.T) {
	b := hip.New(hip.Config{Compiler: devices.Client(compiled.Config(t))})
	devs, err := b.Open()
	if err != nil {
		t.Skip(err)
	}
	last := rows[len(rows)-1].name
	Run(t, &Subject{Name: "hip", Devices: devs, Skip: map[string]string{last: "ROCm ends the process at a memory fault"}})
}
