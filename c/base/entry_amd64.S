// What a table entry points at before the Go image is there, and while calls are recorded. A front arrives with the
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

	.globl	kz_traced_\key
	.hidden	kz_traced_\key
	.type	kz_traced_\key, @function
kz_traced_\key:
	.cfi_startproc
	endbr64
	pushq	$\number
	.cfi_adjust_cfa_offset 8
	jmp	traced
	.cfi_endproc
	.size	kz_traced_\key, .-kz_traced_\key
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

// traced is the thunk of a function whose calls are recorded (trace.c): it calls it as its caller did and returns what it returned.
// The callee finds its stack arguments below a frame of ours, copied, so that the caller's return address stays where unwinders and
// shadow stacks look for it. The frame, from -0x100(%rbp): xmm0 to xmm7, rdi to r9, slot, rax; rax, rdx, xmm0, xmm1 as returned.
	.type	traced, @function
traced:
	.cfi_startproc
	.cfi_def_cfa_offset 16
	pushq	%rbp
	.cfi_def_cfa_offset 24
	.cfi_offset %rbp, -24
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq	$0x100, %rsp
	andq	$-16, %rsp
	movups	%xmm0, -0x100(%rbp)
	movups	%xmm1, -0xf0(%rbp)
	movups	%xmm2, -0xe0(%rbp)
	movups	%xmm3, -0xd0(%rbp)
	movups	%xmm4, -0xc0(%rbp)
	movups	%xmm5, -0xb0(%rbp)
	movups	%xmm6, -0xa0(%rbp)
	movups	%xmm7, -0x90(%rbp)
	movq	%rdi, -0x80(%rbp)
	movq	%rsi, -0x78(%rbp)
	movq	%rdx, -0x70(%rbp)
	movq	%rcx, -0x68(%rbp)
	movq	%r8, -0x60(%rbp)
	movq	%r9, -0x58(%rbp)
	movq	%r10, -0x50(%rbp)
	movq	%rax, -0x48(%rbp)
	leaq	-0x100(%rbp), %rdi
	movl	8(%rbp), %esi
	movl	%r10d, %edx
	call	kz_trace_enter		// rax: the function; rdx: words of its stack arguments
	movq	%rax, %r11
	testq	%rdx, %rdx
	jz	2f
	leaq	1(%rdx), %rcx
	andq	$-2, %rcx
	shlq	$3, %rcx
	subq	%rcx, %rsp
1:	movq	16(%rbp,%rdx,8), %rax
	movq	%rax, -8(%rsp,%rdx,8)
	decq	%rdx
	jnz	1b
2:	movups	-0x100(%rbp), %xmm0
	movups	-0xf0(%rbp), %xmm1
	movups	-0xe0(%rbp), %xmm2
	movups	-0xd0(%rbp), %xmm3
	movups	-0xc0(%rbp), %xmm4
	movups	-0xb0(%rbp), %xmm5
	movups	-0xa0(%rbp), %xmm6
	movups	-0x90(%rbp), %xmm7
	movq	-0x80(%rbp), %rdi
	movq	-0x78(%rbp), %rsi
	movq	-0x70(%rbp), %rdx
	movq	-0x68(%rbp), %rcx
	movq	-0x60(%rbp), %r8
	movq	-0x58(%rbp), %r9
	movq	-0x50(%rbp), %r10
	movq	-0x48(%rbp), %rax
	call	*%r11
	movq	%rax, -0x40(%rbp)
	movq	%rdx, -0x38(%rbp)
	movups	%xmm0, -0x30(%rbp)
	movups	%xmm1, -0x20(%rbp)
	leaq	-0x100(%rbp), %rdi
	call	kz_trace_leave
	movq	-0x40(%rbp), %rax
	movq	-0x38(%rbp), %rdx
	movups	-0x30(%rbp), %xmm0
	movups	-0x20(%rbp), %xmm1
	leave
	.cfi_def_cfa %rsp, 16
	addq	$8, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	traced, .-traced

#include "notes.inc"
