// What a table entry points at before the Go image is there, and while calls are recorded. A front arrives with the
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

	.globl	kz_traced_\key
	.hidden	kz_traced_\key
	.type	kz_traced_\key, %function
kz_traced_\key:
	bti	jc
	mov	w16, #\number
	b	traced
	.size	kz_traced_\key, .-kz_traced_\key
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

// traced is the thunk of a function whose calls are recorded (trace.c): it calls it as its caller did and returns what it returned.
// The callee finds its stack arguments below a frame of ours, copied. The frame: x29, x30, x0 to x7, x8, slot, q0 to q7; x0, x1 and
// q0 to q3 as returned.
	.type	traced, %function
traced:
	.cfi_startproc
	stp	x29, x30, [sp, #-0x130]!
	.cfi_def_cfa_offset 0x130
	.cfi_offset 29, -0x130
	.cfi_offset 30, -0x128
	mov	x29, sp
	.cfi_def_cfa_register 29
	stp	x0, x1, [x29, #0x10]
	stp	x2, x3, [x29, #0x20]
	stp	x4, x5, [x29, #0x30]
	stp	x6, x7, [x29, #0x40]
	stp	x8, x17, [x29, #0x50]
	stp	q0, q1, [x29, #0x60]
	stp	q2, q3, [x29, #0x80]
	stp	q4, q5, [x29, #0xa0]
	stp	q6, q7, [x29, #0xc0]
	mov	x0, x29
	mov	w1, w16
	mov	w2, w17
	bl	kz_trace_enter		// x0: the function; x1: words of its stack arguments
	mov	x16, x0
	cbz	x1, 2f
	add	x2, x1, #1
	and	x2, x2, #-2
	sub	sp, sp, x2, lsl #3
	add	x2, x29, #0x130
	mov	x3, sp
1:	sub	x1, x1, #1
	ldr	x4, [x2, x1, lsl #3]
	str	x4, [x3, x1, lsl #3]
	cbnz	x1, 1b
2:	ldp	q6, q7, [x29, #0xc0]
	ldp	q4, q5, [x29, #0xa0]
	ldp	q2, q3, [x29, #0x80]
	ldp	q0, q1, [x29, #0x60]
	ldp	x8, x17, [x29, #0x50]
	ldp	x6, x7, [x29, #0x40]
	ldp	x4, x5, [x29, #0x30]
	ldp	x2, x3, [x29, #0x20]
	ldp	x0, x1, [x29, #0x10]
	blr	x16
	mov	sp, x29
	stp	x0, x1, [x29, #0xe0]
	stp	q0, q1, [x29, #0xf0]
	stp	q2, q3, [x29, #0x110]
	mov	x0, x29
	bl	kz_trace_leave
	ldp	q2, q3, [x29, #0x110]
	ldp	q0, q1, [x29, #0xf0]
	ldp	x0, x1, [x29, #0xe0]
	ldp	x29, x30, [sp], #0x130
	.cfi_def_cfa 31, 0
	.cfi_restore 29
	.cfi_restore 30
	ret
	.cfi_endproc
	.size	traced, .-traced

#include "notes.inc"
