package warp

import (
	"fmt"
	"slices"

	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// Operations among the lanes of a warp in a kernel that runs thread by thread, because lanes wait on each other: each
// thread leaves its operands in its frame and waits; the first to find that all members have come reads their operands
// into vectors, does what warp code does, and gives each its results. A thread that ended is not waited for.

// collecting is the status of a thread at such an operation. The scheduler runs it to look again.
const collecting = 3

// collect is where a frame keeps what such operations need.
type collect struct {
	args, results int // offsets; 8 bytes an operand
	members, kind int // i32: the lanes that take part, and what they do
	bytes         int // of all, from the frame's start; 0: the kernel has none
}

// isCollective reports an operation that threads do together.
func isCollective(op ir.Op) bool {
	switch op {
	case ir.Shfl, ir.VoteAny, ir.VoteAll, ir.VoteUni, ir.Ballot, ir.MatchAny, ir.MatchAll, ir.Redux, ir.Elect, ir.WarpSync, ir.Mma:
		return true
	}
	return false
}

// membersArg is which operand names the lanes that take part; -1: all do.
func membersArg(op ir.Op) int {
	switch op {
	case ir.Mma:
		return -1
	case ir.Shfl:
		return 3
	case ir.Elect, ir.WarpSync:
		return 0
	}
	return 1
}

// layoutCollect gives collective operations their slot in a frame.
func (e *emitter) layoutCollect() {
	if e.w != 1 {
		return
	}
	args, results := 0, 0
	found := false
	for _, p := range e.f.Regions.Points {
		if isCollective(p.At.Op) {
			found = true
			args, results = max(args, len(p.At.Args)), max(results, len(p.At.Results))
		}
	}
	if !found {
		return
	}
	c := &e.coll
	c.members, c.kind = 16, 20
	c.args = 24
	c.results = c.args + 8*args
	c.bytes = c.results + 8*results
}

// kindOf numbers what operations do: lanes that do the same with the same members meet, wherever in the program they are. Lanes at
// another one, as a few that vote while the others wait for the whole warp, are not here yet.
func (e *emitter) kindOf(in *ir.Inst) int {
	for i, p := range e.f.Regions.Points {
		if isCollective(p.At.Op) && sameKind(p.At, in) {
			return i + 1
		}
	}
	panic("BUG: a collective operation that is no point of its function")
}

func sameKind(a, b *ir.Inst) bool {
	return a.Op == b.Op && a.Attr == b.Attr && slices.EqualFunc(a.Args, b.Args, sameType) && slices.EqualFunc(a.Results, b.Results, sameType)
}

func sameType(a, b *ir.Value) bool { return a.Type == b.Type }

// arrive leaves the thread's operands and waits.
func (e *emitter) arriveCollective(in *ir.Inst, k int) {
	c, o := &e.ctx, e.Func
	for i, a := range in.Args {
		o.Store(e.stored(a, 1), e.at(c.warpFrame, e.coll.args+8*i), 8)
	}
	members := ll.Int("i32", -1)
	if m := membersArg(in.Op); m >= 0 {
		members = e.scalar(in.Args[m])
	}
	o.Store(members, e.at(c.warpFrame, e.coll.members), 0)
	o.Store(ll.Int("i32", int64(e.kindOf(in))), e.at(c.warpFrame, e.coll.kind), 0)
	e.save(k)
	o.Store(ll.Int("i32", int64(k)), e.at(c.warpFrame, warpPC), 0)
	o.Store(ll.Int("i32", int64(collecting)), e.at(c.warpFrame, warpStatus), 0)
}

// collectResult loads what the thread was given at point k.
func (e *emitter) collectResult(k int) {
	for i, r := range e.f.Regions.Points[k-1].At.Results {
		x := e.Load(memType(r.Type), e.at(e.ctx.warpFrame, e.coll.results+8*i), 8)
		if r.Type == ir.I1 {
			x = e.Trunc(x, "i1")
		}
		e.set(r, x)
	}
}

// tries writes, for each collective operation, the code that a waiting thread runs: not all are here, or the operation.
func (e *emitter) tries(progress ll.Val) {
	if e.coll.bytes == 0 {
		return
	}
	c, o := &e.ctx, e.Func
	o.Line = 0
	e.label("try")
	running := c.warpFrame
	defer func() { c.warpFrame = running }()
	c.warpFrame = e.frameOf(c.warp)
	text := fmt.Sprintf("switch %s, label %%stuck [", e.load("i32", c.warpFrame, warpPC, ""))
	for i, p := range e.f.Regions.Points {
		if isCollective(p.At.Op) {
			text += fmt.Sprintf(" i32 %d, label %%try.%d", i+1, i+1)
		}
	}
	o.Do("%s ]", text)
	base := func() ll.Val { return e.And(c.warp, ll.Int("i32", -32)) }
	for i, p := range e.f.Regions.Points {
		if !isCollective(p.At.Op) {
			continue
		}
		e.line, o.Line = p.At.Line, p.At.Line
		e.label(fmt.Sprintf("try.%d", i+1))
		here := o.Op("i32", "call i32 @kz.gathered(%s, %s, %s, %s, i32 %d)", c.frame, base(), c.threads, e.load("i32", c.warpFrame, e.coll.members, ""), e.kindOf(p.At))
		do := fmt.Sprintf("together.%d", i+1)
		o.CondBr(e.ICmp("ne", here, ll.Int("i32", 0)), do, c.warpNext)
		e.label(do)
		o.Store(ll.Int("i32", 1), progress, 0)
		e.together(p.At, base(), here)
		o.Do("call void @kz.release(%s, %s, %s)", c.frame, base(), here)
		o.Br(c.warpNext)
	}
}

// together does a collective operation with the operands of the lanes that are here.
func (e *emitter) together(in *ir.Inst, base, here ll.Val) {
	c, o := &e.ctx, e.Func
	scratch := e.scratch
	e.w, e.scratch = 32, e.wide
	defer func() { e.w, e.scratch = 1, scratch }()
	fake := *in
	fake.Args, fake.Results = nil, nil
	for i, a := range in.Args {
		room := e.room("i64", 90)
		o.Do("call void @kz.collect(%s, %s, i64 %d, %s)", c.frame, base, e.coll.args+8*i, room)
		x := o.Load("<32 x i64>", room, 64)
		v := &ir.Value{Type: a.Type, Shape: ir.Shape{Kind: ir.Varying}, Def: &fake}
		if a.Const {
			v = a
		} else {
			e.rep(v).vec = e.fromWord(x, a.Type)
		}
		fake.Args = append(fake.Args, v)
	}
	mask := &ir.Value{Type: ir.I1, Shape: ir.Shape{Kind: ir.Varying}, Def: &fake}
	e.rep(mask).vec = e.fromNumber(here)
	fake.Mask = mask
	for _, r := range in.Results {
		fake.Results = append(fake.Results, &ir.Value{Type: r.Type, Shape: ir.Shape{Kind: ir.Varying}, Def: &fake})
	}
	// A member mask differs between lanes only where groups synchronise apart, and those that are here are one group.
	if m := membersArg(in.Op); m >= 0 && !fake.Args[m].Const {
		fake.Args[m] = ir.ConstInt(ir.I32, 1<<32-1)
	}
	e.forgetTiles()
	emitters[in.Op](e, &fake)
	for i, r := range fake.Results {
		x := e.vals[r].vec
		if n, _ := x.T.Split(); n == 1 {
			x = e.splat(x)
		}
		room := e.room("i64", 91)
		o.Store(e.toWord(x), room, 64)
		o.Do("call void @kz.spread(%s, %s, %s, i64 %d, %s)", c.frame, base, here, e.coll.results+8*i, room)
	}
}

// fromWord takes values of a type out of 64-bit words, toWord is the way back.
func (e *emitter) fromWord(x ll.Val, t ir.Type) ll.Val {
	elem := typ(t)
	return e.Recast(e.Trunc(x, ll.IntType(elem.ElemBits())), elem)
}

func (e *emitter) toWord(x ll.Val) ll.Val {
	return e.ZExt(e.Bits(x), "i64")
}

// collectHelpers writes the functions that read and write the frames of a warp's threads.
func (e *emitter) collectHelpers() {
	if e.coll.bytes == 0 {
		return
	}
	size := (e.frame + 63) &^ 63
	e.mod.Raw(fmt.Sprintf(`
define internal ptr @kz.thread(ptr %%frame, i32 %%base, i32 %%lane) #0 {
  %%t = add i32 %%base, %%lane
  %%t64 = zext i32 %%t to i64
  %%o0 = mul i64 %%t64, %[1]d
  %%o = add i64 %%o0, %[2]d
  %%p = getelementptr i8, ptr %%frame, i64 %%o
  ret ptr %%p
}

define internal i32 @kz.gathered(ptr %%frame, i32 %%base, i32 %%threads, i32 %%members, i32 %%kind) #0 {
entry:
  br label %%head
head:
  %%i = phi i32 [ 0, %%entry ], [ %%up, %%next ]
  %%here = phi i32 [ 0, %%entry ], [ %%now, %%next ]
  %%bit = shl i32 1, %%i
  %%in = and i32 %%members, %%bit
  %%is = icmp ne i32 %%in, 0
  %%t = add i32 %%base, %%i
  %%ok = icmp ult i32 %%t, %%threads
  %%both = and i1 %%is, %%ok
  br i1 %%both, label %%look, label %%next
look:
  %%p = call ptr @kz.thread(ptr %%frame, i32 %%base, i32 %%i)
  %%sp = getelementptr i8, ptr %%p, i64 %[3]d
  %%status = load i32, ptr %%sp
  %%gone = icmp eq i32 %%status, %[4]d
  br i1 %%gone, label %%next, label %%more
more:
  %%waits = icmp eq i32 %%status, %[5]d
  br i1 %%waits, label %%same, label %%no
same:
  %%mp = getelementptr i8, ptr %%p, i64 %[6]d
  %%its = load i32, ptr %%mp
  %%kp = getelementptr i8, ptr %%p, i64 %[7]d
  %%does = load i32, ptr %%kp
  %%m = icmp eq i32 %%its, %%members
  %%k = icmp eq i32 %%does, %%kind
  %%here.too = and i1 %%m, %%k
  br i1 %%here.too, label %%add, label %%no
add:
  %%sum = or i32 %%here, %%bit
  br label %%next
next:
  %%now = phi i32 [ %%here, %%head ], [ %%here, %%look ], [ %%sum, %%add ]
  %%up = add i32 %%i, 1
  %%end = icmp eq i32 %%up, 32
  br i1 %%end, label %%yes, label %%head
yes:
  ret i32 %%now
no:
  ret i32 0
}

define internal void @kz.collect(ptr %%frame, i32 %%base, i64 %%off, ptr %%out) #0 {
entry:
  br label %%head
head:
  %%i = phi i32 [ 0, %%entry ], [ %%up, %%head ]
  %%p = call ptr @kz.thread(ptr %%frame, i32 %%base, i32 %%i)
  %%q = getelementptr i8, ptr %%p, i64 %%off
  %%x = load i64, ptr %%q
  %%i64 = zext i32 %%i to i64
  %%o = getelementptr i64, ptr %%out, i64 %%i64
  store i64 %%x, ptr %%o
  %%up = add i32 %%i, 1
  %%end = icmp eq i32 %%up, 32
  br i1 %%end, label %%done, label %%head
done:
  ret void
}

define internal void @kz.spread(ptr %%frame, i32 %%base, i32 %%here, i64 %%off, ptr %%from) #0 {
entry:
  br label %%head
head:
  %%i = phi i32 [ 0, %%entry ], [ %%up, %%next ]
  %%bit = shl i32 1, %%i
  %%in = and i32 %%here, %%bit
  %%is = icmp ne i32 %%in, 0
  br i1 %%is, label %%put, label %%next
put:
  %%p = call ptr @kz.thread(ptr %%frame, i32 %%base, i32 %%i)
  %%q = getelementptr i8, ptr %%p, i64 %%off
  %%i64 = zext i32 %%i to i64
  %%s = getelementptr i64, ptr %%from, i64 %%i64
  %%x = load i64, ptr %%s
  store i64 %%x, ptr %%q
  br label %%next
next:
  %%up = add i32 %%i, 1
  %%end = icmp eq i32 %%up, 32
  br i1 %%end, label %%done, label %%head
done:
  ret void
}

define internal void @kz.release(ptr %%frame, i32 %%base, i32 %%here) #0 {
entry:
  br label %%head
head:
  %%i = phi i32 [ 0, %%entry ], [ %%up, %%next ]
  %%bit = shl i32 1, %%i
  %%in = and i32 %%here, %%bit
  %%is = icmp ne i32 %%in, 0
  br i1 %%is, label %%put, label %%next
put:
  %%p = call ptr @kz.thread(ptr %%frame, i32 %%base, i32 %%i)
  %%q = getelementptr i8, ptr %%p, i64 %[3]d
  store i32 0, ptr %%q
  br label %%next
next:
  %%up = add i32 %%i, 1
  %%end = icmp eq i32 %%up, 32
  br i1 %%end, label %%done, label %%head
done:
  ret void
}
`, size, blockBytes, warpStatus, done, collecting, e.coll.members, e.coll.kind))
}
