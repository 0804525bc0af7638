package cusolver

import (
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/blas"
)

// panel is how many reflections are applied as one.
const panel = 32

// block is a group of reflections H = I - V T V' in workspace: V with its ones and zeros, T, and room for products.
type block struct {
	v, t, w, w2 mat
	rows, k     int64
}

// blockSize are the elements that a block of reflections on matrices of m × n needs, from either side.
func blockSize(m, n int64) int64 { return panel*(max(m, n)+2*max(m, n)) + panel*panel }

// blockAt lays one out.
func blockAt(work hostmem.Ptr, rows, most int64, e Elem) *block {
	size := int64(e.Size())
	at := func(elements int64) hostmem.Ptr { return hostmem.Ptr(int64(work) + elements*size) }
	b := &block{rows: rows}
	b.v = matAt(work, rows, e)
	b.t = matAt(at(panel*most), panel, e)
	b.w = matAt(at(panel*most+panel*panel), panel, e)
	b.w2 = matAt(at(2*panel*most+panel*panel), panel, e)
	return b
}

// gather reads k reflections that lie below the diagonal of a, which has rows rows.
func (j *job) gather(b *block, a mat, rows, k int64, taus uint64) error {
	b.rows, b.k, b.v.LD = rows, k, rows
	var q shim.Params
	q.U64(a.Base, uint64(a.LD)).U32(uint32(rows), uint32(k)).U64(taus, b.v.Base, b.t.Base, uint64(b.t.LD))
	return j.one(factorKernels, "larft_"+a.e.String(), 1, &q)
}

// reflect is C = H C or C = C H, with H' instead of H if turned.
func (j *job) reflect(b *block, side Side, turned bool, c mat, m, n int64) error {
	if m == 0 || n == 0 {
		return nil
	}
	how := Op(blas.CUBLAS_OP_N)
	if turned {
		how = blas.CUBLAS_OP_C
	}
	var p [3]*cublas.Product
	if side == blas.CUBLAS_SIDE_LEFT {
		p[0] = &cublas.Product{M: b.k, N: n, K: m, A: b.v.op(blas.CUBLAS_OP_C), B: c.View, C: b.w.View, Alpha: plus}
		p[1] = &cublas.Product{M: b.k, N: n, K: b.k, A: b.t.op(how), B: b.w.View, C: b.w2.View, Alpha: plus}
		p[2] = &cublas.Product{M: m, N: n, K: b.k, A: b.v.View, B: b.w2.View, C: c.View, Alpha: minus, Beta: plus}
	} else {
		w, w2 := b.w, b.w2
		w.LD, w2.LD = m, m
		p[0] = &cublas.Product{M: m, N: b.k, K: n, A: c.View, B: b.v.View, C: w.View, Alpha: plus}
		p[1] = &cublas.Product{M: m, N: b.k, K: b.k, A: w.View, B: b.t.op(how), C: w2.View, Alpha: plus}
		p[2] = &cublas.Product{M: m, N: n, K: b.k, A: w2.View, B: b.v.op(blas.CUBLAS_OP_C), C: c.View, Alpha: minus, Beta: plus}
	}
	for _, x := range p {
		if err := j.product(x, c.e); err != nil {
			return err
		}
	}
	return nil
}

// wholeRows and wholeColumns are of matrices that one warp factors in one launch, or makes Q of.
const (
	wholeRows    = 128
	wholeColumns = 64
)

// geqr2 factors a panel, or a whole matrix if there is an info to write.
func (j *job) geqr2(a mat, m, n int64, tau uint64, info hostmem.Ptr) error {
	var q shim.Params
	q.U64(a.Base, uint64(a.LD)).U32(uint32(m), uint32(n)).U64(tau, uint64(info))
	return j.one(factorKernels, "geqr2_"+a.e.String(), 1, &q)
}

// geqrf factors A = Q R: panel by panel, each applied to what is right of it.
func (j *job) geqrf(a mat, m, n int64, taus, work, info hostmem.Ptr) error {
	if done, err := j.elsewhere("geqrf", a.e, uint64(m), uint64(n), a.Base, uint64(a.LD), uint64(taus)); done {
		return j.succeeded(err, info)
	}
	if m <= wholeRows && n <= wholeColumns {
		return j.geqr2(a, m, n, uint64(taus), info)
	}
	if err := j.tell(info, 0, 1); err != nil {
		return err
	}
	b := blockAt(work, m, max(m, n), a.e)
	k := min(m, n)
	for i := int64(0); i < k; i += panel {
		wide := min(panel, k-i)
		at := a.at(i, i)
		tau := uint64(taus) + uint64(i)*uint64(a.e.Size())
		if err := j.geqr2(at, m-i, wide, tau, hostmem.Nil); err != nil {
			return err
		}
		if i+wide >= n {
			continue
		}
		if err := j.gather(b, at, m-i, wide, tau); err != nil {
			return err
		}
		if err := j.reflect(b, blas.CUBLAS_SIDE_LEFT, true, a.at(i, i+wide), m-i, n-i-wide); err != nil {
			return err
		}
	}
	return nil
}

// orgqr makes n columns of Q, of k reflections, in their place. info may be none.
func (j *job) orgqr(a mat, m, n, k int64, taus, work, info hostmem.Ptr) error {
	if done, err := j.elsewhere("orgqr", a.e, uint64(m), uint64(n), uint64(k), a.Base, uint64(a.LD), uint64(taus)); done {
		return j.succeeded(err, info)
	}
	if m <= wholeRows && n <= wholeColumns {
		var q shim.Params
		q.U64(a.Base, uint64(a.LD)).U32(uint32(m), uint32(n), uint32(k)).U64(uint64(taus), uint64(info))
		return j.one(factorKernels, "org2r_"+a.e.String(), 1, &q)
	}
	if err := j.tell(info, 0, 1); err != nil {
		return err
	}
	b := blockAt(work, m, max(m, n), a.e)
	if err := j.eye(a.at(0, k), m, n-k, k); err != nil {
		return err
	}
	for i := (k - 1) / panel * panel; i >= 0 && k > 0; i -= panel {
		wide := min(panel, k-i)
		tau := uint64(taus) + uint64(i)*uint64(a.e.Size())
		if err := j.gather(b, a.at(i, i), m-i, wide, tau); err != nil {
			return err
		}
		if err := j.eye(a.at(0, i), m, wide, i); err != nil {
			return err
		}
		if err := j.reflect(b, blas.CUBLAS_SIDE_LEFT, false, a.at(i, i), m-i, n-i); err != nil {
			return err
		}
	}
	return nil
}

// ormqr is C = op(Q) C or C op(Q).
func (j *job) ormqr(a, c mat, side Side, op Op, m, n, k int64, taus, work hostmem.Ptr) error {
	if done, err := j.elsewhere("ormqr", a.e, uint64(side), uint64(op), uint64(m), uint64(n), uint64(k), a.Base, uint64(a.LD), uint64(taus), c.Base, uint64(c.LD)); done {
		return err
	}
	rows := m
	if side == blas.CUBLAS_SIDE_RIGHT {
		rows = n
	}
	b := blockAt(work, rows, max(m, n), a.e)
	turned := op != blas.CUBLAS_OP_N
	forward := turned == (side == blas.CUBLAS_SIDE_LEFT)
	blocks := (k + panel - 1) / panel
	for x := range blocks {
		i := x * panel
		if !forward {
			i = (blocks - 1 - x) * panel
		}
		tau := uint64(taus) + uint64(i)*uint64(a.e.Size())
		if err := j.gather(b, a.at(i, i), rows-i, min(panel, k-i), tau); err != nil {
			return err
		}
		part, pm, pn := c.at(i, 0), m-i, n
		if side == blas.CUBLAS_SIDE_RIGHT {
			part, pm, pn = c.at(0, i), m, n-i
		}
		if err := j.reflect(b, side, turned, part, pm, pn); err != nil {
			return err
		}
	}
	return nil
}

// GeqrfBufferSize is what Geqrf needs.
func (t *Thread) GeqrfBufferSize(h Handle, m, n int64, a hostmem.Ptr, lda int64, e Elem) (int32, error) {
	if err := t.live(h); err != nil {
		return 0, err
	}
	return asked(m, n, blockSize)
}

// Geqrf factors A = Q R.
func (t *Thread) Geqrf(h Handle, m, n int64, a hostmem.Ptr, lda int64, taus, work hostmem.Ptr, lwork int64, info hostmem.Ptr, e Elem) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	if m <= wholeRows && n <= wholeColumns {
		j.only(h, driver.Argument(a, 0), driver.Argument(taus, 24), driver.Unused(work), driver.Argument(info, 32))
	}
	return j.geqrfCall(matAt(a, lda, e), m, n, taus, work, lwork, info)
}

func (j *job) geqrfCall(a mat, m, n int64, taus, work hostmem.Ptr, lwork int64, info hostmem.Ptr) error {
	if err := j.judge(info, m < 0, n < 0, false, a.LD < max(1, m)); err != nil {
		return err
	}
	if err := fits(m, n); err != nil {
		return err
	}
	if m == 0 || n == 0 {
		return j.tell(info, 0, 1)
	}
	if err := enough(work, lwork, blockSize(m, n)); err != nil {
		return err
	}
	return j.geqrf(a, m, n, taus, work, info)
}

// OrgqrBufferSize is what Orgqr needs.
func (t *Thread) OrgqrBufferSize(h Handle, m, n, k int64, a hostmem.Ptr, lda int64, taus hostmem.Ptr, e Elem) (int32, error) {
	if err := t.live(h); err != nil {
		return 0, err
	}
	return asked(m, n, blockSize)
}

// Orgqr makes columns of Q of what Geqrf left.
func (t *Thread) Orgqr(h Handle, m, n, k int64, a hostmem.Ptr, lda int64, taus, work hostmem.Ptr, lwork int64, info hostmem.Ptr, e Elem) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	if err := j.judge(info, m < 0, n < 0 || n > m, k < 0 || k > n, false, lda < max(1, m)); err != nil {
		return err
	}
	if err := fits(m, n); err != nil {
		return err
	}
	if n == 0 {
		return j.tell(info, 0, 1)
	}
	if err := enough(work, lwork, blockSize(m, n)); err != nil {
		return err
	}
	if m <= wholeRows && n <= wholeColumns {
		j.only(h, driver.Argument(a, 0), driver.Argument(taus, 32), driver.Unused(work), driver.Argument(info, 40))
	}
	return j.orgqr(matAt(a, lda, e), m, n, k, taus, work, info)
}

func validSide(s Side) bool { return s == blas.CUBLAS_SIDE_LEFT || s == blas.CUBLAS_SIDE_RIGHT }

// plainOrTurned: Q' is the transpose of a real matrix, and the conjugate transpose of a complex one.
func plainOrTurned(op Op, e Elem) bool {
	if e == C32 || e == C64 {
		return op == blas.CUBLAS_OP_N || op == blas.CUBLAS_OP_C
	}
	return op == blas.CUBLAS_OP_N || op == blas.CUBLAS_OP_T
}

// OrmqrBufferSize is what Ormqr needs.
func (t *Thread) OrmqrBufferSize(h Handle, side Side, op Op, m, n, k int64, a hostmem.Ptr, lda int64, taus, c hostmem.Ptr, ldc int64, e Elem) (int32, error) {
	if err := t.live(h); err != nil {
		return 0, err
	}
	return asked(m, n, blockSize)
}

// Ormqr multiplies C with Q of what Geqrf left.
func (t *Thread) Ormqr(h Handle, side Side, op Op, m, n, k int64, a hostmem.Ptr, lda int64, taus, c hostmem.Ptr, ldc int64, work hostmem.Ptr, lwork int64, info hostmem.Ptr, e Elem) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	rows := m
	if side == blas.CUBLAS_SIDE_RIGHT {
		rows = n
	}
	if err := j.judge(info, !validSide(side), !plainOrTurned(op, e), m < 0, n < 0, k < 0 || k > rows, false, lda < max(1, rows), false, false, ldc < max(1, m)); err != nil {
		return err
	}
	if err := fits(m, n); err != nil {
		return err
	}
	if m > 0 && n > 0 && k > 0 {
		if err := enough(work, lwork, blockSize(m, n)); err != nil {
			return err
		}
		if err := j.ormqr(matAt(a, lda, e), matAt(c, ldc, e), side, op, m, n, k, taus, work); err != nil {
			return err
		}
	}
	return j.tell(info, 0, 1)
}
