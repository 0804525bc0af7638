#include "textflag.h"

// func syncCache(p unsafe.Pointer, n uintptr)
TEXT ·syncCache(SB), NOSPLIT, $0-16
	MOVD	p+0(FP), R0
	MOVD	n+8(FP), R1
	ADD	R0, R1, R1
	MOVD	R0, R2
clean:
	WORD	$0xd50b7b22 // DC CVAU, X2
	ADD	$16, R2
	CMP	R1, R2
	BLO	clean
	WORD	$0xd5033b9f // DSB ISH
	MOVD	R0, R2
inval:
	WORD	$0xd50b7522 // IC IVAU, X2
	ADD	$16, R2
	CMP	R1, R2
	BLO	inval
	WORD	$0xd5033b9f // DSB ISH
	WORD	$0xd5033fdf // ISB
	RET
