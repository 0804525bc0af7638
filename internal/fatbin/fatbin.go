// Package fatbin reads the containers in which CUDA programs carry device code: the wrapper that nvcc emits, the
// container it points at, and the entries in it, compressed or not.
//
// Everything read here comes from outside. Sizes are checked against the bytes at hand before they are used, output of
// decompression is bounded by what the entry declared, and no input makes the package panic or allocate more than
// MaxText plus a small multiple of the input.
package fatbin

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Magic numbers and sizes of the format.
const (
	WrapperMagic = 0x466243b1
	WrapperSize  = 24
	HeaderMagic  = 0xba55ed50
	HeaderSize   = 16
	entryMin     = 64 // shortest entry header

	// MaxText bounds one decompressed entry; the largest PTX seen in real programs is 11 MB.
	MaxText = 512 << 20
	// MaxContainer bounds files_size, which is all that is known of an image passed without a length.
	MaxContainer = 4 << 30
)

// Kind is what an entry holds. Values other than these are kept and ignored.
type Kind uint16

// The kinds that matter.
const (
	PTX Kind = 1
	ELF Kind = 2
)

// String names the kind.
func (k Kind) String() string {
	switch k {
	case PTX:
		return "PTX"
	case ELF:
		return "ELF"
	}
	return fmt.Sprintf("kind %#x", uint16(k))
}

// Flags of an entry.
const (
	Flag64Bit = 0x1
	FlagDebug = 0x2
	FlagLinux = 0x10
	FlagLZ4   = 0x2000
	FlagZstd  = 0x8000
)

// ErrFormat is in the chain of every error about malformed input.
var ErrFormat = errors.New("malformed fatbin")

func bad(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrFormat, fmt.Sprintf(format, args...))
}

// Wrapper is the record that nvcc places in a program. Its pointers are addresses of the program.
type Wrapper struct {
	Version uint32
	Data    uint64 // version 1: the container
	Extra   uint64 // version 2: a list of containers that ends with NULL
}

// ParseWrapper reads a wrapper.
func ParseWrapper(b []byte) (Wrapper, error) {
	if len(b) < WrapperSize {
		return Wrapper{}, bad("wrapper of %d bytes", len(b))
	}
	le := binary.LittleEndian
	w := Wrapper{Version: le.Uint32(b[4:]), Data: le.Uint64(b[8:]), Extra: le.Uint64(b[16:])}
	switch {
	case le.Uint32(b) != WrapperMagic:
		return Wrapper{}, bad("wrapper magic %#x", le.Uint32(b))
	case w.Version != 1 && w.Version != 2:
		return Wrapper{}, bad("wrapper version %d", w.Version)
	case w.Version == 1 && w.Data == 0, w.Version == 2 && w.Extra == 0:
		return Wrapper{}, bad("wrapper without data")
	}
	return w, nil
}

// Size is the length of a whole container, from its header.
func Size(header []byte) (uint64, error) {
	if len(header) < HeaderSize {
		return 0, bad("header of %d bytes", len(header))
	}
	le := binary.LittleEndian
	if m := le.Uint32(header); m != HeaderMagic {
		return 0, bad("magic %#x", m)
	}
	if v := le.Uint16(header[4:]); v != 1 {
		return 0, bad("version %d", v)
	}
	head, files := uint64(le.Uint16(header[6:])), le.Uint64(header[8:])
	if head < HeaderSize {
		return 0, bad("header size %d", head)
	}
	if files > MaxContainer {
		return 0, bad("size %d", files)
	}
	return head + files, nil
}

// Container is a parsed container. Entries share memory with what was parsed.
type Container struct{ Entries []Entry }

// Entry is one piece of code for one architecture.
type Entry struct {
	Kind     Kind
	Major    int    // code version: PTX ISA major
	Minor    int    // code version: PTX ISA minor
	SM       int    // 90 for sm_90
	Flags    uint64 // FlagXxx
	Name     string // of the source file, often empty
	Options  string // of the assembler, in entries with PTX
	Offset   int    // of the entry header in the container
	Payload  []byte // as stored
	FullSize uint64 // declared size once decompressed; 0 if stored plainly
}

// Compressed reports whether the payload needs Text to decompress it.
func (e *Entry) Compressed() bool { return e.Flags&(FlagLZ4|FlagZstd) != 0 }

// Parse reads one container that starts at b[0]; b may be longer than it.
func Parse(b []byte) (*Container, error) {
	size, err := Size(b)
	if err != nil {
		return nil, err
	}
	if size > uint64(len(b)) {
		return nil, bad("container of %d bytes in %d", size, len(b))
	}
	c := &Container{}
	pos := uint64(binary.LittleEndian.Uint16(b[6:]))
	for pos < size {
		rest := b[pos:size]
		if allZero(rest) { // linkers pad
			break
		}
		e, n, err := parseEntry(rest)
		if err != nil {
			return nil, fmt.Errorf("entry %d at %#x: %w", len(c.Entries), pos, err)
		}
		e.Offset = int(pos)
		c.Entries = append(c.Entries, e)
		pos += n
	}
	return c, nil
}

// parseEntry reads the entry at b[0] and says how many bytes it takes.
func parseEntry(b []byte) (e Entry, size uint64, err error) {
	if len(b) < entryMin {
		return e, 0, bad("%d bytes left for an entry", len(b))
	}
	le := binary.LittleEndian
	head := uint64(le.Uint32(b[4:]))
	payload := le.Uint64(b[8:])
	compressed := uint64(le.Uint32(b[16:]))
	if v := le.Uint16(b[2:]); v>>8 != 1 {
		return e, 0, bad("entry version %#x", v)
	}
	if head < entryMin || head > uint64(len(b)) {
		return e, 0, bad("entry header of %d bytes in %d", head, len(b))
	}
	room := uint64(len(b)) - head
	stored := max(payload, compressed)
	if stored > room {
		return e, 0, bad("payload of %d bytes in %d", stored, room)
	}
	e = Entry{
		Kind: Kind(le.Uint16(b)), Minor: int(le.Uint16(b[24:])), Major: int(le.Uint16(b[26:])), SM: int(le.Uint32(b[28:]) & 0xffffff),
		Flags: le.Uint64(b[40:]), Payload: b[head : head+payload],
	}
	if e.Compressed() {
		if compressed == 0 {
			compressed = payload
		}
		e.Payload, e.FullSize = b[head:head+compressed], le.Uint64(b[56:])
	}
	text := func(at uint64) string { // a place in the header and a length, at a place in it
		off, n := uint64(le.Uint32(b[at:])), uint64(le.Uint32(b[at+4:]))
		if n == 0 || off < entryMin || off >= head || n > head-off {
			return ""
		}
		return string(b[off : off+n])
	}
	e.Name = text(32)
	if at := uint64(le.Uint32(b[20:])); at >= entryMin && at+8 <= head {
		e.Options = text(at)
	}
	return e, head + stored, nil
}

func allZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
