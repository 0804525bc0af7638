package cudnn

import (
	"slices"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/dnn"
)

// Descriptors of multi-head attention and of its sequences.

type (
	seqDataDesc = dnn.CudnnSeqDataDescriptor_t
	attnDesc    = dnn.CudnnAttnDescriptor_t
	seqAxis     = dnn.CudnnSeqDataAxis_t
)

// seqData is the value of a sequence data descriptor.
type seqData struct {
	kind   dataType
	dim    []int64 // by axis
	axes   []int64 // from the outermost to the innermost
	length []int64 // of each beam of each sequence
	fill   uint64
	filled bool
}

// stride is that of an axis, in elements.
func (v seqData) stride(axis seqAxis) int64 {
	n := int64(1)
	for i := dnn.CUDNN_SEQDATA_DIM_COUNT - 1; i >= 0 && v.axes[i] != int64(axis); i-- {
		n *= v.dim[v.axes[i]]
	}
	return n
}

// CreateSeqDataDescriptor makes one.
func (t *Thread) CreateSeqDataDescriptor() (uint64, error) { return create(seqData{}) }

// DestroySeqDataDescriptor ends one.
func (t *Thread) DestroySeqDataDescriptor(h seqDataDesc) error { return destroy[seqData](h) }

// SetSeqDataDescriptor describes a batch of beams of sequences of vectors.
func (t *Thread) SetSeqDataDescriptor(h seqDataDesc, kind dataType, n int32, dims, axes hostmem.Ptr, size uint64, lengths, fill hostmem.Ptr) error {
	if n != dnn.CUDNN_SEQDATA_DIM_COUNT {
		return because(notSupported, "%d dimensions", n)
	}
	switch kind {
	case dnn.CUDNN_DATA_FLOAT, dnn.CUDNN_DATA_DOUBLE, dnn.CUDNN_DATA_HALF, dnn.CUDNN_DATA_BFLOAT16:
	default:
		return because(internalError, "data type %d", kind)
	}
	dim, axis, err := twoArrays(n, dims, axes)
	if err != nil {
		return err
	}
	if sorted := slices.Sorted(slices.Values(axis)); below(1, dim) || !slices.Equal(sorted, []int64{0, 1, 2, 3}) {
		return because(badParam, "dimensions %d in the order %d", dim, axis)
	}
	if axis[dnn.CUDNN_SEQDATA_DIM_COUNT-1] != int64(dnn.CUDNN_SEQDATA_VECT_DIM) {
		return because(badParam, "dimensions in the order %d: vectors have gaps", axis)
	}
	if int64(size) != dim[dnn.CUDNN_SEQDATA_BATCH_DIM]*dim[dnn.CUDNN_SEQDATA_BEAM_DIM] {
		return because(badParam, "%d lengths of %d beams of %d sequences", size, dim[dnn.CUDNN_SEQDATA_BEAM_DIM], dim[dnn.CUDNN_SEQDATA_BATCH_DIM])
	}
	v := seqData{kind: kind, dim: dim, axes: axis}
	if v.length, err = ints(lengths, int32(size)); err != nil {
		return err
	}
	for _, l := range v.length {
		if l < 1 || l > dim[dnn.CUDNN_SEQDATA_TIME_DIM] {
			return because(badParam, "a sequence of %d vectors of at most %d", l, dim[dnn.CUDNN_SEQDATA_TIME_DIM])
		}
	}
	if fill != hostmem.Nil {
		v.fill, v.filled = scalarBits(fill, kind), true
	}
	return set(h, v)
}

// GetSeqDataDescriptor tells all of it.
func (t *Thread) GetSeqDataDescriptor(h seqDataDesc, want int32, dims, axes hostmem.Ptr, wantLengths uint64, lengths, fill hostmem.Ptr) (kind dataType, n int32, size uint64, err error) {
	v, err := look[seqData](h)
	if err != nil {
		return 0, 0, 0, err
	}
	putInts(dims, want, v.dim)
	putInts(axes, want, v.axes)
	putInts(lengths, int32(min(wantLengths, uint64(len(v.length)))), v.length)
	if fill != hostmem.Nil {
		putScalar(fill, v.kind, v.fill)
	}
	return v.kind, int32(len(v.dim)), uint64(len(v.length)), nil
}

// heads is the value of an attention descriptor.
type heads struct {
	mode           uint32
	n              int32
	scale          float64
	kind, prec     dataType
	math           dnn.CudnnMathType_t
	drop, dropPost dropoutDesc
	in             [3]int32 // sizes of queries, keys, values
	proj           [4]int32 // the same after their projection, and that of the result; 0: none
	longQ, longK   int32
	batch, beam    int32
}

// CreateAttnDescriptor makes one.
func (t *Thread) CreateAttnDescriptor() (uint64, error) { return create(heads{}) }

// DestroyAttnDescriptor ends one.
func (t *Thread) DestroyAttnDescriptor(h attnDesc) error { return destroy[heads](h) }

func (v heads) check() error {
	if v.mode&^(dnn.CUDNN_ATTN_QUERYMAP_ONE_TO_ONE|dnn.CUDNN_ATTN_ENABLE_PROJ_BIASES) != 0 || !known(v.math, dnn.CUDNN_FMA_MATH) || !(v.scale >= 0) {
		return because(badParam, "mode %#x, math %d, scale %g", v.mode, v.math, v.scale)
	}
	if v.n < 1 || v.longQ < 1 || v.longK < 1 || v.batch < 1 || v.beam < 1 || slices.Min(v.in[:]) < 1 || slices.Min(v.proj[:]) < 0 {
		return because(badParam, "%d heads, sizes %d, projections %d, sequences of %d and %d, batch %d, beam %d", v.n, v.in, v.proj, v.longQ, v.longK, v.batch, v.beam)
	}
	if v.size(0) != v.size(1) {
		return because(badParam, "queries of %d elements, keys of %d", v.size(0), v.size(1))
	}
	switch v.kind {
	case dnn.CUDNN_DATA_FLOAT, dnn.CUDNN_DATA_DOUBLE, dnn.CUDNN_DATA_HALF, dnn.CUDNN_DATA_BFLOAT16:
	default:
		return because(badParam, "data type %d", v.kind)
	}
	if !computesIn(v.kind, v.prec) {
		return because(notSupported, "data of type %d computed in %d", v.kind, v.prec)
	}
	if v.mode&dnn.CUDNN_ATTN_QUERYMAP_ONE_TO_ONE != 0 && v.beam > 1 {
		return because(notSupported, "beams of keys") // as an H200 answers
	}
	return nil
}

// size is that of queries (0), keys (1) or values (2) where they meet.
func (v heads) size(i int) int32 {
	if v.proj[i] > 0 {
		return v.proj[i]
	}
	return v.in[i]
}

// SetAttnDescriptor says what the attention is.
func (t *Thread) SetAttnDescriptor(h attnDesc, mode uint32, n int32, scale float64, kind, prec dataType, math dnn.CudnnMathType_t, drop, dropPost dropoutDesc, q, k, v, qp, kp, vp, op, longQ, longK, batch, beam int32) error {
	x := heads{mode, n, scale, kind, prec, math, drop, dropPost, [3]int32{q, k, v}, [4]int32{qp, kp, vp, op}, longQ, longK, batch, beam}
	if err := x.check(); err != nil {
		return err
	}
	for _, d := range []dropoutDesc{drop, dropPost} {
		if d == 0 {
			continue
		}
		if _, err := look[dropping](d); err != nil {
			return err
		}
	}
	return set(h, x)
}

// GetAttnDescriptor tells all of it.
func (t *Thread) GetAttnDescriptor(h attnDesc) (mode uint32, n int32, scale float64, kind, prec dataType, math dnn.CudnnMathType_t, drop, dropPost dropoutDesc, q, k, v, qp, kp, vp, op, longQ, longK, batch, beam int32, err error) {
	x, err := look[heads](h)
	return x.mode, x.n, x.scale, x.kind, x.prec, x.math, x.drop, x.dropPost, x.in[0], x.in[1], x.in[2], x.proj[0], x.proj[1], x.proj[2], x.proj[3], x.longQ, x.longK, x.batch, x.beam, err
}
