package cusparse

import (
	commandline "flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/rt"
	"kudzu/internal/spec/sparse"
)

var sequences = commandline.Duration("sequences", 0, "make random calls for this long instead of 12 sequences")

// TestSequences makes random calls, right and wrong ones, of one handle and a few matrices. Values are small integers, so that products
// and sums are exact in any order: results are compared with those of dense matrices. Nothing may be left at the end of a sequence.
func TestSequences(t *testing.T) {
	r := newRig(t)
	end := time.Now().Add(*sequences)
	var before uint64
	for seed := uint64(0); seed < 12 || time.Now().Before(end); seed++ {
		if !t.Run(fmt.Sprint(seed), func(t *testing.T) { sequence(t, seed) }) {
			return
		}
		free, _, err := r.th.driver().MemGetInfo()
		r.must(err)
		if seed == 0 {
			before = free
		} else if free < before {
			t.Fatalf("after sequence %d, %d bytes less are free", seed, before-free)
		}
	}
}

func objects() int {
	return vectors.Len() + sparseVectors.Len() + matrices.Len() + sparseMatrices.Len() + plans.Len()
}

func sequence(t *testing.T, seed uint64) {
	before := objects()
	t.Cleanup(func() {
		if n := objects(); n != before {
			t.Errorf("%d objects are left", n-before)
		}
	})
	s := &sequencer{rig: newRig(t), rng: rand.New(rand.NewPCG(seed, 19))}
	t.Cleanup(func() {
		for len(s.live) > 0 {
			s.drop()
		}
	})
	for range 40 {
		steps := []func(){s.add, s.drop, s.vector, s.matrix, s.dense, s.fromDense, s.sum, s.product, s.solve, s.misuse}
		steps[s.rng.IntN(len(steps))]()
		if t.Failed() {
			return
		}
	}
}

// model is a matrix and what it means.
type model struct {
	h          uint64
	rows, cols int
	at         []float64 // row by row
	kind       dataType
	format     sparse.CusparseFormat_t
}

type sequencer struct {
	*rig
	rng  *rand.Rand
	live []*model
}

// values puts numbers on the device in a type.
func (s *sequencer) values(v []float64, kind dataType) hostmem.Ptr {
	if kind == rt.CUDA_R_64F {
		return up(s.rig, v)
	}
	w := make([]float32, len(v))
	for i := range v {
		w[i] = float32(v[i])
	}
	return up(s.rig, w)
}

// read is what values put, or a kernel.
func (s *sequencer) read(at hostmem.Ptr, n int, kind dataType) []float64 {
	if kind == rt.CUDA_R_64F {
		return down[float64](s.rig, at, n)
	}
	v := make([]float64, n)
	for i, x := range down[float32](s.rig, at, n) {
		v[i] = float64(x)
	}
	return v
}

func (s *sequencer) integers(v []int, wide indexType) hostmem.Ptr {
	if wide == sparse.CUSPARSE_INDEX_64I {
		w := make([]int64, len(v))
		for i := range v {
			w[i] = int64(v[i])
		}
		return up(s.rig, w)
	}
	w := make([]int32, len(v))
	for i := range v {
		w[i] = int32(v[i])
	}
	return up(s.rig, w)
}

func (s *sequencer) numbers(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = float64(s.rng.IntN(7) - 3)
	}
	return v
}

// scalar is a number in a type, in host memory that lives.
func (s *sequencer) scalar(v float64, kind dataType) hostmem.Ptr {
	if kind == rt.CUDA_R_64F {
		return hostmem.Of(&[]float64{v}[0])
	}
	return hostmem.Of(&[]float32{float32(v)}[0])
}

func (s *sequencer) anyKind() dataType {
	return []dataType{rt.CUDA_R_32F, rt.CUDA_R_64F}[s.rng.IntN(2)]
}

// elements are those of a random matrix, some rows of it empty.
func (s *sequencer) elements(rows, cols int) []float64 {
	v := make([]float64, rows*cols)
	for i := range rows {
		density := []float64{0, 0.1, 0.5, 1}[s.rng.IntN(4)]
		for j := range cols {
			if s.rng.Float64() < density {
				v[i*cols+j] = []float64{-3, -2, -1, 1, 2, 3}[s.rng.IntN(6)]
			}
		}
	}
	return v
}

// create describes the elements that are not zero.
func (s *sequencer) create(rows, cols int, at []float64, kind dataType, format sparse.CusparseFormat_t) *model {
	base := sparse.CUSPARSE_INDEX_BASE_ZERO + indexBase(s.rng.IntN(2))
	wide := []indexType{sparse.CUSPARSE_INDEX_32I, sparse.CUSPARSE_INDEX_64I}[s.rng.IntN(2)]
	lines, others := rows, cols
	if format == sparse.CUSPARSE_FORMAT_CSC {
		lines, others = cols, rows
	}
	offsets, major, minor, values := []int{int(base)}, []int{}, []int{}, []float64{}
	for i := range lines {
		for j := range others {
			k := i*cols + j
			if format == sparse.CUSPARSE_FORMAT_CSC {
				k = j*cols + i
			}
			if at[k] != 0 {
				major, minor, values = append(major, i+int(base)), append(minor, j+int(base)), append(values, at[k])
			}
		}
		offsets = append(offsets, len(values)+int(base))
	}
	m := &model{rows: rows, cols: cols, at: at, kind: kind, format: format}
	n, pm, pv := int64(len(values)), s.integers(minor, wide), s.values(values, kind)
	var err error
	switch format {
	case sparse.CUSPARSE_FORMAT_CSC:
		m.h, err = s.th.CreateCsc(int64(rows), int64(cols), n, s.integers(offsets, wide), pm, pv, wide, wide, base, kind)
	case sparse.CUSPARSE_FORMAT_COO:
		m.h, err = s.th.CreateCoo(int64(rows), int64(cols), n, s.integers(major, wide), pm, pv, wide, base, kind)
	default:
		m.h, err = s.th.CreateCsr(int64(rows), int64(cols), n, s.integers(offsets, wide), pm, pv, wide, wide, base, kind)
	}
	s.must(err)
	s.live = append(s.live, m)
	return m
}

func (s *sequencer) size() int { return 1 + s.rng.IntN([]int{3, 12, 40}[s.rng.IntN(3)]) }

func (s *sequencer) add() {
	rows, cols := s.size(), s.size()
	formats := []sparse.CusparseFormat_t{sparse.CUSPARSE_FORMAT_CSR, sparse.CUSPARSE_FORMAT_CSC, sparse.CUSPARSE_FORMAT_COO}
	s.create(rows, cols, s.elements(rows, cols), s.anyKind(), formats[s.rng.IntN(3)])
}

func (s *sequencer) drop() {
	if len(s.live) == 0 {
		return
	}
	i := s.rng.IntN(len(s.live))
	s.must(s.th.DestroySpMat(s.live[i].h))
	s.live = append(s.live[:i], s.live[i+1:]...)
}

// pick is a live matrix.
func (s *sequencer) pick() *model {
	if len(s.live) == 0 {
		s.add()
	}
	return s.live[s.rng.IntN(len(s.live))]
}

// under is op of a matrix, dense.
func (m *model) under(op operation) (rows, cols int, at func(i, j int) float64) {
	if op == sparse.CUSPARSE_OPERATION_NON_TRANSPOSE {
		return m.rows, m.cols, func(i, j int) float64 { return m.at[i*m.cols+j] }
	}
	return m.cols, m.rows, func(i, j int) float64 { return m.at[j*m.cols+i] }
}

func (s *sequencer) anyOp() operation { return operation(s.rng.IntN(2)) }

func (s *sequencer) same(what string, got, want []float64) {
	s.Helper()
	for i := range want {
		if got[i] != want[i] {
			s.Fatalf("%s: number %d is %v, not %v", what, i, got[i], want[i])
		}
	}
}

// vector is a product with a vector.
func (s *sequencer) vector() {
	m, op := s.pick(), s.anyOp()
	rows, cols, at := m.under(op)
	x, y := s.numbers(cols), s.numbers(rows)
	alpha, beta := float64(s.rng.IntN(4)-1), float64(s.rng.IntN(3)-1)
	want := make([]float64, rows)
	for i := range want {
		want[i] = beta * y[i]
		for j := range cols {
			want[i] += alpha * at(i, j) * x[j]
		}
	}
	py := s.values(y, m.kind)
	vx, err := s.th.CreateDnVec(int64(cols), s.values(x, m.kind), m.kind)
	s.must(err)
	vy, err := s.th.CreateDnVec(int64(rows), py, m.kind)
	s.must(err)
	s.must(s.th.SpMV(s.h, op, s.scalar(alpha, m.kind), m.h, vx, s.scalar(beta, m.kind), vy, m.kind, sparse.CUSPARSE_SPMV_ALG_DEFAULT, hostmem.Nil))
	s.must(s.th.DestroyDnVec(vx))
	s.must(s.th.DestroyDnVec(vy))
	s.same("SpMV", s.read(py, rows, m.kind), want)
}

// matrix is a product with a matrix.
func (s *sequencer) matrix() {
	m, op, n := s.pick(), s.anyOp(), s.size()+s.rng.IntN(2)*100
	rows, cols, at := m.under(op)
	byRow := s.rng.IntN(2) == 1
	b, c := s.numbers(cols*n), s.numbers(rows*n)
	place := func(i, j, rows int) int {
		if byRow {
			return i*n + j
		}
		return j*rows + i
	}
	want := make([]float64, rows*n)
	for i := range rows {
		for j := range n {
			sum := -c[place(i, j, rows)]
			for k := range cols {
				sum += 2 * at(i, k) * b[place(k, j, cols)]
			}
			want[place(i, j, rows)] = sum
		}
	}
	o, ldb, ldc := sparse.CUSPARSE_ORDER_COL, int64(cols), int64(rows)
	if byRow {
		o, ldb, ldc = sparse.CUSPARSE_ORDER_ROW, int64(n), int64(n)
	}
	pc := s.values(c, m.kind)
	mb, err := s.th.CreateDnMat(int64(cols), int64(n), ldb, s.values(b, m.kind), m.kind, o)
	s.must(err)
	mc, err := s.th.CreateDnMat(int64(rows), int64(n), ldc, pc, m.kind, o)
	s.must(err)
	s.must(s.th.SpMM(s.h, op, sparse.CUSPARSE_OPERATION_NON_TRANSPOSE, s.scalar(2, m.kind), m.h, mb, s.scalar(-1, m.kind), mc, m.kind, sparse.CUSPARSE_SPMM_ALG_DEFAULT, hostmem.Nil))
	s.must(s.th.DestroyDnMat(mb))
	s.must(s.th.DestroyDnMat(mc))
	s.same("SpMM", s.read(pc, rows*n, m.kind), want)
}

// elementsOf are those of a matrix of the library's.
func (s *sequencer) elementsOf(h uint64, rows, cols int, kind dataType) []float64 {
	s.Helper()
	at := s.values(s.numbers(rows*cols), kind)
	d, err := s.th.CreateDnMat(int64(rows), int64(cols), int64(cols), at, kind, sparse.CUSPARSE_ORDER_ROW)
	s.must(err)
	s.must(s.th.SparseToDense(s.h, h, d, sparse.CUSPARSE_SPARSETODENSE_ALG_DEFAULT, hostmem.Nil))
	s.must(s.th.DestroyDnMat(d))
	return s.read(at, rows*cols, kind)
}

func (s *sequencer) dense() {
	m := s.pick()
	s.same("SparseToDense", s.elementsOf(m.h, m.rows, m.cols, m.kind), m.at)
}

// room is CSR with offsets and no entries yet.
func (s *sequencer) room(rows, cols int, kind dataType) (h uint64, offsets hostmem.Ptr) {
	offsets = up(s.rig, make([]int32, rows+1))
	h, err := s.th.CreateCsr(int64(rows), int64(cols), 0, offsets, hostmem.Nil, hostmem.Nil, sparse.CUSPARSE_INDEX_32I, sparse.CUSPARSE_INDEX_32I, sparse.CUSPARSE_INDEX_BASE_ZERO, kind)
	s.must(err)
	return h, offsets
}

// fill gives a matrix memory for the entries that it is known to have.
func (s *sequencer) fill(h uint64, offsets hostmem.Ptr, kind dataType) {
	m, err := got(sparseMatrices, h)
	s.must(err)
	s.must(s.th.CsrSetPointers(h, offsets, up(s.rig, make([]int32, m.nnz)), s.values(make([]float64, m.nnz), kind)))
}

func (s *sequencer) fromDense() {
	rows, cols, kind := s.size(), s.size(), s.anyKind()
	at := s.elements(rows, cols)
	d, err := s.th.CreateDnMat(int64(rows), int64(cols), int64(cols), s.values(at, kind), kind, sparse.CUSPARSE_ORDER_ROW)
	s.must(err)
	h, offsets := s.room(rows, cols, kind)
	s.must(s.th.DenseToSparseAnalysis(s.h, d, h, sparse.CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, hostmem.Nil))
	s.fill(h, offsets, kind)
	s.must(s.th.DenseToSparseConvert(s.h, d, h, sparse.CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, hostmem.Nil))
	s.same("DenseToSparse", s.elementsOf(h, rows, cols, kind), at)
	s.must(s.th.DestroyDnMat(d))
	s.must(s.th.DestroySpMat(h))
}

const plain = sparse.CUSPARSE_OPERATION_NON_TRANSPOSE

// sum is SpGEAM.
func (s *sequencer) sum() {
	rows, cols, kind := s.size(), s.size(), s.anyKind()
	a := s.create(rows, cols, s.elements(rows, cols), kind, sparse.CUSPARSE_FORMAT_CSR)
	b := s.create(rows, cols, s.elements(rows, cols), kind, sparse.CUSPARSE_FORMAT_CSR)
	want, entries := make([]float64, rows*cols), int64(0)
	for i := range want {
		want[i] = 2*a.at[i] - b.at[i]
		if a.at[i] != 0 || b.at[i] != 0 {
			entries++
		}
	}
	h, offsets := s.room(rows, cols, kind)
	p, err := s.th.SpGEAMCreateDescr()
	s.must(err)
	alpha, beta := s.scalar(2, kind), s.scalar(-1, kind)
	_, err = s.th.SpGEAMBufferSize(s.h, plain, plain, alpha, a.h, beta, b.h, h, kind, 0, p)
	s.must(err)
	s.must(s.th.SpGEAMNnz(s.h, plain, plain, alpha, a.h, beta, b.h, h, kind, 0, p, hostmem.Nil))
	if m, _ := got(sparseMatrices, h); m.nnz != entries {
		s.Fatalf("SpGEAM: %d entries, not %d", m.nnz, entries)
	}
	s.fill(h, offsets, kind)
	s.must(s.th.SpGEAM(s.h, plain, plain, alpha, a.h, beta, b.h, h, kind, 0, p, hostmem.Nil))
	s.same("SpGEAM", s.elementsOf(h, rows, cols, kind), want)
	s.must(s.th.SpGEAMDestroyDescr(p))
	s.must(s.th.DestroySpMat(h))
}

// product is SpGEMM.
func (s *sequencer) product() {
	rows, depth, cols, kind := s.size(), s.size(), s.size(), s.anyKind()
	a := s.create(rows, depth, s.elements(rows, depth), kind, sparse.CUSPARSE_FORMAT_CSR)
	b := s.create(depth, cols, s.elements(depth, cols), kind, sparse.CUSPARSE_FORMAT_CSR)
	if narrow(a, b) {
		return
	}
	want := make([]float64, rows*cols)
	for i := range rows {
		for j := range cols {
			for k := range depth {
				want[i*cols+j] += a.at[i*depth+k] * b.at[k*cols+j]
			}
		}
	}
	h, offsets := s.room(rows, cols, kind)
	p, err := s.th.SpGEMMCreateDescr()
	s.must(err)
	one, zero := s.scalar(1, kind), s.scalar(0, kind)
	var size uint64
	buffer := up(s.rig, make([]float64, 2))
	alg := sparse.CUSPARSE_SPGEMM_DEFAULT
	for _, at := range []hostmem.Ptr{hostmem.Nil, buffer} {
		s.must(s.th.SpGEMMWorkEstimation(s.h, plain, plain, one, a.h, b.h, zero, h, kind, alg, p, hostmem.Of(&size), at))
	}
	for _, at := range []hostmem.Ptr{hostmem.Nil, buffer} {
		s.must(s.th.SpGEMMCompute(s.h, plain, plain, one, a.h, b.h, zero, h, kind, alg, p, hostmem.Of(&size), at))
	}
	s.fill(h, offsets, kind)
	s.must(s.th.SpGEMMCopy(s.h, plain, plain, one, a.h, b.h, zero, h, kind, alg, p))
	s.same("SpGEMM", s.elementsOf(h, rows, cols, kind), want)
	s.must(s.th.SpGEMMDestroyDescr(p))
	s.must(s.th.DestroySpMat(h))
}

// narrow says that SpGEMM refuses matrices: their indices are not of 32 bits.
func narrow(ms ...*model) bool {
	for _, m := range ms {
		if d, err := got(sparseMatrices, m.h); err != nil || d.wide != sparse.CUSPARSE_INDEX_32I {
			return true
		}
	}
	return false
}

// solve is SpSV with a diagonal of ±1, in f64: integers stay integers.
func (s *sequencer) solve() {
	n := 1 + s.rng.IntN(20)
	at, x := make([]float64, n*n), s.numbers(n)
	for i := range n {
		at[i*n+i] = float64(1 - 2*s.rng.IntN(2))
		for j := range i {
			if s.rng.IntN(4) == 0 {
				at[i*n+j] = float64(1 - 2*s.rng.IntN(2))
			}
		}
	}
	op := s.anyOp()
	m := s.create(n, n, at, rt.CUDA_R_64F, sparse.CUSPARSE_FORMAT_CSR)
	fill := sparse.CUSPARSE_FILL_MODE_LOWER
	s.must(s.th.SpMatSetAttribute(m.h, sparse.CUSPARSE_SPMAT_FILL_MODE, hostmem.Of(&fill), 4))
	s.live = s.live[:len(s.live)-1] // products refuse it now
	_, _, el := m.under(op)
	b := make([]float64, n)
	for i := range n {
		for j := range n {
			b[i] += el(i, j) * x[j]
		}
	}
	py := s.values(make([]float64, n), m.kind)
	vb, err := s.th.CreateDnVec(int64(n), s.values(b, m.kind), m.kind)
	s.must(err)
	vy, err := s.th.CreateDnVec(int64(n), py, m.kind)
	s.must(err)
	p, err := s.th.SpSVCreateDescr()
	s.must(err)
	one := s.scalar(1, m.kind)
	if s.th.SpSVSolve(s.h, op, one, m.h, vb, vy, m.kind, sparse.CUSPARSE_SPSV_ALG_DEFAULT, p) == nil {
		s.Error("solved without an analysis")
	}
	s.must(s.th.SpSVAnalysis(s.h, op, one, m.h, vb, vy, m.kind, sparse.CUSPARSE_SPSV_ALG_DEFAULT, p, hostmem.Nil))
	s.must(s.th.SpSVSolve(s.h, op, one, m.h, vb, vy, m.kind, sparse.CUSPARSE_SPSV_ALG_DEFAULT, p))
	s.same("SpSV", s.read(py, n, m.kind), x)
	s.must(s.th.SpSVDestroyDescr(p))
	s.must(s.th.DestroyDnVec(vb))
	s.must(s.th.DestroyDnVec(vy))
	s.must(s.th.DestroySpMat(m.h))
}

// misuse makes a call that must be refused, and leaves everything as it was.
func (s *sequencer) misuse() {
	m := s.pick()
	v, err := s.th.CreateDnVec(int64(m.rows+m.cols+1), hostmem.Nil, m.kind) // fits nothing
	s.must(err)
	one, dead := s.scalar(1, m.kind), uint64(s.rng.Uint32())
	spmv := func(h, a, x uint64, al hostmem.Ptr, op operation, alg sparse.CusparseSpMVAlg_t) error {
		return s.th.SpMV(h, op, al, a, x, one, v, m.kind, alg, hostmem.Nil)
	}
	wrong := []func() error{
		func() error { return spmv(dead, m.h, v, one, plain, 0) },
		func() error { return spmv(s.h, dead, v, one, plain, 0) },
		func() error { return spmv(s.h, m.h, v, one, plain, 0) },
		func() error { return spmv(s.h, m.h, v, hostmem.Nil, plain, 0) },
		func() error { return spmv(s.h, m.h, v, one, 7, 0) },
		func() error { return spmv(s.h, m.h, v, one, plain, 99) },
		func() error { return spmv(s.h, v, m.h, one, plain, 0) },
		func() error { return s.th.DestroySpMat(v) },
		func() error { return s.th.DestroyDnVec(m.h) },
		func() error { return s.th.SpMatGetSize(m.h, hostmem.Nil, hostmem.Nil, hostmem.Nil) },
		func() error { return s.th.SpSVDestroyDescr(m.h) },
		func() error { return s.th.Gather(s.h, v, m.h) },
		func() error { return s.th.SetPointerMode(s.h, 5) },
		func() error {
			_, err := s.th.CreateCsr(2, 2, math.MaxInt64, one, one, one, sparse.CUSPARSE_INDEX_32I, sparse.CUSPARSE_INDEX_32I, 0, m.kind)
			return err
		},
	}
	if i := s.rng.IntN(len(wrong)); wrong[i]() == nil {
		s.Errorf("wrong call %d was taken", i)
	}
	s.must(s.th.DestroyDnVec(v))
}

// TestPruneHalf prunes a matrix of halves by a threshold and by percentage, dense and by rows.
func TestPruneHalf(t *testing.T) {
	r := newRig(t)
	bits := []uint16{0x3c00, 0xc000, 0x0000, 0x4200, 0xb800, 0x4400} // 1 -2 0; 3 -0.5 4, by columns: 1 -2 | 0 3 | -0.5 4
	d := description{}
	descr := uint64(hostmem.Of(&d))
	a, offsets, total, threshold := upHalves(r, bits), up(r, make([]int32, 3)), int32(0), uint16(0x3c00)
	r.must(r.th.PruneDense2csrNnz(r.h, 2, 3, a, 2, hostmem.Of(&threshold), descr, offsets, hostmem.Of(&total), hostmem.Nil, F16))
	indices, values := up(r, make([]int32, 6)), upHalves(r, make([]uint16, 8))
	r.must(r.th.PruneDense2csr(r.h, 2, 3, a, 2, hostmem.Of(&threshold), descr, values, offsets, indices, hostmem.Nil, F16))
	halves := func(at hostmem.Ptr, n int32) string {
		w, s := down[int32](r, at, int(n+1)/2), ""
		for i := range n {
			s += fmt.Sprintf(" %04x", uint16(w[i/2]>>(16*(i%2))))
		}
		return fmt.Sprintf("%d %v %v%s", n, down[int32](r, offsets, 3), down[int32](r, indices, int(n)), s)
	}
	if got, want := halves(values, total), "3 [0 0 3] [0 1 2] c000 4200 4400"; got != want {
		t.Errorf("dense: %s, not %s", got, want)
	}
	info, err := r.th.CreatePruneInfo()
	r.must(err)
	// 50 % of six: what is larger than the third size, 1.
	r.must(r.th.PruneDense2csrNnzByPercentage(r.h, 2, 3, a, 2, 50, descr, offsets, hostmem.Of(&total), info, hostmem.Nil, F16))
	r.must(r.th.PruneDense2csrByPercentage(r.h, 2, 3, a, 2, 50, descr, values, offsets, indices, info, hostmem.Nil, F16))
	if got, want := halves(values, total), "3 [0 0 3] [0 1 2] c000 4200 4400"; got != want {
		t.Errorf("half of it: %s, not %s", got, want)
	}
	// The rows of what is left, and of those the larger ones.
	from, fromIndices, fromValues, three := up(r, []int32{0, 1, 3}), up(r, []int32{0, 1, 2}), upHalves(r, []uint16{0xc000, 0x4200, 0x4400, 0}), uint16(0x4200)
	r.must(r.th.PruneCsr2csrNnz(r.h, 2, 3, 3, descr, fromValues, from, fromIndices, hostmem.Of(&three), descr, offsets, hostmem.Of(&total), hostmem.Nil, F16))
	r.must(r.th.PruneCsr2csr(r.h, 2, 3, 3, descr, fromValues, from, fromIndices, hostmem.Of(&three), descr, values, offsets, indices, hostmem.Nil, F16))
	if got, want := halves(values, total), "1 [0 0 1] [2] 4400"; got != want {
		t.Errorf("by rows: %s, not %s", got, want)
	}
	r.must(r.th.PruneCsr2csrNnzByPercentage(r.h, 2, 3, 3, descr, fromValues, from, fromIndices, 34, descr, offsets, hostmem.Of(&total), info, hostmem.Nil, F16))
	r.must(r.th.PruneCsr2csrByPercentage(r.h, 2, 3, 3, descr, fromValues, from, fromIndices, 34, descr, values, offsets, indices, info, hostmem.Nil, F16))
	if got, want := halves(values, total), "1 [0 0 1] [2] 4400"; got != want {
		t.Errorf("a third of it: %s, not %s", got, want)
	}
	r.must(r.th.DestroyPruneInfo(info))
}

// upHalves puts an even number of 16-bit numbers on the device.
func upHalves(r *rig, v []uint16) hostmem.Ptr {
	w := make([]int32, len(v)/2)
	for i := range w {
		w[i] = int32(uint32(v[2*i]) | uint32(v[2*i+1])<<16)
	}
	return up(r, w)
}
