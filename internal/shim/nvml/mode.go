package nvml

import (
	"os"
	"time"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/nv"
)

// What state a device is in, and the calls that would change it.

// DeviceGetPerformanceState is the highest: a processor's clocks are the system's to change.
func (t *Thread) DeviceGetPerformanceState(h nv.NvmlDevice_t) (nv.NvmlPstates_t, error) {
	_, err := t.device(h)
	return nv.NVML_PSTATE_0, err
}

// DeviceGetPowerState is the same.
func (t *Thread) DeviceGetPowerState(h nv.NvmlDevice_t) (nv.NvmlPstates_t, error) {
	return t.DeviceGetPerformanceState(h)
}

// DeviceGetSupportedPerformanceStates is that one; the rest of the list is filled up. The size is in bytes.
func (t *Thread) DeviceGetSupportedPerformanceStates(h nv.NvmlDevice_t, p hostmem.Ptr, size uint32) error {
	if err := t.given(h, p); err != nil {
		return err
	}
	const most = 16
	if size < 4 {
		return invalidArgument
	}
	states := hostmem.Slice[nv.NvmlPstates_t](p, int(min(size/4, most)))
	for i := range states {
		states[i] = nv.NVML_PSTATE_UNKNOWN
	}
	states[0] = nv.NVML_PSTATE_0
	return nil
}

// reasons is why a clock is lower than it could be: nobody says.
func (t *Thread) reasons(h nv.NvmlDevice_t) (uint64, error) {
	_, err := t.device(h)
	return 0, err
}

// DeviceGetCurrentClocksEventReasons is none.
func (t *Thread) DeviceGetCurrentClocksEventReasons(h nv.NvmlDevice_t) (uint64, error) {
	return t.reasons(h)
}

// DeviceGetCurrentClocksThrottleReasons is none.
func (t *Thread) DeviceGetCurrentClocksThrottleReasons(h nv.NvmlDevice_t) (uint64, error) {
	return t.reasons(h)
}

// DeviceGetSupportedClocksEventReasons is none.
func (t *Thread) DeviceGetSupportedClocksEventReasons(h nv.NvmlDevice_t) (uint64, error) {
	return t.reasons(h)
}

// DeviceGetSupportedClocksThrottleReasons is none.
func (t *Thread) DeviceGetSupportedClocksThrottleReasons(h nv.NvmlDevice_t) (uint64, error) {
	return t.reasons(h)
}

// DeviceGetViolationStatus: no time was spent below a limit's clock.
func (t *Thread) DeviceGetViolationStatus(h nv.NvmlDevice_t, policy nv.NvmlPerfPolicyType_t, p hostmem.Ptr) error {
	if err := t.given(h, p); err != nil {
		return err
	}
	if policy < 0 || policy >= nv.NVML_PERF_POLICY_COUNT {
		return invalidArgument
	}
	hostmem.Store(p, nv.NvmlViolationTime_t{ReferenceTime: stamp(time.Now())})
	return nil
}

// DeviceGetMaxCustomerBoostClock is the highest clock.
func (t *Thread) DeviceGetMaxCustomerBoostClock(h nv.NvmlDevice_t, kind nv.NvmlClockType_t) (uint32, error) {
	return t.DeviceGetMaxClockInfo(h, kind)
}

// DeviceGetClock is a clock now, or the highest; programs do not choose any.
func (t *Thread) DeviceGetClock(h nv.NvmlDevice_t, kind nv.NvmlClockType_t, which nv.NvmlClockId_t) (uint32, error) {
	switch which {
	case nv.NVML_CLOCK_ID_CURRENT:
		return t.DeviceGetClockInfo(h, kind)
	case nv.NVML_CLOCK_ID_CUSTOMER_BOOST_MAX, nv.NVML_CLOCK_ID_APP_CLOCK_TARGET, nv.NVML_CLOCK_ID_APP_CLOCK_DEFAULT:
		return t.DeviceGetMaxClockInfo(h, kind)
	}
	if _, err := t.device(h); err != nil {
		return 0, err
	}
	return 0, invalidArgument
}

// DeviceGetMigMode: devices are not cut into parts.
func (t *Thread) DeviceGetMigMode(h nv.NvmlDevice_t) (current, pending uint32, err error) {
	_, err = t.device(h)
	return 0, 0, err
}

// DeviceIsMigDeviceHandle: none is a part.
func (t *Thread) DeviceIsMigDeviceHandle(h nv.NvmlDevice_t) (uint32, error) {
	_, err := t.device(h)
	return 0, err
}

// DeviceGetMaxMigDeviceCount: and none can be.
func (t *Thread) DeviceGetMaxMigDeviceCount(h nv.NvmlDevice_t, count hostmem.Ptr) error {
	return t.none(h, count)
}

// DeviceGetGpuInstances: no parts.
func (t *Thread) DeviceGetGpuInstances(h nv.NvmlDevice_t, profile uint32, list, count hostmem.Ptr) error {
	return t.none(h, count)
}

// part answers a question about a part: code is what is wrong with a whole device.
func (t *Thread) part(h nv.NvmlDevice_t, code Return) error {
	if _, err := t.device(h); err != nil {
		return err
	}
	return code
}

// DeviceGetGpuInstanceById finds none.
func (t *Thread) DeviceGetGpuInstanceById(h nv.NvmlDevice_t, id uint32) (nv.NvmlGpuInstance_t, error) {
	return 0, t.part(h, notFound)
}

// DeviceGetMigDeviceHandleByIndex finds none.
func (t *Thread) DeviceGetMigDeviceHandleByIndex(h nv.NvmlDevice_t, i uint32) (nv.NvmlDevice_t, error) {
	return 0, t.part(h, notFound)
}

// DeviceGetGpuInstanceId wants a part.
func (t *Thread) DeviceGetGpuInstanceId(h nv.NvmlDevice_t) (uint32, error) {
	return 0, t.part(h, invalidArgument)
}

// DeviceGetComputeInstanceId wants a part.
func (t *Thread) DeviceGetComputeInstanceId(h nv.NvmlDevice_t) (uint32, error) {
	return 0, t.part(h, invalidArgument)
}

// DeviceGetDeviceHandleFromMigDeviceHandle wants a part.
func (t *Thread) DeviceGetDeviceHandleFromMigDeviceHandle(h nv.NvmlDevice_t) (nv.NvmlDevice_t, error) {
	return 0, t.part(h, invalidArgument)
}

// DeviceGetVirtualizationMode is none.
func (t *Thread) DeviceGetVirtualizationMode(h nv.NvmlDevice_t) (nv.NvmlGpuVirtualizationMode_t, error) {
	_, err := t.device(h)
	return nv.NVML_GPU_VIRTUALIZATION_MODE_NONE, err
}

// DeviceGetGridLicensableFeatures: nothing needs a license.
func (t *Thread) DeviceGetGridLicensableFeatures(h nv.NvmlDevice_t, p hostmem.Ptr) error {
	if err := t.given(h, p); err != nil {
		return err
	}
	hostmem.Store(p, nv.NvmlGridLicensableFeatures_t{})
	return nil
}

// DeviceGetGridLicensableFeaturesV1 is the same in the shorter structures of the first three versions: the two words that say so.
func (t *Thread) DeviceGetGridLicensableFeaturesV1(h nv.NvmlDevice_t, p hostmem.Ptr) error {
	if err := t.given(h, p); err != nil {
		return err
	}
	hostmem.Store(p, [2]uint32{})
	return nil
}

// DeviceGetAddressingMode is how a device reaches memory that the host allocated: by the host's own page tables, by a copy of
// them, or not at all.
func (t *Thread) DeviceGetAddressingMode(h nv.NvmlDevice_t, p hostmem.Ptr) error {
	v := nv.NvmlDeviceAddressingMode_v1_t{Version: version(8, 1)}
	if err := t.versioned(h, p, v.Version); err != nil {
		return err
	}
	mode, err := t.Addressing(h)
	if err != nil {
		return err
	}
	v.Value = uint32(mode)
	hostmem.Store(p, v)
	return nil
}

// Addressing is a way in which a device reaches memory that the host allocated.
type Addressing uint32

// The ways.
const (
	AddressingNone Addressing = iota
	AddressingHMM             // a copy of the host's page tables
	AddressingATS             // the host's page tables
)

// Addressing is a device's way, which follows from the attributes that the driver gives it.
func (t *Thread) Addressing(h nv.NvmlDevice_t) (Addressing, error) {
	in, err := t.infoOf(h)
	switch {
	case err != nil:
		return AddressingNone, err
	case !in.HostPointers:
		return AddressingNone, nil
	case !in.HostVisible:
		return AddressingHMM, nil
	}
	return AddressingATS, nil
}

// DeviceGetBusType is none that NVML has a number for.
func (t *Thread) DeviceGetBusType(h nv.NvmlDevice_t) (nv.NvmlBusType_t, error) {
	_, err := t.device(h)
	return 0, err
}

// DeviceGetC2cModeInfoV: no link from chip to chip.
func (t *Thread) DeviceGetC2cModeInfoV(h nv.NvmlDevice_t, p hostmem.Ptr) error {
	if err := t.given(h, p); err != nil {
		return err
	}
	hostmem.Store(p, nv.NvmlC2cModeInfo_v1_t{})
	return nil
}

// DeviceGetCapabilities: none of those that have a bit.
func (t *Thread) DeviceGetCapabilities(h nv.NvmlDevice_t, p hostmem.Ptr) error {
	v := version(8, 1)
	if err := t.versioned(h, p, v); err != nil {
		return err
	}
	hostmem.Store(p, nv.NvmlDeviceCapabilities_v1_t{Version: v})
	return nil
}

// DeviceGetGpuFabricInfo: the state is that there is no fabric.
func (t *Thread) DeviceGetGpuFabricInfo(h nv.NvmlDevice_t, p hostmem.Ptr) error {
	if err := t.given(h, p); err != nil {
		return err
	}
	hostmem.Store(p, nv.NvmlGpuFabricInfo_t{})
	return nil
}

// DeviceGetGpuFabricInfoV is the same with a version; the third has another word behind the second's.
func (t *Thread) DeviceGetGpuFabricInfoV(h nv.NvmlDevice_t, p hostmem.Ptr) error {
	second, third := version(36, 2), version(40, 3)
	if err := t.versioned(h, p, second, third); err != nil {
		return err
	}
	v := hostmem.Load[uint32](p)
	hostmem.Store(p, nv.NvmlGpuFabricInfo_v2_t{Version: v})
	if v == third {
		hostmem.Store(p.Add(36), uint32(0))
	}
	return nil
}

// DeviceGetGpuFabricInfoV4 is the same in a structure without a version.
func (t *Thread) DeviceGetGpuFabricInfoV4(h nv.NvmlDevice_t, p hostmem.Ptr) error {
	if err := t.given(h, p); err != nil {
		return err
	}
	return zero[nv.NvmlGpuFabricInfo_v4_t](p)
}

// DeviceGetPciInfoExt is where the device would be on a bus, with a version.
func (t *Thread) DeviceGetPciInfoExt(h nv.NvmlDevice_t, p hostmem.Ptr) error {
	v := nv.NvmlPciInfoExt_v1_t{Version: version(64, 1)}
	if err := t.versioned(h, p, v.Version); err != nil {
		return err
	}
	dev, err := t.device(h)
	if err != nil {
		return err
	}
	at, err := t.Bus(dev)
	if err != nil {
		return err
	}
	v.Domain, v.Bus, v.Device = uint32(at[0]), uint32(at[1]), uint32(at[2])
	copy(v.BusId[:len(v.BusId)-1], BusText(at))
	hostmem.Store(p, v)
	return nil
}

// keep answers a call that would change a device: others than root may not, and nothing changes.
func (t *Thread) keep(h nv.NvmlDevice_t, already bool) error {
	if _, err := t.device(h); err != nil {
		return err
	}
	switch {
	case os.Geteuid() != 0:
		return noPermission
	case !already:
		return notSupported
	}
	return nil
}

// DeviceSetPersistenceMode keeps it on.
func (t *Thread) DeviceSetPersistenceMode(h nv.NvmlDevice_t, mode nv.NvmlEnableState_t) error {
	return t.keep(h, mode == nv.NVML_FEATURE_ENABLED)
}

// DeviceSetComputeMode keeps any number of contexts.
func (t *Thread) DeviceSetComputeMode(h nv.NvmlDevice_t, mode nv.NvmlComputeMode_t) error {
	return t.keep(h, mode == nv.NVML_COMPUTEMODE_DEFAULT)
}

// DeviceSetAccountingMode keeps it off.
func (t *Thread) DeviceSetAccountingMode(h nv.NvmlDevice_t, mode nv.NvmlEnableState_t) error {
	return t.keep(h, mode == nv.NVML_FEATURE_DISABLED)
}

// DeviceSetMigMode keeps devices whole.
func (t *Thread) DeviceSetMigMode(h nv.NvmlDevice_t, mode uint32) (nv.NvmlReturn_t, error) {
	return nv.NVML_SUCCESS, t.keep(h, mode == 0)
}

// DeviceSetEccMode: not of this memory.
func (t *Thread) DeviceSetEccMode(h nv.NvmlDevice_t, mode nv.NvmlEnableState_t) error {
	return t.keep(h, false)
}

// DeviceClearEccErrorCounts has none to clear.
func (t *Thread) DeviceClearEccErrorCounts(h nv.NvmlDevice_t, kind nv.NvmlEccCounterType_t) error {
	return t.keep(h, false)
}

// DeviceSetGpuLockedClocks: clocks are the system's.
func (t *Thread) DeviceSetGpuLockedClocks(h nv.NvmlDevice_t, least, most uint32) error {
	return t.keep(h, false)
}

// DeviceResetGpuLockedClocks: no clocks are locked.
func (t *Thread) DeviceResetGpuLockedClocks(h nv.NvmlDevice_t) error { return t.keep(h, true) }

// DeviceSetMemoryLockedClocks: clocks are the system's.
func (t *Thread) DeviceSetMemoryLockedClocks(h nv.NvmlDevice_t, least, most uint32) error {
	return t.keep(h, false)
}

// DeviceResetMemoryLockedClocks: no clocks are locked.
func (t *Thread) DeviceResetMemoryLockedClocks(h nv.NvmlDevice_t) error { return t.keep(h, true) }

// DeviceSetApplicationsClocks: clocks are the system's.
func (t *Thread) DeviceSetApplicationsClocks(h nv.NvmlDevice_t, memory, graphics uint32) error {
	return t.keep(h, false)
}

// DeviceResetApplicationsClocks: no clocks were set.
func (t *Thread) DeviceResetApplicationsClocks(h nv.NvmlDevice_t) error { return t.keep(h, true) }

// DeviceSetPowerManagementLimit: limits are the system's.
func (t *Thread) DeviceSetPowerManagementLimit(h nv.NvmlDevice_t, milliwatts uint32) error {
	return t.keep(h, false)
}

// DeviceClearAccountingPids has none to clear.
func (t *Thread) DeviceClearAccountingPids(h nv.NvmlDevice_t) error { return t.keep(h, true) }

// DeviceSetCpuAffinity: every processor is near, so a thread may stay where it is.
func (t *Thread) DeviceSetCpuAffinity(h nv.NvmlDevice_t) error {
	_, err := t.device(h)
	return err
}

// DeviceClearCpuAffinity: nothing was bound.
func (t *Thread) DeviceClearCpuAffinity(h nv.NvmlDevice_t) error { return t.DeviceSetCpuAffinity(h) }
