package cusolver

import (
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
)

// TestSytrd: Q T Q' is A, and ormtr multiplies with the same Q from both sides.
func TestSytrd(t *testing.T) {
	onTypes(t, func(r *rig) {
		for _, n := range []int{1, 2, 7, 40} {
			for _, fill := range fills {
				a, ld, info := r.hermitian(n), n+1, r.infoAt()
				pa, d, e, tau := r.put(a, ld), r.memory(8*n), r.memory(8*n), r.memory(16*n)
				size, err := r.th.SytrdBufferSize(r.h, fill, int64(n), pa, int64(ld), d, e, tau, r.e)
				r.ok(err)
				r.ok(r.th.Sytrd(r.h, fill, int64(n), pa, int64(ld), d, e, tau, r.memory(int(size)*r.e.Size()), int64(size), info, r.e))
				r.good(info, "sytrd")
				tri := diagonal(r.values(d, n))
				for i, v := range r.values(e, n)[:n-1] {
					tri.set(i, i+1, complex(v, 0))
					tri.set(i+1, i, complex(v, 0))
				}
				other := triangle(r.get(pa, n, n, ld).adjoint(), fill, false).adjoint()
				want := triangle(a.adjoint(), fill, false).adjoint()
				for i := range n {
					other.set(i, i, want.at(i, i))
				}
				if other.minus(want).norm() != 0 {
					r.t.Errorf("sytrd %d fill %d wrote the other triangle", n, fill)
				}
				c := r.random(n, 5)
				pc := r.put(c, n)
				size, err = r.th.OrmtrBufferSize(r.h, blas.CUBLAS_SIDE_LEFT, fill, r.turned(), int64(n), 5, pa, int64(ld), tau, pc, int64(n), r.e)
				r.ok(err)
				r.ok(r.th.Ormtr(r.h, blas.CUBLAS_SIDE_LEFT, fill, r.turned(), int64(n), 5, pa, int64(ld), tau, pc, int64(n), r.memory(int(size)*r.e.Size()), int64(size), info, r.e))
				row := r.put(c.adjoint(), 6)
				r.ok(r.th.Ormtr(r.h, blas.CUBLAS_SIDE_RIGHT, fill, blas.CUBLAS_OP_N, 5, int64(n), pa, int64(ld), tau, row, 6, r.memory(int(size)*r.e.Size()), int64(size), info, r.e))
				size, err = r.th.OrgtrBufferSize(r.h, fill, int64(n), pa, int64(ld), tau, r.e)
				r.ok(err)
				r.ok(r.th.Orgtr(r.h, fill, int64(n), pa, int64(ld), tau, r.memory(int(size)*r.e.Size()), int64(size), info, r.e))
				q := r.get(pa, n, n, ld)
				r.orthogonal(q, "orgtr %d", n)
				r.within(r.ratio(q.times(tri).times(q.adjoint()).minus(a), n, a.norm()), "sytrd %d fill %d", n, fill)
				r.within(r.ratio(q.adjoint().times(c).minus(r.get(pc, n, 5, n)), n, c.norm()), "ormtr left %d fill %d", n, fill)
				r.within(r.ratio(c.adjoint().times(q).minus(r.get(row, 5, n, 6)), n, c.norm()), "ormtr right %d fill %d", n, fill)
			}
		}
	})
}

// turned is how Q' is asked for.
func (r *rig) turned() Op {
	if r.e == F32 || r.e == F64 {
		return blas.CUBLAS_OP_T
	}
	return blas.CUBLAS_OP_C
}

// TestGebrd: Q B P' is A.
func TestGebrd(t *testing.T) {
	onTypes(t, func(r *rig) {
		for _, s := range [][2]int{{1, 1}, {6, 6}, {35, 20}, {50, 37}} {
			m, n := s[0], s[1]
			a, info := r.random(m, n), r.infoAt()
			pa, d, e, tq, tp := r.put(a, m+1), r.memory(8*n), r.memory(8*n), r.memory(16*n), r.memory(16*n)
			size, err := r.th.GebrdBufferSize(r.h, int64(m), int64(n), r.e)
			r.ok(err)
			r.ok(r.th.Gebrd(r.h, int64(m), int64(n), pa, int64(m+1), d, e, tq, tp, r.memory(int(size)*r.e.Size()), int64(size), info, r.e))
			r.good(info, "gebrd")
			b := diagonal(r.values(d, n))
			for i, v := range r.values(e, n)[:n-1] {
				b.set(i, i+1, complex(v, 0))
			}
			f := r.get(pa, m, n, m+1)
			pt := r.put(full{n, n, top(f, n).v}, n)
			size, err = r.th.OrgbrBufferSize(r.h, blas.CUBLAS_SIDE_LEFT, int64(m), int64(n), int64(n), pa, int64(m+1), tq, r.e)
			r.ok(err)
			work := r.memory(int(size) * r.e.Size())
			r.ok(r.th.Orgbr(r.h, blas.CUBLAS_SIDE_LEFT, int64(m), int64(n), int64(n), pa, int64(m+1), tq, work, int64(size), info, r.e))
			r.ok(r.th.Orgbr(r.h, blas.CUBLAS_SIDE_RIGHT, int64(n), int64(n), int64(m), pt, int64(n), tp, work, int64(size), info, r.e))
			q, p := r.get(pa, m, n, m+1), r.get(pt, n, n, n)
			r.orthogonal(q, "orgbr Q %d %d", m, n)
			r.orthogonal(p, "orgbr P %d %d", m, n)
			r.within(r.ratio(q.times(b).times(p).minus(a), m, a.norm()), "gebrd %d %d", m, n)
		}
	})
}

// top are the first n rows.
func top(a full, n int) full {
	b := newFull(n, a.n)
	for j := range a.n {
		for i := range n {
			b.set(i, j, a.at(i, j))
		}
	}
	return b
}

// TestCapture: a captured call runs when its graph is launched, again and again, with the same bits.
func TestCapture(t *testing.T) {
	onTypes(t, func(r *rig) {
		const n = 40
		d := r.th.driver()
		s, err := d.StreamCreate(0)
		r.ok(err)
		defer func() { _ = d.StreamDestroy(s) }()
		r.ok(r.th.DnSetStream(r.h, rt.CudaStream_t(s)))
		a := r.positive(n)
		pa, w, info := r.put(a, n), r.memory(8*n), r.infoAt()
		size := eigenSize(n, 1)
		work := r.memory(int(size) * r.e.Size())
		bytes := uint64(n * n * r.e.Size())
		fresh := append([]byte(nil), hostmem.Bytes(pa, bytes)...)
		r.ok(r.th.Potrf(r.h, fills[0], n, pa, n, 0, 0, info, r.e)) // the handle's memory is there from now on
		r.ok(d.StreamSynchronize(s))
		r.ok(d.StreamBeginCapture(s, cu.CU_STREAM_CAPTURE_MODE_GLOBAL))
		r.ok(r.th.Potrf(r.h, fills[0], n, pa, n, 0, 0, info, r.e))
		r.ok(r.th.Syevd(r.h, withVectors, fills[0], n, pa, n, w, work, size, info, r.e))
		var g cu.CUgraph
		r.ok(d.StreamEndCapture(s, hostmem.Of(&g)))
		x, err := d.GraphInstantiateWithFlags(g, 0)
		r.ok(err)
		var first []byte
		for range 2 {
			copy(hostmem.Bytes(pa, bytes), fresh)
			r.ok(d.GraphLaunch(x, s))
			r.ok(d.StreamSynchronize(s))
			r.good(info, "graph")
			got := append([]byte(nil), hostmem.Bytes(pa, bytes)...)
			if first != nil && string(got) != string(first) {
				r.t.Error("two launches of a graph differ")
			}
			first = got
		}
		r.orthogonal(r.get(pa, n, n, n), "vectors of a graph")
	})
}
