package cudart

import (
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
)

// Execution contexts of CUDA 13: a device's own is its primary context, others have a share of a device (green contexts).

// DeviceGetExecutionCtx is the device's own execution context.
func (t *Thread) DeviceGetExecutionCtx(dev int32) (rt.CudaExecutionContext_t, error) {
	if _, err := t.device(dev); err != nil {
		return 0, err
	}
	h, err := t.wake(dev)
	return rt.CudaExecutionContext_t(h), err
}

// within runs f with the context current.
func (t *Thread) within(ctx rt.CudaExecutionContext_t, f func(d *driver.Thread) error) error {
	d, err := t.started()
	if err != nil {
		return err
	}
	if err := d.CtxPushCurrent(cu.CUcontext(ctx)); err != nil {
		return errInvalidHandle
	}
	err = f(d)
	if _, e := d.CtxPopCurrent(); err == nil {
		err = e
	}
	return err
}

// ExecutionCtxGetDevice is the context's device.
func (t *Thread) ExecutionCtxGetDevice(ctx rt.CudaExecutionContext_t) (dev int32, err error) {
	err = t.within(ctx, func(d *driver.Thread) (e error) { dev, e = d.CtxGetDevice(); return e })
	return dev, err
}

// ExecutionCtxStreamCreate makes a stream of the context.
func (t *Thread) ExecutionCtxStreamCreate(ctx rt.CudaExecutionContext_t, flags uint32, priority int32) (s rt.CudaStream_t, err error) {
	err = t.within(ctx, func(d *driver.Thread) error {
		h, e := d.StreamCreateWithPriority(flags, priority)
		s = rt.CudaStream_t(h)
		return e
	})
	return s, err
}

// ExecutionCtxSynchronize waits for all work of the context.
func (t *Thread) ExecutionCtxSynchronize(ctx rt.CudaExecutionContext_t) error {
	return t.within(ctx, func(d *driver.Thread) error { return d.CtxSynchronize() })
}

// devResource gives a resource of the driver as the runtime lays it out, which is alike.
func devResource(r *cu.CUdevResource) rt.CudaDevResource {
	return hostmem.As[rt.CudaDevResource](*r)
}

// DeviceGetDevResource tells what the device has of a kind of resource.
func (t *Thread) DeviceGetDevResource(dev int32, kind rt.CudaDevResourceType) (rt.CudaDevResource, error) {
	d, err := t.device(dev)
	if err != nil {
		return rt.CudaDevResource{}, err
	}
	r, err := d.DeviceGetDevResource(dev, cu.CUdevResourceType(kind))
	return devResource(&r), err
}

// ExecutionCtxGetDevResource tells what a context has.
func (t *Thread) ExecutionCtxGetDevResource(ctx rt.CudaExecutionContext_t, kind rt.CudaDevResourceType) (rt.CudaDevResource, error) {
	d, err := t.started()
	if err != nil {
		return rt.CudaDevResource{}, err
	}
	r, err := d.CtxGetDevResource(cu.CUcontext(ctx), cu.CUdevResourceType(kind))
	return devResource(&r), err
}

// StreamGetDevResource tells what a stream has: its context's.
func (t *Thread) StreamGetDevResource(s rt.CudaStream_t, kind rt.CudaDevResourceType) (rt.CudaDevResource, error) {
	d, err := t.ready()
	if err != nil {
		return rt.CudaDevResource{}, err
	}
	r, err := d.StreamGetDevResource(cu.CUstream(s), cu.CUdevResourceType(kind))
	return devResource(&r), err
}

// GreenCtxCreate makes an execution context with a share of a device. It is known by its context, as a device's own is.
func (t *Thread) GreenCtxCreate(desc rt.CudaDevResourceDesc_t, dev int32, flags uint32) (rt.CudaExecutionContext_t, error) {
	if flags != 0 {
		return 0, errInvalidValue
	}
	d, err := t.device(dev)
	if err != nil {
		return 0, err
	}
	g, err := d.GreenCtxCreate(cu.CUdevResourceDesc(desc), dev, uint32(cu.CU_GREEN_CTX_DEFAULT_STREAM))
	if err != nil {
		return 0, err
	}
	c, err := d.CtxFromGreenCtx(g)
	return rt.CudaExecutionContext_t(c), err
}

// ExecutionCtxDestroy ends a context that GreenCtxCreate made; a device's own cannot be ended.
func (t *Thread) ExecutionCtxDestroy(ctx rt.CudaExecutionContext_t) error {
	d, err := t.started()
	if err != nil {
		return err
	}
	g, err := d.GreenOf(cu.CUcontext(ctx))
	if err != nil {
		return err
	}
	return d.GreenCtxDestroy(g)
}
