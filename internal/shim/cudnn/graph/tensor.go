package graph

import (
	"slices"

	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

// tensor is what a tensor descriptor says.
type tensor struct {
	uid     int64
	elem    nn.Elem
	dim     []int64
	stride  []int64
	virtual bool     // it need not be in memory
	byValue bool     // its one element is in the program's memory, or known already
	known   *float64 // its element, where the descriptor has it
	ragged  *tensor  // where its sequences begin
	unit    int64    // of what ragged says, in elements
	turned  bool     // its last two sides are those of the program's tensor exchanged
	tiled   bool     // factors of blocks, in tiles of 128 × 4
}

var elemTypes = map[dnn.CudnnDataType_t]nn.Elem{
	dnn.CUDNN_DATA_FLOAT: nn.F32, dnn.CUDNN_DATA_DOUBLE: nn.F64, dnn.CUDNN_DATA_HALF: nn.F16, dnn.CUDNN_DATA_BFLOAT16: nn.BF16,
	dnn.CUDNN_DATA_FP8_E4M3: nn.E4M3, dnn.CUDNN_DATA_FP8_E5M2: nn.E5M2, dnn.CUDNN_DATA_INT8: nn.S8, dnn.CUDNN_DATA_UINT8: nn.U8,
	dnn.CUDNN_DATA_INT32: nn.S32, dnn.CUDNN_DATA_INT64: nn.S64, dnn.CUDNN_DATA_BYTE_BOOLEAN: nn.Bool,
	dnn.CUDNN_DATA_FP4_E2M1: nn.E2M1, dnn.CUDNN_DATA_FP8_E8M0: nn.E8M0,
}

// given reads attributes while a descriptor is finalized.
type given map[Attr]value

func (g given) whole(a Attr, otherwise int64) int64 {
	if v, ok := g[a]; ok && len(v.wholes) > 0 {
		return v.wholes[0]
	}
	return otherwise
}

func (g given) float(a Attr, otherwise float64) float64 {
	v, ok := g[a]
	switch {
	case ok && len(v.floats) > 0:
		return v.floats[0]
	case ok && len(v.wholes) > 0:
		return float64(v.wholes[0])
	}
	return otherwise
}

// ref is the first descriptor of an attribute, or nil.
func (g given) ref(a Attr) *Descriptor {
	if v, ok := g[a]; ok && len(v.refs) > 0 {
		return v.refs[0]
	}
	return nil
}

// tensor is the tensor an attribute names, or nil.
func (g given) tensor(a Attr) *tensor {
	if d := g.ref(a); d != nil {
		return d.made.(*tensor)
	}
	return nil
}

func buildTensor(g given) (*tensor, error) {
	t := &tensor{uid: g.whole(dnn.CUDNN_ATTR_TENSOR_UNIQUE_ID, 0), dim: g[dnn.CUDNN_ATTR_TENSOR_DIMENSIONS].wholes, stride: g[dnn.CUDNN_ATTR_TENSOR_STRIDES].wholes}
	t.virtual = g.whole(dnn.CUDNN_ATTR_TENSOR_IS_VIRTUAL, 0) != 0
	t.byValue = g.whole(dnn.CUDNN_ATTR_TENSOR_IS_BY_VALUE, 0) != 0
	t.ragged = g.tensor(dnn.CUDNN_ATTR_TENSOR_RAGGED_OFFSET_DESC)
	t.unit = g.whole(dnn.CUDNN_ATTR_TENSOR_RAGGED_OFFSET_MULTIPLIER, 1)
	if len(t.dim) != len(t.stride) || len(t.dim) == 0 {
		return nil, fail(dnn.CUDNN_STATUS_BAD_PARAM, "%d sizes and %d strides", len(t.dim), len(t.stride))
	}
	if !natural(t.dim) || !natural(t.stride) {
		return nil, fail(dnn.CUDNN_STATUS_BAD_PARAM, "sizes %v, strides %v", t.dim, t.stride)
	}
	if len(t.dim) > maxDims {
		return nil, fail(dnn.CUDNN_STATUS_NOT_SUPPORTED, "a tensor of %d dimensions", len(t.dim))
	}
	typ := dnn.CudnnDataType_t(g.whole(dnn.CUDNN_ATTR_TENSOR_DATA_TYPE, 0))
	e, ok := elemTypes[typ]
	if typ == dnn.CUDNN_DATA_BOOLEAN && t.virtual {
		e, ok = nn.Bool, true // in memory it would be a bit
	}
	if !ok {
		return nil, fail(dnn.CUDNN_STATUS_NOT_SUPPORTED, "a tensor of data type %d", typ)
	}
	t.elem = e
	if !countable(t.dim, t.stride) {
		return nil, fail(dnn.CUDNN_STATUS_NOT_SUPPORTED, "sizes %v, strides %v", t.dim, t.stride)
	}
	if align := g.whole(dnn.CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 0); align <= 0 || align%e.Size() != 0 {
		return nil, fail(dnn.CUDNN_STATUS_BAD_PARAM, "alignment %d of a tensor of %v", align, e)
	}
	if n := g.whole(dnn.CUDNN_ATTR_TENSOR_VECTOR_COUNT, 1); n != 1 {
		return nil, fail(dnn.CUDNN_STATUS_NOT_SUPPORTED, "vectors of %d elements", n)
	}
	switch mode := dnn.CudnnBackendTensorReordering_t(g.whole(dnn.CUDNN_ATTR_TENSOR_REORDERING_MODE, 0)); {
	case mode == dnn.CUDNN_TENSOR_REORDERING_F8_128x4 && (e == nn.E8M0 || e == nn.E4M3) && len(t.dim) > 1:
		t.tiled = true
	case mode != dnn.CUDNN_TENSOR_REORDERING_NONE:
		return nil, fail(dnn.CUDNN_STATUS_NOT_SUPPORTED, "reordering mode %d of %v %v", mode, t.dim, e)
	}
	if r := t.ragged; r != nil && (len(t.dim) != 4 || t.unit < 1 || r.elem != nn.S32 && r.elem != nn.S64) {
		return nil, fail(dnn.CUDNN_STATUS_NOT_SUPPORTED, "sequences of sizes %v that begin at multiples of %d %v", t.dim, t.unit, r.elem)
	}
	if v, ok := g[dnn.CUDNN_ATTR_TENSOR_CONSTANT_VALUE]; ok {
		f := g.float(dnn.CUDNN_ATTR_TENSOR_CONSTANT_VALUE, 0)
		if v.chars != nil {
			f = float64(v.chars[0])
		}
		t.known, t.byValue = &f, true
	}
	return t, nil
}

// natural reports numbers of which none is negative.
func natural(list []int64) bool {
	return !slices.ContainsFunc(list, func(n int64) bool { return n < 0 })
}

// countable reports sizes whose product and extent are numbers that can be computed with.
func countable(dim, stride []int64) bool {
	const most = 1 << 48
	n, span := int64(1), int64(1)
	for i, d := range dim {
		d = max(d, 1)
		if d > most/n || d > 1 && stride[i] > most/(d-1) {
			return false
		}
		n *= d
		span += (d - 1) * stride[i]
	}
	return span < most
}

// shape is the tensor as operations take it, without an address.
func (t *tensor) shape() nn.Tensor { return nn.Tensor{Type: t.elem, Dim: t.dim, Stride: t.stride} }
