package cusparselt

import (
	_ "embed" // the kernels
	"math"

	"kudzu/internal/cudart"
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/packed"
	"kudzu/internal/shim"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
	"kudzu/internal/spec/sparse"
	"kudzu/internal/spec/sparselt"
)

//go:embed kernels/zkernels.lz4
var packedTexts []byte

var kernels = &shim.Kernels{Name: "cuSPARSELt", Text: packed.New(packedTexts).Lazy("structured")}

const (
	threads   = 128
	maxBlocks = 1 << 14
)

func launch(d *driver.Thread, stream cu.CUstream, name string, work int64, p *shim.Params) error {
	blocks := min((work+threads-1)/threads, maxBlocks)
	if blocks == 0 {
		return nil
	}
	return kernels.Launch(d, stream, name, [3]uint32{uint32(blocks), 1, 1}, [3]uint32{threads, 1, 1}, p)
}

// lines is a matrix as the kernels walk it: along the sums of a product.
type lines struct {
	base                   uint64
	lines, length          int64
	line, step             int64
	batches, apart         int64
	elem                   elem
	structuredSize, groups int64 // bytes of the compressed form, and groups, of all batches
}

// lines of op(X): the rows of a first operand, the columns of a second one.
func (m *matrix) lines(base hostmem.Ptr, first, turn bool) lines {
	down, right := int64(1), m.ld // steps to the next row and column
	if m.row {
		down, right = m.ld, 1
	}
	rows, cols := m.rows, m.cols
	if turn {
		rows, cols, down, right = cols, rows, right, down
	}
	if !first {
		rows, cols, down, right = cols, rows, right, down
	}
	l := lines{base: uint64(base), lines: rows, length: cols, line: down, step: right, batches: m.batches, apart: m.apart, elem: m.elem}
	width := int64(4)
	if m.elem.size() == 4 {
		width = 2
	}
	l.groups = l.batches * l.lines * l.length / width
	l.structuredSize = l.batches*l.lines*l.length/2*m.elem.size() + l.groups/2
	return l
}

func (l *lines) params() *shim.Params {
	return (&shim.Params{}).U64(l.base, uint64(l.lines), uint64(l.length), uint64(l.line), uint64(l.step), uint64(l.batches), uint64(l.apart)).
		U32(uint32(l.elem), uint32(l.elem.size()))
}

// structured is the matrix of a product that is, and how it lies.
func (m *matmul) structured() (x *matrix, first, turn bool) {
	if m.a.structured {
		return &m.a, true, m.turnA
	}
	return &m.b, false, m.turnB
}

// plan is a product that can be done.
type plan struct {
	mark   uint64
	matmul matmul
}

// MatmulPlanInit makes a plan.
func (t *Thread) MatmulPlanInit(h, at, product, choice hostmem.Ptr) error {
	if _, err := find(h); err != nil {
		return err
	}
	m, err := object[matmul](product, markMatmul)
	if err != nil {
		return err
	}
	if _, err := object[selection](choice, markSelection); err != nil || at == hostmem.Nil {
		return invalidValue
	}
	hostmem.Store(at, plan{markPlan, *m})
	return nil
}

// MatmulPlanDestroy ends it.
func (t *Thread) MatmulPlanDestroy(at hostmem.Ptr) error { return forget(at, markPlan) }

// rooms of a workspace: the operands as the product reads them, 0 where they are read in place, and the sums.
type rooms struct{ a, b, sums, all uint64 }

func (m *matmul) rooms() (r rooms) {
	take := func(n int64) uint64 {
		at := r.all
		r.all += (uint64(n) + 255) &^ 255
		return at
	}
	size := func(x *matrix) int64 {
		n := x.rows * x.cols * x.batches
		if x.elem >= e4m3 {
			return 2 * n
		}
		return n * x.elem.size()
	}
	narrow := m.a.elem >= e4m3
	if m.a.structured || narrow {
		r.a = take(size(&m.a))
	}
	if m.b.structured || narrow {
		r.b = take(size(&m.b))
	}
	r.sums = take(4 * m.d.rows * m.d.cols * m.d.batches)
	return r
}

// MatmulGetWorkspace is the memory that a product needs.
func (t *Thread) MatmulGetWorkspace(h, at hostmem.Ptr) (uint64, error) {
	if _, err := find(h); err != nil {
		return 0, err
	}
	p, err := object[plan](at, markPlan)
	if err != nil {
		return 0, err
	}
	return p.matmul.rooms().all, nil
}

// operand is op(X) as cuBLAS has it, column by column; turned says that the view is to be read transposed.
type operand struct {
	view   cublas.View
	turned bool
}

// operand brings an operand into a form that products read.
func (m *matmul) operand(d *driver.Thread, stream cu.CUstream, x *matrix, base hostmem.Ptr, room uint64, first, turn bool) (operand, error) {
	l := x.lines(base, first, turn)
	apart := func(stride int64) int64 {
		if x.batches == 1 {
			return 0
		}
		return stride
	}
	// What is expanded has the lines one after another: columns of the transposed first operand, or of the second one.
	expanded := operand{cublas.View{Base: room, LD: l.length, Stride: apart(l.lines * l.length)}, first}
	switch {
	case x.structured:
		return expanded, launch(d, stream, "expand", l.groups/2, l.params().U64(room))
	case x.elem >= e4m3:
		return expanded, launch(d, stream, "widen", l.batches*l.lines*l.length, l.params().U64(room))
	}
	return operand{cublas.View{Base: uint64(base), LD: x.ld, Stride: apart(x.apart)}, x.row != turn}, nil
}

func (o operand) as(turn bool) cublas.View {
	v := o.view
	if o.turned != turn {
		v.Op = blas.CUBLAS_OP_T
	}
	return v
}

func first(streams hostmem.Ptr, n int32) cu.CUstream {
	if streams == hostmem.Nil || n < 1 {
		return 0
	}
	return cu.CUstream(hostmem.Load[uint64](streams))
}

// Matmul is D = activation(alpha op(A) op(B) + beta C + bias).
func (t *Thread) Matmul(h, at, alpha, a, b, beta, c, out, work, streams hostmem.Ptr, count int32) error {
	s, err := find(h)
	if err != nil {
		return err
	}
	p, err := object[plan](at, markPlan)
	if err != nil {
		return err
	}
	if alpha == hostmem.Nil || beta == hostmem.Nil || a == hostmem.Nil || b == hostmem.Nil || out == hostmem.Nil || work == hostmem.Nil || count < 0 {
		return invalidValue
	}
	d, m, stream := t.driver(), p.matmul, first(streams, count)
	if err := cudart.Ready(d); err != nil {
		return notInitialized
	}
	e := end{alpha: alpha, beta: beta, c: c, d: out}
	if err := e.scalars(&m); err != nil {
		return err
	}
	if e.readsC && c == hostmem.Nil {
		return invalidValue
	}
	r := m.rooms()
	left, err := m.operand(d, stream, &m.a, a, uint64(work)+r.a, true, m.turnA)
	if err != nil {
		return err
	}
	right, err := m.operand(d, stream, &m.b, b, uint64(work)+r.b, false, m.turnB)
	if err != nil {
		return err
	}
	_, k := m.a.size(m.turnA)
	from, sum := cublas.Elem(m.a.elem), cublas.F32
	switch {
	case m.a.elem >= e4m3:
		from = cublas.F16
	case from == cublas.S8:
		sum = cublas.S32
	}
	q := &cublas.Product{M: m.d.rows, N: m.d.cols, K: k, Batch: m.d.batches, A: left.as(false), B: right.as(false), TA: from, TC: sum, Sum: sum,
		Alpha: cublas.Scalar{Re: 1}}
	if m.d.row { // the transposed product
		q.M, q.N, q.A, q.B = q.N, q.M, right.as(true), left.as(true)
	}
	q.C = cublas.View{Base: uint64(work) + r.sums, LD: q.M, Stride: q.M * q.N}
	if err := q.Run(d, stream, &s.space); err != nil {
		return err
	}
	return e.launch(d, stream, &m, q.C.Base, sum == cublas.S32)
}

// MatmulSearch looks for the best algorithm: it is the one there is, and the product is done.
func (t *Thread) MatmulSearch(h, at, alpha, a, b, beta, c, out, work, streams hostmem.Ptr, count int32) error {
	return t.Matmul(h, at, alpha, a, b, beta, c, out, work, streams, count)
}

// end is what is done to sums.
type end struct {
	alpha, beta, c, d hostmem.Ptr
	factors           [2]float32
	readsC            bool
}

// scalars reads alpha and beta, which are on the host unless there is one for every row of D, or for every column
// where B is the structured one.
func (e *end) scalars(m *matmul) error {
	if m.alphaVector == 0 {
		e.factors[0] = hostmem.Load[float32](e.alpha)
	}
	if m.betaMany == 0 {
		e.factors[1] = hostmem.Load[float32](e.beta)
	}
	e.readsC = m.betaMany != 0 || e.factors[1] != 0
	for i, mode := range m.modes {
		if mode != 0 && m.scales[i] == 0 {
			return invalidValue
		}
	}
	return nil
}

func (e *end) launch(d *driver.Thread, stream cu.CUstream, m *matmul, sums uint64, whole bool) error {
	vector := func(yes int32, at hostmem.Ptr) uint64 {
		if yes == 0 {
			return 0
		}
		return uint64(at)
	}
	bits := math.Float32bits
	flag := func(v bool) uint32 {
		if v {
			return 1
		}
		return 0
	}
	p := (&shim.Params{}).U64(sums, uint64(e.c), uint64(e.d), m.bias, vector(m.alphaVector, e.alpha), vector(m.betaMany, e.beta))
	for i, mode := range m.modes[:4] {
		p.U64(vector(mode, hostmem.Ptr(m.scales[i])))
	}
	bias := m.d.elem
	if bias == elem(cublas.S8) || bias == elem(cublas.S32) {
		bias = elem(cublas.F32)
	}
	act := uint32(0)
	switch {
	case m.relu != 0:
		act = 1
	case m.gelu != 0:
		act = 2
	}
	p.U64(uint64(m.d.rows), uint64(m.d.cols), uint64(m.d.batches), uint64(m.c.ld), uint64(m.d.ld), uint64(m.c.apart), uint64(m.d.apart), uint64(m.biasApart)).
		U32(bits(e.factors[0]), bits(e.factors[1]), bits(m.upper), bits(m.threshold), bits(m.geluScale)).
		U32(flag(whole), uint32(m.c.elem), uint32(m.d.elem), uint32(bias), flag(m.d.row), act, flag(m.b.structured))
	return launch(d, stream, "finish", m.d.rows*m.d.cols*m.d.batches, p)
}

// prune sets the smaller half of every group to zero, of tiles so that half of each column stays as well.
func (t *Thread) prune(l lines, out hostmem.Ptr, alg sparselt.CusparseLtPruneAlg_t, stream rt.CudaStream_t) error {
	if l.base == 0 || out == hostmem.Nil {
		return invalidValue
	}
	switch alg {
	case sparselt.CUSPARSELT_PRUNE_SPMMA_STRIP:
		return launch(t.driver(), cu.CUstream(stream), "prune_strip", l.groups, l.params().U64(uint64(out)))
	case sparselt.CUSPARSELT_PRUNE_SPMMA_TILE:
		return launch(t.driver(), cu.CUstream(stream), "prune_tile", l.groups/4+1, l.params().U64(uint64(out)))
	}
	return invalidValue
}

// check writes whether a matrix has too few zeros, on the device: 0 if it has enough.
func (t *Thread) check(l lines, out hostmem.Ptr, stream rt.CudaStream_t) error {
	if l.base == 0 || out == hostmem.Nil {
		return invalidValue
	}
	if err := t.driver().MemsetD32Async(driver.DevPtr(out), 0, 1, cu.CUstream(stream)); err != nil {
		return err
	}
	return launch(t.driver(), cu.CUstream(stream), "prune_check", l.groups, l.params().U64(uint64(out)))
}

func (t *Thread) compress(l lines, out hostmem.Ptr, stream rt.CudaStream_t) error {
	if l.base == 0 || out == hostmem.Nil {
		return invalidValue
	}
	return launch(t.driver(), cu.CUstream(stream), "compress", l.groups/2, l.params().U64(uint64(out)))
}

// ofMatrix are the lines of a structured matrix that is described by itself.
func ofMatrix(h, at, base hostmem.Ptr, first int32, op sparse.CusparseOperation_t) (lines, error) {
	if _, err := find(h); err != nil {
		return lines{}, err
	}
	m, err := object[matrix](at, markMatrix)
	if err != nil || !m.structured || op < 0 || op > sparse.CUSPARSE_OPERATION_TRANSPOSE {
		return lines{}, invalidValue
	}
	return m.lines(base, first != 0, op != 0), nil
}

// ofMatmul are those of a product's.
func ofMatmul(h, at, base hostmem.Ptr) (lines, error) {
	if _, err := find(h); err != nil {
		return lines{}, err
	}
	m, err := object[matmul](at, markMatmul)
	if err != nil {
		return lines{}, err
	}
	x, first, turn := m.structured()
	return x.lines(base, first, turn), nil
}

// ofPlan are those of a plan's.
func ofPlan(h, at, base hostmem.Ptr) (lines, error) {
	if _, err := find(h); err != nil {
		return lines{}, err
	}
	p, err := object[plan](at, markPlan)
	if err != nil {
		return lines{}, err
	}
	x, first, turn := p.matmul.structured()
	return x.lines(base, first, turn), nil
}

// SpMMAPrune prunes the structured matrix of a product.
func (t *Thread) SpMMAPrune(h, product, in, out hostmem.Ptr, alg sparselt.CusparseLtPruneAlg_t, stream rt.CudaStream_t) error {
	l, err := ofMatmul(h, product, in)
	if err != nil {
		return err
	}
	return t.prune(l, out, alg, stream)
}

// SpMMAPrune2 prunes a structured matrix.
func (t *Thread) SpMMAPrune2(h, at hostmem.Ptr, first int32, op sparse.CusparseOperation_t, in, out hostmem.Ptr, alg sparselt.CusparseLtPruneAlg_t, stream rt.CudaStream_t) error {
	l, err := ofMatrix(h, at, in, first, op)
	if err != nil {
		return err
	}
	return t.prune(l, out, alg, stream)
}

// SpMMAPruneCheck checks the structured matrix of a product.
func (t *Thread) SpMMAPruneCheck(h, product, in, out hostmem.Ptr, stream rt.CudaStream_t) error {
	l, err := ofMatmul(h, product, in)
	if err != nil {
		return err
	}
	return t.check(l, out, stream)
}

// SpMMAPruneCheck2 checks a structured matrix.
func (t *Thread) SpMMAPruneCheck2(h, at hostmem.Ptr, first int32, op sparse.CusparseOperation_t, in, out hostmem.Ptr, stream rt.CudaStream_t) error {
	l, err := ofMatrix(h, at, in, first, op)
	if err != nil {
		return err
	}
	return t.check(l, out, stream)
}

// SpMMACompressedSize is the size of the compressed form of a plan's matrix: 9 sixteenths, of 8-bit numbers 10. Compressing needs no buffer.
func (t *Thread) SpMMACompressedSize(h, at hostmem.Ptr) (size, buffer uint64, err error) {
	l, err := ofPlan(h, at, 0)
	return uint64(l.structuredSize), 0, err
}

// SpMMACompressedSize2 is that of a matrix.
func (t *Thread) SpMMACompressedSize2(h, at hostmem.Ptr) (size, buffer uint64, err error) {
	l, err := ofMatrix(h, at, 0, 1, 0)
	return uint64(l.structuredSize), 0, err
}

// SpMMACompress compresses a plan's matrix.
func (t *Thread) SpMMACompress(h, at, dense, out, _ hostmem.Ptr, stream rt.CudaStream_t) error {
	l, err := ofPlan(h, at, dense)
	if err != nil {
		return err
	}
	return t.compress(l, out, stream)
}

// SpMMACompress2 compresses a matrix.
func (t *Thread) SpMMACompress2(h, at hostmem.Ptr, first int32, op sparse.CusparseOperation_t, dense, out, _ hostmem.Ptr, stream rt.CudaStream_t) error {
	l, err := ofMatrix(h, at, dense, first, op)
	if err != nil {
		return err
	}
	return t.compress(l, out, stream)
}
