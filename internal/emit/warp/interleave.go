package warp

import (
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// Local memory of a warp. Where a kernel keeps its local addresses to itself, element i of all lanes lies side by side: an index that
// is the same in all lanes is a vector load or store, and one that differs is an offset of 32 bits from one base. Where addresses get
// out, as generic ones or to functions, each thread's memory is in one piece.

// interleaving is the size of the elements that the warp's lanes have side by side, or 0: all accesses must be loads and stores of that
// size, and the block's warps full, for the lanes that are missing would have memory too.
func interleaving(m *ir.Module, block [3]uint32) int {
	threads := block[0] * block[1] * block[2]
	if m.Width != 32 || threads == 0 || threads%32 != 0 || len(m.Funcs) > 1 {
		return 0
	}
	size := 0
	for _, b := range m.Funcs[0].Blocks {
		for _, in := range b.Insts {
			n, ok := localElement(in)
			if !ok || n != 0 && size != 0 && n != size {
				return 0
			}
			size = max(size, n)
		}
	}
	return size
}

// localElement is the size of the elements of an access to local memory; 0: it is none; not ok: local memory must be in one piece.
func localElement(in *ir.Inst) (size int, ok bool) {
	switch {
	case in.Op == ir.LocalAddr:
		return 0, in.Sym != ""
	case in.Op == ir.IsSpace || in.Space != ir.Local:
		return 0, true
	case in.Op == ir.Load:
		size = bytesOf(in.Results[0].Type)
	case in.Op == ir.Store:
		size = bytesOf(in.Args[1].Type)
	}
	return size, size != 0 && size <= 8
}

// localStride is how far a lane's local memory is from the next one's.
func (e *emitter) localStride() int64 {
	if e.interleaved != 0 {
		return int64(e.interleaved)
	}
	return int64(e.meta.LocalThread)
}

// inWarp is an offset in a thread's local memory as one in its warp's.
func (e *emitter) inWarp(off ll.Val) ll.Val {
	if e.interleaved == 0 {
		return off
	}
	return e.Mul(off, off.Int(int64(e.w)))
}

// loadInterleaved loads elements of all lanes: side by side at one offset, else by a gather each.
func (e *emitter) loadInterleaved(a *access) []ll.Val {
	var out []ll.Val
	for i, t := range a.types {
		off := i * a.elem * e.w
		switch {
		case a.known && a.size <= int(e.meta.LocalThread):
			out = append(out, e.Load(ll.Vec(e.w, memType(t)), e.at(e.localRow(a), off), a.elem))
		case e.cpu.avx512 && a.elem == 4:
			one := &access{types: a.types[i:], mask: a.mask}
			base, index := e.laneIndex(a)
			out = append(out, e.gather32(one, e.at(base, off), 1, func(h int) ll.Val { return e.slice(index, h, 16) }))
		case e.cpu.avx512 && a.elem < 4:
			out = append(out, e.gatherInWords(memType(t), e.movePtrs(e.pointers(a.in), off), a.mask))
		default:
			out = append(out, e.gatherOne(memType(t), a.elem, e.movePtrs(e.pointers(a.in), off), a.mask))
		}
	}
	return out
}

// localRow is where the elements of all lanes are that a load reads at one offset. It reads those of lanes that do not act, too, so as not to
// wait for the mask: loops in which lanes look for a place in what they keep here are a chain of masks. Where no lane acts the offset may be
// any, and the last is read.
func (e *emitter) localRow(a *access) ll.Val {
	off := e.scalar(a.in.Args[0])
	if !a.all {
		last := off.Int(int64(e.meta.LocalThread) - int64(a.size))
		off = e.Select(e.ICmp("ult", off, last), off, last)
	}
	return e.pointer(ir.Local, off)
}

// laneIndex is where lanes that differ are: the warp's memory, and offsets in it, which are below 2^31.
func (e *emitter) laneIndex(a *access) (base, index ll.Val) {
	off := e.Trunc(e.vector(a.in.Args[0]), "i32")
	index = e.Add(e.inWarp(off), e.offsets(ir.Shape{Stride: e.localStride()}, "i32"))
	return e.IntToPtr(e.base(ir.Local, 1), "ptr"), index
}

// storeInterleaved stores elements of all lanes. No two lanes have an address in common, so that the order does not matter.
func (e *emitter) storeInterleaved(a *access, vals []*ir.Value) {
	for i, v := range vals {
		off := i * a.elem * e.w
		x := e.stored(v, e.w)
		switch {
		case a.known:
			p := e.pointer(ir.Local, e.scalar(a.in.Args[0]))
			e.maskedStore(x, a.elem, e.at(p, off), a.mask, a.all)
		case e.cpu.avx512 && a.elem >= 4:
			base, index := e.laneIndex(a)
			for h := 0; h < e.w; h += 16 {
				part := e.slice(x, h, 16)
				ptrs := e.GEP("i8", e.at(base, off), e.SExt(e.slice(index, h, 16), "i64"))
				e.IntrOf("void", "masked.scatter", []ll.Type{part.T, ptrs.T}, part, ptrs, ll.Int("i32", int64(a.elem)), e.slice(a.mask, h, 16))
			}
		default:
			ptrs := e.movePtrs(e.pointers(a.in), off)
			e.overLanes(a.mask, []ll.Val{ptrs, x}, nil, func(l []ll.Val) []ll.Val {
				e.Store(l[1], l[0], a.elem)
				return nil
			})
		}
	}
}
