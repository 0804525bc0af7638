package warp

import "kudzu/internal/ir"

type emitFn func(*emitter, *ir.Inst)

// emitters is the emitter of each operation; a test finds holes. It is filled in init only because emitters refer to
// functions that refer to it.
var emitters [ir.NumOps]emitFn

func init() {
	emitters = [ir.NumOps]emitFn{
		ir.Invalid: emitNever,

		ir.Phi: emitPhi, ir.Copy: emitCopy, ir.Undef: emitUndef, ir.Param: emitParam, ir.SReg: emitSReg, ir.VarAddr: emitVarAddr, ir.SharedAddr: emitSharedAddr,
		ir.LocalAddr: emitLocalAddr, ir.ParamAddr: emitParamAddr, ir.FuncAddr: emitFuncAddr, ir.ToGeneric: emitToGeneric, ir.FromGeneric: emitFromGeneric, ir.IsSpace: emitIsSpace,

		ir.Add: binary("add"), ir.Sub: binary("sub"), ir.Mul: emitMul, ir.MulHiS: emitMulHi, ir.MulHiU: emitMulHi, ir.DivS: emitDiv, ir.DivU: emitDiv, ir.RemS: emitDiv, ir.RemU: emitDiv,
		ir.Neg: emitNeg, ir.AbsS: emitAbsS, ir.MinS: intrinsic2("smin"), ir.MinU: intrinsic2("umin"), ir.MaxS: intrinsic2("smax"), ir.MaxU: intrinsic2("umax"),
		ir.AddSatS: intrinsic2("sadd.sat"), ir.SubSatS: intrinsic2("ssub.sat"), ir.CarryAdd: emitCarry, ir.BorrowSub: emitBorrow,
		ir.And: binary("and"), ir.Or: binary("or"), ir.Xor: binary("xor"), ir.Not: emitNot, ir.Shl: emitShift, ir.ShrU: emitShift, ir.ShrS: emitShift,
		ir.Popc: emitPopc, ir.Clz: emitClz, ir.Brev: emitBrev, ir.BfeS: emitBfe, ir.BfeU: emitBfe, ir.Bfi: emitBfi, ir.BfindS: emitBfind, ir.BfindU: emitBfind, ir.Bmsk: emitBmsk,
		ir.Fns: emitFns, ir.Prmt: emitPrmt, ir.Lop3: emitLop3, ir.FshL: emitFsh, ir.FshR: emitFsh, ir.Dp4a: emitDp4a, ir.Dp2a: emitDp2a,

		ir.ICmp: emitICmp, ir.FCmp: emitFCmp, ir.Select: emitSelect, ir.FTest: emitFTest,

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

		ir.EntryMask: emitEntryMask, ir.AnyLane: emitAnyLane, ir.AllLanes: emitAllLanes, ir.KeepBegin: emitKeepBegin, ir.Keep: emitKeep,
	}
}

func emitNever(e *emitter, in *ir.Inst) { panic("BUG: invalid operation reached the emitter") }

// emitNothing is for what warp code does anyway: lanes run in step.
func emitNothing(*emitter, *ir.Inst) {}
