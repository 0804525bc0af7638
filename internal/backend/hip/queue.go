package hip

import (
	"errors"
	"fmt"
	"sync/atomic"

	"kudzu/internal/backend"
	"kudzu/internal/devrt"
	"kudzu/internal/dl"
	"kudzu/internal/lockrank"
	"kudzu/internal/spec/hip"
)

// queue is a hipStream_t.
type queue struct {
	dev    *device
	stream uintptr
	last   atomic.Pointer[string]  // kernel launched last, for fault messages
	recent atomic.Pointer[program] // whose kernel that was
	closed atomic.Bool
	gate   lockrank.RWMutex[lockrank.HIPStream] // held by calls that name the stream, and to close the queue
	over   chan struct{}                        // closed when the stream is no more
	speaks atomic.Bool                          // a kernel that names the mailbox was launched
	ended  atomic.Pointer[backend.Fault]        // by a kernel that said so

	mu        lockrank.Mutex[lockrank.HIPQueue]
	workspace backend.Addr          // of cooperative launches, made for the first; guarded by mu
	ran       map[*program]struct{} // whose kernels may be in the stream; guarded by mu
}

var (
	_ backend.Callbacks = (*queue)(nil)
	_ backend.Abroad    = (*queue)(nil)
)

// NewQueue makes a stream that does not wait for the legacy one: which streams wait for which is the driver's affair.
func (d *device) NewQueue(priority int) (backend.Queue, error) {
	q := &queue{dev: d, over: make(chan struct{})}
	err := d.do(func() (err error) {
		buf := dl.Alloc(16)
		defer buf.Free()
		least, greatest := 0, 0 // HIP counts as CUDA: the greatest priority is the smallest number
		if d.api.call(hip.HipDeviceGetStreamPriorityRange, buf.Addr(), buf.Addr()+8) == nil {
			least, greatest = int(int32(word(buf, 0))), int(int32(word(buf, 8)))
		}
		p := max(min(-priority, least), greatest)
		q.stream, err = d.api.getPtr(hip.HipStreamCreateWithPriority, hip.HipStreamNonBlocking, uintptr(uint32(int32(p))))
		return err
	})
	if err != nil {
		return nil, d.api.named(err)
	}
	d.queues.Store(q, true)
	return q, nil
}

// open keeps the stream from ending until the answer is called; nil once it has ended.
func (q *queue) open() func() {
	q.gate.RLock()
	if q.closed.Load() {
		q.gate.RUnlock()
		return nil
	}
	return q.gate.RUnlock
}

func (q *queue) call(f hip.Func, args ...uintptr) error {
	done := q.open()
	if done == nil {
		return backend.ErrClosed
	}
	defer done()
	if f := q.ended.Load(); f != nil {
		return f
	}
	return q.fault(q.dev.do(func() error { return q.dev.api.call(f, args...) }))
}

// runs notes that a kernel of the program is about to be put into the stream. Preconditions: the program's gate is held.
func (q *queue) runs(p *program) {
	if q.recent.Load() == p {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ran == nil {
		q.ran = map[*program]struct{}{}
	}
	q.ran[p] = struct{}{}
	q.recent.Store(p)
}

// forget waits until no kernel of the program is in the stream. Preconditions: none is put there any more.
func (q *queue) forget(p *program) {
	q.mu.Lock()
	_, ran := q.ran[p]
	delete(q.ran, p)
	q.recent.CompareAndSwap(p, nil)
	q.mu.Unlock()
	if !ran {
		return
	}
	if err := q.call(hip.HipStreamSynchronize, q.stream); errors.Is(err, backend.ErrClosed) { // a fault is told to who uses the queue
		<-q.over
	}
}

// fault turns a code that ends the device's use into what backends report.
func (q *queue) fault(err error) error {
	var r Result
	if errors.As(err, &r) {
		if k, ok := faults[r]; ok {
			f := &backend.Fault{Kind: k, Kernel: backend.CopyKernel, Detail: q.dev.api.named(err).Error()}
			if name := q.last.Load(); name != nil {
				f.Kernel = *name
			}
			return f
		}
	}
	return err
}

// maxItems bounds a dimension of a launch in threads: the dispatch packet has 32 bits for them, where CUDA counts blocks.
const maxItems = 1 << 32

// Launch loads the kernel if it is its first, and passes the parameter block as it is.
func (q *queue) Launch(k backend.Kernel, l *backend.Launch) error {
	kn, ok := k.(*kernel)
	if !ok {
		return fmt.Errorf("kernel %s: not of this backend", k.Name())
	}
	if l.Cluster[0] > 1 || l.Cluster[1] > 1 || l.Cluster[2] > 1 {
		return &backend.Unsupported{What: "a launch in clusters", Kernel: kn.decl.Name}
	}
	for i := range l.Grid {
		if uint64(l.Grid[i])*uint64(l.Block[i]) >= maxItems {
			return &backend.Unsupported{What: fmt.Sprintf("a grid of %d blocks of %d threads in one dimension", l.Grid[i], l.Block[i]), Kernel: kn.decl.Name}
		}
	}
	if err := kn.Prepare(l.Block); err != nil { // compiling takes long: not with the gate held
		return err
	}
	kn.p.gate.RLock() // the code stays until it is in the stream
	defer kn.p.gate.RUnlock()
	c, err := kn.ready()
	if err != nil {
		return err
	}
	if c.dev != q.dev {
		return fmt.Errorf("kernel %s: of another device", kn.decl.Name)
	}
	if len(l.Params) < c.params {
		return fmt.Errorf("kernel %s: %d bytes of parameters, it has %d", kn.decl.Name, len(l.Params), c.params)
	}
	q.last.Store(&kn.decl.Name)
	if c.meta.DynamicStack {
		if err := q.dev.do(q.dev.growStack); err != nil {
			return fmt.Errorf("kernel %s: stack: %w", kn.decl.Name, err)
		}
	}
	if c.speaks {
		q.speaks.Store(true)
	}
	q.runs(kn.p)
	return q.launch(c, l)
}

// waves is the block of a kernel that wants a wave for each warp (devrt.Block).
func (c *code) waves(l *backend.Launch) ([3]uint32, error) {
	threads := l.Block[0] * l.Block[1] * l.Block[2]
	lanes := (threads + 31) / 32 * devrt.BlockLanes
	if limit := c.dev.info.MaxThreads; int(lanes) > limit {
		return l.Block, &backend.Unsupported{What: fmt.Sprintf("a block of %d threads, of which each warp has a wave of %d lanes to itself: up to %d can run, which", threads, devrt.BlockLanes, limit/2), Kernel: c.name}
	}
	if uint64(l.Grid[0])*uint64(lanes) >= maxItems {
		return l.Block, &backend.Unsupported{What: fmt.Sprintf("a grid of %d blocks of %d lanes in one dimension", l.Grid[0], lanes), Kernel: c.name}
	}
	return [3]uint32{lanes, 1, 1}, nil
}

// launch hands the parameters over: as a block that HIP copies, or, in a cooperative launch, which takes no block, by pointers
// to each argument that the metadata names.
func (q *queue) launch(c *code, l *backend.Launch) error {
	const extra = 40 // BUFFER_POINTER, p, BUFFER_SIZE, &n, END
	n := max(len(l.Params), c.explicit)
	buf := dl.Alloc(extra + 8 + 8*len(c.args) + n)
	defer buf.Free()
	b := buf.Bytes()
	params := extra + 8 + 8*len(c.args)
	copy(b[params:], l.Params)
	at := uint64(buf.Addr())
	if c.lends {
		w, err := q.lend(l.Cooperative)
		if err != nil {
			return fmt.Errorf("kernel %s: workspace: %w", c.name, err)
		}
		put(b, params+c.workspace, uint64(w))
	}
	block := l.Block
	if c.alone {
		var err error
		if block, err = c.waves(l); err != nil {
			return err
		}
		put(b, params+c.block, uint64(l.Block[0])|uint64(l.Block[1])<<16|uint64(l.Block[2])<<32)
	}
	args := []uintptr{
		c.fn, uintptr(l.Grid[0]), uintptr(l.Grid[1]), uintptr(l.Grid[2]), uintptr(block[0]), uintptr(block[1]), uintptr(block[2]),
		uintptr(l.DynamicShared), q.stream,
	}
	if l.Cooperative {
		if !q.dev.info.Cooperative {
			return &backend.Unsupported{What: "a cooperative launch with this ROCm or GPU", Kernel: c.name}
		}
		for i, off := range c.args {
			put(b, extra+8+8*i, at+uint64(params)+uint64(off))
		}
		return q.call(hip.HipModuleLaunchCooperativeKernel, append(args, uintptr(at)+extra+8)...)
	}
	put(b, 0, hip.HIPLAUNCHPARAMBUFFERPOINTER)
	put(b, 8, at+uint64(params))
	put(b, 16, hip.HIPLAUNCHPARAMBUFFERSIZE)
	put(b, 24, at+extra)
	put(b, 32, hip.HIPLAUNCHPARAMEND)
	put(b, extra, uint64(n))
	return q.call(hip.HipModuleLaunchKernel, append(args, 0, uintptr(at))...)
}

// lend prepares the memory that the grid of a cooperative launch meets in. A stream's launches come one after another, so that one serves them
// all; it is prepared again for each, for a kernel may end in the middle of a barrier.
func (q *queue) lend(cooperative bool) (backend.Addr, error) {
	if !cooperative {
		return 0, nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.workspace == 0 {
		a, err := q.dev.Memory().Alloc(devrt.WorkspaceBytes, 256)
		if err != nil {
			return 0, err
		}
		q.workspace = a
	}
	if err := q.Fill(q.workspace, devrt.WorkspaceBytes, 4, 1, 0, 1); err != nil {
		return 0, err
	}
	return q.workspace, q.Fill(q.workspace+devrt.WorkspaceCount, 0, 4, 1, 0, 1)
}

// Abroad lets a library of ROCm's put work into the stream.
func (q *queue) Abroad(what string, fn func(backend.Where) error) error {
	done := q.open()
	if done == nil {
		return backend.ErrClosed
	}
	defer done()
	q.last.Store(&what)
	return q.fault(q.dev.do(func() error {
		return fn(backend.Where{Runtime: q.dev.b.Name(), Version: q.dev.api.version, Device: q.dev.ordinal, Stream: q.stream})
	}))
}

// Copy relies on unified addressing: the library knows host from device, and one device from another.
func (q *queue) Copy(dst, src backend.Addr, n uint64) error {
	if n == 0 {
		return nil
	}
	return q.call(hip.HipMemcpyAsync, uintptr(dst), uintptr(src), uintptr(n), hip.HipMemcpyDefault, q.stream)
}

// Copy2D is hipMemcpy2DAsync.
func (q *queue) Copy2D(dst backend.Addr, dstPitch uint64, src backend.Addr, srcPitch, width, height uint64) error {
	if width == 0 || height == 0 {
		return nil
	}
	return q.call(hip.HipMemcpy2DAsync, uintptr(dst), uintptr(dstPitch), uintptr(src), uintptr(srcPitch), uintptr(width), uintptr(height), hip.HipMemcpyDefault, q.stream)
}

var fills = map[int]hip.Func{1: hip.HipMemsetD8Async, 2: hip.HipMemsetD16Async, 4: hip.HipMemsetD32Async}

// Fill is one memset a row; rows of bytes have a call of their own.
func (q *queue) Fill(dst backend.Addr, value uint32, size int, count, pitch, rows uint64) error {
	f, ok := fills[size]
	if !ok {
		return fmt.Errorf("fill with elements of %d bytes", size)
	}
	if count == 0 || rows == 0 {
		return nil
	}
	if rows > 1 && size == 1 {
		return q.call(hip.HipMemset2DAsync, uintptr(dst), uintptr(pitch), uintptr(value), uintptr(count), uintptr(rows), q.stream)
	}
	for y := range rows {
		if err := q.call(f, uintptr(dst)+uintptr(y*pitch), uintptr(value), uintptr(count), q.stream); err != nil {
			return err
		}
	}
	return nil
}

// Host has the stream meet a goroutine of ours, which calls fn while the stream waits.
func (q *queue) Host(fn func()) error { return q.meet(func(error) { fn() }) }

// Callback is Host; where the stream cannot take it because a fault has ended it, fn hears of the fault at once.
func (q *queue) Callback(fn func(error)) error {
	err := q.meet(fn)
	var f *backend.Fault
	if errors.As(err, &f) {
		go fn(f)
		return nil
	}
	return err
}

func (q *queue) meet(fn func(error)) error {
	var err error
	m := dl.NewMeeting()
	if q.dev.api.has(hip.HipLaunchHostFunc) {
		err = q.call(hip.HipLaunchHostFunc, q.stream, m.Func(), m.Data())
	} else {
		err = q.call(hip.HipStreamAddCallback, q.stream, m.Func3(), m.Data(), 0)
	}
	if err != nil {
		m.Abandon()
		return err
	}
	go func() {
		m.Wait()
		defer m.Release()
		fn(nil)
	}()
	return nil
}

// Sync waits for the stream.
func (q *queue) Sync() error { return q.heard(q.call(hip.HipStreamSynchronize, q.stream), true) }

// Done asks the stream.
func (q *queue) Done() (bool, error) { return ready(q.call(hip.HipStreamQuery, q.stream)) }

func ready(err error) (bool, error) { return backend.Polled(err, Result(hip.HipErrorNotReady)) }

// Close waits and destroys the stream.
func (q *queue) Close() error {
	err := q.Sync()
	q.gate.Lock()
	was := q.closed.Swap(true)
	q.gate.Unlock()
	if was {
		return backend.ErrClosed
	}
	e := q.dev.do(func() error {
		// Another thread may have put something in since; and what is in a stream that is destroyed goes on, with memory and code that may not stay.
		if e := q.dev.api.call(hip.HipStreamSynchronize, q.stream); err == nil {
			err = q.fault(e)
		}
		return q.dev.api.call(hip.HipStreamDestroy, q.stream)
	})
	q.dev.queues.Delete(q)
	close(q.over)
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.workspace != 0 {
		e = errors.Join(e, q.dev.Memory().Free(q.workspace))
		q.workspace = 0
	}
	if err == nil {
		err = e
	}
	return err
}
