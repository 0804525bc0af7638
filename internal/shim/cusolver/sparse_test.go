package cusolver

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
	"kudzu/internal/spec/solver"
)

// spRig is a handle for sparse matrices.
type spRig struct {
	*rig
	sp SpHandle
}

// spCase is a sparse matrix in the program's memory.
type spCase struct {
	r                   *spRig
	a                   full
	nnz                 int64
	d                   Descr
	base                int32
	values, from, index hostmem.Ptr
	counts, columns     []int32
}

func onSparse(t *testing.T, f func(r *spRig)) {
	onTypes(t, func(r *rig) {
		v, err := r.th.SpCreate()
		r.ok(err)
		t.Cleanup(func() { r.ok(r.th.SpDestroy(SpHandle(v))) })
		f(&spRig{r, SpHandle(v)})
	})
}

// describe is what cusparseCreateMatDescr and its setters make.
func (r *spRig) describe(kind, base int32) Descr {
	p := r.memory(16)
	hostmem.Store(p, description{Type: kind, Base: base})
	return Descr(p)
}

// list is memory with numbers of the type.
func (r *spRig) list(v []complex128) hostmem.Ptr { return r.put(full{len(v), 1, v}, len(v)) }

// csr lays a matrix out; its rows are in the wrong order if mix says so.
func (r *spRig) csr(a full, base int32, mix bool) *spCase {
	c := &spCase{r: r, a: a, base: base, d: r.describe(0, base), counts: []int32{base}}
	var values []complex128
	for i := range a.m {
		for j := range a.n {
			if mix {
				j = a.n - 1 - j
			}
			if v := a.at(i, j); v != 0 {
				values, c.columns = append(values, v), append(c.columns, int32(j)+base)
			}
		}
		c.counts = append(c.counts, int32(len(values))+base)
	}
	c.nnz = int64(len(values))
	c.values, c.from, c.index = r.list(values), dev(r.rig, c.counts, 4), dev(r.rig, c.columns, 4)
	return c
}

// scattered is a matrix with few elements, a diagonal among them.
func (r *spRig) scattered(m, n int) full {
	a := r.random(m, n)
	for j := range n {
		for i := range m {
			if i != j && r.rng.IntN(max(n/4, 2)) != 0 {
				a.set(i, j, 0)
			}
		}
	}
	return a
}

// definite is Hermitian, with few elements.
func (r *spRig) definite(n int) full {
	a := r.scattered(n, n)
	for j := range n {
		for i := range j {
			a.set(i, j, cmplx.Conj(a.at(j, i)))
		}
		a.set(j, j, complex(float64(n), 0))
	}
	return a
}

// solves checks A x = b, by LAPACK's ratio.
func (c *spCase) solves(x hostmem.Ptr, b []complex128, what string) {
	c.r.t.Helper()
	got := c.r.get(x, c.a.n, 1, c.a.n)
	right := full{c.a.m, 1, b}
	c.r.within(c.r.ratio(c.a.times(got).minus(right), c.a.n, c.a.norm()*got.norm()+right.norm()), what)
}

func TestSpSystems(t *testing.T) {
	onSparse(t, func(r *spRig) {
		const n = 45
		type call func(h SpHandle, n, nnz int64, d Descr, values, from, index, b hostmem.Ptr, tol float64, reorder int32, x, singular hostmem.Ptr, e Elem) error
		general, definite := r.scattered(n, n), r.definite(n)
		for _, f := range []struct {
			name string
			call
			a full
		}{
			{"LU", r.th.SpCsrlsvluHost, general}, {"QR", r.th.SpCsrlsvqr, general}, {"QR, host", r.th.SpCsrlsvqrHost, general},
			{"Cholesky", r.th.SpCsrlsvchol, definite}, {"Cholesky, host", r.th.SpCsrlsvcholHost, definite},
		} {
			name := f.name
			for reorder := range int32(4) {
				for base := range int32(2) {
					c := r.csr(f.a, base, reorder == 2)
					b := r.random(n, 1).v
					x, singular := r.memory(n*16), r.infoAt()
					r.ok(f.call(r.sp, n, c.nnz, c.d, c.values, c.from, c.index, r.list(b), 0, reorder, x, singular, r.e))
					if v := r.info(singular); v != -1 {
						t.Errorf("%s: singular at %d", name, v)
					}
					c.solves(x, b, name)
				}
			}
			c := r.csr(f.a, 0, false)
			x, singular := r.memory(n*16), r.infoAt()
			b := r.random(n, 1).v
			r.ok(f.call(r.sp, n, c.nnz, c.d, c.values, c.from, c.index, r.list(b), 1e9, 0, x, singular, r.e))
			if v := r.info(singular); v != 0 {
				t.Errorf("%s: with a tolerance above all pivots singular at %d", name, v)
			}
			c.solves(x, b, name+", with a tolerance") // CuPy says 1
			for i, err := range []error{
				f.call(r.sp, n, c.nnz, c.d, c.values, c.from, c.index, r.list(b), 0, 7, x, singular, r.e),
				f.call(r.sp, 0, c.nnz, c.d, c.values, c.from, c.index, r.list(b), 0, 0, x, singular, r.e),
				f.call(r.sp, n, c.nnz+1, c.d, c.values, c.from, c.index, r.list(b), 0, 0, x, singular, r.e),
				f.call(r.sp, n, c.nnz, 0, c.values, c.from, c.index, r.list(b), 0, 0, x, singular, r.e),
				f.call(r.sp, n, c.nnz, c.d, c.values, c.from, c.index, r.list(b), 0, 0, x, 0, r.e),
				f.call(r.sp, n, c.nnz, c.d, c.values, 0, c.index, r.list(b), 0, 0, x, singular, r.e),
				f.call(r.sp, n, c.nnz, r.describe(0, 1), c.values, c.from, c.index, r.list(b), 0, 0, x, singular, r.e),
			} {
				if err != invalidValue {
					t.Errorf("%s, mistake %d: %v", name, i, err)
				}
			}
			if err := f.call(r.sp, n, c.nnz, r.describe(1, 0), c.values, c.from, c.index, r.list(b), 0, 0, x, singular, r.e); err != wrongType {
				t.Errorf("%s of a symmetric matrix: %v", name, err)
			}
			if err := f.call(12345, n, c.nnz, c.d, c.values, c.from, c.index, r.list(b), 0, 0, x, singular, r.e); err != notInitialized {
				t.Errorf("%s without a handle: %v", name, err)
			}
		}
	})
}

func TestSpSingular(t *testing.T) {
	onSparse(t, func(r *spRig) {
		const n = 20
		a := r.scattered(n, n)
		for i := range n {
			a.set(i, 7, 0)
		}
		a.set(7, 7, 0)
		c := r.csr(a, 1, false)
		x, singular := r.memory(n*16), r.infoAt()
		b := r.list(r.random(n, 1).v)
		r.ok(r.th.SpCsrlsvluHost(r.sp, n, c.nnz, c.d, c.values, c.from, c.index, b, 0, 0, x, singular, r.e))
		if v := r.info(singular); v != 7 {
			t.Errorf("LU: singular at %d", v)
		}
		r.ok(r.th.SpCsrlsvqr(r.sp, n, c.nnz, c.d, c.values, c.from, c.index, b, 0, 0, x, singular, r.e))
		if v := r.info(singular); v != 7 {
			t.Errorf("QR: singular at %d", v)
		}
		a = r.definite(n)
		a.set(9, 9, -2)
		c = r.csr(a, 0, false)
		r.ok(r.th.SpCsrlsvchol(r.sp, n, c.nnz, c.d, c.values, c.from, c.index, b, 0, 0, x, singular, r.e))
		if v := r.info(singular); v != 10 { // the device counts from 1, the host from 0
			t.Errorf("Cholesky: singular at %d", v)
		}
		r.ok(r.th.SpCsrlsvcholHost(r.sp, n, c.nnz, c.d, c.values, c.from, c.index, b, 0, 0, x, singular, r.e))
		if v := r.info(singular); v != 9 {
			t.Errorf("Cholesky on the host: singular at %d", v)
		}
		if err := r.th.SpCsrlsvcholHost(r.sp, n, c.nnz, c.d, c.values, c.from, c.index, b, 0, 9, x, singular, r.e); err != invalidValue || r.info(singular) != 0 {
			t.Errorf("an ordering that is none: %v, %d", err, r.info(singular))
		}
	})
}

func TestSpStream(t *testing.T) {
	onSparse(t, func(r *spRig) {
		s, err := r.th.driver().StreamCreate(0)
		r.ok(err)
		r.ok(r.th.SpSetStream(r.sp, rt.CudaStream_t(s)))
		if got, err := r.th.SpGetStream(r.sp); err != nil || got != rt.CudaStream_t(s) {
			t.Errorf("stream %v, %v", got, err)
		}
		c := r.csr(r.definite(4), 0, false)
		b, x, singular := r.list(r.random(4, 1).v), r.memory(64), r.infoAt()
		call := func() error {
			return r.th.SpCsrlsvchol(r.sp, 4, c.nnz, c.d, c.values, c.from, c.index, b, 0, 0, x, singular, r.e)
		}
		r.ok(call())
		graph := r.memory(8)
		r.ok(r.th.driver().StreamBeginCapture(s, cu.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL))
		if err := call(); err != executionFailed {
			t.Errorf("in a capture: %v", err)
		}
		_ = r.th.driver().StreamEndCapture(s, graph)
		r.ok(r.th.driver().StreamDestroy(s))
		if err := r.th.SpSetStream(1, 0); err != notInitialized {
			t.Errorf("no handle: %v", err)
		}
	})
}

// TestSpLeast: more rows than columns, and columns that depend on others.
func TestSpLeast(t *testing.T) {
	onSparse(t, func(r *spRig) {
		const m, n = 40, 22
		for _, double := range []int{0, 3} {
			a := r.scattered(m, n)
			for j := range double {
				for i := range m {
					a.set(i, n-1-j, 2*a.at(i, j))
				}
			}
			c := r.csr(a, 1, false)
			b := r.random(m, 1)
			x, rank, p, norm := r.memory(n*16), r.infoAt(), r.memory(n*4), r.memory(8)
			r.ok(r.th.SpCsrlsqvqrHost(r.sp, m, n, c.nnz, c.d, c.values, c.from, c.index, r.list(b.v), 1e-4, rank, x, p, norm, r.e))
			if v := r.info(rank); int(v) != n-double {
				t.Fatalf("rank %d", v)
			}
			got := r.get(x, n, 1, n)
			rest := a.times(got).minus(b)
			r.within(r.ratio(a.adjoint().times(rest), m, a.norm()*(a.norm()*got.norm()+b.norm())), "A'(A x - b)")
			length := 0.0
			for _, v := range rest.v {
				length = math.Hypot(length, cmplx.Abs(v))
			}
			if d := math.Abs(r.values(norm, 1)[0] - length); !(d < 1e3*r.eps()*(1+length)) {
				t.Errorf("norm %g, not %g", r.values(norm, 1)[0], length)
			}
			order, err := r.th.order(p, n)
			r.ok(err)
			for _, j := range order[n-double:] {
				if got.at(int(j), 0) != 0 {
					t.Errorf("unknown %d is %v", j, got.at(int(j), 0))
				}
			}
		}
	})
}

// TestSpEigen: a chain, whose eigenvalues are known, times a number.
func TestSpEigen(t *testing.T) {
	onSparse(t, func(r *spRig) {
		const n = 24
		turn := complex(1, 0)
		if isComplex(r.e) {
			turn = r.round(cmplx.Exp(0.4i))
		}
		a := newFull(n, n)
		for i := range n {
			a.set(i, i, 2*turn)
			if i > 0 {
				a.set(i, i-1, -turn)
				a.set(i-1, i, -turn)
			}
		}
		c := r.csr(a, 1, false)
		want := complex(2-2*math.Cos(3*math.Pi/(n+1)), 0) * turn
		near := want * 1.01
		x0, x, mu := r.list(r.random(n, 1).v), r.memory(n*16), r.memory(16)
		tol := 10 * r.eps()
		small, large := rt.Float2{X: float32(real(near)), Y: float32(imag(near))}, rt.Double2{X: real(near), Y: imag(near)}
		for i := range 2 {
			host := i == 1
			var err error
			switch {
			case r.e == C32 && host:
				err = r.th.SpCsreigvsiHostC32(r.sp, n, c.nnz, c.d, c.values, c.from, c.index, small, x0, 100, tol, mu, x)
			case r.e == C32:
				err = r.th.SpCsreigvsiC32(r.sp, n, c.nnz, c.d, c.values, c.from, c.index, small, x0, 100, tol, mu, x)
			case r.e == C64 && host:
				err = r.th.SpCsreigvsiHostC64(r.sp, n, c.nnz, c.d, c.values, c.from, c.index, large, x0, 100, tol, mu, x)
			case r.e == C64:
				err = r.th.SpCsreigvsiC64(r.sp, n, c.nnz, c.d, c.values, c.from, c.index, large, x0, 100, tol, mu, x)
			case host:
				err = r.th.SpCsreigvsiHost(r.sp, n, c.nnz, c.d, c.values, c.from, c.index, real(near), x0, 100, tol, mu, x, r.e)
			default:
				err = r.th.SpCsreigvsi(r.sp, n, c.nnz, c.d, c.values, c.from, c.index, real(near), x0, 100, tol, mu, x, r.e)
			}
			r.ok(err)
			value, vector := r.get(mu, 1, 1, 1).v[0], r.get(x, n, 1, n)
			if !(cmplx.Abs(value-want) < 100*r.eps()) {
				t.Errorf("eigenvalue %v, not %v", value, want)
			}
			scaled := vector.clone()
			for k := range scaled.v {
				scaled.v[k] *= value
			}
			r.within(r.ratio(a.times(vector).minus(scaled), n, a.norm()), "A x - mu x")
		}
		count := r.infoAt()
		low, high := complex(-0.1, -1), complex(real(want)+0.01, 1)
		inside := 0
		for j := range n {
			if v := complex(2-2*math.Cos(float64(j+1)*math.Pi/(n+1)), 0) * turn; real(v) > real(low) && real(v) < real(high) && math.Abs(imag(v)) < 1 {
				inside++
			}
		}
		if realOf(r.e) == F32 {
			r.ok(r.th.SpCsreigsHost32(r.sp, n, c.nnz, c.d, c.values, c.from, c.index, rt.Float2{X: -0.1, Y: -1}, rt.Float2{X: float32(real(high)), Y: 1}, count, r.e))
		} else {
			r.ok(r.th.SpCsreigsHost64(r.sp, n, c.nnz, c.d, c.values, c.from, c.index, rt.Double2{X: -0.1, Y: -1}, rt.Double2{X: real(high), Y: 1}, count, r.e))
		}
		if v := r.info(count); int(v) != inside {
			t.Errorf("%d eigenvalues, not %d", v, inside)
		}
		if err := r.th.SpCsreigsHost64(r.sp, n, c.nnz, c.d, c.values, c.from, c.index, rt.Double2{X: 1}, rt.Double2{}, count, r.e); err != invalidValue {
			t.Errorf("no box: %v", err)
		}
	})
}

func newSpRig(t *testing.T) *spRig {
	th, h := open(t)
	r := &rig{t, th, h, rand.New(rand.NewPCG(5, 9)), F64}
	v, err := th.SpCreate()
	r.ok(err)
	t.Cleanup(func() { r.ok(th.SpDestroy(SpHandle(v))) })
	return &spRig{r, SpHandle(v)}
}

// ints reads a list.
func (r *spRig) ints(p hostmem.Ptr, n int) []int32 {
	v, err := fetch[int32](r.th, p, n, 4)
	r.ok(err)
	return v
}

func TestSpOrders(t *testing.T) {
	r := newSpRig(t)
	const n = 150
	for base := range int32(2) {
		a := newFull(n, n) // a ring whose numbers are mixed
		mix := r.rng.Perm(n)
		for i := range n {
			a.set(mix[i], mix[i], 4)
			a.set(mix[i], mix[(i+1)%n], 1)
			a.set(mix[(i+1)%n], mix[i], 1)
		}
		c := r.csr(a, base, base == 1)
		p := r.memory(4 * n)
		for name, f := range map[string]func() error{
			"rcm": func() error { return r.th.SpXcsrsymrcmHost(r.sp, n, c.nnz, c.d, c.from, c.index, p) },
			"mdq": func() error { return r.th.SpXcsrsymmdqHost(r.sp, n, c.nnz, c.d, c.from, c.index, p) },
			"amd": func() error { return r.th.SpXcsrsymamdHost(r.sp, n, c.nnz, c.d, c.from, c.index, p) },
			"nd":  func() error { return r.th.SpXcsrmetisndHost(r.sp, n, c.nnz, c.d, c.from, c.index, 0, p) },
		} {
			r.ok(f())
			order, err := r.th.order(p, n)
			r.ok(err)
			width := 0
			for i := range n {
				for j := range n {
					if a.at(int(order[i]), int(order[j])) != 0 {
						width = max(width, i-j)
					}
				}
			}
			if name == "rcm" && width != 2 {
				t.Errorf("a ring has a band of %d", width)
			}
		}
		flag := r.infoAt()
		ends := dev(r.rig, c.counts[1:], 4)
		r.ok(r.th.SpXcsrissymHost(r.sp, n, c.nnz, c.d, c.from, ends, c.index, flag))
		if r.info(flag) != 1 {
			t.Error("the ring is not symmetric")
		}
		short := slices.Clone(c.counts[1:])
		for i, end := range short { // an element less, not of the diagonal, in one row
			if int(c.columns[end-base-1]-base) != i {
				short[i]--
				break
			}
		}
		r.ok(r.th.SpXcsrissymHost(r.sp, n, c.nnz, c.d, c.from, dev(r.rig, short, 4), c.index, flag))
		if r.info(flag) != 0 {
			t.Error("a row without its end is symmetric")
		}
	}
}

// TestSpPermute: A(p, q) in place, and the map of values.
func TestSpPermute(t *testing.T) {
	r := newSpRig(t)
	const m, n = 17, 23
	for base := range int32(2) {
		a := r.scattered(m, n)
		c := r.csr(a, base, base == 0)
		var p, q, places []int32
		for _, i := range r.rng.Perm(m) {
			p = append(p, int32(i))
		}
		for _, j := range r.rng.Perm(n) {
			q = append(q, int32(j))
		}
		for k := range c.nnz {
			places = append(places, int32(k))
		}
		rows, columns, moved := dev(r.rig, p, 4), dev(r.rig, q, 4), dev(r.rig, places, 4)
		size, err := r.th.SpXcsrpermBufferSizeHost(r.sp, m, n, c.nnz, c.d, c.from, c.index, rows, columns)
		r.ok(err)
		r.ok(r.th.SpXcsrpermHost(r.sp, m, n, c.nnz, c.d, c.from, c.index, rows, columns, moved, r.memory(int(size))))
		from, index, at := r.ints(c.from, m+1), r.ints(c.index, int(c.nnz)), r.ints(moved, int(c.nnz))
		old := r.get(c.values, int(c.nnz), 1, int(c.nnz)).v
		count := 0
		for i := range m {
			if row := index[from[i]-base : from[i+1]-base]; !slices.IsSorted(row) {
				t.Fatal("a row is not in order")
			}
			for k := from[i] - base; k < from[i+1]-base; k++ {
				count++
				if v := old[at[k]]; v != a.at(int(p[i]), int(q[index[k]-base])) {
					t.Fatalf("element %d, %d is %v", i, index[k]-base, v)
				}
			}
		}
		if count != int(c.nnz) {
			t.Errorf("%d elements", count)
		}
		if err := r.th.SpXcsrpermHost(r.sp, m, n, c.nnz, c.d, c.from, c.index, columns, columns, moved, 0); err != invalidValue {
			t.Errorf("no permutation of rows: %v", err)
		}
	}
}

func TestSpZeroFree(t *testing.T) {
	onSparse(t, func(r *spRig) {
		const n = 30
		a, mix := r.scattered(n, n), r.rng.Perm(n)
		b := newFull(n, n)
		for i := range n {
			for j := range n {
				b.set(i, j, a.at(mix[i], j))
			}
		}
		for base := range int32(2) {
			c := r.csr(b, base, false)
			p, count := r.memory(4*n), r.infoAt()
			r.ok(r.th.SpCsrzfdHost(r.sp, n, c.nnz, c.d, c.values, c.from, c.index, p, count, r.e))
			order, err := r.th.order(p, n)
			r.ok(err)
			if r.info(count) != n {
				t.Errorf("%d of %d", r.info(count), n)
			}
			for i, row := range order {
				if b.at(int(row), i) == 0 {
					t.Errorf("row %d has a zero at %d", row, i)
				}
			}
			for i := range n { // an element that is there and zero does not count
				b.set(i, 5, 0)
			}
			copy(hostmem.Bytes(c.values, uint64(r.e.Size())), cublas.Encode(r.e, 0))
			c = r.csr(b, base, false)
			r.ok(r.th.SpCsrzfdHost(r.sp, n, c.nnz, c.d, c.values, c.from, c.index, p, count, r.e))
			if r.info(count) != n-1 {
				t.Errorf("%d of %d", r.info(count), n-1)
			}
			b = a
		}
	})
}

// TestSpLU: LU in steps, its parts, and cuSolverRf with them.
func TestSpLU(t *testing.T) {
	onSparse(t, func(r *spRig) {
		const n = 35
		a := r.scattered(n, n)
		for base := range int32(2) {
			c := r.csr(a, base, base == 1)
			v, err := r.th.SpCreateCsrluInfoHost()
			r.ok(err)
			info := solver.CsrluInfoHost_t(v)
			b := r.random(n, 1).v
			x, position, sizes := r.memory(n*16), r.infoAt(), r.memory(16)
			factor := func(threshold float64) error {
				return r.th.SpCsrluFactorHost(r.sp, n, c.nnz, c.d, c.values, c.from, c.index, info, threshold, 0, r.e)
			}
			if err := factor(1); err != invalidValue {
				t.Errorf("without an analysis: %v", err)
			}
			r.ok(r.th.SpXcsrluAnalysisHost(r.sp, n, c.nnz, c.d, c.from, c.index, info))
			r.ok(r.th.SpCsrluBufferInfoHost(r.sp, n, c.nnz, c.d, c.values, c.from, c.index, info, sizes, sizes.Index(1, 8), r.e))
			if err := r.th.SpCsrluSolveHost(r.sp, n, r.list(b), x, info, 0, r.e); err != invalidValue {
				t.Errorf("without factors: %v", err)
			}
			for _, threshold := range []float64{1, 0.1} {
				r.ok(factor(threshold))
				r.ok(r.th.SpCsrluZeroPivotHost(r.sp, info, 0, position, r.e))
				if p := r.info(position); p != -1 {
					t.Errorf("pivot %d is zero", p)
				}
				r.ok(r.th.SpCsrluSolveHost(r.sp, n, r.list(b), x, info, 0, r.e))
				if threshold == 1 {
					c.solves(x, b, "LU")
				}
			}
			r.ok(factor(1))
			nnzL, nnzU := r.infoAt(), r.infoAt()
			r.ok(r.th.SpXcsrluNnzHost(r.sp, nnzL, nnzU, info))
			c.parts(info, int(r.info(nnzL)), int(r.info(nnzU)))
			r.ok(r.th.SpDestroyCsrluInfoHost(info))
			if err := factor(1); err != invalidValue {
				t.Errorf("without an info: %v", err)
			}
		}
	})
}

// parts compares L U with A, and has cuSolverRf factor A with them.
func (c *spCase) parts(info solver.CsrluInfoHost_t, nnzL, nnzU int) {
	r, n := c.r, c.a.n
	p, q := r.memory(4*n), r.memory(4*n)
	zero := r.describe(0, 0)
	fl, fu, il, iu := r.memory(4*n+4), r.memory(4*n+4), r.memory(4*nnzL), r.memory(4*nnzU)
	vl, vu := r.memory(nnzL*16), r.memory(nnzU*16)
	r.ok(r.th.SpCsrluExtractHost(r.sp, p, q, zero, vl, fl, il, zero, vu, fu, iu, info, 0, r.e))
	lower := eye(n)
	upper := newFull(n, n)
	for _, f := range []struct {
		to                  full
		values, from, index hostmem.Ptr
		nnz                 int
	}{{lower, vl, fl, il, nnzL}, {upper, vu, fu, iu, nnzU}} {
		v, from, index := r.get(f.values, f.nnz, 1, f.nnz).v, r.ints(f.from, n+1), r.ints(f.index, f.nnz)
		for i := range n {
			for k := from[i]; k < from[i+1]; k++ {
				f.to.set(i, int(index[k]), v[k])
			}
		}
	}
	rows, err := r.th.order(p, n)
	r.ok(err)
	columns, err := r.th.order(q, n)
	r.ok(err)
	want := newFull(n, n)
	for i := range n {
		for j := range n {
			want.set(i, j, c.a.at(int(rows[i]), int(columns[j])))
		}
	}
	r.within(r.ratio(lower.times(upper).minus(want), n, lower.norm()*upper.norm()), "L U - A(P, Q)")
	if r.e != F64 || c.base != 0 {
		return
	}
	h, err := r.th.RfCreate()
	r.ok(err)
	rf := RfHandle(h)
	r.ok(r.th.RfSetupHost(int64(n), c.nnz, c.from, c.index, c.values, int64(nnzL), fl, il, vl, int64(nnzU), fu, iu, vu, p, q, rf))
	r.ok(r.th.RfAnalyze(rf))
	r.ok(r.th.RfRefactor(rf))
	b := r.random(n, 1).v
	x := r.list(b)
	r.ok(r.th.RfSolve(rf, p, q, 1, 0, int64(n), x, int64(n)))
	c.solves(x, b, "cuSolverRf")
	r.ok(r.th.RfDestroy(rf))
}
