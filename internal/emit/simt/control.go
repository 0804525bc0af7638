package simt

import (
	"fmt"
	"strings"

	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

func emitBr(e *emitter, in *ir.Inst) { e.Br(e.labels[in.Targets[0]]) }

func emitCondBr(e *emitter, in *ir.Inst) {
	if in.Targets[0] == in.Targets[1] {
		e.Br(e.labels[in.Targets[0]])
		return
	}
	e.CondBr(e.val(in.Args[0]), e.labels[in.Targets[0]], e.labels[in.Targets[1]])
}

func emitSwitch(e *emitter, in *ir.Inst) { e.switchOn(in, e.val(in.Args[0])) }

func (e *emitter) switchOn(in *ir.Inst, v ll.Val) {
	last := len(in.Targets) - 1
	var b strings.Builder
	for i, t := range in.Targets[:last] {
		fmt.Fprintf(&b, " i32 %d, label %%%s", i, e.labels[t])
	}
	e.Do("switch %s, label %%%s [%s ]", v, e.labels[in.Targets[last]], b.String())
}

func emitRet(e *emitter, in *ir.Inst) {
	switch len(in.Args) {
	case 0:
		e.Ret(ll.Val{})
	case 1:
		e.Ret(e.clean(in.Args[0]))
	default:
		t := resultType(e.f.Results)
		x := ll.Poison(t)
		for i, a := range in.Args {
			x = e.InsertValue(x, e.clean(a), i)
		}
		e.Ret(x)
	}
}

// emitExit ends the thread: a kernel returns, a function has no such way.
func emitExit(e *emitter, in *ir.Inst) {
	if e.f.Kernel {
		e.Ret(ll.Val{})
		return
	}
	e.t.exit(e)
}

func emitTrap(e *emitter, in *ir.Inst) {
	e.Call("void", "llvm.trap")
	e.Unreachable()
}

// emitCall calls a function of the module.
func emitCall(e *emitter, in *ir.Inst) {
	e.returned(in, "@"+e.symbol(in.Sym), in.Args)
}

// returned calls f and sets the results.
func (e *emitter) returned(in *ir.Inst, f string, args []*ir.Value) {
	var texts []string
	for _, a := range args {
		x := e.val(a)
		if in.Op != ir.Mma { // which computes with it, and gives a NaN of its own for one
			x = e.clean(a)
		}
		texts = append(texts, x.String())
	}
	var types []ir.Type
	for _, r := range in.Results {
		types = append(types, r.Type)
	}
	ret := resultType(types)
	text := fmt.Sprintf("call %s %s(%s)", ret, f, strings.Join(texts, ", "))
	switch len(in.Results) {
	case 0:
		e.Do("%s", text)
	case 1:
		e.result(in, e.Op(ret, "%s", text))
	default:
		x := e.Op(ret, "%s", text)
		for i, r := range in.Results {
			e.set(r, e.ExtractValue(x, i))
		}
	}
}

// emitCallInd calls through a pointer.
func emitCallInd(e *emitter, in *ir.Inst) {
	p := e.IntToPtr(e.val(in.Args[0]), "ptr")
	e.returned(in, p.S, in.Args[1:])
}

// emitNever is for operations that passes make which this code does not go through.
func emitNever(e *emitter, in *ir.Inst) {
	panic("BUG: operation " + in.Op.String() + " in code for one thread a lane")
}

// emitMissing is for what no target has a common way for.
func emitMissing(e *emitter, in *ir.Inst) { e.fail("%s", in.Op) }
