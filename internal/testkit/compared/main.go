// Command compared reads what KUDZU_COMPARE_REPORT collected and says how many different kernels were compared, what differs, and
// what was skipped and why; its exit is 1 if something differs. `kudzu replay` runs a launch that was saved again.
//
//	compared REPORT...
//	compared -row NAME REPORT...     a row of the table in docs/tools.md instead
package main

import (
	"flag"
	"fmt"
	"os"

	"kudzu/internal/backend/compare"
)

func main() {
	row := flag.String("row", "", "the first cell of a row of Markdown")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: compared [-row NAME] REPORT...")
		os.Exit(2)
	}
	s, err := compare.Summarise(flag.Args()...)
	if err != nil {
		fmt.Fprintln(os.Stderr, "compared:", err)
		os.Exit(1)
	}
	c := s.Counts()
	if *row == "" {
		s.Tell(os.Stdout, "the reference")
	} else {
		fmt.Printf("| %s | %d | %d | %d | %d | %d | %d | %d |\n", *row, c.Ran, c.Launches, c.Kernels, c.Same, c.Explained, c.Different, c.Skipped)
	}
	if c.Different > 0 {
		os.Exit(1)
	}
}
