package assemble

import (
	"cmp"
	"slices"

	"kudzu/internal/ptx"
	"kudzu/internal/ptx/check"
	"kudzu/internal/ptx/isa"
)

// registers is the peak of live 32-bit registers of a body, if code stays in the order of the text: an honest stand-in for what
// an allocator would say. A register lives from its first to its last place, and to the end of every loop that it lives into.
func registers(b *ptx.Body) int {
	first, last := make([]int32, len(b.Regs)), make([]int32, len(b.Regs))
	for i := range first {
		first[i] = -1
	}
	at := int32(0)
	meet := func(r int32) {
		if r < 0 || int(r) >= len(first) {
			return
		}
		if first[r] < 0 {
			first[r] = at
		}
		last[r] = at
	}
	var loops []span
	for i := range b.Insts {
		in := &b.Insts[i]
		at = int32(i)
		meet(in.Pred)
		check.Operands(in.Args, func(o *ptx.Operand) {
			switch {
			case o.Kind == ptx.OpReg || o.Kind == ptx.OpAddr && o.Base == ptx.OpReg:
				meet(o.Reg)
			case o.Kind == ptx.OpLabel && int(o.Label) < len(b.Labels) && b.Labels[o.Label].Inst <= at:
				loops = append(loops, span{b.Labels[o.Label].Inst, at})
			}
		})
	}
	extend(loops, first, last)
	change := make([]int, len(b.Insts)+1)
	for r, from := range first {
		if from >= 0 {
			n := words(&b.Regs[r])
			change[from] += n
			change[last[r]+1] -= n
		}
	}
	live, peak := 0, 0
	for _, d := range change {
		live += d
		peak = max(peak, live)
	}
	return peak
}

// span is a loop, from its head to the branch back.
type span struct{ head, end int32 }

// tooManySteps bounds the work on a hostile text; past it registers are counted as if there were no loops.
const tooManySteps = 1 << 28

func extend(loops []span, first, last []int32) {
	if len(loops)*len(first) > tooManySteps {
		return
	}
	slices.SortFunc(loops, func(a, b span) int { return cmp.Compare(a.end, b.end) })
	for _, l := range loops {
		for r, from := range first {
			if from >= 0 && from < l.head && last[r] >= l.head {
				last[r] = max(last[r], l.end)
			}
		}
	}
}

// words is how many 32-bit registers a register of PTX takes. Predicates have their own.
func words(r *ptx.Reg) int {
	if r.Type == isa.Pred {
		return 0
	}
	return (r.Type.Bits() + 31) / 32 * max(int(r.Vec), 1)
}
