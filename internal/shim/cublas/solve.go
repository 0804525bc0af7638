package cublas

import (
	"kudzu/internal/driver"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/cu"
)

// System is op(A) X = B, or X op(A) = B, with A triangular, for every matrix of a batch; X takes the place of B. It is what other
// libraries factor with.
type System struct {
	Side        Side
	Fill        Fill
	Op          Op
	Diag        Diag
	M, N, Batch int64 // of B
	A, B        View
	Type        Elem
}

// Run enqueues the solution on a stream of the current context; the handle lends its memory.
func (s *System) Run(d *driver.Thread, stream cu.CUstream, h *Handle) error {
	size, count := s.M, s.N
	if s.Side == blas.CUBLAS_SIDE_RIGHT {
		size, count = s.N, s.M
	}
	if size == 0 || count == 0 || s.Batch == 0 {
		return nil
	}
	if s.M >= maxSide || s.N >= maxSide || s.Batch >= maxSide {
		return notSupported
	}
	x := &triangle{
		j: &job{d: d, x: h, stream: stream}, e: s.Type, batch: s.Batch, side: s.Side, count: count, unit: s.Diag == blas.CUBLAS_DIAG_UNIT,
		a: s.A, b: s.B, turned: transposes(s.Op) != (s.Side == blas.CUBLAS_SIDE_RIGHT),
	}
	x.a.Op = s.Op
	x.lower = (s.Fill == blas.CUBLAS_FILL_MODE_LOWER) != x.turned
	return x.solve(0, size)
}

// Later is the view whose matrices begin at a row and a column.
func (v View) Later(row, col int64, e Elem) View { return v.later(row+col*v.LD, e) }

// Triangular is how a product reads a triangular operand.
func Triangular(fill Fill, op Op, diag Diag) Op { return triangleOp(fill, op, diag) }
