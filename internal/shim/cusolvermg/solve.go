package cusolvermg

import (
	"kudzu/internal/driver"
	"kudzu/internal/handle"
	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cusolver"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/rt"
	"kudzu/internal/spec/solver"
	"kudzu/internal/spec/solvermg"
)

type (
	desc = solvermg.CudaLibMgMatrixDesc_t
	fill = blas.CublasFillMode_t
)

// sizeOf is what a call needs: copies of its matrices, and what cuSOLVER needs for one of them.
func (t *Thread) sizeOf(h Handle, parts []*part, more func(dn cusolver.Handle, th *cusolver.Thread) (int32, error)) (int64, error) {
	x := handles.Get(handle.Value(h))
	if x == nil {
		return 0, notInitialized
	}
	need := int64(0)
	for _, p := range parts {
		need += p.elements()
	}
	if more != nil {
		th := (*cusolver.Thread)(t)
		dn, err := th.DnCreate()
		if err != nil {
			return 0, err
		}
		defer func() { _ = th.DnDestroy(cusolver.Handle(dn)) }()
		n, err := more(cusolver.Handle(dn), th)
		if err != nil {
			return 0, err
		}
		need += int64(n)
	}
	return need + slack(parts[0].n, parts[0].e), nil
}

// SyevdBufferSize is what Syevd needs on each device.
func (t *Thread) SyevdBufferSize(h Handle, mode solver.CusolverEigMode_t, f fill, n int32, a hostmem.Ptr, ia, ja int32, d desc, w hostmem.Ptr, tw, compute rt.CudaDataType) (int64, error) {
	p, err := partOf(a, ia, ja, int64(n), int64(n), d, compute)
	if err != nil {
		return 0, err
	}
	return t.syevdSize(h, mode, f, p, tw)
}

func (t *Thread) syevdSize(h Handle, mode solver.CusolverEigMode_t, f fill, p *part, tw rt.CudaDataType) (int64, error) {
	_, real, err := realOf(p.e)
	if err != nil {
		return 0, err
	}
	if tw != real {
		return 0, invalidValue
	}
	size, err := t.sizeOf(h, []*part{p}, func(dn cusolver.Handle, th *cusolver.Thread) (int32, error) {
		return th.SyevdBufferSize(dn, mode, f, p.n, 0, max(p.n, 1), 0, p.e)
	})
	return size + p.n, err
}

// Syevd finds the eigenvalues, in the program's memory, and vectors in A's place.
func (t *Thread) Syevd(h Handle, mode solver.CusolverEigMode_t, f fill, n int32, a hostmem.Ptr, ia, ja int32, d desc, w hostmem.Ptr, tw, compute rt.CudaDataType, works hostmem.Ptr, lwork int64, info hostmem.Ptr) error {
	p, err := partOf(a, ia, ja, int64(n), int64(n), d, compute)
	if err != nil {
		return err
	}
	need, err := t.syevdSize(h, mode, f, p, tw)
	if err != nil {
		return err
	}
	if w == hostmem.Nil && n > 0 {
		return invalidValue
	}
	return t.with(h, works, lwork, need, info, []*part{p}, func(j *job, p *part, at hostmem.Ptr, _ hostmem.Ptr) error {
		r, _, _ := realOf(p.e)
		values := j.take(p.n * int64(r.Size()))
		work, left := j.rest(p.e)
		if err := j.th.Syevd(j.dn, mode, f, p.n, at, max(p.n, 1), values, work, left, j.info, p.e); err != nil {
			return err
		}
		if err := j.d.CtxSynchronize(); err != nil {
			return err
		}
		if err := j.d.MemcpyDtoH(w, driver.DevPtr(values), uint64(p.n)*uint64(r.Size())); err != nil {
			return err
		}
		if mode != solver.CUSOLVER_EIG_MODE_VECTOR {
			return nil
		}
		return p.move(j.d, at, true)
	})
}

// GetrfBufferSize is what Getrf needs on each device.
func (t *Thread) GetrfBufferSize(h Handle, m, n int32, a hostmem.Ptr, ia, ja int32, d desc, pivots hostmem.Ptr, compute rt.CudaDataType) (int64, error) {
	p, err := partOf(a, ia, ja, int64(m), int64(n), d, compute)
	if err != nil {
		return 0, err
	}
	return t.getrfSize(h, p)
}

func (t *Thread) getrfSize(h Handle, p *part) (int64, error) {
	return t.sizeOf(h, []*part{p}, func(dn cusolver.Handle, th *cusolver.Thread) (int32, error) {
		return th.GetrfBufferSize(dn, p.m, p.n, 0, max(p.m, 1), p.e)
	})
}

// Getrf factors A; pivots are dealt out as A's columns are, and none are exchanged without them.
func (t *Thread) Getrf(h Handle, m, n int32, a hostmem.Ptr, ia, ja int32, d desc, pivots hostmem.Ptr, compute rt.CudaDataType, works hostmem.Ptr, lwork int64, info hostmem.Ptr) error {
	p, err := partOf(a, ia, ja, int64(m), int64(n), d, compute)
	if err != nil {
		return err
	}
	need, err := t.getrfSize(h, p)
	if err != nil {
		return err
	}
	return t.with(h, works, lwork, need, info, []*part{p}, func(j *job, p *part, at hostmem.Ptr, _ hostmem.Ptr) error {
		k, rows := min(p.m, p.n), hostmem.Nil
		if pivots != hostmem.Nil {
			rows = j.take(4 * k)
		}
		work, _ := j.rest(p.e)
		if err := j.th.Getrf(j.dn, p.m, p.n, at, max(p.m, 1), work, rows, j.info, p.e); err != nil {
			return err
		}
		if err := j.d.CtxSynchronize(); err != nil {
			return err
		}
		if rows != hostmem.Nil {
			if err := p.pivots(j.d, pivots, rows, k, true); err != nil {
				return err
			}
		}
		return p.move(j.d, at, true)
	})
}

// GetrsBufferSize is what Getrs needs on each device.
func (t *Thread) GetrsBufferSize(h Handle, op blas.CublasOperation_t, n, count int32, a hostmem.Ptr, ia, ja int32, d desc, pivots, b hostmem.Ptr, ib, jb int32, db desc, compute rt.CudaDataType) (int64, error) {
	parts, err := twoParts(n, count, a, ia, ja, d, b, ib, jb, db, compute)
	if err != nil {
		return 0, err
	}
	return t.sizeOf(h, parts, nil)
}

// Getrs solves op(A) X = B with what Getrf made of A.
func (t *Thread) Getrs(h Handle, op blas.CublasOperation_t, n, count int32, a hostmem.Ptr, ia, ja int32, d desc, pivots, b hostmem.Ptr, ib, jb int32, db desc, compute rt.CudaDataType, works hostmem.Ptr, lwork int64, info hostmem.Ptr) error {
	parts, err := twoParts(n, count, a, ia, ja, d, b, ib, jb, db, compute)
	if err != nil {
		return err
	}
	need, err := t.sizeOf(h, parts, nil)
	if err != nil {
		return err
	}
	return t.with(h, works, lwork, need, info, parts, func(j *job, p *part, at, to hostmem.Ptr) error {
		rows := hostmem.Nil
		if pivots != hostmem.Nil {
			rows = j.take(4 * p.n)
			if err := p.pivots(j.d, pivots, rows, p.n, false); err != nil {
				return err
			}
		}
		if err := j.th.Getrs(j.dn, op, p.n, parts[1].n, at, max(p.n, 1), rows, to, max(p.n, 1), j.info, p.e); err != nil {
			return err
		}
		return j.back(parts[1], to)
	})
}

// PotrfBufferSize is what Potrf needs on each device.
func (t *Thread) PotrfBufferSize(h Handle, f fill, n int32, a hostmem.Ptr, ia, ja int32, d desc, compute rt.CudaDataType) (int64, error) {
	p, err := partOf(a, ia, ja, int64(n), int64(n), d, compute)
	if err != nil {
		return 0, err
	}
	return t.potrfSize(h, f, p)
}

func (t *Thread) potrfSize(h Handle, f fill, p *part) (int64, error) {
	return t.sizeOf(h, []*part{p}, func(dn cusolver.Handle, th *cusolver.Thread) (int32, error) {
		return th.PotrfBufferSize(dn, f, p.n, 0, max(p.n, 1), p.e)
	})
}

// Potrf is Cholesky's factor of A.
func (t *Thread) Potrf(h Handle, f fill, n int32, a hostmem.Ptr, ia, ja int32, d desc, compute rt.CudaDataType, works hostmem.Ptr, lwork int64, info hostmem.Ptr) error {
	p, err := partOf(a, ia, ja, int64(n), int64(n), d, compute)
	if err != nil {
		return err
	}
	need, err := t.potrfSize(h, f, p)
	if err != nil {
		return err
	}
	return t.with(h, works, lwork, need, info, []*part{p}, func(j *job, p *part, at, _ hostmem.Ptr) error {
		work, left := j.rest(p.e)
		if err := j.th.Potrf(j.dn, f, p.n, at, max(p.n, 1), work, left, j.info, p.e); err != nil {
			return err
		}
		return j.back(p, at)
	})
}

// PotrsBufferSize is what Potrs needs on each device.
func (t *Thread) PotrsBufferSize(h Handle, f fill, n, count int32, a hostmem.Ptr, ia, ja int32, d desc, b hostmem.Ptr, ib, jb int32, db desc, compute rt.CudaDataType) (int64, error) {
	parts, err := twoParts(n, count, a, ia, ja, d, b, ib, jb, db, compute)
	if err != nil {
		return 0, err
	}
	return t.sizeOf(h, parts, nil)
}

// Potrs solves A X = B with what Potrf made of A.
func (t *Thread) Potrs(h Handle, f fill, n, count int32, a hostmem.Ptr, ia, ja int32, d desc, b hostmem.Ptr, ib, jb int32, db desc, compute rt.CudaDataType, works hostmem.Ptr, lwork int64, info hostmem.Ptr) error {
	parts, err := twoParts(n, count, a, ia, ja, d, b, ib, jb, db, compute)
	if err != nil {
		return err
	}
	need, err := t.sizeOf(h, parts, nil)
	if err != nil {
		return err
	}
	return t.with(h, works, lwork, need, info, parts, func(j *job, p *part, at, to hostmem.Ptr) error {
		if err := j.th.Potrs(j.dn, f, p.n, parts[1].n, at, max(p.n, 1), to, max(p.n, 1), j.info, p.e); err != nil {
			return err
		}
		return j.back(parts[1], to)
	})
}

// PotriBufferSize is what Potri needs on each device.
func (t *Thread) PotriBufferSize(h Handle, f fill, n int32, a hostmem.Ptr, ia, ja int32, d desc, compute rt.CudaDataType) (int64, error) {
	p, err := partOf(a, ia, ja, int64(n), int64(n), d, compute)
	if err != nil {
		return 0, err
	}
	return t.potriSize(h, f, p)
}

func (t *Thread) potriSize(h Handle, f fill, p *part) (int64, error) {
	return t.sizeOf(h, []*part{p}, func(dn cusolver.Handle, th *cusolver.Thread) (int32, error) {
		return th.PotriBufferSize(dn, f, p.n, 0, max(p.n, 1), p.e)
	})
}

// Potri is the inverse of A from what Potrf made of it.
func (t *Thread) Potri(h Handle, f fill, n int32, a hostmem.Ptr, ia, ja int32, d desc, compute rt.CudaDataType, works hostmem.Ptr, lwork int64, info hostmem.Ptr) error {
	p, err := partOf(a, ia, ja, int64(n), int64(n), d, compute)
	if err != nil {
		return err
	}
	need, err := t.potriSize(h, f, p)
	if err != nil {
		return err
	}
	return t.with(h, works, lwork, need, info, []*part{p}, func(j *job, p *part, at, _ hostmem.Ptr) error {
		work, left := j.rest(p.e)
		if err := j.th.Potri(j.dn, f, p.n, at, max(p.n, 1), work, left, j.info, p.e); err != nil {
			return err
		}
		return j.back(p, at)
	})
}

// twoParts are the square matrix and the right side of a system.
func twoParts(n, count int32, a hostmem.Ptr, ia, ja int32, d desc, b hostmem.Ptr, ib, jb int32, db desc, compute rt.CudaDataType) ([]*part, error) {
	p, err := partOf(a, ia, ja, int64(n), int64(n), d, compute)
	if err != nil {
		return nil, err
	}
	q, err := partOf(b, ib, jb, int64(n), int64(count), db, compute)
	return []*part{p, q}, err
}

// with brings the matrices together, calls f with the first two, and tells info.
func (t *Thread) with(h Handle, works hostmem.Ptr, lwork, need int64, info hostmem.Ptr, parts []*part, f func(j *job, p *part, at, second hostmem.Ptr) error) error {
	j, err := t.begin(h, works, lwork, parts[0].e, need, info)
	if err != nil {
		return err
	}
	defer j.close()
	var at [2]hostmem.Ptr
	for i, p := range parts {
		if p.at == nil && p.m > 0 && p.n > 0 {
			return invalidValue
		}
		if at[i], err = j.whole(p); err != nil {
			return err
		}
	}
	if err := j.d.MemsetD32(driver.DevPtr(j.info), 0, 1); err != nil {
		return err
	}
	if err := f(j, parts[0], at[0], at[1]); err != nil {
		return err
	}
	return j.finish(info)
}

// back waits for a matrix, and takes it apart.
func (j *job) back(p *part, at hostmem.Ptr) error {
	if err := j.d.CtxSynchronize(); err != nil {
		return err
	}
	return p.move(j.d, at, true)
}
