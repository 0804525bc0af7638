package interp

import (
	"kudzu/internal/backend"
	"kudzu/internal/devrt"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
)

func decodeBra(d *decoder) step {
	o, _ := d.arg("label")
	to := d.c.fn.Body.Labels[o.Label].Inst
	return step{jumps: true, lane: func(t *thread) { t.pc = to }}
}

// decodeBrx jumps through a table. An index past it is an illegal instruction; the manual leaves it open.
func decodeBrx(d *decoder) step {
	o, _ := d.arg("table")
	body := d.c.fn.Body
	table := body.Tables[o.Table]
	var to []int32
	for _, l := range table.Labels {
		to = append(to, body.Labels[l].Inst)
	}
	a := d.src("a")
	return step{jumps: true, lane: func(t *thread) {
		i := a.get(t)
		if i >= uint64(len(to)) {
			t.fault(backend.FaultInstruction, "brx.idx past its table")
		}
		t.pc = to[i]
	}}
}

func decodeRet(*decoder) step  { return step{jumps: true, lane: (*thread).ret} }
func decodeExit(*decoder) step { return step{jumps: true, lane: (*thread).exit} }

// callSite is a decoded call: where its arguments come from and its results go.
type callSite struct {
	args []callArg
	outs []callArg
}

// callArg is one argument or result at the caller: a parameter variable, a register or a constant. A result that nobody wants has no registers.
type callArg struct {
	isVar bool
	off   uint32 // of the variable in the caller's frame
	size  uint32
	regs  registers
	imm   uint64
}

// registers are the slots of a register, of as many bytes each: a vector has one for each component.
type registers struct {
	slots []int32
	bytes uint32
}

// registersOf is a register of the body, or a component of one.
func (c *code) registersOf(reg int32, elem int8) registers {
	r := &c.fn.Body.Regs[reg]
	n := slotsOf(r.Type)
	all := registers{bytes: uint32(max(1, r.Type.Bytes())) / uint32(n)}
	first, count := c.slot(reg), n*max(1, int32(r.Vec))
	if elem >= 0 {
		first, count = first+n*int32(elem), n
	}
	for i := range count {
		all.slots = append(all.slots, first+i)
	}
	return all
}

// load and store move the registers of file to and from memory.
func (r *registers) load(file []uint64) []byte {
	m := make([]byte, r.bytes*uint32(len(r.slots)))
	for i, s := range r.slots {
		storeBytes(m[uint32(i)*r.bytes:][:r.bytes], file[s])
	}
	return m
}

func (r *registers) store(file []uint64, m []byte) {
	for i, s := range r.slots {
		if at := uint32(i) * r.bytes; at < uint32(len(m)) {
			file[s] = loadBytes(m[at:min(at+r.bytes, uint32(len(m)))])
		}
	}
}

// prototype is the signature that a call is checked against, nil if there is none.
func (d *decoder) prototype() *ptx.Func {
	callee, targets := &d.in.Args[1], &d.in.Args[3]
	switch {
	case callee.Kind == ptx.OpFunc:
		return d.u.mod.Func(callee.Name)
	case targets.Kind == ptx.OpProto && targets.Table >= 0:
		return d.c.fn.Body.Protos[targets.Table]
	case targets.Kind == ptx.OpFunc:
		return d.u.mod.Func(targets.Name)
	case targets.Kind == ptx.OpTable && len(d.c.fn.Body.Tables[targets.Table].Funcs) > 0:
		return d.u.mod.Func(d.c.fn.Body.Tables[targets.Table].Funcs[0])
	}
	return nil
}

func (d *decoder) callArgs(o *ptx.Operand, formals []*ptx.Var) []callArg {
	var list []callArg
	if o.Kind == ptx.None {
		return nil
	}
	elems := o.Elems
	if o.Kind != ptx.OpArgs {
		elems = []ptx.Operand{*o}
	}
	for i := range elems {
		e := &elems[i]
		switch e.Kind {
		case ptx.OpVar:
			off, ok := d.c.offsets[e.Var]
			if !ok {
				d.bad("argument %s is not a parameter of this function", e.Var.Name)
			}
			list = append(list, callArg{isVar: true, off: off + uint32(e.Imm), size: uint32(e.Var.Size)})
		case ptx.OpReg:
			list = append(list, callArg{regs: d.c.registersOf(e.Reg, e.Elem)})
		case ptx.OpImm:
			t := isa.B64
			if i < len(formals) {
				t = formals[i].Type
			}
			list = append(list, callArg{imm: d.immediate(e, t)})
		case ptx.OpSink:
			list = append(list, callArg{})
		default:
			d.bad("argument of kind %d", e.Kind)
		}
	}
	return list
}

// decodeCall is call: of a function of the module, of one the runtime provides, or through a register.
func decodeCall(d *decoder) step {
	in := d.in
	var results, params []*ptx.Var
	if f := d.prototype(); f != nil {
		results, params = f.Results, f.Params
	}
	site := &callSite{outs: d.callArgs(&in.Args[0], results), args: d.callArgs(&in.Args[2], params)}
	callee := &in.Args[1]
	if callee.Kind == ptx.OpFunc {
		if c := d.u.byName[callee.Name]; c != nil {
			return step{jumps: true, lane: func(t *thread) { t.call(c, site) }}
		}
		fn := builtins[callee.Name]
		if i := devrt.CallOf(callee.Name); fn == nil && i >= 0 {
			fn = deviceCalls[devrt.Calls[i].Name]
		}
		if fn != nil {
			d.u.ordered = true
			return step{jumps: true, lane: func(t *thread) { t.builtin(fn, site) }}
		}
		return d.unsupported("call of undefined function " + callee.Name)
	}
	a := d.source(callee, 0)
	return step{jumps: true, lane: func(t *thread) {
		id := a.get(t)
		c := t.w.b.g.u.byAddr[id]
		if c == nil {
			t.faultAddr(backend.FaultAddress, id, "call of something that is not a function")
		}
		t.call(c, site)
	}}
}

// call enters a function with its arguments copied into its frame.
func (t *thread) call(c *code, site *callSite) {
	if len(site.args) < len(c.fn.Params) || len(site.outs) < len(c.fn.Results) && len(site.outs) > 0 {
		t.fault(backend.FaultInstruction, "call of "+c.fn.Name+" with the wrong number of arguments")
	}
	caller := frame{r: t.r, code: t.code, pc: t.pc, fp: t.fp, sp: t.sp, call: site}
	t.calls = append(t.calls, caller)
	t.code, t.pc = c, 0
	t.r = make([]uint64, c.slots)
	t.fp = alignUp(t.sp, 16)
	t.grow(max(c.frame, 64)) // a call costs something, so that endless recursion ends
	for i, p := range c.fn.Params {
		bytes := site.args[i].value(t, caller.r, caller.fp)
		if regs, ok := c.formals[p]; ok {
			regs.store(t.r, bytes)
			continue
		}
		copy(t.local[t.fp+c.offsets[p]:][:p.Size], bytes)
	}
}

// value is an argument's bytes, from the caller's registers and frame.
func (a *callArg) value(t *thread, regs []uint64, fp uint32) []byte {
	switch {
	case a.isVar:
		return t.local[fp+a.off:][:a.size]
	case len(a.regs.slots) > 0:
		return a.regs.load(regs)
	}
	m := make([]byte, 8)
	store(m, a.imm)
	return m
}

// set writes a result at the caller, which is running.
func (a *callArg) set(t *thread, m []byte) {
	if !a.isVar {
		a.regs.store(t.r, m)
		return
	}
	n := copy(t.local[t.fp+a.off:][:a.size], m)
	clear(t.local[t.fp+a.off:][n:a.size])
}

// results copies what the callee returned; t is the caller again.
func (s *callSite) results(t *thread, from *code, callee []uint64, calleeFP uint32) {
	for i, p := range from.fn.Results {
		if i >= len(s.outs) {
			return
		}
		out := &s.outs[i]
		var bytes []byte
		if regs, ok := from.formals[p]; ok {
			bytes = regs.load(callee)
		} else {
			bytes = t.local[calleeFP+from.offsets[p]:][:p.Size]
		}
		out.set(t, bytes)
	}
}

// loadBytes and storeBytes read and write up to 8 bytes.
func loadBytes(m []byte) uint64 {
	var v uint64
	for i := min(len(m), 8) - 1; i >= 0; i-- {
		v = v<<8 | uint64(m[i])
	}
	return v
}

func storeBytes(m []byte, v uint64) {
	for i := range m {
		m[i] = byte(v)
		v >>= 8
	}
}

// Stack manipulation: addresses are in local memory.

func decodeStacksave(d *decoder) step {
	dst := d.dst("d")
	return step{lane: func(t *thread) { t.r[dst] = uint64(t.sp) }}
}

func decodeStackrestore(d *decoder) step {
	a := d.src("a")
	return step{lane: func(t *thread) {
		sp := a.get(t)
		if sp < uint64(t.fp) || sp > uint64(t.sp) {
			t.fault(backend.FaultStack, "stackrestore outside the frame")
		}
		t.sp = uint32(sp)
	}}
}

func decodeAlloca(d *decoder) step {
	dst, a := d.dst("d"), d.src("a")
	align := uint32(8)
	if d.present("align") {
		o, _ := d.arg("align")
		align = uint32(min(max(o.Imm, 1), 1<<16))
	}
	return step{lane: func(t *thread) {
		n := a.get(t)
		at := alignUp(t.sp, align)
		if n > maxLocal || at > maxLocal {
			t.fault(backend.FaultStack, "alloca")
		}
		t.grow(at - t.fp + uint32(n))
		t.r[dst] = uint64(at)
	}}
}
