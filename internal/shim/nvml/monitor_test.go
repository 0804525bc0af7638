package nvml

import (
	"slices"
	"strings"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/backend/hip"
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/nv"
	"kudzu/internal/testkit/hipdouble"
	"kudzu/internal/testkit/libdouble"
)

// smiBodies are a machine with a device that HIP does not show, and the two it shows in the other order: what tells them apart is
// the bus. Every number has the device's in it.
func smiBodies(r6 bool) map[string]string {
	b := map[string]string{
		"rsmi_num_monitor_devices":         "*(uint32_t *)p_num_devices = 3;",
		"rsmi_dev_pci_id_get":              "*(uint64_t *)p_bdfid = (uint64_t)(p_dv_ind == 0 ? 9 : p_dv_ind == 1 ? 4 : 3) << 8;",
		"rsmi_dev_busy_percent_get":        "*(uint32_t *)p_busy_percent = 40 + p_dv_ind;",
		"rsmi_dev_memory_busy_percent_get": "*(uint32_t *)p_busy_percent = 20 + p_dv_ind;",
		"rsmi_dev_memory_usage_get":        "*(uint64_t *)p_used = p_mem_type ? 0 : 1000000 + p_dv_ind;",
		"rsmi_dev_energy_count_get":        "*(uint64_t *)p_power = 3000000000 + p_dv_ind; *(float *)p_counter_resolution = 15.3f; *(uint64_t *)p_timestamp = 1;",
		"rsmi_dev_ecc_enabled_get":         "*(uint64_t *)p_enabled_blocks = 0x2005 | 1ull << 63;",
		"rsmi_dev_ecc_count_get":           "((uint64_t *)p_ec)[0] = p_block; ((uint64_t *)p_ec)[1] = 3 * p_block;",
		"rsmi_dev_temp_metric_get":         "if (p_sensor_type == 0) return 2;\n    if (p_sensor_type == 2) { *(int64_t *)p_temperature = 71500; return 0; }\n    *(int64_t *)p_temperature = 60999 + 1000 * p_dv_ind + 10000 * p_metric;",
		"rsmi_dev_power_ave_get":           "*(uint64_t *)p_power = 150000000 + 1000 * p_dv_ind;",
		"rsmi_dev_power_cap_get":           "*(uint64_t *)p_cap = 300000000;",
		"rsmi_dev_power_cap_default_get":   "*(uint64_t *)p_default_cap = 310000000;",
		"rsmi_dev_power_cap_range_get":     "*(uint64_t *)p_max = 400000000; *(uint64_t *)p_min = 100000000;",
		"rsmi_dev_fan_speed_get":           "*(int64_t *)p_speed = 51;",
		"rsmi_dev_fan_speed_max_get":       "*(uint64_t *)p_max_speed = 255;",
		"rsmi_dev_vbios_version_get":       `snprintf(p_vbios, p_len, "113-%d", p_dv_ind);`,
		"rsmi_dev_pci_replay_counter_get":  "*(uint64_t *)p_counter = 5;",
		"rsmi_compute_process_info_get": `struct { uint32_t pid, pasid; uint64_t vram, sdma; uint32_t cu; } *p = p_procs;
    uint32_t room = *(uint32_t *)p_num_items;
    *(uint32_t *)p_num_items = 3;
    for (uint32_t i = 0; p && i < 3 && i < room; i++) p[i].pid = 700 + i, p[i].vram = 1000 * (i + 1);`,
		// 700 uses device 2, 701 devices 1 and 2, 702 has ended.
		"rsmi_compute_process_gpus_get": `if (p_pid == 702) return 10;
    uint32_t *at = p_dv_indices;
    at[0] = 2, at[1] = 1;
    *(uint32_t *)p_num_devices = p_pid == 700 ? 1 : 2;`,
		"rsmi_dev_gpu_clk_freq_get": `struct { uint32_t n, now; uint64_t hz[32]; } *f = p_f; memset(f, 0, sizeof *f);
    f->n = 3; f->now = 1; f->hz[0] = 500000000; f->hz[1] = p_clk_type == 4 ? 900000000 : 1700000000; f->hz[2] = p_clk_type == 4 ? 1250000000 : 2300000000;`,
		"rsmi_dev_pci_bandwidth_get": `struct { uint32_t n, now; uint64_t hz[32]; uint32_t lanes[32]; } *f = p_bandwidth; memset(f, 0, sizeof *f);
    f->n = 2; f->now = 0; f->hz[0] = 2500000000; f->hz[1] = 16000000000; f->lanes[0] = 8; f->lanes[1] = 16;`,
	}
	if r6 {
		b["rsmi_dev_pci_bandwidth_get"] = strings.NewReplacer("struct { uint32_t n,", "struct { _Bool deep; uint32_t n,", "[32]", "[33]").Replace(b["rsmi_dev_pci_bandwidth_get"])
		b["rsmi_compute_process_info_by_device_get"] = "((uint64_t *)p_proc)[1] = 100 + p_dv_ind;"
		b["rsmi_dev_power_get"] = "*(uint64_t *)p_power = 160000000 + 1000 * p_dv_ind; *(uint32_t *)p_type = 1;"
		b["rsmi_dev_gpu_clk_freq_get"] = strings.Replace(b["rsmi_dev_gpu_clk_freq_get"], "struct { uint32_t n,", "struct { _Bool deep; uint32_t n,", 1)
	}
	return b
}

// TestMonitor asks two AMD GPUs what ROCm SMI tells of them, as of ROCm 6 and of ROCm 5.
func TestMonitor(t *testing.T) {
	for _, v := range []struct {
		name    string
		power   uint32
		second  uint64 // memory that the process with two devices has on this one
		without []string
	}{{"rocm 6", 160002, 102, nil}, {"rocm 5", 150002, 2000, []string{"rsmi_dev_power_get", "rsmi_compute_process_info_by_device_get"}}} {
		t.Run(v.name, func(t *testing.T) {
			smi := libdouble.Build(t, "rsmi", "librocm_smi64.so.7", smiBodies(v.without == nil), v.without...)
			t.Setenv("KUDZU_ROCM_SMI_LIBRARY", smi.Path)
			th, h := onDouble(t)
			u := hostmem.Of(&page[0])
			if err := th.DeviceGetUtilizationRates(h, u); err != nil || hostmem.Load[nv.NvmlUtilization_t](u) != (nv.NvmlUtilization_t{Gpu: 42, Memory: 22}) {
				t.Errorf("utilization %+v, %v", hostmem.Load[nv.NvmlUtilization_t](u), err)
			}
			if err := th.DeviceGetMemoryInfo(h, u); err != nil || hostmem.Load[nv.NvmlMemory_t](u).Used != 1000002 {
				t.Errorf("memory %+v, %v", hostmem.Load[nv.NvmlMemory_t](u), err)
			}
			if s := text(t, func(p hostmem.Ptr, n uint32) error { return th.DeviceGetVbiosVersion(h, p, n) }); s != "113-2" {
				t.Errorf("vbios %q", s)
			}
			if err := th.DeviceGetSerial(h, u, 96); ReturnOf(err) != notSupported { // the double writes nothing
				t.Errorf("serial: %v", err)
			}
			hostmem.Store(u, uint32(8))
			infos := u.Add(64)
			if err := th.DeviceGetComputeRunningProcesses(h, u, infos); err != nil || hostmem.Load[uint32](u) != 2 {
				t.Errorf("%d processes, %v", hostmem.Load[uint32](u), err)
			}
			a, b := hostmem.Load[nv.NvmlProcessInfo_v2_t](infos), hostmem.Load[nv.NvmlProcessInfo_v2_t](infos.Add(24))
			if a.Pid != 700 || a.UsedGpuMemory != 1000 || b.Pid != 701 || b.UsedGpuMemory != v.second {
				t.Errorf("processes %+v, %+v", a, b)
			}
			testSensors(t, th, h, v.power)
			least, most, err := th.DeviceGetPowerManagementLimitConstraints(h)
			if err != nil || least != 100000 || most != 400000 {
				t.Errorf("limits %d to %d, %v", least, most, err)
			}
			testErrors(t, th, h)
			if got := smi.Calls(t); !slices.Contains(got, "rsmi_init 0") || slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "rsmi_dev_power_get 0") }) {
				t.Errorf("calls %q", got)
			}
		})
	}
}

// testSensors asks for single numbers.
func testSensors(t *testing.T, th *Thread, h nv.NvmlDevice_t, power uint32) {
	t.Helper()
	threshold := func(w nv.NvmlTemperatureThresholds_t) func() (uint32, error) {
		return func() (uint32, error) { return th.DeviceGetTemperatureThreshold(h, w) }
	}
	clock := func(f func(nv.NvmlDevice_t, nv.NvmlClockType_t) (uint32, error), k nv.NvmlClockType_t) func() (uint32, error) {
		return func() (uint32, error) { return f(h, k) }
	}
	for _, q := range []struct {
		name string
		ask  func() (uint32, error)
		want uint32
	}{
		{"temperature", func() (uint32, error) { return th.DeviceGetTemperature(h, nv.NVML_TEMPERATURE_GPU) }, 62},
		{"slowdown", threshold(nv.NVML_TEMPERATURE_THRESHOLD_SLOWDOWN), 112}, {"shutdown", threshold(nv.NVML_TEMPERATURE_THRESHOLD_SHUTDOWN), 132},
		{"power", func() (uint32, error) { return th.DeviceGetPowerUsage(h) }, power},
		{"limit", func() (uint32, error) { return th.DeviceGetPowerManagementLimit(h) }, 300000},
		{"default limit", func() (uint32, error) { return th.DeviceGetPowerManagementDefaultLimit(h) }, 310000},
		{"fan", func() (uint32, error) { return th.DeviceGetFanSpeedV2(h, 0) }, 20},
		{"clock", clock(th.DeviceGetClockInfo, nv.NVML_CLOCK_SM), 1700}, {"memory clock", clock(th.DeviceGetClockInfo, nv.NVML_CLOCK_MEM), 900},
		{"highest memory clock", clock(th.DeviceGetMaxClockInfo, nv.NVML_CLOCK_MEM), 1250}, {"replays", func() (uint32, error) { return th.DeviceGetPcieReplayCounter(h) }, 5},
		{"memory temperature", func() (uint32, error) { return th.MemoryTemperature(h) }, 71},
		{"generation", func() (uint32, error) { return th.DeviceGetCurrPcieLinkGeneration(h) }, 1}, {"highest generation", func() (uint32, error) { return th.DeviceGetGpuMaxPcieLinkGeneration(h) }, 4},
		{"speed", func() (uint32, error) { return th.DeviceGetPcieSpeed(h) }, 2500}, {"highest speed", func() (uint32, error) { return th.DeviceGetPcieLinkMaxSpeed(h) }, 4},
		{"lanes", func() (uint32, error) { return th.DeviceGetCurrPcieLinkWidth(h) }, 8}, {"most lanes", func() (uint32, error) { return th.DeviceGetMaxPcieLinkWidth(h) }, 16},
	} {
		if got, err := q.ask(); err != nil || got != q.want {
			t.Errorf("%s: %d, %v, want %d", q.name, got, err, q.want)
		}
	}
}

// testErrors asks for energy, and for the errors of memory and other parts, one by one and as fields.
func testErrors(t *testing.T, th *Thread, h nv.NvmlDevice_t) {
	t.Helper()
	u := hostmem.Of(&page[0])
	const corrected, uncorrected, volatile, aggregate = nv.NVML_MEMORY_ERROR_TYPE_CORRECTED, nv.NVML_MEMORY_ERROR_TYPE_UNCORRECTED, nv.NVML_VOLATILE_ECC, nv.NVML_AGGREGATE_ECC
	total := func(k nv.NvmlMemoryErrorType_t, c nv.NvmlEccCounterType_t) func() (uint64, error) {
		return func() (uint64, error) { return th.DeviceGetTotalEccErrors(h, k, c) }
	}
	memory := func(w nv.NvmlMemoryLocation_t) func() (uint64, error) {
		return func() (uint64, error) { return th.DeviceGetMemoryErrorCounter(h, uncorrected, volatile, w) }
	}
	for _, q := range []struct {
		name string
		ask  func() (uint64, error)
		want uint64
		code error
	}{
		{"energy", func() (uint64, error) { return th.DeviceGetTotalEnergyConsumption(h) }, 45900000, nil},
		{"corrected", total(corrected, volatile), 0x2005, nil}, {"uncorrected", total(uncorrected, volatile), 3 * 0x2005, nil}, {"of a lifetime", total(corrected, aggregate), 0, notSupported},
		{"of no kind", total(9, volatile), 0, invalidArgument}, {"in memory", memory(nv.NVML_MEMORY_LOCATION_DRAM), 3, nil}, {"in a cache", memory(nv.NVML_MEMORY_LOCATION_L2_CACHE), 0, notSupported},
	} {
		if got, err := q.ask(); err != q.code || got != q.want {
			t.Errorf("%s: %d, %v, want %d, %v", q.name, got, err, q.want, q.code)
		}
	}
	if now, next, err := th.DeviceGetEccMode(h); err != nil || now != nv.NVML_FEATURE_ENABLED || next != now {
		t.Errorf("correction %v, %v, %v", now, next, err)
	}
	for i, id := range []uint32{fieldECC, fieldCorrected, fieldUncorrected, fieldMemoryDegrees, fieldEnergy} {
		hostmem.Store(u.Index(i, 40), nv.NvmlFieldValue_t{FieldId: id, NvmlReturn: nv.NVML_ERROR_UNKNOWN})
	}
	if err := th.DeviceGetFieldValues(h, 5, u); err != nil {
		t.Error(err)
	}
	for i, want := range []uint64{1, 0x2005, 3 * 0x2005, 71} {
		if f := hostmem.Load[nv.NvmlFieldValue_t](u.Index(i, 40)); f.NvmlReturn != nv.NVML_SUCCESS || *f.Value.UllVal() != want {
			t.Errorf("field %d: %+v, want %d", f.FieldId, f, want)
		}
	}
}

// TestNoMonitor: without the library nothing is made up, least of all from the processor's sensors.
func TestNoMonitor(t *testing.T) {
	t.Setenv("KUDZU_ROCM_SMI_LIBRARY", "/nonexistent/librocm_smi64.so.7")
	th, h := onDouble(t)
	if _, err := th.DeviceGetTemperature(h, nv.NVML_TEMPERATURE_GPU); ReturnOf(err) != notSupported {
		t.Errorf("temperature: %v", err)
	}
	if err := th.DeviceGetUtilizationRates(h, hostmem.Of(&page[0])); ReturnOf(err) != notSupported {
		t.Errorf("utilization: %v", err)
	}
	if err := th.DeviceGetMemoryInfo(h, hostmem.Of(&page[0])); err != nil {
		t.Errorf("memory: %v", err)
	}
}

// onDouble is the first of two devices of the double of HIP.
func onDouble(t *testing.T) (*Thread, nv.NvmlDevice_t) {
	t.Helper()
	t.Setenv("KUDZU_DOUBLE_DEVICES", "gfx1100,gfx1201")
	t.Setenv("KUDZU_BACKEND", "hip")
	lib := hipdouble.Build(t)
	driver.Start([]backend.Backend{hip.New(hip.Config{Compiler: hipdouble.NewInterpreted(t, lib), Library: lib})})
	th := new(Thread)
	if err := th.Init(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = th.Shutdown() }) // every test has its own
	h, err := th.DeviceGetHandleByIndex(0)
	if err != nil {
		t.Fatal(err)
	}
	return th, h
}
