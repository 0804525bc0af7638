package driver

import (
	"kudzu/internal/spec/cu"
)

// memset is every set. Height 1 ignores the pitch. Sets return before they are done, unless the memory is the host's.
func (t *Thread) memset(dst DevPtr, pitch uint64, value uint32, size, width, height uint64, h cu.CUstream, async bool) error {
	st, err := t.stream(h)
	if err != nil {
		return err
	}
	if width == 0 || height == 0 {
		return nil
	}
	if !async {
		if err := t.waits(st); err != nil {
			return err
		}
	}
	k, a, err := st.ctx.state.newSet(st.ctx, cu.CUDA_MEMSET_NODE_PARAMS{Dst: dst, Pitch: pitch, Value: value, ElementSize: uint32(size), Width: width, Height: height})
	if err != nil {
		return err
	}
	if err := t.submit(st, k); err != nil {
		return err
	}
	if !async && a.host() {
		return st.wait()
	}
	return nil
}

// MemsetD8 sets n bytes.
func (t *Thread) MemsetD8(dst DevPtr, v uint8, n uint64) error {
	return t.memset(dst, 0, uint32(v), 1, n, 1, 0, false)
}

// MemsetD16 sets n halves.
func (t *Thread) MemsetD16(dst DevPtr, v uint16, n uint64) error {
	return t.memset(dst, 0, uint32(v), 2, n, 1, 0, false)
}

// MemsetD32 sets n words.
func (t *Thread) MemsetD32(dst DevPtr, v uint32, n uint64) error {
	return t.memset(dst, 0, v, 4, n, 1, 0, false)
}

// MemsetD2D8 sets a rectangle of bytes.
func (t *Thread) MemsetD2D8(dst DevPtr, pitch uint64, v uint8, width, height uint64) error {
	return t.memset(dst, pitch, uint32(v), 1, width, height, 0, false)
}

// MemsetD2D16 sets a rectangle of halves.
func (t *Thread) MemsetD2D16(dst DevPtr, pitch uint64, v uint16, width, height uint64) error {
	return t.memset(dst, pitch, uint32(v), 2, width, height, 0, false)
}

// MemsetD2D32 sets a rectangle of words.
func (t *Thread) MemsetD2D32(dst DevPtr, pitch uint64, v uint32, width, height uint64) error {
	return t.memset(dst, pitch, v, 4, width, height, 0, false)
}

// MemsetD8Async is MemsetD8 in a stream.
func (t *Thread) MemsetD8Async(dst DevPtr, v uint8, n uint64, stream cu.CUstream) error {
	return t.memset(dst, 0, uint32(v), 1, n, 1, stream, true)
}

// MemsetD16Async is MemsetD16 in a stream.
func (t *Thread) MemsetD16Async(dst DevPtr, v uint16, n uint64, stream cu.CUstream) error {
	return t.memset(dst, 0, uint32(v), 2, n, 1, stream, true)
}

// MemsetD32Async is MemsetD32 in a stream.
func (t *Thread) MemsetD32Async(dst DevPtr, v uint32, n uint64, stream cu.CUstream) error {
	return t.memset(dst, 0, v, 4, n, 1, stream, true)
}

// MemsetD2D8Async is MemsetD2D8 in a stream.
func (t *Thread) MemsetD2D8Async(dst DevPtr, pitch uint64, v uint8, width, height uint64, stream cu.CUstream) error {
	return t.memset(dst, pitch, uint32(v), 1, width, height, stream, true)
}

// MemsetD2D16Async is MemsetD2D16 in a stream.
func (t *Thread) MemsetD2D16Async(dst DevPtr, pitch uint64, v uint16, width, height uint64, stream cu.CUstream) error {
	return t.memset(dst, pitch, uint32(v), 2, width, height, stream, true)
}

// MemsetD2D32Async is MemsetD2D32 in a stream.
func (t *Thread) MemsetD2D32Async(dst DevPtr, pitch uint64, v uint32, width, height uint64, stream cu.CUstream) error {
	return t.memset(dst, pitch, v, 4, width, height, stream, true)
}
