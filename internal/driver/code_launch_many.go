package driver

import (
	"slices"

	"kudzu/internal/backend"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// LaunchCooperativeKernelMultiDevice launches one kernel on several devices, in a stream of each. Unless told otherwise, none
// begins before all streams are there, and none goes on before all kernels are done.
func (t *Thread) LaunchCooperativeKernelMultiDevice(list hostmem.Ptr, n, flags uint32) error {
	s, err := t.enter()
	if err != nil {
		return err
	}
	const known = uint32(cu.CUDA_COOPERATIVE_LAUNCH_MULTI_DEVICE_NO_PRE_LAUNCH_SYNC | cu.CUDA_COOPERATIVE_LAUNCH_MULTI_DEVICE_NO_POST_LAUNCH_SYNC)
	if list == hostmem.Nil || n == 0 || uint64(n) > uint64(len(s.devices)) || flags&^known != 0 {
		return errInvalidValue
	}
	all := slices.Clone(hostmem.Slice[cu.CUDA_LAUNCH_PARAMS](list, int(n)))
	streams := make([]*Stream, n)
	for i := range all {
		if streams[i], err = t.oneOfMany(all, i, streams[:i]); err != nil {
			return err
		}
	}
	if flags&cu.CUDA_COOPERATIVE_LAUNCH_MULTI_DEVICE_NO_PRE_LAUNCH_SYNC == 0 {
		if err := meet(streams); err != nil {
			return err
		}
	}
	for i := range all {
		p := &all[i]
		if err := t.LaunchCooperativeKernel(p.Function, p.GridDimX, p.GridDimY, p.GridDimZ, p.BlockDimX, p.BlockDimY, p.BlockDimZ, p.SharedMemBytes, p.HStream, hostmem.Ptr(p.KernelParams)); err != nil {
			return err
		}
	}
	if flags&cu.CUDA_COOPERATIVE_LAUNCH_MULTI_DEVICE_NO_POST_LAUNCH_SYNC == 0 {
		return meet(streams)
	}
	return nil
}

// oneOfMany checks one launch of several: the shape is that of the first, the stream is created, of a device of its own, and
// not captured.
func (t *Thread) oneOfMany(all []cu.CUDA_LAUNCH_PARAMS, i int, before []*Stream) (*Stream, error) {
	p, q := &all[i], &all[0]
	if p.HStream <= cu.CU_STREAM_PER_THREAD || p.GridDimX != q.GridDimX || p.GridDimY != q.GridDimY || p.GridDimZ != q.GridDimZ ||
		p.BlockDimX != q.BlockDimX || p.BlockDimY != q.BlockDimY || p.BlockDimZ != q.BlockDimZ || p.SharedMemBytes != q.SharedMemBytes {
		return nil, errInvalidValue
	}
	st, err := t.stream(p.HStream)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(before, func(o *Stream) bool { return o.ctx.dev == st.ctx.dev }) {
		return nil, errInvalidDevice
	}
	return st, t.notCaptured(st)
}

// meet makes streams wait for each other.
func meet(list []*Stream) error {
	if len(list) < 2 {
		return nil
	}
	fences := make([]backend.Fence, len(list))
	for i, st := range list {
		var err error
		if fences[i], err = st.mark(); err != nil {
			return err
		}
	}
	for i, st := range list {
		for j, f := range fences {
			if i == j {
				continue
			}
			if err := st.ctx.fail(st.enqueue(func(q backend.Queue) error { return q.Wait(f) })); err != nil {
				return err
			}
		}
	}
	return nil
}
