package cudart

import (
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
)

// LaunchKernel runs a kernel, named by the address of its stub, over a grid of blocks. A shape that no kernel could have is an
// invalid value since runtime 13, as in the driver.
func (t *Thread) LaunchKernel(fn hostmem.Ptr, grid, block rt.Dim3, args hostmem.Ptr, shared uint64, stream rt.CudaStream_t) error {
	d, k, err := t.toLaunch(fn, shared)
	if err != nil {
		return err
	}
	// The name is kz_door_launch_runtime's: no handle of the driver, so that a call of the driver with a stub's address stays wrong.
	return d.LaunchNamed(^uint64(fn), cu.CUfunction(k), grid.X, grid.Y, grid.Z, block.X, block.Y, block.Z, uint32(shared), cu.CUstream(stream), args, 0)
}

// LaunchKernel12 is LaunchKernel with the codes of runtime 12 and before.
func (t *Thread) LaunchKernel12(fn hostmem.Ptr, grid, block rt.Dim3, args hostmem.Ptr, shared uint64, stream rt.CudaStream_t) error {
	return t.configured(t.LaunchKernel(fn, grid, block, args, shared, stream), grid, block)
}

// LaunchKernelHandle is LaunchKernel for a kernel named by its handle, as the stubs of nvcc 13 do.
func (t *Thread) LaunchKernelHandle(k rt.CudaKernel_t, grid, block rt.Dim3, args hostmem.Ptr, shared uint64, stream rt.CudaStream_t) error {
	return t.LaunchKernel(hostmem.Ptr(k), grid, block, args, shared, stream)
}

// LaunchCooperativeKernel is LaunchKernel for kernels whose blocks wait for each other.
func (t *Thread) LaunchCooperativeKernel(fn hostmem.Ptr, grid, block rt.Dim3, args hostmem.Ptr, shared uint64, stream rt.CudaStream_t) error {
	d, k, err := t.toLaunch(fn, shared)
	if err != nil {
		return err
	}
	return d.LaunchCooperativeKernel(cu.CUfunction(k), grid.X, grid.Y, grid.Z, block.X, block.Y, block.Z, uint32(shared), cu.CUstream(stream), args)
}

// LaunchCooperativeKernel12 is LaunchCooperativeKernel with the codes of runtime 12 and before.
func (t *Thread) LaunchCooperativeKernel12(fn hostmem.Ptr, grid, block rt.Dim3, args hostmem.Ptr, shared uint64, stream rt.CudaStream_t) error {
	return t.configured(t.LaunchCooperativeKernel(fn, grid, block, args, shared, stream), grid, block)
}

// LaunchKernelExC is LaunchKernel with attributes, which the driver numbers and lays out alike.
func (t *Thread) LaunchKernelExC(config *rt.CudaLaunchConfig_t, fn, args hostmem.Ptr) error {
	d, k, err := t.toLaunch(fn, config.DynamicSmemBytes)
	if err != nil {
		return err
	}
	c := driverConfig(config)
	return d.LaunchKernelEx(&c, cu.CUfunction(k), args, 0)
}

// LaunchKernelExC12 is LaunchKernelExC with the codes of runtime 12 and before.
func (t *Thread) LaunchKernelExC12(config *rt.CudaLaunchConfig_t, fn, args hostmem.Ptr) error {
	return t.configured(t.LaunchKernelExC(config, fn, args), config.GridDim, config.BlockDim)
}

func driverConfig(c *rt.CudaLaunchConfig_t) cu.CUlaunchConfig {
	return cu.CUlaunchConfig{
		GridDimX: c.GridDim.X, GridDimY: c.GridDim.Y, GridDimZ: c.GridDim.Z,
		BlockDimX: c.BlockDim.X, BlockDimY: c.BlockDim.Y, BlockDimZ: c.BlockDim.Z,
		SharedMemBytes: uint32(c.DynamicSmemBytes), HStream: cu.CUstream(c.Stream), Attrs: c.Attrs, NumAttrs: c.NumAttrs,
	}
}

// toLaunch finds the kernel of a launch.
func (t *Thread) toLaunch(fn hostmem.Ptr, shared uint64) (*driver.Thread, cu.CUkernel, error) {
	d, err := t.ready()
	if err != nil {
		return nil, 0, err
	}
	k, err := t.kernelOf(d, fn)
	if err == nil && shared > 1<<31-1 {
		err = errInvalidValue
	}
	return d, k, err
}

// configured tells a grid or block that no kernel could have from other bad arguments: runtimes before 13 had a code for it.
func (t *Thread) configured(err error, grid, block rt.Dim3) error {
	if err != driver.Result(cu.CUDA_ERROR_INVALID_VALUE) {
		return err
	}
	d := t.driver()
	dev, e := d.CtxGetDevice()
	if e != nil {
		return err
	}
	over := func(n uint32, limit cu.CUdevice_attribute) bool {
		most, e := d.DeviceGetAttribute(limit, dev)
		return e == nil && (n == 0 || uint64(n) > uint64(most))
	}
	threads := uint64(block.X) * uint64(block.Y) * uint64(block.Z)
	if over(grid.X, cu.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X) || over(grid.Y, cu.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y) || over(grid.Z, cu.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z) ||
		over(block.X, cu.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X) || over(block.Y, cu.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y) || over(block.Z, cu.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z) ||
		over(uint32(min(threads, 1<<31)), cu.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK) {
		return errInvalidConfig
	}
	return err
}
