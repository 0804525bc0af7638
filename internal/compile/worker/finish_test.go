package worker

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"kudzu/internal/cache"
	"kudzu/internal/compile"
)

// begunBehind has a client begin a background compilation, and end. The compilation ends when end is called.
func begunBehind(t *testing.T, store *cache.Cache) (req *compile.Request, end func()) {
	t.Helper()
	req = request("wait")
	req.Background = true
	mark := filepath.Join(t.TempDir(), "begun")
	c := client(t, compile.Config{Cache: store, Env: []string{"KUDZU_TEST_MARK=" + mark}})
	go func() { _, _ = c.Compile(req) }() // the client ends before it is answered
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(mark); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("it never begins")
		}
	}
	c.Close()
	return req, func() {
		if err := os.WriteFile(mark+".go", nil, 0o600); err != nil {
			t.Error(err)
		}
	}
}

// What was begun in the background when the program ends is finished, and is there for its next start.
func TestFinish(t *testing.T) {
	store := cache.Open(cache.Config{Dir: filepath.Join(t.TempDir(), "c")})
	req, end := begunBehind(t, store)
	end()
	later := compile.New(compile.Config{Command: self(t), Cache: store})
	defer later.Close()
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, ok := later.Cached(req); ok {
			break
		}
		if time.Now().After(end) {
			t.Fatal("it is not in the cache")
		}
	}
	lockFinishing(t, store) // who finished may have more to write, and the folder goes with the test
}

// lockFinishing waits until no process finishes, and lets none before the test ends.
func lockFinishing(t *testing.T, store *cache.Cache) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(store.Dir(), "finishing"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
}

// One process finishes at a time: where another does, ours ends with its program.
func TestFinishOnce(t *testing.T) {
	store := cache.Open(cache.Config{Dir: filepath.Join(t.TempDir(), "c")})
	lockFinishing(t, store)
	req, end := begunBehind(t, store)
	time.Sleep(time.Second) // it ends now, if it does
	end()
	time.Sleep(time.Second)
	if _, ok := compile.New(compile.Config{Command: self(t), Cache: store}).Cached(req); ok {
		t.Error("it was finished")
	}
}

// A worker of the background is nicer than others.
func TestYields(t *testing.T) {
	own := nice(t, "/proc/self/stat") // before the thread that it tells of may be the one that yields
	for _, yields := range []bool{false, true} {
		c, err := startChild(append(self(t), "worker", kindBaseline), false, yields)
		if err != nil {
			t.Fatal(err)
		}
		threads, err := filepath.Glob("/proc/" + strconv.Itoa(c.cmd.Process.Pid) + "/task/*/stat")
		if err != nil || len(threads) == 0 {
			t.Fatal(err)
		}
		for _, f := range threads {
			if n := nice(t, f); (n > own) != yields {
				t.Errorf("yields %v: nice %d, we are %d", yields, n, own)
			}
		}
		c.end()
	}
}

// nice reads field 19 of a stat file.
func nice(t *testing.T, path string) int {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	n, err := strconv.Atoi(strings.Fields(rest)[16])
	if err != nil {
		t.Fatal(err)
	}
	return n
}
