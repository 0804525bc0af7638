package cusolver

import (
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/solver"
)

// TestXhetrf: Hermitian and symmetric matrices with zeros on the diagonal, so that there are blocks of two, solved with 64-bit pivots.
func TestXhetrf(t *testing.T) {
	onTypes(t, func(r *rig) {
		ty := typeOf(r.e)
		for _, n := range []int{1, 2, 5, 33, 60} {
			for _, fill := range fills {
				for _, hermitian := range []bool{true, false} {
					a := r.hermitian(n)
					for j := range n {
						for i := range j {
							if !hermitian {
								a.set(j, i, a.at(i, j))
							}
						}
						if j%3 == 0 && n > 1 {
							a.set(j, j, 0)
						}
					}
					b := r.random(n, 35)
					info, ld, ipiv, pb := r.infoAt(), n+1, r.memory(8*n), r.put(b, n)
					pa := r.put(a, ld)
					if hermitian {
						_, _, err := r.th.DnXhetrfBufferSize(r.h, 0, fill, int64(n), ty, pa, int64(ld), ipiv, ty)
						r.ok(err)
						r.ok(r.th.DnXhetrf(r.h, 0, fill, int64(n), ty, pa, int64(ld), ipiv, ty, 0, 0, 0, 0, info))
						r.good(info, "hetrf")
						r.ok(r.th.DnXhetrs(r.h, 0, fill, int64(n), 35, ty, pa, int64(ld), ipiv, ty, pb, int64(n), 0, 0, 0, 0, info))
					} else {
						r.ok(r.th.DnXsytrf(r.h, 0, fill, int64(n), ty, pa, int64(ld), ipiv, ty, 0, 0, 0, 0, info))
						r.good(info, "sytrf")
						r.ok(r.th.DnXsytrs(r.h, fill, int64(n), 35, ty, pa, int64(ld), ipiv, ty, pb, int64(n), 0, 0, 0, 0, info))
					}
					x := r.get(pb, n, 35, n)
					r.within(r.ratio(a.times(x).minus(b), n, a.norm()*x.norm()), "hermitian %v %d fill %d", hermitian, n, fill)
				}
			}
		}
	})
}

// TestXsygvd: the 64-bit interface's, of each kind.
func TestXsygvd(t *testing.T) {
	onTypes(t, func(r *rig) {
		const n = 37
		ty, tw := typeOf(r.e), typeOf(realOf(r.e))
		a, b := r.hermitian(n), r.positive(n)
		pa, pb, w, info := r.put(a, n+1), r.put(b, n), r.memory(8*n), r.infoAt()
		size, _, err := r.th.DnXsygvdBufferSize(r.h, 0, 1, withVectors, blas.CUBLAS_FILL_MODE_LOWER, n, ty, pa, n+1, ty, pb, n, tw, w, ty)
		r.ok(err)
		r.ok(r.th.DnXsygvd(r.h, 0, 1, withVectors, blas.CUBLAS_FILL_MODE_LOWER, n, ty, pa, n+1, ty, pb, n, tw, w, ty, r.memory(int(size)), size, 0, 0, info))
		r.good(info, "Xsygvd")
		x := r.get(pa, n, n, n+1)
		r.within(r.ratio(a.times(x).minus(b.times(x).times(diagonal(r.values(w, n)))), n, a.norm()*b.norm()*x.norm()), "Xsygvd")
	})
}

// TestXstedc: values alone, vectors of the tridiagonal matrix, and of one that Q made tridiagonal.
func TestXstedc(t *testing.T) {
	onTypes(t, func(r *rig) {
		ty, td := typeOf(r.e), typeOf(realOf(r.e))
		for _, n := range []int{1, 2, 9, 50} {
			q := eye(n) // a reflection, so that V is not I
			v := r.random(n, 1)
			h := v.times(v.adjoint())
			scale := 0.0
			for i := range n {
				scale += real(h.at(i, i))
			}
			for i := range n {
				for j := range n {
					q.set(i, j, q.at(i, j)-h.at(i, j)*complex(2/scale, 0))
				}
			}
			var all [][]float64
			for _, comp := range []solver.CusolverEigComp_t{solver.CUSOLVER_EIG_COMP_N, solver.CUSOLVER_EIG_COMP_I, solver.CUSOLVER_EIG_COMP_V} {
				d, e, ld := r.memory(8*n), r.memory(8*n), n+2
				tri := newFull(n, n)
				for i := range n {
					r.store(d, i, float64(i%5)-1.5)
					tri.set(i, i, complex(float64(i%5)-1.5, 0))
					if i+1 < n {
						r.store(e, i, 0.25+float64(i%3))
						tri.set(i, i+1, complex(0.25+float64(i%3), 0))
						tri.set(i+1, i, complex(0.25+float64(i%3), 0))
					}
				}
				z, info := r.put(q, ld), r.infoAt()
				size, _, err := r.th.DnXstedcBufferSize(r.h, 0, comp, int64(n), td, d, e, ty, z, int64(ld), td)
				r.ok(err)
				r.ok(r.th.DnXstedc(r.h, 0, comp, int64(n), td, d, e, ty, z, int64(ld), td, r.memory(int(size)), size, 0, 0, info))
				r.good(info, "stedc")
				w := r.values(d, n)
				all = append(all, w)
				x := r.get(z, n, n, ld)
				switch comp {
				case solver.CUSOLVER_EIG_COMP_I:
					r.orthogonal(x, "stedc I %d", n)
					r.within(r.ratio(tri.times(x).minus(x.times(diagonal(w))), n, tri.norm()), "stedc I %d", n)
				case solver.CUSOLVER_EIG_COMP_V:
					r.within(r.ratio(q.times(tri).times(q.adjoint()).times(x).minus(x.times(diagonal(w))), n, tri.norm()), "stedc V %d", n)
				case solver.CUSOLVER_EIG_COMP_N:
				}
			}
			for i := range n {
				for _, w := range all[1:] {
					if diff := w[i] - all[0][i]; diff > 100*r.eps() || -diff > 100*r.eps() {
						r.t.Errorf("%d: value %d is %v alone, %v with vectors", n, i, all[0][i], w[i])
					}
				}
			}
		}
		if err := r.th.DnXstedc(r.h, 0, 9, 4, td, 0, 0, ty, 0, 4, td, 0, 0, 0, 0, r.infoAt()); Code(err) != int32(invalidValue) {
			r.t.Errorf("no such vectors: %v", err)
		}
	})
}

// store writes a real number.
func (r *rig) store(p hostmem.Ptr, i int, v float64) {
	if realOf(r.e) == F32 {
		hostmem.Store(p.Index(i, 4), float32(v))
		return
	}
	hostmem.Store(p.Index(i, 8), v)
}
