package driver

import (
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"kudzu/internal/handle"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// Pools that processes share. A file in memory stands for a pool: it says which one of which process, and nobody can change it.
// An allocation of it is named as other memory is, and by its pool.

// poolNumbers tells the pools of this process apart.
var poolNumbers atomic.Uint32

// poolSeals are those of a pool's file.
const poolSeals = ipcSeals | unix.F_SEAL_WRITE

// poolFile makes the file of a pool; the program gets it, and programs that it starts, as with the real driver.
func (p *Pool) poolFile() (int, error) {
	fd, err := unix.MemfdCreate("kudzu-pool", unix.MFD_ALLOW_SEALING)
	if err != nil {
		return -1, errNoProcess
	}
	h := ipcHandle{kind: ipcPoolFile, pid: uint32(os.Getpid()), pool: p.number, size: 1, length: 1}
	b := h.bytes()
	if _, err = unix.Write(fd, b[:]); err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, poolSeals)
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, errNoProcess
	}
	return fd, nil
}

// readPoolFile says which pool a file stands for. It is a file that one of us wrote and that cannot have been changed since.
func readPoolFile(fd int) (h ipcHandle, err error) {
	seals, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
	if err != nil || seals&poolSeals != poolSeals {
		return h, errUnknown
	}
	var b [64]byte
	if n, err := unix.Pread(fd, b[:], 0); err != nil || n != len(b) {
		return h, errUnknown
	}
	h, ok := parseHandle(b, ipcPoolFile)
	if !ok {
		return h, errUnknown
	}
	return h, nil
}

// MemPoolExportToShareableHandle writes a file that stands for a pool.
func (t *Thread) MemPoolExportToShareableHandle(out hostmem.Ptr, pool cu.CUmemoryPool, kind cu.CUmemAllocationHandleType, flags uint64) error {
	p, err := t.pool(pool)
	if err != nil {
		return err
	}
	if out == hostmem.Nil || flags != 0 || kind != cu.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || p.props.HandleTypes&kind == 0 || p.imported {
		return errInvalidValue
	}
	if p.dev.files() == nil {
		return errNotSupported
	}
	fd, err := p.poolFile()
	if err != nil {
		return err
	}
	p.exported.Store(true)
	hostmem.Store(out, int32(fd))
	return nil
}

// MemPoolImportFromShareableHandle is a pool of another process: pointers can be imported into it, not allocated.
func (t *Thread) MemPoolImportFromShareableHandle(osHandle hostmem.Ptr, kind cu.CUmemAllocationHandleType, flags uint64) (cu.CUmemoryPool, error) {
	s, err := t.enter()
	if err != nil {
		return 0, err
	}
	d, err := t.device(0) // without a context, which this call does not need
	if c, set := t.top(s); set && c != nil {
		d, err = c.dev, nil
	}
	if err != nil {
		return 0, err
	}
	switch {
	case flags != 0:
		return 0, errInvalidValue
	case kind != cu.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR:
		return 0, errNotSupported
	case osHandle > 1<<31-1:
		return 0, errUnknown
	}
	h, err := readPoolFile(int(osHandle))
	if err != nil {
		return 0, err
	}
	d.pools.mu.Lock()
	defer d.pools.mu.Unlock()
	if p := s.imported(h); p != nil {
		return p.handle, nil
	}
	props := cu.CUmemPoolProps{AllocType: cu.CU_MEM_ALLOCATION_TYPE_PINNED}
	props.Location.Type = cu.CU_MEM_LOCATION_TYPE_DEVICE
	*props.Location.Id() = d.ordinal
	p, err := s.newPool(d, props)
	if err != nil {
		return 0, err
	}
	p.imported, p.owner, p.number = true, h.pid, h.pool
	return p.handle, nil
}

// imported is the pool that stands for another process's already.
func (s *state) imported(h ipcHandle) (found *Pool) {
	s.pools.All(func(_ handle.Value, p *Pool) bool {
		if p.imported && p.owner == h.pid && p.number == h.pool {
			found = p
		}
		return found == nil
	})
	return found
}

// MemPoolExportPointer names an allocation of a pool that was exported.
func (t *Thread) MemPoolExportPointer(p DevPtr) (d cu.CUmemPoolPtrExportData, err error) {
	c, err := t.context()
	if err != nil {
		return d, err
	}
	a := c.state.allocs.find(uint64(p))
	if a == nil || a.base != uint64(p) || a.pool == nil || !a.pool.exported.Load() {
		return d, errInvalidValue
	}
	e, err := c.state.export(a)
	if err != nil {
		return d, err
	}
	d.Reserved = e.handle(ipcPoolPointer, a)
	return d, nil
}

// MemPoolImportPointer maps an allocation of another process's pool; it is freed like any other.
func (t *Thread) MemPoolImportPointer(pool cu.CUmemoryPool, data hostmem.Ptr) (DevPtr, error) {
	p, err := t.pool(pool)
	if err != nil {
		return 0, err
	}
	c, err := t.context()
	if err != nil {
		return 0, err
	}
	if !p.imported || data == hostmem.Nil {
		return 0, errInvalidValue
	}
	k, ok := parseHandle(hostmem.Load[cu.CUmemPoolPtrExportData](data).Reserved, ipcPoolPointer) // also in the process that made it
	if !ok || k.pid != p.owner || k.pool != p.number {
		return 0, errInvalidValue
	}
	return c.mapShared(k, p)
}
