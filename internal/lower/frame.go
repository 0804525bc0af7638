package lower

import (
	"kudzu/internal/ir"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
)

// frame is one body being lowered: the kernel's, or an inlined call's with registers, labels and local variables of its own.
type frame struct {
	fn     *ptx.Func
	parent *frame
	body   *ptx.Body
	regs   []variable // of each register; a vector register has as many variables in a row
	cc     variable   // carry flag, if the body uses it
	params map[*ptx.Var]*paramVar
	blocks []*pblock
	start  []int32   // block number by index of its first instruction, -1 elsewhere
	ret    *ir.Block // where ret goes; nil: the thread ends, or real is set
	real   bool      // a function that is called: ret returns its results
	sp     variable  // where the stack is free, if the plan has one
	guard  region
	at     int // instruction being lowered
}

// pblock is a basic block of the PTX body.
type pblock struct {
	first, end int // instructions
	succs      []int
	want       int // edges still to come, before the block can be sealed
	ir         *ir.Block
	reached    bool
	done       bool
}

// region is a run of instructions with one guard, lowered as one branch around them.
type region struct {
	reg  int32 // -1: none open
	not  bool
	cond *ir.Value // the predicate register's value
	join *ir.Block
}

func (l *lowerer) newFrame(fn *ptx.Func, parent *frame) *frame {
	fr := &frame{fn: fn, parent: parent, body: fn.Body, params: map[*ptx.Var]*paramVar{}}
	fr.guard.reg = -1
	if l.plan.stack {
		fr.sp = l.newVar(ir.I64)
	}
	fr.regs = make([]variable, len(fn.Body.Regs))
	types := l.regTypes(fn)
	for i := range fn.Body.Regs {
		t := types[i]
		fr.regs[i] = l.newVar(t)
		for n := uint8(1); n < fn.Body.Regs[i].Vec; n++ {
			l.newVar(t)
		}
	}
	l.split(fr)
	l.prepareParams(fr)
	return fr
}

// split cuts the body into basic blocks and finds the reachable ones.
func (l *lowerer) split(fr *frame) {
	n := len(fr.body.Insts)
	fr.start = make([]int32, n+1)
	names := make([]string, n+1)
	leader := make([]bool, n+1)
	leader[0], leader[n] = true, true // falling off the end is a ret
	for _, lb := range fr.body.Labels {
		leader[lb.Inst] = true
		if names[lb.Inst] == "" {
			names[lb.Inst] = lb.Name
		}
	}
	for i := range fr.body.Insts {
		if endsBlock(&fr.body.Insts[i]) {
			leader[i+1] = true
		}
	}
	for i := range fr.start {
		fr.start[i] = -1
		if leader[i] {
			fr.start[i] = int32(len(fr.blocks))
			if k := len(fr.blocks); k > 0 {
				fr.blocks[k-1].end = i
			}
			fr.blocks = append(fr.blocks, &pblock{first: i, end: n, ir: nil})
		}
	}
	for _, b := range fr.blocks {
		b.succs = fr.successors(b)
	}
	fr.mark()
	for _, b := range fr.blocks {
		if b.reached {
			b.ir = l.newBlock(names[b.first])
			for _, s := range b.succs {
				fr.blocks[s].want++
			}
		}
	}
	fr.blocks[0].want++ // the way in
}

func endsBlock(in *ptx.Inst) bool {
	switch in.Op() {
	case isa.Bra, isa.Brx, isa.Ret, isa.Exit, isa.Trap:
		return true
	}
	return false
}

// successors are the blocks control may go to from the end of b, once each.
func (fr *frame) successors(b *pblock) []int {
	var succs []int
	add := func(inst int32) {
		s := int(fr.start[inst])
		for _, t := range succs {
			if t == s {
				return
			}
		}
		succs = append(succs, s)
	}
	falls := true
	if b.end > b.first {
		in := &fr.body.Insts[b.end-1]
		if endsBlock(in) {
			falls = in.Pred >= 0
		}
		switch in.Op() {
		case isa.Bra:
			add(fr.body.Labels[in.Args[0].Label].Inst)
		case isa.Brx:
			for _, lb := range fr.body.Tables[in.Args[1].Table].Labels {
				add(fr.body.Labels[lb].Inst)
			}
		}
	}
	if falls && b.first < len(fr.body.Insts) {
		add(int32(b.end))
	}
	return succs
}

// mark finds what can be reached from the first block.
func (fr *frame) mark() {
	work := []int{0}
	fr.blocks[0].reached = true
	for len(work) > 0 {
		b := fr.blocks[work[len(work)-1]]
		work = work[:len(work)-1]
		for _, s := range b.succs {
			if !fr.blocks[s].reached {
				fr.blocks[s].reached = true
				work = append(work, s)
			}
		}
	}
}

// order is the reachable blocks in reverse postorder, so that a block's values are known before it is read, loops apart.
func (fr *frame) order() []int {
	type visit struct{ b, next int }
	seen := make([]bool, len(fr.blocks))
	seen[0] = true
	stack := []visit{{0, len(fr.blocks[0].succs)}}
	var post []int
	for len(stack) > 0 {
		t := &stack[len(stack)-1]
		if t.next == 0 {
			post = append(post, t.b)
			stack = stack[:len(stack)-1]
			continue
		}
		t.next--
		if s := fr.blocks[t.b].succs[t.next]; !seen[s] {
			seen[s] = true
			stack = append(stack, visit{s, len(fr.blocks[s].succs)})
		}
	}
	for i, j := 0, len(post)-1; i < j; i, j = i+1, j-1 {
		post[i], post[j] = post[j], post[i]
	}
	return post
}

// body lowers every reachable block of fr, from the current place. The place after it is dead.
func (l *lowerer) body(fr *frame) {
	if usesCarry(fr.body) {
		fr.cc = l.newVar(ir.I1)
		l.write(fr.cc, ir.ConstInt(ir.I1, 0))
	}
	l.br(fr.blocks[0].ir)
	l.arrived(fr, 0)
	order := fr.order()
	for again := true; again; {
		again = false
		for _, n := range order {
			b := fr.blocks[n]
			// A block whose ways in all turned out dead (a call that never returns) is left out. Should a later block jump
			// to it after all, the next round has it.
			if b.done || len(b.ir.Preds) == 0 {
				continue
			}
			b.done, again = true, true
			l.b.Block = b.ir
			l.blockOf(fr, b)
			for _, s := range b.succs {
				l.arrived(fr, s)
			}
		}
	}
	for _, b := range fr.blocks {
		if b.reached {
			l.seal(b.ir)
		}
	}
	l.b.Block = nil
}

// arrived notes that one of the edges to block n was made, or never will be.
func (l *lowerer) arrived(fr *frame, n int) {
	b := fr.blocks[n]
	if b.want--; b.want == 0 {
		l.seal(b.ir)
	}
}

func (l *lowerer) blockOf(fr *frame, b *pblock) {
	// Dead within an open region (a guard that is known never to hold, a guarded call that does not return) is not dead behind it.
	for i := b.first; i < b.end && (!l.dead() || fr.guard.reg >= 0); i++ {
		in := &fr.body.Insts[i]
		fr.at = i
		l.b.Line = l.line.at(in.Pos)
		l.guarded(fr, in)
	}
	l.closeRegion(fr)
	if l.dead() {
		return
	}
	if b.first < len(fr.body.Insts) {
		l.br(fr.blocks[fr.start[b.end]].ir)
		return
	}
	l.leave(fr)
}

// guarded lowers one instruction under its guard.
func (l *lowerer) guarded(fr *frame, in *ptx.Inst) {
	if in.Pred < 0 {
		l.closeRegion(fr)
		if !l.dead() {
			l.instruction(fr, in)
		}
		return
	}
	g := &fr.guard
	if g.reg >= 0 && (l.dead() || g.reg != in.Pred || g.not != in.Not || l.read(fr.regs[in.Pred]) != l.resolve(g.cond) || table[in.Op()].guard == own) {
		l.closeRegion(fr)
		if l.dead() {
			return
		}
	}
	if g.reg >= 0 {
		l.instruction(fr, in) // inside the open region
		return
	}
	switch table[in.Op()].guard {
	case own:
		l.instruction(fr, in)
	case choose:
		l.choose = l.guardValue(fr, in)
		l.instruction(fr, in)
		l.choose = nil
	case branch:
		*g = region{reg: in.Pred, not: in.Not, cond: l.read(fr.regs[in.Pred]), join: l.newBlock("")}
		then := l.newBlock("")
		yes, no := then, g.join
		if in.Not {
			yes, no = no, yes
		}
		l.condBr(g.cond, yes, no, false)
		l.seal(then)
		if len(then.Preds) > 0 {
			l.b.Block = then
			l.instruction(fr, in)
		}
	}
}

// guardValue is the guard as an i1.
func (l *lowerer) guardValue(fr *frame, in *ptx.Inst) *ir.Value {
	g := l.read(fr.regs[in.Pred])
	if in.Not {
		g = l.not(g)
	}
	return g
}

// closeRegion ends the open guarded region, if there is one: control goes on behind it.
func (l *lowerer) closeRegion(fr *frame) {
	g := &fr.guard
	if g.reg < 0 {
		return
	}
	g.reg = -1
	if !l.dead() {
		l.br(g.join)
	}
	l.seal(g.join)
	if len(g.join.Preds) > 0 {
		l.b.Block = g.join
	}
}

// leave is ret: the thread ends, or the inlined function's caller goes on.
func (l *lowerer) leave(fr *frame) {
	if fr.real {
		l.returns(fr)
		return
	}
	if fr.ret == nil {
		l.ends()
		return
	}
	l.br(fr.ret)
}
