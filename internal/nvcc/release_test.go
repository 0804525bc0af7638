package nvcc

import (
	"os"
	"path/filepath"
	"testing"
)

// TestLoadedRuntime: the compiler's release follows the runtime of the process that it works for.
func TestLoadedRuntime(t *testing.T) {
	const at = "7f00-7f01 r-xp 00000000 fe:00 12  "
	proc := t.TempDir()
	for pid, files := range map[string][2]string{
		"5": {"1", at + "/usr/lib/libc.so.6\n" + at + "/x/libcudart.so.13\n" + at + "/x/libcudart.so.12.4.127\n"},
		"6": {"5", at + "/usr/bin/ninja\n"},
		"7": {"6", at + "/usr/bin/dash\n"},
		"8": {"1", at + "/opt/libcudart.so.13 (deleted)\n"},
		"9": {"1", at + "/opt/libcudart.so\n"},
		"3": {"4", ""},
	} {
		folder := filepath.Join(proc, pid)
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"maps": files[1], "stat": pid + " (a ) 1 (b)) S " + files[0] + " 1 1\n"} {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for pid, want := range map[int]int{5: 12, 7: 12, 8: 13, 9: 0, 3: 0, 4: 0, 1: 0} {
		if got := loadedRuntime(pid, proc); got != want {
			t.Errorf("process %d: version %d, not %d", pid, got, want)
		}
	}
}
