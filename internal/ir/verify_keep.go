package ir

// keeps checks what is kept from block to block of a row: every keep.begin has its keep behind it in the same block, and
// what is computed between the two is used there only. The blocks that follow in the row pass over it, and have nothing
// but what the keep hands on.
func (v *verifier) keeps() {
	within := map[*Inst]*Inst{} // an instruction between keep.begin and keep: the keep
	for _, b := range v.f.Blocks {
		v.keepPairs(b, within)
	}
	if len(within) == 0 {
		return
	}
	for _, b := range v.f.Blocks {
		for _, in := range b.Insts {
			in.eachUse(func(a *Value) {
				k := within[a.Def]
				if a.Def == nil || k == nil || in == k || within[in] == k {
					return
				}
				v.fail(b, in, "%s lies before keep in b%d, which blocks of a row pass over", a, k.Block.ID)
			})
		}
	}
}

// keepPairs pairs the keep.begins and keeps of b and adds what lies between them to within.
func (v *verifier) keepPairs(b *Block, within map[*Inst]*Inst) {
	begin := -1
	for i, in := range b.Insts {
		switch {
		case in.Op == KeepBegin && begin >= 0:
			v.fail(b, in, "keep.begin before the keep of another")
		case in.Op == KeepBegin:
			begin = i
		case in.Op == Keep && begin < 0:
			v.fail(b, in, "keep without keep.begin")
		case in.Op == Keep:
			for _, d := range b.Insts[begin+1 : i] {
				within[d] = in
			}
			begin = -1
		}
	}
	if begin >= 0 {
		v.fail(b, b.Insts[begin], "keep.begin without keep")
	}
}

// eachUse calls f with every argument and the mask.
func (in *Inst) eachUse(f func(*Value)) {
	for _, a := range in.Args {
		f(a)
	}
	if in.Mask != nil {
		f(in.Mask)
	}
}
