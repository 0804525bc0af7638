package zstd

import (
	"encoding/binary"
	"math/bits"
)

// reader reads bits from the end of a stream to its beginning.
type reader struct {
	src  []byte
	acc  uint64 // the low n bits are next, the highest of them first
	n    uint
	over bool // more was asked for than there was
}

// newReader begins below the mark, the highest bit that is set in the last byte.
func newReader(src []byte) (*reader, error) {
	if len(src) == 0 || src[len(src)-1] == 0 {
		return nil, errCorrupt
	}
	last := src[len(src)-1]
	return &reader{src: src[:len(src)-1], acc: uint64(last), n: uint(bits.Len8(last) - 1)}, nil
}

// fill makes at least 32 bits ready, where the stream has them.
func (r *reader) fill() {
	if k := len(r.src); r.n <= 32 && k >= 4 {
		r.acc = r.acc<<32 | uint64(binary.LittleEndian.Uint32(r.src[k-4:]))
		r.src = r.src[:k-4]
		r.n += 32
		return
	}
	for r.n <= 56 && len(r.src) > 0 {
		k := len(r.src) - 1
		r.acc = r.acc<<8 | uint64(r.src[k])
		r.src = r.src[:k]
		r.n += 8
	}
}

// take reads up to 32 bits.
func (r *reader) take(k uint) uint64 {
	if r.n < k {
		return r.slow(k)
	}
	r.n -= k
	return r.acc >> r.n & (1<<k - 1)
}

func (r *reader) slow(k uint) uint64 {
	r.fill()
	if r.n < k {
		r.over = true
		return 0
	}
	r.n -= k
	return r.acc >> r.n & (1<<k - 1)
}

// done says that all bits were read and no more.
func (r *reader) done() bool { return !r.over && r.n == 0 && len(r.src) == 0 }

// left is how many bits there are.
func (r *reader) left() uint { return r.n + 8*uint(len(r.src)) }

// code is a symbol that stands for numbers: the least, and how many bits choose among them.
type code struct {
	base int
	bits uint
}

func (c code) value(r *reader) int { return c.base + int(r.take(c.bits)) }

// codes are the numbers of consecutive symbols that differ in the number of bits only.
func codes(plain, base int, more ...uint) []code {
	var all []code
	for i := range plain {
		all = append(all, code{base + i, 0})
	}
	base += plain
	for _, b := range more {
		all = append(all, code{base, b})
		base += 1 << b
	}
	return all
}

// What the symbols of a sequence stand for.
var (
	lengthCodes = codes(16, 0, 1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)
	matchCodes  = codes(32, 3, 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)
)

// table decodes symbols: the state is an index, and bits are added to the next state's base.
type table []entry

type entry struct {
	symbol byte
	bits   byte
	next   uint16
}

func (t table) bits() uint { return uint(bits.Len(uint(len(t))) - 1) }

// kinds are the three tables of sequences: what is used where the block says nothing, the greatest symbol, and the greatest size.
var kinds = [3]struct {
	usual   []int16
	log     uint
	symbols int
	maxLog  uint
}{
	{[]int16{4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1}, 6, 36, 9},
	{[]int16{1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1}, 5, 32, 8},
	{[]int16{1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
		-1, -1, -1, -1, -1, -1, -1}, 6, 53, 9},
}

// readTable reads the table of one kind, as the mode says, and returns what follows it.
func (d *decoder) readTable(kind int, mode byte, src []byte) ([]byte, error) {
	k := &kinds[kind]
	var err error
	switch mode {
	case 0:
		d.tables[kind], err = newTable(k.usual, k.log)
	case 1:
		if len(src) == 0 {
			return nil, errShort
		}
		if int(src[0]) >= k.symbols {
			return nil, errCorrupt
		}
		d.tables[kind], src = table{{symbol: src[0]}}, src[1:]
	case 2:
		var counts []int16
		var log uint
		if counts, log, src, err = readCounts(src, k.symbols, k.maxLog); err != nil {
			return nil, err
		}
		d.tables[kind], err = newTable(counts, log)
	case 3:
		if d.tables[kind] == nil {
			return nil, errCorrupt
		}
	}
	return src, err
}

// readCounts reads how often each symbol occurs; -1 stands for less than once.
func readCounts(src []byte, symbols int, maxLog uint) (counts []int16, log uint, rest []byte, err error) {
	at := uint(0) // in bits
	peek := func(n uint) int {
		v, from := uint64(0), at/8
		for i := range uint(4) {
			if from+i < uint(len(src)) {
				v |= uint64(src[from+i]) << (8 * i)
			}
		}
		return int(v >> (at % 8) & (1<<n - 1))
	}
	log = uint(peek(4)) + 5
	at = 4
	if log > maxLog {
		return nil, 0, nil, errCorrupt
	}
	remaining, threshold, width := 1<<log+1, 1<<log, log+1
	for remaining > 1 && len(counts) < symbols && at <= 8*uint(len(src)) {
		most := 2*threshold - 1 - remaining
		v := peek(width)
		if low := v & (threshold - 1); low < most {
			v = low
			at += width - 1
		} else {
			if v >= threshold {
				v -= most
			}
			at += width
		}
		v--
		counts = append(counts, int16(v))
		remaining -= max(v, -v)
		for remaining < threshold {
			width--
			threshold >>= 1
		}
		for v == 0 { // how many more zeros follow, three and on
			n := peek(2)
			at += 2
			counts = append(counts, make([]int16, n)...)
			if n < 3 || len(counts) > symbols {
				break
			}
		}
	}
	bytes := (at + 7) / 8
	if remaining != 1 || len(counts) > symbols || bytes > uint(len(src)) {
		return nil, 0, nil, errCorrupt
	}
	return counts, log, src[bytes:], nil
}

// newTable spreads the symbols over the states.
func newTable(counts []int16, log uint) (table, error) {
	size := 1 << log
	t := make(table, size)
	next := make([]uint, len(counts))
	high := size - 1
	for s, n := range counts {
		next[s] = uint(n)
		if n == -1 {
			t[high].symbol = byte(s)
			high--
			next[s] = 1
		}
	}
	at := 0
	for s, n := range counts {
		for range n {
			t[at].symbol = byte(s)
			for at = (at + size>>1 + size>>3 + 3) & (size - 1); at > high; {
				at = (at + size>>1 + size>>3 + 3) & (size - 1)
			}
		}
	}
	if at != 0 {
		return nil, errCorrupt
	}
	for i := range t {
		x := next[t[i].symbol]
		next[t[i].symbol]++
		t[i].bits = byte(log - uint(bits.Len(x)-1))
		t[i].next = uint16(x<<t[i].bits - uint(size))
	}
	return t, nil
}
