package cusolver

import (
	"errors"

	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/solver"
)

// Tridiagonal and bidiagonal forms, and the products of their reflections. An upper triangle is a lower one from its end, so
// there is one algorithm, on a copy in workspace.

// sytrdSize: a copy, and vectors.
func sytrdSize(n int64) int64 { return n*n + 4*n }

// turnedCopy moves a triangle, or with copyAll the whole, to or from workspace: upper ones from their end.
func (j *job) turnedCopy(from, to mat, n int64, fill Fill, whole bool, out bool) error {
	part := uint32(copyLower)
	if fill == blas.CUBLAS_FILL_MODE_UPPER {
		if part = copyLower | copyBack; out {
			part = copyUpper | copyBack
		}
	}
	if whole {
		part &^= copyLower | copyUpper
	}
	return j.copy(from, to, n, n, part)
}

// SytrdBufferSize is what Sytrd needs.
func (t *Thread) SytrdBufferSize(h Handle, fill Fill, n int64, a hostmem.Ptr, lda int64, d, e, tau hostmem.Ptr, el Elem) (int32, error) {
	if err := t.live(h); err != nil {
		return 0, err
	}
	return count(sytrdSize(max(n, 0)))
}

// Sytrd makes a matrix tridiagonal; the reflections stay in its triangle.
func (t *Thread) Sytrd(h Handle, fill Fill, n int64, a hostmem.Ptr, lda int64, d, e, tau, work hostmem.Ptr, lwork int64, info hostmem.Ptr, el Elem) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	if err := j.judge(info, !validFill(fill), n < 0, false, lda < max(1, n)); err != nil {
		return err
	}
	if err := enough(work, lwork, sytrdSize(n)); err != nil {
		return err
	}
	if n > 0 {
		if done, err := j.elsewhere("sytrd", el, uint64(fill), uint64(n), uint64(a), uint64(lda), uint64(d), uint64(e), uint64(tau)); done {
			return j.succeeded(err, info)
		}
		x, c := matAt(a, lda, el), matAt(work, n, el)
		if err := j.turnedCopy(x, c, n, fill, false, false); err != nil {
			return err
		}
		var q shim.Params
		q.U64(uint64(work)).U32(uint32(n)).U64(uint64(d), uint64(e), uint64(tau), uint64(work)+uint64(n*n)*uint64(el.Size())).U32(flag(fill == blas.CUBLAS_FILL_MODE_UPPER))
		if err := j.one(eigenKernels, "sytrd_"+el.String(), 1, &q); err != nil {
			return err
		}
		if err := j.turnedCopy(c, x, n, fill, false, true); err != nil {
			return err
		}
	}
	return j.tell(info, 0, 1)
}

// formQ makes Q in a square matrix that has the reflections below its diagonal.
func (j *job) formQ(a mat, n int64, taus uint64, step int64) error {
	var q shim.Params
	q.U64(a.Base, uint64(a.LD)).U32(uint32(n)).U64(taus, uint64(step))
	return j.one(eigenKernels, "formq_"+a.e.String(), 1, &q)
}

// tridiagonalQ makes the Q of Sytrd in workspace, from its end if upper.
func (j *job) tridiagonalQ(a mat, fill Fill, n int64, tau, work hostmem.Ptr) error {
	if err := j.turnedCopy(a, matAt(work, n, a.e), n, fill, false, false); err != nil {
		return err
	}
	taus, step := uint64(tau), int64(1)
	if fill == blas.CUBLAS_FILL_MODE_UPPER {
		taus, step = taus+uint64(max(n-2, 0))*uint64(a.e.Size()), -1
	}
	return j.formQ(matAt(work, n, a.e), n, taus, step)
}

// OrgtrBufferSize is what Orgtr needs.
func (t *Thread) OrgtrBufferSize(h Handle, fill Fill, n int64, a hostmem.Ptr, lda int64, tau hostmem.Ptr, e Elem) (int32, error) {
	return t.PotriBufferSize(h, fill, n, a, lda, e)
}

// Orgtr makes the Q of Sytrd.
func (t *Thread) Orgtr(h Handle, fill Fill, n int64, a hostmem.Ptr, lda int64, tau, work hostmem.Ptr, lwork int64, info hostmem.Ptr, e Elem) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	if err := j.judge(info, !validFill(fill), n < 0, false, lda < max(1, n)); err != nil {
		return err
	}
	if err := enough(work, lwork, n*n); err != nil {
		return err
	}
	if n > 0 {
		if done, err := j.elsewhere("orgtr", e, uint64(fill), uint64(n), uint64(a), uint64(lda), uint64(tau)); done {
			return j.succeeded(err, info)
		}
		x := matAt(a, lda, e)
		if err := j.tridiagonalQ(x, fill, n, tau, work); err != nil {
			return err
		}
		if err := j.turnedCopy(matAt(work, n, e), x, n, fill, true, true); err != nil {
			return err
		}
	}
	return j.tell(info, 0, 1)
}

// ormtrSize: Q twice, and the product.
func ormtrSize(side Side, m, n int64) int64 {
	rows := m
	if side == blas.CUBLAS_SIDE_RIGHT {
		rows = n
	}
	return 2*rows*rows + m*n
}

// OrmtrBufferSize is what Ormtr needs.
func (t *Thread) OrmtrBufferSize(h Handle, side Side, fill Fill, op Op, m, n int64, a hostmem.Ptr, lda int64, tau, c hostmem.Ptr, ldc int64, e Elem) (int32, error) {
	if err := t.live(h); err != nil {
		return 0, err
	}
	return count(ormtrSize(side, max(m, 0), max(n, 0)))
}

// Ormtr multiplies C with the Q of Sytrd.
func (t *Thread) Ormtr(h Handle, side Side, fill Fill, op Op, m, n int64, a hostmem.Ptr, lda int64, tau, c hostmem.Ptr, ldc int64, work hostmem.Ptr, lwork int64, info hostmem.Ptr, e Elem) error {
	need, err := t.OrmtrBufferSize(h, side, fill, op, m, n, a, lda, tau, c, ldc, e)
	if err != nil {
		return err
	}
	j, err := t.job(h)
	if err != nil {
		return err
	}
	rows := m
	if side == blas.CUBLAS_SIDE_RIGHT {
		rows = n
	}
	if err := j.judge(info, !validSide(side), !validFill(fill), !plainOrTurned(op, e), m < 0, n < 0, false, lda < max(1, rows), false, false, ldc < max(1, m)); err != nil {
		return err
	}
	if err := enough(work, lwork, int64(need)); err != nil {
		return err
	}
	if m == 0 || n == 0 {
		return j.tell(info, 0, 1)
	}
	if done, err := j.elsewhere("ormtr", e, uint64(side), uint64(fill), uint64(op), uint64(m), uint64(n), uint64(a), uint64(lda), uint64(tau), uint64(c), uint64(ldc)); done {
		return j.succeeded(err, info)
	}
	at := func(k int64) hostmem.Ptr { return hostmem.Ptr(int64(work) + k*int64(e.Size())) }
	made, whole, product, to := matAt(work, rows, e), matAt(at(rows*rows), rows, e), matAt(at(2*rows*rows), m, e), matAt(c, ldc, e)
	if err := j.tridiagonalQ(matAt(a, lda, e), fill, rows, tau, work); err != nil {
		return err
	}
	if err := j.turnedCopy(made, whole, rows, fill, true, true); err != nil {
		return err
	}
	if op != blas.CUBLAS_OP_N {
		op = blas.CUBLAS_OP_C
	}
	p := &cublas.Product{M: m, N: n, K: rows, A: whole.op(op), B: to.View, C: product.View, Alpha: plus}
	if side == blas.CUBLAS_SIDE_RIGHT {
		p.A, p.B = p.B, p.A
	}
	if err := j.product(p, e); err != nil {
		return err
	}
	if err := j.copy(product, to, m, n, copyAll); err != nil {
		return err
	}
	return j.tell(info, 0, 1)
}

// GebrdBufferSize is what Gebrd needs: a row and a column.
func (t *Thread) GebrdBufferSize(h Handle, m, n int64, e Elem) (int32, error) {
	if err := t.live(h); err != nil {
		return 0, err
	}
	return count(max(m, 0) + max(n, 0))
}

// Gebrd makes a matrix bidiagonal; it has at least as many rows as columns, as in the vendor's library.
func (t *Thread) Gebrd(h Handle, m, n int64, a hostmem.Ptr, lda int64, d, e, tauq, taup, work hostmem.Ptr, lwork int64, info hostmem.Ptr, el Elem) error {
	need, err := t.GebrdBufferSize(h, m, n, el)
	if err != nil {
		return err
	}
	j, err := t.job(h)
	if err != nil {
		return err
	}
	if 0 <= m && m < n {
		return errors.Join(notSupported, j.tell(info, 0, 1))
	}
	if err := j.judge(info, m < 0, n < 0, false, lda < max(1, m)); err != nil {
		return err
	}
	if err := enough(work, lwork, int64(need)); err != nil {
		return err
	}
	if n > 0 {
		if done, err := j.elsewhere("gebrd", el, uint64(m), uint64(n), uint64(a), uint64(lda), uint64(d), uint64(e), uint64(tauq), uint64(taup)); done {
			return j.succeeded(err, info)
		}
		var q shim.Params
		q.U64(uint64(a), uint64(lda)).U32(uint32(m), uint32(n)).U64(uint64(d), uint64(e), uint64(tauq), uint64(taup), uint64(work), uint64(work)+uint64(n)*uint64(el.Size()))
		if err := j.one(eigenKernels, "gebrd_"+el.String(), 1, &q); err != nil {
			return err
		}
	}
	return j.tell(info, 0, 1)
}

// orgbrSize: what orgqr needs, and a copy.
func orgbrSize(m, n int64) int64 { return blockSize(m, n) + m*n }

// OrgbrBufferSize is what Orgbr needs.
func (t *Thread) OrgbrBufferSize(h Handle, side Side, m, n, k int64, a hostmem.Ptr, lda int64, tau hostmem.Ptr, e Elem) (int32, error) {
	if err := t.live(h); err != nil {
		return 0, err
	}
	left := side == blas.CUBLAS_SIDE_LEFT
	if !left && side != blas.CUBLAS_SIDE_RIGHT || k < 0 || left && (n > m || n < min(m, k)) || !left && (m > n || m < min(n, k)) {
		return 0, invalidValue
	}
	if err := sized(m, n, lda); err != nil {
		return 0, err
	}
	return count(orgbrSize(m, n))
}

// Orgbr makes the Q of Gebrd, or P' on the right side.
func (t *Thread) Orgbr(h Handle, side Side, m, n, k int64, a hostmem.Ptr, lda int64, tau, work hostmem.Ptr, lwork int64, info hostmem.Ptr, e Elem) error {
	need, err := t.OrgbrBufferSize(h, side, m, n, k, a, lda, tau, e)
	if err != nil {
		return err
	}
	if info == hostmem.Nil {
		return invalidValue
	}
	if err := enough(work, lwork, int64(need)); err != nil {
		return err
	}
	j, err := t.job(h)
	if err != nil {
		return err
	}
	if m > 0 && n > 0 {
		if err := j.orgbr(matAt(a, lda, e), side, m, n, k, tau, work); err != nil {
			return err
		}
	}
	return j.tell(info, 0, 1)
}

func (j *job) orgbr(a mat, side Side, m, n, k int64, tau, work hostmem.Ptr) error {
	stored := uint64(solver.CUBLAS_STOREV_COLUMNWISE)
	if side == blas.CUBLAS_SIDE_RIGHT {
		stored = uint64(solver.CUBLAS_STOREV_ROWWISE)
	}
	if done, err := j.elsewhere("orgbr", a.e, stored, uint64(m), uint64(n), uint64(k), a.Base, uint64(a.LD), uint64(tau)); done {
		return err
	}
	if side == blas.CUBLAS_SIDE_LEFT {
		if m >= k {
			return j.orgqr(a, m, n, k, tau, work, hostmem.Nil)
		}
		return j.formQ(a, m, uint64(tau), 1)
	}
	// P' by columns: its reflections are conjugated in rows.
	rest := hostmem.Ptr(uint64(work) + uint64(m*n)*uint64(a.e.Size()))
	c := matAt(work, n, a.e)
	if err := j.copy(a, c, n, m, copyTurn); err != nil {
		return err
	}
	var err error
	if k < n {
		err = j.orgqr(c, n, m, k, tau, rest, hostmem.Nil)
	} else {
		err = j.formQ(c, n, uint64(tau), 1)
	}
	if err != nil {
		return err
	}
	return j.copy(c, a, m, n, copyTurn)
}
