package cufft

import (
	"math/bits"
	"runtime"
	"slices"

	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/fft"
)

// array is a descriptor, which a program may have made itself.
type array struct {
	*fft.CudaLibXtDesc
	parts *fft.CudaXtDesc
}

func (a array) at(i int) hostmem.Ptr { return hostmem.Ptr(a.parts.Data[i]) }

// permuted says that the numbers of a single transform are not in their natural order.
func (a array) permuted() bool {
	switch fft.CufftXtSubFormat(a.SubFormat) {
	case fft.CUFFT_XT_FORMAT_OUTPUT, fft.CUFFT_XT_FORMAT_INPLACE_SHUFFLED, fft.CUFFT_XT_FORMAT_1D_INPUT_SHUFFLED:
		return true
	}
	return false
}

// descriptor reads one, which must be of the plan's devices.
func (m *spread) descriptor(p hostmem.Ptr) (a array, err error) {
	if p == hostmem.Nil {
		return a, invalidValue
	}
	a.CudaLibXtDesc = hostmem.At[fft.CudaLibXtDesc](p)
	if a.Descriptor == 0 {
		return a, invalidValue
	}
	a.parts = hostmem.At[fft.CudaXtDesc](hostmem.Ptr(a.Descriptor))
	if int(a.parts.NGPUs) != len(m.ids) || !slices.Equal(a.parts.GPUs[:len(m.ids)], m.ids) {
		return a, invalidValue
	}
	return a, nil
}

// share is the part of n things that goes to device i of count: the first ones have one more where it does not come out even.
func share(n uint64, count, i int) (first, length uint64) {
	c, k := uint64(count), uint64(i)
	return k*(n/c) + min(k, n%c), n/c + (c-1-k+n%c)/c
}

// piece is what a device has: height runs of width bytes, pitch bytes from each other in the whole, without gaps on the device.
type piece struct{ offset, pitch, width, height uint64 }

// piece deals out the first axis, or in permuted order the second one.
func (m *spread) piece(i int, permuted bool) piece {
	n := len(m.ids)
	if !permuted || len(m.shape) == 1 {
		row := count(m.shape[1:]) * m.slots
		first, length := share(m.shape[0], n, i)
		return piece{first * row, length * row, length * row, 1}
	}
	row := count(m.shape[2:]) * m.slots
	first, length := share(m.shape[1], n, i)
	return piece{first * row, m.shape[1] * row, length * row, m.shape[0]}
}

// move copies the pieces of an array to one piece, or back. Preconditions: the first device's context is current.
func (m *spread) move(d *driver.Thread, a array, whole driver.DevPtr, permuted, back bool) error {
	for i := range m.ids {
		p := m.piece(i, permuted)
		if p.width == 0 || p.height == 0 {
			continue
		}
		c := &cu.CUDA_MEMCPY2D{SrcMemoryType: cu.CU_MEMORYTYPE_UNIFIED, DstMemoryType: cu.CU_MEMORYTYPE_UNIFIED,
			SrcDevice: a.parts.Data[i], SrcPitch: p.width, DstDevice: uint64(whole) + p.offset, DstPitch: p.pitch,
			WidthInBytes: p.width, Height: p.height}
		if back {
			c.SrcDevice, c.SrcPitch, c.DstDevice, c.DstPitch = c.DstDevice, c.DstPitch, c.SrcDevice, c.SrcPitch
		}
		if err := d.Memcpy2DUnaligned(c); err != nil {
			return err
		}
	}
	return nil
}

// gather brings an array together in natural order, at the begin of an area with room.
func (m *spread) gather(d *driver.Thread, a array, area driver.DevPtr, permuted bool) error {
	if !permuted || m.order.strings < 2 {
		return m.move(d, a, area, permuted, false)
	}
	second := area + driver.DevPtr(m.room()/2)
	if err := m.move(d, a, second, true, false); err != nil {
		return err
	}
	return m.order.copy(d, m.slots, second, area, true)
}

// scatter takes it apart.
func (m *spread) scatter(d *driver.Thread, a array, area driver.DevPtr, permuted bool) error {
	if !permuted || m.order.strings < 2 {
		return m.move(d, a, area, permuted, true)
	}
	second := area + driver.DevPtr(m.room()/2)
	if err := m.order.copy(d, m.slots, area, second, false); err != nil {
		return err
	}
	return m.move(d, a, second, true, true)
}

// order is that of the results of a single row: strings one after another, each of as many substrings as the second factor is, which
// have neighbours of the natural order; the next substring begins the first factor further on.
type order struct{ n, strings, factor1, factor2 uint64 }

// fewestStrings is how many strings there are at least.
const fewestStrings = 8

// orderOf chooses the factors of a row. Where the length has no factor that goes round the devices, the order is the natural one.
func orderOf(n, devices uint64) order {
	o := order{n, 1, n, 1}
	if n&(n-1) == 0 && n >= 64 && devices&(devices-1) == 0 && devices > 1 {
		o.strings = max(fewestStrings, devices)
		o.factor1 = max(1<<((bits.Len64(n)-1)/2+1), o.strings)
		o.factor2 = n / o.factor1
		return o
	}
	for f := devices; devices > 1 && f <= n/2 && n%devices == 0; f += devices {
		if n%f == 0 {
			o.strings, o.factor1, o.factor2 = devices, f, n/f
			if f*f >= n {
				break
			}
		}
	}
	return o
}

func (o *order) substring() uint64 { return o.factor1 / o.strings }

// copy brings numbers from natural into permuted order, or back.
func (o *order) copy(d *driver.Thread, slots uint64, from, to driver.DevPtr, back bool) error {
	b := &builder{precision: precision(slots / 2)}
	l := int64(o.substring())
	dims := []dim{{o.factor2, int64(o.factor1), l}, {o.strings, l, int64(o.n / o.strings)}}
	if back {
		for i := range dims {
			dims[i].in, dims[i].out = dims[i].out, dims[i].in
		}
	}
	b.row(row{kernel: "copy_" + b.precision.suffix(), count: uint64(l), in: 1, out: 1, dims: dims}, place{input, 0}, place{output, 0}, asAsked)
	for _, op := range b.ops {
		if err := op.launch(d, 0, &call{at: [3]uint64{uint64(from), uint64(to), 0}}); err != nil {
			return err
		}
	}
	return nil
}

// XtQueryPlan tells the order of the results of a single row.
func (t *Thread) XtQueryPlan(h fft.CufftHandle, out hostmem.Ptr, which fft.CufftXtQueryType) error {
	return change(h, func(p *plan) error {
		if which != fft.CUFFT_QUERY_1D_FACTORS || out == hostmem.Nil {
			return invalidValue
		}
		if !p.made || p.many == nil || p.many.order.n == 0 {
			return invalidPlan
		}
		o := &p.many.order
		f := fft.CufftXt1dFactors{Size: int64(o.n), StringCount: int64(o.strings), StringLength: int64(o.n / o.strings),
			SubstringLength: int64(o.substring()), Factor1: int64(o.factor1), Factor2: int64(o.factor2)}
		if o.n&(o.n-1) == 0 {
			shift := func(v int64) int32 { return int32(bits.TrailingZeros64(uint64(v))) }
			f.StringMask, f.SubstringMask, f.Factor1Mask, f.Factor2Mask = f.StringCount-1, f.SubstringLength-1, f.Factor1-1, f.Factor2-1
			f.StringShift, f.SubstringShift, f.Factor1Shift, f.Factor2Shift = shift(f.StringLength), shift(f.SubstringLength), shift(f.Factor1), shift(f.Factor2)
		}
		hostmem.Store(out, f)
		return nil
	})
}

// given is a descriptor that XtMalloc made: C reads and writes it.
type given struct {
	lib   fft.CudaLibXtDesc
	parts fft.CudaXtDesc
	pin   runtime.Pinner
}

var gifts = map[hostmem.Ptr]*given{} // guarded by plansMu

// XtMalloc allocates an array on the devices of a plan.
func (t *Thread) XtMalloc(h fft.CufftHandle, out hostmem.Ptr, format fft.CufftXtSubFormat) error {
	return change(h, func(p *plan) error {
		if out == hostmem.Nil || format < fft.CUFFT_XT_FORMAT_INPUT || format > fft.CUFFT_XT_FORMAT_1D_INPUT_SHUFFLED {
			return invalidValue
		}
		d := t.driver()
		m, err := p.devices(d)
		if err != nil {
			return err
		}
		g := &given{}
		g.pin.Pin(g)
		g.lib.Version, g.lib.Library, g.lib.SubFormat = descriptorVersion, fft.LIB_FORMAT_CUFFT, int32(format)
		g.lib.Descriptor = uint64(hostmem.Of(&g.parts))
		g.parts.Version, g.parts.NGPUs = descriptorVersion, int32(len(m.ids))
		for i, id := range m.ids {
			g.parts.GPUs[i], g.parts.Size[i] = id, m.bytes(p, i)
			if err := m.on(d, i, func() error {
				at, err := d.MemAlloc(max(g.parts.Size[i], 1))
				g.parts.Data[i] = uint64(at)
				return err
			}); err != nil {
				g.free(d)
				return err
			}
		}
		at := hostmem.Of(&g.lib)
		plansMu.Lock()
		gifts[at] = g
		plansMu.Unlock()
		hostmem.Store(out, at)
		return nil
	})
}

// descriptorVersion is what cuFFT's descriptors say.
const descriptorVersion = 1

// bytes is what a device needs for an array in any order.
func (m *spread) bytes(p *plan, i int) uint64 {
	if !m.single {
		_, n := share(p.geometry.batch, len(m.ids), i)
		return n * m.whole()
	}
	a, b := m.piece(i, false), m.piece(i, true)
	return max(a.width*a.height, b.width*b.height)
}

func (g *given) free(d *driver.Thread) {
	for _, at := range g.parts.Data[:g.parts.NGPUs] {
		if at != 0 {
			_ = d.MemFree(driver.DevPtr(at))
		}
	}
	g.pin.Unpin()
}

// XtFree frees what XtMalloc gave.
func (t *Thread) XtFree(at hostmem.Ptr) error {
	if at == hostmem.Nil {
		return nil
	}
	plansMu.Lock()
	g := gifts[at]
	delete(gifts, at)
	plansMu.Unlock()
	if g == nil {
		return invalidValue
	}
	g.free(t.driver())
	return nil
}

// XtMemcpy copies between the program's memory, in natural order, and an array, or between arrays, of which each has its own order.
func (t *Thread) XtMemcpy(h fft.CufftHandle, dst, src hostmem.Ptr, how fft.CufftXtCopyType) error {
	return change(h, func(p *plan) error {
		if dst == hostmem.Nil || src == hostmem.Nil {
			return invalidValue
		}
		d := t.driver()
		m, err := p.devices(d)
		if err != nil {
			return err
		}
		if err := m.wait(d); err != nil {
			return err
		}
		if !m.single {
			return m.copyBatch(d, p, dst, src, how)
		}
		return m.on(d, 0, func() error {
			area := m.areas[0]
			if area == 0 {
				var err error
				if area, err = d.TakeMemory(m.room()); err != nil {
					return err
				}
				defer func() { _ = d.GiveMemory(area) }()
			}
			return m.copy(d, dst, src, how, area)
		})
	})
}

func (m *spread) copy(d *driver.Thread, dst, src hostmem.Ptr, how fft.CufftXtCopyType, area driver.DevPtr) error {
	switch how {
	case fft.CUFFT_COPY_HOST_TO_DEVICE:
		to, err := m.descriptor(dst)
		if err != nil {
			return err
		}
		if err := d.MemcpyHtoD(area, src, m.whole()); err != nil {
			return err
		}
		return m.scatter(d, to, area, to.permuted())
	case fft.CUFFT_COPY_DEVICE_TO_HOST:
		from, err := m.descriptor(src)
		if err != nil {
			return err
		}
		if err := m.gather(d, from, area, from.permuted()); err != nil {
			return err
		}
		return d.MemcpyDtoH(dst, area, m.whole())
	case fft.CUFFT_COPY_DEVICE_TO_DEVICE:
		to, err := m.descriptor(dst)
		if err != nil {
			return err
		}
		from, err := m.descriptor(src)
		if err != nil {
			return err
		}
		if err := m.gather(d, from, area, from.permuted()); err != nil {
			return err
		}
		return m.scatter(d, to, area, to.permuted())
	}
	return invalidValue
}

// copyBatch copies the transforms of a batch, which have one order.
func (m *spread) copyBatch(d *driver.Thread, p *plan, dst, src hostmem.Ptr, how fft.CufftXtCopyType) error {
	arrays := [2]array{}
	for i, at := range []hostmem.Ptr{dst, src} {
		if i == 0 && how == fft.CUFFT_COPY_DEVICE_TO_HOST || i == 1 && how == fft.CUFFT_COPY_HOST_TO_DEVICE {
			continue
		}
		var err error
		if arrays[i], err = m.descriptor(at); err != nil {
			return err
		}
	}
	for i := range m.ids {
		first, n := share(p.geometry.batch, len(m.ids), i)
		bytes, at := n*m.whole(), first*m.whole()
		if bytes == 0 {
			continue
		}
		var err error
		switch how {
		case fft.CUFFT_COPY_HOST_TO_DEVICE:
			err = d.MemcpyHtoD(driver.DevPtr(arrays[0].at(i)), src.Add(at), bytes)
		case fft.CUFFT_COPY_DEVICE_TO_HOST:
			err = d.MemcpyDtoH(dst.Add(at), driver.DevPtr(arrays[1].at(i)), bytes)
		case fft.CUFFT_COPY_DEVICE_TO_DEVICE:
			err = d.MemcpyDtoD(driver.DevPtr(arrays[0].at(i)), driver.DevPtr(arrays[1].at(i)), bytes)
		default:
			err = invalidValue
		}
		if err != nil {
			return err
		}
	}
	return nil
}
