package nn

import (
	"errors"
	"fmt"
	"math"
	"testing"
)

func TestMatmul(t *testing.T) {
	r := onDevice(t)
	kinds := []struct{ a, b, c Elem }{
		{F32, F32, F32}, {F64, F64, F64}, {F16, F16, F16}, {BF16, BF16, F32}, {F16, F32, BF16}, {E4M3, E5M2, F16}, {S8, S8, S32}, {F32, F32, E4M3},
	}
	for i := range r.times(96) {
		e := kinds[i%len(kinds)]
		m, n, k := r.pick(1, 3, 7, 40, 130), r.pick(1, 5, 9, 33), r.pick(1, 4, 0, 70, 140)
		var da, db, dc []int64
		for range i / len(kinds) % 3 {
			d := r.pick(1, 2, 3)
			dc = append(dc, d)
			da, db = append(da, []int64{1, d}[r.rng.IntN(2)]), append(db, []int64{1, d}[r.rng.IntN(2)])
		}
		da, db, dc = append(da, m, k), append(db, k, n), append(dc, m, n)
		s := r.scale()
		if e.c == S32 {
			s = []Scale{Plain, {Alpha: 1, Beta: 1}}[i/len(kinds)%2]
		}
		a, b := r.random(e.a, da...), r.random(e.b, db...)
		c, old := r.target(e.c, s, dc)
		want, size := newArray(dc...), newArray(dc...)
		last := len(dc) - 2
		at := 0
		want.each(func(i []int64, v *float64) {
			ai, bi := append([]int64(nil), i...), append([]int64(nil), i...)
			for l := range k {
				ai[last+1], bi[last] = l, l
				p := value(a, ai...) * value(b, bi...)
				copy(ai, i)
				copy(bi, i)
				*v += p
				size.v[at] += math.Abs(p)
			}
			at++
		})
		blend(s, want, size, old)
		r.ok(r.Matmul(r.put(e.a, a, r.strides(da)), r.put(e.b, b, r.strides(db)), c, s))
		r.near(fmt.Sprint(i, e, da, db, s), c, want, size, int(k))
	}
	if err := r.Matmul(Make(0, F32, 2, 3), Make(0, F32, 4, 2), Make(0, F32, 2, 2), Plain); !errors.Is(err, ErrShape) {
		t.Errorf("sides that do not meet: %v", err)
	}
}
