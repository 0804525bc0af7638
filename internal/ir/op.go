package ir

// Op is an operation of the IR. The row in ops says everything general about it.
type Op uint8

// Effect is a set of what an operation does beside computing its results.
type Effect uint8

// The effects. Convergent operations depend on which lanes execute them together and may not be moved into or out of control flow.
const (
	Reads Effect = 1 << iota
	Writes
	Convergent
	Barrier // other warps of the block run before it completes
	Stops   // may end the thread or the kernel
)

// Lanes tells how an operation's results vary over a warp, given its arguments.
type Lanes uint8

// The rules. LanesArgs: uniform arguments give uniform results (element-wise operation).
const (
	LanesArgs    Lanes = iota
	LanesBlock         // the same for all threads of the block
	LanesWarp          // the same for all lanes of a warp
	LanesVarying       // differs between lanes whatever the arguments are
)

// The operations, by chapter.
const (
	Invalid Op = iota

	// values
	Phi        // args parallel to Targets (the incoming blocks)
	Copy       // of its argument
	Undef      //
	Param      // load of a kernel parameter at byte Off, result type says the width
	SReg       // special register Sreg
	VarAddr    // generic address of module variable Sym, + Off
	SharedAddr // .shared offset of static variable Sym (layout in Module.Shared), + Off; Sym "" is the dynamic area
	LocalAddr  // .local offset of the function's slot Sym, + Off; without Sym: where the frame ends, StackEnd: where the stack does
	ParamAddr  // .param offset + Off, for indexed access
	FuncAddr   // id of function Sym
	ToGeneric  // (addr) space → generic
	FromGeneric
	IsSpace // (generic addr) i1: points into Space

	// integer
	Add
	Sub
	Mul
	MulHiS
	MulHiU
	DivS // x/0 is all ones as on the hardware; never traps
	DivU
	RemS // by 0: all ones, likewise
	RemU
	Neg
	AbsS
	MinS
	MinU
	MaxS
	MaxU
	AddSatS
	SubSatS
	CarryAdd  // (a, b, cin i1) carry out of a+b+cin
	BorrowSub // (a, b, bin i1) borrow out of a-b-bin
	And
	Or
	Xor
	Not
	Shl  // amounts past the width give 0 (PTX clamps)
	ShrU // likewise
	ShrS // likewise: sign
	Popc // i32
	Clz  // i32
	Brev
	BfeS // (a, pos, len)
	BfeU
	Bfi // (field, base, pos, len)
	BfindS
	BfindU // i32; shiftamt form is built from it
	Bmsk   // (pos, len); Wrap
	Fns    // (mask, base, offset)
	Prmt   // (a, b, sel); PTX's modes are selectors made of other operations
	Lop3   // (a, b, c); Lut: truth table
	FshL   // (lo, hi, amount) funnel shift, amount clamped (Wrap: modulo 32)
	FshR
	Dp4a // (a, b, c) c + four products of bytes; Dot
	Dp2a // c + two products of a half word of a and a byte of b; Dot

	// compare and select
	ICmp // Cmp
	FCmp // Cmp, FTZ
	Select
	FTest // testp: Test

	// floating point; Rnd, FTZ, EitherFTZ, Sat. Neg and Abs of a NaN are the canonical NaN; of an f64 NaN, that NaN made quiet.
	FAdd
	FSub
	FMul
	FDiv
	FFma
	FSqrt
	FRcp  // correctly rounded 1/x
	FExp2 // these two are the target's own, approximately
	FLog2
	FNeg
	FAbs
	FMin // NaN, XorSign
	FMax
	FCopysign // (magnitude, sign)
	FRound    // to integral, Rnd
	FRelu

	// conversion
	Trunc
	ZExt
	SExt
	Bitcast
	FToS // saturating, Rnd, FTZ
	FToU
	SToF
	UToF
	FExt
	FTrunc // Rnd, FTZ, Sat, Relu
	Pack   // (lo, hi …) small parts to one integer or packed value
	Unpack // results lo, hi …

	// memory; Space, Vec results, Mem
	Load
	Store     // (addr, values…)
	Atomic    // (addr, value) old; AtomOp
	AtomicCAS // (addr, compare, value) old
	CopyAsync // (dst shared, src global, srcbytes) Bytes
	Prefetch  // (addr); Bytes a lane; Write: they will be written
	Fence     // Order, Scope

	// textures and surfaces; UnitOp
	TexRead  // (handle, words…) words
	TexWrite // (handle, words…)

	// tensor copies; UnitOp
	Tensor // (map's address; shared address, or a map's new value; words…) bytes copied

	// warp
	Shfl    // (value, lane, clamp, membermask) Shuf; results value, in-range predicate
	VoteAny // (pred, membermask)
	VoteAll
	VoteUni
	Ballot     // i32
	MatchAny   // (value, membermask) i32
	MatchAll   // results i32, i1
	Redux      // (value, membermask) AtomOp
	ActiveMask // i32
	Elect      // (membermask) results i32 leader, i1
	WarpSync   // (membermask)
	LaneMask   // i32: ballot of the execution mask of the instruction, after linearize

	// matrix
	Mma       // Mat; args and results are the fragments' registers
	LdMatrix  // (addr) Mat
	StMatrix  // (addr, regs…) Mat
	MovMatrix // (reg) Mat

	// block
	Bar // (id, count or 0), BarKind, Aligned, AllWarps; results for red: i32 or i1
	GridSync
	Clock // Sreg: ClockLo … GlobalTimerHi; another value each time

	// calls and the device runtime
	Call    // Sym, args; results; NoInline
	CallInd // (id, where the stack is free, args…); Sym lists what may be called: "f,g,alias=f"
	CallRt  // runtime entry Entry, args; result

	// instructions that a target has and that are kept as they are written (lower.Options.Keep): Sym is the text, where $0, $1 …
	// are the results, then the arguments, and $$ is a dollar; the first Tied arguments are what the results hold before.
	Asm
	AsmPure // of its arguments only

	// control, last of a block
	Br     // Targets[0]
	CondBr // (cond) Targets[0] if true, [1]; Uniform
	Switch // (index) Targets; past the end is undefined in PTX, we take the last; Return
	Ret    // of a function; results as args
	Exit   // the thread ends
	Trap   // Stop

	// made by passes for warp code
	EntryMask // i1 per lane: the lane exists in its block
	AnyLane   // (i1) → i1 uniform: some lane has it
	AllLanes
	FirstLane // of lane 0, whether it acts or not
	KeepBegin // (iteration) what follows, up to Keep, is done once a row of blocks, for each of the first Iters iterations of a loop
	Keep      // (values) the same, kept for the blocks that follow in the row
	StoreKept // (addr, values…, an i1 for each) Space: of its words a lane stores those with their i1 one behind the other from addr on

	NumOps
)

// Row describes an operation. Args and Results are counts; -1: any.
type Row struct {
	Name    string
	Args    int8
	Results int8
	Effects Effect
	Lanes   Lanes
}

var rows = [NumOps]Row{
	Invalid: {"invalid", 0, 0, 0, 0},
	Phi:     {"phi", -1, 1, 0, LanesArgs}, Copy: {"copy", 1, 1, 0, 0}, Undef: {"undef", 0, 1, 0, 0},
	Param: {"param", 0, 1, 0, LanesBlock}, SReg: {"sreg", 0, 1, 0, LanesVarying},
	VarAddr: {"varaddr", 0, 1, 0, LanesBlock}, SharedAddr: {"sharedaddr", 0, 1, 0, LanesBlock}, LocalAddr: {"localaddr", 0, 1, 0, LanesBlock},
	ParamAddr: {"paramaddr", 0, 1, 0, LanesBlock}, FuncAddr: {"funcaddr", 0, 1, 0, LanesBlock},
	ToGeneric: {"togeneric", 1, 1, 0, LanesArgs}, FromGeneric: {"fromgeneric", 1, 1, 0, LanesArgs}, IsSpace: {"isspace", 1, 1, 0, 0},

	Add: {"add", 2, 1, 0, 0}, Sub: {"sub", 2, 1, 0, 0}, Mul: {"mul", 2, 1, 0, 0}, MulHiS: {"mulhi.s", 2, 1, 0, 0}, MulHiU: {"mulhi.u", 2, 1, 0, 0},
	DivS: {"div.s", 2, 1, 0, 0}, DivU: {"div.u", 2, 1, 0, 0}, RemS: {"rem.s", 2, 1, 0, 0}, RemU: {"rem.u", 2, 1, 0, 0},
	Neg: {"neg", 1, 1, 0, 0}, AbsS: {"abs.s", 1, 1, 0, 0}, MinS: {"min.s", 2, 1, 0, 0}, MinU: {"min.u", 2, 1, 0, 0}, MaxS: {"max.s", 2, 1, 0, 0}, MaxU: {"max.u", 2, 1, 0, 0},
	AddSatS: {"addsat.s", 2, 1, 0, 0}, SubSatS: {"subsat.s", 2, 1, 0, 0}, CarryAdd: {"carry", 3, 1, 0, 0}, BorrowSub: {"borrow", 3, 1, 0, 0},
	And: {"and", 2, 1, 0, 0}, Or: {"or", 2, 1, 0, 0}, Xor: {"xor", 2, 1, 0, 0}, Not: {"not", 1, 1, 0, 0},
	Shl: {"shl", 2, 1, 0, 0}, ShrU: {"shr.u", 2, 1, 0, 0}, ShrS: {"shr.s", 2, 1, 0, 0}, Popc: {"popc", 1, 1, 0, 0}, Clz: {"clz", 1, 1, 0, 0}, Brev: {"brev", 1, 1, 0, 0},
	BfeS: {"bfe.s", 3, 1, 0, 0}, BfeU: {"bfe.u", 3, 1, 0, 0}, Bfi: {"bfi", 4, 1, 0, 0}, BfindS: {"bfind.s", 1, 1, 0, 0}, BfindU: {"bfind.u", 1, 1, 0, 0},
	Bmsk: {"bmsk", 2, 1, 0, 0}, Fns: {"fns", 3, 1, 0, 0}, Prmt: {"prmt", 3, 1, 0, 0}, Lop3: {"lop3", 3, 1, 0, 0}, FshL: {"fsh.l", 3, 1, 0, 0}, FshR: {"fsh.r", 3, 1, 0, 0},
	Dp4a: {"dp4a", 3, 1, 0, 0}, Dp2a: {"dp2a", 3, 1, 0, 0},

	ICmp: {"icmp", 2, 1, 0, 0}, FCmp: {"fcmp", 2, 1, 0, 0}, Select: {"select", 3, 1, 0, 0}, FTest: {"ftest", 1, 1, 0, 0},

	FAdd: {"fadd", 2, 1, 0, 0}, FSub: {"fsub", 2, 1, 0, 0}, FMul: {"fmul", 2, 1, 0, 0}, FDiv: {"fdiv", 2, 1, 0, 0}, FFma: {"ffma", 3, 1, 0, 0},
	FSqrt: {"fsqrt", 1, 1, 0, 0}, FRcp: {"frcp", 1, 1, 0, 0}, FExp2: {"fexp2", 1, 1, 0, 0}, FLog2: {"flog2", 1, 1, 0, 0}, FNeg: {"fneg", 1, 1, 0, 0}, FAbs: {"fabs", 1, 1, 0, 0}, FMin: {"fmin", 2, 1, 0, 0}, FMax: {"fmax", 2, 1, 0, 0},
	FCopysign: {"fcopysign", 2, 1, 0, 0}, FRound: {"fround", 1, 1, 0, 0}, FRelu: {"frelu", 1, 1, 0, 0},

	Trunc: {"trunc", 1, 1, 0, 0}, ZExt: {"zext", 1, 1, 0, 0}, SExt: {"sext", 1, 1, 0, 0}, Bitcast: {"bitcast", 1, 1, 0, 0},
	FToS: {"ftos", 1, 1, 0, 0}, FToU: {"ftou", 1, 1, 0, 0}, SToF: {"stof", 1, 1, 0, 0}, UToF: {"utof", 1, 1, 0, 0}, FExt: {"fext", 1, 1, 0, 0}, FTrunc: {"ftrunc", 1, 1, 0, 0},
	Pack: {"pack", -1, 1, 0, 0}, Unpack: {"unpack", 1, -1, 0, 0},

	Load: {"load", 1, -1, Reads, LanesArgs}, Store: {"store", -1, 0, Writes, 0}, Atomic: {"atomic", 2, -1, Reads | Writes, LanesVarying},
	AtomicCAS: {"cas", 3, 1, Reads | Writes, LanesVarying}, CopyAsync: {"copyasync", 3, 0, Reads | Writes, 0}, Prefetch: {"prefetch", 1, 0, Reads, 0},
	Fence: {"fence", 0, 0, Reads | Writes, 0},

	TexRead: {"texread", -1, -1, Reads, LanesVarying}, TexWrite: {"texwrite", -1, 0, Reads | Writes, 0},
	Tensor: {"tensor", -1, 1, Reads | Writes, LanesVarying},

	Shfl: {"shfl", 4, -1, Convergent, LanesVarying}, VoteAny: {"vote.any", 2, 1, Convergent, LanesWarp}, VoteAll: {"vote.all", 2, 1, Convergent, LanesWarp},
	VoteUni: {"vote.uni", 2, 1, Convergent, LanesWarp}, Ballot: {"ballot", 2, 1, Convergent, LanesWarp}, MatchAny: {"match.any", 2, 1, Convergent, LanesVarying},
	MatchAll: {"match.all", 2, -1, Convergent, LanesWarp}, Redux: {"redux", 2, 1, Convergent, LanesWarp}, ActiveMask: {"activemask", 0, 1, Convergent, LanesWarp},
	Elect: {"elect", 1, 2, Convergent, LanesVarying}, WarpSync: {"warpsync", 1, 0, Convergent | Reads | Writes, 0}, LaneMask: {"lanemask", 0, 1, Convergent, LanesWarp},

	Mma: {"mma", -1, -1, Convergent, LanesVarying}, LdMatrix: {"ldmatrix", 1, -1, Convergent | Reads, LanesVarying}, StMatrix: {"stmatrix", -1, 0, Convergent | Writes, 0},
	MovMatrix: {"movmatrix", 1, 1, Convergent, LanesVarying},

	Bar: {"bar", -1, -1, Convergent | Barrier | Reads | Writes, LanesBlock}, GridSync: {"gridsync", 0, 0, Convergent | Barrier | Reads | Writes, 0}, Clock: {"clock", 0, 1, Reads | Writes, LanesWarp},

	Call: {"call", -1, -1, Reads | Writes | Convergent | Stops, LanesVarying}, CallInd: {"callind", -1, -1, Reads | Writes | Convergent | Stops, LanesVarying},
	CallRt: {"callrt", -1, -1, Reads | Writes | Stops, LanesVarying},
	Asm:    {"asm", -1, -1, Reads | Writes | Convergent | Stops, LanesVarying}, AsmPure: {"asm.pure", -1, -1, 0, LanesVarying},

	Br: {"br", 0, 0, 0, 0}, CondBr: {"condbr", 1, 0, 0, 0}, Switch: {"switch", 1, 0, 0, 0}, Ret: {"ret", -1, 0, Stops, 0}, Exit: {"exit", 0, 0, Stops, 0}, Trap: {"trap", 0, 0, Stops, 0},

	EntryMask: {"entrymask", 0, 1, 0, LanesVarying}, AnyLane: {"anylane", 1, 1, 0, LanesWarp}, AllLanes: {"alllanes", 1, 1, 0, LanesWarp},
	FirstLane: {"firstlane", 1, 1, 0, LanesWarp},
	KeepBegin: {"keep.begin", -1, 0, Reads | Writes, 0}, Keep: {"keep", -1, -1, Reads | Writes, LanesVarying},
	StoreKept: {"store.kept", -1, 0, Writes, 0},
}

// Row is the operation's row.
func (op Op) Row() *Row { return &rows[op] }

// String is the operation's name in the text form.
func (op Op) String() string { return rows[op].Name }

// IsTerm reports an operation that ends a block.
func (op Op) IsTerm() bool { return op >= Br && op <= Trap }
