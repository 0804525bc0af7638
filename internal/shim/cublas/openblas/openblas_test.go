package openblas

import (
	"math"
	"math/cmplx"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/backend/interp"
	"kudzu/internal/dl"
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/shim/cublas/ref"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
)

// realLibrary names an OpenBLAS to test with, where none is installed.
const realLibrary = "KUDZU_OPENBLAS_LIBRARY"

var start = sync.OnceFunc(func() { driver.Start([]backend.Backend{interp.New(interp.Config{})}) })

// double builds the double, once for a test.
func double(t *testing.T) (path string, calls func() int) {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler: ", err)
	}
	path = filepath.Join(t.TempDir(), "libdouble.so")
	if out, err := exec.Command(cc, "-std=gnu11", "-O1", "-shared", "-fPIC", "-o", path, "testdata/double.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	so, err := dl.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := so.Find("double_calls")
	if err != nil {
		t.Fatal(err)
	}
	return path, func() int { return int(int32(f.Call())) }
}

// device is memory of the device with values.
func device(t *testing.T, th *cublas.Thread, e cublas.Elem, v []complex128) hostmem.Ptr {
	t.Helper()
	p, err := (*driver.Thread)(th).MemAlloc(uint64(max(1, len(v)) * e.Size()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = (*driver.Thread)(th).MemFree(p) })
	for i, x := range v {
		copy(hostmem.Bytes(hostmem.Ptr(p).Index(i, e.Size()), uint64(e.Size())), cublas.Encode(e, x))
	}
	return hostmem.Ptr(p)
}

func values(n, from int, e cublas.Elem) []complex128 {
	v := make([]complex128, n)
	for i := range v {
		v[i] = complex(float64((i*7+from)%13-6), 0)
		if e == cublas.C32 || e == cublas.C64 {
			v[i] += complex(0, float64((i*5+from)%11-5))
		}
	}
	return v
}

// open makes a handle that multiplies with m.
func open(t *testing.T, m cublas.Multiplier) (*cublas.Thread, blas.CublasHandle_t) {
	t.Helper()
	start()
	th := new(cublas.Thread)
	h, err := th.Create()
	if err != nil {
		t.Fatal(err)
	}
	cublas.UseMultiplier(m)
	t.Cleanup(func() {
		cublas.UseMultiplier(nil)
		_ = th.Destroy(blas.CublasHandle_t(h))
	})
	return th, blas.CublasHandle_t(h)
}

// kept are scalars of the host: on the heap, where nothing moves.
var kept [][]byte

func scalar(e cublas.Elem, v complex128) hostmem.Ptr {
	b := append(make([]byte, 0, 16), cublas.Encode(e, v)...)
	kept = append(kept, b)
	return hostmem.Of(&b[0])
}

// products are all types and operations against the reference: small whole numbers, so that every sum is exact.
func products(t *testing.T, th *cublas.Thread, h blas.CublasHandle_t) {
	const m, n, k, lda, ldb, ldc = 5, 4, 6, 8, 7, 9
	for _, e := range []cublas.Elem{cublas.F32, cublas.F64, cublas.C32, cublas.C64} {
		for op := range cublas.Op(9) {
			ta, tb := op%3, op/3
			va, vb, vc := values(lda*8, 1, e), values(ldb*8, 2, e), values(ldc*n, 3, e)
			alpha, beta := complex(2, 0), complex(float64(op%2)*3, 0)
			if beta == 0 {
				for i := range vc {
					if i%ldc < m {
						vc[i] = cmplx.NaN()
					}
				}
			}
			a, b, c := device(t, th, e, va), device(t, th, e, vb), device(t, th, e, vc)
			if err := th.Gemm(h, ta, tb, m, n, k, scalar(e, alpha), a, lda, b, ldb, scalar(e, beta), c, ldc, e); err != nil {
				t.Fatal(err)
			}
			if err := (*driver.Thread)(th).CtxSynchronize(); err != nil {
				t.Fatal(err)
			}
			ref.Product(m, n, k, alpha, beta, ref.Matrix{V: va, LD: lda, Op: ta}, ref.Matrix{V: vb, LD: ldb, Op: tb}, vc, ldc, nil)
			for i, want := range vc {
				got := cublas.Decode(e, hostmem.Bytes(c.Index(i, e.Size()), uint64(e.Size())))
				if got != want && !(cmplx.IsNaN(got) && cmplx.IsNaN(want)) {
					t.Fatalf("%v %d%d: element %d is %v, want %v", e, ta, tb, i, got, want)
				}
			}
		}
	}
}

func TestDouble(t *testing.T) {
	path, calls := double(t)
	th, h := open(t, New(Config{Library: path, Threads: 3}))
	products(t, th, h)
	if calls() != 4*9 {
		t.Errorf("the library did %d products of 36", calls())
	}
	threads, err := mustOpen(t, path).Find("double_threads")
	if err != nil || threads.Call() != 3 {
		t.Error("the number of threads was not passed on", err)
	}
}

func mustOpen(t *testing.T, path string) *dl.Library {
	t.Helper()
	so, err := dl.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return so
}

// TestReal multiplies with the OpenBLAS of this machine.
func TestReal(t *testing.T) {
	path := os.Getenv(realLibrary)
	if path == "" {
		if _, err := dl.Open(Names[0]); err != nil {
			t.Skip("no OpenBLAS here: ", err)
		}
		path = Names[0]
	}
	th, h := open(t, New(Config{Library: path, Threads: 2}))
	products(t, th, h)
}

func TestMissing(t *testing.T) {
	th, h := open(t, New(Config{Library: "/nowhere/libopenblas.so"}))
	e := cublas.F32
	c := device(t, th, e, values(1, 0, e))
	if err := th.Gemm(h, 0, 0, 1, 1, 1, scalar(e, 2), device(t, th, e, []complex128{3}), 1, device(t, th, e, []complex128{5}), 1, scalar(e, 0), c, 1, e); err != nil {
		t.Fatal(err)
	}
	if err := (*driver.Thread)(th).CtxSynchronize(); err != nil {
		t.Fatal(err)
	}
	if got := cublas.Decode(e, hostmem.Bytes(c, 4)); got != 30 {
		t.Errorf("without a library our kernels say %v", got)
	}
}

func TestCoreType(t *testing.T) {
	all := map[string]bool{}
	if got := coreType(all); got != "" {
		t.Errorf("nothing: %q", got)
	}
	for i := len(coreTypes) - 1; i >= 0; i-- {
		for _, f := range coreTypes[i].needs {
			all[f] = true
		}
		if got := coreType(all); got != coreTypes[i].name {
			t.Errorf("%v: %q, want %q", all, got, coreTypes[i].name)
		}
	}
	t.Setenv(coreVariable, "Own")
	kernelsFor(all)()
	if got := os.Getenv(coreVariable); got != "Own" {
		t.Errorf("the program's own choice became %q", got)
	}
	os.Unsetenv(coreVariable)
	back := kernelsFor(all)
	if got := os.Getenv(coreVariable); got != "Cooperlake" {
		t.Errorf("%q", got)
	}
	if back(); os.Getenv(coreVariable) != "" {
		t.Error("the variable stayed")
	}
}

// TestLeft: what must not reach the library is done by our kernels, or refused by them. The context does not survive it.
func TestLeft(t *testing.T) {
	path, calls := double(t)
	th, h := open(t, New(Config{Library: path}))
	d := (*driver.Thread)(th)
	e := cublas.F32
	one, zero := scalar(e, 1), scalar(e, 0)
	a, b, c := device(t, th, e, values(64, 1, e)), device(t, th, e, values(64, 2, e)), device(t, th, e, values(64, 3, e))

	stream, err := d.StreamCreate(uint32(cu.CU_STREAM_NON_BLOCKING))
	if err != nil {
		t.Fatal(err)
	}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(th.Gemm(h, 0, 0, 8, 8, 8, one, a, 8, b, 8, zero, c, 8, cublas.F32))
	check(d.CtxSynchronize())
	if calls() != 1 {
		t.Fatal("a whole product did not reach the library")
	}
	check(th.SetStream(h, rt.CudaStream_t(stream)))
	check(d.StreamBeginCapture(stream, cu.CU_STREAM_CAPTURE_MODE_RELAXED))
	check(th.Gemm(h, 0, 0, 8, 8, 8, one, a, 8, b, 8, zero, c, 8, cublas.F32))
	var g cu.CUgraph
	check(d.StreamEndCapture(stream, hostmem.Of(&g)))
	check(d.GraphDestroy(g))
	check(th.SetStream(h, 0))
	if calls() != 1 {
		t.Error("a product in a capture reached the library")
	}
	// the last column of B ends beyond its memory
	t.Cleanup(func() { check(d.DevicePrimaryCtxReset(0)) }) // before the handle and the memory go, which it takes along
	err = th.Gemm(h, 0, 0, 8, 8, 8, one, a, 8, b, math.MaxInt32, zero, c, 8, cublas.F32)
	if e := d.CtxSynchronize(); err == nil && e == nil {
		t.Error("an operand beyond its memory was no error")
	}
	if calls() != 1 {
		t.Error("an operand beyond its memory reached the library")
	}
}
