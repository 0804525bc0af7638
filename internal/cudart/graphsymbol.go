package cudart

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
)

// Copies into and out of variables as nodes of graphs, and the attributes of launches there.

// symbolLine is a copy between a variable and other memory; into says which way.
func (t *Thread) symbolLine(symbol, other hostmem.Ptr, size, offset uint64, kind rt.CudaMemcpyKind, into bool) (*rt.CudaMemcpy3DParms, error) {
	if into && !toSymbol(kind) || !into && !fromSymbol(kind) {
		return nil, errInvalidDirection
	}
	p, err := t.part(symbol, size, offset)
	switch {
	case err != nil:
		return nil, err
	case into:
		return line(p, other, size, kind), nil
	}
	return line(other, p, size, kind), nil
}

// GraphAddMemcpyNodeToSymbol adds a copy into a variable.
func (t *Thread) GraphAddMemcpyNodeToSymbol(g rt.CudaGraph_t, deps hostmem.Ptr, n uint64, symbol, src hostmem.Ptr, size, offset uint64, kind rt.CudaMemcpyKind) (rt.CudaGraphNode_t, error) {
	p, err := t.symbolLine(symbol, src, size, offset, kind, true)
	if err != nil {
		return 0, err
	}
	return t.GraphAddMemcpyNode(g, deps, n, p)
}

// GraphAddMemcpyNodeFromSymbol adds a copy out of a variable.
func (t *Thread) GraphAddMemcpyNodeFromSymbol(g rt.CudaGraph_t, deps hostmem.Ptr, n uint64, dst, symbol hostmem.Ptr, size, offset uint64, kind rt.CudaMemcpyKind) (rt.CudaGraphNode_t, error) {
	p, err := t.symbolLine(symbol, dst, size, offset, kind, false)
	if err != nil {
		return 0, err
	}
	return t.GraphAddMemcpyNode(g, deps, n, p)
}

// GraphMemcpyNodeSetParamsToSymbol changes a copy into one into a variable.
func (t *Thread) GraphMemcpyNodeSetParamsToSymbol(n rt.CudaGraphNode_t, symbol, src hostmem.Ptr, size, offset uint64, kind rt.CudaMemcpyKind) error {
	p, err := t.symbolLine(symbol, src, size, offset, kind, true)
	if err != nil {
		return err
	}
	return t.GraphMemcpyNodeSetParams(n, p)
}

// GraphMemcpyNodeSetParamsFromSymbol changes a copy into one out of a variable.
func (t *Thread) GraphMemcpyNodeSetParamsFromSymbol(n rt.CudaGraphNode_t, dst, symbol hostmem.Ptr, size, offset uint64, kind rt.CudaMemcpyKind) error {
	p, err := t.symbolLine(symbol, dst, size, offset, kind, false)
	if err != nil {
		return err
	}
	return t.GraphMemcpyNodeSetParams(n, p)
}

// GraphExecMemcpyNodeSetParamsToSymbol is the same in what was instantiated.
func (t *Thread) GraphExecMemcpyNodeSetParamsToSymbol(x rt.CudaGraphExec_t, n rt.CudaGraphNode_t, symbol, src hostmem.Ptr, size, offset uint64, kind rt.CudaMemcpyKind) error {
	p, err := t.symbolLine(symbol, src, size, offset, kind, true)
	if err != nil {
		return err
	}
	return t.GraphExecMemcpyNodeSetParams(x, n, p)
}

// GraphExecMemcpyNodeSetParamsFromSymbol is the same in what was instantiated.
func (t *Thread) GraphExecMemcpyNodeSetParamsFromSymbol(x rt.CudaGraphExec_t, n rt.CudaGraphNode_t, dst, symbol hostmem.Ptr, size, offset uint64, kind rt.CudaMemcpyKind) error {
	p, err := t.symbolLine(symbol, dst, size, offset, kind, false)
	if err != nil {
		return err
	}
	return t.GraphExecMemcpyNodeSetParams(x, n, p)
}

// GraphKernelNodeSetAttribute sets an attribute of a launch. Values are laid out as the driver's.
func (t *Thread) GraphKernelNodeSetAttribute(n rt.CudaGraphNode_t, id rt.CudaLaunchAttributeID, value hostmem.Ptr) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	if value == hostmem.Nil {
		return errInvalidValue
	}
	return d.GraphKernelNodeSetAttribute(cu.CUgraphNode(n), cu.CUkernelNodeAttrID(id), hostmem.At[cu.CUkernelNodeAttrValue](value))
}

// GraphKernelNodeGetAttribute writes an attribute of a launch.
func (t *Thread) GraphKernelNodeGetAttribute(n rt.CudaGraphNode_t, id rt.CudaLaunchAttributeID, out hostmem.Ptr) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	if out == hostmem.Nil {
		return errInvalidValue
	}
	v, err := d.GraphKernelNodeGetAttribute(cu.CUgraphNode(n), cu.CUkernelNodeAttrID(id))
	if err == nil {
		hostmem.Store(out, v)
	}
	return err
}

// GraphMemAllocNodeGetParams writes an allocation as it was added. The structure is laid out as the driver's.
func (t *Thread) GraphMemAllocNodeGetParams(n rt.CudaGraphNode_t, out hostmem.Ptr) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	if out == hostmem.Nil {
		return errInvalidValue
	}
	p, err := d.GraphMemAllocNodeGetParams(cu.CUgraphNode(n))
	if err == nil {
		hostmem.Store(out, p)
	}
	return err
}
