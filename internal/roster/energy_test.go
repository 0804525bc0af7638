package roster

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestEnergy(t *testing.T) {
	class := t.TempDir()
	if _, ok := total(class, "energy_uj"); ok {
		t.Error("no packages have energy")
	}
	for dir, text := range map[string]string{"intel-rapl:0": "700\n", "intel-rapl:1": "50\n", "intel-rapl:0:0": "9000\n"} {
		if err := os.Mkdir(filepath.Join(class, dir), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(class, dir, "energy_uj"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if v, ok := total(class, "energy_uj"); !ok || v != 750 {
		t.Errorf("%d, %v", v, ok)
	}
	if _, ok := total(class, "constraint_0_power_limit_uw"); ok {
		t.Error("a limit that no file has")
	}
}

func TestMeter(t *testing.T) {
	var m Meter
	uj := uint64(0)
	energy := func() (uint64, bool) { uj += 1000000; return uj, true }
	if v, ok := m.read(energy); !ok || v == 0 || v > 10000000 { // a joule in a tenth of a second or more
		t.Errorf("%d microwatts, %v", v, ok)
	}
	if _, ok := new(Meter).read(func() (uint64, bool) { return 0, false }); ok {
		t.Error("power without a counter")
	}
}

func TestNumbers(t *testing.T) {
	for list, want := range map[string][]int{"0-3,8": {0, 1, 2, 3, 8}, "": nil, "5": {5}} {
		if got := numbers(list); !slices.Equal(got, want) {
			t.Errorf("%q: %v", list, got)
		}
	}
}

// TestClock: the governor is believed first, then what the kernel says of processors.
func TestClock(t *testing.T) {
	root := t.TempDir()
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if v, ok := clockIn(root); ok {
		t.Errorf("%d MHz of nothing", v)
	}
	write("proc/cpuinfo", "processor\t: 0\nmodel name\t: X @ 2.50GHz\ncpu MHz\t\t: 2499.992\nprocessor\t: 1\ncpu MHz\t\t: 1000.0\n")
	if v, ok := clockIn(root); !ok || v != 2499 {
		t.Errorf("%d MHz, %v", v, ok)
	}
	write("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "3100000\n")
	if v, ok := clockIn(root); !ok || v != 3100 {
		t.Errorf("%d MHz, %v", v, ok)
	}
}
