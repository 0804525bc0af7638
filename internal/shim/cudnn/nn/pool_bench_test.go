package nn

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkPool is the largest of windows and its gradient, and averages: by rows, and as where indices need 64 bits.
func BenchmarkPool(b *testing.B) {
	limit := poolLimit
	defer func() { poolLimit = limit }()
	for _, mode := range []PoolMode{PoolMax, PoolAverage} {
		for _, s := range [][4]int64{{32, 16, 32, 2}, {32, 16, 32, 3}} { // images, channels, size, window
			p := Pool{Mode: mode, Window: []int64{s[3], s[3]}, Pad: []int64{0, 0}, Stride: []int64{2, 2}}
			out := (s[2]-s[3])/2 + 1
			in, small := []int64{s[0], s[1], s[2], s[2]}, []int64{s[0], s[1], out, out}
			for _, way := range []string{"rows", "wide"} {
				run := func(name string, f func(r *rig, x, y, dx Tensor) error) {
					b.Run(fmt.Sprintf("%d/%d/%s/%s", mode, s[3], name, way), func(b *testing.B) {
						if poolLimit = limit; way == "wide" {
							poolLimit = 0
						}
						r := onDevice(b)
						x, y, dx := r.empty(F32, in, Packed(in...)), r.empty(F32, small, Packed(small...)), r.empty(F32, in, Packed(in...))
						r.ok(f(r, x, y, dx))
						r.ok(r.D.CtxSynchronize())
						best := time.Hour
						for b.Loop() {
							before := processorTime()
							r.ok(f(r, x, y, dx))
							r.ok(r.D.CtxSynchronize())
							best = min(best, processorTime()-before)
						}
						b.ReportMetric(float64(best.Microseconds()), "core-µs")
					})
				}
				run("forward", func(r *rig, x, y, _ Tensor) error { return r.Pool(p, Plain, x, y) })
				run("backward", func(r *rig, x, y, dx Tensor) error { return r.PoolBackward(p, Plain, x, y, dx) })
			}
		}
	}
}
