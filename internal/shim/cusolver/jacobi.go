package cusolver

import (
	"kudzu/internal/driver"
	"kudzu/internal/handle"
	"kudzu/internal/hostmem"
	"kudzu/internal/lockrank"
	"kudzu/internal/shim"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/solver"
)

// jacobi is what syevj and gesvdj are told, and where they tell what they did.
type jacobi struct {
	mu        lockrank.Mutex[lockrank.SolverHandle]
	tolerance float64 // guarded by mu, as all that follows
	sweeps    int32
	sorted    bool
	at        driver.DevPtr // a Told of kernels/solver.h
	stream    cu.CUstream   // of the last call
	done      bool          // there was one
	batched   bool          // and it had many matrices
}

// method is how a call goes on: the limits, and where it tells what it did.
type method struct {
	tolerance float64
	sweeps    int32
	sorted    bool
	told      uint64
}

// toldSize are the bytes of a Told.
const toldSize = 16

var (
	syevjs  = handle.NewTable[jacobi](handle.CusolverSyevj, "cuSOLVER syevj parameters")
	gesvdjs = handle.NewTable[jacobi](handle.CusolverGesvdj, "cuSOLVER gesvdj parameters")
)

// maxSweeps are the sweeps that a Jacobi method does at most, unless it is told otherwise.
const maxSweeps = 100

func newJacobi(table *handle.Table[jacobi]) (uint64, error) {
	v := table.New(&jacobi{sweeps: maxSweeps, sorted: true})
	if v == 0 {
		return 0, allocFailed
	}
	return uint64(v), nil
}

// endJacobi ends parameters; none is no mistake.
func (t *Thread) endJacobi(table *handle.Table[jacobi], h uint64) error {
	p := table.Delete(handle.Value(h))
	if p == nil {
		return nil
	}
	p.mu.Lock()
	at := p.at
	p.at = 0
	p.mu.Unlock()
	if at != 0 {
		_ = t.driver().GiveMemory(at) // a context that is gone took it along
	}
	return nil
}

// tell changes parameters.
func tell(table *handle.Table[jacobi], h uint64, f func(*jacobi)) error {
	p := table.Get(handle.Value(h))
	if p == nil {
		return invalidValue
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	f(p)
	return nil
}

// method begins a call with parameters. Many matrices tell nothing.
func (j *job) method(table *handle.Table[jacobi], h uint64, many bool) (method, error) {
	p := table.Get(handle.Value(h))
	if p == nil {
		return method{}, invalidValue
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	m := method{tolerance: p.tolerance, sweeps: p.sweeps, sorted: p.sorted}
	if m.sweeps <= 0 { // an H200 takes 0 as not said
		m.sweeps = maxSweeps
	}
	p.stream, p.done, p.batched = j.stream, true, many
	if many {
		return m, nil
	}
	if p.at == 0 {
		at, err := j.d.TakeMemory(toldSize)
		if err != nil {
			return m, err
		}
		p.at = at
	}
	m.told = uint64(p.at)
	return m, nil
}

// ask waits for the last call and reads what it did: nothing if there was none.
func (t *Thread) ask(h Handle, table *handle.Table[jacobi], info uint64) (residual float64, sweeps int32, err error) {
	if err := t.live(h); err != nil {
		return 0, 0, err
	}
	p := table.Get(handle.Value(info))
	if p == nil {
		return 0, 0, invalidValue
	}
	p.mu.Lock()
	at, stream, done, batched := p.at, p.stream, p.done, p.batched
	p.mu.Unlock()
	switch {
	case !done:
		return 0, 0, nil
	case batched:
		return 0, 0, notSupported
	}
	if err := t.driver().MemcpyDtoHAsync(hostmem.Of(&residual), at, 8, stream); err != nil {
		return 0, 0, err
	}
	if err := t.driver().MemcpyDtoHAsync(hostmem.Of(&sweeps), at+8, 4, stream); err != nil {
		return 0, 0, err
	}
	return residual, sweeps, t.driver().StreamSynchronize(stream)
}

// DnCreateSyevjInfo makes parameters of syevj.
func (t *Thread) DnCreateSyevjInfo() (uint64, error) { return newJacobi(syevjs) }

// DnDestroySyevjInfo ends them.
func (t *Thread) DnDestroySyevjInfo(h solver.SyevjInfo_t) error {
	return t.endJacobi(syevjs, uint64(h))
}

// DnXsyevjSetTolerance says how much may stay off the diagonal, of the norm of the matrix; 0 is what the type can tell.
func (t *Thread) DnXsyevjSetTolerance(h solver.SyevjInfo_t, v float64) error {
	return tell(syevjs, uint64(h), func(p *jacobi) { p.tolerance = v })
}

// DnXsyevjSetMaxSweeps is the limit.
func (t *Thread) DnXsyevjSetMaxSweeps(h solver.SyevjInfo_t, n int32) error {
	return tell(syevjs, uint64(h), func(p *jacobi) { p.sweeps = n })
}

// DnXsyevjSetSortEig says whether eigenvalues come in order.
func (t *Thread) DnXsyevjSetSortEig(h solver.SyevjInfo_t, v int32) error {
	return tell(syevjs, uint64(h), func(p *jacobi) { p.sorted = v != 0 })
}

// DnXsyevjGetResidual is the norm of what the last call left off the diagonal.
func (t *Thread) DnXsyevjGetResidual(h Handle, info solver.SyevjInfo_t) (float64, error) {
	v, _, err := t.ask(h, syevjs, uint64(info))
	return v, err
}

// DnXsyevjGetSweeps is the sweeps that the last call did.
func (t *Thread) DnXsyevjGetSweeps(h Handle, info solver.SyevjInfo_t) (int32, error) {
	_, n, err := t.ask(h, syevjs, uint64(info))
	return n, err
}

// DnCreateGesvdjInfo makes parameters of gesvdj.
func (t *Thread) DnCreateGesvdjInfo() (uint64, error) { return newJacobi(gesvdjs) }

// DnDestroyGesvdjInfo ends them.
func (t *Thread) DnDestroyGesvdjInfo(h solver.GesvdjInfo_t) error {
	return t.endJacobi(gesvdjs, uint64(h))
}

// DnXgesvdjSetTolerance says what angle between columns counts as a right one; less than the type can tell is not tried.
func (t *Thread) DnXgesvdjSetTolerance(h solver.GesvdjInfo_t, v float64) error {
	return tell(gesvdjs, uint64(h), func(p *jacobi) { p.tolerance = v })
}

// DnXgesvdjSetMaxSweeps is the limit.
func (t *Thread) DnXgesvdjSetMaxSweeps(h solver.GesvdjInfo_t, n int32) error {
	return tell(gesvdjs, uint64(h), func(p *jacobi) { p.sweeps = n })
}

// DnXgesvdjSetSortEig is taken: singular values always come sorted.
func (t *Thread) DnXgesvdjSetSortEig(h solver.GesvdjInfo_t, v int32) error {
	return tell(gesvdjs, uint64(h), func(p *jacobi) { p.sorted = v != 0 })
}

// DnXgesvdjGetResidual is the norm of what the last call left of U' A V off the diagonal.
func (t *Thread) DnXgesvdjGetResidual(h Handle, info solver.GesvdjInfo_t) (float64, error) {
	v, _, err := t.ask(h, gesvdjs, uint64(info))
	return v, err
}

// DnXgesvdjGetSweeps is the sweeps that the last call did.
func (t *Thread) DnXgesvdjGetSweeps(h Handle, info solver.GesvdjInfo_t) (int32, error) {
	_, n, err := t.ask(h, gesvdjs, uint64(info))
	return n, err
}

// syevjSize are the elements that a batch needs: two copies, and what syev does.
func syevjSize(n, batch int64) int64 { return 2*n*n*batch + eigenSize(n, batch) }

// syevj turns V' A V, with the vectors of syev, by Jacobi's rotations.
func (j *job) syevj(p *eigen) error {
	how := p.how
	n, batch := p.n, p.a.batch
	if p.info == hostmem.Nil {
		return invalidValue
	}
	if n == 0 || batch <= 0 {
		return j.tell(p.info, 0, max(batch, 0))
	}
	tolerance := how.tolerance
	if tolerance <= 0 {
		tolerance = precision(p.a.e)
	}
	size := int64(p.a.e.Size())
	at := func(k int64) hostmem.Ptr { return hostmem.Ptr(int64(p.work) + k*batch*size) }
	inner, product := stacked(at(0), n, n, batch, p.a.e), stacked(at(n*n), n, n, batch, p.a.e)
	q := *p
	q.how, q.vectors, q.work, q.lwork = nil, true, at(2*n*n), eigenSize(n, batch)
	var whole, end shim.Params
	inner.Put(&whole)
	whole.U32(uint32(n), flag(p.fill == blas.CUBLAS_FILL_MODE_UPPER))
	end.U64(inner.Base)
	p.a.Put(&end)
	end.U32(uint32(n)).U64(uint64(p.w)).F64(tolerance).U32(uint32(how.sweeps), flag(how.sorted)).U64(how.told, uint64(p.info))
	for _, f := range []func() error{
		func() error { return j.copy(p.a, inner, n, n, partOf(p.fill)) },
		func() error { return j.sheet("fill_"+p.a.e.String(), n, n, batch, &whole) },
		func() error { return j.syev(&q) },
		func() error {
			return j.product(&cublas.Product{M: n, N: n, K: n, Batch: batch, A: inner.View, B: p.a.View, C: product.View, Alpha: plus}, p.a.e)
		},
		func() error {
			return j.product(&cublas.Product{M: n, N: n, K: n, Batch: batch, A: p.a.op(blas.CUBLAS_OP_C), B: product.View, C: inner.View, Alpha: plus}, p.a.e)
		},
		func() error { return j.one(eigenKernels, "jacobi_"+p.a.e.String(), batch, &end) },
	} {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// precision is the distance of 1 to the next number.
func precision(e Elem) float64 {
	if realOf(e) == F32 {
		return 0x1p-23
	}
	return 0x1p-52
}
