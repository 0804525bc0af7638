package fatbin

import (
	"encoding/binary"
	"fmt"

	"github.com/pierrec/lz4/v4"
)

// Part is one entry to write. Flags may ask for FlagLZ4 or FlagZstd.
type Part struct {
	Kind         Kind
	SM           int
	Major, Minor int
	Flags        uint64
	Exact        bool // Flags are all: what addresses and host are, too
	Header       int  // header size at least, 64 if 0
	Name         string
	Options      *string // for the assembler; nil: none, which PTX says with an empty record
	Data         []byte
}

// header is the entry's header, with the fields that are about itself. The name follows the fixed part, then a record that says where the
// options are, and they.
func (p *Part) header() []byte {
	le := binary.LittleEndian
	head := make([]byte, entryMin)
	text := func(s string) { // with a NUL, up to a multiple of 8
		head = append(append(head, s...), make([]byte, 8-len(s)%8)...)
	}
	if p.Name != "" {
		le.PutUint32(head[32:], uint32(len(head)))
		le.PutUint32(head[36:], uint32(len(p.Name)))
		text(p.Name)
	}
	options := p.Options
	if options == nil && p.Kind == PTX { // NVIDIA's driver reads the record of every PTX, and dies where there is none
		options = new(string)
	}
	if options != nil {
		at := len(head)
		le.PutUint32(head[20:], uint32(at))
		head = le.AppendUint32(head, uint32(at+8))
		head = le.AppendUint32(head, uint32(len(*options)))
		text(*options)
	}
	if n := p.Header - len(head); n > 0 {
		head = append(head, make([]byte, n)...)
	}
	return head
}

// Write makes a container. It serves tests and tools; what it writes Parse reads back.
func Write(parts []Part) ([]byte, error) {
	le := binary.LittleEndian
	out := make([]byte, HeaderSize)
	for _, p := range parts {
		head := p.header()
		data, full := p.Data, 0
		if p.Kind == PTX {
			data = append(data[:len(data):len(data)], 0)
		}
		if p.Flags&(FlagLZ4|FlagZstd) != 0 {
			full = len(data)
			var err error
			if data, err = compress(data, p.Flags); err != nil {
				return nil, err
			}
			le.PutUint32(head[16:], uint32(len(data)))
		}
		for len(data)%8 != 0 {
			data = append(data[:len(data):len(data)], 0)
		}
		le.PutUint16(head[0:], uint16(p.Kind))
		le.PutUint16(head[2:], 0x0101)
		le.PutUint32(head[4:], uint32(len(head)))
		le.PutUint64(head[8:], uint64(len(data)))
		le.PutUint16(head[24:], uint16(p.Minor))
		le.PutUint16(head[26:], uint16(p.Major))
		le.PutUint32(head[28:], uint32(p.SM))
		flags := p.Flags
		if !p.Exact {
			flags |= Flag64Bit | FlagLinux
		}
		le.PutUint64(head[40:], flags)
		le.PutUint64(head[56:], uint64(full))
		out = append(append(out, head...), data...)
	}
	le.PutUint32(out, HeaderMagic)
	le.PutUint16(out[4:], 1)
	le.PutUint16(out[6:], HeaderSize)
	le.PutUint64(out[8:], uint64(len(out)-HeaderSize))
	return out, nil
}

// Shrinks reports whether compression with LZ4 makes data smaller. What does not shrink cannot be written with FlagLZ4.
func Shrinks(data []byte) bool {
	out, err := compress(data, FlagLZ4)
	return err == nil && len(out) < len(data)
}

func compress(data []byte, flags uint64) ([]byte, error) {
	if flags&FlagZstd != 0 {
		return zstdFrame(data), nil
	}
	out := make([]byte, lz4.CompressBlockBound(len(data)))
	n, err := lz4.CompressBlock(data, out, nil)
	if err == nil && n == 0 && len(data) > 0 {
		return nil, fmt.Errorf("LZ4: %d bytes do not shrink", len(data))
	}
	return out[:n], err
}

// zstdFrame is a frame of blocks that are stored as they are.
func zstdFrame(data []byte) []byte {
	const largest = 128 << 10
	out := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x80, 0x38} // a window of 128 KiB, and the size in four bytes
	out = binary.LittleEndian.AppendUint32(out, uint32(len(data)))
	for {
		n := min(len(data), largest)
		head := uint32(n) << 3
		if n == len(data) {
			head |= 1 // the last
		}
		out = append(out, byte(head), byte(head>>8), byte(head>>16))
		out = append(out, data[:n]...)
		if data = data[n:]; len(data) == 0 {
			return out
		}
	}
}

// WriteWrapper makes a version 1 wrapper around a container at the address data.
func WriteWrapper(data uint64) []byte {
	b := make([]byte, WrapperSize)
	binary.LittleEndian.PutUint32(b, WrapperMagic)
	binary.LittleEndian.PutUint32(b[4:], 1)
	binary.LittleEndian.PutUint64(b[8:], data)
	return b
}
