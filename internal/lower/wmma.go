package lower

import (
	"kudzu/internal/ir"
)

// wmma. PTX leaves open which lane holds which element of a fragment, so we hold them as mma.sync wants them: wmma.load and
// wmma.store become plain accesses with that layout, and wmma.mma becomes one or two mma. Where the left matrix has
// 8 rows the product is computed transposed, because mma's tile is 16 rows by 8 columns.

// wmmaShape says how a wmma shape is made of mma tiles. A and B are lists of registers, each at (outer, k): outer is the row
// of A or the column of B. D is a list of registers at (row, col) of the mma tile.
type wmmaShape struct {
	tile       [3]int   // of the mma
	transposed bool     // the tile's rows are the product's columns
	a, b       [][2]int // in the order mma takes them
	tiles      int      // mma per wmma.mma
	pack       int      // elements of A and B in a register
}

// operandRegs lists the (outer, k) of the registers of a big (16 outer) or small (8 outer) operand tile, for tiles in a row.
func operandRegs(big bool, tiles, k, pack int) [][2]int {
	var regs [][2]int
	step := 4 * pack // k covered by the four lanes of a group
	for t := range tiles {
		for k0 := 0; k0 < k; k0 += step {
			if big {
				regs = append(regs, [2]int{16 * t, k0}, [2]int{16*t + 8, k0})
			} else {
				regs = append(regs, [2]int{8 * t, k0})
			}
		}
	}
	return regs
}

// packOf is how many elements one 32-bit operand register holds.
var packOf = map[string]int{"f16": 2, "bf16": 2, "s8": 4, "u8": 4, "tf32": 1, "f64": 1, "s4": 8, "u4": 8, "b1": 32}

func wmmaOf(m, n, k int, elem string) (*wmmaShape, bool) {
	p := packOf[elem]
	s := &wmmaShape{pack: p, tiles: 1}
	switch {
	case p == 0:
		return nil, false
	case m == 8 && n == 8: // f64, s4, b1: mma has the same shape
		s.tile = [3]int{8, 8, k}
		s.a, s.b = operandRegs(false, 1, k, p), operandRegs(false, 1, k, p)
	case m == 16 && n == 16:
		s.tile, s.tiles = [3]int{16, 8, k}, 2
		s.a, s.b = operandRegs(true, 1, k, p), operandRegs(false, 2, k, p)
	case m == 32 && n == 8:
		s.tile, s.tiles = [3]int{16, 8, k}, 2
		s.a, s.b = operandRegs(true, 2, k, p), operandRegs(false, 1, k, p)
	case m == 8 && n == 32:
		s.tile, s.tiles, s.transposed = [3]int{16, 8, k}, 2, true
		s.a, s.b = operandRegs(false, 1, k, p), operandRegs(true, 2, k, p)
	default:
		return nil, false
	}
	return s, true
}

// accumRegs lists the (row, col) of the accumulator's registers in tile coordinates, tile after tile. f16 pairs are one register.
func (s *wmmaShape) accumRegs(m, n int, elem string) (regs [][2]int, perReg int) {
	perReg = 1
	if elem == "f16" {
		perReg = 2
	}
	rows, cols := m, n
	if s.transposed {
		rows, cols = n, m
	}
	for r0 := 0; r0 < rows; r0 += s.tile[0] {
		for c0 := 0; c0 < cols; c0 += s.tile[1] {
			for r := 0; r < s.tile[0]; r += 8 {
				for e := 0; e < 2; e += perReg {
					regs = append(regs, [2]int{r0 + r, c0 + e})
				}
			}
		}
	}
	return regs, perReg
}

// wmmaAccess is one wmma.load or wmma.store being lowered.
type wmmaAccess struct {
	x          *inst
	base, ld   *ir.Value // address, leading dimension in elements as i64
	group, tig *ir.Value // lane/4, lane%4 as i64
	rowMajor   bool
	elem       string
	attr       ir.Attr
}

func (x *inst) wmmaAccess(m, n, k int, operand string) *wmmaAccess {
	sp := x.space(x.spaceWord())
	w := &wmmaAccess{x: x, rowMajor: x.word("layout", "row") == "row", elem: x.word("type", "f16"), attr: ir.Attr{Space: sp}}
	w.base = x.address(&x.Args[x.index("p")], sp)
	if x.has("stride") {
		w.ld = x.resize(x.arg("stride"), 64, false)
	} else {
		rows, cols := m, n
		switch operand {
		case "a":
			cols = k
		case "b":
			rows = k
		}
		if w.rowMajor {
			rows = cols
		}
		w.ld = i64(int64(rows))
	}
	lane := x.b.Emit(ir.SReg, ir.I32, ir.Attr{Sreg: ir.LaneID})
	w.group = x.resize(x.op(ir.ShrU, lane, i32(2)), 64, false)
	w.tig = x.resize(x.op(ir.And, lane, i32(3)), 64, false)
	return w
}

// at is the address of element (row, col).
func (w *wmmaAccess) at(row, col *ir.Value) *ir.Value {
	x := w.x
	if !w.rowMajor {
		row, col = col, row
	}
	idx := x.op(ir.Add, x.op(ir.Mul, row, w.ld), col)
	bits := map[string]int64{"b1": 1, "s4": 4, "u4": 4, "s8": 8, "u8": 8, "f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "s32": 32, "f64": 64}[w.elem]
	if bits >= 8 {
		return x.op(ir.Add, w.base, x.op(ir.Mul, idx, i64(bits/8)))
	}
	return x.op(ir.Add, w.base, x.op(ir.ShrU, x.op(ir.Mul, idx, i64(bits)), i32(3)))
}

func (w *wmmaAccess) plus(v *ir.Value, n int) *ir.Value {
	if n == 0 {
		return v
	}
	return w.x.op(ir.Add, v, i64(int64(n)))
}

// load reads elements that follow each other along col (or row) into one register of type t.
func (w *wmmaAccess) load(row, col *ir.Value, n int, alongRow bool, t ir.Type) *ir.Value {
	x := w.x
	part := t.Bits() / n
	if n == 1 || alongRow == w.rowMajor {
		attr := w.attr
		attr.Align = uint8(t.Bits() / 8)
		return x.b.Emit(ir.Load, t, attr, w.at(row, col))
	}
	var parts []*ir.Value
	attr := w.attr
	attr.Align = uint8(part / 8)
	for i := range n {
		r, c := row, col
		if alongRow {
			c = w.plus(col, i)
		} else {
			r = w.plus(row, i)
		}
		parts = append(parts, x.b.Emit(ir.Load, intOf(part), attr, w.at(r, c)))
	}
	return x.b.Emit(ir.Pack, t, ir.Attr{}, parts...)
}

func lowerWmmaLoad(x *inst) {
	m, n, k := shapeOf(x.Mod("shape"))
	operand, elem := x.word("operand", "a"), x.word("type", "f16")
	key := elem
	if operand == "c" {
		key = accumOperand(m, n, k, elem)
	}
	s, ok := wmmaOf(m, n, k, key)
	if !ok {
		x.fail("%s", x.spelling())
	}
	w := x.wmmaAccess(m, n, k, operand)
	var vs []*ir.Value
	t := fragType(elem)
	if operand == "c" {
		vs = w.loadAccum(s, m, n, elem)
	} else {
		regs := s.a
		if operand == "b" {
			regs = s.b
		}
		for _, r := range regs {
			outer := w.plus(w.group, r[0])
			inner := w.plus(x.op(ir.Mul, w.tig, i64(int64(s.pack))), r[1])
			if operand == "a" {
				vs = append(vs, w.load(outer, inner, s.pack, true, irTypes[t]))
			} else {
				vs = append(vs, w.load(inner, outer, s.pack, false, irTypes[t]))
			}
		}
	}
	// The f16 fragments of PTX have twice the registers that one copy of the matrix needs.
	for len(vs) < len(x.Args[0].Elems) {
		vs = append(vs, ir.ConstInt(irTypes[t], 0))
	}
	x.setElems(0, t, vs)
}

// accumOperand is an operand element type whose wmma shape has the accumulator in question.
func accumOperand(m, n, k int, elem string) string {
	switch {
	case elem == "f64":
		return "f64"
	case k == 8:
		return "tf32"
	case elem == "s32" && k == 16:
		return "s8"
	case elem == "s32" && k == 32:
		return "s4"
	case elem == "s32":
		return "b1"
	}
	return "f16"
}

// coords are the row and column of accumulator register r in the product.
func (w *wmmaAccess) coords(s *wmmaShape, r [2]int) (row, col *ir.Value) {
	row = w.plus(w.group, r[0])
	col = w.plus(w.x.op(ir.Shl, w.tig, i32(1)), r[1])
	if s.transposed {
		row, col = col, row
	}
	return row, col
}

func (w *wmmaAccess) loadAccum(s *wmmaShape, m, n int, elem string) []*ir.Value {
	var vs []*ir.Value
	regs, per := s.accumRegs(m, n, elem)
	t := irTypes[fragType(elem)]
	for _, r := range regs {
		row, col := w.coords(s, r)
		vs = append(vs, w.load(row, col, per, !s.transposed, t))
	}
	return vs
}

func lowerWmmaStore(x *inst) {
	m, n, k := shapeOf(x.Mod("shape"))
	elem := x.word("type", "f32")
	s, ok := wmmaOf(m, n, k, accumOperand(m, n, k, elem))
	if !ok {
		x.fail("%s", x.spelling())
	}
	w := x.wmmaAccess(m, n, k, "d")
	vs := x.elems("r", fragType(elem))
	regs, per := s.accumRegs(m, n, elem)
	for i, r := range regs {
		row, col := w.coords(s, r)
		w.store(row, col, vs[i], per, !s.transposed)
	}
}

func (w *wmmaAccess) store(row, col, v *ir.Value, n int, alongRow bool) {
	x := w.x
	attr := w.attr
	if n == 1 || alongRow == w.rowMajor {
		attr.Align = uint8(v.Type.Bits() / 8)
		x.b.EmitN(ir.Store, nil, attr, w.at(row, col), v)
		return
	}
	attr.Align = 2
	u := x.b.EmitN(ir.Unpack, []ir.Type{ir.I16, ir.I16}, ir.Attr{}, v)
	for i, p := range u.Results {
		r, c := row, col
		if alongRow {
			c = w.plus(col, i)
		} else {
			r = w.plus(row, i)
		}
		x.b.EmitN(ir.Store, nil, attr, w.at(r, c), p)
	}
}

func lowerWmmaMma(x *inst) {
	m := x.matrix()
	s, ok := wmmaOf(m.M, m.N, m.K, m.A)
	if !ok {
		x.fail("%s", x.spelling())
	}
	a, b, c := x.elems("a", fragType(m.A))[:len(s.a)], x.elems("b", fragType(m.B))[:len(s.b)], x.elems("c", fragType(m.C))
	tm := *m
	tm.M, tm.N, tm.K = s.tile[0], s.tile[1], s.tile[2]
	tm.ALayout, tm.BLayout = "row", "col"
	if s.transposed {
		a, b = b, a
		tm.A, tm.B = m.B, m.A
	}
	t := fragType(m.D)
	dn, cn := len(x.Args[0].Elems)/s.tiles, len(c)/s.tiles
	if len(x.Args[0].Elems)%s.tiles != 0 || len(c)%s.tiles != 0 {
		x.fail("%s with these fragments", x.spelling())
	}
	var ds []*ir.Value
	for i := range s.tiles {
		// One of the operands has a part for each tile, the other serves all.
		ta, tb := part(a, i, s.tiles, !(m.M == 16 && m.N == 16)), part(b, i, s.tiles, m.M == 16 && m.N == 16)
		args := append(append(append([]*ir.Value(nil), ta...), tb...), c[i*cn:(i+1)*cn]...)
		ds = append(ds, x.mma(ir.Attr{Mat: &tm, Rnd: roundings[x.Mod("rnd")]}, irTypes[t], dn, args)...)
	}
	x.setElems(0, t, ds)
}

func part(vs []*ir.Value, i, n int, cut bool) []*ir.Value {
	if !cut || n == 1 {
		return vs
	}
	k := len(vs) / n
	return vs[i*k : (i+1)*k]
}
