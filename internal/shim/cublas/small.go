package cublas

import (
	"kudzu/internal/driver"
	"kudzu/internal/shim"
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
	return p.K <= smallSide && p.M <= smallSide && p.N <= smallSide && (p.TA == F32 || p.TA == F64) && p.TC == p.TA && validOp(p.A.Op) && validOp(p.B.Op)
}

func (p *Product) small(d *driver.Thread, stream cu.CUstream) error {
	wide := tileColumns[p.Sum]
	rows, panels := (p.M+smallRows-1)/smallRows, (p.N+wide-1)/wide
	columns := int64(1)
	if rows == 1 && p.Batch == 1 && p.M*p.N*p.K >= 2*smallWork { // the other worker is worth waking
		columns = 2
	}
	per := (panels + columns - 1) / columns
	for first := int64(0); first < p.Batch; first += maxGrid {
		var q shim.Params
		p.A.Put(&q)
		p.B.Put(&q)
		p.C.Put(&q)
		p.Alpha.Put(&q)
		p.Beta.Put(&q)
		q.U32(uint32(p.M), uint32(p.N), uint32(p.K), uint32(first), p.outside(), 0, uint32(per))
		grid := [3]uint32{uint32(rows), uint32((panels + per - 1) / per), uint32(min(p.Batch-first, maxGrid))}
		if err := gemmKernels.Launch(d, stream, "small_"+p.TA.String(), grid, [3]uint32{32, 1, 1}, &q); err != nil {
			return err
		}
	}
	return nil
}
