package driver

import (
	"syscall"
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

func TestVirtualMemory(t *testing.T) {
	th, c, m := onInterp(t)
	prop := cu.CUmemAllocationProp{Type: cu.CU_MEM_ALLOCATION_TYPE_PINNED, RequestedHandleTypes: cu.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR}
	prop.Location.Type = cu.CU_MEM_LOCATION_TYPE_DEVICE
	unit, err := th.MemGetAllocationGranularity(&prop, 0)
	want(t, "granularity", err, 0)
	if v, _ := th.DeviceGetAttribute(cu.CU_DEVICE_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED, 0); v != 1 {
		t.Error("not said to be there")
	}
	_, err = th.MemAddressReserve(unit+1, 0, 0, 0)
	want(t, "odd size", err, 1)
	at, err := th.MemAddressReserve(4*unit, 8*unit, 0, 0)
	want(t, "reserve", err, 0)
	if uint64(at)%(8*unit) != 0 {
		t.Errorf("%#x is not aligned", at)
	}
	free0, _, _ := th.MemGetInfo()
	a, err := th.MemCreate(unit, &prop, 0)
	want(t, "create", err, 0)
	b, err := th.MemCreate(2*unit, &prop, 0)
	want(t, "create", err, 0)
	if free, _, _ := th.MemGetInfo(); free0-free != 3*unit {
		t.Errorf("%d bytes counted", free0-free)
	}
	want(t, "map", th.MemMap(at, unit, 0, a, 0), 0)
	want(t, "map there again", th.MemMap(at, unit, 0, a, 0), 1)
	want(t, "map", th.MemMap(at+DevPtr(unit), 2*unit, 0, b, 0), 0)
	want(t, "past the end", th.MemMap(at+DevPtr(3*unit), 2*unit, 0, b, 0), 1)
	want(t, "untouchable", th.MemsetD8(at, 1, 8), 1)
	poke := mustFn(t, th, m, "poke")
	desc := c.words(0, 0)
	hostmem.Store(desc, cu.CUmemAccessDesc{Location: prop.Location, Flags: cu.CU_MEM_ACCESS_FLAGS_PROT_READWRITE})
	want(t, "access with a hole", th.MemSetAccess(at, 4*unit, desc, 1), 1)
	want(t, "access", th.MemSetAccess(at, 3*unit, desc, 1), 0)
	if f, err := th.MemGetAccess(&prop.Location, at+DevPtr(unit)); err != nil || f != 3 {
		t.Errorf("access %d %v", f, err)
	}
	// A set across two mappings, a kernel in the second, and what the host sees.
	edge := at + DevPtr(unit) - 8
	want(t, "set across", th.MemsetD8(edge, 0x5a, 16), 0)
	want(t, "poke", th.LaunchKernel(poke, 1, 1, 1, 1, 1, 1, 0, 0, c.params(uint64(at)+unit+4096), 0), 0)
	out := c.words(0, 0)
	want(t, "copy across", th.MemcpyDtoH(out, edge, 16), 0)
	if v := hostmem.Load[[2]uint64](out); v != [2]uint64{0x5a5a5a5a5a5a5a5a, 0x5a5a5a5a5a5a5a5a} {
		t.Errorf("%#x", v)
	}
	if v := hostmem.Load[uint32](hostmem.Ptr(at).Add(unit + 4096)); v != 42 {
		t.Errorf("poked %d", v)
	}
	want(t, "past the mappings", th.MemsetD8(at+DevPtr(3*unit)-8, 1, 16), 1)
	// The same memory at another address, through a file descriptor.
	fd := c.words(0)
	want(t, "export", th.MemExportToShareableHandle(fd, b, cu.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0), 0)
	n := hostmem.Load[int32](fd)
	twin, err := th.MemImportFromShareableHandle(hostmem.Ptr(n), cu.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
	want(t, "import", err, 0)
	_ = syscall.Close(int(n))
	at2, err := th.MemAddressReserve(2*unit, 0, 0, 0)
	want(t, "reserve", err, 0)
	want(t, "map", th.MemMap(at2, 2*unit, 0, twin, 0), 0)
	want(t, "access", th.MemSetAccess(at2, 2*unit, desc, 1), 0)
	if v := hostmem.Load[uint32](hostmem.Ptr(at2).Add(4096)); v != 42 {
		t.Errorf("twin has %d", v)
	}
	// Handles go, memory stays while mapped.
	want(t, "release", th.MemRelease(a), 0)
	want(t, "release twice", th.MemRelease(a), 1)
	again, err := th.MemRetainAllocationHandle(hostmem.Ptr(at))
	want(t, "retain", err, 0)
	want(t, "release", th.MemRelease(again), 0)
	want(t, "release", th.MemRelease(b), 0)
	want(t, "release", th.MemRelease(twin), 0)
	want(t, "reserved and mapped", th.MemAddressFree(at, 4*unit), 1)
	want(t, "half a mapping", th.MemUnmap(at+DevPtr(unit), unit), 1)
	want(t, "unmap", th.MemUnmap(at, 3*unit), 0)
	want(t, "unmap", th.MemUnmap(at2, 2*unit), 0)
	want(t, "gone", th.MemsetD8(at, 1, 8), 1)
	if free, _, _ := th.MemGetInfo(); free != free0 {
		t.Errorf("%d bytes lost", free0-free)
	}
	want(t, "free", th.MemAddressFree(at, 4*unit), 0)
	want(t, "free", th.MemAddressFree(at2, 2*unit), 0)
	want(t, "free twice", th.MemAddressFree(at, 4*unit), 1)
	// A kernel that touches what is no longer mapped fails its context.
	want(t, "poke", th.LaunchKernel(poke, 1, 1, 1, 1, 1, 1, 0, 0, c.params(uint64(at)), 0), 0)
	want(t, "fault", th.CtxSynchronize(), 700)
}

// TestHostMemoryByHandle: memory of a NUMA node is memory of a device whose memory is the process's.
func TestHostMemoryByHandle(t *testing.T) {
	th, c, _ := onInterp(t)
	for _, kind := range []cu.CUmemLocationType{cu.CU_MEM_LOCATION_TYPE_HOST, cu.CU_MEM_LOCATION_TYPE_HOST_NUMA, cu.CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT} {
		prop := cu.CUmemAllocationProp{Type: cu.CU_MEM_ALLOCATION_TYPE_PINNED}
		prop.Location.Type = kind
		unit, err := th.MemGetAllocationGranularity(&prop, cu.CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)
		want(t, "granularity", err, 0)
		h, err := th.MemCreate(unit, &prop, 0)
		want(t, "create", err, 0)
		at, err := th.MemAddressReserve(unit, 0, 0, 0)
		want(t, "reserve", err, 0)
		want(t, "map", th.MemMap(at, unit, 0, h, 0), 0)
		desc := c.words(0, 0)
		for _, by := range []cu.CUmemLocationType{kind, cu.CU_MEM_LOCATION_TYPE_DEVICE} {
			access := cu.CUmemAccessDesc{Flags: cu.CU_MEM_ACCESS_FLAGS_PROT_READWRITE}
			access.Location.Type = by
			hostmem.Store(desc, access)
			want(t, "access", th.MemSetAccess(at, unit, desc, 1), 0)
		}
		want(t, "memset", th.MemsetD8(at, 1, 8), 0)
		want(t, "synchronize", th.CtxSynchronize(), 0)
		want(t, "unmap", th.MemUnmap(at, unit), 0)
		want(t, "release", th.MemRelease(h), 0)
		want(t, "free", th.MemAddressFree(at, unit), 0)
	}
}
