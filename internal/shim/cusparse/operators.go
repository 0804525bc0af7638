package cusparse

import (
	"fmt"
	"strings"

	"kudzu/internal/shim/cublas"
)

// The kernel of SpMMOp is written here, behind the program's functions, which it calls.
const (
	operatorName    = "kudzu_spmm_op"
	operatorThreads = 128
	operatorBlocks  = 4096
)

// operator is a function of two numbers. Complex numbers are arrays of bytes, whose alignment its compiler chose.
type operator struct {
	symbol string
	result string   // ".align 4 " of a complex one
	values []string // of both
}

// operatorOf finds a function of the program's in a module, with C++ linkage or without; nil if there is none.
func operatorOf(text, name string, e Elem) *operator {
	mangled := map[Elem]string{cublas.F32: "ff", cublas.F64: "dd", cublas.S32: "ii", cublas.C32: "6float2S_", cublas.C64: "7double2S_"}[e]
	for _, symbol := range []string{fmt.Sprintf("_Z%d%s%s", len(name), name, mangled), name} {
		_, after, ok := strings.Cut(text, " "+symbol+"(")
		if !ok {
			continue
		}
		before := text[:len(text)-len(after)]
		at := strings.LastIndex(before, ".func")
		params, _, closed := strings.Cut(after, ")")
		if at < 0 || !closed || strings.Count(params, ",") != 1 {
			return nil
		}
		aligned := func(s string) string {
			if _, rest, ok := strings.Cut(s, ".align "); ok {
				return ".align " + strings.Fields(rest)[0] + " "
			}
			return ""
		}
		o := &operator{symbol: symbol, result: aligned(before[at:])}
		for _, p := range strings.Split(params, ",") {
			o.values = append(o.values, aligned(p))
		}
		return o
	}
	return nil
}

// operatorKernel is one for types and indices. A thread has a number of C.
type operatorKernel struct {
	in, out, compute Elem
	wide             bool
	operators        [3]*operator // add, multiply, and the last step
}

// register is the type of the operators' numbers, or of their parts, and its bytes.
func (k *operatorKernel) register() (kind string, size int) {
	switch k.compute {
	case cublas.F64, cublas.C64:
		return "f64", 8
	case cublas.S32:
		return "s32", 4
	}
	return "f32", 4
}

func (k *operatorKernel) complex() bool { return k.compute == cublas.C32 || k.compute == cublas.C64 }

// load reads a number at %at into v.
func (k *operatorKernel) load(e Elem, v string) string {
	kind, _ := k.register()
	switch e {
	case cublas.C32, cublas.C64:
		return fmt.Sprintf("ld.global.v2.%s {%%%s0, %%%s1}, [%%at];\n", kind, v, v)
	case cublas.F16:
		return fmt.Sprintf("ld.global.b16 %%h, [%%at];\ncvt.f32.f16 %%%s0, %%h;\n", v)
	case cublas.BF16:
		return fmt.Sprintf("ld.global.u16 %%w, [%%at];\nshl.b32 %%w, %%w, 16;\nmov.b32 %%%s0, %%w;\n", v)
	case cublas.S8:
		if kind == "s32" {
			return fmt.Sprintf("ld.global.s8 %%%s0, [%%at];\n", v)
		}
		return fmt.Sprintf("ld.global.s8 %%w, [%%at];\ncvt.rn.f32.s32 %%%s0, %%w;\n", v)
	}
	return fmt.Sprintf("ld.global.%s %%%s0, [%%at];\n", kind, v)
}

// store writes the sum to %at.
func (k *operatorKernel) store() string {
	kind, _ := k.register()
	switch k.out {
	case cublas.C32, cublas.C64:
		return fmt.Sprintf("st.global.v2.%s [%%at], {%%s0, %%s1};\n", kind)
	case cublas.F16:
		return "cvt.rn.f16.f32 %h, %s0;\nst.global.b16 [%at], %h;\n"
	case cublas.BF16:
		return "cvt.rn.bf16.f32 %h, %s0;\nst.global.b16 [%at], %h;\n"
	}
	return fmt.Sprintf("st.global.%s [%%at], %%s0;\n", kind)
}

// call calls an operator with x and y; its result becomes to.
func (k *operatorKernel) call(o *operator, to, x, y string) string {
	kind, size := k.register()
	declare := func(align, name string) string {
		if k.complex() {
			return fmt.Sprintf(".param %s.b8 %s[%d];\n", align, name, 2*size)
		}
		return fmt.Sprintf(".param .b%d %s;\n", 8*size, name)
	}
	parts := func(form, v, name string) (s string) {
		s = fmt.Sprintf(form, kind, v+"0", name)
		if k.complex() {
			s += fmt.Sprintf(form, kind, v+"1", fmt.Sprintf("%s+%d", name, size))
		}
		return s
	}
	const put, take = "st.param.%[1]s [%[3]s], %%%[2]s;\n", "ld.param.%[1]s %%%[2]s, [%[3]s];\n"
	return "{\n" + declare(o.values[0], "p") + declare(o.values[1], "q") + declare(o.result, "r") + parts(put, x, "p") + parts(put, y, "q") +
		"call.uni (r), " + o.symbol + ", (p, q);\n" + parts(take, to, "r") + "}\n"
}

func (k *operatorKernel) text() string {
	kind, _ := k.register()
	index, size := "s32", 4
	if k.wide {
		index, size = "s64", 8
	}
	// %k is a column or an offset, without the base.
	read := func(array, at string) string {
		s := fmt.Sprintf("mad.lo.s64 %%at, %%%s, %d, %%%s;\n", at, size, array)
		if k.wide {
			return s + "ld.global.s64 %k, [%at];\nsub.s64 %k, %k, %base;\n"
		}
		return s + "ld.global." + index + " %w, [%at];\ncvt.s64.s32 %k, %w;\nsub.s64 %k, %k, %base;\n"
	}
	// product takes the next entry: z is what the program makes of it and its number of B.
	product := fmt.Sprintf("mad.lo.s64 %%at, %%entry, %d, %%values;\n", k.in.Size()) + k.load(k.in, "x") + read("indices", "entry") +
		"mad.lo.s64 %at, %k, %bk, %column;\n" + k.load(k.in, "y") + k.call(k.operators[1], "z", "x", "y") + "add.s64 %entry, %entry, 1;\n"
	first := fmt.Sprintf("mov.%s %%s0, %%z0;\n", kind)
	if k.complex() {
		first += fmt.Sprintf("mov.%s %%s1, %%z1;\n", kind)
	}
	names := []string{"offsets", "indices", "values", "b", "c", "cols", "total", "bk", "bj", "ci", "cj", "base"}
	var w strings.Builder
	fmt.Fprintf(&w, "\n.visible .entry %s(", operatorName)
	for i, n := range names {
		if i > 0 {
			w.WriteString(",")
		}
		fmt.Fprintf(&w, "\n.param .u64 kudzu_%s", n)
	}
	fmt.Fprintf(&w, ")\n{\n.reg .b64 %%i, %%step, %%row, %%col, %%entry, %%end, %%k, %%at, %%column;\n.reg .b32 %%t, %%n, %%w;\n.reg .b16 %%h;\n.reg .pred %%p;\n")
	fmt.Fprintf(&w, ".reg .%s %%x0, %%x1, %%y0, %%y1, %%z0, %%z1, %%s0, %%s1;\n", kind)
	for _, n := range names {
		fmt.Fprintf(&w, ".reg .b64 %%%s;\nld.param.u64 %%%s, [kudzu_%s];\n", n, n, n)
	}
	for _, n := range names[:5] {
		fmt.Fprintf(&w, "cvta.to.global.u64 %%%s, %%%s;\n", n, n)
	}
	w.WriteString("mov.u32 %t, %ctaid.x;\nmov.u32 %n, %ntid.x;\nmul.wide.u32 %i, %t, %n;\nmov.u32 %t, %tid.x;\ncvt.u64.u32 %k, %t;\nadd.u64 %i, %i, %k;\n" +
		"mov.u32 %t, %nctaid.x;\nmul.wide.u32 %step, %t, %n;\n" +
		"$next:\nsetp.ge.u64 %p, %i, %total;\n@%p bra $done;\ndiv.u64 %row, %i, %cols;\nrem.u64 %col, %i, %cols;\nadd.u64 %i, %i, %step;\n")
	w.WriteString(read("offsets", "row") + "mov.b64 %entry, %k;\nadd.s64 %end, %row, 1;\n" + read("offsets", "end") + "mov.b64 %end, %k;\n")
	w.WriteString("setp.ge.s64 %p, %entry, %end;\n@%p bra $next;\nmad.lo.s64 %column, %col, %bj, %b;\n")
	w.WriteString(product + first + "$more:\nsetp.ge.s64 %p, %entry, %end;\n@%p bra $last;\n" + product + k.call(k.operators[0], "s", "s", "z") + "bra $more;\n$last:\n")
	w.WriteString("mad.lo.s64 %at, %row, %ci, %c;\nmad.lo.s64 %at, %col, %cj, %at;\n" + k.load(k.out, "y") + k.call(k.operators[2], "s", "s", "y") + k.store())
	w.WriteString("bra $next;\n$done:\nret;\n}\n")
	return w.String()
}
