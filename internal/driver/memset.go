package driver

import (
	"kudzu/internal/backend"
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
	if width > ^uint64(0)/size || uint64(dst)%size != 0 {
		return errInvalidValue
	}
	bytes := width * size
	span := bytes
	if height > 1 {
		if pitch < bytes || pitch%size != 0 || height-1 > (^uint64(0)-bytes)/pitch {
			return errInvalidValue
		}
		span = (height-1)*pitch + bytes
	}
	a := st.ctx.state.allocs.find(uint64(dst))
	if a == nil || span > a.size-(uint64(dst)-a.base) {
		return errInvalidValue
	}
	if err := st.begin(); err != nil {
		return err
	}
	err = st.q.Fill(backend.Addr(dst), value, int(size), width, pitch, height)
	st.end()
	if err != nil {
		return st.ctx.fail(err)
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
