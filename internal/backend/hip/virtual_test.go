package hip_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/backend/interp"
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
	"kudzu/internal/testkit"
	"kudzu/internal/testkit/hipdouble"
)

func property(dev int32, types cu.CUmemAllocationHandleType) *cu.CUmemAllocationProp {
	p := &cu.CUmemAllocationProp{Type: cu.CU_MEM_ALLOCATION_TYPE_PINNED, RequestedHandleTypes: types}
	p.Location.Type = cu.CU_MEM_LOCATION_TYPE_DEVICE
	*p.Location.Id() = dev
	return p
}

// access writes one entry of the list that cuMemSetAccess takes.
func access(t *testing.T, dev int32, flags cu.CUmemAccess_flags) hostmem.Ptr {
	t.Helper()
	h := hostmem.Ptr(testkit.NewHostPage(t, 64).Addr())
	hostmem.Store(h, cu.CUmemAccessDesc{Location: property(dev, 0).Location, Flags: flags})
	return h
}

// TestVirtual: two GPUs and an interpreter, each with memory that is mapped; a device sees what it was let see, and memory of one kind
// does not go to addresses of the other.
func TestVirtual(t *testing.T) {
	lib := hipdouble.Build(t)
	th := start(t, lib, "gfx1100,gfx1101", interp.New(interp.Config{}))
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	is := func(what string, err error, want cu.CUresult) {
		t.Helper()
		if !errors.Is(err, driver.Result(want)) {
			t.Errorf("%s: %v, want %d", what, err, want)
		}
	}
	for dev, want := range []int32{0, 0, 1} { // only what is a file of the process's can be given to others
		if v, err := th.DeviceGetAttribute(cu.CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, int32(dev)); err != nil || v != want {
			t.Errorf("device %d: files %d, %v", dev, v, err)
		}
		if v, err := th.DeviceGetAttribute(cu.CU_DEVICE_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED, int32(dev)); err != nil || v != 1 {
			t.Errorf("device %d: %d, %v", dev, v, err)
		}
	}
	_, err := th.MemCreate(1<<20, property(0, cu.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR), 0)
	is("memory for others", err, cu.CUDA_ERROR_NOT_SUPPORTED)
	unit, err := th.MemGetAllocationGranularity(property(1, 0), cu.CU_MEM_ALLOC_GRANULARITY_MINIMUM)
	ok(err)
	large, err := th.MemGetAllocationGranularity(property(2, 0), cu.CU_MEM_ALLOC_GRANULARITY_MINIMUM)
	ok(err)
	n := max(2*unit, large)
	at, err := th.MemAddressReserve(2*n, large, 0, 0)
	ok(err)
	mine, err := th.MemCreate(n, property(0, 0), 0)
	ok(err)
	theirs, err := th.MemCreate(n, property(1, 0), 0)
	ok(err)
	other, err := th.MemCreate(n, property(2, 0), 0)
	ok(err)
	is("memory of another kind", th.MemMap(at, n, 0, other, 0), cu.CUDA_ERROR_NOT_SUPPORTED)
	ok(th.MemRelease(other))
	ok(th.MemMap(at, n, 0, mine, 0))
	ok(th.MemMap(at+cu.CUdeviceptr(n), n, 0, theirs, 0))
	is("before access", th.MemsetD8(at, 1, 16), cu.CUDA_ERROR_INVALID_VALUE)
	ok(th.MemSetAccess(at, 2*n, access(t, 0, cu.CU_MEM_ACCESS_FLAGS_PROT_READWRITE), 1))
	ok(th.MemSetAccess(at, n, access(t, 1, cu.CU_MEM_ACCESS_FLAGS_PROT_READ), 1))
	is("a device of another kind", th.MemSetAccess(at, n, access(t, 2, cu.CU_MEM_ACCESS_FLAGS_PROT_READ), 1), cu.CUDA_ERROR_NOT_SUPPORTED)
	for i, want := range [][2]int{{3, 1}, {3, 0}} {
		for d, w := range want {
			if got := ask(t, lib, "kz_double_access", uintptr(uint64(at)+uint64(i)*n), uintptr(d)); got != w {
				t.Errorf("mapping %d, device %d: HIP lets it %d, want %d", i, d, got, w)
			}
		}
	}
	edge := at + cu.CUdeviceptr(n) - 8
	ok(th.MemsetD8(edge, 0x5a, 16))
	out := testkit.NewHostPage(t, 16)
	ok(th.MemcpyDtoH(hostmem.Ptr(out.Addr()), edge, 16))
	if !bytes.Equal(out, bytes.Repeat([]byte{0x5a}, 16)) {
		t.Errorf("% x", out)
	}
	ok(th.MemRelease(mine)) // what is mapped stays
	ok(th.MemsetD8(at, 1, 16))
	is("addresses in use", th.MemAddressFree(at, 2*n), cu.CUDA_ERROR_INVALID_VALUE)
	ok(th.CtxSynchronize()) // what is unmapped must not be in use
	ok(th.MemUnmap(at, 2*n))
	ok(th.MemRelease(theirs))
	ok(th.MemAddressFree(at, 2*n))
	if live := ask(t, lib, "kz_double_live", 0); live != 0 {
		t.Errorf("%d pieces of memory are left", live)
	}
}

// TestNoVirtual: ROCm 5 has the functions and says that they do not work.
func TestNoVirtual(t *testing.T) {
	th := start(t, hipdouble.Build(t, "-DROCM5"), "gfx1100")
	if v, err := th.DeviceGetAttribute(cu.CU_DEVICE_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED, 0); err != nil || v != 0 {
		t.Errorf("%d, %v", v, err)
	}
	if _, err := th.MemAddressReserve(1<<21, 0, 0, 0); !errors.Is(err, driver.Result(cu.CUDA_ERROR_NOT_SUPPORTED)) {
		t.Errorf("%v", err)
	}
}

// lent is how a process of this test is told what to open: the kind of device, the library, the handle.
const lent = "KUDZU_TEST_LENT"

// TestShared: memory of one process is seen by another, on HIP's handles and on files.
func TestShared(t *testing.T) {
	if v := os.Getenv(lent); v != "" {
		borrow(t, v)
		return
	}
	for _, kind := range []string{"hip", "hip -DROCM5", "interp"} {
		t.Run(kind, func(t *testing.T) {
			lib := ""
			if words := strings.Fields(kind); words[0] == "hip" {
				lib = hipdouble.Build(t, words[1:]...)
			}
			th := startKind(t, lib)
			const n = 100_000
			p, err := th.MemAlloc(n)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(th.MemsetD8(p, 3, n), th.CtxSynchronize()); err != nil { // the other process does not wait for the stream
				t.Fatal(err)
			}
			h, err := th.IpcGetMemHandle(p + 5000)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := th.IpcOpenMemHandle(h, 1); !errors.Is(err, driver.Result(cu.CUDA_ERROR_INVALID_CONTEXT)) {
				t.Errorf("a handle of one's own: %v", err)
			}
			bad := h
			bad.Reserved[0] ^= 0x55
			if _, err := th.IpcOpenMemHandle(bad, 1); !errors.Is(err, driver.Result(cu.CUDA_ERROR_INVALID_VALUE)) {
				t.Errorf("no handle: %v", err)
			}
			cmd := exec.Command(os.Args[0], "-test.run=^TestShared$", "-test.v")
			cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s:%s", lent, lib, hex.EncodeToString(h.Reserved[:])))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			out := testkit.NewHostPage(t, 4)
			if err := th.MemcpyDtoH(hostmem.Ptr(out.Addr()), p+n-4, 4); err != nil || out[0] != 9 {
				t.Errorf("the other process left %v, %v", out, err)
			}
		})
	}
}

// startKind puts the driver on a double, or without one on the interpreter.
func startKind(t *testing.T, lib string) *driver.Thread {
	t.Helper()
	if lib != "" {
		return start(t, lib, "gfx1100")
	}
	t.Setenv("KUDZU_BACKEND", "interp")
	driver.Start([]backend.Backend{interp.New(interp.Config{})})
	th := new(driver.Thread)
	if err := th.Init(0); err != nil {
		t.Fatal(err)
	}
	c, err := th.CtxCreate(0, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = th.CtxDestroy(c) })
	return th
}

// borrow is the other process.
func borrow(t *testing.T, v string) {
	lib, text, _ := strings.Cut(v, ":")
	th := startKind(t, lib)
	var h cu.CUipcMemHandle
	if b, err := hex.DecodeString(text); err != nil || copy(h.Reserved[:], b) != len(h.Reserved) {
		t.Fatal(err)
	}
	p, err := th.IpcOpenMemHandle(h, 1)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := th.IpcOpenMemHandle(h, 1); err != nil || again != p {
		t.Errorf("opened again: %#x, %v, was at %#x", again, err, p)
	}
	base, n, err := th.MemGetAddressRange(p + 10)
	if err != nil || base != p || n != 100_000 {
		t.Errorf("%d bytes at %#x, %v", n, base, err)
	}
	out := testkit.NewHostPage(t, 4)
	if err := th.MemcpyDtoH(hostmem.Ptr(out.Addr()), p+50_000, 4); err != nil || out[0] != 3 {
		t.Errorf("%v, %v", out, err)
	}
	if err := th.MemsetD8(p+99_996, 9, 4); err != nil {
		t.Error(err)
	}
	if err := th.CtxSynchronize(); err != nil {
		t.Error(err)
	}
	if err := th.MemFree(p); !errors.Is(err, driver.Result(cu.CUDA_ERROR_INVALID_VALUE)) {
		t.Errorf("freed as if it were ours: %v", err)
	}
	for range 2 {
		if err := th.IpcCloseMemHandle(p); err != nil {
			t.Error(err)
		}
	}
	if err := th.IpcCloseMemHandle(p); !errors.Is(err, driver.Result(cu.CUDA_ERROR_INVALID_VALUE)) {
		t.Errorf("closed once too often: %v", err)
	}
	if err := th.MemsetD8(p, 1, 4); err == nil {
		t.Error("closed memory is still there")
	}
}
