package isa

import "strings"

// shapeDims reads .m16n8k32.
func shapeDims(word string) (m, n, k int, ok bool) {
	s := strings.TrimPrefix(word, ".m")
	if len(s) == len(word) {
		return 0, 0, 0, false
	}
	for _, p := range []struct {
		to  *int
		end byte
	}{{&m, 'n'}, {&n, 'k'}, {&k, 0}} {
		i := 0
		for i < len(s) && s[i] >= '0' && s[i] <= '9' {
			*p.to = *p.to*10 + int(s[i]-'0')
			i++
		}
		if i == 0 {
			return 0, 0, 0, false
		}
		if i == len(s) {
			return m, n, k, p.end == 0 || p.end == 'k'
		}
		if s[i] != p.end {
			return 0, 0, 0, false
		}
		s = s[i+1:]
	}
	return m, n, k, true
}

// elementBits is how many bits a matrix element takes in a fragment: the narrow floats of the .kind::f8f6f4 families sit in bytes.
func (f *Form) elementBits(t Type, mods []Mod) int {
	if i := f.Slot("kind"); i >= 0 && (mods[i] == ModKindF8f6f4 || mods[i] == ModKindMxf8f6f4) {
		return 8
	}
	return t.Bits()
}

// Fragment is how many registers operand i of a matrix instruction takes, or 0 if the operand is no fragment.
func (f *Form) Fragment(i int, mods []Mod) int {
	name := f.compiled.operands[i].Name
	word := func(slot string) Mod {
		if s := f.Slot(slot); s >= 0 {
			return mods[s]
		}
		return 0
	}
	m, n, k, ok := shapeDims(word("shape").String())
	switch f.Op {
	case Mma, MmaSp:
		if !ok {
			return 0
		}
		if f.Op == MmaSp && name == "a" {
			k /= 2
		}
		return f.mmaFragment(name, m, n, k, mods, word)
	case WmmaLoad, WmmaStore, WmmaMma:
		return wmmaFragment(f, name, word)
	case WgmmaMmaAsync, WgmmaMmaAsyncSp:
		switch {
		case name == "a":
			return 4
		case name == "d" && word("dtype") == ModF16:
			return n / 4
		case name == "d":
			return n / 2
		}
	case Ldmatrix, Stmatrix:
		if name != "r" {
			return 0
		}
		c := countOf(word("num"))
		if word("shape") == ModM16n16 {
			c *= 2
		}
		return c
	case Tcgen05Ld, Tcgen05LdRed, Tcgen05St:
		if name != "r" {
			return 0
		}
		c := countOf(word("num"))
		switch word("shape") {
		case Mod16x128b:
			c *= 2
		case Mod16x256b:
			c *= 4
		}
		return c
	}
	return 0
}

// countOf reads .x4.
func countOf(m Mod) int {
	n := 0
	for _, c := range strings.TrimPrefix(m.String(), ".x") {
		n = n*10 + int(c-'0')
	}
	return n
}

func (f *Form) mmaFragment(name string, m, n, k int, mods []Mod, word func(string) Mod) int {
	quad := m == 8 && k == 4 && word("atype") == ModF16 // four small products at once, one for each quarter of the warp
	bits := 0
	switch name {
	case "a":
		bits = m * k * f.elementBits(word("atype").Type(), mods)
	case "b":
		bits = n * k * f.elementBits(word("btype").Type(), mods)
	case "c":
		bits = m * n * word("ctype").Type().Bits()
	case "d":
		bits = m * n * word("dtype").Type().Bits()
	default:
		return 0
	}
	if quad {
		bits *= 4
	}
	reg := 32
	if word("dtype") == ModF64 {
		reg = 64
	}
	return max(bits/32/reg, 1)
}

func wmmaFragment(f *Form, name string, word func(string) Mod) int {
	operand, t := name, NoMod
	switch f.Op {
	case WmmaLoad:
		if name != "r" {
			return 0
		}
		operand, t = strings.TrimPrefix(word("operand").String(), "."), word("type")
	case WmmaStore:
		if name != "r" {
			return 0
		}
		operand, t = "c", word("type")
	default:
		switch name {
		case "a", "b":
			t = word(name + "type")
			if t == 0 { // the f16 row names only the accumulators
				t = ModF16
			}
		case "c":
			t = word("ctype")
		case "d":
			operand, t = "c", word("dtype")
		default:
			return 0
		}
	}
	s := word("shape")
	wide := operand == "a" && s == ModM32n8k16 || operand == "b" && s == ModM8n32k16
	narrow := operand == "b" && s == ModM32n8k16 || operand == "a" && s == ModM8n32k16
	by := func(square, small, large int) int {
		switch {
		case wide:
			return large
		case narrow:
			return small
		}
		return square
	}
	switch t.Type() {
	case F16:
		if operand == "c" {
			return 4
		}
		return 8
	case BF16:
		return by(4, 2, 8)
	case TF32:
		return 4
	case S8, U8:
		return by(2, 1, 4)
	case F32:
		return 8
	case F64:
		if operand == "c" {
			return 2
		}
		return 1
	case S32:
		if s == ModM8n8k32 || s == ModM8n8k128 {
			return 2
		}
		return 8
	}
	return 1
}
