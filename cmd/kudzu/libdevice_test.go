package main

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"kudzu/internal/llvm"
)

// TestLibdevice: the files are bitcode, the one that is named of all functions, in a folder that need not be there.
func TestLibdevice(t *testing.T) {
	if _, err := llvm.Open(""); err != nil {
		t.Skip(err) // no libLLVM on this machine
	}
	file := filepath.Join(t.TempDir(), "nvvm/libdevice.10.bc")
	if err := runLibdevice([]string{file}, io.Discard); err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile(file)
	if err != nil || len(code) < 100<<10 || string(code[:4]) != "BC\xc0\xde" {
		t.Errorf("%d bytes, %v", len(code), err)
	}
	if entries, err := os.ReadDir(filepath.Dir(file)); err != nil || len(entries) != 2 { // the other has C's names
		t.Errorf("%v, %v", entries, err)
	}
	if err := runLibdevice(nil, io.Discard); err == nil {
		t.Error("without a file")
	}
}
