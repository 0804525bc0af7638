#include "textflag.h"

// System calls and flags of linux/arm64.
#define SYS_dup3 24
#define SYS_close 57
#define SYS_exit_group 94
#define SYS_rt_sigaction 134
#define SYS_rt_sigprocmask 135
#define SYS_setsid 157
#define SYS_clone 220
#define SYS_execve 221
#define SYS_close_range 436
#define SIG_SETMASK 2
#define CLONE_VM_VFORK 0x4100
#define SIGCHLD 17

// func rawSpawn(a *spawnArgs)
//
// All three processes run on this stack frame, one after the other: vfork suspends each parent until its child has
// executed a program or is gone. Nothing is pushed, and signals are blocked, so no frame is ever disturbed.
TEXT ·rawSpawn(SB), NOSPLIT, $0-8
	MOVD	a+0(FP), R19

	MOVD	$SIG_SETMASK, R0
	ADD	$72, R19, R1
	ADD	$64, R19, R2
	MOVD	$8, R3
	MOVD	$SYS_rt_sigprocmask, R8
	SVC

	MOVD	$CLONE_VM_VFORK, R0	// no exit signal
	MOVD	$0, R1
	MOVD	$0, R2
	MOVD	$0, R3
	MOVD	$0, R4
	MOVD	$SYS_clone, R8
	SVC
	CBZ	R0, between
	MOVD	R0, 120(R19)

	MOVD	$SIG_SETMASK, R0
	ADD	$64, R19, R1
	MOVD	$0, R2
	MOVD	$8, R3
	MOVD	$SYS_rt_sigprocmask, R8
	SVC
	RET

between:
	MOVD	$(CLONE_VM_VFORK|SIGCHLD), R0
	MOVD	$0, R1
	MOVD	$0, R2
	MOVD	$0, R3
	MOVD	$0, R4
	MOVD	$SYS_clone, R8
	SVC
	CBZ	R0, grandchild
	MOVD	R0, 48(R19)
	MOVD	$0, R0
	MOVD	$SYS_exit_group, R8
	SVC
	UNDEF

grandchild:
	MOVD	$SYS_setsid, R8
	SVC

	// Default actions, before signals are let in again: our handlers would run in our memory.
	MOVD	$1, R20
actions:
	MOVD	R20, R0
	ADD	$80, R19, R1
	MOVD	$0, R2
	MOVD	$8, R3
	MOVD	$SYS_rt_sigaction, R8
	SVC
	ADD	$1, R20
	CMP	$64, R20
	BLE	actions

	MOVD	$0, R20
	ADD	$24, R19, R21
files:
	MOVD.P	8(R21), R0
	MOVD	R20, R1
	MOVD	$0, R2
	MOVD	$SYS_dup3, R8
	SVC
	ADD	$1, R20
	CMP	$3, R20
	BLT	files

	MOVD	$3, R0
	MOVD	$0xffffffff, R1
	MOVD	$0, R2
	MOVD	$SYS_close_range, R8
	SVC
	CBZ	R0, closed
	MOVD	$3, R20	// a kernel before 5.9: one by one
each:
	MOVD	R20, R0
	MOVD	$SYS_close, R8
	SVC
	ADD	$1, R20
	CMP	$4096, R20
	BLT	each
closed:
	MOVD	$SIG_SETMASK, R0
	ADD	$112, R19, R1
	MOVD	$0, R2
	MOVD	$8, R3
	MOVD	$SYS_rt_sigprocmask, R8
	SVC

	MOVD	0(R19), R0
	MOVD	8(R19), R1
	MOVD	16(R19), R2
	MOVD	$SYS_execve, R8
	SVC
	MOVD	R0, 56(R19)
	MOVD	$127, R0
	MOVD	$SYS_exit_group, R8
	SVC
	UNDEF
