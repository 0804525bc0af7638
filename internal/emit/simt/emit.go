package simt

import (
	"fmt"
	"strings"

	"kudzu/internal/emit"
	"kudzu/internal/emit/float"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

type emitFn func(*emitter, *ir.Inst)

// emitter writes one kernel and the functions that it calls.
type emitter struct {
	cfg  Config
	k    *Kernel
	m    *ir.Module
	t    target
	mod  *ll.Module
	code *Code
	g    *globals

	f *ir.Func
	float.Writer
	vals   map[*ir.Value]ll.Val
	labels map[*ir.Block]string
	ends   map[*ir.Block]string // the LLVM block that holds a block's terminator
	phis   []*pendingPhi
	line   int32
	local  ll.Val // the function's local memory as an i64 of its space
	args   []ll.Val
	stack  int // bytes behind the kernel's frame for alloca

	met map[meeting]ll.Val
	// AMD's: those of the kernel's barriers that shared memory holds.
	outer    outerLoops
	alone    bool // of AMD's: each warp has a wave of 64 lanes to itself (amdgcn_alone.go)
	barriers countedBarriers
	lanes    *unitLanes // of the function
	frags    fragments
	products int // on matrix units, and one more; 0: not counted yet
	// f64 values whose NaNs' bits nobody asks for: loops compute with them further.
	computed map[*ir.Value]bool
	least    map[*ir.Value]int64 // leastOffsets
	dirty    map[*ir.Value]bool  // NaNs of any bits, canonical where seen; nil where the target makes the right ones
}

type pendingPhi struct {
	in  *ir.Inst
	phi *ll.Phi
}

// fail gives up on the kernel.
func (e *emitter) fail(format string, args ...any) {
	panic(&ErrForm{What: fmt.Sprintf(format, args...), Line: int(e.line)})
}

// stackBytes is the room for alloca where a kernel uses it: local memory cannot grow.
const stackBytes = 16 << 10

// kernel writes the kernel and its functions.
func (e *emitter) kernel() {
	for _, f := range e.m.Funcs {
		for _, b := range f.Blocks {
			for _, in := range b.Insts {
				if in.Op == ir.LocalAddr && in.StackEnd {
					e.stack = stackBytes
				}
			}
		}
	}
	for i, f := range e.m.Funcs {
		if i == 0 || len(f.Blocks) > 0 {
			e.function(f)
		}
	}
}

// symbol is the LLVM name of a function. Each kernel has its own copy of a device function, since two kernels may lay memory out
// differently; the first has the plain name, which initialisers of variables may refer to.
func (e *emitter) symbol(name string) string {
	if name == e.m.Kernel {
		return quote(name)
	}
	owner, ok := e.g.owners[name]
	if !ok {
		e.g.owners[name], owner = e.m.Kernel, e.m.Kernel
	}
	if owner == e.m.Kernel {
		return quote(name)
	}
	return quote(e.m.Kernel + "." + name)
}

func (e *emitter) function(f *ir.Func) {
	e.f = f
	e.vals, e.labels, e.ends, e.phis, e.args = map[*ir.Value]ll.Val{}, map[*ir.Block]string{}, map[*ir.Block]string{}, nil, nil
	e.local, e.met, e.lanes = ll.Val{}, map[meeting]ll.Val{}, nil
	var head string
	if f.Kernel {
		head = e.t.head(e)
	} else {
		var params []string
		for i, p := range f.Params {
			v := ll.Val{T: typ(p.Type), S: fmt.Sprintf("%%a%d", i)}
			e.vals[p] = v
			params = append(params, v.String())
		}
		if e.dirty != nil {
			e.nanSources(f)
		}
		head = fmt.Sprintf("internal %s @%s(%s)", resultType(f.Results), e.symbol(f.Name), strings.Join(params, ", "))
		e.g.funcs = append(e.g.funcs, "ptr @"+e.symbol(f.Name))
	}
	product := e.calledProduct(f)
	if product != nil {
		head += " noinline"
	}
	e.Func = e.mod.Func(head, false)
	if product != nil {
		e.unitFunction(f, product)
		return
	}
	if n := f.LocalBytes + e.extra(f); n > 0 {
		align := 16
		for _, s := range f.Slots {
			align = max(align, s.Align)
		}
		p := e.t.frame(e, n, align)
		e.local = e.PtrToInt(p)
	}
	if f.Kernel {
		e.t.prologue(e)
	}
	for i, b := range f.Blocks {
		e.labels[b] = fmt.Sprintf("b%d", i)
	}
	e.Br("b0")
	var hold map[*ir.Block][]*ir.Value
	e.least = nil
	if !e.t.pointers() {
		hold, e.least = held(f), leastOffsets(f)
	}
	for _, b := range f.Blocks {
		e.Label(e.labels[b])
		for i, in := range b.Insts {
			if i == len(b.Insts)-1 {
				for _, v := range hold[b] {
					e.hold(v)
				}
			}
			e.inst(in)
		}
	}
	e.finishPhis()
}

// extra is what the kernel's frame has for alloca, of its functions too.
func (e *emitter) extra(f *ir.Func) int {
	if f.Kernel {
		return e.stack
	}
	return 0
}

// resultType is what a function returns: nothing, a value, or several.
func resultType(ts []ir.Type) ll.Type {
	fields := make([]ll.Type, len(ts))
	for i, t := range ts {
		fields[i] = typ(t)
	}
	return returned(fields)
}

// returned is the type of so many results.
func returned(fields []ll.Type) ll.Type {
	switch len(fields) {
	case 0:
		return "void"
	case 1:
		return fields[0]
	}
	return ll.Struct(fields...)
}

func (e *emitter) inst(in *ir.Inst) {
	e.line = in.Line
	if in.Op.IsTerm() {
		e.meet(in.Block)
		e.ends[in.Block] = e.Cur()
	}
	if fn := e.t.own(in.Op); fn != nil {
		e.code.Ways[e.t.way(in.Op)]++
		fn(e, in)
		return
	}
	e.code.Ways[ways[in.Op]]++
	emitters[in.Op](e, in)
}

// finishPhis adds what phis take from each predecessor, once for each edge that was written.
func (e *emitter) finishPhis() {
	for _, p := range e.phis {
		for i, from := range p.in.Targets {
			v, ok := e.met[meeting{p.in, from}]
			if !ok {
				v = e.val(p.in.Args[i])
			}
			for range edges(from, p.in.Block) {
				p.phi.Add(v, e.ends[from])
			}
		}
	}
}

// edges is how many edges lead from one block to another; a branch both of whose ways are one is written as a jump.
func edges(from, to *ir.Block) int {
	t := from.Term()
	if t.Op != ir.Switch {
		return 1
	}
	n := 0
	for _, s := range t.Targets {
		if s == to {
			n++
		}
	}
	return n
}

// val is a value in LLVM's words.
func (e *emitter) val(v *ir.Value) ll.Val {
	if v.Const {
		return emit.Const(v.Type, v.Bits)
	}
	x, ok := e.vals[v]
	if !ok {
		panic("BUG: value is used before it is written: " + v.String())
	}
	return x
}

// set says what a result is.
func (e *emitter) set(v *ir.Value, x ll.Val) {
	if want := typ(v.Type); x.T != want {
		panic(fmt.Sprintf("BUG: %s given to a value of %s", x.T, want))
	}
	e.vals[v] = x
}

// result sets the only result.
func (e *emitter) result(in *ir.Inst, x ll.Val) { e.set(in.Results[0], x) }

// operands are the arguments in LLVM's words.
func (e *emitter) operands(in *ir.Inst) []ll.Val {
	out := make([]ll.Val, len(in.Args))
	for i, a := range in.Args {
		out[i] = e.val(a)
	}
	return out
}
