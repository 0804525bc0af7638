package cublas

import (
	"testing"
	"unsafe"

	"kudzu/internal/engine"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
)

// packedCall is a call of cublasDgemmStridedBatched and the like as a stub packs it, and struct kz_library_call.
type packedCall struct {
	args []uint64
	call *struct {
		id, words uint32
		args      *uint64
	}
}

// calls are on the heap, where nothing moves.
var calls []*packedCall

// These are the words of alpha, A, B, beta and C.
const (
	wordAlpha = 4 + iota
	wordA
	wordB
	wordBeta
	wordC
)

func packGemm(r *rig, m, n, k, batch int64, o *operands, alpha, beta hostmem.Ptr) *packedCall {
	p := &packedCall{args: []uint64{uint64(r.h), uint64(m) | uint64(n)<<32, uint64(k), uint64(batch), uint64(alpha), uint64(o.a), uint64(o.b), uint64(beta), uint64(o.c), uint64(o.lda)}}
	p.call = &struct {
		id, words uint32
		args      *uint64
	}{77, uint32(len(p.args)), &p.args[0]}
	calls = append(calls, p)
	return p
}

// inC is whether C makes the call.
func (r *rig) inC(p *packedCall) bool {
	d := r.th.driver()
	return engine.CallLibrary(&d.Tickets, d.Stack[d.Depth-1], p.call.id, p.args)
}

// TestTemplateProduct: after a product of one launch C makes those like it, with other addresses and scalars, and no others.
func TestTemplateProduct(t *testing.T) {
	onDevice(t, func(r *rig) {
		if r.tiny {
			t.Skip("the interpreter's launches are Go's")
		}
		for _, e := range []Elem{F32, F64, C32, C64} {
			for _, device := range []bool{false, true} {
				for _, list := range []bool{false, true} {
					r.likeProduct(e, device, list)
				}
			}
		}
	})
}

func (r *rig) likeProduct(e Elem, device, list bool) {
	t := r.t
	const m, n, k, batch = 24, 10, 17, 3
	r.mode(device)
	d := r.th.driver()
	var sets [2]operands
	var outs [2]array
	for i := range sets {
		a, b, c := r.random(e, m*k*batch), r.random(e, k*n*batch), r.random(e, m*n*batch)
		outs[i] = c
		sets[i] = operands{a: a.p, b: b.p, c: c.p, lda: m, ldb: k, ldc: m, sa: m * k, sb: k * n, sc: m * n, batch: batch}
		if list {
			lists := func(x array, step int) hostmem.Ptr {
				l := r.empty(F64, batch)
				for i := range batch {
					hostmem.Store(l.p.Index(i, 8), uint64(x.p.Index(i*step, e.Size())))
				}
				return l.p
			}
			o := &sets[i]
			o.a, o.b, o.c, o.list, o.sa, o.sb, o.sc = lists(a, m*k), lists(b, k*n), lists(c, m*n), true, 0, 0, 0
		}
	}
	scalars := [2][2]hostmem.Ptr{{r.scalar(e, 2, device), r.scalar(e, 0.5, device)}, {r.scalar(e, -3, device), r.scalar(e, 0, device)}}
	through := func(i int) {
		t.Helper()
		r.ok(r.th.multiply(r.h, blas.CUBLAS_OP_N, blas.CUBLAS_OP_N, m, n, k, scalars[i][0], scalars[i][1], sets[i], single(e)))
	}
	p := packGemm(r, m, n, k, batch, &sets[0], scalars[0][0], scalars[0][1])
	if r.inC(p) {
		t.Fatal("C makes a call that was never made")
	}
	d.Call = uint64(uintptr(unsafe.Pointer(p.call)))
	for range 3 {
		through(0)
		r.sync() // code that is not there yet is waited for in the stream
	}
	d.Call = 0
	// The other matrices and scalars: through Go first, then from the same start in C.
	before := outs[1].values()
	through(1)
	r.sync()
	want := outs[1].values()
	for i, v := range before {
		outs[1].set(i, v)
	}
	o := &sets[1]
	other := func() {
		copy(p.args[wordAlpha:], []uint64{uint64(scalars[1][0]), uint64(o.a), uint64(o.b), uint64(scalars[1][1]), uint64(o.c)})
	}
	other()
	if !r.inC(p) {
		t.Fatalf("%v, device scalars %v, list %v: C does not make the call", e, device, list)
	}
	r.sync()
	for i, w := range want {
		if outs[1].get(i) != w {
			t.Fatalf("%v, device scalars %v, list %v: element %d is %v in C, %v in Go", e, device, list, i, outs[1].get(i), w)
		}
	}
	refused := func(what string, change, undo func()) {
		t.Helper()
		change()
		if r.inC(p) {
			t.Errorf("%v, device scalars %v, list %v: C makes a call with %s", e, device, list, what)
		}
		undo()
	}
	word := func(i int, v uint64) (change, undo func()) {
		was := p.args[i]
		return func() { p.args[i] = v }, func() { p.args[i] = was }
	}
	for what, change := range map[string][2]uint64{"another handle": {0, 5}, "other sizes": {1, m | 11<<32}, "another leading dimension": {9, m + 1}, "no A": {wordA, 0}, "no C": {wordC, 0}} {
		a, b := word(int(change[0]), change[1])
		refused(what, a, b)
	}
	a, b := word(wordAlpha, uint64(r.scalar(e, 0, false)))
	if !device {
		refused("an alpha of 0", a, b)
		a, b = word(wordAlpha, 16)
		refused("an alpha that is nowhere", a, b)
	}
	refused("the other pointer mode", func() { r.mode(!device) }, func() { r.mode(device) })
	s, err := d.StreamCreate(uint32(cu.CU_STREAM_NON_BLOCKING))
	r.ok(err)
	d.Call = uint64(uintptr(unsafe.Pointer(p.call)))
	through(1) // a new stream ended all tickets
	through(1)
	d.Call = 0
	if !r.inC(p) {
		t.Error("C does not make the call after a stream was made")
	}
	refused("another stream", func() { r.ok(r.th.SetStream(r.h, rt.CudaStream_t(s))) }, func() { r.ok(r.th.SetStream(r.h, 0)) })
	refused("a capture under way", func() { r.ok(d.StreamBeginCapture(s, cu.CU_STREAM_CAPTURE_MODE_RELAXED)) }, func() {
		g := make([]uint64, 1)
		r.ok(d.StreamEndCapture(s, hostmem.Of(&g[0])))
	})
	r.ok(d.StreamDestroy(s))
	r.sync()
	r.mode(false)
}

// TestTemplateHandle: a handle that is gone takes its calls along.
func TestTemplateHandle(t *testing.T) {
	onDevice(t, func(r *rig) {
		if r.tiny {
			t.Skip("the interpreter's launches are Go's")
		}
		h, err := r.th.Create()
		r.ok(err)
		keep := r.h
		r.h = blas.CublasHandle_t(h)
		x := r.random(F32, 64)
		o := operands{a: x.p, b: r.random(F32, 64).p, c: r.random(F32, 64).p, lda: 8, ldb: 8, ldc: 8, batch: 1}
		one := r.scalar(F32, 1, false)
		p := packGemm(r, 8, 8, 8, 1, &o, one, one) // one scalar for both
		d := r.th.driver()
		d.Call = uint64(uintptr(unsafe.Pointer(p.call)))
		for range 3 {
			r.ok(r.th.multiply(r.h, blas.CUBLAS_OP_N, blas.CUBLAS_OP_N, 8, 8, 8, one, one, o, single(F32)))
			r.sync()
		}
		d.Call = 0
		if !r.inC(p) {
			t.Error("C does not make the call")
		}
		r.ok(r.th.Destroy(r.h))
		if r.inC(p) {
			t.Error("C makes a call of a handle that is gone")
		}
		r.h = keep
	})
}
