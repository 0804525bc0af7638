package cublas

import (
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/shim/again"
	"kudzu/internal/spec/blas"
)

// Calls that are one launch and whose arguments decide the rest: C makes them from a template without Go.

// template describes a call with such addresses, in the order of its arguments. nil: somebody else may do it, or wants to see it.
func (j *job) template(h blas.CublasHandle_t, patches ...driver.Patch) *driver.Template {
	if again.On() || multiplier.Load() != nil {
		return nil
	}
	return &driver.Template{Generation: j.gen, Handle: uint64(h), Modes: j.x.modes, Now: [2]uint64{uint64(j.stream), uint64(j.mode)}, Patches: patches}
}

// where a Scalar has the address of its number among its parameters.
const scalarAt = 16

// scalar is one that Scalar.Put lays out at an offset.
func (j *job) scalar(p hostmem.Ptr, e Elem, offset int, notZero bool) driver.Patch {
	if j.mode == blas.CUBLAS_POINTER_MODE_DEVICE {
		return driver.Argument(p, offset+scalarAt)
	}
	return driver.HostNumber(p, offset, e == F64 || e == C64, e == C32 || e == C64, notZero)
}

// productTemplate is for products of one launch, whose kernels all begin with A, B, C, alpha and beta. With an alpha of 0 there is no product.
func (j *job) productTemplate(h blas.CublasHandle_t, alpha, beta hostmem.Ptr, o *operands, e Elem) *driver.Template {
	if e != F32 && e != F64 && e != C32 && e != C64 {
		return nil // their kernels are not one launch
	}
	const view, scalar = 32, 32
	return j.template(h, j.scalar(alpha, e, 3*view, true), driver.Argument(o.a, 0), driver.Argument(o.b, view), j.scalar(beta, e, 3*view+scalar, false), driver.Argument(o.c, 2*view))
}
