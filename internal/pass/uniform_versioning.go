package pass

import (
	"slices"

	"kudzu/internal/analysis"
	"kudzu/internal/ir"
)

// maxVersionedInsts is how many instructions a part that is doubled may have.
const maxVersionedInsts = 700

// uniformVersioning versions loops on whether the warp's lanes stay converged. The region around a loop that lanes may leave at
// different times is there twice: in the uniform version every branch is taken by all lanes, nothing has a mask, and induction
// variables stay affine. Where lanes do diverge, the warp goes on in the other version, which is the original; both join behind it.
//
// Grid-stride loops and unrolled loops with a remainder loop before them look divergent to the compiler and hardly ever are: the
// lanes that skip the last iteration are whole warps. Only loops whose loads would be gathers otherwise are worth the code.
func uniformVersioning(st *state) error {
	n := st.cfg.Block
	if st.m.Width != 32 || n == [3]uint32{} || n[0]*n[1]*n[2]%32 != 0 || st.never("uniform_versioning") {
		return st.unchanged()
	}
	a := st.shapes()
	if a.li.Irreducible {
		return st.unchanged()
	}
	t := &doubled{f: st.f, a: a, pdom: st.postDominators()}
	for _, l := range a.li.Loops {
		if t.leaves(l) && (st.always("uniform_versioning") || t.apart(l)) && t.around(l) {
			t.split()
			return nil
		}
	}
	return st.unchanged()
}

// doubled is the part of a kernel that gets a copy.
type doubled struct {
	f    *ir.Func
	a    *shapeAnalysis
	pdom *ir.DomTree

	top, end *ir.Block // its ways go from the branch that ends top to the begin of end
	in       map[*ir.Block]bool
	blocks   []*ir.Block
}

func (t *doubled) varies(b *ir.Block) bool {
	x := b.Term()
	return x.Op == ir.CondBr && x.Targets[0] != x.Targets[1] && t.a.fact(x.Args[0]).kind < ir.WarpUniform
}

// leaves reports an outermost loop that lanes may leave at its end at different times.
func (t *doubled) leaves(l *ir.Loop) bool {
	return l.Depth == 1 && len(l.Latches) == 1 && t.varies(l.Latches[0])
}

// apart reports a loop with a load that is neither uniform nor contiguous, or with one of several elements, unless the loop walks: there
// what else it loads lies where no induction variable says, and is a gather in either version.
func (t *doubled) apart(l *ir.Loop) bool {
	for _, b := range l.Blocks {
		for _, in := range b.Insts {
			if in.Op != ir.Load || in.Space == ir.Local {
				continue
			}
			size := int64(0)
			for _, r := range in.Results {
				size += int64(r.Type.Bits()+7) / 8
			}
			f := t.a.fact(in.Args[0])
			if f.kind < ir.WarpUniform && (f.pat.s != size || f.pat.seg != 0 || len(in.Results) > 1) {
				return !walks(t.a, l)
			}
		}
	}
	return false
}

// walks reports a loop in which the whole block walks arrays: blockStrideBarriers interchanges it with the loop of warps, which it does
// not do with a doubled one, and the order in which memory is read is worth more than going without masks. PyTorch's
// multi_tensor_apply on two arrays of 44 MB takes 9.9 ms so, and 21.0 where it is doubled.
func walks(a *shapeAnalysis, l *ir.Loop) bool {
	n := a.st.cfg.Block
	if n[0]*n[1]*n[2] < minInterleavedWarps*32 || a.st.never("block_stride_barriers") {
		return false
	}
	return newTurn(a, l).jumps()
}

// around finds the part around l: from the first branch before it that lanes may take differently to where all ways from there
// meet.
func (t *doubled) around(l *ir.Loop) bool {
	var tops []*ir.Block
	for d := t.a.dom.Idom(l.Header); d != nil; d = t.a.dom.Idom(d) {
		if t.varies(d) && t.a.li.Innermost(d) == nil {
			tops = append(tops, d)
		}
	}
	slices.Reverse(tops)
	for _, d := range tops {
		if t.from(d) && t.in[l.Header] {
			return true
		}
	}
	return false
}

// from takes the part that begins behind top, if it is small enough and only computes, loads and stores.
func (t *doubled) from(top *ir.Block) bool {
	t.top, t.end = top, t.pdom.Idom(top)
	if t.end == nil || t.a.li.Innermost(t.end) != nil {
		return false
	}
	t.in, t.blocks = map[*ir.Block]bool{}, nil
	for _, b := range t.top.Succs() {
		for x := range analysis.Reach([]*ir.Block{b}, t.end) {
			t.in[x] = true
		}
	}
	if t.in[t.top] {
		return false
	}
	for _, b := range t.a.rpo {
		if !t.in[b] {
			continue
		}
		t.blocks = append(t.blocks, b)
		for _, p := range b.Preds {
			if p != t.top && !t.in[p] {
				return false
			}
		}
	}
	return copiable(t.blocks, maxVersionedInsts)
}

// leads reports that the copy of b may be entered from outside of the loops there.
func (t *doubled) leads(b *ir.Block) bool {
	l := t.a.li.Innermost(b)
	return !t.in[b] || l == nil || l.Depth == 1 && l.Header == b
}

// hoist takes what is the same number, or a base and a stride, in both versions to before them: behind its two definitions it would be a
// phi, which lanes that part have each a value of their own of.
func (t *doubled) hoist() {
	here := map[*ir.Value]bool{}
	there := func(v *ir.Value) bool { return v.Def == nil || !t.in[v.Def.Block] || here[v] }
	for _, b := range t.blocks {
		if t.a.li.Innermost(b) != nil {
			continue
		}
		kept := b.Insts[:0]
		for _, in := range b.Insts {
			if len(in.Results) == 1 && t.a.fact(in.Results[0]).kind != ir.Varying && analysis.Remat(in, analysis.RematScalar, there) {
				beforeTerm(t.top, in)
				here[in.Results[0]] = true
				continue
			}
			kept = append(kept, in)
		}
		b.Insts = kept
	}
}

// split makes the copy and the ways into it.
func (t *doubled) split() {
	f := t.f
	t.hoist()
	vals := map[*ir.Value]*ir.Value{}
	var branches []*ir.Block
	for _, b := range append([]*ir.Block{t.top}, t.blocks...) {
		if t.varies(b) && t.leads(b.Term().Targets[0]) && t.leads(b.Term().Targets[1]) {
			branches = append(branches, b)
		}
	}
	copies := cloneBlocks(f, t.blocks, vals)
	apart := func(b *ir.Block) *ir.Block { // b, or its copy
		if c := copies[b]; c != nil {
			return c
		}
		return b
	}
	joinCopies(t.blocks, copies, vals)
	// The copy of a block that top leads to is entered on the way from top only when lanes part.
	for _, b := range t.blocks {
		dropPred(copies[b], t.top)
	}
	for _, b := range branches {
		t.part(b, apart)
	}
	repair(f, vals)
	prune(f)
	relayout(f)
}

// part lets a warp go on from the branch of b where its lanes all want to go, or to the copies if they do not agree.
func (t *doubled) part(b *ir.Block, apart func(*ir.Block) *ir.Block) {
	f, term := t.f, b.Term()
	c, yes, no := term.Args[0], term.Targets[0], term.Targets[1]
	all := f.NewInst(ir.AllLanes, []ir.Type{ir.I1}, c)
	beforeTerm(b, all)
	none, mixed := f.NewBlock(""), f.NewBlock("")
	any := f.NewInst(ir.AnyLane, []ir.Type{ir.I1}, c)
	none.Append(any)
	setTerm(f, none, ir.CondBr, []*ir.Value{any.Results[0]}, mixed, no).Line = term.Line
	setTerm(f, mixed, ir.CondBr, []*ir.Value{c}, apart(yes), apart(no)).Line = term.Line
	setTerm(f, b, ir.CondBr, []*ir.Value{all.Results[0]}, yes, none)
	for i, s := range []*ir.Block{yes, no} {
		to := apart(s)
		for j, phi := range s.Insts[:numPhis(s)] {
			at := slices.Index(phi.Targets, b)
			v := phi.Args[at]
			if i == 1 {
				phi.Targets[at] = none
			}
			same := to.Insts[j] // the phi itself, where both go on in one block
			same.Args, same.Targets = append(same.Args, v), append(same.Targets, mixed)
		}
	}
}
