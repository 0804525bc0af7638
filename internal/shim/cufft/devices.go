package cufft

import (
	"slices"

	"kudzu/internal/cudart"
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/fft"
)

// spread is a plan's part on several devices. Transforms of a batch are dealt out whole. A single transform is brought together on the
// first device, done there, and taken apart again: the devices of one machine's processors are as fast together as one of them is.
type spread struct {
	ids    []int32
	ctxs   []cu.CUcontext // the devices' primary ones, which the plan keeps
	inner  []*plan        // one a device; of a single transform only the first; nil: nothing to do
	sizes  []uint64       // of the work areas
	areas  []driver.DevPtr
	own    bool   // they are ours
	single bool   // batch is one
	slots  uint64 // bytes of the smallest thing that is dealt out: a complex number
	shape  []uint64
	order  order
}

// maxGPUs is the most devices that cuFFT takes.
const maxGPUs = 16

// on runs f in the context of a device of the plan.
func (m *spread) on(d *driver.Thread, i int, f func() error) error {
	if err := d.CtxPushCurrent(m.ctxs[i]); err != nil {
		return err
	}
	defer func() { _, _ = d.CtxPopCurrent() }()
	return f()
}

// wait waits for all work of the devices.
func (m *spread) wait(d *driver.Thread) error {
	for i := range m.ctxs {
		if err := m.on(d, i, d.CtxSynchronize); err != nil {
			return err
		}
	}
	return nil
}

// XtSetGPUs says on which devices a plan that is made later works. One may be there several times.
func (t *Thread) XtSetGPUs(h fft.CufftHandle, n int32, which hostmem.Ptr) error {
	return change(h, func(p *plan) error {
		if p.made {
			return invalidPlan
		}
		if n < 2 || n > maxGPUs || which == hostmem.Nil {
			return invalidValue
		}
		d := t.driver()
		if err := cudart.Ready(d); err != nil {
			return setupFailed
		}
		ids := slices.Clone(hostmem.Slice[int32](which, int(n)))
		m := &spread{}
		for _, id := range ids {
			dev, err := d.DeviceGet(id)
			if err != nil {
				m.release(d)
				return invalidDevice
			}
			c, err := d.DevicePrimaryCtxRetain(dev)
			if err != nil {
				m.release(d)
				return err
			}
			m.ids, m.ctxs = append(m.ids, id), append(m.ctxs, c)
		}
		p.dropMany(d)
		p.many = m
		return nil
	})
}

// release gives the contexts back.
func (m *spread) release(d *driver.Thread) {
	for _, id := range m.ids {
		if dev, err := d.DeviceGet(id); err == nil {
			_ = d.DevicePrimaryCtxRelease(dev)
		}
	}
	m.ids, m.ctxs = nil, nil
}

// dropMany ends what a plan has on its devices. Preconditions: p.mu is held.
func (p *plan) dropMany(d *driver.Thread) {
	for _, m := range []*spread{p.many, p.alone} {
		if m != nil {
			m.drop(d)
			m.release(d)
		}
	}
	p.many, p.alone = nil, nil
}

// drop gives memory back.
func (m *spread) drop(d *driver.Thread) {
	for i, q := range m.inner {
		_ = m.on(d, i, func() error {
			if q != nil {
				q.dropKept(d)
				q.drop(d)
			}
			if m.own && m.areas[i] != 0 {
				_ = d.GiveMemory(m.areas[i])
			}
			return nil
		})
	}
	m.inner, m.areas, m.own = nil, nil, false
}

// dealt reports a single transform that cuFFT does on so many devices: a row of complex numbers whose length is a power of two, or two
// axes of some length.
func dealt(n []uint64, ty types, devices int) bool {
	const shortest, shortestRow = 32, 64
	if len(n) > 1 {
		return n[0] >= shortest && n[1] >= shortest
	}
	return ty.kind == complexKind && n[0] >= shortestRow && n[0]&(n[0]-1) == 0 && devices&(devices-1) == 0
}

// makeMany makes a plan's part on devices, with work areas of our own where auto says so. Not there, as in cuFFT: layouts of the
// program's and 16-bit numbers. Preconditions: p.mu is held.
func (p *plan) makeMany(d *driver.Thread, m *spread, g *geometry, ty types, auto bool) (err error) {
	m.single = g.batch == 1
	if !g.basic || g.empty || ty.storage != ty.precision().suffix() {
		return notSupported
	}
	if m.single && len(m.ids) > 1 && !dealt(g.n, ty, len(m.ids)) {
		return invalidSize
	}
	m.slots, m.shape = ty.precision().complex(), slices.Clone(g.n)
	if ty.kind != complexKind {
		m.shape = g.half()
	}
	m.order = order{}
	if m.single && len(g.n) == 1 {
		m.order = orderOf(g.n[0], uint64(len(m.ids)))
	}
	defer func() {
		if err != nil {
			m.drop(d)
		}
	}()
	n := len(m.ids)
	m.inner, m.sizes, m.areas = make([]*plan, n), make([]uint64, n), make([]driver.DevPtr, n)
	for i := range n {
		part := *g
		if !m.single {
			_, part.batch = share(g.batch, n, i)
		}
		if m.single && i > 0 || part.batch == 0 {
			continue
		}
		q := &plan{variants: map[form]*variant{}}
		if err := m.on(d, i, func() error { return q.fill(d, &part, ty) }); err != nil {
			return err
		}
		m.inner[i], m.sizes[i] = q, q.size
	}
	if m.single {
		m.sizes[0] += m.room()
	}
	for i := range n {
		if auto && m.sizes[i] > 0 {
			m.own = true
			if err := m.on(d, i, func() (err error) { m.areas[i], err = d.TakeMemory(m.sizes[i]); return err }); err != nil {
				return err
			}
		}
	}
	return nil
}

// devices is a made plan's part on its devices; of a plan that was not told any, on the one that is current, for calls with descriptors.
// Preconditions: p.mu is held.
func (p *plan) devices(d *driver.Thread) (*spread, error) {
	switch {
	case !p.made:
		return nil, invalidPlan
	case p.many != nil:
		return p.many, nil
	case p.alone != nil:
		return p.alone, nil
	}
	dev, err := d.CtxGetDevice()
	if err != nil {
		return nil, invalidPlan
	}
	c, err := d.DevicePrimaryCtxRetain(dev)
	if err != nil {
		return nil, err
	}
	m := &spread{ids: []int32{int32(dev)}, ctxs: []cu.CUcontext{c}}
	if err := p.makeMany(d, m, &p.geometry, p.types, true); err != nil {
		m.release(d)
		return nil, err
	}
	p.alone = m
	return m, nil
}

// whole is the size of a single transform's numbers, and room what bringing them together takes.
func (m *spread) whole() uint64 { return count(m.shape) * m.slots }

func (m *spread) room() uint64 {
	r := (m.whole() + 255) &^ 255
	if m.order.strings > 1 {
		r *= 2
	}
	return r
}

// XtSetWorkArea gives a plan its work areas, one a device. Those of a plan for several devices are forgotten when it is made.
func (t *Thread) XtSetWorkArea(h fft.CufftHandle, areas hostmem.Ptr) error {
	return change(h, func(p *plan) error {
		m := p.many
		switch {
		case areas == hostmem.Nil:
			return invalidValue
		case m == nil:
			p.setArea(t.driver(), hostmem.Load[driver.DevPtr](areas))
			return nil
		case !p.made:
			return nil
		}
		for i, at := range hostmem.Slice[uint64](areas, len(m.ids)) {
			if m.own && m.areas[i] != 0 {
				_ = m.on(t.driver(), i, func() error { return t.driver().GiveMemory(m.areas[i]) })
			}
			m.areas[i] = driver.DevPtr(at)
		}
		m.own = false
		return nil
	})
}

// execMany executes a plan on descriptors. What was in natural order is permuted afterwards, and the other way round; transforms of a
// batch stay as they are. Preconditions: p.mu is held.
func (p *plan) execMany(d *driver.Thread, in, out hostmem.Ptr, inverse bool) error {
	m, err := p.devices(d)
	if err != nil {
		return err
	}
	from, err := m.descriptor(in)
	if err != nil {
		return err
	}
	to, err := m.descriptor(out)
	if err != nil {
		return err
	}
	if err := m.wait(d); err != nil {
		return err
	}
	if !m.single {
		for i, q := range m.inner {
			if q == nil {
				continue
			}
			q.area = m.areas[i]
			if err := m.on(d, i, func() error { return q.run(d, from.at(i), to.at(i), inverse) }); err != nil {
				return err
			}
		}
		to.SubFormat = from.SubFormat
		return m.wait(d)
	}
	if m.areas[0] == 0 {
		return noWorkspace
	}
	natural := !from.permuted()
	if len(m.ids) > 1 && len(m.shape) == 1 && from.SubFormat == int32(fft.CUFFT_XT_FORMAT_INPLACE_SHUFFLED) {
		return invalidType // a row is to be copied to CUFFT_XT_FORMAT_1D_INPUT_SHUFFLED before
	}
	return m.on(d, 0, func() error {
		q := m.inner[0]
		q.area = m.areas[0] + driver.DevPtr(m.room())
		if err := m.gather(d, from, m.areas[0], !natural); err != nil {
			return err
		}
		whole := hostmem.Ptr(m.areas[0])
		if err := q.run(d, whole, whole, inverse); err != nil {
			return err
		}
		if err := m.scatter(d, to, m.areas[0], natural); err != nil {
			return err
		}
		to.SubFormat = int32(fft.CUFFT_XT_FORMAT_INPLACE)
		if natural {
			to.SubFormat = int32(fft.CUFFT_XT_FORMAT_INPLACE_SHUFFLED)
		}
		return d.CtxSynchronize()
	})
}

// execDescriptor executes a plan of several devices in a direction.
func (t *Thread) execDescriptor(h fft.CufftHandle, in, out hostmem.Ptr, sign int32) error {
	return change(h, func(p *plan) error {
		if !p.made || in == hostmem.Nil || out == hostmem.Nil {
			return invalidPlan
		}
		forward, inverse := sign == fft.CUFFT_FORWARD, sign == fft.CUFFT_INVERSE
		if p.types.kind != toRealKind && forward || p.types.kind != fromRealKind && inverse {
			return p.execMany(t.driver(), in, out, inverse)
		}
		return invalidValue
	})
}

// XtExecDescriptor executes a plan of any types on descriptors.
func (t *Thread) XtExecDescriptor(h fft.CufftHandle, in, out hostmem.Ptr, sign int32) error {
	return t.execDescriptor(h, in, out, sign)
}

// XtExecDescriptorC2C transforms complex numbers in single precision.
func (t *Thread) XtExecDescriptorC2C(h fft.CufftHandle, in, out hostmem.Ptr, sign int32) error {
	return t.execDescriptor(h, in, out, sign)
}

// XtExecDescriptorZ2Z transforms complex numbers in double precision.
func (t *Thread) XtExecDescriptorZ2Z(h fft.CufftHandle, in, out hostmem.Ptr, sign int32) error {
	return t.execDescriptor(h, in, out, sign)
}

// XtExecDescriptorR2C transforms real numbers in single precision.
func (t *Thread) XtExecDescriptorR2C(h fft.CufftHandle, in, out hostmem.Ptr) error {
	return t.execDescriptor(h, in, out, fft.CUFFT_FORWARD)
}

// XtExecDescriptorD2Z transforms real numbers in double precision.
func (t *Thread) XtExecDescriptorD2Z(h fft.CufftHandle, in, out hostmem.Ptr) error {
	return t.execDescriptor(h, in, out, fft.CUFFT_FORWARD)
}

// XtExecDescriptorC2R transforms to real numbers in single precision.
func (t *Thread) XtExecDescriptorC2R(h fft.CufftHandle, in, out hostmem.Ptr) error {
	return t.execDescriptor(h, in, out, fft.CUFFT_INVERSE)
}

// XtExecDescriptorZ2D transforms to real numbers in double precision.
func (t *Thread) XtExecDescriptorZ2D(h fft.CufftHandle, in, out hostmem.Ptr) error {
	return t.execDescriptor(h, in, out, fft.CUFFT_INVERSE)
}
