package lower

import (
	"sort"

	"kudzu/internal/devrt"
	"kudzu/internal/image"
	"kudzu/internal/ir"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
)

// paramVar is a .param variable of a function or of a call. If nothing takes its address it is cut into cells, at every
// boundary of an access, and each cell is an SSA variable; otherwise it is a slot of local memory.
type paramVar struct {
	v     *ptx.Var
	mem   bool
	cells []cell
}

type cell struct {
	off, size int
	v         variable
}

// prepareParams finds how the body uses its .param variables.
func (l *lowerer) prepareParams(fr *frame) {
	u := &paramUses{fr: fr, regs: l.regTypes(fr.fn), marks: map[*ptx.Var]map[int]bool{}, types: map[*ptx.Var]map[[2]int]ir.Type{}}
	for i := range fr.body.Insts {
		in := &fr.body.Insts[i]
		for a := range in.Args {
			u.operand(in, &in.Args[a])
		}
	}
	for _, pv := range sortedParams(fr.params) {
		if !pv.mem {
			pv.cut(l, u.marks[pv.v], u.types[pv.v])
		}
	}
}

// paramUses collects the accesses to .param variables.
type paramUses struct {
	fr    *frame
	regs  []ir.Type
	marks map[*ptx.Var]map[int]bool       // where cells begin and end
	types map[*ptx.Var]map[[2]int]ir.Type // of the value at an offset, of a size
}

func (u *paramUses) get(v *ptx.Var) *paramVar {
	pv := u.fr.params[v]
	if pv == nil {
		pv = &paramVar{v: v}
		u.fr.params[v] = pv
		u.marks[v], u.types[v] = map[int]bool{}, map[[2]int]ir.Type{}
	}
	return pv
}

// operand notes what an operand does with a .param variable: hands it to a call, takes its address, or loads or stores it.
func (u *paramUses) operand(in *ptx.Inst, o *ptx.Operand) {
	switch {
	case in.Op() == isa.Call:
		for e := range o.Elems {
			if isCallParam(o.Elems[e].Var) {
				u.get(o.Elems[e].Var)
			}
		}
	case o.Kind == ptx.OpVar && isCallParam(o.Var):
		u.get(o.Var).mem = true
	case o.Kind == ptx.OpAddr && o.Base == ptx.OpVar && isCallParam(o.Var):
		u.access(in, o)
	}
}

// access notes the cells that a load or store needs. What is no plain access of at most 8 bytes a value has the variable in memory.
func (u *paramUses) access(in *ptx.Inst, o *ptx.Operand) {
	pv := u.get(o.Var)
	t := in.Type("type")
	w := irTypes[t]
	size := w.Bits() / 8
	off := int(int64(o.Imm))
	if (in.Op() != isa.Ld && in.Op() != isa.St) || size == 0 || off < 0 || size > 8 {
		pv.mem = true
		return
	}
	for e, el := range valueOperand(in) {
		if el.Kind == ptx.OpReg && t.Class() == isa.ClassBits && u.regs[el.Reg].Bits() == w.Bits() {
			w = u.regs[el.Reg]
		}
		at := off + e*size
		if uint64(at+size) > o.Var.Size {
			pv.mem = true // out of bounds: memory keeps it honest
			continue
		}
		u.marks[o.Var][at], u.marks[o.Var][at+size] = true, true
		u.types[o.Var][[2]int{at, size}] = w
	}
}

func isCallParam(v *ptx.Var) bool {
	return v != nil && v.Space == ptx.SpaceParam && v.Role != ptx.KernelParam
}

// valueOperand is what ld.param or st.param moves, element by element.
func valueOperand(in *ptx.Inst) []ptx.Operand {
	if in.Op() == isa.St {
		return elements(&in.Args[1])
	}
	return elements(&in.Args[0])
}

// sortedParams gives a stable order: variables must not be numbered by a map's whim.
func sortedParams(m map[*ptx.Var]*paramVar) []*paramVar {
	var all []*paramVar
	for _, pv := range m {
		all = append(all, pv)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].v.Pos < all[j].v.Pos })
	return all
}

func (pv *paramVar) cut(l *lowerer, marks map[int]bool, types map[[2]int]ir.Type) {
	var at []int
	for m := range marks {
		at = append(at, m)
	}
	sort.Ints(at)
	for i := 1; i < len(at); i++ {
		// Pieces of 1, 2, 4 or 8 bytes at multiples of their size.
		for off := at[i-1]; off < at[i]; {
			size := 8
			for off%size != 0 || off+size > at[i] {
				size /= 2
			}
			t, ok := types[[2]int{off, size}]
			if !ok {
				t = intOf(size * 8)
			}
			pv.cells = append(pv.cells, cell{off, size, l.newVar(t)})
			off += size
		}
	}
}

// readParam reads bytes off… of pv as type t.
func (x *inst) readParam(pv *paramVar, off int, t ir.Type) *ir.Value {
	size := max(1, t.Bits()/8) // of a predicate: one
	if pv.mem {
		a := x.b.Emit(ir.LocalAddr, ir.I64, ir.Attr{Sym: x.slot(pv.v), Off: int64(off)})
		return x.b.Emit(ir.Load, t, ir.Attr{Space: ir.Local, Align: uint8(min(size, 16))}, a)
	}
	var sum *ir.Value
	w := intOf(size * 8)
	for _, c := range pv.cells {
		if c.off+c.size <= off || c.off >= off+size {
			continue
		}
		v := x.read(c.v)
		if c.off == off && c.size == size {
			return x.cast(v, t)
		}
		v = x.cast(v, intOf(c.size*8))
		if c.off < off {
			v = x.op(ir.ShrU, v, i32(int64(8*(off-c.off))))
		}
		v = x.resize(v, size*8, false)
		if c.off > off {
			v = x.op(ir.Shl, v, i32(int64(8*(c.off-off))))
		}
		if sum != nil {
			v = x.op(ir.Or, sum, v)
		}
		sum = v
	}
	if sum == nil {
		return x.undef(t)
	}
	return x.cast(x.cast(sum, w), t)
}

// writeParam writes v to bytes off… of pv. Cells never straddle an access, so each is written whole.
func (x *inst) writeParam(pv *paramVar, off int, v *ir.Value) {
	size := v.Type.Bits() / 8
	if pv.mem {
		a := x.b.Emit(ir.LocalAddr, ir.I64, ir.Attr{Sym: x.slot(pv.v), Off: int64(off)})
		x.b.EmitN(ir.Store, nil, ir.Attr{Space: ir.Local, Align: uint8(min(size, 16))}, a, v)
		return
	}
	for _, c := range pv.cells {
		if c.off < off || c.off >= off+size {
			continue
		}
		part := v
		if c.size != size {
			part = x.cast(v, intOf(size*8))
			if c.off > off {
				part = x.op(ir.ShrU, part, i32(int64(8*(c.off-off))))
			}
			part = x.resize(part, c.size*8, false)
		}
		x.write(c.v, x.cast(part, x.vars[c.v]))
	}
}

// copyParam passes what from gives to the variable to. from(off, t) reads.
func (x *inst) copyParam(to *paramVar, from func(off int, t ir.Type) *ir.Value) {
	if !to.mem {
		for _, c := range to.cells {
			x.write(c.v, from(c.off, x.vars[c.v]))
		}
		return
	}
	for off := 0; off < int(to.v.Size); {
		size := 8
		for off%size != 0 || off+size > int(to.v.Size) {
			size /= 2
		}
		x.writeParam(to, off, from(off, intOf(size*8)))
		off += size
	}
}

func lowerCall(x *inst) {
	callee := &x.Args[1]
	if callee.Kind != ptx.OpFunc {
		x.callPointer()
		return
	}
	name := x.plan.resolve(callee.Name)
	fn := x.m.Func(name)
	if fn == nil || fn.Body == nil {
		x.callRuntime(name)
		return
	}
	if len(x.Args[2].Elems) != len(fn.Params) || len(x.Args[0].Elems) != len(fn.Results) {
		x.fail("the call of %s with a different number of parameters", name)
	}
	if x.plan.real[fn] {
		x.callFunction(fn)
		return
	}
	x.inlineCall(fn)
}

// inlineCall lowers fn's body here, with the arguments in its parameters, and fetches the results.
func (x *inst) inlineCall(fn *ptx.Func) {
	line := x.b.Line
	fr := x.newFrame(fn, x.fr)
	if x.plan.stack {
		x.write(fr.sp, x.read(x.fr.sp))
	}
	for i, p := range fn.Params {
		x.passIn(fr, p, &x.Args[2].Elems[i])
	}
	fr.ret = x.newBlock("")
	choose := x.choose
	x.choose = nil
	x.body(fr)
	x.choose = choose
	x.seal(fr.ret)
	x.b.Line = line
	if len(fr.ret.Preds) == 0 {
		return // it never returns
	}
	x.b.Block = fr.ret
	for i, r := range fn.Results {
		x.passOut(fr, r, &x.Args[0].Elems[i])
	}
}

// reader gives the bytes of an actual argument.
func (x *inst) reader(o *ptx.Operand, t isa.Type) func(off int, t ir.Type) *ir.Value {
	if pv := x.bytesOf(o); pv != nil {
		return func(off int, t ir.Type) *ir.Value { return x.readParam(pv, off, t) }
	}
	return func(off int, w ir.Type) *ir.Value {
		v := x.value(o, t)
		if off != 0 {
			v = x.op(ir.ShrU, x.cast(v, intOf(v.Type.Bits())), i32(int64(8*off)))
		}
		return x.cast(x.resize(v, w.Bits(), false), w)
	}
}

func (x *inst) passIn(fr *frame, p *ptx.Var, o *ptx.Operand) {
	from := x.reader(o, p.Type)
	if pv := x.formal(fr, p); pv != nil {
		x.copyParam(pv, from)
	}
}

// bytesOf is an actual parameter that has bytes: a variable of the parameter space, or a vector register. Nil for others.
func (x *inst) bytesOf(o *ptx.Operand) *paramVar {
	switch {
	case o.Kind == ptx.OpVar && isCallParam(o.Var):
		return x.fr.params[o.Var]
	case o.Kind == ptx.OpReg && o.Elem == -1 && x.fr.body.Regs[o.Reg].Vec > 1:
		return x.registerBytes(x.fr, o.Reg)
	}
	return nil
}

// formal is a parameter or result of fr's function as bytes; nil if the body never names it.
func (l *lowerer) formal(fr *frame, p *ptx.Var) *paramVar {
	if p.Space != ptx.SpaceReg {
		return fr.params[p]
	}
	for i, r := range fr.body.Regs { // the parser enters register parameters among the body's registers first
		if r.Num < 0 && r.Name == p.Name {
			return l.registerBytes(fr, int32(i))
		}
	}
	return nil // _
}

// registerBytes is a register as bytes: the components of a vector one after the other.
func (l *lowerer) registerBytes(fr *frame, reg int32) *paramVar {
	r := &fr.body.Regs[reg]
	pv := &paramVar{}
	size := max(1, r.Type.Bytes()) // of a predicate: one
	for i := range max(1, int(r.Vec)) {
		pv.cells = append(pv.cells, cell{i * size, size, fr.regs[reg] + variable(i)})
	}
	return pv
}

func (x *inst) passOut(fr *frame, r *ptx.Var, o *ptx.Operand) {
	if pv := x.formal(fr, r); pv != nil { // else never written: undefined
		x.fetch(pv, r, o)
	}
}

// runtimeCalls are the functions that the engine provides, with the types of their arguments and result.
var runtimeCalls = map[string]struct {
	entry  uint8
	args   []isa.Type
	result isa.Type
}{
	"vprintf":      {image.RtVprintf, []isa.Type{isa.B64, isa.B64}, isa.B32},
	"malloc":       {image.RtMalloc, []isa.Type{isa.B64}, isa.B64},
	"free":         {image.RtFree, []isa.Type{isa.B64}, isa.TypeNone},
	"__assertfail": {image.RtAssert, []isa.Type{isa.B64, isa.B64, isa.B32, isa.B64}, isa.TypeNone},
}

func (x *inst) callRuntime(name string) {
	rt, ok := runtimeCalls[name]
	if !ok {
		if i := devrt.CallOf(name); i >= 0 && !x.opts.GPU {
			x.callDevice(i)
			return
		}
		x.fail("the call of external function %s", name)
	}
	actual := x.Args[2].Elems
	if len(actual) < len(rt.args) {
		x.fail("a call of %s with %d arguments", name, len(actual))
	}
	var args []*ir.Value
	for i, t := range rt.args {
		args = append(args, x.reader(&actual[i], t)(0, irTypes[t]))
	}
	attr := ir.Attr{Entry: rt.entry, Sym: name}
	if rt.result == isa.TypeNone {
		x.b.EmitN(ir.CallRt, nil, attr, args...)
	} else {
		x.runtimeResult(x.b.Emit(ir.CallRt, irTypes[rt.result], attr, args...), rt.result)
	}
	if rt.entry == image.RtAssert {
		x.stop(ir.Trap, ir.Attr{Stop: image.StopAssert})
	}
}

// runtimeResult gives v to what the call names for its result.
func (x *inst) runtimeResult(v *ir.Value, t isa.Type) {
	res := x.Args[0].Elems
	if len(res) == 0 {
		return
	}
	if o := &res[0]; o.Kind == ptx.OpVar && isCallParam(o.Var) {
		x.copyParam(x.fr.params[o.Var], func(off int, t ir.Type) *ir.Value {
			return x.cast(x.resize(v, t.Bits(), false), t)
		})
	} else {
		x.setOperand(o, t, v)
	}
}

// deviceWords is how many words of 64 bits RtDevice and RtLaunch take.
const deviceWords = 5

// callDevice calls a function of CUDA's device runtime. Its arguments go as words of 32 bits, two in each of 64.
func (x *inst) callDevice(call int) {
	row := &devrt.Calls[call]
	actual := x.Args[2].Elems
	if len(actual) < len(row.Args) {
		x.fail("a call of %s with %d arguments", row.Name, len(actual))
	}
	var words []*ir.Value // of 64 bits, or
	var low *ir.Value     // a half that waits for its other half
	half := func(v *ir.Value) {
		v = x.resize(v, 64, false)
		if low == nil {
			low = v
			return
		}
		words, low = append(words, x.op(ir.Or, low, x.op(ir.Shl, v, i32(32)))), nil
	}
	for i, kind := range row.Args {
		switch kind {
		case 'd':
			read := x.reader(&actual[i], isa.B32)
			for k := range 3 {
				half(read(4*k, ir.I32))
			}
		case 'w':
			half(x.reader(&actual[i], isa.B32)(0, ir.I32))
		case 'l':
			if low != nil {
				half(i32(0))
			}
			words = append(words, x.reader(&actual[i], isa.B64)(0, ir.I64))
		}
	}
	if low != nil {
		half(i32(0))
	}
	args := append([]*ir.Value{i32(int64(call)), x.threadNumber()}, words...)
	for len(args) < 2+deviceWords {
		args = append(args, ir.ConstInt(ir.I64, 0))
	}
	attr := ir.Attr{Entry: image.RtDevice, Sym: row.Name}
	if row.Grid {
		attr.Entry = image.RtLaunch
	}
	v := x.b.Emit(ir.CallRt, ir.I64, attr, args...)
	if call == 0 {
		x.runtimeResult(v, isa.B64)
		return
	}
	x.runtimeResult(x.resize(v, 32, false), isa.B32)
}

// threadNumber is the thread's place in its block.
func (x *inst) threadNumber() *ir.Value {
	reg := func(r ir.SpecialReg) *ir.Value { return x.b.Emit(ir.SReg, ir.I32, ir.Attr{Sreg: r}) }
	row := x.op(ir.Add, reg(ir.TidY), x.op(ir.Mul, reg(ir.TidZ), reg(ir.NtidY)))
	return x.op(ir.Add, reg(ir.TidX), x.op(ir.Mul, row, reg(ir.NtidX)))
}
