package bcn

import (
	"strconv"
	"strings"
	"sync"
)

// weights are the places between two ends, in 1/64, by the bits of an index.
var weights = [...][]int{2: {0, 21, 43, 64}, 3: {0, 9, 18, 27, 37, 46, 55, 64}, 4: {0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64}}

func mix(a, b, w int) int { return (a*(64-w) + b*w + 32) >> 6 }

// subset is which of n pairs of ends a texel is between, and whether its index has a bit less, which would be 0.
func subset(n, shape, texel int) (set int, short bool) {
	switch n {
	case 2:
		return int(shapes2[shape] >> texel & 1), texel == 0 || texel == int(anchors2[shape])
	case 3:
		return int(shapes3[shape] >> (2 * texel) & 3), texel == 0 || texel == int(anchors3[0][shape]) || texel == int(anchors3[1][shape])
	}
	return 0, texel == 0
}

// indices reads the places of all texels.
func indices(b *bits, n, shape, width int) (list [Side * Side]int) {
	for i := range list {
		if _, short := subset(n, shape, i); short {
			list[i] = b.take(width - 1)
		} else {
			list[i] = b.take(width)
		}
	}
	return list
}

// mode7 is a mode of BC7.
type mode7 struct{ subsets, shape, rotation, selector, colour, alpha, unique, shared, index, second int }

var modes7 = [...]mode7{
	{3, 4, 0, 0, 4, 0, 1, 0, 3, 0}, {2, 6, 0, 0, 6, 0, 0, 1, 3, 0}, {3, 6, 0, 0, 5, 0, 0, 0, 2, 0}, {2, 6, 0, 0, 7, 0, 1, 0, 2, 0},
	{1, 0, 2, 1, 5, 6, 0, 0, 2, 3}, {1, 0, 2, 0, 7, 8, 0, 0, 2, 2}, {1, 0, 0, 0, 7, 7, 1, 0, 4, 0}, {2, 6, 0, 0, 5, 5, 1, 0, 2, 0},
}

// modes decodes BC7. A block of no mode is transparent black.
func modes(b *bits, t *Texels) {
	*t = Texels{}
	mode := 0
	for ; mode < len(modes7); mode++ {
		if b.take(1) == 1 {
			break
		}
	}
	if mode == len(modes7) {
		return
	}
	m := &modes7[mode]
	shape, rotation, selector := b.take(m.shape), b.take(m.rotation), b.take(m.selector)
	ends := m.ends(b)
	first := indices(b, m.subsets, shape, m.index)
	second, secondWidth := first, m.index
	if m.second != 0 {
		second, secondWidth = indices(b, 1, 0, m.second), m.second
	}
	firstWidth := m.index
	if selector == 1 {
		first, second, firstWidth, secondWidth = second, first, secondWidth, firstWidth
	}
	for i := range t {
		s, _ := subset(m.subsets, shape, i)
		for c := range 3 {
			t[i][c] = uint16(mix(ends[2*s][c], ends[2*s+1][c], weights[firstWidth][first[i]]))
		}
		t[i][3] = uint16(mix(ends[2*s][3], ends[2*s+1][3], weights[secondWidth][second[i]]))
		if rotation != 0 {
			t[i][3], t[i][rotation-1] = t[i][rotation-1], t[i][3]
		}
	}
}

// ends reads the colours of a block, in 8 bits.
func (m *mode7) ends(b *bits) (e [6][4]int) {
	n := 2 * m.subsets
	width := [4]int{m.colour, m.colour, m.colour, m.alpha}
	for c := range 4 {
		for i := range n {
			e[i][c] = b.take(width[c])
		}
	}
	low := m.unique | m.shared
	var last [6]int
	for i := range n {
		if m.unique != 0 || m.shared != 0 && i%2 == 0 {
			last[i] = b.take(1)
		} else if m.shared != 0 {
			last[i] = last[i-1]
		}
	}
	for i := range n {
		for c := range 4 {
			if width[c] == 0 {
				e[i][c] = 255
				continue
			}
			w := width[c] + low
			v := (e[i][c]<<low | last[i]&low) << (8 - w)
			e[i][c] = v | v>>w
		}
	}
	return e
}

// mode6 is a mode of BC6H: the bits of the first end, of the differences to it by colour, and the order in which all bits come.
type mode6 struct {
	bits   int
	delta  [3]int
	direct bool // the other ends are no differences
	order  []field
}

// field is bits of a number: of a colour (0 to 2) at an end, or the shape (colour 3).
type field struct{ colour, end, from, to int }

// readModes6 makes the modes of their table, by the bits that begin a block.
var readModes6 = sync.OnceValue(func() map[int]*mode6 {
	all := map[int]*mode6{}
	for _, row := range modes6 {
		m := &mode6{bits: row.bits, delta: row.delta, direct: row.direct}
		for word := range strings.FieldsSeq(row.order) {
			f := field{colour: strings.IndexByte("rgbd", word[0])}
			word = word[1:]
			if f.colour < 3 {
				f.end = strings.IndexByte("wxyz", word[0])
				word = word[1:]
			}
			from, to, ok := strings.Cut(word, "-")
			if !ok {
				to = from
			}
			f.from, _ = strconv.Atoi(from) // the table is ours
			f.to, _ = strconv.Atoi(to)
			m.order = append(m.order, f)
		}
		all[row.mode] = m
	}
	return all
})

// floats decodes BC6H. A block of no mode is black.
func floats(b *bits, signed bool, t *Texels) {
	*t = opaque(0x3c00)
	mode := b.take(2)
	if mode > 1 {
		mode |= b.take(3) << 2
	}
	m := readModes6()[mode]
	if m == nil {
		return
	}
	var e [4][3]int
	shape := 0
	for _, f := range m.order {
		to := &shape
		if f.colour < 3 {
			to = &e[f.end][f.colour]
		}
		dir := 1
		if f.to < f.from {
			dir = -1
		}
		for bit := f.from; ; bit += dir {
			if *to |= b.take(1) << bit; bit == f.to {
				break
			}
		}
	}
	subsets, width := 2, 3
	if mode&3 == 3 {
		subsets, width = 1, 4
	}
	m.unpack(&e, 2*subsets, signed)
	for i, w := range indices(b, subsets, shape, width) {
		s, _ := subset(subsets, shape, i)
		for c := range 3 {
			t[i][c] = half(mix(e[2*s][c], e[2*s+1][c], weights[width][w]), signed)
		}
	}
}

func extend(v, n int) int { return int(int32(v) << (32 - n) >> (32 - n)) }

// unpack makes numbers of 16 bits of the ends.
func (m *mode6) unpack(e *[4][3]int, n int, signed bool) {
	for c := range 3 {
		if signed {
			e[0][c] = extend(e[0][c], m.bits)
		}
		for i := 1; i < n; i++ {
			if signed || !m.direct {
				e[i][c] = extend(e[i][c], m.delta[c])
			}
			if !m.direct {
				e[i][c] = (e[i][c] + e[0][c]) & (1<<m.bits - 1)
				if signed {
					e[i][c] = extend(e[i][c], m.bits)
				}
			}
		}
		for i := range n {
			if signed {
				e[i][c] = widenSigned(e[i][c], m.bits)
			} else {
				e[i][c] = widen(e[i][c], m.bits)
			}
		}
	}
}

func widen(v, n int) int {
	switch {
	case n >= 15, v == 0:
		return v
	case v == 1<<n-1:
		return 0xffff
	}
	return (v<<16 + 0x8000) >> n
}

func widenSigned(v, n int) int {
	sign := 1
	if v < 0 {
		sign, v = -1, -v
	}
	switch {
	case n >= 16, v == 0:
	case v >= 1<<(n-1)-1:
		v = 0x7fff
	default:
		v = (v<<15 + 0x4000) >> (n - 1)
	}
	return sign * v
}

// half scales what lies between two ends to the numbers of a half.
func half(v int, signed bool) uint16 {
	switch {
	case !signed:
		return uint16(v * 31 >> 6)
	case v < 0:
		return uint16(-v*31>>5) | 0x8000
	}
	return uint16(v * 31 >> 5)
}
