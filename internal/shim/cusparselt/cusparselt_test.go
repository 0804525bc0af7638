package cusparselt

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/compile/worker"
	"kudzu/internal/cudart"
	"kudzu/internal/devices"
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/softfloat"
	"kudzu/internal/spec/rt"
	"kudzu/internal/spec/sparse"
	"kudzu/internal/spec/sparselt"
)

// TestMain serves as the compiler process when the cpu backend starts this program again.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "compiler" {
		os.Exit(worker.Main(os.Args[2:]))
	}
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	driver.Start([]backend.Backend{devices.CPU(devices.Config{Compiler: []string{self, "compiler"}, Strict: true})})
	os.Exit(m.Run())
}

// opaque is an object of the program's.
type opaque = [64]uint64

// places holds them: an address does not keep what lies there.
var places []*opaque

func place() hostmem.Ptr {
	places = append(places, new(opaque))
	return hostmem.Of(places[len(places)-1])
}

type rig struct {
	*testing.T
	th *Thread
	h  hostmem.Ptr
}

func newRig(t *testing.T) *rig {
	r := &rig{t, new(Thread), place()}
	r.must(r.th.driver().Init(0))
	r.must(cudart.Ready(r.th.driver()))
	r.must(r.th.Init(r.h))
	t.Cleanup(func() {
		r.must(r.th.Destroy(r.h))
		r.want("a destroyed handle", r.th.Destroy(r.h), notInitialized)
	})
	return r
}

func (r *rig) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

func (r *rig) want(what string, err error, code Status) {
	r.Helper()
	if err == nil || Code(err) != int32(code) {
		r.Errorf("%s: %v, not %v", what, err, code)
	}
}

var formats = map[elem]*softfloat.Format{elem(cublas.F16): softfloat.F16, elem(cublas.BF16): softfloat.BF16, elem(cublas.F32): softfloat.F32, e4m3: softfloat.E4M3, e5m2: softfloat.E5M2}

func encode(e elem, v float64) []byte {
	b := make([]byte, e.size())
	var bits uint64
	if f := formats[e]; f != nil {
		bits = softfloat.F64.Convert(f, math.Float64bits(v), softfloat.Env{})
	} else {
		bits = uint64(int64(v))
	}
	var all [8]byte
	binary.LittleEndian.PutUint64(all[:], bits)
	copy(b, all[:])
	return b
}

func decode(e elem, b []byte) float64 {
	var all [8]byte
	copy(all[:], b[:e.size()])
	bits := binary.LittleEndian.Uint64(all[:])
	if f := formats[e]; f != nil {
		return math.Float64frombits(f.Convert(softfloat.F64, bits, softfloat.Env{}))
	}
	if e.size() == 1 {
		return float64(int8(bits))
	}
	return float64(int32(bits))
}

// put lays numbers out on the device.
func (r *rig) put(e elem, v []float64) hostmem.Ptr {
	r.Helper()
	var b []byte
	for _, x := range v {
		b = append(b, encode(e, x)...)
	}
	at, err := r.th.driver().MemAlloc(uint64(len(b)))
	r.must(err)
	r.must(r.th.driver().MemcpyHtoD(at, hostmem.Of(&b[0]), uint64(len(b))))
	r.Cleanup(func() { r.must(r.th.driver().MemFree(at)) })
	return hostmem.Ptr(at)
}

func (r *rig) room(n uint64) hostmem.Ptr {
	r.Helper()
	return r.put(elem(cublas.S8), make([]float64, max(n, 1)))
}

func (r *rig) get(e elem, at hostmem.Ptr, n int) []float64 {
	r.Helper()
	b := make([]byte, int64(n)*e.size())
	r.must(r.th.driver().MemcpyDtoH(hostmem.Of(&b[0]), driver.DevPtr(at), uint64(len(b))))
	v := make([]float64, n)
	for i := range v {
		v[i] = decode(e, b[int64(i)*e.size():])
	}
	return v
}

var dataTypes = map[elem]rt.CudaDataType{elem(cublas.F16): rt.CUDA_R_16F, elem(cublas.BF16): rt.CUDA_R_16BF, elem(cublas.F32): rt.CUDA_R_32F,
	elem(cublas.S8): rt.CUDA_R_8I, elem(cublas.S32): rt.CUDA_R_32I, e4m3: rt.CUDA_R_8F_E4M3, e5m2: rt.CUDA_R_8F_E5M2}

// model is a matrix and its descriptor; number (i, j) of batch b is at place(b, i, j).
type model struct {
	d                        hostmem.Ptr
	e                        elem
	rows, cols, ld, apart, n int
	row                      bool
	values                   []float64
}

func (m *model) place(b, i, j int) int {
	if m.row {
		return b*m.apart + i*m.ld + j
	}
	return b*m.apart + j*m.ld + i
}

func (r *rig) model(e elem, rows, cols, batches int, row, structured bool, rng *rand.Rand) *model {
	r.Helper()
	m := &model{d: place(), e: e, rows: rows, cols: cols, row: row, n: batches}
	long, short := cols, rows
	if row {
		long, short = rows, cols
	}
	m.ld = short + 16
	m.apart = long * m.ld
	m.values = make([]float64, m.apart*batches)
	for i := range m.values {
		m.values[i] = float64(rng.IntN(7) - 3)
	}
	order := sparse.CUSPARSE_ORDER_COL
	if row {
		order = sparse.CUSPARSE_ORDER_ROW
	}
	if structured {
		r.must(r.th.StructuredDescriptorInit(r.h, m.d, int64(rows), int64(cols), int64(m.ld), 16, dataTypes[e], order, 0))
	} else {
		r.must(r.th.DenseDescriptorInit(r.h, m.d, int64(rows), int64(cols), int64(m.ld), 16, dataTypes[e], order))
	}
	n, apart := int32(batches), int64(m.apart)
	r.must(r.th.MatDescSetAttribute(r.h, m.d, sparselt.CUSPARSELT_MAT_NUM_BATCHES, hostmem.Of(&n), 4))
	r.must(r.th.MatDescSetAttribute(r.h, m.d, sparselt.CUSPARSELT_MAT_BATCH_STRIDE, hostmem.Of(&apart), 8))
	var told int64
	r.must(r.th.MatDescGetAttribute(r.h, m.d, sparselt.CUSPARSELT_MAT_BATCH_STRIDE, hostmem.Of(&told), 8))
	if told != apart {
		r.Errorf("stride %d", told)
	}
	return m
}

// product is a case of TestProducts.
type product struct {
	in, out      elem
	first        bool // A is structured
	turnA, turnB bool
	rowA, rowB   bool
	rowD         bool
	batches      int
	act          string
	tile, old    bool // how it is pruned; by the calls with a plan
}

func products() (list []product) {
	f16, bf16, f32, s8, s32 := elem(cublas.F16), elem(cublas.BF16), elem(cublas.F32), elem(cublas.S8), elem(cublas.S32)
	types := [][2]elem{{f16, f16}, {bf16, bf16}, {f32, f32}, {s8, s8}, {s8, s32}, {s8, f16}, {s8, bf16}, {e4m3, f16}, {e4m3, f32}, {e5m2, bf16}}
	rng := rand.New(rand.NewPCG(19, 1))
	yes := func() bool { return rng.IntN(2) == 0 }
	for i := range 60 {
		ty := types[i%len(types)]
		p := product{ty[0], ty[1], yes(), yes(), yes(), yes(), yes(), yes(), 1 + rng.IntN(2), []string{"", "relu", "gelu", "bias", "vectors", "scales"}[i%6], yes(), yes()}
		if p.in.size() == 1 {
			p.rowA, p.rowB = !p.turnA, p.turnB // along k
		}
		if p.act == "gelu" && !(p.in == s8 && p.out == s8 || p.in >= e4m3 && p.out == bf16) || p.act == "vectors" && p.in != s8 {
			p.act = "bias"
		}
		if i%4 == 1 && (p.in == s8 && p.out == s8 || p.in >= e4m3 && p.out == bf16) {
			p.act = "gelu"
		}
		list = append(list, p)
	}
	return list
}

// TestProducts prunes, checks, compresses and multiplies, with every type, order and operation, and compares with plain sums of what
// pruning left: small integers, so that all but gelu is exact.
func TestProducts(t *testing.T) {
	r := newRig(t)
	for i, c := range products() {
		t.Run(fmt.Sprintf("%d %+v", i, c), func(t *testing.T) { (&rig{t, r.th, r.h}).product(c, uint64(i)) })
	}
}

func (r *rig) product(c product, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 2))
	m, n, k := 32*(1+rng.IntN(2)), 32*(1+rng.IntN(3)), 32*(1+rng.IntN(3))
	size := func(turn bool, rows, cols int) (int, int) {
		if turn {
			return cols, rows
		}
		return rows, cols
	}
	am, ak := size(c.turnA, m, k)
	bk, bn := size(c.turnB, k, n)
	a, b := r.model(c.in, am, ak, c.batches, c.rowA, c.first, rng), r.model(c.in, bk, bn, c.batches, c.rowB, !c.first, rng)
	d := r.model(c.out, m, n, c.batches, c.rowD, false, rng)
	compute := sparselt.CUSPARSE_COMPUTE_32F
	if c.in == elem(cublas.S8) {
		compute = sparselt.CUSPARSE_COMPUTE_32I
	}
	mm, alg, plan := place(), place(), place()
	ops := map[bool]sparse.CusparseOperation_t{true: sparse.CUSPARSE_OPERATION_TRANSPOSE}
	r.must(r.th.MatmulDescriptorInit(r.h, mm, ops[c.turnA], ops[c.turnB], a.d, b.d, d.d, d.d, compute))
	set := func(which sparselt.CusparseLtMatmulDescAttribute_t, at hostmem.Ptr, size uint64) {
		r.Helper()
		r.must(r.th.MatmulDescSetAttribute(r.h, mm, which, at, size))
	}
	long := m // of vectors: they have a number a row of D, or a column if B is the structured one
	if !c.first {
		long = n
	}
	one, upper, threshold := int32(1), float32(40), float32(2)
	alpha, beta := []float32{2}, []float32{-1}
	var biases []float64
	scales := []float64{1, 1, 1, 1}
	alphas, betas := hostmem.Of(&alpha[0]), hostmem.Of(&beta[0])
	switch c.act {
	case "relu":
		set(sparselt.CUSPARSELT_MATMUL_ACTIVATION_RELU, hostmem.Of(&one), 4)
		set(sparselt.CUSPARSELT_MATMUL_ACTIVATION_RELU_UPPERBOUND, hostmem.Of(&upper), 4)
		set(sparselt.CUSPARSELT_MATMUL_ACTIVATION_RELU_THRESHOLD, hostmem.Of(&threshold), 4)
		var told float32
		r.must(r.th.MatmulDescGetAttribute(r.h, mm, sparselt.CUSPARSELT_MATMUL_ACTIVATION_RELU_UPPERBOUND, hostmem.Of(&told), 4))
		if told != upper {
			r.Errorf("upper bound %g", told)
		}
	case "gelu":
		set(sparselt.CUSPARSELT_MATMUL_ACTIVATION_GELU, hostmem.Of(&one), 4)
	case "bias":
		e := c.out
		if e == elem(cublas.S8) || e == elem(cublas.S32) {
			e = elem(cublas.F32)
		}
		for range long {
			biases = append(biases, float64(rng.IntN(9)-4))
		}
		at := r.put(e, biases)
		set(sparselt.CUSPARSELT_MATMUL_BIAS_POINTER, hostmem.Of(&at), 8)
	case "vectors":
		var x, y []float64
		alpha, beta = nil, nil
		for range long {
			x, y = append(x, float64(rng.IntN(5)-2)), append(y, float64(rng.IntN(5)-2))
			alpha, beta = append(alpha, float32(x[len(x)-1])), append(beta, float32(y[len(y)-1]))
		}
		alphas, betas = r.put(elem(cublas.F32), x), r.put(elem(cublas.F32), y)
		set(sparselt.CUSPARSELT_MATMUL_ALPHA_VECTOR_SCALING, hostmem.Of(&one), 4)
		set(sparselt.CUSPARSELT_MATMUL_BETA_VECTOR_SCALING, hostmem.Of(&one), 4)
	case "scales":
		for i := range scales {
			scales[i] = []float64{0.5, 2, 4, 0.25}[i]
			at := r.put(elem(cublas.F32), scales[i:i+1])
			mode := int32(sparselt.CUSPARSELT_MATMUL_MATRIX_SCALE_SCALAR_32F)
			set(sparselt.CUSPARSELT_MATMUL_A_SCALE_MODE+sparselt.CusparseLtMatmulDescAttribute_t(i), hostmem.Of(&mode), 4)
			set(sparselt.CUSPARSELT_MATMUL_A_SCALE_POINTER+sparselt.CusparseLtMatmulDescAttribute_t(i), hostmem.Of(&at), 8)
		}
	}
	r.must(r.th.MatmulAlgSelectionInit(r.h, alg, mm, 0))
	var most int32
	r.must(r.th.MatmulAlgGetAttribute(r.h, alg, sparselt.CUSPARSELT_MATMUL_ALG_CONFIG_MAX_ID, hostmem.Of(&most), 4))
	if most < 1 {
		r.Errorf("%d algorithms", most)
	}
	zero := int32(0)
	r.must(r.th.MatmulAlgSetAttribute(r.h, alg, sparselt.CUSPARSELT_MATMUL_ALG_CONFIG_ID, hostmem.Of(&zero), 4))
	r.must(r.th.MatmulPlanInit(r.h, plan, mm, alg))
	// The structured one.
	s, turn := a, c.turnA
	if !c.first {
		s, turn = b, c.turnB
	}
	whole := r.put(c.in, s.values)
	valid := r.put(elem(cublas.S32), []float64{5})
	prune := sparselt.CUSPARSELT_PRUNE_SPMMA_STRIP
	if c.tile {
		prune = sparselt.CUSPARSELT_PRUNE_SPMMA_TILE
	}
	isA := int32(0)
	if c.first {
		isA = 1
	}
	check := func(want bool) {
		r.Helper()
		if c.old {
			r.must(r.th.SpMMAPruneCheck(r.h, mm, whole, valid, 0))
		} else {
			r.must(r.th.SpMMAPruneCheck2(r.h, s.d, isA, ops[turn], whole, valid, 0))
		}
		if got := r.get(elem(cublas.S32), valid, 1)[0]; (got == 0) != want {
			r.Fatalf("check says %g", got)
		}
	}
	check(false)
	var size1, buffer uint64
	var err error
	if c.old {
		r.must(r.th.SpMMAPrune(r.h, mm, whole, whole, prune, 0))
		size1, buffer, err = r.th.SpMMACompressedSize(r.h, plan)
	} else {
		r.must(r.th.SpMMAPrune2(r.h, s.d, isA, ops[turn], whole, whole, prune, 0))
		size1, buffer, err = r.th.SpMMACompressedSize2(r.h, s.d)
	}
	r.must(err)
	check(true)
	full := uint64(int64(s.rows*s.cols*c.batches) * c.in.size())
	if want := full / 16 * map[int64]uint64{1: 10, 2: 9, 4: 9}[c.in.size()]; size1 != want {
		r.Errorf("%d bytes compressed, not %d", size1, want)
	}
	small := r.room(size1)
	if c.old {
		r.must(r.th.SpMMACompress(r.h, plan, whole, small, r.room(buffer), 0))
	} else {
		r.must(r.th.SpMMACompress2(r.h, s.d, isA, ops[turn], whole, small, r.room(buffer), 0))
	}
	before := s.values
	s.values = r.get(c.in, whole, len(s.values))
	r.pruned(c, s, before, turn)
	pa, pb := small, r.put(c.in, b.values)
	if !c.first {
		pa, pb = r.put(c.in, a.values), small
	}
	pd, space := r.put(c.out, d.values), uint64(0)
	space, err = r.th.MatmulGetWorkspace(r.h, plan)
	r.must(err)
	r.want("no plan", r.th.Matmul(r.h, mm, alphas, pa, pb, betas, pd, pd, r.room(space), 0, 0), invalidValue)
	run := r.th.Matmul
	if c.old {
		run = r.th.MatmulSearch
	}
	r.must(run(r.h, plan, alphas, pa, pb, betas, pd, pd, r.room(space), 0, 0))
	got := r.get(c.out, pd, len(d.values))
	for t := range c.batches {
		for i := range m {
			for j := range n {
				sum := 0.0
				for l := range k {
					ai, al := size(c.turnA, i, l)
					bl, bj := size(c.turnB, l, j)
					sum += a.values[a.place(t, ai, al)] * b.values[b.place(t, bl, bj)]
				}
				at := d.place(t, i, j)
				x := i
				if !c.first {
					x = j
				}
				v := float64(alpha[x%len(alpha)])*sum*scales[0]*scales[1] + float64(beta[x%len(beta)])*d.values[at]*scales[2]
				if biases != nil {
					v += biases[x]
				}
				bound := 0.0
				switch c.act {
				case "relu":
					if v <= float64(threshold) {
						v = 0
					}
					v = min(v, float64(upper))
				case "gelu":
					v = v / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(v+0.044715*v*v*v)))
					bound = 1e-5 * (1 + math.Abs(v))
				}
				v *= scales[3]
				if f := formats[c.out]; f != nil {
					v = decode(c.out, encode(c.out, v))
					if c.act == "gelu" && c.out != elem(cublas.F32) {
						bound += math.Abs(v) / 128
					}
				} else {
					v = math.RoundToEven(v)
					if c.out == elem(cublas.S8) {
						v = max(-128, min(127, v))
					}
					if c.act == "gelu" {
						bound = 1
					}
				}
				if g := got[at]; math.Abs(g-v) > bound {
					r.Fatalf("number (%d, %d) of %d is %g, not %g", i, j, t, g, v)
				}
			}
		}
	}
	for i, x := range got { // between columns nothing is written
		if in := i % d.ld; in >= map[bool]int{true: d.cols, false: d.rows}[d.row] && x != d.values[i] {
			r.Fatalf("place %d was written", i)
		}
	}
	r.must(r.th.MatmulPlanDestroy(plan))
	r.must(r.th.MatmulAlgSelectionDestroy(alg))
	r.must(r.th.MatDescriptorDestroy(a.d))
	r.want("a destroyed plan", r.th.MatmulPlanDestroy(plan), invalidValue)
}

// pruned checks that what stayed is what there was, and that no better half of a group was there; of tiles, that lines and columns have
// at most half.
func (r *rig) pruned(c product, s *model, before []float64, turn bool) {
	r.Helper()
	along := c.first != turn // sums go along the rows of the stored matrix
	width := 4
	if c.in.size() == 4 {
		width = 2
	}
	lines, length := s.rows, s.cols
	if !along {
		lines, length = length, lines
	}
	at := func(b, i, k int) int {
		if along {
			return s.place(b, i, k)
		}
		return s.place(b, k, i)
	}
	for b := range s.n {
		for i := range lines {
			for g := 0; g < length; g += width {
				kept, least, most, down := 0, math.Inf(1), 0.0, 0
				for k := range width {
					p := at(b, i, g+k)
					switch v := s.values[p]; {
					case v == before[p] && v != 0:
						kept++
						least = min(least, math.Abs(v))
					case v != 0:
						r.Fatalf("number %d is %g, was %g", p, v, before[p])
					default:
						most = max(most, math.Abs(before[p]))
					}
					if i%width == 0 && s.values[at(b, i+k, g)] != 0 {
						down++
					}
				}
				if kept > width/2 || c.tile && down > width/2 || !c.tile && least < most {
					r.Fatalf("line %d, group %d: %d kept, %d down, %g kept and %g not", i, g/width, kept, down, least, most)
				}
			}
		}
	}
}

// TestTile: the best tile is found. The two largest of every line are in the same columns here, which is not allowed.
func TestTile(t *testing.T) {
	r := newRig(t)
	m := place()
	r.must(r.th.StructuredDescriptorInit(r.h, m, 32, 32, 32, 16, rt.CUDA_R_16F, sparse.CUSPARSE_ORDER_ROW, 0))
	v := make([]float64, 32*32)
	tile := [4][4]float64{{9, 8, 1, 1}, {9, 8, 1, 1}, {9, 8, 5, 1}, {9, 8, 1, 6}}
	for y := range 4 {
		copy(v[y*32:], tile[y][:])
	}
	at := r.put(elem(cublas.F16), v)
	r.must(r.th.SpMMAPrune2(r.h, m, 1, 0, at, at, sparselt.CUSPARSELT_PRUNE_SPMMA_TILE, 0))
	got := r.get(elem(cublas.F16), at, len(v))
	sum := 0.0
	for y := range 4 {
		for _, x := range got[y*32:][:4] {
			sum += x
		}
	}
	if want := 9 + 8 + 9 + 8 + 5 + 1 + 1 + 6; sum != float64(want) {
		t.Errorf("%g stays, not %d: %v", sum, want, got[:4])
	}
}

// TestMisuse has calls that are refused.
func TestMisuse(t *testing.T) {
	r := newRig(t)
	none, m, sp, mm := place(), place(), place(), place()
	r.want("no place", r.th.Init(0), invalidValue)
	r.want("no handle", r.th.DenseDescriptorInit(none, m, 32, 32, 32, 16, rt.CUDA_R_16F, 1), notInitialized)
	r.want("no rows", r.th.DenseDescriptorInit(r.h, m, 0, 32, 32, 16, rt.CUDA_R_16F, 1), invalidValue)
	r.want("short", r.th.DenseDescriptorInit(r.h, m, 32, 32, 16, 16, rt.CUDA_R_16F, 1), invalidValue)
	r.want("odd", r.th.StructuredDescriptorInit(r.h, m, 24, 32, 32, 16, rt.CUDA_R_16F, 1, 0), notSupported)
	r.want("f64", r.th.DenseDescriptorInit(r.h, m, 32, 32, 32, 16, rt.CUDA_R_64F, 1), notSupported)
	r.must(r.th.DenseDescriptorInit(r.h, m, 32, 32, 32, 16, rt.CUDA_R_16F, sparse.CUSPARSE_ORDER_COL))
	r.must(r.th.StructuredDescriptorInit(r.h, sp, 32, 32, 32, 16, rt.CUDA_R_16F, sparse.CUSPARSE_ORDER_COL, 0))
	r.want("nothing structured", r.th.MatmulDescriptorInit(r.h, mm, 0, 0, m, m, m, m, sparselt.CUSPARSE_COMPUTE_32F), invalidValue)
	r.want("both structured", r.th.MatmulDescriptorInit(r.h, mm, 0, 0, sp, sp, m, m, sparselt.CUSPARSE_COMPUTE_32F), invalidValue)
	r.want("integers", r.th.MatmulDescriptorInit(r.h, mm, 0, 0, sp, m, m, m, sparselt.CUSPARSE_COMPUTE_32I), notSupported)
	r.must(r.th.MatmulDescriptorInit(r.h, mm, 0, 0, sp, m, m, m, sparselt.CUSPARSE_COMPUTE_32F))
	v := int64(1)
	r.want("a size", r.th.MatmulDescSetAttribute(r.h, mm, sparselt.CUSPARSELT_MATMUL_ACTIVATION_RELU, hostmem.Of(&v), 8), invalidValue)
	mode := int32(sparselt.CUSPARSELT_MATMUL_MATRIX_SCALE_VEC32_UE4M3)
	r.want("scales of blocks", r.th.MatmulDescSetAttribute(r.h, mm, sparselt.CUSPARSELT_MATMUL_A_SCALE_MODE, hostmem.Of(&mode), 4), notSupported)
	r.want("a dense matrix", r.th.SpMMAPrune2(r.h, m, 1, 0, none, none, 0, 0), invalidValue)
	_, _, err := r.th.SpMMACompressedSize2(r.h, m)
	r.want("a dense matrix's size", err, invalidValue)
}
