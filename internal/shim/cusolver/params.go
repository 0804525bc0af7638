package cusolver

import (
	"kudzu/internal/handle"
	"kudzu/internal/hostmem"
	"kudzu/internal/lockrank"
	"kudzu/internal/spec/solver"
)

// params are the 64-bit interface's: which algorithm a function is to use. There is one.
type params struct {
	mu         lockrank.Mutex[lockrank.SolverHandle]
	algorithms map[solver.CusolverDnFunction_t]solver.CusolverAlgMode_t // guarded by mu
}

var options = handle.NewTable[params](handle.CusolverParams, "cuSOLVER parameters")

// DnCreateParams makes parameters of the 64-bit interface.
func (t *Thread) DnCreateParams() (uint64, error) {
	v := options.New(&params{algorithms: map[solver.CusolverDnFunction_t]solver.CusolverAlgMode_t{}})
	if v == 0 {
		return 0, allocFailed
	}
	return uint64(v), nil
}

// DnDestroyParams ends them; none is no mistake.
func (t *Thread) DnDestroyParams(h solver.CusolverDnParams_t) error {
	options.Delete(handle.Value(h))
	return nil
}

// DnSetAdvOptions is kept.
func (t *Thread) DnSetAdvOptions(h solver.CusolverDnParams_t, f solver.CusolverDnFunction_t, a solver.CusolverAlgMode_t) error {
	p := options.Get(handle.Value(h))
	if p == nil || f < solver.CUSOLVERDN_GETRF || f > solver.CUSOLVERDN_SYEVD || a < solver.CUSOLVER_ALG_0 || a > solver.CUSOLVER_ALG_2 {
		return invalidValue
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.algorithms[f] = a
	return nil
}

// irsParams are what solvers with refinement are told. The factorization here is always of the main precision.
type irsParams struct {
	mu         lockrank.Mutex[lockrank.SolverHandle]
	refinement solver.CusolverIRSRefinement_t // guarded by mu, as all that follows
	main, low  solver.CusolverPrecType_t
	tol, inner float64
	most, less int32 // iterations: outer, inner
	noFallback bool
}

// irsInfos are what they told.
type irsInfos struct {
	mu   lockrank.Mutex[lockrank.SolverHandle]
	most int32 // guarded by mu
}

var (
	irsOptions = handle.NewTable[irsParams](handle.CusolverRefinementParams, "cuSOLVER refinement parameters")
	irsTold    = handle.NewTable[irsInfos](handle.CusolverRefinementInfos, "cuSOLVER refinement infos")
)

// DnIRSParamsCreate makes parameters: nothing is chosen yet, 50 iterations at most.
func (t *Thread) DnIRSParamsCreate() (uint64, error) {
	v := irsOptions.New(&irsParams{refinement: solver.CUSOLVER_IRS_REFINE_NOT_SET, most: 50, less: 50})
	if v == 0 {
		return 0, allocFailed
	}
	return uint64(v), nil
}

// DnIRSParamsDestroy ends them.
func (t *Thread) DnIRSParamsDestroy(h solver.CusolverDnIRSParams_t) error {
	if irsOptions.Delete(handle.Value(h)) == nil {
		return noParams
	}
	return nil
}

// mostInner iterations are the most that can be asked for.
const mostInner = 5000

// refine changes parameters, unless what is to be kept is not valid.
func refine(h solver.CusolverDnIRSParams_t, bad bool, answer Status, f func(p *irsParams)) error {
	p := irsOptions.Get(handle.Value(h))
	if p == nil {
		return noParams
	}
	if bad {
		return answer
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	f(p)
	return nil
}

// DnIRSParamsSetRefinementSolver is kept.
func (t *Thread) DnIRSParamsSetRefinementSolver(h solver.CusolverDnIRSParams_t, v solver.CusolverIRSRefinement_t) error {
	return refine(h, false, 0, func(p *irsParams) { p.refinement = v })
}

// DnIRSParamsSetSolverMainPrecision says the type of A, B and X.
func (t *Thread) DnIRSParamsSetSolverMainPrecision(h solver.CusolverDnIRSParams_t, v solver.CusolverPrecType_t) error {
	return refine(h, false, 0, func(p *irsParams) { p.main = v })
}

// DnIRSParamsSetSolverLowestPrecision is kept.
func (t *Thread) DnIRSParamsSetSolverLowestPrecision(h solver.CusolverDnIRSParams_t, v solver.CusolverPrecType_t) error {
	return refine(h, false, 0, func(p *irsParams) { p.low = v })
}

// DnIRSParamsSetSolverPrecisions is both.
func (t *Thread) DnIRSParamsSetSolverPrecisions(h solver.CusolverDnIRSParams_t, v, low solver.CusolverPrecType_t) error {
	return refine(h, false, 0, func(p *irsParams) { p.main, p.low = v, low })
}

// DnIRSParamsSetTol is kept.
func (t *Thread) DnIRSParamsSetTol(h solver.CusolverDnIRSParams_t, v float64) error {
	return refine(h, v < 0, invalidValue, func(p *irsParams) { p.tol = v })
}

// DnIRSParamsSetTolInner is kept.
func (t *Thread) DnIRSParamsSetTolInner(h solver.CusolverDnIRSParams_t, v float64) error {
	return refine(h, false, 0, func(p *irsParams) { p.inner = v })
}

// DnIRSParamsSetMaxIters is kept.
func (t *Thread) DnIRSParamsSetMaxIters(h solver.CusolverDnIRSParams_t, n int32) error {
	return refine(h, false, 0, func(p *irsParams) { p.most = n })
}

// DnIRSParamsSetMaxItersInner is kept.
func (t *Thread) DnIRSParamsSetMaxItersInner(h solver.CusolverDnIRSParams_t, n int32) error {
	return refine(h, n < 0 || n > mostInner, badParams, func(p *irsParams) { p.less = n })
}

// DnIRSParamsGetMaxIters is the number set last.
func (t *Thread) DnIRSParamsGetMaxIters(h solver.CusolverDnIRSParams_t) (n int32, err error) {
	err = refine(h, false, 0, func(p *irsParams) { n = p.most })
	return n, err
}

// DnIRSParamsEnableFallback is kept: there is nothing to fall back from.
func (t *Thread) DnIRSParamsEnableFallback(h solver.CusolverDnIRSParams_t) error {
	return refine(h, false, 0, func(p *irsParams) { p.noFallback = false })
}

// DnIRSParamsDisableFallback is kept.
func (t *Thread) DnIRSParamsDisableFallback(h solver.CusolverDnIRSParams_t) error {
	return refine(h, false, 0, func(p *irsParams) { p.noFallback = true })
}

// DnIRSInfosCreate makes a place for answers.
func (t *Thread) DnIRSInfosCreate() (uint64, error) {
	v := irsTold.New(&irsInfos{most: 50})
	if v == 0 {
		return 0, allocFailed
	}
	return uint64(v), nil
}

// DnIRSInfosDestroy ends it.
func (t *Thread) DnIRSInfosDestroy(h solver.CusolverDnIRSInfos_t) error {
	if irsTold.Delete(handle.Value(h)) == nil {
		return noInfos
	}
	return nil
}

func changeInfos(h solver.CusolverDnIRSInfos_t, f func(*irsInfos)) error {
	x := irsTold.Get(handle.Value(h))
	if x == nil {
		return noInfos
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	f(x)
	return nil
}

func told(h solver.CusolverDnIRSInfos_t) error { return changeInfos(h, func(*irsInfos) {}) }

// DnIRSInfosGetNiters is how often a solution was refined: never, as it has all the precision there is.
func (t *Thread) DnIRSInfosGetNiters(h solver.CusolverDnIRSInfos_t) (int32, error) { return 0, told(h) }

// DnIRSInfosGetOuterNiters is the same of the outer iteration.
func (t *Thread) DnIRSInfosGetOuterNiters(h solver.CusolverDnIRSInfos_t) (int32, error) {
	return 0, told(h)
}

// DnIRSInfosRequestResidual is taken.
func (t *Thread) DnIRSInfosRequestResidual(h solver.CusolverDnIRSInfos_t) error { return told(h) }

// DnIRSInfosGetResidualHistory is of no iterations: none.
func (t *Thread) DnIRSInfosGetResidualHistory(h solver.CusolverDnIRSInfos_t) (hostmem.Ptr, error) {
	return hostmem.Nil, told(h)
}

// DnIRSInfosGetMaxIters is the limit that the last call had.
func (t *Thread) DnIRSInfosGetMaxIters(h solver.CusolverDnIRSInfos_t) (n int32, err error) {
	err = changeInfos(h, func(x *irsInfos) { n = x.most })
	return n, err
}
