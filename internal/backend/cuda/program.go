package cuda

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"kudzu/internal/backend"
	"kudzu/internal/dl"
	"kudzu/internal/lazyre"
)

// program is a CUmodule.
type program struct {
	dev *device
	mod uintptr
	m   *backend.Module
	sm  int // of the module's PTX where our compiler is in front, else 0
}

// JITError is the driver's refusal of a module, with its log.
type JITError struct {
	Err error
	Log string
}

// Error is the code and the log.
func (e *JITError) Error() string { return fmt.Sprintf("%v: %s", e.Err, e.Log) }

// Unwrap is the code.
func (e *JITError) Unwrap() error { return e.Err }

// Load lets the driver compile the module, keeping its error log.
func (d *device) Load(m *backend.Module) (backend.Program, error) {
	const (
		errorLogBuffer = 5
		errorLogSize   = 6
		logBytes       = 64 << 10
	)
	source, err := d.source(m)
	if err != nil {
		return nil, err
	}
	text := dl.Alloc(len(source) + 1)
	defer text.Free()
	copy(text.Bytes(), source)
	log := dl.Alloc(logBytes)
	defer log.Free()
	opts := dl.Alloc(24)
	defer opts.Free()
	b := opts.Bytes()
	binary.LittleEndian.PutUint32(b[0:], errorLogBuffer)
	binary.LittleEndian.PutUint32(b[4:], errorLogSize)
	put(b, 8, uint64(log.Addr()))
	put(b, 16, logBytes)
	p := &program{dev: d, m: m}
	if d.through != nil {
		p.sm = targetOf(m.Text)
	}
	err = d.do(func() (err error) {
		p.mod, err = d.api.getPtr("cuModuleLoadDataEx", text.Addr(), 2, opts.Addr(), opts.Addr()+8)
		return err
	})
	if err != nil {
		msg, _, _ := bytes.Cut(log.Bytes(), []byte{0})
		return nil, &JITError{Err: err, Log: string(msg)}
	}
	return p, nil
}

// newestThrough is the newest target that our compiler writes PTX for; newer devices take it too.
const newestThrough = 90

// source is the PTX that the driver gets: the module's own, or what our compiler makes of it.
func (d *device) source(m *backend.Module) (string, error) {
	if d.through == nil {
		return m.Text, nil
	}
	sm := 10*d.info.Major + d.info.Minor
	target := fmt.Sprintf("sm_%d", min(sm, newestThrough))
	if sm <= newestThrough && strings.Contains(m.Text, ".target "+target+"a") { // of this architecture alone
		target += "a"
	}
	text, err := d.through(m.Text, target)
	if err != nil {
		return "", fmt.Errorf("module %s: %w", m.Name, err)
	}
	return text, nil
}

func put(b []byte, off int, v uint64) { binary.LittleEndian.PutUint64(b[off:], v) }

func cstring(s string) *dl.Buffer {
	b := dl.Alloc(len(s) + 1)
	copy(b.Bytes(), s)
	return b
}

// missing maps the driver's NOT_FOUND to the backend's.
func missing(name string, err error) error {
	var r Result
	if errors.As(err, &r) && r == resultNotFound {
		return fmt.Errorf("%s: %w", name, backend.ErrNotFound)
	}
	return err
}

// Kernel is cuModuleGetFunction.
func (p *program) Kernel(name string) (backend.Kernel, error) {
	s := cstring(name)
	defer s.Free()
	k := &kernel{prog: p, name: name}
	err := p.dev.do(func() (err error) {
		k.fn, err = p.dev.api.getPtr("cuModuleGetFunction", p.mod, s.Addr())
		return err
	})
	if err != nil {
		return nil, missing(name, err)
	}
	for i := range p.m.Kernels {
		if p.m.Kernels[i].Name == name {
			k.decl = &p.m.Kernels[i]
		}
	}
	return k, nil
}

// Var is cuModuleGetGlobal.
func (p *program) Var(name string) (backend.Addr, uint64, error) {
	s := cstring(name)
	defer s.Free()
	out := dl.Alloc(16)
	defer out.Free()
	err := p.dev.do(func() error {
		return p.dev.api.call("cuModuleGetGlobal_v2", out.Addr(), out.Addr()+8, p.mod, s.Addr())
	})
	return backend.Addr(word(out, 0)), word(out, 8), missing(name, err)
}

// Unload is cuModuleUnload.
func (p *program) Unload() error {
	return p.dev.do(func() error { return p.dev.api.call("cuModuleUnload", p.mod) })
}

// kernel is a CUfunction.
type kernel struct {
	prog *program
	name string
	fn   uintptr
	decl *backend.KernelDecl // nil: not known
}

// Name is the entry's name.
func (k *kernel) Name() string { return k.name }

// Info asks the driver.
func (k *kernel) Info() (*backend.KernelInfo, error) {
	in := &backend.KernelInfo{}
	err := k.prog.dev.do(func() error {
		for attr, to := range map[int]*int{0: &in.MaxThreads, 1: &in.StaticShared, 2: &in.Const, 3: &in.Local, 4: &in.Registers, 5: &in.PTXVersion, 6: &in.BinaryVersion} {
			n, err := k.prog.dev.api.getInt("cuFuncGetAttribute", uintptr(attr), k.fn)
			if err != nil {
				return err
			}
			*to = n
		}
		return nil
	})
	if k.prog.sm != 0 { // of the PTX that the program has, not of ours
		in.PTXVersion = k.prog.sm
	}
	return in, err
}

var targetLine = lazyre.New(`(?m)^[ \t]*\.target[ \t]+sm_([0-9]{2,3})`)

// targetOf is the number in a module's .target, 0 without one.
func targetOf(text string) int {
	sm := targetLine().FindStringSubmatch(text)
	if sm == nil {
		return 0
	}
	n, _ := strconv.Atoi(sm[1])
	return n
}

// Prepare has nothing to do: the driver compiled at load.
func (k *kernel) Prepare([3]uint32) error { return nil }
