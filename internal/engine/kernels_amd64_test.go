package engine

import (
	"encoding/binary"
	"encoding/hex"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// Kernels by hand, in the calling convention of internal/image. Parameters are 64-bit words.
const (
	kEmpty      = "31 c0 c3"
	kNullRead   = "31 c0 8b 00 c3"                                                                                                                               // *(int*)0
	kBadWrite   = "48 8b 07 48 8b 00 48 89 56 18 c7 46 20 03 00 00 00 c6 00 01 31 c0 c3"                                                                         // w->block = first, w->warp = 3, *(char*)p0 = 1
	kIllegal    = "0f 0b"                                                                                                                                        // ud2
	kDivide     = "31 c9 31 d2 b8 01 00 00 00 f7 f1 c3"                                                                                                          // 1 / 0
	kRecurse    = "e8 fb ff ff ff c3"                                                                                                                            // calls itself
	kStop       = "48 8b 07 8b 00 c7 46 28 4d 00 00 00 c7 46 2c 05 00 00 00 c3"                                                                                  // line 77, lanes 5, return p0
	kCount      = "48 8b 07 48 8b 00 f0 48 01 08 31 c0 c3"                                                                                                       // atomic *p0 += count
	kAffine     = "48 8b 07 48 8b 10 48 8b 48 08 4c 8b 02 4f 8d 04 40 49 01 c8 4c 89 02 31 c0 c3"                                                                // *p0 = *p0*3 + p1
	kSpin       = "48 8b 07 48 8b 00 f3 90 48 8b 08 48 85 c9 74 f6 31 c0 c3"                                                                                     // while (!*p0) pause
	kYieldSpin  = "53 55 41 54 48 89 fb 48 89 f5 48 8b 07 4c 8b 20 49 8b 0c 24 48 85 c9 75 0f 48 89 df 48 89 ee 48 8b 43 10 ff 50 30 eb e8 41 5c 5d 5b 31 c0 c3" // while (!*p0) rt.yield
	kBarrier    = "53 55 41 54 48 89 fb 48 89 f5 48 8b 07 4c 8b 20 f0 49 01 0c 24 8b 4b 18 49 39 0c 24 73 12 48 89 df 48 89 ee 48 8b 43 10 ff 50 30 8b 4b 18 eb e8 41 5c 5d 5b 31 c0 c3"
	kMarkBlocks = "48 8b 07 48 8b 00 f0 ff 04 90 48 ff c2 48 ff c9 75 f4 31 c0 c3" // atomic ((int*)p0)[block]++
	kMXCSR      = "48 8b 07 48 8b 00 0f ae 18 31 c0 c3"                            // *(int*)p0 = mxcsr
	kPrintf     = "53 48 8b 07 48 8b 10 48 8b 48 08 48 8b 58 10 48 8b 47 10 ff 10 89 03 5b 31 c0 c3"
	kMalloc     = "53 55 41 54 41 55 48 83 ec 08 48 89 fb 48 89 f5 48 8b 07 48 8b 50 08 4c 8b 20 48 8b 47 10 ff 50 08 49 89 04 24 48 8b 13 48 83 7a 10 00 74 10 48 89 c2 48 89 df 48 89 ee 48 8b 43 10 ff 50 10 48 83 c4 08 41 5d 41 5c 5d 5b 31 c0 c3"
	kAssert     = "53 c7 46 2c 06 00 00 00 c7 46 20 01 00 00 00 48 8b 07 48 8b 10 48 8b 48 08 41 b8 2a 00 00 00 4c 8b 48 10 48 8b 47 10 ff 50 18 b8 02 00 00 00 5b c3"
	kNaps       = "53 55 41 54 41 55 41 56 48 89 fb 48 89 f5 49 89 d4 49 89 cd 4c 89 65 18 41 be 40 00 00 00 48 89 df 48 89 ee 48 8b 03 8b 10 48 8b 43 10 ff 50 38 41 ff ce 75 e9 49 ff c4 49 ff cd 75 d7 41 5e 41 5d 41 5c 5d 5b 31 c0 c3" // 64 times rt.nanosleep(p0) in each block
	kAreas      = "48 8b 07 48 8b 50 08 48 8b 48 10 4c 8b 46 08 41 c6 44 10 ff 01 4c 8b 46 10 41 c6 44 08 ff 01 4c 8b 06 8b 4f 34 41 c6 44 08 ff 01 31 c0 c3"
	kBusy       = "48 8b 07 4c 8b 00 4d 89 c1 49 ff c9 75 fb 48 ff c9 75 f3 31 c0 c3" // p0 turns of an empty loop in each block
)

func mapCode(t testing.TB, code string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(code, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	m, err := syscall.Mmap(-1, 0, 4096, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	copy(m, b)
	if err := syscall.Mprotect(m, syscall.PROT_READ|syscall.PROT_EXEC); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Munmap(m) })
	return m
}

func kernel(t testing.TB, code string, change ...func(*KernelConfig)) *Kernel {
	t.Helper()
	m := mapCode(t, code)
	p := uintptr(unsafe.Pointer(&m[0]))
	cfg := KernelConfig{Entry: p, Image: p, ImageSize: uintptr(len(m)), Cookie: 99}
	for _, f := range change {
		f(&cfg)
	}
	k, err := NewKernel(&cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Free)
	return k
}

func words(v ...uint64) []byte {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, x)
	}
	return b
}

func grid(n uint32, params ...uint64) *Launch {
	return &Launch{Grid: [3]uint32{n, 1, 1}, Block: [3]uint32{32, 1, 1}, Params: words(params...)}
}

// A rig is an engine with a memory, a domain and a queue.
type rig struct {
	*testing.T
	e *Engine
	m *Memory
	d *Domain
	q *Queue
}

func newRig(t *testing.T, threads int) *rig {
	t.Helper()
	e, err := Start(threads)
	if err != nil {
		t.Fatal(err)
	}
	m, err := NewMemory(1 << 30)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{T: t, e: e, m: m}
	r.d, r.q = r.domain()
	t.Cleanup(func() {
		r.q.Close()
		r.d.Close()
		m.Close()
		e.Stop()
	})
	return r
}

func (r *rig) domain() (*Domain, *Queue) {
	r.Helper()
	d, err := r.e.NewDomain(r.m)
	if err != nil {
		r.Fatal(err)
	}
	return d, r.queue(d)
}

func (r *rig) queue(d *Domain) *Queue {
	r.Helper()
	q, err := d.NewQueue(0)
	if err != nil {
		r.Fatal(err)
	}
	return q
}

// alloc gives n cleared 64-bit words.
func (r *rig) alloc(n uint64) (uint64, []uint64) {
	r.Helper()
	a, err := r.m.Alloc(n*8, 0)
	if err != nil {
		r.Fatal(err)
	}
	b, err := r.m.Bytes(a, n*8)
	if err != nil {
		r.Fatal(err)
	}
	clear(b)
	return a, unsafe.Slice((*uint64)(unsafe.Pointer(&b[0])), n)
}

func (r *rig) ok(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}
