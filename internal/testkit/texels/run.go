package texels

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"

	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// Runner runs jobs on the driver, one after another, in the primary context of device 0.
type Runner struct {
	t       *driver.Thread
	modules map[string]cu.CUmodule
}

// NewRunner takes a thread on which cuInit has been called.
func NewRunner(t *driver.Thread) (*Runner, error) {
	r := &Runner{t: t, modules: map[string]cu.CUmodule{}}
	return r, r.retain()
}

func (r *Runner) retain() error {
	ctx, err := r.t.DevicePrimaryCtxRetain(0)
	if err != nil {
		return err
	}
	return r.t.CtxSetCurrent(ctx)
}

// Reset ends the context and begins another.
func (r *Runner) Reset() error {
	clear(r.modules)
	if err := r.t.DevicePrimaryCtxReset(0); err != nil {
		return err
	}
	return r.retain()
}

// Result is a job's answer as the recorder writes it: status, stage, words, a surface's memory.
func (r *Runner) Run(j *Job) []byte {
	out := make([]byte, j.ResultSize())
	stage, err := r.run(j, out[8:])
	code := uint32(0)
	if err != nil {
		code = 999
		var res driver.Result
		if errors.As(err, &res) {
			code = uint32(res)
		}
	}
	binary.LittleEndian.PutUint32(out, code)
	if code != 0 {
		binary.LittleEndian.PutUint32(out[4:], stage)
	}
	return out
}

// ResultSize is the bytes of a job's result.
func (j *Job) ResultSize() int {
	n := 8 + 4*j.Out*j.Threads()
	if j.Surface {
		n += len(j.Data)
	}
	return n
}

func (r *Runner) copyArray(j *Job, a cu.CUarray, w, h, d uint64, host []byte, out bool) error {
	c := cu.CUDA_MEMCPY3D{WidthInBytes: w * uint64(j.ElemBytes()), Height: max(1, h), Depth: max(1, d)}
	p := uint64(hostmem.Of(&host[0]))
	if out {
		c.SrcMemoryType, c.SrcArray, c.DstMemoryType, c.DstHost, c.DstPitch, c.DstHeight = cu.CU_MEMORYTYPE_ARRAY, a, cu.CU_MEMORYTYPE_HOST, p, c.WidthInBytes, c.Height
	} else {
		c.DstMemoryType, c.DstArray, c.SrcMemoryType, c.SrcHost, c.SrcPitch, c.SrcHeight = cu.CU_MEMORYTYPE_ARRAY, a, cu.CU_MEMORYTYPE_HOST, p, c.WidthInBytes, c.Height
	}
	return r.t.Memcpy3D(&c)
}

// resource makes the memory; free gives it back.
func (r *Runner) resource(j *Job, rd *cu.CUDA_RESOURCE_DESC) (array cu.CUarray, free func(), err error) {
	t := r.t
	free = func() {}
	rd.ResType = j.Res
	switch j.Res {
	case cu.CU_RESOURCE_TYPE_ARRAY:
		a, err := t.Array3DCreate(&j.Array)
		if err != nil {
			return 0, free, err
		}
		rd.Res.Array().HArray = a
		return a, func() { _ = t.ArrayDestroy(a) }, r.copyArray(j, a, j.Array.Width, j.Array.Height, j.Array.Depth, j.Data, false)
	case cu.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
		m, err := t.MipmappedArrayCreate(&j.Array, j.Levels)
		if err != nil {
			return 0, free, err
		}
		rd.Res.Mipmap().HMipmappedArray = m
		data := j.Data
		for l := range j.Levels {
			a, err := t.MipmappedArrayGetLevel(m, l)
			if err != nil {
				return 0, free, err
			}
			w, h, d := j.Level(l)
			if err := r.copyArray(j, a, w, h, d, data, false); err != nil {
				return 0, free, err
			}
			data = data[j.LevelBytes(l):]
		}
		return 0, func() { _ = t.MipmappedArrayDestroy(m) }, nil
	}
	w, h, elem := j.Array.Width, max(1, j.Array.Height), uint64(j.ElemBytes())
	pitch := w * elem
	if j.Res == cu.CU_RESOURCE_TYPE_PITCH2D {
		pitch = (pitch + 511) &^ 511
	}
	n := uint64(len(j.Data))
	if j.Res == cu.CU_RESOURCE_TYPE_PITCH2D {
		n = pitch * h
	}
	p, err := t.MemAlloc(n)
	if err != nil {
		return 0, free, err
	}
	free = func() { _ = t.MemFree(p) }
	if j.Res == cu.CU_RESOURCE_TYPE_LINEAR {
		l := rd.Res.Linear()
		l.DevPtr, l.Format, l.NumChannels, l.SizeInBytes = p, j.Array.Format, j.Array.NumChannels, n
		return 0, free, t.MemcpyHtoD(p, hostmem.Of(&j.Data[0]), n)
	}
	for y := range h {
		if err := t.MemcpyHtoD(p+cu.CUdeviceptr(y*pitch), hostmem.Of(&j.Data[y*w*elem]), w*elem); err != nil {
			return 0, free, err
		}
	}
	l := rd.Res.Pitch2D()
	l.DevPtr, l.Format, l.NumChannels, l.Width, l.Height, l.PitchInBytes = p, j.Array.Format, j.Array.NumChannels, w, h, pitch
	return 0, free, nil
}

func (r *Runner) run(j *Job, out []byte) (stage uint32, err error) {
	t := r.t
	var rd cu.CUDA_RESOURCE_DESC
	array, free, err := r.resource(j, &rd)
	defer func() { free() }()
	if err != nil {
		return 1, err
	}
	var object uint64
	if j.Surface {
		var h cu.CUsurfObject
		h, err = t.SurfObjectCreate(&rd)
		object = uint64(h)
		defer func() { _ = t.SurfObjectDestroy(h) }()
	} else {
		var h cu.CUtexObject
		h, err = t.TexObjectCreate(&rd, &j.Tex, j.View)
		object = uint64(h)
		defer func() { _ = t.TexObjectDestroy(h) }()
	}
	if err != nil {
		return 2, err
	}
	m, ok := r.modules[j.PTX()]
	if !ok {
		text := append([]byte(j.PTX()), 0)
		if m, err = t.ModuleLoadData(hostmem.Of(&text[0])); err != nil {
			return 3, err
		}
		r.modules[j.PTX()] = m
	}
	f, err := t.ModuleGetFunction(m, "k")
	if err != nil {
		return 3, err
	}
	return 4, r.launch(j, f, object, array, out)
}

func (r *Runner) launch(j *Job, f cu.CUfunction, object uint64, array cu.CUarray, out []byte) error {
	t := r.t
	n := uint32(j.Threads())
	no := uint64(4*j.Out) * uint64(n)
	in, err := t.MemAlloc(uint64(4*len(j.Words)) + 4)
	if err != nil {
		return err
	}
	defer func() { _ = t.MemFree(in) }()
	res, err := t.MemAlloc(no + 4)
	if err != nil {
		return err
	}
	defer func() { _ = t.MemFree(res) }()
	if len(j.Words) > 0 {
		if err := t.MemcpyHtoD(in, hostmem.Of(&j.Words[0]), uint64(4*len(j.Words))); err != nil {
			return err
		}
	}
	if err := t.MemsetD8(res, 0xcc, no+4); err != nil {
		return err
	}
	values := [4]uint64{object, uint64(in), uint64(res), uint64(n)}
	var params [4]hostmem.Ptr
	for i := range values {
		params[i] = hostmem.Of(&values[i])
	}
	err = t.LaunchKernel(f, (n+63)/64, 1, 1, 64, 1, 1, 0, 0, hostmem.Of(&params[0]), 0)
	runtime.KeepAlive(&values)
	if err != nil {
		return fmt.Errorf("launch: %w", err)
	}
	if err := t.CtxSynchronize(); err != nil {
		return err
	}
	if no > 0 {
		if err := t.MemcpyDtoH(hostmem.Of(&out[0]), res, no); err != nil {
			return err
		}
	}
	if j.Surface && array != 0 {
		return r.copyArray(j, array, j.Array.Width, j.Array.Height, j.Array.Depth, out[no:], true)
	}
	return nil
}
