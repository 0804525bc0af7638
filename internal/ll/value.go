package ll

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Val is an operand: its type and its text.
type Val struct {
	T Type
	S string
}

// String is the operand with its type, as most instructions want it.
func (v Val) String() string { return string(v.T) + " " + v.S }

// IsZero reports the zero Val, which is no operand.
func (v Val) IsZero() bool { return v.T == "" }

// IsConst reports a constant, or the address of something global: a text that needs no instruction.
func (v Val) IsConst() bool { return !strings.HasPrefix(v.S, "%") }

// Int is the integer constant n in the type of v, cut to its width.
func (v Val) Int(n int64) Val {
	lanes, e := v.T.Split()
	return Splat(lanes, Int(e, Wrap(n, e.ElemBits())))
}

// Float is the float constant with these bits in the type of v.
func (v Val) Float(bits uint64) Val {
	lanes, e := v.T.Split()
	return Splat(lanes, Float(e, bits))
}

// Int is an integer constant of type t.
func Int(t Type, n int64) Val {
	if t == "i1" {
		if n != 0 {
			return Val{t, "true"}
		}
		return Val{t, "false"}
	}
	return Val{t, strconv.FormatInt(n, 10)}
}

// Wrap cuts a number to so many bits, as LLVM's text wants it.
func Wrap(n int64, bits int) int64 {
	if bits <= 1 || bits >= 64 {
		return n
	}
	return n << (64 - bits) >> (64 - bits)
}

// Float is the constant of a float type with these bits. LLVM spells an f32 as the double that it is.
func Float(t Type, bits uint64) Val {
	switch t {
	case "half":
		return Val{t, fmt.Sprintf("0xH%04X", bits)}
	case "float":
		return Val{t, fmt.Sprintf("0x%016X", widen(uint32(bits)))}
	case "double":
		return Val{t, fmt.Sprintf("0x%016X", bits)}
	}
	panic("BUG: a float constant of type " + string(t))
}

// widen gives the bits of the double that equals an f32, NaN payloads kept.
func widen(b uint32) uint64 {
	if b&0x7f800000 == 0x7f800000 && b&0x7fffff != 0 {
		return uint64(b>>31)<<63 | 0x7ff<<52 | uint64(b&0x7fffff)<<29
	}
	return math.Float64bits(float64(math.Float32frombits(b)))
}

// Poison is a value of type t that nobody may look at.
func Poison(t Type) Val { return Val{t, "poison"} }

// Zero is the constant of type t all of whose bits are zero.
func Zero(t Type) Val { return Val{t, "zeroinitializer"} }

// Splat is the constant vector of n lanes c; one lane is c itself.
func Splat(n int, c Val) Val {
	if n == 1 {
		return c
	}
	if c.S == "0" || c.S == "false" || c.S == "zeroinitializer" {
		return Val{Vec(n, c.T), "zeroinitializer"}
	}
	return Val{Vec(n, c.T), "splat (" + c.String() + ")"}
}

// ConstVec is a constant vector of integers.
func ConstVec(t Type, elems []int64) Val {
	b := make([]byte, 0, 2+(len(t)+12)*len(elems))
	b = append(b, '<')
	for i, e := range elems {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(b, t...)
		b = append(b, ' ')
		b = append(b, Int(t, e).S...)
	}
	return Val{Vec(len(elems), t), string(append(b, '>'))}
}
