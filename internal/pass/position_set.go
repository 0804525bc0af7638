package pass

// positionSet is a set of positions in an order that never changes once made, so that both ways of a branch share what they defer: a treap whose
// form depends on its elements alone. The empty set is nil.
type positionSet struct {
	at          int
	left, right *positionSet
}

// above reports that position x belongs nearer to the root than y.
func above(x, y int) bool {
	h, k := uint64(x)*0x9e3779b97f4a7c15, uint64(y)*0x9e3779b97f4a7c15
	h, k = h^h>>29, k^k>>29
	return h > k || h == k && x > y
}

// with is s and one position.
func (s *positionSet) with(at int) *positionSet { return s.union(&positionSet{at: at}) }

// union is the positions of both. What is the same in both is shared and not looked at.
func (s *positionSet) union(t *positionSet) *positionSet {
	if t == nil || s == t {
		return s
	}
	if s == nil {
		return t
	}
	if s.at != t.at && above(t.at, s.at) {
		s, t = t, s
	}
	less, more := t.split(s.at)
	left, right := s.left.union(less), s.right.union(more)
	if left == s.left && right == s.right {
		return s
	}
	return &positionSet{s.at, left, right}
}

// split is the positions before and behind one.
func (s *positionSet) split(at int) (less, more *positionSet) {
	switch {
	case s == nil:
		return nil, nil
	case s.at == at:
		return s.left, s.right
	case s.at < at:
		less, more = s.right.split(at)
		if less == s.right {
			return s, more
		}
		return &positionSet{s.at, s.left, less}, more
	}
	less, more = s.left.split(at)
	if more == s.left {
		return less, s
	}
	return less, &positionSet{s.at, more, s.right}
}

// first is the least position, and the set without it.
func (s *positionSet) first() (int, *positionSet) {
	if s.left == nil {
		return s.at, s.right
	}
	at, rest := s.left.first()
	return at, &positionSet{s.at, rest, s.right}
}
