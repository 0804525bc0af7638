package cusolver

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"kudzu/internal/dl"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/solver"
)

// rfCase is a sparse matrix, permutations, and the pattern of its factors.
type rfCase struct {
	r          *rig
	n          int
	a          []float64 // by rows
	fa, ca     []int32
	fl, cl     []int32
	fu, cu     []int32
	p, q       []int32
	pp, pq     hostmem.Ptr
	from, cols hostmem.Ptr
}

// dev copies a list to the device.
func dev[T any](r *rig, v []T, size int) hostmem.Ptr {
	p := r.memory(size * max(len(v), 1))
	for i, x := range v {
		hostmem.Store(p.Index(i, size), x)
	}
	return p
}

// sparse lists where a matrix has elements: those of `has`.
func sparse(n int, has func(i, j int) bool) (from, columns []int32) {
	from = []int32{0}
	for i := range n {
		for j := range n {
			if has(i, j) {
				columns = append(columns, int32(j))
			}
		}
		from = append(from, int32(len(columns)))
	}
	return from, columns
}

func newRfCase(r *rig, n int) *rfCase {
	c := &rfCase{r: r, n: n, a: make([]float64, n*n)}
	for i := range n {
		c.p, c.q = append(c.p, int32(i)), append(c.q, int32(i))
	}
	r.rng.Shuffle(n, func(i, j int) { c.p[i], c.p[j] = c.p[j], c.p[i] })
	r.rng.Shuffle(n, func(i, j int) { c.q[i], c.q[j] = c.q[j], c.q[i] })
	for i := range n { // A(P, Q) has a strong diagonal
		for j := range n {
			if i == j || r.rng.IntN(6) == 0 {
				c.a[int(c.p[i])*n+int(c.q[j])] = 2*r.rng.Float64() - 1 + map[bool]float64{true: 9}[i == j]
			}
		}
	}
	fill := make([]bool, n*n)
	for i := range n {
		for j := range n {
			fill[i*n+j] = c.a[int(c.p[i])*n+int(c.q[j])] != 0
		}
	}
	for k := range n {
		for i := k + 1; i < n; i++ {
			for j := k + 1; j < n; j++ {
				fill[i*n+j] = fill[i*n+j] || fill[i*n+k] && fill[k*n+j]
			}
		}
	}
	c.fa, c.ca = sparse(n, func(i, j int) bool { return c.a[i*n+j] != 0 })
	c.fl, c.cl = sparse(n, func(i, j int) bool { return i == j || j < i && fill[i*n+j] })
	c.fu, c.cu = sparse(n, func(i, j int) bool { return j >= i && fill[i*n+j] })
	c.from, c.cols, c.pp, c.pq = dev(r, c.fa, 4), dev(r, c.ca, 4), dev(r, c.p, 4), dev(r, c.q, 4)
	return c
}

// values are those of A, after a change.
func (c *rfCase) values() hostmem.Ptr {
	var v []float64
	for i := range c.n {
		for _, j := range c.ca[c.fa[i]:c.fa[i+1]] {
			v = append(v, c.a[i*c.n+int(j)])
		}
	}
	return dev(c.r, v, 8)
}

// change makes another matrix of the pattern.
func (c *rfCase) change() {
	for i := range c.a {
		c.a[i] *= 1 + c.r.rng.Float64()/4
	}
}

func (c *rfCase) setup(h RfHandle, values hostmem.Ptr, batch int64) error {
	r, n := c.r, int64(c.n)
	l, u := dev(r, c.fl, 4), dev(r, c.fu, 4)
	cl, cu := dev(r, c.cl, 4), dev(r, c.cu, 4)
	nnz, nl, nu := int64(len(c.ca)), int64(len(c.cl)), int64(len(c.cu))
	if batch > 0 {
		return r.th.RfBatchSetupHost(batch, n, nnz, c.from, c.cols, values, nl, l, cl, 0, nu, u, cu, 0, c.pp, c.pq, h)
	}
	return r.th.RfSetupHost(n, nnz, c.from, c.cols, values, nl, l, cl, 0, nu, u, cu, 0, c.pp, c.pq, h)
}

// solved compares A X with B.
func (c *rfCase) solved(a, b []float64, x hostmem.Ptr, what string) {
	c.r.t.Helper()
	for i := range c.n {
		sum := -b[i]
		for j := range c.n {
			sum += a[i*c.n+j] * hostmem.Load[float64](x.Index(j, 8))
		}
		if !(math.Abs(sum) < 1e-12) {
			c.r.t.Fatalf("%s: row %d differs by %g", what, i, sum)
		}
	}
}

func rfOpen(t *testing.T) (*rig, RfHandle) {
	th, h := open(t)
	r := &rig{t, th, h, rand.New(rand.NewPCG(5, 6)), F64}
	v, err := th.RfCreate()
	r.ok(err)
	t.Cleanup(func() { r.ok(th.RfDestroy(RfHandle(v))) })
	return r, RfHandle(v)
}

func (r *rig) numbers(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = 2*r.rng.Float64() - 1
	}
	return v
}

// TestRf: a matrix, then others of its pattern, with both permutations, and the factors on the device.
func TestRf(t *testing.T) {
	r, h := rfOpen(t)
	const n = 40
	c := newRfCase(r, n)
	if err := r.th.RfRefactor(h); err != notInitialized {
		t.Errorf("without a setup: %v", err)
	}
	r.ok(c.setup(h, c.values(), 0))
	if err := r.th.RfRefactor(h); err != notInitialized {
		t.Errorf("without an analysis: %v", err)
	}
	r.ok(r.th.RfAnalyze(h))
	for range 3 {
		r.ok(r.th.RfRefactor(h))
		b, second := r.numbers(n), r.numbers(n)
		x := dev(r, slices.Concat(b, []float64{gap}, second), 8)
		r.ok(r.th.RfSolve(h, c.pp, c.pq, 2, 0, n, x, n+1))
		c.solved(c.a, b, x, "first right-hand side")
		c.solved(c.a, second, x.Index(n+1, 8), "second right-hand side")
		if hostmem.Load[float64](x.Index(n, 8)) != gap {
			t.Error("what lies between columns changed")
		}
		c.change()
		r.ok(r.th.RfResetValues(n, int64(len(c.ca)), c.from, c.cols, c.values(), c.pp, c.pq, h))
	}
	r.ok(r.th.RfRefactor(h))
	out := r.memory(32)
	r.ok(r.th.RfAccessBundledFactorsDevice(h, out, out.Index(1, 8), out.Index(2, 8), out.Index(3, 8)))
	if got, want := int(hostmem.Load[int32](out)), len(c.cl)+len(c.cu)-n; got != want {
		t.Fatalf("%d elements of L + U, not %d", got, want)
	}
	from, columns, values := hostmem.Load[hostmem.Ptr](out.Index(1, 8)), hostmem.Load[hostmem.Ptr](out.Index(2, 8)), hostmem.Load[hostmem.Ptr](out.Index(3, 8))
	lower, upper := eye(n), newFull(n, n)
	for i := range n {
		for k := hostmem.Load[int32](from.Index(i, 4)); k < hostmem.Load[int32](from.Index(i+1, 4)); k++ {
			j, v := int(hostmem.Load[int32](columns.Index(int(k), 4))), complex(hostmem.Load[float64](values.Index(int(k), 8)), 0)
			if j < i {
				lower.set(i, j, v)
			} else {
				upper.set(i, j, v)
			}
		}
	}
	both := lower.times(upper)
	for i := range n {
		for j := range n {
			if d := real(both.at(i, j)) - c.a[int(c.p[i])*n+int(c.q[j])]; math.Abs(d) > 1e-12 {
				t.Fatalf("L U differs by %g at %d, %d", d, i, j)
			}
		}
	}
	c.extracted(h, from, columns, values)
	if err := r.th.RfResetValues(n, int64(len(c.ca))-1, c.from, c.cols, c.values(), c.pp, c.pq, h); err != invalidValue {
		t.Errorf("a number of elements that is not that of the rows: %v", err)
	}
	x := dev(r, r.numbers(n), 8)
	r.ok(r.th.RfSolve(h, c.pp, c.pq, 1, 0, n, x, n)) // with the values before the failure
	if err := c.setup(h, 0, 0); err != invalidValue {
		t.Errorf("a setup without values: %v", err)
	}
	if err := r.th.RfSolve(h, c.pp, c.pq, 1, 0, n, x, n); err != notInitialized {
		t.Errorf("a system after a setup that failed: %v", err)
	}
	if err := r.th.RfAccessBundledFactorsDevice(h, out, out.Index(1, 8), out.Index(2, 8), out.Index(3, 8)); err != notInitialized {
		t.Errorf("factors after a setup that failed: %v", err)
	}
	r.ok(r.th.RfSetMatrixFormat(h, solver.CUSOLVERRF_MATRIX_FORMAT_CSC, solver.CUSOLVERRF_UNIT_DIAGONAL_ASSUMED_L))
	if err := c.setup(h, c.values(), 0); err != notSupported {
		t.Errorf("by columns: %v", err)
	}
}

// TestRfBatch: several matrices of one pattern, one of them singular until pivots are replaced.
func TestRfBatch(t *testing.T) {
	r, h := rfOpen(t)
	const n, batch = 25, 3
	c := newRfCase(r, n)
	var all [batch][]float64
	lists, rights, position := make([]hostmem.Ptr, batch), make([]hostmem.Ptr, batch), r.memory(4*batch)
	make3 := func() {
		for i := range batch {
			c.change()
			all[i], lists[i] = slices.Clone(c.a), c.values()
		}
	}
	make3()
	r.ok(c.setup(h, dev(r, lists, 8), batch))
	r.ok(r.th.RfBatchAnalyze(h))
	for range 2 {
		r.ok(r.th.RfBatchRefactor(h))
		r.ok(r.th.RfBatchZeroPivot(h, position))
		var b [batch][]float64
		for i := range batch {
			b[i] = r.numbers(n)
			rights[i] = dev(r, b[i], 8)
		}
		r.ok(r.th.RfBatchSolve(h, c.pp, c.pq, 1, 0, n, dev(r, rights, 8), n))
		for i := range batch {
			c.solved(all[i], b[i], rights[i], "batch")
		}
		make3()
		r.ok(r.th.RfBatchResetValues(batch, n, int64(len(c.ca)), c.from, c.cols, dev(r, lists, 8), c.pp, c.pq, h))
	}
	for j := range n { // the first row of A(P, Q) has nothing
		c.a[int(c.p[0])*n+j] = 0
	}
	lists[1] = c.values()
	reset := func() {
		r.ok(r.th.RfBatchResetValues(batch, n, int64(len(c.ca)), c.from, c.cols, dev(r, lists, 8), c.pp, c.pq, h))
		r.ok(r.th.RfBatchRefactor(h))
	}
	reset()
	if err := r.th.RfBatchZeroPivot(h, position); err != zeroPivot {
		t.Errorf("a pivot is zero: %v", err)
	}
	for i, want := range []int32{-1, 0, -1} {
		if v := hostmem.Load[int32](position.Index(i, 4)); v != want {
			t.Errorf("matrix %d: pivot %d, not %d", i, v, want)
		}
	}
	r.ok(r.th.RfSetNumericProperties(h, 1e-3, 2))
	reset()
	r.ok(r.th.RfBatchZeroPivot(h, position))
	report := r.memory(8)
	r.ok(r.th.RfGetNumericBoostReport(h, report))
	if hostmem.Load[uint32](report) != 1 {
		t.Error("no pivot was replaced")
	}
	zero, boost := r.memory(8), r.memory(8)
	r.ok(r.th.RfGetNumericProperties(h, zero, boost))
	if hostmem.Load[float64](zero) != 1e-3 || hostmem.Load[float64](boost) != 2 {
		t.Error("the properties are others")
	}
}

// TestRfState: what is said is answered.
func TestRfState(t *testing.T) {
	r, h := rfOpen(t)
	a, b := r.memory(8), r.memory(8)
	is := func(x, y uint32, what string) {
		t.Helper()
		if hostmem.Load[uint32](a) != x || hostmem.Load[uint32](b) != y {
			t.Errorf("%s: %d and %d", what, hostmem.Load[uint32](a), hostmem.Load[uint32](b))
		}
	}
	r.ok(r.th.RfSetMatrixFormat(h, solver.CUSOLVERRF_MATRIX_FORMAT_CSR, solver.CUSOLVERRF_UNIT_DIAGONAL_ASSUMED_L))
	r.ok(r.th.RfGetMatrixFormat(h, a, b))
	is(0, 2, "format")
	r.ok(r.th.RfSetAlgs(h, solver.CUSOLVERRF_FACTORIZATION_ALG2, solver.CUSOLVERRF_TRIANGULAR_SOLVE_ALG3))
	r.ok(r.th.RfGetAlgs(h, a, b))
	is(2, 3, "algorithms")
	r.ok(r.th.RfSetResetValuesFastMode(h, solver.CUSOLVERRF_RESET_VALUES_FAST_MODE_ON))
	r.ok(r.th.RfGetResetValuesFastMode(h, a))
	is(1, 3, "fast mode")
	if err := r.th.RfSetMatrixFormat(h, 7, 0); err != invalidValue {
		t.Errorf("a format that is none: %v", err)
	}
	if err := r.th.RfAnalyze(12345); err != notInitialized {
		t.Errorf("no handle: %v", err)
	}
}

// extracted compares copies of the factors with those on the device: together, and apart, with L's ones and without them.
func (c *rfCase) extracted(h RfHandle, from, columns, values hostmem.Ptr) {
	r, n := c.r, c.n
	out := r.memory(64)
	at := func(i int) hostmem.Ptr { return hostmem.Load[hostmem.Ptr](out.Index(i, 8)) }
	libc, err := dl.Open("libc.so.6")
	r.ok(err)
	free, err := libc.Find("free")
	r.ok(err)
	done := func(parts ...int) {
		for _, i := range parts {
			free.Call(uintptr(at(i)))
		}
	}
	r.ok(r.th.RfExtractBundledFactorsHost(h, out, out.Index(1, 8), out.Index(2, 8), out.Index(3, 8)))
	nnz := int(hostmem.Load[int32](out))
	if nnz != len(c.cl)+len(c.cu)-n {
		r.t.Fatalf("%d elements of L + U", nnz)
	}
	same := func(a, b hostmem.Ptr, bytes int) bool {
		return bytes == 0 || slices.Equal(hostmem.Bytes(a, uint64(bytes)), hostmem.Bytes(b, uint64(bytes)))
	}
	if !same(at(1), from, 4*(n+1)) || !same(at(2), columns, 4*nnz) || !same(at(3), values, 8*nnz) {
		r.t.Error("copies of the factors are others")
	}
	done(1, 2, 3)
	for _, stored := range []bool{true, false} {
		diag := solver.CusolverRfUnitDiagonal_t(solver.CUSOLVERRF_UNIT_DIAGONAL_STORED_L)
		if !stored {
			diag = solver.CUSOLVERRF_UNIT_DIAGONAL_ASSUMED_L
		}
		r.ok(r.th.RfSetMatrixFormat(h, solver.CUSOLVERRF_MATRIX_FORMAT_CSR, diag))
		r.ok(r.th.RfExtractSplitFactorsHost(h, out, out.Index(1, 8), out.Index(2, 8), out.Index(3, 8), out.Index(4, 8), out.Index(5, 8), out.Index(6, 8), out.Index(7, 8)))
		var parts [2]full
		for p := range parts {
			parts[p] = newFull(n, n)
			f := at(4*p + 1)
			if k := hostmem.Load[int32](out.Index(4*p, 8)); k != hostmem.Load[int32](f.Index(n, 4)) {
				r.t.Errorf("%d elements, and the rows have %d", k, hostmem.Load[int32](f.Index(n, 4)))
			}
			for i := range n {
				for k := hostmem.Load[int32](f.Index(i, 4)); k < hostmem.Load[int32](f.Index(i+1, 4)); k++ {
					parts[p].set(i, int(hostmem.Load[int32](at(4*p+2).Index(int(k), 4))), complex(hostmem.Load[float64](at(4*p+3).Index(int(k), 8)), 0))
				}
			}
		}
		if !stored {
			for i := range n {
				if parts[0].at(i, i) != 0 {
					r.t.Error("L's diagonal is not assumed")
				}
				parts[0].set(i, i, 1)
			}
		}
		both := parts[0].times(parts[1])
		for i := range n {
			for j := range n {
				if d := real(both.at(i, j)) - c.a[int(c.p[i])*n+int(c.q[j])]; math.Abs(d) > 1e-12 {
					r.t.Fatalf("L U differs by %g at %d, %d", d, i, j)
				}
			}
		}
		done(1, 2, 3, 5, 6, 7)
	}
	if err := r.th.RfExtractBundledFactorsHost(h, out, 0, out, out); err != invalidValue {
		r.t.Errorf("nowhere to write: %v", err)
	}
	if err := r.th.RfExtractSplitFactorsHost(h, out, out, out, out, out, out, out, 0); err != invalidValue {
		r.t.Errorf("nowhere to write: %v", err)
	}
}
