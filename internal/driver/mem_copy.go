package driver

import (
	"kudzu/internal/backend"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// place is one side of a copy.
type place struct {
	addr     uint64
	pageable bool // memory of the program that we know nothing about
	idle     bool // a graph's, and not allocated
}

// known1D is memory that was allocated or registered here and holds all n bytes.
func (s *state) known1D(addr, n uint64) (place, error) {
	a := s.allocs.find(addr)
	if a == nil || !s.allocs.holds(a, addr, n) {
		return place{}, errInvalidValue
	}
	return place{addr: addr, idle: a.idle()}, nil
}

// any1D is known memory, or else memory of the program, whose bounds nobody knows.
func (s *state) any1D(addr, n uint64) (place, error) {
	a := s.allocs.find(addr)
	switch {
	case a != nil && !s.allocs.holds(a, addr, n), addr == 0, addr+n < addr:
		return place{}, errInvalidValue
	case a == nil:
		return place{addr: addr, pageable: true}, nil
	}
	return place{addr: addr, idle: a.idle()}, nil
}

// side says what a call's name promises about one side of a copy.
type side uint8

const (
	deviceSide side = iota // allocated or registered memory
	hostSide               // any memory of the program
	eitherSide             // to be found out
	arraySide              // in an array, checked
)

func (s *state) resolve(addr, n uint64, what side) (place, error) {
	switch what {
	case deviceSide:
		return s.known1D(addr, n)
	case arraySide:
		return place{addr: addr}, nil
	}
	return s.any1D(addr, n)
}

// memcpy is every one-dimensional copy. Async copies return before they are done, except where a side is pageable:
// then what the program sees is as if the copy had been made at once (the real driver stages such memory).
func (t *Thread) memcpy(dst, src, n uint64, to, from side, h cu.CUstream, async bool) error {
	st, err := t.stream(h)
	if err != nil {
		return err
	}
	if !async {
		if err := t.waits(st); err != nil {
			return err
		}
	}
	if n == 0 {
		return nil
	}
	s := st.ctx.state
	d, err := s.resolve(dst, n, to)
	if err != nil {
		return err
	}
	f, err := s.resolve(src, n, from)
	if err != nil {
		return err
	}
	if c := st.capture.Load(); c != nil {
		_, err := t.record(st, c, flatCopy(st.ctx, d, f, n))
		return err
	}
	if d.idle || f.idle {
		return errInvalidValue
	}
	if async && f.pageable && !d.pageable {
		if staged, err := st.stage(d.addr, f.addr, n); staged || err != nil {
			return err
		}
	}
	err = st.enqueue(func(q backend.Queue) error { return q.Copy(backend.Addr(d.addr), backend.Addr(f.addr), n) })
	if err != nil {
		return st.ctx.fail(err)
	}
	// Between two places in device memory even the synchronous form does not wait for the copy.
	if d.pageable || f.pageable || !async && (to != deviceSide || from != deviceSide) {
		return st.wait()
	}
	return nil
}

// stagedCopy is a buffer that a copy in flight reads.
type stagedCopy struct {
	addr, length uint64
	fence        backend.Fence
}

// maxStaged is the largest pageable source that is staged; a larger one is waited for.
const maxStaged = 64 << 20

// stage takes a pageable source's bytes now and enqueues the copy from the buffer. It declines (false) where the stream
// is idle, since copying at once is cheaper then, and where the source is very large.
func (s *Stream) stage(dst, src, n uint64) (bool, error) {
	if idle, err := s.idle(); err != nil || idle || n > maxStaged {
		return false, err
	}
	c := s.ctx
	c.releaseStaging(false)
	addr, length, err := mapHost(n)
	if err != nil {
		return false, err
	}
	kept := false
	defer func() { // also when the program's pointer faults
		if !kept {
			unmapHost(addr, length)
		}
	}()
	copy(hostmem.Bytes(hostmem.Ptr(addr), n), hostmem.Bytes(hostmem.Ptr(src), n))
	var f backend.Fence
	err = s.enqueue(func(q backend.Queue) (err error) {
		if err = q.Copy(backend.Addr(dst), backend.Addr(addr), n); err == nil {
			kept = true // from here on the queue may read it
			f, err = q.Mark()
		}
		return err
	})
	if err != nil {
		return false, c.fail(err)
	}
	c.mu.Lock()
	c.staging = append(c.staging, stagedCopy{addr, length, f})
	c.staged.Store(uint64(len(c.staging)))
	c.mu.Unlock()
	return true, nil
}

// releaseStaging unmaps buffers whose copies are done, or all once the queues are closed.
func (c *Context) releaseStaging(all bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept := c.staging[:0]
	for _, b := range c.staging {
		if done, err := b.fence.Done(); all || done && err == nil {
			unmapHost(b.addr, b.length)
		} else {
			kept = append(kept, b)
		}
	}
	c.staging = kept
	c.staged.Store(uint64(len(kept)))
}

// MemcpyHtoD copies from host to device and waits.
func (t *Thread) MemcpyHtoD(dst DevPtr, src hostmem.Ptr, n uint64) error {
	return t.memcpy(uint64(dst), uint64(src), n, deviceSide, hostSide, 0, false)
}

// MemcpyDtoH copies from device to host and waits.
func (t *Thread) MemcpyDtoH(dst hostmem.Ptr, src DevPtr, n uint64) error {
	return t.memcpy(uint64(dst), uint64(src), n, hostSide, deviceSide, 0, false)
}

// MemcpyDtoD copies within device memory, in the order of the default stream.
func (t *Thread) MemcpyDtoD(dst, src DevPtr, n uint64) error {
	return t.memcpy(uint64(dst), uint64(src), n, deviceSide, deviceSide, 0, false)
}

// Memcpy copies between any two places.
func (t *Thread) Memcpy(dst, src DevPtr, n uint64) error {
	return t.memcpy(uint64(dst), uint64(src), n, eitherSide, eitherSide, 0, false)
}

// MemcpyHtoDAsync is MemcpyHtoD in a stream.
func (t *Thread) MemcpyHtoDAsync(dst DevPtr, src hostmem.Ptr, n uint64, stream cu.CUstream) error {
	return t.memcpy(uint64(dst), uint64(src), n, deviceSide, hostSide, stream, true)
}

// MemcpyDtoHAsync is MemcpyDtoH in a stream.
func (t *Thread) MemcpyDtoHAsync(dst hostmem.Ptr, src DevPtr, n uint64, stream cu.CUstream) error {
	return t.memcpy(uint64(dst), uint64(src), n, hostSide, deviceSide, stream, true)
}

// MemcpyDtoDAsync is MemcpyDtoD in a stream.
func (t *Thread) MemcpyDtoDAsync(dst, src DevPtr, n uint64, stream cu.CUstream) error {
	return t.memcpy(uint64(dst), uint64(src), n, deviceSide, deviceSide, stream, true)
}

// MemcpyAsync is Memcpy in a stream.
func (t *Thread) MemcpyAsync(dst, src DevPtr, n uint64, stream cu.CUstream) error {
	return t.memcpy(uint64(dst), uint64(src), n, eitherSide, eitherSide, stream, true)
}

// peers checks the contexts of a peer copy; 0 is the current one.
func (t *Thread) peers(a, b cu.CUcontext) error {
	if _, err := t.contextOf(a); err != nil {
		return err
	}
	_, err := t.contextOf(b)
	return err
}

// MemcpyPeer copies between the memories of two contexts, which here are one address space.
func (t *Thread) MemcpyPeer(dst DevPtr, to cu.CUcontext, src DevPtr, from cu.CUcontext, n uint64) error {
	if err := t.peers(to, from); err != nil {
		return err
	}
	return t.MemcpyDtoD(dst, src, n)
}

// MemcpyPeerAsync is MemcpyPeer in a stream.
func (t *Thread) MemcpyPeerAsync(dst DevPtr, to cu.CUcontext, src DevPtr, from cu.CUcontext, n uint64, stream cu.CUstream) error {
	if err := t.peers(to, from); err != nil {
		return err
	}
	return t.MemcpyDtoDAsync(dst, src, n, stream)
}

// rows is one side of a two-dimensional copy or set, from its first byte.
type rows struct {
	place
	pitch uint64
}

// plane checks one side of a two-dimensional copy: where the first byte is, and that the last one is inside.
func (s *state) plane(kind cu.CUmemorytype, host, device, x, y, pitch, width, height uint64) (rows, error) {
	var what side
	base := device
	switch kind {
	case cu.CU_MEMORYTYPE_HOST:
		what, base = hostSide, host
	case cu.CU_MEMORYTYPE_DEVICE:
		what = deviceSide
	case cu.CU_MEMORYTYPE_UNIFIED:
		what = eitherSide
	default: // arrays are looked up where boxes are copied
		return rows{}, errInvalidValue
	}
	if pitch == 0 {
		pitch = width
	}
	if base == 0 || x > pitch || width > pitch-x || y > maxPitch || height > maxPitch || pitch > (1<<62)/(y+height) {
		return rows{}, errInvalidValue
	}
	if what == deviceSide && pitch > maxPitch { // rows of the host may be as far apart as they like
		return rows{}, errInvalidValue
	}
	first := base + y*pitch + x
	p, err := s.resolve(first, (height-1)*pitch+width, what)
	return rows{p, pitch}, err
}

func (t *Thread) memcpy2D(p *cu.CUDA_MEMCPY2D, h cu.CUstream, async bool) error {
	st, err := t.stream(h)
	if err != nil {
		return err
	}
	if p.WidthInBytes == 0 || p.Height == 0 {
		return nil
	}
	if p.DstMemoryType == cu.CU_MEMORYTYPE_ARRAY || p.SrcMemoryType == cu.CU_MEMORYTYPE_ARRAY {
		b := box(p)
		return t.memcpy3D(&b, h, async)
	}
	if !async {
		if err := t.waits(st); err != nil {
			return err
		}
	}
	s := st.ctx.state
	d, err := s.plane(p.DstMemoryType, p.DstHost, uint64(p.DstDevice), p.DstXInBytes, p.DstY, p.DstPitch, p.WidthInBytes, p.Height)
	if err != nil {
		return err
	}
	f, err := s.plane(p.SrcMemoryType, p.SrcHost, uint64(p.SrcDevice), p.SrcXInBytes, p.SrcY, p.SrcPitch, p.WidthInBytes, p.Height)
	if err != nil {
		return err
	}
	if c := st.capture.Load(); c != nil {
		_, err := t.record(st, c, &copyTask{params: box(p), ctx: st.ctx, dst: volume{d, 0}, src: volume{f, 0}})
		return err
	}
	err = st.enqueue(func(q backend.Queue) error {
		return q.Copy2D(backend.Addr(d.addr), d.pitch, backend.Addr(f.addr), f.pitch, p.WidthInBytes, p.Height)
	})
	if err != nil {
		return st.ctx.fail(err)
	}
	onDevice := p.DstMemoryType == cu.CU_MEMORYTYPE_DEVICE && p.SrcMemoryType == cu.CU_MEMORYTYPE_DEVICE
	if d.pageable || f.pageable || !async && !onDevice {
		return st.wait()
	}
	return nil
}

// box is a rectangle as a box.
func box(p *cu.CUDA_MEMCPY2D) cu.CUDA_MEMCPY3D {
	return cu.CUDA_MEMCPY3D{
		SrcXInBytes: p.SrcXInBytes, SrcY: p.SrcY, SrcMemoryType: p.SrcMemoryType, SrcHost: p.SrcHost, SrcDevice: p.SrcDevice, SrcArray: p.SrcArray, SrcPitch: p.SrcPitch,
		DstXInBytes: p.DstXInBytes, DstY: p.DstY, DstMemoryType: p.DstMemoryType, DstHost: p.DstHost, DstDevice: p.DstDevice, DstArray: p.DstArray, DstPitch: p.DstPitch,
		WidthInBytes: p.WidthInBytes, Height: p.Height, Depth: 1,
	}
}

// Memcpy2D copies a rectangle.
func (t *Thread) Memcpy2D(p *cu.CUDA_MEMCPY2D) error { return t.memcpy2D(p, 0, false) }

// Memcpy2DUnaligned is Memcpy2D for any pitch; so is Memcpy2D here.
func (t *Thread) Memcpy2DUnaligned(p *cu.CUDA_MEMCPY2D) error { return t.memcpy2D(p, 0, false) }

// Memcpy2DAsync is Memcpy2D in a stream.
func (t *Thread) Memcpy2DAsync(p *cu.CUDA_MEMCPY2D, stream cu.CUstream) error {
	return t.memcpy2D(p, stream, true)
}
