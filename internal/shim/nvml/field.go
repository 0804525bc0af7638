package nvml

import (
	"time"

	"kudzu/internal/backend"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/nv"
)

// Fields: one call for many questions, each with an answer and a code of its own.

// The numbers of fields that a device here has an answer to.
const (
	fieldECC            = 1
	fieldECCPending     = 2
	fieldCorrected      = 3
	fieldUncorrected    = 4
	fieldMemoryDegrees  = 82
	fieldPolicyFirst    = 74 // time below each limit's clock, in nanoseconds
	fieldPolicyLast     = 79
	fieldEnergy         = 83
	fieldLinks          = 91
	fieldReplays        = 94
	fieldPowerAverage   = 185
	fieldPowerNow       = 186
	fieldPowerMin       = 187
	fieldPowerMax       = 188
	fieldPowerDefault   = 189
	fieldPowerCurrent   = 190
	fieldEnergyToo      = 191
	fieldPowerRequested = 192
	fieldEnd            = 308 // no fields of driver 615 from here on
)

// field answers one.
func (t *Thread) field(h nv.NvmlDevice_t, id uint32) (uint64, nv.NvmlValueType_t, error) {
	narrow := func(v uint32, err error) (uint64, nv.NvmlValueType_t, error) {
		return uint64(v), nv.NVML_VALUE_TYPE_UNSIGNED_INT, err
	}
	const wide = nv.NVML_VALUE_TYPE_UNSIGNED_LONG_LONG
	switch id {
	case fieldEnergy, fieldEnergyToo:
		v, err := t.DeviceGetTotalEnergyConsumption(h)
		return v, wide, err
	case fieldECC, fieldECCPending:
		return narrow(t.sense(h, backend.SensorECC))
	case fieldCorrected:
		v, err := t.tell(h, backend.SensorCorrected)
		return v, wide, err
	case fieldUncorrected:
		v, err := t.tell(h, backend.SensorUncorrected)
		return v, wide, err
	case fieldMemoryDegrees:
		return narrow(t.MemoryTemperature(h))
	case fieldLinks:
		return narrow(0, nil)
	case fieldReplays:
		return narrow(t.DeviceGetPcieReplayCounter(h))
	case fieldPowerAverage, fieldPowerNow:
		return narrow(t.DeviceGetPowerUsage(h))
	case fieldPowerMin:
		return narrow(t.sense(h, backend.SensorPowerMin))
	case fieldPowerMax:
		return narrow(t.sense(h, backend.SensorPowerMax))
	case fieldPowerDefault:
		return narrow(t.DeviceGetPowerManagementDefaultLimit(h))
	case fieldPowerCurrent, fieldPowerRequested:
		return narrow(t.DeviceGetPowerManagementLimit(h))
	}
	switch {
	case id >= fieldPolicyFirst && id <= fieldPolicyLast:
		return 0, wide, nil
	case id == 0 || id >= fieldEnd:
		return 0, 0, invalidArgument
	}
	return 0, 0, notSupported
}

// fields are the questions of a call.
func (t *Thread) fields(h nv.NvmlDevice_t, n int32, p hostmem.Ptr) ([]nv.NvmlFieldValue_t, error) {
	if err := t.given(h, p); err != nil {
		return nil, err
	}
	if n <= 0 {
		return nil, invalidArgument
	}
	return hostmem.Slice[nv.NvmlFieldValue_t](p, int(n)), nil
}

// DeviceGetFieldValues answers each field, or says why not.
func (t *Thread) DeviceGetFieldValues(h nv.NvmlDevice_t, n int32, p hostmem.Ptr) error {
	all, err := t.fields(h, n, p)
	if err != nil {
		return err
	}
	for i := range all {
		f := &all[i]
		began := time.Now()
		value, kind, err := t.field(h, f.FieldId)
		f.NvmlReturn = nv.NVML_SUCCESS
		if err != nil {
			f.NvmlReturn = nv.NvmlReturn_t(ReturnOf(err))
			continue
		}
		f.Timestamp, f.LatencyUsec, f.ValueType = began.UnixMicro(), time.Since(began).Microseconds(), kind
		*f.Value.UllVal() = value
	}
	return nil
}

// DeviceClearFieldValues: no field of ours can be cleared.
func (t *Thread) DeviceClearFieldValues(h nv.NvmlDevice_t, n int32, p hostmem.Ptr) error {
	all, err := t.fields(h, n, p)
	if err != nil {
		return err
	}
	for i := range all {
		all[i].NvmlReturn = nv.NVML_ERROR_NOT_SUPPORTED
	}
	return nil
}
