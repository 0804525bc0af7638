#include "textflag.h"

// Aligned accesses of 16 bytes are indivisible on processors with AVX, as CMPXCHG16B is on all.

// func loadPair(p unsafe.Pointer) (lo, hi uint64)
TEXT ·loadPair(SB), NOSPLIT, $0-24
	MOVQ p+0(FP), AX
	MOVO (AX), X0
	MOVQ X0, lo+8(FP)
	PSRLO $8, X0
	MOVQ X0, hi+16(FP)
	RET

// func storePair(p unsafe.Pointer, lo, hi uint64)
TEXT ·storePair(SB), NOSPLIT, $0-24
	MOVQ p+0(FP), AX
	MOVQ lo+8(FP), X0
	MOVQ hi+16(FP), X1
	PUNPCKLQDQ X1, X0
	MOVO X0, (AX)
	RET

// func swapPair(p unsafe.Pointer, oldLo, oldHi, lo, hi uint64) bool
TEXT ·swapPair(SB), NOSPLIT, $0-41
	MOVQ p+0(FP), DI
	MOVQ oldLo+8(FP), AX
	MOVQ oldHi+16(FP), DX
	MOVQ lo+24(FP), BX
	MOVQ hi+32(FP), CX
	LOCK
	CMPXCHG16B (DI)
	SETEQ ret+40(FP)
	RET
