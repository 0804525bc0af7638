package devicemath

import (
	"math"
	"math/big"
	"math/bits"
	"regexp"
	"strings"

	"kudzu/internal/softfloat"
)

// reference gives what a thread writes, for the words that it reads.
type reference func(w []uint64) []uint64

var modes = map[string]softfloat.Mode{"rn": softfloat.RN, "rz": softfloat.RZ, "rd": softfloat.RM, "ru": softfloat.RP}

var (
	arithmetic = regexp.MustCompile(`^([df])(add|sub|mul|div|rcp|sqrt)_(rn|rz|rd|ru)$`)
	fused      = regexp.MustCompile(`^fma(f?)(?:_ieee)?_(rn|rz|rd|ru)$`)
	conversion = regexp.MustCompile(`^(double|float|int|uint|ll|ull)2(double|float|int|uint|ll|ull)_(rn|rz|rd|ru)$`)
)

var integers = map[string]softfloat.Int{
	"int": {Width: 32, Signed: true}, "uint": {Width: 32}, "ll": {Width: 64, Signed: true}, "ull": {Width: 64},
}

var formats = map[string]*softfloat.Format{"double": softfloat.F64, "float": softfloat.F32, "d": softfloat.F64, "f": softfloat.F32}

func one(v uint64) []uint64 { return []uint64{v} }

// exactly is the reference of a function whose name says what it does, or nil.
func exactly(name string) reference {
	if m := arithmetic.FindStringSubmatch(name); m != nil {
		f, e := formats[m[1]], softfloat.Env{Mode: modes[m[3]]}
		switch m[2] {
		case "add":
			return func(w []uint64) []uint64 { return one(f.Add(w[0], w[1], e)) }
		case "sub":
			return func(w []uint64) []uint64 { return one(f.Sub(w[0], w[1], e)) }
		case "mul":
			return func(w []uint64) []uint64 { return one(f.Mul(w[0], w[1], e)) }
		case "div":
			return func(w []uint64) []uint64 { return one(f.Div(w[0], w[1], e)) }
		case "rcp":
			return func(w []uint64) []uint64 { return one(f.Rcp(w[0], e)) }
		}
		return func(w []uint64) []uint64 { return one(f.Sqrt(w[0], e)) }
	}
	if m := fused.FindStringSubmatch(name); m != nil {
		f := softfloat.F64
		if m[1] != "" {
			f = softfloat.F32
		}
		return func(w []uint64) []uint64 { return one(f.Fma(w[0], w[1], w[2], softfloat.Env{Mode: modes[m[2]]})) }
	}
	if m := conversion.FindStringSubmatch(name); m != nil {
		from, to, e := formats[m[1]], formats[m[2]], softfloat.Env{Mode: modes[m[3]]}
		switch {
		case from != nil && to != nil:
			return func(w []uint64) []uint64 { return one(from.Convert(to, w[0], e)) }
		case from != nil:
			return func(w []uint64) []uint64 { return one(from.ToInt(w[0], integers[m[2]], e)) }
		}
		t := integers[m[1]]
		return func(w []uint64) []uint64 { return one(to.FromInt(w[0], t.Width, t.Signed, e)) }
	}
	return named[name]
}

// d and f make references of functions of Go.
func d(fn func(x float64) float64) reference {
	return func(w []uint64) []uint64 { return one(math.Float64bits(fn(math.Float64frombits(w[0])))) }
}

func f(fn func(x float64) float64) reference {
	return func(w []uint64) []uint64 { return one(uint64(math.Float32bits(float32(fn(single(w[0])))))) }
}

func single(w uint64) float64 { return float64(math.Float32frombits(uint32(w))) }

func truth(b bool) []uint64 {
	if b {
		return []uint64{1}
	}
	return []uint64{0}
}

func i32(v int32) []uint64 { return []uint64{uint64(uint32(v))} }

func ints(fn func(a, b int32) int32) reference {
	return func(w []uint64) []uint64 { return i32(fn(int32(w[0]), int32(w[1]))) }
}

func uints(fn func(a, b uint32) uint32) reference {
	return func(w []uint64) []uint64 { return one(uint64(fn(uint32(w[0]), uint32(w[1])))) }
}

// toLong is cvt to 64 bits of a rounded number.
func toLong(f *softfloat.Format, mode softfloat.Mode) reference {
	return func(w []uint64) []uint64 { return one(f.ToInt(w[0], integers["ll"], softfloat.Env{Mode: mode})) }
}

func single32(x float64) uint64 { return uint64(math.Float32bits(float32(x))) }

// named are the rest.
var named = map[string]reference{
	"fma":   func(w []uint64) []uint64 { return one(softfloat.F64.Fma(w[0], w[1], w[2], softfloat.Env{})) },
	"fmaf":  func(w []uint64) []uint64 { return one(softfloat.F32.Fma(w[0], w[1], w[2], softfloat.Env{})) },
	"sqrt":  func(w []uint64) []uint64 { return one(softfloat.F64.Sqrt(w[0], softfloat.Env{})) },
	"sqrtf": func(w []uint64) []uint64 { return one(softfloat.F32.Sqrt(w[0], softfloat.Env{})) },
	"fmin":  func(w []uint64) []uint64 { return one(softfloat.F64.Min(w[0], w[1], softfloat.MinMax{})) },
	"fminf": func(w []uint64) []uint64 { return one(softfloat.F32.Min(w[0], w[1], softfloat.MinMax{})) },
	"fmax":  func(w []uint64) []uint64 { return one(softfloat.F64.Max(w[0], w[1], softfloat.MinMax{})) },
	"fmaxf": func(w []uint64) []uint64 { return one(softfloat.F32.Max(w[0], w[1], softfloat.MinMax{})) },
	"saturatef": func(w []uint64) []uint64 {
		return one(softfloat.F32.Convert(softfloat.F32, w[0], softfloat.Env{Sat: true}))
	},
	"frsqrt_rn": f(func(x float64) float64 { return 1 / math.Sqrt(x) }),

	"fabs": d(math.Abs), "ceil": d(math.Ceil), "floor": d(math.Floor), "trunc": d(math.Trunc), "rint": d(math.RoundToEven), "nearbyint": d(math.RoundToEven),
	"fabsf": f(math.Abs), "ceilf": f(math.Ceil), "floorf": f(math.Floor), "truncf": f(math.Trunc), "rintf": f(math.RoundToEven), "nearbyintf": f(math.RoundToEven),
	"copysign":  func(w []uint64) []uint64 { return one(w[0]&^(1<<63) | w[1]&(1<<63)) },
	"copysignf": func(w []uint64) []uint64 { return one(w[0]&^(1<<31) | w[1]&(1<<31)) },
	"nextafter": func(w []uint64) []uint64 {
		if math.Float64frombits(w[0]) == math.Float64frombits(w[1]) {
			return one(w[1]) // C's, which may be another zero than the first
		}
		return one(math.Float64bits(math.Nextafter(math.Float64frombits(w[0]), math.Float64frombits(w[1]))))
	},
	"nextafterf": func(w []uint64) []uint64 {
		if single(w[0]) == single(w[1]) {
			return one(w[1])
		}
		return one(uint64(math.Float32bits(math.Nextafter32(math.Float32frombits(uint32(w[0])), math.Float32frombits(uint32(w[1]))))))
	},
	"float2half_rn": func(w []uint64) []uint64 { return one(softfloat.F32.Convert(softfloat.F16, w[0], softfloat.Env{})) },
	"half2float":    func(w []uint64) []uint64 { return one(softfloat.F16.Convert(softfloat.F32, w[0], softfloat.Env{})) },

	"isnand":    func(w []uint64) []uint64 { return truth(softfloat.F64.IsNaN(w[0])) },
	"isnanf":    func(w []uint64) []uint64 { return truth(softfloat.F32.IsNaN(w[0])) },
	"isinfd":    func(w []uint64) []uint64 { return truth(softfloat.F64.IsInf(w[0])) },
	"isinff":    func(w []uint64) []uint64 { return truth(softfloat.F32.IsInf(w[0])) },
	"isfinited": func(w []uint64) []uint64 { return truth(!softfloat.F64.IsInf(w[0]) && !softfloat.F64.IsNaN(w[0])) },
	"finitef":   func(w []uint64) []uint64 { return truth(!softfloat.F32.IsInf(w[0]) && !softfloat.F32.IsNaN(w[0])) },
	"signbitd":  func(w []uint64) []uint64 { return one(w[0] >> 63) },
	"signbitf":  func(w []uint64) []uint64 { return one(w[0] >> 31) },

	"float_as_int": same, "float_as_uint": same, "int_as_float": same, "uint_as_float": same, "double_as_longlong": same, "longlong_as_double": same,
	"double2hiint":   func(w []uint64) []uint64 { return one(w[0] >> 32) },
	"double2loint":   func(w []uint64) []uint64 { return one(w[0] & 0xffffffff) },
	"hiloint2double": func(w []uint64) []uint64 { return one(w[0]<<32 | w[1]) },
	"llrint":         toLong(softfloat.F64, softfloat.RN),
	"llrintf":        toLong(softfloat.F32, softfloat.RN),
	"llround":        func(w []uint64) []uint64 { return llround(math.Float64frombits(w[0])) },
	"llroundf":       func(w []uint64) []uint64 { return llround(single(w[0])) },
	"ilogb":          func(w []uint64) []uint64 { return ilogb(math.Float64frombits(w[0])) },
	"ilogbf":         func(w []uint64) []uint64 { return ilogb(single(w[0])) },
	"scalbn": func(w []uint64) []uint64 {
		return one(math.Float64bits(math.Ldexp(math.Float64frombits(w[0]), int(int32(w[1])))))
	},
	"scalbnf":  func(w []uint64) []uint64 { return one(single32(math.Ldexp(single(w[0]), int(int32(w[1]))))) },
	"frexp":    frexp(math.Float64frombits, math.Float64bits),
	"frexpf":   frexp(single, single32),
	"modf":     modf(math.Float64frombits, math.Float64bits),
	"modff":    modf(single, single32),
	"remquo":   remquo(math.Float64frombits, math.Float64bits),
	"remquof":  remquo(single, single32),
	"nan":      func(w []uint64) []uint64 { return one(0x7ff8000000000000 | tag(w[0])) },
	"nanf":     func(w []uint64) []uint64 { return one(0x7fc00000 | tag(w[0])) },
	"abs":      func(w []uint64) []uint64 { return i32(max(int32(w[0]), -int32(w[0]))) },
	"llabs":    func(w []uint64) []uint64 { return one(uint64(max(int64(w[0]), -int64(w[0])))) },
	"min":      ints(func(a, b int32) int32 { return min(a, b) }),
	"max":      ints(func(a, b int32) int32 { return max(a, b) }),
	"umin":     uints(func(a, b uint32) uint32 { return min(a, b) }),
	"umax":     uints(func(a, b uint32) uint32 { return max(a, b) }),
	"llmin":    func(w []uint64) []uint64 { return one(uint64(min(int64(w[0]), int64(w[1])))) },
	"llmax":    func(w []uint64) []uint64 { return one(uint64(max(int64(w[0]), int64(w[1])))) },
	"ullmin":   func(w []uint64) []uint64 { return one(min(w[0], w[1])) },
	"ullmax":   func(w []uint64) []uint64 { return one(max(w[0], w[1])) },
	"mulhi":    ints(func(a, b int32) int32 { return int32(int64(a) * int64(b) >> 32) }),
	"umulhi":   uints(func(a, b uint32) uint32 { return uint32(uint64(a) * uint64(b) >> 32) }),
	"mul64hi":  func(w []uint64) []uint64 { return one(mul64hi(int64(w[0]), int64(w[1]))) },
	"umul64hi": func(w []uint64) []uint64 { hi, _ := bits.Mul64(w[0], w[1]); return one(hi) },
	"mul24":    ints(func(a, b int32) int32 { return int32(int64(a<<8>>8) * int64(b<<8>>8)) }),
	"umul24":   uints(func(a, b uint32) uint32 { return uint32(uint64(a<<8>>8) * uint64(b<<8>>8)) }),
	"sad": func(w []uint64) []uint64 {
		return one(uint64(uint32(distance(int64(int32(w[0])), int64(int32(w[1]))) + w[2])))
	},
	"usad":      func(w []uint64) []uint64 { return one(uint64(uint32(distance(int64(w[0]), int64(w[1])) + w[2]))) },
	"hadd":      ints(func(a, b int32) int32 { return int32((int64(a) + int64(b)) >> 1) }),
	"rhadd":     ints(func(a, b int32) int32 { return int32((int64(a) + int64(b) + 1) >> 1) }),
	"uhadd":     uints(func(a, b uint32) uint32 { return uint32((uint64(a) + uint64(b)) >> 1) }),
	"urhadd":    uints(func(a, b uint32) uint32 { return uint32((uint64(a) + uint64(b) + 1) >> 1) }),
	"clz":       func(w []uint64) []uint64 { return one(uint64(bits.LeadingZeros32(uint32(w[0])))) },
	"clzll":     func(w []uint64) []uint64 { return one(uint64(bits.LeadingZeros64(w[0]))) },
	"ffs":       func(w []uint64) []uint64 { return one(uint64((bits.TrailingZeros32(uint32(w[0])) + 1) % 33)) },
	"ffsll":     func(w []uint64) []uint64 { return one(uint64((bits.TrailingZeros64(w[0]) + 1) % 65)) },
	"popc":      func(w []uint64) []uint64 { return one(uint64(bits.OnesCount32(uint32(w[0])))) },
	"popcll":    func(w []uint64) []uint64 { return one(uint64(bits.OnesCount64(w[0]))) },
	"brev":      func(w []uint64) []uint64 { return one(uint64(bits.Reverse32(uint32(w[0])))) },
	"brevll":    func(w []uint64) []uint64 { return one(bits.Reverse64(w[0])) },
	"byte_perm": func(w []uint64) []uint64 { return one(permuted(w[0]|w[1]<<32, uint32(w[2]))) },
}

func same(w []uint64) []uint64 { return one(w[0]) }

func distance(a, b int64) uint64 { return uint64(max(a-b, b-a)) }

func mul64hi(a, b int64) uint64 {
	p := new(big.Int).Mul(big.NewInt(a), big.NewInt(b))
	return uint64(p.Rsh(p, 64).Int64())
}

// permuted is prmt.b32 in its default mode: the top bit of a selector spreads the byte's sign.
func permuted(bytes uint64, by uint32) uint64 {
	var r uint64
	for i := range 4 {
		v := bytes >> (8 * (by >> (4 * i) & 7)) & 0xff // the fourth bit of a selector has no meaning here
		r |= v << (8 * i)
	}
	return r
}

func llround(x float64) []uint64 {
	return one(softfloat.F64.ToInt(math.Float64bits(math.Round(x)), integers["ll"], softfloat.Env{Mode: softfloat.RZ}))
}

func ilogb(x float64) []uint64 {
	switch {
	case x == 0 || math.IsNaN(x):
		return one(1 << 31)
	case math.IsInf(x, 0):
		return one(1<<31 - 1)
	}
	return i32(int32(math.Ilogb(x)))
}

// frexp, modf and remquo are for numbers of both precisions: how a word is read and written.
func frexp(read func(uint64) float64, write func(float64) uint64) reference {
	return func(w []uint64) []uint64 {
		m, e := math.Frexp(read(w[0]))
		return []uint64{write(m), uint64(uint32(int32(e)))}
	}
}

func modf(read func(uint64) float64, write func(float64) uint64) reference {
	return func(w []uint64) []uint64 {
		x := read(w[0])
		if math.IsInf(x, 0) {
			return []uint64{write(math.Copysign(0, x)), write(x)}
		}
		whole, part := math.Modf(x)
		return []uint64{write(math.Copysign(part, x)), write(math.Copysign(whole, x))}
	}
}

func remquo(read func(uint64) float64, write func(float64) uint64) reference {
	return func(w []uint64) []uint64 {
		x, y := read(w[0]), read(w[1])
		r := math.Remainder(x, y)
		if math.IsNaN(r) || math.IsInf(y, 0) {
			return []uint64{write(r), 0}
		}
		// The last bits of the integer nearest to x/y, which is (x-r)/y exactly.
		q := new(big.Rat).SetFloat64(x)
		q.Sub(q, new(big.Rat).SetFloat64(r))
		q.Quo(q, new(big.Rat).SetFloat64(y))
		last := int32(new(big.Int).And(new(big.Int).Abs(q.Num()), big.NewInt(7)).Int64())
		if math.Signbit(x) != math.Signbit(y) {
			last = -last
		}
		return []uint64{write(r), uint64(uint32(last))}
	}
}

// tag is what the texts of inputs mean to nan.
func tag(w uint64) uint64 {
	var b strings.Builder
	for ; w&0xff != 0; w >>= 8 {
		b.WriteByte(byte(w))
	}
	return map[string]uint64{"1": 1, "077": 63, "0x7f": 0x7f, "0XAb": 0xab}[b.String()]
}
