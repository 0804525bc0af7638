package cublas

import (
	"fmt"

	"kudzu/internal/driver"
	"kudzu/internal/shim"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/cu"
)

// Products of complex numbers (kernels/complex.cu). A lane has a part of a number, so a warp's tile has half as many rows as one of reals.

const (
	complexRows = 16 // ROWS of kernels/complex.cu
	complexDeep = 32 // the most of k of a product of any size that reads B where it lies
	complexHigh = 8  // the most panels of rows of a block
	liesTiles   = 3  // the most tiles of columns that read A's rows where they lie
	groupRows   = complexRows / 2
	deepTiles   = 8  // TILES of kernels/complex.cu
	deepOuter   = 64 // the most columns for which each worker may lay out the vectors itself
	laidColumns = 64 // the least columns of a block that lays rows of A out, where another one does too

	lanesConjugated, sharedConjugated = 8, 16 // LANES_CONJ and SHARED_CONJ
)

// complexWide are the widths of tiles: with two of them fewer columns are computed for nothing.
var complexWide = map[Elem][2]int64{C32: {4, 6}, C64: {2, 3}}

// dotsMost are the most vectors for which sums along the lanes are faster than tiles that all lanes share.
var dotsMost = map[Elem]int64{C32: 8, C64: 4}

// slabMost are the most columns for which a big matrix is better read where it lies than packed.
var slabMost = map[Elem]int64{C32: 8, C64: 16}

// slabRows are the rows that a block of slab takes.
var slabRows = map[Elem]int64{C32: 96, C64: 48}

func (p *Product) isComplex() bool { return p.Sum == C32 || p.Sum == C64 }

// rows are the rows of a warp's tile.
func (p *Product) rows() int64 {
	if p.isComplex() {
		return complexRows
	}
	return tileRows
}

// module has the kernels of large products.
func (p *Product) module() *shim.Kernels {
	if p.isComplex() {
		return complexKernels
	}
	return gemmKernels
}

func conjugates(op blas.CublasOperation_t) bool {
	return op == blas.CUBLAS_OP_C || op == OpConjugate
}

// signs says besides outside what is conjugated: what lanes have, and what they share.
func (p *Product) signs(lanes, shared blas.CublasOperation_t) uint32 {
	f := p.outside()
	if p.isComplex() && conjugates(lanes) {
		f |= lanesConjugated
	}
	if p.isComplex() && conjugates(shared) {
		f |= sharedConjugated
	}
	return f
}

// complexTile is the width of tiles of n columns for `groups` groups of lanes.
func (p *Product) complexTile(n, groups int64) int64 {
	w := complexWide[p.Sum]
	computed := func(wide int64) int64 { return (n + groups*wide - 1) / (groups * wide) * wide }
	if computed(w[0]) < computed(w[1]) {
		return w[0]
	}
	return w[1]
}

// putComplex lays out C, the scalars and the sizes of a product of m rows, a lane's part each, and n columns, which lanes share.
func (p *Product) putComplex(q *shim.Params, m, n, first int64, flags uint32) {
	p.C.Put(q)
	p.Alpha.Put(q)
	p.Beta.Put(q)
	q.U32(uint32(m), uint32(n), uint32(p.K), uint32(first), flags, 0)
}

// runComplex puts the kernels in.
func (p *Product) runComplex(d *driver.Thread, stream cu.CUstream, space *shim.Workspace) error {
	valid := p.TC == p.TA && validOp(p.A.Op) && validOp(p.B.Op)
	small := valid && p.K <= smallSide && p.M <= smallSide && p.N <= smallSide
	switch {
	case small && p.Batch > 1 && p.M <= groupRows && p.A.Op == blas.CUBLAS_OP_N && p.Plain():
		return p.complexTiny(d, stream)
	case small:
		return p.complexSmall(d, stream, p.A, false)
	}
	if s, ok := p.skinny(); ok {
		switch {
		case s.few == 1, s.deep && s.few <= dotsMost[p.Sum]:
			return p.thin(d, stream, space, &s)
		case s.deep:
			return p.complexFlat(d, stream, space, &s)
		case s.few <= slabMost[p.Sum]:
			return p.complexSlab(d, stream, &s)
		}
	}
	if valid && p.K <= complexDeep {
		return p.complexSmall(d, stream, p.A, false)
	}
	space.Hold() // no other call's panels come between packing and multiplying
	defer space.Release()
	if p.fewRows() {
		return p.flat(d, stream, space)
	}
	if p.K > deepest && valid {
		return p.bySums(d, stream, space)
	}
	return p.tiles(d, stream, space)
}

// complexTiny is one launch for a batch.
func (p *Product) complexTiny(d *driver.Thread, stream cu.CUstream) error {
	workers, err := processors(d)
	if err != nil {
		return err
	}
	column, step := p.sharedSteps()
	each := max(1, min(tinyBatch, p.Batch/(4*workers)))
	q := shim.Params{Template: p.Template}
	p.A.Put(&q)
	p.B.Put(&q)
	p.putComplex(&q, p.M, p.N, 0, p.signs(p.A.Op, p.B.Op))
	q.U64(uint64(column), uint64(step)).U32(uint32(p.Batch), uint32(each))
	return complexKernels.Launch(d, stream, "tiny_"+p.Sum.String(), [3]uint32{uint32((p.Batch + each - 1) / each), 1, 1}, [3]uint32{32, 1, 1}, &q)
}

// sharedSteps are the distances of op(B): from column to column, and along k.
func (p *Product) sharedSteps() (column, step int64) {
	if p.B.Op == blas.CUBLAS_OP_N {
		return p.B.LD, 1
	}
	return 1, p.B.LD
}

// complexSmall is one launch. packed: a are panels already.
func (p *Product) complexSmall(d *driver.Thread, stream cu.CUstream, a View, packed bool) error {
	workers, err := processors(d)
	if err != nil {
		return err
	}
	column, step := p.sharedSteps()
	wide := p.complexTile(p.N, 1)
	panels, columns := (p.M+complexRows-1)/complexRows, (p.N+wide-1)/wide
	high := min(panels, complexHigh)
	if !packed && p.Batch == 1 && p.M*p.N*p.K >= smallWork/2 { // the other worker is worth waking
		high = max(1, min(high, (panels+workers-1)/workers))
	}
	per := columns
	if blocks := (panels + high - 1) / high * p.Batch; workers > 1 && blocks < 4*workers && p.M*p.N*p.K >= smallWork {
		per = max(1, (columns*blocks+4*workers-1)/(4*workers))
		if !packed && blocks >= workers {
			per = max(per, (laidColumns+wide-1)/wide)
		}
	}
	per = max(per, (columns+maxGrid-1)/maxGrid)
	for first := int64(0); first < p.Batch; first += maxGrid {
		var q shim.Params
		if !packed && p.Batch <= maxGrid {
			q.Template = p.Template
		}
		a.Put(&q)
		p.B.Put(&q)
		p.putComplex(&q, p.M, p.N, first, p.signs(p.A.Op, p.B.Op))
		q.U64(uint64(column), uint64(step)).U32(uint32(high), uint32(per), flag(packed), flag(columns <= liesTiles))
		grid := [3]uint32{uint32((panels + high - 1) / high), uint32((columns + per - 1) / per), uint32(min(p.Batch-first, maxGrid))}
		name := fmt.Sprintf("small%d_%s", wide, p.Sum)
		if err := complexKernels.Launch(d, stream, name, grid, [3]uint32{32, 1, 1}, &q); err != nil {
			return err
		}
	}
	return nil
}

// complexFlat packs the few vectors, and reads the big matrix where it lies, once.
func (p *Product) complexFlat(d *driver.Thread, stream cu.CUstream, space *shim.Workspace, s *skinny) error {
	workers, err := processors(d)
	if err != nil {
		return err
	}
	groups, wide := int64(1), complexWide[p.Sum][1]
	if s.few <= groupRows {
		groups = 2
	}
	if groups == 1 && s.outer <= deepOuter {
		return p.complexDeep(d, stream, s, workers)
	}
	rows := complexRows / groups
	count, each := p.Batch, rows*p.K
	if !s.small.List && s.small.Stride == 0 {
		count, each = 1, 0
	}
	space.Hold()
	defer space.Release()
	at, err := space.Take(d, stream, uint64(rows*p.K*count)*uint64(p.Sum.Size()))
	if err != nil {
		return err
	}
	var q shim.Params
	s.small.Put(&q)
	q.U64(uint64(at), uint64(each), uint64(s.smallAt), uint64(s.smallNext)).U32(uint32(s.few), uint32(p.K))
	name := fmt.Sprintf("lay%d_%s", groups, p.Sum)
	if err := complexKernels.Launch(d, stream, name, [3]uint32{uint32((p.K + 63) / 64), 1, uint32(count)}, [3]uint32{32, 1, 1}, &q); err != nil {
		return err
	}
	columns := (s.outer + groups*wide - 1) / (groups * wide)
	parts := max(1, min(columns, 4*workers/p.Batch, s.outer*p.K*s.few/smallWork))
	per := (columns + parts - 1) / parts
	q = shim.Params{}
	q.U64(uint64(at), uint64(each))
	s.big.Put(&q)
	p.putComplex(&q, s.few, s.outer, 0, p.signs(s.small.Op, s.big.Op))
	q.U64(uint64(s.next), 1, uint64(s.across), uint64(s.along)).U32(uint32(per), 0)
	name = fmt.Sprintf("flat%d_%s", groups, p.Sum)
	return complexKernels.Launch(d, stream, name, [3]uint32{uint32((columns + per - 1) / per), 1, uint32(p.Batch)}, [3]uint32{32, 1, 1}, &q)
}

// complexDeep is one launch for few vectors and few more, each of a long k.
func (p *Product) complexDeep(d *driver.Thread, stream cu.CUstream, s *skinny, workers int64) error {
	wide := p.complexTile(s.outer, 1)
	tiles := (s.outer + wide - 1) / wide
	blocks := max(min(tiles, (workers+p.Batch-1)/p.Batch), (tiles+deepTiles-1)/deepTiles)
	per := (tiles + blocks - 1) / blocks
	var q shim.Params
	s.small.Put(&q)
	s.big.Put(&q)
	p.putComplex(&q, s.few, s.outer, 0, p.signs(s.small.Op, s.big.Op))
	q.U64(uint64(s.smallAt), uint64(s.smallNext), uint64(s.next), uint64(s.across), uint64(s.along)).U32(uint32(per), 0)
	name := fmt.Sprintf("deep%d_%s", wide, p.Sum)
	return complexKernels.Launch(d, stream, name, [3]uint32{uint32((tiles + per - 1) / per), 1, uint32(p.Batch)}, [3]uint32{32, 1, 1}, &q)
}

// complexSlab reads a big matrix whose rows lie together once.
func (p *Product) complexSlab(d *driver.Thread, stream cu.CUstream, s *skinny) error {
	var q shim.Params
	s.big.Put(&q)
	s.small.Put(&q)
	p.putComplex(&q, s.outer, s.few, 0, p.signs(s.big.Op, s.small.Op))
	q.U64(uint64(s.smallAt), uint64(s.smallNext), uint64(s.along), uint64(s.across))
	rows := slabRows[p.Sum]
	name := fmt.Sprintf("slab%d_%s", p.complexTile(s.few, 1), p.Sum)
	return complexKernels.Launch(d, stream, name, [3]uint32{uint32((s.outer + rows - 1) / rows), 1, uint32(p.Batch)}, [3]uint32{32, 1, 1}, &q)
}
