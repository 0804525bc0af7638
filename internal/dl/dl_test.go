package dl

import (
	"errors"
	"strings"
	"testing"
)

func TestCallLibc(t *testing.T) {
	l, err := Open("libc.so.6")
	if err != nil {
		t.Fatal(err)
	}
	f, err := l.Find("strlen")
	if err != nil {
		t.Fatal(err)
	}
	b := Alloc(16)
	defer b.Free()
	copy(b.Bytes(), "kudzu")
	if n := f.Call(b.Addr()); n != 5 {
		t.Errorf("strlen = %d, want 5", n)
	}
	if !strings.Contains(f.File(), "libc") {
		t.Errorf("strlen lives in %q, want libc", f.File())
	}
	if _, err := l.Find("no_such_function"); !errors.Is(err, ErrMissing) {
		t.Errorf("missing function: %v", err)
	}
	if _, err := Open("libno_such_library.so"); err == nil {
		t.Error("opened a library that is not there")
	}
}
