package lower

import (
	"encoding/binary"
	"errors"
	"fmt"

	"kudzu/internal/image"
	"kudzu/internal/ir"
	"kudzu/internal/ptx"
)

// This file and evalops_test.go walk IR thread by thread, slowly, so that lowering is proved against recorded hardware
// answers without the rest of the compiler. Threads run until an operation that needs others, then wait for them.

const (
	globalBase = 0x10_0000_0000
	sharedBase = 0x70_0000_0000
	localBase  = 0x60_0000_0000
	paramBase  = 0x50_0000_0000
)

var errFault = errors.New("address")

var errMisaligned = errors.New("misaligned")

// machine is one launch.
type machine struct {
	m           *ir.Module
	grid, block [3]uint32
	dynamic     uint32
	params      []byte
	global      []byte
	vars        map[string]uint64
	nvalues     int
	steps       int
}

// thread is one thread's state.
type thread struct {
	mc      *machine
	cta     *cta
	tid     [3]uint32
	linear  uint32
	vals    []uint64
	local   []byte
	block   *ir.Block
	prev    *ir.Block
	pc      int
	done    bool
	waiting *ir.Inst
}

// cta is one running block.
type cta struct {
	mc      *machine
	id      [3]uint32
	shared  []byte
	threads []*thread
	arrived map[uint64]int // threads that only arrived, by barrier
}

func (mc *machine) alloc(n int, align int) uint64 {
	for len(mc.global)%max(align, 256) != 0 {
		mc.global = append(mc.global, 0)
	}
	at := len(mc.global)
	mc.global = append(mc.global, make([]byte, n)...)
	return globalBase + uint64(at)
}

func (mc *machine) placeVars(m *ptx.Module) {
	mc.vars = map[string]uint64{}
	vars := m.Vars[:len(m.Vars):len(m.Vars)]
	for _, f := range m.Funcs {
		if f.Body != nil {
			vars = append(vars, f.Body.Vars...)
		}
	}
	for _, v := range vars {
		if v.Space == ptx.SpaceGlobal || v.Space == ptx.SpaceConst {
			at := mc.alloc(int(v.Size), v.Align)
			mc.vars[v.LinkName()] = at
			if v.Init != nil {
				copy(mc.global[at-globalBase:], v.Init.Bytes)
			}
		}
	}
	for _, v := range vars {
		if v.Init == nil {
			continue
		}
		for _, r := range v.Init.Relocs {
			at := mc.vars[v.LinkName()] - globalBase + r.Offset
			binary.LittleEndian.PutUint64(mc.global[at:], mc.vars[r.Target()]+uint64(r.Addend))
		}
	}
}

func (mc *machine) run() error {
	f := mc.m.Funcs[0]
	f.Renumber()
	for _, b := range f.Blocks {
		for _, in := range b.Insts {
			for _, r := range in.Results {
				mc.nvalues = max(mc.nvalues, r.ID+1)
			}
		}
	}
	for z := range mc.grid[2] {
		for y := range mc.grid[1] {
			for x := range mc.grid[0] {
				if err := mc.runBlock([3]uint32{x, y, z}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (mc *machine) runBlock(id [3]uint32) error {
	c := &cta{mc: mc, id: id, arrived: map[uint64]int{}}
	dyn := alignUp(mc.m.SharedBytes, max(mc.m.DynamicAlign, 1))
	total := dyn + int(mc.dynamic)
	if mc.m.Reserved {
		total = alignUp(total, image.SharedUnit) + image.SharedReserved
	}
	c.shared = make([]byte, total)
	for z := range mc.block[2] {
		for y := range mc.block[1] {
			for x := range mc.block[0] {
				t := &thread{mc: mc, cta: c, tid: [3]uint32{x, y, z}, linear: uint32(len(c.threads)), vals: make([]uint64, mc.nvalues)}
				t.local = make([]byte, mc.m.Funcs[0].LocalBytes)
				t.block = mc.m.Funcs[0].Blocks[0]
				c.threads = append(c.threads, t)
			}
		}
	}
	for {
		moved, live := false, false
		for w := 0; w < len(c.threads); w += 32 {
			warp := c.threads[w:min(w+32, len(c.threads))]
			for _, t := range warp {
				if !t.done && t.waiting == nil {
					moved = true
					if err := t.run(); err != nil {
						return err
					}
				}
				live = live || !t.done
			}
			m, err := c.together(warp)
			if err != nil {
				return err
			}
			moved = moved || m
		}
		if !live {
			return nil
		}
		moved = c.barriers() || moved
		if !moved {
			return errors.New("deadlock")
		}
	}
}

// together executes one convergent operation of a warp whose threads all wait: that of the group which has all its members,
// or else of the group that is first in the program.
func (c *cta) together(warp []*thread) (bool, error) {
	groups := map[*ir.Inst][]*thread{}
	var order []*ir.Inst
	for _, t := range warp {
		if t.done {
			continue
		}
		if t.waiting == nil {
			return false, nil
		}
		if t.waiting.Op == ir.Bar {
			continue
		}
		if groups[t.waiting] == nil {
			order = append(order, t.waiting)
		}
		groups[t.waiting] = append(groups[t.waiting], t)
	}
	best := -1
	var pick *ir.Inst
	for _, in := range order {
		g := groups[in]
		full := true
		if n := len(in.Args); n > 0 && (in.Op < ir.Mma || in.Op > ir.MovMatrix) {
			mask := g[0].arg(in, n-1)
			for i, t := range warp {
				if mask>>i&1 != 0 && !t.done && t.waiting != in {
					full = false
				}
			}
		}
		score := 1 << 20
		if !full {
			score = 0
		}
		score -= in.Block.ID
		if pick == nil || score > best {
			best, pick = score, in
		}
	}
	if pick == nil {
		return false, nil
	}
	if err := warpOp(pick, groups[pick], warp); err != nil {
		return false, err
	}
	for _, t := range groups[pick] {
		t.waiting = nil
		t.pc++
	}
	return true, nil
}

// barriers lets every complete barrier's threads go.
func (c *cta) barriers() bool {
	type at struct {
		in   []*thread
		want int
	}
	bars := map[uint64]*at{}
	live := 0
	for _, t := range c.threads {
		if t.done {
			continue
		}
		live++
		if t.waiting != nil && t.waiting.Op == ir.Bar {
			id := t.arg(t.waiting, 0)
			b := bars[id]
			if b == nil {
				b = &at{}
				bars[id] = b
			}
			b.in = append(b.in, t)
			b.want = int(t.arg(t.waiting, 1))
		}
	}
	moved := false
	for id, b := range bars {
		want := b.want
		if want == 0 {
			want = live
		}
		if len(b.in)+c.arrived[id] < want {
			continue
		}
		c.arrived[id] = 0
		moved = true
		n, and, or := uint64(0), uint64(1), uint64(0)
		for _, t := range b.in {
			if len(t.waiting.Args) == 3 {
				p := t.arg(t.waiting, 2)
				n, and, or = n+p, and&p, or|p
			}
		}
		for _, t := range b.in {
			in := t.waiting
			switch in.BarKind {
			case ir.BarRedPopc:
				t.vals[in.Results[0].ID] = n
			case ir.BarRedAnd:
				t.vals[in.Results[0].ID] = and
			case ir.BarRedOr:
				t.vals[in.Results[0].ID] = or
			}
			t.waiting = nil
			t.pc++
		}
	}
	return moved
}

func (t *thread) arg(in *ir.Inst, i int) uint64 { return t.val(in.Args[i]) }

func (t *thread) val(v *ir.Value) uint64 {
	if v.Const {
		return v.Bits
	}
	return t.vals[v.ID]
}

// run goes on until the thread ends or needs others.
func (t *thread) run() error {
	for n := 0; ; n++ {
		if n == 2000 {
			return nil // it may be waiting for memory: others' turn
		}
		if t.mc.steps++; t.mc.steps > 50_000_000 {
			return errors.New("too many steps")
		}
		in := t.block.Insts[t.pc]
		switch {
		case in.Op == ir.Phi:
			t.phis()
			continue
		case in.Op == ir.Bar && in.BarKind == ir.BarArrive:
			t.cta.arrived[t.arg(in, 0)]++
		case in.Op.Row().Effects&ir.Convergent != 0:
			t.waiting = in
			return nil
		case in.Op.IsTerm():
			stop, err := t.jump(in)
			if stop || err != nil {
				return err
			}
			continue
		default:
			if err := t.exec(in); err != nil {
				return fmt.Errorf("%v: %w", in, err)
			}
		}
		t.pc++
	}
}

func (t *thread) phis() {
	var vals []uint64
	n := 0
	for _, in := range t.block.Insts {
		if in.Op != ir.Phi {
			break
		}
		for i, b := range in.Targets {
			if b == t.prev {
				vals = append(vals, t.arg(in, i))
			}
		}
		n++
	}
	for i := range n {
		t.vals[t.block.Insts[i].Results[0].ID] = vals[i]
	}
	t.pc = n
}

func (t *thread) jump(in *ir.Inst) (stop bool, err error) {
	var to *ir.Block
	switch in.Op {
	case ir.Br:
		to = in.Targets[0]
	case ir.CondBr:
		to = in.Targets[1]
		if t.arg(in, 0) != 0 {
			to = in.Targets[0]
		}
	case ir.Switch:
		to = in.Targets[min(int(t.arg(in, 0)), len(in.Targets)-1)]
	case ir.Exit:
		t.done = true
		return true, nil
	case ir.Trap:
		if in.Stop == image.StopAssert {
			return true, errors.New("assert")
		}
		return true, errors.New("trap")
	default:
		return true, fmt.Errorf("no evaluation of %v", in.Op)
	}
	t.prev, t.block, t.pc = t.block, to, 0
	return false, nil
}

// memory is the bytes an access touches.
func (t *thread) memory(space ir.Space, addr uint64, n int) ([]byte, error) {
	in := func(b []byte, off uint64) ([]byte, error) {
		if off > uint64(len(b)) || off+uint64(n) > uint64(len(b)) {
			return nil, errFault
		}
		return b[off : off+uint64(n)], nil
	}
	switch space {
	case ir.Shared:
		return in(t.cta.shared, addr)
	case ir.Local:
		return in(t.local, addr)
	case ir.ParamSpace:
		return in(t.mc.params, addr)
	}
	switch {
	case addr >= sharedBase:
		return in(t.cta.shared, addr-sharedBase)
	case addr >= localBase:
		return in(t.local, addr-localBase)
	case addr >= paramBase:
		return in(t.mc.params, addr-paramBase)
	case addr >= globalBase:
		return in(t.mc.global, addr-globalBase)
	}
	return nil, errFault
}

func window(s ir.Space) uint64 {
	switch s {
	case ir.Shared:
		return sharedBase
	case ir.Local:
		return localBase
	case ir.ParamSpace:
		return paramBase
	}
	return 0
}

func getBytes(b []byte) (v uint64) {
	for i := range min(len(b), 8) {
		v |= uint64(b[i]) << (8 * i)
	}
	return v
}

func putBytes(b []byte, v uint64) {
	for i := range min(len(b), 8) {
		b[i] = byte(v >> (8 * i))
	}
}
