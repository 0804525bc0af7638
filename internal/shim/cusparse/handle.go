package cusparse

import (
	"kudzu/internal/cudart"
	"kudzu/internal/driver"
	"kudzu/internal/handle"
	"kudzu/internal/hostmem"
	"kudzu/internal/lockrank"
	"kudzu/internal/shim"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
	"kudzu/internal/spec/sparse"
)

// library is what cusparseCreate gives.
type library struct {
	mu     lockrank.Mutex[lockrank.SparseHandle]
	stream cu.CUstream                  // guarded by mu
	mode   sparse.CusparsePointerMode_t // guarded by mu
	space  shim.Workspace
}

var handles = handle.NewTable[library](handle.CusparseHandle, "cuSPARSE handles")

// find is a live handle. What is none is an invalid value to the generic functions, and not initialized to the older ones.
func find(h uint64) (*library, error) {
	if x := handles.Get(handle.Value(h)); x != nil {
		return x, nil
	}
	return nil, invalidValue
}

// Create makes a handle on the current device.
func (t *Thread) Create() (uint64, error) {
	if err := cudart.Ready(t.driver()); err != nil {
		return 0, err
	}
	return given(handles.New(&library{}))
}

// given is a new handle's value.
func given(v handle.Value) (uint64, error) {
	if v == 0 {
		return 0, allocFailed
	}
	return uint64(v), nil
}

// Destroy ends a handle, after the work that uses its memory.
func (t *Thread) Destroy(h uint64) error {
	if h == 0 {
		return nil
	}
	x := handles.Delete(handle.Value(h))
	if x == nil {
		return invalidValue
	}
	for _, p := range providers.All() {
		p.Drop(x)
	}
	x.space.Drop(t.driver())
	return nil
}

// SetStream sends later work of the handle to a stream.
func (t *Thread) SetStream(h uint64, s rt.CudaStream_t) error {
	x, err := find(h)
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.stream = cu.CUstream(s)
	return nil
}

// GetStream is the stream of a handle.
func (t *Thread) GetStream(h uint64, to hostmem.Ptr) error {
	x, err := find(h)
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return store(to, x.stream)
}

// SetPointerMode says where scalars and results lie.
func (t *Thread) SetPointerMode(h uint64, m sparse.CusparsePointerMode_t) error {
	x, err := find(h)
	if err != nil {
		return err
	}
	if m != sparse.CUSPARSE_POINTER_MODE_HOST && m != sparse.CUSPARSE_POINTER_MODE_DEVICE {
		return invalidValue
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.mode = m
	return nil
}

// GetPointerMode is the mode set last.
func (t *Thread) GetPointerMode(h uint64, to hostmem.Ptr) error {
	x, err := find(h)
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return store(to, x.mode)
}

// LoggerSetCallback is taken and has no effect: there are no messages, KUDZU_LOG says what Kudzu writes.
func (t *Thread) LoggerSetCallback(uint64) error { return nil }

// LoggerSetFile is taken and has no effect.
func (t *Thread) LoggerSetFile(hostmem.Ptr) error { return nil }

// LoggerOpenFile is taken and has no effect.
func (t *Thread) LoggerOpenFile(hostmem.Ptr) error { return nil }

// LoggerSetLevel takes the levels there are.
func (t *Thread) LoggerSetLevel(level int32) error {
	if level < 0 || level > 5 {
		return invalidValue
	}
	return nil
}

// LoggerSetMask is taken and has no effect.
func (t *Thread) LoggerSetMask(int32) error { return nil }

// LoggerForceDisable is taken and has no effect.
func (t *Thread) LoggerForceDisable() error { return nil }

// call is a call that works: it has the handle's workspace until it ends.
type call struct {
	d      *driver.Thread
	lib    *library
	stream cu.CUstream
	mode   sparse.CusparsePointerMode_t
	used   uint64 // bytes of the workspace
}

// enter begins a call of a live handle, on a thread that has a context after it.
func (t *Thread) enter(h uint64) (*call, error) {
	x, err := find(h)
	if err != nil {
		return nil, err
	}
	if err := cudart.Ready(t.driver()); err != nil {
		return nil, err
	}
	x.mu.Lock()
	c := &call{d: t.driver(), lib: x, stream: x.stream, mode: x.mode}
	x.mu.Unlock()
	x.space.Hold()
	return c, nil
}

// leave ends it: its last kernel is in the stream.
func (c *call) leave() { c.lib.space.Release() }

// work runs f with a call of a live handle.
func (t *Thread) work(h uint64, f func(c *call) error) error {
	c, err := t.enter(h)
	if err != nil {
		return err
	}
	defer c.leave()
	return f(c)
}

// older runs f with a call of one of the older functions.
func (t *Thread) older(h uint64, f func(c *call) error) error {
	if _, err := find(h); err != nil {
		return notInitialized
	}
	return t.work(h, f)
}

// scratch is n bytes that later kernels of the call see, and nobody after it.
func (c *call) scratch(n int64) (uint64, error) {
	const align = 256
	size := (uint64(max(n, 8)) + align - 1) &^ (align - 1)
	at, err := c.lib.space.Take(c.d, c.stream, c.used+size)
	if err != nil {
		return 0, err
	}
	c.used += size
	return uint64(at) + c.used - size, nil
}

// scratches are several pieces.
func (c *call) scratches(sizes ...int64) ([]uint64, error) {
	all := make([]uint64, len(sizes))
	for i, n := range sizes {
		var err error
		if all[i], err = c.scratch(n); err != nil {
			return nil, err
		}
	}
	return all, nil
}

const (
	threads   = 256
	maxBlocks = 1 << 16
)

// launch runs a kernel with a thread for each of n things.
func (c *call) launch(k *shim.Kernels, name string, n int64, p *shim.Params) error {
	if n <= 0 {
		return nil
	}
	blocks := min((n+threads-1)/threads, maxBlocks)
	return k.Launch(c.d, c.stream, name, [3]uint32{uint32(blocks), 1, 1}, [3]uint32{threads, 1, 1}, p)
}

// single runs a kernel of one thread.
func (c *call) single(k *shim.Kernels, name string, p *shim.Params) error {
	return k.Launch(c.d, c.stream, name, [3]uint32{1, 1, 1}, [3]uint32{1, 1, 1}, p)
}

// form is the name of a kernel's form for real or complex numbers.
func form(name string, es ...Elem) string {
	if isComplex(es...) {
		return name + "_c"
	}
	return name + "_r"
}

// scalar is alpha or beta in the handle's pointer mode.
func (c *call) scalar(p hostmem.Ptr, e Elem) (cublas.Scalar, error) {
	if p == hostmem.Nil {
		return cublas.Scalar{}, invalidValue
	}
	s, err := cublas.ScalarAt(p, e, blas.CublasPointerMode_t(c.mode))
	if err != nil {
		return s, notSupported
	}
	return s, nil
}

// read waits for the stream and gives a number that a kernel left.
func (c *call) read(at uint64) (v int64, err error) {
	if err := c.d.MemcpyDtoHAsync(hostmem.Of(&v), driver.DevPtr(at), 8, c.stream); err != nil {
		return 0, err
	}
	return v, c.d.StreamSynchronize(c.stream)
}

// answer gives a number of the device as an int: to the host after waiting, or to the device, by the handle's pointer mode.
func (c *call) answer(at uint64, to hostmem.Ptr) error {
	if to == hostmem.Nil {
		return invalidValue
	}
	if c.mode == sparse.CUSPARSE_POINTER_MODE_DEVICE {
		return c.single(convertKernels, "narrow", (&shim.Params{}).U64(at, uint64(to)))
	}
	v, err := c.read(at)
	if err != nil {
		return err
	}
	hostmem.Store(to, int32(v))
	return nil
}
