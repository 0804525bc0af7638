// Package spell writes instructions from the table: for every form, spellings that cover its words pairwise, operands of
// every shape it takes, and mutations that it must not take. The vendor's assembler and our checker are asked about the same
// lines, and their verdicts compared.
package spell

import (
	"fmt"
	"slices"
	"strings"

	"kudzu/internal/ptx/isa"
)

// Case is one line to be judged.
type Case struct {
	Line    string // the instruction with its semicolon
	Form    *isa.Form
	Mutated bool
}

// Profile is a module header.
type Profile struct {
	Target  string
	Version string
}

// Prologue is the text before the lines: header, symbols, and registers of every type. Its line count is fixed.
func Prologue(p Profile) string {
	newer := ""
	if p.Version >= "8.3" {
		newer = " .reg .b128 q<4>;"
	}
	if p.Version >= "4.3" {
		newer += " .reg .f16 fh<4>; .reg .f16x2 fx<8>;"
	}
	return fmt.Sprintf(`.version %s
.target %s
.address_size 64
.global .align 128 .b8 gv[1024];
.entry k(.param .align 128 .b8 kp[128]) {
.shared .align 128 .b8 sv[1024];
.local .align 16 .b8 lv[64];
.reg .pred p<8>; .reg .b8 b8_<4>; .reg .b16 h<16>; .reg .b32 r<300>; .reg .b64 d<160>; .reg .f32 f<300>; .reg .f64 fd<16>; .reg .u16 uh<4>; .reg .s32 sr<4>; .reg .u64 ud<4>;%s
`, p.Version, p.Target, newer)
}

// Epilogue closes the kernel.
const Epilogue = "ret;\n}\n"

// registers by type: the prefix of a family of the prologue.
func prefix(t isa.Type) string {
	switch t {
	case isa.Pred:
		return "p"
	case isa.F32:
		return "f"
	case isa.F64:
		return "fd"
	case isa.F16x2:
		return "fx"
	case isa.F16:
		return "fh"
	}
	switch t.Bits() {
	case 8, 4:
		return "b8_"
	case 16:
		return "h"
	case 64:
		return "d"
	case 128:
		return "q"
	}
	return "r"
}

// writer numbers registers as it hands them out, so that operands differ.
type writer struct {
	form *isa.Form
	mods []isa.Mod
	next map[string]int
}

var counts = map[string]int{"p": 8, "b8_": 4, "h": 16, "r": 300, "d": 160, "q": 4, "fh": 4, "fx": 8, "f": 300, "fd": 16}

func (w *writer) reg(t isa.Type) string {
	p := prefix(t)
	n := w.next[p]
	w.next[p] = (n + 1) % counts[p]
	return fmt.Sprintf("%s%d", p, n)
}

func (w *writer) vec(t isa.Type, n int) string {
	var regs []string
	for range n {
		regs = append(regs, w.reg(t))
	}
	return "{" + strings.Join(regs, ", ") + "}"
}

func (w *writer) word(slot string) isa.Mod {
	if i := w.form.Slot(slot); i >= 0 {
		return w.mods[i]
	}
	return 0
}

// operand writes a fitting operand; imm asks for a constant where one is allowed.
func (w *writer) operand(i int, imm bool) string {
	o := &w.form.Operands()[i]
	t := w.form.OperandType(i, w.mods, 64)
	switch {
	case o.Kinds&isa.KTex != 0:
		return w.texAddress(o)
	case o.Kinds&isa.KAddr != 0:
		return w.address(o)
	case o.Kinds == isa.KSink:
		return "_"
	}
	if n := w.form.Fragment(i, w.mods); n > 0 {
		return w.vec(t, n)
	}
	s := ""
	switch {
	case o.VecSlot && w.vecSize() > 1:
		s = w.vec(t, w.vecSize())
	case o.Vec > 0:
		s = w.vec(t, int(o.Vec))
		if o.Name == "ba" || o.Name == "bb" {
			s = "{0, 0}"
		}
	case o.Kinds&(isa.KReg|isa.KPair) == 0 || imm && o.Kinds&isa.KImm != 0:
		s = constant(o, t)
	case o.Vec < 0 && specials[o.Name]:
		s = w.special(o)
	default:
		s = w.reg(t)
	}
	if o.PairReq {
		s += "|" + w.reg(isa.Pred)
	}
	if o.Sel == "dsel" {
		s += ".b0"
	}
	return s
}

func (w *writer) vecSize() int {
	switch w.word("vec") {
	case isa.ModV2:
		return 2
	case isa.ModV4:
		return 4
	case isa.ModV8:
		return 8
	}
	return 1
}

func constant(o *isa.Operand, t isa.Type) string {
	switch {
	case o.Ranged:
		return fmt.Sprint(max(o.Lo, min(o.Hi, 128)))
	case t == isa.F32 || t == isa.F64:
		return "1.5"
	case o.Name == "size" && o.Kinds&isa.KReg == 0:
		return "16"
	case o.Name == "size" || o.Name == "primarysize" || o.Name == "totalsize":
		return "64"
	case strings.HasPrefix(o.Name, "scale") && t == isa.S32, o.Name == "count":
		return "1"
	case o.Name == "n" || o.Name == "align":
		return "32"
	}
	return "0"
}

func (w *writer) address(o *isa.Operand) string {
	reg := w.reg(isa.B64)
	switch w.word("space") {
	case isa.ModParam, isa.ModParamEntry, isa.ModParamFunc:
		if w.form.Op == isa.Ld {
			return "[kp]"
		}
	case isa.ModShared, isa.ModSharedCta:
		return "[sv]"
	}
	switch w.form.Op {
	case isa.Tcgen05Ld, isa.Tcgen05LdRed, isa.Tcgen05St, isa.Tcgen05Cp, isa.Tcgen05Shift, isa.Tcgen05Mma, isa.Tcgen05MmaSp, isa.Tcgen05MmaWs, isa.Tcgen05MmaWsSp:
		return "[" + w.reg(isa.B32) + "]"
	}
	return "[" + reg + "]"
}

// specials are the operands that special writes.
var specials = map[string]bool{"mask": true, "im2col": true, "e": true, "dPdx": true, "dPdy": true}

// special writes operands whose length follows from other words.
func (w *writer) special(o *isa.Operand) string {
	switch o.Name {
	case "mask":
		n := 4
		if w.word("group") == isa.ModCtaGroup2 {
			n = 8
		}
		return w.vec(isa.B32, n)
	case "im2col":
		n := w.dim() - 2
		switch w.word("load_mode") {
		case isa.ModIm2colW, isa.ModIm2colW128:
			n = 2
		}
		return w.vec(isa.U16, max(n, 1))
	}
	n := 2
	switch w.word("geom") {
	case isa.Mod1d, isa.ModA1d:
		n = 1
	case isa.Mod3d, isa.ModCube, isa.ModAcube:
		n = 4
	}
	if o.Name == "e" {
		return w.vec(isa.S32, n)
	}
	return w.vec(isa.F32, n)
}

func (w *writer) dim() int {
	d := w.word("dim")
	if d == 0 {
		return 0
	}
	return int(d.String()[1] - '0')
}

// texAddress writes [texture, {coordinates}], [surface, {…}] or [tensor map, {…}].
func (w *writer) texAddress(o *isa.Operand) string {
	if w.form.Slot("dim") >= 0 {
		n := w.dim()
		switch w.word("load_mode") {
		case isa.ModTileGather4, isa.ModTileScatter4:
			n = 5
		}
		return "[" + w.reg(isa.B64) + ", " + w.vec(isa.B32, n) + "]"
	}
	n, t := 1, isa.B32
	switch w.word("geom") {
	case isa.Mod2d, isa.ModA1d:
		n = 2
	case isa.Mod3d, isa.ModA2d, isa.ModCube, isa.ModAcube, isa.Mod2dms, isa.ModA2dms:
		n = 4
	}
	if w.word("ctype") == isa.ModF32 && (w.form.Op == isa.Tex || w.form.Op == isa.Tld4) {
		t = isa.F32
	}
	coords := w.vec(t, n)
	switch w.word("geom") { // the layer index is an integer
	case isa.ModA1d:
		coords = "{r1, " + w.reg(t) + "}"
	case isa.ModA2d, isa.ModAcube:
		coords = "{r1, " + strings.Join([]string{w.reg(t), w.reg(t), w.reg(t)}, ", ") + "}"
	}
	return "[" + w.reg(isa.B64) + ", " + coords + "]"
}

// Line writes the instruction with the given words, and optional operands if opt. imm picks the operand to be a constant.
func Line(f *isa.Form, mods []isa.Mod, opt bool, imm int) string {
	w := &writer{form: f, mods: mods, next: map[string]int{}}
	args := []string{}
	for i := range f.Operands() {
		o := &f.Operands()[i]
		im2col := o.Name == "im2col" && strings.HasPrefix(w.word("load_mode").String(), ".im2col")
		if o.Optional && !im2col && (o.With != 0 && !slices.Contains(mods, o.With) || o.With == 0 && !opt) {
			continue
		}
		if o.Name == "f" && o.Optional && (w.word("ctype") != isa.ModF32 || w.word("geom") == isa.Mod3d) {
			continue // no depth comparison there
		}
		if o.Name == "e" && (w.word("geom") == isa.ModCube || w.word("geom") == isa.ModAcube) {
			continue // no offsets on cubes
		}
		if o.Name == "im2col" && !strings.HasPrefix(w.word("load_mode").String(), ".im2col") {
			continue
		}
		args = append(args, w.operand(i, imm == i))
	}
	return Spelling(f, mods) + space(args) + ";"
}

func space(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return " " + strings.Join(args, ", ")
}

// Spelling is the mnemonic with its words.
func Spelling(f *isa.Form, mods []isa.Mod) string {
	var b strings.Builder
	b.WriteString(f.Prefix())
	for _, m := range mods {
		b.WriteString(m.String())
	}
	return b.String()
}
