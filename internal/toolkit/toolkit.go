// Package toolkit has the programs of NVIDIA's toolkit that clients start while they run, under their names: they take PTX and
// what our assembler makes of it, and never machine code. Options, messages and exit codes are those of release 12.9, as
// recorded in testdata.
package toolkit

import (
	"errors"
	"fmt"
	"io"

	"kudzu/internal/driver"
)

// Program is one of them.
type Program struct {
	Name string
	Run  func(args []string, out, errs io.Writer) int
}

// Programs is the list; each has a link in dist/bin.
var Programs = []Program{
	{"ptxas", runPTXAS},
	{"cuobjdump", runCuobjdump},
	{"fatbinary", runFatbinary},
	{"nvlink", runNvlink},
	{"nvdisasm", runNvdisasm},
}

// Find finds a program by its name.
func Find(name string) (Program, bool) {
	for _, p := range Programs {
		if p.Name == name {
			return p, true
		}
	}
	return Program{}, false
}

// failed is the exit code after an error.
const failed = 255

// version prints what clients look for: "release X.Y, VX.Y.Z", the release of CUDA that the driver presents.
func version(out io.Writer, name, about string) {
	v := driver.VersionText(driver.Version())
	fmt.Fprintf(out, "%s: %s\nKudzu, for CUDA programs without NVIDIA's driver\nCuda compilation tools, release %s, V%s.0\n", name, about, v, v)
}

// fail prints an error as a program's last word.
func fail(errs io.Writer, name string, err error) int {
	var f fatal
	if errors.As(err, &f) {
		fmt.Fprintf(errs, "%-6sfatal   : %s\n", name+" ", string(f))
	} else {
		fmt.Fprintln(errs, err)
	}
	return failed
}
