package nvml

import (
	"reflect"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/nv"
)

// Questions with a versioned structure that no device here has an answer to: a wrong version is told before that.

// without refuses a structure of the first version, once device and version were looked at.
func (t *Thread) without(h nv.NvmlDevice_t, p hostmem.Ptr, size uint32) error {
	if err := t.versioned(h, p, version(size, 1)); err != nil {
		return err
	}
	return notSupported
}

func sizeOf[T any]() uint32 { return uint32(reflect.TypeFor[T]().Size()) }

// DeviceGetFanSpeedRPM: nobody counts a fan's turns.
func (t *Thread) DeviceGetFanSpeedRPM(h nv.NvmlDevice_t, p hostmem.Ptr) error {
	return t.without(h, p, sizeOf[nv.NvmlFanSpeedInfo_v1_t]())
}

// DeviceGetCoolerInfo: nor what cools what.
func (t *Thread) DeviceGetCoolerInfo(h nv.NvmlDevice_t, p hostmem.Ptr) error {
	return t.without(h, p, sizeOf[nv.NvmlCoolerInfo_v1_t]())
}

// DeviceGetMarginTemperature: the limit is not known.
func (t *Thread) DeviceGetMarginTemperature(h nv.NvmlDevice_t, p hostmem.Ptr) error {
	return t.without(h, p, sizeOf[nv.NvmlMarginTemperature_v1_t]())
}

// DeviceGetClockOffsets: clocks have none.
func (t *Thread) DeviceGetClockOffsets(h nv.NvmlDevice_t, p hostmem.Ptr) error {
	return t.without(h, p, sizeOf[nv.NvmlClockOffset_v1_t]())
}

// DeviceGetPerformanceModes: there is one state.
func (t *Thread) DeviceGetPerformanceModes(h nv.NvmlDevice_t, p hostmem.Ptr) error {
	return t.without(h, p, sizeOf[nv.NvmlDevicePerfModes_v1_t]())
}

// DeviceGetCurrentClockFreqs: clocks are asked for one by one.
func (t *Thread) DeviceGetCurrentClockFreqs(h nv.NvmlDevice_t, p hostmem.Ptr) error {
	return t.without(h, p, sizeOf[nv.NvmlDeviceCurrentClockFreqs_v1_t]())
}

// DeviceGetSramEccErrorStatus: errors are not counted.
func (t *Thread) DeviceGetSramEccErrorStatus(h nv.NvmlDevice_t, p hostmem.Ptr) error {
	return t.without(h, p, sizeOf[nv.NvmlEccSramErrorStatus_v1_t]())
}

// DeviceGetVgpuInstancesUtilizationInfo: no virtual devices.
func (t *Thread) DeviceGetVgpuInstancesUtilizationInfo(h nv.NvmlDevice_t, p hostmem.Ptr) error {
	return t.without(h, p, sizeOf[nv.NvmlVgpuInstancesUtilizationInfo_v1_t]())
}

// DeviceWorkloadPowerProfileGetProfilesInfo: no profiles.
func (t *Thread) DeviceWorkloadPowerProfileGetProfilesInfo(h nv.NvmlDevice_t, p hostmem.Ptr) error {
	return t.without(h, p, sizeOf[nv.NvmlWorkloadPowerProfileProfilesInfo_v1_t]())
}

// DeviceWorkloadPowerProfileGetCurrentProfiles: none.
func (t *Thread) DeviceWorkloadPowerProfileGetCurrentProfiles(h nv.NvmlDevice_t, p hostmem.Ptr) error {
	return t.without(h, p, sizeOf[nv.NvmlWorkloadPowerProfileCurrentProfiles_v1_t]())
}

// DevicePowerSmoothingUpdatePresetProfileParam: none to change.
func (t *Thread) DevicePowerSmoothingUpdatePresetProfileParam(h nv.NvmlDevice_t, p hostmem.Ptr) error {
	return t.without(h, p, sizeOf[nv.NvmlPowerSmoothingProfile_v1_t]())
}

// DeviceGetRepairStatus: nothing can be repaired.
func (t *Thread) DeviceGetRepairStatus(h nv.NvmlDevice_t, p hostmem.Ptr) error {
	return t.without(h, p, sizeOf[nv.NvmlRepairStatus_v1_t]())
}

// DeviceGetUnrepairableMemoryFlag: errors are not counted. cuda-python leaves the version as the memory is.
func (t *Thread) DeviceGetUnrepairableMemoryFlag(h nv.NvmlDevice_t, p hostmem.Ptr) error {
	if err := t.given(h, p); err != nil {
		return err
	}
	return notSupported
}

// DeviceGetSramUniqueUncorrectedEccErrorCounts: errors are not counted.
func (t *Thread) DeviceGetSramUniqueUncorrectedEccErrorCounts(h nv.NvmlDevice_t, p hostmem.Ptr) error {
	return t.without(h, p, sizeOf[nv.NvmlEccSramUniqueUncorrectedErrorCounts_v1_t]())
}

// DeviceGetNvLinkInfo: no links. The second version has the firmware's versions behind the first.
func (t *Thread) DeviceGetNvLinkInfo(h nv.NvmlDevice_t, p hostmem.Ptr) error {
	if err := t.versioned(h, p, version(8, 1), version(1612, 2)); err != nil {
		return err
	}
	return notSupported
}
