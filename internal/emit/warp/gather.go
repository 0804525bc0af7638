package warp

import (
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// gather loads lane by lane.
func (e *emitter) gather(a *access) []ll.Val {
	if e.cpu.avx512 && e.w == 32 && a.known && a.near() && len(a.types) == 1 && a.elem == 4 {
		return []ll.Val{e.gatherKnown(a)}
	}
	if e.cpu.avx512 && e.w == 32 && !a.known && len(a.types) == 1 && a.elem == 4 && a.in.Space != ir.Local {
		if p, ok := e.takeApartBiased(a.in.Args[0], a.in); ok {
			base := e.at(e.pointer(a.in.Space, p.base), int(p.off))
			return []ll.Val{e.gather32(a, base, p.scale, func(h int) ll.Val { return e.slice(p.index, h, 16) })}
		}
		if a.in.Space == ir.Shared { // where addresses are 32 bits
			index := e.offset32(a.in.Args[0], a.in)
			return []ll.Val{e.gather32(a, e.ctx.shared, 1, func(h int) ll.Val { return e.slice(index, h, 16) })}
		}
	}
	if e.cpu.avx512 && e.w == 32 && !a.known && len(a.types) == 1 && a.elem < 4 && a.in.Space != ir.Local && !a.in.Volatile && a.in.Order == ir.Weak {
		return []ll.Val{e.gatherSmall(a)}
	}
	if len(a.types) > 1 && a.elem < 8 {
		return e.gatherPieces(a)
	}
	ptrs := e.pointers(a.in)
	var out []ll.Val
	off := 0
	for _, t := range a.types {
		out = append(out, e.gatherOne(memType(t), bytesOf(t), e.movePtrs(ptrs, off), a.mask))
		off += bytesOf(t)
	}
	return out
}

// loadQuads loads words of which each four lanes' follow each other: eight vectors of four.
func (e *emitter) loadQuads(a *access) []ll.Val {
	fast := func() []ll.Val {
		at := e.vector(a.in.Args[0])
		t := memType(a.types[0])
		var parts []ll.Val
		for l := 0; l < e.w; l += 4 {
			p := e.pointer(a.in.Space, e.Extract(at, l))
			parts = append(parts, e.LoadAs(ll.Vec(4, t), p, ll.Access{Align: 4, Meta: a.ro}))
		}
		return []ll.Val{e.concat(parts)}
	}
	if a.all {
		return fast()
	}
	full := e.ICmp("eq", e.number(a.mask), ll.Int("i32", -1))
	return e.choose(full, "quads", fast, func() []ll.Val { return e.gather(a) })
}

// gatherPieces gathers the elements of up to 8 bytes of a lane together, and takes them apart.
func (e *emitter) gatherPieces(a *access) []ll.Val {
	var out []ll.Val
	take := func(x ll.Val, n int) {
		bits := 8 * a.elem
		for i := range n {
			y := x
			if i > 0 {
				y = e.LShr(x, x.Int(int64(i*bits)))
			}
			out = append(out, e.Recast(e.Trunc(y, ll.IntType(bits)), memType(a.types[len(out)])))
		}
	}
	if a.size < 8 {
		one := *a
		one.types, one.elem = []ir.Type{map[int]ir.Type{2: ir.I16, 4: ir.I32}[a.size]}, a.size
		take(e.gather(&one)[0], len(a.types))
		return out
	}
	ptrs := e.pointers(a.in)
	for off := 0; off < a.size; off += 8 {
		take(e.gatherOne("i64", a.elem, e.movePtrs(ptrs, off), a.mask), 8/a.elem)
	}
	return out
}

// near reports lanes whose distances fit 32 bits.
func (a *access) near() bool {
	for l := 0; l < 32; l++ {
		if off := laneOffset(a.shape, l); off != int64(int32(off)) {
			return false
		}
	}
	return true
}

// gatherKnown reads lanes at known distances. The distances stay 32 bits wide, which LLVM would make 64: twice the gathers.
func (e *emitter) gatherKnown(a *access) ll.Val {
	base := e.pointer(a.in.Space, e.scalar(a.in.Args[0]))
	return e.gather32(a, base, 1, func(h int) ll.Val {
		off := make([]int64, 16)
		for l := range off {
			off[l] = laneOffset(a.shape, h+l)
		}
		return ll.ConstVec("i32", off)
	})
}

// gather32 gathers elements of 32 bits at base + scale × index, 16 lanes at a time.
func (e *emitter) gather32(a *access, base ll.Val, scale int64, index func(h int) ll.Val) ll.Val {
	t := memType(a.types[0])
	name, vt := "llvm.x86.avx512.mask.gather.dpi.512", ll.Vec(16, t)
	if t == "float" {
		name = "llvm.x86.avx512.mask.gather.dps.512"
	}
	var got []ll.Val
	for h := 0; h < e.w; h += 16 {
		got = append(got, e.Call(vt, name, ll.Zero(vt), base, index(h), e.slice(a.mask, h, 16), ll.Int("i32", scale)))
	}
	return e.concat(got)
}

// gatherSmall gathers bytes or halves: processors gather no less than 32 bits, but an element lies in one aligned word, and
// where it may be read the word may. One by one they would cost four times as much.
func (e *emitter) gatherSmall(a *access) ll.Val {
	p, ok := e.takeApart(a.in.Args[0], a.in)
	switch {
	case ok && p.scale <= 2:
		p.base = e.pointer(a.in.Space, p.base)
	case a.in.Space == ir.Shared: // where addresses are 32 bits
		p = parts{base: e.ctx.shared, index: e.offset32(a.in.Args[0], a.in), scale: 1}
	default:
		return e.gatherInWords(memType(a.types[0]), e.pointers(a.in), a.mask)
	}
	base := e.Add(e.PtrToInt(p.base), ll.Int("i64", p.off))
	start := e.IntToPtr(e.And(base, ll.Int("i64", -4)), "ptr")
	first := e.splat(e.Trunc(e.And(base, ll.Int("i64", 3)), "i32"))
	// The sum of index and first may need 33 bits: words and bytes are added apart.
	each := 4 / p.scale // indices a word
	rest := e.And(p.index, p.index.Int(each-1))
	if p.scale == 2 {
		rest = e.Shl(rest, rest.Int(1))
	}
	rest = e.Add(rest, first)
	word := e.Add(e.AShr(p.index, p.index.Int(each/2)), e.LShr(rest, rest.Int(2)))
	a4 := &access{in: a.in, types: []ir.Type{ir.I32}, mask: a.mask, all: a.all}
	words := e.gather32(a4, start, 4, func(h int) ll.Val { return e.slice(word, h, 16) })
	low := e.Shl(e.And(rest, rest.Int(3)), rest.Int(3))
	return e.Recast(e.Trunc(e.LShr(words, low), ll.IntType(8*a.elem)), memType(a.types[0]))
}

// gatherInWords gathers bytes or halves out of the words that they lie in.
func (e *emitter) gatherInWords(t ll.Type, ptrs, mask ll.Val) ll.Val {
	at := e.PtrToInt(ptrs)
	words := e.gatherOne("i32", 4, e.IntToPtr(e.And(at, at.Int(-4)), "ptr"), mask)
	low := e.Trunc(e.And(at, at.Int(3)), "i32")
	low = e.Shl(low, low.Int(3))
	return e.Recast(e.Trunc(e.LShr(words, low), ll.IntType(t.ElemBits())), t)
}

func (e *emitter) movePtrs(p ll.Val, off int) ll.Val {
	if off == 0 {
		return p
	}
	return e.Offset(p, int64(off))
}

// gatherOne reads one element a lane. Processors gather 32 and 64 bits; smaller elements are read one by one.
func (e *emitter) gatherOne(t ll.Type, align int, ptrs, mask ll.Val) ll.Val {
	vt := ll.Vec(e.w, t)
	if e.w == 1 {
		return e.Load(vt, ptrs, align)
	}
	return e.IntrOf(vt, "masked.gather", []ll.Type{vt, ptrs.T}, ptrs, ll.Int("i32", int64(align)), mask, ll.Zero(vt))
}
