package pass

import "kudzu/internal/ir"

// divergence is what branches that lanes, or warps, take differently do to the graph. Levels are 1 for warps, 2 for lanes; blocks are
// known by their numbers in reverse postorder.
type divergence struct {
	varyingPhis []bool             // joins of divergent branches
	warpPhis    []bool             // joins of branches that warps take differently
	seen        []uint8            // branches that were followed, with the level
	divergent   map[*ir.Loop]bool  // lanes leave at different times
	apart       map[*ir.Loop]uint8 // loops that are left at different times, with the level
	left        map[*ir.Loop]uint8 // loops whose exits were followed, with the level
	succAt      []int32            // the successors of block i are succs[succAt[i]:succAt[i+1]]
	succs       []int32
	spare       []*labels
}

// labels is the state of one walk from a branch. What it holds of a block counts where the block's round is the walk's.
type labels struct {
	round     int32
	at        []int32 // the last round in which the block was labelled
	label     []int32
	headAt    []int32 // the same of labels that come back to a loop's header
	headLabel []int32
}

func (a *analysis) prepare() {
	d := &a.divergence
	n := len(a.rpo)
	d.varyingPhis, d.warpPhis, d.seen = make([]bool, n), make([]bool, n), make([]uint8, n)
	d.divergent, d.apart, d.left = map[*ir.Loop]bool{}, map[*ir.Loop]uint8{}, map[*ir.Loop]uint8{}
	d.succAt = make([]int32, 1, n+1)
	for _, b := range a.rpo {
		for _, s := range b.Succs() {
			d.succs = append(d.succs, int32(a.at(s)))
		}
		d.succAt = append(d.succAt, int32(len(d.succs)))
	}
}

// at is the number of a block that can be reached.
func (a *analysis) at(b *ir.Block) int {
	i, _ := a.num.Of(b)
	return i
}

// control marks the joins and loops that divergent branches make; true if something is new.
func (a *analysis) control() bool {
	changed := false
	for i, b := range a.rpo {
		t := b.Term()
		if t == nil || len(t.Targets) < 2 || len(t.Args) == 0 {
			continue
		}
		k := a.fact(t.Args[0]).kind
		level := uint8(0)
		switch {
		case k == ir.ShapeUnknown || k == ir.BlockUniform:
			continue
		case k == ir.WarpUniform:
			level = 1
		default:
			level = 2
		}
		if a.seen[i] >= level {
			continue
		}
		a.seen[i] = level
		a.spread(a.succs[a.succAt[i]:a.succAt[i+1]], i, a.li.Innermost(b), level)
		changed = true
	}
	return changed
}

// spread follows the ways from block number from in loop in, where lanes (level 2) or warps (level 1) part and go to the starts. Each
// block is labelled with the last place where ways to it met; where two labels meet is a join, whose phis vary. A loop that lanes leave
// while others stay is divergent: its exit phis vary too, and lanes that left it on different ways, in whatever rounds, are
// followed from there.
//
// Once one block is left to go on from, all that comes behind it has its label: nothing more is found, unless a loop around has some
// of its ways out or back labelled and others not yet.
func (a *analysis) spread(starts []int32, from int, in *ir.Loop, level uint8) {
	w := a.newLabels()
	waiting := 0 // blocks labelled and not gone on from
	open := true // something was labelled since settled looked
	put := func(x, l int32) {
		if w.at[x] != w.round {
			w.at[x], w.label[x] = w.round, l
			waiting++
			open = open || in != nil && !in.Contains(a.rpo[x]) // beyond an exit
		} else if old := w.label[x]; old != l && old != x {
			w.label[x] = x
			a.mark(int(x), level)
		}
	}
	step := func(from int, to, l int32) {
		if int(to) > from {
			put(to, l)
			return
		}
		// A back edge: lanes meet again at the header, in step.
		if w.headAt[to] == w.round && w.headLabel[to] != l {
			l = to
		}
		w.headAt[to], w.headLabel[to] = w.round, l
		open = true
	}
	for _, s := range starts {
		step(from, s, s)
	}
	for i := from + 1; waiting > 0; i++ {
		if w.at[i] != w.round {
			continue
		}
		waiting--
		if waiting == 0 && (in == nil || open) {
			if a.settled(w, in, level) {
				break
			}
			open = false
		}
		for _, s := range a.succs[a.succAt[i]:a.succAt[i+1]] {
			step(i, s, w.label[i])
		}
	}
	for l := in; l != nil; l = l.Parent {
		if a.leavesApart(w, l) {
			a.leaves(l, level)
		}
	}
	a.spare = append(a.spare, w)
}

func (a *analysis) newLabels() *labels {
	if n := len(a.spare); n > 0 {
		w := a.spare[n-1]
		a.spare = a.spare[:n-1]
		w.round++
		return w
	}
	n := len(a.rpo)
	return &labels{1, make([]int32, n), make([]int32, n), make([]int32, n), make([]int32, n)}
}

// settled reports that of each loop around either no way out or back is labelled, or it is known that it is left at different times.
func (a *analysis) settled(w *labels, in *ir.Loop, level uint8) bool {
	for l := in; l != nil; l = l.Parent {
		if a.apart[l] >= level || a.leavesApart(w, l) {
			continue
		}
		if w.headAt[a.at(l.Header)] == w.round {
			return false
		}
		for _, y := range l.Exits {
			if w.at[a.at(y)] == w.round {
				return false
			}
		}
	}
	return true
}

// leaves notes that l is left at different times.
func (a *analysis) leaves(l *ir.Loop, level uint8) {
	if level == 2 {
		a.divergent[l] = true
	}
	a.apart[l] = max(a.apart[l], level)
	// Warps leave at different times: what counts the rounds is one number for a warp, not for the block.
	a.mark(a.at(l.Header), 1)
	var exits []int32
	for _, y := range l.Exits {
		exits = append(exits, int32(a.at(y)))
		a.mark(a.at(y), level)
	}
	if a.left[l] < level && len(exits) > 1 {
		a.left[l] = level
		a.spread(exits, a.at(l.Header), l.Parent, level)
	}
}

// mark has the phis of block x vary.
func (a *analysis) mark(x int, level uint8) {
	if a.warpPhis[x] && (a.varyingPhis[x] || level < 2) {
		return
	}
	a.warpPhis[x] = true
	a.varyingPhis[x] = a.varyingPhis[x] || level == 2
	for k := range numPhis(a.rpo[x]) {
		a.todo.dirty[a.todo.first[x]+int32(k)] = true
	}
}

// leavesApart reports that of those who went different ways some come to an exit of the loop while others come back to its
// header, or to another exit.
func (a *analysis) leavesApart(w *labels, l *ir.Loop) bool {
	h := a.at(l.Header)
	out := int32(-1)
	for _, y := range l.Exits {
		i := a.at(y)
		if w.at[i] != w.round {
			continue
		}
		if out >= 0 && out != w.label[i] {
			return true
		}
		out = w.label[i]
	}
	return out >= 0 && w.headAt[h] == w.round && w.headLabel[h] != out // equal: they met again before the exit
}
