package warp

import (
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// Vector accesses in pieces: all elements of a lane at once. To PTX the elements are accesses of their own, but hardware reads and
// writes an aligned vector of up to 16 bytes whole, and protocols lean on it that put data and a flag into one vector. So what other
// threads may watch is one aligned load or store of a lane's size. x86 processors with AVX promise 16 bytes of such an access, ARM's
// the halves, and 16 bytes with LSE2. Loads go from the last lane to the first, stores from the first to the last: where the processor
// keeps the order, as x86 does, a flag behind the data of other lanes is seen only with the data.

// watched reports an access whose order the program cares for.
func watched(in *ir.Inst) bool { return in.Volatile || in.Order != ir.Weak }

// whole reports an access that must not be seen in parts. Of a block's own memory nobody sees any: one thread runs the block.
func (a *access) whole() bool {
	return watched(a.in) && (a.size > a.elem || a.elem > 8) && (a.in.Space == ir.Global || a.in.Space == ir.Generic)
}

// units gives the integer that pieces are made of, an element or half of one of 16 bytes, and how many of them there are.
func (a *access) units() (t ll.Type, n int) {
	bytes := min(a.elem, 8)
	return ll.IntType(8 * bytes), a.size / bytes
}

// pieceTypes are what LLVM moves with one instruction, by bytes.
var pieceTypes = map[int]ll.Type{2: "i16", 4: "i32", 8: "i64", 16: "<2 x i64>", 32: "<4 x i64>"}

// how is a piece's access. The address was tested for the whole size in the space's own numbers, which for memory that all blocks see
// are the machine's.
func (a *access) how() ll.Access {
	if a.whole() {
		return ll.Access{Align: a.size, Volatile: true}
	}
	return ll.Access{Align: a.elem, Volatile: watched(a.in)}
}

func (e *emitter) loadPiece(a *access, p ll.Val) ll.Val {
	t := pieceTypes[a.size]
	how := a.how()
	how.Meta = a.ro
	x := e.LoadAs(t, p, how)
	u, n := a.units()
	return e.Bitcast(x, ll.Vec(n, u))
}

func (e *emitter) storePiece(a *access, x, p ll.Val) {
	e.StoreAs(e.Bitcast(x, pieceTypes[a.size]), p, a.how())
}

// lanePointers is a function that gives each lane's address.
func (e *emitter) lanePointers(a *access) func(l int) ll.Val {
	if e.w == 1 {
		p := e.pointers(a.in)
		return func(int) ll.Val { return p }
	}
	if a.known {
		base := e.pointer(a.in.Space, e.scalar(a.in.Args[0]))
		return func(l int) ll.Val { return e.at(base, int(laneOffset(a.shape, l))) }
	}
	ptrs := e.pointers(a.in)
	return func(l int) ll.Val { return e.Extract(ptrs, l) }
}

// loadPieces loads lane by lane: unrolled when all lanes act, a loop over the acting ones otherwise.
func (e *emitter) loadPieces(a *access) []ll.Val {
	u, n := a.units()
	if e.w == 1 {
		return e.elements(a, e.loadPiece(a, e.pointers(a.in)))
	}
	image := make([]ll.Val, n) // of the lanes' memory, one behind the other
	if a.all {
		at := e.lanePointers(a)
		got := make([]ll.Val, e.w)
		for l := e.w - 1; l >= 0; l-- {
			got[l] = e.loadPiece(a, at(l))
		}
		each := e.w / n
		for i := range image {
			image[i] = e.opaque(e.concat(got[i*each : (i+1)*each]))
		}
		return e.fromImage(a, image)
	}
	vt := ll.Vec(e.w, u)
	zero := make([]ll.Val, n)
	for i := range zero {
		zero[i] = ll.Zero(vt)
	}
	t := pieceTypes[a.size]
	room := e.putImage(a, zero)
	e.eachLane(a.mask, true, []ll.Val{e.pointers(a.in)}, nil, func(lane ll.Val, l []ll.Val) []ll.Val {
		x := e.Bitcast(e.loadPiece(a, l[0]), t)
		e.Store(x, e.GEP(t, room, lane), 0)
		return nil
	})
	for i := range image {
		image[i] = e.Load(vt, e.at(room, i*e.w*a.size/n), 64)
	}
	return e.fromImage(a, image)
}

// storePieces stores lane by lane, in the same way.
func (e *emitter) storePieces(a *access, vals []*ir.Value) {
	var xs []ll.Val
	for _, v := range vals {
		xs = append(xs, e.stored(v, e.w))
	}
	if e.w == 1 {
		e.storePiece(a, e.piece(a, xs), e.pointers(a.in))
		return
	}
	image := e.imageOf(vals)
	if image == nil {
		image = e.toImage(a, xs)
	}
	_, n := a.units()
	if a.all {
		at := e.lanePointers(a)
		each := e.w / n
		for i := range image {
			image[i] = e.opaque(image[i])
		}
		for l := 0; l < e.w; {
			run := 1
			if a.known && !watched(a.in) {
				run = a.run(l)
			}
			part := e.slice(image[l/each], l%each*n, run*n)
			if run > 1 {
				e.Store(part, at(l), a.elem)
			} else {
				e.storePiece(a, part, at(l))
			}
			l += run
		}
		return
	}
	t := pieceTypes[a.size]
	room := e.putImage(a, image)
	e.eachLane(a.mask, false, []ll.Val{e.pointers(a.in)}, nil, func(lane ll.Val, l []ll.Val) []ll.Val {
		x := e.Load(t, e.GEP(t, room, lane), 0)
		e.storePiece(a, x, l[0])
		return nil
	})
}

// putImage puts the lanes' pieces into memory of the function.
func (e *emitter) putImage(a *access, image []ll.Val) ll.Val {
	const slot = 100 // loops over lanes have their own
	room := e.room(pieceTypes[a.size], slot)
	for i, x := range image {
		e.Store(x, e.at(room, i*e.w*a.size/len(image)), 64)
	}
	return room
}

// fromImage gives the elements of all lanes, from vectors that lie end to end as the lanes' memory does.
func (e *emitter) fromImage(a *access, image []ll.Val) []ll.Val {
	n := len(a.types)
	if a.elem > 8 {
		t := ll.Vec(e.w*n, "i128")
		x := e.Bitcast(e.concat(image), t)
		image = nil
		for i := range n {
			image = append(image, e.slice(x, i*e.w, e.w))
		}
	}
	var out []ll.Val
	for i, t := range a.types {
		out = append(out, e.Recast(e.pick(image, n, i), memType(t)))
	}
	return out
}

// toImage is the way back.
func (e *emitter) toImage(a *access, xs []ll.Val) []ll.Val {
	for i, x := range xs {
		xs[i] = e.Recast(x, ll.IntType(8*a.elem))
	}
	image := e.interleave(xs)
	if a.elem <= 8 {
		return image
	}
	var halves []ll.Val
	for _, x := range image {
		y := e.Bitcast(x, ll.Vec(2*e.w, "i64"))
		halves = append(halves, e.slice(y, 0, e.w), e.slice(y, e.w, e.w))
	}
	return halves
}

// interleave puts the first elements of all vectors together, then the second ones and so on.
func (e *emitter) interleave(xs []ll.Val) []ll.Val {
	n := len(xs)
	joined := xs[0]
	for _, x := range xs[1:] {
		joined = e.join(joined, x)
	}
	var out []ll.Val
	for i := range n {
		out = append(out, e.Shuffle(joined, joined, rangeInts(i*e.w, e.w, func(g int) int { return g%n*e.w + g/n })))
	}
	return out
}

// elements takes one lane's piece apart.
func (e *emitter) elements(a *access, x ll.Val) []ll.Val {
	el := ll.IntType(8 * a.elem)
	x = e.Bitcast(x, ll.Vec(len(a.types), el))
	var out []ll.Val
	for i, t := range a.types {
		v := x
		if len(a.types) > 1 {
			v = e.Extract(x, i)
		}
		out = append(out, e.Bitcast(v, memType(t)))
	}
	return out
}

// piece puts one lane's elements together.
func (e *emitter) piece(a *access, xs []ll.Val) ll.Val {
	el := ll.IntType(8 * a.elem)
	if len(xs) == 1 {
		return e.Bitcast(xs[0], el)
	}
	t := ll.Vec(len(xs), el)
	v := ll.Poison(t)
	for i, x := range xs {
		v = e.Insert(v, e.Bitcast(x, el), i)
	}
	return v
}

// opaque keeps LLVM from merging shuffles that make x with those that take it apart: it would pick single elements.
func (e *emitter) opaque(x ll.Val) ll.Val {
	f := ll.Vec(e.w*x.T.ElemBits()/32, "float")
	return e.Bitcast(e.Intr("arithmetic.fence", e.Bitcast(x, f)), x.T)
}
