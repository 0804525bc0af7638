package main

import (
	"fmt"
	"slices"
	"strings"

	"kudzu/internal/shim/nvml"
	"kudzu/internal/spec/nv"
)

// gpuFields are what --query-gpu knows. The log of -q takes its values from here, too; names that begin with a point are its own.
var gpuFields = slices.Concat(answered, unansweredFields())

var answered = []field[card]{
	own("timestamp", "", func(card) string { return smiNow().Format("2006/01/02 15:04:05.000") }),
	own("driver_version", "", func(card) string { return nvml.DriverVersion() }),
	own("count", "", func(c card) string { return fmt.Sprint(c.count) }),
	own("name|gpu_name", "", card.name),
	own("serial|gpu_serial", "", func(c card) string { return known(c.th.Written(c.dev, "serial")) }),
	own("uuid|gpu_uuid", "", card.uuid),
	own("pci.bus_id|gpu_bus_id", "", card.bus),
	own("pci.domain", "", func(c card) string { return c.place(0, "0x%04X") }),
	own("pci.bus", "", func(c card) string { return c.place(1, "0x%02X") }),
	own("pci.device", "", func(c card) string { return c.place(2, "0x%02X") }),
	own("index", "", func(c card) string { return fmt.Sprint(c.dev) }),
	own("display_mode", "", func(c card) string { return deprecated }),
	own("display_attached", "", func(c card) string { return "No" }),
	own("display_active", "", func(c card) string { return state(c.th.DeviceGetDisplayActive(c.h)) }),
	own("persistence_mode", "", func(c card) string { return state(c.th.DeviceGetPersistenceMode(c.h)) }),
	own("addressing_mode", "", card.addressing),
	own("accounting.mode", "", func(c card) string { return state(c.th.DeviceGetAccountingMode(c.h)) }),
	own("accounting.buffer_size", "", func(c card) string { return "0" }),
	own("vbios_version", "", func(c card) string { return known(c.th.Written(c.dev, "vbios")) }),
	own("gpu_recovery_action", "", func(c card) string { return "None" }),
	own("pcie.link.gen.current", "", func(c card) string { return digits(c.th.DeviceGetCurrPcieLinkGeneration(c.h)) }),
	own("pcie.link.gen.gpucurrent", "", func(c card) string { return digits(c.th.DeviceGetCurrPcieLinkGeneration(c.h)) }),
	own("pcie.link.gen.max", "", func(c card) string { return digits(c.th.DeviceGetMaxPcieLinkGeneration(c.h)) }),
	own("pcie.link.gen.gpumax", "", func(c card) string { return digits(c.th.DeviceGetGpuMaxPcieLinkGeneration(c.h)) }),
	own("pcie.link.width.current", "", func(c card) string { return digits(c.th.DeviceGetCurrPcieLinkWidth(c.h)) }),
	own("pcie.link.width.max", "", func(c card) string { return digits(c.th.DeviceGetMaxPcieLinkWidth(c.h)) }),
	own(".link_widths.current", "", func(c card) string { return lanes(c.th.DeviceGetCurrPcieLinkWidth(c.h)) }),
	own(".link_widths.max", "", func(c card) string { return lanes(c.th.DeviceGetMaxPcieLinkWidth(c.h)) }),
	own("ecc.mode.current", "", card.ecc), own("ecc.mode.pending", "", card.ecc),
	eccErrors("corrected", "total", nv.NVML_MEMORY_ERROR_TYPE_CORRECTED), eccErrors("uncorrected", "total", nv.NVML_MEMORY_ERROR_TYPE_UNCORRECTED),
	eccErrors("corrected", "dram", nv.NVML_MEMORY_ERROR_TYPE_CORRECTED), eccErrors("uncorrected", "dram", nv.NVML_MEMORY_ERROR_TYPE_UNCORRECTED),
	eccErrors("corrected", "device_memory", nv.NVML_MEMORY_ERROR_TYPE_CORRECTED), eccErrors("uncorrected", "device_memory", nv.NVML_MEMORY_ERROR_TYPE_UNCORRECTED),
	own("fan.speed", "%", func(c card) string { return digits(c.th.DeviceGetFanSpeed(c.h)) }),
	own("pstate", "", card.pstate),
	own("clocks_event_reasons.supported|clocks_throttle_reasons.supported", "", func(c card) string {
		v, err := c.th.DeviceGetSupportedClocksEventReasons(c.h)
		return known(fmt.Sprintf("0x%016x", v), err)
	}),
	own("clocks_event_reasons.active|clocks_throttle_reasons.active", "", func(c card) string {
		v, err := c.th.DeviceGetCurrentClocksEventReasons(c.h)
		return known(fmt.Sprintf("0x%016x", v), err)
	}),
	reason("gpu_idle", 0), reason("applications_clocks_setting", 1), reason("sw_power_cap", 2), reason("hw_slowdown", 3), reason("sync_boost", 4),
	reason("sw_thermal_slowdown", 5), reason("hw_thermal_slowdown", 6), reason("hw_power_brake_slowdown", 7),
	own(".display_reason", "", func(c card) string { return c.reason(8) }),
	counter("sw_power_cap"), counter("sync_boost"), counter("sw_thermal_slowdown"), counter("hw_thermal_slowdown"), counter("hw_power_brake_slowdown"),
	own("memory.total", "MiB", card.total), own("memory.used", "MiB", card.used), own("memory.free", "MiB", card.free),
	own("memory.reserved", "MiB", func(c card) string { return "0" }),
	own("compute_mode", "", card.computeMode), own("compute_cap", "", card.capability),
	own("utilization.gpu", "%", card.busy), own("utilization.memory", "%", card.memoryBusy),
	own("utilization.encoder", "%", zero), own("utilization.decoder", "%", zero), own("utilization.jpeg", "%", zero), own("utilization.ofa", "%", zero),
	own("encoder.stats.sessionCount", "", zero), own("encoder.stats.averageFps", "", zero), own("encoder.stats.averageLatency", "", zero),
	own("temperature.gpu", "", card.temperature), own(".temperature", "C", card.temperature),
	own("temperature.memory", "", card.memoryTemperature), own(".memory_temperature", "C", card.memoryTemperature),
	own("power.management", "", func(c card) string { return state(c.th.DeviceGetPowerManagementMode(c.h)) }),
	own("power.draw", "W", card.power), own("power.draw.average|gpu.power.draw.average", "W", card.power), own("power.draw.instant|gpu.power.draw.instant", "W", card.power),
	own("power.limit|gpu.power.requested_limit", "W", card.limit), own("enforced.power.limit|gpu.power.current_limit", "W", card.limit),
	own("power.default_limit|gpu.power.default_limit", "W", func(c card) string { return watts(c.th.DeviceGetPowerManagementDefaultLimit(c.h)) }),
	own("power.min_limit|gpu.power.min_limit", "W", func(c card) string { return c.limits(0) }),
	own("power.max_limit|gpu.power.max_limit", "W", func(c card) string { return c.limits(1) }),
	own("clocks.current.graphics|clocks.gr", "MHz", func(c card) string { return c.clock(nv.NVML_CLOCK_GRAPHICS) }),
	own("clocks.current.sm|clocks.sm", "MHz", func(c card) string { return c.clock(nv.NVML_CLOCK_SM) }),
	own("clocks.current.memory|clocks.mem", "MHz", func(c card) string { return c.clock(nv.NVML_CLOCK_MEM) }),
	own("clocks.current.video|clocks.video", "MHz", func(c card) string { return c.clock(nv.NVML_CLOCK_VIDEO) }),
	own("clocks.max.graphics|clocks.max.gr", "MHz", func(c card) string { return c.maxClock(nv.NVML_CLOCK_GRAPHICS) }),
	own("clocks.max.sm", "MHz", func(c card) string { return c.maxClock(nv.NVML_CLOCK_SM) }),
	own("clocks.max.memory|clocks.max.mem", "MHz", func(c card) string { return c.maxClock(nv.NVML_CLOCK_MEM) }),
	own("mig.mode.current", "", card.mig), own("mig.mode.pending", "", card.mig),
	own("c2c.mode", "", func(card) string { return "Disabled" }),
	own("protected_memory.total", "MiB", zero), own("protected_memory.used", "MiB", zero), own("protected_memory.free", "MiB", zero),
	own(".brand", "", func(card) string { return "Unknown" }), own(".architecture", "", card.architecture),
	own(".minor", "", func(c card) string { return digits(c.th.DeviceGetMinorNumber(c.h)) }),
	own(".board", "", func(c card) string {
		id, err := c.th.DeviceGetBoardId(c.h)
		return known(fmt.Sprintf("0x%x", id), err)
	}),
	own(".boards", "", func(c card) string {
		n, err := c.th.DeviceGetMultiGpuBoard(c.h)
		return known([]string{"No", "Yes"}[min(n, 1)], err)
	}),
	own(".replays", "", func(c card) string { return digits(c.th.DeviceGetPcieReplayCounter(c.h)) }),
	own(".boost", "MHz", func(c card) string { return digits(c.th.DeviceGetMaxCustomerBoostClock(c.h, nv.NVML_CLOCK_GRAPHICS)) }),
	own(".bus_hex", "", func(c card) string { return c.place(1, "%02X") }), own(".slot_hex", "", func(c card) string { return c.place(2, "%02X") }),
	own(".domain_hex", "", func(c card) string { return c.place(0, "%04X") }),
}

// deprecated is the value of a field that drivers no longer tell.
const deprecated = "Requested functionality has been deprecated"

func zero(card) string { return "0" }

// own is a field with its names, split at bars.
func own(names, unit string, get func(card) string) field[card] {
	return field[card]{names: strings.Split(names, "|"), unit: unit, get: get}
}

func reason(name string, bit int) field[card] {
	return own("clocks_event_reasons."+name+"|clocks_throttle_reasons."+name, "", func(c card) string { return c.reason(bit) })
}

// eccErrors is a count since the driver was loaded, of all parts or of memory.
func eccErrors(class, where string, kind nv.NvmlMemoryErrorType_t) field[card] {
	return own("ecc.errors."+class+".volatile."+where, "", func(c card) string {
		if where == "total" {
			return c.errors(kind)
		}
		return digits(c.th.DeviceGetMemoryErrorCounter(c.h, kind, nv.NVML_VOLATILE_ECC, nv.NVML_MEMORY_LOCATION_DEVICE_MEMORY))
	})
}

func counter(name string) field[card] { return own("clocks_event_reasons_counters."+name, "us", zero) }

// unansweredFields are those that no device here has an answer to.
func unansweredFields() []field[card] {
	var all []field[card]
	for _, s := range strings.Split(strings.TrimSpace(unansweredNames), "\n") {
		all = append(all, unanswered[card](s))
	}
	for _, class := range []string{"corrected", "uncorrected"} {
		for _, since := range []string{"volatile", "aggregate"} {
			for _, where := range []string{"device_memory", "dram", "register_file", "l1_cache", "l2_cache", "texture_memory", "cbu", "sram", "total"} {
				name := "ecc.errors." + class + "." + since + "." + where
				if !slices.ContainsFunc(answered, func(f field[card]) bool { return f.names[0] == name }) {
					all = append(all, unanswered[card](name))
				}
			}
		}
	}
	return all
}

const unansweredNames = `
vgpu_driver_capability.heterogenous_multivGPU
pci.baseClass
pci.subClass
pci.device_id
pci.sub_device_id
vgpu_device_capability.fractional_multiVgpu
vgpu_device_capability.heterogeneous_timeSlice_profile
vgpu_device_capability.heterogeneous_timeSlice_sizes
vgpu_device_capability.homogeneous_placements
vgpu_device_capability.mig_timeSlicing
vgpu_device_capability.mig_timeSlicing_mode
pcie.link.gen.hostmax
driver_model.current
driver_model.pending
inforom.img|inforom.image
inforom.oem
inforom.ecc
inforom.pwr|inforom.power
inforom.checksum_validation
gom.current|gpu_operation_mode.current
gom.pending|gpu_operation_mode.pending
dramEncryption.mode.current
dramEncryption.mode.pending
ecc.errors.uncorrected.volatile.sram.parity
ecc.errors.uncorrected.volatile.sram.secded
ecc.errors.uncorrected.aggregate.sram.parity
ecc.errors.uncorrected.aggregate.sram.secded
ecc.errors.uncorrected.aggregate.sram.thresholdExceeded
ecc.errors.uncorrected.aggregate.sram.l2
ecc.errors.uncorrected.aggregate.sram.sm
ecc.errors.uncorrected.aggregate.sram.mcu
ecc.errors.uncorrected.aggregate.sram.pcie
ecc.errors.uncorrected.aggregate.sram.other
retired_pages.single_bit_ecc.count|retired_pages.sbe
retired_pages.double_bit.count|retired_pages.dbe
retired_pages.pending
remapped_rows.correctable|remapped_rows.sbe
remapped_rows.correctable_inactive
remapped_rows.uncorrectable|remapped_rows.dbe
remapped_rows.uncorrectable_inactive
remapped_rows.pending
remapped_rows.failure
remapped_rows.histogram.max
remapped_rows.histogram.high
remapped_rows.histogram.partial
remapped_rows.histogram.low
remapped_rows.histogram.none
temperature.gpu.tlimit
module.power.draw.average [W]
module.power.draw.instant [W]
module.power.limit|module.power.requested_limit [W]
module.enforced.power.limit|module.power.current_limit [W]
module.power.default_limit [W]
module.power.min_limit [W]
module.power.max_limit [W]
power_smoothing.delayed_power_smoothing_supported
power_smoothing.primary_power_floor
power_smoothing.secondary_power_floor
power_smoothing.min_primary_floor_activation_offset
power_smoothing.min_primary_floor_activation_point
power_smoothing.window_multiplier
power_smoothing.curr_profile.secondary_power_floor
power_smoothing.curr_profile.primary_floor_act_window_multiplier
power_smoothing.curr_profile.primary_floor_tar_window_multiplier
power_smoothing.curr_profile.primary_floor_act_offset
power_smoothing.admin_override.secondary_power_floor
power_smoothing.admin_override.primary_floor_act_window_multiplier
power_smoothing.admin_override.primary_floor_tar_window_multiplier
power_smoothing.admin_override.primary_floor_act_offset
clocks.applications.graphics|clocks.applications.gr [MHz]
clocks.applications.memory|clocks.applications.mem [MHz]
clocks.default_applications.graphics|clocks.default_applications.gr [MHz]
clocks.default_applications.memory|clocks.default_applications.mem [MHz]
gsp.mode.current
gsp.mode.default
fabric.state
fabric.status
fabric.cliqueId
fabric.clusterUuid
fabric.health.summary
fabric.health.bandwidth
fabric.health.route_recovery_in_progress
fabric.health.route_unhealthy
fabric.health.access_timeout_recovery
fabric.health.incorrect_configuration
fabric.health.partition_assigned
platform.chassis_serial_number
platform.slot_number
platform.tray_index
platform.host_id
platform.peer_type
platform.module_id
platform.gpu_fabric_guid
hostname
`
