package nvml

import (
	"kudzu/internal/backend"
	"kudzu/internal/spec/nv"
)

// The bus that a device is on, and the errors of its memory: as its monitor says. A processor has neither, but programs (XLA) that
// find a device ask how fast its bus is and complain where there is no answer: it says what GPUs of its compute capability have.

// rates are the speeds of PCIe by generation, in million transfers a second.
var rates = []uint32{0, 2500, 5000, 8000, 16000, 32000, 64000}

// lanesOfGPU is how many lanes GPUs of every generation have.
const lanesOfGPU = 16

// link is what a device's monitor says of its bus; of a processor, what a GPU of the same compute capability has.
func (t *Thread) link(h nv.NvmlDevice_t, s backend.Sensor) (uint32, error) {
	if m, err := t.monitor(h); err != nil || m != nil {
		return t.sense(h, s)
	}
	in, err := t.infoOf(h)
	switch {
	case err != nil:
		return 0, err
	case s == backend.SensorLinkWidth || s == backend.SensorLinkWidthMax:
		return lanesOfGPU, nil
	case in.Major < 8:
		return rates[3], nil
	case in.Major < 9:
		return rates[4], nil
	}
	return rates[5], nil
}

// generation is that of a speed.
func generation(rate uint32, err error) (uint32, error) {
	g := uint32(0)
	for i, r := range rates {
		if rate >= r {
			g = uint32(i)
		}
	}
	if err == nil && g == 0 {
		err = notSupported
	}
	return g, err
}

// DeviceGetCurrPcieLinkGeneration is of the speed now.
func (t *Thread) DeviceGetCurrPcieLinkGeneration(h nv.NvmlDevice_t) (uint32, error) {
	return generation(t.link(h, backend.SensorLinkRate))
}

// DeviceGetMaxPcieLinkGeneration is of the highest speed.
func (t *Thread) DeviceGetMaxPcieLinkGeneration(h nv.NvmlDevice_t) (uint32, error) {
	return generation(t.link(h, backend.SensorLinkRateMax))
}

// DeviceGetGpuMaxPcieLinkGeneration is the same: what the board could do beyond that is not told.
func (t *Thread) DeviceGetGpuMaxPcieLinkGeneration(h nv.NvmlDevice_t) (uint32, error) {
	return t.DeviceGetMaxPcieLinkGeneration(h)
}

// DeviceGetPcieLinkMaxSpeed has a number for each speed: its generation.
func (t *Thread) DeviceGetPcieLinkMaxSpeed(h nv.NvmlDevice_t) (uint32, error) {
	return t.DeviceGetMaxPcieLinkGeneration(h)
}

// DeviceGetPcieSpeed is in million transfers a second.
func (t *Thread) DeviceGetPcieSpeed(h nv.NvmlDevice_t) (uint32, error) {
	return t.link(h, backend.SensorLinkRate)
}

// DeviceGetCurrPcieLinkWidth is how many lanes are in use.
func (t *Thread) DeviceGetCurrPcieLinkWidth(h nv.NvmlDevice_t) (uint32, error) {
	return t.link(h, backend.SensorLinkWidth)
}

// DeviceGetMaxPcieLinkWidth is how many there are.
func (t *Thread) DeviceGetMaxPcieLinkWidth(h nv.NvmlDevice_t) (uint32, error) {
	return t.link(h, backend.SensorLinkWidthMax)
}

// DeviceGetEccMode is whether memory corrects errors, now and after the next start.
func (t *Thread) DeviceGetEccMode(h nv.NvmlDevice_t) (current, pending nv.NvmlEnableState_t, err error) {
	on, err := t.sense(h, backend.SensorECC)
	return nv.NvmlEnableState_t(on), nv.NvmlEnableState_t(on), err
}

// errors counts since the driver was loaded; nobody has counts of a lifetime.
func (t *Thread) errors(h nv.NvmlDevice_t, kind nv.NvmlMemoryErrorType_t, since nv.NvmlEccCounterType_t, corrected, uncorrected backend.Sensor) (uint64, error) {
	if _, err := t.device(h); err != nil {
		return 0, err
	}
	switch {
	case kind < 0 || kind >= nv.NVML_MEMORY_ERROR_TYPE_COUNT || since < 0 || since >= nv.NVML_ECC_COUNTER_TYPE_COUNT:
		return 0, invalidArgument
	case since != nv.NVML_VOLATILE_ECC:
		return 0, notSupported
	case kind == nv.NVML_MEMORY_ERROR_TYPE_CORRECTED:
		return t.tell(h, corrected)
	}
	return t.tell(h, uncorrected)
}

// DeviceGetTotalEccErrors is of all parts.
func (t *Thread) DeviceGetTotalEccErrors(h nv.NvmlDevice_t, kind nv.NvmlMemoryErrorType_t, since nv.NvmlEccCounterType_t) (uint64, error) {
	return t.errors(h, kind, since, backend.SensorCorrected, backend.SensorUncorrected)
}

// DeviceGetMemoryErrorCounter is of one: memory.
func (t *Thread) DeviceGetMemoryErrorCounter(h nv.NvmlDevice_t, kind nv.NvmlMemoryErrorType_t, since nv.NvmlEccCounterType_t, where nv.NvmlMemoryLocation_t) (uint64, error) {
	if _, err := t.device(h); err != nil {
		return 0, err
	}
	switch {
	case where < 0 || where >= nv.NVML_MEMORY_LOCATION_COUNT:
		return 0, invalidArgument
	case where != nv.NVML_MEMORY_LOCATION_DEVICE_MEMORY:
		return 0, notSupported
	}
	return t.errors(h, kind, since, backend.SensorMemoryCorrected, backend.SensorMemoryUncorrected)
}

// MemoryTemperature is in degrees.
func (t *Thread) MemoryTemperature(h nv.NvmlDevice_t) (uint32, error) {
	return t.sense(h, backend.SensorMemoryTemperature)
}
