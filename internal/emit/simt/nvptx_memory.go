package simt

import (
	"fmt"
	"strings"

	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

func fillNVPTXMemory(put func(way Way, fn emitFn, ops ...ir.Op)) {
	put(Native, nvLoad, ir.Load)
	put(Native, nvStore, ir.Store)
	put(Assembly, nvAtomic, ir.Atomic)
	put(Assembly, nvCAS, ir.AtomicCAS)
	put(Assembly, nvFence, ir.Fence)
	put(Assembly, nvCopyAsync, ir.CopyAsync)
	put(Assembly, nvPrefetch, ir.Prefetch)
	put(Native, nvIsSpace, ir.IsSpace)
	put(Native, nvSReg, ir.SReg)
	put(Assembly, nvClock, ir.Clock)
	put(Native, nvShfl, ir.Shfl)
	put(Native, nvVote, ir.VoteAny, ir.VoteAll, ir.VoteUni, ir.Ballot)
	put(Assembly, nvMatch, ir.MatchAny, ir.MatchAll)
	put(Assembly, nvRedux, ir.Redux)
	put(Assembly, nvActiveMask, ir.ActiveMask)
	put(Assembly, nvElect, ir.Elect)
	put(Assembly, nvWarpSync, ir.WarpSync)
	put(Assembly, nvBar, ir.Bar)
	put(Native, nvCallRt, ir.CallRt)
	put(Kept, nvAsm, ir.Asm, ir.AsmPure)
}

// nvAsm is an instruction of the program as it was.
func nvAsm(e *emitter, in *ir.Inst) {
	kind := together
	if in.Op == ir.AsmPure {
		kind = pure
	}
	var types []ll.Type
	for _, r := range in.Results {
		types = append(types, typ(r.Type))
	}
	out := e.asmTied(strings.ReplaceAll(in.Sym, `"`, ""), kind, int(in.Tied), types, e.operands(in)...)
	for i, r := range in.Results {
		e.set(r, out[i])
	}
}

var nvSpaces = map[ir.Space]string{ir.Generic: "", ir.Global: ".global", ir.Shared: ".shared", ir.Local: ".local", ir.Const: ".const", ir.ParamSpace: ""}

var nvOrders = map[ir.Order]string{ir.Relaxed: ".relaxed", ir.Acquire: ".acquire", ir.Release: ".release", ir.AcqRel: ".acq_rel", ir.SeqCst: ".sc"}

var nvScopes = map[ir.Scope]string{ir.ScopeCTA: ".cta", ir.ScopeCluster: ".cluster", ir.ScopeGPU: ".gpu", ir.ScopeSys: ".sys"}

// nvLoad is LLVM's load, or the instruction where it orders memory. Constant addresses that a register computes are read as constants too.
func nvLoad(e *emitter, in *ir.Inst) {
	if plain(in) {
		emitLoad(e, in)
		return
	}
	n := len(in.Results)
	text := "ld" + nvOrders[in.Order] + nvScopes[in.Scope] + nvSpaces[in.Space]
	var types []ll.Type
	var regs []string
	for i, r := range in.Results {
		types = append(types, ll.IntType(r.Type.Bits()))
		regs = append(regs, fmt.Sprintf("$%d", i))
	}
	list := regs[0]
	if n > 1 {
		text += fmt.Sprintf(".v%d", n)
		list = "{" + strings.Join(regs, ", ") + "}"
	}
	out := e.asm(fmt.Sprintf("%s.b%d %s, [$%d];", text, in.Results[0].Type.Bits(), list, n), sideEffect, types, e.val(in.Args[0]))
	for i, r := range in.Results {
		e.set(r, e.Bitcast(out[i], typ(r.Type)))
	}
}

func nvStore(e *emitter, in *ir.Inst) {
	if plain(in) {
		emitStore(e, in)
		return
	}
	text := "st" + nvOrders[in.Order] + nvScopes[in.Scope] + nvSpaces[in.Space]
	args := []ll.Val{e.val(in.Args[0])}
	var regs []string
	for i, v := range in.Args[1:] {
		args = append(args, e.Bits(e.val(v)))
		regs = append(regs, fmt.Sprintf("$%d", i+1))
	}
	list := regs[0]
	if len(regs) > 1 {
		text += fmt.Sprintf(".v%d", len(regs))
		list = "{" + strings.Join(regs, ", ") + "}"
	}
	e.asm(fmt.Sprintf("%s.b%d [$0], %s;", text, in.Args[1].Type.Bits(), list), sideEffect, nil, args...)
}

// nvAtomWords are the operation and the type as atom spells them.
func nvAtomWords(op ir.AtomOp, t ir.Type) string {
	bits := t.Bits()
	float := map[ir.Type]string{ir.F16: ".noftz.f16", ir.BF16: ".noftz.bf16", ir.F16x2: ".noftz.f16x2", ir.BF16x2: ".noftz.bf16x2", ir.F32: ".f32", ir.F64: ".f64"}[t]
	switch op {
	case ir.AtomAdd:
		if float != "" {
			return ".add" + float
		}
		return fmt.Sprintf(".add.u%d", bits)
	case ir.AtomMinS:
		return fmt.Sprintf(".min.s%d", bits)
	case ir.AtomMinU:
		return fmt.Sprintf(".min.u%d", bits)
	case ir.AtomMaxS:
		return fmt.Sprintf(".max.s%d", bits)
	case ir.AtomMaxU:
		return fmt.Sprintf(".max.u%d", bits)
	case ir.AtomAnd:
		return fmt.Sprintf(".and.b%d", bits)
	case ir.AtomOr:
		return fmt.Sprintf(".or.b%d", bits)
	case ir.AtomXor:
		return fmt.Sprintf(".xor.b%d", bits)
	case ir.AtomExch:
		return fmt.Sprintf(".exch.b%d", bits)
	case ir.AtomInc:
		return fmt.Sprintf(".inc.u%d", bits)
	case ir.AtomDec:
		return fmt.Sprintf(".dec.u%d", bits)
	case ir.AtomFMin:
		return ".min" + float
	case ir.AtomFMax:
		return ".max" + float
	}
	return ""
}

func nvAtomic(e *emitter, in *ir.Inst) {
	t := in.Args[1].Type
	if in.AtomOp == ir.AtomFMin || in.AtomOp == ir.AtomFMax { // vectors' only, which the IR takes apart
		emitAtomic(e, in)
		return
	}
	words := nvOrders[in.Order] + nvScopes[in.Scope] + nvSpaces[in.Space] + nvAtomWords(in.AtomOp, t)
	a, v := e.val(in.Args[0]), e.val(in.Args[1])
	if in.AtomOp == ir.AtomExch {
		v = e.Bits(v)
	}
	if len(in.Results) == 0 {
		if in.AtomOp != ir.AtomExch && (in.Order == ir.Relaxed || in.Order == ir.Release) {
			e.asm("red"+words+" [$0], $1;", sideEffect, nil, a, v)
			return
		}
		e.asm("atom"+words+" $0, [$1], $2;", sideEffect, []ll.Type{v.T}, a, v)
		return
	}
	old := e.asm("atom"+words+" $0, [$1], $2;", sideEffect, []ll.Type{v.T}, a, v)[0]
	e.result(in, e.Bitcast(old, typ(t)))
}

func nvCAS(e *emitter, in *ir.Inst) {
	t := in.Args[1].Type
	words := nvOrders[in.Order] + nvScopes[in.Scope] + nvSpaces[in.Space]
	old := e.asm(fmt.Sprintf("atom%s.cas.b%d $0, [$1], $2, $3;", words, t.Bits()), sideEffect, []ll.Type{ll.IntType(t.Bits())},
		e.val(in.Args[0]), e.Bits(e.val(in.Args[1])), e.Bits(e.val(in.Args[2])))[0]
	e.result(in, e.Bitcast(old, typ(t)))
}

func nvFence(e *emitter, in *ir.Inst) {
	words := nvOrders[in.Order]
	if in.Order == ir.Acquire || in.Order == ir.Release || in.Order == ir.Relaxed || in.Order == ir.Weak {
		words = ".acq_rel" // one-sided fences are newer than most targets
	}
	scope := nvScopes[in.Scope]
	if in.Scope == ir.ScopeCluster && e.t.(nvptx).sm < 90 {
		scope = ".gpu"
	}
	e.asm("fence"+words+scope+";", sideEffect, nil)
}

// nvCopyAsync waits at once: the IR's copies are done where they stand.
func nvCopyAsync(e *emitter, in *ir.Inst) {
	if e.t.(nvptx).sm < 80 {
		emitCopyAsync(e, in)
		return
	}
	text := fmt.Sprintf("cp.async.ca.shared.global [$0], [$1], %d, $2; cp.async.wait_all;", in.Bytes)
	e.asm(text, sideEffect, nil, e.operands(in)...)
}

func nvPrefetch(e *emitter, in *ir.Inst) {
	if in.Space == ir.Global || in.Space == ir.Generic {
		e.asm("prefetch"+nvSpaces[in.Space]+".L1 [$0];", sideEffect, nil, e.operands(in)...)
	}
}

func nvIsSpace(e *emitter, in *ir.Inst) {
	a := e.val(in.Args[0])
	name := map[ir.Space]string{ir.Global: "global", ir.Shared: "shared", ir.Local: "local", ir.Const: "const"}[in.Space]
	if name == "" {
		e.one(in, "isspacep.param $0, $1;", a)
		return
	}
	p := e.IntToPtr(a, "ptr")
	e.result(in, e.Call("i1", "llvm.nvvm.isspacep."+name, p))
}

// nvSReg reads a special register; those that do not change while a thread lives by intrinsic.
func nvSReg(e *emitter, in *ir.Inst) {
	name := in.Sreg.String()
	t := typ(in.Results[0].Type)
	switch in.Sreg {
	case ir.TidX, ir.TidY, ir.TidZ, ir.NtidX, ir.NtidY, ir.NtidZ, ir.CtaidX, ir.CtaidY, ir.CtaidZ, ir.NctaidX, ir.NctaidY, ir.NctaidZ:
		e.widened(in, e.Call("i32", "llvm.nvvm.read.ptx.sreg."+name))
	case ir.LaneID:
		e.widened(in, e.Call("i32", "llvm.nvvm.read.ptx.sreg.laneid"))
	case ir.IsExplicitCluster:
		p := e.asm("mov.pred $0, %is_explicit_cluster;", pure, []ll.Type{"i1"})[0]
		e.result(in, e.ZExt(p, t))
	case ir.GridID:
		v := e.asm("mov.u64 $0, %gridid;", sideEffect, []ll.Type{"i64"})[0]
		e.result(in, e.Resize(v, t.Bits()))
	case ir.EnvReg1, ir.EnvReg2, ir.WarpID, ir.NWarpID, ir.SMID, ir.NSMID:
		e.widened(in, e.asm("mov.u32 $0, %"+name+";", sideEffect, []ll.Type{"i32"})[0])
	default:
		e.widened(in, e.asm("mov.u32 $0, %"+name+";", pure, []ll.Type{"i32"})[0])
	}
}

// widened gives a 32-bit number to a result that may be wider.
func (e *emitter) widened(in *ir.Inst, x ll.Val) {
	e.result(in, e.Resize(x, in.Results[0].Type.Bits()))
}

func nvClock(e *emitter, in *ir.Inst) {
	t := typ(in.Results[0].Type)
	switch in.Sreg {
	case ir.Clock64, ir.GlobalTimer:
		v := e.asm("mov.u64 $0, %"+in.Sreg.String()+";", sideEffect, []ll.Type{"i64"})[0]
		e.result(in, e.Resize(v, t.Bits()))
	default:
		e.widened(in, e.asm("mov.u32 $0, %"+in.Sreg.String()+";", sideEffect, []ll.Type{"i32"})[0])
	}
}

var nvShufs = map[ir.ShufMode]string{ir.ShufUp: "up", ir.ShufDown: "down", ir.ShufBfly: "bfly", ir.ShufIdx: "idx"}

func nvShfl(e *emitter, in *ir.Inst) {
	a := e.operands(in)
	v := e.Bits(a[0])
	if v.T.Bits() != 32 {
		e.fail("shfl of %s", in.Args[0].Type)
	}
	name := "llvm.nvvm.shfl.sync." + nvShufs[in.Shuf] + ".i32p"
	r := e.Call("{ i32, i1 }", name, a[3], v, a[1], a[2])
	e.set(in.Results[0], e.Bitcast(e.ExtractValue(r, 0), typ(in.Results[0].Type)))
	if len(in.Results) > 1 {
		e.set(in.Results[1], e.ExtractValue(r, 1))
	}
}

func nvVote(e *emitter, in *ir.Inst) {
	a := e.operands(in)
	name := map[ir.Op]string{ir.VoteAny: "any", ir.VoteAll: "all", ir.VoteUni: "uni", ir.Ballot: "ballot"}[in.Op]
	e.result(in, e.Call(typ(in.Results[0].Type), "llvm.nvvm.vote."+name+".sync", a[1], a[0]))
}

func nvMatch(e *emitter, in *ir.Inst) {
	a := e.operands(in)
	bits := a[0].T.Bits()
	if in.Op == ir.MatchAny {
		e.result(in, e.asm(fmt.Sprintf("match.any.sync.b%d $0, $1, $2;", bits), together, []ll.Type{"i32"}, a...)[0])
		return
	}
	out := e.asm(fmt.Sprintf("match.all.sync.b%d $0|$1, $2, $3;", bits), together, []ll.Type{"i32", "i1"}, a...)
	for i, r := range in.Results {
		e.set(r, out[i])
	}
}

func nvRedux(e *emitter, in *ir.Inst) {
	a := e.operands(in)
	if in.Args[0].Type != ir.I32 || e.t.(nvptx).sm < 80 {
		e.fail("redux of %s on this target", in.Args[0].Type)
	}
	words := map[ir.AtomOp]string{ir.AtomAdd: "add.s32", ir.AtomMinS: "min.s32", ir.AtomMinU: "min.u32", ir.AtomMaxS: "max.s32", ir.AtomMaxU: "max.u32",
		ir.AtomAnd: "and.b32", ir.AtomOr: "or.b32", ir.AtomXor: "xor.b32"}[in.AtomOp]
	if words == "" {
		e.fail("redux %s", in.AtomOp)
	}
	op, t, _ := strings.Cut(words, ".")
	e.result(in, e.asm(fmt.Sprintf("redux.sync.%s.%s $0, $1, $2;", op, t), together, []ll.Type{"i32"}, a...)[0])
}

func nvActiveMask(e *emitter, in *ir.Inst) {
	e.result(in, e.asm("activemask.b32 $0;", together, []ll.Type{"i32"})[0])
}

func nvElect(e *emitter, in *ir.Inst) {
	if e.t.(nvptx).sm < 90 {
		e.fail("elect on this target")
	}
	out := e.asm("elect.sync $0|$1, $2;", together, []ll.Type{"i32", "i1"}, e.operands(in)...)
	for i, r := range in.Results {
		e.set(r, out[i])
	}
}

func nvWarpSync(e *emitter, in *ir.Inst) {
	e.asm("bar.warp.sync $0;", together, nil, e.operands(in)...)
}

// nvBar: bar.sync is for warps that come as a whole, which Aligned says the program promised.
func nvBar(e *emitter, in *ir.Inst) {
	if in.Args[0].Const && in.Args[0].Bits == ir.BarWarpgroup { // programs may name all that the hardware has
		e.fail("wgmma.wait_group in a kernel with mbarriers")
	}
	a := e.operands(in)
	aligned := ""
	if in.Aligned {
		aligned = ".aligned"
	}
	counted := !in.Args[1].Const || in.Args[1].Bits != 0
	id, used := "$0", a[:1]
	if in.Args[0].Const {
		id, used = fmt.Sprint(in.Args[0].Bits), nil
	}
	switch in.BarKind {
	case ir.BarSync:
		text := "barrier.sync" + aligned + " " + id
		if counted {
			text += fmt.Sprintf(", $%d", len(used))
			used = append(used[:len(used):len(used)], a[1])
		}
		e.asm(text+";", together, nil, used...)
	case ir.BarArrive:
		e.asm(fmt.Sprintf("barrier.arrive%s $0, $1;", aligned), together, nil, a[0], a[1])
	default:
		words := map[ir.BarKind]string{ir.BarRedPopc: "popc", ir.BarRedAnd: "and", ir.BarRedOr: "or"}[in.BarKind]
		t := "u32"
		if in.BarKind != ir.BarRedPopc {
			t = "pred"
		}
		text := fmt.Sprintf("barrier.red.%s%s.%s $0, $1", words, aligned, t)
		args := []ll.Val{a[0]}
		if counted {
			text += ", $2"
			args = append(args, a[1])
		}
		text += fmt.Sprintf(", $%d;", len(args)+1)
		e.result(in, e.asm(text, together, []ll.Type{typ(in.Results[0].Type)}, append(args, a[2])...)[0])
	}
}

// nvRuntime are the functions that NVIDIA's driver links in.
var nvRuntime = map[string]struct {
	ret  ll.Type
	name string
}{
	"vprintf": {"i32", "vprintf"}, "malloc": {"i64", "malloc"}, "free": {"void", "free"}, "__assertfail": {"void", "__assertfail"},
}

// nvCallRt calls the driver's device runtime.
func nvCallRt(e *emitter, in *ir.Inst) {
	if in.Sym == "nanosleep" {
		e.asm("nanosleep.u32 $0;", sideEffect, nil, e.operands(in)...)
		return
	}
	rt, ok := nvRuntime[in.Sym]
	if !ok {
		e.fail("the runtime's %s", in.Sym)
	}
	args := e.operands(in)
	if in.Sym == "__assertfail" {
		args = append(args, ll.Int("i64", 1)) // bytes of a character
	}
	r := e.Call(rt.ret, rt.name, args...)
	if len(in.Results) > 0 {
		e.result(in, r)
	}
}
