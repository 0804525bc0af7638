package cudnn

import (
	"slices"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/dnn"
)

// Descriptors of recurrent networks and of their sequences.

type (
	rnnDesc     = dnn.CudnnRNNDescriptor_t
	rnnDataDesc = dnn.CudnnRNNDataDescriptor_t
	dropoutDesc = dnn.CudnnDropoutDescriptor_t
	rnnLayout   = dnn.CudnnRNNDataLayout_t
	clipMode    = dnn.CudnnRNNClipMode_t
)

// network is the value of an RNN descriptor.
type network struct {
	algo       dnn.CudnnRNNAlgo_t
	cell       dnn.CudnnRNNMode_t
	bias       dnn.CudnnRNNBiasMode_t
	direction  dnn.CudnnDirectionMode_t
	input      dnn.CudnnRNNInputMode_t
	kind, prec dataType
	math       dnn.CudnnMathType_t
	in         int32 // the size of an input vector
	hidden     int32
	proj       int32
	layers     int32
	dropout    dropoutDesc
	flags      uint32

	clip        clipMode
	clipNaN     nanOpt
	clipLow     float64
	clipHigh    float64
	configured  bool
	older       bool   // described by a call from before 8: the calls tell its inputs
	paddingMode uint32 // of those calls
}

// CreateRNNDescriptor makes one.
func (t *Thread) CreateRNNDescriptor() (uint64, error) { return create(network{}) }

// DestroyRNNDescriptor ends one.
func (t *Thread) DestroyRNNDescriptor(h rnnDesc) error { return destroy[network](h) }

func (v network) check() error {
	if !known(v.algo, dnn.CUDNN_RNN_ALGO_PERSIST_STATIC_SMALL_H) || !known(v.cell, dnn.CUDNN_GRU) || !known(v.bias, dnn.CUDNN_RNN_SINGLE_REC_BIAS) ||
		!known(v.direction, dnn.CUDNN_BIDIRECTIONAL) || !known(v.input, dnn.CUDNN_SKIP_INPUT) || !known(v.math, dnn.CUDNN_FMA_MATH) {
		return because(badParam, "algorithm %d, cell %d, bias %d, direction %d, input %d, math %d", v.algo, v.cell, v.bias, v.direction, v.input, v.math)
	}
	if v.in < 1 || v.hidden < 1 || v.proj < 1 || v.layers < 1 {
		return because(badParam, "sizes: input %d, hidden %d, projection %d, layers %d", v.in, v.hidden, v.proj, v.layers)
	}
	if !computesIn(v.kind, v.prec) {
		return because(notSupported, "data of type %d computed in %d", v.kind, v.prec)
	}
	if v.proj != v.hidden && (v.proj > v.hidden || v.cell != dnn.CUDNN_LSTM || v.algo != dnn.CUDNN_RNN_ALGO_STANDARD) {
		return because(notSupported, "a projection from %d to %d elements of cell %d by algorithm %d", v.hidden, v.proj, v.cell, v.algo)
	}
	return nil
}

// computesIn says that networks of data of a type may be computed in another.
func computesIn(kind, prec dataType) bool {
	switch kind {
	case dnn.CUDNN_DATA_FLOAT, dnn.CUDNN_DATA_DOUBLE:
		return prec == kind
	case dnn.CUDNN_DATA_HALF:
		return prec == kind || prec == dnn.CUDNN_DATA_FLOAT
	}
	return kind == dnn.CUDNN_DATA_BFLOAT16 && prec == dnn.CUDNN_DATA_FLOAT
}

// SetRNNDescriptorV8 says what the network is.
func (t *Thread) SetRNNDescriptorV8(h rnnDesc, algo dnn.CudnnRNNAlgo_t, cell dnn.CudnnRNNMode_t, bias dnn.CudnnRNNBiasMode_t, direction dnn.CudnnDirectionMode_t, input dnn.CudnnRNNInputMode_t, kind, prec dataType, math dnn.CudnnMathType_t, in, hidden, proj, layers int32, dropout dropoutDesc, flags uint32) error {
	v := network{algo: algo, cell: cell, bias: bias, direction: direction, input: input, kind: kind, prec: prec, math: math,
		in: in, hidden: hidden, proj: proj, layers: layers, dropout: dropout, flags: flags, configured: true}
	if err := v.check(); err != nil {
		return err
	}
	if flags&^dnn.CUDNN_RNN_PADDED_IO_ENABLED != 0 {
		return because(badParam, "flags %#x", flags)
	}
	if dropout != 0 {
		if _, err := look[dropping](dropout); err != nil {
			return err
		}
	}
	return set(h, v) // no bounds are left
}

// GetRNNDescriptorV8 tells all of it.
func (t *Thread) GetRNNDescriptorV8(h rnnDesc, in, hidden, proj, layers, flags hostmem.Ptr) (algo dnn.CudnnRNNAlgo_t, cell dnn.CudnnRNNMode_t, bias dnn.CudnnRNNBiasMode_t, direction dnn.CudnnDirectionMode_t, input dnn.CudnnRNNInputMode_t, kind, prec dataType, math dnn.CudnnMathType_t, dropout dropoutDesc, err error) {
	v, err := look[network](h)
	if err != nil {
		return
	}
	for i, p := range []hostmem.Ptr{in, hidden, proj, layers, flags} {
		if p != hostmem.Nil {
			hostmem.Store(p, []int32{v.in, v.hidden, v.proj, v.layers, int32(v.flags)}[i])
		}
	}
	return v.algo, v.cell, v.bias, v.direction, v.input, v.kind, v.prec, v.math, v.dropout, nil
}

func (t *Thread) setClip(h rnnDesc, mode clipMode, nan nanOpt, low, high float64) error {
	if mode != dnn.CUDNN_RNN_CLIP_NONE && !(low <= high) {
		return because(badParam, "bounds from %g to %g", low, high)
	}
	return alter(h, func(v *network) { v.clip, v.clipNaN, v.clipLow, v.clipHigh = mode, nan, low, high })
}

// RNNSetClipV8 bounds the cells of LSTM.
func (t *Thread) RNNSetClipV8(h rnnDesc, mode clipMode, nan nanOpt, low, high float64) error {
	return t.setClip(h, mode, nan, low, high)
}

// RNNSetClipV9 bounds the cells of LSTM.
func (t *Thread) RNNSetClipV9(h rnnDesc, mode clipMode, low, high float64) error {
	return t.setClip(h, mode, dnn.CUDNN_NOT_PROPAGATE_NAN, low, high)
}

// RNNGetClipV8 tells the bounds.
func (t *Thread) RNNGetClipV8(h rnnDesc) (clipMode, nanOpt, float64, float64, error) {
	v, err := look[network](h)
	return v.clip, v.clipNaN, v.clipLow, v.clipHigh, err
}

// RNNGetClipV9 tells the bounds.
func (t *Thread) RNNGetClipV9(h rnnDesc) (clipMode, float64, float64, error) {
	v, err := look[network](h)
	return v.clip, v.clipLow, v.clipHigh, err
}

// sequences is the value of an RNN data descriptor.
type sequences struct {
	kind    dataType
	layout  rnnLayout
	longest int32
	batch   int32
	vector  int32
	length  []int64
	fill    uint64 // the bits that stand after the end of a sequence
	filled  bool
}

// CreateRNNDataDescriptor makes one.
func (t *Thread) CreateRNNDataDescriptor() (uint64, error) { return create(sequences{}) }

// DestroyRNNDataDescriptor ends one.
func (t *Thread) DestroyRNNDataDescriptor(h rnnDataDesc) error { return destroy[sequences](h) }

// SetRNNDataDescriptor describes a batch of sequences of vectors.
func (t *Thread) SetRNNDataDescriptor(h rnnDataDesc, kind dataType, layout rnnLayout, longest, batch, vector int32, lengths, fill hostmem.Ptr) error {
	v := sequences{kind: kind, layout: layout, longest: longest, batch: batch, vector: vector}
	switch kind {
	case dnn.CUDNN_DATA_FLOAT, dnn.CUDNN_DATA_DOUBLE, dnn.CUDNN_DATA_HALF, dnn.CUDNN_DATA_BFLOAT16:
	default:
		return because(notSupported, "data type %d", kind)
	}
	if longest < 1 || batch < 1 || vector < 1 || !known(layout, dnn.CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED) {
		return because(badParam, "%d sequences of at most %d vectors of %d elements, layout %d", batch, longest, vector, layout)
	}
	var err error
	if v.length, err = ints(lengths, batch); err != nil {
		return err
	}
	for _, n := range v.length {
		if n < 0 || n > int64(longest) {
			return because(badParam, "a sequence of %d vectors of at most %d", n, longest)
		}
	}
	if layout == dnn.CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED && !slices.IsSortedFunc(v.length, func(a, b int64) int { return int(b - a) }) {
		return because(badParam, "packed sequences of %d vectors: not from the longest to the shortest", v.length)
	}
	if fill != hostmem.Nil {
		v.fill, v.filled = scalarBits(fill, kind), true
	}
	return set(h, v)
}

// scalarBits reads one element of a type.
func scalarBits(p hostmem.Ptr, kind dataType) uint64 {
	switch bits[kind] {
	case 64:
		return hostmem.Load[uint64](p)
	case 32:
		return uint64(hostmem.Load[uint32](p))
	case 16:
		return uint64(hostmem.Load[uint16](p))
	}
	return uint64(hostmem.Load[uint8](p))
}

// putScalar writes one element of a type.
func putScalar(p hostmem.Ptr, kind dataType, v uint64) {
	hostmem.StorePrefix(p, v, uint64(bits[kind])/8)
}

// GetRNNDataDescriptor tells all of it.
func (t *Thread) GetRNNDataDescriptor(h rnnDataDesc, want int32, lengths, fill hostmem.Ptr) (kind dataType, layout rnnLayout, longest, batch, vector int32, err error) {
	v, err := look[sequences](h)
	if err != nil {
		return
	}
	if want < 0 {
		err = because(badParam, "%d lengths asked for", want)
		return
	}
	putInts(lengths, want, v.length)
	if fill != hostmem.Nil {
		putScalar(fill, v.kind, v.fill)
	}
	return v.kind, v.layout, v.longest, v.batch, v.vector, nil
}
