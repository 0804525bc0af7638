package hipblaslt_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/backend/hip"
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cublaslt"
	"kudzu/internal/shim/cublaslt/hipblaslt"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/lt"
	"kudzu/internal/spec/rt"
	"kudzu/internal/testkit/hipdouble"
	"kudzu/internal/testkit/libdouble"
)

// value writes the bytes of an attribute down, after the call that set it.
const value = "uint64_t x = 0; memcpy(&x, p_buf, p_sizeInBytes); note(\"  value\", 1, &x);"

// bodies: handles are numbers in the order they are made; the algorithm is 0xab all over and wants 1 KiB.
func bodies() map[string]string {
	b := map[string]string{
		"hipblasLtGetVersion": "*(int *)p_version = 1000;",
		"hipblasLtMatmulAlgoGetHeuristic": "memset(p_heuristicResultsArray, 0xab, 24); ((uint64_t *)p_heuristicResultsArray)[3] = 1024; " +
			"((int *)p_heuristicResultsArray)[8] = 0; *(int *)p_returnAlgoCount = 1;",
		"hipblasLtMatmul": "uint64_t x = *(uint64_t *)p_algo; note(\"  algorithm\", 1, &x);",
	}
	for name, handle := range map[string]string{"Create": "handle", "MatrixLayoutCreate": "matLayout", "MatmulDescCreate": "matmulDesc", "MatmulPreferenceCreate": "pref"} {
		b["hipblasLt"+name] = "static uintptr_t n; *(uintptr_t *)p_" + handle + " = " + map[string]string{"handle": "0x1000", "matLayout": "0x2000", "matmulDesc": "0x3000", "pref": "0x4000"}[handle] + " + n++;"
	}
	for _, name := range []string{"MatrixLayoutSetAttribute", "MatmulDescSetAttribute", "MatmulPreferenceSetAttribute"} {
		b["hipblasLt"+name] = value
	}
	return b
}

type rig struct {
	t   *testing.T
	lib *libdouble.Double
	hip *hipdouble.Interpreted
	th  *cublaslt.Thread
	h   lt.CublasLtHandle_t
}

func (r *rig) ok(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

var ran atomic.Bool

// TestProvider runs all tests in one process: a process has one driver.
func TestProvider(t *testing.T) {
	if ran.Swap(true) {
		t.Skip("once a process: -count starts no second driver")
	}
	t.Setenv("KUDZU_DOUBLE_DEVICES", "gfx90a")
	t.Setenv("KUDZU_BACKEND", "hip")
	lib := hipdouble.Build(t)
	c := hipdouble.NewInterpreted(t, lib)
	driver.Start([]backend.Backend{hip.New(hip.Config{Compiler: c, Library: lib})})
	th := new(cublaslt.Thread)
	for _, test := range []struct {
		name    string
		version int
		run     func(*rig)
	}{{"calls", 1000, calls}, {"refusals", 1000, refusals}, {"rocm 6.0", 600, tooOld}} {
		t.Run(test.name, func(t *testing.T) {
			b := bodies()
			b["hipblasLtGetVersion"] = fmt.Sprintf("*(int *)p_version = %d;", test.version)
			r := &rig{t: t, lib: libdouble.Build(t, "hipblaslt", "libhipblaslt.so.0", b), hip: c, th: th}
			cublaslt.Use(hipblaslt.New(hipblaslt.Config{Library: r.lib.Path}))
			defer cublaslt.Unuse()
			h, err := th.Create()
			r.ok(err)
			r.h = lt.CublasLtHandle_t(h)
			test.run(r)
			r.ok(th.Destroy(r.h))
		})
	}
}

// product is a call of cublasLtMatmul: f32 sums, a 16x8 result of 16x24 (transposed) and 24x8, all ones.
type product struct {
	desc        uint64
	layouts     [4]uint64
	a, b, c, d  driver.DevPtr
	bias        driver.DevPtr
	alpha, beta float32
}

func (r *rig) attribute(set func(hostmem.Ptr, uint64) error, v uint64, n int) {
	r.t.Helper()
	b := binary.LittleEndian.AppendUint64(nil, v)
	r.ok(set(hostmem.Of(&b[0]), uint64(n)))
}

func (r *rig) product(epilogue lt.CublasLtEpilogue_t, kind rt.CudaDataType) *product {
	r.t.Helper()
	const m, n, k = 16, 8, 24
	p := &product{alpha: 2}
	var err error
	p.desc, err = r.th.MatmulDescCreate(blas.CUBLAS_COMPUTE_32F, rt.CUDA_R_32F)
	r.ok(err)
	desc := func(a lt.CublasLtMatmulDescAttributes_t, v uint64, n int) {
		r.t.Helper()
		r.attribute(func(p2 hostmem.Ptr, n uint64) error {
			return r.th.MatmulDescSetAttribute(hostmem.Ptr(p.desc), a, p2, n)
		}, v, n)
	}
	desc(lt.CUBLASLT_MATMUL_DESC_TRANSA, uint64(blas.CUBLAS_OP_T), 4)
	desc(lt.CUBLASLT_MATMUL_DESC_EPILOGUE, uint64(epilogue), 4)
	for i, size := range [4][2]uint64{{k, m}, {k, n}, {m, n}, {m, n}} {
		p.layouts[i], err = r.th.MatrixLayoutCreate(kind, size[0], size[1], int64(size[0]))
		r.ok(err)
	}
	for i, to := range []*driver.DevPtr{&p.a, &p.b, &p.c, &p.d, &p.bias} {
		count := []int{k * m, k * n, m * n, m * n, m}[i]
		*to, err = (*driver.Thread)(r.th).MemAlloc(uint64(4 * count))
		r.ok(err)
		r.ok((*driver.Thread)(r.th).MemsetD32(*to, math.Float32bits(1), uint64(count)))
	}
	if epilogue&lt.CUBLASLT_EPILOGUE_BIAS != 0 {
		desc(lt.CUBLASLT_MATMUL_DESC_BIAS_POINTER, uint64(p.bias), 8)
	}
	return p
}

func (r *rig) run(p *product) error {
	r.t.Helper()
	var pin runtime.Pinner
	pin.Pin(p)
	defer pin.Unpin()
	at := func(i int) hostmem.Ptr { return hostmem.Ptr(p.layouts[i]) }
	err := r.th.Matmul(r.h, hostmem.Ptr(p.desc), hostmem.Of(&p.alpha), hostmem.Ptr(p.a), at(0), hostmem.Ptr(p.b), at(1), hostmem.Of(&p.beta), hostmem.Ptr(p.c), at(2), hostmem.Ptr(p.d), at(3), 0, 0, 0, 0)
	if err == nil {
		err = (*driver.Thread)(r.th).CtxSynchronize()
	}
	return err
}

// calls: what the library is told, byte by byte, the first time and the second.
func calls(r *rig) {
	t := r.t
	p := r.product(lt.CUBLASLT_EPILOGUE_GELU_BIAS, rt.CUDA_R_16F)
	r.ok(r.run(p))
	got := r.lib.Calls(t)
	// Addresses of buffers are the provider's own: what was in them is the next line.
	for i, line := range got {
		w := strings.Fields(line)
		if strings.Contains(w[0], "SetAttribute") {
			w[3] = "buf"
		}
		if strings.HasSuffix(w[0], "Create") {
			w[1] = "out"
		}
		switch w[0] {
		case "hipblasLtGetVersion":
			w[2] = "out"
		case "hipblasLtMatmulAlgoGetHeuristic":
			w[9], w[10] = "out", "out"
		case "hipblasLtMatmul":
			for j, want := range map[int]uint64{4: uint64(p.a), 6: uint64(p.b), 9: uint64(p.c), 11: uint64(p.d)} {
				if w[j] != fmt.Sprintf("%x", want) {
					t.Errorf("argument %d of %q is not %x", j, line, want)
				}
				w[j] = "operand"
			}
			if w[3] != fmt.Sprintf("%x", uint64(hostmem.Of(&p.alpha))) || w[8] != fmt.Sprintf("%x", uint64(hostmem.Of(&p.beta))) {
				t.Errorf("alpha and beta of %q", line)
			}
			w[3], w[8], w[13], w[14], w[16] = "alpha", "beta", "algo", "space", "stream"
		}
		got[i] = strings.Join(w, " ")
	}
	bias := fmt.Sprintf("value %x", uint64(p.bias))
	want := []string{
		"hipblasLtCreate out", "hipblasLtGetVersion 1000 out",
		"hipblasLtMatmulDescCreate out 2 0",
		"hipblasLtMatmulDescSetAttribute 3000 0 buf 4", "value 70", "hipblasLtMatmulDescSetAttribute 3000 1 buf 4", "value 6f",
		"hipblasLtMatmulDescSetAttribute 3000 2 buf 4", "value 24", "hipblasLtMatmulDescSetAttribute 3000 d buf 4", "value 0",
		"hipblasLtMatmulDescSetAttribute 3000 4 buf 4", "value 2",
	}
	for i, size := range []string{"18 10 18", "18 8 18", "10 8 10", "10 8 10"} {
		l := fmt.Sprintf("hipblasLtMatrixLayoutSetAttribute %x", 0x2000+i)
		want = append(want, "hipblasLtMatrixLayoutCreate out 2 "+size, l+" 3 buf 4", "value 0", l+" 0 buf 4", "value 1", l+" 1 buf 8", "value 0")
	}
	want = append(want,
		"hipblasLtMatmulDescSetAttribute 3000 3 buf 8", bias,
		"hipblasLtMatmulPreferenceCreate out", "hipblasLtMatmulPreferenceSetAttribute 4000 1 buf 8", "value 2000000",
		"hipblasLtMatmulAlgoGetHeuristic 1000 3000 2000 2001 2002 2003 4000 1 out out", "hipblasLtMatmulPreferenceDestroy 4000",
		"hipblasLtMatmulDescSetAttribute 3000 3 buf 8", bias,
		"hipblasLtMatmul 1000 3000 alpha operand 2000 operand 2001 beta operand 2002 operand 2003 algo space 2000000 stream", "algorithm abababababababab")
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	r.ok(r.run(p))
	if got := r.lib.Calls(t); len(got) != 4 || !strings.HasPrefix(got[2], "hipblasLtMatmul ") {
		t.Errorf("the second time: %q", got)
	}
	// An error of the library's is cuBLAS's.
	r.lib.Answer(t, "hipblasLtMatmul", 5)
	if err := r.run(p); err == nil || err.Error() != "execution failed" {
		t.Errorf("execution failed there: %v here", err)
	}
}

// refusals: what the library has no algorithm or no number for is done by our kernels.
func refusals(r *rig) {
	t := r.t
	kernels := func(p *product, wants bool) {
		t.Helper()
		_, before := r.hip.Counts()
		if err := r.run(p); err != nil {
			t.Fatal(err)
		}
		if _, ran := r.hip.Counts(); (ran > before) != wants {
			t.Errorf("%d launches of ours", ran-before)
		}
	}
	plain := r.product(lt.CUBLASLT_EPILOGUE_DEFAULT, rt.CUDA_R_32F)
	r.lib.Answer(t, "hipblasLtMatmulAlgoGetHeuristic", 7)
	kernels(plain, true)
	b := make([]byte, 4)
	r.ok((*driver.Thread)(r.th).MemcpyDtoH(hostmem.Of(&b[0]), plain.d, 4))
	if got := math.Float32frombits(binary.LittleEndian.Uint32(b)); got != 48 {
		t.Errorf("our kernels give %v, want 48", got)
	}
	r.lib.Answer(t, "hipblasLtMatmulAlgoGetHeuristic", 0)
	r.lib.Calls(t)
	kernels(plain, true) // the answer is kept
	if got := r.lib.Calls(t); len(got) != 0 {
		t.Errorf("asked again: %q", got)
	}
	kernels(r.product(lt.CUBLASLT_EPILOGUE_RELU, rt.CUDA_R_32F), false)
	r.lib.Answer(t, "hipblasLtMatmul", 7)
	kernels(r.product(lt.CUBLASLT_EPILOGUE_RELU_BIAS, rt.CUDA_R_32F), true)
}

// tooOld: a library whose numbers are not the table's is not used.
func tooOld(r *rig) {
	r.ok(r.run(r.product(lt.CUBLASLT_EPILOGUE_DEFAULT, rt.CUDA_R_32F)))
	if got := r.lib.Calls(r.t); len(got) != 3 || got[2] != "hipblasLtDestroy 1000" {
		r.t.Errorf("%q", got)
	}
}
