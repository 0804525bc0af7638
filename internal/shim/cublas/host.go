package cublas

import (
	"sync/atomic"

	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/cu"
)

// Multiplier does products in place of our kernels: the reference, or a library of this machine. It works where the host may touch
// the memory of the device.
type Multiplier interface {
	Name() string
	// Takes reports whether it does products like this one.
	Takes(p *Product) bool
	// Multiply does one, on a thread of ours, when the earlier work of its stream is done.
	Multiply(p *HostProduct)
}

// HostProduct is a product whose operands lie in memory that is there, and whose scalars are known.
type HostProduct struct {
	*Product
	At          [][3]uint64 // the addresses of A, B and C, for each matrix of the batch
	Alpha, Beta complex128
}

var multiplier atomic.Pointer[Multiplier]

// UseMultiplier makes m do the products it takes; nil: our kernels do all.
func UseMultiplier(m Multiplier) {
	if m == nil {
		multiplier.Store(nil)
		return
	}
	multiplier.Store(&m)
}

// elsewhere gives the product to the multiplier, if there is one that takes it. Operands that are not whole in memory the driver
// knows, lists of addresses, which only the device may know yet, and streams in capture are left to our kernels: those record, and end
// in an error of the context where a foreign library would end the process. With an alpha of 0 no library is asked: not all leave A alone.
func (p *Product) elsewhere(d *driver.Thread, stream cu.CUstream) (done bool, err error) {
	m := multiplier.Load()
	if m == nil || p.K == 0 || p.Alpha.IsZero() || !(*m).Takes(p) {
		return false, nil
	}
	q := *p
	h := &HostProduct{Product: &q}
	if !h.find(d) {
		return false, nil
	}
	return d.OnHost(stream, func() {
		h.Alpha, h.Beta = q.Alpha.now(), q.Beta.now()
		if h.Alpha == 0 {
			q.K = 0
			Reference{}.Multiply(h)
			return
		}
		(*m).Multiply(h)
	})
}

// find looks for all matrices and scalars in memory.
func (p *HostProduct) find(d *driver.Thread) bool {
	for _, s := range []Scalar{p.Product.Alpha, p.Product.Beta} {
		if s.At != 0 && !inMemory(d, s.At, uint64(s.Type.Size())) {
			return false
		}
	}
	rowsA, colsA, rowsB, colsB := p.sides()
	for i := range p.Batch {
		a, ok1 := p.A.whole(d, i, rowsA, colsA, p.TA)
		b, ok2 := p.B.whole(d, i, rowsB, colsB, p.TA)
		c, ok3 := p.C.whole(d, i, p.M, p.N, p.TC)
		if !ok1 || !ok2 || !ok3 {
			return false
		}
		p.At = append(p.At, [3]uint64{a, b, c})
	}
	return true
}

// inMemory reports that n bytes from an address on lie in one allocation.
func inMemory(d *driver.Thread, at, n uint64) bool {
	base, size, err := d.MemGetAddressRange(driver.DevPtr(at))
	off := at - uint64(base)
	return err == nil && off <= size && n <= size-off
}

// whole is the address of matrix i, if all of it is in memory.
func (v View) whole(d *driver.Thread, i, rows, cols int64, e Elem) (uint64, bool) {
	const most = 1 << 62
	if v.List || cols > most/v.LD/int64(e.Size()) {
		return 0, false
	}
	at := v.Base + uint64(i*v.Stride)*uint64(e.Size())
	if rows == 0 || cols == 0 {
		return at, true
	}
	return at, inMemory(d, at, uint64((cols-1)*v.LD+rows)*uint64(e.Size()))
}

// now is the value of a scalar that is in memory.
func (s Scalar) now() complex128 {
	v := complex(s.Re, s.Im)
	if s.At != 0 {
		v = Decode(s.Type, hostmem.Bytes(hostmem.Ptr(s.At), uint64(s.Type.Size())))
	}
	if s.Conj {
		v = complex(real(v), -imag(v))
	}
	return v
}

// sides are the rows and columns of A and of B as they lie in memory.
func (p *Product) sides() (rowsA, colsA, rowsB, colsB int64) {
	rowsA, colsA, rowsB, colsB = p.M, p.K, p.K, p.N
	if p.A.Op != blas.CUBLAS_OP_N {
		rowsA, colsA = colsA, rowsA
	}
	if p.B.Op != blas.CUBLAS_OP_N {
		rowsB, colsB = colsB, rowsB
	}
	return rowsA, colsA, rowsB, colsB
}

// Plain reports a product of whole matrices, all of which is written, read as cuBLAS's own operations say.
func (p *Product) Plain() bool {
	return p.Part == PartAll && !p.Real && validOp(p.A.Op) && validOp(p.B.Op)
}
