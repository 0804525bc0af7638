package ptx

import "kudzu/internal/ptx/isa"

// Older says what an instruction of an older module leaves unsaid. The words that it stands for are among the instruction's, so that
// only the checker, which asks whether the module may say them, and the printer need to know.
type Older uint8

// OlderWord is .approx or .rn, which versions before 1.4 did without, and mad.f32 until 3.1 and for sm_1x. OlderFlush is .ftz, which
// sm_1x has no choice about.
const (
	OlderWord Older = 1 << iota
	OlderFlush
)

// Unsaid reports a word that the instruction's text leaves out.
func (in *Inst) Unsaid(m isa.Mod) bool {
	switch m {
	case isa.ModFtz:
		return in.Older&OlderFlush != 0
	case isa.ModApprox, isa.ModRn:
		return in.Older&OlderWord != 0
	}
	return false
}

// beforeV14 are spellings of versions before 1.4, in later words.
var beforeV14 = map[string]string{
	"div.f32": "div.approx.f32", "rcp.f32": "rcp.approx.f32", "sqrt.f32": "sqrt.approx.f32", "rsqrt.f32": "rsqrt.approx.f32",
	"sin.f32": "sin.approx.f32", "cos.f32": "cos.approx.f32", "lg2.f32": "lg2.approx.f32", "ex2.f32": "ex2.approx.f32",
	"mad.f64": "mad.rn.f64", "div.f64": "div.rn.f64", "sqrt.f64": "sqrt.rn.f64", "rsqrt.f64": "rsqrt.approx.f64",
}

// unroundedMad are spellings of sm_1x and of versions before 3.2.
var unroundedMad = map[string]string{
	"mad.f32": "mad.rn.f32", "mad.ftz.f32": "mad.rn.ftz.f32", "mad.sat.f32": "mad.rn.sat.f32", "mad.ftz.sat.f32": "mad.rn.ftz.sat.f32",
}

// lookup finds a spelling as this module's version and target mean it.
func (p *parser) lookup(text string) *isa.Spelling {
	old := p.m.Target.SM > 0 && p.m.Target.SM < 20
	later := ""
	if p.m.Version < isa.V(1, 4) {
		later = beforeV14[text]
	}
	if later == "" && (old || p.m.Version < isa.V(3, 2)) {
		later = unroundedMad[text]
	}
	how := Older(0)
	sp := isa.Lookup(text)
	if later != "" {
		sp, how = isa.Lookup(later), OlderWord
	}
	if !old && how == 0 {
		return sp
	}
	own := *sp // its candidates' words are not those of other modules
	own.Text, own.Cands = text, nil
	for _, c := range sp.Cands {
		words := append([]isa.Mod(nil), c.Mods...)
		h := how
		if i := c.Form.Slot("ftz"); old && i >= 0 && words[i] == 0 && flushes(c) {
			words[i] = isa.ModFtz
			h |= OlderFlush
		}
		if h != 0 && len(words) > 0 {
			c.Mods = words
			if p.older == nil {
				p.older = map[*isa.Mod]Older{}
			}
			p.older[&words[0]] = h
		}
		own.Cands = append(own.Cands, c)
	}
	return &own
}

// flushes reports a form of f32 whose subnormal numbers sm_1x flushes: all but conversions from and to other floats (recorded).
func flushes(c isa.Candidate) bool {
	f32 := false
	for _, m := range c.Mods {
		switch t := m.Type(); {
		case t == isa.F32:
			f32 = true
		case t.IsFloat():
			return false
		}
	}
	return f32 || c.Form.Slot("f32") >= 0
}
