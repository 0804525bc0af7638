package trace

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
)

// Writer makes the file of one process, as the recorder does. It is for tests of those who read traces: time is what they say,
// in nanoseconds since the start.
type Writer struct {
	pid     int
	buf     []byte
	chunks  int
	symbols map[names]symbol
	libs    map[string]uint16
	slots   map[uint16]uint32
	threads []*ThreadWriter
}

// ThreadWriter writes the records of one thread.
type ThreadWriter struct {
	w      *Writer
	tid    int
	number uint64
	index  uint64
	count  uint64
	at     int // where its next record goes, 0: in a new chunk
	end    int // of its chunk
}

// startTicks and startMono are when a Writer's files begin; two ticks are a nanosecond.
const startTicks, startMono, startReal = 1_000_000, 5_000_000_000, 1_700_000_000_000_000_000

// NewWriter begins the file of a process.
func NewWriter(pid, ppid int, real bool, args ...string) *Writer {
	w := &Writer{pid: pid, buf: make([]byte, headerSize), symbols: map[names]symbol{}, libs: map[string]uint16{}, slots: map[uint16]uint32{}}
	b := w.buf
	copy(b, magic)
	le.PutUint32(b[atVersion:], version)
	le.PutUint32(b[atHeader:], headerSize)
	le.PutUint32(b[atPID:], uint32(pid))
	le.PutUint32(b[atPPID:], uint32(ppid))
	le.PutUint32(b[atChunk:], chunkSize)
	if real {
		le.PutUint32(b[atFlags:], flagReal)
	}
	le.PutUint64(b[atTicks0:], startTicks)
	le.PutUint64(b[atMono0:], startMono)
	le.PutUint64(b[atReal0:], startReal)
	le.PutUint64(b[atTicks1:], startTicks+2_000_000_000)
	le.PutUint64(b[atMono1:], startMono+1_000_000_000)
	at := argsAt
	for _, a := range args {
		at += copy(b[at:headerSize-2], a) + 1
	}
	return w
}

func ticks(ns int64) uint64 { return uint64(startTicks + 2*ns) }

// Thread begins a thread's records.
func (w *Writer) Thread(tid int) *ThreadWriter {
	t := &ThreadWriter{w: w, tid: tid, number: uint64(len(w.threads) + 1)}
	w.threads = append(w.threads, t)
	return t
}

// room gives a record's bytes, in a new chunk if need be.
func (t *ThreadWriter) room(n int) []byte {
	n = (n + 7) &^ 7
	if t.at == 0 || t.at+n > t.end {
		span := 1
		if n > chunkSize-chunkHeader {
			span = (n + chunkHeader + chunkSize - 1) / chunkSize
		}
		start := len(t.w.buf)
		t.w.buf = append(t.w.buf, make([]byte, span*chunkSize)...)
		t.w.chunks += span
		b := t.w.buf[start:]
		copy(b, chunkMagic)
		le.PutUint32(b[atTID:], uint32(t.tid))
		le.PutUint64(b[atIndex:], t.index)
		if span > 1 {
			le.PutUint32(b[atSpan:], uint32(span))
		}
		t.index++
		t.at, t.end = start+chunkHeader, len(t.w.buf)
	}
	b := t.w.buf[t.at : t.at+n]
	le.PutUint32(b, uint32(n))
	t.at += n
	return b
}

// symbol writes the row of a function that has none yet.
func (t *ThreadWriter) symbol(library, name string) symbol {
	k := names{library, name}
	if s, ok := t.w.symbols[k]; ok {
		return s
	}
	n, ok := t.w.libs[library]
	if !ok {
		n = uint16(len(t.w.libs))
		t.w.libs[library] = n
	}
	s := symbol{n, t.w.slots[n]}
	t.w.slots[n]++
	t.w.symbols[k] = s
	b := t.room(symbolHeader + len(library) + len(name) + 2)
	le.PutUint16(b[4:], kindSymbol)
	le.PutUint16(b[6:], s.library)
	le.PutUint32(b[atSlot:], s.slot)
	copy(b[symbolHeader:], library)
	copy(b[symbolHeader+len(library)+1:], name)
	return s
}

// Call writes a call and returns its id. Of c, Library, Name, Begin, End, Depth, Result, Caller, Words and Blobs count.
func (t *ThreadWriter) Call(c Call) uint64 {
	s := t.symbol(c.Library, c.Name)
	blobs := 0
	for _, bl := range c.Blobs {
		blobs += blobHeader + (len(bl.Data)+7)&^7
	}
	t.count++
	id := t.number<<40 | t.count
	b := t.room(callHeader + 8*len(c.Words) + blobs)
	le.PutUint16(b[4:], kindCall)
	le.PutUint16(b[6:], s.library)
	le.PutUint32(b[atSlot:], s.slot)
	le.PutUint32(b[atDepth:], uint32(c.Depth))
	le.PutUint64(b[atID:], id)
	le.PutUint64(b[atT0:], ticks(c.Begin))
	if c.End != Running {
		le.PutUint64(b[atT1:], ticks(c.End))
	}
	le.PutUint64(b[atResult:], c.Result)
	le.PutUint64(b[atCaller:], c.Caller)
	le.PutUint32(b[atNArgs:], uint32(len(c.Words)))
	le.PutUint32(b[atBlobs:], uint32(blobs))
	b = b[callHeader:]
	for _, w := range c.Words {
		le.PutUint64(b, w)
		b = b[8:]
	}
	for _, bl := range c.Blobs {
		b[0], b[1] = byte(bl.Arg), byte(bl.What)
		if bl.Cut {
			b[2] |= blobCut
		}
		if bl.Filled {
			b[2] |= blobFilled
		}
		le.PutUint32(b[4:], uint32(len(bl.Data)))
		copy(b[blobHeader:], bl.Data)
		b = b[blobHeader+(len(bl.Data)+7)&^7:]
	}
	return id
}

// untimed is the Begin of an event that is as late as the record before it.
const untimed = math.MinInt64

// Event writes an event.
func (t *ThreadWriter) Event(e Event) {
	b := t.room(eventHeader + len(e.Text) + 1)
	le.PutUint16(b[4:], kindEvent)
	le.PutUint16(b[6:], uint16(e.Type))
	le.PutUint64(b[atEventCall:], e.Call)
	if e.Begin != untimed {
		le.PutUint64(b[atEventT0:], ticks(e.Begin))
		le.PutUint64(b[atEventT1:], ticks(e.End))
	}
	le.PutUint32(b[atEventDevice:], uint32(e.Device))
	le.PutUint64(b[atEventStream:], e.Stream)
	for i, v := range e.Values {
		le.PutUint64(b[atEventValues+8*i:], v)
	}
	copy(b[eventHeader:], e.Text)
}

// Module writes the record of a module; its file is the caller's.
func (t *ThreadWriter) Module(m Module) {
	b := t.room(moduleHeader + len(m.Ext) + 1)
	le.PutUint16(b[4:], kindModule)
	le.PutUint16(b[6:], uint16(m.Given))
	le.PutUint64(b[atModuleCall:], m.Call)
	le.PutUint64(b[atModuleBytes:], m.Bytes)
	copy(b[atModuleHash:atModuleHash+hashSize], m.Hash)
	copy(b[moduleHeader:], m.Ext)
}

// Bytes is the file as it is now.
func (w *Writer) Bytes() []byte {
	le.PutUint64(w.buf[atChunks:], uint64(w.chunks))
	return w.buf
}

// Save writes the file into a trace's folder.
func (w *Writer) Save(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d-0%s", w.pid, Ext)), w.Bytes(), 0o644)
}
