package worker

import "golang.org/x/sys/unix"

const thisMachine = unix.AUDIT_ARCH_AARCH64

// oldCalls are calls that this machine has beside the newer ones.
var oldCalls = []uint32{unix.SYS_GETRLIMIT}

// oldOpenCalls are such calls of programs that read files, and oldStartCalls of those that start programs.
var oldOpenCalls, oldStartCalls []uint32
