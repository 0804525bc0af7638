package cublaslt

import (
	_ "embed" // what the hardware answered
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/softfloat"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/lt"
	"kudzu/internal/spec/rt"
)

//go:embed testdata/gradients.txt
var recordedGradients string

// recordedCase is a product with an epilogue, as testdata/record_gradients.c makes it.
type recordedCase struct {
	d, epilogue, bias, status int
	numbers, sums             []string
}

func recordedCases(t *testing.T) (all []recordedCase) {
	for line := range strings.Lines(recordedGradients) {
		var c recordedCase
		if n, _ := fmt.Sscanf(line, "gradient D %d epilogue %d bias %d status %d", &c.d, &c.epilogue, &c.bias, &c.status); n == 4 {
			all = append(all, c)
		} else if f := strings.Fields(line); f[0] == "D" {
			all[len(all)-1].numbers = f[1:]
		} else if f[0] == "bias" {
			all[len(all)-1].sums = f[1:]
		}
	}
	if len(all) != 12 {
		t.Fatalf("%d cases are recorded", len(all))
	}
	return all
}

// TestNarrowRecorded: gradients of fp8 products are an H200's. Where gelu's slope is in them they are to one step of D's type
// and 2e-4: the hardware's tanh is an approximation, ours has all of f32.
func TestNarrowRecorded(t *testing.T) {
	x := newBench(t)
	for i, c := range recordedCases(t) {
		if c.status == 0 && (os.Getenv(interpreted) == "" || i == 4) {
			x.recorded(c)
		}
	}
}

func (x *bench) recorded(c recordedCase) {
	const m, n, k = 128, 64, 64
	format, seed := softfloat.BF16, uint32(1)
	if c.d == int(rt.CUDA_R_16F) {
		format = softfloat.F16
	}
	next := func() uint32 {
		seed = seed*1664525 + 1013904223
		return seed >> 16
	}
	few := []byte{0x00, 0x30, 0x38, 0x3c, 0x40, 0xb0, 0xb8, 0xc0}
	a, b, d, aux := x.array(softfloat.E4M3, m*k), x.array(softfloat.E4M3, n*k), x.array(format, m*n), x.array(format, m*n)
	for i := range m * k {
		hostmem.Store(a.p.Index(i, 1), few[next()%8])
	}
	for i := range n * k {
		hostmem.Store(b.p.Index(i, 1), few[next()%8])
	}
	for i := range m * n {
		aux.set(i, float64(int(next()%129)-64)/16)
	}
	byBits := c.epilogue&8 != 0
	for i := 0; byBits && i < m*n; i++ {
		hostmem.Store(aux.p.Index(i, 2), uint16(next()))
	}
	sums := x.array(format, m)
	at, err := x.th.MatmulDescCreate(blas.CUBLAS_COMPUTE_32F, rt.CUDA_R_32F)
	x.ok(err)
	desc := hostmem.Ptr(at)
	x.ok(x.th.MatmulDescSetAttribute(desc, lt.CUBLASLT_MATMUL_DESC_TRANSA, word(int32(blas.CUBLAS_OP_T)), 4))
	x.ok(x.th.MatmulDescSetAttribute(desc, lt.CUBLASLT_MATMUL_DESC_EPILOGUE, word(int32(c.epilogue)), 4))
	x.ok(x.th.MatmulDescSetAttribute(desc, lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, word(aux.p), 8))
	x.ok(x.th.MatmulDescSetAttribute(desc, lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, word(int64(m)), 8))
	x.ok(x.th.MatmulDescSetAttribute(desc, lt.CUBLASLT_MATMUL_DESC_BIAS_POINTER, word(sums.p), 8))
	layout := func(f *softfloat.Format, rows, cols int) hostmem.Ptr {
		at, err := x.th.MatrixLayoutCreate(formatKinds[f], uint64(rows), uint64(cols), int64(rows))
		x.ok(err)
		x.t.Cleanup(func() { x.ok(x.th.MatrixLayoutDestroy(hostmem.Ptr(at))) })
		return hostmem.Ptr(at)
	}
	ld := layout(format, m, n)
	x.ok(x.th.Matmul(x.h, desc, word(float32(1)), a.p, layout(a.f, k, m), b.p, layout(b.f, k, n), word(float32(0)), d.p, ld, d.p, ld, 0, 0, 0, 0))
	x.ok(x.th.driver().CtxSynchronize())
	compare := func(what string, got array, step int, want []string, slack func(v float64) float64) {
		for i, text := range want {
			var code uint64
			if _, err := fmt.Sscanf(text, "%x", &code); err != nil {
				x.t.Fatal(err)
			}
			w := math.Float64frombits(format.Convert(softfloat.F64, code, softfloat.Env{}))
			if g := got.get(i * step); !(math.Abs(g-w) <= slack(w)) {
				x.t.Errorf("D %d epilogue %d: %s %d is %v, an H200's %v", c.d, c.epilogue, what, i*step, g, w)
			}
		}
	}
	exact, stepOf := func(float64) float64 { return 0 }, func(v float64) float64 { return 2*half(format, v) + 2e-4 }
	if byBits {
		compare("D", d, 61, c.numbers, exact)
	} else {
		compare("D", d, 61, c.numbers, stepOf)
	}
	compare("sum", sums, 1, c.sums, func(v float64) float64 { return 2*half(format, v) + 0.01 })
	x.ok(x.th.MatmulDescDestroy(desc))
}

// TestNarrowEpilogues: what an H200 takes is taken, and what it does not know at all is refused alike.
func TestNarrowEpilogues(t *testing.T) {
	x := newBench(t)
	formats := map[int]*softfloat.Format{int(rt.CUDA_R_32F): softfloat.F32, int(rt.CUDA_R_16F): softfloat.F16, int(rt.CUDA_R_16BF): softfloat.BF16, int(rt.CUDA_R_8F_E4M3): softfloat.E4M3}
	const side, auxLD = 16, 128
	e4, room := x.sheet(softfloat.E4M3, side, side, 1), x.array(softfloat.F32, side*auxLD)
	sheets := map[*softfloat.Format]sheet{}
	for _, f := range formats {
		sheets[f] = x.sheet(f, side, side, 1)
	}
	var counted int
	for line := range strings.Lines(recordedGradients) {
		var d, epilogue, bias, aux, auxType, status int
		if n, _ := fmt.Sscanf(line, "status D %d epilogue %d bias %d aux %d %d: %d", &d, &epilogue, &bias, &aux, &auxType, &status); n != 6 {
			continue
		}
		needsBias, needsAux := epilogue&(4|16|256|512) != 0, epilogue&(8|64|128) != 0
		if needsBias != (bias == 1) || needsAux != (aux == 1) {
			continue // pointers that no epilogue reads are not looked at here
		}
		counted++
		at, err := x.th.MatmulDescCreate(blas.CUBLAS_COMPUTE_32F, rt.CUDA_R_32F)
		x.ok(err)
		desc := hostmem.Ptr(at)
		x.ok(x.th.MatmulDescSetAttribute(desc, lt.CUBLASLT_MATMUL_DESC_TRANSA, word(int32(blas.CUBLAS_OP_T)), 4))
		x.ok(x.th.MatmulDescSetAttribute(desc, lt.CUBLASLT_MATMUL_DESC_EPILOGUE, word(int32(epilogue)), 4))
		x.ok(x.th.MatmulDescSetAttribute(desc, lt.CUBLASLT_MATMUL_DESC_BIAS_POINTER, word(room.p), 8))
		x.ok(x.th.MatmulDescSetAttribute(desc, lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, word(room.p), 8))
		x.ok(x.th.MatmulDescSetAttribute(desc, lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, word(int64(auxLD)), 8))
		if auxType >= 0 {
			x.ok(x.th.MatmulDescSetAttribute(desc, lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, word(int32(auxType)), 4))
		}
		to := sheets[formats[d]]
		c := to
		if d == int(rt.CUDA_R_8F_E4M3) {
			c = sheets[softfloat.BF16]
		}
		err = x.th.Matmul(x.h, desc, word(float32(1)), e4.p, e4.desc, e4.p, e4.desc, word(float32(0)), c.p, c.desc, to.p, to.desc, 0, 0, 0, 0)
		ours := []lt.CublasLtEpilogue_t{lt.CUBLASLT_EPILOGUE_GELU_AUX_BIAS} // with D of f32: more than an H200 takes
		if taken := err == nil; taken != (status == 0) && !(taken && slices.Contains(ours, lt.CublasLtEpilogue_t(epilogue))) {
			t.Errorf("%s gives %v", strings.TrimSpace(line), err)
		}
		x.ok(x.th.MatmulDescDestroy(desc))
	}
	x.ok(x.th.driver().CtxSynchronize())
	if counted != 76 {
		t.Errorf("%d answers are recorded", counted)
	}
}
