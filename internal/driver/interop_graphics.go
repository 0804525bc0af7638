package driver

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// Sharing with OpenGL, EGL and VDPAU. There is no display here, and these calls answer what the real driver answers on a machine without
// one: nothing can be registered, and so no resource is ever valid.

const errNoDisplay = Result(cu.CUDA_ERROR_OPERATING_SYSTEM)

// noDisplay is the answer of what needs OpenGL.
func (t *Thread) noDisplay() error {
	if _, err := t.enter(); err != nil {
		return err
	}
	return errNoDisplay
}

// noResource is the answer of what needs a registered resource.
func (t *Thread) noResource() error {
	if _, err := t.context(); err != nil {
		return err
	}
	return errInvalidHandle
}

// GraphicsUnregisterResource gives a resource back.
func (t *Thread) GraphicsUnregisterResource(cu.CUgraphicsResource) error { return t.noResource() }

// GraphicsSubResourceGetMappedArray is an array of a mapped resource.
func (t *Thread) GraphicsSubResourceGetMappedArray(cu.CUgraphicsResource, uint32, uint32) (cu.CUarray, error) {
	return 0, t.noResource()
}

// GraphicsResourceGetMappedMipmappedArray is the arrays of a mapped resource.
func (t *Thread) GraphicsResourceGetMappedMipmappedArray(cu.CUgraphicsResource) (cu.CUmipmappedArray, error) {
	return 0, t.noResource()
}

// GraphicsResourceGetMappedPointer is the memory of a mapped resource.
func (t *Thread) GraphicsResourceGetMappedPointer(cu.CUgraphicsResource) (DevPtr, uint64, error) {
	return 0, 0, t.noResource()
}

// GraphicsResourceGetMappedPointerV1 is the same in 32 bits.
func (t *Thread) GraphicsResourceGetMappedPointerV1(cu.CUgraphicsResource) (cu.CUdeviceptr_v1, uint32, error) {
	return 0, 0, t.noResource()
}

// GraphicsResourceSetMapFlags says how a resource will be used.
func (t *Thread) GraphicsResourceSetMapFlags(cu.CUgraphicsResource, uint32) error {
	return t.noResource()
}

// GraphicsMapResources makes resources usable.
func (t *Thread) GraphicsMapResources(n uint32, list hostmem.Ptr, stream cu.CUstream) error {
	if _, err := t.stream(stream); err != nil {
		return err
	}
	if n == 0 || list == hostmem.Nil {
		return errInvalidValue
	}
	return t.noResource()
}

// GraphicsUnmapResources gives them back to OpenGL.
func (t *Thread) GraphicsUnmapResources(n uint32, list hostmem.Ptr, stream cu.CUstream) error {
	return t.GraphicsMapResources(n, list, stream)
}

// GraphicsGLRegisterBuffer makes a buffer of OpenGL known.
func (t *Thread) GraphicsGLRegisterBuffer(uint32, uint32) (cu.CUgraphicsResource, error) {
	return 0, t.noDisplay()
}

// GraphicsGLRegisterImage makes an image of OpenGL known.
func (t *Thread) GraphicsGLRegisterImage(uint32, uint32, uint32) (cu.CUgraphicsResource, error) {
	return 0, t.noDisplay()
}

// GLGetDevices lists the devices of the current OpenGL context.
func (t *Thread) GLGetDevices(_, _ hostmem.Ptr, _ uint32, _ cu.CUGLDeviceList) error {
	return t.noDisplay()
}

// GLCtxCreate makes a context that shares with OpenGL.
func (t *Thread) GLCtxCreate(uint32, cu.CUdevice) (cu.CUcontext, error) { return 0, t.noDisplay() }

// GLInit was needed once, and needs an OpenGL context.
func (t *Thread) GLInit() error { return t.noDisplay() }

// GLRegisterBufferObject is the old form of GraphicsGLRegisterBuffer.
func (t *Thread) GLRegisterBufferObject(uint32) error { return t.noDisplay() }

// GLUnregisterBufferObject gives it back.
func (t *Thread) GLUnregisterBufferObject(uint32) error { return t.noDisplay() }

// GLSetBufferObjectMapFlags says how a buffer will be used.
func (t *Thread) GLSetBufferObjectMapFlags(uint32, uint32) error { return t.noDisplay() }

// GLMapBufferObject is a buffer's memory.
func (t *Thread) GLMapBufferObject(uint32) (DevPtr, uint64, error) { return 0, 0, t.noDisplay() }

// GLMapBufferObjectAsync is the same in a stream's order.
func (t *Thread) GLMapBufferObjectAsync(uint32, cu.CUstream) (DevPtr, uint64, error) {
	return 0, 0, t.noDisplay()
}

// GLMapBufferObjectV1 is the same in 32 bits.
func (t *Thread) GLMapBufferObjectV1(uint32) (cu.CUdeviceptr_v1, uint32, error) {
	return 0, 0, t.noDisplay()
}

// GLMapBufferObjectAsyncV1 is the same in 32 bits.
func (t *Thread) GLMapBufferObjectAsyncV1(uint32, cu.CUstream) (cu.CUdeviceptr_v1, uint32, error) {
	return 0, 0, t.noDisplay()
}

// GLUnmapBufferObject gives a buffer back to OpenGL.
func (t *Thread) GLUnmapBufferObject(uint32) error { return t.noDisplay() }

// GLUnmapBufferObjectAsync is the same in a stream's order.
func (t *Thread) GLUnmapBufferObjectAsync(uint32, cu.CUstream) error { return t.noDisplay() }
