package cpu

import (
	"errors"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/image"
)

// TestStrayAccess looks where the H200 was looked at (13.0, driver 580): three allocations of a size, and accesses at
// distances from them. A GPU lets a kernel touch what lies around an allocation in its pool, and programs that read a row
// before their first one or behind their last one run there; behind 100 MiB, and far from everything, there is a fault.
func TestStrayAccess(t *testing.T) {
	const touch = "48 8b 07 48 8b 00 f0 83 00 00 31 c0 c3" // lock add dword *p0, 0: a read and a write
	d := open(t, Config{Compiler: &fake{meta: image.Meta{Lines: []image.Line{{Offset: 0, Line: 3}}}}})
	_, k := load(t, d, module(touch))
	domain := uint64(20)
	fails := func(at backend.Addr) bool {
		t.Helper()
		domain++ // a fault ends the domain
		q, err := d.NewQueueIn(domain, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer q.Close()
		if err := q.Launch(k, launch(1, at)); err != nil {
			t.Fatal(err)
		}
		err = q.Sync()
		var f *backend.Fault
		if err != nil && !errors.As(err, &f) {
			t.Fatal(err)
		}
		return err != nil
	}
	const lenient, mib = 32 << 20, 1 << 20
	for _, size := range []uint64{4, 4096, mib, 2 * mib, 3 * mib, 16 * mib, 40 * mib} {
		var at [3]backend.Addr
		for i := range at {
			a, err := d.Memory().Alloc(size, 0)
			if err != nil {
				t.Fatal(err)
			}
			at[i] = a
		}
		for i, a := range at {
			for _, off := range []int64{-mib, -4096, -4} {
				if size < lenient && fails(a+backend.Addr(off)) {
					t.Errorf("allocation %d of %d bytes: a fault %d bytes before it", i, size, -off)
				}
			}
			for _, off := range []uint64{0, 4096, mib} {
				if size < lenient && fails(a+backend.Addr((size+3)&^3+off)) {
					t.Errorf("allocation %d of %d bytes: a fault %d bytes behind it", i, size, off)
				}
			}
			if size > lenient && !fails(a+backend.Addr(size)) {
				t.Errorf("allocation %d of %d bytes: no fault behind it", i, size)
			}
			if far := a + 64*mib; size < lenient && !fails(far+backend.Addr(size)) {
				t.Errorf("allocation %d of %d bytes: no fault 64 MiB behind it", i, size)
			}
		}
		for i, a := range at {
			if err := d.Memory().Free(a); err != nil {
				t.Fatal(err)
			}
			if size > mib && !fails(a) {
				t.Errorf("allocation %d of %d bytes: no fault after it was freed", i, size)
			}
		}
	}
}
