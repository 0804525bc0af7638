package driver

import (
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"kudzu/internal/backend"
	"kudzu/internal/hostmem"
	"kudzu/internal/lockrank"
	"kudzu/internal/ptx/check"
	"kudzu/internal/spec/cu"
)

// Device is one visible device.
type Device struct {
	ordinal int32
	dev     backend.Device
	info    *backend.Info

	mu      lockrank.Mutex[lockrank.DriverDevice] // guards the primary context's coming and going
	primary *Context                              // guarded by mu: made at first touch, then the same for good
	refs    int                                   // guarded by mu: retains
	flags   uint32                                // guarded by mu: of the primary context

	pools    devicePools
	graphMem graphCounters
}

func newDevice(ordinal int, d backend.Device) *Device {
	return &Device{ordinal: int32(ordinal), dev: d, info: d.Info(), pools: devicePools{excess: new(atomic.Uint64)}}
}

// claim is what a device says of itself where code is chosen for it.
type claim struct {
	sm     int  // the compute capability as PTX counts: 90 for 9.0
	ownPTX bool // what is for other devices it cannot take
	limits check.Limits
}

func (c claim) String() string { return fmt.Sprintf("%d.%d", c.sm/10, c.sm%10) }

func (d *Device) claim() claim {
	i := d.info
	return claim{i.Major*10 + i.Minor, i.OwnPTX, check.Limits{Shared: uint64(i.SharedOptin), Const: uint64(i.ConstBytes)}}
}

// device finds a device by ordinal.
func (t *Thread) device(ordinal int32) (*Device, error) {
	s, err := t.enter()
	if err != nil {
		return nil, err
	}
	if ordinal < 0 || int(ordinal) >= len(s.devices) {
		return nil, errInvalidDevice
	}
	return s.devices[ordinal], nil
}

// DeviceGetCount is the number of visible devices.
func (t *Thread) DeviceGetCount() (int32, error) {
	s, err := t.enter()
	if err != nil {
		return 0, err
	}
	return int32(len(s.devices)), nil
}

// DeviceGet turns an ordinal into a device, which is the ordinal again.
func (t *Thread) DeviceGet(ordinal int32) (cu.CUdevice, error) {
	d, err := t.device(ordinal)
	if err != nil {
		return 0, err
	}
	return d.ordinal, nil
}

// DeviceGetName writes the name, cut to n bytes with its NUL.
func (t *Thread) DeviceGetName(name hostmem.Ptr, n int32, dev cu.CUdevice) error {
	d, err := t.device(dev)
	if err != nil {
		return err
	}
	if name == hostmem.Nil || n <= 0 {
		return errInvalidValue
	}
	hostmem.PutString(name, int(n), d.info.Name)
	return nil
}

// DeviceGetUuid is the device's UUID.
func (t *Thread) DeviceGetUuid(dev cu.CUdevice) (u cu.CUuuid, err error) {
	d, err := t.device(dev)
	if err != nil {
		return u, err
	}
	u.Bytes = d.info.UUID
	return u, nil
}

// DeviceGetLuid is for Windows only.
func (t *Thread) DeviceGetLuid(luid hostmem.Ptr, dev cu.CUdevice) (nodeMask uint32, err error) {
	if _, err := t.device(dev); err != nil {
		return 0, err
	}
	return 0, errNotSupported
}

// DeviceTotalMem is the device's memory in bytes.
func (t *Thread) DeviceTotalMem(dev cu.CUdevice) (uint64, error) {
	d, err := t.device(dev)
	if err != nil {
		return 0, err
	}
	return d.info.Memory, nil
}

// DeviceComputeCapability is the device's compute capability.
func (t *Thread) DeviceComputeCapability(dev cu.CUdevice) (major, minor int32, err error) {
	d, err := t.device(dev)
	if err != nil {
		return 0, 0, err
	}
	return int32(d.info.Major), int32(d.info.Minor), nil
}

// DeviceGetProperties is the old short list of properties.
func (t *Thread) DeviceGetProperties(dev cu.CUdevice) (p cu.CUdevprop, err error) {
	d, err := t.device(dev)
	if err != nil {
		return p, err
	}
	i := d.info
	p.MaxThreadsPerBlock = int32(i.MaxThreads)
	for k := range 3 {
		p.MaxThreadsDim[k], p.MaxGridSize[k] = int32(i.MaxBlock[k]), int32(i.MaxGrid[k])
	}
	p.SharedMemPerBlock, p.TotalConstantMemory = int32(i.SharedBlock), int32(i.ConstBytes)
	p.SIMDWidth, p.MemPitch = int32(i.WarpSize), maxPitch
	p.RegsPerBlock, p.ClockRate, p.TextureAlign = int32(i.Registers), int32(i.ClockKHz), pitchAlign
	return p, nil
}

// DeviceGetAttribute is one number about a device.
func (t *Thread) DeviceGetAttribute(attr cu.CUdevice_attribute, dev cu.CUdevice) (int32, error) {
	d, err := t.device(dev)
	if err != nil {
		return 0, err
	}
	if attr <= 0 || int(attr) >= len(deviceAttrs) || deviceAttrs[attr] == nil {
		return 0, errInvalidValue
	}
	if offered, ok := byMemory[attr]; ok {
		return int32(truth(offered(d))), nil
	}
	return int32(deviceAttrs[attr](d.info)), nil
}

// DeviceGetPCIBusId writes "0000:06:00.0", which needs 13 bytes; as the real driver, it writes what fits and says so.
func (t *Thread) DeviceGetPCIBusId(id hostmem.Ptr, n int32, dev cu.CUdevice) error {
	d, err := t.device(dev)
	if err != nil {
		return err
	}
	if id == hostmem.Nil || n <= 0 {
		return errInvalidValue
	}
	s := fmt.Sprintf("%04x:%02x:%02x.0", d.info.PCI[0], d.info.PCI[1], d.info.PCI[2])
	hostmem.PutString(id, int(n), s)
	if int(n) <= len(s) {
		return errInvalidValue
	}
	return nil
}

// DeviceGetByPCIBusId finds a device by "domain:bus:device.function" or "bus:device.function".
func (t *Thread) DeviceGetByPCIBusId(id string) (cu.CUdevice, error) {
	s, err := t.enter()
	if err != nil {
		return 0, err
	}
	pci, ok := parsePCI(id)
	if !ok {
		return 0, errInvalidValue
	}
	for _, d := range s.devices {
		if d.info.PCI == pci {
			return d.ordinal, nil
		}
	}
	return 0, errInvalidDevice
}

func parsePCI(s string) (pci [3]int, ok bool) {
	rest, fn, dot := strings.Cut(s, ".")
	parts := strings.Split(rest, ":")
	if !dot { // without a function the domain must be there
		fn = "0"
		if len(parts) != 3 {
			return pci, false
		}
	}
	if len(parts) < 2 || len(parts) > 3 {
		return pci, false
	}
	for i, p := range append(parts, fn) {
		n, err := strconv.ParseUint(p, 16, 32)
		if err != nil {
			return pci, false
		}
		if i < len(parts) {
			pci[3-len(parts)+i] = int(n)
		} else if n != 0 {
			return pci, false
		}
	}
	return pci, true
}

// DeviceGetExecAffinitySupport: no kind of execution affinity can be chosen.
func (t *Thread) DeviceGetExecAffinitySupport(kind cu.CUexecAffinityType, dev cu.CUdevice) (int32, error) {
	_, err := t.device(dev)
	return 0, err
}

// texelBytes is the size of one channel of an array format; 0 for formats that linear textures do not have.
var texelBytes = map[cu.CUarray_format]uint64{
	cu.CU_AD_FORMAT_UNSIGNED_INT8: 1, cu.CU_AD_FORMAT_UNSIGNED_INT16: 2, cu.CU_AD_FORMAT_UNSIGNED_INT32: 4,
	cu.CU_AD_FORMAT_SIGNED_INT8: 1, cu.CU_AD_FORMAT_SIGNED_INT16: 2, cu.CU_AD_FORMAT_SIGNED_INT32: 4,
	cu.CU_AD_FORMAT_HALF: 2, cu.CU_AD_FORMAT_FLOAT: 4,
}

// DeviceGetTexture1DLinearMaxWidth is the longest linear texture, in elements: 2^30 of them, or 4 GB.
func (t *Thread) DeviceGetTexture1DLinearMaxWidth(format cu.CUarray_format, channels uint32, dev cu.CUdevice) (uint64, error) {
	if _, err := t.device(dev); err != nil {
		return 0, err
	}
	size := texelBytes[format] * uint64(channels)
	if size == 0 || channels != 1 && channels != 2 && channels != 4 {
		return 0, errInvalidValue
	}
	return min(1<<30, (4<<30)/size), nil
}
