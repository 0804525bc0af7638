package lower

import (
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
	x.b.EmitN(ir.CopyAsync, nil, ir.Attr{Imm: n}, dst, src, bytes)
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
	if x.has("ctamask") || x.has("bytemask") {
		x.fail("%s", x.spelling())
	}
	to, from, n, dst, src := x.bulk()
	types := []ir.Type{ir.I32, ir.I32, ir.I32, ir.I32}
	x.loop(n, 16, func(off *ir.Value) {
		in := x.b.EmitN(ir.Load, types, ir.Attr{Space: src, Align: 16}, x.op(ir.Add, from, off))
		x.b.EmitN(ir.Store, nil, ir.Attr{Space: dst, Align: 16}, append([]*ir.Value{x.op(ir.Add, to, off)}, in.Results...)...)
	})
	x.bulkDone(n)
}

// lowerCpReduceAsyncBulk combines element by element; each element is atomic.
func lowerCpReduceAsyncBulk(x *inst) {
	to, from, n, dst, src := x.bulk()
	t := x.Type("type")
	attr := ir.Attr{Space: dst, Order: ir.Relaxed, Scope: ir.ScopeGPU, AtomOp: atomOp(x.Mod("op"), t), Align: align(t, 1)}
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
	a := x.address(o, ir.Shared) // as it is, at any width
	if x.vars[x.fr.regs[o.Reg]].Bits() < 64 {
		return a
	}
	is := x.b.Emit(ir.IsSpace, ir.I1, ir.Attr{Space: ir.Shared}, a)
	return x.sel(is, x.fromGeneric(a, ir.Shared), a)
}
