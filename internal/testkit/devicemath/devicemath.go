// Package devicemath tests internal/libdevice: its C, built for the machine, against references in quadruple precision on many
// numbers; and every function as programs meet it, called from NVVM IR, compiled to PTX, and run.
package devicemath

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// root is the repository's.
const root = "../../.."

// build makes the program that calls the functions on this machine (testdata/sweep.c) in dir.
func build(dir string) (string, error) {
	cc := os.Getenv("CC")
	if cc == "" {
		cc = "cc"
	}
	src := filepath.Join(root, "internal/libdevice")
	fused, quad := []string{"-mfma"}, []string{"-lquadmath"}
	if machine, err := exec.Command(cc, "-dumpmachine").Output(); err == nil && !strings.HasPrefix(string(machine), "x86_64") {
		fused, quad = nil, nil // long double is quadruple precision
	}
	object := filepath.Join(dir, "libdevice.o")
	// The functions apart from the rest: they are compiled as for a device.
	args := append([]string{"-std=gnu11", "-O2", "-ffp-contract=off", "-fno-math-errno", "-c", filepath.Join(src, "c/libdevice.c"), "-o", object}, fused...)
	if out, err := exec.Command(cc, args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	program := filepath.Join(dir, "sweep")
	args = append([]string{"-std=gnu11", "-O2", filepath.Join(src, "testdata/sweep.c"), filepath.Join(src, "testdata/exact.c"), object, "-o", program}, quad...)
	if out, err := exec.Command(cc, append(args, "-lm")...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return program, nil
}

// Worst is the largest error of a function: in units of the last place, and, where an absolute error is stated, as a part of that.
type Worst struct {
	Units, Part float64
	At          string // the arguments, and the result
}

// errorsOf has the largest errors of functions by name.
type errorsOf map[string]Worst

// merge notes another error.
func (e errorsOf) merge(name string, w Worst) {
	old := e[name]
	e[name] = Worst{Units: max(old.Units, w.Units), Part: max(old.Part, w.Part), At: w.At}
}

// sweep calls every function that is not exact on n numbers.
func sweep(program string, n int) (errorsOf, error) {
	out, err := exec.Command(program, strconv.Itoa(n)).Output()
	if err != nil {
		return nil, err
	}
	all := errorsOf{}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) < 3 {
			return nil, fmt.Errorf("line %q", line)
		}
		w := Worst{At: strings.Join(f[3:], " ")}
		if w.Units, err = strconv.ParseFloat(f[1], 64); err != nil {
			return nil, err
		}
		if w.Part, err = strconv.ParseFloat(f[2], 64); err != nil {
			return nil, err
		}
		all[f[0]] = w
	}
	return all, nil
}
