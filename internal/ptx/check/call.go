package check

import (
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
)

// call checks a call against the callee's or the prototype's signature.
func (c *checker) call(in *ptx.Inst) {
	callee, targets := &in.Args[1], &in.Args[3]
	var sig *ptx.Func
	switch {
	case callee.Kind == ptx.OpFunc:
		sig = c.m.Func(callee.Name)
		if sig != nil && sig.Kind == ptx.Entry {
			c.errorf(in.Pos, "Call to entry function '%s'", callee.Name)
			return
		}
	case targets.Kind == ptx.OpProto && targets.Table < 0:
		return // not found, and reported
	case targets.Kind == ptx.OpProto:
		sig = c.b.Protos[targets.Table]
	case targets.Kind == ptx.OpTable:
		for _, n := range c.b.Tables[targets.Table].Funcs {
			sig = c.m.Func(n)
		}
	case targets.Kind == ptx.OpFunc:
		sig = c.m.Func(targets.Name)
	default:
		c.errorf(in.Pos, "Indirect call requires call prototype")
		return
	}
	if callee.Kind == ptx.OpReg && !isIntOrBits(c.b.Regs[callee.Reg].Type) {
		c.mismatch(in)
		return
	}
	if sig == nil {
		return
	}
	c.callList(in, &in.Args[0], sig.Results, sig.Name, "return")
	c.callList(in, &in.Args[2], sig.Params, sig.Name, "input")
}

func (c *checker) callList(in *ptx.Inst, args *ptx.Operand, formals []*ptx.Var, name, what string) {
	n := 0
	if args.Kind == ptx.OpArgs {
		n = len(args.Elems)
	}
	if n != len(formals) {
		c.errorf(in.Pos, "Number of %s parameters does not match the prototype of '%s'", what, name)
		return
	}
	for i, f := range formals {
		if !c.callArg(&args.Elems[i], f, what == "return") {
			c.errorf(args.Elems[i].Pos, "Type of %s parameter %d does not match the prototype of '%s'", what, i+1, name)
		}
	}
}

func (c *checker) callArg(a *ptx.Operand, f *ptx.Var, result bool) bool {
	switch a.Kind {
	case ptx.OpVar:
		v := a.Var
		return v != nil && v.Space == ptx.SpaceParam && v.Size == f.Size && (len(f.Dims) == 0 || v.Align == f.Align) && (f.Size == 0 || v.Type.Bytes() == f.Type.Bytes() || len(v.Dims) > 0 || len(f.Dims) > 0)
	case ptx.OpReg:
		r := &c.b.Regs[a.Reg]
		if r.Type == isa.Pred || f.Type == isa.Pred {
			return r.Type == f.Type
		}
		return len(f.Dims) == 0 && r.Type.Bits()*max(int(r.Vec), 1) == f.Type.Bits()*max(f.Vec, 1)
	case ptx.OpImm:
		return !result && len(f.Dims) == 0
	case ptx.OpSink:
		return result
	}
	return false
}
