package direct

import "math"

// QR is A = Q R: R by rows, Q as the rotations that made it.
type QR[T Number] struct {
	rows, columns int
	r             Matrix[T] // the diagonal first; a row is empty until a row of A comes to it
	used          []bool    // rows of R that are not empty
	turns         []turn[T] // of A's rows, one row after another
	from          []int     // where the rotations of a row begin
}

// turn is a rotation of a row with R's row at. The first row that comes to an empty one stays there: s is 0 and c is not 1.
type turn[T Number] struct {
	at int32
	c  float64
	s  T
}

// stays marks a row that stays.
const stays = -1

// QRPattern is what R will have.
func QRPattern(a Pattern) Pattern {
	first := make([][]int32, a.Cols) // rows of A by their first column
	for i := range a.Rows {
		if row := a.Row(i); len(row) > 0 {
			first[row[0]] = append(first[row[0]], int32(i))
		}
	}
	return closed(a.Cols, func(k int) [][]int32 {
		sets := make([][]int32, 0, len(first[k]))
		for _, i := range first[k] {
			sets = append(sets, a.Row(int(i)))
		}
		return sets
	})
}

// FactorQR turns one row of A after another into R (George and Heath).
func FactorQR[T Number](a *Matrix[T], p Pattern) *QR[T] {
	f := &QR[T]{a.Rows, a.Cols, Matrix[T]{p, make([]T, len(p.Index))}, make([]bool, a.Cols), nil, make([]int, 1, a.Rows+1)}
	w := make([]T, a.Cols)
	for i := range a.Rows {
		columns, values := a.Row(i)
		for e, j := range columns {
			w[j] += values[e]
		}
		if len(columns) > 0 {
			f.insert(w, int(columns[0]))
		}
		f.from = append(f.from, len(f.turns))
	}
	return f
}

// insert turns the row w, whose first column is k, into R. It is zeros afterwards.
func (f *QR[T]) insert(w []T, k int) {
	for {
		columns, values := f.r.Row(k)
		v := w[k]
		switch {
		case v == 0:
		case !f.used[k]:
			f.used[k] = true
			for e, j := range columns {
				values[e], w[j] = w[j], 0
			}
			f.turns = append(f.turns, turn[T]{at: int32(k), c: stays})
			return
		default:
			t := rotation(values[0], v)
			t.at = int32(k)
			c, s, back := of[T](t.c), t.s, conj(t.s)
			for e, j := range columns {
				r, x := values[e], w[j]
				values[e], w[j] = c*r+s*x, c*x-back*r
			}
			w[k] = 0
			f.turns = append(f.turns, t)
		}
		if len(columns) == 1 {
			return
		}
		k = int(columns[1])
	}
}

// rotation makes zero of v, below r.
func rotation[T Number](r, v T) turn[T] {
	if r == 0 {
		return turn[T]{s: conj(v) / of[T](abs(v))}
	}
	m := abs(r)
	h := math.Hypot(m, abs(v))
	return turn[T]{c: m / h, s: r / of[T](m) * (conj(v) / of[T](h))}
}

// apply is Q' b: what belongs to R's rows, and the length of the rest.
func (f *QR[T]) apply(b []T) (y []T, rest float64) {
	y = make([]T, f.columns)
	for i, v := range b {
		for _, t := range f.turns[f.from[i]:f.from[i+1]] {
			if t.c == stays {
				y[t.at], v = v, 0
				continue
			}
			r := y[t.at]
			y[t.at], v = of[T](t.c)*r+t.s*v, of[T](t.c)*v-conj(t.s)*r
		}
		rest = math.Hypot(rest, abs(v))
	}
	return y, rest
}

// Singular is the first element of R's diagonal that is not larger than tol, or -1.
func (f *QR[T]) Singular(tol float64) int {
	for k := range f.columns {
		if abs(f.r.Value[f.r.From[k]]) <= tol {
			return k
		}
	}
	return -1
}

// Solve minimizes |A x - b|, for columns that do not depend on each other.
func (f *QR[T]) Solve(b []T) []T {
	x, _ := f.apply(b)
	f.substitute(x, func(int) bool { return true })
	return x
}

// substitute solves with the rows of R that are alive; others are zero.
func (f *QR[T]) substitute(x []T, alive func(k int) bool) {
	for k := f.columns - 1; k >= 0; k-- {
		if !alive(k) {
			x[k] = 0
			continue
		}
		columns, values := f.r.Row(k)
		for e, j := range columns[1:] {
			x[k] -= values[e+1] * x[j]
		}
		x[k] /= values[0]
	}
}

// Least is a solution of a least squares problem.
type Least[T Number] struct {
	Rank  int
	X     []T
	Order []int32 // columns that depend on others come last, and are not used
	Rest  float64 // |A x - b|
}

// LeastSquares finds columns that depend on those before them, to tol, and solves with the others (Heath).
func LeastSquares[T Number](a *Matrix[T], b []T, tol float64) Least[T] {
	f := FactorQR(a, QRPattern(a.Pattern))
	y, rest := f.apply(b)
	dead := make([]bool, a.Cols)
	w := make([]T, a.Cols)
	for k := range a.Cols {
		columns, values := f.r.Row(k)
		if abs(values[0]) > tol {
			continue
		}
		dead[k] = true
		if !f.used[k] || len(columns) == 1 {
			rest = math.Hypot(rest, abs(y[k]))
			continue
		}
		for e, j := range columns { // the rest of the row goes on to those below
			w[j], values[e] = values[e], 0
		}
		w[k] = 0
		before := len(f.turns)
		f.insert(w, int(columns[1]))
		v := y[k]
		for _, t := range f.turns[before:] {
			if t.c == stays {
				y[t.at], v = v, 0
				continue
			}
			r := y[t.at]
			y[t.at], v = of[T](t.c)*r+t.s*v, of[T](t.c)*v-conj(t.s)*r
		}
		rest = math.Hypot(rest, abs(v))
	}
	f.substitute(y, func(k int) bool { return !dead[k] })
	l := Least[T]{X: y, Rest: rest}
	var last []int32
	for k, d := range dead {
		if d {
			last = append(last, int32(k))
		} else {
			l.Order = append(l.Order, int32(k))
		}
	}
	l.Rank = len(l.Order)
	l.Order = append(l.Order, last...)
	return l
}
