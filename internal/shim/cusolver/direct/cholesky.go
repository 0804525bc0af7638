package direct

import "math"

// Cholesky is A = L L', of which the lower part of A says all.
type Cholesky[T Number] struct {
	l   Matrix[T] // by columns, the diagonal first
	Bad int       // the column that shows that A is not positive definite, where the work ended; -1 if it is
}

// CholeskyPattern is what the factor of a matrix will have, by columns.
func CholeskyPattern(a Pattern) Pattern {
	columns, _ := a.turned()
	return closed(a.Rows, func(k int) [][]int32 {
		c := columns.Row(k)
		for len(c) > 0 && int(c[0]) < k {
			c = c[1:]
		}
		return [][]int32{c}
	})
}

// FactorCholesky works column by column: each takes what the columns before it have for its row.
func FactorCholesky[T Number](a *Matrix[T], p Pattern) *Cholesky[T] {
	n := a.Rows
	f := &Cholesky[T]{Matrix[T]{p, make([]T, len(p.Index))}, -1}
	columns := a.Transposed()
	x := make([]T, n)
	next := make([]int, n)    // of a column: the place of the first row that it is still to serve
	waiting := make([]int, n) // of a row: the first column that serves it, from 1
	after := make([]int, n)   // of a column: the next that serves the same row, from 1
	for k := range n {
		f.load(columns, k, x)
		for j := waiting[k] - 1; j >= 0; {
			following := after[j] - 1
			at, end := next[j], p.From[j+1]
			s := conj(f.l.Value[at])
			for e := at; e < end; e++ {
				x[p.Index[e]] -= f.l.Value[e] * s
			}
			f.queue(j, at+1, next, waiting, after)
			j = following
		}
		from, end := p.From[k], p.From[k+1]
		d := realPart(x[k])
		if !(d > 0) || math.IsInf(d, 0) {
			f.Bad = k
			return f
		}
		pivot := math.Sqrt(d)
		f.l.Value[from] = of[T](pivot)
		for e := from + 1; e < end; e++ {
			f.l.Value[e] = x[p.Index[e]] / of[T](pivot)
		}
		f.queue(k, from+1, next, waiting, after)
	}
	return f
}

// load puts the lower part of a column where the factor has places.
func (f *Cholesky[T]) load(columns *Matrix[T], k int, x []T) {
	for _, i := range f.l.Pattern.Row(k) {
		x[i] = 0
	}
	rows, values := columns.Row(k)
	for e, i := range rows {
		if int(i) >= k {
			x[i] += values[e]
		}
	}
}

// queue lets a column wait for the row at a place.
func (f *Cholesky[T]) queue(j, at int, next, waiting, after []int) {
	next[j] = at
	if at < f.l.From[j+1] {
		i := f.l.Index[at]
		after[j], waiting[i] = waiting[i], j+1
	}
}

// Singular is the first column whose pivot is not larger than tol, or -1.
func (f *Cholesky[T]) Singular(tol float64) int {
	for k := range f.l.Rows {
		if k == f.Bad || realPart(f.l.Value[f.l.From[k]]) <= tol {
			return k
		}
	}
	return -1
}

// Diagonal is that of L.
func (f *Cholesky[T]) Diagonal() []T {
	d := make([]T, f.l.Rows)
	for k := range d {
		d[k] = f.l.Value[f.l.From[k]]
	}
	return d
}

// Solve is L L' x = b.
func (f *Cholesky[T]) Solve(b []T) []T {
	x := append([]T(nil), b...)
	for k := range x {
		rows, values := f.l.Row(k)
		x[k] /= values[0]
		for e, i := range rows[1:] {
			x[i] -= values[e+1] * x[k]
		}
	}
	for k := len(x) - 1; k >= 0; k-- {
		rows, values := f.l.Row(k)
		for e, i := range rows[1:] {
			x[k] -= conj(values[e+1]) * x[i]
		}
		x[k] /= values[0]
	}
	return x
}
