package cudart

import (
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
)

// kernelNode is the parameters of a kernel node as the driver has them.
func (t *Thread) kernelNode(d *driver.Thread, p *rt.CudaKernelNodeParams) (q cu.CUDA_KERNEL_NODE_PARAMS, err error) {
	k, err := t.kernelOf(d, hostmem.Ptr(p.Func))
	if err != nil {
		return q, err
	}
	q = cu.CUDA_KERNEL_NODE_PARAMS{
		GridDimX: p.GridDim.X, GridDimY: p.GridDim.Y, GridDimZ: p.GridDim.Z,
		BlockDimX: p.BlockDim.X, BlockDimY: p.BlockDim.Y, BlockDimZ: p.BlockDim.Z,
		SharedMemBytes: p.SharedMemBytes, KernelParams: p.KernelParams, Extra: p.Extra,
	}
	if d.IsFunction(cu.CUfunction(k)) {
		q.Func = cu.CUfunction(k)
	} else {
		q.Kern = k
	}
	return q, nil
}

// GraphAddKernelNode adds a launch.
func (t *Thread) GraphAddKernelNode(g rt.CudaGraph_t, deps hostmem.Ptr, n uint64, p *rt.CudaKernelNodeParams) (rt.CudaGraphNode_t, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	q, err := t.kernelNode(d, p)
	if err != nil {
		return 0, err
	}
	r, err := d.GraphAddKernelNode(cu.CUgraph(g), deps, n, &q)
	return rt.CudaGraphNode_t(r), err
}

// GraphKernelNodeGetParams is a launch as it was added; its kernel is named by the stub, where there is one.
func (t *Thread) GraphKernelNodeGetParams(n rt.CudaGraphNode_t) (p rt.CudaKernelNodeParams, err error) {
	d, err := t.ready()
	if err != nil {
		return p, err
	}
	q, err := d.GraphKernelNodeGetParams(cu.CUgraphNode(n))
	if err != nil {
		return p, err
	}
	p = rt.CudaKernelNodeParams{
		GridDim: rt.Dim3{X: q.GridDimX, Y: q.GridDimY, Z: q.GridDimZ}, BlockDim: rt.Dim3{X: q.BlockDimX, Y: q.BlockDimY, Z: q.BlockDimZ},
		SharedMemBytes: q.SharedMemBytes, KernelParams: q.KernelParams, Extra: q.Extra, Func: uint64(q.Func),
	}
	if q.Kern != 0 {
		p.Func = uint64(registered.stub(q.Kern))
	}
	return p, nil
}

// GraphKernelNodeSetParams changes a launch.
func (t *Thread) GraphKernelNodeSetParams(n rt.CudaGraphNode_t, p *rt.CudaKernelNodeParams) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	q, err := t.kernelNode(d, p)
	if err != nil {
		return err
	}
	return d.GraphKernelNodeSetParams(cu.CUgraphNode(n), &q)
}

// GraphExecKernelNodeSetParams changes a launch in what was instantiated.
func (t *Thread) GraphExecKernelNodeSetParams(x rt.CudaGraphExec_t, n rt.CudaGraphNode_t, p *rt.CudaKernelNodeParams) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	q, err := t.kernelNode(d, p)
	if err != nil {
		return err
	}
	return d.GraphExecKernelNodeSetParams(cu.CUgraphExec(x), cu.CUgraphNode(n), &q)
}

// copyNode is the parameters of a copy as the driver has them.
func copyNode(p *rt.CudaMemcpy3DParms) (c cu.CUDA_MEMCPY3D, err error) {
	to, from, err := sides(p.Kind)
	if err != nil {
		return c, err
	}
	if p.SrcArray != 0 || p.DstArray != 0 {
		return c, errInvalidValue // no array handle is valid yet
	}
	c = box(p.DstPtr, p.SrcPtr, p.DstPos, p.SrcPos, p.Extent)
	c.DstMemoryType, c.SrcMemoryType = to, from
	return c, nil
}

// line is a one-dimensional copy as a box.
func line(dst, src hostmem.Ptr, n uint64, kind rt.CudaMemcpyKind) *rt.CudaMemcpy3DParms {
	return &rt.CudaMemcpy3DParms{
		SrcPtr: rt.CudaPitchedPtr{Ptr: uint64(src), Pitch: n, Xsize: n, Ysize: 1}, DstPtr: rt.CudaPitchedPtr{Ptr: uint64(dst), Pitch: n, Xsize: n, Ysize: 1},
		Extent: rt.CudaExtent{Width: n, Height: 1, Depth: 1}, Kind: kind,
	}
}

// GraphAddMemcpyNode adds a copy of a box.
func (t *Thread) GraphAddMemcpyNode(g rt.CudaGraph_t, deps hostmem.Ptr, n uint64, p *rt.CudaMemcpy3DParms) (rt.CudaGraphNode_t, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	c, err := copyNode(p)
	if err != nil {
		return 0, err
	}
	ctx, err := d.CtxGetCurrent()
	if err != nil {
		return 0, err
	}
	r, err := d.GraphAddMemcpyNode(cu.CUgraph(g), deps, n, &c, ctx)
	return rt.CudaGraphNode_t(r), err
}

// GraphAddMemcpyNode1D adds a copy of bytes.
func (t *Thread) GraphAddMemcpyNode1D(g rt.CudaGraph_t, deps hostmem.Ptr, n uint64, dst, src hostmem.Ptr, size uint64, kind rt.CudaMemcpyKind) (rt.CudaGraphNode_t, error) {
	return t.GraphAddMemcpyNode(g, deps, n, line(dst, src, size, kind))
}

// GraphMemcpyNodeGetParams is a copy as it was added.
func (t *Thread) GraphMemcpyNodeGetParams(n rt.CudaGraphNode_t) (p rt.CudaMemcpy3DParms, err error) {
	d, err := t.ready()
	if err != nil {
		return p, err
	}
	c, err := d.GraphMemcpyNodeGetParams(cu.CUgraphNode(n))
	if err != nil {
		return p, err
	}
	at := func(kind cu.CUmemorytype, host uint64, dev driver.DevPtr) uint64 {
		if kind == cu.CU_MEMORYTYPE_HOST {
			return host
		}
		return uint64(dev)
	}
	p = rt.CudaMemcpy3DParms{
		SrcPos: rt.CudaPos{X: c.SrcXInBytes, Y: c.SrcY, Z: c.SrcZ}, DstPos: rt.CudaPos{X: c.DstXInBytes, Y: c.DstY, Z: c.DstZ},
		SrcPtr: rt.CudaPitchedPtr{Ptr: at(c.SrcMemoryType, c.SrcHost, c.SrcDevice), Pitch: c.SrcPitch, Xsize: c.WidthInBytes, Ysize: c.SrcHeight},
		DstPtr: rt.CudaPitchedPtr{Ptr: at(c.DstMemoryType, c.DstHost, c.DstDevice), Pitch: c.DstPitch, Xsize: c.WidthInBytes, Ysize: c.DstHeight},
		Extent: rt.CudaExtent{Width: c.WidthInBytes, Height: c.Height, Depth: c.Depth}, Kind: rt.CudaMemcpyDefault,
	}
	for kind, s := range memoryKinds {
		if s == [2]cu.CUmemorytype{c.DstMemoryType, c.SrcMemoryType} {
			p.Kind = rt.CudaMemcpyKind(kind)
		}
	}
	return p, nil
}

// GraphMemcpyNodeSetParams changes a copy.
func (t *Thread) GraphMemcpyNodeSetParams(n rt.CudaGraphNode_t, p *rt.CudaMemcpy3DParms) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	c, err := copyNode(p)
	if err != nil {
		return err
	}
	return d.GraphMemcpyNodeSetParams(cu.CUgraphNode(n), &c)
}

// GraphMemcpyNodeSetParams1D changes a copy into one of bytes.
func (t *Thread) GraphMemcpyNodeSetParams1D(n rt.CudaGraphNode_t, dst, src hostmem.Ptr, size uint64, kind rt.CudaMemcpyKind) error {
	return t.GraphMemcpyNodeSetParams(n, line(dst, src, size, kind))
}

// GraphExecMemcpyNodeSetParams changes a copy in what was instantiated.
func (t *Thread) GraphExecMemcpyNodeSetParams(x rt.CudaGraphExec_t, n rt.CudaGraphNode_t, p *rt.CudaMemcpy3DParms) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	c, err := copyNode(p)
	if err != nil {
		return err
	}
	ctx, err := d.CtxGetCurrent()
	if err != nil {
		return err
	}
	return d.GraphExecMemcpyNodeSetParams(cu.CUgraphExec(x), cu.CUgraphNode(n), &c, ctx)
}

// GraphExecMemcpyNodeSetParams1D is the same for a copy of bytes.
func (t *Thread) GraphExecMemcpyNodeSetParams1D(x rt.CudaGraphExec_t, n rt.CudaGraphNode_t, dst, src hostmem.Ptr, size uint64, kind rt.CudaMemcpyKind) error {
	return t.GraphExecMemcpyNodeSetParams(x, n, line(dst, src, size, kind))
}

func setNode(p *rt.CudaMemsetParams) cu.CUDA_MEMSET_NODE_PARAMS {
	return cu.CUDA_MEMSET_NODE_PARAMS{Dst: driver.DevPtr(p.Dst), Pitch: p.Pitch, Value: p.Value, ElementSize: p.ElementSize, Width: p.Width, Height: p.Height}
}

// GraphAddMemsetNode adds a set.
func (t *Thread) GraphAddMemsetNode(g rt.CudaGraph_t, deps hostmem.Ptr, n uint64, p *rt.CudaMemsetParams) (rt.CudaGraphNode_t, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	ctx, err := d.CtxGetCurrent()
	if err != nil {
		return 0, err
	}
	q := setNode(p)
	r, err := d.GraphAddMemsetNode(cu.CUgraph(g), deps, n, &q, ctx)
	return rt.CudaGraphNode_t(r), err
}

// GraphMemsetNodeGetParams is a set as it was added.
func (t *Thread) GraphMemsetNodeGetParams(n rt.CudaGraphNode_t) (p rt.CudaMemsetParams, err error) {
	d, err := t.ready()
	if err != nil {
		return p, err
	}
	q, err := d.GraphMemsetNodeGetParams(cu.CUgraphNode(n))
	return rt.CudaMemsetParams{Dst: uint64(q.Dst), Pitch: q.Pitch, Value: q.Value, ElementSize: q.ElementSize, Width: q.Width, Height: q.Height}, err
}

// GraphMemsetNodeSetParams changes a set.
func (t *Thread) GraphMemsetNodeSetParams(n rt.CudaGraphNode_t, p *rt.CudaMemsetParams) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	q := setNode(p)
	return d.GraphMemsetNodeSetParams(cu.CUgraphNode(n), &q)
}

// GraphExecMemsetNodeSetParams changes a set in what was instantiated.
func (t *Thread) GraphExecMemsetNodeSetParams(x rt.CudaGraphExec_t, n rt.CudaGraphNode_t, p *rt.CudaMemsetParams) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	ctx, err := d.CtxGetCurrent()
	if err != nil {
		return err
	}
	q := setNode(p)
	return d.GraphExecMemsetNodeSetParams(cu.CUgraphExec(x), cu.CUgraphNode(n), &q, ctx)
}

// GraphAddHostNode adds the call of a host function.
func (t *Thread) GraphAddHostNode(g rt.CudaGraph_t, deps hostmem.Ptr, n uint64, p *rt.CudaHostNodeParams) (rt.CudaGraphNode_t, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	r, err := d.GraphAddHostNode(cu.CUgraph(g), deps, n, &cu.CUDA_HOST_NODE_PARAMS{Fn: cu.CUhostFn(p.Fn), UserData: p.UserData})
	return rt.CudaGraphNode_t(r), err
}

// GraphHostNodeGetParams is a call as it was added.
func (t *Thread) GraphHostNodeGetParams(n rt.CudaGraphNode_t) (p rt.CudaHostNodeParams, err error) {
	d, err := t.ready()
	if err != nil {
		return p, err
	}
	q, err := d.GraphHostNodeGetParams(cu.CUgraphNode(n))
	return rt.CudaHostNodeParams{Fn: rt.CudaHostFn_t(q.Fn), UserData: q.UserData}, err
}

// GraphHostNodeSetParams changes a call.
func (t *Thread) GraphHostNodeSetParams(n rt.CudaGraphNode_t, p *rt.CudaHostNodeParams) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.GraphHostNodeSetParams(cu.CUgraphNode(n), &cu.CUDA_HOST_NODE_PARAMS{Fn: cu.CUhostFn(p.Fn), UserData: p.UserData})
}

// GraphExecHostNodeSetParams changes a call in what was instantiated.
func (t *Thread) GraphExecHostNodeSetParams(x rt.CudaGraphExec_t, n rt.CudaGraphNode_t, p *rt.CudaHostNodeParams) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.GraphExecHostNodeSetParams(cu.CUgraphExec(x), cu.CUgraphNode(n), &cu.CUDA_HOST_NODE_PARAMS{Fn: cu.CUhostFn(p.Fn), UserData: p.UserData})
}

// GraphMemFreeNodeGetParams writes what a node frees.
func (t *Thread) GraphMemFreeNodeGetParams(n rt.CudaGraphNode_t, out hostmem.Ptr) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	p, err := d.GraphMemFreeNodeGetParams(cu.CUgraphNode(n))
	if err == nil {
		hostmem.Store(out, uint64(p))
	}
	return err
}
