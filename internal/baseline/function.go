package baseline

import (
	"cmp"
	"slices"

	"kudzu/internal/baseline/x86"
)

// gen writes the code of one function.
type gen struct {
	*module
	f      *function
	fr     *frame
	labels []x86.Label
	behind []int32 // by block: the one that stands behind it; -1: none
	kernel bool

	out   int32 // bytes at the bottom of the stack for the arguments of calls
	saved int32 // slot of the caller's stack pointer
	temps []int32

	regs  cache
	nums  scalars
	flags flagsOf
	edges []edgeStub
	now   int32 // number of the instruction being written
}

// flagsOf says that the processor's flags have a value's truth.
type flagsOf struct {
	val   int32
	cond  x86.Cond
	valid bool
}

// edgeStub is the copies to phis on an edge, behind the code.
type edgeStub struct {
	at       x86.Label
	from, to int32
}

// Registers of the frame. Others that a called function keeps are not used.
const (
	framePtr = x86.RBP
	stackPtr = x86.RSP
)

// function writes a function. The kernel is called by C; the others only by this code, with their arguments on the stack,
// each at a multiple of 64 bytes, and the room for the result behind them.
func (m *module) function(f *function, kernel bool) {
	removeDead(f)
	g := &gen{module: m, f: f, kernel: kernel}
	g.fr = m.newFrame(f)
	g.saved = g.fr.take(8)
	g.outgoing()
	for range f.blocks {
		g.labels = append(g.labels, m.NewLabel())
		g.behind = append(g.behind, -1)
	}
	for i, b := range f.order[1:] {
		g.behind[f.order[i]] = b
	}
	for len(m.Code)%16 != 0 {
		m.Code = append(m.Code, 0xcc)
	}
	m.Place(m.entries[f.name])
	g.reset()
	patch := g.prologue()
	ways := edgesTo(f)
	for i, b := range f.order {
		m.Place(g.labels[b])
		if i > 0 && !goesOn(f, ways, f.order[i-1], b) {
			g.reset()
		}
		insts := f.blocks[b].insts
		for i, in := range insts {
			g.now = g.fr.first[b] + int32(i)
			if in.debug != 0 {
				m.line(in.debug)
			}
			g.regs.start = g.regs.tick
			g.inst(in, b)
		}
	}
	for i := 0; i < len(g.edges); i++ {
		e := g.edges[i]
		m.Place(e.at)
		g.reset()
		g.copies(e.from, e.to)
		m.Jmp(g.labels[e.to])
	}
	g.patch(patch)
}

// edgesTo counts the jumps to each block.
func edgesTo(f *function) []int {
	ways := make([]int, len(f.blocks))
	for _, b := range f.order {
		for _, l := range f.successors(b) {
			ways[l]++
		}
	}
	return ways
}

// successors are the blocks that a block jumps to.
func (f *function) successors(b int32) []int32 {
	insts := f.blocks[b].insts
	if len(insts) == 0 {
		return nil
	}
	if t := insts[len(insts)-1]; t.op == "br" || t.op == "switch" {
		return t.labels
	}
	return nil
}

// goesOn reports a block that only the one before it leads to: registers hold what they held there.
func goesOn(f *function, ways []int, before, b int32) bool {
	insts := f.blocks[b].insts
	return ways[b] == 1 && slices.Contains(f.successors(before), b) && len(insts) > 0 && insts[0].op != "phi"
}

// outgoing finds the room that the arguments of calls need.
func (g *gen) outgoing() {
	for _, b := range g.f.blocks {
		for _, in := range b.insts {
			if in.op == "call" {
				n := g.size(in.t) + 64
				for _, a := range in.args {
					n += (g.size(a.t) + 63) &^ 63
				}
				if _, mine := g.entries[in.sub]; mine || in.sub == "*" {
					g.out = max(g.out, int32(n+63)&^63)
				}
			}
		}
	}
}

// prologue makes the frame; its size is known when the code is written, and put where the result says.
func (g *gen) prologue() int {
	g.Push(x86.RBP)
	g.Push(x86.RBX)
	if g.kernel {
		for _, r := range keptRegs {
			g.Push(r)
		}
	}
	g.Mov(8, x86.R11, stackPtr)
	g.Lea(framePtr, x86.At(stackPtr, -0x7fffffff))
	patch := len(g.Code) - 4
	g.AluImm(x86.AND, 8, x86.R(framePtr), -64)
	g.Lea(stackPtr, x86.At(framePtr, -g.out))
	g.Store(8, x86.At(framePtr, g.saved), x86.R11)
	if g.kernel {
		for i, p := range g.f.params {
			if g.fr.slots[p] >= 0 {
				g.Store(g.f.types[p].elem(), g.slot(p), arguments[i])
			}
		}
		return patch
	}
	at := int32(returnAddress)
	for _, p := range g.f.params {
		if g.fr.slots[p] >= 0 {
			g.take(p, x86.At(x86.R11, at))
		}
		at += int32(g.size(g.f.types[p])+63) &^ 63
	}
	return patch
}

// returnAddress is how far a function of ours finds its arguments above its saved stack pointer: two registers and the
// address that it returns to.
const returnAddress = 24

// arguments are the registers of C's first arguments.
var arguments = [...]x86.Reg{x86.RDI, x86.RSI, x86.RDX, x86.RCX, x86.R8, x86.R9}

// patch writes the frame's size into the prologue.
func (g *gen) patch(at int) {
	n := -(g.fr.size + 128) &^ 63
	g.Code[at], g.Code[at+1], g.Code[at+2], g.Code[at+3] = byte(n), byte(n>>8), byte(n>>16), byte(n>>24)
}

// leave returns to the caller.
func (g *gen) leave() {
	g.Load(8, stackPtr, x86.At(framePtr, g.saved))
	if g.kernel {
		for _, r := range slices.Backward(keptRegs[:]) {
			g.Pop(r)
		}
	}
	g.Pop(x86.RBX)
	g.Pop(x86.RBP)
	if g.kernel {
		g.Code = append(g.Code, 0xc5, 0xf8, 0x77) // vzeroupper
	}
	g.Ret()
}

// inst writes one instruction.
func (g *gen) inst(in *inst, b int32) {
	flags := g.flags
	g.flags.valid = false
	if in.res >= 0 && (g.fr.places[in.res].base != in.res || g.fr.addr.folded[in.res]) {
		return // part of another value, or of addresses
	}
	switch in.op {
	case "phi":
		return
	case "br":
		g.branch(in, b, flags)
		return
	case "switch":
		g.flush()
		g.switches(in, b)
		return
	case "ret":
		g.ret(in)
		return
	}
	if in.res >= 0 && g.fr.slots[in.res] < 0 {
		fail("value without a slot")
	}
	write := writers[in.op]
	if write == nil {
		fail("%s", in.op)
	}
	write(g, in)
}

// slot is the memory of a result, to be written.
func (g *gen) slot(v int32) x86.Mem { return x86.At(framePtr, g.fr.slots[v]) }

// mem is the memory of an operand, to be read.
func (g *gen) mem(o operand) x86.Mem {
	if o.isConst() {
		return x86.Constant(g.constantAt(o.con))
	}
	p := g.fr.places[o.val]
	if p.base < 0 {
		return x86.Constant(g.constantAt(p.con) + p.off)
	}
	g.sync(p.base)
	return x86.At(framePtr, g.fr.slots[p.base]+p.off)
}

// constantOf is the operand's value if it is a constant of at most 64 bits.
func (g *gen) constantOf(o operand) (uint64, bool) {
	p := place{base: -1, con: o.con}
	if !o.isConst() {
		if p = g.fr.places[o.val]; p.base >= 0 {
			return 0, false
		}
	}
	n := g.size(o.t)
	if n > 8 {
		return 0, false
	}
	var v uint64
	for i := n - 1; i >= 0; i-- {
		if k := int(p.off) + i; k < len(g.consts[p.con].data) {
			v = v<<8 | uint64(g.consts[p.con].data[k])
		}
	}
	if o.t.bits < 64 && !o.t.vector {
		v &= 1<<o.t.bits - 1
	}
	return v, true
}

// branch writes br.
func (g *gen) branch(in *inst, b int32, flags flagsOf) {
	if len(in.labels) == 1 {
		g.flush()
		g.copies(b, in.labels[0])
		if !g.follows(b, in.labels[0]) {
			g.Jmp(g.labels[in.labels[0]])
		}
		return
	}
	yes, no := g.edge(b, in.labels[0]), g.edge(b, in.labels[1])
	cond := x86.NE
	if v, ok := g.constantOf(in.args[0]); ok {
		g.flush()
		if v != 0 {
			g.Jmp(yes)
		} else {
			g.Jmp(no)
		}
		return
	}
	if flags.valid && flags.val == in.args[0].val {
		cond = flags.cond
	} else {
		g.isTrue(in.args[0])
	}
	g.now++ // what this jump reads was read; stores leave the flags alone
	g.flush()
	if yes == g.labels[in.labels[0]] && g.follows(b, in.labels[0]) {
		g.Jcc(cond^1, no)
		return
	}
	g.Jcc(cond, yes)
	if no != g.labels[in.labels[1]] || !g.follows(b, in.labels[1]) {
		g.Jmp(no)
	}
}

// follows says that block to stands behind block b.
func (g *gen) follows(b, to int32) bool { return g.behind[b] == to }

// edge is where a jump from one block to another goes: to copies first if there are phis.
func (g *gen) edge(from, to int32) x86.Label {
	if insts := g.f.blocks[to].insts; len(insts) == 0 || insts[0].op != "phi" {
		return g.labels[to]
	}
	l := g.NewLabel()
	g.edges = append(g.edges, edgeStub{l, from, to})
	return l
}

// switches writes switch: a search among the numbers, which the resume points of a kernel may be many of.
func (g *gen) switches(in *inst, b int32) {
	size := max(in.args[0].t.elem(), 4)
	list := make([]switchCase, len(in.list))
	for i, n := range in.list {
		list[i] = switchCase{uint64(n), g.edge(b, in.labels[i+1])}
		if size == 4 {
			list[i].n = uint64(uint32(n))
		}
	}
	slices.SortFunc(list, func(a, b switchCase) int { return cmp.Compare(a.n, b.n) })
	g.load(x86.RAX, in.args[0])
	g.search(list, size, g.edge(b, in.labels[0]))
}

// switchCase is a number of a switch and where it leads.
type switchCase struct {
	n  uint64
	to x86.Label
}

// search jumps to the case of the number in rax, or to none: by halves, the last few one by one.
func (g *gen) search(list []switchCase, size int, none x86.Label) {
	const few = 4
	if len(list) <= few {
		for _, c := range list {
			g.compareNumber(size, c.n)
			g.Jcc(x86.E, c.to)
		}
		g.Jmp(none)
		return
	}
	half := len(list) / 2
	above := g.NewLabel()
	g.compareNumber(size, list[half].n)
	g.Jcc(x86.E, list[half].to)
	g.Jcc(x86.A, above)
	g.search(list[:half], size, none)
	g.Place(above)
	g.search(list[half+1:], size, none)
}

// compareNumber compares rax with a number of any size.
func (g *gen) compareNumber(size int, n uint64) {
	if size == 8 && n != uint64(int64(int32(n))) {
		g.MovImm(x86.RCX, n)
		g.Alu(x86.CMP, 8, x86.RAX, x86.R(x86.RCX))
		return
	}
	g.AluImm(x86.CMP, size, x86.R(x86.RAX), int32(n))
}

// copies gives the phis of block to what they get from block from. What one phi gets may be another's old value: such are
// read before any is written.
func (g *gen) copies(from, to int32) {
	type pair struct {
		dst  int32
		src  operand
		size int
		temp int32
	}
	var list []pair
	mine := map[int32]bool{}
	for _, phi := range g.f.blocks[to].insts {
		if phi.op != "phi" {
			break
		}
		for k, l := range phi.labels {
			if l != from {
				continue
			}
			if g.fr.slots[phi.res] >= 0 {
				list = append(list, pair{phi.res, phi.args[k], g.size(phi.t), -1})
				mine[phi.res] = true
			}
			break
		}
	}
	var used int
	for i := range list {
		p := &list[i]
		if p.src.isConst() {
			continue
		}
		at := g.fr.places[p.src.val]
		if at.base >= 0 && mine[at.base] && (at.base != p.dst || at.off != 0) {
			p.temp = g.temp(&used, p.size)
			g.move(x86.At(framePtr, p.temp), g.mem(p.src), p.size)
		}
	}
	for _, p := range list {
		switch {
		case p.temp >= 0:
		case !p.src.isConst() && g.fr.places[p.src.val] == place{base: p.dst}:
		default:
			g.moveFrom(g.slot(p.dst), p.src, p.size)
		}
	}
	for _, p := range list {
		if p.temp >= 0 {
			g.move(g.slot(p.dst), x86.At(framePtr, p.temp), p.size)
		}
	}
}

// temp is room of 256 bytes for one of several values at a time.
func (g *gen) temp(used *int, size int) int32 {
	if size > 256 {
		fail("a phi of %d bytes", size)
	}
	if *used == len(g.temps) {
		g.temps = append(g.temps, g.fr.take(256))
	}
	*used++
	return g.temps[*used-1]
}

func (g *gen) ret(in *inst) {
	if len(in.args) == 0 {
		g.leave()
		return
	}
	if g.kernel {
		g.load(x86.RAX, in.args[0])
		g.leave()
		return
	}
	at := int32(returnAddress)
	for _, p := range g.f.params {
		at += int32(g.size(g.f.types[p])+63) &^ 63
	}
	g.Load(8, x86.R11, x86.At(framePtr, g.saved))
	g.moveFrom(x86.At(x86.R11, at), in.args[0], g.size(in.args[0].t))
	g.leave()
}
