package lower

import (
	"kudzu/internal/approx"
	"kudzu/internal/ir"
	"kudzu/internal/ptx/isa"
)

// table says how each mnemonic is lowered and what a guard makes of it. Division, square roots and whatever touches memory or
// depends on the lanes present is branched around; everything else is computed and selected. It is filled by a function
// because the handlers refer to the table.
var table [isa.NumOps]row

func init() {
	table = [isa.NumOps]row{
		isa.Add: {intOrFloat(lowerIntAdd, lowerFloatAdd), choose}, isa.Sub: {intOrFloat(lowerIntSub, lowerFloatSub), choose},
		isa.Mul: {intOrFloat(lowerIntMul, lowerFloatMul), choose}, isa.Mad: {intOrFloat(lowerIntMad, lowerFma), choose},
		isa.Mul24: {lowerMul24, choose}, isa.Mad24: {lowerMad24, choose}, isa.Sad: {lowerSad, choose}, isa.Clmad: {lowerClmad, choose},
		isa.Div: {intOrFloat(lowerIntDiv, lowerFloatDiv), branch}, isa.Rem: {lowerRem, branch},
		isa.Abs: {intOrFloat(lowerIntAbs, lowerFloatAbs), choose}, isa.Neg: {intOrFloat(lowerIntNeg, lowerFloatNeg), choose},
		isa.Min:  {intOrFloat(intMinMax(ir.MinS, ir.MinU), floatMinMax(ir.FMin)), choose},
		isa.Max:  {intOrFloat(intMinMax(ir.MaxS, ir.MaxU), floatMinMax(ir.FMax)), choose},
		isa.Popc: {lowerPopc, choose}, isa.Clz: {lowerClz, choose}, isa.Bfind: {lowerBfind, choose}, isa.Fns: {lowerFns, choose},
		isa.Brev: {lowerBrev, choose}, isa.Bfe: {lowerBfe, choose}, isa.Bfi: {lowerBfi, choose}, isa.Szext: {lowerSzext, choose},
		isa.Bmsk: {lowerBmsk, choose}, isa.Dp4a: {lowerDp4a, choose}, isa.Dp2a: {lowerDp2a, choose},
		isa.AddCC: {lowerAddCC, choose}, isa.Addc: {lowerAddc, choose}, isa.SubCC: {lowerSubCC, choose}, isa.Subc: {lowerSubc, choose},
		isa.MadCC: {lowerMadCC, choose}, isa.Madc: {lowerMadc, choose},

		isa.Testp: {lowerTestp, choose}, isa.Copysign: {lowerCopysign, choose}, isa.Fma: {lowerFma, choose},
		isa.Rcp: {lowerRcp, branch}, isa.Sqrt: {lowerSqrt, branch}, isa.Rsqrt: {lowerRsqrt, branch},
		isa.Sin: {unaryApprox(approx.Sin[*ir.Value]), branch}, isa.Cos: {unaryApprox(approx.Cos[*ir.Value]), branch},
		isa.Lg2: {lowerLg2, branch}, isa.Ex2: {lowerEx2, branch}, isa.Tanh: {lowerTanh, branch},

		isa.Set: {lowerSet, choose}, isa.Setp: {lowerSetp, choose}, isa.Selp: {lowerSelp, choose}, isa.Slct: {lowerSlct, choose},

		isa.And: {bitwise(ir.And), choose}, isa.Or: {bitwise(ir.Or), choose}, isa.Xor: {bitwise(ir.Xor), choose}, isa.Not: {lowerNot, choose},
		isa.Cnot: {lowerCnot, choose}, isa.Lop3: {lowerLop3, choose}, isa.Shf: {lowerShf, choose}, isa.Shl: {lowerShl, choose},
		isa.Shr: {lowerShr, choose}, isa.Prmt: {lowerPrmt, choose},

		isa.Mov: {lowerMov, choose}, isa.Shfl: {lowerShfl, branch}, isa.Isspacep: {lowerIsspacep, choose}, isa.Cvta: {lowerCvta, choose},
		isa.CvtaTo: {lowerCvtaTo, choose}, isa.Mapa: {lowerMapa, choose}, isa.Getctarank: {lowerGetctarank, choose},
		isa.Cvt: {lowerCvt, choose}, isa.CvtPack: {lowerCvtPack, choose},

		isa.Ld: {lowerLd, branch}, isa.Ldu: {lowerLd, branch}, isa.St: {lowerSt, branch},
		isa.Prefetch: {lowerPrefetch, branch}, isa.Prefetchu: {lowerPrefetch, branch}, isa.Applypriority: {lowerNothing, choose},
		isa.MultimemLdReduce: {lowerLd, branch}, isa.MultimemSt: {lowerSt, branch}, isa.MultimemRed: {lowerRed, branch}, // one device holds the only replica
		isa.MultimemCpAsyncBulk: {lowerCpAsyncBulk, branch}, isa.MultimemCpReduceAsyncBulk: {lowerCpReduceAsyncBulk, branch},
		isa.Discard: {lowerNothing, choose}, isa.Createpolicy: {lowerCreatepolicy, choose},

		isa.Bra: {lowerBra, own}, isa.Brx: {lowerBrx, branch}, isa.Call: {lowerCall, branch}, isa.Ret: {lowerRet, branch}, isa.Stacksave: {lowerStacksave, branch}, isa.Stackrestore: {lowerStackrestore, branch}, isa.Alloca: {lowerAlloca, branch}, isa.Exit: {lowerExit, branch},

		isa.Bar: {lowerBar, branch}, isa.Barrier: {lowerBar, branch}, isa.BarWarpSync: {lowerBarWarpSync, branch},
		isa.BarrierCluster: {lowerBarrierCluster, branch}, isa.Membar: {lowerMembar, branch}, isa.Fence: {lowerFence, branch},
		isa.Griddepcontrol: {lowerNothing, choose},

		isa.Atom: {lowerAtom, branch}, isa.Red: {lowerRed, branch},

		isa.Vote: {lowerVote, branch}, isa.Match: {lowerMatch, branch}, isa.Activemask: {lowerActivemask, branch},
		isa.Redux: {lowerRedux, branch}, isa.Elect: {lowerElect, branch},

		isa.CpAsyncBulk: {lowerCpAsyncBulk, branch}, isa.CpReduceAsyncBulk: {lowerCpReduceAsyncBulk, branch}, isa.CpAsyncBulkPrefetch: {lowerNothing, choose},
		isa.CpAsyncBulkCommitGroup: {lowerNothing, choose}, isa.CpAsyncBulkWaitGroup: {lowerNothing, choose}, isa.StAsync: {lowerStAsync, branch},
		isa.StBulk: {lowerStBulk, branch}, isa.RedAsync: {lowerRedAsync, branch}, isa.CpAsyncMbarrierArrive: {lowerCpAsyncMbarrierArrive, branch},
		isa.MbarrierInit: {lowerMbarrierInit, branch}, isa.MbarrierInval: {lowerMbarrierInval, branch}, isa.MbarrierExpectTx: {lowerMbarrierExpectTx, branch},
		isa.MbarrierCompleteTx: {lowerMbarrierCompleteTx, branch}, isa.MbarrierArrive: {lowerMbarrierArrive, branch}, isa.MbarrierArriveDrop: {lowerMbarrierArrive, branch},
		isa.MbarrierTestWait: {lowerMbarrierWait, branch}, isa.MbarrierTryWait: {lowerMbarrierWait, branch}, isa.MbarrierPendingCount: {lowerMbarrierPendingCount, choose},
		isa.ClusterlaunchcontrolTryCancel: {lowerTryCancel, branch}, isa.ClusterlaunchcontrolQueryCancel: {lowerQueryCancel, choose},
		isa.CpAsyncBulkTensor: {lowerCpAsyncBulkTensor, branch}, isa.CpReduceAsyncBulkTensor: {lowerCpReduceAsyncBulkTensor, branch}, isa.CpAsyncBulkPrefetchTensor: {lowerNothing, choose},
		isa.TensormapReplace: {lowerTensormapReplace, branch}, isa.TensormapCpFenceproxy: {lowerTensormapCpFenceproxy, branch},
		isa.CpAsync: {lowerCpAsync, branch}, isa.CpAsyncCommitGroup: {lowerNothing, choose}, isa.CpAsyncWaitGroup: {lowerNothing, choose},
		isa.CpAsyncWaitAll: {lowerNothing, choose},

		isa.Mma: {lowerMma, branch}, isa.MmaSp: {lowerMma, branch}, isa.Ldmatrix: {lowerLdmatrix, branch}, isa.Stmatrix: {lowerStmatrix, branch},
		isa.Movmatrix: {lowerMovmatrix, branch}, isa.WmmaLoad: {lowerWmmaLoad, branch}, isa.WmmaStore: {lowerWmmaStore, branch}, isa.WmmaMma: {lowerWmmaMma, branch},
		isa.WgmmaMmaAsync: {lowerWgmma, branch}, isa.WgmmaMmaAsyncSp: {lowerWgmma, branch}, isa.WgmmaFence: {lowerNothing, choose},
		isa.WgmmaCommitGroup: {lowerNothing, choose}, isa.WgmmaWaitGroup: {lowerWgmmaWait, branch},

		isa.Tex: {lowerTex, branch}, isa.Tld4: {lowerTex, branch}, isa.Txq: {lowerTxq, branch}, isa.Istypep: {lowerIstypep, branch},
		isa.Suld: {lowerSuld, branch}, isa.Sust: {lowerSust, branch}, isa.Sured: {lowerSured, branch}, isa.Suq: {lowerTxq, branch},

		isa.Vadd: {lowerVideo, choose}, isa.Vsub: {lowerVideo, choose}, isa.Vabsdiff: {lowerVideo, choose}, isa.Vmin: {lowerVideo, choose},
		isa.Vmax: {lowerVideo, choose}, isa.Vset: {lowerVideo, choose}, isa.Vshl: {lowerVideoShift, choose}, isa.Vshr: {lowerVideoShift, choose}, isa.Vmad: {lowerVmad, choose},
		isa.Vadd2: {simdVideo(2), choose}, isa.Vsub2: {simdVideo(2), choose}, isa.Vavrg2: {simdVideo(2), choose}, isa.Vabsdiff2: {simdVideo(2), choose},
		isa.Vmin2: {simdVideo(2), choose}, isa.Vmax2: {simdVideo(2), choose}, isa.Vset2: {simdVideo(2), choose},
		isa.Vadd4: {simdVideo(4), choose}, isa.Vsub4: {simdVideo(4), choose}, isa.Vavrg4: {simdVideo(4), choose}, isa.Vabsdiff4: {simdVideo(4), choose},
		isa.Vmin4: {simdVideo(4), choose}, isa.Vmax4: {simdVideo(4), choose}, isa.Vset4: {simdVideo(4), choose},

		isa.Brkpt: {lowerTrap, branch}, isa.Nanosleep: {lowerNanosleep, branch}, isa.Pmevent: {lowerNothing, choose},
		isa.Trap: {lowerTrap, branch}, isa.Setmaxnreg: {lowerNothing, choose},
	}
}

const whyTcgen = "fifth-generation tensor core operations are not compiled yet"

// unsupported gives the reason for every mnemonic that the table leaves out.
var unsupported = [isa.NumOps]string{
	isa.Tcgen05Alloc: whyTcgen, isa.Tcgen05Dealloc: whyTcgen, isa.Tcgen05RelinquishAllocPermit: whyTcgen, isa.Tcgen05Ld: whyTcgen, isa.Tcgen05LdRed: whyTcgen,
	isa.Tcgen05St: whyTcgen, isa.Tcgen05Wait: whyTcgen, isa.Tcgen05Cp: whyTcgen, isa.Tcgen05Shift: whyTcgen, isa.Tcgen05Mma: whyTcgen, isa.Tcgen05MmaSp: whyTcgen,
	isa.Tcgen05MmaWs: whyTcgen, isa.Tcgen05MmaWsSp: whyTcgen, isa.Tcgen05Fence: whyTcgen, isa.Tcgen05Commit: whyTcgen,
}
