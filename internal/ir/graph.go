package ir

// RPO is the blocks reachable from the entry in reverse postorder: a block comes before its successors, back edges apart.
// The first successor of a branch comes first among equals, so that the order reads like the program.
func (f *Func) RPO() []*Block {
	post := f.PostOrder()
	for i, j := 0, len(post)-1; i < j; i, j = i+1, j-1 {
		post[i], post[j] = post[j], post[i]
	}
	return post
}

// PostOrder is the reachable blocks, successors before the block itself, back edges apart.
func (f *Func) PostOrder() []*Block {
	if len(f.Blocks) == 0 {
		return nil
	}
	type frame struct {
		b    *Block
		next int // successors still to visit, from the last
	}
	seen := map[*Block]bool{f.Blocks[0]: true}
	stack := []frame{{f.Blocks[0], len(f.Blocks[0].Succs())}}
	var post []*Block
	for len(stack) > 0 {
		t := &stack[len(stack)-1]
		if t.next == 0 {
			post = append(post, t.b)
			stack = stack[:len(stack)-1]
			continue
		}
		t.next--
		if s := t.b.Succs()[t.next]; !seen[s] {
			seen[s] = true
			stack = append(stack, frame{s, len(s.Succs())})
		}
	}
	return post
}

// DomTree is the dominator tree of a function's reachable blocks, or of the reverse graph.
type DomTree struct {
	order []*Block // reverse postorder
	num   map[*Block]int
	idom  []int // by number; the root's is itself; -1: only the virtual root of the reverse graph
	pre   []int // preorder interval in the tree, for Dominates
	last  []int
}

// Dominators computes the dominator tree (Cooper, Harvey and Kennedy's iteration). Preds must be current.
func Dominators(f *Func) *DomTree {
	rpo := f.RPO()
	t := newDomTree(rpo)
	if len(rpo) > 0 {
		t.idom[0] = 0
	}
	t.iterate(1, func(b *Block) []*Block { return b.Preds })
	return t
}

// PostDominators computes the dominator tree of the reverse graph. Blocks that end the thread have the virtual exit as
// parent (Idom nil); blocks that cannot reach an end are parented to it as well.
func PostDominators(f *Func) *DomTree {
	var order []*Block
	seen := map[*Block]bool{}
	var visit func(b *Block)
	visit = func(b *Block) {
		type frame struct {
			b    *Block
			next int
		}
		if seen[b] {
			return
		}
		seen[b] = true
		stack := []frame{{b, 0}}
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if top.next == len(top.b.Preds) {
				order = append(order, top.b)
				stack = stack[:len(stack)-1]
				continue
			}
			p := top.b.Preds[top.next]
			top.next++
			if !seen[p] {
				seen[p] = true
				stack = append(stack, frame{p, 0})
			}
		}
	}
	// Roots are the ends of the program, then one block of each endless region, the last one first.
	fwd := f.PostOrder()
	for _, b := range fwd {
		if len(b.Succs()) == 0 {
			visit(b)
		}
	}
	isRoot := map[*Block]bool{}
	for _, b := range fwd {
		if len(b.Succs()) == 0 {
			isRoot[b] = true
		} else if !seen[b] {
			isRoot[b] = true
			visit(b)
		}
	}
	for i, j := 0, len(order)-1; i < j; i, j = i+1, j-1 {
		order[i], order[j] = order[j], order[i]
	}
	// The virtual exit takes number 0, as a nil block.
	t := newDomTree(append([]*Block{nil}, order...))
	t.idom[0] = 0
	t.iterate(1, func(b *Block) []*Block {
		if isRoot[b] {
			return append([]*Block{nil}, b.Succs()...)
		}
		return b.Succs()
	})
	return t
}

func newDomTree(order []*Block) *DomTree {
	t := &DomTree{order: order, num: make(map[*Block]int, len(order)), idom: make([]int, len(order))}
	for i, b := range order {
		t.num[b] = i
		t.idom[i] = -1
	}
	return t
}

func (t *DomTree) iterate(first int, preds func(*Block) []*Block) {
	for changed := true; changed; {
		changed = false
		for i := first; i < len(t.order); i++ {
			nd := -1
			for _, p := range preds(t.order[i]) {
				j, ok := t.num[p]
				if !ok || t.idom[j] < 0 {
					continue
				}
				if nd < 0 {
					nd = j
				} else {
					nd = t.meet(nd, j)
				}
			}
			if nd >= 0 && t.idom[i] != nd {
				t.idom[i], changed = nd, true
			}
		}
	}
	t.intervals()
}

func (t *DomTree) meet(a, b int) int {
	for a != b {
		for a > b {
			a = t.idom[a]
		}
		for b > a {
			b = t.idom[b]
		}
	}
	return a
}

// intervals numbers the tree so that Dominates is two comparisons.
func (t *DomTree) intervals() {
	n := len(t.order)
	t.pre, t.last = make([]int, n), make([]int, n)
	kids := make([][]int, n)
	for i := 1; i < n; i++ {
		if d := t.idom[i]; d >= 0 {
			kids[d] = append(kids[d], i)
		}
	}
	if n == 0 {
		return
	}
	clock := 0
	type frame struct{ node, next int }
	stack := []frame{{0, 0}}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if top.next == 0 {
			t.pre[top.node] = clock
			clock++
		}
		if top.next < len(kids[top.node]) {
			k := kids[top.node][top.next]
			top.next++
			stack = append(stack, frame{k, 0})
			continue
		}
		t.last[top.node] = clock
		stack = stack[:len(stack)-1]
	}
}

// Idom is the immediate dominator of b, nil for the root, an unreachable block, or a child of the virtual exit.
func (t *DomTree) Idom(b *Block) *Block {
	i, ok := t.num[b]
	if !ok || i == 0 || t.idom[i] < 0 {
		return nil
	}
	return t.order[t.idom[i]]
}

// Dominates reports whether a dominates b (a block dominates itself). False for unreachable blocks.
func (t *DomTree) Dominates(a, b *Block) bool {
	i, ok := t.num[a]
	j, ok2 := t.num[b]
	return ok && ok2 && t.pre[i] <= t.pre[j] && t.pre[j] < t.last[i]
}

// Children are the blocks whose immediate dominator is b, in order.
func (t *DomTree) Children(b *Block) []*Block {
	i, ok := t.num[b]
	if !ok {
		return nil
	}
	var kids []*Block
	for j := 1; j < len(t.order); j++ {
		if t.idom[j] == i {
			kids = append(kids, t.order[j])
		}
	}
	return kids
}

// Loop is a natural loop: a header that dominates the blocks that branch back to it.
type Loop struct {
	Header  *Block
	Blocks  []*Block // in reverse postorder, the header first
	Latches []*Block // blocks with an edge back to the header
	Exits   []*Block // blocks outside with an edge from inside, in order, once each
	Parent  *Loop
	Depth   int // 1 for an outermost loop
	in      map[*Block]bool
}

// Contains reports whether b is in the loop.
func (l *Loop) Contains(b *Block) bool { return l.in[b] }

// LoopInfo is the loops of a function. Irreducible regions form no loop; Irreducible says that there are some.
type LoopInfo struct {
	Loops       []*Loop // outer loops before the loops in them
	Irreducible bool
	inner       map[*Block]*Loop
}

// Innermost is the innermost loop b is in, or nil.
func (li *LoopInfo) Innermost(b *Block) *Loop { return li.inner[b] }

// Loops finds the natural loops of f. Preds must be current.
func Loops(f *Func, dom *DomTree) *LoopInfo {
	rpo := f.RPO()
	num := make(map[*Block]int, len(rpo))
	for i, b := range rpo {
		num[b] = i
	}
	li := &LoopInfo{inner: map[*Block]*Loop{}}
	for _, h := range rpo {
		var latches []*Block
		for _, p := range h.Preds {
			i, ok := num[p]
			if !ok || i < num[h] {
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
		l := &Loop{Header: h, Latches: latches, in: map[*Block]bool{h: true}}
		work := append([]*Block(nil), latches...)
		for len(work) > 0 {
			b := work[len(work)-1]
			work = work[:len(work)-1]
			if l.in[b] {
				continue
			}
			l.in[b] = true
			for _, p := range b.Preds {
				if _, ok := num[p]; ok {
					work = append(work, p)
				}
			}
		}
		l.fill(rpo)
		// Headers come in reverse postorder: an enclosing loop was made before.
		l.Parent = li.inner[h]
		l.Depth = 1
		if l.Parent != nil {
			l.Depth = l.Parent.Depth + 1
		}
		for _, b := range l.Blocks {
			li.inner[b] = l
		}
		li.Loops = append(li.Loops, l)
	}
	return li
}

func (l *Loop) fill(rpo []*Block) {
	seen := map[*Block]bool{}
	for _, b := range rpo {
		if !l.in[b] {
			continue
		}
		l.Blocks = append(l.Blocks, b)
		for _, s := range b.Succs() {
			if !l.in[s] && !seen[s] {
				seen[s] = true
				l.Exits = append(l.Exits, s)
			}
		}
	}
}
