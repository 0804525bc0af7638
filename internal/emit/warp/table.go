package warp

import (
	"kudzu/internal/emit"
	"kudzu/internal/ir"
)

type emitFn func(*emitter, *ir.Inst)

// emitters is the emitter of each operation; a test finds holes. It is filled in init only because emitters refer to
// functions that refer to it.
var emitters [ir.NumOps]emitFn

func init() {
	emitters = [ir.NumOps]emitFn{
		ir.Invalid: emitNever,

		ir.Phi: emitPhi, ir.Copy: emitCopy, ir.Undef: emitUndef, ir.Param: emitParam, ir.SReg: emitSReg, ir.VarAddr: emitVarAddr, ir.SharedAddr: emitSharedAddr,
		ir.LocalAddr: emitLocalAddr, ir.ParamAddr: emitParamAddr, ir.FuncAddr: emitFuncAddr, ir.ToGeneric: emitToGeneric, ir.FromGeneric: emitFromGeneric, ir.IsSpace: emitIsSpace,

		ir.Add: lanewise(emit.Binary("add")), ir.Sub: lanewise(emit.Binary("sub")), ir.Mul: emitMul, ir.MulHiS: emitMulHi, ir.MulHiU: emitMulHi, ir.DivS: emitDiv, ir.DivU: emitDiv, ir.RemS: emitDiv, ir.RemU: emitDiv,
		ir.Neg: lanewise(emit.Neg), ir.AbsS: lanewise(emit.AbsS), ir.MinS: lanewise(emit.Intrinsic("smin")), ir.MinU: lanewise(emit.Intrinsic("umin")), ir.MaxS: lanewise(emit.Intrinsic("smax")), ir.MaxU: lanewise(emit.Intrinsic("umax")),
		ir.AddSatS: lanewise(emit.Intrinsic("sadd.sat")), ir.SubSatS: lanewise(emit.Intrinsic("ssub.sat")), ir.CarryAdd: lanewise(emit.Carry), ir.BorrowSub: lanewise(emit.Borrow),
		ir.And: lanewise(emit.Binary("and")), ir.Or: emitOr, ir.Xor: lanewise(emit.Binary("xor")), ir.Not: lanewise(emit.Not), ir.Shl: lanewise(emit.Shift), ir.ShrU: lanewise(emit.Shift), ir.ShrS: lanewise(emit.Shift),
		ir.Popc: lanewise(emit.Popc), ir.Clz: lanewise(emit.Clz), ir.Brev: lanewise(emit.Intrinsic("bitreverse")), ir.BfeS: lanewise(emit.Bfe), ir.BfeU: lanewise(emit.Bfe), ir.Bfi: lanewise(emit.Bfi), ir.BfindS: lanewise(emit.Bfind), ir.BfindU: lanewise(emit.Bfind), ir.Bmsk: lanewise(emit.Bmsk),
		ir.Fns: emitFns, ir.Prmt: emitPrmt, ir.Lop3: emitLop3, ir.FshL: lanewise(emit.Fsh), ir.FshR: lanewise(emit.Fsh), ir.Dp4a: emitDp4a, ir.Dp2a: emitDp2a,

		ir.ICmp: lanewise(emit.ICmp), ir.FCmp: emitFCmp, ir.Select: emitSelect, ir.FTest: emitFTest,

		ir.FAdd: emitArith, ir.FSub: emitArith, ir.FMul: emitArith, ir.FDiv: emitArith, ir.FFma: emitArith, ir.FSqrt: emitArith, ir.FRcp: emitArith, ir.FExp2: emitNever, ir.FLog2: emitNever, ir.FNeg: emitSign, ir.FAbs: emitSign,
		ir.FMin: emitMinMax, ir.FMax: emitMinMax, ir.FCopysign: emitCopysign, ir.FRound: emitFRound, ir.FRelu: emitFRelu,

		ir.Trunc: emitTrunc, ir.ZExt: emitExtend, ir.SExt: emitExtend, ir.Bitcast: emitBitcast, ir.FToS: emitFToI, ir.FToU: emitFToI, ir.SToF: emitIToF, ir.UToF: emitIToF,
		ir.FExt: emitFExt, ir.FTrunc: emitFTrunc, ir.Pack: emitPack, ir.Unpack: emitUnpack,

		ir.Load: emitLoad, ir.Store: emitStore, ir.Atomic: emitAtomic, ir.AtomicCAS: emitCAS, ir.CopyAsync: emitCopyAsync, ir.Prefetch: emitPrefetch, ir.Fence: emitFence,

		ir.TexRead: emitTexture, ir.TexWrite: emitTexture, ir.Tensor: emitTensor,

		ir.Shfl: emitShfl, ir.VoteAny: emitVote, ir.VoteAll: emitVote, ir.VoteUni: emitVote, ir.Ballot: emitVote, ir.MatchAny: emitMatch, ir.MatchAll: emitMatchAll, ir.Redux: emitRedux,
		ir.ActiveMask: emitActiveMask, ir.Elect: emitElect, ir.WarpSync: emitNothing, ir.LaneMask: emitActiveMask,

		ir.Mma: emitMma, ir.LdMatrix: emitLdMatrix, ir.StMatrix: emitStMatrix, ir.MovMatrix: emitMovMatrix,

		ir.Bar: emitBar, ir.GridSync: emitGridSync, ir.Clock: emitClock,

		ir.Call: emitCall, ir.CallInd: emitCall, ir.CallRt: emitCallRt, ir.Asm: emitAsm, ir.AsmPure: emitAsm,

		ir.Br: emitBr, ir.CondBr: emitCondBr, ir.Switch: emitSwitch, ir.Ret: emitExit, ir.Exit: emitExit, ir.Trap: emitTrap,

		ir.EntryMask: emitEntryMask, ir.AnyLane: emitAnyLane, ir.AllLanes: emitAllLanes, ir.FirstLane: emitFirstLane, ir.KeepBegin: emitKeepBegin, ir.Keep: emitKeep, ir.StoreKept: emitStoreKept,
	}
}

func emitNever(e *emitter, in *ir.Inst) { panic("BUG: invalid operation reached the emitter") }

// emitNothing is for what warp code does anyway: lanes run in step.
func emitNothing(*emitter, *ir.Inst) {}
