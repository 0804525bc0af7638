// Package rocsparse does calls of cuSPARSE with rocSPARSE on AMD GPUs. The library is opened when the first such call
// comes; what of it stands in for what of cuSPARSE is internal/spec/rocsparse.api (docs/zamd_libraries.md). What it
// does not have our kernels do.
package rocsparse

import (
	"encoding/binary"
	"errors"

	"kudzu/internal/backend"
	"kudzu/internal/config"
	"kudzu/internal/dl"
	"kudzu/internal/driver"
	"kudzu/internal/lockrank"
	"kudzu/internal/shim/abroad"
	"kudzu/internal/shim/cusparse"
	"kudzu/internal/spec/rocsparse"
)

// Config makes a provider.
type Config struct {
	Library string // the path of librocsparse; "" looks for it
	Env     func(string) string
}

// Provider is rocSPARSE.
type Provider struct {
	lib   *abroad.Library
	mu    lockrank.Mutex[lockrank.RocSPARSE]
	users map[user]*handle // guarded by mu
}

var _ cusparse.Provider = (*Provider)(nil)

// user is who has a handle of rocSPARSE's: a handle of cuSPARSE's, on each device it is used with.
type user struct {
	owner any
	dev   int
}

// handle is a rocsparse_handle. Its stream and mode are set and used in one step.
type handle struct {
	mu     lockrank.Mutex[lockrank.RocSPARSEHandle]
	at     uintptr // guarded by mu: 0 once it ended
	stream uintptr // guarded by mu: as set last
	mode   int64   // guarded by mu: as set last
	set    bool    // guarded by mu
}

// Variable names the library outright, or is "none".
const Variable = config.ROCSPARSELibrary

// New returns the provider; nothing is opened.
func New(cfg Config) *Provider {
	six := rocsparse.Rows[rocsparse.Rocsparse_create_const_csr_descr].Name // ROCm 5 has none, and other parameters elsewhere
	return &Provider{lib: abroad.ROCm("cuSPARSE", "rocSPARSE", cfg.Library, Variable, cfg.Env, six, "librocsparse.so.1"), users: map[user]*handle{}}
}

// Name is the library's.
func (p *Provider) Name() string { return "rocSPARSE" }

// Serves: only devices of AMD's have streams that rocSPARSE takes.
func (p *Provider) Serves(d *driver.Thread) bool { return d.AnyAbroad() }

// Library says in one line which library there is, and how much of what we call it has. Its version it tells only
// with a GPU.
func (p *Provider) Library() (string, error) {
	var names []string
	for _, r := range rocsparse.Rows {
		names = append(names, r.Name)
	}
	return p.lib.About("", names)
}

// errRefused: nothing has happened, and our kernels may do it.
var errRefused = errors.New("not done by rocSPARSE")

// call calls a function; arguments are CUDA's numbers.
func (p *Provider) call(f rocsparse.Func, args ...uint64) error {
	row := &rocsparse.Rows[f]
	words := make([]uintptr, len(args))
	for i, a := range args {
		v, ok := row.Args[i].From(int64(a))
		if !ok {
			return errRefused
		}
		words[i] = uintptr(v)
	}
	return statusOf(p.lib.Call(row.Name, row.Params, words...))
}

// make calls a function that writes a handle where its first parameter points.
func (p *Provider) make(f rocsparse.Func, args ...uint64) (uint64, error) {
	out := dl.Alloc(8)
	defer out.Free()
	err := p.call(f, append([]uint64{uint64(out.Addr())}, args...)...)
	return binary.LittleEndian.Uint64(out.Bytes()), err
}

// statusOf is rocSPARSE's answer in cuSPARSE's words. What it does not have, or takes for a mistake before it works,
// is left to our kernels.
func statusOf(status int64) error {
	switch status {
	case rocsparse.Rocsparse_status_not_implemented, rocsparse.Rocsparse_status_arch_mismatch, rocsparse.Rocsparse_status_type_mismatch,
		rocsparse.Rocsparse_status_invalid_pointer, rocsparse.Rocsparse_status_invalid_size, rocsparse.Rocsparse_status_invalid_value,
		rocsparse.Rocsparse_status_requires_sorted_storage, abroad.Missing:
		return errRefused
	}
	return cusparse.Answered(rocsparse.ToCusparseStatus_t(status))
}

// handle finds or makes rocSPARSE's handle for one of cuSPARSE's on a device, which is current.
func (p *Provider) handle(w backend.Where, owner any) (*handle, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	u := user{owner, w.Device}
	if h := p.users[u]; h != nil {
		return h, nil
	}
	at, err := p.make(rocsparse.Rocsparse_create_handle)
	if err != nil {
		return nil, err
	}
	h := &handle{at: uintptr(at)}
	p.users[u] = h
	return h, nil
}

// with runs f with the handle, whose stream and mode are the call's.
func (p *Provider) with(w backend.Where, c *cusparse.Work, f func(h uint64) error) error {
	h, err := p.handle(w, c.Owner)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.at == 0 {
		return errRefused // the handle ended meanwhile
	}
	if !h.set || h.stream != w.Stream || h.mode != int64(c.Mode) {
		h.set = false
		if err := p.call(rocsparse.Rocsparse_set_stream, uint64(h.at), uint64(w.Stream)); err != nil {
			return err
		}
		if err := p.call(rocsparse.Rocsparse_set_pointer_mode, uint64(h.at), uint64(c.Mode)); err != nil {
			return err
		}
		h.stream, h.mode, h.set = w.Stream, int64(c.Mode), true
	}
	return f(uint64(h.at))
}

// Do makes a call if the stream is one of an AMD GPU's and rocSPARSE has the function: descriptors first, and how
// much memory it wants.
func (p *Provider) Do(d *driver.Thread, c *cusparse.Work) (bool, error) {
	make, ok := functions[c.Name]
	if !ok || !suits(c) {
		return false, nil
	}
	s := &session{p: p, c: c}
	status := errRefused
	abroad, err := d.Abroad(c.Stream, "rocsparse_"+c.Name, func(w backend.Where) error {
		if w.Runtime == "hip" && p.lib.Open() != nil {
			status = p.with(w, c, func(h uint64) error { return s.describe(h, make) })
		}
		return nil
	})
	defer s.end()
	if err != nil {
		return true, err
	}
	if !abroad || status != nil {
		return answer(status)
	}
	if s.size > 0 { // before the stream is held: it may have to wait
		if s.buffer, err = c.Scratch(int64(s.size)); err != nil {
			return false, nil
		}
	}
	status = errRefused
	if abroad, err = d.Abroad(c.Stream, "rocsparse_"+c.Name, func(w backend.Where) error {
		status = p.with(w, c, s.work)
		return nil
	}); err != nil {
		return true, err
	}
	if !abroad {
		return false, nil
	}
	return answer(status)
}

// answer tells what was not done from what went wrong.
func answer(status error) (bool, error) {
	if errors.Is(status, errRefused) {
		return false, nil
	}
	return true, status
}

// Drop ends the library's handles for one of cuSPARSE's.
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
		_ = p.call(rocsparse.Rocsparse_destroy_handle, uint64(h.at)) // nobody is left to hear of a failure
		h.at = 0
		h.mu.Unlock()
	}
}
