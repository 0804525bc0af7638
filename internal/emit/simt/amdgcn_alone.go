package simt

import (
	"kudzu/internal/analysis"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// Two warps of a wave of 64 lanes share a program counter: neither can wait for what the other does at another point of the program. Kernels in which one may
// have to have a wave for each warp: they are launched in one dimension with 64 lanes a warp, of which 32 leave at once, and what the program
// calls its block is an argument (devrt.Block).

// findAlone looks whether the kernel is such a one.
func (e *emitter) findAlone() {
	if e.wave() != 64 {
		return
	}
	e.findBarriers()
	e.alone = e.barriers.ids != 0 || e.barriers.computed
	for _, f := range e.m.Funcs {
		if !e.alone && len(f.Blocks) > 0 {
			e.alone = barriersApart(f)
		}
	}
}

// barriersApart reports barriers of the whole block between which a branch decides that depends on the thread: warps come to it from
// different places.
func barriersApart(f *ir.Func) bool {
	has := map[*ir.Block]bool{}
	for _, b := range f.Blocks {
		for _, in := range b.Insts {
			if in.Op == ir.Bar {
				has[b] = true
			}
		}
	}
	if len(has) < 2 {
		return false
	}
	f.Rewire()
	pdom, by := ir.PostDominators(f), byThread(f)
	for _, b := range f.Blocks {
		t := b.Term()
		if len(t.Targets) < 2 || len(t.Args) == 0 || !by[t.Args[0]] {
			continue
		}
		join := pdom.Idom(b)
		first := barriersFrom(t.Targets[0], join, has)
		for _, s := range t.Targets[1:] {
			if differ(first, barriersFrom(s, join, has)) {
				return true
			}
		}
	}
	return false
}

// differ reports that each of two sets has something that the other has not.
func differ(a, b map[*ir.Block]bool) bool {
	lacks := func(a, b map[*ir.Block]bool) bool {
		for x := range a {
			if !b[x] {
				return true
			}
		}
		return false
	}
	return lacks(a, b) && lacks(b, a)
}

// barriersFrom are the blocks with barriers on the ways from one block to another.
func barriersFrom(from, to *ir.Block, has map[*ir.Block]bool) map[*ir.Block]bool {
	found := map[*ir.Block]bool{}
	for b := range analysis.Reach([]*ir.Block{from}, to) {
		if has[b] {
			found[b] = true
		}
	}
	return found
}

// byThread are the values that are computed from the thread's index in its block. What comes from memory is not followed.
func byThread(f *ir.Func) map[*ir.Value]bool {
	by := map[*ir.Value]bool{}
	for changed := true; changed; {
		changed = false
		for _, b := range f.Blocks {
			for _, in := range b.Insts {
				if len(in.Results) == 0 || by[in.Results[0]] || !fromThread(in, by) {
					continue
				}
				changed = true
				for _, r := range in.Results {
					by[r] = true
				}
			}
		}
	}
	return by
}

func fromThread(in *ir.Inst, by map[*ir.Value]bool) bool {
	switch in.Op {
	case ir.SReg:
		switch in.Sreg {
		case ir.TidX, ir.TidY, ir.TidZ, ir.LaneID, ir.WarpID:
			return true
		}
		return false
	case ir.Load, ir.Atomic, ir.AtomicCAS:
		return false
	}
	for _, a := range in.Args {
		if by[a] {
			return true
		}
	}
	return false
}

// blockSize is the block's three sizes, 16 bits each, as the launch wrote them: the last of the kernel's own arguments.
func (e *emitter) blockSize() ll.Val { return e.hidden("i64", -8) }

// leaving ends the lanes that are no threads.
func (e *emitter) leaving() {
	threads := e.Mul(e.Mul(e.ntid(0), e.ntid(1)), e.ntid(2))
	upper := e.ICmp("ne", e.And(e.workitem(0), ll.Int("i32", 32)), ll.Int("i32", 0))
	gone := e.Or(upper, e.ICmp("uge", e.linearID(), threads))
	out, here := e.NewLabel("gone"), e.NewLabel("here")
	e.CondBr(gone, out, here)
	e.Label(out)
	e.Ret(ll.Val{})
	e.Label(here)
}

// aloneTid is a thread's index from its number.
func (e *emitter) aloneTid(d int) ll.Val {
	n := e.linearID()
	switch d {
	case 0:
		return e.URem(n, e.ntid(0))
	case 1:
		return e.URem(e.UDiv(n, e.ntid(0)), e.ntid(1))
	}
	return e.UDiv(n, e.Mul(e.ntid(0), e.ntid(1)))
}
