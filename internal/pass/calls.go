package pass

import (
	"hash/fnv"
	"strings"

	"kudzu/internal/ir"
)

// A thread's stack for functions that call themselves and for dynamic allocation. The odd part keeps the lanes' stacks off each
// other's cache sets.
const stackBytes, stackOdd = 64 << 10, 208

// Stop codes of internal/image, which passes do not import.
const (
	stopStack = 5
	stopCall  = 6
)

// calls puts the functions that were not inlined into the kernel's graph, each once. After it there are no calls: a call
// is a jump to the function's entry, where phis take the arguments and the number of the return point, and a
// return is a jump through that number. Nothing is left on a machine stack, so a warp can wait in the middle of any
// function, lanes that call different functions through a pointer are divergent branches, and recursion is a loop.
//
// A function that may be under way more than once keeps what it needs after such a call, and its local variables, in a
// frame on the thread's stack; the stack pointer is a parameter. All others have their local variables in fixed slots.
func calls(st *state) error {
	c := &caller{st: st, k: st.f, byName: map[string]*ir.Func{}, fn: map[*ir.Func]*called{}}
	for _, f := range st.m.Funcs {
		c.byName[f.Name] = f
	}
	if err := c.collect(st.f); err != nil {
		return err
	}
	if len(c.order) > 1 || usesStack(st.f) {
		c.components()
		c.merge()
	}
	st.m.Funcs = append(st.m.Funcs[:1:1], products(st.m, st.f)...)
	return nil
}

func usesStack(f *ir.Func) bool {
	for _, b := range f.Blocks {
		for _, in := range b.Insts {
			if in.Op == ir.LocalAddr && in.Sym == "" {
				return true
			}
		}
	}
	return false
}

// needsStack reports recursion or dynamic allocation.
func (c *caller) needsStack() bool {
	for _, g := range c.order {
		if g.recursive {
			return true
		}
		for _, b := range g.f.Blocks {
			for _, in := range b.Insts {
				if in.Op == ir.LocalAddr && in.StackEnd {
					return true
				}
			}
		}
	}
	return false
}

// called is a function while it is put into the kernel.
type called struct {
	f         *ir.Func
	id        int // of its component: functions that may call each other in a circle
	recursive bool
	ret       *ir.Value // parameter: the return point
	frame     int       // bytes of its frame on the stack
	spills    map[*ir.Value]int

	entry, exit *ir.Block
	params      []*ir.Inst // phis of entry
	results     []*ir.Inst // phis of exit: the stack pointer, the return point, results
	sites       []*ir.Block
}

// site is a call with the block behind it.
type site struct {
	from    *called
	block   *ir.Block
	call    *ir.Inst
	next    *ir.Block
	targets []target
	args    []*ir.Value // from the stack pointer on
	fixed   bool        // the stack pointer is where the caller's frame ends
}

// target is a function that a call may reach, and the number that means it.
type target struct {
	g  *called
	id uint64
}

type caller struct {
	st     *state
	k      *ir.Func
	byName map[string]*ir.Func
	fn     map[*ir.Func]*called
	order  []*called // the kernel first
	sites  []*site
}

// collect finds the functions that are reached and makes every call the last operation of its block.
func (c *caller) collect(root *ir.Func) error {
	c.fn[root] = &called{f: root}
	c.order = append(c.order, c.fn[root])
	for i := 0; i < len(c.order); i++ {
		g := c.order[i]
		f := g.f
		if g.f != root {
			g.ret = f.NewValue(ir.I32)
			f.Params = append(f.Params, g.ret)
		}
		for bi := 0; bi < len(f.Blocks); bi++ {
			b := f.Blocks[bi]
			for j, in := range b.Insts {
				if in.Op != ir.Call && in.Op != ir.CallInd {
					continue
				}
				s := &site{from: g, block: b, call: in}
				if err := c.reach(s); err != nil {
					return err
				}
				s.next = splitAfter(f, b, j)
				c.sites = append(c.sites, s)
				break
			}
			if t := b.Term(); t.Op == ir.Ret && g.f != root {
				t.Args = append([]*ir.Value{f.Params[0], g.ret}, t.Args...)
			}
		}
	}
	return nil
}

// splitAfter ends b behind its instruction i; the rest goes to a new block.
func splitAfter(f *ir.Func, b *ir.Block, i int) *ir.Block {
	next := f.NewBlock("")
	next.Insts = append(next.Insts, b.Insts[i+1:]...)
	for _, x := range next.Insts {
		x.Block = next
	}
	line := b.Insts[i].Line
	b.Insts = b.Insts[: i+1 : i+1]
	for _, s := range next.Succs() {
		renamePred(s, b, next)
	}
	setTermAfter(f, b, next, line)
	return next
}

// reach finds what a call may call.
func (c *caller) reach(s *site) error {
	names := []string{s.call.Sym}
	s.args = s.call.Args
	if s.call.Op == ir.CallInd {
		names = strings.Split(s.call.Sym, ",")
		s.args = s.call.Args[1:]
	}
	for _, n := range names {
		name, of, _ := strings.Cut(n, "=")
		if of == "" {
			of = name
		}
		f := c.byName[of]
		if f == nil || len(f.Blocks) == 0 || f.Kernel {
			return &ir.Unsupported{What: "call of " + of + ", which has no body here,", Line: int(s.call.Line)}
		}
		g := c.fn[f]
		if g == nil {
			g = &called{f: f}
			c.fn[f] = g
			c.order = append(c.order, g)
		}
		s.targets = append(s.targets, target{g, funcID(name)})
	}
	d := s.args[0].Def
	s.fixed = d != nil && d.Op == ir.LocalAddr && d.Sym == "" && !d.StackEnd
	return nil
}

// funcID is image.FuncID.
func funcID(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name)) // a hash takes everything
	return h.Sum64()>>8 | 0xfc<<56
}

// components numbers the functions so that those which may call each other in a circle have one number.
func (c *caller) components() {
	callees := map[*called][]*called{}
	for _, s := range c.sites {
		for _, t := range s.targets {
			callees[s.from] = append(callees[s.from], t.g)
		}
	}
	reaches := func(from *called) map[*called]bool {
		seen := map[*called]bool{}
		work := append([]*called(nil), callees[from]...)
		for len(work) > 0 {
			g := work[len(work)-1]
			work = work[:len(work)-1]
			if !seen[g] {
				seen[g] = true
				work = append(work, callees[g]...)
			}
		}
		return seen
	}
	all := map[*called]map[*called]bool{}
	for _, g := range c.order {
		all[g] = reaches(g)
		g.recursive = all[g][g]
	}
	for i, g := range c.order {
		g.id = i
		for j, h := range c.order[:i] {
			if all[g][h] && all[h][g] {
				g.id = c.order[j].id
				break
			}
		}
	}
}

// reenters reports a call during which its own caller may be called again.
func (s *site) reenters() bool {
	for _, t := range s.targets {
		if s.from.recursive && t.g.id == s.from.id {
			return true
		}
	}
	return false
}

// merge moves all functions into the kernel.
func (c *caller) merge() {
	for _, g := range c.order[1:] {
		if g.recursive {
			c.frames(g)
		} else {
			g.place(c.k)
		}
	}
	base := (c.k.LocalBytes + 15) &^ 15
	end := base
	if c.needsStack() {
		end += max(stackBytes, (c.st.cfg.Stack+15)&^15) + stackOdd
	}
	for _, g := range c.order {
		g.addresses(c.k, base, end)
	}
	c.k.LocalBytes = end
	for _, g := range c.order[1:] {
		c.adopt(g, end)
	}
	for _, s := range c.sites {
		c.connect(s)
	}
	for _, g := range c.order[1:] {
		g.finish(c.k)
	}
	prune(c.k)
	repairSSA(c.k)
	relayout(c.k)
}

// place gives the local variables of a function that is never under way twice a fixed slot.
func (g *called) place(k *ir.Func) {
	at := (k.LocalBytes + 15) &^ 15
	for i := range g.f.Slots {
		s := g.f.Slots[i]
		s.Name = g.f.Name + "/" + s.Name
		s.Offset += at
		k.Slots = append(k.Slots, s)
	}
	if g.f.LocalBytes > 0 {
		k.LocalBytes = at + g.f.LocalBytes
	}
}

// addresses turns the other names of slots in local memory into numbers: where the stack begins and ends.
func (g *called) addresses(k *ir.Func, base, end int) {
	for _, b := range g.f.Blocks {
		for _, in := range b.Insts {
			switch {
			case in.Op != ir.LocalAddr:
			case in.StackEnd:
				in.Op, in.Attr, in.Args = ir.Copy, ir.Attr{}, []*ir.Value{ir.ConstInt(ir.I64, uint64(end))}
			case in.Sym == "" && g.f == k:
				in.Op, in.Attr, in.Args = ir.Copy, ir.Attr{}, []*ir.Value{ir.ConstInt(ir.I64, uint64(base))}
			case in.Sym == "": // its frame is empty
				in.Op, in.Attr, in.Args = ir.Copy, ir.Attr{}, []*ir.Value{g.f.Params[0]}
			case g.f != k:
				in.Sym = g.f.Name + "/" + in.Sym
			}
		}
	}
}

// adopt copies g's blocks into the kernel, behind a block of phis for its parameters and before one for its results.
func (c *caller) adopt(g *called, end int) {
	k := c.k
	g.entry, g.exit = k.NewBlock(g.f.Name), k.NewBlock("")
	vals := map[*ir.Value]*ir.Value{}
	for _, p := range g.f.Params {
		phi := k.NewInst(ir.Phi, []ir.Type{p.Type})
		g.entry.Append(phi)
		g.params = append(g.params, phi)
		vals[p] = phi.Results[0]
	}
	blocks := cloneBlocks(k, g.f.Blocks, vals)
	first := blocks[g.f.Blocks[0]]
	if g.recursive {
		c.guard(g, first, end)
	} else {
		setTerm(k, g.entry, ir.Br, nil, first)
	}
	types := append([]ir.Type{ir.I64, ir.I32}, g.f.Results...)
	for _, t := range types {
		phi := k.NewInst(ir.Phi, []ir.Type{t})
		g.exit.Append(phi)
		g.results = append(g.results, phi)
	}
	for _, ob := range g.f.Blocks {
		b := blocks[ob]
		t := b.Term()
		if t.Op != ir.Ret {
			continue
		}
		for i, phi := range g.results {
			phi.Args, phi.Targets = append(phi.Args, t.Args[i]), append(phi.Targets, b)
		}
		setTerm(k, b, ir.Br, nil, g.exit)
	}
	for _, s := range c.sites {
		if s.from != g {
			continue
		}
		s.block, s.next = blocks[s.block], blocks[s.next]
		s.call = s.block.Insts[len(s.block.Insts)-2]
		s.args = s.call.Args
		if s.call.Op == ir.CallInd {
			s.args = s.call.Args[1:]
		}
	}
}

// guard stops the kernel where a frame does not fit on the stack.
func (c *caller) guard(g *called, first *ir.Block, end int) {
	k := c.k
	line := first.Insts[0].Line
	most := k.NewInst(ir.ICmp, []ir.Type{ir.I1}, g.params[0].Results[0], ir.ConstInt(ir.I64, uint64(end-g.frame-16)))
	most.Cmp, most.Line = ir.HI, line
	g.entry.Append(most)
	full := k.NewBlock("")
	t := setTerm(k, full, ir.Trap, nil)
	t.Stop, t.Line = stopStack, line
	setTerm(k, g.entry, ir.CondBr, []*ir.Value{most.Results[0]}, full, first).Line = line
}

// connect turns a call into jumps to its targets, and makes the block behind it a return point.
func (c *caller) connect(s *site) {
	k := c.k
	call := s.call
	b := s.block
	b.Insts = b.Insts[:len(b.Insts)-2]
	args := append([]*ir.Value(nil), s.args...)
	reenters := s.reenters()
	if reenters && !s.fixed { // the frame is found again through a word below the callee's
		fp := s.from.params[0].Results[0]
		c.local(b, ir.Store, call.Line, nil, args[0], fp)
		in := k.NewInst(ir.Add, []ir.Type{ir.I64}, args[0], ir.ConstInt(ir.I64, 16))
		in.Line = call.Line
		b.Append(in)
		args[0] = in.Results[0]
	}
	var results []*ir.Inst // phis of next: the callee's stack pointer, then results
	types := []ir.Type{ir.I64}
	for _, r := range call.Results {
		types = append(types, r.Type)
	}
	for range types {
		results = append(results, k.NewInst(ir.Phi, nil))
	}
	for i, phi := range results {
		if i == 0 {
			v := k.NewValue(ir.I64)
			v.Def = phi
			phi.Results = []*ir.Value{v}
		} else {
			r := call.Results[i-1]
			phi.Results, r.Def, r.Index = []*ir.Value{r}, phi, 0
		}
		phi.Line = call.Line
	}
	seen := map[*called]bool{}
	for i, t := range s.targets {
		edge := b
		if call.Op == ir.CallInd {
			edge = k.NewBlock("")
			is := k.NewInst(ir.ICmp, []ir.Type{ir.I1}, call.Args[0], ir.ConstInt(ir.I64, t.id))
			is.Cmp, is.Line = ir.EQ, call.Line
			b.Append(is)
			other := k.NewBlock("")
			setTerm(k, b, ir.CondBr, []*ir.Value{is.Results[0]}, edge, other).Line = call.Line
			b = other
			if i == len(s.targets)-1 {
				trap := setTerm(k, other, ir.Trap, nil)
				trap.Stop, trap.Line = stopCall, call.Line
			}
		}
		t.g.enter(k, edge, s, args, call.Line, seen[t.g])
		if seen[t.g] {
			continue // two names of one function
		}
		seen[t.g] = true
		for j, phi := range results {
			from := t.g.results[0]
			if j > 0 {
				from = t.g.results[j+1]
			}
			phi.Args, phi.Targets = append(phi.Args, from.Results[0]), append(phi.Targets, t.g.exit)
		}
	}
	insertAt(s.next, 0, results...)
	if reenters {
		c.refind(s, results[0].Results[0])
	}
}

// enter is a jump to g that comes back to s.
func (g *called) enter(k *ir.Func, edge *ir.Block, s *site, args []*ir.Value, line int32, again bool) {
	setTerm(k, edge, ir.Br, nil, g.entry).Line = line
	if !again {
		g.sites = append(g.sites, s.next)
	}
	number := ir.ConstInt(ir.I32, uint64(len(g.sites)-1))
	for i, phi := range g.params {
		v := number
		if i < len(args) {
			v = args[i]
		}
		phi.Args, phi.Targets = append(phi.Args, v), append(phi.Targets, edge)
	}
}

// finish writes the jump back to where g was called from.
func (g *called) finish(k *ir.Func) {
	switch len(g.sites) {
	case 0: // never called
		setTerm(k, g.exit, ir.Exit, nil)
	case 1:
		setTerm(k, g.exit, ir.Br, nil, g.sites[0])
	default:
		setTerm(k, g.exit, ir.Switch, []*ir.Value{g.results[1].Results[0]}, g.sites...).Return = true
	}
}
