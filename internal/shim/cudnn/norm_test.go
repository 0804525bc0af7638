package cudnn

import (
	"math"
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/dnn"
)

// normCase is a norm of [3, 2, 2, 2] by channels or by elements, with z and an activation, in f64 on the host.
type normCase struct {
	each, relu  bool
	x, z        []float32
	scale, bias []float32
}

const normN, normEps = 24, 0.25

// group is the statistic that an element belongs to, of 2 or 8.
func (k *normCase) group(i int) int {
	if k.each {
		return i % 8
	}
	return i / 4 % 2
}

func (k *normCase) groups() int {
	if k.each {
		return 8
	}
	return 2
}

// stats are means and variances.
func (k *normCase) stats() (mean, variance []float64) {
	mean, variance = make([]float64, 8), make([]float64, 8)
	each := float64(normN / k.groups())
	for i, v := range k.x {
		mean[k.group(i)] += float64(v) / each
	}
	for i, v := range k.x {
		d := float64(v) - mean[k.group(i)]
		variance[k.group(i)] += d * d / each
	}
	return mean, variance
}

// result is what a norm with statistics gives.
func (k *normCase) result(mean, variance []float64) []float64 {
	y := make([]float64, normN)
	for i, v := range k.x {
		g := k.group(i)
		y[i] = (float64(v)-mean[g])/math.Sqrt(variance[g]+normEps)*float64(k.scale[g]) + float64(k.bias[g]) + float64(k.z[i])
		if k.relu {
			y[i] = max(y[i], 0)
		}
	}
	return y
}

// slopes are the derivatives of the sum of g·y by v.
func (k *normCase) slopes(v, g []float32) []float64 {
	d := make([]float64, len(v))
	for i, old := range v {
		const h = 1.0 / 1024
		for _, s := range []float32{1, -1} {
			v[i] = old + s*h
			for j, y := range k.result(k.stats()) {
				d[i] += float64(s) * y * float64(g[j]) / (2 * h)
			}
		}
		v[i] = old
	}
	return d
}

func TestBatchNormCalls(t *testing.T) {
	d := onDesk(t)
	xd, pd := d.tensor(3, 2, 2, 2), made(t, d.th.CreateTensorDescriptor, d.th.DestroyTensorDescriptor)
	md := made(t, d.th.CreateTensorDescriptor, d.th.DestroyTensorDescriptor)
	act := made(t, d.th.CreateActivationDescriptor, d.th.DestroyActivationDescriptor)
	d.ok(d.th.SetActivationDescriptor(act, dnn.CUDNN_ACTIVATION_RELU, 0, 0))
	for i, mode := range []bnMode{dnn.CUDNN_BATCHNORM_PER_ACTIVATION, dnn.CUDNN_BATCHNORM_SPATIAL, dnn.CUDNN_BATCHNORM_SPATIAL_PERSISTENT} {
		k := &normCase{each: i == 0, x: d.random(normN), z: make([]float32, normN), scale: d.random(8), bias: d.random(8)}
		n := k.groups()
		d.ok(d.th.DeriveBNTensorDescriptor(pd, xd, mode))
		if size, _ := d.th.GetTensorSizeInBytes(pd); size != uint64(4*n) {
			t.Fatalf("mode %d: %d bytes of parameters", mode, size)
		}
		x, scale, bias, g := put(d, k.x), put(d, k.scale), put(d, k.bias), d.random(normN)
		old := d.random(8)
		run, runVar := put(d, old), put(d, old)
		y, saved, dev, dx, ds, db := d.memory(4*normN), d.memory(32), d.memory(32), d.memory(4*normN), d.memory(32), d.memory(32)
		d.ok(d.th.BatchNormalizationForwardTraining(d.h, mode, f(1), f(0), xd, x, xd, y, pd, scale, bias, 0.25, run, runVar, normEps, saved, dev))
		mean, variance := k.stats()
		d.same("norm", y, k.result(mean, variance), 1e-5)
		moving, movingVar, inverse := make([]float64, n), make([]float64, n), make([]float64, n)
		each := float64(normN / n)
		for i := range n {
			moving[i] = 0.75*float64(old[i]) + 0.25*mean[i]
			movingVar[i] = 0.75*float64(old[i]) + 0.25*variance[i]*each/(each-1)
			inverse[i] = 1 / math.Sqrt(variance[i]+normEps)
		}
		d.same("the mean that is kept", run, moving, 1e-5)
		d.same("the variance that is kept", runVar, movingVar, 1e-5)
		d.same("the mean", saved, mean[:n], 1e-5)
		d.same("the deviation", dev, inverse, 1e-5)
		d.ok(d.th.BatchNormalizationBackward(d.h, mode, f(1), f(0), f(1), f(0), xd, x, xd, put(d, g), xd, dx, pd, scale, ds, db, normEps, saved, dev))
		d.same("gradient", dx, k.slopes(k.x, g), 1e-3)
		d.same("gradient of the scale", ds, k.slopes(k.scale, g)[:n], 1e-3)
		d.same("gradient of the bias", db, k.slopes(k.bias, g)[:n], 1e-3)

		for j := range k.z { // far from 0, where the activation has no derivative
			k.z[j] = float32(8 * (j%2*2 - 1))
		}
		k.relu = true
		z, dz := put(d, k.z), d.memory(4*normN)
		ops := dnn.CUDNN_BATCHNORM_OPS_BN_ADD_ACTIVATION
		d.ok(d.th.BatchNormalizationForwardTrainingEx(d.h, mode, ops, f(1), f(0), xd, x, xd, z, xd, y, pd, scale, bias, 1, 0, 0, normEps, saved, dev, act, 0, 0, 0, 0))
		d.same("norm, sum, activation", y, k.result(mean, variance), 1e-5)
		d.ok(d.th.BatchNormalizationBackwardEx(d.h, mode, ops, f(1), f(0), f(1), f(0), xd, x, xd, y, xd, put(d, g), xd, dz, xd, dx, pd, scale, bias, ds, db, normEps, saved, dev, act, 0, 0, 0, 0))
		d.same("gradient", dx, k.slopes(k.x, g), 1e-3)
		d.same("gradient of the sum", dz, k.slopes(k.z, g), 1e-3)

		// Statistics that are given, and the same by the other names.
		k.relu = false
		clear(k.z)
		var0 := []float32{1, 2, 3, 4, 5, 6, 7, 8}
		given, wide := make([]float64, 8), make([]float64, 8)
		for i := range given {
			given[i], wide[i] = float64(old[i]), float64(var0[i])
		}
		d.ok(d.th.BatchNormalizationForwardInference(d.h, mode, f(1), f(0), xd, x, xd, y, pd, scale, bias, put(d, old), put(d, var0), normEps))
		d.same("inference", y, k.result(given, wide), 1e-5)
		nm := normMode(min(mode, 1))
		d.ok(d.th.DeriveNormTensorDescriptor(pd, md, xd, nm, 1))
		d.ok(d.th.NormalizationForwardInference(d.h, nm, 0, 0, f(1), f(0), xd, x, pd, scale, bias, md, put(d, old), put(d, var0), xd, 0, act, xd, y, normEps, 1))
		d.same("inference", y, k.result(given, wide), 1e-5)
		d.ok(d.th.NormalizationForwardTraining(d.h, nm, 0, 0, f(1), f(0), xd, x, pd, scale, bias, 1, md, 0, 0, normEps, saved, dev, act, xd, 0, xd, y, 0, 0, 0, 0, 1))
		d.same("norm", y, k.result(mean, variance), 1e-5)
		d.ok(d.th.NormalizationBackward(d.h, nm, 0, 0, f(1), f(0), f(1), f(0), xd, x, xd, y, xd, put(d, g), xd, 0, xd, dx, pd, scale, bias, ds, db, normEps, md, saved, dev, act, 0, 0, 0, 0, 1))
		d.same("gradient", dx, k.slopes(k.x, g), 1e-3)
	}
	size, err := d.th.GetBatchNormalizationTrainingExReserveSpaceSize(d.h, 1, 0, 0, xd)
	if err != nil || size != 0 {
		t.Errorf("%d bytes, %v", size, err)
	}
	wants(t, "mode", d.th.DeriveBNTensorDescriptor(pd, xd, 3), bad)
	wants(t, "groups", d.th.DeriveNormTensorDescriptor(pd, md, xd, 1, 2), bad)
	wants(t, "epsilon", d.th.BatchNormalizationForwardInference(d.h, 1, f(1), f(0), xd, hostmem.Ptr(8), xd, 8, pd, 8, 8, 8, 8, -1), bad)
}
