// Package zstd unpacks Zstandard frames (RFC 8878) in memory. Others' packages bring an encoder along, and with it crypto/rand and
// 32 MiB of variables for every process that loads the driver.
package zstd

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

var (
	errShort   = errors.New("zstd: the data ends too early")
	errCorrupt = errors.New("zstd: the data is damaged")
)

const (
	frameMagic = 0xfd2fb528
	skipMagic  = 0x184d2a50 // and 15 above it
	maxBlock   = 128 << 10

	piece = 16 // what is copied is short: whole pieces, past its end, are faster than its length

	// Slack is what Decode wants to have beyond the content, where the caller knows its size.
	Slack = 2 * piece
)

// Decode unpacks all frames of src, appending to out, which grows to at most limit bytes.
func Decode(src, out []byte, limit uint64) ([]byte, error) {
	d := &decoder{out: out, limit: limit}
	return d.frames(src)
}

// Head unpacks the first n bytes of src, or a block more, or all that there is.
func Head(src []byte, n int) ([]byte, error) {
	d := &decoder{limit: math.MaxUint64, enough: n}
	return d.frames(src)
}

func (d *decoder) frames(src []byte) ([]byte, error) {
	if len(src) == 0 {
		return nil, errShort
	}
	for len(src) > 0 && !d.full() {
		if len(src) < 8 {
			return nil, errShort
		}
		var err error
		switch magic := binary.LittleEndian.Uint32(src); {
		case magic == frameMagic:
			src, err = d.frame(src[4:])
		case magic&^15 == skipMagic:
			n := uint64(binary.LittleEndian.Uint32(src[4:])) + 8
			if n > uint64(len(src)) {
				return nil, errShort
			}
			src = src[n:]
		default:
			return nil, fmt.Errorf("zstd: %#x does not begin a frame", magic)
		}
		if err != nil {
			return nil, err
		}
	}
	return d.out, nil
}

// decoder is what blocks of a frame take over from those before.
type decoder struct {
	out    []byte
	limit  uint64
	enough int // not 0: what is wanted of the content
	start  int // where the frame's content begins in out

	literals []byte // of the block
	store    []byte // for literals that are not in the source
	huffman  huffman
	tables   [3]table // of literal lengths, offsets and match lengths
	recent   [3]int   // offsets
}

// full reports whether out has all that is wanted.
func (d *decoder) full() bool { return d.enough > 0 && len(d.out) >= d.enough }

// frame reads one after its magic number, and returns what follows it.
func (d *decoder) frame(src []byte) ([]byte, error) {
	head := src[0]
	single, checked := head&0x20 != 0, head&4 != 0
	at := 1
	if !single {
		at++ // the window's size: all output is kept
	}
	dictionary := [...]int{0, 1, 2, 4}[head&3]
	size := [...]int{0, 2, 4, 8}[head>>6]
	if size == 0 && single {
		size = 1
	}
	if len(src) < at+dictionary+size {
		return nil, errShort
	}
	for _, b := range src[at : at+dictionary] {
		if b != 0 {
			return nil, errors.New("zstd: the frame needs a dictionary")
		}
	}
	if head&8 != 0 {
		return nil, errCorrupt
	}
	at += dictionary
	content := number(src[at : at+size])
	if size == 2 {
		content += 256
	}
	src = src[at+size:]
	d.start, d.huffman.bits, d.recent = len(d.out), 0, [3]int{1, 4, 8}
	for i := range d.tables {
		d.tables[i] = nil
	}
	if size > 0 && content > d.limit-uint64(len(d.out)) {
		return nil, fmt.Errorf("zstd: content of %d bytes where %d are allowed", content, d.limit)
	}
	for last := false; !last; {
		var err error
		if src, last, err = d.block(src); err != nil {
			return nil, err
		}
		if d.full() {
			return nil, nil
		}
	}
	if size > 0 && uint64(len(d.out)-d.start) != content {
		return nil, errCorrupt
	}
	if checked {
		if len(src) < 4 {
			return nil, errShort
		}
		if binary.LittleEndian.Uint32(src) != uint32(xxh64(d.out[d.start:])) {
			return nil, errors.New("zstd: the checksum is another")
		}
		src = src[4:]
	}
	return src, nil
}

// number is a little-endian number of up to 8 bytes.
func number(b []byte) uint64 {
	v := uint64(0)
	for i, c := range b {
		v |= uint64(c) << (8 * i)
	}
	return v
}

func (d *decoder) block(src []byte) (rest []byte, last bool, err error) {
	if len(src) < 3 {
		return nil, false, errShort
	}
	head := int(number(src[:3]))
	src = src[3:]
	last, size := head&1 != 0, head>>3
	stored := size
	if kind := head >> 1 & 3; kind == 1 {
		stored = 1
	} else if kind == 3 || size > maxBlock {
		return nil, false, errCorrupt
	}
	if len(src) < stored {
		return nil, false, errShort
	}
	switch head >> 1 & 3 {
	case 0:
		if err = d.room(size); err == nil {
			d.out = append(d.out, src[:size]...)
		}
	case 1:
		if err = d.room(size); err == nil {
			d.out = fill(d.out, src[0], size)
		}
	case 2:
		err = d.compressed(src[:size])
	}
	return src[stored:], last, err
}

func fill(out []byte, b byte, n int) []byte {
	for range n {
		out = append(out, b)
	}
	return out
}

// room checks that so many bytes may follow.
func (d *decoder) room(n int) error {
	if uint64(len(d.out))+uint64(n) > d.limit {
		return fmt.Errorf("zstd: more than %d bytes", d.limit)
	}
	return nil
}

func (d *decoder) compressed(src []byte) error {
	src, err := d.readLiterals(src)
	if err != nil {
		return err
	}
	n, src, err := countSequences(src)
	if err != nil {
		return err
	}
	before := len(d.out)
	if n > 0 {
		if err := d.sequences(src, n); err != nil {
			return err
		}
	} else if len(src) > 0 {
		return errCorrupt
	}
	if err := d.room(len(d.literals)); err != nil {
		return err
	}
	d.out = append(d.out, d.literals...)
	if len(d.out)-before > maxBlock {
		return errCorrupt
	}
	return nil
}

func countSequences(src []byte) (n int, rest []byte, err error) {
	if len(src) == 0 {
		return 0, nil, errShort
	}
	switch b := int(src[0]); {
	case b < 128:
		return b, src[1:], nil
	case b < 255 && len(src) > 1:
		return (b-128)<<8 + int(src[1]), src[2:], nil
	case b == 255 && len(src) > 2:
		return 0x7f00 + int(src[1]) + int(src[2])<<8, src[3:], nil
	}
	return 0, nil, errShort
}

// sequences copies literals and what was written before, as the block says.
func (d *decoder) sequences(src []byte, n int) error {
	if len(src) == 0 || src[0]&3 != 0 {
		return errCorrupt
	}
	modes := src[0]
	src = src[1:]
	for i := range d.tables {
		var err error
		if src, err = d.readTable(i, modes>>(6-2*i)&3, src); err != nil {
			return err
		}
	}
	r, err := newReader(src)
	if err != nil {
		return err
	}
	lengths, offsets, matches := d.tables[0], d.tables[1], d.tables[2]
	ll, of, ml := r.take(lengths.bits()), r.take(offsets.bits()), r.take(matches.bits())
	for i := range n {
		l, o, m := &lengths[ll], &offsets[of], &matches[ml]
		value := 1<<o.symbol + int(r.take(uint(o.symbol)))
		match := matchCodes[m.symbol].value(r)
		literal := lengthCodes[l.symbol].value(r)
		if i < n-1 {
			ll = uint64(l.next) + r.take(uint(l.bits))
			ml = uint64(m.next) + r.take(uint(m.bits))
			of = uint64(o.next) + r.take(uint(o.bits))
		}
		if r.over {
			return errShort
		}
		if err := d.copy(literal, match, d.offset(value, literal)); err != nil {
			return err
		}
	}
	if !r.done() {
		return errCorrupt
	}
	return nil
}

// offset is the distance that a value names: one of the last three, or a new one.
func (d *decoder) offset(value, literal int) int {
	if value > 3 {
		d.recent = [3]int{value - 3, d.recent[0], d.recent[1]}
		return d.recent[0]
	}
	which := value - 1
	if literal == 0 {
		which++
	}
	switch which {
	case 1:
		d.recent[0], d.recent[1] = d.recent[1], d.recent[0]
	case 2:
		d.recent = [3]int{d.recent[2], d.recent[0], d.recent[1]}
	case 3:
		d.recent = [3]int{d.recent[0] - 1, d.recent[0], d.recent[1]}
	}
	return d.recent[0]
}

// copy appends literals, then a match that lies offset bytes back.
func (d *decoder) copy(literal, match, offset int) error {
	if literal > len(d.literals) {
		return errCorrupt
	}
	if err := d.room(literal + match); err != nil {
		return err
	}
	at := len(d.out) + literal
	if offset <= 0 || offset > at-d.start {
		return errCorrupt
	}
	out := slices.Grow(d.out, literal+match+Slack)
	out = out[:at+match+piece]
	if literal <= piece && len(d.literals) >= piece {
		copy(out[at-literal:at-literal+piece], d.literals[:piece])
	} else {
		copy(out[at-literal:], d.literals[:literal])
	}
	d.literals = d.literals[literal:]
	d.out = out[:at+match]
	from := at - offset
	if offset >= piece {
		for n := 0; n < match; n += piece {
			copy(out[at+n:at+n+piece], out[from+n:from+n+piece])
		}
		return nil
	}
	for n := 0; n < match; { // what is copied reaches into itself: it repeats
		n += copy(out[at+n:at+match], out[from:at+n])
	}
	return nil
}
