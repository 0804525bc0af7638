package pages

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"kudzu/internal/backend"
	"kudzu/internal/driver"
	"kudzu/internal/testkit/truth"
)

// function is an approximation to be measured against the exact value.
type function struct {
	inst   string // with %d and %a, %b
	bits   int    // 32 or 64
	ranges string
	sample func(i int) (a, b float64)
	exact  func(a, b float64) float64
	kind   metric
	bound  float64
	says   string // the manual's bound
}

// metric is how an error is measured.
type metric uint8

const (
	relative metric = iota // of the exact value
	absolute
	inUlps // in units of the last place of the exact value
)

// samples of each function.
const samples = 1 << 15

// normal spreads over all exponents between lo and hi, mantissas scattered.
func normal(lo, hi int) func(int) (float64, float64) {
	return func(i int) (float64, float64) {
		e := lo + i%(hi-lo)
		m := 1 + float64(uint32(i)*2654435761)/(1<<32)
		n := 1 + float64(uint32(i)*2246822519)/(1<<32)
		return float64(float32(math.Ldexp(m, e))), float64(float32(math.Ldexp(n, (i/(hi-lo))%64-32)))
	}
}

// linear spreads evenly from lo to hi.
func linear(lo, hi float64) func(int) (float64, float64) {
	return func(i int) (float64, float64) {
		return float64(float32(lo + (hi-lo)*(float64(i)+0.5)/samples)), 0
	}
}

func one(f func(float64) float64) func(a, b float64) float64 {
	return func(a, _ float64) float64 { return f(a) }
}

var quotient = func(a, b float64) float64 { return a / b }

var functions = []function{
	{"rcp.approx.f32 %d, %a", 32, "normal numbers whose reciprocal is", normal(-125, 126), one(func(a float64) float64 { return 1 / a }), inUlps, 1, "1 ulp"},
	{"sqrt.approx.f32 %d, %a", 32, "normal numbers", normal(-126, 128), one(math.Sqrt), relative, 0x1p-23, "relative 2^-23"},
	{"rsqrt.approx.f32 %d, %a", 32, "normal numbers", normal(-126, 128), one(func(a float64) float64 { return 1 / math.Sqrt(a) }), relative, math.Exp2(-22.9), "relative 2^-22.9"},
	{"div.approx.f32 %d, %a, %b", 32, "divisors and quotients that are normal", normal(-60, 60), quotient, inUlps, 2, "2 ulp"},
	{"div.full.f32 %d, %a, %b", 32, "divisors and quotients that are normal", normal(-60, 60), quotient, inUlps, 2, "2 ulp"},
	{"sin.approx.f32 %d, %a", 32, "-pi to pi", linear(-math.Pi, math.Pi), one(math.Sin), absolute, math.Exp2(-20.5), "absolute 2^-20.5"},
	{"cos.approx.f32 %d, %a", 32, "-pi to pi", linear(-math.Pi, math.Pi), one(math.Cos), absolute, math.Exp2(-20.5), "absolute 2^-20.5"},
	{"lg2.approx.f32 %d, %a", 32, "0.5 to 2", linear(0.5, 2), one(math.Log2), absolute, 0x1p-22, "absolute 2^-22"},
	{"lg2.approx.f32 %d, %a", 32, "normal numbers from 2", normal(1, 128), one(math.Log2), relative, 0x1p-22, "relative 2^-22"},
	{"ex2.approx.f32 %d, %a", 32, "-126 to 128", linear(-126, 127.99), one(math.Exp2), relative, math.Exp2(-22.5), "relative 2^-22.5"},
	{"tanh.approx.f32 %d, %a", 32, "-10 to 10", linear(-10, 10), one(math.Tanh), relative, 0x1p-11, "relative 2^-11"},
	{"rcp.approx.ftz.f64 %d, %a", 64, "normal numbers", normal(-120, 120), one(func(a float64) float64 { return 1 / a }), relative, 0x1p-20, "none; 2^-20 is ours"},
	{"rsqrt.approx.ftz.f64 %d, %a", 64, "normal numbers", normal(-120, 120), one(func(a float64) float64 { return 1 / math.Sqrt(a) }), relative, 0x1p-20, "none; 2^-20 is ours"},
}

// measured is the largest error of a function and where it is.
type measured struct{ err, at float64 }

// measure runs a function on the interpreter.
func (f *function) measure(dev backend.Device, host truth.Host) (measured, error) {
	t := fmt.Sprintf("f%d", f.bits)
	inst := strings.NewReplacer("%d", "%v2", "%a", "%v0", "%b", "%v1").Replace(f.inst)
	text := ".version 9.0\n.target sm_90\n.address_size 64\n" + fmt.Sprintf(`.visible .entry k(.param .u64 p)
{
	.reg .b32 %%i<4>; .reg .b64 %%a; .reg .%s %%v<3>;
	mov.u32 %%i0, %%ctaid.x; mov.u32 %%i1, %%ntid.x; mov.u32 %%i2, %%tid.x; mad.lo.u32 %%i0, %%i0, %%i1, %%i2;
	ld.param.u64 %%a, [p]; mad.wide.u32 %%a, %%i0, 16, %%a;
	ld.global.%s %%v0, [%%a]; ld.global.%s %%v1, [%%a+8];
	%s;
	st.global.%s [%%a], %%v2; ret;
}
`, t, t, t, inst, t)
	in := make([]byte, 16*samples)
	for i := range samples {
		a, b := f.sample(i)
		binary.LittleEndian.PutUint64(in[16*i:], f.encode(a))
		binary.LittleEndian.PutUint64(in[16*i+8:], f.encode(b))
	}
	out, err := run(dev, host, text, in)
	if err != nil {
		return measured{}, fmt.Errorf("%s: %w", f.inst, err)
	}
	var worst measured
	for i := range samples {
		a, b := f.sample(i)
		if e := f.error(f.decode(binary.LittleEndian.Uint64(out[16*i:])), f.exact(a, b)); e > worst.err || math.IsNaN(e) {
			worst = measured{e, a}
		}
	}
	return worst, nil
}

func (f *function) encode(x float64) uint64 {
	if f.bits == 32 {
		return uint64(math.Float32bits(float32(x)))
	}
	return math.Float64bits(x)
}

func (f *function) decode(v uint64) float64 {
	if f.bits == 32 {
		return float64(math.Float32frombits(uint32(v)))
	}
	return math.Float64frombits(v)
}

func (f *function) error(got, exact float64) float64 {
	d := math.Abs(got - exact)
	switch f.kind {
	case absolute:
		return d
	case relative:
		return d / math.Abs(exact)
	}
	_, e := math.Frexp(exact)
	return d / math.Ldexp(1, max(e-24, -149))
}

// run runs a kernel that works in place on its one buffer.
func run(dev backend.Device, host truth.Host, text string, data []byte) ([]byte, error) {
	m, err := driver.Describe("numerics", text, 90)
	if err != nil {
		return nil, err
	}
	p, err := dev.Load(m)
	if err != nil {
		return nil, err
	}
	defer p.Unload()
	k, err := p.Kernel("k")
	if err != nil {
		return nil, err
	}
	q, err := dev.NewQueue(0)
	if err != nil {
		return nil, err
	}
	defer q.Close()
	mem, err := dev.Memory().Alloc(uint64(len(data)), 256)
	if err != nil {
		return nil, err
	}
	defer dev.Memory().Free(mem)
	copy(host.Bytes(), data)
	n := uint64(len(data))
	const block = 256
	launch := &backend.Launch{Grid: [3]uint32{samples / block, 1, 1}, Block: [3]uint32{block, 1, 1}, Params: binary.LittleEndian.AppendUint64(nil, uint64(mem))}
	for _, step := range []func() error{
		func() error { return q.Copy(mem, host.Addr(), n) }, func() error { return q.Launch(k, launch) }, func() error { return q.Copy(host.Addr(), mem, n) }, q.Sync,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return append([]byte{}, host.Bytes()[:n]...), nil
}
