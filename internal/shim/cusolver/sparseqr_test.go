package cusolver

import (
	"math"
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/rt"
)

// qrCalls are the steps of QR for one kind of memory.
type qrCalls struct {
	create  func() (uint64, error)
	destroy func(uint64) error
	analyze func(c *spCase, info uint64) error
	sizes   func(c *spCase, info uint64, to hostmem.Ptr) error
	setup   func(c *spCase, info uint64, mu complex128) error
	factor  func(c *spCase, info uint64, b, x hostmem.Ptr) error
	pivot   func(info uint64, tol float64, to hostmem.Ptr) error
	solve   func(c *spCase, info uint64, b, x hostmem.Ptr) error
}

func (c *spCase) size() (m, n int64) { return int64(c.a.m), int64(c.a.n) }

func qrOnDevice(r *spRig) qrCalls {
	return qrCalls{
		r.th.SpCreateCsrqrInfo,
		func(info uint64) error { return r.th.SpDestroyCsrqrInfo(QRInfo(info)) },
		func(c *spCase, info uint64) error {
			m, n := c.size()
			return r.th.SpXcsrqrAnalysis(r.sp, m, n, c.nnz, c.d, c.from, c.index, QRInfo(info))
		},
		func(c *spCase, info uint64, to hostmem.Ptr) error {
			m, n := c.size()
			return r.th.SpCsrqrBufferInfo(r.sp, m, n, c.nnz, c.d, c.values, c.from, c.index, QRInfo(info), to, to.Index(1, 8), r.e)
		},
		func(c *spCase, info uint64, mu complex128) error {
			m, n := c.size()
			switch r.e {
			case C32:
				return r.th.SpCsrqrSetupC32(r.sp, m, n, c.nnz, c.d, c.values, c.from, c.index, rt.Float2{X: float32(real(mu)), Y: float32(imag(mu))}, QRInfo(info))
			case C64:
				return r.th.SpCsrqrSetupC64(r.sp, m, n, c.nnz, c.d, c.values, c.from, c.index, rt.Double2{X: real(mu), Y: imag(mu)}, QRInfo(info))
			}
			return r.th.SpCsrqrSetup(r.sp, m, n, c.nnz, c.d, c.values, c.from, c.index, real(mu), QRInfo(info), r.e)
		},
		func(c *spCase, info uint64, b, x hostmem.Ptr) error {
			m, n := c.size()
			return r.th.SpCsrqrFactor(r.sp, m, n, c.nnz, b, x, QRInfo(info), 0, r.e)
		},
		func(info uint64, tol float64, to hostmem.Ptr) error {
			return r.th.SpCsrqrZeroPivot(r.sp, QRInfo(info), tol, to, r.e)
		},
		func(c *spCase, info uint64, b, x hostmem.Ptr) error {
			m, n := c.size()
			return r.th.SpCsrqrSolve(r.sp, m, n, b, x, QRInfo(info), 0, r.e)
		},
	}
}

func qrOnHost(r *spRig) qrCalls {
	return qrCalls{
		r.th.SpCreateCsrqrInfoHost,
		func(info uint64) error { return r.th.SpDestroyCsrqrInfoHost(QRInfoHost(info)) },
		func(c *spCase, info uint64) error {
			m, n := c.size()
			return r.th.SpXcsrqrAnalysisHost(r.sp, m, n, c.nnz, c.d, c.from, c.index, QRInfoHost(info))
		},
		func(c *spCase, info uint64, to hostmem.Ptr) error {
			m, n := c.size()
			return r.th.SpCsrqrBufferInfoHost(r.sp, m, n, c.nnz, c.d, c.values, c.from, c.index, QRInfoHost(info), to, to.Index(1, 8), r.e)
		},
		func(c *spCase, info uint64, mu complex128) error {
			m, n := c.size()
			switch r.e {
			case C32:
				return r.th.SpCsrqrSetupHostC32(r.sp, m, n, c.nnz, c.d, c.values, c.from, c.index, rt.Float2{X: float32(real(mu)), Y: float32(imag(mu))}, QRInfoHost(info))
			case C64:
				return r.th.SpCsrqrSetupHostC64(r.sp, m, n, c.nnz, c.d, c.values, c.from, c.index, rt.Double2{X: real(mu), Y: imag(mu)}, QRInfoHost(info))
			}
			return r.th.SpCsrqrSetupHost(r.sp, m, n, c.nnz, c.d, c.values, c.from, c.index, real(mu), QRInfoHost(info), r.e)
		},
		func(c *spCase, info uint64, b, x hostmem.Ptr) error {
			m, n := c.size()
			return r.th.SpCsrqrFactorHost(r.sp, m, n, c.nnz, b, x, QRInfoHost(info), 0, r.e)
		},
		func(info uint64, tol float64, to hostmem.Ptr) error {
			return r.th.SpCsrqrZeroPivotHost(r.sp, QRInfoHost(info), tol, to, r.e)
		},
		func(c *spCase, info uint64, b, x hostmem.Ptr) error {
			m, n := c.size()
			return r.th.SpCsrqrSolveHost(r.sp, m, n, b, x, QRInfoHost(info), 0, r.e)
		},
	}
}

// TestSpQR: QR in steps, with a shift and with more rows than columns.
func TestSpQR(t *testing.T) {
	onSparse(t, func(r *spRig) {
		for i, f := range []qrCalls{qrOnDevice(r), qrOnHost(r)} {
			const n = 30
			c := r.csr(r.scattered(n, n), int32(i), i == 1)
			info, err := f.create()
			r.ok(err)
			sizes, position, x := r.memory(16), r.infoAt(), r.memory(n*16)
			b := r.random(n, 1).v
			if err := f.setup(c, info, 0); err != invalidValue {
				t.Errorf("without an analysis: %v", err)
			}
			r.ok(f.analyze(c, info))
			r.ok(f.sizes(c, info, sizes))
			if err := f.factor(c, info, 0, 0); err != invalidValue {
				t.Errorf("without a setup: %v", err)
			}
			for _, mu := range []complex128{0, r.round(0.75), 0} {
				r.ok(f.setup(c, info, mu))
				r.ok(f.factor(c, info, 0, 0))
				r.ok(f.pivot(info, 0, position))
				if p := r.info(position); p != -1 {
					t.Errorf("singular at %d", p)
				}
				r.ok(f.solve(c, info, r.list(b), x))
				for k := range n {
					c.a.set(k, k, c.a.at(k, k)-mu)
				}
				c.solves(x, b, "QR")
				r.ok(f.factor(c, info, r.list(b), x))
				c.solves(x, b, "QR at once")
				for k := range n {
					c.a.set(k, k, c.a.at(k, k)+mu)
				}
			}
			tall := r.csr(r.scattered(n+13, n), 0, false)
			right := r.random(n+13, 1)
			r.ok(f.analyze(tall, info))
			r.ok(f.setup(tall, info, 0))
			r.ok(f.factor(tall, info, 0, 0))
			r.ok(f.solve(tall, info, r.list(right.v), x))
			got := r.get(x, n, 1, n)
			a := tall.a
			r.within(r.ratio(a.adjoint().times(a.times(got).minus(right)), n+13, a.norm()*(a.norm()*got.norm()+right.norm())), "A'(A x - b)")
			if err := f.setup(c, info, 0); err != invalidValue {
				t.Errorf("a matrix of another pattern: %v", err)
			}
			r.ok(f.destroy(info))
			if err := f.destroy(info); err != invalidValue {
				t.Errorf("destroyed twice: %v", err)
			}
		}
	})
}

// TestSpBatch: matrices of one pattern.
func TestSpBatch(t *testing.T) {
	onSparse(t, func(r *spRig) {
		const n, batch = 16, 3
		first := r.csr(r.scattered(n, n), 1, false)
		var all []*spCase
		var values, b []complex128
		for range batch {
			a := first.a.clone()
			for i, v := range a.v {
				a.v[i] = r.round(v * complex(1+r.rng.Float64(), 0))
			}
			c := r.csr(a, 1, false)
			all = append(all, c)
			values = append(values, r.get(c.values, int(c.nnz), 1, int(c.nnz)).v...)
			b = append(b, r.random(n, 1).v...)
		}
		v, err := r.th.SpCreateCsrqrInfo()
		r.ok(err)
		info, sizes, x := QRInfo(v), r.memory(16), r.memory(n*batch*16)
		r.ok(r.th.SpXcsrqrAnalysisBatched(r.sp, n, n, first.nnz, first.d, first.from, first.index, info))
		at := r.list(values)
		r.ok(r.th.SpCsrqrBufferInfoBatched(r.sp, n, n, first.nnz, first.d, at, first.from, first.index, batch, info, sizes, sizes.Index(1, 8), r.e))
		if hostmem.Load[uint64](sizes) == 0 || hostmem.Load[uint64](sizes.Index(1, 8)) == 0 {
			t.Error("no sizes")
		}
		r.ok(r.th.SpCsrqrsvBatched(r.sp, n, n, first.nnz, first.d, at, first.from, first.index, r.list(b), x, batch, info, 0, r.e))
		for i, c := range all {
			c.solves(x.Index(i*n, r.e.Size()), b[i*n:(i+1)*n], "batch")
		}
		if err := r.th.SpCsrqrsvBatched(r.sp, n, n, first.nnz, first.d, at, first.from, first.index, x, x, 0, info, 0, r.e); err != invalidValue {
			t.Errorf("no matrices: %v", err)
		}
		r.ok(r.th.SpDestroyCsrqrInfo(info))
	})
}

// TestSpCholesky: Cholesky in steps.
func TestSpCholesky(t *testing.T) {
	onSparse(t, func(r *spRig) {
		const n = 33
		c := r.csr(r.definite(n), 1, true)
		v, err := r.th.SpCreateCsrcholInfo()
		r.ok(err)
		w, err := r.th.SpCreateCsrcholInfoHost()
		r.ok(err)
		info, host := CholeskyInfo(v), CholeskyInfoHost(w)
		sizes, position, x := r.memory(16), r.infoAt(), r.memory(n*16)
		b := r.random(n, 1).v
		r.ok(r.th.SpXcsrcholAnalysis(r.sp, n, c.nnz, c.d, c.from, c.index, info))
		r.ok(r.th.SpXcsrcholAnalysisHost(r.sp, n, c.nnz, c.d, c.from, c.index, host))
		r.ok(r.th.SpCsrcholBufferInfo(r.sp, n, c.nnz, c.d, c.values, c.from, c.index, info, sizes, sizes.Index(1, 8), r.e))
		r.ok(r.th.SpCsrcholBufferInfoHost(r.sp, n, c.nnz, c.d, c.values, c.from, c.index, host, sizes, sizes.Index(1, 8), r.e))
		if err := r.th.SpCsrcholSolve(r.sp, n, r.list(b), x, info, 0, r.e); err != invalidValue {
			t.Errorf("without a factor: %v", err)
		}
		r.ok(r.th.SpCsrcholFactor(r.sp, n, c.nnz, c.d, c.values, c.from, c.index, info, 0, r.e))
		r.ok(r.th.SpCsrcholZeroPivot(r.sp, info, 0, position, r.e))
		if p := r.info(position); p != -1 {
			t.Errorf("pivot %d", p)
		}
		r.ok(r.th.SpCsrcholSolve(r.sp, n, r.list(b), x, info, 0, r.e))
		c.solves(x, b, "Cholesky")
		diag := r.memory(n * 8)
		r.ok(r.th.SpCsrcholDiag(r.sp, info, diag, r.e))
		if d := r.values(diag, n); !(math.Abs(d[0]*d[0]-n) < 100*r.eps()*n) || !(d[n-1] > 0) || d[n-1]*d[n-1] > n {
			t.Errorf("the diagonal begins with %g", d[0])
		}
		r.ok(r.th.SpCsrcholFactorHost(r.sp, n, c.nnz, c.d, c.values, c.from, c.index, host, 0, r.e))
		r.ok(r.th.SpCsrcholSolveHost(r.sp, n, r.list(b), x, host, 0, r.e))
		c.solves(x, b, "Cholesky, host")
		c.a.set(12, 12, -1)
		bad := r.csr(c.a, 1, true)
		r.ok(r.th.SpCsrcholFactorHost(r.sp, n, bad.nnz, bad.d, bad.values, bad.from, bad.index, host, 0, r.e))
		r.ok(r.th.SpCsrcholZeroPivotHost(r.sp, host, 0, position, r.e))
		if p := r.info(position); p != 12 {
			t.Errorf("pivot %d", p)
		}
		if err := r.th.SpCsrcholSolveHost(r.sp, n, r.list(b), x, host, 0, r.e); err != invalidValue {
			t.Errorf("with a factor that is none: %v", err)
		}
		r.ok(r.th.SpDestroyCsrcholInfo(info))
		r.ok(r.th.SpDestroyCsrcholInfoHost(host))
		r.ok(r.th.SpDestroyCsrcholInfoHost(0))
		if err := r.th.SpDestroyCsrcholInfo(CholeskyInfo(w)); err != invalidValue {
			t.Errorf("an info that is gone: %v", err)
		}
	})
}
