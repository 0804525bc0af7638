package lower

import (
	"kudzu/internal/ir"
	"kudzu/internal/ptx/isa"
)

// An mbarrier is 64 opaque bits in shared memory. Ours, the interpreter's too, from the lowest: pending arrivals (20 bits),
// expected arrivals of a phase (20 bits), transaction count (21 bits, two's complement), and in bit 63 the phase's parity.
const (
	mbarCount = 20
	mbarTx    = 2 * mbarCount
	mbarPhase = 63
	countMask = 1<<mbarCount - 1
	txMask    = (1<<21 - 1) << mbarTx
)

func (x *inst) mbarAddr(name string) *ir.Value { return x.inShared(&x.Args[x.index(name)]) }

// change replaces the mbarrier by what f makes of it, atomically, and gives the bits from before. The swap compares with what
// was just read, so some lane always succeeds.
func (x *inst) change(a *ir.Value, f func(old *ir.Value) *ir.Value) *ir.Value {
	v := x.newVar(ir.I64)
	x.write(v, x.b.Emit(ir.Load, ir.I64, ir.Attr{Space: ir.Shared, Align: 8}, a))
	head, out := x.newBlock(""), x.newBlock("")
	x.br(head)
	x.b.Block = head
	old := x.read(v)
	got := x.b.Emit(ir.AtomicCAS, ir.I64, ir.Attr{Space: ir.Shared, Order: ir.Relaxed, Scope: ir.ScopeCTA}, a, old, f(old))
	x.write(v, got)
	x.condBr(x.icmp(ir.EQ, got, old), out, head, false)
	x.seal(head)
	x.seal(out)
	x.b.Block = out
	return x.resolve(old)
}

// settle begins the next phase where nothing is pending: no arrivals and no bytes.
func (x *inst) settle(v *ir.Value) *ir.Value {
	done := x.icmp(ir.EQ, x.op(ir.And, v, i64(countMask|txMask)), i64(0))
	expected := x.op(ir.And, x.op(ir.ShrU, v, i32(mbarCount)), i64(countMask))
	next := x.op(ir.Or, x.op(ir.Xor, v, i64(-1<<mbarPhase)), expected)
	return x.sel(done, next, v)
}

// addTx changes the transaction count, within its bits.
func (x *inst) addTx(v, n *ir.Value, add bool) *ir.Value {
	op := ir.Sub
	if add {
		op = ir.Add
	}
	sum := x.op(op, v, x.op(ir.Shl, n, i32(mbarTx)))
	return x.op(ir.Or, x.op(ir.And, v, i64(^txMask)), x.op(ir.And, sum, i64(txMask)))
}

// completeTx takes n bytes, an i64, off the transaction count.
func (x *inst) completeTx(a, n *ir.Value) {
	x.change(a, func(old *ir.Value) *ir.Value { return x.settle(x.addTx(old, n, false)) })
}

func lowerMbarrierInit(x *inst) {
	n := x.resize(x.arg("count"), 64, false)
	v := x.op(ir.Or, n, x.op(ir.Shl, n, i32(mbarCount)))
	x.b.EmitN(ir.Store, nil, ir.Attr{Space: ir.Shared, Align: 8}, x.mbarAddr("a"), v)
}

func lowerMbarrierInval(x *inst) {
	x.b.EmitN(ir.Store, nil, ir.Attr{Space: ir.Shared, Align: 8}, x.mbarAddr("a"), i64(0))
}

func lowerMbarrierExpectTx(x *inst) {
	n := x.resize(x.arg("count"), 64, false)
	x.change(x.mbarAddr("a"), func(old *ir.Value) *ir.Value { return x.addTx(old, n, true) })
}

func lowerMbarrierCompleteTx(x *inst) {
	x.completeTx(x.mbarAddr("a"), x.resize(x.arg("count"), 64, false))
}

// lowerMbarrierArrive is arrive and arrive_drop, with .expect_tx and .noComplete. The result is the state from before.
func lowerMbarrierArrive(x *inst) {
	n := i64(1)
	expect := x.Has(isa.ModExpectTx)
	var tx *ir.Value
	if x.has("count") {
		c := x.resize(x.arg("count"), 64, false)
		if expect {
			tx = c
		} else {
			n = c
		}
	}
	x.fence(ir.Release)
	old := x.change(x.mbarAddr("a"), func(old *ir.Value) *ir.Value {
		v := old
		if expect {
			v = x.addTx(v, tx, true)
		}
		if x.Op() == isa.MbarrierArriveDrop {
			v = x.op(ir.Sub, v, x.op(ir.Shl, n, i32(mbarCount)))
		}
		return x.settle(x.op(ir.Sub, v, n))
	})
	x.result(old)
}

// fence orders what an mbarrier publishes or takes over.
func (x *inst) fence(o ir.Order) {
	x.b.EmitN(ir.Fence, nil, ir.Attr{Order: o, Scope: ir.ScopeCTA})
}

// lowerMbarrierWait is test_wait and try_wait: has the phase of the state, or of the parity, ended?
func lowerMbarrierWait(x *inst) {
	attr := ir.Attr{Space: ir.Shared, Order: ir.Acquire, Scope: ir.ScopeCTA, Align: 8}
	now := x.b.Emit(ir.Load, ir.I64, attr, x.mbarAddr("a"))
	var want *ir.Value
	if x.has("parity") {
		want = x.op(ir.Shl, x.resize(x.arg("parity"), 64, false), i32(mbarPhase))
	} else {
		want = x.arg("state")
	}
	// The top bits differ where the phase has changed.
	x.result(x.icmp(ir.LT, x.op(ir.Xor, now, want), i64(0)))
}

func lowerMbarrierPendingCount(x *inst) {
	x.result(x.resize(x.op(ir.And, x.arg("state"), i64(countMask)), 32, false))
}

// lowerCpAsyncMbarrierArrive arrives when the thread's copies are done: now. Without .noinc the arrival was added first, and
// both together change nothing.
func lowerCpAsyncMbarrierArrive(x *inst) {
	if x.Mod("noinc") == 0 {
		return
	}
	x.change(x.mbarAddr("a"), func(old *ir.Value) *ir.Value { return x.settle(x.op(ir.Sub, old, i64(1))) })
}

// lowerTryCancel answers that nothing was cancelled: blocks that have not begun begin by themselves.
func lowerTryCancel(x *inst) {
	a := x.mbarAddr("a")
	x.b.EmitN(ir.Store, nil, ir.Attr{Space: ir.Shared, Align: 16}, a, i64(0), i64(0))
	x.completeTx(x.mbarAddr("mbar"), i64(16))
}

// lowerQueryCancel reads such an answer.
func lowerQueryCancel(x *inst) {
	if x.has("p") {
		x.result(ir.ConstInt(ir.I1, 0))
		return
	}
	t := x.opType(0)
	x.setElems(0, t, []*ir.Value{i32(0), i32(0), i32(0), i32(0)}[:max(len(x.Args[0].Elems), 1)])
}
