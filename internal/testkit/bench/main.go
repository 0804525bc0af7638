// Command bench is the part of the bench suite that is not timing kernels: it measures how long compilations take beside
// ptxas, and writes docs/bench from what the harness (bench/harness) measured. scripts/bench.sh runs it.
package main

import (
	"fmt"
	"os"
)

func main() {
	verbs := map[string]func([]string) error{"compile": runCompile, "gpu": runGPU, "report": runReport, "versus": runVersus}
	if len(os.Args) < 2 || verbs[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: bench compile [flags] | bench gpu [flags] [file.ptx...] | bench report [flags] rows.json | bench versus folder")
		os.Exit(2)
	}
	if err := verbs[os.Args[1]](os.Args[2:]); err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(1)
	}
}
