package cufft

import (
	"bytes"
	"fmt"
	"strings"

	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/shim/lto"
	"kudzu/internal/spec/fft"
)

// callback is a function of the program's that reads the input of a plan, or writes its output, number by number.
type callback struct {
	symbol  string
	code    []byte
	info    uint64
	kernels *shim.Kernels
}

// sides are a plan's callbacks; nil: none.
type sides struct{ load, store *callback }

// jitType is what a callback is for: the numbers' precision, whether they are complex, and the side.
type jitType struct {
	precision precision
	complex   bool
	store     bool
}

var jitTypes = map[fft.CufftXtCallbackType]jitType{
	fft.CUFFT_CB_LD_COMPLEX: {single, true, false}, fft.CUFFT_CB_LD_COMPLEX_DOUBLE: {double, true, false},
	fft.CUFFT_CB_LD_REAL: {single, false, false}, fft.CUFFT_CB_LD_REAL_DOUBLE: {double, false, false},
	fft.CUFFT_CB_ST_COMPLEX: {single, true, true}, fft.CUFFT_CB_ST_COMPLEX_DOUBLE: {double, true, true},
	fft.CUFFT_CB_ST_REAL: {single, false, true}, fft.CUFFT_CB_ST_REAL_DOUBLE: {double, false, true},
}

// XtSetJITCallback gives a plan that is made later a callback, as LTO-IR. It is compiled when the plan is made.
func (t *Thread) XtSetJITCallback(h fft.CufftHandle, symbol, code hostmem.Ptr, size uint64, which fft.CufftXtCallbackType, info hostmem.Ptr) error {
	return change(h, func(p *plan) error {
		if p.made {
			return invalidPlan
		}
		if symbol == hostmem.Nil || hostmem.String(symbol) == "" || code == hostmem.Nil || size == 0 {
			return invalidValue
		}
		if _, ok := jitTypes[which]; !ok {
			return invalidType
		}
		c := &callback{symbol: hostmem.String(symbol), code: bytes.Clone(hostmem.Bytes(code, size))}
		if info != hostmem.Nil {
			c.info = hostmem.Load[uint64](info)
		}
		if p.jit == nil {
			p.jit = map[fft.CufftXtCallbackType]*callback{}
		}
		p.jit[which] = c
		return nil
	})
}

// linkCallbacks compiles a plan's callbacks, which must be of its types. Preconditions: p.mu is held.
func (p *plan) linkCallbacks(ty types) error {
	p.sides = sides{}
	if len(p.jit) > 0 && (p.many != nil || ty.storage != ty.precision().suffix()) {
		return notSupported
	}
	for which, c := range p.jit {
		want := jitTypes[which]
		real := want.store && ty.kind == toRealKind || !want.store && ty.kind == fromRealKind
		if want.precision != ty.precision() || want.complex == real {
			return invalidType
		}
		text, err := lto.PTX(c.symbol, c.code)
		if err != nil {
			return internalError // an H200's answer
		}
		symbol := symbolOf(text, c.symbol, want)
		align := alignment(text, symbol, want)
		if align == "" {
			return internalError // an H200's answer
		}
		c.kernels = linked(text+caller(symbol, align, want), c.symbol)
		if want.store {
			p.sides.store = c
		} else {
			p.sides.load = c
		}
	}
	return nil
}

var links = map[string]*shim.Kernels{} // guarded by plansMu

// linked is the module of a callback: the same text is loaded once.
func linked(text, symbol string) *shim.Kernels {
	plansMu.Lock()
	defer plansMu.Unlock()
	if links[text] == nil {
		links[text] = &shim.Kernels{Name: "cuFFT callback " + symbol, Text: func() string { return text }}
	}
	return links[text]
}

// symbolOf is a callback's symbol in the module. NVIDIA's cuFFT takes the plain name of a function with C++ linkage and looks for the
// mangled one; it finds no extern "C" function. Here both are found.
func symbolOf(text, symbol string, t jitType) string {
	value := map[jitType]string{{single, true, true}: "6float2", {double, true, true}: "7double2", {single, false, true}: "f", {double, false, true}: "d"}[t]
	for _, offset := range []string{"y", "m"} { // unsigned long long, and size_t
		if name := fmt.Sprintf("_Z%d%sPv%s%sS_S_", len(symbol), symbol, offset, value); strings.Contains(text, " "+name+"(") {
			return name
		}
	}
	return symbol
}

// alignment is that of a function's complex number, as its compiler chose it; "" if there is no such function. Real ones have their own.
func alignment(text, symbol string, t jitType) string {
	_, after, ok := strings.Cut(text, " "+symbol+"(")
	if !ok {
		return ""
	}
	where := after[:max(strings.Index(after, ")"), 0)]
	if !t.store { // the result stands before the name
		before := text[:len(text)-len(after)]
		where = before[strings.LastIndex(before, ".func"):]
	}
	if !t.complex {
		return "own"
	}
	if _, rest, ok := strings.Cut(where, ".align "); ok {
		return strings.Fields(rest)[0]
	}
	return ""
}

// callerDims are the axes that a caller walks: a batch of three.
const callerDims = 4

// caller is a kernel that calls a callback for each number of an array, of which the other form lies without gaps: read by it, or
// handed to it. Parameters: both arrays, the program's data, the number of numbers, and extents and strides from the outermost axis on.
func caller(symbol, align string, t jitType) string {
	part, kind := 4, "f32"
	if t.precision == double {
		part, kind = 8, "f64"
	}
	size := part
	if t.complex {
		size *= 2
	}
	value := fmt.Sprintf(".param .b%d", 8*part)
	put, get := fmt.Sprintf("st.param.%s [v], %%x;", kind), fmt.Sprintf("ld.param.%s %%x, [v];", kind)
	from, to := fmt.Sprintf("ld.global.%s %%x, [%%packed];", kind), fmt.Sprintf("st.global.%s [%%packed], %%x;", kind)
	if t.complex {
		value = ".param .align " + align + " .b8"
		put = fmt.Sprintf("st.param.%[1]s [v], %%x;\nst.param.%[1]s [v+%[2]d], %%y;", kind, part)
		get = fmt.Sprintf("ld.param.%[1]s %%x, [v];\nld.param.%[1]s %%y, [v+%[2]d];", kind, part)
		from, to = fmt.Sprintf("ld.global.v2.%s {%%x, %%y}, [%%packed];", kind), fmt.Sprintf("st.global.v2.%s [%%packed], {%%x, %%y};", kind)
	}
	declared := value + " v"
	if t.complex {
		declared += fmt.Sprintf("[%d]", size)
	}
	var b strings.Builder
	w := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	w(".visible .entry kudzu_callback(")
	names := []string{"array", "other", "info", "total"}
	for i := range callerDims {
		names = append(names, fmt.Sprintf("n%d", i), fmt.Sprintf("s%d", i))
	}
	for i, n := range names {
		comma := ","
		if i == len(names)-1 {
			comma = ""
		}
		w(".param .u64 kudzu_%s%s", n, comma)
	}
	w(")\n{\n.reg .b64 %%array, %%other, %%info, %%total, %%i, %%step, %%rest, %%n, %%s, %%k, %%offset, %%packed;\n.reg .b32 %%a, %%b, %%c;\n.reg .pred %%p;\n.reg .%s %%x, %%y;", kind)
	for _, n := range names[:4] {
		w("ld.param.u64 %%%s, [kudzu_%s];", n, n)
	}
	w("cvta.to.global.u64 %%other, %%other;")
	w("mov.u32 %%a, %%ctaid.x;\nmov.u32 %%b, %%ntid.x;\nmov.u32 %%c, %%tid.x;\nmad.wide.u32 %%i, %%a, %%b, 0;\ncvt.u64.u32 %%k, %%c;\nadd.u64 %%i, %%i, %%k;")
	w("mov.u32 %%a, %%nctaid.x;\nmul.wide.u32 %%step, %%a, %%b;\n$again:\nsetp.ge.u64 %%p, %%i, %%total;\n@%%p bra $done;")
	w("mov.u64 %%rest, %%i;\nmov.u64 %%offset, 0;")
	for i := callerDims - 1; i >= 0; i-- {
		w("ld.param.u64 %%n, [kudzu_n%d];\nld.param.u64 %%s, [kudzu_s%d];\nrem.u64 %%k, %%rest, %%n;\ndiv.u64 %%rest, %%rest, %%n;\nmad.lo.u64 %%offset, %%k, %%s, %%offset;", i, i)
	}
	w("mad.lo.u64 %%packed, %%i, %d, %%other;", size)
	if t.store {
		w("%s", from)
	}
	w("{\n.param .b64 a;\n.param .b64 o;\n.param .b64 f;\n.param .b64 m;\n%s;", declared)
	w("st.param.b64 [a], %%array;\nst.param.b64 [o], %%offset;\nst.param.b64 [f], %%info;\nst.param.b64 [m], 0;")
	if t.store {
		w("%s\ncall.uni %s, (a, o, v, f, m);", put, symbol)
	} else {
		w("call.uni (v), %s, (a, o, f, m);\n%s", symbol, get)
	}
	w("}")
	if !t.store {
		w("%s", to)
	}
	w("add.u64 %%i, %%i, %%step;\nbra $again;\n$done:\nret;\n}")
	return b.String()
}

// called adds a launch of a callback, between an array in a layout and numbers without gaps.
func (b *builder) called(c *callback, extents []uint64, batch uint64, l layout, array, other place) {
	total := batch * count(extents)
	n := []uint64{batch, 1, 1, 1}
	s := []int64{l.dist, 0, 0, 0}
	for i, e := range extents {
		n[callerDims-len(extents)+i], s[callerDims-len(extents)+i] = e, l.strides[i]
	}
	params := func(k *call, _ bool) *shim.Params {
		q := (&shim.Params{}).U64(k.src, k.dst, c.info, total)
		for i := range n {
			q.U64(n[i], uint64(s[i]))
		}
		return q
	}
	b.ops = append(b.ops, &op{kernels: c.kernels, name: "kudzu_callback", src: array, dst: other, dir: asAsked, grid: uint32(min((total+31)/32, maxBlocks)), params: params})
}

// callbacks adds a transform whose input is read or whose output is written by the program's functions.
func (b *builder) callbacks(g *geometry, k kind, s sides, aligned bool) {
	plain := *g
	inner, outer := g.n, g.n
	switch k {
	case fromRealKind:
		outer = g.half()
	case toRealKind:
		inner = g.half()
	}
	last := len(g.n) - 1
	src, dst := place{input, 0}, place{output, 0}
	if s.load != nil {
		plain.in = packedLayout(inner, inner[last])
		src = b.room(uint64(plain.in.dist) * g.batch)
		b.called(s.load, inner, g.batch, g.in, place{input, 0}, src)
	}
	if s.store != nil {
		plain.out = packedLayout(outer, outer[last])
		dst = b.room(uint64(plain.out.dist) * g.batch)
	}
	b.add(&plain, k, src, dst, aligned)
	if s.store != nil {
		b.called(s.store, outer, g.batch, g.out, place{output, 0}, dst)
	}
}
