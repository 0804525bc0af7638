package ll

import (
	"strings"
	"testing"
)

// TestInstructions: each method writes its instruction, for a scalar as for a vector, and the result has the type that LLVM gives it.
func TestInstructions(t *testing.T) {
	i, f, p := Val{"i32", "%i"}, Val{"float", "%f"}, Val{"ptr", "%p"}
	v, w := Val{"<4 x i32>", "%v"}, Val{"<4 x float>", "%w"}
	b, m := Val{"i1", "%b"}, Val{"<4 x i1>", "%m"}
	s := Val{"{ i32, i1 }", "%s"}
	for _, c := range []struct {
		write func(*Func) Val
		want  string
		t     Type
	}{
		{func(o *Func) Val { return o.Add(i, i.Int(-1)) }, "add i32 %i, -1", "i32"},
		{func(o *Func) Val { return o.Shl(v, v.Int(3)) }, "shl <4 x i32> %v, splat (i32 3)", "<4 x i32>"},
		{func(o *Func) Val { return o.And(v, v.Int(0)) }, "and <4 x i32> %v, zeroinitializer", "<4 x i32>"},
		{func(o *Func) Val { return o.Not(m) }, "xor <4 x i1> %m, splat (i1 true)", "<4 x i1>"},
		{func(o *Func) Val { return o.Not(i) }, "xor i32 %i, -1", "i32"},
		{func(o *Func) Val { return o.FMul(w, w.Float(0x3f800000)) }, "fmul <4 x float> %w, splat (float 0x3FF0000000000000)", "<4 x float>"},
		{func(o *Func) Val { return o.FNeg(f) }, "fneg float %f", "float"},
		{func(o *Func) Val { return o.ICmp("ult", v, v) }, "icmp ult <4 x i32> %v, %v", "<4 x i1>"},
		{func(o *Func) Val { return o.FCmp("uno", f, f) }, "fcmp uno float %f, %f", "i1"},
		{func(o *Func) Val { return o.Select(b, w, w) }, "select i1 %b, <4 x float> %w, <4 x float> %w", "<4 x float>"},
		{func(o *Func) Val { return o.ZExt(v, "i64") }, "zext <4 x i32> %v to <4 x i64>", "<4 x i64>"},
		{func(o *Func) Val { return o.Resize(i, 8) }, "trunc i32 %i to i8", "i8"},
		{func(o *Func) Val { return o.FPTrunc(w, "half") }, "fptrunc <4 x float> %w to <4 x half>", "<4 x half>"},
		{func(o *Func) Val { return o.Bits(w) }, "bitcast <4 x float> %w to <4 x i32>", "<4 x i32>"},
		{func(o *Func) Val { return o.Bitcast(v, "<8 x half>") }, "bitcast <4 x i32> %v to <8 x half>", "<8 x half>"},
		{func(o *Func) Val { return o.Intr("fma", w, w, w) }, "call <4 x float> @llvm.fma.v4f32(<4 x float> %w, <4 x float> %w, <4 x float> %w)", "<4 x float>"},
		{func(o *Func) Val { return o.IntrOf("i64", "fptosi.sat", []Type{"i64", "float"}, f) }, "call i64 @llvm.fptosi.sat.i64.f32(float %f)", "i64"},
		{func(o *Func) Val { return o.Load("i32", p, 4) }, "load i32, ptr %p, align 4", "i32"},
		{func(o *Func) Val {
			return o.LoadAs("i32", p, Access{Align: 4, Volatile: true, Order: "acquire", Meta: "!x !0"})
		}, "load atomic volatile i32, ptr %p acquire, align 4, !x !0", "i32"},
		{func(o *Func) Val { return o.GEP("i8", p, Val{"<4 x i64>", "%x"}) }, "getelementptr i8, ptr %p, <4 x i64> %x", "<4 x ptr>"},
		{func(o *Func) Val { return o.Offset(p, 12) }, "getelementptr i8, ptr %p, i64 12", "ptr"},
		{func(o *Func) Val { return o.IntToPtr(Val{"i64", "%x"}, PtrTo(3)) }, "inttoptr i64 %x to ptr addrspace(3)", "ptr addrspace(3)"},
		{func(o *Func) Val { return o.PtrToInt(p) }, "ptrtoint ptr %p to i64", "i64"},
		{func(o *Func) Val { return o.Extract(v, 2) }, "extractelement <4 x i32> %v, i64 2", "i32"},
		{func(o *Func) Val { return o.Insert(v, i, 1) }, "insertelement <4 x i32> %v, i32 %i, i64 1", "<4 x i32>"},
		{func(o *Func) Val { return o.Shuffle(v, v, []int{3, -1}) }, "shufflevector <4 x i32> %v, <4 x i32> %v, <2 x i32> <i32 3, i32 poison>", "<2 x i32>"},
		{func(o *Func) Val { return o.ExtractValue(s, 1) }, "extractvalue { i32, i1 } %s, 1", "i1"},
		{func(o *Func) Val { return o.InsertValue(s, i, 0) }, "insertvalue { i32, i1 } %s, i32 %i, 0", "{ i32, i1 }"},
		{func(o *Func) Val { return o.CmpXchg(p, i, i, "monotonic monotonic", 4) }, "cmpxchg ptr %p, i32 %i, i32 %i monotonic monotonic, align 4", "{ i32, i1 }"},
		{func(o *Func) Val { return o.RMW("add", p, i, "monotonic", 4) }, "atomicrmw add ptr %p, i32 %i monotonic, align 4", "i32"},
	} {
		mod := NewModule("")
		mod.Plain()
		r := c.write(mod.Func("void @f()", false))
		if text := mod.String(); r.T != c.t || !strings.Contains(text, "\n  "+r.S+" = "+c.want+"\n") {
			t.Errorf("%s of type %s, want\n%s of type %s", text, r.T, c.want, c.t)
		}
	}
}

// TestNothing: what changes nothing writes nothing.
func TestNothing(t *testing.T) {
	o := NewModule("").Func("void @f()", false)
	x := Val{"<4 x i32>", "%x"}
	for _, r := range []Val{o.ZExt(x, "i32"), o.Resize(x, 32), o.Bitcast(x, x.T), o.Bits(x)} {
		if r != x || len(o.text) > 0 {
			t.Errorf("%v: %q", r, o.text)
		}
	}
}

// TestMisfits: what LLVM would refuse is refused where it is written.
func TestMisfits(t *testing.T) {
	i, l, f, p, b := Val{"i32", "%i"}, Val{"i64", "%l"}, Val{"float", "%f"}, Val{"ptr", "%p"}, Val{"i1", "%b"}
	v := Val{"<4 x i32>", "%v"}
	for name, write := range map[string]func(*Func){
		"add of i32 and i64":       func(o *Func) { o.Add(i, l) },
		"add of floats":            func(o *Func) { o.Add(f, f) },
		"fadd of integers":         func(o *Func) { o.FAdd(i, i) },
		"an unknown operation":     func(o *Func) { o.Binary("plus", i, i) },
		"icmp of floats":           func(o *Func) { o.ICmp("eq", f, f) },
		"fcmp by icmp's condition": func(o *Func) { o.FCmp("slt", f, f) },
		"select by a number":       func(o *Func) { o.Select(i, f, f) },
		"select of other lanes":    func(o *Func) { o.Select(Val{"<2 x i1>", "%m"}, v, v) },
		"zext to a narrower type":  func(o *Func) { o.ZExt(l, "i32") },
		"trunc to a wider type":    func(o *Func) { o.Trunc(i, "i64") },
		"bitcast to another size":  func(o *Func) { o.Bitcast(i, "i64") },
		"load by a number":         func(o *Func) { o.Load("i32", l, 0) },
		"store by a number":        func(o *Func) { o.Store(i, l, 0) },
		"extract of a scalar":      func(o *Func) { o.Extract(i, 0) },
		"insert of another type":   func(o *Func) { o.Insert(v, f, 0) },
		"insertvalue":              func(o *Func) { o.InsertValue(Val{"{ i32, i1 }", "%s"}, f, 0) },
		"a branch on a number":     func(o *Func) { o.CondBr(i, "a", "b") },
		"a phi":                    func(o *Func) { o.Phi("i32").Add(l, "a") },
		"cmpxchg":                  func(o *Func) { o.CmpXchg(p, i, l, "monotonic monotonic", 4) },
		"shuffle of two types":     func(o *Func) { o.Shuffle(v, Val{"<2 x i32>", "%x"}, []int{0}) },
		"a bit as a float":         func(*Func) { b.Float(0) },
	} {
		func() {
			defer func() {
				if r, ok := recover().(string); !ok || !strings.HasPrefix(r, "BUG: ") {
					t.Errorf("%s: %v", name, r)
				}
			}()
			write(NewModule("").Func("void @f()", false))
		}()
	}
}

// TestConstants: numbers are cut to their width, an f32 is spelled as the double that it is, a NaN with its payload.
func TestConstants(t *testing.T) {
	for _, c := range []struct {
		v    Val
		want string
	}{
		{Val{"i8", "%x"}.Int(255), "i8 -1"}, {Val{"i32", "%x"}.Int(1 << 31), "i32 -2147483648"}, {Val{"i64", "%x"}.Int(-1), "i64 -1"}, {Val{"i1", "%x"}.Int(1), "i1 true"},
		{Float("float", 0x7fc00001), "float 0x7FF8000020000000"}, {Float("float", 1), "float 0x36A0000000000000"}, {Float("half", 0x3c00), "half 0xH3C00"},
		{Float("double", 1<<63), "double 0x8000000000000000"}, {ConstVec("i16", []int64{1, -2}), "<2 x i16> <i16 1, i16 -2>"},
	} {
		if c.v.String() != c.want {
			t.Errorf("%s, want %s", c.v, c.want)
		}
	}
}

func TestTypes(t *testing.T) {
	for _, c := range []struct {
		t          Type
		lanes      int
		elem       Type
		bits, each int
		mangled    string
	}{{"i32", 1, "i32", 32, 32, "i32"}, {"<32 x half>", 32, "half", 512, 16, "v32f16"}, {"<2 x i64>", 2, "i64", 128, 64, "v2i64"}, {"double", 1, "double", 64, 64, "f64"}} {
		n, e := c.t.Split()
		if n != c.lanes || e != c.elem || c.t.Bits() != c.bits || c.t.ElemBits() != c.each || c.t.mangled() != c.mangled {
			t.Errorf("%s: %d x %s, %d, %d, %s", c.t, n, e, c.t.Bits(), c.t.ElemBits(), c.t.mangled())
		}
	}
}
