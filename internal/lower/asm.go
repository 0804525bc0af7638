package lower

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kudzu/internal/ir"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
)

// keptPure are instructions that are functions of their operands: kept ones may be moved and joined.
var keptPure = []isa.Op{
	isa.Ex2, isa.Lg2, isa.Sin, isa.Cos, isa.Tanh, isa.Rsqrt, isa.Rcp, isa.Sqrt, isa.Div, isa.Cvt, isa.MbarrierPendingCount,
	isa.ClusterlaunchcontrolQueryCancel, isa.Mapa, isa.Getctarank, isa.Createpolicy,
}

// keptInOut are instructions that read what their destination holds.
var keptInOut = []isa.Op{isa.WgmmaMmaAsync, isa.WgmmaMmaAsyncSp}

// kept is an instruction being written as text, with its operands.
type kept struct {
	x       *inst
	b       strings.Builder
	dests   []*ptx.Operand // registers it writes, in the order of $0 …
	results []ir.Type
	args    []*ir.Value // numbered behind the results once all are known
}

// keep makes an Asm of the instruction: its text as it is, registers replaced by the numbers of results and arguments.
func (x *inst) keep() {
	k := &kept{x: x}
	for i := range x.Args {
		if x.ops[i].Dest {
			k.collect(&x.Args[i])
		}
	}
	tied := 0
	if slices.Contains(keptInOut, x.Op()) {
		for i, d := range k.dests {
			k.args = append(k.args, x.cast(x.read(x.regVar(d)), k.results[i]))
		}
		tied = len(k.dests)
	}
	k.text(x.Form.Prefix())
	for _, m := range x.Mods {
		k.text(m.String())
	}
	sep := " "
	next := 0
	for i := range x.Args {
		if x.Args[i].Kind == ptx.None {
			continue
		}
		k.text(sep)
		sep = ", "
		if x.ops[i].Dest {
			next = k.dest(&x.Args[i], next)
		} else {
			k.source(&x.Args[i])
		}
	}
	op := ir.Asm
	if slices.Contains(keptPure, x.Op()) {
		op = ir.AsmPure
	}
	in := x.b.EmitN(op, k.results, ir.Attr{Sym: k.b.String(), Tied: uint8(tied)}, k.args...)
	for i, d := range k.dests {
		r := x.regVar(d)
		v := x.cast(in.Results[i], x.vars[r])
		if x.choose != nil {
			v = x.sel(x.choose, v, x.read(r))
		}
		x.write(r, v)
	}
}

// text writes words of the instruction; a dollar of a name is doubled.
func (k *kept) text(s string) { k.b.WriteString(strings.ReplaceAll(s, "$", "$$")) }

// regType is the type a register has in the text: its declaration's.
func (x *inst) regType(o *ptx.Operand) ir.Type {
	t := x.fr.body.Regs[o.Reg].Type
	if t == isa.F32 || t == isa.F64 || t == isa.Pred {
		return irTypes[t]
	}
	return intOf(irTypes[t].Bits())
}

// collect finds the registers of a destination.
func (k *kept) collect(o *ptx.Operand) {
	switch o.Kind {
	case ptx.OpReg:
		k.dests = append(k.dests, o)
		k.results = append(k.results, k.x.regType(o))
	case ptx.OpVec, ptx.OpPair:
		for i := range o.Elems {
			k.collect(&o.Elems[i])
		}
	}
}

// dest writes a destination whose registers are the results from next on.
func (k *kept) dest(o *ptx.Operand, next int) int {
	switch o.Kind {
	case ptx.OpReg:
		fmt.Fprintf(&k.b, "$%d", next)
		return next + 1
	case ptx.OpVec, ptx.OpPair:
		open, sep, end := "{", ", ", "}"
		if o.Kind == ptx.OpPair {
			open, sep, end = "", "|", ""
		}
		k.b.WriteString(open)
		for i := range o.Elems {
			if i > 0 {
				k.b.WriteString(sep)
			}
			next = k.dest(&o.Elems[i], next)
		}
		k.b.WriteString(end)
		return next
	case ptx.OpSink:
		k.b.WriteString("_")
		return next
	}
	k.x.fail("this destination of %s", k.x.spelling())
	return next
}

// arg writes a value's number.
func (k *kept) arg(v *ir.Value) {
	fmt.Fprintf(&k.b, "$%d", len(k.dests)+len(k.args))
	k.args = append(k.args, v)
}

func (k *kept) list(open string, elems []ptx.Operand, end string) {
	k.b.WriteString(open)
	for i := range elems {
		if i > 0 {
			k.b.WriteString(", ")
		}
		k.source(&elems[i])
	}
	k.b.WriteString(end)
}

// source writes an operand that is read.
func (k *kept) source(o *ptx.Operand) {
	x := k.x
	switch o.Kind {
	case ptx.OpReg:
		k.register(o)
	case ptx.OpSReg:
		k.text(o.SReg.String())
		if o.Elem >= 0 {
			k.text("." + "xyzw"[o.Elem:o.Elem+1])
		}
	case ptx.OpImm:
		k.imm(o)
	case ptx.OpVar:
		k.variable(o)
	case ptx.OpAddr:
		k.b.WriteString("[")
		switch o.Base {
		case ptx.OpReg:
			r := ptx.Operand{Kind: ptx.OpReg, Reg: o.Reg, Elem: o.Elem}
			k.register(&r)
			k.offset(o)
		case ptx.OpVar:
			k.variable(o)
		case ptx.OpImm:
			k.imm(o)
		default:
			x.fail("this address of %s", x.spelling())
		}
		k.b.WriteString("]")
		if o.Unified {
			k.text(".unified")
		}
	case ptx.OpVec:
		k.list("{", o.Elems, "}")
	case ptx.OpTexAddr:
		k.list("[", o.Elems, "]")
	case ptx.OpSink:
		k.b.WriteString("_")
	default:
		x.fail("this operand of %s", x.spelling())
	}
}

func (k *kept) register(o *ptx.Operand) {
	x := k.x
	v := x.cast(x.regValue(o), x.regType(o))
	if o.Neg {
		v = x.not(v)
	}
	if o.Minus {
		k.b.WriteString("-")
	}
	k.arg(v)
}

// variable writes a module's variable by its name, which stays; those of the block or the thread have places of their own.
func (k *kept) variable(o *ptx.Operand) {
	x := k.x
	v := o.Var
	if v != nil && (v.Role != ptx.ModuleVar && v.Symbol == "" || v.Space == ptx.SpaceShared) {
		if isOpaque(v) && v.Role == ptx.KernelParam {
			k.arg(x.opaque(o))
			return
		}
		k.arg(x.variableAddr(o))
		return
	}
	name := o.Name
	if v != nil {
		name = v.LinkName()
	}
	x.module(name)
	k.text(name)
	k.offset(o)
}

func (k *kept) offset(o *ptx.Operand) {
	if o.Imm != 0 {
		k.text("+" + strconv.FormatInt(int64(o.Imm), 10))
	}
}

func (k *kept) imm(o *ptx.Operand) {
	switch o.ImmKind {
	case ptx.ImmF32:
		k.text(fmt.Sprintf("0f%08X", uint32(o.Imm)))
	case ptx.ImmF64:
		k.text(fmt.Sprintf("0d%016X", o.Imm))
	case ptx.ImmUint:
		k.text(strconv.FormatUint(o.Imm, 10) + "U")
	default:
		k.text(strconv.FormatInt(int64(o.Imm), 10))
	}
}
