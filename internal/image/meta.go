package image

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Bounds of what an image may say, so that a damaged or hostile file cannot ask for memory it does not have.
const (
	maxName  = 1 << 16
	maxNames = 1 << 16
)

var errMeta = errors.New("meta data cut short or out of range")

// flag bits of the encoded Meta.
const (
	flagFTZ = 1 << iota
	flagSpins
	flagCooperative
	flagResumable
	flagLaunches
	flagReserved
	flagsKnown = 1<<iota - 1
)

// numbers are the plain fields in the order they are written.
func (m *Meta) numbers() []*uint32 {
	return []*uint32{
		&m.Block[0], &m.Block[1], &m.Block[2], &m.SharedStatic, &m.SharedAlign, &m.FrameWarp, &m.FrameBlock,
		&m.LocalThread, &m.ParamBytes, &m.Registers, &m.PTXVersion,
	}
}

// encode writes m as varints and counted strings; lines as differences, so that most take two bytes.
func (m *Meta) encode() []byte {
	var b []byte
	str := func(s string) {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	var flags uint64
	for _, f := range []struct {
		on  bool
		bit uint64
	}{{m.FTZ, flagFTZ}, {m.Spins, flagSpins}, {m.Cooperative, flagCooperative}, {m.Resumable, flagResumable}, {m.Launches, flagLaunches}, {m.Reserved, flagReserved}} {
		if f.on {
			flags |= f.bit
		}
	}
	str(m.Kernel)
	for _, p := range m.numbers() {
		b = binary.AppendUvarint(b, uint64(*p))
	}
	b = binary.AppendUvarint(b, flags)
	for _, list := range [][]string{m.Vars, m.Funcs} {
		b = binary.AppendUvarint(b, uint64(len(list)))
		for _, s := range list {
			str(s)
		}
	}
	b = binary.AppendUvarint(b, uint64(len(m.Lines)))
	var last Line
	for _, l := range m.Lines {
		b = binary.AppendUvarint(b, uint64(l.Offset-last.Offset))
		b = binary.AppendVarint(b, int64(l.Line)-int64(last.Line))
		last = l
	}
	return b
}

// reader takes encoded values off a slice; the first failure sticks.
type reader struct {
	b   []byte
	err error
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.err, r.b = errMeta, nil
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) u32() uint32 {
	v := r.uvarint()
	if v > 1<<32-1 {
		r.err = errMeta
	}
	return uint32(v)
}

func (r *reader) varint() int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 {
		r.err, r.b = errMeta, nil
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) str() string {
	n := r.uvarint()
	if n > maxName || n > uint64(len(r.b)) {
		r.err, r.b = errMeta, nil
		return ""
	}
	s := string(r.b[:n])
	r.b = r.b[n:]
	return s
}

func (r *reader) list() []string {
	n := r.uvarint()
	if n > maxNames || n > uint64(len(r.b)) { // a string takes at least a byte
		r.err, r.b = errMeta, nil
		return nil
	}
	var l []string
	for range n {
		if r.err != nil {
			return nil
		}
		l = append(l, r.str())
	}
	return l
}

// decodeMeta is encode's inverse. codeSize bounds the line table.
func decodeMeta(b []byte, codeSize uint32) (Meta, error) {
	r := &reader{b: b}
	var m Meta
	m.Kernel = r.str()
	for _, p := range m.numbers() {
		*p = r.u32()
	}
	flags := r.uvarint()
	if flags&^flagsKnown != 0 {
		return Meta{}, fmt.Errorf("unknown flags %#x", flags)
	}
	m.FTZ, m.Spins, m.Cooperative = flags&flagFTZ != 0, flags&flagSpins != 0, flags&flagCooperative != 0
	m.Resumable, m.Launches, m.Reserved = flags&flagResumable != 0, flags&flagLaunches != 0, flags&flagReserved != 0
	m.Vars, m.Funcs = r.list(), r.list()
	n := r.uvarint()
	if n > uint64(len(r.b))/2 { // a line takes at least two bytes
		return Meta{}, errMeta
	}
	if n > 0 && r.err == nil {
		m.Lines = make([]Line, 0, n)
	}
	var offset uint64
	var line int64
	for range n {
		offset += r.uvarint()
		line += r.varint()
		if r.err != nil {
			break
		}
		if offset >= uint64(codeSize) || line < 0 || line > 1<<32-1 {
			return Meta{}, errMeta
		}
		m.Lines = append(m.Lines, Line{Offset: uint32(offset), Line: uint32(line)})
	}
	if r.err == nil && len(r.b) != 0 {
		r.err = fmt.Errorf("%d bytes after the meta data", len(r.b))
	}
	if r.err != nil {
		return Meta{}, r.err
	}
	return m, nil
}
