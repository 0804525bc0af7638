// Package ir is the compiler's middle form: typed, explicit SSA over a control-flow graph.
//
// There are no predicates, no implicit conversions and no modifiers: rounding, flushing, saturation, memory order and
// scope are attributes of the instruction, and every operation means what PTX means by it (shift amounts clamp,
// float-to-integer conversions saturate). Addresses are i64; the state space is an attribute of the access. The same
// IR serves warp code for CPUs and one-thread-per-lane code for GPUs. It prints and reads back (print.go, read.go).
package ir

// Type is the type of a value.
type Type uint8

// The types. Packed pairs live in 32 bits, low element first; Bitcast to I32 is free.
const (
	Void Type = iota
	I1
	I8
	I16
	I32
	I64
	I128
	F16
	BF16
	F32
	F64
	F16x2
	BF16x2
	NumTypes
)

var typeNames = [NumTypes]string{"void", "i1", "i8", "i16", "i32", "i64", "i128", "f16", "bf16", "f32", "f64", "f16x2", "bf16x2"}
var typeBits = [NumTypes]int{0, 1, 8, 16, 32, 64, 128, 16, 16, 32, 64, 32, 32}

// String is the type's name in the text form.
func (t Type) String() string { return typeNames[t] }

// Bits is the width of a value.
func (t Type) Bits() int { return typeBits[t] }

// IsFloat reports a floating-point type, packed or not.
func (t Type) IsFloat() bool { return t >= F16 }

// Module is one kernel and the functions it calls.
type Module struct {
	Kernel             string
	Funcs              []*Func  // the kernel first
	Vars               []string // module variables named by VarAddr, in first-use order
	Shared             []SharedVar
	SharedBytes        int // static, laid out
	SharedAlign        int // the strictest alignment of a static shared variable; not part of the text form
	DynamicAlign       int // alignment of the dynamic shared area, 0 if unused
	SM                 int // of the .target
	ReqBlock, MaxBlock [3]uint32
	ParamBytes         int
	Width              int  // lanes that run together, set by the passes: 32, or 1 where lanes wait on each other
	Jam                int  // warps that the code is for, set by the passes; 0 is 1
	Clusters           bool // for launches in clusters: what a block asks about its cluster is not known; not part of the text form
	Reserved           bool // shared memory ends with what is the system's (image.Meta); not part of the text form
	Registers          int  // what to say a thread needs, of 32 bits; not part of the text form
}

// SharedReach is how far from the start of shared memory, either way, an address may be that code computes without cutting it to 32 bits:
// an index of 32 bits with its sign, times 4, and a variable's place. Lanes may be LaneReach away from that.
const (
	SharedReach = 8<<30 + 64<<20
	LaneReach   = 1 << 30
)

// SharedVar is a static shared variable in its place.
type SharedVar struct {
	Name   string
	Offset int
	Size   int
}

// Slot is a local (per-thread, addressable) variable of a function in its place.
type Slot struct {
	Name   string
	Offset int
	Size   int
	Align  int
}

// Func is a kernel or a device function.
type Func struct {
	Name       string
	Kernel     bool
	Params     []*Value // device functions
	Results    []Type
	Blocks     []*Block // the entry first; order is layout order
	Slots      []Slot
	LocalBytes int
	Regions    *Regions // barriers of warp code, set by the last pass

	nextValue, nextBlock int
}

// Block is a basic block: phis first, a terminator last.
type Block struct {
	ID    int
	Func  *Func
	Insts []*Inst
	Preds []*Block // kept by Func.Rewire
	Name  string   // the PTX label, for reading dumps
}

// Value is an SSA value: the result of an instruction, a function parameter or a constant.
type Value struct {
	ID    int
	Type  Type
	Def   *Inst // nil: constant or parameter
	Index int   // which result of Def
	Const bool
	Bits  uint64 // constants: the bits, zero-extended; f16 and packed as their bits
	Shape Shape  // facts for warp code, set by the shape analysis
}

// ShapeKind orders what is known of a value over a warp.
type ShapeKind uint8

// The kinds of shape, from no knowledge to most.
const (
	ShapeUnknown ShapeKind = iota // not analysed
	Varying
	Affine // Base + Stride × lane, Base warp-uniform
	WarpUniform
	BlockUniform
)

// Shape is what the analysis knows of a value.
type Shape struct {
	Kind    ShapeKind
	Stride  int64  // Affine
	Align   uint32 // the value (or an affine value's base) is a multiple of it; 0 or 1: unknown
	NoWrap  bool   // Affine, narrower than 64 bits: base + 31×stride does not wrap as signed (S) …
	NoWrapU bool   // … or unsigned
	// Seg: an affine pattern that restarts every Seg lanes (a power of two below 32), each segment adding SegStride
	// to the base: tid.x and tid.y of a block that is 16 wide. 0: one segment.
	Seg       int
	SegStride int64
	Table     *[32]int64 // how far each lane lies above lane 0, where strides do not say it (they are 0 then)
	// Guess: Varying, but base + pattern unless a 32-bit index wrapped around between two lanes of the warp. Addresses
	// may rely on it, data may not. Affine: likewise, and it is nothing but addresses.
	Guess bool
}

// Inst is one instruction.
type Inst struct {
	Op      Op
	Line    int32 // of the PTX text; 0: none
	Args    []*Value
	Results []*Value
	Targets []*Block // terminators: successors; Phi: incoming blocks
	Block   *Block
	Mask    *Value // lanes that act, once linearized; nil before, and for operations without effects
	Attr
}

// Attr is what modifies an operation. The zero value is the plain one: round to nearest even, generic space, weak, … Which
// operation takes which attributes is said in attribute.go, and Verify rejects the others.
type Attr struct {
	Rnd       Rnd
	FTZ       bool // subnormal operands and results are zero
	EitherFTZ bool // with FTZ: flushing or not gives what is wanted, take the cheaper
	Sat       bool
	NaN       bool // FMin, FMax, Redux: propagate NaN
	XorSign   bool // FMin, FMax: of magnitudes, with the product's sign (.xorsign.abs)
	Relu      bool // FTrunc: a negative result is 0
	Contract  bool // FAdd, FSub, FMul: a product and a sum may become one fused operation
	OneUlp    bool // FDiv, FSqrt: one unit in the last place will do
	Wrap      bool // Bmsk, FshL, FshR: positions and lengths are taken modulo 32; else they clamp
	StackEnd  bool // LocalAddr without Sym: where the stack ends, not the frame
	Aligned   bool // Bar: the program promises that warps come as a whole
	AllWarps  bool // Bar: the compiler's own, which all warps of the block reach
	NoInline  bool // Call: not to be inlined, and the first argument is where the stack is free
	Uniform   bool // CondBr: the program promises that the warp's lanes agree (.uni)
	Return    bool // Switch: the return of a function
	Test      FloatTest
	Dot       Dot
	Lut       uint8 // Lop3: the truth table
	Entry     uint8 // CallRt: the runtime's entry, image.RtXxx
	Stop      uint8 // Trap: image.StopXxx
	Tied      uint8 // Asm, AsmPure: so many first arguments are what the results hold before
	Iters     uint8 // KeepBegin: so many first iterations of the loop are kept
	Cmp       Cmp
	Space     Space
	Order     Order
	Scope     Scope
	Volatile  bool
	ReadOnly  bool  // ld.global.nc, const, param: nobody writes it while the kernel runs
	Once      bool  // Load: for all warps of the block, by the first that comes
	Quads     bool  // Load: of words; lanes 4g to 4g+3 read 16 bytes that follow each other
	Write     bool  // Prefetch: to be written
	Align     uint8 // Load, Store: known alignment of the address in bytes (PTX guarantees the access's size)
	AtomOp    AtomOp
	Shuf      ShufMode
	Sreg      SpecialReg
	BarKind   BarKind
	Bytes     uint32 // CopyAsync: the copy's; Prefetch: for each lane, from the first lane's address on; 0: the processor knows better
	UnitOp    uint32 // TexRead, TexWrite, Tensor: what is done, as internal/image encodes it (texture.go, tensor.go)
	Off       int64
	Sym       string
	Mat       *Matrix
}

// Result is the instruction's only result, or nil.
func (in *Inst) Result() *Value {
	if len(in.Results) == 0 {
		return nil
	}
	return in.Results[0]
}

// Term is the block's terminator, nil while the block is being built.
func (b *Block) Term() *Inst {
	if n := len(b.Insts); n > 0 && b.Insts[n-1].Op.IsTerm() {
		return b.Insts[n-1]
	}
	return nil
}

// Succs are the block's successors.
func (b *Block) Succs() []*Block {
	if t := b.Term(); t != nil {
		return t.Targets
	}
	return nil
}
