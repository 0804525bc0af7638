package nvml

import (
	"os"
	"testing"
	"time"

	"kudzu/internal/backend"
	"kudzu/internal/devices"
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/roster"
	"kudzu/internal/spec/nv"
)

// onCPU is the first of two devices of the processor.
func onCPU(t *testing.T) (*Thread, nv.NvmlDevice_t) {
	t.Helper()
	t.Setenv("KUDZU_DEVICES", "2")
	t.Setenv("KUDZU_MEMORY", "1G")
	driver.Start([]backend.Backend{devices.CPU(devices.Config{})})
	th := new(Thread)
	if err := th.Init(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = th.Shutdown() })
	h, err := th.DeviceGetHandleByIndex(0)
	if err != nil {
		t.Fatal(err)
	}
	return th, h
}

// one makes a question with one number of its answer.
func one[T ~uint32 | ~int32 | ~uint64](f func(nv.NvmlDevice_t) (T, error)) func(nv.NvmlDevice_t) (uint64, error) {
	return func(h nv.NvmlDevice_t) (uint64, error) {
		v, err := f(h)
		return uint64(v), err
	}
}

// TestAnswers: numbers of a device without state of its own, and what a wrong handle is told.
func TestAnswers(t *testing.T) {
	th, h := onCPU(t)
	first := func(f func(nv.NvmlDevice_t) (uint32, uint32, error)) func(nv.NvmlDevice_t) (uint64, error) {
		return func(h nv.NvmlDevice_t) (uint64, error) {
			v, _, err := f(h)
			return uint64(v), err
		}
	}
	for name, f := range map[string]func(nv.NvmlDevice_t) (uint64, error){
		"performance state": one(th.DeviceGetPerformanceState), "power state": one(th.DeviceGetPowerState),
		"event reasons": one(th.DeviceGetCurrentClocksEventReasons), "throttle reasons": one(th.DeviceGetCurrentClocksThrottleReasons),
		"supported event reasons": one(th.DeviceGetSupportedClocksEventReasons), "supported throttle reasons": one(th.DeviceGetSupportedClocksThrottleReasons),
		"part": one(th.DeviceIsMigDeviceHandle), "parts on": first(th.DeviceGetMigMode), "virtualization": one(th.DeviceGetVirtualizationMode),
		"bus type": one(th.DeviceGetBusType), "accounting": one(th.DeviceGetAccountingMode), "event types": one(th.DeviceGetSupportedEventTypes),
		"encoder": first(th.DeviceGetEncoderUtilization), "decoder": first(th.DeviceGetDecoderUtilization),
		"jpeg": first(th.DeviceGetJpgUtilization), "optical flow": first(th.DeviceGetOfaUtilization), "fans": one(th.DeviceGetNumFans),
		"encoder capacity": func(h nv.NvmlDevice_t) (uint64, error) {
			v, err := th.DeviceGetEncoderCapacity(h, nv.NVML_ENCODER_QUERY_H264)
			return uint64(v), err
		},
	} {
		if v, err := f(h); err != nil || v != 0 {
			t.Errorf("%s: %d, %v", name, v, err)
		}
		if _, err := f(h + 9); ReturnOf(err) != invalidArgument {
			t.Errorf("%s of a wrong handle: %v", name, err)
		}
	}
	if v, err := th.DeviceGetClock(h, nv.NVML_CLOCK_SM, nv.NVML_CLOCK_ID_CUSTOMER_BOOST_MAX); err != nil || v == 0 {
		t.Errorf("highest clock %d, %v", v, err)
	}
	in, err := th.infoOf(h)
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func(nv.NvmlDevice_t, nv.NvmlClockType_t) (uint32, error){
		"now": th.DeviceGetClockInfo, "most": th.DeviceGetMaxClockInfo, "programs'": th.DeviceGetApplicationsClock, "default": th.DeviceGetDefaultApplicationsClock,
		"target": func(h nv.NvmlDevice_t, k nv.NvmlClockType_t) (uint32, error) {
			return th.DeviceGetClock(h, k, nv.NVML_CLOCK_ID_APP_CLOCK_TARGET)
		},
	} {
		if v, err := f(h, nv.NVML_CLOCK_MEM); err != nil || int(v) != in.MemoryKHz/1000 || v == 0 {
			t.Errorf("%s: memory's clock %d, %v", name, v, err)
		}
		if _, err := f(h+9, nv.NVML_CLOCK_MEM); ReturnOf(err) != invalidArgument {
			t.Errorf("%s of a wrong handle: %v", name, err)
		}
		if _, err := f(h, 77); ReturnOf(err) != invalidArgument {
			t.Errorf("%s of a clock without a name: %v", name, err)
		}
	}
	nodes := roster.Nodes()
	if v, err := th.DeviceGetNumaNodeId(h); len(nodes) == 1 && (err != nil || int(v) != nodes[0]) {
		t.Errorf("node %d, %v", v, err)
	}
}

// TestCodes: what is refused, and with which code.
func TestCodes(t *testing.T) {
	th, h := onCPU(t)
	p := hostmem.Of(&page[0])
	number := func(_ uint32, err error) error { return err }
	set := Return(nv.NVML_ERROR_NO_PERMISSION)
	if os.Geteuid() == 0 {
		set = notSupported
	}
	_, byID := th.DeviceGetGpuInstanceById(h, 0)
	_, byIndex := th.DeviceGetMigDeviceHandleByIndex(h, 0)
	_, whole := th.DeviceGetDeviceHandleFromMigDeviceHandle(h)
	_, bySerial := th.DeviceGetHandleBySerial("17")
	_, unitHandle := th.UnitGetHandleByIndex(0)
	_, app := th.DeviceGetClock(h, nv.NVML_CLOCK_VIDEO, nv.NVML_CLOCK_ID_APP_CLOCK_TARGET)
	_, boost := th.DeviceGetMaxCustomerBoostClock(h, 77)
	for name, c := range map[string]struct {
		err  error
		want Return
	}{
		"accounting of a process": {th.DeviceGetAccountingStats(h, 1, p), notFound}, "a part by number": {byID, notFound}, "a part by index": {byIndex, notFound},
		"the whole of a part": {whole, invalidArgument}, "a part's number": {number(th.DeviceGetGpuInstanceId(h)), invalidArgument},
		"a part's other number": {number(th.DeviceGetComputeInstanceId(h)), invalidArgument}, "a serial number": {bySerial, notFound},
		"a unit": {unitHandle, invalidArgument}, "a unit's state": {th.UnitGetLedState(1, p), invalidArgument}, "an excluded device": {th.GetExcludedDeviceInfoByIndex(0, p), invalidArgument},
		"a fan": {number(th.DeviceGetFanSpeedV2(h, 0)), invalidArgument}, "a fan's target": {number(th.DeviceGetTargetFanSpeed(h, 0)), invalidArgument},
		"fan policy": {number(th.DeviceGetFanControlPolicy(h, 0)), invalidArgument}, "an application's clock": {app, notSupported}, "a clock without a name": {boost, invalidArgument},
		"no functions": {th.Absent(h), notSupported}, "no functions of no device": {th.Absent(h + 9), invalidArgument}, "a virtual device": {th.NoSuch(), invalidArgument},
		"persistence off": {th.DeviceSetPersistenceMode(h, nv.NVML_FEATURE_DISABLED), set}, "exclusive": {th.DeviceSetComputeMode(h, nv.NVML_COMPUTEMODE_PROHIBITED), set},
		"accounting on": {th.DeviceSetAccountingMode(h, nv.NVML_FEATURE_ENABLED), set}, "error correction": {th.DeviceSetEccMode(h, nv.NVML_FEATURE_ENABLED), set},
		"clocks": {th.DeviceSetGpuLockedClocks(h, 1, 2), set}, "memory clocks": {th.DeviceSetMemoryLockedClocks(h, 1, 2), set}, "chosen clocks": {th.DeviceSetApplicationsClocks(h, 1, 2), set},
		"a limit": {th.DeviceSetPowerManagementLimit(h, 5), set}, "counts": {th.DeviceClearEccErrorCounts(h, nv.NVML_VOLATILE_ECC), set},
		"no set of events": {th.EventSetFree(99), invalidArgument}, "no bits": {th.DeviceGetCpuAffinity(h, 0, p), invalidArgument}, "nowhere": {th.DeviceGetBAR1MemoryInfo(h, 0), invalidArgument},
		"a policy without a name": {th.DeviceGetViolationStatus(h, 99, p), invalidArgument}, "fields of nothing": {th.DeviceGetFieldValues(h, 0, p), invalidArgument},
	} {
		if ReturnOf(c.err) != c.want {
			t.Errorf("%s: %v, want %v", name, c.err, c.want)
		}
	}
	if err := th.DeviceSetCpuAffinity(h); err != nil {
		t.Error(err)
	}
}

// TestVersions: structures with a version in front are refused without it, and filled with it.
func TestVersions(t *testing.T) {
	th, h := onCPU(t)
	p := hostmem.Of(&page[0])
	with := func(f func(nv.NvmlDevice_t, hostmem.Ptr) error) func(hostmem.Ptr) error {
		return func(p hostmem.Ptr) error { return f(h, p) }
	}
	for name, c := range map[string]struct {
		f       func(hostmem.Ptr) error
		version uint32
	}{
		"fabric": {with(th.DeviceGetGpuFabricInfoV), version(36, 2)}, "fabric 3": {with(th.DeviceGetGpuFabricInfoV), version(40, 3)},
		"bus": {with(th.DeviceGetPciInfoExt), version(64, 1)}, "capabilities": {with(th.DeviceGetCapabilities), version(8, 1)},
		"confidential computing": {th.SystemGetConfComputeSettings, version(20, 1)}, "counters": {with(th.GpmQueryDeviceSupport), 1},
		"processes": {with(th.DeviceGetRunningProcessDetailList), version(24, 1)},
		"branch":    {func(p hostmem.Ptr) error { return th.SystemGetDriverBranch(p, 80) }, version(84, 1)},
	} {
		clear(page[:128])
		if err := c.f(p); ReturnOf(err) != wrongVersion {
			t.Errorf("%s without a version: %v", name, err)
		}
		hostmem.Store(p, c.version)
		if name == "processes" {
			hostmem.Store(p.Add(4), uint32(1)) // who draws: nobody
		}
		if err := c.f(p); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if v := hostmem.Load[uint32](p); v != c.version {
			t.Errorf("%s: the version became %#x", name, v)
		}
	}
	uuid, err := th.UUID(1)
	if err != nil {
		t.Fatal(err)
	}
	v := nv.NvmlUUID_v1_t{Version: version(52, 1), Type: uint32(nv.NVML_UUID_TYPE_ASCII)}
	copy(v.Value.Str()[:], uuid)
	hostmem.Store(p, v)
	if g, err := th.DeviceGetHandleByUUIDV(p); err != nil || g != h+1 {
		t.Errorf("by UUID: %v, %v", g, err)
	}
}

// TestFilled: structures and lists without a version.
func TestFilled(t *testing.T) {
	th, h := onCPU(t)
	p, q := hostmem.Of(&page[0]), hostmem.Of(&page[1024])
	if err := th.DeviceGetBAR1MemoryInfo(h, p); err != nil || hostmem.Load[nv.NvmlBAR1Memory_t](p).Bar1Total != 1<<30 {
		t.Errorf("reach %+v, %v", hostmem.Load[nv.NvmlBAR1Memory_t](p), err)
	}
	if err := th.DeviceGetConfComputeMemSizeInfo(h, p); err != nil || hostmem.Load[nv.NvmlConfComputeMemSizeInfo_t](p).UnprotectedMemSizeKib != 1<<20 {
		t.Errorf("open memory %+v, %v", hostmem.Load[nv.NvmlConfComputeMemSizeInfo_t](p), err)
	}
	if err := th.DeviceGetCpuAffinity(h, 1, p); err != nil || hostmem.Load[uint64](p)&1 != 1 {
		t.Errorf("processors %x, %v", hostmem.Load[uint64](p), err)
	}
	if err := th.DeviceGetMemoryAffinity(h, 1, p, 0); err != nil {
		t.Error(err)
	}
	hostmem.Store(p, uint32(0))
	if err := th.DeviceGetTopologyNearestGpus(h, nv.NVML_TOPOLOGY_INTERNAL, p, 0); err != nil || hostmem.Load[uint32](p) != 1 {
		t.Errorf("%d near, %v", hostmem.Load[uint32](p), err)
	}
	if err := th.SystemGetTopologyGpuSet(0, p, q); err != nil || hostmem.Load[uint32](p) != 2 || hostmem.Load[nv.NvmlDevice_t](q) != h {
		t.Errorf("%d near a processor, %v", hostmem.Load[uint32](p), err)
	}
	if err := th.DeviceGetSupportedPerformanceStates(h, p, 8); err != nil || hostmem.Load[uint64](p) != 32<<32 {
		t.Errorf("states %x, %v", hostmem.Load[uint64](p), err)
	}
	if err := th.DeviceGetDynamicPstatesInfo(h, p); err != nil || hostmem.Load[nv.NvmlGpuDynamicPstatesInfo_t](p).Utilization[0].BIsPresent != 1 {
		t.Error(err)
	}
	for name, f := range map[string]func(nv.NvmlDevice_t, hostmem.Ptr) error{
		"frames": th.DeviceGetFBCStats, "licenses": th.DeviceGetGridLicensableFeatures, "chips": th.DeviceGetC2cModeInfoV, "fabric": th.DeviceGetGpuFabricInfo,
		"protected": th.DeviceGetConfComputeProtectedMemoryUsage, "parts": th.DeviceGetMaxMigDeviceCount, "kept": th.DeviceGetAccountingBufferSize,
	} {
		hostmem.Store(p, uint32(7))
		if err := f(h, p); err != nil || hostmem.Load[uint32](p) != 0 {
			t.Errorf("%s: %d, %v", name, hostmem.Load[uint32](p), err)
		}
		if err := f(h, 0); ReturnOf(err) != invalidArgument {
			t.Errorf("%s nowhere: %v", name, err)
		}
	}
	for name, f := range map[string]func(hostmem.Ptr) error{"capabilities": th.SystemGetConfComputeCapabilities, "state": th.SystemGetConfComputeState} {
		if err := f(p); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := th.DeviceGetViolationStatus(h, nv.NVML_PERF_POLICY_POWER, p); err != nil || hostmem.Load[nv.NvmlViolationTime_t](p).ReferenceTime == 0 {
		t.Error(err)
	}
	if _, ok := roster.Temperature(); !ok {
		if err := th.DeviceGetThermalSettings(h, 0, p); ReturnOf(err) != notSupported {
			t.Error(err)
		}
	}
}

// TestSamples: one of each, fields one by one, and a set of events that nothing comes to.
func TestSamples(t *testing.T) {
	th, h := onCPU(t)
	p, q := hostmem.Of(&page[0]), hostmem.Of(&page[1024])
	hostmem.Store(p, uint32(4))
	if kind, err := th.DeviceGetSamples(h, nv.NVML_GPU_UTILIZATION_SAMPLES, 0, p, q); err != nil || kind != nv.NVML_VALUE_TYPE_UNSIGNED_INT || hostmem.Load[uint32](p) != 1 {
		t.Errorf("samples: %v, %v", kind, err)
	}
	if s := hostmem.Load[nv.NvmlSample_t](q); s.TimeStamp == 0 || *s.SampleValue.UiVal() > 100 {
		t.Errorf("sample %+v", s)
	}
	if _, err := th.DeviceGetSamples(h, nv.NVML_MODULE_POWER_SAMPLES, 0, p, q); ReturnOf(err) != notSupported {
		t.Errorf("power of a module: %v", err)
	}
	for i, id := range []uint32{fieldLinks, fieldPolicyFirst, 1, 9999} {
		hostmem.Store(p.Index(i, 40), nv.NvmlFieldValue_t{FieldId: id, NvmlReturn: nv.NVML_ERROR_UNKNOWN})
	}
	if err := th.DeviceGetFieldValues(h, 4, p); err != nil {
		t.Fatal(err)
	}
	for i, want := range []nv.NvmlReturn_t{nv.NVML_SUCCESS, nv.NVML_SUCCESS, nv.NVML_ERROR_NOT_SUPPORTED, nv.NVML_ERROR_INVALID_ARGUMENT} {
		if f := hostmem.Load[nv.NvmlFieldValue_t](p.Index(i, 40)); f.NvmlReturn != want {
			t.Errorf("field %d: %d, want %d", f.FieldId, f.NvmlReturn, want)
		}
	}
	if err := th.DeviceClearFieldValues(h, 1, p); err != nil || hostmem.Load[nv.NvmlFieldValue_t](p).NvmlReturn != nv.NVML_ERROR_NOT_SUPPORTED {
		t.Error(err)
	}
	set, err := th.EventSetCreate()
	if err != nil {
		t.Fatal(err)
	}
	if err := th.DeviceRegisterEvents(h, 8, set); ReturnOf(err) != notSupported {
		t.Errorf("events: %v", err)
	}
	began := time.Now()
	if err := th.EventSetWait(set, p, 30); ReturnOf(err) != timedOut || time.Since(began) < 30*time.Millisecond {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
	if err := th.EventSetFree(set); err != nil {
		t.Error(err)
	}
}

// TestShares: a process that has a page is listed with its part of the time, once for each measurement.
func TestShares(t *testing.T) {
	th, h := onCPU(t)
	p, q := hostmem.Of(&page[0]), hostmem.Of(&page[1024])
	if _, err := roster.Join(1); err != nil {
		t.Skip(err) // a machine where no folder can be made
	}
	used.Store(true)
	time.Sleep(2100 * time.Millisecond) // until what other tests measured is too old
	hostmem.Store(p, uint32(0))
	if err := th.DeviceGetProcessUtilization(h, 0, p, 0); ReturnOf(err) != insufficient || hostmem.Load[uint32](p) == 0 {
		t.Fatalf("no room: %v, %d", err, hostmem.Load[uint32](p))
	}
	hostmem.Store(p, uint32(100))
	if err := th.DeviceGetProcessUtilization(h, q, p, 0); err != nil {
		t.Fatal(err)
	}
	found := false
	for _, s := range hostmem.Slice[nv.NvmlProcessUtilizationSample_t](q, int(hostmem.Load[uint32](p))) {
		found = found || int(s.Pid) == os.Getpid() && s.TimeStamp != 0
	}
	if !found {
		t.Error("this process is not listed")
	}
	if err := th.DeviceGetProcessUtilization(h, q, p, stamp(time.Now())+1e9); ReturnOf(err) != notFound {
		t.Errorf("of a time to come: %v", err)
	}
	hostmem.Store(p, nv.NvmlProcessesUtilizationInfo_v1_t{Version: version(24, 1), ProcessSamplesCount: 100, ProcUtilArray: uint64(q)})
	if err := th.DeviceGetProcessesUtilizationInfo(h, p); err != nil || hostmem.Load[nv.NvmlProcessesUtilizationInfo_v1_t](p).ProcessSamplesCount == 0 {
		t.Errorf("with a version: %v", err)
	}
}

// TestHidden: what CUDA_VISIBLE_DEVICES hides from programs NVML has all the same, under the numbers of the machine.
func TestHidden(t *testing.T) {
	for _, visible := range []string{"1", "-1"} {
		t.Setenv("CUDA_VISIBLE_DEVICES", visible)
		th, h := onCPU(t)
		if n, err := th.DeviceGetCount(); err != nil || n != 2 {
			t.Errorf("%s visible: %d devices, %v", visible, n, err)
		}
		at, err := th.Bus(0)
		if err != nil {
			t.Fatal(err)
		}
		if g, err := th.DeviceGetHandleByPciBusId(BusText(at)); err != nil || g != h {
			t.Errorf("%s visible: %v, %v", visible, g, err)
		}
		if s, err := th.DeviceGetP2PStatus(h, h+1, nv.NVML_P2P_CAPS_INDEX_READ); err != nil || s != nv.NVML_P2P_STATUS_OK {
			t.Errorf("%s visible: peers %v, %v", visible, s, err)
		}
		if s, err := th.DeviceGetP2PStatus(h, h, nv.NVML_P2P_CAPS_INDEX_READ); err != nil || s != nv.NVML_P2P_STATUS_NOT_SUPPORTED { // as recorded
			t.Errorf("%s visible: its own peer %v, %v", visible, s, err)
		}
	}
}

// TestAbsent: a wrong version is told before that nothing is known.
func TestAbsent(t *testing.T) {
	th, h := onCPU(t)
	p := hostmem.Of(&page[0])
	for name, c := range map[string]struct {
		f    func(nv.NvmlDevice_t, hostmem.Ptr) error
		size uint32
	}{
		"turns": {th.DeviceGetFanSpeedRPM, 12}, "cooler": {th.DeviceGetCoolerInfo, 16}, "margin": {th.DeviceGetMarginTemperature, 8}, "offsets": {th.DeviceGetClockOffsets, 24},
		"modes": {th.DeviceGetPerformanceModes, 2052}, "frequencies": {th.DeviceGetCurrentClockFreqs, 2052},
	} {
		hostmem.Store(p, uint32(0))
		if err := c.f(h, p); ReturnOf(err) != wrongVersion {
			t.Errorf("%s without a version: %v", name, err)
		}
		hostmem.Store(p, version(c.size, 1))
		if err := c.f(h, p); ReturnOf(err) != notSupported {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, f := range map[string]func(nv.NvmlDevice_t, hostmem.Ptr) error{
		"errors": th.DeviceGetSramEccErrorStatus, "virtual devices": th.DeviceGetVgpuInstancesUtilizationInfo, "profiles": th.DeviceWorkloadPowerProfileGetProfilesInfo,
		"chosen profiles": th.DeviceWorkloadPowerProfileGetCurrentProfiles, "smoothing": th.DevicePowerSmoothingUpdatePresetProfileParam,
	} {
		hostmem.Store(p, uint32(0))
		if err := f(h, p); ReturnOf(err) != wrongVersion {
			t.Errorf("%s without a version: %v", name, err)
		}
	}
}
