package interp

import (
	"kudzu/internal/approx"
	"kudzu/internal/ptx/isa"
)

// decodeFn turns one instruction into a step. It reports what it cannot do with d.unsupported.
type decodeFn func(d *decoder) step

// step is a decoded instruction. Exactly one of lane and warp is set.
type step struct {
	lane  func(t *thread)              // for each thread on its own
	warp  func(w *warp, active uint32) // once for the threads of a warp that are here together; moves their pc or makes them wait
	jumps bool                         // lane may change pc, code or state
	down  bool                         // the last thread goes first
}

// decoders is what executes each op. Ops are here or in unsupportedOps; a test finds the ones that are in neither or both.
var decoders = [isa.NumOps]decodeFn{
	// integer and float
	isa.Add: byClass(decodeIntAdd, decodeFloatAdd), isa.Sub: byClass(decodeIntSub, decodeFloatSub),
	isa.Mul: byClass(decodeIntMul, decodeFloatMul), isa.Mad: byClass(decodeIntMad, decodeFma),
	isa.Div: byClass(decodeIntDiv, decodeFloatDiv), isa.Abs: byClass(decodeIntAbs, decodeFloatAbs), isa.Neg: byClass(decodeIntNeg, decodeFloatNeg),
	isa.Min: byClass(decodeIntMin, decodeFloatMin), isa.Max: byClass(decodeIntMax, decodeFloatMax),
	isa.Mul24: decodeMul24, isa.Mad24: decodeMad24, isa.Sad: decodeSad, isa.Clmad: decodeClmad, isa.Rem: decodeRem,
	isa.Popc: decodePopc, isa.Clz: decodeClz, isa.Bfind: decodeBfind, isa.Fns: decodeFns, isa.Brev: decodeBrev,
	isa.Bfe: decodeBfe, isa.Bfi: decodeBfi, isa.Szext: decodeSzext, isa.Bmsk: decodeBmsk, isa.Dp4a: decodeDp4a, isa.Dp2a: decodeDp2a,
	isa.AddCC: decodeAddCarry, isa.Addc: decodeAddCarry, isa.SubCC: decodeSubBorrow, isa.Subc: decodeSubBorrow,
	isa.MadCC: decodeMadCarry, isa.Madc: decodeMadCarry,
	isa.Testp: decodeTestp, isa.Copysign: decodeCopysign, isa.Fma: decodeFma, isa.Rcp: decodeRcp, isa.Sqrt: decodeSqrt, isa.Rsqrt: decodeRsqrt,
	isa.Sin: approx32(approx.Sin[uint64]), isa.Cos: approx32(approx.Cos[uint64]), isa.Lg2: approx32(approx.Lg2[uint64]),
	isa.Ex2: decodeEx2, isa.Tanh: decodeTanh,

	// compare, logic
	isa.Set: decodeSet, isa.Setp: decodeSetp, isa.Selp: decodeSelp, isa.Slct: decodeSlct,
	isa.And: decodeAnd, isa.Or: decodeOr, isa.Xor: decodeXor, isa.Not: decodeNot, isa.Cnot: decodeCnot, isa.Lop3: decodeLop3,
	isa.Shf: decodeShf, isa.Shl: decodeShl, isa.Shr: decodeShr, isa.Prmt: decodePrmt,

	// move, convert
	isa.Mov: decodeMov, isa.Shfl: decodeShfl, isa.Isspacep: decodeIsspacep, isa.Cvta: decodeCvta, isa.CvtaTo: decodeCvtaTo,
	isa.Mapa: decodeMapa, isa.Getctarank: decodeGetctarank, isa.Cvt: decodeCvt, isa.CvtPack: decodeCvtPack,

	// memory
	isa.Ld: decodeLd, isa.Ldu: decodeLd, isa.St: decodeSt,
	isa.Prefetch: decodeHint, isa.Prefetchu: decodeHint, isa.Applypriority: decodeHint, isa.Discard: decodeDiscard, isa.Createpolicy: decodeCreatepolicy,

	isa.MultimemLdReduce: decodeLd, isa.MultimemSt: decodeSt, isa.MultimemRed: decodeAtom, // one device holds the only replica

	// async, mbarrier
	isa.CpAsync: decodeCpAsync, isa.CpAsyncCommitGroup: decodeNothing, isa.CpAsyncWaitGroup: decodeNothing, isa.CpAsyncWaitAll: decodeNothing,
	isa.CpAsyncMbarrierArrive: decodeCpAsyncMbarrierArrive,
	isa.CpAsyncBulk:           decodeCpAsyncBulk, isa.CpReduceAsyncBulk: decodeCpReduceAsyncBulk, isa.CpAsyncBulkPrefetch: decodeHint,
	isa.CpAsyncBulkCommitGroup: decodeNothing, isa.CpAsyncBulkWaitGroup: decodeNothing, isa.CpAsyncBulkPrefetchTensor: decodeHint,
	isa.MultimemCpAsyncBulk: decodeCpAsyncBulk, isa.MultimemCpReduceAsyncBulk: decodeCpReduceAsyncBulk,
	isa.CpAsyncBulkTensor: decodeCpAsyncBulkTensor, isa.CpReduceAsyncBulkTensor: decodeCpReduceAsyncBulkTensor,
	isa.TensormapReplace: decodeTensormapReplace, isa.TensormapCpFenceproxy: decodeTensormapCpFenceproxy,
	isa.StAsync: decodeStAsync, isa.RedAsync: decodeRedAsync, isa.StBulk: decodeStBulk,
	isa.MbarrierInit: decodeMbarrierInit, isa.MbarrierInval: decodeMbarrierInval,
	isa.MbarrierExpectTx: decodeMbarrierExpectTx, isa.MbarrierCompleteTx: decodeMbarrierCompleteTx,
	isa.MbarrierArrive: decodeMbarrierArrive, isa.MbarrierArriveDrop: decodeMbarrierArrive,
	isa.MbarrierTestWait: decodeMbarrierWait, isa.MbarrierTryWait: decodeMbarrierWait, isa.MbarrierPendingCount: decodeMbarrierPendingCount,
	isa.ClusterlaunchcontrolTryCancel: decodeTryCancel, isa.ClusterlaunchcontrolQueryCancel: decodeQueryCancel,

	// texture, surface
	isa.Tex: decodeTex, isa.Tld4: decodeTex, isa.Txq: decodeTxq, isa.Istypep: decodeIstypep,
	isa.Suld: decodeSuld, isa.Sust: decodeSust, isa.Sured: decodeSured, isa.Suq: decodeTxq,

	// matrix
	isa.WmmaLoad: decodeWmmaLoad, isa.WmmaStore: decodeWmmaStore, isa.WmmaMma: decodeWmmaMma, isa.Mma: decodeMma, isa.MmaSp: decodeMmaSp,
	isa.WgmmaMmaAsync: decodeWgmma, isa.WgmmaMmaAsyncSp: decodeWgmma, isa.WgmmaFence: decodeNothing, isa.WgmmaCommitGroup: decodeNothing, isa.WgmmaWaitGroup: decodeWgmmaWait,
	isa.Ldmatrix: decodeLdmatrix, isa.Stmatrix: decodeStmatrix, isa.Movmatrix: decodeMovmatrix,

	// video
	isa.Vadd: videoScalar(plain(addInt)), isa.Vsub: videoScalar(plain(subInt)), isa.Vabsdiff: videoScalar(plain(absDiff)),
	isa.Vmin: videoScalar(plain(minInt)), isa.Vmax: videoScalar(plain(maxInt)), isa.Vshl: videoScalar(videoShift(true)), isa.Vshr: videoScalar(videoShift(false)),
	isa.Vset: videoScalar(videoCompare), isa.Vmad: decodeVmad,
	isa.Vadd2: videoSIMD(2, plain(addInt)), isa.Vsub2: videoSIMD(2, plain(subInt)), isa.Vavrg2: videoSIMD(2, plain(average)), isa.Vabsdiff2: videoSIMD(2, plain(absDiff)),
	isa.Vmin2: videoSIMD(2, plain(minInt)), isa.Vmax2: videoSIMD(2, plain(maxInt)), isa.Vset2: videoSIMD(2, videoCompare),
	isa.Vadd4: videoSIMD(4, plain(addInt)), isa.Vsub4: videoSIMD(4, plain(subInt)), isa.Vavrg4: videoSIMD(4, plain(average)), isa.Vabsdiff4: videoSIMD(4, plain(absDiff)),
	isa.Vmin4: videoSIMD(4, plain(minInt)), isa.Vmax4: videoSIMD(4, plain(maxInt)), isa.Vset4: videoSIMD(4, videoCompare),

	// control, stack, misc
	isa.Bra: decodeBra, isa.Brx: decodeBrx, isa.Call: decodeCall, isa.Ret: decodeRet, isa.Exit: decodeExit,
	isa.Stacksave: decodeStacksave, isa.Stackrestore: decodeStackrestore, isa.Alloca: decodeAlloca,
	isa.Brkpt: decodeBrkpt, isa.Nanosleep: decodeNanosleep, isa.Pmevent: decodeNothing, isa.Trap: decodeTrap, isa.Setmaxnreg: decodeNothing,

	// sync, atomic, warp
	isa.Bar: decodeBar, isa.Barrier: decodeBar, isa.BarWarpSync: decodeBarWarpSync, isa.BarrierCluster: decodeBarrierCluster,
	isa.Membar: decodeFence, isa.Fence: decodeFence, isa.Griddepcontrol: decodeNothing,
	isa.Atom: decodeAtom, isa.Red: decodeAtom,
	isa.Vote: decodeVote, isa.Match: decodeMatch, isa.Activemask: decodeActivemask, isa.Redux: decodeRedux, isa.Elect: decodeElect,
}

// unsupportedOps are valid instructions this backend cannot execute, with the reason.
var unsupportedOps = map[isa.Op]string{
	isa.Tcgen05Alloc: needsTensorMemory, isa.Tcgen05Dealloc: needsTensorMemory, isa.Tcgen05RelinquishAllocPermit: needsTensorMemory,
	isa.Tcgen05Ld: needsTensorMemory, isa.Tcgen05LdRed: needsTensorMemory, isa.Tcgen05St: needsTensorMemory, isa.Tcgen05Wait: needsTensorMemory,
	isa.Tcgen05Cp: needsTensorMemory, isa.Tcgen05Shift: needsTensorMemory, isa.Tcgen05Mma: needsTensorMemory, isa.Tcgen05MmaSp: needsTensorMemory,
	isa.Tcgen05MmaWs: needsTensorMemory, isa.Tcgen05MmaWsSp: needsTensorMemory, isa.Tcgen05Fence: needsTensorMemory, isa.Tcgen05Commit: needsTensorMemory,
}

const (
	needsTensorMemory = "tensor memory is not modelled yet"
)
