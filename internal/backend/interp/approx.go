package interp

import sf "kudzu/internal/softfloat"

// soft evaluates the .approx definitions on bit patterns: approx.Ops over softfloat.
type soft struct{}

var exact sf.Env

func (soft) F32(b uint32) uint64            { return uint64(b) }
func (soft) F64(b uint64) uint64            { return b }
func (soft) I32(v uint32) uint64            { return uint64(v) }
func (soft) I64(v uint64) uint64            { return v }
func (soft) AddF32(a, b uint64) uint64      { return sf.F32.Add(a, b, exact) }
func (soft) SubF32(a, b uint64) uint64      { return sf.F32.Sub(a, b, exact) }
func (soft) MulF32(a, b uint64) uint64      { return sf.F32.Mul(a, b, exact) }
func (soft) DivF32(a, b uint64) uint64      { return sf.F32.Div(a, b, exact) }
func (soft) FmaF32(a, b, c uint64) uint64   { return sf.F32.Fma(a, b, c, exact) }
func (soft) SqrtF32(a uint64) uint64        { return sf.F32.Sqrt(a, exact) }
func (soft) DivF64(a, b uint64) uint64      { return sf.F64.Div(a, b, exact) }
func (soft) SqrtF64(a uint64) uint64        { return sf.F64.Sqrt(a, exact) }
func (soft) AddI32(a, b uint64) uint64      { return uint64(uint32(a + b)) }
func (soft) SubI32(a, b uint64) uint64      { return uint64(uint32(a - b)) }
func (soft) AndI32(a, b uint64) uint64      { return a & b }
func (soft) OrI32(a, b uint64) uint64       { return a | b }
func (soft) XorI32(a, b uint64) uint64      { return a ^ b }
func (soft) ShlI32(a uint64, n uint) uint64 { return uint64(uint32(a) << n) }
func (soft) ShrI32(a uint64, n uint) uint64 { return uint64(uint32(a) >> n) }
func (soft) SarI32(a uint64, n uint) uint64 { return uint64(uint32(int32(a) >> n)) }
func (soft) AndI64(a, b uint64) uint64      { return a & b }
func (soft) AsI32(a uint64) uint64          { return a }
func (soft) AsF32(a uint64) uint64          { return a }
func (soft) AsI64(a uint64) uint64          { return a }
func (soft) AsF64(a uint64) uint64          { return a }
func (soft) LtF32(a, b uint64) uint64       { return bit(sf.F32.Compare(a, b, false) == sf.Less) }
func (soft) EqF32(a, b uint64) uint64       { return bit(sf.F32.Compare(a, b, false) == sf.Equal) }
func (soft) NaNF32(a uint64) uint64         { return bit(sf.F32.IsNaN(a)) }
func (soft) LtF64(a, b uint64) uint64       { return bit(sf.F64.Compare(a, b, false) == sf.Less) }
func (soft) NaNF64(a uint64) uint64         { return bit(sf.F64.IsNaN(a)) }
func (soft) LtS32(a, b uint64) uint64       { return bit(int32(a) < int32(b)) }
func (soft) LtU32(a, b uint64) uint64       { return bit(uint32(a) < uint32(b)) }
func (soft) EqI32(a, b uint64) uint64       { return bit(uint32(a) == uint32(b)) }
func (soft) Or(a, b uint64) uint64          { return a | b }
func (soft) And(a, b uint64) uint64         { return a & b }
func (soft) S32ToF32(a uint64) uint64       { return sf.F32.FromInt(a, 32, true, exact) }
func (soft) F16ToF32(a uint64) uint64       { return sf.F16.Convert(sf.F32, a&0xffff, exact) }
func (soft) F32ToF16(a uint64) uint64       { return sf.F32.Convert(sf.F16, a, exact) }

func (soft) Select(c, a, b uint64) uint64 {
	if c != 0 {
		return a
	}
	return b
}
