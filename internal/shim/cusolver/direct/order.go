package direct

import "slices"

// graph is a matrix as its neighbours: the pattern of A + A' without the diagonal.
type graph struct{ next [][]int32 }

func graphOf(p Pattern) graph {
	back, _ := p.turned()
	g := graph{make([][]int32, p.Rows)}
	for i := range p.Rows {
		all := slices.Concat(p.Row(i), back.Row(i))
		slices.Sort(all)
		all = slices.Compact(all)
		g.next[i] = slices.DeleteFunc(all, func(j int32) bool { return int(j) == i })
	}
	return g
}

// levels is a search in breadth, from a vertex, through vertices that are in.
type levels struct {
	order []int32
	from  []int // where levels begin, and the end
}

// search orders neighbours by their degree.
func (g graph) search(start int32, in func(int32) bool) levels {
	seen := map[int32]bool{start: true}
	l := levels{[]int32{start}, []int{0}}
	for begin := 0; begin < len(l.order); {
		end := len(l.order)
		for at := begin; at < end; at++ {
			first := len(l.order)
			for _, j := range g.next[l.order[at]] {
				if !seen[j] && in(j) {
					seen[j] = true
					l.order = append(l.order, j)
				}
			}
			slices.SortStableFunc(l.order[first:], func(a, b int32) int { return len(g.next[a]) - len(g.next[b]) })
		}
		l.from = append(l.from, end)
		begin = end
	}
	return l
}

// peripheral is a search from a vertex that is far from another (George and Liu).
func (g graph) peripheral(start int32, in func(int32) bool) levels {
	l := g.search(start, in)
	for {
		last := l.order[l.from[len(l.from)-2]:]
		next := g.search(slices.MinFunc(last, func(a, b int32) int { return len(g.next[a]) - len(g.next[b]) }), in)
		if len(next.from) <= len(l.from) {
			return l
		}
		l = next
	}
}

// ReverseCuthillMcKee keeps neighbours together.
func ReverseCuthillMcKee(p Pattern) []int32 {
	g := graphOf(p)
	done := make([]bool, p.Rows)
	var order []int32
	for i := range p.Rows {
		if done[i] {
			continue
		}
		l := g.peripheral(int32(i), func(int32) bool { return true })
		for _, j := range l.order {
			done[j] = true
		}
		order = append(order, l.order...)
	}
	slices.Reverse(order)
	return order
}

// fewest vertices are not divided any more.
const fewest = 64

// NestedDissection divides the graph by levels of a search: what lies on either side comes first, then what lies between. Small parts are
// ordered by degree.
func NestedDissection(p Pattern) []int32 {
	g := graphOf(p)
	part := make([]int32, p.Rows) // the number of a vertex's part
	parts := int32(0)
	order := make([]int32, 0, p.Rows)
	var divide func(all []int32)
	divide = func(all []int32) {
		if len(all) <= fewest {
			order = append(order, g.smallest(all)...)
			return
		}
		parts++
		number := parts
		for _, i := range all {
			part[i] = number
		}
		l := g.peripheral(all[0], func(j int32) bool { return part[j] == number })
		if len(l.order) < len(all) { // more than one component
			for _, i := range l.order {
				part[i] = 0
			}
			others := slices.DeleteFunc(slices.Clone(all), func(i int32) bool { return part[i] == 0 })
			divide(l.order)
			divide(others)
			return
		}
		first, between, last := g.halves(l)
		if len(first) == 0 || len(last) == 0 {
			order = append(order, g.smallest(all)...)
			return
		}
		divide(first)
		divide(last)
		order = append(order, between...)
	}
	divide(Identity(p.Rows))
	return order
}

// halves cuts a search at the level where half of the vertices are reached. Those of the level that lead no further stay with the first half.
func (g graph) halves(l levels) (first, between, last []int32) {
	middle := 0
	for l.from[middle+1] < len(l.order)/2 {
		middle++
	}
	first, last = slices.Clone(l.order[:l.from[middle]]), slices.Clone(l.order[l.from[middle+1]:])
	further := map[int32]bool{}
	for _, i := range last {
		further[i] = true
	}
	for _, i := range l.order[l.from[middle]:l.from[middle+1]] {
		if slices.ContainsFunc(g.next[i], func(j int32) bool { return further[j] }) {
			between = append(between, i)
		} else {
			first = append(first, i)
		}
	}
	return first, between, last
}

// smallest orders some vertices by degree, without regard to the others.
func (g graph) smallest(all []int32) []int32 {
	number := make(map[int32]int32, len(all))
	for k, i := range all {
		number[i] = int32(k)
	}
	h := graph{make([][]int32, len(all))}
	for k, i := range all {
		for _, j := range g.next[i] {
			if n, ok := number[j]; ok {
				h.next[k] = append(h.next[k], n)
			}
		}
	}
	order := h.minimumDegree(false)
	for k, i := range order {
		order[k] = all[i]
	}
	return order
}

// Transversal finds rows for the diagonal: row p[i] has an element that counts in column i, for all columns if that is possible. It
// says for how many it is.
func Transversal(p Pattern, counts func(k int) bool) (rows []int32, found int) {
	owner := make([]int32, p.Cols) // the row that has a column, from 1
	for i := range p.Rows {
		if seek(p, counts, int32(i), owner, make([]bool, p.Cols)) {
			found++
		}
	}
	taken := make([]bool, p.Rows)
	for _, i := range owner {
		if i > 0 {
			taken[i-1] = true
		}
	}
	free := 0
	rows = make([]int32, p.Cols)
	for j, i := range owner {
		if i == 0 {
			for taken[free] {
				free++
			}
			taken[free] = true
			i = int32(free) + 1
		}
		rows[j] = i - 1
	}
	return rows, found
}

// seek finds a column for a row; rows that have one may have to take another.
func seek(p Pattern, counts func(k int) bool, start int32, owner []int32, seen []bool) bool {
	type step struct {
		row int32
		at  int
	}
	path := []step{{start, p.From[start]}}
	for len(path) > 0 {
		top := &path[len(path)-1]
		if top.at == p.From[top.row+1] {
			path = path[:len(path)-1]
			continue
		}
		k := top.at
		top.at++
		j := p.Index[k]
		if seen[j] || !counts(k) {
			continue
		}
		seen[j] = true
		if owner[j] == 0 {
			for _, s := range path {
				owner[p.Index[s.at-1]] = s.row + 1
			}
			return true
		}
		path = append(path, step{owner[j] - 1, p.From[owner[j]-1]})
	}
	return false
}
