package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"kudzu/internal/libdevice"
	"kudzu/internal/llvm"
)

// runLibdevice writes the library of device functions as bitcode, for clients that open that file and for clang, and beside it what
// only clang calls. The machine's libLLVM writes it, or the one that KUDZU_LLVM names: releases read what older ones wrote.
func runLibdevice(args []string, _ io.Writer) error {
	if len(args) != 1 {
		return errUsage{"which file?"}
	}
	lib, err := llvm.Open("")
	if err != nil {
		return err
	}
	dir := filepath.Dir(args[0])
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, file := range []struct{ path, text string }{
		{filepath.Join(dir, filepath.Base(libdevice.CFile)), libdevice.CText()},
		{args[0], libdevice.Text()},
	} {
		code, err := lib.Bitcode(file.text)
		if err != nil {
			return fmt.Errorf("libdevice: %w", err)
		}
		if err := replaceFile(file.path, code); err != nil {
			return err
		}
	}
	return nil
}

// replaceFile writes a file that readers see whole or not at all.
func replaceFile(path string, content []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path))
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	if _, err := tmp.Write(content); err != nil {
		return err
	}
	if err := tmp.Chmod(0o644); err != nil {
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
