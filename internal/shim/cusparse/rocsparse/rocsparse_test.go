package rocsparse_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/backend/hip"
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cusparse"
	"kudzu/internal/shim/cusparse/rocsparse"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
	"kudzu/internal/spec/sparse"
	"kudzu/internal/testkit/hipdouble"
	"kudzu/internal/testkit/libdouble"
)

// bodies: handles are numbers in the order they are made; a function that is asked for a size wants 1 KiB.
func bodies() map[string]string {
	b := map[string]string{
		"rocsparse_create_handle":     "static uintptr_t n; *(uintptr_t *)p_handle = 0x5a00 + ++n;",
		"rocsparse_sddmm_buffer_size": "*(size_t *)p_buffer_size = 1024;",
	}
	for name, first := range map[string]string{"csr": "0x1000", "const_csr": "0x1100", "csc": "0x1200", "coo": "0x1300", "spvec": "0x2000", "dnvec": "0x3000", "dnmat": "0x4000"} {
		b["rocsparse_create_"+name+"_descr"] = "static uintptr_t n; *(uintptr_t *)p_descr = " + first + " + n++;"
	}
	b["rocsparse_spmat_set_attribute"] = "uint64_t x = *(int *)p_data; note(\"  value\", 1, &x);"
	b["rocsparse_dense_to_sparse"] = "if (!p_temp_buffer) *(size_t *)p_buffer_size = 1024;"
	for _, name := range []string{"spvv", "spmv", "spmm", "sparse_to_dense", "spsv", "spsm"} {
		b["rocsparse_"+name] = "if (!p_temp_buffer) *(size_t *)p_buffer_size = 1024; else { uint64_t x = *(size_t *)p_buffer_size; note(\"  size\", 1, &x); }"
	}
	return b
}

type rig struct {
	t   *testing.T
	lib *libdouble.Double
	hip *hipdouble.Interpreted
	th  *cusparse.Thread
	d   *driver.Thread
	h   uint64
}

func (r *rig) ok(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) made(v uint64, err error) uint64 {
	r.t.Helper()
	r.ok(err)
	return v
}

var ran atomic.Bool

// TestProvider runs all tests in one process: a process has one driver.
func TestProvider(t *testing.T) {
	if ran.Swap(true) {
		t.Skip("once a process: -count starts no second driver")
	}
	t.Setenv("KUDZU_DOUBLE_DEVICES", "gfx1100,gfx1201")
	t.Setenv("KUDZU_BACKEND", "hip")
	lib := hipdouble.Build(t)
	c := hipdouble.NewInterpreted(t, lib)
	driver.Start([]backend.Backend{hip.New(hip.Config{Compiler: c, Library: lib})})
	th := new(cusparse.Thread)
	for _, test := range []struct {
		name string
		run  func(*rig)
	}{{"calls", calls}, {"refusals", refusals}} {
		t.Run(test.name, func(t *testing.T) {
			r := &rig{t: t, lib: libdouble.Build(t, "rocsparse", "librocsparse.so.1", bodies()), hip: c, th: th, d: (*driver.Thread)(th)}
			r.use(r.lib.Path)
			defer cusparse.Unuse()
			var err error
			r.h, err = th.Create()
			r.ok(err)
			test.run(r)
		})
	}
}

func (r *rig) use(path string) {
	cusparse.Unuse()
	cusparse.Use(rocsparse.New(rocsparse.Config{Library: path}))
}

const (
	f32, c64 = rt.CUDA_R_32F, rt.CUDA_C_64F
	i32, i64 = sparse.CUSPARSE_INDEX_32I, sparse.CUSPARSE_INDEX_64I
	zero     = sparse.CUSPARSE_INDEX_BASE_ZERO
	one      = sparse.CUSPARSE_INDEX_BASE_ONE
	none     = sparse.CUSPARSE_OPERATION_NON_TRANSPOSE
	turned   = sparse.CUSPARSE_OPERATION_TRANSPOSE
	byRow    = sparse.CUSPARSE_ORDER_ROW
	byColumn = sparse.CUSPARSE_ORDER_COL
)

// calls: what the library is told, parameter by parameter, by every function that is called. Scalars are in host
// memory; their addresses and those of the provider's memory are words.
func calls(r *rig) {
	t := r.t
	scalars := []float64{2, 0, 3, 0}
	alpha, beta := hostmem.Of(&scalars[0]), hostmem.Of(&scalars[2])
	csr := r.made(r.th.CreateCsr(9, 7, 20, 0xa1000, 0xa2000, 0xa3000, i32, i32, one, f32))
	csc := r.made(r.th.CreateCsc(9, 7, 20, 0xb1000, 0xb2000, 0xb3000, i64, i64, zero, c64))
	coo := r.made(r.th.CreateCoo(9, 7, 20, 0xc1000, 0xc2000, 0xc3000, i64, zero, c64))
	vec := r.made(r.th.CreateSpVec(50, 6, 0xd1000, 0xd2000, i64, one, f32))
	x7, y9, y50 := r.made(r.th.CreateDnVec(7, 0xe1000, f32)), r.made(r.th.CreateDnVec(9, 0xe2000, f32)), r.made(r.th.CreateDnVec(50, 0xe3000, f32))
	z7, z9 := r.made(r.th.CreateDnVec(7, 0xe4000, c64)), r.made(r.th.CreateDnVec(9, 0xe5000, c64))
	b7, c9 := r.made(r.th.CreateDnMat(5, 7, 8, 0xf1000, f32, byRow)), r.made(r.th.CreateDnMat(9, 5, 11, 0xf2000, f32, byColumn))
	e7, e9 := r.made(r.th.CreateDnMat(7, 5, 8, 0xf3000, c64, byColumn)), r.made(r.th.CreateDnMat(9, 5, 6, 0xf4000, c64, byRow))
	d97 := r.made(r.th.CreateDnMat(9, 7, 12, 0xf5000, f32, byColumn))
	g97 := r.made(r.th.CreateDnMat(9, 7, 12, 0xf6000, c64, byColumn))
	a94, a47 := r.made(r.th.CreateDnMat(4, 9, 9, 0xf7000, f32, byRow)), r.made(r.th.CreateDnMat(4, 7, 7, 0xf8000, f32, byRow))
	// Triangles, of which one has values that were set after the analysis; and bytes.
	nine := r.made(r.th.CreateCsr(9, 9, 20, 0xa1000, 0xa2000, 0xa3000, i32, i32, one, f32))
	upper, unit := sparse.CUSPARSE_FILL_MODE_UPPER, sparse.CUSPARSE_DIAG_TYPE_UNIT
	r.ok(r.th.SpMatSetAttribute(nine, sparse.CUSPARSE_SPMAT_FILL_MODE, hostmem.Of(&upper), 4))
	r.ok(r.th.SpMatSetAttribute(nine, sparse.CUSPARSE_SPMAT_DIAG_TYPE, hostmem.Of(&unit), 4))
	square := r.made(r.th.CreateCoo(9, 9, 20, 0xc1000, 0xc2000, 0xc3000, i64, zero, c64))
	v9, spsv, spsm := r.made(r.th.CreateDnVec(9, 0xe6000, f32)), r.made(r.th.SpSVCreateDescr()), r.made(r.th.SpSMCreateDescr())
	b59, x95 := r.made(r.th.CreateDnMat(5, 9, 5, 0xf9000, c64, byColumn)), r.made(r.th.CreateDnMat(9, 5, 9, 0xfa000, c64, byColumn))
	r.ok(r.th.SpSMAnalysis(r.h, none, turned, alpha, square, b59, x95, c64, sparse.CUSPARSE_SPSM_ALG_DEFAULT, spsm, 0))
	solve := func(others bool) error {
		r.ok(r.th.SpSVAnalysis(r.h, turned, alpha, nine, v9, y9, f32, sparse.CUSPARSE_SPSV_ALG_DEFAULT, spsv, 0))
		if others {
			r.ok(r.th.SpSVUpdateMatrix(r.h, spsv, 0xa9000, sparse.CUSPARSE_SPSV_UPDATE_GENERAL))
		}
		return r.th.SpSVSolve(r.h, turned, alpha, nine, v9, y9, f32, sparse.CUSPARSE_SPSV_ALG_DEFAULT, spsv)
	}
	bytes := r.made(r.th.CreateCsr(9, 7, 20, 0xa1000, 0xa2000, 0xab000, i32, i32, zero, rt.CUDA_R_8I))
	b8, i9 := r.made(r.th.CreateDnVec(7, 0xe7000, rt.CUDA_R_8I)), r.made(r.th.CreateDnVec(9, 0xe8000, rt.CUDA_R_32I))
	r.ok(r.th.Gather(r.h, y50, vec))
	first := r.lib.Calls(t)
	want := []string{"rocsparse_create_handle out", "rocsparse_set_stream 5a01 stream", "rocsparse_set_pointer_mode 5a01 0"}
	if got := named(first, alpha, beta); len(got) < 3 || !slices.Equal(got[:3], want) {
		t.Errorf("the first call made %q", got)
	}
	for _, c := range []struct {
		name string
		do   func() error
		want []string
	}{
		{"gather", func() error { return r.th.Gather(r.h, y50, vec) }, []string{
			"rocsparse_create_spvec_descr out 32 6 d1000 d2000 3 1 97", "rocsparse_create_dnvec_descr out 32 e3000 97", "rocsparse_gather 5a01 dnvec0 spvec0"}},
		{"scatter", func() error { return r.th.Scatter(r.h, vec, y50) }, []string{
			"rocsparse_create_spvec_descr out 32 6 d1000 d2000 3 1 97", "rocsparse_create_dnvec_descr out 32 e3000 97", "rocsparse_scatter 5a01 spvec0 dnvec0"}},
		{"axpby", func() error { return r.th.Axpby(r.h, alpha, vec, beta, y50) }, []string{
			"rocsparse_create_spvec_descr out 32 6 d1000 d2000 3 1 97", "rocsparse_create_dnvec_descr out 32 e3000 97", "rocsparse_axpby 5a01 alpha spvec0 beta dnvec0"}},
		{"rot", func() error { return r.th.Rot(r.h, alpha, beta, vec, y50) }, []string{
			"rocsparse_create_spvec_descr out 32 6 d1000 d2000 3 1 97", "rocsparse_create_dnvec_descr out 32 e3000 97", "rocsparse_rot 5a01 alpha beta spvec0 dnvec0"}},
		{"spvv", func() error { return r.th.SpVV(r.h, none, vec, y50, alpha, f32, 0) }, []string{
			"rocsparse_create_spvec_descr out 32 6 d1000 d2000 3 1 97", "rocsparse_create_dnvec_descr out 32 e3000 97",
			"rocsparse_spvv 5a01 6f spvec0 dnvec0 alpha 97 size 0", "rocsparse_spvv 5a01 6f spvec0 dnvec0 alpha 97 size buffer", "size 400"}},
		{"spmv csr", func() error {
			return r.th.SpMV(r.h, none, alpha, csr, x7, beta, y9, f32, sparse.CUSPARSE_SPMV_ALG_DEFAULT, 0)
		}, []string{
			"rocsparse_create_const_csr_descr out 9 7 14 a1000 a2000 a3000 2 2 1 97", "rocsparse_create_dnvec_descr out 7 e1000 97", "rocsparse_create_dnvec_descr out 9 e2000 97",
			"rocsparse_spmv 5a01 6f alpha csr0 dnvec0 beta dnvec1 97 3 1 size 0", "rocsparse_spmv 5a01 6f alpha csr0 dnvec0 beta dnvec1 97 3 2 size buffer", "size 400",
			"rocsparse_spmv 5a01 6f alpha csr0 dnvec0 beta dnvec1 97 3 3 size buffer", "size 400"}},
		{"spmv coo", func() error {
			return r.th.SpMV(r.h, none, alpha, coo, z7, beta, z9, c64, sparse.CUSPARSE_SPMV_COO_ALG1, 0)
		}, []string{
			"rocsparse_create_coo_descr out 9 7 14 c1000 c2000 c3000 3 0 9b", "rocsparse_create_dnvec_descr out 7 e4000 9b", "rocsparse_create_dnvec_descr out 9 e5000 9b",
			"rocsparse_spmv 5a01 6f alpha coo0 dnvec0 beta dnvec1 9b 1 1 size 0", "rocsparse_spmv 5a01 6f alpha coo0 dnvec0 beta dnvec1 9b 1 2 size buffer", "size 400",
			"rocsparse_spmv 5a01 6f alpha coo0 dnvec0 beta dnvec1 9b 1 3 size buffer", "size 400"}},
		{"spmm csr", func() error {
			return r.th.SpMM(r.h, none, turned, alpha, csr, b7, beta, c9, f32, sparse.CUSPARSE_SPMM_ALG_DEFAULT, 0)
		}, []string{
			"rocsparse_create_const_csr_descr out 9 7 14 a1000 a2000 a3000 2 2 1 97", "rocsparse_create_dnmat_descr out 5 7 8 f1000 97 0", "rocsparse_create_dnmat_descr out 9 5 b f2000 97 1",
			"rocsparse_spmm 5a01 6f 70 alpha csr0 dnmat0 beta dnmat1 97 4 1 size 0", "rocsparse_spmm 5a01 6f 70 alpha csr0 dnmat0 beta dnmat1 97 4 2 size buffer", "size 400",
			"rocsparse_spmm 5a01 6f 70 alpha csr0 dnmat0 beta dnmat1 97 4 3 size buffer", "size 400"}},
		{"spmm coo", func() error {
			return r.th.SpMM(r.h, none, none, alpha, coo, e7, beta, e9, c64, sparse.CUSPARSE_SPMM_ALG_DEFAULT, 0)
		}, []string{
			"rocsparse_create_coo_descr out 9 7 14 c1000 c2000 c3000 3 0 9b", "rocsparse_create_dnmat_descr out 7 5 8 f3000 9b 1", "rocsparse_create_dnmat_descr out 9 5 6 f4000 9b 0",
			"rocsparse_spmm 5a01 6f 6f alpha coo0 dnmat0 beta dnmat1 9b 2 1 size 0", "rocsparse_spmm 5a01 6f 6f alpha coo0 dnmat0 beta dnmat1 9b 2 2 size buffer", "size 400",
			"rocsparse_spmm 5a01 6f 6f alpha coo0 dnmat0 beta dnmat1 9b 2 3 size buffer", "size 400"}},
		{"sddmm", func() error {
			return r.th.SDDMM(r.h, turned, none, alpha, a94, a47, beta, csr, f32, sparse.CUSPARSE_SDDMM_ALG_DEFAULT, 0)
		}, []string{
			"rocsparse_create_csr_descr out 9 7 14 a1000 a2000 a3000 2 2 1 97", "rocsparse_create_dnmat_descr out 4 9 9 f7000 97 0", "rocsparse_create_dnmat_descr out 4 7 7 f8000 97 0",
			"rocsparse_sddmm_buffer_size 5a01 70 6f alpha dnmat0 dnmat1 beta csr0 97 0 size", "rocsparse_sddmm_preprocess 5a01 70 6f alpha dnmat0 dnmat1 beta csr0 97 0 buffer",
			"rocsparse_sddmm 5a01 70 6f alpha dnmat0 dnmat1 beta csr0 97 0 buffer"}},
		{"csr to dense", func() error {
			return r.th.SparseToDense(r.h, csr, d97, sparse.CUSPARSE_SPARSETODENSE_ALG_DEFAULT, 0)
		}, []string{
			"rocsparse_create_const_csr_descr out 9 7 14 a1000 a2000 a3000 2 2 1 97", "rocsparse_create_dnmat_descr out 9 7 c f5000 97 1",
			"rocsparse_sparse_to_dense 5a01 csr0 dnmat0 0 size 0", "rocsparse_sparse_to_dense 5a01 csr0 dnmat0 0 size buffer", "size 400"}},
		{"csc to dense", func() error {
			return r.th.SparseToDense(r.h, csc, g97, sparse.CUSPARSE_SPARSETODENSE_ALG_DEFAULT, 0)
		}, []string{
			"rocsparse_create_csc_descr out 9 7 14 b1000 b2000 b3000 3 3 0 9b", "rocsparse_create_dnmat_descr out 9 7 c f6000 9b 1",
			"rocsparse_sparse_to_dense 5a01 csc0 dnmat0 0 size 0", "rocsparse_sparse_to_dense 5a01 csc0 dnmat0 0 size buffer", "size 400"}},
		{"spsv csr", func() error { return solve(false) }, []string{
			"rocsparse_create_csr_descr out 9 9 14 a1000 a2000 a3000 2 2 1 97", "rocsparse_create_dnvec_descr out 9 e6000 97", "rocsparse_create_dnvec_descr out 9 e2000 97",
			"rocsparse_spmat_set_attribute csr0 0 data 4", "value 1", "rocsparse_spmat_set_attribute csr0 1 data 4", "value 1",
			"rocsparse_spsv 5a01 70 alpha csr0 dnvec0 dnvec1 97 0 1 size 0", "rocsparse_spsv 5a01 70 alpha csr0 dnvec0 dnvec1 97 0 2 size buffer", "size 400",
			"rocsparse_spsv 5a01 70 alpha csr0 dnvec0 dnvec1 97 0 3 size buffer", "size 400"}},
		{"spsv, other values", func() error { return solve(true) }, []string{
			"rocsparse_create_csr_descr out 9 9 14 a1000 a2000 a9000 2 2 1 97", "rocsparse_create_dnvec_descr out 9 e6000 97", "rocsparse_create_dnvec_descr out 9 e2000 97",
			"rocsparse_spmat_set_attribute csr0 0 data 4", "value 1", "rocsparse_spmat_set_attribute csr0 1 data 4", "value 1",
			"rocsparse_spsv 5a01 70 alpha csr0 dnvec0 dnvec1 97 0 1 size 0", "rocsparse_spsv 5a01 70 alpha csr0 dnvec0 dnvec1 97 0 2 size buffer", "size 400",
			"rocsparse_spsv 5a01 70 alpha csr0 dnvec0 dnvec1 97 0 3 size buffer", "size 400"}},
		{"spsm coo", func() error {
			return r.th.SpSMSolve(r.h, none, turned, alpha, square, b59, x95, c64, sparse.CUSPARSE_SPSM_ALG_DEFAULT, spsm)
		}, []string{
			"rocsparse_create_coo_descr out 9 9 14 c1000 c2000 c3000 3 0 9b", "rocsparse_create_dnmat_descr out 5 9 5 f9000 9b 1", "rocsparse_create_dnmat_descr out 9 5 9 fa000 9b 1",
			"rocsparse_spmat_set_attribute coo0 0 data 4", "value 0", "rocsparse_spmat_set_attribute coo0 1 data 4", "value 0",
			"rocsparse_spsm 5a01 6f 70 alpha coo0 dnmat0 dnmat1 9b 0 1 size 0", "rocsparse_spsm 5a01 6f 70 alpha coo0 dnmat0 dnmat1 9b 0 2 size buffer", "size 400",
			"rocsparse_spsm 5a01 6f 70 alpha coo0 dnmat0 dnmat1 9b 0 3 size buffer", "size 400"}},
		{"dense to csr", func() error {
			return r.th.DenseToSparseConvert(r.h, d97, csr, sparse.CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, 0)
		}, []string{
			"rocsparse_create_csr_descr out 9 7 14 a1000 a2000 a3000 2 2 1 97", "rocsparse_create_dnmat_descr out 9 7 c f5000 97 1",
			"rocsparse_dense_to_sparse 5a01 dnmat0 csr0 0 size 0", "rocsparse_dense_to_sparse 5a01 dnmat0 csr0 0 0 buffer", "rocsparse_dense_to_sparse 5a01 dnmat0 csr0 0 size buffer"}},
		{"spmv s8", func() error {
			return r.th.SpMV(r.h, none, alpha, bytes, b8, beta, i9, rt.CUDA_R_32I, sparse.CUSPARSE_SPMV_ALG_DEFAULT, 0)
		}, []string{
			"rocsparse_create_const_csr_descr out 9 7 14 a1000 a2000 ab000 2 2 0 a0", "rocsparse_create_dnvec_descr out 7 e7000 a0", "rocsparse_create_dnvec_descr out 9 e8000 a2",
			"rocsparse_spmv 5a01 6f alpha csr0 dnvec0 beta dnvec1 a2 3 1 size 0", "rocsparse_spmv 5a01 6f alpha csr0 dnvec0 beta dnvec1 a2 3 2 size buffer", "size 400",
			"rocsparse_spmv 5a01 6f alpha csr0 dnvec0 beta dnvec1 a2 3 3 size buffer", "size 400"}},
	} {
		r.lib.Calls(t)
		if err := c.do(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		got := named(r.lib.Calls(t), alpha, beta)
		made, ended := 0, 0
		got = slices.DeleteFunc(got, func(s string) bool {
			if strings.Contains(s, "_create_") {
				made++
			}
			if strings.Contains(s, "_destroy_") {
				ended++
			}
			return strings.Contains(s, "_destroy_")
		})
		if made != ended {
			t.Errorf("%s: %d descriptors were made, %d ended", c.name, made, ended)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
	// The stream and the mode are the handle's, and it ends with cuSPARSE's.
	s, err := r.d.StreamCreate(0)
	r.ok(err)
	r.ok(r.th.SetStream(r.h, rt.CudaStream_t(s)))
	r.ok(r.th.SetPointerMode(r.h, sparse.CUSPARSE_POINTER_MODE_DEVICE))
	r.ok(r.th.Gather(r.h, y50, vec))
	if got := r.lib.Calls(t); !slices.Contains(got, "rocsparse_set_pointer_mode 5a01 1") {
		t.Errorf("another stream made %q", got)
	}
	r.ok(r.th.Destroy(r.h))
	if got := r.lib.Calls(t); !slices.Equal(got, []string{"rocsparse_destroy_handle 5a01"}) {
		t.Errorf("the end made %q", got)
	}
	about, err := rocsparse.New(rocsparse.Config{Library: r.lib.Path}).Library()
	if err != nil || !strings.Contains(about, "30 of 30 functions") {
		t.Errorf("%q, %v", about, err)
	}
}

// named puts words for the addresses that are the provider's own, and numbers descriptors of a kind in the order they
// appear.
func named(lines []string, alpha, beta hostmem.Ptr) []string {
	seen := map[string]int{}
	words := map[string]string{fmt.Sprintf("%x", uint64(alpha)): "alpha", fmt.Sprintf("%x", uint64(beta)): "beta"}
	var out []string
	for _, line := range lines {
		w := strings.Fields(line)
		last := len(w) - 1
		switch {
		case strings.Contains(w[0], "_create_"):
			w[1] = "out"
		case w[0] == "rocsparse_set_stream":
			w[2] = "stream"
		case w[0] == "rocsparse_sddmm_buffer_size":
			w[last] = "size"
		case w[0] == "rocsparse_sddmm" || w[0] == "rocsparse_sddmm_preprocess":
			w[last] = "buffer"
		case w[0] == "rocsparse_spmat_set_attribute":
			w[3] = "data"
		case w[0] == "rocsparse_dense_to_sparse" || w[0] == "rocsparse_spsv" || w[0] == "rocsparse_spsm":
			for i, what := range map[int]string{last - 1: "size", last: "buffer"} {
				if w[i] != "0" {
					w[i] = what
				}
			}
		case w[0] == "rocsparse_spmv" || w[0] == "rocsparse_spmm" || w[0] == "rocsparse_spvv" || w[0] == "rocsparse_sparse_to_dense":
			w[last-1] = "size"
			if w[last] != "0" {
				w[last] = "buffer"
			}
		}
		if !strings.Contains(w[0], "_create_") {
			for i, x := range w[1:] {
				for kind, first := range map[string]string{"csr": "10 11", "csc": "12", "coo": "13", "spvec": "20", "dnvec": "30", "dnmat": "40"} {
					if len(x) == 4 && slices.Contains(strings.Fields(first), x[:2]) && words[x] == "" {
						words[x] = fmt.Sprintf("%s%d", kind, seen[kind])
						seen[kind]++
					}
				}
				if name := words[x]; name != "" {
					w[i+1] = name
				}
			}
		}
		out = append(out, strings.Join(w, " "))
	}
	return out
}

func (r *rig) upload(words ...uint32) uint64 {
	r.t.Helper()
	var b []byte
	for _, v := range words {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	p, err := r.d.MemAlloc(uint64(len(b)))
	r.ok(err)
	r.ok(r.d.MemcpyHtoD(p, hostmem.Of(&b[0]), uint64(len(b))))
	return uint64(p)
}

func floats(v ...float32) (words []uint32) {
	for _, x := range v {
		words = append(words, math.Float32bits(x))
	}
	return words
}

// refusals: what rocSPARSE does not do, our kernels do; real errors are cuSPARSE's.
func refusals(r *rig) {
	t := r.t
	scalars := []float32{2, 0}
	alpha, beta := hostmem.Of(&scalars[0]), hostmem.Of(&scalars[1])
	offsets, columns, values := r.upload(0, 2, 3), r.upload(0, 1, 1), r.upload(floats(1, 2, 3)...)
	a := r.made(r.th.CreateCsr(2, 2, 3, hostmem.Ptr(offsets), hostmem.Ptr(columns), hostmem.Ptr(values), i32, i32, zero, f32))
	x := r.made(r.th.CreateDnVec(2, hostmem.Ptr(r.upload(floats(5, 7)...)), f32))
	spmv := func(op sparse.CusparseOperation_t, to uint64) error {
		y := r.made(r.th.CreateDnVec(2, hostmem.Ptr(to), f32))
		err := r.th.SpMV(r.h, op, alpha, a, x, beta, y, f32, sparse.CUSPARSE_SPMV_ALG_DEFAULT, 0)
		r.ok(r.d.CtxSynchronize())
		return err
	}
	own := func(what string, op sparse.CusparseOperation_t, want [2]float32) {
		t.Helper()
		to := r.upload(0, 0)
		_, before := r.hip.Counts()
		if err := spmv(op, to); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		_, after := r.hip.Counts()
		var got [2]float32
		r.ok(r.d.MemcpyDtoH(hostmem.Of(&got[0]), driver.DevPtr(to), 8))
		if got != want || after == before {
			t.Errorf("%s: %v, want %v; %d launches of ours", what, got, want, after-before)
		}
	}
	plain := [2]float32{38, 42}
	for _, refused := range []int{2, 3, 4, 7, 8, 11, 12} {
		r.lib.Answer(t, "rocsparse_spmv", refused)
		own(fmt.Sprint("answer ", refused), none, plain)
		r.lib.Answer(t, "rocsparse_spmv", 0)
	}
	for roc, want := range map[int]int32{1: 1, 5: 2, 6: 7, 9: 9, 77: 7} {
		r.lib.Answer(t, "rocsparse_spmv", roc)
		if rc := cusparse.Code(spmv(none, r.upload(0, 0))); rc != want {
			t.Errorf("rocSPARSE's %d became %d, want %d", roc, rc, want)
		}
	}
	r.lib.Answer(t, "rocsparse_spmv", 0)
	// A transposed product adds with atomics there: ours gives the same bits every time.
	r.lib.Calls(t)
	own("transposed", turned, [2]float32{10, 62})
	if got := r.lib.Calls(t); len(got) != 0 {
		t.Errorf("transposed: %q", got)
	}
	// A stream that is captured takes our kernels.
	s, err := r.d.StreamCreate(0)
	r.ok(err)
	r.ok(r.th.SetStream(r.h, rt.CudaStream_t(s)))
	to := r.made(r.th.CreateDnVec(2, hostmem.Ptr(r.upload(0, 0)), f32))
	r.ok(r.d.StreamBeginCapture(s, cu.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL))
	r.ok(r.th.SpMV(r.h, none, alpha, a, x, beta, to, f32, sparse.CUSPARSE_SPMV_ALG_DEFAULT, 0))
	if got := r.lib.Calls(t); len(got) != 0 {
		t.Errorf("while capturing: %q", got)
	}
	var g cu.CUgraph
	r.ok(r.d.StreamEndCapture(s, hostmem.Of(&g)))
	r.ok(r.th.SetStream(r.h, 0))
	for _, path := range []string{"/nonexistent/librocsparse.so.1", "libc.so.6", "none"} {
		r.use(path)
		own(path, none, plain)
	}
	// ROCm 5 has other parameters.
	r.use(libdouble.Build(t, "rocsparse", "librocsparse.so.0", bodiesWithout("rocsparse_create_const_csr_descr"), "rocsparse_create_const_csr_descr").Path)
	own("ROCm 5", none, plain)
}

func bodiesWithout(name string) map[string]string {
	b := bodies()
	delete(b, name)
	return b
}
