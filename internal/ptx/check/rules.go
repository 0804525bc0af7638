package check

import (
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
)

// spellingRules are what the words of a spelling must satisfy together, beyond what a row can say; checked once a spelling.
var spellingRules = [isa.NumOps]func(*checker, *ptx.Inst) bool{
	isa.Ld: memorySpelling, isa.St: memorySpelling, isa.Ldu: memorySpelling, isa.StAsync: memorySpelling, isa.Mov: memorySpelling,
	isa.Cvt: cvtSpelling, isa.CvtaTo: cvtaSpelling, isa.Cvta: cvtaSpelling, isa.Isspacep: cvtaSpelling,
	isa.Set: compareSpelling, isa.Setp: compareSpelling,
	isa.Min: minSpelling, isa.Max: minSpelling,
	isa.Vote: syncSpelling, isa.Shfl: syncSpelling,
	isa.Bar: barSpelling, isa.Barrier: barSpelling,
	isa.Atom: atomSpelling, isa.Red: atomSpelling,
	isa.MbarrierExpectTx: semSpelling, isa.MbarrierCompleteTx: semSpelling, isa.MbarrierArrive: semSpelling, isa.MbarrierArriveDrop: semSpelling,
	isa.MbarrierTestWait: semSpelling, isa.MbarrierTryWait: semSpelling,
	isa.MultimemLdReduce: semSpelling, isa.MultimemSt: semSpelling, isa.MultimemRed: semSpelling,
	isa.Mma: mmaSpelling, isa.MmaSp: mmaSpelling, isa.WmmaMma: wmmaSpelling, isa.WmmaLoad: wmmaSpelling, isa.WmmaStore: wmmaSpelling,
	isa.WgmmaMmaAsync: wgmmaSpelling, isa.WgmmaMmaAsyncSp: wgmmaSpelling,
	isa.Tex:               texSpelling,
	isa.CpAsyncBulkTensor: tensorSpelling, isa.CpAsyncBulkPrefetchTensor: tensorSpelling, isa.CpReduceAsyncBulkTensor: tensorSpelling,
	isa.Tcgen05Mma: collectorSpelling, isa.Tcgen05MmaSp: collectorSpelling,
}

// rules are checked for every instruction of the op, after its operands.
var rules = [isa.NumOps]func(*checker, *ptx.Inst){
	isa.Mov: movRule,
	isa.Cvt: cvtRule,
	isa.Tex: texRule, isa.Tld4: texRule,
	isa.Suld: surfaceRule, isa.Sust: surfaceRule, isa.Sured: surfaceRule,
	isa.Vadd: videoRule, isa.Vsub: videoRule, isa.Vabsdiff: videoRule, isa.Vmin: videoRule, isa.Vmax: videoRule, isa.Vshl: videoRule, isa.Vshr: videoRule, isa.Vmad: videoRule, isa.Vset: videoRule,
	isa.Vadd2: videoRule, isa.Vsub2: videoRule, isa.Vavrg2: videoRule, isa.Vabsdiff2: videoRule, isa.Vmin2: videoRule, isa.Vmax2: videoRule, isa.Vset2: videoRule,
	isa.Vadd4: videoRule, isa.Vsub4: videoRule, isa.Vavrg4: videoRule, isa.Vabsdiff4: videoRule, isa.Vmin4: videoRule, isa.Vmax4: videoRule, isa.Vset4: videoRule,
	isa.Bar: barRule, isa.Barrier: barRule,
	isa.Createpolicy: policyRule, isa.Setmaxnreg: setmaxnregRule, isa.Alloca: allocaRule,
	isa.Cvta: cvtaRule, isa.Mapa: cvtaRule, isa.Getctarank: cvtaRule,
	isa.Mma: scaleRule, isa.MmaSp: scaleRule,
	isa.WgmmaMmaAsync: wgmmaRule, isa.WgmmaMmaAsyncSp: wgmmaRule, isa.WgmmaWaitGroup: wgmmaWaitRule,
	isa.Tcgen05Ld: fragmentRule, isa.Tcgen05St: fragmentRule, isa.Tcgen05LdRed: fragmentRule,
	isa.CpAsync:     cpAsyncRule,
	isa.CpAsyncBulk: bulkSizeRule, isa.CpReduceAsyncBulk: bulkSizeRule, isa.CpAsyncBulkPrefetch: bulkSizeRule,
	isa.MultimemCpAsyncBulk: bulkSizeRule, isa.MultimemCpReduceAsyncBulk: bulkSizeRule,
	isa.CpAsyncBulkTensor: tensorRule, isa.CpAsyncBulkPrefetchTensor: tensorRule,
}

func (c *checker) refuse(in *ptx.Inst, format string, args ...any) bool {
	c.errorf(in.Pos, format, args...)
	return false
}

// memorySpelling checks vector sizes and which words go with which state space.
func memorySpelling(c *checker, in *ptx.Inst) bool {
	t := in.Type("type")
	bits := vecOf(in) * t.Bits()
	space := spaceOfMod(in.OptMod("space"))
	wide := in.Op() == isa.Ld || in.Op() == isa.St
	switch {
	case bits > 128 && (bits != 256 || t == isa.B128 || !wide):
		return c.refuse(in, "Vector type too large, exceeds 128 bit limit")
	case bits == 256:
		if !c.need(in, isa.Need{PTX: isa.V(8, 8), SM: 100}, "256 bit wide load/store") {
			return false
		}
	case t == isa.B128 && wide:
		if !c.need(in, isa.Need{PTX: isa.V(8, 3), SM: 70}, ".b128") {
			return false
		}
	}
	if l2 := in.OptMod("level2"); l2 != 0 && bits != 256 {
		return c.refuse(in, "Instruction '%v' requires '.v8.b32/.v4.b64' type with '%v' modifier.", in.Op(), l2)
	}
	if in.Has(isa.ModVolatile) {
		switch space {
		case ptx.SpaceConst, ptx.SpaceParam:
			return c.refuse(in, "Modifier '.volatile' cannot be applied to '%v' space", in.Mod("space"))
		case ptx.SpaceLocal:
			return c.need(in, isa.Need{PTX: isa.V(9, 1)}, "ld/st with .local.volatile")
		}
	}
	if in.Op() == isa.StAsync && in.Mod("scope") == isa.ModCluster && in.Form.Slot("completion") >= 0 && in.Mod("completion") == 0 {
		return c.refuse(in, "Modifier '.cluster' requires modifier '.completion_mechanism' for instruction 'st.async'")
	}
	return true
}

// compareSpelling: bits compare only for equality, signed numbers have no lo, ls, hi, hs.
func compareSpelling(c *checker, in *ptx.Inst) bool {
	t := in.OptType("type")
	if t == isa.TypeNone {
		t = in.Type("atype")
	}
	ok := true
	switch in.Mod("cmp") {
	case isa.ModEq, isa.ModNe:
	case isa.ModLo, isa.ModLs, isa.ModHi, isa.ModHs:
		ok = t.Class() == isa.ClassUnsigned
	default:
		ok = t.Class() != isa.ClassBits
	}
	if !ok {
		return c.refuse(in, "Mismatch between instruction type and comparison qualifier")
	}
	return true
}

// minSpelling: .xorsign and .abs come together, except in the three-operand form.
func minSpelling(c *checker, in *ptx.Inst) bool {
	if in.Form.Slot("xorsign") >= 0 && (in.Mod("xorsign") == 0) != (in.Mod("abs") == 0) {
		return c.refuse(in, "Modifier '.xorsign' requires modifier '.abs'")
	}
	return true
}

// syncSpelling: the forms without .sync ended with sm_70 and PTX 6.4.
func syncSpelling(c *checker, in *ptx.Inst) bool {
	if in.Form.Slot("sync") < 0 && c.m.Target.SM >= 70 && c.m.Version >= isa.V(6, 4) {
		return c.refuse(in, "Instruction '%v' without '.sync' is not supported on .target sm_70 and higher from PTX ISA version 6.4", in.Op())
	}
	return true
}

func barSpelling(c *checker, in *ptx.Inst) bool {
	return in.Mod("cta") == 0 || c.need(in, isa.Need{PTX: isa.V(7, 8)}, in.Op().String()+".cta")
}

func atomSpelling(c *checker, in *ptx.Inst) bool {
	if in.Mod("hint") != 0 && spaceOfMod(in.Mod("space")) == ptx.SpaceShared {
		return c.refuse(in, "Modifier '.L2::cache_hint' cannot be applied to '%v' space for instruction '%v'", in.Mod("space"), in.Op())
	}
	if in.Mod("sem") != 0 && !c.need(in, isa.Need{PTX: isa.V(6, 0), SM: 70}, "memory order on atomic operations") {
		return false
	}
	return in.Mod("scope") == 0 || c.need(in, isa.Need{PTX: isa.V(5, 0), SM: 60}, "scopes on atomic operations")
}

// semSpelling: memory order and scope come together.
func semSpelling(c *checker, in *ptx.Inst) bool {
	sem, scope := in.Mod("sem"), in.Mod("scope")
	if sem == isa.ModWeak {
		sem = 0
	}
	switch {
	case sem != 0 && scope == 0:
		return c.refuse(in, "Modifier '%v' requires scope with '%v' instruction", sem, in.Op())
	case sem == 0 && scope != 0:
		return c.refuse(in, "Modifier '%v' requires order with '%v' instruction", scope, in.Op())
	}
	return true
}

// movRule checks packing and unpacking moves: mov.b64 d, {a, b}.
func movRule(c *checker, in *ptx.Inst) {
	if in.Mod("vec") != 0 {
		return
	}
	d, a := &in.Args[0], &in.Args[1]
	dv, av := d.Kind == ptx.OpVec, a.Kind == ptx.OpVec
	switch {
	case !dv && !av:
		return
	case dv && av:
		c.errorf(in.Pos, "Illegal vector-vector operands for vector-scalar or scalar-vector mov instruction")
		return
	}
	t := in.Type("type")
	if !t.IsBits() {
		c.mismatch(in)
		return
	}
	v := a
	if dv {
		v = d
	}
	n, bits := c.vectorShape(v)
	if n < 2 || bits*n != t.Bits() {
		c.mismatch(in)
	}
}

// vectorShape is how many elements a vector operand has and how wide they are (0 if they differ).
func (c *checker) vectorShape(o *ptx.Operand) (n, bits int) {
	for i := range o.Elems {
		e := &o.Elems[i]
		t := isa.TypeNone
		switch e.Kind {
		case ptx.OpReg:
			if t = c.b.Regs[e.Reg].Type; t == isa.Pred || c.b.Regs[e.Reg].Vec > 1 && e.Elem < 0 {
				return 0, 0
			}
		case ptx.OpSReg:
			t = e.SReg.Type()
		default:
			continue
		}
		b := t.Bits()
		if bits != 0 && b != bits {
			return 0, 0
		}
		bits = b
	}
	return len(o.Elems), bits
}
