package simt

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"kudzu/internal/devrt"
	"kudzu/internal/emit"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// amdgcn is AMD's GPUs through LLVM's AMDGPU target: the result is an object that internal/codeobject links. A warp of the
// program is 32 lanes: a wave where waves have 32, half of one where they have 64.
type amdgcn struct {
	name  string
	major int // generation: 9 is GCN and CDNA, 10 RDNA1 and 2, 11 RDNA3, 12 RDNA4
	wave  int
}

// amdgcnTargets are the processors that code was compiled for in tests.
var amdgcnTargets = map[string]amdgcn{}

func init() {
	for _, name := range []string{"gfx1010", "gfx1030", "gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1200", "gfx1201"} {
		amdgcnTargets[name] = amdgcn{name, int(name[3]-'0')*10 + int(name[4]-'0'), 32}
	}
	for _, name := range []string{"gfx906", "gfx908", "gfx90a", "gfx942"} {
		amdgcnTargets[name] = amdgcn{name, 9, 64}
	}
}

func amdgcnNames() string { return strings.Join(slices.Sorted(maps.Keys(amdgcnTargets)), ", ") }

var (
	amdgcnOwn  [ir.NumOps]emitFn
	amdgcnWays [ir.NumOps]Way
)

func (t amdgcn) triple() string { return "amdgcn-amd-amdhsa" }

func (t amdgcn) features() string {
	if t.wave == 64 {
		return ""
	}
	return "+wavefrontsize32"
}

func (t amdgcn) narrow(sp ir.Space) bool { return sp == ir.Shared || sp == ir.Local }

func (t amdgcn) attributes(flush bool, threads int) []string {
	mode := "ieee,ieee"
	if flush {
		mode = "preserve-sign,preserve-sign"
	}
	list := []string{"nounwind", "convergent", "null_pointer_is_valid", `"no-builtins"`, fmt.Sprintf("%q=\"1,%d\"", "amdgpu-flat-work-group-size", threads), `"uniform-work-group-size"="true"`,
		`"denormal-fp-math"="ieee,ieee"`, fmt.Sprintf("%q=%q", "denormal-fp-math-f32", mode), fmt.Sprintf("%q=%q", "target-cpu", t.name)}
	// What the runtime would put into registers or hidden arguments and nothing here reads.
	for _, w := range []string{"queue-ptr", "dispatch-id", "hostcall-ptr", "heap-ptr", "multigrid-sync-arg", "default-queue", "completion-action"} {
		list = append(list, `"amdgpu-no-`+w+`"`)
	}
	return list
}

func (t amdgcn) pointers() bool { return false }

func (t amdgcn) own(op ir.Op) emitFn { return amdgcnOwn[op] }

func (t amdgcn) way(op ir.Op) Way { return amdgcnWays[op] }

// space: constant memory is memory that nobody writes, and so are the parameters.
func (t amdgcn) space(sp ir.Space) int {
	switch sp {
	case ir.Global:
		return 1
	case ir.Shared:
		return 3
	case ir.Const, ir.ParamSpace:
		return 4
	case ir.Local:
		return 5
	}
	return 0
}

// head: the parameter block is the kernel's first argument, byte for byte as PTX lays it out; a kernel that asks for the workspace of a
// cooperative launch has its address behind it.
func (t amdgcn) head(e *emitter) string {
	var args []string
	if n := e.m.ParamBytes; n > 0 {
		args = append(args, fmt.Sprintf("ptr addrspace(4) byref([%d x i8]) align 16 %%p", n))
	}
	asks := false
	e.each(func(in *ir.Inst) { asks = asks || in.Op == ir.SReg && (in.Sreg == ir.EnvReg1 || in.Sreg == ir.EnvReg2) })
	if asks {
		args = append(args, "i64 %"+devrt.Workspace)
	}
	if e.findAlone(); e.alone {
		args = append(args, "i64 %"+devrt.Block)
	}
	e.nanSources(e.f)
	return fmt.Sprintf("amdgpu_kernel void @%s(%s)", quote(e.m.Kernel), strings.Join(args, ", "))
}

// argument points to a kernel's parameters.
var argument = ll.Val{T: ll.PtrTo(4), S: "%p"}

func (t amdgcn) param(e *emitter, off int, ty ir.Type) ll.Val {
	bytes := max(ty.Bits()/8, 1)
	if off < 0 || off+bytes > e.m.ParamBytes {
		return emit.Const(ty, 0)
	}
	align := 16
	for off%align != 0 {
		align /= 2
	}
	p := e.Offset(argument, int64(off))
	return e.LoadAs(typ(ty), p, ll.Access{Align: align, Meta: invariant})
}

func (t amdgcn) paramAddr(e *emitter, off int) ll.Val {
	p := e.PtrToInt(argument)
	return e.Add(p, ll.Int("i64", int64(off)))
}

// variable is a symbol that is bound when the code is loaded.
func (t amdgcn) variable(e *emitter, in *ir.Inst) ll.Val {
	name := e.g.declare(in.Sym, "external addrspace(1) global [1 x i8], align 1")
	p := e.PtrToInt(ll.Val{T: ll.PtrTo(1), S: name})
	return e.Add(p, ll.Int("i64", in.Off))
}

func (t amdgcn) prologue(e *emitter) { e.prologue() }

// crosses: what all processors of the system see may be the host's memory, and the bus to it knows three operations: sum, exchange,
// compare-and-swap. Others become a loop around the last.
func (t amdgcn) crosses(in *ir.Inst) bool {
	return in.Scope != ir.ScopeSys || in.Space == ir.Shared || in.AtomOp == ir.AtomAdd || in.AtomOp == ir.AtomExch
}

// exit: the instruction that ends a wave ends all its lanes.
func (t amdgcn) exit(e *emitter) { e.fail("exit inside of a function that is called") }

func (t amdgcn) frame(e *emitter, bytes, align int) ll.Val {
	return e.AllocaIn("ptr addrspace(5)", ll.Array(bytes, "i8"), align)
}

// trailer names the version of code objects.
func (t amdgcn) trailer(cfg Config) string {
	v := cfg.CodeObject
	if v == 0 {
		v = 5
	}
	return fmt.Sprintf("!llvm.module.flags = !{!1}\n!1 = !{i32 1, !\"amdhsa_code_object_version\", i32 %d}\n!2 = !{float 1.0}\n", 100*v)
}

func fillAMDGCN() {
	put := func(way Way, fn emitFn, ops ...ir.Op) {
		for _, op := range ops {
			amdgcnOwn[op], amdgcnWays[op] = fn, way
		}
	}
	put(Native, gcnSReg, ir.SReg)
	put(Native, gcnExp2Log2, ir.FExp2, ir.FLog2)
	put(Native, gcnSign, ir.FNeg, ir.FAbs)
	put(Native, gcnMinMax, ir.FMin, ir.FMax)
	put(Native, gcnIsSpace, ir.IsSpace)
	put(Native, gcnClock, ir.Clock)
	put(Native, gcnShfl, ir.Shfl)
	put(Native, gcnVote, ir.VoteAny, ir.VoteAll, ir.VoteUni, ir.Ballot)
	put(Native, gcnMatchAny, ir.MatchAny)
	put(Native, gcnMatchAll, ir.MatchAll)
	put(Native, gcnRedux, ir.Redux)
	put(Native, gcnActiveMask, ir.ActiveMask)
	put(Native, gcnElect, ir.Elect)
	put(Native, gcnWarpSync, ir.WarpSync)
	put(Native, gcnBar, ir.Bar)
	put(Native, gcnCallRt, ir.CallRt)
	put(Native, gcnCallInd, ir.CallInd)
	put(Native, gcnTrap, ir.Trap)
	put(Native, gcnSwitch, ir.Switch)
	put(Native, gcnCondBr, ir.CondBr)
	put(Native, gcnMma, ir.Mma)
	put(Native, gcnDp4a, ir.Dp4a)
	put(Native, gcnDp2a, ir.Dp2a)
}

// hidden reads the runtime's own arguments, which follow the kernel's: block counts as words from 0, block sizes as halves from 12
// (code objects of version 5 and later); earlier versions have them in the dispatch packet. Both lie on a multiple of 8, so that an argument
// of 8 bytes that is the kernel's last is the 8 bytes before.
func (e *emitter) hidden(t ll.Type, off int) ll.Val {
	p := e.Call("ptr addrspace(4)", "llvm.amdgcn.implicitarg.ptr")
	q := e.Offset(p, int64(off))
	return e.LoadAs(t, q, ll.Access{Align: t.Bits() / 8, Meta: invariant})
}

func (e *emitter) dispatch(t ll.Type, off int) ll.Val {
	p := e.Call("ptr addrspace(4)", "llvm.amdgcn.dispatch.ptr")
	q := e.Offset(p, int64(off))
	return e.LoadAs(t, q, ll.Access{Align: t.Bits() / 8, Meta: invariant})
}

// ntid is a dimension of the block, nctaid of the grid.
func (e *emitter) ntid(d int) ll.Val {
	if e.alone {
		return e.Trunc(e.And(e.LShr(e.blockSize(), ll.Int("i64", int64(16*d))), ll.Int("i64", 0xffff)), "i32")
	}
	if e.cfg.CodeObject != 0 && e.cfg.CodeObject < 5 {
		return e.ZExt(e.dispatch("i16", 4+2*d), "i32")
	}
	return e.ZExt(e.hidden("i16", 12+2*d), "i32")
}

func (e *emitter) nctaid(d int) ll.Val {
	if e.cfg.CodeObject != 0 && e.cfg.CodeObject < 5 {
		return e.UDiv(e.dispatch("i32", 12+4*d), e.ZExt(e.dispatch("i16", 4+2*d), "i32"))
	}
	return e.hidden("i32", 4*d)
}

func (e *emitter) tid(d int) ll.Val {
	if e.alone {
		return e.aloneTid(d)
	}
	return e.workitem(d)
}

// workitem is the machine's own number of a lane in its block.
func (e *emitter) workitem(d int) ll.Val {
	return e.Call("i32", "llvm.amdgcn.workitem.id."+"xyz"[d:d+1])
}

// linearID is the thread's number in its block.
func (e *emitter) linearID() ll.Val {
	if e.alone {
		x := e.workitem(0)
		warp := e.LShr(x, ll.Int("i32", 6))
		return e.Or(e.Shl(warp, ll.Int("i32", 5)), e.And(x, ll.Int("i32", 31)))
	}
	row := e.Add(e.Mul(e.tid(2), e.ntid(1)), e.tid(1))
	return e.Add(e.Mul(row, e.ntid(0)), e.tid(0))
}

// laneInWave is the lane's number among all of its wave.
func (e *emitter) laneInWave() ll.Val {
	ones, zero := ll.Int("i32", -1), ll.Int("i32", 0)
	lo := e.Call("i32", "llvm.amdgcn.mbcnt.lo", ones, zero)
	if e.wave() == 32 {
		return lo
	}
	return e.Call("i32", "llvm.amdgcn.mbcnt.hi", ones, lo)
}

func (e *emitter) wave() int { return e.t.(amdgcn).wave }

// lane is the lane's number in its warp.
func (e *emitter) lane() ll.Val {
	l := e.laneInWave()
	if e.wave() == 32 {
		return l
	}
	return e.And(l, ll.Int("i32", 31))
}

func gcnSReg(e *emitter, in *ir.Inst) {
	bit := func() ll.Val { return e.Shl(ll.Int("i32", 1), e.lane()) }
	below := func() ll.Val { return e.Sub(bit(), ll.Int("i32", 1)) }
	var x ll.Val
	switch s := in.Sreg; s {
	case ir.TidX, ir.TidY, ir.TidZ:
		x = e.tid(int(s - ir.TidX))
	case ir.NtidX, ir.NtidY, ir.NtidZ:
		x = e.ntid(int(s - ir.NtidX))
	case ir.CtaidX, ir.CtaidY, ir.CtaidZ:
		x = e.Call("i32", "llvm.amdgcn.workgroup.id."+"xyz"[s-ir.CtaidX:s-ir.CtaidX+1])
	case ir.ClusterIDX, ir.ClusterIDY, ir.ClusterIDZ: // a cluster is one block
		x = e.Call("i32", "llvm.amdgcn.workgroup.id."+"xyz"[s-ir.ClusterIDX:s-ir.ClusterIDX+1])
	case ir.NctaidX, ir.NctaidY, ir.NctaidZ:
		x = e.nctaid(int(s - ir.NctaidX))
	case ir.NClusterIDX, ir.NClusterIDY, ir.NClusterIDZ:
		x = e.nctaid(int(s - ir.NClusterIDX))
	case ir.LaneID:
		x = e.lane()
	case ir.WarpID:
		x = e.LShr(e.linearID(), ll.Int("i32", 5))
	case ir.NWarpID:
		n := e.Mul(e.Mul(e.ntid(0), e.ntid(1)), e.ntid(2))
		x = e.LShr(e.Add(n, ll.Int("i32", 31)), ll.Int("i32", 5))
	case ir.LanemaskEQ:
		x = bit()
	case ir.LanemaskLT:
		x = below()
	case ir.LanemaskLE:
		x = e.Or(bit(), below())
	case ir.LanemaskGE:
		x = e.Not(below())
	case ir.LanemaskGT:
		x = e.Not(e.Or(bit(), below()))
	case ir.EnvReg1, ir.EnvReg2: // halves of the last of the kernel's own arguments, or of the one before the block's size; functions find them, too
		at := -8
		if e.alone {
			at = -16
		}
		w := e.hidden("i64", at)
		if s == ir.EnvReg1 {
			w = e.LShr(w, ll.Int("i64", 32))
		}
		x = e.Trunc(w, "i32")
	case ir.SMID, ir.ClusterCtaIDX, ir.ClusterCtaIDY, ir.ClusterCtaIDZ, ir.ClusterCtaRank, ir.IsExplicitCluster, ir.GridID:
		x = ll.Int("i32", 0)
	case ir.NSMID, ir.ClusterNctaIDX, ir.ClusterNctaIDY, ir.ClusterNctaIDZ, ir.ClusterNctaRank:
		x = ll.Int("i32", 1)
	default:
		e.fail("special register %s", s)
	}
	e.widened(in, x)
}

// gcnIsSpace asks which aperture a generic address lies in.
func gcnIsSpace(e *emitter, in *ir.Inst) {
	p := e.IntToPtr(e.val(in.Args[0]), "ptr")
	shared := func() ll.Val { return e.Call("i1", "llvm.amdgcn.is.shared", p) }
	private := func() ll.Val { return e.Call("i1", "llvm.amdgcn.is.private", p) }
	switch in.Space {
	case ir.Shared:
		e.result(in, shared())
	case ir.Local:
		e.result(in, private())
	case ir.Global:
		e.result(in, e.Not(e.Or(shared(), private())))
	default: // constants and parameters are global memory
		e.result(in, ll.Int("i1", 0))
	}
}

// gcnClock: cycles, or the constant counter of 100 MHz as nanoseconds. RDNA 3 counts cycles in 20 bits, so that who waits for more than half a
// millisecond would wait for ever: there it is the constant counter as cycles of 2 GHz.
func gcnClock(e *emitter, in *ir.Inst) {
	steady := func(unit int64) ll.Val {
		return e.Mul(e.Call("i64", "llvm.readsteadycounter"), ll.Int("i64", unit))
	}
	var x ll.Val
	switch in.Sreg {
	case ir.GlobalTimer, ir.GlobalTimerLo, ir.GlobalTimerHi:
		x = steady(10)
	default:
		if e.t.(amdgcn).major == 11 {
			x = steady(20)
		} else {
			x = e.Call("i64", "llvm.readcyclecounter")
		}
	}
	if in.Sreg == ir.ClockHi || in.Sreg == ir.GlobalTimerHi {
		x = e.LShr(x, ll.Int("i64", 32))
	}
	e.result(in, e.Resize(x, in.Results[0].Type.Bits()))
}

// gcnCallRt: vprintf, malloc, free and __assertfail are functions of the module by now (devrt).
func gcnCallRt(e *emitter, in *ir.Inst) {
	if in.Sym != "nanosleep" {
		e.fail("the runtime's %s", in.Sym)
	}
	e.sleep()
}

// sleep lets other waves run for some 64 cycles.
func (e *emitter) sleep() {
	e.Do("call void @llvm.amdgcn.s.sleep(i32 1)")
	e.mod.Declare("void", "llvm.amdgcn.s.sleep", "i32 immarg")
}

// gcnSwitch: what a block that several ways lead to was told (pass/unify_loop_exits.go) goes through a register that LLVM does not see into. It would make
// a predicate of it that it keeps for all lanes, computed where they come from, in the inner loop.
func gcnSwitch(e *emitter, in *ir.Inst) {
	v := in.Args[0]
	if v.Def == nil || v.Def.Op != ir.Phi || v.Def.Block != in.Block {
		emitSwitch(e, in)
		return
	}
	e.switchOn(in, e.Op("i32", `call i32 asm "", "=v,0"(%s)`, e.val(v)))
}

// gcnTrap leaves word in the mailbox and ends the wave. The machine's own trap would have ROCm end the process.
func gcnTrap(e *emitter, in *ir.Inst) {
	e.StoreAs(ll.Int("i32", 1), e.mailbox(devrt.TrappedAt), ll.Access{Align: 4, Order: `syncscope("agent") monotonic`})
	e.Fence("release")
	e.end()
}

// mailbox is the address of a word of the mailbox.
func (e *emitter) mailbox(off int) ll.Val {
	name := e.g.declare(devrt.Mailbox, "external addrspace(1) global [1 x i8], align 1")
	return e.Offset(ll.Val{T: ll.PtrTo(1), S: name}, int64(off))
}

// end ends all lanes of the wave.
func (e *emitter) end() {
	e.Call("void", "llvm.amdgcn.endpgm")
	e.Unreachable()
}

// gcnCallInd compares the number of a function with those that the pointer may stand for.
func gcnCallInd(e *emitter, in *ir.Inst) {
	id := e.val(in.Args[0])
	done := e.NewLabel("called")
	var phis []*ll.Phi
	type way struct {
		label string
		vals  []ll.Val
	}
	var waysIn []way
	for _, n := range strings.Split(in.Sym, ",") {
		f := n
		if alias, of, ok := strings.Cut(n, "="); ok {
			n, f = alias, of
		}
		yes, no := e.NewLabel("call"), e.NewLabel("next")
		e.CondBr(e.ICmp("eq", id, ll.Int("i64", int64(functionID(n)))), yes, no)
		e.Label(yes)
		e.returned(in, "@"+e.symbol(f), in.Args[1:])
		w := way{label: e.Cur()}
		for _, r := range in.Results {
			w.vals = append(w.vals, e.vals[r])
		}
		waysIn = append(waysIn, w)
		e.Br(done)
		e.Label(no)
	}
	gcnTrap(e, in) // a pointer to no function
	e.Label(done)
	for i, r := range in.Results {
		p := e.Phi(typ(r.Type))
		for _, w := range waysIn {
			p.Add(w.vals[i], w.label)
		}
		phis = append(phis, p)
	}
	for i, r := range in.Results {
		e.set(r, phis[i].Val)
	}
}
