package cublas

import (
	"kudzu/internal/driver"
	"kudzu/internal/shim"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/cu"
)

// tiling is how the tiles of a product are dealt out: blocks claim groups of panels of A, and of each group some panels of B at a
// time (tiles in kernels/gemm.cu).
type tiling struct {
	panelsA, panelsB int64
	workers          int64
	claims           uint64 // where blocks say what they take

	group, groups int64 // panels of A in a group, and groups
	step          int64 // panels of B that are claimed at once
	blocks        int64
}

const (
	groupBytes = 512 << 10 // panels of A that one worker goes through all of B with: half of a small second cache
	stepTiles  = 16        // tiles that are claimed at once, where there are enough
	stepSums   = 1024      // and the sums of their elements, at least: some microseconds
)

// plan makes the groups: two for each worker, unless that is more than its cache keeps. Work is claimed in steps small enough that
// the workers end together.
func (t *tiling) plan(k, panelBytes int64) {
	t.group = max(1, min((t.panelsA+2*t.workers-1)/(2*t.workers), groupBytes/panelBytes))
	t.groups = (t.panelsA + t.group - 1) / t.group
	t.step = max(1, min(stepTiles/t.group, t.panelsB*t.groups/(8*t.workers)), min(t.panelsB, stepSums/(t.group*k)))
	units := t.groups * ((t.panelsB + t.step - 1) / t.step)
	t.blocks = min(units, t.groups+4*t.workers) // those that find no group help the others
}

// numbers are what is counted of one matrix: groups, and of each group panels of B.
func (t *tiling) numbers() int64 { return t.groups + 1 }

// processors is how many blocks the current device runs at a time, about.
func processors(d *driver.Thread) (int64, error) {
	dev, err := d.CtxGetDevice()
	if err != nil {
		return 0, err
	}
	n, err := d.DeviceGetAttribute(cu.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, dev)
	return max(1, int64(n)), err
}

// side is one operand to pack: where its panels go, the elements of a matrix of them, its rows, those of a panel, and whether one
// matrix serves the whole batch.
type side struct {
	x                View
	to               uint64
	per, rows, width int64
	shared           bool
}

const (
	packPanels = 8   // PANELS of kernels/gemm.cu
	packRun    = 256 // k that one block packs, where there is enough for all
)

// panels are the panels that one block packs: where rows lie together, so many that a long piece of a column is read at once.
func (s *side) panels() int64 {
	if s.x.Op == blas.CUBLAS_OP_N || s.x.Op == OpConjugate {
		return packPanels
	}
	return 2
}

// blocks are the blocks that pack it, in the direction of its rows.
func (s *side) blocks() int64 {
	per := s.width * s.panels()
	return (s.rows + per - 1) / per
}

// stride is how far the panels of the next matrix are.
func (s *side) stride() int64 {
	if s.shared {
		return 0
	}
	return s.per
}

// pack puts the rows of both operands into panels, for n matrices of the batch, and sets their claims to 0. What is shared was packed
// with the first of them.
func (p *Product) pack(d *driver.Thread, stream cu.CUstream, sides [2]side, t *tiling, first, n int64) error {
	var q shim.Params
	var blocks [2]int64
	for i := range sides {
		s := &sides[i]
		rows := s.rows
		if s.shared && first > 0 {
			rows = 0
		} else {
			blocks[i] = s.blocks()
		}
		s.x.Put(&q)
		q.U64(s.to, uint64(s.stride())).U32(uint32(rows), uint32(s.panels()), flag(s.shared), 0)
	}
	run := int64(packRun)
	for run > 64 && max(blocks[0], blocks[1]/4)*((p.K+run-1)/run)*n < 2*t.workers { // a block of A is the work of several of B
		run /= 2
	}
	run = max(run, p.K/maxGrid+31) &^ 31
	q.U64(t.claims).U32(uint32(t.numbers()), uint32(blocks[0]), uint32(p.K), uint32(run), uint32(first))
	grid := [3]uint32{uint32(max(1, blocks[0]+blocks[1])), uint32((p.K + run - 1) / run), uint32(n)}
	name := "pack_" + p.TA.String()
	if p.TA == S8 && p.Sum == F32 {
		name = "pack_s8_f32"
	}
	return p.module().Launch(d, stream, name, grid, [3]uint32{32, 1, 1}, &q)
}
