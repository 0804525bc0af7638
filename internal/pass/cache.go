package pass

import (
	"fmt"
	"slices"

	"kudzu/internal/analysis"
	"kudzu/internal/ir"
)

// aspects of the kernel's function that analyses depend on, and passes change or leave as they are.
type aspects uint8

const (
	graph   aspects = 1 << iota // blocks, edges and their numbers: dominators, loops
	values                      // instructions: shapes with their ranges, induction variables, which depend on the graph too
	nothing aspects = 0
	all             = graph | values
)

// results are the analyses of the kernel's function: each is made when it is first asked for, and kept until something that it depends
// on changes. What a pass leaves as it is stands in the table (Pass.Keeps); a pass that changes something and then asks again says so
// (state.changed), and one that did nothing, too (state.unchanged). Config.Verify compares what is kept with what would be found anew.
type results struct {
	dom, pdom *ir.DomTree
	li        *ir.LoopInfo
	ind       map[*ir.Loop]*analysis.Induction
	shape     *shapeAnalysis
}

// changed drops what depends on what has changed.
func (st *state) changed(what aspects) {
	if what != nothing {
		st.got.shape, st.got.ind = nil, nil
	}
	if what&graph != 0 {
		st.got = results{}
	}
}

// unchanged is the end of a pass that found nothing to do.
func (st *state) unchanged() error {
	st.same = true
	return nil
}

func (st *state) dominators() *ir.DomTree {
	if st.got.dom == nil {
		st.f.Rewire()
		st.got.dom = ir.Dominators(st.f)
	}
	return st.got.dom
}

func (st *state) postDominators() *ir.DomTree {
	if st.got.pdom == nil {
		st.f.Rewire()
		st.got.pdom = ir.PostDominators(st.f)
	}
	return st.got.pdom
}

func (st *state) loops() *ir.LoopInfo {
	if st.got.li == nil {
		st.got.li = ir.Loops(st.f, st.dominators())
	}
	return st.got.li
}

// induction is of a loop of st.loops.
func (st *state) induction(l *ir.Loop) *analysis.Induction {
	if st.got.ind == nil {
		st.got.ind = map[*ir.Loop]*analysis.Induction{}
	}
	if st.got.ind[l] == nil {
		st.got.ind[l] = analysis.NewInduction(l)
	}
	return st.got.ind[l]
}

func (st *state) shapes() *shapeAnalysis {
	if st.got.shape == nil {
		st.got.shape = analyse(st)
	}
	return st.got.shape
}

// check compares what is kept with what is found anew.
func (st *state) check() error {
	old := st.got
	fresh := &state{m: st.m, f: st.f, cfg: st.cfg}
	for _, t := range []struct {
		name     string
		old, now *ir.DomTree
	}{{"dominators", old.dom, fresh.dominators()}, {"post-dominators", old.pdom, fresh.postDominators()}} {
		for _, b := range st.f.Blocks {
			if t.old != nil && t.old.Idom(b) != t.now.Idom(b) {
				return fmt.Errorf("%s of b%d are not kept", t.name, b.ID)
			}
		}
	}
	if old.li != nil && !sameLoops(st.f, old.li, fresh.loops()) {
		return fmt.Errorf("loops are not kept")
	}
	for l, n := range old.ind {
		i := slices.IndexFunc(fresh.loops().Loops, func(x *ir.Loop) bool { return x.Header == l.Header })
		if i < 0 || !sameInduction(n, fresh.induction(fresh.loops().Loops[i])) {
			return fmt.Errorf("induction variables of b%d are not kept", l.Header.ID)
		}
	}
	if old.shape != nil {
		return old.shape.sameAs(fresh.shapes())
	}
	return nil
}

func sameLoops(f *ir.Func, x, y *ir.LoopInfo) bool {
	same := func(l, m *ir.Loop) bool {
		return l == nil && m == nil || l != nil && m != nil && l.Header == m.Header && l.Depth == m.Depth &&
			slices.Equal(l.Blocks, m.Blocks) && slices.Equal(l.Latches, m.Latches) && slices.Equal(l.Exits, m.Exits)
	}
	for _, b := range f.Blocks {
		if !same(x.Innermost(b), y.Innermost(b)) {
			return false
		}
	}
	return x.Irreducible == y.Irreducible && slices.EqualFunc(x.Loops, y.Loops, same)
}

func sameInduction(x, y *analysis.Induction) bool {
	h := x.Loop.Header
	for _, phi := range h.Insts[:numPhis(h)] {
		v, w := x.Var(phi), y.Var(phi)
		if (v == nil) != (w == nil) || v != nil && (v.Start != w.Start || v.Next != w.Next || !v.Step.Equal(w.Step)) {
			return false
		}
	}
	return true
}

// sameAs compares what two analyses of one function hold of it.
func (a *shapeAnalysis) sameAs(b *shapeAnalysis) error {
	for _, block := range a.f.Blocks {
		for _, in := range block.Insts {
			for _, r := range in.Results {
				x, y := a.fact(r), b.fact(r)
				x.visits, y.visits = 0, 0
				if x != y {
					return fmt.Errorf("the shape of %s is not kept: %+v, now %+v", r, x, y)
				}
			}
		}
	}
	for i, l := range b.li.Loops {
		if a.divergent[a.li.Loops[i]] != b.divergent[l] {
			return fmt.Errorf("the divergence of the loop at b%d is not kept", l.Header.ID)
		}
	}
	return nil
}
