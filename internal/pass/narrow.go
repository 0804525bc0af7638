package pass

import (
	"slices"

	"kudzu/internal/ir"
)

// narrow keeps to 16 bits what was loaded so. After it, bits that are cut out of such numbers, put together, shifted down and chosen
// are of that width, and extended where 32 bits are needed: half as many vectors, and fewer extensions. Places that lanes count up one by
// one are merged as the 32 bits that they are, and extended to an address's 64 behind that.
func narrow(st *state) error {
	if st.never("narrow") {
		return nil
	}
	merged := map[*ir.Value]bool{}
	for _, b := range st.f.Blocks {
		for i := 0; i < len(b.Insts); i++ {
			in := b.Insts[i]
			if words := mergedWords(in, merged); words != nil {
				merged[mergeWords(st.f, b, i, words)] = true
				continue
			}
			args := halves(in)
			if args == nil {
				continue
			}
			short := st.f.NewInst(in.Op, []ir.Type{ir.I16}, args...)
			short.Attr, short.Line = in.Attr, in.Line
			insertAt(b, i, short)
			in.Op, in.Attr, in.Args = ir.ZExt, ir.Attr{}, []*ir.Value{short.Results[0]}
			i++
		}
	}
	return nil
}

// halves are the operands of 16 bits that give the same number; nil: none do.
func halves(in *ir.Inst) []*ir.Value {
	if len(in.Results) != 1 || in.Results[0].Type != ir.I32 {
		return nil
	}
	first, last := 0, len(in.Args)
	switch in.Op {
	case ir.And, ir.Or, ir.Xor:
	case ir.ShrU:
		if n := in.Args[1]; !n.Const || n.Bits > 15 {
			return nil
		}
		last = 1
	case ir.Select:
		first = 1
	default:
		return nil
	}
	args := append([]*ir.Value(nil), in.Args...)
	found := false
	for i := first; i < last; i++ {
		a := args[i]
		switch d := a.Def; {
		case a.Const && (in.Op == ir.And || a.Bits < 1<<16):
			args[i] = ir.ConstInt(ir.I16, a.Bits)
		case d != nil && d.Op == ir.ZExt && d.Args[0].Type == ir.I16 && loaded(d.Args[0], 8):
			args[i], found = d.Args[0], true
		default:
			return nil
		}
	}
	if !found {
		return nil
	}
	return args
}

// loaded reports a number that is made of what was loaded: indices of threads are better known as they are.
func loaded(v *ir.Value, depth int) bool {
	d := v.Def
	if d == nil || depth == 0 {
		return false
	}
	if d.Op == ir.Load {
		return true
	}
	switch d.Op {
	case ir.And, ir.Or, ir.Xor, ir.ShrU, ir.Select:
		for _, a := range d.Args {
			if loaded(a, depth-1) {
				return true
			}
		}
	}
	return false
}

// mergedWords are the numbers of 32 bits whose extensions a phi merges, if data decide about one of them, as about those that were merged
// before; nil: it merges others too.
func mergedWords(in *ir.Inst, merged map[*ir.Value]bool) []*ir.Value {
	if in.Op != ir.Phi || in.Results[0].Type != ir.I64 {
		return nil
	}
	args, data := make([]*ir.Value, len(in.Args)), false
	for i, a := range in.Args {
		switch d := a.Def; {
		case a.Const && a.Bits < 1<<32:
			args[i] = ir.ConstInt(ir.I32, a.Bits)
		case d != nil && d.Op == ir.ZExt && d.Args[0].Type == ir.I32:
			args[i] = d.Args[0]
			data = data || merged[args[i]] || fromData(args[i], 8)
		default:
			return nil
		}
	}
	if !data {
		return nil
	}
	return args
}

// mergeWords puts a phi of words in the place of b's phi i, which becomes its extension.
func mergeWords(f *ir.Func, b *ir.Block, i int, words []*ir.Value) *ir.Value {
	in := b.Insts[i]
	short := f.NewInst(ir.Phi, []ir.Type{ir.I32}, words...)
	short.Targets, short.Line, short.Block = slices.Clone(in.Targets), in.Line, b
	b.Insts[i] = short
	in.Op, in.Attr, in.Args, in.Targets = ir.ZExt, ir.Attr{}, []*ir.Value{short.Results[0]}, nil
	behind := slices.IndexFunc(b.Insts, func(x *ir.Inst) bool { return x.Op != ir.Phi })
	insertAt(b, behind, in)
	return short.Results[0]
}

// fromData reports a number that what was loaded or what other lanes have decides: indices of threads are better known as they are.
func fromData(v *ir.Value, depth int) bool {
	d := v.Def
	if d == nil || depth == 0 {
		return false
	}
	switch d.Op {
	case ir.Load, ir.Atomic, ir.Shfl, ir.Ballot:
		return true
	case ir.Add, ir.Sub, ir.And, ir.Or, ir.Xor, ir.ShrU, ir.Shl, ir.Select, ir.ZExt, ir.Trunc, ir.Popc:
		return slices.ContainsFunc(d.Args, func(a *ir.Value) bool { return fromData(a, depth-1) })
	}
	return false
}
