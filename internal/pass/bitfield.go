package pass

import (
	"slices"

	"kudzu/internal/analysis"
	"kudzu/internal/ir"
)

// expandFields expands all of a function and reports whether there were any.
func expandFields(f *ir.Func) bool {
	with := map[*ir.Value]*ir.Value{}
	for _, b := range f.Blocks {
		for i := 0; i < len(b.Insts); i++ {
			in := b.Insts[i]
			ins := expandField(f, in)
			if ins == nil {
				continue
			}
			for _, x := range ins {
				x.Block = b
			}
			b.Insts = slices.Replace(b.Insts, i, i+1, ins...)
			i += len(ins) - 1
			with[in.Results[0]] = ins[len(ins)-1].Results[0]
		}
	}
	replaceAll(f, with)
	return len(with) > 0
}

// expandField writes the extraction or insertion of a field at a known place as shifts and masks, which the analyses know:
// nvcc puts numbers of warps and lanes together so. nil: the place is not known. The last instruction has the result.
func expandField(f *ir.Func, in *ir.Inst) []*ir.Inst {
	if in.Op != ir.BfeU && in.Op != ir.Bfi {
		return nil
	}
	rest := in.Args[len(in.Args)-2:]
	if !rest[0].Const || !rest[1].Const {
		return nil
	}
	t := in.Results[0].Type
	w := uint64(t.Bits())
	all := ^uint64(0) >> (64 - w)
	at, n := rest[0].Bits&0xff, rest[1].Bits&0xff // as PTX reads them
	if at >= w || n == 0 {
		return nil
	}
	n = min(n, w-at)
	field := all >> (w - n) << at
	var ins []*ir.Inst
	add := func(op ir.Op, x, y *ir.Value) *ir.Value {
		i := f.NewInst(op, []ir.Type{t}, x, y)
		i.Line = in.Line
		ins = append(ins, i)
		return i.Results[0]
	}
	place := ir.ConstInt(ir.I32, at)
	if in.Op == ir.BfeU {
		low := add(ir.ShrU, in.Args[0], place)
		if at+n < w {
			add(ir.And, low, ir.ConstInt(t, field>>at))
		}
		return ins
	}
	inserted := add(ir.Shl, in.Args[0], place)
	if at+n < w {
		inserted = add(ir.And, inserted, ir.ConstInt(t, field))
	}
	base := in.Args[1]
	if analysis.Zeros(base)&field != field {
		base = add(ir.And, base, ir.ConstInt(t, all&^field))
	}
	add(ir.Or, inserted, base)
	return ins
}
