package devicemath

import "math"

// approximation is what a fast function gives, and how far from it a result may be. Where tol is infinite nothing is stated.
type approximation func(x, y float64) (want, tol float64)

// units are n units of the last place of a single precision number.
func units(want, n float64) float64 {
	_, e := math.Frexp(want)
	return n * math.Ldexp(1, max(e, -125)-24)
}

// inNormal is a bound in units where argument and result are normal numbers, and none elsewhere: what flushes subnormals is up
// to the device.
func inNormal(x, want, n float64) float64 {
	if a := math.Abs(want); !(a > 0x1p-126 && a < 0x1p127) || !(math.Abs(x) > 0x1p-126 && math.Abs(x) < 0x1p127) {
		return math.Inf(1)
	}
	return units(want, n)
}

// logarithm has an absolute bound near 1.
func logarithm(fn func(float64) float64, absolute, n float64) approximation {
	return func(x, _ float64) (float64, float64) {
		want := fn(x)
		if x >= 0.5 && x <= 2 {
			return want, absolute
		}
		return want, inNormal(x, want, n)
	}
}

// angle has an absolute bound in the first turn.
func angle(fn func(float64) float64, absolute float64) approximation {
	return func(x, _ float64) (float64, float64) {
		if math.Abs(x) > math.Pi {
			return 0, math.Inf(1)
		}
		return fn(x), absolute
	}
}

// approximations are the stated errors of the fast functions, by name (CUDA C++ Programming Guide, "Intrinsic Functions"; PTX
// ISA for rsqrt, tanh and rcp).
var approximations = map[string]approximation{
	"rsqrtf": func(x, _ float64) (float64, float64) { want := 1 / math.Sqrt(x); return want, inNormal(x, want, 2) },
	"rcp64h": func(x, _ float64) (float64, float64) {
		want := 1 / x
		if a := math.Abs(want); !(a > 0x1p-1000 && a < 0x1p1000) {
			return want, math.Inf(1)
		}
		return want, math.Abs(want) * 0x1p-19
	},
	"fast_sinf":   angle(math.Sin, math.Exp2(-21.41)),
	"fast_cosf":   angle(math.Cos, math.Exp2(-21.19)),
	"fast_logf":   logarithm(math.Log, math.Exp2(-21.41), 3),
	"fast_log2f":  logarithm(math.Log2, 0x1p-22, 2),
	"fast_log10f": logarithm(math.Log10, 0x1p-24, 3),
	"fast_expf": func(x, _ float64) (float64, float64) {
		want := math.Exp(x)
		return want, inNormal(x, want, 2+math.Floor(math.Abs(1.173*x)))
	},
	"fast_exp10f": func(x, _ float64) (float64, float64) {
		want := math.Pow(10, x)
		return want, inNormal(x, want, 2+math.Floor(math.Abs(2.97*x)))
	},
	"fast_fdividef": func(x, y float64) (float64, float64) {
		want := x / y
		if a := math.Abs(y); !(a >= 0x1p-126 && a <= 0x1p126) {
			return want, math.Inf(1)
		}
		return want, inNormal(x, want, 2)
	},
	"fast_tanf": func(x, _ float64) (float64, float64) {
		if math.Abs(x) > 1.5 {
			return 0, math.Inf(1)
		}
		want := math.Tan(x)
		return want, (1 + math.Abs(want)) / math.Cos(x) * 0x1p-20
	},
	"fast_powf": func(x, y float64) (float64, float64) {
		want := math.Pow(x, y)
		if x < 0 || math.IsNaN(y*math.Log2(x)) { // 0^0 and the like have no logarithm
			return want, math.Inf(1)
		}
		return want, inNormal(x, want, 4) + math.Abs(want*y)*(math.Abs(math.Log2(x))*0x1p-22+0x1p-21)
	},
	"fast_tanhf": func(x, _ float64) (float64, float64) {
		want := math.Tanh(x)
		return want, math.Abs(want)*math.Exp2(-10.9) + 0x1p-126
	},
}
