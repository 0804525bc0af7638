package driver

import (
	"maps"

	"kudzu/internal/backend"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// addNode makes a node of what build gives. Memory of the program is read before the lock is taken.
func (t *Thread) addNode(h cu.CUgraph, deps, data hostmem.Ptr, n uint64, build func() (task, error)) (cu.CUgraphNode, error) {
	g, err := t.graph(h)
	if err != nil {
		return 0, err
	}
	edges, err := t.readEdges(deps, data, n)
	if err != nil {
		return 0, err
	}
	for _, e := range edges {
		if e.from.graph != g {
			return 0, errInvalidValue
		}
	}
	k, err := build()
	if err != nil {
		return 0, err
	}
	var node cu.CUgraphNode
	err = g.state.locked(func(*cleanup) error {
		if f, ok := k.(*freeTask); g.dead || ok && g.frees(f.mem) {
			return errInvalidValue
		}
		n, err := g.add(k, edges)
		if err == nil {
			node = n.handle
		}
		return err
	})
	return node, err
}

// nodeTask is a node's task if it is of that type.
func nodeTask[T task](t *Thread, h cu.CUgraphNode) (k T, err error) {
	n, err := t.node(h)
	if err != nil {
		return k, err
	}
	err = n.graph.state.locked(func(*cleanup) error {
		var ok bool
		if k, ok = n.task.(T); !ok {
			return errInvalidValue
		}
		return nil
	})
	return k, err
}

// setNode replaces a node's task by one of the same type.
func setNode[T task](t *Thread, h cu.CUgraphNode, build func(old T) (task, error)) error {
	old, err := nodeTask[T](t, h)
	if err != nil {
		return err
	}
	k, err := build(old)
	if err != nil {
		return err
	}
	n, err := t.node(h)
	if err != nil {
		return err
	}
	return n.graph.state.locked(func(after *cleanup) error {
		if _, ok := n.task.(T); !ok {
			return errInvalidValue
		}
		n.setTask(k, after)
		return nil
	})
}

// kernelNode checks the parameters of a kernel node.
func (t *Thread) kernelNode(p *cu.CUDA_KERNEL_NODE_PARAMS) (*kernelTask, error) {
	c, err := t.contextOf(p.Ctx)
	if err != nil {
		return nil, err
	}
	h := p.Func
	var f *Function
	if k := c.state.kernels.Get(handleValue(p.Kern)); h == 0 && k != nil {
		h = cu.CUfunction(p.Kern)
		f, err = k.in(c)
	} else {
		f, err = t.function(h)
	}
	if err != nil {
		return nil, err
	}
	sc := &scratch{launch: backend.Launch{Grid: [3]uint32{p.GridDimX, p.GridDimY, p.GridDimZ}, Block: [3]uint32{p.BlockDimX, p.BlockDimY, p.BlockDimZ}, DynamicShared: p.SharedMemBytes}}
	return t.newKernelTask(sc, f, h, hostmem.Ptr(p.KernelParams), hostmem.Ptr(p.Extra))
}

// GraphAddKernelNode adds a launch.
func (t *Thread) GraphAddKernelNode(h cu.CUgraph, deps hostmem.Ptr, n uint64, p *cu.CUDA_KERNEL_NODE_PARAMS) (cu.CUgraphNode, error) {
	return t.addNode(h, deps, hostmem.Nil, n, func() (task, error) { return t.kernelNode(p) })
}

// GraphAddKernelNodeV1 is the same without a context.
func (t *Thread) GraphAddKernelNodeV1(h cu.CUgraph, deps hostmem.Ptr, n uint64, p *cu.CUDA_KERNEL_NODE_PARAMS_v1) (cu.CUgraphNode, error) {
	q := widenKernel(p)
	return t.GraphAddKernelNode(h, deps, n, &q)
}

func widenKernel(p *cu.CUDA_KERNEL_NODE_PARAMS_v1) cu.CUDA_KERNEL_NODE_PARAMS {
	f, k := p.Func, cu.CUkernel(0)
	if handleValue(f).Kind() == kindKernel { // as GraphKernelNodeGetParamsV1 gives it
		f, k = 0, cu.CUkernel(f)
	}
	return cu.CUDA_KERNEL_NODE_PARAMS{Func: f, Kern: k, GridDimX: p.GridDimX, GridDimY: p.GridDimY, GridDimZ: p.GridDimZ,
		BlockDimX: p.BlockDimX, BlockDimY: p.BlockDimY, BlockDimZ: p.BlockDimZ, SharedMemBytes: p.SharedMemBytes, KernelParams: p.KernelParams, Extra: p.Extra}
}

// GraphKernelNodeGetParams is a launch's parameters. The values are shown in memory of the node's.
func (t *Thread) GraphKernelNodeGetParams(h cu.CUgraphNode) (p cu.CUDA_KERNEL_NODE_PARAMS, err error) {
	k, err := nodeTask[*kernelTask](t, h)
	if err != nil {
		return p, err
	}
	l := &k.launch
	p = cu.CUDA_KERNEL_NODE_PARAMS{Ctx: k.f.mod.ctx.handle, SharedMemBytes: l.DynamicShared,
		GridDimX: l.Grid[0], GridDimY: l.Grid[1], GridDimZ: l.Grid[2], BlockDimX: l.Block[0], BlockDimY: l.Block[1], BlockDimZ: l.Block[2]}
	if handleValue(k.func_).Kind() == kindKernel {
		p.Kern = cu.CUkernel(k.func_)
	} else {
		p.Func = k.func_
	}
	if len(k.f.decl.Params) == 0 {
		return p, nil
	}
	n, err := t.node(h)
	if err != nil {
		return p, err
	}
	err = n.graph.state.locked(func(*cleanup) error {
		at, err := n.show(k)
		p.KernelParams = uint64(at)
		return err
	})
	return p, err
}

// show lays a launch's parameters out for the program: a list of addresses, then the values.
//
// Preconditions: graphMu is held.
func (n *GraphNode) show(k *kernelTask) (hostmem.Ptr, error) {
	list := uint64(8 * len(k.f.decl.Params))
	need := list + uint64(len(k.launch.Params)) + 16
	if n.length < need {
		at, length, err := mapHost(need)
		if err != nil {
			return 0, err
		}
		if n.length != 0 {
			unmapHost(n.shown, n.length)
		}
		n.shown, n.length = at, length
	}
	values := hostmem.Ptr(n.shown).Add((list + 15) &^ 15)
	copy(hostmem.Bytes(values, uint64(len(k.launch.Params))), k.launch.Params)
	for i, p := range k.f.decl.Params {
		hostmem.Store(hostmem.Ptr(n.shown).Index(i, 8), values.Add(uint64(p.Offset)))
	}
	return hostmem.Ptr(n.shown), nil
}

// GraphKernelNodeGetParamsV1 is the same without a context.
func (t *Thread) GraphKernelNodeGetParamsV1(h cu.CUgraphNode) (cu.CUDA_KERNEL_NODE_PARAMS_v1, error) {
	p, err := t.GraphKernelNodeGetParams(h)
	f := p.Func
	if f == 0 {
		f = cu.CUfunction(p.Kern)
	}
	return cu.CUDA_KERNEL_NODE_PARAMS_v1{Func: f, GridDimX: p.GridDimX, GridDimY: p.GridDimY, GridDimZ: p.GridDimZ,
		BlockDimX: p.BlockDimX, BlockDimY: p.BlockDimY, BlockDimZ: p.BlockDimZ, SharedMemBytes: p.SharedMemBytes, KernelParams: p.KernelParams, Extra: p.Extra}, err
}

// renewKernel makes a launch's new task; attributes stay.
func (t *Thread) renewKernel(p *cu.CUDA_KERNEL_NODE_PARAMS) func(old *kernelTask) (task, error) {
	return func(old *kernelTask) (task, error) {
		q := *p
		if q.Func == 0 && q.Kern == 0 {
			q.Func = old.func_
		}
		if q.Ctx == 0 {
			q.Ctx = old.f.mod.ctx.handle
		}
		k, err := t.kernelNode(&q)
		if err != nil {
			return nil, err
		}
		k.launch.Cooperative, k.attrs = old.launch.Cooperative, old.attrs
		if old.attrs != nil {
			k.launch.Cluster = old.launch.Cluster
		}
		return k, k.f.admits(&k.launch)
	}
}

// GraphKernelNodeSetParams replaces a launch's parameters.
func (t *Thread) GraphKernelNodeSetParams(h cu.CUgraphNode, p *cu.CUDA_KERNEL_NODE_PARAMS) error {
	return setNode(t, h, t.renewKernel(p))
}

// GraphKernelNodeSetParamsV1 is the same without a context.
func (t *Thread) GraphKernelNodeSetParamsV1(h cu.CUgraphNode, p *cu.CUDA_KERNEL_NODE_PARAMS_v1) error {
	q := widenKernel(p)
	return t.GraphKernelNodeSetParams(h, &q)
}

// with is the task with one attribute more.
func (k *kernelTask) with(id cu.CUlaunchAttributeID, v cu.CUlaunchAttributeValue) (*kernelTask, error) {
	c := *k
	sc := &scratch{launch: k.launch}
	if err := sc.attribute(&cu.CUlaunchAttribute{Id: id, Value: v}); err != nil {
		return nil, err
	}
	c.launch = sc.launch
	c.attrs = maps.Clone(k.attrs)
	if c.attrs == nil {
		c.attrs = map[cu.CUlaunchAttributeID]cu.CUlaunchAttributeValue{}
	}
	c.attrs[id] = v
	return &c, c.f.admits(&c.launch)
}

// GraphKernelNodeSetAttribute sets a launch attribute.
func (t *Thread) GraphKernelNodeSetAttribute(h cu.CUgraphNode, id cu.CUkernelNodeAttrID, v *cu.CUkernelNodeAttrValue) error {
	value := *v
	return setNode(t, h, func(old *kernelTask) (task, error) { return old.with(id, value) })
}

// GraphKernelNodeGetAttribute reads a launch attribute; one that was not set is zero.
func (t *Thread) GraphKernelNodeGetAttribute(h cu.CUgraphNode, id cu.CUkernelNodeAttrID) (v cu.CUkernelNodeAttrValue, err error) {
	k, err := nodeTask[*kernelTask](t, h)
	if err != nil {
		return v, err
	}
	switch id {
	case cu.CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
		*v.Cooperative() = int32(truth(k.launch.Cooperative))
	case cu.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
		*v.ClusterDim() = cu.CUlaunchAttributeValue_clusterDim{X: k.launch.Cluster[0], Y: k.launch.Cluster[1], Z: k.launch.Cluster[2]}
	case cu.CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, cu.CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, cu.CU_LAUNCH_ATTRIBUTE_PRIORITY,
		cu.CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, cu.CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, cu.CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
		cu.CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
		v = k.attrs[id]
	default:
		return v, errInvalidValue
	}
	return v, nil
}

// GraphKernelNodeCopyAttributes takes over all attributes of another launch.
func (t *Thread) GraphKernelNodeCopyAttributes(dst, src cu.CUgraphNode) error {
	from, err := nodeTask[*kernelTask](t, src)
	if err != nil {
		return err
	}
	return setNode(t, dst, func(old *kernelTask) (task, error) {
		k := *old
		k.attrs, k.launch.Cooperative, k.launch.Cluster = from.attrs, from.launch.Cooperative, from.launch.Cluster
		return &k, k.f.admits(&k.launch)
	})
}

// copyNode checks the parameters of a copy node.
func (t *Thread) copyNode(p *cu.CUDA_MEMCPY3D, ctx cu.CUcontext) (task, error) {
	c, err := t.contextOf(ctx)
	if err != nil {
		return nil, err
	}
	k, err := c.state.copyBox(c, p)
	if err != nil {
		return nil, err
	}
	if k == nil {
		return nil, errInvalidValue
	}
	return k, nil
}

// GraphAddMemcpyNode adds a copy.
func (t *Thread) GraphAddMemcpyNode(h cu.CUgraph, deps hostmem.Ptr, n uint64, p *cu.CUDA_MEMCPY3D, ctx cu.CUcontext) (cu.CUgraphNode, error) {
	return t.addNode(h, deps, hostmem.Nil, n, func() (task, error) { return t.copyNode(p, ctx) })
}

// GraphMemcpyNodeGetParams is a copy's parameters.
func (t *Thread) GraphMemcpyNodeGetParams(h cu.CUgraphNode) (p cu.CUDA_MEMCPY3D, err error) {
	k, err := nodeTask[*copyTask](t, h)
	if err != nil {
		return p, err
	}
	return k.params, nil
}

// GraphMemcpyNodeSetParams replaces a copy's parameters.
func (t *Thread) GraphMemcpyNodeSetParams(h cu.CUgraphNode, p *cu.CUDA_MEMCPY3D) error {
	return setNode(t, h, func(old *copyTask) (task, error) { return t.copyNode(p, old.ctx.handle) })
}

// memsetNode checks the parameters of a memset node.
func (t *Thread) memsetNode(p *cu.CUDA_MEMSET_NODE_PARAMS, ctx cu.CUcontext) (task, error) {
	c, err := t.contextOf(ctx)
	if err != nil {
		return nil, err
	}
	if p.Width == 0 || p.Height == 0 {
		return nil, errInvalidValue
	}
	k, _, err := c.state.newSet(c, *p)
	if err != nil {
		return nil, err
	}
	return k, nil
}

// GraphAddMemsetNode adds a memset.
func (t *Thread) GraphAddMemsetNode(h cu.CUgraph, deps hostmem.Ptr, n uint64, p *cu.CUDA_MEMSET_NODE_PARAMS, ctx cu.CUcontext) (cu.CUgraphNode, error) {
	return t.addNode(h, deps, hostmem.Nil, n, func() (task, error) { return t.memsetNode(p, ctx) })
}

// GraphMemsetNodeGetParams is a memset's parameters.
func (t *Thread) GraphMemsetNodeGetParams(h cu.CUgraphNode) (p cu.CUDA_MEMSET_NODE_PARAMS, err error) {
	k, err := nodeTask[*setTask](t, h)
	if err != nil {
		return p, err
	}
	return k.params, nil
}

// GraphMemsetNodeSetParams replaces a memset's parameters.
func (t *Thread) GraphMemsetNodeSetParams(h cu.CUgraphNode, p *cu.CUDA_MEMSET_NODE_PARAMS) error {
	return setNode(t, h, func(old *setTask) (task, error) { return t.memsetNode(p, old.ctx.handle) })
}

// hostNode checks the parameters of a host node.
func (t *Thread) hostNode(p *cu.CUDA_HOST_NODE_PARAMS) (task, error) {
	s, err := t.enter()
	if err != nil {
		return nil, err
	}
	k, err := newHostTask(s, p.Fn, p.UserData)
	if err != nil {
		return nil, err
	}
	return k, nil
}

// GraphAddHostNode adds a call of a function of the program.
func (t *Thread) GraphAddHostNode(h cu.CUgraph, deps hostmem.Ptr, n uint64, p *cu.CUDA_HOST_NODE_PARAMS) (cu.CUgraphNode, error) {
	return t.addNode(h, deps, hostmem.Nil, n, func() (task, error) { return t.hostNode(p) })
}

// GraphHostNodeGetParams is a call's parameters.
func (t *Thread) GraphHostNodeGetParams(h cu.CUgraphNode) (p cu.CUDA_HOST_NODE_PARAMS, err error) {
	k, err := nodeTask[*hostTask](t, h)
	if err != nil {
		return p, err
	}
	return k.params, nil
}

// GraphHostNodeSetParams replaces a call's parameters.
func (t *Thread) GraphHostNodeSetParams(h cu.CUgraphNode, p *cu.CUDA_HOST_NODE_PARAMS) error {
	return setNode(t, h, func(*hostTask) (task, error) { return t.hostNode(p) })
}
