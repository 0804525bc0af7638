package cusolver

import (
	"testing"
	"unsafe"

	"kudzu/internal/engine"
	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/blas"
)

// libraryCall is struct kz_library_call.
type libraryCall struct {
	id, words uint32
	args      *uint64
}

// calls are on the heap, where nothing moves.
var calls []*libraryCall

func newCall(id uint32, args []uint64) *libraryCall {
	c := &libraryCall{id, uint32(len(args)), &args[0]}
	calls = append(calls, c)
	return c
}

// TestTemplate: after a factorisation of one launch C makes those like it, with other addresses, and no others.
func TestTemplate(t *testing.T) {
	onTypes(t, func(r *rig) {
		const n = 7
		size := r.e.Size()
		type set struct{ a, b, info hostmem.Ptr }
		var sets [2]set
		for i := range sets {
			sets[i] = set{r.memory(n * n * size), r.memory(n * max(size, 4)), r.memory(4)}
		}
		work := r.memory(1 << 16)
		for _, f := range []struct {
			name  string
			order func(s set) []uint64 // its addresses as its arguments are
			call  func(s set) error
		}{
			{"potrf", func(s set) []uint64 { return []uint64{uint64(s.a), uint64(work), uint64(s.info)} },
				func(s set) error {
					return r.th.Potrf(r.h, blas.CUBLAS_FILL_MODE_LOWER, n, s.a, n, work, 1, s.info, r.e)
				}},
			{"getrf", func(s set) []uint64 { return []uint64{uint64(s.a), uint64(work), uint64(s.b), uint64(s.info)} },
				func(s set) error { return r.th.Getrf(r.h, n, n, s.a, n, work, s.b, s.info, r.e) }},
			{"geqrf", func(s set) []uint64 { return []uint64{uint64(s.a), uint64(s.b), uint64(work), uint64(s.info)} },
				func(s set) error { return r.th.Geqrf(r.h, n, n, s.a, n, s.b, work, 2000, s.info, r.e) }},
			{"orgqr", func(s set) []uint64 { return []uint64{uint64(s.a), uint64(s.b), uint64(work), uint64(s.info)} },
				func(s set) error { return r.th.Orgqr(r.h, n, n, n, s.a, n, s.b, work, 2000, s.info, r.e) }},
		} {
			start := r.positive(n)
			fill := func(s set) {
				hostmem.Store(s.info, int32(-1))
				write := func(to hostmem.Ptr, i int, v complex128) {
					copy(hostmem.Bytes(to.Index(i, size), uint64(size)), cublas.Encode(r.e, v))
				}
				for i, v := range start.v {
					write(s.a, i, v)
				}
				for i := range n {
					write(s.b, i, 1.25)
				}
			}
			d := r.th.driver()
			args := append([]uint64{uint64(r.h), n}, f.order(sets[0])...)
			call := newCall(99, args)
			inC := func() bool { return engine.CallLibrary(&d.Tickets, d.Stack[d.Depth-1], call.id, args) }
			d.Call = uint64(uintptr(unsafe.Pointer(call)))
			for range 6 { // code that is not there yet is waited for in the stream
				fill(sets[0])
				r.ok(f.call(sets[0]))
				r.ok(r.th.driver().CtxSynchronize())
			}
			d.Call = 0
			copy(args[2:], f.order(sets[1]))
			fill(sets[1])
			if !inC() {
				r.t.Fatalf("%s: C does not make the call", f.name)
			}
			r.ok(r.th.driver().CtxSynchronize())
			for _, at := range [][3]uint64{{uint64(sets[0].a), uint64(sets[1].a), uint64(n * n * size)}, {uint64(sets[0].b), uint64(sets[1].b), uint64(n * 4)}, {uint64(sets[0].info), uint64(sets[1].info), 4}} {
				if string(hostmem.Bytes(hostmem.Ptr(at[0]), at[2])) != string(hostmem.Bytes(hostmem.Ptr(at[1]), at[2])) {
					r.t.Errorf("%s: C's result is another one", f.name)
				}
			}
			args[1] = n + 1
			if inC() {
				r.t.Errorf("%s: C makes a call of another size", f.name)
			}
			args[1] = n
			args[len(args)-1] = 0
			if inC() {
				r.t.Errorf("%s: C makes a call without an info", f.name)
			}
			args[len(args)-1] = uint64(sets[1].info)
			d.EndTickets()
			if inC() {
				r.t.Errorf("%s: C makes a call after a change", f.name)
			}
		}
	})
}

// TestTemplateRefused: arguments that are refused are not C's, also where a launch tells info so.
func TestTemplateRefused(t *testing.T) {
	th, h := open(t)
	r := &rig{t: t, th: th, h: h, e: F64}
	a, info := r.memory(64*8), r.memory(4)
	d := th.driver()
	args := []uint64{uint64(h), uint64(a), uint64(info)}
	call := newCall(101, args)
	d.Call = uint64(uintptr(unsafe.Pointer(call)))
	for range 3 {
		if err := th.Potrf(h, 7, 8, a, 8, 0, 0, info, F64); err != invalidValue {
			t.Fatal(err)
		}
		if err := th.Getrf(h, 8, 8, a, 7, 0, 0, info, F64); err != nil {
			t.Fatal(err)
		}
		if err := th.Geqrf(h, 8, 8, a, 7, a, a, 4000, info, F64); err != invalidValue {
			t.Fatal(err)
		}
		r.ok(d.CtxSynchronize())
	}
	d.Call = 0
	if engine.CallLibrary(&d.Tickets, d.Stack[d.Depth-1], 101, args) {
		t.Error("C makes a call that was refused")
	}
}
