package cublas

import (
	"math"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/rt"
)

// Groups of batches: every group has operations, sizes, scalars and columns' lengths of its own, in arrays on the host; the matrices'
// addresses lie in one list a matrix on the device, group after group.

// groups are the arrays of one call; wide says that their integers have 64 bits.
type groups struct {
	ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, sizes hostmem.Ptr
	count                                                       int64
	wide                                                        bool
}

// number is entry i of an array of integers.
func (g *groups) number(p hostmem.Ptr, i int64) int64 {
	if g.wide {
		return hostmem.Load[int64](p.Index(int(i), 8))
	}
	return int64(hostmem.Load[int32](p.Index(int(i), 4)))
}

func (t *Thread) grouped(h blas.CublasHandle_t, g *groups, e kinds) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	if g.count < 0 {
		return invalidValue
	}
	if g.count == 0 {
		return nil
	}
	if anyNil(g.ta, g.tb, g.m, g.n, g.k, g.alpha, g.a, g.lda, g.b, g.ldb, g.beta, g.c, g.ldc, g.sizes) {
		return invalidValue
	}
	if j.mode != blas.CUBLAS_POINTER_MODE_HOST { // as the original: the groups' scalars are the host's
		return notSupported
	}
	var all []*Product
	first := int64(0)
	for i := range g.count {
		p, err := g.product(i, first, e, j.mode)
		if err != nil {
			return err
		}
		if p.Batch > math.MaxInt64-first {
			return invalidValue
		}
		first += p.Batch
		all = append(all, p)
	}
	for _, p := range all { // nothing runs before all is known to make sense
		if err := p.Run(j.d, j.stream, &j.x.space); err != nil {
			return err
		}
	}
	return nil
}

// product is group i, whose matrices begin at entry first of the lists.
func (g *groups) product(i, first int64, e kinds, mode blas.CublasPointerMode_t) (*Product, error) {
	op := func(p hostmem.Ptr) Op { return Op(hostmem.Load[int32](p.Index(int(i), 4))) }
	list := func(p, ld hostmem.Ptr, op Op) View {
		return View{Base: uint64(p.Index(int(first), 8)), LD: g.number(ld, i), List: true, Op: op}
	}
	p := &Product{
		M: g.number(g.m, i), N: g.number(g.n, i), K: g.number(g.k, i), Batch: g.number(g.sizes, i), TA: e.ab, TC: e.c, Sum: e.sum,
		A: list(g.a, g.lda, op(g.ta)), B: list(g.b, g.ldb, op(g.tb)), C: list(g.c, g.ldc, blas.CUBLAS_OP_N),
	}
	err := p.Check()
	if err == nil {
		p.Alpha, err = ScalarAt(g.alpha.Index(int(i), e.scalar.Size()), e.scalar, mode)
	}
	if err == nil {
		p.Beta, err = ScalarAt(g.beta.Index(int(i), e.scalar.Size()), e.scalar, mode)
	}
	return p, err
}

// GemmGroupedBatched multiplies groups of matrices.
func (t *Thread) GemmGroupedBatched(h blas.CublasHandle_t, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc hostmem.Ptr, count int64, sizes hostmem.Ptr, e Elem) error {
	return t.grouped(h, &groups{ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, sizes, count, false}, single(e))
}

// GemmGroupedBatched64 is GemmGroupedBatched with integers of 64 bits.
func (t *Thread) GemmGroupedBatched64(h blas.CublasHandle_t, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc hostmem.Ptr, count int64, sizes hostmem.Ptr, e Elem) error {
	return t.grouped(h, &groups{ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, sizes, count, true}, single(e))
}

func (t *Thread) groupedEx(h blas.CublasHandle_t, g *groups, at, bt, ct rt.CudaDataType, compute blas.CublasComputeType_t) error {
	e, err := t.typed(h, at, bt, ct, compute)
	if err != nil {
		return err
	}
	if e.scalar == F16 { // sums of f16 are not there, as on an H200
		return notSupported
	}
	return t.grouped(h, g, e)
}

// GemmGroupedBatchedEx multiplies groups of matrices with a type for each operand.
func (t *Thread) GemmGroupedBatchedEx(h blas.CublasHandle_t, ta, tb, m, n, k, alpha, a hostmem.Ptr, at rt.CudaDataType, lda, b hostmem.Ptr, bt rt.CudaDataType, ldb, beta, c hostmem.Ptr, ct rt.CudaDataType, ldc hostmem.Ptr, count int64, sizes hostmem.Ptr, compute blas.CublasComputeType_t) error {
	return t.groupedEx(h, &groups{ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, sizes, count, false}, at, bt, ct, compute)
}

// GemmGroupedBatchedEx64 is GemmGroupedBatchedEx with integers of 64 bits.
func (t *Thread) GemmGroupedBatchedEx64(h blas.CublasHandle_t, ta, tb, m, n, k, alpha, a hostmem.Ptr, at rt.CudaDataType, lda, b hostmem.Ptr, bt rt.CudaDataType, ldb, beta, c hostmem.Ptr, ct rt.CudaDataType, ldc hostmem.Ptr, count int64, sizes hostmem.Ptr, compute blas.CublasComputeType_t) error {
	return t.groupedEx(h, &groups{ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, sizes, count, true}, at, bt, ct, compute)
}
