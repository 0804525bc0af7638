package cusolver

import (
	"math"
	"slices"

	"kudzu/internal/dl"
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/solver"
)

// cuSolverRf, its arithmetic: factors of the known pattern, and systems solved with them.

func analyze(x *refactor) error {
	x.analyzed = true
	return nil
}

// RfAnalyze must come before the first RfRefactor; the pattern is known since the setup.
func (t *Thread) RfAnalyze(h RfHandle) error { return ready(h, false, analyze) }

// RfBatchAnalyze is RfAnalyze.
func (t *Thread) RfBatchAnalyze(h RfHandle) error { return ready(h, true, analyze) }

// factor is LU row by row, without exchanges.
func (x *refactor) factor(m *rfValues) {
	at := make([]int32, x.n) // of a column in the row, from 1
	m.bad, m.factored = -1, true
	for i := range x.n {
		for k := x.from[i]; k < x.from[i+1]; k++ {
			at[x.columns[k]] = k + 1
		}
		for k := x.from[i]; k < x.middle[i]; k++ {
			j := x.columns[k]
			m.v[k] /= m.v[x.middle[j]]
			for e := x.middle[j] + 1; e < x.from[j+1]; e++ {
				if to := at[x.columns[e]]; to > 0 {
					m.v[to-1] -= m.v[k] * m.v[e]
				}
			}
		}
		pivot := &m.v[x.middle[i]]
		if math.Abs(*pivot) < x.zero {
			*pivot = math.Copysign(x.boost, *pivot)
			x.boosted = true
		}
		if *pivot == 0 && m.bad < 0 {
			m.bad = int32(i)
		}
		for k := x.from[i]; k < x.from[i+1]; k++ {
			at[x.columns[k]] = 0
		}
	}
}

func (x *refactor) factorAll() (bad bool, err error) {
	if !x.analyzed {
		return false, notInitialized
	}
	x.boosted = false
	for i := range x.all {
		if !x.all[i].factored {
			x.factor(&x.all[i])
		}
		bad = bad || x.all[i].bad >= 0
	}
	return bad, nil
}

// RfRefactor factors the matrix.
func (t *Thread) RfRefactor(h RfHandle) error {
	return ready(h, false, func(x *refactor) error {
		bad, err := x.factorAll()
		if err == nil && bad {
			return zeroPivot
		}
		return err
	})
}

// RfBatchRefactor factors all of them; RfBatchZeroPivot tells which had a pivot that is zero.
func (t *Thread) RfBatchRefactor(h RfHandle) error {
	return ready(h, true, func(x *refactor) error {
		_, err := x.factorAll()
		return err
	})
}

// RfBatchZeroPivot writes the first pivot of each matrix that is zero, -1 where there is none.
func (t *Thread) RfBatchZeroPivot(h RfHandle, position hostmem.Ptr) error {
	return ready(h, true, func(x *refactor) error {
		if position == hostmem.Nil {
			return invalidValue
		}
		bad := false
		for i, m := range x.all {
			hostmem.Store(position.Index(i, 4), m.bad)
			bad = bad || m.bad >= 0
		}
		if bad {
			return zeroPivot
		}
		return nil
	})
}

// substitute solves L U z = y in place.
func (x *refactor) substitute(v, y []float64) {
	for i := range x.n {
		for k := x.from[i]; k < x.middle[i]; k++ {
			y[i] -= v[k] * y[x.columns[k]]
		}
	}
	for i := x.n - 1; i >= 0; i-- {
		for k := x.middle[i] + 1; k < x.from[i+1]; k++ {
			y[i] -= v[k] * y[x.columns[k]]
		}
		y[i] /= v[x.middle[i]]
	}
}

// solve is A X = B for one matrix, in the place of B.
func (x *refactor) solve(t *Thread, m *rfValues, p, q []int32, count int64, b hostmem.Ptr, ldb int64) error {
	if !m.factored {
		return notInitialized
	}
	y := make([]float64, x.n)
	for c := range count {
		at := b.Index(int(c*ldb), 8)
		right, err := fetch[float64](t, at, x.n, 8)
		if err != nil {
			return err
		}
		for i, from := range p {
			y[i] = right[from]
		}
		x.substitute(m.v, y)
		for j, to := range q {
			right[to] = y[j]
		}
		if err := t.driver().Memcpy(driver.DevPtr(at), driver.DevPtr(hostmem.Of(&right[0])), uint64(8*x.n)); err != nil {
			return err
		}
	}
	return nil
}

func (t *Thread) rfSolve(h RfHandle, many bool, p, q hostmem.Ptr, count int64, right func(x *refactor) ([]hostmem.Ptr, error), ldb int64) error {
	return ready(h, many, func(x *refactor) error {
		if count < 1 || ldb < int64(x.n) {
			return invalidValue
		}
		rows, err := t.order(p, x.n)
		if err != nil {
			return err
		}
		columns, err := t.order(q, x.n)
		if err != nil {
			return err
		}
		all, err := right(x)
		if err != nil {
			return err
		}
		for i, b := range all {
			if err := x.solve(t, &x.all[i], rows, columns, count, b, ldb); err != nil {
				return err
			}
		}
		return nil
	})
}

// RfSolve solves with the factors.
func (t *Thread) RfSolve(h RfHandle, p, q hostmem.Ptr, count int64, temp hostmem.Ptr, ldt int64, b hostmem.Ptr, ldb int64) error {
	return t.rfSolve(h, false, p, q, count, func(*refactor) ([]hostmem.Ptr, error) { return []hostmem.Ptr{b}, nil }, ldb)
}

// RfBatchSolve solves with all factors, each its own right-hand sides.
func (t *Thread) RfBatchSolve(h RfHandle, p, q hostmem.Ptr, count int64, temp hostmem.Ptr, ldt int64, lists hostmem.Ptr, ldb int64) error {
	return t.rfSolve(h, true, p, q, count, func(x *refactor) ([]hostmem.Ptr, error) { return t.list(lists, int64(len(x.all))) }, ldb)
}

// RfAccessBundledFactorsDevice gives L + U, by rows and without L's diagonal, on the device; it is the handle's.
func (t *Thread) RfAccessBundledFactorsDevice(h RfHandle, nnz, from, columns, values hostmem.Ptr) error {
	return ready(h, false, func(x *refactor) error {
		if nnz == hostmem.Nil || from == hostmem.Nil || columns == hostmem.Nil || values == hostmem.Nil {
			return invalidValue
		}
		if !x.all[0].factored {
			return notInitialized
		}
		parts := []struct {
			p     hostmem.Ptr
			bytes int
			to    hostmem.Ptr
		}{{hostmem.Of(&x.from[0]), 4 * len(x.from), from}, {hostmem.Of(&x.columns[0]), 4 * len(x.columns), columns}, {hostmem.Of(&x.all[0].v[0]), 8 * len(x.columns), values}}
		for i, part := range parts {
			if x.shared[i] != 0 {
				_ = t.driver().GiveMemory(x.shared[i])
			}
			at, err := t.driver().TakeMemory(uint64(part.bytes))
			if err != nil {
				x.shared[i] = 0
				return err
			}
			x.shared[i] = at
			if err := t.driver().Memcpy(at, driver.DevPtr(part.p), uint64(part.bytes)); err != nil {
				return err
			}
			hostmem.Store(part.to, uint64(at))
		}
		hostmem.Store(nnz, int32(len(x.columns)))
		return nil
	})
}

// owned copies a list to memory of C's, which the program frees, and writes its address.
func owned[T any](v []T, size int, to hostmem.Ptr) {
	at := hostmem.Ptr(dl.Alloc(len(v) * size).Addr())
	for i, x := range v {
		hostmem.Store(at.Index(i, size), x)
	}
	hostmem.Store(to, uint64(at))
}

// RfExtractBundledFactorsHost gives copies of what RfAccessBundledFactorsDevice gives: of A's values before RfRefactor.
func (t *Thread) RfExtractBundledFactorsHost(h RfHandle, nnz, from, columns, values hostmem.Ptr) error {
	return ready(h, false, func(x *refactor) error {
		if nnz == hostmem.Nil || from == hostmem.Nil || columns == hostmem.Nil || values == hostmem.Nil {
			return invalidValue
		}
		owned(x.from, 4, from)
		owned(x.columns, 4, columns)
		owned(x.all[0].v, 8, values)
		hostmem.Store(nnz, int32(len(x.columns)))
		return nil
	})
}

// rfPart is L or U, by rows.
type rfPart struct {
	from, columns []int32
	values        []float64
}

func (p *rfPart) add(column int32, v float64) {
	p.columns, p.values = append(p.columns, column), append(p.values, v)
}

// split parts the factors. L's ones are there if the format says that they are stored.
func (x *refactor) split() (l, u rfPart) {
	l.from, u.from = []int32{0}, []int32{0}
	for i := range x.n {
		for k := x.from[i]; k < x.from[i+1]; k++ {
			part := &l
			if k >= x.middle[i] {
				part = &u
			}
			part.add(x.columns[k], x.all[0].v[k])
		}
		if x.diag == solver.CUSOLVERRF_UNIT_DIAGONAL_STORED_L {
			l.add(int32(i), 1)
		}
		l.from, u.from = append(l.from, int32(len(l.columns))), append(u.from, int32(len(u.columns)))
	}
	return l, u
}

// RfExtractSplitFactorsHost gives copies of L and U.
func (t *Thread) RfExtractSplitFactorsHost(h RfHandle, nnzL, fromL, columnsL, valuesL, nnzU, fromU, columnsU, valuesU hostmem.Ptr) error {
	return ready(h, false, func(x *refactor) error {
		to := [2][4]hostmem.Ptr{{nnzL, fromL, columnsL, valuesL}, {nnzU, fromU, columnsU, valuesU}}
		for _, p := range slices.Concat(to[0][:], to[1][:]) {
			if p == hostmem.Nil {
				return invalidValue
			}
		}
		l, u := x.split()
		for i, part := range []rfPart{l, u} {
			hostmem.Store(to[i][0], int32(len(part.columns)))
			owned(part.from, 4, to[i][1])
			owned(part.columns, 4, to[i][2])
			owned(part.values, 8, to[i][3])
		}
		return nil
	})
}
