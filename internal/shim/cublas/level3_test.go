package cublas

import (
	"fmt"
	"math/cmplx"
	"testing"

	"kudzu/internal/shim/cublas/ref"
	"kudzu/internal/spec/blas"
)

func TestMatrices(t *testing.T) {
	onDevice(t, func(r *rig) {
		for _, f := range r.families() {
			for range r.times(12) {
				r.syrkCase(f)
				r.symmCase(f)
				r.trsmCase(f)
				r.geamCase(f)
				r.dgmmCase(f)
			}
		}
	})
}

func (r *rig) syrkCase(f family) {
	n, k, fill := r.pick(5, 33, 0, 70), r.pick(4, 0, 20), Fill(r.rng.IntN(2))
	hermitian := f.herk != nil && r.coin()
	op, other := Op(blas.CUBLAS_OP_N), Op(blas.CUBLAS_OP_T)
	scalar, call := f.e, f.syrk
	if hermitian {
		other, scalar, call = blas.CUBLAS_OP_C, f.e.real(), f.herk
	}
	rows, cols := n, k
	turned := r.coin()
	if turned {
		op, rows, cols = other, k, n
	}
	lda, ldc := max(1, rows)+2, max(1, n)+1
	a, c := r.random(f.e, int(lda*cols)), r.random(f.e, int(ldc*n))
	if hermitian { // the diagonal of C counts as real
		for i := range n {
			c.set(int(i+i*ldc), complex(real(c.get(int(i+i*ldc))), 0))
		}
	}
	alpha, beta := r.number(scalar), r.number(scalar)
	va := a.values()
	left, right := matrix(va, lda, op, 0), matrix(va, lda, other, 0)
	if turned {
		left, right = matrix(va, lda, other, 0), matrix(va, lda, 0, 0)
	}
	full, size, want := c.values(), make([]float64, c.n), c.values()
	ref.Product(n, n, k, alpha, beta, left, right, full, ldc, size)
	for j := range n {
		for i := range n {
			if (fill == blas.CUBLAS_FILL_MODE_LOWER) == (i > j) || i == j {
				want[i+j*ldc] = full[i+j*ldc]
			}
		}
	}
	device := r.coin()
	r.mode(device)
	r.ok(call(r.h, fill, op, n, k, r.scalar(scalar, alpha, device), a.p, lda, r.scalar(scalar, beta, device), c.p, ldc, f.e))
	r.sync()
	r.near(fmt.Sprintf("%v syrk n %d k %d fill %d op %d hermitian %v", f.e, n, k, fill, op, hermitian), c, want, size, f.e, int(k))
	r.is(call(r.h, 2, op, n, k, r.scalar(scalar, alpha, device), a.p, lda, r.scalar(scalar, beta, device), c.p, ldc, f.e), invalidValue)
}

func (r *rig) symmCase(f family) {
	m, n, side, fill := r.pick(5, 33, 0, 50), r.pick(4, 15, 0, 40), Side(r.rng.IntN(2)), Fill(r.rng.IntN(2))
	hermitian := f.hemm != nil && r.coin()
	call, k := f.symm, m
	if hermitian {
		call = f.hemm
	}
	if side == blas.CUBLAS_SIDE_RIGHT {
		k = n
	}
	lda, ldb, ldc := max(1, k)+1, max(1, m)+2, max(1, m)
	a, b, c := r.random(f.e, int(lda*k)), r.random(f.e, int(ldb*n)), r.random(f.e, int(ldc*n))
	whole := make([]complex128, k*k)
	for j := range k {
		for i := range k {
			stored := (fill == blas.CUBLAS_FILL_MODE_LOWER) == (i > j) || i == j
			v := a.get(int(i + j*lda))
			if !stored {
				v = a.get(int(j + i*lda))
				if hermitian {
					v = cmplx.Conj(v)
				}
			}
			if hermitian && i == j {
				v = complex(real(v), 0)
			}
			whole[i+j*k] = v
		}
	}
	for j := range k { // what is not stored is not looked at
		for i := range k {
			if (fill == blas.CUBLAS_FILL_MODE_LOWER) == (i < j) && i != j {
				a.set(int(i+j*lda), cmplx.NaN())
			}
		}
	}
	alpha, beta := r.number(f.e), r.number(f.e)
	left, right := matrix(whole, k, 0, 0), matrix(b.values(), ldb, 0, 0)
	if side == blas.CUBLAS_SIDE_RIGHT {
		left, right = right, left
	}
	want, size := c.values(), make([]float64, c.n)
	ref.Product(m, n, k, alpha, beta, left, right, want, ldc, size)
	device := r.coin()
	r.mode(device)
	r.ok(call(r.h, side, fill, m, n, r.scalar(f.e, alpha, device), a.p, lda, b.p, ldb, r.scalar(f.e, beta, device), c.p, ldc, f.e))
	r.sync()
	r.near(fmt.Sprintf("%v symm m %d n %d side %d fill %d hermitian %v", f.e, m, n, side, fill, hermitian), c, want, size, f.e, int(k))
}

func (r *rig) trsmCase(f family) {
	m, n, side, fill := r.pick(5, 20, 0, 70, 100), r.pick(4, 13, 0, 80), Side(r.rng.IntN(2)), Fill(r.rng.IntN(2))
	op, diag := ops[r.rng.IntN(3)], blas.CublasDiagType_t(r.rng.IntN(2))
	k := m
	if side == blas.CUBLAS_SIDE_RIGHT {
		k = n
	}
	lda, ldb := max(1, k)+1, max(1, m)+2
	batch := r.pick(1, 2)
	sa, sb := lda*k, ldb*n
	a, b := r.random(f.e, int(sa*batch)), r.random(f.e, int(sb*batch))
	for i := range a.n { // far from singular
		v := a.get(i) * complex(0.5/float64(k+1), 0)
		at := int64(i) % sa
		if at%lda == at/lda {
			v = 2 + v
		}
		a.set(i, v)
	}
	alpha := r.number(f.e)
	want, size := b.values(), make([]float64, b.n)
	for q := range batch {
		solveCase(a.values()[q*sa:], want[q*sb:], m, n, lda, ldb, alpha, side, fill, op, diag)
	}
	for i := range size {
		size[i] = 8
	}
	device := r.coin()
	r.mode(device)
	pa := r.scalar(f.e, alpha, device)
	if batch > 1 {
		r.ok(f.trsmBatched(r.h, side, fill, op, diag, m, n, pa, r.list(a, sa, batch), lda, r.list(b, sb, batch), ldb, batch, f.e))
	} else {
		r.ok(f.trsm(r.h, side, fill, op, diag, m, n, pa, a.p, lda, b.p, ldb, f.e))
	}
	r.sync()
	r.near(fmt.Sprintf("%v trsm m %d n %d side %d fill %d op %d diag %d batch %d", f.e, m, n, side, fill, op, diag, batch), b, want, size, f.e, int(k))
	if m > 0 && n > 0 { // with alpha 0 nothing of A is read
		r.mode(false)
		r.ok(f.trsm(r.h, side, fill, op, diag, m, n, r.scalar(f.e, 0, false), r.nan(f.e, a.n).p, lda, b.p, ldb, f.e))
		r.sync()
		if b.get(0) != 0 {
			r.t.Fatalf("trsm with alpha 0 leaves %v", b.get(0))
		}
	}
	r.is(f.trsm(r.h, side, fill, op, 3, m, n, pa, a.p, lda, b.p, ldb, f.e), invalidValue)
}

// solveCase is trsm by its definition: the right side is the transposed system.
func solveCase(a, b []complex128, m, n, lda, ldb int64, alpha complex128, side Side, fill Fill, op Op, diag blas.CublasDiagType_t) {
	t := matrix(a, lda, op, 0)
	lower := (fill == blas.CUBLAS_FILL_MODE_LOWER) == (op == blas.CUBLAS_OP_N)
	unit := diag == blas.CUBLAS_DIAG_UNIT
	for j := range n {
		for i := range m {
			b[i+j*ldb] *= alpha
		}
	}
	if side == blas.CUBLAS_SIDE_LEFT {
		ref.Solve(m, n, b, ldb, t.At, lower, unit)
		return
	}
	turned := make([]complex128, m*n)
	for j := range n {
		for i := range m {
			turned[j+i*n] = b[i+j*ldb]
		}
	}
	ref.Solve(n, m, turned, max(1, n), func(i, l int64) complex128 { return t.At(l, i) }, !lower, unit)
	for j := range n {
		for i := range m {
			b[i+j*ldb] = turned[j+i*n]
		}
	}
}

func (r *rig) geamCase(f family) {
	m, n, ta, tb := r.pick(5, 33, 0, 50), r.pick(4, 40, 0), ops[r.rng.IntN(3)], ops[r.rng.IntN(3)]
	rows := func(op Op) (int64, int64) {
		if op == blas.CUBLAS_OP_N {
			return max(1, m) + 1, n
		}
		return max(1, n) + 2, m
	}
	lda, ca := rows(ta)
	ldb, cb := rows(tb)
	ldc := max(1, m)
	a, b, c := r.random(f.e, int(lda*ca)), r.random(f.e, int(ldb*cb)), r.nan(f.e, int(ldc*n))
	alpha, beta := r.number(f.e), r.number(f.e)
	want := c.values()
	if r.coin() {
		beta = 0
	}
	va, vb := matrix(a.values(), lda, ta, 0), matrix(b.values(), ldb, tb, 0)
	for j := range n {
		for i := range m {
			want[i+j*ldc] = alpha * va.At(i, j)
			if beta != 0 {
				want[i+j*ldc] += beta * vb.At(i, j)
			}
		}
	}
	if beta == 0 {
		b = r.nan(f.e, b.n)
	}
	device := r.coin()
	r.mode(device)
	r.ok(f.geam(r.h, ta, tb, m, n, r.scalar(f.e, alpha, device), a.p, lda, r.scalar(f.e, beta, device), b.p, ldb, c.p, ldc, f.e))
	r.sync()
	r.near("geam", c, want, ones(c.n), f.e, 4)
	r.is(f.geam(r.h, blas.CUBLAS_OP_T, 0, m, n, r.scalar(f.e, alpha, device), c.p, max(lda, n, 1), r.scalar(f.e, beta, device), b.p, max(ldb, m), c.p, ldc, f.e), invalidValue)
}

func (r *rig) dgmmCase(f family) {
	m, n, side := r.pick(5, 33, 0, 50), r.pick(4, 40, 0), Side(r.rng.IntN(2))
	v := vec{m, r.inc()}
	if side == blas.CUBLAS_SIDE_RIGHT {
		v.n = n
	}
	ld := max(1, m) + 1
	a, x, c := r.random(f.e, int(ld*n)), r.random(f.e, max(1, v.len())), r.random(f.e, int(ld*n))
	want := c.values()
	for j := range n {
		for i := range m {
			at := i
			if side == blas.CUBLAS_SIDE_RIGHT {
				at = j
			}
			want[i+j*ld] = a.get(int(i+j*ld)) * x.get(int(v.at(at)))
		}
	}
	r.ok(f.dgmm(r.h, side, m, n, a.p, ld, x.p, v.inc, c.p, ld, f.e))
	r.sync()
	r.near("dgmm", c, want, ones(c.n), f.e, 4)
}
