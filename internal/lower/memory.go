package lower

import (
	"kudzu/internal/ir"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
)

var orders = map[isa.Mod]ir.Order{
	isa.ModRelaxed: ir.Relaxed, isa.ModAcquire: ir.Acquire, isa.ModRelease: ir.Release, isa.ModAcqRel: ir.AcqRel, isa.ModSc: ir.SeqCst,
}

var memScopes = map[isa.Mod]ir.Scope{
	isa.ModCta: ir.ScopeCTA, isa.ModCluster: ir.ScopeCluster, isa.ModGpu: ir.ScopeGPU, isa.ModSys: ir.ScopeSys, isa.ModGl: ir.ScopeGPU,
}

// access is what a load's or store's words say. Cache operators, eviction priorities and prefetch sizes mean nothing here.
func (x *inst) access(sp ir.Space) ir.Attr {
	a := ir.Attr{Space: sp, Volatile: x.Has(isa.ModVolatile), Order: orders[x.OptMod("sem")], Scope: memScopes[x.OptMod("scope")]}
	if x.Has(isa.ModMmio) {
		a.Volatile = true
	}
	if x.Has(isa.ModNc) || x.Op() == isa.Ldu || sp == ir.Const || sp == ir.ParamSpace {
		a.ReadOnly = true
	}
	return a
}

var vecSizes = map[isa.Mod]int{isa.ModV2: 2, isa.ModV4: 4, isa.ModV8: 8}

func (x *inst) vecSize() int { return max(vecSizes[x.Mod("vec")], 1) }

// align is the alignment PTX demands of an access: its whole size.
func align(t isa.Type, n int) uint8 { return uint8(min(t.Bytes()*n, 64)) }

// elements are the operands of a vector, or the operand itself.
func elements(o *ptx.Operand) []ptx.Operand {
	if o.Kind == ptx.OpVec {
		return o.Elems
	}
	return []ptx.Operand{*o}
}

func lowerLd(x *inst) {
	t, n := x.Type("type"), x.vecSize()
	o := &x.Args[x.index("a")]
	ds := elements(&x.Args[0])
	var types []ir.Type
	for i := range ds {
		types = append(types, x.bare(&ds[i], t))
	}
	sp := x.space(x.spaceWord())
	var vs []*ir.Value
	switch {
	case o.Base == ptx.OpVar && isCallParam(o.Var):
		for i, w := range types {
			vs = append(vs, x.readParam(x.fr.params[o.Var], int(int64(o.Imm))+i*t.Bytes(), w))
		}
	case o.Base == ptx.OpVar && o.Var != nil && o.Var.Role == ptx.KernelParam && x.inParams(o, t, n):
		for i, w := range types {
			off := int64(o.Var.Offset) + int64(o.Imm) + int64(i*t.Bytes())
			vs = append(vs, x.b.Emit(ir.Param, w, ir.Attr{Off: off}))
		}
	default:
		attr := x.access(sp)
		attr.Align = align(t, n)
		vs = x.b.EmitN(ir.Load, types, attr, x.address(o, sp)).Results
	}
	for i := range ds {
		x.setOperand(&ds[i], t, vs[i])
	}
}

// inParams reports that an access lies inside the kernel's parameter block.
func (x *inst) inParams(o *ptx.Operand, t isa.Type, n int) bool {
	at := int64(o.Var.Offset) + int64(o.Imm)
	return at >= 0 && at+int64(t.Bytes()*n) <= int64(x.out.ParamBytes)
}

func lowerSt(x *inst) {
	t, n := x.Type("type"), x.vecSize()
	o := &x.Args[x.index("a")]
	srcs := elements(&x.Args[x.index("b")])
	var vs []*ir.Value
	for i := range srcs {
		vs = append(vs, x.bareValue(&srcs[i], t))
	}
	if o.Base == ptx.OpVar && isCallParam(o.Var) {
		for i, v := range vs {
			x.writeParam(x.fr.params[o.Var], int(int64(o.Imm))+i*t.Bytes(), v)
		}
		return
	}
	sp := x.space(x.spaceWord())
	if sp == ir.ParamSpace {
		x.fail("a store to the kernel's parameters")
	}
	attr := x.access(sp)
	attr.Align = align(t, n)
	x.b.EmitN(ir.Store, nil, attr, append([]*ir.Value{x.address(o, sp)}, vs...)...)
}

// lowerPrefetch: a warp that asks for lines of global memory in the first cache gets 4 bytes a lane from its first lane's address on,
// which is what warps ask for that are about to store. Other prefetches are left to the processor.
func lowerPrefetch(x *inst) {
	if x.Has(isa.ModTensormap) {
		return
	}
	sp := x.space(x.spaceWord())
	attr := ir.Attr{Space: sp}
	if sp == ir.Global && x.Has(isa.ModL1) {
		attr.Bytes = 4
	}
	x.b.EmitN(ir.Prefetch, nil, attr, x.address(&x.Args[0], sp))
}

// lowerCreatepolicy: a policy only steers caches; any value will do.
func lowerCreatepolicy(x *inst) { x.result(i64(0)) }
