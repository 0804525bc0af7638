package pass

import (
	"slices"

	"kudzu/internal/ir"
)

// fullBlockVersioning versions a kernel on whether all that its code is for, a warp or jammed ones, lies inside its data. After it a
// kernel whose accesses are guarded by where they are (i < n, row < rows && column < columns) is there twice: for warps of
// which no lane is outside, without these masks and the choices that go with them, and for the rest.
//
// All blocks of a grid but the last ones are inside. With masks each warp has a comparison of vectors, a mask and a choice for
// each access. Which conditions hold is found out once, at the entry: they are numbers of threads and blocks and parameters only.
func fullBlockVersioning(st *state) error {
	if st.m.Width != 32 || st.never("full_block_versioning") {
		return st.unchanged()
	}
	v := &blockVersion{f: st.f, a: st.shapes(), weight: map[*ir.Value]int{}, hoisted: map[*ir.Value]*ir.Value{}}
	size := 0
	for _, b := range st.f.Blocks {
		size += len(b.Insts)
		for _, in := range b.Insts {
			if in.Op == ir.Bar || in.Op == ir.GridSync || in.Op == ir.AllLanes || isYield(in) { // or it is there twice already
				return st.unchanged()
			}
			if in.Mask != nil && (in.Op == ir.Load || in.Op == ir.Store || in.Op == ir.Atomic) {
				v.guard(in.Mask, true, 0)
			}
		}
	}
	least := guardedAccesses
	if st.always("full_block_versioning") {
		least = 1
	}
	inside := v.conditions()
	tests := v.tests(inside)
	if size > maxBlockInsts || len(tests) == 0 || len(tests) > maxBorderTests || v.freed(inside) < least {
		return st.unchanged()
	}
	v.split(inside, tests)
	relayout(st.f)
	if err := simplify(st); err != nil {
		return err
	}
	if err := cse(st); err != nil {
		return err
	}
	return dce(st)
}

const (
	guardedAccesses = 6    // accesses of all jammed warps that need no mask then, at least
	maxBlockInsts   = 1000 // that are there twice
	maxBorderTests  = 8    // comparisons at the entry
	maxBorderInsts  = 64   // operations that each needs
)

// blockVersion is a kernel on the way into two versions.
type blockVersion struct {
	f       *ir.Func
	a       *shapeAnalysis
	leaves  []*ir.Value       // comparisons that masks are made of, in order
	weight  map[*ir.Value]int // accesses that want one to be true, less those that want it to be false
	hoisted map[*ir.Value]*ir.Value
	entry   *ir.Block
}

// guard notes the comparisons that decide a mask which is to be is.
func (v *blockVersion) guard(m *ir.Value, is bool, depth int) {
	d := m.Def
	if d == nil || depth > 8 {
		return
	}
	switch {
	case d.Op == ir.Not:
		v.guard(d.Args[0], !is, depth+1)
	case d.Op == ir.And && is, d.Op == ir.Or && !is:
		v.guard(d.Args[0], is, depth+1)
		v.guard(d.Args[1], is, depth+1)
	case d.Op == ir.ICmp:
		if _, seen := v.weight[m]; !seen {
			v.leaves = append(v.leaves, m)
		}
		if is {
			v.weight[m]++
		} else {
			v.weight[m]--
		}
	}
}

// conditions are the comparisons by which a block is inside, and how they go there.
func (v *blockVersion) conditions() map[*ir.Value]bool {
	inside := map[*ir.Value]bool{}
	for _, c := range v.leaves {
		if w := v.weight[c]; w == 0 || v.a.fact(c).kind == ir.BlockUniform {
			continue
		}
		n, block := 0, false
		if v.fromEntry(c, &n, &block) && block {
			inside[c] = v.weight[c] > 0
		}
	}
	return inside
}

// fromEntry reports that c is computed from thread, block and parameters by few operations; block: by the block's number too.
func (v *blockVersion) fromEntry(c *ir.Value, n *int, block *bool) bool {
	d := c.Def
	if c.Const {
		return true
	}
	if *n++; d == nil || *n > maxBorderInsts {
		return false
	}
	switch d.Op {
	case ir.SReg:
		switch d.Sreg {
		case ir.CtaidX, ir.CtaidY, ir.CtaidZ:
			*block = true
		case ir.TidX, ir.TidY, ir.TidZ, ir.NctaidX, ir.NctaidY, ir.NctaidZ:
		default:
			return false
		}
	case ir.Param, ir.Add, ir.Sub, ir.Mul, ir.Shl, ir.ShrU, ir.ShrS, ir.And, ir.Or, ir.ZExt, ir.SExt, ir.Trunc, ir.ICmp:
	default:
		return false
	}
	for _, a := range d.Args {
		if !v.fromEntry(a, n, block) {
			return false
		}
	}
	return true
}

// freed counts the accesses that have no mask in blocks that are inside.
func (v *blockVersion) freed(inside map[*ir.Value]bool) int {
	n := 0
	for _, b := range v.f.Blocks {
		for _, in := range b.Insts {
			if in.Mask != nil && (in.Op == ir.Load || in.Op == ir.Store) {
				if is, ok := truth(inside, in.Mask, 0); ok && is {
					n++
				}
			}
		}
	}
	return n
}

// borderTest is a comparison that all lanes must pass, of a number plus a constant with a bound.
type borderTest struct {
	cmp         ir.Cmp
	base, bound *ir.Value
	least, most int64 // the constants that masks have, from which to which
}

// tests are the fewest comparisons from which those of inside follow.
func (v *blockVersion) tests(inside map[*ir.Value]bool) []borderTest {
	var tests []borderTest
	for _, c := range v.leaves {
		is, ok := inside[c]
		if !ok {
			continue
		}
		d := c.Def
		t := borderTest{cmp: d.Cmp, base: d.Args[0], bound: d.Args[1]}
		if !is {
			t.cmp = d.Cmp.Negated()
		}
		var k int64
		t.base, k = withoutConstant(t.base, nil)
		t.least, t.most = k, k
		i := slices.IndexFunc(tests, func(o borderTest) bool {
			return o.cmp == t.cmp && o.base == t.base && (o.bound == t.bound || o.bound.Const && t.bound.Const && o.bound.Bits == t.bound.Bits)
		})
		if i < 0 || !t.ordered() {
			tests = append(tests, t)
			continue
		}
		tests[i].least, tests[i].most = min(tests[i].least, k), max(tests[i].most, k)
	}
	return tests
}

// ordered reports a comparison that holds for all numbers between two for which it holds, if none of them wraps.
func (t borderTest) ordered() bool {
	switch t.cmp {
	case ir.LT, ir.LE, ir.LO, ir.LS:
		return t.base.Type == ir.I32
	}
	return false
}

// split makes the version without masks, and the entry that chooses.
func (v *blockVersion) split(inside map[*ir.Value]bool, tests []borderTest) {
	f := v.f
	old := slices.Clone(f.Blocks)
	vals := map[*ir.Value]*ir.Value{}
	copies := cloneBlocks(f, old, vals)
	known := map[*ir.Value]*ir.Value{}
	for w, c := range vals {
		if w.Type == ir.I1 {
			if is, ok := truth(inside, w, 0); ok {
				known[c] = constBool(is)
			}
		}
	}
	replaceAll(f, known)
	for _, b := range old {
		c := copies[b]
		c.Insts = slices.DeleteFunc(c.Insts, func(in *ir.Inst) bool {
			if in.Mask != nil && isTrue(in.Mask) {
				in.Mask = nil
			}
			return in.Op == ir.Store && in.Mask != nil && isFalse(in.Mask)
		})
	}
	v.entry = f.NewBlock("")
	br := f.NewInst(ir.CondBr, nil, v.pass(tests))
	br.Targets = []*ir.Block{copies[old[0]], old[0]}
	v.entry.Append(br)
	f.Blocks = append([]*ir.Block{v.entry}, slices.DeleteFunc(f.Blocks, func(b *ir.Block) bool { return b == v.entry })...)
	f.Rewire()
}

// pass writes the tests to the entry: true where all lanes pass.
func (v *blockVersion) pass(tests []borderTest) *ir.Value {
	var all *ir.Value
	and := func(x *ir.Value) {
		if all == nil {
			all = x
			return
		}
		all = v.put(ir.And, ir.I1, all, x)
	}
	compare := func(cmp ir.Cmp, x, y *ir.Value) *ir.Value {
		in := v.f.NewInst(ir.ICmp, []ir.Type{ir.I1}, x, y)
		in.Cmp = cmp
		v.entry.Append(in)
		return in.Results[0]
	}
	for _, t := range tests {
		base, bound := v.hoist(t.base), v.hoist(t.bound)
		ends := []int64{t.least, t.most}
		if t.least == t.most {
			ends = ends[:1]
		} else {
			in := farFromEnd(v.f, t.cmp, bound, t.most-t.least)
			v.entry.Append(in)
			and(in.Results[0])
		}
		for _, k := range ends {
			x := base
			if k != 0 {
				x = v.put(ir.Add, base.Type, base, ir.ConstInt(base.Type, uint64(k)))
			}
			and(v.put(ir.AllLanes, ir.I1, compare(t.cmp, x, bound)))
		}
	}
	return all
}

// put appends an operation to the entry.
func (v *blockVersion) put(op ir.Op, t ir.Type, args ...*ir.Value) *ir.Value {
	in := v.f.NewInst(op, []ir.Type{t}, args...)
	v.entry.Append(in)
	return in.Results[0]
}

// hoist computes x at the entry.
func (v *blockVersion) hoist(x *ir.Value) *ir.Value {
	if x.Const {
		return x
	}
	if h := v.hoisted[x]; h != nil {
		return h
	}
	in := v.f.CloneInst(x.Def, v.hoist)
	v.entry.Append(in)
	for i, r := range x.Def.Results {
		v.hoisted[r] = in.Results[i]
	}
	return v.hoisted[x]
}
