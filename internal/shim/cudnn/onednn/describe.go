package onednn

import (
	"slices"

	"kudzu/internal/shim/cudnn/nn"
)

// writes is which of X, W and Y an operation writes.
func writes(k nn.WorkKind) int {
	switch k {
	case nn.WorkData:
		return 0
	case nn.WorkFilter:
		return 1
	case nn.WorkForward, nn.WorkProduct, nn.WorkSoftmax:
	}
	return 2
}

// describe makes the descriptor of an operation, and says which tensors it has, as the library has them, and what they are to it.
func (m *making) describe(w *nn.Work) (desc uintptr, tensors [3]nn.Tensor, roles [3]role) {
	tensors = [3]nn.Tensor{w.X, w.W, w.Y}
	for i, t := range tensors {
		tensors[i] = settled(t)
	}
	switch w.Kind {
	case nn.WorkProduct:
		return m.product(tensors), tensors, [3]role{source, weights, result}
	case nn.WorkSoftmax:
		return m.softmax(w, tensors), tensors, [3]role{source, {}, result}
	case nn.WorkForward, nn.WorkData, nn.WorkFilter:
	}
	g := w.Conv.Groups
	if g > 1 {
		t := &tensors[1]
		t.Dim = slices.Concat([]int64{g, t.Dim[0] / g}, t.Dim[1:])
		t.Stride = slices.Concat([]int64{t.Dim[1] * t.Stride[0]}, t.Stride)
	}
	roles = [3]role{source, weights, result}
	switch w.Kind {
	case nn.WorkData:
		roles = [3]role{sourceDiff, weights, resultDiff}
	case nn.WorkFilter:
		roles = [3]role{source, filterDiff, resultDiff}
	case nn.WorkForward, nn.WorkProduct, nn.WorkSoftmax:
	}
	return m.convolution(w, tensors), tensors, roles
}

// settled has strides that the library can judge where a side is 1, and so none counts.
func settled(t nn.Tensor) nn.Tensor {
	t.Stride = slices.Clone(t.Stride)
	for i, d := range t.Dim {
		if d == 1 {
			t.Stride[i] = 1
			for j, s := range t.Stride {
				if j != i && t.Dim[j] > 1 {
					t.Stride[i] = max(t.Stride[i], s*t.Dim[j])
				}
			}
		}
	}
	return t
}

func (m *making) product(t [3]nn.Tensor) uintptr {
	a, b, c := m.desc(t[0], false), m.desc(t[1], false), m.desc(t[2], false)
	if m.l.newer {
		return m.newer("dnnl_matmul_primitive_desc_create", a, b, 0, c, m.l.attr)
	}
	return m.older(0, "dnnl_matmul_desc_init", a, b, 0, c)
}

func (m *making) softmax(w *nn.Work, t [3]nn.Tensor) uintptr {
	x, y, how := m.desc(t[0], false), m.desc(t[2], false), softmaxAccurate
	if w.Mode == nn.SoftmaxLog {
		how = softmaxLog
	}
	if m.l.newer {
		return m.newer("dnnl_softmax_forward_primitive_desc_create", forward, how, x, y, uintptr(w.Axis), m.l.attr)
	}
	return m.older(0, "dnnl_softmax_v2_forward_desc_init", forward, how, x, y, uintptr(w.Axis))
}

// convolution makes the descriptor of a convolution or a gradient of one. Images whose channels are last stay as they are, which the
// library has fast kernels for; others it may lay out anew, as it may filters.
func (m *making) convolution(w *nn.Work, t [3]nn.Tensor) uintptr {
	c := &w.Conv
	likes := !t[0].IsChannelsLast() || !t[2].IsChannelsLast() || t[0].IsPacked() && t[2].IsPacked()
	x, f, y := m.desc(t[0], likes), m.desc(t[1], true), m.desc(t[2], likes)
	var dilates, after []int64 // between taps; zeros behind the images
	taps := len(t[1].Dim) - len(c.Stride)
	for i, s := range c.Stride {
		in, out, reach := t[0].Dim[i+2], t[2].Dim[i+2], (t[1].Dim[taps+i]-1)*c.Dilation[i]+1
		dilates = append(dilates, c.Dilation[i]-1)
		end := max(0, (out-1)*s+reach-in-c.Pad[i])
		if after = append(after, end); (in+c.Pad[i]+end-reach)/s+1 != out {
			m.fail(errRefused)
		}
	}
	var how []uintptr
	for _, l := range [][]int64{c.Stride, dilates, c.Pad, after} {
		how = append(how, m.numbers(false, l...).Addr())
	}
	if m.l.newer {
		hint := m.newer("dnnl_convolution_forward_primitive_desc_create", slices.Concat([]uintptr{forwardFor(w.Kind), direct, x, f, 0, y}, how, []uintptr{m.l.attr})...)
		rest := slices.Concat(how, []uintptr{hint, m.l.attr})
		switch w.Kind {
		case nn.WorkData:
			return m.newer("dnnl_convolution_backward_data_primitive_desc_create", slices.Concat([]uintptr{direct, x, f, y}, rest)...)
		case nn.WorkFilter:
			return m.newer("dnnl_convolution_backward_weights_primitive_desc_create", slices.Concat([]uintptr{direct, x, f, 0, y}, rest)...)
		case nn.WorkForward, nn.WorkProduct, nn.WorkSoftmax:
		}
		return hint
	}
	hint := m.older(0, "dnnl_dilated_convolution_forward_desc_init", slices.Concat([]uintptr{forwardFor(w.Kind), direct, x, f, 0, y}, how)...)
	switch w.Kind {
	case nn.WorkData:
		return m.older(hint, "dnnl_dilated_convolution_backward_data_desc_init", slices.Concat([]uintptr{direct, x, f, y}, how)...)
	case nn.WorkFilter:
		return m.older(hint, "dnnl_dilated_convolution_backward_weights_desc_init", slices.Concat([]uintptr{direct, x, f, 0, y}, how)...)
	case nn.WorkForward, nn.WorkProduct, nn.WorkSoftmax:
	}
	return hint
}

// forwardFor is the kind of forward convolution, or of that which a gradient belongs to.
func forwardFor(k nn.WorkKind) uintptr {
	if k == nn.WorkForward {
		return forward
	}
	return training
}
