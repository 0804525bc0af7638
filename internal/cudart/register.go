package cudart

import (
	"slices"
	"structs"
	"sync"
	"sync/atomic"

	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/lockrank"
	"kudzu/internal/spec/cu"
)

// Note is one record of what __cudaRegister* was told: the mirror of struct kz_note in c/base/register.h.
type Note struct {
	_ structs.HostLayout

	Kind   int32
	Detail int32
	Fatbin uint64
	Host   hostmem.Ptr
	Name   hostmem.Ptr
	Size   uint64
}

// The kinds of note.
const (
	noteFatbin int32 = iota + 1
	noteKernel
	noteVariable
	noteManaged
	noteHostVariable
	noteGone
	noteTexture
	noteSurface
)

// fatbin is one translation unit's code. It becomes a library of the driver when one of its kernels or variables is used.
type fatbin struct {
	number  uint64
	wrapper hostmem.Ptr
	entries []*entry // guarded by registry.mu

	mu     lockrank.Mutex[lockrank.RuntimeFatbin]
	lib    cu.CUlibrary // guarded by mu: 0 until it is used
	gone   bool         // guarded by mu: unregistered
	placed bool         // guarded by mu: the program's pointers to managed variables are set
}

// entry is a kernel or variable that the program names by an address of its own.
type entry struct {
	fatbin *fatbin
	kind   int32
	host   hostmem.Ptr
	name   hostmem.Ptr // read when it is first used: its library may be gone before
	size   uint64
	detail int32
	offset atomic.Uint64 // of a texture: what its last binding skipped
	kernel atomic.Uint64 // CUkernel, once looked up
}

// registry is what programs have registered. The base takes the notes, in static constructors; they are read here when a
// kernel or variable is asked for, which is the first time that memory of the program is touched.
type registry struct {
	noted *atomic.Uint64   // counts notes ever made
	take  func([]Note) int // moves notes out of the base

	seen    atomic.Uint64                          // noted when the tables were last brought up to date
	symbols atomic.Pointer[map[hostmem.Ptr]*entry] // replaced, never changed in place

	stubs sync.Map // CUkernel to the address of the stub it was found by

	mu      lockrank.Mutex[lockrank.RuntimeRegistry]
	fatbins map[uint64]*fatbin // guarded by mu
}

// stub is the address a program names a kernel by; a kernel that it found otherwise names itself.
func (r *registry) stub(k cu.CUkernel) hostmem.Ptr {
	if p, ok := r.stubs.Load(k); ok {
		return p.(hostmem.Ptr)
	}
	return hostmem.Ptr(k)
}

var registered registry

// Start says where notes of registrations come from, and where the error is that lasts. It is the wiring's to call, once, before any
// other call.
func Start(noted *atomic.Uint64, last *atomic.Int32, take func([]Note) int) {
	registered.noted, lasting, registered.take = noted, last, take
}

// find is the kernel or variable with an address, or nil.
func (r *registry) find(d *driver.Thread, host hostmem.Ptr) *entry {
	if r.noted != nil && r.noted.Load() != r.seen.Load() {
		r.update(d)
	}
	if m := r.symbols.Load(); m != nil {
		return (*m)[host]
	}
	return nil
}

// update brings the tables up to date with the notes.
func (r *registry) update(d *driver.Thread) {
	// A unit's end waits for its kernels, whose host functions may come here: not under the lock.
	var gone []*fatbin
	defer func() {
		for _, f := range gone {
			f.drop(d)
		}
	}()
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.noted.Load()
	if r.fatbins == nil {
		r.fatbins = map[uint64]*fatbin{}
	}
	fresh := map[hostmem.Ptr]*entry{}
	if m := r.symbols.Load(); m != nil {
		for p, e := range *m {
			fresh[p] = e
		}
	}
	buf := make([]Note, 1024)
	for n := r.take(buf); n > 0; n = r.take(buf) {
		for _, note := range buf[:n] {
			switch note.Kind {
			case noteFatbin:
				r.fatbins[note.Fatbin] = &fatbin{number: note.Fatbin, wrapper: note.Host}
			case noteGone:
				if f := r.fatbins[note.Fatbin]; f != nil {
					delete(r.fatbins, note.Fatbin)
					gone = append(gone, f)
				}
			case noteKernel, noteVariable, noteManaged, noteHostVariable, noteTexture, noteSurface:
				f := r.fatbins[note.Fatbin]
				if f == nil {
					continue
				}
				e := &entry{fatbin: f, kind: note.Kind, host: note.Host, name: note.Name, size: note.Size, detail: note.Detail}
				f.entries = append(f.entries, e)
				if fresh[e.host] == nil { // a template's stub may be registered by several units; each has the code
					fresh[e.host] = e
				}
			}
		}
	}
	if len(gone) > 0 {
		fresh = r.all()
	}
	r.symbols.Store(&fresh)
	if len(gone) > 0 { // before seen, from which on C takes an address for what it was (kz_door_launch_runtime)
		d.EndTickets()
	}
	r.seen.Store(now)
}

// all is the table made anew of what is still registered.
//
// Preconditions: r.mu is held.
func (r *registry) all() map[hostmem.Ptr]*entry {
	var units []*fatbin
	for _, f := range r.fatbins {
		units = append(units, f)
	}
	slices.SortFunc(units, func(a, b *fatbin) int {
		if a.number < b.number {
			return -1
		}
		return 1
	})
	table := map[hostmem.Ptr]*entry{}
	for _, f := range units {
		for _, e := range f.entries {
			if table[e.host] == nil {
				table[e.host] = e
			}
		}
	}
	return table
}

// alias makes a managed variable known by its address too, which is what a program passes for it.
func (r *registry) alias(at hostmem.Ptr, e *entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fresh := map[hostmem.Ptr]*entry{}
	for p, old := range *r.symbols.Load() {
		fresh[p] = old
	}
	fresh[at] = e
	r.symbols.Store(&fresh)
}

// forget makes the pointers to managed variables be set again: the contexts they were for have ended.
func (r *registry) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range r.fatbins {
		f.mu.Lock()
		f.placed = false
		f.mu.Unlock()
	}
}

// drop ends a unit that was unregistered.
func (f *fatbin) drop(d *driver.Thread) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.gone = true
	if f.lib == 0 {
		return
	}
	for _, e := range f.entries { // nobody adds to them any more
		registered.stubs.Delete(cu.CUkernel(e.kernel.Load()))
	}
	_ = d.LibraryUnload(f.lib) // a fault of its kernels is for other calls to tell
}

// library is the unit as a library of the driver. The image is read, and copied, at the first call.
func (f *fatbin) library(d *driver.Thread) (cu.CUlibrary, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.gone:
		return 0, errInvalidFunction
	case f.lib != 0:
		return f.lib, nil
	}
	lib, err := d.LibraryLoadData(f.wrapper, 0, 0, 0, 0, 0, 0)
	f.lib = lib
	return lib, err
}

// kernelOf is the kernel a launch names: the address of its stub, or a kernel or function of the driver. Any other value
// is taken for such a handle, as NVIDIA's runtimes 12.9 and 13.4 do, and so it is a bad one.
func (t *Thread) kernelOf(d *driver.Thread, fn hostmem.Ptr) (cu.CUkernel, error) {
	e := registered.find(d, fn)
	if e == nil {
		switch {
		case fn == hostmem.Nil:
			return 0, errInvalidFunction
		case d.IsKernel(cu.CUfunction(fn)):
			return cu.CUkernel(fn), nil
		}
		return 0, errInvalidHandle
	}
	if k := e.kernel.Load(); k != 0 {
		return cu.CUkernel(k), nil
	}
	if e.kind != noteKernel {
		return 0, errInvalidFunction
	}
	name := hostmem.String(e.name)
	lib, err := e.fatbin.library(d)
	var k cu.CUkernel
	if err == nil {
		k, err = d.LibraryGetKernel(lib, name)
	}
	switch {
	case err == driver.Result(cu.CUDA_ERROR_NOT_FOUND):
		return 0, errInvalidFunction
	case err != nil:
		swallowed(name, err)
		return 0, err
	}
	e.kernel.Store(uint64(k))
	registered.stubs.Store(k, e.host)
	return k, nil
}
