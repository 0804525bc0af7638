package cudart

import (
	"runtime"

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

// Memcpy3DBatchAsync makes many copies of boxes, in any order.
func (t *Thread) Memcpy3DBatchAsync(n uint64, list hostmem.Ptr, flags uint64, s rt.CudaStream_t) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.Memcpy3DBatchAsyncV2(n, list, flags, cu.CUstream(s))
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
