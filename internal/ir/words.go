package ir

// The words of the text form for attributes that are one of a set; the other attributes are in attribute.go.

var rndWords = [...]string{RN: "rn", RZ: "rz", RM: "rm", RP: "rp", RNA: "rna", RS: "rs"}

var cmpWords = [...]string{
	EQ: "eq", NE: "ne", LT: "lt", LE: "le", GT: "gt", GE: "ge", LO: "lo", LS: "ls", HI: "hi", HS: "hs",
	EQU: "equ", NEU: "neu", LTU: "ltu", LEU: "leu", GTU: "gtu", GEU: "geu", NUM: "num", NAN: "isnan",
}

var spaceWords = [...]string{Generic: "generic", Global: "global", Shared: "shared", Local: "local", Const: "const", ParamSpace: "param"}

var orderWords = [...]string{Weak: "weak", Relaxed: "relaxed", Acquire: "acquire", Release: "release", AcqRel: "acqrel", SeqCst: "seqcst"}

var scopeWords = [...]string{ScopeNone: "noscope", ScopeCTA: "cta", ScopeCluster: "cluster", ScopeGPU: "gpu", ScopeSys: "sys"}

var atomWords = [...]string{
	AtomAdd: "add", AtomMinS: "min.s", AtomMinU: "min.u", AtomMaxS: "max.s", AtomMaxU: "max.u", AtomAnd: "and", AtomOr: "or",
	AtomXor: "xor", AtomExch: "exch", AtomInc: "inc", AtomDec: "dec", AtomFMin: "fmin", AtomFMax: "fmax",
}

var shufWords = [...]string{ShufUp: "up", ShufDown: "down", ShufBfly: "bfly", ShufIdx: "idx"}

var barWords = [...]string{BarSync: "sync", BarArrive: "arrive", BarRedPopc: "red.popc", BarRedAnd: "red.and", BarRedOr: "red.or", BarPace: "pace"}

var testWords = [...]string{
	TestFinite: "finite", TestInfinite: "infinite", TestNumber: "number", TestNaN: "notanumber", TestNormal: "normal", TestSubnormal: "subnormal",
}

var dotWords = [...]string{
	0: "u.u", DotSignedA: "s.u", DotSignedB: "u.s", DotSignedA | DotSignedB: "s.s",
	DotHigh: "u.u.hi", DotHigh | DotSignedA: "s.u.hi", DotHigh | DotSignedB: "u.s.hi", DotHigh | DotSignedA | DotSignedB: "s.s.hi",
}

var sregWords = [NumSpecialRegs]string{
	TidX: "tid.x", TidY: "tid.y", TidZ: "tid.z", NtidX: "ntid.x", NtidY: "ntid.y", NtidZ: "ntid.z",
	CtaidX: "ctaid.x", CtaidY: "ctaid.y", CtaidZ: "ctaid.z", NctaidX: "nctaid.x", NctaidY: "nctaid.y", NctaidZ: "nctaid.z",
	LaneID: "laneid", WarpID: "warpid", NWarpID: "nwarpid", SMID: "smid", NSMID: "nsmid", GridID: "gridid",
	LanemaskEQ: "lanemask_eq", LanemaskLE: "lanemask_le", LanemaskLT: "lanemask_lt", LanemaskGE: "lanemask_ge", LanemaskGT: "lanemask_gt",
	ClockLo: "clock", ClockHi: "clock_hi", Clock64: "clock64", GlobalTimer: "globaltimer", GlobalTimerLo: "globaltimer_lo", GlobalTimerHi: "globaltimer_hi",
	DynamicSmem: "dynamic_smem_size", TotalSmem: "total_smem_size",
	ClusterIDX: "clusterid.x", ClusterIDY: "clusterid.y", ClusterIDZ: "clusterid.z",
	NClusterIDX: "nclusterid.x", NClusterIDY: "nclusterid.y", NClusterIDZ: "nclusterid.z",
	ClusterCtaIDX: "cluster_ctaid.x", ClusterCtaIDY: "cluster_ctaid.y", ClusterCtaIDZ: "cluster_ctaid.z",
	ClusterNctaIDX: "cluster_nctaid.x", ClusterNctaIDY: "cluster_nctaid.y", ClusterNctaIDZ: "cluster_nctaid.z",
	ClusterCtaRank: "cluster_ctarank", ClusterNctaRank: "cluster_nctarank", IsExplicitCluster: "is_explicit_cluster", EnvReg1: "envreg1", EnvReg2: "envreg2",
	BlockTurn: "block_turn",
}

// String is the word of the text form.
func (r Rnd) String() string { return wordOf(rndWords[:], int(r)) }

// String is the word of the text form.
func (c Cmp) String() string { return wordOf(cmpWords[:], int(c)) }

// String is the word of the text form.
func (s Space) String() string { return wordOf(spaceWords[:], int(s)) }

// String is the word of the text form.
func (o Order) String() string { return wordOf(orderWords[:], int(o)) }

// String is the word of the text form.
func (s Scope) String() string { return wordOf(scopeWords[:], int(s)) }

// String is the word of the text form.
func (a AtomOp) String() string { return wordOf(atomWords[:], int(a)) }

// String is the word of the text form.
func (m ShufMode) String() string { return wordOf(shufWords[:], int(m)) }

// String is the word of the text form.
func (k BarKind) String() string { return wordOf(barWords[:], int(k)) }

// String is the word of the text form.
func (t FloatTest) String() string { return wordOf(testWords[:], int(t)) }

// String is the word of the text form: a's sign, b's sign, and the half.
func (d Dot) String() string { return wordOf(dotWords[:], int(d)) }

// String is the register's name as PTX spells it, without the percent sign.
func (r SpecialReg) String() string { return wordOf(sregWords[:], int(r)) }

func wordOf(words []string, i int) string {
	if i < len(words) {
		return words[i]
	}
	return "?"
}
