package cublas

import (
	"fmt"

	"kudzu/internal/driver"
	"kudzu/internal/shim"
	"kudzu/internal/shim/again"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/cu"
)

// Product is C = alpha op(A) op(B) + beta C for every matrix of a batch.
type Product struct {
	M, N, K, Batch int64

	A, B, C     View
	TA, TC      Elem // of A and B, and of C
	Sum         Elem // what is computed with
	Alpha, Beta Scalar

	Part Part // what of C is written
	Real bool // the diagonal of C is real

	Template *driver.Template // of a call that is this product, if it is one launch; or nil
}

// Part is a triangle of C. Its numbers are those of tile in kernels/gemm.cu.
type Part uint32

// The parts of C.
const (
	PartAll Part = iota
	PartLower
	PartUpper
)

// outside reports whether C is only written in part, or its diagonal is special.
func (p *Product) outside() uint32 {
	f := uint32(p.Part)
	if p.Real {
		f |= 4
	}
	return f
}

// tileRows and tileColumns are the shape of one warp's work in kernels/gemm.cu and kernels/complex.cu, whose rows are complexRows.
const tileRows = 32

var tileColumns = map[Elem]int64{F32: 12, F64: 6, C32: 6, C64: 3, S32: 12}

const (
	maxSide = 1 << 31 // sizes travel as 32-bit numbers
	maxGrid = 65535   // second and third side of a grid
	maxPack = 256 << 20

	deepest = 512 // elements of a sum that are multiplied before it is written to C: a panel of B then is half of a first cache
)

// Check answers what cuBLAS answers for arguments that make no sense.
func (p *Product) Check() error {
	if p.M < 0 || p.N < 0 || p.K < 0 || p.Batch < 0 || !validOp(p.A.Op) || !validOp(p.B.Op) {
		return invalidValue
	}
	rowsA, _, rowsB, _ := p.sides()
	if p.A.LD < max(1, rowsA) || p.B.LD < max(1, rowsB) || p.C.LD < max(1, p.M) {
		return invalidValue
	}
	if p.M >= maxSide || p.N >= maxSide || p.K >= maxSide || p.Batch >= maxSide {
		return notSupported
	}
	return nil
}

func validOp(op blas.CublasOperation_t) bool {
	return op >= blas.CUBLAS_OP_N && op <= blas.CUBLAS_OP_C
}

// Run enqueues the product on a stream of the current context.
func (p *Product) Run(d *driver.Thread, stream cu.CUstream, space *shim.Workspace) error {
	if p.M == 0 || p.N == 0 || p.Batch == 0 {
		return nil
	}
	if done, err := p.elsewhere(d, stream); done || err != nil {
		return err
	}
	if again.On() {
		return p.sums().Do(d, stream, func() error { return p.run(d, stream, space) })
	}
	return p.run(d, stream, space)
}

// run puts the kernels in.
func (p *Product) run(d *driver.Thread, stream cu.CUstream, space *shim.Workspace) error {
	switch {
	case p.K == 0 || p.Alpha.IsZero():
		return p.scale(d, stream)
	case p.isComplex():
		return p.runComplex(d, stream, space)
	case p.isTiny():
		return p.tiny(d, stream)
	case p.isSmall():
		return p.small(d, stream)
	}
	if s, ok := p.skinny(); ok {
		return p.thin(d, stream, space, &s)
	}
	space.Hold() // no other call's panels come between packing and multiplying
	defer space.Release()
	if p.fewRows() {
		return p.flat(d, stream, space)
	}
	if p.K > deepest && p.TC == p.Sum && validOp(p.A.Op) && validOp(p.B.Op) { // of cuBLAS's own, a later part of the sums is one offset away
		return p.bySums(d, stream, space)
	}
	return p.tiles(d, stream, space)
}

// bySums adds long sums up in C piece by piece, so that the panels of a piece stay in the caches: each piece is added to what the
// pieces before left there.
func (p *Product) bySums(d *driver.Thread, stream cu.CUstream, space *shim.Workspace) error {
	pieces := (p.K + deepest - 1) / deepest
	step := (p.K + pieces - 1) / pieces
	for from := int64(0); from < p.K; from += step {
		part := *p
		part.K = min(step, p.K-from)
		a, b := from, from
		if p.A.Op == blas.CUBLAS_OP_N {
			a *= p.A.LD
		}
		if p.B.Op != blas.CUBLAS_OP_N {
			b *= p.B.LD
		}
		part.A, part.B = p.A.later(a, p.TA), p.B.later(b, p.TA)
		if from > 0 {
			part.Beta = Scalar{Re: 1}
		}
		if err := part.tiles(d, stream, space); err != nil {
			return err
		}
	}
	return nil
}

// scale is C = beta C: nothing of A and B is read.
func (p *Product) scale(d *driver.Thread, stream cu.CUstream) error {
	if p.Beta.At == 0 && p.Beta.Re == 1 && p.Beta.Im == 0 {
		return nil
	}
	for first := int64(0); first < p.Batch; first += maxGrid {
		for col := int64(0); col < p.N; col += maxGrid {
			c := p.C.From(first, 0, p.TC).later(col*p.C.LD, p.TC)
			var q shim.Params
			c.Put(&q)
			p.Beta.Put(&q)
			q.U32(uint32(p.M), uint32(p.N), uint32(col), p.outside())
			grid := [3]uint32{uint32(min((p.M+255)/256, 1<<20)), uint32(min(p.N-col, maxGrid)), uint32(min(p.Batch-first, maxGrid))}
			if err := gemmKernels.Launch(d, stream, "scale_"+p.TC.String(), grid, [3]uint32{256, 1, 1}, &q); err != nil {
				return err
			}
		}
	}
	return nil
}

// From is the view that begins at a later matrix of the batch and a later column of each.
func (v View) From(first, col int64, e Elem) View {
	if v.List {
		v.Base += uint64(first) * 8
		v.Stride += col * v.LD
		return v
	}
	v.Base += uint64(first*v.Stride+col*v.LD) * uint64(e.Size())
	return v
}

// tiles packs both operands and multiplies the panels, as many matrices of the batch at a time as the workspace takes.
func (p *Product) tiles(d *driver.Thread, stream cu.CUstream, space *shim.Workspace) error {
	high, wide := p.rows(), tileColumns[p.Sum]
	size := int64(p.Sum.Size())
	panelsA, panelsB := (p.M+high-1)/high, (p.N+wide-1)/wide
	perA, perB := panelsA*high*p.K, panelsB*wide*p.K
	if panelsB > maxGrid || panelsA*panelsB >= maxSide { // so many tiles that they do not fit a grid: in parts
		return p.byColumns(d, stream, space, max(1, min(maxGrid, (maxSide-1)/panelsA))*wide)
	}
	workers, err := processors(d)
	if err != nil {
		return err
	}
	t := tiling{panelsA: panelsA, panelsB: panelsB, workers: workers}
	t.plan(p.K, high*p.K*size)
	sharedA, sharedB := !p.A.List && p.A.Stride == 0, !p.B.List && p.B.Stride == 0
	chunk := min(p.Batch, maxGrid, max(1, maxPack/((perA+perB)*size)))
	room := func(per int64, shared bool) int64 {
		if shared {
			return (per*size + 255) &^ 255
		}
		return (per*size*chunk + 255) &^ 255
	}
	roomA, roomB := room(perA, sharedA), room(perB, sharedB)
	at, err := space.Take(d, stream, uint64(roomA+roomB+t.numbers()*4*chunk))
	if err != nil {
		return err
	}
	toA, toB := uint64(at), uint64(at)+uint64(roomA)
	t.claims = toB + uint64(roomB)
	b := p.B // op(B) is K × N: its columns are packed as rows are of op(A), so what is plain here is turned there
	b.Op = Turned(b.Op)
	sides := [2]side{{p.A, toA, perA, p.M, high, sharedA}, {b, toB, perB, p.N, wide, sharedB}}
	for first := int64(0); first < p.Batch; first += chunk {
		n := min(chunk, p.Batch-first)
		if err := p.pack(d, stream, sides, &t, first, n); err != nil {
			return err
		}
		var q shim.Params
		for i := range sides {
			q.U64(sides[i].to, uint64(sides[i].stride()))
		}
		p.C.Put(&q)
		p.Alpha.Put(&q)
		p.Beta.Put(&q)
		q.U32(uint32(p.M), uint32(p.N), uint32(p.K), uint32(first), p.signs(p.A.Op, p.B.Op), 0)
		q.U64(t.claims).U32(uint32(t.group), uint32(t.groups), uint32(t.step), 0)
		grid := [3]uint32{uint32(t.blocks), 1, uint32(n)}
		if err := p.module().Launch(d, stream, fmt.Sprintf("tile_%s_%s", p.Sum, p.TC), grid, [3]uint32{32, 1, 1}, &q); err != nil {
			return err
		}
	}
	return nil
}

// Turned is the operation that packs columns as rows. Conjugation stays with what was conjugated.
func Turned(op blas.CublasOperation_t) blas.CublasOperation_t {
	switch op {
	case blas.CUBLAS_OP_N:
		return blas.CUBLAS_OP_T
	case blas.CUBLAS_OP_T:
		return blas.CUBLAS_OP_N
	case blas.CUBLAS_OP_C:
		return OpConjugate
	case OpConjugate:
		return blas.CUBLAS_OP_C
	case opLower + opHermitian: // the transpose of a Hermitian matrix is its conjugate
		return opLower + opHermitian + opTurned
	case opUpper + opHermitian:
		return opUpper + opHermitian + opTurned
	}
	if op >= opTriangle {
		return op ^ triTurned
	}
	return op // a symmetric matrix is its own transpose
}

// transposes reports an operation that exchanges rows and columns.
func transposes(op blas.CublasOperation_t) bool {
	return op == blas.CUBLAS_OP_T || op == blas.CUBLAS_OP_C
}

// The operations of kernels/gemm.cu that cuBLAS has no name for: as it is, conjugated; and a matrix of which one triangle
// is stored, symmetric or Hermitian, or
// the transpose of a Hermitian one.
const (
	OpConjugate = blas.CublasOperation_t(3)
	opLower     = blas.CublasOperation_t(4)
	opUpper     = blas.CublasOperation_t(5)
	opHermitian = blas.CublasOperation_t(2) // added to one of the two
	opTurned    = blas.CublasOperation_t(2) // added to that

	opTriangle = blas.CublasOperation_t(16) // a triangle is all there is, and any of these
	triUpper   = blas.CublasOperation_t(1)
	triUnit    = blas.CublasOperation_t(2)
	triTurned  = blas.CublasOperation_t(4)
	triConj    = blas.CublasOperation_t(8)
)

func (p *Product) byColumns(d *driver.Thread, stream cu.CUstream, space *shim.Workspace, part int64) error {
	if p.Part != PartAll || p.B.Op > OpConjugate {
		return notSupported // a triangle of more than 786,420 columns
	}
	for col := int64(0); col < p.N; col += part {
		q := *p
		q.N = min(part, p.N-col)
		q.C = p.C.From(0, col, p.TC)
		if p.B.Op == blas.CUBLAS_OP_N {
			q.B = p.B.From(0, col, p.TA)
		} else {
			q.B = p.B.later(col, p.TA)
		}
		if err := q.tiles(d, stream, space); err != nil {
			return err
		}
	}
	return nil
}
