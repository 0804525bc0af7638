package fatbin

import (
	"bytes"
	"encoding/binary"
)

// Format is what an image passed to cuModuleLoadData is.
type Format uint8

// The formats.
const (
	FormatPTX Format = iota // whatever is nothing else: NUL-terminated text
	FormatWrapper
	FormatFatbin
	FormatELF
	FormatArchive
)

// SniffSize is how many bytes Sniff looks at.
const SniffSize = 8

// Sniff tells the format from the first bytes. An image has no length, so the caller fetches bytes one by one up to
// SniffSize and stops at the first NUL of a text; fewer bytes than a magic number needs are text.
func Sniff(b []byte) Format {
	switch {
	case len(b) >= 4 && binary.LittleEndian.Uint32(b) == WrapperMagic:
		return FormatWrapper
	case len(b) >= 4 && binary.LittleEndian.Uint32(b) == HeaderMagic:
		return FormatFatbin
	case bytes.HasPrefix(b, []byte("\x7fELF")):
		return FormatELF
	case bytes.HasPrefix(b, []byte("!<arch>\n")):
		return FormatArchive
	}
	return FormatPTX
}

// ELFHeaderSize is how much ELFSize reads.
const ELFHeaderSize = 64

// ELFSize is the length of a 64-bit ELF file from its header: the end of the later of its two header tables.
func ELFSize(b []byte) (uint64, error) {
	if len(b) < ELFHeaderSize || !bytes.HasPrefix(b, []byte("\x7fELF")) || b[4] != 2 || b[5] != 1 {
		return 0, bad("no 64-bit ELF header")
	}
	le := binary.LittleEndian
	end := func(off uint64, size, n uint16) uint64 {
		if n == 0 {
			return 0
		}
		return off + uint64(size)*uint64(n)
	}
	ph, sh := le.Uint64(b[32:]), le.Uint64(b[40:])
	if ph > MaxContainer || sh > MaxContainer {
		return 0, bad("ELF tables at %#x and %#x", ph, sh)
	}
	return max(ELFHeaderSize, end(ph, le.Uint16(b[54:]), le.Uint16(b[56:])), end(sh, le.Uint16(b[58:]), le.Uint16(b[60:]))), nil
}

// FromBytes finds the containers of an image of known length that is not text: a container, or several back to back as
// the section .nv_fatbin holds them.
func FromBytes(b []byte) ([]*Container, error) {
	var cs []*Container
	for len(b) >= HeaderSize && !allZero(b) {
		c, err := Parse(b)
		if err != nil {
			return nil, err
		}
		cs = append(cs, c)
		n, _ := Size(b)
		b = b[min((n+7)&^7, uint64(len(b))):]
	}
	if len(cs) == 0 {
		return nil, bad("no container in %d bytes", len(b))
	}
	return cs, nil
}
