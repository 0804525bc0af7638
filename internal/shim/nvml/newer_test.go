package nvml

import (
	"os"
	"testing"
	"time"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/nv"
)

// TestSystemEvents: sets are made, take both kinds of events, and time out; what is wrong is told first.
func TestSystemEvents(t *testing.T) {
	th, _ := onCPU(t)
	p, q := hostmem.Of(&page[0]), hostmem.Of(&page[1024])
	hostmem.Store(p, uint32(0))
	if err := th.SystemEventSetCreate(p); ReturnOf(err) != wrongVersion {
		t.Errorf("without a version: %v", err)
	}
	hostmem.Store(p, nv.NvmlSystemEventSetCreateRequest_v1_t{Version: version(16, 1)})
	if err := th.SystemEventSetCreate(p); err != nil {
		t.Fatal(err)
	}
	set := hostmem.Load[nv.NvmlSystemEventSetCreateRequest_v1_t](p).Set
	register := func(kinds uint64) error {
		hostmem.Store(p, nv.NvmlSystemRegisterEventRequest_v1_t{Version: version(24, 1), EventTypes: kinds, Set: set})
		return th.SystemRegisterEvents(p)
	}
	if err := register(3); err != nil {
		t.Error(err)
	}
	if err := register(4); ReturnOf(err) != invalidArgument {
		t.Errorf("an event without a name: %v", err)
	}
	wait := nv.NvmlSystemEventSetWaitRequest_v1_t{Version: version(32, 1), Timeoutms: 20, Set: set, NumEvent: 7}
	hostmem.Store(p, wait)
	if err := th.SystemEventSetWait(p); ReturnOf(err) != invalidArgument {
		t.Errorf("a wait without room: %v", err)
	}
	wait.Data, wait.DataSize = uint64(q), 1
	hostmem.Store(p, wait)
	began := time.Now()
	if err := th.SystemEventSetWait(p); ReturnOf(err) != timedOut || time.Since(began) < 20*time.Millisecond || hostmem.Load[nv.NvmlSystemEventSetWaitRequest_v1_t](p).NumEvent != 0 {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
	free := func() error {
		hostmem.Store(p, nv.NvmlSystemEventSetFreeRequest_v1_t{Version: version(16, 1), Set: set})
		return th.SystemEventSetFree(p)
	}
	if err := free(); err != nil {
		t.Error(err)
	}
	if err := free(); ReturnOf(err) != invalidArgument {
		t.Errorf("a set freed twice: %v", err)
	}
}

// TestOperationalEvents: the calls of driver 615 with a set of events.
func TestOperationalEvents(t *testing.T) {
	th, _ := onCPU(t)
	p := hostmem.Of(&page[0])
	set, err := th.EventSetCreate()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		f    func(nv.NvmlEventSet_t, hostmem.Ptr) error
		want Return
	}{
		"wait": {th.EventSetWaitV3, timedOut}, "register": {th.EventSetRegisterGpuOperationalEvents, notSupported},
		"count": {th.EventSetGetContextCount, notFound}, "info": {th.EventSetGetContextInfo, notFound}, "data": {th.EventSetGetContextData, notFound},
		"xid": {th.EventSetGetGpuOperationalEventContextLegacyXid, notFound},
	} {
		hostmem.Store(p, uint32(1))
		for what, got := range map[string][2]error{"": {c.f(set, p), c.want}, " nowhere": {c.f(set, 0), invalidArgument}, " of no set": {c.f(set+9, p), invalidArgument}} {
			if ReturnOf(got[0]) != ReturnOf(got[1]) {
				t.Errorf("%s%s: %v, want %v", name, what, got[0], got[1])
			}
		}
	}
}

// TestDrain: devices are found by their place on the bus, stay, and are not about to go.
func TestDrain(t *testing.T) {
	th, h := onCPU(t)
	p := hostmem.Of(&page[0])
	set := noPermission
	if os.Geteuid() == 0 {
		set = notSupported
	}
	hostmem.Store(p, nv.NvmlPciInfo_t{Bus: 0xee})
	if _, err := th.DeviceQueryDrainState(p); ReturnOf(err) != notFound { // as recorded
		t.Errorf("of no device: %v", err)
	}
	if err := th.DeviceGetPciInfo(h, p); err != nil {
		t.Fatal(err)
	}
	if s, err := th.DeviceQueryDrainState(p); err != nil || s != nv.NVML_FEATURE_DISABLED {
		t.Errorf("state %v, %v", s, err)
	}
	_, nowhere := th.DeviceQueryDrainState(0)
	for name, c := range map[string]struct {
		err  error
		want Return
	}{
		"nowhere": {nowhere, invalidArgument}, "drain": {th.DeviceModifyDrainState(p, nv.NVML_FEATURE_ENABLED), set}, "remove": {th.DeviceRemoveGpu(p, 0, 0), set},
		"remove, first version": {th.DeviceRemoveGpuV1(p), set}, "discover": {th.DeviceDiscoverGpus(p), set}, "discover nothing": {th.DeviceDiscoverGpus(0), invalidArgument},
		"bandwidth": {th.SystemSetNvlinkBwMode(0), set}, "ready": {th.SystemSetConfComputeGpusReadyState(1), set}, "virtual version": {th.SetVgpuVersion(p), set},
	} {
		if ReturnOf(c.err) != c.want {
			t.Errorf("%s: %v, want %v", name, c.err, c.want)
		}
	}
}

// TestNowhereHere: what the system does not have, after arguments and versions were looked at.
func TestNowhereHere(t *testing.T) {
	th, h := onCPU(t)
	p := hostmem.Of(&page[0])
	_, capability := th.GetVgpuDriverCapabilities(0)
	for name, c := range map[string]struct {
		err  error
		want Return
	}{
		"virtual capability": {capability, notSupported}, "virtual versions": {th.GetVgpuVersion(p, p), notSupported}, "virtual versions nowhere": {th.GetVgpuVersion(p, 0), invalidArgument},
		"compatibility": {th.GetVgpuCompatibility(p, p, p), notSupported}, "platform errors": {th.SystemGetCPER(p), notSupported}, "platform errors nowhere": {th.SystemGetCPER(0), invalidArgument},
		"accounting": {th.DeviceGetAccountingStatsV2(h, p), notFound}, "parts of a type": {th.VgpuTypeGetMaxInstancesPerGpuInstance(p), invalidArgument},
	} {
		if ReturnOf(c.err) != c.want {
			t.Errorf("%s: %v, want %v", name, c.err, c.want)
		}
	}
	device := func(f func(nv.NvmlDevice_t, hostmem.Ptr) error) func(hostmem.Ptr) error {
		return func(p hostmem.Ptr) error { return f(h, p) }
	}
	for name, c := range map[string]struct {
		f    func(hostmem.Ptr) error
		size uint32
	}{
		"keys":         {th.SystemGetConfComputeKeyRotationThresholdInfo, 16},
		"repairs":      {device(th.DeviceGetRepairStatus), 12},
		"error counts": {device(th.DeviceGetSramUniqueUncorrectedEccErrorCounts), 16}, "links": {device(th.DeviceGetNvLinkInfo), 8},
	} {
		hostmem.Store(p, uint32(0))
		if err := c.f(p); ReturnOf(err) != wrongVersion {
			t.Errorf("%s without a version: %v", name, err)
		}
		hostmem.Store(p, version(c.size, 1))
		if err := c.f(p); ReturnOf(err) != notSupported {
			t.Errorf("%s: %v", name, err)
		}
		if err := c.f(0); ReturnOf(err) != invalidArgument {
			t.Errorf("%s nowhere: %v", name, err)
		}
	}
}

// TestPdi: a device's number is its own.
func TestPdi(t *testing.T) {
	th, h := onCPU(t)
	p := hostmem.Of(&page[0])
	hostmem.Store(p, nv.NvmlPdi_v1_t{Version: version(16, 1)})
	if err := th.DeviceGetPdi(h, p); err != nil || hostmem.Load[nv.NvmlPdi_v1_t](p).Value == 0 {
		t.Errorf("%v, %+v", err, hostmem.Load[nv.NvmlPdi_v1_t](p))
	}
	hostmem.Store(p, uint32(9))
	if err := th.DeviceGetPdi(h, p); ReturnOf(err) != wrongVersion {
		t.Errorf("without a version: %v", err)
	}
	if err := th.DeviceGetUnrepairableMemoryFlag(h, p); ReturnOf(err) != notSupported { // cuda-python gives none
		t.Errorf("unrepairable memory: %v", err)
	}
}

// TestGpm: samples are made and freed, and have nothing in them.
func TestGpm(t *testing.T) {
	th, _ := onCPU(t)
	p := hostmem.Of(&page[0])
	s, err := th.GpmSampleAlloc()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		v    nv.NvmlGpmMetricsGet_t
		want Return
	}{{nv.NvmlGpmMetricsGet_t{Version: 9}, wrongVersion}, {nv.NvmlGpmMetricsGet_t{Version: 1, Sample1: s}, invalidArgument}, {nv.NvmlGpmMetricsGet_t{Version: 1, Sample1: s, Sample2: s}, notSupported}} {
		hostmem.Store(p, c.v)
		if err := th.GpmMetricsGet(p); ReturnOf(err) != c.want {
			t.Errorf("metrics: %v, want %v", err, c.want)
		}
	}
	if err := th.GpmSampleFree(s); err != nil {
		t.Error(err)
	}
	if err := th.GpmSampleFree(s); ReturnOf(err) != invalidArgument {
		t.Errorf("freed twice: %v", err)
	}
	if err := th.GpmSampleFree(0); err != nil {
		t.Error(err)
	}
}

// TestAddressing: a processor reads the host's memory by the host's page tables. Other structures are filled with nothing.
func TestAddressing(t *testing.T) {
	th, h := onCPU(t)
	p := hostmem.Of(&page[0])
	hostmem.Store(p, nv.NvmlDeviceAddressingMode_v1_t{Version: version(8, 1)})
	if err := th.DeviceGetAddressingMode(h, p); err != nil || hostmem.Load[nv.NvmlDeviceAddressingMode_v1_t](p).Value != uint32(AddressingATS) {
		t.Errorf("%+v, %v", hostmem.Load[nv.NvmlDeviceAddressingMode_v1_t](p), err)
	}
	for name, f := range map[string]func(nv.NvmlDevice_t, hostmem.Ptr) error{"licenses": th.DeviceGetGridLicensableFeaturesV1, "fabric": th.DeviceGetGpuFabricInfoV4} {
		hostmem.Store(p, [2]uint32{7, 7})
		if err := f(h, p); err != nil || hostmem.Load[[2]uint32](p) != [2]uint32{} {
			t.Errorf("%s: %v", name, err)
		}
	}
}
