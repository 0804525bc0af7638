package cublaslt

import (
	"math"
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/softfloat"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/lt"
	"kudzu/internal/spec/rt"
)

// TestNarrowGradient: DRELU and DGELU with and without BGRAD, where an H200 has them, and its answers where not.
func TestNarrowGradient(t *testing.T) {
	x := newBench(t)
	for _, f := range []*softfloat.Format{softfloat.F16, softfloat.BF16, softfloat.F32} {
		for _, e := range []lt.CublasLtEpilogue_t{lt.CUBLASLT_EPILOGUE_DRELU, lt.CUBLASLT_EPILOGUE_DRELU_BGRAD, lt.CUBLASLT_EPILOGUE_DGELU, lt.CUBLASLT_EPILOGUE_DGELU_BGRAD} {
			if f != softfloat.F32 || e == lt.CUBLASLT_EPILOGUE_DRELU || e == lt.CUBLASLT_EPILOGUE_DGELU {
				x.narrowGradient(f, e)
			}
		}
	}
	e4, h, f32 := x.sheet(softfloat.E4M3, 32, 32, 1), x.sheet(softfloat.F16, 32, 32, 1), x.sheet(softfloat.F32, 32, 32, 1)
	at, err := x.th.MatmulDescCreate(blas.CUBLAS_COMPUTE_32F, rt.CUDA_R_32F)
	x.ok(err)
	desc, one, aux := hostmem.Ptr(at), word(float32(1)), x.array(softfloat.F32, 128*32)
	for attr, v := range map[lt.CublasLtMatmulDescAttributes_t]uint64{lt.CUBLASLT_MATMUL_DESC_BIAS_POINTER: uint64(aux.p), lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER: uint64(aux.p), lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD: 128} {
		x.ok(x.th.MatmulDescSetAttribute(desc, attr, word(v), 8))
	}
	for _, e := range []lt.CublasLtEpilogue_t{lt.CUBLASLT_EPILOGUE_DGELU_BGRAD, lt.CUBLASLT_EPILOGUE_BGRADA, lt.CUBLASLT_EPILOGUE_BGRADB} {
		x.ok(x.th.MatmulDescSetAttribute(desc, lt.CUBLASLT_MATMUL_DESC_EPILOGUE, word(int32(e)), 4))
		for _, d := range []sheet{e4, f32, h} {
			c := h
			if d.f == softfloat.F32 {
				c = f32
			}
			if e == lt.CUBLASLT_EPILOGUE_DGELU_BGRAD && d.f == softfloat.F16 {
				continue // this one is there
			}
			x.is(x.th.Matmul(x.h, desc, one, e4.p, e4.desc, e4.p, e4.desc, one, c.p, c.desc, d.p, d.desc, 0, 0, 0, 0), notSupported)
		}
	}
	x.ok(x.th.MatmulDescDestroy(desc))
}

func (x *bench) narrowGradient(f *softfloat.Format, e lt.CublasLtEpilogue_t) {
	m, n, k, batch, auxLD := 40+x.rng.IntN(100), 10+x.rng.IntN(30), 16+x.rng.IntN(40), 2, 256
	a, b, d := x.sheet(softfloat.E4M3, k, m, batch), x.sheet(softfloat.E5M2, k, n, batch), x.sheet(f, m, n, batch)
	a.v, b.v = a.all(), b.all()
	byBits := e == lt.CUBLASLT_EPILOGUE_DRELU || e == lt.CUBLASLT_EPILOGUE_DRELU_BGRAD
	aux, bias := x.array(f, auxLD*n*batch), x.array(softfloat.F32, m*batch)
	at, err := x.th.MatmulDescCreate(blas.CUBLAS_COMPUTE_32F, rt.CUDA_R_32F)
	x.ok(err)
	desc := hostmem.Ptr(at)
	x.ok(x.th.MatmulDescSetAttribute(desc, lt.CUBLASLT_MATMUL_DESC_TRANSA, word(int32(blas.CUBLAS_OP_T)), 4))
	x.ok(x.th.MatmulDescSetAttribute(desc, lt.CUBLASLT_MATMUL_DESC_EPILOGUE, word(int32(e)), 4))
	x.ok(x.th.MatmulDescSetAttribute(desc, lt.CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, word(int32(rt.CUDA_R_32F)), 4))
	for attr, v := range map[lt.CublasLtMatmulDescAttributes_t]uint64{lt.CUBLASLT_MATMUL_DESC_BIAS_POINTER: uint64(bias.p), lt.CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE: uint64(m),
		lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER: uint64(aux.p), lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD: uint64(auxLD), lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE: uint64(auxLD * n)} {
		x.ok(x.th.MatmulDescSetAttribute(desc, attr, word(v), 8))
	}
	before := bias.all()
	x.ok(x.th.Matmul(x.h, desc, word(float32(1)), a.p, a.desc, b.p, b.desc, word(float32(0)), d.p, d.desc, d.p, d.desc, 0, 0, 0, 0))
	x.ok(x.th.driver().CtxSynchronize())
	for q := range batch {
		for i := range m {
			total, slack := 0.0, 1e-4
			for j := range n {
				s, size := 0.0, 0.0
				for l := range k {
					v := a.at(q, l, i) * b.at(q, l, j)
					s, size = s+v, size+math.Abs(v)
				}
				at := (q*n+j)*auxLD + i
				if byBits && hostmem.Load[uint8](aux.p.Add(uint64(at/8)))>>(at%8)&1 == 0 {
					s = 0
				} else if !byBits {
					s *= slope(aux.get(at))
				}
				limit := 0x1p-20 * (size + 1)
				if got := d.at(q, i, j); !(math.Abs(got-s) <= limit+half(f, s)) {
					x.t.Fatalf("%s epilogue %d: D[%d][%d,%d] is %v, want %v", f.Name, e, q, i, j, got, s)
				}
				total, slack = total+s, slack+limit
			}
			if e == lt.CUBLASLT_EPILOGUE_DRELU || e == lt.CUBLASLT_EPILOGUE_DGELU {
				total, slack = before[q*m+i], 0
			}
			if got := bias.get(q*m + i); !(math.Abs(got-total) <= slack+1e-6*math.Abs(total)) {
				x.t.Fatalf("%s epilogue %d: bias[%d][%d] is %v, want %v", f.Name, e, q, i, got, total)
			}
		}
	}
	x.ok(x.th.MatmulDescDestroy(desc))
}
