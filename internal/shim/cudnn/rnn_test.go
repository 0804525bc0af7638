package cudnn

import (
	"math"
	"slices"
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/dnn"
)

const f64 = dnn.CUDNN_DATA_DOUBLE

// TestRNNWeights: where the real library (9.27) has the matrices and biases.
func TestRNNWeights(t *testing.T) {
	d := onDesk(t)
	r := made(t, d.th.CreateRNNDescriptor, d.th.DestroyRNNDescriptor)
	m, b := made(t, d.th.CreateTensorDescriptor, d.th.DestroyTensorDescriptor), made(t, d.th.CreateTensorDescriptor, d.th.DestroyTensorDescriptor)
	d.ok(d.th.SetRNNDescriptorV8(r, 0, dnn.CUDNN_LSTM, dnn.CUDNN_RNN_DOUBLE_BIAS, dnn.CUDNN_BIDIRECTIONAL, 0, f32, f32, 0, 4, 5, 3, 2, 0, 0))
	size, err := d.th.GetRNNWeightSpaceSize(d.h, r)
	if err != nil || size != 3440 {
		t.Fatalf("%d bytes, %v", size, err)
	}
	for _, c := range []struct {
		layer, number int32
		matrix, bias  int64
		shape         []int32
	}{{0, 0, 0, 2800, []int32{1, 5, 4}}, {0, 5, 380, 2900, []int32{1, 5, 3}}, {0, 8, 560, -1, []int32{1, 3, 5}}, {2, 8, 1960, -1, []int32{1, 3, 5}}} {
		var at [2]uint64
		d.ok(d.th.GetRNNWeightParams(d.h, r, c.layer, size, 0x10000, c.number, m, hostmem.Of(&at[0]), b, hostmem.Of(&at[1])))
		bias := int64(-1)
		if at[1] != 0 {
			bias = int64(at[1]) - 0x10000
		}
		dim := make([]int32, 3)
		_, _, err := d.th.GetTensorNdDescriptor(m, 3, hostmem.Of(&dim[0]), hostmem.Nil)
		if d.ok(err); int64(at[0])-0x10000 != c.matrix || bias != c.bias || !slices.Equal(dim, c.shape) {
			t.Errorf("layer %d, number %d: matrix %v at %d, bias at %d", c.layer, c.number, dim, int64(at[0])-0x10000, bias)
		}
	}
	var at [2]uint64
	d.ok(d.th.GetRNNWeightParams(d.h, r, 0, size, 0x10000, 5, m, hostmem.Of(&at[0]), 0, hostmem.Nil))
	d.ok(d.th.GetRNNWeightParams(d.h, r, 0, size, 0x10000, 5, 0, hostmem.Nil, b, hostmem.Of(&at[1])))
	if at != [2]uint64{0x10000 + 380, 0x10000 + 2900} {
		t.Errorf("asked for one by one: %#x", at)
	}
	wants(t, "an address without a descriptor", d.th.GetRNNWeightParams(d.h, r, 0, size, 0x10000, 5, m, hostmem.Of(&at[0]), 0, hostmem.Of(&at[1])), bad)
	wants(t, "number", d.th.GetRNNWeightParams(d.h, r, 0, size, 0x10000, 9, m, array(0, 0), b, array(0, 0)), bad)
	d.ok(d.th.SetRNNDescriptorV8(r, 0, dnn.CUDNN_GRU, dnn.CUDNN_RNN_DOUBLE_BIAS, 0, dnn.CUDNN_SKIP_INPUT, f32, f32, 0, 5, 5, 5, 2, 0, 0))
	if size, err := d.th.GetRNNWeightSpaceSize(d.h, r); err != nil || size != 1140 {
		t.Errorf("%d bytes, %v", size, err)
	}
	wants(t, "nothing dynamic", d.th.BuildRNNDynamic(d.h, r, 3), bad)
}

// lstm is a network of one layer of f64 and its memory, for sequences of 3 and 2 vectors of 2 elements; states have 3.
type lstm struct {
	*desk
	r          rnnDesc
	xd, yd     rnnDataDesc
	hd         tensorDesc
	x, w       []float64
	at         hostmem.Ptr // the weights
	size, work uint64
	kept       uint64
	reserve    hostmem.Ptr
	space      hostmem.Ptr
}

func newLSTM(t *testing.T) *lstm {
	d := onDesk(t)
	n := &lstm{desk: d, r: made(t, d.th.CreateRNNDescriptor, d.th.DestroyRNNDescriptor)}
	d.ok(d.th.SetRNNDescriptorV8(n.r, 0, dnn.CUDNN_LSTM, dnn.CUDNN_RNN_DOUBLE_BIAS, 0, 0, f64, f64, 0, 2, 3, 3, 1, 0, 0))
	n.xd, n.yd = made(t, d.th.CreateRNNDataDescriptor, d.th.DestroyRNNDataDescriptor), made(t, d.th.CreateRNNDataDescriptor, d.th.DestroyRNNDataDescriptor)
	fill := 7.0
	d.ok(d.th.SetRNNDataDescriptor(n.xd, f64, 0, 3, 2, 2, array(3, 2), hostmem.Of(&fill)))
	d.ok(d.th.SetRNNDataDescriptor(n.yd, f64, 0, 3, 2, 3, array(3, 2), hostmem.Of(&fill)))
	n.hd = made(t, d.th.CreateTensorDescriptor, d.th.DestroyTensorDescriptor)
	d.ok(d.th.SetTensorNdDescriptor(n.hd, f64, 3, array(1, 2, 3), array(6, 3, 1)))
	var err error
	n.size, err = d.th.GetRNNWeightSpaceSize(d.h, n.r)
	d.ok(err)
	n.work, n.kept, err = d.th.GetRNNTempSpaceSizes(d.h, n.r, dnn.CUDNN_FWD_MODE_TRAINING, n.xd)
	d.ok(err)
	n.space, n.reserve, n.at = d.memory(n.work), d.memory(n.kept), d.memory(n.size)
	for range 12 {
		n.x = append(n.x, d.rng.NormFloat64())
	}
	for range n.size / 8 {
		n.w = append(n.w, d.rng.NormFloat64()/2)
	}
	return n
}

// forward is a training pass.
func (n *lstm) forward() []float64 {
	copy(hostmem.Slice[float64](n.at, len(n.w)), n.w)
	y := n.memory(18 * 8)
	n.ok(n.th.RNNForward(n.h, n.r, dnn.CUDNN_FWD_MODE_TRAINING, hostmem.Nil, n.xd, put(n.desk, n.x), n.yd, y, n.hd, 0, 0, n.hd, 0, 0, n.size, n.at, n.work, n.space, n.kept, n.reserve))
	return read[float64](n.desk, y, 18)
}

// want is what it should be: the order of gates is input, forget, new, output.
func (n *lstm) want() []float64 {
	y := slices.Repeat([]float64{7}, 18)
	sigmoid := func(v float64) float64 { return 1 / (1 + math.Exp(-v)) }
	for b, length := range []int{3, 2} {
		h, c := make([]float64, 3), make([]float64, 3)
		for s := range length {
			next := make([]float64, 3)
			for j := range 3 {
				var g [4]float64
				for k := range 4 {
					row := k*3 + j
					g[k] = n.w[60+row] + n.w[72+row]
					for i := range 2 {
						g[k] += n.w[row*2+i] * n.x[(s*2+b)*2+i]
					}
					for i := range 3 {
						g[k] += n.w[24+row*3+i] * h[i]
					}
				}
				c[j] = sigmoid(g[1])*c[j] + sigmoid(g[0])*math.Tanh(g[2])
				next[j] = sigmoid(g[3]) * math.Tanh(c[j])
			}
			h = next
			copy(y[(s*2+b)*3:], h)
		}
	}
	return y
}

func TestRNNCalls(t *testing.T) {
	n := newLSTM(t)
	near := func(what string, got, want []float64, limit float64) {
		t.Helper()
		for i, w := range want {
			if math.Abs(got[i]-w) > limit {
				t.Fatalf("%s: element %d is %g, not %g", what, i, got[i], w)
			}
		}
	}
	near("the result", n.forward(), n.want(), 1e-12)
	g := make([]float64, 18)
	for i := range g {
		if g[i] = n.rng.NormFloat64(); i >= 15 {
			g[i] = 0 // after the end of the second sequence
		}
	}
	slopes := func(v []float64) []float64 {
		d := make([]float64, len(v))
		for i, old := range v {
			for _, s := range []float64{1, -1} {
				v[i] = old + s*1e-5
				for k, y := range n.want() {
					d[i] += s * y * g[k] / 2e-5
				}
			}
			v[i] = old
		}
		return d
	}
	dx, dw := n.memory(12*8), put(n.desk, slices.Repeat([]float64{2}, len(n.w)))
	n.ok(n.th.RNNBackwardDataV8(n.h, n.r, 0, n.yd, n.memory(18*8), put(n.desk, g), n.xd, dx, n.hd, 0, 0, 0, n.hd, 0, 0, 0, n.size, n.at, n.work, n.space, n.kept, n.reserve))
	near("the gradient of the input", read[float64](n.desk, dx, 12), slopes(n.x), 1e-8)
	n.ok(n.th.RNNBackwardWeightsV8(n.h, n.r, dnn.CUDNN_WGRAD_MODE_SET, 0, n.xd, put(n.desk, n.x), n.hd, 0, n.yd, n.memory(18*8), n.size, dw, n.work, n.space, n.kept, n.reserve))
	near("the gradient of the weights", read[float64](n.desk, dw, len(n.w)), slopes(n.w), 1e-8)
	wants(t, "no reserve", n.th.RNNForward(n.h, n.r, dnn.CUDNN_FWD_MODE_TRAINING, 0, n.xd, dx, n.yd, dx, n.hd, 0, 0, n.hd, 0, 0, n.size, n.at, n.work, n.space, 0, 0), bad)
	wants(t, "results as inputs", n.th.RNNForward(n.h, n.r, 0, 0, n.yd, dx, n.yd, dx, n.hd, 0, 0, n.hd, 0, 0, n.size, n.at, n.work, n.space, 0, 0), bad)
}
