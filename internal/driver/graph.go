package driver

import (
	"slices"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// Graph is work whose order is known before it runs. All graphs and captures share state.graphMu: they are built
// seldom and by one thread at a time, launched often, and a launch does not take it.
type Graph struct {
	state  *state
	handle cu.CUgraph
	id     uint32
	owner  *GraphNode // of a child graph: the node it belongs to
	// guarded by graphMu
	nodes      []*GraphNode
	nextID     uint32
	objects    map[*UserObject]uint32
	conditions map[uint64]*condition // by handle; of a graph that is in no other
	dead       bool
}

// GraphNode is one task of a graph.
type GraphNode struct {
	graph  *Graph
	handle cu.CUgraphNode
	id     uint32
	// guarded by graphMu
	task   task
	deps   []edge
	outs   []*GraphNode
	origin *GraphNode // in the graph that this one is a clone of
	shown  uint64     // memory that parameters were shown in, for as long as the node lives
	length uint64
}

// edge is a dependency and what the program said about it.
type edge struct {
	from *GraphNode
	data cu.CUgraphEdgeData
}

// graph finds a graph.
func (t *Thread) graph(h cu.CUgraph) (*Graph, error) {
	s, err := t.enter()
	if err != nil {
		return nil, err
	}
	if g := s.graphs.Get(handleValue(h)); g != nil {
		return g, nil
	}
	return nil, errInvalidValue
}

// node finds a node.
func (t *Thread) node(h cu.CUgraphNode) (*GraphNode, error) {
	s, err := t.enter()
	if err != nil {
		return nil, err
	}
	if n := s.nodes.Get(handleValue(h)); n != nil {
		return n, nil
	}
	return nil, errInvalidValue
}

func (s *state) newGraph() (*Graph, error) {
	g := &Graph{state: s, id: s.graphN.Add(1)}
	h := s.graphs.New(g)
	if h == 0 {
		return nil, errOutOfMemory
	}
	g.handle = cu.CUgraph(h)
	return g, nil
}

// add makes a node.
//
// Preconditions: graphMu is held; deps are nodes of g.
func (g *Graph) add(k task, deps []edge) (*GraphNode, error) {
	n := &GraphNode{graph: g, task: k, deps: slices.Clone(deps), id: g.nextID}
	h := g.state.nodes.New(n)
	if h == 0 {
		return nil, errOutOfMemory
	}
	g.nextID++
	n.handle = cu.CUgraphNode(h)
	for _, d := range deps {
		d.from.outs = append(d.from.outs, n)
	}
	switch c := k.(type) {
	case *childTask:
		c.graph.owner = n
	case *condTask:
		for _, b := range c.bodies {
			b.owner = n
		}
	}
	if m := memoryOf(k); m != nil {
		m.refs++
	}
	g.nodes = append(g.nodes, n)
	return n, nil
}

// drop frees what a node holds; edges are the caller's.
//
// Preconditions: graphMu is held.
func (n *GraphNode) drop(after *cleanup) {
	n.graph.state.nodes.Delete(handleValue(n.handle))
	n.setTask(nil, after)
	if n.length != 0 {
		unmapHost(n.shown, n.length)
		n.shown, n.length = 0, 0
	}
}

// setTask replaces a node's work.
//
// Preconditions: graphMu is held.
func (n *GraphNode) setTask(k task, after *cleanup) {
	switch c := n.task.(type) {
	case *childTask:
		c.graph.drop(after)
	case *condTask:
		for _, b := range c.bodies {
			b.drop(after)
		}
	}
	if m := memoryOf(k); m != nil {
		m.refs++
	}
	if m := memoryOf(n.task); m != nil {
		m.unref(after)
	}
	n.task = k
}

// drop ends a graph.
//
// Preconditions: graphMu is held.
func (g *Graph) drop(after *cleanup) {
	if g.dead {
		return
	}
	g.dead = true
	g.state.graphs.Delete(handleValue(g.handle))
	for _, n := range g.nodes {
		n.drop(after)
	}
	for o, count := range g.objects {
		o.release(count, after)
	}
	for _, c := range g.conditions {
		c.unref(after)
	}
	g.nodes, g.objects, g.conditions = nil, nil, nil
}

// cleanup is what has to happen once graphMu is released: destructors of the program, and waiting.
type cleanup struct{ todo []func() }

func (c *cleanup) do() {
	for _, f := range c.todo {
		f()
	}
}

// locked runs f under graphMu and then what f left to do.
func (s *state) locked(f func(after *cleanup) error) error {
	var after cleanup
	s.graphMu.Lock()
	err := func() error {
		defer s.graphMu.Unlock()
		return f(&after)
	}()
	after.do()
	return err
}

// GraphCreate makes an empty graph.
func (t *Thread) GraphCreate(flags uint32) (cu.CUgraph, error) {
	s, err := t.enter()
	if err != nil {
		return 0, err
	}
	if flags != 0 {
		return 0, errInvalidValue
	}
	g, err := s.newGraph()
	if err != nil {
		return 0, err
	}
	return g.handle, nil
}

// GraphDestroy ends a graph and its nodes. Executables made from it live on.
func (t *Thread) GraphDestroy(h cu.CUgraph) error {
	g, err := t.graph(h)
	if err != nil {
		return err
	}
	return g.state.locked(func(after *cleanup) error {
		if g.dead || g.owner != nil || g.capturing() {
			return errInvalidValue
		}
		g.drop(after)
		return nil
	})
}

// capturing reports whether a capture is filling the graph.
//
// Preconditions: graphMu is held.
func (g *Graph) capturing() bool {
	return slices.ContainsFunc(g.state.captures, func(c *capture) bool { return c.graph == g })
}

// GraphDestroyNode takes a node out. A node that allocates or frees memory cannot be taken out.
func (t *Thread) GraphDestroyNode(h cu.CUgraphNode) error {
	n, err := t.node(h)
	if err != nil {
		return err
	}
	g := n.graph
	return g.state.locked(func(after *cleanup) error {
		if g.dead || g.capturing() {
			return errInvalidValue
		}
		if slices.ContainsFunc(g.nodes, func(n *GraphNode) bool { return memoryOf(n.task) != nil }) {
			return errNotSupported // nodes and edges stay beside allocations
		}
		i := slices.Index(g.nodes, n)
		if i < 0 {
			return errInvalidValue
		}
		g.nodes = slices.Delete(g.nodes, i, i+1)
		for _, d := range n.deps {
			d.from.outs = slices.DeleteFunc(d.from.outs, func(o *GraphNode) bool { return o == n })
		}
		for _, o := range n.outs {
			o.deps = slices.DeleteFunc(o.deps, func(e edge) bool { return e.from == n })
		}
		n.drop(after)
		return nil
	})
}

// copyOf clones a graph, its child graphs and its references to user objects.
//
// Preconditions: graphMu is held.
func (g *Graph) copyOf() (*Graph, error) {
	if g.conditional() {
		return nil, errNotSupported // a condition belongs to one graph
	}
	c, err := g.state.newGraph()
	if err != nil {
		return nil, err
	}
	c.nextID = g.nextID
	twin := make(map[*GraphNode]*GraphNode, len(g.nodes))
	for _, n := range g.nodes {
		k := n.task
		if child, ok := k.(*childTask); ok {
			inner, err := child.graph.copyOf()
			if err != nil {
				return nil, err
			}
			k = &childTask{inner}
		}
		m, err := c.add(k, nil)
		if err != nil {
			return nil, err
		}
		m.id, m.origin = n.id, n
		twin[n] = m
	}
	c.nextID = g.nextID
	for _, n := range g.nodes {
		for _, d := range n.deps {
			link(twin[d.from], twin[n], d.data)
		}
	}
	for o, count := range g.objects {
		o.refs += uint64(count)
		c.hold(o, count)
	}
	return c, nil
}

// link adds an edge.
func link(from, to *GraphNode, data cu.CUgraphEdgeData) {
	to.deps = append(to.deps, edge{from, data})
	from.outs = append(from.outs, to)
}

// GraphClone copies a graph.
func (t *Thread) GraphClone(h cu.CUgraph) (clone cu.CUgraph, err error) {
	g, err := t.graph(h)
	if err != nil {
		return 0, err
	}
	err = g.state.locked(func(*cleanup) error {
		if g.dead {
			return errInvalidValue
		}
		if slices.ContainsFunc(g.nodes, func(n *GraphNode) bool { return memoryOf(n.task) != nil }) {
			return errNotSupported // memory belongs to one graph
		}
		c, err := g.copyOf()
		if err != nil {
			return err
		}
		clone = c.handle
		return nil
	})
	return clone, err
}

// GraphNodeFindInClone is the node of a clone that stands for one of the original.
func (t *Thread) GraphNodeFindInClone(h cu.CUgraphNode, clone cu.CUgraph) (found cu.CUgraphNode, err error) {
	n, err := t.node(h)
	if err != nil {
		return 0, err
	}
	g, err := t.graph(clone)
	if err != nil {
		return 0, err
	}
	err = g.state.locked(func(*cleanup) error {
		for _, m := range g.nodes {
			if m.origin == n {
				found = m.handle
				return nil
			}
		}
		return errInvalidValue
	})
	return found, err
}

// GraphNodeGetType is what a node does.
func (t *Thread) GraphNodeGetType(h cu.CUgraphNode) (kind cu.CUgraphNodeType, err error) {
	n, err := t.node(h)
	if err != nil {
		return 0, err
	}
	err = n.graph.state.locked(func(*cleanup) error {
		if n.task == nil {
			return errInvalidValue
		}
		kind = n.task.kind()
		return nil
	})
	return kind, err
}

// GraphNodeGetContainingGraph is the graph a node is in.
func (t *Thread) GraphNodeGetContainingGraph(h cu.CUgraphNode) (cu.CUgraph, error) {
	n, err := t.node(h)
	if err != nil {
		return 0, err
	}
	return n.graph.handle, nil
}

// GraphNodeGetLocalId is a node's number in its graph.
func (t *Thread) GraphNodeGetLocalId(h cu.CUgraphNode) (uint32, error) {
	n, err := t.node(h)
	if err != nil {
		return 0, err
	}
	return n.id, nil
}

// GraphNodeGetToolsId is a node's number in the process.
func (t *Thread) GraphNodeGetToolsId(h cu.CUgraphNode) (uint64, error) {
	n, err := t.node(h)
	if err != nil {
		return 0, err
	}
	return uint64(n.graph.id)<<32 | uint64(n.id), nil
}

// GraphGetId is a graph's number in the process.
func (t *Thread) GraphGetId(h cu.CUgraph) (uint32, error) {
	g, err := t.graph(h)
	if err != nil {
		return 0, err
	}
	return g.id, nil
}

// putNodes answers a list as CUDA does: without a buffer the number; with one as many as fit, and the rest of it null.
func putNodes(list []*GraphNode, out, num hostmem.Ptr) error {
	if num == hostmem.Nil {
		return errInvalidValue
	}
	if out == hostmem.Nil {
		hostmem.Store(num, uint64(len(list)))
		return nil
	}
	room := hostmem.Load[uint64](num)
	for i := uint64(0); i < room && i < maxNodeList; i++ {
		var h cu.CUgraphNode
		if i < uint64(len(list)) {
			h = list[i].handle
		}
		hostmem.Store(out.Index(int(i), 8), h)
	}
	hostmem.Store(num, min(room, uint64(len(list))))
	return nil
}

// maxNodeList bounds lists of nodes that programs pass.
const maxNodeList = 1 << 24

// GraphGetNodes lists a graph's nodes.
func (t *Thread) GraphGetNodes(h cu.CUgraph, out, num hostmem.Ptr) error {
	g, err := t.graph(h)
	if err != nil {
		return err
	}
	var list []*GraphNode
	_ = g.state.locked(func(*cleanup) error {
		list = slices.Clone(g.nodes)
		return nil
	})
	return putNodes(list, out, num)
}

// GraphGetRootNodes lists the nodes that depend on none.
func (t *Thread) GraphGetRootNodes(h cu.CUgraph, out, num hostmem.Ptr) error {
	g, err := t.graph(h)
	if err != nil {
		return err
	}
	var list []*GraphNode
	_ = g.state.locked(func(*cleanup) error {
		for _, n := range g.nodes {
			if len(n.deps) == 0 {
				list = append(list, n)
			}
		}
		return nil
	})
	return putNodes(list, out, num)
}
