package x86

import "encoding/binary"

// ALU is an operation of two integers by its number in the encoding.
type ALU uint8

// The operations.
const (
	ADD ALU = iota
	OR
	ADC
	SBB
	AND
	SUB
	XOR
	CMP
)

// legacy writes an instruction with the old encoding: prefixes, REX, opcode bytes, operands. size is 1, 2, 4 or 8.
func (a *Asm) legacy(size int, pre []byte, op []byte, reg Reg, rm RM, tail int32) {
	if size == 2 {
		a.byte(0x66)
	}
	a.byte(pre...)
	x, b := rm.high()
	rex := byte(reg>>3)&1<<2 | x<<1 | b
	if size == 8 {
		rex |= 8
	}
	if size == 1 && (isLowByte(reg) && !extension(op) || rm.IsReg && isLowByte(rm.Reg)) {
		rex |= 0x40
	}
	if rex != 0 {
		a.byte(0x40 | rex)
	}
	a.byte(op...)
	a.modrm(byte(reg), rm, 1, tail)
}

// isLowByte reports sil and its like, which without a REX prefix would be ah and its like.
func isLowByte(r Reg) bool { return r >= RSP && r < R8 }

// extension reports an opcode of bytes whose register field is part of the operation.
func extension(op []byte) bool {
	switch op[0] {
	case 0x80, 0xc0, 0xc6, 0xd2, 0xf6:
		return true
	}
	return op[0] == 0x0f && op[1]&0xf0 == 0x90
}

// sized is op for whole registers, or the one before it for bytes.
func sized(op byte, size int) byte {
	if size == 1 {
		return op - 1
	}
	return op
}

// Alu is r op= src.
func (a *Asm) Alu(op ALU, size int, r Reg, src RM) {
	a.legacy(size, nil, []byte{sized(byte(op)<<3|3, size)}, r, src, 0)
}

// AluStore is memory op= r.
func (a *Asm) AluStore(op ALU, size int, m Mem, r Reg) {
	a.legacy(size, nil, []byte{sized(byte(op)<<3|1, size)}, r, M(m), 0)
}

// AluImm is dst op= v.
func (a *Asm) AluImm(op ALU, size int, dst RM, v int32) {
	switch {
	case size == 1:
		a.legacy(1, nil, []byte{0x80}, Reg(op), dst, 1)
		a.byte(byte(v))
	case v >= -128 && v <= 127:
		a.legacy(size, nil, []byte{0x83}, Reg(op), dst, 1)
		a.byte(byte(v))
	case size == 2:
		a.legacy(size, nil, []byte{0x81}, Reg(op), dst, 2)
		a.byte(byte(v), byte(v>>8))
	default:
		a.legacy(size, nil, []byte{0x81}, Reg(op), dst, 4)
		a.imm32(v)
	}
}

// Load is r = memory of size bytes, with zeros above.
func (a *Asm) Load(size int, r Reg, m Mem) {
	switch size {
	case 1:
		a.legacy(4, nil, []byte{0x0f, 0xb6}, r, M(m), 0)
	case 2:
		a.legacy(4, nil, []byte{0x0f, 0xb7}, r, M(m), 0)
	default:
		a.legacy(size, nil, []byte{0x8b}, r, M(m), 0)
	}
}

// LoadSigned is r = memory of size bytes, with its sign above, 64 bits.
func (a *Asm) LoadSigned(size int, r Reg, m Mem) { a.SignExtend(size, r, M(m)) }

// SignExtend is r = the low bytes of src with their sign above, 64 bits.
func (a *Asm) SignExtend(size int, r Reg, src RM) {
	switch size {
	case 1:
		a.legacy(8, nil, []byte{0x0f, 0xbe}, r, src, 0)
	case 2:
		a.legacy(8, nil, []byte{0x0f, 0xbf}, r, src, 0)
	case 4:
		a.legacy(8, nil, []byte{0x63}, r, src, 0)
	default:
		a.legacy(8, nil, []byte{0x8b}, r, src, 0)
	}
}

// ZeroExtend is r = the low bytes of src with zeros above.
func (a *Asm) ZeroExtend(size int, r Reg, src RM) {
	switch size {
	case 1: // with REX.W, for sil and its like
		a.legacy(8, nil, []byte{0x0f, 0xb6}, r, src, 0)
	case 2:
		a.legacy(4, nil, []byte{0x0f, 0xb7}, r, src, 0)
	default:
		a.legacy(size, nil, []byte{0x8b}, r, src, 0)
	}
}

// Store is memory = the low bytes of r.
func (a *Asm) Store(size int, m Mem, r Reg) {
	a.legacy(size, nil, []byte{sized(0x89, size)}, r, M(m), 0)
}

// StoreImm is memory = v, extended by its sign.
func (a *Asm) StoreImm(size int, m Mem, v int32) {
	tail := int32(min(size, 4))
	a.legacy(size, nil, []byte{sized(0xc7, size)}, 0, M(m), tail)
	a.Code = append(a.Code, binary.LittleEndian.AppendUint32(nil, uint32(v))[:tail]...)
}

// Mov copies a register.
func (a *Asm) Mov(size int, to, from Reg) { a.legacy(size, nil, []byte{0x8b}, to, R(from), 0) }

// MovImm is r = v.
func (a *Asm) MovImm(r Reg, v uint64) {
	switch {
	case v == 0:
		a.Alu(XOR, 4, r, R(r))
	case v <= 0xffffffff:
		if r >= R8 {
			a.byte(0x41)
		}
		a.byte(0xb8 | byte(r&7))
		a.imm32(int32(v))
	case v >= 0xffffffff80000000:
		a.legacy(8, nil, []byte{0xc7}, 0, R(r), 4)
		a.imm32(int32(v))
	default:
		a.byte(0x48|byte(r>>3), 0xb8|byte(r&7))
		a.Code = binary.LittleEndian.AppendUint64(a.Code, v)
	}
}

// Lea is r = the address.
func (a *Asm) Lea(r Reg, m Mem) { a.legacy(8, nil, []byte{0x8d}, r, M(m), 0) }

// Lea4 is the low half of an address, with zeros above.
func (a *Asm) Lea4(r Reg, m Mem) { a.legacy(4, nil, []byte{0x8d}, r, M(m), 0) }

// Imul is r *= src, the low half.
func (a *Asm) Imul(size int, r Reg, src RM) { a.legacy(size, nil, []byte{0x0f, 0xaf}, r, src, 0) }

// One is an operation of one operand with rax and rdx: by its number in the encoding.
type One uint8

// The operations: not and neg change src, the others rdx:rax.
const (
	NOT  One = 2
	NEG  One = 3
	MUL  One = 4
	IMUL One = 5
	DIV  One = 6
	IDIV One = 7
)

// Unary applies an operation of one operand.
func (a *Asm) Unary(op One, size int, src RM) {
	a.legacy(size, nil, []byte{sized(0xf7, size)}, Reg(op), src, 0)
}

// Cqo extends rax's sign into rdx.
func (a *Asm) Cqo(size int) {
	if size == 8 {
		a.byte(0x48)
	}
	a.byte(0x99)
}

// Shift is an operation by its number in the encoding.
type Shift uint8

// The shifts.
const (
	SHL Shift = 4
	SHR Shift = 5
	SAR Shift = 7
)

// ShiftCL shifts by cl.
func (a *Asm) ShiftCL(op Shift, size int, dst RM) {
	a.legacy(size, nil, []byte{sized(0xd3, size)}, Reg(op), dst, 0)
}

// ShiftImm shifts by n.
func (a *Asm) ShiftImm(op Shift, size int, dst RM, n uint8) {
	a.legacy(size, nil, []byte{sized(0xc1, size)}, Reg(op), dst, 1)
	a.byte(n)
}

// DoubleShiftCL shifts dst left (or right) by cl, bits of src coming in.
func (a *Asm) DoubleShiftCL(right bool, size int, dst, src Reg) {
	op := byte(0xa5)
	if right {
		op = 0xad
	}
	a.legacy(size, nil, []byte{0x0f, op}, src, R(dst), 0)
}

// Test sets the flags of dst & r.
func (a *Asm) Test(size int, r Reg, dst RM) {
	a.legacy(size, nil, []byte{sized(0x85, size)}, r, dst, 0)
}

// Setcc is r = the condition, 0 or 1, a byte.
func (a *Asm) Setcc(c Cond, dst RM) { a.legacy(1, nil, []byte{0x0f, 0x90 | byte(c)}, 0, dst, 0) }

// Cmov is r = src on a condition.
func (a *Asm) Cmov(c Cond, size int, r Reg, src RM) {
	a.legacy(size, nil, []byte{0x0f, 0x40 | byte(c)}, r, src, 0)
}

// Popcnt, Lzcnt and Tzcnt count bits.
func (a *Asm) Popcnt(size int, r Reg, src RM) {
	a.legacy(size, []byte{0xf3}, []byte{0x0f, 0xb8}, r, src, 0)
}

// Tzcnt counts the zeros below the lowest bit; of 0 it is the width.
func (a *Asm) Tzcnt(size int, r Reg, src RM) {
	a.legacy(size, []byte{0xf3}, []byte{0x0f, 0xbc}, r, src, 0)
}

// Lzcnt counts the zeros above the highest bit; of 0 it is the width.
func (a *Asm) Lzcnt(size int, r Reg, src RM) {
	a.legacy(size, []byte{0xf3}, []byte{0x0f, 0xbd}, r, src, 0)
}

// Bswap turns the bytes over.
func (a *Asm) Bswap(size int, r Reg) {
	rex := byte(r >> 3)
	if size == 8 {
		rex |= 8
	}
	if rex != 0 {
		a.byte(0x40 | rex)
	}
	a.byte(0x0f, 0xc8|byte(r&7))
}

// BitTest sets the carry to bit n of src.
func (a *Asm) BitTest(size int, src RM, n uint8) {
	a.legacy(size, nil, []byte{0x0f, 0xba}, 4, src, 1)
	a.byte(n)
}

// BitTestReg sets the carry to the bit of src that r names.
func (a *Asm) BitTestReg(size int, src Reg, r Reg) {
	a.legacy(size, nil, []byte{0x0f, 0xa3}, r, R(src), 0)
}

// LockXadd is old = memory; memory += r; r = old.
func (a *Asm) LockXadd(size int, m Mem, r Reg) {
	op := []byte{0x0f, sized(0xc1, size)}
	a.byte(0xf0)
	a.legacy(size, nil, op, r, M(m), 0)
}

// Xchg exchanges memory and r, as one step.
func (a *Asm) Xchg(size int, m Mem, r Reg) {
	a.legacy(size, nil, []byte{sized(0x87, size)}, r, M(m), 0)
}

// LockCmpxchg stores r if memory is rax; rax = what memory was, the zero flag says whether.
func (a *Asm) LockCmpxchg(size int, m Mem, r Reg) {
	a.byte(0xf0)
	a.legacy(size, nil, []byte{0x0f, sized(0xb1, size)}, r, M(m), 0)
}

// LockCmpxchg16 compares 16 bytes with rdx:rax and stores rcx:rbx.
func (a *Asm) LockCmpxchg16(m Mem) {
	a.byte(0xf0)
	a.legacy(8, nil, []byte{0x0f, 0xc7}, 1, M(m), 0)
}

// Mfence orders all memory accesses.
func (a *Asm) Mfence() { a.byte(0x0f, 0xae, 0xf0) }

// Pause is a hint in a loop that waits.
func (a *Asm) Pause() { a.byte(0xf3, 0x90) }

// Trap is an instruction that is none.
func (a *Asm) Trap() { a.byte(0x0f, 0x0b) }

// Push and Pop move 64-bit registers to and from the stack.
func (a *Asm) Push(r Reg) {
	if r >= R8 {
		a.byte(0x41)
	}
	a.byte(0x50 | byte(r&7))
}

// Pop takes a register from the stack.
func (a *Asm) Pop(r Reg) {
	if r >= R8 {
		a.byte(0x41)
	}
	a.byte(0x58 | byte(r&7))
}

// CallReg calls the function at an address.
func (a *Asm) CallReg(r Reg) {
	if r >= R8 {
		a.byte(0x41)
	}
	a.byte(0xff, 0xd0|byte(r&7))
}

// Ret returns.
func (a *Asm) Ret() { a.byte(0xc3) }

// Ldmxcsr and Stmxcsr move the floating-point mode.
func (a *Asm) Ldmxcsr(m Mem) { a.legacy(4, nil, []byte{0x0f, 0xae}, 2, M(m), 0) }

// Prefetch is a hint to bring a line into all caches.
func (a *Asm) Prefetch(m Mem) { a.legacy(4, nil, []byte{0x0f, 0x18}, 1, M(m), 0) }
