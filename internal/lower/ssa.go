package lower

import "kudzu/internal/ir"

// ssa builds SSA form on the fly (Braun et al., "Simple and Efficient Construction of Static Single Assignment Form"):
// reading a variable finds its definition, making phis where paths meet. A block is sealed when no more edges will come.
type ssa struct {
	f      *ir.Func
	b      ir.Builder
	vars   []ir.Type                // the type of each variable
	states []blockState             // by block ID
	fwd    map[*ir.Value]*ir.Value  // removed phis, and what they are
	users  map[*ir.Value][]*ir.Inst // phis that use a phi
	undefs map[ir.Type]*ir.Value
}

type variable int32

type blockState struct {
	defs       map[variable]*ir.Value
	incomplete map[variable]*ir.Inst
	sealed     bool
}

func (s *ssa) init(f *ir.Func) {
	s.f = f
	s.b = ir.Builder{Func: f}
	s.fwd, s.users, s.undefs = map[*ir.Value]*ir.Value{}, map[*ir.Value][]*ir.Inst{}, map[ir.Type]*ir.Value{}
}

func (s *ssa) newVar(t ir.Type) variable {
	s.vars = append(s.vars, t)
	return variable(len(s.vars) - 1)
}

func (s *ssa) newBlock(name string) *ir.Block {
	b := s.f.NewBlock(name)
	s.states = append(s.states, blockState{})
	return b
}

func (s *ssa) write(v variable, val *ir.Value) { s.writeIn(s.b.Block, v, val) }

func (s *ssa) writeIn(b *ir.Block, v variable, val *ir.Value) {
	st := &s.states[b.ID]
	if st.defs == nil {
		st.defs = map[variable]*ir.Value{}
	}
	st.defs[v] = val
}

func (s *ssa) read(v variable) *ir.Value { return s.readIn(s.b.Block, v) }

func (s *ssa) readIn(b *ir.Block, v variable) *ir.Value {
	// Blocks with one predecessor only pass the question on; the answer is kept in each, so that it is asked once.
	var chain []*ir.Block
	var val *ir.Value
	for {
		st := &s.states[b.ID]
		if d, ok := st.defs[v]; ok {
			val = s.resolve(d)
			break
		}
		if st.sealed && len(b.Preds) == 1 {
			chain = append(chain, b)
			b = b.Preds[0]
			continue
		}
		val = s.readHere(b, v)
		break
	}
	for _, c := range chain {
		s.writeIn(c, v, val)
	}
	return val
}

// readHere answers for a block that does not define v: an entry, a meeting of paths, or a block not yet sealed.
func (s *ssa) readHere(b *ir.Block, v variable) *ir.Value {
	st := &s.states[b.ID]
	if st.sealed && len(b.Preds) == 0 {
		return s.undef(s.vars[v])
	}
	phi := s.newPhi(b, s.vars[v])
	s.writeIn(b, v, phi.Results[0])
	if !st.sealed {
		if st.incomplete == nil {
			st.incomplete = map[variable]*ir.Inst{}
		}
		st.incomplete[v] = phi
		return phi.Results[0]
	}
	return s.addOperands(b, v, phi)
}

func (s *ssa) newPhi(b *ir.Block, t ir.Type) *ir.Inst {
	phi := s.f.NewInst(ir.Phi, []ir.Type{t})
	phi.Block = b
	phi.Line = s.b.Line
	return phi // put into the block by finish, if it stays
}

// undef is a value that nothing defined. One instruction per type, placed in the entry by finish.
func (s *ssa) undef(t ir.Type) *ir.Value {
	u := s.undefs[t]
	if u == nil {
		u = s.f.NewInst(ir.Undef, []ir.Type{t}).Results[0]
		s.undefs[t] = u
	}
	return u
}

func (s *ssa) isUndef(v *ir.Value) bool { return v.Def != nil && v.Def.Op == ir.Undef }

func (s *ssa) addOperands(b *ir.Block, v variable, phi *ir.Inst) *ir.Value {
	for _, p := range b.Preds {
		a := s.readIn(p, v)
		phi.Targets = append(phi.Targets, p)
		phi.Args = append(phi.Args, a)
		if a.Def != nil && a.Def.Op == ir.Phi && a.Def != phi {
			s.users[a] = append(s.users[a], phi)
		}
	}
	return s.simplify(phi)
}

// simplify removes a phi whose arguments are all one value, and then the phis that used it and became so.
func (s *ssa) simplify(phi *ir.Inst) *ir.Value {
	self := phi.Results[0]
	if s.fwd[self] != nil || len(phi.Args) == 0 {
		return s.resolve(self)
	}
	var same *ir.Value
	for _, a := range phi.Args {
		a = s.resolve(a)
		if a == self || a == same {
			continue
		}
		if same != nil {
			if !equalConst(a, same) {
				return self
			}
			continue
		}
		same = a
	}
	if same == nil {
		same = s.undef(self.Type)
	}
	s.fwd[self] = same
	users := s.users[self]
	delete(s.users, self)
	for _, u := range users {
		if same.Def != nil && same.Def.Op == ir.Phi && same.Def != u {
			s.users[same] = append(s.users[same], u)
		}
		if u != phi && len(u.Args) == len(u.Block.Preds) {
			s.simplify(u)
		}
	}
	return s.resolve(same)
}

func equalConst(a, b *ir.Value) bool {
	return a.Const && b.Const && a.Type == b.Type && a.Bits == b.Bits
}

// resolve follows removed phis to what they are.
func (s *ssa) resolve(v *ir.Value) *ir.Value {
	for {
		n := s.fwd[v]
		if n == nil {
			return v
		}
		if m := s.fwd[n]; m != nil {
			s.fwd[v] = m
		}
		v = n
	}
}

// seal says that b has all its predecessors.
func (s *ssa) seal(b *ir.Block) {
	st := &s.states[b.ID]
	if st.sealed {
		return
	}
	st.sealed = true
	inc := st.incomplete
	st.incomplete = nil
	vars := make([]variable, 0, len(inc))
	for v := range inc {
		vars = append(vars, v)
	}
	sortVars(vars) // the order of new phis must not depend on the map
	for _, v := range vars {
		s.addOperands(b, v, inc[v])
	}
}

func sortVars(vs []variable) {
	for i := 1; i < len(vs); i++ {
		for j := i; j > 0 && vs[j-1] > vs[j]; j-- {
			vs[j-1], vs[j] = vs[j], vs[j-1]
		}
	}
}

func (s *ssa) edge(from, to *ir.Block) {
	for _, p := range to.Preds {
		if p == from {
			return
		}
	}
	if s.states[to.ID].sealed {
		panic("BUG: edge to a sealed block")
	}
	to.Preds = append(to.Preds, from)
}

// dead reports that the current place cannot be reached.
func (s *ssa) dead() bool { return s.b.Block == nil }

// br ends the block with a jump; the place after it is dead until another block is begun.
func (s *ssa) br(to *ir.Block) {
	s.edge(s.b.Block, to)
	s.b.Terminate(ir.Br, ir.Attr{}, nil, to)
	s.b.Block = nil
}

func (s *ssa) condBr(c *ir.Value, yes, no *ir.Block, uniform bool) {
	if yes == no {
		s.br(yes)
		return
	}
	if c.Const {
		if c.Bits == 0 {
			yes = no
		}
		s.br(yes)
		return
	}
	s.edge(s.b.Block, yes)
	s.edge(s.b.Block, no)
	s.b.Terminate(ir.CondBr, ir.Attr{Uniform: uniform}, []*ir.Value{c}, yes, no)
	s.b.Block = nil
}

func (s *ssa) stop(op ir.Op, attr ir.Attr) {
	s.b.Terminate(op, attr, nil)
	s.b.Block = nil
}
