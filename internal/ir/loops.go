package ir

import "slices"

// Loop is a natural loop: a header that dominates the blocks that branch back to it.
type Loop struct {
	Header  *Block
	Blocks  []*Block // in reverse postorder, the header first
	Latches []*Block // blocks with an edge back to the header
	Exits   []*Block // blocks outside with an edge from inside, in order, once each
	Parent  *Loop
	Depth   int // 1 for an outermost loop
	info    *LoopInfo
	first   int32 // places of this loop and of those in it in a preorder of the tree of loops
	last    int32
}

// Contains reports whether b is in the loop.
func (l *Loop) Contains(b *Block) bool { return l.Encloses(l.info.Innermost(b)) }

// Encloses reports whether x is the loop or one in it; nil is none.
func (l *Loop) Encloses(x *Loop) bool { return x != nil && l.first <= x.first && x.first <= l.last }

// LoopInfo is the loops of a function. Irreducible regions form no loop; Irreducible says that there are some.
type LoopInfo struct {
	Loops       []*Loop // outer loops before the loops in them
	Irreducible bool
	nums        BlockNums
	inner       []*Loop // by number
}

// Innermost is the innermost loop b is in, or nil.
func (li *LoopInfo) Innermost(b *Block) *Loop {
	if i, ok := li.nums.Of(b); ok {
		return li.inner[i]
	}
	return nil
}

// Loops finds the natural loops of f. Preds must be current.
func Loops(f *Func, dom *DomTree) *LoopInfo {
	rpo := f.RPO()
	li := &LoopInfo{nums: f.NumberBlocks(rpo), inner: make([]*Loop, len(rpo))}
	mark := make([]int32, len(rpo)) // the last loop that a block was found to be in
	var nums []int32
	var work []*Block
	for hi, h := range rpo {
		var latches []*Block
		for _, p := range h.Preds {
			i, ok := li.nums.Of(p)
			if !ok || i < hi {
				continue
			}
			if dom.Dominates(h, p) {
				latches = append(latches, p)
			} else {
				li.Irreducible = true
			}
		}
		if len(latches) == 0 {
			continue
		}
		l := &Loop{Header: h, Latches: latches, info: li}
		id := int32(len(li.Loops) + 1)
		mark[hi] = id
		nums = append(nums[:0], int32(hi))
		work = append(work[:0], latches...)
		for len(work) > 0 {
			b := work[len(work)-1]
			work = work[:len(work)-1]
			i, ok := li.nums.Of(b)
			if !ok || mark[i] == id {
				continue
			}
			mark[i] = id
			nums = append(nums, int32(i))
			work = append(work, b.Preds...)
		}
		slices.Sort(nums)
		l.Blocks = make([]*Block, len(nums))
		for k, i := range nums {
			l.Blocks[k] = rpo[i]
		}
		l.leave(li, mark, id)
		// Headers come in reverse postorder: an enclosing loop was made before.
		l.Parent = li.inner[hi]
		l.Depth = 1
		if l.Parent != nil {
			l.Depth = l.Parent.Depth + 1
		}
		for _, i := range nums {
			li.inner[i] = l
		}
		li.Loops = append(li.Loops, l)
	}
	li.number()
	return li
}

// leave finds the exits. mark has the loop's own number where a block is in it.
func (l *Loop) leave(li *LoopInfo, mark []int32, id int32) {
	seen := map[*Block]bool{}
	for _, b := range l.Blocks {
		for _, s := range b.Succs() {
			if i, _ := li.nums.Of(s); mark[i] != id && !seen[s] {
				seen[s] = true
				l.Exits = append(l.Exits, s)
			}
		}
	}
}

// number makes Contains two comparisons: it gives the loops their places in a preorder of the tree of loops.
func (li *LoopInfo) number() {
	size := make(map[*Loop]int32, len(li.Loops))
	for i := len(li.Loops) - 1; i >= 0; i-- {
		l := li.Loops[i]
		size[l]++
		if l.Parent != nil {
			size[l.Parent] += size[l]
		}
	}
	next := make(map[*Loop]int32, len(li.Loops)) // the place of the next loop in this one; nil: of an outermost one
	for _, l := range li.Loops {
		l.first = next[l.Parent]
		l.last = l.first + size[l] - 1
		next[l.Parent] = l.last + 1
		next[l] = l.first + 1
	}
}
