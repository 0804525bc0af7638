package simt

import (
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// memory of several values is a vector of integers of their width.

// accessType is the LLVM type of n values of type t in memory.
func accessType(t ir.Type, n int) ll.Type { return ll.Vec(n, ll.IntType(max(t.Bits(), 8))) }

// invariant marks what nobody writes while the kernel runs.
const invariant = "!invariant.load !0"

// alignOf is the alignment of an access: PTX guarantees its whole size.
func alignOf(in *ir.Inst, t ir.Type, n int) int {
	if in.Align != 0 {
		return int(in.Align)
	}
	return max(t.Bits()/8, 1) * n
}

// plain reports an access that no other thread orders itself by.
func plain(in *ir.Inst) bool { return in.Order == ir.Weak }

// accessed is the address of an access. A generic address that was just made of one in shared or local memory is that one:
// AMD's flat instructions are slower than those of the space. NVIDIA's assembler finds out by itself.
func (e *emitter) accessed(in *ir.Inst) ll.Val {
	if in.Space == ir.Generic && !e.t.pointers() {
		if sp, a, ok := e.origin(in.Args[0], 0); ok {
			return e.pointer(sp, a)
		}
	}
	return e.at(in.Space, in.Args[0])
}

// at is an address as a pointer. A constant that is added last stays apart: LLVM joins neighbouring accesses and folds their distances into
// the instructions where it sees one base, and would keep each sum in a register else.
func (e *emitter) at(sp ir.Space, v *ir.Value) ll.Val {
	d := v.Def
	if e.t.pointers() || d == nil || d.Op != ir.Add || !d.Args[1].Const {
		return e.pointer(sp, e.val(v))
	}
	base, off := e.val(d.Args[0]), d.Args[1].Int()
	if least := e.least[d.Args[0]]; sp == ir.Shared && least < 0 { // its instructions add what is not negative
		base, off = e.Add(base, ll.Int("i64", least)), off-least
	}
	p := e.pointer(sp, base)
	return e.GEP("i8", p, e.offset(sp, ll.Int("i64", off)))
}

// leastOffsets is the lowest constant that is added to a value for an access of shared memory, where all are near each other.
func leastOffsets(f *ir.Func) map[*ir.Value]int64 {
	least, most := map[*ir.Value]int64{}, map[*ir.Value]int64{}
	for _, b := range f.Blocks {
		for _, in := range b.Insts {
			if in.Op != ir.Load && in.Op != ir.Store || in.Space != ir.Shared || in.Args[0].Def == nil {
				continue
			}
			if d := in.Args[0].Def; d.Op == ir.Add && d.Args[1].Const {
				v, off := d.Args[0], d.Args[1].Int()
				least[v], most[v] = min(least[v], off), max(most[v], off)
			}
		}
	}
	const reach = 1 << 16 // of an instruction
	for v := range least {
		if most[v]-least[v] >= reach {
			delete(least, v)
		}
	}
	return least
}

// origin follows sums back to where a generic address was made.
func (e *emitter) origin(v *ir.Value, depth int) (ir.Space, ll.Val, bool) {
	d := v.Def
	if d == nil || depth > 4 {
		return 0, ll.Val{}, false
	}
	switch d.Op {
	case ir.ToGeneric:
		return d.Space, e.val(d.Args[0]), d.Space == ir.Shared || d.Space == ir.Local
	case ir.Add:
		for i := range d.Args {
			if sp, a, ok := e.origin(d.Args[i], depth+1); ok {
				return sp, e.Add(a, e.val(d.Args[1-i])), true
			}
		}
	}
	return 0, ll.Val{}, false
}

func emitLoad(e *emitter, in *ir.Inst) {
	if !plain(in) {
		e.orderedLoad(in)
		return
	}
	t := in.Results[0].Type
	at := accessType(t, len(in.Results))
	how := ll.Access{Align: alignOf(in, t, len(in.Results)), Volatile: in.Volatile}
	if in.ReadOnly && e.t.space(in.Space) != 0 {
		how.Meta = invariant
	}
	x := e.LoadAs(at, e.accessed(in), how)
	e.spread(in, x)
}

// spread gives the elements of a vector to the results.
func (e *emitter) spread(in *ir.Inst, x ll.Val) {
	if len(in.Results) == 1 {
		e.result(in, e.fromMemory(x, in.Results[0].Type))
		return
	}
	for i, r := range in.Results {
		e.set(r, e.fromMemory(e.Extract(x, i), r.Type))
	}
}

func (e *emitter) fromMemory(x ll.Val, t ir.Type) ll.Val {
	if t == ir.I1 {
		return e.ICmp("ne", x, x.Int(0))
	}
	return e.Bitcast(x, typ(t))
}

// stored is the value that a store writes, as integers.
func (e *emitter) stored(vs []*ir.Value) ll.Val {
	one := func(v *ir.Value) ll.Val {
		if v.Type == ir.I1 {
			return e.ZExt(e.val(v), "i8")
		}
		return e.Bits(e.clean(v))
	}
	if len(vs) == 1 {
		return one(vs[0])
	}
	t := accessType(vs[0].Type, len(vs))
	x := ll.Poison(t)
	for i, v := range vs {
		x = e.Insert(x, one(v), i)
	}
	return x
}

func emitStore(e *emitter, in *ir.Inst) {
	if !plain(in) {
		e.orderedStore(in)
		return
	}
	vs := in.Args[1:]
	x := e.stored(vs)
	e.StoreAs(x, e.accessed(in), ll.Access{Align: alignOf(in, vs[0].Type, len(vs)), Volatile: in.Volatile})
}

var orderNames = map[ir.Order]string{ir.Weak: "monotonic", ir.Relaxed: "monotonic", ir.Acquire: "acquire", ir.Release: "release", ir.AcqRel: "acq_rel", ir.SeqCst: "seq_cst"}

// orderedLoad loads what fits 8 bytes at once: elements of a vector that share them are never seen apart on hardware, though to PTX they
// are accesses of their own.
func (e *emitter) orderedLoad(in *ir.Inst) {
	order := orderNames[in.Order]
	if in.Order == ir.Release || in.Order == ir.AcqRel {
		order = "acquire"
	}
	a := e.val(in.Args[0])
	bytes, each := e.shares(in, in.Results)
	t := ll.IntType(8 * bytes * each)
	for i := 0; i < len(in.Results); i += each {
		p := e.pointer(in.Space, e.Add(a, ll.Int("i64", int64(i*bytes))))
		x := e.LoadAs(t, p, ll.Access{Align: bytes * each, Order: e.scope(in.Scope) + order})
		for j, r := range in.Results[i : i+each] {
			y := x
			if j > 0 {
				y = e.LShr(x, ll.Int(t, int64(8*bytes*j)))
			}
			if each > 1 {
				y = e.Trunc(y, ll.IntType(8*bytes))
			}
			e.set(r, e.fromMemory(y, r.Type))
		}
	}
}

// shares is the bytes of an element of an ordered access, and how many of them go together.
func (e *emitter) shares(in *ir.Inst, vs []*ir.Value) (bytes, each int) {
	bytes = max(vs[0].Type.Bits()/8, 1)
	if bytes > 8 {
		e.fail("an ordered %s of %d bytes", in.Op, bytes)
	}
	return bytes, min(len(vs), 8/bytes)
}

func (e *emitter) orderedStore(in *ir.Inst) {
	order := orderNames[in.Order]
	if in.Order == ir.Acquire || in.Order == ir.AcqRel {
		order = "release"
	}
	a, vs := e.val(in.Args[0]), in.Args[1:]
	bytes, each := e.shares(in, vs)
	t := ll.IntType(8 * bytes * each)
	for i := 0; i < len(vs); i += each {
		x := e.stored(vs[i : i+1])
		if each > 1 {
			x = e.ZExt(x, t)
		}
		for j := 1; j < each; j++ {
			y := e.ZExt(e.stored(vs[i+j:i+j+1]), t)
			x = e.Or(x, e.Shl(y, ll.Int(t, int64(8*bytes*j))))
		}
		p := e.pointer(in.Space, e.Add(a, ll.Int("i64", int64(i*bytes))))
		e.StoreAs(x, p, ll.Access{Align: bytes * each, Order: e.scope(in.Scope) + order})
	}
}

// scope is the words of a synchronisation scope, for LLVM's atomics.
func (e *emitter) scope(s ir.Scope) string {
	switch s {
	case ir.ScopeCTA:
		return `syncscope("workgroup") `
	case ir.ScopeCluster, ir.ScopeGPU:
		return `syncscope("agent") `
	}
	return ""
}

// emitCopyAsync copies at once: 4, 8 or 16 bytes, of which those past the count are zero. Each word is asked for by itself.
func emitCopyAsync(e *emitter, in *ir.Inst) {
	a := e.operands(in)
	for off := int64(0); off < int64(in.Bytes); off += 4 {
		word := e.NewLabel("copy")
		some, zero, join := word+".some", word+".zero", word+".join"
		have := e.Sub(a[2], ll.Int("i32", off))
		e.CondBr(e.ICmp("sgt", have, ll.Int("i32", 0)), some, zero)
		e.Label(some)
		p := e.pointer(ir.Global, e.Add(a[1], ll.Int("i64", off)))
		x := e.Load("i32", p, 4)
		// Of the last word only the first bytes count.
		cutOff := e.Shl(e.Intr("usub.sat", ll.Int("i32", 4), e.Intr("umin", have, ll.Int("i32", 4))), ll.Int("i32", 3))
		x = e.LShr(e.Shl(x, cutOff), cutOff)
		e.Br(join)
		e.Label(zero)
		e.Br(join)
		e.Label(join)
		v := e.Phi("i32")
		v.Add(x, some)
		v.Add(ll.Int("i32", 0), zero)
		e.Store(v.Val, e.pointer(ir.Shared, e.Add(a[0], ll.Int("i64", off))), 4)
	}
}

// emitPrefetch is a hint that nothing depends on.
func emitPrefetch(*emitter, *ir.Inst) {}

// emitFence orders memory as LLVM's fence does.
func emitFence(e *emitter, in *ir.Inst) {
	order := orderNames[in.Order]
	if order == "monotonic" {
		order = "acq_rel"
	}
	e.Fence(e.scope(in.Scope) + order)
}
