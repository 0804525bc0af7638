package warp

import (
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// kept is memory for what a warp makes once and the blocks that follow in a row of blocks read back (pass/cross_block_memo.go). It is the
// function's own: another call makes its own.
type kept struct {
	flags  ll.Val // of each warp and round: the row of blocks that it holds, from 1 on; 0: nothing yet
	place  ll.Val
	iters  int // that are kept; a place more for others, if there are
	places int
	size   int // bytes of one
	off    []int

	at, row ll.Val // where code is being written: the number of the place
	have    string
}

// keepPlaces reserves the memory, empty.
func (e *emitter) keepPlaces() {
	n := e.cfg.Block
	warps := int(n[0]*n[1]*n[2]+31) / 32
	for _, b := range e.f.Blocks {
		var begin *ir.Inst
		for _, in := range b.Insts {
			switch in.Op {
			case ir.KeepBegin:
				begin = in
			case ir.Keep:
				k := &kept{iters: int(begin.Iters), places: int(begin.Iters) + len(begin.Args)}
				for _, a := range in.Args {
					k.off = append(k.off, k.size)
					k.size += max(64, bytesOf(a.Type)*e.w)
				}
				all := warps * k.places
				k.flags = e.Alloca(ll.Array(all, "i64"), 64)
				k.place = e.Alloca(ll.Array(all*k.size, "i8"), 64)
				e.Store(ll.Zero(ll.Array(all, "i64")), k.flags, 0)
				e.keeps[begin], e.keeps[in] = k, k
			}
		}
	}
}

// emitKeepBegin goes on behind keep if the warp has what it needs.
func emitKeepBegin(e *emitter, in *ir.Inst) {
	k, c, o := e.keeps[in], &e.ctx, e.Func
	k.at = e.Mul(e.ZExt(c.warp, "i64"), ll.Int("i64", int64(k.places)))
	kept := ll.Int("i1", 1)
	if len(in.Args) > 0 {
		most := ll.Int("i64", int64(k.iters))
		round := e.scalar(in.Args[0])
		kept = e.ICmp("ult", round, most)
		k.at = e.Add(k.at, e.Intr("umin", round, most))
	}
	z := e.Shl(e.ZExt(c.ctaid[2], "i64"), ll.Int("i64", 32))
	k.row = e.Add(e.Or(z, e.ZExt(c.ctaid[1], "i64")), ll.Int("i64", 1))
	has := o.Load("i64", o.GEP("i64", k.flags, k.at), 0)
	make := o.NewLabel("keep.make")
	k.have = o.NewLabel("keep.have")
	o.CondBr(e.And(e.ICmp("eq", has, k.row), kept), k.have, make)
	e.label(make)
}

// emitKeep stores what was made, and reads what there is.
func emitKeep(e *emitter, in *ir.Inst) {
	k, o := e.keeps[in], e.Func
	place := func() ll.Val {
		return o.GEP("i8", k.place, e.Mul(k.at, ll.Int("i64", int64(k.size))))
	}
	p := place()
	for i, a := range in.Args {
		o.Store(e.cleaned(a, e.vector(a), e.w), e.at(p, k.off[i]), 64)
	}
	o.Store(k.row, o.GEP("i64", k.flags, k.at), 0)
	o.Br(k.have)
	e.label(k.have)
	p = place()
	for i, r := range in.Results {
		t := ll.Vec(e.w, typ(r.Type))
		f, ok := e.readExtended(r.Type, e.at(p, k.off[i]))
		e.set(r, o.Load(t, e.at(p, k.off[i]), 64))
		if ok {
			e.extended[e.vector(r)] = f
		}
	}
}
