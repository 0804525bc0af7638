package lower

import (
	"math/bits"

	"kudzu/internal/image"
	"kudzu/internal/ir"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
)

func lowerMov(x *inst) {
	d, a := &x.Args[0], &x.Args[1]
	t := x.opType(0)
	switch {
	case x.Mod("vec") != 0:
		x.setElems(0, t, x.elems("a", t))
	case d.Kind == ptx.OpVec:
		x.unpack(d, a, t)
	case a.Kind == ptx.OpVec:
		x.result(x.pack(a, t))
	default:
		x.result(x.bareValue(a, t))
	}
}

// pack joins the elements of {a, b, …}, the first one lowest.
func (x *inst) pack(o *ptx.Operand, t isa.Type) *ir.Value {
	w := irTypes[t]
	part := w.Bits() / len(o.Elems)
	pt := isa.BitsType(part)
	if pt == isa.TypeNone {
		x.fail("%s of %d parts", x.spelling(), len(o.Elems))
	}
	var vs []*ir.Value
	for i := range o.Elems {
		vs = append(vs, x.bareValue(&o.Elems[i], pt))
	}
	return x.b.Emit(ir.Pack, w, ir.Attr{}, vs...)
}

// unpack cuts a into the elements of the destination {d, e, …}.
func (x *inst) unpack(d, a *ptx.Operand, t isa.Type) {
	v := x.bareValue(a, t)
	pt := isa.BitsType(irTypes[t].Bits() / len(d.Elems))
	if pt == isa.TypeNone {
		x.fail("%s of %d parts", x.spelling(), len(d.Elems))
	}
	var types []ir.Type
	for i := range d.Elems {
		types = append(types, x.bare(&d.Elems[i], pt))
	}
	u := x.b.EmitN(ir.Unpack, types, ir.Attr{}, v)
	for i := range d.Elems {
		x.setOperand(&d.Elems[i], pt, u.Results[i])
	}
}

// sregs maps PTX's special registers to the IR's; vectors by their first element.
var sregs = map[isa.SReg]ir.SpecialReg{
	isa.SRegTid: ir.TidX, isa.SRegNtid: ir.NtidX, isa.SRegCtaid: ir.CtaidX, isa.SRegNctaid: ir.NctaidX,
	isa.SRegLaneid: ir.LaneID, isa.SRegWarpid: ir.WarpID, isa.SRegNwarpid: ir.NWarpID, isa.SRegSmid: ir.SMID, isa.SRegNsmid: ir.NSMID,
	isa.SRegGridid:     ir.GridID,
	isa.SRegLanemaskEq: ir.LanemaskEQ, isa.SRegLanemaskLe: ir.LanemaskLE, isa.SRegLanemaskLt: ir.LanemaskLT,
	isa.SRegLanemaskGe: ir.LanemaskGE, isa.SRegLanemaskGt: ir.LanemaskGT,
	isa.SRegClock: ir.ClockLo, isa.SRegClockHi: ir.ClockHi, isa.SRegClock64: ir.Clock64,
	isa.SRegGlobaltimer: ir.GlobalTimer, isa.SRegGlobaltimerLo: ir.GlobalTimerLo, isa.SRegGlobaltimerHi: ir.GlobalTimerHi,
	isa.SRegDynamicSmemSize: ir.DynamicSmem,
	isa.SRegClusterid:       ir.ClusterIDX, isa.SRegNclusterid: ir.NClusterIDX, isa.SRegClusterCtaid: ir.ClusterCtaIDX, isa.SRegClusterNctaid: ir.ClusterNctaIDX,
	isa.SRegClusterCtarank: ir.ClusterCtaRank, isa.SRegClusterNctarank: ir.ClusterNctaRank, isa.SRegIsExplicitCluster: ir.IsExplicitCluster,
}

// special reads a special register as the type it has.
func (x *inst) special(o *ptx.Operand) *ir.Value {
	r, ok := sregs[o.SReg]
	t := irTypes[o.SReg.Type()]
	if !ok {
		switch {
		case o.SReg == isa.SRegEnvreg0+1:
			return x.b.Emit(ir.SReg, t, ir.Attr{Sreg: ir.EnvReg1})
		case o.SReg == isa.SRegEnvreg0+2:
			return x.b.Emit(ir.SReg, t, ir.Attr{Sreg: ir.EnvReg2})
		case o.SReg == isa.SRegTotalSmemSize:
			return x.sharedTotal()
		case o.SReg == isa.SRegAggrSmemSize:
			return x.op(ir.Add, x.sharedTotal(), i32(image.SharedReserved))
		case inReserved(o.SReg) && x.plan.reserved && !x.opts.GPU:
			return x.reservedOffset(o.SReg)
		case o.SReg >= isa.SRegPm0 && o.SReg < isa.NumSRegs, o.SReg == isa.SRegCurrentGraphExec:
			// Performance monitors do not run here, environment registers hold nothing, no kernel is part of a device graph.
			return ir.ConstInt(t, 0)
		}
		x.fail("special register %v", o.SReg)
	}
	if o.SReg.Vec() {
		if o.Elem < 0 {
			x.fail("special register %v as a whole", o.SReg)
		}
		if o.Elem == 3 {
			return ir.ConstInt(t, 0) // .w is always 0
		}
		r += ir.SpecialReg(o.Elem)
	}
	switch r {
	case ir.ClockLo, ir.ClockHi, ir.Clock64, ir.GlobalTimer, ir.GlobalTimerLo, ir.GlobalTimerHi:
		return x.b.Emit(ir.Clock, t, ir.Attr{Sreg: r}) // each read is another value
	case ir.IsExplicitCluster:
		return x.icmp(ir.NE, x.b.Emit(ir.SReg, ir.I32, ir.Attr{Sreg: r}), i32(0))
	}
	return x.b.Emit(ir.SReg, t, ir.Attr{Sreg: r})
}

// raw reads an address operand at its register's own width, as 64 bits.
func (x *inst) raw(name string) *ir.Value {
	o := &x.Args[x.index(name)]
	switch o.Kind {
	case ptx.OpReg:
		return x.resize(x.regValue(o), 64, false)
	case ptx.OpVar:
		return x.variableAddr(o)
	}
	return x.value(o, isa.U64)
}

func lowerIsspacep(x *inst) {
	sp := x.space(x.spaceWord())
	a := x.cast(x.raw("a"), ir.I64)
	if x.opts.GPU || sp != ir.Const && sp != ir.Global {
		x.result(x.b.Emit(ir.IsSpace, ir.I1, ir.Attr{Space: sp}, a))
		return
	}
	// Constants lie among what is global; which they are the module says.
	in := ir.ConstInt(ir.I1, 0)
	for _, v := range x.m.Vars {
		if v.Space == ptx.SpaceConst && v.Linkage != ptx.Extern {
			at := x.b.Emit(ir.VarAddr, ir.I64, ir.Attr{Sym: x.module(v.LinkName())})
			in = x.op(ir.Or, in, x.icmp(ir.LO, x.op(ir.Sub, a, at), ir.ConstInt(ir.I64, max(v.Size, 1))))
		}
	}
	if sp == ir.Global {
		global := x.b.Emit(ir.IsSpace, ir.I1, ir.Attr{Space: sp}, a)
		in = x.op(ir.And, global, x.op(ir.Xor, in, ir.ConstInt(ir.I1, 1)))
	}
	x.result(in)
}

func lowerCvta(x *inst) {
	sp := x.space(x.spaceWord())
	if o := &x.Args[1]; o.Kind == ptx.OpVar && o.Var != nil {
		sp = spaceOfVar(o.Var)
	}
	x.result(x.asType(x.toGeneric(x.cast(x.raw("a"), ir.I64), sp), x.opType(0)))
}

func lowerCvtaTo(x *inst) {
	x.result(x.asType(x.fromGeneric(x.cast(x.raw("a"), ir.I64), x.space(x.spaceWord())), x.opType(0)))
}

// lowerMapa: a block that is alone in its cluster has its own shared memory to map, and no other.
func lowerMapa(x *inst) {
	if x.alone() {
		x.result(x.arg("a"))
		return
	}
	a := x.arg("a")
	far := x.op(ir.Sub, x.arg("b"), x.clusterRank())
	if a.Type == ir.I64 {
		far = x.resize(far, 64, true)
	}
	x.result(x.op(ir.Add, a, x.op(ir.Mul, far, ir.ConstInt(a.Type, image.ClusterStride))))
}

func lowerGetctarank(x *inst) {
	if x.alone() {
		x.result(i32(0))
		return
	}
	a := x.arg("a")
	if x.spaceWord() == 0 {
		a = x.fromGeneric(x.cast(a, ir.I64), ir.Shared)
	}
	far := x.resize(x.op(ir.ShrS, a, ir.ConstInt(ir.I32, uint64(bits.TrailingZeros(image.ClusterStride)))), 32, true)
	x.result(x.op(ir.Add, far, x.clusterRank()))
}

func (x *inst) clusterRank() *ir.Value {
	return x.b.Emit(ir.SReg, ir.I32, ir.Attr{Sreg: ir.ClusterCtaRank})
}

// alone reports that the kernel is compiled for blocks that are clusters of their own. One that says otherwise is not.
func (x *inst) alone() bool {
	if x.opts.Clusters {
		return false
	}
	f := x.fr
	for f.parent != nil {
		f = f.parent
	}
	for _, d := range f.fn.Perf {
		if d.Name == "reqnctapercluster" || d.Name == "explicitcluster" {
			x.fail("%s in a kernel with clusters", x.spelling())
		}
	}
	return true
}

var shufModes = map[isa.Mod]ir.ShufMode{isa.ModUp: ir.ShufUp, isa.ModDown: ir.ShufDown, isa.ModBfly: ir.ShufBfly, isa.ModIdx: ir.ShufIdx}

func lowerShfl(x *inst) {
	a := x.bareValue(&x.Args[1], isa.B32)
	b, c := x.arg("b"), x.arg("c")
	m := x.members()
	types := []ir.Type{a.Type}
	if x.wantsSecond(0) {
		types = append(types, ir.I1)
	}
	in := x.b.EmitN(ir.Shfl, types, ir.Attr{Shuf: shufModes[x.Mod("mode")]}, a, b, c, m)
	x.result(in.Results[0])
	if len(types) > 1 {
		x.second(0, isa.Pred, func() *ir.Value { return in.Results[1] })
	}
}

// members is the membermask of a warp operation; the old forms without .sync mean whoever is there.
func (x *inst) members() *ir.Value {
	if x.has("membermask") {
		return x.arg("membermask")
	}
	return x.b.Emit(ir.ActiveMask, ir.I32, ir.Attr{})
}
