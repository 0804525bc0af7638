package cusolvermg

import (
	"fmt"
	"math/cmplx"
	"math/rand/v2"
	"os"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/compile/worker"
	"kudzu/internal/config"
	"kudzu/internal/devices"
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/rt"
	"kudzu/internal/spec/solver"
)

const testDevices = 3

// TestMain serves as the compiler process when the cpu backend starts this program again.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "compiler" {
		os.Exit(worker.Main(os.Args[2:]))
	}
	if err := os.Setenv(config.Devices, fmt.Sprint(testDevices)); err != nil {
		panic(err)
	}
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	driver.Start([]backend.Backend{devices.CPU(devices.Config{Compiler: []string{self, "compiler"}, Strict: true})})
	os.Exit(m.Run())
}

// rig is a handle on all devices, and a type.
type rig struct {
	t   *testing.T
	th  *Thread
	h   Handle
	e   cublas.Elem
	ty  rt.CudaDataType
	rng *rand.Rand
	ids []int32
}

func (r *rig) ok(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// dense is a matrix by columns.
type dense struct {
	m, n int
	v    []complex128
}

func newDense(m, n int) dense              { return dense{m, n, make([]complex128, m*n)} }
func (a dense) at(i, j int) complex128     { return a.v[j*a.m+i] }
func (a dense) set(i, j int, x complex128) { a.v[j*a.m+i] = x }
func (a dense) times(b dense) dense {
	c := newDense(a.m, b.n)
	for j := range b.n {
		for k := range a.n {
			for i := range a.m {
				c.v[j*c.m+i] += a.at(i, k) * b.at(k, j)
			}
		}
	}
	return c
}

func (r *rig) random(m, n int) dense {
	a := newDense(m, n)
	for i := range a.v {
		x := complex(r.rng.Float64()-0.5, 0)
		if r.e == cublas.C32 || r.e == cublas.C64 {
			x += complex(0, r.rng.Float64()-0.5)
		}
		a.v[i] = cublas.Decode(r.e, cublas.Encode(r.e, x))
	}
	return a
}

// positive is a definite Hermitian one.
func (r *rig) positive(n int) dense {
	a := r.random(n, n)
	for j := range n {
		for i := range j {
			a.set(j, i, cmplx.Conj(a.at(i, j)))
		}
		a.set(j, j, complex(float64(n), 0))
	}
	return a
}

// dealt is a matrix on the devices, inside a larger one: first row and column are 2 and 3.
type dealt struct {
	d      desc
	arrays hostmem.Ptr
	rows   int
	block  int
	at     []uint64
}

const firstRow, firstCol = 2, 3

// memory is on device d.
func (r *rig) memory(d int32, bytes int) uint64 {
	r.t.Helper()
	th := r.th.driver()
	dev, err := th.DeviceGet(d)
	r.ok(err)
	c, err := th.DevicePrimaryCtxRetain(dev)
	r.ok(err)
	r.ok(th.CtxPushCurrent(c))
	p, err := th.MemAlloc(uint64(max(bytes, 16)))
	r.ok(err)
	_, err = th.CtxPopCurrent()
	r.ok(err)
	r.t.Cleanup(func() { _ = th.MemFree(p) })
	return uint64(p)
}

// list is an array of pointers or numbers in memory that Go does not move.
func list[T any](r *rig, at []T) hostmem.Ptr {
	p := hostmem.Ptr(r.memory(0, 8*len(at)))
	copy(hostmem.Slice[T](p, len(at)), at)
	return p
}

// infoAt is a place for one, with something in it.
func (r *rig) infoAt() hostmem.Ptr { return list(r, []int32{-99}) }

func (r *rig) info(at hostmem.Ptr, want int32) {
	r.t.Helper()
	if got := hostmem.Load[int32](at); got != want {
		r.t.Errorf("info %d, not %d", got, want)
	}
}

// place is where an element is, rows and columns counted in the larger matrix.
func (x *dealt) place(i, j, size int) hostmem.Ptr {
	b := j / x.block
	local := b/len(x.at)*x.block + j%x.block
	return hostmem.Ptr(x.at[b%len(x.at)] + uint64((local*x.rows+i)*size))
}

func (r *rig) deal(a dense, block int, g uint64) *dealt {
	r.t.Helper()
	rows, cols := a.m+firstRow, a.n+firstCol
	d, err := r.th.CreateMatrixDesc(int64(rows), int64(cols), int64(rows), int64(block), r.ty, g)
	r.ok(err)
	x := &dealt{d: d, rows: rows, block: block}
	blocks := (cols + block - 1) / block
	for _, id := range r.ids {
		x.at = append(x.at, r.memory(id, (blocks/len(r.ids)+1)*block*rows*r.e.Size()))
	}
	for j := range cols {
		for i := range rows {
			v := complex(77, 0)
			if i >= firstRow-1 && i < firstRow-1+a.m && j >= firstCol-1 && j < firstCol-1+a.n {
				v = a.at(i-firstRow+1, j-firstCol+1)
			}
			copy(hostmem.Bytes(x.place(i, j, r.e.Size()), uint64(r.e.Size())), cublas.Encode(r.e, v))
		}
	}
	x.arrays = list(r, x.at)
	return x
}

// get reads it; what lies around it must have stayed.
func (r *rig) get(x *dealt, m, n int) dense {
	r.t.Helper()
	a := newDense(m, n)
	for j := range n + firstCol {
		for i := range m + firstRow {
			v := cublas.Decode(r.e, hostmem.Bytes(x.place(i, j, r.e.Size()), uint64(r.e.Size())))
			if i >= firstRow-1 && i < firstRow-1+m && j >= firstCol-1 && j < firstCol-1+n {
				a.set(i-firstRow+1, j-firstCol+1, v)
			} else if v != 77 {
				r.t.Fatalf("element %d, %d around the matrix became %v", i, j, v)
			}
		}
	}
	return a
}

// works are workspaces of lwork elements on all devices.
func (r *rig) works(lwork int64) []uint64 {
	var at []uint64
	for _, id := range r.ids {
		at = append(at, r.memory(id, int(lwork)*r.e.Size()))
	}
	return at
}

// near compares a product with what it should be.
func (r *rig) near(got, want dense, scale float64, what string) {
	r.t.Helper()
	eps := 0x1p-52
	if r.e == cublas.F32 || r.e == cublas.C32 {
		eps = 0x1p-23
	}
	for i := range got.v {
		if !(cmplx.Abs(got.v[i]-want.v[i]) <= 30*eps*float64(got.m)*scale) {
			r.t.Fatalf("%s: element %d is %v, not %v", what, i, got.v[i], want.v[i])
		}
	}
}

func onTypes(t *testing.T, f func(r *rig, g uint64)) {
	for ty, e := range map[rt.CudaDataType]cublas.Elem{rt.CUDA_R_32F: cublas.F32, rt.CUDA_R_64F: cublas.F64, rt.CUDA_C_32F: cublas.C32, rt.CUDA_C_64F: cublas.C64} {
		t.Run(e.String(), func(t *testing.T) {
			r := &rig{t: t, th: new(Thread), e: e, ty: ty, rng: rand.New(rand.NewPCG(5, uint64(e))), ids: []int32{2, 0, 1}}
			h, err := r.th.Create()
			r.ok(err)
			r.h = Handle(h)
			ids := list(r, r.ids)
			r.ok(r.th.DeviceSelect(r.h, testDevices, ids))
			g, err := r.th.CreateDeviceGrid(1, testDevices, ids, 1)
			r.ok(err)
			f(r, g)
			r.ok(r.th.DestroyGrid(g))
			r.ok(r.th.Destroy(r.h))
		})
	}
}

// TestPositive: Cholesky's factor solves a system, and gives the inverse.
func TestPositive(t *testing.T) {
	onTypes(t, func(r *rig, g uint64) {
		const n, count, block = 41, 9, 4
		a, x := r.positive(n), r.random(n, count)
		b := a.times(x)
		pa, pb := r.deal(a, block, g), r.deal(b, 3, g)
		for _, f := range []fill{blas.CUBLAS_FILL_MODE_LOWER, blas.CUBLAS_FILL_MODE_UPPER} {
			pa, pb = r.deal(a, block, g), r.deal(b, 3, g)
			at := r.infoAt()
			need, err := r.th.PotrfBufferSize(r.h, f, n, pa.arrays, firstRow, firstCol, pa.d, r.ty)
			r.ok(err)
			r.ok(r.th.Potrf(r.h, f, n, pa.arrays, firstRow, firstCol, pa.d, r.ty, list(r, r.works(need)), need, at))
			r.info(at, 0)
			need, err = r.th.PotrsBufferSize(r.h, f, n, count, pa.arrays, firstRow, firstCol, pa.d, pb.arrays, firstRow, firstCol, pb.d, r.ty)
			r.ok(err)
			r.ok(r.th.Potrs(r.h, f, n, count, pa.arrays, firstRow, firstCol, pa.d, pb.arrays, firstRow, firstCol, pb.d, r.ty, list(r, r.works(need)), need, at))
			r.near(r.get(pb, n, count), x, 1, "solution")
			need, err = r.th.PotriBufferSize(r.h, f, n, pa.arrays, firstRow, firstCol, pa.d, r.ty)
			r.ok(err)
			r.ok(r.th.Potri(r.h, f, n, pa.arrays, firstRow, firstCol, pa.d, r.ty, list(r, r.works(need)), need, at))
			inverse := r.get(pa, n, n)
			eye := newDense(n, n)
			for j := range n {
				eye.set(j, j, 1)
				for i := range j {
					if f == blas.CUBLAS_FILL_MODE_LOWER {
						inverse.set(i, j, cmplx.Conj(inverse.at(j, i)))
					} else {
						inverse.set(j, i, cmplx.Conj(inverse.at(i, j)))
					}
				}
			}
			r.near(a.times(inverse), eye, 1, "inverse")
			if err := r.th.Potrf(r.h, f, n, pa.arrays, firstRow, firstCol, pa.d, r.ty, list(r, r.works(need)), 1, at); err != invalidValue {
				r.t.Errorf("a small workspace: %v", err)
			}
		}
		bad := r.positive(n)
		bad.set(20, 20, -1)
		px := r.deal(bad, block, g)
		at := r.infoAt()
		need, err := r.th.PotrfBufferSize(r.h, 0, n, px.arrays, firstRow, firstCol, px.d, r.ty)
		r.ok(err)
		r.ok(r.th.Potrf(r.h, 0, n, px.arrays, firstRow, firstCol, px.d, r.ty, list(r, r.works(need)), need, at))
		r.info(at, 21)
	})
}

// TestGeneral: LU with exchanges, whose pivots are dealt out, solves systems with A and its transposes.
func TestGeneral(t *testing.T) {
	onTypes(t, func(r *rig, g uint64) {
		const n, count, block = 37, 5, 4
		for _, op := range []blas.CublasOperation_t{blas.CUBLAS_OP_N, blas.CUBLAS_OP_T, blas.CUBLAS_OP_C} {
			a, x := r.random(n, n), r.random(n, count)
			turned := newDense(n, n)
			for j := range n {
				a.set(j, n-1-j, a.at(j, n-1-j)+complex(n, 0)) // rows have to be exchanged
			}
			for j := range n {
				for i := range n {
					switch v := a.at(j, i); op {
					case blas.CUBLAS_OP_N:
						turned.set(i, j, a.at(i, j))
					case blas.CUBLAS_OP_T:
						turned.set(i, j, v)
					default:
						turned.set(i, j, cmplx.Conj(v))
					}
				}
			}
			pa, pb := r.deal(a, block, g), r.deal(turned.times(x), 2, g)
			var pivots []uint64
			for _, id := range r.ids {
				pivots = append(pivots, r.memory(id, 4*(n+firstCol+testDevices*block)))
			}
			at := r.infoAt()
			need, err := r.th.GetrfBufferSize(r.h, n, n, pa.arrays, firstRow, firstCol, pa.d, list(r, pivots), r.ty)
			r.ok(err)
			r.ok(r.th.Getrf(r.h, n, n, pa.arrays, firstRow, firstCol, pa.d, list(r, pivots), r.ty, list(r, r.works(need)), need, at))
			// Column 0 of the matrix is column 2 of the larger one, on the first device.
			if p := hostmem.Load[int32](hostmem.Ptr(pivots[0] + 4*(firstCol-1))); p != n {
				r.t.Errorf("first pivot %d", p)
			}
			r.info(at, 0)
			need, err = r.th.GetrsBufferSize(r.h, op, n, count, pa.arrays, firstRow, firstCol, pa.d, list(r, pivots), pb.arrays, firstRow, firstCol, pb.d, r.ty)
			r.ok(err)
			r.ok(r.th.Getrs(r.h, op, n, count, pa.arrays, firstRow, firstCol, pa.d, list(r, pivots), pb.arrays, firstRow, firstCol, pb.d, r.ty, list(r, r.works(need)), need, at))
			r.near(r.get(pb, n, count), x, 1, "solution")
		}
	})
}

// TestEigen: A V = V W.
func TestEigen(t *testing.T) {
	onTypes(t, func(r *rig, g uint64) {
		const n, block = 45, 7
		a := r.positive(n)
		pa := r.deal(a, block, g)
		real, tw, err := realOf(r.e)
		r.ok(err)
		at, values := r.infoAt(), hostmem.Ptr(r.memory(0, n*real.Size()))
		w := hostmem.Bytes(values, uint64(n*real.Size()))
		call := func(mode solver.CusolverEigMode_t, p *dealt) {
			need, err := r.th.SyevdBufferSize(r.h, mode, 0, n, p.arrays, firstRow, firstCol, p.d, values, tw, r.ty)
			r.ok(err)
			r.ok(r.th.Syevd(r.h, mode, 0, n, p.arrays, firstRow, firstCol, p.d, values, tw, r.ty, list(r, r.works(need)), need, at))
			r.info(at, 0)
		}
		call(solver.CUSOLVER_EIG_MODE_VECTOR, pa)
		v := r.get(pa, n, n)
		scaled := newDense(n, n)
		before := 0.0
		for j := range n {
			x := cublas.Decode(real, w[j*real.Size():])
			if x := cmplx.Abs(x); x < before {
				r.t.Errorf("value %d is %v after %v", j, x, before)
			} else {
				before = x
			}
			for i := range n {
				scaled.set(i, j, v.at(i, j)*x)
			}
		}
		r.near(a.times(v), scaled, n, "vectors")
	})
}

// TestMisuse: what makes no sense is refused.
func TestMisuse(t *testing.T) {
	r := &rig{t: t, th: new(Thread)}
	th := r.th
	h, err := th.Create()
	r.ok(err)
	at := list(r, []int32{0, 0, 9})
	for what, err := range map[string]error{
		"one device twice":   th.DeviceSelect(Handle(h), 2, at),
		"no such device":     th.DeviceSelect(Handle(h), 1, at+8),
		"no devices":         th.DeviceSelect(Handle(h), 0, at),
		"an unknown grid":    th.DestroyGrid(12345),
		"an unknown matrix":  th.DestroyMatrixDesc(12345),
		"a grid of two rows": second(th.CreateDeviceGrid(2, 1, at, 1)),
		"a matrix on none":   second(th.CreateMatrixDesc(3, 3, 3, 3, rt.CUDA_R_32F, 12345)),
	} {
		if err != invalidValue {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := th.DeviceSelect(12345, 1, at); err != notInitialized {
		t.Errorf("an unknown handle: %v", err)
	}
	if err := th.Destroy(Handle(h)); err != nil {
		t.Error(err)
	}
}

func second(_ uint64, err error) error { return err }
