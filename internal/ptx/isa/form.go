// Package isa is the table of the PTX instruction set: every instruction form, spelled as the PTX manual
// spells it, one row a form, one file a manual chapter. It holds facts only; what a form computes is in
// lower and backend/interp, which index arrays by Op.
//
// # Slot names
//
// A slot of a form is called the same in every row, so that an executor asks any instruction in one way:
//
//	type dtype atype btype ctype stype   the types. A form with one type calls it "type" even where the row spells a
//	                   literal (add.f32); with several, literals are named by their place: dtype, atype, btype, ctype, stype
//	rnd                rounding, integer (.rni) and float (.rn) alike
//	space              state space of the address; src and dst where a form has two
//	vec                .v2 .v4 .v8; absent: scalar
//	cmp bool           comparison and the boolean that combines it with a predicate
//	sem scope          memory order and scope
//	op op2             the operation of atom, red, redux, vote-like and video forms
//	mode               .lo .hi, .clamp .wrap, .up .down .bfly .idx, prmt's, vote's
//	cop                cache operator; level1, level2: eviction priority; hint: .L2::cache_hint; prefetch: .L2::128B
//	shape num layout alayout blayout geom comp query clamp kind dim group   matrix, texture, tensor words
//
// Every other dotted word of a row is a literal, and its slot is called by its own word: Mod("ftz"), Mod("sat"), Mod("cc").
package isa

// Version is a PTX ISA version, kept as major<<8|minor so that 8.10 would follow 8.9.
type Version uint16

func v(major, minor int) Version { return Version(major<<8 | minor) }

// V makes a Version from its parts.
func V(major, minor int) Version { return v(major, minor) }

// Major and Minor are the version's parts.
func (v Version) Major() int { return int(v >> 8) }

// Minor is the part after the point.
func (v Version) Minor() int { return int(v & 0xff) }

// Form is one row of the manual: a mnemonic with its modifiers and operands.
//
// Syntax is the manual's own line. A dotted word that names a set in Sets (".rnd", ".type") is a slot taking one of
// the set's words; any other dotted word is a literal; braces make a slot optional. Operands follow after spaces.
//
// Types says what the operands are where their name does not (see operandType for the names' defaults). It is a list of
// name=spec; a spec is a slot name, a type, or one of twice (twice the width of "type"), dot (dp4a's accumulator), anyaddr (an integer of
// 32 or 64 bits), label, table, call, sink (only _), frag(slot) (a register of a
// matrix fragment); before it # (constant only), $ (register only), a digit (vector of so many);
// after it + (a wider register will do), & (or the address of a variable or function), v (a vector if the form has a vec
// word), * (or a vector of any size), ! (integer registers only), ~ (float registers too), :lo..hi (range of a constant).
type Form struct {
	Op     Op
	Syntax string
	Sets   Sets
	Types  string
	PTX    Version // first PTX version that has the form
	SM     int     // first target that has it (0: all); Arch for the a/f-suffixed ones
	Arch   string  // "a": needs an architecture-specific target such as sm_90a; "f": family; "" none

	compiled *compiled // by the table's index, once
}

// Sets names the alternatives of a form's slots: Sets{{"rnd", []string{".rn", ".rz"}}}. It is no map, so that the linker can lay
// it out.
type Sets []struct {
	Name  string
	Words []string
}

// words are the alternatives of the set with that name.
func (s Sets) words(name string) (words []string, ok bool) {
	for i := range s {
		if s[i].Name == name {
			return s[i].Words, true
		}
	}
	return nil, false
}

// Slot is one place for a dotted word in a form.
type Slot struct {
	Name     string
	Words    []Mod // the words it takes; one for a literal
	Optional bool
	Literal  bool
}

// Kinds is a set of operand shapes.
type Kinds uint16

// The operand shapes a form may ask for.
const (
	KReg   Kinds = 1 << iota // a register
	KImm                     // a constant
	KSReg                    // a special register (mov only)
	KSym                     // the address of a variable or function
	KAddr                    // [address]
	KVec                     // {a, b, …}
	KPair                    // d|p
	KLabel                   // a label
	KTable                   // a .branchtargets or .calltargets label
	KCall                    // parts of a call, parsed by hand
	KTex                     // [t, {coordinates}]
	KSink                    // _
)

// TypeRef tells where an operand's type comes from.
type TypeRef uint8

// The sources of an operand's type.
const (
	TypeOfNothing TypeRef = iota // addresses, labels
	TypeFixed                    // Operand.Fixed
	TypeOfSlot                   // the word in slot Operand.Slot
	TypeWide                     // twice the width of slot "type"
	TypeDot                      // dp4a, dp2a: .u32 if both types are, else .s32
	TypeFrag                     // a register of a matrix fragment whose elements are of the type in Operand.Slot
)

// Operand describes one operand of a form.
type Operand struct {
	Name     string
	Kinds    Kinds
	Optional bool
	Dest     bool
	PairOpt  bool // d[|p]: the pair's second may be left out
	PairReq  bool // d|p
	Not      bool // {!}c
	Minus    bool // {-}c
	Unified  bool // [a]{.unified}
	Wider    bool // a wider register will do
	Any      bool // of fixed bits: a float register too
	Strict   bool // of a type slot: no float register though the type is bits
	VecSlot  bool // a vector of the size in slot "vec"
	Vec      int8 // a vector of this size; 0: not; -1: any size
	Sel      string
	Ref      TypeRef
	Fixed    Type
	Slot     int8 // TypeOfSlot
	With     Mod  // an optional operand that is there if and only if this word is
	Ranged   bool
	Lo, Hi   int64
}

// Slot is the index of the slot called name, or -1.
func (f *Form) Slot(name string) int {
	c := f.compiled
	for i := range c.slots {
		if c.slots[i].Name == name {
			return i
		}
	}
	return -1
}

// VecSlot and SpaceSlot are Slot("vec") and Slot("space"), which every memory instruction is asked for.
func (f *Form) VecSlot() int { return int(f.compiled.vec) }

// SpaceSlot is Slot("space").
func (f *Form) SpaceSlot() int { return int(f.compiled.space) }

// Slots are the form's places for dotted words, in the manual's order.
func (f *Form) Slots() []Slot { return f.compiled.slots }

// Operands are the form's operands, in order, optional ones included.
func (f *Form) Operands() []Operand { return f.compiled.operands }

// Prefix is the fixed beginning of the spelling: "cp.async.bulk".
func (f *Form) Prefix() string { return f.compiled.prefix }

// OperandType is the type that operand i has when the form's slots hold mods; addrBits is the module's address size.
func (f *Form) OperandType(i int, mods []Mod, addrBits int) Type {
	o := &f.compiled.operands[i]
	switch o.Ref {
	case TypeFixed:
		return o.Fixed
	case TypeOfSlot:
		return mods[o.Slot].Type()
	case TypeWide:
		return mods[o.Slot].Type().Wide()
	case TypeDot:
		for _, s := range f.compiled.dots {
			if mods[s].Type() == S32 {
				return S32
			}
		}
		return U32
	case TypeFrag:
		return fragment(mods[o.Slot].Type())
	}
	return TypeNone
}

// fragment is the type of the registers that hold matrix elements of type t: pairs of halves, or packed bits.
func fragment(t Type) Type {
	switch t {
	case F16:
		return F16x2
	case F32, F64, S32:
		return t
	}
	return B32
}
