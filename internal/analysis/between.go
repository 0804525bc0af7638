package analysis

import "kudzu/internal/ir"

// Between is the blocks on the paths from the end of b to join, which is not among them; b is, if it is in a loop that does not
// pass join. With b's immediate post-dominator that is the region that a branch at the end of b decides about.
func Between(b, join *ir.Block) map[*ir.Block]bool { return Reach(b.Succs(), join) }

// Reach is the given blocks and all that can be reached from them without passing join, which may be nil.
func Reach(from []*ir.Block, join *ir.Block) map[*ir.Block]bool {
	seen := map[*ir.Block]bool{}
	work := append([]*ir.Block(nil), from...)
	for len(work) > 0 {
		x := work[len(work)-1]
		work = work[:len(work)-1]
		if seen[x] || x == join {
			continue
		}
		seen[x] = true
		work = append(work, x.Succs()...)
	}
	return seen
}
