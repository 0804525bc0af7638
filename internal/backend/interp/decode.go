package interp

import (
	"fmt"
	"math"

	"kudzu/internal/backend"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
	"kudzu/internal/softfloat"
)

// code is a decoded function.
type code struct {
	fn    *ptx.Func
	base  int32 // of its addresses within the unit: the order in which diverged threads run
	insts []inst
	slots int     // registers, scratch included
	regs  []int32 // slot of each register of the body, 0: none yet

	formals map[*ptx.Var]registers // parameters and results in registers

	// The frame in local memory: parameters, results, call parameters and local variables.
	frame   uint32
	offsets map[*ptx.Var]uint32
}

// inst is one decoded instruction.
type inst struct {
	step
	pred int32 // slot of the guard, -1: none
	not  bool
	pos  ptx.Pos
}

// unit is a kernel and every function it reaches.
type unit struct {
	mod    *ptx.Module
	line   func(int) int
	kernel string
	entry  *code
	codes  []*code
	byName map[string]*code
	byAddr map[uint64]*code

	vars   func(name string) (backend.Addr, uint64, error)
	funcID func(name string) uint64

	shared      map[*ptx.Var]uint32 // offsets of static variables; extern arrays are at sharedStatic
	sharedSize  uint32
	sharedAlign uint32
	reserved    bool // it asks for the system's part of shared memory
	params      map[*ptx.Var]uint32
	sigs        map[string]int // signatures of *.sync instructions
	ordered     bool           // what it computes may depend on the order in which blocks run
}

// decoder reads one instruction of a function.
type decoder struct {
	u  *unit
	c  *code
	in *ptx.Inst
}

// failure ends the decoding of a unit; it is recovered in newUnit.
type failure struct{ err error }

// unsupported says that this instruction cannot be executed.
func (d *decoder) unsupported(what string) step {
	line, _ := d.u.mod.Position(d.in.Pos)
	panic(failure{&backend.Unsupported{What: what, Kernel: d.u.kernel, Line: d.u.line(line)}})
}

// bad says that the text is not valid PTX; the checker should have said so before.
func (d *decoder) bad(format string, args ...any) {
	line, _ := d.u.mod.Position(d.in.Pos)
	panic(failure{fmt.Errorf("kernel %s, PTX line %d: %s", d.u.kernel, d.u.line(line), fmt.Sprintf(format, args...))})
}

// spelling is the instruction's mnemonic with its modifiers.
func (d *decoder) spelling() string {
	s := d.in.Form.Prefix()
	for _, m := range d.in.Mods {
		if m != 0 {
			s += m.String()
		}
	}
	return s
}

// has reports whether the word was written.
func (d *decoder) has(m isa.Mod) bool { return d.in.Has(m) }

// typ is the instruction's only type.
func (d *decoder) typ() isa.Type { return d.in.Type("type") }

// index finds an operand by the name the form gives it; -1 if the form has none or it was left out.
func (d *decoder) index(name string) int {
	for i, o := range d.in.Form.Operands() {
		if o.Name == name {
			if i >= len(d.in.Args) || d.in.Args[i].Kind == ptx.None {
				return -1
			}
			return i
		}
	}
	return -1
}

func (d *decoder) present(name string) bool { return d.index(name) >= 0 }

// arg is the operand called name and the type the form gives it.
func (d *decoder) arg(name string) (*ptx.Operand, isa.Type) {
	i := d.index(name)
	if i < 0 {
		d.bad("%s without operand %s", d.spelling(), name)
	}
	return &d.in.Args[i], d.in.Form.OperandType(i, d.in.Mods, d.u.mod.AddressSize)
}

// operand is a source: a register slot, a constant, or something that depends on the thread.
type operand struct {
	slot int32 // -1: imm; -2: fn
	imm  uint64
	fn   func(t *thread) uint64
}

func (o *operand) get(t *thread) uint64 {
	if o.slot >= 0 {
		return t.r[o.slot]
	}
	return o.slow(t)
}

func (o *operand) slow(t *thread) uint64 {
	if o.slot == -1 {
		return o.imm
	}
	return o.fn(t)
}

// get2 is the 128-bit value.
func (o *operand) get2(t *thread) [2]uint64 {
	if o.slot >= 0 {
		return [2]uint64{t.r[o.slot], t.r[o.slot+1]}
	}
	return [2]uint64{o.slow(t), 0}
}

func constant(v uint64) operand { return operand{slot: -1, imm: v} }

// src is the source operand called name.
func (d *decoder) src(name string) operand {
	o, t := d.arg(name)
	return d.source(o, t)
}

// srcOr is src, or a constant where the operand was left out.
func (d *decoder) srcOr(name string, v uint64) operand {
	if !d.present(name) {
		return constant(v)
	}
	return d.src(name)
}

// source reads an operand of type t. Predicates may be negated.
func (d *decoder) source(o *ptx.Operand, t isa.Type) operand {
	switch o.Kind {
	case ptx.OpReg:
		s := operand{slot: d.regSlot(o)}
		if o.Neg {
			slot := s.slot
			return operand{slot: -2, fn: func(t *thread) uint64 { return t.r[slot] ^ 1 }}
		}
		w, add := d.c.fn.Body.Regs[o.Reg].Type.Bits(), uint64(0)
		if o.Elem != ptx.ElemSel {
			add = o.Imm
		}
		if part := t.Bits() != 0 && w > t.Bits() && w <= 64; part || add != 0 { // the low part of a wider register, register + constant
			slot, m := s.slot, mask(w)
			if part {
				m = mask(t.Bits())
			}
			return operand{slot: -2, fn: func(t *thread) uint64 { return (t.r[slot] + add) & m }}
		}
		return s
	case ptx.OpImm:
		return constant(d.immediate(o, t))
	case ptx.OpSReg:
		read := d.special(o)
		if t.Bits() == 0 || t.Bits() >= o.SReg.Type().Bits() {
			return operand{slot: -2, fn: read}
		}
		m := mask(t.Bits())
		return operand{slot: -2, fn: func(t *thread) uint64 { return read(t) & m }}
	case ptx.OpVar:
		if o.Var != nil && o.Var.Type.Class() == isa.ClassOpaque && len(o.Var.Dims) == 0 {
			return d.handle(o)
		}
		return d.address(o.Var, o.Name, o.Imm)
	case ptx.OpFunc:
		return constant(d.u.funcID(o.Name))
	case ptx.OpVec:
		return d.pack(o, t)
	}
	d.bad("operand of kind %d of %s", o.Kind, d.spelling())
	return operand{}
}

// regSlot is the slot of a register or of an element of a vector register.
func (d *decoder) regSlot(o *ptx.Operand) int32 {
	s := d.c.slot(o.Reg)
	if o.Elem > 0 {
		s += int32(o.Elem) * slotsOf(d.c.fn.Body.Regs[o.Reg].Type)
	}
	return s
}

func slotsOf(t isa.Type) int32 {
	if t.Bits() == 128 {
		return 2
	}
	return 1
}

// pack joins the elements of {a, b, …} into one value of type t, first element lowest.
func (d *decoder) pack(o *ptx.Operand, t isa.Type) operand {
	n := len(o.Elems)
	w := t.Bits() / n
	if w == 0 || w*n != t.Bits() || w > 64 {
		d.bad("%d elements in a %s", n, t)
	}
	elems := make([]operand, n)
	for i := range o.Elems {
		elems[i] = d.source(&o.Elems[i], isa.BitsType(w))
	}
	return operand{slot: -2, fn: func(t *thread) uint64 {
		var v uint64
		for i := range elems {
			v |= (elems[i].get(t) & mask(w)) << (i * w)
		}
		return v
	}}
}

// mask is the low bits of a value.
func mask(bits int) uint64 {
	if bits >= 64 {
		return ^uint64(0)
	}
	return 1<<bits - 1
}

// signed is the low bits of v as a signed number.
func signed(v uint64, bits int) int64 { return int64(v<<(64-bits)) >> (64 - bits) }

// immediate converts a constant to the type the instruction asks for.
func (d *decoder) immediate(o *ptx.Operand, t isa.Type) uint64 {
	switch o.ImmKind {
	case ptx.ImmF64:
		switch t {
		case isa.F32, isa.F32x2:
			return uint64(math.Float32bits(float32(math.Float64frombits(o.Imm))))
		case isa.F16:
			return softfloat.F64.Convert(softfloat.F16, o.Imm, softfloat.Env{})
		case isa.BF16:
			return softfloat.F64.Convert(softfloat.BF16, o.Imm, softfloat.Env{})
		}
		if t.Bits() == 32 {
			return uint64(math.Float32bits(float32(math.Float64frombits(o.Imm))))
		}
		return o.Imm
	case ptx.ImmF32:
		if t == isa.F64 {
			return math.Float64bits(float64(math.Float32frombits(uint32(o.Imm))))
		}
		return o.Imm
	}
	if t == isa.Pred {
		if o.Imm != 0 {
			return 1
		}
		return 0
	}
	if t == isa.TypeNone {
		return o.Imm
	}
	return o.Imm & mask(t.Bits())
}

// dst is the slot of the destination called name; a sink is a scratch slot.
func (d *decoder) dst(name string) int32 {
	o, _ := d.arg(name)
	return d.dest(o)
}

func (d *decoder) dest(o *ptx.Operand) int32 {
	switch o.Kind {
	case ptx.OpReg:
		return d.regSlot(o)
	case ptx.OpSink:
		return 0
	case ptx.OpPair:
		return d.dest(&o.Elems[0])
	}
	d.bad("destination of kind %d of %s", o.Kind, d.spelling())
	return 0
}

// pair is the slots of d|p; the second is the scratch slot where it was left out.
func (d *decoder) pair(name string) (first, second int32) {
	o, _ := d.arg(name)
	if o.Kind == ptx.OpPair {
		return d.dest(&o.Elems[0]), d.dest(&o.Elems[1])
	}
	return d.dest(o), 0
}

// elements are the operands of a vector operand, or the operand itself.
func elements(o *ptx.Operand) []*ptx.Operand {
	if o.Kind != ptx.OpVec {
		return []*ptx.Operand{o}
	}
	list := make([]*ptx.Operand, len(o.Elems))
	for i := range o.Elems {
		list[i] = &o.Elems[i]
	}
	return list
}

// dests and srcs are the slots or sources of a vector operand.
func (d *decoder) dests(name string) []int32 {
	o, _ := d.arg(name)
	var list []int32
	for _, e := range elements(o) {
		list = append(list, d.dest(e))
	}
	return list
}

func (d *decoder) srcs(name string) []operand {
	o, t := d.arg(name)
	var list []operand
	for _, e := range elements(o) {
		list = append(list, d.source(e, t))
	}
	return list
}

// un, bin and tern are the common shapes: d = f(a), f(a, b), f(a, b, c).
func (d *decoder) un(f func(a uint64) uint64) step {
	dst, a := d.dst("d"), d.src("a")
	return step{lane: func(t *thread) { t.r[dst] = f(a.get(t)) }}
}

func (d *decoder) bin(f func(a, b uint64) uint64) step {
	dst, a, b := d.dst("d"), d.src("a"), d.src("b")
	return step{lane: func(t *thread) { t.r[dst] = f(a.get(t), b.get(t)) }}
}

func (d *decoder) tern(f func(a, b, c uint64) uint64) step {
	dst, a, b, c := d.dst("d"), d.src("a"), d.src("b"), d.src("c")
	return step{lane: func(t *thread) { t.r[dst] = f(a.get(t), b.get(t), c.get(t)) }}
}

// halves lifts an operation on 16-bit values to a packed pair of them; words the same for 32-bit values.
func halves1(f func(a uint64) uint64) func(a uint64) uint64 {
	return func(a uint64) uint64 { return f(a&0xffff) | f(a>>16&0xffff)<<16 }
}

func halves2(f func(a, b uint64) uint64) func(a, b uint64) uint64 {
	return func(a, b uint64) uint64 { return f(a&0xffff, b&0xffff) | f(a>>16&0xffff, b>>16&0xffff)<<16 }
}

func halves3(f func(a, b, c uint64) uint64) func(a, b, c uint64) uint64 {
	return func(a, b, c uint64) uint64 {
		return f(a&0xffff, b&0xffff, c&0xffff) | f(a>>16&0xffff, b>>16&0xffff, c>>16&0xffff)<<16
	}
}

func words2(f func(a, b uint64) uint64) func(a, b uint64) uint64 {
	return func(a, b uint64) uint64 { return f(a&0xffffffff, b&0xffffffff) | f(a>>32, b>>32)<<32 }
}

func words3(f func(a, b, c uint64) uint64) func(a, b, c uint64) uint64 {
	return func(a, b, c uint64) uint64 {
		return f(a&0xffffffff, b&0xffffffff, c&0xffffffff) | f(a>>32, b>>32, c>>32)<<32
	}
}
