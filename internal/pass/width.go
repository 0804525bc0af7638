package pass

import (
	"slices"

	"kudzu/internal/analysis"
	"kudzu/internal/ir"
)

// rtYield is image.RtYield and rtAssert image.RtAssert: passes know nothing of images, but the first entry of the runtime is theirs to ask
// for, and the second ends the kernel wherever it stands.
const (
	rtAssert = 3
	rtYield  = 6
)

// width decides how many lanes run together and where they let others run. After it Module.Width is 32, or 1 where lanes
// of a warp may wait on each other or are faster one by one, and every loop that waits on memory has a yield before it goes round
// again: what it waits for is mostly there when it first looks.
//
// A loop waits if whether it goes on depends on memory that others write: a volatile or ordered load from one address, or
// an atomic with the same operands each time (a lock). A compare-and-swap with what was just read always lets some lane
// succeed, and is no wait. Locks that one lane of each warp takes for the others, always the same one, keep lanes
// together (one_lane.go). Lanes wait on each other too where they meet in an operation of the warp or at a barrier, but
// come back at different times from a function that is there only once.
func width(st *state) error {
	f := st.f
	st.m.Width = 32
	f.Rewire()
	alone, err := returnApart(st)
	if err != nil {
		return err
	}
	li := st.loops()
	var waits, locks []*ir.Loop
	for _, l := range li.Loops {
		load, lock := waitsOn(l)
		if load == nil && lock == nil {
			continue
		}
		waits = append(waits, l)
		if lock != nil {
			locks = append(locks, l)
		}
		alone = alone || siblingsWrite(st, l)
	}
	alone = alone || !oneLaneTakes(st, locks)
	if len(waits) == 0 && !alone {
		if st.always("width") && matrixOp(f) == nil || !st.never("width") && preferScalar(st) {
			st.m.Width = 1
			return nil
		}
		return st.unchanged()
	}
	if alone {
		if in := matrixOp(f); in != nil && in.Op != ir.Mma {
			return &ir.Unsupported{What: "lanes of a warp that wait on each other (a lock, a recursive function) in a kernel with matrix operations", Line: int(in.Line)}
		}
		st.m.Width = 1
	}
	for _, l := range waits {
		y := f.NewInst(ir.CallRt, nil)
		y.Entry, y.Sym = rtYield, "yield"
		y.Line = l.Header.Term().Line
		beforeTerm(latchOf(f, l), y)
	}
	f.Rewire()
	return nil
}

// latchOf is the block that all ways back to a loop's header lead through.
func latchOf(f *ir.Func, l *ir.Loop) *ir.Block {
	if len(l.Latches) == 1 && len(l.Latches[0].Succs()) == 1 {
		return l.Latches[0]
	}
	return mergePreds(f, l.Header, l.Latches)
}

// returnApart reports an operation that lanes do together between calls from which they return in different iterations: the
// first would do it without the others. (Behind the last call they have left the loop that the calls are, and are
// together again.)
func returnApart(st *state) (bool, error) {
	candidate := func() (returns []*ir.Inst) {
		for _, l := range st.loops().Loops {
			meet := false
			var here []*ir.Inst
			for _, b := range l.Blocks {
				if t := b.Term(); t.Op == ir.Switch && t.Return {
					here = append(here, t)
				}
				for _, in := range b.Insts {
					meet = meet || in.Op == ir.Bar || gathers(in.Op) || isMatrix(in.Op)
				}
			}
			if meet {
				returns = append(returns, here...)
			}
		}
		return returns
	}
	// Before structure there are loops with two entries, which candidate does not see.
	returns, meet := false, false
	for _, b := range st.f.Blocks {
		if t := b.Term(); t.Op == ir.Switch && t.Return {
			returns = true
		}
		for _, in := range b.Insts {
			meet = meet || in.Op == ir.Bar || gathers(in.Op) || isMatrix(in.Op)
		}
	}
	if !returns || !meet {
		return false, nil
	}
	// Without matrix operations, which are slow with lanes one by one, nothing is risked: random programs found lanes that come
	// to a vote behind a loop of two entries in different iterations although every loop looked right.
	if matrixOp(st.f) == nil {
		return true, nil
	}
	// Whether lanes return together is seen where each loop has one entry and one latch.
	if err := loopSimplify(st); err != nil {
		return false, err
	}
	a := st.shapes()
	for _, t := range candidate() {
		if a.fact(t.Args[0]).kind < ir.WarpUniform {
			return true, nil
		}
	}
	return false, nil
}

// matrixOp is an operation on matrices. Lanes one by one gather for a product (regions); the others need them in one vector, and lower
// makes them only for targets that have them.
func matrixOp(f *ir.Func) *ir.Inst {
	for _, b := range f.Blocks {
		for _, in := range b.Insts {
			if isMatrix(in.Op) {
				return in
			}
		}
	}
	return nil
}

func isMatrix(op ir.Op) bool {
	switch op {
	case ir.Mma, ir.LdMatrix, ir.StMatrix, ir.MovMatrix:
		return true
	}
	return false
}

// waitsOn finds what the loop's exits wait for: a load, or an atomic that takes a lock.
func waitsOn(l *ir.Loop) (load, lock *ir.Inst) {
	w := &exitSlice{l: l, seen: map[*ir.Inst]bool{}}
	for _, b := range l.Blocks {
		t := b.Term()
		for _, s := range t.Targets {
			if !l.Contains(s) {
				w.push(t.Args)
			}
		}
	}
	for len(w.work) > 0 {
		in := w.work[len(w.work)-1]
		w.work = w.work[:len(w.work)-1]
		switch in.Op {
		case ir.Load:
			if (in.Volatile || in.Order != ir.Weak) && loopInvariant(l, in.Args[0], 0) {
				load = in
			}
		case ir.Atomic, ir.AtomicCAS:
			switch {
			case !allInvariant(l, in.Args, 0):
			case readsOnly(in):
				lock, load = nil, in
			default:
				lock = in
			}
		default:
			w.push(in.Args)
		}
	}
	return load, lock
}

// exitSlice is the backward slice of the conditions under which a loop is left: a worklist of its instructions in the loop.
type exitSlice struct {
	l    *ir.Loop
	seen map[*ir.Inst]bool
	work []*ir.Inst
}

func (w *exitSlice) push(vs []*ir.Value) {
	for _, v := range vs {
		if v.Def != nil && w.l.Contains(v.Def.Block) && !w.seen[v.Def] {
			w.seen[v.Def] = true
			w.work = append(w.work, v.Def)
		}
	}
}

// loopInvariant reports a value from outside the loop, or computed in it from what does not change.
func loopInvariant(l *ir.Loop, v *ir.Value, depth int) bool {
	d := v.Def
	if d == nil || !l.Contains(d.Block) || d.Op == ir.VarAddr || d.Op == ir.SharedAddr {
		return true
	}
	return depth <= 6 && d.Op != ir.Phi && d.Op.Row().Effects == 0 && allInvariant(l, d.Args, depth+1)
}

func allInvariant(l *ir.Loop, vs []*ir.Value, depth int) bool {
	for _, v := range vs {
		if !loopInvariant(l, v, depth) {
			return false
		}
	}
	return true
}

// readsOnly reports an atomic that is a way to read: it adds nothing, or ors it.
func readsOnly(in *ir.Inst) bool {
	return in.Op == ir.Atomic && (in.AtomOp == ir.AtomAdd || in.AtomOp == ir.AtomOr || in.AtomOp == ir.AtomXor) && isZero(in.Args[1])
}

// siblingsWrite reports that lanes which do not enter the loop may write before they meet the others again: then the loop
// may wait for lanes of its own warp. At a branch that a block takes as one (its first tile has nobody to wait for), or a
// warp (some warps only load, the others compute), there are no such lanes.
func siblingsWrite(st *state, l *ir.Loop) bool {
	f := st.f
	pdom := ir.PostDominators(f)
	for _, b := range f.Blocks {
		t := b.Term()
		if l.Contains(b) || t.Op != ir.CondBr || sameInBlock(t.Args[0], 0) {
			continue
		}
		join := pdom.Idom(b)
		for _, side := range b.Succs() {
			reach := analysis.Reach([]*ir.Block{side}, join)
			if reach[l.Header] {
				continue
			}
			other := false
			for _, s := range b.Succs() {
				other = other || s != side && analysis.Reach([]*ir.Block{s}, join)[l.Header]
			}
			if other && writes(reach) && st.shapes().fact(t.Args[0]).kind < ir.WarpUniform {
				return true
			}
		}
	}
	return false
}

// sameInBlock reports a value that all threads of a block have: it is made of constants, parameters, the block's index and what barriers
// found out for all who came.
func sameInBlock(v *ir.Value, depth int) bool {
	d := v.Def
	switch {
	case v.Const:
		return true
	case d == nil || depth > 6:
		return false
	case d.Op == ir.Param, d.Op == ir.Bar:
		return true
	case d.Op == ir.SReg:
		return d.Sreg >= ir.CtaidX && d.Sreg <= ir.CtaidZ
	}
	if d.Op == ir.Phi || d.Op.Row().Effects != 0 || len(d.Args) == 0 {
		return false
	}
	return !slices.ContainsFunc(d.Args, func(a *ir.Value) bool { return !sameInBlock(a, depth+1) })
}

func writes(blocks map[*ir.Block]bool) bool {
	for b := range blocks {
		for _, in := range b.Insts {
			switch in.Op {
			case ir.Store, ir.Atomic, ir.AtomicCAS:
				if in.Space != ir.Local {
					return true
				}
			}
		}
	}
	return false
}
