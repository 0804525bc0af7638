package hip

import (
	"encoding/binary"
	"errors"
	"io"
	"math/bits"

	"kudzu/internal/backend"
	"kudzu/internal/devrt"
	"kudzu/internal/dl"
	"kudzu/internal/lockrank"
	"kudzu/internal/logx"
	"kudzu/internal/spec/hip"
)

// What kernels ask of the host (package devrt): a mailbox and a heap for each device, made when the first kernel that names them is
// loaded. They lie in device memory, so that nothing depends on atomic operations over the bus; the host looks when a program waits
// for a stream on which such a kernel was launched.

const (
	leastRing = 1 << 20
	mostRing  = 1 << 28
	leastHeap = 8 << 20 // CUDA's own default
)

type mailbox struct {
	mu        lockrank.Mutex[lockrank.HIPMailbox]
	box, heap backend.Addr // guarded by mu: 0 before the first kernel asks
	ring      uint32       // guarded by mu: bytes, a power of two
	heapBytes uint64       // guarded by mu
	dropped   uint32       // guarded by mu: how many of State.Dropped were spoken of

	out, err io.Writer
}

// SetLimits notes what a context asked for. One mailbox and one heap serve all contexts of the device, so that the largest counts, and what
// kernels have been given stays as it is.
func (d *device) SetLimits(_, fifo, heap uint64) error {
	m := &d.mailbox
	m.mu.Lock()
	defer m.mu.Unlock()
	if fifo > uint64(m.ring) {
		if m.box != 0 {
			logx.Infof("%s: the buffer for what kernels print stays at %d bytes: kernels use it", d.info.Name, m.ring)
		} else {
			m.ring = 1 << bits.Len64(min(fifo, mostRing)-1)
		}
	}
	if heap > m.heapBytes {
		if m.heap != 0 {
			logx.Infof("%s: the heap of kernels stays at %d bytes: kernels use it", d.info.Name, m.heapBytes)
		} else {
			m.heapBytes = heap
		}
	}
	return nil
}

// lend gives the address of what devrt calls name.
func (d *device) lend(name string) (backend.Addr, error) {
	if name == devrt.Textures {
		d.textures.mu.Lock()
		defer d.textures.mu.Unlock()
		return d.lendTextures()
	}
	m := &d.mailbox
	m.mu.Lock()
	defer m.mu.Unlock()
	switch name {
	case devrt.Mailbox:
		return d.place(&m.box, devrt.HeadBytes+uint64(m.ring), func(backend.Addr) []byte { return devrt.NewMailbox(m.ring) })
	case devrt.Heap:
		return d.place(&m.heap, m.heapBytes, func(a backend.Addr) []byte { return devrt.NewHeap(uint64(a), m.heapBytes) })
	}
	return 0, backend.ErrNotFound
}

// place allocates and writes what begins there, once.
func (d *device) place(at *backend.Addr, n uint64, begin func(backend.Addr) []byte) (backend.Addr, error) {
	if *at != 0 {
		return *at, nil
	}
	a, err := d.Memory().Alloc(n, 256)
	if err != nil {
		return 0, err
	}
	if err := d.upload(a, begin(a)); err != nil {
		return 0, errors.Join(err, d.Memory().Free(a))
	}
	*at = a
	return a, nil
}

// listen reads the mailbox, prints, and reports how a kernel ended that said so. Preconditions: what may have spoken is done.
func (d *device) listen() (backend.FaultKind, string, error) {
	m := &d.mailbox
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.box == 0 {
		return 0, "", nil
	}
	head := make([]byte, devrt.HeadBytes)
	if err := d.download(head, m.box); err != nil {
		return 0, "", err
	}
	s, ok := devrt.ReadState(head, m.ring)
	if !ok { // the program wrote there
		logx.Warnf("%s: what kernels print is lost: its buffer was written over", d.info.Name)
		return 0, "", d.upload(m.box, devrt.NewMailbox(m.ring))
	}
	kind, detail := backend.FaultKind(0), ""
	if s.Pending() {
		list, err := d.records(&s)
		if err != nil {
			return 0, "", err
		}
		for _, r := range list {
			switch {
			case !r.Assertion:
				_, _ = io.WriteString(m.out, r.Text) // a closed stdout is the program's business
			default:
				_, _ = io.WriteString(m.err, r.Text+"\n")
				if kind == 0 {
					kind, detail = backend.FaultAssert, r.Text
				}
			}
		}
	}
	if n := s.Dropped - m.dropped; n != 0 {
		logx.Warnf("%s: %d messages of kernels found no room in their buffer of %d bytes", d.info.Name, n, m.ring)
		m.dropped = s.Dropped
	}
	if s.Trapped {
		if kind == 0 {
			kind, detail = stopped(s.Stopped)
		}
		return kind, detail, d.upload(m.box+devrt.TrappedAt, make([]byte, devrt.StoppedAt+4-devrt.TrappedAt))
	}
	return kind, detail, nil
}

// stopped is how a kernel ended that trapped.
func stopped(why uint32) (backend.FaultKind, string) {
	switch why {
	case devrt.StoppedAddress:
		return backend.FaultAddress, "outside a surface, or no such texture or surface"
	case devrt.StoppedMisaligned:
		return backend.FaultMisaligned, "a surface at an odd place"
	}
	return backend.FaultTrap, "trap"
}

// records takes what is in the ring. Only what was read is cleared, and then the tail moved: others may be writing. Preconditions:
// the mailbox is locked.
func (d *device) records(s *devrt.State) ([]devrt.Message, error) {
	base, size := d.mailbox.box, d.mailbox.ring
	ring := make([]byte, size)
	if err := d.download(ring, base+devrt.HeadBytes); err != nil {
		return nil, err
	}
	list, from, to := s.Drain(ring)
	for at := from; at != to; {
		n := min(to-at, size-at%size)
		if err := d.upload(base+devrt.HeadBytes+backend.Addr(at%size), make([]byte, n)); err != nil {
			return nil, err
		}
		at += n
	}
	return list, d.upload(base+devrt.TailAt, binary.LittleEndian.AppendUint32(nil, to))
}

// download reads device memory and waits.
func (d *device) download(b []byte, from backend.Addr) error {
	s, err := d.own()
	if err != nil {
		return err
	}
	buf := dl.Alloc(len(b))
	defer buf.Free()
	err = d.do(func() error {
		if err := d.api.call(hip.HipMemcpyAsync, buf.Addr(), uintptr(from), uintptr(len(b)), hip.HipMemcpyDeviceToHost, s); err != nil {
			return err
		}
		return d.api.call(hip.HipStreamSynchronize, s)
	})
	copy(b, buf.Bytes())
	return err
}

// heard has the host look at the mailbox after it waited with the result err. done tells that nothing of the queue is left to speak.
func (q *queue) heard(err error, done bool) error {
	if !q.speaks.Load() {
		return err
	}
	if done {
		q.speaks.Store(false)
	}
	kind, detail, e := q.dev.listen()
	var f *backend.Fault
	if errors.As(err, &f) {
		if kind == backend.FaultAssert { // the code for how it ended may know less
			f.Kind, f.Detail = kind, detail
		}
		return err
	}
	if err != nil || e != nil {
		return errors.Join(err, e)
	}
	if kind == 0 {
		return nil
	}
	f = &backend.Fault{Kind: kind, Kernel: backend.CopyKernel, Detail: detail}
	if name := q.last.Load(); name != nil {
		f.Kernel = *name
	}
	q.ended.CompareAndSwap(nil, f)
	return f
}

func (m *mailbox) init(b *Backend) {
	m.ring, m.heapBytes = leastRing, leastHeap
	m.out, m.err = b.cfg.Out, b.cfg.Err
	if m.out == nil {
		m.out = logx.Stdout
	}
	if m.err == nil {
		m.err = logx.Stderr
	}
}
