package warp

import (
	"fmt"

	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// emitMma is a product of tiles, or calls the function that lower made of it with its fragments in memory, a vector a register. A
// kernel of few products of the latter kind has them expanded long before.
func emitMma(e *emitter, in *ir.Inst) {
	if t := e.tileOf(in.Mat); t != nil && in.Rnd == ir.RN {
		e.tileProduct(t, in)
		return
	}
	f := e.product(in.Sym)
	if f == nil {
		e.unsupported("mma %s of %s and %s", shapeName(in.Mat), in.Mat.A, in.Mat.B)
	}
	room, ok := e.scratch[in.Sym]
	if !ok {
		room = e.Alloca(ll.Array(e.fragments(f.Params)+e.fragments(in.Results), "i8"), 64)
		e.scratch[in.Sym] = room
	}
	e.called[in.Sym] = true
	off := 0
	for _, a := range in.Args {
		e.Store(e.vector(a), e.at(room, off), 64)
		off += e.w * bytesOf(a.Type)
	}
	e.Do("call void @%q(%s)", in.Sym, room)
	for _, r := range in.Results {
		t := ll.Vec(e.w, typ(r.Type))
		e.set(r, e.Load(t, e.at(room, off), 64))
		off += e.w * bytesOf(r.Type)
	}
}

func shapeName(m *ir.Matrix) string { return fmt.Sprintf("m%dn%dk%d", m.M, m.N, m.K) }

func (e *emitter) product(name string) *ir.Func {
	for _, f := range e.m.Funcs[1:] {
		if f.Name == name && name != "" && e.w == 32 {
			return f
		}
	}
	return nil
}

// fragments is the bytes of registers of a warp.
func (e *emitter) fragments(vs []*ir.Value) int {
	n := 0
	for _, v := range vs {
		n += e.w * bytesOf(v.Type)
	}
	return n
}

// products writes the functions of the kernel's matrix products: one block each, all lanes acting.
func (e *emitter) products() {
	e.writeTiles()
	for _, f := range e.m.Funcs[1:] {
		if !e.called[f.Name] {
			continue
		}
		p := newEmitter(e.m, e.cfg)
		p.w = 32 // of a kernel that runs thread by thread too
		p.f, p.mod, p.Flush, p.ctx = f, e.mod, e.Flush, context{sregs: map[ir.SpecialReg]*rep{}}
		p.Func = e.mod.Func(fmt.Sprintf("internal void @%q(ptr %%f) noinline", f.Name), false)
		p.nanSources(true)
		room := ll.Val{T: "ptr", S: "%f"}
		off := 0
		for _, v := range f.Params {
			t := ll.Vec(p.w, typ(v.Type))
			p.rep(v).vec = p.Load(t, p.at(room, off), 64)
			off += p.w * bytesOf(v.Type)
		}
		for _, in := range f.Blocks[0].Insts {
			switch in.Op {
			case ir.SReg:
				p.widenSReg(in, p.sreg(in))
			case ir.Ret:
				for _, v := range in.Args {
					p.Store(p.clean(v, p.w), p.at(room, off), 64)
					off += p.w * bytesOf(v.Type)
				}
				p.Ret(ll.Val{})
			default:
				emitters[in.Op](p, in)
			}
		}
	}
}

func emitLdMatrix(e *emitter, in *ir.Inst)  { e.unsupported("ldmatrix") }
func emitStMatrix(e *emitter, in *ir.Inst)  { e.unsupported("stmatrix") }
func emitMovMatrix(e *emitter, in *ir.Inst) { e.unsupported("movmatrix") }
