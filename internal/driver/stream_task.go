package driver

import (
	"kudzu/internal/backend"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// task is one piece of work, checked and resolved, that a stream puts into its queue at once and a graph keeps. A task
// does not change: new parameters make a new task.
type task interface {
	kind() cu.CUgraphNodeType
	// run puts the task into q, after what q has.
	run(q backend.Queue) error
}

// kernelTask is a launch. Its parameters are its own.
type kernelTask struct {
	f      *Function
	func_  cu.CUfunction // as the program named it: a function or a kernel
	launch backend.Launch
	attrs  map[cu.CUlaunchAttributeID]cu.CUlaunchAttributeValue
}

func (k *kernelTask) kind() cu.CUgraphNodeType { return cu.CU_GRAPH_NODE_TYPE_KERNEL }

func (k *kernelTask) run(q backend.Queue) error {
	if s := k.f.mod.ctx.state; s.functions.Get(handleValue(k.f.handle)) != k.f && s.inGraphs(k.f.handle) != k.f {
		return errInvalidHandle // its module was unloaded
	}
	touched()
	return q.Launch(k.f.kernel, &k.launch)
}

// copyTask is a copy of a box; a box of one row is a plain copy.
type copyTask struct {
	params   cu.CUDA_MEMCPY3D
	ctx      *Context
	dst, src volume
	blocks   *Array // what is copied to, if its blocks are to be decoded
}

func (c *copyTask) kind() cu.CUgraphNodeType { return cu.CU_GRAPH_NODE_TYPE_MEMCPY }

func (c *copyTask) run(q backend.Queue) error {
	if err := c.copy(q); err != nil || c.blocks == nil {
		return err
	}
	p := c.params
	return q.Host(func() { c.blocks.decode(&p) })
}

func (c *copyTask) copy(q backend.Queue) error {
	p := &c.params
	if p.Height == 1 && p.Depth == 1 {
		return q.Copy(backend.Addr(c.dst.addr), backend.Addr(c.src.addr), p.WidthInBytes)
	}
	for z := uint64(0); z < p.Depth; z++ {
		if err := q.Copy2D(backend.Addr(c.dst.addr+z*c.dst.slice), c.dst.pitch, backend.Addr(c.src.addr+z*c.src.slice), c.src.pitch, p.WidthInBytes, p.Height); err != nil {
			return err
		}
	}
	return nil
}

// flatCopy is the task of a one-dimensional copy.
func flatCopy(c *Context, d, f place, n uint64) *copyTask {
	t := &copyTask{ctx: c, params: cu.CUDA_MEMCPY3D{WidthInBytes: n, Height: 1, Depth: 1}}
	p := &t.params
	p.DstMemoryType, p.DstHost, p.DstDevice = c.state.sideOf(d)
	p.SrcMemoryType, p.SrcHost, p.SrcDevice = c.state.sideOf(f)
	t.dst, t.src = volume{rows: rows{d, n}, slice: n}, volume{rows: rows{f, n}, slice: n}
	return t
}

// sideOf says what a plain address is in a description of a copy.
func (s *state) sideOf(p place) (cu.CUmemorytype, uint64, DevPtr) {
	if a := s.allocs.find(p.addr); p.pageable || a == nil || a.host() {
		return cu.CU_MEMORYTYPE_HOST, p.addr, 0
	}
	return cu.CU_MEMORYTYPE_DEVICE, 0, DevPtr(p.addr)
}

// setTask is a memset.
type setTask struct {
	params cu.CUDA_MEMSET_NODE_PARAMS
	ctx    *Context
}

func (s *setTask) kind() cu.CUgraphNodeType { return cu.CU_GRAPH_NODE_TYPE_MEMSET }

func (s *setTask) run(q backend.Queue) error {
	p := &s.params
	return q.Fill(backend.Addr(p.Dst), p.Value, int(p.ElementSize), p.Width, p.Pitch, p.Height)
}

// hostTask calls a function of the program.
type hostTask struct {
	params     cu.CUDA_HOST_NODE_PARAMS
	call       func()
	rendezvous bool                        // it waits for tasks of other streams: see GraphExec.assign
	begin      func() (run, cancel func()) // gives what to call each time that it is put into a queue, in place of call; nil: it is call
}

func newHostTask(s *state, fn cu.CUhostFn, user uint64) (*hostTask, error) {
	if fn == 0 {
		return nil, errInvalidValue
	}
	call := s.callBack
	if call == nil {
		return nil, errNotSupported
	}
	return &hostTask{params: cu.CUDA_HOST_NODE_PARAMS{Fn: fn, UserData: user}, call: func() { call(uint64(fn), user, 0, 0, 0) }}, nil
}

func (h *hostTask) kind() cu.CUgraphNodeType { return cu.CU_GRAPH_NODE_TYPE_HOST }

func (h *hostTask) run(q backend.Queue) error {
	// A function of the program is not called on the program's own thread: it may hold a lock there that the function takes.
	put := q.Host
	if inline, ok := q.(backend.InlineHost); ok && h.rendezvous {
		put = inline.HostInline
	}
	if h.begin == nil {
		return put(tracedHost(q, h.call))
	}
	run, cancel := h.begin()
	err := put(tracedHost(q, run))
	if err != nil {
		cancel()
	}
	return err
}

// emptyTask orders other nodes.
type emptyTask struct{}

func (emptyTask) kind() cu.CUgraphNodeType { return cu.CU_GRAPH_NODE_TYPE_EMPTY }
func (emptyTask) run(backend.Queue) error  { return nil }

// childTask is a whole graph. It is cut up when the graph around it is instantiated.
type childTask struct{ graph *Graph }

func (*childTask) kind() cu.CUgraphNodeType { return cu.CU_GRAPH_NODE_TYPE_GRAPH }
func (*childTask) run(backend.Queue) error  { panic("BUG: a child graph in a queue") }

// recordTask records an event at each launch.
type recordTask struct{ e *Event }

func (*recordTask) kind() cu.CUgraphNodeType { return cu.CU_GRAPH_NODE_TYPE_EVENT_RECORD }

func (r *recordTask) run(q backend.Queue) error {
	f, err := q.Mark()
	if err == nil {
		r.e.moveTo(f, nil)
	}
	return err
}

// waitTask waits for the event's last record at the time of each launch.
type waitTask struct{ e *Event }

func (*waitTask) kind() cu.CUgraphNodeType { return cu.CU_GRAPH_NODE_TYPE_WAIT_EVENT }

func (w *waitTask) run(q backend.Queue) error {
	f := w.e.last()
	if f == nil {
		return nil
	}
	if done, err := f.Done(); err == nil && done {
		return nil
	}
	return q.Wait(f)
}

// submit puts a task into a stream, or into the graph that the stream is captured into.
func (t *Thread) submit(st *Stream, k task) error {
	if c := st.capture.Load(); c != nil {
		_, err := t.record(st, c, k)
		return err
	}
	return st.ctx.fail(st.enqueue(k.run))
}

// copyBox checks a copy of a box. With a nil box and nil error there is nothing to copy.
func (s *state) copyBox(c *Context, p *cu.CUDA_MEMCPY3D) (*copyTask, error) {
	if p.WidthInBytes == 0 || p.Height == 0 || p.Depth == 0 {
		return nil, nil
	}
	d, err := s.volume(p.DstMemoryType, p.DstArray, p.DstHost, uint64(p.DstDevice), p.DstXInBytes, p.DstY, p.DstZ, p.DstPitch, p.DstHeight, p)
	if err != nil {
		return nil, err
	}
	f, err := s.volume(p.SrcMemoryType, p.SrcArray, p.SrcHost, uint64(p.SrcDevice), p.SrcXInBytes, p.SrcY, p.SrcZ, p.SrcPitch, p.SrcHeight, p)
	if err != nil {
		return nil, err
	}
	k := &copyTask{params: *p, ctx: c, dst: d, src: f}
	if p.DstMemoryType == cu.CU_MEMORYTYPE_ARRAY {
		if a := s.arrays.Get(handleValue(p.DstArray)); a != nil && a.blocks != nil {
			k.blocks = a
		}
	}
	return k, nil
}

// newSet checks a memset of height rows of width elements.
func (s *state) newSet(c *Context, p cu.CUDA_MEMSET_NODE_PARAMS) (*setTask, *alloc, error) {
	size := uint64(p.ElementSize)
	if size != 1 && size != 2 && size != 4 || p.Width > ^uint64(0)/size || uint64(p.Dst)%size != 0 {
		return nil, nil, errInvalidValue
	}
	span := p.Width * size
	if p.Height > 1 {
		if p.Pitch < span || p.Pitch%size != 0 || p.Height-1 > (^uint64(0)-span)/p.Pitch {
			return nil, nil, errInvalidValue
		}
		span += (p.Height - 1) * p.Pitch
	}
	a := s.allocs.find(uint64(p.Dst))
	if a == nil || !s.allocs.holds(a, uint64(p.Dst), span) {
		return nil, nil, errInvalidValue
	}
	return &setTask{p, c}, a, nil
}

// newKernelTask checks a launch and takes its parameters.
func (t *Thread) newKernelTask(sc *scratch, f *Function, named cu.CUfunction, params, extra hostmem.Ptr) (*kernelTask, error) {
	if err := f.admits(&sc.launch); err != nil {
		return nil, err
	}
	if err := sc.pack(f.decl, params, extra); err != nil {
		return nil, err
	}
	if err := f.prepare(sc.launch.Block); err != nil {
		return nil, err
	}
	k := &kernelTask{f: f, func_: named, launch: sc.launch}
	k.launch.Params = append([]byte(nil), sc.launch.Params...)
	return k, nil
}
