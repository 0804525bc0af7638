// Package hipblaslt does products of cuBLASLt with hipBLASLt on AMD GPUs. The library is opened when the first such product comes;
// what of it stands in for what of cuBLASLt is internal/spec/hipblaslt.api (docs/zamd_libraries.md). A product that it has no
// algorithm for is done by our kernels.
package hipblaslt

import (
	"encoding/binary"
	"errors"
	"sync"

	"kudzu/internal/backend"
	"kudzu/internal/config"
	"kudzu/internal/dl"
	"kudzu/internal/driver"
	"kudzu/internal/lockrank"
	"kudzu/internal/logx"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/shim/cublaslt"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/hipblaslt"
)

// Config makes a provider.
type Config struct {
	Library string // the path of libhipblaslt; "" looks for it
	Env     func(string) string
}

// Provider is hipBLASLt.
type Provider struct {
	cfg Config

	once sync.Once
	lib  *dl.Library // nil: there is none
	err  error       // why

	mu      lockrank.Mutex[lockrank.HipBLASLt]
	devices map[int]*device // guarded by mu
}

var _ cublaslt.Provider = (*Provider)(nil)

// device is the library's handle on a device, and the ways that were found to do products there.
type device struct {
	mu    lockrank.Mutex[lockrank.HipBLASLtDevice]
	at    uintptr                 // 0: not to be used; set once
	ways  map[cublaslt.Shape]*way // guarded by mu
	order []cublaslt.Shape        // guarded by mu: the oldest first
}

// New returns the provider; nothing is opened.
func New(cfg Config) *Provider {
	if cfg.Env == nil {
		cfg.Env = config.Get
	}
	return &Provider{cfg: cfg, devices: map[int]*device{}}
}

// Name is the library's.
func (p *Provider) Name() string { return "hipBLASLt" }

// Variable names the library outright, or is "none".
const Variable = config.HIPBLASLtLibrary

// library opens libhipblaslt, once; nil if there is none.
func (p *Provider) library() *dl.Library {
	p.once.Do(func() {
		look := dl.Look{
			What: "hipBLASLt", Path: p.cfg.Library, Variable: Variable, Env: p.cfg.Env, Names: []string{"libhipblaslt.so.1", "libhipblaslt.so.0"},
			Folders: []string{"/opt/rocm/lib/", "/opt/rocm/lib64/"}, Symbol: hipblaslt.Rows[hipblaslt.HipblasLtMatmul].Name,
		}
		lib, err := look.Open()
		if err != nil {
			p.err = err
			logx.Infof("cuBLASLt on this GPU: kernels of our own (%v)", err)
			return
		}
		p.lib = lib
	})
	return p.lib
}

// Library says in one line which library there is, and how much of what we call it has. Its version it tells only with a GPU.
func (p *Provider) Library() (string, error) {
	if p.library() == nil {
		return "", p.err
	}
	var names []string
	for _, r := range hipblaslt.Rows {
		names = append(names, r.Name)
	}
	return p.lib.Path() + ", " + p.lib.Count(names), nil
}

// errRefused: nothing has happened, and our kernels may do it.
var errRefused = errors.New("not done by hipBLASLt")

// call calls a function of the library.
func (p *Provider) call(f hipblaslt.Func, args ...uintptr) error {
	row := &hipblaslt.Rows[f]
	status, err := p.lib.Status(row.Name, row.Params, args...)
	if err != nil || status == hipblaslt.HIPBLAS_STATUS_NOT_SUPPORTED || status == hipblaslt.HIPBLAS_STATUS_ARCH_MISMATCH {
		return errRefused
	}
	return cublas.Answered(hipblaslt.ToCublasStatus_t(int64(status)))
}

// make calls a function that writes a handle where its first parameter points.
func (p *Provider) make(f hipblaslt.Func, args ...uintptr) (uintptr, error) {
	out := dl.Alloc(8)
	defer out.Free()
	err := p.call(f, append([]uintptr{out.Addr()}, args...)...)
	return uintptr(binary.LittleEndian.Uint64(out.Bytes())), err
}

// oldest is the first version whose numbers are the table's: 0.7, of ROCm 6.1.
const oldest = 700

// device finds or makes the handle for a device, which is current; one with no handle is not to be used.
func (p *Provider) device(w backend.Where) *device {
	p.mu.Lock()
	defer p.mu.Unlock()
	if d := p.devices[w.Device]; d != nil {
		return d
	}
	d := &device{ways: map[cublaslt.Shape]*way{}}
	p.devices[w.Device] = d
	at, err := p.make(hipblaslt.HipblasLtCreate)
	if err != nil {
		logx.Infof("cuBLASLt on this GPU: kernels of our own (hipBLASLt: %v)", err)
		return d
	}
	out := dl.Alloc(8)
	defer out.Free()
	err = p.call(hipblaslt.HipblasLtGetVersion, at, out.Addr())
	version := int(int32(binary.LittleEndian.Uint32(out.Bytes())))
	if err != nil || version < oldest {
		logx.Infof("cuBLASLt on this GPU: kernels of our own (hipBLASLt %d is older than ROCm 6.1's)", version)
		_ = p.call(hipblaslt.HipblasLtDestroy, at) // it is not used
		return d
	}
	logx.Infof("cuBLASLt on this GPU: hipBLASLt %d.%d.%d (%s)", version/100000, version/100%1000, version%100, p.lib.Path())
	d.at = at
	return d
}

// workspace is what algorithms may use; those that want more are not taken.
const workspace = 32 << 20

// Matmul does a product if the stream is one of an AMD GPU's and the library has an algorithm for it.
func (p *Provider) Matmul(d *driver.Thread, x *cublas.Handle, stream cu.CUstream, m *cublaslt.Matmul) (bool, error) {
	var dev *device
	abroad, err := d.Abroad(stream, "hipblasLtCreate", func(w backend.Where) error {
		if w.Runtime == "hip" && p.library() != nil {
			dev = p.device(w)
		}
		return nil
	})
	if err != nil {
		return true, err
	}
	if !abroad || dev == nil || dev.at == 0 {
		return false, nil
	}
	_, space := x.Spaces()
	at, err := space.Take(d, stream, workspace) // before the stream is held: it may have to wait
	if err != nil {
		return false, nil // without memory to work in, the kernels that need less
	}
	status := errRefused
	if abroad, err = d.Abroad(stream, "hipblasLtMatmul", func(w backend.Where) error {
		status = p.multiply(dev, m, uintptr(at), w.Stream)
		return nil
	}); err != nil {
		return true, err
	}
	if !abroad || errors.Is(status, errRefused) {
		return false, nil
	}
	return true, status
}

func (p *Provider) multiply(dev *device, m *cublaslt.Matmul, space, stream uintptr) error {
	dev.mu.Lock()
	defer dev.mu.Unlock()
	way, err := p.way(dev, m)
	if err != nil {
		return err
	}
	if err := p.point(way, m); err != nil {
		return err
	}
	at := func(i int) uintptr { return uintptr(m.Pointers[i]) }
	l := &way.layouts
	return p.call(hipblaslt.HipblasLtMatmul, dev.at, way.desc, at(cublaslt.PointerAlpha), at(cublaslt.PointerA), l[0], at(cublaslt.PointerB), l[1],
		at(cublaslt.PointerBeta), at(cublaslt.PointerC), l[2], at(cublaslt.PointerD), l[3], way.algorithm.Addr(), space, workspace, stream)
}
