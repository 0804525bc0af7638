package llvm_test

import (
	"fmt"
	"strings"
	"testing"

	"kudzu/internal/image"
	"kudzu/internal/llvm"
)

// operations are what the emitters ask for by intrinsic or instruction and a library might do: with %T for the type, %a, %b, %c for operands.
var operations = []string{
	"call %T @llvm.fabs.%S(%T %a)", "call %T @llvm.sqrt.%S(%T %a)", "call %T @llvm.fma.%S(%T %a, %T %b, %T %c)", "call %T @llvm.copysign.%S(%T %a, %T %b)",
	"call %T @llvm.minimum.%S(%T %a, %T %b)", "call %T @llvm.maximum.%S(%T %a, %T %b)", "call %T @llvm.arithmetic.fence.%S(%T %a)",
	"call %T @llvm.roundeven.%S(%T %a)", "call %T @llvm.trunc.%S(%T %a)", "call %T @llvm.floor.%S(%T %a)", "call %T @llvm.ceil.%S(%T %a)",
	"fadd %T %a, %b", "fsub %T %a, %b", "fmul %T %a, %b", "fdiv %T %a, %b", "fneg %T %a",
}

// conversions are the same for two types, %T to %U.
var conversions = []string{"sitofp %I to %T", "uitofp %I to %T", "fptosi %T to %I", "fptoui %T to %I"}

// TestLibcalls: whatever LLVM makes of these for any of our CPUs, alone and in vectors, it calls no function that is no helper.
func TestLibcalls(t *testing.T) {
	l := testLib(t)
	cpus := [][2]string{{"x86_64-linux-gnu", "x86-64"}, {"x86_64-linux-gnu", "x86-64-v3"}, {"x86_64-linux-gnu", "x86-64-v4"}, {"x86_64-linux-gnu", "sapphirerapids"},
		{"aarch64-linux-gnu", "generic"}, {"aarch64-linux-gnu", "cortex-a76"}}
	short := map[string]string{"half": "f16", "float": "f32", "double": "f64"}
	for _, el := range []string{"half", "float", "double"} {
		var b strings.Builder
		n := 0
		declared := map[string]bool{}
		add := func(result, text string, args ...string) {
			n++
			fmt.Fprintf(&b, "define %s @f%d(%s) \"no-builtins\" {\n %%r = %s\n ret %s %%r\n}\n", result, n, strings.Join(args, ", "), text, result)
		}
		for _, w := range []int{1, 3, 16} {
			vec := func(e, s string) (string, string) {
				if w == 1 {
					return e, s
				}
				return fmt.Sprintf("<%d x %s>", w, e), fmt.Sprintf("v%d%s", w, s)
			}
			T, S := vec(el, short[el])
			for _, op := range operations {
				text := strings.NewReplacer("%T", T, "%S", S).Replace(op)
				add(T, text, T+" %a", T+" %b", T+" %c")
				if _, call, ok := strings.Cut(text, "@"); ok {
					name, _, _ := strings.Cut(call, "(")
					args := strings.TrimSuffix(strings.Repeat(T+", ", strings.Count(call, "%")), ", ")
					if !declared[name] {
						declared[name] = true
						fmt.Fprintf(&b, "declare %s @%s(%s)\n", T, name, args)
					}
				}
			}
			for _, bits := range []string{"i8", "i16", "i32", "i64"} {
				I, _ := vec(bits, "")
				for _, op := range conversions {
					from, to, _ := strings.Cut(strings.NewReplacer("%T", T, "%I", I).Replace(op), " to ")
					word, typ, _ := strings.Cut(from, " ")
					add(to, fmt.Sprintf("%s %s %%a to %s", word, typ, to), typ+" %a")
				}
			}
			for other := range short {
				U, _ := vec(other, "")
				switch {
				case other == el:
				case rank[other] > rank[el]:
					add(U, fmt.Sprintf("fpext %s %%a to %s", T, U), T+" %a")
				default:
					add(U, fmt.Sprintf("fptrunc %s %%a to %s", T, U), T+" %a")
				}
			}
		}
		for _, c := range cpus {
			obj, err := l.Compile(b.String(), llvm.Options{Triple: c[0], CPU: c[1], OptLevel: 2})
			if err != nil {
				t.Fatalf("%s on %s: %v", el, c[1], err)
			}
			names, err := image.Undefined(obj)
			if err != nil {
				t.Fatal(err)
			}
			if _, unknown := llvm.Helpers(names); len(unknown) > 0 {
				t.Errorf("%s on %s: LLVM calls %v, which nothing defines", el, c[1], unknown)
			}
		}
	}
}

var rank = map[string]int{"half": 0, "float": 1, "double": 2}
