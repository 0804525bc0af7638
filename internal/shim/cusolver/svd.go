package cusolver

import (
	"errors"

	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/solver"
)

// vectorsOf is where singular vectors go: how many, and whether conjugated and transposed.
type vectorsOf struct {
	to      cublas.View
	columns int64
	turned  bool
}

func (v vectorsOf) put(q *shim.Params) {
	v.to.Put(q)
	q.U32(uint32(v.columns), flag(v.turned))
}

// singular is A = U S V' for every matrix of a batch.
type singular struct {
	a           mat
	m, n        int64
	s           hostmem.Ptr
	strideS     int64
	values      int64 // that are written
	left, right vectorsOf
	sweeps      int32
	tolerance   float64
	told        uint64 // where what the method did is written, if anywhere
	work        hostmem.Ptr
	info        hostmem.Ptr
}

// wide are the columns of the longer side that are made.
func (p *singular) wide() int64 {
	longer := p.left
	if p.m < p.n {
		longer = p.right
	}
	return max(min(p.m, p.n), longer.columns)
}

// singularBytes is what one matrix needs: its columns, those of the other side, norms and their order. full: all columns of the
// longer side may be asked for.
func singularBytes(m, n int64, full bool, e Elem) int64 {
	p, q := max(m, n), min(m, n)
	wide := q
	if full {
		wide = p
	}
	size := int64(e.Size())
	jacobi := ((p*wide+q*q)*size + q*int64(realOf(e).Size()) + q*4 + 15) &^ 15
	if q < fewColumns {
		return jacobi
	}
	return max(jacobi, int64(bidiagonalAt(0, p, q, wide, e).end))
}

// svd launches it: a warp for each matrix, blocked steps for a large one.
func (j *job) svd(p *singular) error {
	if p.a.batch <= 0 {
		return nil
	}
	if p.m == 0 || p.n == 0 {
		return j.tell(p.info, 0, p.a.batch)
	}
	if p.info == hostmem.Nil {
		return invalidValue
	}
	small := p.smallSVD()
	if !small && p.blockedSVD() {
		return j.svdLarge(p)
	}
	wide := p.wide()
	var q shim.Params
	p.a.Put(&q)
	q.U32(uint32(p.m), uint32(p.n)).U64(uint64(p.s), uint64(p.strideS))
	p.left.put(&q)
	p.right.put(&q)
	if small {
		q.U32(uint32(p.values)).U64(uint64(p.info))
		return j.one(smallKernels, "gesvdSmall_"+p.a.e.String(), p.a.batch, &q)
	}
	full := wide > min(p.m, p.n)
	q.U32(uint32(wide), uint32(p.values), uint32(p.sweeps)).U64(uint64(p.work), uint64(singularBytes(p.m, p.n, full, p.a.e)), uint64(p.info)).F64(p.tolerance).U64(p.told)
	return j.one(svdKernels, "svd_"+p.a.e.String(), p.a.batch, &q)
}

// elements is a size in bytes as the 32-bit interface says it.
func elements(bytes int64, e Elem) (int32, error) {
	size := int64(e.Size())
	return count((bytes + size - 1) / size)
}

// GesvdBufferSize is what Gesvd needs.
func (t *Thread) GesvdBufferSize(h Handle, m, n int64, e Elem) (int32, error) {
	if err := t.live(h); err != nil {
		return 0, err
	}
	if n < 0 || m < 0 {
		return 0, invalidValue
	}
	return elements(singularBytes(m, n, true, e), e)
}

// job letters: all columns, as many as there are values, in the place of A, none.
func jobColumns(letter int8, all, some int64) (columns int64, ok bool) {
	switch letter {
	case 'A':
		return all, true
	case 'S', 'O':
		return some, true
	case 'N':
		return 0, true
	}
	return 0, false
}

// gesvdCall is LAPACK's: m >= n, as in the vendor's library, and V' instead of V.
func (j *job) gesvdCall(a mat, jobu, jobvt int8, m, n int64, s hostmem.Ptr, u, vt cublas.View, work hostmem.Ptr, lbytes int64, info hostmem.Ptr) error {
	if err := fits(m, n); err != nil {
		return err
	}
	if 0 <= m && m < n {
		return errors.Join(invalidValue, j.tell(info, 0, 1))
	}
	left, ok := jobColumns(jobu, m, n)
	right, ok2 := jobColumns(jobvt, n, n)
	if err := j.judge(info, !ok, !ok2 || jobu == 'O' && jobvt == 'O', m < 0, n < 0, false, a.LD < max(1, m)); err != nil {
		return err
	}
	p := &singular{a: a, m: m, n: n, s: s, values: n, sweeps: maxSweeps, work: work, info: info,
		left: vectorsOf{u, left, false}, right: vectorsOf{vt, right, true}}
	if jobu == 'O' {
		p.left.to = a.View
	}
	if jobvt == 'O' {
		p.right.to = a.View
	}
	lowLeft, lowRight := left > 0 && p.left.to.LD < max(1, m), right > 0 && p.right.to.LD < max(1, n)
	if err := j.judge(info, false, false, false, false, false, false, false, false, lowLeft, false, lowRight); err != nil {
		return err
	}
	if err := enough(work, lbytes, singularBytes(m, n, left > n, a.e)); err != nil {
		return err
	}
	if done, err := j.gesvdElsewhere(p, jobu, jobvt, u, vt); done {
		return err
	}
	return j.svd(p)
}

// Gesvd finds singular values, largest first, and vectors if they are wanted.
func (t *Thread) Gesvd(h Handle, jobu, jobvt int8, m, n int64, a hostmem.Ptr, lda int64, s, u hostmem.Ptr, ldu int64, vt hostmem.Ptr, ldvt int64, work hostmem.Ptr, lwork int64, rwork, info hostmem.Ptr, e Elem) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	return j.gesvdCall(matAt(a, lda, e), jobu, jobvt, m, n, s, cublas.View{Base: uint64(u), LD: ldu}, cublas.View{Base: uint64(vt), LD: ldvt}, work, lwork*int64(e.Size()), info)
}

// gesvdjCall is of any shape, with V and not V'.
func (j *job) gesvdjCall(a mat, mode Mode, econ bool, m, n int64, s hostmem.Ptr, u, v cublas.View, work hostmem.Ptr, lbytes int64, info hostmem.Ptr, how method) error {
	if !validMode(mode) {
		return invalidValue
	}
	if err := sized(m, n, a.LD); err != nil {
		return err
	}
	k := min(m, n)
	p := &singular{a: a, m: m, n: n, s: s, strideS: k, values: k, sweeps: how.sweeps, tolerance: how.tolerance, told: how.told, work: work, info: info, left: vectorsOf{to: u}, right: vectorsOf{to: v}}
	if mode == solver.CUSOLVER_EIG_MODE_VECTOR {
		p.left.columns, p.right.columns = m, n
		if econ {
			p.left.columns, p.right.columns = k, k
		}
		if u.LD < max(1, m) || v.LD < max(1, n) {
			return invalidValue
		}
	}
	if err := enough(work, lbytes, a.batch*singularBytes(m, n, p.wide() > k, a.e)); err != nil {
		return err
	}
	return j.svd(p)
}

func (t *Thread) gesvdjSize(h Handle, mode Mode, econ bool, m, n, lda, batch int64, e Elem) (int64, error) {
	if err := t.live(h); err != nil {
		return 0, err
	}
	return max(batch, 0) * singularBytes(max(m, 0), max(n, 0), mode == solver.CUSOLVER_EIG_MODE_VECTOR && !econ, e), nil
}

// GesvdjBufferSize is what Gesvdj needs.
func (t *Thread) GesvdjBufferSize(h Handle, mode Mode, econ int32, m, n int64, a hostmem.Ptr, lda int64, s, u hostmem.Ptr, ldu int64, v hostmem.Ptr, ldv int64, params solver.GesvdjInfo_t, e Elem) (int32, error) {
	bytes, err := t.gesvdjSize(h, mode, econ != 0, m, n, lda, 1, e)
	if err != nil {
		return 0, err
	}
	return elements(bytes, e)
}

// Gesvdj is A = U S V' by Jacobi's method.
func (t *Thread) Gesvdj(h Handle, mode Mode, econ int32, m, n int64, a hostmem.Ptr, lda int64, s, u hostmem.Ptr, ldu int64, v hostmem.Ptr, ldv int64, work hostmem.Ptr, lwork int64, info hostmem.Ptr, params solver.GesvdjInfo_t, e Elem) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	how, err := j.method(gesvdjs, uint64(params), false)
	if err != nil {
		return err
	}
	return j.gesvdjCall(matAt(a, lda, e), mode, econ != 0, m, n, s, cublas.View{Base: uint64(u), LD: ldu}, cublas.View{Base: uint64(v), LD: ldv}, work, lwork*int64(e.Size()), info, how)
}

// GesvdjBatchedBufferSize is what GesvdjBatched needs.
func (t *Thread) GesvdjBatchedBufferSize(h Handle, mode Mode, m, n int64, a hostmem.Ptr, lda int64, s, u hostmem.Ptr, ldu int64, v hostmem.Ptr, ldv int64, params solver.GesvdjInfo_t, batch int64, e Elem) (int32, error) {
	bytes, err := t.gesvdjSize(h, mode, false, m, n, lda, batch, e)
	if err != nil {
		return 0, err
	}
	return elements(bytes, e)
}

// GesvdjBatched is Gesvdj for matrices one behind the other. The vendor's takes up to 32 rows and columns; this one any number.
func (t *Thread) GesvdjBatched(h Handle, mode Mode, m, n int64, a hostmem.Ptr, lda int64, s, u hostmem.Ptr, ldu int64, v hostmem.Ptr, ldv int64, work hostmem.Ptr, lwork int64, info hostmem.Ptr, params solver.GesvdjInfo_t, batch int64, e Elem) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	how, err := j.method(gesvdjs, uint64(params), true)
	if err != nil {
		return err
	}
	return j.gesvdjCall(stacked(a, lda, n, batch, e), mode, false, m, n, s, cublas.View{Base: uint64(u), LD: ldu, Stride: ldu * m}, cublas.View{Base: uint64(v), LD: ldv, Stride: ldv * n}, work, lwork*int64(e.Size()), info, how)
}

// GesvdaStridedBatchedBufferSize is what GesvdaStridedBatched needs.
func (t *Thread) GesvdaStridedBatchedBufferSize(h Handle, mode Mode, rank, m, n int64, a hostmem.Ptr, lda, strideA int64, s hostmem.Ptr, strideS int64, u hostmem.Ptr, ldu, strideU int64, v hostmem.Ptr, ldv, strideV, batch int64, e Elem) (int32, error) {
	bytes, err := t.gesvdjSize(h, mode, true, m, n, lda, batch, e)
	if err != nil {
		return 0, err
	}
	return elements(bytes+8*max(batch, 0), e)
}

// GesvdaStridedBatched finds the largest values and their vectors. The norms are on the host: who asks for them waits.
func (t *Thread) GesvdaStridedBatched(h Handle, mode Mode, rank, m, n int64, a hostmem.Ptr, lda, strideA int64, s hostmem.Ptr, strideS int64, u hostmem.Ptr, ldu, strideU int64, v hostmem.Ptr, ldv, strideV int64, work hostmem.Ptr, lwork int64, info, norms hostmem.Ptr, batch int64, e Elem) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	if !validMode(mode) || batch < 0 || info == hostmem.Nil || rank < 0 || rank > min(m, n) {
		return invalidValue
	}
	if err := sized(m, n, lda); err != nil {
		return err
	}
	x := matAt(a, lda, e)
	x.Stride, x.batch = strideA, batch
	p := &singular{a: x, m: m, n: n, s: s, strideS: strideS, values: rank, sweeps: maxSweeps, work: work, info: info}
	p.left.to = cublas.View{Base: uint64(u), LD: ldu, Stride: strideU}
	p.right.to = cublas.View{Base: uint64(v), LD: ldv, Stride: strideV}
	if mode == solver.CUSOLVER_EIG_MODE_VECTOR {
		if ldu < max(1, m) || ldv < max(1, n) {
			return invalidValue
		}
		p.left.columns, p.right.columns = rank, rank
	}
	bytes := batch * singularBytes(m, n, false, e)
	if err := enough(work, lwork*int64(e.Size()), bytes+8*batch); err != nil {
		return err
	}
	if err := j.svd(p); err != nil || norms == hostmem.Nil || p.left.columns == 0 || batch == 0 {
		return err
	}
	return j.residuals(p, uint64(work)+uint64(bytes), norms)
}

// residuals are the norms of A - U S V'.
func (j *job) residuals(p *singular, at uint64, norms hostmem.Ptr) error {
	var q shim.Params
	p.a.Put(&q)
	q.U32(uint32(p.m), uint32(p.n)).U64(uint64(p.s), uint64(p.strideS))
	p.left.to.Put(&q)
	p.right.to.Put(&q)
	q.U32(uint32(p.values)).U64(at)
	if err := j.one(svdKernels, "residual_"+p.a.e.String(), p.a.batch, &q); err != nil {
		return err
	}
	if err := j.d.MemcpyDtoHAsync(norms, driver.DevPtr(at), 8*uint64(p.a.batch), j.stream); err != nil {
		return err
	}
	return j.d.StreamSynchronize(j.stream)
}
