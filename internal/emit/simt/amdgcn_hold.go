package simt

import "kudzu/internal/ir"

// LLVM's code generator for AMD sinks an instruction to the block that uses its result, over loops that lie between, too. A sum that an outer
// loop carries then waits, with everything that it is the sum of, for the end of the iteration: attention with four queries a warp
// had 192 registers and spilled 158 on gfx1100, and has 72 without that. An empty instruction that no pass may move holds such sums where the program has them.

// held finds the results of arithmetic that are only used behind a loop which their block leads into.
func held(f *ir.Func) map[*ir.Block][]*ir.Value {
	loops := ir.Loops(f, ir.Dominators(f))
	entering := map[*ir.Block]*ir.Loop{}
	for _, b := range f.Blocks {
		for _, s := range b.Succs() {
			if l := loops.Innermost(s); l != nil && !l.Contains(b) {
				entering[b] = l
			}
		}
	}
	if loops.Irreducible || len(entering) == 0 {
		return nil
	}
	used := map[*ir.Value]bool{} // where that matters: in its own block, or in the loop behind it
	behind := map[*ir.Value]bool{}
	for _, b := range f.Blocks {
		for _, in := range b.Insts {
			for i, a := range in.Args {
				if a.Def == nil {
					continue
				}
				at := b
				if in.Op == ir.Phi {
					at = in.Targets[i]
				}
				switch l := entering[a.Def.Block]; {
				case l == nil:
				case at == a.Def.Block && in.Op == ir.Phi, l.Contains(at):
					used[a] = true
				case at != a.Def.Block:
					behind[a] = true
				}
			}
		}
	}
	out := map[*ir.Block][]*ir.Value{}
	for b := range entering {
		for _, in := range b.Insts {
			if makesNaN(in) && len(in.Results) == 1 && behind[in.Results[0]] && !used[in.Results[0]] {
				out[b] = append(out[b], in.Results[0])
			}
		}
	}
	return out
}

// hold writes the instruction that keeps v's computation before it.
func (e *emitter) hold(v *ir.Value) {
	x := e.val(v)
	e.vals[v] = e.Op(x.T, "call %s asm sideeffect \"\", \"=v,0\"(%s)", x.T, x)
}
