package cublas

import (
	"math"

	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/softfloat"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/rt"
)

// Elem is the type of a matrix's elements, of scalars, or of sums. Its numbers are TYPE_ in kernels/device.h.
type Elem uint32

// The types there are kernels for.
const (
	F32 Elem = iota
	F64
	F16
	BF16
	C32
	C64
	S8
	S32
)

// C8 is complex, of two bytes. Only products read it; cuBLASLt has types of its own up to here.
const C8 Elem = 16

var elems = [...]struct {
	name string
	size int
}{F32: {"f32", 4}, F64: {"f64", 8}, F16: {"f16", 2}, BF16: {"bf16", 2}, C32: {"c32", 8}, C64: {"c64", 16}, S8: {"s8", 1}, S32: {"s32", 4}, C8: {"c8", 2}}

func (e Elem) String() string { return elems[e].name }

// Size is bytes an element.
func (e Elem) Size() int { return elems[e].size }

// ElemOf is the type CUDA names; ok is false for those we have no kernels for.
func ElemOf(t rt.CudaDataType) (Elem, bool) {
	switch t {
	case rt.CUDA_R_32F:
		return F32, true
	case rt.CUDA_R_64F:
		return F64, true
	case rt.CUDA_R_16F:
		return F16, true
	case rt.CUDA_R_16BF:
		return BF16, true
	case rt.CUDA_C_32F:
		return C32, true
	case rt.CUDA_C_64F:
		return C64, true
	case rt.CUDA_R_8I:
		return S8, true
	case rt.CUDA_R_32I:
		return S32, true
	}
	return 0, false
}

// Scalar is alpha or beta: a number, or the device address of one.
type Scalar struct {
	Re, Im float64
	At     uint64 // a device address, read when the kernel runs; 0: Re and Im count
	Type   Elem   // of what lies at At
	Conj   bool   // the conjugate of it is meant
}

// IsZero reports that the value is known to be zero now.
func (s Scalar) IsZero() bool { return s.At == 0 && s.Re == 0 && s.Im == 0 }

// Put lays the scalar out as a kernel's parameter.
func (s Scalar) Put(p *shim.Params) {
	p.F64(s.Re, s.Im).U64(s.At).U32(uint32(s.Type), flag(s.Conj))
}

// ScalarAt reads a scalar of the program, or keeps its address where it lies on the device.
func ScalarAt(p hostmem.Ptr, e Elem, mode blas.CublasPointerMode_t) (Scalar, error) {
	if p == hostmem.Nil {
		return Scalar{}, invalidValue
	}
	if mode == blas.CUBLAS_POINTER_MODE_DEVICE {
		return Scalar{At: uint64(p), Type: e}, nil
	}
	switch e {
	case F32:
		return Scalar{Re: float64(hostmem.Load[float32](p))}, nil
	case F64:
		return Scalar{Re: hostmem.Load[float64](p)}, nil
	case F16:
		return Scalar{Re: half(hostmem.Load[uint16](p))}, nil
	case C32:
		v := hostmem.Load[[2]float32](p)
		return Scalar{Re: float64(v[0]), Im: float64(v[1])}, nil
	case C64:
		v := hostmem.Load[[2]float64](p)
		return Scalar{Re: v[0], Im: v[1]}, nil
	case S32:
		return Scalar{Re: float64(hostmem.Load[int32](p))}, nil
	case BF16:
		return Scalar{Re: real(loadAt(p, BF16))}, nil
	case S8, C8: // no function of cuBLAS has scalars of this type
	}
	return Scalar{}, notSupported
}

// flag is a truth as kernels take it.
func flag(v bool) uint32 {
	if v {
		return 1
	}
	return 0
}

// half is the value of an f16.
func half(bits uint16) float64 {
	return math.Float64frombits(softfloat.F16.Convert(softfloat.F64, uint64(bits), softfloat.Env{}))
}

// View is one operand: a matrix, column by column, or a batch of them.
type View struct {
	Base   uint64 // address of the matrix, or of the list of addresses
	Stride int64  // elements between matrices of a batch
	LD     int64  // elements between columns
	List   bool   // Base is the device address of an array of addresses
	Op     blas.CublasOperation_t
}

// Put lays the view out as a kernel's parameter.
func (v View) Put(p *shim.Params) {
	list := uint32(0)
	if v.List {
		list = 1
	}
	p.U64(v.Base, uint64(v.Stride), uint64(v.LD)).U32(list, uint32(v.Op))
}
