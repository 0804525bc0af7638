package graph

import (
	"slices"

	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

// convAttrs are the attributes of a convolution or one of its gradients.
type convAttrs struct{ desc, x, w, y, alpha, beta Attr }

var convRows = map[Kind]convAttrs{
	dnn.CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR: {dnn.CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, dnn.CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
		dnn.CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, dnn.CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, dnn.CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, dnn.CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA},
	dnn.CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR: {dnn.CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, dnn.CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
		dnn.CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, dnn.CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, dnn.CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, dnn.CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA},
	dnn.CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR: {dnn.CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, dnn.CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
		dnn.CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, dnn.CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY, dnn.CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, dnn.CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA},
}

// convolution is one, with its tensors: images, filters and results, of which one is computed.
func convolution(o *operation) (c nn.Conv, x, w, y *tensor) {
	row := convRows[o.kind]
	x, w, y = o.g.tensor(row.x), o.g.tensor(row.w), o.g.tensor(row.y)
	g := given(o.g.ref(row.desc).values)
	c = nn.Conv{Pad: g[dnn.CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS].wholes, Stride: g[dnn.CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES].wholes, Dilation: g[dnn.CUDNN_ATTR_CONVOLUTION_DILATIONS].wholes,
		Flip: dnn.CudnnConvolutionMode_t(g.whole(dnn.CUDNN_ATTR_CONVOLUTION_CONV_MODE, 0)) == dnn.CUDNN_CONVOLUTION}
	return c, x, w, y
}

// checkConv says whether sizes fit: a group has the channels of a filter.
func checkConv(o *operation) error {
	c, x, w, y := convolution(o)
	n := len(x.dim) - 2
	if n < 1 || n != len(c.Pad) || len(w.dim) != n+2 || len(y.dim) != n+2 {
		return fail(dnn.CUDNN_STATUS_BAD_PARAM, "a convolution of %d, %d and %d dimensions", len(x.dim), len(w.dim), len(y.dim))
	}
	if x.dim[1]%w.dim[1] != 0 || w.dim[0]%(x.dim[1]/w.dim[1]) != 0 || y.dim[1] != w.dim[0] || y.dim[0] != x.dim[0] {
		return fail(dnn.CUDNN_STATUS_BAD_PARAM, "a convolution of %v with %v to %v", x.dim, w.dim, y.dim)
	}
	g := given(o.g.ref(convRows[o.kind].desc).values)
	post := g[dnn.CUDNN_ATTR_CONVOLUTION_POST_PADDINGS].wholes
	for i := range n {
		in := x.dim[i+2] + c.Pad[i] + post[i] - c.Dilation[i]*(w.dim[i+2]-1) - 1
		if in < 0 || in/c.Stride[i]+1 != y.dim[i+2] {
			return fail(dnn.CUDNN_STATUS_BAD_PARAM, "a convolution of %v with %v to %v", x.dim, w.dim, y.dim)
		}
	}
	if slices.ContainsFunc([]*tensor{x, w, y}, func(t *tensor) bool { return t.elem == nn.Bool || t.elem == nn.S64 }) {
		return fail(dnn.CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE, "a convolution of %v with %v to %v", x.elem, w.elem, y.elem)
	}
	return nil
}

func runConv(x *exec, o *operation) error {
	c, xt, wt, yt := convolution(o)
	row := convRows[o.kind]
	images, filter, out := x.tensor(xt), x.tensor(wt), x.tensor(yt)
	c.Groups = images.Dim[1] / filter.Dim[1]
	s := nn.Scale{Alpha: o.g.float(row.alpha, 1), Beta: o.g.float(row.beta, 0)}
	switch o.kind {
	case dnn.CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
		return x.ConvData(c, filter, out, images, s)
	case dnn.CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR:
		return x.ConvFilter(c, images, out, filter, s)
	}
	return x.ConvForward(c, images, filter, out, s, nn.Epilogue{})
}
