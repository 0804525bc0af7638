package cudart

import (
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
)

// GetDeviceCount writes the number of devices; none is an error, and 0 is written all the same.
func (t *Thread) GetDeviceCount(out hostmem.Ptr) error {
	if out == hostmem.Nil {
		return errInvalidValue
	}
	d, err := t.started()
	n := int32(0)
	if err == nil {
		n, err = d.DeviceGetCount()
	}
	hostmem.Store(out, n)
	return err
}

// GetDevice is the current context's device, or the one a context would be made on.
func (t *Thread) GetDevice() (int32, error) {
	gen := driver.Generation()
	d, err := t.started()
	if err != nil {
		return 0, err
	}
	if t.Depth == 0 {
		return t.chosen(), nil
	}
	dev, err := d.CtxGetDevice()
	if err == nil {
		d.AnsweredDevice(gen, dev)
	}
	return dev, err
}

// SetDevice makes a device the thread's. Since CUDA 12 its context is there when the call returns.
func (t *Thread) SetDevice(dev int32) error {
	gen := driver.Generation()
	if err := t.valid(dev); err != nil {
		return err
	}
	if err := t.use(dev); err != nil {
		return err
	}
	t.Device = dev + 1
	t.driver().AnsweredChosen(gen, dev)
	return nil
}

// InitDevice wakes a device's context without making it current.
func (t *Thread) InitDevice(dev int32, deviceFlags, flags uint32) error {
	if err := t.valid(dev); err != nil {
		return err
	}
	if flags&^uint32(rt.CudaInitDeviceFlagsAreValid) != 0 {
		return errInvalidValue
	}
	if flags != 0 {
		if err := t.setFlags(dev, deviceFlags); err != nil {
			return err
		}
	}
	_, err := t.wake(dev)
	return err
}

// valid checks an ordinal.
func (t *Thread) valid(dev int32) error {
	d, err := t.started()
	if err != nil {
		return err
	}
	_, err = d.DeviceGet(dev)
	return err
}

// SetValidDevices limits the devices a thread would choose from; with a choice made, nothing is left to decide.
func (t *Thread) SetValidDevices(list hostmem.Ptr, n int32) error {
	d, err := t.started()
	if err != nil {
		return err
	}
	count, err := d.DeviceGetCount()
	if err != nil {
		return err
	}
	if n < 0 || n > count || n > 0 && list == hostmem.Nil {
		return errInvalidValue
	}
	devs := hostmem.Slice[int32](list, int(n))
	for _, dev := range devs {
		if dev < 0 || dev >= count {
			return errInvalidDevice
		}
	}
	if n > 0 && t.Depth == 0 && t.Device == 0 {
		t.Device = devs[0] + 1
	}
	return nil
}

// ChooseDevice finds the device that fits best. The devices of one backend are alike, so the first does.
func (t *Thread) ChooseDevice(prop hostmem.Ptr) (int32, error) {
	if prop == hostmem.Nil {
		return 0, errInvalidValue
	}
	return 0, t.valid(0)
}

// DeviceReset ends the current device's context, and with it all that was made on the device.
func (t *Thread) DeviceReset() error {
	dev, err := t.GetDevice()
	if err != nil {
		return err
	}
	registered.forget()
	return t.reset(dev)
}

// SetDeviceFlags sets the flags of the current device's context.
func (t *Thread) SetDeviceFlags(flags uint32) error {
	dev, err := t.GetDevice()
	if err != nil {
		return err
	}
	return t.setFlags(dev, flags)
}

func (t *Thread) setFlags(dev int32, flags uint32) error {
	if flags&^uint32(rt.CudaDeviceMask) != 0 {
		return errInvalidValue
	}
	// Host memory is always mapped; the driver has the flag for its own contexts only.
	return t.driver().DevicePrimaryCtxSetFlags(dev, flags)
}

// GetDeviceFlags is the flags of the current context, or of the one that would be made.
func (t *Thread) GetDeviceFlags() (uint32, error) {
	d, err := t.started()
	if err != nil {
		return 0, err
	}
	var flags uint32
	if t.Depth > 0 {
		flags, err = d.CtxGetFlags()
	} else {
		flags, _, err = d.DevicePrimaryCtxGetState(t.chosen())
	}
	return flags | rt.CudaDeviceMapHost, err
}

// DeviceEnablePeerAccess lets kernels of the current device use memory of another.
func (t *Thread) DeviceEnablePeerAccess(peer int32, flags uint32) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	if err := t.valid(peer); err != nil {
		return err
	}
	h, err := t.wake(peer)
	if err != nil {
		return err
	}
	return d.CtxEnablePeerAccess(h, flags) // itself: an H200 says that it is not supported
}

// DeviceDisablePeerAccess takes DeviceEnablePeerAccess back.
func (t *Thread) DeviceDisablePeerAccess(peer int32) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	if err := t.valid(peer); err != nil {
		return err
	}
	h, err := d.PrimaryContext(peer)
	if err != nil {
		return err
	}
	return d.CtxDisablePeerAccess(h)
}

// DeviceGetTexture1DLinearMaxWidth is the longest linear texture of a format, in elements.
func (t *Thread) DeviceGetTexture1DLinearMaxWidth(f *rt.CudaChannelFormatDesc, dev int32) (uint64, error) {
	d, err := t.started()
	if err != nil {
		return 0, err
	}
	format, channels, ok := arrayFormat(f)
	if !ok {
		return 0, errInvalidValue
	}
	return d.DeviceGetTexture1DLinearMaxWidth(format, channels, dev)
}

// arrayFormat is a channel description as the driver says it: a format and a number of channels of equal size.
func arrayFormat(f *rt.CudaChannelFormatDesc) (cu.CUarray_format, uint32, bool) {
	bits := [4]int32{f.X, f.Y, f.Z, f.W}
	n := uint32(0)
	for n < 4 && bits[n] != 0 {
		if bits[n] != bits[0] {
			return 0, 0, false
		}
		n++
	}
	for _, b := range bits[n:] {
		if b != 0 {
			return 0, 0, false
		}
	}
	format, ok := map[[2]int32]cu.CUarray_format{
		{8, int32(rt.CudaChannelFormatKindUnsigned)}:  cu.CU_AD_FORMAT_UNSIGNED_INT8,
		{16, int32(rt.CudaChannelFormatKindUnsigned)}: cu.CU_AD_FORMAT_UNSIGNED_INT16,
		{32, int32(rt.CudaChannelFormatKindUnsigned)}: cu.CU_AD_FORMAT_UNSIGNED_INT32,
		{8, int32(rt.CudaChannelFormatKindSigned)}:    cu.CU_AD_FORMAT_SIGNED_INT8,
		{16, int32(rt.CudaChannelFormatKindSigned)}:   cu.CU_AD_FORMAT_SIGNED_INT16,
		{32, int32(rt.CudaChannelFormatKindSigned)}:   cu.CU_AD_FORMAT_SIGNED_INT32,
		{16, int32(rt.CudaChannelFormatKindFloat)}:    cu.CU_AD_FORMAT_HALF,
		{32, int32(rt.CudaChannelFormatKindFloat)}:    cu.CU_AD_FORMAT_FLOAT,
	}[[2]int32{bits[0], int32(f.F)}]
	return format, n, ok && n != 0
}
