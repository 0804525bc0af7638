package nvml

import (
	"cmp"
	"errors"

	"kudzu/internal/backend"
	"kudzu/internal/hostmem"
	"kudzu/internal/roster"
	"kudzu/internal/spec/nv"
)

// What a device tells of itself through a library of its vendor: ROCm SMI on AMD GPUs. A processor has none of it.

// monitor is a device's, nil where it has none.
func (t *Thread) monitor(h nv.NvmlDevice_t) (backend.Monitor, error) {
	dev, err := t.device(h)
	if err != nil {
		return nil, err
	}
	return t.watch(dev)
}

// tell asks a device's monitor; NOT_SUPPORTED where it has none, or that sensor is missing.
func (t *Thread) tell(h nv.NvmlDevice_t, s backend.Sensor) (uint64, error) {
	m, err := t.monitor(h)
	if err != nil {
		return 0, err
	}
	if m == nil {
		return 0, notSupported
	}
	v, err := m.Sense(s)
	return v, told(err)
}

// sense is tell for what NVML has 32 bits for.
func (t *Thread) sense(h nv.NvmlDevice_t, s backend.Sensor) (uint32, error) {
	v, err := t.tell(h, s)
	return uint32(v), err
}

// told is NVML's answer for what a monitor said.
func told(err error) error {
	if errors.Is(err, backend.ErrNoSensor) {
		return notSupported
	}
	return err
}

// DeviceGetPowerUsage is in milliwatts; of a processor, that of its packages where the system tells.
func (t *Thread) DeviceGetPowerUsage(h nv.NvmlDevice_t) (uint32, error) {
	return t.power(h, backend.SensorPower, meter.Microwatts)
}

// power is what a device's monitor says, or what the system says of the processors.
func (t *Thread) power(h nv.NvmlDevice_t, s backend.Sensor, own func() (uint64, bool)) (uint32, error) {
	if m, err := t.monitor(h); err != nil || m != nil {
		return t.sense(h, s)
	}
	microwatts, ok := own()
	if !ok {
		return 0, notSupported
	}
	return uint32(microwatts / 1000), nil
}

// DeviceGetTotalEnergyConsumption is in millijoules; of the processors where the system tells.
func (t *Thread) DeviceGetTotalEnergyConsumption(h nv.NvmlDevice_t) (uint64, error) {
	if m, err := t.monitor(h); err != nil || m != nil {
		return t.tell(h, backend.SensorEnergy)
	}
	microjoules, ok := roster.Energy()
	if !ok {
		return 0, notSupported
	}
	return microjoules / 1000, nil
}

// DeviceGetPowerManagementLimit is what the device may use, in milliwatts.
func (t *Thread) DeviceGetPowerManagementLimit(h nv.NvmlDevice_t) (uint32, error) {
	return t.power(h, backend.SensorPowerLimit, roster.PowerLimit)
}

// DeviceGetEnforcedPowerLimit is the same: one limit is all there is.
func (t *Thread) DeviceGetEnforcedPowerLimit(h nv.NvmlDevice_t) (uint32, error) {
	return t.DeviceGetPowerManagementLimit(h)
}

// DeviceGetPowerManagementMode: where there is a limit, it holds.
func (t *Thread) DeviceGetPowerManagementMode(h nv.NvmlDevice_t) (nv.NvmlEnableState_t, error) {
	_, err := t.DeviceGetPowerManagementLimit(h)
	return nv.NVML_FEATURE_ENABLED, err
}

// DeviceGetPowerManagementDefaultLimit is the limit that the device began with.
func (t *Thread) DeviceGetPowerManagementDefaultLimit(h nv.NvmlDevice_t) (uint32, error) {
	return t.sense(h, backend.SensorPowerDefault)
}

// DeviceGetPowerManagementLimitConstraints is what the limit may be set to.
func (t *Thread) DeviceGetPowerManagementLimitConstraints(h nv.NvmlDevice_t) (least, most uint32, err error) {
	if least, err = t.sense(h, backend.SensorPowerMin); err != nil {
		return 0, 0, err
	}
	most, err = t.sense(h, backend.SensorPowerMax)
	return least, most, err
}

// DeviceGetFanSpeed is in percent of the highest.
func (t *Thread) DeviceGetFanSpeed(h nv.NvmlDevice_t) (uint32, error) {
	return t.sense(h, backend.SensorFan)
}

// DeviceGetTemperatureThreshold is where the clock falls, or the device stops.
func (t *Thread) DeviceGetTemperatureThreshold(h nv.NvmlDevice_t, which nv.NvmlTemperatureThresholds_t) (uint32, error) {
	switch which {
	case nv.NVML_TEMPERATURE_THRESHOLD_SLOWDOWN:
		return t.sense(h, backend.SensorSlowdown)
	case nv.NVML_TEMPERATURE_THRESHOLD_SHUTDOWN:
		return t.sense(h, backend.SensorShutdown)
	}
	if _, err := t.device(h); err != nil {
		return 0, err
	}
	if which < 0 || which >= nv.NVML_TEMPERATURE_THRESHOLD_COUNT {
		return 0, invalidArgument
	}
	return 0, notSupported
}

// DeviceGetPcieReplayCounter counts packets that were sent again.
func (t *Thread) DeviceGetPcieReplayCounter(h nv.NvmlDevice_t) (uint32, error) {
	return t.sense(h, backend.SensorReplays)
}

// written is a text that the device has on it.
func (t *Thread) written(h nv.NvmlDevice_t, what string, p hostmem.Ptr, n uint32) error {
	return t.say(h, p, n, func(dev int32) (string, error) { return t.Written(dev, what) })
}

// Written is a text that a device has on it: its serial number, or the version of its firmware.
func (t *Thread) Written(dev int32, what string) (string, error) {
	m, err := t.watch(dev)
	if err != nil {
		return "", err
	}
	if m == nil {
		return "", notSupported
	}
	text, err := m.Text(what)
	return text, told(err)
}

// DeviceGetSerial is the serial number.
func (t *Thread) DeviceGetSerial(h nv.NvmlDevice_t, p hostmem.Ptr, n uint32) error {
	return t.written(h, "serial", p, n)
}

// DeviceGetVbiosVersion is the version of the firmware.
func (t *Thread) DeviceGetVbiosVersion(h nv.NvmlDevice_t, p hostmem.Ptr, n uint32) error {
	return t.written(h, "vbios", p, n)
}

// DeviceGetNumFans is one where a monitor tells its speed.
func (t *Thread) DeviceGetNumFans(h nv.NvmlDevice_t) (uint32, error) {
	_, err := t.sense(h, backend.SensorFan)
	if err == error(notSupported) {
		return 0, nil
	}
	return 1, err
}

// fan checks the number of a fan.
func (t *Thread) fan(h nv.NvmlDevice_t, fan uint32) error {
	n, err := t.DeviceGetNumFans(h)
	if err == nil && fan >= n {
		err = invalidArgument
	}
	return err
}

// DeviceGetFanSpeedV2 is the same of one fan; one is all that is told apart.
func (t *Thread) DeviceGetFanSpeedV2(h nv.NvmlDevice_t, fan uint32) (uint32, error) {
	if err := t.fan(h, fan); err != nil {
		return 0, err
	}
	return t.DeviceGetFanSpeed(h)
}

// DeviceGetTargetFanSpeed: nobody asks a fan for a speed.
func (t *Thread) DeviceGetTargetFanSpeed(h nv.NvmlDevice_t, fan uint32) (uint32, error) {
	return 0, cmp.Or(t.fan(h, fan), error(notSupported))
}

// DeviceGetFanControlPolicy: and nobody but the device governs it.
func (t *Thread) DeviceGetFanControlPolicy(h nv.NvmlDevice_t, fan uint32) (uint32, error) {
	return 0, cmp.Or(t.fan(h, fan), error(notSupported))
}

// DeviceGetMinMaxFanSpeed: nor are its bounds known.
func (t *Thread) DeviceGetMinMaxFanSpeed(h nv.NvmlDevice_t) (least, most uint32, err error) {
	return 0, 0, cmp.Or(t.fan(h, 0), error(notSupported))
}
