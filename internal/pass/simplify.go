package pass

import (
	"math/bits"
	"slices"

	"kudzu/internal/ir"
)

// simplify folds. After it no operation without effects has only constant integer arguments, copies and phis of one
// value are gone, no branch has a constant condition, fields at known places are shifts and masks, and what lies at a known place of the parameters is a
// parameter. Floating-point operations are left to LLVM, which rounds as they say.
func simplify(st *state) error {
	f, block := st.f, st.lies()
	directParams(st.m, f)
	for range 50 {
		changed := simplifyOnce(f, block)
		changed = simplifyBranches(f) || changed
		changed = expandFields(f) || changed
		if !changed {
			break
		}
	}
	prune(f)
	mergeChains(f)
	return nil
}

// lies is the shape in which the numbers of threads lie: the block's, or if all its warps are jammed the first warp's, to which the
// others add constants.
func (st *state) lies() [3]uint32 {
	n := st.cfg.Block
	if x := min(n[0], 32); st.m.Jam > 1 && uint32(st.m.Jam)*32 == n[0]*n[1]*n[2] && 32%x == 0 && (n[0] <= 32 || n[1]*n[2] == 1) {
		return [3]uint32{x, 32 / x, 1}
	}
	return n
}

// withoutLanes takes away what no lane does; what it would load is nothing that anybody reads.
func withoutLanes(in *ir.Inst, with map[*ir.Value]*ir.Value) bool {
	if in.Mask == nil || !isFalse(in.Mask) || in.Op != ir.Load && in.Op != ir.Store || in.Volatile {
		return false
	}
	for _, r := range in.Results {
		if r.Type.Bits() > 64 {
			return false
		}
	}
	for _, r := range in.Results {
		with[r] = ir.ConstInt(r.Type, 0)
	}
	return true
}

func simplifyOnce(f *ir.Func, block [3]uint32) bool {
	with := map[*ir.Value]*ir.Value{}
	find := func(v *ir.Value) *ir.Value {
		for {
			w, ok := with[v]
			if !ok {
				return v
			}
			v = w
		}
	}
	changed := false
	for _, b := range f.Blocks {
		kept := b.Insts[:0]
		for _, in := range b.Insts {
			for i, a := range in.Args {
				in.Args[i] = find(a)
			}
			if in.Mask != nil {
				if in.Mask = find(in.Mask); isTrue(in.Mask) {
					in.Mask = nil
				}
			}
			if withoutLanes(in, with) {
				changed = true
				continue
			}
			if len(in.Results) == 1 && in.Op.Row().Effects == 0 {
				if v := find2(fold(in, block), find); v != nil && v != in.Results[0] {
					with[in.Results[0]] = v
					changed = true
					continue
				}
			}
			kept = append(kept, in)
		}
		b.Insts = kept
	}
	replaceAll(f, with)
	return changed
}

func find2(v *ir.Value, find func(*ir.Value) *ir.Value) *ir.Value {
	if v == nil {
		return nil
	}
	return find(v)
}

// simplifyBranches turns branches on constants, and with one target, into jumps.
func simplifyBranches(f *ir.Func) bool {
	changed := false
	for _, b := range f.Blocks {
		t := b.Term()
		if t == nil {
			continue
		}
		var to *ir.Block
		switch t.Op {
		case ir.CondBr:
			if c := t.Args[0]; c.Const {
				to = t.Targets[1]
				if c.Bits != 0 {
					to = t.Targets[0]
				}
			} else if t.Targets[0] == t.Targets[1] {
				to = t.Targets[0]
			}
		case ir.Switch:
			if c := t.Args[0]; c.Const {
				to = t.Targets[min(c.Bits, uint64(len(t.Targets)-1))]
			}
		}
		if to == nil {
			continue
		}
		for i, s := range t.Targets {
			if s != to && !contains(t.Targets[:i], s) {
				dropPred(s, b)
			}
		}
		t.Op, t.Attr, t.Args, t.Targets = ir.Br, ir.Attr{}, nil, []*ir.Block{to}
		changed = true
	}
	return changed
}

func contains(bs []*ir.Block, b *ir.Block) bool {
	for _, x := range bs {
		if x == b {
			return true
		}
	}
	return false
}

func dropPred(b, pred *ir.Block) {
	for _, phi := range b.Insts[:numPhis(b)] {
		args, from := phi.Args[:0], phi.Targets[:0]
		for i, p := range phi.Targets {
			if p != pred {
				args, from = append(args, phi.Args[i]), append(from, p)
			}
		}
		phi.Args, phi.Targets = args, from
	}
}

// mergeChains joins a block with its only successor when that has no other predecessor.
func mergeChains(f *ir.Func) {
	with := map[*ir.Value]*ir.Value{}
	gone := map[*ir.Block]bool{}
	for _, b := range f.Blocks {
		if gone[b] {
			continue
		}
		for s := onlySucc(f, b); s != nil; s = onlySucc(f, b) {
			mergeSucc(b, s, with)
			gone[s] = true
		}
	}
	f.Blocks = slices.DeleteFunc(f.Blocks, func(b *ir.Block) bool { return gone[b] })
	replaceAll(f, with)
	f.Rewire()
}

// onlySucc is the block that b alone leads to, and nowhere else; nil: none.
func onlySucc(f *ir.Func, b *ir.Block) *ir.Block {
	t := b.Term()
	if t.Op != ir.Br {
		return nil
	}
	if s := t.Targets[0]; len(s.Preds) == 1 && s != b && s != f.Blocks[0] {
		return s
	}
	return nil
}

// mergeSucc moves the instructions of s, whose only predecessor is b, to the end of b. with gets what its phis are.
func mergeSucc(b, s *ir.Block, with map[*ir.Value]*ir.Value) {
	n := numPhis(s)
	for _, phi := range s.Insts[:n] {
		with[phi.Results[0]] = phi.Args[0]
	}
	for _, in := range s.Insts[n:] {
		in.Block = b
	}
	b.Insts = append(b.Insts[:len(b.Insts)-1], s.Insts[n:]...)
	if b.Name == "" {
		b.Name = s.Name
	}
	for _, x := range b.Succs() {
		renamePred(x, s, b)
		for i, p := range x.Preds {
			if p == s {
				x.Preds[i] = b
			}
		}
	}
}

func isTrue(v *ir.Value) bool  { return v.Const && v.Type == ir.I1 && v.Bits == 1 }
func isFalse(v *ir.Value) bool { return v.Const && v.Type == ir.I1 && v.Bits == 0 }
func isZero(v *ir.Value) bool  { return v.Const && v.Bits == 0 && !v.Type.IsFloat() }
func isOnes(v *ir.Value) bool {
	return v.Const && !v.Type.IsFloat() && v.Type.Bits() <= 64 && v.Int() == -1
}
func isUndef(v *ir.Value) bool { return v.Def != nil && v.Def.Op == ir.Undef }

func sameValue(a, b *ir.Value) bool {
	return a == b || a.Const && b.Const && a.Type == b.Type && a.Bits == b.Bits
}

func constBool(b bool) *ir.Value {
	if b {
		return ir.ConstInt(ir.I1, 1)
	}
	return ir.ConstInt(ir.I1, 0)
}

// fold is what in's result is known to be, or nil. It may rewrite in to something simpler.
func fold(in *ir.Inst, block [3]uint32) *ir.Value {
	t := in.Results[0].Type
	switch in.Op {
	case ir.Copy:
		return in.Args[0]
	case ir.Phi:
		return foldPhi(in)
	case ir.Select:
		return foldSelect(in)
	case ir.Bitcast:
		if a := in.Args[0]; a.Type == t {
			return a
		} else if a.Const && t.Bits() <= 64 {
			return ir.ConstInt(t, a.Bits)
		} else if d := a.Def; d != nil && d.Op == ir.Bitcast && d.Args[0].Type == t {
			return d.Args[0]
		}
		return nil
	case ir.AnyLane, ir.AllLanes:
		if a := in.Args[0]; a.Const {
			return a
		}
		return nil
	}
	if t.IsFloat() || t == ir.I128 {
		return nil
	}
	if n := len(in.Args); n > 0 {
		all := true
		for _, a := range in.Args {
			all = all && a.Const && !a.Type.IsFloat() && a.Type != ir.I128
		}
		if all {
			if v, ok := evaluate(in, t); ok {
				return ir.ConstInt(t, v)
			}
		}
	}
	if v := algebra(in, t); v != nil {
		return v
	}
	return foldBounds(in, t, block)
}

func foldPhi(in *ir.Inst) *ir.Value {
	var one *ir.Value
	for _, a := range in.Args {
		if a == in.Results[0] {
			continue
		}
		if one != nil && !sameValue(one, a) {
			return nil
		}
		one = a
	}
	return one
}

func foldSelect(in *ir.Inst) *ir.Value {
	c, x, y := in.Args[0], in.Args[1], in.Args[2]
	switch {
	case isTrue(c) || sameValue(x, y):
		return x
	case isFalse(c):
		return y
	case isUndef(y):
		return x
	case isUndef(x):
		return y
	case x.Type == ir.I1 && isTrue(x) && isFalse(y):
		return c
	case x.Type == ir.I1 && isFalse(y):
		in.Op, in.Args = ir.And, []*ir.Value{c, x}
	case x.Type == ir.I1 && isTrue(x):
		in.Op, in.Args = ir.Or, []*ir.Value{c, y}
	case c.Def != nil && c.Def.Op == ir.Not:
		in.Args[0], in.Args[1], in.Args[2] = c.Def.Args[0], y, x
	}
	return nil
}

var commutes = [ir.NumOps]bool{ir.Add: true, ir.Mul: true, ir.And: true, ir.Or: true, ir.Xor: true, ir.MinS: true, ir.MinU: true, ir.MaxS: true, ir.MaxU: true}

// algebra knows identities of one constant or of equal arguments.
func algebra(in *ir.Inst, t ir.Type) *ir.Value {
	if commutes[in.Op] && in.Args[0].Const && !in.Args[1].Const {
		in.Args[0], in.Args[1] = in.Args[1], in.Args[0]
	}
	var a, b *ir.Value
	if len(in.Args) > 0 {
		a = in.Args[0]
	}
	if len(in.Args) > 1 {
		b = in.Args[1]
	}
	switch in.Op {
	case ir.Add, ir.Sub, ir.Mul, ir.DivU, ir.RemU:
		return foldSum(in, a, b, t)
	case ir.And, ir.Or, ir.Xor, ir.Not, ir.Prmt, ir.Shl, ir.ShrU, ir.ShrS:
		return foldBits(in, a, b, t)
	case ir.Trunc, ir.ZExt, ir.SExt, ir.ICmp:
		return foldWidth(in, a, b, t)
	}
	return nil
}

// foldSum knows arithmetic.
func foldSum(in *ir.Inst, a, b *ir.Value, t ir.Type) *ir.Value {
	switch in.Op {
	case ir.Add:
		if isZero(b) {
			return a
		}
		if d := a.Def; b.Const && d != nil && d.Op == ir.Add && d.Args[1].Const {
			in.Args = []*ir.Value{d.Args[0], ir.ConstInt(t, d.Args[1].Bits+b.Bits)}
		}
	case ir.Sub:
		if isZero(b) {
			return a
		}
		if a == b {
			return ir.ConstInt(t, 0)
		}
		if b.Const {
			in.Op, in.Args = ir.Add, []*ir.Value{a, ir.ConstInt(t, -b.Bits)}
		}
	case ir.Mul:
		if isZero(b) {
			return ir.ConstInt(t, 0)
		}
		if b.Const && b.Bits == 1 {
			return a
		}
		if b.Const && bits.OnesCount64(b.Bits) == 1 {
			in.Op, in.Args = ir.Shl, []*ir.Value{a, ir.ConstInt(ir.I32, uint64(bits.TrailingZeros64(b.Bits)))}
		}
	case ir.DivU:
		if b.Const && bits.OnesCount64(b.Bits) == 1 {
			in.Op, in.Args = ir.ShrU, []*ir.Value{a, ir.ConstInt(ir.I32, uint64(bits.TrailingZeros64(b.Bits)))}
		}
	case ir.RemU:
		if b.Const && bits.OnesCount64(b.Bits) == 1 {
			in.Op, in.Args = ir.And, []*ir.Value{a, ir.ConstInt(t, b.Bits-1)}
		}
	}
	return nil
}

// foldBits knows logic and shifts.
func foldBits(in *ir.Inst, a, b *ir.Value, t ir.Type) *ir.Value {
	switch in.Op {
	case ir.And:
		return foldAnd(in, a, b, t)
	case ir.Or:
		switch {
		case isZero(b) || a == b:
			return a
		case isOnes(b):
			return b
		case t == ir.I1 && opposite(a, b):
			return ir.ConstInt(t, 1)
		case t == ir.I1:
			return foldOrMask(in, a, b)
		}
	case ir.Xor:
		if isZero(b) {
			return a
		}
		if a == b {
			return ir.ConstInt(t, 0)
		}
		if isOnes(b) {
			in.Op, in.Args = ir.Not, []*ir.Value{a}
		}
	case ir.Not:
		if d := a.Def; d != nil && d.Op == ir.Not {
			return d.Args[0]
		}
	case ir.Prmt:
		return foldPrmt(in, t)
	case ir.Shl, ir.ShrU, ir.ShrS:
		if isZero(b) {
			return a
		}
		if isZero(a) {
			return a
		}
		if d := a.Def; in.Op == ir.Shl && b.Const && d != nil && d.Op == ir.Shl && d.Args[1].Const && b.Bits < 64 && d.Args[1].Bits < 64 {
			in.Args = []*ir.Value{d.Args[0], ir.ConstInt(ir.I32, b.Bits+d.Args[1].Bits)}
		}
	}
	return nil
}

// foldWidth knows conversions between integers, and comparisons.
func foldWidth(in *ir.Inst, a, b *ir.Value, t ir.Type) *ir.Value {
	switch in.Op {
	case ir.Trunc:
		if d := a.Def; d != nil && (d.Op == ir.ZExt || d.Op == ir.SExt) {
			switch w := d.Args[0].Type; {
			case w == t:
				return d.Args[0]
			case w.Bits() > t.Bits() && w != ir.I1:
				in.Args[0] = d.Args[0]
			}
		}
	case ir.ZExt, ir.SExt:
		if d := a.Def; d != nil && d.Op == in.Op {
			in.Args[0] = d.Args[0]
		}
	case ir.ICmp:
		if a == b {
			switch in.Cmp {
			case ir.EQ, ir.LE, ir.GE, ir.LS, ir.HS:
				return constBool(true)
			}
			return constBool(false)
		}
	}
	return nil
}

func foldAnd(in *ir.Inst, a, b *ir.Value, t ir.Type) *ir.Value {
	switch {
	case isZero(b):
		return b
	case isOnes(b) || a == b:
		return a
	case t == ir.I1 && opposite(a, b):
		return ir.ConstInt(t, 0)
	}
	// (x and y) and x: nested masks.
	for i := 0; i < 2 && t == ir.I1; i++ {
		if d := a.Def; d != nil && d.Op == ir.And && (d.Args[0] == b || d.Args[1] == b) {
			return a
		}
		a, b = b, a
	}
	return nil
}

// foldOrMask knows (m and c) or (m and not c) = m.
func foldOrMask(in *ir.Inst, a, b *ir.Value) *ir.Value {
	x, y := a.Def, b.Def
	if x == nil || y == nil || x.Op != ir.And || y.Op != ir.And {
		return nil
	}
	for i := 0; i < 2; i++ {
		for j := 0; j < 2; j++ {
			if x.Args[i] == y.Args[j] && opposite(x.Args[1-i], y.Args[1-j]) {
				return x.Args[i]
			}
		}
	}
	return nil
}

func opposite(a, b *ir.Value) bool {
	return a.Def != nil && a.Def.Op == ir.Not && a.Def.Args[0] == b || b.Def != nil && b.Def.Op == ir.Not && b.Def.Args[0] == a
}
