package direct

import (
	"math"
	"math/cmplx"
)

// Nearest finds the eigenvalue next to mu, by inverse iteration from x: each step solves with A - mu I. It ends when |A x - value x| is
// not larger than tol times |value| or tol, or after some steps.
func Nearest[T Number](a *Matrix[T], mu T, x []T, steps int, tol float64) (value T, vector []T) {
	f := FactorLU(a.Shifted(mu), MinimumDegree(a.Pattern, true), 1)
	f.disturb()
	x = unit(x)
	value = mu
	for range steps {
		x = unit(f.Solve(x))
		y := a.Times(x)
		value = dot(x, y)
		for i := range y {
			y[i] -= value * x[i]
		}
		if Norm(y) <= tol*max(abs(value), 1) {
			break
		}
	}
	return value, x
}

// disturb replaces pivots that are zero: mu is an eigenvalue.
func (f *LU[T]) disturb() {
	most := 0.0
	for _, v := range f.pivots {
		most = max(most, abs(v))
	}
	for k, v := range f.pivots {
		if abs(v) <= most*0x1p-52 {
			f.pivots[k] = of[T](max(most*0x1p-52, math.SmallestNonzeroFloat32))
		}
	}
}

func unit[T Number](x []T) []T {
	n := Norm(x)
	y := make([]T, len(x))
	for i, v := range x {
		y[i] = v / of[T](n)
	}
	return y
}

// winding integrates the logarithmic derivative of det(A - z I).
type winding struct {
	a     *Matrix[complex128]
	q     []int32
	small float64 // the distance of the two determinants that a derivative is made of
}

// Count is how many eigenvalues are in a box of which none is on the edge: the turns of det(A - z I) along its edge.
func Count(a *Matrix[complex128], low, high complex128) int {
	size := max(real(high)-real(low), imag(high)-imag(low))
	w := winding{a, MinimumDegree(a.Pattern, true), size * 0x1p-17}
	corners := []complex128{low, complex(real(high), imag(low)), high, complex(real(low), imag(high))}
	turns := 0.0
	for i, from := range corners {
		turns += w.side(from, corners[(i+1)%len(corners)])
	}
	return int(math.Round(turns / (2 * math.Pi)))
}

// pieces of a side are integrated on their own.
const pieces = 8

func (w winding) side(from, to complex128) (sum float64) {
	step := (to - from) / pieces
	last := w.derivative(from, step)
	for i := range pieces {
		z := from + step*complex(float64(i), 0)
		next := w.derivative(z+step, step)
		middle := w.derivative(z+step/2, step)
		sum += w.piece(z, step, [3]complex128{last, middle, next}, mostHalvings)
		last = next
	}
	return sum
}

const (
	mostHalvings = 30
	nearly       = 0.05 // of a turn's angle, that halves and the whole of a piece may differ by
)

// piece is Simpson's rule, on halves until that makes no difference.
func (w winding) piece(z, step complex128, f [3]complex128, halvings int) float64 {
	rule := func(a, b, c, h complex128) float64 { return imag((a + 4*b + c) * h / 6) }
	a, b := w.derivative(z+step/4, step), w.derivative(z+step*3/4, step)
	left, right := rule(f[0], a, f[1], step/2), rule(f[1], b, f[2], step/2)
	if halvings == 0 || math.Abs(left+right-rule(f[0], f[1], f[2], step)) < nearly {
		return left + right
	}
	return w.piece(z, step/2, [3]complex128{f[0], a, f[1]}, halvings-1) + w.piece(z+step/2, step/2, [3]complex128{f[1], b, f[2]}, halvings-1)
}

// derivative is that of log det(A - z I), of two points along the edge.
func (w winding) derivative(z, along complex128) complex128 {
	h := along / complex(cmplx.Abs(along), 0) * complex(w.small, 0)
	before, sign := w.determinant(z - h)
	after, other := w.determinant(z + h)
	d := after - before
	if sign != other {
		d += complex(0, math.Pi)
	}
	turn := math.Remainder(imag(d), 2*math.Pi)
	return complex(real(d), turn) / (2 * h)
}

// determinant is its logarithm, and whether the exchanges change its sign.
func (w winding) determinant(z complex128) (sum complex128, odd bool) {
	f := FactorLU(w.a.Shifted(z), w.q, 1)
	for _, v := range f.pivots {
		sum += cmplx.Log(v)
	}
	return sum, isOdd(f.P)
}

// isOdd reports a permutation that is an odd number of exchanges.
func isOdd(p []int32) (odd bool) {
	seen := make([]bool, len(p))
	for i := range p {
		for j := i; !seen[j]; j = int(p[j]) {
			seen[j] = true
			if int(p[j]) != i {
				odd = !odd
			}
		}
	}
	return odd
}
