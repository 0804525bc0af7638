package isa

// PTX ISA, "Logic and Shift Instructions", and prmt of the data movement chapter.
func logicForms() []Form {
	return []Form{
		{Op: And, Syntax: "and.type  d, a, b", Sets: typ(predBits), PTX: v(1, 0)},
		{Op: Or, Syntax: "or.type  d, a, b", Sets: typ(predBits), PTX: v(1, 0)},
		{Op: Xor, Syntax: "xor.type  d, a, b", Sets: typ(predBits), PTX: v(1, 0)},
		{Op: Not, Syntax: "not.type  d, a", Sets: typ(predBits), PTX: v(1, 0)},
		{Op: Cnot, Syntax: "cnot.type  d, a", Sets: typ(bitsW), PTX: v(1, 0)},
		{Op: Lop3, Syntax: "lop3.b32  d, a, b, c, immLut", Types: "immLut=#u32", PTX: v(4, 3), SM: 50},
		{Op: Lop3, Syntax: "lop3.bool.b32  d|p, a, b, c, immLut, {!}q", Sets: set("bool", ".or", ".and"), Types: "immLut=#u32", PTX: v(8, 2), SM: 70},
		{Op: Shf, Syntax: "shf.dir.mode.b32  d, a, b, c", Sets: with(set("dir", ".l", ".r"), mode(".clamp", ".wrap")), Types: "c=u32", PTX: v(3, 1), SM: 32},
		{Op: Shl, Syntax: "shl.type  d, a, b", Sets: typ(bitsW), Types: "b=u32", PTX: v(1, 0)},
		{Op: Shr, Syntax: "shr.type  d, a, b", Sets: typ(intBits), Types: "b=u32", PTX: v(1, 0)},
		{Op: Prmt, Syntax: "prmt.b32{.mode}  d, a, b, c", Sets: mode(".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"), PTX: v(2, 0), SM: 20},
	}
}
