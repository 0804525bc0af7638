package lockrank

import "reflect"

// The locks. What each guards is in Order.
type (
	NVVMProgram       struct{}
	NVRTCProgram      struct{}
	NVML              struct{}
	RosterSample      struct{}
	RosterEnergy      struct{}
	BlasHandle        struct{}
	NCCLNews          struct{}
	NCCLHubs          struct{}
	NCCLHub           struct{}
	NCCLLive          struct{}
	NCCLComm          struct{}
	NCCLSock          struct{}
	NCCLNear          struct{}
	RandGenerator     struct{}
	RandDistributions struct{}
	SolverFactors     struct{}
	SolverHandle      struct{}
	DNNHandle         struct{}
	DNNDescriptor     struct{}
	DNNProgram        struct{}
	DNNFused          struct{}
	FftPlan           struct{}
	FftPlans          struct{}
	SparseHandle      struct{}
	SparsePlan        struct{}
	LtDescriptors     struct{}
	ShimProviders     struct{}
	ShimCalls         struct{}
	ShimKernels       struct{}
	ShimWorkspace     struct{}
	OpenBLAS          struct{}
	OneDNN            struct{}
	OneDNNRun         struct{}
	JitLink           struct{}
	FatBinary         struct{}
	RuntimeNotices    struct{}
	RuntimePrimaries  struct{}
	RuntimeRegistry   struct{}
	RuntimeFatbin     struct{}
	DriverState       struct{}
	DriverOldLaunch   struct{}
	DriverExec        struct{}
	DriverLinker      struct{}
	DriverLibrary     struct{}
	DriverVirtual     struct{}
	DriverDevice      struct{}
	DriverModule      struct{}
	DriverRefs        struct{}
	DriverTexRef      struct{}
	DriverSurfRef     struct{}
	DriverKernel      struct{}
	DriverFunction    struct{}
	DriverPools       struct{}
	DriverPool        struct{}
	DriverSharing     struct{}
	DriverGraph       struct{}
	DriverOrder       struct{}
	DriverOrderQueue  struct{}
	DriverStream      struct{}
	DriverTail        struct{}
	DriverContext     struct{}
	DriverEvent       struct{}
	DriverGraphMemory struct{}
	DriverAdvice      struct{}
	DriverRanges      struct{}
	DriverObjects     struct{}
	DriverStreamAttrs struct{}
	DriverCoredumps   struct{}
	DriverNotices     struct{}
	DriverGraves      struct{}
	DriverNames       struct{}
	Packs             struct{}
	TapQuiet          struct{}
	TapDevice         struct{}
	TapProgram        struct{}
	TapKernel         struct{}
	TapHost           struct{}
	ShimAgain         struct{}
	CompareDevice     struct{}
	CompareKernel     struct{}
	CompareAddends    struct{}
	CompareReport     struct{}
	Dumper            struct{}
	HIPBackend        struct{}
	HIPProgram        struct{}
	HIPCode           struct{}
	HIPKernel         struct{}
	HIPQueue          struct{}
	HIPStream         struct{}
	RocBLAS           struct{}
	RocBLASHandle     struct{}
	RocSPARSE         struct{}
	RocSPARSEHandle   struct{}
	MIOpen            struct{}
	MIOpenHandle      struct{}
	HipBLASLt         struct{}
	HipBLASLtDevice   struct{}
	NCCLVendor        struct{}
	HIPMailbox        struct{}
	HIPTextures       struct{}
	HIPVirtual        struct{}
	HIPPeers          struct{}
	HIPClock          struct{}
	HIPDevice         struct{}
	CPUDevice         struct{}
	CPUProgram        struct{}
	Fallback          struct{}
	CPUAhead          struct{}
	CPUKernel         struct{}
	CPUPromoter       struct{}
	CPUVariants       struct{}
	CPUDebug          struct{}
	InterpHost        struct{}
	InterpChildren    struct{}
	InterpOutput      struct{}
	InterpPairs       struct{}
	Progress          struct{}
	CompileClient     struct{}
	CompileProcess    struct{}
	CompileWrite      struct{}
	CompileConn       struct{}
	Cache             struct{}
	ForeignLibrary    struct{}
	TextureHandles    struct{}
	Book              struct{}
	CUDATextures      struct{}
	CUDAPlaces        struct{}
	EngineTextures    struct{}
	EngineRetired     struct{}
	EngineTasks       struct{}
	EngineFences      struct{}
	Handles           struct{}
	DriverLogs        struct{}
)

// Row is a lock.
type Row struct {
	Lock   reflect.Type
	Where  string // the room, and the field where the room has several
	Guards string
	Waits  bool // may be held while work of a queue is waited for
	Nests  bool // several may be held at once
}

// Order has every lock. Who holds one may take those that come later, and no other.
func Order() []Row {
	return []Row{
		{Lock: reflect.TypeFor[NVVMProgram](), Where: "shim/nvvm", Guards: "modules, result and log of a program, while it is compiled too"},
		{Lock: reflect.TypeFor[NVRTCProgram](), Where: "shim/nvrtc", Guards: "source, names, results and log of a program, while it is compiled too"},
		{Lock: reflect.TypeFor[NVML](), Where: "shim/nvml", Guards: "how often it was initialised"},
		{Lock: reflect.TypeFor[RosterSample](), Where: "roster.Sampler", Guards: "the counters as read last"},
		{Lock: reflect.TypeFor[RosterEnergy](), Where: "roster: energy", Guards: "the meter as read last"},
		{Lock: reflect.TypeFor[BlasHandle](), Where: "shim/cublas.Handle", Guards: "stream, modes and workspace of a handle"},
		{Lock: reflect.TypeFor[NCCLNews](), Where: "shim/nccl: hub.serve", Guards: "what is written to a rank of another process, the table first", Waits: true},
		{Lock: reflect.TypeFor[NCCLHubs](), Where: "shim/nccl", Guards: "where ranks meet, by secret"},
		{Lock: reflect.TypeFor[NCCLHub](), Where: "shim/nccl.hub", Guards: "who came, left or was lost"},
		{Lock: reflect.TypeFor[NCCLLive](), Where: "shim/nccl", Guards: "the ranks of this process"},
		{Lock: reflect.TypeFor[NCCLComm](), Where: "shim/nccl.comm", Guards: "the last task, connections, reductions, windows"},
		{Lock: reflect.TypeFor[NCCLSock](), Where: "shim/nccl.sock", Guards: "who uses a connection; closes it"},
		{Lock: reflect.TypeFor[NCCLNear](), Where: "shim/nccl", Guards: "mapped memory of other processes, and who uses it"},
		{Lock: reflect.TypeFor[RandGenerator](), Where: "shim/curand.generator", Guards: "seed, offset and states of a generator, during its calls", Waits: true},
		{Lock: reflect.TypeFor[RandDistributions](), Where: "shim/curand", Guards: "the distributions that programs hold"},
		{Lock: reflect.TypeFor[DNNHandle](), Where: "shim/cudnn.library", Guards: "stream of a handle"},
		{Lock: reflect.TypeFor[SolverFactors](), Where: "shim/cusolver", Guards: "factors of sparse matrices that are kept between calls, during these", Waits: true},
		{Lock: reflect.TypeFor[DNNDescriptor](), Where: "shim/cudnn/graph.Descriptor", Guards: "attributes of a descriptor until it is finalized"},
		{Lock: reflect.TypeFor[DNNProgram](), Where: "shim/cudnn/fuse.Program", Guards: "the kernels of an expression, by shape"},
		{Lock: reflect.TypeFor[DNNFused](), Where: "shim/cudnn/fuse", Guards: "the kernels of all expressions, and which were launched last"},
		{Lock: reflect.TypeFor[SolverHandle](), Where: "shim/cusolver", Guards: "stream and modes of a handle, and what parameters say"},
		{Lock: reflect.TypeFor[FftPlan](), Where: "shim/cufft.plan", Guards: "what a plan is made of, during its calls", Waits: true},
		{Lock: reflect.TypeFor[FftPlans](), Where: "shim/cufft", Guards: "the plans and descriptors that programs hold"},
		{Lock: reflect.TypeFor[SparseHandle](), Where: "shim/cusparse.library", Guards: "stream and pointer mode of a handle"},
		{Lock: reflect.TypeFor[LtDescriptors](), Where: "shim/cublaslt", Guards: "free descriptors"},
		{Lock: reflect.TypeFor[ShimProviders](), Where: "shim.Providers", Guards: "the list of providers, while it grows"},
		{Lock: reflect.TypeFor[ShimCalls](), Where: "shim.Workspace", Guards: "a call, to its last kernel; outer calls' before inner ones'", Waits: true, Nests: true},
		{Lock: reflect.TypeFor[SparsePlan](), Where: "shim/cusparse.plan", Guards: "what is kept between the steps of an operation, during its calls", Waits: true},
		{Lock: reflect.TypeFor[ShimKernels](), Where: "shim.Kernels", Guards: "the library's own modules, by context", Waits: true},
		{Lock: reflect.TypeFor[ShimWorkspace](), Where: "shim.Workspace", Guards: "pieces of device memory, by stream", Waits: true},
		{Lock: reflect.TypeFor[OpenBLAS](), Where: "shim/cublas/openblas", Guards: "one product at a time"},
		{Lock: reflect.TypeFor[OneDNN](), Where: "shim/cudnn/onednn", Guards: "operations that were made"},
		{Lock: reflect.TypeFor[OneDNNRun](), Where: "shim/cudnn/onednn", Guards: "one operation at a time, and its memory"},
		{Lock: reflect.TypeFor[JitLink](), Where: "shim/nvjitlink", Guards: "inputs, results and logs of a link"},
		{Lock: reflect.TypeFor[FatBinary](), Where: "shim/nvfatbin", Guards: "parts and result of a fat binary"},
		{Lock: reflect.TypeFor[RuntimeNotices](), Where: "cudart", Guards: "callbacks that were registered"},
		{Lock: reflect.TypeFor[RuntimePrimaries](), Where: "cudart", Guards: "which primary contexts the runtime holds", Waits: true},
		{Lock: reflect.TypeFor[RuntimeRegistry](), Where: "cudart", Guards: "what programs registered before main"},
		{Lock: reflect.TypeFor[RuntimeFatbin](), Where: "cudart.fatbin", Guards: "its library, while it is loaded", Waits: true},
		{Lock: reflect.TypeFor[DriverState](), Where: "driver: state.mu", Guards: "cuInit"},
		{Lock: reflect.TypeFor[DriverOldLaunch](), Where: "driver: Function.old", Guards: "a launch made piece by piece; held while it is put in", Waits: true},
		{Lock: reflect.TypeFor[DriverExec](), Where: "driver: GraphExec.mu", Guards: "an instantiated graph; held while a launch is put in", Waits: true},
		{Lock: reflect.TypeFor[DriverLinker](), Where: "driver: Linker.mu", Guards: "inputs and output of a link"},
		{Lock: reflect.TypeFor[DriverLibrary](), Where: "driver: Library.mu", Guards: "kernels of a library; held while it is loaded into a context", Waits: true},
		{Lock: reflect.TypeFor[DriverVirtual](), Where: "driver: virtualSpace.mu", Guards: "reserved and mapped addresses; held while the backend maps"},
		{Lock: reflect.TypeFor[DriverDevice](), Where: "driver: Device.mu", Guards: "the primary context's coming and going", Waits: true},
		{Lock: reflect.TypeFor[DriverModule](), Where: "driver: Module.mu", Guards: "functions by name"},
		{Lock: reflect.TypeFor[DriverRefs](), Where: "driver: Module.refs", Guards: "texture references; held while they are bound", Waits: true},
		{Lock: reflect.TypeFor[DriverTexRef](), Where: "driver: TexRef.mu", Guards: "what is set on a texture reference"},
		{Lock: reflect.TypeFor[DriverSurfRef](), Where: "driver: SurfRef.mu", Guards: "what is set on a surface reference"},
		{Lock: reflect.TypeFor[DriverKernel](), Where: "driver: Kernel.mu", Guards: "attributes for functions made later"},
		{Lock: reflect.TypeFor[DriverFunction](), Where: "driver: Function.infoMu", Guards: "one thread compiles, the others wait"},
		{Lock: reflect.TypeFor[DriverPools](), Where: "driver: devicePools.mu", Guards: "the pools of a device"},
		{Lock: reflect.TypeFor[DriverPool](), Where: "driver: Pool.mu", Guards: "free blocks and counters of a pool"},
		{Lock: reflect.TypeFor[DriverSharing](), Where: "driver: sharing.mu", Guards: "memory of other processes, and ours that others see"},
		{Lock: reflect.TypeFor[DriverGraph](), Where: "driver: state.graphMu", Guards: "all graphs, nodes, captures"},
		{Lock: reflect.TypeFor[DriverOrder](), Where: "driver: Context.order", Guards: "the order of the legacy stream; held while work is put in"},
		{Lock: reflect.TypeFor[DriverOrderQueue](), Where: "driver/orderlock: RWLock.mu", Guards: "those that wait for it"},
		{Lock: reflect.TypeFor[DriverStream](), Where: "driver: Stream.mu", Guards: "how far the stream has waited for the legacy stream"},
		{Lock: reflect.TypeFor[DriverTail](), Where: "driver: Context.tailMu", Guards: "the end of the legacy stream"},
		{Lock: reflect.TypeFor[DriverContext](), Where: "driver: Context.mu", Guards: "streams, events, modules, limits of a context"},
		{Lock: reflect.TypeFor[DriverEvent](), Where: "driver: Event.mu", Guards: "the last record"},
		{Lock: reflect.TypeFor[DriverGraphMemory](), Where: "driver: graphCounters.mu", Guards: "counters of memory in graphs"},
		{Lock: reflect.TypeFor[DriverAdvice](), Where: "driver: state.adviceMu", Guards: "advice on managed memory"},
		{Lock: reflect.TypeFor[DriverRanges](), Where: "driver: rangeMap.mu", Guards: "what is known of addresses"},
		{Lock: reflect.TypeFor[DriverObjects](), Where: "driver: objects.mu", Guards: "texture and surface objects"},
		{Lock: reflect.TypeFor[DriverStreamAttrs](), Where: "driver: Stream.attrMu", Guards: "attributes of a stream"},
		{Lock: reflect.TypeFor[DriverCoredumps](), Where: "driver: coredumps", Guards: "settings of core dumps"},
		{Lock: reflect.TypeFor[DriverNotices](), Where: "driver: notifications", Guards: "functions to be told"},
		{Lock: reflect.TypeFor[DriverGraves](), Where: "driver: graveyard.mu", Guards: "contexts that ended"},
		{Lock: reflect.TypeFor[DriverNames](), Where: "driver: nameTable.mu", Guards: "names as C strings"},
		{Lock: reflect.TypeFor[Packs](), Where: "pack: inUse", Guards: "packs that were opened, and what they refuse; held while an index is read"},
		{Lock: reflect.TypeFor[TapQuiet](), Where: "backend/tap", Guards: "nothing runs while a launch is compared or dumped", Waits: true},
		{Lock: reflect.TypeFor[TapDevice](), Where: "backend/tap", Guards: "open queues and textures"},
		{Lock: reflect.TypeFor[TapProgram](), Where: "backend/tap", Guards: "a module's kernels, and the taker's own program for it"},
		{Lock: reflect.TypeFor[TapKernel](), Where: "backend/tap", Guards: "a kernel's text"},
		{Lock: reflect.TypeFor[TapHost](), Where: "backend/tap", Guards: "host memory that kernels see"},
		{Lock: reflect.TypeFor[ShimAgain](), Where: "shim/again.Checker", Guards: "how often calls were done again"},
		{Lock: reflect.TypeFor[CompareDevice](), Where: "backend/compare", Guards: "the references of devices"},
		{Lock: reflect.TypeFor[CompareKernel](), Where: "backend/compare", Guards: "what was compared"},
		{Lock: reflect.TypeFor[CompareAddends](), Where: "backend/compare", Guards: "counts of atomics"},
		{Lock: reflect.TypeFor[CompareReport](), Where: "backend/compare", Guards: "the file of the report"},
		{Lock: reflect.TypeFor[Dumper](), Where: "backend/dumper", Guards: "how many launches there were"},
		{Lock: reflect.TypeFor[HIPBackend](), Where: "backend/hip", Guards: "what Open found"},
		{Lock: reflect.TypeFor[HIPProgram](), Where: "backend/hip", Guards: "kernels by name"},
		{Lock: reflect.TypeFor[HIPCode](), Where: "backend/hip: program.gate", Guards: "code that a launch names", Waits: true},
		{Lock: reflect.TypeFor[HIPKernel](), Where: "backend/hip", Guards: "its code, while it is made"},
		{Lock: reflect.TypeFor[HIPQueue](), Where: "backend/hip", Guards: "workspace of cooperative launches"},
		{Lock: reflect.TypeFor[HIPStream](), Where: "backend/hip: queue.gate", Guards: "a stream that is named in a call", Waits: true},
		{Lock: reflect.TypeFor[RocBLAS](), Where: "shim/cublas/rocblas", Guards: "its handles", Waits: true},
		{Lock: reflect.TypeFor[RocBLASHandle](), Where: "shim/cublas/rocblas", Guards: "a handle's stream and modes, and a call with them", Waits: true},
		{Lock: reflect.TypeFor[RocSPARSE](), Where: "shim/cusparse/rocsparse", Guards: "its handles", Waits: true},
		{Lock: reflect.TypeFor[RocSPARSEHandle](), Where: "shim/cusparse/rocsparse", Guards: "a handle's stream and mode, and a call with them", Waits: true},
		{Lock: reflect.TypeFor[MIOpen](), Where: "shim/cudnn/miopen", Guards: "its handles", Waits: true},
		{Lock: reflect.TypeFor[MIOpenHandle](), Where: "shim/cudnn/miopen", Guards: "a handle's stream, and a call with it", Waits: true},
		{Lock: reflect.TypeFor[HipBLASLt](), Where: "shim/cublaslt/hipblaslt", Guards: "its devices", Waits: true},
		{Lock: reflect.TypeFor[HipBLASLtDevice](), Where: "shim/cublaslt/hipblaslt", Guards: "ways that were found", Waits: true},
		{Lock: reflect.TypeFor[NCCLVendor](), Where: "shim/nccl", Guards: "the communicators of RCCL, during its calls", Waits: true},
		{Lock: reflect.TypeFor[HIPMailbox](), Where: "backend/hip", Guards: "the device runtime's memory", Waits: true},
		{Lock: reflect.TypeFor[HIPTextures](), Where: "backend/hip", Guards: "the table of textures", Waits: true},
		{Lock: reflect.TypeFor[HIPVirtual](), Where: "backend/hip", Guards: "handles of virtual memory"},
		{Lock: reflect.TypeFor[HIPPeers](), Where: "backend/hip", Guards: "peers, counted"},
		{Lock: reflect.TypeFor[HIPClock](), Where: "backend/hip", Guards: "the event that times are taken from", Waits: true},
		{Lock: reflect.TypeFor[HIPDevice](), Where: "backend/hip", Guards: "stack limit and stream of a device"},
		{Lock: reflect.TypeFor[CPUDevice](), Where: "backend/cpu", Guards: "named domains"},
		{Lock: reflect.TypeFor[CPUProgram](), Where: "backend/cpu", Guards: "kernels, and the interpreter's program while it is loaded"},
		{Lock: reflect.TypeFor[Fallback](), Where: "devices", Guards: "devices that the interpreter stands in for"},
		{Lock: reflect.TypeFor[CPUAhead](), Where: "backend/cpu: Kernel.aheadMu", Guards: "compilations in the background"},
		{Lock: reflect.TypeFor[CPUKernel](), Where: "backend/cpu: Kernel.mu", Guards: "the list of variants, while it changes"},
		{Lock: reflect.TypeFor[CPUPromoter](), Where: "backend/cpu: promoter.mu", Guards: "baseline variants that wait for their optimised code"},
		{Lock: reflect.TypeFor[CPUVariants](), Where: "backend/cpu: registry.mu", Guards: "variants by number, for faults"},
		{Lock: reflect.TypeFor[CPUDebug](), Where: "backend/cpu", Guards: "the file of names for perf"},
		{Lock: reflect.TypeFor[InterpHost](), Where: "backend/interp", Guards: "host memory that kernels see"},
		{Lock: reflect.TypeFor[InterpChildren](), Where: "backend/interp", Guards: "what a grid launched"},
		{Lock: reflect.TypeFor[InterpOutput](), Where: "backend/interp", Guards: "what kernels print"},
		{Lock: reflect.TypeFor[InterpPairs](), Where: "backend/interp", Guards: "16-byte exchanges, where the machine has none"},
		{Lock: reflect.TypeFor[Progress](), Where: "devices", Guards: "the line that says what is compiled"},
		{Lock: reflect.TypeFor[CompileClient](), Where: "compile.Client", Guards: "compilations under way, the process"},
		{Lock: reflect.TypeFor[CompileProcess](), Where: "compile: process.mu", Guards: "requests without an answer"},
		{Lock: reflect.TypeFor[CompileWrite](), Where: "compile: process.write", Guards: "frames go in whole"},
		{Lock: reflect.TypeFor[CompileConn](), Where: "compile: conn.mu", Guards: "who uses the socket, and until when"},
		{Lock: reflect.TypeFor[Cache](), Where: "cache", Guards: "sizes and warnings"},
		{Lock: reflect.TypeFor[ForeignLibrary](), Where: "dl.Library", Guards: "symbols that were found"},
		{Lock: reflect.TypeFor[CUDATextures](), Where: "backend/cuda", Guards: "objects, and arrays that stand for memory"},
		{Lock: reflect.TypeFor[CUDAPlaces](), Where: "backend/cuda", Guards: "memory at addresses that were asked for"},
		{Lock: reflect.TypeFor[Book](), Where: "backend", Guards: "a vendor's allocations"},
		{Lock: reflect.TypeFor[TextureHandles](), Where: "backend", Guards: "handles of the process"},
		{Lock: reflect.TypeFor[EngineTextures](), Where: "engine", Guards: "writers of the table of textures"},
		{Lock: reflect.TypeFor[EngineRetired](), Where: "engine", Guards: "what waits to be freed"},
		{Lock: reflect.TypeFor[EngineTasks](), Where: "engine", Guards: "numbers of Go tasks"},
		{Lock: reflect.TypeFor[EngineFences](), Where: "engine", Guards: "fences for reuse"},
		{Lock: reflect.TypeFor[Handles](), Where: "handle.Table", Guards: "free slots"},
		{Lock: reflect.TypeFor[DriverLogs](), Where: "driver: logs", Guards: "what was said"},
	}
}
