package driver

import (
	"math/bits"
	"slices"
	"sync/atomic"

	"kudzu/internal/backend"
	"kudzu/internal/lockrank"
	"kudzu/internal/spec/cu"
)

// Pool is memory that streams allocate and free in their order.
//
// A block that was freed in a stream may be given out again in the same stream at once, since the new owner's work comes
// after the old one's; in another stream only when the place of the free has been reached. Blocks come in size classes,
// four to a doubling, so that a block can serve the next allocation of about its size.
type Pool struct {
	state    *state
	dev      *Device
	handle   cu.CUmemoryPool
	builtin  bool   // the device's default pool
	imported bool   // another process's: nothing is allocated from it
	owner    uint32 // the process, of an imported pool
	number   uint32 // in that process
	exported atomic.Bool
	props    cu.CUmemPoolProps
	place    poolPlace

	mu        lockrank.Mutex[lockrank.DriverPool]
	free      map[uint64][]poolBlock // guarded by mu, as the rest: by class
	reuse     [3]int32               // the REUSE attributes, in their order
	threshold uint64
	reserved  counter // bytes that the device lent to the pool
	used      counter // of them, asked for by allocations
	access    map[int32]cu.CUmemAccess_flags
}

// counter is a number and the highest it was.
type counter struct{ now, high uint64 }

func (c *counter) add(n uint64) {
	c.now += n
	c.high = max(c.high, c.now)
}

// poolBlock is memory that nobody has.
type poolBlock struct {
	addr   uint64
	stream *Stream       // where it was freed; nil: nowhere
	fence  backend.Fence // when it is free for others; nil: now
}

// done reports whether work of other streams may use the block.
func (b *poolBlock) done() bool {
	if b.fence == nil {
		return true
	}
	done, err := b.fence.Done()
	return done || err != nil // after a fault nothing runs any more
}

// devicePools is what a device knows of pools.
type devicePools struct {
	mu      lockrank.Mutex[lockrank.DriverPools]
	builtin *Pool   // guarded by mu: made at first touch
	current *Pool   // guarded by mu: nil means builtin
	all     []*Pool // guarded by mu
	// guarded by mu: the default pools of memory that is not a device's own, and the current ones where a program chose others
	builtins, currents map[poolPlace]*Pool

	excess *atomic.Uint64 // not 0: a pool may hold more than its threshold
}

const (
	reuseFollow = iota
	reuseOpportunistic
	reuseInternal
)

const (
	poolAlign = 512
	poolPage  = 2 << 20 // large blocks come in multiples of it
)

// poolClass rounds a size up to its class.
func poolClass(n uint64) uint64 {
	if n <= 4*poolAlign {
		return (n + poolAlign - 1) &^ (poolAlign - 1)
	}
	step := min(uint64(1)<<(bits.Len64(n-1)-3), poolPage)
	if c := (n + step - 1) &^ (step - 1); c >= n {
		return c
	}
	return n
}

func (s *state) newPool(d *Device, props cu.CUmemPoolProps) (*Pool, error) {
	place := poolPlace{props.AllocType, spot{props.Location.Type, *props.Location.Id()}}
	p := &Pool{state: s, dev: d, props: props, place: place, number: poolNumbers.Add(1), reuse: [3]int32{1, 1, 1}, free: map[uint64][]poolBlock{}, access: map[int32]cu.CUmemAccess_flags{}}
	h := s.pools.New(p)
	if h == 0 {
		return nil, errOutOfMemory
	}
	p.handle = cu.CUmemoryPool(h)
	return p, nil
}

// defaultPool is the device's own pool.
func (d *Device) defaultPool(s *state) (*Pool, error) {
	d.pools.mu.Lock()
	defer d.pools.mu.Unlock()
	if d.pools.builtin == nil {
		props := cu.CUmemPoolProps{AllocType: cu.CU_MEM_ALLOCATION_TYPE_PINNED}
		props.Location.Type = cu.CU_MEM_LOCATION_TYPE_DEVICE
		*props.Location.Id() = d.ordinal
		p, err := s.newPool(d, props)
		if err != nil {
			return nil, err
		}
		p.builtin = true
		d.pools.builtin = p
		d.pools.all = append(d.pools.all, p)
	}
	return d.pools.builtin, nil
}

// currentPool is where cuMemAllocAsync takes from.
func (d *Device) currentPool(s *state) (*Pool, error) {
	d.pools.mu.Lock()
	p := d.pools.current
	d.pools.mu.Unlock()
	if p != nil {
		return p, nil
	}
	return d.defaultPool(s)
}

// pool finds a pool.
func (t *Thread) pool(h cu.CUmemoryPool) (*Pool, error) {
	s, err := t.enter()
	if err != nil {
		return nil, err
	}
	if p := s.pools.Get(handleValue(h)); p != nil {
		return p, nil
	}
	return nil, errInvalidValue
}

// ownPool finds a pool of this process: another's has no settings here.
func (t *Thread) ownPool(h cu.CUmemoryPool) (*Pool, error) {
	p, err := t.pool(h)
	if err == nil && p.imported {
		return nil, errInvalidValue
	}
	return p, err
}

// alloc gives n bytes that are st's from this place of its work on.
func (p *Pool) alloc(st *Stream, n uint64) (DevPtr, error) {
	if n == 0 || p.imported {
		return 0, errInvalidValue
	}
	touched()
	class := poolClass(n)
	if p.props.HandleTypes != cu.CU_MEM_HANDLE_TYPE_NONE {
		class = (class + poolPage - 1) &^ (poolPage - 1) // other processes see pages, and nothing but the pool's is to be in them
	}
	addr, err := p.take(st, class, n)
	if err != nil {
		return 0, st.ctx.fail(err)
	}
	a := &alloc{base: addr, size: n, kind: p.place.kind(), pool: p, class: class}
	if a.kind == allocManaged {
		a.flags = uint32(cu.CU_MEM_ATTACH_GLOBAL)
	}
	return DevPtr(addr), st.ctx.newAlloc(a)
}

// take finds a block of a class for n bytes.
func (p *Pool) take(st *Stream, class, n uint64) (uint64, error) {
	p.mu.Lock()
	if addr, ok := p.again(st, class); ok {
		p.used.add(n)
		p.mu.Unlock()
		return addr, nil
	}
	over := p.props.MaxSize != 0 && (class > p.props.MaxSize || p.reserved.now > p.props.MaxSize-class)
	p.mu.Unlock()
	if over {
		p.trim(0)
		p.mu.Lock()
		over = p.reserved.now > p.props.MaxSize || class > p.props.MaxSize-p.reserved.now
		p.mu.Unlock()
		if over {
			return 0, errOutOfMemory
		}
	}
	addr, err := p.dev.allocMemory(class, poolAlign)
	if err != nil {
		return p.later(st, class, n, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reserved.add(class)
	p.used.add(n)
	return uint64(addr), nil
}

// again takes a free block that st may have now: one freed in st, else one whose free was reached.
//
// Preconditions: p.mu is held.
func (p *Pool) again(st *Stream, class uint64) (uint64, bool) {
	list := p.free[class]
	for i := len(list) - 1; i >= 0; i-- { // the newest is the warmest
		if b := &list[i]; b.stream == st || b.fence == nil {
			return p.pick(class, i), true
		}
	}
	if p.reuse[reuseOpportunistic] == 0 {
		return 0, false
	}
	for i := range list {
		if list[i].done() {
			return p.pick(class, i), true
		}
	}
	return 0, false
}

// pick takes one free block out.
//
// Preconditions: p.mu is held.
func (p *Pool) pick(class uint64, i int) uint64 {
	list := p.free[class]
	addr := list[i].addr
	if f, ok := list[i].fence.(backend.Releaser); ok {
		f.Release()
	}
	if list = slices.Delete(list, i, i+1); len(list) == 0 {
		delete(p.free, class)
	} else {
		p.free[class] = list
	}
	return addr
}

// later is the last resort when the device is full: a block that another stream will free, for which st has to wait.
func (p *Pool) later(st *Stream, class, n uint64, err error) (uint64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := p.free[class]
	if len(list) == 0 || p.reuse[reuseInternal] == 0 {
		return 0, err
	}
	b := list[0]
	if err := st.enqueue(func(q backend.Queue) error { return q.Wait(b.fence) }); err != nil {
		return 0, err
	}
	p.used.add(n)
	list[0].fence = nil // the queue has it now
	return p.pick(class, 0), nil
}

// give takes a block back that held n bytes; st and its fence say from when on.
func (p *Pool) give(addr, class, n uint64, st *Stream, fence backend.Fence) {
	p.mu.Lock()
	p.used.now -= min(n, p.used.now)
	p.free[class] = append(p.free[class], poolBlock{addr, st, fence})
	over := p.reserved.now > p.threshold
	dead := p.state.pools.Get(handleValue(p.handle)) != p
	p.mu.Unlock()
	if over || dead {
		p.dev.pools.excess.Store(1)
	}
	if dead && fence == nil {
		p.trim(0)
	}
}

// trim gives free blocks back to the device until keep bytes are left.
func (p *Pool) trim(keep uint64) {
	mem := p.dev.dev.Memory()
	p.mu.Lock()
	defer p.mu.Unlock()
	for class := range p.free {
		for i := len(p.free[class]) - 1; i >= 0 && p.reserved.now > keep; i-- {
			if p.free[class][i].done() {
				at := p.pick(class, i)
				p.state.moveBack(p.dev, at)
				_ = mem.Free(backend.Addr(at))
				p.reserved.now -= min(class, p.reserved.now)
			}
		}
	}
	p.dev.traceMemory()
}

// trimPools is what synchronizing does to pools: what is above a pool's threshold goes back.
func (d *Device) trimPools() {
	if d.pools.excess.Swap(0) == 0 {
		return
	}
	for _, p := range d.allPools() {
		p.mu.Lock()
		keep := p.threshold
		p.mu.Unlock()
		if p.state.pools.Get(handleValue(p.handle)) != p {
			keep = 0
		}
		p.trim(keep)
		p.mu.Lock()
		if p.reserved.now > keep && len(p.free) > 0 {
			d.pools.excess.Store(1)
		}
		p.mu.Unlock()
	}
}

func (d *Device) allPools() []*Pool {
	d.pools.mu.Lock()
	defer d.pools.mu.Unlock()
	return slices.Clone(d.pools.all)
}

// forgetPools lets go of a context that ended: its streams have no more work, and free memory is given back.
func (s *state) forgetPools(c *Context) {
	for _, d := range s.devices {
		for _, p := range d.allPools() {
			p.mu.Lock()
			for _, list := range p.free {
				for i := range list {
					if b := &list[i]; b.stream != nil && b.stream.ctx == c {
						b.stream, b.fence = nil, nil
					}
				}
			}
			p.mu.Unlock()
			if d == c.dev && c.primary {
				p.trim(0)
			}
		}
	}
}

// allocMemory is the backend's Alloc; memory that pools hold for nobody is given back before it says no. All of it may be what a texture
// shows, so it begins where one may.
func (d *Device) allocMemory(n, align uint64) (backend.Addr, error) {
	defer d.traceMemory()
	align = max(align, pitchAlign)
	addr, err := d.dev.Memory().Alloc(n, align)
	if err == nil {
		return addr, nil
	}
	pools := d.allPools()
	if len(pools) == 0 {
		return 0, err
	}
	for _, p := range pools {
		p.trim(0)
	}
	return d.dev.Memory().Alloc(n, align)
}

// freeAsync gives an allocation back in stream order.
func (s *state) freeAsync(a *alloc, st *Stream) error {
	p := a.pool
	if p == nil { // memory of cuMemAlloc joins the pool for the rest of its life
		var err error
		if p, err = a.device().defaultPool(s); err != nil {
			return err
		}
	}
	f, err := st.mark()
	if err != nil {
		return err
	}
	if !s.allocs.take(a) {
		return errInvalidValue // another thread was first
	}
	s.unexport(a)
	class := a.class
	if a.pool == nil {
		class = a.size
		p.mu.Lock()
		p.reserved.add(class)
		p.used.add(class)
		p.mu.Unlock()
	}
	p.give(a.base, class, a.size, st, f)
	return nil
}
