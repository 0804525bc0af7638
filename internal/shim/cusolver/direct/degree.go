package direct

import "slices"

// MinimumDegree eliminates the vertex with the fewest neighbours first; its neighbours become neighbours of each other. The
// elements, sets of vertices that are all neighbours, stand for these edges. Degrees are counted, or bounded (approximate).
func MinimumDegree(p Pattern, approximate bool) []int32 {
	return graphOf(p).minimumDegree(approximate)
}

// degrees is the quotient graph.
type degrees struct {
	next     [][]int32 // neighbours by edges
	in       [][]int32 // elements of a vertex
	members  [][]int32 // vertices of an element; nil once another has them all
	gone     []bool    // vertices that are eliminated
	mark     []int     // the last time that a vertex was met
	met      []int     // the last time that an element was met
	outside  []int     // of an element met now: its vertices that are not in the new one
	now      int
	degree   []int
	head     []int32 // the first vertex of a degree, from 1
	after    []int32 // the lists by degree, from 1
	before   []int32
	least    int
	order    []int32
	bounding bool
}

func (g graph) minimumDegree(approximate bool) []int32 {
	n := len(g.next)
	d := &degrees{
		next: make([][]int32, n), in: make([][]int32, n), members: make([][]int32, n), gone: make([]bool, n),
		mark: make([]int, n), met: make([]int, n), outside: make([]int, n), degree: make([]int, n),
		head: make([]int32, n+1), after: make([]int32, n), before: make([]int32, n), bounding: approximate,
	}
	for i := n - 1; i >= 0; i-- {
		d.next[i] = slices.Clone(g.next[i])
		d.degree[i] = len(g.next[i])
		d.link(int32(i))
	}
	for len(d.order) < n {
		for d.head[d.least] == 0 {
			d.least++
		}
		d.eliminate(d.head[d.least] - 1)
	}
	return d.order
}

func (d *degrees) link(i int32) {
	k := d.degree[i]
	d.before[i], d.after[i] = 0, d.head[k]
	if d.head[k] > 0 {
		d.before[d.head[k]-1] = i + 1
	}
	d.head[k] = i + 1
	d.least = min(d.least, k)
}

func (d *degrees) unlink(i int32) {
	if d.after[i] > 0 {
		d.before[d.after[i]-1] = d.before[i]
	}
	if d.before[i] > 0 {
		d.after[d.before[i]-1] = d.after[i]
	} else {
		d.head[d.degree[i]] = d.after[i]
	}
}

func (d *degrees) finish(i int32) {
	d.unlink(i)
	d.gone[i] = true
	d.order = append(d.order, i)
}

// eliminate makes an element of a vertex.
func (d *degrees) eliminate(p int32) {
	d.finish(p)
	d.now++
	var all []int32
	take := func(from []int32) {
		for _, i := range from {
			if !d.gone[i] && d.mark[i] != d.now {
				d.mark[i] = d.now
				all = append(all, i)
			}
		}
	}
	take(d.next[p])
	for _, e := range d.in[p] {
		take(d.members[e])
		d.members[e] = nil
	}
	d.members[p] = all
	d.count(all)
	for _, i := range all {
		d.in[i] = slices.DeleteFunc(d.in[i], func(e int32) bool {
			return d.members[e] == nil || d.outside[e] == 0
		})
		d.next[i] = slices.DeleteFunc(d.next[i], func(j int32) bool { return d.gone[j] || d.mark[j] == d.now })
		if len(d.in[i]) == 0 && len(d.next[i]) == 0 {
			d.finish(i) // its neighbours are the element's: it can go now
			continue
		}
		d.in[i] = append(d.in[i], p)
	}
	d.members[p] = slices.DeleteFunc(all, func(i int32) bool { return d.gone[i] })
	for _, i := range d.members[p] {
		d.unlink(i)
		d.degree[i] = d.neighbours(i, p)
		d.link(i)
	}
}

// count finds for the elements near a new one how many of their vertices it has not.
func (d *degrees) count(all []int32) {
	for _, i := range all {
		for _, e := range d.in[i] {
			if d.members[e] == nil {
				continue
			}
			if d.met[e] != d.now {
				d.met[e] = d.now
				d.members[e] = slices.DeleteFunc(d.members[e], func(j int32) bool { return d.gone[j] })
				d.outside[e] = len(d.members[e])
			}
			d.outside[e]--
		}
	}
}

// neighbours is how many a vertex of the new element p has, or a bound of it.
func (d *degrees) neighbours(i, p int32) int {
	n := len(d.next[i]) + len(d.members[p]) - 1
	if d.bounding {
		for _, e := range d.in[i] {
			if e != p {
				n += d.outside[e]
			}
		}
		return min(n, len(d.gone)-len(d.order)-1)
	}
	d.now++
	d.mark[i] = d.now
	n = 0
	meet := func(from []int32) {
		for _, j := range from {
			if !d.gone[j] && d.mark[j] != d.now {
				d.mark[j] = d.now
				n++
			}
		}
	}
	meet(d.next[i])
	for _, e := range d.in[i] {
		meet(d.members[e])
	}
	return n
}
