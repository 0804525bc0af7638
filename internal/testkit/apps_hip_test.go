package testkit

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/backend/hip"
	"kudzu/internal/backend/interp"
	"kudzu/internal/driver"
	"kudzu/internal/testkit/hipdouble"
	"kudzu/internal/testkit/libdouble"
)

// Whole programs on backend/hip: nothing of ROCm, a real library without a device, and the double with kernels that the
// compiler really made.

const cpuDevice = "Kudzu CPU, warps of 32, 49152 bytes\n"

func TestAppWithoutROCm(t *testing.T) {
	exe := appProgram(t, "app_hip")
	none := func(b string) *app {
		return newApp(t, b, exe).set("KUDZU_HIP_LIBRARY", "/nonexistent/libamdhip64.so.6")
	}
	none("hip").run().wantOut(t, "init 100\n")
	none("hip,cpu").run().wantOut(t, "init 0\n0: "+cpuDevice+"0 wrong, host function called 1 times, time passed\n")
	none("").run().want(t, "init 0\n0: "+cpuDevice+"0 wrong, host function called 1 times, time passed\n")
}

// TestAppRealROCm: the library of this machine, Debian's 5.2 say, on a machine without a GPU: one line says so, the program hears
// CUDA_ERROR_NO_DEVICE, and with the processor behind it, goes on.
func TestAppRealROCm(t *testing.T) {
	exe := appProgram(t, "app_hip")
	b := hip.New(hip.Config{})
	switch devs, err := b.Open(); {
	case b.Library() == "":
		t.Skip(err) // no libamdhip64 here
	case err == nil:
		t.Skipf("%s has %d devices", b.Library(), len(devs))
	}
	r := newApp(t, "hip", exe).run()
	r.wantOut(t, "init 100\n")
	if n := strings.Count(strings.TrimSpace(r.stderr), "\n"); n != 0 || !strings.Contains(r.stderr, "ROCm (") {
		t.Errorf("it said %q", r.stderr)
	}
	newApp(t, "hip,cpu", exe).run().wantOut(t, "init 0\n0: "+cpuDevice+"0 wrong, host function called 1 times, time passed\n")
}

// TestAppOnDouble: two AMD devices and the CPU in one process. The kernels are compiled for gfx1100 and gfx1201; who runs
// them is this program started again, on the interpreter.
func TestAppOnDouble(t *testing.T) {
	lib := hipdouble.Build(t)
	dir := t.TempDir()
	socket, arena, ptx := hipdouble.Socket(t), filepath.Join(dir, "arena"), filepath.Join(dir, "ptx")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	runner := exec.Command(self, "hip-runner", socket, arena, ptx)
	out, err := runner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := runner.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	runner.Stderr = os.Stderr
	if err := runner.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close() // it ends with its input
		_ = runner.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("runner: %q, %v", line, err)
	}
	a := newApp(t, "hip,cpu", appProgram(t, "app_hip"), ptx).set("KUDZU_HIP_LIBRARY", lib).set("KUDZU_DOUBLE_RUNNER", socket).
		set("KUDZU_DOUBLE_ARENA", arena).set("KUDZU_DOUBLE_DEVICES", "gfx1100,gfx1201")
	const line = "0 wrong, host function called 1 times, time passed\n"
	a.run().want(t, "init 0\n0: Double 0 (gfx1100), warps of 32, 49152 bytes\n1: Double 1 (gfx1201), warps of 32, 49152 bytes\n2: "+cpuDevice+line+line+line)
}

// TestAppLibraries: cuBLAS and NVML in a whole process, on a device of the double, done by doubles of rocBLAS and ROCm SMI. Nobody runs
// kernels: what is right was not done by ours.
func TestAppLibraries(t *testing.T) {
	blas := libdouble.Build(t, "rocblas", "librocblas.so.4", map[string]string{
		"rocblas_create_handle": "*(uintptr_t *)p_handle = 1;",
		"rocblas_sgemm":         libdouble.Sgemm,
	})
	smi := libdouble.Build(t, "rsmi", "librocm_smi64.so.7", map[string]string{
		"rsmi_num_monitor_devices": "*(uint32_t *)p_num_devices = 1;", "rsmi_dev_pci_id_get": "*(uint64_t *)p_bdfid = 3 << 8;",
		"rsmi_dev_temp_metric_get": "*(int64_t *)p_temperature = 55000;", "rsmi_dev_power_get": "*(uint64_t *)p_power = 120000000;",
	})
	newApp(t, "hip", appProgram(t, "app_libraries", "-lcuda", "-ldl")).set("KUDZU_HIP_LIBRARY", hipdouble.Build(t)).set("KUDZU_DOUBLE_DEVICES", "gfx1100").
		set("KUDZU_ROCBLAS_LIBRARY", blas.Path).set("KUDZU_ROCM_SMI_LIBRARY", smi.Path).
		run().want(t, "cublas 0: 30 36 42 30 36 42\ndestroy 0, nvml 0: 55 degrees, power 0: 120000 mW\n")
}

// hipRunner runs kernels for a double in another process, from the PTX they came from. TestMain calls it.
func hipRunner(socket, arena, ptx string) error {
	err := hipdouble.Listen(socket, func(l *hipdouble.Launch) error {
		if err := hipdouble.Map(arena, l.Arena); err != nil {
			return err
		}
		text, err := os.ReadFile(ptx)
		if err != nil {
			return err
		}
		m, err := driver.Describe("app", string(text), capability(string(text)))
		if err != nil {
			return err
		}
		d := interp.NewDevice(&backend.Info{WarpSize: 32, Major: 9, MaxThreads: 1024, Processors: 2}, everywhere{l.Arena}, everywhere{l.Arena}, io.Discard, io.Discard)
		p, err := d.LoadWith(m, func(string) (backend.Addr, uint64, error) { return 0, 0, backend.ErrNotFound })
		if err != nil {
			return err
		}
		k, err := p.Kernel(l.Kernel)
		if err != nil {
			return err
		}
		for i := range m.Kernels {
			if m.Kernels[i].Name == l.Kernel {
				return interp.RunNow(k, &backend.Launch{Grid: l.Grid, Block: l.Block, DynamicShared: l.LDS, Params: l.Arguments(m.Kernels[i].ParamBytes)})
			}
		}
		return backend.ErrNotFound
	})
	if err != nil {
		return err
	}
	if _, err := os.Stdout.WriteString("ready\n"); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// everywhere is all of the arena, as one allocation.
type everywhere struct{ base uint64 }

func (e everywhere) Find(addr uint64) (base, size uint64, ok bool) {
	return e.base, hipdouble.ArenaBytes, addr-e.base < hipdouble.ArenaBytes
}

func (e everywhere) Alloc(uint64, uint64) (backend.Addr, error) { return 0, backend.ErrNoMemory }
func (e everywhere) Free(backend.Addr) error                    { return backend.ErrNotFound }
