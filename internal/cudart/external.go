package cudart

import (
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
)

// Memory and semaphores of other interfaces. Memory that comes as a file descriptor of ours is taken as the driver takes it; a
// semaphore is one of a graphics interface, and none of these has a device here. The structures of version 13 are those of 12
// with reserved words behind, so only what both have is read.

// ImportExternalMemory takes memory from outside.
func (t *Thread) ImportExternalMemory(p *rt.CudaExternalMemoryHandleDesc) (rt.CudaExternalMemory_t, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	q := cu.CUDA_EXTERNAL_MEMORY_HANDLE_DESC{Type: cu.CUexternalMemoryHandleType(p.Type), Size: p.Size, Flags: p.Flags}
	*q.Handle.Fd() = *p.Handle.Fd()
	m, err := d.ImportExternalMemory(&q)
	return rt.CudaExternalMemory_t(m), err
}

// ExternalMemoryGetMappedBuffer maps a part of it, and writes its address.
func (t *Thread) ExternalMemoryGetMappedBuffer(out hostmem.Ptr, m rt.CudaExternalMemory_t, p *rt.CudaExternalMemoryBufferDesc) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	if out == hostmem.Nil {
		return errInvalidValue
	}
	a, err := d.ExternalMemoryGetMappedBuffer(cu.CUexternalMemory(m), &cu.CUDA_EXTERNAL_MEMORY_BUFFER_DESC{Offset: p.Offset, Size: p.Size, Flags: p.Flags})
	if err == nil {
		hostmem.Store(out, uint64(a))
	}
	return err
}

// ExternalMemoryGetMappedMipmappedArray maps it as an array. A description without a format is refused first.
func (t *Thread) ExternalMemoryGetMappedMipmappedArray(m rt.CudaExternalMemory_t, p *rt.CudaExternalMemoryMipmappedArrayDesc) (rt.CudaMipmappedArray_t, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	f, n, err := channels(&p.FormatDesc)
	if err != nil {
		return 0, err
	}
	q := cu.CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC{Offset: p.Offset, NumLevels: p.NumLevels}
	q.ArrayDesc = cu.CUDA_ARRAY3D_DESCRIPTOR{Width: p.Extent.Width, Height: p.Extent.Height, Depth: p.Extent.Depth, Format: f, NumChannels: n, Flags: p.Flags}
	a, err := d.ExternalMemoryGetMappedMipmappedArray(cu.CUexternalMemory(m), &q)
	return rt.CudaMipmappedArray_t(a), err
}

// ImportExternalSemaphore takes a semaphore from outside.
func (t *Thread) ImportExternalSemaphore(p *rt.CudaExternalSemaphoreHandleDesc) (rt.CudaExternalSemaphore_t, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	q := cu.CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC{Type: cu.CUexternalSemaphoreHandleType(p.Type), Flags: p.Flags}
	*q.Handle.Fd() = *p.Handle.Fd()
	h, err := d.ImportExternalSemaphore(&q)
	return rt.CudaExternalSemaphore_t(h), err
}

// SignalExternalSemaphoresAsync signals semaphores in a stream.
func (t *Thread) SignalExternalSemaphoresAsync(list, params hostmem.Ptr, n uint32, s rt.CudaStream_t) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.SignalExternalSemaphoresAsync(list, params, n, cu.CUstream(s))
}

// SignalExternalSemaphoresAsync12 is the same with the parameters of version 11.
func (t *Thread) SignalExternalSemaphoresAsync12(list, params hostmem.Ptr, n uint32, s rt.CudaStream_t) error {
	return t.SignalExternalSemaphoresAsync(list, params, n, s)
}

// WaitExternalSemaphoresAsync lets a stream wait for semaphores.
func (t *Thread) WaitExternalSemaphoresAsync(list, params hostmem.Ptr, n uint32, s rt.CudaStream_t) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.WaitExternalSemaphoresAsync(list, params, n, cu.CUstream(s))
}

// WaitExternalSemaphoresAsync12 is the same with the parameters of version 11.
func (t *Thread) WaitExternalSemaphoresAsync12(list, params hostmem.Ptr, n uint32, s rt.CudaStream_t) error {
	return t.WaitExternalSemaphoresAsync(list, params, n, s)
}

// The parameters of nodes are the driver's.

func signalNode(p *rt.CudaExternalSemaphoreSignalNodeParams) *cu.CUDA_EXT_SEM_SIGNAL_NODE_PARAMS {
	return &cu.CUDA_EXT_SEM_SIGNAL_NODE_PARAMS{ExtSemArray: p.ExtSemArray, ParamsArray: p.ParamsArray, NumExtSems: p.NumExtSems}
}

func waitNode(p *rt.CudaExternalSemaphoreWaitNodeParams) *cu.CUDA_EXT_SEM_WAIT_NODE_PARAMS {
	return &cu.CUDA_EXT_SEM_WAIT_NODE_PARAMS{ExtSemArray: p.ExtSemArray, ParamsArray: p.ParamsArray, NumExtSems: p.NumExtSems}
}

// withDriver runs f once there is a device.
func (t *Thread) withDriver(f func(d *driver.Thread) error) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return f(d)
}

// GraphAddExternalSemaphoresSignalNode adds a node that signals.
func (t *Thread) GraphAddExternalSemaphoresSignalNode(g rt.CudaGraph_t, deps hostmem.Ptr, n uint64, p *rt.CudaExternalSemaphoreSignalNodeParams) (rt.CudaGraphNode_t, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	h, err := d.GraphAddExternalSemaphoresSignalNode(cu.CUgraph(g), deps, n, signalNode(p))
	return rt.CudaGraphNode_t(h), err
}

// GraphAddExternalSemaphoresWaitNode adds a node that waits.
func (t *Thread) GraphAddExternalSemaphoresWaitNode(g rt.CudaGraph_t, deps hostmem.Ptr, n uint64, p *rt.CudaExternalSemaphoreWaitNodeParams) (rt.CudaGraphNode_t, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	h, err := d.GraphAddExternalSemaphoresWaitNode(cu.CUgraph(g), deps, n, waitNode(p))
	return rt.CudaGraphNode_t(h), err
}

// GraphExternalSemaphoresSignalNodeGetParams is a node's list.
func (t *Thread) GraphExternalSemaphoresSignalNodeGetParams(n rt.CudaGraphNode_t) (p rt.CudaExternalSemaphoreSignalNodeParams, err error) {
	d, err := t.ready()
	if err != nil {
		return p, err
	}
	q, err := d.GraphExternalSemaphoresSignalNodeGetParams(cu.CUgraphNode(n))
	p.ExtSemArray, p.ParamsArray, p.NumExtSems = q.ExtSemArray, q.ParamsArray, q.NumExtSems
	return p, err
}

// GraphExternalSemaphoresWaitNodeGetParams is a node's list.
func (t *Thread) GraphExternalSemaphoresWaitNodeGetParams(n rt.CudaGraphNode_t) (p rt.CudaExternalSemaphoreWaitNodeParams, err error) {
	d, err := t.ready()
	if err != nil {
		return p, err
	}
	q, err := d.GraphExternalSemaphoresWaitNodeGetParams(cu.CUgraphNode(n))
	p.ExtSemArray, p.ParamsArray, p.NumExtSems = q.ExtSemArray, q.ParamsArray, q.NumExtSems
	return p, err
}

// GraphExternalSemaphoresSignalNodeSetParams replaces it.
func (t *Thread) GraphExternalSemaphoresSignalNodeSetParams(n rt.CudaGraphNode_t, p *rt.CudaExternalSemaphoreSignalNodeParams) error {
	return t.withDriver(func(d *driver.Thread) error {
		return d.GraphExternalSemaphoresSignalNodeSetParams(cu.CUgraphNode(n), signalNode(p))
	})
}

// GraphExternalSemaphoresWaitNodeSetParams replaces it.
func (t *Thread) GraphExternalSemaphoresWaitNodeSetParams(n rt.CudaGraphNode_t, p *rt.CudaExternalSemaphoreWaitNodeParams) error {
	return t.withDriver(func(d *driver.Thread) error {
		return d.GraphExternalSemaphoresWaitNodeSetParams(cu.CUgraphNode(n), waitNode(p))
	})
}

// GraphExecExternalSemaphoresSignalNodeSetParams replaces it in an executable.
func (t *Thread) GraphExecExternalSemaphoresSignalNodeSetParams(x rt.CudaGraphExec_t, n rt.CudaGraphNode_t, p *rt.CudaExternalSemaphoreSignalNodeParams) error {
	return t.withDriver(func(d *driver.Thread) error {
		return d.GraphExecExternalSemaphoresSignalNodeSetParams(cu.CUgraphExec(x), cu.CUgraphNode(n), signalNode(p))
	})
}

// GraphExecExternalSemaphoresWaitNodeSetParams replaces it in an executable.
func (t *Thread) GraphExecExternalSemaphoresWaitNodeSetParams(x rt.CudaGraphExec_t, n rt.CudaGraphNode_t, p *rt.CudaExternalSemaphoreWaitNodeParams) error {
	return t.withDriver(func(d *driver.Thread) error {
		return d.GraphExecExternalSemaphoresWaitNodeSetParams(cu.CUgraphExec(x), cu.CUgraphNode(n), waitNode(p))
	})
}
