package baseline

import (
	"regexp"
	"strings"

	"kudzu/internal/baseline/x86"
)

// isCopy reports a call whose result is its first operand: fences for LLVM's optimiser.
func isCopy(name string) bool {
	return strings.HasPrefix(name, "llvm.arithmetic.fence.") || strings.HasPrefix(name, "llvm.expect.") || name == `asm |=r,0`
}

// call writes calls: of intrinsics, of functions in the module, of the engine's by their address.
func call(g *gen, in *inst) {
	if l, ok := g.entries[in.sub]; ok {
		g.callOurs(in, l)
		return
	}
	if in.sub == "*" {
		g.callC(in)
		return
	}
	if strings.HasPrefix(in.sub, "asm ") {
		modal(g, in)
		return
	}
	if f := exactNames[in.sub]; f != nil {
		f(g, in)
		return
	}
	name, ok := strings.CutPrefix(in.sub, "llvm.")
	if f := intrinsics[stem(name)]; ok && f != nil {
		f(g, in)
		return
	}
	fail("call of %s", in.sub)
}

var suffix = regexp.MustCompile(`\.(v\d+)?(i\d+|f\d+|p\d+|bf16)$`)

// stem is an intrinsic's name without the types that it is for.
func stem(name string) string {
	for {
		at := suffix.FindStringIndex(name)
		if at == nil {
			return name
		}
		name = name[:at[0]]
	}
}

// callOurs calls a function of this code: arguments and result lie at the bottom of the stack.
func (g *gen) callOurs(in *inst, l x86.Label) {
	g.flush()
	at := int32(0)
	for _, a := range in.args {
		n := g.size(a.t)
		g.moveFrom(x86.At(stackPtr, at), a, n)
		at += int32(n+63) &^ 63
	}
	g.CallLabel(l)
	g.reset()
	if in.res >= 0 {
		g.take(in.res, x86.At(stackPtr, at))
	}
}

// take makes what memory holds a value; vectors stay in registers.
func (g *gen) take(v int32, from x86.Mem) {
	n := g.size(g.f.types[v])
	if n <= 8 {
		g.move(g.slot(v), from, n)
		return
	}
	g.pieces(n, func(off int, l x86.Width, n int) {
		r := g.fresh()
		g.V(x86.VMOVDQU, l, r, 0, x86.M(from.Plus(int32(off))))
		g.put(v, off, l, r, n)
	})
}

// callC calls a function of C's by its address, with numbers and pointers.
func (g *gen) callC(in *inst) {
	g.forget()
	g.nums.off = true
	args := in.args[1:]
	for i, a := range args {
		if a.t.kind == float || a.t.vector {
			fail("call by address with a float or vector")
		}
		if i >= len(arguments) {
			g.load(x86.RAX, a)
			g.Store(8, x86.At(stackPtr, int32(8*(i-len(arguments)))), x86.RAX)
		}
	}
	g.load(x86.R11, in.args[0])
	for i, a := range args[:min(len(args), len(arguments))] {
		g.load(arguments[i], a)
	}
	g.CallReg(x86.R11)
	g.nums.off = false
	g.reset()
	if in.res >= 0 {
		g.store(in.res, x86.RAX)
	}
}
