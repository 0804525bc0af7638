package cusolver

import (
	"kudzu/internal/cudart"
	"kudzu/internal/driver"
	"kudzu/internal/handle"
	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
	"kudzu/internal/spec/solver"
)

// job is one call: its thread, handle and stream.
type job struct {
	d      *driver.Thread
	x      *dense
	stream cu.CUstream

	gen      uint64           // of calls that C makes
	template *driver.Template // of the call, if it is one launch: the next one; or nil
}

// Handle is cuSOLVER's name for one.
type Handle = solver.CusolverDnHandle_t

// job begins a call that works.
func (t *Thread) job(h Handle) (*job, error) {
	gen := driver.Generation() // before anything is looked at
	x := denses.Get(handle.Value(h))
	if x == nil {
		return nil, notInitialized
	}
	if err := cudart.Ready(t.driver()); err != nil {
		return nil, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return &job{d: t.driver(), x: x, stream: x.stream, gen: gen}, nil
}

// only says that a call is one launch, which C may make for calls like it: with these addresses, in the order of the arguments.
func (j *job) only(h Handle, patches ...driver.Patch) {
	for _, p := range providers.All() {
		if p.Serves(j.d) {
			return
		}
	}
	j.template = &driver.Template{Generation: j.gen, Handle: uint64(h), Modes: j.x.modes, Now: [2]uint64{uint64(j.stream)}, Patches: patches}
}

// known reports a live handle, for calls that only tell sizes.
func (t *Thread) live(h Handle) error {
	if denses.Get(handle.Value(h)) == nil {
		return notInitialized
	}
	return nil
}

// mat is a matrix, or a batch of them.
type mat struct {
	cublas.View
	e     Elem
	batch int64
}

// at is the part that begins at a row and a column.
func (a mat) at(row, col int64) mat {
	a.View = a.View.Later(row, col, a.e)
	return a
}

// op is the matrix as a product reads it.
func (a mat) op(op blas.CublasOperation_t) cublas.View {
	v := a.View
	v.Op = op
	return v
}

// matAt is one matrix.
func matAt(p hostmem.Ptr, ld int64, e Elem) mat {
	return mat{cublas.View{Base: uint64(p), LD: ld}, e, 1}
}

// product is C += alpha A B, beta times C before.
func (j *job) product(p *cublas.Product, e Elem) error {
	p.TA, p.TC, p.Sum = e, e, e
	if p.Batch == 0 {
		p.Batch = 1
	}
	pack, _ := j.x.blas.Spaces()
	return p.Run(j.d, j.stream, pack)
}

func (j *job) solve(s *cublas.System) error { return s.Run(j.d, j.stream, &j.x.blas) }

var (
	plus  = cublas.Scalar{Re: 1}
	minus = cublas.Scalar{Re: -1}
)

const warp = 32

// maxGrid is the second and third side of a grid.
const maxGrid = 65535

// one launches a kernel with a warp for each matrix of a batch.
func (j *job) one(k *shim.Kernels, name string, batch int64, q *shim.Params) error {
	q.Template, j.template = j.template, nil
	return k.Launch(j.d, j.stream, name, [3]uint32{uint32(batch), 1, 1}, [3]uint32{warp, 1, 1}, q)
}

// sheet launches a kernel whose blocks go over the rows and columns of matrices.
func (j *job) sheet(name string, m, n, batch int64, q *shim.Params) error {
	grid := [3]uint32{uint32(min((m+warp-1)/warp, 1<<16)), uint32(min(n, 64)), uint32(batch)}
	return factorKernels.Launch(j.d, j.stream, name, grid, [3]uint32{warp, 1, 1}, q)
}

// eye writes the identity, whose ones begin at a row of the first column.
func (j *job) eye(a mat, m, n, diag int64) error {
	if m == 0 || n == 0 {
		return nil
	}
	var q shim.Params
	a.Put(&q)
	q.U32(uint32(m), uint32(n)).U64(uint64(diag))
	return j.sheet("eye_"+a.e.String(), m, n, a.batch, &q)
}

// What of a matrix copy moves.
const (
	copyAll   = 0
	copyLower = 1
	copyUpper = 2
	copyTurn  = 4 // conjugated and transposed: added to one of them
	copyBack  = 8 // from the end: likewise
)

func (j *job) copy(from, to mat, m, n int64, part uint32) error {
	if m == 0 || n == 0 {
		return nil
	}
	var q shim.Params
	from.Put(&q)
	to.Put(&q)
	q.U32(uint32(m), uint32(n), part)
	return j.sheet("copy_"+from.e.String(), m, n, from.batch, &q)
}

// tell writes a number to n infos.
func (j *job) tell(info hostmem.Ptr, v int32, n int64) error {
	if n == 0 || info == hostmem.Nil {
		return nil
	}
	j.template = nil
	var q shim.Params
	q.U64(uint64(info)).U32(uint32(v), uint32(n))
	return j.one(factorKernels, "setInfo", min((n+warp-1)/warp, 1<<16), &q)
}

func flag(v bool) uint32 {
	if v {
		return 1
	}
	return 0
}

// maxSide: sizes travel as 32-bit numbers.
const maxSide = 1 << 31

// sized checks the sizes of a matrix.
func sized(m, n, ld int64) error {
	if m < 0 || n < 0 || ld < max(1, m) {
		return invalidValue
	}
	if m >= maxSide || n >= maxSide {
		return notSupported
	}
	return nil
}

func validFill(f blas.CublasFillMode_t) bool {
	return f == blas.CUBLAS_FILL_MODE_LOWER || f == blas.CUBLAS_FILL_MODE_UPPER
}

func validMode(m solver.CusolverEigMode_t) bool {
	return m == solver.CUSOLVER_EIG_MODE_NOVECTOR || m == solver.CUSOLVER_EIG_MODE_VECTOR
}

// realOf is the type of a matrix's norm.
func realOf(e Elem) Elem {
	switch e {
	case C32:
		return F32
	case C64:
		return F64
	}
	return e
}

// typed is the type that the 64-bit interface names: of the matrix and of what is computed with, which are the same here.
func typed(a, compute rt.CudaDataType) (Elem, error) {
	e, ok := cublas.ElemOf(a)
	if !ok || a != compute || e != F32 && e != F64 && e != C32 && e != C64 {
		return 0, invalidValue
	}
	return e, nil
}

// typedReal checks the type of values that belong to a matrix.
func typedReal(w rt.CudaDataType, e Elem) error {
	if r, ok := cublas.ElemOf(w); !ok || r != realOf(e) {
		return invalidValue
	}
	return nil
}

// judge writes the position of the first argument that makes no sense, negative, to info, in the stream's order; bad are those that do
// not, the first behind the handle first.
func (j *job) judge(info hostmem.Ptr, bad ...bool) error {
	for i, b := range bad {
		if b {
			if err := j.tell(info, int32(-1-i), 1); err != nil {
				return err
			}
			return invalidValue
		}
	}
	return nil
}

// fits: sizes travel as 32-bit numbers.
func fits(sizes ...int64) error {
	for _, n := range sizes {
		if n >= maxSide {
			return notSupported
		}
	}
	return nil
}

// asked is a size of workspace of what may be negative: the vendor's library says a size for any arguments.
func asked(m, n int64, f func(m, n int64) int64) (int32, error) {
	return count(f(max(m, 0), max(n, 0)))
}

// count is a size of workspace as the 32-bit interface says it, in elements.
func count(n int64) (int32, error) {
	if n >= maxSide {
		return 0, invalidValue
	}
	return int32(max(n, 1)), nil
}

// enough checks a workspace.
func enough(work hostmem.Ptr, have, need int64) error {
	if need > 0 && (work == hostmem.Nil || have < need) {
		return invalidValue
	}
	return nil
}
