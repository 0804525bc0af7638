package tensormap

// Unit is the bytes that lie together and are inside or outside the tensor as one: an element, or a slice of an interleaved
// layout.
func (m *Map) Unit() int {
	switch m.Interleave {
	case Slices16:
		return 16
	case Slices32:
		return 32
	}
	return m.Type.Bytes()
}

// Bounded reports that no dimension has 2^32 elements, which is what tensormap.replace makes of 0: the driver packs such maps, a copy
// that reads one is an illegal instruction (recorded).
func (m *Map) Bounded() bool {
	for _, n := range m.Dim[:m.Rank] {
		if n == 1<<32 {
			return false
		}
	}
	return true
}

// count is how many units of dimension i a tile has. Element strides thin them out, but for the innermost dimension of a plain
// layout, where they are ignored. In interleaved layouts the last dimension but one is the channels', in slices, and a tile has
// one of them whatever the box says (recorded).
func (m *Map) count(i int) uint64 {
	n, step := uint64(m.Box[i]), uint64(m.Step[i])
	switch {
	case i == 0 && m.Interleave == Plain:
		return n
	case m.Interleave != Plain && i == m.Rank-2:
		return 1
	}
	return (n + step - 1) / step
}

// Pitch is how far the lines of a box are from each other in shared memory: a swizzle wants its whole span for each, though the
// bytes between are not touched (recorded). line is the bytes of one.
func (m *Map) Pitch() (line, pitch uint64) {
	unit := uint64(m.Unit())
	switch {
	case m.Interleave != Plain:
		return unit, unit
	case m.Im2col:
		line = uint64(m.Channels) * unit
	default:
		line = uint64(m.Box[0]) * unit
	}
	if m.Swizzle == NoSwizzle {
		return line, line
	}
	return line, max(line, uint64(m.Swizzle.Span()))
}

// Size is the bytes of a box, without what lies between its lines; ok is false where they are more than limit.
func (m *Map) Size(limit uint64) (n uint64, ok bool) {
	if m.Im2col {
		n = m.channels() * uint64(m.Pixels) * uint64(m.Unit())
		return n, n <= limit
	}
	n = uint64(m.Unit())
	for i := range m.Rank {
		if n *= m.count(i); n > limit {
			return n, false
		}
	}
	return n, true
}

// Visit gets a unit's offset in the box (lines one behind the other: see Pitch), and its address in global memory where it is
// inside the tensor.
type Visit func(off uint64, addr uint64, inside bool)

// Tile visits the units of a tile that begins at coordinates at.
func (m *Map) Tile(at [MaxRank]int32, visit Visit) {
	unit := uint64(m.Unit())
	var n, i [MaxRank]uint64
	for k := range m.Rank {
		n[k] = m.count(k)
	}
	off := uint64(0)
	for {
		addr, inside := m.Address, true
		for k := range m.Rank {
			step := int64(m.Step[k])
			if k == 0 && m.Interleave == Plain {
				step = 1
			}
			c := int64(at[k]) + int64(i[k])*step
			if c < 0 || uint64(c) >= m.Dim[k] {
				inside = false
			}
			if k == 0 {
				addr += uint64(c) * unit
			} else {
				addr += uint64(c) * m.Stride[k-1]
			}
		}
		visit(off, addr, inside)
		off += unit
		k := 0
		for ; k < m.Rank; k++ {
			if i[k]++; i[k] < n[k] {
				break
			}
			i[k] = 0
		}
		if k == m.Rank {
			return
		}
	}
}

// channels is the units of a pixel.
func (m *Map) channels() uint64 {
	if m.Interleave != Plain {
		return 1
	}
	return uint64(m.Channels)
}

// spatial is the first of the dimensions that pixels are counted along; the others follow it.
func (m *Map) spatial() int {
	if m.Interleave != Plain { // the channels are the last dimension but one
		return 0
	}
	return 1
}

// Last is the last pixel of the bounding box along spatial dimension i.
func (m *Map) Last(i int) int64 { return int64(m.Dim[m.spatial()+i]) - 1 + int64(m.Upper[i]) }

// InBox reports whether im2col may begin at coordinates at: inside the bounding box.
func (m *Map) InBox(at [MaxRank]int32) bool {
	for i := range m.Rank - 2 {
		if x := int64(at[m.spatial()+i]); x < int64(m.Lower[i]) || x > m.Last(i) {
			return false
		}
	}
	return true
}

// Columns visits the units of im2col: pixels one after the other through the bounding box, which the corners cut out of the
// image, from the one at coordinates at; each is read as many elements on as shift says.
func (m *Map) Columns(at [MaxRank]int32, shift [MaxRank - 2]uint16, visit Visit) {
	unit, first := uint64(m.Unit()), m.spatial()
	var p, by [MaxRank]int64
	for k := range m.Rank {
		p[k] = int64(at[k])
		if i := k - first; i >= 0 && i < m.Rank-2 {
			by[k] = int64(shift[i])
		}
	}
	off := uint64(0)
	for range m.Pixels {
		for c := range m.channels() {
			addr, inside := m.Address, true
			for k := range m.Rank {
				x := p[k] + by[k]
				if k < first {
					x += int64(c)
				}
				if x < 0 || uint64(x) >= m.Dim[k] {
					inside = false
				}
				if k == 0 {
					addr += uint64(x) * unit
				} else {
					addr += uint64(x) * m.Stride[k-1]
				}
			}
			visit(off, addr, inside)
			off += unit
		}
		m.next(&p)
	}
}

// next goes to the next pixel: along the first spatial dimension, and from its end to the next line, plane and image.
func (m *Map) next(p *[MaxRank]int64) {
	first := m.spatial()
	for i := range m.Rank - 2 {
		k := first + i
		if p[k] += int64(m.Step[k]); p[k] <= m.Last(i) {
			return
		}
		p[k] = int64(m.Lower[i])
	}
	p[m.Rank-1] += int64(m.Step[m.Rank-1])
}
