package nvml

import (
	"encoding/binary"
	"fmt"
	"os"
	"slices"

	"kudzu/internal/backend"
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/roster"
	"kudzu/internal/spec/nv"
)

// DeviceGetIndex is the number of a device.
func (t *Thread) DeviceGetIndex(h nv.NvmlDevice_t) (uint32, error) {
	dev, err := t.device(h)
	return uint32(dev), err
}

// DeviceGetMinorNumber is the same: there is no file in /dev.
func (t *Thread) DeviceGetMinorNumber(h nv.NvmlDevice_t) (uint32, error) { return t.DeviceGetIndex(h) }

// Name is a device's.
func (t *Thread) Name(dev int32) (string, error) {
	in, err := t.info(dev)
	if err != nil {
		return "", err
	}
	return in.Name, nil
}

// DeviceGetName is the device's name.
func (t *Thread) DeviceGetName(h nv.NvmlDevice_t, p hostmem.Ptr, n uint32) error {
	return t.say(h, p, n, t.Name)
}

// DeviceGetUUID is the device's UUID as text.
func (t *Thread) DeviceGetUUID(h nv.NvmlDevice_t, p hostmem.Ptr, n uint32) error {
	return t.say(h, p, n, t.UUID)
}

// say writes a text about a device.
func (t *Thread) say(h nv.NvmlDevice_t, p hostmem.Ptr, n uint32, of func(dev int32) (string, error)) error {
	dev, err := t.device(h)
	if err != nil {
		return err
	}
	s, err := of(dev)
	if err != nil {
		return err
	}
	return answer(p, n, s)
}

// given is what every call with a device and a place for the answer asks first.
func (t *Thread) given(h nv.NvmlDevice_t, p hostmem.Ptr) error {
	if _, err := t.device(h); err != nil {
		return err
	}
	if p == hostmem.Nil {
		return invalidArgument
	}
	return nil
}

// versioned is given for a structure whose first word says which it is.
func (t *Thread) versioned(h nv.NvmlDevice_t, p hostmem.Ptr, any ...uint32) error {
	if err := t.given(h, p); err != nil {
		return err
	}
	if !slices.Contains(any, hostmem.Load[uint32](p)) {
		return wrongVersion
	}
	return nil
}

// DeviceGetPdi is a number that tells devices apart: the first half of the UUID.
func (t *Thread) DeviceGetPdi(h nv.NvmlDevice_t, p hostmem.Ptr) error {
	if err := t.versioned(h, p, version(sizeOf[nv.NvmlPdi_v1_t](), 1)); err != nil {
		return err
	}
	dev, err := t.device(h)
	if err != nil {
		return err
	}
	in, err := t.info(dev)
	if err != nil {
		return err
	}
	hostmem.Store(p, nv.NvmlPdi_v1_t{Version: hostmem.Load[uint32](p), Value: binary.BigEndian.Uint64(in.UUID[:8])})
	return nil
}

func (t *Thread) pciInfo(h nv.NvmlDevice_t, p hostmem.Ptr, size uint64) error {
	dev, err := t.device(h)
	if err != nil {
		return err
	}
	if p == hostmem.Nil {
		return invalidArgument
	}
	at, err := t.Bus(dev)
	if err != nil {
		return err
	}
	v := nv.NvmlPciInfo_t{Domain: uint32(at[0]), Bus: uint32(at[1]), Device: uint32(at[2])}
	copy(v.BusIdLegacy[:len(v.BusIdLegacy)-1], fmt.Sprintf("%04X:%02X:%02X.0", at[0], at[1], at[2]))
	copy(v.BusId[:len(v.BusId)-1], BusText(at))
	hostmem.StorePrefix(p, v, size)
	return nil
}

// The sizes of nvmlPciInfo_t by version: without and with the number of the subsystem, and with the long text.
const (
	pciInfoV1 = 32
	pciInfoV2 = 36
	pciInfoV3 = 68
)

// DeviceGetPciInfo is where the device would be on a bus; it has no numbers of a vendor.
func (t *Thread) DeviceGetPciInfo(h nv.NvmlDevice_t, p hostmem.Ptr) error {
	return t.pciInfo(h, p, pciInfoV3)
}

// DeviceGetPciInfoV1 is DeviceGetPciInfo in its first, shorter structure.
func (t *Thread) DeviceGetPciInfoV1(h nv.NvmlDevice_t, p hostmem.Ptr) error {
	return t.pciInfo(h, p, pciInfoV1)
}

// DeviceGetPciInfoV2 is DeviceGetPciInfo in its second structure.
func (t *Thread) DeviceGetPciInfoV2(h nv.NvmlDevice_t, p hostmem.Ptr) error {
	return t.pciInfo(h, p, pciInfoV2)
}

// Memory is total and used: what all processes of the user have.
func (t *Thread) Memory(h nv.NvmlDevice_t) (total, used uint64, err error) {
	dev, err := t.device(h)
	if err != nil {
		return 0, 0, err
	}
	free, total, err := t.usage(dev)
	if err != nil {
		return 0, 0, err
	}
	m, err := t.watch(dev)
	if err != nil {
		return 0, 0, err
	}
	if m != nil { // the device is shared with everybody: its own account is the right one
		if used, err := m.Sense(backend.SensorMemoryUsed); err == nil {
			return total, min(used, total), nil
		}
		return total, total - free, nil
	}
	all, err := t.processes(dev)
	if err != nil {
		return 0, 0, err
	}
	used = total - free
	for _, p := range all {
		if p.Pid != os.Getpid() {
			used += p.Used[dev]
		}
	}
	return total, min(used, total), nil
}

// DeviceGetMemoryInfo is total, free and used memory.
func (t *Thread) DeviceGetMemoryInfo(h nv.NvmlDevice_t, p hostmem.Ptr) error {
	if err := t.given(h, p); err != nil {
		return err
	}
	total, used, err := t.Memory(h)
	if err != nil {
		return err
	}
	hostmem.Store(p, nv.NvmlMemory_t{Total: total, Free: total - used, Used: used})
	return nil
}

// version is what the first word of a versioned structure must be: its size, and the version in the last byte.
func version(size, v uint32) uint32 { return size | v<<24 }

// DeviceGetMemoryInfoV2 is the same with a version and reserved memory, of which there is none.
func (t *Thread) DeviceGetMemoryInfoV2(h nv.NvmlDevice_t, p hostmem.Ptr) error {
	v := version(40, 2)
	if err := t.versioned(h, p, v); err != nil {
		return err
	}
	total, used, err := t.Memory(h)
	if err != nil {
		return err
	}
	hostmem.Store(p, nv.NvmlMemory_v2_t{Version: v, Total: total, Free: total - used, Used: used})
	return nil
}

// DeviceGetBAR1MemoryInfo: the host reaches all of the memory.
func (t *Thread) DeviceGetBAR1MemoryInfo(h nv.NvmlDevice_t, p hostmem.Ptr) error {
	if err := t.given(h, p); err != nil {
		return err
	}
	total, used, err := t.Memory(h)
	if err != nil {
		return err
	}
	hostmem.Store(p, nv.NvmlBAR1Memory_t{Bar1Total: total, Bar1Free: total - used, Bar1Used: used})
	return nil
}

// Busy is the share of the time that kernels ran, in percent; on a processor that threads spent in kernels, of all processes of
// the user, where how busy memory is cannot be told apart from that.
func (t *Thread) Busy(h nv.NvmlDevice_t) (gpu, memory uint32, err error) {
	m, err := t.monitor(h)
	if err != nil {
		return 0, 0, err
	}
	if m == nil {
		return uint32(sampler.Percent()), 0, nil
	}
	busy, err := m.Sense(backend.SensorBusy)
	if err != nil {
		return 0, 0, told(err)
	}
	used, err := m.Sense(backend.SensorMemoryBusy)
	if err != nil {
		used = 0 // not every GPU tells
	}
	return uint32(busy), uint32(used), nil
}

// DeviceGetUtilizationRates is Busy.
func (t *Thread) DeviceGetUtilizationRates(h nv.NvmlDevice_t, p hostmem.Ptr) error {
	if err := t.given(h, p); err != nil {
		return err
	}
	gpu, memory, err := t.Busy(h)
	if err != nil {
		return err
	}
	hostmem.Store(p, nv.NvmlUtilization_t{Gpu: gpu, Memory: memory})
	return nil
}

// DeviceGetTemperature is the device's, or the processor's where the system tells.
func (t *Thread) DeviceGetTemperature(h nv.NvmlDevice_t, sensor nv.NvmlTemperatureSensors_t) (uint32, error) {
	m, err := t.monitor(h)
	if err != nil {
		return 0, err
	}
	if sensor != nv.NVML_TEMPERATURE_GPU {
		return 0, invalidArgument
	}
	if m != nil {
		return t.sense(h, backend.SensorTemperature)
	}
	degrees, ok := roster.Temperature()
	if !ok {
		return 0, notSupported
	}
	return uint32(degrees), nil
}

// DeviceGetTemperatureV is the same with a version.
func (t *Thread) DeviceGetTemperatureV(h nv.NvmlDevice_t, p hostmem.Ptr) error {
	if err := t.versioned(h, p, version(12, 1)); err != nil {
		return err
	}
	v := hostmem.Load[nv.NvmlTemperature_v1_t](p)
	degrees, err := t.DeviceGetTemperature(h, v.SensorType)
	if err != nil {
		return err
	}
	v.Temperature = int32(degrees)
	hostmem.Store(p, v)
	return nil
}

// DeviceGetCudaComputeCapability is the compute capability.
func (t *Thread) DeviceGetCudaComputeCapability(h nv.NvmlDevice_t) (major, minor int32, err error) {
	in, err := t.infoOf(h)
	if err != nil {
		return 0, 0, err
	}
	return int32(in.Major), int32(in.Minor), nil
}

// infoOf is what the device behind a handle says of itself.
func (t *Thread) infoOf(h nv.NvmlDevice_t) (*backend.Info, error) {
	dev, err := t.device(h)
	if err != nil {
		return nil, err
	}
	return t.info(dev)
}

// DeviceGetArchitecture is the generation that has the compute capability: NVML_DEVICE_ARCH_*.
func (t *Thread) DeviceGetArchitecture(h nv.NvmlDevice_t) (uint32, error) {
	major, minor, err := t.DeviceGetCudaComputeCapability(h)
	const pascal, volta, turing, ampere, ada, hopper, blackwell, other = 4, 5, 6, 7, 8, 9, 10, 0xffffffff
	switch {
	case err != nil:
		return 0, err
	case major == 6:
		return pascal, nil
	case major == 7 && minor < 5:
		return volta, nil
	case major == 7:
		return turing, nil
	case major == 8 && minor < 9:
		return ampere, nil
	case major == 8:
		return ada, nil
	case major == 9:
		return hopper, nil
	case major == 10 || major == 12:
		return blackwell, nil
	}
	return other, nil
}

// DeviceGetBrand is none of the vendor's.
func (t *Thread) DeviceGetBrand(h nv.NvmlDevice_t) (nv.NvmlBrandType_t, error) {
	_, err := t.device(h)
	return nv.NVML_BRAND_UNKNOWN, err
}

// DeviceGetComputeMode: any number of contexts.
func (t *Thread) DeviceGetComputeMode(h nv.NvmlDevice_t) (nv.NvmlComputeMode_t, error) {
	_, err := t.device(h)
	return nv.NVML_COMPUTEMODE_DEFAULT, err
}

// DeviceGetPersistenceMode: a processor is always there.
func (t *Thread) DeviceGetPersistenceMode(h nv.NvmlDevice_t) (nv.NvmlEnableState_t, error) {
	_, err := t.device(h)
	return nv.NVML_FEATURE_ENABLED, err
}

// DeviceGetDisplayMode: no display is connected.
func (t *Thread) DeviceGetDisplayMode(h nv.NvmlDevice_t) (nv.NvmlEnableState_t, error) {
	_, err := t.device(h)
	return nv.NVML_FEATURE_DISABLED, err
}

// DeviceGetDisplayActive: and none is in use.
func (t *Thread) DeviceGetDisplayActive(h nv.NvmlDevice_t) (nv.NvmlEnableState_t, error) {
	return t.DeviceGetDisplayMode(h)
}

// DeviceGetNumGpuCores is lanes: multiprocessors times the threads of a warp.
func (t *Thread) DeviceGetNumGpuCores(h nv.NvmlDevice_t) (uint32, error) {
	in, err := t.infoOf(h)
	if err != nil {
		return 0, err
	}
	return uint32(in.Processors * in.WarpSize), nil
}

// DeviceGetMemoryBusWidth is the width in bits that the device's attribute has.
func (t *Thread) DeviceGetMemoryBusWidth(h nv.NvmlDevice_t) (uint32, error) {
	in, err := t.infoOf(h)
	if err != nil {
		return 0, err
	}
	return uint32(in.BusWidth), nil
}

// DeviceGetMaxClockInfo is the processor's highest clock, or the memory's: what a monitor tells, or else the device's attribute.
func (t *Thread) DeviceGetMaxClockInfo(h nv.NvmlDevice_t, kind nv.NvmlClockType_t) (uint32, error) {
	in, err := t.infoOf(h)
	if err != nil {
		return 0, err
	}
	switch kind {
	case nv.NVML_CLOCK_GRAPHICS, nv.NVML_CLOCK_SM:
		return uint32(in.ClockKHz / 1000), nil
	case nv.NVML_CLOCK_MEM:
		if m, err := t.monitor(h); err != nil || m != nil {
			return t.sense(h, backend.SensorMemoryClockMax)
		}
		return uint32(in.MemoryKHz / 1000), nil
	case nv.NVML_CLOCK_VIDEO:
		return 0, notSupported
	}
	return 0, invalidArgument
}

// DeviceGetClockInfo is the clock now: the device's, or the processor's where the system tells. A processor's memory has one clock.
func (t *Thread) DeviceGetClockInfo(h nv.NvmlDevice_t, kind nv.NvmlClockType_t) (uint32, error) {
	most, err := t.DeviceGetMaxClockInfo(h, kind)
	if err != nil {
		return 0, err
	}
	if m, err := t.monitor(h); err != nil || m != nil {
		if kind == nv.NVML_CLOCK_MEM {
			return t.sense(h, backend.SensorMemoryClock)
		}
		return t.sense(h, backend.SensorClock)
	}
	if kind == nv.NVML_CLOCK_MEM {
		return most, nil
	}
	mhz, ok := roster.ClockMHz()
	if !ok {
		return 0, notSupported
	}
	return uint32(mhz), nil
}

// DeviceGetApplicationsClock is the clock that programs run at: the highest, as nobody can choose another.
func (t *Thread) DeviceGetApplicationsClock(h nv.NvmlDevice_t, kind nv.NvmlClockType_t) (uint32, error) {
	return t.DeviceGetMaxClockInfo(h, kind)
}

// DeviceGetDefaultApplicationsClock is the same.
func (t *Thread) DeviceGetDefaultApplicationsClock(h nv.NvmlDevice_t, kind nv.NvmlClockType_t) (uint32, error) {
	return t.DeviceGetMaxClockInfo(h, kind)
}

// reach reports whether a device can use the memory of another; NVML does not count itself.
func (t *Thread) reach(from, to int32) (bool, error) {
	a, err := t.of(from)
	if err != nil {
		return false, err
	}
	b, err := t.of(to)
	if err != nil {
		return false, err
	}
	return from != to && driver.Reach(a, b), nil
}

// DeviceGetP2PStatus is what the driver says of the two; there is no link of the vendor's between them.
func (t *Thread) DeviceGetP2PStatus(a, b nv.NvmlDevice_t, what nv.NvmlGpuP2PCapsIndex_t) (nv.NvmlGpuP2PStatus_t, error) {
	from, err := t.device(a)
	if err != nil {
		return 0, err
	}
	to, err := t.device(b)
	if err != nil {
		return 0, err
	}
	switch what {
	case nv.NVML_P2P_CAPS_INDEX_READ, nv.NVML_P2P_CAPS_INDEX_WRITE, nv.NVML_P2P_CAPS_INDEX_ATOMICS:
		can, err := t.reach(from, to)
		if err != nil || !can {
			return nv.NVML_P2P_STATUS_NOT_SUPPORTED, err
		}
		return nv.NVML_P2P_STATUS_OK, nil
	case nv.NVML_P2P_CAPS_INDEX_NVLINK, nv.NVML_P2P_CAPS_INDEX_PROP:
		return nv.NVML_P2P_STATUS_NOT_SUPPORTED, nil
	}
	return 0, invalidArgument
}

// DeviceGetTopologyCommonAncestor: all devices are the same machine.
func (t *Thread) DeviceGetTopologyCommonAncestor(a, b nv.NvmlDevice_t) (nv.NvmlGpuTopologyLevel_t, error) {
	if _, err := t.device(a); err != nil {
		return 0, err
	}
	_, err := t.device(b)
	return nv.NVML_TOPOLOGY_INTERNAL, err
}

// DeviceOnSameBoard: one machine, one board.
func (t *Thread) DeviceOnSameBoard(a, b nv.NvmlDevice_t) (int32, error) {
	_, err := t.DeviceGetTopologyCommonAncestor(a, b)
	return 1, err
}

// DeviceGetBoardId is one number for all devices.
func (t *Thread) DeviceGetBoardId(h nv.NvmlDevice_t) (uint32, error) {
	_, err := t.device(h)
	return 0, err
}

// DeviceGetMultiGpuBoard says whether there are several devices.
func (t *Thread) DeviceGetMultiGpuBoard(h nv.NvmlDevice_t) (uint32, error) {
	if _, err := t.device(h); err != nil {
		return 0, err
	}
	n, err := t.DeviceGetCount()
	if n > 1 {
		return 1, err
	}
	return 0, err
}
