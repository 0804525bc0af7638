package isa

// Op is a mnemonic. Dotted mnemonics (cp.async.bulk) are ops of their own where the manual gives them a section.
type Op uint16

// The mnemonics, in chapter order.
const (
	NoOp Op = iota

	// integer
	Add
	Sub
	Mul
	Mad
	Mul24
	Mad24
	Sad
	Clmad
	Div
	Rem
	Abs
	Neg
	Min
	Max
	Popc
	Clz
	Bfind
	Fns
	Brev
	Bfe
	Bfi
	Szext
	Bmsk
	Dp4a
	Dp2a
	AddCC
	Addc
	SubCC
	Subc
	MadCC
	Madc

	// float
	Testp
	Copysign
	Fma
	Rcp
	Sqrt
	Rsqrt
	Sin
	Cos
	Lg2
	Ex2
	Tanh

	// compare
	Set
	Setp
	Selp
	Slct

	// logic
	And
	Or
	Xor
	Not
	Cnot
	Lop3
	Shf
	Shl
	Shr
	Prmt

	// move
	Mov
	Shfl
	Isspacep
	Cvta
	CvtaTo
	Mapa
	Getctarank

	// convert
	Cvt
	CvtPack

	// memory
	Ld
	Ldu
	St
	StAsync
	StBulk
	Prefetch
	Prefetchu
	Applypriority
	Discard
	Createpolicy
	MultimemLdReduce
	MultimemSt
	MultimemRed

	// async
	CpAsync
	CpAsyncCommitGroup
	CpAsyncWaitGroup
	CpAsyncWaitAll
	CpAsyncBulk
	CpReduceAsyncBulk
	CpAsyncBulkPrefetch
	CpAsyncBulkTensor
	CpReduceAsyncBulkTensor
	CpAsyncBulkPrefetchTensor
	CpAsyncBulkCommitGroup
	CpAsyncBulkWaitGroup
	CpAsyncMbarrierArrive
	MultimemCpAsyncBulk
	MultimemCpReduceAsyncBulk
	TensormapReplace
	TensormapCpFenceproxy

	// mbarrier
	MbarrierInit
	MbarrierInval
	MbarrierExpectTx
	MbarrierCompleteTx
	MbarrierArrive
	MbarrierArriveDrop
	MbarrierTestWait
	MbarrierTryWait
	MbarrierPendingCount
	ClusterlaunchcontrolTryCancel
	ClusterlaunchcontrolQueryCancel

	// texture
	Tex
	Tld4
	Txq
	Istypep

	// surface
	Suld
	Sust
	Sured
	Suq

	// control
	Bra
	Brx
	Call
	Ret
	Exit

	// sync
	Bar
	Barrier
	BarWarpSync
	BarrierCluster
	Membar
	Fence
	Griddepcontrol

	// atomic
	Atom
	Red
	RedAsync

	// warp
	Vote
	Match
	Activemask
	Redux
	Elect

	// matrix
	WmmaLoad
	WmmaStore
	WmmaMma
	Mma
	MmaSp
	Ldmatrix
	Stmatrix
	Movmatrix

	// wgmma
	WgmmaMmaAsync
	WgmmaMmaAsyncSp
	WgmmaFence
	WgmmaCommitGroup
	WgmmaWaitGroup

	// tcgen05
	Tcgen05Alloc
	Tcgen05Dealloc
	Tcgen05RelinquishAllocPermit
	Tcgen05Ld
	Tcgen05LdRed
	Tcgen05St
	Tcgen05Wait
	Tcgen05Cp
	Tcgen05Shift
	Tcgen05Mma
	Tcgen05MmaSp
	Tcgen05MmaWs
	Tcgen05MmaWsSp
	Tcgen05Fence
	Tcgen05Commit

	// video
	Vadd
	Vsub
	Vabsdiff
	Vmin
	Vmax
	Vshl
	Vshr
	Vmad
	Vset
	Vadd2
	Vsub2
	Vavrg2
	Vabsdiff2
	Vmin2
	Vmax2
	Vset2
	Vadd4
	Vsub4
	Vavrg4
	Vabsdiff4
	Vmin4
	Vmax4
	Vset4

	// stack
	Stacksave
	Stackrestore
	Alloca

	// misc
	Brkpt
	Nanosleep
	Pmevent
	Trap
	Setmaxnreg

	NumOps
)

type opRow struct {
	name   string
	result bool // the first operand, if not an address, is written
	sink   bool // and may be _
}

var ops = [NumOps]opRow{
	// integer
	Add:   {"add", true, false},
	Sub:   {"sub", true, false},
	Mul:   {"mul", true, false},
	Mad:   {"mad", true, false},
	Mul24: {"mul24", true, false},
	Mad24: {"mad24", true, false},
	Sad:   {"sad", true, false},
	Clmad: {"clmad", true, false},
	Div:   {"div", true, false},
	Rem:   {"rem", true, false},
	Abs:   {"abs", true, false},
	Neg:   {"neg", true, false},
	Min:   {"min", true, false},
	Max:   {"max", true, false},
	Popc:  {"popc", true, false},
	Clz:   {"clz", true, false},
	Bfind: {"bfind", true, false},
	Fns:   {"fns", true, false},
	Brev:  {"brev", true, false},
	Bfe:   {"bfe", true, false},
	Bfi:   {"bfi", true, false},
	Szext: {"szext", true, false},
	Bmsk:  {"bmsk", true, false},
	Dp4a:  {"dp4a", true, false},
	Dp2a:  {"dp2a", true, false},
	AddCC: {"add.cc", true, false},
	Addc:  {"addc", true, false},
	SubCC: {"sub.cc", true, false},
	Subc:  {"subc", true, false},
	MadCC: {"mad.cc", true, false},
	Madc:  {"madc", true, false},
	// float
	Testp:    {"testp", true, false},
	Copysign: {"copysign", true, false},
	Fma:      {"fma", true, false},
	Rcp:      {"rcp", true, false},
	Sqrt:     {"sqrt", true, false},
	Rsqrt:    {"rsqrt", true, false},
	Sin:      {"sin", true, false},
	Cos:      {"cos", true, false},
	Lg2:      {"lg2", true, false},
	Ex2:      {"ex2", true, false},
	Tanh:     {"tanh", true, false},
	// compare
	Set:  {"set", true, false},
	Setp: {"setp", true, true},
	Selp: {"selp", true, false},
	Slct: {"slct", true, false},
	// logic
	And:  {"and", true, false},
	Or:   {"or", true, false},
	Xor:  {"xor", true, false},
	Not:  {"not", true, false},
	Cnot: {"cnot", true, false},
	Lop3: {"lop3", true, true},
	Shf:  {"shf", true, false},
	Shl:  {"shl", true, false},
	Shr:  {"shr", true, false},
	Prmt: {"prmt", true, false},
	// move
	Mov:        {"mov", true, false},
	Shfl:       {"shfl", true, false},
	Isspacep:   {"isspacep", true, false},
	Cvta:       {"cvta", true, false},
	CvtaTo:     {"cvta.to", true, false},
	Mapa:       {"mapa", true, false},
	Getctarank: {"getctarank", true, false},
	// convert
	Cvt:     {"cvt", true, false},
	CvtPack: {"cvt.pack", true, false},
	// memory
	Ld:               {"ld", true, false},
	Ldu:              {"ldu", true, false},
	St:               {"st", true, false},
	StAsync:          {"st.async", true, false},
	StBulk:           {"st.bulk", true, false},
	Prefetch:         {"prefetch", true, false},
	Prefetchu:        {"prefetchu", true, false},
	Applypriority:    {"applypriority", true, false},
	Discard:          {"discard", true, false},
	Createpolicy:     {"createpolicy", true, false},
	MultimemLdReduce: {"multimem.ld_reduce", true, false},
	MultimemSt:       {"multimem.st", true, false},
	MultimemRed:      {"multimem.red", true, false},
	// async
	CpAsync:                   {"cp.async", true, false},
	CpAsyncCommitGroup:        {"cp.async.commit_group", false, false},
	CpAsyncWaitGroup:          {"cp.async.wait_group", false, false},
	CpAsyncWaitAll:            {"cp.async.wait_all", false, false},
	CpAsyncBulk:               {"cp.async.bulk", true, false},
	CpReduceAsyncBulk:         {"cp.reduce.async.bulk", true, false},
	CpAsyncBulkPrefetch:       {"cp.async.bulk.prefetch", true, false},
	CpAsyncBulkTensor:         {"cp.async.bulk.tensor", true, false},
	CpReduceAsyncBulkTensor:   {"cp.reduce.async.bulk.tensor", true, false},
	CpAsyncBulkPrefetchTensor: {"cp.async.bulk.prefetch.tensor", true, false},
	CpAsyncBulkCommitGroup:    {"cp.async.bulk.commit_group", false, false},
	CpAsyncBulkWaitGroup:      {"cp.async.bulk.wait_group", false, false},
	CpAsyncMbarrierArrive:     {"cp.async.mbarrier.arrive", true, false},
	MultimemCpAsyncBulk:       {"multimem.cp.async.bulk", true, false},
	MultimemCpReduceAsyncBulk: {"multimem.cp.reduce.async.bulk", true, false},
	TensormapReplace:          {"tensormap.replace", true, false},
	TensormapCpFenceproxy:     {"tensormap.cp_fenceproxy", true, false},
	// mbarrier
	MbarrierInit:                    {"mbarrier.init", true, false},
	MbarrierInval:                   {"mbarrier.inval", true, false},
	MbarrierExpectTx:                {"mbarrier.expect_tx", true, false},
	MbarrierCompleteTx:              {"mbarrier.complete_tx", true, false},
	MbarrierArrive:                  {"mbarrier.arrive", true, true},
	MbarrierArriveDrop:              {"mbarrier.arrive_drop", true, true},
	MbarrierTestWait:                {"mbarrier.test_wait", true, false},
	MbarrierTryWait:                 {"mbarrier.try_wait", true, false},
	MbarrierPendingCount:            {"mbarrier.pending_count", true, false},
	ClusterlaunchcontrolTryCancel:   {"clusterlaunchcontrol.try_cancel", true, false},
	ClusterlaunchcontrolQueryCancel: {"clusterlaunchcontrol.query_cancel", true, false},
	// texture
	Tex:     {"tex", true, false},
	Tld4:    {"tld4", true, false},
	Txq:     {"txq", true, false},
	Istypep: {"istypep", true, false},
	// surface
	Suld:  {"suld", true, false},
	Sust:  {"sust", true, false},
	Sured: {"sured", true, false},
	Suq:   {"suq", true, false},
	// control
	Bra:  {"bra", false, false},
	Brx:  {"brx.idx", false, false},
	Call: {"call", false, false},
	Ret:  {"ret", false, false},
	Exit: {"exit", false, false},
	// sync
	Bar:            {"bar", false, false},
	Barrier:        {"barrier", false, false},
	BarWarpSync:    {"bar.warp.sync", false, false},
	BarrierCluster: {"barrier.cluster", false, false},
	Membar:         {"membar", false, false},
	Fence:          {"fence", false, false},
	Griddepcontrol: {"griddepcontrol", false, false},
	// atomic
	Atom:     {"atom", true, true},
	Red:      {"red", true, false},
	RedAsync: {"red.async", true, false},
	// warp
	Vote:       {"vote", true, false},
	Match:      {"match", true, true},
	Activemask: {"activemask", true, false},
	Redux:      {"redux", true, false},
	Elect:      {"elect", true, false},
	// matrix
	WmmaLoad:  {"wmma.load", true, false},
	WmmaStore: {"wmma.store", true, false},
	WmmaMma:   {"wmma.mma", true, false},
	Mma:       {"mma", true, false},
	MmaSp:     {"mma.sp", true, false},
	Ldmatrix:  {"ldmatrix", true, false},
	Stmatrix:  {"stmatrix", true, false},
	Movmatrix: {"movmatrix", true, false},
	// wgmma
	WgmmaMmaAsync:    {"wgmma.mma_async", true, false},
	WgmmaMmaAsyncSp:  {"wgmma.mma_async.sp", true, false},
	WgmmaFence:       {"wgmma.fence", false, false},
	WgmmaCommitGroup: {"wgmma.commit_group", false, false},
	WgmmaWaitGroup:   {"wgmma.wait_group", false, false},
	// tcgen05
	Tcgen05Alloc:                 {"tcgen05.alloc", true, false},
	Tcgen05Dealloc:               {"tcgen05.dealloc", false, false},
	Tcgen05RelinquishAllocPermit: {"tcgen05.relinquish_alloc_permit", false, false},
	Tcgen05Ld:                    {"tcgen05.ld", true, false},
	Tcgen05LdRed:                 {"tcgen05.ld.red", true, false},
	Tcgen05St:                    {"tcgen05.st", true, false},
	Tcgen05Wait:                  {"tcgen05.wait", false, false},
	Tcgen05Cp:                    {"tcgen05.cp", true, false},
	Tcgen05Shift:                 {"tcgen05.shift", false, false},
	Tcgen05Mma:                   {"tcgen05.mma", true, false},
	Tcgen05MmaSp:                 {"tcgen05.mma.sp", true, false},
	Tcgen05MmaWs:                 {"tcgen05.mma.ws", true, false},
	Tcgen05MmaWsSp:               {"tcgen05.mma.ws.sp", true, false},
	Tcgen05Fence:                 {"tcgen05.fence", false, false},
	Tcgen05Commit:                {"tcgen05.commit", true, false},
	// video
	Vadd:      {"vadd", true, false},
	Vsub:      {"vsub", true, false},
	Vabsdiff:  {"vabsdiff", true, false},
	Vmin:      {"vmin", true, false},
	Vmax:      {"vmax", true, false},
	Vshl:      {"vshl", true, false},
	Vshr:      {"vshr", true, false},
	Vmad:      {"vmad", true, false},
	Vset:      {"vset", true, false},
	Vadd2:     {"vadd2", true, false},
	Vsub2:     {"vsub2", true, false},
	Vavrg2:    {"vavrg2", true, false},
	Vabsdiff2: {"vabsdiff2", true, false},
	Vmin2:     {"vmin2", true, false},
	Vmax2:     {"vmax2", true, false},
	Vset2:     {"vset2", true, false},
	Vadd4:     {"vadd4", true, false},
	Vsub4:     {"vsub4", true, false},
	Vavrg4:    {"vavrg4", true, false},
	Vabsdiff4: {"vabsdiff4", true, false},
	Vmin4:     {"vmin4", true, false},
	Vmax4:     {"vmax4", true, false},
	Vset4:     {"vset4", true, false},
	// stack
	Stacksave:    {"stacksave", true, false},
	Stackrestore: {"stackrestore", false, false},
	Alloca:       {"alloca", true, false},
	// misc
	Brkpt:      {"brkpt", false, false},
	Nanosleep:  {"nanosleep", false, false},
	Pmevent:    {"pmevent", false, false},
	Trap:       {"trap", false, false},
	Setmaxnreg: {"setmaxnreg", false, false},
}

// String is the mnemonic: "cp.async.bulk".
func (o Op) String() string { return ops[o].name }
