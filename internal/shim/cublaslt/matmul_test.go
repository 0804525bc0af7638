package cublaslt

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/backend/interp"
	"kudzu/internal/compile/worker"
	"kudzu/internal/devices"
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/softfloat"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/lt"
	"kudzu/internal/spec/rt"
)

const interpreted = "KUDZU_LT_TEST_INTERP"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "compiler" {
		os.Exit(worker.Main(os.Args[2:]))
	}
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	b := devices.CPU(devices.Config{Compiler: []string{self, "compiler"}, Strict: true})
	if os.Getenv(interpreted) != "" {
		b = interp.New(interp.Config{})
	}
	driver.Start([]backend.Backend{b})
	os.Exit(m.Run())
}

// TestInterpreter runs every other test on the interpreter.
func TestInterpreter(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.timeout=10m", "-test.skip=^TestInterpreter$")
	cmd.Env = append(os.Environ(), interpreted+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

type bench struct {
	t   *testing.T
	th  *Thread
	h   lt.CublasLtHandle_t
	rng *rand.Rand
}

func newBench(t *testing.T) *bench {
	x := &bench{t: t, th: new(Thread), rng: rand.New(rand.NewPCG(3, 5))}
	h, err := x.th.Create()
	x.ok(err)
	x.h = lt.CublasLtHandle_t(h)
	t.Cleanup(func() { x.ok(x.th.Destroy(x.h)) })
	return x
}

func (x *bench) ok(err error) {
	x.t.Helper()
	if err != nil {
		x.t.Fatal(err)
	}
}

func (x *bench) is(err error, want cublas.Status) {
	x.t.Helper()
	if cublas.StatusOf(err) != want {
		x.t.Fatalf("got %v, want %v", err, want)
	}
}

var kinds = map[cublas.Elem]rt.CudaDataType{cublas.F32: rt.CUDA_R_32F, cublas.F16: rt.CUDA_R_16F, cublas.BF16: rt.CUDA_R_16BF, cublas.F64: rt.CUDA_R_64F, cublas.S8: rt.CUDA_R_8I, cublas.S32: rt.CUDA_R_32I}

// numbers is device memory with a type; these devices share the program's.
type numbers struct {
	e cublas.Elem
	p hostmem.Ptr
	n int
}

func (x *bench) numbers(e cublas.Elem, n int) numbers {
	p, err := x.th.driver().MemAlloc(uint64(max(1, n) * e.Size()))
	x.ok(err)
	x.t.Cleanup(func() { _ = x.th.driver().MemFree(p) })
	a := numbers{e, hostmem.Ptr(p), n}
	for i := range n {
		v := x.rng.NormFloat64()
		if e == cublas.S8 || e == cublas.S32 {
			v = float64(x.rng.IntN(9) - 4)
		}
		a.set(i, v)
	}
	return a
}

func (a numbers) set(i int, v float64) {
	p := a.p.Index(i, a.e.Size())
	half := func(f *softfloat.Format) uint16 {
		return uint16(softfloat.F64.Convert(f, math.Float64bits(v), softfloat.Env{}))
	}
	switch a.e {
	case cublas.F32:
		hostmem.Store(p, float32(v))
	case cublas.F64:
		hostmem.Store(p, v)
	case cublas.F16:
		hostmem.Store(p, half(softfloat.F16))
	case cublas.BF16:
		hostmem.Store(p, half(softfloat.BF16))
	case cublas.S8:
		hostmem.Store(p, int8(v))
	case cublas.S32:
		hostmem.Store(p, int32(v))
	case cublas.C32, cublas.C64:
	}
}

func (a numbers) get(i int) float64 {
	p := a.p.Index(i, a.e.Size())
	half := func(f *softfloat.Format) float64 {
		return math.Float64frombits(f.Convert(softfloat.F64, uint64(hostmem.Load[uint16](p)), softfloat.Env{}))
	}
	switch a.e {
	case cublas.F32:
		return float64(hostmem.Load[float32](p))
	case cublas.F64:
		return hostmem.Load[float64](p)
	case cublas.F16:
		return half(softfloat.F16)
	case cublas.BF16:
		return half(softfloat.BF16)
	case cublas.S8:
		return float64(hostmem.Load[int8](p))
	case cublas.S32:
		return float64(hostmem.Load[int32](p))
	case cublas.C32, cublas.C64:
	}
	return math.NaN()
}

var kept [][]byte // on the heap, where nothing moves

// word is a value of the program.
func word[T any](v T) hostmem.Ptr {
	b := make([]byte, 16)
	kept = append(kept, b)
	hostmem.Store(hostmem.Of(&b[0]), v)
	return hostmem.Of(&b[0])
}

// matrix is a layout with its memory.
type matrix struct {
	numbers
	desc       hostmem.Ptr
	rows, cols int
	ld, stride int
	byRow      bool
}

func (x *bench) matrix(e cublas.Elem, rows, cols, batch int, byRow bool) matrix {
	m := matrix{rows: rows, cols: cols, byRow: byRow}
	across := cols
	m.ld = rows + x.rng.IntN(3)
	if byRow {
		m.ld, across = cols+x.rng.IntN(3), rows
	}
	m.stride = m.ld*across + x.rng.IntN(5)
	m.numbers = x.numbers(e, m.stride*batch)
	at, err := x.th.MatrixLayoutCreate(kinds[e], uint64(rows), uint64(cols), int64(m.ld))
	x.ok(err)
	m.desc = hostmem.Ptr(at)
	x.ok(x.th.MatrixLayoutSetAttribute(m.desc, lt.CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, word(int32(batch)), 4))
	x.ok(x.th.MatrixLayoutSetAttribute(m.desc, lt.CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, word(int64(m.stride)), 8))
	if byRow {
		x.ok(x.th.MatrixLayoutSetAttribute(m.desc, lt.CUBLASLT_MATRIX_LAYOUT_ORDER, word(lt.CUBLASLT_ORDER_ROW), 4))
	}
	x.t.Cleanup(func() { x.ok(x.th.MatrixLayoutDestroy(m.desc)) })
	return m
}

func (m matrix) at(q, i, j int) int {
	if m.byRow {
		i, j = j, i
	}
	return q*m.stride + i + j*m.ld
}

func reference(v float64, act uint32) float64 {
	switch act {
	case 1:
		return max(v, 0)
	case 2:
		return 0.5 * v * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(v+0.044715*v*v*v)))
	}
	return v
}

// TestMatmul tries random products with everything that may follow them.
func TestMatmul(t *testing.T) {
	x := newBench(t)
	rounds := 60
	if os.Getenv(interpreted) != "" {
		rounds = 10
	}
	for i := range rounds {
		x.round(i)
	}
}

func (x *bench) round(i int) {
	types := [][3]cublas.Elem{{cublas.F32, cublas.F32, cublas.F32}, {cublas.F16, cublas.F32, cublas.F16}, {cublas.BF16, cublas.F32, cublas.BF16},
		{cublas.F16, cublas.F32, cublas.F32}, {cublas.F64, cublas.F64, cublas.F64}, {cublas.S8, cublas.S32, cublas.S32}, {cublas.S8, cublas.S32, cublas.S8}}
	ty := types[i%len(types)]
	m, n, k, batch := 1+x.rng.IntN(40), 1+x.rng.IntN(20), x.rng.IntN(24), 1+x.rng.IntN(3)
	coin := func() bool { return x.rng.IntN(2) == 0 }
	ta, tb := cublas.Op(x.rng.IntN(3)), cublas.Op(x.rng.IntN(3))
	dims := func(op cublas.Op, r, c int) (int, int) {
		if op != blas.CUBLAS_OP_N {
			return c, r
		}
		return r, c
	}
	ra, ca := dims(ta, m, k)
	rb, cb := dims(tb, k, n)
	byRow := coin()
	a, b := x.matrix(ty[0], ra, ca, batch, coin()), x.matrix(ty[0], rb, cb, batch, coin())
	c, d := x.matrix(ty[2], m, n, batch, byRow), x.matrix(ty[2], m, n, batch, byRow)
	if coin() {
		d = c
	}
	scale, compute := ty[1], blas.CublasComputeType_t(blas.CUBLAS_COMPUTE_32F)
	switch {
	case ty[1] == cublas.F64:
		compute = blas.CUBLAS_COMPUTE_64F
	case ty[1] == cublas.S32:
		compute = blas.CUBLAS_COMPUTE_32I
		if ty[2] == cublas.S8 {
			scale = cublas.F32
		}
	}
	at, err := x.th.MatmulDescCreate(compute, kinds[scale])
	x.ok(err)
	desc := hostmem.Ptr(at)
	set := func(attr lt.CublasLtMatmulDescAttributes_t, p hostmem.Ptr, n uint64) {
		x.ok(x.th.MatmulDescSetAttribute(desc, attr, p, n))
	}
	set(lt.CUBLASLT_MATMUL_DESC_TRANSA, word(int32(ta)), 4)
	set(lt.CUBLASLT_MATMUL_DESC_TRANSB, word(int32(tb)), 4)
	alpha, beta := 0.5, 0.25
	if scale == cublas.S32 {
		alpha, beta = 2, 3
	}
	if coin() {
		beta = 0
	}
	scalar := func(v float64, device bool) hostmem.Ptr {
		if device {
			s := x.numbers(scale, 1)
			s.set(0, v)
			return s.p
		}
		switch scale {
		case cublas.F64:
			return word(v)
		case cublas.S32:
			return word(int32(v))
		}
		return word(float32(v))
	}
	device := coin()
	if device {
		set(lt.CUBLASLT_MATMUL_DESC_POINTER_MODE, word(lt.CUBLASLT_POINTER_MODE_DEVICE), 4)
	}
	act, bias, aux := uint32(0), numbers{}, numbers{}
	auxLD := (m + 127) / 128 * 128
	bits := false
	if ty[1] == cublas.F32 {
		act = uint32(x.rng.IntN(3))
		epilogue := []int32{0, int32(lt.CUBLASLT_EPILOGUE_RELU), int32(lt.CUBLASLT_EPILOGUE_GELU)}[act]
		if coin() {
			bias = x.numbers(ty[2], m)
			epilogue |= int32(lt.CUBLASLT_EPILOGUE_BIAS)
			set(lt.CUBLASLT_MATMUL_DESC_BIAS_POINTER, word(uint64(bias.p)), 8)
		}
		if act != 0 && !byRow && coin() {
			bits = act == 1
			aux = x.numbers(ty[2], auxLD*n*batch)
			epilogue |= 128
			set(lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, word(uint64(aux.p)), 8)
			set(lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, word(int64(auxLD)), 8)
			set(lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, word(int64(auxLD*n)), 8) // blocks of a batch run in any order
		}
		if epilogue == 0 {
			epilogue = int32(lt.CUBLASLT_EPILOGUE_DEFAULT)
		}
		set(lt.CUBLASLT_MATMUL_DESC_EPILOGUE, word(epilogue), 4)
	}
	want, pre := x.expect(a, b, c, d, ta, tb, k, batch, alpha, beta, act, bias)
	if beta == 0 && ty[1] != cublas.S32 {
		for j := range c.n {
			c.set(j, math.NaN())
		}
	}
	pref, err := x.th.MatmulPreferenceCreate()
	x.ok(err)
	results := make([]lt.CublasLtMatmulHeuristicResult_t, 1)
	found, err := x.th.MatmulAlgoGetHeuristic(x.h, desc, a.desc, b.desc, c.desc, d.desc, hostmem.Ptr(pref), 1, hostmem.Of(&results[0]))
	x.ok(err)
	if found != 1 || results[0].WorkspaceSize != 0 || results[0].State != 0 {
		x.t.Fatalf("heuristic: %d results, %+v", found, results[0])
	}
	x.ok(x.th.Matmul(x.h, desc, scalar(alpha, device), a.p, a.desc, b.p, b.desc, scalar(beta, device), c.p, c.desc, d.p, d.desc, hostmem.Of(&results[0].Algo), 0, 0, 0))
	x.ok(x.th.driver().CtxSynchronize())
	eps := map[cublas.Elem]float64{cublas.F32: 0x1p-20, cublas.F64: 0x1p-48, cublas.F16: 0x1p-10, cublas.BF16: 0x1p-7}[ty[2]]
	what := fmt.Sprintf("round %d %v m %d n %d k %d batch %d ops %d%d rows %v%v%v alpha %v beta %v act %d bias %d aux %d", i, ty, m, n, k, batch, ta, tb, a.byRow, b.byRow, byRow, alpha, beta, act, bias.n, aux.n)
	for q := range batch {
		for j := range n {
			for r := range m {
				g, w := d.get(d.at(q, r, j)), want[(q*n+j)*m+r]
				limit := eps * (float64(k) + 4 + math.Abs(w))
				if ty[2] == cublas.S8 {
					limit = 0.5
				}
				if !(math.Abs(g-w) <= limit) {
					x.t.Fatalf("%s: D[%d][%d,%d] is %v, want %v", what, q, r, j, g, w)
				}
				if aux.n == 0 {
					continue
				}
				p := pre[(q*n+j)*m+r]
				if bits {
					at := (q*n+j)*auxLD + r
					on := hostmem.Load[uint8](aux.p.Add(uint64(at/8)))>>(at%8)&1 == 1
					if on != (p > 0) && math.Abs(p) > limit {
						x.t.Fatalf("%s: bit of %v is %v", what, p, on)
					}
				} else if g := aux.get((q*n+j)*auxLD + r); !(math.Abs(g-p) <= limit) {
					x.t.Fatalf("%s: aux is %v, want %v", what, g, p)
				}
			}
		}
	}
	x.ok(x.th.MatmulPreferenceDestroy(hostmem.Ptr(pref)))
	x.ok(x.th.MatmulDescDestroy(desc))
	x.is(x.th.MatmulDescDestroy(desc), invalidValue)
}

// expect is the product and what follows, column by column, and the values before the activation.
func (x *bench) expect(a, b, c, d matrix, ta, tb cublas.Op, k, batch int, alpha, beta float64, act uint32, bias numbers) (want, pre []float64) {
	for q := range batch {
		for j := range d.cols {
			for i := range d.rows {
				s := 0.0
				for l := range k {
					ai, aj, bi, bj := i, l, l, j
					if ta != blas.CUBLAS_OP_N {
						ai, aj = aj, ai
					}
					if tb != blas.CUBLAS_OP_N {
						bi, bj = bj, bi
					}
					s += a.get(a.at(q, ai, aj)) * b.get(b.at(q, bi, bj))
				}
				s *= alpha
				if beta != 0 {
					s += beta * c.get(c.at(q, i, j))
				}
				if bias.n != 0 {
					s += bias.get(i)
				}
				if d.e == cublas.S8 {
					s = min(max(math.RoundToEven(s), -128), 127)
				}
				pre, want = append(pre, s), append(want, reference(s, act))
			}
		}
	}
	return want, pre
}

// streams: what is asked for a stream is what is asked without one; a handle keeps its environment's mode.
func (x *bench) streams(desc hostmem.Ptr, m matrix) {
	pref, err := x.th.MatmulPreferenceCreate()
	x.ok(err)
	var found, checked lt.CublasLtMatmulHeuristicResult_t
	n, err := x.th.MatmulAlgoGetHeuristicForStream(x.h, desc, m.desc, m.desc, m.desc, m.desc, hostmem.Ptr(pref), 1, hostmem.Of(&found), 0)
	if x.ok(err); n != 1 {
		x.t.Fatalf("%d algorithms for a stream", n)
	}
	x.ok(x.th.MatmulAlgoCheckForStream(x.h, desc, m.desc, m.desc, m.desc, m.desc, hostmem.Of(&found.Algo), hostmem.Of(&checked), 0))
	x.is(x.th.MatmulAlgoCheckForStream(x.h, desc, m.desc, m.desc, m.desc, m.desc, 0, hostmem.Of(&checked), 0), invalidValue)
	x.ok(x.th.SetEnvironmentMode(x.h, 1))
	x.is(x.th.SetEnvironmentMode(x.h, 2), invalidValue)
	x.is(x.th.SetEnvironmentMode(77, 0), notInitialized)
	if v, err := x.th.GetEnvironmentMode(x.h); v != 1 || err != nil {
		x.t.Fatalf("the mode is %d: %v", v, err)
	}
	_, err = x.th.GetEnvironmentMode(77)
	x.is(err, notInitialized)
}

// TestDescriptors: memory of the program, sizes, and what is refused.
func TestDescriptors(t *testing.T) {
	x := newBench(t)
	own := x.numbers(cublas.F64, 64)
	x.is(x.th.MatrixLayoutInit_internal(own.p, 16, rt.CUDA_R_32F, 4, 4, 4), invalidValue)
	x.ok(x.th.MatrixLayoutInit_internal(own.p, 112, rt.CUDA_R_32F, 4, 5, 6))
	got, size := word(int64(0)), word(uint64(0))
	x.ok(x.th.MatrixLayoutGetAttribute(own.p, lt.CUBLASLT_MATRIX_LAYOUT_LD, got, 8, size))
	if hostmem.Load[int64](got) != 6 || hostmem.Load[uint64](size) != 8 {
		t.Fatalf("ld is %d of %d bytes", hostmem.Load[int64](got), hostmem.Load[uint64](size))
	}
	x.ok(x.th.MatrixLayoutGetAttribute(own.p, lt.CUBLASLT_MATRIX_LAYOUT_TYPE, 0, 0, size))
	if hostmem.Load[uint64](size) != 4 {
		t.Fatalf("a type has %d bytes", hostmem.Load[uint64](size))
	}
	x.is(x.th.MatrixLayoutGetAttribute(own.p, 99, got, 8, size), invalidValue)
	x.is(x.th.MatrixLayoutGetAttribute(own.p, -1, got, 8, size), invalidValue)
	x.is(x.th.MatrixLayoutSetAttribute(own.p, lt.CUBLASLT_MATRIX_LAYOUT_LD, got, 4), invalidValue)
	x.is(x.th.MatmulDescSetAttribute(own.p, lt.CUBLASLT_MATMUL_DESC_TRANSA, got, 4), invalidValue) // a layout is no product
	m := x.matrix(cublas.F32, 4, 4, 1, false)
	at, err := x.th.MatmulDescCreate(blas.CUBLAS_COMPUTE_32F, rt.CUDA_R_32F)
	x.ok(err)
	desc, one := hostmem.Ptr(at), word(float32(1))
	x.is(x.th.Matmul(x.h, desc, one, m.p, own.p, m.p, m.desc, one, m.p, m.desc, m.p, m.desc, 0, 0, 0, 0), invalidValue) // 4 × 5 times 4 × 4
	x.is(x.th.Matmul(77, desc, one, m.p, m.desc, m.p, m.desc, one, m.p, m.desc, m.p, m.desc, 0, 0, 0, 0), notInitialized)
	x.streams(desc, m)
	for _, e := range []lt.CublasLtEpilogue_t{lt.CUBLASLT_EPILOGUE_BGRADA, lt.CUBLASLT_EPILOGUE_DGELU} { // a gradient without a place, an aux without a side
		x.ok(x.th.MatmulDescSetAttribute(desc, lt.CUBLASLT_MATMUL_DESC_EPILOGUE, word(e), 4))
		x.is(x.th.Matmul(x.h, desc, one, m.p, m.desc, m.p, m.desc, one, m.p, m.desc, m.p, m.desc, 0, 0, 0, 0), invalidValue)
	}
	x.ok(x.th.MatmulDescDestroy(desc))
}
