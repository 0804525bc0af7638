package cusolver

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/cu"
)

// Large matrices go in steps of kernels/tridiagonal.cu, most of whose work is products. A step that is data's own way, such as QL, is
// one kernel, so that no number has to come back to the host and graphs can capture all of it.

const (
	smallSide   = 32 // up to it kernels/small.cu does everything in one launch
	manyRows    = 256
	maxTurners  = 16 // blocks that share the rows of vectors
	turnerReals = 66 // numbers of one for each column, as kernels/tridiagonal.cu has it
)

// turnerRows are the rows that one of them has at least; tests have fewer.
var turnerRows int64 = 256

// blocked reports whether matrices go one after the other: those of a batch have a warp each otherwise.
func blocked(n, batch int64) bool { return n > smallSide && (batch <= 1 || n >= manyRows) }

// turners are the blocks that share rows of vectors: not more than there are processors, because each repeats the iteration itself.
func (j *job) turners(rows int64) int64 {
	have := int64(1)
	if dev, err := j.d.CtxGetDevice(); err == nil {
		if v, err := j.d.DeviceGetAttribute(cu.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, dev); err == nil {
			have = int64(v)
		}
	}
	return max(1, min(have, maxTurners, rows/turnerRows))
}

// turnersSize are the numbers that they need for n columns.
func turnersSize(n int64) int64 { return min(maxTurners, n/turnerRows*2+1) * (turnerReals*n + 576) }

// layout gives out parts of a workspace.
type layout struct {
	at   uint64
	size uint64
}

// take is room for n elements, aligned for any.
func (l *layout) take(n int64) hostmem.Ptr {
	p := l.at
	l.at += (uint64(n)*l.size + 15) &^ 15
	return hostmem.Ptr(p)
}

// tridiagonalRoom is the workspace of a large matrix.
type tridiagonalRoom struct {
	q, strips             hostmem.Ptr // the vectors, n × n, and in strips of 32 rows
	x, y                  hostmem.Ptr // [V W] and [W V], n × 2 panel; QR's workspace afterwards
	few, taus, d, e       hostmem.Ptr
	factor, turns, places hostmem.Ptr
	end                   uint64
}

func tridiagonalAt(work hostmem.Ptr, n int64, e Elem) tridiagonalRoom {
	l := layout{uint64(work), uint64(e.Size())}
	r := tridiagonalRoom{q: l.take(n * n), strips: l.take((n + warp) * n), x: l.take(2 * panel * n), y: l.take(2*panel*n + panel*panel), few: l.take(2 * panel)}
	r.taus = l.take(n)
	l.size = uint64(realOf(e).Size())
	r.d, r.e, r.factor, r.turns = l.take(n), l.take(n), l.take(2), l.take(turnersSize(n))
	l.size = 4
	r.places = l.take(n)
	r.end = l.at
	return r
}

// tridiagonalSize are the elements that one large matrix needs, of any type.
func tridiagonalSize(n int64) int64 { return int64(tridiagonalAt(0, n, F32).end+3) / 4 }

// reduceLower makes a lower triangle tridiagonal: its reflections stay below the diagonal, ones included.
func (j *job) reduceLower(a mat, n int64, r *tridiagonalRoom) error {
	size, real := uint64(a.e.Size()), uint64(realOf(a.e).Size())
	for i := int64(0); i < n; i += panel {
		k := min(panel, n-i)
		at := a.at(i, i)
		var q shim.Params
		q.U64(at.Base, uint64(a.LD)).U32(uint32(n-i), uint32(k)).U64(uint64(r.d)+uint64(i)*real, uint64(r.e)+uint64(i)*real, uint64(r.taus)+uint64(i)*size)
		q.U64(uint64(r.x), uint64(r.y), uint64(n), uint64(r.few))
		if err := j.one(tridiagonalKernels, "latrd_"+a.e.String(), 1, &q); err != nil {
			return err
		}
		left := n - i - k
		if left == 0 {
			break
		}
		x, y := matAt(r.x, n, a.e).at(k, 0), matAt(r.y, n, a.e).at(k, 0)
		err := j.product(&cublas.Product{M: left, N: left, K: 2 * k, A: x.View, B: y.op(blas.CUBLAS_OP_C), C: a.at(i+k, i+k).View, Alpha: minus, Beta: plus, Part: cublas.PartLower, Real: true}, a.e)
		if err != nil {
			return err
		}
	}
	return nil
}

// formLower makes Q of the reflections that reduceLower left.
func (j *job) formLower(a, to mat, n int64, taus, work hostmem.Ptr) error {
	if err := j.eye(to, n, n, 0); err != nil {
		return err
	}
	if err := j.copy(a.at(1, 0), to.at(1, 1), n-1, n-1, copyLower); err != nil {
		return err
	}
	return j.orgqr(to.at(1, 1), n-1, n-1, n-1, taus, work, hostmem.Nil)
}

// syevBlocked finds eigenvalues of large matrices, one after the other.
func (j *job) syevBlocked(p *eigen) error {
	e := p.a.e
	for b := range p.a.batch {
		a := p.a
		a.Base, a.Stride, a.batch = a.Base+uint64(b*p.a.Stride)*uint64(e.Size()), 0, 1
		w := uint64(p.w) + uint64(b*p.n)*uint64(realOf(e).Size())
		if err := j.syevLarge(p, a, w, p.work, uint64(p.info)+4*uint64(b)); err != nil {
			return err
		}
	}
	return nil
}

func (j *job) syevLarge(p *eigen, a mat, w uint64, work hostmem.Ptr, info uint64) error {
	n, e := p.n, a.e
	r := tridiagonalAt(work, n, e)
	var q shim.Params
	q.U64(a.Base, uint64(a.LD)).U32(uint32(n), flag(p.fill == blas.CUBLAS_FILL_MODE_UPPER)).U64(uint64(r.factor))
	if err := j.one(tridiagonalKernels, "prepare_"+e.String(), 1, &q); err != nil {
		return err
	}
	if err := j.reduceLower(a, n, &r); err != nil {
		return err
	}
	z, parts := uint64(0), int64(1)
	if p.vectors {
		z = uint64(r.q)
		if err := j.formLower(a, matAt(r.q, n, e), n, r.taus, r.x); err != nil {
			return err
		}
		if e != realOf(e) {
			parts = 2
		}
	}
	// Rotations are real: a column of complex numbers is one of twice as many real ones.
	blocks := int64(1)
	if p.vectors {
		blocks = j.turners(n * parts)
	}
	var t shim.Params
	t.U64(uint64(r.d), uint64(r.e)).U32(uint32(n)).U64(z, uint64(n*parts)).U32(uint32(n*parts)).U64(uint64(r.strips), uint64(r.factor), uint64(r.turns), info)
	if err := j.one(tridiagonalKernels, "steqr_"+realOf(e).String(), blocks, &t); err != nil {
		return err
	}
	var o shim.Params
	o.U64(uint64(r.turns)).U32(uint32(n)).U64(uint64(r.factor), w, uint64(r.places))
	if err := j.one(tridiagonalKernels, "rank_"+realOf(e).String(), 1, &o); err != nil || !p.vectors {
		return err
	}
	var s shim.Params
	s.U64(uint64(r.strips), a.Base, uint64(a.LD*parts)).U32(uint32(n*parts), uint32(n)).U64(uint64(r.places))
	return j.one(tridiagonalKernels, "spread_"+realOf(e).String(), min(n, 64), &s)
}
