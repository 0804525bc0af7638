package cudart

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/rt"
)

// Memory and semaphores of other interfaces (Vulkan, Direct3D, NvSci). None of them has a device here, so there is nothing to
// import, and no handle of an imported thing is valid.

// importable says why a thing of some kind cannot be imported: it is of no kind, or of one that nobody here makes.
func importable(kind, last int32) error {
	if kind < 1 || kind > last {
		return errInvalidValue
	}
	return errNotSupported
}

// ImportExternalMemory refuses: nobody else has memory of this device.
func (t *Thread) ImportExternalMemory(p *rt.CudaExternalMemoryHandleDesc) (rt.CudaExternalMemory_t, error) {
	return 0, t.absent(importable(int32(p.Type), int32(rt.CudaExternalMemoryHandleTypeNvSciBuf)))
}

// ExternalMemoryGetMappedBuffer refuses: nothing was imported.
func (t *Thread) ExternalMemoryGetMappedBuffer(hostmem.Ptr, rt.CudaExternalMemory_t, hostmem.Ptr) error {
	return t.absent(errInvalidValue)
}

// ExternalMemoryGetMappedMipmappedArray refuses: nothing was imported. A description without a format is refused first.
func (t *Thread) ExternalMemoryGetMappedMipmappedArray(_ rt.CudaExternalMemory_t, p *rt.CudaExternalMemoryMipmappedArrayDesc) (rt.CudaMipmappedArray_t, error) {
	if f := p.FormatDesc; f.X == 0 && f.Y == 0 && f.Z == 0 && f.W == 0 {
		return 0, t.absent(Error(rt.CudaErrorInvalidChannelDescriptor))
	}
	return 0, t.absent(errInvalidValue)
}

// DestroyExternalMemory refuses: nothing was imported.
func (t *Thread) DestroyExternalMemory(rt.CudaExternalMemory_t) error {
	return t.absent(errInvalidValue)
}

// ImportExternalSemaphore refuses: nobody else signals this device.
func (t *Thread) ImportExternalSemaphore(p *rt.CudaExternalSemaphoreHandleDesc) (rt.CudaExternalSemaphore_t, error) {
	return 0, t.absent(importable(int32(p.Type), int32(rt.CudaExternalSemaphoreHandleTypeTimelineSemaphoreWin32)))
}

// DestroyExternalSemaphore refuses: nothing was imported.
func (t *Thread) DestroyExternalSemaphore(rt.CudaExternalSemaphore_t) error {
	return t.absent(errInvalidValue)
}

// SignalExternalSemaphoresAsync refuses: nothing was imported.
func (t *Thread) SignalExternalSemaphoresAsync(hostmem.Ptr, hostmem.Ptr, uint32, rt.CudaStream_t) error {
	return t.absent(errInvalidValue)
}

// SignalExternalSemaphoresAsync12 refuses: nothing was imported.
func (t *Thread) SignalExternalSemaphoresAsync12(hostmem.Ptr, hostmem.Ptr, uint32, rt.CudaStream_t) error {
	return t.absent(errInvalidValue)
}

// WaitExternalSemaphoresAsync refuses: nothing was imported.
func (t *Thread) WaitExternalSemaphoresAsync(hostmem.Ptr, hostmem.Ptr, uint32, rt.CudaStream_t) error {
	return t.absent(errInvalidValue)
}

// WaitExternalSemaphoresAsync12 refuses: nothing was imported.
func (t *Thread) WaitExternalSemaphoresAsync12(hostmem.Ptr, hostmem.Ptr, uint32, rt.CudaStream_t) error {
	return t.absent(errInvalidValue)
}

// GraphAddExternalSemaphoresSignalNode refuses: nothing was imported.
func (t *Thread) GraphAddExternalSemaphoresSignalNode(rt.CudaGraph_t, hostmem.Ptr, uint64, hostmem.Ptr) (rt.CudaGraphNode_t, error) {
	return 0, t.absent(errInvalidValue)
}

// GraphAddExternalSemaphoresWaitNode refuses: nothing was imported.
func (t *Thread) GraphAddExternalSemaphoresWaitNode(rt.CudaGraph_t, hostmem.Ptr, uint64, hostmem.Ptr) (rt.CudaGraphNode_t, error) {
	return 0, t.absent(errInvalidValue)
}

// GraphExternalSemaphoresSignalNodeGetParams refuses: no node is of this kind.
func (t *Thread) GraphExternalSemaphoresSignalNodeGetParams(rt.CudaGraphNode_t, hostmem.Ptr) error {
	return t.absent(errInvalidValue)
}

// GraphExternalSemaphoresWaitNodeGetParams refuses: no node is of this kind.
func (t *Thread) GraphExternalSemaphoresWaitNodeGetParams(rt.CudaGraphNode_t, hostmem.Ptr) error {
	return t.absent(errInvalidValue)
}

// GraphExternalSemaphoresSignalNodeSetParams refuses: no node is of this kind.
func (t *Thread) GraphExternalSemaphoresSignalNodeSetParams(rt.CudaGraphNode_t, hostmem.Ptr) error {
	return t.absent(errInvalidValue)
}

// GraphExternalSemaphoresWaitNodeSetParams refuses: no node is of this kind.
func (t *Thread) GraphExternalSemaphoresWaitNodeSetParams(rt.CudaGraphNode_t, hostmem.Ptr) error {
	return t.absent(errInvalidValue)
}

// GraphExecExternalSemaphoresSignalNodeSetParams refuses: no node is of this kind.
func (t *Thread) GraphExecExternalSemaphoresSignalNodeSetParams(rt.CudaGraphExec_t, rt.CudaGraphNode_t, hostmem.Ptr) error {
	return t.absent(errInvalidValue)
}

// GraphExecExternalSemaphoresWaitNodeSetParams refuses: no node is of this kind.
func (t *Thread) GraphExecExternalSemaphoresWaitNodeSetParams(rt.CudaGraphExec_t, rt.CudaGraphNode_t, hostmem.Ptr) error {
	return t.absent(errInvalidValue)
}
