package llvm_test

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"math/rand"
	"regexp"
	"runtime"
	"sort"
	"strings"
	"testing"

	"kudzu/internal/image"
	"kudzu/internal/llvm"

	"github.com/ebitengine/purego"
)

// call compiles a loop over rows of arguments that calls one helper, and runs it. Arguments and results are 16 bytes
// each in memory, whatever their type.
func call(t *testing.T, l *llvm.Lib, name, result string, args []string, rows [][]uint128) []uint128 {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "declare %s @%s(%s)\n", result, name, strings.Join(args, ", "))
	b.WriteString("define void @t(ptr %in, ptr %out, i64 %n) \"no-builtins\" {\nentry:\n br label %loop\nloop:\n %i = phi i64 [0, %entry], [%i1, %loop]\n")
	var pass []string
	for k, a := range args {
		fmt.Fprintf(&b, " %%x%d = mul i64 %%i, %d\n %%o%d = add i64 %%x%d, %d\n %%p%d = getelementptr i8, ptr %%in, i64 %%o%d\n %%a%d = load %s, ptr %%p%d, align 8\n",
			k, 16*len(args), k, k, 16*k, k, k, k, a, k)
		pass = append(pass, fmt.Sprintf("%s %%a%d", a, k))
	}
	fmt.Fprintf(&b, " %%r = call %s @%s(%s) \"no-builtins\"\n %%ro = mul i64 %%i, 16\n %%rp = getelementptr i8, ptr %%out, i64 %%ro\n store %s %%r, ptr %%rp, align 8\n", result, name, strings.Join(pass, ", "), result)
	b.WriteString(" %i1 = add i64 %i, 1\n %m = icmp ult i64 %i1, %n\n br i1 %m, label %loop, label %end\nend:\n ret void\n}\n")
	// A target without the instructions, so that nothing is done inline; SSE2 is all of x86-64.
	opts := llvm.Options{OptLevel: 1}
	obj, err := l.Compile(b.String(), opts)
	if err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	text, unknown := llvm.Helpers([]string{name})
	if len(unknown) > 0 {
		t.Fatalf("no helper %v", unknown)
	}
	help, err := l.Compile(text, opts)
	if err != nil {
		t.Fatal(err)
	}
	img, err := image.Build(obj, "t", image.Meta{}, help)
	if err != nil {
		t.Fatal(err)
	}
	im, err := image.Parse(img)
	if err != nil {
		t.Fatal(err)
	}
	m, err := im.Map()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Unmap() }()
	in, out := make([]uint128, 0, len(rows)*len(args)), make([]uint128, len(rows))
	for _, r := range rows {
		in = append(in, r...)
	}
	purego.SyscallN(m.Entry(), address(in), address(out), uintptr(len(rows)))
	runtime.KeepAlive(in)
	return out
}

type uint128 [2]uint64 // low, high

func (u uint128) big() *big.Int {
	b := new(big.Int).SetUint64(u[1])
	return b.Lsh(b, 64).Or(b, new(big.Int).SetUint64(u[0]))
}

func (u uint128) signed() *big.Int {
	b := u.big()
	if u[1]>>63 != 0 {
		b.Sub(b, new(big.Int).Lsh(big.NewInt(1), 128))
	}
	return b
}

var edge64 = []float64{
	0, math.Copysign(0, -1), 0.5, -0.5, 1, -1, 1.5, -1.5, 2.5, -2.5, 0.49999999999999994, 3, 1e-300, 5e-324, -5e-324, 2.2250738585072014e-308, 1e300,
	math.MaxFloat64, -math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN(), 4503599627370495.5, -4503599627370495.5, 4503599627370497, 9007199254740993,
	8388607.5, -8388607.5, 65504, 65519.999, 65520, 65536, 6.1e-5, 5.96e-8, 2.98e-8, 2.9802322387695312e-08, 1.0009765625 + 1e-12, math.Pi, -1e10, 1e-40,
	math.MaxFloat32, math.SmallestNonzeroFloat32, 3.4028236e38, 1 << 62, 33554433,
}

func doubles(r *rand.Rand, n int) []float64 {
	xs := append([]float64(nil), edge64...)
	for range n {
		xs = append(xs, math.Float64frombits(r.Uint64()), math.Ldexp(r.NormFloat64(), r.Intn(40)-20), math.Ldexp(1+r.Float64(), r.Intn(60)-40))
	}
	return xs
}

func same64(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || math.IsNaN(a) && math.IsNaN(b)
}

func testLib(t *testing.T) *llvm.Lib {
	t.Helper()
	l, err := llvm.Open("")
	if err != nil {
		t.Skip(err)
	}
	return l
}

func TestUnaryHelpers(t *testing.T) {
	l := testLib(t)
	xs := doubles(rand.New(rand.NewSource(1)), 300)
	for name, f := range map[string]func(float64) float64{
		"roundeven": math.RoundToEven, "rint": math.RoundToEven, "nearbyint": math.RoundToEven, "trunc": math.Trunc, "floor": math.Floor, "ceil": math.Ceil, "round": math.Round,
	} {
		var rows, rows32 [][]uint128
		for _, x := range xs {
			rows = append(rows, []uint128{{math.Float64bits(x)}})
			rows32 = append(rows32, []uint128{{uint64(math.Float32bits(float32(x)))}})
		}
		for i, got := range call(t, l, name, "double", []string{"double"}, rows) {
			if g := math.Float64frombits(got[0]); !same64(g, f(xs[i])) {
				t.Errorf("%s(%v) = %v, want %v", name, xs[i], g, f(xs[i]))
			}
		}
		for i, got := range call(t, l, name+"f", "float", []string{"float"}, rows32) {
			g, want := math.Float32frombits(uint32(got[0])), float32(f(float64(float32(xs[i]))))
			if !same64(float64(g), float64(want)) {
				t.Errorf("%sf(%v) = %v, want %v", name, float32(xs[i]), g, want)
			}
		}
	}
}

func TestFmod(t *testing.T) {
	l := testLib(t)
	xs := doubles(rand.New(rand.NewSource(2)), 60)
	var rows, rows32 [][]uint128
	for _, x := range xs {
		for _, y := range xs {
			rows = append(rows, []uint128{{math.Float64bits(x)}, {math.Float64bits(y)}})
			rows32 = append(rows32, []uint128{{uint64(math.Float32bits(float32(x)))}, {uint64(math.Float32bits(float32(y)))}})
		}
	}
	for i, got := range call(t, l, "fmod", "double", []string{"double", "double"}, rows) {
		x, y := math.Float64frombits(rows[i][0][0]), math.Float64frombits(rows[i][1][0])
		if g, want := math.Float64frombits(got[0]), math.Mod(x, y); !same64(g, want) {
			t.Fatalf("fmod(%v, %v) = %v, want %v", x, y, g, want)
		}
	}
	for i, got := range call(t, l, "fmodf", "float", []string{"float", "float"}, rows32) {
		x, y := math.Float32frombits(uint32(rows32[i][0][0])), math.Float32frombits(uint32(rows32[i][1][0]))
		if g, want := math.Float32frombits(uint32(got[0])), math.Mod(float64(x), float64(y)); !same64(float64(g), want) {
			t.Fatalf("fmodf(%v, %v) = %v, want %v", x, y, g, want)
		}
	}
}

// exact32 rounds a product and a sum to float once.
func exact32(a, b, c float64) float32 {
	prod := new(big.Float).SetPrec(400).Mul(new(big.Float).SetPrec(400).SetFloat64(a), new(big.Float).SetPrec(400).SetFloat64(b))
	f, _ := prod.Add(prod, new(big.Float).SetPrec(400).SetFloat64(c)).Float32()
	return f
}

func TestFMA(t *testing.T) {
	l := testLib(t)
	r := rand.New(rand.NewSource(3))
	xs := doubles(r, 12)
	var rows, rows32 [][]uint128
	bits32 := func(x float64) uint128 { return uint128{uint64(math.Float32bits(float32(x)))} }
	add := func(a, b, c float64) {
		rows = append(rows, []uint128{{math.Float64bits(a)}, {math.Float64bits(b)}, {math.Float64bits(c)}})
		rows32 = append(rows32, []uint128{bits32(a), bits32(b), bits32(c)})
	}
	for _, a := range xs {
		for _, b := range xs {
			for _, c := range xs {
				add(a, b, c)
			}
			// Cancellation and halfway cases live near -a*b.
			add(a, b, -a*b)
			add(a, b, math.Nextafter(-a*b, 0))
			add(a, b, -a*b*(1+1e-9))
		}
	}
	for i, got := range call(t, l, "fma", "double", []string{"double", "double", "double"}, rows) {
		a, b, c := math.Float64frombits(rows[i][0][0]), math.Float64frombits(rows[i][1][0]), math.Float64frombits(rows[i][2][0])
		if g, want := math.Float64frombits(got[0]), math.FMA(a, b, c); !same64(g, want) {
			t.Fatalf("fma(%v, %v, %v) = %v, want %v", a, b, c, g, want)
		}
	}
	for i, got := range call(t, l, "fmaf", "float", []string{"float", "float", "float"}, rows32) {
		a, b, c := float64(math.Float32frombits(uint32(rows32[i][0][0]))), float64(math.Float32frombits(uint32(rows32[i][1][0]))), float64(math.Float32frombits(uint32(rows32[i][2][0])))
		g := math.Float32frombits(uint32(got[0]))
		if math.IsNaN(a*b+c) || math.IsInf(a*b+c, 0) || a*b+c == 0 {
			if want := float32(a*b + c); !same64(float64(g), float64(want)) {
				t.Fatalf("fmaf(%v, %v, %v) = %v, want %v", a, b, c, g, want)
			}
			continue
		}
		if want := exact32(a, b, c); g != want {
			t.Fatalf("fmaf(%v, %v, %v) = %v, want %v", a, b, c, g, want)
		}
	}
}

// small is a binary format of at most 16 bits, rounded to by search among all its values: slow, and plainly right.
type small struct {
	bits   []uint16
	values []float64 // non-negative finite values, ascending, then what would come after the largest
	inf    uint16
}

func newSmall(expBits, fracBits int) small {
	s := small{inf: uint16(1<<expBits-1) << fracBits}
	bias := 1<<(expBits-1) - 1
	for b := uint16(0); b <= s.inf; b++ {
		e, f := int(b>>fracBits), float64(b&(1<<fracBits-1))
		v := math.Ldexp(f, 1-bias-fracBits)
		if e > 0 {
			v = math.Ldexp(f+float64(int(1)<<fracBits), e-bias-fracBits)
		}
		s.bits, s.values = append(s.bits, b), append(s.values, v)
	}
	return s
}

func (s small) round(x float64) uint16 {
	var sign uint16
	if math.Signbit(x) {
		sign, x = 0x8000, -x
	}
	if x >= s.values[len(s.values)-1] {
		return sign | s.inf
	}
	i := sort.SearchFloat64s(s.values, x) // first value ≥ x
	if s.values[i] == x || i == 0 {
		return sign | s.bits[i]
	}
	// Distances are exact: neighbours are within a factor of two, or the low one is zero.
	low, high := x-s.values[i-1], s.values[i]-x
	if low < high || low == high && s.bits[i-1]&1 == 0 {
		i--
	}
	return sign | s.bits[i]
}

func TestHalfHelpers(t *testing.T) {
	l := testLib(t)
	r := rand.New(rand.NewSource(4))
	half, bf := newSmall(5, 10), newSmall(8, 7)
	xs := doubles(r, 1000)
	for range 3000 { // halfway cases and their neighbours
		for _, s := range []small{half, bf} {
			i := r.Intn(len(s.values) - 1)
			mid := (s.values[i] + s.values[i+1]) / 2
			xs = append(xs, mid, math.Nextafter(mid, 0), math.Nextafter(mid, 1e300), -mid)
		}
	}
	var rows, rows32 [][]uint128
	for _, x := range xs {
		rows = append(rows, []uint128{{math.Float64bits(x)}})
		rows32 = append(rows32, []uint128{{uint64(math.Float32bits(float32(x)))}})
	}
	check := func(name, result, arg string, s small, rows [][]uint128) {
		for i, got := range call(t, l, name, result, []string{arg}, rows) {
			x := xs[i]
			if arg == "float" {
				x = float64(float32(x))
			}
			g := uint16(got[0])
			if math.IsNaN(x) {
				if g&0x7fff <= s.inf {
					t.Errorf("%s(NaN) = %#04x", name, g)
				}
			} else if want := s.round(x); g != want {
				t.Fatalf("%s(%v) = %#04x, want %#04x", name, x, g, want)
			}
		}
	}
	check("__truncsfhf2", "half", "float", half, rows32)
	check("__truncdfhf2", "half", "double", half, rows)
	check("__truncsfbf2", "bfloat", "float", bf, rows32)
	check("__truncdfbf2", "bfloat", "double", bf, rows)

	var all [][]uint128
	for b := range 1 << 16 {
		all = append(all, []uint128{{uint64(b)}})
	}
	for b, got := range call(t, l, "__extendhfsf2", "float", []string{"half"}, all) {
		g := math.Float32frombits(uint32(got[0]))
		m := b & 0x7fff
		if m > 0x7c00 {
			if !math.IsNaN(float64(g)) {
				t.Fatalf("extend %#04x = %v", b, g)
			}
			continue
		}
		want := half.values[m]
		if m == 0x7c00 {
			want = math.Inf(1)
		}
		if b != m {
			want = -want
		}
		if !same64(float64(g), want) {
			t.Fatalf("extend %#04x = %v, want %v", b, g, want)
		}
	}
}

func TestDivide128(t *testing.T) {
	l := testLib(t)
	r := rand.New(rand.NewSource(5))
	edge := []uint128{{0, 0}, {1, 0}, {2, 0}, {math.MaxUint64, 0}, {0, 1}, {math.MaxUint64, math.MaxUint64}, {0, 1 << 63}, {7, 1}, {10, 0}}
	for range 60 {
		edge = append(edge, uint128{r.Uint64() >> r.Intn(64), r.Uint64() >> r.Intn(64)}, uint128{r.Uint64() >> r.Intn(64), 0})
	}
	var rows [][]uint128
	for _, n := range edge {
		for _, d := range edge {
			rows = append(rows, []uint128{n, d})
		}
	}
	mask := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 128), big.NewInt(1))
	for name, f := range map[string]func(n, d uint128) *big.Int{
		"__udivti3": func(n, d uint128) *big.Int { return new(big.Int).Quo(n.big(), d.big()) },
		"__umodti3": func(n, d uint128) *big.Int { return new(big.Int).Rem(n.big(), d.big()) },
		"__divti3":  func(n, d uint128) *big.Int { return new(big.Int).Quo(n.signed(), d.signed()) },
		"__modti3":  func(n, d uint128) *big.Int { return new(big.Int).Rem(n.signed(), d.signed()) },
	} {
		for i, got := range call(t, l, name, "i128", []string{"i128", "i128"}, rows) {
			n, d := rows[i][0], rows[i][1]
			if d == (uint128{}) {
				continue // only that it ends
			}
			if want := new(big.Int).And(f(n, d), mask); got.big().Cmp(want) != 0 {
				t.Fatalf("%s(%v, %v) = %v, want %v", name, n.big(), d.big(), got.big(), want)
			}
		}
	}
}

func TestMemoryHelpers(t *testing.T) {
	l := testLib(t)
	r := rand.New(rand.NewSource(6))
	for range 30 {
		n, so, do := r.Intn(100), r.Intn(64), r.Intn(64)
		buf := make([]byte, 256)
		for i := range buf {
			buf[i] = byte(i*7 + 3)
		}
		want := bytes.Clone(buf)
		copy(want[do:do+n], want[so:so+n])
		base := uint64(address(buf))
		got := call(t, l, "memmove", "ptr", []string{"ptr", "ptr", "i64"}, [][]uint128{{{base + uint64(do)}, {base + uint64(so)}, {uint64(n)}}})
		if !bytes.Equal(buf, want) || got[0][0] != base+uint64(do) {
			t.Fatalf("memmove(+%d, +%d, %d)", do, so, n)
		}
		copy(want[128+do:128+do+n%64], want[so:so+n%64])
		call(t, l, "memcpy", "ptr", []string{"ptr", "ptr", "i64"}, [][]uint128{{{base + 128 + uint64(do)}, {base + uint64(so)}, {uint64(n % 64)}}})
		if !bytes.Equal(buf, want) {
			t.Fatalf("memcpy(+%d, +%d, %d)", 128+do, so, n%64)
		}
		for i := range want[do : do+n] {
			want[do+i] = 0xa5
		}
		call(t, l, "memset", "ptr", []string{"ptr", "i32", "i64"}, [][]uint128{{{base + uint64(do)}, {0x3a5}, {uint64(n)}}})
		if !bytes.Equal(buf, want) {
			t.Fatalf("memset(+%d, %d)", do, n)
		}
	}
}

// Every helper compiles alone for every CPU target, at the lowest level of each, and needs nothing but itself.
func TestHelpersComplete(t *testing.T) {
	l := testLib(t)
	names := regexp.MustCompile(`(?m)^define [^@\n]*@([\w.]+)\(`)
	text, unknown := llvm.Helpers([]string{"fma", "fmodf", "memmove", "nosuch", "__modti3"})
	if len(unknown) != 1 || unknown[0] != "nosuch" {
		t.Errorf("unknown: %v", unknown)
	}
	if got := fmt.Sprint(names.FindAllStringSubmatch(text, -1)); strings.Count(got, "define") != 7 {
		t.Errorf("closure: %s", got)
	}
	for _, name := range []string{
		"memset", "memcpy", "memmove", "__udivti3", "__umodti3", "__divti3", "__modti3", "fmod", "fmodf", "__truncsfhf2", "__truncdfhf2", "__extendhfsf2",
		"__truncsfbf2", "__truncdfbf2", "roundeven", "roundevenf", "rint", "rintf", "nearbyint", "nearbyintf", "trunc", "truncf", "floor", "floorf",
		"ceil", "ceilf", "round", "roundf", "fma", "fmaf",
	} {
		for triple, cpu := range map[string]string{"x86_64-linux-gnu": "x86-64", "aarch64-linux-gnu": "generic"} {
			text, _ := llvm.Helpers([]string{name})
			obj, err := l.Compile(text, llvm.Options{Triple: triple, CPU: cpu, OptLevel: 2, Passes: "instcombine,simplifycfg"})
			if err != nil {
				t.Errorf("%s on %s: %v", name, triple, err)
				continue
			}
			if u, err := image.Undefined(obj); err != nil || len(u) > 0 {
				t.Errorf("%s on %s needs %v (%v)", name, triple, u, err)
			}
		}
	}
}
