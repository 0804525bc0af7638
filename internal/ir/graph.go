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
	seen := f.NewBlockSet()
	seen.Add(f.Blocks[0])
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
		if s := t.b.Succs()[t.next]; seen.Add(s) {
			stack = append(stack, frame{s, len(s.Succs())})
		}
	}
	return post
}

// BlockSet is a set of blocks of one function.
type BlockSet struct{ in []*Block } // by ID

// NewBlockSet is an empty set, for blocks that exist now; others may be added too.
func (f *Func) NewBlockSet() *BlockSet { return &BlockSet{make([]*Block, f.nextBlock)} }

// Has reports whether b is in the set.
func (s *BlockSet) Has(b *Block) bool { return b.ID < len(s.in) && s.in[b.ID] == b }

// Add puts b into the set; false: it was there already.
func (s *BlockSet) Add(b *Block) bool {
	if s.Has(b) {
		return false
	}
	for b.ID >= len(s.in) {
		s.in = append(s.in, nil)
	}
	s.in[b.ID] = b
	return true
}

// BlockNums numbers blocks of one function, as they stand in an order.
type BlockNums struct {
	order []*Block
	num   []int32 // by ID; the check with order makes one that is stale or another block's harmless
}

// NumberBlocks gives the blocks of order, those that are nil apart, the numbers of their places.
func (f *Func) NumberBlocks(order []*Block) BlockNums {
	n := BlockNums{order, make([]int32, f.nextBlock)}
	for i, b := range order {
		if b != nil {
			n.num[b.ID] = int32(i)
		}
	}
	return n
}

// Of is b's number; false: it has none.
func (n BlockNums) Of(b *Block) (int, bool) {
	if b.ID >= len(n.num) {
		return 0, false
	}
	i := int(n.num[b.ID])
	return i, i < len(n.order) && n.order[i] == b
}
