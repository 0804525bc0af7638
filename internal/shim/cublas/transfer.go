package cublas

import (
	"kudzu/internal/cudart"
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
)

// Vectors and matrices between host and device. A vector with an increment is a matrix of one row.

// move copies rows × cols elements between columns of lds and ldd elements. Which side is the host's is for the addresses
// to say: every memory of ours is known by its address.
func (t *Thread) move(rows, cols, size int64, src hostmem.Ptr, lds int64, dst hostmem.Ptr, ldd int64, stream rt.CudaStream_t, async bool) error {
	if rows < 0 || cols < 0 || size <= 0 || lds < 1 || ldd < 1 {
		return invalidValue
	}
	if lds < rows || ldd < rows {
		return mappingError
	}
	if rows == 0 || cols == 0 {
		return nil
	}
	if src == hostmem.Nil || dst == hostmem.Nil {
		return invalidValue
	}
	const most = 1 << 62
	if pitch := max(lds, ldd); pitch > most/size || cols > most/(pitch*size) {
		return invalidValue // more bytes than there are addresses
	}
	if err := cudart.Ready(t.driver()); err != nil {
		return err
	}
	c := &cu.CUDA_MEMCPY2D_v2{
		SrcMemoryType: cu.CU_MEMORYTYPE_UNIFIED, SrcDevice: uint64(src), SrcPitch: uint64(lds * size),
		DstMemoryType: cu.CU_MEMORYTYPE_UNIFIED, DstDevice: uint64(dst), DstPitch: uint64(ldd * size),
		WidthInBytes: uint64(rows * size), Height: uint64(cols),
	}
	d := t.driver()
	if lds == rows && ldd == rows { // one piece
		n := uint64(rows * cols * size)
		if async {
			return d.MemcpyAsync(driver.DevPtr(dst), driver.DevPtr(src), n, cu.CUstream(stream))
		}
		return d.Memcpy(driver.DevPtr(dst), driver.DevPtr(src), n)
	}
	if async {
		return d.Memcpy2DAsync(c, cu.CUstream(stream))
	}
	return d.Memcpy2DUnaligned(c)
}

func (t *Thread) moveVector(n, size int64, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, stream rt.CudaStream_t, async bool) error {
	if incx <= 0 || incy <= 0 {
		return invalidValue
	}
	if incx == 1 && incy == 1 {
		return t.move(n, 1, size, x, max(1, n), y, max(1, n), stream, async)
	}
	return t.move(1, n, size, x, incx, y, incy, stream, async)
}

// SetVector copies a vector to the device.
func (t *Thread) SetVector(n, size int64, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64) error {
	return t.moveVector(n, size, x, incx, y, incy, 0, false)
}

// GetVector copies a vector to the host.
func (t *Thread) GetVector(n, size int64, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64) error {
	return t.moveVector(n, size, x, incx, y, incy, 0, false)
}

// SetVectorAsync is SetVector in a stream's order.
func (t *Thread) SetVectorAsync(n, size int64, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, s rt.CudaStream_t) error {
	return t.moveVector(n, size, x, incx, y, incy, s, true)
}

// GetVectorAsync is GetVector in a stream's order.
func (t *Thread) GetVectorAsync(n, size int64, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, s rt.CudaStream_t) error {
	return t.moveVector(n, size, x, incx, y, incy, s, true)
}

// SetMatrix copies a matrix to the device.
func (t *Thread) SetMatrix(rows, cols, size int64, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64) error {
	return t.move(rows, cols, size, a, lda, b, ldb, 0, false)
}

// GetMatrix copies a matrix to the host.
func (t *Thread) GetMatrix(rows, cols, size int64, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64) error {
	return t.move(rows, cols, size, a, lda, b, ldb, 0, false)
}

// SetMatrixAsync is SetMatrix in a stream's order.
func (t *Thread) SetMatrixAsync(rows, cols, size int64, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, s rt.CudaStream_t) error {
	return t.move(rows, cols, size, a, lda, b, ldb, s, true)
}

// GetMatrixAsync is GetMatrix in a stream's order.
func (t *Thread) GetMatrixAsync(rows, cols, size int64, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, s rt.CudaStream_t) error {
	return t.move(rows, cols, size, a, lda, b, ldb, s, true)
}
