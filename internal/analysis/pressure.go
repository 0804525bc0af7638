package analysis

import "kudzu/internal/ir"

// Pressure is how many 32-bit registers a thread of f needs at most at a time: values live from where they are made to their last
// use, or to the end of the loops around it that they come into. Predicates, constants and addresses of variables take none. It is
// what an allocator would see in this order of the blocks, near enough to tell a small kernel from a large one, in linear time.
func Pressure(f *ir.Func) int {
	rpo := f.RPO()
	loops := ir.Loops(f, ir.Dominators(f))
	at := map[*ir.Block]int{} // the position of its first instruction
	end := map[*ir.Block]int{}
	n := 0
	for _, b := range rpo {
		at[b] = n
		n += len(b.Insts)
		end[b] = n
	}
	loopEnd := make(map[*ir.Loop]int, len(loops.Loops))
	for _, l := range loops.Loops {
		for _, b := range l.Blocks {
			loopEnd[l] = max(loopEnd[l], end[b])
		}
	}
	first, last := map[*ir.Value]int{}, map[*ir.Value]int{}
	use := func(v *ir.Value, b *ir.Block, p int) {
		if v == nil || registers(v) == 0 {
			return
		}
		def := first[v] // 0 for parameters
		for l := loops.Innermost(b); l != nil && def < at[l.Header]; l = l.Parent {
			p = max(p, loopEnd[l])
		}
		last[v] = max(last[v], p)
	}
	for _, b := range rpo {
		for i, in := range b.Insts {
			for _, r := range in.Results {
				first[r] = at[b] + i
			}
		}
	}
	for _, b := range rpo {
		for i, in := range b.Insts {
			for k, a := range in.Args {
				if in.Op == ir.Phi { // read where control comes from
					from := in.Targets[k]
					use(a, from, end[from])
					continue
				}
				use(a, b, at[b]+i)
			}
		}
	}
	return peak(n, first, last)
}

// peak sweeps over the intervals.
func peak(n int, first, last map[*ir.Value]int) int {
	change := make([]int, n+2)
	for v, to := range last {
		change[first[v]] += registers(v)
		change[min(max(to, first[v]+1), n+1)] -= registers(v) // what uses it last may have its register
	}
	now, most := 0, 0
	for _, c := range change {
		now += c
		most = max(most, now)
	}
	return most
}

// registers is how many 32-bit registers a value takes.
func registers(v *ir.Value) int {
	if v.Const || v.Type.Bits() <= 1 {
		return 0
	}
	if v.Def != nil {
		switch v.Def.Op {
		case ir.SharedAddr, ir.LocalAddr, ir.VarAddr, ir.ParamAddr, ir.FuncAddr, ir.SReg: // immediates, constants in memory, registers of their own
			return 0
		}
	}
	return (v.Type.Bits() + 31) / 32
}
