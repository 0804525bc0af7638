package interp

import (
	"math"

	"kudzu/internal/backend"
	"kudzu/internal/engine"
	"kudzu/internal/ptx"
	"kudzu/internal/softfloat"
)

const (
	formatU8  = backend.FormatU8
	formatU16 = backend.FormatU16
	formatU32 = backend.FormatU32
	formatS8  = backend.FormatS8
	formatS16 = backend.FormatS16
	formatS32 = backend.FormatS32
	formatF16 = backend.FormatF16
	formatF32 = backend.FormatF32
)

var formatSizes = [...]uint64{formatU8: 1, formatU16: 2, formatU32: 4, formatS8: 1, formatS16: 2, formatS32: 4, formatF16: 2, formatF32: 4}

// maxTexel bounds coordinates after scaling, in texels; a power of two, so that wrapping a coordinate beyond it gives 0.
const maxTexel = 1 << 36

// floorScaled is floor(x × 2^k + half), within bounds; not a number is 0.
func floorScaled(x float32, k int, half float64) int64 {
	v := math.Floor(math.Ldexp(float64(x), k) + half)
	limit := float64(int64(maxTexel))
	switch {
	case v != v:
		return 0
	case v > limit:
		return maxTexel
	case v < -limit:
		return -maxTexel
	}
	return int64(v)
}

// unitBits is how many bits of fraction a normalized coordinate keeps.
func unitBits(n uint32) int {
	k := 21
	for n > 1<<(k-8) {
		k++
	}
	return k
}

// side is one dimension of a level and how coordinates there are read.
type side struct {
	n          uint32
	mode       uint8
	normalized bool
	linear     bool
	gather     bool // both texels count, whatever the weight
}

// texSpot is where a coordinate lies: two texels and the weight of the second; offTexture is a texel of the border's colour.
type texSpot struct {
	at   [2]int64
	frac int64
}

const (
	offTexture = -1 // the border's
	nowhere    = -2 // no texel at all: zeros
)

// place finds the texels of a coordinate.
func (s *side) place(word uint32, integer bool, off int64) texSpot {
	n := int64(s.n)
	fixedPoint := int64(0) // in 1/256 texels
	switch {
	case integer: // an index; outside there is nothing
		i := int64(int32(word)) + off
		if i < 0 || i >= n {
			i = nowhere
		}
		return texSpot{at: [2]int64{i, i}}
	case s.normalized:
		x := math.Float32frombits(word)
		k := unitBits(s.n)
		q := floorScaled(x, k, 0)
		if s.linear {
			fixedPoint = (q*n+1<<(k-9))>>(k-8) - 128
		} else {
			fixedPoint = q * n >> k << 8
		}
	case s.linear:
		fixedPoint = floorScaled(math.Float32frombits(word), 8, 0.5) - 128
	default:
		fixedPoint = floorScaled(math.Float32frombits(word), 0, 0) << 8
	}
	fixedPoint += off << 8
	mode := s.mode
	if !s.normalized && (mode == backend.AddressWrap || mode == backend.AddressMirror) {
		mode = backend.AddressClamp
	}
	if mode == backend.AddressClamp && !s.gather {
		fixedPoint = min(max(fixedPoint, 0), (n-1)<<8)
	}
	i, frac := fixedPoint>>8, fixedPoint&255
	return texSpot{[2]int64{address(i, n, mode), address(i+1, n, mode)}, frac}
}

// address is the texel that index i names under a mode.
func address(i, n int64, mode uint8) int64 {
	switch mode {
	case backend.AddressWrap:
		if i %= n; i < 0 {
			i += n
		}
		return i
	case backend.AddressMirror:
		if i %= 2 * n; i < 0 {
			i += 2 * n
		}
		if i >= n {
			i = 2*n - 1 - i
		}
		return i
	case backend.AddressBorder:
		if i < 0 || i >= n {
			return offTexture
		}
		return i
	}
	return min(max(i, 0), n-1)
}

// tap is one texel of a filter. Without an address it has the border's colour.
type tap struct {
	addr uint64
	w    int64
}

// slab is the texels of one plane.
type slab []tap

// texture is an object on its way through one instruction.
type texture struct {
	t *thread
	o *engine.Texture
}

func (x *texture) elem() uint64 { return formatSizes[x.o.Format] * uint64(x.o.Channels) }

// texel is the address of a texel of a level, or 0 for the border.
func (x *texture) texel(l int, i, j, k int64) uint64 {
	if i == offTexture || j == offTexture || k == offTexture {
		return 0
	}
	return x.o.Base[l] + uint64(k)*x.o.Slice[l] + uint64(j)*x.o.Pitch[l] + uint64(i)*x.elem()
}

// plane adds the texels of a plane.
func (x *texture) plane(l int, u, v texSpot, k, weight int64) slab {
	w := split(weight, u.frac, v.frac)
	var s slab
	for n := range w {
		if w[n] != 0 {
			s = append(s, tap{x.texel(l, u.at[n&1], v.at[n>>1], k), w[n]})
		}
	}
	return s
}

// filtered reports that texels are mixed. Integers are, too, though no manual says so.
func (x *texture) filtered() bool { return x.o.Linear != 0 }

// integers reports that texels are integers to kernels.
func (x *texture) integers() bool {
	switch x.o.Format {
	case formatU32, formatS32:
		return true
	case formatF16, formatF32:
		return false
	}
	return x.o.Integers != 0
}

// raw reads one channel of a texel; the border gives its colour, converted to the format.
func (x *texture) raw(addr uint64, channel int) uint32 {
	if channel >= int(x.o.Channels) {
		return 0
	}
	if addr == 0 {
		return x.border(channel)
	}
	n := formatSizes[x.o.Format]
	return uint32(load(x.t.mem(ptx.SpaceGlobal, addr+uint64(channel)*n, n, 1)))
}

// border is the border's colour as a texel would have it.
func (x *texture) border(channel int) uint32 {
	c := x.o.Border[channel]
	scaled := func(one float64) uint32 { // half down
		v := float64(c)
		if v != v {
			return 0
		}
		return uint32(int32(math.Ceil(min(max(v, -1), 1)*one - 0.5)))
	}
	switch x.o.Format {
	case formatU8:
		if !x.integers() {
			return scaled(255) & 0xff
		}
	case formatU16:
		if !x.integers() {
			return scaled(65535) & 0xffff
		}
	case formatS8:
		if !x.integers() {
			return scaled(127) & 0xff
		}
	case formatS16:
		if !x.integers() {
			return scaled(32767) & 0xffff
		}
	case formatF16:
		return uint32(softfloat.F32.Convert(softfloat.F16, uint64(math.Float32bits(c)), softfloat.Env{}))
	case formatF32:
		return math.Float32bits(c)
	}
	return math.Float32bits(c) & uint32(mask(8*int(formatSizes[x.o.Format]))) // integers: the bits that fit
}

// signedRaw is a texel of an integer format as a number.
func (x *texture) signedRaw(v uint32) int64 {
	switch x.o.Format {
	case formatS8:
		return int64(int8(v))
	case formatS16:
		return int64(int16(v))
	case formatS32:
		return int64(int32(v))
	}
	return int64(v)
}

// value is one channel of the result of slabs: 32 bits, a float or an integer as the object says.
func (x *texture) value(slabs []slab, channel int) uint32 {
	if channel >= int(x.o.Channels) {
		return 0
	}
	if !x.filtered() && len(slabs) == 1 {
		return x.convert(x.raw(slabs[0][0].addr, channel), channel)
	}
	switch x.o.Format {
	case formatF32:
		return filterF32.filter(x.weigh(slabs, channel))
	case formatF16:
		return half32(filterF16.filter(x.weigh(slabs, channel)))
	}
	if x.isSRGB(channel) {
		return half32(srgbFilter(x.weigh(slabs, channel)))
	}
	sum := int64(0)
	for _, s := range slabs {
		for _, p := range s {
			sum += p.w * x.signedRaw(x.raw(p.addr, channel))
		}
	}
	switch {
	case x.o.Format == formatU32 || x.o.Format == formatS32:
		return uint32(sum >> 8)
	case x.integers():
		return uint32(round8(sum))
	}
	v, one := fixed(x.o.Format, sum)
	return math.Float32bits(float32(float64(v) / float64(one)))
}

func (x *texture) isSRGB(channel int) bool {
	if x.o.SRGB == 0 || x.o.Format != formatU8 {
		return false
	}
	return channel == 0 || x.o.Channels == 4 && channel < 3
}

func (x *texture) weigh(slabs []slab, channel int) [][]weighed {
	var all [][]weighed
	for _, s := range slabs {
		var list []weighed
		for _, p := range s {
			list = append(list, weighed{x.raw(p.addr, channel), p.w})
		}
		all = append(all, list)
	}
	return all
}

// half32 is a half as a float. What is not a number keeps its bits.
func half32(v uint32) uint32 {
	if v&0x7c00 == 0x7c00 {
		return v&0x8000<<16 | 0x7f800000 | v&0x3ff<<13
	}
	return uint32(softfloat.F16.Convert(softfloat.F32, uint64(v), softfloat.Env{}))
}

// convert is one texel that is not mixed with others.
func (x *texture) convert(v uint32, channel int) uint32 {
	if x.integers() {
		return uint32(x.signedRaw(v))
	}
	switch x.o.Format {
	case formatF32:
		return v
	case formatF16:
		return half32(v)
	case formatU8:
		if x.isSRGB(channel) {
			return half32(srgbHalf(v))
		}
		return fraction(int64(v), 255)
	case formatU16:
		return fraction(int64(v), 65535)
	case formatS8:
		return fraction(max(int64(int8(v)), -127), 127)
	}
	return fraction(max(int64(int16(v)), -32767), 32767)
}

func fraction(v int64, one float64) uint32 { return math.Float32bits(float32(float64(v) / one)) }
