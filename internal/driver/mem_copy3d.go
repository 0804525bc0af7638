package driver

import (
	"kudzu/internal/spec/cu"
)

// volume is one side of a three-dimensional copy: rows apart by pitch, slices of height rows.
type volume struct {
	rows
	slice uint64 // bytes between slices
}

// maxSlices bounds depths and slice heights, so that products of three numbers stay within 64 bits after the range check.
const maxSlices = 1 << 31

// volume checks one side; the last byte of the last slice must be inside.
func (s *state) volume(kind cu.CUmemorytype, array cu.CUarray, host, device, x, y, z, pitch, height uint64, p *cu.CUDA_MEMCPY3D) (volume, error) {
	if kind == cu.CU_MEMORYTYPE_ARRAY {
		if array == 0 {
			return volume{}, errInvalidValue
		}
		a, err := s.array(array)
		if err != nil {
			return volume{}, err
		}
		return a.volume(x, y, z, p)
	}
	if pitch == 0 {
		pitch = x + p.WidthInBytes
	}
	if height == 0 {
		height = y + p.Height
	}
	if pitch > maxPitch || height > maxSlices || p.Depth > maxSlices || z > maxSlices || y > height || p.Height > height-y {
		return volume{}, errInvalidValue
	}
	slice := pitch * height
	if slice > 0 && (z+p.Depth) > (1<<62)/slice {
		return volume{}, errInvalidValue
	}
	first := host
	if kind != cu.CU_MEMORYTYPE_HOST {
		first = device
	}
	// The first slice is a plane; the rest only has to lie in the same range.
	r, err := s.plane(kind, host+z*slice, device+z*slice, x, y, pitch, p.WidthInBytes, p.Height)
	if err != nil || first == 0 {
		return volume{}, errInvalidValue
	}
	what := deviceSide
	if kind != cu.CU_MEMORYTYPE_DEVICE {
		what = eitherSide
	}
	if _, err := s.resolve(r.addr, (p.Depth-1)*slice+(p.Height-1)*pitch+p.WidthInBytes, what); err != nil {
		return volume{}, err
	}
	return volume{r, slice}, nil
}

func (t *Thread) memcpy3D(p *cu.CUDA_MEMCPY3D, h cu.CUstream, async bool) error {
	st, err := t.stream(h)
	if err != nil {
		return err
	}
	if !async {
		if err := t.waits(st); err != nil {
			return err
		}
	}
	k, err := st.ctx.state.copyBox(st.ctx, p)
	if err != nil || k == nil {
		return err
	}
	captured := st.capture.Load() != nil
	if err := t.submit(st, k); err != nil || captured {
		return err
	}
	onDevice := p.DstMemoryType == cu.CU_MEMORYTYPE_DEVICE && p.SrcMemoryType == cu.CU_MEMORYTYPE_DEVICE
	if k.dst.pageable || k.src.pageable || !async && !onDevice {
		return st.wait()
	}
	return nil
}

// Memcpy3D copies a box.
func (t *Thread) Memcpy3D(p *cu.CUDA_MEMCPY3D) error { return t.memcpy3D(p, 0, false) }

// Memcpy3DAsync is Memcpy3D in a stream.
func (t *Thread) Memcpy3DAsync(p *cu.CUDA_MEMCPY3D, stream cu.CUstream) error {
	return t.memcpy3D(p, stream, true)
}
