package driver

import (
	"slices"

	"kudzu/internal/backend"
	"kudzu/internal/hostmem"
	"kudzu/internal/lockrank"
	"kudzu/internal/spec/cu"
)

// graphMemory is what an allocation node allocates. Its address is fixed when the node is made, so that other nodes can
// name it; the memory is kept as long as a graph or an executable may allocate it, or the program has it.
type graphMemory struct {
	a      *alloc
	params cu.CUDA_MEM_ALLOC_NODE_PARAMS
	// guarded by graphMu
	refs int  // nodes of graphs and executables
	live bool // allocated by a launch and not freed
	exec bool // an executable has the node that allocates it
}

// allocTask makes the memory the program's.
type allocTask struct{ mem *graphMemory }

func (*allocTask) kind() cu.CUgraphNodeType { return cu.CU_GRAPH_NODE_TYPE_MEM_ALLOC }
func (*allocTask) run(backend.Queue) error  { return nil }

// freeTask gives it back.
type freeTask struct {
	mem *graphMemory
	ptr DevPtr
}

func (*freeTask) kind() cu.CUgraphNodeType { return cu.CU_GRAPH_NODE_TYPE_MEM_FREE }
func (*freeTask) run(backend.Queue) error  { return nil }

// memoryOf is the graph memory a task is about, or nil.
func memoryOf(k task) *graphMemory {
	switch k := k.(type) {
	case *allocTask:
		return k.mem
	case *freeTask:
		return k.mem
	}
	return nil
}

// newGraphMemory allocates for a node.
func (c *Context) newGraphMemory(n uint64) (*graphMemory, error) {
	if n == 0 {
		return nil, errInvalidValue
	}
	addr, err := c.dev.allocMemory(n, poolAlign)
	if err != nil {
		return nil, c.fail(err)
	}
	m := &graphMemory{a: &alloc{base: uint64(addr), size: n, kind: allocDevice}}
	m.a.graph = m
	m.params.Bytesize, m.params.Dptr = n, DevPtr(addr)
	c.dev.graphMem.reserve(int64(n))
	return m, c.newAlloc(m.a)
}

// unref takes one node away; the memory goes with the last unless the program has it.
//
// Preconditions: graphMu is held.
func (m *graphMemory) unref(after *cleanup) {
	m.refs--
	if m.refs == 0 && !m.live {
		after.todo = append(after.todo, m.end)
	}
}

// end gives the memory back once no work can be using it.
func (m *graphMemory) end() {
	c := m.a.ctx
	if c.alive.Load() {
		_ = c.sync()
	}
	if c.state.allocs.take(m.a) {
		m.a.release()
	}
}

// free is cuMemFree or cuMemFreeAsync of memory that a graph allocated.
func (m *graphMemory) free() error {
	return m.a.ctx.state.locked(func(after *cleanup) error {
		if !m.live {
			return errInvalidValue
		}
		m.set(false)
		if m.refs == 0 {
			after.todo = append(after.todo, m.end)
		}
		return nil
	})
}

// set notes whether the program has the memory.
//
// Preconditions: graphMu is held.
func (m *graphMemory) set(live bool) {
	if m.live == live {
		return
	}
	m.live = live
	n := int64(m.a.size)
	if !live {
		n = -n
	}
	m.a.ctx.dev.graphMem.use(n)
}

// GraphAddMemAllocNode adds an allocation; its address is written back into the parameters.
func (t *Thread) GraphAddMemAllocNode(h cu.CUgraph, deps hostmem.Ptr, n uint64, params hostmem.Ptr) (cu.CUgraphNode, error) {
	if params == hostmem.Nil {
		return 0, errInvalidValue
	}
	p := hostmem.Load[cu.CUDA_MEM_ALLOC_NODE_PARAMS](params)
	m, node, err := t.addAlloc(h, deps, hostmem.Nil, n, &p)
	if err != nil {
		return 0, err
	}
	hostmem.Store(params, m.params)
	return node, nil
}

func (t *Thread) addAlloc(h cu.CUgraph, deps, data hostmem.Ptr, n uint64, p *cu.CUDA_MEM_ALLOC_NODE_PARAMS) (*graphMemory, cu.CUgraphNode, error) {
	if p.PoolProps.AllocType != cu.CU_MEM_ALLOCATION_TYPE_PINNED || p.PoolProps.Location.Type != cu.CU_MEM_LOCATION_TYPE_DEVICE ||
		p.PoolProps.HandleTypes != cu.CU_MEM_HANDLE_TYPE_NONE || p.AccessDescCount > maxAccess {
		return nil, 0, errInvalidValue
	}
	d, err := t.device(*p.PoolProps.Location.Id())
	if err != nil {
		return nil, 0, errInvalidValue
	}
	c, err := t.context()
	if err != nil {
		return nil, 0, err
	}
	if c.dev != d {
		if c, err = d.primaryContext(c.state); err == nil {
			err = c.usable()
		}
		if err != nil {
			return nil, 0, err
		}
	}
	var m *graphMemory
	node, err := t.addNode(h, deps, data, n, func() (task, error) {
		if m, err = c.newGraphMemory(p.Bytesize); err != nil {
			return nil, err
		}
		m.params.PoolProps, m.params.AccessDescs, m.params.AccessDescCount = p.PoolProps, p.AccessDescs, p.AccessDescCount
		return &allocTask{m}, nil
	})
	return m, node, err
}

// GraphMemAllocNodeGetParams is an allocation's parameters.
func (t *Thread) GraphMemAllocNodeGetParams(h cu.CUgraphNode) (p cu.CUDA_MEM_ALLOC_NODE_PARAMS, err error) {
	k, err := nodeTask[*allocTask](t, h)
	if err != nil {
		return p, err
	}
	return k.mem.params, nil
}

// GraphAddMemFreeNode adds the free of what a graph allocated.
func (t *Thread) GraphAddMemFreeNode(h cu.CUgraph, deps hostmem.Ptr, n uint64, p DevPtr) (cu.CUgraphNode, error) {
	return t.addNode(h, deps, hostmem.Nil, n, func() (task, error) { return t.freeNode(p) })
}

func (t *Thread) freeNode(p DevPtr) (task, error) {
	s, err := t.enter()
	if err != nil {
		return nil, err
	}
	a := s.allocs.find(uint64(p))
	if a == nil || a.base != uint64(p) || a.graph == nil {
		return nil, errInvalidValue
	}
	return &freeTask{a.graph, p}, nil
}

// frees reports whether a node of the graph frees the memory already.
//
// Preconditions: graphMu is held.
func (g *Graph) frees(m *graphMemory) bool {
	return slices.ContainsFunc(g.nodes, func(n *GraphNode) bool {
		f, ok := n.task.(*freeTask)
		return ok && f.mem == m
	})
}

// GraphMemFreeNodeGetParams is the address that a node frees.
func (t *Thread) GraphMemFreeNodeGetParams(h cu.CUgraphNode) (DevPtr, error) {
	k, err := nodeTask[*freeTask](t, h)
	if err != nil {
		return 0, err
	}
	return k.ptr, nil
}

// graphCounters is a device's memory in graphs.
type graphCounters struct {
	mu             lockrank.Mutex[lockrank.DriverGraphMemory]
	used, reserved counter // guarded by mu
}

func (g *graphCounters) use(n int64)     { g.change(&g.used, n) }
func (g *graphCounters) reserve(n int64) { g.change(&g.reserved, n) }

func (g *graphCounters) change(c *counter, n int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n < 0 {
		c.now -= min(c.now, uint64(-n))
		return
	}
	c.add(uint64(n))
}

// row finds a counter by CUgraphMem_attribute.
func (g *graphCounters) row(attr cu.CUgraphMem_attribute) (c *counter, high bool) {
	switch attr {
	case cu.CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
		return &g.used, false
	case cu.CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
		return &g.used, true
	case cu.CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
		return &g.reserved, false
	case cu.CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
		return &g.reserved, true
	}
	return nil, false
}

// DeviceGetGraphMemAttribute writes how much memory graphs use or hold.
func (t *Thread) DeviceGetGraphMemAttribute(dev cu.CUdevice, attr cu.CUgraphMem_attribute, value hostmem.Ptr) error {
	d, err := t.device(dev)
	if err != nil {
		return err
	}
	c, high := d.graphMem.row(attr)
	if c == nil || value == hostmem.Nil {
		return errInvalidValue
	}
	d.graphMem.mu.Lock()
	n := c.now
	if high {
		n = c.high
	}
	d.graphMem.mu.Unlock()
	hostmem.Store(value, n)
	return nil
}

// DeviceSetGraphMemAttribute takes a high-water mark down to what is.
func (t *Thread) DeviceSetGraphMemAttribute(dev cu.CUdevice, attr cu.CUgraphMem_attribute, value hostmem.Ptr) error {
	d, err := t.device(dev)
	if err != nil {
		return err
	}
	c, high := d.graphMem.row(attr)
	if c == nil || !high || value == hostmem.Nil || hostmem.Load[uint64](value) != 0 {
		return errInvalidValue
	}
	d.graphMem.mu.Lock()
	defer d.graphMem.mu.Unlock()
	c.high = c.now
	return nil
}

// DeviceGraphMemTrim has nothing to give back: graphs hold only what they may allocate at their next launch.
func (t *Thread) DeviceGraphMemTrim(dev cu.CUdevice) error {
	_, err := t.device(dev)
	return err
}
