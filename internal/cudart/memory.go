package cudart

import (
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
)

// Malloc gives device memory and writes its address; no bytes are no memory, and no error.
func (t *Thread) Malloc(out hostmem.Ptr, n uint64) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	if out == hostmem.Nil {
		return errInvalidValue
	}
	p := driver.DevPtr(0)
	if n > 0 {
		p, err = d.MemAlloc(n)
	}
	if err == nil {
		hostmem.Store(out, uint64(p))
	}
	return err
}

// MallocManaged gives memory for host and device.
func (t *Thread) MallocManaged(out hostmem.Ptr, n uint64, flags uint32) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	if out == hostmem.Nil {
		return errInvalidValue
	}
	if n == 0 { // as the vendor's runtimes: nothing is nowhere
		hostmem.Store(out, uint64(0))
		return nil
	}
	p, err := d.MemAllocManaged(n, flags)
	if err == nil {
		hostmem.Store(out, uint64(p))
	}
	return err
}

// pitched is rows whose starts are aligned; an empty box is no memory, and no error.
func (t *Thread) pitched(width, height uint64) (p driver.DevPtr, pitch uint64, err error) {
	d, err := t.ready()
	if err != nil || width == 0 || height == 0 {
		return 0, 0, err
	}
	return d.MemAllocPitch(width, height, 4)
}

// MallocPitch gives rows whose starts are aligned, and the distance between them.
func (t *Thread) MallocPitch(out hostmem.Ptr, width, height uint64) (pitch uint64, err error) {
	if out == hostmem.Nil {
		return 0, errInvalidValue
	}
	p, pitch, err := t.pitched(width, height)
	if err == nil {
		hostmem.Store(out, uint64(p))
	}
	return pitch, err
}

// Malloc3D is MallocPitch for a box.
func (t *Thread) Malloc3D(e rt.CudaExtent) (p rt.CudaPitchedPtr, err error) {
	if e.Depth > 0 && e.Height > ^uint64(0)/e.Depth {
		return p, errInvalidValue
	}
	at, pitch, err := t.pitched(e.Width, e.Height*e.Depth)
	return rt.CudaPitchedPtr{Ptr: uint64(at), Pitch: pitch, Xsize: e.Width, Ysize: e.Height}, err
}

// HostGetDevicePointer writes the address by which device code knows host memory.
func (t *Thread) HostGetDevicePointer(out, p hostmem.Ptr, flags uint32) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	if out == hostmem.Nil {
		return errInvalidValue
	}
	at, err := d.MemHostGetDevicePointer(p, flags)
	if err == nil {
		hostmem.Store(out, uint64(at))
	}
	return err
}

// pointer tells what memory an address is in; an address of the program that nobody registered is no error.
func (t *Thread) pointer(p hostmem.Ptr) (a rt.CudaPointerAttributes_12, err error) {
	d, err := t.ready()
	if err != nil {
		return a, err
	}
	info, err := d.PointerInfo(driver.DevPtr(p))
	if err != nil {
		return a, err
	}
	a.Device = info.Device
	switch info.Kind {
	case driver.PointerUnknown:
		a.Type, a.HostPointer = rt.CudaMemoryTypeUnregistered, uint64(p)
	case driver.PointerHost:
		a.Type, a.HostPointer, a.DevicePointer = rt.CudaMemoryTypeHost, uint64(p), uint64(p)
	case driver.PointerDevice:
		a.Type, a.DevicePointer = rt.CudaMemoryTypeDevice, uint64(p)
	case driver.PointerManaged:
		a.Type, a.HostPointer, a.DevicePointer = rt.CudaMemoryTypeManaged, uint64(p), uint64(p)
	}
	return a, nil
}

// PointerGetAttributes tells what memory an address is in.
func (t *Thread) PointerGetAttributes(out, p hostmem.Ptr) error {
	if out == hostmem.Nil {
		return errInvalidValue
	}
	a, err := t.pointer(p)
	if err == nil {
		hostmem.Store(out, rt.CudaPointerAttributes{Type: a.Type, Device: a.Device, DevicePointer: a.DevicePointer, HostPointer: a.HostPointer})
	}
	return err
}

// PointerGetAttributes12 is PointerGetAttributes with the shorter structure of CUDA 12.
func (t *Thread) PointerGetAttributes12(out, p hostmem.Ptr) error {
	if out == hostmem.Nil {
		return errInvalidValue
	}
	a, err := t.pointer(p)
	if err == nil {
		hostmem.Store(out, a)
	}
	return err
}

// location is the device a place names, as the driver of CUDA 12 numbers it.
func location(l rt.CudaMemLocation) (int32, error) {
	switch l.Type {
	case rt.CudaMemLocationTypeDevice:
		return *l.Id(), nil
	case rt.CudaMemLocationTypeHost, rt.CudaMemLocationTypeHostNuma, rt.CudaMemLocationTypeHostNumaCurrent:
		return cu.CU_DEVICE_CPU, nil
	}
	return 0, errInvalidValue
}

// MemAdvise takes advice about managed memory.
func (t *Thread) MemAdvise(p hostmem.Ptr, n uint64, advice rt.CudaMemoryAdvise, where rt.CudaMemLocation) error {
	dev, err := location(where)
	if err != nil {
		return err
	}
	return t.MemAdvise12(p, n, advice, dev)
}

// MemAdvise12 is MemAdvise with a device for the place.
func (t *Thread) MemAdvise12(p hostmem.Ptr, n uint64, advice rt.CudaMemoryAdvise, dev int32) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.MemAdvise(driver.DevPtr(p), n, cu.CUmem_advise(advice), dev)
}

// MemPrefetchAsync moves managed memory where it will be used.
func (t *Thread) MemPrefetchAsync(p hostmem.Ptr, n uint64, where rt.CudaMemLocation, flags uint32, stream rt.CudaStream_t) error {
	dev, err := location(where)
	if err != nil || flags != 0 {
		return errInvalidValue
	}
	return t.MemPrefetchAsync12(p, n, dev, stream)
}

// MemPrefetchAsync12 is MemPrefetchAsync with a device for the place.
func (t *Thread) MemPrefetchAsync12(p hostmem.Ptr, n uint64, dev int32, stream rt.CudaStream_t) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.MemPrefetchAsync(driver.DevPtr(p), n, dev, cu.CUstream(stream))
}
