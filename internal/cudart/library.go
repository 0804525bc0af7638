package cudart

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
)

// Libraries are the driver's; the options are numbered alike.

// LibraryLoadData makes a library of an image.
func (t *Thread) LibraryLoadData(code, options, values hostmem.Ptr, n uint32, libOpts, libValues hostmem.Ptr, nlib uint32) (rt.CudaLibrary_t, error) {
	d, err := t.started()
	if err != nil {
		return 0, err
	}
	l, err := d.LibraryLoadData(code, options, values, n, libOpts, libValues, nlib)
	return rt.CudaLibrary_t(l), err
}

// LibraryLoadFromFile makes a library of a file.
func (t *Thread) LibraryLoadFromFile(name string, options, values hostmem.Ptr, n uint32, libOpts, libValues hostmem.Ptr, nlib uint32) (rt.CudaLibrary_t, error) {
	d, err := t.started()
	if err != nil {
		return 0, err
	}
	l, err := d.LibraryLoadFromFile(name, options, values, n, libOpts, libValues, nlib)
	return rt.CudaLibrary_t(l), err
}

// LibraryUnload ends a library in every context.
func (t *Thread) LibraryUnload(l rt.CudaLibrary_t) error {
	d, err := t.started()
	if err != nil {
		return err
	}
	return d.LibraryUnload(cu.CUlibrary(l))
}

// LibraryGetKernel finds a kernel by name.
func (t *Thread) LibraryGetKernel(l rt.CudaLibrary_t, name string) (rt.CudaKernel_t, error) {
	d, err := t.started()
	if err != nil {
		return 0, err
	}
	k, err := d.LibraryGetKernel(cu.CUlibrary(l), name)
	return rt.CudaKernel_t(k), err
}

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

// LibraryGetKernelCount is the number of kernels.
func (t *Thread) LibraryGetKernelCount(l rt.CudaLibrary_t) (uint32, error) {
	d, err := t.started()
	if err != nil {
		return 0, err
	}
	return d.LibraryGetKernelCount(cu.CUlibrary(l))
}

// LibraryEnumerateKernels writes up to n kernels to list.
func (t *Thread) LibraryEnumerateKernels(list hostmem.Ptr, n uint32, l rt.CudaLibrary_t) error {
	d, err := t.started()
	if err != nil {
		return err
	}
	return d.LibraryEnumerateKernels(list, n, cu.CUlibrary(l))
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
