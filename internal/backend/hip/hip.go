// Package hip runs kernels on AMD GPUs: PTX becomes a code object for the GPU's processor (emit/simt, codeobject), and HIP's
// runtime loads and launches it. The library is opened at run time, ROCm 5, 6 or 7; no header of it is needed: what we call
// is in internal/spec/hip.api.
//
// A device is a HIP device with its primary context; every call sets it on its thread first. A module's variables are placed
// by us, in device memory, and written into each kernel's code object before it is loaded, so kernels compile one by one, at
// their first launch, and all see the same variables. docs/amd-results.md says what of this was verified and how.
package hip

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"kudzu/internal/backend"
	"kudzu/internal/compile"
	"kudzu/internal/config"
	"kudzu/internal/dl"
	"kudzu/internal/lockrank"
	"kudzu/internal/spec/hip"
)

// Compiler makes code objects; compile.Client is one.
type Compiler interface {
	Object(req *compile.Request, check func(code []byte) error) (*compile.Result, error)
	Facts(req *compile.Request) (*compile.Facts, error)
}

// Config makes a backend.
type Config struct {
	Compiler Compiler
	Library  string              // the path of libamdhip64; "" looks for it
	Env      func(string) string // nil: the process's
	Out, Err io.Writer           // what kernels print, and failed assertions; nil: standard output and error
}

// Backend is ROCm's HIP runtime.
type Backend struct {
	cfg Config
	api *api

	mu      lockrank.Mutex[lockrank.HIPBackend]
	opened  bool             // guarded by mu
	devices []backend.Device // guarded by mu
	err     error            // guarded by mu: what the first Open found

	smi smi

	found string // one line about the library, once it is open; guarded by mu
}

// New returns the backend, not yet opened.
func New(cfg Config) *Backend {
	if cfg.Env == nil {
		cfg.Env = config.Get
	}
	return &Backend{cfg: cfg}
}

// Name is "hip".
func (b *Backend) Name() string { return "hip" }

// sonames of the library, newest first, and the folders beside the loader's own that ROCm lies in.
var (
	sonames = []string{"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"}
	folders = []string{"/opt/rocm/lib/", "/opt/rocm/lib64/"}
)

// Open loads the library and lists its devices. The first answer stays: a library that found no device will not find one.
func (b *Backend) Open() ([]backend.Device, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.opened {
		b.opened = true
		b.devices, b.err = b.open()
	}
	return b.devices, b.err
}

// Library says in one line which library was found, "" if none.
func (b *Backend) Library() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.found
}

// Functions says how much of what we call the library has, "" if there is none.
func (b *Backend) Functions() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.api == nil {
		return ""
	}
	var names []string
	for _, r := range hip.Rows {
		names = append(names, r.Name)
	}
	return b.api.lib.Count(names)
}

// open does Open's work. Preconditions: b.mu is held.
func (b *Backend) open() ([]backend.Device, error) {
	lib, err := b.library()
	if err != nil {
		return nil, err
	}
	b.api = &api{lib: lib}
	b.found = lib.Path()
	if err := b.api.call(hip.HipInit, 0); err != nil {
		return nil, fmt.Errorf("ROCm (%s): %w%s", lib.Path(), b.api.named(err), hint(err))
	}
	version, err := b.api.getInt(hip.HipRuntimeGetVersion)
	if err != nil {
		return nil, fmt.Errorf("ROCm (%s): %w", lib.Path(), b.api.named(err))
	}
	b.api.version = version
	b.found = fmt.Sprintf("%s, HIP %d.%d", lib.Path(), version/10000000, version/100000%100)
	n, err := b.api.getInt(hip.HipGetDeviceCount)
	if err != nil {
		return nil, fmt.Errorf("ROCm (%s): %w%s", b.found, b.api.named(err), hint(err))
	}
	var devs []backend.Device
	var why []string
	for i := range n {
		d, err := newDevice(b, i)
		if err != nil { // one card that we cannot use does not take the others away
			why = append(why, fmt.Sprintf("device %d: %v", i, b.api.named(err)))
			continue
		}
		devs = append(devs, d)
	}
	if len(devs) == 0 {
		if len(why) == 0 {
			why = []string{"no AMD GPU"}
		}
		return nil, fmt.Errorf("ROCm (%s): %s", b.found, strings.Join(why, "; "))
	}
	return devs, nil
}

// hint says what a user may do about an error at start.
func hint(err error) string {
	var r Result
	if !errors.As(err, &r) || r != hip.HipErrorNoDevice && r != hip.HipErrorInvalidDevice && r != hip.HipErrorNotInitialized {
		return ""
	}
	if _, err := os.Stat("/dev/kfd"); err != nil {
		return ": no AMD GPU (there is no /dev/kfd)"
	}
	f, err := os.OpenFile("/dev/kfd", os.O_RDWR, 0)
	if err != nil {
		return ": /dev/kfd: is this user in the group render?"
	}
	_ = f.Close()
	return ""
}

// library opens libamdhip64. KUDZU_HIP_LIBRARY names it outright.
func (b *Backend) library() (*dl.Library, error) {
	look := dl.Look{What: "ROCm", Path: b.cfg.Library, Names: sonames, Folders: folders, Symbol: hip.Rows[hip.HipInit].Name}
	if look.Path == "" {
		look.Path = b.cfg.Env(config.HIPLibrary)
	}
	return look.Open()
}
