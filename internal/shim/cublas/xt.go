package cublas

import (
	"slices"
	"sync/atomic"

	"kudzu/internal/cudart"
	"kudzu/internal/driver"
	"kudzu/internal/handle"
	"kudzu/internal/hostmem"
	"kudzu/internal/lockrank"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/cu"
)

// cublasXt: products of matrices in anybody's memory, in square tiles that go round the devices of a handle. How is in xttile.go.

// XtHandle is the vendor's name of tiler.
type XtHandle = blas.CublasXtHandle_t

// tiler is what XtCreate gives.
type tiler struct {
	mu      lockrank.Mutex[lockrank.BlasHandle]
	devices []cu.CUdevice // each with its primary context retained
	block   int64         // side of a tile
	pinning blas.CublasXtPinnedMemMode_t
	part    map[routineOf]*share
}

// routineOf is a function of BLAS in a type.
type routineOf struct {
	op blas.CublasXtBlasOp_t
	t  blas.CublasXtOpType_t
}

// share is what of a function the program does itself.
type share struct {
	routine uint64 // its function, with Fortran's arguments
	ratio   float64
}

// xtBlock is the side of tiles until the program sets it.
const xtBlock = 1024

var tilers = handle.NewTable[tiler](handle.CublasXtHandle, "cublasXt handles")

// routine calls a function of the program that has the arguments of Fortran's gemm.
var routine atomic.Pointer[func(fn uint64, p *HostProduct)]

// UseRoutine lends a way to call C.
func UseRoutine(f func(fn uint64, p *HostProduct)) { routine.Store(&f) }

// tilerOf is the live handle with a value. What an H200 answers for none of them is INVALID_VALUE, from all but the products.
func tilerOf(h XtHandle) (*tiler, error) {
	if x := tilers.Get(handle.Value(h)); x != nil {
		return x, nil
	}
	return nil, invalidValue
}

// XtCreate makes a handle, which has no devices yet.
func (t *Thread) XtCreate() (uint64, error) {
	if err := cudart.Ready(t.driver()); err != nil {
		return 0, err
	}
	v := tilers.New(&tiler{block: xtBlock, part: map[routineOf]*share{}})
	if v == 0 {
		return 0, allocFailed
	}
	return uint64(v), nil
}

// XtDestroy ends it. Calls have waited for their work.
func (t *Thread) XtDestroy(h XtHandle) error {
	x := tilers.Delete(handle.Value(h))
	if x == nil {
		return invalidValue
	}
	x.mu.Lock()
	devices := x.devices
	x.devices = nil
	x.mu.Unlock()
	t.releaseAll(devices)
	return nil
}

func (t *Thread) releaseAll(devices []cu.CUdevice) {
	for _, d := range devices {
		_ = t.driver().DevicePrimaryCtxRelease(d) // it was retained
	}
}

// XtDeviceSelect says which devices work, once for a handle. A device may be named twice.
func (t *Thread) XtDeviceSelect(h XtHandle, n int32, ids hostmem.Ptr) error {
	x, err := tilerOf(h)
	if err != nil {
		return err
	}
	if n < 1 || ids == hostmem.Nil {
		return invalidValue
	}
	var devices []cu.CUdevice
	for _, id := range hostmem.Slice[int32](ids, int(n)) {
		d, err := t.driver().DeviceGet(id)
		if err != nil {
			t.releaseAll(devices)
			return internalError
		}
		if _, err := t.driver().DevicePrimaryCtxRetain(d); err != nil {
			t.releaseAll(devices)
			return err
		}
		devices = append(devices, d)
	}
	x.mu.Lock()
	first := x.devices == nil
	if first {
		x.devices = devices
	}
	x.mu.Unlock()
	if !first {
		t.releaseAll(devices)
		return invalidValue
	}
	return nil
}

// XtSetBlockDim sets the side of tiles.
func (t *Thread) XtSetBlockDim(h XtHandle, n int32) error {
	x, err := tilerOf(h)
	if err != nil {
		return err
	}
	if n <= 0 {
		return invalidValue
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.block = int64(n)
	return nil
}

// XtGetBlockDim is the side of tiles.
func (t *Thread) XtGetBlockDim(h XtHandle) (int32, error) {
	x, err := tilerOf(h)
	if err != nil {
		return 0, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return int32(x.block), nil
}

// XtSetPinningMemMode is kept and answered: copies of ours are as fast from any memory.
func (t *Thread) XtSetPinningMemMode(h XtHandle, m blas.CublasXtPinnedMemMode_t) error {
	x, err := tilerOf(h)
	if err != nil {
		return err
	}
	if m != blas.CUBLASXT_PINNING_DISABLED && m != blas.CUBLASXT_PINNING_ENABLED {
		return invalidValue
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.pinning = m
	return nil
}

// XtGetPinningMemMode is the mode set last.
func (t *Thread) XtGetPinningMemMode(h XtHandle, to hostmem.Ptr) error {
	x, err := tilerOf(h)
	if err != nil {
		return err
	}
	if to == hostmem.Nil {
		return invalidValue
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	hostmem.Store(to, x.pinning)
	return nil
}

func validRoutine(op blas.CublasXtBlasOp_t, e blas.CublasXtOpType_t) bool {
	return op >= blas.CUBLASXT_GEMM && op < blas.CUBLASXT_ROUTINE_MAX && e >= blas.CUBLASXT_FLOAT && e <= blas.CUBLASXT_DOUBLECOMPLEX
}

// XtSetCpuRoutine takes a function of the program for its part of a product; as in the vendor's library there is only gemm's.
func (t *Thread) XtSetCpuRoutine(h XtHandle, op blas.CublasXtBlasOp_t, e blas.CublasXtOpType_t, fn hostmem.Ptr) error {
	return t.setShare(h, op, e, func(s *share) { s.routine = uint64(fn) })
}

// XtSetCpuRatio says which part that is.
func (t *Thread) XtSetCpuRatio(h XtHandle, op blas.CublasXtBlasOp_t, e blas.CublasXtOpType_t, ratio float32) error {
	return t.setShare(h, op, e, func(s *share) { s.ratio = min(max(float64(ratio), 0), 1) })
}

func (t *Thread) setShare(h XtHandle, op blas.CublasXtBlasOp_t, e blas.CublasXtOpType_t, set func(*share)) error {
	x, err := tilerOf(h)
	if err != nil {
		return err
	}
	if !validRoutine(op, e) {
		return invalidValue
	}
	if op != blas.CUBLASXT_GEMM {
		return notSupported
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	of := routineOf{op, e}
	if x.part[of] == nil {
		x.part[of] = &share{}
	}
	set(x.part[of])
	return nil
}

// mostBoards is an H200's answer.
const mostBoards = int32(1024)

// XtMaxBoards is the number of boards that may be used.
func (t *Thread) XtMaxBoards(to hostmem.Ptr) error {
	if to == hostmem.Nil {
		return invalidValue
	}
	hostmem.Store(to, mostBoards)
	return nil
}

// XtGetNumBoards is the number of boards that devices are on: each is on its own, also one that is named twice.
func (t *Thread) XtGetNumBoards(n int32, ids hostmem.Ptr) (int32, error) {
	if n < 1 {
		return 0, nil
	}
	if ids == hostmem.Nil {
		return 0, invalidValue
	}
	for _, id := range hostmem.Slice[int32](ids, int(n)) {
		if _, err := t.driver().DeviceGet(id); err != nil {
			return 0, invalidValue
		}
	}
	return n, nil
}

// settings are what a call needs of a handle, seen once.
func (x *tiler) settings(of routineOf) (devices []cu.CUdevice, block int64, s share) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if p := x.part[of]; p != nil {
		s = *p
	}
	return slices.Clone(x.devices), x.block, s
}

var xtTypes = map[Elem]blas.CublasXtOpType_t{F32: blas.CUBLASXT_FLOAT, F64: blas.CUBLASXT_DOUBLE, C32: blas.CUBLASXT_COMPLEX, C64: blas.CUBLASXT_DOUBLECOMPLEX}

// tiled is one call.
type tiled struct {
	t       *Thread
	d       *driver.Thread
	e       Elem
	devices []cu.CUdevice
	block   int64
	share   share
}

// tiled begins one: the handle is checked, then the sizes, none of which may be larger than an address.
func (t *Thread) tiled(h XtHandle, op blas.CublasXtBlasOp_t, e Elem, sizes ...uint64) (*tiled, error) {
	x, err := tilerOf(h)
	if err != nil {
		return nil, notInitialized
	}
	c := &tiled{t: t, d: t.driver(), e: e}
	c.devices, c.block, c.share = x.settings(routineOf{op, xtTypes[e]})
	if len(c.devices) == 0 {
		return nil, notInitialized
	}
	for _, n := range sizes {
		if n > 1<<40 {
			return nil, invalidValue
		}
	}
	return c, nil
}
