package pass

import "kudzu/internal/ir"

// preferScalar reports a kernel that is faster as scalar code, thread by thread: one that does little but atomics at data-dependent
// addresses, or one in whose loops each lane walks contiguous memory of its own, with a data-dependent trip count.
//
// Locked operations go one after the other whoever asks for them; taking their addresses out of vectors only delays them (a
// histogram in global memory: 0.85 side by side, 0.95 one by one, native/kudzu). Walking, lanes side by side would gather each step's elements from as many lines as there are lanes, run until the longest stretch
// ends, and read in an order that no prefetcher follows; a thread reads its lines from end to end. Measured, native/kudzu of a
// sparse matrix product with a row a thread: 0.54 side by side, 0.95 one by one.
func preferScalar(st *state) bool {
	f := st.f
	atomics := 0
	for _, b := range f.Blocks {
		for _, in := range b.Insts {
			switch in.Op {
			case ir.Bar, ir.GridSync, ir.WarpSync, ir.CallRt, ir.Call, ir.CallInd, ir.AtomicCAS, ir.CopyAsync, ir.SharedAddr, ir.ActiveMask:
				return false
			}
			if gathers(in.Op) || isMatrix(in.Op) || in.Volatile || in.Order != ir.Weak && in.Op != ir.Atomic {
				return false
			}
			if in.Op == ir.Atomic {
				atomics++
			}
		}
	}
	loops := len(ir.Loops(f, ir.Dominators(f)).Loops) > 0
	if loops == (atomics > 0) {
		return false
	}
	a := analyse(st)
	if !loops {
		return onlyCounts(a)
	}
	walks := false
	for _, l := range a.li.Loops {
		if innermost(a.li, l) {
			w := &walk{a: a, l: l}
			if !w.alone() {
				return false
			}
			walks = true
		}
	}
	return walks
}

// onlyCounts reports a kernel without loops whose work is integer atomics in global memory, at addresses that differ between lanes.
func onlyCounts(a *shapeAnalysis) bool {
	atomics, work := 0, 0
	for _, b := range a.f.Blocks {
		for _, in := range b.Insts {
			switch in.Op {
			case ir.Store:
				return false
			case ir.Load, ir.SReg, ir.Param, ir.Br, ir.CondBr, ir.Exit, ir.SExt, ir.ZExt, ir.Phi, ir.Copy:
			case ir.Atomic:
				at := a.fact(in.Args[0])
				if in.Space != ir.Global || at.kind != ir.Varying || at.guess || in.Args[1].Type.IsFloat() {
					return false
				}
				atomics++
			default:
				if a.fact0(in).kind < ir.Affine && !counts(in) {
					work++
				}
			}
		}
	}
	return work <= 4*atomics
}

func innermost(li *ir.LoopInfo, l *ir.Loop) bool {
	for _, o := range li.Loops {
		if o.Parent == l {
			return false
		}
	}
	return true
}

// walk is a loop that may be one lane's own affair.
type walk struct {
	a *shapeAnalysis
	l *ir.Loop
}

// line is how far a step may go and still be in the line of the step before, mostly.
const line = 64

// alone reports a loop that lanes leave at different times, that reads memory at places of their own, some of it in order, and
// computes little: a sum or two for each element.
func (w *walk) alone() bool {
	if !w.a.divergent[w.l] {
		return false
	}
	loads, ordered, work := 0, 0, 0
	for _, b := range w.l.Blocks {
		for _, in := range b.Insts {
			switch in.Op {
			case ir.Phi, ir.Copy, ir.Br, ir.CondBr, ir.SExt, ir.ZExt:
				continue
			case ir.Store, ir.Switch, ir.FDiv, ir.FSqrt, ir.FRcp, ir.DivS, ir.DivU, ir.RemS, ir.RemU:
				return false
			case ir.Load:
				at := w.a.fact(in.Args[0])
				if in.Space != ir.Global || at.kind != ir.Varying || at.guess || at.seg > 0 {
					return false
				}
				loads++
				if step, ok := w.step(in.Args[0], 0); ok && step != 0 && step >= -line && step <= line {
					ordered++
				}
				continue
			}
			if w.a.fact0(in).kind < ir.WarpUniform && !counts(in) {
				work++
			}
		}
	}
	return ordered > 0 && 2*ordered >= loads && work <= 2*loads
}

// counts reports the arithmetic of counters and addresses, which comes with any loop.
func counts(in *ir.Inst) bool {
	switch in.Op {
	case ir.ICmp:
		return true
	case ir.Add, ir.Shl, ir.Mul, ir.And:
		return in.Args[1].Const || in.Results[0].Type == ir.I64
	}
	return false
}

// step is by how much a value grows in one iteration, if that is a number known now.
func (w *walk) step(v *ir.Value, depth int) (int64, bool) {
	d := v.Def
	if v.Const || d == nil || !w.l.Contains(d.Block) {
		return 0, true
	}
	if depth > 8 {
		return 0, false
	}
	switch d.Op {
	case ir.Phi:
		if d.Block != w.l.Header {
			return 0, false
		}
		for i, from := range d.Targets {
			if w.l.Contains(from) {
				n, ok := w.grown(d.Args[i], v, depth+1)
				return n, ok
			}
		}
	case ir.Add:
		x, okx := w.step(d.Args[0], depth+1)
		y, oky := w.step(d.Args[1], depth+1)
		return x + y, okx && oky
	case ir.SExt, ir.ZExt:
		return w.step(d.Args[0], depth+1)
	case ir.Shl, ir.Mul:
		x, ok := w.step(d.Args[0], depth+1)
		c := d.Args[1]
		if !c.Const || c.Int() < 0 || c.Int() > line {
			return 0, false
		}
		if d.Op == ir.Shl {
			return x << (c.Int() & 31), ok
		}
		return x * c.Int(), ok
	}
	return 0, false
}

// grown is how much v is above from, a chain of constant sums away.
func (w *walk) grown(v, from *ir.Value, depth int) (int64, bool) {
	if v == from {
		return 0, true
	}
	d := v.Def
	if d == nil || depth > 8 {
		return 0, false
	}
	switch {
	case d.Op == ir.Copy:
		return w.grown(d.Args[0], from, depth+1)
	case d.Op == ir.Add && d.Args[1].Const:
		n, ok := w.grown(d.Args[0], from, depth+1)
		return n + d.Args[1].Int(), ok
	}
	return 0, false
}
