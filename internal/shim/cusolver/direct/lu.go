package direct

// LU is A with its rows and columns exchanged: element (i, j) of L U is that at (P[i], Q[j]) of A.
type LU[T Number] struct {
	P, Q   []int32
	lower  Matrix[T] // by columns, without the diagonal of ones
	upper  Matrix[T] // by columns, without the diagonal
	pivots []T
}

// luWork is what the columns share.
type luWork[T Number] struct {
	*LU[T]
	place []int32 // of A's rows: the pivot each became, from 1; 0 for none yet
	x     []T     // the column, by A's rows
	seen  []int32 // of A's rows: the column that met it last, from 1
	order []int32 // A's rows of the column, each before those that it changes, from the end
	stack []int32
	at    []int
}

// FactorLU works column by column (Gilbert and Peierls): a search in L finds what a column will have, so that the work is that of the
// multiplications. Columns come in the order q. The diagonal is the pivot if it is at least threshold times the largest.
func FactorLU[T Number](a *Matrix[T], q []int32, threshold float64) *LU[T] {
	n := a.Rows
	f := &LU[T]{make([]int32, n), q, newColumns[T](n), newColumns[T](n), make([]T, n)}
	w := &luWork[T]{f, make([]int32, n), make([]T, n), make([]int32, n), nil, nil, make([]int, n)}
	columns := a.Transposed()
	free := 0 // no row before it is without a pivot
	for k := range n {
		rows, values := columns.Row(int(q[k]))
		w.reach(rows, k)
		for e, i := range rows {
			w.x[i] += values[e]
		}
		w.eliminate()
		pivot := w.choose(q[k], threshold)
		if pivot < 0 {
			for w.place[free] > 0 {
				free++
			}
			pivot = int32(free)
		}
		w.keep(pivot, k)
	}
	for e, i := range f.lower.Index {
		f.lower.Index[e] = w.place[i] - 1
	}
	return f
}

func newColumns[T Number](n int) Matrix[T] {
	return Matrix[T]{Pattern: Pattern{n, n, make([]int, 1, n+1), nil}}
}

// reach lists what a column will have: its own rows, and all that columns of L lead to from those that are pivots.
func (w *luWork[T]) reach(rows []int32, k int) {
	w.order = w.order[:0]
	mark := int32(k) + 1
	for _, start := range rows {
		if w.seen[start] == mark {
			continue
		}
		w.seen[start] = mark
		w.at[start] = 0
		w.stack = append(w.stack[:0], start)
		for len(w.stack) > 0 {
			i := w.stack[len(w.stack)-1]
			below := w.below(i)
			for w.at[i] < len(below) && w.seen[below[w.at[i]]] == mark {
				w.at[i]++
			}
			if w.at[i] == len(below) {
				w.order = append(w.order, i)
				w.stack = w.stack[:len(w.stack)-1]
				continue
			}
			next := below[w.at[i]]
			w.seen[next], w.at[next] = mark, 0
			w.stack = append(w.stack, next)
		}
	}
}

// below has A's rows that the column of L of a pivot changes.
func (w *luWork[T]) below(i int32) []int32 {
	if w.place[i] == 0 {
		return nil
	}
	return w.lower.Pattern.Row(int(w.place[i]) - 1)
}

// eliminate solves with the columns of L that there are.
func (w *luWork[T]) eliminate() {
	for e := len(w.order) - 1; e >= 0; e-- {
		i := w.order[e]
		if w.place[i] == 0 {
			continue
		}
		s := w.x[i]
		rows, values := w.lower.Row(int(w.place[i]) - 1)
		for c, r := range rows {
			w.x[r] -= values[c] * s
		}
	}
}

// choose finds the pivot of a column whose diagonal is in a row of A; -1 if all is zero.
func (w *luWork[T]) choose(diagonal int32, threshold float64) int32 {
	pivot, most, middle := int32(-1), 0.0, -1.0
	for _, i := range w.order {
		if w.place[i] > 0 {
			continue
		}
		v := abs(w.x[i])
		if !(v <= most) {
			pivot, most = i, v
		}
		if i == diagonal {
			middle = v
		}
	}
	if pivot >= 0 && middle >= threshold*most {
		return diagonal
	}
	return pivot
}

// keep stores a column and clears it. A column of zeros has a pivot of zero and changes nothing.
func (w *luWork[T]) keep(pivot int32, k int) {
	d := w.x[pivot]
	w.pivots[k], w.P[k], w.place[pivot] = d, pivot, int32(k)+1
	for _, i := range w.order {
		v := w.x[i]
		w.x[i] = 0
		switch p := int(w.place[i]) - 1; {
		case p == k:
		case p >= 0:
			w.upper.Index, w.upper.Value = append(w.upper.Index, int32(p)), append(w.upper.Value, v)
		default:
			if d != 0 {
				v /= d
			}
			w.lower.Index, w.lower.Value = append(w.lower.Index, i), append(w.lower.Value, v)
		}
	}
	w.lower.From, w.upper.From = append(w.lower.From, len(w.lower.Index)), append(w.upper.From, len(w.upper.Index))
}

// Singular is the first pivot that is not larger than tol, or -1.
func (f *LU[T]) Singular(tol float64) int {
	for k, v := range f.pivots {
		if abs(v) <= tol {
			return k
		}
	}
	return -1
}

// Pivots is the diagonal of U.
func (f *LU[T]) Pivots() []T { return f.pivots }

// Solve is A x = b.
func (f *LU[T]) Solve(b []T) []T {
	y := make([]T, len(b))
	for k, i := range f.P {
		y[k] = b[i]
	}
	for k := range y {
		rows, values := f.lower.Row(k)
		for e, i := range rows {
			y[i] -= values[e] * y[k]
		}
	}
	for k := len(y) - 1; k >= 0; k-- {
		y[k] /= f.pivots[k]
		rows, values := f.upper.Row(k)
		for e, i := range rows {
			y[i] -= values[e] * y[k]
		}
	}
	x := make([]T, len(b))
	for k, j := range f.Q {
		x[j] = y[k]
	}
	return x
}

// Factors are L without its diagonal of ones, and U, by rows.
func (f *LU[T]) Factors() (lower, upper *Matrix[T]) {
	u := newColumns[T](len(f.P))
	for k, d := range f.pivots {
		rows, values := f.upper.Row(k)
		u.Index, u.Value = append(append(u.Index, rows...), int32(k)), append(append(u.Value, values...), d)
		u.From = append(u.From, len(u.Index))
	}
	return f.lower.Transposed(), u.Transposed()
}

// Counts are the elements of the two.
func (f *LU[T]) Counts() (lower, upper int) {
	return len(f.lower.Index), len(f.upper.Index) + len(f.pivots)
}
