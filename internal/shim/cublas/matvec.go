package cublas

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/shim/again"
	"kudzu/internal/spec/blas"
)

// line is a batch of vectors as a View: the increment takes the place of a column's distance, and a negative one begins
// at the last element.
func line(p hostmem.Ptr, stride, n, inc int64, list bool, e Elem) View {
	v := View{Base: uint64(p), Stride: stride, LD: inc, List: list}
	if inc < 0 && n > 0 {
		if list {
			v.Stride = (1 - n) * inc
		} else {
			v.Base += uint64((1-n)*inc) * uint64(e.Size())
		}
	}
	return v
}

func (t *Thread) gemv(h blas.CublasHandle_t, op Op, m, n int64, alpha, beta hostmem.Ptr, o operands, e Elem) error {
	return t.gemvOf(h, op, m, n, alpha, beta, o, kinds{ab: e, c: e, sum: e, scalar: e})
}

// gemvOf is gemv with a type for A and x, one for y, and one for sums and scalars.
func (t *Thread) gemvOf(h blas.CublasHandle_t, op Op, m, n int64, alpha, beta hostmem.Ptr, o operands, e kinds) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	if m < 0 || n < 0 || o.batch < 0 || !validOp(op) || o.lda < max(1, m) || o.ldb == 0 || o.ldc == 0 {
		return invalidValue
	}
	if m >= maxSide || n >= maxSide {
		return notSupported
	}
	if m == 0 || n == 0 || o.batch == 0 {
		return nil
	}
	a, err := ScalarAt(alpha, e.scalar, j.mode)
	if err != nil {
		return err
	}
	b, err := ScalarAt(beta, e.scalar, j.mode)
	if err != nil {
		return err
	}
	name, grid, block := "gemvn_", uint32((m+31)/32), [3]uint32{32, 1, 1}
	lx, ly := n, m
	if op != blas.CUBLAS_OP_N {
		name, grid, block = "gemvt_", uint32((n+7)/8), [3]uint32{32, 8, 1}
		lx, ly = m, n
	}
	matrix := View{Base: uint64(o.a), Stride: o.sa, LD: o.lda, List: o.list, Op: op}
	x, y := line(o.b, o.sb, lx, o.ldb, o.list, e.ab), line(o.c, o.sc, ly, o.ldc, o.list, e.c)
	run := func() error { return j.gemv(name, matrix, x, y, a, b, m, n, o.batch, grid, block, e) }
	if again.On() {
		return gemvSums(matrix, x, y, a, b, m, n, o.batch, e).Do(j.d, j.stream, run)
	}
	return run()
}

// gemv puts the kernels in.
func (j *job) gemv(name string, matrix, x, y View, a, b Scalar, m, n, batch int64, grid uint32, block [3]uint32, e kinds) error {
	for first := int64(0); first < batch; first += maxGrid {
		var q shim.Params
		matrix.From(first, 0, e.ab).Put(&q)
		x.From(first, 0, e.ab).Put(&q)
		y.From(first, 0, e.c).Put(&q)
		a.Put(&q)
		b.Put(&q)
		q.U32(uint32(m), uint32(n))
		if err := level2Kernels.Launch(j.d, j.stream, name+e.ab.String()+"_"+e.c.String(), [3]uint32{grid, 1, uint32(min(batch-first, maxGrid))}, block, &q); err != nil {
			return err
		}
	}
	return nil
}

func (t *Thread) ger(h blas.CublasHandle_t, m, n int64, alpha, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, a hostmem.Ptr, lda int64, e Elem, conjugate bool) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	if m < 0 || n < 0 || incx == 0 || incy == 0 || lda < max(1, m) {
		return invalidValue
	}
	if m >= maxSide || n >= maxSide {
		return notSupported
	}
	if m == 0 || n == 0 {
		return nil
	}
	s, err := ScalarAt(alpha, e, j.mode)
	if err != nil || s.IsZero() {
		return err
	}
	vx, vy := vectorAt(x, m, incx, e), vectorAt(y, n, incy, e)
	run := func() error { return j.ger(vx, vy, s, m, n, a, lda, e, conjugate) }
	if again.On() {
		return gerSums(vx, vy, s, m, n, View{Base: uint64(a), LD: lda}, e, conjugate).Do(j.d, j.stream, run)
	}
	return run()
}

// ger puts the kernels in.
func (j *job) ger(vx, vy vector, s Scalar, m, n int64, a hostmem.Ptr, lda int64, e Elem, conjugate bool) error {
	return inColumns(n, func(first, count int64) error {
		var q shim.Params
		View{Base: uint64(a), LD: lda}.From(0, first, e).Put(&q)
		vx.put(&q)
		vy.from(first, e).put(&q)
		s.Put(&q)
		q.U32(uint32(m), uint32(count), flag(conjugate))
		return level2Kernels.Launch(j.d, j.stream, "ger_"+e.String(), sheet(m, count), [3]uint32{32, 1, 1}, &q)
	})
}

// from is the vector that begins at a later element.
func (v vector) from(first int64, e Elem) vector {
	v.base += uint64(first*v.inc) * uint64(e.Size())
	return v
}

// sheet is the grid of kernels that take 32 rows and 32 columns a warp.
func sheet(m, n int64) [3]uint32 {
	return [3]uint32{uint32((m + 31) / 32), uint32((n + 31) / 32), 1}
}

// inColumns calls f for as many columns at a time as a sheet takes.
func inColumns(n int64, f func(first, count int64) error) error {
	for first := int64(0); first < n; first += 32 * maxGrid {
		if err := f(first, min(n-first, 32*maxGrid)); err != nil {
			return err
		}
	}
	return nil
}
