package cpu

import (
	"os"
	"path/filepath"
	"testing"
)

// TestPerfMap: what lies under the name that perf looks for is taken over only if it is ours.
func TestPerfMap(t *testing.T) {
	dir := t.TempDir()
	old, link, second := filepath.Join(dir, "old"), filepath.Join(dir, "link"), filepath.Join(dir, "second")
	if err := os.WriteFile(old, []byte("from another process of that number"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := openPerfMap(old)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if st, err := os.Stat(old); err != nil || st.Size() != 0 {
		t.Errorf("%v, %v", st, err)
	}
	if err := os.Symlink(old, link); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(old, second); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{link, second, dir} {
		if f, err := openPerfMap(p); err == nil {
			f.Close()
			t.Errorf("%s was opened", p)
		}
	}
}

// TestDebugOff: nobody asked.
func TestDebugOff(t *testing.T) {
	if d := newDebug(func(string) string { return "" }); d != nil || d.show(nil) != nil {
		t.Error("it is on")
	}
}
