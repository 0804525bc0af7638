package ir

import (
	"fmt"
	"strings"
	"sync"
)

// sigs gives the types of every operation: results, "=", arguments. A type name stands for itself. A capital letter is a
// variable: all its uses in one instruction are the same type, and the letter says which types it may be:
//
//	I  an integer of 8 to 128 bits     J  another one
//	L  an integer or i1                F  a float, packed or not
//	S  a float that is not packed      T  another one
//	V  anything but void               X  an integer of 32 or 64 bits
//
// "V..." is any number of values, each of any type. "?" after a type makes it optional.
var sigs = [NumOps]string{
	Invalid: "", Phi: "V = V...", Copy: "V = V", Undef: "V =", Param: "V =", SReg: "X =",
	VarAddr: "i64 =", SharedAddr: "i64 =", LocalAddr: "i64 =", ParamAddr: "i64 =", FuncAddr: "i64 =",
	ToGeneric: "i64 = i64", FromGeneric: "i64 = i64", IsSpace: "i1 = i64",

	Add: "I = I I", Sub: "I = I I", Mul: "I = I I", MulHiS: "I = I I", MulHiU: "I = I I", DivS: "I = I I", DivU: "I = I I", RemS: "I = I I", RemU: "I = I I",
	Neg: "I = I", AbsS: "I = I", MinS: "I = I I", MinU: "I = I I", MaxS: "I = I I", MaxU: "I = I I", AddSatS: "I = I I", SubSatS: "I = I I",
	CarryAdd: "i1 = I I i1", BorrowSub: "i1 = I I i1",
	And: "L = L L", Or: "L = L L", Xor: "L = L L", Not: "L = L", Shl: "I = I i32", ShrU: "I = I i32", ShrS: "I = I i32",
	Popc: "i32 = I", Clz: "i32 = I", Brev: "I = I", BfeS: "X = X i32 i32", BfeU: "X = X i32 i32", Bfi: "X = X X i32 i32", BfindS: "i32 = X", BfindU: "i32 = X",
	Bmsk: "i32 = i32 i32", Fns: "i32 = i32 i32 i32", Prmt: "i32 = i32 i32 i32", Lop3: "i32 = i32 i32 i32", FshL: "i32 = i32 i32 i32", FshR: "i32 = i32 i32 i32",
	Dp4a: "i32 = i32 i32 i32", Dp2a: "i32 = i32 i32 i32",

	ICmp: "i1 = L L", FCmp: "i1 = S S", Select: "V = i1 V V", FTest: "i1 = S",

	FAdd: "F = F F", FSub: "F = F F", FMul: "F = F F", FDiv: "F = F F", FFma: "F = F F F", FSqrt: "F = F", FRcp: "F = F", FExp2: "F = F", FLog2: "F = F", FNeg: "F = F", FAbs: "F = F",
	FMin: "F = F F", FMax: "F = F F", FCopysign: "F = F F", FRound: "F = F", FRelu: "F = F",

	Trunc: "L = I", ZExt: "I = L", SExt: "I = L", Bitcast: "V = V1", FToS: "I = S", FToU: "I = S", SToF: "S = I", UToF: "S = I", FExt: "S = T", FTrunc: "S = T",
	Pack: "V = V...", Unpack: "V... = V",

	Load: "V... = i64", Store: "= i64 V...", Atomic: "V? = i64 V", AtomicCAS: "V = i64 V V", CopyAsync: "= i64 i64 i32", Prefetch: "= i64", Fence: "=",

	TexRead: "V... = i64 V...", TexWrite: "= i64 V...",
	Tensor: "i32 = i64 i64 V...",

	Shfl: "V i1? = V i32 i32 i32", VoteAny: "i1 = i1 i32", VoteAll: "i1 = i1 i32", VoteUni: "i1 = i1 i32", Ballot: "i32 = i1 i32",
	MatchAny: "i32 = X i32", MatchAll: "i32 i1? = X i32", Redux: "V = V i32", ActiveMask: "i32 =", Elect: "i32 i1 = i32", WarpSync: "= i32", LaneMask: "i32 =",

	Mma: "V... = V...", LdMatrix: "V... = i64", StMatrix: "= i64 V...", MovMatrix: "i32 = i32",

	Bar: "V? = i32 i32 i1?", GridSync: "=", Clock: "X =",

	Call: "V... = V...", CallInd: "V... = i64 V...", CallRt: "V? = V...", Asm: "V... = V...", AsmPure: "V... = V...",

	Br: "=", CondBr: "= i1", Switch: "= i32", Ret: "= V...", Exit: "=", Trap: "=",

	EntryMask: "i1 =", AnyLane: "i1 = i1", AllLanes: "i1 = i1", FirstLane: "I = I", KeepBegin: "= i64?", Keep: "V... = V...",
	StoreKept: "= i64 V...",
}

// sigItem is one position of a signature.
type sigItem struct {
	typ  Type // Void: variable
	name string
	opt  bool
	many bool
}

type sig struct{ results, args []sigItem }

var parsedSigs = sync.OnceValue(func() *[NumOps]sig {
	all := new([NumOps]sig)
	for op := Invalid + 1; op < NumOps; op++ {
		res, args, _ := strings.Cut(sigs[op], "=")
		all[op] = sig{sigItems(res), sigItems(args)}
	}
	return all
})

func sigItems(s string) []sigItem {
	var items []sigItem
	for _, w := range strings.Fields(s) {
		it := sigItem{}
		w, it.opt = strings.CutSuffix(w, "?")
		w, it.many = strings.CutSuffix(w, "...")
		if t, ok := typeByName()[w]; ok {
			it.typ = t
		} else {
			it.name = w
		}
		items = append(items, it)
	}
	return items
}

func varAllows(letter byte, t Type) bool {
	isInt := t >= I8 && t <= I128
	switch letter {
	case 'I', 'J':
		return isInt
	case 'L':
		return isInt || t == I1
	case 'X':
		return t == I32 || t == I64
	case 'F':
		return t.IsFloat()
	case 'S', 'T':
		return t.IsFloat() && t != F16x2 && t != BF16x2
	}
	return t != Void
}

// matchSig checks one side; vars carries the variables already bound.
func matchSig(items []sigItem, vs []*Value, what string, vars map[string]Type) error {
	i := 0
	for _, it := range items {
		if it.many {
			return nil
		}
		if i == len(vs) {
			if it.opt {
				continue
			}
			return fmt.Errorf("has %d %ss, needs more", len(vs), what)
		}
		t := vs[i].Type
		if it.name == "" {
			if t != it.typ {
				return fmt.Errorf("%s %d is %s, not %s", what, i, t, it.typ)
			}
		} else {
			if !varAllows(it.name[0], t) {
				return fmt.Errorf("%s %d cannot be %s", what, i, t)
			}
			if have, ok := vars[it.name]; ok && have != t {
				return fmt.Errorf("%s %d is %s, not %s", what, i, t, have)
			}
			vars[it.name] = t
		}
		i++
	}
	if i < len(vs) {
		return fmt.Errorf("has %d %ss, %d wanted", len(vs), what, i)
	}
	return nil
}
