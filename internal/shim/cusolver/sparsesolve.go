package cusolver

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cusolver/direct"
	"kudzu/internal/spec/rt"
)

// cuSolverSp's functions that do all in one call: linear systems, least squares, eigenvalues.

// spMethod is a way to solve a system.
type spMethod int

const (
	byLU spMethod = iota
	byQR
	byCholesky
)

// The orders that a program may ask for.
const (
	orderNone = iota
	orderRCM
	orderAMD
	orderDissection
)

// orderOf is an order for fewer elements in factors.
func orderOf(p direct.Pattern, reorder int32) ([]int32, error) {
	switch reorder {
	case orderNone:
		return direct.Identity(p.Rows), nil
	case orderRCM:
		return direct.ReverseCuthillMcKee(p), nil
	case orderAMD:
		return direct.MinimumDegree(p, true), nil
	case orderDissection:
		return direct.NestedDissection(p), nil
	}
	return nil, invalidValue
}

// factors are what is kept of a matrix.
type factors[T direct.Number] interface {
	Singular(tol float64) int
	Solve(b []T) []T
}

// factor is nil for a matrix that cannot be factored, at the column that it says.
func factor[T direct.Number](m *direct.Matrix[T], by spMethod) (f factors[T], bad int) {
	switch by {
	case byLU:
		return direct.FactorLU(m, direct.Identity(m.Rows), 1), -1
	case byQR:
		return direct.FactorQR(m, direct.QRPattern(m.Pattern)), -1
	case byCholesky:
		c := direct.FactorCholesky(m, direct.CholeskyPattern(m.Pattern))
		if c.Bad >= 0 {
			return nil, c.Bad
		}
		return c, -1
	}
	panic("BUG: no other method")
}

// spSystem is a linear system.
type spSystem struct {
	spMatrix
	by       spMethod
	tol      float64
	reorder  int32
	b, x     hostmem.Ptr
	singular hostmem.Ptr
	at       place
}

func (t *Thread) system(h SpHandle, s *spSystem) error {
	if err := t.begin(h, s.at); err != nil {
		return err
	}
	if s.singular == hostmem.Nil || s.x == hostmem.Nil {
		return invalidValue
	}
	if isComplex(s.e) {
		return solveSystem[complex128](t, s)
	}
	return solveSystem[float64](t, s)
}

// solveSystem writes x whatever the pivots are, unless there are no factors: the program decides what to do with a singular matrix.
func solveSystem[T direct.Number](t *Thread, s *spSystem) error {
	m, err := readMatrix[T](t, &s.spMatrix)
	if err != nil {
		return err
	}
	b, err := readNumbers[T](t, s.b, m.Rows, s.e)
	if err != nil {
		return err
	}
	order, err := orderOf(m.Pattern, s.reorder)
	if err != nil {
		hostmem.Store(s.singular, int32(0)) // as an H200 has it
		return err
	}
	if s.reorder != orderNone {
		m = m.Permuted(order, order)
	}
	right := make([]T, len(b))
	for i, from := range order {
		right[i] = b[from]
	}
	f, bad := factor(m, s.by)
	if f == nil {
		if s.at == onDevice {
			bad++ // counted from 1, as an H200 has it
		}
		return answer(s.singular, int32(bad))
	}
	for i, v := range f.Solve(right) {
		b[order[i]] = v
	}
	if err := writeNumbers(t, s.x, b, s.e); err != nil {
		return err
	}
	return answer(s.singular, int32(f.Singular(s.tol)))
}

// SpCsrlsvluHost solves A x = b by LU with exchanges of rows.
func (t *Thread) SpCsrlsvluHost(h SpHandle, n, nnz int64, d Descr, values, from, index, b hostmem.Ptr, tol float64, reorder int32, x, singular hostmem.Ptr, e Elem) error {
	return t.system(h, &spSystem{spMatrix{n, n, nnz, d, values, from, index, e}, byLU, tol, reorder, b, x, singular, onHost})
}

// SpCsrlsvqr solves A x = b by QR.
func (t *Thread) SpCsrlsvqr(h SpHandle, n, nnz int64, d Descr, values, from, index, b hostmem.Ptr, tol float64, reorder int32, x, singular hostmem.Ptr, e Elem) error {
	return t.system(h, &spSystem{spMatrix{n, n, nnz, d, values, from, index, e}, byQR, tol, reorder, b, x, singular, onDevice})
}

// SpCsrlsvqrHost is SpCsrlsvqr of memory of the host.
func (t *Thread) SpCsrlsvqrHost(h SpHandle, n, nnz int64, d Descr, values, from, index, b hostmem.Ptr, tol float64, reorder int32, x, singular hostmem.Ptr, e Elem) error {
	return t.system(h, &spSystem{spMatrix{n, n, nnz, d, values, from, index, e}, byQR, tol, reorder, b, x, singular, onHost})
}

// SpCsrlsvchol solves A x = b by Cholesky, of the lower part of A.
func (t *Thread) SpCsrlsvchol(h SpHandle, n, nnz int64, d Descr, values, from, index, b hostmem.Ptr, tol float64, reorder int32, x, singular hostmem.Ptr, e Elem) error {
	return t.system(h, &spSystem{spMatrix{n, n, nnz, d, values, from, index, e}, byCholesky, tol, reorder, b, x, singular, onDevice})
}

// SpCsrlsvcholHost is SpCsrlsvchol of memory of the host.
func (t *Thread) SpCsrlsvcholHost(h SpHandle, n, nnz int64, d Descr, values, from, index, b hostmem.Ptr, tol float64, reorder int32, x, singular hostmem.Ptr, e Elem) error {
	return t.system(h, &spSystem{spMatrix{n, n, nnz, d, values, from, index, e}, byCholesky, tol, reorder, b, x, singular, onHost})
}

// spLeast is a least squares problem and where its answers go.
type spLeast struct {
	spMatrix
	tol                 float64
	b, x, rank, p, norm hostmem.Ptr
}

// SpCsrlsqvqrHost minimizes |A x - b| with the columns that do not depend on others.
func (t *Thread) SpCsrlsqvqrHost(h SpHandle, m, n, nnz int64, d Descr, values, from, index, b hostmem.Ptr, tol float64, rank, x, p, norm hostmem.Ptr, e Elem) error {
	if err := t.begin(h, onHost); err != nil {
		return err
	}
	s := &spLeast{spMatrix{m, n, nnz, d, values, from, index, e}, tol, b, x, rank, p, norm}
	if isComplex(e) {
		return leastSquares[complex128](t, s)
	}
	return leastSquares[float64](t, s)
}

func leastSquares[T direct.Number](t *Thread, s *spLeast) error {
	m, err := readMatrix[T](t, &s.spMatrix)
	if err != nil {
		return err
	}
	b, err := readNumbers[T](t, s.b, m.Rows, s.e)
	if err != nil {
		return err
	}
	l := direct.LeastSquares(m, b, s.tol)
	if err := answer(s.rank, int32(l.Rank)); err != nil {
		return err
	}
	if err := writeNumbers(t, s.x, l.X, s.e); err != nil {
		return err
	}
	if err := store(t, s.p, l.Order, 4); err != nil {
		return err
	}
	return writeNumbers(t, s.norm, []float64{l.Rest}, realOf(s.e))
}

// spEigen asks for the eigenvalue next to another.
type spEigen struct {
	spMatrix
	near   complex128
	start  hostmem.Ptr
	steps  int32
	tol    float64
	mu, to hostmem.Ptr
}

func (t *Thread) eigen(h SpHandle, at place, s *spEigen) error {
	if err := t.begin(h, at); err != nil {
		return err
	}
	if isComplex(s.e) {
		return nearest[complex128](t, s)
	}
	return nearest[float64](t, s)
}

func nearest[T direct.Number](t *Thread, s *spEigen) error {
	m, err := readMatrix[T](t, &s.spMatrix)
	if err != nil {
		return err
	}
	x, err := readNumbers[T](t, s.start, m.Rows, s.e)
	if err != nil {
		return err
	}
	value, vector := direct.Nearest(m, number[T](real(s.near), imag(s.near)), x, int(s.steps), s.tol)
	if err := writeNumbers(t, s.mu, []T{value}, s.e); err != nil {
		return err
	}
	return writeNumbers(t, s.to, vector, s.e)
}

// SpCsreigvsi finds the eigenvalue next to mu0 by inverse iteration, and its vector.
func (t *Thread) SpCsreigvsi(h SpHandle, n, nnz int64, d Descr, values, from, index hostmem.Ptr, mu0 float64, x0 hostmem.Ptr, steps int32, tol float64, mu, x hostmem.Ptr, e Elem) error {
	return t.eigen(h, onDevice, &spEigen{spMatrix{n, n, nnz, d, values, from, index, e}, complex(mu0, 0), x0, steps, tol, mu, x})
}

// SpCsreigvsiC32 is SpCsreigvsi of complex matrices.
func (t *Thread) SpCsreigvsiC32(h SpHandle, n, nnz int64, d Descr, values, from, index hostmem.Ptr, mu0 rt.Float2, x0 hostmem.Ptr, steps int32, tol float64, mu, x hostmem.Ptr) error {
	return t.eigen(h, onDevice, &spEigen{spMatrix{n, n, nnz, d, values, from, index, C32}, single(mu0), x0, steps, tol, mu, x})
}

// SpCsreigvsiC64 is SpCsreigvsi of complex matrices in double precision.
func (t *Thread) SpCsreigvsiC64(h SpHandle, n, nnz int64, d Descr, values, from, index hostmem.Ptr, mu0 rt.Double2, x0 hostmem.Ptr, steps int32, tol float64, mu, x hostmem.Ptr) error {
	return t.eigen(h, onDevice, &spEigen{spMatrix{n, n, nnz, d, values, from, index, C64}, double(mu0), x0, steps, tol, mu, x})
}

// SpCsreigvsiHost is SpCsreigvsi of memory of the host.
func (t *Thread) SpCsreigvsiHost(h SpHandle, n, nnz int64, d Descr, values, from, index hostmem.Ptr, mu0 float64, x0 hostmem.Ptr, steps int32, tol float64, mu, x hostmem.Ptr, e Elem) error {
	return t.eigen(h, onHost, &spEigen{spMatrix{n, n, nnz, d, values, from, index, e}, complex(mu0, 0), x0, steps, tol, mu, x})
}

// SpCsreigvsiHostC32 is SpCsreigvsiHost of complex matrices.
func (t *Thread) SpCsreigvsiHostC32(h SpHandle, n, nnz int64, d Descr, values, from, index hostmem.Ptr, mu0 rt.Float2, x0 hostmem.Ptr, steps int32, tol float64, mu, x hostmem.Ptr) error {
	return t.eigen(h, onHost, &spEigen{spMatrix{n, n, nnz, d, values, from, index, C32}, single(mu0), x0, steps, tol, mu, x})
}

// SpCsreigvsiHostC64 is SpCsreigvsiHost of complex matrices in double precision.
func (t *Thread) SpCsreigvsiHostC64(h SpHandle, n, nnz int64, d Descr, values, from, index hostmem.Ptr, mu0 rt.Double2, x0 hostmem.Ptr, steps int32, tol float64, mu, x hostmem.Ptr) error {
	return t.eigen(h, onHost, &spEigen{spMatrix{n, n, nnz, d, values, from, index, C64}, double(mu0), x0, steps, tol, mu, x})
}

func single(v rt.Float2) complex128  { return complex(float64(v.X), float64(v.Y)) }
func double(v rt.Double2) complex128 { return complex(v.X, v.Y) }

// SpCsreigsHost32 counts the eigenvalues in a box.
func (t *Thread) SpCsreigsHost32(h SpHandle, n, nnz int64, d Descr, values, from, index hostmem.Ptr, low, high rt.Float2, count hostmem.Ptr, e Elem) error {
	return t.countEigenvalues(h, &spMatrix{n, n, nnz, d, values, from, index, e}, single(low), single(high), count)
}

// SpCsreigsHost64 is SpCsreigsHost32 in double precision.
func (t *Thread) SpCsreigsHost64(h SpHandle, n, nnz int64, d Descr, values, from, index hostmem.Ptr, low, high rt.Double2, count hostmem.Ptr, e Elem) error {
	return t.countEigenvalues(h, &spMatrix{n, n, nnz, d, values, from, index, e}, double(low), double(high), count)
}

func (t *Thread) countEigenvalues(h SpHandle, a *spMatrix, low, high complex128, count hostmem.Ptr) error {
	if err := t.begin(h, onHost); err != nil {
		return err
	}
	if !(real(low) < real(high)) || !(imag(low) < imag(high)) {
		return invalidValue
	}
	m, err := readMatrix[complex128](t, a)
	if err != nil {
		return err
	}
	return answer(count, int32(direct.Count(m, low, high)))
}
