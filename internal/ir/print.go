package ir

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// The text form, one instruction a line:
//
//	module "vecadd" sm=80 params=28 shared=1024 dynalign=16 req=256,1,1 max=0,0,0
//	shared "tile" offset=0 size=1024
//	var "table"
//	func "vecadd" kernel local=16 {
//	slot "depot" offset=0 size=16 align=8
//	b0 "$L0":
//	  %0:i64 = param off=8 @12
//	  %1:i32 = sreg tid.x @13
//	  %2:i1 = icmp lt %1, i32:256
//	  %3:f32, %4:f32 = load global align=8 %0  ; affine 8
//	  condbr %2 -> b1, b2
//	b1:
//	  %5:i32 = phi [b0 %1], [b2 i32:-1]
//	}
//
// Result types stand on the results, attributes between the operation and its arguments, "-> blocks" after them, then
// the PTX line after @, then what the shape analysis knows as a comment. Values are numbered in order, per function.

// String is the module's text form.
func (m *Module) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "module %s", strconv.Quote(m.Kernel))
	if m.SM != 0 {
		fmt.Fprintf(&b, " sm=%d", m.SM)
	}
	if m.ParamBytes != 0 {
		fmt.Fprintf(&b, " params=%d", m.ParamBytes)
	}
	if m.SharedBytes != 0 {
		fmt.Fprintf(&b, " shared=%d", m.SharedBytes)
	}
	if m.DynamicAlign != 0 {
		fmt.Fprintf(&b, " dynalign=%d", m.DynamicAlign)
	}
	if m.ReqBlock != [3]uint32{} {
		fmt.Fprintf(&b, " req=%d,%d,%d", m.ReqBlock[0], m.ReqBlock[1], m.ReqBlock[2])
	}
	if m.MaxBlock != [3]uint32{} {
		fmt.Fprintf(&b, " max=%d,%d,%d", m.MaxBlock[0], m.MaxBlock[1], m.MaxBlock[2])
	}
	b.WriteByte('\n')
	for _, s := range m.Shared {
		fmt.Fprintf(&b, "shared %s offset=%d size=%d\n", strconv.Quote(s.Name), s.Offset, s.Size)
	}
	for _, v := range m.Vars {
		fmt.Fprintf(&b, "var %s\n", strconv.Quote(v))
	}
	for _, f := range m.Funcs {
		f.print(&b)
	}
	return b.String()
}

// String is the function's text form. It renumbers the function's values and blocks.
func (f *Func) String() string {
	var b strings.Builder
	f.print(&b)
	return b.String()
}

func (f *Func) print(b *strings.Builder) {
	f.Renumber()
	fmt.Fprintf(b, "func %s", strconv.Quote(f.Name))
	if f.Kernel {
		b.WriteString(" kernel")
	}
	if len(f.Params) > 0 {
		b.WriteString(" (")
		printDefs(b, f.Params)
		b.WriteString(")")
	}
	if len(f.Results) > 0 {
		b.WriteString(" ->")
		for i, t := range f.Results {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteByte(' ')
			b.WriteString(t.String())
		}
	}
	if f.LocalBytes != 0 {
		fmt.Fprintf(b, " local=%d", f.LocalBytes)
	}
	b.WriteString(" {\n")
	for _, s := range f.Slots {
		fmt.Fprintf(b, "slot %s offset=%d size=%d align=%d\n", strconv.Quote(s.Name), s.Offset, s.Size, s.Align)
	}
	for _, bl := range f.Blocks {
		fmt.Fprintf(b, "b%d", bl.ID)
		if bl.Name != "" {
			b.WriteByte(' ')
			b.WriteString(strconv.Quote(bl.Name))
		}
		b.WriteString(":\n")
		for _, in := range bl.Insts {
			b.WriteString("  ")
			in.print(b)
			b.WriteByte('\n')
		}
	}
	b.WriteString("}\n")
}

func printDefs(b *strings.Builder, vs []*Value) {
	for i, v := range vs {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(b, "%%%d:%s", v.ID, v.Type)
	}
}

// String is the instruction's line of the text form, with the numbers the function has now.
func (in *Inst) String() string {
	var b strings.Builder
	in.print(&b)
	return b.String()
}

func (in *Inst) print(b *strings.Builder) {
	if len(in.Results) > 0 {
		printDefs(b, in.Results)
		b.WriteString(" = ")
	}
	b.WriteString(in.Op.String())
	in.printAttrs(b)
	if in.Op == Phi {
		for i, a := range in.Args {
			if i > 0 {
				b.WriteByte(',')
			}
			name := "?"
			if i < len(in.Targets) {
				name = "b" + strconv.Itoa(in.Targets[i].ID)
			}
			fmt.Fprintf(b, " [%s %s]", name, a)
		}
	} else {
		for i, a := range in.Args {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteByte(' ')
			b.WriteString(a.String())
		}
		for i, t := range in.Targets {
			if i == 0 {
				b.WriteString(" -> ")
			} else {
				b.WriteString(", ")
			}
			fmt.Fprintf(b, "b%d", t.ID)
		}
	}
	if in.Mask != nil {
		fmt.Fprintf(b, " mask=%s", in.Mask)
	}
	if in.Line != 0 {
		fmt.Fprintf(b, " @%d", in.Line)
	}
	for i, r := range in.Results {
		if s := r.Shape.String(); s != "" {
			if i == 0 {
				b.WriteString("  ;")
			}
			b.WriteByte(' ')
			b.WriteString(s)
		}
	}
}

func (in *Inst) printAttrs(b *strings.Builder) {
	for i := range attributes {
		a := &attributes[i]
		if a.get(&in.Attr) != 0 || slices.Contains(a.must, in.Op) {
			b.WriteByte(' ')
			a.print(b, &in.Attr)
		}
	}
}

func (m *Matrix) print(b *strings.Builder) {
	fmt.Fprintf(b, "mat(m%d n%d k%d", m.M, m.N, m.K)
	for _, f := range m.fields() {
		switch p := f.at.(type) {
		case *string:
			if *p != "" {
				fmt.Fprintf(b, " %s=%s", f.name, strconv.Quote(*p))
			}
		case *bool:
			if *p {
				fmt.Fprintf(b, " %s", f.name)
			}
		case *int:
			if *p != 0 {
				fmt.Fprintf(b, " %s=%d", f.name, *p)
			}
		}
	}
	b.WriteByte(')')
}

type matField struct {
	name string
	at   any // *string, *bool or *int
}

// fields are the parts of a matrix attribute in print order, M, N and K apart.
func (m *Matrix) fields() []matField {
	return []matField{
		{"a", &m.A}, {"b", &m.B}, {"c", &m.C}, {"d", &m.D}, {"alayout", &m.ALayout}, {"blayout", &m.BLayout}, {"trans", &m.Trans},
		{"num", &m.Num}, {"sat", &m.Sat}, {"sparse", &m.Sparse}, {"whole", &m.Whole}, {"bit", &m.Bit}, {"frag", &m.Fragment},
		{"scale", &m.Scale}, {"scales", &m.Scales}, {"selector", &m.Selector},
	}
}

// String is the value as an argument: %12, or a constant with its type (i32:-1, f32:0.5, f32:0x7fffffff).
func (v *Value) String() string {
	if v == nil {
		return "nil"
	}
	if !v.Const {
		return "%" + strconv.Itoa(v.ID)
	}
	return v.Type.String() + ":" + v.constText()
}

func (v *Value) constText() string {
	switch v.Type {
	case I1:
		return strconv.FormatUint(v.Bits, 10)
	case F32:
		if f := math.Float32frombits(uint32(v.Bits)); !math.IsNaN(float64(f)) && !math.IsInf(float64(f), 0) {
			return floatText(float64(f), 32)
		}
	case F64:
		if f := math.Float64frombits(v.Bits); !math.IsNaN(f) && !math.IsInf(f, 0) {
			return floatText(f, 64)
		}
	case I8, I16, I32, I64, I128:
		return strconv.FormatInt(v.Int(), 10)
	}
	return fmt.Sprintf("%#x", v.Bits)
}

// floatText is the shortest text that reads back to the same bits; -0 keeps its sign.
func floatText(f float64, bits int) string {
	s := strconv.FormatFloat(f, 'g', -1, bits)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}

var shapeWords = [...]string{ShapeUnknown: "", Varying: "varying", Affine: "affine", WarpUniform: "warp", BlockUniform: "block"}

// String says what is known, "" for nothing.
func (s Shape) String() string {
	if s.Kind == ShapeUnknown {
		return ""
	}
	var b strings.Builder
	b.WriteString(shapeWords[s.Kind])
	if s.Kind == Affine {
		b.WriteString(s.pattern())
		if s.NoWrap {
			b.WriteString("s")
		}
		if s.NoWrapU {
			b.WriteString("u")
		}
		if s.Guess {
			b.WriteString(", granted")
		}
	}
	if s.Kind == Varying && s.Guess {
		b.WriteString(", guess " + s.pattern())
	} else if s.Kind == Varying && s.Seg != 0 {
		fmt.Fprintf(&b, ", in %ds (%d)", s.Seg, s.Stride)
	}
	if s.Align > 1 {
		fmt.Fprintf(&b, "*%d", s.Align)
	}
	return b.String()
}

// pattern says how lanes differ: (stride), (stride)/segment(its stride), or all 32 distances.
func (s Shape) pattern() string {
	switch {
	case s.Table != nil:
		return fmt.Sprint(*s.Table)
	case s.Seg != 0:
		return fmt.Sprintf("(%d)/%d(%d)", s.Stride, s.Seg, s.SegStride)
	}
	return fmt.Sprintf("(%d)", s.Stride)
}
