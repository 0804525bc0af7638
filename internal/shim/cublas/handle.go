package cublas

import (
	"sync/atomic"

	"kudzu/internal/cudart"
	"kudzu/internal/driver"
	"kudzu/internal/handle"
	"kudzu/internal/hostmem"
	"kudzu/internal/lockrank"
	"kudzu/internal/shim"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
)

// Thread is the calling thread; its methods are the functions of cuBLAS.
type Thread driver.Thread

func (t *Thread) driver() *driver.Thread { return (*driver.Thread)(t) }

// Handle is what cublasCreate gives. cuBLASLt takes the same handles: programs cast one into the other.
type Handle struct {
	mu       lockrank.Mutex[lockrank.BlasHandle]
	stream   cu.CUstream
	pointers blas.CublasPointerMode_t
	math     blas.CublasMath_t
	atomics  blas.CublasAtomicsMode_t
	sms      int32
	mode     int32 // of the environment
	emulated emulation
	modes    *driver.Modes // stream and pointers again, for calls that C makes; nil inside a handle of cuSOLVER's

	space shim.Workspace // packed operands, partial results
	sums  shim.Workspace // products that a later kernel reads
}

// Spaces are the handle's memory: for packed operands, and for products that a later kernel reads.
func (x *Handle) Spaces() (pack, sums *shim.Workspace) { return &x.space, &x.sums }

var handles = handle.NewTable[Handle](handle.CublasHandle, "cuBLAS handles")

func (t *Thread) handle(h blas.CublasHandle_t) (*Handle, error) {
	if x := handles.Get(handle.Value(h)); x != nil {
		return x, nil
	}
	return nil, notInitialized
}

// Open is cublasCreate for both libraries.
func Open(d *driver.Thread) (uint64, error) {
	if err := cudart.Ready(d); err != nil {
		return 0, err
	}
	v := handles.New(&Handle{emulated: emulation{special: rt.CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_DEFAULT}, modes: driver.NewModes()})
	if v == 0 {
		return 0, allocFailed
	}
	return uint64(v), nil
}

// Close is cublasDestroy for both libraries.
func Close(d *driver.Thread, h uint64) error {
	x := handles.Delete(handle.Value(h))
	if x == nil {
		return notInitialized
	}
	d.EndTickets()
	x.drop()
	x.space.Drop(d)
	x.sums.Drop(d)
	return nil
}

// Enter is the live handle with a value, on a thread that has a context after it: for calls that work.
func Enter(d *driver.Thread, h uint64) (*Handle, error) {
	x := Find(h)
	if x == nil {
		return nil, notInitialized
	}
	return x, cudart.Ready(d)
}

// Find is the live handle with a value, or nil.
func Find(h uint64) *Handle { return handles.Get(handle.Value(h)) }

// Create makes a handle on the current device.
func (t *Thread) Create() (uint64, error) { return Open(t.driver()) }

// Destroy ends a handle, after the work that uses its memory.
func (t *Thread) Destroy(h blas.CublasHandle_t) error { return Close(t.driver(), uint64(h)) }

// SetStream sends later work of the handle to a stream.
func (t *Thread) SetStream(h blas.CublasHandle_t, s rt.CudaStream_t) error {
	x, err := t.handle(h)
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.stream = cu.CUstream(s)
	x.modes.Set(0, uint64(s))
	return nil
}

// GetStream is the stream of a handle.
func (t *Thread) GetStream(h blas.CublasHandle_t) (rt.CudaStream_t, error) {
	x, err := t.handle(h)
	if err != nil {
		return 0, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return rt.CudaStream_t(x.stream), nil
}

// SetWorkspace is told where cuBLAS may work. We bring our own memory. The manual wants an address that is a multiple of 256; an H200 took
// others.
func (t *Thread) SetWorkspace(h blas.CublasHandle_t, _ hostmem.Ptr, _ uint64) error {
	_, err := t.handle(h)
	return err
}

// set changes a mode of a handle if its value is one of those there are.
func set[T comparable](t *Thread, h blas.CublasHandle_t, field func(*Handle) *T, v T, known bool) error {
	x, err := t.handle(h)
	if err != nil {
		return err
	}
	if !known {
		return invalidValue
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	*field(x) = v
	x.modes.Set(1, uint64(x.pointers))
	return nil
}

func get[T comparable](t *Thread, h blas.CublasHandle_t, field func(*Handle) *T) (v T, err error) {
	x, err := t.handle(h)
	if err != nil {
		return v, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return *field(x), nil
}

func pointers(x *Handle) *blas.CublasPointerMode_t { return &x.pointers }
func mathMode(x *Handle) *blas.CublasMath_t        { return &x.math }
func atomics(x *Handle) *blas.CublasAtomicsMode_t  { return &x.atomics }
func sms(x *Handle) *int32                         { return &x.sms }
func mode(x *Handle) *int32                        { return &x.mode }

// SetPointerMode says where alpha, beta and results lie.
func (t *Thread) SetPointerMode(h blas.CublasHandle_t, m blas.CublasPointerMode_t) error {
	return set(t, h, pointers, m, m == blas.CUBLAS_POINTER_MODE_HOST || m == blas.CUBLAS_POINTER_MODE_DEVICE)
}

// GetPointerMode is the mode set last.
func (t *Thread) GetPointerMode(h blas.CublasHandle_t) (blas.CublasPointerMode_t, error) {
	return get(t, h, pointers)
}

// SetMathMode is kept and answered; every product is computed with at least the precision any mode asks for.
func (t *Thread) SetMathMode(h blas.CublasHandle_t, m blas.CublasMath_t) error {
	low := m &^ blas.CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION
	return set(t, h, mathMode, m, low >= 0 && low < blas.CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION)
}

// GetMathMode is the mode set last.
func (t *Thread) GetMathMode(h blas.CublasHandle_t) (blas.CublasMath_t, error) {
	return get(t, h, mathMode)
}

// SetAtomicsMode is kept and answered; no kernel here uses atomics.
func (t *Thread) SetAtomicsMode(h blas.CublasHandle_t, m blas.CublasAtomicsMode_t) error {
	return set(t, h, atomics, m, m == blas.CUBLAS_ATOMICS_ALLOWED || m == blas.CUBLAS_ATOMICS_NOT_ALLOWED)
}

// GetAtomicsMode is the mode set last.
func (t *Thread) GetAtomicsMode(h blas.CublasHandle_t) (blas.CublasAtomicsMode_t, error) {
	return get(t, h, atomics)
}

// SetSmCountTarget is kept and answered.
func (t *Thread) SetSmCountTarget(h blas.CublasHandle_t, n int32) error {
	return set(t, h, sms, n, n >= 0)
}

// GetSmCountTarget is the number set last.
func (t *Thread) GetSmCountTarget(h blas.CublasHandle_t) (int32, error) { return get(t, h, sms) }

// LoggerConfigure is taken and has no effect: KUDZU_LOG says what Kudzu writes.
func (t *Thread) LoggerConfigure(on, out, errs int32, file hostmem.Ptr) error { return nil }

// logger is the program's function for messages. There are none: it is kept to be answered.
var logger atomic.Uint64

// SetLoggerCallback keeps the function.
func (t *Thread) SetLoggerCallback(f hostmem.Ptr) error {
	logger.Store(uint64(f))
	return nil
}

// GetLoggerCallback is the function set last.
func (t *Thread) GetLoggerCallback(to hostmem.Ptr) error {
	if to == hostmem.Nil {
		return invalidValue
	}
	hostmem.Store(to, logger.Load())
	return nil
}

// SetEnvironmentMode keeps 0 or 1, as the vendor's library does. It is not in its headers: cuSOLVER calls it.
func (t *Thread) SetEnvironmentMode(h blas.CublasHandle_t, v int32) error {
	return set(t, h, mode, v, v == 0 || v == 1)
}

// GetEnvironmentMode is the one set last.
func (t *Thread) GetEnvironmentMode(h blas.CublasHandle_t) (int32, error) { return get(t, h, mode) }

// Mode is the environment mode, for cuBLASLt, whose handles are the same.
func (x *Handle) Mode() int32 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.mode
}

// SetMode sets it.
func (x *Handle) SetMode(v int32) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.mode = v
}
