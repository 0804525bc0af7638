package cublas

import (
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/shim/again"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/cu"
)

// job is one call: its handle's stream and pointer mode, seen once, on a thread that has a context: one that never called the runtime
// gets its device's, as from any other call of the runtime.
type job struct {
	d      *driver.Thread
	x      *Handle
	stream cu.CUstream
	mode   blas.CublasPointerMode_t
	gen    uint64 // of calls that C makes (like.go)
}

func (t *Thread) job(h blas.CublasHandle_t) (*job, error) {
	gen := driver.Generation() // before anything is looked at
	x, err := Enter(t.driver(), uint64(h))
	if err != nil {
		return nil, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return &job{t.driver(), x, x.stream, x.pointers, gen}, nil
}

// Vector is an operand of the kernels: a negative increment begins at the last element.
type vector struct {
	base uint64
	inc  int64
}

func vectorAt(p hostmem.Ptr, n, inc int64, e Elem) vector {
	v := vector{uint64(p), inc}
	if inc < 0 && n > 0 {
		v.base += uint64((1-n)*inc) * uint64(e.Size())
	}
	return v
}

func (v vector) put(q *shim.Params) { q.U64(v.base, uint64(v.inc)) }

const (
	threads  = 256
	maxElems = 1024 // blocks of a kernel that goes over a vector
)

// over is the grid of a kernel that goes over n elements.
func over(n int64) [3]uint32 {
	return [3]uint32{uint32(min((n+threads-1)/threads, maxElems)), 1, 1}
}

// checked runs a call, and has it done again where somebody asked for that.
func (j *job) checked(sums func() *Sum, run func() error) error {
	if again.On() {
		return sums().Do(j.d, j.stream, run)
	}
	return run()
}

// each launches a kernel that goes over n elements.
func (j *job) each(name string, n int64, q *shim.Params) error {
	return level1Kernels.Launch(j.d, j.stream, name, over(n), [3]uint32{threads, 1, 1}, q)
}

func (t *Thread) axpy(h blas.CublasHandle_t, n int64, alpha hostmem.Ptr, scalar Elem, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, e Elem) error {
	j, err := t.job(h)
	if err != nil || n <= 0 {
		return err
	}
	a, err := ScalarAt(alpha, scalar, j.mode)
	if err != nil || a.IsZero() {
		return err
	}
	vx, vy := vectorAt(x, n, incx, e), vectorAt(y, n, incy, e)
	var q shim.Params
	vx.put(&q)
	vy.put(&q)
	a.Put(&q)
	return j.checked(func() *Sum { return axpySums(vx, vy, a, n, e) }, func() error { return j.each("axpy_"+e.String(), n, q.U64(uint64(n))) })
}

func (t *Thread) scal(h blas.CublasHandle_t, n int64, alpha hostmem.Ptr, scalar Elem, x hostmem.Ptr, incx int64, e Elem) error {
	j, err := t.job(h)
	if err != nil || n <= 0 || incx <= 0 {
		return err
	}
	a, err := ScalarAt(alpha, scalar, j.mode)
	if err != nil {
		return err
	}
	name := "scal_"
	if (e == C32 || e == C64) && scalar != e {
		name = "scalr_"
	}
	vx := vectorAt(x, n, incx, e)
	var q shim.Params
	vx.put(&q)
	a.Put(&q)
	return j.checked(func() *Sum { return scalSums(vx, a, n, e) }, func() error { return j.each(name+e.String(), n, q.U64(uint64(n))) })
}

func (t *Thread) pair(h blas.CublasHandle_t, what string, n int64, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, e Elem) error {
	j, err := t.job(h)
	if err != nil || n <= 0 {
		return err
	}
	vx, vy := vectorAt(x, n, incx, e), vectorAt(y, n, incy, e)
	var q shim.Params
	vx.put(&q)
	vy.put(&q)
	return j.checked(func() *Sum { return pairSums(what, vx, vy, n, e) }, func() error { return j.each(what+"_"+e.String(), n, q.U64(uint64(n))) })
}

// Rot turns the pairs of x and y: s has the vectors' type, or is real beside complex vectors, as factor says; c is always real.
func (t *Thread) Rot(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, c, s hostmem.Ptr, e, ofS Elem) error {
	j, err := t.job(h)
	if err != nil || n <= 0 {
		return err
	}
	cosine, err := ScalarAt(c, e.real(), j.mode)
	if err != nil {
		return err
	}
	sine, err := ScalarAt(s, ofS, j.mode)
	if err != nil {
		return err
	}
	name := "rot_"
	if ofS != e {
		name = "rotr_"
	}
	vx, vy := vectorAt(x, n, incx, e), vectorAt(y, n, incy, e)
	var q shim.Params
	vx.put(&q)
	vy.put(&q)
	cosine.Put(&q)
	sine.Put(&q)
	q.U64(uint64(n))
	return j.checked(func() *Sum { return rotSums(vx, vy, cosine, sine, n, e) }, func() error {
		if e == F16 || e == BF16 {
			return rotateKernels.Launch(j.d, j.stream, name+e.String(), over(n), [3]uint32{threads, 1, 1}, &q)
		}
		return j.each(name+e.String(), n, &q)
	})
}

// real is the type of a number's parts.
func (e Elem) real() Elem {
	switch e {
	case C32:
		return F32
	case C64:
		return F64
	case F32, F64, F16, BF16, S8, S32, C8:
	}
	return e
}

const (
	leastPart = 4096 // elements a block sums; fewer are not worth another block
	mostParts = 1024
	partSize  = 32 // bytes, at least those of every partial result
)

// reduce runs both steps of a sum: name over parts of the vectors, end over what the parts left, and brings the result of
// size bytes where the pointer mode says. Without elements the result is zero.
func (j *job) reduce(name, end string, n int64, vs []vector, result hostmem.Ptr, size int, flags, endFlags []uint32) error {
	if result == hostmem.Nil {
		return invalidValue
	}
	if n <= 0 {
		if j.mode == blas.CUBLAS_POINTER_MODE_DEVICE {
			return j.d.MemsetD8Async(driver.DevPtr(result), 0, uint64(size), j.stream)
		}
		clear(hostmem.Bytes(result, uint64(size)))
		return nil
	}
	per := max(leastPart, (n+mostParts-1)/mostParts)
	parts := (n + per - 1) / per
	if err := j.parts(name, end, n, per, parts, vs, result, size, flags, endFlags); err != nil || j.mode == blas.CUBLAS_POINTER_MODE_DEVICE {
		return err
	}
	return j.d.StreamSynchronize(j.stream)
}

// parts enqueues what reduce says: no other call comes between the steps.
func (j *job) parts(name, end string, n, per, parts int64, vs []vector, result hostmem.Ptr, size int, flags, endFlags []uint32) error {
	j.x.space.Hold()
	defer j.x.space.Release()
	at, err := j.x.space.Take(j.d, j.stream, uint64(parts+1)*partSize)
	if err != nil {
		return err
	}
	var q shim.Params
	for _, v := range vs {
		v.put(&q)
	}
	q.U64(uint64(n), uint64(per), uint64(at)+partSize).U32(flags...)
	if err := level1Kernels.Launch(j.d, j.stream, name, [3]uint32{uint32(parts), 1, 1}, [3]uint32{32, 1, 1}, &q); err != nil {
		return err
	}
	to := uint64(result)
	if j.mode == blas.CUBLAS_POINTER_MODE_HOST {
		to = uint64(at)
	}
	var r shim.Params
	r.U64(uint64(at) + partSize).U32(uint32(parts)).U64(to).U32(endFlags...)
	if err := level1Kernels.Launch(j.d, j.stream, end, [3]uint32{1, 1, 1}, [3]uint32{32, 1, 1}, &r); err != nil {
		return err
	}
	if j.mode == blas.CUBLAS_POINTER_MODE_DEVICE {
		return nil
	}
	return j.d.MemcpyDtoHAsync(result, at, uint64(size), j.stream)
}

func (t *Thread) dot(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, result hostmem.Ptr, e Elem, conjugate bool) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	flag := uint32(0)
	if conjugate {
		flag = 1
	}
	vs := []vector{vectorAt(x, n, incx, e), vectorAt(y, n, incy, e)}
	run := func() error {
		return j.reduce("dot_"+e.String(), "dotend_"+e.String(), n, vs, result, e.Size(), []uint32{flag}, nil)
	}
	if n <= 0 || result == hostmem.Nil {
		return run()
	}
	return j.checked(func() *Sum { return dotSums(vs[0], vs[1], n, j.result(result, e), e, conjugate) }, run)
}

func (t *Thread) norm(h blas.CublasHandle_t, what string, n int64, x hostmem.Ptr, incx int64, result hostmem.Ptr, e Elem) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	if incx <= 0 { // as the vendor and BLAS: nothing to sum
		n = 0
	}
	v, to, end := vectorAt(x, n, incx, e), normElem(what, e), e
	if to != e.real() {
		end = to
	}
	run := func() error {
		return j.reduce(what+"_"+e.String(), what+"end_"+end.String(), n, []vector{v}, result, to.Size(), nil, nil)
	}
	if n <= 0 || result == hostmem.Nil {
		return run()
	}
	return j.checked(func() *Sum { return normSums(what, v, n, j.result(result, to), e) }, run)
}

func (t *Thread) best(h blas.CublasHandle_t, n int64, x hostmem.Ptr, incx int64, result hostmem.Ptr, e Elem, least, wide bool) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	if incx <= 0 {
		n = 0
	}
	size, flag, width := 4, uint32(0), uint32(0)
	if wide {
		size, width = 8, 1
	}
	if least {
		flag = 1
	}
	v := vectorAt(x, n, incx, e)
	run := func() error {
		return j.reduce("best_"+e.String(), "bestend", n, []vector{v}, result, size, []uint32{flag}, []uint32{width})
	}
	if n <= 0 || result == hostmem.Nil {
		return run()
	}
	return j.checked(func() *Sum { return bestSums(v, n, j.result(result, S32), e, least) }, run)
}
