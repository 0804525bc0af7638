package pass

import (
	"slices"
	"strings"

	"kudzu/internal/ir"
)

// inlineLimit bounds the instructions of a kernel after inlining, so that call trees cannot explode.
const inlineLimit = 200_000

// products are the functions of f's matrix products, which stay functions: one block of arithmetic, often used.
func products(m *ir.Module, f *ir.Func) []*ir.Func {
	used := map[string]bool{}
	for _, b := range f.Blocks {
		for _, in := range b.Insts {
			if in.Op == ir.Mma && in.Sym != "" {
				used[in.Sym] = true
			}
		}
	}
	var out []*ir.Func
	for _, g := range m.Funcs[1:] {
		if used[g.Name] {
			out = append(out, g)
		}
	}
	return out
}

// inline replaces calls by the callee's body. After it the kernel, its products, and functions that are not to be inlined
// are the only functions.
func inline(st *state) error {
	n := &inliner{k: st.f, byName: map[string]*ir.Func{}, adopted: map[*ir.Func]bool{}, done: map[*ir.Func]visit{}}
	for _, f := range st.m.Funcs {
		n.byName[f.Name] = f
	}
	work, real := []*ir.Func{st.f}, map[*ir.Func]bool{}
	if st.cfg.Threads { // where functions have addresses, who calls them cannot be seen
		for _, g := range st.m.Funcs[1:] {
			real[g] = true
			work = append(work, g)
		}
	}
	for len(work) > 0 {
		f := work[0]
		work = work[1:]
		if err := n.flatten(f); err != nil {
			return err
		}
		for _, g := range realCalls(f, n.byName) {
			if !real[g] {
				real[g] = true
				work = append(work, g)
			}
		}
	}
	kept := products(st.m, st.f)
	if st.cfg.Threads {
		kept = nil // they are among the others
	}
	for _, g := range st.m.Funcs[1:] {
		if real[g] {
			kept = append(kept, g)
		}
	}
	st.m.Funcs = append(st.m.Funcs[:1:1], kept...)
	st.f.Rewire()
	return nil
}

// inliner inlines bottom-up: a callee is flat before it is copied.
type inliner struct {
	k       *ir.Func // the kernel
	byName  map[string]*ir.Func
	adopted map[*ir.Func]bool // its slots are in the kernel's local memory
	done    map[*ir.Func]visit
}

// visit is how far a depth-first walk is with a function.
type visit uint8

const (
	_ visit = iota // not begun
	underWay
	finished
)

// flatten inlines all calls of f, and those of the functions it calls first.
func (n *inliner) flatten(f *ir.Func) error {
	if n.done[f] == finished {
		return nil
	}
	n.done[f] = underWay
	for bi := 0; bi < len(f.Blocks); bi++ {
		b := f.Blocks[bi]
		i := slices.IndexFunc(b.Insts, func(in *ir.Inst) bool { return in.Op == ir.Call && !in.NoInline })
		if i < 0 {
			continue
		}
		if err := n.call(f, b, i); err != nil { // the rest of b is now in a later block
			return err
		}
	}
	n.done[f] = finished
	return nil
}

// call replaces the call that is instruction i of b.
func (n *inliner) call(f *ir.Func, b *ir.Block, i int) error {
	in := b.Insts[i]
	g := n.byName[in.Sym]
	if g == nil || len(g.Blocks) == 0 {
		return &ir.Unsupported{What: "call of " + in.Sym + ", which has no body here,", Line: int(in.Line)}
	}
	if n.done[g] == underWay {
		return &ir.Unsupported{What: "recursion", Line: int(in.Line)}
	}
	if err := n.flatten(g); err != nil {
		return err
	}
	if !n.adopted[g] {
		n.adopted[g] = true
		adoptSlots(n.k, g)
	}
	inlineCall(f, b, i, g)
	if size(f) > inlineLimit {
		return &ir.Unsupported{What: "a call tree this large", Line: int(in.Line)}
	}
	return nil
}

// realCalls are the functions that f calls for good.
func realCalls(f *ir.Func, byName map[string]*ir.Func) []*ir.Func {
	var out []*ir.Func
	for _, b := range f.Blocks {
		for _, in := range b.Insts {
			if in.Op != ir.CallInd && !(in.Op == ir.Call && in.NoInline) {
				continue
			}
			for _, n := range strings.Split(in.Sym, ",") {
				if _, of, ok := strings.Cut(n, "="); ok {
					n = of
				}
				if g := byName[n]; g != nil {
					out = append(out, g)
				}
			}
		}
	}
	return out
}

func size(f *ir.Func) int {
	n := 0
	for _, b := range f.Blocks {
		n += len(b.Insts)
	}
	return n
}

// adoptSlots gives g's local variables a slot in the kernel. One slot serves all calls of g: without recursion no two
// are under way at once.
func adoptSlots(k, g *ir.Func) {
	at := (k.LocalBytes + 15) &^ 15
	for _, s := range g.Slots {
		s.Name = g.Name + "/" + s.Name
		s.Offset += at
		k.Slots = append(k.Slots, s)
	}
	if g.LocalBytes > 0 {
		k.LocalBytes = at + g.LocalBytes
	}
}

// inlineCall puts a copy of g in place of instruction i of b.
func inlineCall(f *ir.Func, b *ir.Block, i int, g *ir.Func) {
	call := b.Insts[i]
	after := f.NewBlock("")
	after.Insts = append(after.Insts, b.Insts[i+1:]...)
	for _, in := range after.Insts {
		in.Block = after
	}
	b.Insts = b.Insts[:i:i]
	for _, s := range after.Succs() {
		renamePred(s, b, after)
	}

	vals := map[*ir.Value]*ir.Value{}
	for j, p := range g.Params {
		vals[p] = call.Args[j]
	}
	blocks := cloneBlocks(f, g.Blocks, vals)
	setTerm(f, b, ir.Br, nil, blocks[g.Blocks[0]]).Line = call.Line

	var phis []*ir.Inst
	for _, r := range call.Results {
		phi := f.NewInst(ir.Phi, nil)
		phi.Results, phi.Line = []*ir.Value{r}, call.Line
		r.Def, r.Index = phi, 0
		phis = append(phis, phi)
	}
	for _, gb := range g.Blocks {
		nb := blocks[gb]
		for _, in := range nb.Insts {
			if in.Op == ir.LocalAddr && in.Sym != "" && !hasSlot(f, in.Sym) {
				in.Sym = g.Name + "/" + in.Sym
			}
		}
		if t := nb.Term(); t.Op == ir.Ret {
			for j, phi := range phis {
				phi.Args, phi.Targets = append(phi.Args, t.Args[j]), append(phi.Targets, nb)
			}
			setTerm(f, nb, ir.Br, nil, after)
		}
	}
	insertAt(after, 0, phis...)
}

func hasSlot(f *ir.Func, name string) bool {
	for _, s := range f.Slots {
		if s.Name == name {
			return true
		}
	}
	return false
}

// cloneBlocks copies blocks into f; vals maps the values of the original and is extended.
func cloneBlocks(f *ir.Func, from []*ir.Block, vals map[*ir.Value]*ir.Value) map[*ir.Block]*ir.Block {
	blocks := map[*ir.Block]*ir.Block{}
	for _, ob := range from {
		blocks[ob] = f.NewBlock(ob.Name)
	}
	for _, ob := range from {
		for _, o := range ob.Insts {
			c := blocks[ob].Append(f.CloneInst(o, nil))
			for i, r := range o.Results {
				c.Results[i].Shape = r.Shape
				vals[r] = c.Results[i]
			}
		}
	}
	// Operands only now: a phi names values of blocks that come later.
	for _, ob := range from {
		for _, c := range blocks[ob].Insts {
			remap(c, vals, blocks)
		}
	}
	return blocks
}

// remap replaces operands, mask and targets of in that the maps name.
func remap(in *ir.Inst, vals map[*ir.Value]*ir.Value, blocks map[*ir.Block]*ir.Block) {
	for i, a := range in.Args {
		if w, ok := vals[a]; ok {
			in.Args[i] = w
		}
	}
	if w, ok := vals[in.Mask]; ok {
		in.Mask = w
	}
	for i, t := range in.Targets {
		if b := blocks[t]; b != nil {
			in.Targets[i] = b
		}
	}
}
