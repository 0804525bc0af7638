package pass

// placeSet is a set of places in an order that never changes once made, so that both ways of a branch share what they defer: a treap whose
// form depends on its elements alone. The empty set is nil.
type placeSet struct {
	at          int
	left, right *placeSet
}

// above reports that place x belongs nearer to the root than y.
func above(x, y int) bool {
	h, k := uint64(x)*0x9e3779b97f4a7c15, uint64(y)*0x9e3779b97f4a7c15
	h, k = h^h>>29, k^k>>29
	return h > k || h == k && x > y
}

// with is s and one place.
func (s *placeSet) with(at int) *placeSet { return s.union(&placeSet{at: at}) }

// union is the places of both. What is the same in both is shared and not looked at.
func (s *placeSet) union(t *placeSet) *placeSet {
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
	return &placeSet{s.at, left, right}
}

// split is the places before and behind one.
func (s *placeSet) split(at int) (less, more *placeSet) {
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
		return &placeSet{s.at, s.left, less}, more
	}
	less, more = s.left.split(at)
	if more == s.left {
		return less, s
	}
	return less, &placeSet{s.at, more, s.right}
}

// first is the least place, and the set without it.
func (s *placeSet) first() (int, *placeSet) {
	if s.left == nil {
		return s.at, s.right
	}
	at, rest := s.left.first()
	return at, &placeSet{s.at, rest, s.right}
}
