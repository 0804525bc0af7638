package driver

import (
	"errors"
	"slices"

	"kudzu/internal/backend"
	"kudzu/internal/hostmem"
	"kudzu/internal/lockrank"
	"kudzu/internal/spec/cu"
)

// GraphExec is a graph made ready to launch: its tasks in an order that respects all edges, cut into lanes. A lane is a
// queue; the first lane is the stream the graph is launched in, so a graph without branches costs nothing but its tasks.
type GraphExec struct {
	state  *state
	handle cu.CUgraphExec
	id     uint32
	flags  uint64

	mu      lockrank.Mutex[lockrank.DriverExec] // held while a launch is put in
	steps   []step                              // guarded by mu
	where   map[*GraphNode]int
	lanes   int
	queues  []backend.Queue        // guarded by mu: of the lanes but the first, of ctx
	fences  []backend.Fence        // guarded by mu: scratch of a launch
	ctx     *Context               // guarded by mu: of the last launch
	last    *Stream                // guarded by mu: of the last launch; launches of one executable do not overlap
	objects map[*UserObject]uint32 // guarded by mu and graphMu
	running backend.Fence          // guarded by mu: behind the last launch that needed them
	conds   []*condRun             // conditional nodes
	words   []*condRun             // they and those inside them
	cells   []*condition           // what they look at
	memory  bool                   // has memory nodes
	dead    bool
}

// step is one node of a ready graph.
type step struct {
	node  *GraphNode
	task  task
	on    bool // cuGraphNodeSetEnabled
	lane  int
	waits []int // steps of other lanes that must be done
	mark  bool  // others wait for this one
	deps  []int // all edges, for updates
}

// maxLanes bounds how many queues a graph uses. More branches share lanes, which orders more than was asked for: not where tasks of a
// graph wait for each other (hostTask.rendezvous).
const maxLanes = 8

func (t *Thread) exec(h cu.CUgraphExec) (*GraphExec, error) {
	s, err := t.enter()
	if err != nil {
		return nil, err
	}
	if x := s.execs.Get(handleValue(h)); x != nil {
		return x, nil
	}
	return nil, errInvalidValue
}

// sorted lists a graph's nodes so that each comes after what it depends on; false if they go in a circle.
//
// Preconditions: graphMu is held.
func (g *Graph) sorted() ([]*GraphNode, bool) {
	missing := make(map[*GraphNode]int, len(g.nodes))
	order := make([]*GraphNode, 0, len(g.nodes))
	for _, n := range g.nodes {
		if missing[n] = len(n.deps); len(n.deps) == 0 {
			order = append(order, n)
		}
	}
	for i := 0; i < len(order); i++ {
		for _, o := range order[i].outs {
			if missing[o]--; missing[o] == 0 {
				order = append(order, o)
			}
		}
	}
	return order, len(order) == len(g.nodes)
}

// flatten appends a graph's steps; its roots depend on before. What comes after it depends on what is returned.
//
// Preconditions: graphMu is held.
func (x *GraphExec) flatten(g *Graph, before []int) (ends []int, bad *GraphNode) {
	order, ok := g.sorted()
	if !ok {
		return nil, g.nodes[0]
	}
	for _, n := range order {
		var deps []int
		for _, d := range n.deps {
			deps = append(deps, x.where[d.from])
		}
		if len(n.deps) == 0 {
			deps = slices.Clone(before)
		}
		k := n.task
		if c, ok := k.(*childTask); ok {
			// The child's steps come first; the node itself is where they meet.
			inner, bad := x.flatten(c.graph, deps)
			if bad != nil {
				return nil, bad
			}
			if len(inner) > 0 {
				deps = inner
			}
		}
		if c, ok := k.(*condTask); ok {
			run, bad := c.ready(x)
			if bad != nil {
				return nil, bad
			}
			x.conds = append(x.conds, run)
			k = run
		}
		x.where[n] = len(x.steps)
		x.memory = x.memory || memoryOf(k) != nil
		x.steps = append(x.steps, step{node: n, task: k, on: true, deps: deps})
		if len(n.outs) == 0 {
			ends = append(ends, x.where[n])
		}
	}
	return ends, nil
}

// assign gives each step a lane and finds which steps must wait for another lane. A lane goes on with a step that comes after its last one
// anyway; a step that no lane can go on with begins a new one.
func (x *GraphExec) assign() {
	most := maxLanes
	if slices.ContainsFunc(x.steps, func(s step) bool { h, ok := s.task.(*hostTask); return ok && h.rendezvous }) {
		most = len(x.steps) // what shares a lane without need may wait for what is behind it
	}
	var tail []int                      // of each lane, its last step
	past := make([][]int, len(x.steps)) // of each step, by lane: the newest step that is done before it, plus 1
	for i := range x.steps {
		s := &x.steps[i]
		before := make([]int, len(tail), len(tail)+1)
		for _, d := range s.deps {
			for l, k := range past[d] {
				before[l] = max(before[l], k)
			}
		}
		s.lane = x.lane(s, tail, before)
		switch {
		case s.lane < len(tail):
		case s.lane < most:
			tail, before = append(tail, 0), append(before, 0)
		default:
			s.lane = i % most
		}
		newest := map[int]int{} // of each other lane the newest step: the ones before it are done with it
		for _, d := range s.deps {
			if l := x.steps[d].lane; l != s.lane {
				newest[l] = max(d, newest[l])
			}
		}
		for _, d := range newest {
			s.waits = append(s.waits, d)
			x.steps[d].mark = true
		}
		before[s.lane], tail[s.lane], past[i] = i+1, i, before
	}
	x.lanes = max(1, len(tail))
	x.fences = make([]backend.Fence, len(x.steps))
}

// lane is one that a step can go on with: of a step that it depends on, else of any whose last step is done before it; len(tail): none.
func (x *GraphExec) lane(s *step, tail, before []int) int {
	for _, d := range s.deps {
		if l := x.steps[d].lane; tail[l] == d {
			return l
		}
	}
	for l, k := range tail {
		if before[l] == k+1 {
			return l
		}
	}
	return len(tail)
}

const instantiateFlags = uint64(cu.CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | cu.CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
	cu.CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH | cu.CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY)

// instantiate makes a graph ready. On failure it tells which node was the trouble, and why.
func (t *Thread) instantiate(h cu.CUgraph, flags uint64) (x *GraphExec, bad *GraphNode, why cu.CUgraphInstantiateResult, err error) {
	why = cu.CUDA_GRAPH_INSTANTIATE_ERROR
	g, err := t.graph(h)
	if err != nil {
		return nil, nil, why, err
	}
	switch {
	case flags&^instantiateFlags != 0:
		return nil, nil, why, errInvalidValue
	case flags&uint64(cu.CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0:
		return nil, nil, why, errNotSupported // kernels cannot launch graphs yet
	}
	x = &GraphExec{state: g.state, flags: flags, where: map[*GraphNode]int{}, id: g.state.graphN.Add(1)}
	err = g.state.locked(func(*cleanup) error {
		if g.dead || g.capturing() {
			return errInvalidValue
		}
		if _, bad = x.flatten(g, nil); bad != nil {
			why = cu.CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE
			return errInvalidValue
		}
		for i := range x.steps { // memory is at one place: two executables could not both have it
			if k, ok := x.steps[i].task.(*allocTask); ok && k.mem.exec {
				return errNotSupported
			}
		}
		if err := x.prepare(); err != nil {
			return err
		}
		x.assign()
		hx := g.state.execs.New(x)
		if hx == 0 {
			return errOutOfMemory
		}
		x.handle = cu.CUgraphExec(hx)
		x.keep(g)
		return nil
	})
	if err != nil {
		return nil, bad, why, err
	}
	return x, nil, cu.CUDA_GRAPH_INSTANTIATE_SUCCESS, nil
}

// keep counts what the executable needs to live: memory, and the objects that the graph holds.
//
// Preconditions: graphMu is held.
func (x *GraphExec) keep(g *Graph) {
	for i := range x.steps {
		if m := memoryOf(x.steps[i].task); m != nil {
			m.refs++
			m.exec = true
		}
	}
	for _, c := range x.cells {
		c.refs++
	}
	x.objects = map[*UserObject]uint32{}
	x.hold(g)
}

// GraphInstantiateWithFlags makes a graph ready to launch.
func (t *Thread) GraphInstantiateWithFlags(h cu.CUgraph, flags uint64) (cu.CUgraphExec, error) {
	x, _, _, err := t.instantiate(h, flags)
	if err != nil {
		return 0, err
	}
	return x.handle, nil
}

// GraphInstantiate is the old form: the log gets a line on failure.
func (t *Thread) GraphInstantiate(h cu.CUgraph, log hostmem.Ptr, size uint64) (cu.CUgraphExec, cu.CUgraphNode, error) {
	if log != hostmem.Nil && size > 0 {
		hostmem.PutString(log, int(min(size, 1<<20)), "")
	}
	x, bad, _, err := t.instantiate(h, 0)
	if err != nil {
		if bad != nil && log != hostmem.Nil && size > 0 {
			hostmem.PutString(log, int(min(size, 1<<20)), "the graph's edges form a cycle")
		}
		return 0, 0, err
	}
	return x.handle, 0, nil
}

// GraphInstantiateWithParams answers in the parameters what went wrong.
func (t *Thread) GraphInstantiateWithParams(h cu.CUgraph, params hostmem.Ptr) (cu.CUgraphExec, error) {
	if params == hostmem.Nil {
		return 0, errInvalidValue
	}
	p := hostmem.Load[cu.CUDA_GRAPH_INSTANTIATE_PARAMS](params)
	x, bad, why, err := t.instantiate(h, uint64(p.Flags))
	p.HErrNode_out, p.Result_out = 0, why
	if bad != nil {
		p.HErrNode_out = bad.handle
	}
	hostmem.Store(params, p)
	if err != nil {
		return 0, err
	}
	return x.handle, nil
}

// GraphExecGetFlags is the flags an executable was made with.
func (t *Thread) GraphExecGetFlags(h cu.CUgraphExec) (uint64, error) {
	x, err := t.exec(h)
	if err != nil {
		return 0, err
	}
	return x.flags, nil
}

// GraphExecGetId is an executable's number in the process.
func (t *Thread) GraphExecGetId(h cu.CUgraphExec) (uint32, error) {
	x, err := t.exec(h)
	if err != nil {
		return 0, err
	}
	return x.id, nil
}

// GraphExecDestroy gives an executable back. A launch under way goes on.
func (t *Thread) GraphExecDestroy(h cu.CUgraphExec) error {
	x, err := t.exec(h)
	if err != nil {
		return err
	}
	if x.state.execs.Delete(handleValue(h)) == nil {
		return errInvalidValue
	}
	x.mu.Lock()
	x.dead = true
	c, queues, fence := x.ctx, x.queues, x.running
	x.queues, x.running = nil, nil
	x.mu.Unlock()
	if c != nil {
		c.giveLanes(queues)
	}
	return x.state.locked(func(after *cleanup) error {
		for i := range x.steps {
			if m := memoryOf(x.steps[i].task); m != nil {
				m.exec = false
				m.unref(after)
			}
		}
		x.state.letGo(x.objects, fence, after)
		x.forgetConditions(after)
		return nil
	})
}

// takeLanes gives n queues of the context, old ones first.
func (c *Context) takeLanes(n int) ([]backend.Queue, error) {
	c.mu.Lock()
	k := min(n, len(c.lanes))
	list := slices.Clone(c.lanes[len(c.lanes)-k:])
	c.lanes = c.lanes[:len(c.lanes)-k]
	c.mu.Unlock()
	for len(list) < n {
		q, err := c.newQueue(leastPriority)
		if err != nil {
			c.giveLanes(list)
			return nil, c.fail(err)
		}
		c.mu.Lock()
		c.laneQueues = append(c.laneQueues, q)
		number := len(c.laneQueues)
		c.mu.Unlock()
		c.traceLane(q, number)
		list = append(list, q)
	}
	return list, nil
}

// giveLanes takes queues back for other executables. They may have work.
func (c *Context) giveLanes(list []backend.Queue) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lanes = append(c.lanes, list...)
}

// launch puts all steps in, in order.
//
// Preconditions: x.mu is held, st.begin was called.
func (x *GraphExec) launch(st *Stream) error {
	if err := x.assignCells(st.q); err != nil {
		return err
	}
	if x.lanes == 1 {
		for i := range x.steps {
			if s := &x.steps[i]; s.on {
				if _, ok := s.task.(*childTask); ok {
					continue
				}
				if err := s.task.run(st.q); err != nil {
					return err
				}
			}
		}
		return nil
	}
	start, err := st.q.Mark()
	if err != nil {
		return err
	}
	lanes := x.queues[:x.lanes-1]
	for _, q := range lanes {
		if err := q.Wait(start); err != nil {
			return err
		}
	}
	for i := range x.steps {
		if err := x.put(i, st); err != nil {
			return err
		}
	}
	clear(x.fences)
	for _, q := range lanes {
		f, err := q.Mark()
		if err == nil {
			err = st.q.Wait(f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// put puts one step of a graph with branches in.
func (x *GraphExec) put(i int, st *Stream) error {
	s := &x.steps[i]
	q := st.q
	if s.lane > 0 {
		q = x.queues[s.lane-1]
	}
	for _, w := range s.waits {
		if err := q.Wait(x.fences[w]); err != nil {
			return err
		}
	}
	if _, child := s.task.(*childTask); s.on && !child {
		if err := s.task.run(q); err != nil {
			return err
		}
	}
	if s.mark {
		f, err := q.Mark()
		if err != nil {
			return err
		}
		x.fences[i] = f
	}
	return nil
}

// GraphLaunch runs a ready graph in a stream. A captured stream cannot take it, as the real driver has it.
func (t *Thread) GraphLaunch(h cu.CUgraphExec, stream cu.CUstream) error {
	x, err := t.exec(h)
	if err != nil {
		return err
	}
	st, err := t.stream(stream)
	if err != nil {
		return err
	}
	if err := t.notCaptured(st); err != nil {
		return err
	}
	if err := t.launchExec(x, st); err != nil {
		return err
	}
	if launchBlocking() {
		return st.wait()
	}
	return nil
}

func (t *Thread) launchExec(x *GraphExec, st *Stream) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.dead {
		return errInvalidValue
	}
	for i := range x.steps {
		if k, ok := x.steps[i].task.(*kernelTask); ok {
			if err := t.bindRefs(k.f.mod); err != nil {
				return err
			}
		}
	}
	if err := x.ready(st); err != nil {
		return err
	}
	err := st.enqueue(func(q backend.Queue) (err error) {
		if x.last != nil && x.last != st {
			err = after(q, x.last.q)
		}
		if err == nil {
			err = x.launch(st)
		}
		if err == nil && len(x.objects) > 0 {
			drop(x.running)
			x.running, err = q.Mark()
		}
		return err
	})
	x.last = st
	if err != nil {
		return st.ctx.fail(err)
	}
	return nil
}

// after makes q wait for what other has; a queue that is closed has nothing.
func after(q, other backend.Queue) error {
	if done, err := other.Done(); err == nil && done { // a fence would make an idle queue look busy
		return nil
	}
	f, err := other.Mark()
	if err == nil {
		err = q.Wait(f)
	}
	if errors.Is(err, backend.ErrClosed) {
		return nil
	}
	return err
}

// ready has the lanes of the stream's context, and memory that may be allocated.
//
// Preconditions: x.mu is held.
func (x *GraphExec) ready(st *Stream) error {
	if need := x.lanes - 1 + len(x.conds); x.ctx != st.ctx || len(x.queues) != need {
		if x.ctx != nil {
			x.ctx.giveLanes(x.queues)
		}
		var err error
		if x.queues, err = st.ctx.takeLanes(need); err != nil {
			return err
		}
		x.ctx = st.ctx
		for i, k := range x.conds {
			k.q = x.queues[x.lanes-1+i]
		}
	}
	if !x.memory {
		return nil
	}
	return x.state.locked(func(*cleanup) error { return x.takeMemory(st) })
}

// takeMemory does what the memory nodes do to the books. Memory that is still allocated from the last launch is an
// error, unless the executable was made to free it.
//
// Preconditions: graphMu is held.
func (x *GraphExec) takeMemory(st *Stream) error {
	free := x.flags&uint64(cu.CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) != 0
	for i := range x.steps {
		if k, ok := x.steps[i].task.(*allocTask); ok && k.mem.live.Load() && !free {
			return errInvalidValue
		}
	}
	for i := range x.steps {
		if k, ok := x.steps[i].task.(*allocTask); ok && k.mem.live.Load() {
			k.mem.set(nil)
		}
	}
	st.ctx.dev.graphMem.launch(st, x.footprint())
	for i := range x.steps {
		switch k := x.steps[i].task.(type) {
		case *allocTask:
			k.mem.set(st)
		case *freeTask:
			k.mem.set(nil)
		}
	}
	return nil
}

// footprint is the most memory that a launch has at once.
func (x *GraphExec) footprint() uint64 {
	now, most := int64(0), int64(0)
	for i := range x.steps {
		switch k := x.steps[i].task.(type) {
		case *allocTask:
			now += int64(k.mem.a.size+poolAlign-1) &^ (poolAlign - 1)
		case *freeTask: // may be of another graph's
			now -= int64(k.mem.a.size+poolAlign-1) &^ (poolAlign - 1)
		}
		most = max(most, now)
	}
	return uint64(most)
}

// GraphUpload does ahead what the first launch would have to do.
func (t *Thread) GraphUpload(h cu.CUgraphExec, stream cu.CUstream) error {
	x, err := t.exec(h)
	if err != nil {
		return err
	}
	st, err := t.stream(stream)
	if err != nil {
		return err
	}
	if err := t.notCaptured(st); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for i := range x.steps {
		if k, ok := x.steps[i].task.(*kernelTask); ok {
			if err := k.f.prepare(k.launch.Block); err != nil {
				return err
			}
		}
	}
	if x.memory {
		st.ctx.dev.graphMem.launch(st, x.footprint())
	}
	return nil
}
