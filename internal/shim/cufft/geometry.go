package cufft

import "math/bits"

// layout is where the numbers of a transform are, in elements.
type layout struct {
	strides []int64 // of every axis
	dist    int64   // from one transform of a batch to the next
}

// geometry is what a plan transforms.
type geometry struct {
	n       []uint64
	batch   uint64
	in, out layout
	empty   bool
	basic   bool // the layouts are not the program's: real numbers that are transformed in place are padded
}

// packedLayout is rows without gaps; the last axis has last numbers.
func packedLayout(n []uint64, last uint64) layout {
	l := layout{strides: make([]int64, len(n))}
	next := int64(1)
	for i := len(n) - 1; i >= 0; i-- {
		l.strides[i] = next
		if i == len(n)-1 {
			next *= int64(last)
		} else {
			next *= int64(n[i])
		}
	}
	l.dist = next
	return l
}

// embedded is the layout of the advanced interface: axis i has embed[i] places.
func embedded(embed []int64, stride, dist int64) layout {
	l := layout{strides: make([]int64, len(embed)), dist: dist}
	for i := len(embed) - 1; i >= 0; i-- {
		l.strides[i] = stride
		stride *= embed[i]
	}
	return l
}

// others are the dimensions that number the transforms along an axis; extents are those of the data.
func (g *geometry) others(axis int, extents []uint64, in, out layout) []dim {
	var dims []dim
	for i := len(extents) - 1; i >= 0; i-- {
		if i != axis {
			dims = append(dims, dim{extents[i], in.strides[i], out.strides[i]})
		}
	}
	return append(dims, dim{g.batch, in.dist, out.dist})
}

// half are the extents of a spectrum of real numbers.
func (g *geometry) half() []uint64 {
	h := append([]uint64(nil), g.n...)
	last := len(h) - 1
	h[last] = h[last]/2 + 1
	return h
}

// total is the number of elements, false if there are too many to address.
func (g *geometry) total() (uint64, bool) {
	t := g.batch
	for _, n := range g.n {
		hi, lo := bits.Mul64(t, n)
		if hi != 0 || lo > 1<<40 {
			return 0, false
		}
		t = lo
	}
	return t, true
}

// inPlace is the geometry of a basic plan whose results take the place of its numbers.
func (g *geometry) inPlace(toReal bool) *geometry {
	c := *g
	h := g.half()
	padded := packedLayout(g.n, 2*h[len(h)-1])
	if toReal {
		c.out = padded
	} else {
		c.in = padded
	}
	return &c
}

// doubled says that all strides but the last axis' let two real numbers be taken as one complex one.
func (l *layout) doubled(batch uint64) bool {
	last := len(l.strides) - 1
	if l.strides[last] != 1 || batch > 1 && l.dist%2 != 0 {
		return false
	}
	for _, s := range l.strides[:last] {
		if s%2 != 0 {
			return false
		}
	}
	return true
}

// halved is the same layout, in complex numbers.
func (l *layout) halved() layout {
	h := layout{dist: l.dist / 2}
	for i, s := range l.strides {
		if i < len(l.strides)-1 {
			s /= 2
		}
		h.strides = append(h.strides, s)
	}
	return h
}
