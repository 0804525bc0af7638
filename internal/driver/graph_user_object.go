package driver

import (
	"kudzu/internal/backend"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// UserObject is something of the program's that graphs keep alive. When the last reference goes, its destructor is called once.
type UserObject struct {
	state   *state
	handle  cu.CUuserObject
	ptr     uint64
	destroy cu.CUhostFn
	gone    func() // of ours, which has no handle: instead of the destructor
	refs    uint64 // guarded by graphMu
}

// maxRefs bounds the references of one call.
const maxRefs = 1<<31 - 1

func (t *Thread) userObject(h cu.CUuserObject) (*UserObject, error) {
	s, err := t.enter()
	if err != nil {
		return nil, err
	}
	if o := s.userObjects.Get(handleValue(h)); o != nil {
		return o, nil
	}
	return nil, errInvalidValue
}

// release takes references away; more than there are is an error that nothing can be done about here.
//
// Preconditions: graphMu is held.
func (o *UserObject) release(count uint32, after *cleanup) {
	if o.refs == 0 {
		return
	}
	o.refs -= min(o.refs, uint64(count))
	if o.refs > 0 {
		return
	}
	if o.gone != nil {
		after.todo = append(after.todo, o.gone)
		return
	}
	o.state.userObjects.Delete(handleValue(o.handle))
	after.todo = append(after.todo, func() { o.state.callOut(uint64(o.destroy), o.ptr, 0, 0, 0) })
}

// hold puts references into a graph.
//
// Preconditions: graphMu is held; the references are counted.
func (g *Graph) hold(o *UserObject, count uint32) {
	if g.objects == nil {
		g.objects = map[*UserObject]uint32{}
	}
	g.objects[o] += count
}

// hold has an executable hold references to what a graph and its child graphs hold.
//
// Preconditions: graphMu is held.
func (x *GraphExec) hold(g *Graph) {
	for o, n := range g.objects {
		o.refs += uint64(n)
		x.objects[o] += n
	}
	for _, n := range g.nodes {
		if c, ok := n.task.(*childTask); ok {
			x.hold(c.graph)
		}
	}
}

// letGo takes an executable's references away: now, or when its last launch is over.
//
// Preconditions: graphMu is held.
func (s *state) letGo(objects map[*UserObject]uint32, launch backend.Fence, after *cleanup) {
	release := func(after *cleanup) {
		for o, n := range objects {
			o.release(n, after)
		}
	}
	if launch != nil {
		if done, err := launch.Done(); err == nil && !done {
			go func() {
				_ = launch.Sync() // after a fault nothing uses them either
				drop(launch)
				_ = s.locked(func(after *cleanup) error { release(after); return nil })
			}()
			return
		}
		drop(launch)
	}
	release(after)
}

// drop gives a fence back that nobody asks any more.
func drop(f backend.Fence) {
	if r, ok := f.(backend.Releaser); ok {
		r.Release()
	}
}

// UserObjectCreate makes an object with references of the caller's.
func (t *Thread) UserObjectCreate(ptr hostmem.Ptr, destroy cu.CUhostFn, refs, flags uint32) (cu.CUuserObject, error) {
	s, err := t.enter()
	if err != nil {
		return 0, err
	}
	// The flag is required: it says that nobody can wait for the destructor.
	if destroy == 0 || refs == 0 || refs > maxRefs || flags != uint32(cu.CU_USER_OBJECT_NO_DESTRUCTOR_SYNC) {
		return 0, errInvalidValue
	}
	if s.callOut == nil {
		return 0, errNotSupported
	}
	o := &UserObject{state: s, ptr: uint64(ptr), destroy: destroy, refs: uint64(refs)}
	h := s.userObjects.New(o)
	if h == 0 {
		return 0, errOutOfMemory
	}
	o.handle = cu.CUuserObject(h)
	return o.handle, nil
}

// UserObjectRetain adds references of the caller's.
func (t *Thread) UserObjectRetain(h cu.CUuserObject, count uint32) error {
	o, err := t.userObject(h)
	if err != nil {
		return err
	}
	if count == 0 || count > maxRefs {
		return errInvalidValue
	}
	return o.state.locked(func(*cleanup) error {
		if o.refs == 0 {
			return errInvalidValue
		}
		o.refs += uint64(count)
		return nil
	})
}

// UserObjectRelease takes references of the caller's away.
func (t *Thread) UserObjectRelease(h cu.CUuserObject, count uint32) error {
	o, err := t.userObject(h)
	if err != nil {
		return err
	}
	if count == 0 || count > maxRefs {
		return errInvalidValue
	}
	return o.state.locked(func(after *cleanup) error {
		if uint64(count) > o.refs {
			return errInvalidValue
		}
		o.release(count, after)
		return nil
	})
}

// GraphRetainUserObject makes a graph hold references, new ones or the caller's.
func (t *Thread) GraphRetainUserObject(h cu.CUgraph, object cu.CUuserObject, count, flags uint32) error {
	g, err := t.graph(h)
	if err != nil {
		return err
	}
	o, err := t.userObject(object)
	if err != nil {
		return err
	}
	if count == 0 || count > maxRefs || flags&^uint32(cu.CU_GRAPH_USER_OBJECT_MOVE) != 0 {
		return errInvalidValue
	}
	return g.state.locked(func(*cleanup) error {
		if g.dead || o.refs == 0 {
			return errInvalidValue
		}
		if flags&uint32(cu.CU_GRAPH_USER_OBJECT_MOVE) == 0 {
			o.refs += uint64(count)
		}
		g.hold(o, count)
		return nil
	})
}

// GraphReleaseUserObject takes references of a graph away.
func (t *Thread) GraphReleaseUserObject(h cu.CUgraph, object cu.CUuserObject, count uint32) error {
	g, err := t.graph(h)
	if err != nil {
		return err
	}
	o, err := t.userObject(object)
	if err != nil {
		return err
	}
	return g.state.locked(func(after *cleanup) error {
		if count == 0 || g.objects[o] < count {
			return errInvalidValue
		}
		if g.objects[o] -= count; g.objects[o] == 0 {
			delete(g.objects, o)
		}
		o.release(count, after)
		return nil
	})
}
