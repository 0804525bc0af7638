package simt

import (
	"fmt"
	"strconv"

	"kudzu/internal/emit"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// typ is a value's LLVM type.
func typ(t ir.Type) ll.Type { return emit.Type(t) }

func emitPhi(e *emitter, in *ir.Inst) {
	p := e.Phi(typ(in.Results[0].Type))
	e.phis = append(e.phis, &pendingPhi{in, p})
	e.set(in.Results[0], p.Val)
}

func emitCopy(e *emitter, in *ir.Inst) { e.result(in, e.val(in.Args[0])) }

// emitUndef is zero: an undefined value in LLVM could make a branch on it undefined behaviour.
func emitUndef(e *emitter, in *ir.Inst) {
	e.result(in, emit.Const(in.Results[0].Type, 0))
}

func emitParam(e *emitter, in *ir.Inst) {
	e.result(in, e.t.param(e, int(in.Off), in.Results[0].Type))
}

func emitParamAddr(e *emitter, in *ir.Inst) { e.result(in, e.t.paramAddr(e, int(in.Off))) }

func emitVarAddr(e *emitter, in *ir.Inst) { e.result(in, e.t.variable(e, in)) }

// emitLocalAddr is a slot of the frame; without a name where the frame ends, or with StackEnd where the stack does.
func emitLocalAddr(e *emitter, in *ir.Inst) {
	off := in.Off
	if in.Sym == "" {
		off += int64(e.f.LocalBytes)
		if in.StackEnd {
			off += int64(e.extra(e.f))
		}
	}
	for _, s := range e.f.Slots {
		if s.Name == in.Sym {
			off += int64(s.Offset)
		}
	}
	if e.local.IsZero() { // nothing is kept there
		e.result(in, ll.Int("i64", off))
		return
	}
	e.result(in, e.Add(e.local, ll.Int("i64", off)))
}

// emitSharedAddr is an address in the kernel's static array, or the dynamic area.
func emitSharedAddr(e *emitter, in *ir.Inst) {
	space := e.t.space(ir.Shared)
	var name string
	off := in.Off
	if in.Sym == "" {
		align := max(e.m.DynamicAlign, 16)
		name = e.g.declare(fmt.Sprintf("kudzu_dynamic_%d", align), fmt.Sprintf("external addrspace(%d) global [0 x i8], align %d", space, align))
	} else {
		found := false
		for _, s := range e.m.Shared {
			if s.Name == in.Sym {
				off, found = off+int64(s.Offset), true
			}
		}
		if !found {
			panic("BUG: shared variable " + in.Sym + " is not in the module")
		}
		name = e.g.declare(e.m.Kernel+".shared", fmt.Sprintf("internal addrspace(%d) global [%d x i8] undef, align 128", space, e.m.SharedBytes))
	}
	p := e.PtrToInt(ll.Val{T: ll.PtrTo(space), S: name})
	e.result(in, e.Add(p, ll.Int("i64", off)))
}

// pointer is an address of a space as a pointer of it.
func (e *emitter) pointer(sp ir.Space, addr ll.Val) ll.Val {
	return e.IntToPtr(e.offset(sp, addr), ll.PtrTo(e.t.space(sp)))
}

// offset is an address or a distance as wide as the space's pointers are.
func (e *emitter) offset(sp ir.Space, a ll.Val) ll.Val {
	if !e.t.narrow(sp) {
		return a
	}
	if n, err := strconv.ParseInt(a.S, 10, 64); err == nil {
		return ll.Int("i32", int64(int32(n)))
	}
	return e.Trunc(a, "i32")
}

// spaceCast takes an address from one space to another.
func (e *emitter) spaceCast(addr ll.Val, from, to ir.Space) ll.Val {
	if e.t.space(from) == e.t.space(to) {
		return addr
	}
	p := e.pointer(from, addr)
	return e.PtrToInt(e.AddrSpaceCast(p, ll.PtrTo(e.t.space(to))))
}

func emitToGeneric(e *emitter, in *ir.Inst) {
	e.result(in, e.spaceCast(e.val(in.Args[0]), in.Space, ir.Generic))
}

func emitFromGeneric(e *emitter, in *ir.Inst) {
	e.result(in, e.spaceCast(e.val(in.Args[0]), ir.Generic, in.Space))
}

func emitFuncAddr(e *emitter, in *ir.Inst) {
	e.result(in, e.PtrToInt(ll.Val{T: "ptr", S: "@" + e.symbol(in.Sym)}))
}
