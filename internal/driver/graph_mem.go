package driver

import (
	"slices"
	"sync/atomic"

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
	refs   int     // nodes of graphs and executables
	exec   bool    // an executable has the node that allocates it
	stream *Stream // whose launch allocated it, while live

	live atomic.Bool // allocated by a launch and not freed; written under graphMu
}

// idle reports whether memory is of a graph and not allocated now: only nodes may name it.
func (a *alloc) idle() bool { return a.graph != nil && !a.graph.live.Load() }

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
func (c *Context) newGraphMemory(n uint64, kind allocKind) (*graphMemory, error) {
	if n == 0 {
		return nil, errInvalidValue
	}
	addr, err := c.dev.allocMemory(n, poolAlign)
	if err != nil {
		return nil, c.fail(err)
	}
	m := &graphMemory{a: &alloc{base: uint64(addr), size: n, kind: kind}}
	m.a.graph = m
	m.params.Bytesize, m.params.Dptr = n, DevPtr(addr)
	return m, c.newAlloc(m.a)
}

// unref takes one node away; the memory goes with the last unless the program has it.
//
// Preconditions: graphMu is held.
func (m *graphMemory) unref(after *cleanup) {
	m.refs--
	if m.refs == 0 && !m.live.Load() {
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
		if !m.live.Load() {
			return errInvalidValue
		}
		m.set(nil)
		if m.refs == 0 {
			after.todo = append(after.todo, m.end)
		}
		return nil
	})
}

// set notes whether the program has the memory: by a launch in a stream, or not (nil).
//
// Preconditions: graphMu is held.
func (m *graphMemory) set(st *Stream) {
	if m.live.Load() {
		m.a.ctx.dev.graphMem.keep(m.stream, -int64(m.a.size))
	}
	if st != nil {
		m.a.ctx.dev.graphMem.keep(st, int64(m.a.size))
	}
	m.stream = st
	m.live.Store(st != nil)
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
	if p.PoolProps.HandleTypes != cu.CU_MEM_HANDLE_TYPE_NONE || p.AccessDescCount > maxAccess {
		return nil, 0, errInvalidValue
	}
	at, d, err := t.place(p.PoolProps.Location, p.PoolProps.AllocType)
	if err == errInvalidDevice {
		err = errInvalidValue
	}
	if err != nil {
		return nil, 0, err
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
		if m, err = c.newGraphMemory(p.Bytesize, at.kind()); err != nil {
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

// graphCounters is a device's memory in graphs, as the card counts it: launches in one stream have the same memory, in steps of 32 MiB,
// which stays theirs until it is trimmed. What programs have not freed yet stays then, too.
type graphCounters struct {
	mu             lockrank.Mutex[lockrank.DriverGraphMemory]
	held           map[*Stream]uint64 // guarded by mu, as the rest: in steps
	live           map[*Stream]uint64 // bytes that launches left to the program
	used, reserved counter            // the same, but that their marks are apart
}

// launch counts a launch that needs so many bytes at once.
func (g *graphCounters) launch(st *Stream, need uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.held == nil {
		g.held = map[*Stream]uint64{}
	}
	g.held[st] = max(g.held[st], steps(need+g.live[st]))
	g.sum()
}

// keep counts memory that the program has beyond a launch, or no more.
func (g *graphCounters) keep(st *Stream, n int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.live == nil {
		g.live = map[*Stream]uint64{}
	}
	if g.live[st] += uint64(n); g.live[st] == 0 {
		delete(g.live, st)
	}
}

// forget lets go of a stream that ended; its memory is nobody's.
func (g *graphCounters) forget(st *Stream) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n, ok := g.held[st]; ok && g.live[st] == 0 {
		delete(g.held, st)
		g.held[nil] = max(g.held[nil], n)
		g.sum()
	}
}

// trim gives back what the program does not have.
func (g *graphCounters) trim() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for st := range g.held {
		if g.held[st] = steps(g.live[st]); g.held[st] == 0 {
			delete(g.held, st)
		}
	}
	g.sum()
}

// Preconditions: mu is held.
func (g *graphCounters) sum() {
	n := uint64(0)
	for _, held := range g.held {
		n += held
	}
	for _, c := range []*counter{&g.used, &g.reserved} {
		c.now = n
		c.high = max(c.high, n)
	}
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

// DeviceGraphMemTrim gives the memory of graphs back that no program has. Here it is theirs while they exist, and only counted.
func (t *Thread) DeviceGraphMemTrim(dev cu.CUdevice) error {
	d, err := t.device(dev)
	if err == nil {
		d.graphMem.trim()
	}
	return err
}
