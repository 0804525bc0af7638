package graph

import (
	"errors"
	"slices"

	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

// blockAttrs are the attributes of what makes blocks of numbers that share a factor, or takes them apart.
type blockAttrs struct{ wide, few, scale, size, prec Attr }

var blockRows = map[Kind]blockAttrs{
	dnn.CUDNN_BACKEND_OPERATION_BLOCK_SCALE_QUANTIZE_DESCRIPTOR: {dnn.CUDNN_ATTR_OPERATION_BLOCK_SCALE_QUANTIZE_XDESC, dnn.CUDNN_ATTR_OPERATION_BLOCK_SCALE_QUANTIZE_YDESC,
		dnn.CUDNN_ATTR_OPERATION_BLOCK_SCALE_QUANTIZE_SCALE_DESC, dnn.CUDNN_ATTR_OPERATION_BLOCK_SCALE_QUANTIZE_BLOCK_SIZE, dnn.CUDNN_ATTR_OPERATION_BLOCK_SCALE_QUANTIZE_MATH_PREC},
	dnn.CUDNN_BACKEND_OPERATION_BLOCK_SCALE_DEQUANTIZE_DESCRIPTOR: {dnn.CUDNN_ATTR_OPERATION_BLOCK_SCALE_DEQUANTIZE_YDESC, dnn.CUDNN_ATTR_OPERATION_BLOCK_SCALE_DEQUANTIZE_XDESC,
		dnn.CUDNN_ATTR_OPERATION_BLOCK_SCALE_DEQUANTIZE_SCALE_DESC, dnn.CUDNN_ATTR_OPERATION_BLOCK_SCALE_DEQUANTIZE_BLOCK_SIZE, dnn.CUDNN_ATTR_OPERATION_BLOCK_SCALE_DEQUANTIZE_MATH_PREC},
}

// readable refuses numbers of four bits, powers of two and tiles of factors where no block is made or taken apart.
func (o *operation) readable() error {
	row, blocks := blockRows[o.kind]
	for _, t := range slices.Concat(o.in, o.out) {
		if t.elem == nn.E8M0 || t.tiled {
			if !blocks || t != o.g.tensor(row.scale) {
				return fail(dnn.CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE, "tensor %d of %v is no factors of blocks", t.uid, t.elem)
			}
		} else if t.elem == nn.E2M1 && (!blocks || t != o.g.tensor(row.few)) {
			return fail(dnn.CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE, "tensor %d of %v is not in blocks", t.uid, t.elem)
		}
	}
	return nil
}

// blocksOf are the blocks of an operation's tensors. Several sizes are those along the last axes. For one it is not said along which axis
// the blocks lie: the sizes of the factors tell, where several could be it that without gaps.
func (o *operation) blocksOf(wide, few, scale nn.Tensor) (nn.Blocks, bool) {
	row := blockRows[o.kind]
	sizes, n := o.g[row.size].wholes, len(wide.Dim)
	b := nn.Blocks{Wide: wide, Few: few, Scale: scale, Tiled: o.g.tensor(row.scale).tiled, Block: slices.Repeat([]int64{1}, n), Axis: -1}
	if len(few.Dim) != n || len(scale.Dim) != n || len(sizes) > n || len(sizes) == 0 || slices.ContainsFunc(sizes, func(s int64) bool { return s < 1 }) {
		return b, false
	}
	if len(sizes) > 1 {
		copy(b.Block[n-len(sizes):], sizes)
		for d, s := range b.Block {
			if b.Axis < 0 || s > b.Block[b.Axis] {
				b.Axis = d
			}
		}
		return b, b.Fits()
	}
	found := -1
	for d := range n {
		b.Axis, b.Block[d] = d, sizes[0]
		if b.Fits() && (found < 0 || few.Stride[d] < few.Stride[found] || wide.Dim[found] == 1) {
			found = d
		}
		b.Block[d] = 1
	}
	if found < 0 {
		return b, false
	}
	b.Axis, b.Block[found] = found, sizes[0]
	return b, true
}

func checkBlocks(o *operation) error {
	row := blockRows[o.kind]
	wide, few, scale := o.g.tensor(row.wide), o.g.tensor(row.few), o.g.tensor(row.scale)
	if t := dnn.CudnnDataType_t(o.g.whole(row.prec, 0)); t != dnn.CUDNN_DATA_FLOAT {
		return fail(dnn.CUDNN_STATUS_NOT_SUPPORTED, "blocks computed with data type %d", t)
	}
	if o.g.whole(dnn.CUDNN_ATTR_OPERATION_BLOCK_SCALE_DEQUANTIZE_NEG_SCALE, 0) != 0 {
		return fail(dnn.CUDNN_STATUS_NOT_SUPPORTED, "blocks with a negative factor")
	}
	if !slices.Equal(wide.dim, few.dim) {
		return fail(dnn.CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "blocks of %v for %v", few.dim, wide.dim)
	}
	b, ok := o.blocksOf(wide.shape(), few.shape(), scale.shape())
	if !ok {
		return fail(dnn.CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "factors of sizes %v for blocks of %v in %v", scale.dim, o.g[row.size].wholes, wide.dim)
	}
	if few.ragged != nil || wide.ragged != nil || scale.ragged != nil || scale.tiled && scale.virtual {
		return fail(dnn.CUDNN_STATUS_NOT_SUPPORTED, "blocks of packed sequences, or tiles of factors that are in no memory")
	}
	check := b.Takes
	if o.kind == dnn.CUDNN_BACKEND_OPERATION_BLOCK_SCALE_QUANTIZE_DESCRIPTOR {
		check = b.Quantises
	}
	if err := check(); errors.Is(err, nn.ErrUnsupported) {
		return fail(dnn.CUDNN_STATUS_NOT_SUPPORTED, "blocks of %v %v with strides %v and factors of %v for %v", few.dim, few.elem, few.stride, scale.elem, wide.elem)
	} else if err != nil {
		return err
	}
	return nil
}

func runBlocks(x *exec, o *operation) error {
	row := blockRows[o.kind]
	b, ok := o.blocksOf(x.tensor(o.g.tensor(row.wide)), x.tensor(o.g.tensor(row.few)), x.tensor(o.g.tensor(row.scale)))
	if !ok {
		return nn.ErrShape
	}
	if o.kind == dnn.CUDNN_BACKEND_OPERATION_BLOCK_SCALE_QUANTIZE_DESCRIPTOR {
		return x.Quantise(b)
	}
	return x.Dequantise(b)
}
