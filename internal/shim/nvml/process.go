package nvml

import (
	"maps"
	"slices"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/nv"
)

// unavailable is a number that is not known: no instance of a partitioned device.
const unavailable = 0xffffffff

// list writes the processes that use a device. The count says how many there is room for, and then how many there are;
// with too little room only that.
func (t *Thread) list(h nv.NvmlDevice_t, count, infos hostmem.Ptr, size int, put func(at hostmem.Ptr, pid uint32, used uint64)) error {
	dev, err := t.device(h)
	if err != nil {
		return err
	}
	if count == hostmem.Nil {
		return invalidArgument
	}
	all, err := t.Users(dev)
	if err != nil {
		return err
	}
	room := hostmem.Load[uint32](count)
	hostmem.Store(count, uint32(len(all)))
	if int(room) < len(all) {
		return insufficient
	}
	if len(all) > 0 && infos == hostmem.Nil {
		return invalidArgument
	}
	for i, p := range all {
		put(infos.Index(i, size), p.Pid, p.Used)
	}
	return nil
}

// User is a process, and the memory it has on a device.
type User struct {
	Pid  uint32
	Used uint64
}

// Users are the processes that use a device: as its monitor says, or the roster.
func (t *Thread) Users(dev int32) ([]User, error) {
	m, err := t.watch(dev)
	if err != nil {
		return nil, err
	}
	var list []User
	if m != nil {
		used, err := m.Processes()
		if err != nil {
			return nil, told(err)
		}
		for _, pid := range slices.Sorted(maps.Keys(used)) {
			list = append(list, User{pid, used[pid]})
		}
		return list, nil
	}
	all, err := t.processes(dev)
	for _, p := range all {
		if dev == 0 || p.Used[dev] > 0 { // a page does not say which devices have a context: one without memory is the first's
			list = append(list, User{uint32(p.Pid), p.Used[dev]})
		}
	}
	return list, err
}

// none answers a list that is always empty.
func (t *Thread) none(h nv.NvmlDevice_t, count hostmem.Ptr) error {
	if _, err := t.device(h); err != nil {
		return err
	}
	if count == hostmem.Nil {
		return invalidArgument
	}
	hostmem.Store(count, uint32(0))
	return nil
}

// DeviceGetComputeRunningProcesses lists the processes that use a device.
func (t *Thread) DeviceGetComputeRunningProcesses(h nv.NvmlDevice_t, count, infos hostmem.Ptr) error {
	return t.list(h, count, infos, 24, func(at hostmem.Ptr, pid uint32, used uint64) {
		hostmem.Store(at, nv.NvmlProcessInfo_v2_t{Pid: pid, UsedGpuMemory: used, GpuInstanceId: unavailable, ComputeInstanceId: unavailable})
	})
}

// DeviceGetComputeRunningProcessesV1 is the same in the first, shorter structure.
func (t *Thread) DeviceGetComputeRunningProcessesV1(h nv.NvmlDevice_t, count, infos hostmem.Ptr) error {
	return t.list(h, count, infos, 16, func(at hostmem.Ptr, pid uint32, used uint64) {
		hostmem.Store(at, nv.NvmlProcessInfo_v1_t{Pid: pid, UsedGpuMemory: used})
	})
}

// DeviceGetGraphicsRunningProcesses: nobody draws.
func (t *Thread) DeviceGetGraphicsRunningProcesses(h nv.NvmlDevice_t, count, infos hostmem.Ptr) error {
	return t.none(h, count)
}

// DeviceGetGraphicsRunningProcessesV1 is the same.
func (t *Thread) DeviceGetGraphicsRunningProcessesV1(h nv.NvmlDevice_t, count, infos hostmem.Ptr) error {
	return t.none(h, count)
}

// DeviceGetMPSComputeRunningProcesses: nobody shares a device through a server.
func (t *Thread) DeviceGetMPSComputeRunningProcesses(h nv.NvmlDevice_t, count, infos hostmem.Ptr) error {
	return t.none(h, count)
}

// DeviceGetMPSComputeRunningProcessesV1 is the same.
func (t *Thread) DeviceGetMPSComputeRunningProcessesV1(h nv.NvmlDevice_t, count, infos hostmem.Ptr) error {
	return t.none(h, count)
}
