package nccl

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"kudzu/internal/hostmem"
)

// pipe is a connection to a process of this host that goes through memory: a file of two rings of bytes, one for each direction, which both
// processes have mapped. Who waits sleeps on a futex. The TCP connection beside it carries nothing; its end is the end of the other process.
type pipe struct {
	s       *sock // whose close unmaps
	in, out *ring
}

// conn is what messages go through: a sock or a pipe.
type conn interface {
	read(p []byte) error
	write(p []byte) error
}

const (
	ringBytes = 1 << 16
	lineBytes = 64  // of the cache: words that different processes write are apart
	ringWords = 256 // head, tail, and who sleeps
	pipeStamp = 64  // the communicator's secret
	pipeSize  = 4096 + 2*ringBytes
	pipeSeals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW
	pipeSpin  = 10 * time.Microsecond // a peer that is about to answer is not worth a sleep
	pipeSleep = 50 * time.Millisecond // then the connection is looked at
)

// ring is one direction. Head and tail count all bytes, and wrap around.
type ring struct {
	head, tail     *atomic.Uint32
	reader, writer *atomic.Uint32 // whether it sleeps
	data           []byte
}

func ringOf(mem []byte, i int) *ring {
	word := func(k int) *atomic.Uint32 {
		return hostmem.At[atomic.Uint32](hostmem.Of(&mem[pipeStamp+i*ringWords+k*lineBytes]))
	}
	at := 4096 + i*ringBytes
	return &ring{word(0), word(1), word(2), word(3), mem[at : at+ringBytes]}
}

// newPipe makes the file of a connection that is about to be offered. The descriptor is needed until the other side has answered.
func newPipe(s *sock, key secret) (p *pipe, fd int, err error) {
	fd, err = unix.MemfdCreate("kudzu-nccl", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, -1, err
	}
	// All pages now: there may be no memory for them later, and then a store ends the process.
	if err = unix.Fallocate(fd, 0, 0, pipeSize); err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, pipeSeals)
	}
	if err == nil {
		_, err = unix.Pwrite(fd, key[:], 0)
	}
	if err == nil {
		p, err = s.adopt(fd, 0)
	}
	if err != nil {
		_ = unix.Close(fd)
		return nil, -1, err
	}
	return p, fd, nil
}

// openPipe maps the file that another process offers.
func openPipe(s *sock, key secret, pid, fd int) (*pipe, error) {
	f, err := unix.Open(fmt.Sprintf("/proc/%d/fd/%d", pid, fd), unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(f) }()
	var st unix.Stat_t
	var stamp secret
	seals, err := unix.FcntlInt(uintptr(f), unix.F_GET_SEALS, 0)
	if err != nil || seals&pipeSeals != pipeSeals || unix.Fstat(f, &st) != nil || st.Size != pipeSize {
		return nil, errors.New("not the file of a pipe")
	}
	if n, err := unix.Pread(f, stamp[:], 0); err != nil || n != len(stamp) || stamp != key {
		return nil, errors.New("not the file of this communicator")
	}
	return s.adopt(f, 1)
}

// adopt maps a pipe's file; side 0 writes the first ring.
func (s *sock) adopt(fd, side int) (*pipe, error) {
	mem, err := unix.Mmap(fd, 0, pipeSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.mem = mem
	s.mu.Unlock()
	return &pipe{s, ringOf(mem, 1-side), ringOf(mem, side)}, nil
}

func (p *pipe) read(b []byte) error {
	if err := p.s.enter(); err != nil {
		return err
	}
	defer p.s.leave()
	r := p.in
	for len(b) > 0 {
		tail := r.tail.Load()
		n, err := p.until(r.head, r.reader, func() uint32 { return r.head.Load() - tail })
		if err != nil {
			return err
		}
		at := tail % ringBytes
		k := copy(b, r.data[at:min(ringBytes, at+n)])
		r.tail.Store(tail + uint32(k))
		wake(r.tail, r.writer)
		b = b[k:]
	}
	return nil
}

func (p *pipe) write(b []byte) error {
	if err := p.s.enter(); err != nil {
		return err
	}
	defer p.s.leave()
	r := p.out
	for len(b) > 0 {
		head := r.head.Load()
		n, err := p.until(r.tail, r.writer, func() uint32 { return ringBytes - (head - r.tail.Load()) })
		if err != nil {
			return err
		}
		at := head % ringBytes
		k := copy(r.data[at:min(ringBytes, at+n)], b)
		r.head.Store(head + uint32(k))
		wake(r.head, r.reader)
		b = b[k:]
	}
	return nil
}

// until waits for bytes, or room for some, which the other side changes word for.
func (p *pipe) until(word, asleep *atomic.Uint32, count func() uint32) (uint32, error) {
	var start time.Time
	for spins := 0; ; spins++ {
		seen := word.Load()
		n := count()
		if n > ringBytes {
			return 0, errors.New("the other process wrote over the connection's memory")
		}
		if n > 0 {
			return n, nil
		}
		if spins%16 == 0 && spins > 0 {
			if now := time.Now(); start.IsZero() {
				start = now
			} else if now.Sub(start) > pipeSpin || runtime.NumCPU() == 1 {
				if err := p.sleep(word, asleep, seen, count); err != nil {
					return 0, err
				}
				start = time.Time{}
			}
		}
	}
}

// sleep waits until word is not what was seen. Where that takes long it looks at the connection: what was written before its end counts.
func (p *pipe) sleep(word, asleep *atomic.Uint32, seen uint32, count func() uint32) error {
	asleep.Store(1)
	defer asleep.Store(0)
	if word.Load() != seen {
		return nil
	}
	if !futexWait(word, seen, pipeSleep) {
		return nil
	}
	if err := p.s.alive(); err != nil && count() == 0 {
		return err
	}
	return nil
}

// wake wakes who sleeps until word changes, which it just has.
func wake(word, asleep *atomic.Uint32) {
	if asleep.Load() != 0 {
		futexWake(word)
	}
}

// alive looks whether the other end is there. Nothing is sent through a connection that has a pipe.
func (s *sock) alive() error {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return errClosed
	}
	var b [1]byte
	n, _, err := unix.Recvfrom(s.fd, b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
	switch {
	case err == nil && n == 0:
		return io.ErrUnexpectedEOF
	case err == nil, errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR):
		return nil
	}
	return err
}

const (
	opWait = 0 // FUTEX_WAIT, between processes
	opWake = 1
)

// futexWait sleeps while word is seen, and reports whether it was for the whole time.
func futexWait(word *atomic.Uint32, seen uint32, d time.Duration) (late bool) {
	ts := unix.NsecToTimespec(d.Nanoseconds())
	_, _, errno := unix.Syscall6(unix.SYS_FUTEX, uintptr(hostmem.Of(word)), opWait, uintptr(seen), uintptr(hostmem.Of(&ts)), 0, 0)
	return errno == unix.ETIMEDOUT
}

func futexWake(word *atomic.Uint32) {
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(hostmem.Of(word)), opWake, 1, 0, 0, 0) // nobody may be there
}
