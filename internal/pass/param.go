package pass

import (
	"slices"

	"kudzu/internal/ir"
)

// directParams makes loads of the kernel's parameters at known places what they are: values that any place has. Compilers of LLVM's
// family take the address of a structure that is passed by value, and load its members from there.
func directParams(m *ir.Module, f *ir.Func) {
	with := map[*ir.Value]*ir.Value{}
	for _, b := range f.Blocks {
		for i := 0; i < len(b.Insts); i++ {
			in := b.Insts[i]
			off, ok := paramPlace(m, in)
			if !ok {
				continue
			}
			var params []*ir.Inst
			for _, r := range in.Results {
				p := f.NewInst(ir.Param, []ir.Type{r.Type})
				p.Off, p.Line, p.Block = off, in.Line, b
				off += int64(r.Type.Bits()+7) / 8
				with[r] = p.Results[0]
				params = append(params, p)
			}
			b.Insts = slices.Replace(b.Insts, i, i+1, params...)
			i += len(params) - 1
		}
	}
	replaceAll(f, with)
}

// paramPlace is where in the parameters a load reads, if that is known, inside, and as the load is aligned.
func paramPlace(m *ir.Module, in *ir.Inst) (int64, bool) {
	if in.Op != ir.Load || in.Space != ir.ParamSpace || in.Volatile {
		return 0, false
	}
	size := uint64(0)
	for _, r := range in.Results {
		size += uint64(r.Type.Bits()+7) / 8
	}
	off, v := uint64(0), in.Args[0]
	for v.Def != nil && v.Def.Op == ir.Add && v.Def.Args[1].Const {
		off, v = off+v.Def.Args[1].Bits, v.Def.Args[0]
	}
	if v.Def == nil || v.Def.Op != ir.ParamAddr || v.Def.Off < 0 {
		return 0, false
	}
	off += uint64(v.Def.Off)
	all := uint64(m.ParamBytes)
	return int64(off), off < all && off+size <= all && off%max(uint64(in.Align), 1) == 0
}
