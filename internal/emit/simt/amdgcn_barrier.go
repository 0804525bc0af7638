package simt

import (
	"fmt"

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
	ids      uint32 // numbers; bit ir.BarWarpgroup is for those of all warpgroups
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
			e.barriers.ids |= 1 << barNumber(in.Args[0].Bits)
		default:
			e.barriers.computed = true
		}
	})
}

// barWords is how many barriers there are: those that programs name, and one for each warpgroup.
const barWords = ir.BarWarpgroup + 8

// barNumber is a barrier's number: one that programs can name, or that of the warpgroups.
func barNumber(bits uint64) uint64 {
	if bits == ir.BarWarpgroup {
		return bits
	}
	return bits & (ir.BarWarpgroup - 1)
}

// barIndex is which of the words a barrier is.
func (e *emitter) barIndex(id *ir.Value) ll.Val {
	if id.Const && id.Bits == ir.BarWarpgroup {
		return e.Add(e.LShr(e.linearID(), ll.Int("i32", 7)), ll.Int("i32", ir.BarWarpgroup))
	}
	return e.And(e.val(id), ll.Int("i32", ir.BarWarpgroup-1))
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
		return b.ids>>barNumber(in.Args[0].Bits)&1 != 0
	}
	return b.ids != 0 || b.computed
}

// barrier is all threads of the block, with their memory.
func (e *emitter) barrier() {
	e.Fence(`syncscope("workgroup") release`)
	e.Call("void", "llvm.amdgcn.s.barrier")
	e.Fence(`syncscope("workgroup") acquire`)
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
		p = e.Not(p)
	}
	return e.Intr("ctpop", e.ballot(p))
}

// reduced is a reduction's result from what holding came to in all warps.
func (e *emitter) reduced(in *ir.Inst, total ll.Val) {
	switch in.BarKind {
	case ir.BarRedPopc:
		e.result(in, total)
	case ir.BarRedAnd:
		e.result(in, e.ICmp("eq", total, ll.Int("i32", 0)))
	case ir.BarRedOr:
		e.result(in, e.ICmp("ne", total, ll.Int("i32", 0)))
	default:
		panic("BUG: barrier " + in.BarKind.String() + " has no result")
	}
}

// first is the first of the warp's lanes that are here.
func (e *emitter) first() ll.Val {
	return e.ICmp("eq", e.lane(), e.Call("i32", "llvm.cttz.i32", e.active(), ll.Int("i1", 0)))
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
	at := e.GEP("i32", e.barrierWords(), e.barIndex(in.Args[0]))
	came := e.arrive(at, e.expected(in), e.holds(in))
	if in.BarKind == ir.BarArrive {
		return
	}
	look, out, sleep := e.NewLabel("bar.look"), e.NewLabel("bar.out"), e.NewLabel("bar.sleep")
	e.Br(look)
	e.Label(look)
	now := e.LoadAs("i32", at, counter)
	now = e.Call("i32", "llvm.amdgcn.readfirstlane.i32", now) // the warp goes on as one
	e.CondBr(e.ICmp("ne", e.LShr(e.Xor(now, came), i32(barPhase)), i32(0)), out, sleep)
	e.Label(sleep)
	e.sleep()
	e.Br(look)
	e.Label(out)
	e.Fence(`syncscope("workgroup") acquire`)
	if isReduction(in.BarKind) {
		e.reduced(in, e.And(e.LShr(now, i32(barLast)), i32(barThreads)))
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
		return e.LShr(e.Add(threads, ll.Int("i32", 31)), ll.Int("i32", 5))
	}
	all := func() ll.Val { return warps(e.Mul(e.Mul(e.ntid(0), e.ntid(1)), e.ntid(2))) }
	if in.Args[1].Const && in.Args[1].Bits == 0 {
		return all()
	}
	n := e.Call("i32", "llvm.umin.i32", e.val(in.Args[1]), ll.Int("i32", 1024))
	if in.Args[1].Const {
		return warps(n)
	}
	return e.Select(e.ICmp("eq", n, ll.Int("i32", 0)), all(), warps(n))
}

// arrive counts the warp in, by one of its lanes, and gives the word as it was then.
func (e *emitter) arrive(at, expected, holds ll.Val) ll.Val {
	i32 := func(n int64) ll.Val { return ll.Int("i32", n) }
	e.Fence(`syncscope("workgroup") release`)
	lead, try, in, joined := e.NewLabel("bar.lead"), e.NewLabel("bar.try"), e.NewLabel("bar.in"), e.NewLabel("bar.joined")
	one := e.first()
	pre := e.Cur()
	e.CondBr(one, lead, joined)
	e.Label(lead)
	seen := e.LoadAs("i32", at, counter)
	e.Br(try)
	e.Label(try)
	old := e.Phi("i32")
	old.Add(seen, lead)
	full := e.ICmp("uge", e.Add(e.And(old.Val, i32(barWarps)), i32(1)), expected)
	held := e.Add(e.And(e.LShr(old.Val, i32(barHolds)), i32(barThreads)), holds)
	phase := e.Shl(e.Add(e.LShr(old.Val, i32(barPhase)), i32(1)), i32(barPhase))
	over := e.Or(phase, e.Shl(held, i32(barLast)))
	more := e.Add(e.Add(old.Val, i32(1)), e.Shl(holds, i32(barHolds)))
	r := e.CmpXchg(at, old.Val, e.Select(full, over, more), counter.Order+" monotonic", 4)
	found, done := e.ExtractValue(r, 0), e.ExtractValue(r, 1)
	old.Add(found, try)
	e.CondBr(done, in, try)
	e.Label(in)
	e.Br(joined)
	e.Label(joined)
	came := e.Phi("i32")
	came.Add(i32(0), pre)
	came.Add(old.Val, in)
	return e.Call("i32", "llvm.amdgcn.readfirstlane.i32", came.Val) // the first lane is the one that counted
}

// counter is how the numbers that barriers keep in shared memory are accessed.
var counter = ll.Access{Align: 4, Order: `syncscope("workgroup") monotonic`}

// sharedCounter is a variable of the kernel's own in shared memory.
func (e *emitter) sharedCounter(name string, t ll.Type) ll.Val {
	return ll.Val{T: ll.PtrTo(3), S: e.g.declare(e.m.Kernel+name, fmt.Sprintf("internal addrspace(3) global %s undef, align 4", t))}
}

// barrierType is that of all words: the warpgroups' only where there are such barriers.
func (e *emitter) barrierType() ll.Type {
	if e.barriers.ids>>ir.BarWarpgroup != 0 {
		return ll.Type(fmt.Sprintf("[%d x i32]", barWords))
	}
	return "[16 x i32]"
}

func (e *emitter) barrierWords() ll.Val { return e.sharedCounter(".barriers", e.barrierType()) }

// reducingBarrier counts in shared memory. The counter is zero at the kernel's start (prologue) and again behind each use.
func (e *emitter) reducingBarrier(in *ir.Inst) {
	count := e.barrierCount()
	n := e.Select(e.first(), e.holding(in), ll.Int("i32", 0))
	e.RMW("add", count, n, counter.Order, 4)
	e.barrier()
	total := e.LoadAs("i32", count, counter)
	e.barrier()
	e.StoreAs(ll.Int("i32", 0), count, counter)
	e.barrier()
	e.reduced(in, total)
}

func (e *emitter) barrierCount() ll.Val { return e.sharedCounter(".count", "i32") }

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
		e.StoreAs(ll.Int("i32", 0), e.barrierCount(), counter)
	}
	if words { // lane by lane: a block of fewer threads than barriers has all lanes write all
		e.Store(ll.Zero(e.barrierType()), e.barrierWords(), 4)
	}
	if count || words {
		e.barrier()
	}
}
