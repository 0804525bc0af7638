package interp

import (
	"encoding/binary"
	"runtime/debug"
	"sync/atomic"
	"time"

	"kudzu/internal/backend"
	"kudzu/internal/engine"
)

const (
	// warpTurn is the instructions a warp runs before the next warp of its block. It is short because programs lean on it that no warp
	// runs far ahead of others: on hardware all go on at once behind a barrier (pass/warp_pacing.go).
	warpTurn  = 16
	blockTurn = 1 << 18 // instructions a block runs before another block may: blocks may spin on each other
	// maxResident is how many blocks may be under way at once when they do not finish in their turn.
	maxResident = 4096
)

// grid is one launch under way.
type grid struct {
	u      *unit
	l      *backend.Launch
	env    *environment
	params []byte
	id     uint64

	shared  uint32 // bytes per block
	blocks  uint64
	cluster [3]uint32 // 1,1,1 without clusters
	threads int       // per block
	workers int       // blocks at a time
	// workspace is the address of a cooperative launch's own memory, which cooperative groups find through %envreg1 and 2:
	// its size in bytes, and the grid's barrier.
	workspace uint64
	next      atomic.Uint64
	cancel    *atomic.Bool // of this grid and those that it launches

	watch   *Watch                  // nil: nobody asked
	changed func(addr, size uint64) // With.Changed; nil: nobody asked
	order   func(uint64) uint64     // of blocks; nil: as they are numbered

	kern  *kernel
	depth int // grids that this one was launched from
	kids  children
}

// block is one block of the grid.
type block struct {
	g        *grid
	ctaid    [3]uint32
	linear   uint64
	warps    []*warp
	live     int // threads not exited
	shared   []byte
	barriers [namedBarriers + 8]barrier
	cluster  *cluster
	rank     uint32
	next     int // warp whose turn it is
	views    [4]view
	newest   int
}

// reservedShared is the system's part of shared memory, which lies behind the program's where a kernel asks for it: as compiled kernels
// have it (lower/reserved.go).
const reservedShared = 1024

// sharedTotal is the program's shared memory: blocks get it in pieces of 128 bytes.
func (g *grid) sharedTotal() uint64 { return (uint64(g.shared) + 127) / 128 * 128 }

// newBlock makes block number n with its threads at the kernel's first instruction.
func (g *grid) newBlock(n uint64) *block {
	b := &block{g: g, linear: n}
	b.ctaid, b.rank = g.place(n)
	room := g.sharedTotal()
	if g.u.reserved {
		room += reservedShared
	}
	b.shared = make([]byte, g.shared, room)
	b.live = g.threads
	c := g.u.entry
	threads := make([]thread, g.threads)
	regs := make([]uint64, g.threads*c.slots)
	local := make([]byte, g.threads*int(c.frame))
	if c.frame > maxLocal {
		panic(stop{kind: backend.FaultStack, detail: "more than 512 KB of local memory"})
	}
	bx, by := g.l.Block[0], g.l.Block[1]
	for i := range threads {
		t := &threads[i]
		if i%32 == 0 {
			b.warps = append(b.warps, &warp{b: b, index: i / 32})
		}
		w := b.warps[len(b.warps)-1]
		t.w, t.lane = w, uint8(i%32)
		u := uint32(i)
		t.tid = [3]uint32{u % bx, u / bx % by, u / bx / by}
		w.threads = append(w.threads, t)
		w.live |= 1 << t.lane
		t.code, t.sp = c, c.frame
		t.r = regs[i*c.slots : (i+1)*c.slots : (i+1)*c.slots]
		t.local = local[i*int(c.frame) : (i+1)*int(c.frame) : (i+1)*int(c.frame)]
	}
	return b
}

// place is the block's index and its rank in its cluster. Blocks are numbered cluster by cluster, x fastest in both.
func (g *grid) place(n uint64) (ctaid [3]uint32, rank uint32) {
	c := g.cluster
	size := g.clusterSize()
	rank = uint32(n % size)
	n /= size
	gx, gy := uint64(g.l.Grid[0]/c[0]), uint64(g.l.Grid[1]/c[1])
	at := [3]uint32{uint32(n % gx), uint32(n / gx % gy), uint32(n / gx / gy)}
	in := [3]uint32{rank % c[0], rank / c[0] % c[1], rank / c[0] / c[1]}
	for i := range ctaid {
		ctaid[i] = at[i]*c[i] + in[i]
	}
	return ctaid, rank
}

func (g *grid) clusterSize() uint64 {
	return uint64(g.cluster[0]) * uint64(g.cluster[1]) * uint64(g.cluster[2])
}

// run executes the block for about budget instructions. progress is false if no thread could go on.
func (b *block) run(budget int) (progress bool) {
	idle := 0
	for b.live > 0 && budget > 0 && idle < len(b.warps) {
		w := b.warps[b.next]
		b.next = (b.next + 1) % len(b.warps)
		if w.live == 0 {
			idle++
			continue
		}
		n := w.run(warpTurn)
		if n == 0 {
			idle++
			continue
		}
		idle, progress = 0, true
		budget -= n
		if b.g.cancel.Load() {
			panic(stop{kind: backend.FaultTimeout, t: w.threads[0], detail: cancelled})
		}
	}
	return progress
}

// run executes the whole grid and what it launches. The error is a *backend.Fault.
func (g *grid) run() error {
	if err := g.runInTime(); err != nil {
		return err
	}
	return g.runChildren()
}

// runInTime executes the grid's blocks, for no longer than the device lets a launch run.
func (g *grid) runInTime() error {
	limit := g.kern.prog.dev.info.Timeout
	if limit == 0 {
		return g.runBlocks()
	}
	var late atomic.Bool
	defer time.AfterFunc(limit, func() {
		late.Store(true)
		g.cancel.Store(true)
	}).Stop()
	err := g.runBlocks()
	if f, ok := err.(*backend.Fault); ok && isCancelled(err) && late.Load() {
		f.Detail = engine.TooLong(limit)
	}
	return err
}

func (g *grid) runBlocks() error {
	if g.l.Cooperative {
		a, err := g.env.heap.Alloc(8, 256)
		if err != nil {
			return err
		}
		defer func() { _ = g.env.heap.Free(a) }() // it was just given
		g.workspace = uint64(a)
		binary.LittleEndian.PutUint64(hostBytes(g.workspace, 8), 8)
	}
	n := min(uint64(g.workers), g.blocks)
	if n <= 1 || g.l.Cooperative || g.clusterSize() > 1 || g.u.ordered {
		return g.work()
	}
	errs := make(chan error, n)
	for range n {
		go func() {
			err := g.work()
			if err != nil {
				g.cancel.Store(true)
			}
			errs <- err
		}()
	}
	var first error
	for range n {
		if err := <-errs; err != nil && (first == nil || isCancelled(first)) {
			first = err
		}
	}
	return first
}

// take gives the next n blocks' numbers: from first, fewer at the end, none after it.
func (g *grid) take(n uint64) (first, end uint64) {
	end = g.next.Add(n)
	first = end - n
	return min(first, g.blocks), min(end, g.blocks)
}

// work executes blocks until there are none left.
func (g *grid) work() (err error) {
	var now *block
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // the program may take memory away that it gave
	defer func() {
		switch r := recover().(type) {
		case nil:
		case stop:
			err = g.faultOf(r)
		case interface{ Addr() uintptr }:
			f := &backend.Fault{Kind: backend.FaultAddress, Kernel: g.u.kernel, Addr: backend.Addr(r.Addr())}
			if now != nil {
				f.Block = now.ctaid
			}
			err = f
		default: // a bug of ours must not take the application down; it is reported as a fault with its trace
			f := &backend.Fault{Kind: backend.FaultInstruction, Kernel: g.u.kernel, Detail: "BUG in the interpreter: " + sprint(r) + "\n" + string(debug.Stack())}
			if now != nil {
				f.Block = now.ctaid
			}
			err = f
		}
	}()
	var resident []*block
	more := true
	for {
		// Take in more blocks: all of a cooperative launch, else a cluster at a time, when none of those under way has finished.
		if more && len(resident) < maxResident {
			n := g.clusterSize()
			if g.l.Cooperative {
				n = g.blocks
			}
			first, end := g.take(n)
			more = first < end
			for i := first; i < end; i++ {
				n := i
				if g.order != nil {
					n = g.order(i)
				}
				resident = append(resident, g.newBlock(n))
			}
			g.join(resident)
		}
		if len(resident) == 0 {
			return nil
		}
		moved := false
		kept := resident[:0]
		for _, b := range resident {
			now = b
			moved = b.run(blockTurn) || moved
			if b.live > 0 {
				kept = append(kept, b)
			}
		}
		resident = kept
		if !moved && len(resident) > 0 && (!more || len(resident) >= maxResident) {
			g.deadlock(resident[0])
		}
	}
}

const cancelled = "cancelled because another block faulted"

func isCancelled(err error) bool {
	f, ok := err.(*backend.Fault)
	return ok && f.Detail == cancelled
}

// deadlock reports the first thread that waits.
func (g *grid) deadlock(b *block) {
	for _, w := range b.warps {
		for _, t := range w.threads {
			if t.state == waiting {
				t.pc-- // the instruction it waits at
				w.pc = t.pc
				panic(stop{kind: backend.FaultDeadlock, t: t, detail: "no thread of the grid can go on"})
			}
		}
	}
	panic("BUG: a block that cannot go on has no waiting thread")
}

// faultOf describes where a launch stopped.
func (g *grid) faultOf(s stop) *backend.Fault {
	f := &backend.Fault{Kind: s.kind, Kernel: g.u.kernel, Addr: backend.Addr(s.addr), Detail: s.detail}
	if t := s.t; t != nil {
		f.Block, f.Thread = t.w.b.ctaid, t.tid
		f.Line = g.u.lineOf(t.code, t.w.pc)
	}
	return f
}
