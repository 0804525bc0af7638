package cublas

import (
	"slices"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/rt"
)

// Functions on vectors that take the types as arguments. A handle that is none is answered before types that are not supported.

// exOf is the type all operands of an Ex function on vectors must have, with sums and scalars of f32 beside half types.
func (t *Thread) exOf(h blas.CublasHandle_t, types ...rt.CudaDataType) (Elem, error) {
	if _, err := t.handle(h); err != nil {
		return 0, err
	}
	if unknown(types...) {
		return 0, invalidValue
	}
	e, _ := ElemOf(types[0])
	if e == S8 || e == S32 {
		return 0, notSupported
	}
	for _, other := range types[1:] {
		if other != types[0] {
			return 0, notSupported
		}
	}
	return e, nil
}

// unknown: one of them is no type that cuBLAS has vectors or scalars of.
func unknown(types ...rt.CudaDataType) bool {
	return slices.ContainsFunc(types, func(t rt.CudaDataType) bool {
		_, ok := ElemOf(t)
		return !ok
	})
}

// executes checks the type an Ex function computes with: f32 for half types, the operands' own otherwise.
func executes(e Elem, t rt.CudaDataType) bool {
	w, ok := ElemOf(t)
	return ok && (w == e || ((e == F16 || e == BF16) && w == F32))
}

// DotEx is dot with the types as arguments.
func (t *Thread) DotEx(h blas.CublasHandle_t, n int64, x hostmem.Ptr, xt rt.CudaDataType, incx int64, y hostmem.Ptr, yt rt.CudaDataType, incy int64, result hostmem.Ptr, resultType, execution rt.CudaDataType) error {
	return t.dotEx(h, n, x, xt, incx, y, yt, incy, result, resultType, execution, false)
}

// DotcEx is DotEx with x conjugated.
func (t *Thread) DotcEx(h blas.CublasHandle_t, n int64, x hostmem.Ptr, xt rt.CudaDataType, incx int64, y hostmem.Ptr, yt rt.CudaDataType, incy int64, result hostmem.Ptr, resultType, execution rt.CudaDataType) error {
	return t.dotEx(h, n, x, xt, incx, y, yt, incy, result, resultType, execution, true)
}

func (t *Thread) dotEx(h blas.CublasHandle_t, n int64, x hostmem.Ptr, xt rt.CudaDataType, incx int64, y hostmem.Ptr, yt rt.CudaDataType, incy int64, result hostmem.Ptr, resultType, execution rt.CudaDataType, conjugate bool) error {
	e, err := t.exOf(h, xt, yt, resultType)
	if err == nil && unknown(execution) {
		err = invalidValue
	} else if err == nil && !executes(e, execution) {
		err = notSupported
	}
	if err != nil {
		return err
	}
	return t.dot(h, n, x, incx, y, incy, result, e, conjugate)
}

// Nrm2Ex is nrm2 with the types as arguments.
func (t *Thread) Nrm2Ex(h blas.CublasHandle_t, n int64, x hostmem.Ptr, xt rt.CudaDataType, incx int64, result hostmem.Ptr, resultType, execution rt.CudaDataType) error {
	return t.normEx(h, "nrm2", n, x, xt, incx, result, resultType, execution)
}

// normEx takes the types that an H200 took, of the result and of the computation: sums of half types are f32, norms are not, and complex
// numbers have sums computed with complex ones, and norms with real ones.
func (t *Thread) normEx(h blas.CublasHandle_t, what string, n int64, x hostmem.Ptr, xt rt.CudaDataType, incx int64, result hostmem.Ptr, resultType, execution rt.CudaDataType) error {
	e, err := t.exOf(h, xt)
	if err != nil {
		return err
	}
	r, known := ElemOf(resultType)
	w, computes := ElemOf(execution)
	to, with := normElem(what, e), e.real()
	if e == F16 || e == BF16 {
		with = F32
	} else if what == "asum" {
		with = e
	}
	if !known || !computes {
		return invalidValue
	}
	if r != to || w != with {
		return notSupported
	}
	return t.norm(h, what, n, x, incx, result, e)
}

// normElem is the type of nrm2 or asum of a type.
func normElem(what string, e Elem) Elem {
	if what == "asum" && (e == F16 || e == BF16) {
		return F32
	}
	return e.real()
}

// AxpyEx is axpy with the types as arguments.
func (t *Thread) AxpyEx(h blas.CublasHandle_t, n int64, alpha hostmem.Ptr, at rt.CudaDataType, x hostmem.Ptr, xt rt.CudaDataType, incx int64, y hostmem.Ptr, yt rt.CudaDataType, incy int64, execution rt.CudaDataType) error {
	e, err := t.exOf(h, xt, yt)
	if err != nil {
		return err
	}
	if unknown(at, execution) {
		return invalidValue
	}
	a, _ := ElemOf(at)
	if a == BF16 || !executes(e, at) || !executes(e, execution) {
		return notSupported
	}
	return t.axpy(h, n, alpha, a, x, incx, y, incy, e)
}

// ScalEx is scal with the types as arguments.
func (t *Thread) ScalEx(h blas.CublasHandle_t, n int64, alpha hostmem.Ptr, at rt.CudaDataType, x hostmem.Ptr, xt rt.CudaDataType, incx int64, execution rt.CudaDataType) error {
	e, err := t.exOf(h, xt)
	if err != nil {
		return err
	}
	if unknown(at, execution) {
		return invalidValue
	}
	a, _ := ElemOf(at)
	if a == BF16 || !executes(e, at) || !executes(e, execution) {
		return notSupported
	}
	return t.scal(h, n, alpha, a, x, incx, e)
}

// CopyEx is copy with the types as arguments.
func (t *Thread) CopyEx(h blas.CublasHandle_t, n int64, x hostmem.Ptr, xt rt.CudaDataType, incx int64, y hostmem.Ptr, yt rt.CudaDataType, incy int64) error {
	e, err := t.exOf(h, xt, yt)
	if err != nil {
		return err
	}
	return t.pair(h, "copy", n, x, incx, y, incy, e)
}

// SwapEx is swap with the types as arguments.
func (t *Thread) SwapEx(h blas.CublasHandle_t, n int64, x hostmem.Ptr, xt rt.CudaDataType, incx int64, y hostmem.Ptr, yt rt.CudaDataType, incy int64) error {
	e, err := t.exOf(h, xt, yt)
	if err != nil {
		return err
	}
	return t.pair(h, "swap", n, x, incx, y, incy, e)
}

func (t *Thread) bestEx(h blas.CublasHandle_t, n int64, x hostmem.Ptr, xt rt.CudaDataType, incx int64, result hostmem.Ptr, least, wide bool) error {
	e, err := t.exOf(h, xt)
	if err != nil {
		return err
	}
	return t.best(h, n, x, incx, result, e, least, wide)
}

// IamaxEx is iamax with the type as an argument.
func (t *Thread) IamaxEx(h blas.CublasHandle_t, n int64, x hostmem.Ptr, xt rt.CudaDataType, incx int64, result hostmem.Ptr) error {
	return t.bestEx(h, n, x, xt, incx, result, false, false)
}

// IamaxEx64 is IamaxEx with an index of 64 bits.
func (t *Thread) IamaxEx64(h blas.CublasHandle_t, n int64, x hostmem.Ptr, xt rt.CudaDataType, incx int64, result hostmem.Ptr) error {
	return t.bestEx(h, n, x, xt, incx, result, false, true)
}

// IaminEx is iamin with the type as an argument.
func (t *Thread) IaminEx(h blas.CublasHandle_t, n int64, x hostmem.Ptr, xt rt.CudaDataType, incx int64, result hostmem.Ptr) error {
	return t.bestEx(h, n, x, xt, incx, result, true, false)
}

// IaminEx64 is IaminEx with an index of 64 bits.
func (t *Thread) IaminEx64(h blas.CublasHandle_t, n int64, x hostmem.Ptr, xt rt.CudaDataType, incx int64, result hostmem.Ptr) error {
	return t.bestEx(h, n, x, xt, incx, result, true, true)
}

// AsumEx is asum with the types as arguments.
func (t *Thread) AsumEx(h blas.CublasHandle_t, n int64, x hostmem.Ptr, xt rt.CudaDataType, incx int64, result hostmem.Ptr, resultType, execution rt.CudaDataType) error {
	return t.normEx(h, "asum", n, x, xt, incx, result, resultType, execution)
}

// RotEx is rot with the types as arguments; c and s have one, which may be real beside complex vectors. A complex s has a complex
// c beside it, of which only the real part counts.
func (t *Thread) RotEx(h blas.CublasHandle_t, n int64, x hostmem.Ptr, xt rt.CudaDataType, incx int64, y hostmem.Ptr, yt rt.CudaDataType, incy int64, c, s hostmem.Ptr, cst, execution rt.CudaDataType) error {
	e, err := t.exOf(h, xt, yt)
	if err != nil {
		return err
	}
	cs, ok := ElemOf(cst)
	if !ok || (cs != e && cs != e.real()) || !executes(e, execution) {
		return notSupported
	}
	return t.Rot(h, n, x, incx, y, incy, c, s, e, cs)
}

// RotgEx is rotg with the types as arguments.
func (t *Thread) RotgEx(h blas.CublasHandle_t, a, b hostmem.Ptr, abt rt.CudaDataType, c, s hostmem.Ptr, cst, execution rt.CudaDataType) error {
	e, err := t.exOf(h, abt)
	if err != nil {
		return err
	}
	if cs, ok := ElemOf(cst); !ok || cs != e || !executes(e, execution) {
		return notSupported
	}
	return t.Rotg(h, a, b, c, s, e)
}

// RotmEx is rotm with the types as arguments.
func (t *Thread) RotmEx(h blas.CublasHandle_t, n int64, x hostmem.Ptr, xt rt.CudaDataType, incx int64, y hostmem.Ptr, yt rt.CudaDataType, incy int64, param hostmem.Ptr, pt, execution rt.CudaDataType) error {
	e, err := t.exOf(h, xt, yt, pt)
	if err != nil {
		return err
	}
	if e.real() != e || !executes(e, execution) {
		return notSupported
	}
	return t.Rotm(h, n, x, incx, y, incy, param, e)
}

// RotmgEx is rotmg with the types as arguments, which must be one.
func (t *Thread) RotmgEx(h blas.CublasHandle_t, d1 hostmem.Ptr, d1t rt.CudaDataType, d2 hostmem.Ptr, d2t rt.CudaDataType, x1 hostmem.Ptr, x1t rt.CudaDataType, y1 hostmem.Ptr, y1t rt.CudaDataType, param hostmem.Ptr, pt, execution rt.CudaDataType) error {
	e, err := t.exOf(h, d1t, d2t, x1t, y1t, pt)
	if err != nil {
		return err
	}
	if e.real() != e || !executes(e, execution) {
		return notSupported
	}
	return t.rotmg(h, [5]hostmem.Ptr{d1, d2, x1, y1, param}, e)
}
