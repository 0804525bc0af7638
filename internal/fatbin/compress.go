package fatbin

import (
	"bytes"
	"errors"

	"github.com/pierrec/lz4/v4"

	"kudzu/internal/zstd"
)

// lz4Ratio is the most an LZ4 block can grow: each further byte of a match length stands for 255 bytes of output.
const lz4Ratio = 255

// Text is the entry's content, decompressed and, for PTX, up to the NUL that ends it, where there is one.
func (e *Entry) Text() ([]byte, error) {
	out := e.Payload
	var err error
	switch {
	case e.Flags&FlagZstd != 0:
		out, err = unzstd(e.Payload, e.FullSize)
	case e.Flags&FlagLZ4 != 0:
		out, err = unlz4(e.Payload, e.FullSize)
	}
	if err != nil {
		return nil, err
	}
	if e.Kind == PTX {
		out, _, _ = bytes.Cut(out, []byte{0})
	}
	return out, nil
}

// head is the beginning of the entry's content: n bytes or more, or all. Damage behind it is not seen.
func (e *Entry) head(n int) ([]byte, error) {
	switch {
	case e.Flags&FlagZstd != 0:
		return zstd.Head(e.Payload, n)
	case e.Flags&FlagLZ4 != 0:
		return lz4Head(e.Payload, n)
	}
	return e.Payload, nil
}

// lz4Head decompresses a raw block as far as n bytes.
func lz4Head(src []byte, n int) ([]byte, error) {
	short := bad("LZ4 block of %d bytes ends too early", len(src))
	var out []byte
	// length is a field of the token, with the bytes that follow where it is 15.
	length := func(field byte) (int, bool) {
		size := int(field)
		for more := field == 15; more; {
			if len(src) == 0 {
				return 0, false
			}
			size, more, src = size+int(src[0]), src[0] == 255, src[1:]
		}
		return size, true
	}
	for len(src) > 0 && len(out) < n {
		token := src[0]
		src = src[1:]
		literals, ok := length(token >> 4)
		if !ok || literals > len(src) {
			return nil, short
		}
		out, src = append(out, src[:min(literals, n)]...), src[literals:]
		if len(src) == 0 || len(out) >= n {
			break
		}
		if len(src) < 2 {
			return nil, short
		}
		back := int(src[0]) | int(src[1])<<8
		src = src[2:]
		match, ok := length(token & 15)
		if !ok || back == 0 || back > len(out) {
			return nil, short
		}
		for range min(match+4, n) {
			out = append(out, out[len(out)-back])
		}
	}
	return out, nil
}

// unlz4 decompresses a raw block. Size is the declared output, or 0 where the producer left it out.
func unlz4(src []byte, size uint64) ([]byte, error) {
	limit := min(uint64(len(src))*lz4Ratio+16, MaxText)
	if size > limit {
		return nil, bad("LZ4 block of %d bytes declared as %d", len(src), size)
	}
	guess := size
	if size == 0 {
		guess = min(uint64(len(src))*4+64, limit)
	}
	for {
		out := make([]byte, guess)
		n, err := lz4.UncompressBlock(src, out)
		switch {
		case err == nil && size != 0 && uint64(n) != size:
			return nil, bad("LZ4 block holds %d bytes, %d declared", n, size)
		case err == nil:
			return out[:n], nil
		case size != 0 || guess == limit || !errors.Is(err, lz4.ErrInvalidSourceShortBuffer):
			return nil, bad("LZ4 block of %d bytes: %v", len(src), err)
		}
		guess = min(guess*4, limit)
	}
}

// unzstd decompresses frames. Size is the declared output, or 0 where the producer left it out.
func unzstd(src []byte, size uint64) ([]byte, error) {
	if size > MaxText {
		return nil, bad("zstd frame declared as %d bytes", size)
	}
	limit, buffer := uint64(MaxText), []byte(nil)
	if size != 0 {
		limit, buffer = size, make([]byte, 0, size+zstd.Slack)
	}
	out, err := zstd.Decode(src, buffer, limit)
	if err != nil {
		return nil, bad("zstd frame of %d bytes: %v", len(src), err)
	}
	if size != 0 && uint64(len(out)) != size {
		return nil, bad("zstd frame holds %d bytes, %d declared", len(out), size)
	}
	return out, nil
}
