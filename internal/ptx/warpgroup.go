package ptx

import (
	"fmt"
	"slices"
	"strings"

	"kudzu/internal/ptx/isa"
)

// The assembler's words for wrong products of a warpgroup, recorded from release 12.9.

const warpgroupProduct = "wgmma.mma_async"

const noShape = "Shape modifier required for instruction '" + warpgroupProduct + "'"

// productKind says how the assembler calls products of these types (of d, a and b), or "" if there are none.
func productKind(types []string) string {
	if len(types) != 3 {
		return ""
	}
	d, a, b := types[0], types[1], types[2]
	among := func(list ...string) bool { return slices.Contains(list, a) && slices.Contains(list, b) }
	half, single, word := d == "f16", d == "f32", d == "s32"
	switch {
	case (half || single) && among("f16"), single && (among("bf16") || among("tf32")):
		return "floating point types"
	case (half || single) && among("e4m3", "e5m2"):
		return "FP8 types"
	case word && among("s8", "u8"):
		return "integer types"
	case word && among("b1"):
		return "boolean type"
	}
	return ""
}

// productDepths are the values of k that a kind of dense products has; sparse ones have twice as much.
var productDepths = map[string][]int{"floating point types": {8, 16}, "FP8 types": {32}, "integer types": {32}, "boolean type": {256}}

// productName is how the assembler calls a product.
func productName(kind string, sparse bool) string {
	name := warpgroupProduct + " with " + kind
	if sparse {
		return "Sparse " + name
	}
	return name
}

// ProductName is how the assembler calls a product of a warpgroup.
func (in *Inst) ProductName() string {
	kind := "FP8 types"
	for words, k := range map[string]string{".f16.f16 ": "floating point types", ".bf16 ": "floating point types", ".tf32 ": "floating point types", ".s32.b1": "boolean type", ".s32.atype": "integer types"} {
		if strings.Contains(in.Form.Syntax, words) {
			kind = k
		}
	}
	return productName(kind, in.Op() == isa.WgmmaMmaAsyncSp)
}

func isShape(word string) (m, n, k int, ok bool) {
	c, _ := fmt.Sscanf(word, "m%dn%dk%d", &m, &n, &k)
	return m, n, k, c == 3
}

// productFaults are what is wrong with a product whose words are all known, in the assembler's words; none if it is something else.
func productFaults(text string) []string {
	shape, sparse, saturates, exact := "", false, false, true
	var types []string
	for _, w := range strings.Split(text, ".")[2:] {
		_, _, _, is := isShape(w)
		switch {
		case is:
			shape = w
		case w == "sp":
			sparse = true
		case w == "satfinite":
			saturates = true
		case w == "or" || w == "xor":
			exact = false
		case w != "sync" && w != "aligned" && w != "and" && w != "popc":
			types = append(types, w)
		}
	}
	kind := productKind(types)
	name := productName(kind, sparse)
	m, n, k, _ := isShape(shape)
	if sparse {
		k /= 2
	}
	narrow := kind == "integer types" || kind == "boolean type" // not every n
	switch {
	case shape == "":
		return []string{noShape}
	case kind == "":
		return []string{"Unexpected instruction types specified for '" + warpgroupProduct + "'"}
	case saturates && kind != "integer types":
		const text = "Illegal modifier '.satfinite' for instruction '%s'"
		return []string{fmt.Sprintf(text, name), fmt.Sprintf(text, warpgroupProduct)}
	case m != 64 || !slices.Contains(productDepths[kind], k) || narrow && n > 32 && n%16 != 0:
		return []string{fmt.Sprintf("Illegal matrix shape '.%s' for instruction '%s'", shape, name)}
	case !exact:
		return []string{fmt.Sprintf("Incorrect operations specified for %s with shape '.%s'", name, shape)}
	case kind == "floating point types" && (types[1] == "tf32") != (k == 8):
		return []string{fmt.Sprintf("Illegal instruction types specified for '%s' with shape '.%s'", name, shape)}
	}
	return nil
}

// badProduct reports a product of a warpgroup that no form spells, if it is known how.
func (p *parser) badProduct(sp *isa.Spelling, start int) {
	var faults []string
	if _, _, _, shape := isShape(strings.TrimPrefix(sp.Bad, ".")); shape {
		faults = []string{"Unknown modifier '" + clip(sp.Bad) + "'", noShape}
	} else if sp.Bad == "" {
		faults = productFaults(sp.Text)
	}
	for i, f := range faults {
		if i == len(faults)-1 {
			p.failAt(start, "%s", f)
		}
		p.rep.Report(Pos(start), "%s", f)
	}
}

// badArgs reports operands that fit no form.
func (p *parser) badArgs(sp *isa.Spelling, start, base int) {
	name, args := mnemonic(sp), p.arena[base:]
	p.arena = p.arena[:base]
	f := sp.Cands[0].Form
	if name == "wgmma" {
		name = strings.TrimSuffix(f.Op.String(), ".sp")
	}
	if name == warpgroupProduct && len(args) > 1 && args[0].Kind == OpVec && args[1].Kind == OpVec && len(args[1].Elems) != 4 {
		in := Inst{Form: f}
		p.failAt(start, "Argument vector size mismatch for instruction '%s'", in.ProductName())
	}
	p.failAt(start, "Arguments mismatch for instruction '%s'", name)
}
