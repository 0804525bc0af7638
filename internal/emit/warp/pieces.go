package warp

import (
	"fmt"

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
func (a *access) units() (t string, n int) {
	bytes := min(a.elem, 8)
	return fmt.Sprintf("i%d", 8*bytes), a.size / bytes
}

// pieceTypes are what LLVM moves with one instruction, by bytes.
var pieceTypes = map[int]string{2: "i16", 4: "i32", 8: "i64", 16: "<2 x i64>", 32: "<4 x i64>"}

// how is the word and the alignment of a piece's access. The address was tested for the whole size in the space's own numbers, which for
// memory that all blocks see are the machine's.
func (a *access) how() (word string, align int) {
	switch {
	case a.whole():
		return "volatile ", a.size
	case watched(a.in):
		return "volatile ", a.elem
	}
	return "", a.elem
}

func (e *emitter) loadPiece(a *access, p ll.Val) ll.Val {
	t := pieceTypes[a.size]
	word, align := a.how()
	x := e.o.Op(t, "load %s%s, %s, align %d%s", word, t, p, align, a.ro)
	u, n := a.units()
	return e.recast(x, ll.Vec(n, u))
}

func (e *emitter) storePiece(a *access, x, p ll.Val) {
	word, align := a.how()
	e.o.Do("store %s%s, %s, align %d", word, e.recast(x, pieceTypes[a.size]), p, align)
}

// recast is x as another type of its size.
func (e *emitter) recast(x ll.Val, t string) ll.Val {
	if x.T == t {
		return x
	}
	return e.o.Op(t, "bitcast %s to %s", x, t)
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
	return func(l int) ll.Val { return e.o.Op("ptr", "extractelement %s, i64 %d", ptrs, l) }
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
		zero[i] = ll.Val{T: vt, S: "zeroinitializer"}
	}
	t := pieceTypes[a.size]
	room := e.putImage(a, zero)
	e.eachLane(a.mask, true, []ll.Val{e.pointers(a.in)}, nil, func(lane ll.Val, l []ll.Val) []ll.Val {
		x := e.recast(e.loadPiece(a, l[0]), t)
		e.o.Do("store %s, %s", x, e.o.Op("ptr", "getelementptr %s, %s, %s", t, room, lane))
		return nil
	})
	for i := range image {
		image[i] = e.o.Op(vt, "load %s, %s, align 64", vt, e.at(room, i*e.w*a.size/n))
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
	image := e.toImage(a, xs)
	_, n := a.units()
	if a.all {
		at := e.lanePointers(a)
		each := e.w / n
		for i := range image {
			image[i] = e.opaque(image[i])
		}
		for l := range e.w {
			e.storePiece(a, e.slice(image[l/each], l%each*n, n), at(l))
		}
		return
	}
	t := pieceTypes[a.size]
	room := e.putImage(a, image)
	e.eachLane(a.mask, false, []ll.Val{e.pointers(a.in)}, nil, func(lane ll.Val, l []ll.Val) []ll.Val {
		x := e.o.Op(t, "load %s, %s", t, e.o.Op("ptr", "getelementptr %s, %s, %s", t, room, lane))
		e.storePiece(a, x, l[0])
		return nil
	})
}

// putImage puts the lanes' pieces into memory of the function.
func (e *emitter) putImage(a *access, image []ll.Val) ll.Val {
	const slot = 100 // loops over lanes have their own
	room := e.room(pieceTypes[a.size], slot)
	for i, x := range image {
		e.o.Do("store %s, %s, align 64", x, e.at(room, i*e.w*a.size/len(image)))
	}
	return room
}

// fromImage gives the elements of all lanes, from vectors that lie end to end as the lanes' memory does.
func (e *emitter) fromImage(a *access, image []ll.Val) []ll.Val {
	n := len(a.types)
	if a.elem > 8 {
		t := ll.Vec(e.w*n, "i128")
		x := e.recast(e.concat(image), t)
		image = nil
		for i := range n {
			image = append(image, e.slice(x, i*e.w, e.w))
		}
	}
	var out []ll.Val
	for i, t := range a.types {
		out = append(out, e.conv("bitcast", e.pick(image, n, i), memType(t)))
	}
	return out
}

// toImage is the way back.
func (e *emitter) toImage(a *access, xs []ll.Val) []ll.Val {
	for i, x := range xs {
		xs[i] = e.conv("bitcast", x, fmt.Sprintf("i%d", 8*a.elem))
	}
	image := e.interleave(xs)
	if a.elem <= 8 {
		return image
	}
	var halves []ll.Val
	for _, x := range image {
		y := e.recast(x, ll.Vec(2*e.w, "i64"))
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
		out = append(out, e.shuffle(joined, joined, rangeInts(i*e.w, e.w, func(g int) int { return g%n*e.w + g/n })))
	}
	return out
}

// elements takes one lane's piece apart.
func (e *emitter) elements(a *access, x ll.Val) []ll.Val {
	el := fmt.Sprintf("i%d", 8*a.elem)
	x = e.recast(x, ll.Vec(len(a.types), el))
	var out []ll.Val
	for i, t := range a.types {
		v := x
		if len(a.types) > 1 {
			v = e.o.Op(el, "extractelement %s, i64 %d", x, i)
		}
		out = append(out, e.recast(v, memType(t)))
	}
	return out
}

// piece puts one lane's elements together.
func (e *emitter) piece(a *access, xs []ll.Val) ll.Val {
	el := fmt.Sprintf("i%d", 8*a.elem)
	if len(xs) == 1 {
		return e.recast(xs[0], el)
	}
	t := ll.Vec(len(xs), el)
	v := ll.Val{T: t, S: "poison"}
	for i, x := range xs {
		v = e.o.Op(t, "insertelement %s, %s, i64 %d", v, e.recast(x, el), i)
	}
	return v
}

// opaque keeps LLVM from merging shuffles that make x with those that take it apart: it would pick single elements.
func (e *emitter) opaque(x ll.Val) ll.Val {
	f := ll.Vec(e.w*intBits(x.T)/32, "float")
	return e.recast(e.o.Call(f, "llvm.arithmetic.fence."+suffix(f), e.recast(x, f)), x.T)
}
