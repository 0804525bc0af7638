package cudart

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/rt"
)

// Sharing with OpenGL, EGL and VDPAU. There is no display here: these are the answers of a real driver on a machine without
// one (testdata/apps/rt_absent.c, recorded), where no resource can be registered and so no handle of one is valid.

const (
	errOperatingSystem = Error(rt.CudaErrorOperatingSystem)     // the display's library is not there
	errDeviceUninit    = Error(rt.CudaErrorDeviceUninitialized) // the display's device was not set
	errUnknown         = Error(rt.CudaErrorUnknown)
	errMapped          = Error(rt.CudaErrorDevicesUnavailable)
)

// absent is err once there is a device to say so.
func (t *Thread) absent(err error) error {
	if _, e := t.ready(); e != nil {
		return e
	}
	return err
}

// absentAt is absent for a call that writes to memory it must be given.
func (t *Thread) absentAt(err error, out ...hostmem.Ptr) error {
	for _, p := range out {
		if p == hostmem.Nil {
			return errInvalidValue
		}
	}
	return t.absent(err)
}

// GraphicsUnregisterResource refuses: nothing is registered.
func (t *Thread) GraphicsUnregisterResource(rt.CudaGraphicsResource_t) error {
	return t.absent(errInvalidHandle)
}

// GraphicsResourceSetMapFlags refuses: nothing is registered.
func (t *Thread) GraphicsResourceSetMapFlags(rt.CudaGraphicsResource_t, uint32) error {
	return t.absent(errInvalidHandle)
}

// GraphicsMapResources refuses: nothing is registered.
func (t *Thread) GraphicsMapResources(n int32, list hostmem.Ptr, _ rt.CudaStream_t) error {
	if n <= 0 {
		return t.absent(errInvalidValue)
	}
	return t.absentAt(errInvalidHandle, list)
}

// GraphicsUnmapResources refuses: nothing is mapped.
func (t *Thread) GraphicsUnmapResources(n int32, list hostmem.Ptr, s rt.CudaStream_t) error {
	return t.GraphicsMapResources(n, list, s)
}

// GraphicsResourceGetMappedPointer refuses: nothing is mapped.
func (t *Thread) GraphicsResourceGetMappedPointer(hostmem.Ptr, rt.CudaGraphicsResource_t) (uint64, error) {
	return 0, t.absent(errInvalidHandle)
}

// GraphicsSubResourceGetMappedArray refuses: nothing is mapped.
func (t *Thread) GraphicsSubResourceGetMappedArray(rt.CudaGraphicsResource_t, uint32, uint32) (rt.CudaArray_t, error) {
	return 0, t.absent(errInvalidHandle)
}

// GraphicsResourceGetMappedMipmappedArray refuses: nothing is mapped.
func (t *Thread) GraphicsResourceGetMappedMipmappedArray(rt.CudaGraphicsResource_t) (rt.CudaMipmappedArray_t, error) {
	return 0, t.absent(errInvalidHandle)
}

// GraphicsResourceGetMappedEglFrame refuses: nothing is mapped.
func (t *Thread) GraphicsResourceGetMappedEglFrame(rt.CudaGraphicsResource_t, uint32, uint32) (f rt.CudaEglFrame, err error) {
	return f, t.absent(errInvalidHandle)
}

// GLGetDevices refuses: no OpenGL context can be current.
func (t *Thread) GLGetDevices(count, list hostmem.Ptr, n uint32, which rt.CudaGLDeviceList) error {
	if which < rt.CudaGLDeviceListAll || which > rt.CudaGLDeviceListNextFrame {
		return t.absent(errInvalidValue)
	}
	return t.absentAt(errOperatingSystem, count)
}

// GLSetGLDevice is of the first releases and does nothing since; a device in use cannot be set.
func (t *Thread) GLSetGLDevice(dev int32) error {
	if _, err := t.device(dev); err != nil {
		return err
	}
	return errMapped
}

// GraphicsGLRegisterImage refuses: no OpenGL context can be current.
func (t *Thread) GraphicsGLRegisterImage(out hostmem.Ptr, _, _, _ uint32) error {
	return t.absentAt(errOperatingSystem, out)
}

// GraphicsGLRegisterBuffer refuses: no OpenGL context can be current.
func (t *Thread) GraphicsGLRegisterBuffer(out hostmem.Ptr, _, _ uint32) error {
	return t.absentAt(errOperatingSystem, out)
}

// GLRegisterBufferObject refuses: no OpenGL context can be current.
func (t *Thread) GLRegisterBufferObject(uint32) error { return t.absent(errOperatingSystem) }

// GLUnregisterBufferObject refuses: no OpenGL context can be current.
func (t *Thread) GLUnregisterBufferObject(uint32) error { return t.absent(errOperatingSystem) }

// GLMapBufferObject refuses: nothing is registered.
func (t *Thread) GLMapBufferObject(hostmem.Ptr, uint32) error { return t.absent(errInvalidValue) }

// GLMapBufferObjectAsync refuses: nothing is registered.
func (t *Thread) GLMapBufferObjectAsync(hostmem.Ptr, uint32, rt.CudaStream_t) error {
	return t.absent(errInvalidValue)
}

// GLUnmapBufferObject refuses: nothing is mapped.
func (t *Thread) GLUnmapBufferObject(uint32) error { return t.absent(errInvalidValue) }

// GLUnmapBufferObjectAsync refuses: nothing is mapped.
func (t *Thread) GLUnmapBufferObjectAsync(uint32, rt.CudaStream_t) error {
	return t.absent(errInvalidValue)
}

// GLSetBufferObjectMapFlags refuses: nothing is registered.
func (t *Thread) GLSetBufferObjectMapFlags(uint32, uint32) error { return t.absent(errInvalidValue) }

// GraphicsEGLRegisterImage refuses: no image can exist.
func (t *Thread) GraphicsEGLRegisterImage(hostmem.Ptr, hostmem.Ptr, uint32) error {
	return t.absent(errUnknown)
}

// EGLStreamConsumerConnect refuses: no stream can exist.
func (t *Thread) EGLStreamConsumerConnect(hostmem.Ptr, hostmem.Ptr) error {
	return t.absent(errInvalidHandle)
}

// EGLStreamConsumerConnectWithFlags refuses: no stream can exist.
func (t *Thread) EGLStreamConsumerConnectWithFlags(hostmem.Ptr, hostmem.Ptr, uint32) error {
	return t.absent(errInvalidHandle)
}

// EGLStreamConsumerDisconnect refuses: nothing is connected.
func (t *Thread) EGLStreamConsumerDisconnect(hostmem.Ptr) error { return t.absent(errInvalidHandle) }

// EGLStreamConsumerAcquireFrame refuses: nothing is connected.
func (t *Thread) EGLStreamConsumerAcquireFrame(hostmem.Ptr, hostmem.Ptr, hostmem.Ptr, uint32) error {
	return t.absent(errInvalidHandle)
}

// EGLStreamConsumerReleaseFrame refuses: nothing is connected.
func (t *Thread) EGLStreamConsumerReleaseFrame(hostmem.Ptr, rt.CudaGraphicsResource_t, hostmem.Ptr) error {
	return t.absent(errInvalidHandle)
}

// EGLStreamProducerConnect refuses: no stream can exist.
func (t *Thread) EGLStreamProducerConnect(hostmem.Ptr, hostmem.Ptr, int32, int32) error {
	return t.absent(errInvalidHandle)
}

// EGLStreamProducerDisconnect refuses: nothing is connected.
func (t *Thread) EGLStreamProducerDisconnect(hostmem.Ptr) error { return t.absent(errInvalidHandle) }

// EGLStreamProducerPresentFrame refuses: nothing is connected.
func (t *Thread) EGLStreamProducerPresentFrame(hostmem.Ptr, rt.CudaEglFrame, hostmem.Ptr) error {
	return t.absent(errInvalidHandle)
}

// EGLStreamProducerReturnFrame refuses: nothing is connected.
func (t *Thread) EGLStreamProducerReturnFrame(hostmem.Ptr, hostmem.Ptr, hostmem.Ptr) error {
	return t.absent(errInvalidHandle)
}

// EventCreateFromEGLSync refuses: no such object can exist.
func (t *Thread) EventCreateFromEGLSync(hostmem.Ptr, uint32) (rt.CudaEvent_t, error) {
	return 0, t.absent(errNotSupported)
}

// VDPAUGetDevice refuses: there is no device of VDPAU.
func (t *Thread) VDPAUGetDevice(uint32, hostmem.Ptr) (int32, error) {
	return 0, t.absent(errInvalidValue)
}

// VDPAUSetVDPAUDevice refuses: there is no device of VDPAU.
func (t *Thread) VDPAUSetVDPAUDevice(int32, uint32, hostmem.Ptr) error {
	return errInvalidValue
}

// GraphicsVDPAURegisterVideoSurface refuses: no device of VDPAU is set.
func (t *Thread) GraphicsVDPAURegisterVideoSurface(out hostmem.Ptr, _, _ uint32) error {
	return t.absentAt(errDeviceUninit, out)
}

// GraphicsVDPAURegisterOutputSurface refuses: no device of VDPAU is set.
func (t *Thread) GraphicsVDPAURegisterOutputSurface(out hostmem.Ptr, _, _ uint32) error {
	return t.absentAt(errDeviceUninit, out)
}
