// Entering kernel code on an engine stack, and the way back.
#if defined(__x86_64__)
	.text

// uint64_t kz_enter(struct kz_jump *j, kz_entry fn, const void *l, void *w, uint64_t first, uint64_t count, void *stack_top)
// Calls fn(l, w, first, count) on the given stack. Returns its 32-bit result, or what the handler or kz_leave puts in rax.
	.globl	kz_enter
	.hidden	kz_enter
	.type	kz_enter, @function
	.p2align 4
kz_enter:
	.cfi_startproc
	endbr64
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	pushq	%rbx
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	movq	%rdi, %rbx
	movq	%rsp, (%rdi)
	movq	%rsi, %rax
	movq	16(%rbp), %r10
	movq	%rdx, %rdi
	movq	%rcx, %rsi
	movq	%r8, %rdx
	movq	%r9, %rcx
	movq	%r10, %rsp
	andq	$-64, %rsp
	call	*%rax
	movq	(%rbx), %rsp
	movl	%eax, %eax
kz_back:
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbx
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	kz_enter, .-kz_enter

// Where the signal handler resumes: rsp is j->sp, rax the result.
	.globl	kz_recover
	.hidden	kz_recover
	.type	kz_recover, @function
kz_recover:
	cld
	jmp	kz_back
	.size	kz_recover, .-kz_recover

// _Noreturn void kz_leave(struct kz_jump *j, uint64_t result)
	.globl	kz_leave
	.hidden	kz_leave
	.type	kz_leave, @function
kz_leave:
	endbr64
	movq	(%rdi), %rsp
	movq	%rsi, %rax
	jmp	kz_back
	.size	kz_leave, .-kz_leave
#endif
	.section .note.GNU-stack,"",@progbits
