package compile

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// writeToNobody takes Go's SIGPIPE handler away and writes to a socket whose other end is closed.
func writeToNobody() {
	var dfl [4]uint64
	if _, _, e := syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(syscall.SIGPIPE), uintptr(unsafe.Pointer(&dfl)), 0, 8, 0, 0); e != 0 {
		fmt.Println(e)
		return
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	unix.Close(pair[1])
	c, err := newConn(pair[0])
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := WriteFrame(c, Frame{Kind: FrameRequest, Body: make([]byte, 1<<20)}); errors.Is(err, unix.EPIPE) {
		fmt.Println("broken pipe, alive")
	}
}
