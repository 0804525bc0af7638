package lower

import (
	"kudzu/internal/ir"
	"kudzu/internal/ptx/isa"
)

// ldmatrix of bytes, or of 6- and 4-bit elements that become bytes: rows of 16, whose addresses are in the lanes that the rows have
// numbers of. A register holds four elements of row lane/4, matrices of 16 rows taking two.

// elementBits are the bits of an element in memory.
func (x *inst) elementBits() int64 {
	switch x.word("src_fmt", "") {
	case "b6x16_p32":
		return 6
	case "b4x16_p64":
		return 4
	}
	return 8
}

func (x *inst) loadBytes() {
	rows, _, _ := shapeOf(x.Mod("shape"))
	n := map[string]int{"x1": 1, "x2": 2, "x4": 4}[x.word("num", "x1")]
	if n*rows/8 != max(len(x.Args[0].Elems), 1) {
		x.fail("%s into %d registers", x.spelling(), max(len(x.Args[0].Elems), 1))
	}
	ls, addr := x.lanes(), x.resize(x.inShared(&x.Args[x.index("p")]), 32, false)
	var vs []*ir.Value
	for i := range n {
		first := i32(int64(rows * i))
		if x.Mod("trans") == 0 {
			row := x.from(addr, x.op(ir.Add, ls.group, first), 0)
			vs = append(vs, x.rowBytes(row, ls.t))
			continue
		}
		for k := range rows / 8 {
			vs = append(vs, x.columnBytes(ls, addr, first, k))
		}
	}
	x.setElems(0, isa.B32, vs)
}

// sharedByte loads a byte and widens it.
func (x *inst) sharedByte(at *ir.Value) *ir.Value {
	v := x.b.Emit(ir.Load, ir.I8, ir.Attr{Space: ir.Shared, Align: 1}, x.resize(at, 64, false))
	return x.resize(v, 32, false)
}

// rowBytes are elements 4t to 4t+3 of a row.
func (x *inst) rowBytes(row, t *ir.Value) *ir.Value {
	width := x.elementBits()
	at := x.op(ir.Add, row, x.op(ir.Mul, t, i32(width/2)))
	var bits *ir.Value
	for i := range width / 2 { // whole bytes: four elements are
		b := x.sharedByte(x.op(ir.Add, at, i32(i)))
		if i > 0 {
			b = x.op(ir.Or, bits, x.op(ir.Shl, b, i32(8*i)))
		}
		bits = b
	}
	return x.spread(bits, width)
}

// spread puts four elements of so many bits into bytes.
func (x *inst) spread(bits *ir.Value, width int64) *ir.Value {
	if width == 8 {
		return bits
	}
	var r *ir.Value
	for j := range int64(4) {
		b := x.op(ir.And, x.op(ir.ShrU, bits, i32(width*j)), i32(1<<width-1))
		if j > 0 {
			b = x.op(ir.Or, r, x.op(ir.Shl, b, i32(8*j)))
		}
		r = b
	}
	return r
}

// columnBytes are, of a matrix of 16 rows, elements 4t to 4t+3 of column group+8k.
func (x *inst) columnBytes(ls lanes, addr, first *ir.Value, k int) *ir.Value {
	width := x.elementBits()
	bit := x.op(ir.Mul, x.op(ir.Add, ls.group, i32(int64(8*k))), i32(width))
	at, shift := x.op(ir.ShrU, bit, i32(3)), x.op(ir.And, bit, i32(7))
	var r *ir.Value
	for j := range int64(4) {
		lane := x.op(ir.Add, x.op(ir.Add, x.op(ir.Shl, ls.t, i32(2)), i32(j)), first)
		row := x.op(ir.Add, x.from(addr, lane, 0), at)
		b := x.sharedByte(row)
		if width == 6 { // may lie across two
			b = x.op(ir.Or, b, x.op(ir.Shl, x.sharedByte(x.op(ir.Add, row, i32(1))), i32(8)))
		}
		if width < 8 {
			b = x.op(ir.And, x.op(ir.ShrU, b, shift), i32(1<<width-1))
		}
		if j > 0 {
			b = x.op(ir.Or, r, x.op(ir.Shl, b, i32(8*j)))
		}
		r = b
	}
	return r
}
