// Package nn has the operations of neural networks on strided tensors in device memory: convolution, attention, norms, pooling and
// the like. It knows nothing of cuDNN's descriptors; what they say is checked and translated outside.
package nn

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"kudzu/internal/softfloat"
)

// Elem is the type of a tensor's elements. Its numbers are TYPE_ in kernels/tensor.h.
type Elem uint32

// The types of elements.
const (
	F32 Elem = iota
	F64
	F16
	BF16
	E4M3
	E5M2
	S8
	U8
	S32
	S64
	Bool
	E2M1 // four bits: two in a byte. A kernel of blocks.cu reads them, and those below, no other
	E8M0 // a power of two
)

var elems = [...]struct {
	name  string
	size  int64
	float *softfloat.Format // nil: a whole number
}{
	F32: {"f32", 4, softfloat.F32}, F64: {"f64", 8, softfloat.F64}, F16: {"f16", 2, softfloat.F16}, BF16: {"bf16", 2, softfloat.BF16},
	E4M3: {"e4m3", 1, softfloat.E4M3}, E5M2: {"e5m2", 1, softfloat.E5M2}, S8: {"s8", 1, nil}, U8: {"u8", 1, nil}, S32: {"s32", 4, nil},
	S64: {"s64", 8, nil}, Bool: {"bool", 1, nil}, E2M1: {"e2m1", 1, softfloat.E2M1}, E8M0: {"e8m0", 1, softfloat.UE8M0},
}

func (e Elem) String() string { return elems[e].name }

// Size is bytes an element.
func (e Elem) Size() int64 { return elems[e].size }

// Float reports a type with a fraction.
func (e Elem) Float() bool { return elems[e].float != nil }

// Sum is the type that is computed with: f64 for f64, s32 for whole numbers of few bits, f32 for all others.
func (e Elem) Sum() Elem {
	switch e {
	case F64:
		return F64
	case S8, U8, S32:
		return S32
	case F32, F16, BF16, E4M3, E5M2, S64, Bool:
	}
	return F32
}

// Bytes are those of a value in memory, rounded to the nearest; what is too large for eight bits becomes the largest.
func (e Elem) Bytes(v float64) []byte {
	var bits uint64
	switch f := elems[e].float; {
	case f != nil:
		bits = softfloat.F64.Convert(f, math.Float64bits(v), softfloat.Env{SatFinite: e.Size() == 1})
	case e == Bool && v != 0:
		bits = 1
	case e == S8:
		bits = uint64(int64(math.RoundToEven(min(max(v, math.MinInt8), math.MaxInt8))))
	case e == U8:
		bits = uint64(int64(math.RoundToEven(min(max(v, 0), math.MaxUint8))))
	case e != Bool:
		bits = uint64(int64(math.RoundToEven(v)))
	}
	return binary.LittleEndian.AppendUint64(nil, bits)[:e.Size()]
}

// Value is what bytes in memory mean.
func (e Elem) Value(b []byte) float64 {
	var whole [8]byte
	copy(whole[:], b[:e.Size()])
	bits := binary.LittleEndian.Uint64(whole[:])
	if f := elems[e].float; f != nil {
		return math.Float64frombits(f.Convert(softfloat.F64, bits, softfloat.Env{}))
	}
	switch e {
	case S8:
		return float64(int8(bits))
	case S32:
		return float64(int32(bits))
	case S64:
		return float64(int64(bits))
	case F32, F64, F16, BF16, E4M3, E5M2, U8, Bool:
	}
	return float64(bits)
}

// MaxDims is the most dimensions that a tensor has.
const MaxDims = 8

// Tensor is an array of elements on the device. Strides are in elements; those of an axis that is read again and again are 0.
type Tensor struct {
	Addr   uint64
	Type   Elem
	Dim    []int64
	Stride []int64
}

// Errors of operations. What is computed with them is not what the device holds: nothing was enqueued.
var (
	ErrShape       = errors.New("shapes do not fit")
	ErrUnsupported = errors.New("no kernel for these types or sizes")
)

// Packed are the strides of a tensor without gaps, the last dimension fastest.
func Packed(dim ...int64) []int64 {
	stride := make([]int64, len(dim))
	n := int64(1)
	for i := len(dim) - 1; i >= 0; i-- {
		stride[i] = n
		n *= max(dim[i], 1)
	}
	return stride
}

// ChannelsLast are the strides of a tensor without gaps whose second dimension is fastest, as in NHWC.
func ChannelsLast(dim ...int64) []int64 {
	if len(dim) < 3 {
		return Packed(dim...)
	}
	order := append(append([]int64{dim[0]}, dim[2:]...), dim[1])
	s := Packed(order...)
	return append([]int64{s[0], s[len(s)-1]}, s[1:len(s)-1]...)
}

// Make is a tensor without gaps.
func Make(addr uint64, e Elem, dim ...int64) Tensor {
	return Tensor{Addr: addr, Type: e, Dim: dim, Stride: Packed(dim...)}
}

// Count is the number of elements.
func (t Tensor) Count() int64 {
	n := int64(1)
	for _, d := range t.Dim {
		n *= d
	}
	return n
}

// Empty reports a tensor without elements.
func (t Tensor) Empty() bool { return slices.Contains(t.Dim, 0) }

// Span is how many elements of memory lie between the first element and the one behind the last, for strides that are not negative.
func (t Tensor) Span() int64 {
	if t.Empty() {
		return 0
	}
	n := int64(1)
	for i, d := range t.Dim {
		n += (d - 1) * t.Stride[i]
	}
	return n
}

// At is the tensor that begins at an index of one axis; its size there is n.
func (t Tensor) At(axis int, from, n int64) Tensor {
	t.Addr += uint64(from * t.Stride[axis] * t.Type.Size())
	t.Dim = slices.Clone(t.Dim)
	t.Dim[axis] = n
	return t
}

// IsPacked reports strides that leave no gaps and go down, so that the elements are one run of memory in the order of their indices.
func (t Tensor) IsPacked() bool { return t.runs(Packed(t.Dim...)) }

// IsChannelsLast is IsPacked for the order of NHWC.
func (t Tensor) IsChannelsLast() bool { return t.runs(ChannelsLast(t.Dim...)) }

// runs compares strides where they mean something.
func (t Tensor) runs(stride []int64) bool {
	for i, d := range t.Dim {
		if d > 1 && t.Stride[i] != stride[i] {
			return false
		}
	}
	return true
}

// Check reports what no operation takes: sides that do not belong together or are negative, or too many.
func (t Tensor) Check() error {
	if len(t.Dim) != len(t.Stride) || len(t.Dim) > MaxDims || int(t.Type) >= len(elems) {
		return ErrShape
	}
	for _, d := range t.Dim {
		if d < 0 {
			return ErrShape
		}
	}
	return nil
}

// SameShape compares sizes.
func SameShape(a, b Tensor) bool { return slices.Equal(a.Dim, b.Dim) }
