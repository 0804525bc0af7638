// Package nvml answers NVML: what devices there are, their memory, how busy they are, and who uses them. What other
// processes do comes from the roster. What AMD GPUs tell comes from ROCm SMI, through their backend; what a device cannot tell
// (a processor: power, fans, links) is NOT_SUPPORTED, never made up.
package nvml

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"kudzu/internal/backend"
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/lockrank"
	"kudzu/internal/roster"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/nv"
)

// Thread is the calling thread; its methods are the functions of NVML.
type Thread driver.Thread

func (t *Thread) driver() *driver.Thread { return (*driver.Thread)(t) }

// Return is an NVML result code as an error.
type Return nv.NvmlReturn_t

func (r Return) Error() string { return fmt.Sprintf("NVML error %d", int32(r)) }

// The codes this package gives.
const (
	uninitialized   = Return(nv.NVML_ERROR_UNINITIALIZED)
	invalidArgument = Return(nv.NVML_ERROR_INVALID_ARGUMENT)
	notSupported    = Return(nv.NVML_ERROR_NOT_SUPPORTED)
	notFound        = Return(nv.NVML_ERROR_NOT_FOUND)
	insufficient    = Return(nv.NVML_ERROR_INSUFFICIENT_SIZE)
	noPermission    = Return(nv.NVML_ERROR_NO_PERMISSION)
	timedOut        = Return(nv.NVML_ERROR_TIMEOUT)
	notLoaded       = Return(nv.NVML_ERROR_DRIVER_NOT_LOADED)
	wrongVersion    = Return(nv.NVML_ERROR_ARGUMENT_VERSION_MISMATCH)
	unknown         = Return(nv.NVML_ERROR_UNKNOWN)
)

// ReturnOf is the code for any error.
func ReturnOf(err error) Return {
	var r Return
	if errors.As(err, &r) {
		return r
	}
	var d driver.Result
	if !errors.As(err, &d) {
		return unknown
	}
	switch cu.CUresult(d) {
	case cu.CUDA_ERROR_NO_DEVICE, cu.CUDA_ERROR_SYSTEM_NOT_READY, cu.CUDA_ERROR_NOT_INITIALIZED:
		return notLoaded
	case cu.CUDA_ERROR_INVALID_DEVICE, cu.CUDA_ERROR_INVALID_VALUE:
		return invalidArgument
	case cu.CUDA_ERROR_NOT_SUPPORTED:
		return notSupported
	}
	return unknown
}

var (
	mu      lockrank.Mutex[lockrank.NVML]
	users   int // guarded by mu: Inits without their Shutdown
	sampler roster.Sampler
	meter   roster.Meter
)

// Init opens NVML; every Init has its Shutdown.
func (t *Thread) Init() error { return t.InitWithFlags(0) }

// InitWithFlags is Init. NO_GPUS and NO_ATTACH change nothing where nothing is attached.
func (t *Thread) InitWithFlags(flags uint32) error {
	const noGPUs = 1
	if _, err := t.driver().Installed(); err != nil && flags&noGPUs == 0 {
		return err
	}
	mu.Lock()
	defer mu.Unlock()
	users++
	return nil
}

// Shutdown takes one Init back.
func (t *Thread) Shutdown() error {
	mu.Lock()
	defer mu.Unlock()
	if users == 0 {
		return uninitialized
	}
	users--
	return nil
}

func ready() error {
	mu.Lock()
	defer mu.Unlock()
	if users == 0 {
		return uninitialized
	}
	return nil
}

// DriverVersion is NVIDIA's driver of the CUDA version that ours presents.
func DriverVersion() string { return driver.Release().Driver }

// nvmlVersion is what the library of that driver calls itself.
func nvmlVersion() string { return fmt.Sprintf("%d.%s", driver.Version()/1000, DriverVersion()) }

// answer writes a text, which must fit.
func answer(p hostmem.Ptr, n uint32, s string) error {
	if err := ready(); err != nil {
		return err
	}
	if p == hostmem.Nil {
		return invalidArgument
	}
	if int(n) < len(s)+1 {
		return insufficient
	}
	hostmem.PutString(p, int(n), s)
	return nil
}

// SystemGetDriverVersion is the driver's version.
func (t *Thread) SystemGetDriverVersion(p hostmem.Ptr, n uint32) error {
	return answer(p, n, DriverVersion())
}

// SystemGetNVMLVersion is NVML's version.
func (t *Thread) SystemGetNVMLVersion(p hostmem.Ptr, n uint32) error {
	return answer(p, n, nvmlVersion())
}

// SystemGetCudaDriverVersion is CUDA's version.
func (t *Thread) SystemGetCudaDriverVersion() (int32, error) { return int32(driver.Version()), ready() }

// SystemGetProcessName is what a process was started as, cut to fit.
func (t *Thread) SystemGetProcessName(pid uint32, p hostmem.Ptr, n uint32) error {
	if err := ready(); err != nil {
		return err
	}
	if p == hostmem.Nil || n == 0 {
		return invalidArgument
	}
	name := roster.Name(int(pid))
	if name == "" {
		return notFound
	}
	hostmem.PutString(p, int(n), name)
	return nil
}

// Device handles are a mark and the device's number.
const handleMark = 0x6b7a6e76 << 32

// device is the ordinal behind a handle.
func (t *Thread) device(h nv.NvmlDevice_t) (int32, error) {
	if err := ready(); err != nil {
		return 0, err
	}
	all, err := t.driver().Installed()
	if err != nil {
		return 0, err
	}
	i := int64(h) - handleMark
	if i < 0 || i >= int64(len(all)) {
		return 0, invalidArgument
	}
	return int32(i), nil
}

// DeviceGetCount is the number of devices.
func (t *Thread) DeviceGetCount() (uint32, error) {
	if err := ready(); err != nil {
		return 0, err
	}
	all, err := t.driver().Installed()
	return uint32(len(all)), err
}

// DeviceGetHandleByIndex finds a device by its number.
func (t *Thread) DeviceGetHandleByIndex(i uint32) (nv.NvmlDevice_t, error) {
	n, err := t.DeviceGetCount()
	if err == nil && i >= n {
		err = invalidArgument
	}
	return nv.NvmlDevice_t(handleMark + uint64(i)), err
}

// find is the device a test is true for.
func (t *Thread) find(test func(dev int32) (bool, error)) (nv.NvmlDevice_t, error) {
	n, err := t.DeviceGetCount()
	if err != nil {
		return 0, err
	}
	for i := range int32(n) {
		ok, err := test(i)
		if err != nil {
			return 0, err
		}
		if ok {
			return nv.NvmlDevice_t(handleMark + uint64(i)), nil
		}
	}
	return 0, notFound
}

// DeviceGetHandleByUUID finds a device by its UUID as text, with or without the word in front.
func (t *Thread) DeviceGetHandleByUUID(uuid string) (nv.NvmlDevice_t, error) {
	return t.find(func(dev int32) (bool, error) {
		u, err := t.UUID(dev)
		return u == uuid || strings.TrimPrefix(u, "GPU-") == uuid, err
	})
}

// DeviceGetHandleByPciBusId finds a device by domain:bus:device, the domain being optional.
func (t *Thread) DeviceGetHandleByPciBusId(id string) (nv.NvmlDevice_t, error) {
	var domain, bus, slot, function int
	if n, _ := fmt.Sscanf(id, "%x:%x:%x.%x", &domain, &bus, &slot, &function); n < 3 {
		domain, function = 0, 0
		if n, _ := fmt.Sscanf(id, "%x:%x.%x", &bus, &slot, &function); n < 2 {
			return 0, invalidArgument
		}
	}
	return t.find(func(dev int32) (bool, error) {
		p, err := t.Bus(dev)
		return p == [3]int{domain, bus, slot} && function == 0, err
	})
}

// of is a device by its number. Devices that are hidden from programs have one, too.
func (t *Thread) of(dev int32) (backend.Device, error) {
	all, err := t.driver().Installed()
	if err != nil {
		return nil, err
	}
	if dev < 0 || int(dev) >= len(all) {
		return nil, invalidArgument
	}
	return all[dev], nil
}

// info is what a device says of itself.
func (t *Thread) info(dev int32) (*backend.Info, error) {
	d, err := t.of(dev)
	if err != nil {
		return nil, err
	}
	return d.Info(), nil
}

// watch is what a device can tell beside that, nil where it cannot.
func (t *Thread) watch(dev int32) (backend.Monitor, error) {
	d, err := t.of(dev)
	m, _ := d.(backend.Monitor)
	return m, err
}

// usage is the memory of a device that this process has not taken, and all there is.
func (t *Thread) usage(dev int32) (free, total uint64, err error) {
	d, err := t.of(dev)
	if err != nil {
		return 0, 0, err
	}
	free, total = d.Memory().Usage()
	return free, total, nil
}

// UUID is a device's as text.
func (t *Thread) UUID(dev int32) (string, error) {
	in, err := t.info(dev)
	if err != nil {
		return "", err
	}
	return uuidText(in.UUID), nil
}

func uuidText(b [16]byte) string {
	return fmt.Sprintf("GPU-%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// BusText is a place on a bus as NVML writes it.
func BusText(at [3]int) string { return fmt.Sprintf("%08X:%02X:%02X.0", at[0], at[1], at[2]) }

// Bus is where a device would be: domain, bus and slot.
func (t *Thread) Bus(dev int32) ([3]int, error) {
	in, err := t.info(dev)
	if err != nil {
		return [3]int{}, err
	}
	return in.PCI, nil
}

// processes are those that use a device, and the memory each has there. This one is as current as can be.
func (t *Thread) processes(dev int32) ([]roster.Process, error) {
	all, err := roster.List()
	if err != nil {
		return nil, unknown
	}
	for i := range all {
		if all[i].Pid == os.Getpid() {
			if free, total, err := t.usage(dev); err == nil {
				all[i].Used[dev] = total - free
			}
		}
	}
	return all, nil
}

// Code is the number C gets for an error.
func Code(err error) int32 { return int32(ReturnOf(err)) }
