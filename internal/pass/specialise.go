package pass

import "kudzu/internal/ir"

// specialise writes the block's shape into the code. After it, when the shape is known, no operation reads ntid or
// nwarpid, and the thread index of a dimension of one is 0.
func specialise(st *state) error {
	if st.cfg.Block == [3]uint32{} {
		return nil
	}
	n := st.cfg.Block
	threads := n[0] * n[1] * n[2]
	with := map[*ir.Value]*ir.Value{}
	for _, b := range st.f.Blocks {
		for _, in := range b.Insts {
			if in.Op != ir.SReg {
				continue
			}
			set := func(v uint32) { with[in.Results[0]] = ir.ConstInt(in.Results[0].Type, uint64(v)) }
			switch s := in.Sreg; s {
			case ir.NtidX, ir.NtidY, ir.NtidZ:
				set(n[s-ir.NtidX])
			case ir.TidX, ir.TidY, ir.TidZ:
				if n[s-ir.TidX] == 1 {
					set(0)
				}
			case ir.NWarpID:
				set((threads + 31) / 32)
			case ir.WarpID:
				if threads <= 32 {
					set(0)
				}
			}
		}
	}
	replaceAll(st.f, with)
	return nil
}
