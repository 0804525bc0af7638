package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"kudzu/internal/driver"
	"kudzu/internal/shim/nvml"
	"kudzu/internal/spec/nv"
)

const (
	smiRule  = "+-----------------------------------------------------------------------------------------+\n"
	smiSplit = "+-----------------------------------------+------------------------+----------------------+\n"
	smiHead  = smiSplit +
		"| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |\n" +
		"| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |\n" +
		"|                                         |                        |               MIG M. |\n" +
		"|=========================================+========================+======================|\n"
	smiProcesses = "\n" + smiRule +
		"| Processes:                                                                              |\n" +
		"|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |\n" +
		"|        ID   ID                                                               Usage      |\n" +
		"|=========================================================================================|\n"
)

// smiNow is the clock; tests stop it.
var smiNow = time.Now

// smiDate is a time as C's asctime writes it.
func smiDate() string { return smiNow().Format(time.ANSIC) }

// cut shortens a text to n columns; what is left out is at the end.
func cut(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-3]) + "..."
	}
	return s
}

// cutFront is cut for paths, whose end says more.
func cutFront(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return "..." + string(r[len(r)-n+3:])
	}
	return s
}

// with appends a unit to what is known.
func with(s, unit string) string {
	if s == "" {
		return "N/A"
	}
	return s + unit
}

// whole is the part of a number before its point.
func whole(s string) string {
	s, _, _ = strings.Cut(s, ".")
	return s
}

// smiTable prints what people expect: versions, three lines a device, and the processes.
func smiTable(out io.Writer, cards []card) error {
	fmt.Fprintf(out, "%s       \n%s", smiDate(), smiRule)
	fmt.Fprintf(out, "| NVIDIA-SMI %-22s Driver Version: %-14s CUDA Version: %-8s |\n", nvml.DriverVersion(), nvml.DriverVersion(), driver.VersionText(driver.Version()))
	io.WriteString(out, smiHead)
	for _, c := range cards {
		persistence := "Off"
		if state(c.th.DeviceGetPersistenceMode(c.h)) == "Enabled" {
			persistence = "On"
		}
		fmt.Fprintf(out, "|%4d  %-29s %3s  |   %-16s %3s |%21s |\n", c.dev, cut(c.name(), 27), persistence, c.bus(), "Off", orNA(c.errors(nv.NVML_MEMORY_ERROR_TYPE_UNCORRECTED)))
		fmt.Fprintf(out, "| %3s%6s    %-3s%15s / %5s |%11s / %9s |%8s %12s |\n", with(digits(c.th.DeviceGetFanSpeed(c.h)), "%"), with(c.temperature(), "C"), c.pstate(),
			with(whole(c.power()), "W"), with(whole(c.limit()), "W"), c.used()+"MiB", c.total()+"MiB", with(c.busy(), "%"), c.computeMode())
		fmt.Fprintf(out, "|%41s|%24s|%21s |\n%s", "", "", orNA(c.mig()), smiSplit)
	}
	io.WriteString(out, smiProcesses)
	shown := false
	for _, c := range cards {
		for _, u := range c.users() {
			fmt.Fprintf(out, "|%5d   N/A  N/A%16d%7s   %-36s %9s |\n", c.dev, u.Pid, "C", cutFront(processName(u.Pid), 36), mib(u.Used)+"MiB")
			shown = true
		}
	}
	if !shown {
		fmt.Fprintf(out, "|  %-87s|\n", "No running processes found")
	}
	_, err := io.WriteString(out, smiRule)
	return err
}
