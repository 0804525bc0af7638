package cublaslt

import (
	"math"

	"kudzu/internal/shim"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/lt"
)

// gradient says of what the bias gets the sums.
type gradient uint8

const (
	gradNone gradient = iota
	gradD             // rows of D
	gradA             // rows of op(A)
	gradB             // columns of op(B)
)

// differentiate reads an epilogue of gradients; true: it has an aux.
func (p *plan) differentiate(e lt.CublasLtEpilogue_t) bool {
	switch e {
	case lt.CUBLASLT_EPILOGUE_BGRADA:
		p.grad = gradA
		return false
	case lt.CUBLASLT_EPILOGUE_BGRADB:
		p.grad = gradB
		return false
	case lt.CUBLASLT_EPILOGUE_DRELU_BGRAD, lt.CUBLASLT_EPILOGUE_DGELU_BGRAD:
		p.grad = gradD
	}
	p.act = 3
	if e&64 != 0 {
		p.act = 4
	}
	return true
}

// side is a matrix of which sums are made.
type side struct {
	cublas.View
	e           cublas.Elem
	n, k        int64 // sums, and numbers in each
	along, step int64 // from sum to sum, and from number to number
}

// kept is the matrix of what D got, where the sums were.
func (p *plan) kept(sums uint64) side {
	return side{View: cublas.View{Base: sums, Stride: p.m * p.n}, e: p.sum, n: p.m, k: p.n, along: 1, step: p.m}
}

// gradientOfOperand is BGRADA or BGRADB. Where the transpose is computed, the plan's B is the program's A.
func (t *Thread) gradientOfOperand(p *plan, stream cu.CUstream) error {
	s := side{View: p.a, e: p.ab, n: p.m, k: p.k}
	ofA := (p.grad == gradA) != p.turned
	if !ofA {
		s.View, s.n = p.b, p.n
	}
	transposed := s.Op == blas.CUBLAS_OP_T || s.Op == blas.CUBLAS_OP_C
	if s.along, s.step = 1, s.LD; transposed == ofA {
		s.along, s.step = s.LD, 1
	}
	if p.k == 0 {
		s.View = cublas.View{} // A and B may be missing
	}
	const most = 65535
	for first := int64(0); first < p.batch; first += most {
		if err := t.gradient(p, s, first, min(most, p.batch-first), stream); err != nil {
			return err
		}
		s.View = s.From(most, 0, s.e)
	}
	return nil
}

// gradient puts sums into matrices of the bias from first on; the side's first matrix is that one.
func (t *Thread) gradient(p *plan, s side, first, n int64, stream cu.CUstream) error {
	var q shim.Params
	s.Put(&q)
	q.U64(uint64(s.along), uint64(s.step), p.gradAt, p.biasStride)
	grid, warps := [3]uint32{uint32((s.n + 31) / 32), 1, uint32(n)}, uint32(0)
	if s.step == 1 {
		grid[0], warps = uint32(s.n), 1
	}
	q.U32(uint32(s.n), uint32(s.k), uint32(p.biasType), uint32(first), warps, 0)
	return kernels.Launch(t.driver(), stream, "gradient_"+s.e.String(), grid, [3]uint32{32, 1, 1}, &q)
}

// slope is gelu's gradient in its tanh form.
func slope(x float64) float64 {
	c := math.Sqrt(2 / math.Pi)
	th := math.Tanh(c * (x + 0.044715*x*x*x))
	return (1+th)/2 + x/2*(1-th*th)*c*(1+3*0.044715*x*x)
}
