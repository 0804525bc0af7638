package lower

import (
	"kudzu/internal/image"
	"kudzu/internal/ir"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
)

// Asynchronous copies are done at once: every way to wait for them allows that, and whoever waits finds them done.

// lowerCpAsync copies 4, 8 or 16 bytes, of which those past srcsize, or all with ignore, are zero.
func lowerCpAsync(x *inst) {
	n := x.Args[x.index("size")].Imm
	dst := x.address(&x.Args[x.index("d")], ir.Shared)
	src := x.address(&x.Args[x.index("a")], ir.Global)
	bytes := i32(int64(n))
	switch {
	case x.has("srcsize"):
		bytes = x.op(ir.MinU, x.arg("srcsize"), bytes)
	case x.has("ignore"):
		bytes = x.sel(x.value(&x.Args[x.index("ignore")], isa.Pred), i32(0), bytes)
	}
	x.b.EmitN(ir.CopyAsync, nil, ir.Attr{Bytes: uint32(n)}, dst, src, bytes)
}

// loop runs body for off = 0, step, … below n, an i64.
func (x *inst) loop(n *ir.Value, step int64, body func(off *ir.Value)) {
	v := x.newVar(ir.I64)
	x.write(v, i64(0))
	head, in, out := x.newBlock(""), x.newBlock(""), x.newBlock("")
	x.br(head)
	x.b.Block = head
	off := x.read(v)
	x.condBr(x.icmp(ir.LO, off, n), in, out, false)
	x.seal(in)
	x.b.Block = in
	body(off)
	x.write(v, x.op(ir.Add, off, i64(step)))
	x.br(head)
	x.seal(head)
	x.seal(out)
	x.b.Block = out
}

// bulk is the addresses of a bulk copy.
func (x *inst) bulk() (to, from, n *ir.Value, dst, src ir.Space) {
	dst, src = x.space(x.Mod("dst")), x.space(x.Mod("src"))
	to = x.address(&x.Args[x.index("d")], dst)
	from = x.address(&x.Args[x.index("a")], src)
	return to, from, x.resize(x.arg("size"), 64, false), dst, src
}

// bulkDone signals the mbarrier of a bulk operation, if it has one.
func (x *inst) bulkDone(n *ir.Value) {
	if x.has("mbar") {
		x.completeTx(x.mbarAddr("mbar"), n)
	}
}

// lowerCpAsyncBulk copies 16 bytes at a time, as the size and both addresses allow. The at most 15 bytes that .ignore_oob leaves
// out at each end are copied with their neighbours: they share an aligned 16 bytes, so no page is touched that would not be, and
// what arrives there may be anything.
func lowerCpAsyncBulk(x *inst) {
	to, from, n, dst, src := x.bulk()
	switch {
	case x.has("bytemask"):
		x.copyBytes(to, from, n, dst, src, x.resize(x.arg("bytemask"), 32, false))
		x.bulkDone(n)
		return
	case x.has("ctamask"):
		x.multicast(func(far *ir.Value) {
			x.copyBulk(x.op(ir.Add, to, far), from, n, dst, src)
			x.completeTx(x.op(ir.Add, x.mbarAddr("mbar"), far), n)
		})
		return
	}
	x.copyBulk(to, from, n, dst, src)
	x.bulkDone(n)
}

func (x *inst) copyBulk(to, from, n *ir.Value, dst, src ir.Space) {
	types := []ir.Type{ir.I32, ir.I32, ir.I32, ir.I32}
	x.loop(n, 16, func(off *ir.Value) {
		in := x.b.EmitN(ir.Load, types, ir.Attr{Space: src, Align: 16}, x.op(ir.Add, from, off))
		x.b.EmitN(ir.Store, nil, ir.Attr{Space: dst, Align: 16}, append([]*ir.Value{x.op(ir.Add, to, off)}, in.Results...)...)
	})
}

// copyBytes copies those of every 16 bytes that the mask names.
func (x *inst) copyBytes(to, from, n *ir.Value, dst, src ir.Space, mask *ir.Value) {
	x.loop(n, 1, func(off *ir.Value) {
		which := x.op(ir.And, x.resize(off, 32, false), i32(15))
		x.when(x.icmp(ir.NE, x.op(ir.And, x.op(ir.ShrU, mask, which), i32(1)), i32(0)), func() {
			v := x.b.Emit(ir.Load, ir.I8, ir.Attr{Space: src, Align: 1}, x.op(ir.Add, from, off))
			x.b.EmitN(ir.Store, nil, ir.Attr{Space: dst, Align: 1}, x.op(ir.Add, to, off), v)
		})
	})
}

// multicast does something for every block of the cluster that the operand ctamask names: far is how much further its shared
// memory is than our own.
func (x *inst) multicast(each func(far *ir.Value)) {
	mask := x.resize(x.arg("ctamask"), 32, false)
	named := func(rank *ir.Value) *ir.Value {
		return x.icmp(ir.NE, x.op(ir.And, x.op(ir.ShrU, mask, rank), i32(1)), i32(0))
	}
	if x.alone() {
		x.when(named(i32(0)), func() { each(i64(0)) })
		return
	}
	count := x.b.Emit(ir.SReg, ir.I32, ir.Attr{Sreg: ir.ClusterNctaRank})
	x.loop(x.resize(count, 64, false), 1, func(off *ir.Value) {
		rank := x.resize(off, 32, false)
		x.when(named(rank), func() {
			far := x.resize(x.op(ir.Sub, rank, x.clusterRank()), 64, true)
			each(x.op(ir.Mul, far, i64(image.ClusterStride)))
		})
	})
}

// when runs body only where cond holds.
func (x *inst) when(cond *ir.Value, body func()) {
	in, out := x.newBlock(""), x.newBlock("")
	x.condBr(cond, in, out, false)
	x.seal(in)
	if len(in.Preds) > 0 {
		x.b.Block = in
		body()
		x.br(out)
	}
	x.seal(out)
	x.b.Block = out
}

// lowerCpReduceAsyncBulk combines element by element; each element is atomic.
func lowerCpReduceAsyncBulk(x *inst) {
	to, from, n, dst, src := x.bulk()
	t := x.Type("type")
	attr := ir.Attr{Space: dst, Order: ir.Relaxed, Scope: ir.ScopeGPU, AtomOp: atomOp(x.Mod("op"), t)}
	x.loop(n, int64(t.Bytes()), func(off *ir.Value) {
		v := x.b.Emit(ir.Load, irTypes[t], ir.Attr{Space: src, Align: align(t, 1)}, x.op(ir.Add, from, off))
		x.b.EmitN(ir.Atomic, nil, attr, x.op(ir.Add, to, off), v)
	})
	x.bulkDone(n)
}

// lowerStBulk clears memory, a multiple of 8 bytes.
func lowerStBulk(x *inst) {
	sp := x.space(x.spaceWord())
	a := x.address(&x.Args[0], sp)
	x.loop(x.arg("size"), 8, func(off *ir.Value) {
		x.b.EmitN(ir.Store, nil, ir.Attr{Space: sp, Align: 8}, x.op(ir.Add, a, off), i64(0))
	})
}

// lowerStAsync stores, then signals the mbarrier with the bytes stored.
func lowerStAsync(x *inst) {
	lowerSt(x)
	if x.has("mbar") {
		x.completeTx(x.mbarAddr("mbar"), i64(int64(x.Type("type").Bytes()*x.vecSize())))
	}
}

func lowerRedAsync(x *inst) {
	x.lowerAtomic(false)
	if x.has("mbar") {
		x.completeTx(x.mbarAddr("mbar"), i64(int64(x.Type("type").Bytes())))
	}
}

// inShared is an address that can only be one of shared memory. Of a generic one the hardware takes the lower half, which lets
// plain shared addresses pass too.
func (x *inst) inShared(o *ptx.Operand) *ir.Value {
	sp := x.space(x.spaceWord())
	if sp != ir.Generic || o.Base == ptx.OpVar || o.Base == ptx.OpImm {
		return x.address(o, ir.Shared)
	}
	if x.vars[x.fr.regs[o.Reg]].Bits() < 64 {
		return x.address(o, ir.Shared)
	}
	a := x.registerAddr(o)
	is := x.b.Emit(ir.IsSpace, ir.I1, ir.Attr{Space: ir.Shared}, a)
	if x.opts.Clusters { // it may be another block's; plain addresses lie around 0
		is = x.icmp(ir.HS, x.op(ir.Add, a, i64(1<<31)), i64(1<<32))
	}
	return x.sel(is, x.fromGeneric(a, ir.Shared), a)
}
