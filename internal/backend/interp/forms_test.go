package interp

import (
	"errors"
	"strings"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/image"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/check"
	"kudzu/internal/ptx/isa"
	"kudzu/internal/ptx/isa/spell"
)

// TestEveryFormDecodes writes spellings of every form of the table, and decodes those that the checker takes for some target. Each
// must decode, or be an op that is listed as unsupported.
func TestEveryFormDecodes(t *testing.T) {
	ptx.NoSlot = func(in *ptx.Inst, name string) {
		if !spell.HasSlot(in.Op(), name) {
			t.Errorf("%v has no slot %q", in.Op(), name)
		}
	}
	defer func() { ptx.NoSlot = nil }()
	var profiles []spell.Profile
	for _, target := range []string{"sm_90a", "sm_100a", "sm_120a", "sm_103a", "sm_110a", "sm_107a"} {
		profiles = append(profiles, spell.Profile{Target: target, Version: "9.2"})
	}
	profiles = append(profiles, spell.Profile{Target: "sm_60", Version: "6.0"}) // what newer targets no longer take
	decoded, listed := 0, 0
	for _, c := range isa.Chapters() {
		for _, f := range c.Forms {
			taken := false
			for _, k := range spell.Cases(f, 10) {
				if k.Mutated {
					continue
				}
				err, ok := decodeLine(profiles, k.Line)
				if !ok {
					continue
				}
				taken = true
				var u *backend.Unsupported
				switch {
				case err == nil:
					decoded++
				case errors.As(err, &u) && (unsupportedOps[f.Op] != "" || strings.Contains(k.Line, "2dms")): // samples: see texture.go
					listed++
				default:
					t.Errorf("%s: %v", k.Line, err)
				}
			}
			if !taken {
				t.Logf("no spelling of %q is taken for any target tried", f.Syntax)
			}
		}
	}
	t.Logf("%d lines decoded, %d of ops listed as unsupported", decoded, listed)
	if decoded < 2000 {
		t.Errorf("only %d lines decoded", decoded)
	}
}

// decodeLine decodes a kernel with the line for the first target that takes it; ok is false if none does.
func decodeLine(profiles []spell.Profile, line string) (err error, ok bool) {
	for _, p := range profiles {
		m, err := check.Text(spell.Prologue(p) + line + "\n" + spell.Epilogue)
		if err != nil {
			continue
		}
		u := &unit{line: func(n int) int { return n }, funcID: image.FuncID, vars: func(string) (backend.Addr, uint64, error) { return 256, 1024, nil }}
		return newUnit(m, "k", u), true
	}
	return nil, false
}
