package nccl

import (
	"math/bits"
	"slices"
	"strings"

	"kudzu/internal/config"
	"kudzu/internal/spec/ncclapi"
)

// layout is which ranks are on which hosts. All ranks work it out from the table of members, and have the same.
type layout struct {
	host  []int   // by rank
	ranks [][]int // by host, which are in the order of their first ranks
	lanes int     // the least number of ranks that a host has
	runs  bool    // the ranks of each host follow each other
}

// hostKey is the same for ranks that may reach each other through memory.
type hostKey struct {
	host  [36]byte
	space uint64
	alone secret // of a process that is reached by none
}

func layoutOf(members []member) *layout {
	l := &layout{host: make([]int, len(members)), runs: true}
	seen := map[hostKey]int{}
	for r := range members {
		m := &members[r]
		key := hostKey{host: m.Host, space: m.Space}
		if m.Space == 0 {
			key.alone = m.Process
		}
		h, ok := seen[key]
		if !ok {
			h = len(l.ranks)
			seen[key] = h
			l.ranks = append(l.ranks, nil)
		}
		l.runs = l.runs && h == len(l.ranks)-1
		l.host[r] = h
		l.ranks[h] = append(l.ranks[h], r)
	}
	l.lanes = len(l.ranks[0])
	for _, list := range l.ranks {
		l.lanes = min(l.lanes, len(list))
	}
	return l
}

// way is how an operation between hosts goes. Every way takes ranks in their order, so results are the same to the bit.
type way int

const (
	direct  way = iota // each rank sends each other rank what that one needs (collective.go)
	byTree             // small: parts are gathered in steps, each of which doubles what a host has (tree.go)
	byRing             // large: pieces go from host to host, one after another (ring.go)
	byParts            // between, on many hosts: each host reduces a part (parts.go)
)

var wayNames = [...]string{direct: "direct", byTree: "tree", byRing: "ring", byParts: "parts"}

// The costs between hosts that a way is chosen by: measured, see docs/nccl.md. They must be the same on all ranks.
const (
	hopCost    = 40_000 // ns, until a message that somebody waits for is there
	eachCost   = 6_000  // ns, of a processor for one more message
	nearCost   = 15_000 // ns, the same as hopCost within a host
	byteCost   = 0.4    // ns
	treeBytes  = 4 << 20
	partsBytes = 16 << 20
	chunkBytes = 128 << 10 // a piece of a ring
)

// way is how this rank does an operation; other ranks come to the same answer.
func (o *op) way() way {
	l := o.c.layout
	if l == nil || len(l.ranks) == 1 {
		return direct
	}
	best, least := direct, o.cost(direct)
	if only, ok := algorithms(); ok {
		for _, w := range [...]way{byRing, byTree, byParts} {
			if only(w) && o.can(w) {
				return w
			}
		}
		return direct
	}
	for _, w := range [...]way{byTree, byParts, byRing} {
		if o.can(w) && o.cost(w) < least {
			best, least = w, o.cost(w)
		}
	}
	return best
}

// can reports whether an operation has a way.
func (o *op) can(w way) bool {
	l, size := o.c.layout, uint64(o.c.n)*(o.bytes()+8)
	switch {
	case w == direct:
		return true
	case o.count == 0:
		return false
	case o.kind == reduce || o.kind == reduceScatter:
		return w == byRing && l.runs
	case o.kind != allReduce && o.kind != broadcast && o.kind != allGather:
		return false
	case w == byParts:
		return o.kind == allReduce && o.bytes() <= partsBytes
	case w == byTree:
		return o.kind == broadcast || size <= treeBytes
	}
	return l.runs
}

// cost is about how many nanoseconds a way takes: messages one after another, messages that a rank handles, bytes of the busiest host.
func (o *op) cost(w way) float64 {
	l, n, s := o.c.layout, float64(o.c.n), float64(o.bytes())
	hosts, lanes := float64(len(l.ranks)), float64(l.lanes)
	steps := float64(bits.Len(uint(len(l.ranks) - 1)))
	far := n - lanes // ranks of other hosts
	switch {
	case o.kind == allReduce && w == direct && o.bytes() <= few:
		return hopCost + far*eachCost + lanes*far*s*byteCost
	case o.kind == allReduce && w == direct:
		return 2*hopCost + 2*far*eachCost + 2*lanes*s*far/n*byteCost
	case o.kind == allReduce && w == byTree, o.kind == allGather && w == byTree:
		return 2*nearCost + steps*hopCost + n*s*byteCost
	case w == byParts:
		parts := max(s, 64*hosts) + factorSize*hosts
		return 2*nearCost + 2*steps*hopCost + (lanes*parts/2*steps+s)*byteCost
	case o.kind == allReduce:
		wide := float64(o.wide()) / float64(o.size())
		move := wide + 1
		if hosts == 2 { // each direction has its own
			move = wide
		}
		return 2*nearCost + 2*(hosts-1)*(hopCost+min(s, chunkBytes)*byteCost) + move*s*byteCost
	case o.kind == reduce && w == direct:
		return hopCost + far*eachCost + far*s*byteCost
	case o.kind == reduceScatter && w == direct:
		return hopCost + far*eachCost + lanes*far*s*byteCost
	case o.kind == reduce, o.kind == reduceScatter:
		if o.kind == reduceScatter {
			s *= n
		}
		wide := float64(o.wide()) / float64(o.size())
		return 2*nearCost + hosts*(hopCost+min(s, chunkBytes)*byteCost) + wide*s*byteCost
	case o.kind == broadcast && w == direct:
		return hopCost + far*eachCost + far*s*byteCost
	case o.kind == broadcast && w == byTree:
		return nearCost + steps*(hopCost+eachCost+s*byteCost)
	case o.kind == broadcast:
		return 2*nearCost + (hosts-1)*(hopCost+min(s, chunkBytes)*byteCost) + s*byteCost
	case o.kind == allGather && w == direct:
		return hopCost + far*eachCost + lanes*far*s*byteCost
	}
	return 2*nearCost + (hosts-1)*hopCost + far*s*byteCost
}

// wide is the size of an accumulator: small floats are summed in f32.
func (o *op) wide() uint64 {
	switch o.typ {
	case ncclapi.NcclFloat16, ncclapi.NcclBfloat16, ncclapi.NcclFloat8e4m3, ncclapi.NcclFloat8e5m2:
		return 4
	}
	return o.size()
}

// algorithms is what NCCL_ALGO says: names of those that may be taken, or behind ^ of those that may not. Names that are not ours count
// for nothing; if none is, the choice is free.
func algorithms() (may func(way) bool, ok bool) {
	text, not := strings.CutPrefix(strings.ToLower(strings.TrimSpace(config.Get("NCCL_ALGO"))), "^")
	list := strings.Split(text, ",")
	known := slices.ContainsFunc(wayNames[:], func(name string) bool { return slices.Contains(list, name) })
	return func(w way) bool { return slices.Contains(list, wayNames[w]) != not }, known
}
