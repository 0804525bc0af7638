// The names of libcudart_static.a: each jumps to what runtime.c has put at its place, arguments untouched. They are of the program or
// library that links them, and no other sees them.
#include "ztable.h"

#define KZ_ROWS "zrows_cudart.h"

.set slot, 0

.macro entry name, in
.if (\in) & KZ_V13
	.balign 16
	.globl	\name
	.hidden	\name
#ifdef __aarch64__
	.type	\name, %function
\name:
	bti	c
	adrp	x16, kz_static_table+8*slot
	ldr	x16, [x16, #:lo12:kz_static_table+8*slot]
	br	x16
#else
	.type	\name, @function
\name:
	endbr64
	jmp	*kz_static_table+8*slot(%rip)
#endif
	.size	\name, .-\name
.endif
	.set	slot, slot+1
.endm

	.hidden	kz_static_table
	.text
#define ANY(in, slot, name, sum) entry name, (in)
#include "rows.inc"

#include "notes.inc"
