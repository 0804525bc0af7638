package driver

import (
	"encoding/binary"
	"slices"
	"sync/atomic"

	"kudzu/internal/handle"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// Green contexts: contexts that were given a part of a device's processors. The part is counted, told and kept apart from
// others as documented. It does not bind the engine's workers, which serve every queue: the part is a hint about how much a
// program expects to run at once, and docs/driver.md says so.

const errStreamDetached = Result(cu.CUDA_ERROR_STREAM_DETACHED)

// share is processors of a device: a set of ranges that do not overlap.
type share struct {
	dev  *Device
	list []processors
}

type processors struct{ first, count uint32 }

func (s *share) count() (n uint32) {
	for _, p := range s.list {
		n += p.count
	}
	return n
}

// Green is a context with a share. Its context is made with it and ends with it.
type Green struct {
	handle  cu.CUgreenCtx
	share   share
	ctx     *Context
	primary *Context // retained
	dead    atomic.Bool
}

// resourceMark tells resources that came from here; the driver's part of CUdevResource holds it, the device and the first
// processor.
const resourceMark = 0x7a75646b

func markResource(r *cu.CUdevResource, dev cu.CUdevice, first uint32) {
	b := r.Internal_padding[:]
	binary.LittleEndian.PutUint32(b, resourceMark)
	binary.LittleEndian.PutUint32(b[4:], uint32(dev))
	binary.LittleEndian.PutUint32(b[8:], first)
}

// readResource is the processors that a resource stands for. The bytes are the program's: all are checked.
func (s *state) readResource(r *cu.CUdevResource) (*Device, processors, error) {
	if r.Type != cu.CU_DEV_RESOURCE_TYPE_SM {
		return nil, processors{}, errResourceType
	}
	b := r.Internal_padding[:]
	dev, p := binary.LittleEndian.Uint32(b[4:]), processors{binary.LittleEndian.Uint32(b[8:]), r.Sm().SmCount}
	if binary.LittleEndian.Uint32(b) != resourceMark || uint64(dev) >= uint64(len(s.devices)) {
		return nil, p, errResourceConfig
	}
	d := s.devices[dev]
	if all := uint32(d.info.Processors); p.count == 0 || p.first >= all || p.count > all-p.first {
		return nil, p, errResourceConfig
	}
	return d, p, nil
}

// part is a resource of some processors of another.
func part(of *cu.CUdevResource, first, count uint32) cu.CUdevResource {
	r := *of
	if r.NextResource, r.Sm().SmCount = 0, count; count == 0 {
		r.Type = cu.CU_DEV_RESOURCE_TYPE_INVALID
	}
	binary.LittleEndian.PutUint32(r.Internal_padding[8:], first)
	return r
}

// DevSmResourceSplit divides processors into groups of given sizes; a size of 0 asks for as many as there are. Without a
// place for the groups it only tells their sizes.
func (t *Thread) DevSmResourceSplit(result hostmem.Ptr, groups uint32, input, remainder hostmem.Ptr, flags uint32, params hostmem.Ptr) error {
	s, err := t.enter()
	if err != nil {
		return err
	}
	if input == hostmem.Nil || params == hostmem.Nil || groups == 0 || flags != 0 {
		return errInvalidValue
	}
	in := hostmem.Load[cu.CUdevResource](input)
	d, have, err := s.readResource(&in)
	if err != nil {
		return err
	}
	if groups > have.count {
		return errResourceConfig
	}
	list := slices.Clone(hostmem.Slice[cu.CU_DEV_SM_RESOURCE_GROUP_PARAMS](params, int(groups)))
	at, left := have.first, have.count
	var parts []cu.CUdevResource
	for i := range list {
		n, err := groupSize(&list[i], d.unit(), have.count, left)
		if err != nil {
			return err
		}
		parts = append(parts, part(&in, at, n))
		list[i].SmCount = n
		at, left = at+n, left-n
	}
	for i := range list {
		hostmem.Store(params.Index(i, sizeOfGroup), list[i])
		if result != hostmem.Nil {
			hostmem.Store(result.Index(i, sizeOfResource), parts[i])
		}
	}
	if remainder != hostmem.Nil {
		hostmem.Store(remainder, part(&in, at, left))
	}
	return nil
}

// sizeOfGroup is sizeof(CU_DEV_SM_RESOURCE_GROUP_PARAMS).
const sizeOfGroup = 64

// groupSize is the processors that one group gets of what is left.
func groupSize(p *cu.CU_DEV_SM_RESOURCE_GROUP_PARAMS, least, total, left uint32) (uint32, error) {
	const known = uint32(cu.CU_DEV_SM_RESOURCE_GROUP_BACKFILL | cu.CU_DEV_SM_RESOURCE_GROUP_LOCALITY_DOMAIN_ID)
	switch {
	case p.Flags&^known != 0 || p.Reserved != [11]uint32{}:
		return 0, errInvalidValue
	case p.Flags&uint32(cu.CU_DEV_SM_RESOURCE_GROUP_LOCALITY_DOMAIN_ID) != 0 && p.LocalityDomainId != 0:
		return 0, errResourceConfig // there is one domain
	}
	unit := p.CoscheduledSmCount
	if unit == 0 {
		unit = least
	}
	n := p.SmCount
	if n == 0 {
		if n = left / unit * unit; n == 0 || p.Flags&uint32(cu.CU_DEV_SM_RESOURCE_GROUP_BACKFILL) != 0 {
			n = left
		}
	}
	// All of it need not be a multiple, nor a group that may be filled up with others.
	whole := n == total || n%unit == 0 || p.Flags&uint32(cu.CU_DEV_SM_RESOURCE_GROUP_BACKFILL) != 0 || p.SmCount == 0
	if n == 0 || n > left || !whole {
		return 0, errResourceConfig
	}
	return n, nil
}

// DevResourceGenerateDesc makes a description of what a green context shall have. It lives as long as the process: there is
// no call that ends it.
func (t *Thread) DevResourceGenerateDesc(list hostmem.Ptr, n uint32) (cu.CUdevResourceDesc, error) {
	s, err := t.enter()
	if err != nil {
		return 0, err
	}
	if list == hostmem.Nil || n == 0 || n > maxLaunchAttrs {
		return 0, errInvalidValue
	}
	all := slices.Clone(hostmem.Slice[cu.CUdevResource](list, int(n)))
	sh := &share{}
	for i := range all {
		d, p, err := s.readResource(&all[i])
		if err != nil {
			return 0, err
		}
		clash := slices.ContainsFunc(sh.list, func(o processors) bool { return p.first < o.first+o.count && o.first < p.first+p.count })
		if clash || sh.dev != nil && sh.dev != d {
			return 0, errResourceConfig
		}
		sh.dev, sh.list = d, append(sh.list, p)
	}
	h := s.shares.New(sh)
	if h == 0 {
		return 0, errOutOfMemory
	}
	return cu.CUdevResourceDesc(h), nil
}

// GreenCtxCreate makes a context with a share of a device. It keeps the primary context alive.
func (t *Thread) GreenCtxCreate(desc cu.CUdevResourceDesc, dev cu.CUdevice, flags uint32) (cu.CUgreenCtx, error) {
	d, err := t.device(dev)
	if err != nil {
		return 0, err
	}
	s := current.Load()
	sh := s.shares.Get(handleValue(desc))
	if sh == nil || flags&^uint32(cu.CU_GREEN_CTX_DEFAULT_STREAM) != 0 { // before 13.1 the flag was demanded; its runtime leaves it out
		return 0, errInvalidValue
	}
	if sh.dev != d {
		return 0, errInvalidDevice
	}
	if _, err := t.DevicePrimaryCtxRetain(dev); err != nil {
		return 0, err
	}
	g := &Green{share: *sh, primary: d.primary}
	undo := func(err error) (cu.CUgreenCtx, error) {
		_ = t.DevicePrimaryCtxRelease(dev) // retained above
		return 0, err
	}
	if g.ctx, err = s.newContext(d, false); err != nil {
		return undo(err)
	}
	g.ctx.green = g
	h := s.greens.New(g)
	if h == 0 {
		s.contexts.Delete(handleValue(g.ctx.handle))
		return undo(errOutOfMemory)
	}
	g.handle = cu.CUgreenCtx(h)
	if err := g.ctx.wake(0); err != nil {
		s.greens.Delete(h)
		s.contexts.Delete(handleValue(g.ctx.handle))
		return undo(err)
	}
	return g.handle, nil
}

// green finds a green context.
func (t *Thread) green(h cu.CUgreenCtx) (*Green, error) {
	s, err := t.enter()
	if err != nil {
		return nil, err
	}
	if g := s.greens.Get(handleValue(h)); g != nil {
		return g, nil
	}
	return nil, errInvalidContext
}

// GreenOf is the green context whose context h is; any other context is refused.
func (t *Thread) GreenOf(h cu.CUcontext) (cu.CUgreenCtx, error) {
	s, err := t.enter()
	if err != nil {
		return 0, err
	}
	c := s.contexts.Get(handleValue(h))
	if c == nil {
		return 0, errInvalidContext
	}
	if c.green == nil {
		return 0, errInvalidValue
	}
	return c.green.handle, nil
}

// GreenCtxDestroy ends a green context and its context. Its streams stay as handles that answer STREAM_DETACHED until they
// are destroyed.
func (t *Thread) GreenCtxDestroy(h cu.CUgreenCtx) error {
	g, err := t.green(h)
	if err != nil {
		return err
	}
	s := g.ctx.state
	if s.greens.Delete(handle.Value(h)) == nil {
		return errInvalidContext
	}
	g.dead.Store(true)
	s.contexts.Delete(handleValue(g.ctx.handle))
	s.graves.add(g.ctx.handle, g.ctx.epitaph())
	if t.Depth > 0 && t.Stack[t.Depth-1] == uint64(g.ctx.handle) {
		t.pop()
	}
	g.ctx.put()
	return t.DevicePrimaryCtxRelease(g.share.dev.ordinal)
}

// resource is the share in the words of a program.
func (g *Green) resource(kind cu.CUdevResourceType) (cu.CUdevResource, error) {
	all, err := g.share.dev.resource(kind)
	if err != nil {
		return all, err
	}
	return part(&all, g.share.list[0].first, g.share.count()), nil
}

// GreenCtxGetDevResource is what a green context was given.
func (t *Thread) GreenCtxGetDevResource(h cu.CUgreenCtx, kind cu.CUdevResourceType) (r cu.CUdevResource, err error) {
	g, err := t.green(h)
	if err != nil {
		return r, err
	}
	return g.resource(kind)
}

// CtxFromGreenCtx is the context of a green one, to be made current.
func (t *Thread) CtxFromGreenCtx(h cu.CUgreenCtx) (cu.CUcontext, error) {
	g, err := t.green(h)
	if err != nil {
		return 0, err
	}
	return g.ctx.handle, nil
}

// GreenCtxRecordEvent moves an event behind all work of a green context.
func (t *Thread) GreenCtxRecordEvent(h cu.CUgreenCtx, event cu.CUevent) error {
	g, err := t.green(h)
	if err != nil {
		return err
	}
	return t.CtxRecordEvent(g.ctx.handle, event)
}

// GreenCtxWaitEvent makes all later work of a green context wait for an event.
func (t *Thread) GreenCtxWaitEvent(h cu.CUgreenCtx, event cu.CUevent) error {
	g, err := t.green(h)
	if err != nil {
		return err
	}
	return t.CtxWaitEvent(g.ctx.handle, event)
}

// GreenCtxStreamCreate makes a stream of a green context, which must not be ordered with a default stream.
func (t *Thread) GreenCtxStreamCreate(h cu.CUgreenCtx, flags uint32, priority int32) (cu.CUstream, error) {
	g, err := t.green(h)
	if err != nil {
		return 0, err
	}
	if flags != uint32(cu.CU_STREAM_NON_BLOCKING) {
		return 0, errInvalidValue
	}
	if err := g.ctx.usable(); err != nil {
		return 0, err
	}
	return g.ctx.openStream(flags, priority)
}

// GreenCtxGetId is unique in the process.
func (t *Thread) GreenCtxGetId(h cu.CUgreenCtx) (uint64, error) {
	g, err := t.green(h)
	if err != nil {
		return 0, err
	}
	return g.ctx.id, nil
}

// StreamGetGreenCtx is the green context of a stream, or none.
func (t *Thread) StreamGetGreenCtx(h cu.CUstream) (cu.CUgreenCtx, error) {
	st, err := t.stream(h)
	if err != nil || st.ctx.green == nil {
		return 0, err
	}
	return st.ctx.green.handle, nil
}

// root is the context whose functions and events a context shares: a green one's primary context.
func (c *Context) root() *Context {
	if c.green != nil {
		return c.green.primary
	}
	return c
}

// kin reports whether functions and events of one context may be used in streams of another.
func (c *Context) kin(o *Context) bool { return c == o || c.root() == o.root() }

// gone is the answer about a stream whose context ended.
func (c *Context) gone() error {
	if c.green != nil && c.green.dead.Load() {
		return errStreamDetached
	}
	return c.usable()
}
