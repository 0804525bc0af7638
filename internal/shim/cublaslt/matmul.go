package cublaslt

import (
	_ "embed" // the kernels
	"slices"

	"kudzu/internal/hostmem"
	"kudzu/internal/packed"
	"kudzu/internal/shim"
	"kudzu/internal/shim/again"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/lt"
	"kudzu/internal/spec/rt"
)

//go:embed kernels/zkernels.lz4
var packedTexts []byte

var kernels = &shim.Kernels{Name: "cuBLASLt epilogues", Text: packed.New(packedTexts).Lazy("epilogue")}

// plan is a product that can be computed: what the descriptors say, with D's columns lying together. Where D is stored row
// by row, its transpose is computed, of the operands' transposes in the other order.
type plan struct {
	m, n, k, batch int64
	a, b, c, d     cublas.View
	ab, out, sum   cublas.Elem
	scalar         cublas.Elem
	mode           lt.CublasLtPointerMode_t
	turned         bool // the transpose is computed

	act        uint32 // 1 relu, 2 gelu, 3 and 4 their gradients
	bias, aux  uint64
	grad       gradient // what the bias gets, in place of being added
	gradAt     uint64
	biasType   cublas.Elem
	biasStride uint64
	auxLD      uint64
	auxStride  uint64
	bits       bool      // aux is a mask of bits
	scales     [4]uint64 // of A, B, C and D

	narrow *narrowing // A and B are of 8 or 4 bits
}

// planOf reads the descriptors. Sense is checked before support, as the vendor does.
func planOf(desc, a, b, c, d hostmem.Ptr) (*plan, error) {
	x, err := descKind.find(desc)
	if err != nil {
		return nil, err
	}
	var ls [4]record
	for i, p := range []hostmem.Ptr{a, b, c, d} {
		if ls[i], err = layoutKind.find(p); err != nil {
			return nil, err
		}
	}
	p := &plan{mode: lt.CublasLtPointerMode_t(get(x, lt.CUBLASLT_MATMUL_DESC_POINTER_MODE))}
	if err := p.types(x, ls); err != nil {
		return nil, err
	}
	if err := p.shapes(x, ls); err != nil {
		return nil, err
	}
	return p, p.after(x)
}

func (p *plan) types(x record, ls [4]record) error {
	for _, l := range ls[:2] {
		if narrowType(rt.CudaDataType(get(l, lt.CUBLASLT_MATRIX_LAYOUT_TYPE))) != 0 {
			return p.narrowTypes(x, ls)
		}
	}
	var es [4]cublas.Elem
	for i, l := range ls {
		e, ok := cublas.OperandOf(rt.CudaDataType(get(l, lt.CUBLASLT_MATRIX_LAYOUT_TYPE)))
		if !ok {
			return notSupported
		}
		es[i] = e
	}
	if es[0] != es[1] || es[2] != es[3] {
		return notSupported
	}
	p.ab, p.out = es[0], es[3]
	compute := blas.CublasComputeType_t(get(x, lt.CUBLASLT_MATMUL_DESC_COMPUTE_TYPE))
	for _, c := range combinations[[2]cublas.Elem{p.ab, p.out}] {
		if !slices.Contains(computes[c.by], compute) {
			continue
		}
		if scale, ok := cublas.ElemOf(rt.CudaDataType(get(x, lt.CUBLASLT_MATMUL_DESC_SCALE_TYPE))); !ok || scale != c.scalar {
			return invalidValue // an H200 has this order: first what there is not, then what does not fit
		}
		p.sum, p.scalar = c.sum, c.scalar
		return nil
	}
	return notSupported
}

// combination is how a product is computed: the compute types that say so, the type of sums, and that of alpha and beta.
type combination struct {
	by          way
	sum, scalar cublas.Elem
}

type way uint8

const (
	halves way = iota
	singles
	fast // what narrows operands of f32 first
	doubles
	integers
)

var computes = map[way][]blas.CublasComputeType_t{
	halves: {blas.CUBLAS_COMPUTE_16F, blas.CUBLAS_COMPUTE_16F_PEDANTIC},
	singles: {blas.CUBLAS_COMPUTE_32F, blas.CUBLAS_COMPUTE_32F_PEDANTIC, blas.CUBLAS_COMPUTE_32F_FAST_16F, blas.CUBLAS_COMPUTE_32F_FAST_16BF,
		blas.CUBLAS_COMPUTE_32F_FAST_TF32, blas.CUBLAS_COMPUTE_32F_EMULATED_16BFX9},
	fast: {blas.CUBLAS_COMPUTE_32F_FAST_16F, blas.CUBLAS_COMPUTE_32F_FAST_16BF, blas.CUBLAS_COMPUTE_32F_FAST_TF32,
		blas.CUBLAS_COMPUTE_32F_EMULATED_16BFX9},
	doubles:  {blas.CUBLAS_COMPUTE_64F, blas.CUBLAS_COMPUTE_64F_PEDANTIC, blas.CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT},
	integers: {blas.CUBLAS_COMPUTE_32I, blas.CUBLAS_COMPUTE_32I_PEDANTIC},
}

// combinations are what there is, by the types of A and B, and of D: all that an H200 has.
var combinations = map[[2]cublas.Elem][]combination{
	{cublas.F16, cublas.F16}:   {{halves, cublas.F32, cublas.F16}, {singles, cublas.F32, cublas.F32}},
	{cublas.F16, cublas.F32}:   {{singles, cublas.F32, cublas.F32}},
	{cublas.BF16, cublas.BF16}: {{singles, cublas.F32, cublas.F32}},
	{cublas.BF16, cublas.F32}:  {{singles, cublas.F32, cublas.F32}},
	{cublas.F32, cublas.F32}:   {{singles, cublas.F32, cublas.F32}},
	{cublas.F32, cublas.F16}:   {{fast, cublas.F32, cublas.F32}},
	{cublas.F32, cublas.BF16}:  {{fast, cublas.F32, cublas.F32}},
	{cublas.F64, cublas.F64}:   {{doubles, cublas.F64, cublas.F64}},
	{cublas.C32, cublas.C32}:   {{singles, cublas.C32, cublas.C32}},
	{cublas.C8, cublas.C32}:    {{singles, cublas.C32, cublas.C32}},
	{cublas.C64, cublas.C64}:   {{doubles, cublas.C64, cublas.C64}},
	{cublas.S8, cublas.S32}:    {{integers, cublas.S32, cublas.S32}},
	{cublas.S8, cublas.S8}:     {{integers, cublas.S32, cublas.F32}},
	{cublas.S8, cublas.F32}:    {{singles, cublas.F32, cublas.F32}, {integers, cublas.S32, cublas.F32}}, // an H200 has not the second
}

// shapes takes the sizes. A matrix stored row by row is the transpose of one stored column by column.
func (p *plan) shapes(x record, ls [4]record) error {
	var rows, cols [4]int64
	var byRow [4]bool
	var views [4]cublas.View
	for i, l := range ls {
		r, c, ld := get(l, lt.CUBLASLT_MATRIX_LAYOUT_ROWS), get(l, lt.CUBLASLT_MATRIX_LAYOUT_COLS), int64(get(l, lt.CUBLASLT_MATRIX_LAYOUT_LD))
		if r > 1<<31-1 || c > 1<<31-1 {
			return notSupported
		}
		rows[i], cols[i] = int64(r), int64(c)
		least := rows[i]
		switch lt.CublasLtOrder_t(get(l, lt.CUBLASLT_MATRIX_LAYOUT_ORDER)) {
		case lt.CUBLASLT_ORDER_COL:
		case lt.CUBLASLT_ORDER_ROW:
			byRow[i], least = true, cols[i]
		default:
			return notSupported
		}
		if ld < least {
			return invalidValue
		}
		mode := lt.CublasLtBatchMode_t(get(l, lt.CUBLASLT_MATRIX_LAYOUT_BATCH_MODE))
		if mode != lt.CUBLASLT_BATCH_MODE_STRIDED && mode != lt.CUBLASLT_BATCH_MODE_POINTER_ARRAY {
			return notSupported
		}
		views[i] = cublas.View{LD: ld, Stride: int64(get(l, lt.CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET)), List: mode == lt.CUBLASLT_BATCH_MODE_POINTER_ARRAY}
		if views[i].List {
			views[i].Stride = 0
		}
		if n := int64(int32(get(l, lt.CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT))); i == 0 {
			p.batch = n
		} else if n != p.batch {
			return invalidValue
		}
	}
	if p.batch < 0 {
		return invalidValue
	}
	ta, tb := cublas.Op(get(x, lt.CUBLASLT_MATMUL_DESC_TRANSA)), cublas.Op(get(x, lt.CUBLASLT_MATMUL_DESC_TRANSB))
	if ta < 0 || tb < 0 || ta > blas.CUBLAS_OP_C || tb > blas.CUBLAS_OP_C || get(x, lt.CUBLASLT_MATMUL_DESC_TRANSC) != 0 {
		return invalidValue
	}
	side := func(i int, op cublas.Op) (int64, int64) {
		if op == blas.CUBLAS_OP_N {
			return rows[i], cols[i]
		}
		return cols[i], rows[i]
	}
	var kb int64
	p.m, p.k = side(0, ta)
	kb, p.n = side(1, tb)
	if kb != p.k || rows[3] != p.m || cols[3] != p.n || rows[2] != p.m || cols[2] != p.n {
		return invalidValue
	}
	if byRow[2] != byRow[3] {
		return invalidValue
	}
	stored := func(op cublas.Op, byRow bool) cublas.Op {
		if byRow {
			return cublas.Turned(op)
		}
		return op
	}
	views[0].Op, views[1].Op = stored(ta, byRow[0]), stored(tb, byRow[1])
	p.a, p.b, p.c, p.d = views[0], views[1], views[2], views[3]
	if byRow[3] {
		p.turned = true
		p.m, p.n = p.n, p.m
		p.a, p.b = p.b, p.a
		p.a.Op, p.b.Op = cublas.Turned(p.a.Op), cublas.Turned(p.b.Op)
	}
	return nil
}

// after reads what follows the product.
func (p *plan) after(x record) error {
	for _, attr := range [...]lt.CublasLtMatmulDescAttributes_t{lt.CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER} {
		if p.narrow == nil && get(x, attr) != 0 { // of fp8 only: an H200 has this answer (see scaling)
			return invalidValue
		}
	}
	epilogue := lt.CublasLtEpilogue_t(get(x, lt.CUBLASLT_MATMUL_DESC_EPILOGUE))
	withBias, withAux := false, false
	if epilogue > lt.CUBLASLT_EPILOGUE_DEFAULT { // whose bit is no part of the others
		epilogue &^= lt.CUBLASLT_EPILOGUE_DEFAULT
	}
	sums := p.sum == cublas.F32 || p.sum == cublas.F64 || p.sum == cublas.S32 && p.out == cublas.S8
	switch epilogue {
	case lt.CUBLASLT_EPILOGUE_DEFAULT:
	case lt.CUBLASLT_EPILOGUE_RELU, lt.CUBLASLT_EPILOGUE_RELU_AUX, lt.CUBLASLT_EPILOGUE_BIAS, lt.CUBLASLT_EPILOGUE_RELU_BIAS, lt.CUBLASLT_EPILOGUE_RELU_AUX_BIAS,
		lt.CUBLASLT_EPILOGUE_GELU, lt.CUBLASLT_EPILOGUE_GELU_AUX, lt.CUBLASLT_EPILOGUE_GELU_BIAS, lt.CUBLASLT_EPILOGUE_GELU_AUX_BIAS:
		withBias, withAux = epilogue&lt.CUBLASLT_EPILOGUE_BIAS != 0, epilogue&128 != 0
		if epilogue&lt.CUBLASLT_EPILOGUE_RELU != 0 {
			p.act = 1
		} else if epilogue&lt.CUBLASLT_EPILOGUE_GELU != 0 {
			p.act = 2
		}
		if !sums {
			return p.unlike(x, withBias)
		}
	case lt.CUBLASLT_EPILOGUE_DRELU, lt.CUBLASLT_EPILOGUE_DRELU_BGRAD, lt.CUBLASLT_EPILOGUE_DGELU, lt.CUBLASLT_EPILOGUE_DGELU_BGRAD,
		lt.CUBLASLT_EPILOGUE_BGRADA, lt.CUBLASLT_EPILOGUE_BGRADB:
		withAux = p.differentiate(epilogue)
		if !sums || p.out == cublas.S8 {
			return p.unlike(x, p.grad != gradNone)
		}
	default:
		return notSupported
	}
	if withBias || p.grad != gradNone {
		p.bias, p.biasType, p.biasStride = get(x, lt.CUBLASLT_MATMUL_DESC_BIAS_POINTER), p.biasDefault(), get(x, lt.CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE)
		if t := get(x, lt.CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE); t != unset {
			e, ok := cublas.ElemOf(rt.CudaDataType(t))
			if !ok {
				return notSupported
			}
			p.biasType = e
		}
		if p.grad != gradNone {
			p.bias, p.gradAt = 0, p.bias
			if p.biasType == cublas.S8 || p.biasType == cublas.S32 || p.biasType == cublas.C32 || p.biasType == cublas.C64 {
				return notSupported
			}
		}
	}
	if withAux {
		p.aux, p.auxLD, p.auxStride = get(x, lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER), get(x, lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD), get(x, lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE)
		p.bits = p.act == 1 || p.act == 3
		if t := get(x, lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE); t != unset {
			if e, ok := cublas.ElemOf(rt.CudaDataType(t)); !p.bits && p.narrow == nil && (!ok || e != p.out) {
				return notSupported
			}
		}
		if p.turned {
			return notSupported // a mask or a matrix of rows
		}
		if int64(p.auxLD) < p.m || p.bits && p.auxLD%128 != 0 {
			return invalidValue
		}
	}
	for i, attr := range [...]lt.CublasLtMatmulDescAttributes_t{lt.CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, lt.CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, lt.CUBLASLT_MATMUL_DESC_C_SCALE_POINTER, lt.CUBLASLT_MATMUL_DESC_D_SCALE_POINTER} {
		p.scales[i] = get(x, attr)
	}
	if get(x, lt.CUBLASLT_MATMUL_DESC_FILL_MODE) != uint64(blas.CUBLAS_FILL_MODE_FULL) || p.mode < 0 || p.mode > lt.CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST {
		return notSupported
	}
	if p.narrow != nil {
		return p.narrow.scaling(p, x)
	}
	for _, attr := range [...]lt.CublasLtMatmulDescAttributes_t{lt.CUBLASLT_MATMUL_DESC_A_SCALE_MODE, lt.CUBLASLT_MATMUL_DESC_B_SCALE_MODE, lt.CUBLASLT_MATMUL_DESC_C_SCALE_MODE,
		lt.CUBLASLT_MATMUL_DESC_D_SCALE_MODE, lt.CUBLASLT_MATMUL_DESC_D_OUT_SCALE_POINTER, lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER} {
		if get(x, attr) != 0 { // scales a block
			return notSupported
		}
	}
	return nil
}

// unlike refuses an epilogue that these types have not; a bias of a type that is not D's comes first.
func (p *plan) unlike(x record, bias bool) error {
	t := get(x, lt.CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE)
	if e, ok := cublas.ElemOf(rt.CudaDataType(t)); bias && t != unset && (!ok || e != p.out) {
		return invalidValue
	}
	return notSupported
}

// Matmul is D = epilogue(alpha op(A) op(B) + beta C). There is one algorithm, so which one the program names does not matter.
func (t *Thread) Matmul(h lt.CublasLtHandle_t, desc, alpha, a, adesc, b, bdesc, beta, c, cdesc, d, ddesc, algo, workspace hostmem.Ptr, size uint64, stream rt.CudaStream_t) error {
	x, err := cublas.Enter(t.driver(), uint64(h))
	if err != nil {
		return err
	}
	p, err := planOf(desc, adesc, bdesc, cdesc, ddesc)
	if err != nil && err != error(notSupported) {
		return err
	}
	if err == nil && (p.m == 0 || p.n == 0 || p.batch == 0) {
		return nil
	}
	done, e := t.elsewhere(x, cu.CUstream(stream), desc, [4]hostmem.Ptr{adesc, bdesc, cdesc, ddesc}, [4]hostmem.Ptr{a, b, c, d}, alpha, beta)
	if done || e != nil {
		return e
	}
	if err != nil {
		return err
	}
	p.a.Base, p.b.Base = uint64(a), uint64(b)
	if p.turned {
		p.a.Base, p.b.Base = uint64(b), uint64(a)
	}
	p.c.Base, p.d.Base = uint64(c), uint64(d)
	sa, sb, flags, err := p.scalars(alpha, beta)
	if err != nil {
		return err
	}
	if d == hostmem.Nil || (c == hostmem.Nil && !sb.IsZero()) || p.k > 0 && (a == hostmem.Nil || b == hostmem.Nil) {
		return invalidValue
	}
	if p.grad != gradNone && p.gradAt == 0 || p.act >= 3 && p.aux == 0 {
		return invalidValue
	}
	if p.narrow != nil && c == d && p.narrow.c != p.narrow.d { // an H200 refuses it, also where C is not read
		return invalidValue
	}
	product := cublas.Product{M: p.m, N: p.n, K: p.k, Batch: p.batch, A: p.a, B: p.b, C: p.d, TA: p.ab, TC: p.out, Sum: p.sum, Alpha: sa, Beta: sb}
	pack, _ := x.Spaces()
	if p.narrow != nil {
		return t.narrowProduct(x, p, product, sa, sb, cu.CUstream(stream))
	}
	if p.grad == gradA || p.grad == gradB { // before D, which may be A or B
		if err := t.gradientOfOperand(p, cu.CUstream(stream)); err != nil {
			return err
		}
	}
	if p.plain(flags, sb) {
		return product.Run(t.driver(), cu.CUstream(stream), pack)
	}
	run := func() error { return t.withEpilogue(x, p, product, sa, sb, flags, cu.CUstream(stream)) }
	if again.On() {
		return p.sums(sa, sb, flags).Do(t.driver(), cu.CUstream(stream), run)
	}
	return run()
}

// plain: nothing follows the product, and C is D or is not read.
func (p *plan) plain(flags uint32, beta cublas.Scalar) bool {
	return flags&^flagVectorColumns == 0 && p.act == 0 && p.bias == 0 && p.aux == 0 && p.scales == [4]uint64{} && (p.c == p.d || beta.IsZero()) &&
		!(p.sum == cublas.S32 && p.out != cublas.S32)
}

// The flags of kernels/epilogue.cu.
const (
	flagBiasColumns = 1 << iota
	flagAlphaVector
	flagBetaVector
	flagVectorColumns
	flagBits
	flagKeep
)

// scalars reads alpha and beta as the pointer mode says.
func (p *plan) scalars(alpha, beta hostmem.Ptr) (a, b cublas.Scalar, flags uint32, err error) {
	modes := [2]blas.CublasPointerMode_t{blas.CUBLAS_POINTER_MODE_DEVICE, blas.CUBLAS_POINTER_MODE_DEVICE}
	switch p.mode {
	case lt.CUBLASLT_POINTER_MODE_HOST:
		modes[0], modes[1] = blas.CUBLAS_POINTER_MODE_HOST, blas.CUBLAS_POINTER_MODE_HOST
	case lt.CUBLASLT_POINTER_MODE_DEVICE:
	case lt.CUBLASLT_POINTER_MODE_DEVICE_VECTOR:
		flags = flagAlphaVector | flagBetaVector
	case lt.CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO, lt.CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST:
		flags, modes[1] = flagAlphaVector, blas.CUBLAS_POINTER_MODE_HOST
	}
	if p.turned { // vectors go along D's rows, which lie as columns
		flags |= flagVectorColumns
	}
	if a, err = cublas.ScalarAt(alpha, p.scalar, modes[0]); err != nil {
		return a, b, 0, err
	}
	if p.mode == lt.CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO {
		return a, b, flags, nil
	}
	b, err = cublas.ScalarAt(beta, p.scalar, modes[1])
	return a, b, flags, err
}

// beyond: no device has this much memory; more than that would not be counted in 64 bits.
func (p *plan) beyond() bool { return max(p.m*p.n, p.m*p.k, p.n*p.k) > 1<<48 }

// maxSums bounds the memory that sums take between product and epilogue, unless one matrix needs more.
const maxSums = 256 << 20

// withEpilogue leaves the sums in memory of the handle and lets the epilogue's kernel read them, some matrices at a time.
func (t *Thread) withEpilogue(x *cublas.Handle, p *plan, product cublas.Product, alpha, beta cublas.Scalar, flags uint32, stream cu.CUstream) error {
	if p.beyond() {
		return allocFailed
	}
	pack, space := x.Spaces()
	each := p.m * p.n
	chunk := min(p.batch, 65535, max(1, maxSums/(each*int64(p.sum.Size()))))
	space.Hold() // until the epilogue, too, is in the stream
	defer space.Release()
	sums, err := space.Take(t.driver(), stream, uint64(each*chunk)*uint64(p.sum.Size()))
	if err != nil {
		return err
	}
	if p.turned {
		flags |= flagBiasColumns
	}
	if p.bits {
		flags |= flagBits
	}
	if p.grad == gradD {
		flags |= flagKeep
	}
	for first := int64(0); first < p.batch; first += chunk {
		n := min(chunk, p.batch-first)
		q := product
		q.Batch, q.TC, q.Alpha, q.Beta = n, p.sum, cublas.Scalar{Re: 1}, cublas.Scalar{}
		q.A, q.B = p.a.From(first, 0, p.ab), p.b.From(first, 0, p.ab)
		q.C = cublas.View{Base: uint64(sums), Stride: each, LD: p.m}
		if err := q.Run(t.driver(), stream, pack); err != nil {
			return err
		}
		if err := t.epilogue(p, uint64(sums), each, alpha, beta, flags, first, n, stream); err != nil {
			return err
		}
		if p.grad == gradD {
			if err := t.gradient(p, p.kept(uint64(sums)), first, n, stream); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *Thread) epilogue(p *plan, sums uint64, each int64, alpha, beta cublas.Scalar, flags uint32, first, n int64, stream cu.CUstream) error {
	const step = 32 * 65535
	for col := int64(0); col < p.n; col += step {
		count := min(p.n-col, step)
		if col > 0 && flags&(flagBiasColumns|flagVectorColumns) != 0 || col > 0 && p.aux != 0 {
			return notSupported // more than two million columns
		}
		var q shim.Params
		q.U64(sums+uint64(col*p.m)*uint64(p.sum.Size()), uint64(each))
		p.c.From(0, col, p.out).Put(&q)
		p.d.From(0, col, p.out).Put(&q)
		alpha.Put(&q)
		beta.Put(&q)
		q.U64(p.bias, p.biasStride, p.aux, p.auxLD, p.auxStride)
		q.U64(p.scales[:]...)
		q.U32(uint32(p.m), uint32(count), p.act, uint32(p.biasType), flags, uint32(first))
		grid := [3]uint32{uint32((p.m + 31) / 32), uint32((count + 31) / 32), uint32(n)}
		if err := kernels.Launch(t.driver(), stream, "epilogue_"+p.sum.String()+"_"+p.out.String(), grid, [3]uint32{32, 1, 1}, &q); err != nil {
			return err
		}
	}
	return nil
}
