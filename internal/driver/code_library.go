package driver

import (
	"kudzu/internal/handle"
	"kudzu/internal/hostmem"
	"kudzu/internal/lockrank"
	"kudzu/internal/spec/cu"
)

// Library is code that belongs to no context; a context loads it when it first uses it. As the real driver, loading a
// library does not look at the code: errors show up at the first use.
type Library struct {
	handle cu.CUlibrary
	name   string
	opts   jit
	read   func(claim) (string, error) // the image, read from our own copy of it

	mu      lockrank.Mutex[lockrank.DriverLibrary]
	kernels map[string]*Kernel // guarded by mu
	names   []string           // guarded by mu: of the kernels, once known
	known   bool               // guarded by mu
	gone    bool               // guarded by mu: unloaded
	keeps   bool               // guarded by mu: retains the first device's primary context
}

// Kernel is a kernel of a library, in whatever context it is used.
type Kernel struct {
	lib    *Library
	handle cu.CUkernel
	name   string

	mu  lockrank.Mutex[lockrank.DriverKernel]
	set map[int32]map[cu.CUfunction_attribute]int32 // guarded by mu: by device; taken on by the functions made later
}

// library finds a library.
func (t *Thread) library(h cu.CUlibrary) (*state, *Library, error) {
	s, err := t.enter()
	if err != nil {
		return nil, nil, err
	}
	l := s.libraries.Get(handleValue(h))
	if l == nil {
		return nil, nil, errInvalidHandle
	}
	return s, l, nil
}

// newLibrary makes a library of an image that read finds.
func (t *Thread) newLibrary(name string, n uint32, options, values hostmem.Ptr, nlib uint32, libOpts hostmem.Ptr, read func(claim) (string, error)) (cu.CUlibrary, error) {
	s, err := t.enter()
	if err != nil {
		return 0, err
	}
	for i := range int(min(nlib, maxLaunchAttrs)) {
		if o := hostmem.Load[cu.CUlibraryOption](libOpts.Index(i, 4)); o < 0 || o >= cu.CU_LIBRARY_NUM_OPTIONS {
			return 0, errInvalidValue
		}
	}
	j, err := newJIT(n, options, values)
	if err != nil {
		return 0, err
	}
	l := &Library{name: name, opts: *j, kernels: map[string]*Kernel{}, read: read}
	// The options' buffers may be gone when the code is compiled: nothing is written to them later.
	l.opts.info, l.opts.errs, l.opts.wall = logBuffer{}, logBuffer{}, 0
	h := s.libraries.New(l)
	if h == 0 {
		return 0, errOutOfMemory
	}
	l.handle = cu.CUlibrary(h)
	return l.handle, j.finish(nil)
}

// LibraryLoadData makes a library of an image.
func (t *Thread) LibraryLoadData(code, options, values hostmem.Ptr, n uint32, libOpts, libValues hostmem.Ptr, nlib uint32) (cu.CUlibrary, error) {
	s, err := t.enter()
	if err != nil {
		return 0, err
	}
	if code == hostmem.Nil {
		return 0, errInvalidValue
	}
	// The image is read now, because the program may free it.
	read, _ := s.readForAll(func(c claim) (string, error) { return readImage(code, c) })
	return t.newLibrary("library", n, options, values, nlib, libOpts, read)
}

// readForAll reads an image for every kind of device there is. It gives what was read, by kind, and the answer for the first
// device.
func (s *state) readForAll(read func(claim) (string, error)) (func(claim) (string, error), error) {
	type answer struct {
		text string
		err  error
	}
	of := map[claim]answer{}
	for _, d := range s.devices {
		if _, ok := of[d.claim()]; !ok {
			text, err := read(d.claim())
			of[d.claim()] = answer{text, err}
		}
	}
	first := s.devices[0].claim()
	return func(c claim) (string, error) {
		a, ok := of[c]
		if !ok { // no device is of that kind: the first one's will do
			a = of[first]
		}
		return a.text, a.err
	}, of[first].err
}

// LibraryLoadFromFile makes a library of a file.
func (t *Thread) LibraryLoadFromFile(name string, options, values hostmem.Ptr, n uint32, libOpts, libValues hostmem.Ptr, nlib uint32) (cu.CUlibrary, error) {
	s, err := t.enter()
	if err != nil {
		return 0, err
	}
	read, bad := s.readForAll(func(c claim) (string, error) { return readFile(name, c) })
	if bad == errFileNotFound {
		return 0, bad
	}
	return t.newLibrary(name, n, options, values, nlib, libOpts, read)
}

// LibraryUnload ends a library in every context.
func (t *Thread) LibraryUnload(h cu.CUlibrary) error {
	s, l, err := t.library(h)
	if err != nil {
		return err
	}
	if s.libraries.Delete(handleValue(h)) == nil {
		return errInvalidHandle
	}
	l.mu.Lock()
	l.gone = true
	keeps := l.keeps
	for _, k := range l.kernels {
		s.kernels.Delete(handleValue(k.handle))
	}
	l.mu.Unlock()
	s.changed()
	s.contexts.All(func(_ handle.Value, c *Context) bool {
		c.mu.Lock()
		m := c.loaded[l]
		delete(c.loaded, l)
		c.mu.Unlock()
		if m != nil {
			_ = m.unload() // a fault of the context's work is for its own calls to tell
		}
		return true
	})
	if keeps {
		return t.DevicePrimaryCtxRelease(0)
	}
	return nil
}

// moduleIn is the library's module in a context, loaded at the first call.
func (l *Library) moduleIn(c *Context) (*Module, error) {
	if err := c.usable(); err != nil {
		return nil, err
	}
	c.mu.Lock()
	m := c.loaded[l]
	c.mu.Unlock()
	if m != nil {
		return m, nil
	}
	// One load at a time; the others find it done.
	l.mu.Lock()
	defer l.mu.Unlock()
	c.mu.Lock()
	m = c.loaded[l]
	c.mu.Unlock()
	if m != nil {
		return m, nil
	}
	if l.gone {
		return nil, errInvalidHandle
	}
	text, err := l.read(c.dev.claim())
	j := l.opts
	if err == nil {
		m, err = c.load(l, l.name, text, &j)
	}
	if err = j.finish(err); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.loaded == nil {
		return nil, errDestroyed
	}
	c.loaded[l] = m
	return m, nil
}

// list is the library's kernels, found without a context.
func (l *Library) list(c claim) ([]string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known {
		return l.names, nil
	}
	text, err := l.read(c)
	j := l.opts
	if err == nil {
		var names []string
		if names, err = kernelNames(text); err == nil {
			l.names, l.known = names, true
		}
	}
	return l.names, j.finish(err)
}

// kernel makes the object for a name that list has.
func (l *Library) kernel(s *state, name string) (*Kernel, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k := l.kernels[name]; k != nil {
		return k, nil
	}
	k := &Kernel{lib: l, name: name}
	h := s.kernels.New(k)
	if h == 0 {
		return nil, errOutOfMemory
	}
	k.handle = cu.CUkernel(h)
	l.kernels[name] = k
	return k, nil
}

// LibraryGetKernel finds a kernel by name; no context is needed.
func (t *Thread) LibraryGetKernel(h cu.CUlibrary, name string) (cu.CUkernel, error) {
	s, l, err := t.library(h)
	if err != nil {
		return 0, err
	}
	names, err := l.list(s.devices[0].claim())
	if err != nil {
		return 0, err
	}
	for _, n := range names {
		if n == name {
			k, err := l.kernel(s, name)
			if err != nil {
				return 0, err
			}
			return k.handle, nil
		}
	}
	return 0, missing(name)
}

// LibraryGetKernelCount is the number of kernels.
func (t *Thread) LibraryGetKernelCount(h cu.CUlibrary) (uint32, error) {
	s, l, err := t.library(h)
	if err != nil {
		return 0, err
	}
	names, err := l.list(s.devices[0].claim())
	return uint32(len(names)), err
}

// LibraryEnumerateKernels writes up to n kernels to list.
func (t *Thread) LibraryEnumerateKernels(list hostmem.Ptr, n uint32, h cu.CUlibrary) error {
	s, l, err := t.library(h)
	if err != nil {
		return err
	}
	names, err := l.list(s.devices[0].claim())
	if err != nil {
		return err
	}
	for i, name := range names[:min(int(n), len(names))] {
		k, err := l.kernel(s, name)
		if err != nil {
			return err
		}
		hostmem.Store(list.Index(i, 8), uint64(k.handle))
	}
	return nil
}

// LibraryGetModule is the library's module in the current context.
func (t *Thread) LibraryGetModule(h cu.CUlibrary) (cu.CUmodule, error) {
	m, err := t.libraryModule(h)
	if err != nil {
		return 0, err
	}
	return m.handle, nil
}

func (t *Thread) libraryModule(h cu.CUlibrary) (*Module, error) {
	_, l, err := t.library(h)
	if err != nil {
		return nil, err
	}
	c, err := t.context()
	if err != nil {
		return nil, err
	}
	return l.moduleIn(c)
}

// LibraryGetGlobal is where a variable lives in the current context.
func (t *Thread) LibraryGetGlobal(h cu.CUlibrary, name string) (DevPtr, uint64, error) {
	m, err := t.libraryModule(h)
	if err != nil {
		return 0, 0, err
	}
	return m.global(name)
}

// LibraryGetManaged is where a managed variable lives. Each context has its own here, so it is the current one's; a caller
// without one, as NVIDIA's runtime is at first, gets that of the first device's primary context, which the library then
// keeps alive.
func (t *Thread) LibraryGetManaged(h cu.CUlibrary, name string) (DevPtr, uint64, error) {
	s, l, err := t.library(h)
	if err != nil {
		return 0, 0, err
	}
	c, err := t.context()
	if err == errInvalidContext {
		if c, err = t.keepPrimary(s, l); err != nil {
			return 0, 0, err
		}
	}
	if err != nil {
		return 0, 0, err
	}
	m, err := l.moduleIn(c)
	if err != nil {
		return 0, 0, err
	}
	if !m.managed[name] {
		return 0, 0, errNotFound
	}
	return m.global(name)
}

// keepPrimary is the first device's primary context, retained once for the library.
func (t *Thread) keepPrimary(s *state, l *Library) (*Context, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.gone {
		return nil, errInvalidHandle
	}
	if !l.keeps {
		if _, err := t.DevicePrimaryCtxRetain(0); err != nil {
			return nil, err
		}
		l.keeps = true
	}
	return s.devices[0].primaryContext(s)
}

// kernel finds a kernel.
func (t *Thread) kernel(h cu.CUkernel) (*Kernel, error) {
	s, err := t.enter()
	if err != nil {
		return nil, err
	}
	k := s.kernels.Get(handleValue(h))
	if k == nil {
		return nil, errInvalidHandle
	}
	return k, nil
}

// kernelFunction is a kernel's function in the current context.
func (t *Thread) kernelFunction(k *Kernel) (*Function, error) {
	c, err := t.context()
	if err != nil {
		return nil, err
	}
	return k.in(c)
}

func (k *Kernel) in(c *Context) (*Function, error) {
	m, err := k.lib.moduleIn(c)
	if err != nil {
		return nil, err
	}
	f, err := m.function(k.name)
	if err != nil || f.adopted.Swap(true) {
		return f, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for attr, v := range k.set[c.dev.ordinal] {
		if err := f.setAttribute(attr, v); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// onDevice is a kernel's function in a device's primary context, or in the current one if that is of the device.
func (t *Thread) onDevice(h cu.CUkernel, dev cu.CUdevice) (*Function, func(), error) {
	k, err := t.kernel(h)
	if err != nil {
		return nil, nil, err
	}
	d, err := t.device(dev)
	if err != nil {
		return nil, nil, err
	}
	if c, err := t.context(); err == nil && c.dev == d {
		f, err := k.in(c)
		return f, func() {}, err
	}
	// No context of the device is current: borrow the primary one for the question.
	if _, err := t.DevicePrimaryCtxRetain(dev); err != nil {
		return nil, nil, err
	}
	done := func() { _ = t.DevicePrimaryCtxRelease(dev) }
	f, err := k.in(d.primary)
	if err != nil {
		done()
		return nil, nil, err
	}
	return f, done, nil
}

// KernelGetFunction is the function a kernel is in the current context.
func (t *Thread) KernelGetFunction(h cu.CUkernel) (cu.CUfunction, error) {
	k, err := t.kernel(h)
	if err != nil {
		return 0, err
	}
	f, err := t.kernelFunction(k)
	if err != nil {
		return 0, err
	}
	return f.handle, nil
}

// KernelGetLibrary is the library a kernel belongs to.
func (t *Thread) KernelGetLibrary(h cu.CUkernel) (cu.CUlibrary, error) {
	k, err := t.kernel(h)
	if err != nil {
		return 0, err
	}
	return k.lib.handle, nil
}

// KernelGetAttribute is one number about a kernel on a device.
func (t *Thread) KernelGetAttribute(attr cu.CUfunction_attribute, h cu.CUkernel, dev cu.CUdevice) (int32, error) {
	f, done, err := t.onDevice(h, dev)
	if err != nil {
		return 0, err
	}
	defer done()
	return f.attribute(attr)
}

// KernelSetAttribute sets what may be set, for every context of the device that uses the kernel later too.
func (t *Thread) KernelSetAttribute(attr cu.CUfunction_attribute, v int32, h cu.CUkernel, dev cu.CUdevice) error {
	f, done, err := t.onDevice(h, dev)
	if err != nil {
		return err
	}
	defer done()
	if err := f.setAttribute(attr, v); err != nil {
		return err
	}
	k, err := t.kernel(h)
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.set == nil {
		k.set = map[int32]map[cu.CUfunction_attribute]int32{}
	}
	if k.set[dev] == nil {
		k.set[dev] = map[cu.CUfunction_attribute]int32{}
	}
	k.set[dev][attr] = v
	return nil
}

// KernelGetParamInfo is where a parameter lies in the parameter block.
func (t *Thread) KernelGetParamInfo(h cu.CUkernel, i uint64) (offset, size uint64, err error) {
	f, done, err := t.onDevice(h, 0)
	if err != nil {
		return 0, 0, err
	}
	defer done()
	return paramInfo(f.decl, i)
}

// KernelGetParamCount is the number of parameters.
func (t *Thread) KernelGetParamCount(h cu.CUkernel) (uint64, error) {
	f, done, err := t.onDevice(h, 0)
	if err != nil {
		return 0, err
	}
	defer done()
	return uint64(len(f.decl.Params)), nil
}

// KernelSetCacheConfig checks a preference that nothing depends on here.
func (t *Thread) KernelSetCacheConfig(h cu.CUkernel, config cu.CUfunc_cache, dev cu.CUdevice) error {
	if _, err := t.kernel(h); err != nil {
		return err
	}
	if _, err := t.device(dev); err != nil {
		return err
	}
	if config < cu.CU_FUNC_CACHE_PREFER_NONE || config > cu.CU_FUNC_CACHE_PREFER_EQUAL {
		return errInvalidValue
	}
	return nil
}
