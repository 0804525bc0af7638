package cublaslt

import (
	"fmt"
	"math"
	"os"
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/softfloat"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/lt"
	"kudzu/internal/spec/rt"
)

// array is numbers of any format, those of 4 bits two in a byte.
type array struct {
	f *softfloat.Format
	p hostmem.Ptr
	n int
}

var formatKinds = map[*softfloat.Format]rt.CudaDataType{softfloat.F32: rt.CUDA_R_32F, softfloat.F16: rt.CUDA_R_16F, softfloat.BF16: rt.CUDA_R_16BF,
	softfloat.E4M3: rt.CUDA_R_8F_E4M3, softfloat.E5M2: rt.CUDA_R_8F_E5M2, softfloat.E2M1: rt.CUDA_R_4F_E2M1}

func bitsOf(f *softfloat.Format) int {
	switch f {
	case softfloat.F32:
		return 32
	case softfloat.F16, softfloat.BF16:
		return 16
	case softfloat.E2M1:
		return 4
	}
	return 8
}

func (x *bench) array(f *softfloat.Format, n int) array {
	p, err := x.th.driver().MemAlloc(uint64(max(1, n)*bitsOf(f)/8 + 8))
	x.ok(err)
	x.t.Cleanup(func() { _ = x.th.driver().MemFree(p) })
	a := array{f, hostmem.Ptr(p), n}
	for i := range n {
		a.set(i, x.rng.NormFloat64())
	}
	return a
}

func (a array) set(i int, v float64) {
	code := softfloat.F64.Convert(a.f, math.Float64bits(v), softfloat.Env{SatFinite: true})
	switch bitsOf(a.f) {
	case 32:
		hostmem.Store(a.p.Index(i, 4), uint32(code))
	case 16:
		hostmem.Store(a.p.Index(i, 2), uint16(code))
	case 8:
		hostmem.Store(a.p.Index(i, 1), uint8(code))
	case 4:
		at := a.p.Index(i/2, 1)
		hostmem.Store(at, hostmem.Load[uint8](at)&^(15<<(i%2*4))|uint8(code)<<(i%2*4))
	}
}

func (a array) get(i int) float64 {
	var code uint64
	switch bitsOf(a.f) {
	case 32:
		code = uint64(hostmem.Load[uint32](a.p.Index(i, 4)))
	case 16:
		code = uint64(hostmem.Load[uint16](a.p.Index(i, 2)))
	case 8:
		code = uint64(hostmem.Load[uint8](a.p.Index(i, 1)))
	case 4:
		code = uint64(hostmem.Load[uint8](a.p.Index(i/2, 1)) >> (i % 2 * 4) & 15)
	}
	return math.Float64frombits(a.f.Convert(softfloat.F64, code, softfloat.Env{}))
}

type sheet struct {
	array
	desc               hostmem.Ptr
	rows, cols, ld, by int
	v                  []float64 // decoded, where it is only read
}

func (x *bench) sheet(f *softfloat.Format, rows, cols, batch int) sheet {
	s := sheet{rows: rows, cols: cols, ld: rows + 2*x.rng.IntN(3)}
	s.by = s.ld*cols + 2*x.rng.IntN(3)
	s.array = x.array(f, s.by*batch)
	at, err := x.th.MatrixLayoutCreate(formatKinds[f], uint64(rows), uint64(cols), int64(s.ld))
	x.ok(err)
	s.desc = hostmem.Ptr(at)
	x.ok(x.th.MatrixLayoutSetAttribute(s.desc, lt.CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, word(int32(batch)), 4))
	x.ok(x.th.MatrixLayoutSetAttribute(s.desc, lt.CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, word(int64(s.by)), 8))
	x.t.Cleanup(func() { x.ok(x.th.MatrixLayoutDestroy(s.desc)) })
	return s
}

func (s sheet) at(q, i, j int) float64 {
	n := q*s.by + j*s.ld + i
	if s.v == nil {
		return s.get(n)
	}
	return s.v[n]
}

// all is every number.
func (a array) all() []float64 {
	v := make([]float64, a.n)
	for i := range v {
		v[i] = a.get(i)
	}
	return v
}

// narrowCase is one product of the manual's tables.
type narrowCase struct {
	a, b, c, d   *softfloat.Format
	modeA, modeB lt.CublasLtMatmulMatrixScale_t
}

func narrowCases() (all []narrowCase) {
	e4, e5 := softfloat.E4M3, softfloat.E5M2
	for _, ab := range [][2]*softfloat.Format{{e4, e4}, {e4, e5}, {e5, e4}} {
		for _, c := range []*softfloat.Format{softfloat.F32, softfloat.F16, softfloat.BF16} {
			all = append(all, narrowCase{ab[0], ab[1], c, c, 0, 0})
			if c != softfloat.F32 {
				all = append(all, narrowCase{ab[0], ab[1], c, e4, 0, 0})
				if ab[0] != ab[1] {
					all = append(all, narrowCase{ab[0], ab[1], c, e5, 0, 0})
				}
			}
			if c != softfloat.F32 {
				all = append(all, narrowCase{ab[0], ab[1], c, e4, 2, 2})
				if ab[0] != ab[1] {
					all = append(all, narrowCase{ab[0], ab[1], c, e5, 2, 2})
				}
			}
			for _, m := range [][2]lt.CublasLtMatmulMatrixScale_t{{2, 2}, {3, 3}, {4, 4}, {4, 5}, {5, 4}} {
				all = append(all, narrowCase{ab[0], ab[1], c, c, m[0], m[1]})
			}
		}
	}
	for _, c := range []*softfloat.Format{softfloat.F32, softfloat.F16, softfloat.BF16} {
		all = append(all, narrowCase{softfloat.E2M1, softfloat.E2M1, c, c, 1, 1})
		if c != softfloat.F32 {
			all = append(all, narrowCase{softfloat.E2M1, softfloat.E2M1, c, softfloat.E2M1, 1, 1})
		}
	}
	return all
}

// TestNarrow: every pair of fp8 and fp4 with every D and every way to scale.
func TestNarrow(t *testing.T) {
	x := newBench(t)
	for i, c := range narrowCases() {
		if os.Getenv(interpreted) != "" && i%3 != 0 {
			continue
		}
		x.narrowRound(i, c)
	}
}

// places are where a matrix's factors lie: their format, how many there are, and the place of that of line i and number l.
func places(mode lt.CublasLtMatmulMatrixScale_t, outer, k int) (*softfloat.Format, int, func(i, l int) int) {
	blocks := func(n, by int) int { return (n + by - 1) / by }
	f, n, place := softfloat.F32, 1, func(i, l int) int { return 0 }
	switch mode {
	case lt.CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F:
		n, place = outer, func(i, l int) int { return i }
	case lt.CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F:
		n, place = outer*blocks(k, 128), func(i, l int) int { return l/128*outer + i }
	case lt.CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F:
		ld := blocks(blocks(k, 128), 4) * 4
		n, place = ld*blocks(outer, 128), func(i, l int) int { return l/128 + i/128*ld }
	case lt.CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0, lt.CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3:
		f = softfloat.UE8M0
		by := 32
		if mode == lt.CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3 {
			f, by = softfloat.UE4M3, 16
		}
		tiles := blocks(blocks(k, by), 4)
		n = 512 * tiles * blocks(outer, 128)
		places := map[[2]int]int{} // walked as the manual draws it
		at := 0
		for top := 0; top < outer; top += 128 {
			for left := range tiles {
				for r := range 32 {
					for quarter := range 4 {
						for c := range 4 {
							places[[2]int{top + quarter*32 + r, left*4 + c}] = at
							at++
						}
					}
				}
			}
		}
		wide := tiles * 4
		list := make([]int, (outer+127)/128*128*wide)
		for p, at := range places {
			list[p[0]*wide+p[1]] = at
		}
		place = func(i, l int) int { return list[i*wide+l/by] }
	}
	return f, n, place
}

// factors are scales of one operand, by the side that is not summed over and the sum.
func (x *bench) factors(mode lt.CublasLtMatmulMatrixScale_t, outer, k int) (hostmem.Ptr, func(i, l int) float64) {
	f, n, place := places(mode, outer, k)
	a := x.array(f, n)
	for i := range n {
		v := 0.25 + x.rng.Float64()
		if f == softfloat.UE8M0 {
			v = math.Ldexp(1, x.rng.IntN(5)-2)
		}
		a.set(i, v)
	}
	v := a.all()
	return a.p, func(i, l int) float64 { return v[place(i, l)] }
}

func (x *bench) narrowRound(round int, y narrowCase) {
	m, n, k, batch := 2*(1+x.rng.IntN(20)), 2*(1+x.rng.IntN(12)), 2*x.rng.IntN(80), 1+x.rng.IntN(3)
	if y.modeA != 0 {
		m, n, k, batch = m+120, n+10, k+130, 1
	}
	coin := func() bool { return x.rng.IntN(2) == 0 }
	ta, tb := blas.CublasOperation_t(blas.CUBLAS_OP_T), blas.CublasOperation_t(blas.CUBLAS_OP_N)
	a, b := x.sheet(y.a, k, m, batch), x.sheet(y.b, k, n, batch)
	if coin() {
		ta, tb = blas.CUBLAS_OP_N, blas.CUBLAS_OP_T
		a, b = x.sheet(y.a, m, k, batch), x.sheet(y.b, n, k, batch)
	}
	a.v, b.v = a.all(), b.all()
	c, d := x.sheet(y.c, m, n, batch), x.sheet(y.d, m, n, batch)
	at, err := x.th.MatmulDescCreate(blas.CUBLAS_COMPUTE_32F, rt.CUDA_R_32F)
	x.ok(err)
	desc := hostmem.Ptr(at)
	set := func(attr lt.CublasLtMatmulDescAttributes_t, p hostmem.Ptr, n uint64) {
		x.ok(x.th.MatmulDescSetAttribute(desc, attr, p, n))
	}
	set(lt.CUBLASLT_MATMUL_DESC_TRANSA, word(ta), 4)
	set(lt.CUBLASLT_MATMUL_DESC_TRANSB, word(tb), 4)
	set(lt.CUBLASLT_MATMUL_DESC_A_SCALE_MODE, word(y.modeA), 4)
	set(lt.CUBLASLT_MATMUL_DESC_B_SCALE_MODE, word(y.modeB), 4)
	pa, sa := x.factors(y.modeA, m, k)
	pb, sb := x.factors(y.modeB, n, k)
	set(lt.CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, word(pa), 8)
	set(lt.CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, word(pb), 8)
	sd, most := 1.0, x.array(softfloat.F32, 1)
	var blocks array
	var block func(i, l int) int
	if y.modeA != 0 && bitsOf(y.d) <= 8 {
		f, count, at := places(y.modeA, n, m)
		blocks, block = x.array(f, count), at
		set(lt.CUBLASLT_MATMUL_DESC_D_OUT_SCALE_MODE, word(y.modeA), 4)
		set(lt.CUBLASLT_MATMUL_DESC_D_OUT_SCALE_POINTER, word(blocks.p), 8)
	}
	if bitsOf(y.d) <= 8 {
		if sd = 0.5; blocks.n == 0 && coin() {
			sd = 300 // much of D is beyond the largest number
		}
		f := x.array(softfloat.F32, 1)
		f.set(0, sd)
		set(lt.CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, word(f.p), 8)
	}
	most.set(0, 1e30) // it is replaced
	if bitsOf(y.d) <= 8 {
		set(lt.CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, word(most.p), 8)
	}
	act, epilogue := uint32(x.rng.IntN(3)), int32(0)
	epilogue = []int32{0, int32(lt.CUBLASLT_EPILOGUE_RELU), int32(lt.CUBLASLT_EPILOGUE_GELU)}[act]
	bias, biasFormat := array{}, softfloat.BF16
	if y.c == softfloat.F16 {
		biasFormat = softfloat.F16
	}
	if coin() {
		bias = x.array(biasFormat, m)
		epilogue |= int32(lt.CUBLASLT_EPILOGUE_BIAS)
		set(lt.CUBLASLT_MATMUL_DESC_BIAS_POINTER, word(bias.p), 8)
	}
	aux, auxMost, auxLD := array{}, array{}, (m+127)/128*128
	if act != 0 && coin() {
		auxFormat := y.c
		if y.d == softfloat.E4M3 && y.c == softfloat.F16 && coin() {
			auxFormat = y.d
			set(lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, word(int32(formatKinds[y.d])), 4)
		}
		aux = x.array(auxFormat, auxLD*n*batch)
		epilogue |= 128
		set(lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, word(aux.p), 8)
		set(lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, word(int64(auxLD)), 8)
		set(lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, word(int64(auxLD*n)), 8)
		if act == 2 && bitsOf(auxFormat) == 8 {
			auxMost = x.array(softfloat.F32, 1)
			set(lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER, word(auxMost.p), 8)
		}
	}
	if epilogue == 0 {
		epilogue = int32(lt.CUBLASLT_EPILOGUE_DEFAULT)
	}
	set(lt.CUBLASLT_MATMUL_DESC_EPILOGUE, word(epilogue), 4)
	alpha, beta := 0.5, 0.25
	x.ok(x.th.Matmul(x.h, desc, word(float32(alpha)), a.p, a.desc, b.p, b.desc, word(float32(beta)), c.p, c.desc, d.p, d.desc, 0, 0, 0, 0))
	x.ok(x.th.driver().CtxSynchronize())
	what := fmt.Sprintf("round %d %s %s %s %s modes %d %d, %d × %d × %d × %d, op %d, act %d, bias %d, aux %d", round, y.a.Name, y.b.Name, y.c.Name, y.d.Name, y.modeA, y.modeB, m, n, k, batch, ta, act, bias.n, aux.n)
	largest, largestAux, error1 := 0.0, 0.0, 0.0
	tops := make([]float64, blocks.n) // the largest size of each block
	for q := range batch {
		for j := range n {
			for i := range m {
				s, size := 0.0, 0.0
				for l := range k {
					va, vb := 0.0, 0.0
					if ta == blas.CUBLAS_OP_T {
						va, vb = a.at(q, l, i), b.at(q, l, j)
					} else {
						va, vb = a.at(q, i, l), b.at(q, j, l)
					}
					v := va * sa(i, l) * vb * sb(j, l)
					s, size = s+v, size+math.Abs(v)
				}
				s = alpha*s + beta*c.at(q, i, j)
				if bias.n != 0 {
					s += bias.get(i)
				}
				limit := 0x1p-22*float64(k+8)*size + 0x1p-19
				near := func(what2 string, f *softfloat.Format, got, want float64) {
					bound := limit*math.Abs(sd) + half(f, want)
					if !(math.Abs(got-want) <= bound) {
						x.t.Fatalf("%s: %s[%d][%d,%d] is %v, want %v", what, what2, q, i, j, got, want)
					}
				}
				if at := (q*n+j)*auxLD + i; aux.n != 0 && act == 2 {
					largestAux = max(largestAux, math.Abs(s))
					near("aux", aux.f, aux.get(at), clip(aux.f, s))
				} else if aux.n != 0 && hostmem.Load[uint8](aux.p.Add(uint64(at/8)))>>(at%8)&1 == 1 != (s > 0) && math.Abs(s) > limit {
					x.t.Fatalf("%s: bit of %v", what, s)
				}
				w := reference(s, act)
				largest, error1 = max(largest, math.Abs(w)), max(error1, limit*1.2)
				if blocks.n == 0 {
					near("D", y.d, d.at(q, i, j), clip(y.d, w*sd))
					continue
				}
				at := block(j, i)
				f := blocks.get(at)
				tops[at] = max(tops[at], math.Abs(w*sd))
				if got := d.at(q, i, j) * f; !(math.Abs(got-w*sd) <= limit*sd+half(y.d, w*sd/max(f, 0x1p-149))*f) {
					x.t.Fatalf("%s: D[%d][%d,%d] is %v with factor %v, want %v", what, q, i, j, got, f, w*sd)
				}
			}
		}
	}
	for at, top := range tops { // the least factor that the largest number times is not below the block's largest
		f, largest := blocks.get(at), clip(y.d, math.Inf(1))
		less := math.Float64frombits(blocks.f.Convert(softfloat.F64, uint64(hostmem.Load[uint8](blocks.p.Index(at, 1)))-1, softfloat.Env{}))
		if slack := error1*sd + 1e-6*top; top != 0 && (f*largest < top-slack || less*largest > top+slack) {
			x.t.Fatalf("%s: factor %d is %v, the one below %v, of a largest size of %v", what, at, f, less, top)
		}
	}
	if got := most.get(0); bitsOf(y.d) <= 8 && !(math.Abs(got-largest) <= error1+1e-6*largest) {
		x.t.Fatalf("%s: the largest size is %v, want %v", what, got, largest)
	}
	if auxMost.n != 0 {
		if got := auxMost.get(0); !(math.Abs(got-largestAux) <= error1+1e-6*largestAux) {
			x.t.Fatalf("%s: the largest size of aux is %v, want %v", what, got, largestAux)
		}
	}
	x.ok(x.th.MatmulDescDestroy(desc))
}

// clip: what is beyond the largest number of 8 bits is that.
func clip(f *softfloat.Format, v float64) float64 {
	switch f {
	case softfloat.E4M3:
		return min(max(v, -448), 448)
	case softfloat.E5M2:
		return min(max(v, -57344), 57344)
	case softfloat.E2M1:
		return min(max(v, -6), 6)
	}
	return v
}

// half is how far a number of the format may be from v by rounding.
func half(f *softfloat.Format, v float64) float64 {
	bits := map[*softfloat.Format][2]int{softfloat.F32: {24, -149}, softfloat.F16: {11, -24}, softfloat.BF16: {8, -133}, softfloat.E4M3: {4, -9}, softfloat.E5M2: {3, -16}, softfloat.E2M1: {2, -1}}[f]
	return 1.01 * max(math.Ldexp(math.Abs(v), -bits[0]), math.Ldexp(1, bits[1]-1))
}

// TestNarrowMisuse: pairs that the manual's tables have not, and scales that are missing.
func TestNarrowMisuse(t *testing.T) {
	x := newBench(t)
	e4, e5, f32 := x.sheet(softfloat.E4M3, 16, 16, 1), x.sheet(softfloat.E5M2, 16, 16, 1), x.sheet(softfloat.F32, 16, 16, 1)
	h, e2 := x.sheet(softfloat.F16, 16, 16, 1), x.sheet(softfloat.E2M1, 16, 16, 1)
	at, err := x.th.MatmulDescCreate(blas.CUBLAS_COMPUTE_32F, rt.CUDA_R_32F)
	x.ok(err)
	desc, one := hostmem.Ptr(at), word(float32(1))
	call := func(a, b, c, d sheet) error {
		return x.th.Matmul(x.h, desc, one, a.p, a.desc, b.p, b.desc, one, c.p, c.desc, d.p, d.desc, 0, 0, 0, 0)
	}
	x.ok(call(e4, e5, f32, f32))
	x.is(call(e5, e5, f32, f32), notSupported)
	x.is(call(e4, e4, h, e5), notSupported) // D of e5m2 needs one such operand
	x.is(call(e4, e4, f32, h), notSupported)
	x.is(call(e4, e4, f32, e4), notSupported)
	x.is(call(e4, f32, f32, f32), notSupported)
	x.is(call(e2, e2, f32, f32), notSupported) // always with scales of 16
	for _, s := range []sheet{e4, e5, h} {     // op(B) = B, A is as wide as it is high: sums that no memory takes
		for attr, v := range map[lt.CublasLtMatrixLayoutAttribute_t]int64{lt.CUBLASLT_MATRIX_LAYOUT_ROWS: 1 << 30, lt.CUBLASLT_MATRIX_LAYOUT_LD: 1 << 30} {
			x.ok(x.th.MatrixLayoutSetAttribute(s.desc, attr, word(v), 8))
		}
	}
	x.ok(x.th.MatrixLayoutSetAttribute(e4.desc, lt.CUBLASLT_MATRIX_LAYOUT_COLS, word(int64(1<<20)), 8))
	x.ok(x.th.MatrixLayoutSetAttribute(e5.desc, lt.CUBLASLT_MATRIX_LAYOUT_ROWS, word(int64(1<<20)), 8))
	x.is(call(e4, e5, h, h), allocFailed)
	e4 = x.sheet(softfloat.E4M3, 16, 16, 1)
	mode := func(a, b int32) {
		x.ok(x.th.MatmulDescSetAttribute(desc, lt.CUBLASLT_MATMUL_DESC_A_SCALE_MODE, word(a), 4))
		x.ok(x.th.MatmulDescSetAttribute(desc, lt.CUBLASLT_MATMUL_DESC_B_SCALE_MODE, word(b), 4))
	}
	mode(5, 5)
	x.is(call(e4, e4, f32, f32), notSupported)
	mode(3, 3)
	x.is(call(e4, e4, f32, f32), invalidValue) // vectors that are nowhere
	mode(99, 3)
	x.is(call(e4, e4, f32, f32), invalidValue)
	mode(0, 0)
	x.ok(call(e4, e4, f32, f32))
	x.largestMisuse(desc, func(c, d *softfloat.Format) error {
		return call(e4, x.sheet(softfloat.E5M2, 16, 16, 1), x.sheet(c, 16, 16, 1), x.sheet(d, 16, 16, 1))
	})
	x.ok(x.th.MatmulDescDestroy(desc))
}

// largestMisuse: largest sizes are of D and aux that have 8 bits; an H200 answers so in 60 calls of fp8 operands (blas_lt's recording).
func (x *bench) largestMisuse(desc hostmem.Ptr, call func(c, d *softfloat.Format) error) {
	room := x.array(softfloat.F32, 16*128)
	set := func(attr lt.CublasLtMatmulDescAttributes_t, v hostmem.Ptr, size uint64) {
		x.ok(x.th.MatmulDescSetAttribute(desc, attr, v, size))
	}
	set(lt.CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, word(room.p), 8)
	for _, wide := range []*softfloat.Format{softfloat.F32, softfloat.F16, softfloat.BF16} {
		x.is(call(wide, wide), invalidValue)
	}
	x.ok(call(softfloat.F16, softfloat.E4M3))
	set(lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER, word(room.p), 8)
	x.is(call(softfloat.F16, softfloat.E4M3), invalidValue) // no aux
	set(lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, word(room.p), 8)
	set(lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, word(int64(128)), 8)
	set(lt.CUBLASLT_MATMUL_DESC_EPILOGUE, word(int32(lt.CUBLASLT_EPILOGUE_RELU_AUX)), 4)
	x.is(call(softfloat.F16, softfloat.E4M3), invalidValue) // bits
	set(lt.CUBLASLT_MATMUL_DESC_EPILOGUE, word(int32(lt.CUBLASLT_EPILOGUE_GELU_AUX)), 4)
	x.is(call(softfloat.F16, softfloat.E4M3), invalidValue) // f16
	set(lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, word(int32(rt.CUDA_R_8F_E4M3)), 4)
	x.ok(call(softfloat.F16, softfloat.E4M3))
	x.ok(x.th.driver().CtxSynchronize())
}
