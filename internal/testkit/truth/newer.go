package truth

import (
	"slices"
	"strings"

	"kudzu/internal/ptx/isa"
	"kudzu/internal/ptx/isa/spell"
)

// Newer are lines of the forms that the recording card or its driver did not have, and of those whose addresses it could not make.
// Nothing is recorded of them: the executors can only be compared with each other.
func Newer(limit int) []*Line {
	var all []*Line
	seen := map[string]bool{}
	for _, c := range isa.Chapters() {
		if slices.Contains(skippedChapters, c.Name) {
			continue
		}
		for _, f := range c.Forms {
			if _, skip := skipped[f.Op]; skip {
				continue
			}
			for _, mods := range spell.Pairwise(f, limit) {
				text := spell.Line(f, mods, false, -1)
				if seen[text] || !strings.HasPrefix(text, "multimem.") && (skips(text) || newLine(recording, c.Name, text) != nil) {
					continue
				}
				seen[text] = true
				if l := newestLine(f, c.Name, text); l != nil && l.Form == f {
					all = append(all, l)
				}
			}
		}
	}
	return all
}

// newestLine is a line for the first target that takes it.
func newestLine(f *isa.Form, chapter, text string) *Line {
	n := isa.Need{PTX: f.PTX, SM: f.SM, Arch: f.Arch}
	for _, name := range []string{"sm_90a", "sm_100a", "sm_120a", "sm_103a", "sm_110a"} {
		if t, ok := isa.TargetOf(name); ok && n.Met(t.SM, t.Suffix) {
			if l := newLine(spell.Profile{Target: name, Version: "9.4"}, chapter, text); l != nil {
				return l
			}
		}
	}
	return nil
}
