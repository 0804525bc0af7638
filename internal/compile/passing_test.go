package compile

import (
	"errors"
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
)

// TestPassing: being out of files for a moment must not send a program to the interpreter for good; a compiler that is
// not there does.
func TestPassing(t *testing.T) {
	if !passing(fmt.Errorf("socket: %w", syscall.EMFILE)) || passing(syscall.ENOENT) {
		t.Error("passing and lasting failures are mixed up")
	}
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	gone := filepath.Join(t.TempDir(), "kudzu")
	c := New(Config{Command: []string{gone, "compiler"}, Version: "test"})
	defer c.Close()
	none := was
	none.Cur = 0
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	_, err := c.process()
	if e := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was); e != nil {
		t.Fatal(e)
	}
	var no *NoCompiler
	if !errors.As(err, &no) || c.missing != nil {
		t.Errorf("without a file to spare: %v, kept %v", err, c.missing)
	}
	if _, err = c.process(); !errors.As(err, &no) || c.missing == nil {
		t.Errorf("without the program: %v, kept %v", err, c.missing)
	}
}
