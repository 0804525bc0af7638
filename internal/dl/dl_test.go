package dl

import (
	"encoding/binary"
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

func TestLook(t *testing.T) {
	names := []string{"libno_such.so.9", "libno_such.so.8", "libc.so.6"}
	lib, err := (&Look{What: "C", Names: names, Folders: []string{"/nonexistent/"}, Symbol: "strlen"}).Open()
	if err != nil || lib.Path() != "libc.so.6" {
		t.Errorf("%v, %v", lib, err)
	}
	if _, err := (&Look{What: "C", Names: names, Symbol: "no_such_function"}).Open(); !errors.Is(err, ErrMissing) {
		t.Errorf("a library that is something else: %v", err)
	}
	for _, c := range []struct {
		look Look
		want string
	}{
		{Look{What: "X", Names: names[:2]}, "X: no libno_such.so.9 or .8 found"},
		{Look{What: "X", Names: []string{"libno_a.so.2", "libno_b.so.2", "libno_b.so.1", "odd"}}, "X: no libno_a.so.2, libno_b.so.2, .1 or odd found"},
		{Look{What: "X", Path: "/nonexistent/x.so", Names: names}, "X: stat /nonexistent/x.so: no such file or directory"},
		{Look{What: "X", Path: "/dev/null", Names: names}, "X: library /dev/null: "},
	} {
		if _, err := c.look.Open(); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// A meeting keeps the thread that calls it until Go is done.
func TestMeeting(t *testing.T) {
	l, err := Open("libc.so.6")
	if err != nil {
		t.Fatal(err)
	}
	create, err := l.Find("pthread_create")
	if err != nil {
		t.Skip(err)
	}
	join, err := l.Find("pthread_join")
	if err != nil {
		t.Skip(err)
	}
	const threads = 20
	id := Alloc(8 * threads)
	defer id.Free()
	var all []*Meeting
	for i := range uintptr(threads) {
		NewMeeting().Abandon()
		m := NewMeeting()
		if r := create.Call(id.Addr()+8*i, 0, m.Func(), m.Data()); int32(r) != 0 {
			t.Fatalf("pthread_create: %d", r)
		}
		all = append(all, m)
	}
	for i := range all { // in another order than they came
		m := all[(7*i+3)%threads]
		m.Wait()
		m.Release()
	}
	for i := range all {
		if r := join.Call(uintptr(binary.NativeEndian.Uint64(id.Bytes()[8*i:])), 0); int32(r) != 0 {
			t.Errorf("pthread_join: %d", r)
		}
	}
}
