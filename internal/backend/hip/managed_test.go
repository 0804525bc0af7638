package hip_test

import (
	"errors"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
	api "kudzu/internal/spec/hip"
	"kudzu/internal/testkit"
	"kudzu/internal/testkit/hipdouble"

	hipbackend "kudzu/internal/backend/hip"
)

// start puts the driver on a double's devices, with a context of each, the first one's current.
func start(t *testing.T, lib, archs string, more ...backend.Backend) *driver.Thread {
	t.Helper()
	t.Setenv("KUDZU_DOUBLE_DEVICES", archs)
	t.Setenv("KUDZU_BACKEND", "hip")
	list := []backend.Backend{hipbackend.New(hipbackend.Config{Compiler: hipdouble.NewInterpreted(t, lib), Library: lib})}
	for _, b := range more {
		t.Setenv("KUDZU_BACKEND", "hip,"+b.Name())
	}
	driver.Start(append(list, more...))
	th := new(driver.Thread)
	if err := th.Init(0); err != nil {
		t.Fatal(err)
	}
	n, err := th.DeviceGetCount()
	for d := n - 1; d >= 0 && err == nil; d-- {
		var c cu.CUcontext
		if c, err = th.CtxCreate(0, cu.CUdevice(d)); err == nil {
			t.Cleanup(func() { _ = th.CtxDestroy(c) }) // a test may have done so
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return th
}

// TestManaged: managed memory is HIP's where HIP moves it, what programs say of it reaches HIP, and without that it is pinned.
func TestManaged(t *testing.T) {
	const n = 1 << 16
	for _, moves := range []bool{true, false} {
		lib := hipdouble.Build(t)
		t.Setenv("KUDZU_DOUBLE_MANAGED", map[bool]string{true: "1", false: "0"}[moves])
		th := start(t, lib, "gfx1100,gfx1101")
		ok := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		p, err := th.MemAllocManaged(n, uint32(cu.CU_MEM_ATTACH_GLOBAL))
		ok(err)
		ok(th.MemAdvise(p, n, cu.CU_MEM_ADVISE_SET_READ_MOSTLY, 0))
		ok(th.MemAdvise(p, n/2, cu.CU_MEM_ADVISE_SET_PREFERRED_LOCATION, cu.CU_DEVICE_CPU))
		ok(th.MemPrefetchAsync(p, n, 1, 0))
		ok(th.MemPrefetchAsync(p+n/2, n/2, cu.CU_DEVICE_CPU, 0))
		ok(th.CtxSynchronize())
		hostmem.Slice[byte](hostmem.Ptr(p), n)[n-1] = 1 // the host touches it
		out := testkit.NewHostPage(t, 4)
		ok(th.MemRangeGetAttribute(hostmem.Ptr(out.Addr()), 4, cu.CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, p, n/2))
		if out[0] != 1 {
			t.Errorf("was sent to %d", out[0])
		}
		host, want := -1, [4]int{1, 1, n, n / 2}
		if !moves {
			want = [4]int{}
		}
		got := [4]int{ask(t, lib, "kz_double_advised", 1), ask(t, lib, "kz_double_advised", 3), ask(t, lib, "kz_double_fetched", 1), ask(t, lib, "kz_double_fetched", uintptr(host))}
		if got != want {
			t.Errorf("moves %v: HIP heard %v, want %v", moves, got, want)
		}
		live := ask(t, lib, "kz_double_live", 0)
		ok(th.MemFree(p))
		if now := ask(t, lib, "kz_double_live", 0); now != live-1 {
			t.Errorf("%d allocations, %d after freeing", live, now)
		}
	}
}

// TestCodes: what HIP answers is what a program is told, in CUDA's numbers.
func TestCodes(t *testing.T) {
	for r, want := range map[int]cu.CUresult{
		api.HipErrorInvalidValue: cu.CUDA_ERROR_INVALID_VALUE, api.HipErrorNotSupported: cu.CUDA_ERROR_NOT_SUPPORTED, api.HipErrorNotFound: cu.CUDA_ERROR_NOT_FOUND,
		api.HipErrorInvalidConfiguration: cu.CUDA_ERROR_INVALID_VALUE, api.HipErrorInvalidSymbol: cu.CUDA_ERROR_NOT_FOUND, api.HipErrorInvalidTexture: cu.CUDA_ERROR_INVALID_VALUE,
		api.HipErrorRuntimeOther: cu.CUDA_ERROR_UNKNOWN, 12345: cu.CUDA_ERROR_UNKNOWN,
	} {
		if got := hipbackend.Result(r).CUDA(); got != int32(want) {
			t.Errorf("HIP's %d is CUDA's %d, not %d", r, want, got)
		}
	}
	for cuda, want := range map[cu.CUresult]int64{cu.CUDA_ERROR_NOT_FOUND: api.HipErrorNotFound, cu.CUDA_ERROR_INVALID_VALUE: api.HipErrorInvalidValue, cu.CUDA_ERROR_LAUNCH_FAILED: api.HipErrorLaunchFailure} {
		if got, ok := api.FromCUresult(int64(cuda)); !ok || got != want {
			t.Errorf("CUDA's %d is HIP's %d, not %d", cuda, want, got)
		}
	}
	t.Setenv("KUDZU_DOUBLE_MANAGED", "refused")
	th := start(t, hipdouble.Build(t), "gfx1100")
	_, err := th.MemAllocManaged(4096, uint32(cu.CU_MEM_ATTACH_GLOBAL))
	if !errors.Is(err, driver.Result(cu.CUDA_ERROR_NOT_SUPPORTED)) {
		t.Errorf("a refusal: %v", err)
	}
}
