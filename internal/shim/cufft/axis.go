package cufft

import (
	"slices"
	"strconv"
)

func itoa(n uint64) string { return strconv.FormatUint(n, 10) }

// builder makes a plan's operations.
type builder struct {
	precision precision
	limit     uint64 // numbers of a transform that a block's shared memory has room for, in 32 lanes
	shared    uint64 // bytes of it
	tables    tables
	ops       []*op
	used      uint64 // of the work area, now
	most      uint64
}

// room takes n complex numbers of the work area.
func (b *builder) room(n uint64) place {
	at := b.used
	b.used += (n*b.precision.complex() + 255) &^ 255
	b.most = max(b.most, b.used)
	return place{work, at}
}

// job is transforms of length n along one axis; others number them.
type job struct {
	n        uint64
	in, out  int64
	others   []dim
	src, dst place
	dir      direction
}

// wide is the number of neighbours that are enough to be lanes.
const wide = 16

// axis adds the operations of a job. What it takes of the work area is free afterwards.
func (b *builder) axis(j job) {
	mark := b.used
	defer func() { b.used = mark }()
	j.others = slices.DeleteFunc(slices.Clone(j.others), func(d dim) bool { return d.count == 1 })
	if !smooth(j.n) {
		b.convolution(j)
		return
	}
	if b.pair(j) {
		return
	}
	least := 1
	if product(j.others) < wide && j.n >= 64 {
		least = 2
	}
	lengths := []uint64{j.n}
	if j.n > b.limit || least > 1 {
		lengths = split(j.n, b.limit, least)
	}
	inner := j.inner()
	if len(lengths) == 1 {
		dims := slices.Clone(j.others)
		if len(dims) == 0 {
			dims = []dim{{count: 1}}
		}
		if inner < 0 {
			inner = most(dims)
		}
		dims[0], dims[inner] = dims[inner], dims[0]
		b.step(step{n: j.n, in: j.in, out: j.out, dims: dims, axis: noAxis}, j.src, j.dst, j.dir)
		return
	}
	b.steps(j, lengths, inner)
}

// inner is the dimension whose transforms are neighbours, -1 if there is none.
func (j *job) inner() int {
	return slices.IndexFunc(j.others, func(d dim) bool { return d.out == 1 && d.in == 1 && d.count >= wide })
}

// most is the largest dimension.
func most(dims []dim) int {
	best := 0
	for i, d := range dims {
		if d.count > dims[best].count {
			best = i
		}
	}
	return best
}

// steps transforms in several steps, each along a part of the index. Between them the numbers are in the work area: step t leaves
// number k of its part where it took number k from, and the last one puts everything in order.
func (b *builder) steps(j job, lengths []uint64, inner int) {
	// The layout of the work area: along the axis at, in the other dimensions between.
	at, next := int64(1), int64(j.n)
	between := make([]int64, len(j.others))
	if inner >= 0 {
		at, between[inner] = int64(j.others[inner].count), 1
		next *= at
	}
	for i, d := range j.others {
		if i != inner {
			between[i] = next
			next *= int64(d.count)
		}
	}
	space := b.room(uint64(next))
	rest, done := j.n, []uint64{}
	for t, n := range lengths {
		modulus := rest
		rest /= n
		first, last := t == 0, t == len(lengths)-1
		s := step{n: n, in: int64(rest) * at, out: int64(rest) * at, axis: noAxis, modulus: modulus}
		src, dst, from, to := space, space, at, at
		if first {
			src, s.in, from = j.src, int64(rest)*j.in, j.in
		}
		if last {
			dst, s.out = j.dst, int64(j.n/n)*j.out
		} else {
			s.dims = append(s.dims, dim{rest, from, to})
			s.axis = 0
		}
		// What earlier steps made numbers the transforms of this one.
		apart, before := int64(j.n), int64(1)
		for _, m := range done {
			apart /= int64(m)
			d := dim{m, apart * at, apart * at}
			if last {
				d.out = before * j.out
			}
			before *= int64(m)
			s.dims = append(s.dims, d)
		}
		for i, o := range j.others {
			d := dim{o.count, between[i], between[i]}
			if first {
				d.in = o.in
			}
			if last {
				d.out = o.out
			}
			s.dims = append(s.dims, d)
		}
		if inner >= 0 {
			k := len(s.dims) - len(j.others) + inner
			s.dims[0], s.dims[k] = s.dims[k], s.dims[0]
			if s.axis == 0 {
				s.axis = k
			}
		}
		b.step(s, src, dst, j.dir)
		done = append(done, n)
	}
}

// convolution is Bluestein's way, for lengths with large factors: a transform is a convolution with a chirp, which transforms of
// another length make.
func (b *builder) convolution(j job) {
	m := padded(2*j.n - 1)
	chirps := b.tables.numbers("chirp", b.precision, j.n, func(i uint64) complex128 { return chirp(i, j.n) })
	key := "spectrum " + itoa(j.n)
	var filter []complex128
	factors := b.tables.numbers(key, b.precision, m, func(i uint64) complex128 {
		if filter == nil {
			filter = spectrum(j.n, m)
		}
		return filter[i]
	})
	space := b.room(m * product(j.others))
	before, after, packed := []dim{}, []dim{}, []dim{}
	next := int64(m)
	for _, d := range j.others {
		before = append(before, dim{d.count, d.in, next})
		after = append(after, dim{d.count, next, d.out})
		packed = append(packed, dim{d.count, next, next})
		next *= int64(d.count)
	}
	name := "rows_" + b.precision.suffix()
	b.row(row{kernel: name, kind: times, count: m, n: j.n, in: j.in, out: 1, dims: before, factors: chirps, swapIn: true}, j.src, space, j.dir)
	b.axis(job{n: m, in: 1, out: 1, others: packed, src: space, dst: space, dir: onward})
	b.row(row{kernel: name, kind: times, count: m, n: m, in: 1, out: 1, dims: packed, factors: factors}, space, space, onward)
	b.axis(job{n: m, in: 1, out: 1, others: packed, src: space, dst: space, dir: back})
	b.row(row{kernel: name, kind: times, count: j.n, n: j.n, in: 1, out: j.out, dims: after, factors: chirps, swapOut: true}, space, j.dst, j.dir)
}
