package cufft

import (
	"fmt"
	"math"
	"math/cmplx"
	"os"
	"sync"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/compile/worker"
	"kudzu/internal/config"
	"kudzu/internal/cudart"
	"kudzu/internal/devices"
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/fft"
)

// TestMain serves as the compiler process when the cpu backend starts this program again.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "compiler" {
		os.Exit(worker.Main(os.Args[2:]))
	}
	if err := os.Setenv(config.Devices, fmt.Sprint(testDevices)); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// testDevices is enough for plans on several devices.
const testDevices = 4

// start opens the device once: a process has one driver.
var start = sync.OnceValue(func() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	driver.Start([]backend.Backend{devices.CPU(devices.Config{Compiler: []string{self, "compiler"}, Strict: true})})
	return (*driver.Thread)(new(Thread)).Init(0)
})

func thread(t testing.TB) *Thread {
	t.Helper()
	if err := start(); err != nil {
		t.Fatal(err)
	}
	th := new(Thread)
	if err := cudart.Ready(th.driver()); err != nil {
		t.Fatal(err)
	}
	return th
}

// noise is the same numbers every time, in [-1, 1).
func noise(n int, seed uint64) []float64 {
	out := make([]float64, n)
	for i := range out {
		seed = seed*6364136223846793005 + 1442695040888963407
		out[i] = float64(int64(seed)>>11) * 0x1p-52
	}
	return out
}

// upload puts numbers into device memory, as floats of a size.
func upload(t testing.TB, th *Thread, v []float64, p precision) driver.DevPtr {
	t.Helper()
	d := th.driver()
	var b []byte
	for i := 0; i < len(v); i += 2 {
		w := 0.0
		if i+1 < len(v) {
			w = v[i+1]
		}
		b = appendNumber(b, p, complex(v[i], w))
	}
	at, err := d.MemAlloc(uint64(max(len(b), 8)))
	if err != nil {
		t.Fatal(err)
	}
	if err := d.MemcpyHtoD(at, hostmem.Of(&b[0]), uint64(len(b))); err != nil {
		t.Fatal(err)
	}
	return at
}

func download(t testing.TB, th *Thread, at driver.DevPtr, n int, p precision) []float64 {
	t.Helper()
	out := make([]float64, n)
	if p == double {
		if err := th.driver().MemcpyDtoH(hostmem.Of(&out[0]), at, uint64(n)*8); err != nil {
			t.Fatal(err)
		}
		return out
	}
	raw := make([]float32, n)
	if err := th.driver().MemcpyDtoH(hostmem.Of(&raw[0]), at, uint64(n)*4); err != nil {
		t.Fatal(err)
	}
	for i, v := range raw {
		out[i] = float64(v)
	}
	return out
}

func rounded(v []float64, p precision) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = x
		if p == single {
			out[i] = float64(float32(x))
		}
	}
	return out
}

// transformed is the transform of a tensor of complex numbers along all axes, in double precision.
func transformed(x []complex128, n []int, inverse bool) []complex128 {
	out := append([]complex128(nil), x...)
	inner := 1
	for a := len(n) - 1; a >= 0; a-- {
		m := n[a]
		line := make([]complex128, m)
		for o := 0; o < len(out)/(m*inner); o++ {
			for i := range inner {
				for k := range m {
					line[k] = out[(o*m+k)*inner+i]
				}
				for k, v := range naive(line, inverse) {
					out[(o*m+k)*inner+i] = v
				}
			}
		}
		inner *= m
	}
	return out
}

// naive is the definition; lengths with small factors may be split.
func naive(x []complex128, inverse bool) []complex128 {
	n := uint64(len(x))
	if inverse {
		c := make([]complex128, n)
		for i, v := range x {
			c[i] = cmplx.Conj(v)
		}
		out := naive(c, false)
		for i, v := range out {
			out[i] = cmplx.Conj(v)
		}
		return out
	}
	if n == 1 {
		return append([]complex128(nil), x...)
	}
	r := uint64(2)
	for ; n%r != 0; r++ {
	}
	parts := make([][]complex128, r)
	for q := range r {
		part := make([]complex128, n/r)
		for i := range part {
			part[i] = x[uint64(i)*r+q]
		}
		parts[q] = part
		if r < n {
			parts[q] = naive(part, false)
		}
	}
	roots := make([]complex128, n)
	for i := range n {
		roots[i] = root(i, n)
	}
	out := make([]complex128, n)
	for k := range n {
		var re, im exactSum
		for q := range r {
			v, w := parts[q][k%(n/r)], roots[q*k%n]
			re.product(real(v), real(w))
			re.product(-imag(v), imag(w))
			im.product(real(v), imag(w))
			im.product(imag(v), real(w))
		}
		out[k] = complex(re.sum+re.rest, im.sum+im.rest)
	}
	return out
}

// exactSum adds products with twice the precision.
type exactSum struct{ sum, rest float64 }

func (e *exactSum) product(a, b float64) {
	p := a * b
	low := math.FMA(a, b, -p)
	s := e.sum + p
	t := s - e.sum
	e.rest += (e.sum - (s - t)) + (p - t) + low
	e.sum = s
}

// difference is the error of got in the 2-norm, relative to want's.
func difference(got, want []float64) float64 {
	var d, s float64
	for i := range want {
		e := got[i] - want[i]
		d += e * e
		s += want[i] * want[i]
	}
	if s == 0 {
		return math.Sqrt(d)
	}
	return math.Sqrt(d / s)
}

func flat(x []complex128) []float64 {
	out := make([]float64, 0, 2*len(x))
	for _, v := range x {
		out = append(out, real(v), imag(v))
	}
	return out
}

// bound is the error that is allowed, in units of the precision's.
func bound(p precision, n int) float64 {
	eps := 0x1p-24
	if p == double {
		eps = 0x1p-53
	}
	return eps * (2 + math.Sqrt(math.Log2(float64(n+1))))
}

func planOf(t testing.TB, th *Thread, n []int, kind fft.CufftType, batch int) fft.CufftHandle {
	t.Helper()
	dims := make([]int32, len(n))
	for i, v := range n {
		dims[i] = int32(v)
	}
	h, err := th.PlanMany(int32(len(n)), hostmem.Of(&dims[0]), 0, 1, 0, 0, 1, 0, kind, int32(batch))
	if err != nil {
		t.Fatal(n, err)
	}
	return h
}
