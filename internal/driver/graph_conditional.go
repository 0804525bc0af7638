package driver

import (
	"slices"

	"kudzu/internal/backend"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// condition is a value that kernels set and a conditional node looks at. Its handle is the address of a word of the
// device's memory, so that cudaGraphSetConditional(handle, value) in a kernel is a store of 32 bits.
type condition struct {
	a      *alloc
	start  uint32
	assign bool // the word is set to start at each launch
	// guarded by graphMu
	used bool // a node looks at it
	refs int  // the graph it was made for, and executables
}

// condTask is a conditional node. It is cut up when the graph around it is instantiated.
type condTask struct {
	params cu.CUDA_CONDITIONAL_NODE_PARAMS
	c      *condition
	bodies []*Graph
}

func (*condTask) kind() cu.CUgraphNodeType { return cu.CU_GRAPH_NODE_TYPE_CONDITIONAL }
func (*condTask) run(backend.Queue) error  { panic("BUG: a conditional node in a queue") }

// condRun is a conditional node of an executable: the bodies are lists of steps that one queue runs in their order.
type condRun struct {
	*condTask
	ctx    *Context
	steps  [][]step
	q      backend.Queue // of the bodies; the executable's to give and take
	word   uint64        // host memory that the value is read into
	mapped uint64
}

func (k *condRun) run(q backend.Queue) error { return q.Host(k.decide) }

// decide reads the value and runs the body it chooses, until there is nothing to run. The queue of the node waits meanwhile.
func (k *condRun) decide() {
	if err := k.decideIn(k.q); err != nil {
		_ = k.ctx.fail(err) // the context keeps it
	}
}

func (k *condRun) decideIn(q backend.Queue) error {
	for k.ctx.fault.Load() == 0 && k.ctx.alive.Load() {
		if err := q.Copy(backend.Addr(k.word), backend.Addr(k.c.a.base), 4); err != nil {
			return err
		}
		if err := q.Sync(); err != nil {
			return err
		}
		i := k.choose(hostmem.Load[uint32](hostmem.Ptr(k.word)))
		if i < 0 {
			return nil
		}
		if err := runSteps(q, k.steps[i]); err != nil {
			return err
		}
		if err := q.Sync(); err != nil || k.params.Type != cu.CU_GRAPH_COND_TYPE_WHILE {
			return err
		}
	}
	return nil
}

// choose is the body for a value, or -1.
func (k *condRun) choose(v uint32) int {
	switch {
	case k.params.Type == cu.CU_GRAPH_COND_TYPE_SWITCH && uint64(v) < uint64(len(k.steps)):
		return int(v)
	case k.params.Type == cu.CU_GRAPH_COND_TYPE_SWITCH:
		return -1
	case v != 0:
		return 0
	case len(k.steps) == 2:
		return 1
	}
	return -1
}

// runSteps puts the steps of a body into a queue; a condition among them is decided when the queue gets there.
func runSteps(q backend.Queue, steps []step) error {
	for i := range steps {
		var err error
		switch k := steps[i].task.(type) {
		case *childTask:
		case *condRun:
			if err = q.Sync(); err == nil {
				err = k.decideIn(q)
			}
		default:
			err = k.run(q)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// bodyKind reports a node that may stand in the body of a condition.
func bodyKind(k task) bool {
	switch k.kind() {
	case cu.CU_GRAPH_NODE_TYPE_KERNEL, cu.CU_GRAPH_NODE_TYPE_MEMCPY, cu.CU_GRAPH_NODE_TYPE_MEMSET, cu.CU_GRAPH_NODE_TYPE_EMPTY,
		cu.CU_GRAPH_NODE_TYPE_GRAPH, cu.CU_GRAPH_NODE_TYPE_CONDITIONAL:
		return true
	}
	return false
}

// ready makes what an executable runs of a conditional node.
//
// Preconditions: graphMu is held.
func (k *condTask) ready(x *GraphExec) (run *condRun, bad *GraphNode) {
	run = &condRun{condTask: k, ctx: k.c.a.ctx}
	x.cells = append(x.cells, k.c)
	for _, g := range k.bodies {
		inner := &GraphExec{state: x.state, where: map[*GraphNode]int{}}
		if _, bad := inner.flatten(g, nil); bad != nil {
			return nil, bad
		}
		for i := range inner.steps {
			if !bodyKind(inner.steps[i].task) {
				return nil, inner.steps[i].node
			}
		}
		x.cells = append(x.cells, inner.cells...)
		x.words = append(x.words, inner.words...)
		run.steps = append(run.steps, inner.steps)
	}
	x.words = append(x.words, run)
	return run, nil
}

// prepare gives the conditional nodes memory to read values into.
func (x *GraphExec) prepare() error {
	for _, k := range x.words {
		var err error
		if k.word, k.mapped, err = mapHost(4); err != nil {
			return err
		}
	}
	return nil
}

// assignCells sets the conditions that begin with a value.
func (x *GraphExec) assignCells(q backend.Queue) error {
	for _, c := range x.cells {
		if c.assign {
			if err := q.Fill(backend.Addr(c.a.base), c.start, 4, 1, 0, 1); err != nil {
				return err
			}
		}
	}
	return nil
}

// forgetConditions gives back what an executable held.
//
// Preconditions: graphMu is held.
func (x *GraphExec) forgetConditions(after *cleanup) {
	for _, c := range x.cells {
		c.unref(after)
	}
	words := x.words
	x.cells, x.words = nil, nil
	after.todo = append(after.todo, func() {
		for _, k := range words {
			if k.ctx.alive.Load() {
				_ = k.ctx.sync() // a launch may still be reading
			}
			unmapHost(k.word, k.mapped)
		}
	})
}

// Preconditions: graphMu is held.
func (c *condition) unref(after *cleanup) {
	if c.refs--; c.refs > 0 {
		return
	}
	after.todo = append(after.todo, func() {
		if c.a.ctx.alive.Load() {
			_ = c.a.ctx.sync()
		}
		if c.a.ctx.state.allocs.take(c.a) {
			c.a.release()
		}
	})
}

// root is the graph that a body or a child belongs to in the end.
//
// Preconditions: graphMu is held.
func (g *Graph) root() *Graph {
	for g.owner != nil {
		g = g.owner.graph
	}
	return g
}

// conditional reports whether the graph has a conditional node.
func (g *Graph) conditional() bool {
	return slices.ContainsFunc(g.nodes, func(n *GraphNode) bool {
		_, ok := n.task.(*condTask)
		return ok
	})
}

// GraphConditionalHandleCreate makes a condition for a node of the graph or of one inside it.
func (t *Thread) GraphConditionalHandleCreate(h cu.CUgraph, ctx cu.CUcontext, start, flags uint32) (cu.CUgraphConditionalHandle, error) {
	g, err := t.graph(h)
	if err != nil {
		return 0, err
	}
	if flags&^cu.CU_GRAPH_COND_ASSIGN_DEFAULT != 0 {
		return 0, errInvalidValue
	}
	if ctx == 0 {
		return 0, errInvalidContext
	}
	c, err := t.contextOf(ctx)
	if err != nil {
		return 0, err
	}
	addr, err := c.dev.allocMemory(4, 256)
	if err != nil {
		return 0, c.fail(err)
	}
	k := &condition{a: &alloc{base: uint64(addr), size: 4, kind: allocCell}, start: start, assign: flags != 0, refs: 1}
	if err := c.newAlloc(k.a); err != nil {
		return 0, err
	}
	q, err := c.newQueue(leastPriority)
	if err == nil { // a condition that nobody sets is false
		if err = q.Fill(addr, 0, 4, 1, 0, 1); err == nil {
			err = q.Sync()
		}
		_ = q.Close()
	}
	if err == nil {
		err = g.state.locked(func(*cleanup) error {
			if g.dead {
				return errInvalidValue
			}
			r := g.root()
			if r.conditions == nil {
				r.conditions = map[uint64]*condition{}
			}
			r.conditions[k.a.base] = k
			return nil
		})
	}
	if err != nil {
		if c.state.allocs.take(k.a) {
			k.a.release()
		}
		return 0, c.fail(err)
	}
	return cu.CUgraphConditionalHandle(k.a.base), nil
}

// addConditional adds a conditional node and shows its bodies, which the program fills.
func (t *Thread) addConditional(h cu.CUgraph, deps, data hostmem.Ptr, n uint64, p *cu.CUDA_CONDITIONAL_NODE_PARAMS) (node cu.CUgraphNode, err error) {
	g, err := t.graph(h)
	if err != nil {
		return 0, err
	}
	edges, err := t.readEdges(deps, data, n)
	if err != nil {
		return 0, err
	}
	size, ok := map[cu.CUgraphConditionalNodeType][2]uint32{
		cu.CU_GRAPH_COND_TYPE_IF: {1, 2}, cu.CU_GRAPH_COND_TYPE_WHILE: {1, 1}, cu.CU_GRAPH_COND_TYPE_SWITCH: {1, maxBodies}}[p.Type]
	if !ok || p.Size < size[0] || p.Size > size[1] || slices.ContainsFunc(edges, func(e edge) bool { return e.from.graph != g }) {
		return 0, errInvalidValue
	}
	shown, length, err := mapHost(8 * uint64(p.Size))
	if err != nil {
		return 0, err
	}
	err = g.state.locked(func(after *cleanup) error {
		c := g.root().conditions[uint64(p.Handle)]
		if g.dead || c == nil || c.used {
			return errInvalidValue
		}
		k := &condTask{params: *p, c: c}
		k.params.PhGraph_out = shown
		for range p.Size {
			b, err := g.state.newGraph()
			if err != nil {
				return err
			}
			hostmem.Store(hostmem.Ptr(shown).Index(len(k.bodies), 8), b.handle)
			k.bodies = append(k.bodies, b)
		}
		m, err := g.add(k, edges)
		if err != nil {
			return err
		}
		c.used = true
		m.shown, m.length = shown, length
		node, p.PhGraph_out = m.handle, shown
		return nil
	})
	if err != nil {
		unmapHost(shown, length)
	}
	return node, err
}

// maxBodies bounds the branches of one node.
const maxBodies = 1 << 12
