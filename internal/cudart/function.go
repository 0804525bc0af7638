package cudart

import (
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
)

// kernel is the driver and the kernel that fn names, with a context to ask in.
func (t *Thread) kernel(fn hostmem.Ptr) (*driver.Thread, cu.CUkernel, error) {
	return t.toLaunch(fn, 0)
}

// byStub is kernel where only a stub will do.
func (t *Thread) byStub(fn hostmem.Ptr) (*driver.Thread, cu.CUkernel, error) {
	d, k, err := t.kernel(fn)
	if err == errInvalidHandle {
		err = errInvalidFunction
	}
	return d, k, err
}

// GetKernel is the kernel behind a stub.
func (t *Thread) GetKernel(fn hostmem.Ptr) (rt.CudaKernel_t, error) {
	_, k, err := t.byStub(fn)
	return rt.CudaKernel_t(k), err
}

// GetFuncBySymbol is the function behind a stub in the current context.
func (t *Thread) GetFuncBySymbol(fn hostmem.Ptr) (rt.CudaFunction_t, error) {
	d, k, err := t.byStub(fn)
	if err != nil {
		return 0, err
	}
	f, err := d.KernelGetFunction(k)
	return rt.CudaFunction_t(f), err
}

// funcRows says where each attribute of a function goes.
var funcRows = []struct {
	attr cu.CUfunction_attribute
	put  func(*rt.CudaFuncAttributes, int32)
}{
	{cu.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, func(a *rt.CudaFuncAttributes, v int32) { a.SharedSizeBytes = uint64(v) }},
	{cu.CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, func(a *rt.CudaFuncAttributes, v int32) { a.ConstSizeBytes = uint64(v) }},
	{cu.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, func(a *rt.CudaFuncAttributes, v int32) { a.LocalSizeBytes = uint64(v) }},
	{cu.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, func(a *rt.CudaFuncAttributes, v int32) { a.MaxThreadsPerBlock = v }},
	{cu.CU_FUNC_ATTRIBUTE_NUM_REGS, func(a *rt.CudaFuncAttributes, v int32) { a.NumRegs = v }},
	{cu.CU_FUNC_ATTRIBUTE_PTX_VERSION, func(a *rt.CudaFuncAttributes, v int32) { a.PtxVersion = v }},
	{cu.CU_FUNC_ATTRIBUTE_BINARY_VERSION, func(a *rt.CudaFuncAttributes, v int32) { a.BinaryVersion = v }},
	{cu.CU_FUNC_ATTRIBUTE_CACHE_MODE_CA, func(a *rt.CudaFuncAttributes, v int32) { a.CacheModeCA = v }},
	{cu.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, func(a *rt.CudaFuncAttributes, v int32) { a.MaxDynamicSharedSizeBytes = v }},
	{cu.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, func(a *rt.CudaFuncAttributes, v int32) { a.PreferredShmemCarveout = v }},
	{cu.CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, func(a *rt.CudaFuncAttributes, v int32) { a.ClusterDimMustBeSet = v }},
	{cu.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, func(a *rt.CudaFuncAttributes, v int32) { a.RequiredClusterWidth = v }},
	{cu.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, func(a *rt.CudaFuncAttributes, v int32) { a.RequiredClusterHeight = v }},
	{cu.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, func(a *rt.CudaFuncAttributes, v int32) { a.RequiredClusterDepth = v }},
	{cu.CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, func(a *rt.CudaFuncAttributes, v int32) { a.ClusterSchedulingPolicyPreference = v }},
	{cu.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, func(a *rt.CudaFuncAttributes, v int32) { a.NonPortableClusterSizeAllowed = v }},
}

// FuncGetAttributes tells everything about a kernel.
func (t *Thread) FuncGetAttributes(out, fn hostmem.Ptr) error {
	if out == hostmem.Nil {
		return errInvalidValue
	}
	a, err := t.attributes(fn)
	if err == nil {
		hostmem.Store(out, a)
	}
	return err
}

func (t *Thread) attributes(fn hostmem.Ptr) (a rt.CudaFuncAttributes, err error) {
	d, f, err := t.function(fn)
	if err != nil {
		return a, err
	}
	for _, r := range funcRows {
		v, err := d.FuncGetAttribute(r.attr, f)
		if err != nil {
			return a, err
		}
		r.put(&a, v)
	}
	return a, nil
}

// function is what the driver calls a kernel in the current context.
func (t *Thread) function(fn hostmem.Ptr) (*driver.Thread, cu.CUfunction, error) {
	d, k, err := t.kernel(fn)
	f := cu.CUfunction(k)
	if err == nil && !d.IsFunction(f) {
		f, err = d.KernelGetFunction(k)
	}
	return d, f, err
}

// FuncSetAttribute sets what may be set, for the current device. The attributes are numbered as the driver's.
func (t *Thread) FuncSetAttribute(fn hostmem.Ptr, attr rt.CudaFuncAttribute, v int32) error {
	d, k, err := t.kernel(fn)
	if err != nil {
		return err
	}
	dev, err := d.CtxGetDevice()
	if err != nil {
		return err
	}
	if d.IsFunction(cu.CUfunction(k)) {
		return d.FuncSetAttribute(cu.CUfunction(k), cu.CUfunction_attribute(attr), v)
	}
	return d.KernelSetAttribute(cu.CUfunction_attribute(attr), v, k, dev)
}

// KernelSetAttributeForDevice is FuncSetAttribute for a kernel of a library on any device.
func (t *Thread) KernelSetAttributeForDevice(k rt.CudaKernel_t, attr rt.CudaFuncAttribute, v, dev int32) error {
	d, err := t.started()
	if err != nil {
		return err
	}
	return d.KernelSetAttribute(cu.CUfunction_attribute(attr), v, cu.CUkernel(k), dev)
}

// FuncSetCacheConfig checks a preference that nothing depends on here.
func (t *Thread) FuncSetCacheConfig(fn hostmem.Ptr, config rt.CudaFuncCache) error {
	d, f, err := t.function(fn)
	if err != nil {
		return err
	}
	return d.FuncSetCacheConfig(f, cu.CUfunc_cache(config))
}

// FuncSetSharedMemConfig checks a preference that nothing depends on here.
func (t *Thread) FuncSetSharedMemConfig(fn hostmem.Ptr, config rt.CudaSharedMemConfig) error {
	d, f, err := t.function(fn)
	if err != nil {
		return err
	}
	return d.FuncSetSharedMemConfig(f, cu.CUsharedconfig(config))
}

// FuncGetName writes the address of a kernel's name.
func (t *Thread) FuncGetName(out, fn hostmem.Ptr) error {
	d, f, err := t.function(fn)
	if err != nil {
		return err
	}
	return d.FuncGetName(out, f)
}

// FuncGetParamInfo is where a parameter lies in the parameter block.
func (t *Thread) FuncGetParamInfo(fn hostmem.Ptr, i uint64) (offset, size uint64, err error) {
	d, f, err := t.function(fn)
	if err != nil {
		return 0, 0, err
	}
	return d.FuncGetParamInfo(f, i)
}

// FuncGetParamCount is the number of parameters.
func (t *Thread) FuncGetParamCount(fn hostmem.Ptr) (uint64, error) {
	d, f, err := t.function(fn)
	if err != nil {
		return 0, err
	}
	return d.FuncGetParamCount(f)
}

// OccupancyMaxActiveBlocksPerMultiprocessor is the blocks one multiprocessor can hold.
func (t *Thread) OccupancyMaxActiveBlocksPerMultiprocessor(fn hostmem.Ptr, block int32, dynamic uint64) (int32, error) {
	return t.OccupancyMaxActiveBlocksPerMultiprocessorWithFlags(fn, block, dynamic, 0)
}

// OccupancyMaxActiveBlocksPerMultiprocessorWithFlags is the same; the flag is about a cache that is not here.
func (t *Thread) OccupancyMaxActiveBlocksPerMultiprocessorWithFlags(fn hostmem.Ptr, block int32, dynamic uint64, flags uint32) (int32, error) {
	d, k, err := t.kernel(fn)
	if err != nil {
		return 0, err
	}
	return d.OccupancyMaxActiveBlocksPerMultiprocessorWithFlags(cu.CUfunction(k), block, dynamic, flags)
}

// OccupancyAvailableDynamicSMemPerBlock is the dynamic shared memory each of so many blocks may have.
func (t *Thread) OccupancyAvailableDynamicSMemPerBlock(fn hostmem.Ptr, blocks, size int32) (uint64, error) {
	d, k, err := t.kernel(fn)
	if err != nil {
		return 0, err
	}
	return d.OccupancyAvailableDynamicSMemPerBlock(cu.CUfunction(k), blocks, size)
}
