package simt

import "kudzu/internal/ir"

// LLVM 19 goes wrong where the condition on which lanes leave a loop is computed in a loop inside of it: it takes what the last round of the
// inner loop left for all lanes, also for those that had gone on before (mended in LLVM 20). Whether it computes it there is its own
// affair: it finds equal values. So the condition goes through a register that it does not see into.

// outerLoops is what a function's branches need to know of its loops.
type outerLoops struct {
	of     *ir.Func
	loops  *ir.LoopInfo
	varies map[*ir.Value]bool // values that may differ between lanes
}

// gcnCondBr branches; where lanes may leave a loop around another, on a condition of which LLVM knows no more.
func gcnCondBr(e *emitter, in *ir.Inst) {
	if in.Targets[0] == in.Targets[1] || !e.leavesAround(in) {
		emitCondBr(e, in)
		return
	}
	x := e.Op("i32", `call i32 asm "", "=v,0"(%s)`, e.ZExt(e.val(in.Args[0]), "i32"))
	e.CondBr(e.ICmp("ne", x, x.Int(0)), e.labels[in.Targets[0]], e.labels[in.Targets[1]])
}

// leavesAround reports a branch that leaves a loop with another in it, at different times in different lanes.
func (e *emitter) leavesAround(in *ir.Inst) bool {
	if e.outer.of != e.f {
		e.f.Rewire()
		e.outer = outerLoops{of: e.f, loops: ir.Loops(e.f, ir.Dominators(e.f))}
	}
	l := e.outer.loops.Innermost(in.Block)
	if l == nil || l.Contains(in.Targets[0]) && l.Contains(in.Targets[1]) || !e.hasInner(l) {
		return false
	}
	if e.outer.varies == nil {
		e.outer.varies = varying(e.f, e.outer.loops)
	}
	return e.outer.varies[in.Args[0]]
}

// hasInner reports a loop with another inside, one of ours among them.
func (e *emitter) hasInner(l *ir.Loop) bool {
	for _, b := range l.Blocks {
		if e.outer.loops.Innermost(b) != l {
			return true
		}
		for _, in := range b.Insts {
			switch in.Op {
			case ir.Atomic, ir.AtomicCAS, ir.MatchAny, ir.Redux, ir.Bar, ir.Mma, ir.Call, ir.CallInd:
				return true
			}
		}
	}
	return false
}

// varying are the values that are not known to be the same in all lanes.
func varying(f *ir.Func, li *ir.LoopInfo) map[*ir.Value]bool {
	vary := map[*ir.Value]bool{}
	for _, p := range f.Params {
		vary[p] = true
	}
	for changed := true; changed; {
		changed = false
		for _, b := range f.Blocks {
			l := li.Innermost(b)
			header := l != nil && l.Header == b
			for _, in := range b.Insts {
				if len(in.Results) == 0 || vary[in.Results[0]] || !varies(in, header, vary) {
					continue
				}
				changed = true
				for _, r := range in.Results {
					vary[r] = true
				}
			}
		}
	}
	return vary
}

func varies(in *ir.Inst, header bool, vary map[*ir.Value]bool) bool {
	switch in.Op {
	case ir.SReg:
		switch in.Sreg {
		case ir.NtidX, ir.NtidY, ir.NtidZ, ir.CtaidX, ir.CtaidY, ir.CtaidZ, ir.NctaidX, ir.NctaidY, ir.NctaidZ:
			return false
		}
		return true
	case ir.Param, ir.VarAddr, ir.SharedAddr, ir.ParamAddr, ir.FuncAddr:
		return false
	case ir.Phi:
		if !header { // which way lanes came may differ
			return true
		}
	case ir.Load:
		if in.Space != ir.ParamSpace && in.Space != ir.Const {
			return true
		}
	default:
		if in.Op.Row().Effects != 0 {
			return true
		}
	}
	for _, a := range in.Args {
		if vary[a] {
			return true
		}
	}
	return false
}
