package cusolver

import (
	"kudzu/internal/cudart"
	"kudzu/internal/driver"
	"kudzu/internal/handle"
	"kudzu/internal/lockrank"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
	"kudzu/internal/spec/solver"
)

// Thread is the calling thread; its methods are the functions of cuSOLVER.
type Thread driver.Thread

func (t *Thread) driver() *driver.Thread { return (*driver.Thread)(t) }

// The types of matrices.
const (
	F32 = cublas.F32
	F64 = cublas.F64
	C32 = cublas.C32
	C64 = cublas.C64
)

// Elem is the type of a matrix's elements.
type Elem = cublas.Elem

// dense is what cusolverDnCreate gives.
type dense struct {
	mu            lockrank.Mutex[lockrank.SolverHandle]
	stream        cu.CUstream                        // guarded by mu, as all that follows
	deterministic solver.CusolverDeterministicMode_t //
	math          solver.CusolverMathMode_t
	strategy      rt.CudaEmulationStrategy
	mantissa      rt.CudaEmulationMantissaControl
	maxBits       int32
	bitOffset     int32
	special       rt.CudaEmulationSpecialValuesSupport

	modes *driver.Modes // stream again, for calls that C makes

	blas cublas.Handle // its workspaces are what products pack into
}

var denses = handle.NewTable[dense](handle.CusolverDense, "cuSOLVER handles")

// DnCreate makes a handle on the current device.
func (t *Thread) DnCreate() (uint64, error) {
	if err := cudart.Ready(t.driver()); err != nil {
		return 0, notInitialized
	}
	v := denses.New(&dense{
		deterministic: solver.CUSOLVER_DETERMINISTIC_RESULTS, math: solver.CUSOLVER_DEFAULT_MATH,
		special: rt.CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_DEFAULT, modes: driver.NewModes(),
	})
	if v == 0 {
		return 0, allocFailed
	}
	return uint64(v), nil
}

// DnDestroy ends a handle, after the work that uses its memory.
func (t *Thread) DnDestroy(h solver.CusolverDnHandle_t) error {
	x := denses.Delete(handle.Value(h))
	if x == nil {
		return notInitialized
	}
	t.driver().EndTickets()
	for _, p := range providers.All() {
		p.Drop(&x.blas)
	}
	pack, sums := x.blas.Spaces()
	pack.Drop(t.driver())
	sums.Drop(t.driver())
	return nil
}

// set changes something of a handle if its value is one of those there are.
func set[T any](h solver.CusolverDnHandle_t, field func(*dense) *T, v T, known bool) error {
	x := denses.Get(handle.Value(h))
	if x == nil {
		return notInitialized
	}
	if !known {
		return invalidValue
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	*field(x) = v
	x.modes.Set(0, uint64(x.stream))
	return nil
}

func get[T any](h solver.CusolverDnHandle_t, field func(*dense) *T) (v T, err error) {
	x := denses.Get(handle.Value(h))
	if x == nil {
		return v, notInitialized
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return *field(x), nil
}

func stream(x *dense) *cu.CUstream                                 { return &x.stream }
func deterministic(x *dense) *solver.CusolverDeterministicMode_t   { return &x.deterministic }
func mathMode(x *dense) *solver.CusolverMathMode_t                 { return &x.math }
func strategy(x *dense) *rt.CudaEmulationStrategy                  { return &x.strategy }
func mantissa(x *dense) *rt.CudaEmulationMantissaControl           { return &x.mantissa }
func maxBits(x *dense) *int32                                      { return &x.maxBits }
func bitOffset(x *dense) *int32                                    { return &x.bitOffset }
func specialValues(x *dense) *rt.CudaEmulationSpecialValuesSupport { return &x.special }

// DnSetStream sends later work of the handle to a stream.
func (t *Thread) DnSetStream(h solver.CusolverDnHandle_t, s rt.CudaStream_t) error {
	return set(h, stream, cu.CUstream(s), true)
}

// DnGetStream is the stream of a handle.
func (t *Thread) DnGetStream(h solver.CusolverDnHandle_t) (rt.CudaStream_t, error) {
	s, err := get(h, stream)
	return rt.CudaStream_t(s), err
}

// DnSetDeterministicMode is kept and answered: every result is the same each time.
func (t *Thread) DnSetDeterministicMode(h solver.CusolverDnHandle_t, m solver.CusolverDeterministicMode_t) error {
	if m != solver.CUSOLVER_DETERMINISTIC_RESULTS && m != solver.CUSOLVER_ALLOW_NON_DETERMINISTIC_RESULTS && denses.Get(handle.Value(h)) != nil {
		return internalError // as an H200's library does
	}
	return set(h, deterministic, m, true)
}

// DnGetDeterministicMode is the mode set last.
func (t *Thread) DnGetDeterministicMode(h solver.CusolverDnHandle_t) (solver.CusolverDeterministicMode_t, error) {
	return get(h, deterministic)
}

// DnSetMathMode is kept and answered; nothing is emulated.
func (t *Thread) DnSetMathMode(h solver.CusolverDnHandle_t, m solver.CusolverMathMode_t) error {
	return set(h, mathMode, m, m == solver.CUSOLVER_DEFAULT_MATH || m == solver.CUSOLVER_FP32_EMULATED_BF16X9_MATH || m == solver.CUSOLVER_FP64_EMULATED_FIXEDPOINT_MATH)
}

// DnGetMathMode is the mode set last.
func (t *Thread) DnGetMathMode(h solver.CusolverDnHandle_t) (solver.CusolverMathMode_t, error) {
	return get(h, mathMode)
}

// DnSetEmulationStrategy is kept and answered.
func (t *Thread) DnSetEmulationStrategy(h solver.CusolverDnHandle_t, v rt.CudaEmulationStrategy) error {
	return set(h, strategy, v, v >= 0 && v <= rt.CUDA_EMULATION_STRATEGY_EAGER)
}

// DnGetEmulationStrategy is the one set last.
func (t *Thread) DnGetEmulationStrategy(h solver.CusolverDnHandle_t) (rt.CudaEmulationStrategy, error) {
	return get(h, strategy)
}

// DnSetFixedPointEmulationMantissaControl is kept and answered.
func (t *Thread) DnSetFixedPointEmulationMantissaControl(h solver.CusolverDnHandle_t, v rt.CudaEmulationMantissaControl) error {
	return set(h, mantissa, v, v <= rt.CUDA_EMULATION_MANTISSA_CONTROL_FIXED)
}

// DnGetFixedPointEmulationMantissaControl is the one set last.
func (t *Thread) DnGetFixedPointEmulationMantissaControl(h solver.CusolverDnHandle_t) (rt.CudaEmulationMantissaControl, error) {
	return get(h, mantissa)
}

// DnSetFixedPointEmulationMaxMantissaBitCount is kept and answered.
func (t *Thread) DnSetFixedPointEmulationMaxMantissaBitCount(h solver.CusolverDnHandle_t, n int32) error {
	return set(h, maxBits, n, n >= 0)
}

// DnGetFixedPointEmulationMaxMantissaBitCount is the number set last.
func (t *Thread) DnGetFixedPointEmulationMaxMantissaBitCount(h solver.CusolverDnHandle_t) (int32, error) {
	return get(h, maxBits)
}

// DnSetFixedPointEmulationMantissaBitOffset is kept and answered.
func (t *Thread) DnSetFixedPointEmulationMantissaBitOffset(h solver.CusolverDnHandle_t, n int32) error {
	return set(h, bitOffset, n, true)
}

// DnGetFixedPointEmulationMantissaBitOffset is the number set last.
func (t *Thread) DnGetFixedPointEmulationMantissaBitOffset(h solver.CusolverDnHandle_t) (int32, error) {
	return get(h, bitOffset)
}

// DnSetEmulationSpecialValuesSupport is kept and answered.
func (t *Thread) DnSetEmulationSpecialValuesSupport(h solver.CusolverDnHandle_t, v rt.CudaEmulationSpecialValuesSupport) error {
	return set(h, specialValues, v, true)
}

// DnGetEmulationSpecialValuesSupport is the one set last.
func (t *Thread) DnGetEmulationSpecialValuesSupport(h solver.CusolverDnHandle_t) (rt.CudaEmulationSpecialValuesSupport, error) {
	return get(h, specialValues)
}
