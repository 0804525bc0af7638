package nccl

import (
	"encoding/binary"
	"errors"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/ncclapi"
)

// class is a line of messages between two ranks. The messages of a class come in order; collectives and sends of one group go on
// beside each other, so each has a class of its own.
type class int

const (
	collectives class = iota
	sends
	puts // of one side: a goroutine takes them
	classes
)

// eager is the size up to which a message is taken along: its sender does not wait for the receiver.
const eager = 8 << 10

// header comes before the bytes of a message.
type header struct {
	Call  uint64 // what its sender is doing: the receiver must be doing the same
	Size  uint64
	Scale uint64 // the factor of PreMulSum, as bits
	At    uint64 // where the bytes are in the sender's memory; 0: they follow
}

const headerSize = 32

func (h *header) append(b []byte) []byte {
	for _, v := range [...]uint64{h.Call, h.Size, h.Scale, h.At} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}

func (h *header) decode(b []byte) {
	for i, p := range [...]*uint64{&h.Call, &h.Size, &h.Scale, &h.At} {
		*p = binary.LittleEndian.Uint64(b[8*i:])
	}
}

// box is where the messages of one rank and class arrive.
type box struct {
	parcels chan *parcel // of a rank of this process
	arrived chan conn    // the connection of another
	from    conn         // once it was taken; only the receiver touches it
}

func newBox() *box { return &box{parcels: make(chan *parcel, 64), arrived: make(chan conn, 1)} }

// parcel is a message within a process. Its bytes are the sender's memory until done is closed.
type parcel struct {
	header
	view  []byte
	state atomic.Int32
	done  chan struct{}
}

const (
	waiting int32 = iota
	taken         // the receiver reads it: the sender must not go on
	withdrawn
)

// outlet is the way to one rank.
type outlet struct {
	to    conn // to another process
	plain bool // bytes go through the connection
}

// pending is a message that was sent and may not have arrived.
type pending struct {
	c    *comm
	p    *parcel
	o    *outlet
	sent chan error
}

// post sends a message; data must stay until the answer's wait returns.
func (c *comm) post(k class, to int, h header, data []byte) (*pending, error) {
	h.Size = uint64(len(data))
	if peer := c.peers[to]; peer != nil {
		return c.postHere(peer, k, h, data)
	}
	o := c.outlets[k][to]
	if o.to == nil {
		if err := c.connect(o, k, to); err != nil {
			return nil, c.because(err)
		}
	}
	b := h.append(make([]byte, 0, headerSize+eager))
	switch {
	case len(data) <= eager:
		return nil, c.because(o.to.write(append(b, data...)))
	case !o.plain:
		h.At = uint64(hostmem.Of(&data[0]))
		return &pending{c: c, o: o}, c.because(o.to.write(h.append(b[:0])))
	}
	p := &pending{c: c, sent: make(chan error, 1)}
	go func() { p.sent <- errors.Join(o.to.write(b), o.to.write(data)) }()
	return p, nil
}

// postHere sends a message to a rank of this process.
func (c *comm) postHere(peer *comm, k class, h header, data []byte) (*pending, error) {
	p := &parcel{header: h, view: data, done: make(chan struct{})}
	small := len(data) <= eager
	if small {
		p.view = append([]byte(nil), data...)
	}
	select {
	case peer.boxes[k][c.rank].parcels <- p:
	case <-c.dead:
		return nil, c.err()
	case <-peer.dead:
		return nil, c.because(peer.err())
	case <-peer.gone:
		return nil, failf(ncclapi.NcclRemoteError, "rank %d has left", peer.rank)
	}
	if small {
		return nil, nil
	}
	return &pending{c: c, p: p}, nil
}

// wait returns when the bytes are not needed any more. A nil pending was done at once.
func (p *pending) wait() error {
	switch {
	case p == nil:
		return nil
	case p.p != nil:
		select {
		case <-p.p.done:
			return nil
		case <-p.c.dead:
			if !p.p.state.CompareAndSwap(waiting, withdrawn) {
				<-p.p.done
			}
			return p.c.err()
		}
	case p.sent != nil:
		return p.c.because(<-p.sent)
	}
	var answer [1]byte
	if err := p.o.to.read(answer[:]); err != nil {
		return p.c.because(err)
	}
	return nil
}

// because is the reason for which a connection failed. A rank that heard of a loss closes its connections, so that another may see those
// end before it has heard itself: the hub is about to say which rank it was.
func (c *comm) because(err error) error {
	if err == nil {
		return nil
	}
	select {
	case <-c.dead:
		return c.err()
	case <-time.After(time.Second):
		return err
	}
}

// hadIt is what a receiver answers to a message whose bytes are in the sender's memory.
const hadIt = 0

// message is one that has arrived. Its bytes are read once, from the first to the last.
type message struct {
	header
	c    *comm
	src  int
	p    *parcel
	s    conn
	read uint64
}

// next waits for the next message of a rank. call is what this rank is doing.
func (c *comm) next(k class, src int, call uint64) (*message, error) {
	b := c.boxes[k][src]
	m := &message{c: c, src: src}
	var err error
	if c.peers[src] != nil {
		m.p, err = c.nextHere(b, src)
	} else {
		m.s, err = c.nextFrom(b, src, &m.header)
	}
	if err != nil {
		return nil, err
	}
	if m.p != nil {
		m.header = m.p.header
	}
	if m.Call != call {
		_ = m.end()
		return nil, differs(src, m.Call, c.rank, call)
	}
	return m, nil
}

func differs(src int, theirs uint64, rank int, call uint64) error {
	return badUsage("rank %d does %s while rank %d does %s", src, describe(theirs), rank, describe(call))
}

func (c *comm) nextHere(b *box, src int) (*parcel, error) {
	var p *parcel
	select {
	case p = <-b.parcels:
	default:
		select {
		case p = <-b.parcels:
		case <-c.dead:
			return nil, c.err()
		case <-c.away[src]:
			select {
			case p = <-b.parcels:
			default:
				return nil, failf(ncclapi.NcclRemoteError, "rank %d has left", src)
			}
		}
	}
	if !p.state.CompareAndSwap(waiting, taken) {
		return nil, failf(ncclapi.NcclRemoteError, "rank %d was lost", src)
	}
	return p, nil
}

func (c *comm) nextFrom(b *box, src int, h *header) (conn, error) {
	if b.from == nil {
		select {
		case b.from = <-b.arrived:
		case <-c.dead:
			return nil, c.err()
		case <-c.away[src]:
			select {
			case b.from = <-b.arrived:
			default:
				return nil, failf(ncclapi.NcclRemoteError, "rank %d has left", src)
			}
		}
	}
	var raw [headerSize]byte
	if err := b.from.read(raw[:]); err != nil {
		return nil, c.because(failf(ncclapi.NcclRemoteError, "rank %d: %v", src, err))
	}
	h.decode(raw[:])
	return b.from, nil
}

// bytes are the next n bytes: the sender's own, or scratch with a copy.
func (m *message) bytes(n uint64, scratch []byte) ([]byte, error) {
	if m.p != nil {
		b := m.p.view[m.read : m.read+n]
		m.read += n
		return b, nil
	}
	return scratch[:n], m.into(scratch[:n])
}

// into reads the next bytes.
func (m *message) into(dst []byte) error {
	if m.p != nil {
		m.read += uint64(copy(dst, m.p.view[m.read:]))
		return nil
	}
	if m.At != 0 {
		n, err := readMemory(int(m.c.members[m.src].PID), m.At+m.read, dst)
		m.read += uint64(n)
		if err != nil {
			return m.c.because(failf(ncclapi.NcclRemoteError, "rank %d: memory of process %d: %v", m.src, m.c.members[m.src].PID, err))
		}
		return nil
	}
	m.read += uint64(len(dst))
	return m.c.because(m.s.read(dst))
}

// readMemory has the kernel copy from another process's memory.
func readMemory(pid int, at uint64, dst []byte) (done int, err error) {
	for done < len(dst) {
		local := []unix.Iovec{{Base: &dst[done]}}
		local[0].SetLen(len(dst) - done)
		remote := []unix.RemoteIovec{{Base: uintptr(at + uint64(done)), Len: len(dst) - done}}
		n, err := unix.ProcessVMReadv(pid, local, remote, 0)
		if err == nil && n == 0 {
			err = unix.EFAULT
		}
		if err != nil {
			return done, err
		}
		done += n
	}
	return done, nil
}

// end lets the sender go on. A message of which not all was read ends the connection.
func (m *message) end() error {
	switch {
	case m.p != nil:
		close(m.p.done)
		return nil
	case m.At != 0:
		return m.c.because(m.s.write([]byte{hadIt}))
	}
	return nil
}
