package interp

import (
	"encoding/binary"
	"slices"

	"kudzu/internal/backend"
	"kudzu/internal/image"
	"kudzu/internal/lockrank"
	"kudzu/internal/ptx"
)

// Dynamic parallelism. A kernel asks for a parameter buffer, fills it, and launches; the grid keeps a list. When its blocks
// have ended, its children run one after the other, each with its own children, and then the tails: a grid is not over
// before they are. One order serves every stream of the device, since nothing on the device can wait for a child.

const (
	maxPending = 1 << 16 // launches of one grid that have not run; the device's limit is smaller, and may be raised
	maxDepth   = 24      // grids inside grids

	tailStream  = 3 // cudaStreamTailLaunch
	firstStream = 16
)

// deviceError is a code of cudaError_t.
type deviceError uint32

const (
	deviceSuccess         deviceError = 0
	deviceInvalidValue    deviceError = 1
	deviceNoMemory        deviceError = 2
	deviceInvalidConfig   deviceError = 9
	deviceDepthExceeded   deviceError = 65
	devicePendingExceeded deviceError = 69
	deviceInvalidFunction deviceError = 98
)

// children is what a grid has launched.
type children struct {
	mu      lockrank.Mutex[lockrank.InterpChildren]
	buffers map[uint64]*child // guarded by mu, as the rest: asked for and not launched
	list    []*child
	tails   []*child
	streams uint64
	errors  map[[2]uint64]deviceError // last error of a thread: its block and its number in it
}

type child struct {
	k *kernel
	l backend.Launch
}

// deviceCalls are the functions of devrt.Calls. They answer an error code, or what they say.
var deviceCalls = map[string]builtin{
	"GetParameterBufferV2":  parameterBufferV2,
	"LaunchDeviceV2":        launchDeviceV2,
	"GetLastError":          func(t *thread, _ [][]byte) uint64 { return uint64(t.lastError(true)) },
	"PeekAtLastError":       func(t *thread, _ [][]byte) uint64 { return uint64(t.lastError(false)) },
	"StreamCreateWithFlags": deviceHandle,
	"EventCreateWithFlags":  deviceHandle,
	"StreamDestroy":         deviceNothing, // children run in order whatever their stream
	"EventDestroy":          deviceNothing,
	"EventRecord":           deviceNothing,
	"EventRecordWithFlags":  deviceNothing,
	"StreamWaitEvent":       deviceNothing,
	"GetDevice":             func(t *thread, a [][]byte) uint64 { return t.put32(a, 0) },
	"GetDeviceCount":        func(t *thread, a [][]byte) uint64 { return t.put32(a, 1) },
	"Malloc":                deviceCudaMalloc,
	"Free":                  func(t *thread, a [][]byte) uint64 { deviceFree(t, a); return 0 },
	"MemcpyAsync":           deviceMemcpy,
	"MemsetAsync":           deviceMemset,
	"GraphSetConditional":   setConditional,
}

func (t *thread) self() [2]uint64 {
	b := t.w.b.g.l.Block
	return [2]uint64{t.w.b.linear, uint64(t.tid[0]) + uint64(b[0])*(uint64(t.tid[1])+uint64(b[1])*uint64(t.tid[2]))}
}

// lastError is the thread's last error.
func (t *thread) lastError(clear bool) deviceError {
	c := &t.w.b.g.kids
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.errors[t.self()]
	if clear {
		delete(c.errors, t.self())
	}
	return e
}

// refuse notes and answers an error.
func (t *thread) refuse(e deviceError) uint64 {
	c := &t.w.b.g.kids
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.errors == nil {
		c.errors = map[[2]uint64]deviceError{}
	}
	c.errors[t.self()] = e
	return uint64(e)
}

func dim3(b []byte) (d [3]uint32) {
	for i := range d {
		if len(b) >= 4*i+4 {
			d[i] = binary.LittleEndian.Uint32(b[4*i:])
		}
	}
	return d
}

// parameterBufferV2 is cudaGetParameterBufferV2(kernel, grid, block, shared bytes): where the parameters go, or null.
func parameterBufferV2(t *thread, args [][]byte) uint64 {
	g := t.w.b.g
	if len(args) < 4 {
		t.refuse(deviceInvalidValue)
		return 0
	}
	k := g.kern.prog.byID(argument(args, 0))
	c := &child{k: k, l: backend.Launch{Grid: dim3(args[1]), Block: dim3(args[2]), DynamicShared: uint32(argument(args, 3))}}
	if e := g.refuses(c); e != deviceSuccess {
		t.refuse(e)
		return 0
	}
	a, err := g.env.heap.Alloc(uint64(max(k.decl.ParamBytes, 16)), 64)
	if err != nil {
		t.refuse(deviceNoMemory)
		return 0
	}
	g.kids.mu.Lock()
	defer g.kids.mu.Unlock()
	if g.kids.buffers == nil {
		g.kids.buffers = map[uint64]*child{}
	}
	g.kids.buffers[uint64(a)] = c
	return uint64(a)
}

// refuses says why a launch of this shape cannot be.
func (g *grid) refuses(c *child) deviceError {
	if c.k == nil {
		return deviceInvalidFunction
	}
	if g.depth+1 >= maxDepth {
		return deviceDepthExceeded
	}
	info := g.kern.prog.dev.info
	threads := uint64(1)
	for i := range 3 {
		if c.l.Grid[i] == 0 || c.l.Block[i] == 0 || int64(c.l.Grid[i]) > int64(info.MaxGrid[i]) || int64(c.l.Block[i]) > int64(info.MaxBlock[i]) {
			return deviceInvalidConfig
		}
		threads *= uint64(c.l.Block[i])
	}
	if threads > uint64(info.MaxThreads) {
		return deviceInvalidConfig
	}
	if uint64(c.l.DynamicShared) > uint64(info.SharedOptin) {
		return deviceInvalidValue
	}
	return deviceSuccess
}

// launchDeviceV2 is cudaLaunchDeviceV2(buffer, stream).
func launchDeviceV2(t *thread, args [][]byte) uint64 {
	g := t.w.b.g
	at, stream := argument(args, 0), argument(args, 1)
	g.kids.mu.Lock()
	c := g.kids.buffers[at]
	delete(g.kids.buffers, at)
	full := len(g.kids.list)+len(g.kids.tails) >= maxPending
	g.kids.mu.Unlock()
	if c == nil {
		return t.refuse(deviceInvalidValue)
	}
	if n := uint64(c.k.decl.ParamBytes); n > 0 {
		c.l.Params = slices.Clone(t.mem(ptx.SpaceGeneric, at, n, 1))
	}
	if err := g.env.heap.Free(backend.Addr(at)); err != nil {
		return t.refuse(deviceInvalidValue)
	}
	if full {
		return t.refuse(devicePendingExceeded)
	}
	g.kids.mu.Lock()
	defer g.kids.mu.Unlock()
	if stream == tailStream {
		g.kids.tails = append(g.kids.tails, c)
	} else {
		g.kids.list = append(g.kids.list, c)
	}
	return 0
}

// runChildren runs what the grid has launched.
func (g *grid) runChildren() error {
	g.kids.mu.Lock()
	all := append(g.kids.list, g.kids.tails...)
	g.kids.list, g.kids.tails = nil, nil
	left := g.kids.buffers
	g.kids.buffers = nil
	g.kids.mu.Unlock()
	for at := range left {
		_ = g.env.heap.Free(backend.Addr(at)) // never launched
	}
	for _, c := range all {
		next, err := c.k.prepare(&c.l)
		if err != nil {
			return &backend.Fault{Kind: backend.FaultInstruction, Kernel: c.k.decl.Name, Detail: "launched by " + g.u.kernel + ": " + err.Error()}
		}
		next.depth, next.cancel = g.depth+1, g.cancel
		if err := next.run(); err != nil {
			return err
		}
	}
	return nil
}

// byID finds the kernel that a device pointer to it means.
func (p *program) byID(id uint64) *kernel {
	for name, k := range p.kernels {
		if image.FuncID(name) == id {
			return k
		}
	}
	return nil
}

func deviceNothing(*thread, [][]byte) uint64 { return 0 }

// deviceHandle makes a stream or an event: a number.
func deviceHandle(t *thread, args [][]byte) uint64 {
	c := &t.w.b.g.kids
	c.mu.Lock()
	c.streams++
	n := c.streams + firstStream
	c.mu.Unlock()
	store(t.mem(ptx.SpaceGeneric, argument(args, 0), 8, 8), n)
	return 0
}

func (t *thread) put32(args [][]byte, v uint64) uint64 {
	store(t.mem(ptx.SpaceGeneric, argument(args, 0), 4, 4), v)
	return 0
}

func deviceCudaMalloc(t *thread, args [][]byte) uint64 {
	if len(args) < 2 {
		return t.refuse(deviceInvalidValue)
	}
	a := deviceMalloc(t, args[1:])
	if a == 0 {
		return t.refuse(deviceNoMemory)
	}
	store(t.mem(ptx.SpaceGeneric, argument(args, 0), 8, 8), a)
	return 0
}

func deviceMemcpy(t *thread, args [][]byte) uint64 {
	if n := argument(args, 2); n > 0 {
		copy(t.mem(ptx.SpaceGeneric, argument(args, 0), n, 1), t.mem(ptx.SpaceGeneric, argument(args, 1), n, 1))
	}
	return 0
}

func deviceMemset(t *thread, args [][]byte) uint64 {
	if n := argument(args, 2); n > 0 {
		m := t.mem(ptx.SpaceGeneric, argument(args, 0), n, 1)
		for i := range m {
			m[i] = byte(argument(args, 1))
		}
	}
	return 0
}

// setConditional is cudaGraphSetConditional(handle, value): the handle is where the value is kept.
func setConditional(t *thread, args [][]byte) uint64 {
	store(t.mem(ptx.SpaceGeneric, argument(args, 0), 4, 4), argument(args, 1))
	return 0
}
