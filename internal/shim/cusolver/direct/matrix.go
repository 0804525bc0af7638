// Package direct has direct methods for sparse matrices: orderings, LU, QR and Cholesky factors, and what eigenvalues need of them.
// It knows nothing of CUDA. Matrices are real or complex in double precision, by rows, from 0.
package direct

import (
	"math"
	"math/cmplx"
	"slices"
)

// Number is what matrices have.
type Number interface{ float64 | complex128 }

// Pattern is where a matrix has elements: row i has columns Index[From[i]:From[i+1]], in ascending order.
type Pattern struct {
	Rows, Cols int
	From       []int
	Index      []int32
}

// Matrix is a pattern with values.
type Matrix[T Number] struct {
	Pattern
	Value []T
}

// Row has the columns of a row.
func (p Pattern) Row(i int) []int32 { return p.Index[p.From[i]:p.From[i+1]] }

// Row has the columns of a row, and the values there.
func (a *Matrix[T]) Row(i int) ([]int32, []T) {
	return a.Index[a.From[i]:a.From[i+1]], a.Value[a.From[i]:a.From[i+1]]
}

// turned is the transposed pattern, and where each of its elements was.
func (p Pattern) turned() (Pattern, []int) {
	q := Pattern{p.Cols, p.Rows, make([]int, p.Cols+1), make([]int32, len(p.Index))}
	was := make([]int, len(p.Index))
	for _, j := range p.Index {
		q.From[j+1]++
	}
	for j := range p.Cols {
		q.From[j+1] += q.From[j]
	}
	next := slices.Clone(q.From)
	for i := range p.Rows {
		for k := p.From[i]; k < p.From[i+1]; k++ {
			j := p.Index[k]
			q.Index[next[j]], was[next[j]] = int32(i), k
			next[j]++
		}
	}
	return q, was
}

// Transposed is the matrix by columns: its rows are columns of a. Rows of the result are in order whatever those of a are.
func (a *Matrix[T]) Transposed() *Matrix[T] {
	q, was := a.turned()
	return &Matrix[T]{q, gather(a.Value, was)}
}

func gather[T any](v []T, at []int) []T {
	w := make([]T, len(at))
	for i, k := range at {
		w[i] = v[k]
	}
	return w
}

// Inverse is the permutation that undoes p.
func Inverse(p []int32) []int32 {
	q := make([]int32, len(p))
	for i, x := range p {
		q[x] = int32(i)
	}
	return q
}

// Identity changes no place.
func Identity(n int) []int32 {
	p := make([]int32, n)
	for i := range p {
		p[i] = int32(i)
	}
	return p
}

// Permuted has element (p[i], q[j]) at (i, j), and says where each element was.
func (p Pattern) Permuted(rows, columns []int32) (Pattern, []int) {
	to := Inverse(columns)
	r := Pattern{p.Rows, p.Cols, make([]int, 1, p.Rows+1), make([]int32, 0, len(p.Index))}
	was := make([]int, 0, len(p.Index))
	for _, i := range rows {
		begin := len(was)
		for k := p.From[i]; k < p.From[i+1]; k++ {
			was = append(was, k)
		}
		slices.SortStableFunc(was[begin:], func(a, b int) int { return int(to[p.Index[a]]) - int(to[p.Index[b]]) })
		for _, k := range was[begin:] {
			r.Index = append(r.Index, to[p.Index[k]])
		}
		r.From = append(r.From, len(r.Index))
	}
	return r, was
}

// Permuted has element (p[i], q[j]) at (i, j).
func (a *Matrix[T]) Permuted(p, q []int32) *Matrix[T] {
	r, was := a.Pattern.Permuted(p, q)
	return &Matrix[T]{r, gather(a.Value, was)}
}

// Sorted is the matrix with its rows in order.
func (a *Matrix[T]) Sorted() *Matrix[T] { return a.Transposed().Transposed() }

// Shifted is A - mu I.
func (a *Matrix[T]) Shifted(mu T) *Matrix[T] {
	b := &Matrix[T]{Pattern: Pattern{a.Rows, a.Cols, make([]int, 1, a.Rows+1), nil}}
	for i := range a.Rows {
		columns, values := a.Row(i)
		at, found := slices.BinarySearch(columns, int32(i))
		b.Index, b.Value = append(b.Index, columns...), append(b.Value, values...)
		at += b.From[i]
		switch {
		case found:
			b.Value[at] -= mu
		case i < a.Cols:
			b.Index, b.Value = slices.Insert(b.Index, at, int32(i)), slices.Insert(b.Value, at, -mu)
		}
		b.From = append(b.From, len(b.Index))
	}
	return b
}

// Times is A x.
func (a *Matrix[T]) Times(x []T) []T {
	y := make([]T, a.Rows)
	for i := range y {
		columns, values := a.Row(i)
		for k, j := range columns {
			y[i] += values[k] * x[j]
		}
	}
	return y
}

// Norm is the length of a vector.
func Norm[T Number](x []T) float64 {
	most, sum := 0.0, 0.0
	for _, v := range x {
		most = max(most, abs(v))
	}
	if most == 0 || math.IsInf(most, 0) || math.IsNaN(most) {
		return most
	}
	for _, v := range x {
		r := abs(v) / most
		sum += r * r
	}
	return most * math.Sqrt(sum)
}

func dot[T Number](x, y []T) (sum T) {
	for i, v := range x {
		sum += conj(v) * y[i]
	}
	return sum
}

func abs[T Number](v T) float64 {
	switch v := any(v).(type) {
	case complex128:
		return cmplx.Abs(v)
	case float64:
		return math.Abs(v)
	}
	panic("BUG: no other number")
}

func conj[T Number](v T) T {
	if c, ok := any(v).(complex128); ok {
		return any(cmplx.Conj(c)).(T)
	}
	return v
}

func realPart[T Number](v T) float64 {
	switch v := any(v).(type) {
	case complex128:
		return real(v)
	case float64:
		return v
	}
	panic("BUG: no other number")
}

// of is a real number as T.
func of[T Number](v float64) T {
	var t T
	switch p := any(&t).(type) {
	case *float64:
		*p = v
	case *complex128:
		*p = complex(v, 0)
	}
	return t
}
