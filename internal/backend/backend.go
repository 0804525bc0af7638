// Package backend is what the driver asks of a device: memory, queues, programs, kernels.
//
// A backend offers Devices; a Device gives Memory and Queues and loads Programs; a Program's Kernels are launched on
// Queues. The interfaces are small and say their ordering and locking; what only some backends can do is a separate
// one-method interface, asserted where it is used. The package holds no policy and imports nothing of ours.
package backend

import "time"

// Addr is a device address. On cpu and interp it is an address of this process; on hip and cuda the vendor's.
type Addr uint64

// Backend finds devices. Open is called once, before anything else; an error says in one line why there are no devices.
type Backend interface {
	Name() string
	Open() ([]Device, error)
}

// Device is one device. Its methods may be called from any thread at any time.
type Device interface {
	Info() *Info
	Memory() Memory

	// NewQueue makes an empty queue. Work of one queue runs in order; different queues run concurrently.
	// Higher Priority runs first where both are ready.
	NewQueue(priority int) (Queue, error)

	// Load takes a module and places its variables. It does not compile: that happens at the first launch of a kernel,
	// or earlier where Kernel.Prepare is called.
	Load(m *Module) (Program, error)
}

// Info is what a device says of itself. The driver derives attributes and properties from it.
type Info struct {
	Name         string
	UUID         [16]byte
	PCI          [3]int // domain, bus, device
	Major, Minor int    // compute capability
	Memory       uint64 // bytes, total
	Processors   int    // multiprocessors: worker threads on a CPU
	WarpSize     int
	ClockKHz     int
	MemoryKHz    int
	BusWidth     int // bits
	L2Bytes      int
	MaxThreads   int // per block
	MaxBlock     [3]int
	MaxGrid      [3]int
	SharedBlock  int // bytes per block without opt-in
	SharedOptin  int // bytes per block with the function attribute raised
	SharedSM     int
	ConstBytes   int
	Registers    int // per block
	ThreadsPerSM int
	BlocksPerSM  int
	HostPointers bool // device code may touch pageable host memory
	HostVisible  bool // the host may touch the device's memory, at the same addresses
	Peers        bool // device code may touch memory of the backend's other devices
	Managed      bool // its Memory is Managed, and has such memory
	Cooperative  bool
	Integrated   bool
	Timeout      time.Duration // a launch that runs longer is stopped: FaultTimeout; 0: none is
	OwnPTX       bool          // it takes only PTX that its compute capability runs: a vendor's driver compiles it
	Abroad       bool          // its queues take work from libraries of its vendor: they are Abroad
}

// Memory is a device's memory. Copies and fills are queue work; this is allocation only.
type Memory interface {
	// Alloc gives n > 0 bytes aligned to at least 256 and to align (a power of two). The bytes are not cleared.
	// ErrNoMemory when the device's limit would be passed.
	Alloc(n, align uint64) (Addr, error)
	// Free gives back what Alloc gave. Work in flight that uses it is the caller's to finish first.
	Free(Addr) error
	// Usage is bytes free and total.
	Usage() (free, total uint64)
}

// HostMemory is offered by devices that must know which host memory kernels may reach: pinned memory on a vendor's driver,
// checked addresses on the interpreter. Where a device's Memory does not offer it, any memory of the process serves.
type HostMemory interface {
	// AllocHost gives n > 0 bytes of host memory, page aligned, that device code may touch at the same address.
	AllocHost(n uint64) (Addr, error)
	FreeHost(Addr) error
	// RegisterHost does the same for memory the program has; UnregisterHost takes what RegisterHost took.
	RegisterHost(a Addr, n uint64) error
	UnregisterHost(a Addr) error
}

// Queue is an ordered list of work. Methods only enqueue and return at once unless they say otherwise; they may be called
// from several threads, each call being one atomic append. After a fault (Sync returned a *Fault) the queue accepts nothing more.
type Queue interface {
	// Launch runs k over the grid after all earlier work of the queue. Params is copied before Launch returns.
	Launch(k Kernel, l *Launch) error
	// Copy moves n bytes; ranges may overlap only if equal. Either address may be host or device memory.
	Copy(dst, src Addr, n uint64) error
	// Copy2D moves height rows of width bytes.
	Copy2D(dst Addr, dstPitch uint64, src Addr, srcPitch, width, height uint64) error
	// Fill writes count elements of size 1, 2 or 4 bytes, rows apart by pitch bytes (rows 1: pitch unused).
	Fill(dst Addr, value uint32, size int, count, pitch, rows uint64) error
	// Host calls fn on a thread of ours when earlier work is done, and delays later work until it returns.
	// fn must not call the driver's synchronizing functions.
	Host(fn func()) error
	// Mark returns a fence that is reached when all work enqueued so far is done.
	Mark() (Fence, error)
	// Wait delays later work of this queue until f is reached. f may be of another queue of the same backend.
	Wait(f Fence) error
	// Sync blocks until the queue is empty. The calling thread may run the queue's work itself.
	// The error is a *Fault if a kernel faulted.
	Sync() error
	// Done reports whether the queue is empty, without blocking.
	Done() (bool, error)
	// Close waits for the queue's work and frees it.
	Close() error
}

// Fence is a point in a queue.
type Fence interface {
	Done() (bool, error)
	// Sync blocks until the fence is reached; as Queue.Sync.
	Sync() error
	// Nanos is when the fence was reached, on the backend's monotonic clock; 0 before that.
	Nanos() int64
}

// Module is a PTX module as the driver read it. It stays unchanged and reachable while the Program lives.
type Module struct {
	Name string // for messages
	Text string // the whole module
	Pack string // whose text it is, if a pack's: its name, a tab, what it has

	Kernels []KernelDecl
	Vars    []VarDecl

	// Slice is the self-contained PTX text of one kernel and what it reaches; line maps a line of it to a line of Text.
	// Its text does not depend on the rest of the module, so it serves as a cache key.
	Slice func(kernel string) (text string, line func(int) int, err error)

	// Lazy tells of a kernel whose calls through pointers reach so much text that its functions had better be compiled one by one, when
	// they are first called; nil of other kernels. May be nil. Slice gives such a kernel whole.
	Lazy func(kernel string) *Lazy

	Options Options
}

// Lazy is a kernel and the functions that its calls through pointers may reach, each by itself.
type Lazy struct {
	Functions []string
	// Slice is the text of the kernel without these functions, or of a function as the kernel calls it, all of a block at once: kernel entry
	// of that text.
	Slice func(function string) (entry, text string, line func(int) int, err error)
}

// Options are the JIT options that change code.
type Options struct {
	MaxRegisters int
	OptLevel     int // -1: default
	Debug        bool
	LineInfo     bool
	FastCompile  bool
}

// KernelDecl is one .entry.
type KernelDecl struct {
	Name       string
	Params     []ParamDecl
	ParamBytes int
	MaxBlock   [3]int // .maxntid, zero if absent
	ReqBlock   [3]int // .reqntid, zero if absent
	ReqCluster [3]int // .reqnctapercluster, zero if absent
	// MaxRegisters is the limit of registers a thread, .maxnreg or the program's; zero if there is none.
	MaxRegisters int
}

// ParamDecl is one kernel parameter.
type ParamDecl struct {
	Name                string
	Offset, Size, Align int
}

// VarDecl is a module-level variable in global or constant memory.
type VarDecl struct {
	Name    string
	Const   bool
	Extern  bool
	Visible bool
	Local   bool // a function's own: programs cannot ask for it
	Managed bool
	Opaque  uint8 // TextureObject … for .texref, .surfref and .samplerref: it holds a handle
	Size    uint64
	Align   uint64
	Init    []byte // nil: zeros
	Relocs  []VarReloc
}

// VarReloc is an address inside an initialiser.
type VarReloc struct {
	Offset uint64
	Size   int
	Symbol string // a variable, or a function whose address is a function id
	Addend int64
	Mask   uint64 // 0: the whole address
}

// Program is a loaded module.
type Program interface {
	// Kernel finds a kernel by name; ErrNotFound if there is none.
	Kernel(name string) (Kernel, error)
	// Var is where a variable lives and its size; ErrNotFound if there is none.
	Var(name string) (Addr, uint64, error)
	// Unload frees everything, once the work that queues have of it is done. Later launches get ErrClosed.
	Unload() error
}

// Kernel is one entry point of a program.
type Kernel interface {
	Name() string
	// Info parses and, where the numbers need it, compiles.
	Info() (*KernelInfo, error)
	// Prepare compiles for a block shape (zero: any), so that a later launch does not have to.
	Prepare(block [3]uint32) error
}

// KernelInfo is what cuFuncGetAttribute tells.
type KernelInfo struct {
	StaticShared  int // bytes per block
	Const         int // bytes of constant memory the kernel reaches
	Local         int // bytes per thread
	Registers     int
	MaxThreads    int
	PTXVersion    int // 80 for a module compiled for compute capability 8.0
	BinaryVersion int
}

// Launch is one kernel launch. The driver has checked it against the device's and kernel's limits.
type Launch struct {
	Grid, Block   [3]uint32
	DynamicShared uint32
	Params        []byte // laid out as KernelDecl says
	Cooperative   bool
	Cluster       [3]uint32 // zero: none
}
