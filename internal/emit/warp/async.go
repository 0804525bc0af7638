package warp

import (
	"kudzu/internal/emit"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// emitCopyAsync copies at once: the wait that follows has nothing to wait for. Bytes past the source's are zero. Programs say how many there
// are by the lane, all or none of them at a tile's border; where no lane lacks any, which is asked once, copies are plain moves.
func emitCopyAsync(e *emitter, in *ir.Inst) {
	n := int(in.Bytes)
	dst := &ir.Inst{Op: ir.Store, Args: []*ir.Value{in.Args[0]}, Mask: in.Mask, Line: in.Line, Block: in.Block, Attr: ir.Attr{Space: ir.Shared}}
	src := &ir.Inst{Op: ir.Load, Args: []*ir.Value{in.Args[1]}, Mask: in.Mask, Line: in.Line, Block: in.Block, Attr: ir.Attr{Space: ir.Global}}
	mask, all := e.mask(in)
	e.aligned(dst, n, mask, all)
	e.aligned(src, n, mask, all)
	e.bounded(dst, n, mask, all)
	sp := e.pointers(src)
	dp := e.pointers(dst)
	move := func(to, from ll.Val) { e.Store(e.Load(pieceTypes[n], from, 4), to, 4) }
	whole := func() []ll.Val {
		if all && e.w == 32 {
			e.moveLoop(dp, sp, move)
			return nil
		}
		return e.overLanes(mask, []ll.Val{dp, sp}, nil, func(l []ll.Val) []ll.Val {
			move(l[0], l[1])
			return nil
		})
	}
	if in.Args[2].Const && in.Args[2].Bits >= uint64(n) {
		whole()
		return
	}
	size := e.vector(in.Args[2])
	lacking := func() []ll.Val {
		return e.overLanes(mask, []ll.Val{dp, sp, size}, nil, func(l []ll.Val) []ll.Val {
			for off := 0; off < n; off += 4 {
				// The size need not be whole words: bytes past it are zero.
				in := e.ICmp("ugt", l[2], ll.Int("i32", int64(off)))
				x := e.choose(in, "src", func() []ll.Val { return []ll.Val{e.Load("i32", e.at(l[1], off), 4)} },
					func() []ll.Val { return []ll.Val{ll.Int("i32", 0)} })[0]
				left := e.Intr("umin", e.Intr("usub.sat", l[2], ll.Int("i32", int64(off))), ll.Int("i32", 4))
				keep := e.Not(emit.ShiftBy(e.Func, "shl", ll.Int("i32", -1), e.Shl(left, ll.Int("i32", 3))))
				e.Store(e.And(x, keep), e.at(l[0], off), 4)
			}
			return nil
		})
	}
	if e.w == 1 {
		lacking()
		return
	}
	lacks := e.ICmp("ult", size, size.Int(int64(n)))
	if !all {
		lacks = e.And(lacks, mask)
	}
	e.choose(e.ICmp("eq", e.number(lacks), ll.Int("i32", 0)), "whole", whole, lacking)
}

// moveLoop moves from one address to another for each lane, four in a turn, as scatterLoop does.
func (e *emitter) moveLoop(dp, sp ll.Val, move func(to, from ll.Val)) {
	const each = 4
	o := e.Func
	to, from := e.room("ptr", 0), e.room("ptr", 1)
	o.Store(dp, to, 64)
	o.Store(sp, from, 64)
	pre, head, out := o.Cur(), o.NewLabel("move"), o.NewLabel("move.out")
	o.Br(head)
	o.Label(head)
	lane := o.Phi("i64")
	lane.Add(ll.Int("i64", 0), pre)
	p, q := o.GEP("ptr", to, lane.Val), o.GEP("ptr", from, lane.Val)
	for l := range each {
		move(o.Load("ptr", e.at(p, 8*l), 8), o.Load("ptr", e.at(q, 8*l), 8))
	}
	next := o.Add(lane.Val, ll.Int("i64", each))
	lane.Add(next, head)
	o.CondBr(o.ICmp("ult", next, ll.Int("i64", int64(e.w))), head, out)
	e.label(out)
}
