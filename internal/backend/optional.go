package backend

import "sync/atomic"

// What only some backends offer. Each is asserted where it is used.

// Domains is a Device that knows what a fault ends: all queues of one domain (a context), and none of another.
// A domain lives while it has queues; the number is the caller's choice.
type Domains interface {
	NewQueueIn(domain uint64, priority int) (Queue, error)
}

// Peers is a Device that can reach the memory of some other devices of its backend, once it is told to.
type Peers interface {
	CanReach(peer Device) bool
	// Reach lets kernels use the peer's memory, or no longer. What was let several times is taken back as often.
	Reach(peer Device, on bool) error
}

// StackLimit is a Device that can give the threads of its kernels more stack.
type StackLimit interface {
	// SetStack asks for that many bytes a thread from the next launch on. It never takes back what another context asked for.
	SetStack(bytes uint64)
}

// DomainLimits is a Device whose domains have a FIFO for device printf and a heap for device malloc.
type DomainLimits interface {
	// SetLimits sets both in bytes; 0 leaves one as it is. ErrNotFound if the domain has no queue.
	SetLimits(domain, fifo, heap uint64) error
}

// Callbacks is a Queue with host functions that are called in any case.
type Callbacks interface {
	// Callback is Host, but fn is called also after a fault, and hears of it.
	Callback(fn func(error)) error
}

// InlineHost is a Queue whose host functions a thread that waits for them may call itself.
type InlineHost interface {
	// HostInline is Host, on a thread that synchronizes if there is one by then.
	HostInline(fn func()) error
}

// Traced is a Queue that tells the recorder of `kudzu trace` (trace/emit) what is put into it and when that runs.
type Traced interface {
	// Tag says whose queue it is, before its first work; Place repeats it.
	Tag(device uint32, stream uint64)
	Place() (device uint32, stream uint64)
}

// Releaser is a Fence that can be given back before it is garbage. Nobody may use it afterwards.
type Releaser interface{ Release() }

// Managed is a Memory with memory that host and devices share at one address and that moves to who uses it; Info says whether it
// has any. Free gives it back.
type Managed interface {
	// AllocManaged gives n > 0 bytes, page aligned, not cleared, that the host and every device of the backend may touch.
	AllocManaged(n uint64) (Addr, error)
	// Advise passes on what a program knows of a range of it. It may be ignored.
	Advise(a Addr, n uint64, advice Advice, where Device) error
}

// Advice is about managed memory. Where an advice has a place, it is a device, or nil for the host.
type Advice uint8

// What may be advised, and taken back.
const (
	AdviseReadMostly Advice = iota
	AdviseNotReadMostly
	AdvisePreferred
	AdviseNotPreferred
	AdviseAccessedBy
	AdviseNotAccessedBy
)

// Prefetcher is a Queue that can move managed memory ahead of its use.
type Prefetcher interface {
	// Prefetch moves n bytes to a device, or to the host if it is nil, after all earlier work of the queue.
	Prefetch(a Addr, n uint64, to Device) error
}

// Resident is a Kernel whose device tells how many blocks of it a multiprocessor holds at once.
type Resident interface {
	Resident(threads int, dynamicShared uint64) (int, error)
}

// Finder is a Memory that knows its allocations.
type Finder interface {
	// Lookup finds the allocation of this process that holds a, for any value of a.
	Lookup(a Addr) (base Addr, size uint64, ok bool)
}

// Lister is a Memory that lists what is allocated: base and bytes of each allocation that kernels can reach, of every device of the
// backend, variables of modules and mappings included, in order of addresses.
type Lister interface {
	Allocations() [][2]uint64
}

// Placer is a Memory that can give memory at an address that the caller names, where nothing is yet.
type Placer interface {
	// Place gives memory that covers [a, a+n). It may cover more, and what it covered before is not an error.
	Place(a Addr, n uint64) error
}

// Virtual is a Memory whose addresses and memory come apart. All numbers are multiples of Unit. The caller keeps the books:
// it maps only where it reserved and nothing is, and names whole mappings afterwards.
type Virtual interface {
	Unit() uint64
	Reserve(n, align uint64) (Addr, error)
	Unreserve(a Addr, n uint64) error
	// NewFile makes memory as a file descriptor, counted against the device's limit; CloseFile ends it, with 0 for a
	// file that was not counted.
	NewFile(n uint64) (fd int, err error)
	CloseFile(fd int, counted uint64)
	Map(a Addr, n uint64, fd int, off uint64) error
	// SetAccess lets device and host touch a mapping; before, it faults and is unknown to Finder.
	SetAccess(a Addr, n uint64, on bool) error
	Unmap(a Addr, n uint64) error
}

// PerDevice is a Virtual of a vendor's runtime. Its numbers for memory are no files: nothing of it can be exported. And what is mapped
// is seen by the devices that were let, and by no others.
type PerDevice interface {
	// SetAccessOf lets one device touch a mapping, or no longer.
	SetAccessOf(a Addr, n uint64, d Device, access Access) error
}

// Access is what a device may do with a mapping.
type Access uint8

// The kinds of access.
const (
	AccessNone Access = iota
	AccessRead
	AccessReadWrite
)

// Lender is a Memory whose runtime lends allocations to other processes by handles of its own.
type Lender interface {
	// Lend names an allocation for other processes.
	Lend(a Addr) (handle [64]byte, err error)
	// Borrow opens an allocation of another process, and tells how long it is; Return ends that.
	Borrow(handle [64]byte) (a Addr, n uint64, err error)
	Return(a Addr) error
}

// Sharer is a Memory that other processes can be given a part of.
type Sharer interface {
	// Share moves the memory around an allocation into a file, at the same addresses, and gives the file, the place of the
	// allocation in it and the file's length, a multiple of Virtual's unit. No work may touch that memory meanwhile.
	Share(a Addr, n uint64) (fd int, off, length uint64, err error)
	// Unshare takes it out again and closes the file.
	Unshare(a Addr, n uint64, fd int) error
}

// Borrower is a Memory that the machine's other programs have a part in.
type Borrower interface {
	// Available is the bytes that it can give before the machine, or what the process may have of it, runs out; 0: as many as are free.
	Available() uint64
}

// Starter is a Kernel that can be compiled while the program goes on. Start begins that for a block shape; a launch that comes
// before the end goes into its queue and waits there. The error is what Prepare would say, as far as the text alone tells.
type Starter interface {
	Start(block [3]uint32) error
}

// FastPath is a device for which C makes the most frequent calls without Go: launches and waits like one that Go made before, as long as
// nothing has changed that it was checked against. Of several devices that are FastPath, all answer the same.
type FastPath interface {
	// Generation is that of tickets made now; it is read before the checks.
	Generation() uint64
	// Changed is called after a change to anything that was checked. No call with a ticket of an older generation is under way when
	// it returns, and none comes later.
	Changed()
	// Counters are words that C counts in, and what frees them, when no ticket that names them is good.
	Counters(n int) (words []atomic.Uint64, free func())
	// Answered lets C give the same answer to a question about of, which was asked in the key's context.
	Answered(key TicketKey, ask Ask, of uint64, value [2]uint32)
}

// Ask is a question that programs ask all the time.
type Ask uint8

// What is asked.
const (
	AskDevice  Ask = iota // which device is the current one
	AskChosen             // whether choosing this device changes nothing
	AskPrimary            // flags of a device's primary context, and whether it is alive
	AskCapture            // whether a stream is captured
)

// TicketKey is what a call must name to be made with a ticket, on the thread whose place for tickets this is.
type TicketKey struct {
	Thread                *uint64
	Generation            uint64 // as read before the checks
	Func, Stream, Context uint64
}

// AllStreams is the stream of a TicketKey for waiting for all of a context.
const AllStreams = ^uint64(0)

// FastPathQueue is a queue of such a device.
type FastPathQueue interface {
	// TicketLaunch allows launches that differ from l, which was put in a moment ago, in grid, dynamic shared memory and parameters
	// only, within the limits; put counts them. It does nothing where such a launch is not as simple as it looks.
	TicketLaunch(key TicketKey, k Kernel, l *Launch, limits LaunchLimits, put *atomic.Uint64)
	// TicketWait allows to wait for the queue where put, work put in, is not synced, work waited for, unless one of quiet's words,
	// which may be nil, is not zero when it is done.
	TicketWait(key TicketKey, put, synced *atomic.Uint64, quiet [2]*atomic.Uint64)
	// TicketLibrary allows calls of a library that are like c, and nothing but l, which was put in a moment ago; put counts them. It
	// does nothing where TicketLaunch would not.
	TicketLibrary(key TicketKey, k Kernel, l *Launch, c *LibraryCall, put *atomic.Uint64)
}

// LibraryCall is a call of a library: all words but those of patches name it, and two words of its handle, which is alive while the
// ticket is good.
type LibraryCall struct {
	ID      uint32
	Args    []uint64
	Handle  []atomic.Uint64
	Now     [2]uint64
	Patches []Patch
}

// Patch is a word of a call's arguments that is an address, other than 0 and different in each call, and what it becomes.
type Patch struct {
	Kind    PatchKind
	Word    int
	Offset  int  // of the parameter
	NotZero bool // with a number that is 0 the call is another one
}

// PatchKind is what becomes of an address.
type PatchKind uint8

// An address is a parameter itself, or not used, or names a number on the host that becomes two parameters of f64, real and imaginary.
const (
	PatchAddress PatchKind = iota
	PatchUnused
	PatchF32
	PatchF64
	PatchC32
	PatchC64
)

// EngineQueue is a queue of the engine's, which takes operations that only the engine knows. It is an *engine.Queue.
type EngineQueue interface {
	EngineQueue() any
}

// LaunchLimits is what a launch with a ticket is checked against.
type LaunchLimits struct {
	Grid   [3]uint32
	Shared uint32
}

// Innermost is the device behind those that stand in front of one (package tap); others are themselves.
func Innermost(d Device) Device {
	if w, ok := d.(interface{ Inner() Device }); ok {
		return w.Inner()
	}
	return d
}
