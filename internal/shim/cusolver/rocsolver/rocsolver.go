// Package rocsolver does steps of cuSOLVER with rocSOLVER on AMD GPUs. The library is opened when the first such call
// comes; what of it stands in for what of cuSOLVER is internal/spec/rocsolver.api (docs/zamd_libraries.md). What it
// does not have our kernels do.
package rocsolver

import (
	"errors"
	"math"
	"strings"

	"kudzu/internal/backend"
	"kudzu/internal/config"
	"kudzu/internal/dl"
	"kudzu/internal/driver"
	"kudzu/internal/shim/abroad"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/shim/cublas/rocblas"
	"kudzu/internal/shim/cusolver"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rocsolver"
)

// Config makes a provider.
type Config struct {
	Library string // the path of librocsolver; "" looks for it
	Env     func(string) string
	BLAS    *rocblas.Provider // whose handles rocSOLVER works with
}

// Provider is rocSOLVER.
type Provider struct {
	lib  *abroad.Library
	blas *rocblas.Provider
}

var _ cusolver.Provider = (*Provider)(nil)

// Variable names the library outright, or is "none".
const Variable = config.ROCSOLVERLibrary

// New returns the provider; nothing is opened.
func New(cfg Config) *Provider {
	first := rocsolver.Rows[rocsolver.Rocsolver_spotrf].Name
	return &Provider{abroad.ROCm("cuSOLVER", "rocSOLVER", cfg.Library, Variable, cfg.Env, first, "librocsolver.so.1", "librocsolver.so.0"), cfg.BLAS}
}

// Name is the library's.
func (p *Provider) Name() string { return "rocSOLVER" }

// Serves: only devices of AMD's have streams that rocSOLVER takes.
func (p *Provider) Serves(d *driver.Thread) bool { return d.AnyAbroad() }

// Library says in one line which library there is, and how much of what we call it has.
func (p *Provider) Library() (string, error) {
	version := ""
	if p.lib.Open() != nil {
		const room = 64
		buf := dl.Alloc(room)
		defer buf.Free()
		if p.call(rocsolver.Rocsolver_get_version_string, buf.Addr(), room) == rocsolver.Rocblas_status_success {
			version, _, _ = strings.Cut(string(buf.Bytes()), "\x00")
		}
	}
	var names []string
	for _, r := range rocsolver.Rows {
		names = append(names, r.Name)
	}
	return p.lib.About(version, names)
}

func (p *Provider) call(f rocsolver.Func, args ...uintptr) int64 {
	row := &rocsolver.Rows[f]
	return p.lib.Call(row.Name, row.Params, args...)
}

// errRefused: nothing has happened, and our kernels may do it.
var errRefused = errors.New("not done by rocSOLVER")

// Do makes a call if the stream is one of an AMD GPU's and rocSOLVER has the function.
func (p *Provider) Do(d *driver.Thread, x *cublas.Handle, stream cu.CUstream, name string, args []uint64) (bool, error) {
	f, ok := rocsolver.ByName["rocsolver_"+name]
	if !ok {
		return false, nil
	}
	words, ok := convert(f, name, args)
	if !ok {
		return false, nil
	}
	status := errRefused
	done, err := d.Abroad(stream, rocsolver.Rows[f].Name, func(w backend.Where) error {
		if w.Runtime != "hip" || p.blas == nil || p.lib.Open() == nil {
			return nil
		}
		status = p.blas.With(w, x, func(handle uintptr) error {
			words[0] = handle
			return statusOf(p.call(f, words...))
		})
		return nil
	})
	if err != nil {
		return true, err
	}
	if !done || errors.Is(status, errRefused) || errors.Is(status, rocblas.ErrRefused) {
		return false, nil
	}
	return true, status
}

// svect are the letters of gesvd's jobs.
var svect = map[uint64]uint64{
	'A': rocsolver.Rocblas_svect_all, 'S': rocsolver.Rocblas_svect_singular, 'O': rocsolver.Rocblas_svect_overwrite, 'N': rocsolver.Rocblas_svect_none,
}

// convert turns the arguments into rocSOLVER's, behind its handle; false where there is no value for one.
func convert(f rocsolver.Func, name string, args []uint64) ([]uintptr, bool) {
	if strings.HasSuffix(name, "gesvd") { // letters, and how fast before info
		last := len(args) - 1
		args = append([]uint64{svect[args[0]], svect[args[1]]}, append(args[2:last:last], rocsolver.Rocblas_outofplace, args[last])...)
	}
	row := &rocsolver.Rows[f]
	words := make([]uintptr, len(args)+1)
	for i, a := range args {
		k := row.Args[i+1]
		v, ok := k.From(int64(a))
		if !ok || k == rocsolver.Int32 && (v < math.MinInt32 || v > math.MaxInt32) {
			return nil, false
		}
		words[i+1] = uintptr(v)
	}
	return words, true
}

// Drop ends the handles that were lent for one of cuSOLVER's.
func (p *Provider) Drop(x *cublas.Handle) {
	if p.blas != nil {
		p.blas.Drop(x)
	}
}

// statusOf is rocSOLVER's answer in cuSOLVER's words. What it does not have is left to our kernels, and so is what it
// takes for a mistake: it looks at arguments before it works, and what is a mistake of cuSOLVER's was answered
// before.
func statusOf(status int64) error {
	switch status {
	case rocsolver.Rocblas_status_not_implemented, rocsolver.Rocblas_status_excluded_from_build, rocsolver.Rocblas_status_arch_mismatch,
		rocsolver.Rocblas_status_invalid_pointer, rocsolver.Rocblas_status_invalid_size, rocsolver.Rocblas_status_invalid_value, abroad.Missing:
		return errRefused
	}
	return cusolver.Answered(rocsolver.ToCusolverStatus_t(status))
}
