// Package hipdouble builds the double of libamdhip64 that lies in internal/backend/hip/testdata/double, and runs kernels for it:
// on the interpreter, from the PTX they came from, or by a program outside that speaks the same protocol.
//
// The protocol is one line each way over a socket that the runner listens on, its path in KUDZU_DOUBLE_RUNNER:
//
//	launch kernel=NAME arch=gfx1100 base=ADDR size=N kd=ADDR entry=ADDR grid=X,Y,Z block=X,Y,Z lds=N kernarg=ADDR bytes=N arena=ADDR cooperative=0
//	ok | error N
//
// Addresses are of the process that launches; all of them lie in the arena, a mapping of 4 GiB at arena of the file that
// KUDZU_DOUBLE_ARENA names, which a runner in another process maps at the same place. The code object is loaded at base, kd is
// the kernel's descriptor, entry its first instruction; lds are the bytes of dynamic shared memory, kernarg the argument block
// with the hidden arguments filled in. The answer comes when the kernel is done; N is HIP's code.
package hipdouble

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// sources are the double's, seen from this file's package and from any other of testkit.
func sources() ([]string, error) {
	_, self, _, _ := runtime.Caller(0)
	for _, dir := range []string{filepath.Dir(self), "."} {
		for up := ""; len(up) < 24; up += "../" {
			list, err := filepath.Glob(filepath.Join(dir, up, "internal/backend/hip/testdata/double/*.c"))
			if err == nil && len(list) > 0 {
				return list, nil
			}
		}
	}
	return nil, fmt.Errorf("the double's sources are not here")
}

// built are the libraries compiled so far, by their flags: compiling takes a second, and each test wants a copy of its own,
// because a library that is open twice is open once.
var built struct {
	sync.Mutex
	libs map[string][]byte
}

// Build compiles the double, with more flags for the C compiler if given, and gives the library's path.
func Build(t testing.TB, flags ...string) string {
	t.Helper()
	built.Lock()
	defer built.Unlock()
	out := filepath.Join(t.TempDir(), "libamdhip64.so.6")
	key := strings.Join(flags, " ")
	if built.libs[key] == nil {
		cc, err := exec.LookPath("cc")
		if err != nil {
			t.Skipf("no C compiler: %v", err)
		}
		list, err := sources()
		if err != nil {
			t.Fatal(err)
		}
		args := append([]string{"-O1", "-g", "-shared", "-fPIC", "-Wall", "-Werror", "-o", out}, flags...)
		if text, err := exec.Command(cc, append(append(args, list...), "-lpthread")...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		b, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		if built.libs == nil {
			built.libs = map[string][]byte{}
		}
		built.libs[key] = b
	}
	if err := os.WriteFile(out, built.libs[key], 0o755); err != nil {
		t.Fatal(err)
	}
	return out
}

// Launch is one launch as the double tells it.
type Launch struct {
	Kernel, Arch   string
	Base, Size     uint64
	KD, Entry      uint64
	Grid, Block    [3]uint32
	LDS            uint32
	Kernarg, Bytes uint64
	Arena          uint64
	Cooperative    uint64 // 1: all blocks run at once
}

// Listen answers launches on a socket as long as the process lives.
func Listen(path string, run func(*Launch) error) error {
	_, err := listen(path, run)
	return err
}

func listen(path string, run func(*Launch) error) (net.Listener, error) {
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go serve(c, run)
		}
	}()
	return l, nil
}

// maxSocket is the longest path of a socket: sun_path of the system's sockaddr_un holds it and a zero.
const maxSocket = 107

// Socket is a path for a socket, in a folder that goes with the test: in the system's own folder for temporary files where the
// test's is too deep.
func Socket(t testing.TB) string {
	t.Helper()
	if path := filepath.Join(t.TempDir(), "runner"); len(path) <= maxSocket {
		return path
	}
	dir, err := os.MkdirTemp("/tmp", "kudzu-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "runner")
}

// Serve answers launches on a socket of its own until the test ends, and tells programs of this process where it is.
func Serve(t testing.TB, run func(*Launch) error) {
	t.Helper()
	path := Socket(t)
	l, err := listen(path, run)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	t.Setenv("KUDZU_DOUBLE_RUNNER", path)
}

func serve(c net.Conn, run func(*Launch) error) {
	defer c.Close()
	for s := bufio.NewScanner(c); s.Scan(); {
		l, err := parse(s.Text())
		if err == nil {
			err = run(l)
		}
		answer := "ok"
		if err != nil {
			answer = fmt.Sprintf("error %d", code(err))
		}
		if _, err := fmt.Fprintln(c, answer); err != nil {
			return
		}
	}
}

// parse reads a line of the protocol.
func parse(line string) (*Launch, error) {
	words := strings.Fields(line)
	if len(words) == 0 || words[0] != "launch" {
		return nil, fmt.Errorf("not a launch: %q", line)
	}
	l := &Launch{}
	numbers := map[string]*uint64{"base": &l.Base, "size": &l.Size, "kd": &l.KD, "entry": &l.Entry, "kernarg": &l.Kernarg, "bytes": &l.Bytes, "arena": &l.Arena, "cooperative": &l.Cooperative}
	triples := map[string]*[3]uint32{"grid": &l.Grid, "block": &l.Block}
	for _, w := range words[1:] {
		key, val, _ := strings.Cut(w, "=")
		var err error
		switch {
		case key == "kernel":
			l.Kernel = val
		case key == "arch":
			l.Arch = val
		case key == "lds":
			var n uint64
			n, err = strconv.ParseUint(val, 0, 32)
			l.LDS = uint32(n)
		case numbers[key] != nil:
			*numbers[key], err = strconv.ParseUint(val, 0, 64)
		case triples[key] != nil:
			_, err = fmt.Sscanf(val, "%d,%d,%d", &triples[key][0], &triples[key][1], &triples[key][2])
		default:
			err = fmt.Errorf("not a word of the protocol")
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w, err)
		}
	}
	return l, nil
}
