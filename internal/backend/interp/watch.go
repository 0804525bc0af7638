package interp

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"kudzu/internal/backend"
	"kudzu/internal/ptx/isa"
)

// Watch notes which instructions store to some addresses of global memory. It makes a launch slower, and does not change it.
type Watch struct {
	ranges []watched
	found  map[uint64]Store // one thread runs a launch that is watched
}

type watched struct{ base, end, addr uint64 }

// Store is an instruction that wrote to an address.
type Store struct {
	Line   int // of the kernel's text as it was given
	Block  [3]uint32
	Thread [3]uint32
	Count  int // stores to the address in all
}

// NewWatch watches size bytes at each address.
func NewWatch(size uint64, addrs ...uint64) *Watch {
	w := &Watch{found: map[uint64]Store{}}
	for _, a := range addrs {
		w.ranges = append(w.ranges, watched{a, a + size, a})
	}
	slices.SortFunc(w.ranges, func(a, b watched) int {
		if a.base < b.base {
			return -1
		}
		return 1
	})
	return w
}

// Last is the instruction that stored to an address last.
func (w *Watch) Last(addr uint64) (Store, bool) {
	s, ok := w.found[addr]
	return s, ok
}

// reads are instructions that name memory and do not store to it.
var reads = map[isa.Op]bool{isa.Ld: true, isa.Ldu: true, isa.Tex: true, isa.Tld4: true, isa.Suld: true, isa.Prefetch: true, isa.Ldmatrix: true, isa.Discard: true}

// touch notes an access.
func (w *Watch) touch(t *thread, addr, n uint64) {
	i, _ := slices.BinarySearchFunc(w.ranges, addr, func(r watched, a uint64) int {
		if r.end <= a {
			return -1
		}
		return 1
	})
	for ; i < len(w.ranges) && w.ranges[i].base < addr+n; i++ {
		c, pc := t.code, t.w.pc
		if int(pc) >= len(c.fn.Body.Insts) {
			return
		}
		in := &c.fn.Body.Insts[pc]
		if reads[in.Op()] {
			return
		}
		u := t.w.b.g.u
		old := w.found[w.ranges[i].addr]
		w.found[w.ranges[i].addr] = Store{Line: u.lineOf(c, pc), Block: t.w.b.ctaid, Thread: t.tid, Count: old.Count + 1}
	}
}

// Order is backend.Order.
type Order = backend.Order

// permutation maps the number of a block's turn to a block. With clusters, whole clusters change places.
func permutation(o Order, blocks, cluster uint64) func(uint64) uint64 {
	n := blocks / cluster
	var of func(uint64) uint64
	switch {
	case o.Reverse:
		of = func(i uint64) uint64 { return n - 1 - i }
	case o.Random && n > 1:
		r := rand.New(rand.NewPCG(o.Seed, n))
		step := r.Uint64N(n-1) + 1
		for gcd(step, n) != 1 {
			step = step%(n-1) + 1
		}
		first := r.Uint64N(n)
		of = func(i uint64) uint64 { return (first + i*step) % n } // n is below 2^31, so the product is whole
	default:
		return nil
	}
	return func(i uint64) uint64 { return of(i/cluster)*cluster + i%cluster }
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// With changes how RunWith runs a launch. The zero value changes nothing.
type With struct {
	Limit time.Duration // 0: any time; after backend.ErrTime what the launch had written by then stays written
	Watch *Watch
	Order Order
	// Changed is told of each atomic that changes a value, or adds to a float, by several goroutines at a time.
	Changed func(addr, size uint64)
}

// RunWith is RunNow with changes.
func RunWith(k backend.Kernel, l *backend.Launch, with With) error {
	own, ok := k.(*kernel)
	if !ok {
		return fmt.Errorf("kernel %s is not the interpreter's", k.Name())
	}
	g, err := own.prepare(l)
	if err != nil {
		return err
	}
	g.watch, g.changed = with.Watch, with.Changed
	if g.order = permutation(with.Order, g.blocks, g.clusterSize()); g.order != nil || g.watch != nil {
		g.workers = 1
	}
	if with.Limit > 0 {
		defer time.AfterFunc(with.Limit, func() { g.cancel.Store(true) }).Stop()
	}
	if err = g.run(); isCancelled(err) { // a block's own fault would have come first
		return backend.ErrTime
	}
	return err
}
