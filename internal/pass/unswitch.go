package pass

import (
	"slices"

	"kudzu/internal/analysis"
	"kudzu/internal/ir"
)

// unswitch versions loops on a uniform condition that is the same in all iterations, where one side of it makes an induction variable:
// lanes that go on by the same step are neighbours again, and loads and stores are of whole vectors.
//
// Eigen's loops of elements, in nearly every kernel of TensorFlow, add the grid's size to an index and take the largest number instead
// where that would overflow. Whether it can is asked once before the loop, but what is chosen in the loop is not affine: every load is a
// gather.
func unswitch(st *state) error {
	if st.m.Width != 32 || st.never("unswitch") || len(st.loops().Loops) == 0 || st.loops().Irreducible {
		return st.unchanged()
	}
	done := 0
	for done < maxUnswitched {
		u := findSwitched(st)
		if u == nil {
			break
		}
		u.split()
		if err := simplify(st); err != nil {
			return err
		}
		relayout(st.f)
		st.changed(all)
		done++
	}
	if done == 0 {
		return st.unchanged()
	}
	return nil
}

// maxUnswitched is how many loops of a kernel are there twice, and maxUnswitchedInsts how many instructions they may have.
const maxUnswitched, maxUnswitchedInsts = 4, 160

// switched is a loop and the branch in it whose condition the versions are told by.
type switched struct {
	st   *state
	loop *ir.Loop
	at   *ir.Block // that the branch ends
	side int       // of the branch, on which there is an induction variable
}

// findSwitched finds an outermost loop whose loads or stores gain.
func findSwitched(st *state) *switched {
	a := st.shapes()
	for _, l := range a.li.Loops {
		if l.Depth != 1 || len(l.Latches) != 1 || !copiable(l.Blocks, maxUnswitchedInsts) {
			continue
		}
		for _, b := range l.Blocks {
			t := b.Term()
			if t.Op != ir.CondBr || t.Targets[0] == t.Targets[1] || a.fact(t.Args[0]).kind < ir.WarpUniform || !st.induction(l).Invariant(t.Args[0]) {
				continue
			}
			for side := range t.Targets {
				u := &switched{st: st, loop: l, at: b, side: side}
				if u.gains(a) {
					return u
				}
			}
		}
	}
	return nil
}

// copiable reports blocks that only compute, load and store, and are small enough to be there twice.
func copiable(blocks []*ir.Block, most int) bool {
	size := 0
	for _, b := range blocks {
		size += len(b.Insts)
		if op := b.Term().Op; op != ir.Br && op != ir.CondBr {
			return false
		}
		for _, in := range b.Insts {
			if in.Op != ir.Load && in.Op != ir.Store && in.Op.Row().Effects != 0 || in.Volatile || in.Order != ir.Weak {
				return false
			}
		}
	}
	return size <= most
}

// gains reports that the side has an induction variable whose lanes have none otherwise, and an access that depends on it.
func (u *switched) gains(a *shapeAnalysis) bool {
	l := u.loop
	left := u.reached()
	if !left[l.Latches[0]] || u.st.always("unswitch") {
		return left[l.Latches[0]]
	}
	for _, phi := range l.Header.Insts[:numPhis(l.Header)] {
		v := phi.Results[0]
		if f := a.fact(v); v.Type.IsFloat() || f.kind >= ir.WarpUniform || f.kind == ir.Affine {
			continue
		}
		start, next := analysis.Carried(l, phi)
		if start == nil || a.fact(start).kind < ir.Affine || u.steps(v, next) {
			continue
		}
		if u.steps(v, u.through(next, left)) && u.accesses(a, v) {
			return true
		}
	}
	return false
}

// reached are the blocks of the loop that an iteration may come to where the branch takes the side.
func (u *switched) reached() map[*ir.Block]bool {
	left := map[*ir.Block]bool{u.loop.Header: true}
	todo := []*ir.Block{u.loop.Header}
	for len(todo) > 0 {
		b := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for i, s := range b.Term().Targets {
			if (b != u.at || i == u.side) && u.loop.Contains(s) && !left[s] {
				left[s] = true
				todo = append(todo, s)
			}
		}
	}
	return left
}

// through is what a value is on the side, through phis that choose it by where an iteration comes from.
func (u *switched) through(v *ir.Value, left map[*ir.Block]bool) *ir.Value {
	for v.Def != nil && v.Def.Op == ir.Phi && v.Def.Block != u.loop.Header && u.loop.Contains(v.Def.Block) {
		var one *ir.Value
		for i, p := range v.Def.Targets {
			w := v.Def.Args[i]
			if !left[p] || p == u.at && p.Term().Targets[u.side] != v.Def.Block {
				continue
			}
			if one != nil && one != w {
				return v
			}
			one = w
		}
		if one == nil {
			return v
		}
		v = one
	}
	return v
}

// steps reports that next is v and something that the loop does not change.
func (u *switched) steps(v, next *ir.Value) bool {
	in, ind := next.Def, u.st.induction(u.loop)
	return in != nil && in.Op == ir.Add && (in.Args[0] == v && ind.Invariant(in.Args[1]) || in.Args[1] == v && ind.Invariant(in.Args[0]))
}

// accesses reports a load or store of the loop at an address that is made of v, and scattered.
func (u *switched) accesses(a *shapeAnalysis, v *ir.Value) bool {
	of := map[*ir.Value]bool{v: true}
	for _, b := range a.rpo {
		if !u.loop.Contains(b) {
			continue
		}
		for _, in := range b.Insts {
			if (in.Op == ir.Load || in.Op == ir.Store) && in.Space != ir.Local && of[in.Args[0]] && a.fact(in.Args[0]).kind == ir.Varying {
				return true
			}
			if in.Op != ir.Load && slices.ContainsFunc(in.Args, func(w *ir.Value) bool { return of[w] }) {
				for _, r := range in.Results {
					of[r] = true
				}
			}
		}
	}
	return false
}

// split makes the other version, and the branch to it before the loop.
func (u *switched) split() {
	f, l := u.st.f, u.loop
	var before []*ir.Block
	for _, p := range l.Header.Preds {
		if !l.Contains(p) {
			before = append(before, p)
		}
	}
	cond, line := u.at.Term().Args[0], u.at.Term().Line
	top := mergePreds(f, l.Header, before)
	vals := map[*ir.Value]*ir.Value{}
	copies := cloneBlocks(f, l.Blocks, vals)
	to := [2]*ir.Block{copies[l.Header], copies[l.Header]}
	to[u.side] = l.Header
	setTerm(f, top, ir.CondBr, []*ir.Value{cond}, to[0], to[1]).Line = line
	joinCopies(l.Blocks, copies, vals)
	for side, b := range [2]*ir.Block{u.at, copies[u.at]} { // the second is the other side's
		b.Term().Args[0] = ir.ConstInt(ir.I1, uint64(1-(u.side^side)))
	}
	simplifyBranches(f)
	repair(f, vals)
}
