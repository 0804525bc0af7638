package cublas

import (
	"kudzu/internal/driver"
	"kudzu/internal/shim"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/cu"
)

// Small products are one launch without workspace: what packing for all would save, a second launch costs (small in kernels/gemm.cu).

const (
	smallSide = 128 // SMALL_K of kernels/gemm.cu; and the most rows and columns of a matrix that is not one of many
	smallWork = 64 * 64 * 64
)

// smallRows are the rows that one block takes.
const smallRows = 2 * tileRows

// isSmall: so little that one or two blocks do it.
func (p *Product) isSmall() bool {
	if p.K > smallSide || p.M > smallSide || p.N > smallSide || p.TC != p.TA || !validOp(p.A.Op) || !validOp(p.B.Op) {
		return false
	}
	switch p.TA {
	case F32, F64:
		return true
	}
	return false
}

func (p *Product) small(d *driver.Thread, stream cu.CUstream) error {
	rows, wide := (p.M+smallRows-1)/smallRows, tileColumns[p.Sum]
	if p.inPairs() {
		wide = pairWide
	}
	panels := (p.N + wide - 1) / wide
	columns := int64(1)
	if rows == 1 && p.Batch == 1 && p.M*p.N*p.K >= 2*smallWork { // the other worker is worth waking
		columns = 2
	}
	return p.launchSmall(d, stream, p.A, rows, (panels+columns-1)/columns, wide, false)
}

// pairWide is the width of tiles of 64 rows (pairs of kernels/gemm.cu).
const pairWide = 6

// inPairs reports a product that tiles of 64 rows do with little for nothing: the last block's rows are more than 32, as they lie.
func (p *Product) inPairs() bool {
	return p.Sum == F32 && p.A.Op == blas.CUBLAS_OP_N && (p.M-1)%smallRows >= tileRows
}

// launchSmall has `rows` blocks, each of which takes `per` panels of columns at a time. packed: A are panels already.
func (p *Product) launchSmall(d *driver.Thread, stream cu.CUstream, a View, rows, per, wide int64, packed bool) error {
	panels := (p.N + wide - 1) / wide
	for first := int64(0); first < p.Batch; first += maxGrid {
		var q shim.Params
		if !packed && p.Batch <= maxGrid {
			q.Template = p.Template
		}
		a.Put(&q)
		p.B.Put(&q)
		p.C.Put(&q)
		p.Alpha.Put(&q)
		p.Beta.Put(&q)
		q.U32(uint32(p.M), uint32(p.N), uint32(p.K), uint32(first), p.outside(), 0, uint32(per), flag(packed))
		grid := [3]uint32{uint32(rows), uint32((panels + per - 1) / per), uint32(min(p.Batch-first, maxGrid))}
		if err := gemmKernels.Launch(d, stream, smallNames[smallKind{p.Sum, wide}], grid, [3]uint32{32, 1, 1}, &q); err != nil {
			return err
		}
	}
	return nil
}

// smallKind is a kernel: what it computes with and the width of its tiles.
type smallKind struct {
	sum  Elem
	wide int64
}

var smallNames = map[smallKind]string{
	{F32, pairWide}: "pairs6_f32", {F32, 12}: "small12_f32", {F64, 6}: "small6_f64",
}

const (
	tinyRows  = 16 // the most rows of kernels/tiny.cu
	tinyBatch = 16 // and matrices that a block takes
)

// isTiny: many matrices of few rows, which lie together.
func (p *Product) isTiny() bool {
	return (p.TA == F32 || p.TA == F64) && p.Batch > 1 && p.M <= tinyRows && p.A.Op == blas.CUBLAS_OP_N && p.Plain() && p.isSmall()
}

// tiny is one launch for the batch.
func (p *Product) tiny(d *driver.Thread, stream cu.CUstream) error {
	workers, err := processors(d)
	if err != nil {
		return err
	}
	column, step := p.B.LD, int64(1)
	if p.B.Op != blas.CUBLAS_OP_N {
		column, step = step, column
	}
	each := max(1, min(tinyBatch, p.Batch/(4*workers)))
	q := shim.Params{Template: p.Template}
	p.A.Put(&q)
	p.B.Put(&q)
	p.C.Put(&q)
	p.Alpha.Put(&q)
	p.Beta.Put(&q)
	q.U64(uint64(column), uint64(step)).U32(uint32(p.M), uint32(p.N), uint32(p.K), 0, uint32(p.Batch), uint32(each))
	name := "tiny_16_"
	if p.M <= 8 {
		name = "tiny_8_"
	}
	return tinyKernels.Launch(d, stream, name+p.TA.String(), [3]uint32{uint32((p.Batch + each - 1) / each), 1, 1}, [3]uint32{32, 1, 1}, &q)
}

// fewRows: so few rows that packing B for them costs more than it saves.
func (p *Product) fewRows() bool {
	switch p.TA {
	case F32, F64, C32, C64:
	default:
		return false
	}
	return p.M <= smallRows && p.TC == p.TA && validOp(p.A.Op) && validOp(p.B.Op) && p.Batch <= maxGrid &&
		smallRows*p.K*p.Batch*int64(p.Sum.Size()) <= maxPack && p.N/tileColumns[p.Sum] < maxGrid
}

// flat packs the few rows of A, and reads B where it lies, once.
func (p *Product) flat(d *driver.Thread, stream cu.CUstream, space *shim.Workspace) error {
	workers, err := processors(d)
	if err != nil {
		return err
	}
	high := p.rows()
	panels := (p.M + high - 1) / high
	s := side{p.A, 0, panels * high * p.K, p.M, high, !p.A.List && p.A.Stride == 0}
	count := p.Batch
	if s.shared {
		count = 1
	}
	at, err := space.Take(d, stream, uint64(s.per*count*int64(p.Sum.Size())))
	if err != nil {
		return err
	}
	s.to = uint64(at)
	none := side{x: p.B, width: high}
	if err := p.pack(d, stream, [2]side{s, none}, &tiling{workers: workers, groups: -1}, 0, p.Batch); err != nil {
		return err
	}
	a := View{Base: s.to, Stride: s.stride(), Op: p.A.Op}
	if p.isComplex() {
		return p.complexSmall(d, stream, a, true)
	}
	wide := tileColumns[p.Sum]
	columns := (p.N + wide - 1) / wide
	parts := max(1, min(columns, 4*workers/p.Batch, p.N*p.K*p.M/smallWork))
	return p.launchSmall(d, stream, a, 1, (columns+parts-1)/parts, wide, true)
}
