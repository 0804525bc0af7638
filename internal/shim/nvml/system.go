package nvml

import (
	"cmp"
	"strings"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/nv"
)

// What there is beside devices: units, excluded devices, confidential computing. Nothing.

// zero writes a structure of zeros.
func zero[T any](p hostmem.Ptr) error {
	if err := ready(); err != nil {
		return err
	}
	if p == hostmem.Nil {
		return invalidArgument
	}
	var v T
	hostmem.Store(p, v)
	return nil
}

// zeroVersioned is zero for a structure whose first word says which it is, and stays.
func zeroVersioned[T any](p hostmem.Ptr, v uint32) error {
	if err := ready(); err != nil {
		return err
	}
	if p == hostmem.Nil {
		return invalidArgument
	}
	if hostmem.Load[uint32](p) != v {
		return wrongVersion
	}
	if err := zero[T](p); err != nil {
		return err
	}
	hostmem.Store(p, v)
	return nil
}

// SystemGetHicVersion: no interface cards.
func (t *Thread) SystemGetHicVersion(count, entries hostmem.Ptr) error { return zero[uint32](count) }

// SystemGetDriverBranch is the branch that the driver's version is of.
func (t *Thread) SystemGetDriverBranch(p hostmem.Ptr, n uint32) error {
	const size = 84
	if err := zeroVersioned[nv.NvmlSystemDriverBranchInfo_v1_t](p, version(size, 1)); err != nil {
		return err
	}
	branch, _, _ := strings.Cut(DriverVersion(), ".")
	return answer(p.Add(4), min(n, size-4), "r"+branch+"_00")
}

// SystemGetConfComputeCapabilities: neither processor nor devices.
func (t *Thread) SystemGetConfComputeCapabilities(p hostmem.Ptr) error {
	return zero[nv.NvmlConfComputeSystemCaps_t](p)
}

// SystemGetConfComputeState is off.
func (t *Thread) SystemGetConfComputeState(p hostmem.Ptr) error {
	return zero[nv.NvmlConfComputeSystemState_t](p)
}

// SystemGetConfComputeSettings is off, too.
func (t *Thread) SystemGetConfComputeSettings(p hostmem.Ptr) error {
	return zeroVersioned[nv.NvmlSystemConfComputeSettings_v1_t](p, version(20, 1))
}

// SystemGetConfComputeGpusReadyState: nobody waits for it.
func (t *Thread) SystemGetConfComputeGpusReadyState() (uint32, error) { return 0, ready() }

// DeviceGetConfComputeMemSizeInfo: all memory is open.
func (t *Thread) DeviceGetConfComputeMemSizeInfo(h nv.NvmlDevice_t, p hostmem.Ptr) error {
	if err := t.given(h, p); err != nil {
		return err
	}
	total, _, err := t.Memory(h)
	if err != nil {
		return err
	}
	hostmem.Store(p, nv.NvmlConfComputeMemSizeInfo_t{UnprotectedMemSizeKib: total >> 10})
	return nil
}

// DeviceGetConfComputeProtectedMemoryUsage: none is protected.
func (t *Thread) DeviceGetConfComputeProtectedMemoryUsage(h nv.NvmlDevice_t, p hostmem.Ptr) error {
	if err := t.given(h, p); err != nil {
		return err
	}
	return zero[nv.NvmlMemory_t](p)
}

// SystemGetNvlinkBwMode is the full one, of no links.
func (t *Thread) SystemGetNvlinkBwMode() (uint32, error) { return 0, ready() }

// UnitGetCount: no units.
func (t *Thread) UnitGetCount() (uint32, error) { return 0, ready() }

// unit refuses the handle of one.
func unit() error {
	if err := ready(); err != nil {
		return err
	}
	return invalidArgument
}

// UnitGetHandleByIndex finds none.
func (t *Thread) UnitGetHandleByIndex(i uint32) (nv.NvmlUnit_t, error) { return 0, unit() }

// UnitGetUnitInfo wants a unit.
func (t *Thread) UnitGetUnitInfo(u nv.NvmlUnit_t, p hostmem.Ptr) error { return unit() }

// UnitGetLedState wants a unit.
func (t *Thread) UnitGetLedState(u nv.NvmlUnit_t, p hostmem.Ptr) error { return unit() }

// UnitGetPsuInfo wants a unit.
func (t *Thread) UnitGetPsuInfo(u nv.NvmlUnit_t, p hostmem.Ptr) error { return unit() }

// UnitGetTemperature wants a unit.
func (t *Thread) UnitGetTemperature(u nv.NvmlUnit_t, kind uint32) (uint32, error) { return 0, unit() }

// UnitGetFanSpeedInfo wants a unit.
func (t *Thread) UnitGetFanSpeedInfo(u nv.NvmlUnit_t, p hostmem.Ptr) error { return unit() }

// UnitGetDevices wants a unit.
func (t *Thread) UnitGetDevices(u nv.NvmlUnit_t, count, list hostmem.Ptr) error { return unit() }

// UnitSetLedState wants a unit.
func (t *Thread) UnitSetLedState(u nv.NvmlUnit_t, color nv.NvmlLedColor_t) error { return unit() }

// GetExcludedDeviceCount: no device is kept from programs.
func (t *Thread) GetExcludedDeviceCount() (uint32, error) { return 0, ready() }

// GetExcludedDeviceInfoByIndex finds none.
func (t *Thread) GetExcludedDeviceInfoByIndex(i uint32, p hostmem.Ptr) error { return unit() }

// GpmQueryDeviceSupport: no counters of the vendor's. The version is a plain number here.
func (t *Thread) GpmQueryDeviceSupport(h nv.NvmlDevice_t, p hostmem.Ptr) error {
	if err := t.versioned(h, p, 1); err != nil {
		return err
	}
	hostmem.Store(p, nv.NvmlGpmSupport_t{Version: 1})
	return nil
}

var gpmSamples issued[nv.NvmlGpmSample_t]

// GpmSampleAlloc makes a sample, which no device can fill.
func (t *Thread) GpmSampleAlloc() (nv.NvmlGpmSample_t, error) { return gpmSamples.add() }

// GpmSampleFree ends it; there is nothing to do for none, as recorded.
func (t *Thread) GpmSampleFree(s nv.NvmlGpmSample_t) error {
	if s == 0 {
		return ready()
	}
	return gpmSamples.free(s)
}

// GpmMetricsGet: no counters.
func (t *Thread) GpmMetricsGet(p hostmem.Ptr) error {
	if err := ready(); err != nil {
		return err
	}
	if p == hostmem.Nil {
		return invalidArgument
	}
	v := hostmem.Load[nv.NvmlGpmMetricsGet_t](p)
	if v.Version != 1 {
		return wrongVersion
	}
	if err := cmp.Or(gpmSamples.check(v.Sample1), gpmSamples.check(v.Sample2)); err != nil {
		return err
	}
	return notSupported
}

// Absent answers what no device here has: after the handle was looked at, as NVML does.
func (t *Thread) Absent(h nv.NvmlDevice_t) error {
	if _, err := t.device(h); err != nil {
		return err
	}
	return notSupported
}

// NoSuch answers calls with the handle of a part or of a virtual device: there are none, so it is a wrong one.
func (t *Thread) NoSuch() error { return unit() }
