// Package x86 encodes the instructions of x86-64 that the baseline compiler writes: integer instructions with their old
// encoding, vector instructions with VEX or EVEX prefixes. It knows operands and bytes, and nothing of values or types.
package x86

import "encoding/binary"

// Reg is a register by its number: general ones 0 to 15, vector registers 0 to 31, mask registers 0 to 7.
type Reg uint8

// The general registers.
const (
	RAX Reg = iota
	RCX
	RDX
	RBX
	RSP
	RBP
	RSI
	RDI
	R8
	R9
	R10
	R11
	R12
	R13
	R14
	R15
	none Reg = 0xff
)

// Mem is an address: base + index·scale + disp, or a place among the constants behind the code.
type Mem struct {
	Base, Index Reg
	Scale       uint8 // of Index: 1, 2, 4, 8
	Vector      bool  // Index is a vector register, of a gather or scatter
	NoBase      bool
	Const       bool // Disp is an offset among the constants
	Disp        int32
}

// At is the address disp bytes behind a register.
func At(base Reg, disp int32) Mem { return Mem{Base: base, Index: none, Disp: disp} }

// Indexed is base + index·scale + disp.
func Indexed(base, index Reg, scale uint8, disp int32) Mem {
	return Mem{Base: base, Index: index, Scale: scale, Disp: disp}
}

// Constant is the address of a constant by its offset among them.
func Constant(at int32) Mem { return Mem{Const: true, Index: none, Disp: at} }

// Plus is the address n bytes on.
func (m Mem) Plus(n int32) Mem {
	m.Disp += n
	return m
}

// RM is an operand that may be a register or memory.
type RM struct {
	Mem   Mem
	Reg   Reg
	IsReg bool
}

// R is a register as such an operand.
func R(r Reg) RM { return RM{Reg: r, IsReg: true} }

// M is memory as such an operand.
func M(m Mem) RM { return RM{Mem: m} }

// Asm is code being written.
type Asm struct {
	Code   []byte
	Refuse func()  // called for an instruction of AVX-512; nil: they are welcome
	consts []fixup // references to constants
	jumps  []jump
	labels []int32 // offsets by label; -1: not placed
}

type fixup struct {
	at   int32 // of the four bytes
	end  int32 // of the instruction
	disp int32
}

type jump struct {
	at    int32
	label Label
}

// Label is a place in the code, perhaps not known yet.
type Label int32

// NewLabel makes a label without a place.
func (a *Asm) NewLabel() Label {
	a.labels = append(a.labels, -1)
	return Label(len(a.labels) - 1)
}

// Place says that the label is here.
func (a *Asm) Place(l Label) { a.labels[l] = int32(len(a.Code)) }

// Offset is where a placed label is.
func (a *Asm) Offset(l Label) int32 { return a.labels[l] }

// Finish resolves jumps, and references to constants that begin at offset consts of the whole.
func (a *Asm) Finish(consts int32) {
	for _, j := range a.jumps {
		binary.LittleEndian.PutUint32(a.Code[j.at:], uint32(a.labels[j.label]-(j.at+4)))
	}
	for _, f := range a.consts {
		binary.LittleEndian.PutUint32(a.Code[f.at:], uint32(consts+f.disp-f.end))
	}
}

func (a *Asm) byte(b ...byte) { a.Code = append(a.Code, b...) }

func (a *Asm) imm32(v int32) { a.Code = binary.LittleEndian.AppendUint32(a.Code, uint32(v)) }

// Jmp jumps.
func (a *Asm) Jmp(l Label) {
	a.byte(0xe9)
	a.target(l)
}

// Cond is a condition of the flags.
type Cond uint8

// Conditions by their encoding.
const (
	O Cond = iota
	NO
	B
	AE
	E
	NE
	BE
	A
	S
	NS
	P
	NP
	L
	GE
	LE
	G
)

// Jcc jumps on a condition.
func (a *Asm) Jcc(c Cond, l Label) {
	a.byte(0x0f, 0x80|byte(c))
	a.target(l)
}

// CallLabel calls a function of this code.
func (a *Asm) CallLabel(l Label) {
	a.byte(0xe8)
	a.target(l)
}

func (a *Asm) target(l Label) {
	a.jumps = append(a.jumps, jump{int32(len(a.Code)), l})
	a.imm32(0)
}

// modrm writes the ModRM byte, SIB and displacement. n is what an 8-bit displacement counts in; tail is how many bytes of
// the instruction follow.
func (a *Asm) modrm(reg byte, rm RM, n int32, tail int32) {
	reg = reg & 7 << 3
	if rm.IsReg {
		a.byte(0xc0 | reg | byte(rm.Reg&7))
		return
	}
	m := rm.Mem
	if m.Const {
		a.byte(0x05 | reg)
		at := int32(len(a.Code))
		a.consts = append(a.consts, fixup{at, at + 4 + tail, m.Disp})
		a.imm32(0)
		return
	}
	if m.NoBase {
		a.byte(0x04|reg, scaleBits(m.Scale)|byte(m.Index&7)<<3|5)
		a.imm32(m.Disp)
		return
	}
	mod := byte(0x80)
	switch {
	case m.Disp == 0 && m.Base&7 != RBP:
		mod = 0
	case m.Disp%n == 0 && m.Disp/n >= -128 && m.Disp/n <= 127:
		mod = 0x40
	}
	if m.Index != none || m.Base&7 == RSP {
		index := byte(4)
		if m.Index != none {
			index = byte(m.Index & 7)
		}
		a.byte(mod|reg|4, scaleBits(m.Scale)|index<<3|byte(m.Base&7))
	} else {
		a.byte(mod | reg | byte(m.Base&7))
	}
	switch mod {
	case 0x40:
		a.byte(byte(m.Disp / n))
	case 0x80:
		a.imm32(m.Disp)
	}
}

func scaleBits(s uint8) byte {
	switch s {
	case 2:
		return 0x40
	case 4:
		return 0x80
	case 8:
		return 0xc0
	}
	return 0
}

// high are the upper bits of the operand's registers, as REX and VEX want them.
func (rm RM) high() (x, b byte) {
	switch {
	case rm.IsReg:
		return 0, byte(rm.Reg>>3) & 1
	case rm.Mem.Const:
		return 0, 0
	}
	if rm.Mem.Index != none {
		x = byte(rm.Mem.Index>>3) & 1
	}
	if !rm.Mem.NoBase {
		b = byte(rm.Mem.Base>>3) & 1
	}
	return x, b
}
