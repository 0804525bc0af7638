package driver

import (
	"slices"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// Calls about what no device here has: fabrics, multicast, sparse and planar arrays, decompression engines, shared queues of
// graphics. Each checks what it is given as documented, and then says that it is not there. A call about an object answers
// that there is no such object, because none can have been made.

// DeviceGetNvSciSyncAttributes would describe the device to another vendor interface.
func (t *Thread) DeviceGetNvSciSyncAttributes(list hostmem.Ptr, dev cu.CUdevice, flags int32) error {
	if _, err := t.device(dev); err != nil {
		return err
	}
	if list == hostmem.Nil || flags == 0 || flags&^int32(cu.CUDA_NVSCISYNC_ATTR_SIGNAL|cu.CUDA_NVSCISYNC_ATTR_WAIT) != 0 {
		return errInvalidValue
	}
	return errNotSupported
}

// DeviceGetFabricClusterUuid names the cluster of a device on a fabric.
func (t *Thread) DeviceGetFabricClusterUuid(dev cu.CUdevice) (u cu.CUuuid, err error) {
	if _, err := t.device(dev); err != nil {
		return u, err
	}
	return u, errNotSupported
}

// DeviceGetCliqueCount is the groups of devices on a fabric that a device is in: none.
func (t *Thread) DeviceGetCliqueCount(dev cu.CUdevice) (uint64, error) {
	_, err := t.device(dev)
	return 0, err
}

// DeviceGetCliqueInfo lists them, and writes how many there were.
func (t *Thread) DeviceGetCliqueInfo(_, count hostmem.Ptr, dev cu.CUdevice) error {
	if _, err := t.device(dev); err != nil {
		return err
	}
	if count == hostmem.Nil {
		return errInvalidValue
	}
	hostmem.Store(count, uint64(0))
	return nil
}

// ArrayGetSparseProperties is for sparse arrays, which cannot be made.
func (t *Thread) ArrayGetSparseProperties(h cu.CUarray) (p cu.CUDA_ARRAY_SPARSE_PROPERTIES, err error) {
	return p, t.noSuchPart(h)
}

// noSuchPart is the answer about a part that only arrays of a kind have that cannot be made.
func (t *Thread) noSuchPart(h cu.CUarray) error {
	if h == 0 {
		return t.noObject()
	}
	if _, err := t.array(h); err != nil {
		return err
	}
	return errInvalidValue
}

// ArrayGetMemoryRequirements is for arrays without memory, which cannot be made.
func (t *Thread) ArrayGetMemoryRequirements(h cu.CUarray, _ cu.CUdevice) (r cu.CUDA_ARRAY_MEMORY_REQUIREMENTS, err error) {
	return r, t.noSuchPart(h)
}

// ArrayGetPlane is for arrays of planes, which cannot be made.
func (t *Thread) ArrayGetPlane(h cu.CUarray, _ uint32) (cu.CUarray, error) {
	return 0, t.noSuchPart(h)
}

// MipmappedArrayGetSparseProperties is ArrayGetSparseProperties.
func (t *Thread) MipmappedArrayGetSparseProperties(h cu.CUmipmappedArray) (p cu.CUDA_ARRAY_SPARSE_PROPERTIES, err error) {
	if _, err := t.mipmap(h); err != nil {
		return p, err
	}
	return p, errInvalidValue
}

// MipmappedArrayGetMemoryRequirements is ArrayGetMemoryRequirements.
func (t *Thread) MipmappedArrayGetMemoryRequirements(h cu.CUmipmappedArray, _ cu.CUdevice) (r cu.CUDA_ARRAY_MEMORY_REQUIREMENTS, err error) {
	if _, err := t.mipmap(h); err != nil {
		return r, err
	}
	return r, errInvalidValue
}

// MemMapArrayAsync gives sparse arrays memory. No array is sparse.
func (t *Thread) MemMapArrayAsync(list hostmem.Ptr, n uint32, stream cu.CUstream) error {
	if _, err := t.stream(stream); err != nil {
		return err
	}
	if list == hostmem.Nil || n == 0 || n > maxAccess {
		return errInvalidValue
	}
	for _, m := range slices.Clone(hostmem.Slice[cu.CUarrayMapInfo](list, int(n))) {
		var err error
		switch m.ResourceType {
		case cu.CU_RESOURCE_TYPE_ARRAY:
			_, err = t.array(*m.Resource.Array())
		case cu.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
			_, err = t.mipmap(*m.Resource.Mipmap())
		default:
			err = errInvalidValue
		}
		if err != nil {
			return err
		}
	}
	return errInvalidValue
}

// MemBatchDecompressAsync is for devices with an engine for it; the attribute that lists its formats is 0 here.
func (t *Thread) MemBatchDecompressAsync(list hostmem.Ptr, n uint64, flags uint32, stream cu.CUstream) (uint64, error) {
	_, err := t.enter()
	if err == nil {
		err = errNotSupported
	}
	return 0, err
}

// MulticastCreate makes memory that writes to several devices at once. A device without it refuses before it looks at
// anything else, as was recorded.
func (t *Thread) MulticastCreate(_ hostmem.Ptr) (cu.CUmemGenericAllocationHandle, error) {
	return 0, t.noMulticast()
}

// MulticastGetGranularity is what its sizes must be multiples of.
func (t *Thread) MulticastGetGranularity(_ hostmem.Ptr, _ cu.CUmulticastGranularity_flags) (uint64, error) {
	return 0, t.noMulticast()
}

// noMulticast is the answer about a multicast object: there is none.
func (t *Thread) noMulticast() error {
	if _, err := t.enter(); err != nil {
		return err
	}
	return errNotSupported
}

// MulticastAddDevice lets a device take part.
func (t *Thread) MulticastAddDevice(_ cu.CUmemGenericAllocationHandle, _ cu.CUdevice) error {
	return t.noMulticast()
}

// MulticastBindMem gives it memory of a device.
func (t *Thread) MulticastBindMem(_ cu.CUmemGenericAllocationHandle, _ uint64, _ cu.CUmemGenericAllocationHandle, _, _, _ uint64) error {
	return t.noMulticast()
}

// MulticastBindMemV2 is the same for a named device.
func (t *Thread) MulticastBindMemV2(h cu.CUmemGenericAllocationHandle, dev cu.CUdevice, _ uint64, _ cu.CUmemGenericAllocationHandle, _, _, _ uint64) error {
	return t.MulticastAddDevice(h, dev)
}

// MulticastBindAddr gives it memory by its address.
func (t *Thread) MulticastBindAddr(_ cu.CUmemGenericAllocationHandle, _ uint64, _ DevPtr, _, _ uint64) error {
	return t.noMulticast()
}

// MulticastBindAddrV2 is the same for a named device.
func (t *Thread) MulticastBindAddrV2(h cu.CUmemGenericAllocationHandle, dev cu.CUdevice, _ uint64, _ DevPtr, _, _ uint64) error {
	return t.MulticastAddDevice(h, dev)
}

// MulticastUnbind takes memory away.
func (t *Thread) MulticastUnbind(h cu.CUmemGenericAllocationHandle, dev cu.CUdevice, _, _ uint64) error {
	return t.MulticastAddDevice(h, dev)
}

// StreamBeginCaptureToCig records a stream for a graphics queue.
func (t *Thread) StreamBeginCaptureToCig(h cu.CUstream, params hostmem.Ptr) error {
	if _, err := t.stream(h); err != nil {
		return err
	}
	if params == hostmem.Nil {
		return errInvalidValue
	}
	return errNotSupported
}

// StreamEndCaptureToCig ends that, which was never begun.
func (t *Thread) StreamEndCaptureToCig(h cu.CUstream) error {
	if _, err := t.stream(h); err != nil {
		return err
	}
	return errIllegalState
}

// CheckpointOperationComplete waits for an operation. None is ever begun: a process cannot be frozen here.
func (t *Thread) CheckpointOperationComplete(cu.CUcheckpointOperationHandle) error {
	if _, err := t.enter(); err != nil {
		return err
	}
	return errInvalidHandle
}

// ProfilerInitialize set up a profiler that left the interface; tools do without.
func (t *Thread) ProfilerInitialize(_, _ string, mode cu.CUoutput_mode) error {
	if _, err := t.context(); err != nil {
		return err
	}
	if mode != cu.CU_OUT_KEY_VALUE_PAIR && mode != cu.CU_OUT_CSV {
		return errInvalidValue
	}
	return errNotSupported
}

// noDump is the answer about functions to be told when a core dump is begun and done: none is ever written here, and
// CoredumpSetAttribute refuses to turn them on.
func (t *Thread) noDump(fn cu.CUcoredumpStatusCallback) error {
	if _, err := t.enter(); err != nil {
		return err
	}
	if fn == 0 {
		return errInvalidValue
	}
	return errNotSupported
}

// CoredumpRegisterStartCallback would make a function known for the start of a core dump.
func (t *Thread) CoredumpRegisterStartCallback(fn cu.CUcoredumpStatusCallback, _ hostmem.Ptr) (cu.CUcoredumpCallbackHandle, error) {
	return 0, t.noDump(fn)
}

// CoredumpRegisterCompleteCallback would make one known for its end.
func (t *Thread) CoredumpRegisterCompleteCallback(fn cu.CUcoredumpStatusCallback, _ hostmem.Ptr) (cu.CUcoredumpCallbackHandle, error) {
	return 0, t.noDump(fn)
}

// CoredumpDeregisterStartCallback has none to forget.
func (t *Thread) CoredumpDeregisterStartCallback(cu.CUcoredumpCallbackHandle) error {
	return t.noObject()
}

// CoredumpDeregisterCompleteCallback has none to forget.
func (t *Thread) CoredumpDeregisterCompleteCallback(cu.CUcoredumpCallbackHandle) error {
	return t.noObject()
}
