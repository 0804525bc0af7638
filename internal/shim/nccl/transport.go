package nccl

import (
	"errors"
	"strings"
	"time"

	"kudzu/internal/config"
	"kudzu/internal/logx"
	"kudzu/internal/shim"
)

// Link is one end of a connection through another transport than TCP. Its calls come one at a time. 0 waits as long as it takes.
type Link interface {
	Address() []byte // what the other end needs
	Connect(peer []byte) error
	Read(p []byte, limit time.Duration) error
	Write(p []byte, limit time.Duration) error
	Close()
}

// Transport carries bytes between hosts.
type Transport struct {
	Name  string
	Ready func() error // why it is not there
	First func() bool  // whether it is better than TCP here, as far as can be known
	// Open makes one end. fd is a TCP connection to the same process, through which nothing goes; beside says whether this process has
	// closed it, and why it is of no more use.
	Open func(fd int, beside func() (closed bool, err error)) (Link, error)
}

// Transports are asked in their order; what none has goes through TCP. One that is not better than TCP here is taken when it is named, or
// when the other rank offers it.
var Transports shim.Providers[Transport]

const (
	maxAddress = 1 << 16
	linkLimit  = 10 * time.Second // for the first bytes: a network may let TCP pass, and not what a transport uses
)

// taken reports whether a transport is used.
func (t *Transport) taken(offered bool) bool {
	switch name := config.Get(config.NCCLTransport); name {
	case "":
		return offered || t.First()
	default:
		return strings.EqualFold(name, t.Name)
	}
}

// openLink makes this end of another transport's connection, if there is one.
func (s *sock) openLink(offered bool) Link {
	for _, t := range Transports.All() {
		if !t.taken(offered) {
			continue
		}
		l, err := t.Open(s.fd, s.beside)
		if err == nil && len(l.Address()) <= maxAddress {
			return l
		}
		logx.Infof("NCCL: %s: %v", t.Name, err)
	}
	return nil
}

// transport is what this rank offers to those of other hosts.
func transport() string {
	for _, t := range Transports.All() {
		if t.taken(false) && t.Ready() == nil {
			return t.Name
		}
	}
	return "TCP"
}

func (s *sock) beside() (closed bool, err error) {
	err = s.alive()
	return errors.Is(err, errClosed), err
}

// keepLink has the connection's end end the link.
func (s *sock) keepLink(l Link) {
	s.mu.Lock()
	s.link = l
	s.mu.Unlock()
}

// offer is the address of a new link, or nothing.
func (s *sock) offer() []byte {
	l := s.openLink(false)
	if l == nil {
		return nil
	}
	s.keepLink(l)
	return l.Address()
}

// readBlock reads so many bytes.
func (s *sock) readBlock(n int) ([]byte, error) {
	if n < 0 || n > maxAddress {
		return nil, errors.New("the connection sent what it should not")
	}
	b := make([]byte, n)
	if n == 0 {
		return nil, nil
	}
	return b, s.read(b)
}

// takeOffer opens the link that another rank offers, answers, and waits for the secret to come through it. Without one it answers nothing;
// a link that does not work is given back with false.
func (s *sock) takeOffer(key secret, answer, offer []byte) (*far, bool) {
	if len(offer) == 0 {
		return nil, false
	}
	l := s.openLink(true)
	if l == nil {
		return nil, false
	}
	if err := l.Connect(offer); err != nil {
		logx.Infof("NCCL: %v", err)
		l.Close()
		return nil, false
	}
	s.keepLink(l)
	f := &far{s}
	b := append([]byte{answer[0] | linkOpen}, appendWords(nil, len(l.Address()))...)
	var came secret
	if s.write(append(b, l.Address()...)) != nil || f.within(func() error { return l.Read(came[:], linkLimit) }) != nil || came != key {
		return f, false
	}
	return f, true
}

// follow connects the link that was offered to the one that was opened for it, and sends the secret through it.
func (s *sock) follow(key secret) error {
	var size [4]byte
	if err := s.read(size[:]); err != nil {
		return err
	}
	peer, err := s.readBlock(word(size[:]))
	if err != nil {
		return err
	}
	f := &far{s}
	if err = s.link.Connect(peer); err == nil {
		err = f.within(func() error { return s.link.Write(key[:], linkLimit) })
	}
	if err != nil {
		return errors.Join(errLink, err)
	}
	var there [1]byte
	return s.read(there[:])
}

var errLink = errors.New("TCP reaches the rank, and the other transport does not")

// far is a connection that goes through a link.
type far struct{ s *sock }

func (f *far) within(call func() error) error {
	if err := f.s.enter(); err != nil {
		return err
	}
	defer f.s.leave()
	return call()
}

func (f *far) read(p []byte) error {
	return f.within(func() error { return f.s.link.Read(p, 0) })
}

func (f *far) write(p []byte) error {
	return f.within(func() error { return f.s.link.Write(p, 0) })
}
