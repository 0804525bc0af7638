// Package rocblas does calls of cuBLAS with rocBLAS on AMD GPUs. The library is opened when the first such call comes; no header
// of it is needed: what of it stands in for what of cuBLAS, parameter by parameter and number by number, is
// internal/spec/rocblas.api (docs/zamd_libraries.md). What rocBLAS does not have, or refuses as not there, our kernels do.
package rocblas

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"

	"kudzu/internal/backend"
	"kudzu/internal/config"
	"kudzu/internal/dl"
	"kudzu/internal/driver"
	"kudzu/internal/lockrank"
	"kudzu/internal/logx"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/rocblas"
)

// Config makes a provider.
type Config struct {
	Library string // the path of librocblas; "" looks for it
	Env     func(string) string
}

// Provider is rocBLAS.
type Provider struct {
	cfg Config

	once sync.Once
	lib  *dl.Library // nil: there is none
	err  error       // why
	old  bool        // of ROCm 5, whose trmm takes other parameters

	mu    lockrank.Mutex[lockrank.RocBLAS]
	users map[user]*handle // guarded by mu
}

var _ cublas.Provider = (*Provider)(nil)

// user is who has a handle of rocBLAS's: a handle of cuBLAS's, on each device it is used with.
type user struct {
	x   *cublas.Handle
	dev int
}

// handle is a rocblas_handle. Its stream and modes are set and used in one step.
type handle struct {
	mu     lockrank.Mutex[lockrank.RocBLASHandle]
	at     uintptr      // guarded by mu: 0 once it ended
	stream uintptr      // guarded by mu: as set last
	modes  cublas.Modes // guarded by mu: as set last
	set    bool         // guarded by mu
}

// New returns the provider; nothing is opened.
func New(cfg Config) *Provider {
	if cfg.Env == nil {
		cfg.Env = config.Get
	}
	return &Provider{cfg: cfg, users: map[user]*handle{}}
}

// Name is the library's.
func (p *Provider) Name() string { return "rocBLAS" }

// Serves: only devices of AMD's have streams that rocBLAS takes.
func (p *Provider) Serves(d *driver.Thread) bool { return d.AnyAbroad() }

// Variable names the library outright, or is "none".
const Variable = config.ROCBLASLibrary

// library opens librocblas, once; nil if there is none.
func (p *Provider) library() *dl.Library {
	p.once.Do(func() {
		look := dl.Look{
			What: "rocBLAS", Path: p.cfg.Library, Variable: Variable, Env: p.cfg.Env, Names: []string{"librocblas.so.5", "librocblas.so.4", "librocblas.so.3", "librocblas.so.0"},
			Folders: []string{"/opt/rocm/lib/", "/opt/rocm/lib64/"}, Symbol: rocblas.Rows[rocblas.Rocblas_create_handle].Name,
		}
		lib, err := look.Open()
		if err != nil {
			p.err = err
			logx.Infof("cuBLAS on this GPU: kernels of our own (%v)", err)
			return
		}
		p.lib = lib
		_, err = lib.Find(rocblas.Rows[rocblas.Rocblas_set_math_mode].Name) // it came with ROCm 6
		p.old = err != nil
		logx.Infof("cuBLAS on this GPU: rocBLAS %s (%s)", p.version(), lib.Path())
	})
	return p.lib
}

// Library says in one line which library there is, and how much of what we call it has.
func (p *Provider) Library() (string, error) {
	if p.library() == nil {
		return "", p.err
	}
	var names []string
	for _, r := range rocblas.Rows {
		names = append(names, r.Name)
	}
	return fmt.Sprintf("%s, %s, %s", p.lib.Path(), strings.TrimRight(p.version(), "."), p.lib.Count(names)), nil
}

// version is what the library says of itself.
func (p *Provider) version() string {
	const room = 64
	buf := dl.Alloc(room)
	defer buf.Free()
	if p.call(rocblas.Rocblas_get_version_string, buf.Addr(), room) != rocblas.Rocblas_status_success {
		return "of unknown version"
	}
	text, _, _ := strings.Cut(string(buf.Bytes()), "\x00")
	return text
}

// missing is the status of a function that this release does not have.
const missing = -1

// call calls a function of the library.
func (p *Provider) call(f rocblas.Func, args ...uintptr) int64 {
	row := &rocblas.Rows[f]
	status, err := p.lib.Status(row.Name, row.Params, args...)
	if err != nil {
		return missing
	}
	return int64(status)
}

// ErrRefused: nothing has happened, and our kernels may do it.
var ErrRefused = errors.New("not done by rocBLAS")

// Do makes a call if the stream is one of an AMD GPU's and rocBLAS has what it takes.
func (p *Provider) Do(d *driver.Thread, x *cublas.Handle, name string, args []uint64) (bool, error) {
	f, ok := rocblas.ByCUDA[name]
	if !ok {
		return false, nil
	}
	modes := x.Modes()
	status := ErrRefused
	done, err := d.Abroad(modes.Stream, rocblas.Rows[f].Name, func(w backend.Where) error {
		if w.Runtime == "hip" && p.library() != nil {
			status = p.do(w, x, f, modes, args)
		}
		return nil
	})
	if err != nil {
		return true, err
	}
	if !done || errors.Is(status, ErrRefused) {
		return false, nil
	}
	return true, status
}

// do makes the call. The device is current.
func (p *Provider) do(w backend.Where, x *cublas.Handle, f rocblas.Func, modes cublas.Modes, args []uint64) error {
	row := &rocblas.Rows[f]
	if row.Since > 5 && p.old {
		return ErrRefused
	}
	words, ok := convert(f, args)
	if !ok {
		return ErrRefused
	}
	h, err := p.handle(w, x)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := p.ready(h, w.Stream, modes); err != nil {
		return err
	}
	words[0] = h.at
	return statusOf(p.call(f, words...))
}

// convert turns cuBLAS's arguments into rocBLAS's; false where there is no value for one.
func convert(f rocblas.Func, args []uint64) ([]uintptr, bool) {
	row := &rocblas.Rows[f]
	if row.ByHand {
		hand, ok := byHand[f]
		if !ok {
			return nil, false
		}
		return hand(args)
	}
	words := make([]uintptr, len(args))
	for i, k := range row.Args {
		v, ok := k.From(int64(args[i]))
		if !ok || k == rocblas.Int32 && (v < math.MinInt32 || v > math.MaxInt32) {
			return nil, false
		}
		words[i] = uintptr(v)
	}
	return words, true
}

// handle finds or makes rocBLAS's handle for one of cuBLAS's on a device, which is current.
func (p *Provider) handle(w backend.Where, x *cublas.Handle) (*handle, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	u := user{x, w.Device}
	if h := p.users[u]; h != nil {
		return h, nil
	}
	out := dl.Alloc(8)
	defer out.Free()
	if err := statusOf(p.call(rocblas.Rocblas_create_handle, out.Addr())); err != nil {
		return nil, err
	}
	h := &handle{at: uintptr(binary.LittleEndian.Uint64(out.Bytes()))}
	p.users[u] = h
	return h, nil
}

// ready sets stream and modes. Preconditions: h.mu is held.
func (p *Provider) ready(h *handle, stream uintptr, m cublas.Modes) error {
	if h.at == 0 {
		return ErrRefused // the handle ended meanwhile
	}
	if h.set && h.stream == stream && h.modes == m {
		return nil
	}
	pointers, ok1 := rocblas.FromCublasPointerMode_t(int64(m.Pointers))
	atomics, ok2 := rocblas.FromCublasAtomicsMode_t(int64(m.Atomics))
	if !ok1 || !ok2 {
		return ErrRefused
	}
	h.set = false
	if err := statusOf(p.call(rocblas.Rocblas_set_stream, h.at, stream)); err != nil {
		return err
	}
	if err := statusOf(p.call(rocblas.Rocblas_set_pointer_mode, h.at, uintptr(pointers))); err != nil {
		return err
	}
	if err := statusOf(p.call(rocblas.Rocblas_set_atomics_mode, h.at, uintptr(atomics))); err != nil {
		return err
	}
	if !p.old {
		// Every other mode of cuBLAS's allows less than rocBLAS does by itself. Where TF32 is not there, the answer is more exact.
		math, ok := rocblas.FromCublasMath_t(int64(m.Math))
		if !ok {
			math = rocblas.Rocblas_default_math
		}
		p.call(rocblas.Rocblas_set_math_mode, h.at, uintptr(math))
	}
	h.stream, h.modes, h.set = stream, m, true
	return nil
}

// With lends a handle of rocBLAS's on a device, which is current, to a library above it. Nothing is done without rocBLAS.
func (p *Provider) With(w backend.Where, x *cublas.Handle, work func(handle uintptr) error) error {
	if p.library() == nil {
		return ErrRefused
	}
	h, err := p.handle(w, x)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := p.ready(h, w.Stream, cublas.Modes{}); err != nil {
		return err
	}
	return work(h.at)
}

// Drop ends the library's handles for one of cuBLAS's. rocBLAS waits for its work.
func (p *Provider) Drop(x *cublas.Handle) {
	p.mu.Lock()
	var ends []*handle
	for u, h := range p.users {
		if u.x == x {
			ends = append(ends, h)
			delete(p.users, u)
		}
	}
	p.mu.Unlock()
	for _, h := range ends {
		h.mu.Lock()
		p.call(rocblas.Rocblas_destroy_handle, h.at) // nobody is left to hear of a failure
		h.at = 0
		h.mu.Unlock()
	}
}

// statusOf is rocBLAS's answer in cuBLAS's words. What it does not have is left to our kernels.
func statusOf(status int64) error {
	switch status {
	case rocblas.Rocblas_status_not_implemented, rocblas.Rocblas_status_excluded_from_build, rocblas.Rocblas_status_arch_mismatch, missing:
		return ErrRefused
	}
	return cublas.Answered(rocblas.ToCublasStatus_t(status))
}
