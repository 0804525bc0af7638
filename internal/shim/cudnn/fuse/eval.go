package fuse

import "strings"

// eval writes what computes a value, once, and is its register.
func (w *writer) eval(v Value) string {
	if w.value[v] != "" {
		return w.value[v]
	}
	n := &w.p.nodes[v]
	var r string
	switch n.from {
	case fromTensor:
		r = w.load(n.slot)
	case fromIndex:
		r = w.offset[n.slot]
	case fromOp:
		args := make([]string, len(n.args))
		for i, a := range n.args {
			args[i] = w.eval(a)
		}
		r = w.operation(n, args)
	case fromScalar, fromConst, fromReduced:
		panic("BUG: a value that is known before")
	}
	w.value[v] = r
	return r
}

func (w *writer) operation(n *node, args []string) string {
	in := w.p.nodes[n.args[len(n.args)-1]].kind // all arguments have it, but the first of Select
	switch n.op {
	case convert:
		return w.convert(n.kind, in, args[0])
	case Select:
		return w.choose(n.kind, args)
	case Uniform:
		r := w.reg("f")
		w.call("uniform", r, "b32", args, "b64")
		return r
	}
	return w.apply(n.op, n.kind, in, args)
}

// apply is an operation on arguments of one kind.
func (w *writer) apply(op Op, to, in Kind, args []string) string {
	r := w.reg(kinds[to].reg)
	instruction := ops[op].whole
	if kinds[in].floating {
		instruction = ops[op].float
	}
	if instruction == "" {
		bits := map[Kind]string{F32: "b32", F64: "b64"}[in]
		w.call(ops[op].name+"_"+kinds[in].ptx, r, bits, args, bits)
		return r
	}
	w.line("%s %s, %s;", strings.ReplaceAll(instruction, "%", kinds[in].ptx), r, strings.Join(args, ", "))
	return r
}

// choose is the second argument where the first is true, else the third.
func (w *writer) choose(k Kind, args []string) string {
	r := w.reg(kinds[k].reg)
	if k != Bool {
		w.line("selp.%s %s, %s, %s, %s;", kinds[k].ptx, r, args[1], args[2], args[0])
		return r
	}
	yes, not, no := w.reg("p"), w.reg("p"), w.reg("p")
	w.line("and.pred %s, %s, %s;", yes, args[0], args[1])
	w.line("not.pred %s, %s;", not, args[0])
	w.line("and.pred %s, %s, %s;", no, not, args[2])
	w.line("or.pred %s, %s, %s;", r, yes, no)
	return r
}

// convert changes the kind of a value. Whole numbers take the nearest.
func (w *writer) convert(to, from Kind, v string) string {
	if to == from {
		return v
	}
	r := w.reg(kinds[to].reg)
	a, b := kinds[to], kinds[from]
	switch {
	case from == Bool:
		one, zero := w.constant(to, 1), w.constant(to, 0)
		w.line("selp.%s %s, %s, %s, %s;", a.ptx, r, one, zero, v)
	case to == Bool && b.floating:
		w.line("setp.neu.%s %s, %s, %s;", b.ptx, r, v, w.constant(from, 0))
	case to == Bool:
		w.line("setp.ne.%s %s, %s, 0;", b.ptx, r, v)
	case a.floating && b.floating:
		rounding := ""
		if a.size < b.size {
			rounding = ".rn"
		}
		w.line("cvt%s.%s.%s %s, %s;", rounding, a.ptx, b.ptx, r, v)
	case a.floating:
		w.line("cvt.rn.%s.%s %s, %s;", a.ptx, b.ptx, r, v)
	case b.floating:
		w.line("cvt.rni.%s.%s %s, %s;", a.ptx, b.ptx, r, v)
	default:
		w.line("cvt.%s.%s %s, %s;", a.ptx, b.ptx, r, v)
	}
	return r
}
