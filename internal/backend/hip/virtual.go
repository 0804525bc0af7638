package hip

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"

	"kudzu/internal/backend"
	"kudzu/internal/dl"
	"kudzu/internal/lockrank"
	"kudzu/internal/spec/hip"
)

// virtualMemory is the memory of a device whose addresses and memory come apart.
type virtualMemory struct{ *memory }

var (
	_ backend.Virtual   = virtualMemory{}
	_ backend.PerDevice = virtualMemory{}
	_ backend.Lender    = (*memory)(nil)
)

// virtual is what a device knows of memory without an address.
type virtual struct {
	unit uint64 // 0: it has none

	mu      lockrank.Mutex[lockrank.HIPVirtual]
	last    int             // guarded by mu
	handles map[int]uintptr // guarded by mu: HIP's, by our numbers
}

// virtualFuncs came with ROCm 5.2, and were made to work later: the attribute tells.
var virtualFuncs = []hip.Func{
	hip.HipMemAddressReserve, hip.HipMemAddressFree, hip.HipMemCreate, hip.HipMemRelease, hip.HipMemMap, hip.HipMemUnmap, hip.HipMemSetAccess,
}

// readVirtual asks whether the device can, and in which pieces.
func (d *device) readVirtual() {
	can, err := d.api.getInt(hip.HipDeviceGetAttribute, hip.HipDeviceAttributeVirtualMemoryManagementSupported, uintptr(d.ordinal))
	if err != nil || can == 0 {
		return
	}
	for _, f := range virtualFuncs {
		if !d.api.has(f) {
			return
		}
	}
	prop := d.properties()
	defer prop.Free()
	unit, err := d.api.getPtr(hip.HipMemGetAllocationGranularity, prop.Addr(), hip.HipMemAllocationGranularityRecommended)
	if err != nil || unit == 0 || unit&(unit-1) != 0 {
		return
	}
	d.virtual.unit, d.virtual.handles = uint64(unit), map[int]uintptr{}
}

// properties says in HIP's words: pinned memory of this device, for this process only. What may be shared would need a file
// that another process opens, and releases of ROCm differ in how they are told of it.
func (d *device) properties() *dl.Buffer {
	b := dl.Alloc(hip.HipMemAllocationPropsize)
	binary.LittleEndian.PutUint32(b.Bytes()[hip.HipMemAllocationProptype:], hip.HipMemAllocationTypePinned)
	binary.LittleEndian.PutUint32(b.Bytes()[hip.HipMemAllocationProplocationType:], hip.HipMemLocationTypeDevice)
	binary.LittleEndian.PutUint32(b.Bytes()[hip.HipMemAllocationProplocationId:], uint32(d.ordinal))
	return b
}

func (m *memory) call(f hip.Func, args ...uintptr) error {
	return m.dev().do(func() error { return m.api.call(f, args...) })
}

// Unit is what HIP recommends.
func (m virtualMemory) Unit() uint64 { return m.virtual.unit }

// Reserve is hipMemAddressReserve.
func (m virtualMemory) Reserve(n, align uint64) (backend.Addr, error) {
	return m.allocate(hip.HipMemAddressReserve, uintptr(n), uintptr(align), 0, 0)
}

// Unreserve is hipMemAddressFree.
func (m virtualMemory) Unreserve(a backend.Addr, n uint64) error {
	return m.call(hip.HipMemAddressFree, uintptr(a), uintptr(n))
}

// NewFile is hipMemCreate. The number is ours: it is no file.
func (m virtualMemory) NewFile(n uint64) (int, error) {
	prop := m.dev().properties()
	defer prop.Free()
	h, err := m.allocate(hip.HipMemCreate, uintptr(n), prop.Addr(), 0)
	if err != nil {
		return -1, err
	}
	m.virtual.mu.Lock()
	defer m.virtual.mu.Unlock()
	m.virtual.last++
	m.virtual.handles[m.virtual.last] = uintptr(h)
	return m.virtual.last, nil
}

// find is what HIP calls the memory of a number.
func (v *virtual) find(mem int, end bool) (uintptr, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	h, ok := v.handles[mem]
	if !ok {
		return 0, fmt.Errorf("memory %d: %w", mem, backend.ErrNotFound)
	}
	if end {
		delete(v.handles, mem)
	}
	return h, nil
}

// CloseFile is hipMemRelease.
func (m virtualMemory) CloseFile(mem int, _ uint64) {
	if h, err := m.virtual.find(mem, true); err == nil {
		_ = m.call(hip.HipMemRelease, h) // nobody is left to hear
	}
}

// Map is hipMemMap.
func (m virtualMemory) Map(a backend.Addr, n uint64, mem int, off uint64) error {
	h, err := m.virtual.find(mem, false)
	if err != nil {
		return err
	}
	_, err = m.book.Add(a, n, m.call(hip.HipMemMap, uintptr(a), uintptr(n), uintptr(off), h, 0))
	return err
}

// SetAccess is SetAccessOf for the device whose memory this is.
func (m virtualMemory) SetAccess(a backend.Addr, n uint64, on bool) error {
	access := backend.AccessNone
	if on {
		access = backend.AccessReadWrite
	}
	return m.SetAccessOf(a, n, m.dev(), access)
}

// accesses are HIP's numbers.
var accesses = [...]uint32{
	backend.AccessNone: hip.HipMemAccessFlagsProtNone, backend.AccessRead: hip.HipMemAccessFlagsProtRead, backend.AccessReadWrite: hip.HipMemAccessFlagsProtReadWrite,
}

// SetAccessOf is hipMemSetAccess.
func (m virtualMemory) SetAccessOf(a backend.Addr, n uint64, d backend.Device, access backend.Access) error {
	to, ok := backend.Innermost(d).(*device)
	if !ok || to.b != m.b || int(access) >= len(accesses) {
		return &backend.Unsupported{What: "access of a device of another kind to memory of this one"}
	}
	desc := dl.Alloc(hip.HipMemAccessDescsize)
	defer desc.Free()
	binary.LittleEndian.PutUint32(desc.Bytes(), hip.HipMemLocationTypeDevice)
	binary.LittleEndian.PutUint32(desc.Bytes()[hip.HipMemAccessDescid:], uint32(to.ordinal))
	binary.LittleEndian.PutUint32(desc.Bytes()[hip.HipMemAccessDescflags:], accesses[access])
	return m.call(hip.HipMemSetAccess, uintptr(a), uintptr(n), desc.Addr(), 1)
}

// Unmap is hipMemUnmap.
func (m virtualMemory) Unmap(a backend.Addr, n uint64) error {
	m.book.Drop(a)
	return m.call(hip.HipMemUnmap, uintptr(a), uintptr(n))
}

// Lend is hipIpcGetMemHandle.
func (m *memory) Lend(a backend.Addr) (h [64]byte, err error) {
	buf := dl.Alloc(hip.HipIpcMemHandlesize)
	defer buf.Free()
	err = m.call(hip.HipIpcGetMemHandle, buf.Addr(), uintptr(a))
	copy(h[:], buf.Bytes())
	return h, err
}

// Borrow is hipIpcOpenMemHandle, and what it says of its length.
func (m *memory) Borrow(h [64]byte) (a backend.Addr, n uint64, err error) {
	buf := dl.Alloc(24)
	defer buf.Free()
	err = m.dev().do(func() error {
		if err := m.api.openHandle(buf.Addr(), &h); err != nil {
			return err
		}
		a = backend.Addr(word(buf, 0))
		if err := m.api.call(hip.HipMemGetAddressRange, buf.Addr()+8, buf.Addr()+16, uintptr(a)); err != nil {
			return errors.Join(err, m.api.call(hip.HipIpcCloseMemHandle, uintptr(a)))
		}
		n = word(buf, 16) - (uint64(a) - word(buf, 8))
		return nil
	})
	return a, n, err
}

// openHandle passes the handle as a structure by value: on the stack on x86-64, behind what is in registers; elsewhere by the
// address of a copy. The one flag there is was 0 in ROCm 5 and is 1 in 6.4; each refuses the other's.
func (a *api) openHandle(out uintptr, h *[64]byte) error {
	row := &hip.Rows[hip.HipIpcOpenMemHandle]
	fn, err := a.lib.Find(row.Name)
	if err != nil {
		return err
	}
	flags := []uintptr{hip.HipIpcMemLazyEnablePeerAccess, 0}
	if a.version < hip60 {
		flags = []uintptr{0, hip.HipIpcMemLazyEnablePeerAccess}
	}
	c := dl.Alloc(len(h))
	defer c.Free()
	copy(c.Bytes(), h[:])
	for _, flag := range flags {
		args := []uintptr{out, c.Addr(), flag}
		if runtime.GOARCH == "amd64" {
			args = []uintptr{out, flag, 0, 0, 0, 0}
			for i := 0; i < len(h); i += 8 {
				args = append(args, uintptr(binary.LittleEndian.Uint64(h[i:])))
			}
		}
		r := Result(fn.Call(args...))
		if r == 0 {
			return nil
		}
		if err = fmt.Errorf("%s: %w", row.Name, r); r != hip.HipErrorInvalidValue {
			return err
		}
	}
	return err
}

// Return is hipIpcCloseMemHandle.
func (m *memory) Return(a backend.Addr) error { return m.call(hip.HipIpcCloseMemHandle, uintptr(a)) }
