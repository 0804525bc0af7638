package lower

import (
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
)

// keptNVPTX are the instructions that code for NVIDIA's own GPUs keeps (Options.Keep): their units are not ours to rebuild, or what they
// compute is only defined by the hardware.
var keptNVPTX = [isa.NumOps]bool{
	// Approximations: the hardware's bits.
	isa.Ex2: true, isa.Lg2: true, isa.Sin: true, isa.Cos: true, isa.Tanh: true, isa.Rsqrt: true,
	// Textures and surfaces.
	isa.Tex: true, isa.Tld4: true, isa.Txq: true, isa.Istypep: true, isa.Suld: true, isa.Sust: true, isa.Sured: true, isa.Suq: true,
	// Matrix units.
	isa.Mma: true, isa.MmaSp: true, isa.Ldmatrix: true, isa.Stmatrix: true, isa.Movmatrix: true, isa.WmmaLoad: true, isa.WmmaStore: true, isa.WmmaMma: true,
	isa.WgmmaMmaAsync: true, isa.WgmmaMmaAsyncSp: true, isa.WgmmaFence: true, isa.WgmmaCommitGroup: true, isa.WgmmaWaitGroup: true,
	// Copies that go on by themselves, and the barriers that wait for them.
	isa.CpAsync: true, isa.CpAsyncCommitGroup: true, isa.CpAsyncWaitGroup: true, isa.CpAsyncWaitAll: true, isa.CpAsyncMbarrierArrive: true,
	isa.CpAsyncBulk: true, isa.CpReduceAsyncBulk: true, isa.CpAsyncBulkPrefetch: true, isa.CpAsyncBulkCommitGroup: true, isa.CpAsyncBulkWaitGroup: true,
	isa.CpAsyncBulkTensor: true, isa.CpReduceAsyncBulkTensor: true, isa.CpAsyncBulkPrefetchTensor: true, isa.TensormapReplace: true, isa.TensormapCpFenceproxy: true,
	isa.StAsync: true, isa.StBulk: true, isa.RedAsync: true,
	isa.MbarrierInit: true, isa.MbarrierInval: true, isa.MbarrierExpectTx: true, isa.MbarrierCompleteTx: true, isa.MbarrierArrive: true, isa.MbarrierArriveDrop: true,
	isa.MbarrierTestWait: true, isa.MbarrierTryWait: true, isa.MbarrierPendingCount: true,
	isa.ClusterlaunchcontrolTryCancel: true, isa.ClusterlaunchcontrolQueryCancel: true,
	isa.MultimemLdReduce: true, isa.MultimemSt: true, isa.MultimemRed: true, isa.MultimemCpAsyncBulk: true, isa.MultimemCpReduceAsyncBulk: true,
	// Clusters and the machine.
	isa.BarrierCluster: true, isa.Mapa: true, isa.Getctarank: true, isa.Griddepcontrol: true, isa.Setmaxnreg: true, isa.Pmevent: true, isa.Brkpt: true,
	isa.Prefetch: true, isa.Prefetchu: true, isa.Applypriority: true, isa.Discard: true, isa.Createpolicy: true, isa.Ldu: true,
}

// KeepNVPTX is Options.Keep for NVIDIA's GPUs.
func KeepNVPTX(in *ptx.Inst) bool {
	if in.Has(isa.ModSharedCluster) { // LLVM's shared memory is the block's own
		return true
	}
	switch in.Op() {
	case isa.Mov: // sizes and places of shared memory
		r := in.Args[1].SReg
		return r >= isa.SRegReservedSmemOffsetBegin && r <= isa.SRegDynamicSmemSize
	case isa.Rcp, isa.Sqrt, isa.Div:
		return in.Has(isa.ModApprox) || in.Has(isa.ModFull)
	case isa.Fence, isa.Membar:
		return true
	case isa.Cvt: // stochastic rounding, and formats that lower does not rebuild
		return in.Has(isa.ModRs) || narrowFormat(in.Type("dtype")) != 0 && !in.Has(isa.ModSatfinite) && in.Type("dtype") != isa.TF32 ||
			in.Type("dtype") == isa.UE8M0x2 || in.Type("atype") == isa.UE8M0x2
	case isa.Atom, isa.Red:
		return in.Mod("vec") != 0
	case isa.Ld, isa.St:
		return in.Mod("vec") != 0 && in.Mod("sem") != 0 || in.Has(isa.ModMmio)
	}
	return keptNVPTX[in.Op()]
}
