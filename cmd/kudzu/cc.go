package main

import (
	"io"
	"os"
	"path/filepath"

	"kudzu/internal/nvcc"
)

// runCC is the compiler of CUDA C++; the headers and libraries are beside this program.
func runCC(args []string, out io.Writer) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(self); err == nil {
		self = real
	}
	if code := nvcc.Run(args, filepath.Dir(filepath.Dir(self)), out, os.Stderr); code != 0 {
		return exitCode(code)
	}
	return nil
}
