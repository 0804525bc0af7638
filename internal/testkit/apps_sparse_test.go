package testkit

import (
	"slices"
	"strings"
	"testing"

	"kudzu/internal/compile"
)

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
			if why := differs(name, got[i], want[i]); why != "" {
				if wrong++; wrong <= 20 {
					t.Errorf("%s: %s\n\tgot  %s\n\twant %s", name, why, got[i], want[i])
				}
			}
		}
		t.Logf("%s: %d of %d lines agree, %d are listed", name, len(want)-wrong-listed, len(want), listed)
	}
}

// sameAsRecorded runs a program and compares every line with an H200's. Lines that begin with one of other differ, for a reason.
func sameAsRecorded(t *testing.T, name string, other []string, libraries ...string) {
	t.Helper()
	got := strings.Split(strings.TrimRight(newApp(t, "cpu", appProgram(t, name, libraries...)).run().stdout, "\n"), "\n")
	want := recordedLines(t, name)
	if len(got) != len(want) {
		t.Fatalf("%d lines, on an H200 %d", len(got), len(want))
	}
	for i := range want {
		if slices.ContainsFunc(other, func(o string) bool { return strings.HasPrefix(want[i], o) }) {
			continue
		}
		if why := differs(name, got[i], want[i]); why != "" {
			t.Errorf("%s: %s\n%.200s\n%.200s", strings.Split(want[i], " | ")[0], why, got[i], want[i])
		}
	}
}

// TestAppSparseLt: cuSPARSELt prunes and multiplies as version 0.8 did on an H200.
func TestAppSparseLt(t *testing.T) {
	sameAsRecorded(t, "sparselt_record", nil, "-l:libcusparseLt.so.0", "-l:libcudart.so.13", "-lm")
}

// TestAppFFTDevices: plans for two devices, which are one device twice, give what they gave on an H200, and so do wrong calls.
func TestAppFFTDevices(t *testing.T) {
	other := []string{"misuse cufftXtSetGPUs(p, 2, more) S1"} // CUDA 13.0 counts devices that it has refused
	sameAsRecorded(t, "fft_devices", other, "-l:libcufft.so.12", "-l:libcudart.so.13")
}

// TestAppSparseOperators: cusparseSpMMOp with the program's functions gives what it gave on an H200, and so do wrong calls.
func TestAppSparseOperators(t *testing.T) {
	if compile.Clang() == "" {
		t.Skip("no clang 19 or newer on this machine")
	}
	sameAsRecorded(t, "sparse_operators", nil, "-l:libcusparse.so.12", "-l:libnvrtc.so.13", "-l:libcudart.so.13", "-lm")
}
