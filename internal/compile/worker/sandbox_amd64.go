package worker

import "golang.org/x/sys/unix"

const thisMachine = unix.AUDIT_ARCH_X86_64

// oldCalls are calls that this machine has beside the newer ones.
var oldCalls = []uint32{unix.SYS_ARCH_PRCTL, unix.SYS_EPOLL_WAIT, unix.SYS_POLL, unix.SYS_SELECT, unix.SYS_DUP2, unix.SYS_TIME, unix.SYS_GETRLIMIT}

// oldOpenCalls are such calls of programs that read files, and oldStartCalls of those that start programs.
var (
	oldOpenCalls  = []uint32{unix.SYS_OPEN, unix.SYS_STAT, unix.SYS_LSTAT, unix.SYS_ACCESS, unix.SYS_READLINK, unix.SYS_GETDENTS}
	oldStartCalls = []uint32{unix.SYS_VFORK, unix.SYS_FORK}
)
