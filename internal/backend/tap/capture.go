package tap

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"kudzu/internal/backend"
	"kudzu/internal/dump"
)

// Capture is a launch on its way into a file.
type Capture struct {
	*dump.File
	d *Device
}

// Capture takes down what the launch is given and the memory that it can reach, or all of it. It fails if that is more than limit.
// Preconditions: the device is quiet.
func (q *Queue) Capture(k *Kernel, l *backend.Launch, all bool, limit uint64) (*Capture, error) {
	d := q.d
	return d.capture(k, l, all, limit, d.extents(), d.read)
}

// CaptureFrom is Capture with memory as it was when the image was taken.
func (q *Queue) CaptureFrom(im Image, k *Kernel, l *backend.Launch, all bool, limit uint64) (*Capture, error) {
	var list []extent
	for i := range im {
		list = append(list, extent{base: im[i].Base, size: uint64(len(im[i].Before))})
	}
	return q.d.capture(k, l, all, limit, list, func(a uint64, b []byte) error {
		for i := range im {
			if off := a - im[i].Base; off < uint64(len(im[i].Before)) && uint64(len(b)) <= uint64(len(im[i].Before))-off {
				copy(b, im[i].Before[off:])
				return nil
			}
		}
		return q.d.read(a, b)
	})
}

func (d *Device) capture(k *Kernel, l *backend.Launch, all bool, limit uint64, list []extent, read func(a uint64, b []byte) error) (*Capture, error) {
	text, _ := k.Text()
	in := d.Info()
	f := &dump.File{PTX: text, Values: bytes.Clone(l.Params), Launch: dump.Launch{
		Kernel: k.Name(), Backend: d.b.Name(), Device: in.Name, Capability: [2]int{in.Major, in.Minor}, Grid: l.Grid, Block: l.Block, Cluster: l.Cluster,
		Shared: l.DynamicShared, Cooperative: l.Cooperative, Options: k.p.m.Options, All: all,
	}}
	if self, err := os.Readlink("/proc/self/exe"); err == nil {
		f.Program = filepath.Base(self)
	}
	if k.Decl != nil {
		f.Params = k.Decl.Params
	}
	f.Regions = k.p.variables(text, f)
	roots := make([]int, len(f.Regions))
	for i := range roots {
		roots[i] = i
	}
	f.Regions = append(f.Regions, without(list, f.Regions)...)
	if dump.Samples(text) {
		d.b.mu.Lock()
		for _, t := range d.shown {
			f.Textures = append(f.Textures, t)
		}
		d.b.mu.Unlock()
		slices.SortFunc(f.Textures, func(a, b backend.Texture) int { return cmp.Compare(a.Handle, b.Handle) })
	}
	c := &Capture{f, d}
	return c, c.choose(roots, all, limit, read)
}

// choose reads what can be reached and drops the rest.
func (c *Capture) choose(roots []int, all bool, limit uint64, read func(a uint64, b []byte) error) error {
	f := c.File
	content, total := make([][]byte, len(f.Regions)), uint64(0)
	var failed error
	get := func(i int) []byte {
		if content[i] != nil {
			return content[i]
		}
		r := &f.Regions[i]
		if total += r.Size; total > limit {
			failed = fmt.Errorf("more than %d bytes of memory can be reached", limit)
			return nil
		}
		b := make([]byte, r.Size)
		if err := read(r.Base, b); err != nil {
			if r.Var == "" && errors.Is(err, errUnmapped) { // registered, and gone
				f.Notes = append(f.Notes, fmt.Sprintf("%d bytes at %#x: %v", r.Size, r.Base, err))
			} else {
				failed = fmt.Errorf("%d bytes at %#x: %w", r.Size, r.Base, err)
			}
			return nil
		}
		content[i] = b
		return b
	}
	if all {
		for i := range f.Regions {
			roots = append(roots, i)
		}
	}
	regions, textures := dump.NewFinder(f.Regions, f.Textures).Reach(f.Values, roots, f.Textures, get)
	if failed != nil {
		return failed
	}
	var kept []dump.Region
	for i := range f.Regions {
		if regions[i] && content[i] != nil {
			kept = append(kept, f.Regions[i])
			f.Before = append(f.Before, content[i])
		}
	}
	f.Regions, f.After = kept, slices.Clone(f.Before)
	var seen []backend.Texture
	for i := range f.Textures {
		if textures[i] {
			seen = append(seen, f.Textures[i])
		}
	}
	f.Textures = seen
	return nil
}

// Finish reads what the launch left; err is how it ended.
func (c *Capture) Finish(err error) error {
	var fault *backend.Fault
	if errors.As(err, &fault) {
		c.Fault, c.Kind, c.Unread = fault.Error(), uint8(fault.Kind), true
		return nil
	}
	if err != nil {
		return err
	}
	for i := range c.Regions {
		b := make([]byte, c.Regions[i].Size)
		if err := c.d.read(c.Regions[i].Base, b); err != nil {
			return err
		}
		c.After[i] = b
	}
	return nil
}

// variables are those of the module that the kernel names, where they lie.
func (p *Program) variables(text string, f *dump.File) []dump.Region {
	var all []dump.Region
	for i := range p.m.Vars {
		v := &p.m.Vars[i]
		if v.Size == 0 || !dump.Names(text, v.Name) {
			continue
		}
		a, n, err := p.Var(v.Name)
		if err != nil {
			if !v.Extern {
				f.Notes = append(f.Notes, fmt.Sprintf("variable %s: %v", v.Name, err))
			}
			continue
		}
		if n > 0 && a != 0 && !slices.ContainsFunc(all, func(r dump.Region) bool { return r.Base < uint64(a)+n && uint64(a) < r.Base+r.Size }) {
			all = append(all, dump.Region{Base: uint64(a), Size: n, Var: v.Name, Const: v.Const})
		}
	}
	return all
}

// without is the extents less what the regions have.
func without(list []extent, regions []dump.Region) []dump.Region {
	var cut []extent
	for i := range regions {
		cut = append(cut, extent{base: regions[i].Base, size: regions[i].Size})
	}
	slices.SortFunc(cut, func(a, b extent) int { return cmp.Compare(a.base, b.base) })
	var out []dump.Region
	add := func(base, end uint64) {
		if base < end {
			out = append(out, dump.Region{Base: base, Size: end - base})
		}
	}
	for _, e := range list {
		at, end := e.base, e.base+e.size
		for _, c := range cut {
			if c.base < end && c.base+c.size > at {
				add(at, max(at, c.base))
				at = max(at, c.base+c.size)
			}
		}
		add(at, end)
	}
	return out
}
