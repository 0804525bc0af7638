package logx

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

func capture(t *testing.T, f func()) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	old := Stderr
	Stderr = output(w.Fd())
	f()
	Stderr = old
	_ = w.Close()
	b, _ := io.ReadAll(r)
	return string(b)
}

func TestLevels(t *testing.T) {
	SetLevel(Warn)
	seen.Clear()
	got := capture(t, func() {
		Errorf("a %d", 1)
		Infof("silent")
		Once("k", "two\nlines")
		Once("k", "again")
		Warnf("%s", strings.Repeat("x", 5000))
	})
	want := "kudzu: a 1\nkudzu: two; lines\nkudzu: " + strings.Repeat("x", maxLine) + " ...\n"
	if got != want {
		t.Errorf("got %q", got)
	}
}

func TestEnv(t *testing.T) {
	for env, want := range map[string]Level{"": Warn, "debug": Debug, "ERROR": Error, "loud": Warn} {
		t.Setenv("KUDZU_LOG", env)
		out := capture(t, fromEnv)
		if Level(level.Load()) != want || (out != "") != (env == "loud") {
			t.Errorf("%q: level %d, said %q", env, level.Load(), out)
		}
	}
}

// A program whose standard error nobody reads any more goes on: it may not even have noticed.
func TestBrokenPipe(t *testing.T) {
	if os.Getenv("KUDZU_TEST_CHILD") != "" {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Close()
		if err := syscall.Dup3(int(w.Fd()), 2, 0); err != nil {
			t.Fatal(err)
		}
		Errorf("into the void")
		os.Exit(0)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestBrokenPipe$")
	cmd.Env = append(os.Environ(), "KUDZU_TEST_CHILD=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// What the program's standard error is for is written as the house says, and messages are not.
func TestComplaints(t *testing.T) {
	defer complaints.Store(nil)
	var got string
	Complaints(func(text []byte) { got += string(text) })
	if n, err := Stderr.Write([]byte("assertion\n")); n != 10 || err != nil || got != "assertion\n" {
		t.Errorf("%d, %v: %q", n, err, got)
	}
	defer lines.Store(nil)
	Lines(func(text []byte) { got += "line " + string(text) })
	_, _ = Messages.Write([]byte("message\n"))
	if got != "assertion\nline message\n" {
		t.Errorf("%q", got)
	}
}
