package simt

import "kudzu/internal/ir"

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

		ir.Add: binary("add"), ir.Sub: binary("sub"), ir.Mul: binary("mul"), ir.MulHiS: emitMulHi, ir.MulHiU: emitMulHi, ir.DivS: emitDiv, ir.DivU: emitDiv, ir.RemS: emitDiv, ir.RemU: emitDiv,
		ir.Neg: emitNeg, ir.AbsS: emitAbsS, ir.MinS: intrinsic2("smin"), ir.MinU: intrinsic2("umin"), ir.MaxS: intrinsic2("smax"), ir.MaxU: intrinsic2("umax"),
		ir.AddSatS: intrinsic2("sadd.sat"), ir.SubSatS: intrinsic2("ssub.sat"), ir.CarryAdd: emitCarry, ir.BorrowSub: emitBorrow,
		ir.And: binary("and"), ir.Or: binary("or"), ir.Xor: binary("xor"), ir.Not: emitNot, ir.Shl: emitShift, ir.ShrU: emitShift, ir.ShrS: emitShift,
		ir.Popc: emitPopc, ir.Clz: emitClz, ir.Brev: emitBrev, ir.BfeS: emitBfe, ir.BfeU: emitBfe, ir.Bfi: emitBfi, ir.BfindS: emitBfind, ir.BfindU: emitBfind, ir.Bmsk: emitBmsk,
		ir.Fns: emitFns, ir.Prmt: emitPrmt, ir.Lop3: emitLop3, ir.FshL: emitFsh, ir.FshR: emitFsh, ir.Dp4a: emitDp4a, ir.Dp2a: emitDp2a,

		ir.ICmp: emitICmp, ir.FCmp: emitFCmp, ir.Select: emitSelect, ir.FTest: emitFTest,

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

		ir.EntryMask: emitNever, ir.AnyLane: emitNever, ir.AllLanes: emitNever, ir.KeepBegin: emitNever, ir.Keep: emitNever,
	}
	for _, op := range []ir.Op{ir.SReg, ir.FExp2, ir.FLog2, ir.IsSpace, ir.TexRead, ir.TexWrite, ir.Tensor, ir.Shfl, ir.VoteAny, ir.VoteAll, ir.VoteUni, ir.Ballot, ir.MatchAny,
		ir.MatchAll, ir.Redux, ir.ActiveMask, ir.Elect, ir.WarpSync, ir.LdMatrix, ir.StMatrix, ir.MovMatrix, ir.Bar, ir.GridSync, ir.Clock, ir.CallRt, ir.Asm, ir.AsmPure} {
		ways[op] = Missing
	}
	for _, op := range []ir.Op{ir.Invalid, ir.LaneMask, ir.EntryMask, ir.AnyLane, ir.AllLanes, ir.KeepBegin, ir.Keep} {
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
