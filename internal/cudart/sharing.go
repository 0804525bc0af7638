package cudart

import (
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
)

// Memory, events and pools that another process opens. The handles are the driver's, laid out alike.

// IpcGetMemHandle is what another process opens an allocation by.
func (t *Thread) IpcGetMemHandle(p hostmem.Ptr) (h rt.CudaIpcMemHandle_t, err error) {
	d, err := t.ready()
	if err != nil {
		return h, err
	}
	v, err := d.IpcGetMemHandle(driver.DevPtr(p))
	h.Reserved = v.Reserved
	return h, err
}

// IpcOpenMemHandle maps an allocation of another process.
func (t *Thread) IpcOpenMemHandle(out hostmem.Ptr, h rt.CudaIpcMemHandle_t, flags uint32) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	if out == hostmem.Nil {
		return errInvalidValue
	}
	p, err := d.IpcOpenMemHandle(cu.CUipcMemHandle{Reserved: h.Reserved}, flags)
	if err == nil {
		hostmem.Store(out, uint64(p))
	}
	return err
}

// IpcGetEventHandle is what another process opens an event by.
func (t *Thread) IpcGetEventHandle(e rt.CudaEvent_t) (h rt.CudaIpcEventHandle_t, err error) {
	d, err := t.ready()
	if err != nil {
		return h, err
	}
	v, err := d.IpcGetEventHandle(cu.CUevent(e))
	h.Reserved = v.Reserved
	return h, err
}

// IpcOpenEventHandle is an event of another process.
func (t *Thread) IpcOpenEventHandle(h rt.CudaIpcEventHandle_t) (rt.CudaEvent_t, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	e, err := d.IpcOpenEventHandle(cu.CUipcEventHandle{Reserved: h.Reserved})
	return rt.CudaEvent_t(e), err
}

// MemPoolExportToShareableHandle is what another process opens a pool by.
func (t *Thread) MemPoolExportToShareableHandle(out hostmem.Ptr, pool rt.CudaMemPool_t, kind rt.CudaMemAllocationHandleType, flags uint32) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.MemPoolExportToShareableHandle(out, cu.CUmemoryPool(pool), cu.CUmemAllocationHandleType(kind), uint64(flags))
}

// MemPoolImportFromShareableHandle opens a pool of another process.
func (t *Thread) MemPoolImportFromShareableHandle(h hostmem.Ptr, kind rt.CudaMemAllocationHandleType, flags uint32) (rt.CudaMemPool_t, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	if h == hostmem.Nil {
		return 0, driver.Result(cu.CUDA_ERROR_INVALID_VALUE)
	}
	p, err := d.MemPoolImportFromShareableHandle(h, cu.CUmemAllocationHandleType(kind), uint64(flags))
	return rt.CudaMemPool_t(p), err
}

// MemPoolExportPointer says where in an exported pool an allocation lies.
func (t *Thread) MemPoolExportPointer(p hostmem.Ptr) (x rt.CudaMemPoolPtrExportData, err error) {
	d, err := t.ready()
	if err != nil {
		return x, err
	}
	v, err := d.MemPoolExportPointer(driver.DevPtr(p))
	x.Reserved = v.Reserved
	return x, err
}

// MemPoolImportPointer is the allocation there.
func (t *Thread) MemPoolImportPointer(out hostmem.Ptr, pool rt.CudaMemPool_t, data hostmem.Ptr) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	if out == hostmem.Nil || data == hostmem.Nil {
		return errInvalidValue
	}
	p, err := d.MemPoolImportPointer(cu.CUmemoryPool(pool), data)
	if err == nil {
		hostmem.Store(out, uint64(p))
	}
	return err
}

// GraphConditionalHandleCreate makes a condition, in the current context.
func (t *Thread) GraphConditionalHandleCreate(g rt.CudaGraph_t, start, flags uint32) (rt.CudaGraphConditionalHandle, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	ctx, err := d.CtxGetCurrent()
	if err != nil {
		return 0, err
	}
	h, err := d.GraphConditionalHandleCreate(cu.CUgraph(g), ctx, start, flags)
	return rt.CudaGraphConditionalHandle(h), err
}

// OccupancyMaxActiveClusters is how many clusters of a launch run at once.
func (t *Thread) OccupancyMaxActiveClusters(fn hostmem.Ptr, config *rt.CudaLaunchConfig_t) (int32, error) {
	d, k, err := t.kernel(fn)
	if err != nil {
		return 0, err
	}
	c := driverConfig(config)
	return d.OccupancyMaxActiveClusters(cu.CUfunction(k), &c)
}

// OccupancyMaxPotentialClusterSize is the largest cluster that a launch may have.
func (t *Thread) OccupancyMaxPotentialClusterSize(fn hostmem.Ptr, config *rt.CudaLaunchConfig_t) (int32, error) {
	d, k, err := t.kernel(fn)
	if err != nil {
		return 0, err
	}
	c := driverConfig(config)
	return d.OccupancyMaxPotentialClusterSize(cu.CUfunction(k), &c)
}

// GraphConditionalHandleCreateV2 makes a condition in a context of the caller's choice; 0 is the current one.
func (t *Thread) GraphConditionalHandleCreateV2(g rt.CudaGraph_t, ctx rt.CudaExecutionContext_t, start, flags uint32) (rt.CudaGraphConditionalHandle, error) {
	if ctx == 0 {
		return t.GraphConditionalHandleCreate(g, start, flags)
	}
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	h, err := d.GraphConditionalHandleCreate(cu.CUgraph(g), cu.CUcontext(ctx), start, flags)
	return rt.CudaGraphConditionalHandle(h), err
}
