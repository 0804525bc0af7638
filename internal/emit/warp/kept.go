package warp

import (
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// What lanes keep of a few words each (pass/pack_stores.go). Where every lane goes on where the one before it ends, all of it is one stretch
// of memory, in the order of lanes: the words are turned into rows of lanes, of which those that are kept are pushed together, a vector at a
// time. Else it is scattered, the lanes' first words, then their second ones.

func emitStoreKept(e *emitter, in *ir.Inst) {
	n := (len(in.Args) - 1) / 2
	mask, all := e.mask(in)
	e.aligned(in, 4, mask, all)
	k := &keptWords{e: e, at: e.offset32(in.Args[0], in)}
	for i := range n {
		k.words = append(k.words, e.Recast(e.stored(in.Args[1+i], e.w), "i32"))
		k.keeps = append(k.keeps, e.vector(in.Args[1+n+i]))
	}
	k.count()
	if e.cfg.Bounds {
		e.boundedShared(in, e.ZExt(k.bytes, "i64"), mask, all)
	}
	if !e.cpu.avx512 {
		k.scatter()
		return
	}
	next := e.Shuffle(k.at, k.at, rangeInts(0, e.w, func(l int) int { return min(l+1, e.w-1) }))
	same := e.Or(e.number(e.ICmp("eq", next, e.Add(k.at, k.bytes))), ll.Int("i32", -1<<31)) // behind the last lane is none
	e.choose(e.ICmp("eq", same, same.Int(-1)), "kept", k.compress, k.scatter)
}

// keptWords is such a store: words, which lanes keep them, and the offset of a lane's first one.
type keptWords struct {
	e            *emitter
	words, keeps []ll.Val
	at           ll.Val
	bits, bytes  ll.Val // of a lane: bit i says whether it keeps word i, and how long all is that it keeps
}

// count makes bits and bytes, as one sum.
func (k *keptWords) count() {
	e, sum := k.e, ll.Zero(ll.Vec(k.e.w, "i32"))
	for i, m := range k.keeps {
		sum = e.Add(sum, e.Select(m, sum.Int(4<<16|1<<i), sum.Int(0)))
	}
	k.bits, k.bytes = sum, e.LShr(sum, sum.Int(16))
}

// scatter stores word by word.
func (k *keptWords) scatter() []ll.Val {
	e, at := k.e, k.at
	for i, x := range k.words {
		if e.cpu.avx512 {
			for h := 0; h < e.w; h += tileRows {
				e.Call("void", "llvm.x86.avx512.mask.scatter.dpi.512", e.ctx.shared, e.slice(k.keeps[i], h, tileRows), e.slice(at, h, tileRows), e.slice(x, h, tileRows), ll.Int("i32", 1))
			}
		} else {
			e.overLanes(k.keeps[i], []ll.Val{at, x}, nil, func(l []ll.Val) []ll.Val {
				e.Store(l[1], e.pointer(ir.Shared, e.SExt(l[0], "i64")), 4)
				return nil
			})
		}
		at = e.Add(at, e.Select(k.keeps[i], at.Int(4), at.Int(0)))
	}
	return nil
}

// compress stores lane by lane, 16 words at a time.
func (k *keptWords) compress() []ll.Val {
	e := k.e
	rows, bits := k.rows()
	p := e.pointer(ir.Shared, e.SExt(e.Extract(k.at, 0), "i64"))
	mt := ll.Vec(tileRows, "i1")
	for i, x := range rows {
		row := e.Extract(bits, i)
		count := e.Intr("ctpop", e.ZExt(row, "i32"))
		x = e.Call(x.T, "llvm.x86.avx512.mask.compress.v16i32", x, ll.Zero(x.T), e.Bitcast(row, mt))
		first := e.Trunc(e.Sub(e.Shl(ll.Int("i32", 1), count), ll.Int("i32", 1)), "i16")
		e.maskedStore(x, 4, p, e.Bitcast(first, mt), false)
		p = e.GEP("i32", p, e.ZExt(count, "i64"))
	}
	return nil
}

// rows are the words lane by lane, in vectors of two lanes' eight words or of one's sixteen, and for each a number of the bits that say which
// of them are kept.
func (k *keptWords) rows() (rows []ll.Val, bits ll.Val) {
	e, width := k.e, packedRow
	if len(k.words) > packedRow {
		width = tileRows
	}
	words := make([]ll.Val, width)
	for i := range words {
		words[i] = ll.Zero(ll.Vec(e.w, "i32"))
	}
	copy(words, k.words)
	if width == packedRow {
		return e.packRows(words), e.Bitcast(e.Trunc(k.bits, "i8"), "<16 x i16>")
	}
	for h := 0; h < e.w; h += tileRows {
		part := make([]ll.Val, width)
		for i := range part {
			part[i] = e.slice(words[i], h, tileRows)
		}
		rows = append(rows, e.turn(part)...)
	}
	return rows, e.Trunc(k.bits, "i16")
}
