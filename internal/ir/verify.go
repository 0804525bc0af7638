package ir

import (
	"errors"
	"fmt"
)

// VerifyError names the instruction that breaks a rule.
type VerifyError struct {
	Func  string
	Block *Block
	Inst  *Inst // nil: the block itself
	Text  string
}

// Error is "vecadd b3: %5:i32 = add %1, %2: argument 1 is i64, not i32".
func (e *VerifyError) Error() string {
	s := e.Func
	if e.Block != nil {
		s += fmt.Sprintf(" b%d", e.Block.ID)
	}
	if e.Inst != nil {
		s += ": " + e.Inst.String()
	}
	return s + ": " + e.Text
}

// Verify checks that m is well formed: every block ends in one terminator, phis come first and have one argument for
// each predecessor, definitions dominate their uses, types follow the operation's signature, masks stand only on
// operations with effects, attributes on operations that take them, symbols exist, what is kept in a row of blocks is
// used by what the keep hands on. It reports up to ten errors. It needs no current Preds and renumbers.
func Verify(m *Module) error {
	if len(m.Funcs) == 0 {
		return errors.New("module has no function")
	}
	var errs []error
	names := map[string]bool{}
	for _, f := range m.Funcs {
		if names[f.Name] {
			errs = append(errs, &VerifyError{Func: f.Name, Text: "second function of this name"})
		}
		names[f.Name] = true
	}
	for i, f := range m.Funcs {
		if f.Kernel != (i == 0) {
			errs = append(errs, &VerifyError{Func: f.Name, Text: "the kernel, and only it, comes first"})
		}
		v := &verifier{m: m, f: f}
		v.run()
		errs = append(errs, v.errs...)
	}
	if len(errs) > 10 {
		errs = append(errs[:10], fmt.Errorf("and %d more", len(errs)-10))
	}
	return errors.Join(errs...)
}

type verifier struct {
	m    *Module
	f    *Func
	dom  *DomTree
	pos  map[*Inst]int // place in its block
	own  map[*Block]bool
	errs []error
}

func (v *verifier) fail(b *Block, in *Inst, format string, args ...any) {
	v.errs = append(v.errs, &VerifyError{v.f.Name, b, in, fmt.Sprintf(format, args...)})
}

func (v *verifier) run() {
	f := v.f
	if len(f.Blocks) == 0 {
		v.fail(nil, nil, "no blocks")
		return
	}
	v.numbers()
	v.pos, v.own = map[*Inst]int{}, map[*Block]bool{}
	for _, b := range f.Blocks {
		if v.own[b] {
			v.fail(b, nil, "listed twice")
		}
		v.own[b] = true
		if b.Func != f {
			v.fail(b, nil, "belongs to another function")
		}
	}
	ok := true
	for _, b := range f.Blocks {
		ok = v.structure(b) && ok
	}
	if !ok {
		return // a graph cannot be walked
	}
	f.Rewire()
	if len(f.Blocks[0].Preds) != 0 {
		v.fail(f.Blocks[0], nil, "the entry has predecessors")
	}
	v.dom = Dominators(f)
	for _, b := range f.Blocks {
		for _, in := range b.Insts {
			v.inst(b, in)
		}
	}
	v.keeps()
}

// numbers checks that no two blocks, and no two values, have one number: sets and maps of them go by it.
func (v *verifier) numbers() {
	blocks, values := map[int]bool{}, map[int]bool{}
	for _, p := range v.f.Params {
		values[p.ID] = true
	}
	for _, b := range v.f.Blocks {
		if blocks[b.ID] || b.ID >= v.f.nextBlock {
			v.fail(b, nil, "has another block's number")
		}
		blocks[b.ID] = true
		for _, in := range b.Insts {
			for _, r := range in.Results {
				if r != nil && (values[r.ID] || r.ID >= v.f.nextValue) {
					v.fail(b, in, "its result has another value's number")
				} else if r != nil {
					values[r.ID] = true
				}
			}
		}
	}
}

// structure checks what the graph stands on: terminators, targets, defining links.
func (v *verifier) structure(b *Block) bool {
	ok := true
	if b.Term() == nil {
		v.fail(b, nil, "has no terminator")
		ok = false
	}
	phis := true
	for i, in := range b.Insts {
		if _, twice := v.pos[in]; twice {
			v.fail(b, in, "stands in two places")
			ok = false
		}
		v.pos[in] = i
		if in.Block != b {
			v.fail(b, in, "its Block is another")
		}
		if in.Op == Invalid || in.Op >= NumOps {
			v.fail(b, nil, "operation %d", in.Op)
			return false
		}
		if in.Op.IsTerm() && i != len(b.Insts)-1 {
			v.fail(b, in, "terminator in the middle of a block")
			ok = false
		}
		if in.Op == Phi && !phis {
			v.fail(b, in, "phi after another operation")
		}
		phis = phis && in.Op == Phi
		for j, r := range in.Results {
			if r == nil || r.Def != in || r.Index != j || r.Const {
				v.fail(b, in, "result %d does not point back", j)
				ok = false
			}
		}
		for j, a := range in.Args {
			if a == nil {
				v.fail(b, in, "argument %d is nil", j)
				ok = false
			}
		}
		for _, t := range in.Targets {
			if t == nil || !v.own[t] {
				v.fail(b, in, "target is no block of the function")
				ok = false
			}
		}
	}
	return ok
}

// A trap may name the block where control would go on, so that it does not count as an end of its loop.
var termTargets = [NumOps]struct{ min, max int }{Br: {1, 1}, CondBr: {2, 2}, Switch: {1, 1 << 30}, Trap: {0, 1}}

func (v *verifier) inst(b *Block, in *Inst) {
	v.attributes(b, in)
	if in.Op == Phi {
		v.phi(b, in)
		return
	}
	vars := map[string]Type{}
	s := &parsedSigs()[in.Op]
	if err := matchSig(s.results, in.Results, "result", vars); err != nil {
		v.fail(b, in, "%v", err)
	} else if err := matchSig(s.args, in.Args, "argument", vars); err != nil {
		v.fail(b, in, "%v", err)
	} else {
		v.special(b, in)
	}
	if n := len(in.Targets); n < termTargets[in.Op].min || n > termTargets[in.Op].max {
		v.fail(b, in, "has %d targets", n)
	}
	for _, a := range in.Args {
		v.use(b, in, a)
	}
	if in.Mask != nil {
		if in.Mask.Type != I1 {
			v.fail(b, in, "mask is %s, not i1", in.Mask.Type)
		}
		if in.Op.Row().Effects == 0 {
			v.fail(b, in, "mask on an operation without effects")
		}
		v.use(b, in, in.Mask)
	}
}

func (v *verifier) attributes(b *Block, in *Inst) {
	for _, name := range in.strays(in.Op) {
		v.fail(b, in, "%s takes no attribute %s", in.Op, name)
	}
	if in.EitherFTZ && !in.FTZ {
		v.fail(b, in, "eitherftz without ftz")
	}
	if in.Op == Dp4a && in.Dot&DotHigh != 0 {
		v.fail(b, in, "%s has no halves", in.Op)
	}
}

func (v *verifier) phi(b *Block, in *Inst) {
	if len(in.Results) != 1 || len(in.Args) != len(in.Targets) {
		v.fail(b, in, "needs one result and a block for each argument")
		return
	}
	if in.Mask != nil {
		v.fail(b, in, "mask on a phi")
	}
	if len(in.Targets) != len(b.Preds) {
		v.fail(b, in, "has %d incoming blocks, the block %d predecessors", len(in.Targets), len(b.Preds))
		return
	}
	for i, p := range in.Targets {
		n := 0
		for _, q := range b.Preds {
			if p == q {
				n++
			}
		}
		for _, q := range in.Targets[:i] {
			if p == q {
				n = -1
			}
		}
		if n != 1 {
			v.fail(b, in, "incoming block b%d is not exactly one of the predecessors", p.ID)
		}
		a := in.Args[i]
		if a.Type != in.Results[0].Type {
			v.fail(b, in, "argument %d is %s, not %s", i, a.Type, in.Results[0].Type)
		}
		if a.Def != nil && v.reachable(p) && !v.dom.Dominates(a.Def.Block, p) {
			v.fail(b, in, "%s does not dominate the end of b%d", a, p.ID)
		}
		v.owned(b, in, a)
	}
}

func (v *verifier) reachable(b *Block) bool { _, ok := v.dom.nums.Of(b); return ok }

// owned checks that a is a constant, a parameter or defined in this function.
func (v *verifier) owned(b *Block, in *Inst, a *Value) bool {
	if a.Const {
		if a.Def != nil {
			v.fail(b, in, "constant %s has a definition", a)
		}
		return true
	}
	if a.Def == nil {
		for _, p := range v.f.Params {
			if p == a {
				return true
			}
		}
		v.fail(b, in, "%s is not defined", a)
		return false
	}
	if _, ok := v.pos[a.Def]; !ok {
		v.fail(b, in, "%s is defined by an instruction that is in no block of the function", a)
		return false
	}
	return true
}

func (v *verifier) use(b *Block, in *Inst, a *Value) {
	if !v.owned(b, in, a) || a.Def == nil || !v.reachable(b) {
		return
	}
	d := a.Def
	if d.Block == b && v.pos[d] >= v.pos[in] || d.Block != b && !v.dom.Dominates(d.Block, b) {
		v.fail(b, in, "%s is used before it is defined", a)
	}
}

// special checks what a signature cannot say.
func (v *verifier) special(b *Block, in *Inst) {
	wrong := func(format string, args ...any) { v.fail(b, in, format, args...) }
	switch in.Op {
	case Trunc, FTrunc, ZExt, SExt, FExt, Bitcast, Pack, Unpack:
		v.widths(b, in)
	case ICmp:
		if in.Cmp > HS {
			wrong("%s is no integer comparison", in.Cmp)
		}
	case FCmp:
		if in.Cmp >= LO && in.Cmp <= HS {
			wrong("%s is no float comparison", in.Cmp)
		}
	case Load:
		if len(in.Results) == 0 {
			wrong("loads nothing")
		}
	case Store:
		if len(in.Args) < 2 {
			wrong("stores nothing")
		}
		if in.Space == Const || in.Space == ParamSpace {
			wrong("store to read-only space %s", in.Space)
		}
	case LocalAddr, SharedAddr, VarAddr:
		v.address(b, in)
	case Mma, LdMatrix, StMatrix, MovMatrix:
		if in.Mat == nil {
			wrong("has no matrix attribute")
		}
	case Call:
		v.call(b, in)
	case Ret:
		v.ret(b, in)
	}
}

// widths checks the widths of a conversion's operands and results.
func (v *verifier) widths(b *Block, in *Inst) {
	bits := func(vs []*Value) (n int) {
		for _, x := range vs {
			n += x.Type.Bits()
		}
		return n
	}
	from, to := bits(in.Args), bits(in.Results)
	switch in.Op {
	case Trunc, FTrunc:
		if from <= to && !(in.Op == FTrunc && from == 16) {
			v.fail(b, in, "does not narrow")
		}
	case ZExt, SExt, FExt:
		if from >= to {
			v.fail(b, in, "does not widen")
		}
	case Bitcast, Pack, Unpack:
		if from != to {
			v.fail(b, in, "%d bits become %d", from, to)
		}
	}
}

// address checks that what an address is taken of exists.
func (v *verifier) address(b *Block, in *Inst) {
	switch {
	case in.Op == VarAddr:
		v.symbol(b, in, len(v.m.Vars), func(i int) string { return v.m.Vars[i] })
	case in.Op == LocalAddr && in.Sym != "": // else where the frame ends, or the stack
		v.symbol(b, in, len(v.f.Slots), func(i int) string { return v.f.Slots[i].Name })
	case in.Op == SharedAddr && in.Sym != "":
		v.symbol(b, in, len(v.m.Shared), func(i int) string { return v.m.Shared[i].Name })
	case in.Op == SharedAddr && v.m.DynamicAlign == 0:
		v.fail(b, in, "the module has no dynamic shared memory")
	}
}

// ret checks what is returned against the function's results.
func (v *verifier) ret(b *Block, in *Inst) {
	if len(in.Args) != len(v.f.Results) {
		v.fail(b, in, "returns %d values of %d", len(in.Args), len(v.f.Results))
		return
	}
	for i, a := range in.Args {
		if a.Type != v.f.Results[i] {
			v.fail(b, in, "result %d is %s, not %s", i, a.Type, v.f.Results[i])
		}
	}
}

func (v *verifier) symbol(b *Block, in *Inst, n int, name func(int) string) {
	for i := range n {
		if name(i) == in.Sym {
			return
		}
	}
	v.fail(b, in, "no symbol %q", in.Sym)
}

func (v *verifier) call(b *Block, in *Inst) {
	for _, f := range v.m.Funcs {
		if f.Name != in.Sym || f.Kernel {
			continue
		}
		if len(f.Params) != len(in.Args) || len(f.Results) != len(in.Results) {
			v.fail(b, in, "%d arguments and %d results, the function has %d and %d", len(in.Args), len(in.Results), len(f.Params), len(f.Results))
			return
		}
		for i, p := range f.Params {
			if in.Args[i].Type != p.Type {
				v.fail(b, in, "argument %d is %s, not %s", i, in.Args[i].Type, p.Type)
			}
		}
		for i, t := range f.Results {
			if in.Results[i].Type != t {
				v.fail(b, in, "result %d is %s, not %s", i, in.Results[i].Type, t)
			}
		}
		return
	}
	v.fail(b, in, "no function %q", in.Sym)
}
