package interp

import (
	"math"

	"kudzu/internal/backend"
)

// faceOf is the face of a cube that a direction meets, and where: s and t from -1 to 1. The axes count from the last where two
// are equally long.
func faceOf(d [3]float32) (face int, s, t float32) {
	ax, ay, az := abs32(d[0]), abs32(d[1]), abs32(d[2])
	axis := 0
	switch {
	case az >= ax && az >= ay:
		axis = 2
	case ay >= ax:
		axis = 1
	}
	face = 2 * axis
	if math.Signbit(float64(d[axis])) {
		face++
	}
	x, y, z := d[0], d[1], d[2]
	m := abs32(d[axis])
	switch face {
	case 0:
		s, t = -z, -y
	case 1:
		s, t = z, -y
	case 2:
		s, t = x, z
	case 3:
		s, t = x, -z
	case 4:
		s, t = x, -y
	default:
		s, t = -x, -y
	}
	return face, s / m, t / m
}

func abs32(x float32) float32 { return math.Float32frombits(math.Float32bits(x) &^ (1 << 31)) }

// direction is the way back: the direction of a place on a face.
func direction(face int, s, t float32) [3]float32 {
	switch face {
	case 0:
		return [3]float32{1, -t, -s}
	case 1:
		return [3]float32{-1, -t, s}
	case 2:
		return [3]float32{s, 1, t}
	case 3:
		return [3]float32{s, -1, -t}
	case 4:
		return [3]float32{s, -t, 1}
	}
	return [3]float32{-s, -t, -1}
}

// cubeSpot is the place of a direction on its face, in 1/256 texels from the first texel's centre, or the texel's index × 256.
func (x *texture) cubeSpot(words []uint32, n uint32, linear bool) (face int, at [2]int64) {
	var d [3]float32
	for i := range d {
		d[i] = math.Float32frombits(words[i])
	}
	face, s, t := faceOf(d)
	k := unitBits(n)
	for i, c := range [2]float32{s, t} {
		u := float64(c)*0.5 + 0.5
		if u != u { // no direction at all
			u = 0.5
		}
		q := int64(math.Floor(math.Ldexp(min(max(u, 0), 1), k)))
		if linear {
			at[i] = (q*int64(n)+1<<(k-9))>>(k-8) - 128
		} else {
			at[i] = address(q*int64(n)>>k, int64(n), x.o.Address[i]) << 8
		}
	}
	return face, at
}

// beyond is the texel of a seamless cube at (i, j) of a face, where one of them may lie just outside: then it is the nearest one of
// the neighbour. A corner has none.
func beyond(face int, i, j, n int64) (int, int64, int64, bool) {
	inside := func(c int64) bool { return c >= 0 && c < n }
	if inside(i) && inside(j) {
		return face, i, j, true
	}
	if !inside(i) && !inside(j) {
		return 0, 0, 0, false
	}
	place := func(c int64) float32 {
		switch {
		case c < 0:
			return -1 - 1.0/(1<<16)
		case c >= n:
			return 1 + 1.0/(1<<16)
		}
		return float32(2*c+1)/float32(n) - 1
	}
	other, s, t := faceOf(direction(face, place(i), place(j)))
	index := func(c float32) int64 {
		return min(max(int64(math.Floor((float64(c)*0.5+0.5)*float64(n))), 0), n-1)
	}
	return other, index(s), index(t), true
}

// cube is the texels of a cube's face, at its edges with those of its neighbours where the object wants that.
func (f *fetch) cube(x *texture, words []uint32, layer int64, l weighedLevel) slab {
	o := x.o
	n := o.Width[l.l]
	linear := x.filtered()
	face, at := x.cubeSpot(words, n, linear)
	first := x.cubeLayer(layer, l.l) * 6
	if !linear {
		return slab{{x.texel(l.l, at[0]>>8, at[1]>>8, first+int64(face)), l.w}}
	}
	if o.Seamless == 0 {
		mode := func(i int) texSpot {
			c := at[i]
			m := o.Address[i]
			if m == backend.AddressClamp {
				c = min(max(c, 0), int64(n-1)<<8)
			}
			return texSpot{[2]int64{address(c>>8, int64(n), m), address(c>>8+1, int64(n), m)}, c & 255}
		}
		return x.plane(l.l, mode(0), mode(1), first+int64(face), l.w)
	}
	w := split(l.w, at[0]&255, at[1]&255)
	var s slab
	corner := int64(0)
	for k := range w {
		fc, i, j, ok := beyond(face, at[0]>>8+int64(k&1), at[1]>>8+int64(k>>1), int64(n))
		if !ok {
			corner += w[k]
			continue
		}
		s = append(s, tap{x.texel(l.l, i, j, first+int64(fc)), w[k]})
	}
	for k := range s { // the three texels around a corner share the missing one's weight
		part := corner / int64(len(s)-k)
		s[k].w += part
		corner -= part
	}
	return s
}

func (x *texture) cubeLayer(layer int64, l int) int64 {
	return lastLayer(layer, int64(x.o.Depth[l])/6)
}

// cubeTexel is one texel of a gather from a cube.
func (f *fetch) cubeTexel(x *texture, words []uint32, layer int64, k int) uint64 {
	n := x.o.Width[0]
	face, at := x.cubeSpot(words, n, true)
	fc, i, j, ok := beyond(face, at[0]>>8+int64(k&1), at[1]>>8+int64(k>>1), int64(n))
	if !ok {
		fc, i, j = face, min(max(at[0]>>8+int64(k&1), 0), int64(n)-1), min(max(at[1]>>8+int64(k>>1), 0), int64(n)-1)
	}
	return x.texel(0, i, j, x.cubeLayer(layer, 0)*6+int64(fc))
}
