package cudnn

import (
	"math"
	"testing"

	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

// convolved computes a convolution of images with two sides in f64, strides 2 and 1, paddings 1 and 2, dilations 1 and 2, in two
// groups. each is called for every product: positions of image, filter and result.
func convolved(x, w, y []int64, each func(x, w, y int64)) {
	xs, ws, ys := nn.Packed(x...), nn.Packed(w...), nn.Packed(y...)
	for n := range x[0] {
		for k := range w[0] {
			for c := range w[1] {
				channel := k/(w[0]/2)*w[1] + c
				for p := range y[2] {
					for q := range y[3] {
						for r := range w[2] {
							for s := range w[3] {
								i, j := p*2+r-1, q+s*2-2
								if i >= 0 && i < x[2] && j >= 0 && j < x[3] {
									each(n*xs[0]+channel*xs[1]+i*xs[2]+j, k*ws[0]+c*ws[1]+r*ws[2]+s, n*ys[0]+k*ys[1]+p*ys[2]+q)
								}
							}
						}
					}
				}
			}
		}
	}
}

// TestBackendConvolution is a convolution with a bias and a rectifier, and both gradients.
func TestBackendConvolution(t *testing.T) {
	x, w, y := []int64{2, 6, 9, 8}, []int64{4, 3, 3, 3}, []int64{2, 4, 5, 8}
	for _, e := range []nn.Elem{nn.F32, nn.F16} {
		n := newOpGraph(t)
		bound := map[nn.Elem]float64{nn.F32: 1e-5, nn.F16: 5e-3}[e]
		conv := n.make(dnn.CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, attr{dnn.CUDNN_ATTR_CONVOLUTION_COMP_TYPE, dnn.CUDNN_DATA_FLOAT}, attr{dnn.CUDNN_ATTR_CONVOLUTION_CONV_MODE, dnn.CUDNN_CROSS_CORRELATION},
			attr{dnn.CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, int64(2)}, attr{dnn.CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, []int64{1, 2}}, attr{dnn.CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, []int64{1, 2}},
			attr{dnn.CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, []int64{2, 1}}, attr{dnn.CUDNN_ATTR_CONVOLUTION_DILATIONS, []int64{1, 2}})
		xd, xs := n.input(e, nn.ChannelsLast(x...), x...)
		wd, ws := n.input(e, nn.ChannelsLast(w...), w...)
		bias, bs := n.input(e, []int64{4, 1, 1, 1}, 1, 4, 1, 1)
		yd, ys := n.output(e, nn.ChannelsLast(y...), y...)
		raw, biased := n.virtual(nn.F32, y...), n.virtual(nn.F32, y...)
		n.op(dnn.CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, attr{dnn.CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, conv}, attr{dnn.CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, xd},
			attr{dnn.CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, wd}, attr{dnn.CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, raw}, attr{dnn.CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, 1.0}, attr{dnn.CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, 0.0})
		n.point(dnn.CUDNN_POINTWISE_ADD, biased, raw, bias)
		n.point(dnn.CUDNN_POINTWISE_RELU_FWD, yd, biased)
		n.run()
		want := make([]float64, len(ys()))
		convolved(x, w, y, func(i, f, o int64) { want[o] += xs[i] * ws[f] })
		near(t, "y", ys(), bound, func(i int) float64 { return math.Max(0, want[i]+bs[i/40%4]) })

		n.ops = nil
		dy, dys := n.input(e, nn.Packed(y...), y...)
		dx, dxs := n.output(e, nn.Packed(x...), x...)
		n.op(dnn.CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR, attr{dnn.CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, conv}, attr{dnn.CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, dx},
			attr{dnn.CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, wd}, attr{dnn.CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, dy}, attr{dnn.CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, 1.0}, attr{dnn.CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA, 0.0})
		n.run()
		want = make([]float64, len(xs))
		convolved(x, w, y, func(i, f, o int64) { want[i] += dys[o] * ws[f] })
		near(t, "dx", dxs(), bound, func(i int) float64 { return want[i] })

		n.ops = nil
		dw, dws := n.output(e, nn.Packed(w...), w...)
		n.op(dnn.CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR, attr{dnn.CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, conv}, attr{dnn.CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, xd},
			attr{dnn.CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, dw}, attr{dnn.CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY, dy}, attr{dnn.CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, 1.0}, attr{dnn.CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA, 0.0})
		n.run()
		want = make([]float64, len(ws))
		convolved(x, w, y, func(i, f, o int64) { want[f] += dys[o] * xs[i] })
		near(t, "dw", dws(), bound, func(i int) float64 { return want[i] })
	}
}
