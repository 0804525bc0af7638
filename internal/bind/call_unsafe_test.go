package bind

import (
	"testing"
	"unsafe"

	"kudzu/internal/backend"
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
)

// TestCall goes through generated bindings of each shape, without a device.
func TestCall(t *testing.T) {
	driver.Start([]backend.Backend{})
	th := new(driver.Thread)
	call := func(name string, args unsafe.Pointer) int32 {
		t.Helper()
		return handler(t, name).Call(unsafe.Pointer(th), args)
	}
	init := struct{ Flags uint32 }{Flags: 1}
	if rc := call("cuInit", unsafe.Pointer(&init)); rc != 1 {
		t.Errorf("cuInit(1) = %d, want 1", rc)
	}
	init.Flags = 0
	if rc := call("cuInit", unsafe.Pointer(&init)); rc != 100 {
		t.Errorf("cuInit without a backend = %d, want 100", rc)
	}

	// A result is not stored where the call fails, and NULL is refused before it is made.
	n := int32(77)
	count := struct{ Count uint64 }{Count: uint64(hostmem.Of(&n))}
	if rc := call("cuDeviceGetCount", unsafe.Pointer(&count)); rc != 3 || n != 77 {
		t.Errorf("cuDeviceGetCount = %d with %d, want 3 with 77", rc, n)
	}
	count.Count = 0
	if rc := call("cuDeviceGetCount", unsafe.Pointer(&count)); rc != 3 {
		t.Errorf("cuDeviceGetCount(NULL) before init = %d, want 3", rc)
	}
	var load struct{ Module, Fname uint64 }
	load.Module = uint64(hostmem.Of(&n))
	if rc := call("cuModuleLoad", unsafe.Pointer(&load)); rc != 3 {
		t.Errorf("cuModuleLoad without a name before init = %d, want 3", rc)
	}
}
