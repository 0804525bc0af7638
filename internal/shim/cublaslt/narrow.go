package cublaslt

import (
	"kudzu/internal/packed"
	"kudzu/internal/shim"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/lt"
	"kudzu/internal/spec/rt"
)

var narrowKernels = &shim.Kernels{Name: "cuBLASLt fp8 and fp4", Text: packed.New(packedTexts).Lazy("narrow")}

// narrowing is what a product of numbers of 8 or 4 bits has beside its plan. Types are TYPE_ numbers of kernels/narrow.cu.
type narrowing struct {
	ab            [2]uint32 // of A and B
	c, d, aux     uint32
	modes         [2]lt.CublasLtMatmulMatrixScale_t
	blocks        uint64 // where factors of D's blocks go
	scaleAux      uint64
	most, mostAux uint64 // where largest sizes go
}

// The types that package cublas has not.
const (
	typeE4M3 = 8 + iota
	typeE5M2
	typeE2M1
)

// narrowType is the number of a type of 8 or 4 bits, else 0.
func narrowType(t rt.CudaDataType) uint32 {
	switch t {
	case rt.CUDA_R_8F_E4M3:
		return typeE4M3
	case rt.CUDA_R_8F_E5M2:
		return typeE5M2
	case rt.CUDA_R_4F_E2M1:
		return typeE2M1
	}
	return 0
}

// narrowTypes are those of the manual's table: not both of A and B e5m2, and D is C's type or as narrow as A and B, but only
// where A or B is e5m2 also e5m2.
func (p *plan) narrowTypes(x record, ls [4]record) error {
	var ts [4]rt.CudaDataType
	for i, l := range ls {
		ts[i] = rt.CudaDataType(get(l, lt.CUBLASLT_MATRIX_LAYOUT_TYPE))
	}
	n := &narrowing{ab: [2]uint32{narrowType(ts[0]), narrowType(ts[1])}, d: narrowType(ts[3])}
	switch n.ab {
	case [2]uint32{typeE4M3, typeE4M3}, [2]uint32{typeE4M3, typeE5M2}, [2]uint32{typeE5M2, typeE4M3}, [2]uint32{typeE2M1, typeE2M1}:
	default:
		return notSupported
	}
	c, ok := cublas.ElemOf(ts[2])
	if !ok || c != cublas.F32 && c != cublas.F16 && c != cublas.BF16 {
		return notSupported
	}
	p.out = c
	switch n.c = uint32(c); {
	case n.d == 0 && ts[3] == ts[2]:
		n.d = n.c
	case n.d == 0 || (n.d == typeE2M1) != (n.ab[0] == typeE2M1) || c == cublas.F32, n.d == typeE5M2 && n.ab == [2]uint32{typeE4M3, typeE4M3}:
		return notSupported
	default:
		p.out = cublas.S8 // as large
	}
	scale := rt.CudaDataType(get(x, lt.CUBLASLT_MATMUL_DESC_SCALE_TYPE))
	if blas.CublasComputeType_t(get(x, lt.CUBLASLT_MATMUL_DESC_COMPUTE_TYPE)) != blas.CUBLAS_COMPUTE_32F || scale != rt.CUDA_R_32F {
		return notSupported
	}
	p.ab, p.sum, p.scalar, p.narrow = cublas.F16, cublas.F32, cublas.F32, n
	return nil
}

// biasDefault is the bias's type where the program names none.
func (p *plan) biasDefault() cublas.Elem {
	switch {
	case p.narrow == nil && p.out == cublas.S8:
		return cublas.F32
	case p.narrow == nil:
		return p.out
	case p.narrow.c == uint32(cublas.F16):
		return cublas.F16
	}
	return cublas.BF16
}

// blockScaled are the pairs of ways to scale A and B by more than a scalar.
var blockScaled = map[[2]lt.CublasLtMatmulMatrixScale_t]bool{
	{lt.CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F, lt.CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F}: true,
	{lt.CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F, lt.CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F}:       true,
	{lt.CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F, lt.CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F}:   true,
	{lt.CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F, lt.CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F}:   true,
	{lt.CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0, lt.CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0}:     true,
	{lt.CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3, lt.CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3}:     true,
}

// scaling reads what only these products have. Factors of blocks are for one matrix: an H200 refuses a batch.
func (n *narrowing) scaling(p *plan, x record) error {
	mode := func(attr lt.CublasLtMatmulDescAttributes_t) lt.CublasLtMatmulMatrixScale_t {
		return lt.CublasLtMatmulMatrixScale_t(get(x, attr))
	}
	n.modes = [2]lt.CublasLtMatmulMatrixScale_t{mode(lt.CUBLASLT_MATMUL_DESC_A_SCALE_MODE), mode(lt.CUBLASLT_MATMUL_DESC_B_SCALE_MODE)}
	for _, m := range n.modes {
		if m < 0 || m >= lt.CUBLASLT_MATMUL_MATRIX_SCALE_END {
			return invalidValue
		}
	}
	if mode(lt.CUBLASLT_MATMUL_DESC_C_SCALE_MODE) != 0 || mode(lt.CUBLASLT_MATMUL_DESC_D_SCALE_MODE) != 0 {
		return invalidValue // as an H200 answers
	}
	blocks, fours := n.modes != [2]lt.CublasLtMatmulMatrixScale_t{}, n.modes[0] == lt.CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3
	if mode(lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_MODE) != 0 || blocks && (!blockScaled[n.modes] || p.batch != 1) || fours != (n.ab[0] == typeE2M1) {
		return notSupported
	}
	if err := n.blocksOfD(p, mode(lt.CUBLASLT_MATMUL_DESC_D_OUT_SCALE_MODE), get(x, lt.CUBLASLT_MATMUL_DESC_D_OUT_SCALE_POINTER), blocks); err != nil {
		return err
	}
	if p.mode > lt.CUBLASLT_POINTER_MODE_DEVICE || p.grad == gradA || p.grad == gradB || p.act >= 3 && (blocks || n.d >= typeE4M3) || p.grad == gradD && n.d == uint32(cublas.F32) {
		return notSupported // an H200, too, has no gradients with D of 8 bits, no BGRAD with D of f32, and no BGRADA or BGRADB
	}
	if blocks {
		p.ab = cublas.F32
	}
	n.scaleAux, n.most, n.mostAux = get(x, lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER), get(x, lt.CUBLASLT_MATMUL_DESC_AMAX_D_POINTER), get(x, lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER)
	if err := n.auxType(p, get(x, lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE)); err != nil {
		return err
	}
	if n.most != 0 && n.d < typeE4M3 || n.mostAux != 0 && (p.aux == 0 || p.bits || n.aux < typeE4M3) {
		return invalidValue // an H200 has largest sizes of what is rounded to 8 bits only
	}
	return nil
}

// blocksOfD: where A and B have factors of 16 or 32 numbers, a narrow D has them too, and the product writes them.
func (n *narrowing) blocksOfD(p *plan, mode lt.CublasLtMatmulMatrixScale_t, to uint64, blocks bool) error {
	if n.d < typeE4M3 || !blocks {
		if to != 0 {
			return invalidValue
		}
		return nil
	}
	if n.blocks = to; mode != n.modes[0] || n.modes[0] != lt.CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3 && n.modes[0] != lt.CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0 {
		return notSupported
	}
	if to == 0 {
		return invalidValue
	}
	if p.turned || n.d == typeE2M1 && (p.m%2 != 0 || p.d.LD%2 != 0) {
		return notSupported
	}
	return nil
}

// auxType is C's unless the program names another. An H200 takes no other but e4m3 where C is f16 and D narrow.
func (n *narrowing) auxType(p *plan, v uint64) error {
	n.aux = n.c
	if p.aux == 0 || p.bits || v == unset {
		return nil
	}
	if t := narrowType(rt.CudaDataType(v)); t != 0 && t == n.d && t != typeE2M1 && n.c == uint32(cublas.F16) {
		n.aux = t
		return nil
	}
	if e, ok := cublas.ElemOf(rt.CudaDataType(v)); !ok || uint32(e) != n.c {
		return invalidValue
	}
	return nil
}

// widened is an operand with its place in memory of ours.
type widened struct {
	cublas.View        // as it lies
	rows, cols  int64  // as it lies
	outer       int64  // the side that is not summed over
	to          uint64 // where it is widened to
	each        int64  // between matrices there; 0: all are one
	index       int    // 0 the program's A, 1 its B
	deep        bool   // sums go along rows
}

func (p *plan) widened() (w [2]widened) {
	for i, v := range [2]cublas.View{p.a, p.b} {
		transposed := v.Op == blas.CUBLAS_OP_T || v.Op == blas.CUBLAS_OP_C
		if v.Op = blas.CUBLAS_OP_N; transposed {
			v.Op = blas.CUBLAS_OP_T
		}
		w[i] = widened{View: v, outer: p.m, rows: p.m, cols: p.k, index: i, deep: transposed}
		if i == 1 {
			w[i].outer, w[i].rows, w[i].cols, w[i].deep = p.n, p.k, p.n, !transposed
		}
		if transposed {
			w[i].rows, w[i].cols = w[i].cols, w[i].rows
		}
		if p.turned {
			w[i].index = 1 - i
		}
		if v.List || v.Stride != 0 {
			w[i].each = w[i].rows * w[i].cols
		}
	}
	return w
}

// narrowProduct widens both operands, multiplies them, and does what follows, some matrices at a time.
func (t *Thread) narrowProduct(x *cublas.Handle, p *plan, product cublas.Product, alpha, beta cublas.Scalar, stream cu.CUstream) error {
	n, w := p.narrow, p.widened()
	for i, m := range n.modes {
		if m != lt.CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F && p.scales[i] == 0 {
			return invalidValue
		}
	}
	if (p.n+31)/32 > 65535 {
		return notSupported // more than two million columns
	}
	if p.beyond() {
		return allocFailed
	}
	size, each := int64(p.ab.Size()), p.m*p.n
	per := each*4 + (w[0].rows*w[0].cols+w[1].rows*w[1].cols)*size
	chunk := min(p.batch, 65535, max(1, maxSums/max(1, per)))
	pack, space := x.Spaces()
	space.Hold()
	defer space.Release()
	at, err := space.Take(t.driver(), stream, uint64(per*chunk+512))
	if err != nil {
		return err
	}
	sums := uint64(at)
	w[0].to = sums + uint64(each*chunk*4+255)&^255
	w[1].to = w[0].to + uint64(w[0].rows*w[0].cols*chunk*size+255)&^255
	if n.most != 0 || n.mostAux != 0 {
		var q shim.Params
		if err := narrowKernels.Launch(t.driver(), stream, "nothing", [3]uint32{1, 1, 1}, [3]uint32{1, 1, 1}, q.U64(n.most, n.mostAux)); err != nil {
			return err
		}
	}
	for first := int64(0); first < p.batch; first += chunk {
		count := min(chunk, p.batch-first)
		q := product
		q.Batch, q.TA, q.TC, q.Alpha, q.Beta = count, p.ab, cublas.F32, cublas.Scalar{Re: 1}, cublas.Scalar{}
		for i := range w {
			if p.k > 0 && (first == 0 || w[i].each != 0) {
				if err := t.expand(p, &w[i], first, count, stream); err != nil {
					return err
				}
			}
		}
		q.A = cublas.View{Base: w[0].to, Stride: w[0].each, LD: max(1, w[0].rows), Op: w[0].Op}
		q.B = cublas.View{Base: w[1].to, Stride: w[1].each, LD: max(1, w[1].rows), Op: w[1].Op}
		q.C = cublas.View{Base: sums, Stride: each, LD: p.m}
		if err := q.Run(t.driver(), stream, pack); err != nil {
			return err
		}
		if err := t.finish(p, sums, alpha, beta, first, count, stream); err != nil {
			return err
		}
		if p.grad == gradD {
			if err := t.gradient(p, p.kept(sums), first, count, stream); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *Thread) expand(p *plan, w *widened, first, count int64, stream cu.CUstream) error {
	if w.each == 0 {
		count = 1
	}
	truth := map[bool]uint32{true: 1}
	var q shim.Params
	w.Put(&q)
	q.U64(w.to, uint64(w.each), p.scales[w.index])
	q.U32(uint32(w.rows), uint32(w.cols), p.narrow.ab[w.index], uint32(p.narrow.modes[w.index]), truth[p.ab == cublas.F32], truth[w.deep], uint32(w.outer), uint32(p.k), uint32(first), 0)
	grid := [3]uint32{uint32((w.rows + 255) / 256), uint32(min(w.cols, 65535)), uint32(count)}
	return narrowKernels.Launch(t.driver(), stream, "expand", grid, [3]uint32{256, 1, 1}, &q)
}

func (t *Thread) finish(p *plan, sums uint64, alpha, beta cublas.Scalar, first, count int64, stream cu.CUstream) error {
	n, flags, scales := p.narrow, uint32(0), p.scales
	if p.turned {
		flags |= flagBiasColumns
	}
	if p.bits {
		flags |= flagBits
	}
	if p.grad == gradD {
		flags |= flagKeep
	}
	for i, m := range n.modes {
		if m != lt.CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F {
			scales[i] = 0
		}
	}
	var q shim.Params
	q.U64(sums, uint64(p.m*p.n))
	p.c.Put(&q)
	p.d.Put(&q)
	alpha.Put(&q)
	beta.Put(&q)
	q.U64(p.bias, p.biasStride, p.aux, p.auxLD, p.auxStride)
	q.U64(scales[:]...).U64(n.scaleAux, n.most, n.mostAux, n.blocks)
	q.U32(uint32(p.m), uint32(p.n), p.act, n.c, n.d, uint32(p.biasType), n.aux, flags, uint32(first), 0)
	grid := [3]uint32{uint32((p.m + 31) / 32), uint32((p.n + 31) / 32), uint32(count)}
	return narrowKernels.Launch(t.driver(), stream, "finish", grid, [3]uint32{32, 1, 1}, &q)
}
