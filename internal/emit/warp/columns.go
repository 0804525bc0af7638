package warp

import (
	"math/bits"
	"slices"

	"kudzu/internal/analysis"
	"kudzu/internal/image"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// Columns of lanes: a table in shared memory in which each thread has a column of its own, 16 rows at most, and what a lane loaded says which
// row it wants: the counters of a radix sort that ranks its keys by thread. The rows are vectors then, and a lane's row is chosen by the bits
// of its number. Of halves of words a gather takes twice as long, and a scatter, of which processors have none, is 32 stores.
//
// A table of up to 32 words that the lanes have in common is a vector or two, and looking a word up is a permutation.

const (
	columnBits = 4 // of a row's number
	tableBits  = 5 // of a word's number
)

// column is accesses to one table that follow each other; its rows stay in registers meanwhile.
type column struct {
	parts []*ir.Value // their sum is where the first row is
	low   int         // bits of the row's number in an offset: from here
	n     int         // rows
	size  int         // bytes of an element
	table bool        // the rows are words that all lanes have in common
	list  []*ir.Inst
	wrote bool

	row  *ir.Value // the varying part of the last access that was looked at
	base ll.Val
	rows []ll.Val
}

// columns finds the accesses to columns of a block.
func (e *emitter) columns(list []*ir.Inst) map[*ir.Inst]*column {
	if e.w != 32 || !e.cpu.avx512 || e.m.Clusters { // other blocks of a cluster may write between rows
		return nil
	}
	found := map[*ir.Inst]*column{}
	var open []*column // one alone where one was written
	unwritten := func() { open = slices.DeleteFunc(open, func(c *column) bool { return c.wrote }) }
	for _, in := range list {
		if c := e.columnOf(in); c != nil {
			if i := slices.IndexFunc(open, c.same); i >= 0 {
				c = open[i]
			} else {
				unwritten()
				open = append(open, c)
			}
			if in.Op == ir.Store { // what others have in registers may lie there
				open, c.wrote = []*column{c}, true
			}
			c.list = append(c.list, in)
			found[in] = c
			continue
		}
		switch {
		case in.Op.Row().Effects == 0:
		case (in.Op == ir.Load || in.Op == ir.Store) && !watched(in) && in.Space == ir.Global:
		case in.Op == ir.Load && !watched(in) && in.Space == ir.Shared:
			unwritten()
		default:
			open = nil
		}
	}
	return found
}

func (c *column) same(d *column) bool {
	return c.table == d.table && c.low == d.low && c.n == d.n && c.size == d.size &&
		slices.EqualFunc(c.parts, d.parts, func(x, y *ir.Value) bool { return sameNumber(x, y, 0) })
}

// columnOf is the table of a load or store in which lane l's column is l elements behind the first lane's, nil if there is none. All rows
// must lie in the kernel's own variables: those that no lane asks for are read and written as well.
func (e *emitter) columnOf(in *ir.Inst) *column {
	if in.Op != ir.Load && in.Op != ir.Store || in.Space != ir.Shared || in.Mask != nil || watched(in) || in.Args[0].Shape.Kind != ir.Varying {
		return nil
	}
	c := &column{size: rowSize(in)}
	if c.size == 0 || !e.columnParts(c, in, in.Args[0], 0) || c.row == nil {
		return nil
	}
	stride, place := int64(0), analysis.Range{}
	for _, p := range c.parts {
		if !uniform(p) {
			stride += p.Shape.Stride
		}
		place = place.Add(e.placeOf(p, 8))
	}
	set := ^analysis.Zeros(c.row) & (^uint64(0) >> (64 - c.row.Type.Bits()))
	if set == 0 {
		return nil
	}
	c.low = bits.TrailingZeros64(set)
	k := bits.Len64(set) - c.low
	c.n = 1 << k
	switch {
	case stride == 0 && in.Op == ir.Load && c.size == 4 && c.low == 2 && k <= tableBits:
		c.table = true
	case stride != int64(c.size) || 1<<c.low < 32*c.size || k > columnBits:
		return nil
	}
	end := place.Hi + int64(c.n-1)<<c.low + int64(c.size)
	if b := e.cfg.Block; b[0]*b[1]*b[2]%32 != 0 && !c.table {
		end += int64(31 * c.size) // of lanes that are no threads
	}
	if place.Lo < 0 || place.Hi > 1<<30 || end > image.SharedFirst+int64(e.m.SharedBytes) {
		return nil
	}
	return c
}

// columnParts takes an address apart into what is known of all lanes and one part that is not.
func (e *emitter) columnParts(c *column, in *ir.Inst, v *ir.Value, depth int) bool {
	s, d := v.Shape, v.Def
	there := d != nil && (e.f.Regions == nil || d.Block == in.Block) // behind a barrier its operands are gone
	switch {
	case uniform(v) || s.Kind == ir.Affine && s.Seg == 0 && s.Table == nil:
		c.parts = append(c.parts, v)
	case there && d.Op == ir.Add && depth < 4:
		return e.columnParts(c, in, d.Args[0], depth+1) && e.columnParts(c, in, d.Args[1], depth+1)
	case there && d.Op == ir.ZExt && d.Args[0].Type == ir.I32 && d.Args[0].Def != nil && d.Args[0].Def.Op == ir.Add: // it does not wrap, or is outside
		return e.columnParts(c, in, d.Args[0], depth+1)
	case c.row == nil && s.Kind == ir.Varying:
		c.row = v
	default:
		return false
	}
	return true
}

// placeOf is where a part of an offset lies, by the block's shape too.
func (e *emitter) placeOf(v *ir.Value, depth int) analysis.Range {
	if d := v.Def; d != nil && depth > 0 {
		if d.Op == ir.SReg {
			r, b, jam := analysis.SRegRange(d.Sreg, v.Type, e.cfg.Block), e.cfg.Block, uint32(max(e.m.Jam, 1))
			if d.Sreg == ir.TidX && b[1]*b[2] == 1 && b[0]%(32*jam) == 0 { // the other jammed warps' numbers are sums with this
				r.Hi -= 32 * int64(jam-1)
			}
			return r
		}
		if !v.Type.IsFloat() && d.Op != ir.SharedAddr && d.Op.Row().Effects == 0 && d.Op != ir.Phi {
			return e.rangeOf(v, 4).Intersect(analysis.Transfer(v, func(i int) analysis.Range { return e.placeOf(d.Args[i], depth-1) }))
		}
	}
	return e.rangeOf(v, 4)
}

// inColumn does one access: the first reads the table, and the last writes it if one of them is a store.
func (e *emitter) inColumn(c *column, in *ir.Inst) {
	e.line, e.Line = in.Line, in.Line
	e.aligned(in, c.size, ll.Val{}, true)
	e.bounded(in, c.size, ll.Val{}, true)
	t := ll.IntType(8 * c.size)
	if in == c.list[0] {
		e.readColumns(c, t)
	}
	at := e.columnRow(c, in, t)
	switch {
	case in.Op == ir.Store:
		x := e.Recast(e.stored(in.Args[1], e.w), t)
		for i := range c.rows {
			c.rows[i] = e.Select(e.ICmp("eq", at, at.Int(int64(i))), x, c.rows[i])
		}
	case c.table:
		var got []ll.Val
		for h := 0; h < e.w; h += 16 {
			got = append(got, e.Call("<16 x i32>", "llvm.x86.avx512.vpermi2var.d.512", c.rows[0], e.slice(at, h, 16), c.rows[len(c.rows)-1]))
		}
		e.set(in.Results[0], e.Recast(e.concat(got), typ(in.Results[0].Type)))
	default:
		x := c.rows
		for b := 0; len(x) > 1; b++ {
			odd := e.ICmp("ne", e.And(at, at.Int(1<<b)), at.Int(0))
			half := make([]ll.Val, len(x)/2)
			for i := range half {
				half[i] = e.Select(odd, x[2*i+1], x[2*i])
			}
			x = half
		}
		e.set(in.Results[0], e.Recast(x[0], typ(in.Results[0].Type)))
	}
	if c.wrote && in == c.list[len(c.list)-1] {
		for i, x := range c.rows {
			e.Store(x, e.at(c.base, i<<c.low), c.size)
		}
	}
}

// readColumns loads the rows, or the words of a table.
func (e *emitter) readColumns(c *column, t ll.Type) {
	sum := ll.Int("i64", 0)
	for _, p := range c.parts {
		x := e.scalar(p)
		if p.Type == ir.I32 {
			x = e.SExt(x, "i64")
		}
		sum = e.Add(sum, x)
	}
	c.base = e.pointer(ir.Shared, sum)
	if !c.table {
		for i := range c.n {
			c.rows = append(c.rows, e.Load(ll.Vec(e.w, t), e.at(c.base, i<<c.low), c.size))
		}
		return
	}
	for i := 0; i < c.n; i += 16 {
		x := e.Load(ll.Vec(min(c.n, 16), t), e.at(c.base, 4*i), 4)
		if c.n < 16 {
			x = e.Shuffle(x, x, rangeInts(0, 16, func(l int) int { return l % c.n }))
		}
		c.rows = append(c.rows, x)
	}
}

// columnRow is the number of the row that each lane wants.
func (e *emitter) columnRow(c *column, in *ir.Inst, t ll.Type) ll.Val {
	var of column
	e.columnParts(&of, in, in.Args[0], 0)
	x := e.offset32(of.row, in)
	x = e.LShr(x, x.Int(int64(c.low)))
	if t == "i32" {
		return x
	}
	return e.opaque(e.Trunc(x, t)) // LLVM would compare the words that it is cut from, which are two vectors
}
