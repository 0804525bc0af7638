package warp

import (
	"fmt"

	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// kept is memory for what a warp makes once and the blocks that follow in a row of blocks read back (pass/cross_block_memo.go). It is the
// function's own: another call makes its own.
type kept struct {
	flags  ll.Val // of each warp and round: the row of blocks that it holds, from 1 on; 0: nothing yet
	place  ll.Val
	rounds int // that are kept; a place more for others, if there are
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
				k := &kept{rounds: int(begin.Iters), places: int(begin.Iters) + len(begin.Args)}
				for _, a := range in.Args {
					k.off = append(k.off, k.size)
					k.size += max(64, bytesOf(a.Type)*e.w)
				}
				all := warps * k.places
				k.flags = e.o.Alloca(fmt.Sprintf("[%d x i64]", all), 64)
				k.place = e.o.Alloca(fmt.Sprintf("[%d x i8]", all*k.size), 64)
				e.o.Do("store [%d x i64] zeroinitializer, %s", all, k.flags)
				e.keeps[begin], e.keeps[in] = k, k
			}
		}
	}
}

// emitKeepBegin goes on behind keep if the warp has what it needs.
func emitKeepBegin(e *emitter, in *ir.Inst) {
	k, c, o := e.keeps[in], &e.ctx, e.o
	k.at = e.op2("mul", e.conv("zext", c.warp, "i64"), ll.Int("i64", int64(k.places)))
	kept := ll.Int("i1", 1)
	if len(in.Args) > 0 {
		most := ll.Int("i64", int64(k.rounds))
		round := e.scalar(in.Args[0])
		kept = e.cmp("ult", round, most)
		k.at = e.op2("add", k.at, e.intr("umin", round, most))
	}
	z := e.op2("shl", e.conv("zext", c.ctaid[2], "i64"), ll.Int("i64", 32))
	k.row = e.op2("add", e.op2("or", z, e.conv("zext", c.ctaid[1], "i64")), ll.Int("i64", 1))
	has := o.Op("i64", "load i64, %s", o.Op("ptr", "getelementptr i64, %s, %s", k.flags, k.at))
	make := o.NewLabel("keep.make")
	k.have = o.NewLabel("keep.have")
	o.CondBr(e.op2("and", e.cmp("eq", has, k.row), kept), k.have, make)
	e.label(make)
}

// emitKeep stores what was made, and reads what there is.
func emitKeep(e *emitter, in *ir.Inst) {
	k, o := e.keeps[in], e.o
	place := func() ll.Val {
		return o.Op("ptr", "getelementptr i8, %s, %s", k.place, e.op2("mul", k.at, ll.Int("i64", int64(k.size))))
	}
	p := place()
	for i, a := range in.Args {
		o.Do("store %s, %s, align 64", e.cleaned(a, e.vector(a), e.w), e.at(p, k.off[i]))
	}
	o.Do("store %s, %s", k.row, o.Op("ptr", "getelementptr i64, %s, %s", k.flags, k.at))
	o.Br(k.have)
	e.label(k.have)
	p = place()
	for i, r := range in.Results {
		t := ll.Vec(e.w, typ(r.Type))
		e.set(r, o.Op(t, "load %s, %s, align 64", t, e.at(p, k.off[i])))
	}
}
