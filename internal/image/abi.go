// Package image is the flat native image of one compiled kernel: how an object file is laid out into it, how it is
// checked and mapped, and the calling convention between the code in it and the engine that runs it.
//
// # Calling convention
//
// An image's entry is one C function over a range of consecutive blocks of the grid:
//
//	uint32_t kernel(const struct kz_launch *l, struct kz_worker *w, uint64_t first, uint64_t count);
//
// Blocks are numbered x fastest, then y, then z. The function runs blocks first … first+count-1 in order, all warps of
// each, and returns 0, or a non-zero StopXxx code when a thread trapped (w then says where). A kernel that is
// Meta.Resumable returns StopYield when RtYield asked it to: called again with the same block, count 1 and w->resume set,
// it goes on. It is position
// independent, has no writable data and calls nothing but entries of l->rt.
//
//	struct kz_launch {            // one per launch, read-only for kernels; offsets are the LaunchXxx constants
//	    const uint8_t  *params;   //  0  parameter block
//	    const uint64_t *vars;     //  8  address of each variable the image names, in Meta.Vars order
//	    const void *const *rt;    // 16  runtime entry points, in the order of the RtXxx constants
//	    uint32_t grid[3];         // 24
//	    uint32_t block[3];        // 36
//	    uint32_t shared_dynamic;  // 48  bytes
//	    uint32_t shared_total;    // 52  static + dynamic
//	    uint64_t grid_id;         // 56
//	    uint32_t warps;           // 64  per block
//	    uint32_t threads;         // 68  per block
//	    void    *launch_private;  // 72  the engine's
//	    uint32_t cluster[3];      // 80
//	    uint32_t flags;           // 92
//	    uint64_t workspace;       // 96  of a cooperative launch: its barrier, as %envreg1 and %envreg2 show it; else 0
//	    uint64_t traced[2];       // 104 the engine's
//	    uint64_t reserved;
//	};
//	struct kz_worker {            // one per worker thread; offsets are the WorkerXxx constants
//	    uint8_t *shared;          //  0  the block's shared memory, 128-byte aligned, static variables first
//	    uint8_t *frame;           //  8  Meta.FrameWarp bytes per warp + Meta.FrameBlock bytes, 64-byte aligned
//	    uint8_t *local;           // 16  Meta.LocalThread bytes per thread, thread t at local + t*LocalThread unless the kernel divides a warp's otherwise
//	    uint64_t block;           // 24  linear number of the block running, kept by the image for fault reports
//	    uint32_t warp;            // 32  warp running, likewise
//	    uint32_t id;              // 36  worker number: %smid
//	    uint32_t stop_line;       // 40  PTX line of a trap or assert
//	    uint32_t stop_lanes;      // 44  lanes that trapped
//	    uint64_t shared_window;   // 48  generic address of shared offset 0 (equals shared)
//	    uint64_t local_window;    // 56
//	    void    *worker_private;  // 64  the engine's
//	    uint32_t resume;          // 72  not 0: the block was left at StopYield, its state lies in frame, shared and local
//	    uint32_t turn;            // 76  how many blocks further on the worker's next one is, mostly; for prefetches
//	};
//
// Addresses in the .shared space are byte offsets from w->shared (so that shared address 0 is valid there); generic
// addresses of shared and local memory are host addresses, and cvta adds or subtracts the base. Static variables start
// at SharedFirst, the dynamic area follows at SharedStatic rounded up to its alignment.
// Floating-point mode: the engine sets MXCSR (round to nearest, all exceptions masked, FTZ and DAZ as Meta.FTZ says)
// around the call.
package image

// Offsets in struct kz_launch.
const (
	LaunchParams        = 0
	LaunchVars          = 8
	LaunchRT            = 16
	LaunchGrid          = 24
	LaunchBlock         = 36
	LaunchSharedDynamic = 48
	LaunchSharedTotal   = 52
	LaunchGridID        = 56
	LaunchWarps         = 64
	LaunchThreads       = 68
	LaunchPrivate       = 72
	LaunchCluster       = 80
	LaunchFlags         = 92
	LaunchWorkspace     = 96
	LaunchSize          = 128
)

// Offsets in struct kz_worker.
const (
	WorkerShared       = 0
	WorkerFrame        = 8
	WorkerLocal        = 16
	WorkerBlock        = 24
	WorkerWarp         = 32
	WorkerID           = 36
	WorkerStopLine     = 40
	WorkerStopLanes    = 44
	WorkerSharedWindow = 48
	WorkerLocalWindow  = 56
	WorkerPrivate      = 64
	WorkerResume       = 72
	WorkerTurn         = 76
	WorkerSize         = 128
)

// What an entry returns.
const (
	StopNone     = 0
	StopTrap     = 1 // trap, brkpt
	StopAssert   = 2
	StopDeadlock = 3 // every warp of the block waits at a barrier that cannot complete
	StopMisalign = 4
	StopStack    = 5
	StopCall     = 6  // a call through a pointer that is no function's
	StopYield    = 7  // not a fault: the block waits for others
	StopTexture  = 8  // no such texture or surface, or outside one where that is not allowed
	StopIllegal  = 9  // an instruction with operands that the hardware refuses
	StopOutside  = 10 // an access outside local or shared memory
)

// Runtime entry points, indices into kz_launch.rt. All take (kz_launch*, kz_worker*, …) and never call Go.
const (
	RtVprintf   = iota // (l, w, fmt u64, args u64) → i32: one thread's vprintf
	RtMalloc           // (l, w, bytes u64) → u64
	RtFree             // (l, w, ptr u64)
	RtAssert           // (l, w, message, file u64, line u32, function u64): records the text; the image returns StopAssert
	RtClock            // () → u64: cycles
	RtTimer            // () → u64: nanoseconds (%globaltimer)
	RtYield            // (l, w) → u32: a thread spins on memory; let others run. Not 0: return StopYield
	RtNanosleep        // (l, w, ns u32)
	RtTexture          // (l, w, op u32, mask u32, args, results) → u64: see texture.go
	RtCluster          // (l, w, op u32) → u64: see ClusterArrive and its like
	RtTensor           // (l, w, op u32, mask u32, args, results) → u64: see tensor.go
	RtDevice           // (l, w, call u32, thread u32, five u64) → u64: a function of CUDA's device runtime, by its place in devrt.Calls
	RtLaunch           // the same, for those that need the grid's list of launches: Meta.Launches
	RtCome             // (l, w, function u64): one thread comes to a call of a function that is compiled by itself
	RtCalled           // (l, w, function u64) → u32: the whole block has come; runs the function. 1: it waits for other blocks, call again
	NumRt
)

// What RtCluster does. The blocks of a cluster are on one thread, in turns, so nothing has to be atomic.
const (
	ClusterArrive = iota // one thread arrives at the cluster's barrier; the number of the phase, which is over when it is another
	ClusterExit          // one thread ends, and is waited for no more
	ClusterPhase         // the address of the phase's number, 64 bits
)

// ClusterStride is how far the shared memories of a cluster's blocks lie apart, in the order of their ranks: as far as the hardware's.
const ClusterStride = 16 << 20

// SharedFirst is the offset of the first static shared variable.
const SharedFirst = 0

// SharedReserved are the bytes that the hardware keeps for itself in each block's shared memory, and SharedUnit is what it hands out at a
// time. Here they are at the end, behind what the program has, rounded up, and only in kernels that ask where they are (Meta.Reserved).
const (
	SharedReserved = 1024
	SharedUnit     = 128
)

// Meta is what the runtime must know of an image beside its bytes.
type Meta struct {
	Kernel       string
	Block        [3]uint32 // the block shape the code is specialised to; zero: any
	SharedStatic uint32    // bytes
	SharedAlign  uint32
	FrameWarp    uint32 // bytes of frame per warp, a multiple of 64
	FrameBlock   uint32 // bytes of frame per block, before the warps'
	LocalThread  uint32 // bytes of local memory per thread, a multiple of 16
	ParamBytes   uint32
	Registers    uint32   // an honest stand-in: peak of live 32-bit values per thread
	FTZ          bool     // run with FTZ and DAZ set
	Spins        bool     // some loop waits on memory: the kernel must not run on the launching thread
	Cooperative  bool     // uses grid-wide sync
	Resumable    bool     // may return StopYield
	Launches     bool     // calls RtLaunch
	Reserved     bool     // the last SharedReserved bytes of shared memory are the system's
	Vars         []string // module variables whose addresses go to kz_launch.vars
	Funcs        []string // functions whose ids are taken (indirect calls)
	PTXVersion   uint32   // of the .target: 80
	Lines        []Line   // code offset → PTX line of the slice, sorted by Offset
}

// Line says that code from Offset on comes from a line of the kernel's PTX slice.
type Line struct {
	Offset uint32
	Line   uint32
}
