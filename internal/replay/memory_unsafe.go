package replay

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"unsafe"

	"kudzu/internal/backend"
)

const (
	pageBytes      = 4096
	fixedNoReplace = 0x100000
	firstAddress   = 1 << 16
)

// span is pages that are mapped for dumps in this process.
type span struct {
	first, end uint64
	users      int // regions of open runners that lie in it
}

// spans are all of them, in order and apart: regions may share a page, and runners a region. Runners are opened and closed by one goroutine.
var spans []span

// pages are those that a region lies in.
func pages(base, size uint64) (first, end uint64) {
	return base &^ (pageBytes - 1), (base + size + pageBytes - 1) &^ (pageBytes - 1)
}

// cut gives the first span at or behind an address, having split one that the address is inside of.
func cut(at uint64) int {
	i, _ := slices.BinarySearchFunc(spans, at, func(s span, at uint64) int { return cmp.Compare(s.end, at+1) }) // the first that ends behind it
	if i < len(spans) && spans[i].first < at {
		s := spans[i]
		s.first, spans[i].end = at, at
		i++
		spans = slices.Insert(spans, i, s)
	}
	return i
}

// place maps memory of this process at an address; unplace gives it back.
func place(base, size uint64) error {
	if base < firstAddress {
		return fmt.Errorf("no memory at %#x", base)
	}
	first, end := pages(base, size)
	cut(end)
	i := cut(first)
	for at := first; at < end; i++ {
		if i < len(spans) && spans[i].first == at {
			spans[i].users++
			at = spans[i].end
			continue
		}
		next := end
		if i < len(spans) {
			next = min(next, spans[i].first)
		}
		if err := mapPages(at, next); err != nil {
			release(first, at)
			return err
		}
		spans = slices.Insert(spans, i, span{at, next, 1})
		at = next
	}
	return nil
}

func unplace(base, size uint64) { release(pages(base, size)) }

// release ends one use of pages that place was called for, and unmaps those that nothing uses.
func release(first, end uint64) {
	cut(end)
	i := cut(first)
	n := i
	for ; i < len(spans) && spans[i].end <= end; i++ {
		s := spans[i]
		if s.users--; s.users > 0 {
			spans[n] = s
			n++
			continue
		}
		_, _, _ = syscall.Syscall(syscall.SYS_MUNMAP, uintptr(s.first), uintptr(s.end-s.first), 0) // ours: it cannot fail but for memory
	}
	spans = slices.Delete(spans, n, i)
}

func mapPages(first, end uint64) error {
	p, _, e := syscall.Syscall6(syscall.SYS_MMAP, uintptr(first), uintptr(end-first), syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE|fixedNoReplace, ^uintptr(0), 0)
	if e != 0 {
		return fmt.Errorf("memory at %#x: %w", first, e)
	}
	if uint64(p) != first { // a kernel that does not know the flag takes the address for advice
		_, _, _ = syscall.Syscall(syscall.SYS_MUNMAP, p, uintptr(end-first), 0)
		return fmt.Errorf("no memory at %#x", first)
	}
	return nil
}

// protect lets the process touch pages, or no longer.
func protect(first, end uint64, on bool) error {
	prot := uintptr(syscall.PROT_NONE)
	if on {
		prot = syscall.PROT_READ | syscall.PROT_WRITE
	}
	if _, _, e := syscall.Syscall(syscall.SYS_MPROTECT, uintptr(first), uintptr(end-first), prot); e != 0 {
		return fmt.Errorf("memory at %#x: %w", first, e)
	}
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

func (s *staging) free() error {
	if s == nil {
		return nil
	}
	return syscall.Munmap(s.room)
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
