package fuse

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"kudzu/internal/shim/cudnn/nn"
)

// step is how far a tensor goes from one lane to the next.
type step uint8

const (
	still step = iota
	next       // one element
	far        // a parameter
)

// shape is what the text of a kernel depends on beside its program: all else are parameters.
type shape struct {
	flat    bool   // lanes take indices of all axes; otherwise of the first, and a block has one index of the others
	axes    int    // that are kept
	steps   []step // of each slot along the first axis
	lanes   bool   // a warp reduces along the first axis that is reduced, one index a block
	reduced int    // axes
}

// key appends what tells shapes apart.
func (s *shape) key(b []byte) []byte {
	flags := byte(0)
	if s.flat {
		flags |= 1
	}
	if s.lanes {
		flags |= 2
	}
	b = append(b, flags, byte(s.axes), byte(s.reduced))
	for _, x := range s.steps {
		b = append(b, byte(x))
	}
	return b
}

// fact is what a parameter of a kernel says.
type fact struct {
	what what
	slot int
	axis int // of the kept ones, then of those that are reduced
}

type what uint8

const (
	address what = iota
	number       // slot is the number's
	total        // of indices that lanes take
	chunks       // blocks to an index of the axes but the first
	size
	multiplier // of a division by size
	shift
	stride // in bytes
)

// writer writes the text of one kernel.
type writer struct {
	p      *Program
	s      shape
	params []string
	facts  []fact // of the parameters
	body   strings.Builder
	count  map[string]int // registers by letter
	calls  []string
	labels int

	base   []string // address of each slot's tensor
	offset []string // of the element, in bytes
	value  []string // register of each node, once it is written
	tid    string
}

// text is the whole module, and what its parameters are.
func text(p *Program, s shape) (string, []fact) {
	w := &writer{p: p, s: s, count: map[string]int{}, value: make([]string, len(p.nodes)), base: make([]string, len(p.slots)), offset: make([]string, len(p.slots))}
	w.inputs()
	w.position()
	if len(p.reduced) > 0 {
		w.reduction()
	}
	for _, st := range p.stores {
		w.store(st)
	}
	w.line("Done:")
	w.line("ret;")
	var out strings.Builder
	out.WriteString(".version 6.4\n.target sm_61\n.address_size 64\n")
	slices.Sort(w.calls)
	out.WriteString(definitions(slices.Compact(w.calls)))
	fmt.Fprintf(&out, ".visible .entry fused(\n%s)\n{\n", strings.Join(w.params, ",\n"))
	for _, letter := range []string{"f", "d", "r", "l", "p", "h"} {
		kind := map[string]string{"f": "f32", "d": "f64", "r": "b32", "l": "b64", "p": "pred", "h": "b16"}[letter]
		fmt.Fprintf(&out, ".reg .%s %%%s<%d>;\n", kind, letter, w.count[letter]+1)
	}
	out.WriteString(w.body.String())
	out.WriteString("}\n")
	return out.String(), w.facts
}

// line appends an instruction.
func (w *writer) line(format string, args ...any) {
	fmt.Fprintf(&w.body, format+"\n", args...)
}

// reg is a new register.
func (w *writer) reg(letter string) string {
	w.count[letter]++
	return fmt.Sprintf("%%%s%d", letter, w.count[letter])
}

func (w *writer) label() string {
	w.labels++
	return fmt.Sprintf("L%d", w.labels)
}

// param is the next parameter, in a register.
func (w *writer) param(typ string, f fact) string {
	w.facts = append(w.facts, f)
	letter := map[string]string{"u64": "l", "f64": "d", "u32": "r"}[typ]
	name := fmt.Sprintf("p%d", len(w.params))
	w.params = append(w.params, ".param ."+typ+" "+name)
	r := w.reg(letter)
	w.line("ld.param.%s %s, [%s];", typ, r, name)
	return r
}

// inputs reads addresses and numbers.
func (w *writer) inputs() {
	for i, s := range w.p.slots {
		if !s.index {
			at := w.param("u64", fact{what: address, slot: i})
			g := w.reg("l")
			w.line("cvta.to.global.u64 %s, %s;", g, at)
			w.base[i] = g
		}
	}
	scalars := make([]string, w.p.scalars)
	for v, n := range w.p.nodes {
		switch n.from {
		case fromScalar:
			if scalars[n.slot] == "" {
				scalars[n.slot] = w.scalar(n.kind, n.slot)
			}
			w.value[v] = scalars[n.slot]
		case fromConst:
			w.value[v] = w.constant(n.kind, n.constant)
		case fromOp, fromTensor, fromIndex, fromReduced:
		}
	}
	w.tid = w.reg("r")
	w.line("mov.u32 %s, %%tid.x;", w.tid)
}

// scalar is a number that Run was given: whole numbers travel as such, all others as f64.
func (w *writer) scalar(k Kind, at int) string {
	f := fact{what: number, slot: at}
	if k == S64 || k == S32 {
		return w.convert(k, S64, w.param("u64", f))
	}
	return w.convert(k, F64, w.param("f64", f))
}

func (w *writer) constant(k Kind, v float64) string {
	r := w.reg(kinds[k].reg)
	switch k {
	case F32:
		w.line("mov.f32 %s, 0f%08X;", r, math.Float32bits(float32(v)))
	case F64:
		w.line("mov.f64 %s, 0d%016X;", r, math.Float64bits(v))
	case S32:
		w.line("mov.u32 %s, %d;", r, int32(v))
	case S64:
		w.line("mov.u64 %s, %d;", r, int64(v))
	case Bool:
		n := w.constant(S32, v)
		w.line("setp.ne.s32 %s, %s, 0;", r, n)
	}
	return r
}

// size is bytes an element; what has no memory counts.
func (s slot) size() int64 {
	if s.index {
		return 1
	}
	return s.elem.Size()
}

// position finds the offset of every slot for the kept indices of this lane. A lane without one is done.
func (w *writer) position() {
	for i := range w.offset {
		w.offset[i] = w.reg("l")
		w.line("mov.u64 %s, 0;", w.offset[i])
	}
	block := w.reg("r")
	w.line("mov.u32 %s, %%ctaid.x;", block)
	switch {
	case w.s.lanes:
		w.unravel(block, 0, true)
	case w.s.flat:
		n := w.param("u32", fact{what: total})
		w.unravel(w.bounded(w.global(block), n), 0, false)
	default:
		n, many := w.param("u32", fact{what: total}), w.param("u32", fact{what: chunks})
		row, part := w.reg("r"), w.reg("r")
		w.line("div.u32 %s, %s, %s;", row, block, many)
		w.line("rem.u32 %s, %s, %s;", part, block, many)
		x := w.bounded(w.global(part), n)
		w.unravel(row, 1, true)
		w.along(x)
	}
}

// global is this lane's number among those of all blocks.
func (w *writer) global(block string) string {
	size, x := w.reg("r"), w.reg("r")
	w.line("mov.u32 %s, %%ntid.x;", size)
	w.line("mad.lo.u32 %s, %s, %s, %s;", x, block, size, w.tid)
	return x
}

// bounded lets lanes go whose number is not below n.
func (w *writer) bounded(x, n string) string {
	p := w.reg("p")
	w.line("setp.ge.u32 %s, %s, %s;", p, x, n)
	w.line("@%s bra Done;", p)
	return x
}

// unravel makes indices of the axes from first on of one number, and adds what they mean to the offsets.
func (w *writer) unravel(x string, first int, uniform bool) {
	for k := first; k < w.s.axes; k++ {
		at := x
		if k < w.s.axes-1 {
			n := w.param("u32", fact{what: size, axis: k})
			q, rest := w.quotient(x, n, k, uniform), w.reg("r")
			at = w.reg("r")
			w.line("mul.lo.u32 %s, %s, %s;", rest, q, n)
			w.line("sub.u32 %s, %s, %s;", at, x, rest)
			x = q
		}
		w.advance(at, k)
	}
}

// quotient divides; lanes that differ by a multiplication.
func (w *writer) quotient(x, n string, k int, uniform bool) string {
	q := w.reg("r")
	if uniform {
		w.line("div.u32 %s, %s, %s;", q, x, n)
		return q
	}
	m, by := w.param("u32", fact{what: multiplier, axis: k}), w.param("u32", fact{what: shift, axis: k})
	t, one := w.reg("r"), w.reg("p")
	w.line("mul.hi.u32 %s, %s, %s;", t, x, m)
	w.line("shr.u32 %s, %s, %s;", q, t, by)
	w.line("setp.eq.u32 %s, %s, 1;", one, n)
	w.line("selp.b32 %s, %s, %s, %s;", q, x, q, one)
	return q
}

// advance adds an index times a stride, which is a parameter, to every offset.
func (w *writer) advance(at string, k int) {
	wide := w.reg("l")
	w.line("cvt.u64.u32 %s, %s;", wide, at)
	for i := range w.offset {
		by := w.param("u64", fact{what: stride, slot: i, axis: k})
		w.line("mad.lo.s64 %s, %s, %s, %s;", w.offset[i], wide, by, w.offset[i])
	}
}

// along adds an index of the first axis, by the steps of the shape.
func (w *writer) along(x string) {
	for i, st := range w.s.steps {
		w.offset[i] = w.stepped(w.offset[i], x, st, fact{what: stride, slot: i})
	}
}

// stepped is an offset and x steps.
func (w *writer) stepped(offset, x string, st step, f fact) string {
	if st == still {
		return offset
	}
	by, to := w.reg("l"), w.reg("l")
	if st == next {
		w.line("mul.wide.u32 %s, %s, %d;", by, x, w.p.slots[f.slot].size())
	} else {
		wide := w.reg("l")
		w.line("cvt.u64.u32 %s, %s;", wide, x)
		w.line("mul.lo.s64 %s, %s, %s;", by, wide, w.param("u64", f))
	}
	w.line("add.s64 %s, %s, %s;", to, offset, by)
	return to
}

// place is where the element of a slot is.
func (w *writer) place(slot int) string {
	a := w.reg("l")
	w.line("add.s64 %s, %s, %s;", a, w.base[slot], w.offset[slot])
	return a
}

// load reads the element of a slot, as the kind of its type.
func (w *writer) load(slot int) string {
	e := w.p.slots[slot].elem
	at := w.place(slot)
	r := w.reg(kinds[KindOf(e)].reg)
	switch e {
	case nn.F32, nn.F64, nn.S32, nn.S64, nn.S8, nn.U8:
		w.line("ld.global.%s %s, [%s];", e, r, at)
	case nn.F16:
		h := w.reg("h")
		w.line("ld.global.b16 %s, [%s];", h, at)
		w.line("cvt.f32.f16 %s, %s;", r, h)
	case nn.BF16:
		b, up := w.reg("r"), w.reg("r")
		w.line("ld.global.u16 %s, [%s];", b, at)
		w.line("shl.b32 %s, %s, 16;", up, b)
		w.line("mov.b32 %s, %s;", r, up)
	case nn.E4M3, nn.E5M2:
		b := w.reg("r")
		w.line("ld.global.u8 %s, [%s];", b, at)
		w.call("from_"+e.String(), r, "b32", []string{b}, "b32")
	case nn.Bool:
		b := w.reg("r")
		w.line("ld.global.u8 %s, [%s];", b, at)
		w.line("setp.ne.u32 %s, %s, 0;", r, b)
	}
	return r
}

// store writes a value to its slot.
func (w *writer) store(st store) {
	v, k, e := w.eval(st.value), w.p.nodes[st.value].kind, w.p.slots[st.slot].elem
	at := w.place(st.slot)
	switch e {
	case nn.F32, nn.F64, nn.S32, nn.S64:
		w.line("st.global.%s [%s], %s;", e, at, w.convert(KindOf(e), k, v))
	case nn.F16:
		if k != F64 {
			v, k = w.convert(F32, k, v), F32
		}
		h := w.reg("h")
		w.line("cvt.rn.f16.%s %s, %s;", kinds[k].ptx, h, v)
		w.line("st.global.b16 [%s], %s;", at, h)
	case nn.BF16, nn.E4M3, nn.E5M2:
		b := w.reg("r")
		w.call("to_"+e.String(), b, "b32", []string{w.convert(F32, k, v)}, "b32")
		w.line("st.global.u%d [%s], %s;", 8*e.Size(), at, b)
	case nn.S8, nn.U8:
		low, high := -128, 127
		if e == nn.U8 {
			low, high = 0, 255
		}
		r := w.convert(S32, k, v)
		a, b := w.reg("r"), w.reg("r")
		w.line("max.s32 %s, %s, %d;", a, r, low)
		w.line("min.s32 %s, %s, %d;", b, a, high)
		w.line("st.global.u8 [%s], %s;", at, b)
	case nn.Bool:
		w.line("st.global.u8 [%s], %s;", at, w.convert(S32, Bool, w.convert(Bool, k, v)))
	}
}

// call calls a function of c/math.c.
func (w *writer) call(name, result, resultType string, args []string, argType string) {
	w.calls = append(w.calls, name)
	w.line("{")
	var list []string
	for i, a := range args {
		w.line(".param .%s a%d;", argType, i)
		w.line("st.param.%s [a%d], %s;", argType, i, a)
		list = append(list, fmt.Sprintf("a%d", i))
	}
	w.line(".param .%s r0;", resultType)
	w.line("call.uni (r0), %s, (%s);", name, strings.Join(list, ", "))
	w.line("ld.param.%s %s, [r0];", resultType, result)
	w.line("}")
}
