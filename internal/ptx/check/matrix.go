package check

import (
	"slices"

	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
)

// mmaSpelling: which accumulator types go together.
func mmaSpelling(c *checker, in *ptx.Inst) bool {
	d, a, cc := in.Mod("dtype"), in.Mod("atype"), in.Mod("ctype")
	if d == isa.ModF16 || cc == isa.ModF16 {
		small := in.Mod("shape") == isa.ModM8n8k4
		if d != cc && !(small && d == isa.ModF32) {
			return c.refuse(in, ".dtype must be '.f16' when .ctype is '.f16' for 'mma' instruction with shape '%v'", in.Mod("shape"))
		}
	}
	if narrow(a) && d == isa.ModF16 && (in.Op() == isa.MmaSp || in.Form.Slot("kind") < 0) {
		if in.Op() == isa.MmaSp {
			return c.need(in, isa.Need{PTX: isa.V(8, 7), Arch: "120f"}, "mma with F16 accumulator and F8 floating point type")
		}
		return c.need(in, isa.Need{PTX: isa.V(8, 7), SM: 89}, "mma with F16 accumulator and F8 floating point type")
	}
	if in.Form.Slot("kind") >= 0 && in.Form.Slot("stype") < 0 && (narrow6(a) || narrow6(in.Mod("btype"))) {
		return c.need(in, isa.Need{Arch: "120f"}, "mma with FP6/FP4 floating point type")
	}
	if in.Mod("stype") == isa.ModUe4m3 && in.Mod("scale_vec") == isa.ModScaleVec2X {
		return c.refuse(in, "Illegal modifier '.scale_vec::2X' for instruction 'mma' with type '.ue4m3'")
	}
	return true
}

func narrow(a isa.Mod) bool {
	switch a {
	case isa.ModE4m3, isa.ModE5m2, isa.ModE3m2, isa.ModE2m3, isa.ModE2m1:
		return true
	}
	return false
}

// narrow6 reports the types of six and four bits.
func narrow6(a isa.Mod) bool { return narrow(a) && a != isa.ModE4m3 && a != isa.ModE5m2 }

// wgmmaSpelling: signed and unsigned bytes together came later.
func wgmmaSpelling(c *checker, in *ptx.Inst) bool {
	if !in.Has(isa.ModS32) || in.OptMod("atype") == in.OptMod("btype") {
		return true
	}
	what := "WGMMA with mixed integer types"
	if in.Op() == isa.WgmmaMmaAsyncSp {
		what = "Sparse " + what
	}
	return c.need(in, isa.Need{PTX: isa.V(8, 4)}, what)
}

// wgmmaRule: the input scales are 1 or -1, and the selector of metadata is 0, or 1 where half of the threads have enough.
func wgmmaRule(c *checker, in *ptx.Inst) {
	types, selectors := "floating point types", uint64(1)
	switch {
	case narrow(in.OptMod("atype")):
		types, selectors = "FP8 types", 0
	case in.Has(isa.ModS32):
		types, selectors = "integer types", 0
	}
	what := "wgmma.mma_async with " + types
	if in.Op() == isa.WgmmaMmaAsyncSp {
		what = "Sparse " + what
	}
	for i, o := range in.Form.Operands() {
		n, ok := constantArg(in, o.Name)
		switch {
		case !ok:
		case (o.Name == "scalea" || o.Name == "scaleb") && int64(n) != 1 && int64(n) != -1:
			c.errorf(in.Pos, "Argument %d of instruction '%s': unexpected value '%d', expected to be -1 or 1", i, what, int64(n))
		case o.Name == "spsel" && n > selectors:
			c.errorf(in.Pos, "Argument %d of instruction '%s': unexpected value '%d', expected to be %s", i, what, int64(n), [2]string{"0", "0 or 1"}[selectors])
		}
	}
}

// scaleRule: which byte of a register the scales begin with, and which threads of four have them.
func scaleRule(c *checker, in *ptx.Inst) {
	if !in.Has(isa.ModBlockScale) {
		return
	}
	for i, o := range in.Form.Operands() {
		switch o.Name {
		case "a", "b", "c":
			// Some of its elements may be constants, not all of them.
			if !slices.ContainsFunc(in.Args[i].Elems, func(e ptx.Operand) bool { return e.Kind != ptx.OpImm }) {
				c.mismatch(in)
				return
			}
		case "sa", "sb":
			if !c.scalePlace(in, i+1, map[string]int64{"sa": 1, "sb": 3}[o.Name]) {
				return
			}
		}
	}
}

// scalePlace checks the pair behind a register with scales.
func (c *checker) scalePlace(in *ptx.Inst, at int, threads int64) bool {
	pair := in.Args[at].Elems
	if len(pair) != 2 {
		return true
	}
	bytes := map[isa.Mod]string{isa.ModScaleVec2X: "0 or 2", isa.ModScaleVec4X: "0"}[in.OptMod("scale_vec")]
	if in.Has(isa.ModKindMxf4) {
		bytes = "0 or 2"
	}
	if pair[0].Kind == ptx.OpImm {
		switch n := int64(pair[0].Imm); {
		case bytes == "" && (n < 0 || n > 3):
			c.errorf(in.Pos, "Argument %d of instruction '%v': value '%d' out of range, expected to be in range [0..3]", at, in.Op(), n)
			return false
		case bytes != "" && n != 0 && (n != 2 || bytes == "0"):
			c.errorf(in.Pos, "Argument %d of instruction '%v': unexpected value '%d', expected to be %s", at, in.Op(), n, bytes)
			return false
		}
	}
	if n := int64(pair[1].Imm); pair[1].Kind == ptx.OpImm && (n < 0 || n > threads) {
		c.errorf(in.Pos, "Argument %d of instruction '%v': value '%d' out of range, expected to be in range [0..%d]", at, in.Op(), n, threads)
		return false
	}
	return true
}

// wgmmaWaitRule: the number of groups that may be open.
func wgmmaWaitRule(c *checker, in *ptx.Inst) {
	if n, ok := constantArg(in, "n"); ok && int64(n) < 0 {
		c.errorf(in.Pos, "Argument 0 of instruction '%v': unexpected value '%d', expected to be non-negative integer", in.Op(), int64(n))
	}
}

// fragmentRule: tensor memory moves at most 128 registers.
func fragmentRule(c *checker, in *ptx.Inst) {
	for i, o := range in.Form.Operands() {
		if o.Name == "r" && in.Form.Fragment(i, in.Mods) > 128 {
			c.errorf(in.Pos, "Illegal modifier '%v' for instruction '%v' with '%v'", in.Mod("num"), in.Op(), in.Mod("shape"))
		}
	}
}

func wmmaSpelling(c *checker, in *ptx.Inst) bool {
	if in.Mod("aligned") != 0 && !c.need(in, isa.Need{PTX: isa.V(6, 3)}, ".aligned modifier for wmma") {
		return false
	}
	if in.Op() != isa.WmmaMma {
		return true
	}
	if in.Mod("atype") != in.Mod("btype") {
		return c.refuse(in, "Unexpected instruction types specified for 'wmma.mma'")
	}
	if in.Mod("satfinite") != 0 && in.Mod("atype") == 0 && c.m.Version >= isa.V(6, 5) {
		return c.refuse(in, "Instruction ''wmma.mma' with floating point type' with '.satfinite' is not supported starting from PTX ISA version 6.5")
	}
	return true
}

// collectorSpelling: a shifted matrix A can only be left or dropped in the collector.
func collectorSpelling(c *checker, in *ptx.Inst) bool {
	if in.Mod("ashift") != 0 {
		switch in.Mod("collector") {
		case isa.ModCollectorAUse, isa.ModCollectorAFill:
			return c.refuse(in, "Modifier '.ashift' cannot be combined with modifier '%v'", in.Mod("collector"))
		}
	}
	if in.Mod("kind") == isa.ModKindMxf4nvf4 && !c.need(in, isa.Need{PTX: isa.V(8, 7)}, ".kind::mxf4nvf4") {
		return false
	}
	switch sv := in.Mod("scale_vec"); sv {
	case isa.ModScaleVec1X, isa.ModScaleVec2X, isa.ModScaleVec4X:
		return c.need(in, isa.Need{Arch: "100a 101a 103a 107a 110a"}, sv.String())
	}
	return true
}

// tensorSpelling: gather and scatter are two-dimensional, im2col needs three dimensions.
func tensorSpelling(c *checker, in *ptx.Inst) bool {
	dim, mode := in.Mod("dim"), in.Mod("load_mode")
	switch mode {
	case isa.ModTileGather4, isa.ModTileScatter4:
		if dim != isa.Mod2d {
			return c.refuse(in, "Modifier '%v' cannot be combined with modifier '%v'", dim, mode)
		}
	case isa.ModIm2col, isa.ModIm2colW, isa.ModIm2colW128, isa.ModIm2colNoOffs:
		if dim == isa.Mod1d || dim == isa.Mod2d {
			return c.refuse(in, "Modifier '%v' cannot be combined with modifier '%v'", dim, mode)
		}
	}
	return true
}

// tensorRule checks coordinates and the im2col operand, whose lengths follow from dimension and mode.
func tensorRule(c *checker, in *ptx.Inst) {
	dim := int(in.Mod("dim").String()[1] - '0')
	coords, im2col := dim, 0
	switch in.Mod("load_mode") {
	case isa.ModTileGather4, isa.ModTileScatter4:
		coords = 5
	case isa.ModIm2col:
		im2col = dim - 2
	case isa.ModIm2colW, isa.ModIm2colW128:
		im2col = 2
	}
	for i := range in.Args {
		a := &in.Args[i]
		switch {
		case a.Kind == ptx.OpTexAddr:
			v := &a.Elems[len(a.Elems)-1]
			if n, _ := c.vectorShape(v); v.Kind == ptx.OpVec && n != coords {
				c.errorf(a.Pos, "Operand vector size doesn't match dimension for instruction '%v'", in.Op())
			}
		case in.Form.Operands()[i].Name == "im2col":
			n := 0
			if a.Kind == ptx.OpVec {
				n = len(a.Elems)
			} else if a.Kind != ptx.None {
				n = 1
			}
			if n != im2col {
				c.mismatch(in)
			}
		}
	}
}

func bulkSizeRule(c *checker, in *ptx.Inst) {
	if n, ok := constantArg(in, "size"); ok && n%16 != 0 {
		c.errorf(in.Pos, "Argument 2 of instruction '%v': unexpected value '%d', expected to be multiple of 16", in.Op(), int64(n))
	}
	for i, name := range [...]string{"left", "right"} { // the bytes that .ignore_oob leaves out
		if n, ok := constantArg(in, name); ok && n > 15 {
			c.errorf(in.Pos, "Argument %d of instruction '%v': value '%d' out of range, expected to be in range [0..15]", 3+i, in.Op(), int64(n))
		}
	}
}

func cpAsyncRule(c *checker, in *ptx.Inst) {
	n, _ := constantArg(in, "size")
	if n != 16 && (in.Mod("cop") == isa.ModCg || n != 4 && n != 8) {
		c.errorf(in.Pos, "Argument 2 of instruction 'cp.async': unexpected value '%d'", int64(n))
	}
	if src, ok := constantArg(in, "srcsize"); ok && src > n {
		c.errorf(in.Pos, "Argument 3 of instruction 'cp.async': unexpected value '%d'", int64(src))
	}
}
