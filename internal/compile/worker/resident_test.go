package worker

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"kudzu/internal/compile"

	"golang.org/x/sys/unix"
)

var waitingOnce = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "kudzu-clang-test-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "libkudzu-clang.so")
	out, err := exec.Command("cc", "-std=gnu11", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror", "-o", path, "../../../c/clang/clang.c", "-ldl").CombinedOutput()
	if err != nil {
		return "", errors.New(string(out))
	}
	return path, nil
})

// waitingLibrary is what has a clang wait, of the tree's source.
func waitingLibrary(t *testing.T) string {
	t.Helper()
	path, err := waitingOnce()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

const twice = `extern "C" __global__ void twice(int *p) { p[threadIdx.x] *= 2; }`

// TestResident has all compilations made by forks of one clang.
func TestResident(t *testing.T) {
	f := frontEnd(t)
	want := f.good(t, cudaProgram{source: twice}).Code
	first := f.resident
	if first == nil || f.alone {
		t.Fatal("no clang waits")
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if got, err := f.try(t, cudaProgram{source: twice}); err != nil || got.Code != want {
				t.Errorf("%v, other code: %t", err, err == nil)
			}
		})
	}
	wg.Wait()
	if f.resident != first {
		t.Error("a second clang was started")
	}
	if _, err := f.try(t, cudaProgram{source: "#include \"/etc/passwd\"\n" + twice}); err == nil || !strings.Contains(err.Error(), "passwd") {
		t.Errorf("a file that nobody may read was read: %v", err)
	}
}

// TestResidentFiles: a clang that waits and may have no more files begins nothing, because Landlock's rules are a file.
func TestResidentFiles(t *testing.T) {
	f := frontEnd(t)
	want := f.good(t, cudaProgram{source: twice}).Code
	if f.resident == nil || f.resident.cmd == nil {
		t.Fatal("no clang waits")
	}
	const most = 20 // four of a request find a place, the fifth does not
	if err := unix.Prlimit(f.resident.cmd.Process.Pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: most, Max: most}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := f.try(t, cudaProgram{source: "#include \"/etc/passwd\"\n" + twice}); err == nil || strings.Contains(err.Error(), "root") {
		t.Errorf("a file that nobody may read was read: %v", err)
	}
	if got := f.good(t, cudaProgram{source: twice}).Code; got != want {
		t.Error("other code")
	}
}

// TestResidentDies has the next compilation made by another clang.
func TestResidentDies(t *testing.T) {
	f := frontEnd(t)
	f.good(t, cudaProgram{source: twice})
	first := f.resident
	if err := first.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if there, _ := first.is(); !there || time.Now().After(end) {
			break
		}
	}
	f.good(t, cudaProgram{source: twice})
	if f.resident == first || f.resident == nil || f.alone {
		t.Errorf("after its end: %p was %p, alone %t", f.resident, first, f.alone)
	}
}

// TestResidentTimeout ends a process and not the clang that it is a fork of.
func TestResidentTimeout(t *testing.T) {
	f := frontEnd(t)
	f.good(t, cudaProgram{source: twice})
	c, err := f.take(nil)
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	_, err = c.turnTimeout(50 * time.Millisecond)
	var crash *compile.Crash
	if !errors.As(err, &crash) || crash.Signal != "timeout" || time.Since(begin) > 4*time.Second {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
	if f.good(t, cudaProgram{source: twice}); f.alone {
		t.Error("it waits no longer")
	}
}

// turnTimeout waits for a process that gets no arguments.
func (c *clang) turnTimeout(timeout time.Duration) (*clangOutput, error) {
	deps := make(chan string, 1)
	deps <- ""
	defer c.args.Close()
	return c.forkEnded(timeout, deps, nil)
}

// TestForkDies reports the signal that ended a process: one that no LLVM handles. LLVM 19 goes on after a SIGSEGV that another process sent.
func TestForkDies(t *testing.T) {
	f := frontEnd(t)
	f.good(t, cudaProgram{source: twice})
	c, err := f.take(nil)
	if err != nil {
		t.Fatal(err)
	}
	pid := <-c.turn.begun
	if err := syscall.Kill(int(pid), syscall.SIGALRM); err != nil {
		t.Fatal(err)
	}
	c.turn.begun <- pid
	_, err = c.turnTimeout(time.Minute)
	var crash *compile.Crash
	if !errors.As(err, &crash) || crash.Signal != syscall.SIGALRM.String() {
		t.Errorf("%v", err)
	}
}

// TestForkRefused starts the program where the one that waits has gone just now.
func TestForkRefused(t *testing.T) {
	f := frontEnd(t)
	f.good(t, cudaProgram{source: twice})
	r := f.waiting()
	r.mu.Lock()
	r.gone = true
	r.mu.Unlock()
	if c, err := f.fork(r, nil); c != nil || !errors.Is(err, errAlone) {
		t.Errorf("%v, %v", c, err)
	}
	f.good(t, cudaProgram{source: twice})
}

// TestResidentIsNone starts the program for each compilation where the library does nothing.
func TestResidentIsNone(t *testing.T) {
	f := frontEnd(t)
	if err := os.Remove(filepath.Join(f.home, residentLibrary)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(f.home, residentLibrary), []byte("no library"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		f.good(t, cudaProgram{source: twice})
	}
	if !f.alone || f.resident != nil {
		t.Errorf("alone %t, resident %p", f.alone, f.resident)
	}
}

// early starts a clang as c/base/early.c does, and gives the other end of its socket.
func early(t *testing.T, f *clangs) int {
	t.Helper()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	theirs := os.NewFile(uintptr(pair[1]), "theirs")
	defer theirs.Close()
	cmd := exec.Command(compile.Clang(), "-cc1", "@"+argsFile)
	cmd.Env = []string{"LC_ALL=C", "LD_PRELOAD=" + filepath.Join(f.home, residentLibrary)}
	cmd.ExtraFiles = []*os.File{theirs}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		f.close()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("the clang that waited: %v", err)
			}
		case <-time.After(time.Minute):
			t.Error("the clang stays")
		}
	})
	return pair[0]
}

// TestAdoptClang uses a clang that was started ahead, if it is the right one.
func TestAdoptClang(t *testing.T) {
	f := frontEnd(t)
	f.adopt(compile.Clang(), early(t, f))
	first := f.resident
	f.good(t, cudaProgram{source: twice})
	if f.resident != first || first.cmd != nil {
		t.Error("another clang was started")
	}
	other := frontEnd(t)
	other.adopt("/usr/bin/clang-1", early(t, other))
	if other.resident != nil {
		t.Error("a clang was adopted that is not ours")
	}
	other.good(t, cudaProgram{source: twice})
}
