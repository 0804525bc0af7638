package pass

import (
	"kudzu/internal/analysis"
	"kudzu/internal/ir"
)

// locks brings what lanes do with a lock into the loop in which they wait for it. After it no lane that holds a lock stands behind such a
// loop and waits for lanes that are still in it.
//
// Lanes that run in step leave a loop together: whoever got the lock would wait at the loop's end for those who want it. NVIDIA's lanes go
// on by themselves since sm_70. Where the lock's release is found, a loop
//
//	wait: take the lock or go to wait; work; release; rest
//
// becomes
//
//	wait: if the lock is taken { work; release; done = true }; go to wait until done; rest
//
// A lock is an atomic that the loop's only exit depends on (waitsOn), its release the atomic or the ordered or volatile store to the same address that
// every lane comes to behind the exit. What stays as it is: work in which lanes meet (barriers, votes), since lanes would meet in it one by one.
func locks(st *state) error {
	if !st.cfg.Lockstep {
		return st.unchanged()
	}
	for _, f := range st.m.Funcs {
		if len(f.Blocks) == 0 {
			continue
		}
		f.Rewire()
		li := ir.Loops(f, ir.Dominators(f))
		if li.Irreducible {
			continue
		}
		for _, l := range li.Loops {
			if _, lock := waitsOn(l); lock != nil && holdInside(f, l, lock) {
				relayout(f)
				return locks(st) // blocks have changed: others are looked for again
			}
		}
	}
	return nil
}

// holdInside rewrites one loop, if it is of the form.
func holdInside(f *ir.Func, l *ir.Loop, lock *ir.Inst) bool {
	from, to := onlyExit(l)
	if from == nil {
		return false
	}
	if len(to.Preds) != 1 {
		to = splitEdge(f, from, to)
		f.Rewire()
	}
	z, at := release(f, l, to, lock)
	if z == nil {
		return false
	}
	rest := splitAfter(f, z, at)
	latch := f.NewBlock("held")
	leaveThroughPhis(f, l, to, z, rest, latch)
	done := f.NewInst(ir.Phi, []ir.Type{ir.I1})
	for _, b := range l.Latches {
		done.Args, done.Targets = append(done.Args, ir.ConstInt(ir.I1, 0)), append(done.Targets, b)
		retarget(b, l.Header, latch)
	}
	done.Args, done.Targets = append(done.Args, ir.ConstInt(ir.I1, 1)), append(done.Targets, z)
	insertAt(latch, 0, done)
	// Lanes meet here: that keeps what follows from being taken apart into the two ways again.
	latch.Append(f.NewInst(ir.WarpSync, nil, ir.ConstInt(ir.I32, 1<<32-1)))
	setTerm(f, z, ir.Br, nil, latch)
	t := f.NewInst(ir.CondBr, nil, done.Results[0])
	t.Targets = []*ir.Block{rest, l.Header}
	latch.Append(t)
	return true
}

// onlyExit is the edge that leaves the loop, if there is one alone.
func onlyExit(l *ir.Loop) (from, to *ir.Block) {
	for _, b := range l.Blocks {
		for _, s := range b.Succs() {
			switch {
			case l.Contains(s):
			case from != nil:
				return nil, nil
			default:
				from, to = b, s
			}
		}
	}
	return from, to
}

// release finds where the lock is given back: the block and the index in it. Nil: nowhere, or lanes meet before.
func release(f *ir.Func, l *ir.Loop, from *ir.Block, lock *ir.Inst) (*ir.Block, int) {
	dom, pdom := ir.Dominators(f), ir.PostDominators(f)
	for b := from; b != nil && dom.Dominates(from, b); b = pdom.Idom(b) {
		for i, in := range b.Insts {
			gives := in.Op == ir.Atomic || in.Op == ir.AtomicCAS || in.Op == ir.Store && (in.Volatile || in.Order != ir.Weak)
			if !gives || in.Args[0] != lock.Args[0] {
				continue
			}
			work := analysis.Reach([]*ir.Block{from}, b)
			work[b] = true
			for w := range work {
				if l.Contains(w) || !dom.Dominates(from, w) || meetsIn(w, b, i) {
					return nil, 0
				}
			}
			return b, i
		}
	}
	return nil, 0
}

// meetsIn reports an operation of b that lanes do together; of the last block only what comes before its index counts.
func meetsIn(b, last *ir.Block, at int) bool {
	for i, in := range b.Insts {
		if b == last && i > at {
			break
		}
		if in.Op == ir.Bar || in.Op == ir.ActiveMask || gathers(in.Op) || isMatrix(in.Op) {
			return true
		}
		if t := in.Op; t == ir.Exit || t == ir.Ret { // a lane that ends holding the lock
			return true
		}
	}
	return false
}

// leaveThroughPhis lets what the loop and the work compute go through phis of the new latch: to the rest, and along the back edge.
func leaveThroughPhis(f *ir.Func, l *ir.Loop, first, last, rest, latch *ir.Block) {
	inside := analysis.Reach([]*ir.Block{first}, rest)
	for _, b := range l.Blocks {
		inside[b] = true
	}
	undef := map[ir.Type]*ir.Value{}
	nothing := func(t ir.Type) *ir.Value {
		if undef[t] == nil {
			u := f.NewInst(ir.Undef, []ir.Type{t})
			insertAt(f.Blocks[0], numPhis(f.Blocks[0]), u)
			undef[t] = u.Results[0]
		}
		return undef[t]
	}
	phi := func(t ir.Type, carried func(b *ir.Block) *ir.Value, out *ir.Value) *ir.Value {
		p := f.NewInst(ir.Phi, []ir.Type{t})
		for _, b := range l.Latches {
			p.Args, p.Targets = append(p.Args, carried(b)), append(p.Targets, b)
		}
		p.Args, p.Targets = append(p.Args, out), append(p.Targets, last)
		insertAt(latch, 0, p)
		return p.Results[0]
	}
	// Along the back edge.
	for _, p := range l.Header.Insts[:numPhis(l.Header)] {
		vals := map[*ir.Block]*ir.Value{}
		var args []*ir.Value
		var targets []*ir.Block
		for i, b := range p.Targets {
			if inside[b] {
				vals[b] = p.Args[i]
			} else {
				args, targets = append(args, p.Args[i]), append(targets, b)
			}
		}
		t := p.Results[0].Type
		merged := phi(t, func(b *ir.Block) *ir.Value { return vals[b] }, nothing(t))
		p.Args, p.Targets = append(args, merged), append(targets, latch)
	}
	// To the rest.
	out := map[*ir.Value]*ir.Value{}
	for _, b := range f.Blocks {
		if inside[b] || b == latch {
			continue
		}
		for _, in := range b.Insts {
			for i, a := range in.Args {
				if a.Def == nil || !inside[a.Def.Block] || in.Op == ir.Phi && inside[in.Targets[i]] {
					continue
				}
				if out[a] == nil {
					out[a] = phi(a.Type, func(*ir.Block) *ir.Value { return nothing(a.Type) }, a)
				}
				in.Args[i] = out[a]
			}
		}
	}
}
