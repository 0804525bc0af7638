package cufft

// complexes adds transforms of complex numbers, along all axes.
func (b *builder) complexes(g *geometry, src, dst place, dir direction) {
	in := g.in
	for i := len(g.n) - 1; i >= 0; i-- {
		b.axis(job{n: g.n[i], in: in.strides[i], out: g.out.strides[i], others: g.others(i, g.n, in, g.out), src: src, dst: dst, dir: dir})
		src, in = dst, g.out
	}
}

// fromReal adds transforms of real numbers; aligned: two of them may be read as a complex one.
func (b *builder) fromReal(g *geometry, src, dst place, aligned bool) {
	last := len(g.n) - 1
	n := g.n[last]
	extents := g.half()
	half := n / 2
	mark := b.used
	switch pairs := aligned && n%2 == 0 && g.in.doubled(g.batch); {
	case pairs && smooth(half) && half <= b.limit && (product(g.others(last, extents, g.in, g.out)) >= wide || half < 64):
		dims := g.others(last, extents, g.in.halved(), g.out)
		i := most(dims)
		dims[0], dims[i] = dims[i], dims[0]
		b.step(step{n: half, in: 1, out: g.out.strides[last], dims: dims, axis: noAxis, flags: flagToHalf}, src, dst, onward)
	case pairs:
		z := packedLayout(g.n, half)
		space := b.room(uint64(z.dist) * g.batch)
		b.axis(job{n: half, in: 1, out: 1, others: g.others(last, extents, g.in.halved(), z), src: src, dst: space, dir: onward})
		b.row(row{kernel: "rows_" + b.precision.suffix(), kind: toHalf, count: half + 1, n: half, in: 1, out: g.out.strides[last],
			dims: g.others(last, extents, z, g.out), factors: b.halves(half)}, space, dst, onward)
	default:
		x := packedLayout(g.n, n)
		space := b.room(uint64(x.dist) * g.batch)
		b.row(row{kernel: "copy_" + b.precision.suffix(), kind: realIn, count: n, in: g.in.strides[last], out: 1,
			dims: g.others(last, extents, g.in, x)}, src, space, onward)
		b.axis(job{n: n, in: 1, out: 1, others: g.others(last, extents, x, x), src: space, dst: space, dir: onward})
		b.row(row{kernel: "copy_" + b.precision.suffix(), count: n/2 + 1, in: 1, out: g.out.strides[last],
			dims: g.others(last, extents, x, g.out)}, space, dst, onward)
	}
	b.used = mark
	for i := last - 1; i >= 0; i-- {
		b.axis(job{n: g.n[i], in: g.out.strides[i], out: g.out.strides[i], others: g.others(i, extents, g.out, g.out), src: dst, dst: dst, dir: onward})
	}
}

// Kinds of copies: which side has real numbers.
const (
	realIn  = 1
	realOut = 2
)

// toReal adds inverse transforms to real numbers. The input stays: what is between is in the work area.
func (b *builder) toReal(g *geometry, src, dst place, aligned bool) {
	last := len(g.n) - 1
	n := g.n[last]
	extents := g.half()
	half := n / 2
	in := g.in
	mark := b.used
	if last > 0 {
		y := packedLayout(extents, extents[last])
		space := b.room(uint64(y.dist) * g.batch)
		for i := last - 1; i >= 0; i-- {
			b.axis(job{n: g.n[i], in: in.strides[i], out: y.strides[i], others: g.others(i, extents, in, y), src: src, dst: space, dir: back})
			src, in = space, y
		}
	}
	switch pairs := aligned && n%2 == 0 && g.out.doubled(g.batch); {
	case pairs && smooth(half) && half <= b.limit && (product(g.others(last, extents, in, g.out)) >= wide || half < 64):
		dims := g.others(last, extents, in, g.out.halved())
		i := most(dims)
		dims[0], dims[i] = dims[i], dims[0]
		b.step(step{n: half, in: in.strides[last], out: 1, dims: dims, axis: noAxis, flags: flagFromHalf}, src, dst, back)
	case pairs:
		z := packedLayout(g.n, half)
		space := b.room(uint64(z.dist) * g.batch)
		b.row(row{kernel: "rows_" + b.precision.suffix(), kind: fromHalf, count: half, n: half, in: in.strides[last], out: 1,
			dims: g.others(last, extents, in, z), factors: b.halves(half)}, src, space, back)
		b.axis(job{n: half, in: 1, out: 1, others: g.others(last, extents, z, g.out.halved()), src: space, dst: dst, dir: back})
	default:
		x := packedLayout(g.n, n)
		space := b.room(uint64(x.dist) * g.batch)
		b.row(row{kernel: "rows_" + b.precision.suffix(), kind: mirror, count: n, n: n, in: in.strides[last], out: 1,
			dims: g.others(last, extents, in, x)}, src, space, back)
		b.axis(job{n: n, in: 1, out: 1, others: g.others(last, extents, x, x), src: space, dst: space, dir: back})
		b.row(row{kernel: "copy_" + b.precision.suffix(), kind: realOut, count: n, in: 1, out: g.out.strides[last],
			dims: g.others(last, extents, x, g.out)}, space, dst, back)
	}
	b.used = mark
}

// converted adds a transform of 16-bit numbers: they are widened, transformed in single precision, and narrowed.
func (b *builder) converted(g *geometry, k kind, storage string) {
	last := len(g.n) - 1
	wide := *g
	inner, outer := g.n, g.n
	inKind, outKind := uint32(0), uint32(0)
	switch k {
	case fromRealKind:
		inKind, outer = realIn|realOut, g.half()
	case toRealKind:
		outKind, inner = realIn|realOut, g.half()
	}
	wide.in, wide.out = packedLayout(inner, inner[last]), packedLayout(outer, outer[last])
	src, dst := b.room(uint64(wide.in.dist)*g.batch), b.room(uint64(wide.out.dist)*g.batch)
	b.row(row{kernel: "widen_" + storage, kind: inKind, count: inner[last], in: g.in.strides[last], out: 1,
		dims: g.others(last, inner, g.in, wide.in)}, place{input, 0}, src, asAsked)
	b.add(&wide, k, src, dst, true)
	b.row(row{kernel: "narrow_" + storage, kind: outKind, count: outer[last], in: 1, out: g.out.strides[last],
		dims: g.others(last, outer, wide.out, g.out)}, dst, place{output, 0}, asAsked)
}

// kind is what a transform is between.
type kind int

const (
	complexKind kind = iota
	fromRealKind
	toRealKind
)

func (b *builder) add(g *geometry, k kind, src, dst place, aligned bool) {
	switch k {
	case complexKind:
		b.complexes(g, src, dst, asAsked)
	case fromRealKind:
		b.fromReal(g, src, dst, aligned)
	default:
		b.toReal(g, src, dst, aligned)
	}
}
