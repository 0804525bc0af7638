// Package occupancy computes how many blocks of a kernel one multiprocessor holds, from the limits that a device states.
package occupancy

import "kudzu/internal/backend"

// ReservedShared is the bytes of shared memory that the system takes per block.
const ReservedShared = 1024

// registerUnit is the piece in which registers are given to warps.
const registerUnit = 256

// Block is what one block of a kernel needs.
type Block struct {
	Threads   uint64
	Shared    uint64 // static and dynamic, bytes
	Registers int    // of a thread; 0: not known
}

// Resident is how many such blocks a multiprocessor holds at once. Threads are counted in whole warps.
//
// Preconditions: b.Threads is not 0.
func Resident(in *backend.Info, b Block) int {
	warp := uint64(max(1, in.WarpSize))
	threads := (b.Threads + warp - 1) / warp * warp
	n := min(uint64(in.BlocksPerSM), uint64(in.ThreadsPerSM)/threads)
	n = min(n, uint64(in.SharedSM)/(b.Shared+ReservedShared))
	if b.Registers > 0 {
		perWarp := (uint64(b.Registers)*warp + registerUnit - 1) / registerUnit * registerUnit
		n = min(n, uint64(in.Registers)/perWarp*warp/threads)
	}
	return int(n)
}
