// Package cusolvermg is cuSOLVER on several GPUs. A matrix lies in blocks of columns that go round the devices of a grid. A call brings
// it together in the workspace of the first device, calls cuSOLVER there, and takes it apart again: the devices of one machine's
// processors are as fast together as one of them is.
package cusolvermg

import (
	"slices"

	"kudzu/internal/cudart"
	"kudzu/internal/driver"
	"kudzu/internal/handle"
	"kudzu/internal/hostmem"
	"kudzu/internal/lockrank"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/shim/cusolver"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
	"kudzu/internal/spec/solver"
	"kudzu/internal/spec/solvermg"
)

// Thread is the calling thread.
type Thread driver.Thread

// Code is the number C gets for an error.
func Code(err error) int32 { return cusolver.Code(err) }

const (
	notInitialized = cusolver.Status(solver.CUSOLVER_STATUS_NOT_INITIALIZED)
	invalidValue   = cusolver.Status(solver.CUSOLVER_STATUS_INVALID_VALUE)
	notSupported   = cusolver.Status(solver.CUSOLVER_STATUS_NOT_SUPPORTED)
	allocFailed    = cusolver.Status(solver.CUSOLVER_STATUS_ALLOC_FAILED)
)

// Handle is the vendor's name of many.
type Handle = solvermg.CusolverMgHandle_t

// many is what Create gives.
type many struct {
	mu      lockrank.Mutex[lockrank.SolverHandle]
	devices []cu.CUdevice // guarded by mu
}

// grid is a row of devices.
type grid struct{ devices []int32 }

// matrixDesc is how a matrix is dealt out: blocks of `block` columns, whole rows.
type matrixDesc struct {
	rows, cols, block int64
	t                 rt.CudaDataType
	e                 cublas.Elem
	grid              *grid
}

var (
	handles  = handle.NewTable[many](handle.CusolverMany, "cuSOLVER handles of several GPUs")
	grids    = handle.NewTable[grid](handle.CusolverGrid, "cuSOLVER grids of devices")
	matrices = handle.NewTable[matrixDesc](handle.CusolverManyMatrix, "cuSOLVER matrices on several GPUs")
)

func (t *Thread) driver() *driver.Thread { return (*driver.Thread)(t) }

func given(v handle.Value) (uint64, error) {
	if v == 0 {
		return 0, allocFailed
	}
	return uint64(v), nil
}

// Create makes a handle.
func (t *Thread) Create() (uint64, error) {
	if err := cudart.Ready(t.driver()); err != nil {
		return 0, err
	}
	return given(handles.New(&many{}))
}

// Destroy ends it.
func (t *Thread) Destroy(h Handle) error {
	if handles.Delete(handle.Value(h)) == nil {
		return notInitialized
	}
	return nil
}

// DeviceSelect says which devices work, each once.
func (t *Thread) DeviceSelect(h Handle, n int32, ids hostmem.Ptr) error {
	x := handles.Get(handle.Value(h))
	if x == nil {
		return notInitialized
	}
	if n < 1 || ids == hostmem.Nil {
		return invalidValue
	}
	var devices []cu.CUdevice
	for _, id := range hostmem.Slice[int32](ids, int(n)) {
		d, err := t.driver().DeviceGet(id)
		if err != nil || slices.Contains(devices, d) {
			return invalidValue
		}
		devices = append(devices, d)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.devices = devices
	return nil
}

// CreateDeviceGrid makes a grid, which has one row, as in the vendor's library.
func (t *Thread) CreateDeviceGrid(rows, cols int32, ids hostmem.Ptr, mapping solvermg.CusolverMgGridMapping_t) (uint64, error) {
	if rows != 1 || cols < 1 || ids == hostmem.Nil {
		return 0, invalidValue
	}
	if mapping != solvermg.CUDALIBMG_GRID_MAPPING_COL_MAJOR && mapping != solvermg.CUDALIBMG_GRID_MAPPING_ROW_MAJOR {
		return 0, invalidValue
	}
	return given(grids.New(&grid{slices.Clone(hostmem.Slice[int32](ids, int(cols)))}))
}

// DestroyGrid ends it; matrices that were made with it go on.
func (t *Thread) DestroyGrid(g solvermg.CudaLibMgGrid_t) error {
	if grids.Delete(handle.Value(g)) == nil {
		return invalidValue
	}
	return nil
}

// CreateMatrixDesc says how a matrix is dealt out: a block has all rows, as in the vendor's library.
func (t *Thread) CreateMatrixDesc(rows, cols, rowBlock, colBlock int64, ty rt.CudaDataType, g solvermg.CudaLibMgGrid_t) (uint64, error) {
	x := grids.Get(handle.Value(g))
	e, ok := cublas.ElemOf(ty)
	if x == nil || rows < 0 || cols < 0 || rowBlock < 1 || colBlock < 1 || rowBlock < rows || !ok {
		return 0, invalidValue
	}
	return given(matrices.New(&matrixDesc{rows, cols, colBlock, ty, e, x}))
}

// DestroyMatrixDesc ends it.
func (t *Thread) DestroyMatrixDesc(d solvermg.CudaLibMgMatrixDesc_t) error {
	if matrices.Delete(handle.Value(d)) == nil {
		return invalidValue
	}
	return nil
}
