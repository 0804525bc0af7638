package roster

import (
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// Page is this process's. It is mapped for good and goes with the process.
type Page struct{ words *[pageSize / 8]atomic.Uint64 }

// Join makes this process's page, and removes what others left.
func Join(threads int) (*Page, error) {
	dir, err := folder(true)
	if err != nil {
		return nil, err
	}
	if _, err := sweep(dir); err != nil {
		return nil, err
	}
	start, err := started(os.Getpid())
	if err != nil {
		return nil, err
	}
	// Under another name until it is whole: who sweeps meanwhile would take half a page for one that nobody has.
	name := strconv.Itoa(os.Getpid())
	path := filepath.Join(dir, unfinished+name)
	_ = os.Remove(path) // of a process that had this number
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if _, err := f.Write(make([]byte, pageSize)); err != nil { // not a hole: without room, a store into it would be SIGBUS
		_ = os.Remove(path)
		return nil, err
	}
	b, err := syscall.Mmap(int(f.Fd()), 0, pageSize, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	p := &Page{(*[pageSize / 8]atomic.Uint64)(unsafe.Pointer(unsafe.SliceData(b)))}
	p.words[wordPid].Store(uint64(os.Getpid()))
	p.words[wordStart].Store(start)
	p.words[wordThreads].Store(uint64(threads))
	p.words[wordMagic].Store(magic)
	if err := os.Rename(path, filepath.Join(dir, name)); err != nil {
		_ = os.Remove(path)
		return nil, err
	}
	return p, nil
}

// SetUsed says how much of a device's memory this process has.
func (p *Page) SetUsed(device int, bytes uint64) {
	if p != nil && device >= 0 && device < Devices {
		p.words[wordUsed+device].Store(bytes)
	}
}

// Kernels is the address of the word that counts nanoseconds in kernels.
func (p *Page) Kernels() uintptr { return uintptr(unsafe.Pointer(&p.words[wordKernels])) }
