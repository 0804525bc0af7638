package cpu

import (
	"errors"
	"fmt"
	"sort"
	"sync"
	"sync/atomic"

	"kudzu/internal/backend"
	"kudzu/internal/compile"
	"kudzu/internal/engine"
	"kudzu/internal/image"
	"kudzu/internal/lockrank"
	"kudzu/internal/logx"
)

// maxShapes bounds the variants of a kernel that are specialised to a block shape; launches with further shapes take the
// generic one.
const maxShapes = 8

// Kernel is one entry of a program with the variants compiled so far.
type Kernel struct {
	p    *Program
	decl *backend.KernelDecl

	list atomic.Pointer[[]*variant] // read without a lock on every launch; a new slice each time it grows

	mu     lockrank.Mutex[lockrank.CPUKernel] // held to change list
	never  error                              // guarded by mu: why neither compiler nor fallback can run it
	making map[shape]*making                  // guarded by mu
	// stacked: its threads have a stack of the device's size, as far as the last compilation told.
	stacked atomic.Bool
	gone    atomic.Bool // the program is unloaded

	factsOnce sync.Once
	told      *compile.Facts // what the text tells; set by factsOnce
	toldErr   error

	aheadMu lockrank.Mutex[lockrank.CPUAhead]
	ahead   map[[3]uint32]*ahead // compilations in the background; guarded by aheadMu
	aheads  sync.WaitGroup       // of them

	// For launches in clusters; guarded by mu.
	noClusters  bool // they make no difference
	inClusters  map[[3]uint32]*variant
	allClusters []*variant // to free

	superseded []*variant // whose place another has taken: to free; guarded by mu

	// Where functions are compiled by themselves (lazy.go).
	lazyOnce sync.Once
	ways     *backend.Lazy // set by lazyOnce
	caller   *Kernel       // it is a function that this kernel calls; nil: a kernel
	function string        // its name
}

// variant is code for one block shape, or for any.
type variant struct {
	kernel *Kernel
	shape
	tier compile.Tier
	id   uint64

	// Compiled.
	image       *image.Image
	mapping     *image.Mapping
	code        *engine.Kernel
	vars        *engine.Words
	params      uint32
	cooperative bool
	launches    bool               // it may launch others
	slice       func(line int) int // line of the kernel's slice to line of the module
	stack       uint32             // it serves device limits up to this
	hide        func()             // takes back what debug showed; may be nil
	meter       meter
	promotion   *promotion        // what makes the code that takes its place; nil: nothing
	lazy        *engine.Lazy      // the functions it calls that are compiled by themselves; may be nil
	puts        []engine.Function // of a function: the lists that have it; guarded by kernel.mu

	// On the fallback: run is set, and everything above is not.
	run  Runner
	fall backend.Kernel
}

// variants finds a variant by the cookie that comes back in a fault.
var variants registry

type registry struct {
	mu   lockrank.RWMutex[lockrank.CPUVariants]
	last uint64              // guarded by mu
	all  map[uint64]*variant // guarded by mu
}

func (r *registry) add(v *variant) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = map[uint64]*variant{}
	}
	r.last++
	v.id = r.last
	r.all[v.id] = v
}

func (r *registry) get(id uint64) *variant {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.all[id]
}

func (r *registry) remove(v *variant) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.all, v.id)
}

// Name is the kernel's name.
func (k *Kernel) Name() string { return k.decl.Name }

// find is the variant a launch with this shape takes, if there is one yet. It takes no lock.
func (k *Kernel) find(block [3]uint32) *variant {
	list := k.list.Load()
	if list == nil {
		return nil
	}
	stack := k.p.dev.stack.Load()
	var generic *variant
	for _, v := range *list {
		if v.stack < stack && v.run == nil {
			continue
		}
		if v.block == block {
			return v
		}
		if v.block == ([3]uint32{}) {
			generic = v
		}
	}
	if generic != nil && (generic.run != nil || len(*list) > maxShapes) {
		return generic
	}
	return nil
}

// Prepare compiles for a block shape; zero is the generic variant. A kernel that says how large its clusters are is never launched
// in another way.
func (k *Kernel) Prepare(block [3]uint32) error {
	_, err := k.prepared(block)
	return err
}

func (k *Kernel) prepared(block [3]uint32) (*variant, error) {
	if k.decl.ReqCluster[0] > 0 {
		if v, err := k.clustered(&backend.Launch{Block: block}); v != nil || err != nil {
			return v, err
		}
	}
	return k.variant(block)
}

// make compiles, or goes to the fallback.
func (k *Kernel) make(block [3]uint32, at *found) (*variant, error) {
	v, err := k.compile(shape{block: block}, at)
	if err == nil {
		return v, nil
	}
	var none *compile.NoCompiler
	var cannot *compile.Unsupported
	var broken *compile.Failed
	switch {
	case errors.As(err, &none):
		return k.fallBack(err, func() {
			logx.Once("no compiler", "kernels are interpreted, which is slow: %s", none)
		})
	case errors.As(err, &cannot), errors.As(err, &broken):
		return k.fallBack(err, func() { logx.Once("fallback "+k.decl.Name, "kernel %s is interpreted: %s", k.decl.Name, err) })
	}
	return nil, err
}

func (k *Kernel) fallBack(why error, say func()) (*variant, error) {
	r, fk, err := k.p.runner(k.decl.Name)
	if err != nil {
		return nil, err
	}
	if r == nil {
		var broken *compile.Failed
		if errors.As(why, &broken) {
			return nil, why // our fault, not something that we leave out
		}
		u := &backend.Unsupported{What: why.Error(), Kernel: k.decl.Name}
		var cannot *compile.Unsupported
		if errors.As(why, &cannot) {
			u.What, u.Line = cannot.What, cannot.Line
		}
		return nil, u
	}
	// What the fallback cannot do either must fail this launch, not the context.
	if err := fk.Prepare([3]uint32{}); err != nil {
		return nil, err
	}
	say()
	k.p.dev.b.stats.fallbacks.Add(1)
	k.p.dev.b.report.add(ReportFallbacks, 1)
	k.p.dev.b.report.line("interpreted\t%s\t%s", k.decl.Name, why)
	return &variant{kernel: k, run: r, fall: fk}, nil
}

// place maps an image and binds its variables.
func (k *Kernel) place(im *image.Image, at *found, s shape, tier compile.Tier) (*variant, error) {
	meta := &im.Meta
	if meta.Block != s.block && meta.Block != ([3]uint32{}) {
		return nil, fmt.Errorf("BUG: kernel %s: code for block %v, asked for %v", k.decl.Name, meta.Block, s.block)
	}
	var addrs []uint64
	for _, name := range meta.Vars {
		a, _, err := k.p.Var(name)
		if err != nil {
			return nil, fmt.Errorf("kernel %s: %w", k.decl.Name, err)
		}
		addrs = append(addrs, uint64(a))
	}
	m, err := im.Map()
	if err != nil {
		return nil, fmt.Errorf("kernel %s: %w", k.decl.Name, err)
	}
	v := &variant{
		kernel: k, shape: s, tier: tier, image: im, mapping: m, vars: engine.NewWords(addrs), params: meta.ParamBytes,
		cooperative: meta.Cooperative, launches: meta.Launches, slice: at.line,
	}
	variants.add(v)
	v.meter = newMeter(k.p.dev.b.report, tier == compile.Baseline)
	v.code, err = engine.NewKernel(&engine.KernelConfig{
		Entry: m.Entry(), Image: m.Base(), ImageSize: uintptr(im.Text), Cookie: v.id, Times: v.meter.address(),
		SharedStatic: meta.SharedStatic, SharedAlign: meta.SharedAlign, FrameWarp: meta.FrameWarp, FrameBlock: meta.FrameBlock,
		LocalThread: meta.LocalThread, FTZ: meta.FTZ, Spins: meta.Spins, Resumable: meta.Resumable, Reserved: meta.Reserved,
	})
	if err != nil {
		v.free()
		return nil, fmt.Errorf("kernel %s: %w", k.decl.Name, plain(err))
	}
	if err := v.calls(at.text); err != nil {
		v.free()
		return nil, fmt.Errorf("kernel %s: %w", k.decl.Name, plain(err))
	}
	if err := v.traceName(); err != nil {
		v.free()
		return nil, fmt.Errorf("kernel %s: %w", k.decl.Name, plain(err))
	}
	v.hide = k.p.dev.b.debug.show(v)
	return v, nil
}

func (v *variant) free() {
	variants.remove(v)
	if v.hide != nil {
		v.hide()
	}
	if v.lazy != nil {
		v.lazy.Free()
	}
	if v.code != nil {
		v.code.Free()
	}
	if v.vars != nil {
		v.vars.Free()
	}
	v.meter.free()
	if v.mapping != nil {
		_ = v.mapping.Unmap() // a mapping that cannot go stays; nothing points there
	}
}

// line is the module's PTX line of a fault, 0 if unknown.
func (v *variant) line(f *engine.Fault) int {
	n := f.Line
	if f.Kind != engine.FaultStop && f.PCOffset != engine.NoOffset {
		lines := v.image.Meta.Lines
		i := sort.Search(len(lines), func(i int) bool { return uint64(lines[i].Offset) > f.PCOffset })
		if i > 0 {
			n = lines[i-1].Line
		}
	}
	if n == 0 {
		return 0
	}
	return v.slice(int(n))
}

// Info is what is known about the kernel: from a variant if there is one, else from its text. Programs ask about kernels
// that they never launch, and about others before they say with which block shape, so asking compiles nothing.
func (k *Kernel) Info() (*backend.KernelInfo, error) {
	v := k.some()
	told, err := (*compile.Facts)(nil), error(nil)
	if v == nil {
		told, err = k.facts()
	}
	if v == nil && err != nil { // who cannot tell may still compile, or the fallback run
		var shape [3]uint32 // the one shape it may have, so that the launch finds it compiled
		for i, n := range k.decl.ReqBlock {
			shape[i] = uint32(n)
		}
		if v, err = k.prepared(shape); err != nil {
			return nil, err
		}
	}
	switch {
	case v == nil:
	case v.fall != nil:
		return v.fall.Info()
	default:
		m := &v.image.Meta
		told = &compile.Facts{SharedStatic: m.SharedStatic, LocalThread: m.LocalThread, Registers: m.Registers, PTXVersion: m.PTXVersion, Vars: m.Vars, Launches: m.Launches}
	}
	return k.info(told), nil
}

// some is a variant, if there is one yet.
func (k *Kernel) some() *variant {
	if list := k.list.Load(); list != nil && len(*list) > 0 {
		return (*list)[0]
	}
	return nil
}

func (k *Kernel) info(f *compile.Facts) *backend.KernelInfo {
	info := &backend.KernelInfo{
		StaticShared: int(f.SharedStatic), Local: int(f.LocalThread), Registers: int(min(max(f.Registers, 16), 255)),
		MaxThreads: k.dev().info.MaxThreads, PTXVersion: int(f.PTXVersion), BinaryVersion: k.dev().info.Major*10 + k.dev().info.Minor,
	}
	if b := k.decl.MaxBlock; b[0] > 0 {
		info.MaxThreads = min(info.MaxThreads, b[0]*max(b[1], 1)*max(b[2], 1))
	}
	if b := k.decl.ReqBlock; b[0] > 0 {
		info.MaxThreads = min(info.MaxThreads, b[0]*max(b[1], 1)*max(b[2], 1))
	}
	for _, name := range f.Vars {
		if p, _ := k.p.vars.Find(name); p.Const {
			info.Const += int(p.Size)
		}
	}
	return info
}

var errNoFacts = errors.New("the compiler tells nothing without compiling")

// facts asks the compiler about the kernel's text, once.
func (k *Kernel) facts() (*compile.Facts, error) {
	k.factsOnce.Do(func() {
		k.told, k.toldErr = nil, errNoFacts
		c, ok := k.p.dev.b.cfg.Compiler.(Teller)
		if !ok {
			return
		}
		text, _, err := k.sliced()
		if err != nil {
			k.toldErr = err
			return
		}
		req := &compile.Request{PTX: text, Kernel: k.decl.Name, Options: options(k.p.m.Options)}
		req.Options.Clusters = k.decl.ReqCluster[0] > 0
		k.told, k.toldErr = c.Facts(req)
	})
	return k.told, k.toldErr
}

func (k *Kernel) dev() *Device { return k.p.dev }
