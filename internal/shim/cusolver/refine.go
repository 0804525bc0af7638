package cusolver

import (
	"errors"

	"kudzu/internal/handle"
	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/solver"
)

// Solvers that may factor in a lower precision and refine. Here the factorization has the precision of the solution, so that there is
// nothing to refine: the number of iterations is 0.

// system is A X = B, or the least squares of it: m rows, n unknowns.
type system struct {
	a, b, x     mat
	m, n, count int64
	pivots      pivots
	work        hostmem.Ptr
	lwork       uint64
	iterations  hostmem.Ptr
	info        hostmem.Ptr
}

func (s *system) check(need int64) error {
	if s.count < 0 || s.m < s.n || s.iterations == hostmem.Nil || s.info == hostmem.Nil || s.b.LD < max(1, s.m) || s.x.LD < max(1, s.n) {
		return invalidValue
	}
	if err := sized(s.m, s.n, s.a.LD); err != nil {
		return err
	}
	if enough(s.work, int64(s.lwork), need) != nil {
		return badWorkspace
	}
	return nil
}

func gesvBytes(n int64, e Elem) int64 { return n * n * int64(e.Size()) }

func gelsBytes(m, n, count int64, e Elem) int64 {
	return (m*n + m*count + n + blockSize(m, max(n, count))) * int64(e.Size())
}

// gesv leaves A as it is: its copy is factored.
func (j *job) gesv(s *system) error {
	if err := s.check(gesvBytes(s.n, s.a.e)); err != nil {
		return err
	}
	hostmem.Store(s.iterations, int32(0))
	if s.n == 0 || s.count == 0 {
		return j.tell(s.info, 0, 1)
	}
	factor := matAt(s.work, s.n, s.a.e)
	if err := j.copy(s.a, factor, s.n, s.n, copyAll); err != nil {
		return err
	}
	if err := j.lu(factor, s.n, s.n, 0, s.pivots, s.info); err != nil {
		return err
	}
	if err := j.copy(s.b, s.x, s.n, s.count, copyAll); err != nil {
		return err
	}
	return j.substitute(factor, s.x, blas.CUBLAS_OP_N, s.n, s.count, s.pivots)
}

// gels is by QR of a copy.
func (j *job) gels(s *system) error {
	e := s.a.e
	if 0 <= s.m && s.m < s.n {
		return errors.Join(badParams, j.tell(s.info, -2, 1))
	}
	if err := s.check(gelsBytes(s.m, s.n, s.count, e)); err != nil {
		return err
	}
	hostmem.Store(s.iterations, int32(0))
	if s.n == 0 || s.count == 0 {
		return j.tell(s.info, 0, 1)
	}
	at := func(n int64) hostmem.Ptr { return hostmem.Ptr(int64(s.work) + n*int64(e.Size())) }
	factor, right := matAt(s.work, s.m, e), matAt(at(s.m*s.n), s.m, e)
	taus, work := at(s.m*(s.n+s.count)), at(s.m*(s.n+s.count)+s.n)
	steps := []func() error{
		func() error { return j.copy(s.a, factor, s.m, s.n, copyAll) },
		func() error { return j.copy(s.b, right, s.m, s.count, copyAll) },
		func() error { return j.geqrf(factor, s.m, s.n, taus, work, hostmem.Nil) },
		func() error { return j.diagonal(factor, s.n, s.info) },
		func() error {
			return j.ormqr(factor, right, blas.CUBLAS_SIDE_LEFT, blas.CUBLAS_OP_C, s.m, s.count, s.n, taus, work)
		},
		func() error {
			return j.solve(&cublas.System{Fill: blas.CUBLAS_FILL_MODE_UPPER, M: s.n, N: s.count, Batch: 1, A: factor.View, B: right.View, Type: e})
		},
		func() error { return j.copy(right, s.x, s.n, s.count, copyAll) },
	}
	for _, f := range steps {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// IrsGesvBufferSize is what IrsGesv needs.
func (t *Thread) IrsGesvBufferSize(h Handle, n, count int64, a hostmem.Ptr, lda int64, ipiv, b hostmem.Ptr, ldb int64, x hostmem.Ptr, ldx int64, work hostmem.Ptr, e Elem) (uint64, error) {
	if err := t.live(h); err != nil {
		return 0, err
	}
	if count < 0 || n < 0 {
		return 0, invalidValue
	}
	return uint64(max(gesvBytes(n, e), 1)), nil
}

// IrsGesv solves A X = B.
func (t *Thread) IrsGesv(h Handle, n, count int64, a hostmem.Ptr, lda int64, ipiv, b hostmem.Ptr, ldb int64, x hostmem.Ptr, ldx int64, work hostmem.Ptr, lwork uint64, iterations, info hostmem.Ptr, e Elem) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	if ipiv == hostmem.Nil {
		return invalidValue
	}
	return j.gesv(&system{matAt(a, lda, e), matAt(b, ldb, e), matAt(x, ldx, e), n, n, count, pivots{at: uint64(ipiv)}, work, lwork, iterations, info})
}

// IrsGelsBufferSize is what IrsGels needs.
func (t *Thread) IrsGelsBufferSize(h Handle, m, n, count int64, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, x hostmem.Ptr, ldx int64, work hostmem.Ptr, e Elem) (uint64, error) {
	if err := t.live(h); err != nil {
		return 0, err
	}
	if count < 0 || n < 0 || m < n {
		return 0, invalidValue
	}
	return uint64(max(gelsBytes(m, n, count, e), 1)), nil
}

// IrsGels finds the X for which A X is nearest to B.
func (t *Thread) IrsGels(h Handle, m, n, count int64, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, x hostmem.Ptr, ldx int64, work hostmem.Ptr, lwork uint64, iterations, info hostmem.Ptr, e Elem) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	return j.gels(&system{matAt(a, lda, e), matAt(b, ldb, e), matAt(x, ldx, e), m, n, count, pivots{}, work, lwork, iterations, info})
}

// mains are the main precisions.
var mains = map[solver.CusolverPrecType_t]Elem{solver.CUSOLVER_R_32F: F32, solver.CUSOLVER_R_64F: F64, solver.CUSOLVER_C_32F: C32, solver.CUSOLVER_C_64F: C64}

// mainType is what parameters say of A's type.
func mainType(h solver.CusolverDnIRSParams_t) (Elem, error) {
	p := irsOptions.Get(handle.Value(h))
	if p == nil {
		return 0, noParams
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	e, ok := mains[p.main]
	if !ok {
		return 0, badParams
	}
	if p.refinement == solver.CUSOLVER_IRS_REFINE_NOT_SET {
		return 0, badParams
	}
	return e, nil
}

// byGMRES reports a refinement that gels has not, and gesv of one right-hand side.
func byGMRES(h solver.CusolverDnIRSParams_t) (is bool) {
	if p := irsOptions.Get(handle.Value(h)); p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		is = p.refinement >= solver.CUSOLVER_IRS_REFINE_CLASSICAL_GMRES
	}
	return is
}

// DnIRSXgesvBufferSize is what DnIRSXgesv needs: room for the pivots, too.
func (t *Thread) DnIRSXgesvBufferSize(h Handle, p solver.CusolverDnIRSParams_t, n, count int64) (uint64, error) {
	e, err := mainType(p)
	if err != nil {
		return 0, err
	}
	if count > 1 && byGMRES(p) {
		return 0, oneRightSide
	}
	size, err := t.IrsGesvBufferSize(h, n, count, 0, n, 0, 0, n, 0, n, 0, e)
	return size + uint64(max(n, 0))*4 + 16, err
}

// limitOf keeps the limit of iterations in infos.
func limitOf(p solver.CusolverDnIRSParams_t, infos solver.CusolverDnIRSInfos_t) error {
	var most int32
	if err := refine(p, false, 0, func(x *irsParams) { most = x.most }); err != nil {
		return err
	}
	return changeInfos(infos, func(x *irsInfos) { x.most = most })
}

// DnIRSXgesv is IrsGesv with parameters.
func (t *Thread) DnIRSXgesv(h Handle, p solver.CusolverDnIRSParams_t, infos solver.CusolverDnIRSInfos_t, n, count int64, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, x hostmem.Ptr, ldx int64, work hostmem.Ptr, lwork uint64, iterations, info hostmem.Ptr) error {
	need, err := t.DnIRSXgesvBufferSize(h, p, n, count)
	if err == oneRightSide {
		return noRefinement
	}
	if err != nil {
		return err
	}
	if err := limitOf(p, infos); err != nil {
		return err
	}
	if err := enough(work, int64(lwork), int64(need)); err != nil {
		return err
	}
	e, _ := mainType(p)
	rows := hostmem.Ptr(uint64(work) + uint64(gesvBytes(n, e)))
	return t.IrsGesv(h, n, count, a, lda, rows, b, ldb, x, ldx, work, lwork, iterations, info, e)
}

// DnIRSXgelsBufferSize is what DnIRSXgels needs.
func (t *Thread) DnIRSXgelsBufferSize(h Handle, p solver.CusolverDnIRSParams_t, m, n, count int64) (uint64, error) {
	e, err := mainType(p)
	if err != nil {
		return 0, err
	}
	return t.IrsGelsBufferSize(h, m, n, count, 0, m, 0, m, 0, n, 0, e)
}

// DnIRSXgels is IrsGels with parameters.
func (t *Thread) DnIRSXgels(h Handle, p solver.CusolverDnIRSParams_t, infos solver.CusolverDnIRSInfos_t, m, n, count int64, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, x hostmem.Ptr, ldx int64, work hostmem.Ptr, lwork uint64, iterations, info hostmem.Ptr) error {
	e, err := mainType(p)
	if err != nil {
		return err
	}
	if err := limitOf(p, infos); err != nil {
		return err
	}
	if byGMRES(p) {
		j, err := t.job(h)
		if err != nil {
			return err
		}
		return errors.Join(noRefinement, j.tell(info, -1, 1))
	}
	return t.IrsGels(h, m, n, count, a, lda, b, ldb, x, ldx, work, lwork, iterations, info, e)
}
