package cudnn

import (
	"slices"
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/dnn"
)

func TestWindowDescriptors(t *testing.T) {
	th := new(Thread)
	p := made(t, th.CreatePoolingDescriptor, th.DestroyPoolingDescriptor)
	x := made(t, th.CreateTensorDescriptor, th.DestroyTensorDescriptor)
	wants(t, "tensor", th.SetTensor4dDescriptor(x, nchw, f32, 2, 3, 4, 5), success)
	wants(t, "pooling", th.SetPooling2dDescriptor(p, dnn.CUDNN_POOLING_MAX_DETERMINISTIC, dnn.CUDNN_PROPAGATE_NAN, 3, 2, 1, 0, 2, 3), success)
	mode, nan, wy, wx, py, px, sy, sx, err := th.GetPooling2dDescriptor(p)
	if got := []int32{int32(mode), int32(nan), wy, wx, py, px, sy, sx}; err != nil || !slices.Equal(got, []int32{3, 1, 3, 2, 1, 0, 2, 3}) {
		t.Errorf("pooling %d, %v", got, err)
	}
	n, c, y, z, err := th.GetPooling2dForwardOutputDim(p, x)
	if got := []int32{n, c, y, z}; err != nil || !slices.Equal(got, []int32{2, 3, 2, 2}) {
		t.Errorf("the result has %d, %v", got, err)
	}
	wants(t, "a shape of five", th.GetPoolingNdForwardOutputDim(p, x, 5, array(0, 0, 0, 0, 0)), bad)
	wants(t, "3-d", th.SetPoolingNdDescriptor(p, 0, 0, 3, array(1, 2, 3), array(0, 1, 1), array(1, 1, 2)), success)
	w := make([]int32, 4)
	if _, _, n, err := th.GetPoolingNdDescriptor(p, 3, hostmem.Of(&w[0]), hostmem.Nil, hostmem.Nil); err != nil || n != 3 || !slices.Equal(w, []int32{1, 2, 3, 0}) {
		t.Errorf("a window of %d, %d dimensions, %v", w, n, err)
	}
	wants(t, "three dimensions of a tensor of four", th.GetPoolingNdForwardOutputDim(p, x, 4, array(0, 0, 0, 0)), bad)
	wants(t, "no window", th.SetPooling2dDescriptor(p, 0, 0, 0, 2, 0, 0, 1, 1), bad)
	wants(t, "seven dimensions", th.SetPoolingNdDescriptor(p, 0, 0, 7, array(1, 1, 1, 1, 1, 1, 1), array(0, 0, 0, 0, 0, 0, 0), array(1, 1, 1, 1, 1, 1, 1)), refused)

	h := made(t, th.CreateConvolutionDescriptor, th.DestroyConvolutionDescriptor)
	f := made(t, th.CreateFilterDescriptor, th.DestroyFilterDescriptor)
	wants(t, "convolution", th.SetConvolution2dDescriptor(h, 1, 2, 2, 1, 1, 2, dnn.CUDNN_CROSS_CORRELATION, f32), success)
	wants(t, "filter", th.SetFilter4dDescriptor(f, f32, nchw, 6, 1, 3, 3), success)
	wants(t, "groups", th.SetConvolutionGroupCount(h, 3), success)
	n, c, y, z, err = th.GetConvolution2dForwardOutputDim(h, x, f)
	if got := []int32{n, c, y, z}; err != nil || !slices.Equal(got, []int32{2, 6, 2, 5}) {
		t.Errorf("the result has %d, %v", got, err)
	}
	wants(t, "math", th.SetConvolutionMathType(h, dnn.CUDNN_FMA_MATH), success)
	wants(t, "reordering", th.SetConvolutionReorderType(h, dnn.CUDNN_NO_REORDER), success)
	groups, _ := th.GetConvolutionGroupCount(h)
	math, _ := th.GetConvolutionMathType(h)
	reorder, _ := th.GetConvolutionReorderType(h)
	if groups != 3 || math != dnn.CUDNN_FMA_MATH || reorder != dnn.CUDNN_NO_REORDER {
		t.Errorf("%d groups, math %d, reordering %d", groups, math, reorder)
	}
	py, px, sy, sx, dy, dx, cm, compute, err := th.GetConvolution2dDescriptor(h)
	if got := []int32{py, px, sy, sx, dy, dx, int32(cm), int32(compute)}; err != nil || !slices.Equal(got, []int32{1, 2, 2, 1, 1, 2, 1, 0}) {
		t.Errorf("convolution %d, %v", got, err)
	}
	wants(t, "3-d", th.SetConvolutionNdDescriptor(h, 3, array(0, 1, 2), array(1, 1, 1), array(1, 2, 3), 0, f32), success)
	d := make([]int32, 3)
	if n, cm, _, err := th.GetConvolutionNdDescriptor(h, 3, hostmem.Nil, hostmem.Nil, hostmem.Of(&d[0])); err != nil || n != 3 || cm != dnn.CUDNN_CONVOLUTION || !slices.Equal(d, []int32{1, 2, 3}) {
		t.Errorf("%d dimensions, mode %d, dilation %d, %v", n, cm, d, err)
	}
	wants(t, "padding below 0", th.SetConvolution2dDescriptor(h, -1, 2, 2, 1, 1, 2, 1, f32), bad)
	wants(t, "in bytes", th.SetConvolution2dDescriptor(h, 1, 2, 2, 1, 1, 2, 1, dnn.CUDNN_DATA_INT8), bad)
	wants(t, "no groups", th.SetConvolutionGroupCount(h, 0), bad)
}

func TestOptionDescriptors(t *testing.T) {
	th := new(Thread)
	a := made(t, th.CreateActivationDescriptor, th.DestroyActivationDescriptor)
	wants(t, "activation", th.SetActivationDescriptor(a, dnn.CUDNN_ACTIVATION_ELU, dnn.CUDNN_PROPAGATE_NAN, 1.5), success)
	wants(t, "beta", th.SetActivationDescriptorSwishBeta(a, 2.5), success)
	mode, nan, coef, err := th.GetActivationDescriptor(a)
	if beta, _ := th.GetActivationDescriptorSwishBeta(a); err != nil || mode != dnn.CUDNN_ACTIVATION_ELU || nan != 1 || coef != 1.5 || beta != 2.5 {
		t.Errorf("activation %d, NaN option %d, %g, beta %g, %v", mode, nan, coef, beta, err)
	}
	wants(t, "mode", th.SetActivationDescriptor(a, 7, 0, 1), bad)

	l := made(t, th.CreateLRNDescriptor, th.DestroyLRNDescriptor)
	if n, alpha, beta, k, err := th.GetLRNDescriptor(l); err != nil || n != 5 || alpha != 1e-4 || beta != 0.75 || k != 2 {
		t.Errorf("a new LRN has %d, %g, %g, %g, %v", n, alpha, beta, k, err)
	}
	wants(t, "window", th.SetLRNDescriptor(l, 17, 1, 1, 1), bad)
	wants(t, "LRN", th.SetLRNDescriptor(l, 3, 1, 0.5, 1), success)

	o := made(t, th.CreateOpTensorDescriptor, th.DestroyOpTensorDescriptor)
	wants(t, "operation", th.SetOpTensorDescriptor(o, dnn.CUDNN_OP_TENSOR_MAX, dnn.CUDNN_DATA_BFLOAT16, 1), success)
	if op, kind, nan, err := th.GetOpTensorDescriptor(o); err != nil || op != dnn.CUDNN_OP_TENSOR_MAX || kind != dnn.CUDNN_DATA_BFLOAT16 || nan != 1 {
		t.Errorf("operation %d in %d, NaN option %d, %v", op, kind, nan, err)
	}
	wants(t, "in integers", th.SetOpTensorDescriptor(o, 0, dnn.CUDNN_DATA_INT32, 0), bad)

	r := made(t, th.CreateReduceTensorDescriptor, th.DestroyReduceTensorDescriptor)
	wants(t, "reduction", th.SetReduceTensorDescriptor(r, dnn.CUDNN_REDUCE_TENSOR_AMAX, f32, 1, 1, dnn.CUDNN_16BIT_INDICES), success)
	if op, kind, nan, ind, it, err := th.GetReduceTensorDescriptor(r); err != nil || op != dnn.CUDNN_REDUCE_TENSOR_AMAX || kind != f32 || nan != 1 || ind != 1 || it != dnn.CUDNN_16BIT_INDICES {
		t.Errorf("reduction %d in %d, NaN option %d, indices %d of %d, %v", op, kind, nan, ind, it, err)
	}
	wants(t, "a reduction that is none", th.SetReduceTensorDescriptor(r, 9, f32, 0, 0, 0), bad)

	c := made(t, th.CreateCTCLossDescriptor, th.DestroyCTCLossDescriptor)
	wants(t, "CTC", th.SetCTCLossDescriptorV9(c, f32, 1, dnn.CUDNN_CTC_SKIP_OOB_GRADIENTS, 77), success)
	if kind, norm, g, n, err := th.GetCTCLossDescriptorV8(c); err != nil || kind != f32 || norm != 1 || g != 1 || n != 77 {
		t.Errorf("CTC: %d, %d, %d, %d, %v", kind, norm, g, n, err)
	}
	wants(t, "CTC in half", th.SetCTCLossDescriptor(c, dnn.CUDNN_DATA_HALF), refused)
	s := made(t, th.CreateSpatialTransformerDescriptor, th.DestroySpatialTransformerDescriptor)
	wants(t, "spatial", th.SetSpatialTransformerNdDescriptor(s, 0, f32, 4, array(1, 2, 3, 4)), success)
	wants(t, "another sampler", th.SetSpatialTransformerNdDescriptor(s, 1, f32, 4, array(1, 2, 3, 4)), bad)
}

func TestNetworkDescriptors(t *testing.T) {
	th := new(Thread)
	r := made(t, th.CreateRNNDescriptor, th.DestroyRNNDescriptor)
	lstm := func(kind, prec dataType, hidden, proj int32, flags uint32) error {
		return th.SetRNNDescriptorV8(r, 0, dnn.CUDNN_LSTM, dnn.CUDNN_RNN_DOUBLE_BIAS, dnn.CUDNN_BIDIRECTIONAL, 0, kind, prec, 0, 4, hidden, proj, 2, 0, flags)
	}
	wants(t, "LSTM", lstm(f32, f32, 5, 3, 1), success)
	var sizes [5]int32
	at := func(i int) hostmem.Ptr { return hostmem.Of(&sizes[i]) }
	_, cell, bias, direction, _, kind, prec, _, _, err := th.GetRNNDescriptorV8(r, at(0), at(1), at(2), at(3), at(4))
	if err != nil || cell != dnn.CUDNN_LSTM || bias != 2 || direction != 1 || kind != f32 || prec != f32 || sizes != [5]int32{4, 5, 3, 2, 1} {
		t.Errorf("cell %d, bias %d, direction %d, types %d and %d, sizes %d, %v", cell, bias, direction, kind, prec, sizes, err)
	}
	wants(t, "clip", th.RNNSetClipV9(r, dnn.CUDNN_RNN_CLIP_MINMAX, -1, 2), success)
	if m, low, high, err := th.RNNGetClipV9(r); err != nil || m != 1 || low != -1 || high != 2 {
		t.Errorf("clip %d from %g to %g, %v", m, low, high, err)
	}
	wants(t, "bounds", th.RNNSetClipV8(r, 1, 0, 2, -1), bad)
	wants(t, "no projection", lstm(f32, f32, 5, 0, 0), bad)
	wants(t, "larger projection", lstm(f32, f32, 5, 6, 0), refused)
	wants(t, "half in f64", lstm(dnn.CUDNN_DATA_HALF, dnn.CUDNN_DATA_DOUBLE, 5, 5, 0), refused)
	wants(t, "flags", lstm(f32, f32, 5, 5, 2), bad)
	wants(t, "again", lstm(f32, f32, 5, 5, 0), success)
	if m, _, _, _, _ := th.RNNGetClipV8(r); m != 0 {
		t.Errorf("clip %d stays", m)
	}

	x := made(t, th.CreateRNNDataDescriptor, th.DestroyRNNDataDescriptor)
	fill := float32(7)
	wants(t, "sequences", th.SetRNNDataDescriptor(x, f32, dnn.CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED, 5, 3, 4, array(5, 3, 0), hostmem.Of(&fill)), success)
	lengths, got := make([]int32, 3), float32(0)
	_, layout, longest, batch, vector, err := th.GetRNNDataDescriptor(x, 2, hostmem.Of(&lengths[0]), hostmem.Of(&got))
	if err != nil || layout != 1 || longest != 5 || batch != 3 || vector != 4 || got != 7 || !slices.Equal(lengths, []int32{5, 3, 0}) {
		t.Errorf("layout %d, %d sequences of %d of %d, lengths %d, fill %g, %v", layout, batch, longest, vector, lengths, got, err)
	}
	wants(t, "packed, not sorted", th.SetRNNDataDescriptor(x, f32, 1, 5, 3, 4, array(2, 5, 3), hostmem.Nil), bad)
	wants(t, "too long", th.SetRNNDataDescriptor(x, f32, 0, 4, 3, 4, array(5, 3, 0), hostmem.Nil), bad)
	wants(t, "bytes", th.SetRNNDataDescriptor(x, dnn.CUDNN_DATA_INT8, 0, 5, 3, 4, array(5, 3, 0), hostmem.Nil), refused)
}

func TestAttentionDescriptors(t *testing.T) {
	th := new(Thread)
	s := made(t, th.CreateSeqDataDescriptor, th.DestroySeqDataDescriptor)
	seq := func(n int32, axes hostmem.Ptr, size uint64) error {
		return th.SetSeqDataDescriptor(s, f32, n, array(5, 3, 2, 4), axes, size, array(5, 5, 3, 3, 2, 2), hostmem.Nil)
	}
	wants(t, "sequences", seq(4, array(1, 2, 0, 3), 6), success)
	v, _ := look[seqData](s)
	if got := []int64{v.stride(0), v.stride(1), v.stride(2), v.stride(3)}; !slices.Equal(got, []int64{4, 40, 20, 1}) {
		t.Errorf("strides %d", got)
	}
	dim, lengths := make([]int32, 4), make([]int32, 6)
	kind, n, size, err := th.GetSeqDataDescriptor(s, 4, hostmem.Of(&dim[0]), hostmem.Nil, 6, hostmem.Of(&lengths[0]), hostmem.Nil)
	if err != nil || kind != f32 || n != 4 || size != 6 || !slices.Equal(dim, []int32{5, 3, 2, 4}) || !slices.Equal(lengths, []int32{5, 5, 3, 3, 2, 2}) {
		t.Errorf("type %d, %d dimensions %d, lengths %d, %v", kind, n, dim, lengths, err)
	}
	wants(t, "three dimensions", seq(3, array(1, 2, 0, 3), 6), refused)
	wants(t, "an axis twice", seq(4, array(1, 1, 0, 3), 6), bad)
	wants(t, "five lengths", seq(4, array(1, 2, 0, 3), 5), bad)

	a := made(t, th.CreateAttnDescriptor, th.DestroyAttnDescriptor)
	attn := func(mode uint32, scale float64, prec dataType, q, k, qp, kp int32) error {
		return th.SetAttnDescriptor(a, mode, 2, scale, f32, prec, 0, 0, 0, q, k, 8, qp, kp, 5, 7, 5, 6, 3, 2)
	}
	wants(t, "attention", attn(2, 0.5, f32, 4, 6, 3, 3), success)
	mode, nh, scale, _, _, _, _, _, q, k, vs, qp, _, vp, op, long, _, batch, beam, err := th.GetAttnDescriptor(a)
	if got := []int32{int32(mode), nh, q, k, vs, qp, vp, op, long, batch, beam}; err != nil || scale != 0.5 || !slices.Equal(got, []int32{2, 2, 4, 6, 8, 3, 5, 7, 5, 3, 2}) {
		t.Errorf("%d, scale %g, %v", got, scale, err)
	}
	wants(t, "mode", attn(4, 1, f32, 4, 6, 3, 3), bad)
	wants(t, "scale", attn(0, -1, f32, 4, 6, 3, 3), bad)
	wants(t, "queries unlike keys", attn(0, 1, f32, 4, 6, 0, 0), bad)
	wants(t, "precision", attn(0, 1, dnn.CUDNN_DATA_DOUBLE, 4, 6, 3, 3), refused)
}

func TestFusedPacks(t *testing.T) {
	th := new(Thread)
	c := made(t, func() (uint64, error) { return th.CreateFusedOpsConstParamPack(0) }, th.DestroyFusedOpsConstParamPack)
	x := made(t, th.CreateTensorDescriptor, th.DestroyTensorDescriptor)
	y := made(t, th.CreateTensorDescriptor, th.DestroyTensorDescriptor)
	wants(t, "tensor", th.SetTensor4dDescriptor(x, nchw, f32, 2, 3, 4, 5), success)
	wants(t, "descriptor", th.SetFusedOpsConstParamPackAttribute(c, dnn.CUDNN_PARAM_XDESC, hostmem.Ptr(x)), success)
	mode := int32(2)
	wants(t, "number", th.SetFusedOpsConstParamPackAttribute(c, dnn.CUDNN_PARAM_BN_MODE, hostmem.Of(&mode)), success)
	null, err := th.GetFusedOpsConstParamPackAttribute(c, dnn.CUDNN_PARAM_XDESC, hostmem.Ptr(y))
	if size, _ := th.GetTensorSizeInBytes(y); err != nil || null != 0 || size != 480 {
		t.Errorf("the copy has %d bytes, missing %d, %v", size, null, err)
	}
	mode = 0
	if null, err = th.GetFusedOpsConstParamPackAttribute(c, dnn.CUDNN_PARAM_BN_MODE, hostmem.Of(&mode)); err != nil || null != 0 || mode != 2 {
		t.Errorf("number %d, missing %d, %v", mode, null, err)
	}
	if null, err = th.GetFusedOpsConstParamPackAttribute(c, dnn.CUDNN_PARAM_WDESC, hostmem.Ptr(y)); err != nil || null != 1 {
		t.Errorf("missing %d, %v", null, err)
	}
	wants(t, "no descriptor", th.SetFusedOpsConstParamPackAttribute(c, dnn.CUDNN_PARAM_XDESC, 0x1230), bad)
	wants(t, "another descriptor", th.SetFusedOpsConstParamPackAttribute(c, dnn.CUDNN_PARAM_CONV_DESC, hostmem.Ptr(x)), bad)
	wants(t, "label of another operation", th.SetFusedOpsConstParamPackAttribute(c, dnn.CUDNN_PARAM_DXDESC, hostmem.Ptr(x)), bad)
	mode = 3
	wants(t, "mode", th.SetFusedOpsConstParamPackAttribute(c, dnn.CUDNN_PARAM_BN_MODE, hostmem.Of(&mode)), bad)
	wants(t, "placeholder", th.SetFusedOpsConstParamPackAttribute(c, dnn.CUDNN_PARAM_XDATA_PLACEHOLDER, hostmem.Of(&mode)), bad)
	v := made(t, func() (uint64, error) {
		return th.CreateFusedOpsVariantParamPack(dnn.CUDNN_FUSED_BN_FINALIZE_STATISTICS_TRAINING)
	}, th.DestroyFusedOpsVariantParamPack)
	eps, got := 0.25, 0.0
	wants(t, "epsilon", th.SetFusedOpsVariantParamPackAttribute(v, dnn.CUDNN_SCALAR_DOUBLE_BN_EPSILON, hostmem.Of(&eps)), success)
	wants(t, "epsilon", th.GetFusedOpsVariantParamPackAttribute(v, dnn.CUDNN_SCALAR_DOUBLE_BN_EPSILON, hostmem.Of(&got)), success)
	wants(t, "address", th.SetFusedOpsVariantParamPackAttribute(v, dnn.CUDNN_PTR_YSUM, 0x5000), success)
	at := uint64(0)
	wants(t, "address", th.GetFusedOpsVariantParamPackAttribute(v, dnn.CUDNN_PTR_YSUM, hostmem.Of(&at)), success)
	if got != eps || at != 0x5000 {
		t.Errorf("epsilon %g, address %#x", got, at)
	}
	wants(t, "label", th.SetFusedOpsVariantParamPackAttribute(v, 50, 0), bad)
	wants(t, "address of another operation", th.SetFusedOpsVariantParamPackAttribute(v, dnn.CUDNN_PTR_YDATA, 0x5000), bad)
	made(t, func() (uint64, error) { return th.CreateFusedOpsPlan(0) }, th.DestroyFusedOpsPlan)
	wants(t, "a pack is no plan", th.DestroyFusedOpsPlan(fusedPlan(c)), bad)
	if _, err := th.CreateFusedOpsPlan(9); err == nil {
		t.Error("an operation that is none")
	}
}
