package cusolver

import (
	"slices"
	"testing"
)

// eigenpairs are values and vectors of a Hermitian matrix, which are looked at.
func (r *rig) eigenpairs(a full, what string) ([]float64, full) {
	r.t.Helper()
	n := a.n
	info, w, pa := r.infoAt(), r.memory(8*n), r.put(a, n)
	size, err := r.th.SyevdBufferSize(r.h, withVectors, fills[0], int64(n), pa, int64(n), w, r.e)
	r.ok(err)
	r.ok(r.th.Syevd(r.h, withVectors, fills[0], int64(n), pa, int64(n), w, r.memory(int(size)*r.e.Size()), int64(size), info, r.e))
	r.good(info, what)
	values, q := r.values(w, n), r.get(pa, n, n, n)
	r.within(r.ratio(a.times(q).minus(q.times(diagonal(values))), n, a.norm()), what)
	r.orthogonal(q, what)
	return values, q
}

// triple is the singular value decomposition of a square matrix, which is looked at.
func (r *rig) triple(a full, what string) ([]float64, full, full) {
	r.t.Helper()
	n := a.n
	info, s := r.infoAt(), r.memory(8*n)
	u, vt := r.put(newFull(n, n), n), r.put(newFull(n, n), n)
	size, err := r.th.GesvdBufferSize(r.h, int64(n), int64(n), r.e)
	r.ok(err)
	work := r.memory(int(size) * r.e.Size())
	r.ok(r.th.Gesvd(r.h, 'A', 'A', int64(n), int64(n), r.put(a, n), int64(n), s, u, int64(n), vt, int64(n), work, int64(size), 0, info, r.e))
	r.good(info, what)
	values, x, y := r.values(s, n), r.get(u, n, n, n), r.get(vt, n, n, n).adjoint()
	r.svdCheck(a, x, y, values, what)
	return values, x, y
}

// TestTurners: several blocks share the rows of vectors, and the bits are those of one block.
func TestTurners(t *testing.T) {
	was := turnerRows
	defer func() { turnerRows = was }()
	onTypes(t, func(r *rig) {
		a, b := r.hermitian(97), r.random(97, 97)
		values, q := r.eigenpairs(a, "one block")
		s, u, v := r.triple(b, "one block")
		turnerRows = 8
		defer func() { turnerRows = was }()
		if w, p := r.eigenpairs(a, "several blocks"); !slices.Equal(values, w) || !slices.Equal(q.v, p.v) {
			r.t.Error("syevd: several blocks give other bits than one")
		}
		if w, x, y := r.triple(b, "several blocks"); !slices.Equal(s, w) || !slices.Equal(u.v, x.v) || !slices.Equal(v.v, y.v) {
			r.t.Error("gesvd: several blocks give other bits than one")
		}
	})
}

// TestLarge: sizes at which several blocks share the work without being told to.
func TestLarge(t *testing.T) {
	onTypes(t, func(r *rig) {
		if r.e == F32 || r.e == C64 {
			return // the other two have every kernel of their kind
		}
		r.eigenpairs(r.spectrum("clustered", 520), "syevd of 520 rows")
		r.triple(r.random(270, 270), "gesvd of 270 rows")
	})
}
