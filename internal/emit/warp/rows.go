package warp

import (
	"cmp"
	"slices"

	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// Rows of lanes: a thread that reads or writes 8 to 16 neighbouring words one after the other, where the next thread has its own further
// on. Each access alone is a gather, or 32 stores. Together they are a row of a lane, one vector each, and the rows are turned in registers.
// Halves of words make rows too, in pairs.

const leastRow = 8 // words; gathers are as good for fewer

// rowGroup is the accesses of one row, by their offsets.
type rowGroup struct {
	list []*ir.Inst
	at   *ir.Inst // where all are done: the first load, the last store
	off  int64    // of at in the row, in bytes
}

// rootOf is the value that an access's address is a constant away from. Offsets in shared memory may have 32 bits: a sum that wraps is
// outside of it for some word of the row.
func rootOf(in *ir.Inst) (root *ir.Value, off int64) {
	v := in.Args[0]
	for v.Def != nil {
		switch d := v.Def; {
		case d.Op == ir.Add && d.Args[1].Const:
			off += d.Args[1].Int()
		case d.Op != ir.ZExt || in.Space != ir.Shared || d.Args[0].Type != ir.I32:
			return v, off
		}
		v = v.Def.Args[0]
	}
	return v, off
}

// rowSize is the bytes of a load or store of one word or half, 0 if it is another.
func rowSize(in *ir.Inst) int {
	vals := in.Results
	if in.Op == ir.Store {
		vals = in.Args[1:]
	}
	if len(vals) != 1 {
		return 0
	}
	if n := bytesOf(vals[0].Type); n == 2 || n == 4 {
		return n
	}
	return 0
}

// inRow reports a load or store of a word or half that may be part of a row: all lanes act, and their rows do not overlap.
func (e *emitter) inRow(in *ir.Inst) bool {
	if in.Op != ir.Load && in.Op != ir.Store || in.Space != ir.Shared && in.Space != ir.Global || in.Mask != nil || watched(in) {
		return false
	}
	s, known := e.pattern(in)
	return rowSize(in) != 0 && known && s.Kind < ir.WarpUniform && s.Seg == 0 && s.Table == nil && s.Stride >= 4*leastRow
}

// rowFinder walks over a block's instructions. Nothing that may touch the same memory lies between a row's first access and its last:
// loads may come from several roots while nothing is stored; a row that is stored may be read meanwhile, each word before it is stored.
type rowFinder struct {
	e      *emitter
	found  map[*ir.Inst]*rowGroup
	loads  map[*ir.Value][]*ir.Inst // by their roots
	stores []*ir.Inst               // all of one root, which is the only one then
	root   *ir.Value
	roots  []*ir.Value // of all that is open; one stands for all that are the same number
	size   int         // bytes of what is open
}

// rows finds the rows of a block.
func (e *emitter) rows(list []*ir.Inst) map[*ir.Inst]*rowGroup {
	if e.w != 32 || !e.cpu.avx512 {
		return nil
	}
	f := &rowFinder{e: e, found: map[*ir.Inst]*rowGroup{}, loads: map[*ir.Value][]*ir.Inst{}}
	for _, in := range list {
		switch {
		case e.inRow(in):
			f.add(in)
		case in.Op.Row().Effects != 0 && (in.Op != ir.Load || f.stores != nil):
			f.end()
		}
	}
	f.end()
	return f.found
}

// end closes what is open.
func (f *rowFinder) end() {
	for _, l := range f.loads {
		f.divide(l)
	}
	f.divide(f.stores)
	clear(f.loads)
	f.stores, f.root, f.roots = nil, nil, nil
}

func (f *rowFinder) add(in *ir.Inst) {
	root, off := rootOf(in)
	if size := rowSize(in); size != f.size {
		f.end()
		f.size = size
	}
	root = f.known(root)
	if f.stores != nil && (root != f.root || !f.apart(in, off)) {
		f.end()
		root = f.known(root)
	}
	if in.Op == ir.Load {
		f.loads[root] = append(f.loads[root], in)
		return
	}
	if f.stores == nil {
		kept := f.loads[root]
		delete(f.loads, root)
		f.end()
		f.root = f.known(root)
		if f.stores = []*ir.Inst{in}; len(kept) > 0 && rowWidth(kept, off) < f.stride(in) {
			f.loads[root] = kept
		} else {
			f.divide(kept)
		}
		return
	}
	f.stores = append(f.stores, in)
}

// known is a root, or the first that is the same number.
func (f *rowFinder) known(root *ir.Value) *ir.Value {
	if i := slices.IndexFunc(f.roots, func(r *ir.Value) bool { return sameNumber(r, root, 0) }); i >= 0 {
		return f.roots[i]
	}
	f.roots = append(f.roots, root)
	return root
}

// stride is how far apart the lanes' rows are.
func (f *rowFinder) stride(in *ir.Inst) int64 {
	s, _ := f.e.pattern(in)
	return s.Stride
}

// apart reports that a word of the root's row was not stored yet, nor lies in another lane's row.
func (f *rowFinder) apart(in *ir.Inst, off int64) bool {
	for _, st := range f.stores {
		if _, o := rootOf(st); o == off {
			return false
		}
	}
	return rowWidth(slices.Concat(f.stores, f.loads[f.root]), off) < f.stride(in)
}

// rowWidth is how far apart the accesses and another at off are.
func rowWidth(list []*ir.Inst, off int64) int64 {
	low, high := off, off
	for _, in := range list {
		_, o := rootOf(in)
		low, high = min(low, o), max(high, o)
	}
	return high - low
}

// divide makes rows of accesses at one root, which are in the order of the program.
func (f *rowFinder) divide(list []*ir.Inst) {
	place := map[*ir.Inst]int{}
	offset := func(in *ir.Inst) int64 { _, off := rootOf(in); return off }
	for i, in := range list {
		place[in] = i
	}
	list = slices.SortedStableFunc(slices.Values(list), func(a, b *ir.Inst) int { return cmp.Compare(offset(a), offset(b)) })
	for i := 0; i < len(list); {
		n, most := 1, min(tileRows*4/f.size, int(f.stride(list[i]))/f.size, len(list)-i)
		for n < most && offset(list[i+n]) == offset(list[i])+int64(f.size*n) {
			n++
		}
		if whole := n * f.size / 4; whole >= leastRow {
			n = whole * 4 / f.size
			g := &rowGroup{list: list[i : i+n]}
			sooner := func(a, b *ir.Inst) int { return place[a] - place[b] }
			if g.at = slices.MinFunc(g.list, sooner); g.at.Op == ir.Store {
				g.at = slices.MaxFunc(g.list, sooner)
			}
			g.off = offset(g.at) - offset(list[i])
			for _, in := range g.list {
				f.found[in] = g
			}
		}
		i += n
	}
}

// row does all accesses of a group.
func (e *emitter) row(g *rowGroup) {
	in, size := g.at, rowSize(g.at)
	e.line, e.Line = in.Line, in.Line
	e.aligned(in, size, ll.Val{}, true)
	e.bounded(in, size, ll.Val{}, true)
	s, _ := e.pattern(in)
	base := e.pointer(in.Space, e.scalar(in.Args[0]))
	at := func(lane int) ll.Val { return e.at(base, int(laneOffset(s, lane)-g.off)) }
	n := len(g.list) * size / 4
	ones := make([]int64, tileRows)
	for i := range n {
		ones[i] = 1
	}
	mask, all := ll.ConstVec("i1", ones), n == tileRows
	words := make([]ll.Val, n)
	if in.Op == ir.Store {
		for i := range words {
			words[i] = e.rowWord(g, i)
		}
	}
	if e.packed(g) {
		if in.Op == ir.Store {
			e.storePacked(words, at(0), size)
			return
		}
		for i, x := range e.loadPacked(at(0), size) {
			e.setRowWord(g, i, x)
		}
		return
	}
	halves := make([][]ll.Val, 0, 2)
	for half := 0; half < e.w; half += tileRows {
		rows := make([]ll.Val, tileRows)
		for i := range rows {
			switch {
			case in.Op == ir.Load:
				rows[i] = e.maskedLoad("i32", tileRows, size, at(half+i), mask, all, "")
			case i < n:
				rows[i] = e.slice(words[i], half, tileRows)
			default:
				rows[i] = ll.Zero(ll.Vec(tileRows, "i32"))
			}
		}
		rows = e.turn(rows)
		if in.Op == ir.Store {
			for i, x := range rows {
				e.maskedStore(x, size, at(half+i), mask, all)
			}
		}
		halves = append(halves, rows)
	}
	if in.Op == ir.Load {
		for i := range words {
			e.setRowWord(g, i, e.concat([]ll.Val{halves[0][i], halves[1][i]}))
		}
	}
}

// rowWord is word i of each lane's row, as it is stored.
func (e *emitter) rowWord(g *rowGroup, i int) ll.Val {
	if rowSize(g.at) == 4 {
		return e.Recast(e.stored(g.list[i].Args[1], e.w), "i32")
	}
	part := func(in *ir.Inst) ll.Val { return e.ZExt(e.Recast(e.stored(in.Args[1], e.w), "i16"), "i32") }
	high := part(g.list[2*i+1])
	return e.Or(part(g.list[2*i]), e.Shl(high, high.Int(16)))
}

// setRowWord sets what word i of each lane's row was loaded for.
func (e *emitter) setRowWord(g *rowGroup, i int, x ll.Val) {
	if rowSize(g.at) == 4 {
		r := g.list[i].Results[0]
		e.set(r, e.Recast(x, typ(r.Type)))
		return
	}
	for k, part := range []ll.Val{x, e.LShr(x, x.Int(16))} {
		r := g.list[2*i+k].Results[0]
		e.set(r, e.Recast(e.Trunc(part, "i16"), typ(r.Type)))
	}
}
