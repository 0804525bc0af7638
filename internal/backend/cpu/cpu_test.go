package cpu

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/quota"
)

func TestSettings(t *testing.T) {
	for s, want := range map[string]uint64{"16M": 16 << 20, "8G": 8 << 30, "8GiB": 8 << 30, "2t": 2 << 40, "1073741824": 1 << 30} {
		if n, err := backend.ParseBytes(s); err != nil || n != want {
			t.Errorf("%s: %d, %v", s, n, err)
		}
	}
	for _, s := range []string{"", "G", "-1G", "1G2", "1M", "99999T", "0x10G", "1.5G"} {
		if n, err := backend.ParseBytes(s); err == nil {
			t.Errorf("%q is %d bytes", s, n)
		}
	}
}

func env(pairs ...string) func(string) string {
	return func(k string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == k {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestDevices(t *testing.T) {
	all, err := New(Config{Env: env("KUDZU_DEVICES", "3", "KUDZU_MEMORY", "64M", "KUDZU_COMPUTE_CAPABILITY", "8.6")}).Open()
	if err != nil || len(all) != 3 {
		t.Fatal(len(all), err)
	}
	seen := map[[16]byte]bool{}
	for _, d := range all {
		i := d.Info()
		if seen[i.UUID] || i.Major != 8 || i.Minor != 6 || i.Memory != 64<<20 || !strings.HasPrefix(i.Name, "Kudzu CPU (") || i.Processors < 1 || i.ClockKHz < 1 || i.L2Bytes < 1 {
			t.Errorf("%+v", i)
		}
		seen[i.UUID] = true
	}
	again, err := New(Config{Env: env("KUDZU_MEMORY", "64M")}).Open()
	if err != nil || len(again) != 1 || again[0].Info().UUID != all[0].Info().UUID {
		t.Error("the first device's UUID changed")
	}
	a, err := all[0].Memory().Alloc(60<<20, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := all[0].Memory().Alloc(10<<20, 0); err != backend.ErrNoMemory {
		t.Errorf("over the limit: %v", err)
	}
	if err := all[1].Memory().Free(a); err != backend.ErrNotFound {
		t.Errorf("another device's memory: %v", err)
	}
	if free, total := all[1].Memory().Usage(); free != total {
		t.Errorf("device 1: %d of %d free", free, total)
	}
	if err := all[0].Memory().Free(a); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"0", "x", "65"} {
		if _, err := New(Config{Env: env("KUDZU_DEVICES", bad)}).Open(); err == nil {
			t.Errorf("KUDZU_DEVICES=%s", bad)
		}
	}
	if _, err := New(Config{Env: env("KUDZU_MEMORY", "lots")}).Open(); err == nil {
		t.Error("KUDZU_MEMORY=lots")
	}
}

// TestQuota: the devices share four fifths of what control groups leave, and no more is available than that.
func TestQuota(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"proc/meminfo":                       "MemTotal: 16777216 kB\nMemAvailable: 12582912 kB\n",
		"proc/self/cgroup":                   "0::/outer/inner\n",
		"proc/self/mountinfo":                "29 22 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
		"sys/fs/cgroup/outer/memory.max":     "1073741824\n",
		"sys/fs/cgroup/inner/memory.max":     "max\n",
		"sys/fs/cgroup/outer/memory.current": "805306368\n",
	} {
		f := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(f), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	all, err := New(Config{System: quota.At(root), Env: env("KUDZU_DEVICES", "2")}).Open()
	if err != nil {
		t.Fatal(err)
	}
	m := all[1].Memory()
	if n := m.(backend.Borrower).Available(); all[0].Info().Memory != 1<<30/5*4/2 || n != 240<<20 {
		t.Errorf("%d bytes, %d available", all[0].Info().Memory, n)
	}
	if all, err = New(Config{System: quota.At(root), Env: env("KUDZU_MEMORY", "8G")}).Open(); err != nil {
		t.Fatal(err)
	}
	if n := all[0].Memory().(backend.Borrower).Available(); n != 0 {
		t.Errorf("a device that was given its memory has %d available", n)
	}
}
