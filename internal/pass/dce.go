package pass

import "kudzu/internal/ir"

// dce removes what nobody needs. After it every operation has effects or a result that one with effects depends on,
// every block can be reached, and shuffles have no predicate that nobody reads: nvcc asks each for one, and only those
// without it may give all lanes the same (shape).
func dce(st *state) error {
	f := st.f
	prune(f)
	live := map[*ir.Inst]bool{}
	predicate := map[*ir.Inst]bool{} // the second result of a shuffle or match is used
	var work []*ir.Inst
	mark := func(v *ir.Value) {
		if v == nil || v.Def == nil {
			return
		}
		if optionalPredicate(v.Def.Op) && v != v.Def.Results[0] {
			predicate[v.Def] = true
		}
		if !live[v.Def] {
			live[v.Def] = true
			work = append(work, v.Def)
		}
	}
	for _, b := range f.Blocks {
		for _, in := range b.Insts {
			if keeps(in) && !live[in] {
				live[in] = true
				work = append(work, in)
			}
		}
	}
	for len(work) > 0 {
		in := work[len(work)-1]
		work = work[:len(work)-1]
		for _, a := range in.Args {
			mark(a)
		}
		mark(in.Mask)
	}
	for _, b := range f.Blocks {
		kept := b.Insts[:0]
		for _, in := range b.Insts {
			if !live[in] {
				continue
			}
			if optionalPredicate(in.Op) && !predicate[in] {
				in.Results = in.Results[:1]
			}
			kept = append(kept, in)
		}
		b.Insts = kept
	}
	return nil
}

// optionalPredicate reports an operation that has a predicate as its second result where the program asks for it.
func optionalPredicate(op ir.Op) bool { return op == ir.Shfl || op == ir.MatchAll }

// keeps reports an operation that must stay even when nobody uses its results: one that writes, suspends or stops, or
// reads in a way that others can see. A vote whose result is unused is no synchronisation of its own.
func keeps(in *ir.Inst) bool {
	if in.Op.IsTerm() {
		return true
	}
	e := in.Op.Row().Effects
	if in.Op == ir.Load {
		return in.Volatile || in.Order != ir.Weak
	}
	if in.Op == ir.Clock {
		return false
	}
	if in.Op == ir.Prefetch {
		return in.Bytes != 0
	}
	return e&(ir.Writes|ir.Barrier|ir.Stops) != 0
}
