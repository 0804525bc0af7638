package ir

// Rnd is a rounding mode.
type Rnd uint8

// The rounding modes.
const (
	RN  Rnd = iota // nearest even
	RZ             // toward zero
	RM             // toward minus infinity
	RP             // toward plus infinity
	RNA            // nearest, ties away
	RS             // stochastic, random bits as a further argument
)

// Cmp is a comparison. Integer: EQ NE, LT LE GT GE signed, LO LS HI HS unsigned. Float: EQ … GE ordered, EQU … GEU true on NaN too, NUM, NAN.
type Cmp uint8

// The comparisons.
const (
	EQ Cmp = iota
	NE
	LT
	LE
	GT
	GE
	LO
	LS
	HI
	HS
	EQU
	NEU
	LTU
	LEU
	GTU
	GEU
	NUM
	NAN
)

// Negated is the comparison of integers that holds where c does not.
func (c Cmp) Negated() Cmp {
	return [...]Cmp{EQ: NE, NE: EQ, LT: GE, LE: GT, GT: LE, GE: LT, LO: HS, LS: HI, HI: LS, HS: LO}[c]
}

// Swapped is the comparison that holds of b and a where c does of a and b.
func (c Cmp) Swapped() Cmp {
	return [...]Cmp{
		EQ: EQ, NE: NE, LT: GT, LE: GE, GT: LT, GE: LE, LO: HI, LS: HS, HI: LO, HS: LS,
		EQU: EQU, NEU: NEU, LTU: GTU, LEU: GEU, GTU: LTU, GEU: LEU, NUM: NUM, NAN: NAN,
	}[c]
}

// Space is a state space of a memory access.
type Space uint8

// The spaces.
const (
	Generic Space = iota
	Global
	Shared
	Local
	Const
	ParamSpace
)

// Order is a memory order.
type Order uint8

// The orders.
const (
	Weak Order = iota
	Relaxed
	Acquire
	Release
	AcqRel
	SeqCst
)

// Scope is the set of threads an order holds for.
type Scope uint8

// The scopes.
const (
	ScopeNone Scope = iota
	ScopeCTA
	ScopeCluster
	ScopeGPU
	ScopeSys
)

// AtomOp is the operation of an atomic, a reduction or redux.
type AtomOp uint8

// The atomic operations. The type of the value says integer or float.
const (
	AtomAdd AtomOp = iota
	AtomMinS
	AtomMinU
	AtomMaxS
	AtomMaxU
	AtomAnd
	AtomOr
	AtomXor
	AtomExch
	AtomInc
	AtomDec
	AtomFMin
	AtomFMax
)

// ShufMode is the mode of shfl.
type ShufMode uint8

// The modes.
const (
	ShufUp ShufMode = iota
	ShufDown
	ShufBfly
	ShufIdx
)

// SpecialReg is a special register as the IR knows them.
type SpecialReg uint8

// The special registers. X, Y, Z follow each other.
const (
	TidX SpecialReg = iota
	TidY
	TidZ
	NtidX
	NtidY
	NtidZ
	CtaidX
	CtaidY
	CtaidZ
	NctaidX
	NctaidY
	NctaidZ
	LaneID
	WarpID
	NWarpID
	SMID
	NSMID
	GridID
	LanemaskEQ
	LanemaskLE
	LanemaskLT
	LanemaskGE
	LanemaskGT
	ClockLo
	ClockHi
	Clock64
	GlobalTimer
	GlobalTimerLo
	GlobalTimerHi
	DynamicSmem
	TotalSmem
	ClusterIDX
	ClusterIDY
	ClusterIDZ
	NClusterIDX
	NClusterIDY
	NClusterIDZ
	ClusterCtaIDX
	ClusterCtaIDY
	ClusterCtaIDZ
	ClusterNctaIDX
	ClusterNctaIDY
	ClusterNctaIDZ
	ClusterCtaRank
	ClusterNctaRank
	IsExplicitCluster
	EnvReg1   // upper half of the address of a cooperative launch's workspace
	EnvReg2   // lower half
	BlockTurn // by how much the number of the next block of the same worker is larger, as far as it is known: for prefetches
	NumSpecialRegs
)

// BarWarpgroup is the number of the barrier of the warpgroup that the warp is in: one for each, none of which programs can name.
const BarWarpgroup = 16

// BarKind is the kind of a block barrier.
type BarKind uint8

// The kinds.
const (
	BarSync BarKind = iota
	BarArrive
	BarRedPopc
	BarRedAnd
	BarRedOr
	BarPace // the compiler's own: no warp goes on before the others have come here, or have had a turn
)

// Matrix describes a matrix operation.
type Matrix struct {
	M, N, K    int
	A, B, C, D string // element types, as PTX spells them; e2m1b: e2m1 in a byte of its own
	ALayout    string // row, col
	BLayout    string
	Trans      bool
	Num        int // ldmatrix .x1 .x2 .x4
	Sat        bool
	Sparse     bool
	Whole      bool   // wgmma: products of bytes that are floats and c are added up at once
	Bit        string // "xor.popc", "and.popc"
	Fragment   string // wmma: "a", "b", "c", "d"
	Scale      string // type of the factors of blocks along k, of which there are Scales; "": none
	Scales     int
	Selector   int // Sparse: which threads of a group of four hold the metadata
}

// FloatTest is what FTest asks of a number.
type FloatTest uint8

// The tests.
const (
	TestFinite    FloatTest = iota // neither infinite nor NaN
	TestInfinite                   //
	TestNumber                     // not a NaN
	TestNaN                        //
	TestNormal                     // not subnormal, infinite or NaN; zero is normal, as on the hardware
	TestSubnormal                  //
)

// Dot is a set of what modifies a dot product of small integers.
type Dot uint8

// The modifiers.
const (
	DotSignedA Dot = 1 << iota // the parts of a are signed
	DotSignedB
	DotHigh // Dp2a: b's upper two bytes
)
