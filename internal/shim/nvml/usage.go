package nvml

import (
	"maps"
	"slices"
	"time"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/nv"
)

// How much of a device each process uses, and samples of what is measured.

// stamp is a time as NVML writes it.
func stamp(at time.Time) uint64 { return uint64(at.UnixMicro()) }

// Shares is what of a device's time each process has, in percent, and when that was measured. GPUs do not tell.
func (t *Thread) Shares(h nv.NvmlDevice_t) (map[int]int, time.Time, error) {
	m, err := t.monitor(h)
	if err != nil {
		return nil, time.Time{}, err
	}
	if m != nil {
		return nil, time.Time{}, notSupported
	}
	_, each, at := sampler.Shares()
	return each, at, nil
}

// share is a process's part of a device's time.
type share struct {
	pid     uint32
	at      uint64
	percent uint32
}

// since are the shares measured after a time; NOT_FOUND if there are none.
func (t *Thread) since(h nv.NvmlDevice_t, last uint64) ([]share, error) {
	each, at, err := t.Shares(h)
	if err != nil {
		return nil, err
	}
	var all []share
	for _, pid := range slices.Sorted(maps.Keys(each)) {
		if stamp(at) > last {
			all = append(all, share{uint32(pid), stamp(at), uint32(each[pid])})
		}
	}
	if len(all) == 0 {
		return nil, notFound
	}
	return all, nil
}

// DeviceGetProcessUtilization is what each process has of the threads' time. The count says how many there is room for; without
// room it says how many there may be.
func (t *Thread) DeviceGetProcessUtilization(h nv.NvmlDevice_t, p, count hostmem.Ptr, last uint64) error {
	if err := t.given(h, count); err != nil {
		return err
	}
	all, err := t.since(h, last)
	if err != nil {
		return err
	}
	room := hostmem.Load[uint32](count)
	hostmem.Store(count, uint32(len(all)))
	if p == hostmem.Nil || int(room) < len(all) {
		return insufficient
	}
	for i, s := range all {
		hostmem.Store(p.Index(i, 32), nv.NvmlProcessUtilizationSample_t{Pid: s.pid, TimeStamp: s.at, SmUtil: s.percent})
	}
	return nil
}

// DeviceGetProcessesUtilizationInfo is the same with a version.
func (t *Thread) DeviceGetProcessesUtilizationInfo(h nv.NvmlDevice_t, p hostmem.Ptr) error {
	if err := t.versioned(h, p, version(24, 1)); err != nil {
		return err
	}
	v := hostmem.Load[nv.NvmlProcessesUtilizationInfo_v1_t](p)
	all, err := t.since(h, v.LastSeenTimeStamp)
	if err != nil {
		return err
	}
	room := v.ProcessSamplesCount
	v.ProcessSamplesCount = uint32(len(all))
	hostmem.Store(p, v)
	if v.ProcUtilArray == 0 || int(room) < len(all) {
		return insufficient
	}
	for i, s := range all {
		hostmem.Store(hostmem.Ptr(v.ProcUtilArray).Index(i, 40), nv.NvmlProcessUtilizationInfo_v1_t{TimeStamp: s.at, Pid: s.pid, SmUtil: s.percent})
	}
	return nil
}

// DeviceGetRunningProcessDetailList lists processes by what they do: compute, draw, or share a device through a server.
func (t *Thread) DeviceGetRunningProcessDetailList(h nv.NvmlDevice_t, p hostmem.Ptr) error {
	if err := t.versioned(h, p, version(24, 1)); err != nil {
		return err
	}
	const compute, graphics, mps = 0, 1, 2
	v := hostmem.Load[nv.NvmlProcessDetailList_v1_t](p)
	var all []User
	switch v.Mode {
	case compute:
		dev, err := t.device(h)
		if err != nil {
			return err
		}
		if all, err = t.Users(dev); err != nil {
			return err
		}
	case graphics, mps:
	default:
		return invalidArgument
	}
	room := v.NumProcArrayEntries
	v.NumProcArrayEntries = uint32(len(all))
	hostmem.Store(p, v)
	if int(room) < len(all) {
		return insufficient
	}
	if len(all) > 0 && v.ProcArray == 0 {
		return invalidArgument
	}
	for i, u := range all {
		hostmem.Store(hostmem.Ptr(v.ProcArray).Index(i, 32), nv.NvmlProcessDetail_v1_t{Pid: u.Pid, UsedGpuMemory: u.Used, GpuInstanceId: unavailable, ComputeInstanceId: unavailable})
	}
	return nil
}

// DeviceGetSamples is the latest measurement of one kind: no others are kept.
func (t *Thread) DeviceGetSamples(h nv.NvmlDevice_t, kind nv.NvmlSamplingType_t, last uint64, count, p hostmem.Ptr) (nv.NvmlValueType_t, error) {
	if err := t.given(h, count); err != nil {
		return 0, err
	}
	value, err := t.measure(h, kind)
	if err != nil {
		return 0, err
	}
	room, at := hostmem.Load[uint32](count), stamp(time.Now())
	if last >= at {
		return 0, notFound
	}
	hostmem.Store(count, uint32(1))
	if p == hostmem.Nil {
		return nv.NVML_VALUE_TYPE_UNSIGNED_INT, nil
	}
	if room == 0 {
		return 0, insufficient
	}
	s := nv.NvmlSample_t{TimeStamp: at}
	*s.SampleValue.UiVal() = value
	hostmem.Store(p, s)
	return nv.NVML_VALUE_TYPE_UNSIGNED_INT, nil
}

// measure asks a device once.
func (t *Thread) measure(h nv.NvmlDevice_t, kind nv.NvmlSamplingType_t) (uint32, error) {
	switch kind {
	case nv.NVML_TOTAL_POWER_SAMPLES:
		return t.DeviceGetPowerUsage(h)
	case nv.NVML_GPU_UTILIZATION_SAMPLES:
		gpu, _, err := t.Busy(h)
		return gpu, err
	case nv.NVML_MEMORY_UTILIZATION_SAMPLES:
		_, memory, err := t.Busy(h)
		return memory, err
	case nv.NVML_ENC_UTILIZATION_SAMPLES, nv.NVML_DEC_UTILIZATION_SAMPLES, nv.NVML_JPG_UTILIZATION_SAMPLES, nv.NVML_OFA_UTILIZATION_SAMPLES:
		return 0, nil
	case nv.NVML_PROCESSOR_CLK_SAMPLES:
		return t.DeviceGetClockInfo(h, nv.NVML_CLOCK_SM)
	case nv.NVML_MEMORY_CLK_SAMPLES:
		return t.DeviceGetClockInfo(h, nv.NVML_CLOCK_MEM)
	case nv.NVML_MODULE_POWER_SAMPLES:
		return 0, notSupported
	}
	return 0, invalidArgument
}

// video is a device's engine for video: there is none, so none of its time is spent.
func (t *Thread) video(h nv.NvmlDevice_t) (percent, period uint32, err error) {
	const microseconds = 100000
	_, err = t.device(h)
	return 0, microseconds, err
}

// DeviceGetEncoderUtilization is nothing.
func (t *Thread) DeviceGetEncoderUtilization(h nv.NvmlDevice_t) (percent, period uint32, err error) {
	return t.video(h)
}

// DeviceGetDecoderUtilization is nothing.
func (t *Thread) DeviceGetDecoderUtilization(h nv.NvmlDevice_t) (percent, period uint32, err error) {
	return t.video(h)
}

// DeviceGetJpgUtilization is nothing.
func (t *Thread) DeviceGetJpgUtilization(h nv.NvmlDevice_t) (percent, period uint32, err error) {
	return t.video(h)
}

// DeviceGetOfaUtilization is nothing.
func (t *Thread) DeviceGetOfaUtilization(h nv.NvmlDevice_t) (percent, period uint32, err error) {
	return t.video(h)
}

// DeviceGetEncoderCapacity is nothing, in percent.
func (t *Thread) DeviceGetEncoderCapacity(h nv.NvmlDevice_t, kind nv.NvmlEncoderType_t) (uint32, error) {
	_, err := t.device(h)
	if err == nil && (kind < nv.NVML_ENCODER_QUERY_H264 || kind > nv.NVML_ENCODER_QUERY_AV1) {
		err = invalidArgument
	}
	return 0, err
}

// DeviceGetEncoderStats: no sessions.
func (t *Thread) DeviceGetEncoderStats(h nv.NvmlDevice_t, sessions hostmem.Ptr) (fps, latency uint32, err error) {
	return 0, 0, t.none(h, sessions)
}

// DeviceGetEncoderSessions: none.
func (t *Thread) DeviceGetEncoderSessions(h nv.NvmlDevice_t, count, infos hostmem.Ptr) error {
	return t.none(h, count)
}

// DeviceGetFBCStats: nobody captures frames.
func (t *Thread) DeviceGetFBCStats(h nv.NvmlDevice_t, p hostmem.Ptr) error {
	if err := t.given(h, p); err != nil {
		return err
	}
	hostmem.Store(p, nv.NvmlFBCStats_t{})
	return nil
}

// DeviceGetFBCSessions: none.
func (t *Thread) DeviceGetFBCSessions(h nv.NvmlDevice_t, count, infos hostmem.Ptr) error {
	return t.none(h, count)
}

// DeviceGetAccountingMode: what ended processes used is not kept.
func (t *Thread) DeviceGetAccountingMode(h nv.NvmlDevice_t) (nv.NvmlEnableState_t, error) {
	_, err := t.device(h)
	return nv.NVML_FEATURE_DISABLED, err
}

// DeviceGetAccountingBufferSize is how many would be kept.
func (t *Thread) DeviceGetAccountingBufferSize(h nv.NvmlDevice_t, p hostmem.Ptr) error {
	return t.none(h, p)
}

// DeviceGetAccountingPids: none.
func (t *Thread) DeviceGetAccountingPids(h nv.NvmlDevice_t, count, pids hostmem.Ptr) error {
	return t.none(h, count)
}

// DeviceGetAccountingStats finds nobody.
func (t *Thread) DeviceGetAccountingStats(h nv.NvmlDevice_t, pid uint32, p hostmem.Ptr) error {
	if err := t.given(h, p); err != nil {
		return err
	}
	return notFound
}

// DeviceGetAccountingStatsV2 is the same in another structure.
func (t *Thread) DeviceGetAccountingStatsV2(h nv.NvmlDevice_t, p hostmem.Ptr) error {
	return t.DeviceGetAccountingStats(h, 0, p)
}

// DeviceGetDynamicPstatesInfo is utilisation by part; a device has two of the eight.
func (t *Thread) DeviceGetDynamicPstatesInfo(h nv.NvmlDevice_t, p hostmem.Ptr) error {
	if err := t.given(h, p); err != nil {
		return err
	}
	gpu, memory, err := t.Busy(h)
	if err != nil {
		return err
	}
	var v nv.NvmlGpuDynamicPstatesInfo_t
	v.Utilization[0].BIsPresent, v.Utilization[0].Percentage = 1, gpu
	v.Utilization[1].BIsPresent, v.Utilization[1].Percentage = 1, memory
	hostmem.Store(p, v)
	return nil
}

// DeviceGetThermalSettings is the one sensor there is.
func (t *Thread) DeviceGetThermalSettings(h nv.NvmlDevice_t, sensor uint32, p hostmem.Ptr) error {
	const all = 15
	if err := t.given(h, p); err != nil {
		return err
	}
	if sensor != 0 && sensor != all {
		return invalidArgument
	}
	degrees, err := t.DeviceGetTemperature(h, nv.NVML_TEMPERATURE_GPU)
	if err != nil {
		return err
	}
	v := nv.NvmlGpuThermalSettings_t{Count: 1}
	v.Sensor[0] = nv.NvmlGpuThermalSettings_t_sensor{Controller: nv.NVML_THERMAL_CONTROLLER_OS, DefaultMaxTemp: 127, CurrentTemp: int32(degrees), Target: nv.NVML_THERMAL_TARGET_GPU}
	hostmem.Store(p, v)
	return nil
}
