package isa

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestEveryRowCompiles(t *testing.T) {
	seen := map[string]string{}
	for _, c := range Chapters() {
		for _, f := range c.Forms {
			if f.PTX == 0 {
				t.Errorf("%s: row %q has no version", c.Name, f.Syntax)
			}
			key := fmt.Sprint(f.Syntax, f.Sets)
			if was, twice := seen[key]; twice {
				t.Errorf("row %q is in %s and %s", f.Syntax, was, c.Name)
			}
			seen[key] = c.Name
			for _, set := range f.Sets {
				name, words := set.Name, set.Words
				if f.Slot(name) < 0 {
					t.Errorf("row %q: set %q is not in the syntax", f.Syntax, name)
				}
				if len(words) == 0 {
					t.Errorf("row %q: set %q is empty", f.Syntax, name)
				}
				sorted := slices.Clone(words)
				slices.Sort(sorted)
				if len(slices.Compact(sorted)) != len(words) {
					t.Errorf("row %q: set %q has a word twice", f.Syntax, name)
				}
			}
			names := map[string]bool{}
			for _, s := range f.Slots() {
				if names[s.Name] {
					t.Errorf("row %q: two slots called %q", f.Syntax, s.Name)
				}
				names[s.Name] = true
			}
		}
	}
}

// TestWordsOfTypes: Mod.Type takes the number of a word for that of its type.
func TestWordsOfTypes(t *testing.T) {
	for m := NoMod + 1; m < NumMods; m++ {
		if want := TypeOf(m.String()[1:]); m.Type() != want {
			t.Errorf("%v names type %v, want %v", m, m.Type(), want)
		}
	}
}

// TestImport: rows and indexes are made when first asked for. Only OnceValue takes memory when a process starts.
func TestImport(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=^$")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	line := regexp.MustCompile(`init kudzu/internal/ptx/isa .* (\d+) allocs`).FindSubmatch(out)
	if line == nil {
		return // nothing is done at all
	}
	if n, err := strconv.Atoi(string(line[1])); err != nil || n > 40 {
		t.Errorf("importing the table makes %s things: %s", line[1], line[0])
	}
}

func TestEveryOpHasAForm(t *testing.T) {
	has := map[Op]bool{}
	for _, c := range Chapters() {
		for _, f := range c.Forms {
			has[f.Op] = true
		}
	}
	for o := NoOp + 1; o < NumOps; o++ {
		if !has[o] {
			t.Errorf("op %v has no row", o)
		}
	}
}

func TestEveryWordIsUsed(t *testing.T) {
	used := map[Mod]bool{}
	for _, c := range Chapters() {
		for _, f := range c.Forms {
			for _, s := range f.Slots() {
				for _, m := range s.Words {
					used[m] = true
				}
			}
		}
	}
	for m := NoMod + 1; m < NumMods; m++ {
		if !used[m] && m.Type() == TypeNone {
			t.Errorf("word %v is in no row", m)
		}
		if ModOf(m.String()) != m {
			t.Errorf("word %v is there twice", m)
		}
	}
}

// A row's own canonical spelling must find the row.
func TestRowsFindThemselves(t *testing.T) {
	for _, c := range Chapters() {
		for _, f := range c.Forms {
			for _, all := range []bool{false, true} {
				var b strings.Builder
				b.WriteString(f.Prefix())
				for _, s := range f.Slots() {
					if all || !s.Optional {
						b.WriteString(s.Words[0].String())
					}
				}
				found := false
				for _, cand := range Lookup(b.String()).Cands {
					found = found || cand.Form == f
				}
				if !found {
					t.Errorf("%q does not find its row %q", b.String(), f.Syntax)
				}
			}
		}
	}
}

func TestLookup(t *testing.T) {
	for _, tt := range []struct {
		text string
		want string // op and mods of the first candidate
	}{
		{"add.f32", "add type=.f32"},
		{"add.rn.ftz.f32", "add rnd=.rn ftz=.ftz type=.f32"},
		{"add.f32.rn", "add rnd=.rn type=.f32"},
		{"ld.global.relaxed.gpu.u32", "ld sem=.relaxed scope=.gpu space=.global type=.u32"},
		{"ld.shared::cta.v4.f32", "ld space=.shared::cta vec=.v4 type=.f32"},
		{"cvt.rn.f16x2.f32", "cvt rnd=.rn dtype=.f16x2 atype=.f32"},
		{"add.cc.u32", "add.cc type=.u32"},
		{"bar.warp.sync", "bar.warp.sync"},
		{"add.rn.rn.f32", ""},
		{"add.foo", ""},
		{"nonsense", ""},
	} {
		s := Lookup(tt.text)
		got := ""
		if len(s.Cands) > 0 {
			c := s.Cands[0]
			got = c.Form.Op.String()
			for i, m := range c.Mods {
				if m != 0 {
					got += " " + c.Form.Slots()[i].Name + "=" + m.String()
				}
			}
		}
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestSpecialRegisters(t *testing.T) {
	for r := NoSReg + 1; r < NumSRegs; r++ {
		if !strings.HasPrefix(r.String(), "%") || SRegOf(r.String()) != r || r.Row().PTX == 0 || r.Type() == TypeNone {
			t.Errorf("special register %d: %+v", r, *r.Row())
		}
	}
}

// A packed type is spelled as its parts' type and their number, and is as wide as they are together.
func TestPackedTypes(t *testing.T) {
	for p := TypeNone + 1; p < NumTypes; p++ {
		elem, n := p.Elem()
		switch {
		case p == S2F6x2 || p.Class() != ClassPacked:
			if elem != p || n != 1 {
				t.Errorf("%v has %d parts %v", p, n, elem)
			}
		case p.String() != fmt.Sprintf("%vx%d", elem, n) || p.Bits() != n*elem.Bits():
			t.Errorf("%v has %d parts %v", p, n, elem)
		}
	}
	if !BF16x2.OfFloats() || S16x2.OfFloats() || !S8x4.OfSigned() || U8x4.OfSigned() || BitsType(64) != B64 || BitsType(24) != TypeNone {
		t.Error("OfFloats, OfSigned or BitsType")
	}
}
