// Package cusolvermg has the names of cuSOLVER on several GPUs. Handles can be made; nothing is computed yet: its other functions
// answer that they are not supported.
package cusolvermg

import (
	"kudzu/internal/cudart"
	"kudzu/internal/driver"
	"kudzu/internal/handle"
	"kudzu/internal/shim/cusolver"
	"kudzu/internal/spec/solver"
	"kudzu/internal/spec/solvermg"
)

// Thread is the calling thread.
type Thread driver.Thread

// Code is the number C gets for an error.
func Code(err error) int32 { return cusolver.Code(err) }

// many is what Create gives: there is nothing to keep yet.
type many struct{}

var handles = handle.NewTable[many](handle.CusolverMany, "cuSOLVER handles of several GPUs")

// Create makes a handle.
func (t *Thread) Create() (uint64, error) {
	if err := cudart.Ready((*driver.Thread)(t)); err != nil {
		return 0, err
	}
	v := handles.New(&many{})
	if v == 0 {
		return 0, cusolver.Status(solver.CUSOLVER_STATUS_ALLOC_FAILED)
	}
	return uint64(v), nil
}

// Destroy ends it.
func (t *Thread) Destroy(h solvermg.CusolverMgHandle_t) error {
	if handles.Delete(handle.Value(h)) == nil {
		return cusolver.Status(solver.CUSOLVER_STATUS_NOT_INITIALIZED)
	}
	return nil
}
