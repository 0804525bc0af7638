package float

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

var vectors = regexp.MustCompile(`<4 x (\w+)>|splat \(\w+ ([^)]*)\)|\.v4`)

// written is what op writes for operands of a type, without names of vectors: one lane's text.
func written(t ll.Type, op func(w *Writer, x, y ll.Val)) string {
	m := ll.NewModule("")
	m.Plain()
	w := &Writer{Func: m.Func("void @f()", false)}
	w.Target = Target{Fence: func(x ll.Val) ll.Val { return w.Intr("arithmetic.fence", x) }, Fail: func(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }}
	op(w, ll.Val{T: t, S: "%x"}, ll.Val{T: t, S: "%y"})
	text := m.String()
	text = text[strings.Index(text, "entry:"):]
	text = vectors.ReplaceAllStringFunc(text, func(s string) string {
		switch p := vectors.FindStringSubmatch(s); {
		case p[1] != "":
			return p[1]
		case p[2] != "":
			return p[2]
		}
		return "."
	})
	return strings.ReplaceAll(text, "zeroinitializer", "0")
}

// TestLanes: a vector of lanes is computed as one thread's value is.
func TestLanes(t *testing.T) {
	arith := func(op ir.Op, a ir.Attr) func(w *Writer, x, y ll.Val) {
		return func(w *Writer, x, y ll.Val) {
			in := &ir.Inst{Op: op, Attr: a}
			w.FlushTiny(in, w.Arith(in, ir.F32, []ll.Val{x, y, x}), []ll.Val{x, y, x})
		}
	}
	for name, op := range map[string]func(w *Writer, x, y ll.Val){
		"mul":      arith(ir.FMul, ir.Attr{FTZ: true}),
		"fma":      arith(ir.FFma, ir.Attr{FTZ: true}),
		"div":      arith(ir.FDiv, ir.Attr{FTZ: true}),
		"saturate": func(w *Writer, x, y ll.Val) { w.Saturate(x, ir.F32) },
		"bf16":     func(w *Writer, x, y ll.Val) { w.WidenBF16(w.NarrowBF16(x)) },
		"cut":      func(w *Writer, x, y ll.Val) { w.CutToHalf(x, ir.RP); w.TruncBF16(x, ir.RM) },
		"min":      func(w *Writer, x, y ll.Val) { w.MinMax(MinMax{XorSign: true}, x, y, ir.F32) },
		"max x86": func(w *Writer, x, y ll.Val) {
			w.Target.X86 = true
			w.MinMax(MinMax{Max: true, XorSign: true}, x, y, ir.F32)
		},
		"max bits": func(w *Writer, x, y ll.Val) { w.MinMaxBits(MinMax{Max: true, NaN: true}, x, y, ir.F32) },
		"sign":     func(w *Writer, x, y ll.Val) { w.SignBits(ir.FNeg, x, ir.F32); w.Copysign(x, y, ir.F32) },
		"relu":     func(w *Writer, x, y ll.Val) { w.Relu(w.Canonical(x, ir.F32), ir.F32) },
		"root":     func(w *Writer, x, y ll.Val) { w.Sqrt(x) },
	} {
		one, all := written("float", op), written("<4 x float>", op)
		if one != all || strings.Count(one, "\n") < 3 {
			t.Errorf("%s, one lane:\n%s\nfour:\n%s", name, one, all)
		}
	}
}

// TestNaNOrder: the operand whose NaN counts is last.
func TestNaNOrder(t *testing.T) {
	a := []ll.Val{{S: "a"}, {S: "b"}, {S: "c"}}
	for op, want := range map[ir.Op]string{ir.FAdd: "b", ir.FFma: "b", ir.FDiv: "a"} {
		list := a[:2]
		if op == ir.FFma {
			list = a
		}
		if got := NaNOrder(op, list); got[len(got)-1].S != want {
			t.Errorf("%s: %v", op, got)
		}
	}
}

// TestHalfNaN: without instructions for halves no comparison of halves is written, LLVM 19 would take it apart.
func TestHalfNaN(t *testing.T) {
	for name, op := range map[string]func(w *Writer, x, y ll.Val){
		"canonical": func(w *Writer, x, y ll.Val) { w.Canonical(x, ir.F16) },
		"min":       func(w *Writer, x, y ll.Val) { w.MinMax(MinMax{}, x, y, ir.F16) },
	} {
		if text := written("<4 x half>", op); strings.Contains(text, "fcmp") {
			t.Errorf("%s compares halves:\n%s", name, text)
		}
		if text := written("<4 x half>", func(w *Writer, x, y ll.Val) { w.Target.Half = true; op(w, x, y) }); !strings.Contains(text, "fcmp uno half") {
			t.Errorf("%s does not use the instructions:\n%s", name, text)
		}
	}
}
