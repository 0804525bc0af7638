package cusolver

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/spec/blas"
)

// indefinite is a symmetric matrix and its factor L D L' or U D U'. Complex ones are symmetric, too, not Hermitian.
type indefinite struct {
	a      mat
	n      int64
	fill   Fill
	pivots pivots
}

func (p *indefinite) check() error {
	if !validFill(p.fill) {
		return invalidValue
	}
	return sized(p.n, p.n, p.a.LD)
}

func (p *indefinite) put(q *shim.Params) {
	q.U64(p.a.Base, uint64(p.a.LD)).U32(uint32(p.n)).U64(p.pivots.at).U32(flag(p.pivots.wide), flag(p.fill == blas.CUBLAS_FILL_MODE_UPPER))
}

func (j *job) sytrf(p *indefinite, info hostmem.Ptr) error {
	if info == hostmem.Nil {
		return invalidValue
	}
	if err := j.judge(info, !validFill(p.fill), p.n < 0, false, p.a.LD < max(1, p.n)); err != nil {
		return err
	}
	if p.n == 0 {
		return j.tell(info, 0, 1)
	}
	var q shim.Params
	p.put(&q)
	q.U64(uint64(info))
	return j.one(indefiniteKernels, "sytf2_"+p.a.e.String(), 1, &q)
}

// sytrs solves with the factor, in the place of b.
func (j *job) sytrs(p *indefinite, b mat, count int64) error {
	if p.n == 0 || count == 0 {
		return nil
	}
	var q shim.Params
	p.put(&q)
	q.U64(b.Base, uint64(b.LD)).U32(uint32(count))
	return j.one(indefiniteKernels, "sytrs_"+p.a.e.String(), (count+warp-1)/warp, &q)
}

// SytrfBufferSize is what Sytrf needs.
func (t *Thread) SytrfBufferSize(h Handle, n int64, a hostmem.Ptr, lda int64, e Elem) (int32, error) {
	return 1, t.live(h)
}

// Sytrf factors a symmetric matrix, without exchanges if there is no place for pivots.
func (t *Thread) Sytrf(h Handle, fill Fill, n int64, a hostmem.Ptr, lda int64, ipiv, work hostmem.Ptr, lwork int64, info hostmem.Ptr, e Elem) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	if validFill(fill) && n >= 0 && lda >= max(1, n) {
		if err := j.judge(info, false, false, false, false, false, false, lwork < 1); err != nil {
			return err
		}
	}
	return j.sytrf(&indefinite{matAt(a, lda, e), n, fill, pivots{at: uint64(ipiv)}}, info)
}

// SytriBufferSize: the inverse is made beside the factor.
func (t *Thread) SytriBufferSize(h Handle, fill Fill, n int64, a hostmem.Ptr, lda int64, ipiv hostmem.Ptr, e Elem) (int32, error) {
	return t.PotriBufferSize(h, fill, n, a, lda, e)
}

// Sytri is the inverse, from what Sytrf made: a triangle of it in the place of the factor.
func (t *Thread) Sytri(h Handle, fill Fill, n int64, a hostmem.Ptr, lda int64, ipiv, work hostmem.Ptr, lwork int64, info hostmem.Ptr, e Elem) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	p := &indefinite{matAt(a, lda, e), n, fill, pivots{at: uint64(ipiv)}}
	if err := p.check(); err != nil {
		return err
	}
	if info == hostmem.Nil {
		return invalidValue
	}
	if err := enough(work, lwork, n*n); err != nil {
		return err
	}
	if n == 0 {
		return j.tell(info, 0, 1)
	}
	var q shim.Params
	p.put(&q)
	q.U64(uint64(info))
	if err := j.one(indefiniteKernels, "sytri_"+e.String(), 1, &q); err != nil {
		return err
	}
	inverse := matAt(work, n, e)
	if err := j.eye(inverse, n, n, 0); err != nil {
		return err
	}
	if err := j.sytrs(p, inverse, n); err != nil {
		return err
	}
	return j.copy(inverse, p.a, n, n, partOf(fill))
}

// DnXsytrsBufferSize is what DnXsytrs needs: nothing.
func (t *Thread) DnXsytrsBufferSize(h Handle, fill Fill, n, count int64, ta Type, a hostmem.Ptr, lda int64, ipiv hostmem.Ptr, tb Type, b hostmem.Ptr, ldb int64) (device, host uint64, err error) {
	if err := t.live(h); err != nil {
		return 0, 0, err
	}
	e, err := typed(ta, tb)
	if err != nil {
		return 0, 0, err
	}
	if count < 0 || ldb < max(1, n) {
		return 0, 0, invalidValue
	}
	return 0, 0, (&indefinite{a: matAt(a, lda, e), n: n, fill: fill}).check()
}

// DnXsytrs solves A X = B with what Sytrf made of A; pivots are of 64 bits.
func (t *Thread) DnXsytrs(h Handle, fill Fill, n, count int64, ta Type, a hostmem.Ptr, lda int64, ipiv hostmem.Ptr, tb Type, b hostmem.Ptr, ldb int64, work hostmem.Ptr, lwork uint64, host hostmem.Ptr, lhost uint64, info hostmem.Ptr) error {
	if _, _, err := t.DnXsytrsBufferSize(h, fill, n, count, ta, a, lda, ipiv, tb, b, ldb); err != nil {
		return err
	}
	if info == hostmem.Nil {
		return invalidValue
	}
	j, err := t.job(h)
	if err != nil {
		return err
	}
	e, _ := typed(ta, tb)
	if err := j.sytrs(&indefinite{matAt(a, lda, e), n, fill, pivots{uint64(ipiv), true}}, matAt(b, ldb, e), count); err != nil {
		return err
	}
	return j.tell(info, 0, 1)
}
