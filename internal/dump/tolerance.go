package dump

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Tolerance is how far two values may be apart, by type. It holds where memory, read as one of the types, is near enough.
type Tolerance []Bound

// Bound is that of one type.
type Bound struct {
	Type *Type
	Ulp  float64 // units in the last place; 0: none
	Rel  float64 // in parts of the larger value; 0: none
	Abs  float64
}

// Type is a way to read memory.
type Type struct {
	Name  string
	Size  int
	Float bool
	Value func(b []byte) float64
	order func(b []byte) int64 // consecutive numbers for consecutive values
	// normal is the smallest value that Ulp and Rel are for: smaller ones are as likely integers. 0: all are; programs do compute with
	// subnormal f16.
	normal float64
}

// Types are all of them: floats first.
var Types = []Type{
	{"f64", 8, true, func(b []byte) float64 { return math.Float64frombits(le(b)) }, func(b []byte) int64 { return ordered(le(b), 64) }, 0x1p-1022},
	{"f32", 4, true, func(b []byte) float64 { return float64(math.Float32frombits(uint32(le(b)))) }, func(b []byte) int64 { return ordered(le(b), 32) }, 0x1p-126},
	{"f16", 2, true, func(b []byte) float64 { return Half(uint16(le(b))) }, func(b []byte) int64 { return ordered(le(b), 16) }, 0},
	{"bf16", 2, true, func(b []byte) float64 { return float64(math.Float32frombits(uint32(le(b)) << 16)) }, func(b []byte) int64 { return ordered(le(b), 16) }, 0x1p-126},
	{"u64", 8, false, func(b []byte) float64 { return float64(le(b)) }, func(b []byte) int64 { return int64(le(b) ^ 1<<63) }, 0},
	{"s64", 8, false, func(b []byte) float64 { return float64(int64(le(b))) }, func(b []byte) int64 { return int64(le(b)) }, 0},
	{"u32", 4, false, func(b []byte) float64 { return float64(le(b)) }, func(b []byte) int64 { return int64(le(b)) }, 0},
	{"s32", 4, false, func(b []byte) float64 { return float64(int32(le(b))) }, func(b []byte) int64 { return int64(int32(le(b))) }, 0},
	{"u16", 2, false, func(b []byte) float64 { return float64(le(b)) }, func(b []byte) int64 { return int64(le(b)) }, 0},
	{"s16", 2, false, func(b []byte) float64 { return float64(int16(le(b))) }, func(b []byte) int64 { return int64(int16(le(b))) }, 0},
	{"u8", 1, false, func(b []byte) float64 { return float64(b[0]) }, func(b []byte) int64 { return int64(b[0]) }, 0},
	{"s8", 1, false, func(b []byte) float64 { return float64(int8(b[0])) }, func(b []byte) int64 { return int64(int8(b[0])) }, 0},
}

// TypeOf finds a type by name, nil if there is none.
func TypeOf(name string) *Type {
	for i := range Types {
		if Types[i].Name == name {
			return &Types[i]
		}
	}
	return nil
}

func le(b []byte) uint64 {
	switch len(b) {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	}
	return binary.LittleEndian.Uint64(b)
}

// ordered numbers the floats of so many bits in their order.
func ordered(x uint64, bits int) int64 {
	sign := uint64(1) << (bits - 1)
	if x&sign != 0 {
		return -int64(x &^ sign)
	}
	return int64(x)
}

// Half is the value of an f16.
func Half(h uint16) float64 {
	e, m := int(h>>10&31), float64(h&1023)
	v := math.Ldexp(1024+m, e-25)
	switch {
	case e == 31 && m != 0:
		return math.NaN()
	case e == 31:
		v = math.Inf(1)
	case e == 0:
		v = math.Ldexp(m, -24)
	}
	if h>>15 != 0 {
		return -v
	}
	return v
}

// Ulps is the distance of two values in units of the last place; +Inf between a number and none, and for integers their difference.
func (t *Type) Ulps(a, b []byte) float64 {
	if t.Float {
		switch xn, yn := math.IsNaN(t.Value(a)), math.IsNaN(t.Value(b)); {
		case xn && yn:
			return 0
		case xn || yn:
			return math.Inf(1)
		}
	}
	x, y := t.order(a), t.order(b) // of 64 bits: a float64 of either would lose the last ones
	return float64(uint64(max(x, y)) - uint64(min(x, y)))
}

// near reports two values within the bound. Floats that are no more than integers would be (subnormal) are held to Abs.
func (b *Bound) near(x, y []byte) bool {
	t := b.Type
	p, q := t.Value(x), t.Value(y)
	if t.Float && math.IsNaN(p) && math.IsNaN(q) {
		return true
	}
	off := math.Abs(p - q)
	if !t.Float {
		off = t.Ulps(x, y)
	}
	if math.IsNaN(off) || math.IsInf(off, 0) {
		return false
	}
	if b.Abs > 0 && off <= b.Abs || off == 0 {
		return true
	}
	large := max(math.Abs(p), math.Abs(q))
	if large < t.normal {
		return false
	}
	return b.Rel > 0 && off <= b.Rel*large || b.Ulp > 0 && t.Ulps(x, y) <= b.Ulp
}

// Within reports memory that differs by no more than the tolerance. Both begin at a multiple of 8 bytes.
func (t Tolerance) Within(a, b []byte) bool {
	for i := range t {
		if t[i].all(a, b) {
			return true
		}
	}
	return false
}

func (b *Bound) all(x, y []byte) bool {
	n := b.Type.Size
	for at := 0; at+n <= len(x); at += n {
		if p, q := x[at:at+n], y[at:at+n]; le(p) != le(q) && !b.near(p, q) {
			return false
		}
	}
	rest := len(x) / n * n
	return string(x[rest:]) == string(y[rest:])
}

// String is what ParseTolerance reads.
func (t Tolerance) String() string {
	var s []string
	for _, b := range t {
		for _, v := range []struct {
			of   float64
			unit string
		}{{b.Ulp, "ulp"}, {b.Rel, ""}, {b.Abs, "abs"}} {
			if v.of > 0 {
				s = append(s, fmt.Sprintf("%s=%g%s", b.Type.Name, v.of, v.unit))
			}
		}
	}
	return strings.Join(s, ",")
}

// ParseTolerance reads f32=4ulp,f16=1e-3,f64=1e-12abs: a type, and so many units in the last place, parts of the larger value, or as much.
func ParseTolerance(s string) (Tolerance, error) {
	var t Tolerance
	for _, part := range strings.Split(s, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		typ := TypeOf(name)
		if typ == nil {
			return nil, fmt.Errorf("%q: a tolerance is TYPE=LIMIT, as f32=4ulp, f64=1e-12 or f16=0.01abs", part)
		}
		b := Bound{Type: typ}
		to := &b.Rel
		if v, ok := strings.CutSuffix(value, "ulp"); ok {
			value, to = v, &b.Ulp
		} else if v, ok := strings.CutSuffix(value, "abs"); ok {
			value, to = v, &b.Abs
		}
		x, err := strconv.ParseFloat(value, 64)
		if err != nil || !(x >= 0) || math.IsInf(x, 0) {
			return nil, fmt.Errorf("%q: %q is no limit", part, value)
		}
		*to = x
		t = append(t, b)
	}
	return t, nil
}

// Tolerances are those of several kernels: the first whose expression fits the name counts.
type Tolerances []struct {
	Kernel *regexp.Regexp
	Tolerance
}

// Of is the tolerance of a kernel, nil if it has none.
func (t Tolerances) Of(kernel string) Tolerance {
	for i := range t {
		if t[i].Kernel.MatchString(kernel) {
			return t[i].Tolerance
		}
	}
	return nil
}

// ReadTolerances reads lines of a regular expression and a tolerance; # begins a comment.
func ReadTolerances(r io.Reader) (Tolerances, error) {
	var all Tolerances
	in := bufio.NewScanner(r)
	for n := 1; in.Scan(); n++ {
		line, _, _ := strings.Cut(in.Text(), "#")
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		if len(f) != 2 {
			return nil, fmt.Errorf("line %d: a line is an expression for kernels' names and a tolerance", n)
		}
		re, err := regexp.Compile(f[0])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		t, err := ParseTolerance(f[1])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		all = append(all, struct {
			Kernel *regexp.Regexp
			Tolerance
		}{re, t})
	}
	return all, in.Err()
}
