package lower

import (
	"fmt"
	"slices"
	"strings"

	"kudzu/internal/image"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
)

// On GPUs without NVIDIA's units, instructions on textures and surfaces are calls of functions that sample in software, which
// devrt has in PTX. The calls are written into the module's text, so that every executor of PTX can run them.

// texFunctions begins the names of the functions.
const texFunctions = "kudzu_"

// Where operands lie in the block that a function takes (internal/devrt/c/texture.h).
const (
	texAtOp, texAtLevel, texAtHandle, texAtCoord = 0, 4, 8, 16
	texAtLod, texAtGrad, texAtOffset, texFetched = 32, 36, 60, 72
	texAtValue, texSurface, texQueried           = 32, 48, 16
)

// CallTextures is the module's text with calls instead of instructions on textures and surfaces, lines as they were, and the
// functions that are called: none if there is nothing to do. Instructions that no function is for stay, for the lowering to refuse.
func CallTextures(m *ptx.Module) (text string, functions []string) {
	var b strings.Builder // from the first function on
	done, n, own := 0, 0, texFunctions
	if len(m.Funcs) > 0 {
		done = int(m.Funcs[0].Pos)
	}
	head := m.Text[:done]
	for strings.Contains(m.Text, own) { // names that the program does not have
		own += "_"
	}
	for _, f := range m.Funcs {
		if f.Body == nil {
			continue
		}
		for i := range f.Body.Insts {
			c := texCaller{body: f.Body, in: &f.Body.Insts[i], own: own, n: n}
			name := c.call()
			if name == "" {
				continue
			}
			n++
			if !slices.Contains(functions, name) {
				functions = append(functions, name)
			}
			from := int(c.in.Pos)
			end := statementEnd(m.Text, from)
			b.WriteString(m.Text[done:from] + c.text())
			b.WriteString(strings.Repeat("\n", strings.Count(m.Text[from:end], "\n")))
			done = end
		}
	}
	if n == 0 {
		return m.Text, nil
	}
	for _, f := range functions {
		head += texDeclaration(f)
	}
	return head + b.String() + m.Text[done:], functions
}

// texDeclaration declares a function before its first call.
func texDeclaration(name string) string {
	results, size := "(.param .align 4 .b8 r[16]) ", texFetched
	switch kind, _ := strings.CutPrefix(name, texFunctions); {
	case kind == "tex_query":
		results, size = "(.param .b32 r) ", texQueried
	case kind == "surf_load":
		size = texSurface
	case strings.HasPrefix(kind, "surf_"):
		results, size = "", texSurface
	}
	return fmt.Sprintf(".visible .func %s%s (.param .align 8 .b8 a[%d]); ", results, name, size)
}

// statementEnd is behind the semicolon that ends the statement at from.
func statementEnd(text string, from int) int {
	for i := from; i < len(text); i++ {
		switch rest := text[i:]; {
		case rest[0] == ';':
			return i + 1
		case strings.HasPrefix(rest, "//"):
			if n := strings.IndexByte(rest, '\n'); n > 0 {
				i += n
			}
		case strings.HasPrefix(rest, "/*"):
			if n := strings.Index(rest, "*/"); n > 0 {
				i += n + 1
			}
		}
	}
	return len(text)
}

// texCaller writes one call.
type texCaller struct {
	body *ptx.Body
	in   *ptx.Inst
	own  string // begins the names of registers, parameters and labels
	n    int    // of the call
	b    strings.Builder
	bad  bool // an operand that cannot be written
}

func (c *texCaller) f(format string, args ...any) { fmt.Fprintf(&c.b, format, args...) }

// call writes the call and says of what; "" if there is nothing to call.
func (c *texCaller) call() string {
	name := ""
	switch c.in.Op() {
	case isa.Tex, isa.Tld4:
		name = c.fetch()
	case isa.Txq, isa.Suq, isa.Istypep:
		name = c.query()
	case isa.Suld, isa.Sust, isa.Sured:
		name = c.surface()
	}
	if c.bad {
		return ""
	}
	return name
}

// text is what stands for the instruction. Its guard stands before it.
func (c *texCaller) text() string {
	s := "{ " + c.b.String() + "}"
	if c.in.Pred >= 0 {
		return fmt.Sprintf("bra $%[1]sdo%[2]d; bra $%[1]sno%[2]d; $%[1]sdo%[2]d: %[3]s $%[1]sno%[2]d:", c.own, c.n, s)
	}
	return s
}

// begin declares the operands' block and clears it from byte clear on; the handle is in h.
func (c *texCaller) begin(size, clear int, h *ptx.Operand) {
	c.f(".param .align 8 .b8 %sa[%d]; ", c.own, size)
	c.f("st.param.b32 [%sa+%d], 0; ", c.own, texAtLevel)
	for at := clear; at < size; at += 4 {
		c.f("st.param.b32 [%sa+%d], 0; ", c.own, at)
	}
	c.f("st.param.b32 [%sa+%d], %d; ", c.own, texAtOp, texBits(c.in))
	if h.Kind == ptx.OpAddr {
		base := *h
		base.Kind = h.Base
		h = &base
	}
	if isOpaque(h.Var) && h.Kind == ptx.OpVar { // what it contains
		c.f(".reg .b64 %[1]sh; mov.b64 %[1]sh, %[2]s; st.param.b64 [%[1]sa+%[3]d], %[1]sh; ", c.own, h.Var.Name, texAtHandle)
		return
	}
	c.store(h, isa.B64, texAtHandle)
}

// store passes an operand.
func (c *texCaller) store(o *ptx.Operand, t isa.Type, at int) {
	v := ""
	switch {
	case o.Neg || o.Minus:
	case o.Kind == ptx.OpReg:
		v = c.reg(o)
	case o.Kind == ptx.OpImm:
		v = fmt.Sprintf("%#x", immediate(o, t).Bits)
	}
	if v == "" {
		c.bad = true
	}
	c.f("st.param.b%d [%sa+%d], %s; ", 8*t.Bytes(), c.own, at, v)
}

// reg is a register as the program calls it.
func (c *texCaller) reg(o *ptx.Operand) string {
	r := &c.body.Regs[o.Reg]
	s := r.Name
	if r.Num >= 0 {
		s += fmt.Sprint(r.Num)
	}
	if o.Elem >= 0 && r.Vec > 1 {
		s += "." + "xyzw"[o.Elem:][:1]
	}
	return s
}

// words passes the elements of a vector operand, at most n of them.
func (c *texCaller) words(o *ptx.Operand, n, at int) {
	if o == nil {
		return
	}
	list := elements(o)
	if len(list) < n {
		c.bad = true
		return
	}
	for i := range n {
		c.store(&list[i], isa.B32, at+4*i)
	}
}

// address begins the call of an instruction with coordinates. False: there is no function for it.
func (c *texCaller) address(size int) bool {
	o := texOperand(c.in, "a")
	if _, ok := texGeoms[c.in.Mod("geom")]; !ok || o == nil || len(o.Elems) != 2 {
		return false
	}
	n := texCoords(c.in)
	c.begin(size, texAtCoord+4*n, &o.Elems[0])
	c.words(&o.Elems[1], n, texAtCoord)
	return true
}

// take moves a result of bytes at an offset to o.
func (c *texCaller) take(o *ptx.Operand, bytes, at int) {
	switch o.Kind {
	case ptx.OpSink:
	case ptx.OpReg:
		c.f("ld.param.b%d %s, [%sr+%d]; ", 8*bytes, c.reg(o), c.own, at)
	default:
		c.bad = true
	}
}

func (c *texCaller) fetch() string {
	if !c.address(texFetched) {
		return ""
	}
	name := texFunctions + "tex"
	dims, _ := texDims(c.in.Mod("geom"))
	switch g := c.in.Mod("geom"); {
	case c.in.Op() == isa.Tld4:
		name += "_gather"
	case g == isa.ModCube || g == isa.ModAcube:
		name += "_cube"
	}
	if lod := texOperand(c.in, "lod"); lod != nil {
		c.store(lod, isa.B32, texAtLod)
	}
	c.words(texOperand(c.in, "dPdx"), dims, texAtGrad)
	c.words(texOperand(c.in, "dPdy"), dims, texAtGrad+12)
	c.words(texOperand(c.in, "e"), dims, texAtOffset)
	c.f(".param .align 4 .b8 %[1]sr[16]; call (%[1]sr), %[2]s, (%[1]sa); ", c.own, name)
	d, resident := &c.in.Args[0], (*ptx.Operand)(nil)
	if d.Kind == ptx.OpPair {
		d, resident = &d.Elems[0], &d.Elems[1]
	}
	switch t := c.in.Type("dtype"); t {
	case isa.F16x2:
		c.pairs(elements(d))
	default:
		ds := elements(d)
		for i := range ds {
			c.take(&ds[i], t.Bytes(), 4*i)
		}
	}
	if resident != nil && resident.Kind == ptx.OpReg { // the memory is always there
		c.f("setp.eq.u32 %s, 0, 0; ", c.reg(resident))
	}
	return name
}

// pairs packs halves.
func (c *texCaller) pairs(ds []ptx.Operand) {
	c.f(".reg .b16 %[1]sl, %[1]su; ", c.own)
	for i := range ds {
		if ds[i].Kind == ptx.OpSink {
			continue
		}
		if ds[i].Kind != ptx.OpReg {
			c.bad = true
			return
		}
		c.f("ld.param.b16 %[1]sl, [%[1]sr+%[2]d]; ld.param.b16 %[1]su, [%[1]sr+%[3]d]; mov.b32 %[4]s, {%[1]sl, %[1]su}; ", c.own, 8*i, 8*i+4, c.reg(&ds[i]))
	}
}

func (c *texCaller) query() string {
	o, d := texOperand(c.in, "a"), &c.in.Args[0]
	if _, ok := texQueries[c.in.Mod("query")]; o == nil || !ok && c.in.Op() != isa.Istypep {
		return ""
	}
	name := texFunctions + "tex_query"
	c.begin(texQueried, texQueried, o)
	if lod := texOperand(c.in, "lod"); lod != nil {
		c.store(lod, isa.B32, texAtLevel)
	}
	c.f(".param .b32 %[1]sr; call (%[1]sr), %[2]s, (%[1]sa); ", c.own, name)
	if c.in.Op() != isa.Istypep {
		c.take(d, 4, 0)
		return name
	}
	if d.Kind != ptx.OpReg {
		c.bad = true
		return ""
	}
	c.f(".reg .b32 %[1]sq; ld.param.b32 %[1]sq, [%[1]sr]; setp.ne.u32 %[2]s, %[1]sq, 0; ", c.own, c.reg(d))
	return name
}

var surfaceNames = map[uint32]string{image.SurfLoad: "load", image.SurfStore: "store", image.SurfStoreFormatted: "storep", image.SurfReduce: "reduce"}

func (c *texCaller) surface() string {
	if !c.address(texSurface) {
		return ""
	}
	name := texFunctions + "surf_" + surfaceNames[texBits(c.in)&0xf]
	if c.in.Op() == isa.Suld {
		t := c.in.Type("dtype")
		c.f(".param .align 4 .b8 %[1]sr[16]; call (%[1]sr), %[2]s, (%[1]sa); ", c.own, name)
		ds := elements(&c.in.Args[0])
		for i := range ds {
			c.take(&ds[i], t.Bytes(), t.Bytes()*i)
		}
		return name
	}
	t, v := c.in.Type("ctype"), texOperand(c.in, "c")
	if v == nil {
		return ""
	}
	vs := elements(v)
	for i := range vs {
		c.store(&vs[i], t, texAtValue+t.Bytes()*i)
	}
	c.f("call %s, (%sa); ", name, c.own)
	return name
}
