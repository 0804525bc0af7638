package compile

import (
	"errors"
	"fmt"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// spawnArgs is what rawSpawn reads and writes; the offsets are in the assembly files.
type spawnArgs struct {
	path *byte      //   0
	argv **byte     //   8
	envp **byte     //  16
	fd   [3]int64   //  24  become 0, 1 and 2
	pid  int64      //  48  out: the process, or -errno of its clone
	err  int64      //  56  out: -errno of its execve
	_    uint64     //  64  mask: our signal mask before
	all  uint64     //  72  all signals
	_    [4]uint64  //  80  dfl: the default action
	_    uint64     // 112  none: no signals
	mid  int64      // 120  out: the process between, or -errno of its clone
	_    [2]uintptr // room
}

// rawSpawn starts a program as a grandchild: clone, clone again in the child, execve in the grandchild. It is assembly
// because between clone and execve three processes share our memory and none of them may run Go.
//
// The process between never executes a program, so it keeps the exit signal it was cloned with: none. The host gets no
// SIGCHLD, and its waitpid(-1) does not see such a child (only __WCLONE and __WALL do; we reap it with the former,
// by number). The compiler itself is nobody's child any more when it ends. A child that executes a program cannot be
// hidden that way, because execve sets its exit signal back to SIGCHLD: hence two steps.
//
//go:noescape
func rawSpawn(a *spawnArgs)

// spawn starts a program with one socket as its standard input and output, in a session of its own, with no other file
// of ours open. Its standard error is nowhere.
func spawn(argv, env []string) (pid int, c *conn, err error) {
	ours, theirs, null := -1, -1, -1
	defer func() {
		for _, fd := range []int{theirs, null} {
			if fd >= 0 {
				unix.Close(fd)
			}
		}
		if err != nil && ours >= 0 {
			unix.Close(ours)
		}
	}()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, nil, fmt.Errorf("socketpair: %w", err)
	}
	ours, theirs = pair[0], pair[1]
	if null, err = unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0); err != nil {
		return 0, nil, fmt.Errorf("/dev/null: %w", err)
	}
	// The child's are numbered 10 and up, so that making them 0, 1 and 2 overwrites none.
	for _, fd := range []*int{&theirs, &null} {
		high, err := unix.FcntlInt(uintptr(*fd), unix.F_DUPFD_CLOEXEC, 10)
		if err != nil {
			return 0, nil, fmt.Errorf("dup: %w", err)
		}
		unix.Close(*fd)
		*fd = high
	}
	ours = outOfTheWay(ours)
	if err = unix.SetNonblock(ours, true); err != nil { // for deadlines; the other end has its own flag
		return 0, nil, err
	}
	files := [3]int{theirs, theirs, null}
	if pid, err = rawStart(argv, env, files); errors.Is(err, errNoClone) {
		pid, err = plainStart(argv, env, files)
	}
	if err != nil {
		return 0, nil, err
	}
	c, err = newConn(ours)
	return pid, c, err
}

// highFile is where our files of a host process go: low numbers are the host's, which may count on the next one it opens, or
// close them all in a row.
const highFile = 1000

// outOfTheWay moves fd to a number from highFile on, or as high as the process may.
func outOfTheWay(fd int) int {
	for at := highFile; at > fd; at /= 2 {
		high, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, at)
		if err == nil {
			unix.Close(fd)
			return high
		}
	}
	return fd
}

func rawStart(argv, env []string, fds [3]int) (int, error) {
	path, err := unix.BytePtrFromString(argv[0])
	if err != nil {
		return 0, err
	}
	argvp, err := syscall.SlicePtrFromStrings(argv)
	if err != nil {
		return 0, err
	}
	envp, err := syscall.SlicePtrFromStrings(env)
	if err != nil {
		return 0, err
	}
	a := &spawnArgs{path: path, argv: &argvp[0], envp: &envp[0], all: ^uint64(0)}
	for i, fd := range fds {
		a.fd[i] = int64(fd)
	}
	runtime.LockOSThread()
	rawSpawn(a)
	runtime.UnlockOSThread()
	runtime.KeepAlive(argvp)
	runtime.KeepAlive(envp)
	if syscall.Errno(-a.mid) == syscall.EINVAL {
		return 0, errNoClone
	}
	if a.mid < 0 {
		return 0, fmt.Errorf("clone: %w", syscall.Errno(-a.mid))
	}
	for {
		if _, err := unix.Wait4(int(a.mid), nil, unix.WCLONE, nil); !errors.Is(err, unix.EINTR) {
			break // ECHILD: a host that waits with __WALL was faster
		}
	}
	if a.pid < 0 {
		return 0, fmt.Errorf("clone: %w", syscall.Errno(-a.pid))
	}
	if a.err < 0 {
		return 0, fmt.Errorf("exec: %w", syscall.Errno(-a.err))
	}
	return int(a.pid), nil
}

// errNoClone is a system that knows no child without an exit signal: qemu's emulation of one.
var errNoClone = errors.New("clone without an exit signal: invalid argument")

// plainStart starts the program as an ordinary child. The host may see it end.
func plainStart(argv, env []string, fds [3]int) (int, error) {
	attr := &syscall.ProcAttr{Env: env, Files: []uintptr{uintptr(fds[0]), uintptr(fds[1]), uintptr(fds[2])}, Sys: &syscall.SysProcAttr{Setsid: true}}
	pid, err := syscall.ForkExec(argv[0], argv, attr)
	if err != nil {
		return 0, fmt.Errorf("exec: %w", err)
	}
	go func() {
		for {
			if _, err := unix.Wait4(pid, nil, 0, nil); !errors.Is(err, unix.EINTR) {
				return // ECHILD: the host was faster
			}
		}
	}()
	return pid, nil
}

var _ [120]struct{} = [unsafe.Offsetof(spawnArgs{}.mid)]struct{}{} // the assembly knows it
