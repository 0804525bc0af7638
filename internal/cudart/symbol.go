package cudart

import (
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
)

// global is where a variable lives in the current context, and its size.
func (t *Thread) global(d *driver.Thread, symbol hostmem.Ptr) (driver.DevPtr, uint64, error) {
	e := registered.find(d, symbol)
	if e == nil || e.kind != noteVariable && e.kind != noteManaged {
		return 0, 0, errInvalidSymbol
	}
	p, n, err := e.place(d)
	if err == nil && e.kind == noteManaged {
		err = e.fatbin.placeManaged(d)
	}
	return p, n, err
}

func (e *entry) place(d *driver.Thread) (driver.DevPtr, uint64, error) {
	lib, err := e.fatbin.library(d)
	if err != nil {
		return 0, 0, err
	}
	p, n, err := d.LibraryGetGlobal(lib, hostmem.String(e.name))
	if err == driver.Result(cu.CUDA_ERROR_NOT_FOUND) {
		return 0, 0, errInvalidSymbol
	}
	return p, n, err
}

// placeManaged sets the program's pointers to its managed variables, all of the unit at once.
func (f *fatbin) placeManaged(d *driver.Thread) error {
	f.mu.Lock()
	done := f.placed
	f.mu.Unlock()
	if done {
		return nil
	}
	registered.mu.Lock()
	entries := f.entries
	registered.mu.Unlock()
	for _, e := range entries {
		if e.kind != noteManaged {
			continue
		}
		p, _, err := e.place(d)
		if err != nil {
			return err
		}
		hostmem.Store(e.host, uint64(p))
		registered.alias(hostmem.Ptr(p), e)
	}
	f.mu.Lock()
	f.placed = true
	f.mu.Unlock()
	return nil
}

// GetSymbolAddress writes the address of a variable.
func (t *Thread) GetSymbolAddress(out, symbol hostmem.Ptr) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	if out == hostmem.Nil {
		return errInvalidValue
	}
	p, _, err := t.global(d, symbol)
	if err == nil {
		hostmem.Store(out, uint64(p))
	}
	return err
}

// GetSymbolSize is the size of a variable.
func (t *Thread) GetSymbolSize(symbol hostmem.Ptr) (uint64, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	_, n, err := t.global(d, symbol)
	return n, err
}

// part is the address of n bytes of a variable.
func (t *Thread) part(symbol hostmem.Ptr, n, offset uint64) (hostmem.Ptr, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	p, size, err := t.global(d, symbol)
	if err != nil {
		return 0, err
	}
	if offset > size || n > size-offset {
		return 0, errInvalidValue
	}
	return hostmem.Ptr(p).Add(offset), nil
}

// toSymbol accepts the directions that end in device memory, fromSymbol those that begin there.
func toSymbol(kind rt.CudaMemcpyKind) bool {
	return kind == rt.CudaMemcpyHostToDevice || kind == rt.CudaMemcpyDeviceToDevice || kind == rt.CudaMemcpyDefault
}

func fromSymbol(kind rt.CudaMemcpyKind) bool {
	return kind == rt.CudaMemcpyDeviceToHost || kind == rt.CudaMemcpyDeviceToDevice || kind == rt.CudaMemcpyDefault
}

// MemcpyToSymbol copies into a variable.
func (t *Thread) MemcpyToSymbol(symbol, src hostmem.Ptr, n, offset uint64, kind rt.CudaMemcpyKind) error {
	return t.copyToSymbol(symbol, src, n, offset, kind, 0, false)
}

// MemcpyToSymbolAsync is MemcpyToSymbol in a stream.
func (t *Thread) MemcpyToSymbolAsync(symbol, src hostmem.Ptr, n, offset uint64, kind rt.CudaMemcpyKind, stream rt.CudaStream_t) error {
	return t.copyToSymbol(symbol, src, n, offset, kind, stream, true)
}

func (t *Thread) copyToSymbol(symbol, src hostmem.Ptr, n, offset uint64, kind rt.CudaMemcpyKind, stream rt.CudaStream_t, async bool) error {
	if !toSymbol(kind) {
		return errInvalidDirection
	}
	p, err := t.part(symbol, n, offset)
	if err != nil {
		return err
	}
	return t.memcpy(p, src, n, kind, stream, async)
}

// MemcpyFromSymbol copies out of a variable.
func (t *Thread) MemcpyFromSymbol(dst, symbol hostmem.Ptr, n, offset uint64, kind rt.CudaMemcpyKind) error {
	return t.copyFromSymbol(dst, symbol, n, offset, kind, 0, false)
}

// MemcpyFromSymbolAsync is MemcpyFromSymbol in a stream.
func (t *Thread) MemcpyFromSymbolAsync(dst, symbol hostmem.Ptr, n, offset uint64, kind rt.CudaMemcpyKind, stream rt.CudaStream_t) error {
	return t.copyFromSymbol(dst, symbol, n, offset, kind, stream, true)
}

func (t *Thread) copyFromSymbol(dst, symbol hostmem.Ptr, n, offset uint64, kind rt.CudaMemcpyKind, stream rt.CudaStream_t, async bool) error {
	if !fromSymbol(kind) {
		return errInvalidDirection
	}
	p, err := t.part(symbol, n, offset)
	if err != nil {
		return err
	}
	return t.memcpy(dst, p, n, kind, stream, async)
}
