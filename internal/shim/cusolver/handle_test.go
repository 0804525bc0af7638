package cusolver

import (
	"errors"
	"os"
	"sync"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/compile/worker"
	"kudzu/internal/devices"
	"kudzu/internal/driver"
	"kudzu/internal/spec/rt"
	"kudzu/internal/spec/solver"
)

// TestMain serves as the compiler process when the cpu backend starts this program again.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "compiler" {
		os.Exit(worker.Main(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// start opens the device once: a process has one driver.
var start = sync.OnceValue(func() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	driver.Start([]backend.Backend{devices.CPU(devices.Config{Compiler: []string{self, "compiler"}, Strict: true})})
	return nil
})

// open makes a handle.
func open(t *testing.T) (*Thread, solver.CusolverDnHandle_t) {
	t.Helper()
	if err := start(); err != nil {
		t.Fatal(err)
	}
	th := new(Thread)
	h, err := th.DnCreate()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := th.DnDestroy(solver.CusolverDnHandle_t(h)); err != nil {
			t.Error(err)
		}
	})
	return th, solver.CusolverDnHandle_t(h)
}

// TestHandle: modes are kept, values that are none refused, and handles that are gone known as such.
func TestHandle(t *testing.T) {
	th, h := open(t)
	if err := th.DnSetDeterministicMode(h, solver.CUSOLVER_ALLOW_NON_DETERMINISTIC_RESULTS); err != nil {
		t.Error(err)
	}
	if m, err := th.DnGetDeterministicMode(h); m != solver.CUSOLVER_ALLOW_NON_DETERMINISTIC_RESULTS || err != nil {
		t.Error(m, err)
	}
	if err := th.DnSetDeterministicMode(h, 7); err != internalError {
		t.Error(err)
	}
	if err := th.DnSetMathMode(h, 8); err != invalidValue {
		t.Error(err)
	}
	if err := th.DnSetStream(h, rt.CudaStream_t(2)); err != nil {
		t.Error(err)
	}
	if s, err := th.DnGetStream(h); s != 2 || err != nil {
		t.Error(s, err)
	}
	if _, err := th.DnGetStream(0); err != notInitialized {
		t.Error(err)
	}
	if err := th.DnDestroy(12345); err != notInitialized {
		t.Error(err)
	}
}

// TestParams: parameters answer what they were told, and refuse what makes no sense.
func TestParams(t *testing.T) {
	th, h := open(t)
	v, err := th.DnCreateGesvdjInfo()
	if err != nil {
		t.Fatal(err)
	}
	info := solver.GesvdjInfo_t(v)
	if err := errors.Join(th.DnXgesvdjSetTolerance(info, 1e-9), th.DnXgesvdjSetMaxSweeps(info, 20), th.DnXgesvdjSetSortEig(info, 0)); err != nil {
		t.Error(err)
	}
	if _, err := th.DnXgesvdjGetSweeps(h, info); err != nil {
		t.Error(err)
	}
	if err := th.DnDestroyGesvdjInfo(info); err != nil {
		t.Error(err)
	}
	if err := th.DnXgesvdjSetTolerance(info, 1); err != invalidValue {
		t.Error(err)
	}
	p, err := th.DnIRSParamsCreate()
	if err != nil {
		t.Fatal(err)
	}
	irs := solver.CusolverDnIRSParams_t(p)
	if n, err := th.DnIRSParamsGetMaxIters(irs); n != 50 || err != nil {
		t.Error(n, err)
	}
	if err := th.DnIRSParamsSetMaxItersInner(irs, 99999); err != badParams {
		t.Error(err)
	}
	if err := th.DnIRSParamsDestroy(irs); err != nil {
		t.Error(err)
	}
	if err := th.DnIRSParamsDestroy(irs); err != noParams {
		t.Error(err)
	}
}
