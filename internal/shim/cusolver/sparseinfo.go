package cusolver

import (
	"slices"

	"kudzu/internal/handle"
	"kudzu/internal/hostmem"
	"kudzu/internal/lockrank"
	"kudzu/internal/shim/cusolver/direct"
	"kudzu/internal/spec/solver"
)

// cuSolverSp's factorizations in steps: analysis, sizes, factors, their pivots, solutions. An info keeps what a step leaves to the next.

// spInfo is an info of one kind of factorization.
type spInfo struct {
	mu      lockrank.Mutex[lockrank.SolverFactors]
	by      spMethod
	at      place
	pattern direct.Pattern // guarded by mu, as all that follows: of the matrix that was analyzed, with its rows in order
	fill    direct.Pattern // of its factor; LU's depends on values
	e       Elem
	matrix  any // *direct.Matrix of a type, that QR is to factor
	factors any // factors of a type
}

var spInfos = handle.NewTable[spInfo](handle.CusolverSparseInfo, "cuSOLVER infos of sparse factorizations")

func newInfo(by spMethod, at place) (uint64, error) {
	v := spInfos.New(&spInfo{by: by, at: at})
	if v == 0 {
		return 0, allocFailed
	}
	return uint64(v), nil
}

// dropInfo ends an info; none is no mistake.
func dropInfo(h uint64, by spMethod, at place) error {
	if h == 0 {
		return nil
	}
	if x := spInfos.Get(handle.Value(h)); x == nil || x.by != by || x.at != at || spInfos.Delete(handle.Value(h)) == nil {
		return invalidValue
	}
	return nil
}

// spStep is a call for an info.
type spStep struct {
	h    SpHandle
	info uint64
	by   spMethod
	at   place
	e    Elem
}

// do runs a step.
func (t *Thread) do(s spStep, f func(x *spInfo) error) error {
	if err := t.begin(s.h, s.at); err != nil {
		return err
	}
	x := spInfos.Get(handle.Value(s.info))
	if x == nil || x.by != s.by || x.at != s.at {
		return invalidValue
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return f(x)
}

// analysis keeps the pattern of a matrix, and finds that of its factor.
func (t *Thread) analysis(s spStep, a *spMatrix) error {
	return t.do(s, func(x *spInfo) error {
		p, err := a.pattern(t)
		if err != nil {
			return err
		}
		m := inOrder(p, make([]float64, len(p.Index)))
		x.pattern, x.fill, x.matrix, x.factors = m.Pattern, direct.Pattern{}, nil, nil
		switch s.by {
		case byQR:
			x.fill = direct.QRPattern(m.Pattern)
		case byCholesky:
			x.fill = direct.CholeskyPattern(m.Pattern)
		case byLU:
		}
		return nil
	})
}

// sizes says what a factorization needs. Nothing of it is used: factors are memory of ours.
func (t *Thread) sizes(s spStep, a *spMatrix, batch int64, internal, workspace hostmem.Ptr) error {
	return t.do(s, func(x *spInfo) error {
		if batch < 1 {
			return invalidValue
		}
		if x.pattern.Rows != int(a.rows) || x.pattern.Cols != int(a.columns) || len(x.pattern.Index) != int(a.nnz) {
			return invalidValue
		}
		kept := (len(x.fill.Index) + len(x.pattern.Index)) * (s.e.Size() + 4) * int(batch)
		return answers(internal, uint64(kept), workspace, uint64(spWorkspace))
	})
}

// same reads a matrix of the pattern that was analyzed.
func same[T direct.Number](t *Thread, x *spInfo, a *spMatrix) (*direct.Matrix[T], error) {
	if x.pattern.Rows == 0 {
		return nil, invalidValue
	}
	m, err := readMatrix[T](t, a)
	if err != nil {
		return nil, err
	}
	if m.Cols != x.pattern.Cols || !slices.Equal(m.From, x.pattern.From) || !slices.Equal(m.Index, x.pattern.Index) {
		return nil, invalidValue
	}
	return m, nil
}

// factorStep factors a matrix, or the one that QR's setup left. The diagonal is LU's pivot if it is as large as threshold says.
func factorStep[T direct.Number](t *Thread, x *spInfo, a *spMatrix, threshold float64) error {
	x.factors = nil
	var m *direct.Matrix[T]
	var err error
	if x.by == byQR {
		if kept, ok := x.matrix.(*direct.Matrix[T]); ok {
			m = kept
		} else {
			return invalidValue
		}
	} else if m, err = same[T](t, x, a); err != nil {
		return err
	}
	x.e = a.e
	switch x.by {
	case byLU:
		x.factors = direct.FactorLU(m, direct.Identity(m.Rows), threshold)
	case byQR:
		x.factors = direct.FactorQR(m, x.fill)
	case byCholesky:
		x.factors = direct.FactorCholesky(m, x.fill)
	}
	return nil
}

func (t *Thread) factorSparse(s spStep, a *spMatrix, threshold float64) error {
	return t.do(s, func(x *spInfo) error {
		if isComplex(s.e) {
			return factorStep[complex128](t, x, a, threshold)
		}
		return factorStep[float64](t, x, a, threshold)
	})
}

// factored gives the factors of a step's type.
func factored[F any](x *spInfo, e Elem) (f F, err error) {
	f, ok := x.factors.(F)
	if !ok || x.e != e {
		return f, invalidValue
	}
	return f, nil
}

// pivot says the first pivot that is not larger than tol, -1 if there is none.
func (t *Thread) pivot(s spStep, tol float64, position hostmem.Ptr) error {
	return t.do(s, func(x *spInfo) error {
		f, err := factored[interface{ Singular(float64) int }](x, s.e)
		if err != nil {
			return err
		}
		return answer(position, int32(f.Singular(tol)))
	})
}

// solveStep writes the solution for a right-hand side.
func solveStep[T direct.Number](t *Thread, x *spInfo, b, to hostmem.Ptr) error {
	f, err := factored[factors[T]](x, x.e)
	if err != nil {
		return err
	}
	if c, ok := x.factors.(*direct.Cholesky[T]); ok && c.Bad >= 0 {
		return invalidValue
	}
	right, err := readNumbers[T](t, b, x.pattern.Rows, x.e)
	if err != nil {
		return err
	}
	return writeNumbers(t, to, f.Solve(right), x.e)
}

func (t *Thread) solveSparse(s spStep, m, n int64, b, to hostmem.Ptr) error {
	return t.do(s, func(x *spInfo) error {
		if x.factors == nil || x.e != s.e || int(m) != x.pattern.Rows || int(n) != x.pattern.Cols {
			return invalidValue
		}
		if isComplex(s.e) {
			return solveStep[complex128](t, x, b, to)
		}
		return solveStep[float64](t, x, b, to)
	})
}

// SpCreateCsrluInfoHost makes an info for LU.
func (t *Thread) SpCreateCsrluInfoHost() (uint64, error) { return newInfo(byLU, onHost) }

// SpDestroyCsrluInfoHost ends it.
func (t *Thread) SpDestroyCsrluInfoHost(info solver.CsrluInfoHost_t) error {
	return dropInfo(uint64(info), byLU, onHost)
}

func luStep(h SpHandle, info solver.CsrluInfoHost_t, e Elem) spStep {
	return spStep{h, uint64(info), byLU, onHost, e}
}

// SpXcsrluAnalysisHost keeps the pattern of a matrix.
func (t *Thread) SpXcsrluAnalysisHost(h SpHandle, n, nnz int64, d Descr, from, index hostmem.Ptr, info solver.CsrluInfoHost_t) error {
	return t.analysis(luStep(h, info, F64), &spMatrix{rows: n, columns: n, nnz: nnz, descr: d, from: from, index: index})
}

// SpCsrluBufferInfoHost says sizes.
func (t *Thread) SpCsrluBufferInfoHost(h SpHandle, n, nnz int64, d Descr, values, from, index hostmem.Ptr, info solver.CsrluInfoHost_t, internal, workspace hostmem.Ptr, e Elem) error {
	return t.sizes(luStep(h, info, e), &spMatrix{n, n, nnz, d, values, from, index, e}, 1, internal, workspace)
}

// SpCsrluFactorHost factors a matrix. A threshold of 1 takes the largest pivots.
func (t *Thread) SpCsrluFactorHost(h SpHandle, n, nnz int64, d Descr, values, from, index hostmem.Ptr, info solver.CsrluInfoHost_t, threshold float64, _ hostmem.Ptr, e Elem) error {
	return t.factorSparse(luStep(h, info, e), &spMatrix{n, n, nnz, d, values, from, index, e}, threshold)
}

// SpCsrluZeroPivotHost says the first pivot that is zero, to tol.
func (t *Thread) SpCsrluZeroPivotHost(h SpHandle, info solver.CsrluInfoHost_t, tol float64, position hostmem.Ptr, e Elem) error {
	return t.pivot(luStep(h, info, e), tol, position)
}

// SpCsrluSolveHost solves with the factors.
func (t *Thread) SpCsrluSolveHost(h SpHandle, n int64, b, x hostmem.Ptr, info solver.CsrluInfoHost_t, _ hostmem.Ptr, e Elem) error {
	return t.solveSparse(luStep(h, info, e), n, n, b, x)
}

// SpXcsrluNnzHost says the numbers of elements of L, without its diagonal, and U.
func (t *Thread) SpXcsrluNnzHost(h SpHandle, lower, upper hostmem.Ptr, info solver.CsrluInfoHost_t) error {
	return t.do(luStep(h, info, F64), func(x *spInfo) error {
		f, err := factored[interface{ Counts() (int, int) }](x, x.e)
		if err != nil {
			return err
		}
		l, u := f.Counts()
		return answers(lower, int32(l), upper, int32(u))
	})
}

// spPart is a factor as calls have it.
type spPart struct {
	descr               Descr
	values, from, index hostmem.Ptr
}

// SpCsrluExtractHost gives L without its diagonal of ones, U, and the permutations: (i, j) of L U is (P[i], Q[j]) of A.
func (t *Thread) SpCsrluExtractHost(h SpHandle, p, q hostmem.Ptr, descrL Descr, valuesL, fromL, indexL hostmem.Ptr, descrU Descr, valuesU, fromU, indexU hostmem.Ptr, info solver.CsrluInfoHost_t, _ hostmem.Ptr, e Elem) error {
	return t.do(luStep(h, info, e), func(x *spInfo) error {
		l, u := spPart{descrL, valuesL, fromL, indexL}, spPart{descrU, valuesU, fromU, indexU}
		if isComplex(e) {
			return extract[complex128](t, x, e, [2]hostmem.Ptr{p, q}, [2]spPart{l, u})
		}
		return extract[float64](t, x, e, [2]hostmem.Ptr{p, q}, [2]spPart{l, u})
	})
}

func extract[T direct.Number](t *Thread, x *spInfo, e Elem, orders [2]hostmem.Ptr, to [2]spPart) error {
	f, err := factored[*direct.LU[T]](x, e)
	if err != nil {
		return err
	}
	for i, p := range [][]int32{f.P, f.Q} {
		if err := store(t, orders[i], p, 4); err != nil {
			return err
		}
	}
	lower, upper := f.Factors()
	for i, m := range []*direct.Matrix[T]{lower, upper} {
		if err := t.writePattern(m.Pattern, to[i].descr, to[i].from, to[i].index); err != nil {
			return err
		}
		if err := writeNumbers(t, to[i].values, m.Value, e); err != nil {
			return err
		}
	}
	return nil
}
