package cusparse

import (
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
	"kudzu/internal/spec/sparse"
)

// Provider does calls of cuSPARSE with something other than our kernels: a library of the device's vendor.
type Provider interface {
	// Name is the library's.
	Name() string
	// Serves reports whether any call may be this provider's: where it says no, that is all it costs. It is asked at
	// every call.
	Serves(d *driver.Thread) bool
	// Do makes one call, whose arguments were judged before. Not done means that nothing has happened, and our
	// kernels do it.
	Do(d *driver.Thread, w *Work) (done bool, err error)
	// Drop forgets what is kept for a handle, which is ending.
	Drop(owner any)
}

// Work is a call: the function's name without its prefix, and what it takes of these.
type Work struct {
	Name    string
	Owner   any // the handle
	Stream  cu.CUstream
	Mode    sparse.CusparsePointerMode_t
	Scratch func(n int64) (uint64, error) // memory that the call has until it ends

	OpA, OpB sparse.CusparseOperation_t
	First    hostmem.Ptr // alpha, the cosine, or where the result goes
	Second   hostmem.Ptr // beta, or the sine
	Sparse   *Sparse
	Vector   *SparseVector
	Dense    []*Dense // in the order of the function's parameters
	Compute  rt.CudaDataType
}

// Sparse is a sparse matrix: by rows, by columns, or in coordinates.
type Sparse struct {
	Format                          sparse.CusparseFormat_t
	Rows, Cols, Nnz                 int64
	Offsets, Lines, Indices, Values uint64 // offsets, or of coordinates lines
	WideOff, Wide                   sparse.CusparseIndexType_t
	Base                            sparse.CusparseIndexBase_t
	Type                            rt.CudaDataType
	Fill                            sparse.CusparseFillMode_t // of a triangle
	Diag                            sparse.CusparseDiagType_t
}

// SparseVector is a sparse vector.
type SparseVector struct {
	Size, Nnz       int64
	Indices, Values uint64
	Wide            sparse.CusparseIndexType_t
	Base            sparse.CusparseIndexBase_t
	Type            rt.CudaDataType
}

// Dense is a dense matrix, or a vector of so many rows.
type Dense struct {
	Vector         bool
	Rows, Cols, LD int64
	Values         uint64
	Type           rt.CudaDataType
	Order          sparse.CusparseOrder_t
}

var providers shim.Providers[Provider]

// Use puts a provider behind those there are.
func Use(p Provider) { providers.Add(p) }

// Unuse forgets all providers. For tests: a process has one set of them.
func Unuse() { providers.Clear() }

// Answered is a provider's status, in cuSPARSE's numbers, as an error.
func Answered(status int64, known bool) error {
	switch {
	case !known:
		return internalError
	case status == 0:
		return nil
	}
	return Status(status)
}

// elsewhere offers a call to the providers.
func (c *call) elsewhere(make func() *Work) (done bool, err error) {
	for _, p := range providers.All() {
		if !p.Serves(c.d) {
			continue
		}
		w := make()
		w.Owner, w.Stream, w.Mode, w.Scratch = c.lib, c.stream, c.mode, c.scratch
		if done, err := p.Do(c.d, w); done {
			return true, err
		}
	}
	return false, nil
}

// outside describes a matrix to a provider.
func (m *sparseMatrix) outside() *Sparse {
	return &Sparse{m.format, m.rows, m.cols, m.nnz, m.offsets, m.lines, m.indices, m.values, m.wideOff, m.wide, m.base, m.kind, m.fill, m.diag}
}

func (v *sparseVector) outside() *SparseVector {
	return &SparseVector{v.size, v.nnz, v.indices, v.values, v.wide, v.base, v.kind}
}

func (v *denseVector) outside() *Dense {
	return &Dense{Vector: true, Rows: v.size, Values: v.values, Type: v.kind}
}

func (m *denseMatrix) outside() *Dense {
	return &Dense{Rows: m.rows, Cols: m.cols, LD: m.ld, Values: m.values, Type: m.kind, Order: m.order}
}
