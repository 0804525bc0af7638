#include "textflag.h"

// System calls and flags of linux/amd64.
#define SYS_close 3
#define SYS_rt_sigaction 13
#define SYS_rt_sigprocmask 14
#define SYS_clone 56
#define SYS_execve 59
#define SYS_setsid 112
#define SYS_exit_group 231
#define SYS_dup3 292
#define SYS_close_range 436
#define SIG_SETMASK 2
#define CLONE_VM_VFORK 0x4100
#define SIGCHLD 17

// func rawSpawn(a *spawnArgs)
//
// All three processes run on this stack frame, one after the other: vfork suspends each parent until its child has
// executed a program or is gone. Nothing is pushed, and signals are blocked, so no frame is ever disturbed.
TEXT ·rawSpawn(SB), NOSPLIT, $0-8
	MOVQ	a+0(FP), R12

	MOVQ	$SIG_SETMASK, DI
	LEAQ	72(R12), SI
	LEAQ	64(R12), DX
	MOVQ	$8, R10
	MOVQ	$SYS_rt_sigprocmask, AX
	SYSCALL

	MOVQ	$CLONE_VM_VFORK, DI	// no exit signal
	XORQ	SI, SI
	XORQ	DX, DX
	XORQ	R10, R10
	XORQ	R8, R8
	MOVQ	$SYS_clone, AX
	SYSCALL
	TESTQ	AX, AX
	JZ	between
	MOVQ	AX, 120(R12)

	MOVQ	$SIG_SETMASK, DI
	LEAQ	64(R12), SI
	XORQ	DX, DX
	MOVQ	$8, R10
	MOVQ	$SYS_rt_sigprocmask, AX
	SYSCALL
	RET

between:
	MOVQ	$(CLONE_VM_VFORK|SIGCHLD), DI
	XORQ	SI, SI
	XORQ	DX, DX
	XORQ	R10, R10
	XORQ	R8, R8
	MOVQ	$SYS_clone, AX
	SYSCALL
	TESTQ	AX, AX
	JZ	grandchild
	MOVQ	AX, 48(R12)
	XORQ	DI, DI
	MOVQ	$SYS_exit_group, AX
	SYSCALL
	INT	$3

grandchild:
	MOVQ	$SYS_setsid, AX
	SYSCALL

	// Default actions, before signals are let in again: our handlers would run in our memory.
	MOVQ	$1, BX
actions:
	MOVQ	BX, DI
	LEAQ	80(R12), SI
	XORQ	DX, DX
	MOVQ	$8, R10
	MOVQ	$SYS_rt_sigaction, AX
	SYSCALL
	INCQ	BX
	CMPQ	BX, $64
	JLE	actions

	XORQ	BX, BX
files:
	MOVQ	24(R12)(BX*8), DI
	MOVQ	BX, SI
	XORQ	DX, DX
	MOVQ	$SYS_dup3, AX
	SYSCALL
	INCQ	BX
	CMPQ	BX, $3
	JLT	files

	MOVQ	$3, DI
	MOVQ	$0xffffffff, SI
	XORQ	DX, DX
	MOVQ	$SYS_close_range, AX
	SYSCALL
	TESTQ	AX, AX
	JZ	closed
	MOVQ	$3, BX	// a kernel before 5.9: one by one
each:
	MOVQ	BX, DI
	MOVQ	$SYS_close, AX
	SYSCALL
	INCQ	BX
	CMPQ	BX, $4096
	JLT	each
closed:
	MOVQ	$SIG_SETMASK, DI
	LEAQ	112(R12), SI
	XORQ	DX, DX
	MOVQ	$8, R10
	MOVQ	$SYS_rt_sigprocmask, AX
	SYSCALL

	MOVQ	0(R12), DI
	MOVQ	8(R12), SI
	MOVQ	16(R12), DX
	MOVQ	$SYS_execve, AX
	SYSCALL
	MOVQ	AX, 56(R12)
	MOVQ	$127, DI
	MOVQ	$SYS_exit_group, AX
	SYSCALL
	INT	$3
