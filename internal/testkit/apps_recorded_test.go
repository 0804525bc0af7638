package testkit

import (
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// recordedLines is what a program printed on an H200.
func recordedLines(t *testing.T, name string) []string {
	t.Helper()
	f, err := os.Open(filepath.Join(repository, "testdata/apps", name+".want.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimRight(string(text), "\n"), "\n")
}

// bounds are how far numbers may be off, as a share of the largest of their line: what the types of the line hold. The first row counts
// whose programs, functions and types have the line's; none: any. They were fixed before the recordings.
var bounds = []struct {
	programs, functions, types string
	share                      float64
}{
	{"solver_sparse solver_last", "csreigvsi csreigvsiHost", "", 0x1p-16}, // it ends where a step changes little
	{"solver_more", "sytrd ormtr orgtr gebrd orgbr", "f32 c32", 0x1p-13},  // an error of the first steps grows: they are as far
	{"solver_more", "sytrd ormtr orgtr gebrd orgbr", "", 0x1p-35},         // from each other as from the exact ones
	{"solver_rest", "IRSXgesv IRSXgels", "f32 c32", 0x1p-14},              // refinement ends at a residual
	{"solver_rest", "IRSXgesv IRSXgels", "", 0x1p-34},                     // of the main precision
	{"solver_more solver_sparse solver_rest solver_last blas_levels blas_more", "", "f32 c32", 0x1p-16},
	{"solver_more solver_sparse solver_rest solver_last blas_levels blas_more", "", "", 0x1p-38},
	{"blas_types blas_lt", "LtMatmul.gelu epilogue.gelu epilogue.gelu.beside", "", 0x1p-7}, // tanh of 10 bits
	{"blas_lt", "", "e5m2", 0x1p-2},
	{"blas_lt", "", "e4m3", 0x1p-3},
	{"", "", "bf16", 0x1p-7},
	{"", "", "f16", 0x1p-10},
	{"", "", "f32 c32", 0x1p-18},
	{"", "", "", 0x1p-40},
}

// bound is the share of a line, whose first words are the function and types.
func bound(program, line string) float64 {
	words := strings.Fields(line)
	for _, b := range bounds {
		has := func(list string, words ...string) bool {
			return list == "" || slices.ContainsFunc(strings.Fields(list), func(w string) bool { return slices.Contains(words, w) })
		}
		if has(b.programs, program) && has(b.functions, words[0]) && has(b.types, words...) {
			return b.share
		}
	}
	return 0
}

// differs says how a line of a program is not what was recorded; "" if it is.
func differs(program, got, want string) string {
	if got == want {
		return ""
	}
	g, w := strings.Split(got, " | "), strings.Split(want, " | ")
	if len(g) != len(w) || g[0] != w[0] {
		return "another line"
	}
	for i := 1; i < len(w)-1; i++ {
		if g[i] != w[i] {
			return "statuses"
		}
	}
	if len(w) < 3 {
		return "results"
	}
	return apart(strings.Fields(g[len(g)-1]), strings.Fields(w[len(w)-1]), bound(program, w[0]))
}

// apart says which number is further off than a share of the largest.
func apart(got, want []string, share float64) string {
	if len(got) != len(want) {
		return "results"
	}
	largest, x, y := 0.0, make([]float64, len(got)), make([]float64, len(got))
	for i := range got {
		var err1, err2 error
		x[i], err1 = strconv.ParseFloat(got[i], 64)
		y[i], err2 = strconv.ParseFloat(want[i], 64)
		if (err1 != nil || err2 != nil) && got[i] != want[i] {
			return "results"
		}
		if !math.IsInf(y[i], 0) && !math.IsNaN(y[i]) {
			largest = max(largest, math.Abs(y[i]))
		}
	}
	for i := range x {
		same := x[i] == y[i] || math.IsNaN(x[i]) && math.IsNaN(y[i])
		if !same && !(math.Abs(x[i]-y[i]) <= share*largest) {
			return fmt.Sprintf("number %d is %v, on an H200 %v", i, got[i], want[i])
		}
	}
	return ""
}
