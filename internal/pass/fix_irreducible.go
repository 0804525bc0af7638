package pass

import (
	"slices"

	"kudzu/internal/ir"
)

// fixIrreducible makes irreducible control flow reducible: after it every cycle of the graph has one header. Where a cycle has
// several entries, all edges to them go through a new dispatch block that branches on a number; that costs a branch and no
// code duplication, whatever the graph looks like.
//
// Of GPUs only those need it whose lanes run in step: LLVM's code for AMD's makes loops with one entry of such cycles by itself, and then
// forgets which lanes had left a loop early (LLVM 19: a lane mask that leaves the inner loop is written for all lanes in each iteration).
func fixIrreducible(st *state) error {
	if !st.cfg.Threads {
		if !st.loops().Irreducible {
			return st.unchanged()
		}
		reduceFunc(st.f, false)
		return nil
	}
	for _, f := range st.m.Funcs {
		if st.cfg.Lockstep && len(f.Blocks) > 0 {
			reduceFunc(f, true)
		}
	}
	return nil
}

// reduceFunc does it for one function; meet keeps LLVM from taking the new block apart again.
func reduceFunc(f *ir.Func, meet bool) {
	changed := false
	for {
		f.Rewire()
		if !ir.Loops(f, ir.Dominators(f)).Irreducible {
			break
		}
		cycles := severalEntries(f)
		if len(cycles) == 0 {
			panic("BUG: irreducible graph without a cycle of several entries")
		}
		dispatch(f, meet, cycles...)
		changed = true
	}
	if changed {
		repairSSA(f)
		relayout(f)
	}
}

// severalEntries finds cycles with several entries that have no block in common, and their entries: in a strongly connected part with
// one entry, that block is set aside and the rest searched. What is inside of a cycle that was found is left for the next round.
func severalEntries(f *ir.Func) (cycles [][]*ir.Block) {
	work := [][]*ir.Block{f.RPO()}
	for len(work) > 0 {
		part := work[len(work)-1]
		work = work[:len(work)-1]
		for _, scc := range components(part) {
			in := map[*ir.Block]bool{}
			for _, b := range scc {
				in[b] = true
			}
			var entries []*ir.Block
			for _, b := range scc {
				for _, p := range b.Preds {
					if !in[p] {
						entries = append(entries, b)
						break
					}
				}
			}
			if len(entries) > 1 {
				cycles = append(cycles, entries)
				continue
			}
			var rest []*ir.Block
			for _, b := range scc {
				if len(entries) == 0 || b != entries[0] {
					rest = append(rest, b)
				}
			}
			if len(rest) > 0 && len(rest) < len(scc) {
				work = append(work, rest)
			}
		}
	}
	return cycles
}

// components are the strongly connected parts of more than one block among some blocks (Tarjan's, without recursion).
func components(blocks []*ir.Block) [][]*ir.Block {
	in := map[*ir.Block]bool{}
	for _, b := range blocks {
		in[b] = true
	}
	index, low, on := map[*ir.Block]int{}, map[*ir.Block]int{}, map[*ir.Block]bool{}
	var stack []*ir.Block
	var out [][]*ir.Block
	type frame struct {
		b    *ir.Block
		next int
	}
	for _, root := range blocks {
		if index[root] != 0 {
			continue
		}
		var calls []frame
		enter := func(b *ir.Block) {
			index[b] = len(index) + 1
			low[b] = index[b]
			on[b] = true
			stack = append(stack, b)
			calls = append(calls, frame{b, 0})
		}
		enter(root)
		for len(calls) > 0 {
			c := &calls[len(calls)-1]
			if c.next < len(c.b.Succs()) {
				s := c.b.Succs()[c.next]
				c.next++
				if in[s] && index[s] == 0 {
					enter(s)
				} else if in[s] && on[s] {
					low[c.b] = min(low[c.b], index[s])
				}
				continue
			}
			b := c.b
			calls = calls[:len(calls)-1]
			if len(calls) > 0 {
				p := calls[len(calls)-1].b
				low[p] = min(low[p], low[b])
			}
			if low[b] != index[b] {
				continue
			}
			var scc []*ir.Block
			for {
				x := stack[len(stack)-1]
				stack = stack[:len(stack)-1]
				on[x] = false
				scc = append(scc, x)
				if x == b {
					break
				}
			}
			if len(scc) > 1 {
				out = append(out, scc)
			}
		}
	}
	return out
}

// dispatch sends all edges into the entries of each cycle through one new block. The whole function is looked at once for all of them:
// a kernel of Cycles has hundreds.
func dispatch(f *ir.Func, meet bool, cycles ...[]*ir.Block) {
	with := map[*ir.Value]*ir.Value{}
	for _, entries := range cycles {
		dispatchTo(f, entries, meet, with)
	}
	replaceAll(f, with)
	f.Rewire()
}

// dispatchTo does it for one cycle. Values that phis of different entries had share phis of the new block: an edge is for one entry, so
// that there are as many as one entry needs, not as all of them do. with gets what the entries' phis are now.
func dispatchTo(f *ir.Func, entries []*ir.Block, meet bool, with map[*ir.Value]*ir.Value) {
	d := f.NewBlock("")
	which := f.NewInst(ir.Phi, []ir.Type{ir.I32})
	d.Append(which)
	shared := map[ir.Type][]*ir.Inst{}
	var all []*ir.Inst // of d, in order
	for _, e := range entries {
		used := map[ir.Type]int{}
		for _, phi := range e.Insts[:numPhis(e)] {
			t := phi.Results[0].Type
			if used[t] == len(shared[t]) {
				n := f.NewInst(ir.Phi, []ir.Type{t})
				n.Line = phi.Line
				d.Append(n)
				shared[t], all = append(shared[t], n), append(all, n)
			}
			with[phi.Results[0]] = shared[t][used[t]].Results[0]
			used[t]++
		}
	}
	for i, e := range entries {
		for _, p := range append([]*ir.Block(nil), e.Preds...) {
			edge := f.NewBlock("")
			setTerm(f, edge, ir.Br, nil, d).Line = p.Term().Line
			retarget(p, e, edge)
			which.Args, which.Targets = append(which.Args, ir.ConstInt(ir.I32, uint64(i))), append(which.Targets, edge)
			brings := map[*ir.Value]*ir.Value{}
			for _, phi := range e.Insts[:numPhis(e)] {
				if j := slices.Index(phi.Targets, p); j >= 0 {
					brings[with[phi.Results[0]]] = phi.Args[j]
				}
			}
			for _, n := range all {
				v := brings[n.Results[0]]
				if v == nil && meet && n.Results[0].Type == ir.I1 {
					v = ir.ConstInt(ir.I1, 0) // LLVM keeps predicates in masks of all lanes, and an undefined one undefines those of others
				}
				if v == nil {
					u := f.NewInst(ir.Undef, []ir.Type{n.Results[0].Type})
					beforeTerm(edge, u)
					v = u.Results[0]
				}
				n.Args, n.Targets = append(n.Args, v), append(n.Targets, edge)
			}
		}
	}
	if meet {
		d.Append(meeting(f))
	}
	in := f.NewInst(ir.Switch, nil, which.Results[0])
	in.Targets = entries
	d.Append(in)
	for _, e := range entries {
		e.Insts = e.Insts[numPhis(e):]
	}
}
