package cusparse

import (
	"kudzu/internal/shim"
)

// quick says that a product is one of fast.cu's: CSR with indices of 32 bits, all in one of four types, nothing to be conjugated.
func quick(p *product, v *view, b, y dense) bool {
	switch p.compute {
	case F32, F64, C32, C64:
	default:
		return false
	}
	return v.format == formatLines && v.wide == 0 && v.wideOff == 0 && v.perm == 0 && v.ends == 0 && v.conjugate == 0 && !b.conjugate &&
		v.elem == p.compute && b.elem == p.compute && y.elem == p.compute
}

func (v *view) rows() *shim.Params {
	return (&shim.Params{}).U64(uint64(v.lines), v.offsets, v.indices, v.values).U32(v.base, 0)
}

// work is about how many elements a block should have, so that a launch has many blocks and each is worth its start.
const work = 1 << 13

// lanes are those of a warp: a block of a product with a matrix has one.
const lanes = 32

// runOf is the rows a block takes.
func runOf(v *view, each int64) int64 {
	mean := v.most/max(v.lines, 1) + 4
	return min(max(work/(mean*each), 1), v.lines)
}

// quickVector sends a product with a vector.
func (c *call) quickVector(p *product, v *view, x, y dense) error {
	if v.lines == 0 {
		return nil
	}
	run := runOf(v, 1)
	q := v.rows().U64(x.base, y.base)
	p.alpha.Put(q)
	p.beta.Put(q)
	name := "spmv_"
	if v.most < 4*v.lines {
		name = "short_"
	}
	return fastKernels.Launch(c.d, c.stream, name+p.compute.String(), [3]uint32{uint32((v.lines + run - 1) / run), 1, 1}, [3]uint32{1, 1, 1}, q.U32(uint32(run)))
}

// quickMatrix sends a product with a matrix of n columns.
func (c *call) quickMatrix(p *product, v *view, b, y dense, n int64) error {
	q := y.put(b.put(v.rows()))
	p.alpha.Put(q)
	p.beta.Put(q)
	q.U64(uint64(n))
	const least, most = 8, 1 << 15
	if b.right != 1 || y.right != 1 || n < least {
		run := runOf(v, n)
		return fastKernels.Launch(c.d, c.stream, "columns_"+p.compute.String(), [3]uint32{uint32((v.lines + run - 1) / run), 1, 1}, [3]uint32{1, 1, 1}, q.U32(uint32(run)))
	}
	name, each := "spmm1_", int64(lanes)
	switch {
	case n > 2*lanes:
		name, each = "spmm4_", 4*lanes
	case n > lanes:
		name, each = "spmm2_", 2*lanes
	}
	run := max(runOf(v, each/8), (v.lines+most-1)/most)
	grid := [3]uint32{uint32((n + each - 1) / each), uint32((v.lines + run - 1) / run), 1}
	return fastKernels.Launch(c.d, c.stream, name+p.compute.String(), grid, [3]uint32{lanes, 1, 1}, q.U32(uint32(run)))
}
