package nn

import (
	"slices"

	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/blas"
)

// productTypes are the types that products of cuBLAS read, and what they can write.
var productTypes = map[Elem]struct {
	from   cublas.Elem
	writes map[Elem]cublas.Elem
}{
	F32: {cublas.F32, map[Elem]cublas.Elem{F32: cublas.F32}}, F64: {cublas.F64, map[Elem]cublas.Elem{F64: cublas.F64}},
	F16:  {cublas.F16, map[Elem]cublas.Elem{F16: cublas.F16, F32: cublas.F32}},
	BF16: {cublas.BF16, map[Elem]cublas.Elem{BF16: cublas.BF16, F32: cublas.F32}}, S8: {cublas.S8, map[Elem]cublas.Elem{S32: cublas.S32}},
}

// sumTypes are the types of sums there.
var sumTypes = map[Elem]cublas.Elem{F32: cublas.F32, F64: cublas.F64, S32: cublas.S32}

// Matmul is C = alpha A B + beta C for matrices in the last two dimensions; in those before sides of 1 serve all. Of types that no
// product takes together, copies are made in the type of the sums.
func (r *Run) Matmul(a, b, c Tensor, s Scale) error {
	n := len(c.Dim)
	if a.Check() != nil || b.Check() != nil || c.Check() != nil || n < 2 || len(a.Dim) != n || len(b.Dim) != n ||
		a.Dim[n-2] != c.Dim[n-2] || b.Dim[n-1] != c.Dim[n-1] || a.Dim[n-1] != b.Dim[n-2] {
		return ErrShape
	}
	for d := range n - 2 {
		if a.Dim[d] != c.Dim[d] && a.Dim[d] != 1 || b.Dim[d] != c.Dim[d] && b.Dim[d] != 1 {
			return ErrShape
		}
	}
	if c.Empty() {
		return nil
	}
	m := matmul{a: a, b: b, c: c, sum: a.Type.Sum(), scale: s}
	if m.sum != b.Type.Sum() || m.sum == S32 && c.Type != S32 && c.Type != F32 || !a.Type.Float() && a.Type != S8 && a.Type != U8 && a.Type != S32 {
		return ErrUnsupported
	}
	if done, err := r.elsewhere(s, &Work{Kind: WorkProduct, X: a, W: b, Y: c}); done || err != nil {
		return err
	}
	return r.matmul(&m)
}

// matmul is a product, and the copies it needs.
type matmul struct {
	a, b, c Tensor
	sum     Elem
	scale   Scale
}

// rowMajor reports a matrix whose rows are runs, columns one whose columns are.
func rowMajor(t Tensor) bool {
	n := len(t.Dim)
	return (t.Stride[n-1] == 1 || t.Dim[n-1] == 1) && (t.Stride[n-2] >= t.Dim[n-1] || t.Dim[n-2] == 1)
}

func columns(t Tensor) bool {
	n := len(t.Dim)
	return (t.Stride[n-2] == 1 || t.Dim[n-2] == 1) && (t.Stride[n-1] >= t.Dim[n-2] || t.Dim[n-1] == 1)
}

func (r *Run) matmul(m *matmul) error {
	types, known := productTypes[m.a.Type]
	_, writes := types.writes[m.c.Type]
	same := known && writes && m.a.Type == m.b.Type
	size := int64(0)
	need := func(t Tensor, e Elem, copied bool) (at int64) {
		at = size
		if copied {
			size += round256(t.Count() * e.Size())
		}
		return at
	}
	e, to := m.a.Type, m.c.Type
	if !same {
		if m.sum == S32 {
			return ErrUnsupported
		}
		e, to = m.sum, m.sum
	}
	copyA, copyB := m.a.Type != e || !rowMajor(m.a) && !columns(m.a), m.b.Type != e || !rowMajor(m.b) && !columns(m.b)
	copyC := m.c.Type != to || !rowMajor(m.c) && !columns(m.c)
	atA, atB, atC := need(m.a, e, copyA), need(m.b, e, copyB), need(m.c, to, copyC)
	base, done, err := r.scratch(size)
	if err != nil {
		return err
	}
	defer done()
	a, b, c := m.a, m.b, m.c
	if copyA {
		a = Make(base+uint64(atA), e, m.a.Dim...)
		err = r.Move(m.a, a)
	}
	if copyB && err == nil {
		b = Make(base+uint64(atB), e, m.b.Dim...)
		err = r.Move(m.b, b)
	}
	if copyC {
		c = Make(base+uint64(atC), to, m.c.Dim...)
		if err == nil && m.scale.Beta != 0 {
			err = r.Move(m.c, c)
		}
	}
	if err != nil {
		return err
	}
	if err := r.products(a, b, c, m); err != nil || !copyC {
		return err
	}
	return r.Move(c, m.c)
}

// operand is a matrix as the product has it, and whether its rows are runs or its columns.
func operand(t Tensor) (v cublas.View, byRows bool) {
	n := len(t.Dim)
	if rowMajor(t) {
		return cublas.View{Base: t.Addr, LD: max(t.Stride[n-2], t.Dim[n-1], 1)}, true
	}
	return cublas.View{Base: t.Addr, LD: max(t.Stride[n-1], t.Dim[n-2], 1)}, false
}

// products multiplies matrices whose rows or columns are runs. cuBLAS goes by columns: where C has rows, its transpose is computed.
func (r *Run) products(a, b, c Tensor, m *matmul) error {
	n := len(c.Dim)
	va, rowsA := operand(a)
	vb, rowsB := operand(b)
	vc, rowsC := operand(c)
	p := cublas.Product{M: c.Dim[n-2], N: c.Dim[n-1], K: a.Dim[n-1], Batch: 1, Alpha: cublas.Scalar{Re: m.scale.Alpha}, Beta: cublas.Scalar{Re: m.scale.Beta}}
	p.TA, p.TC, p.Sum = productTypes[a.Type].from, productTypes[a.Type].writes[c.Type], sumTypes[m.sum]
	if rowsC {
		p.M, p.N = p.N, p.M
		va, vb, rowsA, rowsB = vb, va, !rowsB, !rowsA
		a, b = b, a
	}
	va.Op, vb.Op = turn(rowsA), turn(rowsB)
	p.A, p.B, p.C = va, vb, vc
	return r.batches(&p, matmulBatch(a, b, c), [3]int64{a.Type.Size(), b.Type.Size(), c.Type.Size()})
}

func turn(yes bool) blas.CublasOperation_t {
	if yes {
		return turned
	}
	return asIs
}

// matmulBatch is the dimensions before the last two, with those together that are as one.
func matmulBatch(a, b, c Tensor) []line {
	var order []int
	for d := range len(c.Dim) - 2 {
		if c.Dim[d] != 1 {
			order = append(order, d)
		}
	}
	return lines(c, []Tensor{a, b, c}, order)
}

// batches enqueues the product for every index of a batch, the last dimension at once.
func (r *Run) batches(p *cublas.Product, list []line, sizes [3]int64) error {
	if len(list) > 1 {
		for i := range list[0].n {
			q := *p
			for v, view := range []*cublas.View{&q.A, &q.B, &q.C} {
				view.Base += uint64(i * list[0].step[v] * sizes[v])
			}
			if err := r.batches(&q, list[1:], sizes); err != nil {
				return err
			}
		}
		return nil
	}
	q := *p
	if len(list) == 1 {
		q.Batch = list[0].n
		q.A.Stride, q.B.Stride, q.C.Stride = list[0].step[0], list[0].step[1], list[0].step[2]
	}
	if slices.Max([]int64{q.M, q.N, q.K, q.Batch}) >= maxSide {
		return ErrUnsupported
	}
	return r.product(&q)
}
