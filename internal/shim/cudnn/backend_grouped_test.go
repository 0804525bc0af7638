package cudnn

import (
	"slices"
	"testing"

	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

// TestBackendGroupedProduct multiplies rows with the matrix of their group, and takes the gradient of the matrices: groups that are empty,
// rows before all groups, several groups a matrix, weights that lie transposed.
func TestBackendGroupedProduct(t *testing.T) {
	for i, c := range []struct {
		rows, depth, columns, experts int64
		offsets                       []float64
	}{
		{1, 1, 1, 1, []float64{0}}, {7, 5, 33, 3, []float64{0, 2, 2}}, {40, 19, 70, 2, []float64{3, 3, 20, 31}}, {64, 32, 8, 4, []float64{0, 16, 32, 64}}, {9, 3, 4, 2, []float64{9, 9}},
	} {
		e := []nn.Elem{nn.F32, nn.BF16, nn.F16, nn.F64}[i%4]
		n := newOpGraph(t)
		groups := int64(len(c.offsets))
		bound := map[nn.Elem]float64{nn.F32: 1e-5, nn.BF16: 1e-2, nn.F16: 2e-3, nn.F64: 1e-12}[e]
		token, tokens := n.input(e, []int64{c.rows * (c.depth + 1), c.depth + 1, 1}, 1, c.rows, c.depth)
		stride := nn.Packed(c.experts, c.depth, c.columns)
		if i%2 == 1 {
			stride = []int64{c.depth * c.columns, 1, c.depth}
		}
		weight, weights := n.input(e, stride, c.experts, c.depth, c.columns)
		dout, douts := n.input(e, nn.Packed(1, c.rows, c.columns), 1, c.rows, c.columns)
		offset, got := n.input(nn.S32, nn.Packed(groups, 1, 1), groups, 1, 1)
		n.fillAs(nn.S32, got, c.offsets)
		out, outs := n.output(e, nn.Packed(1, c.rows, c.columns), 1, c.rows, c.columns)
		dweight, dweights := n.output(e, nn.Packed(groups, c.depth, c.columns), groups, c.depth, c.columns)
		n.op(dnn.CUDNN_BACKEND_OPERATION_MOE_GROUPED_MATMUL_DESCRIPTOR, attr{dnn.CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_MODE, dnn.CUDNN_MOE_GROUPED_MATMUL_MODE_NONE}, attr{dnn.CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_MATH_PREC, dnn.CUDNN_DATA_FLOAT},
			attr{dnn.CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_TOKEN_DESC, token}, attr{dnn.CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_WEIGHT_DESC, weight},
			attr{dnn.CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_FIRST_TOKEN_OFFSET_DESC, offset}, attr{dnn.CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_OUTPUT_DESC, out})
		n.op(dnn.CUDNN_BACKEND_OPERATION_MOE_GROUPED_MATMUL_BWD_DESCRIPTOR, attr{dnn.CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_BWD_MATH_PREC, dnn.CUDNN_DATA_FLOAT}, attr{dnn.CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_BWD_TOKEN_DESC, token},
			attr{dnn.CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_BWD_DOUTPUT_DESC, dout}, attr{dnn.CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_BWD_FIRST_TOKEN_OFFSET_DESC, offset},
			attr{dnn.CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_BWD_DWEIGHT_DESC, dweight})
		n.run()
		group := func(row int64) int64 {
			g := int64(-1)
			for k, from := range c.offsets {
				if int64(from) <= row {
					g = int64(k)
				}
			}
			return g
		}
		want, grad := make([]float64, c.rows*c.columns), make([]float64, groups*c.depth*c.columns)
		for row := range c.rows {
			g := group(row)
			if g < 0 {
				continue
			}
			for k := range c.depth {
				for col := range c.columns {
					want[row*c.columns+col] += tokens[row*c.depth+k] * weights[(g%c.experts*c.depth+k)*c.columns+col]
					grad[(g*c.depth+k)*c.columns+col] += tokens[row*c.depth+k] * douts[row*c.columns+col]
				}
			}
		}
		near(t, "product", outs(), bound, func(i int) float64 { return want[i] })
		near(t, "gradient", dweights(), bound, func(i int) float64 { return grad[i] })
	}
}

// TestBackendGroupedMisuse: sizes that do not fit, and rows that are gathered.
func TestBackendGroupedMisuse(t *testing.T) {
	n := newOpGraph(t)
	try := func(mode dnn.CudnnMoeGroupedMatmulMode_t, groups, columns int64) int32 {
		list := []attr{{dnn.CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_MODE, mode}, {dnn.CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_MATH_PREC, dnn.CUDNN_DATA_FLOAT}}
		for _, d := range []struct {
			name dnn.CudnnBackendAttributeName_t
			e    nn.Elem
			dim  []int64
		}{{dnn.CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_TOKEN_DESC, nn.F32, []int64{1, 8, 4}}, {dnn.CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_WEIGHT_DESC, nn.F32, []int64{2, 4, columns}},
			{dnn.CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_FIRST_TOKEN_OFFSET_DESC, nn.S32, []int64{groups, 1, 1}}, {dnn.CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_OUTPUT_DESC, nn.F32, []int64{1, 8, 5}}} {
			desc, _ := n.describe(d.e, slices.Clone(d.dim), nn.Packed(d.dim...))
			list = append(list, attr{d.name, desc})
		}
		if _, err := n.try(dnn.CUDNN_BACKEND_OPERATION_MOE_GROUPED_MATMUL_DESCRIPTOR, list...); err != nil {
			return Code(err)
		}
		return 0
	}
	for i, c := range []struct{ got, want int32 }{
		{try(dnn.CUDNN_MOE_GROUPED_MATMUL_MODE_NONE, 2, 5), 0}, {try(dnn.CUDNN_MOE_GROUPED_MATMUL_MODE_NONE, 3, 5), int32(dnn.CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH)},
		{try(dnn.CUDNN_MOE_GROUPED_MATMUL_MODE_NONE, 2, 6), int32(dnn.CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH)}, {try(dnn.CUDNN_MOE_GROUPED_MATMUL_MODE_GATHER, 2, 5), int32(dnn.CUDNN_STATUS_NOT_SUPPORTED)},
	} {
		if c.got != c.want {
			t.Errorf("case %d answers %d, not %d", i, c.got, c.want)
		}
	}
}
