package roster

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Name is what a process was started as, "" if it cannot be seen.
func Name(pid int) string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return ""
	}
	name, _, _ := strings.Cut(string(b), "\x00")
	return name
}

// Temperature is the processor's in degrees Celsius; ok is false where the system has no sensor for it.
func Temperature() (degrees int, ok bool) { return temperatureIn("/sys/class") }

func temperatureIn(class string) (int, bool) {
	for _, c := range []struct{ kinds, name, value string }{
		{"thermal/thermal_zone*", "type", "temp"}, {"hwmon/hwmon*", "name", "temp1_input"},
	} {
		found, _ := filepath.Glob(filepath.Join(class, c.kinds))
		for _, dir := range found {
			switch text(filepath.Join(dir, c.name)) {
			case "x86_pkg_temp", "cpu-thermal", "cpu_thermal", "coretemp", "k10temp", "zenpower":
				if v, err := strconv.Atoi(text(filepath.Join(dir, c.value))); err == nil && v > 0 {
					return (v + 500) / 1000, true
				}
			}
		}
	}
	return 0, false
}

func text(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// ClockMHz is the first processor's frequency now; ok is false where the system does not tell.
func ClockMHz() (int, bool) { return clockIn("/") }

// clockIn asks the governor of frequencies, or what the kernel says of processors: virtual machines have no governor.
func clockIn(root string) (int, bool) {
	if khz, err := strconv.Atoi(text(filepath.Join(root, "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq"))); err == nil && khz > 0 {
		return khz / 1000, true
	}
	for line := range strings.Lines(text(filepath.Join(root, "proc/cpuinfo"))) {
		name, value, _ := strings.Cut(line, ":")
		if strings.TrimSpace(name) == "cpu MHz" {
			mhz, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			return int(mhz), err == nil && mhz > 0
		}
	}
	return 0, false
}
