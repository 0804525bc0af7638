package trace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// ErrFormat is what files that no recorder wrote are refused with.
var ErrFormat = errors.New("not a trace")

var le = binary.LittleEndian

// file is one .kzt file, read as far as it is written.
type file struct {
	process *Process
	r       io.ReaderAt
	size    func() (int64, error)
	end     int64 // of the file, when it was last looked at
	close   func() error
	header  int64
	chunk   int64
	clock   clock
	seen    int64 // chunks that are in threads
	lists   map[uint32]*Thread
	open    []int64 // chunks that were handed out and had no owner yet when they were looked at
	symbols map[symbol]names
	modules map[uint64]*Module // by the call that loaded them
	cache   map[int64][]byte   // chunks by their place
	cached  []int64            // the oldest first
}

type symbol struct {
	library uint16
	slot    uint32
}

type names struct{ library, name string }

// chunk is a thread's part of the file.
type chunk struct {
	at    int64 // in the file
	size  int64
	index uint64
	read  int64 // so far its records were seen
}

// clock turns the recorder's ticks into nanoseconds of the monotonic clock.
type clock struct {
	ticks0, mono0 uint64
	rate          float64 // nanoseconds a tick
}

func (c clock) ns(ticks uint64) int64 {
	return int64(c.mono0) + int64(float64(int64(ticks-c.ticks0))*c.rate)
}

// openFile opens a file that may still be written to.
func openFile(path string) (*file, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	size := func() (int64, error) {
		st, err := f.Stat()
		if err != nil {
			return 0, err
		}
		return st.Size(), nil
	}
	t, err := newFile(f, size, filepath.Base(path))
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	t.close = f.Close
	return t, nil
}

func newFile(r io.ReaderAt, size func() (int64, error), name string) (*file, error) {
	h := make([]byte, headerSize)
	n, err := r.ReadAt(h, 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	h = h[:n]
	if n < headerEnds || string(h[:len(magic)]) != magic {
		return nil, ErrFormat
	}
	if v := le.Uint32(h[atVersion:]); v != version {
		return nil, fmt.Errorf("version %d of the format, this program reads %d: %w", v, version, ErrFormat)
	}
	f := &file{
		r: r, size: size, header: int64(le.Uint32(h[atHeader:])), chunk: int64(le.Uint32(h[atChunk:])),
		lists: map[uint32]*Thread{}, symbols: map[symbol]names{}, modules: map[uint64]*Module{}, cache: map[int64][]byte{},
		process: &Process{
			PID: int(le.Uint32(h[atPID:])), PPID: int(le.Uint32(h[atPPID:])), File: name, Number: numberOf(name),
			Real: le.Uint32(h[atFlags:])&flagReal != 0, Start: time.Unix(0, int64(le.Uint64(h[atReal0:]))),
		},
	}
	if f.header < headerEnds || f.header > 1<<20 || f.chunk < minChunk || f.chunk > maxChunk || f.chunk%8 != 0 {
		return nil, fmt.Errorf("header of %d bytes, chunks of %d: %w", f.header, f.chunk, ErrFormat)
	}
	f.clock = clock{ticks0: le.Uint64(h[atTicks0:]), mono0: le.Uint64(h[atMono0:]), rate: 1}
	if len(h) > argsAt {
		f.process.Args = argsOf(h[argsAt:])
	}
	return f, nil
}

// numberOf is N of a file's name PID-N.kzt.
func numberOf(name string) int {
	_, n, _ := strings.Cut(strings.TrimSuffix(name, Ext), "-")
	v, err := strconv.Atoi(n)
	if err != nil || v < 0 {
		return 0
	}
	return v
}

// argsOf reads strings up to an empty one.
func argsOf(b []byte) []string {
	var args []string
	for len(b) > 0 && b[0] != 0 {
		s, rest := cString(b)
		args = append(args, s)
		b = rest
	}
	return args
}

// cString is the text before the first NUL, and what follows it.
func cString(b []byte) (string, []byte) {
	for i, c := range b {
		if c == 0 {
			return string(b[:i]), b[i+1:]
		}
	}
	return string(b), nil
}

// refresh reads what the recorder renews in the header, and finds new chunks.
func (f *file) refresh() error {
	var h [headerEnds]byte
	if _, err := f.r.ReadAt(h[:], 0); err != nil {
		return err
	}
	var err error
	if f.end, err = f.size(); err != nil {
		return err
	}
	ticks, mono := le.Uint64(h[atTicks1:])-f.clock.ticks0, le.Uint64(h[atMono1:])-f.clock.mono0
	if int64(ticks) > 0 && int64(mono) > 0 {
		f.clock.rate = float64(mono) / float64(ticks)
	}
	f.process.Lost = int(le.Uint32(h[atLost:]))
	if err := f.reopen(); err != nil {
		return err
	}
	for chunks := le.Uint64(h[atChunks:]); uint64(f.seen) < chunks; {
		at := f.header + f.seen*f.chunk
		n, err := f.claim(at)
		if err == io.EOF { // the number is more than the file holds
			return nil
		}
		if err != nil {
			return err
		}
		if n == 0 { // its thread has not come further, or never did; it may be a large record's
			n = 1
			f.open = append(f.open, at)
		}
		f.seen += n
	}
	return nil
}

// reopen looks again at chunks that had no owner.
func (f *file) reopen() error {
	still, taken := f.open[:0], int64(0)
	for _, at := range f.open {
		if at < taken { // the rest of a large record
			continue
		}
		n, err := f.claim(at)
		if err != nil && err != io.EOF {
			return err
		}
		if n == 0 {
			still = append(still, at)
		}
		taken = at + n*f.chunk
	}
	f.open = still
	return nil
}

// claim gives a chunk to its thread, and tells how many chunks of the file it has: 0 if it has no owner yet.
func (f *file) claim(at int64) (int64, error) {
	var b [chunkHeader]byte
	if n, err := f.r.ReadAt(b[:], at); n < len(b) {
		if err == nil || err == io.ErrUnexpectedEOF {
			err = io.EOF
		}
		return 0, err
	}
	if string(b[:len(chunkMagic)]) != chunkMagic {
		return 0, nil
	}
	span := min(max(1, int64(le.Uint32(b[atSpan:]))), maxSpan/f.chunk)
	tid := le.Uint32(b[atTID:])
	index := le.Uint64(b[atIndex:])
	t := f.lists[tid]
	if t == nil || index <= t.chunks[len(t.chunks)-1].index { // a number that the system gave again
		t = &Thread{Process: f.process, TID: int(tid), Number: len(f.process.Threads) + 1}
		f.lists[tid] = t
		f.process.Threads = append(f.process.Threads, t)
	}
	t.chunks = append(t.chunks, chunk{at: at, size: span * f.chunk, index: index, read: chunkHeader})
	return span, nil
}

// maxCached is how many chunks of a file are kept: a few a thread, since records of one are nearly in the order of time.
const maxCached = 64

// load reads a chunk. Less than all of it is no error: the file may be cut off.
func (f *file) load(c *chunk) ([]byte, error) {
	if b, ok := f.cache[c.at]; ok {
		return b, nil
	}
	return f.read(c, 0)
}

// read reads a chunk from a place in it on, as far as the file goes.
func (f *file) read(c *chunk, from int64) ([]byte, error) {
	b := make([]byte, max(0, min(c.size-from, f.end-c.at-from)))
	n, err := f.r.ReadAt(b, c.at+from)
	if err != nil && err != io.EOF {
		return nil, err
	}
	return b[:n:n], nil
}

// keep is load for those who come back.
func (f *file) keep(c *chunk) ([]byte, error) {
	b, err := f.load(c)
	if err != nil {
		return nil, err
	}
	if _, ok := f.cache[c.at]; !ok {
		if len(f.cached) >= max(maxCached, 4*len(f.process.Threads)) {
			delete(f.cache, f.cached[0])
			f.cached = f.cached[1:]
		}
		f.cache[c.at] = b
		f.cached = append(f.cached, c.at)
	}
	return b, nil
}
