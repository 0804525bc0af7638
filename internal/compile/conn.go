package compile

import (
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"kudzu/internal/lockrank"
)

// conn is our end of the socket to the compiler process. It is a socket and not a pipe because only send can be told
// not to raise SIGPIPE: Go's runtime leaves that signal to the program we live in, and its default ends the process.
//
// The program may close every file it has, ours too, and open others under the same numbers, as daemons do. So a number is looked at
// before it is used, and Go's own poller, which would be lost without its files, has no part in it.
type conn struct {
	fd  int
	ino uint64 // of the socket that fd is meant to be

	mu       lockrank.Mutex[lockrank.CompileConn]
	closed   bool      // guarded by mu
	using    int       // calls that use fd: the last of them closes it; guarded by mu
	deadline time.Time // of reads; guarded by mu
}

// errLost is a socket that the program has closed.
var errLost = errors.New("the program closed the socket to the compiler process")

// slice bounds how long a call waits before it looks at its file again.
const slice = time.Second

// newConn takes over a non-blocking socket.
func newConn(fd int) (*conn, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return &conn{fd: fd, ino: st.Ino}, nil
}

// enter begins a use of the file, and leave ends it.
func (c *conn) enter() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return os.ErrClosed
	}
	c.using++
	return nil
}

func (c *conn) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.using--; c.using == 0 && c.closed {
		c.drop()
	}
}

// drop closes the file if it is still ours.
//
// Preconditions: mu is held.
func (c *conn) drop() {
	if c.ours() {
		unix.Close(c.fd)
	}
}

// ours reports that the number still is the socket.
func (c *conn) ours() bool {
	var st unix.Stat_t
	return unix.Fstat(c.fd, &st) == nil && st.Ino == c.ino && st.Mode&unix.S_IFMT == unix.S_IFSOCK
}

// Close ends the connection: the other side sees the end, and calls under way return.
func (c *conn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return os.ErrClosed
	}
	c.closed = true
	if c.ours() {
		_ = unix.Shutdown(c.fd, unix.SHUT_RDWR) // the other end may be gone
	}
	if c.using == 0 {
		c.drop()
	}
	return nil
}

// SetReadDeadline bounds reads that begin after it; the zero time does not.
func (c *conn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = t
	return nil
}

// Read waits for bytes and gives those that are there.
func (c *conn) Read(p []byte) (int, error) {
	if err := c.enter(); err != nil {
		return 0, err
	}
	defer c.leave()
	c.mu.Lock()
	until := c.deadline
	c.mu.Unlock()
	for {
		if err := c.ready(unix.POLLIN, until); err != nil {
			return 0, err
		}
		n, err := unix.Read(c.fd, p)
		switch {
		case errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return 0, err
		case n == 0 && len(p) > 0:
			return 0, io.EOF
		}
		return n, nil
	}
}

// Write sends all of p, or fails with EPIPE when nobody is there any more.
func (c *conn) Write(p []byte) (int, error) {
	if err := c.enter(); err != nil {
		return 0, err
	}
	defer c.leave()
	sent := 0
	for sent < len(p) {
		if err := c.ready(unix.POLLOUT, time.Time{}); err != nil {
			return sent, err
		}
		n, err := unix.SendmsgN(c.fd, p[sent:], nil, nil, unix.MSG_NOSIGNAL)
		if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return sent, err
		}
		sent += n
	}
	return sent, nil
}

// ready waits until the socket can be read or written, and makes sure that it is ours just before.
func (c *conn) ready(events int16, until time.Time) error {
	for {
		if !c.ours() {
			return errLost
		}
		wait := slice
		if !until.IsZero() {
			if wait = min(slice, time.Until(until)); wait <= 0 {
				return os.ErrDeadlineExceeded
			}
		}
		fds := []unix.PollFd{{Fd: int32(c.fd), Events: events}}
		n, err := unix.Poll(fds, int(wait/time.Millisecond)+1)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
		c.mu.Lock()
		closed := c.closed
		c.mu.Unlock()
		if closed {
			return os.ErrClosed
		}
		if n > 0 && c.ours() {
			return nil
		}
	}
}
