package warp

import (
	"slices"

	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// Stores of neighbouring words are one store of a vector: compilers write a vector's elements one by one where they cannot prove that
// its address is aligned. A lane's vector is one access, or a part of one if its neighbours' lie next to it, where elements lie apart.

// maxMerged is how far behind a store others are looked for.
const maxMerged = 32

// mergeStores finds the stores that list begins with and that are one. The last of them stands for all in merged, the others for
// nothing. Those of rows are stored with theirs.
func (e *emitter) mergeStores(list []*ir.Inst, rows map[*ir.Inst]*rowGroup, merged map[*ir.Inst]*ir.Inst) {
	if e.w != 32 || !mergeable(list[0]) {
		return
	}
	first := list[0]
	root, _ := rootOf(first)
	parts := []*ir.Inst{first}
	for _, x := range list[1:min(len(list), maxMerged)] {
		if x.Op != ir.Store {
			if x.Op.IsTerm() || x.Op == ir.Phi || x.Op.Row().Effects != 0 {
				break
			}
			continue
		}
		r, _ := rootOf(x)
		if rows[x] != nil || !mergeable(x) || !sameNumber(r, root, 0) || x.Space != first.Space || x.Mask != first.Mask || bytesOf(x.Args[1].Type) != bytesOf(first.Args[1].Type) {
			break
		}
		if parts = append(parts, x); len(parts) == 4 {
			break
		}
	}
	for n := 4; n >= 2; n /= 2 {
		if len(parts) < n {
			continue
		}
		if in := e.vectorStore(parts[:n]); in != nil {
			for _, x := range parts[:n] {
				merged[x] = nil
			}
			merged[parts[n-1]] = in
			return
		}
	}
}

func mergeable(in *ir.Inst) bool {
	if in.Op != ir.Store || len(in.Args) != 2 || watched(in) || in.Space == ir.Local || in.Args[1].Type == ir.I1 {
		return false
	}
	n := bytesOf(in.Args[1].Type)
	return n == 4 || n == 8
}

// sameNumber reports values that are made in the same way: what is rematerialised behind a barrier is made more than once.
func sameNumber(x, y *ir.Value, depth int) bool {
	if x == y || x.Const && y.Const && x.Type == y.Type && x.Bits == y.Bits {
		return true
	}
	a, b := x.Def, y.Def
	if a == nil || b == nil || depth > 8 || a.Op != b.Op || a.Attr != b.Attr || a.Op == ir.Phi || a.Op.Row().Effects != 0 || len(a.Results) != 1 {
		return false
	}
	return slices.EqualFunc(a.Args, b.Args, func(p, q *ir.Value) bool { return sameNumber(p, q, depth+1) })
}

// vectorStore is the store of all elements of parts, if they are neighbours, and no lane's vector overlaps another's: then the order
// in which lanes and elements are stored makes no difference.
func (e *emitter) vectorStore(parts []*ir.Inst) *ir.Inst {
	elem := bytesOf(parts[0].Args[1].Type)
	size := elem * len(parts)
	if size > 16 {
		return nil
	}
	sorted := slices.Clone(parts)
	slices.SortFunc(sorted, func(x, y *ir.Inst) int {
		_, a := rootOf(x)
		_, b := rootOf(y)
		return int(a - b)
	})
	low := sorted[0]
	_, from := rootOf(low)
	in := *low
	in.Args = []*ir.Value{low.Args[0]}
	for i, x := range sorted {
		if _, at := rootOf(x); at != from+int64(i*elem) {
			return nil
		}
		in.Args = append(in.Args, x.Args[1])
	}
	s, known := e.pattern(low)
	if !known || s.Kind >= ir.WarpUniform {
		return nil
	}
	var offs [32]int64
	for l := range offs {
		offs[l] = laneOffset(s, l)
	}
	slices.Sort(offs[:])
	for l := 1; l < len(offs); l++ {
		if offs[l]-offs[l-1] < int64(size) {
			return nil
		}
	}
	return &in
}

// storeMerged stores what mergeStores found. Each element's address was to be a multiple of its size, no more.
func (e *emitter) storeMerged(in *ir.Inst) {
	a := e.access(in, in.Args[1:])
	e.aligned(in, a.elem, a.mask, a.all)
	e.bounded(in, a.size, a.mask, a.all)
	e.storeAt(a, in.Args[1:])
}

// run is how many lanes from l on lie behind each other, of a power of two that together have at most 64 bytes.
func (a *access) run(l int) int {
	n := 1
	for 2*n*a.size <= 64 && l%(2*n) == 0 {
		for i := n; i < 2*n; i++ {
			if laneOffset(a.shape, l+i) != laneOffset(a.shape, l)+int64(i*a.size) {
				return n
			}
		}
		n *= 2
	}
	return n
}

// imageOf is what a store of vals writes as the load that they come from read it, if they are all of it.
func (e *emitter) imageOf(vals []*ir.Value) []ll.Val {
	d := vals[0].Def
	if d == nil || d.Op != ir.Load || !slices.Equal(d.Results, vals) {
		return nil
	}
	for _, v := range vals {
		if e.dirty[v] {
			return nil
		}
	}
	return e.images[d]
}
