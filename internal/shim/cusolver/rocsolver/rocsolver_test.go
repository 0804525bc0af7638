package rocsolver_test

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/backend/hip"
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cublas/rocblas"
	"kudzu/internal/shim/cusolver"
	"kudzu/internal/shim/cusolver/rocsolver"
	"kudzu/internal/spec"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
	"kudzu/internal/spec/solver"
	"kudzu/internal/testkit/hipdouble"
	"kudzu/internal/testkit/libdouble"
)

// rig is a process with two AMD GPUs, rocBLAS and rocSOLVER, all of them doubles.
type rig struct {
	t         *testing.T
	blas, lib *libdouble.Double
	hip       *hipdouble.Interpreted
	th        *driver.Thread
	h         uint64
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
	th := new(driver.Thread)
	for _, test := range []struct {
		name string
		run  func(*rig)
	}{{"every row", everyRow}, {"statuses", statuses}, {"handles", handles}, {"missing", missing}} {
		t.Run(test.name, func(t *testing.T) {
			r := &rig{t: t, hip: c, th: th}
			r.blas = libdouble.Build(t, "rocblas", "librocblas.so.4", map[string]string{
				"rocblas_create_handle": "static uintptr_t n; *(uintptr_t *)p_handle = 0xb1a50000 + ++n;",
			})
			bodies := map[string]string{"rocsolver_get_version_string": `snprintf(p_buf, p_len, "3.27.0");`}
			for _, l := range []string{"s", "d", "c", "z"} {
				bodies["rocsolver_"+l+"getrf_64"] = "*(int64_t *)p_info = 7;"
			}
			r.lib = libdouble.Build(t, "rocsolver", "librocsolver.so.0", bodies)
			r.use(r.lib.Path)
			defer cusolver.Unuse()
			var err error
			r.h, err = (*cusolver.Thread)(th).DnCreate()
			r.ok(err)
			test.run(r)
		})
	}
}

func (r *rig) use(path string) {
	cusolver.Unuse()
	cusolver.Use(rocsolver.New(rocsolver.Config{Library: path, BLAS: rocblas.New(rocblas.Config{Library: r.blas.Path})}))
}

func (r *rig) ok(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// CUDA's numbers of the enumerations, and AMD's, as the manuals have them: not from the table that is tested.
var numbers = map[string][2][2]uint64{
	"uplo": {{0, 122}, {1, 121}}, "diag": {{0, 131}, {1, 132}}, "side": {{0, 141}, {1, 142}}, "trans": {{0, 111}, {1, 112}},
	"storev": {{0, 181}, {1, 182}}, "evect": {{1, 211}, {0, 213}}, "itype": {{1, 221}, {2, 222}},
	"left_svect": {{'A', 191}, {'O', 193}}, "right_svect": {{'S', 192}, {'N', 194}},
}

// names are cuSOLVER's for the parameters that rocSOLVER calls otherwise; the first that a function has is meant.
var names = map[string][]string{
	"A": {"Aarray", "d_A"}, "B": {"d_B"}, "ipiv": {"devIpiv", "tau", "TAU"}, "info": {"devInfo", "infoArray", "d_info"}, "batch_count": {"batchSize"},
	"D": {"d", "W", "d_W"}, "E": {"e", "work", "bufferOnDevice"}, "tauq": {"TAUQ"}, "taup": {"TAUP"}, "V": {"VT"}, "ldv": {"ldvt"},
	"evect": {"jobz"}, "storev": {"side"}, "left_svect": {"jobu"}, "right_svect": {"jobvt"},
}

// sizes are the numbers that are passed: all differ, and all make sense together.
var sizes = map[string]uint64{
	"m": 9, "n": 7, "k": 5, "nrhs": 3, "lda": 11, "ldb": 12, "ldc": 13, "ldu": 14, "ldvt": 15, "k1": 2, "k2": 4, "incx": 1, "batchSize": 6,
	"lwork": 1 << 20, "Lwork": 1 << 20, "workspaceInBytesOnDevice": 1 << 20,
}

var types = map[byte]uint64{'s': 0, 'd': 1, 'c': 4, 'z': 5}
var reals = map[byte]uint64{'s': 0, 'd': 1, 'c': 0, 'z': 1}

// everyRow calls, for every function of the table, the one of cuSOLVER that it stands in for, and compares what the
// library gets.
func everyRow(r *rig) {
	t := r.t
	rows, err := spec.Load("rocsolver")
	r.ok(err)
	api, err := table()
	r.ok(err)
	cuda := map[string]*spec.Func{}
	for _, f := range api.Funcs {
		cuda[f.Name] = f
	}
	info, err := r.th.MemAlloc(4 * 16)
	r.ok(err)
	called := 0
	for _, to := range rows.Funcs {
		if to.Opaque || to.Name == "rocsolver_get_version_string" {
			continue
		}
		called++
		for round := range 2 {
			r.row(to, cuda[to.For], round, info)
		}
	}
	if called != 104 {
		t.Errorf("%d rows were called", called)
	}
	t.Logf("%d rows", called)
}

func (r *rig) row(to, f *spec.Func, round int, info driver.DevPtr) {
	t := r.t
	t.Helper()
	letter := to.Name[len("rocsolver_")]
	size := func(name string) (uint64, bool) {
		v, ok := sizes[name]
		switch {
		case strings.Contains(to.Name, "gbr") && round == 1 && (name == "m" || name == "n" || name == "k"): // P' has no more rows than columns
			v = map[string]uint64{"m": 7, "n": 9, "k": 6}[name]
		case strings.Contains(to.Name, "potrs_batched") && name == "nrhs":
			v = 1
		case name == "incx" && round == 1:
			v = ^uint64(0)
		}
		return v, ok
	}
	args, at := make([]uint64, len(f.Params)), map[string]uint64{}
	for i, p := range f.Params {
		v, sized := size(p.Name)
		switch {
		case i == 0:
			v = r.h
		case sized:
		case slices.Contains(append(names["info"], "info"), p.Name):
			v = uint64(info)
		case strings.HasPrefix(p.Name, "dataTypeW") || p.Name == "dataTypeS":
			v = reals[letter]
		case p.Type.Name == "cudaDataType":
			v = types[letter]
		case p.Name == "devIpiv" && strings.Contains(to.Name, "npvt"):
			v = 0
		case p.Type.Ptr:
			v = 0x7000_0000_1000 * uint64(i)
		default:
			for n, pair := range numbers {
				if n == p.Name || slices.Contains(names[n], p.Name) && n != "storev" {
					v = pair[round][0]
				}
			}
			if p.Name == "trans" && round == 1 && (letter == 'c' || letter == 'z') {
				v = 2
			}
		}
		args[i], at[p.Name] = v, v
	}
	want := []string{to.Name}
	for i, q := range to.Params {
		v, ok := at[q.Name]
		for _, n := range names[q.Name] {
			if !ok {
				v, ok = at[n]
			}
		}
		if pair, there := numbers[q.Name]; there {
			v = pair[round][1]
			if q.Name == "trans" && at["trans"] == 2 {
				v = 113
			}
		}
		switch {
		case i == 0:
			v = 0xb1a50001
		case q.Name == "incx":
			v = at["incx"]
		case q.Name == "fast_alg":
			v = 201
		case q.Name == "strideA":
			v = at["lda"] * at["n"]
		case q.Name == "strideD" || q.Name == "strideE":
			v = at["n"]
		case !ok:
			t.Fatalf("%s: what is %s?", to.Name, q.Name)
		}
		want = append(want, fmt.Sprintf("%x", v))
	}
	r.ok(r.th.MemsetD32(info, 0x55, 16))
	r.lib.Calls(t)
	if rc := r.call(f.Name, args); rc != 0 {
		t.Errorf("%s = %d", f.Name, rc)
	}
	r.ok(r.th.CtxSynchronize())
	got := r.lib.Calls(t)
	wide := strings.HasSuffix(to.Name, "getrf_64")
	if wide && len(got) == 1 { // where info goes is memory of the handle's
		w := strings.Fields(got[0])
		if w[len(w)-1] == want[len(want)-1] || w[len(w)-1] == "0" {
			t.Errorf("%s: 64 bits of info go to %s", to.Name, w[len(w)-1])
		}
		w[len(w)-1] = want[len(want)-1]
		got[0] = strings.Join(w, " ")
	}
	if len(got) != 1 || got[0] != strings.Join(want, " ") {
		t.Errorf("%s:\n got %q\nwant %q", f.Name, got, strings.Join(want, " "))
	}
	// A function of rocSOLVER's without info has succeeded; the others write it themselves.
	told := int32(0)
	switch {
	case wide:
		told = 7
	case to.Params[len(to.Params)-1].Name == "info" || strings.HasSuffix(to.Name, "potrf_batched") || strings.Contains(to.Name, "strided_batched") || strings.Contains(to.Name, "laswp"):
		told = 0x55
	}
	if n := r.number(info); n != told {
		t.Errorf("%s: info is %d, want %d", f.Name, n, told)
	}
}

// spd is a positive definite matrix of 3 x 3 and the lower triangle of its factor.
func (r *rig) spd() (a driver.DevPtr, want []float32) {
	return r.upload([]float32{4, 2, 6, 0, 10, 9, 0, 0, 26}), []float32{2, 1, 3, 0, 3, 2, 0, 0, 3.6055512}
}

// potrf calls cusolverDnSpotrf.
func (r *rig) potrf(a, info driver.DevPtr) int32 {
	r.t.Helper()
	rc := r.call("cusolverDnSpotrf", []uint64{r.h, 0, 3, uint64(a), 3, uint64(info), 1, uint64(info)})
	r.ok(r.th.CtxSynchronize())
	return rc
}

// own checks that our kernels do it, whatever the library says.
func (r *rig) own(what string, calls int) {
	t := r.t
	t.Helper()
	a, want := r.spd()
	info := r.upload([]float32{5})
	r.lib.Calls(t)
	_, before := r.hip.Counts()
	if rc := r.potrf(a, info); rc != 0 {
		t.Fatalf("%s: cusolverDnSpotrf = %d", what, rc)
	}
	got := r.download(a, 9)
	for i, w := range want {
		if d := got[i] - w; w != 0 && (d > 1e-5 || d < -1e-5) {
			t.Errorf("%s: %v, want %v", what, got, want)
			break
		}
	}
	if _, ran := r.hip.Counts(); ran == before || len(r.lib.Calls(t)) != calls || r.number(info) != 0 {
		t.Errorf("%s: %d launches of ours, info %d", what, ran-before, r.number(info))
	}
}

// statuses: what rocSOLVER does not do, our kernels do; real errors are cuSOLVER's. A stream that is captured takes
// our kernels.
func statuses(r *rig) {
	t := r.t
	for _, refused := range []int{2, 14, 15, 3, 4, 11} {
		r.lib.Answer(t, "rocsolver_spotrf", refused)
		r.own(fmt.Sprintf("answer %d", refused), 1)
	}
	a, _ := r.spd()
	for roc, want := range map[int]int32{1: 1, 5: 2, 6: 7, 13: 6, 77: 7} {
		r.lib.Answer(t, "rocsolver_spotrf", roc)
		if rc := r.potrf(a, r.upload([]float32{5})); rc != want {
			t.Errorf("rocSOLVER's %d became %d, want %d", roc, rc, want)
		}
	}
	r.lib.Answer(t, "rocsolver_spotrf", 0)
	// A mistake is answered as cuSOLVER does, and the library is not asked.
	r.lib.Calls(t)
	info := r.upload([]float32{5})
	if rc := r.call("cusolverDnSpotrf", []uint64{r.h, 0, 3, uint64(a), 2, uint64(info), 1, uint64(info)}); rc != 3 {
		t.Errorf("a leading dimension of 2: %d", rc)
	}
	r.ok(r.th.CtxSynchronize())
	if n, calls := r.number(info), r.lib.Calls(t); n != -4 || len(calls) != 0 {
		t.Errorf("info %d, calls %q", n, calls)
	}
	s, err := r.th.StreamCreate(0)
	r.ok(err)
	r.ok((*cusolver.Thread)(r.th).DnSetStream(solver.CusolverDnHandle_t(r.h), rt.CudaStream_t(s)))
	r.ok(r.th.StreamBeginCapture(s, cu.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL))
	rc := r.call("cusolverDnSpotrf", []uint64{r.h, 0, 3, uint64(a), 3, uint64(info), 1, uint64(info)})
	if calls := r.lib.Calls(t); rc != 0 || len(calls) != 0 {
		t.Errorf("while capturing: %d, %q", rc, calls)
	}
	var g cu.CUgraph
	r.ok(r.th.StreamEndCapture(s, hostmem.Of(&g)))
}

// handles: a handle of rocBLAS's a device, on cuSOLVER's stream; it ends with cuSOLVER's.
func handles(r *rig) {
	t := r.t
	a, _ := r.spd()
	info := r.upload([]float32{5})
	if rc := r.potrf(a, info); rc != 0 {
		t.Fatal(rc)
	}
	got := r.blas.Calls(t)
	if !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "rocblas_set_stream b1a50001 ") }) {
		t.Errorf("the first call made %q", got)
	}
	r.potrf(a, info)
	if got := r.blas.Calls(t); len(got) != 0 {
		t.Errorf("the second made %q", got)
	}
	s, err := r.th.StreamCreate(0)
	r.ok(err)
	r.ok((*cusolver.Thread)(r.th).DnSetStream(solver.CusolverDnHandle_t(r.h), rt.CudaStream_t(s)))
	r.potrf(a, info)
	if got := r.blas.Calls(t); len(got) != 4 || !strings.HasPrefix(got[0], "rocblas_set_stream b1a50001 ") {
		t.Errorf("another stream made %q", got)
	}
	r.ok((*cusolver.Thread)(r.th).DnDestroy(solver.CusolverDnHandle_t(r.h)))
	if got := r.blas.Calls(t); !slices.Equal(got, []string{"rocblas_destroy_handle b1a50001"}) {
		t.Errorf("the end made %q", got)
	}
	about, err := rocsolver.New(rocsolver.Config{Library: r.lib.Path}).Library()
	if err != nil || !strings.Contains(about, "3.27.0, 105 of 105 functions") {
		t.Errorf("%q, %v", about, err)
	}
}

// missing: without the library, or told to do without, our kernels serve.
func missing(r *rig) {
	for _, path := range []string{"/nonexistent/librocsolver.so.0", "libc.so.6", "none"} {
		r.use(path)
		r.own(path, 0)
	}
	// Without rocBLAS there is nothing to work with.
	cusolver.Unuse()
	cusolver.Use(rocsolver.New(rocsolver.Config{Library: r.lib.Path, BLAS: rocblas.New(rocblas.Config{Library: "none"})}))
	r.own("no rocBLAS", 0)
}
