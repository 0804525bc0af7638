package cusolver

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/blas"
)

// Eigenvalues of one large matrix of any kind, in steps: panels of the reduction to a Hessenberg matrix with products between them, QR as
// one kernel, eigenvectors of the Schur form, which the Schur vectors are multiplied with.

const (
	geevRows   = 3                  // below it one warp does all
	schurRoom  = 128*136*3 + 32*136 // numbers of kernels/window.h
	schurFew   = 6*128 + 64
	vectorStep = 256 // columns of a product with a triangle
)

// schurRooms is the workspace of geevLarge.
type schurRooms struct {
	h, z, x, strips hostmem.Ptr // the matrix, Schur vectors, and vectors of the Schur form, by 32 values and by columns
	v, t, y, few    hostmem.Ptr // a panel
	taus, window    hostmem.Ptr
	wr, wi, factor  hostmem.Ptr
	places          hostmem.Ptr
	end             uint64
}

func schurAt(work hostmem.Ptr, n int64, e Elem) schurRooms {
	l := layout{uint64(work), uint64(e.Size())}
	parts := int64(1)
	if e == realOf(e) {
		parts = 2 // strips have real and imaginary parts
	}
	r := schurRooms{h: l.take(n * n), z: l.take(n * n), x: l.take(n * n)}
	r.taus, r.window = l.take(n), l.take(schurRoom+schurFew)
	// A panel is done with before there are strips.
	p := l
	r.v, r.t, r.y, r.few = p.take(panel*n), p.take(panel*panel), p.take(panel*n), p.take(blockSize(n, n))
	r.strips = l.take((n + warp) * n * parts)
	l.at = max(l.at, p.at)
	l.size = uint64(realOf(e).Size())
	r.wr, r.wi, r.factor = l.take(n), l.take(n), l.take(2)
	l.size = 4
	r.places = l.take(n + 1)
	r.end = l.at
	return r
}

// reduceAny makes a Hessenberg matrix; the reflections stay below.
func (j *job) reduceAny(a mat, n int64, r *schurRooms) error {
	size := uint64(a.e.Size())
	for i := int64(0); i+2 < n; i += panel {
		m := n - i - 1
		k := min(panel, m)
		at := a.at(i+1, i)
		v, t, y := matAt(r.v, m, a.e), matAt(r.t, panel, a.e), matAt(r.y, n, a.e)
		below := y.at(i+1, 0)
		var q shim.Params
		q.U64(at.Base, uint64(a.LD)).U32(uint32(m), uint32(k)).U64(uint64(r.taus)+uint64(i)*size, v.Base, t.Base, panel)
		q.U64(below.Base, uint64(n), uint64(r.few))
		if err := j.one(hessenbergKernels, "lahr2_"+a.e.String(), 1, &q); err != nil {
			return err
		}
		w := matAt(r.few, n, a.e)
		products := []*cublas.Product{ // rows above the panel's
			{M: i + 1, N: k, K: m, A: a.at(0, i+1).View, B: v.View, C: w.View, Alpha: plus},
			{M: i + 1, N: k, K: k, A: w.View, B: t.View, C: y.View, Alpha: plus},
			{M: i + 1, N: m, K: k, A: y.View, B: v.op(blas.CUBLAS_OP_C), C: a.at(0, i+1).View, Alpha: minus, Beta: plus},
			{M: m, N: m - k + 1, K: k, A: below.View, B: v.at(k-1, 0).op(blas.CUBLAS_OP_C), C: a.at(i+1, i+k).View, Alpha: minus, Beta: plus},
		}
		for _, p := range products {
			if p.M == 0 || p.N == 0 {
				continue
			}
			if err := j.product(p, a.e); err != nil {
				return err
			}
		}
		b := &block{v: v, t: t, w: matAt(r.few, panel, a.e), rows: m, k: k}
		b.w2 = b.w
		b.w2.Base += uint64(panel*n) * size
		if err := j.reflect(b, blas.CUBLAS_SIDE_LEFT, true, a.at(i+1, i+k), m, m-k+1); err != nil {
			return err
		}
	}
	return nil
}

// hessenberg makes one in h, and in z, if there is one, the product of the reflections.
func (j *job) hessenberg(a, h, z mat, n int64, r *schurRooms) error {
	var q shim.Params
	q.U64(a.Base, uint64(a.LD)).U32(uint32(n)).U64(h.Base)
	if n <= smallSide {
		q.U64(z.Base, uint64(r.factor))
		return j.one(smallKernels, "hessenbergSmall_"+a.e.String(), 1, &q)
	}
	q.U64(uint64(r.factor))
	if err := j.one(hessenbergKernels, "prepare_"+a.e.String(), 1, &q); err != nil {
		return err
	}
	if err := j.reduceAny(h, n, r); err != nil || z.Base == 0 {
		return err
	}
	return j.formLower(h, z, n, r.taus, r.few)
}

// geevLarge finds the values of one matrix, and with vectors those too.
func (j *job) geevLarge(a mat, n int64, f geevForm, w, vr hostmem.Ptr, ldvr int64, work, info hostmem.Ptr) error {
	e, name, r := a.e, a.e.String(), schurAt(work, n, a.e)
	vectors := vr != hostmem.Nil
	h, z, x := matAt(r.h, n, e), matAt(r.z, n, e), matAt(r.x, n, e)
	if !vectors {
		z.Base = 0
	}
	if err := j.hessenberg(a, h, z, n, &r); err != nil {
		return err
	}
	how := flag(f.complexValues) | flag(f.complexV)<<1
	kernels := schurKernels[e]
	var s shim.Params
	s.U64(h.Base, z.Base).U32(uint32(n)).U64(uint64(r.factor), uint64(r.wr), uint64(r.wi), uint64(r.window), uint64(w)).U32(how).U64(uint64(r.places), uint64(info))
	if err := j.one(kernels, "hqr_"+name, 1, &s); err != nil || !vectors {
		return err
	}
	var t shim.Params
	t.U64(h.Base).U32(uint32(n)).U64(uint64(r.factor), uint64(r.wr), uint64(r.wi), uint64(r.places), uint64(r.strips), x.Base, uint64(info))
	if err := j.one(kernels, "trevc_"+name, (n+warp-1)/warp, &t); err != nil {
		return err
	}
	for c := int64(0); c < n; c += vectorStep { // the Schur form is not needed any more
		wide := min(vectorStep, n-c)
		deep := min(c+wide+1, n) // a pair has one more row
		p := &cublas.Product{M: n, N: wide, K: deep, A: z.View, B: x.at(0, c).View, C: h.at(0, c).View, Alpha: plus}
		if err := j.product(p, e); err != nil {
			return err
		}
	}
	var o shim.Params
	o.U64(h.Base).U32(uint32(n)).U64(uint64(r.wi), uint64(vr), uint64(ldvr)).U32(how).U64(uint64(info))
	return j.one(kernels, "spread_"+name, min(n, 64), &o)
}
