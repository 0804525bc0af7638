package testkit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Type is an element type of a buffer or a scalar argument.
type Type uint8

// The types, spelled as in PTX. Half types are given and shown as bits.
const (
	U8 Type = iota + 1
	U16
	U32
	U64
	S8
	S16
	S32
	S64
	F32
	F64
	B16
	B32
	B64
)

type typeRow struct {
	name   string
	size   int
	signed bool
	float  bool
}

var typeRows = [...]typeRow{
	U8: {"u8", 1, false, false}, U16: {"u16", 2, false, false}, U32: {"u32", 4, false, false}, U64: {"u64", 8, false, false},
	S8: {"s8", 1, true, false}, S16: {"s16", 2, true, false}, S32: {"s32", 4, true, false}, S64: {"s64", 8, true, false},
	F32: {"f32", 4, false, true}, F64: {"f64", 8, false, true}, B16: {"b16", 2, false, false}, B32: {"b32", 4, false, false}, B64: {"b64", 8, false, false},
}

// ParseType reads a type's name.
func ParseType(s string) (Type, error) {
	for t := U8; int(t) < len(typeRows); t++ {
		if typeRows[t].name == s {
			return t, nil
		}
	}
	return 0, fmt.Errorf("type %q", s)
}

// Size is bytes per element.
func (t Type) Size() int { return typeRows[t].size }

// String is the type's name.
func (t Type) String() string { return typeRows[t].name }

// maxValues bounds what a generator may make.
const maxValues = 1 << 22

// Values reads numbers or a generator; the results are bits, zero-extended.
func Values(s string, t Type) ([]uint64, error) {
	f := strings.Fields(s)
	if len(f) == 0 {
		return nil, fmt.Errorf("no values")
	}
	switch f[0] {
	case "seq", "const", "rand":
		return generate(f, t)
	case "edges":
		return edges(t), nil
	case "edgesA", "edgesB":
		return product(edges(t), f[0] == "edgesA"), nil
	}
	out := make([]uint64, 0, len(f))
	for _, w := range f {
		v, err := parseValue(w, t)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

func generate(f []string, t Type) ([]uint64, error) {
	nums := make([]int, 0, 2)
	for _, w := range f[1:] {
		n, err := strconv.Atoi(w)
		if err != nil {
			return nil, fmt.Errorf("generator %q", strings.Join(f, " "))
		}
		nums = append(nums, n)
	}
	want := map[string]int{"seq": 1, "const": 2, "rand": 2}[f[0]]
	if len(nums) != want {
		return nil, fmt.Errorf("generator %q takes %d numbers", f[0], want)
	}
	count := nums[0]
	if f[0] == "const" {
		count = nums[1]
	}
	if count <= 0 || count > maxValues {
		return nil, fmt.Errorf("%d values", count)
	}
	out := make([]uint64, count)
	rng := rand.New(rand.NewPCG(uint64(nums[len(nums)-1]), 0x6b75647a75))
	for i := range out {
		switch f[0] {
		case "seq":
			out[i] = fromInt(int64(i), t)
		case "const":
			out[i] = fromInt(int64(nums[0]), t)
		case "rand":
			out[i] = rng.Uint64() & t.mask()
		}
	}
	return out, nil
}

func (t Type) mask() uint64 { return ^uint64(0) >> (64 - 8*t.Size()) }

func fromInt(n int64, t Type) uint64 {
	switch t {
	case F32:
		return uint64(math.Float32bits(float32(n)))
	case F64:
		return math.Float64bits(float64(n))
	}
	return uint64(n) & t.mask()
}

func parseValue(w string, t Type) (uint64, error) {
	if strings.HasPrefix(w, "0x") {
		v, err := strconv.ParseUint(w[2:], 16, 64)
		if err == nil && v&^t.mask() != 0 {
			err = fmt.Errorf("value %s does not fit %s", w, t)
		}
		return v, err
	}
	switch {
	case t == F32:
		v, err := strconv.ParseFloat(w, 32)
		return uint64(math.Float32bits(float32(v))), err
	case t == F64:
		v, err := strconv.ParseFloat(w, 64)
		return math.Float64bits(v), err
	case strings.HasPrefix(w, "-"):
		v, err := strconv.ParseInt(w, 10, 64)
		return uint64(v) & t.mask(), err
	}
	v, err := strconv.ParseUint(w, 10, 64)
	if err == nil && v&^t.mask() != 0 {
		err = fmt.Errorf("value %s does not fit %s", w, t)
	}
	return v, err
}

// edges are the values where arithmetic of the type goes wrong first.
func edges(t Type) []uint64 {
	switch t {
	case F32:
		return []uint64{0, 0x80000000, 0x3f800000, 0xbf800000, 0x3f000000, 0x40490fdb, 0x00000001, 0x807fffff, 0x00800000, 0x7f7fffff, 0xff7fffff,
			0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0xffc12345, 0x4b800001, 0x3f800001, 0xcf000000, 0x4f800000, 0x3effffff, 0x33800000}
	case F64:
		return []uint64{0, 1 << 63, 0x3ff0000000000000, 0xbff0000000000000, 0x3fe0000000000000, 0x400921fb54442d18, 1, 0x800fffffffffffff,
			0x0010000000000000, 0x7fefffffffffffff, 0xffefffffffffffff, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000,
			0x7ff0000000000001, 0xfff8000000012345, 0x4330000000000001, 0x3ff0000000000001, 0xc3e0000000000000, 0x43f0000000000000, 0x3ca0000000000000}
	}
	n := 8 * t.Size()
	m := t.mask()
	top := uint64(1) << (n - 1)
	out := []uint64{0, 1, 2, 3, 7, 8, 31, 32, 33, 63, 64, m, m - 1, top, top - 1, top + 1, 0x5555555555555555 & m, 0x123456789abcdef0 & m, 0xfedcba9876543210 & m}
	return out
}

// product is one side of all pairs.
func product(v []uint64, first bool) []uint64 {
	out := make([]uint64, 0, len(v)*len(v))
	for _, a := range v {
		for _, b := range v {
			if first {
				out = append(out, a)
			} else {
				out = append(out, b)
			}
		}
	}
	return out
}

// allows reports whether got is within either bound of want. NaNs are near each other and nothing else.
func (n Tolerance) allows(t Type, got, want uint64) bool {
	if n == (Tolerance{}) {
		return false
	}
	a, b := toFloat(t, got), toFloat(t, want)
	if math.IsNaN(a) || math.IsNaN(b) {
		return math.IsNaN(a) && math.IsNaN(b)
	}
	return math.Abs(a-b) <= n.Abs || UlpDistance(t, got, want) <= n.Ulp
}

func toFloat(t Type, v uint64) float64 {
	if t == F32 {
		return float64(math.Float32frombits(uint32(v)))
	}
	return math.Float64frombits(v)
}

// UlpDistance is how many representable numbers lie between two floats that are not NaN.
func UlpDistance(t Type, a, b uint64) float64 {
	sign := uint64(1) << (8*t.Size() - 1)
	order := func(v uint64) float64 {
		if v&sign != 0 {
			return -float64(v &^ sign)
		}
		return float64(v)
	}
	return math.Abs(order(a) - order(b))
}
