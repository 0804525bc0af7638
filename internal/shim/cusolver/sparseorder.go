package cusolver

import (
	"slices"

	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cusolver/direct"
)

// cuSolverSp's orders and permutations. They are of memory of the host, and count from 0 whatever the matrix does.

// order writes an order of a square matrix.
func (t *Thread) spOrder(h SpHandle, a *spMatrix, p hostmem.Ptr, f func(direct.Pattern) []int32) error {
	if err := t.begin(h, onHost); err != nil {
		return err
	}
	pattern, err := a.pattern(t)
	if err != nil {
		return err
	}
	return store(t, p, f(pattern), 4)
}

// SpXcsrsymrcmHost is the order of Cuthill and McKee, reversed.
func (t *Thread) SpXcsrsymrcmHost(h SpHandle, n, nnz int64, d Descr, from, index, p hostmem.Ptr) error {
	return t.spOrder(h, &spMatrix{rows: n, columns: n, nnz: nnz, descr: d, from: from, index: index}, p, direct.ReverseCuthillMcKee)
}

// SpXcsrsymmdqHost is the order by minimum degree.
func (t *Thread) SpXcsrsymmdqHost(h SpHandle, n, nnz int64, d Descr, from, index, p hostmem.Ptr) error {
	return t.spOrder(h, &spMatrix{rows: n, columns: n, nnz: nnz, descr: d, from: from, index: index}, p, func(p direct.Pattern) []int32 {
		return direct.MinimumDegree(p, false)
	})
}

// SpXcsrsymamdHost is the order by approximate minimum degree.
func (t *Thread) SpXcsrsymamdHost(h SpHandle, n, nnz int64, d Descr, from, index, p hostmem.Ptr) error {
	return t.spOrder(h, &spMatrix{rows: n, columns: n, nnz: nnz, descr: d, from: from, index: index}, p, func(p direct.Pattern) []int32 {
		return direct.MinimumDegree(p, true)
	})
}

// SpXcsrmetisndHost is the order by nested dissection. METIS's options say nothing to it.
func (t *Thread) SpXcsrmetisndHost(h SpHandle, n, nnz int64, d Descr, from, index, _, p hostmem.Ptr) error {
	return t.spOrder(h, &spMatrix{rows: n, columns: n, nnz: nnz, descr: d, from: from, index: index}, p, direct.NestedDissection)
}

// SpCsrzfdHost finds rows that have no zero on the diagonal, and says how many there are.
func (t *Thread) SpCsrzfdHost(h SpHandle, n, nnz int64, d Descr, values, from, index, p, count hostmem.Ptr, e Elem) error {
	if err := t.begin(h, onHost); err != nil {
		return err
	}
	m, err := readMatrix[complex128](t, &spMatrix{n, n, nnz, d, values, from, index, e})
	if err != nil {
		return err
	}
	rows, found := direct.Transversal(m.Pattern, func(k int) bool { return m.Value[k] != 0 })
	if err := store(t, p, rows, 4); err != nil {
		return err
	}
	return answer(count, int32(found))
}

// SpXcsrpermBufferSizeHost is how much SpXcsrpermHost needs: nothing, said as something that can be allocated.
func (t *Thread) SpXcsrpermBufferSizeHost(h SpHandle, m, n, nnz int64, d Descr, from, index, p, q hostmem.Ptr) (uint64, error) {
	if err := t.begin(h, onHost); err != nil {
		return 0, err
	}
	if m <= 0 || n <= 0 || nnz <= 0 {
		return 0, invalidValue
	}
	_, err := baseOf(d)
	return spWorkspace, err
}

// spWorkspace is the size of workspaces that nothing uses.
const spWorkspace = 512

// SpXcsrpermHost makes A(p, q) in the place of A; the map, of A's values, follows.
func (t *Thread) SpXcsrpermHost(h SpHandle, m, n, nnz int64, d Descr, from, index, p, q, places, _ hostmem.Ptr) error {
	if err := t.begin(h, onHost); err != nil {
		return err
	}
	a := &spMatrix{rows: m, columns: n, nnz: nnz, descr: d, from: from, index: index}
	pattern, err := a.pattern(t)
	if err != nil {
		return err
	}
	rows, err := t.order(p, int(m))
	if err != nil {
		return err
	}
	columns, err := t.order(q, int(n))
	if err != nil {
		return err
	}
	follow, err := fetch[int32](t, places, int(nnz), 4)
	if err != nil {
		return err
	}
	moved, was := pattern.Permuted(rows, columns)
	after := make([]int32, len(was))
	for k, w := range was {
		after[k] = follow[w]
	}
	if err := t.writePattern(moved, d, from, index); err != nil {
		return err
	}
	return store(t, places, after, 4)
}

// writePattern writes where a matrix has elements.
func (t *Thread) writePattern(p direct.Pattern, d Descr, from, index hostmem.Ptr) error {
	base, err := baseOf(d)
	if err != nil {
		return err
	}
	begins, columns := make([]int32, len(p.From)), slices.Clone(p.Index)
	for i, v := range p.From {
		begins[i] = int32(v) + base
	}
	for k := range columns {
		columns[k] += base
	}
	if err := store(t, from, begins, 4); err != nil {
		return err
	}
	return store(t, index, columns, 4)
}

// SpXcsrissymHost says whether the transposed matrix has the same pattern. Rows end where ends say.
func (t *Thread) SpXcsrissymHost(h SpHandle, n, nnz int64, d Descr, from, ends, index, symmetric hostmem.Ptr) error {
	if err := t.begin(h, onHost); err != nil {
		return err
	}
	base, err := baseOf(d)
	if err != nil {
		return err
	}
	if n <= 0 || nnz <= 0 {
		return invalidValue
	}
	first, err := fetch[int32](t, from, int(n), 4)
	if err != nil {
		return err
	}
	last, err := fetch[int32](t, ends, int(n), 4)
	if err != nil {
		return err
	}
	columns, err := fetch[int32](t, index, int(nnz), 4)
	if err != nil {
		return err
	}
	has := map[[2]int32]bool{}
	for i := range int32(n) {
		low, high := first[i]-base, last[i]-base
		if low < 0 || high < low || int64(high) > nnz {
			return invalidValue
		}
		for _, j := range columns[low:high] {
			has[[2]int32{i, j - base}] = true
		}
	}
	for at := range has {
		if !has[[2]int32{at[1], at[0]}] {
			return answer(symmetric, int32(0))
		}
	}
	return answer(symmetric, int32(1))
}
