// One library: KZ_KEY, the rows KZ_ROWS that are in its version KZ_IN, and its number KZ_NUMBER in the base.
// Every symbol jumps through the base's table with its slot in w17, a register the linker owns between calls; arguments stay
// as they are. Two slots are 32 bytes apart, KZ_STRIDE in c/base/base.h: the base computes a symbol's address from the first
// one's. A slot that this version does not have stays empty.
.set slot, 0

.macro entry name, in
	.balign 32
.if (\in) & KZ_IN
	.globl	\name
	.type	\name, %function
\name:
	bti	c
	adrp	x16, :got:KZ_TABLE
	ldr	x16, [x16, #:got_lo12:KZ_TABLE]
	mov	w17, #slot
	ldr	x16, [x16, #8*slot]
	br	x16
	.size	\name, .-\name
.else
	.skip	32
.endif
	.set	slot, slot+1
.endm

	.text
	.balign 32
first:
#define ANY(in, slot, name, sum) entry name, (in)
#include "rows.inc"

	.balign 16
	.type	attach, %function
attach:
	bti	c
	mov	w0, #KZ_NUMBER
	adr	x1, first
	b	kz_attach_front
	.size	attach, .-attach

	.section .init_array,"aw"
	.balign 8
	.xword	attach

#include "notes.inc"
