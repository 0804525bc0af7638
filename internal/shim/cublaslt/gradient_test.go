package cublaslt

import (
	"fmt"
	"math"
	"os"
	"sync"
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/shim/again"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/lt"
)

var gradients = []lt.CublasLtEpilogue_t{lt.CUBLASLT_EPILOGUE_DRELU, lt.CUBLASLT_EPILOGUE_DRELU_BGRAD, lt.CUBLASLT_EPILOGUE_DGELU, lt.CUBLASLT_EPILOGUE_DGELU_BGRAD,
	lt.CUBLASLT_EPILOGUE_BGRADA, lt.CUBLASLT_EPILOGUE_BGRADB}

// TestGradients tries every epilogue of gradients with every type.
func TestGradients(t *testing.T) {
	x := newBench(t)
	rounds := 120
	if os.Getenv(interpreted) != "" {
		rounds = 30
	}
	for i := range rounds {
		x.gradientRound(i)
	}
}

// TestGradientsChecked: done again they are near enough, and with a bit turned in the last number they are not.
func TestGradientsChecked(t *testing.T) {
	x := newBench(t)
	defer again.Use(nil)
	for _, plant := range []func(*again.Call, []again.Span) func(){nil, again.Fault} {
		var mu sync.Mutex
		counts := map[string]int{}
		again.Use(&again.Checker{Plant: plant, Tell: func(r *again.Result) {
			mu.Lock()
			defer mu.Unlock()
			switch {
			case r.Library != "cuBLASLt":
			case r.Skipped != "":
				counts["skipped"]++
			case r.Differs():
				counts["differs"]++
			default:
				counts["same"]++
			}
		}})
		for i := range 24 {
			if i%6 < 4 { // the sums of operands are made outside
				x.gradientRound(i)
			}
		}
		if (counts["same"] > 0) != (plant == nil) || (counts["differs"] > 0) != (plant != nil) || counts["skipped"] > 0 {
			t.Errorf("fault %v: %v", plant != nil, counts)
		}
	}
}

func (x *bench) gradientRound(i int) {
	types := [][3]cublas.Elem{{cublas.F32, cublas.F32, cublas.F32}, {cublas.F16, cublas.F32, cublas.F16}, {cublas.BF16, cublas.F32, cublas.BF16}, {cublas.F16, cublas.F32, cublas.F32},
		{cublas.F64, cublas.F64, cublas.F64}}
	epilogue, ty := gradients[i%len(gradients)], types[i/len(gradients)%len(types)]
	gelu := epilogue == lt.CUBLASLT_EPILOGUE_DGELU || epilogue == lt.CUBLASLT_EPILOGUE_DGELU_BGRAD
	relu := epilogue == lt.CUBLASLT_EPILOGUE_DRELU || epilogue == lt.CUBLASLT_EPILOGUE_DRELU_BGRAD
	if ty[1] == cublas.F64 && gelu {
		epilogue, gelu, relu = lt.CUBLASLT_EPILOGUE_DRELU_BGRAD, false, true
	}
	m, n, k, batch := 1+x.rng.IntN(70), 1+x.rng.IntN(40), x.rng.IntN(50), 1+x.rng.IntN(3)
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
	byRow := !gelu && !relu && coin()
	a, b := x.matrix(ty[0], ra, ca, batch, coin()), x.matrix(ty[0], rb, cb, batch, coin())
	c, d := x.matrix(ty[2], m, n, batch, byRow), x.matrix(ty[2], m, n, batch, byRow)
	compute := blas.CublasComputeType_t(blas.CUBLAS_COMPUTE_32F)
	if ty[1] == cublas.F64 {
		compute = blas.CUBLAS_COMPUTE_64F
	}
	at, err := x.th.MatmulDescCreate(compute, kinds[ty[1]])
	x.ok(err)
	desc := hostmem.Ptr(at)
	set := func(attr lt.CublasLtMatmulDescAttributes_t, p hostmem.Ptr, n uint64) {
		x.ok(x.th.MatmulDescSetAttribute(desc, attr, p, n))
	}
	set(lt.CUBLASLT_MATMUL_DESC_TRANSA, word(int32(ta)), 4)
	set(lt.CUBLASLT_MATMUL_DESC_TRANSB, word(int32(tb)), 4)
	set(lt.CUBLASLT_MATMUL_DESC_EPILOGUE, word(epilogue), 4)
	length := m
	if epilogue == lt.CUBLASLT_EPILOGUE_BGRADB {
		length = n
	}
	biasType := ty[2]
	if ty[2] == cublas.F16 && coin() {
		biasType = cublas.F32
		set(lt.CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, word(kinds[biasType]), 4)
	}
	biasStride := length + x.rng.IntN(3)
	bias := x.numbers(biasType, biasStride*batch)
	set(lt.CUBLASLT_MATMUL_DESC_BIAS_POINTER, word(uint64(bias.p)), 8)
	set(lt.CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, word(int64(biasStride)), 8)
	auxLD := (m + 127) / 128 * 128
	aux := x.numbers(ty[2], auxLD*n*batch)
	if relu || gelu {
		set(lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, word(uint64(aux.p)), 8)
		set(lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, word(int64(auxLD)), 8)
		set(lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, word(int64(auxLD*n)), 8)
	}
	alpha, beta := 0.5, 0.25
	scalar := func(v float64) hostmem.Ptr {
		if ty[1] == cublas.F64 {
			return word(v)
		}
		return word(float32(v))
	}
	want, _ := x.expect(a, b, c, d, ta, tb, k, batch, alpha, beta, 0, numbers{})
	x.ok(x.th.Matmul(x.h, desc, scalar(alpha), a.p, a.desc, b.p, b.desc, scalar(beta), c.p, c.desc, d.p, d.desc, 0, 0, 0, 0))
	x.ok(x.th.driver().CtxSynchronize())
	x.ok(x.th.MatmulDescDestroy(desc))
	eps := map[cublas.Elem]float64{cublas.F32: 0x1p-20, cublas.F64: 0x1p-48, cublas.F16: 0x1p-10, cublas.BF16: 0x1p-7}
	what := fmt.Sprintf("round %d %v epilogue %d m %d n %d k %d batch %d ops %d%d rows %v%v%v bias %v", i, ty, epilogue, m, n, k, batch, ta, tb, a.byRow, b.byRow, byRow, biasType)
	for q := range batch {
		sums, sizes := make([]float64, length), make([]float64, length)
		for j := range n {
			for r := range m {
				w := want[(q*n+j)*m+r]
				at := (q*n+j)*auxLD + r
				switch {
				case relu && hostmem.Load[uint8](aux.p.Add(uint64(at/8)))>>(at%8)&1 == 0:
					w = 0
				case gelu: // the derivative, as a difference of gelu
					v := aux.get(at)
					w *= (reference(v+1e-5, 2) - reference(v-1e-5, 2)) / 2e-5
				}
				if relu || gelu {
					sums[r] += w
					sizes[r] += math.Abs(w) + 1
				}
				if g := d.get(d.at(q, r, j)); !(math.Abs(g-w) <= eps[ty[2]]*(float64(k)+4+math.Abs(w))) {
					x.t.Fatalf("%s: D[%d][%d,%d] is %v, want %v", what, q, r, j, g, w)
				}
			}
		}
		for r := range length {
			for l := range k {
				i, j, of, op := r, l, a, ta
				if epilogue == lt.CUBLASLT_EPILOGUE_BGRADB {
					i, j, of, op = l, r, b, tb
				}
				if op != blas.CUBLAS_OP_N {
					i, j = j, i
				}
				if !relu && !gelu {
					v := of.get(of.at(q, i, j))
					sums[r] += v
					sizes[r] += math.Abs(v)
				}
			}
			if epilogue == lt.CUBLASLT_EPILOGUE_DRELU || epilogue == lt.CUBLASLT_EPILOGUE_DGELU {
				continue
			}
			sum := float64(k) * 0x1p-24
			if ty[1] == cublas.F64 {
				sum = float64(k) * 0x1p-53
			}
			if g := bias.get(q*biasStride + r); !(math.Abs(g-sums[r]) <= eps[biasType]*(math.Abs(sums[r])+1e-30)+(sum+0x1p-48)*(sizes[r]*8+1)+gap(gelu)*sizes[r]) {
				x.t.Fatalf("%s: gradient[%d][%d] is %v, want %v", what, q, r, g, sums[r])
			}
		}
	}
}

// gap is what the kernel's gelu may be off.
func gap(gelu bool) float64 {
	if gelu {
		return 0x1p-19
	}
	return 0
}
