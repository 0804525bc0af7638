package driver

import (
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"syscall"

	"kudzu/internal/backend"
	"kudzu/internal/handle"
	"kudzu/internal/lockrank"
	"kudzu/internal/spec/cu"
)

// Sharing with other processes. A handle names a file of the process that has the memory or event, as /proc shows it: the
// process that opens the handle must be of the same user, and the other one must still be there. That the file is meant to be
// shared, mem_ipc_stamp.go sees to.

// ipcMagic begins every handle and file of ours.
const ipcMagic = 0x4350495544555a4b // "KZUDUIPC"

// ipcKind says what a handle is of.
type ipcKind uint32

const (
	ipcMemory ipcKind = iota + 1
	ipcEventFile
	ipcPoolPointer
	ipcPoolFile
)

// ipcHandle is the content of a handle.
type ipcHandle struct {
	kind              ipcKind
	pid, fd           uint32
	pool              uint32 // of a pool's memory: its number in the process
	off, size, length uint64
	token             ipcToken
}

func (h *ipcHandle) bytes() (b [64]byte) {
	le := binary.LittleEndian
	le.PutUint64(b[0:], ipcMagic)
	le.PutUint32(b[8:], uint32(h.kind))
	le.PutUint32(b[12:], h.pid)
	le.PutUint32(b[16:], h.fd)
	le.PutUint32(b[20:], h.pool)
	le.PutUint64(b[24:], h.off)
	le.PutUint64(b[32:], h.size)
	le.PutUint64(b[40:], h.length)
	copy(b[48:], h.token[:])
	return b
}

// parseHandle reads bytes that some process gave, and reports whether they can be such a handle.
func parseHandle(b [64]byte, kind ipcKind) (h ipcHandle, ok bool) {
	le := binary.LittleEndian
	h = ipcHandle{ipcKind(le.Uint32(b[8:])), le.Uint32(b[12:]), le.Uint32(b[16:]), le.Uint32(b[20:]), le.Uint64(b[24:]), le.Uint64(b[32:]), le.Uint64(b[40:]), ipcToken(b[48:])}
	return h, le.Uint64(b[0:]) == ipcMagic && h.kind == kind && h.size != 0 && h.length <= 1<<46 && h.off <= h.length && h.size <= h.length-h.off
}

// readHandle is a handle that another process may have made.
func readHandle(b [64]byte, kind ipcKind) (ipcHandle, error) {
	h, ok := parseHandle(b, kind)
	if !ok {
		return h, errInvalidValue
	}
	if int(h.pid) == os.Getpid() {
		return h, errInvalidContext // as the real driver: a handle is for others
	}
	return h, nil
}

// open opens the file of a handle, which must be the one that it was made for.
func (h *ipcHandle) open() (int, error) {
	fd, err := syscall.Open(fmt.Sprintf("/proc/%d/fd/%d", h.pid, h.fd), syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		return -1, errInvalidValue
	}
	if !h.sealed(fd) {
		_ = syscall.Close(fd)
		return -1, errInvalidValue
	}
	return fd, nil
}

// exported is a file that others may see: where it lies here, and how many allocations in it have handles. Small ones have one
// file in common, since they share its pages.
type exported struct {
	fd         int
	at, length uint64
	token      ipcToken
	users      int // guarded by sharing.mu
}

// imported is memory of another process, mapped here.
type imported struct {
	dev          *Device
	at           uint64 // what the program was given
	base, length uint64 // of the mapping
	key          ipcHandle
	lender       backend.Lender // who maps it, if that is a vendor's runtime
	lent         [64]byte       // what it was asked for
	refs         int
}

// sharing is the books of both.
type sharing struct {
	mu  lockrank.Mutex[lockrank.DriverSharing]
	out map[*alloc]*exported // guarded by mu
	lie []*exported          // guarded by mu: all files, also those that only memory of a pool is kept in
	in  map[uint64]*imported // guarded by mu: by the address the program got
	key map[ipcHandle]uint64 // guarded by mu: the address of a handle that is open
	own map[[64]byte]uint64  // guarded by mu: the same of handles that a vendor's runtime made
}

// export makes an allocation visible to others, once.
func (s *state) export(a *alloc) (*exported, error) {
	m, ok := a.device().dev.Memory().(backend.Sharer)
	if !ok {
		return nil, errNotSupported
	}
	s.sharing.mu.Lock()
	e, err := s.sharing.find(a)
	s.sharing.mu.Unlock()
	if e != nil || err != nil {
		return e, err
	}
	// The memory moves: nothing may be running that touches it or its neighbours. Not under the lock, which every free takes.
	if err := s.quiet(a.device()); err != nil {
		return nil, err
	}
	s.sharing.mu.Lock()
	defer s.sharing.mu.Unlock()
	if e, err := s.sharing.find(a); e != nil || err != nil { // another thread was first
		return e, err
	}
	fd, off, length, err := m.Share(backend.Addr(a.base), a.size)
	if err != nil {
		return nil, plain(err)
	}
	e = &exported{fd: fd, at: a.base - off, length: length}
	if e.token, err = seal(e.fd, e.length); err != nil {
		_ = m.Unshare(backend.Addr(a.base), a.size, e.fd) // as in moveBack
		return nil, err
	}
	s.sharing.lie = append(s.sharing.lie, e)
	s.sharing.name(a, e)
	return e, nil
}

// find is the file of an allocation that has a handle, or gets one now that its memory is in a file already.
//
// Preconditions: mu is held.
func (s *sharing) find(a *alloc) (*exported, error) {
	if e := s.out[a]; e != nil {
		return e, nil
	}
	e := s.file(a.base)
	if e == nil {
		return nil, nil
	}
	if e.users == 0 {
		var err error
		if e.token, err = restamp(e.fd, e.length); err != nil {
			return nil, err
		}
	}
	s.name(a, e)
	return e, nil
}

// file is the file that holds an address, or nil.
//
// Preconditions: mu is held.
func (s *sharing) file(at uint64) *exported {
	if i := slices.IndexFunc(s.lie, func(e *exported) bool { return at-e.at < e.length }); i >= 0 {
		return s.lie[i]
	}
	return nil
}

// Preconditions: mu is held.
func (s *sharing) name(a *alloc, e *exported) {
	if s.out == nil {
		s.out = map[*alloc]*exported{}
	}
	s.out[a] = e
	e.users++
}

// quiet waits for the work of a device, in all contexts that have not failed.
func (s *state) quiet(d *Device) error {
	var list []*Context
	s.contexts.All(func(_ handle.Value, c *Context) bool {
		if c.dev == d && c.alive.Load() && c.fault.Load() == 0 {
			list = append(list, c)
		}
		return true
	})
	for _, c := range list {
		if err := c.sync(); err != nil {
			return err
		}
	}
	return nil
}

// withdraw takes the handles of an allocation back. It reports whether its memory is in a file that no handle names any more.
func (s *state) withdraw(a *alloc) bool {
	s.sharing.mu.Lock()
	defer s.sharing.mu.Unlock()
	e := s.sharing.out[a]
	if e == nil {
		return false
	}
	delete(s.sharing.out, a)
	if e.users--; e.users > 0 {
		return false
	}
	revoke(e.fd, e.length)
	return true
}

// unexport ends that when the allocation ends. What runs may use memory beside it, and waits for nothing: so it is waited for.
func (s *state) unexport(a *alloc) {
	if s.withdraw(a) && a.pool == nil {
		_ = s.quiet(a.device()) // after a fault nothing runs any more
		s.moveBack(a.device(), a.base)
	}
}

// moveBack takes memory out of its file, unless there is none or a handle names it again.
func (s *state) moveBack(d *Device, at uint64) {
	s.sharing.mu.Lock()
	defer s.sharing.mu.Unlock()
	e := s.sharing.file(at)
	if e == nil || e.users > 0 {
		return
	}
	s.sharing.lie = slices.DeleteFunc(s.sharing.lie, func(x *exported) bool { return x == e })
	if m, ok := d.dev.Memory().(backend.Sharer); ok {
		_ = m.Unshare(backend.Addr(e.at), e.length, e.fd) // the pages stay the file's if the system has no room: they are memory all the same
	}
}

func (e *exported) handle(kind ipcKind, a *alloc) [64]byte {
	h := ipcHandle{kind: kind, pid: uint32(os.Getpid()), fd: uint32(e.fd), off: a.base - e.at, size: a.size, length: e.length, token: e.token}
	if a.pool != nil {
		h.pool = a.pool.number
	}
	return h.bytes()
}

// IpcGetMemHandle names device memory for other processes.
func (t *Thread) IpcGetMemHandle(p DevPtr) (h cu.CUipcMemHandle, err error) {
	c, err := t.context()
	if err != nil {
		return h, err
	}
	a := c.state.allocs.find(uint64(p))
	if a == nil || a.kind != allocDevice || a.pool != nil || a.graph != nil {
		return h, errInvalidValue
	}
	if err := t.risky(c.state); err != nil {
		return h, err
	}
	if l, ok := a.device().dev.Memory().(backend.Lender); ok {
		h.Reserved, err = l.Lend(backend.Addr(a.base))
		return h, c.fail(err)
	}
	e, err := c.state.export(a)
	if err != nil {
		return h, err
	}
	h.Reserved = e.handle(ipcMemory, a)
	return h, nil
}

// IpcOpenMemHandle maps memory of another process. Opened again, it is the same address.
func (t *Thread) IpcOpenMemHandle(h cu.CUipcMemHandle, flags uint32) (DevPtr, error) {
	c, err := t.context()
	if err != nil {
		return 0, err
	}
	if flags != uint32(cu.CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) {
		return 0, errInvalidValue
	}
	if l, ok := c.dev.dev.Memory().(backend.Lender); ok {
		return c.borrow(l, h.Reserved)
	}
	k, err := readHandle(h.Reserved, ipcMemory)
	if err != nil {
		return 0, err
	}
	return c.mapShared(k, nil)
}

// borrow has a vendor's runtime map what a handle of its own names.
func (c *Context) borrow(l backend.Lender, h [64]byte) (DevPtr, error) {
	if binary.LittleEndian.Uint64(h[:]) == ipcMagic { // of a device that shares the process's memory
		return 0, errInvalidValue
	}
	return c.openShared(func(s *sharing) (*alloc, *imported, error) {
		if at := s.own[h]; at != 0 {
			return nil, s.in[at], nil
		}
		at, n, err := l.Borrow(h)
		if err != nil {
			return nil, nil, c.fail(err)
		}
		i := &imported{dev: c.dev, at: uint64(at), base: uint64(at), length: n, lender: l, lent: h}
		return &alloc{base: i.at, size: n, kind: allocShared}, i, nil
	})
}

// openShared opens memory of another process, or counts one more opening of what is open. Memory of a pool is freed once.
func (c *Context) openShared(open func(*sharing) (*alloc, *imported, error)) (DevPtr, error) {
	s := &c.state.sharing
	s.mu.Lock()
	a, i, err := open(s)
	if err == nil && (a != nil || i.key.kind != ipcPoolPointer) {
		i.refs++
	}
	if err == nil && a != nil {
		s.add(i)
	}
	s.mu.Unlock()
	if err == nil && a != nil {
		err = c.newAlloc(a) // which closes it again if the context has ended; not under the lock, which that takes
	}
	if err != nil {
		return 0, err
	}
	return DevPtr(i.at), nil
}

// add notes what was opened.
//
// Preconditions: mu is held.
func (s *sharing) add(i *imported) {
	if s.in == nil {
		s.in, s.key, s.own = map[uint64]*imported{}, map[ipcHandle]uint64{}, map[[64]byte]uint64{}
	}
	s.in[i.at] = i
	switch {
	case i.lender != nil:
		s.own[i.lent] = i.at
	default:
		s.key[i.key] = i.at
	}
}

// mapShared maps what a handle names, of another process's pool if it is of one.
func (c *Context) mapShared(k ipcHandle, from *Pool) (DevPtr, error) {
	v := c.dev.files()
	if v == nil {
		return 0, errNotSupported
	}
	return c.openShared(func(s *sharing) (*alloc, *imported, error) {
		if at := s.key[k]; at != 0 {
			return nil, s.in[at], nil
		}
		if k.length%v.Unit() != 0 {
			return nil, nil, errInvalidValue
		}
		fd, err := k.open()
		if err != nil {
			return nil, nil, err
		}
		defer v.CloseFile(fd, 0)
		base, err := v.Reserve(k.length, 0)
		if err != nil {
			return nil, nil, plain(err)
		}
		if err = v.Map(base, k.length, fd, 0); err == nil {
			if err = v.SetAccess(base, k.length, true); err != nil {
				_ = v.Unmap(base, k.length)
			}
		}
		if err != nil {
			_ = v.Unreserve(base, k.length)
			return nil, nil, plain(err)
		}
		i := &imported{dev: c.dev, at: uint64(base) + k.off, base: uint64(base), length: k.length, key: k}
		return &alloc{base: i.at, size: k.size, kind: allocShared, from: from}, i, nil
	})
}

func (i *imported) unmap() {
	if i.lender != nil {
		_ = i.lender.Return(backend.Addr(i.base)) // nobody is left to hear
		return
	}
	v := i.dev.virtual()
	if v.Unmap(backend.Addr(i.base), i.length) == nil {
		_ = v.Unreserve(backend.Addr(i.base), i.length)
	}
}

// forgetShared unmaps memory of another process once its allocation here is gone.
func (s *state) forgetShared(at uint64) {
	s.sharing.mu.Lock()
	defer s.sharing.mu.Unlock()
	if i := s.sharing.in[at]; i != nil {
		delete(s.sharing.in, at)
		delete(s.sharing.key, i.key)
		if i.lender != nil {
			delete(s.sharing.own, i.lent)
		}
		i.unmap()
	}
}

// closeShared takes one opening back; the last one unmaps, once the context's work is done.
func (s *state) closeShared(p DevPtr) error {
	a := s.allocs.find(uint64(p))
	if a == nil || a.base != uint64(p) || a.kind != allocShared {
		return errInvalidValue
	}
	s.sharing.mu.Lock()
	i := s.sharing.in[a.base]
	last := i != nil && i.refs == 1
	if i != nil && !last {
		i.refs--
	}
	s.sharing.mu.Unlock()
	if i == nil || !last {
		if i == nil {
			return errInvalidValue
		}
		return nil
	}
	if err := a.ctx.sync(); err != nil {
		return err
	}
	if !s.allocs.take(a) {
		return errInvalidValue
	}
	a.release()
	return nil
}

// IpcCloseMemHandle unmaps memory of another process.
func (t *Thread) IpcCloseMemHandle(p DevPtr) error {
	c, err := t.context()
	if err != nil {
		return err
	}
	if a := c.state.allocs.find(uint64(p)); a != nil && a.from != nil {
		return errInvalidValue
	}
	return c.state.closeShared(p)
}
