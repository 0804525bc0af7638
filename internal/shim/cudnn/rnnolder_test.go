package cudnn

import (
	"math"
	"slices"
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/dnn"
)

// older is the network of newLSTM, described by the calls from before 8, with the same weights and the same inputs, packed.
type older struct {
	*lstm
	r      rnnDesc
	steps  hostmem.Ptr // of inputs
	result hostmem.Ptr
	wd     filterDesc
	x, dy  hostmem.Ptr
	g      []float64
}

// steps are descriptors of vectors of a size, for the batch of each time.
func steps(d *desk, size int32, batch ...int32) hostmem.Ptr {
	list := make([]uint64, len(batch))
	for i, n := range batch {
		x := made(d.t, d.th.CreateTensorDescriptor, d.th.DestroyTensorDescriptor)
		d.ok(d.th.SetTensorNdDescriptor(x, f64, 3, array(n, size, 1), array(size, 1, 1)))
		list[i] = uint64(x)
	}
	return hostmem.Of(&list[0])
}

func newOlder(t *testing.T) *older {
	n := newLSTM(t)
	d := n.desk
	o := &older{lstm: n, r: made(t, d.th.CreateRNNDescriptor, d.th.DestroyRNNDescriptor), wd: made(t, d.th.CreateFilterDescriptor, d.th.DestroyFilterDescriptor)}
	drop := made(t, d.th.CreateDropoutDescriptor, d.th.DestroyDropoutDescriptor)
	d.ok(d.th.SetDropoutDescriptor(drop, d.h, 0, 0, 0, 0))
	d.ok(d.th.SetRNNDescriptorV6(d.h, o.r, 3, 1, drop, 0, 0, dnn.CUDNN_LSTM, 0, f64))
	o.steps, o.result = steps(d, 2, 2, 2, 1), steps(d, 3, 2, 2, 1) // lengths 3 and 2
	d.ok(d.th.SetFilterNdDescriptor(o.wd, f64, 0, 3, array(int32(len(n.w)), 1, 1)))
	o.x = put(d, n.x[:10]) // without the last vector, which is after the end of the second sequence
	for range 15 {
		o.g = append(o.g, d.rng.NormFloat64())
	}
	o.dy = put(d, o.g)
	copy(hostmem.Slice[float64](n.at, len(n.w)), n.w)
	return o
}

// TestRNNOlder: passes by the calls from before 8 are those of RNNForward and its gradients.
func TestRNNOlder(t *testing.T) {
	n := newOlder(t)
	th, h := n.th, n.h
	first := tensorDesc(hostmem.Load[uint64](n.steps))
	if size, err := th.GetRNNParamsSize(h, n.r, first, f64); err != nil || size != n.size {
		t.Fatalf("%d bytes of weights, %v, not %d", size, err, n.size)
	}
	work, err := th.GetRNNWorkspaceSize(h, n.r, 3, n.steps)
	n.ok(err)
	kept, err := th.GetRNNTrainingReserveSize(h, n.r, 3, n.steps)
	n.ok(err)
	space, reserve := n.memory(work), n.memory(kept)
	y, hy, cy := n.memory(15*8), n.memory(6*8), n.memory(6*8)
	want := n.want()
	inferred := n.memory(15 * 8)
	n.ok(th.RNNForwardInference(h, n.r, 3, n.steps, n.x, n.hd, 0, n.hd, 0, n.wd, n.at, n.result, inferred, n.hd, 0, n.hd, 0, space, work))
	n.ok(th.RNNForwardTraining(h, n.r, 3, n.steps, n.x, n.hd, 0, n.hd, 0, n.wd, n.at, n.result, y, n.hd, hy, n.hd, cy, space, work, reserve, kept))
	closeTo(t, "inferred", read[float64](n.desk, inferred, 15), want[:15], 1e-12)
	closeTo(t, "trained", read[float64](n.desk, y, 15), want[:15], 1e-12)
	closeTo(t, "last states", read[float64](n.desk, hy, 6), slices.Concat(want[12:15], want[9:12]), 1e-12)

	dx, dw := n.memory(10*8), put(n.desk, slices.Repeat([]float64{2}, len(n.w)))
	n.ok(th.RNNBackwardData(h, n.r, 3, n.result, y, n.result, n.dy, n.hd, 0, n.hd, 0, n.wd, n.at, n.hd, 0, n.hd, 0, n.steps, dx, n.hd, 0, n.hd, 0, space, work, reserve, kept))
	n.ok(th.RNNBackwardWeights(h, n.r, 3, n.steps, n.x, n.hd, 0, n.result, y, space, work, n.wd, dw, reserve, kept))
	slopes := func(v []float64) []float64 {
		d := make([]float64, len(v))
		for i, old := range v {
			for _, s := range []float64{1, -1} {
				v[i] = old + s*1e-5
				for k, y := range n.want()[:15] {
					d[i] += s * y * n.g[k] / 2e-5
				}
			}
			v[i] = old
		}
		return d
	}
	closeTo(t, "the gradient of the input", read[float64](n.desk, dx, 10), slopes(n.lstm.x)[:10], 1e-8)
	sums := slopes(n.w)
	for i := range sums {
		sums[i] += 2
	}
	closeTo(t, "the gradient of the weights, added", read[float64](n.desk, dw, len(n.w)), sums, 1e-8)

	perf := make([]uint64, 2)
	n.ok(th.CreateAlgorithmPerformance(hostmem.Of(&perf[0]), 2))
	var found int32
	n.ok(th.FindRNNForwardInferenceAlgorithmEx(h, n.r, 3, n.steps, n.x, n.hd, 0, n.hd, 0, n.wd, n.at, n.result, inferred, n.hd, 0, n.hd, 0, 1, 2, hostmem.Of(&found), hostmem.Of(&perf[0]), space, work))
	n.ok(th.FindRNNForwardTrainingAlgorithmEx(h, n.r, 3, n.steps, n.x, n.hd, 0, n.hd, 0, n.wd, n.at, n.result, inferred, n.hd, 0, n.hd, 0, 1, 2, hostmem.Of(&found), hostmem.Of(&perf[1]), space, work, reserve, kept))
	closeTo(t, "measured", read[float64](n.desk, inferred, 15), want[:15], 1e-12)
	a, status, took, memory, err := th.GetAlgorithmPerformance(perfDesc(perf[1]))
	if err != nil || found != 1 || status != 0 || took <= 0 || memory != work {
		t.Errorf("%d found: status %d, %g ms, %d bytes, %v", found, status, took, memory, err)
	}
	again := put(n.desk, make([]float64, len(n.w)))
	n.ok(th.FindRNNBackwardDataAlgorithmEx(h, n.r, 3, n.result, y, n.result, n.dy, n.hd, 0, n.hd, 0, n.wd, n.at, n.hd, 0, n.hd, 0, n.steps, dx, n.hd, 0, n.hd, 0, 1, 2, hostmem.Of(&found), hostmem.Of(&perf[0]), space, work, reserve, kept))
	n.ok(th.FindRNNBackwardWeightsAlgorithmEx(h, n.r, 3, n.steps, n.x, n.hd, 0, n.result, y, 1, 2, hostmem.Of(&found), hostmem.Of(&perf[0]), space, work, n.wd, again, reserve, kept))
	closeTo(t, "measured gradients", read[float64](n.desk, again, len(n.w)), slopes(n.w), 1e-8)
	n.ok(th.SetRNNAlgorithmDescriptor(h, n.r, a))
	n.ok(th.DestroyAlgorithmPerformance(hostmem.Of(&perf[0]), 2))
	wants(t, "a network of 8", th.RNNForwardInference(h, n.lstm.r, 3, n.steps, n.x, n.hd, 0, n.hd, 0, n.wd, n.at, n.result, inferred, n.hd, 0, n.hd, 0, space, work), bad)
	turned := hostmem.Slice[uint64](n.steps, 3)
	turned[0], turned[2] = turned[2], turned[0]
	_, err = th.GetRNNWorkspaceSize(h, n.r, 3, n.steps)
	wants(t, "a batch that grows", err, bad)
}

func closeTo(t *testing.T, what string, got, want []float64, limit float64) {
	t.Helper()
	for i, w := range want {
		if math.Abs(got[i]-w) > limit {
			t.Fatalf("%s: element %d is %g, not %g", what, i, got[i], w)
		}
	}
}

// TestRNNOlderEx: the same with descriptors of sequences, which may have gaps only where the network says so.
func TestRNNOlderEx(t *testing.T) {
	n := newOlder(t)
	th, h := n.th, n.h
	y := n.memory(18 * 8)
	run := func() error {
		return th.RNNForwardTrainingEx(h, n.r, n.xd, put(n.desk, n.lstm.x), n.hd, 0, n.hd, 0, n.wd, n.at, n.yd, y, n.hd, 0, n.hd, 0, 0, 0, 0, 0, 0, 0, 0, 0, n.space, n.work, n.reserve, n.kept)
	}
	wants(t, "gaps", run(), bad)
	n.ok(th.SetRNNPaddingMode(n.r, dnn.CUDNN_RNN_PADDED_IO_ENABLED))
	n.ok(run())
	closeTo(t, "trained", read[float64](n.desk, y, 18), n.want(), 1e-12)
	g := put(n.desk, append(slices.Clone(n.g), 0, 0, 0))
	got, want := [2]hostmem.Ptr{n.memory(12 * 8), put(n.desk, make([]float64, len(n.w)))}, [2]hostmem.Ptr{n.memory(12 * 8), put(n.desk, make([]float64, len(n.w)))}
	n.ok(th.RNNBackwardDataEx(h, n.r, n.yd, y, n.yd, g, 0, 0, n.hd, 0, n.hd, 0, n.wd, n.at, n.hd, 0, n.hd, 0, n.xd, got[0], n.hd, 0, n.hd, 0, 0, 0, n.space, n.work, n.reserve, n.kept))
	n.ok(th.RNNBackwardWeightsEx(h, n.r, n.xd, put(n.desk, n.lstm.x), n.hd, 0, n.yd, y, n.space, n.work, n.wd, got[1], n.reserve, n.kept))
	n.lstm.forward()
	n.ok(th.RNNBackwardDataV8(h, n.lstm.r, 0, n.yd, y, g, n.xd, want[0], n.hd, 0, 0, 0, n.hd, 0, 0, 0, n.size, n.at, n.work, n.space, n.kept, n.reserve))
	n.ok(th.RNNBackwardWeightsV8(h, n.lstm.r, dnn.CUDNN_WGRAD_MODE_ADD, 0, n.xd, put(n.desk, n.lstm.x), n.hd, 0, n.yd, y, n.size, want[1], n.work, n.space, n.kept, n.reserve))
	closeTo(t, "the gradient of the input", read[float64](n.desk, got[0], 12), read[float64](n.desk, want[0], 12), 0)
	closeTo(t, "the gradient of the weights", read[float64](n.desk, got[1], len(n.w)), read[float64](n.desk, want[1], len(n.w)), 0)
	inferred, full := n.memory(18*8), steps(n.desk, 2, 2, 2, 2)
	work, err := th.GetRNNWorkspaceSize(h, n.r, 3, full)
	n.ok(err)
	space := n.memory(work)
	n.ok(th.RNNForwardInferenceEx(h, n.r, n.xd, put(n.desk, n.lstm.x), n.hd, 0, n.hd, 0, n.wd, n.at, n.yd, inferred, n.hd, 0, n.hd, 0, 0, 0, 0, 0, 0, 0, 0, 0, space, work))
	closeTo(t, "inferred", read[float64](n.desk, inferred, 18), n.want(), 1e-12)
	wants(t, "attention", th.RNNForwardInferenceEx(h, n.r, n.xd, n.x, n.hd, 0, n.hd, 0, n.wd, n.at, n.yd, inferred, n.hd, 0, n.hd, 0, 0, n.x, 0, 0, 0, 0, 0, 0, space, work), refused)
}

// TestRNNOlderOptions: what is set is told, and weights are found as in 8.
func TestRNNOlderOptions(t *testing.T) {
	n := newOlder(t)
	th, h := n.th, n.h
	n.ok(th.SetRNNBiasMode(n.r, dnn.CUDNN_RNN_SINGLE_INP_BIAS))
	n.ok(th.SetRNNMatrixMathType(n.r, dnn.CUDNN_FMA_MATH))
	n.ok(th.RNNSetClip(h, n.r, dnn.CUDNN_RNN_CLIP_MINMAX, 0, -2, 3))
	n.ok(th.SetRNNProjectionLayers(h, n.r, 2, 0))
	bias, err := th.GetRNNBiasMode(n.r)
	n.ok(err)
	math, err := th.GetRNNMatrixMathType(n.r)
	n.ok(err)
	padding, err := th.GetRNNPaddingMode(n.r)
	n.ok(err)
	clip, _, low, high, err := th.RNNGetClip(h, n.r)
	n.ok(err)
	proj, out, err := th.GetRNNProjectionLayers(h, n.r)
	n.ok(err)
	hidden, layers, _, _, _, cell, _, prec, err := th.GetRNNDescriptorV6(h, n.r)
	n.ok(err)
	if bias != dnn.CUDNN_RNN_SINGLE_INP_BIAS || math != dnn.CUDNN_FMA_MATH || padding != 0 || clip != dnn.CUDNN_RNN_CLIP_MINMAX || low != -2 || high != 3 || proj != 2 || out != 0 ||
		hidden != 3 || layers != 1 || cell != dnn.CUDNN_LSTM || prec != f64 {
		t.Error(bias, math, padding, clip, low, high, proj, out, hidden, layers, cell, prec)
	}
	wants(t, "a projection of results", th.SetRNNProjectionLayers(h, n.r, 2, 1), bad)
	// 12x2 and 12x2 elements of products, 2x3 of the projection, then 12 of biases
	first, piece := tensorDesc(hostmem.Load[uint64](n.steps)), made(t, th.CreateFilterDescriptor, th.DestroyFilterDescriptor)
	if size, err := th.GetRNNParamsSize(h, n.r, first, f64); err != nil || size != 66*8 {
		t.Errorf("%d bytes, %v", size, err)
	}
	for _, c := range []struct {
		number int32
		bias   bool
		at     uint64
		dim    []int32
	}{{1, false, 6 * 8, []int32{1, 3, 2}}, {6, false, 36 * 8, []int32{1, 3, 2}}, {8, false, 48 * 8, []int32{1, 2, 3}}, {2, true, 60 * 8, []int32{1, 3, 1}}, {5, true, 0, nil}} {
		var at uint64
		ask := th.GetRNNLinLayerMatrixParams
		if c.bias {
			ask = th.GetRNNLinLayerBiasParams
		}
		n.ok(ask(h, n.r, 0, first, n.wd, 0x10000, c.number, piece, hostmem.Of(&at)))
		dim := make([]int32, len(c.dim)+1)
		_, _, count, err := th.GetFilterNdDescriptor(piece, int32(len(dim)), hostmem.Of(&dim[0]))
		if c.dim == nil {
			if at != 0 || count != 0 {
				t.Errorf("a bias that is not there: at %#x, %d dimensions, %v", at, count, err)
			}
		} else if err != nil || at != 0x10000+c.at || !slices.Equal(dim[:count], c.dim) {
			t.Errorf("number %d: %v at %d, %v", c.number, dim, int64(at)-0x10000, err)
		}
	}
	n.ok(th.SetRNNDescriptorV6(h, n.r, 3, 1, made(t, th.CreateDropoutDescriptor, th.DestroyDropoutDescriptor), 0, 0, dnn.CUDNN_GRU, dnn.CUDNN_RNN_ALGO_PERSIST_DYNAMIC, f64))
	made := made(t, func() (uint64, error) { return th.CreatePersistentRNNPlan(n.r, 2, f64) }, th.DestroyPersistentRNNPlan)
	n.ok(th.SetPersistentRNNPlan(n.r, made))
	for _, count := range []func(Handle, rnnDesc) (int32, error){th.GetRNNForwardInferenceAlgorithmMaxCount, th.GetRNNForwardTrainingAlgorithmMaxCount,
		th.GetRNNBackwardDataAlgorithmMaxCount, th.GetRNNBackwardWeightsAlgorithmMaxCount} {
		if n, err := count(h, n.r); n != 1 || err != nil {
			t.Errorf("%d algorithms, %v", n, err)
		}
	}
}

// TestAlgorithms: an algorithm is copied, saved and restored.
func TestAlgorithms(t *testing.T) {
	d := onDesk(t)
	th := d.th
	a, b := made(t, th.CreateAlgorithmDescriptor, th.DestroyAlgorithmDescriptor), made(t, th.CreateAlgorithmDescriptor, th.DestroyAlgorithmDescriptor)
	var v, got algo
	*v.Algo.RNNAlgo() = dnn.CUDNN_RNN_ALGO_PERSIST_STATIC
	d.ok(th.SetAlgorithmDescriptor(a, v))
	size, err := th.GetAlgorithmSpaceSize(d.h, a)
	d.ok(err)
	saved := make([]byte, size)
	d.ok(th.SaveAlgorithm(d.h, a, hostmem.Of(&saved[0]), size))
	d.ok(th.RestoreAlgorithm(d.h, hostmem.Of(&saved[0]), size, b))
	d.ok(th.GetAlgorithmDescriptor(b, hostmem.Of(&got)))
	if got != v {
		t.Errorf("restored %v, not %v", got, v)
	}
	d.ok(th.SetAlgorithmDescriptor(b, algo{}))
	d.ok(th.CopyAlgorithmDescriptor(a, b))
	if d.ok(th.GetAlgorithmDescriptor(b, hostmem.Of(&got))); got != v {
		t.Errorf("copied %v, not %v", got, v)
	}
	var p uint64
	d.ok(th.CreateAlgorithmPerformance(hostmem.Of(&p), 1))
	d.ok(th.SetAlgorithmPerformance(perfDesc(p), a, dnn.CUDNN_STATUS_SUCCESS, 1.5, 77))
	if of, status, took, memory, err := th.GetAlgorithmPerformance(perfDesc(p)); err != nil || of != a || status != 0 || took != 1.5 || memory != 77 {
		t.Error(of, status, took, memory, err)
	}
	d.ok(th.DestroyAlgorithmPerformance(hostmem.Of(&p), 1))
	wants(t, "a space that is too small", th.SaveAlgorithm(d.h, a, hostmem.Of(&saved[0]), 3), bad)
}
