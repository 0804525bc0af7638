package nn

import (
	"fmt"
	"math"
	"testing"
)

// TestFilterRows: gradients of filters with few output channels, rows of more than a warp and not a multiple of it, in one part and in
// several.
func TestFilterRows(t *testing.T) {
	r := onDevice(t)
	defer func(n int64) { partBytes = n }(partBytes)
	for i, e := range planeTypes {
		for _, c := range []*convCase{plain(3, 3, 7, 70, 3, 1, 2, 1), plain(2, 2, 3, 41, 5, 2, 1, 2), plain(1, 1, 16, 33, 3, 1, 1, 1)} {
			if r.tiny && i > 0 {
				continue
			}
			for _, parts := range []int64{1, 16 << 20} {
				partBytes = parts
				s := r.scale()
				x, dy := r.random(e, c.xDim...), r.random(e, c.yDim...)
				tx, ty := r.put(e, x, Packed(c.xDim...)), r.put(e, dy, Packed(c.yDim...))
				dw, old := r.target(e, s, c.wDim)
				sh, err := c.shape(tx, dw, ty)
				r.ok(err)
				if !filterPlan(sh).byRows(ty) {
					t.Errorf("%v %v: not by rows", e, c)
				}
				want, size := newArray(c.wDim...), newArray(c.wDim...)
				c.each(x, dy, func(a, b, d int64) {
					want.v[b] += dy.v[d] * x.v[a]
					size.v[b] += math.Abs(dy.v[d] * x.v[a])
				})
				blend(s, want, size, old)
				r.ok(r.ConvFilter(c.Conv, tx, ty, dw, s))
				r.near(fmt.Sprint(e, " ", c, s), dw, want, size, int(c.batch)*int(product(c.out)))
			}
		}
	}
}
