// Package approx defines PTX's .approx functions, each once, as a sequence of portable operations.
//
// A definition is generic over the kind of value it computes with: the lowering instantiates it with an IR builder and so
// emits the sequence, the interpreter with softfloat and so evaluates it. Because every operation of Ops is exactly
// defined, the interpreter, the CPU and the GPU targets give the same bits.
//
// Division and square root are operations like the others: a vector divide costs about what the Newton steps, scaling
// and special cases that would replace it cost, and is correctly rounded with right special cases for nothing.
//
// Flush mode: where ftz is true a definition gives the same result whether the f32 operations run with the processor's
// flush-to-zero and denormals-are-zero modes set or not (tested both ways). Where ftz is false they must run with
// the modes clear.
package approx

// Ops are the operations a definition is made of. V is a value of any of the types f16 (as its bits in an i32), f32, f64, i32,
// i64 or bool; a definition never mixes them. Floating-point operations round to nearest even.
type Ops[V any] interface {
	F32(bits uint32) V // constants
	F64(bits uint64) V
	I32(v uint32) V
	I64(v uint64) V

	AddF32(a, b V) V
	SubF32(a, b V) V
	MulF32(a, b V) V
	DivF32(a, b V) V
	FmaF32(a, b, c V) V // a×b+c, rounded once
	SqrtF32(a V) V

	DivF64(a, b V) V
	SqrtF64(a V) V

	AddI32(a, b V) V // wraps
	SubI32(a, b V) V
	AndI32(a, b V) V
	OrI32(a, b V) V
	XorI32(a, b V) V
	ShlI32(a V, n uint) V // 0 < n < 32
	ShrI32(a V, n uint) V // logical
	SarI32(a V, n uint) V // arithmetic
	AndI64(a, b V) V

	AsI32(f32 V) V // the bits of
	AsF32(i32 V) V
	AsI64(f64 V) V
	AsF64(i64 V) V

	LtF32(a, b V) V // ordered: false for a NaN
	EqF32(a, b V) V
	NaNF32(a V) V // a is a NaN
	LtF64(a, b V) V
	NaNF64(a V) V
	LtS32(a, b V) V
	LtU32(a, b V) V
	EqI32(a, b V) V
	Or(a, b V) V // of bools
	And(a, b V) V
	Select(cond, a, b V) V // cond ? a : b, on values of any one type

	S32ToF32(a V) V // exact in every use here
	F16ToF32(a V) V // low 16 bits of an i32 to f32, exact
	F32ToF16(a V) V // f32 to f16 bits, zero-extended to i32
}
