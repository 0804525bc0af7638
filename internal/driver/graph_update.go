package driver

import (
	"slices"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// setExec replaces one task of an executable; launches put in before are not changed by it.
func (t *Thread) setExec(hx cu.CUgraphExec, hn cu.CUgraphNode, kind cu.CUgraphNodeType, build func(old task) (task, error)) error {
	x, n, err := t.execNode(hx, hn)
	if err != nil {
		return err
	}
	x.mu.Lock()
	i, ok := x.where[n]
	var old task
	if ok {
		old = x.steps[i].task
	}
	x.mu.Unlock()
	if !ok || old.kind() != kind {
		return errInvalidValue
	}
	k, err := build(old)
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.steps[i].task = k
	return nil
}

// GraphExecKernelNodeSetParams replaces a launch in an executable. The new kernel must be of the same context.
func (t *Thread) GraphExecKernelNodeSetParams(x cu.CUgraphExec, h cu.CUgraphNode, p *cu.CUDA_KERNEL_NODE_PARAMS) error {
	return t.setExec(x, h, cu.CU_GRAPH_NODE_TYPE_KERNEL, func(old task) (task, error) {
		was := old.(*kernelTask)
		k, err := t.renewKernel(p)(was)
		if err == nil && k.(*kernelTask).f.mod.ctx != was.f.mod.ctx {
			return nil, errInvalidValue
		}
		return k, err
	})
}

// GraphExecKernelNodeSetParamsV1 is the same without a context.
func (t *Thread) GraphExecKernelNodeSetParamsV1(x cu.CUgraphExec, h cu.CUgraphNode, p *cu.CUDA_KERNEL_NODE_PARAMS_v1) error {
	q := widenKernel(p)
	return t.GraphExecKernelNodeSetParams(x, h, &q)
}

// GraphExecMemcpyNodeSetParams replaces a copy in an executable.
func (t *Thread) GraphExecMemcpyNodeSetParams(x cu.CUgraphExec, h cu.CUgraphNode, p *cu.CUDA_MEMCPY3D, ctx cu.CUcontext) error {
	return t.setExec(x, h, cu.CU_GRAPH_NODE_TYPE_MEMCPY, func(task) (task, error) { return t.copyNode(p, ctx) })
}

// GraphExecMemsetNodeSetParams replaces a memset in an executable.
func (t *Thread) GraphExecMemsetNodeSetParams(x cu.CUgraphExec, h cu.CUgraphNode, p *cu.CUDA_MEMSET_NODE_PARAMS, ctx cu.CUcontext) error {
	return t.setExec(x, h, cu.CU_GRAPH_NODE_TYPE_MEMSET, func(task) (task, error) { return t.memsetNode(p, ctx) })
}

// GraphExecHostNodeSetParams replaces a call in an executable.
func (t *Thread) GraphExecHostNodeSetParams(x cu.CUgraphExec, h cu.CUgraphNode, p *cu.CUDA_HOST_NODE_PARAMS) error {
	return t.setExec(x, h, cu.CU_GRAPH_NODE_TYPE_HOST, func(task) (task, error) { return t.hostNode(p) })
}

// GraphExecEventRecordNodeSetEvent replaces the event a node records.
func (t *Thread) GraphExecEventRecordNodeSetEvent(x cu.CUgraphExec, h cu.CUgraphNode, event cu.CUevent) error {
	return t.setExec(x, h, cu.CU_GRAPH_NODE_TYPE_EVENT_RECORD, func(task) (task, error) { return t.recordNode(event) })
}

// GraphExecEventWaitNodeSetEvent replaces the event a node waits for.
func (t *Thread) GraphExecEventWaitNodeSetEvent(x cu.CUgraphExec, h cu.CUgraphNode, event cu.CUevent) error {
	return t.setExec(x, h, cu.CU_GRAPH_NODE_TYPE_WAIT_EVENT, func(task) (task, error) { return t.waitNode(event) })
}

// GraphExecNodeSetParams replaces a node of any kind in an executable.
func (t *Thread) GraphExecNodeSetParams(x cu.CUgraphExec, h cu.CUgraphNode, params hostmem.Ptr) error {
	if params == hostmem.Nil {
		return errInvalidValue
	}
	p := hostmem.Load[cu.CUgraphNodeParams](params)
	switch p.Type {
	case cu.CU_GRAPH_NODE_TYPE_KERNEL:
		q := cu.CUDA_KERNEL_NODE_PARAMS(*p.Kernel())
		return t.GraphExecKernelNodeSetParams(x, h, &q)
	case cu.CU_GRAPH_NODE_TYPE_GRAPH:
		return t.GraphExecChildGraphNodeSetParams(x, h, p.Graph().Graph)
	case cu.CU_GRAPH_NODE_TYPE_MEM_ALLOC, cu.CU_GRAPH_NODE_TYPE_MEM_FREE:
		return errNotSupported
	}
	return t.setExec(x, h, p.Type, func(task) (task, error) { return t.anyTask(&p) })
}

// execNode finds an executable and a node of a graph.
func (t *Thread) execNode(hx cu.CUgraphExec, hn cu.CUgraphNode) (*GraphExec, *GraphNode, error) {
	x, err := t.exec(hx)
	if err != nil {
		return nil, nil, err
	}
	n, err := t.node(hn)
	return x, n, err
}

// GraphExecChildGraphNodeSetParams takes the parameters of another graph over into a child graph of the same shape.
func (t *Thread) GraphExecChildGraphNodeSetParams(hx cu.CUgraphExec, hn cu.CUgraphNode, child cu.CUgraph) error {
	x, n, err := t.execNode(hx, hn)
	if err != nil {
		return err
	}
	g, err := t.graph(child)
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.state.locked(func(*cleanup) error {
		k, ok := n.task.(*childTask)
		if _, in := x.where[n]; !ok || !in || g.dead {
			return errInvalidValue
		}
		old := &GraphExec{state: x.state, where: map[*GraphNode]int{}}
		old.flatten(k.graph, nil)
		next := &GraphExec{state: x.state, where: map[*GraphNode]int{}}
		if _, bad := next.flatten(g, nil); bad != nil || next.memory {
			return errInvalidValue
		}
		if r, _, _ := old.differs(next); r != cu.CU_GRAPH_EXEC_UPDATE_SUCCESS {
			return errInvalidValue
		}
		for i := range old.steps {
			x.steps[x.where[old.steps[i].node]].task = next.steps[i].task
		}
		x.hold(g)
		return nil
	})
}

// differs says why the tasks of next cannot stand in for those of x, and at which nodes.
func (x *GraphExec) differs(next *GraphExec) (why cu.CUgraphExecUpdateResult, node, from *GraphNode) {
	if len(x.steps) != len(next.steps) {
		return cu.CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, nil, nil
	}
	for i := range x.steps {
		a, b := &x.steps[i], &next.steps[i]
		switch {
		case a.task.kind() != b.task.kind():
			return cu.CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, b.node, nil
		case !slices.Equal(a.deps, b.deps):
			return cu.CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, b.node, nil
		}
		switch k := a.task.(type) {
		case *kernelTask:
			if k.f.mod.ctx != b.task.(*kernelTask).f.mod.ctx {
				return cu.CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE, b.node, nil
			}
		case *copyTask: // the kinds of memory are part of the shape
			p, q := &k.params, &b.task.(*copyTask).params
			if p.SrcMemoryType != q.SrcMemoryType || p.DstMemoryType != q.DstMemoryType {
				return cu.CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED, b.node, nil
			}
		case *condRun:
			return cu.CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED, b.node, nil
		case *allocTask, *freeTask:
			if memoryOf(k) != memoryOf(b.task) {
				return cu.CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED, b.node, nil
			}
		}
	}
	return cu.CU_GRAPH_EXEC_UPDATE_SUCCESS, nil, nil
}

// update takes the parameters of a graph of the same shape over.
func (t *Thread) update(hx cu.CUgraphExec, h cu.CUgraph) (info cu.CUgraphExecUpdateResultInfo, err error) {
	info.Result = cu.CU_GRAPH_EXEC_UPDATE_ERROR
	x, err := t.exec(hx)
	if err != nil {
		return info, err
	}
	g, err := t.graph(h)
	if err != nil {
		return info, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	err = x.state.locked(func(after *cleanup) error {
		if g.dead {
			return errInvalidValue
		}
		next := &GraphExec{state: x.state, where: map[*GraphNode]int{}}
		if _, bad := next.flatten(g, nil); bad != nil {
			info.ErrorNode = bad.handle
			return Result(cu.CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE)
		}
		why, node, _ := x.differs(next)
		info.Result = why
		if node != nil {
			info.ErrorNode = node.handle
		}
		if why != cu.CU_GRAPH_EXEC_UPDATE_SUCCESS {
			return Result(cu.CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE)
		}
		for i := range x.steps {
			x.steps[i].task = next.steps[i].task
		}
		old, launch := x.objects, x.running // which needs only what is replaced
		x.objects, x.running = map[*UserObject]uint32{}, nil
		x.hold(g)
		x.state.letGo(old, launch, after)
		return nil
	})
	return info, err
}

// GraphExecUpdate takes the parameters of a graph of the same shape over; the answer says what did not fit.
func (t *Thread) GraphExecUpdate(x cu.CUgraphExec, h cu.CUgraph, result hostmem.Ptr) error {
	if result == hostmem.Nil {
		return errInvalidValue
	}
	info, err := t.update(x, h)
	hostmem.Store(result, info)
	return err
}

// GraphExecUpdateV1 is the old form.
func (t *Thread) GraphExecUpdateV1(x cu.CUgraphExec, h cu.CUgraph, node, result hostmem.Ptr) error {
	if result == hostmem.Nil {
		return errInvalidValue
	}
	info, err := t.update(x, h)
	hostmem.Store(result, info.Result)
	if node != hostmem.Nil {
		hostmem.Store(node, info.ErrorNode)
	}
	return err
}

// GraphNodeSetEnabled turns a launch, copy or memset of an executable on or off; off, it only orders.
func (t *Thread) GraphNodeSetEnabled(hx cu.CUgraphExec, hn cu.CUgraphNode, on uint32) error {
	x, n, err := t.execNode(hx, hn)
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	i, ok := x.where[n]
	if !ok {
		return errInvalidValue
	}
	switch x.steps[i].task.kind() {
	case cu.CU_GRAPH_NODE_TYPE_KERNEL, cu.CU_GRAPH_NODE_TYPE_MEMCPY, cu.CU_GRAPH_NODE_TYPE_MEMSET:
		x.steps[i].on = on != 0
		return nil
	}
	return errInvalidValue
}

// GraphNodeGetEnabled tells whether a node of an executable is on.
func (t *Thread) GraphNodeGetEnabled(hx cu.CUgraphExec, hn cu.CUgraphNode) (uint32, error) {
	x, n, err := t.execNode(hx, hn)
	if err != nil {
		return 0, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	i, ok := x.where[n]
	if !ok {
		return 0, errInvalidValue
	}
	return uint32(truth(x.steps[i].on)), nil
}
