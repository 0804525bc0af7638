package testkit

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// recorder is a program that recorded cuSOLVER or cuBLAS: its argument, the recording, where that is another's (functions with sizes of 64 bits
// print the same lines), its libraries, how many of a line's words name what must have 20 results, and how many of these there are.
type recorder struct {
	name, argument, want, libraries string
	key, count                      int
}

const blasLibraries, solverLibraries = "cublas.so.13 cublasLt.so.13", "cusolver.so.12 cusparse.so.12 cusolverMg.so.12"

var linear = []recorder{
	{"solver_more", "", "", solverLibraries, 1, 74}, {"solver_sparse", "", "", solverLibraries, 1, 14},
	{"solver_rest", "", "", solverLibraries, 1, 18}, {"solver_last", "", "", solverLibraries, 1, 27},
	{"blas_levels", "", "", blasLibraries, 1, 63}, {"blas_levels_64", "", "blas_levels", blasLibraries, 1, 63},
	{"blas_levels", "more", "blas_more", blasLibraries, 1, 63}, {"blas_levels_64", "more", "blas_more", blasLibraries, 1, 63},
	{"blas_types", "", "", blasLibraries, 5, 191}, {"blas_types_64", "", "blas_types", blasLibraries, 5, 191},
	{"blas_rest", "", "", blasLibraries, 1, 49}, {"blas_rest_64", "", "blas_rest", blasLibraries, 1, 49},
	{"blas_lt", "", "", blasLibraries, 1, 27},
	{"blas_misuse", "", "", blasLibraries, 1, 80}, {"blas_misuse", "64", "blas_misuse", blasLibraries, 1, 80},
}

// fewer are what a recording has less than 20 results of, and why.
var fewer = map[string]string{
	"blas_lt largest.beside": "an H200 has largest values of 8-bit results only", "blas_lt LtDestroy": "a part of the program is a result",
}

// linearOther are lines that we answer otherwise than the H200 did: what a line's first words are, of all types and functions, and why.
var linearOther = map[string][]struct{ line, why string }{
	"solver_rest": {
		{`^sytri `, "CUDA 13.0 leaves what sytrf made as it is; ours are the inverses"},
		{`^Xgesvdr [fc]32 `, "by its random method an H200 is 2^-13 of the largest value off the exact ones; ours and its f64 are not"},
	},
	"solver_last": {
		{`^SetMathMode `, "values of releases after CUDA 13.0"},
	},
	"blas_types": {
		{`^Gemm\w*Ex s8 s8 s32 7[23] (32 20 40 [01]|64 48 64 [01]) `, "CUDA 13.0 refuses some shapes of 8 bits, which its manual allows"},
	},
	"blas_rest": {
		{`^RotgEx c`, "an H200 refuses complex numbers with a complex c, which have no other recorded form"},
	},
	"blas_lt": {
		{`^epilogue(\.gelu)?(\.beside)? s8 s8 s8 `, "an H200 rounds to 8 bits before the activation, and has gradients of 8 bits"},
		{`^compute f32 f32 (b?f16) `, "an H200 takes the types and writes numbers of 32 bits over D; ours are 16"},
		{`^compute s8 s8 `, "ours also has results of f32 by integers, and says less exactly what is wrong"},
		{`^epilogue.* \d+ 8 \d+ \|`, "DRELU without a mask: an H200 finds an algorithm, and refuses the call"},
		{`^epilogue e[45]m\d e[45]m\d f16|^epilogue e[45]m\d e[45]m\d bf16 e5m2`, "which of two things that do not fit is said first"},
		{`^HeuristicsCacheSetCapacity `, "an H200's capacity is rounded up: its cache is real"},
		{`^(MatmulPreference|MatmulDesc|MatrixLayout) `, "an attribute that is in no header, and defaults of one architecture"},
	},
	"blas_misuse": {
		{` [srF] 0 \||GemvBatched 0 h|gemv\w*Batched 0 h`, "an H200's library dies or goes on where an address is missing; ours answers 7"},
		{`gemv`, "cuBLAS 13.1 does not check what gemv gets; ours answers 7 as the manual says"},
		{`^cublasDtrmm_v2 11 l `, "cuBLAS 13.1 does not check this; ours does"},
		{` b (-1|0) \|`, "a launch of no blocks fails there; ours says what is wrong, or nothing is to be done"},
		{` C 99 \|`, "of the three functions one says 15, two say 7"},
	},
}

// stray are lines about what a release has not, or has later.
func stray(line string) bool { return strings.Contains(line, "| missing |") }

// byHead are lines by what is before the first bar, the second one of the same as another.
func byHead(lines []string) (heads []string, of map[string]string) {
	of = map[string]string{}
	for _, l := range lines {
		head, _, _ := strings.Cut(l, "|")
		name := head
		for n := 2; of[name] != ""; n++ {
			name = fmt.Sprint(head, "#", n)
		}
		of[name] = l
		heads = append(heads, name)
	}
	return heads, of
}

func (p *recorder) flags() []string {
	flags := []string{"-w", "-l:libcudart.so.13", "-lm", "-ldl"}
	for _, l := range strings.Fields(p.libraries) {
		flags = append(flags, "-l:lib"+l)
	}
	return flags
}

func (p *recorder) run(t *testing.T) []string {
	var args []string
	if p.argument != "" {
		args = append(args, p.argument)
	}
	out := newApp(t, "cpu", appProgram(t, p.name, p.flags()...), args...).run().stdout
	if p.name == "blas_misuse" {
		out = strings.ReplaceAll(out, "_64 ", " ")
	}
	return strings.Split(strings.TrimRight(out, "\n"), "\n")
}

// TestAppSolver makes the calls of cuSOLVER and cuBLAS that an H200 answered, and compares statuses, devInfo and numbers. Where it refuses what we
// do, that is counted; a line that it had and we have not fails.
func TestAppSolver(t *testing.T) {
	for _, p := range linear {
		t.Run(strings.Trim(p.name+" "+p.argument, " "), func(t *testing.T) { p.compare(t) })
	}
}

func (p *recorder) compare(t *testing.T) {
	if p.want == "" {
		p.want = p.name
	}
	heads, want := byHead(recordedLines(t, p.want))
	_, ours := byHead(p.run(t))
	results, agree, listed, more, missing := map[string]int{}, 0, 0, 0, 0
	for _, head := range heads {
		w, g := want[head], ours[head]
		if words := strings.Fields(w); !stray(w) {
			results[strings.Join(words[:p.key], " ")]++
		}
		switch why := differs(p.want, g, w); {
		case stray(w): // CUDA 13.0 has no such function
			missing++
		case g == "" && p.argument == "64" && p.want == "blas_misuse": // has no form of 64 bits
		case why == "":
			agree++
		case p.lists(w):
			listed++
		case g != "" && p.does(g) && !p.does(w):
			more++
		default:
			t.Errorf("%s\n\tgot  %.200s\n\twant %.200s", why, g, w)
		}
	}
	t.Logf("%d of %d lines agree, %d are listed, %d we do and an H200 does not, %d functions it has not", agree, len(heads), listed, more, missing)
	if len(results) != p.count {
		t.Errorf("%d functions or combinations", len(results))
	}
	for f, n := range results {
		if _, ok := fewer[p.want+" "+f]; n < 20 && !ok && p.want != "blas_levels" && p.want != "blas_more" && p.want != "blas_misuse" {
			t.Errorf("%s has %d results", f, n)
		}
	}
}

func (p *recorder) lists(line string) bool {
	for _, o := range linearOther[p.want] {
		if regexp.MustCompile(o.line).MatchString(line) {
			return true
		}
	}
	return false
}

// does reports that a line of cuBLASLt or cuSolverMg is of a call that was done: all statuses are 0, of a product with an algorithm found.
func (p *recorder) does(line string) bool {
	parts := strings.Split(line, " | ")
	return (p.want == "blas_lt" || strings.HasPrefix(line, "Mg")) && len(parts) > 1 && (parts[1] == "0 1 0" || parts[1] == "0 0 0")
}
