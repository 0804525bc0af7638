package quota

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestProcess(t *testing.T) {
	root := t.TempDir()
	const rest = " S 1 2 3 4 5 6 7 8 9 10 250 50 11 12 20 0 4 0 98765 1 2\n"
	for name, text := range map[string]string{"7": "7 (a) b) 1 2 3)" + rest, "8": "8 (short) S 1 2\n", "9": "9 (x)" + strings.Replace(rest, "250", "-250", 1)} {
		if err := os.MkdirAll(filepath.Join(root, "proc", name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, "proc", name, "stat"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := At(root)
	if p, err := s.Process(7); err != nil || p != (Process{Started: 98765, Worked: 3 * time.Second}) {
		t.Errorf("%+v, %v", p, err)
	}
	for _, pid := range []int{8, 9} {
		if p, err := s.Process(pid); err == nil {
			t.Errorf("process %d: %+v", pid, p)
		}
	}
	if _, err := s.Process(1 << 30); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a process that is not there: %v", err)
	}
	if p, err := Own.Process(os.Getpid()); err != nil || p.Started == 0 {
		t.Errorf("this process: %+v, %v", p, err)
	}
}
