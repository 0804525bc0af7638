// Package replay runs dumped launches (internal/dump) again: on any backend, from the memory that they had, at the addresses that they had
// where the machine allows that, and says what is different afterwards.
package replay

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"kudzu/internal/backend"
	"kudzu/internal/backend/interp"
	"kudzu/internal/dump"
)

// Runner runs launches of one file, and of files that were made of it by taking something away, on one backend.
type Runner struct {
	opts Options
	name string
	dev  backend.Device
	q    backend.Queue
	at   map[uint64]uint64 // where memory that was at an address is now

	regions []dump.Region     // of the file that it was opened for, without variables
	mapped  []dump.Region     // those of them that are mapped in this process, in order of addresses
	known   map[uint64]uint64 // what of them the device was told of: address and bytes
	own     []backend.Addr    // memory that stands in for others
	moved   []Moved           // memory that could not be placed where it was
	handles map[uint64]uint64 // textures: handles then and now
	stage   *staging
}

// Moved is a region that is elsewhere now.
type Moved struct {
	Region   dump.Region
	Now      uint64
	Variable bool // where the module put it
}

// Open opens a backend for the launches of a file. Memory is placed before devices are open where it is the process's: then theirs goes
// elsewhere.
func Open(f *dump.File, opts Options) (_ *Runner, err error) {
	r := &Runner{opts: opts, at: map[uint64]uint64{}, handles: map[uint64]uint64{}, known: map[uint64]uint64{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Close())
		}
	}()
	b, visible, err := opts.backend()
	if err != nil {
		return nil, err
	}
	for i := range f.Regions {
		if f.Regions[i].Var == "" {
			r.regions = append(r.regions, f.Regions[i])
		}
	}
	slices.SortFunc(r.regions, func(a, b dump.Region) int { return cmp.Compare(a.Base, b.Base) })
	if visible {
		for _, g := range r.regions {
			if place(g.Base, g.Size) == nil {
				r.at[g.Base] = g.Base
				r.mapped = append(r.mapped, g)
			}
		}
	}
	devs, err := b.Open()
	if err != nil {
		return nil, err
	}
	r.name, r.dev = b.Name(), devs[0]
	if r.q, err = r.dev.NewQueue(0); err != nil {
		return nil, err
	}
	for i := range r.regions {
		g := &r.regions[i]
		if err := r.give(g); err != nil {
			return nil, fmt.Errorf("memory of %d bytes: %w", g.Size, err)
		}
	}
	return r, nil
}

// Close gives back the queue and memory of the process.
func (r *Runner) Close() error {
	var err error
	if r.q != nil {
		err = r.q.Close()
	}
	if h, ok := r.hostMemory(); ok {
		for a := range r.known {
			err = errors.Join(err, h.UnregisterHost(backend.Addr(a)))
		}
	}
	for _, g := range r.mapped {
		unplace(g.Base, g.Size)
	}
	for _, a := range r.own {
		err = errors.Join(err, r.dev.Memory().Free(a))
	}
	err = errors.Join(err, r.stage.free())
	r.q, r.own, r.mapped, r.known, r.stage = nil, nil, nil, nil, nil
	return err
}

func (r *Runner) hostMemory() (backend.HostMemory, bool) {
	if r.dev == nil {
		return nil, false
	}
	h, ok := r.dev.Memory().(backend.HostMemory)
	return h, ok
}

// only leaves the memory of a file that was made of the runner's by taking some away: what it lacks still has the bytes of another run,
// and a kernel that needs it must not find it. Memory that a GPU placed stays.
func (r *Runner) only(f *dump.File) error {
	left := map[uint64]uint64{}
	for i := range f.Regions {
		if g := &f.Regions[i]; g.Var == "" {
			left[g.Base] = g.Size
		}
	}
	if h, ok := r.hostMemory(); ok {
		for _, g := range r.mapped {
			if r.known[g.Base] == left[g.Base] {
				continue
			}
			if r.known[g.Base] > 0 {
				if err := h.UnregisterHost(backend.Addr(g.Base)); err != nil {
					return err
				}
				delete(r.known, g.Base)
			}
			if n := left[g.Base]; n > 0 {
				if err := h.RegisterHost(backend.Addr(g.Base), n); err != nil {
					return err
				}
				r.known[g.Base] = n
			}
		}
	}
	for _, g := range r.mapped { // first all that goes, as a page may hold something of another that stays
		if first, end := pages(g.Base, g.Size); left[g.Base] < g.Size {
			if err := protect(first, end, false); err != nil {
				return err
			}
		}
	}
	for _, g := range r.mapped {
		if n := left[g.Base]; n > 0 {
			if first, end := pages(g.Base, n); protect(first, end, true) != nil {
				return fmt.Errorf("memory at %#x is gone", g.Base)
			}
		}
	}
	return nil
}

// Device is what the launches run on.
func (r *Runner) Device() *backend.Info { return r.dev.Info() }

// Moved is memory that is not where it was, as of the last launch.
func (r *Runner) Moved() []Moved { return r.moved }

// unitBytes is what allocations are rounded up to on devices: reading a little past the end is harmless there.
const unitBytes = 256

// give has the device know a region's memory, or gives it memory elsewhere.
func (r *Runner) give(g *dump.Region) error {
	m := r.dev.Memory()
	if r.at[g.Base] != 0 {
		if h, ok := m.(backend.HostMemory); ok {
			if err := h.RegisterHost(backend.Addr(g.Base), g.Size); err != nil {
				return err
			}
			r.known[g.Base] = g.Size
		}
		return nil
	}
	if p, ok := m.(backend.Placer); ok && p.Place(backend.Addr(g.Base), g.Size) == nil {
		r.at[g.Base] = g.Base
		return nil
	}
	a, err := m.Alloc((g.Size+unitBytes-1)&^(unitBytes-1), unitBytes)
	if err != nil {
		return err
	}
	r.at[g.Base] = uint64(a)
	r.own = append(r.own, a)
	return nil
}

// loaded is a launch that can be run.
type loaded struct {
	r       *Runner
	f       *dump.File
	k       backend.Kernel
	p       backend.Program
	base    []uint64 // where each region is now
	finder  *dump.Finder
	moved   bool              // some are elsewhere
	ids     map[uint64]uint64 // numbers of functions then and now
	objects []uint64          // textures that were made
}

// load has the module loaded and everything in its place.
func (r *Runner) load(f *dump.File) (*loaded, error) {
	if err := r.only(f); err != nil {
		return nil, err
	}
	m, err := r.opts.describe(f, r.dev.Info())
	if err != nil {
		return nil, fmt.Errorf("kernel.ptx: %w", err)
	}
	l := &loaded{r: r, f: f, base: make([]uint64, len(f.Regions)), ids: map[uint64]uint64{}, finder: dump.NewFinder(f.Regions, f.Textures)}
	if l.p, err = r.dev.Load(m); err != nil {
		return nil, err
	}
	if l.k, err = l.p.Kernel(f.Kernel); err != nil {
		return nil, errors.Join(err, l.p.Unload())
	}
	r.moved = nil
	for i := range f.Regions {
		g := &f.Regions[i]
		if g.Var == "" {
			l.base[i] = r.at[g.Base]
		} else {
			a, n, err := l.p.Var(g.Var)
			if errors.Is(err, backend.ErrNotFound) { // a reduced text has it no more; and a vendor's driver does not tell where private ones are
				continue
			}
			if err != nil || n < g.Size {
				return nil, errors.Join(fmt.Errorf("variable %s: %d bytes of %d", g.Var, n, g.Size), err, l.p.Unload())
			}
			l.base[i] = uint64(a)
		}
		if l.base[i] != g.Base {
			l.moved = true
			r.moved = append(r.moved, Moved{*g, l.base[i], g.Var != ""})
		}
	}
	if err := errors.Join(l.functions(m), l.textures()); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

func (l *loaded) close() {
	if t, ok := l.r.dev.(backend.Textures); ok {
		for _, h := range l.objects {
			_ = t.FreeTexture(h) // nothing uses it
		}
	}
	_ = l.p.Unload() // nor this
}

// functions finds the numbers of functions in initialisers: a vendor's driver has others.
func (l *loaded) functions(m *backend.Module) error {
	for i := range l.f.Regions {
		g := &l.f.Regions[i]
		if g.Var == "" || l.base[i] == 0 {
			continue
		}
		n := slices.IndexFunc(m.Vars, func(v backend.VarDecl) bool { return v.Name == g.Var })
		if n < 0 {
			continue
		}
		for _, rel := range m.Vars[n].Relocs {
			isVar := slices.ContainsFunc(m.Vars, func(v backend.VarDecl) bool { return v.Name == rel.Symbol })
			if isVar || rel.Size != 8 || rel.Mask != 0 || rel.Offset+8 > g.Size {
				continue
			}
			now := make([]byte, 8)
			if err := l.r.read(l.base[i]+rel.Offset, now); err != nil {
				return err
			}
			if was, is := binary.LittleEndian.Uint64(l.f.Before[i][rel.Offset:]), binary.LittleEndian.Uint64(now); was != is {
				l.ids[was] = is
				l.moved = true
			}
		}
	}
	return nil
}

// most is how many objects are made to come to the handle that a texture had.
const most = 4096

// textures makes the objects, with the handles that they had where handles count up from the first.
func (l *loaded) textures() error {
	if len(l.f.Textures) == 0 {
		return nil
	}
	dev, ok := l.r.dev.(backend.Textures)
	if !ok {
		return fmt.Errorf("the %s backend has no textures", l.r.name)
	}
	clear(l.r.handles)
	for i := range l.f.Textures {
		t := l.f.Textures[i]
		was := t.Handle
		t.Handle = 0
		for k := range int(t.Levels) {
			n := l.finder.At(t.Base[k])
			if n < 0 {
				return fmt.Errorf("texture %d: no memory", i)
			}
			t.Base[k] += l.base[n] - l.f.Regions[n].Base
		}
		var h uint64
		for range most {
			var err error
			if h, err = dev.NewTexture(&t); err != nil {
				return fmt.Errorf("texture %d: %w", i, err)
			}
			l.objects = append(l.objects, h)
			if h >= was || was>>backend.TextureSlotBits != 1 || l.r.name == "cuda" {
				break
			}
		}
		if l.r.handles[was] = h; h != was {
			l.moved = true
		}
	}
	return nil
}

// translate is what an address or a handle is now; anything else is itself.
func (l *loaded) translate(x uint64) uint64 {
	if n := l.finder.At(x); n >= 0 && l.base[n] != 0 {
		return x - l.f.Regions[n].Base + l.base[n]
	}
	if h, ok := l.r.handles[x]; ok {
		return h
	}
	if id, ok := l.ids[x]; ok {
		return id
	}
	return x
}

// translated is memory or parameters with addresses as they are now.
func (l *loaded) translated(in int, b []byte) []byte {
	if !l.moved {
		return b
	}
	b = bytes.Clone(b)
	first, step := dump.Steps(l.f.Regions, in)
	for off := first; off+8 <= len(b); off += step {
		if x := binary.LittleEndian.Uint64(b[off:]); x != 0 {
			if y := l.translate(x); y != x {
				binary.LittleEndian.PutUint64(b[off:], y)
				off += 8 - step
			}
		}
	}
	return b
}

// restore writes memory as it was before the launch.
func (l *loaded) restore() error {
	for i := range l.f.Regions {
		if l.base[i] == 0 {
			continue
		}
		if err := l.r.write(l.base[i], l.translated(i, l.f.Before[i])); err != nil {
			return fmt.Errorf("%d bytes at %#x: %w", l.f.Regions[i].Size, l.base[i], err)
		}
	}
	return nil
}

// Result is what a launch did.
type Result struct {
	After [][]byte // memory of each region, with addresses as they were
	Fault *backend.Fault
	Times []time.Duration // of each run: launch and wait
}

// Run runs the launch so many times, each from the same memory, and gives what the last one left.
func (r *Runner) Run(f *dump.File, times int) (*Result, error) {
	l, err := r.load(f)
	if err != nil {
		return nil, err
	}
	defer l.close()
	args := f.Arguments()
	args.Params = l.translated(dump.Params, args.Params)
	if err := l.k.Prepare(args.Block); err != nil {
		return nil, err
	}
	res := &Result{}
	for range max(1, times) {
		if err := l.restore(); err != nil {
			return nil, err
		}
		begin := time.Now()
		err := r.launch(l.k, args)
		res.Times = append(res.Times, time.Since(begin))
		if errors.As(err, &res.Fault) {
			return res, nil
		}
		if err != nil {
			return nil, err
		}
	}
	for i := range f.Regions {
		b := bytes.Clone(f.Before[i])
		if l.base[i] != 0 {
			if err := r.read(l.base[i], b); err != nil {
				return nil, err
			}
			l.back(i, b)
		}
		res.After = append(res.After, b)
	}
	return res, nil
}

// launch runs it once.
func (r *Runner) launch(k backend.Kernel, l *backend.Launch) error {
	if r.name == "interp" {
		return interp.RunWith(k, l, r.opts.interp)
	}
	if err := r.q.Launch(k, l); err != nil {
		return err
	}
	return r.q.Sync()
}

// back puts addresses in the memory of a region back to what they were then, where that is what the dump has.
func (l *loaded) back(i int, b []byte) {
	if !l.moved {
		return
	}
	first, step := dump.Steps(l.f.Regions, i)
	for off := first; off+8 <= len(b); off += step {
		x := binary.LittleEndian.Uint64(b[off:])
		if want := binary.LittleEndian.Uint64(l.f.After[i][off:]); x != want && l.translate(want) == x {
			binary.LittleEndian.PutUint64(b[off:], want)
		} else if was := binary.LittleEndian.Uint64(l.f.Before[i][off:]); x != was && l.translate(was) == x {
			binary.LittleEndian.PutUint64(b[off:], was)
		}
	}
}
