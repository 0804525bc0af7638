package cufft

import (
	"math"
	"testing"

	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/softfloat"
	"kudzu/internal/spec/fft"
	"kudzu/internal/spec/rt"
)

// shape is a transform with all that can be said about one; its fields are those of testdata/record.c.
type shape struct {
	storage  int // f16, bf16, f32, f64
	kind     kind
	n        []int64
	batch    int64
	advanced bool
	is, id   int64
	os, od   int64
	ie, oe   []int64
	inPlace  bool
	sign     int32
	by       int   // which function makes the plan
	size     int64 // real numbers in each buffer
}

var storages = []struct {
	bytes         int
	real, complex rt.CudaDataType
	epsilon       float64
}{
	{2, rt.CUDA_R_16F, rt.CUDA_C_16F, 0x1p-11}, {2, rt.CUDA_R_16BF, rt.CUDA_C_16BF, 0x1p-8},
	{4, rt.CUDA_R_32F, rt.CUDA_C_32F, 0x1p-24}, {8, rt.CUDA_R_64F, rt.CUDA_C_64F, 0x1p-53},
}

// pack writes a number as the shape stores it, unpack reads it.
func (s *shape) pack(b []byte, v float64) []byte {
	switch s.storage {
	case 0:
		h := half(v, softfloat.F16)
		return append(b, byte(h), byte(h>>8))
	case 1:
		h := half(v, softfloat.BF16)
		return append(b, byte(h), byte(h>>8))
	case 2:
		return appendNumber(b, single, complex(v, 0))[:len(b)+4]
	}
	return appendNumber(b, double, complex(v, 0))[:len(b)+8]
}

func (s *shape) unpack(bits uint64) float64 {
	switch s.storage {
	case 0:
		return whole(bits, softfloat.F16)
	case 1:
		return whole(bits, softfloat.BF16)
	case 2:
		return float64(math.Float32frombits(uint32(bits)))
	}
	return math.Float64frombits(bits)
}

func (s *shape) numbers(b []byte) []float64 {
	var out []float64
	for w := storages[s.storage].bytes; len(b) >= w; b = b[w:] {
		bits := uint64(0)
		for i := w - 1; i >= 0; i-- {
			bits = bits<<8 | uint64(b[i])
		}
		out = append(out, s.unpack(bits))
	}
	return out
}

func (s *shape) total() int {
	t := int(s.batch)
	for _, n := range s.n {
		t *= int(n)
	}
	return t
}

// fill sets what a packed shape leaves out.
func (s *shape) fill() *shape {
	if s.size == 0 {
		s.size = 2 * s.batch
		for _, n := range s.n {
			s.size *= n + 2
		}
	}
	if s.advanced {
		a, b := s.is, s.os
		for i := range s.n {
			a, b = a*s.ie[i], b*s.oe[i]
		}
		s.size = max(s.size, 2*(a+s.batch*s.id), 2*(b+s.batch*s.od))
	}
	return s
}

// plan makes the plan of a shape.
func (s *shape) plan(th *Thread) (fft.CufftHandle, error) {
	h, err := th.Create()
	if err != nil {
		return 0, err
	}
	var size uint64
	at := func(v []int64) hostmem.Ptr {
		if !s.advanced {
			return 0
		}
		return hostmem.Of(&v[0])
	}
	narrow := func(v []int64) hostmem.Ptr {
		if v == nil {
			return 0
		}
		w := make([]int32, len(v))
		for i := range v {
			w[i] = int32(v[i])
		}
		return hostmem.Of(&w[0])
	}
	t := storages[s.storage]
	in, out := t.complex, t.complex
	kinds := [][3]fft.CufftType{2: {fft.CUFFT_C2C, fft.CUFFT_R2C, fft.CUFFT_C2R}, 3: {fft.CUFFT_Z2Z, fft.CUFFT_D2Z, fft.CUFFT_Z2D}}
	var named fft.CufftType
	if s.storage >= 2 {
		named = kinds[s.storage][s.kind]
	}
	switch s.kind {
	case fromRealKind:
		in = t.real
	case toRealKind:
		out = t.real
	}
	rank, n, p := int32(len(s.n)), s.n, hostmem.Of(&size)
	switch {
	case s.by == 0:
		err = th.XtMakePlanMany(h, rank, hostmem.Of(&n[0]), at(s.ie), s.is, s.id, in, at(s.oe), s.os, s.od, out, s.batch, p, t.complex)
	case s.by == 1:
		ie, oe := hostmem.Ptr(0), hostmem.Ptr(0)
		if s.advanced {
			ie, oe = narrow(s.ie), narrow(s.oe)
		}
		err = th.MakePlanMany(h, rank, narrow(n), ie, int32(s.is), int32(s.id), oe, int32(s.os), int32(s.od), named, int32(s.batch), p)
	case s.by == 2:
		err = th.MakePlanMany64(h, rank, hostmem.Of(&n[0]), at(s.ie), s.is, s.id, at(s.oe), s.os, s.od, named, s.batch, p)
	case rank == 1:
		err = th.MakePlan1d(h, int32(n[0]), named, int32(s.batch), p)
	case rank == 2:
		err = th.MakePlan2d(h, int32(n[0]), int32(n[1]), named, p)
	default:
		err = th.MakePlan3d(h, int32(n[0]), int32(n[1]), int32(n[2]), named, p)
	}
	if err != nil {
		_ = th.Destroy(h)
	}
	return h, err
}

// execute calls the function of the shape's types.
func (s *shape) execute(th *Thread, h fft.CufftHandle, in, out driver.DevPtr) error {
	i, o := hostmem.Ptr(in), hostmem.Ptr(out)
	if s.by == 0 {
		return th.XtExec(h, i, o, s.sign)
	}
	switch double := s.storage == 3; {
	case s.kind == complexKind && double:
		return th.ExecZ2Z(h, i, o, s.sign)
	case s.kind == complexKind:
		return th.ExecC2C(h, i, o, s.sign)
	case s.kind == fromRealKind && double:
		return th.ExecD2Z(h, i, o)
	case s.kind == fromRealKind:
		return th.ExecR2C(h, i, o)
	case double:
		return th.ExecZ2D(h, i, o)
	}
	return th.ExecC2R(h, i, o)
}

// run gives the output buffer, or what making the plan or executing it answered. shift is how far real numbers are from where
// allocations begin.
func (s *shape) run(t testing.TB, th *Thread, x []float64, shift uint64) (got []float64, made, done error) {
	t.Helper()
	d := th.driver()
	var b []byte
	for _, v := range x {
		b = s.pack(b, v)
	}
	n := uint64(len(b))
	shift *= uint64(storages[s.storage].bytes)
	ahead := [2]driver.DevPtr{}
	switch s.kind {
	case fromRealKind:
		ahead[0] = driver.DevPtr(shift)
	case toRealKind:
		ahead[1] = driver.DevPtr(shift)
	}
	take := func() driver.DevPtr {
		at, err := d.MemAlloc(n + shift)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	src := take()
	defer func() { _ = d.MemFree(src) }()
	if err := d.MemcpyHtoD(src+ahead[0], hostmem.Of(&b[0]), n); err != nil {
		t.Fatal(err)
	}
	dst := src
	if !s.inPlace {
		dst = take()
		defer func() { _ = d.MemFree(dst) }()
		if err := d.MemsetD8(dst+ahead[1], 0, n); err != nil {
			t.Fatal(err)
		}
	}
	h, err := s.plan(th)
	if err != nil {
		return nil, err, nil
	}
	if err := s.execute(th, h, src+ahead[0], dst+ahead[1]); err != nil {
		return nil, nil, err
	}
	if err := d.MemcpyDtoH(hostmem.Of(&b[0]), dst+ahead[1], n); err != nil {
		t.Fatal(err)
	}
	if err := th.Destroy(h); err != nil {
		t.Fatal(err)
	}
	return s.numbers(b), nil, nil
}

// layouts are where the numbers of the input and the output are.
func (s *shape) layouts() (in, out layout) {
	n := make([]uint64, len(s.n))
	for i, v := range s.n {
		n[i] = uint64(v)
	}
	last := n[len(n)-1]
	half := last/2 + 1
	inner, outer := last, last
	switch {
	case s.kind == fromRealKind && s.inPlace:
		inner, outer = 2*half, half
	case s.kind == fromRealKind:
		outer = half
	case s.kind == toRealKind && s.inPlace:
		inner, outer = half, 2*half
	case s.kind == toRealKind:
		inner = half
	}
	if s.advanced {
		return embedded(s.ie, s.is, s.id), embedded(s.oe, s.os, s.od)
	}
	return packedLayout(n, inner), packedLayout(n, outer)
}

// each visits the positions of a batch's numbers: their index in the tensor of extents, and where layouts have them.
func each(extents []int, l layout, b int64, f func(i int, at int64)) {
	total := 1
	for _, n := range extents {
		total *= n
	}
	for i := range total {
		at, rest := b*l.dist, i
		for a := len(extents) - 1; a >= 0; a-- {
			at += int64(rest%extents[a]) * l.strides[a]
			rest /= extents[a]
		}
		f(i, at)
	}
}

// written says which numbers of the output buffer are results.
func (s *shape) written() []bool {
	_, to := s.layouts()
	ext, width := make([]int, len(s.n)), int64(2)
	for i, v := range s.n {
		ext[i] = int(v)
	}
	switch s.kind {
	case fromRealKind:
		ext[len(ext)-1] = ext[len(ext)-1]/2 + 1
	case toRealKind:
		width = 1
	}
	mask := make([]bool, s.size)
	for b := range s.batch {
		each(ext, to, b, func(_ int, at int64) {
			for k := range width {
				mask[width*at+k] = true
			}
		})
	}
	return mask
}

// want is the output by definition.
func (s *shape) want(x []float64) (out []float64) {
	var b []byte
	for _, v := range x {
		b = s.pack(b, v)
	}
	x = s.numbers(b)
	in, to := s.layouts()
	full := make([]int, len(s.n))
	for i, v := range s.n {
		full[i] = int(v)
	}
	half := append([]int(nil), full...)
	last := len(full) - 1
	half[last] = half[last]/2 + 1
	out = make([]float64, len(x))
	for b := range s.batch {
		y := make([]complex128, s.total()/int(s.batch))
		if s.kind == toRealKind {
			h := make([]complex128, len(y)/full[last]*half[last])
			each(half, in, b, func(i int, at int64) { h[i] = complex(x[2*at], x[2*at+1]) })
			for i, v := range backToReal(h, full, half) {
				y[i] = complex(v, 0)
			}
			each(full, to, b, func(i int, at int64) { out[at] = real(y[i]) })
			continue
		}
		each(full, in, b, func(i int, at int64) {
			if s.kind == fromRealKind {
				y[i] = complex(x[at], 0)
			} else {
				y[i] = complex(x[2*at], x[2*at+1])
			}
		})
		y = transformed(y, full, s.kind == complexKind && s.sign == fft.CUFFT_INVERSE)
		ext := full
		if s.kind == fromRealKind {
			ext = half
		}
		each(ext, to, b, func(i int, at int64) {
			j := i/ext[last]*full[last] + i%ext[last]
			out[2*at], out[2*at+1] = real(y[j]), imag(y[j])
		})
	}
	return out
}

// backToReal is the definition of the inverse transform of half a spectrum: other axes first, then rows whose other half is the mirrored
// one and whose first and middle numbers are real.
func backToReal(h []complex128, full, half []int) []float64 {
	last := len(full) - 1
	m, k := full[last], half[last]
	rows := len(h) / k
	cols := make([][]complex128, k)
	for c := range k {
		col := make([]complex128, rows)
		for r := range rows {
			col[r] = h[r*k+c]
		}
		cols[c] = transformed(col, full[:last], true)
	}
	out := make([]float64, rows*m)
	for r := range rows {
		row := make([]complex128, m)
		for c := range k {
			v := cols[c][r]
			if c == 0 || 2*c == m {
				v = complex(real(v), 0)
			}
			row[c] = v
			if c > 0 {
				row[m-c] = complex(real(v), -imag(v))
			}
		}
		for c, v := range naive(row, true) {
			out[r*m+c] = real(v)
		}
	}
	return out
}

// check compares a shape with the definition.
func (s *shape) check(t testing.TB, th *Thread, shift uint64) {
	t.Helper()
	s.fill()
	x := noise(int(s.size), 1)
	got, made, done := s.run(t, th, x, shift)
	if made != nil || done != nil {
		t.Errorf("%+v: %v, %v", *s, made, done)
		return
	}
	want, written := s.want(x), s.written()
	var a, b []float64
	for i, w := range written {
		if w {
			a, b = append(a, got[i]), append(b, want[i])
		} else if !s.inPlace && got[i] != 0 {
			t.Errorf("%+v: number %d was written", *s, i)
			return
		}
	}
	allowed := storages[s.storage].epsilon * (2 + math.Sqrt(math.Log2(float64(s.total()/int(s.batch)+1))))
	if e := difference(a, b); !(e <= allowed) {
		t.Errorf("%+v: error %g, allowed %g", *s, e, allowed)
	}
}

// half and whole are numbers of 16 bits.
func half(v float64, f *softfloat.Format) uint64 {
	return softfloat.F32.Convert(f, uint64(math.Float32bits(float32(v))), softfloat.Env{})
}

func whole(bits uint64, f *softfloat.Format) float64 {
	return float64(math.Float32frombits(uint32(f.Convert(softfloat.F32, bits, softfloat.Env{}))))
}
