package ir

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// attribute is a field of Attr as the text form writes it and the verifier counts it.
type attribute struct {
	name  string
	words []string // of an enumeration: each value is a word of its own
	must  []Op     // operations for which zero is written too, because without it a reader would have to know the default
	get   func(*Attr) uint64
	set   func(*Attr, uint64)
	print func(*strings.Builder, *Attr)
	read  func(*reader, *Attr) // reads what follows the name; nil: an enumeration
}

// attributes are all fields of Attr in the order of the text form. A name or word stands in one row only, so that the reader
// needs no context.
var attributes = [...]attribute{
	enum("cmp", cmpWords[:], func(a *Attr) *Cmp { return &a.Cmp }, ICmp, FCmp),
	enum("test", testWords[:], func(a *Attr) *FloatTest { return &a.Test }, FTest),
	enum("sreg", sregWords[:], func(a *Attr) *SpecialReg { return &a.Sreg }, SReg),
	enum("shuf", shufWords[:], func(a *Attr) *ShufMode { return &a.Shuf }, Shfl),
	enum("atom", atomWords[:], func(a *Attr) *AtomOp { return &a.AtomOp }, Atomic, Redux),
	enum("bar", barWords[:], func(a *Attr) *BarKind { return &a.BarKind }, Bar),
	enum("dot", dotWords[:], func(a *Attr) *Dot { return &a.Dot }, Dp4a, Dp2a),
	enum("rnd", rndWords[:], func(a *Attr) *Rnd { return &a.Rnd }),
	enum("space", spaceWords[:], func(a *Attr) *Space { return &a.Space }, Load, Store, Atomic, AtomicCAS),
	enum("order", orderWords[:], func(a *Attr) *Order { return &a.Order }),
	enum("scope", scopeWords[:], func(a *Attr) *Scope { return &a.Scope }),

	flag("ftz", func(a *Attr) *bool { return &a.FTZ }),
	flag("eitherftz", func(a *Attr) *bool { return &a.EitherFTZ }),
	flag("sat", func(a *Attr) *bool { return &a.Sat }),
	flag("nan", func(a *Attr) *bool { return &a.NaN }),
	flag("xorsign", func(a *Attr) *bool { return &a.XorSign }),
	flag("relu", func(a *Attr) *bool { return &a.Relu }),
	flag("contract", func(a *Attr) *bool { return &a.Contract }),
	flag("oneulp", func(a *Attr) *bool { return &a.OneUlp }),
	flag("wrap", func(a *Attr) *bool { return &a.Wrap }),
	flag("stackend", func(a *Attr) *bool { return &a.StackEnd }),
	flag("volatile", func(a *Attr) *bool { return &a.Volatile }),
	flag("readonly", func(a *Attr) *bool { return &a.ReadOnly }),
	flag("once", func(a *Attr) *bool { return &a.Once }),
	flag("quads", func(a *Attr) *bool { return &a.Quads }),
	flag("write", func(a *Attr) *bool { return &a.Write }),
	flag("aligned", func(a *Attr) *bool { return &a.Aligned }),
	flag("allwarps", func(a *Attr) *bool { return &a.AllWarps }),
	flag("noinline", func(a *Attr) *bool { return &a.NoInline }),
	flag("uniform", func(a *Attr) *bool { return &a.Uniform }),
	flag("return", func(a *Attr) *bool { return &a.Return }),

	{name: "sym", get: func(a *Attr) uint64 { return uint64(len(a.Sym)) },
		print: func(b *strings.Builder, a *Attr) { fmt.Fprintf(b, "sym=%s", strconv.Quote(a.Sym)) },
		read:  func(r *reader, a *Attr) { r.expect("="); a.Sym = r.str() }},
	number("align", "%d", func(a *Attr) *uint8 { return &a.Align }),
	{name: "off", get: func(a *Attr) uint64 { return uint64(a.Off) },
		print: func(b *strings.Builder, a *Attr) { fmt.Fprintf(b, "off=%d", a.Off) },
		read:  func(r *reader, a *Attr) { r.expect("="); a.Off = r.number() }},
	number("lut", "%#x", func(a *Attr) *uint8 { return &a.Lut }),
	number("bytes", "%d", func(a *Attr) *uint32 { return &a.Bytes }),
	number("unitop", "%#x", func(a *Attr) *uint32 { return &a.UnitOp }),
	number("entry", "%d", func(a *Attr) *uint8 { return &a.Entry }),
	number("stop", "%d", func(a *Attr) *uint8 { return &a.Stop }),
	number("tied", "%d", func(a *Attr) *uint8 { return &a.Tied }),
	number("iters", "%d", func(a *Attr) *uint8 { return &a.Iters }),
	{name: "mat", get: func(a *Attr) uint64 { return b2u(a.Mat != nil) },
		print: func(b *strings.Builder, a *Attr) { a.Mat.print(b) },
		read:  func(r *reader, a *Attr) { a.Mat = r.readMatrix() }},
}

func b2u(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// enum is an attribute that is one of a set.
func enum[T ~uint8](name string, words []string, at func(*Attr) *T, must ...Op) attribute {
	return attribute{name: name, words: words, must: must,
		get:   func(a *Attr) uint64 { return uint64(*at(a)) },
		set:   func(a *Attr, n uint64) { *at(a) = T(n) },
		print: func(b *strings.Builder, a *Attr) { b.WriteString(wordOf(words, int(*at(a)))) }}
}

// flag is an attribute that is there or not.
func flag(name string, at func(*Attr) *bool) attribute {
	return attribute{name: name,
		get:   func(a *Attr) uint64 { return b2u(*at(a)) },
		print: func(b *strings.Builder, _ *Attr) { b.WriteString(name) },
		read:  func(_ *reader, a *Attr) { *at(a) = true }}
}

// number is an attribute that is written as name=value.
func number[T ~uint8 | ~uint32](name, verb string, at func(*Attr) *T) attribute {
	return attribute{name: name,
		get:   func(a *Attr) uint64 { return uint64(*at(a)) },
		print: func(b *strings.Builder, a *Attr) { fmt.Fprintf(b, "%s="+verb, name, *at(a)) },
		read: func(r *reader, a *Attr) {
			r.expect("=")
			s := r.word()
			n, err := strconv.ParseUint(s, 0, 64)
			if err != nil || n > uint64(^T(0)) {
				r.fail("bad number %q of %s", s, name)
			}
			*at(a) = T(n)
		}}
}

// What many operations take.
const (
	takesSum    = "rnd ftz eitherftz sat contract"
	takesAccess = "space order scope volatile align"
)

// takes lists the attributes that each operation may carry, by their names above. All others must be zero.
var takes = [NumOps]string{
	Param: "off", SReg: "sreg", VarAddr: "sym off", SharedAddr: "sym off", LocalAddr: "sym off stackend", ParamAddr: "off", FuncAddr: "sym",
	ToGeneric: "space", FromGeneric: "space", IsSpace: "space",

	Bmsk: "wrap", Lop3: "lut", FshL: "wrap", FshR: "wrap", Dp4a: "dot", Dp2a: "dot",

	ICmp: "cmp", FCmp: "cmp ftz eitherftz", FTest: "test",

	FAdd: takesSum, FSub: takesSum, FMul: takesSum, FFma: "rnd ftz eitherftz sat",
	FDiv: "rnd ftz eitherftz oneulp", FSqrt: "rnd ftz eitherftz oneulp", FRcp: "rnd ftz", FExp2: "ftz", FLog2: "ftz", FNeg: "ftz", FAbs: "ftz",
	FMin: "ftz nan xorsign", FMax: "ftz nan xorsign", FRound: "rnd ftz",

	FToS: "rnd ftz", FToU: "rnd ftz", SToF: "rnd", UToF: "rnd", FExt: "ftz", FTrunc: "rnd ftz sat relu",

	Load: takesAccess + " readonly once quads", Store: takesAccess, Atomic: "atom space order scope ftz", AtomicCAS: "space order scope",
	CopyAsync: "bytes", Prefetch: "space bytes write", Fence: "order scope",

	TexRead: "unitop", TexWrite: "unitop", Tensor: "unitop",

	Shfl: "shuf", Redux: "atom nan",

	Mma: "mat rnd sym ftz eitherftz", LdMatrix: "mat space", StMatrix: "mat space", MovMatrix: "mat",

	Bar: "bar aligned allwarps", Clock: "sreg",

	Call: "sym noinline", CallInd: "sym", CallRt: "sym entry", Asm: "sym tied", AsmPure: "sym tied",

	CondBr: "uniform", Switch: "return", Trap: "stop",

	KeepBegin: "iters", StoreKept: "space align",
}

// parsedTakes has a bit for each row of attributes.
var parsedTakes = sync.OnceValue(func() *[NumOps]uint64 {
	all := new([NumOps]uint64)
	for op, names := range takes {
		for name := range strings.FieldsSeq(names) {
			i := slices.IndexFunc(attributes[:], func(a attribute) bool { return a.name == name })
			if i < 0 {
				panic(fmt.Sprintf("BUG: %s takes %q, which is no attribute", Op(op), name))
			}
			all[op] |= 1 << i
		}
	}
	return all
})

// strays are the names of the attributes that are set and that op does not take.
func (a *Attr) strays(op Op) (names []string) {
	have := parsedTakes()[op]
	for i := range attributes {
		if have>>i&1 == 0 && attributes[i].get(a) != 0 {
			names = append(names, attributes[i].name)
		}
	}
	return names
}
