package x86

// tuple is what an 8-bit displacement of an EVEX instruction counts in.
type tuple uint8

const (
	full tuple = iota // the vector, or an element that is broadcast
	half              // parts of the vector, of instructions that widen or narrow
	quarter
	eighth
	one1 // one element of so many bytes
	one2
	one4
	one8
)

// Op is a vector instruction: prefix (0 none, 1 66, 2 F3, 3 F2), opcode map (1 0F, 2 0F38, 3 0F3A), opcode.
type Op struct {
	prefix, page, code byte
	w                  byte // EVEX.W
	tuple              tuple
	vexW               bool // VEX.W is w too; others ignore it
	old                bool // there is no EVEX form
	evex               bool // there is no VEX form
	masks              bool // a VEX form of AVX-512's: moves of mask registers
	reg                byte // operations with an opcode extension: ModRM.reg, plus 1
}

// Width is a vector's length: 0 for 16 bytes, 1 for 32, 2 for 64.
type Width uint8

// Bytes is the length in bytes.
func (l Width) Bytes() int { return 16 << l }

// Vec is the operands of a vector instruction beside its registers.
type Vec struct {
	Op   Op
	L    Width
	Dst  Reg
	Src  Reg // the first source; 0 if the instruction has one source
	RM   RM
	Mask Reg  // lanes that act, by mask register; 0: all
	Zero bool // others are 0
	// Broadcast: the memory operand is one element. Round: with registers only, the embedded rounding mode plus 1.
	Broadcast bool
	Round     uint8
	Imm       int // -1: none
}

// V writes dst = op(src, rm).
func (a *Asm) V(op Op, l Width, dst, src Reg, rm RM) {
	a.Vector(Vec{Op: op, L: l, Dst: dst, Src: src, RM: rm, Imm: -1})
}

// VI writes an instruction with an immediate.
func (a *Asm) VI(op Op, l Width, dst, src Reg, rm RM, imm int) {
	a.Vector(Vec{Op: op, L: l, Dst: dst, Src: src, RM: rm, Imm: imm})
}

// VK writes an instruction for the lanes of a mask; the others keep what they have.
func (a *Asm) VK(op Op, l Width, dst, src Reg, rm RM, k Reg) {
	a.Vector(Vec{Op: op, L: l, Dst: dst, Src: src, RM: rm, Mask: k, Imm: -1})
}

// Vector writes an instruction: with a VEX prefix where it has one and nothing needs more, else with EVEX.
func (a *Asm) Vector(v Vec) {
	if v.Op.reg != 0 { // the destination is the register that has no place in ModRM
		v.Dst, v.Src = Reg(v.Op.reg-1), v.Dst
	}
	var tail int32
	if v.Imm >= 0 {
		tail = 1
	}
	if a.Refuse != nil && (v.needsEVEX() || v.Op.masks) {
		a.Refuse()
	}
	if v.needsEVEX() {
		a.evex(v, tail)
	} else {
		a.vex(v, tail)
	}
	if v.Imm >= 0 {
		a.byte(byte(v.Imm))
	}
}

func (v *Vec) needsEVEX() bool {
	if v.Op.old {
		return false
	}
	return v.L == 2 || v.Op.evex || v.Mask != 0 || v.Broadcast || v.Round != 0 || v.Dst >= 16 || v.Src >= 16 || v.RM.IsReg && v.RM.Reg >= 16 ||
		!v.RM.IsReg && v.RM.Mem.Vector
}

func (a *Asm) vex(v Vec, tail int32) {
	x, b := v.RM.high()
	r := byte(v.Dst>>3) & 1
	w := byte(0)
	if v.Op.vexW {
		w = v.Op.w
	}
	a.byte(0xc4, (r^1)<<7|(x^1)<<6|(b^1)<<5|v.Op.page, w<<7|(byte(v.Src)&15^15)<<3|byte(v.L&1)<<2|v.Op.prefix, v.Op.code)
	a.modrm(byte(v.Dst), v.RM, 1, tail)
}

func (a *Asm) evex(v Vec, tail int32) {
	x, b := v.RM.high()
	r, r2 := byte(v.Dst>>3)&1, byte(v.Dst>>4)&1
	v2 := byte(v.Src>>4) & 1
	if v.RM.IsReg {
		x = byte(v.RM.Reg>>4) & 1
	} else if v.RM.Mem.Vector {
		v2 = byte(v.RM.Mem.Index>>4) & 1
	}
	p2 := byte(v.L)<<5 | (v2^1)<<3 | byte(v.Mask)
	switch {
	case v.Round != 0:
		p2 = p2&^0x60 | (v.Round-1)&3<<5 | 0x10
	case v.Broadcast:
		p2 |= 0x10
	}
	if v.Zero {
		p2 |= 0x80
	}
	a.byte(0x62, (r^1)<<7|(x^1)<<6|(b^1)<<5|(r2^1)<<4|v.Op.page, v.Op.w<<7|(byte(v.Src)&15^15)<<3|4|v.Op.prefix, p2, v.Op.code)
	a.modrm(byte(v.Dst), v.RM, v.unit(), tail)
}

// unit is what an 8-bit displacement counts in.
func (v *Vec) unit() int32 {
	n := int32(v.L.Bytes())
	switch v.Op.tuple {
	case half:
		return n / 2
	case quarter:
		return n / 4
	case eighth:
		return n / 8
	case one1, one2, one4, one8:
		return 1 << (v.Op.tuple - one1)
	}
	if v.Broadcast {
		return 4 << v.Op.w
	}
	return n
}

// NeedsEVEX reports an instruction without a VEX form.
func (op Op) NeedsEVEX() bool { return op.evex }

// Masked is a comparison that writes a mask register.
func (op Op) Masked() Op {
	op.evex = true
	return op
}
