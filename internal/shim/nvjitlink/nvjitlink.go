// Package nvjitlink answers nvJitLink: it links PTX, fat binaries and files of our assembler, and gives a file of our assembler
// back. Codes and logs are those of release 13.5, recorded without a GPU. Machine code and LTO-IR of NVIDIA's are refused; what our
// libNVVM makes for linking is compiled by it.
package nvjitlink

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"kudzu/internal/compile"
	"kudzu/internal/driver"
	"kudzu/internal/handle"
	"kudzu/internal/hostmem"
	"kudzu/internal/lockrank"
	"kudzu/internal/ptx"
	"kudzu/internal/spec/jl"
)

// Thread is the calling thread; its methods are the functions of nvJitLink.
type Thread driver.Thread

// Result is a result code as an error.
type Result jl.NvJitLinkResult

func (r Result) Error() string { return "nvJitLink error " + strconv.Itoa(int(r)) }

// Code is the number C gets for an error.
func Code(err error) int32 {
	var r Result
	switch {
	case err == nil:
		return 0
	case errors.As(err, &r):
		return int32(r)
	}
	return int32(internal)
}

// The codes this package gives.
const (
	badOption    = Result(jl.NVJITLINK_ERROR_UNRECOGNIZED_OPTION)
	noArch       = Result(jl.NVJITLINK_ERROR_MISSING_ARCH)
	invalidInput = Result(jl.NVJITLINK_ERROR_INVALID_INPUT)
	badPTX       = Result(jl.NVJITLINK_ERROR_PTX_COMPILE)
	badIR        = Result(jl.NVJITLINK_ERROR_NVVM_COMPILE)
	internal     = Result(jl.NVJITLINK_ERROR_INTERNAL)
	unknownInput = Result(jl.NVJITLINK_ERROR_UNRECOGNIZED_INPUT)
	nullInput    = Result(jl.NVJITLINK_ERROR_NULL_INPUT)
	incompatible = Result(jl.NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS)
	wrongType    = Result(jl.NVJITLINK_ERROR_INCORRECT_INPUT_TYPE)
	unknownArch  = Result(jl.NVJITLINK_ERROR_UNRECOGNIZED_ARCH)
	oldArch      = Result(jl.NVJITLINK_ERROR_UNSUPPORTED_ARCH)
)

var compiler compile.IRCompiler

// Use names who compiles. It is called before the first function is.
func Use(c compile.IRCompiler) { compiler = c }

// link is one link.
type link struct {
	mu    lockrank.Mutex[lockrank.JitLink]
	opts  options
	parts []ptx.Part // guarded by mu, as all that follows
	ir    []compile.NVVMUnit
	texts strings.Builder    // of ir
	units []compile.NVVMUnit // ir, once it is compiled; texts are still its texts
	ltoir []byte             // of units, as one; nil until somebody asks
	cubin []byte             // nil until the link is complete
	ptx   []byte             // where that was asked for, ended by a NUL
	errs  strings.Builder    // the logs
	info  strings.Builder
	since time.Time // for -time: the creation, or the last step
}

var links = handle.NewTable[link](handle.NvJitLinkHandle, "nvJitLink handles")

func find(h jl.NvJitLinkHandle) (*link, error) {
	if h == 0 {
		return nil, nullInput
	}
	if l := links.Get(handle.Value(h)); l != nil {
		return l, nil
	}
	return nil, invalidInput
}

// maxOptions bounds what a program may pass.
const maxOptions = 1 << 16

// Create begins a link. Bad options are an error that leaves a handle, for its log.
func (t *Thread) Create(out hostmem.Ptr, n uint32, list hostmem.Ptr) error {
	switch {
	case out == hostmem.Nil:
		return nullInput
	case n > maxOptions || n > 0 && list == hostmem.Nil:
		return invalidInput
	}
	var words []string
	for i := range int(n) {
		p := hostmem.Load[hostmem.Ptr](list.Index(i, 8))
		if p == hostmem.Nil {
			return invalidInput
		}
		words = append(words, hostmem.String(p))
	}
	l := &link{since: time.Now()}
	err := l.read(words)
	if err != nil {
		l.opts.known = false // nothing can be linked
	}
	h := links.New(l)
	if h == 0 {
		return internal
	}
	hostmem.Store(out, uint64(h))
	return err
}

// Destroy ends a link.
func (t *Thread) Destroy(at hostmem.Ptr) error {
	if at == hostmem.Nil {
		return nullInput
	}
	h := hostmem.Load[jl.NvJitLinkHandle](at)
	if _, err := find(h); err != nil {
		return err
	}
	if links.Delete(handle.Value(h)) == nil {
		return invalidInput
	}
	hostmem.Store(at, uint64(0))
	return nil
}

// Version12 is the release of the library for CUDA 12.
func (t *Thread) Version12() (major, minor uint32, err error) { return 12, 9, nil }

// Version13 is the release of the library for CUDA 13.
func (t *Thread) Version13() (major, minor uint32, err error) { return 13, 5, nil }

// GetLinkedCubinSize is the size of the file.
func (t *Thread) GetLinkedCubinSize(h jl.NvJitLinkHandle, out hostmem.Ptr) error {
	return size(h, out, (*link).file)
}

// GetLinkedCubin writes the file.
func (t *Thread) GetLinkedCubin(h jl.NvJitLinkHandle, out hostmem.Ptr) error {
	return write(h, out, (*link).file)
}

// GetLinkedPtxSize is the size of the text, with the NUL behind it.
func (t *Thread) GetLinkedPtxSize(h jl.NvJitLinkHandle, out hostmem.Ptr) error {
	return size(h, out, (*link).text)
}

// GetLinkedPtx writes the text.
func (t *Thread) GetLinkedPtx(h jl.NvJitLinkHandle, out hostmem.Ptr) error {
	return write(h, out, (*link).text)
}

// GetLinkedLTOIRSize is the size of all LTO-IR of the link, as one.
func (t *Thread) GetLinkedLTOIRSize(h jl.NvJitLinkHandle, out hostmem.Ptr) error {
	return size(h, out, (*link).merged)
}

// GetLinkedLTOIR writes it.
func (t *Thread) GetLinkedLTOIR(h jl.NvJitLinkHandle, out hostmem.Ptr) error {
	return write(h, out, (*link).merged)
}

// GetErrorLogSize is the size of the errors' log, with the NUL behind it; 0 for an empty one.
func (t *Thread) GetErrorLogSize(h jl.NvJitLinkHandle, out hostmem.Ptr) error {
	return size(h, out, (*link).errors)
}

// GetErrorLog writes it.
func (t *Thread) GetErrorLog(h jl.NvJitLinkHandle, out hostmem.Ptr) error {
	return write(h, out, (*link).errors)
}

// GetInfoLogSize is GetErrorLogSize of the other log.
func (t *Thread) GetInfoLogSize(h jl.NvJitLinkHandle, out hostmem.Ptr) error {
	return size(h, out, (*link).remarks)
}

// GetInfoLog writes it.
func (t *Thread) GetInfoLog(h jl.NvJitLinkHandle, out hostmem.Ptr) error {
	return write(h, out, (*link).remarks)
}

// What can be asked for. Preconditions: l.mu is held.

func (l *link) file() ([]byte, error) {
	switch {
	case l.cubin == nil:
		return nil, internal
	case l.opts.ptx:
		return nil, internal // there is none
	}
	return l.cubin, nil
}

func (l *link) text() ([]byte, error) {
	switch {
	case !l.opts.ptx:
		return nil, invalidInput
	case l.ptx == nil:
		return nil, internal
	}
	return l.ptx, nil
}

func (l *link) merged() ([]byte, error) {
	switch {
	case !l.opts.lto:
		return nil, invalidInput
	case l.cubin == nil || len(l.units) == 0:
		return nil, internal
	case l.ltoir == nil:
		o := l.opts.code
		o.LTO = true
		code, err := compiler.PTX(&compile.NVVM{Units: l.units, Options: o}, l.texts.String())
		if err != nil {
			return nil, l.refuse(internal, "%v\nERROR NVJITLINK_ERROR_NVVM_COMPILE: %s", err, l.units[0].Name)
		}
		l.ltoir = []byte(code)
	}
	return l.ltoir, nil
}

func (l *link) errors() ([]byte, error)  { return ended(l.errs.String()), nil }
func (l *link) remarks() ([]byte, error) { return ended(l.info.String()), nil }

func ended(s string) []byte {
	if s == "" {
		return nil
	}
	return append([]byte(s), 0)
}

func ask(h jl.NvJitLinkHandle, out hostmem.Ptr, what func(*link) ([]byte, error)) ([]byte, error) {
	l, err := find(h)
	if err != nil {
		return nil, err
	}
	if out == hostmem.Nil {
		return nil, nullInput
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return what(l)
}

func size(h jl.NvJitLinkHandle, out hostmem.Ptr, what func(*link) ([]byte, error)) error {
	b, err := ask(h, out, what)
	if err == nil {
		hostmem.Store(out, uint64(len(b)))
	}
	return err
}

func write(h jl.NvJitLinkHandle, out hostmem.Ptr, what func(*link) ([]byte, error)) error {
	b, err := ask(h, out, what)
	if err == nil {
		copy(hostmem.Bytes(out, uint64(len(b))), b)
	}
	return err
}
