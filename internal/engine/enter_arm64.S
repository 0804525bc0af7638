// Entering kernel code on an engine stack, and the way back; see enter_amd64.S.
#if defined(__aarch64__)
	.text
	.globl	kz_enter
	.hidden	kz_enter
	.type	kz_enter, %function
	.p2align 4
kz_enter:
	stp	x29, x30, [sp, #-160]!
	mov	x29, sp
	stp	x19, x20, [sp, #16]
	stp	x21, x22, [sp, #32]
	stp	x23, x24, [sp, #48]
	stp	x25, x26, [sp, #64]
	stp	x27, x28, [sp, #80]
	stp	d8, d9, [sp, #96]
	stp	d10, d11, [sp, #112]
	stp	d12, d13, [sp, #128]
	stp	d14, d15, [sp, #144]
	mov	x19, x0
	mov	x9, sp
	str	x9, [x0]
	mov	x10, x1
	mov	x0, x2
	mov	x1, x3
	mov	x2, x4
	mov	x3, x5
	and	x6, x6, #-64
	mov	sp, x6
	blr	x10
	ldr	x9, [x19]
	mov	sp, x9
	mov	w0, w0
kz_back:
	ldp	x19, x20, [sp, #16]
	ldp	x21, x22, [sp, #32]
	ldp	x23, x24, [sp, #48]
	ldp	x25, x26, [sp, #64]
	ldp	x27, x28, [sp, #80]
	ldp	d8, d9, [sp, #96]
	ldp	d10, d11, [sp, #112]
	ldp	d12, d13, [sp, #128]
	ldp	d14, d15, [sp, #144]
	ldp	x29, x30, [sp], #160
	ret
	.size	kz_enter, .-kz_enter

	.globl	kz_recover
	.hidden	kz_recover
	.type	kz_recover, %function
kz_recover:
	b	kz_back
	.size	kz_recover, .-kz_recover

	.globl	kz_leave
	.hidden	kz_leave
	.type	kz_leave, %function
kz_leave:
	ldr	x9, [x0]
	mov	sp, x9
	mov	x0, x1
	b	kz_back
	.size	kz_leave, .-kz_leave
#endif
	.section .note.GNU-stack,"",%progbits
