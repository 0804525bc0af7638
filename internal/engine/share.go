package engine

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// Memory that another process is to see is moved into a file: its pages are copied there and the file is put in their place,
// at the same addresses. The unit is the slab, since small allocations share one.

const (
	shareUnit     = VirtualUnit
	mremapMayMove = 1
	mremapFixed   = 2
)

// shareSpan is the slabs that hold a range.
func shareSpan(addr, n uint64) (lo, length uint64) {
	lo = addr &^ (shareUnit - 1)
	return lo, (addr + n - lo + shareUnit - 1) &^ (shareUnit - 1)
}

// Share moves the slabs that hold a range into a new file and gives it, with the place of addr in it. Nothing may write to
// memory of these slabs meanwhile.
func (m *Memory) Share(addr, n uint64) (fd int, off, length uint64, err error) {
	lo, length := shareSpan(addr, n)
	fd, err = unix.MemfdCreate("kudzu", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING) // who names it to others seals it
	if err != nil {
		return -1, 0, 0, ErrNoMemory
	}
	if err := syscall.Ftruncate(fd, int64(length)); err != nil {
		_ = syscall.Close(fd)
		return -1, 0, 0, ErrNoMemory
	}
	if err := replace(lo, length, fd); err != nil {
		_ = syscall.Close(fd)
		return -1, 0, 0, err
	}
	return fd, addr - lo, length, nil
}

// Unshare makes the slabs this process's own again. Others keep what they mapped.
func (m *Memory) Unshare(addr, n uint64, fd int) error {
	lo, length := shareSpan(addr, n)
	err := replace(lo, length, -1)
	_ = syscall.Close(fd)
	return err
}

// replace puts a copy of the memory in its place: in a file, or the process's own.
func replace(lo, length uint64, fd int) error {
	flags, file := uintptr(syscall.MAP_SHARED), uintptr(fd)
	if fd < 0 {
		flags, file = syscall.MAP_PRIVATE|syscall.MAP_ANONYMOUS|syscall.MAP_NORESERVE, ^uintptr(0)
	}
	tmp, _, errno := syscall.Syscall6(syscall.SYS_MMAP, 0, uintptr(length), syscall.PROT_READ|syscall.PROT_WRITE, flags, file, 0)
	if errno != 0 {
		return ErrNoMemory
	}
	copyPages(uint64(tmp), lo, length)
	_, _, errno = syscall.Syscall6(syscall.SYS_MREMAP, tmp, uintptr(length), uintptr(length), mremapMayMove|mremapFixed, uintptr(lo), 0)
	if errno != 0 {
		_, _, _ = syscall.Syscall(syscall.SYS_MUNMAP, tmp, uintptr(length), 0)
		return ErrNoMemory
	}
	arenaMoved(lo, length)
	return nil
}
