package driver

import (
	"slices"
	"sort"
	"syscall"

	"kudzu/internal/backend"
	"kudzu/internal/hostmem"
	"kudzu/internal/lockrank"
	"kudzu/internal/spec/cu"
)

// physical is memory without an address. It lives while the program has a handle or a mapping of it.
type physical struct {
	state  *state
	dev    *Device
	handle cu.CUmemGenericAllocationHandle
	size   uint64
	props  cu.CUmemAllocationProp
	fd     int
	own    uint64 // bytes counted against the device; 0 for memory of another process
	// guarded by virtualSpace.mu
	refs, maps int
}

// mapping is physical memory at reserved addresses.
type mapping struct {
	base, size uint64
	mem        *physical
	offset     uint64
	access     map[int32]cu.CUmemAccess_flags // by device
	seen       *alloc                         // in the range map while it can be touched
}

// reservation is addresses.
type reservation struct {
	dev        *Device // whose memory reserved them
	base, size uint64
	maps       []*mapping // disjoint, ascending
}

// virtualSpace is what is reserved and mapped. The lock is held while the backend maps: these calls are rare.
type virtualSpace struct {
	mu       lockrank.Mutex[lockrank.DriverVirtual]
	reserved []*reservation // guarded by mu: disjoint, ascending
}

// find is the reservation that holds a whole range.
//
// Preconditions: v.mu is held.
func (v *virtualSpace) find(base, n uint64) *reservation {
	i := sort.Search(len(v.reserved), func(i int) bool { return v.reserved[i].base > base }) - 1
	if i < 0 {
		return nil
	}
	if r := v.reserved[i]; base-r.base < r.size && n <= r.size-(base-r.base) {
		return r
	}
	return nil
}

// inside lists the mappings in a range that they must fill without gaps; nil if they do not.
func (r *reservation) inside(base, n uint64) []*mapping {
	var list []*mapping
	at := base
	for _, m := range r.maps {
		if m.base+m.size <= base || m.base >= base+n {
			continue
		}
		if m.base != at {
			return nil
		}
		at = m.base + m.size
		list = append(list, m)
	}
	if at != base+n {
		return nil
	}
	return list
}

// within lists the mappings that touch a range, and reports whether it cuts none of them.
func (r *reservation) within(base, n uint64) (list []*mapping, whole bool) {
	for _, m := range r.maps {
		if m.base+m.size <= base || m.base >= base+n {
			continue
		}
		if m.base < base || m.base+m.size > base+n {
			return nil, false
		}
		list = append(list, m)
	}
	return list, true
}

// virtual is the device's memory if its addresses and memory come apart.
func (d *Device) virtual() backend.Virtual {
	v, _ := d.dev.Memory().(backend.Virtual)
	return v
}

// files is the device's memory if what it maps are files of the process's.
func (d *Device) files() backend.Virtual {
	v := d.virtual()
	if _, own := v.(backend.PerDevice); own {
		return nil
	}
	return v
}

// virtualDevice is the device that reserves. All that share the process's addresses are alike; a vendor's runtime wants its own, so that
// the current context's device is asked.
func (t *Thread) virtualDevice() (*state, *Device, error) {
	s, err := t.enter()
	if err != nil {
		return nil, nil, err
	}
	want := s.devices[0]
	if c, _ := t.top(s); c != nil && c.alive.Load() {
		want = c.dev
	}
	if want.virtual() == nil {
		return nil, nil, errNotSupported
	}
	if want.files() != nil {
		want = s.devices[slices.IndexFunc(s.devices, func(d *Device) bool { return d.files() != nil })]
	}
	return s, want, nil
}

// placeOf checks where memory is to be made.
func (t *Thread) placeOf(p *cu.CUmemAllocationProp) (*Device, backend.Virtual, error) {
	if _, err := t.enter(); err != nil {
		return nil, nil, err
	}
	var d *Device
	var err error
	switch p.Location.Type {
	case cu.CU_MEM_LOCATION_TYPE_DEVICE:
		d, err = t.device(*p.Location.Id())
	case cu.CU_MEM_LOCATION_TYPE_HOST, cu.CU_MEM_LOCATION_TYPE_HOST_NUMA, cu.CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
		d, err = t.hostPlace()
	default:
		return nil, nil, errInvalidValue
	}
	if err != nil {
		return nil, nil, err
	}
	switch {
	case p.Type != cu.CU_MEM_ALLOCATION_TYPE_PINNED:
		return nil, nil, errInvalidValue
	case p.RequestedHandleTypes&(cu.CU_MEM_HANDLE_TYPE_WIN32|cu.CU_MEM_HANDLE_TYPE_WIN32_KMT) != 0:
		return nil, nil, errInvalidValue
	case p.RequestedHandleTypes&^cu.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR != 0 || p.AllocFlags.CompressionType > 1:
		return nil, nil, errNotSupported
	}
	v := d.virtual()
	if v == nil || p.RequestedHandleTypes != 0 && d.files() == nil {
		return nil, nil, errNotSupported
	}
	return d, v, nil
}

// hostPlace is the device whose memory stands for the host's: one whose memory is the process's own. xgboost asks for memory of
// a NUMA node wherever the driver is new enough for it, and looks at no attribute.
func (t *Thread) hostPlace() (*Device, error) {
	_, d, err := t.virtualDevice()
	if err != nil {
		return nil, err
	}
	if d.files() == nil {
		return nil, errNotSupported
	}
	return d, nil
}

// MemGetAllocationGranularity is what sizes must be multiples of.
func (t *Thread) MemGetAllocationGranularity(p *cu.CUmemAllocationProp, option cu.CUmemAllocationGranularity_flags) (uint64, error) {
	if _, err := t.device(*p.Location.Id()); err != nil && p.Location.Type == cu.CU_MEM_LOCATION_TYPE_DEVICE { // as the real driver: any number will do
		q := *p
		*q.Location.Id() = 0
		p = &q
	}
	_, v, err := t.placeOf(p)
	if err != nil {
		return 0, err
	}
	if option != cu.CU_MEM_ALLOC_GRANULARITY_MINIMUM && option != cu.CU_MEM_ALLOC_GRANULARITY_RECOMMENDED {
		return 0, errInvalidValue
	}
	return v.Unit(), nil
}

// MemAddressReserve takes addresses. The wished address is a wish, and not heeded.
func (t *Thread) MemAddressReserve(n, align uint64, _ DevPtr, flags uint64) (DevPtr, error) {
	s, d, err := t.virtualDevice()
	if err != nil {
		return 0, err
	}
	v := d.virtual()
	if n == 0 || n%v.Unit() != 0 || align&(align-1) != 0 || flags != 0 {
		return 0, errInvalidValue
	}
	a, err := v.Reserve(n, align)
	if err != nil {
		return 0, plain(err)
	}
	s.virtual.mu.Lock()
	defer s.virtual.mu.Unlock()
	r := &reservation{dev: d, base: uint64(a), size: n}
	i := sort.Search(len(s.virtual.reserved), func(i int) bool { return s.virtual.reserved[i].base > r.base })
	s.virtual.reserved = slices.Insert(s.virtual.reserved, i, r)
	return DevPtr(a), nil
}

// MemAddressFree gives a whole reservation back that nothing is mapped in.
func (t *Thread) MemAddressFree(p DevPtr, n uint64) error {
	s, _, err := t.virtualDevice()
	if err != nil {
		return err
	}
	s.virtual.mu.Lock()
	defer s.virtual.mu.Unlock()
	r := s.virtual.find(uint64(p), n)
	if r == nil || r.base != uint64(p) || r.size != n || len(r.maps) > 0 {
		return errInvalidValue
	}
	if err := r.dev.virtual().Unreserve(backend.Addr(p), n); err != nil {
		return plain(err)
	}
	i := slices.Index(s.virtual.reserved, r)
	s.virtual.reserved = slices.Delete(s.virtual.reserved, i, i+1)
	return nil
}

// MemCreate makes memory without an address.
func (t *Thread) MemCreate(n uint64, p *cu.CUmemAllocationProp, flags uint64) (cu.CUmemGenericAllocationHandle, error) {
	d, v, err := t.placeOf(p)
	if err != nil {
		return 0, err
	}
	if n == 0 || n%v.Unit() != 0 || flags != 0 {
		return 0, errInvalidValue
	}
	fd, err := v.NewFile(n)
	if err != nil {
		return 0, plain(err)
	}
	return current.Load().newPhysical(&physical{dev: d, size: n, props: *p, fd: fd, own: n})
}

func (s *state) newPhysical(m *physical) (cu.CUmemGenericAllocationHandle, error) {
	m.state, m.refs = s, 1
	h := s.physicals.New(m)
	if h == 0 {
		m.dev.virtual().CloseFile(m.fd, m.own)
		return 0, errOutOfMemory
	}
	m.handle = cu.CUmemGenericAllocationHandle(h)
	return m.handle, nil
}

// physical finds memory.
func (t *Thread) physical(h cu.CUmemGenericAllocationHandle) (*physical, error) {
	s, err := t.enter()
	if err != nil {
		return nil, err
	}
	if m := s.physicals.Get(handleValue(h)); m != nil {
		return m, nil
	}
	return nil, errInvalidValue
}

// check ends memory that nobody has.
//
// Preconditions: virtualSpace.mu is held.
func (m *physical) check() {
	if m.refs == 0 {
		m.state.physicals.Delete(handleValue(m.handle))
		if m.maps == 0 && m.fd >= 0 {
			m.dev.virtual().CloseFile(m.fd, m.own)
			m.fd = -1
		}
	}
}

// MemRelease gives a handle back; memory that is mapped stays until it is unmapped.
func (t *Thread) MemRelease(h cu.CUmemGenericAllocationHandle) error {
	m, err := t.physical(h)
	if err != nil {
		return err
	}
	m.state.virtual.mu.Lock()
	defer m.state.virtual.mu.Unlock()
	if m.refs == 0 {
		return errInvalidValue
	}
	m.refs--
	m.check()
	return nil
}

// MemMap puts memory at reserved addresses. Nothing may touch it before MemSetAccess.
func (t *Thread) MemMap(p DevPtr, n, offset uint64, h cu.CUmemGenericAllocationHandle, flags uint64) error {
	m, err := t.physical(h)
	if err != nil {
		return err
	}
	v := m.dev.virtual()
	if n == 0 || n%v.Unit() != 0 || uint64(p)%v.Unit() != 0 || flags != 0 {
		return errInvalidValue
	}
	if offset != 0 || n != m.size { // as the real driver: memory is mapped whole
		return errNotSupported
	}
	space := &m.state.virtual
	space.mu.Lock()
	defer space.mu.Unlock()
	r := space.find(uint64(p), n)
	if r == nil || m.refs == 0 {
		return errInvalidValue
	}
	if (r.dev.files() == nil) != (m.dev.files() == nil) { // addresses of one kind of device, memory of another
		return errNotSupported
	}
	i := sort.Search(len(r.maps), func(i int) bool { return r.maps[i].base > uint64(p) })
	if i > 0 && r.maps[i-1].base+r.maps[i-1].size > uint64(p) || i < len(r.maps) && r.maps[i].base < uint64(p)+n {
		return errInvalidValue
	}
	if err := v.Map(backend.Addr(p), n, m.fd, offset); err != nil {
		return plain(err)
	}
	m.maps++
	r.maps = slices.Insert(r.maps, i, &mapping{base: uint64(p), size: n, mem: m, offset: offset, access: map[int32]cu.CUmemAccess_flags{}})
	return nil
}

// MemUnmap takes whole mappings away; the addresses stay reserved.
func (t *Thread) MemUnmap(p DevPtr, n uint64) error {
	s, _, err := t.virtualDevice()
	if err != nil {
		return err
	}
	return s.virtual.in(p, n, func(r *reservation) error { return r.unmap(s, p, n) })
}

// in does something with the reservation that holds a whole range.
func (v *virtualSpace) in(p DevPtr, n uint64, do func(*reservation) error) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if r := v.find(uint64(p), n); r != nil {
		return do(r)
	}
	return errInvalidValue
}

// unmap takes whole mappings away.
//
// Preconditions: virtualSpace.mu is held.
func (r *reservation) unmap(s *state, p DevPtr, n uint64) error {
	list, whole := r.within(uint64(p), n)
	if !whole {
		return errInvalidValue
	}
	for _, m := range list { // none: there is nothing to take away
		m.hide(s)
		if err := r.dev.virtual().Unmap(backend.Addr(m.base), m.size); err != nil {
			return plain(err)
		}
		i := slices.Index(r.maps, m)
		r.maps = slices.Delete(r.maps, i, i+1)
		m.mem.maps--
		m.mem.check()
	}
	return nil
}

// hide takes a mapping out of what programs may name in calls.
func (m *mapping) hide(s *state) {
	if m.seen != nil {
		s.allocs.take(m.seen)
		m.seen = nil
	}
}

// show makes a mapping memory like any other.
func (m *mapping) show(s *state) error {
	if m.seen != nil {
		return nil
	}
	c, err := m.mem.dev.primaryContext(s)
	if err != nil {
		return err
	}
	m.seen = &alloc{base: m.base, size: m.size, kind: allocMapped, ctx: c, id: s.bufferN.Add(1)}
	if !s.allocs.add(m.seen) {
		m.seen = nil
		return errUnknown
	}
	return nil
}

// hostAccess is the host among the devices that may touch a mapping.
const hostAccess = -1

// MemSetAccess says which devices may touch the mappings in a range. Devices that share the process's memory share this, too: what one
// may touch, all can, and read-only access does not keep kernels from writing.
func (t *Thread) MemSetAccess(p DevPtr, n uint64, list hostmem.Ptr, count uint64) error {
	s, dev, err := t.virtualDevice()
	if err != nil {
		return err
	}
	if list == hostmem.Nil || count == 0 || count > maxAccess {
		return errInvalidValue
	}
	descs := slices.Clone(hostmem.Slice[cu.CUmemAccessDesc](list, int(count)))
	for i := range descs {
		d := &descs[i]
		switch host := dev.files() != nil; {
		case d.Location.Type == cu.CU_MEM_LOCATION_TYPE_DEVICE:
			if _, err := t.device(*d.Location.Id()); err != nil {
				return errInvalidValue
			}
		case host && d.Location.Type >= cu.CU_MEM_LOCATION_TYPE_HOST && d.Location.Type <= cu.CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
			*d.Location.Id() = hostAccess
		default:
			return errNotSupported
		}
		switch d.Flags {
		case cu.CU_MEM_ACCESS_FLAGS_PROT_NONE, cu.CU_MEM_ACCESS_FLAGS_PROT_READ, cu.CU_MEM_ACCESS_FLAGS_PROT_READWRITE:
		default:
			return errInvalidValue
		}
	}
	return s.virtual.in(p, n, func(r *reservation) error {
		maps := r.inside(uint64(p), n)
		if maps == nil {
			return errInvalidValue
		}
		for _, m := range maps {
			if err := m.allow(s, r.dev.virtual(), descs); err != nil {
				return err
			}
		}
		return nil
	})
}

// accesses are the backend's words.
var accesses = map[cu.CUmemAccess_flags]backend.Access{
	cu.CU_MEM_ACCESS_FLAGS_PROT_NONE: backend.AccessNone, cu.CU_MEM_ACCESS_FLAGS_PROT_READ: backend.AccessRead, cu.CU_MEM_ACCESS_FLAGS_PROT_READWRITE: backend.AccessReadWrite,
}

// allow gives devices access to a mapping, or takes it.
//
// Preconditions: virtualSpace.mu is held.
func (m *mapping) allow(s *state, v backend.Virtual, descs []cu.CUmemAccessDesc) error {
	own, per := v.(backend.PerDevice)
	for i := range descs {
		id := *descs[i].Location.Id()
		if per {
			if err := own.SetAccessOf(backend.Addr(m.base), m.size, s.devices[id].dev, accesses[descs[i].Flags]); err != nil {
				return plain(err)
			}
		}
		m.access[id] = descs[i].Flags
	}
	on := false
	for _, f := range m.access {
		on = on || f != cu.CU_MEM_ACCESS_FLAGS_PROT_NONE
	}
	if on == (m.seen != nil) {
		return nil
	}
	if !on {
		m.hide(s)
	}
	if !per {
		if err := v.SetAccess(backend.Addr(m.base), m.size, on); err != nil {
			return plain(err)
		}
	}
	if on {
		return m.show(s)
	}
	return nil
}

// mappingAt is the mapping that holds an address.
//
// Preconditions: virtualSpace.mu is held.
func (v *virtualSpace) mappingAt(addr uint64) *mapping {
	r := v.find(addr, 1)
	if r == nil {
		return nil
	}
	for _, m := range r.maps {
		if addr-m.base < m.size {
			return m
		}
	}
	return nil
}

// MemGetAccess is what a device may do with the mapping at an address.
func (t *Thread) MemGetAccess(l *cu.CUmemLocation, p DevPtr) (uint64, error) {
	s, _, err := t.virtualDevice()
	if err != nil {
		return 0, err
	}
	if l.Type != cu.CU_MEM_LOCATION_TYPE_DEVICE {
		return 0, errInvalidValue
	}
	if _, err := t.device(*l.Id()); err != nil {
		return 0, err
	}
	s.virtual.mu.Lock()
	defer s.virtual.mu.Unlock()
	m := s.virtual.mappingAt(uint64(p))
	if m == nil {
		return 0, errInvalidValue
	}
	return uint64(m.access[*l.Id()]), nil
}

// MemRetainAllocationHandle is a handle for the memory at an address.
func (t *Thread) MemRetainAllocationHandle(p hostmem.Ptr) (cu.CUmemGenericAllocationHandle, error) {
	s, _, err := t.virtualDevice()
	if err != nil {
		return 0, err
	}
	s.virtual.mu.Lock()
	defer s.virtual.mu.Unlock()
	m := s.virtual.mappingAt(uint64(p))
	if m == nil {
		return 0, errInvalidValue
	}
	if m.mem.refs == 0 { // the handle was given back while it was mapped
		h := s.physicals.New(m.mem)
		if h == 0 {
			return 0, errOutOfMemory
		}
		m.mem.handle = cu.CUmemGenericAllocationHandle(h)
	}
	m.mem.refs++
	return m.mem.handle, nil
}

// MemGetAllocationPropertiesFromHandle is what memory was made with.
func (t *Thread) MemGetAllocationPropertiesFromHandle(h cu.CUmemGenericAllocationHandle) (p cu.CUmemAllocationProp, err error) {
	m, err := t.physical(h)
	if err != nil {
		return p, err
	}
	return m.props, nil
}

// MemExportToShareableHandle writes a file descriptor of the memory.
func (t *Thread) MemExportToShareableHandle(out hostmem.Ptr, h cu.CUmemGenericAllocationHandle, kind cu.CUmemAllocationHandleType, flags uint64) error {
	m, err := t.physical(h)
	if err != nil {
		return err
	}
	switch {
	case out == hostmem.Nil || flags != 0 || kind == cu.CU_MEM_HANDLE_TYPE_NONE:
		return errInvalidValue
	case m.props.RequestedHandleTypes&kind == 0:
		return errInvalidValue
	}
	fd, err := dupCloseExec(m.fd)
	if err != nil {
		return err
	}
	hostmem.Store(out, int32(fd))
	return nil
}

func dupCloseExec(fd int) (int, error) {
	n, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_DUPFD_CLOEXEC, 0)
	if errno != 0 {
		return -1, Result(cu.CUDA_ERROR_OPERATING_SYSTEM)
	}
	return int(n), nil
}

// MemImportFromShareableHandle makes memory of a file descriptor that another process or this one exported. The number
// itself is passed in place of a pointer.
func (t *Thread) MemImportFromShareableHandle(osHandle hostmem.Ptr, kind cu.CUmemAllocationHandleType) (cu.CUmemGenericAllocationHandle, error) {
	s, d, err := t.virtualDevice()
	if err != nil {
		return 0, err
	}
	v := d.files()
	if kind != cu.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || v == nil {
		return 0, errNotSupported
	}
	var st syscall.Stat_t
	if osHandle > 1<<31-1 || syscall.Fstat(int(osHandle), &st) != nil || st.Size <= 0 || uint64(st.Size)%v.Unit() != 0 || st.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return 0, errUnknown
	}
	fd, err := dupCloseExec(int(osHandle))
	if err != nil {
		return 0, err
	}
	if c, err := t.context(); err == nil {
		d = c.dev
	}
	m := &physical{dev: d, size: uint64(st.Size), fd: fd}
	m.props = cu.CUmemAllocationProp{Type: cu.CU_MEM_ALLOCATION_TYPE_PINNED} // what is imported is not exported again
	m.props.Location.Type = cu.CU_MEM_LOCATION_TYPE_DEVICE
	*m.props.Location.Id() = d.ordinal
	return s.newPhysical(m)
}
