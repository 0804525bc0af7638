package testkit

import (
	"slices"
	"strings"
	"testing"
)

// reduced are functions whose results an error of the first steps grows in: they are as far from each other as from the exact ones.
var reduced = []string{"sytrd", "ormtr", "orgtr", "gebrd", "orgbr"}

// solverBound is how far a number of a line may be off, as a share of the line's largest.
func solverBound(line string) float64 {
	words := strings.Fields(line)
	share := 0x1p-38
	if words[1] == "f32" || words[1] == "c32" {
		share = 0x1p-16
	}
	if slices.Contains(reduced, words[0]) {
		share *= 8
	}
	if words[0] == "csreigvsi" { // it ends where a step changes little
		share = 0x1p-16
	}
	return share
}

// TestAppSolver makes the calls of cuSOLVER's dense and sparse functions that an H200 answered, and compares statuses, devInfo and
// numbers.
func TestAppSolver(t *testing.T) {
	for name, functions := range map[string]int{"solver_more": 74, "solver_sparse": 14} {
		exe := appProgram(t, name, "-w", "-l:libcusolver.so.12", "-l:libcusparse.so.12", "-l:libcudart.so.13", "-lm")
		got := strings.Split(strings.TrimRight(newApp(t, "cpu", exe).run().stdout, "\n"), "\n")
		want := recordedLines(t, name)
		if len(got) != len(want) {
			t.Errorf("%s: %d lines, on an H200 %d", name, len(got), len(want))
			continue
		}
		results := map[string]int{}
		for i := range want {
			g, w := strings.Split(got[i], " | "), strings.Split(want[i], " | ")
			if len(g) != len(w) || !slices.Equal(g[:len(g)-1], w[:len(w)-1]) {
				t.Errorf("%.100s\non an H200 %.100s", got[i], want[i])
			} else if why := apart(strings.Fields(g[len(g)-1]), strings.Fields(w[len(w)-1]), solverBound(w[0])); why != "" {
				t.Errorf("%s: %s", w[0], why)
			}
			results[strings.Fields(w[0])[0]]++
		}
		if len(results) != functions {
			t.Errorf("%s: %d functions", name, len(results))
		}
		for f, n := range results {
			if n < 20 {
				t.Errorf("%s has %d results", f, n)
			}
		}
	}
}
