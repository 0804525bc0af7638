package compile

import (
	"errors"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestAdopt: a process that was started ahead answers the first request; one that is not needed is let go, and one that does not greet is
// replaced.
func TestAdopt(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	early := func(mode string) (pid, fd int) {
		pid, conn, err := spawn([]string{exe, "double", mode}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return pid, conn.fd
	}
	gone := func(pid int) bool {
		for range 1000 {
			if unix.Kill(pid, 0) != nil {
				return true
			}
			time.Sleep(10 * time.Millisecond)
		}
		return false
	}
	c := New(Config{Command: []string{"/no/such/program"}, Timeout: time.Minute})
	pid, fd := early("no error")
	c.Adopt(fd, pid)
	var failed *Failed
	if _, err := c.Compile(&Request{PTX: "x", Kernel: "k"}); !errors.As(err, &failed) || c.proc == nil || c.proc.pid != pid {
		t.Errorf("%T %v, process %v, want %d", err, err, c.proc, pid)
	}
	second, fd := early("no error")
	if c.Adopt(fd, second); !gone(second) {
		t.Error("a process that nobody needs stays")
	}
	if c.Close(); !gone(pid) {
		t.Error("the process stays")
	}

	c = New(Config{Command: []string{exe, "double", "no error"}, Timeout: time.Minute})
	pid, fd = early("silent")
	c.Adopt(fd, pid)
	if _, err := c.Compile(&Request{PTX: "x", Kernel: "k"}); !errors.As(err, &failed) || c.proc == nil || c.proc.pid == pid {
		t.Errorf("behind a process that does not greet: %T %v", err, err)
	}
	c.Close()

	c = New(Config{Command: []string{exe, "double", "no error"}})
	pid, fd = early("no error")
	c.Adopt(fd, pid)
	if c.Close(); !gone(pid) {
		t.Error("a process that was not used stays")
	}
}
