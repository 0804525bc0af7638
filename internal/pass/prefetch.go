package pass

import (
	"math/bits"
	"slices"

	"kudzu/internal/analysis"
	"kudzu/internal/ir"
)

const (
	rowSpan  = 512 // bytes that a warp may read at a time for its next block's to be asked for
	rowLoads = 64  // loads of a kernel

	// streamAhead is how far ahead streams are asked for, in bytes. Measured with triad, two cores, 16 Mi floats: 8.3 ms without, 6.7 at 512
	// and 1024, 7.0 and 7.1 at 2048 and 4096.
	streamAhead = 1024

	// tileMost is how far on a block's next tile may be whose lines are asked for, all at once: they must still be there then.
	tileMost = 32 << 10

	// turnsAhead is how many iterations ahead vectors are asked for in loops whose stride only the launch knows.
	turnsAhead = 4
)

// prefetch inserts software prefetches of what the next block will load. After it, a load whose address moves from block to block by
// a stride that only the launch knows (a block computes a row of a matrix) has a prefetch of the same element in the next block's
// row. The loop over a row is often peeled: loads anywhere count.
//
// A block reads its row in pieces, warp by warp, and a row is about a page: the processor's prefetching has hardly begun when the
// row ends. The next block is the one that the same thread runs next.
//
// Streams are the other case: outside loops, where block after block reads and writes arrays from end to end, and stores of loops that
// go on by a constant. A processor asks for the lines that are read ahead of time, but hardly for those that are only written: a store
// waits until its line is there, and fifty or seventy of them are as many as can wait.
//
// Blocks that wait for each other (a scan that looks back) are dealt out one by one: the same thread's next is as many further on as
// there are threads, which ir.BlockTurn knows. Their tiles are larger, and what a warp takes of a tile is scattered over it: each warp asks
// for a piece of the next tile instead, in order.
//
// A loop that reads vectors, such as a reduction's, jumps by what all threads together read in an iteration. The processor sees a few
// lines, then others far away.
func prefetch(st *state) error {
	if st.m.Width != 32 || st.cfg.Block == [3]uint32{} || st.never("prefetch") {
		return st.unchanged()
	}
	p := &nextBlock{f: st.f, a: st.shapes(), streams: map[*ir.Value][]span{}, waits: waits(st.f)}
	done := 0
	for _, b := range st.f.Blocks {
		p.asked = map[*ir.Value][]span{}
		for _, in := range append([]*ir.Inst(nil), b.Insts...) {
			if done < rowLoads && (p.stream(in) || p.jump(in)) {
				done++
				continue
			}
			if done < rowLoads && st.m.Jam <= 1 && in.Op == ir.Load && in.Mask == nil && in.Space == ir.Global && !in.Volatile && in.Order == ir.Weak && p.ask(in) {
				done++
			}
		}
	}
	if !p.wrote {
		return st.unchanged()
	}
	return nil
}

type span struct{ from, to int64 }

// nextBlock finds how addresses move from one block to the next.
type nextBlock struct {
	f       *ir.Func
	a       *shapeAnalysis
	at      *ir.Inst // where code is put, before this one
	wrote   bool     // some was
	waits   bool     // blocks wait for each other
	asked   map[*ir.Value][]span
	streams map[*ir.Value][]span
}

// stream puts a prefetch of what will be accessed soon before an access that moves from block to block by what a block accesses, or
// before a store of a loop that moves on by a constant.
func (p *nextBlock) stream(in *ir.Inst) bool {
	vals := in.Results
	switch {
	case in.Op == ir.Store:
		vals = in.Args[1:]
	case in.Op != ir.Load:
		return false
	}
	if in.Space != ir.Global || in.Volatile || in.Order != ir.Weak {
		return false
	}
	f, size := p.a.fact(in.Args[0]), int64(0)
	for _, v := range vals {
		size += int64(v.Type.Bits()+7) / 8
	}
	if f.kind != ir.Affine && !f.guess || f.pat.seg != 0 || f.pat.s != size {
		return false
	}
	ahead := p.ahead(in, size)
	if ahead == nil {
		return false
	}
	root, off := p.root(in.Args[0])
	for _, s := range p.streams[root] {
		if off >= s.from-63 && off+32*size <= s.to+63 {
			return false
		}
	}
	p.streams[root] = append(p.streams[root], span{off, off + 32*size})
	x := p.f.NewInst(ir.Prefetch, nil, p.put(ir.Add, p.inOrder(in, size), ahead()))
	x.Space, x.Write, x.Line, x.Bytes = in.Space, in.Op == ir.Store, in.Line, uint32(size)
	p.before(x)
	return true
}

// jump puts a prefetch of what a later iteration loads before a load of vectors in a loop whose stride is the same for all lanes, and
// not known.
func (p *nextBlock) jump(in *ir.Inst) bool {
	l := p.a.li.Innermost(in.Block)
	if l == nil || len(l.Latches) != 1 || in.Op != ir.Load || len(in.Results) < 2 || in.Space != ir.Global || in.Volatile || in.Order != ir.Weak {
		return false
	}
	f, size := p.a.fact(in.Args[0]), int64(0)
	for _, r := range in.Results {
		size += int64(r.Type.Bits()+7) / 8
	}
	if f.kind >= ir.WarpUniform || (f.kind == ir.Affine || f.guess) && f.pat != (pattern{s: size}) {
		return false
	}
	stride, same := p.a.st.induction(l).Stride(in.Args[0])
	if !same || len(stride.Terms) == 0 {
		return false
	}
	for _, t := range stride.Terms {
		if p.a.fact(t.V).kind < ir.WarpUniform || t.V.Type.Bits() < 32 || t.V.Type.Bits() > 64 {
			return false
		}
	}
	p.at = in
	at := p.put(ir.Add, in.Args[0], ir.ConstInt(ir.I64, turnsAhead*stride.C))
	for _, t := range stride.Terms {
		v := t.V
		if v.Type.Bits() == 32 {
			v = p.emit(ir.SExt, ir.I64, v)
		}
		at = p.put(ir.Add, at, p.put(ir.Mul, v, ir.ConstInt(ir.I64, turnsAhead*t.K)))
	}
	x := p.f.NewInst(ir.Prefetch, nil, at)
	x.Space, x.Line, x.Bytes = in.Space, in.Line, uint32(size)
	p.before(x)
	return true
}

// ahead makes the number of bytes further on at which in's lanes, or others in their place, will soon be; nil: nobody knows.
func (p *nextBlock) ahead(in *ir.Inst, size int64) func() *ir.Value {
	p.at = in
	const64 := func(n int64) func() *ir.Value {
		return func() *ir.Value { return ir.ConstInt(ir.I64, uint64(n)) }
	}
	l := p.a.li.Innermost(in.Block)
	if l == nil {
		d := p.moves(in.Args[0], 0)
		if d == nil || !d.Const || d.Int() < int64(p.a.st.cfg.Block[0])*size || d.Int() > tileMost {
			return nil
		}
		if p.waits {
			return func() *ir.Value {
				turn := p.f.NewInst(ir.SReg, []ir.Type{ir.I32})
				turn.Sreg, turn.Line = ir.BlockTurn, in.Line
				p.before(turn)
				return p.put(ir.Mul, p.emit(ir.ZExt, ir.I64, turn.Results[0]), d)
			}
		}
		return const64((streamAhead + d.Int() - 1) / d.Int() * d.Int())
	}
	if in.Op != ir.Store || len(l.Latches) != 1 { // what is read in order the processor sees coming
		return nil
	}
	stride, same := p.a.st.induction(l).Stride(in.Args[0])
	c, ok := stride.Constant()
	if !same || !ok || c < 32*size || c > page {
		return nil
	}
	return const64((streamAhead + c - 1) / c * c)
}

// inOrder is in's address. Where a block's warps take turns at the lines of one range it is another one there, so that each warp asks for
// an uninterrupted piece: the processor's own prefetching follows.
func (p *nextBlock) inOrder(in *ir.Inst, size int64) *ir.Value {
	n := p.a.st.cfg.Block
	at, line := in.Args[0], 32*size
	turn := line * int64(n[0]/32)                                        // what all warps access
	if p.a.st.m.Jam > 1 || n[0]%32 != 0 || n[0] < 64 || n[1]*n[2] != 1 { // jammed warps ask together
		return at
	}
	root, off := p.root(at)
	var offs []int64
	for _, x := range in.Block.Insts {
		if x.Op == in.Op && x.Space == in.Space && x.Mask == in.Mask {
			if r, o := p.root(x.Args[0]); r == root {
				offs = append(offs, o)
			}
		}
	}
	slices.Sort(offs)
	offs = slices.Compact(offs)
	for i, o := range offs {
		if o != offs[0]+int64(i)*turn {
			return at
		}
	}
	if len(offs) < 2 {
		return at
	}
	i := (off - offs[0]) / turn
	warp := p.f.NewInst(ir.SReg, []ir.Type{ir.I32})
	warp.Sreg, warp.Line = ir.WarpID, in.Line
	p.before(warp)
	at = p.put(ir.Add, at, p.put(ir.Mul, p.emit(ir.ZExt, ir.I64, warp.Results[0]), ir.ConstInt(ir.I64, uint64(line*int64(len(offs)-1)))))
	return p.put(ir.Add, at, ir.ConstInt(ir.I64, uint64(i*(line-turn))))
}

// waits reports a kernel whose blocks may wait for each other.
func waits(f *ir.Func) bool {
	for _, b := range f.Blocks {
		if slices.ContainsFunc(b.Insts, isYield) {
			return true
		}
	}
	return false
}

// ask puts a prefetch before in, unless what it asks for was asked for already.
func (p *nextBlock) ask(in *ir.Inst) bool {
	f := p.a.fact(in.Args[0])
	if f.kind != ir.Affine && !f.guess {
		return false
	}
	size := int64(0)
	for _, r := range in.Results {
		size += int64(r.Type.Bits()+7) / 8
	}
	lo, hi := f.pat.bounds(32)
	if lo < 0 || hi+size > rowSpan {
		return false
	}
	p.at = in
	root, off := p.root(in.Args[0])
	for _, s := range p.asked[root] {
		if off >= s.from-63 && off+hi+size <= s.to+63 {
			return false
		}
	}
	d := p.moves(in.Args[0], 0)
	if d == nil || d.Const {
		return false
	}
	p.asked[root] = append(p.asked[root], span{off, off + hi + size})
	x := p.f.NewInst(ir.Prefetch, nil, p.put(ir.Add, in.Args[0], d))
	x.Space, x.Line, x.Bytes = in.Space, in.Line, uint32(hi+size+31)/32
	p.before(x)
	return true
}

// root is v without what moves it by less than a line, or by a constant.
func (p *nextBlock) root(v *ir.Value) (*ir.Value, int64) {
	off := int64(0)
	for d := v.Def; d != nil && d.Op == ir.Add; d = v.Def {
		x, y := d.Args[0], d.Args[1]
		f := p.a.fact(y)
		switch {
		case y.Const:
			off += y.Int()
		case f.lo >= 0 && f.hi < 64:
		default:
			return v, off
		}
		v = x
	}
	return v, off
}

func (p *nextBlock) before(in *ir.Inst) {
	p.wrote = true
	b := p.at.Block
	for i, x := range b.Insts {
		if x == p.at {
			insertAt(b, i, in)
			return
		}
	}
	panic("BUG: a load is not in its block")
}

func (p *nextBlock) put(op ir.Op, x, y *ir.Value) *ir.Value {
	if op == ir.Add && isZero(x) {
		return y
	}
	if op == ir.Add && isZero(y) {
		return x
	}
	if op == ir.Mul && x.Const && y.Const {
		return ir.ConstInt(x.Type, x.Bits*y.Bits)
	}
	return p.emit(op, x.Type, x, y)
}

// moves is by how much v is larger in the next block of a row of blocks, a constant or made of what all blocks share; nil: unknown.
func (p *nextBlock) moves(v *ir.Value, depth int) *ir.Value {
	d := v.Def
	if v.Const {
		return ir.ConstInt(v.Type, 0)
	}
	if d == nil || depth > 24 || v.Type.IsFloat() || v.Type == ir.I1 || v.Type.Bits() > 64 {
		return nil
	}
	if k, _, ok := analysis.Coefficients(d); ok {
		return p.linearMoves(d, k, depth)
	}
	switch d.Op {
	case ir.Param:
		return ir.ConstInt(v.Type, 0)
	case ir.SReg:
		if by, ok := analysis.BlockStep(d.Sreg); ok {
			return ir.ConstInt(v.Type, uint64(by))
		}
	case ir.Mul:
		return p.productMoves(d, depth)
	case ir.SExt, ir.ZExt:
		x := p.moves(d.Args[0], depth+1)
		if x == nil {
			return nil
		}
		if x.Const {
			return ir.ConstInt(v.Type, uint64(x.Int()))
		}
		return p.emit(ir.SExt, v.Type, x)
	case ir.Phi:
		return p.phiMoves(d, depth)
	case ir.Select:
		return p.moves(d.Args[1], depth+1)
	case ir.Or, ir.Xor:
		return p.bitwiseMoves(d, depth)
	case ir.And, ir.ShrU, ir.ShrS, ir.Shl, ir.MulHiU, ir.Load:
		for _, x := range d.Args {
			if m := p.moves(x, depth+1); m == nil || !isZero(m) {
				return nil
			}
		}
		return ir.ConstInt(v.Type, 0)
	}
	return nil
}

// bitwiseMoves: the result moves as one operand does where the other stays below all bits that change.
func (p *nextBlock) bitwiseMoves(d *ir.Inst, depth int) *ir.Value {
	x, y, low := p.moves(d.Args[0], depth+1), p.moves(d.Args[1], depth+1), d.Args[1]
	if x == nil || y == nil {
		return nil
	}
	if isZero(x) {
		x, y, low = y, x, d.Args[0]
	}
	switch f := p.a.fact(low); {
	case isZero(x) && isZero(y):
		return x
	case isZero(y) && x.Const && f.lo >= 0 && f.hi < 1<<bits.TrailingZeros64(x.Bits):
		return x
	}
	return nil
}

// linearMoves is the move of a linear operation: the sum of its operands', each with its factor.
func (p *nextBlock) linearMoves(d *ir.Inst, k [2]int64, depth int) *ir.Value {
	t, sum := d.Results[0].Type, uint64(0)
	var by [2]*ir.Value
	some := 0 // moves that are not known now
	for i, a := range d.Args {
		if k[i] == 0 {
			continue
		}
		if by[i] = p.moves(a, depth+1); by[i] == nil {
			return nil
		}
		if by[i].Const {
			sum += uint64(k[i] * by[i].Int())
		} else {
			some++
		}
	}
	switch {
	case some == 0:
		return ir.ConstInt(t, sum)
	case d.Op == ir.Shl:
		return p.emit(ir.Shl, t, by[0], d.Args[1])
	case d.Op == ir.Mul && k[0] != 0:
		return p.put(ir.Mul, by[0], d.Args[1])
	case d.Op == ir.Mul:
		return p.put(ir.Mul, by[1], d.Args[0])
	case d.Op == ir.Add:
		return p.put(ir.Add, by[0], by[1])
	case d.Op == ir.Sub && isZero(by[1]):
		return by[0]
	case d.Op == ir.Not: // -1 - x
		return p.emit(ir.Neg, t, by[0])
	}
	return p.emit(d.Op, t, slices.DeleteFunc(by[:], func(v *ir.Value) bool { return v == nil })...)
}

// productMoves: a factor that all blocks share scales the other's move.
func (p *nextBlock) productMoves(d *ir.Inst, depth int) *ir.Value {
	x, y := p.moves(d.Args[0], depth+1), p.moves(d.Args[1], depth+1)
	switch {
	case x == nil || y == nil:
		return nil
	case isZero(x) && isZero(y):
		return x
	case isZero(y) && p.shared(d.Args[1]) && x.Const && x.Bits == 1:
		return d.Args[1]
	case isZero(y) && p.shared(d.Args[1]):
		return p.put(ir.Mul, x, d.Args[1])
	case isZero(x) && p.shared(d.Args[0]):
		return p.put(ir.Mul, y, d.Args[0])
	}
	return nil
}

// phiMoves: a loop begins elsewhere and goes on alike; of other ways one is as good as another for a guess.
func (p *nextBlock) phiMoves(d *ir.Inst, depth int) *ir.Value {
	l := p.a.li.Innermost(d.Block)
	for i, from := range d.Targets {
		if l == nil || l.Header != d.Block || !l.Contains(from) {
			return p.moves(d.Args[i], depth+1)
		}
	}
	return nil
}

// emit puts an instruction before the load.
func (p *nextBlock) emit(op ir.Op, t ir.Type, args ...*ir.Value) *ir.Value {
	in := p.f.NewInst(op, []ir.Type{t}, args...)
	in.Line = p.at.Line
	p.before(in)
	return in.Results[0]
}

// shared reports a value that all blocks have.
func (p *nextBlock) shared(v *ir.Value) bool { return v.Const || p.a.fact(v).kind == ir.BlockUniform }
