package compile

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// conn is our end of the socket to the compiler process. It is a socket and not a pipe because only send can be told
// not to raise SIGPIPE: Go's runtime leaves that signal to the program we live in, and its default ends the process.
type conn struct {
	*os.File
	raw syscall.RawConn
}

// newConn takes over a non-blocking socket.
func newConn(fd int) (*conn, error) {
	f := os.NewFile(uintptr(fd), "compiler process")
	raw, err := f.SyscallConn()
	if err != nil {
		f.Close()
		return nil, err
	}
	return &conn{f, raw}, nil
}

// Write sends all of p, or fails with EPIPE when nobody is there any more.
func (c *conn) Write(p []byte) (int, error) {
	sent := 0
	for sent < len(p) {
		var n int
		var err error
		e := c.raw.Write(func(fd uintptr) bool {
			n, err = unix.SendmsgN(int(fd), p[sent:], nil, nil, unix.MSG_NOSIGNAL)
			return !errors.Is(err, unix.EAGAIN) // else wait until there is room
		})
		if e != nil {
			return sent, e
		}
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return sent, err
		}
		sent += n
	}
	return sent, nil
}
