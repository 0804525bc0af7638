package driver

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// Sharing with EGL and VDPAU, with the answers of the real driver on a machine that has neither (testdata/transcripts/absent.c):
// no stream can be connected, no device of VDPAU is set.

// noVideo is the answer of what needs VDPAU to have been set up.
func (t *Thread) noVideo() error {
	if _, err := t.enter(); err != nil {
		return err
	}
	return Result(cu.CUDA_ERROR_INVALID_CONTEXT)
}

// GraphicsEGLRegisterImage takes an image of EGL.
func (t *Thread) GraphicsEGLRegisterImage(_ hostmem.Ptr, _ uint32) (cu.CUgraphicsResource, error) {
	if _, err := t.context(); err != nil {
		return 0, err
	}
	return 0, errUnknown
}

// GraphicsResourceGetMappedEglFrame is the frame of a mapped resource.
func (t *Thread) GraphicsResourceGetMappedEglFrame(hostmem.Ptr, cu.CUgraphicsResource, uint32, uint32) error {
	return t.noResource()
}

// EGLStreamConsumerConnect connects to a stream of frames.
func (t *Thread) EGLStreamConsumerConnect(_, _ hostmem.Ptr) error { return t.noResource() }

// EGLStreamConsumerConnectWithFlags connects to a stream of frames.
func (t *Thread) EGLStreamConsumerConnectWithFlags(_, _ hostmem.Ptr, _ uint32) error {
	return t.noResource()
}

// EGLStreamConsumerDisconnect ends a connection.
func (t *Thread) EGLStreamConsumerDisconnect(hostmem.Ptr) error { return t.noResource() }

// EGLStreamConsumerAcquireFrame waits for a frame.
func (t *Thread) EGLStreamConsumerAcquireFrame(_, _, _ hostmem.Ptr, _ uint32) error {
	return t.noResource()
}

// EGLStreamConsumerReleaseFrame gives a frame back.
func (t *Thread) EGLStreamConsumerReleaseFrame(hostmem.Ptr, cu.CUgraphicsResource, hostmem.Ptr) error {
	return t.noResource()
}

// EGLStreamProducerConnect connects to a stream of frames.
func (t *Thread) EGLStreamProducerConnect(_, _ hostmem.Ptr, _, _ int32) error { return t.noResource() }

// EGLStreamProducerDisconnect ends a connection.
func (t *Thread) EGLStreamProducerDisconnect(hostmem.Ptr) error { return t.noResource() }

// EGLStreamProducerPresentFrame hands a frame over.
func (t *Thread) EGLStreamProducerPresentFrame(hostmem.Ptr, cu.CUeglFrame, hostmem.Ptr) error {
	return t.noResource()
}

// EGLStreamProducerReturnFrame takes a frame back.
func (t *Thread) EGLStreamProducerReturnFrame(_, _, _ hostmem.Ptr) error { return t.noResource() }

// VDPAUGetDevice is the device of VDPAU.
func (t *Thread) VDPAUGetDevice(uint32, hostmem.Ptr) (cu.CUdevice, error) {
	if _, err := t.enter(); err != nil {
		return 0, err
	}
	return 0, errInvalidValue
}

// VDPAUCtxCreate makes a context for it.
func (t *Thread) VDPAUCtxCreate(_ uint32, dev cu.CUdevice, _ uint32, _ hostmem.Ptr) (cu.CUcontext, error) {
	if _, err := t.device(dev); err != nil {
		return 0, err
	}
	return 0, errOutOfMemory // as was recorded of the old name; the new one crashed
}

// VDPAUCtxCreateV1 is the old form.
func (t *Thread) VDPAUCtxCreateV1(flags uint32, dev cu.CUdevice, video uint32, lookup hostmem.Ptr) (cu.CUcontext, error) {
	return t.VDPAUCtxCreate(flags, dev, video, lookup)
}

// GraphicsVDPAURegisterVideoSurface takes a surface of VDPAU.
func (t *Thread) GraphicsVDPAURegisterVideoSurface(hostmem.Ptr, uint32, uint32) error {
	return t.noVideo()
}

// GraphicsVDPAURegisterOutputSurface takes a surface of VDPAU.
func (t *Thread) GraphicsVDPAURegisterOutputSurface(hostmem.Ptr, uint32, uint32) error {
	return t.noVideo()
}

// EventCreateFromEGLSync makes an event of an object of EGL. The real driver here has no such name.
func (t *Thread) EventCreateFromEGLSync(_ hostmem.Ptr, _ uint32) (cu.CUevent, error) {
	if _, err := t.context(); err != nil {
		return 0, err
	}
	return 0, errNotSupported
}
