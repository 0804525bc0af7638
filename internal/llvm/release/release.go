// Package release says which releases of libLLVM are looked for, in what order and by what names. The compiler process
// opens the first that is there (llvm), the client stamps the same one into the key of its cache (compile), and
// scripts/setup.sh installs one.
package release

import (
	"fmt"
	"slices"
)

// Tested are the major versions that the suite passes on, the preferred one first. scripts/setup.sh and .ci/run read this
// line.
var Tested = []int{22, 19}

// Oldest is the oldest major version that is accepted: its textual IR is what we write.
const Oldest = 19

// newest bounds the names asked of the dynamic loader; a newer one is found only if KUDZU_LLVM names it.
const newest = 30

// Majors are the versions to look for, best first: the tested ones, then the others, oldest first, since those are the
// nearest to what was tested.
func Majors() []int {
	all := slices.Clone(Tested)
	for v := Oldest; v <= newest; v++ {
		if !IsTested(v) {
			all = append(all, v)
		}
	}
	return all
}

// IsTested reports a version that the suite passes on.
func IsTested(major int) bool { return slices.Contains(Tested, major) }

// Names are the file names that systems give the library of a major version.
func Names(major int) []string {
	return []string{fmt.Sprintf("libLLVM.so.%d.1", major), fmt.Sprintf("libLLVM-%d.so.1", major), fmt.Sprintf("libLLVM-%d.so", major)}
}
