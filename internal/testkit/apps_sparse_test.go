package testkit

import (
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
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

const failedBefore = "on the H200, a kernel of an earlier wrong call had failed"

// sparseOther are calls that we answer otherwise than the H200 did, with the reason.
var sparseOther = map[string][]struct{ prefix, why string }{
	"sparse_generic": {
		{"spgemm i32 b0 f32 f32 alg 1", "CUDA 13.0 fails in this algorithm where its memory was asked for by the other's steps"},
		{"spgemm i32 b1 f64 f64 alg 1", "as above"}, {"spgemm i32 b0 c32 c32 alg 1", "as above"}, {"spgemm i32 b1 c64 c64 alg 1", "as above"},
		{"spgemm i32 b0 f32 f32 alg 2", "as above"}, {"spgemm i32 b1 f64 f64 alg 2", "as above"}, {"spgemm i32 b0 c32 c32 alg 2", "as above"},
		{"spgemm i32 b1 c64 c64 alg 2", "as above"},
		{"spmm bell op 0 0", "blocks of padding have numbers here, which CUDA 13.0 uses"},
		{"densetosparse bell", "CUDA 13.0 says three times as many entries as there are"},
		{"sddmm csr op 2", "CUDA's manual has no conjugate transposes here"}, {"sddmm csr op 0 2", "as above"},
	},
	"sparse_legacy": {
		{"csr2csr_compress f32", "CUDA 13.0 leaves out negative entries that it counted"}, {"csr2csr_compress f64", "as above"},
	},
	"sparse_more": {{"spmvop ", "CUDA 13.0 has no such function"}, {"spgeam ", "as above"}},
	"sparse_misuse": {
		{"cusparseDnVecGetValues(", "CUDA 13.0 crashes"}, {"cusparseXcsrsort(h, 4, 4, 4, 0", "CUDA 13.0 crashes"},
		{"cusparseSnnz(h, CUSPARSE_DIRECTION_ROW, 4, 4, 0", "CUDA 13.0 crashes"}, {"cusparseScsrilu02_bufferSize(h, 4, 4", "CUDA 13.0 crashes"},
		{"cusparseSpMV(h, N, &one, coo", "we need no memory of the program's"}, {"cusparseSpMV(h, N, &one, csc", "as above"},
		{"cusparseSpMV_bufferSize(h, N, &one, a, x, &zero, y, R32, A0, 0)", "NULL is looked at first"},
		{"cusparseDenseToSparse_convert(h, B, c", "its first kernel reads NULL: whether that is known at the second one depends on time"},
		{"cusparseXcoo2csr(h, ix, 0", failedBefore}, {"cusparseCreateIdentityPermutation(h, 4, 0)", failedBefore},
		{"cusparseSnnz(h, CUSPARSE_DIRECTION_ROW, 4, 4, md, vals, 4, p, 0)", failedBefore}, {"cusparseCreateCsrilu02Info(&iu)", failedBefore},
		{"cusparseXcsrilu02_zeroPivot(h, iu, &v)", failedBefore},
	},
}

// bound is how far a number may be off, as a share of the largest of its line: what the types of the line hold. It was fixed before the
// recording.
func bound(name string) float64 {
	for _, b := range []struct {
		word string
		eps  float64
	}{{" bf16 ", 0x1p-7}, {" f16 ", 0x1p-10}, {" f32 ", 0x1p-18}, {" c32 ", 0x1p-18}} {
		if strings.Contains(name+" ", b.word) {
			return b.eps
		}
	}
	return 0x1p-40
}

// differs says how a line is not what was recorded; "" if it is.
func differs(got, want string) string {
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
	return apart(strings.Fields(g[len(g)-1]), strings.Fields(w[len(w)-1]), bound(w[0]))
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

// TestAppSparse makes every call of cuSPARSE that an H200 answered, and compares statuses and numbers.
func TestAppSparse(t *testing.T) {
	for _, name := range []string{"sparse_generic", "sparse_legacy", "sparse_more", "sparse_misuse"} {
		exe := appProgram(t, name, "-w", "-l:libcusparse.so.12", "-l:libcudart.so.13", "-ldl")
		got := strings.Split(strings.TrimRight(newApp(t, "cpu", exe).run().stdout, "\n"), "\n")
		want := recordedLines(t, name)
		if len(got) != len(want) {
			t.Errorf("%s: %d lines, on an H200 %d", name, len(got), len(want))
		}
		wrong, listed := 0, 0
	lines:
		for i := range min(len(got), len(want)) {
			for _, o := range sparseOther[name] {
				if strings.HasPrefix(want[i], o.prefix) {
					listed++
					continue lines
				}
			}
			if why := differs(got[i], want[i]); why != "" {
				if wrong++; wrong <= 20 {
					t.Errorf("%s: %s\n\tgot  %s\n\twant %s", name, why, got[i], want[i])
				}
			}
		}
		t.Logf("%s: %d of %d lines agree, %d are listed", name, len(want)-wrong-listed, len(want), listed)
	}
}
