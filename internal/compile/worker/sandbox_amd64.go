package worker

import "golang.org/x/sys/unix"

const thisMachine = unix.AUDIT_ARCH_X86_64

// oldCalls are calls that this machine has beside the newer ones.
var oldCalls = []uint32{unix.SYS_ARCH_PRCTL, unix.SYS_EPOLL_WAIT, unix.SYS_POLL, unix.SYS_SELECT, unix.SYS_DUP2, unix.SYS_TIME, unix.SYS_GETRLIMIT}
