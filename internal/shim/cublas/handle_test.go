package cublas

import (
	"fmt"
	"sync"
	"testing"

	"kudzu/internal/driver"
	"kudzu/internal/shim/cublas/ref"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
)

// TestThreads shares one handle and stream among threads, none of which ever asked for a context: every product and every sum is its own.
func TestThreads(t *testing.T) {
	onDevice(t, func(r *rig) {
		r.mode(false)
		const n, workers = 40, 4
		rounds := 300
		if r.tiny {
			rounds = 2
		}
		type one struct{ a, b, c, sum array }
		var all [workers]one
		for i := range all {
			all[i] = one{r.random(F32, n*n), r.random(F32, n*n), r.nan(F32, n*n), r.result(F32, false)}
		}
		alpha, beta := r.scalar(F32, 1, false), r.scalar(F32, 0, false)
		var wg sync.WaitGroup
		errs := make([]error, workers)
		for i := range all {
			wg.Go(func() {
				th, x := new(Thread), &all[i]
				for range rounds {
					if err := th.Sgemm(r.h, 0, 0, n, n, n, alpha, x.a.p, n, x.b.p, n, beta, x.c.p, n); err != nil {
						errs[i] = err
						return
					}
				}
				errs[i] = th.Sasum(r.h, n*n, x.a.p, 1, x.sum.p)
			})
		}
		wg.Wait()
		for _, err := range errs {
			r.ok(err)
		}
		r.sync()
		for i, x := range all {
			want, size := make([]complex128, n*n), make([]float64, n*n)
			ref.Product(n, n, n, 1, 0, matrix(x.a.values(), n, 0, 0), matrix(x.b.values(), n, 0, 0), want, n, size)
			r.near(fmt.Sprintf("thread %d", i), x.c, want, size, F32, n)
			var sum float64
			for _, v := range x.a.values() {
				sum += max(real(v), -real(v))
			}
			r.near(fmt.Sprintf("sum of thread %d", i), x.sum, []complex128{complex(sum, 0)}, []float64{sum}, F32, n*n/32)
		}
	})
}

// TestModes: every mode is what it was set to last, only known values are taken, and every function wants a handle.
func TestModes(t *testing.T) {
	onDevice(t, func(r *rig) {
		th := r.th
		mode, err := th.GetPointerMode(r.h)
		if r.ok(err); mode != blas.CUBLAS_POINTER_MODE_HOST {
			t.Errorf("a new handle has pointer mode %d", mode)
		}
		math, err := th.GetMathMode(r.h)
		if r.ok(err); math != blas.CUBLAS_DEFAULT_MATH {
			t.Errorf("a new handle has math mode %d", math)
		}
		atomics, err := th.GetAtomicsMode(r.h)
		if r.ok(err); atomics != blas.CUBLAS_ATOMICS_NOT_ALLOWED {
			t.Errorf("a new handle has atomics mode %d", atomics)
		}
		for _, m := range []blas.CublasMath_t{blas.CUBLAS_TENSOR_OP_MATH, blas.CUBLAS_PEDANTIC_MATH, blas.CUBLAS_TF32_TENSOR_OP_MATH,
			blas.CUBLAS_TF32_TENSOR_OP_MATH | blas.CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION, blas.CUBLAS_DEFAULT_MATH} {
			r.ok(th.SetMathMode(r.h, m))
			if got, err := th.GetMathMode(r.h); err != nil || got != m {
				t.Errorf("math mode is %d, %v, want %d", got, err, m)
			}
		}
		r.ok(th.SetAtomicsMode(r.h, blas.CUBLAS_ATOMICS_ALLOWED))
		if got, _ := th.GetAtomicsMode(r.h); got != blas.CUBLAS_ATOMICS_ALLOWED {
			t.Errorf("atomics mode is %d", got)
		}
		r.ok(th.SetSmCountTarget(r.h, 3))
		if got, _ := th.GetSmCountTarget(r.h); got != 3 {
			t.Errorf("the target is %d", got)
		}
		space := r.empty(F64, 1024)
		r.ok(th.SetWorkspace(r.h, space.p&^255, 4096))
		const none = blas.CublasHandle_t(12345)
		for i, c := range []struct {
			err  error
			want Status
		}{
			{th.SetPointerMode(r.h, 2), invalidValue}, {th.SetAtomicsMode(r.h, 2), invalidValue}, {th.SetMathMode(r.h, 99), invalidValue},
			{th.SetSmCountTarget(r.h, -1), invalidValue}, {th.SetWorkspace(r.h, space.p&^255+8, 4096), invalidValue},
			{th.SetPointerMode(none, 0), notInitialized}, {th.SetAtomicsMode(none, 0), notInitialized}, {th.SetMathMode(none, 0), notInitialized},
			{th.SetSmCountTarget(none, 0), notInitialized}, {th.SetWorkspace(none, 0, 0), notInitialized}, {th.SetStream(none, 0), notInitialized},
			{th.Destroy(none), notInitialized}, {th.Destroy(0), notInitialized}, {th.GetLoggerCallback(0), invalidValue},
			{th.GemmEx(none, 0, 0, 1, 1, 1, 0, 0, 99, 1, 0, 99, 1, 0, 0, 99, 1, 0, 0), notInitialized},
			{th.DotEx(none, 1, 0, 99, 1, 0, 99, 1, 0, 99, 99), notInitialized},
		} {
			if c.err == nil || StatusOf(c.err) != c.want {
				t.Errorf("call %d: %v, want %v", i, c.err, c.want)
			}
		}
		second, err := th.Create()
		r.ok(err)
		r.ok(th.Destroy(blas.CublasHandle_t(second)))
		r.is(th.Destroy(blas.CublasHandle_t(second)), notInitialized)
		r.is(th.Saxpy(blas.CublasHandle_t(second), 0, 0, 0, 1, 0, 1), notInitialized)
	})
}

// TestOrder: work follows what its stream held before, and a change of stream leaves earlier work where it is. The scalars of pointer mode
// DEVICE are read when the work runs.
func TestOrder(t *testing.T) {
	onDevice(t, func(r *rig) {
		d := r.th.driver()
		a, b := must(d.StreamCreate(uint32(cu.CU_STREAM_NON_BLOCKING))), must(d.StreamCreate(uint32(cu.CU_STREAM_NON_BLOCKING)))
		const n = 5000
		x, y, alpha := r.empty(F32, n), r.empty(F32, n), r.scalar(F32, 1, true)
		for i := range n {
			x.set(i, 1)
			y.set(i, 0)
		}
		e := must(d.EventCreate(0))
		r.mode(true)
		r.ok(r.th.SetStream(r.h, rt.CudaStream_t(a)))
		r.ok(d.MemsetD32Async(driver.DevPtr(alpha), 0x40400000, 1, a)) // 3, after which axpy reads it
		r.ok(r.th.Saxpy(r.h, n, alpha, x.p, 1, y.p, 1))
		r.ok(d.EventRecord(e, a))
		r.ok(r.th.SetStream(r.h, rt.CudaStream_t(b)))
		if got, err := r.th.GetStream(r.h); err != nil || got != rt.CudaStream_t(b) {
			t.Errorf("the stream is %v, %v", got, err)
		}
		r.ok(d.StreamWaitEvent(b, e, 0))
		r.ok(r.th.Sscal(r.h, n, alpha, y.p, 1))
		r.ok(d.StreamSynchronize(b))
		for i := range n {
			if y.get(i) != 9 {
				t.Fatalf("element %d is %v, want 9", i, y.get(i))
			}
		}
		r.ok(r.th.SetStream(r.h, 0))
		r.ok(d.EventDestroy(e))
		r.ok(d.StreamDestroy(a))
		r.ok(d.StreamDestroy(b))
	})
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
