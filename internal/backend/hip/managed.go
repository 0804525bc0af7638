package hip

import (
	"fmt"

	"kudzu/internal/backend"
	"kudzu/internal/spec/hip"
)

var (
	_ backend.Managed    = (*memory)(nil)
	_ backend.Prefetcher = (*queue)(nil)
)

// AllocManaged is hipMallocManaged, on devices whose kernel driver moves pages.
func (m *memory) AllocManaged(n uint64) (backend.Addr, error) {
	if !m.info.Managed {
		return 0, &backend.Unsupported{What: "managed memory that moves with this kernel driver or GPU"}
	}
	a, err := m.allocate(hip.HipMallocManaged, uintptr(n), hip.HipMemAttachGlobal)
	return m.book.Add(a, n, err)
}

// advices are HIP's numbers.
var advices = [...]uintptr{
	backend.AdviseReadMostly: hip.HipMemAdviseSetReadMostly, backend.AdviseNotReadMostly: hip.HipMemAdviseUnsetReadMostly,
	backend.AdvisePreferred: hip.HipMemAdviseSetPreferredLocation, backend.AdviseNotPreferred: hip.HipMemAdviseUnsetPreferredLocation,
	backend.AdviseAccessedBy: hip.HipMemAdviseSetAccessedBy, backend.AdviseNotAccessedBy: hip.HipMemAdviseUnsetAccessedBy,
}

// number is what HIP calls a device or the host. Memory for a device of another backend is the host's.
func (d *device) number(where backend.Device) uintptr {
	host := int32(hip.HipCpuDeviceId)
	if w, ok := backend.Innermost(where).(*device); ok && w.b == d.b {
		return uintptr(w.ordinal)
	}
	return uintptr(uint32(host))
}

// Advise is hipMemAdvise.
func (m *memory) Advise(a backend.Addr, n uint64, advice backend.Advice, where backend.Device) error {
	if int(advice) >= len(advices) {
		return fmt.Errorf("BUG: hip: advice %d", advice)
	}
	return m.dev().do(func() error {
		return m.api.call(hip.HipMemAdvise, uintptr(a), uintptr(n), advices[advice], m.dev().number(where))
	})
}

// Prefetch is hipMemPrefetchAsync.
func (q *queue) Prefetch(a backend.Addr, n uint64, to backend.Device) error {
	return q.call(hip.HipMemPrefetchAsync, uintptr(a), uintptr(n), q.dev.number(to), q.stream)
}
