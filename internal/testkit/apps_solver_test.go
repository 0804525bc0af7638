package testkit

import (
	"regexp"
	"strings"
	"testing"
)

// linear are the programs that recorded cuSOLVER and cuBLAS: their libraries, what of a line's words names what must have 20 results, and how
// many of these there are.
var linear = []struct {
	name, libraries string
	key, count      int
}{
	{"solver_more", "cusolver.so.12 cusparse.so.12", 1, 74}, {"solver_sparse", "cusolver.so.12 cusparse.so.12", 1, 14},
	{"solver_rest", "cusolver.so.12 cusparse.so.12", 1, 22}, {"blas_levels", "cublas.so.13", 1, 63}, {"blas_types", "cublas.so.13 cublasLt.so.13", 5, 191},
}

// linearOther are lines that we answer otherwise than the H200 did: what a line's first words are, of all types and functions, and why.
var linearOther = map[string][]struct{ line, why string }{
	"solver_rest": {
		{`^sytri `, "CUDA 13.0 leaves what sytrf made as it is; ours are the inverses"},
		{`^Xgesvdr [fc]32 `, "by its random method an H200 is 2^-13 of the largest value off the exact ones; ours and its f64 are not"},
	},
	"blas_types": {
		{`^Gemm\w*Ex s8 s8 s32 7[23] (32 20 40 [01]|64 48 64 [01]) `, "CUDA 13.0 refuses some shapes of 8 bits, which its manual allows"},
	},
}

// TestAppSolver makes the calls of cuSOLVER and cuBLAS that an H200 answered, and compares statuses, devInfo and numbers.
func TestAppSolver(t *testing.T) {
	for _, p := range linear {
		flags := []string{"-w", "-l:libcudart.so.13", "-lm", "-ldl"}
		for _, l := range strings.Fields(p.libraries) {
			flags = append(flags, "-l:lib"+l)
		}
		got := strings.Split(strings.TrimRight(newApp(t, "cpu", appProgram(t, p.name, flags...)).run().stdout, "\n"), "\n")
		want := recordedLines(t, p.name)
		if len(got) != len(want) {
			t.Errorf("%s: %d lines, on an H200 %d", p.name, len(got), len(want))
			continue
		}
		results, wrong, listed := map[string]int{}, 0, 0
	lines:
		for i := range want {
			w := strings.Fields(want[i])
			results[strings.Join(w[:p.key], " ")]++
			for _, o := range linearOther[p.name] {
				if regexp.MustCompile(o.line).MatchString(want[i]) && differs(p.name, got[i], want[i]) != "" {
					listed++
					continue lines
				}
			}
			if strings.Contains(want[i], "| missing |") { // CUDA 13.0 has no such function
				listed++
			} else if why := differs(p.name, got[i], want[i]); why != "" {
				if wrong++; wrong <= 20 {
					t.Errorf("%s: %s\n\tgot  %.200s\n\twant %.200s", p.name, why, got[i], want[i])
				}
			}
		}
		t.Logf("%s: %d of %d lines agree, %d are listed", p.name, len(want)-wrong-listed, len(want), listed)
		if len(results) != p.count {
			t.Errorf("%s: %d functions or combinations", p.name, len(results))
		}
		for f, n := range results {
			if n < 20 {
				t.Errorf("%s has %d results", f, n)
			}
		}
	}
}
