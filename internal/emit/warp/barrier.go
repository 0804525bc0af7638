package warp

import (
	"slices"

	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// slots gives the values that live across barriers their memory: a variable of the function, which is a register between
// barriers, and a place in the warp's frame. Values that never live across the same barrier share a place: matrix products have hundreds of
// accumulators, of which each is live in a part of the kernel only, and a frame that stays in the cache is worth more than any order in it.
func (e *emitter) slots() {
	r := e.f.Regions
	if r == nil {
		return
	}
	e.settleRegions()
	if r.PerWarp {
		e.layoutCollect()
	}
	if r.PerWarp || e.regionsWait() {
		e.frame = max(64, (e.coll.bytes+63)&^63) // the warp's state
	}
	across := map[*ir.Value]pointSet{}
	for k, p := range r.Points {
		for _, v := range p.Live {
			if across[v] == nil {
				across[v] = make(pointSet, len(r.Points)/64+1)
			}
			across[v][k/64] |= 1 << (k % 64)
		}
	}
	places := map[int][]*framePlace{}
	for _, p := range r.Points {
		for _, v := range p.Live {
			x := e.rep(v)
			if !x.scalarSlot.IsZero() || !x.vecSlot.IsZero() {
				continue
			}
			t, s := typ(v.Type), v.Shape
			if s.Kind < ir.Affine {
				x.offset = e.place(places, frameBytes(v.Type)*e.w, 64, across[v])
				x.vecSlot = e.Alloca(ll.Vec(e.w, t), 64)
			}
			if s.Kind >= ir.Affine || s.Guess {
				n := max(frameBytes(v.Type), 1)
				at := e.place(places, n, n, across[v])
				if s.Kind >= ir.Affine {
					x.offset = at
				} else {
					x.guessOffset = at
				}
				x.scalarSlot = e.Alloca(t, 16)
			}
		}
	}
	e.findFramed()
}

// pointSet is a set of resume points.
type pointSet []uint64

// framePlace is a part of the frame, and the points across which it is taken.
type framePlace struct {
	offset int
	taken  pointSet
}

// place finds so many bytes in the frame that are free across these points. What was there is stored at others only: code between two of
// them still finds what it loads where it uses it.
func (e *emitter) place(places map[int][]*framePlace, bytes, align int, points pointSet) int {
	kind := bytes<<8 | align
	for _, p := range places[kind] {
		if p.free(points) {
			for i, w := range points {
				p.taken[i] |= w
			}
			return p.offset
		}
	}
	at := (e.frame + align - 1) &^ (align - 1)
	places[kind] = append(places[kind], &framePlace{at, slices.Clone(points)})
	e.frame = at + bytes
	return at
}

func (p *framePlace) free(points pointSet) bool {
	for i, w := range points {
		if p.taken[i]&w != 0 {
			return false
		}
	}
	return true
}

func frameBytes(t ir.Type) int {
	if t == ir.I1 {
		return 1 // a vector of 32 bits takes 4 bytes and gets 32
	}
	return bytesOf(t)
}

// save stores what lives across point k into the warp's frame.
func (e *emitter) save(k int) {
	for _, v := range e.f.Regions.Points[k-1].Live {
		r := e.vals[v]
		if e.inFrame(r) {
			continue
		}
		t := typ(v.Type)
		if !r.vecSlot.IsZero() {
			vt := ll.Vec(e.w, t)
			x := e.Load(vt, r.vecSlot, 0)
			e.toMemory(x, e.at(e.ctx.warpFrame, r.offset), v.Type == ir.I1, 64)
		}
		if !r.scalarSlot.IsZero() {
			x := e.Load(t, r.scalarSlot, 0)
			off := r.offset
			if !r.vecSlot.IsZero() {
				off = r.guessOffset
			}
			e.toMemory(x, e.at(e.ctx.warpFrame, off), false, 1)
		}
	}
}

// restore loads what lives across point k from the warp's frame.
func (e *emitter) restore(k int) {
	e.Line = 0
	for _, v := range e.f.Regions.Points[k-1].Live {
		r := e.vals[v]
		t := typ(v.Type)
		if !r.vecSlot.IsZero() {
			x := e.fromMemory(ll.Vec(e.w, t), e.at(e.ctx.warpFrame, r.offset), v.Type == ir.I1, 64)
			e.Store(x, r.vecSlot, 0)
		}
		if !r.scalarSlot.IsZero() {
			off := r.offset
			if !r.vecSlot.IsZero() {
				off = r.guessOffset
			}
			x := e.fromMemory(t, e.at(e.ctx.warpFrame, off), false, 1)
			e.Store(x, r.scalarSlot, 0)
		}
	}
	e.barResult(k)
}

// Vectors of bits are a number in memory. Where masks have registers of their own they are not called one: LLVM before 20
// exchanges a|b of two masks that are bitcasts of numbers, and the bitcast of the numbers' a|b, for ever if both are used
// elsewhere in the block (llvm/llvm-project 123333).
func (e *emitter) toMemory(x, p ll.Val, bits bool, align int) {
	if bits {
		if align = 4; !e.cpu.avx512 {
			x = e.Bitcast(x, "i32")
		}
	}
	if x.T == "i1" {
		x = e.ZExt(x, "i8")
	}
	e.Store(x, p, align)
}

func (e *emitter) fromMemory(t ll.Type, p ll.Val, bits bool, align int) ll.Val {
	switch {
	case bits && e.cpu.avx512:
		align = 4
	case bits:
		x := e.Load("i32", p, 4)
		return e.Bitcast(x, t)
	case t == "i1":
		x := e.Load("i8", p, 0)
		return e.Trunc(x, "i1")
	}
	return e.Load(t, p, align)
}

// frameOf is the frame of a warp.
func (e *emitter) frameOf(warp ll.Val) ll.Val {
	i := e.ZExt(warp, "i64")
	size := (e.frame + 63) &^ 63
	if e.jam > 1 { // one for all that are jammed
		i = e.UDiv(i, ll.Int("i64", int64(e.jam)))
	}
	off := e.Mul(i, i.Int(int64(size)))
	if b := int(e.blockFrame()); b > 0 {
		off = e.Add(off, off.Int(int64(b)))
	}
	return e.GEP("i8", e.ctx.frame, off)
}

// suspended reports a block that ends in a barrier: control does not go on to its successor by itself.
func (e *emitter) suspended(b *ir.Block) bool { return e.pointOf(b) > 0 }

// pointOf is the number of the resume point that b ends in, 0: none.
func (e *emitter) pointOf(b *ir.Block) int {
	if e.f.Regions == nil || len(b.Insts) < 2 {
		return 0
	}
	in := b.Insts[len(b.Insts)-2]
	if in.Op != ir.Bar && in.Op != ir.CallRt && !(e.w == 1 && isCollective(in.Op)) {
		return 0
	}
	if e.points == nil {
		e.points = map[*ir.Inst]int{}
		for i := range e.f.Regions.Points {
			e.points[e.f.Regions.Points[i].At] = i + 1
		}
	}
	return e.points[in]
}

// emitBar ends the warp's turn. Behind a barrier that all warps of the block reach the next warp runs, then the next region.
func emitBar(e *emitter, in *ir.Inst) {
	k := e.pointOf(in.Block)
	if e.f.Regions.PerWarp && in.BarKind == ir.BarPace {
		e.save(k)
		e.Store(ll.Int("i32", int64(k)), e.at(e.ctx.warpFrame, warpPC), 0) // it stays running, and goes on in the next round
		return
	}
	if e.f.Regions.PerWarp {
		e.perWarpBar(in, k)
		return
	}
	if in.BarKind != ir.BarSync && in.BarKind != ir.BarPace {
		e.reduceBar(in)
	}
	e.save(k)
	e.Store(ll.Int("i32", int64(k)), e.ctx.nextPC, 0)
}

// reduceBar adds the warp's part of a barrier reduction to the block's; the first warp starts it.
func (e *emitter) reduceBar(in *ir.Inst) {
	c, o := &e.ctx, e.Func
	part := e.barPart(in)
	old := o.Load("i32", c.redAcc, 0)
	sum := e.barCombine(in.BarKind, old, part)
	first := o.ICmp("eq", c.warp, c.warp.Int(0))
	x := o.Select(first, part, sum)
	o.Store(x, c.redAcc, 0)
}

// barPart is the warp's part: the number of lanes with the predicate, or 0 and 1.
func (e *emitter) barPart(in *ir.Inst) ll.Val {
	o := e.Func
	act := e.active(in)
	p := e.ballot(in.Args[2])
	switch in.BarKind {
	case ir.BarRedPopc:
		x := o.And(p, act)
		return o.Call("i32", "llvm.ctpop.i32", x)
	case ir.BarRedAnd:
		x := o.Xor(p, p.Int(-1))
		x = o.And(x, act)
		y := o.ICmp("eq", x, x.Int(0))
		return o.ZExt(y, "i32")
	}
	x := o.And(p, act)
	y := o.ICmp("ne", x, x.Int(0))
	return o.ZExt(y, "i32")
}

func (e *emitter) barCombine(k ir.BarKind, a, b ll.Val) ll.Val {
	op := map[ir.BarKind]ll.Bin{ir.BarRedPopc: "add", ir.BarRedAnd: "and", ir.BarRedOr: "or"}[k]
	return e.Binary(op, a, b)
}

// barResult gives the result of the barrier at point k where the warp goes on.
func (e *emitter) barResult(k int) {
	at := e.f.Regions.Points[k-1].At
	if len(at.Results) == 0 {
		return
	}
	if isCollective(at.Op) {
		e.collectResult(k)
		return
	}
	var x ll.Val
	if e.f.Regions.PerWarp {
		x = e.load("i32", e.ctx.warpFrame, warpRed, "")
	} else {
		x = e.Load("i32", e.ctx.redDone, 0)
	}
	if at.Results[0].Type == ir.I1 {
		x = e.ICmp("ne", x, x.Int(0))
	}
	v := at.Results[0]
	if v.Shape.Kind < ir.Affine {
		x = e.splat(x)
	}
	e.set(v, x)
}
