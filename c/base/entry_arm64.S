// What a table entry points at before the Go image is there. A front arrives with the
// symbol's index in w17 and the caller's arguments untouched in registers and on the stack.
#include "ztable.h"

	.text

.macro library key, number
	.globl	kz_lazy_\key
	.hidden	kz_lazy_\key
	.type	kz_lazy_\key, %function
kz_lazy_\key:
	bti	jc
	mov	w16, #\number
	b	lazy
	.size	kz_lazy_\key, .-kz_lazy_\key

	.globl	kz_none_\key
	.hidden	kz_none_\key
	.type	kz_none_\key, %function
kz_none_\key:
	bti	jc
	mov	w0, #\number
	mov	w1, w17
	b	kz_unsupported
	.size	kz_none_\key, .-kz_none_\key
.endm

KZ_FOR_LIBRARIES

// lazy saves every register that can carry an argument, asks for the real entry, and
// goes there as if it had been called in the first place.
	.type	lazy, %function
lazy:
	.cfi_startproc
	stp	x29, x30, [sp, #-0xf0]!
	.cfi_def_cfa_offset 0xf0
	.cfi_offset 29, -0xf0
	.cfi_offset 30, -0xe8
	mov	x29, sp
	stp	x0, x1, [sp, #0x10]
	stp	x2, x3, [sp, #0x20]
	stp	x4, x5, [sp, #0x30]
	stp	x6, x7, [sp, #0x40]
	stp	x8, x17, [sp, #0x50]
	stp	q0, q1, [sp, #0x60]
	stp	q2, q3, [sp, #0x80]
	stp	q4, q5, [sp, #0xa0]
	stp	q6, q7, [sp, #0xc0]
	mov	w0, w16
	mov	w1, w17
	bl	kz_resolve
	mov	x16, x0
	ldp	q6, q7, [sp, #0xc0]
	ldp	q4, q5, [sp, #0xa0]
	ldp	q2, q3, [sp, #0x80]
	ldp	q0, q1, [sp, #0x60]
	ldp	x8, x17, [sp, #0x50]
	ldp	x6, x7, [sp, #0x40]
	ldp	x4, x5, [sp, #0x30]
	ldp	x2, x3, [sp, #0x20]
	ldp	x0, x1, [sp, #0x10]
	ldp	x29, x30, [sp], #0xf0
	.cfi_def_cfa_offset 0
	br	x16
	.cfi_endproc
	.size	lazy, .-lazy

	.section .note.GNU-stack,"",%progbits
