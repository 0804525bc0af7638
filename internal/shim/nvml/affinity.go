package nvml

import (
	"slices"

	"kudzu/internal/hostmem"
	"kudzu/internal/roster"
	"kudzu/internal/spec/nv"
)

// Where devices are: which processors and nodes of memory are near, and which other devices.

// bits writes numbers as a set of n words. What does not fit is left out, as NVML does.
func bits(p hostmem.Ptr, n uint32, numbers []int) {
	words := hostmem.Slice[uint64](p, int(n))
	clear(words)
	for _, i := range numbers {
		if i/64 < len(words) {
			words[i/64] |= 1 << (i % 64)
		}
	}
}

// near answers a set of numbers that are near a device.
func (t *Thread) near(h nv.NvmlDevice_t, n uint32, p hostmem.Ptr, scope nv.NvmlAffinityScope_t, numbers []int) error {
	const node, socket = 0, 1
	if err := t.given(h, p); err != nil {
		return err
	}
	if n == 0 || scope != node && scope != socket {
		return invalidArgument
	}
	bits(p, n, numbers)
	return nil
}

// DeviceGetCpuAffinity is every processor: a device of the processor is as near to one as to another, and where a GPU is, its
// driver here does not say.
func (t *Thread) DeviceGetCpuAffinity(h nv.NvmlDevice_t, n uint32, p hostmem.Ptr) error {
	return t.near(h, n, p, 0, roster.Processors())
}

// DeviceGetCpuAffinityWithinScope is the same for a node or a socket.
func (t *Thread) DeviceGetCpuAffinityWithinScope(h nv.NvmlDevice_t, n uint32, p hostmem.Ptr, scope nv.NvmlAffinityScope_t) error {
	return t.near(h, n, p, scope, roster.Processors())
}

// DeviceGetMemoryAffinity is every node with memory.
func (t *Thread) DeviceGetMemoryAffinity(h nv.NvmlDevice_t, n uint32, p hostmem.Ptr, scope nv.NvmlAffinityScope_t) error {
	return t.near(h, n, p, scope, roster.Nodes())
}

// DeviceGetNumaNodeId is the node that a device's memory is: of a processor, if there is but one.
func (t *Thread) DeviceGetNumaNodeId(h nv.NvmlDevice_t) (uint32, error) {
	m, err := t.monitor(h)
	if err != nil {
		return 0, err
	}
	nodes := roster.Nodes()
	if m != nil || len(nodes) != 1 {
		return 0, notSupported
	}
	return uint32(nodes[0]), nil
}

// devices answers a list of devices. A count of zero asks how many there are.
func (t *Thread) devices(count, p hostmem.Ptr, list []nv.NvmlDevice_t) error {
	if count == hostmem.Nil {
		return invalidArgument
	}
	room := hostmem.Load[uint32](count)
	if room > 0 && p == hostmem.Nil {
		return invalidArgument
	}
	hostmem.Store(count, uint32(len(list)))
	for i := range min(int(room), len(list)) {
		hostmem.Store(p.Index(i, 8), list[i])
	}
	return nil
}

// SystemGetTopologyGpuSet: every device is near every processor.
func (t *Thread) SystemGetTopologyGpuSet(cpu uint32, count, p hostmem.Ptr) error {
	n, err := t.DeviceGetCount()
	if err != nil {
		return err
	}
	if !slices.Contains(roster.Processors(), int(cpu)) {
		return invalidArgument
	}
	var all []nv.NvmlDevice_t
	for i := range n {
		all = append(all, nv.NvmlDevice_t(handleMark+uint64(i)))
	}
	return t.devices(count, p, all)
}

// DeviceGetTopologyNearestGpus is the other devices, at the level that all have in common.
func (t *Thread) DeviceGetTopologyNearestGpus(h nv.NvmlDevice_t, level nv.NvmlGpuTopologyLevel_t, count, p hostmem.Ptr) error {
	if _, err := t.device(h); err != nil {
		return err
	}
	n, err := t.DeviceGetCount()
	if err != nil {
		return err
	}
	var others []nv.NvmlDevice_t
	for i := range n {
		if d := nv.NvmlDevice_t(handleMark + uint64(i)); d != h && level == nv.NVML_TOPOLOGY_INTERNAL {
			others = append(others, d)
		}
	}
	return t.devices(count, p, others)
}

// DeviceGetHandleBySerial finds a device by what is written on it.
func (t *Thread) DeviceGetHandleBySerial(serial string) (nv.NvmlDevice_t, error) {
	return t.find(func(dev int32) (bool, error) {
		s, err := t.Written(dev, "serial")
		return err == nil && s == serial, nil
	})
}

// DeviceGetHandleByUUIDV finds a device by its UUID, as text or as bytes.
func (t *Thread) DeviceGetHandleByUUIDV(p hostmem.Ptr) (nv.NvmlDevice_t, error) {
	if err := ready(); err != nil {
		return 0, err
	}
	if p == hostmem.Nil {
		return 0, invalidArgument
	}
	v := hostmem.Load[nv.NvmlUUID_v1_t](p)
	if v.Version != version(52, 1) {
		return 0, wrongVersion
	}
	switch nv.NvmlUUIDType_t(v.Type) {
	case nv.NVML_UUID_TYPE_ASCII:
		text := v.Value.Str()
		end := slices.Index(text[:], 0)
		if end < 0 {
			return 0, invalidArgument
		}
		return t.DeviceGetHandleByUUID(string(text[:end]))
	case nv.NVML_UUID_TYPE_BINARY:
		return t.DeviceGetHandleByUUID(uuidText(*v.Value.Bytes()))
	}
	return 0, invalidArgument
}
