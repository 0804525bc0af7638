package nccl

import (
	"encoding/binary"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"kudzu/internal/config"
	"kudzu/internal/hostmem"
	"kudzu/internal/lockrank"
	"kudzu/internal/logx"
	"kudzu/internal/spec/ncclapi"
)

// sock is one end of a TCP connection. Its calls block: Go's poller has no part in it, because the program may close every file it has.
type sock struct {
	fd int

	mu     lockrank.Mutex[lockrank.NCCLSock]
	users  int // guarded by mu, as all that follows: calls that use fd; the last of them closes it
	closed bool
	mem    []byte // of its pipe
	link   Link   // of another transport
}

var (
	errClosed = errors.New("the connection was closed")
	errLate   = errors.New("no answer in time")
)

func (s *sock) enter() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	s.users++
	return nil
}

func (s *sock) leave() {
	s.mu.Lock()
	last := false
	if s.users--; s.users == 0 && s.closed {
		last = true
		s.release()
	}
	s.mu.Unlock()
	s.unlink(last)
}

// unlink gives back the end of another transport, with which bytes may still be under way.
func (s *sock) unlink(last bool) {
	if last && s.link != nil {
		s.link.Close()
	}
}

// release gives back what nobody uses any more.
//
// Preconditions: mu is held.
func (s *sock) release() {
	_ = unix.Close(s.fd)
	if s.mem != nil {
		_ = unix.Munmap(s.mem)
	}
}

// close ends the connection, and calls under way return.
func (s *sock) close() {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	s.closed = true
	_ = unix.Shutdown(s.fd, unix.SHUT_RDWR) // the other end may be gone
	last := s.users == 0
	if last {
		s.release()
	}
	s.mu.Unlock()
	s.unlink(last)
}

// read fills p.
func (s *sock) read(p []byte) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	for len(p) > 0 {
		n, _, err := unix.Recvfrom(s.fd, p, unix.MSG_WAITALL)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN):
			return errLate
		case err != nil:
			return err
		case n == 0:
			return io.ErrUnexpectedEOF
		default:
			p = p[n:]
		}
	}
	return nil
}

// write sends all of p. It does not raise SIGPIPE.
func (s *sock) write(p []byte) error { return s.send(p, 0) }

const msgMore = unix.MSG_MORE // more follows at once

func (s *sock) send(p []byte, flags int) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	for len(p) > 0 {
		n, err := unix.SendmsgN(s.fd, p, nil, nil, unix.MSG_NOSIGNAL|flags)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
		p = p[max(n, 0):]
	}
	return nil
}

// patience bounds reads, and connecting; 0 does not.
func (s *sock) patience(d time.Duration) {
	tv := unix.NsecToTimeval(d.Nanoseconds())
	_ = unix.SetsockoptTimeval(s.fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &tv) // without it a stranger holds a thread
	_ = unix.SetsockoptTimeval(s.fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &tv)
}

// silence is how long another host may give no sign.
var silence = sync.OnceValue(func() time.Duration {
	n, err := strconv.Atoi(config.Get(config.NCCLTimeout))
	if err != nil || n < 1 || n > 1<<20 {
		n = 15
	}
	return time.Duration(n) * time.Second
})

// prompt sends small messages at once, and ends an idle connection when the other host gives no sign for some time.
func (s *sock) prompt() {
	all := int(silence() / time.Second)
	s.set(unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	s.set(unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, max(1, all/3))
	s.set(unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, max(1, all/5))
	s.set(unix.IPPROTO_TCP, unix.TCP_KEEPCNT, 3)
	s.set(unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1)
}

// set sets an option without which things go on, slower or noticed later.
func (s *sock) set(level, name, value int) { _ = unix.SetsockoptInt(s.fd, level, name, value) }

// watch does the same while bytes are under way. It is for connections that are always read: for one whose other end does not read, that
// would be a sign missing.
func (s *sock) watch() {
	s.set(unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(silence()/time.Millisecond))
}

func (e *endpoint) family() int {
	if e.V6 {
		return unix.AF_INET6
	}
	return unix.AF_INET
}

func (e *endpoint) sockaddr() unix.Sockaddr {
	if e.V6 {
		return &unix.SockaddrInet6{Addr: e.IP, Port: int(e.Port)}
	}
	return &unix.SockaddrInet4{Addr: [4]byte(e.IP[:4]), Port: int(e.Port)}
}

// newSock is a socket of an endpoint's family.
func newSock(e *endpoint) (*sock, error) {
	fd, err := unix.Socket(e.family(), unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return &sock{fd: fd}, nil
}

// dial connects.
func (s *sock) dial(e *endpoint) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	err := unix.Connect(s.fd, e.sockaddr())
	if err == nil {
		s.prompt()
	}
	return err
}

// listen takes connections at an address; port 0: any.
func listen(at endpoint) (*sock, endpoint, error) {
	s, err := newSock(&at)
	if err != nil {
		return nil, at, err
	}
	if at.Port != 0 {
		_ = unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	}
	if err = unix.Bind(s.fd, at.sockaddr()); err == nil {
		err = unix.Listen(s.fd, 1024)
	}
	var own unix.Sockaddr
	if err == nil {
		own, err = unix.Getsockname(s.fd)
	}
	if err != nil {
		s.close()
		return nil, at, err
	}
	switch a := own.(type) {
	case *unix.SockaddrInet4:
		at.Port = uint16(a.Port)
	case *unix.SockaddrInet6:
		at.Port = uint16(a.Port)
	}
	return s, at, nil
}

// accept is the next connection, or an error once the socket is closed.
func (s *sock) accept() (*sock, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.leave()
	for {
		fd, _, err := unix.Accept4(s.fd, unix.SOCK_CLOEXEC)
		switch {
		case err == nil:
			n := &sock{fd: fd}
			n.prompt()
			return n, nil
		case errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE), errors.Is(err, unix.ENOMEM), errors.Is(err, unix.ENOBUFS):
			time.Sleep(100 * time.Millisecond) // the program may close some
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.ECONNABORTED):
		default:
			return nil, err
		}
	}
}

// dataPort is the one listener of this process for connections of other ranks.
var dataPort = sync.OnceValues(func() (endpoint, error) {
	at, err := ownAddress()
	if err != nil {
		return at, err
	}
	s, at, err := listen(at)
	if err != nil {
		return at, err
	}
	go func() {
		for {
			conn, err := s.accept()
			if err != nil {
				return
			}
			go receive(conn)
		}
	}()
	return at, nil
})

// What a connection to the data port is for: its first byte.
const (
	toRank    = iota
	toHub     // of a derived communicator
	toProcess // only to know whether it is there
)

// receive finds out what a connection is for.
func receive(s *sock) {
	var what [1]byte
	s.patience(10 * time.Second)
	err := s.read(what[:])
	switch {
	case err == nil && what[0] == toRank:
		admit(s)
	case err == nil && what[0] == toHub:
		enter(s)
	case err == nil && what[0] == toProcess:
		isHere(s)
	default:
		s.close()
	}
}

// enter gives a connection to the hub it is for. There may be none yet: then the rank tries again.
func enter(s *sock) {
	var key secret
	if s.read(key[:]) != nil {
		s.close()
		return
	}
	h := findHub(key)
	if s.write([]byte{flag(h != nil)}) != nil || h == nil {
		s.close()
		return
	}
	h.serve(s)
}

// greetingSize: what begins a connection between two ranks: the secret, both ranks, the class, process and descriptor of a pipe's file and
// where the secret is in that process's memory; the process is -1 if it is of another host. Then comes the size of the address in another
// transport, 0 if there is none, and the address. One byte answers: the rank has the connection.
const greetingSize = 16 + 5*4 + 8 + 4

// What the answer tells besides.
const (
	pipeOpen = 1 << iota
	mayRead  // the other process's memory
	linkOpen // the other transport's address follows, as above, and one byte more when bytes have come through it
)

// admit gives a connection to the rank it is for, if it knows the communicator.
func admit(s *sock) {
	var b [greetingSize]byte
	if s.read(b[:]) != nil {
		s.close()
		return
	}
	offer, err := s.readBlock(word(b[44:]))
	s.patience(0)
	from, to, k := word(b[16:]), word(b[20:]), class(word(b[24:]))
	c := findLive(secret(b[:16]), to)
	if err != nil || c == nil || from < 0 || from >= c.n || k < 0 || k >= classes || !c.keep(s) {
		s.close()
		return
	}
	var in conn = s
	answer := []byte{0}
	if pid, fd := word(b[28:]), word(b[32:]); pid >= 0 {
		if p, err := openPipe(s, c.key, pid, fd); err == nil {
			in = p
			answer[0] |= pipeOpen
		}
		var found secret
		if n, err := readMemory(pid, binary.LittleEndian.Uint64(b[36:]), found[:]); err == nil && n == len(found) && found == c.key {
			answer[0] |= mayRead
		}
	}
	if far, ok := s.takeOffer(c.key, answer, offer); ok {
		in, answer = far, []byte{0}
	} else if far != nil {
		c.discard(s)
		return
	}
	if k != puts {
		select {
		case c.boxes[k][from].arrived <- in:
		default:
			c.discard(s) // it has one
			return
		}
	}
	// Only now: a rank whose connection is not there yet when it has left would be missed.
	if s.write(answer) != nil {
		c.discard(s)
		return
	}
	if k == puts {
		c.servePuts(in, from)
		c.discard(s)
	}
}

// sharesMemory reports whether a rank's process is reached through memory.
func (c *comm) sharesMemory(rank int) bool {
	return c.members[rank].near(&c.members[c.rank]) && !sharingForbidden()
}

// connect opens the way to a rank of another process.
func (c *comm) connect(o *outlet, k class, to int) error {
	err := c.connectBy(o, k, to, true)
	if errors.Is(err, errLink) {
		logx.Warnf("NCCL: rank %d of %d: %v; TCP it is", c.rank, c.n, err)
		err = c.connectBy(o, k, to, false)
	}
	return err
}

func (c *comm) connectBy(o *outlet, k class, to int, offers bool) error {
	m := &c.members[to]
	s, err := newSock(&m.Addr)
	if err != nil {
		return err
	}
	if !c.keep(s) {
		s.close()
		return errClosed
	}
	o.plain = !c.sharesMemory(to)
	if err = s.dial(&m.Addr); err == nil {
		err = c.greet(o, s, k, to, offers)
	}
	if err != nil {
		o.to = nil
		c.discard(s)
		return errors.Join(failf(ncclapi.NcclRemoteError, "rank %d at %s: %v", to, m.Addr.String(), err), err)
	}
	return nil
}

// greet says who connects, and offers a pipe to a process of this host. Without one, all goes through the connection; bytes that the
// other process may not read from this one's memory do in any case.
func (c *comm) greet(o *outlet, s *sock, k class, to int, offers bool) error {
	pid, fd := -1, -1
	var p *pipe
	if !o.plain {
		pid = int(c.members[c.rank].PID)
		var err error
		if p, fd, err = newPipe(s, c.key); err == nil {
			defer func() { _ = unix.Close(fd) }()
		}
	}
	var offer []byte
	if o.plain && offers {
		offer = s.offer()
	}
	b := append([]byte{toRank}, c.key[:]...)
	b = appendWords(b, c.rank, to, int(k), pid, fd)
	b = binary.LittleEndian.AppendUint64(b, uint64(hostmem.Of(&c.key[0])))
	if err := s.write(append(appendWords(b, len(offer)), offer...)); err != nil {
		return err
	}
	var answer [1]byte
	if err := s.read(answer[:]); err != nil {
		return err
	}
	o.plain = answer[0]&mayRead == 0
	o.to = s
	if answer[0]&linkOpen != 0 {
		o.to = &far{s}
		return s.follow(c.key)
	}
	if p != nil && answer[0]&pipeOpen != 0 {
		o.to = p
	}
	return nil
}

// setTo reports whether one of NCCL's variables has a value.
func setTo(name, value string) bool { return strings.TrimSpace(config.Get(name)) == value }
