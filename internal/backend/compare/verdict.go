package compare

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"kudzu/internal/backend/tap"
	"kudzu/internal/dump"
)

// Outcomes of a comparison.
const (
	Same      = "same"
	Explained = "explained" // different for a reason that docs/numerics.md has, and within its bound
	Different = "different"
	Skipped   = "skipped"
	Ran       = "ran" // the last line of a program: how many launches there were
)

// judge says what differences mean.
func judge(all []tap.Delta, t traits, count counts) (outcome, why string) {
	switch {
	case len(all) == 0:
		return Same, ""
	case t.clock:
		return Explained, "the kernel asks for the time or its processor"
	case t.stores.f64 && nans(all):
		return Explained, "payloads of f64 NaNs"
	case t.atomics && permuted(all):
		return Explained, "the order of atomics: the same words in other places"
	}
	if !t.matrix && !t.sums && !(t.waits && t.floats) {
		return Different, ""
	}
	reason := "the order of sums in matrix products"
	if !t.matrix {
		reason = "the order of floating-point sums among threads"
	}
	far := ""
	for _, f := range formats {
		if !f.of(t.stores) {
			continue
		}
		worst, ok := f.worst(all, max(f.bound, t.rounded()), count)
		if ok {
			return Explained, fmt.Sprintf("%s: within 2^%.1f of the largest %s", reason, math.Log2(worst), f.name)
		}
		far += fmt.Sprintf(", 2^%.1f as %s", math.Log2(worst), f.name)
	}
	return Different, reason + " does not explain it" + far
}

// rounded is the bound where a kernel rounds to 16 bits on its way, for which two sums a bit apart may fall on different sides.
func (t traits) rounded() float64 {
	switch {
	case t.bf16:
		return 0x1p-6
	case t.f16:
		return 0x1p-9
	}
	return 0
}

// format is a way to read memory as floats.
type format struct {
	name  string
	size  int
	bound float64 // of the difference, in parts of the largest value
	unit  float64 // most that rounding to the format takes off a value, in parts of it
	of    func(kinds) bool
	value func([]byte) float64
}

var formats = []format{
	{"f64", 8, 0x1p-40, 0x1p-53, func(k kinds) bool { return k.f64 }, func(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }},
	{"f32", 4, 0x1p-14, 0x1p-24, func(k kinds) bool { return k.f32 }, func(b []byte) float64 { return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))) }},
	{"f16", 2, 0x1p-8, 0x1p-11, func(k kinds) bool { return k.f16 }, func(b []byte) float64 { return dump.Half(binary.LittleEndian.Uint16(b)) }},
	{"bf16", 2, 0x1p-6, 0x1p-8, func(k kinds) bool { return k.bf16 }, func(b []byte) float64 {
		return float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(b)) << 16))
	}},
}

// worst is the largest difference in parts of the largest value that differs in its region, +Inf if it makes no sense to read memory so,
// and whether all are within the bound, or within what the atomics at their address explain.
func (f *format) worst(all []tap.Delta, bound float64, count counts) (worst float64, ok bool) {
	largest := map[int]float64{}
	each := func(see func(d *tap.Delta, at int, a, b float64)) {
		for i := range all {
			d := &all[i]
			for at := 0; at+f.size <= len(d.Device); at += f.size {
				if a, b := f.value(d.Device[at:]), f.value(d.Reference[at:]); a != b && !(math.IsNaN(a) && math.IsNaN(b)) {
					see(d, at, a, b) // what does not differ may not even be of this format
				}
			}
		}
	}
	for i := range all {
		if !sameRest(&all[i], f.size) {
			return math.Inf(1), false
		}
	}
	each(func(d *tap.Delta, _ int, a, b float64) {
		if math.IsNaN(a-b) || math.IsInf(a-b, 0) {
			worst = math.Inf(1)
		}
		largest[d.At.Region] = max(largest[d.At.Region], math.Abs(a), math.Abs(b))
	})
	if worst > 0 {
		return worst, false
	}
	ok = true
	each(func(d *tap.Delta, at int, a, b float64) {
		off := math.Abs(a-b) / largest[d.At.Region]
		worst = max(worst, off)
		ok = ok && (off <= bound || off <= f.summed(count, d, at))
	})
	return worst, ok
}

// nans says that wherever the two differ both have an f64 that is no number.
func nans(all []tap.Delta) bool {
	for i := range all {
		d := &all[i]
		for at := 0; at+8 <= len(d.Device); at += 8 {
			a, b := binary.LittleEndian.Uint64(d.Device[at:]), binary.LittleEndian.Uint64(d.Reference[at:])
			if a != b && !(math.IsNaN(math.Float64frombits(a)) && math.IsNaN(math.Float64frombits(b))) {
				return false
			}
		}
		if !sameRest(d, 8) {
			return false
		}
	}
	return true
}

// sameRest says that the two do not differ behind the last whole word of so many bytes.
func sameRest(d *tap.Delta, size int) bool {
	rest := len(d.Device) / size * size
	return bytes.Equal(d.Device[rest:], d.Reference[rest:])
}

// permuted says that in each region both have the same words of 32 or 64 bits, in another order.
func permuted(all []tap.Delta) bool {
	word := func(size int) bool {
		device, reference := map[int][]uint64{}, map[int][]uint64{}
		for i := range all {
			d := &all[i]
			if !sameRest(d, size) {
				return false
			}
			r := d.At.Region
			for at := 0; at+size <= len(d.Device); at += size {
				device[r] = append(device[r], load(d.Device[at:at+size]))
				reference[r] = append(reference[r], load(d.Reference[at:at+size]))
			}
		}
		for r := range device {
			slices.Sort(device[r])
			slices.Sort(reference[r])
			if !slices.Equal(device[r], reference[r]) {
				return false
			}
		}
		return true
	}
	return word(8) || word(4)
}

func load(b []byte) uint64 {
	if len(b) == 8 {
		return binary.LittleEndian.Uint64(b)
	}
	return uint64(binary.LittleEndian.Uint32(b))
}
