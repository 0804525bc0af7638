package driver

import (
	"kudzu/internal/backend"
	"kudzu/internal/lockrank"
	"kudzu/internal/spec/cu"
)

const numLimits = int(cu.CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED) + 1

// limitRow says what a limit starts at and how a new value is taken. Numbers are those of compute capability 9.0.
type limitRow struct {
	start      uint64
	low        uint64 // a smaller value is raised to it
	high       uint64 // a larger one is refused; 0: none
	unsettable bool   // answers UNSUPPORTED_LIMIT
	fixed      bool   // can be read; to set it is not permitted
	step       uint64 // values are rounded up to a multiple of it
}

// limitRows is indexed by CUlimit.
var limitRows = [numLimits]limitRow{
	// Kept and told as the real driver does. The interpreter always has 512 KB a thread; compiled code what the kernel declares,
	// and for calls that the compiler cannot bound this, or 64 KB if that is more (docs/numerics.md, Limits).
	cu.CU_LIMIT_STACK_SIZE:                       {start: 1024, low: 16, high: 512 << 10, step: 16},
	cu.CU_LIMIT_PRINTF_FIFO_SIZE:                 {start: 8650752, low: 512 << 10},
	cu.CU_LIMIT_MALLOC_HEAP_SIZE:                 {start: 8 << 20, low: 4 << 20, step: 64 << 10},
	cu.CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH:           {unsettable: true},
	cu.CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT: {start: 2048, low: 32},
	cu.CU_LIMIT_MAX_L2_FETCH_GRANULARITY:         {start: 64, high: 128},
	cu.CU_LIMIT_PERSISTING_L2_CACHE_SIZE:         {},
	cu.CU_LIMIT_SHMEM_SIZE:                       {fixed: true},
	cu.CU_LIMIT_CIG_ENABLED:                      {fixed: true},
	cu.CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED:       {unsettable: true},
}

var defaultLimits = func() (l [numLimits]uint64) {
	for i, r := range limitRows {
		l[i] = r.start
	}
	return l
}()

// CtxGetLimit is one limit of the current context.
func (t *Thread) CtxGetLimit(limit cu.CUlimit) (uint64, error) {
	c, err := t.context()
	if err != nil {
		return 0, err
	}
	if limit < 0 || int(limit) >= numLimits {
		return 0, errInvalidValue
	}
	if limit == cu.CU_LIMIT_SHMEM_SIZE {
		return uint64(c.dev.info.SharedOptin), nil
	}
	if limitRows[limit].unsettable {
		return 0, errUnsupLimit
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.limits[limit], nil
}

// CtxSetLimit sets one limit of the current context.
func (t *Thread) CtxSetLimit(limit cu.CUlimit, value uint64) error {
	c, err := t.context()
	if err != nil {
		return err
	}
	if limit < 0 || int(limit) >= numLimits {
		return errInvalidValue
	}
	r := limitRows[limit]
	switch {
	case r.unsettable:
		return errUnsupLimit
	case r.fixed:
		return errNotPermitted
	case r.high != 0 && value > r.high:
		return errInvalidValue
	}
	value = max(value, r.low)
	if up := value % max(r.step, 1); up != 0 && value <= ^uint64(0)-r.step {
		value += r.step - up
	}
	if d, ok := c.dev.dev.(backend.StackLimit); ok && limit == cu.CU_LIMIT_STACK_SIZE {
		d.SetStack(value)
	}
	if d, ok := c.dev.dev.(backend.DomainLimits); ok {
		switch limit {
		case cu.CU_LIMIT_PRINTF_FIFO_SIZE:
			err = d.SetLimits(c.domain.Load(), value, 0)
		case cu.CU_LIMIT_MALLOC_HEAP_SIZE:
			err = d.SetLimits(c.domain.Load(), 0, value)
		}
	}
	if err != nil {
		return c.fail(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.limits[limit] = value
	return nil
}

// CtxGetDevice is the current context's device; it works in a dead or faulted context too.
func (t *Thread) CtxGetDevice() (cu.CUdevice, error) { return t.CtxGetDeviceV2(0) }

// CtxGetDeviceV2 is the device of a context.
func (t *Thread) CtxGetDeviceV2(h cu.CUcontext) (cu.CUdevice, error) {
	e, err := t.anyState(h)
	return e.device, err
}

// CtxGetFlags is the flags the current context was made with.
func (t *Thread) CtxGetFlags() (uint32, error) {
	e, err := t.anyState(0)
	return e.flags, err
}

// epitaph is what can be asked about a context in any state, destroyed ones included.
type epitaph struct {
	device cu.CUdevice
	flags  uint32
}

func (c *Context) epitaph() epitaph {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := epitaph{c.dev.ordinal, c.flags}
	if c.primary && c.alive.Load() {
		e.flags |= uint32(cu.CU_CTX_MAP_HOST)
	}
	return e
}

// graveyard keeps the epitaphs of the contexts destroyed last: other threads may still have one of them current. It is
// bounded, because a program may create and destroy contexts for ever.
type graveyard struct {
	mu   lockrank.Mutex[lockrank.DriverGraves]
	of   map[cu.CUcontext]epitaph // guarded by mu
	ring [64]cu.CUcontext         // guarded by mu: oldest at next
	next int                      // guarded by mu
}

func (g *graveyard) add(h cu.CUcontext, e epitaph) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.of == nil {
		g.of = map[cu.CUcontext]epitaph{}
	}
	delete(g.of, g.ring[g.next])
	g.of[h], g.ring[g.next] = e, h
	g.next = (g.next + 1) % len(g.ring)
}

// anyState answers about a context in any state, or the current one if h is 0.
func (t *Thread) anyState(h cu.CUcontext) (epitaph, error) {
	s, err := t.enter()
	if err != nil {
		return epitaph{}, err
	}
	missing := errInvalidContext
	if h == 0 {
		if t.Depth == 0 || t.Depth > MaxContextStack {
			return epitaph{}, errInvalidContext
		}
		h, missing = cu.CUcontext(t.Stack[t.Depth-1]), errDestroyed
	}
	if c := s.contexts.Get(handleValue(h)); c != nil {
		return c.epitaph(), nil
	}
	s.graves.mu.Lock()
	defer s.graves.mu.Unlock()
	if e, ok := s.graves.of[h]; ok {
		return e, nil
	}
	return epitaph{}, missing
}

// CtxSetFlags replaces those flags that may change in a living context.
func (t *Thread) CtxSetFlags(flags uint32) error {
	c, err := t.context()
	if err != nil {
		return err
	}
	if err := checkFlags(flags); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flags = normalFlags(flags & (uint32(schedMask) | coredumpFlags))
	return nil
}

// CtxGetId is unique in the process.
func (t *Thread) CtxGetId(h cu.CUcontext) (uint64, error) {
	c, err := t.contextOf(h)
	if err != nil {
		return 0, err
	}
	return c.id, nil
}

// CtxGetApiVersion is the version of the interface that made the context.
func (t *Thread) CtxGetApiVersion(h cu.CUcontext) (uint32, error) {
	if _, err := t.contextOf(h); err != nil {
		return 0, err
	}
	return contextVersion, nil
}

// CtxGetCacheConfig is what CtxSetCacheConfig set; nothing depends on it here.
func (t *Thread) CtxGetCacheConfig() (cu.CUfunc_cache, error) {
	c, err := t.context()
	if err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cache, nil
}

// CtxSetCacheConfig notes a preference.
func (t *Thread) CtxSetCacheConfig(config cu.CUfunc_cache) error {
	c, err := t.context()
	if err != nil {
		return err
	}
	if config < cu.CU_FUNC_CACHE_PREFER_NONE || config > cu.CU_FUNC_CACHE_PREFER_EQUAL {
		return errInvalidValue
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cache = config
	return nil
}

// CtxGetSharedMemConfig is fixed on this architecture.
func (t *Thread) CtxGetSharedMemConfig() (cu.CUsharedconfig, error) {
	_, err := t.context()
	return cu.CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE, err
}

// CtxSetSharedMemConfig accepts the known values and changes nothing, as on hardware with a fixed bank size.
func (t *Thread) CtxSetSharedMemConfig(config cu.CUsharedconfig) error {
	_, err := t.context()
	if err == nil && (config < 0 || config > cu.CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE) {
		return errInvalidValue
	}
	return err
}

// The range of stream priorities; a lower number is more urgent.
const (
	leastPriority    = 0
	greatestPriority = -5
)

// CtxGetStreamPriorityRange tells it.
func (t *Thread) CtxGetStreamPriorityRange() (least, greatest int32, err error) {
	_, err = t.context()
	return leastPriority, greatestPriority, err
}

// CtxResetPersistingL2Cache has no cache lines to reset.
func (t *Thread) CtxResetPersistingL2Cache() error {
	_, err := t.context()
	return err
}
