// Package warp writes LLVM text for CPUs: one warp is one vector, one function runs a range of blocks.
//
// A value that differs between lanes is a vector of 32 elements, a predicate that does is a vector of 32 bits; what is
// the same for all lanes is a scalar, and so is what is lane 0's value plus a known pattern (affine values), until a
// vector is asked for. The function of a kernel loops over blocks and, inside, over the warps of a block; where warps
// wait for each other they store what they need in a frame and the loop goes on with the next warp.
//
// The chapters are files: one emitter for each operation of the IR, in a table that a test keeps without holes.
package warp

import (
	"fmt"
	"strings"

	"kudzu/internal/analysis"
	"kudzu/internal/emit"
	"kudzu/internal/emit/float"
	"kudzu/internal/image"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// Config says what the code is for.
type Config struct {
	Block    [3]uint32 // as given to the passes; zero: any shape
	Triple   string    // LLVM's; "" is x86-64
	CPU      string    // LLVM's name
	Features string    // LLVM's list: "+avx512f,…"
	ExactNaN bool      // f64 NaNs as the card chooses them in loops too
	Bounds   bool      // test offsets in shared memory: the engine has no addresses to spare around it
}

// Code is a kernel in LLVM's language.
type Code struct {
	LLVM  string
	Entry string
	Meta  image.Meta
}

// Unsupported is a valid kernel that this compiler cannot translate yet.
type Unsupported = ir.Unsupported

// Emit writes the kernel of m, which has been through all passes.
func Emit(m *ir.Module, cfg Config) (code *Code, err error) {
	defer func() {
		if p := recover(); p != nil {
			u, ok := p.(*Unsupported)
			if !ok {
				panic(p)
			}
			code, err = nil, u
		}
	}()
	e := newEmitter(m, cfg)
	e.function()
	return &Code{LLVM: e.mod.String(), Entry: entryName, Meta: e.meta}, nil
}

const entryName = "kernel"

// rep is how a value stands in the LLVM text.
type rep struct {
	scalar ll.Val // uniform values; lane 0 of affine ones and guesses
	vec    ll.Val // varying values
	// Values that live across a barrier stand in memory of the function, which LLVM turns into registers again.
	scalarSlot, vecSlot ll.Val
	offset, guessOffset int // in the warp's frame
	number              int // among the values that have a place there, from 1
}

type emitter struct {
	m   *ir.Module
	f   *ir.Func
	cfg Config
	w   int
	jam int // warps that the code is for
	mod *ll.Module
	float.Writer
	meta image.Meta
	cpu  target

	vals   map[*ir.Value]*rep
	cache  map[*ir.Value]ll.Val  // vectors made in this block of uniform and affine values
	halves map[*ir.Value]ll.Val  // likewise, the low halves of offsets
	where  string                // the block that cache is good for
	images map[*ir.Inst][]ll.Val // what loads of vectors read, as it lies in memory: of this block
	wides  map[*ir.Inst]wideImage
	raw    []ll.Val // what the last load of vectors read
	labels map[*ir.Block]string
	phis   map[*ir.Inst]*phiPair
	line   int32

	dirty    map[*ir.Value]bool // NaNs of any bits, canonical where seen
	numbers  analysis.Numbers   // which f32 values are never NaN
	keeps    map[*ir.Inst]*kept // by both ends
	onces    map[*ir.Inst]*once
	folds    map[*ir.Value]folded
	asked    map[*ir.Value]int // analysis.Asked
	low      map[*ir.Value]lowLanes
	extended map[ll.Val]ll.Val // halves that were made f32 already (extended.go)
	asIs     map[*ir.Inst]bool // bitcasts that do not count as seeing
	// Values that arithmetic reads.
	computed map[*ir.Value]bool
	used     map[*ir.Value]bool // that anything reads

	ctx    context
	frame  int // bytes of the warp's frame so far
	framed framed
	// Memory for lane loops, by type.
	scratch map[string]ll.Val
	wide    map[string]ll.Val // of operations on 32 lanes in a kernel of single threads
	coll    collect
	spins   bool

	tiles      tiles
	tileBodies []func()        // write the functions that tiles need
	called     map[string]bool // functions of products

	checked map[alignment][]*ir.Inst // accesses whose alignment was tested
	dom     *ir.DomTree

	points      map[*ir.Inst]int // numbers of resume points; nil until asked for
	starts      []*ir.Inst       // what a warp's turn begins with: special registers and masks; nil until asked for
	interleaved int              // bytes of an element of local memory that all lanes have side by side (interleave.go); 0: each thread has its own piece
}

type phiPair struct{ scalar, vec *ll.Phi }

// target is what the CPU can do.
type target struct {
	avx512, fp16, vnni, vbmi, bf16 bool
	arm64                          bool
	modal                          bool // the rounding mode can be changed around vector instructions: AVX and FMA, or arm64
}

// targetOf reads LLVM's names. A processor that is only named, without a list of features, has AVX2 unless it is one of the
// two oldest levels.
func targetOf(cfg Config) target {
	list := "," + cfg.Features + ","
	has := func(f string) bool { return strings.Contains(list, ",+"+f+",") }
	c := target{avx512: has("avx512f") && has("avx512bw") && has("avx512dq") && has("avx512vl"), fp16: has("avx512fp16"), vnni: has("avx512vnni"),
		vbmi: has("avx512vbmi"), bf16: has("avx512bf16"), arm64: strings.HasPrefix(cfg.Triple, "aarch64") || strings.HasPrefix(cfg.Triple, "arm64")}
	old := cfg.CPU == "x86-64" || cfg.CPU == "x86-64-v2" || strings.Contains(list, ",-avx2,") || strings.Contains(list, ",-fma,")
	c.modal = c.arm64 || !old || has("avx2") && has("fma")
	return c
}

func newEmitter(m *ir.Module, cfg Config) *emitter {
	e := &emitter{m: m, f: m.Funcs[0], cfg: cfg, w: m.Width, jam: max(m.Jam, 1), vals: map[*ir.Value]*rep{}, cache: map[*ir.Value]ll.Val{}, halves: map[*ir.Value]ll.Val{}, images: map[*ir.Inst][]ll.Val{}, wides: map[*ir.Inst]wideImage{}, labels: map[*ir.Block]string{},
		phis: map[*ir.Inst]*phiPair{}, dirty: map[*ir.Value]bool{}, numbers: analysis.Numbers{}, asIs: map[*ir.Inst]bool{}, extended: map[ll.Val]ll.Val{}, keeps: map[*ir.Inst]*kept{}, onces: map[*ir.Inst]*once{}, folds: map[*ir.Value]folded{}, low: map[*ir.Value]lowLanes{}, computed: map[*ir.Value]bool{}, used: map[*ir.Value]bool{}, scratch: map[string]ll.Val{}, wide: map[string]ll.Val{}, called: map[string]bool{}}
	e.cpu, e.interleaved = targetOf(cfg), interleaving(m, cfg.Block)
	if e.w == 32 {
		e.asked = analysis.Asked(e.f)
	}
	e.Flush = allFlushed(e.f)
	e.Target = float.Target{Fail: e.unsupported, Fence: e.fence, Directed: e.directed, ToF32: e.directedF64ToF32, ToF16: e.directedToHalf, Half: e.cpu.fp16, X86: !e.cpu.arm64}
	if !e.cpu.fp16 && !e.cpu.arm64 {
		e.Target.Order16 = e.orderWide
	}
	attrs := []string{"nounwind", "null_pointer_is_valid", `"no-builtins"`, `"frame-pointer"="none"`}
	if e.cpu.avx512 {
		attrs = append(attrs, `"prefer-vector-width"="512"`)
	}
	if e.Flush {
		attrs = append(attrs, `"denormal-fp-math-f32"="preserve-sign,preserve-sign"`)
	}
	e.mod = ll.NewModule("kernel.ptx", attrs...)
	e.meta = Facts(m)
	e.meta.Block, e.meta.FTZ = cfg.Block, e.Flush
	return e
}

// Facts is the part of a kernel's description that its IR alone gives.
func Facts(m *ir.Module) image.Meta {
	return image.Meta{
		Launches: launches(m), Reserved: m.Reserved,
		Kernel: m.Kernel, SharedStatic: uint32(m.SharedBytes), SharedAlign: uint32(max(128, m.SharedAlign, m.DynamicAlign)), LocalThread: uint32(m.Funcs[0].LocalBytes+15) &^ 15,
		ParamBytes: uint32(m.ParamBytes), Vars: append([]string(nil), m.Vars...), PTXVersion: uint32(m.SM), Registers: uint32(max(m.Registers, 0)),
	}
}

// launches reports a kernel that may launch others.
func launches(m *ir.Module) bool {
	for _, f := range m.Funcs {
		for _, b := range f.Blocks {
			for _, in := range b.Insts {
				if in.Op == ir.CallRt && in.Entry == image.RtLaunch {
					return true
				}
			}
		}
	}
	return false
}

// unsupported gives up on the kernel.
func (e *emitter) unsupported(format string, args ...any) {
	panic(&Unsupported{What: fmt.Sprintf(format, args...), Line: int(e.line)})
}

// typ is the LLVM type of one lane. bf16 and packed pairs are held as their bits.
func typ(t ir.Type) ll.Type { return emit.Type(t) }

// bytesOf is the size of a value in memory.
func bytesOf(t ir.Type) int {
	if t == ir.I1 {
		return 1
	}
	return t.Bits() / 8
}

// body emits the blocks.
func (e *emitter) body() {
	for i, b := range e.f.Blocks {
		e.labels[b] = fmt.Sprintf("b%d", i)
	}
	resume := map[*ir.Block]int{}
	if r := e.f.Regions; r != nil {
		for i, p := range r.Points {
			resume[p.Next] = i + 1
		}
	}
	for _, b := range e.f.Blocks {
		e.label(e.labels[b])
		e.enter(b)
		if k := resume[b]; k > 0 {
			e.restore(k)
		}
		e.insts(b.Insts)
	}
}

// insts emits the instructions of a block.
func (e *emitter) insts(list []*ir.Inst) {
	rows, columns := e.rows(list), e.columns(list)
	merged := map[*ir.Inst]*ir.Inst{}
	steps := map[*ir.Inst]*stepped{} // by the last store; the others are in merged
	for i := 0; i < len(list); i++ {
		in := list[i]
		if g := rows[in]; g != nil {
			if g.at == in {
				e.row(g)
			}
			continue
		}
		if c := columns[in]; c != nil {
			e.inColumn(c, in)
			continue
		}
		if n := e.tile(list[i:]); n > 0 {
			e.storeTile(list[i : i+n])
			i += n - 1
			continue
		}
		if g := steps[in]; g != nil {
			e.storeSteps(g)
			continue
		}
		if _, part := merged[in]; !part {
			e.mergeStores(list[i:], rows, merged)
		}
		if _, part := merged[in]; !part {
			if g := e.steps(list[i:], rows); g != nil {
				for _, x := range g.parts {
					merged[x] = nil
				}
				steps[g.parts[stepParts-1]] = g
			}
		}
		switch whole, part := merged[in]; {
		case whole != nil:
			e.line, e.Line = in.Line, in.Line
			e.storeMerged(whole)
		case !part:
			e.inst(in)
		}
	}
}

func (e *emitter) label(name string) {
	e.Label(name)
	clear(e.cache)
	clear(e.halves)
	clear(e.images)
	e.forgetTiles()
}

func (e *emitter) inst(in *ir.Inst) {
	e.line, e.Line = in.Line, in.Line
	if in.Op.IsTerm() {
		e.phiArgs(in.Block)
	}
	if e.w == 1 && isCollective(in.Op) {
		e.arriveCollective(in, e.pointOf(in.Block))
		return
	}
	emitters[in.Op](e, in)
}

// phiArgs evaluates what b's successors' phis take from b, before b's terminator. A trap's successor is only where its
// threads would have joined the others (pass/loop_simplify.go): the code returns to the engine and never goes there.
func (e *emitter) phiArgs(b *ir.Block) {
	if e.suspended(b) || b.Term().Op == ir.Trap {
		return
	}
	for _, s := range b.Succs() {
		for _, phi := range s.Insts {
			if phi.Op != ir.Phi {
				break
			}
			p := e.phiOf(phi)
			for i, from := range phi.Targets {
				if from != b {
					continue
				}
				if p.scalar != nil {
					v := e.scalar(phi.Args[i])
					if !e.dirty[phi.Results[0]] {
						v = e.cleaned(phi.Args[i], v, 1)
					}
					p.addLater(e, p.scalar, v)
				}
				if p.vec != nil {
					v := e.vector(phi.Args[i])
					if !e.dirty[phi.Results[0]] {
						v = e.cleaned(phi.Args[i], v, e.w)
					}
					p.addLater(e, p.vec, v)
				}
			}
		}
	}
}

// pending are incoming values of phis not yet written.
type pending struct {
	phi   *ll.Phi
	val   ll.Val
	label string
}

func (p *phiPair) addLater(e *emitter, phi *ll.Phi, v ll.Val) {
	e.ctx.pending = append(e.ctx.pending, pending{phi, v, e.Cur()})
}

// phiOf makes the LLVM phis of a phi; they are placed when its block is written.
func (e *emitter) phiOf(in *ir.Inst) *phiPair {
	p := e.phis[in]
	if p == nil {
		p = &phiPair{}
		t, s := in.Results[0].Type, in.Results[0].Shape
		if s.Kind >= ir.Affine || s.Guess {
			p.scalar = &ll.Phi{Val: ll.Val{T: typ(t)}}
		}
		if s.Kind < ir.Affine {
			p.vec = &ll.Phi{Val: ll.Val{T: ll.Vec(e.w, typ(t))}}
		}
		e.phis[in] = p
	}
	return p
}

func emitPhi(e *emitter, in *ir.Inst) {
	p := e.phiOf(in)
	r := e.rep(in.Results[0])
	if p.scalar != nil {
		*p.scalar = *e.Phi(p.scalar.T)
		r.scalar = p.scalar.Val
	}
	if p.vec != nil {
		*p.vec = *e.Phi(p.vec.T)
		r.vec = p.vec.Val
	}
	// Slots are written behind the last phi.
	rest := in.Block.Insts
	for i, x := range rest {
		if x == in && (i+1 == len(rest) || rest[i+1].Op != ir.Phi) {
			for _, y := range rest[:i+1] {
				e.saved(y.Results[0])
			}
		}
	}
}

func (e *emitter) finishPhis() {
	for _, p := range e.ctx.pending {
		p.phi.Add(p.val, p.label)
	}
}

// rep is the place for v.
func (e *emitter) rep(v *ir.Value) *rep {
	r := e.vals[v]
	if r == nil {
		r = &rep{}
		e.vals[v] = r
	}
	return r
}

// set says what result v is: x of one lane or of all, as its shape wants it.
func (e *emitter) set(v *ir.Value, x ll.Val) {
	r := e.rep(v)
	if v.Shape.Kind >= ir.Affine {
		r.scalar = x
	} else {
		r.vec, r.scalar = x, ll.Val{} // a guess's lane 0 is of the last region that had this code, until setGuess
	}
	e.saved(v)
}

// setGuess gives a guess its lane 0.
func (e *emitter) setGuess(v *ir.Value, x ll.Val) {
	r := e.rep(v)
	r.scalar = x
	if !r.scalarSlot.IsZero() {
		e.Store(x, r.scalarSlot, 0)
	}
}

// saved writes a value that lives across a barrier to its slots.
func (e *emitter) saved(v *ir.Value) {
	r := e.rep(v)
	if len(e.framed.now) > 0 {
		e.framed.now[r.number] = false
	}
	if !r.scalarSlot.IsZero() && !r.scalar.IsZero() {
		e.Store(r.scalar, r.scalarSlot, 0)
	}
	if !r.vecSlot.IsZero() && !r.vec.IsZero() {
		e.Store(r.vec, r.vecSlot, 0)
	}
}

// lanesOf is how many lanes v's own form has.
func (e *emitter) lanesOf(v *ir.Value) int {
	if v.Const || v.Shape.Kind >= ir.Affine {
		return 1
	}
	return e.w
}

// uniform reports a value that is the same in all lanes.
func uniform(v *ir.Value) bool { return v.Const || v.Shape.Kind >= ir.WarpUniform }

// scalar is v of lane 0: all there is of a uniform value, the base of an affine one.
func (e *emitter) scalar(v *ir.Value) ll.Val {
	if v.Const {
		return emit.Const(v.Type, v.Bits)
	}
	r := e.vals[v]
	if r == nil {
		panic("BUG: value is used before it is emitted: " + v.String())
	}
	if !r.scalarSlot.IsZero() {
		if e.fromFrame(r) {
			return e.scalarInFrame(v, r)
		}
		return e.Load(typ(v.Type), r.scalarSlot, 0)
	}
	if r.scalar.IsZero() {
		return e.Extract(e.vector(v), 0)
	}
	return r.scalar
}

// vector is v of all lanes.
func (e *emitter) vector(v *ir.Value) ll.Val {
	if e.w == 1 {
		return e.scalar(v)
	}
	if v.Const {
		return e.splat(emit.Const(v.Type, v.Bits))
	}
	if e.where != e.Cur() {
		clear(e.cache)
		clear(e.halves)
		e.where = e.Cur()
	}
	if x, ok := e.cache[v]; ok {
		return x
	}
	r := e.vals[v]
	if r == nil {
		panic("BUG: value is used before it is emitted: " + v.String())
	}
	if !r.vecSlot.IsZero() {
		if e.fromFrame(r) {
			return e.vectorInFrame(v, r)
		}
		x := e.Load(ll.Vec(e.w, typ(v.Type)), r.vecSlot, 0)
		return x
	}
	if !r.vec.IsZero() {
		return r.vec
	}
	x := e.splat(e.scalar(v))
	if v.Shape.Kind == ir.Affine {
		x = e.Add(x, e.offsets(v.Shape, typ(v.Type)))
	}
	e.cache[v] = x
	return x
}

// laneOffset is how much lane l of an affine value lies above lane 0.
func laneOffset(s ir.Shape, l int) int64 {
	switch {
	case s.Table != nil:
		return s.Table[l]
	case s.Seg == 0:
		return s.Stride * int64(l)
	}
	return s.Stride*int64(l%s.Seg) + s.SegStride*int64(l/s.Seg)
}

func (e *emitter) offsets(s ir.Shape, t ll.Type) ll.Val {
	elems := make([]int64, e.w)
	for l := range elems {
		elems[l] = ll.Wrap(laneOffset(s, l), t.ElemBits())
	}
	return ll.ConstVec(t, elems)
}

// splat copies a scalar to all lanes.
func (e *emitter) splat(x ll.Val) ll.Val { return e.splatN(x, e.w) }

func (e *emitter) splatN(x ll.Val, n int) ll.Val {
	if n == 1 {
		return x
	}
	t := ll.Vec(n, x.T)
	if x.IsConst() {
		return ll.Splat(n, x)
	}
	if x.T == "i1" { // a mask is a number; shuffles of bits go through whole vectors
		it := ll.IntType(n)
		return e.Bitcast(e.SExt(x, it), t)
	}
	one := e.Insert(ll.Poison(t), x, 0)
	return e.Op(t, "shufflevector %s, %s poison, <%d x i32> zeroinitializer", one, t, n)
}

// of is v in n lanes: 1 or all.
func (e *emitter) of(v *ir.Value, n int) ll.Val {
	if n == 1 {
		return e.scalar(v)
	}
	return e.vector(v)
}

// each emits an operation lane by lane: for one lane where the result is the same or affine, for all otherwise, for both
// where the result is a guess.
func (e *emitter) each(in *ir.Inst, op func(n int, a []ll.Val) ll.Val) {
	r := in.Results[0]
	if e.fold(in, op) || e.fewLanes(in, op) {
		return
	}
	run := func(n int) ll.Val {
		args := make([]ll.Val, len(in.Args))
		for i, a := range in.Args {
			args[i] = e.of(a, n)
		}
		return op(n, args)
	}
	e.set(r, run(e.lanesOf(r)))
	if r.Shape.Guess {
		e.setGuess(r, run(1))
	}
}
