package cublas

import (
	"math"

	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/cu"
)

// The functions of cublasXt. Scalars lie in the host's memory, matrices anywhere.

// scalars reads alpha and beta.
func scalars(alpha, beta hostmem.Ptr, ofAlpha, ofBeta Elem) (a, b Scalar, err error) {
	if a, err = ScalarAt(alpha, ofAlpha, blas.CUBLAS_POINTER_MODE_HOST); err != nil {
		return a, b, err
	}
	b, err = ScalarAt(beta, ofBeta, blas.CUBLAS_POINTER_MODE_HOST)
	return a, b, err
}

// sideOf is the rows of a matrix that is read with an operation, of r × c.
func sideOf(op Op, r, c uint64) uint64 {
	if transposes(op) {
		return c
	}
	return r
}

func fits(ld, rows uint64) bool { return ld >= max(1, rows) }

// XtGemm is C = alpha op(A) op(B) + beta C.
func (t *Thread) XtGemm(h XtHandle, ta, tb Op, m, n, k uint64, alpha, a hostmem.Ptr, lda uint64, b hostmem.Ptr, ldb uint64, beta, c hostmem.Ptr, ldc uint64, e Elem) error {
	x, err := t.tiled(h, blas.CUBLASXT_GEMM, e, m, n, k, lda, ldb, ldc)
	if err != nil {
		return err
	}
	if !validOp(ta) || !validOp(tb) || !fits(lda, sideOf(ta, m, k)) || !fits(ldb, sideOf(tb, k, n)) || !fits(ldc, m) {
		return invalidValue
	}
	if m == 0 || n == 0 {
		return nil
	}
	al, be, err := scalars(alpha, beta, e, e)
	if err != nil {
		return err
	}
	s := &sum{m: int64(m), n: int64(n), k: int64(k), beta: be, c: c, ldc: int64(ldc),
		terms: []term{{al, operand{at: a, ld: int64(lda), op: ta}, operand{at: b, ld: int64(ldb), op: tb}}}}
	own := x.own(s)
	if err := x.run(s); err != nil || own == nil {
		return err
	}
	own()
	return nil
}

// own takes the program's part of a product away, its last rows, as an H200 does: what it returns does them. A program's function can only be
// given memory of the host, and sizes of 32 bits.
func (c *tiled) own(s *sum) func() {
	call := routine.Load()
	rows := int64(math.Floor(c.share.ratio * float64(s.m)))
	t := &s.terms[0]
	if call == nil || c.share.routine == 0 || rows == 0 || !c.hostOnly(t.x.at, t.y.at, s.c) ||
		max(s.m, s.n, s.k, t.x.ld, t.y.ld, s.ldc) > math.MaxInt32 {
		return nil
	}
	first := s.m - rows
	s.m = first
	x := c.address(t.x.at, t.x.ld, first, 0)
	if transposes(t.x.op) {
		x = c.address(t.x.at, t.x.ld, 0, first)
	}
	at := [3]uint64{x, uint64(t.y.at), c.address(s.c, s.ldc, first, 0)}
	p := &Product{M: rows, N: s.n, K: s.k, Batch: 1, TA: c.e, TC: c.e, Sum: c.e,
		A: View{Base: at[0], LD: t.x.ld, Op: t.x.op}, B: View{Base: at[1], LD: t.y.ld, Op: t.y.op}, C: View{Base: at[2], LD: s.ldc}}
	h := &HostProduct{Product: p, At: [][3]uint64{at}, Alpha: t.alpha.now(), Beta: s.beta.now()}
	return func() { (*call)(c.share.routine, h) }
}

// hostOnly reports that no address is one of a device.
func (c *tiled) hostOnly(at ...hostmem.Ptr) bool {
	for _, p := range at {
		kind := new(uint32)
		err := c.d.PointerGetAttribute(hostmem.Of(kind), cu.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, driver.DevPtr(p))
		if err == nil && *kind == uint32(cu.CU_MEMORYTYPE_DEVICE) {
			return false
		}
	}
	return true
}

// XtSymm is C = alpha A B + beta C, or B A, with A symmetric.
func (t *Thread) XtSymm(h XtHandle, side Side, fill Fill, m, n uint64, alpha, a hostmem.Ptr, lda uint64, b hostmem.Ptr, ldb uint64, beta, c hostmem.Ptr, ldc uint64, e Elem) error {
	return t.xtSymm(h, blas.CUBLASXT_SYMM, side, fill, m, n, alpha, operand{at: a, ld: int64(lda), shape: symmetric, fill: fill}, b, ldb, beta, c, ldc, e)
}

// XtHemm is XtSymm with A Hermitian.
func (t *Thread) XtHemm(h XtHandle, side Side, fill Fill, m, n uint64, alpha, a hostmem.Ptr, lda uint64, b hostmem.Ptr, ldb uint64, beta, c hostmem.Ptr, ldc uint64, e Elem) error {
	return t.xtSymm(h, blas.CUBLASXT_HEMM, side, fill, m, n, alpha, operand{at: a, ld: int64(lda), shape: hermitian, fill: fill}, b, ldb, beta, c, ldc, e)
}

// XtSpmm is XtSymm with A packed.
func (t *Thread) XtSpmm(h XtHandle, side Side, fill Fill, m, n uint64, alpha, ap, b hostmem.Ptr, ldb uint64, beta, c hostmem.Ptr, ldc uint64, e Elem) error {
	o := operand{at: ap, shape: symmetric, fill: fill, packed: true, order: int64(m)}
	if side == blas.CUBLAS_SIDE_RIGHT {
		o.order = int64(n)
	}
	o.ld = max(1, o.order)
	return t.xtSymm(h, blas.CUBLASXT_SPMM, side, fill, m, n, alpha, o, b, ldb, beta, c, ldc, e)
}

func (t *Thread) xtSymm(h XtHandle, what blas.CublasXtBlasOp_t, side Side, fill Fill, m, n uint64, alpha hostmem.Ptr, a operand, b hostmem.Ptr, ldb uint64, beta, c hostmem.Ptr, ldc uint64, e Elem) error {
	x, err := t.tiled(h, what, e, m, n, uint64(a.ld), ldb, ldc)
	if err != nil {
		return err
	}
	order := m
	if side == blas.CUBLAS_SIDE_RIGHT {
		order = n
	}
	if !validSide(side) || !validFill(fill) || !fits(uint64(a.ld), order) || !fits(ldb, m) || !fits(ldc, m) {
		return invalidValue
	}
	if m == 0 || n == 0 {
		return nil
	}
	al, be, err := scalars(alpha, beta, e, e)
	if err != nil {
		return err
	}
	one := term{al, a, operand{at: b, ld: int64(ldb)}}
	if side == blas.CUBLAS_SIDE_RIGHT {
		one.x, one.y = one.y, one.x
	}
	return x.run(&sum{m: int64(m), n: int64(n), k: int64(order), beta: be, c: c, ldc: int64(ldc), terms: []term{one}})
}

// rank is C = alpha A B' (+ alpha' B A') + beta C in one triangle.
type rank struct {
	what      blas.CublasXtBlasOp_t
	hermitian bool
	two       bool
	scalar    Elem // alpha's type
	ofBeta    Elem
}

func (t *Thread) xtRank(h XtHandle, fill Fill, op Op, n, k uint64, alpha, a hostmem.Ptr, lda uint64, b hostmem.Ptr, ldb uint64, beta, c hostmem.Ptr, ldc uint64, e Elem, r rank) error {
	x, err := t.tiled(h, r.what, e, n, k, lda, ldb, ldc)
	if err != nil {
		return err
	}
	wrong := (r.hermitian && op == blas.CUBLAS_OP_T) || (!r.hermitian && op == blas.CUBLAS_OP_C && e.real() != e)
	if !validFill(fill) || !validOp(op) || wrong || !fits(lda, sideOf(op, n, k)) || !fits(ldb, sideOf(op, n, k)) || !fits(ldc, n) {
		return invalidValue
	}
	if n == 0 {
		return nil
	}
	al, be, err := scalars(alpha, beta, r.scalar, r.ofBeta)
	if err != nil {
		return err
	}
	left, right := Op(blas.CUBLAS_OP_N), Op(blas.CUBLAS_OP_T)
	if r.hermitian {
		right = blas.CUBLAS_OP_C
	}
	if op != blas.CUBLAS_OP_N {
		left, right = right, left
	}
	s := &sum{m: int64(n), n: int64(n), k: int64(k), beta: be, c: c, ldc: int64(ldc), part: PartLower, real: r.hermitian}
	if fill == blas.CUBLAS_FILL_MODE_UPPER {
		s.part = PartUpper
	}
	s.terms = []term{{al, operand{at: a, ld: int64(lda), op: left}, operand{at: b, ld: int64(ldb), op: right}}}
	if r.two {
		if r.hermitian {
			al.Im = -al.Im
		}
		s.terms = append(s.terms, term{al, operand{at: b, ld: int64(ldb), op: left}, operand{at: a, ld: int64(lda), op: right}})
	}
	return x.run(s)
}

// XtSyrk is C = alpha A A' + beta C in one triangle.
func (t *Thread) XtSyrk(h XtHandle, fill Fill, op Op, n, k uint64, alpha, a hostmem.Ptr, lda uint64, beta, c hostmem.Ptr, ldc uint64, e Elem) error {
	return t.xtRank(h, fill, op, n, k, alpha, a, lda, a, lda, beta, c, ldc, e, rank{blas.CUBLASXT_SYRK, false, false, e, e})
}

// XtHerk is XtSyrk with the conjugate transpose, and real alpha and beta.
func (t *Thread) XtHerk(h XtHandle, fill Fill, op Op, n, k uint64, alpha, a hostmem.Ptr, lda uint64, beta, c hostmem.Ptr, ldc uint64, e Elem) error {
	return t.xtRank(h, fill, op, n, k, alpha, a, lda, a, lda, beta, c, ldc, e, rank{blas.CUBLASXT_HERK, true, false, e.real(), e.real()})
}

// XtSyr2k is C = alpha A B' + alpha B A' + beta C in one triangle.
func (t *Thread) XtSyr2k(h XtHandle, fill Fill, op Op, n, k uint64, alpha, a hostmem.Ptr, lda uint64, b hostmem.Ptr, ldb uint64, beta, c hostmem.Ptr, ldc uint64, e Elem) error {
	return t.xtRank(h, fill, op, n, k, alpha, a, lda, b, ldb, beta, c, ldc, e, rank{blas.CUBLASXT_SYR2K, false, true, e, e})
}

// XtHer2k is XtSyr2k with the conjugate transpose, and a real beta.
func (t *Thread) XtHer2k(h XtHandle, fill Fill, op Op, n, k uint64, alpha, a hostmem.Ptr, lda uint64, b hostmem.Ptr, ldb uint64, beta, c hostmem.Ptr, ldc uint64, e Elem) error {
	return t.xtRank(h, fill, op, n, k, alpha, a, lda, b, ldb, beta, c, ldc, e, rank{blas.CUBLASXT_HER2K, true, true, e, e.real()})
}

// XtSyrkx is XtSyrk with a second matrix in the place of A'.
func (t *Thread) XtSyrkx(h XtHandle, fill Fill, op Op, n, k uint64, alpha, a hostmem.Ptr, lda uint64, b hostmem.Ptr, ldb uint64, beta, c hostmem.Ptr, ldc uint64, e Elem) error {
	return t.xtRank(h, fill, op, n, k, alpha, a, lda, b, ldb, beta, c, ldc, e, rank{blas.CUBLASXT_SYRKX, false, false, e, e})
}

// XtHerkx is XtSyrkx with the conjugate transpose, and a real beta.
func (t *Thread) XtHerkx(h XtHandle, fill Fill, op Op, n, k uint64, alpha, a hostmem.Ptr, lda uint64, b hostmem.Ptr, ldb uint64, beta, c hostmem.Ptr, ldc uint64, e Elem) error {
	return t.xtRank(h, fill, op, n, k, alpha, a, lda, b, ldb, beta, c, ldc, e, rank{blas.CUBLASXT_HERKX, true, false, e, e.real()})
}

// panelsOf checks what trmm and trsm are given. It is nil if there is nothing to do.
func (t *Thread) panelsOf(h XtHandle, what blas.CublasXtBlasOp_t, side Side, fill Fill, op Op, diag Diag, m, n uint64, alpha, a hostmem.Ptr, lda uint64, b hostmem.Ptr, ldb uint64, c hostmem.Ptr, ldc uint64, e Elem) (*tiled, *panels, error) {
	x, err := t.tiled(h, what, e, m, n, lda, ldb, ldc)
	if err != nil {
		return nil, nil, err
	}
	order := m
	if side == blas.CUBLAS_SIDE_RIGHT {
		order = n
	}
	if !validSide(side) || !validFill(fill) || !validOp(op) || !validDiag(diag) || !fits(lda, order) || !fits(ldb, m) || !fits(ldc, m) {
		return nil, nil, invalidValue
	}
	if m == 0 || n == 0 {
		return nil, nil, nil
	}
	al, err := ScalarAt(alpha, e, blas.CUBLAS_POINTER_MODE_HOST)
	if err != nil {
		return nil, nil, err
	}
	return x, &panels{m: int64(m), n: int64(n), right: side == blas.CUBLAS_SIDE_RIGHT, alpha: al, b: b, c: c, ldb: int64(ldb), ldc: int64(ldc),
		a: operand{at: a, ld: int64(lda), op: op, shape: triangular, fill: fill, diag: diag}}, nil
}

// XtTrmm is C = alpha op(A) B, or B op(A), with A triangular; C may be B.
func (t *Thread) XtTrmm(h XtHandle, side Side, fill Fill, op Op, diag Diag, m, n uint64, alpha, a hostmem.Ptr, lda uint64, b hostmem.Ptr, ldb uint64, c hostmem.Ptr, ldc uint64, e Elem) error {
	x, s, err := t.panelsOf(h, blas.CUBLASXT_TRMM, side, fill, op, diag, m, n, alpha, a, lda, b, ldb, c, ldc, e)
	if err != nil || s == nil {
		return err
	}
	return s.multiply(x)
}

// XtTrsm solves op(A) X = alpha B, or X op(A) = alpha B, in place.
func (t *Thread) XtTrsm(h XtHandle, side Side, fill Fill, op Op, diag Diag, m, n uint64, alpha, a hostmem.Ptr, lda uint64, b hostmem.Ptr, ldb uint64, e Elem) error {
	x, s, err := t.panelsOf(h, blas.CUBLASXT_TRSM, side, fill, op, diag, m, n, alpha, a, lda, b, ldb, b, ldb, e)
	if err != nil || s == nil {
		return err
	}
	return s.solve(x)
}
