package cusolvermg

import (
	"kudzu/internal/driver"
	"kudzu/internal/handle"
	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/shim/cusolver"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
	"kudzu/internal/spec/solvermg"
)

// part is a matrix of a call: rows and columns of a dealt one that begin at ia and ja, from 1.
type part struct {
	*matrixDesc
	at     []uint64 // the first block of each device
	ia, ja int64
	m, n   int64
}

// partOf checks one. Pointers are only needed by calls that work.
func partOf(array hostmem.Ptr, ia, ja int32, m, n int64, d solvermg.CudaLibMgMatrixDesc_t, compute rt.CudaDataType) (*part, error) {
	x := matrices.Get(handle.Value(d))
	if x == nil || m < 0 || n < 0 || ia < 1 || ja < 1 || int64(ia)-1+m > x.rows || int64(ja)-1+n > x.cols || x.t != compute {
		return nil, invalidValue
	}
	p := &part{matrixDesc: x, ia: int64(ia) - 1, ja: int64(ja) - 1, m: m, n: n}
	if array != hostmem.Nil {
		p.at = hostmem.Slice[uint64](array, len(x.grid.devices))
	}
	return p, nil
}

// elements of a copy that lies in one piece.
func (p *part) elements() int64 { return max(p.m, 1) * p.n }

// runs calls f for every run of columns that lie side by side: on the device at `at`, and from column `col` of the copy on.
func (p *part) runs(f func(at uint64, col, count int64) error) error {
	devices := int64(len(p.grid.devices))
	for j := int64(0); j < p.n; {
		c := p.ja + j
		block := c / p.block
		count := min(p.n-j, (block+1)*p.block-c)
		local := block/devices*p.block + c%p.block
		if err := f(p.at[block%devices]+uint64(local*p.rows+p.ia)*uint64(p.e.Size()), j, count); err != nil {
			return err
		}
		j += count
	}
	return nil
}

// move copies all of it to one piece, or back.
func (p *part) move(d *driver.Thread, whole hostmem.Ptr, back bool) error {
	size := int64(p.e.Size())
	return p.runs(func(at uint64, col, count int64) error {
		here := uint64(whole) + uint64(col*p.m*size)
		c := &cu.CUDA_MEMCPY2D{SrcMemoryType: cu.CU_MEMORYTYPE_UNIFIED, DstMemoryType: cu.CU_MEMORYTYPE_UNIFIED,
			SrcDevice: at, SrcPitch: uint64(p.rows * size), DstDevice: here, DstPitch: uint64(p.m * size),
			WidthInBytes: uint64(p.m * size), Height: uint64(count)}
		if back {
			c.SrcDevice, c.SrcPitch, c.DstDevice, c.DstPitch = c.DstDevice, c.DstPitch, c.SrcDevice, c.SrcPitch
		}
		if c.WidthInBytes == 0 {
			return nil
		}
		return d.Memcpy2DUnaligned(c)
	})
}

// pivots copies those of a matrix's columns, which are dealt out as these are, to one piece, or back.
func (p *part) pivots(d *driver.Thread, array, whole hostmem.Ptr, n int64, back bool) error {
	if array == hostmem.Nil {
		return invalidValue
	}
	q := *p
	q.matrixDesc = &matrixDesc{rows: 1, cols: p.cols, block: p.block, grid: p.grid, e: cublas.F32}
	q.at, q.ia, q.m, q.n = hostmem.Slice[uint64](array, len(p.grid.devices)), 0, 1, n
	return q.move(d, whole, back)
}

// job is a call that works: in the context of the first device, after all that the others had to do.
type job struct {
	t    *Thread
	d    *driver.Thread
	dn   cusolver.Handle
	th   *cusolver.Thread
	next uint64 // of the workspace
	end  uint64
	info hostmem.Ptr // on the device
	done []func()
}

const infoBytes = 16

// begin starts one; works are the workspaces of the devices, of which the first is used, with room for lwork elements.
func (t *Thread) begin(h Handle, works hostmem.Ptr, lwork int64, e cublas.Elem, need int64, info hostmem.Ptr) (j *job, err error) {
	x := handles.Get(handle.Value(h))
	if x == nil {
		return nil, notInitialized
	}
	if works == hostmem.Nil || info == hostmem.Nil || lwork < need {
		return nil, invalidValue
	}
	x.mu.Lock()
	devices := x.devices
	x.mu.Unlock()
	if len(devices) == 0 {
		return nil, invalidValue
	}
	j = &job{t: t, d: t.driver(), th: (*cusolver.Thread)(t)}
	defer func() {
		if err != nil {
			j.close()
		}
	}()
	for i := len(devices) - 1; i >= 0; i-- { // the first one's stays
		c, err := j.d.DevicePrimaryCtxRetain(devices[i])
		if err != nil {
			return nil, err
		}
		j.done = append(j.done, func() { _ = j.d.DevicePrimaryCtxRelease(devices[i]) })
		if err := j.d.CtxPushCurrent(c); err != nil {
			return nil, err
		}
		if i == 0 {
			j.done = append(j.done, func() { _, _ = j.d.CtxPopCurrent() })
		}
		err = j.d.CtxSynchronize()
		if i > 0 {
			_, _ = j.d.CtxPopCurrent()
		}
		if err != nil {
			return nil, err
		}
	}
	dn, err := j.th.DnCreate()
	if err != nil {
		return nil, err
	}
	j.dn = cusolver.Handle(dn)
	j.done = append(j.done, func() { _ = j.th.DnDestroy(j.dn) })
	work := hostmem.Load[uint64](works)
	if work == 0 {
		return nil, invalidValue
	}
	j.info = hostmem.Ptr(work)
	j.next, j.end = work+infoBytes, work+uint64(lwork)*uint64(e.Size())
	return j, nil
}

// close gives back what begin took, the last first.
func (j *job) close() {
	for i := len(j.done) - 1; i >= 0; i-- {
		j.done[i]()
	}
}

// take is a piece of the workspace.
func (j *job) take(bytes int64) hostmem.Ptr {
	p := j.next
	j.next += (uint64(bytes) + 15) &^ 15
	return hostmem.Ptr(p)
}

// rest is what is left of it, in elements.
func (j *job) rest(e cublas.Elem) (hostmem.Ptr, int64) {
	return hostmem.Ptr(j.next), int64(j.end-j.next) / int64(e.Size())
}

// whole brings a matrix together.
func (j *job) whole(p *part) (hostmem.Ptr, error) {
	to := j.take(p.elements() * int64(p.e.Size()))
	return to, p.move(j.d, to, false)
}

// finish waits, and writes info to the program's memory.
func (j *job) finish(info hostmem.Ptr) error {
	if err := j.d.CtxSynchronize(); err != nil {
		return err
	}
	return j.d.MemcpyDtoH(info, driver.DevPtr(j.info), 4)
}

// slack are the elements that pieces of a workspace need beyond their own, info and pivots among them.
func slack(n int64, e cublas.Elem) int64 {
	return (infoBytes + 4*n + 8*16 + int64(e.Size())) / int64(e.Size())
}

func realOf(e cublas.Elem) (cublas.Elem, rt.CudaDataType, error) {
	switch e {
	case cublas.F32, cublas.C32:
		return cublas.F32, rt.CUDA_R_32F, nil
	case cublas.F64, cublas.C64:
		return cublas.F64, rt.CUDA_R_64F, nil
	}
	return e, 0, notSupported
}
