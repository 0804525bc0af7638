// Command compared reads what KUDZU_COMPARE_REPORT collected and says how many different kernels were compared, what differs, and
// what was skipped and why; its exit is 1 if something differs. `kudzu replay` runs a launch that was saved again.
//
//	compared REPORT...
package main

import (
	"fmt"
	"os"

	"kudzu/internal/backend/compare"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: compared REPORT...")
		os.Exit(2)
	}
	s, err := compare.Summarise(os.Args[1:]...)
	if err != nil {
		fmt.Fprintln(os.Stderr, "compared:", err)
		os.Exit(1)
	}
	s.Tell(os.Stdout, "the reference")
	if len(s.Different()) > 0 {
		os.Exit(1)
	}
}
