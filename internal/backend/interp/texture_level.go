package interp

import (
	"math"

	"kudzu/internal/ptx/isa"
)

// levels chooses the levels of a mipmapped array: one, or two with weights.
func (f *fetch) levels(x *texture) []weighedLevel {
	o := x.o
	if o.Levels <= 1 {
		return []weighedLevel{{0, 256}}
	}
	fixedPoint := int64(0) // in 1/256 levels
	switch {
	case f.level == isa.ModLevel && f.integer: // the level itself
		if l := signed(f.lod.get(x.t), 32); l >= 0 && l < int64(o.Levels) {
			return []weighedLevel{{int(l), 256}}
		}
		return nil
	case f.level == isa.ModLevel:
		fixedPoint = eighths(math.Float32frombits(uint32(f.lod.get(x.t))))
	case f.level == isa.ModGrad:
		fixedPoint = f.gradient(x)
	}
	limit := int64(o.Levels-1) << 8
	if f.level == isa.ModLevel || f.level == isa.ModGrad { // else there is no level to change: no derivatives outside of graphics
		fixedPoint += eighths(o.Bias)
	}
	fixedPoint = max(fixedPoint, floorScaled(o.MinLevel, 8, 0))
	fixedPoint = min(fixedPoint, floorScaled(o.MaxLevel, 8, 0))
	fixedPoint = min(max(fixedPoint, 0), limit)
	if o.MipLinear == 0 {
		return []weighedLevel{{int((fixedPoint + 128) >> 8), 256}}
	}
	l, frac := int(fixedPoint>>8), fixedPoint&255
	if frac == 0 {
		return []weighedLevel{{l, 256}}
	}
	return []weighedLevel{{l, 256 - frac}, {l + 1, frac}}
}

// eighths is a number of levels in 1/256, toward zero.
func eighths(x float32) int64 {
	if x < 0 {
		return -floorScaled(-x, 8, 0)
	}
	return floorScaled(x, 8, 0)
}

// length is a vector's length as the hardware estimates it.
func length(v []float64) float64 {
	var top, next float64
	for _, c := range v {
		switch c = math.Abs(c); {
		case c > top:
			top, next = c, top
		case c > next:
			next = c
		}
	}
	return top + next*11/32
}

// log2Of is the logarithm in 1/256, to the nearest, bit by bit.
func log2Of(x float64) int64 {
	frac, e := math.Frexp(x)
	x = frac * 2
	n := int64(e - 1)
	for range 9 {
		x *= x
		n *= 2
		if x >= 2 {
			x /= 2
			n++
		}
	}
	return (n + 1) >> 1
}

// gradient is the level of an explicit footprint, in 1/256: the logarithm of its longest side, where the diagonals of the
// footprint count, too.
func (f *fetch) gradient(x *texture) int64 {
	sides := [3]float64{float64(x.o.Width[0]), float64(x.o.Height[0]), float64(x.o.Depth[0])}
	n := f.shape.dims
	if f.shape.cube {
		sides = [3]float64{sides[0] / 2, sides[0] / 2, sides[0] / 2}
	}
	var g [4][]float64
	for i := range n {
		a := float64(math.Float32frombits(uint32(f.grads[0][i].get(x.t)))) * sides[i]
		b := float64(math.Float32frombits(uint32(f.grads[1][i].get(x.t)))) * sides[i]
		g[0], g[1], g[2], g[3] = append(g[0], a), append(g[1], b), append(g[2], a+b), append(g[3], a-b)
	}
	size := max(length(g[0]), length(g[1]), max(length(g[2]), length(g[3]))*11/16)
	switch {
	case !(size > 0):
		return -maxTexel
	case math.IsInf(size, 0):
		return maxTexel
	}
	return log2Of(size)
}

// slabs is where the texels of one level are.
func (f *fetch) slabs(x *texture, words []uint32, layer int64, off [3]int64, l weighedLevel) []slab {
	o := x.o
	if f.shape.cube {
		return []slab{f.cube(x, words, layer, l)}
	}
	var at [3]texSpot
	sides := [3]uint32{o.Width[l.l], o.Height[l.l], o.Depth[l.l]}
	for i := range f.shape.dims {
		s := side{n: max(1, sides[i]), mode: o.Address[i], normalized: o.Normalized != 0, linear: x.filtered()}
		at[i] = s.place(words[i], f.integer, off[i])
		if at[i].at[0] == nowhere {
			return nil
		}
	}
	if f.shape.dims == 1 && !f.shape.layered && !f.integer { // a row is filtered with what lies above it
		s := side{n: 1, mode: o.Address[1], normalized: o.Normalized != 0, linear: x.filtered()}
		at[1] = s.place(0, false, 0)
	}
	if !x.filtered() {
		for i := range at {
			at[i].frac = 0
		}
	}
	if f.shape.dims < 3 {
		if f.shape.layered {
			last := lastLayer(layer, int64(o.Depth[l.l]))
			if f.integer && last != layer {
				return nil
			}
			layer = last
		} else {
			layer = 0
		}
		return []slab{x.plane(l.l, at[0], at[1], layer, l.w)}
	}
	far := round8(at[2].frac * l.w)
	all := []slab{x.plane(l.l, at[0], at[1], at[2].at[0], l.w-far)}
	if far != 0 {
		all = append(all, x.plane(l.l, at[0], at[1], at[2].at[1], far))
	}
	return all
}

// collect is tld4: one channel of the four texels that a filter would mix, from the lower left, against the clock.
func (f *fetch) collect(x *texture, words []uint32, layer int64, off [3]int64) (v [4]uint32) {
	o := x.o
	read := func(addr uint64) uint32 { return x.convert(x.raw(addr, f.gather), f.gather) }
	if f.gather >= int(o.Channels) {
		return v
	}
	order := [4]int{2, 3, 1, 0}
	if f.shape.cube {
		for i, n := range order {
			v[i] = read(f.cubeTexel(x, words, layer, n))
		}
		return v
	}
	var at [2]texSpot
	for i := range at {
		s := side{n: max(1, [2]uint32{o.Width[0], o.Height[0]}[i]), mode: o.Address[i], normalized: o.Normalized != 0, linear: true, gather: true}
		at[i] = s.place(words[i], false, off[i])
	}
	if f.shape.layered {
		layer = lastLayer(layer, int64(o.Depth[0]))
	} else {
		layer = 0
	}
	for i, n := range order {
		v[i] = read(x.texel(0, at[0].at[n&1], at[1].at[n>>1], layer))
	}
	return v
}

// lastLayer bounds a layer; it counts as unsigned, so that one below 0 is the last.
func lastLayer(layer, n int64) int64 { return min(int64(uint32(layer)), max(n, 1)-1) }
