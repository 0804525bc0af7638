package simt

import (
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// The hardware has one barrier of all waves of a block. What CUDA has more of (sixteen of them, for as many warps as the program says,
// with some that only arrive) is a word in shared memory for each: a warp that comes counts itself, and, where it waits, looks until the
// phase in which it came is over. All of it is one word, so that whoever completes a phase leaves its outcome with it:
//
//	0-4    warps that have come in this phase
//	5-15   threads of theirs for which the predicate holds (bar.red)
//	16-26  such threads of the last phase
//	27-31  the phase
//
// Where waves have 64 lanes, such a kernel has one warp in each (amdgcn_alone.go).
const (
	barWarps   = 31
	barHolds   = 5
	barLast    = 16
	barThreads = 1<<11 - 1
	barPhase   = 27
)

// countedBarriers are the barriers of a kernel that live in shared memory.
type countedBarriers struct {
	ids      uint16 // numbers
	computed bool   // of some the number is not known
}

// isCounted reports a barrier that is not simply for the whole block.
func isCounted(in *ir.Inst) bool {
	return in.BarKind == ir.BarArrive || !in.Args[1].Const || in.Args[1].Bits != 0
}

// findBarriers looks through the kernel and its functions.
func (e *emitter) findBarriers() {
	e.each(func(in *ir.Inst) {
		switch {
		case in.Op != ir.Bar || !isCounted(in):
		case in.Args[0].Const:
			e.barriers.ids |= 1 << (in.Args[0].Bits & 15)
		default:
			e.barriers.computed = true
		}
	})
}

// each calls fn for every operation of the kernel and its functions.
func (e *emitter) each(fn func(*ir.Inst)) {
	for _, f := range e.m.Funcs {
		for _, b := range f.Blocks {
			for _, in := range b.Insts {
				fn(in)
			}
		}
	}
}

// inShared reports a barrier that lives in shared memory: a counted one, and one of the whole block that may be the same barrier. Where
// only the numbers of counted ones are computed, those of the whole block that are written down are taken to be others.
func (e *emitter) inShared(in *ir.Inst) bool {
	b := &e.barriers
	if isCounted(in) {
		return true
	}
	if in.Args[0].Const {
		return b.ids>>(in.Args[0].Bits&15)&1 != 0
	}
	return b.ids != 0 || b.computed
}

// barrier is all threads of the block, with their memory.
func (e *emitter) barrier() {
	e.o.Do(`fence syncscope("workgroup") release`)
	e.o.Call("void", "llvm.amdgcn.s.barrier")
	e.o.Do(`fence syncscope("workgroup") acquire`)
}

func gcnBar(e *emitter, in *ir.Inst) {
	switch {
	case e.inShared(in):
		e.sharedBarrier(in)
	case in.BarKind == ir.BarSync:
		e.barrier()
	default:
		e.reducingBarrier(in)
	}
}

// holding is how many of the warp's threads matter to a reduction: all hold if for none it does not.
func (e *emitter) holding(in *ir.Inst) ll.Val {
	p := e.val(in.Args[2])
	if in.BarKind == ir.BarRedAnd {
		p = e.not(p)
	}
	return e.intr("ctpop", e.ballot(p))
}

// reduced is a reduction's result from what holding came to in all warps.
func (e *emitter) reduced(in *ir.Inst, total ll.Val) {
	switch in.BarKind {
	case ir.BarRedPopc:
		e.result(in, total)
	case ir.BarRedAnd:
		e.result(in, e.cmp("eq", total, ll.Int("i32", 0)))
	case ir.BarRedOr:
		e.result(in, e.cmp("ne", total, ll.Int("i32", 0)))
	default:
		panic("BUG: barrier " + in.BarKind.String() + " has no result")
	}
}

// first is the first of the warp's lanes that are here.
func (e *emitter) first() ll.Val {
	return e.cmp("eq", e.lane(), e.o.Call("i32", "llvm.cttz.i32", e.active(), ll.Int("i1", 0)))
}

func isReduction(k ir.BarKind) bool {
	return k == ir.BarRedPopc || k == ir.BarRedAnd || k == ir.BarRedOr
}

// sharedBarrier comes to a barrier in shared memory, and waits there unless it only arrives.
func (e *emitter) sharedBarrier(in *ir.Inst) {
	if e.wave() != 32 && !e.alone {
		panic("BUG: a counted barrier where warps share waves")
	}
	i32 := func(n int64) ll.Val { return ll.Int("i32", n) }
	at := e.o.Op("ptr addrspace(3)", "getelementptr i32, ptr addrspace(3) %s, %s", e.barrierWords(), e.op2("and", e.val(in.Args[0]), i32(15)))
	came := e.arrive(at, e.expected(in), e.holds(in))
	if in.BarKind == ir.BarArrive {
		return
	}
	look, out, sleep := e.o.NewLabel("bar.look"), e.o.NewLabel("bar.out"), e.o.NewLabel("bar.sleep")
	e.o.Br(look)
	e.o.Label(look)
	now := e.o.Op("i32", `load atomic i32, %s syncscope("workgroup") monotonic, align 4`, at)
	now = e.o.Call("i32", "llvm.amdgcn.readfirstlane.i32", now) // the warp goes on as one
	e.o.CondBr(e.cmp("ne", e.op2("lshr", e.op2("xor", now, came), i32(barPhase)), i32(0)), out, sleep)
	e.o.Label(sleep)
	e.sleep()
	e.o.Br(look)
	e.o.Label(out)
	e.o.Do(`fence syncscope("workgroup") acquire`)
	if isReduction(in.BarKind) {
		e.reduced(in, e.op2("and", e.op2("lshr", now, i32(barLast)), i32(barThreads)))
	}
}

func (e *emitter) holds(in *ir.Inst) ll.Val {
	if isReduction(in.BarKind) {
		return e.holding(in)
	}
	return ll.Int("i32", 0)
}

// expected is how many warps a barrier waits for. More than a block can have wait for all that it can have.
func (e *emitter) expected(in *ir.Inst) ll.Val {
	warps := func(threads ll.Val) ll.Val {
		return e.op2("lshr", e.op2("add", threads, ll.Int("i32", 31)), ll.Int("i32", 5))
	}
	all := func() ll.Val { return warps(e.op2("mul", e.op2("mul", e.ntid(0), e.ntid(1)), e.ntid(2))) }
	if in.Args[1].Const && in.Args[1].Bits == 0 {
		return all()
	}
	n := e.o.Call("i32", "llvm.umin.i32", e.val(in.Args[1]), ll.Int("i32", 1024))
	if in.Args[1].Const {
		return warps(n)
	}
	return e.sel(e.cmp("eq", n, ll.Int("i32", 0)), all(), warps(n))
}

// arrive counts the warp in, by one of its lanes, and gives the word as it was then.
func (e *emitter) arrive(at, expected, holds ll.Val) ll.Val {
	i32 := func(n int64) ll.Val { return ll.Int("i32", n) }
	e.o.Do(`fence syncscope("workgroup") release`)
	lead, try, in, joined := e.o.NewLabel("bar.lead"), e.o.NewLabel("bar.try"), e.o.NewLabel("bar.in"), e.o.NewLabel("bar.joined")
	one := e.first()
	pre := e.o.Cur()
	e.o.CondBr(one, lead, joined)
	e.o.Label(lead)
	seen := e.o.Op("i32", `load atomic i32, %s syncscope("workgroup") monotonic, align 4`, at)
	e.o.Br(try)
	e.o.Label(try)
	old := e.o.Phi("i32")
	old.Add(seen, lead)
	full := e.cmp("uge", e.op2("add", e.op2("and", old.Val, i32(barWarps)), i32(1)), expected)
	held := e.op2("add", e.op2("and", e.op2("lshr", old.Val, i32(barHolds)), i32(barThreads)), holds)
	phase := e.op2("shl", e.op2("add", e.op2("lshr", old.Val, i32(barPhase)), i32(1)), i32(barPhase))
	over := e.op2("or", phase, e.op2("shl", held, i32(barLast)))
	more := e.op2("add", e.op2("add", old.Val, i32(1)), e.op2("shl", holds, i32(barHolds)))
	r := e.o.Op("{ i32, i1 }", `cmpxchg %s, %s, %s syncscope("workgroup") monotonic monotonic, align 4`, at, old.Val, e.sel(full, over, more))
	found, done := e.o.Op("i32", "extractvalue %s, 0", r), e.o.Op("i1", "extractvalue %s, 1", r)
	old.Add(found, try)
	e.o.CondBr(done, in, try)
	e.o.Label(in)
	e.o.Br(joined)
	e.o.Label(joined)
	came := e.o.Phi("i32")
	came.Add(i32(0), pre)
	came.Add(old.Val, in)
	return e.o.Call("i32", "llvm.amdgcn.readfirstlane.i32", came.Val) // the first lane is the one that counted
}

func (e *emitter) barrierWords() string {
	return e.g.declare(e.m.Kernel+".barriers", "internal addrspace(3) global [16 x i32] undef, align 4")
}

// reducingBarrier counts in shared memory. The counter is zero at the kernel's start (prologue) and again behind each use.
func (e *emitter) reducingBarrier(in *ir.Inst) {
	name := e.barrierCount()
	n := e.sel(e.first(), e.holding(in), ll.Int("i32", 0))
	e.o.Op("i32", `atomicrmw add ptr addrspace(3) %s, %s syncscope("workgroup") monotonic, align 4`, name, n)
	e.barrier()
	total := e.o.Op("i32", `load atomic i32, ptr addrspace(3) %s syncscope("workgroup") monotonic, align 4`, name)
	e.barrier()
	e.o.Do(`store atomic i32 0, ptr addrspace(3) %s syncscope("workgroup") monotonic, align 4`, name)
	e.barrier()
	e.reduced(in, total)
}

func (e *emitter) barrierCount() string {
	return e.g.declare(e.m.Kernel+".count", "internal addrspace(3) global i32 undef, align 4")
}

// prologue clears what the kernel's barriers have in shared memory.
func (e *emitter) prologue() {
	e.findBarriers()
	if e.alone {
		e.leaving()
	}
	count, words := false, false
	e.each(func(in *ir.Inst) {
		if in.Op == ir.Bar {
			shared := e.inShared(in)
			words = words || shared
			count = count || !shared && isReduction(in.BarKind)
		}
	})
	if count {
		e.o.Do(`store atomic i32 0, ptr addrspace(3) %s syncscope("workgroup") monotonic, align 4`, e.barrierCount())
	}
	if words { // lane by lane: a block of fewer threads than barriers has all lanes write all
		e.o.Do("store [16 x i32] zeroinitializer, ptr addrspace(3) %s, align 4", e.barrierWords())
	}
	if count || words {
		e.barrier()
	}
}
