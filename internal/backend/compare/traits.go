package compare

import (
	"strings"

	"kudzu/internal/lazyre"
)

// traits are what in a kernel's text lets two right executors leave different memory. docs/numerics.md has the reasons.
type traits struct {
	matrix  bool // products of floating-point matrices: the order of their sums is open
	sums    bool // floating-point atomics, or sums in a compare-and-swap loop: the order of threads is
	atomics bool // atomics at all: who comes first gets which slot
	waits   bool // blocks that read what others publish: how far those are is open
	floats  bool // arithmetic on floats
	clock   bool // the time, or the number of a processor
	f16     bool // conversions to f16
	bf16    bool // and to bf16
	stores  kinds
	heap    bool // memory that the kernel itself asks for: the two have heaps of their own
}

// kinds are the formats that a kernel's stores may be of.
type kinds struct{ f64, f32, f16, bf16 bool }

var (
	opcodes = lazyre.New(`(?m)^[\s{]*(?:@!?%?[\w$]+\s+)?([a-z][\w.:]*)`)
	clocks  = lazyre.New(`%(clock|globaltimer|smid|nsmid|warpid|gridid)`)
	heaps   = lazyre.New(`\.extern\s+\.func[^;]*\b(malloc|(cuda|__cudaCDP2)(Malloc|GetParameterBufferV2))\b`)
	integer = lazyre.New(`\.[su](8|4)\b|\.b1\b`)
	anyWord = lazyre.New(`\.[bus](32|64|128)$`)
	toHalf  = lazyre.New(`\.f16(x2)?\.f32`)
	toBrain = lazyre.New(`\.bf16(x2)?\.f32`)
	anyHalf = lazyre.New(`\.([bus]16|f16|bf16)$`)
	float   = lazyre.New(`\.(f16|f16x2|bf16|bf16x2|f32|f64)\b`)
)

func traitsOf(text string) traits {
	t := traits{clock: clocks().MatchString(text), heap: heaps().MatchString(text)}
	cas := false
	for _, m := range opcodes().FindAllStringSubmatch(text, -1) {
		op := m[1]
		base, _, _ := strings.Cut(op, ".")
		switch base {
		case "mma", "wmma", "wgmma", "tcgen05":
			t.matrix = t.matrix || (base == "mma" || strings.Contains(op, ".mma")) && !integer().MatchString(op)
		case "atom", "red", "multimem":
			t.atomics = true
			t.sums = t.sums || float().MatchString(op)
			cas = cas || strings.Contains(op, ".cas.")
			t.stores.add(op, text)
		case "add", "sub", "mul", "fma", "mad":
			t.floats = t.floats || float().MatchString(op)
		case "cvt":
			t.f16 = t.f16 || toHalf().MatchString(op)
			t.bf16 = t.bf16 || toBrain().MatchString(op)
		case "st":
			t.stores.add(op, text)
		case "ld":
			t.waits = t.waits || strings.Contains(op, ".acquire") || strings.Contains(op, ".relaxed") || strings.Contains(op, ".volatile")
		}
	}
	t.sums = t.sums || cas && t.floats
	return t
}

// add notes a store or an atomic. One of a word may be of any format that the kernel computes in.
func (k *kinds) add(op, text string) {
	if strings.Contains(op, ".shared") || strings.Contains(op, ".local") || strings.Contains(op, ".param") {
		return
	}
	has := func(format string) bool { return strings.Contains(text, format) }
	word, short := anyWord().MatchString(op), anyHalf().MatchString(op)
	k.f64 = k.f64 || strings.HasSuffix(op, ".f64") || word && has(".f64")
	k.f32 = k.f32 || strings.HasSuffix(op, ".f32") || word && has(".f32")
	k.f16 = k.f16 || (word || short) && has(".f16") || strings.HasSuffix(op, ".f16x2")
	k.bf16 = k.bf16 || (word || short) && has(".bf16") || strings.HasSuffix(op, ".bf16x2")
}
