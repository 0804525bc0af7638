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
	{TritonPTXAS, runPTXAS126},
	{"cuobjdump", runCuobjdump},
	{"fatbinary", runFatbinary},
	{"nvlink", runNvlink},
	{"nvdisasm", runNvdisasm},
}

// TritonPTXAS is ptxas as Triton is shown it for devices before Blackwell. Triton makes a version of PTX from the release that
// ptxas says. Its releases up to 3.2 know none after 12.6, and later ones want no later one for these devices: they ask
// TRITON_PTXAS_BLACKWELL_PATH for the others.
const TritonPTXAS = "ptxas-12.6"

const tritonRelease = 12060

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
func version(out io.Writer, name, about string) { versionOf(out, name, about, driver.Version()) }

func versionOf(out io.Writer, name, about string, release int) {
	v := driver.VersionText(release)
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
