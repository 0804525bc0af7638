package cusolver

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/solver"
)

// Mode says whether vectors are wanted.
type Mode = solver.CusolverEigMode_t

// Range says which eigenvalues are.
type Range = solver.CusolverEigRange_t

// eigen is a problem A x = w x for every matrix of a batch. A takes the vectors.
type eigen struct {
	a       mat
	n       int64
	fill    Fill
	vectors bool
	w       hostmem.Ptr
	work    hostmem.Ptr
	lwork   int64
	info    hostmem.Ptr
	how     *method // by Jacobi's method
}

// size are the elements that all matrices need.
func (p *eigen) size() int64 {
	if p.how != nil {
		return syevjSize(p.n, p.a.batch)
	}
	return eigenSize(p.n, p.a.batch)
}

// eigenvalues finds the values and vectors.
func (j *job) eigenvalues(p *eigen) error {
	if p.how != nil {
		return j.syevj(p)
	}
	return j.syev(p)
}

// eigenSize are the elements that a batch needs; large matrices have the same, one after the other.
func eigenSize(n, batch int64) int64 {
	if blocked(n, batch) {
		return tridiagonalSize(n)
	}
	return 6 * n * batch
}

// check judges what all have; the 64-bit interface and others have more arguments before these.
func (p *eigen) check(j *job, mode Mode, before int) error {
	bad := append(make([]bool, before), !validMode(mode), !validFill(p.fill), p.n < 0, false, p.a.LD < max(1, p.n))
	if err := j.judge(p.info, bad...); err != nil {
		return err
	}
	p.vectors = mode == solver.CUSOLVER_EIG_MODE_VECTOR
	if err := fits(p.n, p.a.batch); err != nil {
		return err
	}
	return enough(p.work, p.lwork, p.size())
}

// syev launches it: a warp for each small matrix, blocked steps for a large one.
func (j *job) syev(p *eigen) error {
	if p.a.batch <= 0 {
		return nil
	}
	if p.n == 0 {
		return j.tell(p.info, 0, p.a.batch)
	}
	if p.info == hostmem.Nil {
		return invalidValue
	}
	if done, err := j.syevElsewhere(p); done {
		return err
	}
	if blocked(p.n, p.a.batch) {
		return j.syevBlocked(p)
	}
	var q shim.Params
	p.a.Put(&q)
	q.U32(uint32(p.n), flag(p.fill == blas.CUBLAS_FILL_MODE_UPPER), flag(p.vectors))
	if p.n <= smallSide {
		q.U64(uint64(p.w), uint64(p.info))
		return j.one(smallKernels, "syevSmall_"+p.a.e.String(), p.a.batch, &q)
	}
	q.U64(uint64(p.w), uint64(p.work), uint64(p.info))
	return j.one(eigenKernels, "syev_"+p.a.e.String(), p.a.batch, &q)
}

func (t *Thread) syevSize(h Handle, mode Mode, fill Fill, n, lda, batch int64) (int64, error) {
	if err := t.live(h); err != nil {
		return 0, err
	}
	return eigenSize(max(n, 0), max(batch, 0)), nil
}

// SyevdBufferSize is what Syevd needs.
func (t *Thread) SyevdBufferSize(h Handle, mode Mode, fill Fill, n int64, a hostmem.Ptr, lda int64, w hostmem.Ptr, e Elem) (int32, error) {
	size, err := t.syevSize(h, mode, fill, n, lda, 1)
	if err != nil {
		return 0, err
	}
	return count(size)
}

// Syevd finds all eigenvalues, smallest first, and vectors if they are wanted.
func (t *Thread) Syevd(h Handle, mode Mode, fill Fill, n int64, a hostmem.Ptr, lda int64, w, work hostmem.Ptr, lwork int64, info hostmem.Ptr, e Elem) error {
	return t.syev(h, mode, &eigen{a: matAt(a, lda, e), n: n, fill: fill, w: w, work: work, lwork: lwork, info: info})
}

func (t *Thread) syev(h Handle, mode Mode, p *eigen) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	if err := p.check(j, mode, 0); err != nil {
		return err
	}
	return j.eigenvalues(p)
}

// syevjCall is syev with parameters.
func (t *Thread) syevjCall(h Handle, mode Mode, p *eigen, params solver.SyevjInfo_t, many bool) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	how, err := j.method(syevjs, uint64(params), many)
	if err != nil {
		return err
	}
	p.how = &how
	return t.syev(h, mode, p)
}

// SyevjBufferSize is what Syevj needs.
func (t *Thread) SyevjBufferSize(h Handle, mode Mode, fill Fill, n int64, a hostmem.Ptr, lda int64, w hostmem.Ptr, info solver.SyevjInfo_t, e Elem) (int32, error) {
	return t.SyevjBatchedBufferSize(h, mode, fill, n, a, lda, w, info, 1, e)
}

// Syevj is Syevd, whose values Jacobi's method makes as precise as its parameters say.
func (t *Thread) Syevj(h Handle, mode Mode, fill Fill, n int64, a hostmem.Ptr, lda int64, w, work hostmem.Ptr, lwork int64, info hostmem.Ptr, params solver.SyevjInfo_t, e Elem) error {
	return t.syevjCall(h, mode, &eigen{a: matAt(a, lda, e), n: n, fill: fill, w: w, work: work, lwork: lwork, info: info}, params, false)
}

// stacked are matrices one behind the other.
func stacked(a hostmem.Ptr, lda, n, batch int64, e Elem) mat {
	m := matAt(a, lda, e)
	m.Stride, m.batch = lda*n, batch
	return m
}

// SyevjBatchedBufferSize is what SyevjBatched needs.
func (t *Thread) SyevjBatchedBufferSize(h Handle, mode Mode, fill Fill, n int64, a hostmem.Ptr, lda int64, w hostmem.Ptr, info solver.SyevjInfo_t, batch int64, e Elem) (int32, error) {
	if err := t.live(h); err != nil {
		return 0, err
	}
	return count(syevjSize(max(n, 0), max(batch, 0)))
}

// SyevjBatched is Syevj for matrices one behind the other.
func (t *Thread) SyevjBatched(h Handle, mode Mode, fill Fill, n int64, a hostmem.Ptr, lda int64, w, work hostmem.Ptr, lwork int64, info hostmem.Ptr, params solver.SyevjInfo_t, batch int64, e Elem) error {
	return t.syevjCall(h, mode, &eigen{a: stacked(a, lda, n, batch, e), n: n, fill: fill, w: w, work: work, lwork: lwork, info: info}, params, true)
}

// general is A x = w B x and its kin.
type general struct {
	eigen
	b    mat
	kind solver.CusolverEigType_t
}

// size are the elements: those of eigen, and an info.
func (p *general) size() int64 { return p.eigen.size() + 4 }

// sygv reduces the problem to one without B, solves that, and takes the vectors back. B keeps its factor.
func (j *job) sygv(p *general) error {
	n := p.n
	if n == 0 {
		return j.tell(p.info, 0, 1)
	}
	if done, err := j.sygvElsewhere(p); done {
		return err
	}
	definite := hostmem.Ptr(uint64(p.work) + uint64(p.eigen.size())*uint64(p.a.e.Size()))
	if err := j.cholesky(p.b, p.fill, n, 0, definite); err != nil {
		return err
	}
	var q shim.Params
	p.a.Put(&q)
	q.U32(uint32(n), flag(p.fill == blas.CUBLAS_FILL_MODE_UPPER))
	if err := j.sheet("fill_"+p.a.e.String(), n, n, 1, &q); err != nil {
		return err
	}
	// L is the factor as a lower triangle: B = L L'.
	plain, turned := Op(blas.CUBLAS_OP_N), Op(blas.CUBLAS_OP_C)
	if p.fill == blas.CUBLAS_FILL_MODE_UPPER {
		plain, turned = turned, plain
	}
	solve := func(side Side, op Op) error {
		return j.solve(&cublas.System{Side: side, Fill: p.fill, Op: op, M: n, N: n, Batch: 1, A: p.b.View, B: p.a.View, Type: p.a.e})
	}
	multiply := func(side Side, op Op) error {
		x := &cublas.Product{M: n, N: n, K: n, A: p.b.op(cublas.Triangular(p.fill, op, blas.CUBLAS_DIAG_NON_UNIT)), B: p.a.View, C: p.a.View, Alpha: plus}
		if side == blas.CUBLAS_SIDE_RIGHT {
			x.A, x.B = x.B, x.A
		}
		return j.product(x, p.a.e)
	}
	apply, left, right := solve, plain, turned // inv(L) A inv(L')
	if p.kind != solver.CUSOLVER_EIG_TYPE_1 {
		apply, left, right = multiply, turned, plain // L' A L
	}
	if err := apply(blas.CUBLAS_SIDE_LEFT, left); err != nil {
		return err
	}
	if err := apply(blas.CUBLAS_SIDE_RIGHT, right); err != nil {
		return err
	}
	if err := j.eigenvalues(&p.eigen); err != nil {
		return err
	}
	if p.vectors {
		back := func() error { return solve(blas.CUBLAS_SIDE_LEFT, turned) }
		if p.kind == solver.CUSOLVER_EIG_TYPE_3 {
			back = func() error { return multiply(blas.CUBLAS_SIDE_LEFT, plain) }
		}
		if err := back(); err != nil {
			return err
		}
	}
	var told shim.Params
	told.U64(uint64(p.info), uint64(definite)).U32(uint32(n))
	return j.one(factorKernels, "laterInfo", 1, &told)
}

func validKind(k solver.CusolverEigType_t) bool {
	return k >= solver.CUSOLVER_EIG_TYPE_1 && k <= solver.CUSOLVER_EIG_TYPE_3
}

// SygvdBufferSize is what Sygvd needs.
func (t *Thread) SygvdBufferSize(h Handle, kind solver.CusolverEigType_t, mode Mode, fill Fill, n int64, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, w hostmem.Ptr, e Elem) (int32, error) {
	if err := t.live(h); err != nil {
		return 0, err
	}
	return count((&general{eigen: eigen{a: mat{batch: 1}, n: max(n, 0)}}).size())
}

// Sygvd solves A x = w B x, A B x = w x or B A x = w x.
func (t *Thread) Sygvd(h Handle, kind solver.CusolverEigType_t, mode Mode, fill Fill, n int64, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, w, work hostmem.Ptr, lwork int64, info hostmem.Ptr, e Elem) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	return j.sygvCall(&general{eigen{a: matAt(a, lda, e), n: n, fill: fill, w: w, work: work, lwork: lwork, info: info}, matAt(b, ldb, e), kind}, mode)
}

// check judges the arguments of a problem with two matrices.
func (p *general) check(j *job, mode Mode) error {
	if err := j.judge(p.info, !validKind(p.kind)); err != nil {
		return err
	}
	if err := p.eigen.check(j, mode, 1); err != nil {
		return err
	}
	if err := j.judge(p.info, false, false, false, false, false, false, false, p.b.LD < max(1, p.n)); err != nil {
		return err
	}
	if p.info == hostmem.Nil {
		return invalidValue
	}
	return enough(p.work, p.lwork, p.size())
}

func (j *job) sygvCall(p *general, mode Mode) error {
	if err := p.check(j, mode); err != nil {
		return err
	}
	return j.sygv(p)
}

// SygvjBufferSize is what Sygvj needs.
func (t *Thread) SygvjBufferSize(h Handle, kind solver.CusolverEigType_t, mode Mode, fill Fill, n int64, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, w hostmem.Ptr, info solver.SyevjInfo_t, e Elem) (int32, error) {
	if err := t.live(h); err != nil {
		return 0, err
	}
	return count((&general{eigen: eigen{a: mat{batch: 1}, n: max(n, 0), how: &method{}}}).size())
}

// Sygvj is Sygvd with Jacobi's method.
func (t *Thread) Sygvj(h Handle, kind solver.CusolverEigType_t, mode Mode, fill Fill, n int64, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, w, work hostmem.Ptr, lwork int64, info hostmem.Ptr, params solver.SyevjInfo_t, e Elem) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	how, err := j.method(syevjs, uint64(params), false)
	if err != nil {
		return err
	}
	return j.sygvCall(&general{eigen{a: matAt(a, lda, e), n: n, fill: fill, w: w, work: work, lwork: lwork, info: info, how: &how}, matAt(b, ldb, e), kind}, mode)
}
