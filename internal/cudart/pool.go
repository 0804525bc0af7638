package cudart

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
)

// Pools are the driver's: the same handles, attributes and structures.

// MallocAsync gives memory in the order of a stream, from its device's pool.
func (t *Thread) MallocAsync(out hostmem.Ptr, n uint64, stream rt.CudaStream_t) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	if out == hostmem.Nil {
		return errInvalidValue
	}
	p, err := d.MemAllocAsync(n, cu.CUstream(stream))
	if err == nil {
		hostmem.Store(out, uint64(p))
	}
	return err
}

// MallocFromPoolAsync is MallocAsync from a pool.
func (t *Thread) MallocFromPoolAsync(out hostmem.Ptr, n uint64, pool rt.CudaMemPool_t, stream rt.CudaStream_t) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	if out == hostmem.Nil {
		return errInvalidValue
	}
	p, err := d.MemAllocFromPoolAsync(n, cu.CUmemoryPool(pool), cu.CUstream(stream))
	if err == nil {
		hostmem.Store(out, uint64(p))
	}
	return err
}

// MemPoolCreate makes a pool.
func (t *Thread) MemPoolCreate(props hostmem.Ptr) (rt.CudaMemPool_t, error) {
	d, err := t.started()
	if err != nil {
		return 0, err
	}
	if props == hostmem.Nil {
		return 0, errInvalidValue
	}
	p, err := d.MemPoolCreate(hostmem.At[cu.CUmemPoolProps](props))
	return rt.CudaMemPool_t(p), err
}
