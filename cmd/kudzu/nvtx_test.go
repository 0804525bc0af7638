package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"kudzu/internal/config"
)

// TestNVTXVariable: programs look for a tool only where somebody records, and never for ours instead of theirs.
func TestNVTXVariable(t *testing.T) {
	dir := t.TempDir()
	traced := []string{config.Trace + "=/x"}
	if got := withNVTX(traced, dir); len(got) != 1 {
		t.Errorf("%v without a library", got)
	}
	tool := filepath.Join(dir, "libkudzu-nvtx.so")
	if err := os.WriteFile(tool, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := withNVTX(traced, dir); !slices.Contains(got, injection+"="+tool) {
		t.Errorf("%v", got)
	}
	for _, env := range [][]string{nil, {config.Trace + "="}, {config.Trace + "=/x", injection + "=/theirs"}} {
		if got := withNVTX(env, dir); !slices.Equal(got, env) {
			t.Errorf("%v of %v", got, env)
		}
	}
}
