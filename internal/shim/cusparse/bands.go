package cusparse

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
)

// bands is systems with three or five diagonals, struct Band in kernels/solve.cu.
type bands struct {
	ds, dl, d, du, dw hostmem.Ptr
	m                 int32
	down, right       int64 // from element to element, and from system to system
	pivot             bool
	e                 Elem
}

// systems solves n of them in place of the right-hand sides.
func (c *call) systems(g *bands, x dense, n int64) error {
	if g.m == 0 || n == 0 {
		return nil
	}
	const row = 6 * 16 // of the upper factor
	s, err := c.scratch(n * int64(g.m) * row)
	if err != nil {
		return err
	}
	p := (&shim.Params{}).U64(uint64(g.ds), uint64(g.dl), uint64(g.d), uint64(g.du), uint64(g.dw), uint64(g.m), uint64(g.down), uint64(g.right)).U32(uint32(g.e), flag(g.pivot))
	p = x.put(p).U64(uint64(n), s)
	return c.launch(solveKernels, form("band", g.e), n, p)
}

func (t *Thread) gtsv(h uint64, m, n int32, dl, d, du, b hostmem.Ptr, ldb int32, pivot bool, e Elem) error {
	return t.older(h, func(c *call) error {
		if m < 3 || n < 0 || ldb < max(1, m) {
			return invalidValue
		}
		g := &bands{dl: dl, d: d, du: du, m: m, down: 1, pivot: pivot, e: e}
		return c.systems(g, dense{base: uint64(b), down: 1, right: int64(ldb), elem: e}, int64(n))
	})
}

// bandSize says how much memory is wanted: a little, because the handle has its own. Sizes are looked at by the solve, as the vendor's.
func (t *Thread) bandSize(h uint64) (uint64, error) {
	if _, err := find(h); err != nil {
		return 0, notInitialized
	}
	return 16, nil
}

// Gtsv2BufferSizeExt says how much memory is wanted.
func (t *Thread) Gtsv2BufferSizeExt(h uint64, _, _ int32, _, _, _, _ hostmem.Ptr, _ int32, _ Elem) (uint64, error) {
	return t.bandSize(h)
}

// Gtsv2 solves a tridiagonal system with several right-hand sides.
func (t *Thread) Gtsv2(h uint64, m, n int32, dl, d, du, b hostmem.Ptr, ldb int32, _ hostmem.Ptr, e Elem) error {
	return t.gtsv(h, m, n, dl, d, du, b, ldb, true, e)
}

// Gtsv2NopivotBufferSizeExt says how much memory is wanted.
func (t *Thread) Gtsv2NopivotBufferSizeExt(h uint64, _, _ int32, _, _, _, _ hostmem.Ptr, _ int32, _ Elem) (uint64, error) {
	return t.bandSize(h)
}

// Gtsv2Nopivot does it without exchanging rows.
func (t *Thread) Gtsv2Nopivot(h uint64, m, n int32, dl, d, du, b hostmem.Ptr, ldb int32, _ hostmem.Ptr, e Elem) error {
	return t.gtsv(h, m, n, dl, d, du, b, ldb, false, e)
}

// Gtsv2StridedBatchBufferSizeExt says how much memory is wanted.
func (t *Thread) Gtsv2StridedBatchBufferSizeExt(h uint64, _ int32, _, _, _, _ hostmem.Ptr, _, _ int32, _ Elem) (uint64, error) {
	return t.bandSize(h)
}

// Gtsv2StridedBatch solves systems that lie one behind another.
func (t *Thread) Gtsv2StridedBatch(h uint64, m int32, dl, d, du, x hostmem.Ptr, batch, stride int32, _ hostmem.Ptr, e Elem) error {
	return t.older(h, func(c *call) error {
		if m < 3 || batch < 0 || stride < m {
			return invalidValue
		}
		g := &bands{dl: dl, d: d, du: du, m: m, down: 1, right: int64(stride), e: e}
		return c.systems(g, dense{base: uint64(x), down: 1, right: int64(stride), elem: e}, int64(batch))
	})
}

// interleaved solves systems whose elements lie beside each other.
func (t *Thread) interleaved(h uint64, g bands, x hostmem.Ptr, batch int32) error {
	return t.older(h, func(c *call) error {
		if g.m < 3 || batch < 0 {
			return invalidValue
		}
		g.down, g.right = int64(batch), 1
		return c.systems(&g, dense{base: uint64(x), down: int64(batch), right: 1, elem: g.e}, int64(batch))
	})
}

// interleavedSize says how much memory is wanted, of an algorithm that there is.
func (t *Thread) interleavedSize(h uint64, algo, most int32) (uint64, error) {
	if _, err := find(h); err != nil {
		return 0, notInitialized
	}
	if algo < 0 || algo > most {
		return 0, invalidValue
	}
	return 16, nil
}

// GtsvInterleavedBatchBufferSizeExt says how much memory is wanted.
func (t *Thread) GtsvInterleavedBatchBufferSizeExt(h uint64, algo, _ int32, _, _, _, _ hostmem.Ptr, _ int32, _ Elem) (uint64, error) {
	return t.interleavedSize(h, algo, 2)
}

// GtsvInterleavedBatch solves tridiagonal systems: Thomas, LU with pivots, or QR, which here is LU too.
func (t *Thread) GtsvInterleavedBatch(h uint64, algo, m int32, dl, d, du, x hostmem.Ptr, batch int32, _ hostmem.Ptr, e Elem) error {
	if _, err := t.interleavedSize(h, algo, 2); err != nil {
		return err
	}
	return t.interleaved(h, bands{dl: dl, d: d, du: du, m: m, pivot: algo != 0, e: e}, x, batch)
}

// GpsvInterleavedBatchBufferSizeExt says how much memory is wanted.
func (t *Thread) GpsvInterleavedBatchBufferSizeExt(h uint64, algo, _ int32, _, _, _, _, _, _ hostmem.Ptr, _ int32, _ Elem) (uint64, error) {
	return t.interleavedSize(h, algo, 1)
}

// GpsvInterleavedBatch solves pentadiagonal systems. The second algorithm does nothing, as the vendor's.
func (t *Thread) GpsvInterleavedBatch(h uint64, algo, m int32, ds, dl, d, du, dw, x hostmem.Ptr, batch int32, _ hostmem.Ptr, e Elem) error {
	if _, err := t.interleavedSize(h, algo, 1); err != nil || algo == 1 {
		return err
	}
	return t.interleaved(h, bands{ds: ds, dl: dl, d: d, du: du, dw: dw, m: m, pivot: true, e: e}, x, batch)
}
