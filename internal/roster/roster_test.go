package roster

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

func mine(t *testing.T) (Process, bool) {
	t.Helper()
	all, err := List()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(p Process) bool { return p.Pid == os.Getpid() })
	if i < 0 {
		return Process{}, false
	}
	return all[i], true
}

func TestPage(t *testing.T) {
	p, err := Join(3)
	if err != nil {
		t.Skip(err) // a machine where no folder can be made
	}
	p.SetUsed(1, 77)
	p.SetUsed(Devices, 1)
	p.words[wordKernels].Add(500)
	got, ok := mine(t)
	if !ok || got.Threads != 3 || got.Used[1] != 77 || got.Kernels != 500 {
		t.Fatalf("the page says %+v", got)
	}
	dir, err := folder(false)
	if err != nil {
		t.Fatal(err)
	}
	// A page of another process with this number, and one of a process that ended.
	p.words[wordStart].Add(1)
	if _, ok := mine(t); ok {
		t.Fatal("a page of another start time is believed")
	}
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Skip(err)
	}
	stale := filepath.Join(dir, strconv.Itoa(gone.Process.Pid))
	if err := os.WriteFile(stale, make([]byte, pageSize), 0o600); err != nil {
		t.Fatal(err)
	}
	mine(t)
	if _, err := os.Stat(stale); !os.IsNotExist(err) {
		t.Fatalf("a stale page stays: %v", err)
	}
}

// TestJoinAmongOthers: whoever sweeps while a page is made leaves it alone.
func TestJoinAmongOthers(t *testing.T) {
	if _, err := Join(1); err != nil {
		t.Skip(err)
	}
	var stop atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for !stop.Load() {
			_, _ = List() // the other one of the race; mine looks at the answer
		}
	})
	for i := range 200 {
		if _, err := Join(2 + i); err != nil {
			t.Error(err)
			break
		}
		if p, ok := mine(t); !ok || p.Threads != 2+i {
			t.Errorf("page %d: %+v", i, p)
			break
		}
	}
	stop.Store(true)
	wg.Wait()
}
