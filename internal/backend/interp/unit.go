package interp

import (
	"fmt"
	"runtime/debug"

	"kudzu/internal/backend"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
)

// maxShared is how much shared memory a block may have at most.
const maxShared = 1<<rankShift - 1

// scratch is how many slots at the beginning of every register file are written by sinks and never read.
const scratch = 2

// newUnit decodes a kernel and everything in its module. The error is *backend.Unsupported where the kernel or a function it
// may reach uses something this backend cannot execute.
func newUnit(m *ptx.Module, kernel string, u *unit) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case failure:
			err = r.err
		default: // a bug of ours fails this kernel, not the application
			err = fmt.Errorf("kernel %s: BUG in the interpreter: %v\n%s", kernel, r, debug.Stack())
		}
	}()
	u.mod, u.kernel = m, kernel
	u.byName, u.byAddr = map[string]*code{}, map[uint64]*code{}
	u.shared, u.params, u.sigs = map[*ptx.Var]uint32{}, map[*ptx.Var]uint32{}, map[string]int{}
	if m.AddressSize == 32 {
		return &backend.Unsupported{What: ".address_size 32", Kernel: kernel}
	}
	for _, fn := range m.Funcs {
		if fn.Body == nil || fn.Kind == ptx.Entry && fn.Name != kernel {
			continue
		}
		c := &code{fn: fn}
		u.codes = append(u.codes, c)
		u.byName[fn.Name] = c
		u.byAddr[u.funcID(fn.Name)] = c
		if fn.Name == kernel && fn.Kind == ptx.Entry {
			u.entry = c
		}
	}
	for _, a := range m.Aliases {
		if c := u.byName[a.Of]; c != nil {
			u.byName[a.Name] = c
			u.byAddr[u.funcID(a.Name)] = c
		}
	}
	if u.entry == nil {
		return fmt.Errorf("kernel %s: %w", kernel, backend.ErrNotFound)
	}
	u.placeShared()
	for _, p := range u.entry.fn.Params {
		u.params[p] = uint32(p.Offset)
	}
	base := int32(0)
	for _, c := range u.codes {
		c.base = base
		base += int32(len(c.fn.Body.Insts)) + 1
		u.layoutFrame(c)
		if c.frame > maxLocal {
			return fmt.Errorf("function %s uses too much local memory: more than %d bytes", c.fn.Name, maxLocal)
		}
	}
	if u.sharedSize > maxShared {
		return fmt.Errorf("kernel %s uses too much shared memory: more than %d bytes", kernel, maxShared)
	}
	for _, c := range u.codes {
		u.decode(c)
	}
	return nil
}

// placeShared gives every static shared variable its offset. Unsized extern arrays share the place after them.
func (u *unit) placeShared() {
	u.sharedAlign = 16
	var dynamic []*ptx.Var
	place := func(v *ptx.Var) {
		if v.Space != ptx.SpaceShared {
			return
		}
		u.sharedAlign = max(u.sharedAlign, uint32(v.Align))
		if v.Size == 0 && v.Linkage == ptx.Extern {
			dynamic = append(dynamic, v)
			return
		}
		u.sharedSize = alignUp(u.sharedSize, uint32(v.Align))
		u.shared[v] = u.sharedSize
		u.sharedSize = grown(u.sharedSize, v.Size)
	}
	for _, v := range u.mod.Vars {
		place(v)
	}
	for _, c := range u.codes {
		for _, v := range c.fn.Body.Vars {
			place(v)
		}
	}
	align := uint32(16)
	for _, v := range dynamic {
		align = max(align, uint32(v.Align))
	}
	u.sharedSize = alignUp(u.sharedSize, align)
	for _, v := range dynamic {
		u.shared[v] = u.sharedSize
	}
}

// grown is at + n, or, far above every limit, a number that says so.
func grown(at uint32, n uint64) uint32 {
	return uint32(min(uint64(at)+n, 1<<30))
}

func alignUp(n, align uint32) uint32 {
	if align == 0 {
		return n
	}
	return (n + align - 1) / align * align
}

// layoutFrame places a function's parameters and local variables in its frame of local memory.
func (u *unit) layoutFrame(c *code) {
	c.offsets = map[*ptx.Var]uint32{}
	place := func(v *ptx.Var) {
		c.frame = alignUp(c.frame, uint32(max(v.Align, v.Type.Bytes())))
		c.offsets[v] = c.frame
		c.frame = grown(c.frame, v.Size)
	}
	if c.fn.Kind == ptx.DeviceFunc {
		for _, v := range c.fn.Results {
			place(v)
		}
		for _, v := range c.fn.Params {
			place(v)
		}
	}
	for _, v := range c.fn.Body.Vars {
		if v.Space == ptx.SpaceLocal || v.Space == ptx.SpaceParam {
			place(v)
		}
	}
	// Module-level local variables belong to the kernel's frame, at the bottom of the stack.
	if c == u.entry {
		for _, v := range u.mod.Vars {
			if v.Space == ptx.SpaceLocal {
				place(v)
			}
		}
	}
	c.frame = alignUp(c.frame, 16)
}

// decode fills in c.insts.
func (u *unit) decode(c *code) {
	d := &decoder{u: u, c: c}
	body := c.fn.Body
	c.regs = make([]int32, len(body.Regs))
	c.slots = scratch
	c.insts = make([]inst, len(body.Insts)+1)
	for i := range body.Insts {
		in := &body.Insts[i]
		d.in = in
		x := &c.insts[i]
		x.pos, x.pred = in.Pos, -1
		if in.Pred >= 0 {
			x.pred, x.not = c.slot(in.Pred), in.Not
		}
		fn := decoders[in.Op()]
		if fn == nil {
			d.unsupported(d.spelling() + reason(in.Op()))
		}
		x.step = fn(d)
	}
	c.placeFormals()
	if c.slots > maxSlots {
		d.in = &body.Insts[0]
		d.unsupported(fmt.Sprintf("function %s with more than %d registers", c.fn.Name, maxSlots))
	}
	// Falling off the end returns, as ret does.
	c.insts[len(body.Insts)] = inst{pred: -1, pos: c.fn.End, step: step{jumps: true, lane: (*thread).ret}}
}

// reason is why an op cannot be executed.
func reason(op isa.Op) string {
	if why := unsupportedOps[op]; why != "" {
		return " (" + why + ")"
	}
	return ""
}

// signature numbers a spelling, so that *.sync instructions can tell whether they are the same.
func (d *decoder) signature() int {
	s := d.spelling()
	n, ok := d.u.sigs[s]
	if !ok {
		n = len(d.u.sigs) + 1
		d.u.sigs[s] = n
	}
	return n
}

// address is where a variable is: a constant, except in the frame of a function.
func (d *decoder) address(v *ptx.Var, name string, off uint64) operand {
	if v == nil {
		return constant(d.module(name) + off)
	}
	switch v.Space {
	case ptx.SpaceShared:
		at, ok := d.u.shared[v]
		if !ok {
			d.bad("shared variable %s has no place", v.Name)
		}
		return constant(uint64(at) + off)
	case ptx.SpaceLocal, ptx.SpaceParam:
		if at, ok := d.u.params[v]; ok {
			return constant(uint64(at) + off)
		}
		if at, ok := d.c.offsets[v]; ok {
			o := uint64(at) + off
			return operand{slot: -2, fn: func(t *thread) uint64 { return uint64(t.fp) + o }}
		}
		if at, ok := d.u.entry.offsets[v]; ok { // a module-level local variable: the kernel's frame is at 0
			return constant(uint64(at) + off)
		}
	case ptx.SpaceGlobal, ptx.SpaceConst:
		return constant(d.module(v.LinkName()) + off)
	}
	d.bad("address of %s", v.Name)
	return operand{}
}

// module is the address of a module variable or function.
func (d *decoder) module(name string) uint64 {
	if a, _, err := d.u.vars(name); err == nil {
		return uint64(a)
	}
	if f := d.u.mod.Func(name); f != nil {
		return d.u.funcID(name)
	}
	d.bad("variable %s has no address", name)
	return 0
}

// spaceOf is the state space a memory instruction names in a slot, or generic.
func (d *decoder) spaceOf(slot string) ptx.Space {
	switch m := d.in.Mod(slot); m {
	case 0:
		if slot == "space" && d.has(isa.ModGlobal) {
			return ptx.SpaceGlobal
		}
		return ptx.SpaceGeneric
	case isa.ModConst:
		return ptx.SpaceConst
	case isa.ModGlobal:
		return ptx.SpaceGlobal
	case isa.ModLocal:
		return ptx.SpaceLocal
	case isa.ModParam, isa.ModParamEntry, isa.ModParamFunc:
		return ptx.SpaceParam
	case isa.ModShared, isa.ModSharedCta, isa.ModSharedCluster:
		return ptx.SpaceShared
	default:
		d.bad("state space %s", m)
	}
	return 0
}

// maxSlots bounds a thread's registers: what a function uses, not what it declares. PyTorch's power of complex numbers has more than 16,384.
const maxSlots = 1 << 15

// slot is where register i of the body lives; it gets its place at the first use.
func (c *code) slot(i int32) int32 {
	if c.regs[i] == 0 {
		r := &c.fn.Body.Regs[i]
		c.regs[i] = int32(c.slots)
		c.slots += int(slotsOf(r.Type)) * max(1, int(r.Vec))
	}
	return c.regs[i]
}

// placeFormals gives parameters and results in registers their slots, even if the body never names them. The parser enters them first
// among the body's registers.
func (c *code) placeFormals() {
	c.formals = map[*ptx.Var]registers{}
	next := int32(0)
	for _, list := range [][]*ptx.Var{c.fn.Results, c.fn.Params} {
		for _, v := range list {
			if v.Space != ptx.SpaceReg {
				continue
			}
			c.formals[v] = registers{}
			if v.Name != "_" {
				c.formals[v] = c.registersOf(next, -1)
				next++
			}
		}
	}
}
