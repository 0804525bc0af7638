package driver

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// inArray is the address of n bytes of an array's first row, counted from its first byte.
func (t *Thread) inArray(h cu.CUarray, offset, n uint64) (uint64, error) {
	if h == 0 {
		_, err := t.context()
		if err == nil {
			err = errInvalidValue
		}
		return 0, err
	}
	a, err := t.array(h)
	if err != nil {
		return 0, err
	}
	if offset > a.pitch || n > a.pitch-offset {
		return 0, errInvalidValue
	}
	return a.base + offset, nil
}

// toBlocks copies into the first row of an array of compressed blocks, which are decoded behind it; false if it is another array.
func (t *Thread) toBlocks(dst cu.CUarray, offset, n uint64, from cu.CUDA_MEMCPY3D, stream cu.CUstream, async bool) (bool, error) {
	a, err := t.array(dst)
	if err != nil || a.blocks == nil {
		return false, nil // the caller says what is wrong
	}
	from.DstMemoryType, from.DstArray, from.DstXInBytes = cu.CU_MEMORYTYPE_ARRAY, dst, offset
	from.WidthInBytes, from.Height, from.Depth = n, 1, 1
	return true, t.memcpy3D(&from, stream, async)
}

// MemcpyDtoA copies from device memory to an array.
func (t *Thread) MemcpyDtoA(dst cu.CUarray, offset uint64, src DevPtr, n uint64) error {
	if done, err := t.toBlocks(dst, offset, n, cu.CUDA_MEMCPY3D{SrcMemoryType: cu.CU_MEMORYTYPE_DEVICE, SrcDevice: cu.CUdeviceptr(src)}, 0, false); done {
		return err
	}
	to, err := t.inArray(dst, offset, n)
	if err != nil {
		return err
	}
	return t.memcpy(to, uint64(src), n, arraySide, deviceSide, 0, false)
}

// MemcpyAtoD copies from an array to device memory.
func (t *Thread) MemcpyAtoD(dst DevPtr, src cu.CUarray, offset, n uint64) error {
	from, err := t.inArray(src, offset, n)
	if err != nil {
		return err
	}
	return t.memcpy(uint64(dst), from, n, deviceSide, arraySide, 0, false)
}

// MemcpyAtoA copies between arrays.
func (t *Thread) MemcpyAtoA(dst cu.CUarray, to uint64, src cu.CUarray, from, n uint64) error {
	if done, err := t.toBlocks(dst, to, n, cu.CUDA_MEMCPY3D{SrcMemoryType: cu.CU_MEMORYTYPE_ARRAY, SrcArray: src, SrcXInBytes: from}, 0, false); done {
		return err
	}
	d, err := t.inArray(dst, to, n)
	if err != nil {
		return err
	}
	f, err := t.inArray(src, from, n)
	if err != nil {
		return err
	}
	return t.memcpy(d, f, n, arraySide, arraySide, 0, false)
}

// MemcpyHtoA copies from host memory to an array.
func (t *Thread) MemcpyHtoA(dst cu.CUarray, offset uint64, src hostmem.Ptr, n uint64) error {
	return t.htoa(dst, offset, src, n, 0, false)
}

// MemcpyHtoAAsync is the same in a stream.
func (t *Thread) MemcpyHtoAAsync(dst cu.CUarray, offset uint64, src hostmem.Ptr, n uint64, stream cu.CUstream) error {
	return t.htoa(dst, offset, src, n, stream, true)
}

func (t *Thread) htoa(dst cu.CUarray, offset uint64, src hostmem.Ptr, n uint64, stream cu.CUstream, async bool) error {
	if done, err := t.toBlocks(dst, offset, n, cu.CUDA_MEMCPY3D{SrcMemoryType: cu.CU_MEMORYTYPE_HOST, SrcHost: uint64(src)}, stream, async); done {
		return err
	}
	to, err := t.inArray(dst, offset, n)
	if err != nil {
		return err
	}
	return t.memcpy(to, uint64(src), n, arraySide, hostSide, stream, async)
}

// MemcpyAtoH copies from an array to host memory.
func (t *Thread) MemcpyAtoH(dst hostmem.Ptr, src cu.CUarray, offset, n uint64) error {
	return t.atoh(dst, src, offset, n, 0, false)
}

// MemcpyAtoHAsync is the same in a stream.
func (t *Thread) MemcpyAtoHAsync(dst hostmem.Ptr, src cu.CUarray, offset, n uint64, stream cu.CUstream) error {
	return t.atoh(dst, src, offset, n, stream, true)
}

func (t *Thread) atoh(dst hostmem.Ptr, src cu.CUarray, offset, n uint64, stream cu.CUstream, async bool) error {
	from, err := t.inArray(src, offset, n)
	if err != nil {
		return err
	}
	return t.memcpy(uint64(dst), from, n, hostSide, arraySide, stream, async)
}
