package ir

import "slices"

// DomTree is the dominator tree of a function's reachable blocks, or of the reverse graph.
type DomTree struct {
	order []*Block // reverse postorder
	nums  BlockNums
	idom  []int32 // by number; the root's is itself
	pre   []int32 // preorder interval in the tree, for Dominates
	last  []int32
}

// Dominators computes the dominator tree. Preds must be current.
func Dominators(f *Func) *DomTree {
	t := &DomTree{order: f.RPO()}
	t.nums = f.NumberBlocks(t.order)
	t.solve(func(_ int, b *Block) []*Block { return b.Preds }, nil)
	return t
}

// PostDominators computes the dominator tree of the reverse graph. Blocks that end the thread have the virtual exit as
// parent (Idom nil); blocks that cannot reach an end are parented to it as well.
func PostDominators(f *Func) *DomTree {
	var order []*Block
	seen := f.NewBlockSet()
	type frame struct {
		b    *Block
		next int
	}
	var stack []frame
	visit := func(b *Block) {
		if !seen.Add(b) {
			return
		}
		stack = append(stack[:0], frame{b, 0})
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if top.next == len(top.b.Preds) {
				order = append(order, top.b)
				stack = stack[:len(stack)-1]
				continue
			}
			p := top.b.Preds[top.next]
			top.next++
			if seen.Add(p) {
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
	roots := f.NewBlockSet()
	for _, b := range fwd {
		if len(b.Succs()) == 0 {
			roots.Add(b)
		} else if !seen.Has(b) {
			roots.Add(b)
			visit(b)
		}
	}
	order = append(order, nil) // the virtual exit takes number 0
	slices.Reverse(order)
	t := &DomTree{order: order}
	t.nums = f.NumberBlocks(order)
	t.solve(func(_ int, b *Block) []*Block { return b.Succs() }, roots.Has)
	return t
}

// graph is a flow graph over numbers, 0 its root: the predecessors and successors of each.
type graph struct {
	predAt, preds []int32 // i's are preds[predAt[i]:predAt[i+1]]
	succAt, succs []int32
}

// solve computes the tree; ofRoot reports blocks that the root, which is no block then, leads to.
func (t *DomTree) solve(preds func(int, *Block) []*Block, ofRoot func(*Block) bool) {
	n := len(t.order)
	g := &graph{predAt: make([]int32, 1, n+1), succAt: make([]int32, n+2)}
	for i, b := range t.order {
		if b != nil && ofRoot != nil && ofRoot(b) {
			g.preds = append(g.preds, 0)
		}
		if i > 0 {
			for _, p := range preds(i, b) {
				if j, ok := t.nums.Of(p); ok {
					g.preds = append(g.preds, int32(j))
				}
			}
		}
		g.predAt = append(g.predAt, int32(len(g.preds)))
	}
	for _, p := range g.preds {
		g.succAt[p+2]++
	}
	for i := 2; i < len(g.succAt); i++ {
		g.succAt[i] += g.succAt[i-1]
	}
	g.succs = make([]int32, len(g.preds))
	for i := range n {
		for _, p := range g.preds[g.predAt[i]:g.predAt[i+1]] {
			g.succs[g.succAt[p+1]] = int32(i)
			g.succAt[p+1]++
		}
	}
	t.idom = g.dominators(n)
	t.intervals()
}

// dominators are the immediate dominators of the n nodes, by the Semi-NCA method (Georgiadis, Tarjan, Werneck, "Finding Dominators in
// Practice"): near-linear whatever the graph, where iteration takes long for blocks that many come to from afar.
func (g *graph) dominators(n int) []int32 {
	idom := make([]int32, n)
	if n == 0 {
		return idom
	}
	// A depth-first search numbers the nodes anew.
	at := make([]int32, n)        // node → its place in the search, 1 and up; 0: not seen
	node := make([]int32, 1, n+1) // place → node
	parent := make([]int32, 1, n+1)
	type frame struct{ node, next int32 }
	enter := func(v, from int32) frame {
		at[v] = int32(len(node))
		node, parent = append(node, v), append(parent, from)
		return frame{v, g.succAt[v]}
	}
	stack := []frame{enter(0, 0)}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if top.next == g.succAt[top.node+1] {
			stack = stack[:len(stack)-1]
			continue
		}
		s := g.succs[top.next]
		top.next++
		if at[s] == 0 {
			stack = append(stack, enter(s, at[top.node]))
		}
	}
	// Semidominators, last place first; those that are done form a forest whose paths are compressed.
	m := int32(len(node))
	semi, label, up, dom := make([]int32, m), make([]int32, m), make([]int32, m), make([]int32, m)
	for i := range m {
		semi[i], label[i], dom[i] = i, i, parent[i]
	}
	var path []int32
	least := func(v int32) int32 { // the place of the smallest semidominator on the way up from v
		if up[v] == 0 {
			return v
		}
		path = path[:0]
		for up[up[v]] != 0 {
			path = append(path, v)
			v = up[v]
		}
		for i := len(path) - 1; i >= 0; i-- {
			w := path[i]
			if semi[label[v]] < semi[label[w]] {
				label[w] = label[v]
			}
			up[w] = up[v]
			v = w
		}
		return label[v]
	}
	for i := m - 1; i >= 2; i-- {
		for _, p := range g.preds[g.predAt[node[i]]:g.predAt[node[i]+1]] {
			if q := at[p]; q != 0 {
				semi[i] = min(semi[i], semi[least(q)])
			}
		}
		up[i] = parent[i]
	}
	for i := int32(2); i < m; i++ {
		d := dom[i]
		for d > semi[i] {
			d = dom[d]
		}
		dom[i] = d
		idom[node[i]] = node[d]
	}
	return idom
}

// intervals numbers the tree so that Dominates is two comparisons.
func (t *DomTree) intervals() {
	n := len(t.order)
	t.pre, t.last = make([]int32, n), make([]int32, n)
	if n == 0 {
		return
	}
	// The children of each, in order, as a list.
	first, next := make([]int32, n), make([]int32, n)
	for i := n - 1; i > 0; i-- {
		d := t.idom[i]
		next[i], first[d] = first[d], int32(i)
	}
	clock := int32(0)
	for v := int32(0); ; {
		t.pre[v] = clock
		clock++
		if first[v] != 0 {
			v = first[v]
			continue
		}
		for {
			t.last[v] = clock
			if v == 0 {
				return
			}
			if next[v] != 0 {
				v = next[v]
				break
			}
			v = t.idom[v]
		}
	}
}

// Idom is the immediate dominator of b, nil for the root, an unreachable block, or a child of the virtual exit.
func (t *DomTree) Idom(b *Block) *Block {
	i, ok := t.nums.Of(b)
	if !ok || i == 0 {
		return nil
	}
	return t.order[t.idom[i]]
}

// Dominates reports whether a dominates b (a block dominates itself). False for unreachable blocks.
func (t *DomTree) Dominates(a, b *Block) bool {
	i, ok := t.nums.Of(a)
	j, ok2 := t.nums.Of(b)
	return ok && ok2 && t.pre[i] <= t.pre[j] && t.pre[j] < t.last[i]
}

// Reachable is the blocks of the tree in reverse postorder, and their numbers in it; of the reverse graph, the first is nil.
func (t *DomTree) Reachable() ([]*Block, BlockNums) { return t.order, t.nums }

// Interval is where the block of a number in reverse postorder and those that it dominates stand in a preorder of the tree.
func (t *DomTree) Interval(i int) (first, end int32) { return t.pre[i], t.last[i] }

// Frontiers are the dominance frontiers, by numbers in reverse postorder: for each block those that it does not strictly dominate,
// though it dominates a predecessor. Preds must be current.
func (t *DomTree) Frontiers() [][]int32 {
	out := make([][]int32, len(t.order))
	for i, b := range t.order {
		if len(b.Preds) < 2 {
			continue
		}
		for _, p := range b.Preds {
			j, ok := t.nums.Of(p)
			if !ok {
				continue
			}
			for r := int32(j); r != t.idom[i]; r = t.idom[r] {
				if n := len(out[r]); n > 0 && out[r][n-1] == int32(i) {
					break
				}
				out[r] = append(out[r], int32(i))
			}
		}
	}
	return out
}
