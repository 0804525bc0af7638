// What a table entry points at before the Go image is there. A front arrives with the
// symbol's index in r10 and the caller's arguments untouched in registers and on the stack.
#include "ztable.h"

	.text

// Each library has its own pair, so that one routine serves all of its symbols.
.macro library key, number
	.globl	kz_lazy_\key
	.hidden	kz_lazy_\key
	.type	kz_lazy_\key, @function
kz_lazy_\key:
	.cfi_startproc
	endbr64
	pushq	$\number
	.cfi_adjust_cfa_offset 8
	jmp	lazy
	.cfi_endproc
	.size	kz_lazy_\key, .-kz_lazy_\key

	.globl	kz_none_\key
	.hidden	kz_none_\key
	.type	kz_none_\key, @function
kz_none_\key:
	.cfi_startproc
	endbr64
	movl	$\number, %edi
	movl	%r10d, %esi
	jmp	kz_unsupported
	.cfi_endproc
	.size	kz_none_\key, .-kz_none_\key
.endm

KZ_FOR_LIBRARIES

// lazy saves every register that can carry an argument, asks for the real entry, and
// goes there as if it had been called in the first place.
	.type	lazy, @function
lazy:
	.cfi_startproc
	.cfi_def_cfa_offset 16
	pushq	%rbp
	.cfi_def_cfa_offset 24
	.cfi_offset %rbp, -24
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq	$0xe0, %rsp
	andq	$-16, %rsp
	movups	%xmm0, 0x00(%rsp)
	movups	%xmm1, 0x10(%rsp)
	movups	%xmm2, 0x20(%rsp)
	movups	%xmm3, 0x30(%rsp)
	movups	%xmm4, 0x40(%rsp)
	movups	%xmm5, 0x50(%rsp)
	movups	%xmm6, 0x60(%rsp)
	movups	%xmm7, 0x70(%rsp)
	movq	%rdi, 0x80(%rsp)
	movq	%rsi, 0x88(%rsp)
	movq	%rdx, 0x90(%rsp)
	movq	%rcx, 0x98(%rsp)
	movq	%r8, 0xa0(%rsp)
	movq	%r9, 0xa8(%rsp)
	movq	%r10, 0xb0(%rsp)
	movq	%rax, 0xb8(%rsp)
	movl	8(%rbp), %edi
	movl	%r10d, %esi
	call	kz_resolve
	movq	%rax, %r11
	movups	0x00(%rsp), %xmm0
	movups	0x10(%rsp), %xmm1
	movups	0x20(%rsp), %xmm2
	movups	0x30(%rsp), %xmm3
	movups	0x40(%rsp), %xmm4
	movups	0x50(%rsp), %xmm5
	movups	0x60(%rsp), %xmm6
	movups	0x70(%rsp), %xmm7
	movq	0x80(%rsp), %rdi
	movq	0x88(%rsp), %rsi
	movq	0x90(%rsp), %rdx
	movq	0x98(%rsp), %rcx
	movq	0xa0(%rsp), %r8
	movq	0xa8(%rsp), %r9
	movq	0xb0(%rsp), %r10
	movq	0xb8(%rsp), %rax
	leave
	.cfi_def_cfa %rsp, 16
	addq	$8, %rsp
	.cfi_def_cfa_offset 8
	jmp	*%r11
	.cfi_endproc
	.size	lazy, .-lazy

	.section .note.GNU-stack,"",@progbits
	.section .note.gnu.property,"a"
	.align 8
	.long	4, 16, 5
	.asciz	"GNU"
	.long	0xc0000002, 4, 3, 0
