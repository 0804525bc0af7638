package worker

import (
	"path/filepath"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// confineReader is what the thread that starts a clang gives up; clang inherits it. Beyond what workers give up, it can read and execute
// only what is named (Landlock), and call only what compiling and reading files needs (seccomp). The thread is of no more use after it.
//
// Preconditions: the goroutine is locked to its thread and ends with it.
func confineReader(program string, read []string) {
	if unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != nil {
		return
	}
	allowOnly(program, read)
	filterCalls(slices.Concat(allowed, readerCalls))
}

// allowOnly makes the files that are named all that can be read, and the program what can be executed.
func allowOnly(program string, read []string) {
	rules, ok := readRules(read)
	if !ok {
		return
	}
	loaders, _ := filepath.Glob("/lib*/ld-linux*.so*") // the pattern is good
	for _, path := range append(loaders, program) {
		allow(rules, path, unix.LANDLOCK_ACCESS_FS_READ_FILE|unix.LANDLOCK_ACCESS_FS_EXECUTE)
	}
	_, _, _ = unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, rules, 0, 0) // if not, not
	_ = unix.Close(int(rules))
}

// readRules are Landlock's rules by which the files that are named can be read, and nothing else, and nothing be executed. They are a
// file; there is none where the system has no Landlock.
func readRules(read []string) (rules uintptr, ok bool) {
	const version = 1
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, version)
	if errno != 0 {
		return 0, false
	}
	attr := rulesFor(int(abi))
	attr.Access_fs |= unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR | unix.LANDLOCK_ACCESS_FS_EXECUTE
	rules, _, errno = unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return 0, false
	}
	for _, path := range read {
		allow(rules, path, unix.LANDLOCK_ACCESS_FS_READ_FILE|unix.LANDLOCK_ACCESS_FS_READ_DIR)
	}
	return rules, true
}

// allow adds a file or a folder. One that is not there needs no rule.
func allow(rules uintptr, path string, access uint64) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT != unix.S_IFDIR {
		access &^= unix.LANDLOCK_ACCESS_FS_READ_DIR
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
	_, _, _ = unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, rules, unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0) // if not, it cannot be read
}

// readerCalls are what starting a program takes beside openCalls and allowed.
var readerCalls = slices.Concat(oldStartCalls, openCalls, []uint32{
	unix.SYS_EXECVE, unix.SYS_CLONE, unix.SYS_WAIT4, unix.SYS_WAITID, unix.SYS_PIDFD_OPEN, unix.SYS_PIDFD_SEND_SIGNAL, unix.SYS_CHDIR, unix.SYS_SETSID, unix.SYS_SETPGID,
})

// openCalls are what reading files takes beside allowed, for a program that has started.
var openCalls = slices.Concat(oldOpenCalls, []uint32{
	unix.SYS_PRLIMIT64, unix.SYS_PRCTL, unix.SYS_OPENAT, unix.SYS_NEWFSTATAT, unix.SYS_STATX, unix.SYS_FACCESSAT, unix.SYS_FACCESSAT2, unix.SYS_READLINKAT, unix.SYS_GETDENTS64,
	unix.SYS_GETCWD, unix.SYS_STATFS, unix.SYS_FSTATFS, unix.SYS_UMASK, unix.SYS_FADVISE64, unix.SYS_IOCTL,
})
