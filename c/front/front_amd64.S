// One library: KZ_KEY, the rows KZ_ROWS that are in its version KZ_IN, and its number KZ_NUMBER in the base.
// Every symbol jumps through the base's table with its slot in r10, which no C argument uses; arguments, in registers or on
// the stack, stay as they are. Two slots are 32 bytes apart, KZ_STRIDE in c/base/base.h: the base computes a symbol's address
// from the first one's. A slot that this version does not have stays empty.
.set slot, 0

.macro entry name, in
	.balign 32
.if (\in) & KZ_IN
	.globl	\name
	.type	\name, @function
\name:
	endbr64
	movl	$slot, %r10d
	movq	KZ_TABLE@GOTPCREL(%rip), %r11
	jmp	*8*slot(%r11)
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
	.type	attach, @function
attach:
	endbr64
	movl	$KZ_NUMBER, %edi
	leaq	first(%rip), %rsi
	jmp	kz_attach_front@PLT
	.size	attach, .-attach

	.section .init_array,"aw"
	.balign 8
	.quad	attach

#include "notes.inc"
