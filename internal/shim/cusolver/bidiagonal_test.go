package cusolver

import (
	"math"
	"testing"
)

// TestWideSVD: a large matrix with more columns than rows, all values and a few of them; and one that is not finite.
func TestWideSVD(t *testing.T) {
	onTypes(t, func(r *rig) {
		const m, n = 45, 71
		a := r.random(m, n)
		s, u, v, info := r.memory(8*m), r.put(newFull(m, m), m), r.put(newFull(n, m), n+1), r.infoAt()
		call := func(a full, rank int64) {
			pa := r.put(a, m)
			size, err := r.th.GesvdaStridedBatchedBufferSize(r.h, withVectors, rank, m, n, pa, m, m*n, s, m, u, m, m*m, v, n+1, n*m, 1, r.e)
			r.ok(err)
			r.ok(r.th.GesvdaStridedBatched(r.h, withVectors, rank, m, n, pa, m, m*n, s, m, u, m, m*m, v, n+1, n*m, r.memory(int(size)*r.e.Size()), int64(size), info, 0, 1, r.e))
		}
		call(a, m)
		r.good(info, "gesvda")
		values := r.values(s, m)
		r.svdCheck(a, r.get(u, m, m, m), r.get(v, n, m, n+1), values, "gesvda")
		u, v = r.put(newFull(m, m), m), r.put(newFull(n, m), n+1)
		call(a, 7)
		x, y := r.get(u, m, m, m), r.get(v, n, m, n+1)
		if x.at(3, 7) != 0 || y.at(3, 7) != 0 {
			r.t.Error("vectors beyond the rank were written")
		}
		x, y = x.columns(7), y.columns(7)
		r.within(r.ratio(a.times(y).minus(x.times(diagonal(values[:7]))), n, a.norm()), "gesvda of rank 7")
		a.set(20, 50, complex(math.NaN(), 0))
		call(a, m)
		if got := r.info(info); got == 0 || !math.IsNaN(r.values(s, m)[0]) || !math.IsNaN(real(r.get(u, m, m, m).at(0, 0))) {
			r.t.Errorf("a matrix with a NaN: info %d", got)
		}
	})
}
