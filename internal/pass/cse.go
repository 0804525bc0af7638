package pass

import (
	"fmt"
	"slices"

	"kudzu/internal/ir"
)

type cseKey struct {
	op   ir.Op
	attr ir.Attr
	args string
	typ  ir.Type
}

// cse gives equal computations one value. After it no operation without effects repeats one that dominates it, and no plain load one
// of the same address if nothing is written between them on the only way there is.
func cse(st *state) error {
	f := st.f
	f.Renumber()
	st.changed(graph) // its numbers
	dom := st.dominators()
	seen := map[cseKey][]*ir.Inst{}
	with := map[*ir.Value]*ir.Value{}
	find := func(v *ir.Value) *ir.Value {
		for {
			w, ok := with[v]
			if !ok {
				return v
			}
			v = w
		}
	}
	for _, b := range f.RPO() {
		kept := b.Insts[:0]
	insts:
		for _, in := range b.Insts {
			for i, a := range in.Args {
				in.Args[i] = find(a)
			}
			if in.Mask != nil {
				in.Mask = find(in.Mask)
			}
			plain := plainLoad(in)
			if in.Op == ir.Phi || in.Op.IsTerm() || in.Op.Row().Effects != 0 && !plain || len(in.Results) == 0 || in.Mat != nil {
				kept = append(kept, in)
				continue
			}
			k := cseKey{in.Op, in.Attr, argKey(in.Args), in.Results[0].Type}
			for _, o := range seen[k] {
				if plain && (o.Mask != in.Mask || !unwritten(o, b, kept)) || !sameTypes(o.Results, in.Results) {
					continue
				}
				if dom.Dominates(o.Block, b) {
					for i, r := range in.Results {
						with[r] = o.Results[i]
					}
					continue insts
				}
			}
			seen[k] = append(seen[k], in)
			kept = append(kept, in)
		}
		b.Insts = kept
	}
	replaceAll(f, with)
	return nil
}

func sameTypes(x, y []*ir.Value) bool {
	return slices.EqualFunc(x, y, func(v, w *ir.Value) bool { return v.Type == w.Type })
}

func plainLoad(in *ir.Inst) bool {
	return in.Op == ir.Load && !in.Volatile && in.Order == ir.Weak
}

// unwritten reports that nothing is written, and no thread waited for, between a load and the end of list in block b, whose
// predecessors are alone back to the load's block.
func unwritten(load *ir.Inst, b *ir.Block, list []*ir.Inst) bool {
	for {
		for i := len(list) - 1; i >= 0; i-- {
			if list[i] == load {
				return true
			}
			in := list[i]
			if in.Op.Row().Effects&(ir.Writes|ir.Barrier|ir.Convergent) != 0 || in.Volatile || in.Order != ir.Weak {
				return false // a load that acquires shows what others wrote before they released
			}
		}
		if b == load.Block || len(b.Preds) != 1 {
			return false
		}
		b = b.Preds[0]
		list = b.Insts
	}
}

func argKey(args []*ir.Value) string {
	buf := make([]byte, 0, 32)
	for _, a := range args {
		if a.Const {
			buf = fmt.Appendf(buf, "%d:%x,", a.Type, a.Bits)
		} else {
			buf = fmt.Appendf(buf, "%%%d,", a.ID)
		}
	}
	return string(buf)
}
