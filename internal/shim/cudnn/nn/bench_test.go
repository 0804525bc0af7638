package nn

import (
	"fmt"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// resnet are the first convolution of MobileNetV3 and those of ResNet-50: channels, output channels, size, filter, stride.
var resnet = [][5]int64{
	{3, 16, 224, 3, 2},
	{3, 64, 224, 7, 2}, {64, 64, 56, 1, 1}, {64, 64, 56, 3, 1}, {64, 256, 56, 1, 1}, {256, 64, 56, 1, 1}, {256, 128, 56, 1, 1}, {128, 128, 56, 3, 2},
	{128, 512, 28, 1, 1}, {256, 512, 56, 1, 2}, {512, 128, 28, 1, 1}, {128, 128, 28, 3, 1}, {512, 256, 28, 1, 1}, {256, 256, 28, 3, 2},
	{256, 1024, 14, 1, 1}, {1024, 256, 14, 1, 1}, {256, 256, 14, 3, 1}, {1024, 512, 14, 1, 1}, {512, 512, 14, 3, 2}, {512, 2048, 7, 1, 1},
	{2048, 512, 7, 1, 1}, {512, 512, 7, 3, 1},
}

// processorTime is what all threads have used: the same on a machine that others use too.
func processorTime() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// BenchmarkConv is each of them, forward and both gradients, for one image and for eight.
func BenchmarkConv(b *testing.B) {
	for _, batch := range []int64{1, 8} {
		for _, s := range resnet {
			c := plain(batch, s[0], s[1], s[2], s[3], s[3]/2, s[4], 1)
			work := float64(2*batch*c.c*c.k*product(c.filter)) * float64(product(c.out))
			run := func(name string, f func(r *rig, x, w, y Tensor) error) {
				b.Run(fmt.Sprintf("%s/%d/%dx%d,%d,%dx%d,%d", name, batch, s[0], s[1], s[2], s[3], s[3], s[4]), func(b *testing.B) {
					r := onDevice(b)
					x, w, y := r.empty(F32, c.xDim, Packed(c.xDim...)), r.empty(F32, c.wDim, Packed(c.wDim...)), r.empty(F32, c.yDim, Packed(c.yDim...))
					r.ok(f(r, x, w, y))
					r.ok(r.D.CtxSynchronize())
					best := time.Hour
					for b.Loop() {
						before := processorTime()
						r.ok(f(r, x, w, y))
						r.ok(r.D.CtxSynchronize())
						best = min(best, processorTime()-before)
					}
					b.ReportMetric(work/best.Seconds()/1e9, "GFLOP/core-s")
				})
			}
			run("forward", func(r *rig, x, w, y Tensor) error { return r.ConvForward(c.Conv, x, w, y, Plain, Epilogue{}) })
			run("data", func(r *rig, x, w, y Tensor) error { return r.ConvData(c.Conv, w, y, x, Plain) })
			run("filter", func(r *rig, x, w, y Tensor) error { return r.ConvFilter(c.Conv, x, y, w, Plain) })
		}
	}
}

// BenchmarkSoftmax is rows whose elements are neighbours, forward and its gradient.
func BenchmarkSoftmax(b *testing.B) {
	for _, dim := range [][]int64{{4608, 384}, {64, 32000}} {
		run := func(name string, f func(r *rig, x, y Tensor) error) {
			b.Run(fmt.Sprintf("%s/%dx%d", name, dim[0], dim[1]), func(b *testing.B) {
				r := onDevice(b)
				x, y := r.empty(F32, dim, Packed(dim...)), r.empty(F32, dim, Packed(dim...))
				r.ok(f(r, x, y))
				r.ok(r.D.CtxSynchronize())
				before := processorTime()
				for b.Loop() {
					r.ok(f(r, x, y))
					r.ok(r.D.CtxSynchronize())
				}
				b.ReportMetric(float64((processorTime()-before).Microseconds())/float64(b.N), "core-us/op")
			})
		}
		run("forward", func(r *rig, x, y Tensor) error { return r.Softmax(SoftmaxAccurate, Plain, 1, 1, x, y) })
		run("backward", func(r *rig, x, y Tensor) error { return r.SoftmaxBackward(SoftmaxAccurate, Plain, 1, 1, x, y, y) })
	}
}
