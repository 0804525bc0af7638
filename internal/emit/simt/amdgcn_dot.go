package simt

import (
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// dots says which dot products the processor has: of bytes of which each operand's sign is told (gfx11 and later), or of bytes and halves with
// both operands signed or both not.
func (t amdgcn) dots() (told, alike bool) {
	switch {
	case t.major >= 11:
		return true, false
	case t.name == "gfx1010": // and gfx1013; their siblings have them
		return false, false
	}
	return false, true
}

// dot calls one of the instructions; they wrap without their last operand.
func (e *emitter) dot(name string, a, b, c ll.Val) ll.Val {
	return e.Call("i32", "llvm.amdgcn."+name, a, b, c, ll.Int("i1", 0))
}

const bothSigned = ir.DotSignedA | ir.DotSignedB

// dp4a adds the products of four bytes to c, by instructions where there are any.
func (e *emitter) dp4a(signs ir.Dot, a, b, c ll.Val) (ll.Val, bool) {
	told, alike := e.t.(amdgcn).dots()
	switch {
	case told:
		return e.Call("i32", "llvm.amdgcn.sudot4", ll.Int("i1", int64(signs&1)), a, ll.Int("i1", int64(signs>>1)), b, c, ll.Int("i1", 0)), true
	case alike && signs == bothSigned:
		return e.dot("sdot4", a, b, c), true
	case alike && signs == 0:
		return e.dot("udot4", a, b, c), true
	case alike: // unsigned bytes are signed ones, and 256 more where the top bit is set
		if signs == ir.DotSignedA {
			a, b = b, a
		}
		tops := e.And(e.LShr(a, a.Int(7)), a.Int(0x01010101))
		more := e.Shl(e.dot("sdot4", tops, b, b.Int(0)), b.Int(8))
		return e.dot("sdot4", a, b, e.Add(c, more)), true
	}
	return ll.Val{}, false
}

func gcnDp4a(e *emitter, in *ir.Inst) {
	a := e.operands(in)
	r, ok := e.dp4a(in.Dot, a[0], a[1], a[2])
	if !ok {
		emitDp4a(e, in)
		return
	}
	e.result(in, r)
}

func gcnDp2a(e *emitter, in *ir.Inst) {
	_, alike := e.t.(amdgcn).dots()
	signs := in.Dot & bothSigned
	if !alike || signs == ir.DotSignedB { // unsigned halves and signed bytes have no signed type in common
		emitDp2a(e, in)
		return
	}
	a := e.operands(in)
	b := e.Bitcast(a[1], "<4 x i8>")
	pick := []int{0, 1}
	if in.Dot&ir.DotHigh != 0 {
		pick = []int{2, 3}
	}
	ext, name := ll.Conv("zext"), "sdot2"
	switch signs {
	case bothSigned:
		ext = "sext"
	case 0:
		name = "udot2"
	}
	two := e.Shuffle(b, ll.Poison(b.T), pick)
	e.result(in, e.dot(name, e.Bitcast(a[0], "<2 x i16>"), e.Convert(ext, two, "i16"), a[2]))
}
