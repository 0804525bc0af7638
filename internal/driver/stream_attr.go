package driver

import (
	"maps"

	"kudzu/internal/backend"
	"kudzu/internal/spec/cu"
)

// StreamSetAttribute sets what may be set: hints about caches and waiting, which nothing depends on here.
func (t *Thread) StreamSetAttribute(h cu.CUstream, id cu.CUstreamAttrID, v *cu.CUstreamAttrValue) error {
	st, err := t.stream(h)
	if err != nil {
		return err
	}
	switch id {
	case cu.CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, cu.CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, cu.CU_LAUNCH_ATTRIBUTE_PRIORITY,
		cu.CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, cu.CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
	default:
		return errInvalidValue
	}
	value := *v
	if p := *value.SyncPolicy(); id == cu.CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY && (p < cu.CU_SYNC_POLICY_AUTO || p > cu.CU_SYNC_POLICY_BLOCKING_SYNC) {
		return errInvalidValue
	}
	st.attrMu.Lock()
	defer st.attrMu.Unlock()
	if st.attrs == nil {
		st.attrs = map[cu.CUstreamAttrID]cu.CUstreamAttrValue{}
	}
	st.attrs[id] = value
	return nil
}

// StreamGetAttribute reads an attribute; one that was not set has its default.
func (t *Thread) StreamGetAttribute(h cu.CUstream, id cu.CUstreamAttrID) (v cu.CUstreamAttrValue, err error) {
	st, err := t.stream(h)
	if err != nil {
		return v, err
	}
	st.attrMu.Lock()
	v, set := st.attrs[id]
	st.attrMu.Unlock()
	if set {
		return v, nil
	}
	switch id {
	case cu.CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, cu.CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
	case cu.CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
		*v.SyncPolicy() = -1 // as the real driver: none was set
	case cu.CU_LAUNCH_ATTRIBUTE_PRIORITY:
		*v.Priority() = st.priority
	case cu.CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
		v.MemSyncDomainMap().Remote = 1
	default:
		return v, errInvalidValue
	}
	return v, nil
}

// StreamCopyAttributes takes all attributes of another stream over.
func (t *Thread) StreamCopyAttributes(dst, src cu.CUstream) error {
	to, err := t.stream(dst)
	if err != nil {
		return err
	}
	from, err := t.stream(src)
	if err != nil {
		return err
	}
	if to.ctx != from.ctx {
		return errInvalidValue
	}
	from.attrMu.Lock()
	list := maps.Clone(from.attrs)
	from.attrMu.Unlock()
	to.attrMu.Lock()
	defer to.attrMu.Unlock()
	to.attrs = list
	return nil
}

// CtxRecordEvent moves an event behind all work of a context.
func (t *Thread) CtxRecordEvent(h cu.CUcontext, event cu.CUevent) error {
	c, err := t.contextOf(h)
	if err != nil {
		return err
	}
	e, err := t.event(event)
	if err != nil {
		return err
	}
	if !e.ctx.kin(c) {
		return errInvalidHandle
	}
	if err := t.syncing(c); err != nil {
		return err
	}
	// The legacy stream, made to wait for every other one, marks the place.
	st := c.legacy.Load()
	var f backend.Fence
	err = st.enqueue(func(q backend.Queue) (err error) {
		c.mu.Lock()
		all := c.allStreams()
		c.mu.Unlock()
		for _, o := range all {
			if o.kind == nonBlockingStream && err == nil {
				err = after(q, o.q)
			}
		}
		if err == nil {
			f, err = q.Mark()
		}
		return err
	})
	if err != nil {
		return c.fail(err)
	}
	e.moveTo(f, nil)
	return nil
}

// CtxWaitEvent makes all later work of a context's streams wait for an event.
func (t *Thread) CtxWaitEvent(h cu.CUcontext, event cu.CUevent) error {
	c, err := t.contextOf(h)
	if err != nil {
		return err
	}
	e, err := t.event(event)
	if err != nil {
		return err
	}
	if err := t.syncing(c); err != nil {
		return err
	}
	if e.capturedAt() != nil {
		return errCapturedEvent
	}
	f := e.last()
	if f == nil {
		return nil
	}
	c.mu.Lock()
	all := c.allStreams()
	c.mu.Unlock()
	for _, st := range all {
		if err := st.enqueue(func(q backend.Queue) error { return q.Wait(f) }); err != nil {
			return c.fail(err)
		}
	}
	return nil
}
