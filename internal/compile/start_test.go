package compile

import (
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
	err = conn.raw.Control(func(fd uintptr) {
		if fd < highFile {
			t.Errorf("file %d", fd)
		}
		if flags, err := unix.FcntlInt(fd, unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
			t.Errorf("flags %#x, %v", flags, err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}
