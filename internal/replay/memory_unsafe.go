package replay

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"kudzu/internal/backend"
)

const (
	pageBytes      = 4096
	fixedNoReplace = 0x100000
	firstAddress   = 1 << 16
)

// placed are the pages that are mapped for dumps, in this process: regions may share one.
var placed = map[uint64]bool{}

// place maps memory of this process at an address.
func place(base, size uint64) error {
	if base < firstAddress {
		return fmt.Errorf("no memory at %#x", base)
	}
	first, end := base&^(pageBytes-1), (base+size+pageBytes-1)&^(pageBytes-1)
	for first < end && placed[first] {
		first += pageBytes
	}
	for first < end && placed[end-pageBytes] {
		end -= pageBytes
	}
	if first == end {
		return nil
	}
	p, _, e := syscall.Syscall6(syscall.SYS_MMAP, uintptr(first), uintptr(end-first), syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE|fixedNoReplace, ^uintptr(0), 0)
	if e != 0 {
		return fmt.Errorf("memory at %#x: %w", first, e)
	}
	if uint64(p) != first { // a kernel that does not know the flag takes the address for advice
		_, _, _ = syscall.Syscall(syscall.SYS_MUNMAP, p, uintptr(end-first), 0)
		return fmt.Errorf("no memory at %#x", first)
	}
	placed[first], placed[end-pageBytes] = true, true
	return nil
}

func hostBytes(addr, n uint64) []byte {
	p := uintptr(addr)
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&p)), n) // a device address is never a Go pointer: no conversion for vet to doubt
}

// staging is memory that is not Go's, through which memory is copied that the host does not see.
type staging struct{ room []byte }

const stagingBytes = 4 << 20

func (r *Runner) staged(b []byte, copies func(stage backend.Addr, off, n uint64) error, before bool) error {
	if r.stage == nil {
		room, err := syscall.Mmap(-1, 0, stagingBytes, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
		if err != nil {
			return err
		}
		r.stage = &staging{room}
	}
	room := r.stage.room
	at := backend.Addr(uintptr(unsafe.Pointer(unsafe.SliceData(room))))
	for off := 0; off < len(b); off += len(room) {
		n := min(len(room), len(b)-off)
		if before {
			copy(room, b[off:off+n])
		}
		if err := errors.Join(copies(at, uint64(off), uint64(n)), r.q.Sync()); err != nil {
			return err
		}
		if !before {
			copy(b[off:off+n], room)
		}
	}
	return nil
}

// write puts memory of the device.
func (r *Runner) write(a uint64, b []byte) error {
	if r.dev.Info().HostVisible {
		copy(hostBytes(a, uint64(len(b))), b)
		return nil
	}
	return r.staged(b, func(stage backend.Addr, off, n uint64) error { return r.q.Copy(backend.Addr(a+off), stage, n) }, true)
}

// read gets it.
func (r *Runner) read(a uint64, b []byte) error {
	if r.dev.Info().HostVisible {
		copy(b, hostBytes(a, uint64(len(b))))
		return nil
	}
	return r.staged(b, func(stage backend.Addr, off, n uint64) error { return r.q.Copy(stage, backend.Addr(a+off), n) }, false)
}
