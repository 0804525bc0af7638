package warp

import (
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// segmented reports an access that is contiguous, or uniform, inside segments of 8 or 16 lanes.
func (e *emitter) segmented(a *access) bool {
	s := a.shape
	if e.w != 32 || a.in.Space == ir.Local || len(a.types) != 1 || s.Kind >= ir.WarpUniform {
		return false
	}
	return (s.Seg == 16 || s.Seg == 8) && (s.Stride == int64(a.elem) || s.Stride == 0)
}

// loadSegments loads each segment from its own base.
func (e *emitter) loadSegments(a *access) []ll.Val {
	s, t := a.shape, memType(a.types[0])
	var got []ll.Val
	for seg := 0; seg < e.w/s.Seg; seg++ {
		if seg > 0 && a.known && s.SegStride == 0 {
			got = append(got, got[0])
			continue
		}
		m := a.mask
		if !a.all {
			m = e.segMask(a, seg)
		}
		p := e.segPointer(a, seg)
		if s.Stride != 0 {
			got = append(got, e.slice(e.maskedLoad(t, e.segLanes(a), a.elem, p, m, a.all, a.ro), 0, s.Seg))
			continue
		}
		one := func() []ll.Val { return []ll.Val{e.LoadAs(t, p, ll.Access{Align: a.elem, Meta: a.ro})} }
		var x ll.Val
		if a.all {
			x = one()[0]
		} else {
			it := ll.IntType(e.segLanes(a))
			num := e.Bitcast(m, it)
			x = e.choose(e.ICmp("ne", num, ll.Int(it, 0)), "seg", one, func() []ll.Val { return []ll.Val{ll.Zero(t)} })[0]
		}
		got = append(got, e.splatN(x, s.Seg))
	}
	return []ll.Val{e.concat(got)}
}

// segLanes is how many lanes the vector has that a segment is accessed by.
//
// A mask of 8 lanes is narrower than any that AVX-512 has for bytes, so LLVM widens it, and gets that wrong in two ways (19 and 22). It
// widens with kmovb, whose zeros keep the lanes behind the segment away from memory, but its register allocator takes kmovb for a
// plain copy and spills the narrow mask instead, with the next segment's lanes above it. And 22 takes what kshiftrd leaves above
// for zeros. So these segments are accessed as 16 lanes, and segOwnMask makes the zeros where LLVM cannot see them.
func (e *emitter) segLanes(a *access) int {
	if e.cpu.avx512 && a.shape.Seg == 8 && a.elem == 1 && !a.all {
		return 16
	}
	return a.shape.Seg
}

// segMask is the mask of a segment; segments that lie at one address share what they load.
func (e *emitter) segMask(a *access, seg int) ll.Val {
	s := a.shape
	m := e.segOwnMask(a, seg)
	if a.known && s.SegStride == 0 {
		for o := 1; o < e.w/s.Seg; o++ {
			m = e.Or(m, e.segOwnMask(a, o))
		}
	}
	return m
}

// segOwnMask is a segment's part of the mask, with zeros above it if the vector is wider (segLanes).
func (e *emitter) segOwnMask(a *access, seg int) ll.Val {
	n, at := e.segLanes(a), seg*a.shape.Seg
	if n == a.shape.Seg {
		return e.slice(a.mask, at, n)
	}
	bits := e.And(e.LShr(e.number(a.mask), ll.Int("i32", int64(at))), ll.Int("i32", 1<<a.shape.Seg-1))
	bits = e.Op("i32", `call i32 asm "", "=r,0"(%s) nounwind memory(none)`, bits)
	return e.Bitcast(e.Trunc(bits, ll.IntType(n)), ll.Vec(n, "i1"))
}

func (e *emitter) segPointer(a *access, seg int) ll.Val {
	addr := a.in.Args[0]
	if a.known {
		p := e.pointer(a.in.Space, e.scalar(addr))
		return e.at(p, seg*int(a.shape.SegStride))
	}
	v := e.vector(addr)
	if a.all {
		return e.pointer(a.in.Space, e.Extract(v, seg*a.shape.Seg))
	}
	// A lane that does not act may have an index that wrapped, and with it an address far away: the first that acts counts.
	it := ll.IntType(a.shape.Seg)
	m := e.slice(a.mask, seg*a.shape.Seg, a.shape.Seg)
	first := e.Intr("cttz", e.Bitcast(m, it), ll.Int("i1", 0))
	lane := e.And(e.ZExt(first, "i64"), ll.Int("i64", int64(a.shape.Seg-1)))
	x := e.ExtractAt(v, e.Add(lane, ll.Int("i64", int64(seg*a.shape.Seg))))
	if a.shape.Stride != 0 {
		x = e.Sub(x, e.Mul(lane, ll.Int("i64", a.shape.Stride)))
	}
	return e.pointer(a.in.Space, x)
}

// storeSegments stores each segment to its own base.
func (e *emitter) storeSegments(a *access, x ll.Val) {
	n := e.segLanes(a)
	for seg := 0; seg < e.w/a.shape.Seg; seg++ {
		m, at := a.mask, seg*a.shape.Seg
		if !a.all {
			m = e.segOwnMask(a, seg)
		}
		part := e.Shuffle(x, x, rangeInts(0, n, func(j int) int {
			if j < a.shape.Seg {
				return at + j
			}
			return -1
		}))
		e.maskedStore(part, a.elem, e.segPointer(a, seg), m, a.all)
	}
}

// storeOver stores segments that lie at one address, such as rows of a block of which one acts: of the lanes at one place the last that
// acts stores.
func (e *emitter) storeOver(a *access, x ll.Val) {
	n, last := e.segLanes(a), e.w/a.shape.Seg-1
	part := func(seg int) ll.Val {
		return e.Shuffle(x, x, rangeInts(0, n, func(j int) int {
			if j < a.shape.Seg {
				return seg*a.shape.Seg + j
			}
			return -1
		}))
	}
	if a.all {
		e.maskedStore(part(last), a.elem, e.segPointer(a, 0), a.mask, true)
		return
	}
	sum, any := part(0), e.segOwnMask(a, 0)
	for seg := 1; seg <= last; seg++ {
		m := e.segOwnMask(a, seg)
		sum, any = e.Select(m, part(seg), sum), e.Or(any, m)
	}
	e.maskedStore(sum, a.elem, e.segPointer(a, 0), any, false)
}

// segVectors reports vectors that lie behind each other inside segments of lanes, 64 bytes or more in each: rows of a tile that 4 or 8
// lanes read. A segment has no more elements than a warp has lanes: whole segments make up a vector of the image.
func (e *emitter) segVectors(a *access) bool {
	s := a.shape
	return e.w == 32 && a.all && len(a.types) > 1 && a.same() && a.in.Space != ir.Local && a.elem <= 8 && !a.known && s.Kind == ir.Varying && s.Seg > 0 &&
		s.Stride == int64(a.size) && s.Seg*a.size >= 64 && s.Seg*len(a.types) <= e.w
}

// loadSegVectors loads each segment at once and takes the lanes' vectors apart.
func (e *emitter) loadSegVectors(a *access) []ll.Val {
	n := len(a.types)
	var image []ll.Val
	var segs []ll.Val
	for seg := range e.w / a.shape.Seg {
		vt := ll.Vec(a.shape.Seg*n, memType(a.types[0]))
		segs = append(segs, e.LoadAs(vt, e.segPointer(a, seg), ll.Access{Align: a.elem, Meta: a.ro}))
	}
	each := len(segs) / n
	for i := range n {
		image = append(image, e.concat(segs[i*each:(i+1)*each]))
	}
	var out []ll.Val
	for i := range n {
		out = append(out, e.pick(image, n, i))
	}
	e.images[a.in] = image
	return out
}
