package compile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A compiler that starts and says nothing holds up those who ask it, and nobody else.
func TestSilentCompiler(t *testing.T) {
	c := New(Config{Command: []string{"/bin/cat"}, Version: "v"})
	c.Start()
	time.Sleep(20 * time.Millisecond)
	done := make(chan struct{})
	go func() {
		c.Close()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Error("Close waits for the compiler's greeting")
	}
}

// The socket stays out of the numbers that the host uses, and is closed in what the host executes.
func TestSocketNumber(t *testing.T) {
	var lim unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &lim); err != nil || lim.Cur <= highFile {
		t.Skip("the process may not have so many files")
	}
	_, conn, err := spawn([]string{"/bin/cat"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if conn.fd < highFile {
		t.Errorf("file %d", conn.fd)
	}
	if flags, err := unix.FcntlInt(uintptr(conn.fd), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
		t.Errorf("flags %#x, %v", flags, err)
	}
}

// A program that closes all its files and opens others keeps those: a socket is not taken for what it is no more.
func TestSocketLost(t *testing.T) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pair[1])
	c, err := newConn(pair[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	other, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Dup3(int(other.Fd()), pair[0], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pair[0])
	if _, err := c.Write([]byte("x")); !errors.Is(err, errLost) {
		t.Errorf("write: %v", err)
	}
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, errLost) {
		t.Errorf("read: %v", err)
	}
	if err := (&process{conn: c}).hello(); !errors.Is(err, errStillborn) || !passing(err) { // another process is started
		t.Errorf("before its greeting: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	var st unix.Stat_t
	if err := unix.Fstat(pair[0], &st); err != nil || st.Size != 0 {
		t.Errorf("the program's file: %v, %d bytes", err, st.Size)
	}
}

// Reads end in time, and when the connection is closed.
func TestSocketWaits(t *testing.T) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pair[1])
	c, err := newConn(pair[0])
	if err != nil {
		t.Fatal(err)
	}
	_ = c.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("read: %v", err)
	}
	_ = c.SetReadDeadline(time.Time{})
	done := make(chan error, 1)
	go func() { _, err := c.Read(make([]byte, 1)); done <- err }()
	time.Sleep(20 * time.Millisecond)
	_ = c.Close()
	select {
	case err := <-done:
		if err == nil {
			t.Error("a closed connection gave a byte")
		}
	case <-time.After(10 * time.Second):
		t.Error("Close does not end a read")
	}
}

// Where a system refuses the hidden grandchild, an ordinary child serves, in a session of its own.
func TestPlainStart(t *testing.T) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pair[0])
	pid, err := plainStart([]string{"/bin/cat"}, nil, [3]int{pair[1], pair[1], pair[1]})
	unix.Close(pair[1])
	if err != nil {
		t.Fatal(err)
	}
	if sid, err := unix.Getsid(pid); err != nil || sid != pid {
		t.Errorf("session %d, %v", sid, err)
	}
	var b [8]byte
	if _, err := unix.Write(pair[0], []byte("hello")); err != nil {
		t.Fatal(err)
	}
	if n, err := unix.Read(pair[0], b[:]); err != nil || string(b[:n]) != "hello" {
		t.Errorf("%q, %v", b[:n], err)
	}
	if err := unix.Shutdown(pair[0], unix.SHUT_WR); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); unix.Kill(pid, 0) == nil; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the child is not reaped")
		}
	}
	if _, err := plainStart([]string{"/nonexistent"}, nil, [3]int{0, 1, 2}); !errors.Is(err, unix.ENOENT) {
		t.Errorf("a program that is not there: %v", err)
	}
}

// A compiler that ends before its greeting is started again, a few times.
func TestStillborn(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for deaths, lives := range []bool{true, true, true, false} {
		file := filepath.Join(t.TempDir(), "deaths")
		if err := os.WriteFile(file, make([]byte, deaths), 0o600); err != nil {
			t.Fatal(err)
		}
		c := New(Config{Command: []string{exe, "double", "stillborn", file}, Version: "v"})
		_, err := c.process()
		var no *NoCompiler
		if lives != (err == nil) || !lives && !errors.As(err, &no) {
			t.Errorf("%d deaths: %v", deaths, err)
		}
		if _, again := c.process(); lives != (again == nil) {
			t.Errorf("%d deaths, asked again: %v", deaths, again)
		}
		if left, err := os.Stat(file); err != nil || left.Size() != 0 {
			t.Errorf("%d deaths: %d were left", deaths, left.Size())
		}
		c.Close()
	}
}
