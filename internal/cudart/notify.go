package cudart

import (
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/lockrank"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
)

// notices are the callbacks that programs have registered: for memory that the system wants back, which it never does here,
// and for messages of the log, which go to standard error and can be read. They are kept so that each can be taken back once.
var notices struct {
	mu   lockrank.Mutex[lockrank.RuntimeNotices]
	last uint64           // guarded by mu
	all  map[uint64]int32 // guarded by mu: device, -1 for the log
}

func addNotice(of int32) uint64 {
	notices.mu.Lock()
	defer notices.mu.Unlock()
	if notices.all == nil {
		notices.all = map[uint64]int32{}
	}
	notices.last++
	notices.all[notices.last] = of
	return notices.last
}

func dropNotice(h uint64, of int32) error {
	notices.mu.Lock()
	defer notices.mu.Unlock()
	if dev, ok := notices.all[h]; !ok || dev != of {
		return errInvalidValue
	}
	delete(notices.all, h)
	return nil
}

// device checks a device's number.
func (t *Thread) device(dev int32) (*driver.Thread, error) {
	d, err := t.started()
	if err != nil {
		return nil, err
	}
	n, err := d.DeviceGetCount()
	if err == nil && (dev < 0 || dev >= n) {
		err = errInvalidDevice
	}
	return d, err
}

// DeviceRegisterAsyncNotification takes a function to call when the system wants memory back.
func (t *Thread) DeviceRegisterAsyncNotification(dev int32, fn rt.CudaAsyncCallback, _ hostmem.Ptr) (rt.CudaAsyncCallbackHandle_t, error) {
	if _, err := t.device(dev); err != nil {
		return 0, err
	}
	if fn == 0 {
		return 0, errInvalidValue
	}
	return rt.CudaAsyncCallbackHandle_t(addNotice(dev)), nil
}

// DeviceUnregisterAsyncNotification takes it back.
func (t *Thread) DeviceUnregisterAsyncNotification(dev int32, h rt.CudaAsyncCallbackHandle_t) error {
	if _, err := t.device(dev); err != nil {
		return err
	}
	return dropNotice(uint64(h), dev)
}

// DeviceFlushGPUDirectRDMAWrites has nothing to wait for: writes of other devices go to the memory that kernels read.
func (t *Thread) DeviceFlushGPUDirectRDMAWrites(target rt.CudaFlushGPUDirectRDMAWritesTarget, scope rt.CudaFlushGPUDirectRDMAWritesScope) error {
	if target != rt.CudaFlushGPUDirectRDMAWritesTargetCurrentDevice || scope != rt.CudaFlushGPUDirectRDMAWritesToOwner && scope != rt.CudaFlushGPUDirectRDMAWritesToAllDevices {
		return t.absent(errInvalidValue)
	}
	return t.absent(nil)
}

// DeviceGetNvSciSyncAttributes refuses: there is no NvSci here.
func (t *Thread) DeviceGetNvSciSyncAttributes(list hostmem.Ptr, dev, _ int32) error {
	if _, err := t.device(dev); err != nil {
		return err
	}
	if list == hostmem.Nil {
		return errInvalidHandle
	}
	return errNotSupported
}

// DeviceGetHostAtomicCapabilities tells what a kernel and the host may do atomically to the same memory: all of it.
func (t *Thread) DeviceGetHostAtomicCapabilities(out, ops hostmem.Ptr, n uint32, dev int32) error {
	if _, err := t.device(dev); err != nil {
		return err
	}
	return capabilities(out, ops, n)
}

// DeviceGetP2PAtomicCapabilities is the same between two devices.
func (t *Thread) DeviceGetP2PAtomicCapabilities(out, ops hostmem.Ptr, n uint32, from, to int32) error {
	if _, err := t.device(from); err != nil {
		return err
	}
	if _, err := t.device(to); err != nil || from == to {
		return errInvalidDevice
	}
	return capabilities(out, ops, n)
}

func capabilities(out, ops hostmem.Ptr, n uint32) error {
	if out == hostmem.Nil || ops == hostmem.Nil || n == 0 {
		return errInvalidValue
	}
	const scalar = rt.CudaAtomicCapabilitySigned | rt.CudaAtomicCapabilityUnsigned | rt.CudaAtomicCapabilityReduction | rt.CudaAtomicCapabilityScalar32 | rt.CudaAtomicCapabilityScalar64
	for i := range int(n) {
		op := hostmem.Load[rt.CudaAtomicOperation](ops.Index(i, 4))
		can := rt.CudaAtomicOperationCapability(scalar)
		switch op {
		case rt.CudaAtomicOperationFloatMin, rt.CudaAtomicOperationFloatMax:
			can = 0
		case rt.CudaAtomicOperationFloatAdd:
			can = rt.CudaAtomicCapabilityReduction | rt.CudaAtomicCapabilityScalar32 | rt.CudaAtomicCapabilityScalar64
		case rt.CudaAtomicOperationExchange, rt.CudaAtomicOperationCAS:
			can |= rt.CudaAtomicCapabilityScalar128
		default:
			if op < 0 || op > rt.CudaAtomicOperationFloatMax {
				return errInvalidValue
			}
		}
		hostmem.Store(out.Index(i, 4), uint32(can))
	}
	return nil
}

// LogsRegisterCallback takes a function to call for each message of the driver's log. Ours are written to standard error.
func (t *Thread) LogsRegisterCallback(fn rt.CudaLogsCallback_t, _ hostmem.Ptr) (rt.CudaLogsCallbackHandle, error) {
	if fn == 0 {
		return 0, errInvalidValue
	}
	return rt.CudaLogsCallbackHandle(addNotice(-1)), nil
}

// LogsUnregisterCallback takes it back.
func (t *Thread) LogsUnregisterCallback(h rt.CudaLogsCallbackHandle) error {
	return dropNotice(uint64(h), -1)
}

// LogsCurrent is a place behind all messages so far.
func (t *Thread) LogsCurrent(flags uint32) (rt.CudaLogIterator, error) {
	at, err := t.driver().LogsCurrent(flags)
	return rt.CudaLogIterator(at), err
}

// LogsDumpToMemory writes the messages after a place.
func (t *Thread) LogsDumpToMemory(place, buffer, size hostmem.Ptr, flags uint32) error {
	return t.driver().LogsDumpToMemory(place, buffer, size, flags)
}

// LogsDumpToFile writes them to a file.
func (t *Thread) LogsDumpToFile(place hostmem.Ptr, path string, flags uint32) error {
	return t.driver().LogsDumpToFile(place, path, flags)
}

// SetDoubleForDevice is of devices without doubles.
func (t *Thread) SetDoubleForDevice(hostmem.Ptr) error { return nil }

// SetDoubleForHost is of devices without doubles.
func (t *Thread) SetDoubleForHost(hostmem.Ptr) error { return nil }

// LaunchCooperativeKernelMultiDevice launches one cooperative kernel on each of several devices. It went with CUDA 13; grids
// cannot wait for each other across devices here, so it takes one device, as launches on a machine with one do.
func (t *Thread) LaunchCooperativeKernelMultiDevice(list hostmem.Ptr, n, flags uint32) error {
	if list == hostmem.Nil || n == 0 || flags > 3 {
		return t.absent(errInvalidValue)
	}
	if n > 1 {
		return t.absent(errNotSupported)
	}
	p := hostmem.Load[rt.CudaLaunchParams](list)
	if p.Func == 0 {
		return t.absent(errInvalidFunction)
	}
	return t.LaunchCooperativeKernel12(hostmem.Ptr(p.Func), p.GridDim, p.BlockDim, hostmem.Ptr(p.Args), p.SharedMem, p.Stream)
}

// LibraryGetUnifiedFunction refuses: no function is both the host's and the device's here.
func (t *Thread) LibraryGetUnifiedFunction(_ hostmem.Ptr, lib rt.CudaLibrary_t, _ string) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	if _, err := d.LibraryGetKernelCount(cu.CUlibrary(lib)); err != nil {
		return errInvalidHandle
	}
	return Error(rt.CudaErrorSymbolNotFound)
}
