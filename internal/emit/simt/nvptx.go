package simt

import (
	"fmt"
	"strings"

	"kudzu/internal/emit"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// nvptx is NVIDIA's GPUs through LLVM's NVPTX target: the result is PTX.
type nvptx struct {
	name string
	sm   int
}

// nvptxOwn is the operations that this target writes in its own way, and how.
var (
	nvptxOwn  [ir.NumOps]emitFn
	nvptxWays [ir.NumOps]Way
)

func (t nvptx) triple() string { return "nvptx64-nvidia-cuda" }

// features: the newest PTX that LLVM 19 writes; the version the module needs is put in its place afterwards.
func (t nvptx) features() string { return "+ptx83" }

// narrow: LLVM has 32-bit pointers for shared memory by option only.
func (t nvptx) narrow(ir.Space) bool { return false }

func (t nvptx) attributes(bool, int) []string {
	return []string{"nounwind", "convergent", "null_pointer_is_valid", `"no-builtins"`}
}

func (t nvptx) trailer(Config) string { return "" }

func (t nvptx) pointers() bool { return true }

func (t nvptx) crosses(*ir.Inst) bool { return true }

func (t nvptx) own(op ir.Op) emitFn { return nvptxOwn[op] }

func (t nvptx) way(op ir.Op) Way { return nvptxWays[op] }

// space: parameters are generic, LLVM finds out what it can read in place.
func (t nvptx) space(sp ir.Space) int {
	switch sp {
	case ir.Global:
		return 1
	case ir.Shared:
		return 3
	case ir.Const:
		return 4
	case ir.Local:
		return 5
	}
	return 0
}

// head writes the parameters as the program declared them, so that every way to launch the kernel still fits: numbers as numbers,
// the rest, and what has its address taken, as bytes.
func (t nvptx) head(e *emitter) string {
	whole := make([]bool, len(e.k.Params))
	for i, p := range e.k.Params {
		whole[i] = p.Size == 1 || p.Size == 2 || p.Size == 4 || p.Size == 8
	}
	for _, b := range e.m.Funcs[0].Blocks {
		for _, in := range b.Insts {
			if in.Op != ir.Param && in.Op != ir.ParamAddr {
				continue
			}
			i := e.paramAt(int(in.Off))
			if i >= 0 && (in.Op == ir.ParamAddr || int(in.Off) != e.k.Params[i].Offset || in.Results[0].Type.Bits() != 8*e.k.Params[i].Size) {
				whole[i] = false
			}
		}
	}
	var texts []string
	for i, p := range e.k.Params {
		v := ll.Val{T: ll.IntType(8 * p.Size), S: fmt.Sprintf("%%p%d", i)}
		text := v.String()
		if !whole[i] {
			v.T = "ptr"
			text = fmt.Sprintf("ptr byval([%d x i8]) align %d %s", p.Size, p.Align, v.S)
		}
		e.args = append(e.args, v)
		texts = append(texts, text)
	}
	return fmt.Sprintf("ptx_kernel void @%s(%s)", quote(e.m.Kernel), strings.Join(texts, ", "))
}

// paramAt is the parameter that has byte off, -1 if none has.
func (e *emitter) paramAt(off int) int {
	for i, p := range e.k.Params {
		if off >= p.Offset && off < p.Offset+p.Size {
			return i
		}
	}
	return -1
}

func (t nvptx) param(e *emitter, off int, ty ir.Type) ll.Val {
	i := e.paramAt(off)
	if i < 0 { // between two parameters: nobody wrote it
		return emit.Const(ty, 0)
	}
	v, p := e.args[i], e.k.Params[i]
	if v.T != "ptr" {
		return e.Bitcast(v, typ(ty))
	}
	rel := off - p.Offset
	align := p.Align
	for rel%align != 0 {
		align /= 2
	}
	at := e.Offset(v, int64(rel))
	return e.Load(typ(ty), at, min(align, 16))
}

func (t nvptx) paramAddr(e *emitter, off int) ll.Val {
	i := e.paramAt(off)
	if i < 0 {
		e.fail("an address outside of the parameters")
	}
	p := e.PtrToInt(e.args[i])
	return e.Add(p, ll.Int("i64", int64(off-e.k.Params[i].Offset)))
}

// variable declares the module's variable; its definition is the program's own text.
func (t nvptx) variable(e *emitter, in *ir.Inst) ll.Val {
	sp := 1
	if in.Space == ir.Const {
		sp = t.space(ir.Const)
	}
	name := e.g.declare(in.Sym, fmt.Sprintf("external addrspace(%d) global [1 x i8], align 1", sp))
	p := e.PtrToInt(ll.Val{T: ll.PtrTo(sp), S: name})
	return e.Add(p, ll.Int("i64", in.Off))
}

func (t nvptx) prologue(*emitter) {}

func (t nvptx) exit(e *emitter) {
	e.asm("exit;", sideEffect, nil)
	e.Unreachable()
}

func (t nvptx) frame(e *emitter, bytes, align int) ll.Val {
	p := e.Alloca(ll.Array(bytes, "i8"), align)
	return e.AddrSpaceCast(p, "ptr addrspace(5)")
}

// asmKind is what LLVM may do with inline assembly.
type asmKind uint8

const (
	pure       asmKind = iota // a function of its operands
	sideEffect                // stays where it is, and memory may be another after it
	together                  // and so must the threads that come to it
)

var asmLetters = map[ll.Type]string{"i16": "h", "i32": "r", "i64": "l", "float": "f", "double": "d"}

// asmCall is inline assembly being put together.
type asmCall struct {
	e               *emitter
	cons, args      []string
	outs            []ll.Type // types of LLVM's results
	names           []string  // what $0 … stand for
	before, after   strings.Builder
	results         []func(parts []ll.Val) ll.Val
	scratch, places int
}

// asm writes an instruction: $0 … in text are results of the given types, then arguments. Predicates, bytes, halves and 128 bits, which
// inline assembly has no operands for, go through others.
func (e *emitter) asm(text string, kind asmKind, results []ll.Type, args ...ll.Val) []ll.Val {
	return e.asmTied(text, kind, 0, results, args...)
}

func (e *emitter) asmTied(text string, kind asmKind, tied int, results []ll.Type, args ...ll.Val) []ll.Val {
	c := &asmCall{e: e}
	for _, t := range results {
		c.out(t)
	}
	for i, a := range args {
		if i < tied {
			c.cons, c.args, c.names = append(c.cons, fmt.Sprint(i)), append(c.args, a.String()), append(c.names, "")
			c.places++
			continue
		}
		c.in(a)
	}
	body := strings.TrimSuffix(c.expand(text), ";") + ";"
	if c.before.Len()+c.after.Len() > 0 {
		body = "{ " + c.before.String() + body + " " + c.after.String() + "}"
	}
	attrs, side := "nounwind", ""
	switch kind {
	case pure:
		attrs += " memory(none)"
	case sideEffect:
		side = "sideeffect "
		c.cons = append(c.cons, "~{memory}")
	case together:
		side = "sideeffect "
		attrs += " convergent"
		c.cons = append(c.cons, "~{memory}")
	}
	ret := returned(c.outs)
	call := fmt.Sprintf(`call %s asm %s"%s", "%s"(%s) %s`, ret, side, body, strings.Join(c.cons, ","), strings.Join(c.args, ", "), attrs)
	var parts []ll.Val
	switch len(c.outs) {
	case 0:
		e.Do("%s", call)
	case 1:
		parts = append(parts, e.Op(ret, "%s", call))
	default:
		r := e.Op(ret, "%s", call)
		for i := range c.outs {
			parts = append(parts, e.ExtractValue(r, i))
		}
	}
	var out []ll.Val
	for _, f := range c.results {
		out = append(out, f(parts))
	}
	return out
}

// reg makes a register of the assembly's own.
func (c *asmCall) reg(t string) string {
	c.scratch++
	r := fmt.Sprintf("%%kz%d", c.scratch)
	fmt.Fprintf(&c.before, ".reg %s %s; ", t, r)
	return r
}

// place adds an output of LLVM's and gives its operand and where it will be among the parts.
func (c *asmCall) place(t ll.Type) (string, int) {
	c.cons, c.outs = append(c.cons, "="+asmLetters[t]), append(c.outs, t)
	c.places++
	return fmt.Sprintf("$%d", c.places-1), c.places - 1
}

func (c *asmCall) out(t ll.Type) {
	e := c.e
	switch t {
	case "i1":
		o, at := c.place("i32")
		p := c.reg(".pred")
		c.names = append(c.names, p)
		fmt.Fprintf(&c.after, "selp.b32 %s, 1, 0, %s; ", o, p)
		c.results = append(c.results, func(v []ll.Val) ll.Val { return e.ICmp("ne", v[at], ll.Int("i32", 0)) })
	case "i8":
		o, at := c.place("i16")
		c.names = append(c.names, o)
		c.results = append(c.results, func(v []ll.Val) ll.Val { return e.Trunc(v[at], "i8") })
	case "half", "bfloat":
		o, at := c.place("i16")
		c.names = append(c.names, o)
		c.results = append(c.results, func(v []ll.Val) ll.Val { return e.Bitcast(v[at], t) })
	case "i128":
		lo, at := c.place("i64")
		hi, up := c.place("i64")
		q := c.reg(".b128")
		c.names = append(c.names, q)
		fmt.Fprintf(&c.after, "mov.b128 {%s, %s}, %s; ", lo, hi, q)
		c.results = append(c.results, func(v []ll.Val) ll.Val { return e.join([]ll.Val{v[at], v[up]}) })
	default:
		o, at := c.place(t)
		c.names = append(c.names, o)
		c.results = append(c.results, func(v []ll.Val) ll.Val { return v[at] })
	}
}

// operand adds an input of LLVM's and gives its name.
func (c *asmCall) operand(v ll.Val) string {
	c.cons, c.args = append(c.cons, asmLetters[v.T]), append(c.args, v.String())
	c.places++
	return fmt.Sprintf("$%d", c.places-1)
}

func (c *asmCall) in(v ll.Val) {
	e := c.e
	switch v.T {
	case "i1":
		o := c.operand(e.ZExt(v, "i32"))
		p := c.reg(".pred")
		fmt.Fprintf(&c.before, "setp.ne.b32 %s, %s, 0; ", p, o)
		c.names = append(c.names, p)
	case "i8":
		c.names = append(c.names, c.operand(e.ZExt(v, "i16")))
	case "half", "bfloat":
		c.names = append(c.names, c.operand(e.Bitcast(v, "i16")))
	case "i128":
		lo := c.operand(e.Trunc(v, "i64"))
		hi := c.operand(e.Trunc(e.LShr(v, ll.Int("i128", 64)), "i64"))
		q := c.reg(".b128")
		fmt.Fprintf(&c.before, "mov.b128 %s, {%s, %s}; ", q, lo, hi)
		c.names = append(c.names, q)
	default:
		c.names = append(c.names, c.operand(v))
	}
}

// expand puts the operands' names into the text.
func (c *asmCall) expand(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '$' {
			b.WriteByte(text[i])
			continue
		}
		if i+1 < len(text) && text[i+1] == '$' {
			b.WriteString("$$")
			i++
			continue
		}
		n, j := 0, i+1
		for j < len(text) && text[j] >= '0' && text[j] <= '9' {
			n = 10*n + int(text[j]-'0')
			j++
		}
		b.WriteString(c.names[n])
		i = j - 1
	}
	return b.String()
}
