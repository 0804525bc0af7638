package pass

import (
	"kudzu/internal/analysis"
	"kudzu/internal/ir"
)

// preferScalar reports a kernel that is faster as scalar code, thread by thread: one in whose loops each lane walks contiguous memory of
// its own, with a data-dependent trip count.
//
// Lanes in one vector would gather each step's elements from as many lines as there are lanes, run until the longest stretch ends, and read
// in an order that no prefetcher follows; a thread reads its lines from end to end. Measured, native/kudzu of a sparse matrix product with a
// row a thread: 0.54 as vectors, 0.95 one by one. Where the trip count follows from the lane's number alone, neighbours do nearly the same, and
// next to each other: the gradient of TensorFlow's depthwise convolution, with a window cut at the border, took 10.7 ms one by one, 6.7 as
// vectors. Kernels that do little but atomics are vectors: the lines of 32 counters are asked for
// at once then (emit/warp/scatter_lines.go).
func preferScalar(st *state) bool {
	f := st.f
	if tooLarge(f) {
		return true
	}
	for _, b := range f.Blocks {
		for _, in := range b.Insts {
			switch in.Op {
			case ir.Bar, ir.GridSync, ir.WarpSync, ir.CallRt, ir.Call, ir.CallInd, ir.AtomicCAS, ir.Atomic, ir.CopyAsync, ir.SharedAddr, ir.ActiveMask:
				return false
			}
			if gathers(in.Op) || isMatrix(in.Op) || in.Volatile || in.Order != ir.Weak {
				return false
			}
		}
	}
	if len(st.loops().Loops) == 0 {
		return false
	}
	a := st.shapes()
	walks := false
	for _, l := range a.li.Loops {
		if innermost(a.li, l) {
			w := &walk{a: a, l: l, ind: st.induction(l)}
			if !w.alone() {
				return false
			}
			walks = true
		}
	}
	return walks
}

// mostMasked and mostApart bound the operations and the branches of a kernel that is made for vectors. Each value that is live where lanes
// may be apart is blended there, and a kernel beyond both has such places wherever one of its functions returns: the Cycles kernel that
// shades the background grows from 208,000 operations to 2.1 million, which are minutes in the passes behind linearize. A long kernel with
// few branches, as unrolled loops are, does not grow.
const (
	mostMasked = 60_000
	mostApart  = 1_000
)

// tooLarge reports a kernel whose lanes run one by one because it could not be compiled otherwise, in a time that anybody waits.
func tooLarge(f *ir.Func) bool {
	ops, branches := 0, 0
	for _, b := range f.Blocks {
		ops += len(b.Insts)
		if len(b.Insts) > 0 && b.Term().Op == ir.CondBr {
			branches++
		}
	}
	return ops > mostMasked && branches > mostApart && matrixOp(f) == nil
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
	a   *shapeAnalysis
	l   *ir.Loop
	ind *analysis.Induction
}

// line is how far a step may go and still be in the line of the step before, mostly.
const line = 64

// byData reports a loop of which what memory holds says when it ends.
func (w *walk) byData() bool {
	seen := map[*ir.Inst]bool{}
	var work []*ir.Value
	for _, b := range w.l.Blocks {
		t := b.Term()
		for _, s := range t.Targets {
			if !w.l.Contains(s) {
				work = append(work, t.Args...)
			}
		}
	}
	for len(work) > 0 {
		d := work[len(work)-1].Def
		work = work[:len(work)-1]
		if d == nil || seen[d] {
			continue
		}
		seen[d] = true
		if d.Op == ir.Load && w.a.fact0(d).kind < ir.WarpUniform {
			return true
		}
		work = append(work, d.Args...)
	}
	return false
}

// alone reports a loop that lanes leave at different times, as the data say, that reads memory at addresses of their own, some of it in order, and
// computes little: a sum or two for each element.
func (w *walk) alone() bool {
	if !w.a.divergent[w.l] || !w.byData() {
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
				stride, same := w.ind.Stride(in.Args[0])
				if step, ok := stride.Constant(); same && ok && step != 0 && step >= -line && step <= line {
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
