package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"kudzu/internal/backend/dumper"
)

// A name is that kernel's, however C++ spells it, and nobody else's; anything else is an expression.
func TestDumpKernelPattern(t *testing.T) {
	for _, c := range []struct {
		kernel string
		fits   []string
		others []string
	}{
		{"add", []string{"add", "_Z3addPf", "_Z3addIfEvPT_", "_ZL3addPf", "_ZN2my3addEPf", "_ZN12_GLOBAL__N_13addEv", "_ZN2my1a3addIfEEvv", "_ZN12_GLOBAL__N_1L3addEv"},
			[]string{"addmul", "_Z6addmulPf", "_Z7add_oneP", "_Z13addPf", "madd", "_ZN5y3addE3subEv", "_ZN6y3addEE", "_ZN3add3subEv", "_ZN2my6addmulEv"}},
		{"add.*", []string{"addmul", "_Z6addmulPf"}, []string{"sub"}},
		{"", []string{"any"}, nil},
	} {
		re, err := regexp.Compile(kernelPattern(c.kernel))
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range c.fits {
			if !re.MatchString(n) {
				t.Errorf("%q does not fit %s", c.kernel, n)
			}
		}
		for _, n := range c.others {
			if re.MatchString(n) {
				t.Errorf("%q fits %s", c.kernel, n)
			}
		}
	}
}

// Files of an earlier run go, and nothing else.
func TestDumpRemovesNumbered(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "k.kzd")
	stay := []string{"k-.kzd", "k-01.kzd", "k-1.txt", "k-x.kzd", "k.kzd", "kk-1.kzd"}
	for _, n := range append([]string{filepath.Base(dumper.Numbered(file, 1)), filepath.Base(dumper.Numbered(file, 12))}, stay...) {
		if err := os.WriteFile(filepath.Join(dir, n), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := removeNumbered(file); err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range list {
		left = append(left, e.Name())
	}
	if !slices.Equal(left, stay) {
		t.Errorf("left: %v", left)
	}
}
