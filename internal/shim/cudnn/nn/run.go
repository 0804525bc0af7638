package nn

import (
	"kudzu/internal/driver"
	"kudzu/internal/shim"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/cu"
)

// Spaces is device memory that a handle keeps for its operations: what products pack into, what one kernel of an operation leaves
// for the next, and what one operation of a graph leaves for the next.
type Spaces struct {
	pack, work, between shim.Workspace
}

// Drop gives everything back, after the work that uses it.
func (s *Spaces) Drop(d *driver.Thread) {
	s.pack.Drop(d)
	s.work.Drop(d)
	s.between.Drop(d)
}

// Run is where operations are enqueued: a stream of the current context, and memory.
type Run struct {
	D      *driver.Thread
	Stream cu.CUstream
	Spaces *Spaces

	// Work is memory of the program for one operation. Where it is too small, the handle's is taken.
	Work     uint64
	WorkSize uint64
}

// scratch is n bytes until the work enqueued between now and done has run. Every use is
//
//	at, done, err := r.scratch(n)
//	if err != nil { … }
//	defer done()
//
// as done lets the next call have the same memory.
func (r *Run) scratch(n int64) (at uint64, done func(), err error) {
	if r.Work != 0 && r.WorkSize >= uint64(n) {
		return r.Work, func() {}, nil
	}
	return r.hold(&r.Spaces.work, n)
}

// Between is n bytes for what operations of one graph leave for each other. Its uses are as those of scratch, and the operations take
// scratch meanwhile.
func (r *Run) Between(n int64) (at uint64, done func(), err error) {
	return r.hold(&r.Spaces.between, n)
}

// hold is n bytes of one of the handle's spaces, which is nobody else's until done.
func (r *Run) hold(s *shim.Workspace, n int64) (at uint64, done func(), err error) {
	s.Hold()
	p, err := s.Take(r.D, r.Stream, uint64(max(n, 1)))
	if err != nil {
		s.Release()
		return 0, nil, err
	}
	return uint64(p), s.Release, nil
}

// product enqueues a product of matrices.
func (r *Run) product(p *cublas.Product) error { return p.Run(r.D, r.Stream, &r.Spaces.pack) }

const (
	warp    = 32
	maxGrid = 65535   // second and third side of a grid
	maxSide = 1 << 31 // first side of a grid, and what travels as a 32-bit number
)

// launch runs a kernel.
func (r *Run) launch(k *shim.Kernels, name string, grid, block [3]uint32, q *shim.Params) error {
	if grid[0] == 0 || grid[1] == 0 || grid[2] == 0 {
		return nil
	}
	return k.Launch(r.D, r.Stream, name, grid, block, q)
}

// spread is a one-dimensional grid of warps for n pieces of work, each of which is more than a few instructions. A kernel goes on
// from its block by the number of blocks.
func spread(n int64) [3]uint32 { return [3]uint32{uint32(min(n, 1<<20)), 1, 1} }

// oneWarp is the block of a kernel whose warps need nothing of each other.
var oneWarp = [3]uint32{warp, 1, 1}

// over is n divided by d, rounded up.
func over(n, d int64) int64 { return (n + d - 1) / d }

// round256 makes a size whole, so that what follows in a workspace is aligned.
func round256(n int64) int64 { return (n + 255) &^ 255 }

// workers is how many blocks the device runs at a time, about.
func (r *Run) workers() (int64, error) {
	dev, err := r.D.CtxGetDevice()
	if err != nil {
		return 0, err
	}
	n, err := r.D.DeviceGetAttribute(cu.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, dev)
	return max(1, int64(n)), err
}

// zero clears memory of the device.
func (r *Run) zero(at uint64, bytes int64) error {
	return r.D.MemsetD8Async(driver.DevPtr(at), 0, uint64(bytes), r.Stream)
}
