// Package ptx is the PTX language: scanner, parser, printer, and the index scan that finds a module's kernels without
// reading their bodies. What the instructions are is in the table of ptx/isa; whether a program is right is ptx/check's.
package ptx

import (
	"sync"

	"kudzu/internal/ptx/isa"
)

// Pos is a byte offset into the module's text. Module.Position turns it into line and column.
type Pos uint32

// Module is a parsed PTX module. Every string in the tree is a substring of Text, so that a tree costs little.
type Module struct {
	Text        string
	Version     isa.Version
	Target      Target
	AddressSize int // 32 or 64
	Vars        []*Var
	Funcs       []*Func
	Aliases     []Alias
	Files       []File
	Pragmas     []Directive

	linesOnce sync.Once
	lines     []uint32 // starts of lines, made by Position
	syms      map[string]symbol
	statics   []*Var // variables of bodies that the module holds
}

// File is ".file Index "Name"".
type File struct {
	Index int
	Name  string
}

// Target is the .target line: sm_90a is {SM: 90, Suffix: "a"}; the other words are in Modes (texmode_*, debug, map_f64_to_f32).
type Target struct {
	SM     int
	Suffix string
	Modes  []string
}

// Alias is ".alias Name, Of;".
type Alias struct {
	Pos      Pos
	Name, Of string
}

// Linkage is how a symbol is seen outside its module.
type Linkage uint8

// The linkages; Internal is no directive.
const (
	Internal Linkage = iota
	Visible
	Extern
	Weak
	Common
)

// Space is a state space.
type Space uint8

// The state spaces. SpaceGeneric is the absence of one on a memory instruction.
const (
	SpaceGeneric Space = iota
	SpaceReg
	SpaceSReg
	SpaceConst
	SpaceGlobal
	SpaceLocal
	SpaceParam // ld.param/st.param: kernel parameters, or the call frame inside a function (see Func.Kind and Var.Owner)
	SpaceShared
	SpaceTex
)

// Var is a variable of any addressable space, or a parameter. Registers are not Vars (see Body.Regs).
type Var struct {
	Pos      Pos
	Name     string
	Space    Space
	Linkage  Linkage
	Type     isa.Type
	Vec      int    // 0 or 1: scalar; 2, 4: .v2, .v4
	Align    int    // bytes; never 0 once parsed
	Dims     []int  // array dimensions, outermost first; a first dimension of -1 is unsized ([])
	Size     uint64 // bytes, 0 for an unsized extern array
	Init     *Init  // nil: zero (or uninitialised in shared and local)
	Attrs    []string
	Bank     int   // .const[n], -1 otherwise
	PtrSpace Space // kernel parameters: ".ptr .global .align 16"
	PtrAlign int
	Offset   uint64 // parameters: offset in the parameter block
	Role     VarRole
	Symbol   string // a body's .global or .const variable: the name under which the module holds it
}

// LinkName is the name under which the module holds a variable of the global or constant space.
func (v *Var) LinkName() string {
	if v.Symbol != "" {
		return v.Symbol
	}
	return v.Name
}

// VarRole tells where a Var was declared.
type VarRole uint8

// The roles.
const (
	ModuleVar VarRole = iota
	KernelParam
	FuncParam  // of a .func: input
	FuncResult // of a .func: return value
	CallParam  // declared with .param inside a body, for a call
	BodyVar    // .shared, .local, .global, .const declared inside a body
)

// Init is an initialiser laid out as bytes with the places that hold addresses.
type Init struct {
	Bytes  []byte
	Relocs []Reloc
}

// Reloc is an address in an initialiser: Size bytes at Offset hold Shift-ed, Mask-ed (address of Symbol) + Addend.
type Reloc struct {
	Pos     Pos
	Offset  uint64
	Size    int
	Symbol  string // a variable or a function, as written
	Var     *Var   // if it is a variable of the same body
	Addend  int64
	Generic bool   // generic(sym)
	Mask    uint64 // mask(0xff00): which byte; 0 is the whole address
}

// Target is the name under which the module holds what the address is of.
func (r *Reloc) Target() string {
	if r.Var != nil {
		return r.Var.LinkName()
	}
	return r.Symbol
}

// FuncKind tells kernels from device functions.
type FuncKind uint8

// The kinds.
const (
	Entry FuncKind = iota
	DeviceFunc
)

// Func is an .entry or a .func.
type Func struct {
	Pos      Pos
	End      Pos
	Kind     FuncKind
	Linkage  Linkage
	Name     string
	Results  []*Var // .func only
	Params   []*Var
	NoReturn bool
	Attrs    []string
	Perf     []Directive // .maxntid 256, 1, 1 and the like, in order
	Body     *Body       // nil for a declaration
}

// Directive is a performance-tuning or .pragma line.
type Directive struct {
	Pos  Pos
	Name string // "maxntid", "reqntid", "minnctapersm", "maxnreg", "pragma", ...
	Nums []int64
	Strs []string
}

// Reg is a declared register. Vector registers (.reg .v4 .f32 v;) have Vec 2 or 4; operands name their components. Only the lists of a
// call name them whole: an instruction's vector register is the list of its components in the tree.
type Reg struct {
	Name string
	Num  int32 // ≥ 0: the register is Name followed by Num (%r<100>); -1: Name alone
	Type isa.Type
	Vec  uint8
}

// Body is a function's code, flat: scopes are resolved by the parser, labels are instruction indices.
type Body struct {
	Regs    []Reg
	Vars    []*Var // every variable declared in the body, shadowed ones included (operands point at the right one)
	Insts   []Inst
	Labels  []Label
	Tables  []Table // .branchtargets and .calltargets
	Protos  []*Func // .callprototype, Name is the label
	Pragmas []Directive
	Locs    []Loc
	End     Pos // of the closing brace
}

// Label is a name for an instruction index (len(Insts) is the end).
type Label struct {
	Pos  Pos
	Name string
	Inst int32
}

// Table is a labelled list: .branchtargets (Labels: indices into Body.Labels) or .calltargets (Funcs).
type Table struct {
	Pos    Pos
	Name   string
	Labels []int32
	Funcs  []string
}

// Loc is a .loc line: instructions from Inst on come from File:Line:Col.
type Loc struct {
	Inst            int32
	File, Line, Col int32
}

// Inst is one instruction. Form is the table row its spelling matched.
type Inst struct {
	Pos   Pos
	Form  *isa.Form
	Mods  []isa.Mod // one per slot of Form (Form.Slots()); 0 where an optional slot is absent
	Args  []Operand // one per operand of Form (Form.Operands()); Kind None where an optional one is absent
	Pred  int32     // guard register, an index into Body.Regs; -1: none
	Not   bool      // guard is @!p
	Older Older     // which of Mods an older module left unsaid
}

// OperandKind tells what an operand is.
type OperandKind uint8

// The kinds of operand.
const (
	None      OperandKind = iota
	OpReg                 // Reg + Imm; Elem ≥ 0 picks .x .y .z .w (or .r .g .b .a) of a vector register; Neg: !p
	OpSReg                // SReg and, for %tid.x, Elem
	OpImm                 // Imm holds the bits: integers as 64-bit two's complement; see ImmFloat
	OpVar                 // Var (its address) + Imm
	OpFunc                // Name of a function (its address)
	OpAddr                // [Base + Imm]: Base is Reg, Var, or an absolute Imm
	OpVec                 // {a, b, …} in Elems
	OpLabel               // Label: index into Body.Labels
	OpTable               // Table: index into Body.Tables
	OpProto               // Table: index into Body.Protos
	OpSink                // _
	OpPair                // p|q: Elems has two (destination predicates, shfl's d|p)
	OpTexAddr             // [tex, {coords}] or [tex, sampler, {coords}]: Elems
	OpArgs                // (a, b, …) of a call: Elems
)

// ImmKind tells how an immediate was written; the checker converts it to the type the instruction asks for.
type ImmKind uint8

// The kinds of immediate.
const (
	ImmInt  ImmKind = iota // Imm is a 64-bit integer (sign in ImmNeg for values written as negative)
	ImmUint                // written with a U suffix, or past 2^63
	ImmF64                 // 1.5, 0d3FF…: Imm is float64 bits
	ImmF32                 // 0f3F800000: Imm is float32 bits
)

// Operand is one operand, in source order.
type Operand struct {
	Pos     Pos
	Kind    OperandKind
	Base    OperandKind // OpAddr: OpReg, OpVar, OpFunc or OpImm
	ImmKind ImmKind
	Neg     bool  // !p
	Minus   bool  // -a (video and a few others)
	Unified bool  // [a].unified
	Elem    int8  // -1: none; ElemSel: a video selector is in Imm (see Selector)
	Reg     int32 // index into Body.Regs
	SReg    isa.SReg
	Imm     uint64
	Var     *Var
	Name    string // OpFunc, and OpVar for a symbol of another module part not in this tree
	Label   int32
	Table   int32
	Elems   []Operand
}

// Op is the instruction's mnemonic.
func (in *Inst) Op() isa.Op { return in.Form.Op }

// Mod is the word taken for the slot called name in the form's Syntax ("rnd", "type", "ftz"), or 0 if absent: it was not written, or only
// other forms of the operation have the slot. That no form has it is a programming error, which tests find (NoSlot).
// Literal slots are called by their own word without the dot.
func (in *Inst) Mod(name string) isa.Mod {
	m := in.OptMod(name)
	if m == 0 && NoSlot != nil && in.Form.Slot(name) < 0 {
		NoSlot(in, name)
	}
	return m
}

// OptMod is Mod for what several operations share: the operation need not have such a slot.
func (in *Inst) OptMod(name string) isa.Mod {
	if i := in.Form.Slot(name); i >= 0 && i < len(in.Mods) {
		return in.Mods[i]
	}
	return 0
}

// NoSlot, where a test sets it, is told of every slot that Mod or Type is asked for and that the instruction's form does not have.
var NoSlot func(in *Inst, name string)

// Type is the type named by the slot called name.
func (in *Inst) Type(name string) isa.Type { return in.Mod(name).Type() }

// OptType is Type where the operation need not have such a slot.
func (in *Inst) OptType(name string) isa.Type { return in.OptMod(name).Type() }

// Has reports whether the word w (".ftz") was written.
func (in *Inst) Has(w isa.Mod) bool {
	for _, m := range in.Mods {
		if m == w && w != 0 {
			return true
		}
	}
	return false
}
