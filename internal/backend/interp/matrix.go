package interp

import (
	"math"
	"strconv"
	"strings"

	"kudzu/internal/ptx/isa"
	"kudzu/internal/softfloat"
)

// dims is m, n and k of a shape word; a shape of a load has only the first two.
func (d *decoder) dims() (m, n, k int) {
	s := strings.TrimPrefix(d.in.Mod("shape").String(), ".m")
	rows, s, _ := strings.Cut(s, "n")
	cols, depth, _ := strings.Cut(s, "k")
	m, _ = strconv.Atoi(rows)
	n, _ = strconv.Atoi(cols)
	k, _ = strconv.Atoi(depth)
	if m == 0 || n == 0 {
		d.bad("shape %s", d.in.Mod("shape"))
	}
	return m, n, k
}

// together makes a step that all live threads of the warp do at once. The instruction must be the same one (.aligned), so that
// do may use its operands for every thread.
func (d *decoder) together(do func(w *warp, members uint32)) step {
	sig := -1 - len(d.u.sigs)
	d.u.sigs["@"+strconv.Itoa(-sig)] = sig
	all := constant(0xffffffff)
	return step{warp: func(w *warp, active uint32) { w.meet(active, sig, all, func(*thread) {}, do) }}
}

// elem is how one element of a matrix is stored in a register and what it is worth.
type elem struct {
	t     isa.Type
	width int // bits in the register
	shift int // of the value in them
	f     *softfloat.Format
	bits  int
}

func newElem(t isa.Type) elem {
	e := elem{t: t, width: t.Bits(), bits: t.Bits(), f: floatFormat(t)}
	switch t {
	case isa.TF32:
		e.f = softfloat.F32 // the unit reads the upper 19 bits; see number
	case isa.E2M3, isa.E3M2:
		e.bits = 6
	}
	return e
}

// inByte is a 4- or 6-bit format in a byte (.kind::f8f6f4): e2m1 stands in bits 2 to 5. unrecorded.
func (e elem) inByte() elem {
	e.width = 8
	if e.t == isa.E2M1 {
		e.shift = 2
	}
	return e
}

// number is an element's value as a float64, which holds every such format exactly.
func (e *elem) number(v uint64) float64 {
	switch {
	case e.t == isa.TF32:
		v &^= 1<<13 - 1
	case e.f == softfloat.F64:
		return math.Float64frombits(v)
	}
	return math.Float64frombits(e.f.Convert(softfloat.F64, v, softfloat.Env{}))
}

// integer is an element's value as an integer.
func (e *elem) integer(v uint64) int64 {
	if e.t.IsSigned() {
		return signed(v, e.bits)
	}
	return int64(v)
}

// spot says where element i of a thread's fragment lies in the matrix.
type spot func(lane, i int) (row, col int)

// matrix is rows × cols raw elements.
type matrix struct {
	rows, cols int
	v          []uint64
}

func newMatrix(rows, cols int) *matrix { return &matrix{rows, cols, make([]uint64, rows*cols)} }

func (m *matrix) at(r, c int) uint64 { return m.v[r*m.cols+c] }

// gather reads a matrix out of the registers of a warp.
func (m *matrix) gather(w *warp, members uint32, regs []operand, e elem, regBits int, where spot) {
	per := regBits / e.width
	w.eachQuiet(members, func(t *thread) {
		for r := range regs {
			v := regs[r].get(t)
			for j := range per {
				if row, col := where(int(t.lane), r*per+j); row < m.rows && col < m.cols {
					m.v[row*m.cols+col] = v >> (j*e.width + e.shift) & mask(e.bits)
				}
			}
		}
	})
}

// scatter writes a matrix into the registers of a warp.
func (m *matrix) scatter(w *warp, members uint32, regs []int32, width, regBits int, where spot) {
	per := regBits / width
	w.eachQuiet(members, func(t *thread) {
		for r, slot := range regs {
			var v uint64
			for j := range per {
				row, col := where(int(t.lane), r*per+j)
				v |= m.at(row, col) << (j * width)
			}
			t.r[slot] = v
		}
	})
}

// The fragments of mma (PTX ISA, "Matrix Fragments for mma"): a thread's group is lane/4, its place in it lane%4. A register holds
// per elements that follow each other along k.

func spotA(rows, per int) spot {
	high := rows / 8 // 1 or 2 registers for each step of 4×per along k
	return func(lane, i int) (row, col int) {
		reg, j := i/per, i%per
		return lane/4 + reg%high*8, lane%4*per + j + reg/high*4*per
	}
}

func spotB(per int) spot {
	return func(lane, i int) (row, col int) {
		reg, j := i/per, i%per
		return lane%4*per + j + reg*4*per, lane / 4
	}
}

func spotC(lane, i int) (row, col int) { return lane/4 + i/2*8, lane%4*2 + i%2 }

// mma is a decoded multiplication.
type mma struct {
	m, n, k           int
	a, b, c, d        elem
	ra, rb, rc        []operand
	rd                []int32
	regAB, regC, regD int // bits of a register
	sa, sb, sc, sd    spot
	sat               bool
	mode              softfloat.Mode
	popc              isa.Mod // b1: how bits are combined
	acol, bcol        bool    // m8n8k4 of f16
	compressedK       int     // columns of a as given
	whole             bool    // wgmma: bytes are multiplied as such, all at once
	sparse            *sparsity
	scale             *blockScale
}

// typeOr is the type of a slot, or another where the form has no such slot.
func (d *decoder) typeOr(slot string, t isa.Type) isa.Type {
	if v := d.in.OptType(slot); v != isa.TypeNone {
		return v
	}
	return t
}

func (d *decoder) newMma() *mma {
	x := &mma{sat: d.has(isa.ModSatfinite), mode: roundMode(d.in.OptMod("rnd")), popc: d.in.OptMod("op")}
	x.m, x.n, x.k = d.dims()
	x.a, x.b = newElem(d.typeOr("atype", isa.F16)), newElem(d.typeOr("btype", isa.F16))
	x.c, x.d = newElem(d.in.Type("ctype")), newElem(d.in.Type("dtype"))
	if k := d.in.OptMod("kind"); k == isa.ModKindF8f6f4 || k == isa.ModKindMxf8f6f4 {
		x.a, x.b = x.a.inByte(), x.b.inByte()
	}
	x.ra, x.rb, x.rc, x.rd = d.srcs("a"), d.srcs("b"), d.srcs("c"), d.dests("d")
	x.regAB, x.regC, x.regD = max(32, x.a.width), max(32, x.c.width), max(32, x.d.width)
	x.compressedK = x.k
	return x
}

// decodeMma is mma.sync, dense.
func decodeMma(d *decoder) step {
	x := d.newMma()
	if x.m == 8 && x.n == 8 && x.k == 4 && x.a.t == isa.F16 {
		x.acol, x.bcol = d.in.Mod("alayout") == isa.ModCol, d.in.Mod("blayout") == isa.ModCol
		return d.together(x.runQuads)
	}
	x.place()
	x.scale = d.blockScale(x)
	return d.together(x.run)
}

func (x *mma) place() {
	per := x.regAB / x.a.width
	x.sa, x.sb = spotA(x.m, per), spotB(per)
	x.sc, x.sd = spotC, spotC
}

func (x *mma) run(w *warp, members uint32) {
	a, b, c := newMatrix(x.m, x.compressedK), newMatrix(x.k, x.n), newMatrix(x.m, x.n)
	a.gather(w, members, x.ra, x.a, x.regAB, x.sa)
	b.gather(w, members, x.rb, x.b, x.regAB, x.sb)
	c.gather(w, members, x.rc, x.c, x.regC, x.sc)
	p := operands3{a: a, b: b, c: c}
	if x.sparse != nil {
		p.columns = x.sparse.columns(w, x)
		p.halves = x.chunk() == 2
	}
	if x.scale != nil {
		p.scales = x.scale.read(w, x)
	}
	d := x.multiply(&p)
	d.scatter(w, members, x.rd, x.d.width, x.regD, x.sd)
}

// operands3 is what is multiplied: columns says, where a is sparse, which row of b each element meets.
type operands3 struct {
	a, b, c *matrix
	columns [][]int
	halves  bool // sparse tf32: see meets
	scales  *scales
}

// row is the row of b that element k of row i of a meets.
func (p *operands3) row(i, k int) int {
	if p.columns == nil {
		return k
	}
	return p.columns[i][k]
}

// meets is the element of b that element k of row i of a is multiplied with for column j. Sparse tf32 numbers are chosen as the
// hardware chooses 16-bit ones: the metadata names a half of a pair of rows for each half of the number. The two values that the
// manual allows name both halves of one row; the others, recorded, mix them.
func (p *operands3) meets(i, k, j int) uint64 {
	if !p.halves {
		return p.b.at(p.row(i, k), j)
	}
	first, bits := p.columns[i][k]>>4, p.columns[i][k]&0xf
	half := func(n int) uint64 { return p.b.at(first+n>>1, j) >> (n & 1 * 16) & 0xffff }
	return half(bits&3) | half(bits>>2)<<16
}

// multiply is d = a×b + c.
func (x *mma) multiply(p *operands3) *matrix {
	d := newMatrix(x.m, x.n)
	for i := range x.m {
		for j := range x.n {
			var v uint64
			switch {
			case x.a.f == nil:
				v = x.dotInt(p, i, j)
			case x.a.f == softfloat.F64:
				v = p.c.at(i, j)
				for k := range x.k {
					v = softfloat.F64.Fma(p.a.at(i, k), p.b.at(k, j), v, softfloat.Env{Mode: x.mode})
				}
			default:
				v = x.dotFloat(p, i, j)
			}
			d.v[i*x.n+j] = v
		}
	}
	return d
}

// dotInt accumulates in 32 bits; .satfinite clamps the sum instead of wrapping.
func (x *mma) dotInt(p *operands3, i, j int) uint64 {
	sum := signed(p.c.at(i, j), 32)
	for k := range x.compressedK {
		a, b := p.a.at(i, k), p.meets(i, k, j)
		switch {
		case x.a.t != isa.B1:
			sum += x.a.integer(a) * x.b.integer(b)
		case x.popc == isa.ModXor:
			sum += int64(a ^ b)
		default:
			sum += int64(a & b)
		}
	}
	if x.sat {
		return clamp32(sum)
	}
	return uint64(sum) & 0xffffffff
}

// runQuads is m8n8k4 on f16: the four quad pairs (lanes q…q+3 and q+16…q+19) each multiply matrices of their own.
func (x *mma) runQuads(w *warp, members uint32) {
	spotA := func(lane, i int) (row, col int) {
		if x.acol {
			return i%4 + lane/16*4, lane % 4
		}
		return lane%4 + lane/16*4, i
	}
	spotB := func(lane, i int) (row, col int) {
		if x.bcol {
			return i, lane%4 + lane/16*4
		}
		return lane % 4, i + lane/16*4
	}
	acc := func(e elem) spot {
		if e.t == isa.F16 {
			return func(lane, i int) (row, col int) { return lane%4 + lane/16*4, i }
		}
		return func(lane, i int) (row, col int) { return lane&1 + i&2 + lane/16*4, i&4 + lane&2 + i&1 }
	}
	for q := range 4 {
		quad := members & (0xf000f << (4 * q))
		a, b, c := newMatrix(8, 4), newMatrix(4, 8), newMatrix(8, 8)
		a.gather(w, quad, x.ra, x.a, 32, spotA)
		b.gather(w, quad, x.rb, x.b, 32, spotB)
		c.gather(w, quad, x.rc, x.c, 32, acc(x.c))
		x.multiply(&operands3{a: a, b: b, c: c}).scatter(w, quad, x.rd, x.d.width, 32, acc(x.d))
	}
}
