package cusparse

import (
	"math"
	"math/rand/v2"
	"os"
	"sync"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/compile/worker"
	"kudzu/internal/config"
	"kudzu/internal/devices"
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/rt"
	"kudzu/internal/spec/sparse"
)

// TestMain serves as the compiler process when the cpu backend starts this program again.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "compiler" {
		os.Exit(worker.Main(os.Args[2:]))
	}
	if err := os.Setenv(config.Memory, "2G"); err != nil { // what is free does not depend on other processes then
		panic(err)
	}
	os.Exit(m.Run())
}

// start opens the device once: a process has one driver.
var start = sync.OnceValue(func() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	driver.Start([]backend.Backend{devices.CPU(devices.Config{Compiler: []string{self, "compiler"}, Strict: true})})
	return (*driver.Thread)(new(Thread)).Init(0)
})

// rig is a thread with a handle, and device memory that goes with the test.
type rig struct {
	*testing.T
	th *Thread
	h  uint64
}

func newRig(t *testing.T) *rig {
	t.Helper()
	if err := start(); err != nil {
		t.Fatal(err)
	}
	th := new(Thread)
	h, err := th.Create()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := th.Destroy(h); err != nil {
			t.Error(err)
		}
	})
	return &rig{t, th, h}
}

func (r *rig) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// up puts numbers on the device.
func up[T any](r *rig, v []T) hostmem.Ptr {
	r.Helper()
	n := uint64(len(v)) * uint64(sizeOf[T]())
	at, err := r.th.driver().TakeMemory(max(n, 16))
	r.must(err)
	r.Cleanup(func() { _ = r.th.driver().GiveMemory(at) })
	if len(v) > 0 {
		r.must(r.th.driver().MemcpyHtoD(at, hostmem.Of(&v[0]), n))
	}
	return hostmem.Ptr(at)
}

func sizeOf[T any]() int {
	switch any(*new(T)).(type) {
	case float32, int32:
		return 4
	}
	return 8
}

// down reads them back.
func down[T any](r *rig, at hostmem.Ptr, n int) []T {
	r.Helper()
	v := make([]T, n)
	if n > 0 {
		r.must(r.th.driver().MemcpyDtoH(hostmem.Of(&v[0]), driver.DevPtr(at), uint64(n*sizeOf[T]())))
	}
	return v
}

// lines is a random matrix by rows: some rows are empty, some long.
type lines struct {
	m, n    int
	offsets []int32
	indices []int32
	values  []float32
}

func random(rng *rand.Rand, m, n int) *lines {
	a := &lines{m: m, n: n, offsets: []int32{0}}
	for range m {
		density := []float64{0, 0.1, 0.3, 0.9}[rng.IntN(4)]
		for j := range n {
			if rng.Float64() < density {
				a.indices = append(a.indices, int32(j))
				a.values = append(a.values, float32(rng.NormFloat64()))
			}
		}
		a.offsets = append(a.offsets, int32(len(a.indices)))
	}
	return a
}

func (r *rig) csr(a *lines) uint64 {
	r.Helper()
	s, err := r.th.CreateCsr(int64(a.m), int64(a.n), int64(len(a.values)), up(r, a.offsets), up(r, a.indices), up(r, a.values),
		sparse.CUSPARSE_INDEX_32I, sparse.CUSPARSE_INDEX_32I, sparse.CUSPARSE_INDEX_BASE_ZERO, rt.CUDA_R_32F)
	r.must(err)
	r.Cleanup(func() { r.must(r.th.DestroySpMat(s)) })
	return s
}

// TestProducts multiplies random matrices with vectors and matrices, in sizes that meet every kernel, with scalars on the host and on
// the device, and compares with sums in f64.
func TestProducts(t *testing.T) {
	r := newRig(t)
	rng := rand.New(rand.NewPCG(1, 2))
	for i, size := range [][3]int{{1, 1, 1}, {5, 7, 3}, {33, 40, 32}, {100, 64, 5}, {64, 1000, 33}, {700, 90, 70}, {300, 5, 64}, {40, 50, 130}} {
		a := random(rng, size[0], size[1])
		for _, op := range []operation{sparse.CUSPARSE_OPERATION_NON_TRANSPOSE, sparse.CUSPARSE_OPERATION_TRANSPOSE} {
			for _, n := range []int{1, size[2]} {
				for _, byRow := range []bool{false, true} {
					r.multiply(rng, a, op, n, byRow, i%2 == 1)
				}
			}
		}
	}
}

func (r *rig) multiply(rng *rand.Rand, a *lines, op operation, n int, byRow, onDevice bool) {
	r.Helper()
	rows, depth := a.m, a.n
	if op != sparse.CUSPARSE_OPERATION_NON_TRANSPOSE {
		rows, depth = depth, rows
	}
	b, c := make([]float32, depth*n), make([]float32, rows*n)
	for i := range b {
		b[i] = float32(rng.NormFloat64())
	}
	for i := range c {
		c[i] = float32(rng.NormFloat64())
	}
	at := func(i, j, rows int) int {
		if byRow {
			return i*n + j
		}
		return j*rows + i
	}
	want, bound := make([]float64, len(c)), make([]float64, len(c))
	for i := range c {
		want[i], bound[i] = float64(c[i])*-0.5, math.Abs(float64(c[i]))
	}
	for i := range a.m {
		for k := a.offsets[i]; k < a.offsets[i+1]; k++ {
			x, y := i, int(a.indices[k])
			if op != sparse.CUSPARSE_OPERATION_NON_TRANSPOSE {
				x, y = y, x
			}
			for j := range n {
				p := 1.5 * float64(a.values[k]) * float64(b[at(y, j, depth)])
				want[at(x, j, rows)] += p
				bound[at(x, j, rows)] += math.Abs(p)
			}
		}
	}
	alpha, beta := float32(1.5), float32(-0.5)
	pa, pb := hostmem.Of(&alpha), hostmem.Of(&beta)
	mode := sparse.CUSPARSE_POINTER_MODE_HOST
	if onDevice {
		pa, pb, mode = up(r, []float32{alpha}), up(r, []float32{beta}), sparse.CUSPARSE_POINTER_MODE_DEVICE
	}
	r.must(r.th.SetPointerMode(r.h, mode))
	db, dc, s := up(r, b), up(r, c), r.csr(a)
	if n == 1 {
		x, err := r.th.CreateDnVec(int64(depth), db, rt.CUDA_R_32F)
		r.must(err)
		y, err := r.th.CreateDnVec(int64(rows), dc, rt.CUDA_R_32F)
		r.must(err)
		r.must(r.th.SpMV(r.h, op, pa, s, x, pb, y, rt.CUDA_R_32F, sparse.CUSPARSE_SPMV_ALG_DEFAULT, hostmem.Nil))
		r.must(r.th.DestroyDnVec(x))
		r.must(r.th.DestroyDnVec(y))
	} else {
		o, ldb, ldc := sparse.CUSPARSE_ORDER_COL, int64(depth), int64(rows)
		if byRow {
			o, ldb, ldc = sparse.CUSPARSE_ORDER_ROW, int64(n), int64(n)
		}
		x, err := r.th.CreateDnMat(int64(depth), int64(n), ldb, db, rt.CUDA_R_32F, o)
		r.must(err)
		y, err := r.th.CreateDnMat(int64(rows), int64(n), ldc, dc, rt.CUDA_R_32F, o)
		r.must(err)
		r.must(r.th.SpMM(r.h, op, sparse.CUSPARSE_OPERATION_NON_TRANSPOSE, pa, s, x, pb, y, rt.CUDA_R_32F, sparse.CUSPARSE_SPMM_ALG_DEFAULT, hostmem.Nil))
		r.must(r.th.DestroyDnMat(x))
		r.must(r.th.DestroyDnMat(y))
	}
	for i, got := range down[float32](r, dc, len(c)) {
		if !(math.Abs(float64(got)-want[i]) <= 0x1p-18*bound[i]+1e-30) {
			r.Fatalf("%d × %d, op %d, %d columns, by rows %v: element %d is %v, not %v", a.m, a.n, op, n, byRow, i, got, want[i])
		}
	}
}

// TestSpMVOp: z = alpha A x + beta y, with y kept, in place, and with scalars on the device.
func TestSpMVOp(t *testing.T) {
	r := newRig(t)
	rng := rand.New(rand.NewPCG(7, 7))
	for i, size := range [][2]int{{1, 1}, {30, 20}, {500, 700}} {
		a := random(rng, size[0], size[1])
		x, y, want := make([]float32, a.n), make([]float32, a.m), make([]float64, a.m)
		for k := range x {
			x[k] = float32(rng.IntN(9) - 4)
		}
		for k := range y {
			y[k] = float32(rng.IntN(9) - 4)
			want[k] = -0.5 * float64(y[k])
			for e := a.offsets[k]; e < a.offsets[k+1]; e++ {
				want[k] += 1.5 * float64(a.values[e]) * float64(x[a.indices[e]])
			}
		}
		alpha, beta := float32(1.5), float32(-0.5)
		pa, pb := hostmem.Of(&alpha), hostmem.Of(&beta)
		if i == 1 {
			pa, pb = up(r, []float32{alpha}), up(r, []float32{beta})
			r.must(r.th.SetPointerMode(r.h, sparse.CUSPARSE_POINTER_MODE_DEVICE))
		}
		dx, dy, dz, s := up(r, x), up(r, y), up(r, make([]float32, a.m)), r.csr(a)
		vec := func(n int, at hostmem.Ptr) uint64 {
			v, err := r.th.CreateDnVec(int64(n), at, rt.CUDA_R_32F)
			r.must(err)
			t.Cleanup(func() { r.must(r.th.DestroyDnVec(v)) })
			return v
		}
		vx, vy, vz := vec(a.n, dx), vec(a.m, dy), vec(a.m, dz)
		const plain = sparse.CUSPARSE_OPERATION_NON_TRANSPOSE
		if _, err := r.th.SpMVOpBufferSize(r.h, plain, s, vx, vy, vz, rt.CUDA_R_32F, 9); Code(err) != int32(invalidValue) {
			t.Errorf("no such algorithm: %v", err)
		}
		desc, err := r.th.SpMVOpCreateDescr(r.h, plain, s, vx, vy, vz, rt.CUDA_R_32F, sparse.CUSPARSE_SPMVOP_ALG1, 0)
		r.must(err)
		if _, err := r.th.SpMVOpCreatePlan(r.h, desc, dx, 8); Code(err) != int32(notSupported) {
			t.Errorf("a program's function: %v", err)
		}
		plan, err := r.th.SpMVOpCreatePlan(r.h, desc, 0, 0)
		r.must(err)
		r.must(r.th.SpMVOpDestroyDescr(desc))
		r.must(r.th.SpMVOp(r.h, plan, pa, pb, vx, vy, vz))
		kept := down[float32](r, dy, a.m)
		r.must(r.th.SpMVOp(r.h, plan, pa, pb, vx, vy, vy)) // in place
		again := down[float32](r, dy, a.m)
		for k, got := range down[float32](r, dz, a.m) {
			if math.Abs(float64(got)-want[k]) > 1e-4*(1+math.Abs(want[k])) || got != again[k] || kept[k] != y[k] {
				t.Fatalf("%v: number %d is %g and %g, not %g; y was %g, is %g", size, k, got, again[k], want[k], y[k], kept[k])
			}
		}
		r.must(r.th.SpMVOpDestroyPlan(plan))
		if err := r.th.SpMVOp(r.h, plan, pa, pb, vx, vy, vz); Code(err) != int32(invalidValue) {
			t.Errorf("a destroyed plan: %v", err)
		}
		r.must(r.th.SetPointerMode(r.h, sparse.CUSPARSE_POINTER_MODE_HOST))
	}
}

// TestLeftOver: nothing stays when everything was destroyed, and what is destroyed is no more.
func TestLeftOver(t *testing.T) {
	r := newRig(t)
	before := vectors.Len() + sparseVectors.Len() + matrices.Len() + sparseMatrices.Len() + plans.Len()
	v, err := r.th.CreateDnVec(4, hostmem.Nil, rt.CUDA_R_32F)
	r.must(err)
	p, err := r.th.SpGEMMCreateDescr()
	r.must(err)
	if r.th.SpSVDestroyDescr(p) == nil {
		t.Error("a plan was taken for one of another kind")
	}
	r.must(r.th.DestroyDnVec(v))
	r.must(r.th.SpGEMMDestroyDescr(p))
	if r.th.DestroyDnVec(v) == nil || r.th.SpGEMMDestroyDescr(p) == nil {
		t.Error("destroyed twice")
	}
	if n := vectors.Len() + sparseVectors.Len() + matrices.Len() + sparseMatrices.Len() + plans.Len(); n != before {
		t.Errorf("%d objects are left", n-before)
	}
}
