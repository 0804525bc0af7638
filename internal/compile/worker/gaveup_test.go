package worker

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"kudzu/internal/cache"
	"kudzu/internal/compile"
)

// spins has a client compile what never ends, and counts the workers that began with it.
func spins(t *testing.T, store *cache.Cache, background bool, version string) (workers int, err error) {
	t.Helper()
	mark := filepath.Join(t.TempDir(), "begun")
	c := client(t, compile.Config{Cache: store, Version: version, Timeout: time.Second, Env: []string{"KUDZU_TEST_MARK=" + mark}})
	req := request("spin")
	req.Background = background
	_, err = c.Compile(req)
	c.Close()
	begun, e := filepath.Glob(mark + "*")
	if e != nil {
		t.Fatal(e)
	}
	return len(begun), err
}

// shortLived is a cache that a supervisor may still be writing to when the test ends.
func shortLived(t *testing.T) *cache.Cache {
	t.Helper()
	dir, err := os.MkdirTemp("", "kudzu-gaveup")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for range 100 {
			if err = os.RemoveAll(dir); err == nil {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		t.Error(err)
	})
	return cache.Open(cache.Config{Dir: filepath.Join(dir, "c")})
}

// What a background compilation cost in vain is in the cache: another process does not begin it again, if it was enough.
func TestGaveUp(t *testing.T) {
	store := shortLived(t)
	var gone *compile.GaveUp
	for tries := 1; ; tries++ { // on a busy machine one attempt may get too little of the processor
		n, err := spins(t, store, true, "1")
		if errors.As(err, &gone) {
			if n != 0 || tries == 1 || gone.Spent < time.Second/2 {
				t.Errorf("%d workers at attempt %d: %v", n, tries, err)
			}
			break
		}
		var crash *compile.Crash
		if !errors.As(err, &crash) || crash.Signal != "timeout" || tries > 30 {
			t.Fatalf("attempt %d: %v", tries, err)
		}
		if n > 1 && (crash.Once || crash.Spent > 2*time.Second/50+time.Second/2) { // the first was no hang
			t.Errorf("%d workers: %v, %v", n, err, crash.Spent)
		}
	}
	for what, row := range map[string]struct {
		background bool
		version    string
	}{"somebody waits": {false, "1"}, "another compiler": {true, "2"}} {
		if n, err := spins(t, store, row.background, row.version); n == 0 {
			t.Errorf("%s: no attempt: %v", what, err)
		}
	}
}

// What outlives its client and does not end counts, too.
func TestGaveUpFinishing(t *testing.T) {
	store := shortLived(t)
	c := client(t, compile.Config{Cache: store, Timeout: 10 * time.Millisecond}) // a client for which any time is too long
	req := request("spin")
	req.Background = true
	req.Store = &compile.Store{Dir: store.Dir(), Size: store.Limit(), Key: c.Key(req)}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	s := newSupervisor(self(t), false, outW)
	s.finishLimit = time.Second
	status := make(chan int)
	go func() { status <- s.run(inR) }()
	if err := greeting(outR); err != nil {
		t.Fatal(err)
	}
	f, err := compile.EncodeRequest(1, req, time.Hour.Milliseconds())
	if err != nil {
		t.Fatal(err)
	}
	if err := compile.WriteFrame(inW, f); err != nil {
		t.Fatal(err)
	}
	for begun := false; !begun; time.Sleep(10 * time.Millisecond) {
		s.behind.mu.Lock()
		begun = len(s.behind.at) == 1
		s.behind.mu.Unlock()
	}
	time.Sleep(100 * time.Millisecond) // it works
	inW.Close()
	select {
	case <-status:
	case <-time.After(time.Minute):
		t.Fatal("the supervisor stays")
	}
	var gone *compile.GaveUp
	if _, err := c.Compile(req); !errors.As(err, &gone) {
		t.Errorf("%v", err)
	}
}
