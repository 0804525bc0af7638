package lower

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"kudzu/internal/ir"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/check"
	"kudzu/internal/ptx/isa"
	"kudzu/internal/ptx/isa/spell"
)

// Every form of the table, with each word of each slot in turn, lowers to IR that verifies, for every kind of target, or is refused
// by name. The spellings need not all be legal: those that do not parse are passed over, but not many may be.
func TestEveryForm(t *testing.T) {
	askSlots(t)
	tried, parsed, lowered := 0, 0, 0
	refused := map[string]bool{}
	done := map[isa.Op]bool{}
	for _, ch := range isa.Chapters() {
		for _, f := range ch.Forms {
			if f.Op == isa.Call {
				continue
			}
			ok := false
			for _, words := range spellings(f) {
				tried++
				text, guarded := formKernel(f, words, false), formKernel(f, words, true)
				m, err := ptx.ParseModule(text)
				if err != nil {
					continue
				}
				ok = true
				parsed++
				if lowerForm(t, m, text, refused) {
					lowered++
					done[f.Op] = true
				}
				if g, err := ptx.ParseModule(guarded); err == nil {
					lowerForm(t, g, guarded, refused)
				}
			}
			if !ok && table[f.Op].fn != nil {
				t.Logf("no spelling of %q parses", f.Syntax)
			}
		}
	}
	t.Logf("%d spellings, %d parse, %d lower; %d refused by name", tried, parsed, lowered, len(refused))
	if parsed*2 < tried {
		t.Errorf("only %d of %d spellings parse", parsed, tried)
	}
	for r := range refused {
		if !strings.Contains(r, "(") {
			t.Logf("refused: %s", r) // of a mnemonic that is lowered in other forms
		}
	}
	for op := isa.NoOp + 1; op < isa.NumOps; op++ {
		if table[op].fn != nil && op != isa.Call && !done[op] && !spelledElsewhere[op] {
			t.Errorf("%v was never lowered", op)
		}
	}
}

// askSlots has the test fail where a slot is asked for that no form of the operation has.
func askSlots(t *testing.T) {
	ptx.NoSlot = func(in *ptx.Inst, name string) {
		if !spell.HasSlot(in.Op(), name) {
			t.Errorf("%v has no slot %q", in.Op(), name)
		}
	}
	t.Cleanup(func() { ptx.NoSlot = nil })
}

// Textures and tensor copies have operands that formKernel does not write.
func TestSpelledForms(t *testing.T) {
	askSlots(t)
	lowered := map[isa.Op]bool{}
	refused := map[string]bool{}
	for _, ch := range isa.Chapters() {
		for _, f := range ch.Forms {
			if !spelledElsewhere[f.Op] {
				continue
			}
			for _, k := range spell.Cases(f, 10) {
				text := spell.Prologue(spell.Profile{Target: "sm_100a", Version: "9.2"}) + k.Line + "\n" + spell.Epilogue
				if m, err := check.Text(text); err == nil && lowerForm(t, m, text, refused) {
					lowered[f.Op] = true
				}
			}
		}
	}
	for op := range spelledElsewhere {
		if !lowered[op] {
			t.Errorf("%v was never lowered", op)
		}
	}
}

// spelledElsewhere are ops whose address operands formKernel does not write; TestSpelledForms lowers them.
var spelledElsewhere = map[isa.Op]bool{
	isa.Tex: true, isa.Tld4: true, isa.Suld: true, isa.Sust: true, isa.Sured: true,
	isa.CpAsyncBulkTensor: true, isa.CpReduceAsyncBulkTensor: true, isa.CpAsyncBulkPrefetchTensor: true,
}

func lowerForm(t *testing.T, m *ptx.Module, text string, refused map[string]bool) (ok bool) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("panic: %v\n%s", p, text)
		}
	}()
	for _, opts := range []Options{{GPU: true, Approximate: true}, {GPU: true, NVIDIA: true, Keep: KeepNVPTX}, {KeepMatrix: true}} {
		if mod, err := Kernel(m, "k", opts); err == nil {
			if err := ir.Verify(mod); err != nil {
				t.Errorf("%v\n%s", err, text)
			}
		}
	}
	mod, err := Kernel(m, "k", Options{})
	if u := (*Unsupported)(nil); errors.As(err, &u) {
		refused[u.What] = true
		return false
	}
	if err != nil {
		t.Error(err)
		return false
	}
	if err := ir.Verify(mod); err != nil {
		t.Errorf("%v\n%s", err, text)
		return false
	}
	return true
}

// spellings are choices of a word for each slot: the first of each without optional ones, the first of each with all, and every
// other word of each slot with the rest as in the first.
func spellings(f *isa.Form) [][]isa.Mod {
	slots := f.Slots()
	base := make([]isa.Mod, len(slots))
	full := make([]isa.Mod, len(slots))
	for i, s := range slots {
		full[i] = s.Words[0]
		if !s.Optional {
			base[i] = s.Words[0]
		}
	}
	all := [][]isa.Mod{base, full}
	for i, s := range slots {
		for j, w := range s.Words {
			if j == 0 && !s.Optional {
				continue
			}
			alt := append([]isa.Mod(nil), base...)
			alt[i] = w
			all = append(all, alt)
		}
	}
	return all
}

// formKernel is a kernel with one instruction of the form.
func formKernel(f *isa.Form, words []isa.Mod, guard bool) string {
	var in strings.Builder
	if guard {
		in.WriteString("@!%p9 ")
	}
	in.WriteString(f.Prefix())
	for _, w := range words {
		if w != 0 {
			in.WriteString(w.String())
		}
	}
	g := &formOperands{f: f, words: words}
	for i := range f.Operands() {
		o := g.operand(i)
		if o == "" {
			continue
		}
		if i > 0 && g.n > 0 {
			in.WriteByte(',')
		}
		in.WriteByte(' ')
		in.WriteString(o)
		g.n++
	}
	return fmt.Sprintf(`.version 9.0
.target sm_120a
.address_size 64
.shared .align 16 .b8 tile[256];
.visible .entry k(.param .u64 q)
{
	.reg .pred %%p<10>;
	.reg .b8 %%c<10>;
	.reg .b16 %%h<10>;
	.reg .b32 %%r<70>;
	.reg .b64 %%d<70>;
	.reg .b128 %%e<4>;
	.reg .f32 %%f<70>;
	.reg .f64 %%g<20>;
	.reg .f16 %%j<20>;
	ld.param.u64 %%d60, [q];
	mov.u32 %%r60, tile;
L:
	%s;
	setp.ne.u32 %%p9, %%r60, 1;
	@%%p9 bra L;
	ret;
T: .branchtargets L;
}
`, in.String())
}

type formOperands struct {
	f     *isa.Form
	words []isa.Mod
	n     int
	next  int
}

func (g *formOperands) reg(t isa.Type) string {
	g.next++
	switch {
	case t == isa.Pred:
		return fmt.Sprintf("%%p%d", g.next%9)
	case t == isa.F32:
		return fmt.Sprintf("%%f%d", g.next)
	case t == isa.F64:
		return fmt.Sprintf("%%g%d", g.next)
	}
	switch t.Bits() {
	case 8, 4:
		return fmt.Sprintf("%%c%d", g.next)
	case 16:
		return fmt.Sprintf("%%h%d", g.next)
	case 64:
		return fmt.Sprintf("%%d%d", g.next)
	case 128:
		return fmt.Sprintf("%%e%d", g.next%4)
	}
	return fmt.Sprintf("%%r%d", g.next)
}

// fragment is how many registers the vector operands of matrix instructions have, tried by shape and type.
func (g *formOperands) fragment(name string) int {
	shape, elem := "", map[string]string{}
	for i, s := range g.f.Slots() {
		if g.words[i] == 0 {
			continue
		}
		if s.Name == "shape" {
			shape = g.words[i].String()
		}
		elem[s.Name] = strings.TrimPrefix(g.words[i].String(), ".")
	}
	var m, n, k int
	fmt.Sscanf(shape, ".m%dn%dk%d", &m, &n, &k)
	bits := map[string]int{"b1": 1, "s4": 4, "u4": 4, "e2m1": 8, "f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "s32": 32, "f64": 64}
	size := func(t string) int {
		if b := bits[t]; b != 0 {
			return b
		}
		return 8
	}
	if strings.HasPrefix(g.f.Syntax, "ldmatrix") || strings.HasPrefix(g.f.Syntax, "stmatrix") {
		return map[string]int{"x1": 1, "x2": 2, "x4": 4}[elem["num"]]
	}
	per := func(elems int, t string) int { return max(elems*size(t)/32/max(32, size(t)), 1) }
	op := name
	t := map[string]string{"a": elem["atype"], "b": elem["btype"], "c": elem["ctype"], "d": elem["dtype"]}[name]
	if name == "r" {
		op, t = elem["operand"], elem["type"]
	}
	wmma := strings.HasPrefix(g.f.Syntax, "wmma")
	if t == "" {
		t = "f16"
	}
	switch op {
	case "a":
		if wmma && t == "f16" || m == 8 && k == 4 && t == "f16" {
			return map[bool]int{true: 8, false: 2}[wmma]
		}
		if strings.Contains(g.f.Syntax, "spvariant") {
			k /= 2
		}
		return per(m*k, t)
	case "b":
		if wmma && t == "f16" || m == 8 && k == 4 && t == "f16" {
			return map[bool]int{true: 8, false: 2}[wmma]
		}
		return per(n*k, t)
	}
	if m == 8 && k == 4 && t != "f64" {
		return map[string]int{"f16": 4, "f32": 8}[t]
	}
	return per(m*n, t)
}

func (g *formOperands) operand(i int) string {
	o := &g.f.Operands()[i]
	t := g.f.OperandType(i, g.words, 64)
	if o.Optional {
		return ""
	}
	list := func(n int) string {
		var rs []string
		for range n {
			rs = append(rs, g.reg(t))
		}
		return "{" + strings.Join(rs, ", ") + "}"
	}
	vec := 0
	for j, s := range g.f.Slots() {
		if s.Name == "vec" {
			vec = map[isa.Mod]int{isa.ModV2: 2, isa.ModV4: 4, isa.ModV8: 8}[g.words[j]]
		}
	}
	switch {
	case o.Kinds&isa.KAddr != 0:
		return "[%d60]"
	case o.Kinds&isa.KLabel != 0:
		return "L"
	case o.Kinds&isa.KTable != 0:
		return "T"
	case o.Vec < 0:
		return list(g.fragment(o.Name))
	case o.Vec > 0:
		return list(int(o.Vec))
	case o.VecSlot && vec > 0:
		return list(vec)
	case o.PairReq, o.PairOpt && i%2 == 0:
		return g.reg(t) + "|" + g.reg(isa.Pred)
	case o.Kinds&isa.KReg != 0:
		r := g.reg(t)
		if o.Not {
			r = "!" + r
		}
		return r
	case o.Kinds&isa.KImm != 0:
		if o.Ranged {
			return fmt.Sprint(o.Lo)
		}
		return "16"
	}
	return "_"
}
