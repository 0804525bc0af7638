package main

import (
	"fmt"
	"io"
	"os"
	"runtime"

	"kudzu/internal/devices"
	"kudzu/internal/llvm"
)

// runInfo shows what a program would find here, and for what is missing one line that says what to do.
func runInfo(args []string, out io.Writer) error {
	if len(args) > 0 {
		return errUsage{"info takes no arguments"}
	}
	fmt.Fprintf(out, "kudzu %s, CUDA driver API 13.0, %s/%s\n\n", Version, runtime.GOOS, runtime.GOARCH)
	chosen := os.Getenv("KUDZU_BACKEND")
	n := 0
	for _, b := range devices.All(devices.Config{}) {
		devs, err := b.Open()
		if err != nil {
			fmt.Fprintf(out, "backend %-7s none: %v\n", b.Name(), err)
			continue
		}
		mark := ""
		if len(devs) > 0 && (chosen == b.Name() || (chosen == "" && n == 0)) {
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
		fmt.Fprintf(out, "compiler   libLLVM %s (%s), code for %s\n", lib.Version(), lib.Path(), cpu)
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
