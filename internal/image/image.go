package image

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"sort"

	"lukechampine.com/blake3"
)

// The file: a header of headerSize bytes, the code section (text, then read-only data; its start is aligned to
// codeAlign), the encoded Meta. All numbers are little endian.
//
//	 0  magic
//	 8  version u32, machine u32 (ELF's e_machine)
//	16  size of the file u64
//	24  code offset u32, code size u32
//	32  text size u32 (the part of the code section that is instructions), entry u32 (offset in the code section)
//	40  meta offset u32, meta size u32
//	48  reserved, zero
//	64  BLAKE3 of the whole file with these 32 bytes left out
const (
	magic       = "KUDZUIMG"
	version     = 1
	headerSize  = 128
	sumOffset   = 64
	sumSize     = 32
	codeAlign   = 128
	maxFileSize = 1 << 30
)

// Machine is the processor family of an image: ELF's number.
type Machine uint32

// The machines we have relocations for.
const (
	X86_64  Machine = 62  // EM_X86_64
	AArch64 Machine = 183 // EM_AARCH64
)

// Image is a parsed image. Its slices point into the bytes it was parsed from.
type Image struct {
	Meta    Meta
	Machine Machine
	Code    []byte // text and read-only data, position independent
	Text    uint32 // bytes of Code that are instructions
	Entry   uint32 // offset of the kernel's function in Code
}

// ErrCorrupt is wrapped by every error of Parse: the bytes are not an image, or not whole.
var ErrCorrupt = errors.New("not a whole kudzu image")

func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrCorrupt, fmt.Sprintf(format, args...))
}

// encode writes the file.
func (im *Image) encode() ([]byte, error) {
	meta := im.Meta.encode()
	size := headerSize + len(im.Code) + len(meta)
	if size > maxFileSize {
		return nil, fmt.Errorf("image of %d bytes is too large", size)
	}
	b := make([]byte, headerSize, size)
	copy(b, magic)
	le := binary.LittleEndian
	le.PutUint32(b[8:], version)
	le.PutUint32(b[12:], uint32(im.Machine))
	le.PutUint64(b[16:], uint64(size))
	le.PutUint32(b[24:], headerSize)
	le.PutUint32(b[28:], uint32(len(im.Code)))
	le.PutUint32(b[32:], im.Text)
	le.PutUint32(b[36:], im.Entry)
	le.PutUint32(b[40:], uint32(headerSize+len(im.Code)))
	le.PutUint32(b[44:], uint32(len(meta)))
	b = append(append(b, im.Code...), meta...)
	sum := checksum(b)
	copy(b[sumOffset:], sum[:])
	return b, nil
}

func checksum(b []byte) [sumSize]byte {
	h := blake3.New(sumSize, nil)
	h.Write(b[:sumOffset])
	h.Write(b[sumOffset+sumSize:])
	var sum [sumSize]byte
	h.Sum(sum[:0])
	return sum
}

// Parse checks the bytes of an image file: the checksum, every bound, the line table's order. It does not check that
// the code is what a kernel should be: an image comes from our compiler or from our cache.
func Parse(b []byte) (*Image, error) {
	if len(b) < headerSize || !bytes.Equal(b[:8], []byte(magic)) {
		return nil, corrupt("no header")
	}
	le := binary.LittleEndian
	if v := le.Uint32(b[8:]); v != version {
		return nil, corrupt("version %d, not %d", v, version)
	}
	if size := le.Uint64(b[16:]); size != uint64(len(b)) || size > maxFileSize {
		return nil, corrupt("%d bytes, the header says %d", len(b), size)
	}
	if sum := checksum(b); !bytes.Equal(sum[:], b[sumOffset:sumOffset+sumSize]) {
		return nil, corrupt("checksum")
	}
	if !zero(b[48:sumOffset]) || !zero(b[sumOffset+sumSize:headerSize]) {
		return nil, corrupt("reserved bytes in use")
	}
	im := &Image{Machine: Machine(le.Uint32(b[12:])), Text: le.Uint32(b[32:]), Entry: le.Uint32(b[36:])}
	codeOff, codeSize := uint64(le.Uint32(b[24:])), uint64(le.Uint32(b[28:]))
	metaOff, metaSize := uint64(le.Uint32(b[40:])), uint64(le.Uint32(b[44:]))
	if codeOff != headerSize || metaOff != codeOff+codeSize || metaOff+metaSize != uint64(len(b)) {
		return nil, corrupt("sections out of place")
	}
	if uint64(im.Text) > codeSize || im.Entry >= im.Text {
		return nil, corrupt("entry %d of %d bytes of text", im.Entry, im.Text)
	}
	im.Code = b[codeOff:metaOff:metaOff]
	meta, err := decodeMeta(b[metaOff:], im.Text)
	if err != nil {
		return nil, corrupt("%v", err)
	}
	im.Meta = meta
	return im, nil
}

func zero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// Runs says whether this process can run the image's instructions at all.
func (im *Image) Runs() bool { return im.Machine == hostMachine[runtime.GOARCH] }

var hostMachine = map[string]Machine{"amd64": X86_64, "arm64": AArch64}

// Line gives the PTX line (of the kernel's slice) that the instruction at an offset of Code comes from, 0 if unknown.
func (m *Meta) Line(offset uint32) uint32 {
	i := sort.Search(len(m.Lines), func(i int) bool { return m.Lines[i].Offset > offset })
	if i == 0 {
		return 0
	}
	return m.Lines[i-1].Line
}
