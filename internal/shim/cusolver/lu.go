package cusolver

import (
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/blas"
)

// leafColumns are the columns of a panel that one warp factors.
const leafColumns = 32

// pivots are the rows that were exchanged, from 1, in numbers of 32 or 64 bits; at 0: none were.
type pivots struct {
	at   uint64
	wide bool
}

func (p pivots) from(k int64) pivots {
	if p.at == 0 {
		return p
	}
	if p.wide {
		k *= 2
	}
	p.at += uint64(k * 4)
	return p
}

func (p pivots) put(q *shim.Params) { q.U64(p.at).U32(flag(p.wide), 0) }

// laswp exchanges rows k1 to k2 of n columns; numbers in the pivots count from base, and negative steps go backwards.
func (j *job) laswp(a mat, n, k1, k2 int64, p pivots, base, step int64) error {
	if p.at == 0 || n == 0 || k2 <= k1 {
		return nil
	}
	var q shim.Params
	q.U64(a.Base, uint64(a.LD)).U32(uint32(n), uint32(k1), uint32(k2))
	p.put(&q)
	q.U32(uint32(base)).U64(uint64(step))
	return j.one(factorKernels, "laswp_"+a.e.String(), min((n+warp-1)/warp, 1<<16), &q)
}

// lu factors m × n by halves of the columns; at is where it begins in the whole matrix.
func (j *job) lu(a mat, m, n, at int64, p pivots, info hostmem.Ptr) error {
	k := min(m, n)
	first := (k/2 + leafColumns - 1) / leafColumns * leafColumns
	if k <= leafColumns {
		first = k
		var q shim.Params
		q.U64(a.Base, uint64(a.LD)).U32(uint32(m), uint32(k))
		p.put(&q)
		q.U64(uint64(info)).U32(uint32(at))
		if err := j.one(factorKernels, "getf2_"+a.e.String(), 1, &q); err != nil {
			return err
		}
	} else if err := j.lu(a, m, first, at, p, info); err != nil {
		return err
	}
	if n == first {
		return nil
	}
	right := a.at(0, first)
	if err := j.laswp(right, n-first, 0, first, p.from(at), at, 1); err != nil {
		return err
	}
	s := &cublas.System{Fill: blas.CUBLAS_FILL_MODE_LOWER, Diag: blas.CUBLAS_DIAG_UNIT, M: first, N: n - first, Batch: 1, A: a.View, B: right.View, Type: a.e}
	if err := j.solve(s); err != nil || m == first {
		return err
	}
	below, rest := a.at(first, 0), a.at(first, first)
	pr := &cublas.Product{M: m - first, N: n - first, K: first, A: below.View, B: right.View, C: rest.View, Alpha: minus, Beta: plus}
	if err := j.product(pr, a.e); err != nil {
		return err
	}
	if err := j.lu(rest, m-first, n-first, at+first, p, info); err != nil {
		return err
	}
	return j.laswp(below, first, 0, min(m, n)-first, p.from(at+first), at+first, 1)
}

func (j *job) getrf(a mat, m, n int64, p pivots, info hostmem.Ptr) error {
	if info == hostmem.Nil {
		return invalidValue
	}
	if a.LD < max(1, m) && m >= 0 && n >= 0 { // an H200's library tells info, and nobody else
		return j.tell(info, -4, 1)
	}
	if err := j.judge(info, m < 0, n < 0); err != nil {
		return err
	}
	if err := fits(m, n); err != nil {
		return err
	}
	if m == 0 || n == 0 {
		return j.tell(info, 0, 1)
	}
	if done, err := j.getrfElsewhere(a, m, n, p, info); done {
		return err
	}
	return j.lu(a, m, n, 0, p, info)
}

// getrs solves op(A) X = B with what getrf made of A.
func (j *job) getrs(a, b mat, op Op, n, count int64, p pivots, info hostmem.Ptr) error {
	if op < blas.CUBLAS_OP_N || op > blas.CUBLAS_OP_C || count < 0 || b.LD < max(1, n) {
		return invalidValue
	}
	if err := sized(n, n, a.LD); err != nil {
		return err
	}
	if n == 0 || count == 0 {
		return nil
	}
	if err := j.substitute(a, b, op, n, count, p); err != nil {
		return err
	}
	return j.tell(info, 0, 1)
}

// substitute is what getrs does with arguments that are right.
func (j *job) substitute(a, b mat, op Op, n, count int64, p pivots) error {
	if done, err := j.getrsElsewhere(a, b, op, n, count, p); done {
		return err
	}
	lower := cublas.System{Fill: blas.CUBLAS_FILL_MODE_LOWER, Diag: blas.CUBLAS_DIAG_UNIT, Op: op, M: n, N: count, Batch: 1, A: a.View, B: b.View, Type: a.e}
	upper := lower
	upper.Fill, upper.Diag = blas.CUBLAS_FILL_MODE_UPPER, blas.CUBLAS_DIAG_NON_UNIT
	steps := []func() error{
		func() error { return j.laswp(b, count, 0, n, p, 0, 1) },
		func() error { return j.solve(&lower) },
		func() error { return j.solve(&upper) },
	}
	if op != blas.CUBLAS_OP_N {
		steps[0], steps[2] = steps[2], func() error { return j.laswp(b, count, 0, n, p, 0, -1) }
	}
	for _, f := range steps {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// GetrfBufferSize is what Getrf needs.
func (t *Thread) GetrfBufferSize(h Handle, m, n int64, a hostmem.Ptr, lda int64, e Elem) (int32, error) {
	return 1, t.live(h)
}

// Getrf factors P A = L U, without exchanges if there is no place for pivots.
func (t *Thread) Getrf(h Handle, m, n int64, a hostmem.Ptr, lda int64, work, ipiv, info hostmem.Ptr, e Elem) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	if m >= n && n <= leafColumns && info != hostmem.Nil {
		j.only(h, driver.Argument(a, 0), driver.Unused(work), driver.Argument(ipiv, 24), driver.Argument(info, 40))
	}
	return j.getrf(matAt(a, lda, e), m, n, pivots{at: uint64(ipiv)}, info)
}

// Getrs solves with what Getrf made.
func (t *Thread) Getrs(h Handle, op Op, n, count int64, a hostmem.Ptr, lda int64, ipiv, b hostmem.Ptr, ldb int64, info hostmem.Ptr, e Elem) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	return j.getrs(matAt(a, lda, e), matAt(b, ldb, e), op, n, count, pivots{at: uint64(ipiv)}, info)
}

// Laswp exchanges rows k1 to k2, from 1, as pivots say; a negative increment goes backwards.
func (t *Thread) Laswp(h Handle, n int64, a hostmem.Ptr, lda, k1, k2 int64, ipiv hostmem.Ptr, inc int64, e Elem) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	if n < 0 || k1 < 1 || k2 < k1 || lda < k2 || inc == 0 || ipiv == hostmem.Nil {
		return invalidValue
	}
	if done, err := j.elsewhere("laswp", e, uint64(n), uint64(a), uint64(lda), uint64(k1), uint64(k2), uint64(ipiv), uint64(inc)); done {
		return err
	}
	p := pivots{at: uint64(ipiv)}.from((k1 - 1) * (1 - max(inc, -inc)))
	return j.laswp(matAt(a, lda, e), n, k1-1, k2, p, 0, inc)
}
