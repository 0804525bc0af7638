package cusolver

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/spec/blas"
)

// indefinite is a symmetric or Hermitian matrix and its factor L D L' or U D U'.
type indefinite struct {
	a         mat
	n         int64
	fill      Fill
	pivots    pivots
	hermitian bool
}

// kernel is the name of one: of real matrices there is one for both.
func (p *indefinite) kernel(name string) string {
	if p.hermitian && p.a.e != realOf(p.a.e) {
		return "he" + name + "_" + p.a.e.String()
	}
	return "sy" + name + "_" + p.a.e.String()
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
	if p.pivots.at != 0 && !p.pivots.wide && !p.hermitian {
		if done, err := j.elsewhere("sytrf", p.a.e, uint64(p.fill), uint64(p.n), p.a.Base, uint64(p.a.LD), p.pivots.at, uint64(info)); done {
			return err
		}
	}
	var q shim.Params
	p.put(&q)
	q.U64(uint64(info))
	return j.one(indefiniteKernels, p.kernel("tf2"), 1, &q)
}

// sytrs solves with the factor, in the place of b.
func (j *job) sytrs(p *indefinite, b mat, count int64) error {
	if p.n == 0 || count == 0 {
		return nil
	}
	var q shim.Params
	p.put(&q)
	q.U64(b.Base, uint64(b.LD)).U32(uint32(count))
	return j.one(indefiniteKernels, p.kernel("trs"), (count+warp-1)/warp, &q)
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
	return j.sytrf(&indefinite{a: matAt(a, lda, e), n: n, fill: fill, pivots: pivots{at: uint64(ipiv)}}, info)
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
	p := &indefinite{a: matAt(a, lda, e), n: n, fill: fill, pivots: pivots{at: uint64(ipiv)}}
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
	return t.xsytrs(h, fill, n, count, ta, a, lda, ipiv, tb, b, ldb, info, false)
}

func (t *Thread) xsytrs(h Handle, fill Fill, n, count int64, ta Type, a hostmem.Ptr, lda int64, ipiv hostmem.Ptr, tb Type, b hostmem.Ptr, ldb int64, info hostmem.Ptr, hermitian bool) error {
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
	p := &indefinite{matAt(a, lda, e), n, fill, pivots{uint64(ipiv), true}, hermitian}
	if err := j.sytrs(p, matAt(b, ldb, e), count); err != nil {
		return err
	}
	return j.tell(info, 0, 1)
}

// DnXhetrsBufferSize is what DnXhetrs needs: nothing.
func (t *Thread) DnXhetrsBufferSize(h Handle, p Params, fill Fill, n, count int64, ta Type, a hostmem.Ptr, lda int64, ipiv hostmem.Ptr, tb Type, b hostmem.Ptr, ldb int64) (device, host uint64, err error) {
	return t.DnXsytrsBufferSize(h, fill, n, count, ta, a, lda, ipiv, tb, b, ldb)
}

// DnXhetrs is DnXsytrs with what DnXhetrf made.
func (t *Thread) DnXhetrs(h Handle, p Params, fill Fill, n, count int64, ta Type, a hostmem.Ptr, lda int64, ipiv hostmem.Ptr, tb Type, b hostmem.Ptr, ldb int64, work hostmem.Ptr, lwork uint64, host hostmem.Ptr, lhost uint64, info hostmem.Ptr) error {
	return t.xsytrs(h, fill, n, count, ta, a, lda, ipiv, tb, b, ldb, info, true)
}

// DnXsytrfBufferSize is what DnXsytrf needs: nothing.
func (t *Thread) DnXsytrfBufferSize(h Handle, p Params, fill Fill, n int64, ta Type, a hostmem.Ptr, lda int64, ipiv hostmem.Ptr, tc Type) (device, host uint64, err error) {
	if err := t.live(h); err != nil {
		return 0, 0, err
	}
	e, err := typed(ta, tc)
	if err != nil {
		return 0, 0, err
	}
	return 0, 0, (&indefinite{a: matAt(a, lda, e), n: n, fill: fill}).check()
}

// DnXsytrf is Sytrf with 64-bit pivots.
func (t *Thread) DnXsytrf(h Handle, p Params, fill Fill, n int64, ta Type, a hostmem.Ptr, lda int64, ipiv hostmem.Ptr, tc Type, work hostmem.Ptr, lwork uint64, host hostmem.Ptr, lhost uint64, info hostmem.Ptr) error {
	return t.xsytrf(h, fill, n, ta, a, lda, ipiv, tc, info, false)
}

func (t *Thread) xsytrf(h Handle, fill Fill, n int64, ta Type, a hostmem.Ptr, lda int64, ipiv hostmem.Ptr, tc Type, info hostmem.Ptr, hermitian bool) error {
	e, err := typed(ta, tc)
	if err != nil {
		return err
	}
	j, err := t.job(h)
	if err != nil {
		return err
	}
	return j.sytrf(&indefinite{matAt(a, lda, e), n, fill, pivots{uint64(ipiv), true}, hermitian}, info)
}

// DnXhetrfBufferSize is what DnXhetrf needs: nothing.
func (t *Thread) DnXhetrfBufferSize(h Handle, p Params, fill Fill, n int64, ta Type, a hostmem.Ptr, lda int64, ipiv hostmem.Ptr, tc Type) (device, host uint64, err error) {
	return t.DnXsytrfBufferSize(h, p, fill, n, ta, a, lda, ipiv, tc)
}

// DnXhetrf factors a Hermitian matrix.
func (t *Thread) DnXhetrf(h Handle, p Params, fill Fill, n int64, ta Type, a hostmem.Ptr, lda int64, ipiv hostmem.Ptr, tc Type, work hostmem.Ptr, lwork uint64, host hostmem.Ptr, lhost uint64, info hostmem.Ptr) error {
	return t.xsytrf(h, fill, n, ta, a, lda, ipiv, tc, info, true)
}
