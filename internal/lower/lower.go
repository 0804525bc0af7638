// Package lower translates checked PTX into the compiler's IR.
//
// One kernel and the functions it reaches become one ir.Module. Registers become SSA values as the body is walked
// (ssa.go); guards become selects or branches (control.go); every implicit conversion of PTX becomes an instruction
// (operand.go); direct calls are inlined (call.go) but where that is impossible or too much (function.go). What an instruction means is in the file of its chapter, named as in
// ptx/isa; the table below says which function that is.
package lower

import (
	"fmt"
	"strings"

	"kudzu/internal/ir"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
)

// Unsupported is a valid instruction (or use of one) that the compiler cannot translate; the kernel then runs on the
// interpreter.
type Unsupported = ir.Unsupported

// Options change how a kernel is lowered.
type Options struct {
	// MaxInsts bounds the PTX instructions lowered for one kernel, inlined calls counted each time; 0: a million.
	// Hostile or very deep call trees end in Unsupported instead of in memory.
	MaxInsts int
	// Clusters is for launches in clusters of several blocks; else a block is a cluster of its own.
	Clusters bool
	// KeepMatrix keeps mma, ldmatrix, stmatrix and movmatrix as operations, for targets that have instructions for them.
	// Otherwise they become shuffles and arithmetic (expand.go).
	KeepMatrix bool
	// Keep says which instructions stay as they are written, for a target that has them: they become Asm. Nil: none.
	Keep func(*ptx.Inst) bool
	// GPU is for targets with state spaces of their own: constant variables have addresses in their space, and barriers say
	// whether all threads of a warp come to them (Aligned).
	GPU bool
	// Approximate is for targets that have instructions of their own for approximations of f32, as exact as PTX asks: FExp2, FLog2, and
	// OneUlp of FDiv and FSqrt.
	Approximate bool
	// NVIDIA is for the GPUs that PTX was made for: functions have addresses (FuncAddr) instead of numbers, and initialisers hold
	// them; sums and products without a rounding, which the assembler may make one of, say so (Contract).
	NVIDIA bool

	// Taken is TakenIn of the module, for who lowers many kernels of a large one; nil: it is found anew.
	Taken *Taken
}

// Kernel lowers the kernel called name. The module must have passed ptx/check.
func Kernel(m *ptx.Module, name string, opts Options) (out *ir.Module, err error) {
	fn := m.Func(name)
	if fn == nil || fn.Kind != ptx.Entry || fn.Body == nil {
		return nil, fmt.Errorf("module has no kernel %q", name)
	}
	l := newLowerer(m, fn, opts)
	defer func() {
		if p := recover(); p != nil {
			u, ok := p.(*Unsupported)
			if !ok {
				panic(p)
			}
			out, err = nil, u
		}
	}()
	l.kernel(fn)
	return l.out, nil
}

// guardKind says what a guarded instruction becomes.
type guardKind uint8

const (
	// branch: it runs in a block of its own. For whatever has effects, depends on which lanes are there, may fault, or
	// costs more than the branch.
	branch guardKind = iota
	// choose: it always runs and a select keeps the old value.
	choose
	// own: it deals with its guard itself.
	own
)

// row is how one mnemonic is lowered.
type row struct {
	fn    func(*inst)
	guard guardKind
}

// inst is an instruction being lowered.
type inst struct {
	*lowerer
	fr *frame
	*ptx.Inst
	ops []isa.Operand
}

// fail gives up on the kernel, naming the instruction.
func (x *inst) fail(format string, args ...any) {
	panic(&Unsupported{What: fmt.Sprintf(format, args...), Line: int(x.b.Line)})
}

// spelling is the instruction as written, without operands, for messages.
func (x *inst) spelling() string {
	s := x.Op().String()
	for i, sl := range x.Form.Slots() {
		if i < len(x.Mods) && x.Mods[i] != 0 {
			s += x.Mods[i].String()
		} else if sl.Literal && !sl.Optional {
			s += sl.Words[0].String()
		}
	}
	return s
}

// instruction lowers one instruction without its guard.
func (l *lowerer) instruction(fr *frame, in *ptx.Inst) {
	x := &inst{l, fr, in, in.Form.Operands()}
	if l.budget--; l.budget < 0 {
		x.fail("a kernel of more than %d instructions, calls inlined,", l.opts.MaxInsts)
	}
	if l.opts.Keep != nil && l.opts.Keep(in) {
		x.keep()
		return
	}
	r := &table[in.Op()]
	if r.fn == nil {
		why := unsupported[in.Op()]
		if why == "" {
			panic(fmt.Sprintf("BUG: no lowering of %v", in.Op()))
		}
		x.fail("%s (%s)", x.spelling(), why)
	}
	r.fn(x)
}

// lowerer lowers one kernel.
type lowerer struct {
	ssa
	m            *ptx.Module
	opts         Options
	budget       int
	out          *ir.Module
	names        map[*ptx.Var]string // shared variables and local slots: their unique names
	taken        map[string]bool
	shared       []*ptx.Var        // in first-use order
	lazy         map[*ptx.Var]bool // those that are there whether used or not
	known        map[string]bool
	regTypeCache map[*ptx.Func][]ir.Type
	plan         *plan
	queue        []*ptx.Func // functions that are called and not yet lowered
	queued       map[*ptx.Func]bool
	line         lineFinder
	mmas         int       // matrix products of the kernel's own body
	expanded     int       // those that were
	clusterVar   variable  // the phase of the cluster's barrier in which the thread arrived, if the kernel is for clusters
	choose       *ir.Value // guard of the instruction being lowered, if its results are to be selected
}

func newLowerer(m *ptx.Module, fn *ptx.Func, opts Options) *lowerer {
	if opts.MaxInsts == 0 {
		opts.MaxInsts = 1_000_000
	}
	l := &lowerer{m: m, opts: opts, budget: opts.MaxInsts, names: map[*ptx.Var]string{}, taken: map[string]bool{}, known: map[string]bool{}}
	l.line.text = m.Text
	l.mmas = countMma(fn.Body)
	l.plan = newPlan(m, fn, &opts)
	defer func() {
		if l.plan.lazy {
			l.lazyShared()
		}
	}()
	l.queued = map[*ptx.Func]bool{}
	f := &ir.Func{Name: fn.Name, Kernel: true}
	l.out = &ir.Module{Kernel: fn.Name, Funcs: []*ir.Func{f}, SM: m.Target.SM}
	l.ssa.init(f)
	for _, p := range fn.Params {
		l.out.ParamBytes = max(l.out.ParamBytes, int(p.Offset+p.Size))
	}
	for _, d := range fn.Perf {
		dims := [3]uint32{1, 1, 1}
		for i, n := range d.Nums {
			if i < 3 {
				dims[i] = uint32(n)
			}
		}
		switch d.Name {
		case "maxntid":
			l.out.MaxBlock = dims
		case "reqntid":
			l.out.ReqBlock = dims
		}
	}
	return l
}

// kernel lowers the body, then finishes the graph and the layout of shared memory.
func (l *lowerer) kernel(fn *ptx.Func) {
	entry := l.newBlock("")
	l.seal(entry)
	l.b.Block = entry
	fr := l.newFrame(fn, nil)
	if l.opts.Clusters {
		l.clusterVar = l.newVar(ir.I64)
		l.out.Clusters = true
	}
	if l.plan.stack {
		l.write(fr.sp, l.b.Emit(ir.LocalAddr, ir.I64, ir.Attr{}))
	}
	l.body(fr)
	l.finish()
	if l.opts.NVIDIA {
		for _, name := range l.plan.taken {
			if g := l.m.Func(l.plan.resolve(name)); g != nil && g.Kind == ptx.DeviceFunc && g.Body != nil {
				l.want(g)
			}
		}
	}
	for len(l.queue) > 0 {
		g := l.queue[0]
		l.queue = l.queue[1:]
		l.function(g)
	}
	l.layoutShared()
	l.out.Reserved = l.plan.reserved
}

// lineFinder turns positions into lines, counting from the last one asked for: a body is walked nearly in order, and a table
// of a module's lines would cost more than the kernel.
type lineFinder struct {
	text string
	pos  int
	line int32
}

func (f *lineFinder) at(p ptx.Pos) int32 {
	pos := min(int(p), len(f.text))
	if f.line == 0 {
		f.line = 1
	}
	if pos >= f.pos {
		f.line += int32(strings.Count(f.text[f.pos:pos], "\n"))
	} else {
		f.line -= int32(strings.Count(f.text[pos:f.pos], "\n"))
	}
	f.pos = pos
	return f.line
}
