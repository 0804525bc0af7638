package driver

import (
	"encoding/binary"
	"math"
	"slices"

	"kudzu/internal/backend"
	"kudzu/internal/hostmem"
	"kudzu/internal/lockrank"
	"kudzu/internal/spec/cu"
)

// oldLaunch is the launch that the first CUDA releases built up on a function piece by piece.
type oldLaunch struct {
	mu     lockrank.Mutex[lockrank.DriverOldLaunch]
	block  [3]uint32 // guarded by mu, as the rest
	shared uint32
	size   uint32 // of the parameters
	params []byte
}

// withOld runs f on a function's piecewise launch.
func (t *Thread) withOld(h cu.CUfunction, f func(fn *Function, o *oldLaunch) error) error {
	fn, err := t.launchable(h)
	if err != nil {
		return err
	}
	fn.old.mu.Lock()
	defer fn.old.mu.Unlock()
	return f(fn, &fn.old)
}

// FuncSetBlockShape sets the block of later old launches.
func (t *Thread) FuncSetBlockShape(h cu.CUfunction, x, y, z int32) error {
	return t.withOld(h, func(_ *Function, o *oldLaunch) error {
		if x <= 0 || y <= 0 || z <= 0 {
			return errInvalidValue
		}
		o.block = [3]uint32{uint32(x), uint32(y), uint32(z)}
		return nil
	})
}

// FuncSetSharedSize sets the dynamic shared memory of later old launches.
func (t *Thread) FuncSetSharedSize(h cu.CUfunction, n uint32) error {
	return t.withOld(h, func(_ *Function, o *oldLaunch) error {
		o.shared = n
		return nil
	})
}

// ParamSetSize says how many bytes of parameters there are.
func (t *Thread) ParamSetSize(h cu.CUfunction, n uint32) error {
	return t.withOld(h, func(fn *Function, o *oldLaunch) error {
		if int64(n) > int64(fn.decl.ParamBytes) {
			return errInvalidValue
		}
		o.size = n
		return nil
	})
}

// setParam writes bytes of the parameters.
func (t *Thread) setParam(h cu.CUfunction, offset int32, b []byte) error {
	return t.withOld(h, func(fn *Function, o *oldLaunch) error {
		if offset < 0 || int64(offset)+int64(len(b)) > int64(fn.decl.ParamBytes) {
			return errInvalidValue
		}
		if o.params == nil {
			o.params = make([]byte, fn.decl.ParamBytes)
		}
		copy(o.params[offset:], b)
		return nil
	})
}

// ParamSeti sets a word of the parameters.
func (t *Thread) ParamSeti(h cu.CUfunction, offset int32, v uint32) error {
	return t.setParam(h, offset, binary.LittleEndian.AppendUint32(nil, v))
}

// ParamSetf sets a float of the parameters.
func (t *Thread) ParamSetf(h cu.CUfunction, offset int32, v float32) error {
	return t.setParam(h, offset, binary.LittleEndian.AppendUint32(nil, math.Float32bits(v)))
}

// ParamSetv sets any bytes of the parameters.
func (t *Thread) ParamSetv(h cu.CUfunction, offset int32, p hostmem.Ptr, n uint32) error {
	if p == hostmem.Nil || n > 1<<16 {
		return errInvalidValue
	}
	return t.setParam(h, offset, slices.Clone(hostmem.Bytes(p, uint64(n))))
}

// Launch runs one block.
func (t *Thread) Launch(h cu.CUfunction) error { return t.LaunchGridAsync(h, 1, 1, 0) }

// LaunchGrid runs a grid of two dimensions in the default stream.
func (t *Thread) LaunchGrid(h cu.CUfunction, width, height int32) error {
	return t.LaunchGridAsync(h, width, height, 0)
}

// LaunchGridAsync runs a grid of two dimensions in a stream.
func (t *Thread) LaunchGridAsync(h cu.CUfunction, width, height int32, stream cu.CUstream) error {
	if _, err := t.context(); err != nil {
		return err
	}
	st, err := t.stream(stream)
	if err != nil {
		return err
	}
	if width <= 0 || height <= 0 {
		return errInvalidValue
	}
	var k *kernelTask
	err = t.withOld(h, func(fn *Function, o *oldLaunch) error {
		if !fn.mod.ctx.kin(st.ctx) {
			return errInvalidHandle
		}
		if o.block == [3]uint32{} || int64(o.size) < int64(fn.decl.ParamBytes) {
			return errInvalidValue
		}
		k = &kernelTask{f: fn, func_: h, launch: backend.Launch{Grid: [3]uint32{uint32(width), uint32(height), 1}, Block: o.block, DynamicShared: o.shared}}
		k.launch.Params = make([]byte, fn.decl.ParamBytes)
		copy(k.launch.Params, o.params)
		return fn.admits(&k.launch)
	})
	if err != nil {
		return err
	}
	if err := k.f.prepare(k.launch.Block); err != nil {
		return err
	}
	if err := t.bindRefs(k.f.mod); err != nil {
		return err
	}
	return t.submit(st, k)
}
