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
}

var ops = [NumOps]opRow{
	// integer
	Add:   {"add", true},
	Sub:   {"sub", true},
	Mul:   {"mul", true},
	Mad:   {"mad", true},
	Mul24: {"mul24", true},
	Mad24: {"mad24", true},
	Sad:   {"sad", true},
	Div:   {"div", true},
	Rem:   {"rem", true},
	Abs:   {"abs", true},
	Neg:   {"neg", true},
	Min:   {"min", true},
	Max:   {"max", true},
	Popc:  {"popc", true},
	Clz:   {"clz", true},
	Bfind: {"bfind", true},
	Fns:   {"fns", true},
	Brev:  {"brev", true},
	Bfe:   {"bfe", true},
	Bfi:   {"bfi", true},
	Szext: {"szext", true},
	Bmsk:  {"bmsk", true},
	Dp4a:  {"dp4a", true},
	Dp2a:  {"dp2a", true},
	AddCC: {"add.cc", true},
	Addc:  {"addc", true},
	SubCC: {"sub.cc", true},
	Subc:  {"subc", true},
	MadCC: {"mad.cc", true},
	Madc:  {"madc", true},
	// float
	Testp:    {"testp", true},
	Copysign: {"copysign", true},
	Fma:      {"fma", true},
	Rcp:      {"rcp", true},
	Sqrt:     {"sqrt", true},
	Rsqrt:    {"rsqrt", true},
	Sin:      {"sin", true},
	Cos:      {"cos", true},
	Lg2:      {"lg2", true},
	Ex2:      {"ex2", true},
	Tanh:     {"tanh", true},
	// compare
	Set:  {"set", true},
	Setp: {"setp", true},
	Selp: {"selp", true},
	Slct: {"slct", true},
	// logic
	And:  {"and", true},
	Or:   {"or", true},
	Xor:  {"xor", true},
	Not:  {"not", true},
	Cnot: {"cnot", true},
	Lop3: {"lop3", true},
	Shf:  {"shf", true},
	Shl:  {"shl", true},
	Shr:  {"shr", true},
	Prmt: {"prmt", true},
	// move
	Mov:        {"mov", true},
	Shfl:       {"shfl", true},
	Isspacep:   {"isspacep", true},
	Cvta:       {"cvta", true},
	CvtaTo:     {"cvta.to", true},
	Mapa:       {"mapa", true},
	Getctarank: {"getctarank", true},
	// convert
	Cvt:     {"cvt", true},
	CvtPack: {"cvt.pack", true},
	// memory
	Ld:               {"ld", true},
	Ldu:              {"ldu", true},
	St:               {"st", true},
	StAsync:          {"st.async", true},
	StBulk:           {"st.bulk", true},
	Prefetch:         {"prefetch", true},
	Prefetchu:        {"prefetchu", true},
	Applypriority:    {"applypriority", true},
	Discard:          {"discard", true},
	Createpolicy:     {"createpolicy", true},
	MultimemLdReduce: {"multimem.ld_reduce", true},
	MultimemSt:       {"multimem.st", true},
	MultimemRed:      {"multimem.red", true},
	// async
	CpAsync:                   {"cp.async", true},
	CpAsyncCommitGroup:        {"cp.async.commit_group", false},
	CpAsyncWaitGroup:          {"cp.async.wait_group", false},
	CpAsyncWaitAll:            {"cp.async.wait_all", false},
	CpAsyncBulk:               {"cp.async.bulk", true},
	CpReduceAsyncBulk:         {"cp.reduce.async.bulk", true},
	CpAsyncBulkPrefetch:       {"cp.async.bulk.prefetch", true},
	CpAsyncBulkTensor:         {"cp.async.bulk.tensor", true},
	CpReduceAsyncBulkTensor:   {"cp.reduce.async.bulk.tensor", true},
	CpAsyncBulkPrefetchTensor: {"cp.async.bulk.prefetch.tensor", true},
	CpAsyncBulkCommitGroup:    {"cp.async.bulk.commit_group", false},
	CpAsyncBulkWaitGroup:      {"cp.async.bulk.wait_group", false},
	CpAsyncMbarrierArrive:     {"cp.async.mbarrier.arrive", true},
	MultimemCpAsyncBulk:       {"multimem.cp.async.bulk", true},
	MultimemCpReduceAsyncBulk: {"multimem.cp.reduce.async.bulk", true},
	TensormapReplace:          {"tensormap.replace", true},
	TensormapCpFenceproxy:     {"tensormap.cp_fenceproxy", true},
	// mbarrier
	MbarrierInit:                    {"mbarrier.init", true},
	MbarrierInval:                   {"mbarrier.inval", true},
	MbarrierExpectTx:                {"mbarrier.expect_tx", true},
	MbarrierCompleteTx:              {"mbarrier.complete_tx", true},
	MbarrierArrive:                  {"mbarrier.arrive", true},
	MbarrierArriveDrop:              {"mbarrier.arrive_drop", true},
	MbarrierTestWait:                {"mbarrier.test_wait", true},
	MbarrierTryWait:                 {"mbarrier.try_wait", true},
	MbarrierPendingCount:            {"mbarrier.pending_count", true},
	ClusterlaunchcontrolTryCancel:   {"clusterlaunchcontrol.try_cancel", true},
	ClusterlaunchcontrolQueryCancel: {"clusterlaunchcontrol.query_cancel", true},
	// texture
	Tex:     {"tex", true},
	Tld4:    {"tld4", true},
	Txq:     {"txq", true},
	Istypep: {"istypep", true},
	// surface
	Suld:  {"suld", true},
	Sust:  {"sust", true},
	Sured: {"sured", true},
	Suq:   {"suq", true},
	// control
	Bra:  {"bra", false},
	Brx:  {"brx.idx", false},
	Call: {"call", false},
	Ret:  {"ret", false},
	Exit: {"exit", false},
	// sync
	Bar:            {"bar", false},
	Barrier:        {"barrier", false},
	BarWarpSync:    {"bar.warp.sync", false},
	BarrierCluster: {"barrier.cluster", false},
	Membar:         {"membar", false},
	Fence:          {"fence", false},
	Griddepcontrol: {"griddepcontrol", false},
	// atomic
	Atom:     {"atom", true},
	Red:      {"red", true},
	RedAsync: {"red.async", true},
	// warp
	Vote:       {"vote", true},
	Match:      {"match", true},
	Activemask: {"activemask", true},
	Redux:      {"redux", true},
	Elect:      {"elect", true},
	// matrix
	WmmaLoad:  {"wmma.load", true},
	WmmaStore: {"wmma.store", true},
	WmmaMma:   {"wmma.mma", true},
	Mma:       {"mma", true},
	MmaSp:     {"mma.sp", true},
	Ldmatrix:  {"ldmatrix", true},
	Stmatrix:  {"stmatrix", true},
	Movmatrix: {"movmatrix", true},
	// wgmma
	WgmmaMmaAsync:    {"wgmma.mma_async", true},
	WgmmaMmaAsyncSp:  {"wgmma.mma_async.sp", true},
	WgmmaFence:       {"wgmma.fence", false},
	WgmmaCommitGroup: {"wgmma.commit_group", false},
	WgmmaWaitGroup:   {"wgmma.wait_group", false},
	// tcgen05
	Tcgen05Alloc:                 {"tcgen05.alloc", true},
	Tcgen05Dealloc:               {"tcgen05.dealloc", false},
	Tcgen05RelinquishAllocPermit: {"tcgen05.relinquish_alloc_permit", false},
	Tcgen05Ld:                    {"tcgen05.ld", true},
	Tcgen05LdRed:                 {"tcgen05.ld.red", true},
	Tcgen05St:                    {"tcgen05.st", true},
	Tcgen05Wait:                  {"tcgen05.wait", false},
	Tcgen05Cp:                    {"tcgen05.cp", true},
	Tcgen05Shift:                 {"tcgen05.shift", false},
	Tcgen05Mma:                   {"tcgen05.mma", true},
	Tcgen05MmaSp:                 {"tcgen05.mma.sp", true},
	Tcgen05MmaWs:                 {"tcgen05.mma.ws", true},
	Tcgen05MmaWsSp:               {"tcgen05.mma.ws.sp", true},
	Tcgen05Fence:                 {"tcgen05.fence", false},
	Tcgen05Commit:                {"tcgen05.commit", true},
	// video
	Vadd:      {"vadd", true},
	Vsub:      {"vsub", true},
	Vabsdiff:  {"vabsdiff", true},
	Vmin:      {"vmin", true},
	Vmax:      {"vmax", true},
	Vshl:      {"vshl", true},
	Vshr:      {"vshr", true},
	Vmad:      {"vmad", true},
	Vset:      {"vset", true},
	Vadd2:     {"vadd2", true},
	Vsub2:     {"vsub2", true},
	Vavrg2:    {"vavrg2", true},
	Vabsdiff2: {"vabsdiff2", true},
	Vmin2:     {"vmin2", true},
	Vmax2:     {"vmax2", true},
	Vset2:     {"vset2", true},
	Vadd4:     {"vadd4", true},
	Vsub4:     {"vsub4", true},
	Vavrg4:    {"vavrg4", true},
	Vabsdiff4: {"vabsdiff4", true},
	Vmin4:     {"vmin4", true},
	Vmax4:     {"vmax4", true},
	Vset4:     {"vset4", true},
	// stack
	Stacksave:    {"stacksave", true},
	Stackrestore: {"stackrestore", false},
	Alloca:       {"alloca", true},
	// misc
	Brkpt:      {"brkpt", false},
	Nanosleep:  {"nanosleep", false},
	Pmevent:    {"pmevent", false},
	Trap:       {"trap", false},
	Setmaxnreg: {"setmaxnreg", false},
}

// String is the mnemonic: "cp.async.bulk".
func (o Op) String() string { return ops[o].name }

func (o Op) hasResult() bool { return ops[o].result }
