package cusolver

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cusolver/direct"
	"kudzu/internal/spec/rt"
	"kudzu/internal/spec/solver"
)

// cuSolverSp's QR in steps, of one matrix or of many with one pattern, and Cholesky.

// QRInfo and QRInfoHost are cuSOLVER's names.
type (
	QRInfo     = solver.CsrqrInfo_t
	QRInfoHost = solver.CsrqrInfoHost_t
)

func qrStep(h SpHandle, info QRInfo, e Elem) spStep {
	return spStep{h, uint64(info), byQR, onDevice, e}
}

func qrStepHost(h SpHandle, info QRInfoHost, e Elem) spStep {
	return spStep{h, uint64(info), byQR, onHost, e}
}

// SpCreateCsrqrInfo makes an info for QR.
func (t *Thread) SpCreateCsrqrInfo() (uint64, error) { return newInfo(byQR, onDevice) }

// SpCreateCsrqrInfoHost makes one for memory of the host.
func (t *Thread) SpCreateCsrqrInfoHost() (uint64, error) { return newInfo(byQR, onHost) }

// SpDestroyCsrqrInfo ends an info.
func (t *Thread) SpDestroyCsrqrInfo(info QRInfo) error { return dropInfo(uint64(info), byQR, onDevice) }

// SpDestroyCsrqrInfoHost ends one for memory of the host.
func (t *Thread) SpDestroyCsrqrInfoHost(info QRInfoHost) error {
	return dropInfo(uint64(info), byQR, onHost)
}

// SpXcsrqrAnalysis keeps the pattern of a matrix and finds that of R.
func (t *Thread) SpXcsrqrAnalysis(h SpHandle, m, n, nnz int64, d Descr, from, index hostmem.Ptr, info QRInfo) error {
	return t.analysis(qrStep(h, info, F64), &spMatrix{rows: m, columns: n, nnz: nnz, descr: d, from: from, index: index})
}

// SpXcsrqrAnalysisBatched is SpXcsrqrAnalysis.
func (t *Thread) SpXcsrqrAnalysisBatched(h SpHandle, m, n, nnz int64, d Descr, from, index hostmem.Ptr, info QRInfo) error {
	return t.SpXcsrqrAnalysis(h, m, n, nnz, d, from, index, info)
}

// SpXcsrqrAnalysisHost is SpXcsrqrAnalysis of memory of the host.
func (t *Thread) SpXcsrqrAnalysisHost(h SpHandle, m, n, nnz int64, d Descr, from, index hostmem.Ptr, info QRInfoHost) error {
	return t.analysis(qrStepHost(h, info, F64), &spMatrix{rows: m, columns: n, nnz: nnz, descr: d, from: from, index: index})
}

// SpCsrqrBufferInfo says sizes.
func (t *Thread) SpCsrqrBufferInfo(h SpHandle, m, n, nnz int64, d Descr, values, from, index hostmem.Ptr, info QRInfo, internal, workspace hostmem.Ptr, e Elem) error {
	return t.sizes(qrStep(h, info, e), &spMatrix{m, n, nnz, d, values, from, index, e}, 1, internal, workspace)
}

// SpCsrqrBufferInfoHost says sizes.
func (t *Thread) SpCsrqrBufferInfoHost(h SpHandle, m, n, nnz int64, d Descr, values, from, index hostmem.Ptr, info QRInfoHost, internal, workspace hostmem.Ptr, e Elem) error {
	return t.sizes(qrStepHost(h, info, e), &spMatrix{m, n, nnz, d, values, from, index, e}, 1, internal, workspace)
}

// SpCsrqrBufferInfoBatched says sizes for many matrices.
func (t *Thread) SpCsrqrBufferInfoBatched(h SpHandle, m, n, nnz int64, d Descr, values, from, index hostmem.Ptr, batch int64, info QRInfo, internal, workspace hostmem.Ptr, e Elem) error {
	return t.sizes(qrStep(h, info, e), &spMatrix{m, n, nnz, d, values, from, index, e}, batch, internal, workspace)
}

// setupStep reads A - mu I, which has a diagonal whether A has or not.
func setupStep[T direct.Number](t *Thread, x *spInfo, a *spMatrix, mu complex128) error {
	x.matrix, x.factors = nil, nil
	m, err := same[T](t, x, a)
	if err != nil {
		return err
	}
	if mu != 0 {
		m = m.Shifted(number[T](real(mu), imag(mu)))
		x.fill = direct.QRPattern(m.Pattern)
	}
	x.matrix, x.e = m, a.e
	return nil
}

func (t *Thread) setupQR(s spStep, a *spMatrix, mu complex128) error {
	return t.do(s, func(x *spInfo) error {
		if isComplex(s.e) {
			return setupStep[complex128](t, x, a, mu)
		}
		return setupStep[float64](t, x, a, mu)
	})
}

// SpCsrqrSetup takes A - mu I.
func (t *Thread) SpCsrqrSetup(h SpHandle, m, n, nnz int64, d Descr, values, from, index hostmem.Ptr, mu float64, info QRInfo, e Elem) error {
	return t.setupQR(qrStep(h, info, e), &spMatrix{m, n, nnz, d, values, from, index, e}, complex(mu, 0))
}

// SpCsrqrSetupC32 takes A - mu I.
func (t *Thread) SpCsrqrSetupC32(h SpHandle, m, n, nnz int64, d Descr, values, from, index hostmem.Ptr, mu rt.Float2, info QRInfo) error {
	return t.setupQR(qrStep(h, info, C32), &spMatrix{m, n, nnz, d, values, from, index, C32}, single(mu))
}

// SpCsrqrSetupC64 takes A - mu I.
func (t *Thread) SpCsrqrSetupC64(h SpHandle, m, n, nnz int64, d Descr, values, from, index hostmem.Ptr, mu rt.Double2, info QRInfo) error {
	return t.setupQR(qrStep(h, info, C64), &spMatrix{m, n, nnz, d, values, from, index, C64}, double(mu))
}

// SpCsrqrSetupHost takes A - mu I.
func (t *Thread) SpCsrqrSetupHost(h SpHandle, m, n, nnz int64, d Descr, values, from, index hostmem.Ptr, mu float64, info QRInfoHost, e Elem) error {
	return t.setupQR(qrStepHost(h, info, e), &spMatrix{m, n, nnz, d, values, from, index, e}, complex(mu, 0))
}

// SpCsrqrSetupHostC32 takes A - mu I.
func (t *Thread) SpCsrqrSetupHostC32(h SpHandle, m, n, nnz int64, d Descr, values, from, index hostmem.Ptr, mu rt.Float2, info QRInfoHost) error {
	return t.setupQR(qrStepHost(h, info, C32), &spMatrix{m, n, nnz, d, values, from, index, C32}, single(mu))
}

// SpCsrqrSetupHostC64 takes A - mu I.
func (t *Thread) SpCsrqrSetupHostC64(h SpHandle, m, n, nnz int64, d Descr, values, from, index hostmem.Ptr, mu rt.Double2, info QRInfoHost) error {
	return t.setupQR(qrStepHost(h, info, C64), &spMatrix{m, n, nnz, d, values, from, index, C64}, double(mu))
}

// factorQR factors what the setup took, and solves if there is a right-hand side.
func (t *Thread) factorQR(s spStep, a *spMatrix, b, x hostmem.Ptr) error {
	if err := t.factorSparse(s, a, 1); err != nil || b == hostmem.Nil || x == hostmem.Nil {
		return err
	}
	return t.solveSparse(s, a.rows, a.columns, b, x)
}

// SpCsrqrFactor factors what the setup took.
func (t *Thread) SpCsrqrFactor(h SpHandle, m, n, nnz int64, b, x hostmem.Ptr, info QRInfo, _ hostmem.Ptr, e Elem) error {
	return t.factorQR(qrStep(h, info, e), &spMatrix{rows: m, columns: n, nnz: nnz, e: e}, b, x)
}

// SpCsrqrFactorHost factors what the setup took.
func (t *Thread) SpCsrqrFactorHost(h SpHandle, m, n, nnz int64, b, x hostmem.Ptr, info QRInfoHost, _ hostmem.Ptr, e Elem) error {
	return t.factorQR(qrStepHost(h, info, e), &spMatrix{rows: m, columns: n, nnz: nnz, e: e}, b, x)
}

// SpCsrqrZeroPivot says the first element of R's diagonal that is zero, to tol.
func (t *Thread) SpCsrqrZeroPivot(h SpHandle, info QRInfo, tol float64, position hostmem.Ptr, e Elem) error {
	return t.pivot(qrStep(h, info, e), tol, position)
}

// SpCsrqrZeroPivotHost says the first element of R's diagonal that is zero, to tol.
func (t *Thread) SpCsrqrZeroPivotHost(h SpHandle, info QRInfoHost, tol float64, position hostmem.Ptr, e Elem) error {
	return t.pivot(qrStepHost(h, info, e), tol, position)
}

// SpCsrqrSolve minimizes |A x - b| with the factors.
func (t *Thread) SpCsrqrSolve(h SpHandle, m, n int64, b, x hostmem.Ptr, info QRInfo, _ hostmem.Ptr, e Elem) error {
	return t.solveSparse(qrStep(h, info, e), m, n, b, x)
}

// SpCsrqrSolveHost minimizes |A x - b| with the factors.
func (t *Thread) SpCsrqrSolveHost(h SpHandle, m, n int64, b, x hostmem.Ptr, info QRInfoHost, _ hostmem.Ptr, e Elem) error {
	return t.solveSparse(qrStepHost(h, info, e), m, n, b, x)
}

// SpCsrqrsvBatched minimizes |A x - b| for matrices of one pattern, their values, b and x one behind the other.
func (t *Thread) SpCsrqrsvBatched(h SpHandle, m, n, nnz int64, d Descr, values, from, index, b, x hostmem.Ptr, batch int64, info QRInfo, _ hostmem.Ptr, e Elem) error {
	if batch < 1 {
		return invalidValue
	}
	s, a := qrStep(h, info, e), &spMatrix{m, n, nnz, d, values, from, index, e}
	for range batch {
		if err := t.setupQR(s, a, 0); err != nil {
			return err
		}
		if err := t.factorQR(s, a, b, x); err != nil {
			return err
		}
		a.values, b, x = a.values.Index(int(nnz), e.Size()), b.Index(int(m), e.Size()), x.Index(int(n), e.Size())
	}
	return nil
}

// CholeskyInfo and CholeskyInfoHost are cuSOLVER's names.
type (
	CholeskyInfo     = solver.CsrcholInfo_t
	CholeskyInfoHost = solver.CsrcholInfoHost_t
)

func choleskyStep(h SpHandle, info CholeskyInfo, e Elem) spStep {
	return spStep{h, uint64(info), byCholesky, onDevice, e}
}

func choleskyStepHost(h SpHandle, info CholeskyInfoHost, e Elem) spStep {
	return spStep{h, uint64(info), byCholesky, onHost, e}
}

// SpCreateCsrcholInfo makes an info for Cholesky.
func (t *Thread) SpCreateCsrcholInfo() (uint64, error) { return newInfo(byCholesky, onDevice) }

// SpCreateCsrcholInfoHost makes one for memory of the host.
func (t *Thread) SpCreateCsrcholInfoHost() (uint64, error) { return newInfo(byCholesky, onHost) }

// SpDestroyCsrcholInfo ends an info.
func (t *Thread) SpDestroyCsrcholInfo(info CholeskyInfo) error {
	return dropInfo(uint64(info), byCholesky, onDevice)
}

// SpDestroyCsrcholInfoHost ends one for memory of the host.
func (t *Thread) SpDestroyCsrcholInfoHost(info CholeskyInfoHost) error {
	return dropInfo(uint64(info), byCholesky, onHost)
}

// SpXcsrcholAnalysis keeps the pattern of a matrix and finds that of L.
func (t *Thread) SpXcsrcholAnalysis(h SpHandle, n, nnz int64, d Descr, from, index hostmem.Ptr, info CholeskyInfo) error {
	return t.analysis(choleskyStep(h, info, F64), &spMatrix{rows: n, columns: n, nnz: nnz, descr: d, from: from, index: index})
}

// SpXcsrcholAnalysisHost is SpXcsrcholAnalysis of memory of the host.
func (t *Thread) SpXcsrcholAnalysisHost(h SpHandle, n, nnz int64, d Descr, from, index hostmem.Ptr, info CholeskyInfoHost) error {
	return t.analysis(choleskyStepHost(h, info, F64), &spMatrix{rows: n, columns: n, nnz: nnz, descr: d, from: from, index: index})
}

// SpCsrcholBufferInfo says sizes.
func (t *Thread) SpCsrcholBufferInfo(h SpHandle, n, nnz int64, d Descr, values, from, index hostmem.Ptr, info CholeskyInfo, internal, workspace hostmem.Ptr, e Elem) error {
	return t.sizes(choleskyStep(h, info, e), &spMatrix{n, n, nnz, d, values, from, index, e}, 1, internal, workspace)
}

// SpCsrcholBufferInfoHost says sizes.
func (t *Thread) SpCsrcholBufferInfoHost(h SpHandle, n, nnz int64, d Descr, values, from, index hostmem.Ptr, info CholeskyInfoHost, internal, workspace hostmem.Ptr, e Elem) error {
	return t.sizes(choleskyStepHost(h, info, e), &spMatrix{n, n, nnz, d, values, from, index, e}, 1, internal, workspace)
}

// SpCsrcholFactor factors the lower part of a matrix.
func (t *Thread) SpCsrcholFactor(h SpHandle, n, nnz int64, d Descr, values, from, index hostmem.Ptr, info CholeskyInfo, _ hostmem.Ptr, e Elem) error {
	return t.factorSparse(choleskyStep(h, info, e), &spMatrix{n, n, nnz, d, values, from, index, e}, 1)
}

// SpCsrcholFactorHost factors the lower part of a matrix.
func (t *Thread) SpCsrcholFactorHost(h SpHandle, n, nnz int64, d Descr, values, from, index hostmem.Ptr, info CholeskyInfoHost, _ hostmem.Ptr, e Elem) error {
	return t.factorSparse(choleskyStepHost(h, info, e), &spMatrix{n, n, nnz, d, values, from, index, e}, 1)
}

// SpCsrcholZeroPivot says the first pivot that is not positive, to tol.
func (t *Thread) SpCsrcholZeroPivot(h SpHandle, info CholeskyInfo, tol float64, position hostmem.Ptr, e Elem) error {
	return t.pivot(choleskyStep(h, info, e), tol, position)
}

// SpCsrcholZeroPivotHost says the first pivot that is not positive, to tol.
func (t *Thread) SpCsrcholZeroPivotHost(h SpHandle, info CholeskyInfoHost, tol float64, position hostmem.Ptr, e Elem) error {
	return t.pivot(choleskyStepHost(h, info, e), tol, position)
}

// SpCsrcholSolve solves with the factor.
func (t *Thread) SpCsrcholSolve(h SpHandle, n int64, b, x hostmem.Ptr, info CholeskyInfo, _ hostmem.Ptr, e Elem) error {
	return t.solveSparse(choleskyStep(h, info, e), n, n, b, x)
}

// SpCsrcholSolveHost solves with the factor.
func (t *Thread) SpCsrcholSolveHost(h SpHandle, n int64, b, x hostmem.Ptr, info CholeskyInfoHost, _ hostmem.Ptr, e Elem) error {
	return t.solveSparse(choleskyStepHost(h, info, e), n, n, b, x)
}

// SpCsrcholDiag gives the diagonal of L, which is real.
func (t *Thread) SpCsrcholDiag(h SpHandle, info CholeskyInfo, diag hostmem.Ptr, e Elem) error {
	return t.do(choleskyStep(h, info, e), func(x *spInfo) error {
		if isComplex(e) {
			return choleskyDiagonal[complex128](t, x, e, diag)
		}
		return choleskyDiagonal[float64](t, x, e, diag)
	})
}

func choleskyDiagonal[T direct.Number](t *Thread, x *spInfo, e Elem, to hostmem.Ptr) error {
	f, err := factored[*direct.Cholesky[T]](x, e)
	if err != nil {
		return err
	}
	return writeNumbers(t, to, f.Diagonal(), realOf(e))
}
