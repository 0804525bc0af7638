package cudart

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
)

// Libraries are the driver's; the options are numbered alike.

// LibraryGetGlobal writes where a variable lives in the current context.
func (t *Thread) LibraryGetGlobal(out hostmem.Ptr, l rt.CudaLibrary_t, name string) (uint64, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	p, n, err := d.LibraryGetGlobal(cu.CUlibrary(l), name)
	if err == nil && out != hostmem.Nil {
		hostmem.Store(out, uint64(p))
	}
	return n, err
}

// LibraryGetManaged writes where a managed variable lives.
func (t *Thread) LibraryGetManaged(out hostmem.Ptr, l rt.CudaLibrary_t, name string) (uint64, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	p, n, err := d.LibraryGetManaged(cu.CUlibrary(l), name)
	if err == nil && out != hostmem.Nil {
		hostmem.Store(out, uint64(p))
	}
	return n, err
}
