package worker

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"kudzu/internal/compile"
	"kudzu/internal/config"
)

// confinedTo reads what the test asks for: "all", or "start" for what a worker inherits alone.
func confinedTo(args []string) bool {
	v := os.Getenv("KUDZU_TEST_CONFINED")
	return v == "all" || v == "start" && len(args) == 0
}

// attempts are what a worker has no business with.
var attempts = []struct {
	name string
	try  func() error
}{
	{"read", func() error { _, err := os.ReadFile("/etc/passwd"); return err }},
	{"list", func() error { _, err := os.ReadDir("/"); return err }},
	{"write", func() error { return os.WriteFile(os.Getenv("KUDZU_TEST_MARK"), nil, 0o600) }},
	{"mkdir", func() error { return os.Mkdir(os.Getenv("KUDZU_TEST_MARK"), 0o700) }},
	{"network", func() error { _, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0); return err }},
	{"socket", func() error { _, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0); return err }},
	{"exec", func() error { return exec.Command("/bin/true").Run() }},
	{"kill", func() error { return syscall.Kill(os.Getppid(), 0) }},
	{"trace", func() error {
		_, _, e := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_TRACEME, 0, 0, 0, 0, 0)
		return errnoError(e)
	}},
	{"namespace", func() error { return unix.Unshare(unix.CLONE_NEWUSER) }},
}

func errnoError(e syscall.Errno) error {
	if e == 0 {
		return nil
	}
	return e
}

// escapes says which of the attempts that the test names this process could make. The others are not made: a process that traces itself
// stops at its next signal, and Go's scheduler sends signals.
func escapes() string {
	var could []string
	tried := strings.Fields(os.Getenv("KUDZU_TEST_ATTEMPTS"))
	for _, a := range attempts {
		if slices.Contains(tried, a.name) && a.try() == nil {
			could = append(could, a.name)
		}
	}
	return "could " + strings.Join(could, " ") + "."
}

// TestConfined: a worker compiles and can do nothing else; what it inherits already keeps it from writing.
func TestConfined(t *testing.T) {
	if _, err := unix.PrctlRetInt(unix.PR_GET_SECCOMP, 0, 0, 0, 0); err != nil {
		t.Skip("this system has no seccomp")
	}
	const probe = 1
	_, _, landlock := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, probe)
	for to, not := range map[string][]string{"all": {"read", "list", "write", "mkdir", "network", "socket", "exec", "kill", "trace", "namespace"}, "start": {"write", "mkdir"}} {
		t.Run(to, func(t *testing.T) {
			if to == "start" && landlock != 0 {
				t.Skip("this system has no Landlock")
			}
			mark := filepath.Join(t.TempDir(), "mark")
			c := client(t, compile.Config{Env: append(config.ForCompiler(), "KUDZU_TEST_MARK="+mark, "KUDZU_TEST_CONFINED="+to, "KUDZU_TEST_ATTEMPTS="+strings.Join(not, " "))})
			_, err := c.Compile(request("escape"))
			var failed *compile.Failed
			if !errors.As(err, &failed) {
				t.Fatalf("%v", err)
			}
			_, text, ok := strings.Cut(failed.Text, "could ")
			text, _, ok2 := strings.Cut(text, ".")
			if !ok || !ok2 {
				t.Fatalf("%v", err)
			}
			for _, word := range strings.Fields(text) {
				t.Errorf("a worker can %s", word)
			}
			if _, err := os.Stat(mark); err == nil {
				t.Error("a worker wrote a file")
			}
			if _, err := c.Compile(request("fine")); err != nil {
				t.Errorf("a confined worker does not compile: %v", err)
			}
		})
	}
}
