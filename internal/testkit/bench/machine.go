package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// machine is where, with what and when something was measured.
type machine struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	Kernel string `json:"kernel"`
	GCC    string `json:"gcc"`
	Clang  string `json:"clang"`
	Flags  string `json:"flags"`
	Commit string `json:"commit"`
	Date   string `json:"date"`

	Load float64 `json:"load,omitempty"` // of 15 minutes, when the run ended; the suite itself is about one a core
}

// flags of the native code; scripts/bench.sh has the same.
const flags = "-O3 -march=native -ffast-math -fopenmp-simd"

// describe reads a machine's description, or makes this one's.
func describe(file string) (machine, error) {
	var m machine
	if file != "" {
		return m, readJSON(file, &m)
	}
	m = machine{
		CPU: cpuModel(), Cores: runtime.NumCPU(), Kernel: firstLine("uname", "-sr"), GCC: firstLine("gcc", "--version"),
		Clang: firstLine(firstLine("scripts/setup.sh", "clang"), "--version"), Flags: flags,
		Commit: firstLine("git", "rev-parse", "--short=12", "HEAD"), Date: time.Now().UTC().Format("2006-01-02"), Load: loadAverage(),
	}
	return m, nil
}

// loadAverage is that of the last 15 minutes; 0 where it is not known.
func loadAverage() (load float64) {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	var short, middle float64
	if _, err := fmt.Sscan(string(b), &short, &middle, &load); err != nil {
		return 0
	}
	return load
}

func cpuModel() string {
	b, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(b)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

// firstLine of what a program prints; "" if it cannot be run.
func firstLine(name string, args ...string) string {
	if name == "" {
		return ""
	}
	b, err := exec.Command(name, args...).Output()
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSpace(line)
}
