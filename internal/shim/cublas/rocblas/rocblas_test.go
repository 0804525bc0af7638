package rocblas_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/backend/hip"
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/shim/cublas/rocblas"
	"kudzu/internal/spec"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
	"kudzu/internal/testkit/hipdouble"
	"kudzu/internal/testkit/libdouble"
)

// sgemm is what the double computes for real: column-major, no batch.
const sgemm = `    const float *A = p_A, *B = p_B, alpha = *(float *)p_alpha, beta = *(float *)p_beta;
    float *C = p_C;
    for (int i = 0; i < p_m; i++)
        for (int j = 0; j < p_n; j++) {
            float s = 0;
            for (int l = 0; l < p_k; l++)
                s += (p_transA == 111 ? A[i + l * p_lda] : A[l + i * p_lda]) * (p_transB == 111 ? B[l + j * p_ldb] : B[j + l * p_ldb]);
            C[i + j * p_ldc] = alpha * s + (beta ? beta * C[i + j * p_ldc] : 0);
        }`

// rig is a process with two AMD GPUs and rocBLAS, all of them doubles.
type rig struct {
	t   *testing.T
	lib *libdouble.Double
	hip *hipdouble.Interpreted
	th  *driver.Thread
	h   uint64
}

var ran atomic.Bool

// TestProvider runs all tests in one process: a process has one driver.
func TestProvider(t *testing.T) {
	if ran.Swap(true) {
		t.Skip("once a process: -count starts no second driver")
	}
	t.Setenv("KUDZU_DOUBLE_DEVICES", "gfx1100,gfx1201")
	t.Setenv("KUDZU_BACKEND", "hip")
	lib := hipdouble.Build(t)
	c := hipdouble.NewInterpreted(t, lib)
	driver.Start([]backend.Backend{hip.New(hip.Config{Compiler: c, Library: lib})})
	th := new(driver.Thread)
	for _, test := range []struct {
		name    string
		compute bool   // the double multiplies for real
		without string // a function that it does not have
		run     func(*rig)
	}{
		{"every row", false, "", everyRow}, {"gemmex", false, "", gemmEx}, {"products", true, "", products}, {"modes", true, "", modes},
		{"rocm 5", false, "rocblas_set_math_mode", oldTrmm}, {"missing", true, "", missing}, {"together", true, "", together},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := &rig{t: t, hip: c, th: th}
			bodies := map[string]string{
				"rocblas_create_handle":      "static uintptr_t n; *(uintptr_t *)p_handle = 0xb1a50000 + ++n;",
				"rocblas_get_version_string": `snprintf(p_buf, p_len, "4.2.1");`,
			}
			if test.compute {
				bodies["rocblas_sgemm"] = sgemm
			}
			r.lib = libdouble.Build(t, "rocblas", "librocblas.so.4", bodies, test.without)
			cublas.Use(rocblas.New(rocblas.Config{Library: r.lib.Path}))
			defer cublas.Unuse()
			var err error
			r.h, err = (*cublas.Thread)(th).Create()
			r.ok(err)
			test.run(r)
		})
	}
}

func (r *rig) ok(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// CUDA's numbers of the enumerations, and rocBLAS's, as the manuals have them: not from the table that is tested.
var numbers = map[string][][2]uint64{
	"cublasOperation_t": {{0, 111}, {1, 112}, {2, 113}},
	"cublasFillMode_t":  {{0, 122}, {1, 121}},
	"cublasDiagType_t":  {{0, 131}, {1, 132}},
	"cublasSideMode_t":  {{0, 141}, {1, 142}},
	"cudaDataType":      {{0, 151}, {1, 152}, {2, 150}, {4, 154}, {5, 155}, {14, 168}, {3, 160}, {10, 162}},
}

// everyRow calls every function that is forwarded, through the generated bindings, with a different number in every
// parameter, and compares what the library gets.
func everyRow(r *rig) {
	t := r.t
	rocs, err := spec.Load("rocblas")
	r.ok(err)
	cublasAPI, err := table()
	r.ok(err)
	rows := map[string]*spec.Func{}
	for _, f := range rocs.Funcs {
		if !f.Opaque && f.Group != "handles" && f.Go == "" {
			rows[f.For] = f
		}
	}
	r.lib.Calls(t)
	called := 0
	for _, f := range cublasAPI.Funcs {
		to := rows[strings.TrimSuffix(f.Name, "_64")]
		if to == nil || !bound(f.Name) {
			continue
		}
		wide := strings.HasSuffix(f.Name, "_64")
		if wide && strings.Contains(f.Name, "cublasI") {
			continue // the place for the result is wider than rocBLAS's
		}
		for round := range 2 {
			args, want := make([]uint64, len(f.Params)), []string{to.Name}
			for i, p := range f.Params {
				arg, roc := uint64(1000*(i+1)+round), uint64(1000*(i+1)+round)
				switch {
				case i == 0:
					arg, roc = r.h, 0xb1a50001
				case p.Type.Ptr:
					arg, roc = 0x7000_0000_1000*uint64(i), 0x7000_0000_1000*uint64(i)
				case numbers[p.Type.Name] != nil:
					pair := numbers[p.Type.Name][(round+i)%len(numbers[p.Type.Name])]
					arg, roc = pair[0], pair[1]
				case p.Type.Name == "int" && round == 1: // negative, as increments may be
					arg = -arg
					roc = arg
				}
				args[i] = arg
				want = append(want, fmt.Sprintf("%x", roc))
			}
			if rc := r.call(f.Name, args); rc != 0 {
				t.Errorf("%s = %d", f.Name, rc)
			}
			var got []string
			for _, c := range r.lib.Calls(t) {
				if !strings.HasPrefix(c, "rocblas_set_") && !strings.HasPrefix(c, "rocblas_create") && !strings.HasPrefix(c, "rocblas_get_version") {
					got = append(got, c)
				}
			}
			if len(got) != 1 || got[0] != strings.Join(want, " ") {
				t.Errorf("%s:\n got %q\nwant %q", f.Name, got, strings.Join(want, " "))
			}
			called++
		}
	}
	if called < 500 {
		t.Errorf("only %d calls were made", called)
	}
	t.Logf("%d calls", called)
}

// gemmEx: the functions whose parameters are not cuBLAS's one by one.
func gemmEx(r *rig) {
	t := r.t
	const f16, f32, c32, s8, s32 = 2, 0, 4, 3, 10
	for _, c := range []struct {
		name, want string
		args       []uint64
	}{
		{"cublasGemmEx", "rocblas_gemm_ex b1a50001 6f 70 5 6 7 a1 a2 96 8 a3 96 9 a4 a5 97 a a5 97 a 97 0 0 0",
			[]uint64{0, 0, 1, 5, 6, 7, 0xa1, 0xa2, f16, 8, 0xa3, f16, 9, 0xa4, 0xa5, f32, 10, uint64(blas.CUBLAS_COMPUTE_32F_FAST_TF32), 99}},
		{"cublasGemmEx_64", "rocblas_gemm_ex b1a50001 71 6f 5 6 7 a1 a2 9a 8 a3 9a 9 a4 a5 9a a a5 9a a 9a 0 0 0",
			[]uint64{0, 2, 0, 5, 6, 7, 0xa1, 0xa2, c32, 8, 0xa3, c32, 9, 0xa4, 0xa5, c32, 10, uint64(blas.CUBLAS_COMPUTE_32F), 99}},
		{"cublasGemmBatchedEx", "rocblas_gemm_batched_ex b1a50001 6f 70 5 6 7 a1 a2 a0 8 a3 a0 9 a4 a5 a2 a a5 a2 a b a2 0 0 0",
			[]uint64{0, 0, 1, 5, 6, 7, 0xa1, 0xa2, s8, 8, 0xa3, s8, 9, 0xa4, 0xa5, s32, 10, 11, uint64(blas.CUBLAS_COMPUTE_32I), 99}},
		{"cublasGemmStridedBatchedEx", "rocblas_gemm_strided_batched_ex b1a50001 6f 70 5 6 7 a1 a2 96 8 100000000 a3 96 9 200000000 a4 a5 96 a 300000000 a5 96 a 300000000 b 96 0 0 0",
			[]uint64{0, 0, 1, 5, 6, 7, 0xa1, 0xa2, f16, 8, 1 << 32, 0xa3, f16, 9, 2 << 32, 0xa4, 0xa5, f16, 10, 3 << 32, 11, uint64(blas.CUBLAS_COMPUTE_16F), 99}},
	} {
		r.lib.Calls(t)
		c.args[0] = r.h
		if rc := r.call(c.name, c.args); rc != 0 {
			t.Errorf("%s = %d", c.name, rc)
		}
		if got := r.lib.Calls(t); !slices.Contains(got, c.want) {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.want)
		}
	}
	// What does not fit 32 bits is not rocBLAS's; nor is a type it does not have.
	r.lib.Calls(t)
	big := []uint64{r.h, 0, 0, 1 << 31, 0, 0, 0xa1, 0xa2, f32, 1 << 31, 0xa3, f32, 9, 0xa4, 0xa5, f32, 1 << 31, uint64(blas.CUBLAS_COMPUTE_32F), 99}
	r.call("cublasGemmEx_64", big)
	odd := []uint64{r.h, 0, 0, 1, 1, 1, 0xa1, 0xa2, 12345, 8, 0xa3, 12345, 9, 0xa4, 0xa5, 12345, 10, uint64(blas.CUBLAS_COMPUTE_32F), 99}
	if rc := r.call("cublasGemmEx", odd); rc == 0 {
		t.Error("a type that there is not was taken")
	}
	if got := r.lib.Calls(t); len(got) != 0 {
		t.Errorf("calls %q", got)
	}
}

// operands are a 5x4, b 4x3 and c 5x3 on a device, and what c must become with alpha 2 and beta 3.
func (r *rig) operands() (args []uint64, c driver.DevPtr, want []float32) {
	const m, n, k = 5, 3, 4
	a, b, cc := make([]float32, m*k), make([]float32, k*n), make([]float32, m*n)
	for i := range a {
		a[i] = float32(i%7) - 3
	}
	for i := range b {
		b[i] = float32(i%5) - 2
	}
	for i := range cc {
		cc[i] = float32(i)
	}
	want = make([]float32, m*n)
	for i := range m {
		for j := range n {
			s := float32(0)
			for l := range k {
				s += a[i+l*m] * b[l+j*k]
			}
			want[i+j*m] = 2*s + 3*cc[i+j*m]
		}
	}
	da, db, dc := r.upload(a), r.upload(b), r.upload(cc)
	scalars := r.host(2, 3)
	return []uint64{r.h, 0, 0, m, n, k, scalars, uint64(da), m, uint64(db), k, scalars + 4, uint64(dc), m}, dc, want
}

// products: the library computes, and where it does not, our kernels do; the answer is the same.
func products(r *rig) {
	t := r.t
	sgemm := func(answer int, calls int) {
		t.Helper()
		args, c, want := r.operands()
		r.lib.Answer(t, "rocblas_sgemm", answer)
		r.lib.Calls(t)
		_, before := r.hip.Counts()
		if rc := r.call("cublasSgemm_v2", args); rc != 0 {
			t.Fatalf("cublasSgemm = %d", rc)
		}
		r.ok(r.th.CtxSynchronize())
		if got := r.download(c, len(want)); !slices.Equal(got, want) {
			t.Errorf("answer %d: %v, want %v", answer, got, want)
		}
		n := 0
		for _, line := range r.lib.Calls(t) {
			if strings.HasPrefix(line, "rocblas_sgemm ") {
				n++
			}
		}
		if _, ran := r.hip.Counts(); n != calls || (ran > before) != (answer != 0 || calls == 0) {
			t.Errorf("answer %d: %d calls of rocBLAS, %d launches of ours", answer, n, ran-before)
		}
	}
	sgemm(0, 1)
	for _, refused := range []int{2, 14, 15} { // not implemented, not built, not for this GPU
		sgemm(refused, 1)
	}
	// Real errors are cuBLAS's.
	args, _, _ := r.operands()
	for roc, want := range map[int]int32{1: 1, 3: 7, 4: 7, 5: 3, 6: 14, 11: 7, 13: 13, 77: 14} {
		r.lib.Answer(t, "rocblas_sgemm", roc)
		if rc := r.call("cublasSgemm_v2", args); rc != want {
			t.Errorf("rocBLAS's %d became %d, want %d", roc, rc, want)
		}
	}
	r.lib.Answer(t, "rocblas_sgemm", 0)

	// A stream that is captured takes our kernels: only they can be recorded.
	s, err := r.th.StreamCreate(0)
	r.ok(err)
	r.ok((*cublas.Thread)(r.th).SetStream(blas.CublasHandle_t(r.h), rt.CudaStream_t(s)))
	args, c, want := r.operands()
	r.ok(r.th.StreamBeginCapture(s, cu.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL))
	r.lib.Calls(t)
	if rc := r.call("cublasSgemm_v2", args); rc != 0 {
		t.Fatalf("captured cublasSgemm = %d", rc)
	}
	if got := r.lib.Calls(t); len(got) != 0 {
		t.Errorf("while capturing: %q", got)
	}
	var g cu.CUgraph
	r.ok(r.th.StreamEndCapture(s, hostmem.Of(&g)))
	ex, err := r.th.GraphInstantiateWithFlags(g, 0)
	r.ok(err)
	r.ok(r.th.GraphLaunch(ex, s))
	r.ok(r.th.CtxSynchronize())
	if got := r.download(c, len(want)); !slices.Equal(got, want) {
		t.Errorf("captured: %v, want %v", got, want)
	}
}

// modes: a handle of rocBLAS a device, on the stream and with the modes that cuBLAS's has; it ends with it.
func modes(r *rig) {
	t := r.t
	h := blas.CublasHandle_t(r.h)
	args, _, _ := r.operands()
	call := func() []string {
		t.Helper()
		if rc := r.call("cublasSgemm_v2", args); rc != 0 {
			t.Fatalf("cublasSgemm = %d", rc)
		}
		var got []string
		for _, c := range r.lib.Calls(t) {
			if !strings.HasPrefix(c, "rocblas_sgemm ") {
				got = append(got, c)
			}
		}
		return got
	}
	if got := call(); len(got) != 6 || !strings.HasPrefix(got[1], "rocblas_create_handle ") || !strings.HasPrefix(got[2], "rocblas_set_stream b1a50001 ") ||
		got[3] != "rocblas_set_pointer_mode b1a50001 0" || got[4] != "rocblas_set_atomics_mode b1a50001 0" || got[5] != "rocblas_set_math_mode b1a50001 0" {
		t.Errorf("the first call made %q", got)
	}
	if got := call(); len(got) != 0 {
		t.Errorf("the second made %q", got)
	}
	s, err := r.th.StreamCreate(0)
	r.ok(err)
	r.ok((*cublas.Thread)(r.th).SetStream(h, rt.CudaStream_t(s)))
	r.ok((*cublas.Thread)(r.th).SetAtomicsMode(h, blas.CUBLAS_ATOMICS_ALLOWED))
	r.ok((*cublas.Thread)(r.th).SetMathMode(h, blas.CUBLAS_TF32_TENSOR_OP_MATH))
	if got := call(); len(got) != 4 || got[2] != "rocblas_set_atomics_mode b1a50001 1" || got[3] != "rocblas_set_math_mode b1a50001 1" {
		t.Errorf("another stream made %q", got)
	}
	ctx, err := r.th.CtxCreate(0, 1)
	r.ok(err)
	r.ok((*cublas.Thread)(r.th).SetStream(h, 0))
	if got := call(); len(got) != 5 || !strings.HasPrefix(got[0], "rocblas_create_handle ") || !strings.HasPrefix(got[1], "rocblas_set_stream b1a50002 ") {
		t.Errorf("the second device made %q", got)
	}
	r.ok(r.th.CtxDestroy(ctx))
	r.ok((*cublas.Thread)(r.th).Destroy(h))
	got := r.lib.Calls(t)
	slices.Sort(got)
	if !slices.Equal(got, []string{"rocblas_destroy_handle b1a50001", "rocblas_destroy_handle b1a50002"}) {
		t.Errorf("the end made %q", got)
	}
}

// oldTrmm: an older library whose trmm takes other parameters is not asked for it.
func oldTrmm(r *rig) {
	t := r.t
	api, err := table()
	r.ok(err)
	for _, f := range api.Funcs {
		if f.Name != "cublasStrmm_v2" {
			continue
		}
		args := make([]uint64, len(f.Params))
		args[0] = r.h
		r.lib.Calls(t)
		r.call(f.Name, args)
		for _, c := range r.lib.Calls(t) {
			if strings.Contains(c, "trmm") {
				t.Errorf("%q", c)
			}
		}
		return
	}
	t.Error("no cublasStrmm_v2")
}

// missing: without the library, or told to do without, our kernels serve.
func missing(r *rig) {
	t := r.t
	for _, path := range []string{"/nonexistent/librocblas.so.4", "libc.so.6", "none"} {
		cublas.Unuse()
		cublas.Use(rocblas.New(rocblas.Config{Library: path}))
		args, c, want := r.operands()
		if rc := r.call("cublasSgemm_v2", args); rc != 0 {
			t.Fatalf("cublasSgemm = %d", rc)
		}
		r.ok(r.th.CtxSynchronize())
		if got := r.download(c, len(want)); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
}

// together: threads share a handle, and handles end while others work.
func together(r *rig) {
	ctx, err := r.th.CtxGetCurrent()
	r.ok(err)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			mine := *r
			mine.th = &driver.Thread{ID: uint64(100 + g)}
			if err := mine.th.CtxSetCurrent(ctx); err != nil {
				r.t.Error(err)
				return
			}
			for i := range 20 {
				if g%2 == 1 { // every other thread has handles of its own
					h, err := (*cublas.Thread)(mine.th).Create()
					if err != nil {
						r.t.Error(err)
						return
					}
					mine.h = h
				}
				args, c, want := mine.operands()
				if rc := mine.call("cublasSgemm_v2", args); rc != 0 {
					r.t.Errorf("thread %d, call %d: %d", g, i, rc)
				}
				if err := mine.th.CtxSynchronize(); err != nil {
					r.t.Error(err)
				}
				if got := mine.download(c, len(want)); !slices.Equal(got, want) {
					r.t.Errorf("thread %d, call %d: %v", g, i, got)
				}
				if g%2 == 1 {
					if err := (*cublas.Thread)(mine.th).Destroy(blas.CublasHandle_t(mine.h)); err != nil {
						r.t.Error(err)
					}
				}
			}
		}()
	}
	wg.Wait()
	made, ended := 0, 0
	for _, c := range r.lib.Calls(r.t) {
		if strings.HasPrefix(c, "rocblas_create_handle ") {
			made++
		}
		if strings.HasPrefix(c, "rocblas_destroy_handle ") {
			ended++
		}
	}
	if made != 41 || ended != 40 {
		r.t.Errorf("%d handles were made, %d ended", made, ended)
	}
}
