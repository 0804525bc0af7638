package pass

import "kudzu/internal/ir"

// unifyLoopExits gives loops one latch and nested loops one exit block, for code whose lanes run in lockstep. The exit block
// branches on a number that says where to go on.
//
// LLVM 19's code for AMD's GPUs is wrong otherwise. Of a loop with several latches its optimiser makes two nested ones, and a lane that
// leaves both from within the inner one is lost: the mask of finished lanes is taken from the inner loop's last iteration
// alone (mended in LLVM 20). What stands in the new blocks keeps LLVM from taking them apart.
func unifyLoopExits(st *state) error {
	if !st.cfg.Lockstep {
		return st.unchanged()
	}
	for _, f := range st.m.Funcs {
		if len(f.Blocks) == 0 {
			continue
		}
		changed := false
		for oneWay(f) {
			changed = true
		}
		if changed {
			repairSSA(f)
			relayout(f)
		}
	}
	return nil
}

// oneWay does it for one loop; false: all are done.
func oneWay(f *ir.Func) bool {
	f.Rewire()
	li := ir.Loops(f, ir.Dominators(f))
	for _, l := range li.Loops {
		if len(l.Latches) > 1 {
			beforeTerm(mergePreds(f, l.Header, l.Latches), meeting(f))
			return true
		}
	}
	for _, l := range li.Loops {
		if !leavesSeveral(l) {
			continue
		}
		var ends []*ir.Block
		for _, y := range l.Exits {
			var inside []*ir.Block
			for _, p := range y.Preds {
				if l.Contains(p) {
					inside = append(inside, p)
				}
			}
			ends = append(ends, mergePreds(f, y, inside))
		}
		f.Rewire()
		dispatch(f, true, ends)
		return true
	}
	return false
}

// leavesSeveral reports a loop from which lanes leave the one around it, too.
func leavesSeveral(l *ir.Loop) bool {
	if l.Parent == nil || len(l.Exits) < 2 {
		return false
	}
	for _, y := range l.Exits {
		if !l.Parent.Contains(y) {
			return true
		}
	}
	return false
}

// meeting is a point that LLVM neither copies nor removes; it costs nothing.
func meeting(f *ir.Func) *ir.Inst { return f.NewInst(ir.WarpSync, nil, ir.ConstInt(ir.I32, 0)) }
