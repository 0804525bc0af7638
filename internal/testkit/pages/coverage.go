package pages

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"kudzu/internal/backend"
	"kudzu/internal/driver"
	"kudzu/internal/emit/warp"
	"kudzu/internal/ir"
	"kudzu/internal/lower"
	"kudzu/internal/pass"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/check"
	"kudzu/internal/ptx/isa"
	"kudzu/internal/ptx/isa/spell"
	"kudzu/internal/testkit"
	"kudzu/internal/testkit/truth"
)

// row is what is known of a form. Executors are asked about the spellings that the checker accepts.
type row struct {
	form                       *isa.Form
	tried, parsed, accepted    int
	interp, cpu                int
	whyInterp, whyCPU          string // the first reason
	lines, openInterp, openCPU int    // recorded lines, and those listed as different
	cases                      int    // case files that use it
}

type chapter struct {
	name string
	rows []*row
}

// spellings is how many words of a form are tried: enough to meet every word once in most.
const spellings = 16

// coverage asks everyone about every form.
func coverage(dev backend.Device) ([]chapter, error) {
	byForm := map[*isa.Form]*row{}
	var all []chapter
	for _, c := range isa.Chapters() {
		ch := chapter{name: c.Name}
		for _, f := range c.Forms {
			r := &row{form: f}
			for _, line := range linesOf(f) {
				r.try(dev, line)
			}
			byForm[f] = r
			ch.rows = append(ch.rows, r)
		}
		all = append(all, ch)
	}
	if err := addRecord(byForm); err != nil {
		return nil, err
	}
	return all, addCases(byForm)
}

// linesOf are instructions of a form, whole: what they name exists in wrap.
func linesOf(f *isa.Form) []string {
	switch f.Op {
	case isa.Bra:
		return []string{"bra there;", "bra.uni there;"}
	case isa.Brx:
		return []string{"brx.idx r0, table;", "brx.idx.uni r0, table;"}
	case isa.Call:
		return []string{"call (q), callee, (q);", "call.uni (q), callee, (q);", "call (q), d0, (q), proto;"}
	}
	var out []string
	if f.Op == isa.CpAsync && strings.Contains(f.Syntax, "ignore") { // told from its neighbour by an operand that may be left out
		out = append(out, "cp.async.ca.shared.global [sv], [d0], 16, p0;")
	}
	for _, mods := range spell.Pairwise(f, spellings) {
		out = append(out, spell.Line(f, mods, false, -1))
	}
	return out
}

// profiles are headers to try in turn: late ones on which the form exists, then one from before votes and shuffles had .sync.
func profiles(f *isa.Form) []spell.Profile {
	n := isa.Need{PTX: f.PTX, SM: f.SM, Arch: f.Arch}
	var out []spell.Profile
	for _, t := range []string{"sm_90a", "sm_100a", "sm_120a", "sm_103a", "sm_110a"} {
		if x, ok := isa.TargetOf(t); ok && n.Met(x.SM, x.Suffix) {
			out = append(out, spell.Profile{Target: t, Version: "9.4"})
		}
	}
	return append(out, spell.Profile{Target: "sm_61", Version: "6.0"})
}

// wrap is a module with the line.
func wrap(p spell.Profile, f *isa.Form, line string) string {
	text := spell.Prologue(p)
	switch f.Op {
	case isa.Bra:
		line += "\nthere:"
	case isa.Brx:
		line = "table: .branchtargets there;\n" + line + "\nthere:"
	case isa.Call:
		text = strings.Replace(text, ".entry", ".func (.param .b32 r) callee(.param .b32 a) { ld.param.b32 %r0, [a]; st.param.b32 [r], %r0; ret; }\n.entry", 1)
		text = strings.Replace(text, "ld.param.b32 %r0", ".reg .b32 %r0; ld.param.b32 %r0", 1)
		line = ".param .b32 q; mov.u32 r0, 1; st.param.b32 [q], r0; mov.u64 d0, callee;\nproto: .callprototype (.param .b32 _) _ (.param .b32 _);\n" + line
	}
	return text + line + "\n" + spell.Epilogue
}

func (r *row) try(dev backend.Device, line string) {
	var text string
	var m *ptx.Module
	parsed, accepted := false, false
	var profile spell.Profile
	for _, p := range profiles(r.form) {
		profile = p
		text = wrap(p, r.form, line)
		var err error
		if m, err = ptx.ParseModule(text); err != nil {
			continue
		}
		if !uses(m, r.form) {
			return // an earlier row of the table takes it: the manual has the spelling twice
		}
		parsed = true
		if accepted = check.Module(m) == nil; accepted {
			break
		}
	}
	r.tried++
	if parsed {
		r.parsed++
	}
	if !accepted {
		return
	}
	r.accepted++
	note := func(n *int, why *string, err error) {
		if err == nil {
			*n++
		} else if *why == "" {
			*why = reason(err)
		}
	}
	note(&r.interp, &r.whyInterp, interpreted(dev, text, m.Target.SM))
	used, err := read(profile, r.form, line)
	if err == nil {
		err = compiled(used)
	}
	note(&r.cpu, &r.whyCPU, err)
}

// named finds the registers of spell's prologue in a line.
var named = regexp.MustCompile(`\b(p|b8_|h|r|d|f|fd|fh|fx|q|uh|sr|ud)\d+\b`)

// held is how the registers of a prefix are loaded and stored.
var held = map[string]string{"b8_": "b8", "h": "b16", "fh": "b16", "uh": "b16", "r": "b32", "f": "f32", "fx": "b32", "sr": "b32", "d": "b64", "fd": "f64", "ud": "b64", "q": "b128"}

// read is the module in which the line's registers come from memory and what it leaves in them goes there: what nobody reads
// would not come as far as the emitter, and what is constant would be computed before.
func read(p spell.Profile, f *isa.Form, line string) (*ptx.Module, error) {
	var before, after strings.Builder
	if f.Op != isa.Bra && f.Op != isa.Brx && f.Op != isa.Call {
		seen := map[string]bool{}
		for _, m := range named.FindAllStringSubmatch(line, -1) {
			reg, t := m[0], held[m[1]]
			if seen[reg] {
				continue
			}
			seen[reg] = true
			if m[1] == "p" {
				fmt.Fprintf(&before, "ld.volatile.global.b32 r299, [gv];\nsetp.ne.s32 %s, r299, 0;\n", reg)
				fmt.Fprintf(&after, "selp.b32 r299, 1, 0, %s;\nst.volatile.global.b32 [gv], r299;\n", reg)
				continue
			}
			fmt.Fprintf(&before, "ld.volatile.global.%s %s, [gv];\n", t, reg)
			fmt.Fprintf(&after, "st.volatile.global.%s [gv], %s;\n", t, reg)
		}
	}
	m, err := ptx.ParseModule(wrap(p, f, before.String()+line+"\n"+after.String()))
	if err != nil {
		return nil, err
	}
	return m, check.Module(m)
}

func uses(m *ptx.Module, f *isa.Form) bool {
	for _, fn := range m.Funcs {
		if fn.Body == nil {
			continue
		}
		for i := range fn.Body.Insts {
			if fn.Body.Insts[i].Form == f {
				return true
			}
		}
	}
	return false
}

// interpreted decodes the kernel as a launch would.
func interpreted(dev backend.Device, text string, sm int) error {
	m, err := driver.Describe("coverage", text, sm)
	if err != nil {
		return err
	}
	p, err := dev.Load(m)
	if err != nil {
		return err
	}
	defer p.Unload()
	k, err := p.Kernel("k")
	if err != nil {
		return err
	}
	return k.Prepare([3]uint32{32, 1, 1})
}

// compiled takes the kernel to LLVM's text for an ordinary x86 machine.
func compiled(m *ptx.Module) error {
	block := [3]uint32{32, 1, 1}
	k, err := lower.Kernel(m, "k", lower.Options{})
	if err != nil {
		return err
	}
	if err := pass.Run(k, pass.Config{Block: block}); err != nil {
		return err
	}
	_, err = warp.Emit(k, warp.Config{Block: block, CPU: "x86-64-v3"})
	return err
}

// reason is an error without the place; where the executor gives a reason for a group of instructions, that alone.
func reason(err error) string {
	why := err.Error()
	var u *backend.Unsupported
	var v *ir.Unsupported
	switch {
	case errors.As(err, &u):
		why = u.What
	case errors.As(err, &v):
		why = v.What
	}
	if _, group, ok := strings.Cut(why, "("); ok && strings.HasSuffix(group, ")") {
		return strings.TrimSuffix(group, ")")
	}
	return why
}

// addRecord counts the recorded lines of each form and those on which an executor is known to differ.
func addRecord(byForm map[*isa.Form]*row) error {
	record, err := truth.Read(root + "testdata/isa/rows.gz")
	if err != nil {
		return err
	}
	lines, err := truth.Recorded(record)
	if err != nil {
		return err
	}
	openInterp, err := readOpen("rows-open.txt")
	if err != nil {
		return err
	}
	openCPU, err := readOpen("rows-open-cpu.txt")
	if err != nil {
		return err
	}
	for _, l := range lines {
		r := byForm[l.Form]
		if r == nil {
			return fmt.Errorf("%s: its form is not in the table", l.Text)
		}
		r.lines++
		if openInterp.has(l.Text) {
			r.openInterp++
		}
		if openCPU.has(l.Text) {
			r.openCPU++
		}
	}
	return nil
}

// addCases counts the case files that use each form.
func addCases(byForm map[*isa.Form]*row) error {
	cases, err := testkit.Load(root + "testdata/cases")
	if err != nil {
		return err
	}
	for _, c := range cases {
		m, err := ptx.ParseModule(c.PTX)
		if err != nil {
			continue // cases of bad PTX
		}
		seen := map[*isa.Form]bool{}
		for _, fn := range m.Funcs {
			if fn.Body == nil {
				continue
			}
			for i := range fn.Body.Insts {
				if f := fn.Body.Insts[i].Form; f != nil && !seen[f] && byForm[f] != nil {
					seen[f] = true
					byForm[f].cases++
				}
			}
		}
	}
	return nil
}
