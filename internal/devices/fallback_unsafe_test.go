package devices_test

import (
	"encoding/binary"
	"errors"
	"syscall"
	"testing"
	"unsafe"

	"kudzu/internal/backend"
	"kudzu/internal/cache"
	"kudzu/internal/devices"
	"kudzu/internal/driver"
)

const addOne = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .b32 %r<4>;
	.reg .b64 %rd<4>;
	mov.u32 %r0, %tid.x;
	mul.wide.u32 %rd0, %r0, 4;
	ld.param.u64 %rd1, [p];
	add.u64 %rd1, %rd1, %rd0;
	ld.global.u32 %r1, [%rd1];
	add.u32 %r1, %r1, 1;
	st.global.u32 [%rd1], %r1;
	ret;
}
`

// A cpu device says that kernels may touch any memory of the program: that holds for those it interprets, too, and a
// bad address is the kernel's fault.
func TestFallbackHostMemory(t *testing.T) {
	host, err := syscall.Mmap(-1, 0, 16<<10, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	devs, err := devices.CPU(devices.Config{Compiler: []string{"/nonexistent/kudzu"}, Cache: cache.Open(cache.Config{Dir: t.TempDir()})}).Open()
	if err != nil {
		t.Fatal(err)
	}
	d := devs[0]
	m, err := driver.Describe("m", addOne, 90)
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Load(m)
	if err != nil {
		t.Fatal(err)
	}
	k, err := p.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	q, err := d.NewQueue(0)
	if err != nil {
		t.Fatal(err)
	}
	run := func(addr uint64) error {
		l := &backend.Launch{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{64, 1, 1}, Params: binary.LittleEndian.AppendUint64(nil, addr)}
		return errors.Join(q.Launch(k, l), q.Sync())
	}
	at := uint64(uintptr(unsafe.Pointer(&host[0]))) + 4096 - 128 // over the end of a page
	if err := run(at); err != nil {
		t.Fatal(err)
	}
	for i := range 64 {
		if x := binary.LittleEndian.Uint32(host[4096-128+4*i:]); x != 1 {
			t.Fatalf("word %d is %d", i, x)
		}
	}
	if err := syscall.Munmap(host); err != nil {
		t.Fatal(err)
	}
	var f *backend.Fault
	if err := run(at); !errors.As(err, &f) || f.Kind != backend.FaultAddress {
		t.Errorf("memory that is gone: %v", err)
	}
}
