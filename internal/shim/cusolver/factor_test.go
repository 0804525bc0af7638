package cusolver

import (
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/blas"
)

// sizes are odd ones, around the size of a leaf and beyond two of them.
var sizes = []int{1, 3, 17, 32, 33, 70, 101}

// fills are both triangles.
var fills = []Fill{blas.CUBLAS_FILL_MODE_LOWER, blas.CUBLAS_FILL_MODE_UPPER}

// triangle is what a factorization left on one side of the diagonal.
func triangle(a full, fill Fill, unit bool) full {
	b := newFull(a.m, a.n)
	for j := range a.n {
		for i := range a.m {
			if i == j && unit {
				b.set(i, j, 1)
			} else if i == j || (i > j) == (fill == blas.CUBLAS_FILL_MODE_LOWER) {
				b.set(i, j, a.at(i, j))
			}
		}
	}
	return b
}

// square is the product that a Cholesky factor stands for.
func square(a full, fill Fill) full {
	l := triangle(a, fill, false)
	if fill == blas.CUBLAS_FILL_MODE_UPPER {
		return l.adjoint().times(l)
	}
	return l.times(l.adjoint())
}

// TestCholesky: potrf, potrs and potri.
func TestCholesky(t *testing.T) {
	onTypes(t, func(r *rig) {
		for _, n := range sizes {
			for _, fill := range fills {
				a, b := r.positive(n), r.random(n, 3)
				ld, info := n+2, r.infoAt()
				pa, pb := r.put(a, ld), r.put(b, n+1)
				r.ok(r.th.Potrf(r.h, fill, int64(n), pa, int64(ld), 0, 0, info, r.e))
				r.good(info, "potrf %d", n)
				factor := r.get(pa, n, n, ld)
				r.within(r.ratio(square(factor, fill).minus(a), n, a.norm()), "potrf %d fill %d", n, fill)
				r.ok(r.th.Potrs(r.h, fill, int64(n), 3, pa, int64(ld), pb, int64(n+1), info, r.e))
				x := r.get(pb, n, 3, n+1)
				r.within(r.ratio(a.times(x).minus(b), n, a.norm()*x.norm()), "potrs %d fill %d", n, fill)
				size, err := r.th.PotriBufferSize(r.h, fill, int64(n), pa, int64(ld), r.e)
				r.ok(err)
				r.ok(r.th.Potri(r.h, fill, int64(n), pa, int64(ld), r.memory(int(size)*r.e.Size()), int64(size), info, r.e))
				r.good(info, "potri %d", n)
				inverse := triangle(r.get(pa, n, n, ld), fill, false)
				for j := range n {
					for i := range n {
						if i != j && (i > j) != (fill == blas.CUBLAS_FILL_MODE_LOWER) {
							inverse.set(i, j, conj(inverse.at(j, i)))
						}
					}
				}
				r.within(r.ratio(a.times(inverse).minus(eye(n)), n, a.norm()*inverse.norm()), "potri %d fill %d", n, fill)
			}
		}
	})
}

func conj(v complex128) complex128 { return complex(real(v), -imag(v)) }

// TestNotPositive: the first minor that is not positive is told, also behind the first leaf.
func TestNotPositive(t *testing.T) {
	onTypes(t, func(r *rig) {
		for _, at := range []int{0, 5, 40, 69} {
			a := r.positive(70)
			a.set(at, at, -1)
			info := r.infoAt()
			r.ok(r.th.Potrf(r.h, blas.CUBLAS_FILL_MODE_LOWER, 70, r.put(a, 70), 70, 0, 0, info, r.e))
			if v := r.info(info); v != int32(at+1) {
				r.t.Errorf("a negative diagonal at %d: info %d", at, v)
			}
		}
	})
}

// TestCholeskyBatched: lists of matrices, of which one is not positive definite.
func TestCholeskyBatched(t *testing.T) {
	onTypes(t, func(r *rig) {
		const n, batch = 35, 4
		var as, bs [batch]full
		lists := [2]hostmem.Ptr{r.memory(8 * batch), r.memory(8 * batch)}
		var at [2][batch]hostmem.Ptr
		for i := range batch {
			as[i], bs[i] = r.positive(n), r.random(n, 1)
			if i == 2 {
				as[i].set(33, 33, -5)
			}
			at[0][i], at[1][i] = r.put(as[i], n), r.put(bs[i], n)
			hostmem.Store(lists[0].Index(i, 8), uint64(at[0][i]))
			hostmem.Store(lists[1].Index(i, 8), uint64(at[1][i]))
		}
		infos := r.memory(4 * batch)
		r.ok(r.th.PotrfBatched(r.h, blas.CUBLAS_FILL_MODE_UPPER, n, lists[0], n, infos, batch, r.e))
		r.ok(r.th.PotrsBatched(r.h, blas.CUBLAS_FILL_MODE_UPPER, n, 1, lists[0], n, lists[1], n, r.infoAt(), batch, r.e))
		for i := range batch {
			want := int32(0)
			if i == 2 {
				want = 34
			}
			if v := r.info(infos.Index(i, 4)); v != want {
				r.t.Errorf("matrix %d: info %d", i, v)
			}
			if want == 0 {
				x := r.get(at[1][i], n, 1, n)
				r.within(r.ratio(as[i].times(x).minus(bs[i]), n, as[i].norm()*x.norm()), "matrix %d", i)
			}
		}
	})
}

// TestLU: getrf and getrs of every shape, with and without exchanges.
func TestLU(t *testing.T) {
	onTypes(t, func(r *rig) {
		for _, s := range [][2]int{{1, 1}, {5, 5}, {17, 16}, {33, 33}, {70, 70}, {101, 40}, {40, 101}, {9, 60}} {
			m, n := s[0], s[1]
			k := min(m, n)
			a := r.random(m, n)
			info, ipiv := r.infoAt(), r.memory(4*k)
			pa := r.put(a, m+3)
			r.ok(r.th.Getrf(r.h, int64(m), int64(n), pa, int64(m+3), 0, ipiv, info, r.e))
			r.good(info, "getrf %d %d", m, n)
			f := r.get(pa, m, n, m+3)
			lower, upper := triangle(f, blas.CUBLAS_FILL_MODE_LOWER, true).columns(k), newFull(k, n)
			for j := range n {
				for i := range min(j+1, k) {
					upper.set(i, j, f.at(i, j))
				}
			}
			moved := a.clone()
			for i := range k {
				p := int(hostmem.Load[int32](ipiv.Index(i, 4))) - 1
				if p < i || p >= m {
					r.t.Fatalf("getrf %d %d: pivot %d is %d", m, n, i, p)
				}
				for j := range n {
					x, y := moved.at(i, j), moved.at(p, j)
					moved.set(i, j, y)
					moved.set(p, j, x)
				}
			}
			r.within(r.ratio(lower.times(upper).minus(moved), max(m, n), a.norm()), "getrf %d %d", m, n)
			if m != n {
				continue
			}
			for op, x := range map[Op]full{blas.CUBLAS_OP_N: a, blas.CUBLAS_OP_T: transposed(a), blas.CUBLAS_OP_C: a.adjoint()} {
				b := r.random(n, 4)
				pb := r.put(b, n+1)
				r.ok(r.th.Getrs(r.h, op, int64(n), 4, pa, int64(m+3), ipiv, pb, int64(n+1), info, r.e))
				y := r.get(pb, n, 4, n+1)
				r.within(r.ratio(x.times(y).minus(b), n, x.norm()*y.norm()), "getrs %d op %d", n, op)
			}
		}
		a := r.positive(50) // needs no exchanges
		pa, info := r.put(a, 50), r.infoAt()
		r.ok(r.th.Getrf(r.h, 50, 50, pa, 50, 0, 0, info, r.e))
		f := r.get(pa, 50, 50, 50)
		lu := triangle(f, blas.CUBLAS_FILL_MODE_LOWER, true).times(triangle(f, blas.CUBLAS_FILL_MODE_UPPER, false))
		r.within(r.ratio(lu.minus(a), 50, a.norm()), "getrf without pivots")
	})
}

func transposed(a full) full {
	b := a.adjoint()
	for i := range b.v {
		b.v[i] = conj(b.v[i])
	}
	return b
}

// TestSingular: the first zero on the diagonal of U is told.
func TestSingular(t *testing.T) {
	onTypes(t, func(r *rig) {
		for _, zero := range []int{0, 3, 20, 39} {
			a := r.random(40, 40)
			for i := range 40 {
				a.set(i, zero, 0)
			}
			info := r.infoAt()
			r.ok(r.th.Getrf(r.h, 40, 40, r.put(a, 40), 40, 0, r.memory(160), info, r.e))
			if v := r.info(info); v != int32(zero+1) {
				r.t.Errorf("column %d is zero: info %d", zero, v)
			}
		}
	})
}

// TestLaswp: exchanges forward, and back with a negative increment.
func TestLaswp(t *testing.T) {
	onTypes(t, func(r *rig) {
		a := r.random(9, 40)
		pa, ipiv := r.put(a, 10), r.memory(36)
		for i := range 9 {
			hostmem.Store(ipiv.Index(i, 4), int32([]int{4, 2, 9, 4, 7, 6, 8, 8, 9}[i]))
		}
		r.ok(r.th.Laswp(r.h, 40, pa, 10, 1, 7, ipiv, 1, r.e))
		if b := r.get(pa, 9, 40, 10); b.at(0, 39) != a.at(3, 39) || b.at(2, 5) != a.at(8, 5) {
			r.t.Error("rows were not exchanged")
		}
		r.ok(r.th.Laswp(r.h, 40, pa, 10, 1, 7, ipiv, -1, r.e))
		if b := r.get(pa, 9, 40, 10); b.minus(a).norm() != 0 {
			r.t.Error("exchanging back is not the matrix of before")
		}
	})
}

// TestQR: geqrf, orgqr and ormqr from both sides.
func TestQR(t *testing.T) {
	onTypes(t, func(r *rig) {
		for _, s := range [][2]int{{1, 1}, {7, 5}, {33, 33}, {80, 40}, {101, 70}, {20, 50}} {
			m, n := s[0], s[1]
			k := min(m, n)
			a := r.random(m, n)
			if m == 80 { // a column that depends on another
				for i := range m {
					a.set(i, 7, a.at(i, 3))
				}
			}
			info, ld := r.infoAt(), m+1
			pa, taus := r.put(a, ld), r.memory(k*r.e.Size())
			size, err := r.th.GeqrfBufferSize(r.h, int64(m), int64(n), pa, int64(ld), r.e)
			r.ok(err)
			work := r.memory(int(size) * r.e.Size())
			r.ok(r.th.Geqrf(r.h, int64(m), int64(n), pa, int64(ld), taus, work, int64(size), info, r.e))
			r.good(info, "geqrf %d %d", m, n)
			upper := newFull(k, n)
			for j, f := 0, r.get(pa, m, n, ld); j < n; j++ {
				for i := range min(j+1, k) {
					upper.set(i, j, f.at(i, j))
				}
			}
			pq := r.memory(ld * max(n, k) * r.e.Size())
			copy(hostmem.Bytes(pq, uint64(ld*n*r.e.Size())), hostmem.Bytes(pa, uint64(ld*n*r.e.Size())))
			r.ok(r.th.Orgqr(r.h, int64(m), int64(k), int64(k), pq, int64(ld), taus, work, int64(size), info, r.e))
			q := r.get(pq, m, k, ld)
			r.within(r.ratio(q.times(upper).minus(a), max(m, n), a.norm()), "geqrf %d %d", m, n)
			r.orthogonal(q, "orgqr %d %d", m, n)
			r.multiplyQ(pa, taus, m, k, ld, a, upper)
		}
	})
}

// multiplyQ checks ormqr: Q' A is R, Q on the left undoes Q', and from the right both undo each other.
func (r *rig) multiplyQ(pa, taus hostmem.Ptr, m, k, ld int, a, upper full) {
	r.t.Helper()
	back, n := r.turned(), a.n
	size, err := r.th.OrmqrBufferSize(r.h, blas.CUBLAS_SIDE_LEFT, back, int64(m), int64(n), int64(k), pa, int64(ld), taus, 0, int64(m), r.e)
	r.ok(err)
	work, info, pc := r.memory(int(size)*r.e.Size()), r.infoAt(), r.put(a, m+2)
	left := func(op Op) {
		r.ok(r.th.Ormqr(r.h, blas.CUBLAS_SIDE_LEFT, op, int64(m), int64(n), int64(k), pa, int64(ld), taus, pc, int64(m+2), work, int64(size), info, r.e))
	}
	left(back)
	c := r.get(pc, m, n, m+2)
	for j := range n {
		for i := range k {
			c.v[i+j*m] -= upper.at(i, j)
		}
	}
	r.within(r.ratio(c, max(m, n), a.norm()), "ormqr Q' A %d %d", m, n)
	left(blas.CUBLAS_OP_N)
	r.within(r.ratio(r.get(pc, m, n, m+2).minus(a), max(m, n), a.norm()), "ormqr Q Q' A %d %d", m, n)
	b := a.adjoint()
	pb := r.put(b, n+1)
	right := func(op Op) {
		r.ok(r.th.Ormqr(r.h, blas.CUBLAS_SIDE_RIGHT, op, int64(n), int64(m), int64(k), pa, int64(ld), taus, pb, int64(n+1), work, int64(size), info, r.e))
	}
	right(blas.CUBLAS_OP_N)
	d := r.get(pb, n, m, n+1).adjoint()
	for j := range n {
		for i := range k {
			d.v[i+j*m] -= upper.at(i, j)
		}
	}
	r.within(r.ratio(d, max(m, n), a.norm()), "ormqr A' Q %d %d", m, n)
	right(back)
	r.within(r.ratio(r.get(pb, n, m, n+1).minus(b), max(m, n), b.norm()), "ormqr A' Q Q' %d %d", m, n)
}

// TestLauum: U U' and L' L, of real parts on the diagonal.
func TestLauum(t *testing.T) {
	onTypes(t, func(r *rig) {
		for _, fill := range fills {
			const n = 45
			a := r.random(n, n)
			pa, info := r.put(a, n), r.infoAt()
			size, err := r.th.LauumBufferSize(r.h, fill, n, pa, n, r.e)
			r.ok(err)
			r.ok(r.th.Lauum(r.h, fill, n, pa, n, r.memory(int(size)*r.e.Size()), int64(size), info, r.e))
			x := triangle(a, fill, false)
			for i := range n {
				x.set(i, i, complex(real(x.at(i, i)), 0))
			}
			want := x.times(x.adjoint())
			if fill == blas.CUBLAS_FILL_MODE_LOWER {
				want = x.adjoint().times(x)
			}
			got := r.get(pa, n, n, n)
			r.within(r.ratio(triangle(got, fill, false).minus(triangle(want, fill, false)), n, want.norm()), "lauum")
		}
	})
}
