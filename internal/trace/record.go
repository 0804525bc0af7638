package trace

import "time"

// Process is one process image: exec begins another one with the same PID.
type Process struct {
	PID, PPID int
	Number    int       // which image of this PID
	Args      []string  // the program's path, then its arguments
	Start     time.Time // when the recorder began
	Real      bool      // calls went to NVIDIA's own libraries
	Lost      int       // records that did not fit anywhere
	Threads   []*Thread // in the order in which they made their first record
	File      string    // the name of its file

	place int // among the processes of the trace
}

// Thread is one thread of a process.
type Thread struct {
	Process *Process
	TID     int
	Number  int    // 1 for the first of its process
	Name    string // as the program named it; empty: it did not

	chunks []chunk
	last   int64 // when what was read last began, by the monotonic clock
}

// Record is one thing that happened. Exactly one of Call, Event and Module is set.
type Record struct {
	Thread *Thread
	Time   int64 // when it began: nanoseconds since the trace did
	Call   *Call
	Event  *Event
	Module *Module

	Resumed bool // of a Tail: a call that was given before, when it had not returned
}

// Running is the End of a call that has not returned.
const Running = -1

// Call is one call of an exported function.
type Call struct {
	Thread     *Thread
	ID         uint64 // of this process
	Library    string // its soname; empty where the file lacks the row
	Name       string // of the function
	Slot       uint32 // its place in the library's table
	Begin, End int64  // nanoseconds since the start of the trace; Running
	Depth      int    // 0: called by the program; 1: by a function of depth 0 or its callback
	Result     uint64 // what the register had
	Caller     uint64 // the return address
	Words      []uint64
	Blobs      []Blob
	Module     *Module // that it was given, once it is known

	// By a Decoder:
	Args    []Arg
	Returns *Value  // nil: nothing, or not yet
	Failed  bool    // the result is a code, and not that of success
	Waiting bool    // of these: it only says that something is not over
	Launch  *Launch // of calls that launch a kernel
}

// Returned reports whether the call came back.
func (c *Call) Returned() bool { return c.End != Running }

// Duration is how long the call took, 0 while it runs.
func (c *Call) Duration() int64 {
	if !c.Returned() {
		return 0
	}
	return c.End - c.Begin
}

// What tells what a blob is.
type What uint8

// The kinds of blob.
const (
	String What = iota // a C string behind an argument
	Struct             // a structure that the function reads
	Out                // a value that it wrote
	Params             // the parameters of a kernel, packed by its layout
	Array              // elements that the function reads
)

// Blob is memory behind an argument.
type Blob struct {
	Arg    int
	What   What
	Cut    bool // there was more of it
	Filled bool // of an Out: the call succeeded and wrote it
	Data   []byte
}

// EventType tells what an event is.
type EventType uint16

// The events of the Go image.
const (
	Kernel       EventType = 1
	Copy         EventType = 2
	Fill         EventType = 3
	HostFunction EventType = 4
	Compile      EventType = 5
	Memory       EventType = 6
	Queue        EventType = 7
	Fault        EventType = 8
	RangeBegin   EventType = 9
	RangeEnd     EventType = 10
	Mark         EventType = 11
	ThreadName   EventType = 12
	Enqueue      EventType = 13
	Domain       EventType = 14 // the name of an NVTX domain
)

// Event is what happened inside, or what the program said with NVTX.
type Event struct {
	Thread     *Thread
	Type       EventType
	Call       uint64 // the id of the call that caused it, 0: none
	Begin, End int64  // nanoseconds since the start of the trace
	Device     int
	Stream     uint64
	Values     [4]uint64
	Text       string
}

// Module is device code as the program gave it, saved in modules/ of the trace's folder.
type Module struct {
	Thread *Thread
	Given  int    // what it was given to
	Call   uint64 // the id of the call that loaded it
	Bytes  uint64
	Hash   string // of the content, 32 characters
	Ext    string // ptx, cubin, fatbin …
}

// File is the name of its file, below modules/.
func (m *Module) File() string { return m.Hash + "." + m.Ext }
