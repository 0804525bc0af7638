// Package analysis has what passes and emitters ask about a function and none of them changes: a file an analysis, each defined
// once. It stands between ir and pass.
package analysis

import (
	"math/bits"

	"kudzu/internal/ir"
)

// Liveness is which values are live at the start of each block.
type Liveness struct {
	values []*ir.Value // by ID
	in     [][]uint64  // by block ID, a bit a value
}

// Live computes the liveness of the values that counts tells; constants never count. It renumbers f.
func Live(f *ir.Func, counts func(*ir.Value) bool) *Liveness {
	f.Renumber()
	f.Rewire()
	l := &Liveness{values: append([]*ir.Value(nil), f.Params...), in: make([][]uint64, len(f.Blocks))}
	for _, b := range f.Blocks {
		for _, in := range b.Insts {
			l.values = append(l.values, in.Results...)
		}
	}
	words := (len(l.values) + 63) / 64
	for i := range l.in {
		l.in[i] = make([]uint64, words)
	}
	use := func(set []uint64, v *ir.Value) {
		if v != nil && !v.Const && counts(v) {
			set[v.ID/64] |= 1 << (v.ID % 64)
		}
	}
	for changed := true; changed; {
		changed = false
		for i := len(f.Blocks) - 1; i >= 0; i-- {
			if now := l.before(f.Blocks[i], use); !same(now, l.in[i]) {
				l.in[i], changed = now, true
			}
		}
	}
	return l
}

// before is what is live at the start of b, by what is known of its successors.
func (l *Liveness) before(b *ir.Block, use func([]uint64, *ir.Value)) []uint64 {
	live := make([]uint64, (len(l.values)+63)/64)
	for _, s := range b.Succs() {
		for w, x := range l.in[s.ID] {
			live[w] |= x
		}
		for _, phi := range s.Insts {
			if phi.Op != ir.Phi {
				break
			}
			for j, from := range phi.Targets {
				if from == b {
					use(live, phi.Args[j])
				}
			}
		}
	}
	for k := len(b.Insts) - 1; k >= 0; k-- {
		in := b.Insts[k]
		for _, r := range in.Results {
			live[r.ID/64] &^= 1 << (r.ID % 64)
		}
		if in.Op == ir.Phi {
			continue // read at the ends of the predecessors
		}
		for _, a := range in.Args {
			use(live, a)
		}
		use(live, in.Mask)
	}
	return live
}

func same(a, b []uint64) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// In lists the values that are live at the start of b, in the order of their definitions.
func (l *Liveness) In(b *ir.Block) (list []*ir.Value) {
	for w, x := range l.in[b.ID] {
		for ; x != 0; x &= x - 1 {
			list = append(list, l.values[w*64+bits.TrailingZeros64(x)])
		}
	}
	return list
}
