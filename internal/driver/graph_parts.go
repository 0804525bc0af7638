package driver

import (
	"slices"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// Nodes that hold other objects: child graphs, events; and the calls that take any kind of node.

// childNode copies a graph to be a node of another.
func (t *Thread) childNode(child cu.CUgraph) (task, error) {
	g, err := t.graph(child)
	if err != nil {
		return nil, err
	}
	var k *childTask
	err = g.state.locked(func(*cleanup) error {
		if g.dead {
			return errInvalidValue
		}
		if slices.ContainsFunc(g.nodes, func(n *GraphNode) bool { return memoryOf(n.task) != nil }) {
			return errNotSupported // as the real driver: memory nodes are not cloned
		}
		c, err := g.copyOf()
		if err == nil {
			k = &childTask{c}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return k, nil
}

// GraphAddChildGraphNode adds a copy of a graph as one node.
func (t *Thread) GraphAddChildGraphNode(h cu.CUgraph, deps hostmem.Ptr, n uint64, child cu.CUgraph) (cu.CUgraphNode, error) {
	return t.addNode(h, deps, hostmem.Nil, n, func() (task, error) { return t.childNode(child) })
}

// GraphChildGraphNodeGetGraph is the graph inside a node; it belongs to the node.
func (t *Thread) GraphChildGraphNodeGetGraph(h cu.CUgraphNode) (cu.CUgraph, error) {
	k, err := nodeTask[*childTask](t, h)
	if err != nil {
		return 0, err
	}
	return k.graph.handle, nil
}

// GraphAddEmptyNode adds a node that does nothing.
func (t *Thread) GraphAddEmptyNode(h cu.CUgraph, deps hostmem.Ptr, n uint64) (cu.CUgraphNode, error) {
	return t.addNode(h, deps, hostmem.Nil, n, func() (task, error) { return emptyTask{}, nil })
}

func (t *Thread) recordNode(h cu.CUevent) (task, error) {
	e, err := t.event(h)
	if err != nil {
		return nil, err
	}
	return &recordTask{e}, nil
}

func (t *Thread) waitNode(h cu.CUevent) (task, error) {
	e, err := t.event(h)
	if err != nil {
		return nil, err
	}
	return &waitTask{e}, nil
}

// GraphAddEventRecordNode adds the record of an event.
func (t *Thread) GraphAddEventRecordNode(h cu.CUgraph, deps hostmem.Ptr, n uint64, event cu.CUevent) (cu.CUgraphNode, error) {
	return t.addNode(h, deps, hostmem.Nil, n, func() (task, error) { return t.recordNode(event) })
}

// GraphEventRecordNodeGetEvent is the event a node records.
func (t *Thread) GraphEventRecordNodeGetEvent(h cu.CUgraphNode) (cu.CUevent, error) {
	k, err := nodeTask[*recordTask](t, h)
	if err != nil {
		return 0, err
	}
	return k.e.handle, nil
}

// GraphEventRecordNodeSetEvent replaces the event a node records.
func (t *Thread) GraphEventRecordNodeSetEvent(h cu.CUgraphNode, event cu.CUevent) error {
	return setNode(t, h, func(*recordTask) (task, error) { return t.recordNode(event) })
}

// GraphAddEventWaitNode adds a wait for an event.
func (t *Thread) GraphAddEventWaitNode(h cu.CUgraph, deps hostmem.Ptr, n uint64, event cu.CUevent) (cu.CUgraphNode, error) {
	return t.addNode(h, deps, hostmem.Nil, n, func() (task, error) { return t.waitNode(event) })
}

// GraphEventWaitNodeGetEvent is the event a node waits for.
func (t *Thread) GraphEventWaitNodeGetEvent(h cu.CUgraphNode) (cu.CUevent, error) {
	k, err := nodeTask[*waitTask](t, h)
	if err != nil {
		return 0, err
	}
	return k.e.handle, nil
}

// GraphEventWaitNodeSetEvent replaces the event a node waits for.
func (t *Thread) GraphEventWaitNodeSetEvent(h cu.CUgraphNode, event cu.CUevent) error {
	return setNode(t, h, func(*waitTask) (task, error) { return t.waitNode(event) })
}

// anyTask makes a task of parameters of any kind. Allocations are made elsewhere: they answer an address.
func (t *Thread) anyTask(p *cu.CUgraphNodeParams) (task, error) {
	switch p.Type {
	case cu.CU_GRAPH_NODE_TYPE_KERNEL:
		k := p.Kernel()
		q := cu.CUDA_KERNEL_NODE_PARAMS(*k)
		return t.kernelNode(&q)
	case cu.CU_GRAPH_NODE_TYPE_MEMCPY:
		m := p.Memcpy()
		if m.Flags != 0 {
			return nil, errInvalidValue
		}
		return t.copyNode(&m.CopyParams, m.CopyCtx)
	case cu.CU_GRAPH_NODE_TYPE_MEMSET:
		m := p.Memset()
		return t.memsetNode(&cu.CUDA_MEMSET_NODE_PARAMS{Dst: m.Dst, Pitch: m.Pitch, Value: m.Value, ElementSize: m.ElementSize, Width: m.Width, Height: m.Height}, m.Ctx)
	case cu.CU_GRAPH_NODE_TYPE_HOST:
		m := p.Host()
		return t.hostNode(&cu.CUDA_HOST_NODE_PARAMS{Fn: m.Fn, UserData: m.UserData})
	case cu.CU_GRAPH_NODE_TYPE_GRAPH:
		return t.childNode(p.Graph().Graph)
	case cu.CU_GRAPH_NODE_TYPE_EMPTY:
		return emptyTask{}, nil
	case cu.CU_GRAPH_NODE_TYPE_WAIT_EVENT:
		return t.waitNode(p.EventWait().Event)
	case cu.CU_GRAPH_NODE_TYPE_EVENT_RECORD:
		return t.recordNode(p.EventRecord().Event)
	case cu.CU_GRAPH_NODE_TYPE_MEM_FREE:
		return t.freeNode(p.Free().Dptr)
	case cu.CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
		m := p.MemOp()
		return t.memOpNode(&cu.CUDA_BATCH_MEM_OP_NODE_PARAMS{Ctx: m.Ctx, Count: m.Count, ParamArray: m.ParamArray, Flags: m.Flags})
	case cu.CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL, cu.CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT, cu.CU_GRAPH_NODE_TYPE_CONDITIONAL:
		return nil, errNotSupported
	}
	return nil, errInvalidValue
}

// GraphAddNode adds a node of any kind.
func (t *Thread) GraphAddNode(h cu.CUgraph, deps hostmem.Ptr, n uint64, params hostmem.Ptr) (cu.CUgraphNode, error) {
	return t.GraphAddNodeV2(h, deps, hostmem.Nil, n, params)
}

// GraphAddNodeV3 is GraphAddNodeV2 of a later release.
func (t *Thread) GraphAddNodeV3(h cu.CUgraph, deps, data hostmem.Ptr, n uint64, params hostmem.Ptr) (cu.CUgraphNode, error) {
	return t.GraphAddNodeV2(h, deps, data, n, params)
}

// GraphAddNodeV2 adds a node of any kind, with something said about its edges.
func (t *Thread) GraphAddNodeV2(h cu.CUgraph, deps, data hostmem.Ptr, n uint64, params hostmem.Ptr) (cu.CUgraphNode, error) {
	if params == hostmem.Nil {
		return 0, errInvalidValue
	}
	p := hostmem.Load[cu.CUgraphNodeParams](params)
	if p.Type == cu.CU_GRAPH_NODE_TYPE_MEM_ALLOC {
		q := cu.CUDA_MEM_ALLOC_NODE_PARAMS(*p.Alloc())
		m, node, err := t.addAlloc(h, deps, data, n, &q)
		if err != nil {
			return 0, err
		}
		p.Alloc().Dptr = m.params.Dptr
		hostmem.Store(params, p)
		return node, nil
	}
	if p.Type == cu.CU_GRAPH_NODE_TYPE_CONDITIONAL {
		node, err := t.addConditional(h, deps, data, n, p.Conditional())
		if err == nil {
			hostmem.Store(params, p)
		}
		return node, err
	}
	node, err := t.addNode(h, deps, data, n, func() (task, error) { return t.anyTask(&p) })
	if err == nil && p.Type == cu.CU_GRAPH_NODE_TYPE_GRAPH && p.Graph().Ownership == cu.CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE {
		err = t.GraphDestroy(p.Graph().Graph)
	}
	return node, err
}

// GraphNodeSetParams replaces a node's parameters; its kind stays.
func (t *Thread) GraphNodeSetParams(h cu.CUgraphNode, params hostmem.Ptr) error {
	if params == hostmem.Nil {
		return errInvalidValue
	}
	p := hostmem.Load[cu.CUgraphNodeParams](params)
	if kind, err := t.GraphNodeGetType(h); err != nil || kind != p.Type {
		return errInvalidValue
	}
	if p.Type == cu.CU_GRAPH_NODE_TYPE_KERNEL {
		q := cu.CUDA_KERNEL_NODE_PARAMS(*p.Kernel())
		return t.GraphKernelNodeSetParams(h, &q)
	}
	if p.Type == cu.CU_GRAPH_NODE_TYPE_MEM_FREE || p.Type == cu.CU_GRAPH_NODE_TYPE_MEM_ALLOC {
		return errNotSupported
	}
	return setNode(t, h, func(task) (task, error) { return t.anyTask(&p) })
}

// GraphNodeGetParams is a node's parameters.
func (t *Thread) GraphNodeGetParams(h cu.CUgraphNode) (p cu.CUgraphNodeParams, err error) {
	k, err := nodeTask[task](t, h)
	if err != nil {
		return p, err
	}
	p.Type = k.kind()
	switch k := k.(type) {
	case *kernelTask:
		q, err := t.GraphKernelNodeGetParams(h)
		*p.Kernel() = cu.CUDA_KERNEL_NODE_PARAMS_v3(q)
		return p, err
	case *copyTask:
		*p.Memcpy() = cu.CUDA_MEMCPY_NODE_PARAMS{CopyCtx: k.ctx.handle, CopyParams: k.params}
	case *setTask:
		q := &k.params
		*p.Memset() = cu.CUDA_MEMSET_NODE_PARAMS_v2{Dst: q.Dst, Pitch: q.Pitch, Value: q.Value, ElementSize: q.ElementSize, Width: q.Width, Height: q.Height, Ctx: k.ctx.handle}
	case *hostTask:
		p.Host().Fn, p.Host().UserData = k.params.Fn, k.params.UserData
	case *childTask:
		p.Graph().Graph = k.graph.handle
	case *condTask:
		*p.Conditional() = k.params
	case *recordTask:
		p.EventRecord().Event = k.e.handle
	case *waitTask:
		p.EventWait().Event = k.e.handle
	case *allocTask:
		*p.Alloc() = cu.CUDA_MEM_ALLOC_NODE_PARAMS_v2(k.mem.params)
	case *freeTask:
		p.Free().Dptr = k.ptr
	case *memOpTask:
		q, err := t.GraphBatchMemOpNodeGetParams(h)
		*p.MemOp() = cu.CUDA_BATCH_MEM_OP_NODE_PARAMS_v2(q)
		return p, err
	}
	return p, nil
}
