package progen

import "kudzu/internal/shrink"

// Reduce takes away what it can while the program still fails, at most tries times.
func Reduce(p *Program, fails func(*Program) bool, tries int) *Program {
	for again := true; again && tries > 0; {
		again = false
		lists := []*[]*node{&p.body}
		for _, f := range p.functions {
			lists = append(lists, &f.body)
		}
		for _, l := range lists {
			again = reduceList(l, func() bool { return fails(p) }, &tries) || again
		}
	}
	return p
}

// reduceList tries to drop runs of statements, then to put a statement's parts in its place, then to reduce the parts.
func reduceList(list *[]*node, fails func() bool, tries *int) bool {
	changed := false
	attempt := func(next []*node) bool {
		if *tries <= 0 {
			return false
		}
		*tries--
		old := *list
		*list = next
		if fails() {
			changed = true
			return true
		}
		*list = old
		return false
	}
	*list = shrink.List(*list, attempt)
	for i := 0; i < len(*list); i++ {
		n := (*list)[i]
		for _, body := range append([][]*node{n.a, n.b}, n.parts...) {
			if len(body) == 0 {
				continue
			}
			next := append(append(append([]*node{}, (*list)[:i]...), body...), (*list)[i+1:]...)
			if attempt(next) {
				i--
				break
			}
		}
	}
	for _, n := range *list {
		changed = reduceList(&n.a, fails, tries) || changed
		changed = reduceList(&n.b, fails, tries) || changed
		for k := range n.parts {
			changed = reduceList(&n.parts[k], fails, tries) || changed
		}
	}
	return changed
}
