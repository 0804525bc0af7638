package isa

import "sync"

// Type is a PTX fundamental or packed type, as registers, variables and instruction modifiers name it.
type Type uint8

// The types, in the order of the manual's tables. TypeNone is the absence of one.
const (
	TypeNone Type = iota
	S8
	S16
	S32
	S64
	U8
	U16
	U32
	U64
	B8
	B16
	B32
	B64
	B128
	F16
	F16x2
	BF16
	BF16x2
	F32
	F32x2
	F64
	TF32
	E4M3
	E5M2
	E4M3x2
	E5M2x2
	E4M3x4
	E5M2x4
	E2M3
	E3M2
	E2M3x2
	E3M2x2
	E2M3x4
	E3M2x4
	E2M1
	E2M1x2
	E2M1x4
	UE8M0
	UE8M0x2
	UE4M3
	S2F6x2
	S4
	U4
	S2
	U2
	B1
	B4
	B6
	S16x2
	U16x2
	U8x4
	S8x4
	Pred
	TexRef
	SamplerRef
	SurfRef
	NumTypes
)

// Class groups types by how their bits are read.
type Class uint8

// The classes. Bits types accept any class of the same size where the manual relaxes operand checking.
const (
	ClassNone Class = iota
	ClassSigned
	ClassUnsigned
	ClassBits
	ClassFloat
	ClassPacked
	ClassPred
	ClassOpaque
)

type typeRow struct {
	name  string
	bits  uint16
	class Class
}

var types = [NumTypes]typeRow{
	TypeNone: {"", 0, ClassNone},
	S8:       {"s8", 8, ClassSigned}, S16: {"s16", 16, ClassSigned}, S32: {"s32", 32, ClassSigned}, S64: {"s64", 64, ClassSigned},
	U8: {"u8", 8, ClassUnsigned}, U16: {"u16", 16, ClassUnsigned}, U32: {"u32", 32, ClassUnsigned}, U64: {"u64", 64, ClassUnsigned},
	B8: {"b8", 8, ClassBits}, B16: {"b16", 16, ClassBits}, B32: {"b32", 32, ClassBits}, B64: {"b64", 64, ClassBits}, B128: {"b128", 128, ClassBits},
	F16: {"f16", 16, ClassFloat}, F16x2: {"f16x2", 32, ClassPacked}, BF16: {"bf16", 16, ClassFloat}, BF16x2: {"bf16x2", 32, ClassPacked},
	F32: {"f32", 32, ClassFloat}, F32x2: {"f32x2", 64, ClassPacked}, F64: {"f64", 64, ClassFloat}, TF32: {"tf32", 32, ClassFloat},
	E4M3: {"e4m3", 8, ClassFloat}, E5M2: {"e5m2", 8, ClassFloat}, E4M3x2: {"e4m3x2", 16, ClassPacked}, E5M2x2: {"e5m2x2", 16, ClassPacked},
	E4M3x4: {"e4m3x4", 32, ClassPacked}, E5M2x4: {"e5m2x4", 32, ClassPacked},
	E2M3: {"e2m3", 8, ClassFloat}, E3M2: {"e3m2", 8, ClassFloat}, E2M3x2: {"e2m3x2", 16, ClassPacked}, E3M2x2: {"e3m2x2", 16, ClassPacked},
	E2M3x4: {"e2m3x4", 32, ClassPacked}, E3M2x4: {"e3m2x4", 32, ClassPacked},
	E2M1: {"e2m1", 4, ClassFloat}, E2M1x2: {"e2m1x2", 8, ClassPacked}, E2M1x4: {"e2m1x4", 16, ClassPacked},
	UE8M0: {"ue8m0", 8, ClassFloat}, UE8M0x2: {"ue8m0x2", 16, ClassPacked}, UE4M3: {"ue4m3", 8, ClassFloat},
	S2F6x2: {"s2f6x2", 16, ClassPacked},
	S4:     {"s4", 4, ClassSigned}, U4: {"u4", 4, ClassUnsigned}, S2: {"s2", 2, ClassSigned}, U2: {"u2", 2, ClassUnsigned},
	B1: {"b1", 1, ClassBits}, B4: {"b4", 4, ClassBits}, B6: {"b6", 6, ClassBits},
	S16x2: {"s16x2", 32, ClassPacked}, U16x2: {"u16x2", 32, ClassPacked}, U8x4: {"u8x4", 32, ClassPacked}, S8x4: {"s8x4", 32, ClassPacked},
	Pred:   {"pred", 1, ClassPred},
	TexRef: {"texref", 64, ClassOpaque}, SamplerRef: {"samplerref", 64, ClassOpaque}, SurfRef: {"surfref", 64, ClassOpaque},
}

// packed are the parts of the packed types, the lowest first. s2f6x2 has none: its parts are no type of their own.
var packed = [NumTypes]struct {
	elem Type
	n    uint8
}{
	F16x2: {F16, 2}, BF16x2: {BF16, 2}, F32x2: {F32, 2},
	E4M3x2: {E4M3, 2}, E5M2x2: {E5M2, 2}, E2M3x2: {E2M3, 2}, E3M2x2: {E3M2, 2}, E2M1x2: {E2M1, 2}, UE8M0x2: {UE8M0, 2},
	E4M3x4: {E4M3, 4}, E5M2x4: {E5M2, 4}, E2M3x4: {E2M3, 4}, E3M2x4: {E3M2, 4}, E2M1x4: {E2M1, 4},
	S16x2: {S16, 2}, U16x2: {U16, 2}, S8x4: {S8, 4}, U8x4: {U8, 4},
}

// Elem is the type of the parts of a packed type and how many there are; of any other type itself, once.
func (t Type) Elem() (Type, int) {
	if p := packed[t]; p.n > 0 {
		return p.elem, int(p.n)
	}
	return t, 1
}

// OfFloats reports a floating-point type, packed or not.
func (t Type) OfFloats() bool { e, _ := t.Elem(); return e.IsFloat() }

// OfSigned reports a type of signed integers, packed or not.
func (t Type) OfSigned() bool { e, _ := t.Elem(); return e.IsSigned() }

// BitsType is the type that is so many bits and no more; TypeNone if there is none.
func BitsType(bits int) Type {
	switch bits {
	case 1:
		return Pred
	case 8:
		return B8
	case 16:
		return B16
	case 32:
		return B32
	case 64:
		return B64
	case 128:
		return B128
	}
	return TypeNone
}

// String is the type's spelling without the dot.
func (t Type) String() string { return types[t].name }

// Bits is the width of a value of the type; Bytes the size it takes in memory (a predicate takes none).
func (t Type) Bits() int { return int(types[t].bits) }

// Bytes is the type's size in memory, rounded up to whole bytes.
func (t Type) Bytes() int { return (int(types[t].bits) + 7) / 8 }

// Class tells how the type's bits are read.
func (t Type) Class() Class { return types[t].class }

// IsSigned reports a signed integer type.
func (t Type) IsSigned() bool { return types[t].class == ClassSigned }

// IsFloat reports a scalar floating-point type.
func (t Type) IsFloat() bool { return types[t].class == ClassFloat }

// IsInt reports an integer type, signed or not.
func (t Type) IsInt() bool {
	return types[t].class == ClassSigned || types[t].class == ClassUnsigned
}

// IsBits reports an untyped-bits type.
func (t Type) IsBits() bool { return types[t].class == ClassBits }

// Wide is the type of twice the width, as mul.wide's result has.
func (t Type) Wide() Type {
	switch t {
	case U8:
		return U16
	case S8:
		return S16
	case U16:
		return U32
	case S16:
		return S32
	case U32:
		return U64
	case S32:
		return S64
	}
	return TypeNone
}

// typeNames finds a type by its spelling without the dot.
var typeNames = sync.OnceValue(func() map[string]Type {
	m := make(map[string]Type, NumTypes)
	for t := TypeNone + 1; t < NumTypes; t++ {
		m[types[t].name] = t
	}
	return m
})

// TypeOf finds a type by its spelling without the dot; TypeNone if there is none.
func TypeOf(name string) Type { return typeNames()[name] }
