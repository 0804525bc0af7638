package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"kudzu/internal/config"
	"kudzu/internal/devices"
	"kudzu/internal/driver"
	"kudzu/internal/llvm"
	"kudzu/internal/llvm/release"
)

// runInfo shows what a program would find here, and for what is missing one line that says what to do.
func runInfo(args []string, out io.Writer) error {
	if len(args) == 1 && args[0] == "--json" {
		return infoJSON(out)
	}
	if len(args) > 0 {
		return errUsage{"info takes no arguments but --json"}
	}
	fmt.Fprintf(out, "kudzu %s, CUDA driver API %s, %s/%s\n\n", Version, driver.VersionText(driver.Version()), runtime.GOOS, runtime.GOARCH)
	chosen := config.Get(config.Backend)
	n := 0
	for _, b := range devices.All(devices.Config{}) {
		devs, err := b.Open()
		if err != nil {
			fmt.Fprintf(out, "backend %-7s none: %v\n", b.Name(), err)
			continue
		}
		mark := ""
		if len(devs) > 0 && (chosen == "" && n == 0 || slices.Contains(strings.Split(chosen, ","), b.Name())) {
			mark = "  (programs get this one)"
		}
		fmt.Fprintf(out, "backend %-7s %d device(s)%s\n", b.Name(), len(devs), mark)
		for i, d := range devs {
			in := d.Info()
			fmt.Fprintf(out, "    %d: %s, compute capability %d.%d, %s, %d multiprocessors\n", i, in.Name, in.Major, in.Minor, size(int64(in.Memory)), in.Processors)
			n++
		}
	}
	fmt.Fprintln(out)
	if lib, err := llvm.Open(""); err != nil {
		fmt.Fprintf(out, "compiler   none: kernels are interpreted, which is slow. %v\n", err)
	} else {
		_, cpu, _ := lib.Host()
		fmt.Fprintf(out, "compiler   libLLVM %s (%s), %s; code for %s\n", lib.Version(), lib.Path(), trial(lib.Tested()), cpu)
	}
	if c := openCache(); c.On() {
		st := c.Stat()
		fmt.Fprintf(out, "cache      %s, %d kernels, %s of %s\n", c.Dir(), st.Entries, size(st.Bytes), size(st.Limit))
	} else {
		fmt.Fprintln(out, "cache      off: every start compiles again")
	}
	if dir, err := libraryDir(); err != nil {
		fmt.Fprintf(out, "libraries  none: %v\n", err)
	} else {
		fmt.Fprintf(out, "libraries  %s\n", dir)
	}
	return nil
}

// trial says whether Kudzu's own tests were run with a major version of libLLVM.
func trial(tested bool) string {
	if tested {
		return "tested"
	}
	return "NEVER TRIED: this version of Kudzu was tested with libLLVM " + strings.Trim(fmt.Sprint(release.Tested), "[]")
}

// infoDevice is a device as other programs read it.
type infoDevice struct {
	Backend    string `json:"backend"`
	Name       string `json:"name"`
	Major      int    `json:"major"`
	Minor      int    `json:"minor"`
	Memory     uint64 `json:"memory"`
	Processors int    `json:"multiprocessors"`
}

// infoJSON says the same for other programs; what is not there is empty, and why is in problems.
func infoJSON(out io.Writer) error {
	var r struct {
		Version   string       `json:"version"`
		CUDA      string       `json:"cuda"`
		Devices   []infoDevice `json:"devices"`
		LLVM      string       `json:"llvm"`
		Tested    bool         `json:"llvm_tested"`
		CPU       string       `json:"cpu"`
		Cache     string       `json:"cache"`
		Libraries string       `json:"libraries"`
		Problems  []string     `json:"problems"`
	}
	r.Version, r.CUDA, r.Devices, r.Problems = Version, driver.VersionText(driver.Version()), []infoDevice{}, []string{}
	for _, b := range devices.All(devices.Config{}) {
		devs, err := b.Open()
		if err != nil {
			r.Problems = append(r.Problems, b.Name()+": "+err.Error())
			continue
		}
		for _, d := range devs {
			in := d.Info()
			r.Devices = append(r.Devices, infoDevice{b.Name(), in.Name, int(in.Major), int(in.Minor), uint64(in.Memory), int(in.Processors)})
		}
	}
	if lib, err := llvm.Open(""); err != nil {
		r.Problems = append(r.Problems, err.Error())
	} else {
		r.LLVM, r.Tested = lib.Version(), lib.Tested()
		_, r.CPU, _ = lib.Host()
	}
	if c := openCache(); c.On() {
		r.Cache = c.Dir()
	}
	dir, err := libraryDir()
	if err != nil {
		r.Problems = append(r.Problems, err.Error())
	}
	r.Libraries = dir
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(&r)
}
