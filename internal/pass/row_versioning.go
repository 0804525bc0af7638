package pass

import (
	"maps"
	"slices"

	"kudzu/internal/analysis"
	"kudzu/internal/ir"
)

// rowVersioning versions code behind the division of an index on whether the warp's lanes are in one row. After it the accesses whose
// addresses a quotient decides are there twice: where the index of lane 0 and that of lane 31 have one quotient, with that as one
// number, so that what follows from it is uniform or affine, and as they were.
//
// Libraries take an index apart into coordinates of tensors whose sizes only the launch knows. Rows are mostly longer than a warp.
func rowVersioning(st *state) error {
	if st.m.Width != 32 || st.m.Jam > 1 || st.never("row_versioning") {
		return st.unchanged()
	}
	seen, left := map[*ir.Block]bool{}, maxRowInsts
	any := splitEnds(st)
	for left > 0 {
		v := &rowVersion{st: st, f: st.f, a: st.shapes(), pdom: st.postDominators(),
			going: map[*ir.Value]int64{}, touched: map[*ir.Block]bool{}, vals: map[*ir.Value]*ir.Value{}}
		if v.a.li.Irreducible {
			break
		}
		size := v.splitAll(seen, left)
		if size == 0 {
			break
		}
		left -= size
		st.changed(graph)
		any = true
	}
	if !any {
		return st.unchanged()
	}
	relayout(st.f)
	st.changed(graph)
	if err := simplify(st); err != nil {
		return err
	}
	return dce(st)
}

// splitEnds gives loops in which something is divided latches that only go back, and the kernel an end that does nothing else, so that what
// is copied ends before them.
func splitEnds(st *state) bool {
	v := &rowVersion{a: st.shapes(), going: map[*ir.Value]int64{}}
	if !slices.ContainsFunc(v.a.rpo, v.divides) {
		return false
	}
	var ends []*ir.Block
	for _, l := range v.a.li.Loops {
		if len(l.Latches) == 1 && slices.ContainsFunc(l.Blocks, v.divides) {
			ends = append(ends, l.Latches[0])
		}
	}
	for _, b := range v.a.rpo {
		if t := b.Term(); t.Op == ir.Exit && len(t.Targets) == 0 {
			ends = append(ends, b)
		}
	}
	any := false
	for _, b := range ends {
		if len(b.Insts) == 1 {
			continue
		}
		n := st.f.NewBlock("")
		t := b.Term()
		for _, s := range b.Succs() {
			renamePred(s, b, n)
		}
		setTerm(st.f, b, ir.Br, nil, n).Line = t.Line
		n.Append(t)
		any = true
	}
	if any {
		relayout(st.f)
		st.changed(graph)
	}
	return any
}

// divides reports a block with a quotient.
func (v *rowVersion) divides(b *ir.Block) bool { return slices.ContainsFunc(b.Insts, v.quotient) }

const (
	// maxRowInsts is how many instructions may be copied in one kernel.
	maxRowInsts = 2400
	// maxRowStride is how far neighbours may be apart: what grows by no more than a few times 32 of it wraps at most once.
	maxRowStride = 1 << 16
	// leastRow is how many lanes a row of known length must have to be worth a version.
	leastRow = 64
)

// rowVersion is a quotient and the code that depends on it.
type rowVersion struct {
	st   *state
	f    *ir.Func
	a    *shapeAnalysis
	pdom *ir.DomTree
	most int

	root *ir.Inst // the quotient, or a remainder
	tree []*ir.Inst
	leaf *ir.Value // the index, affine
	step int64     // of the index from lane to lane
	hope bool      // it is affine unless lanes went different ways

	going map[*ir.Value]int64       // phis that steps looks into
	users *ir.ValueMap[[]*ir.Block] // the blocks that ask for a value, made when a region is first looked for

	touched map[*ir.Block]bool      // blocks that this round split, copied or made
	vals    map[*ir.Value]*ir.Value // the copies of what this round copied

	end    *ir.Block
	in     map[*ir.Block]bool // whole blocks behind root's
	blocks []*ir.Block        // the same, in order
}

// splitAll versions what depends on quotients that decide addresses, and gives the number of instructions that it added, at most left or
// a little more. The analyses are of before the round, so a block that the round touched is left to the next one.
func (v *rowVersion) splitAll(seen map[*ir.Block]bool, left int) int {
	size := 0
	for _, b := range v.a.rpo {
		if seen[b] || v.touched[b] {
			continue
		}
		v.most = min(left-size, maxVersionedInsts)
		for _, in := range b.Insts {
			if v.quotient(in) && v.region() {
				size += v.split(seen)
				break
			}
		}
		if size >= left {
			break
		}
	}
	if size > 0 {
		repair(v.f, v.vals)
	}
	return size
}

// quotient reports an operation that grows with an affine number, and slowly: a division, or the product and shift that compilers
// make of one.
func (v *rowVersion) quotient(in *ir.Inst) bool {
	if len(in.Results) != 1 || v.a.fact(in.Results[0]).kind != ir.Varying {
		return false
	}
	switch in.Op {
	case ir.DivU, ir.DivS, ir.RemU, ir.RemS, ir.ShrU:
	default:
		return false
	}
	v.root, v.tree, v.leaf, v.hope = in, nil, nil, false
	if !v.grows(in, 0) || v.leaf == nil {
		return false
	}
	return v.long()
}

// long reports a divisor that only the launch knows, or a large one.
func (v *rowVersion) long() bool {
	by := 1.0
	for _, in := range v.tree {
		if in.Op == ir.Add {
			continue
		}
		c := in.Args[1]
		switch {
		case !c.Const:
			return true
		case in.Op == ir.ShrU:
			by *= float64(uint64(1) << min(c.Bits, 63))
		case in.Op == ir.MulHiU:
			by *= float64(uint64(1)<<32) / float64(max(c.Bits, 1))
		default:
			by *= float64(c.Bits)
		}
	}
	return by >= float64(leastRow*v.step)
}

// grows collects what in is made of, from an affine number: operations that keep the order of lanes.
func (v *rowVersion) grows(in *ir.Inst, depth int) bool {
	if depth > 6 || in.Results[0].Type != ir.I32 && in.Results[0].Type != ir.I64 || in.Op == ir.MulHiU && in.Results[0].Type != ir.I32 {
		return false
	}
	n := 1
	switch in.Op {
	case ir.DivU, ir.DivS, ir.RemU, ir.RemS, ir.ShrU, ir.MulHiU:
		if v.a.fact(in.Args[1]).kind < ir.WarpUniform {
			return false
		}
	case ir.Add:
		n = 2
	default:
		return false
	}
	if depth > 0 && (in.Op == ir.DivS || in.Op == ir.RemS || in.Op == ir.RemU) {
		return false
	}
	for _, x := range in.Args[:n] {
		if v.a.fact(x).kind >= ir.WarpUniform || x == v.leaf {
			continue
		}
		if s, ok := v.steps(x, 0); ok {
			if s <= 0 || s > maxRowStride || v.leaf != nil {
				return false
			}
			v.leaf, v.step, v.hope = x, s, v.a.fact(x).kind != ir.Affine
		} else if x.Def == nil || in.Op == ir.DivS || in.Op == ir.RemS || !v.grows(x.Def, depth+1) {
			return false
		}
	}
	if !slices.Contains(v.tree, in) {
		v.tree = append(v.tree, in)
	}
	return true
}

// steps is by how much x grows from lane to lane, if it is affine or chosen among numbers that are: the index of lanes that had the last
// element and of those that go on to the next.
func (v *rowVersion) steps(x *ir.Value, depth int) (int64, bool) {
	f := v.a.fact(x)
	if f.kind == ir.Affine {
		return f.pat.s, f.pat.seg == 0 && f.pat.tab == ""
	}
	d := x.Def
	if f.kind != ir.Varying || d == nil || depth > 6 {
		return 0, false
	}
	from := d.Args
	switch d.Op {
	case ir.Phi:
		if s, ok := v.going[x]; ok {
			return s, true
		}
	case ir.Select:
		from = from[1:]
	case ir.Add: // the next element of a loop
		if v.a.fact(d.Args[1]).kind < ir.WarpUniform {
			return 0, false
		}
		from = from[:1]
	default:
		return 0, false
	}
	var s int64
	for i, y := range from {
		k, ok := v.steps(y, depth+1)
		if !ok || i > 0 && k != s {
			return 0, false
		}
		s = k
		if d.Op == ir.Phi && i == 0 { // what comes round a loop grows as what enters it
			v.going[x] = s
			defer delete(v.going, x)
		}
	}
	return s, true
}

// region finds the code that depends on the quotient by more than what it loads: from the quotient to where all ways meet and nothing
// asks for such a value any more. It must have an access whose address does.
func (v *rowVersion) region() bool {
	b := v.root.Block
	found := false
	for end := v.pdom.Idom(b); end != nil; end = v.pdom.Idom(end) {
		in, blocks, ok := v.between(b, end)
		if !ok {
			break
		}
		v.end, v.in, v.blocks = end, in, blocks
		dep := v.depends()
		found = v.accesses(dep)
		if !v.usedBehind(dep) {
			break
		}
	}
	return found
}

// between is the blocks behind b and before end, if they are few, and compute, load and store.
func (v *rowVersion) between(b, end *ir.Block) (in map[*ir.Block]bool, blocks []*ir.Block, ok bool) {
	in = map[*ir.Block]bool{}
	for _, s := range b.Succs() {
		for x := range analysis.Reach([]*ir.Block{s}, end) {
			if v.touched[x] {
				return nil, nil, false
			}
			in[x] = true
		}
	}
	if in[b] || !copyable(b.Insts[slices.Index(b.Insts, v.root):]) {
		return nil, nil, false
	}
	size := len(b.Insts)
	for _, x := range v.a.rpo {
		if !in[x] {
			continue
		}
		blocks = append(blocks, x)
		size += len(x.Insts)
		if !copyable(x.Insts) || len(x.Succs()) == 0 {
			return nil, nil, false
		}
	}
	return in, blocks, size <= v.most
}

// copyable reports code that may be there twice: lanes of a warp do it together, and nothing waits.
func copyable(ins []*ir.Inst) bool {
	for _, in := range ins {
		switch in.Op {
		case ir.Load, ir.Store, ir.Atomic, ir.Prefetch, ir.Br, ir.CondBr, ir.Trap:
		case ir.CallRt:
			if in.Entry != rtAssert {
				return false
			}
		default:
			if in.Op.Row().Effects != 0 || in.Op.IsTerm() {
				return false
			}
		}
	}
	return true
}

// each calls do for the code that is copied.
func (v *rowVersion) each(do func(*ir.Inst)) {
	b := v.root.Block
	for _, in := range b.Insts[slices.Index(b.Insts, v.root):] {
		do(in)
	}
	for _, x := range v.blocks {
		for _, in := range x.Insts {
			do(in)
		}
	}
}

// depends is the values that are computed from the quotient.
func (v *rowVersion) depends() map[*ir.Value]bool {
	dep := map[*ir.Value]bool{v.root.Results[0]: true}
	for n := -1; n != len(dep); {
		n = len(dep)
		v.each(func(in *ir.Inst) {
			if in.Op == ir.Load || in.Op == ir.Atomic || in.Op == ir.ICmp || in.Op.IsTerm() || len(in.Results) != 1 || in.Results[0].Type.IsFloat() {
				return
			}
			for _, x := range in.Args {
				if dep[x] {
					dep[in.Results[0]] = true
				}
			}
		})
	}
	return dep
}

// accesses reports an access whose address is one of dep.
func (v *rowVersion) accesses(dep map[*ir.Value]bool) bool {
	any := false
	v.each(func(in *ir.Inst) {
		any = any || (in.Op == ir.Load || in.Op == ir.Store || in.Op == ir.Atomic) && dep[in.Args[0]]
	})
	return any
}

// usedBehind reports one of dep that the code behind the region asks for.
func (v *rowVersion) usedBehind(dep map[*ir.Value]bool) bool {
	if v.users == nil {
		v.users = v.usingBlocks()
	}
	for x := range dep {
		for _, b := range v.users.Get(x) {
			if !v.in[b] && b != v.root.Block {
				return true
			}
		}
	}
	return false
}

// usingBlocks is the blocks that ask for each value.
func (v *rowVersion) usingBlocks() *ir.ValueMap[[]*ir.Block] {
	users := ir.NewValueMap[[]*ir.Block](v.f)
	for _, b := range v.a.rpo {
		for _, in := range b.Insts {
			for _, x := range in.Args {
				if x.Const {
					continue
				}
				if of := users.Get(x); len(of) == 0 || of[len(of)-1] != b {
					users.Set(x, append(of, b))
				}
			}
		}
	}
	return users
}

// split makes the copy and the test before it, and gives the number of instructions that it added. Blocks of the version that stays as it
// was are seen.
func (v *rowVersion) split(seen map[*ir.Block]bool) int {
	f, b := v.f, v.root.Block
	at := v.sink()
	tail := f.NewBlock("")
	for _, in := range b.Insts[at:] {
		tail.Append(in)
	}
	b.Insts = b.Insts[:at:at]
	for _, s := range tail.Succs() {
		renamePred(s, b, tail)
	}
	one, q, start, index := v.test(b)
	blocks := append([]*ir.Block{tail}, v.blocks...)
	f.Rewire()
	vals := map[*ir.Value]*ir.Value{}
	copies := cloneBlocks(f, blocks, vals)
	for _, x := range v.blocks { // only the original of a block where other ways join is entered from them
		for _, p := range x.Preds {
			if copies[p] == nil {
				dropPred(copies[x], p)
			}
		}
	}
	setTerm(f, b, ir.CondBr, []*ir.Value{one}, copies[tail], tail).Line = v.root.Line
	joinCopies(blocks, copies, vals)
	size := v.inRow(q, start, index, vals, copies)
	maps.Copy(v.vals, vals)
	for _, x := range blocks {
		seen[x] = true
		v.touched[x], v.touched[copies[x]] = true, true
	}
	v.touched[b] = true
	return size
}

// sink moves what the quotient is made of down to it where nothing else needs it before, and gives the place of the first.
func (v *rowVersion) sink() int {
	b := v.root.Block
	at := slices.Index(b.Insts, v.root)
	moved := []*ir.Inst{}
	for i := at - 1; i >= 0; i-- {
		in := b.Insts[i]
		if in == v.root || !slices.Contains(v.tree, in) {
			continue
		}
		needed := false
		for _, o := range b.Insts[i+1 : at] {
			if !slices.Contains(moved, o) && slices.Contains(o.Args, in.Results[0]) {
				needed = true
			}
		}
		if !needed {
			moved = append(moved, in)
		}
	}
	slices.Reverse(moved)
	kept := make([]*ir.Inst, 0, len(b.Insts))
	for _, in := range b.Insts[:at] {
		if !slices.Contains(moved, in) {
			kept = append(kept, in)
		}
	}
	first := len(kept)
	b.Insts = append(append(kept, moved...), b.Insts[at:]...)
	return first
}

// test writes the test to the end of b: do the first lane and the last have one quotient, and is everything between them? It also gives
// that quotient, where its row starts, and the index.
func (v *rowVersion) test(b *ir.Block) (one, q, start, index *ir.Value) {
	f := v.f
	emit := func(op ir.Op, t ir.Type, args ...*ir.Value) *ir.Inst {
		in := f.NewInst(op, []ir.Type{t}, args...)
		in.Line = v.root.Line
		return b.Append(in)
	}
	signed := v.root.Op == ir.DivS || v.root.Op == ir.RemS
	compare := func(c ir.Cmp, x, y *ir.Value) {
		in := emit(ir.ICmp, ir.I1, x, y)
		in.Cmp = c
		if one == nil {
			one = in.Results[0]
		} else {
			one = emit(ir.And, ir.I1, one, in.Results[0]).Results[0]
		}
	}
	ordered := ir.LS
	if signed {
		ordered = ir.LE
	}
	t := v.leaf.Type
	lo := emit(ir.FirstLane, t, v.leaf).Results[0]
	hi := emit(ir.Add, t, lo, ir.ConstInt(t, uint64(31*v.step))).Results[0]
	compare(ordered, lo, hi)
	index = v.leaf
	if v.hope {
		lane := emit(ir.SReg, ir.I32)
		lane.Sreg = ir.LaneID
		n := lane.Results[0]
		if t != ir.I32 {
			n = emit(ir.ZExt, t, n).Results[0]
		}
		index = emit(ir.Add, t, lo, emit(ir.Mul, t, n, ir.ConstInt(t, uint64(v.step))).Results[0]).Results[0]
		same := emit(ir.ICmp, ir.I1, v.leaf, index)
		same.Cmp = ir.EQ
		one = emit(ir.And, ir.I1, one, emit(ir.AllLanes, ir.I1, same.Results[0]).Results[0]).Results[0]
	}
	first, last := map[*ir.Value]*ir.Value{v.leaf: lo}, map[*ir.Value]*ir.Value{v.leaf: hi}
	for _, in := range v.tree { // arguments come first
		op := map[ir.Op]ir.Op{ir.RemU: ir.DivU, ir.RemS: ir.DivS}[in.Op]
		if op == ir.Invalid {
			op = in.Op
		}
		r := in.Results[0]
		for k, side := range []map[*ir.Value]*ir.Value{first, last} {
			if k == 1 && in == v.root && in.Op != ir.ShrU {
				break
			}
			args := slices.Clone(in.Args)
			for i, x := range args {
				if w := side[x]; w != nil {
					args[i] = w
				}
			}
			side[r] = emit(op, r.Type, args...).Results[0]
		}
		if in.Op == ir.Add { // it grows by less than its type holds: it has wrapped if the last is below the first
			compare(ir.LS, first[r], last[r])
		}
	}
	q = first[v.root.Results[0]]
	if v.root.Op == ir.ShrU {
		compare(ir.EQ, q, last[v.root.Results[0]])
		return one, q, nil, index
	}
	// A second division would cost more than to ask whether the last is before the row's end.
	d := v.root.Args[1]
	if signed {
		compare(ir.GE, lo, ir.ConstInt(t, 0))
		compare(ir.GT, d, ir.ConstInt(t, 0))
	}
	x := v.root.Args[0]
	start = emit(ir.Mul, t, q, d).Results[0]
	compare(ir.LO, emit(ir.Sub, t, last[x], start).Results[0], d)
	return one, q, start, index
}

// inRow has the copy use the one quotient q, of a row that begins at start, and gives its size.
func (v *rowVersion) inRow(q, start, index *ir.Value, vals map[*ir.Value]*ir.Value, copies map[*ir.Block]*ir.Block) int {
	root := vals[v.root.Results[0]].Def
	x, d := root.Args[0], root.Args[1]
	if x == v.leaf {
		x = index
	}
	div, rem := root.Op, root.Op
	switch root.Op {
	case ir.DivU, ir.RemU:
		div, rem = ir.DivU, ir.RemU
	case ir.DivS, ir.RemS:
		div, rem = ir.DivS, ir.RemS
	}
	size := 0
	for _, c := range copies {
		for _, in := range c.Insts {
			size++
			for i, y := range in.Args {
				if y == v.leaf {
					in.Args[i] = index
				}
			}
			switch {
			case len(in.Args) != 2 || in.Args[0] != x || in.Args[1] != d:
			case in.Op == div:
				in.Op, in.Args = ir.Copy, []*ir.Value{q}
			case in.Op == rem:
				in.Op, in.Args = ir.Sub, []*ir.Value{x, start}
			}
		}
	}
	return size
}
