package tap

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/unix"

	"kudzu/internal/backend"
)

var errUnmapped = errors.New("the program has unmapped it")

// copier reads memory that the host does not see: through a queue, into memory that is not Go's.
type copier struct {
	q    backend.Queue
	room []byte
}

const copierBytes = 4 << 20

// read copies memory of the device. Preconditions: the device is quiet.
func (d *Device) read(a uint64, b []byte) error {
	if d.Info().HostVisible {
		if !readable(b, hostBytes(a, uint64(len(b)))) {
			return errUnmapped
		}
		return nil
	}
	c := &d.copies
	if c.q == nil {
		room, err := unix.Mmap(-1, 0, copierBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
		if err != nil {
			return err
		}
		q, err := d.Device.NewQueue(0)
		if err != nil {
			return errors.Join(err, unix.Munmap(room))
		}
		c.q, c.room = q, room
	}
	to := backend.Addr(uintptr(unsafe.Pointer(unsafe.SliceData(c.room))))
	for len(b) > 0 {
		n := min(len(b), len(c.room))
		if err := errors.Join(c.q.Copy(to, backend.Addr(a), uint64(n)), c.q.Sync()); err != nil {
			return err
		}
		copy(b, c.room[:n])
		a, b = a+uint64(n), b[n:]
	}
	return nil
}
