package cublas

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/rt"
)

// How products of more exact types may be made of less exact ones. Nothing is emulated here, so every setting asks for less than it gets: all
// are kept and answered.

// emulation are the settings of a handle.
type emulation struct {
	strategy blas.CublasEmulationStrategy_t
	special  rt.CudaEmulationSpecialValuesSupport
	control  rt.CudaEmulationMantissaControl
	most     int32       // bits of a mantissa
	offset   int32       // added to the bits that are found to be needed
	count    hostmem.Ptr // where the bits that were used are to be written: none ever are
}

func strategy(x *Handle) *blas.CublasEmulationStrategy_t      { return &x.emulated.strategy }
func special(x *Handle) *rt.CudaEmulationSpecialValuesSupport { return &x.emulated.special }
func control(x *Handle) *rt.CudaEmulationMantissaControl      { return &x.emulated.control }
func mostBits(x *Handle) *int32                               { return &x.emulated.most }
func bitOffset(x *Handle) *int32                              { return &x.emulated.offset }
func bitCount(x *Handle) *hostmem.Ptr                         { return &x.emulated.count }

// SetEmulationStrategy is kept.
func (t *Thread) SetEmulationStrategy(h blas.CublasHandle_t, v blas.CublasEmulationStrategy_t) error {
	return set(t, h, strategy, v, v >= blas.CUBLAS_EMULATION_STRATEGY_DEFAULT && v <= blas.CUBLAS_EMULATION_STRATEGY_EAGER)
}

// GetEmulationStrategy is the one set last.
func (t *Thread) GetEmulationStrategy(h blas.CublasHandle_t) (blas.CublasEmulationStrategy_t, error) {
	return get(t, h, strategy)
}

// SetEmulationSpecialValuesSupport is kept: infinities and NaN are always what they should be.
func (t *Thread) SetEmulationSpecialValuesSupport(h blas.CublasHandle_t, v rt.CudaEmulationSpecialValuesSupport) error {
	return set(t, h, special, v, v >= 0 && v <= rt.CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_DEFAULT)
}

// GetEmulationSpecialValuesSupport is the mask set last.
func (t *Thread) GetEmulationSpecialValuesSupport(h blas.CublasHandle_t) (rt.CudaEmulationSpecialValuesSupport, error) {
	return get(t, h, special)
}

// SetFixedPointEmulationMantissaControl is kept.
func (t *Thread) SetFixedPointEmulationMantissaControl(h blas.CublasHandle_t, v rt.CudaEmulationMantissaControl) error {
	return set(t, h, control, v, v == rt.CUDA_EMULATION_MANTISSA_CONTROL_DYNAMIC || v == rt.CUDA_EMULATION_MANTISSA_CONTROL_FIXED)
}

// GetFixedPointEmulationMantissaControl is the one set last.
func (t *Thread) GetFixedPointEmulationMantissaControl(h blas.CublasHandle_t) (rt.CudaEmulationMantissaControl, error) {
	return get(t, h, control)
}

// SetFixedPointEmulationMaxMantissaBitCount is kept; 0 is whatever the library likes.
func (t *Thread) SetFixedPointEmulationMaxMantissaBitCount(h blas.CublasHandle_t, n int32) error {
	return set(t, h, mostBits, n, n >= 0)
}

// GetFixedPointEmulationMaxMantissaBitCount is the number set last.
func (t *Thread) GetFixedPointEmulationMaxMantissaBitCount(h blas.CublasHandle_t) (int32, error) {
	return get(t, h, mostBits)
}

// SetFixedPointEmulationMantissaBitOffset is kept.
func (t *Thread) SetFixedPointEmulationMantissaBitOffset(h blas.CublasHandle_t, n int32) error {
	return set(t, h, bitOffset, n, true)
}

// GetFixedPointEmulationMantissaBitOffset is the number set last.
func (t *Thread) GetFixedPointEmulationMantissaBitOffset(h blas.CublasHandle_t) (int32, error) {
	return get(t, h, bitOffset)
}

// SetFixedPointEmulationMantissaBitCountPointer is kept; as no product is emulated, nothing is written there.
func (t *Thread) SetFixedPointEmulationMantissaBitCountPointer(h blas.CublasHandle_t, p hostmem.Ptr) error {
	return set(t, h, bitCount, p, true)
}

// GetFixedPointEmulationMantissaBitCountPointer stores the address set last.
func (t *Thread) GetFixedPointEmulationMantissaBitCountPointer(h blas.CublasHandle_t, to hostmem.Ptr) error {
	p, err := get(t, h, bitCount)
	if err != nil {
		return err
	}
	if to == hostmem.Nil {
		return invalidValue
	}
	hostmem.Store(to, uint64(p))
	return nil
}
