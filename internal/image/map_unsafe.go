package image

import (
	"fmt"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Mapping is an image's code in memory, readable and executable, never writable. It stays until Unmap.
type Mapping struct {
	mem   []byte
	base  uintptr // of the code section
	entry uintptr
	text  uint32
	once  sync.Once
}

// Map puts the image's code into memory of its own: one mmap, one copy, one mprotect. A copy is immune to what
// happens to the cache file afterwards, and works where the cache lies on a noexec file system. Pages are never
// writable and executable at once; where policy forbids to make written memory executable, a memfd is mapped instead.
func (im *Image) Map() (*Mapping, error) {
	if !im.Runs() {
		return nil, fmt.Errorf("image for machine %d does not run here", im.Machine)
	}
	// headerSize bytes before the code keep the alignment that the page-relative relocations were resolved with.
	size := (headerSize + len(im.Code) + os.Getpagesize() - 1) &^ (os.Getpagesize() - 1)
	mem, err := im.anonymous(size)
	if err != nil {
		var second error
		if mem, second = im.memfd(size); second != nil {
			return nil, fmt.Errorf("executable memory of %d bytes: %w; memfd: %w", size, err, second)
		}
	}
	base := uintptr(unsafe.Pointer(unsafe.SliceData(mem))) + headerSize
	return &Mapping{mem: mem, base: base, entry: base + uintptr(im.Entry), text: im.Text}, nil
}

func (im *Image) anonymous(size int) ([]byte, error) {
	mem, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_POPULATE)
	if err != nil {
		return nil, err
	}
	copy(mem[headerSize:], im.Code)
	if err := unix.Mprotect(mem, unix.PROT_READ|unix.PROT_EXEC); err != nil {
		_ = unix.Munmap(mem) // the first error is the one to report
		return nil, err
	}
	flushInstructions(mem)
	return mem, nil
}

func (im *Image) memfd(size int) ([]byte, error) {
	fd, err := unix.MemfdCreate("kudzu image", unix.MFD_CLOEXEC|unix.MFD_EXEC)
	if err == unix.EINVAL { // a kernel before 6.3 does not know MFD_EXEC and behaves as if it were given
		fd, err = unix.MemfdCreate("kudzu image", unix.MFD_CLOEXEC)
	}
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	buf := make([]byte, size)
	copy(buf[headerSize:], im.Code)
	for off := 0; off < len(buf); {
		n, err := unix.Pwrite(fd, buf[off:], int64(off))
		if err != nil {
			return nil, err
		}
		off += n
	}
	mem, err := unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_EXEC, unix.MAP_PRIVATE)
	if err == nil {
		flushInstructions(mem)
	}
	return mem, err
}

// Entry is the address of the kernel's function.
func (m *Mapping) Entry() uintptr { return m.entry }

// Base is the address that line offsets count from.
func (m *Mapping) Base() uintptr { return m.base }

// Contains says whether pc lies in the mapping's instructions, and at which offset.
func (m *Mapping) Contains(pc uintptr) (offset uint32, ok bool) {
	if pc < m.base || pc >= m.base+uintptr(m.text) {
		return 0, false
	}
	return uint32(pc - m.base), true
}

// Unmap gives the memory back. No thread may be in the code. A second call does nothing.
func (m *Mapping) Unmap() error {
	var err error
	m.once.Do(func() { err = unix.Munmap(m.mem) })
	return err
}
