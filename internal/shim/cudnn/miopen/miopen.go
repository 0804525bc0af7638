// Package miopen does calls of cuDNN with MIOpen on AMD GPUs. The library is opened when the first such call comes;
// what of it stands in for what of cuDNN is internal/spec/miopen.api (docs/zamd_libraries.md). What it has no
// solution for our kernels do.
package miopen

import (
	"encoding/binary"
	"errors"
	"math"

	"kudzu/internal/backend"
	"kudzu/internal/config"
	"kudzu/internal/dl"
	"kudzu/internal/driver"
	"kudzu/internal/lockrank"
	"kudzu/internal/shim/abroad"
	"kudzu/internal/shim/cudnn"
	"kudzu/internal/spec/miopen"
)

// Config makes a provider.
type Config struct {
	Library string // the path of libMIOpen; "" looks for it
	Env     func(string) string
}

// Provider is MIOpen.
type Provider struct {
	lib   *abroad.Library
	mu    lockrank.Mutex[lockrank.MIOpen]
	users map[user]*handle // guarded by mu
}

var _ cudnn.Provider = (*Provider)(nil)

// user is who has a handle of MIOpen's: a handle of cuDNN's, on each device it is used with.
type user struct {
	owner any
	dev   int
}

// handle is a miopenHandle_t. Its stream is set and used in one step.
type handle struct {
	mu     lockrank.Mutex[lockrank.MIOpenHandle]
	at     uintptr // guarded by mu: 0 once it ended
	stream uintptr // guarded by mu: as set last
	set    bool    // guarded by mu
}

// Variable names the library outright, or is "none".
const Variable = config.MIOpenLibrary

// New returns the provider; nothing is opened.
func New(cfg Config) *Provider {
	first := miopen.Rows[miopen.MiopenConvolutionForwardImmediate].Name
	return &Provider{lib: abroad.ROCm("cuDNN", "MIOpen", cfg.Library, Variable, cfg.Env, first, "libMIOpen.so.1"), users: map[user]*handle{}}
}

// Name is the library's.
func (p *Provider) Name() string { return "MIOpen" }

// Serves: only devices of AMD's have streams that MIOpen takes.
func (p *Provider) Serves(d *driver.Thread) bool { return d.AnyAbroad() }

// Library says in one line which library there is, and how much of what we call it has.
func (p *Provider) Library() (string, error) {
	var names []string
	for _, r := range miopen.Rows {
		names = append(names, r.Name)
	}
	return p.lib.About("", names)
}

// errRefused: nothing has happened, and our kernels may do it.
var errRefused = errors.New("not done by MIOpen")

// call calls a function. What the library does not have, or takes for a mistake before it works, is left to our
// kernels.
func (p *Provider) call(f miopen.Func, args ...uintptr) error {
	row := &miopen.Rows[f]
	status := p.lib.Call(row.Name, row.Params, args...)
	switch status {
	case miopen.MiopenStatusInvalidValue, miopen.MiopenStatusBadParm, miopen.MiopenStatusNotImplemented, miopen.MiopenStatusUnsupportedOp,
		miopen.MiopenStatusVersionMismatch, abroad.Missing:
		return errRefused
	}
	to, known := miopen.ToCudnnStatus_t(status)
	return cudnn.Answered("MIOpen", to, known)
}

// make calls a function that writes a handle where its first parameter points.
func (p *Provider) make(f miopen.Func) (uintptr, error) {
	out := dl.Alloc(8)
	defer out.Free()
	err := p.call(f, out.Addr())
	return uintptr(binary.LittleEndian.Uint64(out.Bytes())), err
}

// handle finds or makes MIOpen's handle for one of cuDNN's on a device, which is current.
func (p *Provider) handle(w backend.Where, owner any) (*handle, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	u := user{owner, w.Device}
	if h := p.users[u]; h != nil {
		return h, nil
	}
	at, err := p.make(miopen.MiopenCreate)
	if err != nil {
		return nil, err
	}
	h := &handle{at: at}
	p.users[u] = h
	return h, nil
}

// Do makes a call if the stream is one of an AMD GPU's and MIOpen has a solution for it.
func (p *Provider) Do(d *driver.Thread, c *cudnn.Work) (bool, error) {
	f, ok := functions[c.Name]
	if !ok {
		return false, nil
	}
	status := errRefused
	done, err := d.Abroad(c.Stream, c.Name, func(w backend.Where) error {
		if w.Runtime == "hip" && p.lib.Open() != nil {
			status = p.do(w, c, f)
		}
		return nil
	})
	if err != nil {
		return true, err
	}
	if !done || errors.Is(status, errRefused) {
		return false, nil
	}
	return true, status
}

// do makes the call. The device is current.
func (p *Provider) do(w backend.Where, c *cudnn.Work, f func(*session) error) error {
	h, err := p.handle(w, c.Owner)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.at == 0 {
		return errRefused // the handle ended meanwhile
	}
	if !h.set || h.stream != w.Stream {
		h.set = false
		if err := p.call(miopen.MiopenSetStream, h.at, w.Stream); err != nil {
			return err
		}
		h.stream, h.set = w.Stream, true
	}
	s := &session{p: p, c: c, h: h.at}
	defer s.end()
	for _, t := range c.Tensors {
		if err := s.tensor(t); err != nil {
			return err
		}
	}
	return f(s)
}

// Drop ends the library's handles for one of cuDNN's.
func (p *Provider) Drop(owner any) {
	p.mu.Lock()
	var ends []*handle
	for u, h := range p.users {
		if u.owner == owner {
			ends = append(ends, h)
			delete(p.users, u)
		}
	}
	p.mu.Unlock()
	for _, h := range ends {
		h.mu.Lock()
		_ = p.call(miopen.MiopenDestroy, h.at) // nobody is left to hear of a failure
		h.at = 0
		h.mu.Unlock()
	}
}

// session is one call: its descriptors, which end with it.
type session struct {
	p     *Provider
	c     *cudnn.Work
	h     uintptr
	descs []uintptr // of the tensors
	ends  []func()
}

func (s *session) end() {
	for _, f := range s.ends {
		f()
	}
}

// descriptor makes one that ends with the session.
func (s *session) descriptor(create, destroy miopen.Func) (uintptr, error) {
	at, err := s.p.make(create)
	if err == nil {
		s.ends = append(s.ends, func() { _ = s.p.call(destroy, at) })
	}
	return at, err
}

// numbers are 32-bit numbers in memory of C's until the session ends.
func (s *session) numbers(list []int64) (uintptr, error) {
	b := dl.Alloc(4*len(list) + 4)
	s.ends = append(s.ends, b.Free)
	for i, v := range list {
		if v < 0 || v > math.MaxInt32 {
			return 0, errRefused
		}
		binary.LittleEndian.PutUint32(b.Bytes()[4*i:], uint32(v))
	}
	return b.Addr(), nil
}

// lists are several.
func (s *session) lists(lists ...[]int64) ([]uintptr, error) {
	var all []uintptr
	for _, l := range lists {
		at, err := s.numbers(l)
		if err != nil {
			return nil, err
		}
		all = append(all, at)
	}
	return all, nil
}

func (s *session) tensor(t cudnn.Tensor) error {
	kind, ok := miopen.FromCudnnDataType_t(int64(t.Type))
	if !ok {
		return errRefused
	}
	at, err := s.descriptor(miopen.MiopenCreateTensorDescriptor, miopen.MiopenDestroyTensorDescriptor)
	if err != nil {
		return err
	}
	l, err := s.lists(t.Dim, t.Stride)
	if err != nil {
		return err
	}
	s.descs = append(s.descs, at)
	return s.p.call(miopen.MiopenSetTensorDescriptor, at, uintptr(kind), uintptr(len(t.Dim)), l[0], l[1])
}
