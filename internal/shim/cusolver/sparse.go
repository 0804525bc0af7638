package cusolver

import (
	"slices"

	"kudzu/internal/cudart"
	"kudzu/internal/driver"
	"kudzu/internal/handle"
	"kudzu/internal/hostmem"
	"kudzu/internal/lockrank"
	"kudzu/internal/shim/cusolver/direct"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
	"kudzu/internal/spec/solver"
)

// cuSolverSp: a call waits for the handle's stream, reads matrices from wherever they are, computes on the host (package direct) in double
// precision, and writes back. Streams that are being captured cannot be waited for, so that graphs have none of it. Functions
// whose name ends in Host do not look at the stream.

// SpHandle is cuSOLVER's name for one.
type SpHandle = solver.CusolverSpHandle_t

// Descr is cuSPARSE's description of a matrix.
type Descr = solver.CusparseMatDescr_t

// spHandle is what cusolverSpCreate gives.
type spHandle struct {
	mu     lockrank.Mutex[lockrank.SolverHandle]
	stream cu.CUstream // guarded by mu
}

var spHandles = handle.NewTable[spHandle](handle.CusolverSparse, "cuSOLVER handles for sparse matrices")

// SpCreate makes a handle on the current device.
func (t *Thread) SpCreate() (uint64, error) {
	if err := cudart.Ready(t.driver()); err != nil {
		return 0, notInitialized
	}
	v := spHandles.New(&spHandle{})
	if v == 0 {
		return 0, allocFailed
	}
	return uint64(v), nil
}

// SpDestroy ends a handle.
func (t *Thread) SpDestroy(h SpHandle) error {
	if spHandles.Delete(handle.Value(h)) == nil {
		return notInitialized
	}
	return nil
}

// SpSetStream is the stream whose work later calls wait for.
func (t *Thread) SpSetStream(h SpHandle, s rt.CudaStream_t) error {
	x := spHandles.Get(handle.Value(h))
	if x == nil {
		return notInitialized
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.stream = cu.CUstream(s)
	return nil
}

// SpGetStream is the stream set last.
func (t *Thread) SpGetStream(h SpHandle) (rt.CudaStream_t, error) {
	x := spHandles.Get(handle.Value(h))
	if x == nil {
		return 0, notInitialized
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return rt.CudaStream_t(x.stream), nil
}

// place is where the arguments of a call are.
type place int

const (
	onHost place = iota
	onDevice
)

// begin checks a handle, and waits for its stream.
func (t *Thread) begin(h SpHandle, at place) error {
	x := spHandles.Get(handle.Value(h))
	if x == nil {
		return notInitialized
	}
	if err := cudart.Ready(t.driver()); err != nil {
		return err
	}
	if at == onHost {
		return nil
	}
	x.mu.Lock()
	s := x.stream
	x.mu.Unlock()
	if err := t.driver().StreamSynchronize(s); err != nil {
		return executionFailed
	}
	return nil
}

// description is cuSPARSE's, which C made (c/base/shims.c).
type description struct{ Type, Fill, Diag, Base int32 }

// baseOf is the first index of a matrix that is described as a general one.
func baseOf(d Descr) (int32, error) {
	if d == 0 {
		return 0, invalidValue
	}
	v := hostmem.Load[description](hostmem.Ptr(d))
	if v.Type != 0 {
		return 0, wrongType
	}
	return v.Base, nil
}

// spMatrix is a matrix as calls have it.
type spMatrix struct {
	rows, columns, nnz  int64
	descr               Descr
	values, from, index hostmem.Ptr
	e                   Elem
}

// pattern reads where a matrix has elements. Rows may be in any order.
func (a *spMatrix) pattern(t *Thread) (p direct.Pattern, err error) {
	base, err := baseOf(a.descr)
	if err != nil {
		return p, err
	}
	if a.rows <= 0 || a.columns <= 0 || a.nnz <= 0 {
		return p, invalidValue
	}
	from, err := fetch[int32](t, a.from, int(a.rows)+1, 4)
	if err != nil {
		return p, err
	}
	p.Rows, p.Cols, p.From = int(a.rows), int(a.columns), make([]int, len(from))
	for i, v := range from {
		p.From[i] = int(v - base)
	}
	if p.From[0] != 0 || int64(p.From[a.rows]) != a.nnz || !slices.IsSorted(p.From) {
		return p, invalidValue
	}
	if p.Index, err = fetch[int32](t, a.index, int(a.nnz), 4); err != nil {
		return p, err
	}
	for k := range p.Index {
		p.Index[k] -= base
		if p.Index[k] < 0 || int64(p.Index[k]) >= a.columns {
			return p, invalidValue
		}
	}
	return p, nil
}

// sorted reports rows whose columns are in order.
func sorted(p direct.Pattern) bool {
	for i := range p.Rows {
		if !slices.IsSorted(p.Row(i)) {
			return false
		}
	}
	return true
}

// readMatrix is a matrix with its rows in order.
func readMatrix[T direct.Number](t *Thread, a *spMatrix) (*direct.Matrix[T], error) {
	p, err := a.pattern(t)
	if err != nil {
		return nil, err
	}
	values, err := readNumbers[T](t, a.values, int(a.nnz), a.e)
	if err != nil {
		return nil, err
	}
	return inOrder(p, values), nil
}

func inOrder[T direct.Number](p direct.Pattern, values []T) *direct.Matrix[T] {
	m := &direct.Matrix[T]{Pattern: p, Value: values}
	if sorted(p) {
		return m
	}
	return m.Sorted()
}

// number is one of either type, and parts are those of it.
func number[T direct.Number](re, im float64) T {
	var v T
	switch p := any(&v).(type) {
	case *float64:
		*p = re
	case *complex128:
		*p = complex(re, im)
	}
	return v
}

func parts[T direct.Number](v T) (re, im float64) {
	switch v := any(v).(type) {
	case float64:
		return v, 0
	case complex128:
		return real(v), imag(v)
	}
	panic("BUG: no other number")
}

// readNumbers reads values of type e.
func readNumbers[T direct.Number](t *Thread, p hostmem.Ptr, n int, e Elem) ([]T, error) {
	out := make([]T, n)
	switch e {
	case F32:
		return out, converted(t, p, e, out, func(v float32) T { return number[T](float64(v), 0) })
	case F64:
		return out, converted(t, p, e, out, func(v float64) T { return number[T](v, 0) })
	case C32:
		return out, converted(t, p, e, out, func(v complex64) T { return number[T](float64(real(v)), float64(imag(v))) })
	}
	return out, converted(t, p, e, out, func(v complex128) T { return number[T](real(v), imag(v)) })
}

func converted[T, U any](t *Thread, p hostmem.Ptr, e Elem, out []T, f func(U) T) error {
	v, err := fetch[U](t, p, len(out), e.Size())
	for i, x := range v {
		out[i] = f(x)
	}
	return err
}

// writeNumbers writes values as type e.
func writeNumbers[T direct.Number](t *Thread, p hostmem.Ptr, v []T, e Elem) error {
	switch e {
	case F32:
		return rounded(t, p, e, v, func(re, _ float64) float32 { return float32(re) })
	case F64:
		return rounded(t, p, e, v, func(re, _ float64) float64 { return re })
	case C32:
		return rounded(t, p, e, v, func(re, im float64) complex64 { return complex(float32(re), float32(im)) })
	}
	return rounded(t, p, e, v, func(re, im float64) complex128 { return complex(re, im) })
}

func rounded[T direct.Number, U any](t *Thread, p hostmem.Ptr, e Elem, v []T, f func(re, im float64) U) error {
	out := make([]U, len(v))
	for i, x := range v {
		out[i] = f(parts(x))
	}
	return store(t, p, out, e.Size())
}

// store copies a list to wherever it belongs.
func store[T any](t *Thread, p hostmem.Ptr, v []T, size int) error {
	if len(v) == 0 {
		return nil
	}
	if p == hostmem.Nil {
		return invalidValue
	}
	return t.driver().Memcpy(driver.DevPtr(p), driver.DevPtr(hostmem.Of(&v[0])), uint64(len(v)*size))
}

func isComplex(e Elem) bool { return e == C32 || e == C64 }
