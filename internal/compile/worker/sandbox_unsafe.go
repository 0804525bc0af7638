package worker

import (
	"os"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A worker reads texts that others wrote and has libLLVM work on them. What a text could make of that is bounded: a worker can
// compile, and do little else. Before it is started its thread gives up writing files, the network and signals to others
// (Landlock); when libLLVM is loaded and before the first text is read, it gives up every call of the system but those that
// memory, threads and the two pipes need (seccomp). A system that has one of the two not, or neither, runs workers all the same.

// confineThread is what the thread that starts a worker gives up; the worker inherits it. The thread is of no more use after it.
//
// Preconditions: the goroutine is locked to its thread and ends with it.
func confineThread() {
	if unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != nil {
		return
	}
	const version = 1
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, version)
	if errno != 0 {
		return
	}
	attr := rulesFor(int(abi))
	rules, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return
	}
	_, _, _ = unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, rules, 0, 0) // if not, not
	_ = unix.Close(int(rules))
}

// rulesFor is what the kernel's version of Landlock can take away. Nothing is given back: a worker writes no file.
func rulesFor(abi int) unix.LandlockRulesetAttr {
	const (
		refer, truncate, network, ioctl, scope = 2, 3, 4, 5, 6 // versions
		abstractSocket, signal                 = 1, 2          // LANDLOCK_SCOPE_
	)
	attr := unix.LandlockRulesetAttr{Access_fs: unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR |
		unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_DIR |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO |
		unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_MAKE_SYM}
	if abi >= refer {
		attr.Access_fs |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if abi >= truncate {
		attr.Access_fs |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if abi >= network {
		attr.Access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if abi >= ioctl {
		attr.Access_fs |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if abi >= scope {
		attr.Scoped = abstractSocket | signal
	}
	return attr
}

// confineProcess takes from all threads of this process what a compilation does not need: above all opening files, programs,
// processes and sockets. It reports whether the system could.
func confineProcess() bool {
	runtime.LockOSThread() // the two calls are of one thread; the second is for all of them
	defer runtime.UnlockOSThread()
	if unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != nil {
		return false
	}
	return install(filter(allowed), unix.SECCOMP_FILTER_FLAG_TSYNC)
}

// filterCalls leaves this thread, and what it starts, only the calls that are named.
func filterCalls(calls []uint32) { install(filter(calls), 0) }

func install(p []unix.SockFilter, flags uintptr) bool {
	prog := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&prog)))
	return errno == 0
}

// allowed is what memory, threads, time and open files need; and what Go's runtime and C libraries do at odd times.
var allowed = slices.Concat(oldCalls, []uint32{
	unix.SYS_FUTEX, unix.SYS_READ, unix.SYS_WRITE, unix.SYS_MMAP, unix.SYS_MUNMAP, unix.SYS_MADVISE, unix.SYS_MPROTECT, unix.SYS_MREMAP, unix.SYS_BRK,
	unix.SYS_MINCORE, unix.SYS_MEMBARRIER, unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_CLOCK_GETTIME, unix.SYS_CLOCK_GETRES,
	unix.SYS_GETTIMEOFDAY, unix.SYS_SCHED_YIELD, unix.SYS_SCHED_GETAFFINITY, unix.SYS_GETCPU, unix.SYS_GETPID, unix.SYS_GETPPID, unix.SYS_GETTID,
	unix.SYS_GETUID, unix.SYS_GETEUID, unix.SYS_GETGID, unix.SYS_GETEGID, unix.SYS_TGKILL, unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK,
	unix.SYS_RT_SIGRETURN, unix.SYS_SIGALTSTACK, unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_PWAIT, unix.SYS_EVENTFD2,
	unix.SYS_PIPE2, unix.SYS_PPOLL, unix.SYS_PSELECT6, unix.SYS_PREAD64, unix.SYS_READV, unix.SYS_WRITEV, unix.SYS_LSEEK, unix.SYS_CLOSE, unix.SYS_FSTAT,
	unix.SYS_FCNTL, unix.SYS_DUP, unix.SYS_DUP3, unix.SYS_SET_ROBUST_LIST, unix.SYS_GET_ROBUST_LIST, unix.SYS_RSEQ, unix.SYS_SET_TID_ADDRESS,
	unix.SYS_EXIT, unix.SYS_EXIT_GROUP, unix.SYS_GETRANDOM, unix.SYS_GETRUSAGE, unix.SYS_SYSINFO, unix.SYS_UNAME, unix.SYS_RESTART_SYSCALL,
	unix.SYS_TIMER_CREATE, unix.SYS_TIMER_SETTIME, unix.SYS_TIMER_DELETE, unix.SYS_SETITIMER, unix.SYS_MEMFD_CREATE, unix.SYS_FTRUNCATE,
})

// filter is the program that the kernel runs before every call.
func filter(calls []uint32) []unix.SockFilter {
	const (
		number, machine, first = 0, 4, 16 // offsets in struct seccomp_data
		load                   = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal                  = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		atLeast                = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
		anyBit                 = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
		answer                 = unix.BPF_RET | unix.BPF_K
		x32                    = 1 << 30 // another set of numbers on amd64, and none elsewhere
	)
	no := func(errno unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(errno) }
	p := []unix.SockFilter{
		{Code: load, K: machine}, {Code: equal, K: thisMachine, Jt: 1}, {Code: answer, K: no(unix.EPERM)},
		{Code: load, K: number}, {Code: atLeast, K: x32, Jf: 1}, {Code: answer, K: no(unix.EPERM)},
	}
	for _, n := range calls {
		p = append(p, unix.SockFilter{Code: equal, K: n, Jf: 1}, unix.SockFilter{Code: answer, K: unix.SECCOMP_RET_ALLOW})
	}
	return append(p,
		// glibc starts threads with clone, whose flags can be seen here, if the newer call is not there.
		unix.SockFilter{Code: equal, K: unix.SYS_CLONE3, Jf: 1}, unix.SockFilter{Code: answer, K: no(unix.ENOSYS)},
		unix.SockFilter{Code: equal, K: unix.SYS_CLONE, Jf: 3}, unix.SockFilter{Code: load, K: first},
		unix.SockFilter{Code: anyBit, K: unix.CLONE_THREAD, Jf: 1}, unix.SockFilter{Code: answer, K: unix.SECCOMP_RET_ALLOW},
		unix.SockFilter{Code: answer, K: no(unix.EPERM)})
}

// preferred makes a worker the kernel's choice when memory is short, not the program that it works for.
func preferred(pid string) { _ = os.WriteFile("/proc/"+pid+"/oom_score_adj", []byte("500"), 0o600) } // only advice
