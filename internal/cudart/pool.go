package cudart

import (
	"kudzu/internal/driver"
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

// FreeAsync gives memory back in the order of a stream.
func (t *Thread) FreeAsync(p hostmem.Ptr, stream rt.CudaStream_t) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.MemFreeAsync(driver.DevPtr(p), cu.CUstream(stream))
}

// DeviceGetDefaultMemPool is the pool a device came with.
func (t *Thread) DeviceGetDefaultMemPool(dev int32) (rt.CudaMemPool_t, error) {
	d, err := t.started()
	if err != nil {
		return 0, err
	}
	p, err := d.DeviceGetDefaultMemPool(dev)
	return rt.CudaMemPool_t(p), err
}

// DeviceGetMemPool is the pool MallocAsync takes from.
func (t *Thread) DeviceGetMemPool(dev int32) (rt.CudaMemPool_t, error) {
	d, err := t.started()
	if err != nil {
		return 0, err
	}
	p, err := d.DeviceGetMemPool(dev)
	return rt.CudaMemPool_t(p), err
}

// DeviceSetMemPool sets the pool MallocAsync takes from.
func (t *Thread) DeviceSetMemPool(dev int32, pool rt.CudaMemPool_t) error {
	d, err := t.started()
	if err != nil {
		return err
	}
	return d.DeviceSetMemPool(dev, cu.CUmemoryPool(pool))
}

// MemGetDefaultMemPool is DeviceGetDefaultMemPool for a place.
func (t *Thread) MemGetDefaultMemPool(where hostmem.Ptr, kind rt.CudaMemAllocationType) (rt.CudaMemPool_t, error) {
	d, err := t.started()
	if err != nil {
		return 0, err
	}
	p, err := d.MemGetDefaultMemPool(where, cu.CUmemAllocationType(kind))
	return rt.CudaMemPool_t(p), err
}

// MemGetMemPool is DeviceGetMemPool for a place.
func (t *Thread) MemGetMemPool(where hostmem.Ptr, kind rt.CudaMemAllocationType) (rt.CudaMemPool_t, error) {
	d, err := t.started()
	if err != nil {
		return 0, err
	}
	p, err := d.MemGetMemPool(where, cu.CUmemAllocationType(kind))
	return rt.CudaMemPool_t(p), err
}

// MemSetMemPool is DeviceSetMemPool for a place.
func (t *Thread) MemSetMemPool(where hostmem.Ptr, kind rt.CudaMemAllocationType, pool rt.CudaMemPool_t) error {
	d, err := t.started()
	if err != nil {
		return err
	}
	return d.MemSetMemPool(where, cu.CUmemAllocationType(kind), cu.CUmemoryPool(pool))
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

// MemPoolDestroy gives a pool back; what was allocated from it lives on.
func (t *Thread) MemPoolDestroy(pool rt.CudaMemPool_t) error {
	d, err := t.started()
	if err != nil {
		return err
	}
	return d.MemPoolDestroy(cu.CUmemoryPool(pool))
}

// MemPoolTrimTo gives a pool's unused memory back down to a size.
func (t *Thread) MemPoolTrimTo(pool rt.CudaMemPool_t, keep uint64) error {
	d, err := t.started()
	if err != nil {
		return err
	}
	return d.MemPoolTrimTo(cu.CUmemoryPool(pool), keep)
}

// MemPoolGetAttribute writes one number about a pool.
func (t *Thread) MemPoolGetAttribute(pool rt.CudaMemPool_t, attr rt.CudaMemPoolAttr, value hostmem.Ptr) error {
	d, err := t.started()
	if err != nil {
		return err
	}
	return d.MemPoolGetAttribute(cu.CUmemoryPool(pool), cu.CUmemPool_attribute(attr), value)
}

// MemPoolSetAttribute sets one number of a pool.
func (t *Thread) MemPoolSetAttribute(pool rt.CudaMemPool_t, attr rt.CudaMemPoolAttr, value hostmem.Ptr) error {
	d, err := t.started()
	if err != nil {
		return err
	}
	return d.MemPoolSetAttribute(cu.CUmemoryPool(pool), cu.CUmemPool_attribute(attr), value)
}

// MemPoolSetAccess says which devices may use a pool's memory.
func (t *Thread) MemPoolSetAccess(pool rt.CudaMemPool_t, list hostmem.Ptr, n uint64) error {
	d, err := t.started()
	if err != nil {
		return err
	}
	return d.MemPoolSetAccess(cu.CUmemoryPool(pool), list, n)
}

// MemPoolGetAccess is what a device may do with a pool's memory.
func (t *Thread) MemPoolGetAccess(pool rt.CudaMemPool_t, where hostmem.Ptr) (rt.CudaMemAccessFlags, error) {
	d, err := t.started()
	if err != nil {
		return 0, err
	}
	f, err := d.MemPoolGetAccess(cu.CUmemoryPool(pool), where)
	return rt.CudaMemAccessFlags(f), err
}
