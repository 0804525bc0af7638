package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"kudzu/internal/backend/hip"
	"kudzu/internal/testkit/hipdouble"
	"kudzu/internal/testkit/libdouble"
)

// TestReportProduct: on two devices of the double, by the double of rocBLAS and by our kernels.
func TestReportProduct(t *testing.T) {
	blas := libdouble.Build(t, "rocblas", "librocblas.so.4", map[string]string{
		"rocblas_create_handle": "static uintptr_t n; *(uintptr_t *)p_handle = ++n;",
		"rocblas_sgemm":         libdouble.Sgemm,
	})
	t.Setenv("KUDZU_ROCBLAS_LIBRARY", blas.Path)
	t.Setenv("KUDZU_DOUBLE_DEVICES", "gfx1100,gfx90a")
	t.Setenv("KUDZU_BACKEND", "")
	lib := hipdouble.Build(t)
	b := hip.New(hip.Config{Compiler: hipdouble.NewInterpreted(t, lib), Library: lib})
	if _, err := b.Open(); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for i := range 2 {
		reportProduct(&out, b, i)
	}
	blas.Answer(t, "rocblas_sgemm", 6) // an internal error
	reportProduct(&out, b, 0)
	got := regexp.MustCompile(` +[0-9.]+ ms `).ReplaceAllString(out.String(), "")
	const want = `    hip     0 cuBLAS: rocBLAS right
    hip     0 cuBLAS: ours right
    hip     1 cuBLAS: rocBLAS right
    hip     1 cuBLAS: ours right
    hip     0 cuBLAS: rocBLAS FAILED: internal error
    hip     0 cuBLAS: ours right
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	calls := strings.Join(blas.Calls(t), "\n")
	if n := strings.Count(calls, "rocblas_sgemm "); n != 3 {
		t.Errorf("%d calls of rocblas_sgemm\n%s", n, calls)
	}
}
