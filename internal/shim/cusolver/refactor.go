package cusolver

import (
	"slices"

	"kudzu/internal/cudart"
	"kudzu/internal/driver"
	"kudzu/internal/handle"
	"kudzu/internal/hostmem"
	"kudzu/internal/lockrank"
	"kudzu/internal/spec/solver"
)

// cuSolverRf: matrices of one pattern are factored again and again, with the pivots and the fill of a first factorization. A call
// reads what it needs from the device, computes on the host and writes back; there is no stream to order it in. By rows, and with
// the ones on L's diagonal.

// RfHandle is cuSOLVER's name for one.
type RfHandle = solver.CusolverRfHandle_t

// refactor is what cusolverRfCreate gives.
type refactor struct {
	mu          lockrank.Mutex[lockrank.SolverFactors]
	format      solver.CusolverRfMatrixFormat_t // guarded by mu, as all that follows
	diag        solver.CusolverRfUnitDiagonal_t
	zero, boost float64
	boosted     bool
	factors     solver.CusolverRfFactorization_t
	solves      solver.CusolverRfTriangularSolve_t
	fast        solver.CusolverRfResetValuesFastMode_t
	n           int
	from        []int32 // of L + U: where rows begin
	columns     []int32
	middle      []int32 // where the diagonal is
	all         []rfValues
	many        bool
	analyzed    bool
	shared      [3]driver.DevPtr // what AccessBundledFactorsDevice gave
}

// rfValues are those of one matrix.
type rfValues struct {
	v        []float64
	factored bool
	bad      int32 // the pivot that is zero, from 0
}

var refactors = handle.NewTable[refactor](handle.CusolverRefactorization, "cuSOLVER refactorizations")

// RfCreate makes one, which knows no matrix.
func (t *Thread) RfCreate() (uint64, error) {
	if err := cudart.Ready(t.driver()); err != nil {
		return 0, notInitialized
	}
	v := refactors.New(&refactor{solves: solver.CUSOLVERRF_TRIANGULAR_SOLVE_ALG1})
	if v == 0 {
		return 0, allocFailed
	}
	return uint64(v), nil
}

// RfDestroy ends it.
func (t *Thread) RfDestroy(h RfHandle) error {
	x := refactors.Delete(handle.Value(h))
	if x == nil {
		return notInitialized
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, at := range x.shared {
		if at != 0 {
			_ = t.driver().GiveMemory(at)
		}
	}
	return nil
}

// rf does something with a live handle.
func rf(h RfHandle, f func(x *refactor) error) error {
	x := refactors.Get(handle.Value(h))
	if x == nil {
		return notInitialized
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return f(x)
}

// answer writes what a call asks for.
func answer[T any](p hostmem.Ptr, v T) error {
	if p == hostmem.Nil {
		return invalidValue
	}
	hostmem.Store(p, v)
	return nil
}

// answers writes two, or neither.
func answers[T any](p hostmem.Ptr, a T, q hostmem.Ptr, b T) error {
	if q == hostmem.Nil {
		return invalidValue
	}
	if err := answer(p, a); err != nil {
		return err
	}
	return answer(q, b)
}

// RfSetMatrixFormat says how matrices are stored.
func (t *Thread) RfSetMatrixFormat(h RfHandle, format solver.CusolverRfMatrixFormat_t, diag solver.CusolverRfUnitDiagonal_t) error {
	return rf(h, func(x *refactor) error {
		if format > solver.CUSOLVERRF_MATRIX_FORMAT_CSC || diag > solver.CUSOLVERRF_UNIT_DIAGONAL_ASSUMED_U {
			return invalidValue
		}
		x.format, x.diag = format, diag
		return nil
	})
}

// RfGetMatrixFormat is what was said.
func (t *Thread) RfGetMatrixFormat(h RfHandle, format, diag hostmem.Ptr) error {
	return rf(h, func(x *refactor) error { return answers(format, uint32(x.format), diag, uint32(x.diag)) })
}

// RfSetNumericProperties says which pivots count as zero, and what takes their place.
func (t *Thread) RfSetNumericProperties(h RfHandle, zero, boost float64) error {
	return rf(h, func(x *refactor) error {
		x.zero, x.boost = zero, boost
		return nil
	})
}

// RfGetNumericProperties is what was said.
func (t *Thread) RfGetNumericProperties(h RfHandle, zero, boost hostmem.Ptr) error {
	return rf(h, func(x *refactor) error { return answers(zero, x.zero, boost, x.boost) })
}

// RfGetNumericBoostReport says whether a pivot was replaced.
func (t *Thread) RfGetNumericBoostReport(h RfHandle, report hostmem.Ptr) error {
	return rf(h, func(x *refactor) error { return answer(report, flag(x.boosted)) })
}

// RfSetAlgs is kept: there is one algorithm.
func (t *Thread) RfSetAlgs(h RfHandle, factors solver.CusolverRfFactorization_t, solves solver.CusolverRfTriangularSolve_t) error {
	return rf(h, func(x *refactor) error {
		x.factors, x.solves = factors, solves
		return nil
	})
}

// RfGetAlgs is what was said.
func (t *Thread) RfGetAlgs(h RfHandle, factors, solves hostmem.Ptr) error {
	return rf(h, func(x *refactor) error { return answers(factors, uint32(x.factors), solves, uint32(x.solves)) })
}

// RfSetResetValuesFastMode is kept. The pattern and the permutations are read again in either mode.
func (t *Thread) RfSetResetValuesFastMode(h RfHandle, fast solver.CusolverRfResetValuesFastMode_t) error {
	return rf(h, func(x *refactor) error {
		x.fast = fast
		return nil
	})
}

// RfGetResetValuesFastMode is what was said.
func (t *Thread) RfGetResetValuesFastMode(h RfHandle, fast hostmem.Ptr) error {
	return rf(h, func(x *refactor) error { return answer(fast, uint32(x.fast)) })
}

// fetch copies a list from wherever it is.
func fetch[T any](t *Thread, p hostmem.Ptr, n, size int) ([]T, error) {
	if n == 0 {
		return nil, nil
	}
	if p == hostmem.Nil {
		return nil, invalidValue
	}
	v := make([]T, n)
	return v, t.driver().Memcpy(driver.DevPtr(hostmem.Of(&v[0])), driver.DevPtr(p), uint64(n*size))
}

// pattern is where a matrix has elements.
type pattern struct{ from, columns []int32 }

func (t *Thread) pattern(n, nnz int64, from, columns hostmem.Ptr) (p pattern, err error) {
	if n <= 0 || nnz < 0 {
		return p, invalidValue
	}
	if p.from, err = fetch[int32](t, from, int(n)+1, 4); err != nil {
		return p, err
	}
	if p.columns, err = fetch[int32](t, columns, int(nnz), 4); err != nil {
		return p, err
	}
	if p.from[0] != 0 || int64(p.from[n]) != nnz || !slices.IsSorted(p.from) {
		return p, invalidValue
	}
	for _, c := range p.columns {
		if c < 0 || int64(c) >= n {
			return p, invalidValue
		}
	}
	return p, nil
}

func (p pattern) row(i int) []int32 { return p.columns[p.from[i]:p.from[i+1]] }

// order is a permutation.
func (t *Thread) order(p hostmem.Ptr, n int) ([]int32, error) {
	v, err := fetch[int32](t, p, n, 4)
	if err != nil {
		return nil, err
	}
	seen := make([]bool, n)
	for _, i := range v {
		if i < 0 || int(i) >= n || seen[i] {
			return nil, invalidValue
		}
		seen[i] = true
	}
	return v, nil
}

func inverse(p []int32) []int32 {
	v := make([]int32, len(p))
	for i, x := range p {
		v[x] = int32(i)
	}
	return v
}

// merge makes the pattern of L + U, whose diagonal is U's.
func (x *refactor) merge(l, u pattern) error {
	n := len(l.from) - 1
	x.n, x.from, x.columns, x.middle = n, []int32{0}, nil, make([]int32, n)
	for i := range n {
		var row []int32
		for _, c := range l.row(i) {
			if int(c) < i {
				row = append(row, c)
			} else if int(c) > i {
				return invalidValue
			}
		}
		for _, c := range u.row(i) {
			if int(c) < i {
				return invalidValue
			}
			row = append(row, c)
		}
		slices.Sort(row)
		at, ok := slices.BinarySearch(row, int32(i))
		if !ok || len(slices.Compact(slices.Clone(row))) != len(row) {
			return invalidValue
		}
		x.middle[i] = int32(len(x.columns) + at)
		x.columns = append(x.columns, row...)
		x.from = append(x.from, int32(len(x.columns)))
	}
	return nil
}

// place finds A's elements in L + U: row i of it is row P[i] of A, column j is A's column Q[j].
func (x *refactor) place(a pattern, p, q []int32) ([]int32, error) {
	to := inverse(q)
	places := make([]int32, len(a.columns))
	for i := range x.n {
		row := x.columns[x.from[i]:x.from[i+1]]
		for k := a.from[p[i]]; k < a.from[p[i]+1]; k++ {
			at, ok := slices.BinarySearch(row, to[a.columns[k]])
			if !ok {
				return nil, invalidValue
			}
			places[k] = x.from[i] + int32(at)
		}
	}
	return places, nil
}

// rfMatrix is A as the calls have it.
type rfMatrix struct {
	n, nnz        int64
	from, columns hostmem.Ptr
	p, q          hostmem.Ptr
}

// set reads values, of one matrix or of a list. After a failure the values before hold.
func (x *refactor) set(t *Thread, a rfMatrix, values []hostmem.Ptr) error {
	pat, err := t.pattern(a.n, a.nnz, a.from, a.columns)
	if err != nil {
		return err
	}
	p, err := t.order(a.p, x.n)
	if err != nil {
		return err
	}
	q, err := t.order(a.q, x.n)
	if err != nil {
		return err
	}
	places, err := x.place(pat, p, q)
	if err != nil {
		return err
	}
	all := make([]rfValues, 0, len(values))
	for _, at := range values {
		v, err := fetch[float64](t, at, int(a.nnz), 8)
		if err != nil {
			return err
		}
		m := rfValues{v: make([]float64, len(x.columns)), bad: -1}
		for k, e := range v {
			m.v[places[k]] += e
		}
		all = append(all, m)
	}
	x.all = all
	return nil
}

// rfFactor is L or U.
type rfFactor struct {
	nnz           int64
	from, columns hostmem.Ptr
}

func (t *Thread) rfSetup(h RfHandle, a rfMatrix, values []hostmem.Ptr, many bool, l, u rfFactor) error {
	return rf(h, func(x *refactor) error {
		if x.format != solver.CUSOLVERRF_MATRIX_FORMAT_CSR || x.diag == solver.CUSOLVERRF_UNIT_DIAGONAL_STORED_U || x.diag == solver.CUSOLVERRF_UNIT_DIAGONAL_ASSUMED_U {
			return notSupported
		}
		lower, err := t.pattern(a.n, l.nnz, l.from, l.columns)
		if err != nil {
			return err
		}
		upper, err := t.pattern(a.n, u.nnz, u.from, u.columns)
		if err != nil {
			return err
		}
		x.analyzed, x.many = false, many
		if err = x.merge(lower, upper); err == nil {
			err = x.set(t, a, values)
		}
		if err != nil {
			x.n = 0 // no matrix is known
		}
		return err
	})
}

// RfSetupDevice takes the first factorization; what lies where makes no difference.
func (t *Thread) RfSetupDevice(n, nnzA int64, fromA, columnsA, valuesA hostmem.Ptr, nnzL int64, fromL, columnsL, valuesL hostmem.Ptr, nnzU int64, fromU, columnsU, valuesU, p, q hostmem.Ptr, h RfHandle) error {
	return t.rfSetup(h, rfMatrix{n, nnzA, fromA, columnsA, p, q}, []hostmem.Ptr{valuesA}, false, rfFactor{nnzL, fromL, columnsL}, rfFactor{nnzU, fromU, columnsU})
}

// RfSetupHost is RfSetupDevice.
func (t *Thread) RfSetupHost(n, nnzA int64, fromA, columnsA, valuesA hostmem.Ptr, nnzL int64, fromL, columnsL, valuesL hostmem.Ptr, nnzU int64, fromU, columnsU, valuesU, p, q hostmem.Ptr, h RfHandle) error {
	return t.RfSetupDevice(n, nnzA, fromA, columnsA, valuesA, nnzL, fromL, columnsL, valuesL, nnzU, fromU, columnsU, valuesU, p, q, h)
}

// list reads addresses.
func (t *Thread) list(p hostmem.Ptr, n int64) ([]hostmem.Ptr, error) {
	if n < 1 {
		return nil, invalidValue
	}
	return fetch[hostmem.Ptr](t, p, int(n), 8)
}

// RfBatchSetupHost takes the first factorization of matrices of one pattern.
func (t *Thread) RfBatchSetupHost(batch, n, nnzA int64, fromA, columnsA, lists hostmem.Ptr, nnzL int64, fromL, columnsL, valuesL hostmem.Ptr, nnzU int64, fromU, columnsU, valuesU, p, q hostmem.Ptr, h RfHandle) error {
	values, err := t.list(lists, batch)
	if err != nil {
		return err
	}
	return t.rfSetup(h, rfMatrix{n, nnzA, fromA, columnsA, p, q}, values, true, rfFactor{nnzL, fromL, columnsL}, rfFactor{nnzU, fromU, columnsU})
}

// ready is rf for one that has matrices, one or many.
func ready(h RfHandle, many bool, f func(x *refactor) error) error {
	return rf(h, func(x *refactor) error {
		if x.n == 0 || x.many != many {
			return notInitialized
		}
		return f(x)
	})
}

// RfResetValues takes another matrix of the pattern.
func (t *Thread) RfResetValues(n, nnzA int64, fromA, columnsA, valuesA, p, q hostmem.Ptr, h RfHandle) error {
	return ready(h, false, func(x *refactor) error {
		if int(n) != x.n {
			return invalidValue
		}
		return x.set(t, rfMatrix{n, nnzA, fromA, columnsA, p, q}, []hostmem.Ptr{valuesA})
	})
}

// RfBatchResetValues takes as many others.
func (t *Thread) RfBatchResetValues(batch, n, nnzA int64, fromA, columnsA, lists, p, q hostmem.Ptr, h RfHandle) error {
	values, err := t.list(lists, batch)
	if err != nil {
		return err
	}
	return ready(h, true, func(x *refactor) error {
		if int(n) != x.n || len(values) != len(x.all) {
			return invalidValue
		}
		return x.set(t, rfMatrix{n, nnzA, fromA, columnsA, p, q}, values)
	})
}
