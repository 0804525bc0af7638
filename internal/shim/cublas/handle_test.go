package cublas

import (
	"fmt"
	"sync"
	"testing"

	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
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
					if err := th.Gemm(r.h, 0, 0, n, n, n, alpha, x.a.p, n, x.b.p, n, beta, x.c.p, n, F32); err != nil {
						errs[i] = err
						return
					}
				}
				errs[i] = th.Asum(r.h, n*n, x.a.p, 1, x.sum.p, F32)
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
		r.emulation(t)
		space := r.empty(F64, 1024)
		r.ok(th.SetWorkspace(r.h, space.p&^255, 4096))
		r.ok(th.SetWorkspace(r.h, space.p&^255+8, 4096)) // an H200 takes it
		const none = blas.CublasHandle_t(12345)
		for i, c := range []struct {
			err  error
			want Status
		}{
			{th.SetPointerMode(r.h, 2), invalidValue}, {th.SetAtomicsMode(r.h, 2), invalidValue}, {th.SetMathMode(r.h, 99), invalidValue},
			{th.SetSmCountTarget(r.h, -1), invalidValue},
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
		r.is(th.Axpy(blas.CublasHandle_t(second), 0, 0, 0, 1, 0, 1, F32), notInitialized)
	})
}

// emulation: all settings are kept.
func (r *rig) emulation(t *testing.T) {
	th := r.th
	special, err := th.GetEmulationSpecialValuesSupport(r.h)
	if r.ok(err); special != rt.CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_DEFAULT {
		t.Errorf("a new handle's special values are %x", special)
	}
	var count uint64
	r.ok(th.SetEmulationStrategy(r.h, blas.CUBLAS_EMULATION_STRATEGY_EAGER))
	r.ok(th.SetEmulationSpecialValuesSupport(r.h, rt.CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_NAN))
	r.ok(th.SetFixedPointEmulationMantissaControl(r.h, rt.CUDA_EMULATION_MANTISSA_CONTROL_FIXED))
	r.ok(th.SetFixedPointEmulationMaxMantissaBitCount(r.h, 55))
	r.ok(th.SetFixedPointEmulationMantissaBitOffset(r.h, -3))
	r.ok(th.SetFixedPointEmulationMantissaBitCountPointer(r.h, 4096))
	r.ok(th.GetFixedPointEmulationMantissaBitCountPointer(r.h, hostmem.Of(&count)))
	if a, b, c, d, e := must(th.GetEmulationStrategy(r.h)), must(th.GetEmulationSpecialValuesSupport(r.h)), must(th.GetFixedPointEmulationMantissaControl(r.h)),
		must(th.GetFixedPointEmulationMaxMantissaBitCount(r.h)), must(th.GetFixedPointEmulationMantissaBitOffset(r.h)); a != 2 || b != 2 || c != 1 || d != 55 || e != -3 || count != 4096 {
		t.Errorf("the settings are %v %v %v %v %v %v", a, b, c, d, e, count)
	}
	r.is(th.SetEmulationStrategy(r.h, 3), invalidValue)
	r.is(th.SetFixedPointEmulationMantissaControl(r.h, 2), invalidValue)
	r.is(th.SetFixedPointEmulationMaxMantissaBitCount(r.h, -1), invalidValue)
	r.is(th.GetFixedPointEmulationMantissaBitCountPointer(r.h, 0), invalidValue)
	r.is(th.SetEmulationSpecialValuesSupport(12345, 0), notInitialized)
	if n := must(th.GetEnvironmentMode(r.h)); n != 0 {
		t.Errorf("a new handle's mode is %d", n)
	}
	r.ok(th.SetEnvironmentMode(r.h, 1))
	r.is(th.SetEnvironmentMode(r.h, 2), invalidValue)
	r.is(th.SetEnvironmentMode(12345, 0), notInitialized)
	if n := must(th.GetEnvironmentMode(r.h)); n != 1 {
		t.Errorf("the mode is %d, set to 1", n)
	}
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
		r.ok(r.th.Axpy(r.h, n, alpha, x.p, 1, y.p, 1, F32))
		r.ok(d.EventRecord(e, a))
		r.ok(r.th.SetStream(r.h, rt.CudaStream_t(b)))
		if got, err := r.th.GetStream(r.h); err != nil || got != rt.CudaStream_t(b) {
			t.Errorf("the stream is %v, %v", got, err)
		}
		r.ok(d.StreamWaitEvent(b, e, 0))
		r.ok(r.th.Scal(r.h, n, alpha, y.p, 1, F32, F32))
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

// TestStreamsThatEnd: what a handle keeps for a stream goes with it, a while after; what a graph was captured with stays.
func TestStreamsThatEnd(t *testing.T) {
	onDevice(t, func(r *rig) {
		if r.tiny {
			t.Skip("the interpreter's memory is not counted")
		}
		d := r.th.driver()
		r.mode(true)
		x, sum := r.random(F32, 9000), r.empty(F32, 1)
		want := 0.0
		for _, v := range x.values() {
			want += max(real(v), -real(v))
		}
		s := must(d.StreamCreate(uint32(cu.CU_STREAM_NON_BLOCKING)))
		r.ok(r.th.SetStream(r.h, rt.CudaStream_t(s)))
		r.ok(d.StreamBeginCapture(s, cu.CU_STREAM_CAPTURE_MODE_GLOBAL))
		r.ok(r.th.Asum(r.h, 9000, x.p, 1, sum.p, F32))
		var g cu.CUgraph
		r.ok(d.StreamEndCapture(s, hostmem.Of(&g)))
		run := must(d.GraphInstantiateWithFlags(g, 0))
		r.ok(d.StreamDestroy(s))
		free := func() uint64 {
			n, _, err := d.MemGetInfo()
			r.ok(err)
			return n
		}
		before := free()
		for range 200 {
			s := must(d.StreamCreate(uint32(cu.CU_STREAM_NON_BLOCKING)))
			r.ok(r.th.SetStream(r.h, rt.CudaStream_t(s)))
			r.ok(r.th.Asum(r.h, 9000, x.p, 1, sum.p, F32))
			r.ok(d.StreamDestroy(s))
		}
		r.sync()
		if left := int64(before) - int64(free()); left > 64<<20 {
			t.Errorf("200 streams left %d MB behind", left>>20)
		}
		sum.set(0, 0)
		r.ok(r.th.SetStream(r.h, 0))
		r.ok(d.GraphLaunch(run, 0))
		r.sync()
		r.near("graph of a stream that is gone", sum, []complex128{complex(want, 0)}, []float64{want}, F32, 300)
		r.ok(d.GraphExecDestroy(run))
		r.ok(d.GraphDestroy(g))
	})
}

// TestWorkspaceOfGraphs: what two graphs may use at once is not the same memory, and that of a graph that is gone is used again.
func TestWorkspaceOfGraphs(t *testing.T) {
	onDevice(t, func(r *rig) {
		d := r.th.driver()
		s := must(d.StreamCreate(uint32(cu.CU_STREAM_NON_BLOCKING)))
		var w shim.Workspace
		captured := func(n uint64) (driver.DevPtr, cu.CUgraph) {
			r.ok(d.StreamBeginCapture(s, cu.CU_STREAM_CAPTURE_MODE_GLOBAL))
			at := must(w.Take(d, s, n))
			if again := must(w.Take(d, s, n)); again != at {
				t.Errorf("a capture has two pieces, %#x and %#x", at, again)
			}
			if more := must(w.Take(d, s, 4*n)); more == at {
				t.Error("a piece grew in its place")
			}
			var g cu.CUgraph
			r.ok(d.StreamEndCapture(s, hostmem.Of(&g)))
			return at, g
		}
		const n = 3 << 20
		plain := must(w.Take(d, s, n))
		a, first := captured(n)
		b, second := captured(n)
		if a == b || a == plain || b == plain {
			t.Errorf("two graphs and the stream have %#x, %#x, %#x", a, b, plain)
		}
		run := must(d.GraphInstantiateWithFlags(first, 0))
		r.ok(d.GraphDestroy(first))
		c, third := captured(n)
		if c == a {
			t.Error("an executable graph's memory was used again")
		}
		r.ok(d.GraphLaunch(run, s))
		r.ok(d.StreamSynchronize(s))
		r.ok(d.GraphExecDestroy(run))
		e, fourth := captured(n)
		if e != a {
			t.Errorf("the memory of a graph that is gone, %#x, was not used again but %#x", a, e)
		}
		if p := must(w.Take(d, s, n)); p != plain {
			t.Errorf("the stream has %#x, had %#x", p, plain)
		}
		w.Drop(d)
		for _, g := range []cu.CUgraph{second, third, fourth} {
			r.ok(d.GraphDestroy(g))
		}
		r.ok(d.StreamDestroy(s))
	})
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestReset: a device that was reset multiplies again. Its context is the same one, without the kernels that were loaded there.
func TestReset(t *testing.T) {
	onDevice(t, func(r *rig) {
		const n = 3
		for range 3 {
			h, err := r.th.Create()
			r.ok(err)
			a, b, c := r.random(F32, n*n), r.random(F32, n*n), r.nan(F32, n*n)
			r.ok(r.th.Gemm(blas.CublasHandle_t(h), 0, 0, n, n, n, r.scalar(F32, 1, false), a.p, n, b.p, n, r.scalar(F32, 0, false), c.p, n, F32))
			r.sync()
			want, size := make([]complex128, n*n), make([]float64, n*n)
			ref.Product(n, n, n, 1, 0, matrix(a.values(), n, 0, 0), matrix(b.values(), n, 0, 0), want, n, size)
			r.near("product", c, want, size, F32, n)
			r.ok(r.th.Destroy(blas.CublasHandle_t(h)))
			r.ok(r.th.driver().DevicePrimaryCtxReset(0))
		}
	})
}
