package direct

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"testing"
)

// kit makes matrices of one type.
type kit[T Number] struct {
	t   *testing.T
	rng *rand.Rand
}

func onBoth(t *testing.T, real func(k kit[float64]), complex func(k kit[complex128])) {
	t.Run("real", func(t *testing.T) { real(kit[float64]{t, rand.New(rand.NewPCG(1, 2))}) })
	t.Run("complex", func(t *testing.T) { complex(kit[complex128]{t, rand.New(rand.NewPCG(3, 4))}) })
}

func (k kit[T]) number() T {
	var v T
	switch p := any(&v).(type) {
	case *float64:
		*p = 2*k.rng.Float64() - 1
	case *complex128:
		*p = complex(2*k.rng.Float64()-1, 2*k.rng.Float64()-1)
	}
	return v
}

func (k kit[T]) vector(n int) []T {
	v := make([]T, n)
	for i := range v {
		v[i] = k.number()
	}
	return v
}

// random has about `each` elements a row, and a diagonal that may be small.
func (k kit[T]) random(m, n, each int) *Matrix[T] {
	a := &Matrix[T]{Pattern: Pattern{m, n, []int{0}, nil}}
	for i := range m {
		row := map[int32]bool{}
		if i < n {
			row[int32(i)] = true
		}
		for range each {
			row[int32(k.rng.IntN(n))] = true
		}
		columns := []int32{}
		for j := range row {
			columns = append(columns, j)
		}
		slices.Sort(columns)
		for _, j := range columns {
			a.Index, a.Value = append(a.Index, j), append(a.Value, k.number())
		}
		a.From = append(a.From, len(a.Index))
	}
	return a
}

// grid is the five-point operator, Hermitian and positive definite.
func (k kit[T]) grid(side int) *Matrix[T] {
	n := side * side
	values := make([]map[int]T, n)
	for i := range n {
		values[i] = map[int]T{}
	}
	for i := range n {
		values[i][i] = of[T](9)
		for _, j := range []int{i + 1, i + side} {
			if j < n && (j != i+1 || j%side != 0) {
				v := k.number()
				values[i][j], values[j][i] = v, conj(v)
			}
		}
	}
	return k.of(values, n)
}

func (k kit[T]) of(values []map[int]T, n int) *Matrix[T] {
	a := &Matrix[T]{Pattern: Pattern{len(values), n, []int{0}, nil}}
	for _, row := range values {
		for j := range n {
			if v, ok := row[j]; ok {
				a.Index, a.Value = append(a.Index, int32(j)), append(a.Value, v)
			}
		}
		a.From = append(a.From, len(a.Index))
	}
	return a
}

// dense is the matrix as a table.
func (a *Matrix[T]) dense() [][]T {
	d := make([][]T, a.Rows)
	for i := range d {
		d[i] = make([]T, a.Cols)
		columns, values := a.Row(i)
		for e, j := range columns {
			d[i][j] += values[e]
		}
	}
	return d
}

// size is the largest sum of a row.
func (a *Matrix[T]) size() (most float64) {
	for i := range a.Rows {
		sum := 0.0
		_, values := a.Row(i)
		for _, v := range values {
			sum += abs(v)
		}
		most = max(most, sum)
	}
	return most
}

// residual is |A x - b| by the sizes of all three.
func residual[T Number](a *Matrix[T], x, b []T) float64 {
	r := a.Times(x)
	for i := range r {
		r[i] -= b[i]
	}
	return Norm(r) / (a.size()*Norm(x) + Norm(b))
}

func (k kit[T]) small(v float64, what string) {
	k.t.Helper()
	if !(v < 1e-13) {
		k.t.Errorf("%s: %g", what, v)
	}
}

func orders(p Pattern) map[string][]int32 {
	return map[string][]int32{
		"none": Identity(p.Rows), "Cuthill-McKee": ReverseCuthillMcKee(p), "degree": MinimumDegree(p, false), "bounded degree": MinimumDegree(p, true),
		"dissection": NestedDissection(p),
	}
}

// isOrder checks a permutation.
func isOrder(t *testing.T, p []int32, n int, what string) {
	t.Helper()
	if q := slices.Sorted(slices.Values(p)); !slices.Equal(q, Identity(n)) {
		t.Fatalf("%s is no permutation of %d: %v", what, n, p)
	}
}

func testSolve[T Number](k kit[T]) {
	for _, n := range []int{1, 2, 7, 60, 300} {
		a := k.random(n, n, 3)
		b := k.vector(n)
		for name, p := range orders(a.Pattern) {
			isOrder(k.t, p, n, name)
			f := FactorLU(a, p, 1)
			k.small(residual(a, f.Solve(b), b), "LU, "+name)
			k.factors(a, f)
			c := a.Permuted(p, p)
			q := FactorQR(c, QRPattern(c.Pattern))
			k.small(residual(c, q.Solve(b), b), "QR, "+name)
			if q.Singular(0) != -1 || f.Singular(0) != -1 {
				k.t.Errorf("%s: a singular matrix", name)
			}
		}
	}
}

// factors compares L U with A.
func (k kit[T]) factors(a *Matrix[T], f *LU[T]) {
	k.t.Helper()
	isOrder(k.t, f.P, a.Rows, "rows")
	l, u := f.Factors()
	nl, nu := f.Counts()
	if nl != len(l.Index) || nu != len(u.Index) {
		k.t.Errorf("%d and %d elements, not %d and %d", len(l.Index), len(u.Index), nl, nu)
	}
	want := a.Permuted(f.P, f.Q).dense()
	upper := u.dense()
	for i := range a.Rows {
		sum := slices.Clone(upper[i])
		columns, values := l.Row(i)
		for e, j := range columns {
			if int(j) >= i {
				k.t.Fatal("L is not strictly lower")
			}
			for c, v := range upper[j] {
				sum[c] += values[e] * v
			}
		}
		for c := range sum {
			if abs(sum[c]-want[i][c]) > 1e-11 {
				k.t.Fatalf("L U differs from A at %d, %d: %v, not %v", i, c, sum[c], want[i][c])
			}
		}
	}
}

func TestSolve(t *testing.T) { onBoth(t, testSolve[float64], testSolve[complex128]) }

func testCholesky[T Number](k kit[T]) {
	a := k.grid(18)
	b := k.vector(a.Rows)
	for name, p := range orders(a.Pattern) {
		c := a.Permuted(p, p)
		f := FactorCholesky(c, CholeskyPattern(c.Pattern))
		if f.Bad != -1 || f.Singular(1) != -1 {
			k.t.Fatalf("%s: column %d", name, f.Bad)
		}
		k.small(residual(c, f.Solve(b), b), name)
		for e := range c.Pattern.Rows { // the upper part does not count
			columns, values := c.Row(e)
			for i, j := range columns {
				if int(j) > e {
					values[i] = of[T](math.NaN())
				}
			}
		}
		g := FactorCholesky(c, CholeskyPattern(c.Pattern))
		if !slices.Equal(f.Diagonal(), g.Diagonal()) {
			k.t.Errorf("%s: the upper part counts", name)
		}
	}
	at, _ := slices.BinarySearch(a.Index[a.From[5]:a.From[6]], 5)
	a.Value[a.From[5]+at] = of[T](-1)
	f := FactorCholesky(a, CholeskyPattern(a.Pattern))
	if f.Bad != 5 || f.Singular(0) != 5 {
		k.t.Errorf("not definite at 5: %d, %d", f.Bad, f.Singular(0))
	}
}

func TestCholesky(t *testing.T) { onBoth(t, testCholesky[float64], testCholesky[complex128]) }

// fill is the elements of a factor.
func fill[T Number](a *Matrix[T], p []int32) int {
	return len(CholeskyPattern(a.Permuted(p, p).Pattern).Index)
}

// TestFill: orders are there for fewer elements.
func TestFill(t *testing.T) {
	k := kit[float64]{t, rand.New(rand.NewPCG(5, 6))}
	a := k.grid(40)
	mix := Identity(a.Rows)
	k.rng.Shuffle(len(mix), func(i, j int) { mix[i], mix[j] = mix[j], mix[i] })
	a = a.Permuted(mix, mix)
	band := fill(a, ReverseCuthillMcKee(a.Pattern))
	natural := 40 * a.Rows
	if band > natural*11/10 {
		t.Errorf("Cuthill-McKee: %d elements, a band has %d", band, natural)
	}
	for name, p := range orders(a.Pattern) {
		n := fill(a, p)
		t.Logf("%s: %d", name, n)
		if name != "none" && name != "Cuthill-McKee" && n > band*2/3 {
			t.Errorf("%s: %d elements, Cuthill-McKee has %d", name, n, band)
		}
	}
}

// TestParts: graphs of several components, and of vertices alone.
func TestParts(t *testing.T) {
	k := kit[float64]{t, rand.New(rand.NewPCG(7, 8))}
	values := make([]map[int]float64, 700)
	for i := range values {
		values[i] = map[int]float64{i: 4}
		if i%7 != 0 && i < 500 {
			values[i][i-1] = 1
		}
	}
	for name, p := range orders(k.of(values, 700).Pattern) {
		isOrder(t, p, 700, name)
	}
	for _, n := range []int{1, 2, 3} {
		for name, p := range orders(k.random(n, n, n).Pattern) {
			isOrder(t, p, n, name)
		}
	}
}

func testSingular[T Number](k kit[T]) {
	a := k.random(50, 50, 3)
	for i := range a.Rows { // column 20 depends on column 19
		columns, values := a.Row(i)
		for e, j := range columns {
			if j == 20 || j == 19 {
				values[e] = 0
			}
		}
	}
	if got := FactorLU(a, Identity(50), 1).Singular(0); got != 19 {
		k.t.Errorf("LU: singular at %d", got)
	}
	if got := FactorQR(a, QRPattern(a.Pattern)).Singular(0); got != 19 {
		k.t.Errorf("QR: singular at %d", got)
	}
	k.factors(a, FactorLU(a, Identity(50), 1))
}

func TestSingular(t *testing.T) { onBoth(t, testSingular[float64], testSingular[complex128]) }

func testLeast[T Number](k kit[T]) {
	for _, c := range []struct{ m, n, double int }{{40, 25, 0}, {40, 25, 4}, {25, 25, 3}, {12, 20, 0}, {30, 1, 0}} {
		a := k.random(c.m, c.n, 4)
		rank := min(c.m, c.n)
		if c.double > 0 { // the last columns are sums of others
			d := a.dense()
			rows := make([]map[int]T, c.m)
			for i := range d {
				for j := range c.double {
					d[i][c.n-1-j] = d[i][j] + of[T](2)*d[i][j+1]
				}
				rows[i] = map[int]T{}
				for j, v := range d[i] {
					if v != 0 {
						rows[i][j] = v
					}
				}
			}
			a, rank = k.of(rows, c.n), c.n-c.double
		}
		b := k.vector(c.m)
		l := LeastSquares(a, b, 1e-10)
		isOrder(k.t, l.Order, c.n, "columns")
		if l.Rank != rank {
			k.t.Errorf("%v: rank %d, not %d", c, l.Rank, rank)
			continue
		}
		for _, j := range l.Order[l.Rank:] {
			if l.X[j] != 0 {
				k.t.Errorf("%v: unknown %d is %v", c, j, l.X[j])
			}
		}
		r := a.Times(l.X)
		for i := range r {
			r[i] -= b[i]
		}
		if d := math.Abs(Norm(r) - l.Rest); d > 1e-11*(1+Norm(r)) {
			k.t.Errorf("%v: rest %g, not %g", c, l.Rest, Norm(r))
		}
		t := a.Transposed() // the residual is orthogonal to the columns
		for j := range t.Rows {
			columns, values := t.Row(j)
			var sum T
			for e, i := range columns {
				sum += conj(values[e]) * r[i]
			}
			if abs(sum) > 1e-11*(1+a.size()*Norm(l.X)) {
				k.t.Errorf("%v: column %d and the residual: %v", c, j, sum)
			}
		}
	}
}

func TestLeast(t *testing.T) { onBoth(t, testLeast[float64], testLeast[complex128]) }

// TestThreshold: the diagonal stays where it is large enough.
func TestThreshold(t *testing.T) {
	k := kit[float64]{t, rand.New(rand.NewPCG(9, 1))}
	a := k.random(80, 80, 3)
	for i := range a.Rows {
		at, _ := slices.BinarySearch(a.Pattern.Row(i), int32(i))
		a.Value[a.From[i]+at] = 0.5
	}
	stay := func(threshold float64) (n int) {
		for i, r := range FactorLU(a, Identity(80), threshold).P {
			if int(r) == i {
				n++
			}
		}
		return n
	}
	if few, many := stay(1), stay(0.01); many <= few {
		t.Errorf("%d and %d rows stay", few, many)
	}
}

func TestTransversal(t *testing.T) {
	k := kit[float64]{t, rand.New(rand.NewPCG(2, 9))}
	a := k.random(100, 100, 2)
	mix := Identity(100)
	k.rng.Shuffle(100, func(i, j int) { mix[i], mix[j] = mix[j], mix[i] })
	a = a.Permuted(mix, Identity(100))
	all := func(int) bool { return true }
	p, n := Transversal(a.Pattern, all)
	isOrder(t, p, 100, "rows")
	if n != 100 {
		t.Errorf("%d of 100", n)
	}
	for i, r := range p {
		if _, ok := slices.BinarySearch(a.Pattern.Row(int(r)), int32(i)); !ok {
			t.Errorf("row %d has nothing in column %d", r, i)
		}
	}
	p, n = Transversal(a.Pattern, func(k int) bool { return a.Index[k] != 7 })
	isOrder(t, p, 100, "rows")
	if n != 99 {
		t.Errorf("%d of 99", n)
	}
}

// TestCount compares with a matrix whose eigenvalues are known: they are those of its blocks on the diagonal.
func TestCount(t *testing.T) {
	k := kit[complex128]{t, rand.New(rand.NewPCG(4, 4))}
	const n = 60
	rows := make([]map[int]complex128, n)
	var known []complex128
	for i := range n {
		v := 4 * k.number()
		known = append(known, v)
		rows[i] = map[int]complex128{i: v}
		for range 3 {
			if j := i + 1 + k.rng.IntN(n); j < n {
				rows[i][j] = k.number()
			}
		}
	}
	mix := Identity(n)
	k.rng.Shuffle(n, func(i, j int) { mix[i], mix[j] = mix[j], mix[i] })
	a := k.of(rows, n).Permuted(mix, mix)
	for range 6 {
		low, high := 5*k.number(), 5*k.number()
		low, high = complex(min(real(low), real(high)), min(imag(low), imag(high))), complex(max(real(low), real(high)), max(imag(low), imag(high)))
		want := 0
		for _, v := range known {
			if real(v) > real(low) && real(v) < real(high) && imag(v) > imag(low) && imag(v) < imag(high) {
				want++
			}
		}
		if got := Count(a, low, high); got != want {
			t.Errorf("%d eigenvalues from %v to %v, not %d", got, low, high, want)
		}
	}
	if got := Count(a, complex(-9, -9), complex(9, 9)); got != n {
		t.Errorf("%d of all %d", got, n)
	}
}

// TestNearest: eigenvalues of a chain are known.
func TestNearest(t *testing.T) {
	k := kit[float64]{t, rand.New(rand.NewPCG(4, 5))}
	const n = 50
	rows := make([]map[int]float64, n)
	for i := range rows {
		rows[i] = map[int]float64{i: 2, i - 1: -1, i + 1: -1}
	}
	a := k.of(rows, n)
	for _, j := range []int{1, 17, 50} {
		want := 2 - 2*math.Cos(float64(j)*math.Pi/(n+1))
		value, x := Nearest(a, want+1e-5, k.vector(n), 50, 1e-12)
		if math.Abs(value-want) > 1e-11 || math.Abs(Norm(x)-1) > 1e-12 {
			t.Errorf("eigenvalue %v, not %v", value, want)
		}
		if value, _ = Nearest(a, want, k.vector(n), 50, 1e-12); math.Abs(value-want) > 1e-11 {
			t.Errorf("from itself: eigenvalue %v, not %v", value, want)
		}
	}
	c := &Matrix[complex128]{a.Pattern, make([]complex128, len(a.Value))}
	for i, v := range a.Value {
		c.Value[i] = complex(v, 0) * cmplx.Exp(0.3i)
	}
	kc := kit[complex128]{t, k.rng}
	want := complex(2-2*math.Cos(5*math.Pi/(n+1)), 0) * cmplx.Exp(0.3i)
	if value, _ := Nearest(c, want+1e-4, kc.vector(n), 50, 1e-12); cmplx.Abs(value-want) > 1e-11 {
		t.Errorf("eigenvalue %v, not %v", value, want)
	}
}
