package cudart

import (
	"runtime"

	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
)

// anyNode is the parameters of a node of any kind as the driver has them. The two structures agree but for kernels, which the
// runtime names by their stubs, copies, and the contexts that the runtime leaves out.
func (t *Thread) anyNode(d *driver.Thread, params hostmem.Ptr) (q cu.CUgraphNodeParams, err error) {
	if params == hostmem.Nil {
		return q, errInvalidValue
	}
	ctx, err := d.CtxGetCurrent()
	if err != nil {
		return q, err
	}
	p := hostmem.Load[rt.CudaGraphNodeParams](params)
	q = hostmem.Load[cu.CUgraphNodeParams](params)
	switch p.Type {
	case rt.CudaGraphNodeTypeKernel:
		k := p.Kernel()
		kp, err := t.kernelNode(d, &rt.CudaKernelNodeParams{Func: *k.Func(), GridDim: k.GridDim, BlockDim: k.BlockDim, SharedMemBytes: k.SharedMemBytes, KernelParams: k.KernelParams, Extra: k.Extra})
		*q.Kernel() = cu.CUDA_KERNEL_NODE_PARAMS_v3(kp)
		return q, err
	case rt.CudaGraphNodeTypeMemcpy:
		m := p.Memcpy()
		c, err := copyNode(&m.CopyParams)
		*q.Memcpy() = cu.CUDA_MEMCPY_NODE_PARAMS{Flags: m.Flags, CopyCtx: ctx, CopyParams: c}
		return q, err
	case rt.CudaGraphNodeTypeMemset:
		q.Memset().Ctx = ctx
	case rt.CudaGraphNodeTypeConditional:
		q.Conditional().Ctx = ctx
	case rt.CudaGraphNodeTypeHost, rt.CudaGraphNodeTypeGraph, rt.CudaGraphNodeTypeEmpty, rt.CudaGraphNodeTypeWaitEvent, rt.CudaGraphNodeTypeEventRecord,
		rt.CudaGraphNodeTypeMemAlloc, rt.CudaGraphNodeTypeMemFree:
	default:
		return q, errInvalidValue
	}
	return q, nil
}

// GraphAddNode adds a node of any kind. What the driver answers in the parameters, an address or the graphs of a condition,
// is written back.
func (t *Thread) GraphAddNode(g rt.CudaGraph_t, deps, data hostmem.Ptr, n uint64, params hostmem.Ptr) (rt.CudaGraphNode_t, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	q, err := t.anyNode(d, params)
	if err != nil {
		return 0, err
	}
	defer runtime.KeepAlive(&q)
	node, err := d.GraphAddNodeV2(cu.CUgraph(g), deps, data, n, hostmem.Of(&q))
	if err != nil {
		return 0, err
	}
	p := hostmem.At[rt.CudaGraphNodeParams](params)
	switch p.Type {
	case rt.CudaGraphNodeTypeMemAlloc:
		p.Alloc().Dptr = uint64(q.Alloc().Dptr)
	case rt.CudaGraphNodeTypeConditional:
		p.Conditional().PhGraph_out = q.Conditional().PhGraph_out
	}
	return rt.CudaGraphNode_t(node), nil
}

// GraphAddNode12 is GraphAddNode with plain edges.
func (t *Thread) GraphAddNode12(g rt.CudaGraph_t, deps hostmem.Ptr, n uint64, params hostmem.Ptr) (rt.CudaGraphNode_t, error) {
	return t.GraphAddNode(g, deps, hostmem.Nil, n, params)
}

// GraphNodeSetParams replaces a node's parameters; its kind stays.
func (t *Thread) GraphNodeSetParams(n rt.CudaGraphNode_t, params hostmem.Ptr) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	q, err := t.anyNode(d, params)
	if err != nil {
		return err
	}
	defer runtime.KeepAlive(&q)
	return d.GraphNodeSetParams(cu.CUgraphNode(n), hostmem.Of(&q))
}

// GraphExecNodeSetParams replaces a node's parameters in what was instantiated.
func (t *Thread) GraphExecNodeSetParams(x rt.CudaGraphExec_t, n rt.CudaGraphNode_t, params hostmem.Ptr) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	q, err := t.anyNode(d, params)
	if err != nil {
		return err
	}
	defer runtime.KeepAlive(&q)
	return d.GraphExecNodeSetParams(cu.CUgraphExec(x), cu.CUgraphNode(n), hostmem.Of(&q))
}

// GraphNodeGetParams writes a node's parameters.
func (t *Thread) GraphNodeGetParams(n rt.CudaGraphNode_t, params hostmem.Ptr) error {
	if params == hostmem.Nil {
		return errInvalidValue
	}
	d, err := t.ready()
	if err != nil {
		return err
	}
	q, err := d.GraphNodeGetParams(cu.CUgraphNode(n))
	if err != nil {
		return err
	}
	p := hostmem.As[rt.CudaGraphNodeParams](q)
	switch p.Type {
	case rt.CudaGraphNodeTypeKernel:
		k, err := t.GraphKernelNodeGetParams(n)
		if err != nil {
			return err
		}
		to := rt.CudaKernelNodeParamsV2{GridDim: k.GridDim, BlockDim: k.BlockDim, SharedMemBytes: k.SharedMemBytes, KernelParams: k.KernelParams, Extra: k.Extra}
		*to.Func() = k.Func
		*p.Kernel() = to
	case rt.CudaGraphNodeTypeMemcpy:
		c, err := t.GraphMemcpyNodeGetParams(n)
		if err != nil {
			return err
		}
		*p.Memcpy() = rt.CudaMemcpyNodeParams{CopyParams: c}
	}
	hostmem.Store(params, p)
	return nil
}
