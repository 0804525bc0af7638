package driver

import (
	"kudzu/internal/backend"
	"kudzu/internal/driver/occupancy"
	"kudzu/internal/logx"
	"kudzu/internal/spec/cu"
)

// occupancy is how many blocks of so many threads and so much dynamic shared memory one multiprocessor holds; 0 if such a
// block cannot be launched.
func (f *Function) occupancy(threads, dynamic uint64) (int, error) {
	k, err := f.know()
	if err != nil {
		return 0, err
	}
	in := f.mod.ctx.dev.info
	if threads > uint64(in.MaxThreads) || dynamic > f.room(k) {
		return 0, nil
	}
	if r, ok := f.kernel.(backend.Resident); ok {
		n, err := r.Resident(int(threads), dynamic)
		if err == nil {
			return n, nil
		}
		logx.Debugf("blocks of %s that are resident: %v", f.decl.Name, err) // then as below, from what is known of the device
	}
	return occupancy.Resident(in, occupancy.Block{Threads: threads, Shared: uint64(k.StaticShared) + dynamic, Registers: k.Registers}), nil
}

// OccupancyMaxActiveBlocksPerMultiprocessor is the blocks one multiprocessor can hold.
func (t *Thread) OccupancyMaxActiveBlocksPerMultiprocessor(h cu.CUfunction, block int32, dynamic uint64) (int32, error) {
	return t.OccupancyMaxActiveBlocksPerMultiprocessorWithFlags(h, block, dynamic, 0)
}

// OccupancyMaxActiveBlocksPerMultiprocessorWithFlags is the same; the flag is about a cache that is not here.
func (t *Thread) OccupancyMaxActiveBlocksPerMultiprocessorWithFlags(h cu.CUfunction, block int32, dynamic uint64, flags uint32) (int32, error) {
	f, err := t.launchable(h)
	if err != nil {
		return 0, err
	}
	if block <= 0 || flags&^uint32(cu.CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE) != 0 {
		return 0, errInvalidValue
	}
	n, err := f.occupancy(uint64(block), dynamic)
	return int32(n), err
}

// OccupancyMaxPotentialBlockSize is the block size with the most resident threads, and the grid that fills the device.
func (t *Thread) OccupancyMaxPotentialBlockSize(h cu.CUfunction, sizeOf cu.CUoccupancyB2DSize, dynamic uint64, limit int32) (grid, block int32, err error) {
	return t.OccupancyMaxPotentialBlockSizeWithFlags(h, sizeOf, dynamic, limit, 0)
}

// OccupancyMaxPotentialBlockSizeWithFlags is the same; sizeOf, if any, is the program's function from block size to
// dynamic shared memory.
func (t *Thread) OccupancyMaxPotentialBlockSizeWithFlags(h cu.CUfunction, sizeOf cu.CUoccupancyB2DSize, dynamic uint64, limit int32, flags uint32) (grid, block int32, err error) {
	f, err := t.launchable(h)
	if err != nil {
		return 0, 0, err
	}
	if limit < 0 || flags&^uint32(cu.CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE) != 0 {
		return 0, 0, errInvalidValue
	}
	k, err := f.know()
	if err != nil {
		return 0, 0, err
	}
	call := f.mod.ctx.state.callOut
	if sizeOf != 0 && call == nil {
		return 0, 0, errNotSupported
	}
	most := int32(k.maxThreads)
	if limit > 0 {
		most = min(most, limit)
	}
	warp := int32(max(1, f.mod.ctx.dev.info.WarpSize))
	best := int32(0)
	// From the largest size down in whole warps; a smaller block must be better, not as good.
	for size := (most + warp - 1) / warp * warp; size > 0; size -= warp {
		try := min(size, most)
		if sizeOf != 0 {
			dynamic = call(uint64(sizeOf), uint64(try), 0, 0, 0)
		}
		n, err := f.occupancy(uint64(try), dynamic)
		if err != nil {
			return 0, 0, err
		}
		if int32(n)*try > best {
			best, block, grid = int32(n)*try, try, int32(n)*int32(f.mod.ctx.dev.info.Processors)
		}
	}
	return grid, block, nil
}

// OccupancyAvailableDynamicSMemPerBlock is the dynamic shared memory each of so many blocks may have.
func (t *Thread) OccupancyAvailableDynamicSMemPerBlock(h cu.CUfunction, blocks, size int32) (uint64, error) {
	f, err := t.launchable(h)
	if err != nil {
		return 0, err
	}
	if blocks <= 0 || size <= 0 {
		return 0, errInvalidValue
	}
	n, err := f.occupancy(uint64(size), 0)
	if err != nil {
		return 0, err
	}
	if int(blocks) > n {
		return 0, errInvalidValue
	}
	share := f.mod.ctx.dev.info.SharedSM/int(blocks) - f.facts.StaticShared
	return uint64(max(0, min(share, int(f.dynamic.Load())))), nil
}
