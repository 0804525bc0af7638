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
	frontier    [][]int32
	spare       []*labels
}

// labels is the state of one walk from a branch. A block that is not in it has the label of the nearest one in it that dominates it.
type labels struct {
	epoch     int32
	at        []int32 // the last iteration in which the block was labelled
	label     []int32
	headAt    []int32 // the same of labels that come back to a loop's header
	headLabel []int32
	list      []int32 // the labelled blocks
	next      minHeap // those not gone on from
}

func (a *shapeAnalysis) prepare() {
	d := &a.divergence
	n := len(a.rpo)
	d.varyingPhis, d.warpPhis, d.seen = make([]bool, n), make([]bool, n), make([]uint8, n)
	d.divergent, d.apart, d.left = map[*ir.Loop]bool{}, map[*ir.Loop]uint8{}, map[*ir.Loop]uint8{}
}

// at is the number of a block that can be reached.
func (a *shapeAnalysis) at(b *ir.Block) int {
	i, _ := a.num.Of(b)
	return i
}

// control marks the joins and loops that divergent branches make; true if something is new.
func (a *shapeAnalysis) control() bool {
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
		starts := make([]int32, 0, 2)
		for _, s := range t.Targets {
			starts = append(starts, int32(a.at(s)))
		}
		a.spread(starts, i, a.li.Innermost(b), level)
		changed = true
	}
	return changed
}

// spread follows the ways from block number from in loop in, where lanes (level 2) or warps (level 1) part and go to the starts. Each
// block is labelled with the last point where paths to it met; where two labels meet is a join, whose phis vary. A loop that lanes leave
// while others stay is divergent: its exit phis vary too, and lanes that left it on different ways, in whatever iterations, are
// followed from there.
//
// A label holds for all that its block dominates, so that labels go from a block to its dominance frontier at once. Once one block is left to
// go on from, all that comes behind it has its label: nothing more is found, unless a loop around has ways out or back with
// another label.
func (a *shapeAnalysis) spread(starts []int32, from int, in *ir.Loop, level uint8) {
	if a.frontier == nil {
		a.frontier = a.dom.Frontiers()
	}
	w := a.newLabels()
	step := func(from, to, l int32) {
		switch {
		case to <= from: // a back edge: lanes meet again at the header, in step
			if w.headAt[to] == w.epoch && w.headLabel[to] != l {
				l = to
			}
			w.headAt[to], w.headLabel[to] = w.epoch, l
		case w.at[to] != w.epoch:
			w.at[to], w.label[to] = w.epoch, l
			w.list = append(w.list, to)
			w.next.push(to)
		case w.label[to] != l && w.label[to] != to:
			w.label[to] = to
			a.mark(int(to), level)
		}
	}
	for _, s := range starts {
		step(int32(from), s, s)
	}
	for len(w.next) > 0 {
		x := w.next.pop()
		if len(w.next) == 0 && a.settled(w, w.label[x], in, level) {
			break
		}
		for _, y := range a.frontier[x] {
			step(x, y, w.label[x])
		}
	}
	for l := in; l != nil; l = l.Parent {
		if a.leavesApart(w, l) {
			a.leaves(l, level)
		}
	}
	a.spare = append(a.spare, w)
}

func (a *shapeAnalysis) newLabels() *labels {
	if n := len(a.spare); n > 0 {
		w := a.spare[n-1]
		a.spare = a.spare[:n-1]
		w.epoch++
		w.list, w.next = w.list[:0], w.next[:0]
		return w
	}
	n := len(a.rpo)
	return &labels{epoch: 1, at: make([]int32, n), label: make([]int32, n), headAt: make([]int32, n), headLabel: make([]int32, n)}
}

// of is the label of block b; -1: it has none.
func (w *labels) of(dom *ir.DomTree, b int) int32 {
	if w.at[b] == w.epoch {
		return w.label[b]
	}
	p, _ := dom.Interval(b)
	nearest, label := int32(-1), int32(-1)
	for _, x := range w.list {
		if first, end := dom.Interval(int(x)); first <= p && p < end && first > nearest {
			nearest, label = first, w.label[x]
		}
	}
	return label
}

// settled reports that of each loop around either all ways out and back have the label that the rest will have, or it is known that it is
// left at different times.
func (a *shapeAnalysis) settled(w *labels, rest int32, in *ir.Loop, level uint8) bool {
	for l := in; l != nil; l = l.Parent {
		if a.apart[l] >= level || a.leavesApart(w, l) {
			continue
		}
		if h := a.at(l.Header); w.headAt[h] == w.epoch && w.headLabel[h] != rest {
			return false
		}
		for _, y := range l.Exits {
			if x := w.of(a.dom, a.at(y)); x >= 0 && x != rest {
				return false
			}
		}
	}
	return true
}

// leaves notes that l is left at different times.
func (a *shapeAnalysis) leaves(l *ir.Loop, level uint8) {
	if level == 2 {
		a.divergent[l] = true
	}
	a.apart[l] = max(a.apart[l], level)
	// Warps leave at different times: what counts the iterations is one number for a warp, not for the block.
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
func (a *shapeAnalysis) mark(x int, level uint8) {
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
func (a *shapeAnalysis) leavesApart(w *labels, l *ir.Loop) bool {
	h := a.at(l.Header)
	out := int32(-1)
	for _, y := range l.Exits {
		x := w.of(a.dom, a.at(y))
		if x < 0 {
			continue
		}
		if out >= 0 && out != x {
			return true
		}
		out = x
	}
	return out >= 0 && w.headAt[h] == w.epoch && w.headLabel[h] != out // equal: they met again before the exit
}

// minHeap gives the least of its numbers first.
type minHeap []int32

func (h *minHeap) push(x int32) {
	s := append(*h, x)
	*h = s
	for i := len(s) - 1; i > 0 && s[(i-1)/2] > s[i]; i = (i - 1) / 2 {
		s[i], s[(i-1)/2] = s[(i-1)/2], s[i]
	}
}

func (h *minHeap) pop() int32 {
	s := *h
	least := s[0]
	n := len(s) - 1
	s[0] = s[n]
	s = s[:n]
	*h = s
	for i := 0; ; {
		c := 2*i + 1
		if c >= n {
			return least
		}
		if c+1 < n && s[c+1] < s[c] {
			c++
		}
		if s[i] <= s[c] {
			return least
		}
		s[i], s[c] = s[c], s[i]
		i = c
	}
}
