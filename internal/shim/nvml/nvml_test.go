package nvml

import (
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/devices"
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/nv"
)

// page is memory of the program: none of Go's, which checkptr would find in addresses that come as numbers.
var page = func() []byte {
	b, err := syscall.Mmap(-1, 0, 1<<16, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		panic(err)
	}
	return b
}()

func text(t *testing.T, f func(p hostmem.Ptr, n uint32) error) string {
	t.Helper()
	p := hostmem.Of(&page[0])
	if err := f(p, 96); err != nil {
		t.Fatal(err)
	}
	return hostmem.String(p)
}

func TestDevice(t *testing.T) {
	driver.Start([]backend.Backend{devices.CPU(devices.Config{})})
	th, p := new(Thread), hostmem.Of(&page[0])
	if _, err := th.DeviceGetCount(); ReturnOf(err) != uninitialized {
		t.Fatalf("before init: %v", err)
	}
	if err := th.Shutdown(); ReturnOf(err) != uninitialized {
		t.Fatalf("shutdown before init: %v", err)
	}
	for range 2 {
		if err := th.Init(); err != nil {
			t.Fatal(err)
		}
	}
	if err := th.Shutdown(); err != nil { // one init is left
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = th.Shutdown() })
	if n, err := th.DeviceGetCount(); err != nil || n < 1 {
		t.Fatalf("%d devices, %v", n, err)
	}
	h, err := th.DeviceGetHandleByIndex(0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := th.DeviceGetHandleByIndex(1000); ReturnOf(err) != invalidArgument {
		t.Fatalf("device 1000: %v", err)
	}
	if err := th.DeviceGetName(h+7, p, 96); ReturnOf(err) != invalidArgument {
		t.Fatalf("a wrong handle: %v", err)
	}
	if err := th.DeviceGetName(h, p, 2); ReturnOf(err) != insufficient {
		t.Fatalf("a short name: %v", err)
	}
	uuid := text(t, func(p hostmem.Ptr, n uint32) error { return th.DeviceGetUUID(h, p, n) })
	if g, err := th.DeviceGetHandleByUUID(uuid); err != nil || g != h {
		t.Fatalf("by %s: %v %v", uuid, g, err)
	}
	if g, err := th.DeviceGetHandleByUUID(strings.TrimPrefix(uuid, "GPU-")); err != nil || g != h {
		t.Fatalf("by %s without its word: %v %v", uuid, g, err)
	}
	if err := th.DeviceGetPciInfo(h, p); err != nil {
		t.Fatal(err)
	}
	bus := hostmem.String(p.Add(36))
	if g, err := th.DeviceGetHandleByPciBusId(bus); err != nil || g != h {
		t.Fatalf("by %q: %v %v", bus, g, err)
	}
	if _, err := th.DeviceGetHandleByPciBusId("nonsense"); ReturnOf(err) != invalidArgument {
		t.Fatalf("by nonsense: %v", err)
	}
	if v := text(t, th.SystemGetDriverVersion); v != DriverVersion() {
		t.Fatalf("driver version %q", v)
	}
	if err := th.DeviceGetMemoryInfoV2(h, p); ReturnOf(err) != wrongVersion {
		t.Fatalf("memory without a version: %v", err)
	}
	hostmem.Store(p, version(40, 2))
	if err := th.DeviceGetMemoryInfoV2(h, p); err != nil {
		t.Fatal(err)
	}
	if m := hostmem.Load[nv.NvmlMemory_v2_t](p); m.Total == 0 || m.Free+m.Used != m.Total {
		t.Fatalf("memory %+v", m)
	}
}

// used says that a test of this process has used a device: then it is listed for good.
var used atomic.Bool

// TestProcesses: a process that takes memory is listed with it.
func TestProcesses(t *testing.T) {
	driver.Start([]backend.Backend{devices.CPU(devices.Config{})})
	th, p := new(Thread), hostmem.Of(&page[0])
	if err := th.Init(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = th.Shutdown() }) // every test has its own
	h, _ := th.DeviceGetHandleByIndex(0)
	find := func() (used uint64, listed bool) {
		hostmem.Store(p, uint32(1000))
		if err := th.DeviceGetComputeRunningProcesses(h, p, p.Add(64)); err != nil {
			t.Fatal(err)
		}
		all := hostmem.Slice[nv.NvmlProcessInfo_v2_t](p.Add(64), int(hostmem.Load[uint32](p)))
		i := slices.IndexFunc(all, func(q nv.NvmlProcessInfo_v2_t) bool { return int(q.Pid) == os.Getpid() })
		if i < 0 {
			return 0, false
		}
		return all[i].UsedGpuMemory, true
	}
	if _, listed := find(); listed && !used.Load() {
		t.Fatal("listed before any use")
	}
	used.Store(true)
	d := (*driver.Thread)(th)
	ctx, err := d.DevicePrimaryCtxRetain(0)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.CtxSetCurrent(ctx); err != nil {
		t.Fatal(err)
	}
	before, _ := find()
	m, err := d.MemAlloc(8 << 20)
	if err != nil {
		t.Fatal(err)
	}
	bytes, listed := find()
	if !listed {
		t.Skip("no roster on this machine")
	}
	if bytes < before+8<<20 {
		t.Fatalf("8 MiB later %d bytes, before %d", bytes, before)
	}
	if err := d.MemFree(m); err != nil {
		t.Fatal(err)
	}
	hostmem.Store(p, uint32(0))
	if err := th.DeviceGetComputeRunningProcesses(h, p, 0); ReturnOf(err) != insufficient || hostmem.Load[uint32](p) == 0 {
		t.Fatalf("no room: %v, %d", err, hostmem.Load[uint32](p))
	}
	if err := th.DeviceGetUtilizationRates(h, p); err != nil || hostmem.Load[uint32](p) > 100 {
		t.Fatalf("utilisation %d, %v", hostmem.Load[uint32](p), err)
	}
}
