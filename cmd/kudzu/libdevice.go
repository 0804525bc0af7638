package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"kudzu/internal/libdevice"
	"kudzu/internal/llvm"
)

// runLibdevice writes the library of device functions as bitcode, for clients that open that file and for clang. The machine's
// libLLVM writes it, or the one that KUDZU_LLVM names: releases read what older ones wrote.
func runLibdevice(args []string, _ io.Writer) error {
	if len(args) != 1 {
		return errUsage{"which file?"}
	}
	lib, err := llvm.Open("")
	if err != nil {
		return err
	}
	code, err := lib.Bitcode(libdevice.Text())
	if err != nil {
		return fmt.Errorf("libdevice: %w", err)
	}
	dir, name := filepath.Split(args[0])
	if err := os.MkdirAll(filepath.Clean(dir), 0o755); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Clean(dir), "."+name)
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	if _, err := tmp.Write(code); err != nil {
		return err
	}
	if err := tmp.Chmod(0o644); err != nil {
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), args[0])
}
