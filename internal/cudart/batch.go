package cudart

import (
	"runtime"

	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
)

// MemcpyBatchAsync makes many copies, in any order.
func (t *Thread) MemcpyBatchAsync(dsts, srcs, sizes hostmem.Ptr, n uint64, attrs, begins hostmem.Ptr, count uint64, s rt.CudaStream_t) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.MemcpyBatchAsyncV2(dsts, srcs, sizes, n, attrs, begins, count, cu.CUstream(s))
}

// MemcpyBatchAsync12 is MemcpyBatchAsync that says which copy was refused.
func (t *Thread) MemcpyBatchAsync12(dsts, srcs, sizes hostmem.Ptr, n uint64, attrs, begins hostmem.Ptr, count uint64, s rt.CudaStream_t) (uint64, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	return d.MemcpyBatchAsync(dsts, srcs, sizes, n, attrs, begins, count, cu.CUstream(s))
}

// Memcpy3DBatchAsync makes many copies of boxes, in any order.
func (t *Thread) Memcpy3DBatchAsync(n uint64, list hostmem.Ptr, flags uint64, s rt.CudaStream_t) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.Memcpy3DBatchAsyncV2(n, list, flags, cu.CUstream(s))
}

// Memcpy3DBatchAsync12 is Memcpy3DBatchAsync that says which copy was refused.
func (t *Thread) Memcpy3DBatchAsync12(n uint64, list hostmem.Ptr, flags uint64, s rt.CudaStream_t) (uint64, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	return d.Memcpy3DBatchAsync(n, list, flags, cu.CUstream(s))
}

// MemcpyWithAttributesAsync is a batch of one copy.
func (t *Thread) MemcpyWithAttributesAsync(dst, src hostmem.Ptr, n uint64, attr hostmem.Ptr, s rt.CudaStream_t) error {
	if attr == hostmem.Nil {
		return errInvalidValue
	}
	begin := uint64(0)
	defer runtime.KeepAlive(&dst)
	defer runtime.KeepAlive(&src)
	defer runtime.KeepAlive(&n)
	defer runtime.KeepAlive(&begin)
	return t.MemcpyBatchAsync(hostmem.Of(&dst), hostmem.Of(&src), hostmem.Of(&n), 1, attr, hostmem.Of(&begin), 1, s)
}

// Memcpy3DWithAttributesAsync is a batch of one copy of a box.
func (t *Thread) Memcpy3DWithAttributesAsync(op hostmem.Ptr, flags uint64, s rt.CudaStream_t) error {
	return t.Memcpy3DBatchAsync(1, op, flags, s)
}

// MemPrefetchBatchAsync moves ranges of managed memory where they will be used.
func (t *Thread) MemPrefetchBatchAsync(ptrs, sizes hostmem.Ptr, n uint64, places, begins hostmem.Ptr, count, flags uint64, s rt.CudaStream_t) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.MemPrefetchBatchAsync(ptrs, sizes, n, places, begins, count, flags, cu.CUstream(s))
}

// MemRangeGetAttribute tells what was advised of a range of managed memory.
func (t *Thread) MemRangeGetAttribute(data hostmem.Ptr, size uint64, attr rt.CudaMemRangeAttribute, p hostmem.Ptr, n uint64) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.MemRangeGetAttribute(data, size, cu.CUmem_range_attribute(attr), driver.DevPtr(p), n)
}

// MemRangeGetAttributes tells several things of a range.
func (t *Thread) MemRangeGetAttributes(data, sizes, attrs hostmem.Ptr, count uint64, p hostmem.Ptr, n uint64) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.MemRangeGetAttributes(data, sizes, attrs, count, driver.DevPtr(p), n)
}

// StreamSetAttribute sets an attribute of a stream; the driver numbers and lays them out alike.
func (t *Thread) StreamSetAttribute(s rt.CudaStream_t, id rt.CudaLaunchAttributeID, v hostmem.Ptr) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	if v == hostmem.Nil {
		return errInvalidValue
	}
	value := hostmem.Load[cu.CUstreamAttrValue](v)
	return d.StreamSetAttribute(cu.CUstream(s), cu.CUstreamAttrID(id), &value)
}

// StreamGetAttribute reads one.
func (t *Thread) StreamGetAttribute(s rt.CudaStream_t, id rt.CudaLaunchAttributeID, v hostmem.Ptr) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	if v == hostmem.Nil {
		return errInvalidValue
	}
	value, err := d.StreamGetAttribute(cu.CUstream(s), cu.CUstreamAttrID(id))
	if err == nil {
		hostmem.Store(v, value)
	}
	return err
}

// StreamCopyAttributes takes all attributes of another stream over.
func (t *Thread) StreamCopyAttributes(dst, src rt.CudaStream_t) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.StreamCopyAttributes(cu.CUstream(dst), cu.CUstream(src))
}

// LaunchHostFuncV2 is LaunchHostFunc; how waiting for the function is done is ours.
func (t *Thread) LaunchHostFuncV2(s rt.CudaStream_t, fn rt.CudaHostFn_t, user hostmem.Ptr, mode uint32) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.LaunchHostFuncV2(cu.CUstream(s), cu.CUhostFn(fn), user, mode)
}
