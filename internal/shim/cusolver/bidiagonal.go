package cusolver

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/blas"
)

// One large matrix goes in steps of kernels/bidiagonal.cu; p is its longer side and q the other.

// bidiagonalRoom is the workspace.
type bidiagonalRoom struct {
	g             hostmem.Ptr // p × q: the matrix, then reflections from the left
	u, v          hostmem.Ptr // p × wide, q × q: the products of the reflections
	us, vs        hostmem.Ptr // and in strips, q columns each
	l, r          hostmem.Ptr // [V X] and [Y U] of a panel; QR's workspace afterwards
	few           hostmem.Ptr
	tauq, taup    hostmem.Ptr
	d, e          hostmem.Ptr
	factor, turns hostmem.Ptr
	places        hostmem.Ptr
	end           uint64
}

func bidiagonalAt(work uint64, p, q, wide int64, e Elem) bidiagonalRoom {
	l := layout{work, uint64(e.Size())}
	r := bidiagonalRoom{g: l.take(p * q), u: l.take(p * wide), v: l.take(q * q), us: l.take((p + warp) * q), vs: l.take((q + warp) * q)}
	r.l = l.take(2 * panel * p)
	r.r = l.take(2*panel*max(p, q) + panel*panel)
	r.few, r.tauq, r.taup = l.take(2*panel), l.take(q), l.take(q)
	l.size = uint64(realOf(e).Size())
	r.d, r.e, r.factor, r.turns = l.take(q), l.take(q), l.take(2), l.take(2*turnersSize(q))
	l.size = 4
	r.places = l.take(q)
	r.end = l.at
	return r
}

// fewColumns: below it, and in batches of larger matrices, a warp has a whole matrix.
const fewColumns = 5

// smallSVD reports whether one warp does all by QR in one launch. Three matrices of 32 columns of C64 are more than shared memory has.
// gesvdj has its own method, which tells what it did.
func (p *singular) smallSVD() bool {
	most := int64(smallSide)
	if p.a.e == C64 {
		most = 24
	}
	return max(p.m, p.n) <= most && p.told == 0 && p.tolerance == 0
}

// blockedSVD reports whether a matrix goes in steps.
func (p *singular) blockedSVD() bool {
	return p.a.batch == 1 && min(p.m, p.n) >= fewColumns && p.told == 0 && p.tolerance == 0
}

// svdLarge is svd in steps.
func (j *job) svdLarge(s *singular) error {
	p, q, e := max(s.m, s.n), min(s.m, s.n), s.a.e
	longer, shorter := s.left, s.right
	if s.m < s.n {
		longer, shorter = s.right, s.left
	}
	r := bidiagonalAt(uint64(s.work), p, q, s.wide(), e)
	var c shim.Params
	c.U64(s.a.Base, uint64(s.a.LD)).U32(flag(s.m < s.n), uint32(p), uint32(q)).U64(uint64(r.g), uint64(r.factor))
	if err := j.one(bidiagonalKernels, "scaled_"+e.String(), 1, &c); err != nil {
		return err
	}
	g, u, v := matAt(r.g, p, e), matAt(r.u, p, e), matAt(r.v, q, e)
	if err := j.eye(v, q, q, 0); err != nil {
		return err
	}
	if err := j.reduceBoth(g, v, p, q, &r); err != nil {
		return err
	}
	if longer.columns > 0 {
		if err := j.copy(g, u, p, q, copyLower); err != nil {
			return err
		}
		if err := j.orgqr(u, p, s.wide(), q, r.tauq, r.l, hostmem.Nil); err != nil {
			return err
		}
	}
	if shorter.columns > 0 {
		if err := j.orgqr(v.at(1, 1), q-1, q-1, q-1, r.taup, r.l, hostmem.Nil); err != nil {
			return err
		}
	}
	return j.bidiagonalVectors(s, longer, shorter, u, v, &r)
}

// reduceBoth makes g bidiagonal; v gets the reflections from the right.
func (j *job) reduceBoth(g, v mat, p, q int64, r *bidiagonalRoom) error {
	size, real := uint64(g.e.Size()), uint64(realOf(g.e).Size())
	for i := int64(0); i < q; i += panel {
		k := min(panel, q-i)
		at, right := g.at(i, i), v.at(i, i)
		var c shim.Params
		c.U64(at.Base, uint64(g.LD)).U32(uint32(p-i), uint32(q-i), uint32(k))
		c.U64(uint64(r.d)+uint64(i)*real, uint64(r.e)+uint64(i)*real, uint64(r.tauq)+uint64(i)*size, uint64(r.taup)+uint64(i)*size)
		c.U64(uint64(r.l), uint64(p), uint64(r.r), uint64(q), right.Base, uint64(v.LD), uint64(r.few))
		if err := j.one(bidiagonalKernels, "labrd_"+g.e.String(), 1, &c); err != nil {
			return err
		}
		if i+k == q {
			break
		}
		left, other := matAt(r.l, p, g.e).at(k, 0), matAt(r.r, q, g.e).at(k, 0)
		err := j.product(&cublas.Product{M: p - i - k, N: q - i - k, K: 2 * k, A: left.View, B: other.op(blas.CUBLAS_OP_C), C: g.at(i+k, i+k).View, Alpha: minus, Beta: plus}, g.e)
		if err != nil {
			return err
		}
	}
	return nil
}

// bidiagonalVectors finds the values, turns the vectors with them, and writes all in order.
func (j *job) bidiagonalVectors(s *singular, longer, shorter vectorsOf, u, v mat, r *bidiagonalRoom) error {
	p, q, e := max(s.m, s.n), min(s.m, s.n), s.a.e
	real := realOf(e).String()
	parts := int64(e.Size() / realOf(e).Size())
	var c shim.Params
	c.U64(uint64(r.d), uint64(r.e)).U32(uint32(q))
	side := func(want vectorsOf, from mat, strips hostmem.Ptr, rows int64) {
		if want.columns == 0 {
			from.Base = 0
		}
		c.U64(from.Base, uint64(from.LD*parts), uint64(strips)).U32(uint32(rows*parts), 0)
	}
	side(longer, u, r.us, p)
	side(shorter, v, r.vs, q)
	blocks := int64(1)
	if longer.columns+shorter.columns > 0 {
		blocks = j.turners(q * parts)
	}
	c.U64(uint64(r.factor), uint64(r.turns), uint64(s.info))
	if err := j.one(bidiagonalKernels, "bdsqr_"+real, blocks, &c); err != nil {
		return err
	}
	var o shim.Params
	o.U64(uint64(r.turns)).U32(uint32(q)).U64(uint64(r.factor), uint64(s.s)).U32(uint32(s.values)).U64(uint64(r.places))
	if err := j.one(bidiagonalKernels, "order_"+real, 1, &o); err != nil {
		return err
	}
	write := func(want vectorsOf, from mat, strips hostmem.Ptr, rows int64, signs uint64) error {
		if want.columns == 0 {
			return nil
		}
		var w shim.Params
		w.U64(uint64(strips)).U32(uint32(rows), uint32(q)).U64(from.Base, uint64(from.LD), uint64(r.places), signs, uint64(r.factor))
		want.put(&w)
		return j.one(bidiagonalKernels, "vectors_"+e.String(), min(max(q, want.columns), 64), &w)
	}
	if err := write(longer, u, r.us, p, 0); err != nil {
		return err
	}
	return write(shorter, v, r.vs, q, uint64(r.turns))
}
