package simt

import (
	"kudzu/internal/emit"
	"kudzu/internal/ir"
)

// emitters is the common way to write each operation; a test finds holes. It is filled in init only because emitters refer to
// functions that refer to it.
var emitters [ir.NumOps]emitFn

// ways says how the common emitter writes an operation, for those that do not write plain LLVM.
var ways [ir.NumOps]Way

func init() {
	emitters = [ir.NumOps]emitFn{
		ir.Invalid: emitNever,

		ir.Phi: emitPhi, ir.Copy: emitCopy, ir.Undef: emitUndef, ir.Param: emitParam, ir.SReg: emitMissing, ir.VarAddr: emitVarAddr, ir.SharedAddr: emitSharedAddr,
		ir.LocalAddr: emitLocalAddr, ir.ParamAddr: emitParamAddr, ir.FuncAddr: emitFuncAddr, ir.ToGeneric: emitToGeneric, ir.FromGeneric: emitFromGeneric, ir.IsSpace: emitMissing,

		ir.Add: lanewise(emit.Binary("add")), ir.Sub: lanewise(emit.Binary("sub")), ir.Mul: lanewise(emit.Binary("mul")), ir.MulHiS: lanewise(emit.MulHi), ir.MulHiU: lanewise(emit.MulHi), ir.DivS: lanewise(emit.Div), ir.DivU: lanewise(emit.Div), ir.RemS: lanewise(emit.Div), ir.RemU: lanewise(emit.Div),
		ir.Neg: lanewise(emit.Neg), ir.AbsS: lanewise(emit.AbsS), ir.MinS: lanewise(emit.Intrinsic("smin")), ir.MinU: lanewise(emit.Intrinsic("umin")), ir.MaxS: lanewise(emit.Intrinsic("smax")), ir.MaxU: lanewise(emit.Intrinsic("umax")),
		ir.AddSatS: lanewise(emit.Intrinsic("sadd.sat")), ir.SubSatS: lanewise(emit.Intrinsic("ssub.sat")), ir.CarryAdd: lanewise(emit.Carry), ir.BorrowSub: lanewise(emit.Borrow),
		ir.And: lanewise(emit.Binary("and")), ir.Or: lanewise(emit.Binary("or")), ir.Xor: lanewise(emit.Binary("xor")), ir.Not: lanewise(emit.Not), ir.Shl: lanewise(emit.Shift), ir.ShrU: lanewise(emit.Shift), ir.ShrS: lanewise(emit.Shift),
		ir.Popc: lanewise(emit.Popc), ir.Clz: lanewise(emit.Clz), ir.Brev: lanewise(emit.Intrinsic("bitreverse")), ir.BfeS: lanewise(emit.Bfe), ir.BfeU: lanewise(emit.Bfe), ir.Bfi: lanewise(emit.Bfi), ir.BfindS: lanewise(emit.Bfind), ir.BfindU: lanewise(emit.Bfind), ir.Bmsk: lanewise(emit.Bmsk),
		ir.Fns: emitFns, ir.Prmt: emitPrmt, ir.Lop3: emitLop3, ir.FshL: lanewise(emit.Fsh), ir.FshR: lanewise(emit.Fsh), ir.Dp4a: emitDp4a, ir.Dp2a: emitDp2a,

		ir.ICmp: lanewise(emit.ICmp), ir.FCmp: emitFCmp, ir.Select: emitSelect, ir.FTest: emitFTest,

		ir.FAdd: emitArith, ir.FSub: emitArith, ir.FMul: emitArith, ir.FDiv: emitArith, ir.FFma: emitArith, ir.FSqrt: emitArith, ir.FRcp: emitArith, ir.FExp2: emitMissing, ir.FLog2: emitMissing, ir.FNeg: emitSign, ir.FAbs: emitSign,
		ir.FMin: emitMinMax, ir.FMax: emitMinMax, ir.FCopysign: emitCopysign, ir.FRound: emitFRound, ir.FRelu: emitFRelu,

		ir.Trunc: emitTrunc, ir.ZExt: emitExtend, ir.SExt: emitExtend, ir.Bitcast: emitBitcast, ir.FToS: emitFToI, ir.FToU: emitFToI, ir.SToF: emitIToF, ir.UToF: emitIToF,
		ir.FExt: emitFExt, ir.FTrunc: emitFTrunc, ir.Pack: emitPack, ir.Unpack: emitUnpack,

		ir.Load: emitLoad, ir.Store: emitStore, ir.Atomic: emitAtomic, ir.AtomicCAS: emitCAS, ir.CopyAsync: emitCopyAsync, ir.Prefetch: emitPrefetch, ir.Fence: emitFence,

		ir.TexRead: emitMissing, ir.TexWrite: emitMissing, ir.Tensor: emitMissing,

		ir.Shfl: emitMissing, ir.VoteAny: emitMissing, ir.VoteAll: emitMissing, ir.VoteUni: emitMissing, ir.Ballot: emitMissing, ir.MatchAny: emitMissing, ir.MatchAll: emitMissing, ir.Redux: emitMissing,
		ir.ActiveMask: emitMissing, ir.Elect: emitMissing, ir.WarpSync: emitMissing, ir.LaneMask: emitNever,

		ir.Mma: emitMma, ir.LdMatrix: emitMissing, ir.StMatrix: emitMissing, ir.MovMatrix: emitMissing,

		ir.Bar: emitMissing, ir.GridSync: emitMissing, ir.Clock: emitMissing,

		ir.Call: emitCall, ir.CallInd: emitCallInd, ir.CallRt: emitMissing, ir.Asm: emitMissing, ir.AsmPure: emitMissing,

		ir.Br: emitBr, ir.CondBr: emitCondBr, ir.Switch: emitSwitch, ir.Ret: emitRet, ir.Exit: emitExit, ir.Trap: emitTrap,

		ir.EntryMask: emitNever, ir.AnyLane: emitNever, ir.AllLanes: emitNever, ir.FirstLane: emitNever, ir.KeepBegin: emitNever, ir.Keep: emitNever, ir.StoreKept: emitNever,
	}
	for _, op := range []ir.Op{ir.SReg, ir.FExp2, ir.FLog2, ir.IsSpace, ir.TexRead, ir.TexWrite, ir.Tensor, ir.Shfl, ir.VoteAny, ir.VoteAll, ir.VoteUni, ir.Ballot, ir.MatchAny,
		ir.MatchAll, ir.Redux, ir.ActiveMask, ir.Elect, ir.WarpSync, ir.LdMatrix, ir.StMatrix, ir.MovMatrix, ir.Bar, ir.GridSync, ir.Clock, ir.CallRt, ir.Asm, ir.AsmPure} {
		ways[op] = Missing
	}
	for _, op := range []ir.Op{ir.Invalid, ir.LaneMask, ir.EntryMask, ir.AnyLane, ir.AllLanes, ir.FirstLane, ir.KeepBegin, ir.Keep, ir.StoreKept} {
		ways[op] = Elsewhere
	}
	fillNVPTX()
	fillAMDGCN()
}

// WayOf tells how a target writes an operation.
func WayOf(name string, op ir.Op) (Way, error) {
	t, err := targetOf(name)
	if err != nil {
		return Missing, err
	}
	if t.own(op) != nil {
		return t.way(op), nil
	}
	return ways[op], nil
}
