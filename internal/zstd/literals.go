package zstd

import (
	"encoding/binary"
	"math/bits"
)

// readLiterals reads the block's literals, and returns what follows them.
func (d *decoder) readLiterals(src []byte) ([]byte, error) {
	if len(src) == 0 {
		return nil, errShort
	}
	kind, format := src[0]&3, src[0]>>2&3
	if kind >= 2 {
		return d.packedLiterals(src, kind == 3, format)
	}
	head := [...]int{1, 2, 1, 3}[format]
	if len(src) < head {
		return nil, errShort
	}
	size := int(number(src[:head])) >> 4
	if head == 1 {
		size = int(src[0]) >> 3
	}
	src = src[head:]
	if size > maxBlock {
		return nil, errCorrupt
	}
	if kind == 1 {
		if len(src) == 0 {
			return nil, errShort
		}
		d.store = fill(d.store[:0], src[0], size)
		d.literals = d.store
		return src[1:], nil
	}
	if len(src) < size {
		return nil, errShort
	}
	d.literals = src[:size]
	return src[size:], nil
}

// packedLiterals reads literals in Huffman's code: with a tree of their own, or with the last one.
func (d *decoder) packedLiterals(src []byte, old bool, format byte) ([]byte, error) {
	head, width := [...]int{3, 3, 4, 5}[format], [...]int{10, 10, 14, 18}[format]
	if len(src) < head {
		return nil, errShort
	}
	v := int(number(src[:head])) >> 4
	size, packed := v&(1<<width-1), v>>width
	src = src[head:]
	if len(src) < packed {
		return nil, errShort
	}
	if size > maxBlock || old && d.huffman.bits == 0 {
		return nil, errCorrupt
	}
	body, rest := src[:packed], src[packed:]
	if !old {
		var err error
		if body, err = d.huffman.read(body); err != nil {
			return nil, err
		}
	}
	if cap(d.store) < size {
		d.store = make([]byte, size, maxBlock)
	}
	d.store = d.store[:size]
	d.literals = d.store
	if format == 0 {
		return rest, d.huffman.decode(d.store, body)
	}
	if len(body) < 6 {
		return nil, errShort
	}
	sizes := body
	body = body[6:]
	part, out := (size+3)/4, d.store
	for i := range 4 {
		from, to := body, out
		if i < 3 {
			n := int(binary.LittleEndian.Uint16(sizes[2*i:]))
			if n > len(body) || part > len(out) {
				return nil, errCorrupt
			}
			from, body, to, out = body[:n], body[n:], out[:part], out[part:]
		}
		if err := d.huffman.decode(to, from); err != nil {
			return nil, err
		}
	}
	return rest, nil
}

const maxBits = 11 // of a symbol in Huffman's code

// huffman finds a symbol by the next bits of a stream; bits is 0 before there is a tree.
type huffman struct {
	bits    uint
	symbols [1 << maxBits]struct{ symbol, bits byte }
}

// read reads a tree: the weights of all symbols but the last that occurs.
func (h *huffman) read(src []byte) ([]byte, error) {
	if len(src) == 0 {
		return nil, errShort
	}
	n := int(src[0])
	src = src[1:]
	var weights []byte
	var err error
	if n >= 128 {
		n -= 127
		if len(src) < (n+1)/2 {
			return nil, errShort
		}
		for i := range n {
			weights = append(weights, src[i/2]>>(4-4*(i%2))&15)
		}
		src = src[(n+1)/2:]
	} else {
		if len(src) < n {
			return nil, errShort
		}
		if weights, err = readWeights(src[:n]); err != nil {
			return nil, err
		}
		src = src[n:]
	}
	return src, h.build(weights)
}

// readWeights reads weights that two states of one table tell in turn.
func readWeights(src []byte) ([]byte, error) {
	counts, log, src, err := readCounts(src, maxBits+2, 6)
	if err != nil {
		return nil, err
	}
	t, err := newTable(counts, log)
	if err != nil {
		return nil, err
	}
	r, err := newReader(src)
	if err != nil {
		return nil, err
	}
	state, other := r.take(log), r.take(log)
	if r.over {
		return nil, errShort
	}
	var weights []byte
	for len(weights) < 255 {
		e := &t[state]
		weights = append(weights, e.symbol)
		if r.left() < uint(e.bits) {
			return append(weights, t[other].symbol), nil
		}
		state, other = other, uint64(e.next)+r.take(uint(e.bits))
	}
	return nil, errCorrupt
}

func (h *huffman) build(weights []byte) error {
	total := 0
	for _, w := range weights {
		if w > maxBits+1 {
			return errCorrupt
		}
		total += 1 << w >> 1
	}
	if total == 0 || len(weights) > 255 {
		return errCorrupt
	}
	length := bits.Len(uint(total))
	missing := 1<<length - total // the last symbol's, a power of two
	if length > maxBits || missing&(missing-1) != 0 {
		return errCorrupt
	}
	weights = append(weights, byte(bits.Len(uint(missing))))
	at := 0
	for w := 1; w <= length; w++ {
		for symbol, of := range weights {
			if int(of) != w {
				continue
			}
			for range 1 << (w - 1) {
				h.symbols[at].symbol, h.symbols[at].bits = byte(symbol), byte(length+1-w)
				at++
			}
		}
	}
	if at != 1<<length {
		return errCorrupt
	}
	h.bits = uint(length)
	return nil
}

// decode fills out from one stream.
func (h *huffman) decode(out, src []byte) error {
	r, err := newReader(src)
	if err != nil {
		return err
	}
	mask := uint64(1)<<h.bits - 1
	for len(out) > 1 && len(r.src) > 3 { // two at once, as long as there are certainly bits enough
		if r.n < 2*maxBits {
			r.fill()
		}
		e := h.symbols[r.acc>>(r.n-h.bits)&mask]
		r.n -= uint(e.bits)
		f := h.symbols[r.acc>>(r.n-h.bits)&mask]
		r.n -= uint(f.bits)
		out[0], out[1] = e.symbol, f.symbol
		out = out[2:]
	}
	for i := range out {
		if r.n < h.bits {
			r.fill()
		}
		index := r.acc << (64 - r.n) >> (64 - h.bits) // zeros behind the end
		if r.n >= h.bits {
			index = r.acc >> (r.n - h.bits)
		}
		e := &h.symbols[index&mask]
		if uint(e.bits) > r.n {
			return errShort
		}
		r.n -= uint(e.bits)
		out[i] = e.symbol
	}
	if !r.done() {
		return errCorrupt
	}
	return nil
}
