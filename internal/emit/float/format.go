// Package float is what operations on floats mean, in LLVM's words: formats, NaNs, what subnormals are flushed by, saturation, rounding,
// conversions. It is written once for both emitters: emit/warp gives it vectors of lanes, emit/simt one thread's values.
package float

import (
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// Format is a floating-point format as bits: the sign, the bits of infinity, of the least normal number, of the NaN that
// arithmetic gives, of one.
type Format struct {
	Bits                       int
	Sign, Inf, Least, NaN, One uint64
}

// Formats are those of the types; other types have none.
var Formats = [ir.NumTypes]Format{
	ir.F16:  {16, 0x8000, 0x7c00, 0x0400, 0x7fff, 0x3c00},
	ir.BF16: {16, 0x8000, 0x7f80, 0x0080, 0x7fff, 0x3f80},
	ir.F32:  {32, 0x80000000, 0x7f800000, 0x00800000, 0x7fffffff, 0x3f800000},
	ir.F64:  {64, 1 << 63, 0x7ff0000000000000, 0x0010000000000000, 0xfff8000000000000, 0x3ff0000000000000},
}

// Element is the type of a packed pair's parts, or t.
func Element(t ir.Type) (el ir.Type, packed bool) {
	switch t {
	case ir.F16x2:
		return ir.F16, true
	case ir.BF16x2:
		return ir.BF16, true
	}
	return t, false
}

// Tame reports a value that is no NaN, or one that may as well be canonical.
func Tame(v *ir.Value) bool {
	if !v.Const {
		return v.Def != nil && v.Def.Op == ir.Undef
	}
	nan := func(t ir.Type, b uint64) bool {
		f := Formats[t]
		return b&(f.Sign-1) > f.Inf && b != f.NaN
	}
	el, packed := Element(v.Type)
	if packed {
		return !nan(el, v.Bits&0xffff) && !nan(el, v.Bits>>16&0xffff)
	}
	return !nan(el, v.Bits&(2*Formats[el].Sign-1))
}

// Arith names the operations of two numbers.
var Arith = map[ir.Op]ll.Bin{ir.FAdd: "fadd", ir.FSub: "fsub", ir.FMul: "fmul", ir.FDiv: "fdiv", ir.FRcp: "fdiv"}
