package ref

import (
	"math"
	"slices"
	"testing"

	"kudzu/internal/spec/blas"
)

// TestProduct: numbers worked out by hand, in every way of reading.
func TestProduct(t *testing.T) {
	a := []complex128{1, 2i, 3, 4} // (1 3; 2i 4)
	b := []complex128{5, 6, 7, 8}  // (5 7; 6 8)
	for _, c := range []struct {
		op   blas.CublasOperation_t
		want []complex128
	}{
		{blas.CUBLAS_OP_N, []complex128{23, 24 + 10i, 31, 32 + 14i}},
		{blas.CUBLAS_OP_T, []complex128{5 + 12i, 39, 7 + 16i, 53}},
		{blas.CUBLAS_OP_C, []complex128{5 - 12i, 39, 7 - 16i, 53}},
	} {
		got := []complex128{complex(math.NaN(), 0), 0, 0, 0}
		size := make([]float64, 4)
		Product(2, 2, 2, 1, 0, Matrix{V: a, LD: 2, Op: c.op}, Matrix{V: b, LD: 2}, got, 2, size)
		if !slices.Equal(got, c.want) || size[3] != 7*map[bool]float64{true: 2, false: 3}[c.op == 0]+8*4 {
			t.Errorf("op %d: %v of size %v, want %v", c.op, got, size, c.want)
		}
	}
	got := []complex128{1, 2}
	Product(2, 1, 5, 0, 3, Matrix{}, Matrix{}, got, 2, nil) // alpha 0: nothing of A and B is looked at
	if !slices.Equal(got, []complex128{3, 6}) {
		t.Error(got)
	}
}

func TestSolve(t *testing.T) {
	m := Matrix{V: []complex128{2, 3, 5, 4}, LD: 2} // (2 5; 3 4)
	lower, upper, unit := []complex128{4, 14}, []complex128{9, 4}, []complex128{4, 14}
	Solve(2, 1, lower, 2, m.At, true, false)
	Solve(2, 1, upper, 2, m.At, false, false)
	Solve(2, 1, unit, 2, m.At, true, true)
	if !slices.Equal(lower, []complex128{2, 2}) || !slices.Equal(upper, []complex128{2, 1}) || !slices.Equal(unit, []complex128{4, 2}) {
		t.Error(lower, upper, unit)
	}
}
