package main

import (
	"io"

	"kudzu/internal/compile/worker"
)

// runCompiler serves compile requests on standard input and output until it ends.
func runCompiler(args []string, _ io.Writer) error {
	if code := worker.Main(args); code != 0 {
		return exitCode(code)
	}
	return nil
}
