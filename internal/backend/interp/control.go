package interp

import (
	"kudzu/internal/backend"
	"kudzu/internal/ptx"
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

// callArg is one argument or result at the caller: a parameter variable, or a register or constant.
type callArg struct {
	isVar bool
	off   uint32 // of the variable in the caller's frame
	size  uint32
	src   operand
	slot  int32
}

func (d *decoder) callArgs(o *ptx.Operand) []callArg {
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
			t := d.c.fn.Body.Regs[e.Reg].Type
			list = append(list, callArg{slot: d.regSlot(e), src: operand{slot: d.regSlot(e)}, size: uint32(t.Bytes())})
		case ptx.OpImm:
			list = append(list, callArg{src: constant(e.Imm), size: 8})
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
	site := &callSite{outs: d.callArgs(&in.Args[0]), args: d.callArgs(&in.Args[2])}
	callee := &in.Args[1]
	if callee.Kind == ptx.OpFunc {
		if c := d.u.byName[callee.Name]; c != nil {
			return step{jumps: true, lane: func(t *thread) { t.call(c, site) }}
		}
		fn := builtins[callee.Name]
		if fn == nil {
			fn = deviceCalls[backend.DeviceRuntime(callee.Name)]
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
		a := &site.args[i]
		if slot, ok := c.regParam(p); ok {
			t.r[slot] = a.value(t, caller.r, caller.fp, uint32(p.Size))
			continue
		}
		to := t.local[t.fp+c.offsets[p]:][:p.Size]
		if a.isVar {
			copy(to, t.local[caller.fp+a.off:][:a.size])
		} else {
			storeBytes(to, readOperand(&a.src, t, caller.r))
		}
	}
}

// value reads an argument as a number of size bytes.
func (a *callArg) value(t *thread, callerRegs []uint64, callerFP, size uint32) uint64 {
	if a.isVar {
		return loadBytes(t.local[callerFP+a.off:][:min(a.size, size)])
	}
	return readOperand(&a.src, t, callerRegs)
}

// readOperand reads an operand of the caller while the callee's registers are current.
func readOperand(o *operand, t *thread, regs []uint64) uint64 {
	if o.slot >= 0 {
		return regs[o.slot]
	}
	return o.slow(t)
}

// results copies what the callee returned; t is the caller again.
func (s *callSite) results(t *thread, from *code, callee []uint64, calleeFP uint32) {
	for i, p := range from.fn.Results {
		if i >= len(s.outs) {
			return
		}
		out := &s.outs[i]
		var bytes []byte
		if slot, ok := from.regParam(p); ok {
			bytes = make([]byte, 8)
			store(bytes, callee[slot])
		} else {
			bytes = t.local[calleeFP+from.offsets[p]:][:p.Size]
		}
		if out.isVar {
			copy(t.local[t.fp+out.off:][:out.size], bytes)
		} else {
			t.r[out.slot] = loadBytes(bytes)
		}
	}
}

// regParam is the slot of a parameter that was declared in the register space.
func (c *code) regParam(v *ptx.Var) (int32, bool) {
	if v.Space != ptx.SpaceReg {
		return 0, false
	}
	for i, r := range c.fn.Body.Regs {
		if r.Num < 0 && r.Name == v.Name {
			return c.regs[i], true
		}
	}
	return 0, true
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
