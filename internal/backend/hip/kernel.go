package hip

import (
	"errors"
	"fmt"

	"kudzu/internal/backend"
	"kudzu/internal/codeobject"
	"kudzu/internal/compile"
	"kudzu/internal/devrt"
	"kudzu/internal/dl"
	"kudzu/internal/lockrank"
	"kudzu/internal/logx"
	"kudzu/internal/spec/hip"
)

// kernel is one entry point; its code comes at the first launch.
type kernel struct {
	p    *program
	decl *backend.KernelDecl

	mu   lockrank.Mutex[lockrank.HIPKernel]
	code *code // guarded by mu
	err  error // guarded by mu: why there will be none
	gone bool  // guarded by mu: the program was unloaded
}

// code is a kernel that HIP has loaded.
type code struct {
	dev     *device
	name    string
	mod, fn uintptr
	meta    *codeobject.Kernel
	params  int   // bytes that a launch must give
	args    []int // offsets of the explicit arguments
	speaks  bool  // it names the mailbox

	explicit  int  // bytes that the code takes: params, rounded up at most, and the workspace
	lends     bool // it asks for the memory of a cooperative launch
	workspace int  // where in the arguments its address goes
	alone     bool // each warp wants a wave of 64 lanes (devrt.Block)
	block     int  // where in the arguments the block's size goes then
}

// maxPadding is how far the code's argument may be rounded up behind PTX's parameters.
const maxPadding = 16

// Name is the entry's name.
func (k *kernel) Name() string { return k.decl.Name }

// Info compiles: registers and memory are known from the code only.
func (k *kernel) Info() (*backend.KernelInfo, error) {
	c, err := k.ready()
	if err != nil {
		return nil, err
	}
	in := &backend.KernelInfo{
		StaticShared: c.meta.GroupFixed, Local: c.meta.PrivateFixed, Registers: max(c.meta.VGPRs, 1),
		MaxThreads: c.mostThreads(),
	}
	if n := k.decl.MaxBlock[0] * max(k.decl.MaxBlock[1], 1) * max(k.decl.MaxBlock[2], 1); n > 0 {
		in.MaxThreads = min(in.MaxThreads, n)
	}
	in.BinaryVersion = 10*k.p.dev.info.Major + k.p.dev.info.Minor
	in.PTXVersion = in.BinaryVersion
	if text, _, err := k.p.m.Slice(k.decl.Name); err == nil {
		if f, err := k.p.dev.b.cfg.Compiler.Facts(&compile.Request{PTX: text, Kernel: k.decl.Name}); err == nil {
			in.PTXVersion = int(f.PTXVersion)
			for _, v := range f.Vars {
				if p, _ := k.p.vars.Find(v); p.Const {
					in.Const += int(p.Size)
				}
			}
		}
	}
	return in, nil
}

// Resident asks HIP, which knows what waves, vector registers and LDS this GPU has.
func (k *kernel) Resident(threads int, dynamicShared uint64) (int, error) {
	k.p.gate.RLock()
	defer k.p.gate.RUnlock()
	c, err := k.ready()
	if err != nil {
		return 0, err
	}
	var n int
	err = c.dev.do(func() (err error) {
		n, err = c.dev.api.getInt(hip.HipModuleOccupancyMaxActiveBlocksPerMultiprocessor, c.fn, uintptr(threads), uintptr(dynamicShared))
		return err
	})
	return max(n, 0), err
}

// Prepare compiles. One variant serves every block shape.
func (k *kernel) Prepare([3]uint32) error {
	_, err := k.ready()
	return err
}

// ready compiles and loads, once.
func (k *kernel) ready() (*code, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.gone {
		return nil, backend.ErrClosed
	}
	if k.code == nil && k.err == nil {
		c, stay, err := k.build()
		if err == nil {
			k.code = c
		} else if stay {
			k.err = err
		}
		return k.code, err
	}
	return k.code, k.err
}

// build makes the code; stay tells an error that another try would meet again.
func (k *kernel) build() (c *code, stay bool, err error) {
	d := k.p.dev
	text, line, err := k.p.m.Slice(k.decl.Name)
	if err != nil {
		return nil, true, err
	}
	req := &compile.Request{PTX: text, Kernel: k.decl.Name}
	d.plan.request(req)
	r, err := d.b.cfg.Compiler.Object(req, d.plan.check(d.target, k.decl.Name))
	if err != nil {
		return nil, true, k.failed(err, line)
	}
	b := r.Image
	o, err := codeobject.Read(b)
	if err == nil && !o.Linked {
		if b, err = codeobject.Link(b); err == nil {
			o, err = codeobject.Read(b)
		}
	}
	if err != nil {
		return nil, true, fmt.Errorf("kernel %s: %w", k.decl.Name, err)
	}
	c = &code{dev: d, name: k.decl.Name, meta: o.Kernel(k.decl.Name)}
	var lent error
	b, err = o.Bind(func(name string) (uint64, bool) {
		if v, ok := k.p.vars.Find(name); ok {
			return uint64(v.Addr), true
		}
		if name != devrt.Mailbox && name != devrt.Heap && name != devrt.Textures {
			return 0, false
		}
		a, e := d.lend(name)
		lent = errors.Join(lent, e)
		c.speaks = c.speaks || name == devrt.Mailbox
		return uint64(a), e == nil
	})
	if lent != nil {
		return nil, false, fmt.Errorf("kernel %s: %w", k.decl.Name, lent)
	}
	if err != nil {
		return nil, true, fmt.Errorf("kernel %s: %w", k.decl.Name, err)
	}
	if err := c.arguments(k.decl.ParamBytes); err != nil {
		return nil, true, err
	}
	return c, false, d.load(c, b)
}

// mostThreads is how large a block may be.
func (c *code) mostThreads() int {
	n := min(c.dev.info.MaxThreads, max(c.meta.MaxFlat, 1))
	if c.alone {
		n = n / devrt.BlockLanes * 32
	}
	return n
}

// arguments holds what the code takes against PTX's parameters.
func (c *code) arguments(params int) error {
	c.params = params
	own := 0
	for i := range c.meta.Args {
		a := &c.meta.Args[i]
		switch {
		case a.Hidden():
			continue
		case a.Name == devrt.Workspace:
			c.workspace = a.Offset
			c.lends = a.Size == 8 && a.Offset%8 == 0
			if !c.lends || a.Offset < params {
				return fmt.Errorf("BUG: kernel %s: workspace of %d bytes at %d, PTX has %d of parameters", c.name, a.Size, a.Offset, params)
			}
		case a.Name == devrt.Block:
			c.block, c.alone = a.Offset, a.Size == 8 && a.Offset%8 == 0
			if !c.alone || a.Offset < params {
				return fmt.Errorf("BUG: kernel %s: size of the block of %d bytes at %d, PTX has %d of parameters", c.name, a.Size, a.Offset, params)
			}
		default:
			own = max(own, a.Offset+a.Size)
		}
		c.args = append(c.args, a.Offset)
	}
	c.explicit = c.meta.Explicit()
	if own > (params+maxPadding-1)&^(maxPadding-1) {
		return fmt.Errorf("BUG: kernel %s: the code takes %d bytes of parameters, PTX has %d", c.name, own, params)
	}
	return nil
}

// failed says in the driver's terms why a kernel could not be compiled.
func (k *kernel) failed(err error, line func(int) int) error {
	var u *compile.Unsupported
	if errors.As(err, &u) {
		n := u.Line
		if n > 0 && line != nil {
			n = line(n)
		}
		return &backend.Unsupported{What: u.What, Kernel: k.decl.Name, Line: n}
	}
	var none *compile.NoCompiler
	if errors.As(err, &none) {
		logx.Warnf("kernel %s: %v", k.decl.Name, err)
		return &backend.Unsupported{What: "compiling for a GPU without libLLVM", Kernel: k.decl.Name}
	}
	return fmt.Errorf("kernel %s: %w", k.decl.Name, err)
}

// load hands the code object to HIP.
func (d *device) load(c *code, b []byte) error {
	img, name := dl.Alloc(len(b)), newCString(c.name)
	defer img.Free() // HIP copies what it keeps
	defer name.Free()
	copy(img.Bytes(), b)
	err := d.do(func() (err error) {
		if c.mod, err = d.api.getPtr(hip.HipModuleLoadData, img.Addr()); err != nil {
			return err
		}
		if c.fn, err = d.api.getPtr(hip.HipModuleGetFunction, c.mod, name.Addr()); err != nil {
			err = errors.Join(err, d.api.call(hip.HipModuleUnload, c.mod))
		}
		return err
	})
	var r Result
	if errors.As(err, &r) && r == hip.HipErrorOutOfMemory {
		return fmt.Errorf("kernel %s: %w", c.name, backend.ErrNoMemory)
	}
	if err != nil {
		return fmt.Errorf("kernel %s: code object for %s, version %d: %w", c.name, d.plan.target, d.plan.version, d.api.named(err))
	}
	return nil
}

// retire says that no launch may use the kernel any more, and gives its code, if it has one, to be unloaded.
func (k *kernel) retire() *code {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.gone = true
	c := k.code
	k.code = nil
	return c
}
